//! Single steps at their boundaries, in threes: one before, at, one after.

use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::action::{Action, Manner};
use countersign_model::pending_action::journal::Record;
use countersign_model::pending_action::known::Status;
use countersign_model::pending_action::output::{Event, Output};
use countersign_model::pending_action::readings::Reading;
use countersign_model::pending_action::rules::{Check, Refusal};
use countersign_model::pending_action::words::{
    Arguments, Decider, Decision, Effect, Flaw, Note, Proposal, SessionName, Slot, ToolStatus,
};
use countersign_model::time;

use crate::pending_action::run::{RELEASED, Run, expired, expiring};

const FIRST: Slot = Slot::First;

/// The reading that takes one place as `name=value` says.
fn taken(assignment: &str) -> Reading {
    PendingAction::reading([assignment]).expect("it is a choice")
}

/// PA-7: an action may be decided before its time, and at it only where it is taken to expire after it.
#[test]
fn a_decision_counts_before_the_expiry_and_not_from_then_on() {
    let expiry = time::on(2);
    for (reading, last) in [
        ("expiry-boundary=at", expiry - 1),
        ("expiry-boundary=after", expiry),
    ] {
        for moment in [expiry - 1, expiry, expiry + 1] {
            let mut run = Run::read(taken(reading));
            run.put(Action::Propose(expiring(2)));
            run.carry_out().wait_until(moment);
            let (slot, decision) = (FIRST, Decision::Allow);
            let manner = Manner::Plain;
            run.take(Action::Send {
                slot,
                decision,
                manner,
            });
            let step = run.model.step(&run.state, Action::Deliver { index: 0 });
            let step = step.expect("it arrives");
            let outputs = step.required.as_slice();
            let at = time::name(moment);
            if moment <= last {
                assert_eq!(outputs, RELEASED, "{reading}, at {at}");
            } else {
                assert_eq!(outputs[..3], expired(FIRST), "{reading}, at {at}");
                assert_eq!(outputs[3..], [Output::Audit(Check::NotExpired)]);
            }
        }
    }
}

/// PA-7: what is proposed expires later than now, whichever way its last moment is taken.
#[test]
fn a_proposal_has_to_expire_in_the_future() {
    let refused = [Output::Refused(Refusal::NotInFuture)];
    for (back, lifetime, taken) in [
        (0, 1, true),
        (0, 0, false),
        (1, 0, false),
        (1, 1, false),
        (1, 2, true),
    ] {
        for reading in ["expiry-boundary=at", "expiry-boundary=after"] {
            let mut run = Run::read(self::taken(reading));
            run.put(Action::Propose(expiring(8)));
            run.carry_out().wait(2);
            run.put(Action::ServeTimer);
            for _ in 0..back {
                run.take(Action::SetBack);
            }
            let outputs = run.put(Action::Propose(expiring(lifetime)));
            assert_eq!(outputs != refused, taken, "{back} back, for {lifetime}");
            assert_eq!(run.state.status(Slot::Second) == Status::Pending, taken);
        }
    }
}

/// PA-1, PA-7: what is proposed without expiry stays open, expires after a time that its record states, or is refused, as the reading
/// says.
#[test]
fn a_proposal_without_expiry_is_taken_as_the_reading_says() {
    for (reading, status, last) in [
        ("expiry-absent=never", Status::Pending, Status::Pending),
        ("expiry-absent=after", Status::Pending, Status::Expired),
        ("expiry-absent=refused", Status::Unknown, Status::Unknown),
    ] {
        let mut run = Run::read(taken(reading));
        // Something else keeps the time going.
        run.put(Action::Propose(expiring(1)));
        run.carry_out();
        let outputs = run.put(Action::Propose(Proposal::PLAIN));
        let refused = [Output::Refused(Refusal::NoExpiry)];
        assert_eq!(outputs == refused, status == Status::Unknown, "{reading}");
        assert_eq!(run.state.status(Slot::Second), status, "{reading}");
        run.carry_out().wait_until(time::on(1) - 1);
        assert_eq!(run.state.status(Slot::Second), status, "{reading}");
        run.wait_until(time::on(1));
        run.put(Action::ServeTimer);
        assert_eq!(run.state.status(Slot::Second), last, "{reading}");
    }
}

