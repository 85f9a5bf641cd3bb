//! Many hosts in a row on one store, and what is to be seen after each of them.

use std::fmt;
use std::fs;
use std::ops::AddAssign;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use countersign_reference::pending_action::{Delivery, Ledger, Settings};
use countersign_store::Store;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::account::Account;
use super::life::Life;
use super::load::{Load, Random};

/// The longest that a host lives before it is killed, in milliseconds. The shortest is not at all.
const LONGEST_LIFE: u64 = 120;

/// What a host must have said by then.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Round<'a> {
    /// Everything in it goes with it.
    folder: TempDir,
    delivery: Delivery,
    random: &'a mut Random,
    load: Load,
    account: Account,
}

/// What there was to see.
#[derive(Default)]
pub struct Figures {
    pub kills: u64,
    pub records: u64,
    pub actions: u64,
    pub decisions: u64,
    pub calls: u64,
    pub calls_again: u64,
    pub doubts: u64,
    pub told_again: u64,
    pub ignored: u64,
}

impl<'a> Round<'a> {
    pub fn new(delivery: Delivery, random: &'a mut Random) -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            delivery,
            random,
            load: Load::default(),
            account: Account::default(),
        }
    }

    /// Kills so many hosts, then lets the last ones end in peace.
    pub fn play(mut self, kills: u64) -> Figures {
        for _ in 0..kills {
            self.live_and_die();
            let ledger = self.left_behind();
            let (proposed, delivery) = (&self.load.proposed, self.delivery);
            self.account.agrees_with(&ledger, proposed, delivery);
        }
        let ledger = self.come_to_rest();
        Figures {
            kills,
            records: ledger.recorded(),
            actions: ledger.actions().len() as u64,
            decisions: self.account.decisions(),
            calls: self.account.calls(),
            calls_again: self.account.calls_again(),
            doubts: self.account.doubts,
            told_again: self.account.told_again,
            ignored: self.account.ignored,
        }
    }

    /// A host under load, killed at a random moment: while it opens its store, while it syncs, while its tool runs.
    fn live_and_die(&mut self) {
        let mut life = self.new_life();
        let death = Duration::from_millis(self.random.below(LONGEST_LIFE))
            + Duration::from_micros(self.random.below(1_000));
        let begun = Instant::now();
        let death = begun + death;
        // The first host lives until it has told of a decision, however slow the machine is.
        while Instant::now() < death || self.account.decisions() == 0 {
            assert!(begun.elapsed() < PATIENCE, "a decision within a minute");
            let burst = self.load.burst(self.random, &self.account);
            life.say(&burst);
            let pause = Duration::from_micros(self.random.below(3_000));
            let left = death.saturating_duration_since(Instant::now());
            // Nothing is left where it is waited for a decision: then the host is given its time.
            let pause = if left.is_zero() {
                pause
            } else {
                pause.min(left)
            };
            if let Some(output) = life.hear(pause) {
                self.account.hear(&output);
            }
            while let Some(output) = life.hear(Duration::ZERO) {
                self.account.hear(&output);
            }
        }
        self.hear_all(&life.kill());
    }

    /// Two hosts that are not killed: with the first everything that was allowed comes to its end, and the second is told
    /// that all sessions are over.
    fn come_to_rest(&mut self) -> Ledger {
        let mut life = self.new_life();
        self.wait_for_restart(&mut life);
        life.say(&self.account.clear_all_doubts());
        self.hear_all(&life.end());
        let mut life = self.new_life();
        let end = |session_id| json!({"op": "end_session", "session_id": session_id});
        let ends: Vec<Value> = self.load.sessions().into_iter().map(end).collect();
        life.say(&ends);
        self.hear_all(&life.end());
        let ledger = self.left_behind();
        let (proposed, delivery) = (&self.load.proposed, self.delivery);
        self.account.agrees_with(&ledger, proposed, delivery);
        let still_open = self.load.open_sessions();
        self.account.is_complete(&ledger, &still_open, delivery);
        ledger
    }

    /// Until the host has said all that it has to say when it starts.
    fn wait_for_restart(&mut self, life: &mut Life) {
        let mark = json!({"op": "say", "by": "operator", "text": "what is in doubt?"});
        life.say(&[mark]);
        loop {
            let output = life.hear(PATIENCE).expect("a host that answers");
            if output["append"]["by"] == "operator" {
                return;
            }
            self.account.hear(&output);
        }
    }

    /// Everything that a host has said to the last, and all that its tool has done.
    fn hear_all(&mut self, outputs: &[Value]) {
        for output in outputs {
            self.account.hear(output);
        }
        // There is no such file before the first call.
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        self.account.read_calls(&calls);
    }

    fn new_life(&mut self) -> Life {
        self.account.new_life();
        Life::begin(&self.path("store"), &self.path("calls"), self.delivery)
    }

    /// What the store holds. A copy of it is opened, so that the next host finds it as the last one has left it.
    fn left_behind(&self) -> Ledger {
        let copy = self.path("copy");
        if fs::copy(self.path("store"), &copy).is_err() {
            // Killed before there was one.
            return Ledger::new(Settings::default());
        }
        let store = Store::open(&copy).expect("a store, whenever its host was killed");
        let ledger = store.ledger(Settings::default(), None);
        ledger.expect("a journal, whenever its host was killed")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.kills += other.kills;
        self.records += other.records;
        self.actions += other.actions;
        self.decisions += other.decisions;
        self.calls += other.calls;
        self.calls_again += other.calls_again;
        self.doubts += other.doubts;
        self.told_again += other.told_again;
        self.ignored += other.ignored;
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kills,
            records,
            actions,
            decisions,
            calls,
            calls_again,
            doubts,
            told_again,
            ignored,
        } = self;
        writeln!(
            formatter,
            "{kills} kills, {records} records of {actions} actions, {decisions} decisions told and none lost"
        )?;
        writeln!(
            formatter,
            "{calls} calls, {calls_again} of them again as they may; {doubts} times in doubt, {told_again} times told \
             again, {ignored} times ignored or refused"
        )
    }
}
