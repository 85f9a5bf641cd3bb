//! What holds after any sequence of inputs whatever, with a crash between any two steps of a host.

use std::collections::{BTreeMap, BTreeSet};

use countersign_reference::pending_action::{
    Action, ActionId, Decide, DecidersAbsent, Decision, Delivery, Effect, Entry, ExpiryAbsent,
    ExpiryBoundary, Input, Ledger, Message, Output, Propose, ReadEffect, Run, Settings, Snapshot,
    Status, Text, ToolStatus,
};
use countersign_reference::time::Timestamp;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{FileFailurePersistence, TestRunner};

use crate::pending_action::host::Host;
use crate::pending_action::stage::{cancel, decision, end_session, ordinary, say, tell};

/// One step of a host, or something that happens to it. Actions are drawn from those there are, sessions from two.
#[derive(Clone, Debug)]
enum Step {
    Propose {
        second_session: bool,
        expires_in: Option<i64>,
        deciders: Option<bool>,
        idempotent: bool,
        effect: Effect,
    },
    Decide {
        which: u8,
        decision: Decision,
        by: u8,
        fault: u8,
    },
    Cancel(u8),
    EndSession(bool),
    Say,
    Tick,
    /// The host's clock moves, in milliseconds. It may run backwards.
    Elapse(i64),
    CarryOut(u8),
    Begin,
    Finish(ToolStatus),
    /// The process dies. With how old a snapshot it comes back, if with any.
    Crash(Option<u8>),
    /// The operator finds out what became of what is in doubt.
    ClearDoubts,
    Snapshot,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let effect = prop_oneof![
        1 => Just(Effect::Read),
        1 => Just(Effect::Write),
        2 => Just(Effect::Destructive),
        1 => Just(Effect::External),
    ];
    let status = prop_oneof![
        3 => Just(ToolStatus::Success),
        1 => Just(ToolStatus::Error),
    ];
    let decided = prop_oneof![2 => Just(Decision::Allow), 1 => Just(Decision::Deny)];
    let propose = (
        prop::bool::weighted(0.3),
        prop::option::weighted(0.5, 1..40_i64),
        prop::option::weighted(0.7, any::<bool>()),
        any::<bool>(),
        effect,
    );
    let step = prop_oneof![
        10 => propose.prop_map(|(second_session, expires_in, deciders, idempotent, effect)| {
            Step::Propose { second_session, expires_in, deciders, idempotent, effect }
        }),
        14 => (any::<u8>(), decided, any::<u8>(), any::<u8>())
            .prop_map(|(which, decision, by, fault)| Step::Decide { which, decision, by, fault }),
        2 => any::<u8>().prop_map(Step::Cancel),
        1 => any::<bool>().prop_map(Step::EndSession),
        1 => Just(Step::Say),
        1 => Just(Step::Tick),
        4 => prop_oneof![3 => 0..12_i64, 1 => -9..0_i64].prop_map(Step::Elapse),
        24 => (1..6_u8).prop_map(Step::CarryOut),
        8 => Just(Step::Begin),
        8 => status.prop_map(Step::Finish),
        4 => prop::option::of(any::<u8>()).prop_map(Step::Crash),
        1 => Just(Step::ClearDoubts),
        2 => Just(Step::Snapshot),
    ];
    prop::collection::vec(step, 0..120)
}

fn settings() -> impl Strategy<Value = Settings> {
    let rare = || prop::bool::weighted(0.2);
    (rare(), any::<bool>(), rare(), any::<bool>()).prop_map(|(runs, after, nobody, again)| {
        Settings {
            read_effect: if runs {
                ReadEffect::Runs
            } else {
                ReadEffect::Pends
            },
            expiry_boundary: if after {
                ExpiryBoundary::After
            } else {
                ExpiryBoundary::At
            },
            expiry_absent: ExpiryAbsent::Never,
            deciders_absent: if nobody {
                DecidersAbsent::Nobody
            } else {
                DecidersAbsent::Anyone
            },
            delivery: if again {
                Delivery::AtLeastOnce
            } else {
                Delivery::AtMostOnce
            },
        }
    })
}

/// A host under test, and what it has done before.
struct Trial {
    host: Host,
    snapshots: Vec<Snapshot>,
    /// The ledger as it was after each call since the last crash.
    past: Vec<Ledger>,
}

impl Trial {
    fn new(settings: Settings) -> Self {
        Self {
            host: Host::new(settings),
            snapshots: Vec::new(),
            past: Vec::new(),
        }
    }

