//! What an executor puts out is changed in one field, and the bridge must notice.

use countersign_model::mcp_aql::action::{Action, Fault};
use countersign_model::mcp_aql::bounds::Bounds;
use countersign_model::mcp_aql::words::{
    Danger, Lifetime, Oracle, Request, Scope, SessionName, Slot, Which,
};
use countersign_reference::mcp_aql::{
    Audit, AuditEntry, ConfirmationRequired, DangerLevel, Details, ErrorCode, Failure,
    FailureReason, Operation, OperationName, Output, Parameters, Response,
};

use super::*;
use crate::Sides as _;

/// A token for two uses in a session is asked for, used, and tried in the other session.
const RUN: [Action; 6] = [
    Action::SetUp {
        tolerance: 0,
        oracle: Oracle::Codes,
    },
    Action::Request(Request {
        scope: Scope {
            session: Some(SessionName::A),
            adapter: Which::First,
            ..Scope::PLAIN
        },
        danger: Danger::Destructive,
        max_uses: 2,
        lifetime: Lifetime::Default,
    }),
    Action::Send {
        slot: Slot::First,
        fault: Fault::None,
    },
    DELIVER,
    Action::Send {
        slot: Slot::First,
        fault: Fault::Session,
    },
    DELIVER,
];

const DELIVER: Action = Action::Deliver { index: 0, skew: 0 };

/// The clause that is named when what the last of so many steps puts out is changed so; none if it passes.
fn judged(steps: usize, change: impl Fn(&mut Vec<Output>)) -> Option<&'static str> {
    let bridge = McpAqlBridge::new(Bounds::SMALL).expect("the presets are in range");
    let (mut state, mut host) = bridge.begin();
    let (&last, before) = RUN[..steps].split_last().expect("a step at least");
    for &action in before {
        state = bridge.step(&state, &mut host, action).expect("they agree");
    }
    let mut answers = Environment::call(&bridge, &state, &mut host, last).expect("a call");
    change(&mut answers[0].outputs);
    let compared = Environment::compare(&bridge, &state, &mut host, last, &answers);
    compared.err().map(|disagreement| disagreement.clause)
}

fn entry(outputs: &mut [Output]) -> &mut AuditEntry {
    let Output::Audit(Audit::Token(entry)) = &mut outputs[0] else {
        panic!("an entry comes first");
    };
    entry
}

fn failure(outputs: &mut [Output]) -> &mut Failure {
    let Output::Respond(Response::Failed(failure)) = &mut outputs[1] else {
        panic!("a failure comes second");
    };
    failure
}

fn question(outputs: &mut [Output]) -> &mut ConfirmationRequired {
    let Details::ConfirmationRequired(required) = &mut failure(outputs).details else {
        panic!("the failure asks for a confirmation");
    };
    required
}

fn performed(outputs: &mut [Output]) -> &mut Operation {
    let Output::Perform(operation) = &mut outputs[1] else {
        panic!("an operation comes second");
    };
    operation
}

fn other_operation() -> OperationName {
    OperationName::parse("other").expect("a name")
}

fn secret() -> String {
    spelling::SECRET.to_owned()
}

type Change = fn(&mut Vec<Output>);

/// AQL-6.4-1: an entry is right in every field, there is one, and it comes first.
#[test]
fn an_audit_entry_is_held_against_the_call() {
    let changes: [(Change, Option<&str>); 8] = [
        (|_| {}, None),
        (
            |outputs| entry(outputs).timestamp = Timestamp::MIN,
            Some("AQL-6.4-1"),
        ),
        (|outputs| entry(outputs).token_id = None, Some("AQL-6.4-1")),
        (
            |outputs| entry(outputs).operation = other_operation(),
            Some("AQL-6.4-1"),
        ),
        (
            |outputs| entry(outputs).client_context = None,
            Some("AQL-6.4-1"),
        ),
        (
            |outputs| entry(outputs).failure_reason = Some(FailureReason::Unknown),
            Some("AQL-6.4-1"),
        ),
        (|outputs| drop(outputs.remove(0)), Some("AQL-1.2-5")),
        (
            |outputs| outputs.insert(0, outputs[0].clone()),
            Some("AQL-1.2-5"),
        ),
    ];
    for (number, (change, clause)) in changes.into_iter().enumerate() {
        for steps in [2, 4] {
            assert_eq!(judged(steps, change), clause, "change {number} of {steps}");
        }
    }
}

