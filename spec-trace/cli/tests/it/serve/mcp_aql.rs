//! Whole conversations with `countersign serve mcp-aql --stdio`, over pipes and with ids that count up.

use countersign_cli::serve::mcp_aql::McpAql;
use countersign_reference::ids::SequentialIds;
use countersign_reference::mcp_aql::{
    Capacity, Configuration, Persistence, RateLimit, RateLimits, Settings, Tolerance,
};
use countersign_store::ids::SystemIds;
use serde_json::json;

use super::driver::{Driver, NOW, timed};
use super::mcp_aql_stage::{
    ASKED, PERFORMED, about, connected, deletion, ready, rejected, summary, with_token,
};

/// When every token of these tests has expired, tolerance and all, and none is forgotten yet.
const LATER: &str = "2026-05-24T14:40:00.000Z";

#[test]
fn hello_says_who_is_here_and_what_it_can_do() {
    let mut driver = connected(Settings::default());
    let hello = r#"{"id":1,"op":"hello","driver":1,"protocol":"mcp-aql"}"#;
    let response = driver.send(hello);
    assert_eq!(
        response.to_string(),
        concat!(
            r#"{"id":1,"name":"countersign-reference "#,
            env!("CARGO_PKG_VERSION"),
            r#"","supports":["multi_use","session_scope","quota","introspect","restart"],"#,
            r#""shows":["perform","respond","audit","refused"]}"#
        )
    );
    driver.hang_up();
}

/// AQL-1.3-1: what is dangerous is not run but answered with a token. AQL-1.3-2: with the token it is run. AQL-4.1-3: once.
#[test]
fn a_confirmed_operation_runs_once() {
    let mut driver = ready();
    let asked = driver.ask("call", timed(NOW, deletion()));
    let [audit, respond] = asked["outputs"].as_array().unwrap().as_slice() else {
        panic!("two outputs expected in {asked}");
    };
    let token = format!("conf_{:032x}{:032x}", 1, 2);
    let issued = &audit["audit"];
    assert_eq!(
        (&issued["event"], &issued["outcome"]),
        (&json!("TOKEN_ISSUED"), &json!("success"))
    );
    // AQL-3.3-1
    let expected = json!({"respond": {"success": false, "error": {
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
    }}});
    assert_eq!(*respond, expected);

    let retry = with_token(deletion(), &token);
    let response = driver.ask("call", timed(NOW, retry.clone()));
    let outputs = response["outputs"].as_array().unwrap();
    assert_eq!(summary(&outputs[0]), "audit TOKEN_VALIDATED");
    let performed = json!({"perform": {
        "operation": "delete_repo",
        "params": {"owner": "acme", "repo": "widgets"},
        "adapter": "github",
    }});
    assert_eq!(outputs[1..], [performed]);

    let again = driver.at(NOW, "call", retry);
    assert_eq!(again, rejected("already_used", "TOKEN_ALREADY_USED"));
    driver.hang_up();
}

/// The adapter of a call that names none is `default`.
#[test]
fn a_call_without_an_adapter_is_one_of_the_default_adapter() {
    let mut call = deletion();
    call.as_object_mut().unwrap().remove("adapter");
    call["danger_level"] = json!("safe");
    let response = ready().ask("call", timed(NOW, call));
    assert_eq!(response["outputs"][0]["perform"]["adapter"], "default");
}

/// AQL-5.1-8: by its name or by its number, a level from 2 on is confirmed, and a quota whatever the level.
#[test]
fn a_danger_level_says_whether_to_ask() {
    let levels = [
        "safe",
        "reversible",
        "destructive",
        "dangerous",
        "forbidden",
    ];
    for (number, name) in levels.into_iter().enumerate() {
        for level in [json!(number), json!(name)] {
            let mut call = deletion();
            call["danger_level"] = level;
            let expected: &[&str] = match number {
                0 | 1 => &["perform delete_repo"],
                _asked => ASKED,
            };
            assert_eq!(ready().at(NOW, "call", call.clone()), expected, "{name}");
            call["purpose"] = json!("quota_continue");
            // AQL-2.1-1: a quota token confirms nothing.
            let prefix = match number {
                0 | 1 => "quota_continue_",
                _dangerous => "conf_",
            };
            assert!(ready().asks(call).starts_with(prefix), "{name}");
        }
    }
}