    fn takes(&mut self, step: &Step) {
        match step {
            Step::Elapse(millis) => self.host.now += millis,
            Step::CarryOut(count) => (0..*count).for_each(|_| self.host.carries_out_one()),
            Step::Begin => self.host.begins_one(),
            Step::Finish(status) => self.host.finishes_one(*status),
            Step::Crash(age) => self.crashes(*age),
            Step::ClearDoubts => self.host.clears_doubts(),
            // Only what is durable is worth a snapshot.
            Step::Snapshot if self.host.outbox.is_empty() => {
                self.snapshots.push(self.host.ledger.snapshot());
            }
            Step::Snapshot => {}
            Step::Propose { .. }
            | Step::Decide { .. }
            | Step::Cancel(_)
            | Step::EndSession(_)
            | Step::Say
            | Step::Tick => self.happens(step),
        }
        self.past.push(self.host.ledger.clone());
    }

    fn happens(&mut self, step: &Step) {
        let Some(input) = self.input(step) else {
            return;
        };
        let mut ticked = self.host.ledger.clone();
        let now = Timestamp::from_millis(self.host.now);
        let settled = ticked.handle(now, &mut self.host.ids.clone(), Input::Tick);
        let before = self.host.came_out.len();
        let refused = self.host.happens(input);
        // PA-8, PA-11: what is refused, ignored or only said changes nothing.
        let came_out = &self.host.came_out[before + settled.outputs.len()..];
        let changes = came_out
            .iter()
            .any(|output| matches!(output, Output::Record(_)));
        assert!(!refused || came_out.is_empty());
        assert!(changes || self.host.ledger == ticked);
        if matches!(step, Step::Decide { .. }) && !changes {
            assert!(matches!(came_out, [Output::Audit(_)]), "one audit entry");
        }
    }

    fn input(&self, step: &Step) -> Option<Input> {
        let actions = self.host.ledger.actions();
        let pick = |which: &u8| actions.get(usize::from(*which) % actions.len().max(1));
        let session = |second: &bool| if *second { "s2" } else { "s1" };
        match step {
            Step::Propose {
                second_session,
                expires_in,
                deciders,
                idempotent,
                effect,
            } => Some(Input::Propose(Propose {
                session_id: session(second_session).into(),
                expires_at: expires_in.map(|millis| Timestamp::from_millis(self.host.now + millis)),
                deciders: deciders.map(|both| {
                    let names = if both { &["ana", "ben"][..] } else { &["ana"] };
                    names.iter().map(ToString::to_string).collect()
                }),
                idempotent: *idempotent,
                effect: *effect,
                arguments: Text::new(format!("{{ \"nth\": {} }}", actions.len())),
                ..ordinary()
            })),
            Step::Decide {
                which,
                decision,
                by,
                fault,
            } => pick(which).map(|action| decide(action, *decision, *by, *fault)),
            Step::Cancel(which) => pick(which).map(|action| cancel(action.action_id)),
            Step::EndSession(second) => Some(end_session(session(second))),
            Step::Say => Some(say("Sí, borrar")),
            Step::Tick => Some(Input::Tick),
            Step::Elapse(_)
            | Step::CarryOut(_)
            | Step::Begin
            | Step::Finish(_)
            | Step::Crash(_)
            | Step::ClearDoubts
            | Step::Snapshot => None,
        }
    }

    fn crashes(&mut self, age: Option<u8>) {
        self.judge_the_past();
        let pending: BTreeMap<ActionId, Option<Timestamp>> = pending_in_journal(&self.host);
        let count = self.snapshots.len().max(1);
        let snapshot = age.and_then(|age| self.snapshots.get(usize::from(age) % count).cloned());
        self.host.crashes(snapshot);
        // PA-8: an old snapshot makes no difference.
        let plain = Ledger::rebuild(
            self.host.settings,
            None,
            self.host.journal.iter().cloned(),
            self.host.ledger.watermark(),
        );
        assert_same(
            plain.expect("its journal"),
            &self.host.ledger,
            self.host.now,
        );
        // PA-1: what was pending still is, unless it has expired.
        for (action_id, expires_at) in pending {
            let status = &self.host.ledger.action(action_id).expect("not lost").status;
            let has_expired = expires_at.is_some_and(|time| time <= self.host.ledger.now());
            assert!(*status == Status::Pending || has_expired, "{status:?}");
        }
    }

