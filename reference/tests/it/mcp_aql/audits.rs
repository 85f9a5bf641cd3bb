//! The operator's log, entry by entry: everything that is done with a token, with every field.

use countersign_reference::mcp_aql::{
    Call, Capacity, ConfirmationToken, DangerLevel, Gatekeeper, Input, Output, Parameters, Purpose,
    Query, RateLimit, RateLimits, Settings, SigningKey, TokenId,
};
use serde_json::{Value, json};

use crate::mcp_aql::stage::{
    START, Stage, VALID_UNTIL, adapter, call, call_in_session, introspect, issued, operation,
    revoke, session, token, with_token,
};

/// The entries among the outputs.
fn entries(outputs: &[Output]) -> Vec<Value> {
    let outputs = outputs.iter().map(serde_json::to_value);
    let entries = outputs.map(|output| output.expect("JSON")["audit"].take());
    entries.filter(|entry| !entry.is_null()).collect()
}

/// An entry of `delete_repo` of `github` in session `s1`.
fn entry(at: &str, event: &str, token_id: Option<TokenId>, reason: Option<&str>) -> Value {
    let mut entry = json!({
        "timestamp": at,
        "event": event,
        "operation": "delete_repo",
        "adapter_name": "github",
        "outcome": if reason.is_some() { "failure" } else { "success" },
        "client_context": {"session_id": "s1"},
    });
    if let Some(token_id) = token_id {
        entry["token_id"] = json!(token_id);
    }
    if let Some(reason) = reason {
        entry["failure_reason"] = json!(reason);
    }
    entry
}

/// AQL-6.4-1: how the log names `guessed`, which has not the form of a token: by the first digits of its SHA-256, as any other.
const OF_GUESSED: &str = "34d8f9557511183a";

/// An entry of a token of which nothing is remembered.
fn of_the_unknown(at: &str, token_id: Option<TokenId>, reason: Option<&str>) -> Value {
    let mut entry = entry(at, "TOKEN_REVOKED", token_id, reason);
    entry["operation"] = json!("introspect");
    entry["adapter_name"] = json!("countersign-reference");
    let members = entry.as_object_mut().expect("an object");
    members.remove("client_context");
    entry
}

/// Two at once, then one a second.
fn limited() -> Settings {
    let limit = Some(RateLimit::new(2, 1_000).expect("in bounds"));
    Settings {
        capacity: Capacity::new(1_000).expect("in bounds"),
        rate_limits: RateLimits {
            issuance: limit,
            failed_validation: limit,
            revocation: limit,
        },
        ..Settings::default()
    }
}

/// When each of the entries is made: not when its token was issued.
const LATER: &str = "2026-05-24T14:22:21.500Z";

