//! Single steps at their boundaries, in threes: one before, at, one after.

use countersign_model::aaep::action::{Action, EVERYBODY_COMES, Forgery};
use countersign_model::aaep::bounds::{Bounds, Budgets};
use countersign_model::aaep::judge::AaepJudge;
use countersign_model::aaep::message::Shape;
use countersign_model::aaep::output::Output;
use countersign_model::aaep::readings::{
    AcceptedThenCancelled, ClockTolerance, Reading, ReplyLowerBound, SenderBinding,
};
use countersign_model::aaep::rules::{Check, Refusal};
use countersign_model::aaep::state::{Phase, State, Subscription};
use countersign_model::aaep::step::Step;
use countersign_model::aaep::words::{
    AllowedReplies, Class, Decision, Piece, Risk, SessionName, SessionOutcome, Slot, Subscriber,
    Worked,
};
use countersign_model::aaep::{Aaep, AaepProtocol};
use countersign_model::rules::Rules;
use countersign_model::specification::Modelled as _;
use countersign_model::time;

use crate::common::seen::tell_step;

/// A run of the literal specification, step by step.
struct Run {
    model: Aaep,
    state: State,
    judge: AaepJudge,
}

impl Run {
    /// Before anything has begun, with every disturbance to be had three times.
    fn new() -> Self {
        Self::by(Reading::SPECIFICATION)
    }

    /// The same by another reading.
    fn by(reading: Reading) -> Self {
        let bounds = Bounds {
            ticks: 8,
            longest_timeout: 3,
            under_way: 4,
            work: 3,
            disturbances: Budgets::new([3; 9], 15),
            ..Bounds::DEFAULT
        };
        let model = Aaep::new(bounds)
            .expect("the bounds are in range")
            .with(Rules::all(), reading)
            .literal();
        let state = model.start();
        let judge = AaepProtocol::judge(&model);
        Self {
            model,
            state,
            judge,
        }
    }

    /// Both sessions have started and both subscriptions are open.
    fn begun() -> Self {
        Self::new().come()
    }

    fn come(mut self) -> Self {
        for coming in EVERYBODY_COMES {
            self.take(coming);
        }
        self
    }

    /// Takes a step that is enabled.
    fn take(&mut self, action: Action) -> Step {
        let step = self
            .model
            .step(&self.state, action)
            .expect("the action is enabled");
        tell_step(&self.model, &mut self.judge, &self.state, action);
        self.state = step.next;
        step
    }

    /// Asks in a session, without emitting the question.
    fn ask(&mut self, session: SessionName, class: Class, timeout: u8) -> Step {
        self.take(Action::Ask {
            session,
            class,
            timeout,
            same_action: false,
        })
    }

    /// Asks in session A and emits the question.
    fn asked(class: Class, timeout: u8) -> Self {
        Self::asked_by(Reading::SPECIFICATION, class, timeout)
    }

    /// The same by another reading.
    fn asked_by(reading: Reading, class: Class, timeout: u8) -> Self {
        let mut run = Self::by(reading).come();
        run.ask(SessionName::A, class, timeout);
        run.take(Action::CarryOut);
        run
    }

    /// Lets this much time pass.
    fn wait(&mut self, ticks: u8) -> &mut Self {
        self.wait_until(self.state.clock + time::on(ticks))
    }

    /// Lets time pass until this moment.
    fn wait_until(&mut self, moment: u8) -> &mut Self {
        while self.state.clock < moment {
            self.take(Action::Tick);
        }
        assert_eq!(self.state.clock, moment, "the clock stands still there");
        self
    }

    /// The capable subscriber decides on the first confirmation, with a clock that is off by `skew`.
    fn decide(&mut self, decision: Decision, skew: i8, shape: Shape) -> &mut Self {
        self.take(Action::Decide {
            subscriber: Subscriber::Capable,
            slot: Slot::First,
            decision,
            skew,
            shape,
        });
        self
    }

    /// The message at the head of the network arrives.
    fn deliver(&mut self) -> Step {
        self.take(Action::Deliver { index: 0 })
    }

    /// Where the first confirmation stands.
    fn first(&self) -> Phase {
        self.state.confirmation(Slot::First).phase
    }
}

