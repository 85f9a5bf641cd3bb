//! 6.1, 6.4, 6.7, 6.8: blocks, defaults, closings, withdrawals, and how their outcome is told.

use super::run::{
    Out, Run, TIMEOUT, action, asks, asks_with, goes, harmless, invoked, perform, refused, reply,
    respond, subscribe, unsubscribe,
};
use super::{acceptance, accepted, asked, asked_both, finished, opened, rejection};
use countersign_model::aaep::judge::{Call, Confirm, Decision, Risk, State};
use countersign_model::aaep::readings::{
    CancellationReleases, EarlyDefaultOnClose, Reading, SessionEndCancels, SessionEndTells,
    StateWhileAsked,
};
use countersign_model::judge::Kind;

use State::{AwaitingInput, CallingTool, Deciding, Idle, Thinking};

/// The default of the first question is applied in the last step, at its deadline.
fn timed_out(confirm: &Confirm, out: Vec<Out>) -> Run {
    let mut run = asked(confirm);
    run.then(TIMEOUT, Call::Tick, out);
    run
}

fn ran() -> Vec<Out> {
    vec![goes(AwaitingInput, CallingTool), invoked(1), perform(1)]
}

fn told() -> Vec<Out> {
    vec![goes(AwaitingInput, Thinking)]
}

#[test]
fn nothing_runs_before_it_is_accepted_aaep_6_1_1() {
    let finding = asked(&action(1)).breaks("AAEP-6.1-1", |run| {
        run.then(1, Call::Tick, ran());
    });
    assert_eq!(finding.kind, Kind::Guarantee);
}

#[test]
fn nothing_runs_that_nobody_was_asked_about_aaep_6_1_1() {
    let finding = opened().breaks("AAEP-6.1-1", |run| {
        run.then(1, Call::Tick, [perform(9)]);
    });
    assert_eq!(finding.kind, Kind::Guarantee);
}

#[test]
fn what_ran_does_not_run_again_aaep_6_9_2() {
    let finding = finished().breaks("AAEP-6.9-2", |run| {
        run.then(3_000, Call::Tick, [perform(1)]);
    });
    assert_eq!(finding.kind, Kind::Guarantee);
    assert_eq!(finding.also, ["AAEP-6.1-1", "AAEP-6.3.5-1"]);
    accepted().breaks("AAEP-6.9-2", |run| run.steps[3].out.push(perform(1)));
}

#[test]
fn a_reply_releases_the_action_of_its_token_aaep_6_1_1() {
    let mut run = asked_both(&action(1), &action(2));
    let out = [
        goes(AwaitingInput, CallingTool),
        invoked(2),
        perform(2),
        respond(0),
        goes(CallingTool, AwaitingInput),
    ];
    run.then(1, Call::Deliver(reply(2, Decision::Accept, 1)), out);
    let finding = run.breaks("AAEP-6.1-1", |run| run.steps[4].out.push(perform(1)));
    assert_eq!(finding.also, ["AAEP-6.3.4-2", "AAEP-6.9-2"]);
}

#[test]
fn a_rejection_is_told_aaep_6_1_3() {
    let mut run = asked(&action(1));
    run.then(1, Call::Deliver(reply(1, Decision::Reject, 1)), rejection());
    run.breaks("AAEP-6.1-3", |run| run.without(3, 0));
    run.breaks("AAEP-6.1-3", |run| {
        run.steps[3].out[0] = goes(AwaitingInput, CallingTool);
    });
    run.breaks("AAEP-6.1-3", |run| {
        run.steps[3].out[0] = goes(AwaitingInput, AwaitingInput);
    });
}

#[test]
fn no_tool_is_told_of_while_its_question_waits_aaep_6_1_5() {
    asked(&action(1)).breaks("AAEP-6.1-5", |run| {
        run.then(1, Call::Tick, [invoked(1)]);
    });
}

