//! The judge: for each thing that it can find, a run that conforms, and the same run with one thing wrong.
//!
//! What these tests were seen to notice when it was put into the judge: each check of 6.3.4 left out; a deadline a
//! millisecond early or late; any closing counted as the last; a withdrawal that leaves the token good; a duty to tell of a
//! rejection dropped; a lost question taken for asked; a lost event taken for told.

mod run;

mod answers;
mod blocking;
mod clarifications;
mod delivery;
mod freedoms;
mod modified;
mod replies;
mod restart;
mod sessions;
mod time;
mod told_otherwise;
mod wire;
mod work;

use countersign_model::aaep::judge::{
    AnsweredBy, Call, Clarify, Confirm, Decision, Response, State,
};
use run::{
    Run, SUB, action, answer, asks, clarifies, finish, goes, invoked, perform, question, reply,
    respond, says, start, started, subscribe,
};

use State::{AwaitingInput, CallingTool, Idle, Thinking};

/// A session and a subscription that can reply: steps 0 and 1.
fn opened() -> Run {
    let mut run = Run::default();
    run.then(0, start(1), [started()]);
    run.then(0, subscribe(SUB, true), []);
    run
}

/// The first question is asked, in step 2.
fn asked(confirm: &Confirm) -> Run {
    let mut run = opened();
    let out = [goes(Idle, AwaitingInput), asks(confirm)];
    run.then(0, Call::Confirm(confirm.clone()), out);
    run
}

/// The first clarification is asked, in step 2.
fn clarified(clarify: &Clarify) -> Run {
    let mut run = opened();
    let out = [goes(Idle, AwaitingInput), clarifies(clarify)];
    run.then(0, Call::Clarify(clarify.clone()), out);
    run.declared.clarify = true;
    run
}

/// What everybody answers.
const TEXT: Response = Response::Text(7);

/// It is answered in step 3: left, told to the host, answered.
fn answered() -> Run {
    let mut run = clarified(&question(1));
    run.then(1_000, Call::Deliver(says(1, TEXT, 1_000)), answering(TEXT));
    run
}

fn answering(response: Response) -> Vec<run::Out> {
    vec![
        goes(AwaitingInput, Thinking),
        answer(1, Some(response), AnsweredBy::Reply),
        respond(0),
    ]
}

/// Nobody has answered in time: this is taken for the answer.
fn unanswered(default: Option<u32>) -> Vec<run::Out> {
    let by = match default {
        Some(_) => AnsweredBy::Default,
        None => AnsweredBy::Nobody,
    };
    let response = default.map(Response::Text);
    vec![goes(AwaitingInput, Thinking), answer(1, response, by)]
}

/// Two questions are asked, in steps 2 and 3.
fn asked_both(first: &Confirm, second: &Confirm) -> Run {
    let mut run = asked(first);
    run.then(0, Call::Confirm(second.clone()), [asks(second)]);
    run
}

/// The first is accepted in step 3: left, invoked, performed, answered.
fn accepted() -> Run {
    let mut run = asked(&action(1));
    run.then(
        1_000,
        Call::Deliver(reply(1, Decision::Accept, 1_000)),
        acceptance(),
    );
    run
}

fn acceptance() -> Vec<run::Out> {
    vec![
        goes(AwaitingInput, CallingTool),
        invoked(1),
        perform(1),
        respond(0),
    ]
}

fn rejection() -> Vec<run::Out> {
    vec![goes(AwaitingInput, Thinking), respond(0)]
}

/// And its tool comes back, in step 4.
fn finished() -> Run {
    let mut run = accepted();
    let out = [run::completed(
        1,
        countersign_model::aaep::judge::ToolStatus::Success,
    )];
    run.then(2_000, finish(1), out);
    run
}
