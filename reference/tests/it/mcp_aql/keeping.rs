//! What is remembered and for how long, how much of it, and how often.

use countersign_reference::mcp_aql::{
    Call, Capacity, Gatekeeper, Input, Parameters, Persistence, Purpose, RateLimit, RateLimits,
    Retention, Settings,
};
use serde_json::{Value, json};

use crate::mcp_aql::stage::{
    HONOURED, START, Stage, VALID_UNTIL, adapter, call, call_for, call_in_session, configure,
    event, introspect, operation, revoke, session, with_token,
};
use countersign_reference::mcp_aql::{EventKind, Query};

const HOUR: i64 = 3_600_000;

/// AQL-5.5-1: a token is forgotten, but not before its holder could learn that it has expired.
#[test]
fn an_expired_token_is_forgotten_after_a_while() {
    let retention = 900_000;
    for (beyond, code) in [
        (-1, "respond TokenExpired"),
        (0, "respond TokenExpired"),
        (1, "respond TokenInvalid"),
    ] {
        let mut stage = Stage::new();
        let token = stage.asks(call());
        let deadline = stage.gatekeeper.next_deadline().expect("a token");
        assert_eq!(deadline.millis(), VALID_UNTIL + retention + 1);
        stage.now = VALID_UNTIL + retention + beyond;
        assert_eq!(stage.retries(&token)[1], code, "{beyond}");
        assert_eq!(stage.gatekeeper.tokens().len(), usize::from(beyond < 1));
    }
}

/// AQL-5.5-2: with the longest life, tolerance and retention, a token is gone within an hour of its expiry.
#[test]
fn an_expired_token_is_gone_within_the_hour() {
    let retention = Retention::from_seconds(3_000).expect("in bounds");
    let mut stage = Stage::with(Settings {
        retention,
        ..Settings::default()
    });
    stage.does(configure(Some(300)));
    stage.asks(call());
    stage.now = START + 300_000 + HOUR;
    assert_eq!(stage.does(Input::Tick), [""; 0]);
    assert_eq!(stage.gatekeeper.tokens().len(), 0);
    assert_eq!(stage.gatekeeper.next_deadline(), None);
}

/// AQL-5.5-2: a call forgets so many and no more; the deadline lies in the past until all are gone.
#[test]
fn forgetting_is_done_bit_by_bit() {
    let mut stage = Stage::new();
    for _ in 0..600 {
        stage.asks(call());
    }
    stage.now += 2 * HOUR;
    for left in [472, 344, 216, 88, 0] {
        assert!(
            stage
                .gatekeeper
                .next_deadline()
                .is_some_and(|due| due.millis() < stage.now)
        );
        stage.does(Input::Tick);
        assert_eq!(stage.gatekeeper.tokens().len(), left);
    }
    assert_eq!(stage.gatekeeper.next_deadline(), None);
}

/// AQL-5.5-3: one before the last place, the last, and one too many; what lives is not driven out, what has expired is.
#[test]
fn a_full_store_issues_nothing() {
    let full = [
        "audit TokenIssued failed: CapacityExceeded",
        "respond CapacityExceeded",
    ];
    let mut stage = Stage::with(Settings {
        capacity: Capacity::new(1_000).expect("in bounds"),
        ..Settings::default()
    });
    let short = Call {
        ttl_seconds: Some(1),
        ..call()
    };
    let first = stage.asks(call());
    for _ in 1..999 {
        stage.asks(call());
    }
    stage.asks(short);
    assert_eq!(stage.gatekeeper.tokens().len(), 1_000);
    assert_eq!(stage.does(Input::Call(call())), full);
    // Each adapter has its own places.
    let other = Call {
        adapter: Some(adapter("gitlab")),
        ..call()
    };
    stage.asks(other);
    // The one of a second: still taken at its tolerance, and then its place is free.
    stage.now += 31_000;
    assert_eq!(stage.does(Input::Call(call())), full);
    stage.now += 1;
    stage.asks(call());
    assert_eq!(stage.does(Input::Call(call())), full);
    assert_eq!(stage.retries(&first), HONOURED);
    assert_eq!(stage.gatekeeper.tokens().len(), 1_001);
}