/// PA-7: what is due expires in the order of its time, and of its creation where that is the same.
#[test]
fn what_is_due_expires_in_its_order_before_anything_else() {
    for (one, two, order) in [
        (1, 2, [Slot::First, Slot::Second]),
        (2, 2, [Slot::First, Slot::Second]),
        (2, 1, [Slot::Second, Slot::First]),
    ] {
        let mut run = Run::asked(expiring(one));
        run.put(Action::Propose(expiring(two)));
        run.carry_out().wait(2);
        let outputs = run.put(Action::Say);
        let [first, second] = order.map(expired);
        assert_eq!(outputs[..3], first);
        assert_eq!(outputs[3..6], second);
        assert_eq!(outputs[6..], [Output::AppendText]);
    }
}

/// PA-1, PA-2, PA-3: a decision that something is wrong with changes nothing, is audited with the first check that failed,
/// and a valid one counts all the same.
#[test]
fn a_decision_with_a_fault_is_ignored_and_the_action_stays() {
    for (manner, check) in [
        (Manner::OtherNonce, Check::Nonce),
        (Manner::Stranger, Check::Entitled),
        (Manner::Edited, Check::Arguments),
        (Manner::Everything, Check::Nonce),
    ] {
        let mut run = Run::asked(Proposal::PLAIN);
        let before = run.state.ledger();
        let step = run.decide(Decision::Allow, manner);
        assert_eq!(step.required.as_slice(), [Output::Audit(check)]);
        assert_eq!(step.ignored, Some(check));
        assert_eq!(run.state.ledger(), before);
        assert_eq!(run.allow().required.as_slice(), RELEASED);
    }
}

/// PA-1: an id that was never minted resolves nothing.
#[test]
fn a_made_up_id_resolves_nothing() {
    let mut run = Run::asked(Proposal::PLAIN);
    run.take(Action::Guess);
    let outputs = run.put(Action::Deliver { index: 0 });
    assert_eq!(outputs, [Output::Audit(Check::Known)]);
    assert_eq!(run.status(), Status::Pending);
}

/// PA-2: without a list of deciders whoever the host has identified may decide, or nobody, as the text is taken.
#[test]
fn without_a_list_anyone_may_decide_or_nobody() {
    let anyone = Proposal {
        by_anyone: true,
        ..Proposal::PLAIN
    };
    let mut run = Run::asked(anyone);
    let step = run.decide(Decision::Allow, Manner::Stranger);
    assert_eq!(step.ignored, None);
    assert_eq!(run.status(), Status::Accepted);

    let mut run = Run::read(taken("deciders-absent=nobody"));
    run.put(Action::Propose(anyone));
    run.carry_out();
    let slot = FIRST;
    let (decision, manner) = (Decision::Allow, Manner::Plain);
    run.take(Action::Send {
        slot,
        decision,
        manner,
    });
    let step = run.model.step(&run.state, Action::Deliver { index: 0 });
    assert_eq!(step.map(|step| step.ignored), Some(Some(Check::Entitled)));
}

/// PA-3, PA-5: a deny with other arguments denies, and an allow that gives the same in other bytes releases the original.
#[test]
fn a_deny_counts_whatever_its_arguments_and_an_allow_releases_the_original() {
    let mut run = Run::asked(Proposal::PLAIN);
    run.decide(Decision::Deny, Manner::Edited);
    assert_eq!(run.status(), Status::Rejected);

    let mut run = Run::asked(Proposal::PLAIN);
    let step = run.decide(Decision::Allow, Manner::Full);
    assert_eq!(step.required.as_slice(), RELEASED);
}

/// PA-8: of any two decisions the first valid one counts, and the second is ignored as too late.
#[test]
fn the_first_valid_decision_counts() {
    for first in Decision::ALL {
        for second in Decision::ALL {
            let mut run = Run::asked(Proposal::PLAIN);
            for decision in [first, second] {
                let (slot, manner) = (FIRST, Manner::Plain);
                run.take(Action::Send {
                    slot,
                    decision,
                    manner,
                });
            }
            let place = |run: &Run, wanted| {
                let mut messages = run.state.network.messages();
                let place = messages.position(|message| message.decision == wanted);
                u8::try_from(place.expect("it is under way")).expect("there are few")
            };
            let index = place(&run, first);
            run.put(Action::Deliver { index });
            let status = run.status();
            let late = run.put(Action::Deliver { index: 0 });
            assert_eq!(
                late,
                [Output::Audit(Check::Unresolved)],
                "{first:?}, then {second:?}"
            );
            assert_eq!(run.status(), status);
        }
    }
}

