//! What is durable, what is not, and what comes back.

use std::path::{Path, PathBuf};

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{Decision, Input, Output, Settings, Status};
use countersign_reference::time::Timestamp;
use countersign_store::Store;
use tempfile::TempDir;

use super::stage::{Stage, action_id, actions, decision, now, proposal, records, words};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("actions.store");
    (folder, path)
}

fn open(path: &Path) -> Store {
    Store::open(path).expect("a store")
}

/// On a store in memory, and on one on disk.
fn on_both(test: impl Fn(Stage)) {
    test(Stage::on(Store::in_memory()));
    let (_folder, path) = folder();
    test(Stage::on(open(&path)));
}

/// PA-1, PA-3, PA-8: the ledger that comes back is the one that was left, to the byte of the arguments.
#[test]
fn what_was_appended_is_there_when_the_store_is_opened_again() {
    let (_folder, path) = folder();
    let mut stage = Stage::on(open(&path));
    stage.fill(5);
    let mut before = stage.ledger.clone();
    let recorded = stage.store.recorded();
    assert_eq!(recorded, 8);
    drop(stage);
    let again = Stage::on(open(&path));
    assert_eq!(again.store.recorded(), recorded);
    assert_eq!(again.ledger.actions(), before.actions());
    let arguments = again.ledger.actions()[4].proposal.arguments.as_str();
    assert_eq!(arguments, "{\"ids\" : [4],\t\"confirm\":true}");
    // The watermark lags by one call; besides that the two are the same value.
    before.carried(again.ledger.watermark());
    assert_eq!(again.ledger.watermark(), recorded - 1);
    assert_eq!(again.ledger.recorded(), before.recorded());
}

/// PA-8: a decision whose record was not appended is as if it was never made.
#[test]
fn what_was_not_appended_is_not_there() {
    let (_folder, path) = folder();
    let mut stage = Stage::on(open(&path));
    let action_id = action_id(&stage.does(proposal(0)));
    let decided = stage.happens(decision(action_id, Decision::Allow));
    assert_eq!(records(&decided).len(), 1);
    drop(stage);
    assert_eq!(actions(&open(&path))[0].status, Status::Pending);
}

/// PA-10: what may not have been told before a crash is told again, and no more than that.
#[test]
fn what_lies_behind_the_watermark_is_not_told_again() {
    let told_again = |stage: &mut Stage| -> usize {
        let outcome = stage
            .ledger
            .handle(now(), &mut SequentialIds::new(), Input::Restart);
        let told = outcome.outputs.iter();
        told.filter(|output| matches!(output, Output::Append(_) | Output::Event(_)))
            .count()
    };
    let (_folder, path) = folder();
    let mut stage = Stage::on(open(&path));
    stage.fill(3);
    drop(stage);
    let mut lagging = Stage::on(open(&path));
    assert_eq!(told_again(&mut lagging), 2, "the last record has two");
    let recorded = lagging.store.recorded();
    lagging.store.carried(recorded).expect("a store that works");
    drop(lagging);
    let mut caught_up = Stage::on(open(&path));
    assert_eq!(caught_up.store.watermark(), recorded);
    assert_eq!(told_again(&mut caught_up), 0);
}

#[test]
fn a_watermark_never_goes_back_and_never_beyond_what_is_durable() {
    on_both(|mut stage| {
        stage.fill(2);
        for (through, watermark) in [(1, 2), (2, 2), (3, 3), (4, 3), (1, 3)] {
            stage.store.carried(through).expect("a store that works");
            assert_eq!(stage.store.watermark(), watermark, "after {through}");
        }
    });
}

/// PA-8: an old snapshot undoes nothing, for what was recorded after it is read from the journal.
#[test]
fn a_snapshot_catches_up_with_the_journal() {
    on_both(|mut stage| {
        let empty = stage.ledger.snapshot();
        let action_id = action_id(&stage.does(proposal(0)));
        let pending = stage.ledger.snapshot();
        stage.does(decision(action_id, Decision::Deny));
        for snapshot in [empty, pending, stage.ledger.snapshot()] {
            let ledger = stage.store.ledger(Settings::default(), Some(snapshot));
            assert_eq!(ledger.expect("its own").actions(), stage.ledger.actions());
        }
    });
}

/// PA-8: a snapshot that tells of what never became durable is not believed.
#[test]
fn a_snapshot_ahead_of_the_journal_is_refused() {
    on_both(|mut stage| {
        stage.happens(proposal(0));
        let ahead = stage.ledger.snapshot();
        assert_eq!(
            words(stage.store.ledger(Settings::default(), Some(ahead))),
            "the journal does not hold record 1, which the snapshot stands on"
        );
    });
}

#[test]
fn records_are_appended_in_their_order_and_once() {
    on_both(|mut stage| {
        let first = records(&stage.does(proposal(0)));
        let second = records(&stage.happens(proposal(1)));
        let third = records(&stage.happens(proposal(2)));
        let again = stage.store.append(&first, 0);
        let after_last = "does not follow on record 1, the last one of the store";
        assert_eq!(words(again), format!("record 1 {after_last}"));
        let gap = stage.store.append(&third, 0);
        assert_eq!(words(gap), format!("record 3 {after_last}"));
        assert_eq!(stage.store.recorded(), 1);
        let both = second.iter().chain(&third);
        stage.store.append(both, 1).expect("the next two");
        assert_eq!(actions(&stage.store), stage.ledger.actions());
    });
}

/// The records of one call are there together or not at all.
#[test]
fn a_call_whose_last_record_is_out_of_order_appends_nothing() {
    on_both(|mut stage| {
        let mut both = records(&stage.happens(proposal(0)));
        stage.happens(proposal(1));
        both.extend(records(&stage.happens(proposal(2))));
        assert!(stage.store.append(&both, 0).is_err());
        assert_eq!(stage.store.recorded(), 0);
        assert_eq!(stage.store.records(1).expect("readable"), []);
    });
}

/// PA-7: the greatest time so far is durable, whether a record tells it or not, and it never goes back.
#[test]
fn the_time_that_has_passed_is_kept() {
    let (_folder, path) = folder();
    let later = |millis: i64| Timestamp::from_millis(now().millis() + millis);
    let mut stage = Stage::on(open(&path));
    assert_eq!(stage.store.passed(), Timestamp::MIN);
    for (passes, passed) in [(1, 1), (2, 2), (1, 2)] {
        stage.store.pass(later(passes)).expect("a store that works");
        assert_eq!(stage.store.passed(), later(passed));
    }
    drop(stage);
    let mut stage = Stage::on(open(&path));
    assert_eq!(stage.store.passed(), later(2));
    stage.store.clear().expect("a store that works");
    assert_eq!(stage.store.passed(), Timestamp::MIN);
    stage.fill(1);
    assert_eq!(stage.store.passed(), now(), "a record has told it");
    drop(stage);
    let stage = Stage::on(open(&path));
    assert_eq!(stage.store.passed().max(stage.ledger.now()), now());
}

#[test]
fn a_cleared_store_begins_anew() {
    let (_folder, path) = folder();
    let mut stage = Stage::on(open(&path));
    stage.fill(3);
    stage.store.clear().expect("a store that works");
    assert_eq!((stage.store.recorded(), stage.store.watermark()), (0, 0));
    drop(stage);
    let mut stage = Stage::on(open(&path));
    assert_eq!(stage.ledger.actions(), []);
    stage.does(Input::EndSession {
        session_id: "s1".into(),
    });
    assert_eq!(stage.store.recorded(), 1);
}