    /// PA-8: rebuilt from the beginning of the journal, the ledger is what it was when that was all of it.
    fn judge_the_past(&mut self) {
        let all = self.host.came_out.iter().filter_map(Output::record);
        let all: Vec<_> = all.cloned().collect();
        let mut journal = BTreeMap::new();
        for record in all {
            // A record that was lost in a crash has its number used again; the later one counts.
            journal.insert(record.number, record);
        }
        for ledger in self.past.drain(..) {
            let beginning = journal.range(..=ledger.recorded());
            let records = beginning.map(|(_, record)| record.clone());
            let rebuilt = Ledger::rebuild(ledger.settings(), None, records, ledger.watermark());
            let now = ledger.now().millis();
            assert_same(rebuilt.expect("its journal"), &ledger, now);
        }
    }

    /// PA-3, PA-5, PA-7, PA-8, PA-10: of all that the host has carried out.
    fn judge(&mut self) {
        self.judge_the_past();
        self.host.comes_to_rest();
        self.host.clears_doubts();
        self.host.comes_to_rest();
        let told = self.host.read_transcript();
        for action in self.host.ledger.actions() {
            let runs: Vec<_> = self
                .host
                .runs
                .iter()
                .filter(|call| call.action_id == action.action_id)
                .collect();
            judge_runs(&self.host, action, runs.len());
            for call in runs {
                assert_eq!(call.arguments, action.proposal.arguments);
                assert_eq!(call.tool, action.proposal.tool);
            }
            let words = told.get(&action.action_id).cloned().unwrap_or_default();
            assert_eq!(words, expected_words(action), "the transcript tells it");
        }
        let is_known = |action_id| self.host.ledger.action(action_id).is_some();
        assert!(told.keys().all(|action_id| is_known(*action_id)));
        self.judge_what_is_visible();
        let events: BTreeSet<_> = self.host.event_ids().into_iter().collect();
        assert_eq!(events.len(), self.host.events.len());
        let messages: BTreeSet<_> = self.host.message_ids().into_iter().collect();
        assert_eq!(messages.len(), self.host.message_ids().len());
    }

    /// PA-9: the visible messages tell neither id nor nonce nor arguments.
    fn judge_what_is_visible(&self) {
        for append in &self.host.transcript {
            let Message::ConfirmationRequest { .. } = append.message else {
                continue;
            };
            let shown = serde_json::to_string(append).expect("JSON");
            assert!(!shown.contains("pa_") && !shown.contains("nonce_") && !shown.contains("nth"));
        }
    }
}

/// A decision about that action: mostly a good one, sometimes not.
fn decide(action: &Action, decided: Decision, by: u8, fault: u8) -> Input {
    let by = ["ana", "ana", "ana", "ben", "eve"][usize::from(by) % 5].into();
    let nonce = action.nonce.to_string();
    let arguments = action.proposal.arguments.as_str();
    let decide = Decide {
        by,
        ..decision(action.action_id, decided)
    };
    Input::Decide(match fault % 12 {
        0 => Decide {
            action_id: "1".into(),
            ..decide
        },
        1 => Decide {
            nonce: Some(nonce.replace("nonce_0", "nonce_1")),
            ..decide
        },
        2 => Decide {
            nonce: Some(nonce),
            ..decide
        },
        3 => Decide {
            arguments: Some(Text::new("{\"nth\":-1}")),
            ..decide
        },
        4 => Decide {
            arguments: Some(Text::new(arguments.replace(' ', ""))),
            ..decide
        },
        _good => decide,
    })
}

/// What is proposed and not settled in what is durable, and when it expires.
fn pending_in_journal(host: &Host) -> BTreeMap<ActionId, Option<Timestamp>> {
    let mut pending = BTreeMap::new();
    for record in &host.journal {
        match &record.entry {
            Entry::Proposed {
                action_id,
                proposal,
                pends: true,
                ..
            } => {
                pending.insert(*action_id, proposal.expires_at);
            }
            Entry::Decided { action_id, .. }
            | Entry::Expired { action_id }
            | Entry::Cancelled { action_id } => {
                pending.remove(action_id);
            }
            Entry::SessionEnded { cancelled, .. } => {
                pending.retain(|action_id, _| !cancelled.contains(action_id));
            }
            Entry::Proposed { pends: false, .. } | Entry::Finished { .. } | Entry::Said { .. } => {}
        }
    }
    pending
}

/// Both are the same once both have been told the time. The journal knows the time of its last record only.
#[track_caller]
fn assert_same(mut one: Ledger, other: &Ledger, now: i64) {
    let mut other = other.clone();
    let mut ids = countersign_reference::ids::SequentialIds::new();
    let now = Timestamp::from_millis(now).max(other.now());
    let _settled = one.handle(now, &mut ids, Input::Tick);
    let _settled = other.handle(now, &mut ids, Input::Tick);
    assert_eq!(one, other);
}

