//! When a token is issued, what it looks like, and what the host must not ask for.

use std::collections::BTreeSet;

use countersign_reference::ids::IdSource;
use countersign_reference::mcp_aql::{
    Call, ConfirmationToken, DangerLevel, Gatekeeper, Input, Phase, Purpose, Refusal,
    SessionBinding, Settings,
};
use countersign_reference::time::Timestamp;

use crate::mcp_aql::stage::{
    HONOURED, Stage, call, call_for, call_in_session, session, with_token,
};

const ASKED: [&str; 2] = ["audit TokenIssued", "respond ConfirmationRequired"];

fn quota(danger_level: DangerLevel) -> Call {
    Call {
        purpose: Purpose::QuotaContinue,
        danger_level,
        ..call()
    }
}

/// AQL-2.1-1, AQL-1.3-1, AQL-5.1-1: a quota token confirms nothing. A pause of what is dangerous asks for a confirmation, with
/// the life of one, and the token of a pause that was harmless does not do.
#[test]
fn a_quota_token_alone_runs_nothing_dangerous() {
    for level in &DangerLevel::ALL[2..] {
        let mut stage = Stage::new();
        let harmless = stage.asks(quota(DangerLevel::Safe));
        assert_eq!(harmless.purpose(), Purpose::QuotaContinue);
        let outputs = stage.does(Input::Call(with_token(quota(*level), &harmless)));
        let refused = [
            "audit TokenRejected failed: OtherPurpose",
            "respond TokenScopeMismatch",
        ];
        assert_eq!(outputs, refused, "{level:?}");
        let confirmed = stage.asks(quota(*level));
        assert_eq!(confirmed.purpose(), Purpose::Confirmation);
        let outputs = stage.does(Input::Call(with_token(quota(*level), &confirmed)));
        assert_eq!(outputs, HONOURED, "{level:?}");
    }
    let long = Call {
        ttl_seconds: Some(600),
        ..quota(DangerLevel::Forbidden)
    };
    let refused = Stage::new().refuses(Input::Call(long));
    let maximum_seconds = 300;
    assert_eq!(refused, Refusal::TimeToLiveTooLong { maximum_seconds });
}

/// AQL-1.3-1, AQL-5.1-8: levels 2 to 4 are gated, 0 and 1 run at once; a quota pause is gated whatever the level.
#[test]
fn what_is_dangerous_or_past_a_quota_is_gated() {
    for (level, is_gated) in DangerLevel::ALL
        .into_iter()
        .zip([false, false, true, true, true])
    {
        let mut stage = Stage::new();
        let dangerous = Call {
            danger_level: level,
            ..call()
        };
        let outputs = stage.does(Input::Call(dangerous));
        let expected: &[&str] = if is_gated {
            &ASKED
        } else {
            &["perform delete_repo"]
        };
        assert_eq!(outputs, expected, "{level:?}");
        assert_eq!(stage.gatekeeper.tokens().len(), usize::from(is_gated));
        assert_eq!(stage.does(Input::Call(quota(level))), ASKED, "{level:?}");
    }
}

/// AQL-1.2-1: a token that is not needed is not used.
#[test]
fn a_safe_call_leaves_its_token_alone() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    let safe = Call {
        danger_level: DangerLevel::Reversible,
        ..with_token(call(), &token)
    };
    assert_eq!(stage.does(Input::Call(safe)), ["perform delete_repo"]);
    let garbage = Call {
        danger_level: DangerLevel::Safe,
        confirmation_token: Some("\0".into()),
        ..call()
    };
    assert_eq!(stage.does(Input::Call(garbage)), ["perform delete_repo"]);
    assert_eq!(stage.retries(&token).len(), 2);
}

/// AQL-2.1-1, AQL-3.1-1, AQL-3.1-2: the prefix of the purpose, then two draws of 128 bits.
#[test]
fn a_token_has_256_bits_behind_its_prefix() {
    struct Bits(u128);
    impl IdSource for Bits {
        fn next_bits(&mut self) -> u128 {
            self.0 = !self.0;
            self.0
        }
    }
    for (purpose, prefix) in [
        (Purpose::Confirmation, "conf_"),
        (Purpose::QuotaContinue, "quota_continue_"),
    ] {
        let mut gatekeeper = Gatekeeper::new(Settings::default());
        let outcome =
            gatekeeper.handle(Timestamp::MIN, &mut Bits(1), Input::Call(call_for(purpose)));
        let token = crate::mcp_aql::stage::issued(&outcome.outputs).expect("issued");
        let expected = format!("{prefix}{}e{}1", "f".repeat(31), "0".repeat(31));
        assert_eq!(token.as_str(), expected);
        assert_eq!(token.purpose(), purpose);
    }
}