/// PA-2, PA-8: who may not decide is told so even of what is resolved: entitlement is checked first.
#[test]
fn a_late_decision_by_a_stranger_is_a_strangers() {
    let mut run = Run::asked(Proposal::PLAIN);
    for manner in [Manner::Plain, Manner::Stranger] {
        let (slot, decision) = (FIRST, Decision::Allow);
        run.take(Action::Send {
            slot,
            decision,
            manner,
        });
    }
    let mut messages = run.state.network.messages();
    let place = messages.position(|message| message.by == Decider::Owner);
    let index = u8::try_from(place.expect("it is under way")).expect("there are few");
    run.put(Action::Deliver { index });
    assert_eq!(
        run.put(Action::Deliver { index: 0 }),
        [Output::Audit(Check::Entitled)]
    );
}

/// PA-4, PA-5, PA-6, PA-10: what each call puts out, in its order.
#[test]
fn everything_is_recorded_first_and_told_in_its_order() {
    let mut run = Run::new();
    assert_eq!(
        run.put(Action::Propose(Proposal::PLAIN)),
        [
            Output::Record(Record::Proposed(FIRST)),
            Output::Append(Note::Request, FIRST),
            Output::Event(Event::Created, FIRST),
        ]
    );
    run.carry_out();
    assert_eq!(run.allow().required.as_slice(), RELEASED);
    run.carry_out();
    let success = ToolStatus::Success;
    assert_eq!(
        run.finish(),
        [
            Output::Record(Record::Finished(FIRST, success)),
            Output::Append(Note::Result(success), FIRST),
            Output::Event(Event::Executed(success), FIRST),
        ]
    );

    let mut run = Run::asked(Proposal::PLAIN);
    let denied = Record::Decided {
        slot: FIRST,
        decision: Decision::Deny,
        by: Some(Decider::Owner),
    };
    assert_eq!(
        run.deny().required.as_slice(),
        [
            Output::Record(denied),
            Output::Event(Event::Decided(Decision::Deny), FIRST),
            Output::Append(Note::Denied, FIRST),
            Output::Event(Event::Denied, FIRST),
        ]
    );

    let mut run = Run::asked(Proposal::PLAIN);
    assert_eq!(
        run.put(Action::Cancel { slot: FIRST }),
        [
            Output::Record(Record::Cancelled(FIRST)),
            Output::Append(Note::Cancelled, FIRST),
            Output::Event(Event::Cancelled, FIRST),
        ]
    );
}

/// PA-5: the end of a session cancels what is pending in it, withdraws what has not begun, and spares the other session.
#[test]
fn the_end_of_a_session_cancels_and_withdraws_what_is_its_own() {
    let mut run = Run::asked(Proposal::PLAIN);
    run.put(Action::Propose(Proposal::PLAIN));
    run.carry_out();
    run.allow();
    let outputs = run.put(Action::EndSession(SessionName::A));
    assert_eq!(
        outputs,
        [
            Output::Record(Record::SessionEnded(SessionName::A)),
            Output::Append(Note::Cancelled, Slot::Second),
            Output::Event(Event::Cancelled, Slot::Second),
            Output::Withdraw(FIRST),
        ]
    );
    run.carry_out();
    assert_eq!(run.runs(), 0);
    let again = run.put(Action::EndSession(SessionName::A));
    assert_eq!(again, [Output::Refused(Refusal::SessionOver)]);

    let mut run = Run::asked(Proposal::PLAIN);
    let outputs = run.put(Action::EndSession(SessionName::B));
    assert_eq!(
        outputs,
        [Output::Record(Record::SessionEnded(SessionName::B))]
    );
    assert_eq!(run.status(), Status::Pending);
}

