//! What a crash leaves, what a restart makes of it, and what an old snapshot cannot undo.

use countersign_reference::pending_action::{
    ActionId, Contradiction, Damaged, Decision, Delivery, Effect, Entry, Input, Ledger, Output,
    Propose, Record, Settings, Snapshot, ToolStatus,
};
use countersign_reference::time::Timestamp;

use crate::pending_action::host::Host;
use crate::pending_action::stage::{
    ALLOWED, ASKED, EXPIRED, EXPIRY, START, Stage, allow, cancel, deny, end_session, expiring,
    finish, of_session, ordinary, say,
};

fn at_least_once() -> Settings {
    Settings {
        delivery: Delivery::AtLeastOnce,
        ..Settings::default()
    }
}

fn idempotent() -> Propose {
    Propose {
        idempotent: true,
        ..ordinary()
    }
}

/// PA-8: released before the crash and not recorded as finished: in doubt at every restart until somebody says how it
/// came out, and never released again.
#[test]
fn what_was_released_is_in_doubt_after_a_crash() {
    let mut stage = Stage::new();
    let ids = [(); 3].map(|()| stage.proposes(ordinary()));
    stage.does(allow(ids[2]));
    stage.does(allow(ids[0]));
    stage.carries();
    for _ in 0..3 {
        stage.crashes();
        assert_eq!(stage.does(Input::Restart), ["in doubt 1", "in doubt 3"]);
    }
    assert_eq!(stage.does(allow(ids[0])), ["audit PA-8"]);
    stage.does(finish(ids[0], ToolStatus::NotRun));
    stage.does(finish(ids[2], ToolStatus::Success));
    stage.carries();
    stage.crashes();
    assert_eq!(stage.does(Input::Restart), [""; 0]);
    assert_eq!(stage.status(ids[1]), "pending");
}

/// PA-8: at least once only where the host has chosen so and the proposal says that it does no harm, and never after
/// the end of the session. With the same bytes.
#[test]
fn only_what_is_declared_idempotent_is_released_again() {
    // It seems safe to repeat, and nobody has said so.
    let only_reads = Propose {
        effect: Effect::Read,
        ..ordinary()
    };
    for (settings, propose, session_ends, expected) in [
        (Settings::default(), ordinary(), false, "in doubt 1"),
        (Settings::default(), idempotent(), false, "in doubt 1"),
        (at_least_once(), ordinary(), false, "in doubt 1"),
        (at_least_once(), only_reads, false, "in doubt 1"),
        (at_least_once(), idempotent(), false, "perform 1"),
        (at_least_once(), idempotent(), true, "in doubt 1"),
    ] {
        let mut stage = Stage::with(settings);
        let id = stage.proposes(propose);
        let released = stage.outputs(allow(id)).pop();
        if session_ends {
            stage.does(end_session("s1"));
        }
        stage.carries();
        for _ in 0..2 {
            stage.crashes();
            let again = stage.outputs(Input::Restart);
            assert_eq!(crate::pending_action::stage::telling(&again), [expected]);
            if expected == "perform 1" {
                assert_eq!(again.first(), released.as_ref());
            }
        }
        stage.does(finish(id, ToolStatus::Success));
        stage.carries();
        stage.crashes();
        assert_eq!(stage.does(Input::Restart), [""; 0]);
    }
}

/// PA-10: what may not have been told before the crash is told again in the same words; nothing is released,
/// withdrawn or recorded again by that.
#[test]
fn what_was_not_carried_out_is_told_again() {
    let mut stage = Stage::new();
    let told: Vec<_> = [
        Input::Propose(ordinary()),
        Input::Propose(ordinary()),
        Input::Propose(ordinary()),
    ]
    .into_iter()
    .flat_map(|input| stage.outputs(input))
    .collect();
    let ids: Vec<_> = stage
        .ledger
        .actions()
        .iter()
        .map(|action| action.action_id)
        .collect();
    let rest = [
        allow(ids[0]),
        deny(ids[1]),
        finish(ids[0], ToolStatus::Error),
        end_session("s1"),
    ];
    let rest: Vec<_> = rest
        .into_iter()
        .flat_map(|input| stage.outputs(input))
        .collect();
    let is_told = |output: &&Output| match output {
        Output::Append(_) | Output::Event(_) => true,
        Output::Record(_)
        | Output::Perform(_)
        | Output::Withdraw(_)
        | Output::InDoubt(_)
        | Output::Audit(_) => false,
    };
    let all: Vec<_> = told.iter().chain(&rest).filter(is_told).cloned().collect();
    stage.crashes();
    assert_eq!(stage.outputs(Input::Restart), all);
    // The first three are told for good; a watermark is never taken back, nor goes beyond the journal.
    stage.ledger.carried(3);
    stage.ledger.carried(1);
    assert_eq!(stage.ledger.watermark(), 3);
    let later: Vec<_> = rest.iter().filter(is_told).cloned().collect();
    stage.crashes();
    assert_eq!(stage.outputs(Input::Restart), later);
    stage.ledger.carried(u64::MAX);
    assert_eq!(stage.ledger.watermark(), stage.ledger.recorded());
    stage.crashes();
    assert_eq!(stage.outputs(Input::Restart), []);
}

