//! Parties that do right in different ways: what the text leaves free, all of them pass.

use super::run::{
    Out, Run, SUB, TIMEOUT, action, asks, end, ended, event, finish, goes, harmless, in_doubt,
    invoked, notify, perform, reply, respond, start, started, subscribe, unsubscribe,
};
use countersign_model::aaep::judge::{
    Body, Call, Decision, Invocation, Outcome, Risk, State, ToolStatus,
};

use State::{AwaitingInput, CallingTool, Deciding, Idle, Thinking, WritingOutput};

/// A talkative one: it passes through every state, tells senders of late duplicates, and numbers its events.
#[test]
fn one_that_says_more_than_it_must_conforms() {
    let mut run = Run::default();
    run.then(0, start(1), [started(), goes(Idle, Thinking)]);
    run.then(1, subscribe(SUB, true), []);
    let ask = [
        goes(Thinking, Deciding),
        goes(Deciding, AwaitingInput),
        asks(&action(1)),
        event(1, Body::Other),
    ];
    run.then(2, Call::Confirm(action(1)), ask);
    run.then(TIMEOUT / 2, Call::Tick, [event(1, Body::Other)]);
    let accepted = [
        respond(1),
        goes(AwaitingInput, Thinking),
        goes(Thinking, CallingTool),
        perform(1),
        invoked(1),
        event(1, Body::Other),
    ];
    run.then(
        TIMEOUT / 2 + 1,
        Call::Deliver(reply(1, Decision::Accept, 5)),
        accepted,
    );
    let again = [respond(0), notify(SUB, 1)];
    run.then(
        TIMEOUT / 2 + 2,
        Call::Deliver(reply(1, Decision::Accept, 5)),
        again,
    );
    let done = [
        super::run::completed(1, ToolStatus::Success),
        goes(CallingTool, Thinking),
        goes(Thinking, WritingOutput),
    ];
    run.then(TIMEOUT / 2 + 3, finish(1), done);
    run.then(
        TIMEOUT,
        end(Outcome::Completed),
        [goes(WritingOutput, Thinking), ended(Outcome::Completed)],
    );
    run.conforms();
}

/// A terse one: whole seconds, no numbers, no answer to the sender, no state that is not owed, no call ids, risk unsaid.
#[test]
fn one_that_says_no_more_than_it_must_conforms() {
    let mut run = Run::default();
    run.then(300, start(1), [started()]);
    run.then(400, subscribe(SUB, false), []);
    run.then(500, Call::Confirm(action(1)), [asks(&action(1))]);
    run.then(600, Call::Deliver(reply(9, Decision::Accept, 600)), []);
    run.then(
        700,
        Call::Deliver(reply(1, Decision::Accept, 700)),
        [
            goes(AwaitingInput, CallingTool),
            event(
                1,
                Body::ToolInvoked(Invocation {
                    tool: 1,
                    tool_call: None,
                    args_summary: None,
                    risk: Risk::Low,
                    irreversible: false,
                }),
            ),
            perform(1),
        ],
    );
    run.then(
        800,
        finish(1),
        [event(
            1,
            Body::ToolCompleted {
                tool: 1,
                tool_call: None,
                status: ToolStatus::Success,
            },
        )],
    );
    run.then(
        900,
        Call::Confirm(harmless(2)),
        [goes(CallingTool, AwaitingInput), asks(&harmless(2))],
    );
    run.then(950, end(Outcome::Cancelled), [ended(Outcome::Cancelled)]);
    for step in &mut run.steps {
        for out in &mut step.out {
            if let Out::Event(event) = out {
                (event.at, event.number) = (Some(super::run::START), super::run::Number::None);
            }
        }
    }
    run.conforms();
}

/// A cautious one: it withdraws, refuses what it should not ask, goes on with other work while blocked, tells of a default
/// through output, and gives up a tool that does not come back.
#[test]
fn one_that_works_on_while_it_is_blocked_conforms() {
    let mut run = Run::default();
    run.then(0, start(1), [started()]);
    run.then(0, subscribe(SUB, true), []);
    let risky = countersign_model::aaep::judge::Confirm {
        irreversible: true,
        ..harmless(1)
    };
    run.then(1, Call::Confirm(risky), [super::run::refused()]);
    run.then(
        2,
        Call::Confirm(action(1)),
        [goes(Idle, AwaitingInput), asks(&action(1))],
    );
    let work = event(
        1,
        Body::ToolInvoked(Invocation {
            tool: 50,
            tool_call: Some(50),
            args_summary: None,
            risk: Risk::Low,
            irreversible: false,
        }),
    );
    run.then(3, Call::Tick, [goes(AwaitingInput, CallingTool), work]);
    run.then(
        4,
        Call::Tick,
        [
            super::run::completed(50, ToolStatus::Timeout),
            goes(CallingTool, WritingOutput),
            event(1, Body::Other),
            goes(WritingOutput, AwaitingInput),
        ],
    );
    run.then(5, Call::Confirm(action(2)), [asks(&action(2))]);
    run.then(
        6,
        Call::Cancel { token: 2 },
        [goes(AwaitingInput, Deciding), goes(Deciding, AwaitingInput)],
    );
    run.then(7, subscribe(2, true), []);
    run.then(8, unsubscribe(SUB), []);
    run.then(
        TIMEOUT + 2,
        Call::Restart { lost: 0 },
        [goes(AwaitingInput, WritingOutput), event(1, Body::Other)],
    );
    run.then(
        TIMEOUT + 3,
        Call::Confirm(harmless(3)),
        [asks(&harmless(3)), goes(WritingOutput, AwaitingInput)],
    );
    let out = [perform(3), invoked(3), goes(CallingTool, CallingTool)];
    run.then(TIMEOUT * 3, Call::Tick, out);
    run.then(
        TIMEOUT * 4,
        Call::Restart { lost: 1 },
        [Out::Again(12, 2), in_doubt(3)],
    );
    run.conforms();
}
