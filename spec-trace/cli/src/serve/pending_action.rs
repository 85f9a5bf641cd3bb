//! Pending actions over the driver protocol: ops as inputs of the ledger, its outputs as the protocol's, and between them
//! the store.
//!
//! The one thing to know: a response is written only when what it tells of is durable, and the next request shows that
//! it was. `arguments` reach the ledger as they are written, and come out as a string that holds that very text (PA-3).

use countersign_protocol::pending_action::{
    self as driver, Capability, Op, PendingAction as Protocol,
};
use countersign_protocol::{Json, Kind, Refused};
use countersign_reference::ids::IdSource;
use countersign_reference::pending_action::{
    Decide, Decision, Effect, Input, Ledger, Named, Outcome, Output, Propose, Settings, Snapshot,
    Text, ToolStatus,
};
use countersign_reference::time::Timestamp;
use countersign_store::{Store, StoreError};

use super::{Failure, Instead, Last, Service, parsed, refusal, told};

/// What can happen to the ledger, and what its host can do with it besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Something happens.
    Happens(Input),
    /// The ledger as it is now is to be put out.
    Snapshot,
    /// The ledger is to be what it was then, and to catch up (PA-8).
    Rollback(Box<Snapshot>),
}

/// The ledger, and beside it what its host keeps: the store, the settings and the source of identifiers.
#[derive(Debug)]
pub struct PendingAction<Ids> {
    /// None before the first `reset` or `restart`, and after the store has failed.
    ledger: Option<Ledger>,
    store: Store,
    /// How many outputs behind the records past the watermark are known to be carried out: the first so many of them.
    carried: usize,
    /// Whether the store lives longer than this process.
    is_kept: bool,
    settings: Settings,
    ids: Ids,
}

impl<Ids: IdSource> PendingAction<Ids> {
    /// A ledger whose journal dies with this process, drawing its identifiers from `ids`.
    pub fn in_memory(settings: Settings, ids: Ids) -> Self {
        Self {
            is_kept: false,
            ..Self::kept_in(Store::in_memory(), settings, ids)
        }
    }

    /// The ledger whose journal is in `store`. `restart` goes on with it; `reset` forgets it.
    pub fn kept_in(store: Store, settings: Settings, ids: Ids) -> Self {
        Self {
            ledger: None,
            store,
            carried: 0,
            is_kept: true,
            settings,
            ids,
        }
    }

    /// Makes what came out durable, and only then puts it out.
    fn happens(&mut self, now: Timestamp, input: Input) -> Result<Vec<driver::Output>, Failure> {
        // Taken away until it is known to be no more than what is durable.
        let mut ledger = self.ledger.take().ok_or(NO_LEDGER)?;
        let Outcome { outputs, refused } = ledger.handle(now, &mut self.ids, input);
        let mut records = outputs.iter().filter_map(Output::record).peekable();
        if records.peek().is_none() {
            // PA-7: nothing un-expires, so that the time is kept also where it is all that has changed.
            self.store.pass(ledger.now())?;
        }
        self.store.append(records, ledger.watermark())?;
        let at = ledger.now();
        self.ledger = Some(ledger);
        let refused = refused.map(|it| refusal(it.clause(), it));
        told::<Self>(
            outputs.iter().filter_map(|it| output(it, at).transpose()),
            refused,
        )
    }

