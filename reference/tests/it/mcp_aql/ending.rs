//! How tokens end before their time, and what can be asked about them.

use std::collections::{BTreeMap, BTreeSet};

use countersign_reference::mcp_aql::{
    Audit, Call, Configuration, EndedSession, EventKind, Input, Oracle, Output, Persistence, Phase,
    Query, Refusal, RestartedSession, Revoker, SessionId, Settings, Status, TokenEvent, Tolerance,
};

use crate::mcp_aql::stage::{
    HONOURED, Stage, VALID_UNTIL, adapter, call, call_in_session, configure, end_session, event,
    introspect, operation, revoke, session, with_token,
};

const REVOKED: &str = "audit TokenRevoked";

/// AQL-5.3-3, AQL-5.3-1, AQL-7.2-2: a token that was given back is no good, and cannot be given back twice.
#[test]
fn a_token_can_be_given_back() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    assert_eq!(stage.does(revoke(&token)), [REVOKED, "respond revoked"]);
    assert_eq!(
        stage.retries(&token),
        [
            "audit TokenRejected failed: Revoked",
            "respond TokenInvalid"
        ]
    );
    assert_eq!(
        stage.does(revoke(&token)),
        ["audit TokenRevoked failed: Revoked", "respond TokenInvalid"]
    );
}

/// AQL-5.3-3, AQL-6.4-1: there is nothing to take back of what is used or over; it stays what it is, and the client is told so as
/// the operator is.
#[test]
fn what_is_over_is_not_revoked() {
    let mut stage = Stage::new();
    let used = stage.asks(call());
    stage.retries(&used);
    let failed = "audit TokenRevoked failed: AlreadyUsed";
    assert_eq!(
        stage.does(revoke(&used)),
        [failed, "respond TokenAlreadyUsed"]
    );
    assert_eq!(stage.retries(&used)[1], "respond TokenAlreadyUsed");

    let token = stage.asks(call());
    stage.now = VALID_UNTIL;
    let mut later = stage.clone();
    assert_eq!(stage.does(revoke(&token)), [REVOKED, "respond revoked"]);
    later.now += 1;
    let failed = "audit TokenRevoked failed: Expired";
    assert_eq!(later.does(revoke(&token)), [failed, "respond TokenExpired"]);
    assert_eq!(later.retries(&token)[1], "respond TokenExpired");
}

/// AQL-5.3-3, AQL-6.3-2: what there is not cannot be given back, and in the mode that tells nothing what is over is answered to the
/// letter like that.
#[test]
fn what_cannot_be_given_back_is_answered_alike() {
    let mut stage = Stage::uniform();
    let (used, revoked, late) = (stage.asks(call()), stage.asks(call()), stage.asks(call()));
    stage.retries(&used);
    stage.does(revoke(&revoked));
    stage.now = VALID_UNTIL + 1;
    let answer = |stage: &mut Stage, text: &str, reason: &str| {
        let mut outputs = stage.outputs(introspect(Query::RevokeToken, text));
        let audit = format!("audit TokenRevoked failed: {reason}");
        assert_eq!(crate::mcp_aql::stage::tell(&outputs[0]), audit);
        outputs.remove(1)
    };
    let unknown = answer(&mut stage, "conf_guessed", "Unknown");
    assert_eq!(
        crate::mcp_aql::stage::tell(&unknown),
        "respond TokenInvalid"
    );
    for (text, reason) in [
        ("guessed", "Malformed"),
        (revoked.as_str(), "Revoked"),
        (used.as_str(), "Expired"),
        (late.as_str(), "Expired"),
    ] {
        assert_eq!(answer(&mut stage, text, reason), unknown, "{reason}");
    }
    let mut open = Stage::new();
    assert_eq!(answer(&mut open, "conf_guessed", "Unknown"), unknown);
    assert_eq!(answer(&mut open, "guessed", "Malformed"), unknown);
}

/// The operations of the tokens that were revoked, in order.
fn revoked(outputs: &[Output]) -> Vec<(String, Option<SessionId>)> {
    let entries = outputs.iter().map(|output| match output {
        Output::Audit(Audit::Token(entry)) if entry.event == TokenEvent::TokenRevoked => {
            assert_eq!(entry.failure_reason, None);
            let context = entry.client_context.clone();
            let session_id = context.map(|context| context.session_id);
            (entry.adapter_name.to_string(), session_id)
        }
        Output::Audit(_) | Output::Respond(_) | Output::Perform(_) => {
            panic!("not a revocation: {output:?}")
        }
    });
    entries.collect()
}

