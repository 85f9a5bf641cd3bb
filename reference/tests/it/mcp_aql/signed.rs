//! Tokens that are signed instead of kept: bound by their signature, used once all the same.

use countersign_reference::mcp_aql::{
    Call, Capacity, CheckOrder, ConfirmationToken, DangerLevel, EventKind, Gatekeeper, Input,
    Parameters, Persistence, Purpose, Query, RateLimit, RateLimits, Refusal, Retention, Settings,
    SigningKey, Status,
};
use countersign_reference::time::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::mcp_aql::stage::{
    EXPIRY, HONOURED, START, Stage, VALID_UNTIL, adapter, call, call_for, call_in_session,
    configure, event, introspect, operation, revoke, session, with_token,
};

/// What comes out when a token is refused of which nothing is known.
const REFUSED: [&str; 2] = [
    "audit TokenRejected failed: Unknown",
    "respond TokenInvalid",
];

/// What comes out when a token is refused that has ended with those of its adapter.
const ENDED: [&str; 2] = [
    "audit TokenRejected failed: Revoked",
    "respond TokenInvalid",
];

type Change = fn(&mut Call);

/// Why a call is not the one that a token was issued for, and how it comes about.
const CHANGES: [(&str, Change); 4] = [
    ("OtherPurpose", |call| {
        *call = call_for(Purpose::QuotaContinue);
    }),
    ("OtherScope", |call| {
        call.operation = operation("delete_org");
    }),
    ("OtherScope", |call| call.params = Parameters::new("{}")),
    ("OtherScope", |call| call.adapter = Some(adapter("gitlab"))),
];

/// Another call with that token.
fn changed(token: &ConfirmationToken, change: Change) -> Input {
    let mut other = call();
    change(&mut other);
    Input::Call(with_token(other, token))
}

fn key(number: u128) -> SigningKey {
    SigningKey::from_bits([number, !number])
}

fn signing() -> Stage {
    signing_with(Settings::default())
}

fn signing_with(settings: Settings) -> Stage {
    let gatekeeper = Gatekeeper::signing(settings, key(1));
    Stage {
        gatekeeper,
        ..Stage::new()
    }
}

fn rotate(number: u128) -> Input {
    Input::RotateKey { key: key(number) }
}

/// AQL-2.2-1, AQL-2.2-2, AQL-7.3-2: a signed token fits the grammar, with either prefix, and is not kept.
#[test]
fn a_signed_token_fits_the_grammar_and_is_not_kept() {
    for (purpose, length) in [(Purpose::Confirmation, 69), (Purpose::QuotaContinue, 79)] {
        let mut stage = signing();
        let call = call_for(purpose);
        let token = stage.asks(call.clone());
        assert_eq!(token.as_str().len(), length);
        assert_eq!(token.purpose(), purpose);
        assert_eq!(ConfirmationToken::parse(token.as_str()), Ok(token.clone()));
        assert_ne!(stage.asks(call.clone()), token);
        assert_eq!(stage.gatekeeper.tokens().len(), 0);
        let outputs = stage.does(Input::Call(with_token(call, &token)));
        assert_eq!(outputs, HONOURED);
        assert_eq!(stage.gatekeeper.tokens().len(), 1);
    }
}

/// AQL-6.1-1, AQL-5.2-1, AQL-5.2-2: once.
#[test]
fn a_signed_token_is_used_once() {
    let mut stage = signing();
    let token = stage.asks(call());
    assert_eq!(stage.retries(&token), HONOURED);
    for _ in 0..2 {
        let again = stage.retries(&token);
        assert_eq!(
            again,
            [
                "audit TokenRejected failed: AlreadyUsed",
                "respond TokenAlreadyUsed"
            ]
        );
    }
}