    /// PA-8: the journal is the truth, so what was recorded after the snapshot is caught up with.
    fn roll_back(
        &mut self,
        now: Timestamp,
        snapshot: Snapshot,
    ) -> Result<Vec<driver::Output>, Failure> {
        // PA-7: what was due is due whether or not the snapshot is one.
        let mut outputs = self.happens(now, Input::Tick)?;
        let latest = self.latest(now);
        if snapshot.now() > latest {
            // PA-7: no journal tells its time, and it would move the clock for ever.
            let reason = "the snapshot is of a later time than it has ever been here";
            outputs.push(Self::refused(refusal("PA-7", reason)));
            return Ok(outputs);
        }
        let through = self.ledger.as_ref().map_or(0, Ledger::watermark);
        match self.store.ledger(self.settings, Some(snapshot)) {
            Ok(mut ledger) => {
                ledger.carried(through);
                self.ledger = Some(ledger);
                // PA-7: what was expired stays so, however early the snapshot was taken.
                outputs.extend(self.happens(latest, Input::Tick)?);
            }
            // PA-8: it tells of what has never become durable, or not here.
            Err(StoreError::Damaged(damaged)) => {
                outputs.push(Self::refused(refusal("PA-8", damaged)));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(outputs)
    }

    /// The greatest time so far, as far as it is not in the journal alone.
    fn latest(&self, now: Timestamp) -> Timestamp {
        let known = self.ledger.as_ref().map_or(now, |it| it.now().max(now));
        known.max(self.store.passed())
    }
}

/// The most characters that the name of a decider may have.
const MAX_NAME: usize = 256;

/// Why there is no ledger to ask.
const NO_LEDGER: &str = "the store has failed: start again";

impl<Ids: IdSource> Service for PendingAction<Ids> {
    type Protocol = Protocol;
    type Input = Request;
    const SUPPORTS: &'static [Capability] = &[
        Capability::Cancel,
        Capability::Restart,
        Capability::Snapshot,
        Capability::Say,
        Capability::Idempotent,
    ];
    const SHOWS: &'static [Kind] = <Protocol as countersign_protocol::Protocol>::SHOWN_UNASKED;
    const TICK: Request = Request::Happens(Input::Tick);

    fn is_kept(&self) -> bool {
        self.is_kept
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), Failure> {
        self.ledger = None;
        self.carried = 0;
        self.store.clear()?;
        let mut ledger = Ledger::new(self.settings);
        // There is nothing yet that could have expired: this only tells the time.
        let _nothing = ledger.handle(now, &mut self.ids, Input::Tick);
        self.store.pass(now)?;
        self.ledger = Some(ledger);
        Ok(())
    }

    fn input(op: Op) -> Result<Request, Instead> {
        Ok(Request::Happens(match op {
            Op::Propose(propose) => Input::Propose(proposed(propose)?),
            Op::Decide {
                action_id,
                nonce,
                decision,
                by,
                arguments,
            } => Input::Decide(Decide {
                action_id,
                nonce,
                decision: match decision {
                    driver::Decision::Allow => Decision::Allow,
                    driver::Decision::Deny => Decision::Deny,
                },
                by: identified(by)?,
                arguments: arguments.as_ref().map(text),
            }),
            Op::Say { by, text } => Input::Say {
                by: by.into(),
                text: text.into(),
            },
            Op::FinishTool {
                action_id,
                status,
                result,
            } => Input::FinishTool {
                action_id,
                status: match status {
                    driver::ToolStatus::Success => ToolStatus::Success,
                    driver::ToolStatus::Error => ToolStatus::Error,
                    driver::ToolStatus::NotRun => ToolStatus::NotRun,
                },
                result: result.as_ref().map(text).unwrap_or_default(),
            },
            Op::Cancel { action_id } => Input::Cancel { action_id },
            Op::EndSession { session_id } => Input::EndSession { session_id },
            Op::Snapshot {} => return Ok(Request::Snapshot),
            Op::Rollback { snapshot } => {
                let snapshot = serde_json::from_str(&snapshot.text());
                let unknown =
                    |_| Instead::Refused(refusal("PA-8", "`snapshot` was not put out here"));
                return Ok(Request::Rollback(Box::new(snapshot.map_err(unknown)?)));
            }
        }))
    }

    fn refused(refused: Refused) -> driver::Output {
        driver::Output::Refused(refused)
    }

    fn handle(&mut self, now: Timestamp, request: Request) -> Result<Vec<driver::Output>, Failure> {
        // Whoever asks further has been given the response before.
        if let Some(ledger) = &mut self.ledger {
            ledger.carried(ledger.recorded());
            self.carried = 0;
        }
        match request {
            Request::Happens(input) => self.happens(now, input),
            Request::Snapshot => {
                let mut outputs = self.happens(now, Input::Tick)?;
                let ledger = self.ledger.as_ref().ok_or(NO_LEDGER)?;
                let snapshot = serde_json::to_string(&ledger.snapshot())?;
                outputs.push(driver::Output::Snapshot(Json::holding(&snapshot)));
                Ok(outputs)
            }
            Request::Rollback(snapshot) => self.roll_back(now, *snapshot),
        }
    }

    fn restart(
        &mut self,
        now: Timestamp,
        last: Option<Last<'_>>,
    ) -> Result<Vec<driver::Output>, Instead> {
        let latest = self.latest(now);
        if let Some(Last { carried, lost }) = last {
            self.carried += carried.iter().filter(|it| is_told_again(**it)).count();
            if let (Some(ledger), true) = (&mut self.ledger, lost.is_empty()) {
                ledger.carried(ledger.recorded());
                self.carried = 0;
            }
        }
        let through = match (&self.ledger, last) {
            (Some(ledger), _) => ledger.watermark(),
            (None, Some(_)) => self.store.recorded(),
            (None, None) => self.store.watermark(),
        };
        let restored = self.store.carried(through);
        let restored = restored.and_then(|()| self.store.ledger(self.settings, None));
        self.ledger = Some(restored.map_err(|error| Instead::Failed(error.into()))?);
        let mut outputs = self.happens(latest, Input::Restart)?;
        outputs.drain(..self.carried.min(outputs.len()));
        Ok(outputs)
    }
}

fn proposed(propose: driver::Propose) -> Result<Propose, Instead> {
    let time = |time: String| parsed("expires_at", &time, Timestamp::parse);
    Ok(Propose {
        agent_id: propose.agent_id,
        session_id: propose.session_id,
        run_id: propose.run_id,
        tool: propose.tool,
        arguments: text(&propose.arguments),
        effect: match propose.effect {
            driver::Effect::Read => Effect::Read,
            driver::Effect::Write => Effect::Write,
            driver::Effect::Destructive => Effect::Destructive,
            driver::Effect::External => Effect::External,
        },
        summary: propose.summary,
        label: propose.label,
        expires_at: propose.expires_at.map(time).transpose()?,
        deciders: propose.deciders,
        idempotent: propose.idempotent.unwrap_or(false),
    })
}

/// PA-2: who cannot have been identified has not decided. Who is nobody is the ledger's to ignore; a name beyond the limit
/// is the host's mistake, whatever was decided.
fn identified(by: String) -> Result<String, Instead> {
    if by.chars().nth(MAX_NAME).is_some() {
        let reason = format!("`by` must be at most {MAX_NAME} characters");
        return Err(Instead::Refused(refusal("PA-2", reason)));
    }
    Ok(by)
}

fn text(json: &Json) -> Text {
    Text::new(json.text().as_ref())
}

/// Nothing where it is for the store alone.
fn output(output: &Output, at: Timestamp) -> serde_json::Result<Option<driver::Output>> {
    Ok(Some(match output {
        Output::Record(_) => return Ok(None),
        Output::Append(append) => driver::Output::Append(Json::of(append)?),
        Output::Event(event) => driver::Output::Event(Json::of(event)?),
        Output::Perform(call) => driver::Output::Perform(driver::ToolCall {
            action_id: call.action_id.to_string(),
            tool: call.tool.to_string(),
            arguments: Json::holding(call.arguments.as_str()),
        }),
        Output::Withdraw(named) => driver::Output::Audit(too_late_to_withdraw(*named, at)?),
        Output::InDoubt(named) => driver::Output::InDoubt(driver::Named {
            action_id: named.action_id.to_string(),
        }),
        Output::Audit(audit) => driver::Output::Audit(Json::of(audit)?),
    }))
}

/// The driver protocol has no way to take a `perform` back: it counts as carried out once its response was read. So the
/// operator learns of it, and nobody else.
fn too_late_to_withdraw(named: Named, at: Timestamp) -> serde_json::Result<Json> {
    // PA-5: the session ended with this call still in flight.
    let reason = "the session ended before this action was reported as done: it should not run if it has not begun";
    Json::of(&driver::Audit {
        clause: "PA-5".to_owned(),
        reason: reason.to_owned(),
        action_id: named.action_id.to_string(),
        by: None,
        at: at.to_string(),
    })
}

/// Whether it is behind a record, so that the ledger tells it again after a crash (PA-10).
const fn is_told_again(output: Kind) -> bool {
    matches!(output, Kind::Append | Kind::Event)
}
