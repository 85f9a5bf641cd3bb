//! A restart: what was lost comes again, what was released and is not known to be done is in doubt.

use super::run::{
    Number, Out, Run, TIMEOUT, action, answer, asks_with, clarifies, clarifies_with, goes,
    harmless, in_doubt, invoked, perform, question, refused, reply, respond, says,
};
use super::{TEXT, accepted, answered, answering, asked, clarified, finished, unanswered};
use countersign_model::aaep::judge::{AnsweredBy, Call, Clarify, Decision, State};
use countersign_model::judge::Kind;

use State::{AwaitingInput, CallingTool, Thinking};

fn restart(lost: usize) -> Call {
    Call::Restart { lost }
}

#[test]
fn a_released_action_is_in_doubt_until_it_is_known_to_be_done_aaep_a_3_1() {
    let mut run = accepted();
    run.then(1_001, restart(0), [in_doubt(1)]);
    run.then(1_002, restart(0), [in_doubt(1)]);
    run.breaks("AAEP-A.3-1", |run| run.steps[4].out = vec![]);
    run.breaks("AAEP-A.3-1", |run| run.steps[5].out = vec![]);
    run.breaks("AAEP-A.3-1", |run| run.steps[5].out.push(in_doubt(1)));
    let mut run = finished();
    run.then(3_000, restart(0), []);
    run.breaks("AAEP-A.3-1", |run| run.steps[5].out = vec![in_doubt(1)]);
}

#[test]
fn what_was_released_never_runs_again_though_it_was_lost_aaep_6_9_2() {
    for lost in 0..=4 {
        let mut run = accepted();
        let again = [(3, 0), (3, 1)]
            .into_iter()
            .skip(4_usize.saturating_sub(lost));
        let mut out: Vec<Out> = again.map(|(step, place)| Out::Again(step, place)).collect();
        out.push(in_doubt(1));
        run.then(2_000, restart(lost), out);
        let finding = run.breaks("AAEP-6.9-2", |run| run.steps[4].out.push(perform(1)));
        assert_eq!(finding.kind, Kind::Guarantee);
    }
}

#[test]
fn a_lost_event_comes_again_as_it_was_aaep_ev_4() {
    let mut run = asked(&action(1));
    run.then(
        1,
        Call::Deliver(reply(1, Decision::Reject, 1)),
        [goes(AwaitingInput, Thinking)],
    );
    run.then(2, restart(1), [Out::Again(3, 0)]);
    run.breaks("AAEP-A.4-2", |run| run.steps[4].out = vec![]);
    run.breaks("AAEP-EV-7", |run| {
        run.steps[4].out = vec![Out::AgainNow(3, 0)];
    });
    // Lost again, it comes again.
    run.then(3, restart(1), [Out::Again(3, 0)]);
    run.breaks("AAEP-A.4-2", |run| run.steps[5].out = vec![]);
    // What was carried out does not.
    run.breaks("AAEP-EV-7", |run| run.steps[5].call = restart(0));
}

#[test]
fn what_was_lost_comes_in_its_order_aaep_ev_4() {
    let mut run = accepted();
    run.then(
        2_000,
        restart(4),
        [Out::Again(3, 0), Out::Again(3, 1), in_doubt(1)],
    );
    run.breaks("AAEP-EV-4", |run| run.steps[4].out.swap(0, 1));
}

/// The question was lost, and the producer comes back ten seconds later.
fn asked_again(confirm: &countersign_model::aaep::judge::Confirm) -> Run {
    let mut run = asked(confirm);
    run.then(10_000, restart(1), [Out::AskedAgain(2, 1)]);
    run
}