/// AQL-6.4-1, AQL-1.2-5: why no token came into being. What does not exist has no name, not even an empty one.
#[test]
fn every_token_that_is_not_issued_is_logged() {
    let fails = |stage: &mut Stage, call: Call, reason| {
        stage.now = START + 1_500;
        let logged = entries(&stage.outputs(Input::Call(call)));
        assert_eq!(logged, [entry(LATER, "TOKEN_ISSUED", None, Some(reason))]);
    };
    let mut stage = Stage::new();
    let twice = Call {
        params: Parameters::new(r#"{"a": 1, "a": 1}"#),
        ..call_in_session(1)
    };
    fails(&mut stage, twice, "invalid_params");
    let mut stage = Stage::with(limited());
    stage.now = START + 1_500;
    stage.asks(call());
    stage.asks(call());
    fails(&mut stage, call_in_session(1), "rate_limited");
    let mut stage = Stage::with(Settings {
        rate_limits: RateLimits::default(),
        ..limited()
    });
    for _ in 0..1_000 {
        stage.asks(call());
    }
    fails(&mut stage, call_in_session(1), "capacity_exceeded");
}

/// A token, and a call that comes with it.
struct Scene {
    stage: Stage,
    token: ConfirmationToken,
    call: Call,
}

/// AQL-6.4-1, AQL-7.1-1: each way for a token not to be honoured, with the token, the call and the session that came.
#[test]
fn every_rejection_is_logged() {
    type Fault = fn(&mut Scene);
    let faults: [(&str, Fault); 12] = [
        ("revoked", |scene| {
            scene.stage.does(revoke(&scene.token));
        }),
        ("expired", |scene| scene.stage.now = VALID_UNTIL + 1),
        ("already_used", |scene| {
            scene.stage.does(Input::Call(scene.call.clone()));
        }),
        ("other_purpose", |scene| {
            scene.call.purpose = Purpose::QuotaContinue;
            scene.call.danger_level = DangerLevel::Safe;
        }),
        ("other_operation", |scene| {
            scene.call.operation = operation("delete_org");
        }),
        ("other_rating", |scene| {
            scene.call.danger_level = DangerLevel::Forbidden;
        }),
        ("other_parameters", |scene| {
            scene.call.params = Parameters::new("{}");
        }),
        ("other_adapter", |scene| {
            scene.call.adapter = Some(adapter("gitlab"));
        }),
        ("invalid_params", |scene| {
            scene.call.params = Parameters::new("{");
        }),
        ("rate_limited", |scene| {
            let guess = with_token(scene.call.clone(), &token("conf_guessed"));
            scene.stage.does(Input::Call(guess.clone()));
            scene.stage.does(Input::Call(guess));
        }),
        ("unknown", |scene| {
            scene.token = token("conf_guessed");
            scene.call = with_token(scene.call.clone(), &scene.token);
        }),
        ("malformed", |scene| {
            scene.call.confirmation_token = Some("guessed".into());
        }),
    ];
    for (reason, fault) in faults {
        let mut stage = Stage::with(limited());
        let token = stage.asks(call_in_session(1));
        let call = with_token(call_in_session(1), &token);
        stage.now = START + 1_500;
        let mut scene = Scene { stage, token, call };
        fault(&mut scene);
        let called = scene.call.clone();
        let logged = entries(&scene.stage.outputs(Input::Call(scene.call)));
        let mut expected = entry(
            LATER,
            "TOKEN_REJECTED",
            Some(scene.token.id()),
            Some(reason),
        );
        if reason == "malformed" {
            expected["token_id"] = json!(OF_GUESSED);
        }
        if reason == "expired" {
            expected["timestamp"] = json!("2026-05-24T14:27:50.001Z");
        }
        expected["operation"] = json!(called.operation);
        expected["adapter_name"] = json!(called.adapter);
        assert_eq!(logged, [expected]);
    }
    // A token of a session that comes in another: the entry names the session that it came in.
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(2));
    stage.now = START + 1_500;
    let mut elsewhere = with_token(call_in_session(2), &token);
    elsewhere.session_id = Some(session("s2"));
    let mut expected = entry(
        LATER,
        "TOKEN_REJECTED",
        Some(token.id()),
        Some("other_session"),
    );
    expected["client_context"] = json!({"session_id": "s2"});
    assert_eq!(entries(&stage.outputs(Input::Call(elsewhere))), [expected]);
}

/// AQL-6.4-1: issued, used, used again; by then the operation is out, and each time the log has it first.
#[test]
fn every_use_is_logged_before_the_operation_comes_out() {
    let mut stage = Stage::new();
    stage.now = START + 1_500;
    let outputs = stage.outputs(Input::Call(call_in_session(2)));
    let token = issued(&outputs).expect("a token").clone();
    let id = Some(token.id());
    assert!(matches!(
        outputs[..],
        [Output::Audit(_), Output::Respond(_)]
    ));
    assert_eq!(entries(&outputs), [entry(LATER, "TOKEN_ISSUED", id, None)]);
    for _ in 0..2 {
        stage.now += 1;
        let outputs = stage.outputs(Input::Call(with_token(call_in_session(2), &token)));
        assert!(matches!(
            outputs[..],
            [Output::Audit(_), Output::Perform(_)]
        ));
        let at = format!("2026-05-24T14:22:21.50{}Z", stage.now - START - 1_500);
        assert_eq!(entries(&outputs), [entry(&at, "TOKEN_VALIDATED", id, None)]);
    }
    // Outside of any session there is no client to tell of.
    let mut expected = entry(LATER, "TOKEN_ISSUED", None, None);
    let outputs = stage.outputs(Input::Call(call()));
    expected["timestamp"] = json!("2026-05-24T14:22:21.502Z");
    expected["token_id"] = json!(issued(&outputs).expect("a token").id());
    expected
        .as_object_mut()
        .expect("an object")
        .remove("client_context");
    assert_eq!(entries(&outputs), [expected]);
}

