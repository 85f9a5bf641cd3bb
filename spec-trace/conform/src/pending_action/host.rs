//! The reference ledger and what its host keeps, in a random run.
//!
//! The host is as simple as one can be. A restart has nothing but the records, read back from what was written down, and
//! what it knows to be carried out; a snapshot is a text.

use std::rc::Rc;

use countersign_model::pending_action::PendingAction as Spec;
use countersign_protocol::pending_action::{self as driver, Op as Own, PendingAction, Propose};
use countersign_protocol::{Common, Json, Op, Output as Put, Refused};
use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    self as real, Damaged, Decide, Input, Ledger, Outcome, Output, Record, Settings, Snapshot, Text,
};
use countersign_reference::time::Timestamp;

use super::Driver;
use super::driven::declaring_all;
use super::step::Step;
use crate::checked::Checked;
use crate::driven::Driven as _;
use crate::wide::Shown;

/// The ledger, and what its host keeps.
pub struct Host {
    driver: Driver,
    ledger: Ledger,
    settings: Settings,
    ids: SequentialIds,
    journal: Vec<Record>,
    /// As many of the journal's records were read back from what was written down; the others are when they are needed.
    read: usize,
    /// What the last call put out, without its records.
    last: Vec<Output>,
    /// How many outputs of the host's own came after them: a refusal, or a snapshot.
    behind: usize,
    /// How many outputs behind the records past the watermark are known to be carried out: the first so many of them.
    carried: usize,
}

impl Host {
    pub(super) fn new(settings: Settings) -> Self {
        let greeting = declaring_all("reference");
        Self {
            driver: Driver::begin(&Rc::new(greeting)),
            ledger: Ledger::new(settings),
            settings,
            ids: SequentialIds::new(),
            journal: Vec::new(),
            read: 0,
            last: Vec::new(),
            behind: 0,
            carried: 0,
        }
    }

    /// Takes a step; nothing where there is nothing that it could be about.
    pub(super) fn take_step(&mut self, step: Step) -> Option<Shown<Checked<Spec>>> {
        let asked = self.driver.ask(&step)?;
        let outputs = self.answer(asked.now, asked.op);
        let outputs = self.driver.take(&asked.call, &outputs).ok()?;
        Some(Shown {
            now: asked.now,
            call: asked.call,
            outputs: outputs.into_iter().flatten().collect(),
        })
    }

    fn answer(&mut self, now: i64, op: Op<PendingAction>) -> Vec<Put<PendingAction>> {
        let (outcome, beside) = match op {
            Op::Common(Common::Restart { lost }) => self.restart(now, lost.unwrap_or(0)),
            other @ (Op::Common(_) | Op::Own(_)) => {
                self.all_was_carried_out();
                match other {
                    Op::Own(Own::Snapshot {}) => {
                        let outcome = self.handle(now, Input::Tick);
                        let state = self.ledger.snapshot();
                        let text = serde_json::to_string(&state).expect("it can be written down");
                        let snapshot = Json::holding(&text);
                        (outcome, Some(driver::Output::Snapshot(snapshot)))
                    }
                    Op::Own(Own::Rollback { snapshot }) => self.roll_back(now, &snapshot),
                    Op::Own(own) => (self.handle(now, input(own)), None),
                    Op::Common(_) => (self.handle(now, Input::Tick), None),
                }
            }
        };
        let is_refused = outcome.refused.is_some();
        let told = outcome.outputs.into_iter();
        self.last = told.filter(|output| output.record().is_none()).collect();
        let mut outputs: Vec<_> = self.last.iter().filter_map(put).collect();
        outputs.extend(is_refused.then(refused).into_iter().chain(beside));
        self.behind = outputs.len() - self.last.len();
        outputs.into_iter().map(Put::to_all).collect()
    }

    /// PA-8: the host hands back an older state with the whole journal, which is what undoes nothing. A host that hands back an
    /// older journal as well has to guard against that itself.
    fn roll_back(&mut self, now: i64, snapshot: &Json) -> (Outcome, Option<driver::Output>) {
        let mut outcome = self.handle(now, Input::Tick);
        let older: Snapshot = serde_json::from_str(&snapshot.text()).expect("it was written down");
        let latest = self.ledger.now().millis();
        let Ok(ledger) = self.rebuild(Some(older), self.ledger.watermark()) else {
            return (outcome, Some(refused()));
        };
        self.ledger = ledger;
        let due = self.handle(latest, Input::Tick);
        outcome.outputs.extend(due.outputs);
        (outcome, None)
    }