/// AQL-3.3-1, AQL-6.3-4, AQL-5.1-1, AQL-2.1-1: the client is told what was called, how dangerous it is, and until when.
#[test]
fn a_question_is_held_against_the_call() {
    let changes: [(Change, &str); 7] = [
        (
            |outputs| question(outputs).operation = other_operation(),
            "AQL-3.3-1",
        ),
        (
            |outputs| question(outputs).danger_level = DangerLevel::Forbidden,
            "AQL-3.3-1",
        ),
        (|outputs| question(outputs).reasons.clear(), "AQL-6.3-4"),
        (
            |outputs| question(outputs).confirmation_message = secret(),
            "AQL-6.3-4",
        ),
        (
            |outputs| question(outputs).expires_at = Timestamp::MAX,
            "AQL-5.1-1",
        ),
        (
            |outputs| {
                let token = "quota_continue_0123456789";
                let token = ConfirmationToken::parse(token).expect("a token");
                question(outputs).confirmation_token = token;
            },
            "AQL-2.1-1",
        ),
        (|outputs| drop(outputs.pop()), "AQL-6.4-1"),
    ];
    for (number, (change, clause)) in changes.into_iter().enumerate() {
        assert_eq!(judged(2, change), Some(clause), "change {number}");
    }
}

/// AQL-1.2-3, AQL-5.2-1, AQL-5.2-2: what is performed is what was confirmed, to the byte, once, and after it was used.
#[test]
fn what_is_performed_is_held_against_the_call() {
    let changes: [(Change, &str); 6] = [
        (
            |outputs| performed(outputs).operation = other_operation(),
            "AQL-1.2-3",
        ),
        (
            |outputs| {
                let params = performed(outputs).params.as_bytes();
                let params = [params, b" "].concat();
                performed(outputs).params = Parameters::new(params);
            },
            "AQL-1.2-3",
        ),
        (|outputs| performed(outputs).session_id = None, "AQL-1.2-3"),
        (|outputs| outputs.push(outputs[1].clone()), "AQL-5.2-1"),
        (|outputs| outputs.reverse(), "AQL-5.2-2"),
        (|outputs| drop(outputs.pop()), "AQL-1.3-2"),
    ];
    for (number, (change, clause)) in changes.into_iter().enumerate() {
        assert_eq!(judged(4, change), Some(clause), "change {number}");
    }
}

/// AQL-4.2-1, AQL-6.3-1, AQL-5.4-4: a failure has its code, its message and its details, and no parameter.
#[test]
fn a_failure_is_held_against_its_code() {
    let changes: [(Change, Option<&str>); 6] = [
        (|_| {}, None),
        (|outputs| failure(outputs).message = "no", Some("AQL-4.2-1")),
        (
            |outputs| failure(outputs).details = Details::Nothing {},
            Some("AQL-4.2-1"),
        ),
        (
            |outputs| failure(outputs).details = Details::Problem { problem: secret() },
            Some("AQL-6.3-1"),
        ),
        (
            |outputs| {
                let failure = failure(outputs);
                failure.code = ErrorCode::TokenInvalid;
                failure.message = failure.code.message();
            },
            Some("AQL-5.4-4"),
        ),
        (
            |outputs| entry(outputs).failure_reason = Some(FailureReason::OtherAdapter),
            Some("AQL-5.4-4"),
        ),
    ];
    for (number, (change, clause)) in changes.into_iter().enumerate() {
        assert_eq!(judged(6, change), clause, "change {number}");
    }
}