/// PA-3, PA-8: how often an action may have run.
fn judge_runs(host: &Host, action: &Action, runs: usize) {
    match &action.status {
        Status::Accepted { by, .. } => {
            let is_read = action.proposal.effect == Effect::Read;
            let entitled = match (by, &action.proposal.deciders) {
                (None, _) => is_read && host.settings.read_effect == ReadEffect::Runs,
                (Some(by), Some(deciders)) => deciders.contain(by),
                (Some(_), None) => host.settings.deciders_absent == DecidersAbsent::Anyone,
            };
            assert!(entitled, "allowed by one who may");
            let may_repeat =
                host.settings.delivery == Delivery::AtLeastOnce && action.proposal.idempotent;
            assert!(runs <= 1 || may_repeat, "ran {runs} times");
            let session_id = &action.proposal.session_id;
            let must_run = may_repeat && !host.ledger.ended_sessions().contains(session_id);
            assert!(runs >= 1 || !must_run, "did not run");
        }
        Status::Pending
        | Status::Rejected { .. }
        | Status::Expired { .. }
        | Status::Cancelled { .. } => assert_eq!(runs, 0, "{:?}", action.status),
    }
}

/// PA-7, PA-10: what the transcript says of an action once everything has come to rest: one result, and which.
fn expected_words(action: &Action) -> Vec<&'static str> {
    match &action.status {
        Status::Pending => vec![],
        Status::Accepted { run, .. } => match run {
            Run::Unfinished => vec!["called"],
            Run::Finished { status, .. } => match status {
                ToolStatus::Success => vec!["called", "success"],
                ToolStatus::Error => vec!["called", "error"],
                ToolStatus::NotRun => vec!["called", "not run"],
            },
        },
        Status::Rejected { .. } => vec!["rejected"],
        Status::Expired { .. } => vec!["expired"],
        Status::Cancelled { .. } => vec!["cancelled"],
    }
}

fn run(settings: Settings, steps: &[Step]) -> Trial {
    let mut trial = Trial::new(settings);
    for step in steps {
        trial.takes(step);
    }
    trial.judge();
    let written = serde_json::to_string(&trial.host.ledger).expect("JSON");
    let read: Ledger = serde_json::from_str(&written).expect("written by a ledger");
    assert_eq!(read, trial.host.ledger);
    trial
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/pending_action_invariants.txt",
        ))),
        ..ProptestConfig::default()
    })]

    /// PA-1, PA-2, PA-3, PA-4, PA-5, PA-6, PA-7, PA-8, PA-9, PA-10, PA-11: whatever happens, and wherever it crashes.
    #[test]
    fn no_sequence_breaks_the_rules(settings in settings(), steps in steps()) {
        run(settings, &steps);
    }
}

/// PA-10: the sequences do get somewhere: every kind of output comes out, or the test above would show nothing.
#[test]
fn the_sequences_get_somewhere() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    let mut twice = 0;
    for _ in 0..200 {
        let settings = settings()
            .new_tree(&mut runner)
            .expect("settings")
            .current();
        let steps = steps().new_tree(&mut runner).expect("steps").current();
        let trial = run(settings, &steps);
        for output in &trial.host.came_out {
            let told = tell(output);
            let kind = match output {
                Output::Perform(_) | Output::Withdraw(_) | Output::InDoubt(_) => {
                    told.trim_end_matches(|last: char| last.is_ascii_digit())
                }
                Output::Record(_) | Output::Append(_) | Output::Event(_) | Output::Audit(_) => {
                    &told
                }
            };
            seen.insert(kind.to_owned());
        }
        let different: BTreeSet<_> = trial.host.runs.iter().map(|call| call.action_id).collect();
        twice += trial.host.runs.len() - different.len();
    }
    for kind in [
        "record proposed",
        "record decided",
        "record expired",
        "record cancelled",
        "record finished",
        "record session_ended",
        "append request",
        "append call",
        "append result",
        "append denied result",
        "append expired result",
        "append cancelled result",
        "append user message",
        "event created",
        "event decided Allow",
        "event decided Allow by ana",
        "event decided Deny by ben",
        "event denied",
        "event expired",
        "event executed Success",
        "event not_run",
        "event cancelled Requested",
        "event cancelled SessionEnded",
        "perform ",
        "withdraw ",
        "in doubt ",
        "audit PA-1",
        "audit PA-2",
        "audit PA-3",
        "audit PA-7",
        "audit PA-8",
    ] {
        assert!(seen.contains(kind), "{kind}: {seen:?}");
    }
    assert!(twice > 0, "released again where that does no harm");
}