/// Tokens of two adapters and two sessions, and three that are over.
fn crowd() -> Stage {
    let mut stage = Stage::new();
    let of = |adapter_name: &str, session_name: Option<&str>| Call {
        adapter: Some(adapter(adapter_name)),
        session_id: session_name.map(session),
        max_uses: if session_name.is_some() { 2 } else { 1 },
        ..call()
    };
    let short = stage.asks(Call {
        ttl_seconds: Some(1),
        ..of("github", Some("s1"))
    });
    stage.now += 31_001;
    assert_eq!(stage.status(short.as_str()).0, Status::Expired);
    let gone = stage.asks(of("github", Some("s1")));
    stage.does(revoke(&gone));
    let used = stage.asks(of("github", None));
    stage.retries(&used);
    stage.asks(of("github", None));
    stage.asks(of("gitlab", Some("s1")));
    stage.asks(of("github", Some("s2")));
    stage.asks(of("github", Some("s1")));
    stage
}

/// AQL-5.3-2, AQL-5.4-2: each trigger ends the tokens that it is about, each once, in the order of issue, and no other.
#[test]
fn each_trigger_revokes_its_own() {
    let s = |name: &str| Some(session(name));
    let own = |name: &str, session_id| (name.to_owned(), session_id);
    let all = vec![
        own("github", None),
        own("gitlab", s("s1")),
        own("github", s("s2")),
        own("github", s("s1")),
    ];
    let of_s1 = vec![own("gitlab", s("s1")), own("github", s("s1"))];
    let of_github = vec![
        own("github", None),
        own("github", s("s2")),
        own("github", s("s1")),
    ];
    let lists = |name: &str| Input::Configure {
        adapter: adapter("github"),
        clock_skew_tolerance_seconds: None,
        oracle: None,
        critical: Some(BTreeMap::from([(
            operation(name),
            BTreeSet::from(["repo".to_owned()]),
        )])),
    };
    for (input, expected) in [
        (end_session("s1"), &of_s1),
        (end_session("s3"), &vec![]),
        (event(EventKind::Logout, Some("s1")), &of_s1),
        (event(EventKind::Logout, None), &all),
        (event(EventKind::Security, None), &all),
        (event(EventKind::Security, Some("s1")), &all),
        (event(EventKind::Configuration, None), &all),
        (configure(Some(29)), &of_github),
        // AQL-5.3-2: where nothing changes, nothing is to be confirmed anew.
        (configure(None), &vec![]),
        (configure(Some(30)), &vec![]),
        // And where one operation's list does, no other's.
        (lists("delete_repo"), &of_github),
        (lists("delete_branch"), &vec![]),
    ] {
        let mut stage = crowd();
        assert_eq!(&revoked(&stage.outputs(input.clone())), expected);
        // Once.
        assert_eq!(stage.does(input), [""; 0]);
    }
}

/// AQL-5.3-2, AQL-5.3-3, AQL-5.4-2: a revoked token keeps what has revoked it, and the first is the one that counts.
#[test]
fn a_revoked_token_keeps_what_has_revoked_it() {
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(2));
    for (input, revoker) in [
        (revoke(&token), Revoker::Introspection),
        (end_session("s1"), Revoker::SessionEnd),
        (event(EventKind::Logout, Some("s1")), Revoker::Logout),
        (event(EventKind::Logout, None), Revoker::Logout),
        (event(EventKind::Security, None), Revoker::Security),
        (event(EventKind::Security, Some("s1")), Revoker::Security),
        (
            event(EventKind::Configuration, None),
            Revoker::Configuration,
        ),
        (configure(Some(29)), Revoker::Configuration),
    ] {
        let mut stage = stage.clone();
        stage.does(input.clone());
        for later in [revoke(&token), event(EventKind::Security, None)] {
            let phase = stage.gatekeeper.token(&token).map(|token| token.phase);
            assert_eq!(phase, Some(Phase::Revoked { by: revoker }), "{input:?}");
            stage.does(later);
        }
    }
}

/// AQL-5.4-2: after the end of its session a token is no good, however many uses are left.
#[test]
fn a_token_ends_with_its_session() {
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(3));
    let retry = Input::Call(with_token(call_in_session(3), &token));
    assert_eq!(stage.does(retry.clone()), HONOURED);
    assert_eq!(stage.does(end_session("s1")), [REVOKED]);
    assert_eq!(stage.does(retry)[1], "respond TokenInvalid");
}

/// AQL-5.4-2: to its last millisecond, the tolerance included, a token ends with its session.
#[test]
fn a_token_ends_with_its_session_in_its_last_millisecond() {
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(3));
    let of = stage.gatekeeper.token(&token);
    stage.now = of.expect("it was issued").valid_until.millis();
    assert_eq!(stage.does(end_session("s1")), [REVOKED]);
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(3));
    let of = stage.gatekeeper.token(&token);
    stage.now = of.expect("it was issued").valid_until.millis() + 1;
    assert_ne!(stage.does(end_session("s1")), [REVOKED]);
}

