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
use crate::naming::changed::{self, FREE};

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

type Change = changed::Change<Environment>;

/// Each change of what so many steps put out at last goes against its clause.
#[track_caller]
fn all_noticed(steps: usize, changes: &[(Change, &str)]) {
    let bridge = McpAqlBridge::new(Bounds::SMALL).expect("the presets are in range");
    changed::all_noticed(&bridge, &RUN[..steps], changes);
}

/// AQL-6.4-1: an entry is right in every field, there is one.
#[test]
fn an_audit_entry_is_held_against_the_call() {
    let changes: &[(Change, &str)] = &[
        (
            |outputs| entry(outputs).timestamp = Timestamp::MIN,
            "AQL-6.4-1",
        ),
        (|outputs| entry(outputs).token_id = None, "AQL-6.4-1"),
        (
            |outputs| entry(outputs).operation = other_operation(),
            "AQL-6.4-1",
        ),
        (|outputs| entry(outputs).client_context = None, "AQL-6.4-1"),
        (
            |outputs| entry(outputs).failure_reason = Some(FailureReason::Unknown),
            "AQL-6.4-1",
        ),
        (|outputs| drop(outputs.remove(0)), "AQL-6.4-1"),
    ];
    for steps in [2, 4] {
        all_noticed(steps, changes);
    }
    let twice: Change = |outputs| outputs.insert(0, outputs[0].clone());
    all_noticed(2, &[(twice, "AQL-6.4-1")]);
    // The redemption may be logged beside the validation.
    all_noticed(4, &[(twice, FREE)]);
}

/// AQL-3.3-1, AQL-6.3-4, AQL-5.1-1, AQL-2.1-1: the client is told what was called, how dangerous it is, and until when.
#[test]
fn a_question_is_held_against_the_call() {
    let changes: &[(Change, &str)] = &[
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
    all_noticed(2, changes);
}

/// AQL-1.2-3, AQL-1.3-2: what is performed is what was confirmed, to the byte, and once.
#[test]
fn what_is_performed_is_held_against_the_call() {
    let changes: &[(Change, &str)] = &[
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
        (|outputs| outputs.push(outputs[1].clone()), "AQL-1.3-2"),
        (|outputs| outputs.reverse(), FREE),
        (|outputs| drop(outputs.pop()), "AQL-1.3-2"),
    ];
    all_noticed(4, changes);
}

/// AQL-4.2-1, AQL-6.3-1: a failure has its code, its message and its details, and no parameter.
#[test]
fn a_failure_is_held_against_its_code() {
    let changes: &[(Change, &str)] = &[
        (|outputs| failure(outputs).message = "no", "AQL-4.2-1"),
        (
            |outputs| failure(outputs).details = Details::Nothing {},
            "AQL-4.2-1",
        ),
        (
            |outputs| failure(outputs).details = Details::Problem { problem: secret() },
            "AQL-6.3-1",
        ),
        (
            |outputs| {
                let failure = failure(outputs);
                failure.code = ErrorCode::TokenInvalid;
                failure.message = failure.code.message();
                failure.details = Details::Nothing {};
            },
            FREE,
        ),
        (
            |outputs| entry(outputs).failure_reason = Some(FailureReason::OtherAdapter),
            FREE,
        ),
    ];
    all_noticed(6, changes);
}

/// AQL-6.5-1, AQL-5.5-3, AQL-6.4-1: what is turned away has one entry that says why, and the client is told when to come again.
#[test]
fn what_is_turned_away_is_held_against_the_call() {
    let [set_up, request, ..] = RUN;
    let revoke = Action::Revoke(Carried::Guessed);
    let status = Action::AskStatus(Carried::Guessed);
    let of_entry: [(Change, &str); 5] = [
        (
            |outputs| entry(outputs).event = executor::TokenEvent::TokenValidated,
            "AQL-6.4-1",
        ),
        (
            |outputs| entry(outputs).failure_reason = Some(FailureReason::Unknown),
            "AQL-6.4-1",
        ),
        (
            |outputs| entry(outputs).operation = other_operation(),
            "AQL-6.4-1",
        ),
        (|outputs| drop(outputs.remove(0)), "AQL-6.4-1"),
        (|outputs| outputs.push(outputs[0].clone()), "AQL-6.4-1"),
    ];
    let later: [(Change, &str); 4] = [
        (|outputs| failure(outputs).message = "no", "AQL-6.5-1"),
        (
            |outputs| failure(outputs).details = Details::Nothing {},
            "AQL-6.5-1",
        ),
        (|outputs| *retry_after(outputs) = 4_294_969, "AQL-6.5-1"),
        (|outputs| *retry_after(outputs) -= 1, "AQL-6.5-1"),
    ];
    let full: [(Change, &str); 1] = [(
        |outputs| {
            failure(outputs).details = Details::RetryAfter {
                retry_after_seconds: 1,
            };
        },
        "AQL-5.5-3",
    )];
    for (bounds, action, of_answer) in [
        (Bounds::LIMITED, request, &later[..]),
        (Bounds::LIMITED, revoke, &later),
        (Bounds::LIMITED, status, &later),
        (Bounds::CROWDED, request, &full),
    ] {
        let bridge = McpAqlBridge::new(bounds).expect("the presets are in range");
        let changes = [&of_entry, of_answer].concat();
        changed::all_noticed(&bridge, &[set_up, action, action], &changes);
    }
}

fn retry_after(outputs: &mut [Output]) -> &mut i64 {
    let Details::RetryAfter {
        retry_after_seconds,
    } = &mut failure(outputs).details
    else {
        panic!("the failure says when to come again");
    };
    retry_after_seconds
}