/// AQL-4.1-1, AQL-4.1-2, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-2.1-1, AQL-6.1-2: each fault has its code, and the token is
/// as it was.
#[test]
fn every_fault_has_its_code() {
    let mut driver = ready();
    let mut honest = deletion();
    honest["session_id"] = json!("s1");
    honest["max_uses"] = json!(2);
    let token = driver.asks(honest.clone());
    let honest = with_token(honest, &token);
    for (field, value, reason, code) in [
        (
            "confirmation_token",
            json!("conf_guessed"),
            "unknown",
            "TOKEN_INVALID",
        ),
        (
            "confirmation_token",
            json!("guessed"),
            "malformed",
            "TOKEN_INVALID",
        ),
        (
            "operation",
            json!("delete_org"),
            "other_operation",
            "TOKEN_SCOPE_MISMATCH",
        ),
        (
            "params",
            json!({"owner": "acme"}),
            "other_parameters",
            "TOKEN_SCOPE_MISMATCH",
        ),
        (
            "adapter",
            json!("gitlab"),
            "other_adapter",
            "TOKEN_SCOPE_MISMATCH",
        ),
        (
            "session_id",
            json!("s2"),
            "other_session",
            "TOKEN_SCOPE_MISMATCH",
        ),
        (
            "purpose",
            json!("quota_continue"),
            "other_purpose",
            "TOKEN_SCOPE_MISMATCH",
        ),
        ("params", json!("{"), "invalid_params", "INVALID_PARAMS"),
        (
            "params",
            json!([1]),
            "other_parameters",
            "TOKEN_SCOPE_MISMATCH",
        ),
    ] {
        let mut call = honest.clone();
        call[field] = value;
        // A quota pauses what is harmless.
        if field == "purpose" {
            call["danger_level"] = json!("safe");
        }
        assert_eq!(driver.at(NOW, "call", call), rejected(reason, code));
    }
    for _ in 0..2 {
        assert_eq!(driver.at(NOW, "call", honest.clone()), PERFORMED);
    }
    let late = driver.at(LATER, "call", honest);
    assert_eq!(late, rejected("expired", "TOKEN_EXPIRED"));
}

/// AQL-6.3-2: without an oracle a client cannot tell one fault from another; AQL-6.4-1: the operator can.
#[test]
fn without_an_oracle_every_fault_is_answered_alike() {
    let mut driver = ready();
    driver.at(
        NOW,
        "configure",
        json!({"adapter": "github", "oracle": "uniform"}),
    );
    let used = driver.asks(deletion());
    driver.at(NOW, "call", with_token(deletion(), &used));
    let live = driver.asks(deletion());
    let mut elsewhere = with_token(deletion(), &live);
    elsewhere["operation"] = json!("delete_org");
    let mut answers = Vec::new();
    for (call, reason) in [
        (with_token(deletion(), &used), "already_used"),
        (with_token(deletion(), "conf_guessed"), "unknown"),
        (with_token(deletion(), ""), "malformed"),
        (elsewhere, "other_operation"),
    ] {
        let response = driver.ask("call", timed(NOW, call));
        assert_eq!(response["outputs"][0]["audit"]["failure_reason"], reason);
        answers.push(response["outputs"][1].clone());
    }
    let error = &answers[0]["respond"]["error"];
    assert_eq!(
        (&error["code"], &error["details"]),
        (&json!("TOKEN_INVALID"), &json!({}))
    );
    assert!(
        answers.windows(2).all(|pair| pair[0] == pair[1]),
        "{answers:?}"
    );
    driver.at(
        NOW,
        "configure",
        json!({"adapter": "default", "oracle": "uniform"}),
    );
    for (token, entry, status) in [
        (live.as_str(), "TOKEN_VALIDATED", "live 1"),
        (&used, "TOKEN_REJECTED: already_used", "unknown"),
        ("", "TOKEN_REJECTED: malformed", "unknown"),
    ] {
        let told = driver.at(NOW, "introspect", about("token_status", token));
        assert_eq!(
            told,
            [format!("audit {entry}"), format!("respond {status}")]
        );
    }
}