/// A class without peculiarities.
const PLAIN: Class = Class::PLAIN;

/// AAEP-6.3.4-4: the claimed time lies strictly before issue + timeout.
#[test]
fn a_claim_before_the_deadline_is_honoured_and_one_at_or_after_it_is_not() {
    let deadline = time::on(3);
    for (claimed, ignored) in [
        (deadline - 1, None),
        (deadline, Some(Check::InTime)),
        (deadline + 1, Some(Check::InTime)),
    ] {
        let mut run = Run::asked(PLAIN, 3);
        let skew = (claimed - time::on(1)).cast_signed();
        let step = run
            .wait(1)
            .decide(Decision::Accept, skew, Shape::Plain)
            .deliver();
        assert_eq!(step.ignored, ignored, "claimed {}", time::name(claimed));
        let phase = if ignored.is_none() {
            Phase::Accepted
        } else {
            Phase::Pending
        };
        assert_eq!(run.first(), phase);
    }
}

/// AAEP-6.3.4-4: there is no lower bound.
#[test]
fn a_claim_before_the_question_is_honoured() {
    let mut run = Run::asked(PLAIN, 1);
    assert_eq!(
        run.decide(Decision::Accept, -1, Shape::Plain)
            .deliver()
            .ignored,
        None
    );
}

/// AAEP-6.3.4-4, by the reading that has one: no claim lies before the question.
#[test]
fn by_the_other_reading_a_claim_before_the_question_is_ignored() {
    let reading = Reading {
        reply_lower_bound: ReplyLowerBound::NotBeforeAsked,
        ..Reading::SPECIFICATION
    };
    for (claimed, ignored) in [(-1, Some(Check::InTime)), (0, None), (1, None)] {
        let mut run = Run::asked_by(reading, PLAIN, 1);
        let step = run
            .decide(Decision::Accept, claimed, Shape::Plain)
            .deliver();
        assert_eq!(step.ignored, ignored, "claimed {}", time::name(claimed));
    }
}

/// AAEP-6.3.4-4, by the reading `clock-tolerance`: a claim may lie behind the deadline by less than a tick, or by any time.
#[test]
fn by_the_other_reading_a_claim_within_the_tolerance_is_honoured() {
    let last = time::on(3);
    let late = Some(Check::InTime);
    for (clock_tolerance, claimed, ignored) in [
        (ClockTolerance::OneTick, last - 1, None),
        (ClockTolerance::OneTick, last, late),
        (ClockTolerance::OneTick, last + 1, late),
        (ClockTolerance::Any, last + 1, None),
    ] {
        let reading = Reading {
            clock_tolerance,
            ..Reading::SPECIFICATION
        };
        let mut run = Run::asked_by(reading, PLAIN, 2);
        let skew = claimed.cast_signed();
        let step = run.decide(Decision::Accept, skew, Shape::Plain).deliver();
        assert_eq!(step.ignored, ignored, "claimed {}", time::name(claimed));
    }
}

/// AAEP-6.3.4-5, by the reading `sender-binding`: a reply in the name of another's subscription counts as long as that is active.
#[test]
fn by_the_other_reading_the_subscription_that_a_reply_names_counts() {
    let own = Reading::SPECIFICATION;
    let named = Reading {
        sender_binding: SenderBinding::Named,
        ..own
    };
    let class = Class {
        default: Decision::Accept,
        ..PLAIN
    };
    for (reading, closes, ignored) in [
        (own, false, Some(Check::Sender)),
        (named, false, None),
        (named, true, Some(Check::Sender)),
    ] {
        let mut run = Run::asked_by(reading, class, 2);
        let (slot, decision) = (Slot::First, Decision::Reject);
        run.take(Action::Forge(Forgery::Impostor { slot, decision }));
        if closes {
            run.take(Action::Close {
                subscriber: Subscriber::Capable,
            });
        }
        assert_eq!(run.deliver().ignored, ignored, "{reading:?}");
    }
}