/// AQL-5.1-7, AQL-4.1-2: one before the expiry and its tolerance, at, and one after; a clock set back changes nothing.
#[test]
fn a_signed_token_expires() {
    for (tolerance, millis) in [(0, 0), (30, 30_000), (300, 300_000)] {
        for (beyond, expected) in [
            (-1, HONOURED[1]),
            (0, HONOURED[1]),
            (1, "respond TokenExpired"),
        ] {
            let mut stage = signing();
            // No whole second, so that the milliseconds have to be carried.
            stage.now = START + 250;
            stage.does(configure(Some(tolerance)));
            let token = stage.asks(call());
            stage.now = EXPIRY + 250 + millis + beyond;
            assert_eq!(stage.retries(&token)[1], expected);
            stage.now = START + 250;
            assert_ne!(stage.retries(&token)[1], HONOURED[1]);
        }
    }
}

/// AQL-6.1-1, AQL-5.5-1: what was used is remembered until it has expired, and when it is forgotten it has expired.
#[test]
fn what_was_used_never_comes_back() {
    let mut stage = signing_with(Settings {
        retention: Retention::from_seconds(0).expect("in bounds"),
        ..Settings::default()
    });
    let token = stage.asks(call());
    assert_eq!(stage.retries(&token), HONOURED);
    for (beyond, code, remembered) in [
        (-1, "respond TokenAlreadyUsed", 1),
        (0, "respond TokenAlreadyUsed", 1),
        (1, "respond TokenExpired", 0),
    ] {
        stage.now = VALID_UNTIL + beyond;
        stage.does(Input::Tick);
        assert_eq!(stage.gatekeeper.tokens().len(), remembered, "{beyond}");
        assert_eq!(stage.retries(&token)[1], code, "{beyond}");
    }
}

/// AQL-6.2-4, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-4.3-1: every field of the payload is signed, and a token that was issued for
/// something else is known as that, though it has never been seen.
#[test]
fn a_signed_token_is_good_for_nothing_else() {
    let mut stage = signing();
    let token = stage.asks(call());
    for (reason, change) in CHANGES {
        let outputs = stage.does(changed(&token, change));
        let audit = format!("audit TokenRejected failed: {reason}");
        assert_eq!(outputs, [&audit, "respond TokenScopeMismatch"]);
    }
    // The other prefix, with the purpose to match.
    let renamed = crate::mcp_aql::stage::token(&token.as_str().replace("conf_", "quota_continue_"));
    for call in [call_for(Purpose::QuotaContinue), call()] {
        let outputs = stage.does(Input::Call(with_token(call, &renamed)));
        assert_eq!(outputs, REFUSED);
    }
    assert_eq!(stage.gatekeeper.tokens().len(), 0);
    assert_eq!(stage.retries(&token), HONOURED);
}

/// AQL-4.1-2, AQL-5.1-7, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6: one that has expired and is for something else has expired first by the
/// table of section 4.1, and is for something else first by the sample of section 4.3.
#[test]
fn an_expired_signed_token_for_something_else_is_told_in_order() {
    for (check_order, code_when_late) in [
        (CheckOrder::Table, "respond TokenExpired"),
        (CheckOrder::Sample, "respond TokenScopeMismatch"),
    ] {
        let settings = Settings {
            check_order,
            ..Settings::default()
        };
        let mut stage = signing_with(settings);
        let token = stage.asks(call());
        for (beyond, code) in [
            (-1, "respond TokenScopeMismatch"),
            (0, "respond TokenScopeMismatch"),
            (1, code_when_late),
        ] {
            stage.now = VALID_UNTIL + beyond;
            for (_, change) in CHANGES {
                assert_eq!(stage.does(changed(&token, change))[1], code, "{beyond}");
            }
        }
        assert_eq!(stage.retries(&token)[1], "respond TokenExpired");
    }
}