/// AQL-5.1-7: a token is good until its expiry and the tolerance, both included. AQL-5.1-5: 30 s, or none at all.
#[test]
fn a_token_expires_after_the_tolerance() {
    for (tolerance, now, live) in [
        (None, "2026-05-24T14:27:49.999Z", true),
        (None, "2026-05-24T14:27:50.000Z", true),
        (None, "2026-05-24T14:27:50.001Z", false),
        (Some(0), "2026-05-24T14:27:19.999Z", true),
        (Some(0), "2026-05-24T14:27:20.000Z", true),
        (Some(0), "2026-05-24T14:27:20.001Z", false),
        (Some(300), "2026-05-24T14:32:19.999Z", true),
        (Some(300), "2026-05-24T14:32:20.000Z", true),
        (Some(300), "2026-05-24T14:32:20.001Z", false),
    ] {
        let mut driver = ready();
        if let Some(seconds) = tolerance {
            let fields = json!({"adapter": "github", "clock_skew_tolerance_seconds": seconds});
            driver.at(NOW, "configure", fields);
        }
        let token = driver.asks(deletion());
        let performed = driver.at(now, "call", with_token(deletion(), &token)) == PERFORMED;
        assert_eq!(performed, live, "{tolerance:?} {now}");
    }
}

/// AQL-5.1-3: a clock that goes back makes nothing live again.
#[test]
fn what_has_expired_stays_so_when_the_clock_goes_back() {
    let mut driver = ready();
    let token = driver.asks(deletion());
    assert_eq!(driver.at(LATER, "tick", json!({})), [""; 0]);
    for now in [NOW, "0001-01-01T00:00:00Z"] {
        let late = driver.at(now, "call", with_token(deletion(), &token));
        assert_eq!(late, rejected("expired", "TOKEN_EXPIRED"));
    }
}

/// AQL-6.1-1: the process dies between the question and the answer, and after the operation came out. What was asked can
/// be confirmed, and what was used is used.
#[test]
fn a_restart_keeps_tokens_and_performs_nothing_again() {
    let mut driver = ready();
    driver.at(
        NOW,
        "configure",
        json!({"adapter": "github", "oracle": "codes", "critical": {"delete_repo": ["repo"]}}),
    );
    let token = driver.asks(deletion());
    assert_eq!(driver.at(NOW, "restart", json!({})), [""; 0]);
    // The configuration is kept, too: the owner is not critical.
    let mut retry = with_token(deletion(), &token);
    retry["params"]["owner"] = json!("another");
    assert_eq!(driver.at(NOW, "call", retry.clone()), PERFORMED);
    assert_eq!(driver.at(NOW, "restart", json!({})), [""; 0]);
    let again = driver.at(NOW, "call", retry);
    assert_eq!(again, rejected("already_used", "TOKEN_ALREADY_USED"));
    let late = driver.at(LATER, "restart", json!({}));
    assert_eq!(late, [""; 0]);
}

/// AQL-5.4-2: the connections end with the process, and with them the tokens that are bound to them.
#[test]
fn a_restart_ends_every_session() {
    let mut driver = ready();
    let mut call = deletion();
    call["session_id"] = json!("s1");
    let unbound = driver.asks(call.clone());
    let mut several = call.clone();
    several["max_uses"] = json!(2);
    let bound = driver.asks(several.clone());
    assert_eq!(
        driver.at(NOW, "restart", json!({})),
        ["audit TOKEN_REVOKED"]
    );
    let revoked = driver.at(NOW, "call", with_token(several.clone(), &bound));
    assert_eq!(revoked, rejected("revoked", "TOKEN_INVALID"));
    // Whoever connects again is known by the same name.
    assert_eq!(driver.at(NOW, "call", several), ASKED);
    assert_eq!(
        driver.at(NOW, "call", with_token(call, &unbound)),
        PERFORMED
    );
}

