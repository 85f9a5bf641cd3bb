//! The JSON of what goes in and what comes out.

use countersign_reference::mcp_aql::{Call, DangerLevel, Input, Output, Parameters, Query};
use serde_json::{Value, json};

use crate::mcp_aql::stage::{
    Stage, call, call_in_session, configure, end_session, introspect, revoke, session, with_token,
};

fn told(output: &Output) -> Value {
    serde_json::to_value(output).expect("JSON")
}

/// AQL-3.3-1, AQL-6.3-4: every field of the response that asks for confirmation, in the host's words or in its own.
#[test]
fn the_request_for_confirmation_has_every_field() {
    let mut stage = Stage::new();
    let outputs = stage.outputs(Input::Call(call()));
    let token = crate::mcp_aql::stage::issued(&outputs).expect("issued");
    assert_eq!(
        told(&outputs[1]),
        json!({"respond": {
            "success": false,
            "error": {
                "code": "CONFIRMATION_REQUIRED",
                "message": "This operation has to be confirmed.",
                "details": {
                    "operation": "delete_repo",
                    "danger_level": "destructive",
                    "reasons": ["The operation destroys something."],
                    "confirmation_message": "Do you want to run delete_repo?",
                    "confirmation_token": token,
                    "expires_at": "2026-05-24T14:27:20.000Z",
                },
            },
        }})
    );
    let worded = Call {
        reasons: Some(vec!["It is gone.".into()]),
        confirmation_message: Some("Really?".into()),
        ..call()
    };
    let outputs = stage.outputs(Input::Call(worded));
    let details = &told(&outputs[1])["respond"]["error"]["details"];
    assert_eq!(details["reasons"], json!(["It is gone."]));
    assert_eq!(details["confirmation_message"], json!("Really?"));
}

/// AQL-3.3-1, AQL-6.3-4: whoever has to confirm is told something, also where the host had nothing to say.
#[test]
fn blank_words_of_the_host_are_none() {
    for (reasons, message) in [(vec![], ""), (vec![String::new(), " ".into()], "\n")] {
        let worded = Call {
            reasons: Some(reasons),
            confirmation_message: Some(message.into()),
            ..call()
        };
        let outputs = Stage::new().outputs(Input::Call(worded));
        let details = &told(&outputs[1])["respond"]["error"]["details"];
        assert_eq!(
            details["reasons"],
            json!(["The operation destroys something."])
        );
        assert_eq!(
            details["confirmation_message"],
            json!("Do you want to run delete_repo?")
        );
    }
}

/// AQL-6.4-1, AQL-1.2-5: every field of an entry, through the life of a token. The token itself is in none.
#[test]
fn an_audit_entry_has_every_field() {
    let mut stage = Stage::new();
    let outputs = stage.outputs(Input::Call(call_in_session(2)));
    let token = crate::mcp_aql::stage::issued(&outputs)
        .expect("issued")
        .clone();
    let entry = |event: &str, failure: Option<&str>| {
        let mut entry = json!({
            "timestamp": "2026-05-24T14:22:20.000Z",
            "event": event,
            "token_id": token.id(),
            "operation": "delete_repo",
            "adapter_name": "github",
            "outcome": if failure.is_some() { "failure" } else { "success" },
            "client_context": {"session_id": "s1"},
        });
        if let Some(reason) = failure {
            entry["failure_reason"] = json!(reason);
        }
        json!({ "audit": entry })
    };
    assert_eq!(told(&outputs[0]), entry("TOKEN_ISSUED", None));
    let retry = with_token(call_in_session(2), &token);
    let outputs = stage.outputs(Input::Call(retry.clone()));
    assert_eq!(told(&outputs[0]), entry("TOKEN_VALIDATED", None));
    let other = Call {
        params: Parameters::new("{}"),
        ..retry
    };
    let outputs = stage.outputs(Input::Call(other));
    assert_eq!(
        told(&outputs[0]),
        entry("TOKEN_REJECTED", Some("other_parameters"))
    );
    let outputs = stage.outputs(end_session("s1"));
    assert_eq!(told(&outputs[0]), entry("TOKEN_REVOKED", None));
    let outputs = stage.outputs(revoke(&token));
    assert_eq!(told(&outputs[0]), entry("TOKEN_REVOKED", Some("revoked")));
    assert_eq!(token.id().to_string().len(), 16);
    let unknown = stage.outputs(introspect(Query::RevokeToken, "guessed"));
    assert_eq!(
        told(&unknown[0]),
        json!({"audit": {
            "timestamp": "2026-05-24T14:22:20.000Z",
            "event": "TOKEN_REVOKED",
            "token_id": "34d8f9557511183a",
            "operation": "introspect",
            "adapter_name": "countersign-reference",
            "outcome": "failure",
            "failure_reason": "malformed",
        }})
    );
}