/// AAEP-6.4-1: arrival decides, whatever time the reply claims.
#[test]
fn a_reply_that_arrives_at_the_deadline_or_later_finds_the_default_applied() {
    let deadline = time::on(2);
    for (arrives, ignored) in [
        (deadline - 1, None),
        (deadline, Some(Check::Unused)),
        (deadline + 1, Some(Check::Unused)),
    ] {
        let mut run = Run::asked(PLAIN, 2);
        let step = run
            .decide(Decision::Accept, 0, Shape::Plain)
            .wait_until(arrives)
            .deliver();
        assert_eq!(step.ignored, ignored, "arrived at {}", time::name(arrives));
        let phase = if ignored.is_none() {
            Phase::Accepted
        } else {
            Phase::Rejected
        };
        assert_eq!(run.first(), phase);
        assert_eq!(
            step.required.contains(Output::FollowUpLeaving(Slot::First)),
            ignored.is_some()
        );
    }
}

/// AAEP-6.4-1: a default that is due is applied by the timer, and not before it is due.
#[test]
fn the_timer_applies_the_default_at_the_deadline_and_after_but_not_before() {
    let deadline = time::on(2);
    for (served, phase) in [
        (deadline - 1, Phase::Pending),
        (deadline, Phase::Rejected),
        (deadline + 1, Phase::Rejected),
    ] {
        let mut run = Run::asked(PLAIN, 2);
        run.wait_until(served).take(Action::ServeTimer);
        assert_eq!(run.first(), phase, "served at {}", time::name(served));
    }
}

/// AAEP-6.4-1: what is due is settled in order of deadline, then of issue.
#[test]
fn defaults_that_are_due_together_apply_by_deadline_and_then_by_issue() {
    let accepting = Class {
        default: Decision::Accept,
        ..PLAIN
    };
    for (timeouts, order) in [
        ((1, 2), [Slot::First, Slot::Second]),
        ((2, 2), [Slot::First, Slot::Second]),
        ((2, 1), [Slot::Second, Slot::First]),
    ] {
        let mut run = Run::begun();
        run.ask(SessionName::A, accepting, timeouts.0);
        run.ask(SessionName::B, accepting, timeouts.1);
        let step = run.wait(2).take(Action::ServeTimer);
        let performed: Vec<_> = step
            .required
            .iter()
            .filter(|output| matches!(output, Output::Perform(_)))
            .collect();
        assert_eq!(
            performed,
            order.map(Output::Perform),
            "timeouts {timeouts:?}"
        );
    }
}

/// AAEP-EV-5: a timeout is at least one, whatever the session's other questions are.
#[test]
fn a_timeout_of_none_is_refused_and_changes_nothing() {
    for (timeout, refused) in [(0, true), (1, false), (2, false)] {
        let mut run = Run::begun();
        let before = run.state;
        let step = run.ask(SessionName::A, PLAIN, timeout);
        assert_eq!(
            step.required.contains(Output::Refused(Refusal::BadTimeout)),
            refused
        );
        assert_eq!(run.state == before, refused);
    }
}

/// AAEP-6.4.1-1 and AAEP-6.4.1-2: the table of defaults, row by row.
#[test]
fn a_default_of_accept_is_refused_for_irreversible_actions_of_high_and_medium_risk() {
    for risk in Risk::ALL {
        for irreversible in [false, true] {
            let class = Class {
                risk,
                irreversible,
                default: Decision::Accept,
                ..PLAIN
            };
            let mut run = Run::begun();
            let before = run.state;
            let step = run.ask(SessionName::A, class, 1);
            let expected = match (irreversible, risk) {
                (true, Risk::High) => Some(Refusal::DefaultOfHighRisk),
                (true, Risk::Medium) => Some(Refusal::DefaultOfMediumRisk),
                (true, Risk::Low) | (false, Risk::Low | Risk::Medium | Risk::High) => None,
            };
            let refused =
                expected.is_some_and(|refusal| step.required.contains(Output::Refused(refusal)));
            assert_eq!(refused, expected.is_some(), "{class:?}");
            assert_eq!(run.state == before, refused, "{class:?}");
        }
    }
}