/// AQL-5.4-2: no token comes for a session that has ended, where its name stands for one connection; where it can stand for
/// another, that one has its own. What is bound to no session is of no concern.
#[test]
fn no_token_comes_after_its_session() {
    for ended_session in [EndedSession::StaysEnded, EndedSession::ComesBack] {
        let mut stage = Stage::with(Settings {
            ended_session,
            ..Settings::default()
        });
        let before = stage.asks(call_in_session(2));
        stage.does(end_session("s1"));
        let retry = Input::Call(with_token(call_in_session(2), &before));
        assert_eq!(stage.does(retry)[1], "respond TokenInvalid");
        stage.asks(call_in_session(1));
        match ended_session {
            EndedSession::StaysEnded => {
                let refusal = stage.refuses(Input::Call(call_in_session(2)));
                assert_eq!(refusal, Refusal::SessionEnded);
                assert_eq!(refusal.clause().0, "AQL-5.4-2");
                // A restart forgets none that has ended.
                stage.does(Input::Restart);
                let again = stage.refuses(Input::Call(call_in_session(2)));
                assert_eq!(again, Refusal::SessionEnded);
            }
            EndedSession::ComesBack => {
                let after = stage.asks(call_in_session(2));
                let retry = Input::Call(with_token(call_in_session(2), &after));
                assert_eq!(stage.does(retry), HONOURED);
            }
        }
    }
}

/// AQL-5.4-2: the connections end with the process, and a token with its connection; the next of that name has its own. Where
/// somebody else holds the connections, they go on.
#[test]
fn a_restart_ends_the_sessions() {
    for restarted_session in [RestartedSession::Ends, RestartedSession::GoesOn] {
        let mut stage = Stage::with(Settings {
            restarted_session,
            ..Settings::default()
        });
        let bound = stage.asks(call_in_session(2));
        let unbound = stage.asks(call());
        let revoked = match restarted_session {
            RestartedSession::Ends => vec!["audit TokenRevoked"],
            RestartedSession::GoesOn => vec![],
        };
        assert_eq!(stage.does(Input::Restart), revoked);
        let retry = Input::Call(with_token(call_in_session(2), &bound));
        let is_honoured = stage.does(retry) == HONOURED;
        assert_eq!(is_honoured, restarted_session == RestartedSession::GoesOn);
        assert_eq!(
            stage.does(Input::Call(with_token(call(), &unbound))),
            HONOURED
        );
        let after = stage.asks(call_in_session(2));
        let retry = Input::Call(with_token(call_in_session(2), &after));
        assert_eq!(stage.does(retry), HONOURED);
    }
}

/// AQL-5.1-5, AQL-5.1-6: what can be configured, and when the operator is warned.
#[test]
fn tolerance_is_configured_within_its_bounds() {
    for (seconds, outputs) in [
        (0, vec![]),
        (59, vec![]),
        (60, vec![]),
        (61, vec!["warning AQL-5.1-6"]),
        (300, vec!["warning AQL-5.1-6"]),
    ] {
        let mut stage = Stage::new();
        assert_eq!(stage.does(configure(Some(seconds))), outputs, "{seconds}");
        let configuration = stage.gatekeeper.configuration(&adapter("github"));
        assert_eq!(u64::from(configuration.tolerance), seconds);
        // What is not said stays.
        assert_eq!(stage.does(configure(None)), [""; 0]);
        let configuration = stage.gatekeeper.configuration(&adapter("github"));
        assert_eq!(u64::from(configuration.tolerance), seconds);
        // AQL-5.1-9: for this adapter alone.
        let other = stage.gatekeeper.configuration(&adapter("gitlab"));
        assert_eq!(other.tolerance.seconds(), 30);
    }
    let mut stage = Stage::new();
    stage.asks(call());
    for seconds in [301, u64::MAX] {
        let refusal = stage.refuses(configure(Some(seconds)));
        assert_eq!(refusal, Refusal::ToleranceOutOfRange);
        assert_eq!(refusal.clause().0, "AQL-5.1-5");
    }
}

/// AQL-5.1-6: a tolerance that comes with the settings is warned of like any, by the first thing that happens, once; and
/// again where a restart leaves nothing.
#[test]
fn a_long_tolerance_in_the_settings_is_warned_of() {
    for (seconds, first) in [
        (59, vec![]),
        (60, vec![]),
        (61, vec!["warning AQL-5.1-6"]),
        (300, vec!["warning AQL-5.1-6"]),
    ] {
        for persistence in [Persistence::Persistent, Persistence::InMemory] {
            let configuration = Configuration {
                tolerance: Tolerance::from_seconds(seconds).expect("in bounds"),
                ..Configuration::default()
            };
            let mut stage = Stage::with(Settings {
                persistence,
                configuration: configuration.into(),
                ..Settings::default()
            });
            assert_eq!(stage.does(Input::Tick), first, "{seconds}");
            stage.asks(call());
            assert_eq!(stage.does(Input::Tick), [""; 0]);
            let again = match persistence {
                Persistence::Persistent => vec![],
                Persistence::InMemory => first.clone(),
            };
            assert_eq!(stage.does(Input::Restart), again, "{seconds}");
        }
    }
}