/// AQL-5.1-6
#[test]
fn a_warning_says_so() {
    let outputs = Stage::new().outputs(configure(Some(120)));
    assert_eq!(
        told(&outputs[0]),
        json!({"audit": {
            "timestamp": "2026-05-24T14:22:20.000Z",
            "kind": "warning",
            "clause": "AQL-5.1-6",
            "adapter_name": "github",
            "text": "Tokens are taken for 120 s after they have expired.",
        }})
    );
}

/// AQL-7.3-1, AQL-5.3-3: the answers of introspection.
#[test]
fn introspection_answers_in_json() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    let mut ask = |query, token: &str| {
        told(
            stage
                .outputs(introspect(query, token))
                .last()
                .expect("an answer"),
        )
    };
    assert_eq!(
        ask(Query::TokenStatus, token.as_str()),
        json!({"respond": {"success": true, "data": {
            "status": "live", "uses_left": 1, "expires_at": "2026-05-24T14:27:20.000Z",
        }}})
    );
    assert_eq!(
        ask(Query::TokenStatus, "guessed"),
        json!({"respond": {"success": true, "data": {"status": "unknown"}}})
    );
    assert_eq!(
        ask(Query::RevokeToken, token.as_str()),
        json!({"respond": {"success": true, "data": {"revoked": true}}})
    );
    assert_eq!(
        ask(Query::RevokeToken, "conf_guessed"),
        json!({"respond": {"success": false, "error": {
            "code": "TOKEN_INVALID",
            "message": "The confirmation token is not valid.",
            "details": {},
        }}})
    );
}

/// AQL-1.3-2: the operation comes out with its parameters as they came in.
#[test]
fn an_operation_comes_out_as_it_came_in() {
    let mut stage = Stage::new();
    let safe = Call {
        danger_level: DangerLevel::Safe,
        session_id: Some(session("s1")),
        ..call()
    };
    let outputs = stage.outputs(Input::Call(safe.clone()));
    assert_eq!(
        told(&outputs[0]),
        json!({"perform": {
            "operation": "delete_repo",
            "params": {"owner": "acme", "repo": "widgets"},
            "adapter": "github",
            "session_id": "s1",
        }})
    );
    let Output::Perform(operation) = &outputs[0] else {
        panic!("not performed");
    };
    assert_eq!(operation.params, safe.params);
}

