//! What outlasts a crash and what a restart makes of it, what moves the watermark, and what a snapshot may hold.

use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::known::Status;
use countersign_model::pending_action::output::{Event, Output};
use countersign_model::pending_action::words::{
    Arguments, Decision, Note, Proposal, SessionName, Slot, ToolStatus,
};

use crate::pending_action::run::{IDEMPOTENT, RELEASED, Run, expired, expiring};

const FIRST: Slot = Slot::First;

/// PA-1: a crash before the record is durable takes the step back; one after it does not.
#[test]
fn a_decision_is_made_once_its_record_is_durable() {
    for (carried, status, runs) in [
        (0, Status::Pending, 0),
        (1, Status::Accepted, 0),
        (2, Status::Accepted, 0),
        (3, Status::Accepted, 1),
    ] {
        let mut run = Run::asked(Proposal::PLAIN);
        run.allow();
        run.carry(carried);
        run.put(Action::Restart);
        run.carry_out();
        assert_eq!(run.status(), status, "after {carried}");
        assert_eq!(run.runs(), runs, "after {carried}");
    }
}

/// PA-8, PA-10: what was released and is not done is in doubt at every restart until its result is told.
#[test]
fn what_was_released_is_in_doubt_until_it_is_done() {
    let mut run = Run::asked(Proposal::PLAIN);
    run.allow();
    run.carry_out();
    for _ in 0..2 {
        assert_eq!(run.put(Action::Restart), [Output::InDoubt(FIRST)]);
    }
    run.finish();
    run.carry_out();
    assert_eq!(run.put(Action::Restart), []);
    assert_eq!(run.runs(), 1);
}

/// PA-3, PA-5: what is declared idempotent is released again with the same arguments, unless its session has ended.
#[test]
fn what_is_declared_idempotent_is_released_again() {
    let mut run = Run::asked(IDEMPOTENT);
    run.allow();
    run.carry_out();
    let again = run.put(Action::Restart);
    assert_eq!(again, [Output::Perform(FIRST, Arguments::Original)]);
    run.carry_out();
    assert_eq!(run.runs(), 2);
    run.put(Action::EndSession(SessionName::A));
    run.carry_out();
    assert_eq!(run.put(Action::Restart), [Output::InDoubt(FIRST)]);
}

/// PA-3, PA-8, by the reading `in-doubt`: what is not declared idempotent is released again too, unless its session has ended.
#[test]
fn by_the_other_reading_whatever_was_released_is_released_again() {
    let reading = PendingAction::reading(["in-doubt=runs-again"]).expect("it is a choice");
    for has_ended in [false, true] {
        let mut run = Run::read(reading);
        run.put(Action::Propose(Proposal::PLAIN));
        run.carry_out();
        run.allow();
        run.carry_out();
        if has_ended {
            run.put(Action::EndSession(SessionName::A));
            run.carry_out();
        }
        let step = run.model.step(&run.state, Action::Restart);
        let outputs = step.expect("it is enabled").required;
        let again = Output::Perform(FIRST, Arguments::Original);
        let expected = if has_ended {
            Output::InDoubt(FIRST)
        } else {
            again
        };
        assert_eq!(outputs.as_slice(), [expected]);
    }
}

/// PA-5, PA-10: what had begun before a crash and is withdrawn before it runs again is not reported as not run: it is in doubt
/// until the host has found out what became of it, and the transcript says no more than that it was called.
#[test]
fn what_began_before_a_crash_and_was_withdrawn_after_it_is_in_doubt() {
    let not_run = Action::FinishTool {
        slot: FIRST,
        status: ToolStatus::NotRun,
    };
    for (began, may_say_not_run) in [(false, true), (true, false)] {
        let mut run = Run::asked(IDEMPOTENT);
        run.allow();
        // The record and the tool call, and then the run itself.
        run.carry(if began { 3 } else { 2 });
        let again = run.put(Action::Restart);
        assert!(again.contains(&Output::Perform(FIRST, Arguments::Original)));
        let ended = run.put(Action::EndSession(SessionName::A));
        assert!(ended.contains(&Output::Withdraw(FIRST)));
        run.carry_out();
        assert_eq!(run.runs(), u8::from(began));
        assert_eq!(run.offers(not_run), may_say_not_run);
        assert!(run.tells(&[Note::Request, Note::Call]));
        assert_eq!(run.put(Action::Restart), [Output::InDoubt(FIRST)]);
        assert_eq!(run.offers(not_run), may_say_not_run);
    }
}

/// PA-10: the watermark stays behind until nothing waits, and until then a restart tells again.
#[test]
fn the_watermark_moves_once_the_outbox_is_empty() {
    // The record, the tool call and the run of the tool.
    for (carried, watermark, again) in [
        (1, 1, &RELEASED[1..3]),
        (2, 1, &RELEASED[1..3]),
        (3, 2, &[]),
    ] {
        let mut run = Run::asked(Proposal::PLAIN);
        run.allow();
        run.carry(carried);
        assert_eq!(run.state.carried, watermark, "after {carried}");
        let (told, rest) = (run.put(Action::Restart), [Output::InDoubt(FIRST)]);
        assert_eq!(told, [again, &rest].concat(), "after {carried}");
    }
}

/// PA-10: after a restart what was recorded and perhaps not told is told in the order of the journal, then what is due
/// expires, and then what was released is in doubt.
#[test]
fn a_restart_tells_what_was_not_told_before_it_lets_expire_what_is_due() {
    let mut run = Run::new();
    run.put(Action::Propose(Proposal::PLAIN));
    run.put(Action::Propose(expiring(1)));
    // The first request is told, and both proposals are durable.
    run.carry(3);
    run.allow();
    // The second request is told, and so is the first call's record made durable.
    run.carry(2).wait(1);
    let outputs = run.put(Action::Restart);
    let told = [
        Output::Append(Note::Request, FIRST),
        Output::Event(Event::Created, FIRST),
        Output::Append(Note::Request, Slot::Second),
        Output::Event(Event::Created, Slot::Second),
        Output::Event(Event::Decided(Decision::Allow), FIRST),
        Output::Append(Note::Call, FIRST),
    ];
    assert_eq!(outputs[..6], told);
    assert_eq!(outputs[6..9], expired(Slot::Second));
    assert_eq!(outputs[9..], [Output::InDoubt(FIRST)]);
    run.carry_out();
    assert!(run.tells(&[Note::Request, Note::Call]));
}

/// PA-8: a snapshot undoes nothing: what was decided since stays decided, and nothing comes out again.
#[test]
fn a_rollback_catches_up_with_the_journal() {
    let mut run = Run::asked(Proposal::PLAIN);
    run.take(Action::Snapshot);
    run.deny();
    run.carry_out();
    assert_eq!(run.put(Action::Rollback), []);
    assert_eq!(run.status(), Status::Rejected);
}

/// PA-8: a snapshot is kept and loaded only when every record that was put out is durable; what else waits does not matter.
#[test]
fn a_snapshot_is_kept_and_loaded_only_when_every_record_is_durable() {
    let possible = |run: &Run, action| run.model.step(&run.state, action).is_some();
    let mut run = Run::new();
    run.put(Action::Propose(Proposal::PLAIN));
    for (kept, items) in [(false, 1), (true, 1), (true, 0)] {
        assert_eq!(possible(&run, Action::Snapshot), kept);
        run.carry(items);
    }
    run.take(Action::Snapshot);
    run.deny();
    for (loaded, items) in [(false, 1), (true, 1), (true, 0)] {
        assert_eq!(possible(&run, Action::Rollback), loaded);
        run.carry(items);
    }
}
