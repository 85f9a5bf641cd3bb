//! What is fuzzed of the confirmation tokens: runs, their grammar, the canonical form, signed tokens.

use countersign_reference::ids::SequentialIds;
use countersign_reference::mcp_aql::{
    AdapterName, Call, ConfirmationToken, DangerLevel, ErrorCode, Gatekeeper, Input, NotCanonical,
    OperationName, Output, Parameters, Purpose, Settings, SigningKey, canonical_form,
};
use countersign_reference::time::Timestamp;
use serde_json::Value;

use super::json;

/// Every character that an identifier may have (AQL-2.2-1).
const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// 2026-05-24T14:22:20.000Z.
const START: i64 = 1_779_632_540_000;

/// The bytes as a token: what section 2.2 allows is read as it is written, nothing else is read, and none of it is
/// honoured that was not issued.
///
/// # Panics
///
/// Where that does not hold.
pub fn mcp_aql_token(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parsed = ConfirmationToken::parse(&text);
    assert_eq!(
        parsed.is_ok(),
        is_token(&text),
        "AQL-2.2-1, AQL-2.2-2: {text:?}"
    );
    if let Ok(token) = parsed {
        assert_eq!(token.as_str(), text, "AQL-2.2-3");
        let written = serde_json::to_string(&token).expect("a string");
        assert_eq!(serde_json::from_str(&written).ok(), Some(token));
    }
    for mut host in [Host::keeping(), Host::signing(1)] {
        let issued = host.ask(&call());
        let is_issued = issued.as_str() == text;
        let outputs = host.call(&call(), Some(&text));
        assert_eq!(is_performed(&outputs), is_issued, "AQL-1.2-4");
    }
}

/// Section 2.2, character by character.
fn is_token(text: &str) -> bool {
    let has_form = |prefix: &str| {
        let mut rest = text.chars();
        let begins = prefix.chars().all(|expected| rest.next() == Some(expected));
        let identifier: Vec<char> = rest.collect();
        let is_allowed = |character: &char| ALPHABET.contains(*character);
        begins && matches!(identifier.len(), 1..=64) && identifier.iter().all(is_allowed)
    };
    let length = text.chars().count();
    (has_form("conf_") || has_form("quota_continue_")) && matches!(length, 8..=80)
}

/// The bytes as parameters, or, with a zero byte between them, as two: the canonical form stands for what the
/// parameters mean, for nothing else, and another writer of RFC 8785 agrees.
///
/// # Panics
///
/// Where that does not hold.
pub fn mcp_aql_canonical(bytes: &[u8]) {
    // No JSON has a zero byte.
    let read: Vec<_> = bytes
        .splitn(2, |&byte| byte == 0)
        .filter_map(canonical)
        .collect();
    if let [(one, first), (other, second)] = &read[..] {
        let means_the_same = json::means_the_same(first, second);
        assert_eq!(one == other, means_the_same, "AQL-3.2-3: {one} {other}");
    }
}

/// How many arrays and objects the other reader and the other writer are given at most.
const DEEPEST: usize = 1_000;

/// The canonical form of parameters, held against what another reader and another writer make of them.
fn canonical(bytes: &[u8]) -> Option<(String, Value)> {
    let form = form(bytes).ok()?;
    assert_eq!(
        self::form(form.as_bytes()).as_ref(),
        Ok(&form),
        "a fixed point"
    );
    // The other reader and the other writer recurse.
    if form.contains(json::MARK) || form.matches(['[', '{']).count() > DEEPEST {
        return None;
    }
    let text = std::str::from_utf8(bytes).expect("JSON");
    let value = json::read(text).expect("another reader takes it too");
    let theirs = serde_json_canonicalizer::to_string(&value).expect("finite numbers");
    assert_eq!(
        form,
        json::with_digits(&theirs),
        "AQL-3.2-3: another writer"
    );
    let turned = serde_json::to_string_pretty(&json::turned(&value)).expect("a JSON value");
    let turned = json::with_digits(&turned);
    assert_eq!(
        self::form(turned.as_bytes()).as_ref(),
        Ok(&form),
        "{turned}"
    );
    Some((form, value))
}