/// AQL-3.1-4: what the named methods make, 32 hexadecimal digits, has the form of a token. The gatekeeper draws twice as
/// much, and not by version 4 UUIDs, whose 122 bits are less than AQL-3.1-1 asks for.
#[test]
fn what_the_named_methods_make_has_the_form_of_a_token() {
    for (identifier, purpose) in [
        (
            "conf_8f14e45fceea167a5a36dedd4bea2543",
            Purpose::Confirmation,
        ),
        (
            "quota_continue_8f14e45fceea467a9a36dedd4bea2543",
            Purpose::QuotaContinue,
        ),
    ] {
        let token = ConfirmationToken::parse(identifier).expect("a token");
        assert_eq!(token.purpose(), purpose);
        let ours = Stage::new().asks(call_for(purpose));
        assert_eq!(ours.as_str().len(), token.as_str().len() + 32);
    }
}

/// AQL-3.1-3: a source that repeats itself is noticed as long as the token is remembered.
#[test]
fn a_token_is_not_issued_twice() {
    struct Stuck;
    impl IdSource for Stuck {
        fn next_bits(&mut self) -> u128 {
            7
        }
    }
    let mut gatekeeper = Gatekeeper::new(Settings::default());
    let mut ask = |purpose| {
        let input = Input::Call(call_for(purpose));
        gatekeeper.handle(Timestamp::MIN, &mut Stuck, input).refused
    };
    assert_eq!(ask(Purpose::Confirmation), None);
    assert_eq!(ask(Purpose::Confirmation), Some(Refusal::NoFreshToken));
    // Another prefix makes it another token.
    assert_eq!(ask(Purpose::QuotaContinue), None);
}

/// AQL-5.1-1, AQL-5.1-2, AQL-1.2-2: the life of the token is that of the table, and never more, nor none.
#[test]
fn a_token_lives_as_long_as_asked_within_the_table() {
    let forbidden = Call {
        danger_level: DangerLevel::Forbidden,
        ..call()
    };
    for (call, default, maximum) in [
        (call(), 300, 900),
        (forbidden, 120, 300),
        (quota(DangerLevel::Safe), 300, 600),
        (quota(DangerLevel::Forbidden), 120, 300),
    ] {
        let mut stage = Stage::new();
        let asking = |ttl_seconds| Call {
            ttl_seconds,
            ..call.clone()
        };
        for (ttl, life) in [
            (None, default),
            (Some(1), 1),
            (Some(maximum - 1), maximum - 1),
            (Some(maximum), maximum),
        ] {
            let token = stage.asks(asking(ttl));
            let issued = stage.gatekeeper.token(&token).expect("remembered");
            let lived = issued.expires_at.millis() - issued.issued_at.millis();
            assert_eq!(u64::try_from(lived), Ok(life * 1_000));
        }
        let too_long = Refusal::TimeToLiveTooLong {
            maximum_seconds: u32::try_from(maximum).expect("small"),
        };
        let refusal = stage.refuses(Input::Call(asking(Some(maximum + 1))));
        assert_eq!(refusal, too_long);
        assert_eq!(refusal.clause().0, "AQL-5.1-1");
        let refusal = stage.refuses(Input::Call(asking(Some(0))));
        assert_eq!(refusal, Refusal::WithoutExpiry);
        assert_eq!(refusal.clause().0, "AQL-5.1-2");
    }
}

/// AQL-5.1-2: an expiry that the calendar cannot hold, with its tolerance, is none.
#[test]
fn no_token_expires_beyond_the_calendar() {
    let last = Timestamp::MAX.millis();
    for (now, refused) in [
        (-330_001, false),
        (-330_000, false),
        (-329_999, true),
        (0, true),
    ] {
        let mut stage = Stage::new();
        stage.now = last + now;
        if refused {
            let refusal = stage.refuses(Input::Call(call()));
            assert_eq!(refusal, Refusal::WithoutExpiry, "{now}");
        } else {
            stage.asks(call());
        }
    }
}

/// AQL-5.4-1, AQL-5.2-3: more than one use only within a session; none at all makes no sense.
#[test]
fn many_uses_need_a_session() {
    let mut stage = Stage::new();
    let many = |max_uses| Call { max_uses, ..call() };
    let refusal = stage.refuses(Input::Call(many(2)));
    assert_eq!(refusal, Refusal::ManyUsesWithoutSession);
    assert_eq!(refusal.clause().0, "AQL-5.4-1");
    assert_eq!(stage.refuses(Input::Call(many(0))), Refusal::NoUses);
    assert_eq!(
        stage.refuses(Input::Call(call_in_session(0))),
        Refusal::NoUses
    );
    for (uses, is_bound) in [(1, false), (2, true), (u32::MAX, true)] {
        let token = stage.asks(call_in_session(uses));
        let issued = stage.gatekeeper.token(&token).expect("remembered");
        assert_eq!(issued.scope.session_id.is_some(), is_bound, "{uses}");
        assert!(matches!(issued.phase, Phase::Live { uses_left } if uses_left.get() == uses));
    }
}