/// AQL-4.1-2, AQL-5.3-2: one that has expired has expired, though its adapter was set otherwise since. AQL-5.1-1: in a call that is
/// rated higher, too, by the table; the sample comes to the rating first.
#[test]
fn an_expired_signed_token_of_an_ended_adapter_has_expired() {
    for (check_order, when_raised) in [
        (CheckOrder::Table, "respond TokenExpired"),
        (CheckOrder::Sample, "respond TokenScopeMismatch"),
    ] {
        let mut stage = signing_with(Settings {
            check_order,
            ..Settings::default()
        });
        let token = stage.asks(call());
        stage.now = VALID_UNTIL + 1;
        stage.does(configure(Some(29)));
        assert_eq!(stage.retries(&token)[1], "respond TokenExpired");
        let raised = Call {
            danger_level: DangerLevel::Forbidden,
            ..with_token(call(), &token)
        };
        assert_eq!(stage.does(Input::Call(raised))[1], when_raised);
    }
}

/// AQL-5.5-2, AQL-4.1-2: one that expired before the retention began is told as that and never entered, however often it comes:
/// before, at and after. One that has expired since makes room for the next. What is told is in the order of the checks.
#[test]
fn what_has_long_expired_is_not_entered() {
    for (check_order, when_raised) in [
        (CheckOrder::Table, "Expired"),
        (CheckOrder::Sample, "OtherRating"),
    ] {
        for (beyond, entered) in [(-1, 1), (0, 1), (1, 0)] {
            let mut stage = signing_with(Settings {
                check_order,
                ..Settings::default()
            });
            let tokens = [(); 3].map(|()| stage.asks(call()));
            stage.now = VALID_UNTIL + 900_000 + beyond;
            for token in tokens.iter().chain(&tokens) {
                let outputs = stage.retries(token);
                assert_eq!(outputs[0], "audit TokenRejected failed: Expired");
                assert_eq!(outputs[1], "respond TokenExpired");
                let raised = Call {
                    danger_level: DangerLevel::Forbidden,
                    ..with_token(call(), token)
                };
                let outputs = stage.does(Input::Call(raised));
                let audit = format!("audit TokenRejected failed: {when_raised}");
                assert_eq!(outputs[0], audit, "{beyond}");
            }
            assert_eq!(stage.gatekeeper.tokens().len(), entered, "{beyond}");
        }
    }
}

/// AQL-4.2-1: since when a token has expired is told though it has never been seen.
#[test]
fn the_expiry_of_an_unseen_token_is_told() {
    let mut stage = signing();
    let token = stage.asks(call());
    stage.now = VALID_UNTIL + 1;
    for input in [changed(&token, CHANGES[1].1), revoke(&token)] {
        let outputs = stage.outputs(input);
        let told = serde_json::to_value(&outputs[1]).expect("JSON");
        assert_eq!(
            told["respond"]["error"]["details"],
            json!({
                "token": token.as_str(),
                "expired_at": "2026-05-24T14:27:20.000Z",
                "current_time": "2026-05-24T14:27:50.001Z",
            })
        );
    }
}

/// AQL-5.3-1, AQL-6.1-1: what was taken back is as if it had never been, for another call too; what ended with its adapter is
/// never honoured, however often others have ended since.
#[test]
fn a_signed_token_that_has_ended_is_never_honoured() {
    let mut stage = signing();
    let token = stage.asks(call());
    stage.does(revoke(&token));
    for (_, change) in CHANGES {
        assert_eq!(stage.does(changed(&token, change))[1], REFUSED[1]);
    }
    let token = stage.asks(call());
    for ended in 1..=513 {
        stage.does(configure(Some(ended % 2)));
        let outputs = stage.retries(&token);
        if ended % 256 == 0 {
            assert_eq!(outputs[0], "audit TokenRejected failed: OtherScope");
        } else if ended < 256 {
            assert_eq!(outputs, ENDED, "{ended}");
        }
        assert_ne!(outputs, HONOURED, "{ended}");
    }
}

/// AQL-6.2-2: a token signed with the key before is honoured, with one still earlier it is not, nor with another.
#[test]
fn keys_rotate() {
    let mut stage = signing();
    let (first, second) = (stage.asks(call()), stage.asks(call()));
    assert_eq!(stage.does(rotate(2)), [""; 0]);
    assert_eq!(stage.retries(&first), HONOURED);
    let third = stage.asks(call());
    stage.does(rotate(3));
    assert_eq!(stage.retries(&second), REFUSED);
    assert_eq!(stage.retries(&third), HONOURED);
    let mut stranger = signing();
    stranger.gatekeeper = Gatekeeper::signing(Settings::default(), key(9));
    let fourth = signing().asks(call());
    assert_eq!(stranger.retries(&fourth), REFUSED);
}

