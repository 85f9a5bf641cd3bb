//! Tokens that need no store: bound by their signature, used once all the same.

use countersign_reference::ids::SequentialIds;
use countersign_reference::mcp_aql::{
    ConfirmationToken, DangerLevel, FailureReason, Parameters, ParametersHash, Purpose, Refusal,
    Scope, SignedTokens, SigningKey, Tolerance,
};
use countersign_reference::time::Timestamp;
use proptest::prelude::*;

use crate::stage::{START, adapter, operation, session};

const LEVEL: DangerLevel = DangerLevel::Dangerous;

fn key(number: u128) -> SigningKey {
    SigningKey::from_bits([number, !number])
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn scope() -> Scope {
    let params = Parameters::new(r#"{"owner": "acme", "repo": "widgets"}"#);
    let operation = operation("delete_repo");
    Scope {
        purpose: Purpose::Confirmation,
        parameters: ParametersHash::of_call(&operation, &params, None).expect("canonical"),
        operation,
        adapter: adapter("github"),
        session_id: Some(session("s1")),
    }
}

struct Signer {
    tokens: SignedTokens,
    ids: SequentialIds,
}

impl Signer {
    fn new() -> Self {
        Self {
            tokens: SignedTokens::new(key(1)),
            ids: SequentialIds::new(),
        }
    }

    fn issues(&mut self, scope: &Scope) -> ConfirmationToken {
        let issued = self
            .tokens
            .issue(at(START), &mut self.ids, scope, LEVEL, None);
        issued.expect("an ordinary token").token
    }

    fn redeems(&mut self, millis: i64, token: &str, scope: &Scope) -> Result<(), FailureReason> {
        self.tokens
            .redeem(at(millis), token, scope, Tolerance::default())
    }
}

/// AQL-2.2-1, AQL-2.2-2: a signed token fits the grammar, with either prefix.
#[test]
fn a_signed_token_fits_the_grammar() {
    for (purpose, length) in [(Purpose::Confirmation, 69), (Purpose::QuotaContinue, 79)] {
        let mut signer = Signer::new();
        let scope = Scope { purpose, ..scope() };
        let token = signer.issues(&scope);
        assert_eq!(token.as_str().len(), length);
        assert_eq!(token.purpose(), purpose);
        assert_eq!(ConfirmationToken::parse(token.as_str()), Ok(token.clone()));
        assert_ne!(signer.issues(&scope), token);
        assert_eq!(signer.redeems(START, token.as_str(), &scope), Ok(()));
    }
}

/// AQL-6.1-1, AQL-5.2-1: once.
#[test]
fn a_signed_token_is_used_once() {
    let mut signer = Signer::new();
    let token = signer.issues(&scope());
    assert_eq!(signer.redeems(START, token.as_str(), &scope()), Ok(()));
    for _ in 0..2 {
        let again = signer.redeems(START, token.as_str(), &scope());
        assert_eq!(again, Err(FailureReason::AlreadyUsed));
    }
    assert_eq!(signer.tokens.spent(), 1);
}

/// AQL-5.1-7: one before the expiry and its tolerance, at, and one after.
#[test]
fn a_signed_token_expires() {
    for (tolerance, millis) in [(0, 0), (30, 30_000), (300, 300_000)] {
        let tolerance = Tolerance::from_seconds(tolerance).expect("in bounds");
        for (beyond, expected) in [(-1, Ok(())), (0, Ok(())), (1, Err(FailureReason::Expired))] {
            let mut signer = Signer::new();
            let token = signer.issues(&scope());
            let now = at(START + 300_000 + millis + beyond);
            let redeemed = signer
                .tokens
                .redeem(now, token.as_str(), &scope(), tolerance);
            assert_eq!(redeemed, expected);
            // A clock that is set back does not bring it back.
            let earlier = signer
                .tokens
                .redeem(at(START), token.as_str(), &scope(), tolerance);
            let expected = expected.and(Err(FailureReason::AlreadyUsed));
            assert_eq!(earlier, expected);
        }
    }
}

/// AQL-6.1-1: a used token stays used when a longer tolerance would make it good again; then it is forgotten.
#[test]
fn a_longer_tolerance_brings_nothing_back() {
    let mut signer = Signer::new();
    let token = signer.issues(&scope());
    assert_eq!(signer.redeems(START, token.as_str(), &scope()), Ok(()));
    let longest = Tolerance::from_seconds(300).expect("in bounds");
    for (beyond, expected) in [
        (-1, FailureReason::AlreadyUsed),
        (0, FailureReason::AlreadyUsed),
        (1, FailureReason::Expired),
    ] {
        let now = at(START + 600_000 + beyond);
        let redeemed = signer.tokens.redeem(now, token.as_str(), &scope(), longest);
        assert_eq!(redeemed, Err(expected), "{beyond}");
    }
    assert_eq!(signer.tokens.spent(), 0);
}

/// AQL-6.2-4, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-6.1-2: every field of the payload is signed.
#[test]
fn a_signed_token_is_good_for_nothing_else() {
    let mut signer = Signer::new();
    let token = signer.issues(&scope());
    let changes: [fn(&mut Scope); 6] = [
        |scope| scope.purpose = Purpose::QuotaContinue,
        |scope| scope.operation = operation("delete_org"),
        |scope| {
            let params = Parameters::new("{}");
            let hash = ParametersHash::of_call(&scope.operation, &params, None);
            scope.parameters = hash.expect("canonical");
        },
        |scope| scope.adapter = adapter("gitlab"),
        |scope| scope.session_id = Some(session("s2")),
        |scope| scope.session_id = None,
    ];
    for change in changes {
        let mut other = scope();
        change(&mut other);
        let redeemed = signer.redeems(START, token.as_str(), &other);
        assert_eq!(redeemed, Err(FailureReason::Unknown), "{other:?}");
    }
    // The other prefix, with the purpose to match.
    let renamed = token.as_str().replace("conf_", "quota_continue_");
    let quota = Scope {
        purpose: Purpose::QuotaContinue,
        ..scope()
    };
    for scope in [quota, scope()] {
        let redeemed = signer.redeems(START, &renamed, &scope);
        assert_eq!(redeemed, Err(FailureReason::Unknown));
    }
    assert_eq!(signer.redeems(START, token.as_str(), &scope()), Ok(()));
}

/// AQL-6.2-4: where one field ends and the next begins is signed as well.
#[test]
fn fields_do_not_run_into_each_other() {
    let mut signer = Signer::new();
    let names = |operation_name: &str, adapter_name: &str| Scope {
        operation: operation(operation_name),
        adapter: adapter(adapter_name),
        ..scope()
    };
    let token = signer.issues(&names("ab", "c"));
    let shifted = signer.redeems(START, token.as_str(), &names("a", "bc"));
    assert_eq!(shifted, Err(FailureReason::Unknown));
}

/// AQL-6.2-2: a token signed with the key before is honoured, with one still earlier it is not, nor with another.
#[test]
fn keys_rotate() {
    let mut signer = Signer::new();
    let (first, second) = (signer.issues(&scope()), signer.issues(&scope()));
    signer.tokens.rotate(key(2));
    assert_eq!(signer.redeems(START, first.as_str(), &scope()), Ok(()));
    let third = signer.issues(&scope());
    signer.tokens.rotate(key(3));
    let unknown = Err(FailureReason::Unknown);
    assert_eq!(signer.redeems(START, second.as_str(), &scope()), unknown);
    assert_eq!(signer.redeems(START, third.as_str(), &scope()), Ok(()));
    let mut stranger = Signer::new();
    stranger.tokens = SignedTokens::new(key(9));
    let fourth = Signer::new().issues(&scope());
    assert_eq!(stranger.redeems(START, fourth.as_str(), &scope()), unknown);
    // The numbers of the keys come round.
    for number in 4..300 {
        signer.tokens.rotate(key(number));
        let token = signer.issues(&scope());
        assert_eq!(signer.redeems(START, token.as_str(), &scope()), Ok(()));
        assert_eq!(signer.redeems(START, second.as_str(), &scope()), unknown);
    }
}

/// AQL-6.2-3: a key does not show itself.
#[test]
fn a_key_is_not_printed() {
    let signer = Signer::new();
    let printed = format!("{:?} {:?}", signer.tokens, key(1));
    assert!(printed.contains("SigningKey(secret)"));
    assert!(!printed.contains("00000000"));
}

/// AQL-5.3-1, AQL-7.2-2: who knows what it is for can make it worthless.
#[test]
fn a_signed_token_can_be_revoked() {
    let mut signer = Signer::new();
    let token = signer.issues(&scope());
    let other = Scope {
        operation: operation("delete_org"),
        ..scope()
    };
    let foreign = signer.tokens.revoke(at(START), token.as_str(), &other);
    assert_eq!(foreign, Err(FailureReason::Unknown));
    assert_eq!(
        signer.tokens.revoke(at(START), token.as_str(), &scope()),
        Ok(())
    );
    let redeemed = signer.redeems(START, token.as_str(), &scope());
    assert_eq!(redeemed, Err(FailureReason::AlreadyUsed));
}

/// AQL-5.1-1, AQL-5.1-2: the lives of section 5.1; and no expiry that the token cannot carry.
#[test]
fn a_signed_token_has_a_bounded_life() {
    let mut signer = Signer::new();
    let mut issue = |now, ttl| {
        let issued = signer
            .tokens
            .issue(now, &mut signer.ids, &scope(), LEVEL, ttl);
        issued.map(|issued| issued.expires_at.millis() - now.millis())
    };
    assert_eq!(issue(Timestamp::MIN, None), Err(Refusal::WithoutExpiry));
    assert_eq!(issue(at(START), Some(0)), Err(Refusal::WithoutExpiry));
    assert_eq!(issue(at(START), Some(899)), Ok(899_000));
    assert_eq!(issue(at(START), Some(900)), Ok(900_000));
    let too_long = Refusal::TimeToLiveTooLong {
        maximum_seconds: 900,
    };
    assert_eq!(issue(at(START), Some(901)), Err(too_long));
    assert_eq!(issue(Timestamp::MAX, None), Err(Refusal::WithoutExpiry));
}

/// AQL-7.3-2: what lasts is the keys and what was used, and it can be stored.
#[test]
fn signed_tokens_survive_being_stored() {
    let mut signer = Signer::new();
    signer.tokens.rotate(key(2));
    let (used, unused) = (signer.issues(&scope()), signer.issues(&scope()));
    assert_eq!(signer.redeems(START, used.as_str(), &scope()), Ok(()));
    let written = serde_json::to_string(&signer.tokens).expect("JSON");
    let mut read = Signer::new();
    read.tokens = serde_json::from_str(&written).expect("written by itself");
    assert_eq!(read.tokens, signer.tokens);
    let again = read.redeems(START, used.as_str(), &scope());
    assert_eq!(again, Err(FailureReason::AlreadyUsed));
    assert_eq!(read.redeems(START, unused.as_str(), &scope()), Ok(()));
}

/// AQL-1.2-4, AQL-6.2-1: every bit of a token, and every other character in its place.
#[test]
fn tampering_with_any_bit_is_noticed() {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut signer = Signer::new();
    let token = signer.issues(&scope());
    for position in 5..69 {
        for &letter in ALPHABET {
            let mut bytes = token.as_str().as_bytes().to_vec();
            if bytes[position] == letter {
                continue;
            }
            bytes[position] = letter;
            let tampered = String::from_utf8(bytes).expect("ASCII");
            let redeemed = signer.redeems(START, &tampered, &scope());
            assert_eq!(redeemed, Err(FailureReason::Unknown), "{position}");
        }
    }
    assert_eq!(signer.redeems(START, token.as_str(), &scope()), Ok(()));
}

proptest! {
    /// AQL-1.2-4: whatever is sent, it is not honoured unless it was issued.
    #[test]
    fn nothing_is_forged(text in prop_oneof![
        any::<String>(),
        "conf_[A-Za-z0-9_-]{1,64}",
        "conf_A[A-Za-z0-9_-]{63}",
    ]) {
        let mut signer = Signer::new();
        signer.issues(&scope());
        prop_assert!(signer.redeems(START, &text, &scope()).is_err());
        prop_assert_eq!(signer.tokens.spent(), 0);
    }
}