/// AQL-5.4-1, AQL-6.1-2: a call can ask for a token of its session; where it does not say, the host's choice counts, and more than
/// one use is bound in any case.
#[test]
fn a_token_is_bound_to_its_session_where_that_is_asked_for() {
    let (many_uses, every) = (SessionBinding::ManyUses, SessionBinding::Every);
    let wrong = |refusal| Err(refusal);
    for (binding, in_session, max_uses, session_scope, expected) in [
        (many_uses, true, 1, None, Ok(false)),
        (many_uses, true, 1, Some(false), Ok(false)),
        (many_uses, true, 1, Some(true), Ok(true)),
        (many_uses, true, 2, None, Ok(true)),
        (many_uses, true, 2, Some(true), Ok(true)),
        (
            many_uses,
            true,
            2,
            Some(false),
            wrong(Refusal::ManyUsesWithoutSession),
        ),
        (
            many_uses,
            false,
            1,
            Some(true),
            wrong(Refusal::ScopeWithoutSession),
        ),
        (
            many_uses,
            false,
            2,
            Some(true),
            wrong(Refusal::ManyUsesWithoutSession),
        ),
        (every, true, 1, None, Ok(true)),
        (every, true, 1, Some(false), Ok(false)),
        (every, true, 2, None, Ok(true)),
        (every, false, 1, None, Ok(false)),
        (
            every,
            false,
            2,
            None,
            wrong(Refusal::ManyUsesWithoutSession),
        ),
    ] {
        let mut stage = Stage::with(Settings {
            session_binding: binding,
            ..Settings::default()
        });
        let call = Call {
            session_id: in_session.then(|| session("s1")),
            session_scope,
            max_uses,
            ..call()
        };
        match expected {
            Ok(is_bound) => {
                let token = stage.asks(call.clone());
                let elsewhere = Call {
                    session_id: Some(session("s2")),
                    session_scope: None,
                    ..call
                };
                let told = stage.does(Input::Call(with_token(elsewhere, &token)));
                assert_eq!(told == HONOURED, !is_bound, "{binding:?} {session_scope:?}");
            }
            Err(refusal) => {
                assert_eq!(stage.refuses(Input::Call(call)), refusal);
                assert_eq!(refusal.clause().0, "AQL-5.4-1");
            }
        }
    }
}

/// AQL-1.3-1: every call without a token gets its own.
#[test]
fn every_call_gets_a_token_of_its_own() {
    let mut stage = Stage::new();
    let tokens: BTreeSet<_> = (0..5).map(|_| stage.asks(call())).collect();
    assert_eq!(tokens.len(), 5);
    // AQL-3.2-1: each works for the call by itself.
    for token in &tokens {
        assert_eq!(stage.retries(token), HONOURED);
    }
}

/// AQL-2.2-1, AQL-2.2-2, AQL-2.2-3: the grammar, and the length of the whole.
#[test]
fn tokens_have_a_grammar() {
    let of = |prefix: &str, length: usize| format!("{prefix}{}", "x".repeat(length));
    for good in [
        of("conf_", 3),
        of("conf_", 4),
        of("conf_", 63),
        of("conf_", 64),
        of("quota_continue_", 1),
        of("quota_continue_", 64),
        "conf_a-Z".into(),
        "conf____".into(),
        "conf_-09".into(),
    ] {
        assert_eq!(ConfirmationToken::parse(&good).map(String::from), Ok(good));
    }
    for bad in [
        String::new(),
        "conf_".into(),
        of("conf_", 1),
        of("conf_", 2),
        of("conf_", 65),
        of("quota_continue_", 0),
        of("quota_continue_", 65),
        of("Conf_", 8),
        of("CONF_", 8),
        of("conf-", 8),
        of("quota_", 8),
        of("", 20),
        " conf_abc".into(),
        "conf_abc ".into(),
        "conf_abc\n".into(),
        "conf_abé".into(),
        "conf_ab.".into(),
        "conf_ab=".into(),
        "conf_ab\0".into(),
    ] {
        assert!(ConfirmationToken::parse(&bad).is_err(), "{bad:?}");
    }
    assert_ne!(
        crate::mcp_aql::stage::token("conf_abc").id(),
        crate::mcp_aql::stage::token("conf_abC").id()
    );
}