/// AQL-5.1-5, AQL-6.3-2, AQL-3.2-4: what a configuration does not say stays as it was, each part by itself.
#[test]
fn what_is_not_configured_stays() {
    let rules: BTreeMap<_, _> = [(operation("o"), ["repo".to_owned()].into())].into();
    let says = |tolerance, oracle, critical| Input::Configure {
        adapter: adapter("github"),
        clock_skew_tolerance_seconds: tolerance,
        oracle,
        critical,
    };
    let mut stage = Stage::new();
    stage.does(says(Some(5), Some(Oracle::Uniform), Some(rules)));
    let configured = stage.gatekeeper.configuration(&adapter("github")).clone();
    for again in [
        says(None, None, None),
        says(Some(5), None, None),
        says(None, Some(Oracle::Uniform), None),
        says(None, None, Some(configured.critical.clone())),
    ] {
        stage.does(again);
        let configuration = stage.gatekeeper.configuration(&adapter("github"));
        assert_eq!(*configuration, configured);
    }
}

/// AQL-7.3-1: what has become of a token, through its life.
#[test]
fn the_status_of_a_token_can_be_asked() {
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(2));
    let retry = Input::Call(with_token(call_in_session(2), &token));
    assert_eq!(stage.status(token.as_str()), (Status::Live, Some(2)));
    stage.does(retry.clone());
    assert_eq!(stage.status(token.as_str()), (Status::Live, Some(1)));
    let mut revoked = stage.clone();
    revoked.does(end_session("s1"));
    assert_eq!(revoked.status(token.as_str()), (Status::Revoked, Some(0)));
    let mut expired = stage.clone();
    expired.now = VALID_UNTIL;
    assert_eq!(expired.status(token.as_str()), (Status::Live, Some(1)));
    expired.now += 1;
    assert_eq!(expired.status(token.as_str()), (Status::Expired, Some(0)));
    stage.does(retry);
    assert_eq!(stage.status(token.as_str()), (Status::Consumed, Some(0)));
    for unknown in ["conf_guessed", "guessed", ""] {
        assert_eq!(stage.status(unknown), (Status::Unknown, None));
    }
}

/// AQL-6.3-2: in the mode that tells nothing, what is no good is as good as none.
#[test]
fn the_uniform_status_tells_only_of_live_tokens() {
    let mut stage = Stage::uniform();
    let (live, used, revoked) = (stage.asks(call()), stage.asks(call()), stage.asks(call()));
    stage.retries(&used);
    stage.does(revoke(&revoked));
    assert_eq!(stage.status(live.as_str()), (Status::Live, Some(1)));
    assert_eq!(stage.status(used.as_str()), (Status::Unknown, None));
    assert_eq!(stage.status(revoked.as_str()), (Status::Unknown, None));
    stage.now = VALID_UNTIL + 1;
    assert_eq!(stage.status(live.as_str()), (Status::Unknown, None));
}

/// AQL-6.3-2: introspection is answered by the adapter that is asked, and by the gatekeeper's own where none is named. What another
/// one does is of no concern.
#[test]
fn the_adapter_that_is_asked_answers() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    stage.retries(&token);
    for (discreet, asked, is_told) in [
        ("gitlab", None, true),
        ("github", None, true),
        ("countersign-reference", None, false),
        ("countersign-reference", Some("github"), true),
        ("github", Some("github"), false),
        ("gitlab", Some("github"), true),
    ] {
        let mut stage = stage.clone();
        stage.does(Input::Configure {
            adapter: adapter(discreet),
            clock_skew_tolerance_seconds: None,
            oracle: Some(Oracle::Uniform),
            critical: None,
        });
        let mut asks = |query| {
            stage.does(Input::Introspect {
                adapter: asked.map(adapter),
                query,
                token: token.to_string(),
            })
        };
        let (status, code) = if is_told {
            ("respond Consumed", "respond TokenAlreadyUsed")
        } else {
            ("respond Unknown", "respond TokenInvalid")
        };
        assert_eq!(asks(Query::TokenStatus)[1], status, "{discreet} {asked:?}");
        assert_eq!(asks(Query::RevokeToken)[1], code, "{discreet} {asked:?}");
    }
}