/// AQL-5.5-3, AQL-6.1-1: what was used or taken back takes up no place. As many such tokens are remembered as there are
/// places; of more, those that were taken back are forgotten first, and then those that were used: none is good for that.
#[test]
fn what_has_ended_takes_up_no_place() {
    let mut stage = Stage::with(Settings {
        capacity: Capacity::new(1_000).expect("in bounds"),
        ..Settings::default()
    });
    let first = stage.asks(call());
    assert_eq!(stage.retries(&first), HONOURED);
    for _ in 1..1_000 {
        stage.asks(call());
    }
    stage.does(event(EventKind::Security, None));
    assert_eq!(stage.gatekeeper.tokens().len(), 1_000);
    let next = stage.asks(call());
    assert_eq!(stage.gatekeeper.tokens().len(), 1_000);
    assert_eq!(stage.retries(&first)[1], "respond TokenAlreadyUsed");
    for _ in 1..999 {
        let used = stage.asks(call());
        assert_eq!(stage.retries(&used), HONOURED);
    }
    assert_eq!(stage.retries(&first)[1], "respond TokenAlreadyUsed");
    let used = stage.asks(call());
    assert_eq!(stage.retries(&used), HONOURED);
    stage.asks(call());
    assert_eq!(stage.retries(&first)[1], "respond TokenInvalid");
    for _ in 2..1_000 {
        stage.asks(call());
    }
    assert_eq!(stage.gatekeeper.tokens().len(), 1_999);
    let full = "respond CapacityExceeded";
    assert_eq!(stage.does(Input::Call(call()))[1], full);
    assert_eq!(stage.retries(&next), HONOURED);
    stage.asks(call());
    assert_eq!(stage.does(Input::Call(call()))[1], full);
    assert_eq!(stage.gatekeeper.tokens().len(), 1_999);
}

/// AQL-5.5-1, AQL-6.1-1: a restart loses nothing with a store, everything without; used tokens stay used either way.
#[test]
fn a_restart_leaves_what_was_stored() {
    for (persistence, live, used) in [
        (
            Persistence::Persistent,
            HONOURED[1],
            "respond TokenAlreadyUsed",
        ),
        (
            Persistence::InMemory,
            "respond TokenInvalid",
            "respond TokenInvalid",
        ),
    ] {
        let mut stage = Stage::with(Settings {
            persistence,
            ..Settings::default()
        });
        let (one, other) = (stage.asks(call()), stage.asks(call()));
        stage.retries(&other);
        assert_eq!(stage.does(Input::Restart), [""; 0]);
        assert_eq!(stage.retries(&one)[1], live);
        assert_eq!(stage.retries(&other)[1], used);
        // What is issued next is new.
        let next = stage.asks(call());
        assert_eq!(stage.retries(&next), HONOURED);
    }
}

/// AQL-5.5-1, AQL-5.1-3: a store keeps the greatest time with the tokens, so that what has expired stays so; a process
/// without one goes by the clock again.
#[test]
fn a_restart_without_a_store_forgets_the_time_too() {
    for (persistence, back) in [(Persistence::Persistent, 1), (Persistence::InMemory, 0)] {
        let mut stage = Stage::with(Settings {
            persistence,
            ..Settings::default()
        });
        stage.now = START + 1;
        stage.does(Input::Tick);
        stage.now = START;
        stage.does(Input::Restart);
        assert_eq!(stage.gatekeeper.now().millis(), START + back);
    }
}

fn limited(limit: RateLimit, choose: fn(&mut RateLimits) -> &mut Option<RateLimit>) -> Stage {
    let mut rate_limits = RateLimits::default();
    *choose(&mut rate_limits) = Some(limit);
    Stage::with(Settings {
        rate_limits,
        ..Settings::default()
    })
}

fn two_then_one_a_second() -> RateLimit {
    RateLimit::new(2, 1_000).expect("in bounds")
}