/// The canonical form without what is put around it.
fn form(params: &[u8]) -> Result<String, NotCanonical> {
    let framed = canonical_form(&operation("o"), &Parameters::new(params), None)?;
    let params = framed.strip_prefix(r#"{"operation":"o","params":"#);
    let params = params.and_then(|rest| rest.strip_suffix('}'));
    Ok(params.expect("a frame").to_owned())
}

/// A signed token that the bytes choose, and what is done to it: changed in any place, presented with anything else or
/// elsewhere, it is refused; as it is, it is honoured once, and not after its time.
///
/// # Panics
///
/// Where that does not hold.
pub fn mcp_aql_signed(bytes: &[u8]) {
    let Some((choices, params)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    let &[
        key,
        place,
        letter,
        scope,
        elsewhere,
        turns,
        elapsed,
        more_elapsed,
    ] = choices;
    let text = Value::from(String::from_utf8_lossy(params));
    let call = Call {
        params: Parameters::new(format!("{{\"text\": {text}}}")),
        ..call()
    };
    let mut host = Host::signing(key.into());
    let token = host.ask(&call);
    host.now += i64::from(u16::from_be_bytes([elapsed, more_elapsed])) * 10;
    let is_late = host.now > START + 330_000;
    // AQL-6.2-2: the key before the current one is still good.
    let is_too_old = (0..turns % 3).map(|turn| host.rotate(turn)).count() > 1;

    let changed = changed(token.as_str(), place, letter);
    let other = other_scope(&call, scope);
    let mut foreign = Host::signing(u128::from(key) + 1 + u128::from(elsewhere));
    foreign.now = host.now;
    for outputs in [
        host.call(&call, Some(&changed)),
        foreign.call(&call, Some(token.as_str())),
    ] {
        assert_eq!(
            code(&outputs),
            Some(ErrorCode::TokenInvalid),
            "AQL-1.2-4: {token} {changed}"
        );
    }
    let expected = match (is_too_old, is_late) {
        (true, _) => ErrorCode::TokenInvalid,
        (false, true) => ErrorCode::TokenExpired,
        (false, false) => ErrorCode::TokenScopeMismatch,
    };
    let outputs = host.call(&other, Some(token.as_str()));
    assert_eq!(code(&outputs), Some(expected), "AQL-4.1-4: {token}");
    let expected = match (is_too_old, is_late) {
        (true, _) => [Some(ErrorCode::TokenInvalid); 2],
        (false, true) => [Some(ErrorCode::TokenExpired); 2],
        (false, false) => [None, Some(ErrorCode::TokenAlreadyUsed)],
    };
    for expected in expected {
        let outputs = host.call(&call, Some(token.as_str()));
        assert_eq!(code(&outputs), expected, "{token}");
        assert_eq!(is_performed(&outputs), expected.is_none(), "{token}");
    }
}

/// The token with another letter in one place behind its prefix.
fn changed(token: &str, place: u8, letter: u8) -> String {
    let at = "conf_".len() + usize::from(place) % 64;
    let before = ALPHABET.find(&token[at..=at]).expect("in the alphabet");
    let after = (before + 1 + usize::from(letter) % 63) % 64;
    format!(
        "{}{}{}",
        &token[..at],
        &ALPHABET[after..=after],
        &token[at + 1..]
    )
}

/// A call that differs in one thing that the token is bound to.
fn other_scope(call: &Call, which: u8) -> Call {
    let mut other = call.clone();
    match which % 5 {
        0 => other.operation = operation("delete_org"),
        1 => other.adapter = Some(AdapterName::parse("gitlab").expect("a name")),
        2 => {
            other.purpose = Purpose::QuotaContinue;
            other.danger_level = DangerLevel::Safe;
        }
        3 => other.params = Parameters::new("{}"),
        _nested => {
            let params = String::from_utf8_lossy(call.params.as_bytes());
            other.params = Parameters::new(format!("{{\"text\": [{params}]}}"));
        }
    }
    other
}

/// A gatekeeper and what it needs to run.
struct Host {
    gatekeeper: Gatekeeper,
    ids: SequentialIds,
    now: i64,
}

impl Host {
    fn keeping() -> Self {
        Self {
            gatekeeper: Gatekeeper::new(Settings::default()),
            ids: SequentialIds::new(),
            now: START,
        }
    }

    fn signing(key: u128) -> Self {
        let key = SigningKey::from_bits([key, 0]);
        Self {
            gatekeeper: Gatekeeper::signing(Settings::default(), key),
            ..Self::keeping()
        }
    }

    fn handle(&mut self, input: Input) -> Vec<Output> {
        let now = Timestamp::from_millis(self.now);
        let outcome = self.gatekeeper.handle(now, &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }

    fn rotate(&mut self, number: u8) {
        let key = SigningKey::from_bits([number.into(), 1]);
        self.handle(Input::RotateKey { key });
    }

    fn call(&mut self, call: &Call, token: Option<&str>) -> Vec<Output> {
        self.handle(Input::Call(Call {
            confirmation_token: token.map(str::to_owned),
            ..call.clone()
        }))
    }

    /// Calls without a token, and gives the one that comes out.
    fn ask(&mut self, call: &Call) -> ConfirmationToken {
        let outputs = self.call(call, None);
        let required = outputs.iter().find_map(Output::confirmation_required);
        let required = required.expect("an ordinary call gets a token");
        required.confirmation_token.clone()
    }
}

fn call() -> Call {
    Call {
        adapter: None,
        operation: operation("delete_repo"),
        params: Parameters::new("{}"),
        danger_level: DangerLevel::Dangerous,
        session_id: None,
        session_scope: None,
        max_uses: 1,
        ttl_seconds: None,
        confirmation_token: None,
        purpose: Purpose::Confirmation,
        reasons: None,
        confirmation_message: None,
    }
}

fn operation(name: &str) -> OperationName {
    OperationName::parse(name).expect("a name")
}

fn is_performed(outputs: &[Output]) -> bool {
    outputs
        .iter()
        .any(|output| matches!(output, Output::Perform(_)))
}

fn code(outputs: &[Output]) -> Option<ErrorCode> {
    outputs.iter().find_map(|output| match output {
        Output::Respond(response) => response.code(),
        Output::Audit(_) | Output::Perform(_) => None,
    })
}