#[test]
fn a_lost_question_is_asked_again_with_its_token_aaep_6_7_1() {
    asked_again(&action(1)).breaks("AAEP-6.7-1", |run| run.steps[3].out = vec![]);
    asked_again(&action(1)).breaks("AAEP-EV-7", |run| {
        run.steps[3].out = vec![Out::AgainNow(2, 1)];
    });
    let mut run = asked_again(&action(1));
    run.steps[3].out = vec![asks_with(7, &action(1))];
    let found = run.findings(countersign_model::aaep::readings::Reading::SPECIFICATION);
    assert!(!found.is_empty());
}

#[test]
fn the_timeout_of_a_lost_question_counts_from_when_it_is_asked_again_aaep_6_4_1() {
    let mut run = asked_again(&action(1));
    run.then(TIMEOUT + 9_999, Call::Tick, []);
    run.then(
        TIMEOUT + 10_000,
        Call::Tick,
        [goes(AwaitingInput, Thinking)],
    );
    run.breaks("AAEP-6.4-1", |run| {
        run.steps[4].out = run.steps[5].out.clone();
    });
}

#[test]
fn lost_events_after_a_lost_question_take_its_time_aaep_ev_3() {
    let mut run = asked(&action(1));
    run.steps[2].out = vec![
        super::run::asks(&action(1)),
        goes(State::Idle, AwaitingInput),
    ];
    run.then(
        10_000,
        restart(2),
        [Out::AskedAgain(2, 0), Out::AgainNow(2, 1)],
    );
    run.breaks("AAEP-EV-7", |run| run.steps[3].out[1] = Out::Again(2, 1));
}

#[test]
fn a_question_that_nobody_saw_releases_nothing_aaep_6_1_1() {
    let mut run = asked_again(&harmless(1));
    run.steps[3].out.clear();
    let out = [goes(AwaitingInput, CallingTool), invoked(1), perform(1)];
    run.then(TIMEOUT + 10_000, Call::Tick, out);
    let found = run.findings(countersign_model::aaep::readings::Reading::SPECIFICATION);
    let found: Vec<_> = found
        .iter()
        .map(|finding| (finding.clause, finding.kind))
        .collect();
    let lost = ("AAEP-6.7-1", Kind::Conformance);
    assert_eq!(found, [lost, ("AAEP-6.1-1", Kind::Guarantee)]);
}

#[test]
fn a_used_token_stays_used_over_a_restart_aaep_6_3_4_3() {
    let mut run = finished();
    run.then(3_000, restart(0), []);
    run.then(4_000, Call::Deliver(reply(1, Decision::Accept, 0)), []);
    run.breaks("AAEP-6.3.4-3", |run| run.steps[6].out = vec![perform(1)]);
}

#[test]
fn deadlines_outlast_a_restart_aaep_6_4_1() {
    let mut run = asked(&action(1));
    run.then(TIMEOUT, restart(0), [goes(AwaitingInput, Thinking)]);
    run.breaks("AAEP-6.4-1", |run| run.steps[3].out = vec![]);
    run.breaks("AAEP-6.4-1", |run| run.steps[3].at -= 1);
}

/// The clarification was lost, and the producer comes back ten seconds later.
fn clarified_again() -> Run {
    let mut run = clarified(&question(1));
    run.then(10_000, restart(1), [Out::AskedAgain(2, 1)]);
    run
}

#[test]
fn a_lost_clarification_is_asked_again_with_its_token_aaep_6_7_1() {
    let run = clarified_again();
    run.breaks("AAEP-6.7-1", |run| run.steps[3].out.clear());
    run.breaks("AAEP-EV-7", |run| {
        run.steps[3].out = vec![Out::AgainNow(2, 1)];
    });
    // Anew with another token: that asks for nothing that was to be asked, and the lost one stays unasked.
    let mut anew = run.clone();
    anew.steps[3].out = vec![clarifies_with(7, &question(1))];
    assert_eq!(anew.clauses(), ["AAEP-6.1-9", "AAEP-6.7-1"]);
    // Otherwise than it was.
    let other = Clarify {
        default: Some(1),
        ..question(1)
    };
    run.breaks("AAEP-EV-5", |run| {
        run.steps[3].out = vec![clarifies(&other)];
        run.event(3, 0).number = Number::This(2);
    });
    // What was told comes but once.
    let mut told = clarified(&question(1));
    told.then(10_000, restart(0), []);
    told.breaks("AAEP-6.2.2-3", |run| {
        run.steps[3].out = vec![clarifies(&question(1))];
    });
}