/// AQL-6.4-1, AQL-5.3-3: what is asked to be taken back, whether it is or not: of which token, and what that was for.
#[test]
fn every_request_to_revoke_is_logged() {
    let mut stage = Stage::with(limited());
    let many = stage.asks(call_in_session(2));
    let other = Call {
        operation: operation("delete_org"),
        adapter: Some(adapter("gitlab")),
        danger_level: DangerLevel::Dangerous,
        ..call()
    };
    let other = stage.asks(other);
    stage.now = START + 1_500;
    let mut revokes = |text: &str, seconds: i64| {
        stage.now += seconds * 1_000;
        entries(&stage.outputs(introspect(Query::RevokeToken, text)))
    };
    // A token that is bound to a session names it. One that is not, does not.
    let expected = entry(LATER, "TOKEN_REVOKED", Some(many.id()), None);
    assert_eq!(revokes(many.as_str(), 0), [expected]);
    let mut expected = entry(LATER, "TOKEN_REVOKED", Some(other.id()), None);
    expected["operation"] = json!("delete_org");
    expected["adapter_name"] = json!("gitlab");
    expected
        .as_object_mut()
        .expect("an object")
        .remove("client_context");
    assert_eq!(revokes(other.as_str(), 0), [expected]);
    let limited = of_the_unknown(LATER, Some(many.id()), Some("rate_limited"));
    assert_eq!(revokes(many.as_str(), 0), [limited]);
    let again = entry(
        "2026-05-24T14:22:23.500Z",
        "TOKEN_REVOKED",
        Some(many.id()),
        Some("revoked"),
    );
    assert_eq!(revokes(many.as_str(), 2), [again]);
    let guess = token("conf_guessed").id();
    let unknown = of_the_unknown("2026-05-24T14:22:25.500Z", Some(guess), Some("unknown"));
    assert_eq!(revokes("conf_guessed", 2), [unknown]);
    let mut malformed = of_the_unknown("2026-05-24T14:22:27.500Z", None, Some("malformed"));
    malformed["token_id"] = json!(OF_GUESSED);
    assert_eq!(revokes("guessed", 2), [malformed]);
}

/// AQL-6.4-1, AQL-7.3-1: who asks for a status has a token looked at, and the entry is that of a validation: of the operation
/// `introspect`, by the adapter asked, with the token's name and why it is no good.
#[test]
fn every_request_for_a_status_is_logged() {
    let mut stage = Stage::new();
    let (live, used, revoked) = (stage.asks(call()), stage.asks(call()), stage.asks(call()));
    stage.retries(&used);
    stage.does(revoke(&revoked));
    stage.now = START + 1_500;
    let of_guessed = token("conf_guessed").id();
    for (text, token_id, reason) in [
        (live.as_str(), json!(live.id()), None),
        (used.as_str(), json!(used.id()), Some("already_used")),
        (revoked.as_str(), json!(revoked.id()), Some("revoked")),
        ("conf_guessed", json!(of_guessed), Some("unknown")),
        ("guessed", json!(OF_GUESSED), Some("malformed")),
    ] {
        for asked in [None, Some("gitlab")] {
            let mut expected = of_the_unknown(LATER, None, reason);
            let event = if reason.is_some() {
                "TOKEN_REJECTED"
            } else {
                "TOKEN_VALIDATED"
            };
            expected["event"] = json!(event);
            expected["token_id"] = token_id.clone();
            if let Some(asked) = asked {
                expected["adapter_name"] = json!(asked);
            }
            let outputs = stage.outputs(Input::Introspect {
                adapter: asked.map(adapter),
                query: Query::TokenStatus,
                token: text.into(),
            });
            assert_eq!(entries(&outputs), [expected], "{text}");
        }
    }
    stage.now = VALID_UNTIL + 1;
    let late = entries(&stage.outputs(introspect(Query::TokenStatus, live.as_str())));
    assert_eq!(late[0]["failure_reason"], "expired");
}

/// AQL-6.4-1, AQL-5.3-1: a signed token that nobody has seen again is named, and nothing is known of what it was for.
#[test]
fn a_signed_token_that_is_given_back_is_logged() {
    let mut stage = Stage::new();
    stage.gatekeeper = Gatekeeper::signing(Settings::default(), SigningKey::from_bits([1, 2]));
    let token = stage.asks(call());
    stage.now = START + 1_500;
    for reason in [None, Some("revoked")] {
        let logged = entries(&stage.outputs(revoke(&token)));
        assert_eq!(logged, [of_the_unknown(LATER, Some(token.id()), reason)]);
    }
}