/// PA-10, PA-11: what somebody has said is told again in the same words and with the same id, in its place; once it is carried
/// out, no more. Two messages with the same words are two.
#[test]
fn what_was_said_is_told_again() {
    let mut stage = Stage::new();
    let told: Vec<_> = [say("yes"), Input::Propose(ordinary()), say("yes")]
        .into_iter()
        .flat_map(|input| stage.outputs(input))
        .filter(|output| output.record().is_none())
        .collect();
    assert_ne!(told[0], told[3]);
    stage.crashes();
    assert_eq!(stage.outputs(Input::Restart), told);
    stage.ledger.carried(1);
    stage.crashes();
    assert_eq!(stage.outputs(Input::Restart), told[1..]);
    stage.carries();
    stage.crashes();
    assert_eq!(stage.outputs(Input::Restart), []);
}

/// PA-7, PA-10: what expired while the process was down is settled at the restart, after the question was told.
#[test]
fn expiry_is_settled_at_the_restart_and_after_what_was_told_before() {
    let mut stage = Stage::new();
    let id = stage.proposes(expiring());
    stage.now = EXPIRY;
    stage.crashes();
    let mut expected = ASKED[1..].to_vec();
    expected.extend(EXPIRED);
    assert_eq!(stage.does(Input::Restart), expected);
    assert_eq!(stage.status(id), "expired");
}

/// PA-10: what is in doubt comes last, so that nobody is asked how a call came out before they are told of it.
#[test]
fn what_is_in_doubt_is_said_after_what_was_not_told() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.proposes(expiring());
    stage.carries();
    stage.does(allow(id));
    stage.now = EXPIRY;
    stage.crashes();
    let mut expected = ALLOWED[1..3].to_vec();
    expected.extend(EXPIRED);
    expected.push("in doubt 1");
    assert_eq!(stage.does(Input::Restart), expected);
}

/// PA-7: the clock is clamped to the journal's, so that no restart brings anything back.
#[test]
fn time_does_not_go_back_over_a_restart() {
    let mut stage = Stage::new();
    let id = stage.proposes(expiring());
    stage.now = EXPIRY - 1;
    stage.proposes(ordinary());
    stage.crashes();
    stage.now = START - 1_000;
    assert_eq!(stage.ledger.now().millis(), EXPIRY - 1);
    stage.does(deny(id));
    assert_eq!(stage.journal[2].at.millis(), EXPIRY - 1);
}

/// PA-7: nor does it over a snapshot that knows of a later time than the journal.
#[test]
fn a_snapshot_keeps_the_time_that_it_has_seen() {
    let mut stage = Stage::new();
    stage.proposes(ordinary());
    stage.now = EXPIRY;
    stage.does(Input::Tick);
    let later = stage.ledger.snapshot();
    stage.crashes();
    stage.now = START;
    stage.proposes(ordinary());
    assert_eq!(stage.ledger.now().millis(), START);
    stage.crashes_into(Settings::default(), Some(later), 2);
    assert_eq!(stage.ledger.now().millis(), EXPIRY);
}

/// PA-2: a decision whose record was not durable is as if never made; the question is still open.
#[test]
fn a_decision_that_was_not_durable_was_not_made() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.does(allow(id));
    stage.crashes_into(Settings::default(), None, 1);
    assert_eq!(stage.status(id), "pending");
    assert_eq!(stage.does(Input::Restart), ASKED[1..]);
    assert_eq!(stage.does(allow(id)), ALLOWED);
}