#[test]
fn a_lost_clarification_waits_from_when_it_is_asked_again_aaep_6_1_7() {
    let mut run = clarified_again();
    run.then(TIMEOUT + 9_999, Call::Tick, []);
    run.then(TIMEOUT + 10_000, Call::Tick, unanswered(None));
    run.breaks("AAEP-6.1-8", |run| {
        run.steps[4].out = std::mem::take(&mut run.steps[5].out);
    });
    run.breaks("AAEP-6.1-7", |run| run.steps[5].out.clear());
    let mut run = clarified_again();
    let late = Call::Deliver(says(1, TEXT, TIMEOUT + 9_999));
    run.then(TIMEOUT + 9_999, late, answering(TEXT));
    run.breaks("AAEP-6.1-7", |run| run.steps[4].out = vec![respond(0)]);
}

#[test]
fn a_clarification_outlasts_a_restart_aaep_6_1_7() {
    let mut run = clarified(&question(1));
    run.then(1, restart(0), []);
    run.then(2, Call::Deliver(says(1, TEXT, 2)), answering(TEXT));
    run.breaks("AAEP-6.1-7", |run| run.steps[4].out = vec![respond(0)]);
    run.breaks("AAEP-6.1-8", |run| run.steps[3].out = unanswered(None));
    let mut run = clarified(&question(1));
    run.then(1, restart(0), []);
    run.then(2, Call::Clarify(question(1)), [refused()]);
    run.breaks("AAEP-6.1-9", |run| {
        run.steps[4].out = vec![clarifies_with(2, &question(1))];
    });
    let mut run = clarified(&question(1));
    run.then(TIMEOUT, restart(0), unanswered(None));
    run.breaks("AAEP-6.1-7", |run| run.steps[3].out.clear());
    // And so does its answer.
    let mut run = answered();
    run.then(2_000, restart(0), []);
    run.then(3_000, Call::Deliver(says(1, TEXT, 0)), [respond(0)]);
    run.breaks("AAEP-6.3.4-3", |run| {
        run.steps[5]
            .out
            .push(answer(1, Some(TEXT), AnsweredBy::Reply));
    });
}

#[test]
fn a_lost_answer_comes_again_aaep_6_1_7() {
    let right = || answer(1, Some(TEXT), AnsweredBy::Reply);
    for (lost, out) in [
        (0, vec![]),
        (1, vec![]),
        (2, vec![right()]),
        (3, vec![Out::Again(3, 0), right()]),
    ] {
        let mut run = answered();
        run.then(2_000, restart(lost), out);
        run.conforms();
        if lost < 2 {
            // Nobody is told twice.
            run.breaks("AAEP-6.1-7", |run| run.steps[4].out.push(right()));
        } else {
            run.breaks("AAEP-6.1-7", |run| {
                run.steps[4].out.pop();
            });
            run.breaks("AAEP-6.1-7", |run| {
                run.steps[4].out.pop();
                run.steps[4].out.push(answer(1, None, AnsweredBy::Nobody));
            });
            run.breaks("AAEP-6.1-7", |run| run.steps[4].out.push(right()));
            // Lost again, it comes again.
            run.then(2_001, restart(1), [right()]);
            run.breaks("AAEP-6.1-7", |run| run.steps[5].out.clear());
        }
    }
    // That it leaves awaiting_input was lost too.
    let mut run = answered();
    run.then(2_000, restart(3), [Out::Again(3, 0), right()]);
    run.breaks("AAEP-A.4-2", |run| run.without(4, 0));
}