/// AQL-6.5-1: two tokens at once, then one a second, for each adapter by itself.
#[test]
fn issuance_is_limited() {
    let mut stage = limited(two_then_one_a_second(), |limits| &mut limits.issuance);
    stage.asks(call());
    stage.asks(call());
    let too_many = [
        "audit TokenIssued failed: RateLimited",
        "respond RateLimited",
    ];
    assert_eq!(stage.does(Input::Call(call())), too_many);
    assert_eq!(stage.gatekeeper.tokens().len(), 2);
    let outputs = stage.outputs(Input::Call(call()));
    let response = serde_json::to_value(&outputs[1]).expect("JSON");
    let details = &response["respond"]["error"]["details"];
    assert_eq!(*details, json!({"retry_after_seconds": 1}));
    let other = Call {
        adapter: Some(adapter("gitlab")),
        ..call()
    };
    stage.asks(other);
    stage.now += 999;
    assert_eq!(stage.does(Input::Call(call())), too_many);
    stage.now += 1;
    stage.asks(call());
    assert_eq!(stage.does(Input::Call(call())), too_many);
}

/// AQL-6.5-1: who has failed twice is not listened to, not even with a good token; success costs nothing.
#[test]
fn failed_validation_is_limited() {
    let mut stage = limited(two_then_one_a_second(), |limits| {
        &mut limits.failed_validation
    });
    let mut good = vec![];
    for _ in 0..5 {
        good.push(stage.asks(call()));
    }
    for _ in 0..3 {
        let token = good.pop().expect("enough");
        assert_eq!(stage.retries(&token), HONOURED);
    }
    let guess = crate::mcp_aql::stage::token("conf_guessed");
    assert_eq!(stage.retries(&guess)[1], "respond TokenInvalid");
    assert_eq!(stage.retries(&guess)[1], "respond TokenInvalid");
    let token = good.pop().expect("enough");
    let too_many = [
        "audit TokenRejected failed: RateLimited",
        "respond RateLimited",
    ];
    assert_eq!(stage.retries(&token), too_many);
    stage.now += 999;
    assert_eq!(stage.retries(&token), too_many);
    stage.now += 1;
    assert_eq!(stage.retries(&token), HONOURED);
}

/// A call whose token is not honoured, and what makes it so.
type Failing = fn(&mut Stage) -> Call;

/// AQL-6.5-1: every way for a token to fail counts, or there would be one to try without end.
#[test]
fn every_failure_to_validate_counts() {
    let once = RateLimit::new(1, 1_000).expect("in bounds");
    let fails: [(&str, Failing); 9] = [
        ("InvalidParams", |_| Call {
            params: Parameters::new("{"),
            ..call()
        }),
        ("Malformed", |_| Call {
            confirmation_token: Some("guessed".into()),
            ..call()
        }),
        ("Unknown", |_| {
            with_token(call(), &crate::mcp_aql::stage::token("conf_guessed"))
        }),
        ("AlreadyUsed", |stage| {
            let used = stage.asks(call());
            stage.retries(&used);
            with_token(call(), &used)
        }),
        ("Revoked", |stage| {
            let revoked = stage.asks(call());
            stage.does(revoke(&revoked));
            with_token(call(), &revoked)
        }),
        ("Expired", |stage| {
            let short = Call {
                ttl_seconds: Some(1),
                ..call()
            };
            let expired = stage.asks(short);
            stage.now += 31_001;
            with_token(call(), &expired)
        }),
        ("OtherOperation", |stage| {
            let other = Call {
                operation: operation("delete_org"),
                ..call()
            };
            with_token(call(), &stage.asks(other))
        }),
        ("OtherPurpose", |stage| {
            let other = call_for(Purpose::QuotaContinue);
            with_token(call(), &stage.asks(other))
        }),
        ("OtherSession", |stage| {
            with_token(call(), &stage.asks(call_in_session(2)))
        }),
    ];
    for (reason, fail) in fails {
        let mut stage = limited(once, |limits| &mut limits.failed_validation);
        let good = stage.asks(call());
        let mut failing = fail(&mut stage);
        if failing.confirmation_token.is_none() {
            failing.confirmation_token = Some(good.to_string());
        }
        let outputs = stage.does(Input::Call(failing));
        assert_eq!(outputs[0], format!("audit TokenRejected failed: {reason}"));
        assert_eq!(stage.retries(&good)[1], "respond RateLimited", "{reason}");
        stage.now += 1_000;
        assert_eq!(stage.retries(&good), HONOURED, "{reason}");
    }
}