/// PA-8: a snapshot that is replayed undoes nothing, because the journal is caught up with.
#[test]
fn a_replayed_snapshot_undoes_nothing() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    let denied = stage.proposes(ordinary());
    let while_pending = stage.ledger.snapshot();
    assert_eq!(while_pending.recorded(), 2);
    stage.does(allow(id));
    stage.does(deny(denied));
    stage.carries();
    let before = stage.ledger.clone();
    stage.crashes_into(Settings::default(), Some(while_pending.clone()), 4);
    assert_eq!(stage.ledger, before);
    assert_eq!(stage.does(allow(id)), ["audit PA-8"]);
    assert_eq!(stage.does(allow(denied)), ["audit PA-8"]);
    // From the record that the snapshot stands on, or from any before it.
    for first in [0, 1] {
        let records = stage.journal[first..].iter().cloned();
        let snapshot = Some(while_pending.clone());
        let rebuilt = Ledger::rebuild(Settings::default(), snapshot, records, 4);
        assert_eq!(rebuilt, Ok(before.clone()));
    }
}

/// PA-8: a snapshot of something that never became durable is not believed.
#[test]
fn a_snapshot_ahead_of_the_journal_is_not_believed() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.does(allow(id));
    let ahead = stage.ledger.snapshot();
    for (kept, is_held) in [(0, false), (1, false), (2, true)] {
        let records = stage.journal[..kept].iter().cloned();
        let rebuilt = Ledger::rebuild(Settings::default(), Some(ahead.clone()), records, 0);
        assert_eq!(rebuilt.is_ok(), is_held);
        if !is_held {
            assert_eq!(rebuilt, Err(Damaged::SnapshotAhead { number: 2 }));
        }
    }
}

/// PA-8: a snapshot of another journal, or one that somebody has edited, is not believed, wherever the journal ends.
#[test]
fn a_snapshot_that_the_journal_does_not_tell_of_is_not_believed() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.does(allow(id));
    let honest = serde_json::to_string(&stage.ledger.snapshot()).unwrap();
    let [ana, ben] = ["ana", "ben"].map(|by| format!(r#""status":{{"accepted":{{"by":"{by}""#));
    let edited = honest.replace(&ana, &ben);
    assert_ne!(edited, honest);
    let mut other = Stage::new();
    for _ in 0..2 {
        other.proposes(ordinary());
    }
    let foreign = serde_json::to_string(&other.ledger.snapshot()).unwrap();
    for (snapshot, is_believed) in [(honest, true), (edited, false), (foreign, false)] {
        let snapshot = serde_json::from_str(&snapshot).unwrap();
        let records = stage.journal.iter().cloned();
        let rebuilt = Ledger::rebuild(Settings::default(), Some(snapshot), records, 0);
        if is_believed {
            assert_eq!(rebuilt.as_ref(), Ok(&stage.ledger));
        } else {
            assert_eq!(rebuilt, Err(Damaged::SnapshotOfAnother { number: 2 }));
        }
    }
}

/// PA-1: a journal with a hole, or a watermark beyond its end, is not the journal.
#[test]
fn a_damaged_journal_is_noticed() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.proposes(ordinary());
    stage.does(allow(id));
    let rebuild = |records: Vec<Record>, carried| {
        Ledger::rebuild(Settings::default(), None, records, carried).map(|_| ())
    };
    for hole in 0..3 {
        let mut records = stage.journal.clone();
        records.remove(hole);
        let missing = Damaged::Record {
            number: hole as u64 + 2,
            because: Contradiction::Gap,
        };
        let expected = if hole < 2 { Err(missing) } else { Ok(()) };
        assert_eq!(rebuild(records, 0), expected);
    }
    let mut twice = stage.journal.clone();
    twice.push(twice[2].clone());
    assert!(rebuild(twice, 0).is_err());
    for (carried, is_valid) in [(2, true), (3, true), (4, false)] {
        let rebuilt = rebuild(stage.journal.clone(), carried);
        assert_eq!(rebuilt.is_ok(), is_valid);
    }
    let mut zero = stage.journal[0].clone();
    zero.number = 0;
    assert!(rebuild(vec![zero], 0).is_err());
}