/// PA-5: what has begun when its session ends is not undone, and its result is still taken.
#[test]
fn what_has_begun_may_finish_after_its_session() {
    let mut run = Run::asked(Proposal::PLAIN);
    run.allow();
    run.carry_out();
    run.put(Action::EndSession(SessionName::A));
    assert_eq!(run.runs(), 1);
    assert_eq!(run.finish().len(), 3);
}

/// PA-1, PA-3, PA-5, PA-7, PA-8: what cannot be cancelled or have a result is refused, and nothing changes.
#[test]
fn what_the_caller_cannot_mean_is_refused() {
    let in_state = |prepare: &dyn Fn(&mut Run)| {
        let mut run = Run::asked(expiring(2));
        prepare(&mut run);
        run.carry_out();
        run
    };
    let cases: [(Run, Refusal, Option<Refusal>); 6] = [
        (Run::new(), Refusal::Unknown, Some(Refusal::Unknown)),
        (
            in_state(&|run| _ = run.deny()),
            Refusal::Resolved,
            Some(Refusal::NotReleased),
        ),
        (
            in_state(&|run| _ = run.put(Action::Cancel { slot: FIRST })),
            Refusal::Resolved,
            Some(Refusal::NotReleased),
        ),
        (
            in_state(&|run| _ = run.wait(2).put(Action::ServeTimer)),
            Refusal::Expired,
            Some(Refusal::Expired),
        ),
        (in_state(&|run| _ = run.allow()), Refusal::Resolved, None),
        (
            in_state(&|run| {
                run.allow();
                run.carry_out().finish();
            }),
            Refusal::Resolved,
            Some(Refusal::Resolved),
        ),
    ];
    for (mut run, to_cancel, to_finish) in cases {
        let before = run.state.ledger();
        let cancelled = run.put(Action::Cancel { slot: FIRST });
        assert_eq!(cancelled, [Output::Refused(to_cancel)]);
        if let Some(refusal) = to_finish {
            assert_eq!(run.finish(), [Output::Refused(refusal)]);
        }
        assert_eq!(run.state.ledger(), before);
    }
    let mut pending = Run::asked(Proposal::PLAIN);
    assert_eq!(pending.finish(), [Output::Refused(Refusal::Undecided)]);
}

/// PA-1, PA-2, PA-3, PA-5, PA-9: a proposal that is not well-formed, or in an ended session, is refused.
#[test]
fn a_proposal_that_cannot_pend_is_refused() {
    for flaw in Flaw::ALL {
        let mut run = Run::new();
        let refusal = flaw.refusal();
        assert_eq!(
            run.put(Action::ProposeFlawed(flaw)),
            [Output::Refused(refusal)]
        );
        assert_eq!(run.status(), Status::Unknown);
    }
    let mut run = Run::new();
    run.put(Action::EndSession(SessionName::A));
    let outputs = run.put(Action::Propose(Proposal::PLAIN));
    assert_eq!(outputs, [Output::Refused(Refusal::SessionOver)]);
}

/// PA-11: free text is handed on and resolves nothing.
#[test]
fn free_text_resolves_nothing() {
    let mut run = Run::asked(Proposal::PLAIN);
    assert_eq!(run.put(Action::Say), [Output::AppendText]);
    assert_eq!(run.status(), Status::Pending);
}

/// PA-13, PA-14: a call that only reads pends like any other, unless the text is taken otherwise.
#[test]
fn a_read_pends_unless_it_is_taken_to_run() {
    let read = Proposal {
        effect: Effect::Read,
        ..Proposal::PLAIN
    };
    let released = Output::Perform(FIRST, Arguments::Original);
    for (choice, runs) in [("read-effect=pends", false), ("read-effect=runs", true)] {
        let run = Run::read(taken(choice));
        let step = run.model.step(&run.state, Action::Propose(read));
        let step = step.expect("it is enabled");
        assert_eq!(step.required.contains(released), runs, "{choice}");
    }
}

/// The ledger's part of a state, put back into it, gives the state.
#[test]
fn a_state_with_its_own_ledger_is_the_state() {
    let mut run = Run::asked(expiring(2));
    assert_eq!(run.state.with_ledger(&run.state.ledger()), run.state);
    run.allow();
    assert_eq!(run.state.with_ledger(&run.state.ledger()), run.state);
    let mut other = run.state.ledger();
    other.latest += 1;
    assert_ne!(run.state.with_ledger(&other), run.state);
}