/// AQL-6.2-2: what was signed before each rotation is honoured after it, what was signed before the last but one is not.
#[test]
fn keys_rotate_as_often_as_need_be() {
    let mut stage = signing();
    let mut earlier = [stage.asks(call()), stage.asks(call())];
    for number in 2..10 {
        let before = [stage.asks(call()), stage.asks(call())];
        assert_eq!(stage.does(rotate(number)), [""; 0]);
        assert_eq!(stage.retries(&before[0]), HONOURED, "{number}");
        if number > 2 {
            assert_eq!(stage.retries(&earlier[1]), REFUSED, "{number}");
        }
        let after = stage.asks(call());
        assert_eq!(stage.retries(&after), HONOURED, "{number}");
        earlier = before;
    }
}

/// AQL-6.2-2: who keeps tokens has no key.
#[test]
fn only_who_signs_has_a_key() {
    assert_eq!(Stage::new().refuses(rotate(2)), Refusal::NoKey);
}

/// AQL-6.2-3: a key does not show itself.
#[test]
fn a_key_is_not_printed() {
    let mut stage = signing();
    let token = stage.asks(call());
    stage.does(rotate(2));
    let printed = format!("{:?} {:?}", stage.gatekeeper, rotate(3));
    assert!(printed.contains("SigningKey(secret)"));
    // In whatever form it might be: one key is printed like another.
    assert_eq!(format!("{:?}", key(2)), format!("{:?}", key(3)));
    assert!(!printed.contains("00000000"));
    assert!(!printed.contains(token.as_str()));
}

/// AQL-5.3-1, AQL-5.3-3, AQL-7.2-2: its holder can give it back before and after it was used; once.
#[test]
fn a_signed_token_can_be_given_back() {
    let mut stage = signing();
    let (fresh, used) = (stage.asks(call()), stage.asks(call()));
    stage.retries(&used);
    for (token, first, second, code) in [
        (
            &fresh,
            "audit TokenRevoked",
            "audit TokenRevoked failed: Revoked",
            "respond TokenInvalid",
        ),
        (
            &used,
            "audit TokenRevoked failed: AlreadyUsed",
            "audit TokenRevoked failed: AlreadyUsed",
            "respond TokenAlreadyUsed",
        ),
    ] {
        let answer = if first == second {
            code
        } else {
            "respond revoked"
        };
        assert_eq!(stage.does(revoke(token)), [first, answer]);
        assert_eq!(stage.does(revoke(token)), [second, code]);
        assert_eq!(stage.retries(token)[1], code);
    }
}

/// AQL-5.3-3, AQL-6.4-1: what was not issued here cannot be given back, whichever bit it is, and is not remembered.
#[test]
fn what_was_not_signed_cannot_be_given_back() {
    let mut stage = signing();
    let token = stage.asks(call());
    let untouched = stage.gatekeeper.clone();
    let renamed = token.as_str().replace("conf_", "quota_continue_");
    let altered = (5..69).map(|place| {
        let other = if &token.as_str()[place..=place] == "A" {
            "B"
        } else {
            "A"
        };
        format!(
            "{}{other}{}",
            &token.as_str()[..place],
            &token.as_str()[place + 1..]
        )
    });
    let others = [renamed, "conf_guessed".to_owned(), "A".repeat(69)];
    for text in altered.chain(others) {
        let outputs = stage.does(introspect(Query::RevokeToken, &text));
        assert_eq!(outputs[1], "respond TokenInvalid", "{text}");
    }
    assert_eq!(stage.gatekeeper, untouched);
}