/// PA-7: nothing is believed to have become of an action after its expiry, at which it may still be open in one reading; nor
/// that time went back.
#[test]
fn a_record_out_of_its_time_is_not_believed() {
    let mut stage = Stage::new();
    let id = stage.proposes(expiring());
    let other = stage.proposes(expiring());
    let mut again = stage.journal.pop().expect("the second proposal");
    let denied = Entry::Decided {
        action_id: id,
        decision: Decision::Deny,
        by: countersign_reference::pending_action::DeciderId::parse("ana").expect("a name"),
    };
    let ended = Entry::SessionEnded {
        session_id: stage.ledger.actions()[0].proposal.session_id.clone(),
        cancelled: vec![id],
    };
    let mut believed = |entry: &Entry, at| {
        again.entry = entry.clone();
        again.at = Timestamp::from_millis(at);
        let records = [stage.journal[0].clone(), again.clone()];
        Ledger::rebuild(Settings::default(), None, records, 0).map(|_| ())
    };
    let because = |because| Err(Damaged::Record { number: 2, because });
    for entry in [denied, Entry::Cancelled { action_id: id }, ended] {
        for (at, expected) in [
            (START - 1, because(Contradiction::Older)),
            (START, Ok(())),
            (EXPIRY, Ok(())),
            (EXPIRY + 1, because(Contradiction::Expired)),
        ] {
            assert_eq!(believed(&entry, at), expected, "{entry:?} at {at}");
        }
    }
    let action = stage.ledger.action(other).expect("it was proposed").clone();
    let proposed = Entry::Proposed {
        action_id: other,
        nonce: action.nonce,
        proposal: action.proposal,
        pends: true,
    };
    assert_eq!(believed(&proposed, EXPIRY - 1), Ok(()));
    assert_eq!(believed(&proposed, EXPIRY), because(Contradiction::Expired));
}

/// PA-2, PA-5, PA-7, PA-8: no record is believed that no ledger can have written.
#[test]
fn a_record_that_cannot_follow_is_not_believed() {
    let mut stage = Stage::new();
    let id = stage.proposes(expiring());
    let other = stage.proposes(of_session("s2"));
    stage.does(deny(other));
    stage.does(end_session("s2"));
    let proposed = stage.journal[0].entry.clone();
    let decided = |by: &str| {
        let parsed = countersign_reference::pending_action::DeciderId::parse(by);
        Entry::Decided {
            action_id: id,
            decision: Decision::Allow,
            by: parsed.expect("a name"),
        }
    };
    let unknown = ActionId::from_bits(99);
    let session =
        |name: &str| countersign_reference::pending_action::SessionId::parse(name).expect("a name");
    let mut after_end = stage.journal[1].entry.clone();
    if let Entry::Proposed { action_id, .. } = &mut after_end {
        *action_id = unknown;
    }
    for (entry, at, because) in [
        (proposed, START, Contradiction::ProposedTwice),
        (after_end, START, Contradiction::SessionEnded),
        (
            Entry::Cancelled { action_id: unknown },
            START,
            Contradiction::NeverProposed,
        ),
        (
            Entry::Cancelled { action_id: other },
            START,
            Contradiction::SettledOtherwise,
        ),
        (decided("eve"), START, Contradiction::NotEntitled),
        (
            Entry::Expired { action_id: id },
            EXPIRY - 1,
            Contradiction::NotExpired,
        ),
        (
            Entry::SessionEnded {
                session_id: session("s2"),
                cancelled: vec![],
            },
            START,
            Contradiction::SessionEnded,
        ),
        (
            Entry::SessionEnded {
                session_id: session("s1"),
                cancelled: vec![],
            },
            START,
            Contradiction::OthersCancelled,
        ),
        (
            Entry::SessionEnded {
                session_id: session("s1"),
                cancelled: vec![id, other],
            },
            START,
            Contradiction::OthersCancelled,
        ),
    ] {
        let mut records = stage.journal.clone();
        records.push(Record {
            number: 5,
            at: Timestamp::from_millis(at),
            entry,
        });
        let rebuilt = Ledger::rebuild(Settings::default(), None, records, 0);
        let number = 5;
        assert_eq!(rebuilt, Err(Damaged::Record { number, because }));
    }
    // What can follow is believed.
    let mut records = stage.journal.clone();
    records.push(Record {
        number: 5,
        at: Timestamp::from_millis(EXPIRY),
        entry: Entry::Expired { action_id: id },
    });
    assert!(Ledger::rebuild(Settings::default(), None, records, 0).is_ok());
}