#[test]
fn the_same_action_is_not_asked_about_twice_aaep_6_1_6() {
    let mut run = asked(&action(1));
    run.then(1, Call::Confirm(action(1)), [refused()]);
    run.breaks("AAEP-6.1-6", |run| {
        run.steps[3].out = vec![asks_with(7, &action(1))];
    });
    // Released, it may be.
    let mut run = finished();
    run.then(
        3_000,
        Call::Confirm(action(1)),
        [goes(CallingTool, AwaitingInput), asks_with(7, &action(1))],
    );
    run.conforms();
    // It is the same in its session alone.
    let elsewhere = Confirm {
        session: 2,
        ..action(1)
    };
    let mut run = asked(&action(1));
    run.then(
        1,
        super::run::start(2),
        [super::run::event(
            2,
            countersign_model::aaep::judge::Body::Started,
        )],
    );
    run.then(
        1,
        Call::Confirm(elsewhere.clone()),
        [asks_with(7, &elsewhere)],
    );
    run.conforms();
}

#[test]
fn a_question_is_asked_when_it_can_be_aaep_6_1() {
    asked(&action(1)).breaks("AAEP-6-1", |run| run.steps[2].out = vec![]);
    asked(&action(1)).breaks("AAEP-6-1", |run| run.steps[2].out = vec![refused()]);
}

#[test]
fn no_token_is_issued_again_aaep_6_2_2_3() {
    let mut run = finished();
    let ask = [goes(CallingTool, AwaitingInput), asks(&action(2))];
    run.then(3_000, Call::Confirm(action(2)), ask);
    run.breaks("AAEP-6.2.2-3", |run| {
        run.steps[5].out[1] = asks_with(1, &action(2));
    });
}

#[test]
fn the_default_of_what_cannot_be_undone_is_reject_aaep_6_4_1_1_and_aaep_6_4_1_2() {
    for (risk, clause) in [(Risk::High, "AAEP-6.4.1-1"), (Risk::Medium, "AAEP-6.4.1-2")] {
        let confirm = Confirm {
            risk,
            default: Decision::Accept,
            ..action(1)
        };
        let mut run = opened();
        run.then(0, Call::Confirm(confirm.clone()), [refused()]);
        let finding = run.breaks(clause, |run| run.steps[2].out = vec![asks(&confirm)]);
        assert_eq!(finding.kind, Kind::Guarantee);
        // A producer that asks for another default than it was told to.
        let safe = Confirm {
            default: Decision::Reject,
            ..confirm.clone()
        };
        asked(&safe).breaks(clause, |run| run.steps[2].out[1] = asks(&confirm));
    }
}

#[test]
fn where_the_default_should_be_reject_it_may_be_asked_or_refused_aaep_6_4_1_3_and_aaep_6_4_1_4() {
    for (irreversible, risk) in [(true, Risk::Low), (false, Risk::High)] {
        let confirm = Confirm {
            irreversible,
            risk,
            ..harmless(1)
        };
        asked(&confirm).conforms();
        let mut run = opened();
        run.then(0, Call::Confirm(confirm), [refused()]);
        run.conforms();
    }
}

#[test]
fn a_default_accept_runs_at_its_deadline_aaep_6_4_1() {
    let run = timed_out(&harmless(1), ran());
    run.breaks("AAEP-6.4-1", |run| run.steps[3].out = vec![]);
    // One millisecond before it is too early, one after too late.
    run.breaks("AAEP-6.1-1", |run| run.steps[3].at -= 1);
    let mut late = asked(&harmless(1));
    late.then(TIMEOUT, Call::Tick, []);
    late.then(TIMEOUT + 1, Call::Tick, ran());
    let found = late.findings(Reading::SPECIFICATION);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].clause, found[0].kind),
        ("AAEP-6.4-1", Kind::Guarantee)
    );
}

#[test]
fn a_default_reject_is_told_at_its_deadline_aaep_6_4_1() {
    let run = timed_out(&action(1), told());
    run.breaks("AAEP-6.4-1", |run| run.steps[3].out = vec![]);
    run.breaks("AAEP-6.4-1", |run| run.steps[3].at -= 1);
    run.breaks("AAEP-6.4-1", |run| run.steps[3].out = ran());
    let mut run = asked(&action(1));
    run.then(TIMEOUT - 1, Call::Tick, []);
    run.then(TIMEOUT, Call::Tick, told());
    run.conforms();
    run.steps[4].at += 1;
    run.conforms();
}