/// AQL-4.1-2, AQL-5.1-7, AQL-6.4-1: what has expired is not taken back: before, at and after the end of its tolerance, which
/// is that of its issue.
#[test]
fn an_expired_signed_token_cannot_be_given_back() {
    for tolerance in [0, 30, 300] {
        for (beyond, expected) in [
            (-1, "respond revoked"),
            (0, "respond revoked"),
            (1, "respond TokenExpired"),
        ] {
            let mut stage = signing();
            stage.does(configure(Some(tolerance)));
            let token = stage.asks(call());
            stage.now = EXPIRY + 1_000 * i64::try_from(tolerance).expect("small") + beyond;
            assert_eq!(stage.does(revoke(&token))[1], expected, "{tolerance}");
        }
    }
}

/// AQL-5.3-1, AQL-5.5-1, AQL-5.5-2: what was given back is remembered until its tolerance cannot bring it back.
#[test]
fn what_was_given_back_is_forgotten_in_the_end() {
    let mut stage = signing();
    let empty = stage.gatekeeper.clone();
    let token = stage.asks(call());
    stage.does(revoke(&token));
    let deadline = VALID_UNTIL + 1;
    assert_eq!(
        stage.gatekeeper.next_deadline(),
        Some(Timestamp::from_millis(deadline))
    );
    for (beyond, is_forgotten) in [(-1, false), (0, true), (1, true)] {
        let mut stage = stage.clone();
        stage.now = deadline + beyond;
        stage.does(Input::Tick);
        let is_empty = stage.gatekeeper.next_deadline() == empty.next_deadline();
        assert_eq!(is_empty, is_forgotten, "{beyond}");
        assert_ne!(stage.retries(&token)[1], HONOURED[1]);
        let failure = if is_forgotten { "Expired" } else { "Revoked" };
        let audit = format!("audit TokenRevoked failed: {failure}");
        assert_eq!(stage.does(revoke(&token))[0], audit, "{beyond}");
    }
}

/// AQL-5.3-2: a change of the configuration ends the tokens of its adapter, wherever they are; other events end all.
#[test]
fn events_end_signed_tokens() {
    let elsewhere = Call {
        adapter: Some(adapter("gitlab")),
        ..call()
    };
    for (input, elsewhere_too) in [
        (configure(Some(29)), false),
        (event(EventKind::Configuration, None), true),
        (event(EventKind::Security, None), true),
        (event(EventKind::Logout, None), true),
    ] {
        let mut stage = signing();
        let (here, there) = (stage.asks(call()), stage.asks(elsewhere.clone()));
        let used = stage.asks(call());
        stage.retries(&used);
        // A key from before does not help.
        stage.does(rotate(2));
        // AQL-6.4-1: one entry for all, for none of them is known.
        let ended = stage.outputs(input.clone());
        let [ended] = ended.as_slice() else {
            panic!("{ended:?}");
        };
        let adapter_name = if elsewhere_too { "*" } else { "github" };
        assert_eq!(
            serde_json::to_value(ended).expect("JSON"),
            json!({"audit": {
                "timestamp": "2026-05-24T14:22:20.000Z",
                "event": "TOKEN_REVOKED",
                "operation": "*",
                "adapter_name": adapter_name,
                "outcome": "success",
            }})
        );
        let expected = if elsewhere_too { REFUSED } else { ENDED };
        assert_eq!(stage.retries(&here), expected, "{input:?}");
        let outputs = stage.does(Input::Call(with_token(elsewhere.clone(), &there)));
        assert_eq!(outputs == REFUSED, elsewhere_too, "{input:?}");
        assert_eq!(stage.retries(&used)[1], "respond TokenAlreadyUsed");
        // What is issued from then on is good.
        let next = stage.asks(call());
        assert_eq!(stage.retries(&next), HONOURED);
    }
}