/// AQL-5.4-1, AQL-6.1-2: a token is bound to its session where the call asks for it; several uses are bound in any case.
#[test]
fn a_call_can_ask_for_a_token_of_its_session() {
    let mut driver = ready();
    let scoped = |max_uses: u64, session_scope: bool| {
        let mut call = deletion();
        call["session_id"] = json!("s1");
        call["max_uses"] = json!(max_uses);
        call["session_scope"] = json!(session_scope);
        call
    };
    let refused = driver.at(NOW, "call", scoped(2, false));
    assert_eq!(refused, ["refused AQL-5.4-1"]);
    let mut outside = scoped(1, true);
    outside.as_object_mut().unwrap().remove("session_id");
    assert_eq!(driver.at(NOW, "call", outside), ["refused AQL-5.4-1"]);
    for (max_uses, session_scope, is_bound) in [(1, false, false), (1, true, true), (2, true, true)]
    {
        let token = driver.asks(scoped(max_uses, session_scope));
        let mut elsewhere = with_token(deletion(), &token);
        elsewhere["session_id"] = json!("s2");
        let told = driver.at(NOW, "call", elsewhere);
        if is_bound {
            assert_eq!(told, rejected("other_session", "TOKEN_SCOPE_MISMATCH"));
        } else {
            assert_eq!(told, PERFORMED);
        }
    }
    driver.hang_up();
}

/// AQL-6.3-2: the adapter that is asked answers, as it is configured.
#[test]
fn every_adapter_answers_introspection() {
    let mut driver = ready();
    driver.at(
        NOW,
        "configure",
        json!({"adapter": "gitlab", "oracle": "uniform"}),
    );
    let call = deletion();
    let token = driver.asks(call.clone());
    driver.at(NOW, "call", with_token(call, &token));
    for (adapter, code) in [
        ("default", "TOKEN_ALREADY_USED"),
        ("github", "TOKEN_ALREADY_USED"),
        ("gitlab", "TOKEN_INVALID"),
    ] {
        let asked =
            json!({"now": NOW, "adapter": adapter, "query": "revoke_token", "token": token});
        let response = driver.ask("introspect", asked);
        let [audit, respond] = response["outputs"].as_array().unwrap().as_slice() else {
            panic!("{response}");
        };
        assert_eq!(audit["audit"]["failure_reason"], "already_used");
        assert_eq!(respond["respond"]["error"]["code"], code, "{adapter}");
    }
    driver.hang_up();
}

