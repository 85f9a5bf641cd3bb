//! The executor and what its host keeps, in a wide run.
//!
//! The one thing to know: the host is as simple as one can be. A restart has nothing but the records, read back from what was
//! written down, and what it knows to be carried out; a snapshot is a text.

use countersign_model::pending_action::judge::{PendingActionJudge, words as judged};
use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    ActionId, Damaged, Input, Ledger, Nonce, Outcome, Output, Record, Settings, Snapshot,
};
use countersign_reference::time::Timestamp;

use super::names;
use super::step::{Asked, Step};
use super::world::{MOST_SNAPSHOTS, World};
use crate::wide::Shown;

/// The executor, and what its host keeps.
pub struct Host {
    ledger: Ledger,
    settings: Settings,
    ids: SequentialIds,
    journal: Vec<Record>,
    /// As many of the journal's records were read back from what was written down; the others are when they are needed.
    read: usize,
    snapshots: Vec<String>,
    /// What the last call put out, without its records.
    last: Vec<Output>,
    /// How many outputs of the host's own came after them: a refusal, or a snapshot.
    behind: usize,
    /// How many outputs behind the records past the watermark are known to be carried out: the first so many of them.
    carried: usize,
    world: World<ActionId, Nonce>,
}

impl Host {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            ledger: Ledger::new(settings),
            settings,
            ids: SequentialIds::new(),
            journal: Vec::new(),
            read: 0,
            snapshots: Vec::new(),
            last: Vec::new(),
            behind: 0,
            carried: 0,
            world: World::new(),
        }
    }

    /// Takes a step; nothing where there is nothing that it could be about, or where it is left out.
    pub(super) fn take_step(&mut self, step: Step) -> Option<Shown<PendingActionJudge>> {
        self.world.pass(step.clock);
        match step.asked {
            Asked::Snapshot => return self.snapshot(),
            Asked::Rollback { snapshot } => return self.roll_back(snapshot),
            Asked::Restart { lost } => return Some(self.restart(lost)),
            Asked::Propose(_)
            | Asked::Decide(_)
            | Asked::Say { .. }
            | Asked::Finish { .. }
            | Asked::Cancel { .. }
            | Asked::EndSession { .. }
            | Asked::Tick => {}
        }
        let asked = self.world.call(step.asked)?;
        self.all_was_carried_out();
        let outcome = self.handle(self.world.clock, asked.input);
        Some(self.show(asked.call, outcome))
    }

    fn snapshot(&mut self) -> Option<Shown<PendingActionJudge>> {
        if self.snapshots.len() == MOST_SNAPSHOTS {
            return None;
        }
        self.all_was_carried_out();
        let outcome = self.handle(self.world.clock, Input::Tick);
        let text = serde_json::to_string(&self.ledger.snapshot()).expect("it can be written down");
        let mut shown = self.show(judged::Call::Snapshot, outcome);
        let snapshot = names::number(self.snapshots.len());
        shown.outputs.push(judged::Output::Snapshot { snapshot });
        self.behind = 1;
        self.snapshots.push(text);
        Some(shown)
    }

    /// PA-8: the host hands back an older state with the whole journal, which is what undoes nothing. A host that hands back an
    /// older journal as well has to guard against that itself.
    fn roll_back(&mut self, snapshot: u8) -> Option<Shown<PendingActionJudge>> {
        let place = usize::from(snapshot).checked_rem(self.snapshots.len())?;
        self.all_was_carried_out();
        let mut outcome = self.handle(self.world.clock, Input::Tick);
        let text = &self.snapshots[place];
        let older: Snapshot = serde_json::from_str(text).expect("it was written down");
        let latest = self.ledger.now().millis();
        let through = self.ledger.watermark();
        let call = judged::Call::Rollback {
            snapshot: names::number(place),
        };
        let Ok(ledger) = self.rebuild(Some(older), through) else {
            return Some(self.refuse(call, outcome));
        };
        self.ledger = ledger;
        let due = self.handle(latest, Input::Tick);
        outcome.outputs.extend(due.outputs);
        Some(self.show(call, outcome))
    }

    /// PA-10, PA-11: the process dies, and has lost as many outputs of the last call.
    fn restart(&mut self, lost: u8) -> Shown<PendingActionJudge> {
        let lost = usize::from(lost).min(self.last.len() + self.behind);
        let carried_out = &self.last[..self.last.len() - lost.saturating_sub(self.behind)];
        self.carried += carried_out.iter().filter(|it| names::is_told(it)).count();
        if lost == 0 {
            self.all_was_carried_out();
        }
        let latest = self.ledger.now().millis().max(self.world.clock);
        let call = judged::Call::Restart { lost };
        let Ok(ledger) = self.rebuild(None, self.ledger.watermark()) else {
            let outcome = self.handle(latest, Input::Tick);
            return self.refuse(call, outcome);
        };
        self.ledger = ledger;
        let mut outcome = self.handle(latest, Input::Restart);
        let mut known = self.carried;
        outcome.outputs.retain(|output| {
            let is_known = known > 0 && output.record().is_none();
            known -= usize::from(is_known);
            !is_known
        });
        self.show(call, outcome)
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

    /// What the host kept is no state of the executor, by its own account.
    fn refuse(&mut self, call: judged::Call, outcome: Outcome) -> Shown<PendingActionJudge> {
        let mut shown = self.show(call, outcome);
        shown.outputs.push(judged::Output::Refused);
        self.behind += 1;
        shown
    }

    fn show(&mut self, call: judged::Call, outcome: Outcome) -> Shown<PendingActionJudge> {
        let told = outcome.outputs.into_iter();
        let told: Vec<Output> = told.filter(|output| output.record().is_none()).collect();
        let mut outputs = self.world.names.outputs(&call, &told, &self.last);
        outputs.extend(outcome.refused.map(|_| judged::Output::Refused));
        self.behind = outputs.len() - told.len();
        self.last = told;
        Shown {
            now: self.world.clock,
            call,
            outputs,
        }
    }
}