/// AQL-5.4-1, AQL-5.4-2: none is bound to a session, as a kept one of one use is not; more uses need a store.
#[test]
fn a_signed_token_counts_no_uses() {
    let mut stage = signing();
    let many = stage.refuses(Input::Call(call_in_session(2)));
    assert_eq!(many, Refusal::SessionWithoutStore);
    let token = stage.asks(call_in_session(1));
    stage.does(event(EventKind::Logout, Some("s1")));
    stage.does(Input::EndSession {
        session_id: session("s1"),
    });
    assert_eq!(stage.retries(&token), HONOURED);
}

/// AQL-5.1-1, AQL-5.1-2: the lives of section 5.1; and no expiry that the token cannot carry.
#[test]
fn a_signed_token_has_a_bounded_life() {
    let for_seconds = |seconds| Call {
        ttl_seconds: Some(seconds),
        ..call()
    };
    let mut stage = signing();
    assert_eq!(
        stage.refuses(Input::Call(for_seconds(0))),
        Refusal::WithoutExpiry
    );
    let too_long = Refusal::TimeToLiveTooLong {
        maximum_seconds: 900,
    };
    assert_eq!(stage.refuses(Input::Call(for_seconds(901))), too_long);
    let token = stage.asks(for_seconds(900));
    assert_eq!(stage.retries(&token), HONOURED);
    // Before 1970 there is no room for an expiry in a token.
    let mut early = signing();
    early.now = Timestamp::MIN.millis();
    assert_eq!(early.refuses(Input::Call(call())), Refusal::WithoutExpiry);
}

/// AQL-5.1-1, AQL-6.2-2: with the same key elsewhere, a token is not good before it was issued.
#[test]
fn a_token_from_the_future_is_refused() {
    let token = signing().asks(call());
    for (beyond, outputs) in [(-1, REFUSED), (0, HONOURED), (1, HONOURED)] {
        let mut other = signing();
        other.now = START + beyond;
        assert_eq!(other.retries(&token), outputs, "{beyond}");
    }
}

/// AQL-5.5-1, AQL-6.1-1, AQL-7.3-2: what lasts is the key and what was used; without a store neither.
#[test]
fn a_restart_brings_no_used_token_back() {
    for (persistence, unused_code, used_code) in [
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
        let mut stage = signing_with(Settings {
            persistence,
            ..Settings::default()
        });
        let (used, unused) = (stage.asks(call()), stage.asks(call()));
        stage.retries(&used);
        stage.does(Input::Restart);
        assert_eq!(stage.retries(&unused)[1], unused_code);
        assert_eq!(stage.retries(&used)[1], used_code);
        let next = stage.asks(call());
        assert_eq!(stage.retries(&next), HONOURED);
    }
}

/// AQL-7.3-2: written down and read back it is the same, keys and all.
#[test]
fn a_signing_gatekeeper_survives_being_stored() {
    let mut stage = signing();
    let (used, revoked) = (stage.asks(call()), stage.asks(call()));
    stage.does(rotate(2));
    stage.retries(&used);
    stage.does(revoke(&revoked));
    let unused = stage.asks(call());
    let written = serde_json::to_string(&stage.gatekeeper).expect("JSON");
    let read: Gatekeeper = serde_json::from_str(&written).expect("written by a gatekeeper");
    assert_eq!(read, stage.gatekeeper);
    stage.gatekeeper = read;
    assert_eq!(stage.retries(&used)[1], "respond TokenAlreadyUsed");
    assert_eq!(stage.retries(&revoked)[1], "respond TokenInvalid");
    assert_eq!(stage.retries(&unused), HONOURED);
}

/// AQL-5.5-3, AQL-6.1-1: a good token is redeemed however many were before, and all of those stay used until they have
/// expired; then they make room.
#[test]
fn a_good_token_is_redeemed_however_many_were_before() {
    let mut stage = signing_with(Settings {
        capacity: Capacity::new(1_000).expect("in bounds"),
        ..Settings::default()
    });
    let tokens: Vec<_> = (0..1_002).map(|_| stage.asks(call())).collect();
    for token in &tokens {
        assert_eq!(stage.retries(token), HONOURED);
    }
    for token in &tokens {
        assert_eq!(stage.retries(token)[1], "respond TokenAlreadyUsed");
    }
    assert_eq!(stage.gatekeeper.tokens().len(), 1_002);
    for (time, remembered) in [(VALID_UNTIL, 1_003), (VALID_UNTIL + 1, 1_003)] {
        stage.now = time;
        let next = stage.asks(call());
        assert_eq!(stage.retries(&next), HONOURED);
        assert_eq!(stage.gatekeeper.tokens().len(), remembered, "{time}");
    }
}