/// AAEP-6.1-6: the same action is not asked for again while it is blocked, and may be once it is released.
#[test]
fn an_action_is_asked_for_again_once_it_is_released() {
    let again = Action::Ask {
        session: SessionName::A,
        class: PLAIN,
        timeout: 1,
        same_action: true,
    };
    let mut run = Run::asked(PLAIN, 2);
    let before = run.state;
    assert!(
        run.take(again)
            .required
            .contains(Output::Refused(Refusal::StillBlocked))
    );
    assert_eq!(run.state, before);
    run.take(Action::Cancel { slot: Slot::First });
    assert!(
        run.take(again)
            .required
            .contains(Output::Asked(Slot::Second))
    );
}

/// AAEP-6.3.4-7: of two faults the audit names the one whose check comes first.
#[test]
fn the_first_check_that_fails_is_the_one_that_is_named() {
    let listed = Class {
        allowed: AllowedReplies::AcceptOnly,
        ..PLAIN
    };
    let sent = |shape, closed: bool, claimed: u8, decision| {
        let mut run = Run::asked(listed, 2);
        run.decide(decision, time::on(claimed).cast_signed(), shape);
        if closed {
            // The forwarder stays, and so does the confirmation, whose default would otherwise apply.
            run.state.subscriptions[Subscriber::Capable.index()] = Subscription::Closed;
        }
        run.deliver().ignored
    };
    assert_eq!(
        sent(Shape::Malformed, true, 2, Decision::Reject),
        Some(Check::WellFormed)
    );
    assert_eq!(
        sent(Shape::Plain, true, 2, Decision::Reject),
        Some(Check::InTime)
    );
    assert_eq!(
        sent(Shape::Plain, true, 1, Decision::Reject),
        Some(Check::Sender)
    );
    assert_eq!(
        sent(Shape::Plain, false, 1, Decision::Reject),
        Some(Check::Allowed)
    );
    assert_eq!(sent(Shape::Plain, false, 1, Decision::Accept), None);
}

/// AAEP-6.3.2-4: `modified_action` counts as reject, also where reject is not listed, but only past the other checks.
#[test]
fn a_modified_accept_rejects_even_where_reject_is_not_listed() {
    for allowed in AllowedReplies::ALL {
        let mut run = Run::asked(Class { allowed, ..PLAIN }, 2);
        let step = run.decide(Decision::Accept, 0, Shape::Modified).deliver();
        assert_eq!(
            (step.ignored, run.first()),
            (None, Phase::Rejected),
            "{allowed:?}"
        );
    }
    let mut late = Run::asked(PLAIN, 2);
    assert_eq!(
        late.decide(Decision::Accept, time::on(2).cast_signed(), Shape::Modified)
            .deliver()
            .ignored,
        Some(Check::InTime)
    );
}

/// AAEP-6.3.4-9: whatever becomes of a message, its sender sees one and the same.
#[test]
fn an_ignored_reply_and_an_honoured_one_get_the_same_response() {
    let mut run = Run::asked(PLAIN, 2);
    run.take(Action::Forge(Forgery::Guessed));
    run.take(Action::Forge(Forgery::Unauthenticated {
        slot: Slot::First,
        decision: Decision::Accept,
    }));
    run.decide(Decision::Accept, 0, Shape::Plain);
    for _ in 0..3 {
        let step = run.deliver();
        assert_eq!(
            step.required
                .iter()
                .filter(|output| *output == Output::Respond)
                .count(),
            1
        );
        assert_eq!(
            step.ignored.is_some(),
            step.optional
                .iter()
                .any(|output| matches!(output, Output::Audit(_)))
        );
    }
}

/// AAEP-A.4-2 and AAEP-A.2-2: each resolution is told by leaving `awaiting_input`, which comes back while another waits.
#[test]
fn the_state_leaves_awaiting_input_with_every_resolution_and_comes_back_while_one_waits() {
    let mut run = Run::begun();
    assert!(
        run.ask(SessionName::A, PLAIN, 1)
            .required
            .contains(Output::AwaitingInput(SessionName::A))
    );
    assert!(
        !run.ask(SessionName::A, PLAIN, 2)
            .required
            .contains(Output::AwaitingInput(SessionName::A))
    );
    let first = run.take(Action::Cancel { slot: Slot::First });
    assert_eq!(
        first.required.as_slice(),
        [
            Output::FollowUpLeaving(Slot::First),
            Output::AwaitingInput(SessionName::A)
        ]
    );
    let second = run.take(Action::Cancel { slot: Slot::Second });
    assert_eq!(
        second.required.as_slice(),
        [Output::FollowUpLeaving(Slot::Second)]
    );
    assert!(!run.state.session(SessionName::A).awaiting_input);
}