/// AQL-6.5-1: a status of a token that is no good counts like a call with it, and is limited like it; one that is good costs nothing.
#[test]
fn asking_for_a_status_is_limited() {
    let mut stage = limited(two_then_one_a_second(), |limits| {
        &mut limits.failed_validation
    });
    let own = Call {
        adapter: None,
        ..call()
    };
    let good = stage.asks(own.clone());
    let asks = |text: &str| introspect(Query::TokenStatus, text);
    for text in [good.as_str(), "conf_guessed", good.as_str(), "guessed"] {
        assert_ne!(stage.does(asks(text))[1], "respond RateLimited");
    }
    let limited = [
        "audit TokenRejected failed: RateLimited",
        "respond RateLimited",
    ];
    assert_eq!(stage.does(asks(good.as_str())), limited);
    let retry = Input::Call(with_token(own, &good));
    assert_eq!(stage.does(retry.clone()), limited);
    stage.now += 1_000;
    assert_eq!(stage.does(retry), HONOURED);
}

/// AQL-6.5-1: it is the tokens handed out that are limited; a call that gets none leaves what there is.
#[test]
fn a_call_without_a_token_to_hand_out_costs_nothing() {
    let mut stage = limited(two_then_one_a_second(), |limits| &mut limits.issuance);
    let broken = Call {
        params: Parameters::new("{"),
        ..call()
    };
    for _ in 0..3 {
        let outputs = stage.does(Input::Call(broken.clone()));
        assert_eq!(outputs[1], "respond InvalidParams");
    }
    stage.asks(call());
    stage.asks(call());
    // And where the limit is reached, it is told first.
    assert_eq!(stage.does(Input::Call(broken))[1], "respond RateLimited");
}

/// AQL-6.5-1: each adapter, and each thing that is limited, has what is left to it alone.
#[test]
fn limits_do_not_reach_further() {
    let once = RateLimit::new(1, 1_000).expect("in bounds");
    let elsewhere = Call {
        adapter: Some(adapter("gitlab")),
        ..call()
    };
    let mut stage = limited(once, |limits| &mut limits.failed_validation);
    let (here, there) = (stage.asks(call()), stage.asks(elsewhere.clone()));
    let guess = crate::mcp_aql::stage::token("conf_guessed");
    stage.retries(&guess);
    assert_eq!(stage.retries(&here)[1], "respond RateLimited");
    let outputs = stage.does(Input::Call(with_token(elsewhere, &there)));
    assert_eq!(outputs, HONOURED);
    // Neither tokens handed out nor tokens given back are what was limited.
    let another = stage.asks(call());
    for token in [&here, &another] {
        assert_eq!(stage.does(revoke(token))[1], "respond revoked");
    }
    let mut stage = limited(once, |limits| &mut limits.revocation);
    let (one, other) = (stage.asks(call()), stage.asks(call()));
    stage.does(revoke(&one));
    assert_eq!(stage.does(revoke(&other))[1], "respond RateLimited");
    assert_eq!(stage.retries(&guess)[1], "respond TokenInvalid");
    assert_eq!(stage.retries(&other), HONOURED);
}

/// AQL-6.5-1, AQL-5.5-1: what was used of a limit is kept over a restart with a store, and forgotten without.
#[test]
fn a_restart_leaves_the_limits_that_were_stored() {
    let limit = Some(RateLimit::new(1, 1_000).expect("in bounds"));
    for (persistence, limited) in [
        (Persistence::Persistent, true),
        (Persistence::InMemory, false),
    ] {
        let rate_limits = RateLimits {
            issuance: limit,
            ..RateLimits::default()
        };
        let mut stage = Stage::with(Settings {
            persistence,
            rate_limits,
            ..Settings::default()
        });
        stage.asks(call());
        stage.does(Input::Restart);
        let told = &stage.does(Input::Call(call()))[1];
        assert_eq!(told == "respond RateLimited", limited, "{told}");
    }
}

/// AQL-6.5-1: requests to revoke are limited, whether there is something to revoke or not.
#[test]
fn revocation_is_limited() {
    let mut stage = limited(two_then_one_a_second(), |limits| &mut limits.revocation);
    let token = stage.asks(call());
    stage.does(introspect(Query::RevokeToken, "conf_guessed"));
    stage.does(introspect(Query::RevokeToken, "guessed"));
    let too_many = [
        "audit TokenRevoked failed: RateLimited",
        "respond RateLimited",
    ];
    assert_eq!(stage.does(revoke(&token)), too_many);
    // AQL-5.3-2: the gatekeeper's own reasons are not.
    let mut secure = stage.clone();
    assert_eq!(
        secure.does(event(EventKind::Security, None)),
        ["audit TokenRevoked"]
    );
    stage.now += 1_000;
    assert_eq!(
        stage.does(revoke(&token)),
        ["audit TokenRevoked", "respond revoked"]
    );
}

