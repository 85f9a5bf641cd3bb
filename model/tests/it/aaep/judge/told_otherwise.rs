//! Outcomes that are told otherwise than by leaving `awaiting_input`, and ends that leave something open.

use super::run::{
    Out, Run, TIMEOUT, action, completed, end, ended, goes, invoked, perform, reply, respond,
};
use super::{accepted, asked, asked_both};
use countersign_model::aaep::judge::{AaepJudge, Call, Decision, Outcome, State, ToolStatus};
use countersign_model::aaep::readings::Reading;

use State::{AwaitingInput, CallingTool, Thinking};

#[track_caller]
fn is_found(clause: &str, run: &Run) {
    assert_eq!(clauses(run), [clause]);
}

fn clauses(run: &Run) -> Vec<&'static str> {
    let found = run.findings_of(AaepJudge::new(Reading::SPECIFICATION));
    found.iter().map(|finding| finding.clause).collect()
}

fn stays() -> Out {
    goes(AwaitingInput, AwaitingInput)
}

#[test]
fn outcomes_that_stay_while_another_question_waits_aaep_a_4_2_and_aaep_6_8_3() {
    let mut accepted = asked_both(&action(1), &action(2));
    let out = [invoked(1), perform(1), respond(0)];
    accepted.then(1, Call::Deliver(reply(1, Decision::Accept, 1)), out);
    is_found("AAEP-A.4-2", &accepted);

    let mut rejected = asked_both(&action(1), &action(2));
    rejected.then(
        1,
        Call::Deliver(reply(1, Decision::Reject, 1)),
        [stays(), respond(0)],
    );
    is_found("AAEP-6.1-3", &rejected);
    rejected.without(4, 0);
    is_found("AAEP-6.1-3", &rejected);

    let mut withdrawn = asked_both(&action(1), &action(2));
    withdrawn.then(1, Call::Cancel { token: 1 }, [stays()]);
    is_found("AAEP-6.8-3", &withdrawn);

    // One transition tells one outcome.
    let mut both = asked_both(&action(1), &action(2));
    both.then(
        TIMEOUT,
        Call::Tick,
        [stays(), goes(AwaitingInput, Thinking)],
    );
    is_found("AAEP-6.4-1", &both);
}

#[test]
fn thinking_while_a_tool_runs_aaep_a_3_3() {
    let mut run = asked_both(&action(1), &action(2));
    let out = [
        goes(AwaitingInput, CallingTool),
        goes(CallingTool, AwaitingInput),
        invoked(1),
        perform(1),
    ];
    run.then(1, Call::Deliver(reply(1, Decision::Accept, 1)), out);
    let out = [goes(AwaitingInput, Thinking)];
    run.then(2, Call::Deliver(reply(2, Decision::Reject, 2)), out);
    is_found("AAEP-A.3-3", &run);
}

#[test]
fn ends_over_open_questions_aaep_6_8_3() {
    for outcome in [Outcome::Completed, Outcome::Errored] {
        let mut run = asked(&action(1));
        run.then(1, end(outcome), [ended(outcome)]);
        is_found("AAEP-6.8-3", &run);
    }
}

#[test]
fn errs_over_running_tools_aaep_a_3_1() {
    let mut run = accepted();
    run.then(2_000, end(Outcome::Errored), [ended(Outcome::Errored)]);
    is_found("AAEP-A.3-1", &run);
    run.steps[4].out = vec![completed(1, ToolStatus::Error), ended(Outcome::Errored)];
    assert_eq!(clauses(&run), Vec::<&str>::new());
    let mut run = accepted();
    run.then(2_000, end(Outcome::Completed), [ended(Outcome::Completed)]);
    assert_eq!(clauses(&run), ["AAEP-A.3-1"]);
}