/// AAEP-6.8-2, AAEP-6.8-3 and AAEP-A.3-1: the questions are withdrawn first and the tools completed, unless the session is
/// cancelled, and then comes the terminal event; nothing after it.
#[test]
fn the_end_of_a_session_withdraws_completes_and_cancels() {
    for outcome in SessionOutcome::ALL {
        let mut run = Run::asked(PLAIN, 3);
        run.ask(SessionName::A, PLAIN, 3);
        run.decide(Decision::Accept, 0, Shape::Plain).deliver();
        let step = run.take(Action::EndSession {
            session: SessionName::A,
            outcome,
        });
        let mut expected = Vec::new();
        if outcome != SessionOutcome::Cancelled {
            expected.push(Output::FollowUpLeaving(Slot::Second));
            expected.push(Output::CallingToolAgain(SessionName::A));
        }
        expected.push(Output::Withdraw(Slot::First));
        if outcome != SessionOutcome::Cancelled {
            expected.push(Output::Completed(Slot::First));
        }
        expected.push(Output::Ended(SessionName::A, outcome));
        assert_eq!(step.required.as_slice(), expected);
        assert_eq!(run.state.confirmation(Slot::Second).phase, Phase::Cancelled);
        let before = run.state;
        let again = run.take(Action::EndSession {
            session: SessionName::A,
            outcome,
        });
        assert_eq!(
            again.required.as_slice(),
            [Output::Refused(Refusal::EndedAlready)]
        );
        assert_eq!(run.state, before);
    }
}

/// AAEP-A.1-3, by the reading `accepted-then-cancelled`: what was accepted before its session is cancelled runs, and what was before
/// any other end does not.
#[test]
fn by_the_other_reading_what_was_accepted_before_its_session_is_cancelled_runs() {
    let reading = Reading {
        accepted_then_cancelled: AcceptedThenCancelled::Runs,
        ..Reading::SPECIFICATION
    };
    for outcome in SessionOutcome::ALL {
        let mut run = Run::asked_by(reading, PLAIN, 3);
        run.decide(Decision::Accept, 0, Shape::Plain).deliver();
        let session = SessionName::A;
        let step = run.take(Action::EndSession { session, outcome });
        let runs = outcome == SessionOutcome::Cancelled;
        let withdraws = step.required.contains(Output::Withdraw(Slot::First));
        assert_eq!(withdraws, !runs, "{outcome:?}");
        if runs {
            run.take(Action::CarryOut);
        }
        assert!(run.state.outbox.is_empty());
        assert_eq!(run.state.confirmation(Slot::First).runs, u8::from(runs));
    }
}

/// AAEP-EV-11 and AAEP-6.1-1: the closing of the last capable subscription rejects, and never accepts.
#[test]
fn the_last_capable_subscription_takes_the_rejecting_defaults_with_it() {
    let mut run = Run::asked(PLAIN, 2);
    run.ask(
        SessionName::B,
        Class {
            default: Decision::Accept,
            ..PLAIN
        },
        2,
    );
    assert!(
        run.take(Action::Close {
            subscriber: Subscriber::Forwarder
        })
        .required
        .is_empty()
    );
    let step = run.take(Action::Close {
        subscriber: Subscriber::Capable,
    });
    assert_eq!(
        step.required.as_slice(),
        [Output::FollowUpLeaving(Slot::First)]
    );
    assert_eq!(
        (run.first(), run.state.confirmation(Slot::Second).phase),
        (Phase::Rejected, Phase::Pending)
    );
    run.wait(2).take(Action::ServeTimer);
    assert_eq!(run.state.confirmation(Slot::Second).phase, Phase::Accepted);
}