    /// PA-10, PA-11: the process dies, and has lost as many outputs of the last call.
    fn restart(&mut self, now: i64, lost: u64) -> (Outcome, Option<driver::Output>) {
        let lost = usize::try_from(lost).unwrap_or(usize::MAX);
        let carried_out = &self.last[..self.last.len() - lost.saturating_sub(self.behind)];
        self.carried += carried_out.iter().filter(|it| is_told(it)).count();
        if lost == 0 {
            self.all_was_carried_out();
        }
        let latest = self.ledger.now().millis().max(now);
        let Ok(ledger) = self.rebuild(None, self.ledger.watermark()) else {
            return (self.handle(latest, Input::Tick), Some(refused()));
        };
        self.ledger = ledger;
        let mut outcome = self.handle(latest, Input::Restart);
        let mut known = self.carried;
        outcome.outputs.retain(|output| {
            let is_known = known > 0 && output.record().is_none();
            known -= usize::from(is_known);
            !is_known
        });
        (outcome, None)
    }

    fn rebuild(&mut self, snapshot: Option<Snapshot>, through: u64) -> Result<Ledger, Damaged> {
        for record in &mut self.journal[self.read..] {
            let written = serde_json::to_string(record).expect("it can be written down");
            *record = serde_json::from_str(&written).expect("it was written down");
        }
        self.read = self.journal.len();
        let journal = self.journal.iter().cloned();
        Ledger::rebuild(self.settings, snapshot, journal, through)
    }

    /// Whoever asks further has carried out what was put out before.
    fn all_was_carried_out(&mut self) {
        self.ledger.carried(self.ledger.recorded());
        self.carried = 0;
    }

    /// Lets the executor do it, and keeps what it records.
    fn handle(&mut self, now: i64, input: Input) -> Outcome {
        let now = Timestamp::from_millis(now);
        let outcome = self.ledger.handle(now, &mut self.ids, input);
        let records = outcome.outputs.iter().filter_map(Output::record);
        self.journal.extend(records.cloned());
        outcome
    }
}

/// Whether it is behind a record, so that the ledger tells it again after a crash.
const fn is_told(output: &Output) -> bool {
    matches!(output, Output::Append(_) | Output::Event(_))
}

fn refused() -> driver::Output {
    driver::Output::Refused(Refused {
        clause: None,
        reason: String::new(),
    })
}

/// An output as the driver protocol has it.
fn put(output: &Output) -> Option<driver::Output> {
    let json = |it: serde_json::Result<Json>| it.expect("it can be written down");
    Some(match output {
        Output::Record(_) => return None,
        Output::Append(it) => driver::Output::Append(json(Json::of(it))),
        Output::Event(it) => driver::Output::Event(json(Json::of(it))),
        Output::Perform(it) => driver::Output::Perform(driver::ToolCall {
            action_id: it.action_id.to_string(),
            tool: it.tool.as_str().to_owned(),
            arguments: Json::holding(it.arguments.as_str()),
        }),
        Output::InDoubt(it) => driver::Output::InDoubt(driver::Named {
            action_id: it.action_id.to_string(),
        }),
        // A call counts as run once it is put out, so that taking it back is for the operator to know.
        Output::Withdraw(_) | Output::Audit(_) => driver::Output::Audit(Json::holding("")),
    })
}

fn input(op: Own) -> Input {
    match op {
        Own::Propose(it) => Input::Propose(proposal(it)),
        Own::Decide {
            action_id,
            nonce,
            decision,
            by,
            arguments,
        } => Input::Decide(Decide {
            action_id,
            nonce,
            decision: match decision {
                driver::Decision::Allow => real::Decision::Allow,
                driver::Decision::Deny => real::Decision::Deny,
            },
            by,
            arguments: arguments.map(|it| Text::new(&*it.text())),
        }),
        Own::Say { by, text } => Input::Say {
            by: by.into(),
            text: text.into(),
        },
        Own::FinishTool {
            action_id,
            status,
            result,
        } => Input::FinishTool {
            action_id,
            status: match status {
                driver::ToolStatus::Success => real::ToolStatus::Success,
                driver::ToolStatus::Error => real::ToolStatus::Error,
                driver::ToolStatus::NotRun => real::ToolStatus::NotRun,
            },
            result: result.map_or_else(Text::default, |it| Text::new(&*it.text())),
        },
        Own::Cancel { action_id } => Input::Cancel { action_id },
        Own::EndSession { session_id } => Input::EndSession { session_id },
        Own::Snapshot {} | Own::Rollback { .. } => Input::Tick,
    }
}

fn proposal(it: Propose) -> real::Propose {
    let expires_at = it.expires_at.as_deref();
    real::Propose {
        agent_id: it.agent_id,
        session_id: it.session_id,
        run_id: it.run_id,
        tool: it.tool,
        arguments: Text::new(&*it.arguments.text()),
        effect: match it.effect {
            driver::Effect::Read => real::Effect::Read,
            driver::Effect::Write => real::Effect::Write,
            driver::Effect::Destructive => real::Effect::Destructive,
            driver::Effect::External => real::Effect::External,
        },
        summary: it.summary,
        label: it.label,
        expires_at: expires_at.map(|it| Timestamp::parse(it).expect("it was written")),
        deciders: it.deciders,
        idempotent: it.idempotent.unwrap_or(false),
    }
}