/// AQL-6.5-1, AQL-6.3-2, AQL-7.3-1: limits and silence are as for kept tokens; of an unused one no status is told.
#[test]
fn signed_tokens_have_the_same_limits() {
    let limit = Some(RateLimit::new(1, 1_000).expect("in bounds"));
    let mut stage = signing_with(Settings {
        rate_limits: RateLimits {
            issuance: limit,
            failed_validation: limit,
            revocation: limit,
        },
        ..Settings::default()
    });
    let token = stage.asks(call());
    assert_eq!(stage.does(Input::Call(call()))[1], "respond RateLimited");
    assert_eq!(stage.status(token.as_str()), (Status::Unknown, None));
    stage.retries(&crate::mcp_aql::stage::token("conf_guessed"));
    assert_eq!(stage.retries(&token)[1], "respond RateLimited");
    stage.now += 1_000;
    assert_eq!(stage.retries(&token), HONOURED);
    assert_eq!(stage.status(token.as_str()), (Status::Consumed, Some(0)));
    stage.does(revoke(&token));
    assert_eq!(stage.does(revoke(&token))[1], "respond RateLimited");
}

/// AQL-5.1-1: a token that comes back with a higher danger level is refused, and is remembered with the life and the level of
/// its issue.
#[test]
fn the_danger_level_of_the_issue_counts() {
    let mut stage = signing();
    let long = Call {
        ttl_seconds: Some(900),
        ..call()
    };
    let token = stage.asks(long);
    let raised = Call {
        danger_level: DangerLevel::Forbidden,
        ..call()
    };
    let outputs = stage.does(Input::Call(with_token(raised, &token)));
    assert_eq!(outputs[0], "audit TokenRejected failed: OtherRating");
    assert_eq!(stage.retries(&token), HONOURED);
    let written = serde_json::to_string(&stage.gatekeeper).expect("JSON");
    assert!(serde_json::from_str::<Gatekeeper>(&written).is_ok());
}

/// AQL-1.2-4, AQL-6.2-1: every bit of a token, and every other character in its place.
#[test]
fn tampering_with_any_bit_is_noticed() {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut stage = signing();
    let token = stage.asks(call());
    for position in 5..69 {
        for &letter in ALPHABET {
            let mut bytes = token.as_str().as_bytes().to_vec();
            if bytes[position] == letter {
                continue;
            }
            bytes[position] = letter;
            let tampered = String::from_utf8(bytes).expect("ASCII");
            let outputs = stage.retries(&crate::mcp_aql::stage::token(&tampered));
            assert_eq!(outputs, REFUSED, "{position}");
        }
    }
    assert_eq!(stage.retries(&token), HONOURED);
}

proptest! {
    /// AQL-1.2-4: whatever is sent, it is not honoured unless it was issued.
    #[test]
    fn nothing_is_forged(text in prop_oneof![
        any::<String>(),
        "conf_[A-Za-z0-9_-]{1,64}",
        "conf_A[A-Za-z0-9_-]{63}",
    ]) {
        let mut stage = signing();
        stage.asks(call());
        let forged = Call { confirmation_token: Some(text.clone()), ..call() };
        let outputs = stage.does(Input::Call(forged));
        prop_assert_eq!(&outputs[1], "respond TokenInvalid");
        let outputs = stage.does(introspect(Query::RevokeToken, &text));
        prop_assert_eq!(&outputs[1], "respond TokenInvalid");
        prop_assert_eq!(stage.gatekeeper.tokens().len(), 0);
    }
}