/// AAEP-6.9-2: after a restart an action in doubt is reported, and one that the restart itself releases is performed.
#[test]
fn a_restart_reports_what_is_in_doubt_and_performs_what_falls_due() {
    let mut run = Run::asked(PLAIN, 3);
    run.ask(
        SessionName::B,
        Class {
            default: Decision::Accept,
            ..PLAIN
        },
        1,
    );
    run.decide(Decision::Accept, 0, Shape::Plain).deliver();
    for _ in ["the second question", "the first action"] {
        run.take(Action::CarryOut);
    }
    let step = run.wait(1).take(Action::Crash);
    assert!(step.required.contains(Output::InDoubt(Slot::First)));
    assert!(!step.required.contains(Output::Perform(Slot::First)));
    assert!(step.required.contains(Output::Perform(Slot::Second)));
    assert!(!step.required.contains(Output::InDoubt(Slot::Second)));
}

/// AAEP-6.7-1: the timeout of a question that nobody has seen counts from when it comes again.
#[test]
fn a_question_that_a_crash_loses_is_asked_again_and_waits_as_long() {
    let accepting = Class {
        default: Decision::Accept,
        ..PLAIN
    };
    let mut run = Run::begun();
    run.ask(SessionName::A, accepting, 2);
    let step = run.wait(1).take(Action::Crash);
    assert_eq!(step.required.as_slice(), [Output::Asked(Slot::First)]);
    run.take(Action::CarryOut);
    assert!(run.wait(1).take(Action::ServeTimer).required.is_empty());
    run.wait(1).take(Action::ServeTimer);
    assert_eq!(run.first(), Phase::Accepted);
}

/// AAEP-6.7-1: also one whose deadline passed while the process was down; nobody was asked.
#[test]
fn a_question_that_a_crash_loses_is_not_decided_by_its_default() {
    let mut run = Run::begun();
    run.ask(SessionName::A, PLAIN, 1);
    let step = run.wait(1).take(Action::Crash);
    assert_eq!(step.required.as_slice(), [Output::Asked(Slot::First)]);
    assert_eq!(run.first(), Phase::Pending);
}

/// What was carried out before the last call cannot be lost: the host carries out in order.
#[test]
fn a_crash_loses_what_the_last_call_put_out_and_no_more() {
    let mut run = Run::begun();
    run.ask(SessionName::A, PLAIN, 1);
    run.ask(SessionName::B, PLAIN, 1);
    assert!(run.model.step(&run.state, Action::Crash).is_none());
    run.take(Action::CarryOut);
    let step = run.take(Action::Crash);
    assert_eq!(step.required.as_slice(), [Output::Asked(Slot::Second)]);
}

/// AAEP-A.1-1, AAEP-EV-2: a session starts once, and a subscription opens once, also after it has closed.
#[test]
fn a_session_starts_once_and_a_subscription_opens_once() {
    let mut run = Run::begun();
    let (session, subscriber) = (SessionName::A, Subscriber::Forwarder);
    let again = run.take(Action::StartSession { session });
    let started = [Output::Refused(Refusal::StartedAlready)];
    assert_eq!(again.required.as_slice(), started);
    let opened = [Output::Refused(Refusal::OpenedAlready)];
    for _ in ["open", "closed"] {
        let before = run.state;
        let again = run.take(Action::Open { subscriber });
        assert_eq!(again.required.as_slice(), opened);
        assert_eq!(run.state, before);
        run.take(Action::Close { subscriber });
    }
}

/// AAEP-A.3-3: a rejection while another tool runs leads back to `calling_tool`.
#[test]
fn a_rejection_leads_back_to_the_tool_that_runs() {
    let mut run = Run::asked(PLAIN, 3);
    run.decide(Decision::Accept, 0, Shape::Plain).deliver();
    run.ask(SessionName::A, PLAIN, 3);
    let step = run.take(Action::Cancel { slot: Slot::Second });
    assert_eq!(
        step.required.as_slice(),
        [
            Output::FollowUpLeaving(Slot::Second),
            Output::CallingToolAgain(SessionName::A)
        ]
    );
}

/// Work in session A, and what comes of it.
fn worked(run: &mut Run, piece: Piece) -> Vec<Output> {
    run.take(Action::Work(piece)).required.iter().collect()
}

fn of_work<const MANY: usize>(worked: [Worked; MANY]) -> Vec<Output> {
    worked.map(|it| Output::Work(A, it)).to_vec()
}

const A: SessionName = SessionName::A;
const RUN: Piece = Piece::Run {
    session: A,
    irreversible: false,
};