#[test]
fn the_timeout_counts_from_the_timestamp_of_the_question_aaep_6_4_1() {
    // A timestamp of whole seconds, of a call between two of them.
    let mut run = opened();
    let ask = [goes(Idle, AwaitingInput), asks(&action(1))];
    run.then(700, Call::Confirm(action(1)), ask);
    run.then(TIMEOUT + 700, Call::Tick, told());
    run.conforms();
    run.steps[3].at = TIMEOUT;
    run.event(2, 0).at = Some(super::run::START);
    run.event(2, 1).at = Some(super::run::START);
    run.conforms();
    run.breaks("AAEP-6.4-1", |run| run.steps[3].at -= 1);
}

#[test]
fn a_clock_that_steps_back_takes_nothing_back_aaep_6_4_1() {
    let mut run = timed_out(&action(1), told());
    run.then(
        0,
        Call::Deliver(reply(1, Decision::Accept, 0)),
        [respond(0)],
    );
    run.event(3, 0).at = None;
    run.conforms();
    let mut accepted = acceptance();
    for out in &mut accepted {
        if let Out::Event(event) = out {
            event.at = Some(super::run::START + TIMEOUT);
        }
    }
    accepted[0] = goes(Thinking, CallingTool);
    if let Out::Event(event) = &mut accepted[0] {
        event.at = Some(super::run::START + TIMEOUT);
    }
    run.breaks("AAEP-6.3.4-3", |run| run.steps[4].out = accepted);
}

#[test]
fn what_is_due_comes_before_a_call_that_is_refused_aaep_6_4_1() {
    let mut run = asked(&action(1));
    run.then(
        TIMEOUT,
        Call::Cancel { token: 9 },
        [told(), vec![refused()]].concat(),
    );
    run.breaks("AAEP-6.4-1", |run| run.without(3, 0));
}

#[test]
fn each_outcome_is_told_by_a_transition_of_its_own_aaep_a_4_2() {
    let mut run = asked_both(&action(1), &action(2));
    let back = goes(Thinking, AwaitingInput);
    let both = [
        goes(AwaitingInput, Thinking),
        back,
        goes(AwaitingInput, Thinking),
    ];
    run.then(TIMEOUT, Call::Tick, both);
    run.breaks("AAEP-6.4-1", |run| run.steps[4].out.truncate(1));
    accepted().breaks("AAEP-A.4-2", |run| run.without(3, 0));
}

#[test]
fn input_is_awaited_again_while_another_question_is_open_aaep_a_2_2() {
    let mut run = asked_both(&action(1), &action(2));
    let out = [
        goes(AwaitingInput, Thinking),
        goes(Thinking, AwaitingInput),
        respond(0),
    ];
    run.then(1, Call::Deliver(reply(1, Decision::Reject, 1)), out);
    run.breaks("AAEP-A.2-2", |run| run.without(4, 1));
}

const LEAVES_WITH_LAST: Reading = Reading {
    state_while_asked: StateWhileAsked::LeavesWithLast,
    ..Reading::SPECIFICATION
};

/// Two questions; the first is rejected or accepted, and the state stays.
fn one_of_two_stays(decision: Decision) -> Run {
    let mut run = asked_both(&action(1), &action(2));
    let told = match decision {
        Decision::Reject => vec![goes(AwaitingInput, AwaitingInput)],
        Decision::Accept => acceptance().split_off(1),
    };
    let out = [told, vec![respond(0)]].concat();
    run.then(1, Call::Deliver(reply(1, decision, 1)), out);
    run
}

#[test]
fn by_the_other_reading_the_state_stays_while_a_question_is_open_aaep_a_2_2() {
    let run = one_of_two_stays(Decision::Reject);
    run.conforms_by(LEAVES_WITH_LAST);
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.1-3", |_| {});
    run.breaks_by(LEAVES_WITH_LAST, "AAEP-6.1-3", |run| run.without(4, 0));
    run.breaks_by(LEAVES_WITH_LAST, "AAEP-A.2-2", |run| {
        let leaves = [goes(AwaitingInput, Thinking), goes(Thinking, AwaitingInput)];
        run.steps[4].out.splice(1..1, leaves);
    });
    let run = one_of_two_stays(Decision::Accept);
    run.conforms_by(LEAVES_WITH_LAST);
    run.breaks_by(Reading::SPECIFICATION, "AAEP-A.4-2", |_| {});
    run.breaks_by(LEAVES_WITH_LAST, "AAEP-A.4-3", |run| run.without(4, 0));
    run.breaks_by(LEAVES_WITH_LAST, "AAEP-A.2-2", |run| {
        run.steps[4].out.insert(0, goes(AwaitingInput, CallingTool));
        run.steps[4].out.push(goes(CallingTool, AwaitingInput));
    });
}

