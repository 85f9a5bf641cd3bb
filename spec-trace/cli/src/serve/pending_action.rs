//! Pending actions over the driver protocol: requests as inputs of the ledger, its outputs as JSON, and between them the
//! store.
//!
//! The one thing to know: a response is written only when what it tells of is durable, and the next request shows that
//! it was. `arguments` reach the ledger as they are written, and come out as a string that holds that very text (PA-3).

use countersign_reference::ids::IdSource;
use countersign_reference::pending_action::{
    Decide, Input, Ledger, Named, Outcome, Output, Propose, Settings, Snapshot, Text,
};
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::request::{BadRequest, Field, Fields, unknown_op};
use super::{Failure, Operation, Service, refusal};
use countersign_store::{Store, StoreError};

/// What [`PendingAction`] carries out.
const OPS: &[&str] = &[
    "propose",
    "decide",
    "say",
    "finish_tool",
    "cancel",
    "end_session",
    "snapshot",
    "rollback",
    "tick",
    "restart",
];

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
    /// Whether the store lives longer than this process.
    is_kept: bool,
    settings: Settings,
    ids: Ids,
}

impl<Ids: IdSource> PendingAction<Ids> {
    /// A ledger whose journal dies with this process, drawing its identifiers from `ids`.
    ///
    /// # Errors
    ///
    /// [`StoreError`], where there is no memory for it.
    pub fn in_memory(settings: Settings, ids: Ids) -> Result<Self, StoreError> {
        Ok(Self {
            is_kept: false,
            ..Self::kept_in(Store::in_memory()?, settings, ids)
        })
    }

    /// The ledger whose journal is in `store`. `restart` goes on with it; `reset` forgets it.
    pub fn kept_in(store: Store, settings: Settings, ids: Ids) -> Self {
        Self {
            ledger: None,
            store,
            is_kept: true,
            settings,
            ids,
        }
    }

    /// Makes what came out durable, and only then puts it out.
    fn happens(&mut self, now: Timestamp, input: Input) -> Result<Vec<Value>, Failure> {
        // Taken away until it is known to be no more than what is durable.
        let mut ledger = self.ledger.take().ok_or(NO_LEDGER)?;
        let Outcome { outputs, refused } = ledger.handle(now, &mut self.ids, input);
        let records = outputs.iter().filter_map(Output::record);
        self.store.append(records, ledger.watermark())?;
        self.ledger = Some(ledger);
        let told = outputs
            .iter()
            .filter_map(|output| output_value(output).transpose());
        let mut values = told.collect::<serde_json::Result<Vec<Value>>>()?;
        values.extend(refused.map(|refused| refusal(refused.clause(), &refused)));
        Ok(values)
    }

    fn restart(&mut self) -> Result<(), StoreError> {
        if let Some(ledger) = self.ledger.take() {
            self.store.carried(ledger.watermark())?;
        }
        self.ledger = Some(self.store.ledger(self.settings, None)?);
        Ok(())
    }

    /// PA-8: the journal is the truth, so what was recorded after the snapshot is caught up with.
    fn roll_back(&mut self, now: Timestamp, snapshot: Snapshot) -> Result<Vec<Value>, Failure> {
        // PA-7: what was expired stays so, however early the snapshot was taken.
        let now = self.ledger.as_ref().map_or(now, |it| it.now().max(now));
        match self.store.ledger(self.settings, Some(snapshot)) {
            Ok(ledger) => {
                self.ledger = Some(ledger);
                self.happens(now, Input::Tick)
            }
            // PA-8: it tells of what has never become durable, or not here.
            Err(StoreError::Damaged(damaged)) => Ok(vec![refusal("PA-8", &damaged)]),
            Err(error) => Err(error.into()),
        }
    }
}

/// Why there is no ledger to ask.
const NO_LEDGER: &str = "the store has failed: start again";