const fn write(complete: bool) -> Piece {
    Piece::Write {
        session: A,
        complete,
    }
}

const fn chunk(position: u8, complete: bool) -> Worked {
    Worked::Chunk { position, complete }
}

const INVOKED: Worked = Worked::Invoked {
    irreversible: false,
};

/// AAEP-A.7.4-1, AAEP-A.3-1: what can be undone runs unasked, and is completed.
#[test]
fn a_tool_that_can_be_undone_runs_without_a_question() {
    let mut run = Run::begun();
    let irreversible = Piece::Run {
        session: A,
        irreversible: true,
    };
    let refused = [Output::Refused(Refusal::NotAskedAbout)];
    assert_eq!(worked(&mut run, irreversible), refused);
    let runs = [Worked::Calling, INVOKED, Worked::Perform];
    assert_eq!(worked(&mut run, RUN), of_work(runs));
    let hand_off = Piece::HandOff { session: A };
    assert_eq!(worked(&mut run, hand_off), [Output::Refused(Refusal::Busy)]);
    let finish = Piece::Finish { session: A };
    assert_eq!(worked(&mut run, finish), of_work([Worked::Completed]));
    assert!(run.model.step(&run.state, Action::Work(finish)).is_none());
}

/// AAEP-6.1-4, AAEP-A.2-2: a question waits in its state whatever else is done.
#[test]
fn a_question_keeps_its_state_while_a_tool_runs_and_output_is_written() {
    let mut run = Run::asked(PLAIN, 3);
    assert_eq!(worked(&mut run, RUN), of_work([INVOKED, Worked::Perform]));
    assert_eq!(worked(&mut run, write(false)), of_work([chunk(0, false)]));
    assert!(run.state.session(A).awaiting_input);
    // AAEP-A.3-3: and then the tool still runs.
    let step = run.take(Action::Cancel { slot: Slot::First });
    let again = [
        Output::FollowUpLeaving(Slot::First),
        Output::CallingToolAgain(A),
    ];
    assert_eq!(step.required.as_slice(), again);
}

/// AAEP-A.6-1 to AAEP-A.6-3: a chunk before the last, the last, and one after it.
#[test]
fn an_output_ends_with_its_last_chunk() {
    let mut run = Run::begun();
    let first = [Worked::Writing, chunk(0, false)];
    assert_eq!(worked(&mut run, write(false)), of_work(first));
    assert_eq!(worked(&mut run, write(true)), of_work([chunk(1, true)]));
    let refused = [Output::Refused(Refusal::OutputComplete)];
    assert_eq!(worked(&mut run, write(true)), refused);
    let mut run = Run::begun();
    worked(&mut run, write(false));
    let outcome = SessionOutcome::Cancelled;
    let step = run.take(Action::EndSession {
        session: A,
        outcome,
    });
    let mut ends = of_work([chunk(1, true)]);
    ends.push(Output::Ended(A, outcome));
    assert_eq!(step.required.as_slice(), ends);
}

/// AAEP-A.2-3: in its state, and then nothing but its end.
#[test]
fn a_session_that_was_handed_off_only_ends() {
    let mut run = Run::begun();
    let hand_off = Piece::HandOff { session: A };
    let handed = [Worked::HandingOff, Worked::HandedOff];
    assert_eq!(worked(&mut run, hand_off), of_work(handed));
    let refused = [Output::Refused(Refusal::HandedOff)];
    for piece in [RUN, write(true), hand_off] {
        assert_eq!(worked(&mut run, piece), refused);
    }
    assert_eq!(run.ask(A, PLAIN, 1).required.as_slice(), refused);
    let outcome = SessionOutcome::Completed;
    let step = run.take(Action::EndSession {
        session: A,
        outcome,
    });
    assert_eq!(step.required.as_slice(), [Output::Ended(A, outcome)]);
}

/// AAEP-6.9-2: what nobody was asked about is in doubt like what somebody was.
#[test]
fn a_tool_without_a_question_is_in_doubt_after_a_restart() {
    let mut run = Run::begun();
    worked(&mut run, RUN);
    let step = run.take(Action::Crash);
    assert_eq!(step.required.as_slice(), of_work([Worked::InDoubt]));
}