#[test]
fn by_the_other_reading_the_state_leaves_with_the_last_aaep_a_4_2() {
    let last = |leaves: &[Out]| {
        let mut run = one_of_two_stays(Decision::Reject);
        let out = [leaves, &[respond(0)]].concat();
        run.then(2, Call::Deliver(reply(2, Decision::Reject, 2)), out);
        run
    };
    let run = last(&[goes(AwaitingInput, Thinking)]);
    run.conforms_by(LEAVES_WITH_LAST);
    run.breaks_by(LEAVES_WITH_LAST, "AAEP-6.1-3", |run| run.without(5, 0));
    let stays = last(&[goes(AwaitingInput, AwaitingInput)]);
    stays.breaks_by(LEAVES_WITH_LAST, "AAEP-A.4-2", |_| {});
}

#[test]
fn by_the_other_reading_the_last_of_two_that_are_due_leaves_aaep_a_4_2() {
    let due = |out: Vec<Out>| {
        let mut run = asked_both(&action(1), &action(2));
        run.then(TIMEOUT, Call::Tick, out);
        run
    };
    let stays = goes(AwaitingInput, AwaitingInput);
    let leaves = goes(AwaitingInput, Thinking);
    due(vec![stays, leaves.clone()]).conforms_by(LEAVES_WITH_LAST);
    let one = due(vec![leaves.clone()]);
    one.breaks_by(LEAVES_WITH_LAST, "AAEP-6.4-1", |_| {});
    let each = due(vec![
        leaves.clone(),
        goes(Thinking, AwaitingInput),
        leaves.clone(),
    ]);
    each.conforms();
    each.breaks_by(LEAVES_WITH_LAST, "AAEP-6.4-1", |_| {});
}

/// AAEP-6.8-3 names the states; to reply or to time out is neither.
#[test]
fn by_the_other_reading_a_withdrawal_still_leaves_aaep_6_8_3() {
    let mut run = asked_both(&action(1), &action(2));
    let out = [goes(AwaitingInput, Thinking), goes(Thinking, AwaitingInput)];
    run.then(1, Call::Cancel { token: 1 }, out);
    run.conforms_by(LEAVES_WITH_LAST);
    run.breaks_by(LEAVES_WITH_LAST, "AAEP-6.8-3", |run| {
        run.steps[4].out = vec![goes(AwaitingInput, AwaitingInput)];
    });
}

#[test]
fn a_tool_is_called_again_while_one_runs_aaep_a_3_3() {
    let mut run = asked_both(&action(1), &action(2));
    let mut out = acceptance();
    out.push(goes(CallingTool, AwaitingInput));
    run.then(1, Call::Deliver(reply(1, Decision::Accept, 1)), out);
    let out = [
        goes(AwaitingInput, Thinking),
        goes(Thinking, CallingTool),
        respond(0),
    ];
    run.then(2, Call::Deliver(reply(2, Decision::Reject, 2)), out);
    run.breaks("AAEP-A.3-3", |run| run.without(5, 1));
}

#[test]
fn what_is_accepted_runs_and_is_told_of_aaep_a_4_3() {
    accepted().breaks("AAEP-A.4-3", |run| run.without(3, 1));
    accepted().breaks("AAEP-A.4-3", |run| run.without(3, 2));
    accepted().breaks("AAEP-A.4-3", |run| run.steps[3].out = rejection());
    accepted().breaks("AAEP-A.4-3", |run| run.steps[3].out = vec![]);
}