/// AQL-3.2-3: a key twice, at any depth, and a number that no double carries.
#[test]
fn parameters_that_say_two_things_get_no_token() {
    for (params, told) in [
        (r#"{"repo":"a","id":1}"#, "respond ConfirmationRequired"),
        (
            r#"{"repo":"a","id":9007199254740991}"#,
            "respond ConfirmationRequired",
        ),
        (r#"{"repo":"a","repo":"b"}"#, "respond InvalidParams"),
        (
            r#"{"a":[{"repo":"a","repo":"a"}]}"#,
            "respond InvalidParams",
        ),
        (r#"{"id":9007199254740993}"#, "respond ConfirmationRequired"),
        (
            r#"{"id":12345678901234567890123}"#,
            "respond ConfirmationRequired",
        ),
        (
            r#"{"id":-12345678901234567890123.0}"#,
            "respond InvalidParams",
        ),
    ] {
        let outputs = Stage::new().outputs(Input::Call(Call {
            params: Parameters::new(params),
            ..call()
        }));
        assert_eq!(crate::mcp_aql::stage::tell(&outputs[1]), told, "{params}");
    }
}

/// AQL-3.2-3: what JSON within JSON cannot carry goes out as a text.
#[test]
fn parameters_that_json_cannot_carry_go_out_as_text() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(64), "]".repeat(64));
    for text in [
        "\"a\"",
        "9007199254740993",
        "not JSON",
        "{",
        r#"{"a": 1, "a": 2}"#,
        &deep,
        r#"{"a": "\ud800"}"#,
        r#"{"a": 9007199254740993}"#,
        r#"{"a": [{"b": 1e400}]}"#,
    ] {
        assert_eq!(
            serde_json::to_value(Parameters::new(text)).ok(),
            Some(json!(text))
        );
    }
}

/// AQL-3.2-3: what comes out as JSON means what came in, to the last digit.
#[test]
fn parameters_come_out_as_they_came_in() {
    for text in [
        "{}",
        "[1,null]",
        "false",
        r#"{"a":[null,true,false,"\u0007é",{}],"b":{"c":[]}}"#,
        r#"{"a":9007199254740992,"b":-9007199254740992,"c":0}"#,
        r#"{"a":1424953923781206.2,"b":5e-324,"c":1.7976931348623157e+308}"#,
        r#"{"$serde_json::private::RawValue":"{\"repo\":\"another\"}"}"#,
    ] {
        let written = serde_json::to_string(&Parameters::new(text)).ok();
        assert_eq!(written.as_deref(), Some(text));
    }
}

/// AQL-7.1-1, AQL-7.1-2: each reason falls under its clause, and has its code.
#[test]
fn reasons_name_their_clauses_and_codes() {
    use countersign_reference::mcp_aql::{ErrorCode as Code, FailureReason as Reason};
    for (reason, clause, code) in [
        (Reason::Malformed, "AQL-2.2-1", Code::TokenInvalid),
        (Reason::Unknown, "AQL-4.1-1", Code::TokenInvalid),
        (Reason::Revoked, "AQL-5.3-1", Code::TokenInvalid),
        (Reason::Expired, "AQL-4.1-2", Code::TokenExpired),
        (Reason::AlreadyUsed, "AQL-4.1-3", Code::TokenAlreadyUsed),
        (Reason::OtherPurpose, "AQL-2.1-1", Code::TokenScopeMismatch),
        (
            Reason::OtherOperation,
            "AQL-4.1-4",
            Code::TokenScopeMismatch,
        ),
        (
            Reason::OtherParameters,
            "AQL-4.1-5",
            Code::TokenScopeMismatch,
        ),
        (Reason::OtherAdapter, "AQL-4.1-6", Code::TokenScopeMismatch),
        (Reason::OtherScope, "AQL-3.2-1", Code::TokenScopeMismatch),
        (Reason::OtherRating, "AQL-5.1-1", Code::TokenScopeMismatch),
        (Reason::OtherSession, "AQL-6.1-2", Code::TokenScopeMismatch),
        (Reason::InvalidParams, "AQL-3.2-3", Code::InvalidParams),
        (Reason::RateLimited, "AQL-6.5-1", Code::RateLimited),
        (
            Reason::CapacityExceeded,
            "AQL-5.5-3",
            Code::CapacityExceeded,
        ),
    ] {
        assert_eq!(reason.clause().to_string(), clause);
        assert_eq!(reason.code(), code, "{clause}");
    }
}