/// A gatekeeper with something of everything.
fn lived_in() -> Stage {
    let mut stage = Stage::with(Settings {
        rate_limits: RateLimits {
            issuance: Some(RateLimit::new(100, 1).expect("in bounds")),
            ..RateLimits::default()
        },
        ..Settings::default()
    });
    stage.does(configure(Some(5)));
    let used = stage.asks(call());
    stage.retries(&used);
    let revoked = stage.asks(call());
    stage.does(revoke(&revoked));
    stage.asks(call_in_session(3));
    stage.asks(call_for(Purpose::QuotaContinue));
    stage
}

/// AQL-5.5-1, AQL-7.2-1, AQL-2.3-1: what is written down and read back is the same, and behaves the same.
#[test]
fn a_gatekeeper_survives_being_stored() {
    let stage = lived_in();
    let written = serde_json::to_string(&stage.gatekeeper).expect("JSON");
    let read: Gatekeeper = serde_json::from_str(&written).expect("written by a gatekeeper");
    assert_eq!(read, stage.gatekeeper);
    assert_eq!(serde_json::to_string(&read).expect("JSON"), written);
    // AQL-6.2-1, AQL-6.3-3: the store holds no token that could be redeemed.
    assert!(!written.contains("conf_"));
    assert!(!written.contains("acme"));
}

/// AQL-5.1-1, AQL-5.1-2, AQL-6.1-1, AQL-5.4-1: a document that no gatekeeper can have written is not read.
#[test]
fn a_forged_document_is_not_read() {
    let original = serde_json::to_value(&lived_in().gatekeeper).expect("JSON");
    assert!(serde_json::from_value::<Gatekeeper>(original.clone()).is_ok());
    let third = "/tokens/tokens/2";
    let digest = original["tokens"]["tokens"]["2"]["digest"].clone();
    for (pointer, forged) in [
        (
            format!("{third}/expires_at"),
            json!("2026-05-24T14:42:20.000Z"),
        ),
        (
            format!("{third}/expires_at"),
            json!("2026-05-24T14:27:20.001Z"),
        ),
        (format!("{third}/expires_at"), json!(null)),
        (
            format!("{third}/valid_until"),
            json!("2026-05-24T14:37:20.000Z"),
        ),
        (
            format!("{third}/valid_until"),
            json!("2026-05-24T14:27:19.000Z"),
        ),
        (
            format!("{third}/issued_at"),
            json!("2026-05-24T14:22:21.000Z"),
        ),
        (format!("{third}/phase/live/uses_left"), json!(4)),
        (format!("{third}/phase/live/uses_left"), json!(0)),
        (format!("{third}/max_uses"), json!(2)),
        (format!("{third}/scope/session_id"), json!(null)),
        ("/tokens/tokens/3/max_uses".into(), json!(2)),
        ("/tokens/tokens/3/digest".into(), digest),
        ("/tokens/issued".into(), json!(3)),
        ("/settings/capacity".into(), json!(0)),
        (
            "/buckets/github/issuance/filled_at".into(),
            json!("2027-01-01T00:00:00Z"),
        ),
    ] {
        let mut document = original.clone();
        let place: &mut Value = document.pointer_mut(&pointer).expect("a place");
        assert_ne!(*place, forged, "{pointer}");
        *place = forged;
        let read = serde_json::from_value::<Gatekeeper>(document);
        assert!(read.is_err(), "{pointer}");
    }
}

/// AQL-5.2-2: two copies of the same state behave alike; one process has one copy.
#[test]
fn copies_behave_alike() {
    let mut stage = lived_in();
    let mut copy = stage.clone();
    for input in [
        Input::Call(call()),
        Input::Call(with_token(
            call(),
            &crate::mcp_aql::stage::token("conf_guessed"),
        )),
        event(EventKind::Logout, Some(session("s1").as_str())),
        Input::Tick,
    ] {
        assert_eq!(stage.outputs(input.clone()), copy.outputs(input));
        assert_eq!(stage.gatekeeper, copy.gatekeeper);
    }
}