#[test]
fn the_third_of_three_is_told_of_like_the_first_aaep_a_4_3() {
    let mut run = asked_both(&action(1), &action(2));
    run.then(0, Call::Confirm(action(3)), [asks(&action(3))]);
    for (step, n) in [(1, 3), (2, 1), (3, 2)] {
        let mut out = vec![
            goes(AwaitingInput, CallingTool),
            invoked(n),
            perform(n),
            respond(0),
        ];
        if step < 3 {
            out.push(goes(CallingTool, AwaitingInput));
        }
        run.then(step, Call::Deliver(reply(n, Decision::Accept, step)), out);
    }
    run.breaks("AAEP-A.4-3", |run| run.without(7, 2));
    run.breaks("AAEP-6.9-2", |run| run.steps[7].out.push(perform(3)));
}

#[test]
fn what_is_rejected_does_not_run_aaep_a_4_4() {
    let mut run = asked(&action(1));
    run.then(1, Call::Deliver(reply(1, Decision::Reject, 1)), rejection());
    let finding = run.breaks("AAEP-A.4-4", |run| run.steps[3].out = acceptance());
    assert_eq!(finding.kind, Kind::Guarantee);
    run.breaks("AAEP-A.4-4", |run| {
        run.then(2, Call::Tick, [perform(1)]);
    });
    run.breaks("AAEP-A.4-4", |run| {
        run.then(2, Call::Tick, [invoked(1)]);
    });
}

#[test]
fn an_irreversible_tool_needs_an_acceptance_aaep_a_7_4_1() {
    opened().breaks("AAEP-A.7.4-1", |run| {
        run.then(1, Call::Tick, [invoked(9)]);
    });
}

/// The only subscription that could answer closes.
fn closed(confirm: &Confirm, out: Vec<Out>) -> Run {
    let mut run = asked(confirm);
    run.then(1, subscribe(2, false), []);
    run.then(2, unsubscribe(1), out);
    run
}

#[test]
fn the_last_that_could_answer_closes_and_the_default_reject_applies_aaep_ev_11() {
    closed(&action(1), told()).breaks("AAEP-EV-11", |run| run.steps[4].out = vec![]);
    // A default of accept waits for its time.
    closed(&harmless(1), vec![]).breaks("AAEP-6.1-1", |run| run.steps[4].out = ran());
}

#[test]
fn only_the_last_of_several_that_could_answer_applies_the_default_aaep_ev_11() {
    let mut run = asked(&action(1));
    run.then(1, subscribe(2, true), []);
    run.then(1, subscribe(3, false), []);
    run.then(2, unsubscribe(1), []);
    run.then(3, unsubscribe(3), []);
    run.then(4, unsubscribe(2), told());
    run.breaks("AAEP-EV-11", |run| run.steps[5].out = told());
    run.breaks("AAEP-EV-11", |run| run.steps[6].out = told());
    run.breaks("AAEP-EV-11", |run| run.steps[7].out = vec![]);
}

#[test]
fn a_closing_means_what_the_reading_says_aaep_ev_11() {
    let reading = |early_default_on_close| Reading {
        early_default_on_close,
        ..Reading::SPECIFICATION
    };
    let never = reading(EarlyDefaultOnClose::Never);
    // Read so, a producer conforms that leaves whoever asked blocked until the timeout.
    let finding = closed(&action(1), vec![]).breaks_by(never, "AAEP-EV-11", |_| {});
    assert_eq!(finding.kind, Kind::Guarantee);
    closed(&action(1), told()).breaks_by(never, "AAEP-EV-11", |_| {});
    // Unless the reading is all that is asked.
    let mut waits = closed(&action(1), vec![]);
    waits.declared.waits_as_read = true;
    waits.conforms_by(never);
    // What chapter 6 forbids, however it is read: to run before the timeout has elapsed.
    let as_default = reading(EarlyDefaultOnClose::AsDefault);
    let finding = closed(&harmless(1), ran()).breaks_by(as_default, "AAEP-6.1-1", |_| {});
    assert_eq!(finding.kind, Kind::Guarantee);
    closed(&harmless(1), vec![]).breaks_by(as_default, "AAEP-EV-11", |_| {});
}