/// AQL-5.1-6: above 60 s the settings are warned of at every reset, as `configure` is.
#[test]
fn a_reset_warns_of_a_long_tolerance() {
    for (seconds, warned) in [
        (60, vec![]),
        (61, vec!["audit warning"]),
        (300, vec!["audit warning"]),
    ] {
        let tolerance = Tolerance::from_seconds(seconds).unwrap();
        let configuration = Configuration {
            tolerance,
            ..Configuration::default()
        };
        let mut driver = connected(Settings {
            configuration: configuration.into(),
            ..Settings::default()
        });
        driver.send(r#"{"id":1,"op":"hello","driver":1,"protocol":"mcp-aql"}"#);
        for _ in 0..2 {
            assert_eq!(driver.at(NOW, "reset", json!({})), warned, "{seconds}");
            assert_eq!(driver.at(NOW, "tick", json!({})), [""; 0]);
        }
        driver.hang_up();
    }
}

/// AQL-7.3-2, AQL-6.2-2, AQL-5.4-1: a gatekeeper that signs can be served, and says what it cannot do then.
#[test]
fn signed_tokens_can_be_served() {
    let service = McpAql::signing(Settings::default(), SequentialIds::new());
    let mut driver = Driver::connected(service, summary);
    let hello = driver.send(r#"{"id":1,"op":"hello","driver":1,"protocol":"mcp-aql"}"#);
    assert_eq!(hello["supports"], json!(["quota", "introspect", "restart"]));
    driver.at(NOW, "reset", json!({}));
    let token = driver.asks(deletion());
    assert_eq!(token.len(), "conf_".len() + 64);
    let retry = with_token(deletion(), &token);
    assert_eq!(driver.at(NOW, "call", retry.clone()), PERFORMED);
    let again = driver.at(NOW, "call", retry.clone());
    assert_eq!(again, rejected("already_used", "TOKEN_ALREADY_USED"));
    // What was not declared is not supported, of a call that needs no token either; the rest of it is.
    for (field, value, is_supported) in [
        ("session_scope", json!(true), false),
        ("session_scope", json!(false), true),
        ("max_uses", json!(2), false),
        ("max_uses", json!(1), true),
    ] {
        for level in ["destructive", "safe"] {
            let mut scoped = deletion();
            scoped["danger_level"] = json!(level);
            scoped["session_id"] = json!("s1");
            scoped[field] = value.clone();
            let response = driver.ask("call", timed(NOW, scoped));
            assert_eq!(response["unsupported"] == true, !is_supported, "{field}");
        }
    }
    // Another reset, another key.
    driver.at(NOW, "reset", json!({}));
    let other = driver.at(NOW, "call", retry);
    assert_eq!(other, rejected("unknown", "TOKEN_INVALID"));
    driver.hang_up();
}

/// AQL-5.5-1: a store in memory loses every token, and then none is good.
#[test]
fn a_restart_without_a_store_forgets_every_token() {
    let settings = Settings {
        persistence: Persistence::InMemory,
        ..Settings::default()
    };
    let mut driver = connected(settings).greeted();
    let token = driver.asks(deletion());
    driver.at(NOW, "restart", json!({}));
    let retry = driver.at(NOW, "call", with_token(deletion(), &token));
    assert_eq!(retry, rejected("unknown", "TOKEN_INVALID"));
}

/// AQL-5.4-4: as often as it may be; AQL-5.4-2: until the session ends.
#[test]
fn a_token_of_a_session_is_good_for_several_calls_and_ends_with_it() {
    let mut call = deletion();
    call["session_id"] = json!("s1");
    call["max_uses"] = json!(3);
    let mut driver = ready();
    let token = driver.asks(call.clone());
    let retry = with_token(call.clone(), &token);
    for uses_left in [2, 1] {
        assert_eq!(driver.at(NOW, "call", retry.clone()), PERFORMED);
        let told = driver.at(NOW, "introspect", about("token_status", &token));
        let status = format!("respond live {uses_left}");
        assert_eq!(told, ["audit TOKEN_VALIDATED".to_owned(), status]);
    }
    let end = json!({"session_id": "s1"});
    assert_eq!(
        driver.at(NOW, "end_session", end.clone()),
        ["audit TOKEN_REVOKED"]
    );
    assert_eq!(driver.at(NOW, "end_session", end), [""; 0]);
    assert_eq!(
        driver.at(NOW, "call", retry),
        rejected("revoked", "TOKEN_INVALID")
    );
    // Nor does another come for it.
    assert_eq!(driver.at(NOW, "call", call), ["refused AQL-5.4-2"]);
}

/// AQL-5.3-3: by its holder, AQL-5.3-2: by what happens around it. AQL-5.3-1: then it is as if it had never been.
#[test]
fn a_token_is_taken_back_in_each_of_the_ways() {
    let mut call = deletion();
    call["session_id"] = json!("s1");
    call["max_uses"] = json!(2);
    let logout = |session: &str| json!({"kind": "logout", "session_id": session});
    for (op, fields, revokes) in [
        ("event", json!({"kind": "logout"}), true),
        ("event", logout("s1"), true),
        ("event", logout("s2"), false),
        ("event", json!({"kind": "security"}), true),
        ("event", json!({"kind": "configuration"}), true),
        ("end_session", json!({"session_id": "s1"}), true),
        ("end_session", json!({"session_id": "s2"}), false),
        (
            "configure",
            json!({"adapter": "github", "oracle": "uniform"}),
            true,
        ),
        // AQL-5.3-2: what changes nothing, or another adapter, is no change.
        (
            "configure",
            json!({"adapter": "github", "oracle": "codes"}),
            false,
        ),
        (
            "configure",
            json!({"adapter": "gitlab", "oracle": "uniform"}),
            false,
        ),
    ] {
        let mut driver = ready();
        let token = driver.asks(call.clone());
        let outputs = driver.at(NOW, op, fields.clone());
        assert_eq!(outputs == ["audit TOKEN_REVOKED"], revokes, "{op} {fields}");
        let retry = driver.at(NOW, "call", with_token(call.clone(), &token));
        assert_eq!(retry != PERFORMED, revokes, "{op} {fields}");
    }
    let mut driver = ready();
    let token = driver.asks(call);
    let revoke = about("revoke_token", &token);
    let first = driver.at(NOW, "introspect", revoke.clone());
    assert_eq!(first, ["audit TOKEN_REVOKED", "respond revoked"]);
    let second = driver.at(NOW, "introspect", revoke);
    assert_eq!(
        second,
        ["audit TOKEN_REVOKED: revoked", "respond TOKEN_INVALID"]
    );
    let told = driver.at(NOW, "introspect", about("token_status", &token));
    assert_eq!(told, ["audit TOKEN_REJECTED: revoked", "respond revoked 0"]);
    let unknown = driver.at(NOW, "introspect", about("revoke_token", "conf_guessed"));
    assert_eq!(
        unknown,
        ["audit TOKEN_REVOKED: unknown", "respond TOKEN_INVALID"]
    );
}

/// AQL-5.1-1, AQL-5.1-2, AQL-5.1-5, AQL-5.4-1: what a host must not ask for is refused, with the clause, and changes
/// nothing.
#[test]
fn what_the_host_must_not_ask_for_is_refused() {
    for (field, value, session, clause) in [
        ("ttl_seconds", 0, None, Some("AQL-5.1-2")),
        ("ttl_seconds", 1, None, None),
        ("ttl_seconds", 899, None, None),
        ("ttl_seconds", 900, None, None),
        ("ttl_seconds", 901, None, Some("AQL-5.1-1")),
        ("max_uses", 0, Some("s1"), Some("AQL-5.4-1")),
        ("max_uses", 1, None, None),
        ("max_uses", 2, Some("s1"), None),
        ("max_uses", 2, None, Some("AQL-5.4-1")),
    ] {
        let mut call = deletion();
        call[field] = json!(value);
        if let Some(session) = session {
            call["session_id"] = json!(session);
        }
        let outputs = ready().at(NOW, "call", call.clone());
        match clause {
            Some(clause) => assert_eq!(outputs, [format!("refused {clause}")], "{field} {value}"),
            None => assert_eq!(outputs, ASKED, "{field} {value}"),
        }
        // Of a call that needs no token what is out of every range is refused, too. What only a token could not have is not.
        call["danger_level"] = json!("safe");
        let outputs = ready().at(NOW, "call", call);
        match clause {
            Some(clause) if value != 2 => assert_eq!(outputs, [format!("refused {clause}")]),
            Some(_) | None => assert_eq!(outputs, ["perform delete_repo"], "{field} {value}"),
        }
    }
    // A name twice counts once.
    let twice = json!({"adapter": "github", "critical": {"delete_repo": ["repo", "repo"]}});
    assert_eq!(ready().at(NOW, "configure", twice), [""; 0]);
    let mut driver = ready();
    let token = driver.asks(deletion());
    let fields = json!({"adapter": "github", "clock_skew_tolerance_seconds": 301});
    let response = driver.ask("configure", timed(NOW, fields));
    let reason = "clock_skew_tolerance_seconds must be 0 to 300";
    let refused = json!([{"refused": {"clause": "AQL-5.1-5", "reason": reason}}]);
    assert_eq!(response["outputs"], refused);
    let retry = with_token(deletion(), &token);
    assert_eq!(driver.at(NOW, "call", retry), PERFORMED);
}

/// AQL-5.1-6: a tolerance above a minute is taken, and the operator is warned.
#[test]
fn a_long_tolerance_is_warned_of() {
    for (seconds, warns) in [(59, false), (60, false), (61, true), (300, true)] {
        let fields = json!({"adapter": "github", "clock_skew_tolerance_seconds": seconds});
        let outputs = ready().at(NOW, "configure", fields);
        assert_eq!(outputs == ["audit warning"], warns, "{seconds}");
    }
}

/// AQL-6.5-1, AQL-5.5-3: the two codes that only a busy host sees. A reset leaves its settings.
#[test]
fn a_host_that_is_asked_too_often_or_is_full_says_so() {
    let once_a_second = Some(RateLimit::new(1, 1_000).unwrap());
    let limited = Settings {
        rate_limits: RateLimits {
            issuance: once_a_second,
            failed_validation: once_a_second,
            revocation: once_a_second,
        },
        ..Settings::default()
    };
    let mut driver = connected(limited).greeted().greeted();
    let guess = with_token(deletion(), "conf_guessed");
    let revoke = about("revoke_token", "conf_guessed");
    for (op, fields, event) in [
        ("call", deletion(), "TOKEN_ISSUED"),
        ("call", guess, "TOKEN_REJECTED"),
        ("introspect", revoke, "TOKEN_REVOKED"),
    ] {
        driver.at(NOW, op, fields.clone());
        let expected = [
            format!("audit {event}: rate_limited"),
            "respond RATE_LIMITED".to_owned(),
        ];
        assert_eq!(driver.at(NOW, op, fields), expected);
    }

    let small = Settings {
        capacity: Capacity::new(1_000).unwrap(),
        ..Settings::default()
    };
    let mut driver = connected(small).greeted();
    for _ in 0..1_000 {
        driver.asks(deletion());
    }
    let full = [
        "audit TOKEN_ISSUED: capacity_exceeded",
        "respond CAPACITY_EXCEEDED",
    ];
    assert_eq!(driver.at(NOW, "call", deletion()), full);
}

/// AQL-6.3-4: the host's own words reach the client.
#[test]
fn the_host_says_what_the_user_is_asked() {
    let mut call = deletion();
    call["reasons"] = json!(["It is gone.", "For good."]);
    call["confirmation_message"] = json!("Really?");
    let response = ready().ask("call", timed(NOW, call));
    let details = &response["outputs"][1]["respond"]["error"]["details"];
    assert_eq!(details["reasons"], json!(["It is gone.", "For good."]));
    assert_eq!(details["confirmation_message"], "Really?");
}

/// AQL-6.4-1, AQL-6.3-1: whatever is done with a token, the log shows neither it nor a parameter.
#[test]
fn the_log_shows_no_parameter_and_no_token() {
    let mut driver = ready();
    let mut call = deletion();
    call["params"] = json!({"password": "hunter2", "hunter3": {"hunter4": 5}});
    let token = driver.asks(call.clone());
    let retry = with_token(call.clone(), &token);
    let mut tampered = retry.clone();
    tampered["params"]["password"] = json!("hunter6");
    let mut broken = retry.clone();
    broken["params"] = json!(r#"{"hunter7": 1, "hunter7": 2}"#);
    let guessed = with_token(call.clone(), "conf_hunter8");
    let malformed = with_token(call, "hunter9");
    let mut logged = 0;
    for (op, fields) in [
        ("call", tampered),
        ("call", broken),
        ("call", guessed),
        ("call", malformed),
        ("call", retry.clone()),
        ("call", retry),
        ("introspect", about("revoke_token", &token)),
        ("introspect", about("revoke_token", "conf_hunter8")),
        ("introspect", about("token_status", &token)),
        ("event", json!({"kind": "security"})),
    ] {
        let response = driver.ask(op, timed(NOW, fields));
        for audit in response["outputs"].as_array().unwrap() {
            let Some(entry) = audit.get("audit") else {
                continue;
            };
            let entry = entry.to_string();
            assert!(
                !entry.contains("hunter") && !entry.contains(&token),
                "{entry}"
            );
            logged += 1;
        }
    }
    assert_eq!(logged, 9);
}

/// AQL-3.1-1, AQL-3.1-2, AQL-3.1-3: 256 bits of the operating system's generator.
#[test]
fn tokens_of_the_command_are_drawn_from_the_system() {
    let service = McpAql::new(Settings::default(), SystemIds);
    let mut driver = Driver::connected(service, summary).greeted();
    let (one, other) = (driver.asks(deletion()), driver.asks(deletion()));
    for token in [&one, &other] {
        let digits = token.strip_prefix("conf_").unwrap();
        assert!(digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    }
    // Neither half repeats that of the other token.
    assert_ne!((&one[5..37], &one[37..]), (&other[5..37], &other[37..]));
    assert!(one[5..37] != other[5..37] && one[37..] != other[37..]);
}

#[test]
fn a_reset_forgets_everything_and_the_clock_too() {
    let mut driver = ready();
    driver.at(
        NOW,
        "configure",
        json!({"adapter": "github", "oracle": "uniform"}),
    );
    let token = driver.asks(deletion());
    let earlier = "2001-01-01T00:00:00.000Z";
    driver.ask("reset", json!({"now": earlier}));
    let retry = driver.ask("call", timed(earlier, with_token(deletion(), &token)));
    assert_eq!(retry["outputs"][0]["audit"]["timestamp"], earlier);
    let unknown = &retry["outputs"][1]["respond"]["error"];
    assert_eq!(
        (&unknown["code"], &unknown["details"]),
        (&json!("TOKEN_INVALID"), &json!({}))
    );
}
