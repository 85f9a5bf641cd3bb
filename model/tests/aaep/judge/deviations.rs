//! What a judge passes over when it is told to, and that it passes over nothing else.

use super::run::{
    Out, Run, TIMEOUT, action, completed, end, ended, goes, invoked, perform, reply, respond,
};
use super::{accepted, asked, asked_both};
use countersign_model::aaep::judge::{
    AaepJudge, Call, Decision, Deviations, Outcome, State, ToolStatus,
};
use countersign_model::aaep::readings::Reading;

use State::{AwaitingInput, CallingTool, Thinking};

/// Passed over, this clause is broken without.
#[track_caller]
fn passes_with(deviations: Deviations, clause: &str, run: &Run) {
    assert_eq!(clauses(deviations, run), Vec::<&str>::new());
    assert_eq!(clauses(Deviations::default(), run), [clause]);
}

fn clauses(deviations: Deviations, run: &Run) -> Vec<&'static str> {
    let judge = AaepJudge::new(Reading::SPECIFICATION).passing_over(deviations);
    let found = run.findings_of(judge);
    found.iter().map(|finding| finding.clause).collect()
}

fn stays() -> Out {
    goes(AwaitingInput, AwaitingInput)
}

#[test]
fn outcomes_that_stay_while_another_question_waits_aaep_a_4_2_and_aaep_6_8_3() {
    let deviations = Deviations {
        stays_while_another_waits: true,
        ..Deviations::default()
    };
    let mut accepted = asked_both(&action(1), &action(2));
    let out = [invoked(1), perform(1), respond(0)];
    accepted.then(1, Call::Deliver(reply(1, Decision::Accept, 1)), out);
    passes_with(deviations, "AAEP-A.4-2", &accepted);

    let mut rejected = asked_both(&action(1), &action(2));
    rejected.then(
        1,
        Call::Deliver(reply(1, Decision::Reject, 1)),
        [stays(), respond(0)],
    );
    passes_with(deviations, "AAEP-6.1-3", &rejected);
    // Told it has to be all the same.
    rejected.without(4, 0);
    assert_eq!(clauses(deviations, &rejected), ["AAEP-6.1-3"]);

    let mut withdrawn = asked_both(&action(1), &action(2));
    withdrawn.then(1, Call::Cancel { token: 1 }, [stays()]);
    passes_with(deviations, "AAEP-6.8-3", &withdrawn);

    // Nor may it tell so of an outcome that there was not.
    let mut too_early = asked_both(&action(1), &action(2));
    too_early.then(TIMEOUT - 1, Call::Tick, []);
    assert_eq!(clauses(deviations, &too_early), Vec::<&str>::new());
    too_early.steps[4].out.push(stays());
    assert_eq!(clauses(deviations, &too_early), ["AAEP-6.4-1"]);

    // The last of a session leaves.
    let mut both = asked_both(&action(1), &action(2));
    both.then(
        TIMEOUT,
        Call::Tick,
        [stays(), goes(AwaitingInput, Thinking)],
    );
    passes_with(deviations, "AAEP-6.4-1", &both);
    both.without(4, 1);
    assert_eq!(clauses(deviations, &both), ["AAEP-6.4-1"]);
}

#[test]
fn thinking_while_a_tool_runs_aaep_a_3_3() {
    let deviations = Deviations {
        thinks_while_a_tool_runs: true,
        ..Deviations::default()
    };
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
    passes_with(deviations, "AAEP-A.3-3", &run);
}

#[test]
fn ends_over_open_questions_aaep_6_8_3() {
    let deviations = Deviations {
        ends_over_open_questions: true,
        ..Deviations::default()
    };
    for outcome in [Outcome::Completed, Outcome::Errored] {
        let mut run = asked(&action(1));
        run.then(1, end(outcome), [ended(outcome)]);
        passes_with(deviations, "AAEP-6.8-3", &run);
    }
}

#[test]
fn errs_over_running_tools_aaep_a_3_1() {
    let deviations = Deviations {
        errs_over_running_tools: true,
        ..Deviations::default()
    };
    let mut run = accepted();
    run.then(2_000, end(Outcome::Errored), [ended(Outcome::Errored)]);
    passes_with(deviations, "AAEP-A.3-1", &run);
    run.steps[4].out = vec![completed(1, ToolStatus::Error), ended(Outcome::Errored)];
    assert_eq!(clauses(deviations, &run), Vec::<&str>::new());
    let mut run = accepted();
    run.then(2_000, end(Outcome::Completed), [ended(Outcome::Completed)]);
    assert_eq!(clauses(deviations, &run), ["AAEP-A.3-1"]);
}