/// The first question is withdrawn.
fn withdrawn() -> Run {
    let mut run = asked(&harmless(1));
    run.then(1, Call::Cancel { token: 1 }, told());
    run
}

#[test]
fn a_withdrawal_is_told_aaep_6_8_3() {
    withdrawn().breaks("AAEP-6.8-3", |run| run.steps[3].out = vec![]);
    withdrawn().breaks("AAEP-6.8-3", |run| {
        run.steps[3].out = vec![goes(AwaitingInput, CallingTool)];
    });
    let mut run = withdrawn();
    run.steps[3].out = vec![goes(AwaitingInput, Deciding)];
    run.conforms();
}

#[test]
fn one_of_two_withdrawn_leaves_the_other_aaep_6_8_3() {
    let mut run = asked_both(&action(1), &action(2));
    let out = [goes(AwaitingInput, Thinking), goes(Thinking, AwaitingInput)];
    run.then(1, Call::Cancel { token: 1 }, out);
    run.breaks("AAEP-6.8-3", |run| {
        run.steps[4].out = vec![goes(AwaitingInput, AwaitingInput)];
    });
    run.breaks("AAEP-6.8-3", |run| {
        let again = run.steps[4].out.clone();
        run.steps[4].out.extend(again);
    });
}

#[test]
fn what_cannot_be_withdrawn_is_refused_aaep_6_8_1() {
    let mut run = withdrawn();
    run.then(2, Call::Cancel { token: 1 }, [refused()]);
    run.conforms();
    asked(&action(1)).breaks("AAEP-6.8-1", |run| {
        run.then(1, Call::Cancel { token: 1 }, [refused()]);
    });
}

#[test]
fn a_withdrawn_token_is_void_aaep_6_8_4() {
    let mut run = withdrawn();
    run.then(
        2,
        Call::Deliver(reply(1, Decision::Accept, 2)),
        [respond(0)],
    );
    let finding = run.breaks("AAEP-6.8-4", |run| {
        run.steps[4].out = vec![perform(1), invoked(1), respond(0)];
    });
    assert_eq!(finding.kind, Kind::Guarantee);
}

#[test]
fn a_withdrawal_releases_as_the_reading_says_aaep_6_1_6_and_aaep_6_4_1() {
    let mut run = withdrawn();
    run.then(TIMEOUT, Call::Tick, []);
    run.breaks("AAEP-6.8-4", |run| {
        run.steps[4].out = vec![perform(1), invoked(1)];
    });
    let no = Reading {
        cancellation_releases: CancellationReleases::No,
        ..Reading::SPECIFICATION
    };
    // To the letter the default still fires: what that costs is a guarantee.
    let out = vec![goes(Thinking, CallingTool), invoked(1), perform(1)];
    let finding = run.breaks_by(no, "AAEP-6.8-1", |run| run.steps[4].out = out);
    assert_eq!(finding.kind, Kind::Guarantee);
    run.breaks_by(no, "AAEP-6.4-1", |_| {});
    let mut run = withdrawn();
    run.then(2, Call::Confirm(harmless(1)), [refused()]);
    run.conforms_by(no);
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6-1", |_| {});
}

#[test]
fn which_ends_withdraw_is_a_reading_aaep_6_8_2() {
    use super::run::{end, ended};
    use countersign_model::aaep::judge::Outcome;
    let mut run = asked(&harmless(1));
    run.then(1, end(Outcome::Completed), [ended(Outcome::Completed)]);
    let cancelled_only = Reading {
        session_end_cancels: SessionEndCancels::CancelledOnly,
        ..Reading::SPECIFICATION
    };
    run.conforms_by(cancelled_only);
    // By default it is withdrawn by an event first; where the end says so by itself, it may be.
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.8-3", |_| {});
    let by_itself = Reading {
        session_end_tells: SessionEndTells::ByItself,
        ..Reading::SPECIFICATION
    };
    run.conforms_by(by_itself);
    run.steps[3].out.insert(0, goes(AwaitingInput, Thinking));
    run.conforms();
    run.conforms_by(by_itself);
    run.then(TIMEOUT, Call::Tick, [perform(1)]);
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.8-2", |_| {});
    run.breaks_by(by_itself, "AAEP-6.8-2", |_| {});
}
