//! How a reply is written, in one of the right ways.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use countersign_reference::time::Timestamp;
use serde_json::json;

use super::{below, maybe, one_in};

/// The members of an object: names, and values as they are written.
pub(super) type Members = BTreeMap<&'static str, String>;

/// What choices, defaults and responses have in common, and what looks like it.
pub(super) fn text(number: u8) -> String {
    const TEXTS: [&str; 14] = [
        "v0",
        "v1",
        "v2",
        "v3",
        "true",
        "1",
        "",
        "V0",
        "v0 ",
        "\u{fc}\u{1f4b6}",
        "v31",
        "v32",
        "no",
        "\u{fffd}",
    ];
    let known = TEXTS
        .get(usize::from(number % 16))
        .map(|it| (*it).to_owned());
    known.unwrap_or_else(|| "x".repeat(if number % 16 == 14 { 16 << 10 } else { 20_000 }))
}

/// Numbers as they are written: some are equal, and some are next to the same double.
const NUMBERS: [&str; 13] = [
    "0",
    "-0",
    "0.0",
    "1",
    "1.0",
    "1e0",
    "10E-1",
    "-1",
    "0.1",
    "9007199254740992",
    "1e-400",
    "-0.5",
    "2",
];

/// From 0 to 1.
const CONFIDENCES: [&str; 7] = ["0", "1", "0.5", "-0", "1.0", "10E-1", "0.25"];

/// Members by which a changed action rates itself, and what looks like them.
const RATINGS: [&str; 12] = [
    "",
    "",
    r#","risk_level":"low""#,
    r#","risk_level":"medium""#,
    r#","risk_level":"high""#,
    r#","irreversible":false"#,
    r#","irreversible":true"#,
    r#","irreversible":true,"risk_level":"low""#,
    r#","risk_level":"high","irreversible":false"#,
    r#","Risk_level":"high""#,
    r#","reversibility":"irreversible""#,
    r#","reversibility":"reversible""#,
];

/// A text that has nothing to escape, or has escaped it.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

pub(super) fn object(members: &Members) -> String {
    let members = members
        .iter()
        .map(|(name, value)| format!("{}:{value}", json!(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// A reply that is right, in one of many ways.
pub(super) fn right(
    u: &mut Unstructured<'_>,
    token: &str,
    subscription: &str,
    claims: i64,
    answers: bool,
) -> Result<Members> {
    let mut members = Members::from([
        ("reply_token", quoted(token)),
        ("subscription_id", quoted(subscription)),
        ("timestamp", quoted(&timestamp(u, claims)?)),
    ]);
    let is_long = one_in(u, 16)?;
    let of = |text: &str, longest: usize| quoted(&text.repeat(if is_long { longest } else { 1 }));
    members.extend(maybe(u, 8, |_| Ok(("correlation_id", of("", 0))))?);
    members.extend(maybe(u, 8, |_| Ok(("decided_by", of("\u{fc}", 256))))?);
    members.extend(maybe(u, 24, |_| Ok(("decided_by", of(r"\ud83d", 256))))?);
    if answers {
        let response = match u.arbitrary()? {
            // The values of most choices, and any.
            0..80_u8 => json!(text(below(u, 4)?)).to_string(),
            80..126 => json!(text(below(u, 16)?)).to_string(),
            126..128 => quoted(r"\ud83d"),
            128..192 => u.arbitrary::<bool>()?.to_string(),
            192.. => (*u.choose(&NUMBERS)?).to_owned(),
        };
        members.extend([
            ("type", quoted("clarification.reply")),
            ("response", response),
        ]);
        members.extend(maybe(u, 4, |u| {
            Ok(("confidence", (*u.choose(&CONFIDENCES)?).to_owned()))
        })?);
        return Ok(members);
    }
    let decision = if one_in(u, 3)? { "reject" } else { "accept" };
    members.extend([
        ("type", quoted("confirmation.reply")),
        ("decision", quoted(decision)),
    ]);
    members.extend(maybe(u, 8, |_| {
        Ok(("decision_rationale", of("\u{fc}", 4_096)))
    })?);
    members.extend(maybe(u, 8, |u| Ok(("modified_action", modified(u)?)))?);
    Ok(members)
}

/// Now and then deeper than most readers go; and how what is in it is rated is not how it is itself.
fn modified(u: &mut Unstructured<'_>) -> Result<String> {
    let within = match below(u, 4)? {
        0 => r#"{"":["#.repeat(100) + &"]}".repeat(100),
        1 => r#"{"risk_level":"high","irreversible":true}"#.to_owned(),
        _ => "null".to_owned(),
    };
    let (amount, rating) = (u.choose(&["300", "3e2", "301"])?, u.choose(&RATINGS)?);
    Ok(format!(
        r#"{{"amount":{amount},"of":[1.5,"💶",{within}]{rating}}}"#
    ))
}

/// A claimed time in UTC, two hours ahead of it or three and a half behind, with more digits than a millisecond has, or in lower case.
fn timestamp(u: &mut Unstructured<'_>, at: i64) -> Result<String> {
    let text = Timestamp::from_millis(at).to_string();
    let local = |minutes: i64, offset: &str| {
        let local = at.saturating_add(minutes * 60_000);
        // No year has five digits.
        let local = if local > Timestamp::MAX.millis() || local < 0 {
            None
        } else {
            Some(Timestamp::from_millis(local))
        };
        local.map_or(text.clone(), |it| {
            format!("{}{offset}", it.to_string().trim_end_matches('Z'))
        })
    };
    Ok(match below(u, 8)? {
        0 => format!("{}999Z", text.trim_end_matches('Z')),
        1 => local(120, "+02:00"),
        2 => text.to_ascii_lowercase(),
        3 => local(-210, "-03:30"),
        _ => text,
    })
}