/// PA-3, PA-8: a host that dies after each single step of a whole life, with nothing carried out twice and nothing lost.
#[test]
fn a_crash_after_any_step_loses_nothing_and_runs_nothing_twice() {
    for carried_out in 0..16 {
        let mut host = Host::new(Settings::default());
        host.happens(Input::Propose(ordinary()));
        let id = host.ledger.actions()[0].action_id;
        host.happens(allow(id));
        let mut steps = carried_out;
        while steps > 0 && !host.outbox.is_empty() {
            host.carries_out_one();
            steps -= 1;
        }
        if host.outbox.is_empty() && steps > 0 {
            host.begins_one();
            steps -= 1;
        }
        if steps > 0 {
            host.finishes_one(ToolStatus::Success);
            host.carries_out_all();
        }
        let durable = host.journal.len();
        host.crashes(None);
        host.comes_to_rest();
        host.clears_doubts();
        host.comes_to_rest();
        assert!(host.runs.len() <= 1, "after {carried_out} steps");
        assert_eq!(host.ledger.actions().len(), durable.min(1));
        let results = host.read_transcript();
        let result = results.get(&id).and_then(|told| told.last().copied());
        assert_eq!(result.is_some(), durable > 1);
        if let Some(result) = result {
            let ran = !host.runs.is_empty();
            assert_eq!(result == "success", ran, "after {carried_out} steps");
        }
    }
}

/// A call that may run again is proposed, allowed and released.
fn released_once(host: &mut Host) -> ActionId {
    host.happens(Input::Propose(idempotent()));
    let id = host.ledger.actions()[0].action_id;
    host.happens(allow(id));
    host.carries_out_all();
    id
}

/// PA-5, PA-10: a call that is withdrawn after a restart may have begun before it, so it is in doubt and not said not to have
/// run.
#[test]
fn a_repeated_call_that_is_withdrawn_is_in_doubt() {
    for had_begun in [false, true] {
        let mut host = Host::new(at_least_once());
        let id = released_once(&mut host);
        if had_begun {
            host.begins_one();
        }
        host.crashes(None);
        host.carries_out_all();
        host.happens(end_session("s1"));
        host.carries_out_all();
        assert_eq!((&host.in_doubt, host.dropped.len()), (&vec![id], 0));
        host.clears_doubts();
        host.comes_to_rest();
        let result = host.read_transcript()[&id].last().copied();
        let expected = if had_begun { "success" } else { "not run" };
        assert_eq!(result, Some(expected));
        assert_eq!(host.runs.len(), usize::from(had_begun));
    }
}

/// PA-5, PA-8: a repeated call that has begun since the restart is not withdrawn any more: it runs, comes back, and is not in
/// doubt, so that nobody says twice how it came out.
#[test]
fn a_repeated_call_that_has_begun_is_not_in_doubt_when_its_session_ends() {
    let mut host = Host::new(at_least_once());
    let id = released_once(&mut host);
    host.crashes(None);
    host.carries_out_all();
    host.begins_one();
    host.happens(end_session("s1"));
    host.carries_out_all();
    assert_eq!((&host.in_doubt, &host.running), (&vec![], &vec![id]));
    host.clears_doubts();
    host.comes_to_rest();
    let result = host.read_transcript()[&id].last().copied();
    assert_eq!(result, Some("success"));
}

/// PA-5: what is cancelled or expired stays so over a crash, and a snapshot in JSON is the same snapshot.
#[test]
fn a_snapshot_survives_json() {
    let mut stage = Stage::new();
    let ids = [(); 4].map(|()| stage.proposes(expiring()));
    stage.does(cancel(ids[0]));
    stage.does(allow(ids[1]));
    stage.does(finish(ids[1], ToolStatus::Success));
    stage.does(allow(ids[2]));
    stage.does(end_session("s3"));
    stage.ledger.carried(4);
    let written = serde_json::to_string(&stage.ledger.snapshot()).expect("JSON");
    let read: Snapshot = serde_json::from_str(&written).expect("a snapshot");
    assert_eq!(read, stage.ledger.snapshot());
    let before = stage.ledger.clone();
    let durable = stage.journal.len();
    stage.crashes_into(Settings::default(), Some(read), durable);
    assert_eq!(stage.ledger, before);
}