impl<Ids: IdSource> Service for PendingAction<Ids> {
    const PROTOCOL: &'static str = "pending-action";
    const SUPPORTS: &'static [&'static str] = &["cancel", "restart", "clock", "snapshot"];
    const VERBATIM: &'static [&'static str] = &["arguments", "result"];
    type Input = Request;

    fn is_kept(&self) -> bool {
        self.is_kept
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), Failure> {
        self.ledger = None;
        self.store.clear()?;
        let mut ledger = Ledger::new(self.settings);
        // There is nothing yet that could have expired: this only tells the time.
        let _nothing = ledger.handle(now, &mut self.ids, Input::Tick);
        self.ledger = Some(ledger);
        Ok(())
    }

    fn read(op: &str, fields: &mut Fields) -> Result<Operation<Request>, BadRequest> {
        let input = match op {
            "propose" => Input::Propose(propose(fields)?),
            "decide" => Input::Decide(decide(fields)?),
            "say" => Input::Say {
                by: fields.required("by")?.text()?.into(),
                text: fields.required("text")?.text()?.into(),
            },
            "finish_tool" => Input::FinishTool {
                action_id: fields.required("action_id")?.text()?,
                status: fields.required("status")?.word()?,
                result: optional_text(fields, "result")?.unwrap_or_default(),
            },
            "cancel" => Input::Cancel {
                action_id: fields.required("action_id")?.text()?,
            },
            "end_session" => Input::EndSession {
                session_id: fields.required("session_id")?.text()?,
            },
            "tick" => Input::Tick,
            "restart" => Input::Restart,
            "snapshot" => return Ok(Operation::Do(Request::Snapshot)),
            "rollback" => {
                let snapshot = snapshot(&fields.required("snapshot")?)?;
                return Ok(Operation::Do(Request::Rollback(snapshot.into())));
            }
            op => return Err(unknown_op(op, OPS)),
        };
        Ok(Operation::Do(Request::Happens(input)))
    }

    fn handle(&mut self, now: Timestamp, request: Request) -> Result<Vec<Value>, Failure> {
        // Whoever asks further has been given the response before.
        if let Some(ledger) = &mut self.ledger {
            ledger.carried(ledger.recorded());
        }
        match request {
            Request::Happens(input) => {
                if input == Input::Restart {
                    self.restart()?;
                }
                self.happens(now, input)
            }
            Request::Snapshot => {
                let mut values = self.happens(now, Input::Tick)?;
                let ledger = self.ledger.as_ref().ok_or(NO_LEDGER)?;
                let snapshot = serde_json::to_string(&ledger.snapshot())?;
                values.push(json!({ "snapshot": snapshot }));
                Ok(values)
            }
            Request::Rollback(snapshot) => self.roll_back(now, *snapshot),
        }
    }
}

fn propose(fields: &mut Fields) -> Result<Propose, BadRequest> {
    Ok(Propose {
        agent_id: fields.required("agent_id")?.text()?,
        session_id: fields.required("session_id")?.text()?,
        run_id: fields.required("run_id")?.text()?,
        tool: fields.required("tool")?.text()?,
        arguments: Text::new(fields.required("arguments")?.verbatim()?),
        effect: fields.required("effect")?.word()?,
        summary: fields.required("summary")?.text()?,
        label: fields.required("label")?.text()?,
        expires_at: fields.optional("expires_at").map(Field::word).transpose()?,
        deciders: fields.optional("deciders").map(Field::texts).transpose()?,
        idempotent: fields
            .optional("idempotent")
            .map_or(Ok(false), Field::flag)?,
    })
}

fn decide(fields: &mut Fields) -> Result<Decide, BadRequest> {
    Ok(Decide {
        action_id: fields.required("action_id")?.text()?,
        nonce: fields.optional("nonce").map(Field::text).transpose()?,
        decision: fields.required("decision")?.word()?,
        by: fields.required("by")?.text()?,
        arguments: optional_text(fields, "arguments")?,
    })
}

fn optional_text(fields: &mut Fields, name: &'static str) -> Result<Option<Text>, BadRequest> {
    let text = fields.optional(name).map(Field::verbatim).transpose()?;
    Ok(text.map(Text::new))
}

/// A snapshot is opaque: a string that was put out here, whatever it holds.
fn snapshot(field: &Field) -> Result<Snapshot, BadRequest> {
    let text = field.clone().text()?;
    serde_json::from_str(&text).map_err(|_| field.not("a snapshot that was put out here"))
}

/// One output, as an object whose one key is its kind. Nothing where it is for the store alone.
fn output_value(output: &Output) -> serde_json::Result<Option<Value>> {
    match output {
        Output::Record(_) => Ok(None),
        Output::Withdraw(named) => Ok(Some(json!({"audit": too_late_to_withdraw(named)}))),
        Output::Append(_)
        | Output::Event(_)
        | Output::Perform(_)
        | Output::InDoubt(_)
        | Output::Audit(_) => serde_json::to_value(output).map(Some),
    }
}

/// The driver protocol has no way to take a `perform` back: it counts as carried out once its response was read. So the
/// operator learns of it, and nobody else.
fn too_late_to_withdraw(named: &Named) -> Value {
    // PA-5: the session ended with this call still in flight.
    json!({
        "clause": "PA-5",
        "action_id": named.action_id.to_string(),
        "text": "the session ended before this action was reported as done: it should not run if it has not begun",
    })
}
