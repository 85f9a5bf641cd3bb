//! How a reply is written: in one of the right ways, or with one thing wrong.
//!
//! The one thing to know: what the limits of the schema are stands here a second time, next to them on both sides.

use countersign_model::aaep::judge::Flaw;
use countersign_reference::time::Timestamp;
use serde_json::{Map, Value, json};

/// What a reply says.
pub(super) struct Said<'a> {
    pub token: &'a str,
    pub accepts: bool,
    pub claimed_at: i64,
    pub subscription: &'a str,
    pub modified: bool,
}

/// Writes a reply, with the flaw of that number where it is not 0, in the way of that number.
pub(super) fn write(said: &Said<'_>, flaw: u8, way: u8) -> (Vec<u8>, Option<Flaw>) {
    let mut members = right(said, way);
    let flaw = flaw_of(flaw);
    if let Some(flaw) = flaw {
        spoil(&mut members, flaw, way);
    }
    let text = Value::Object(members).to_string();
    let mut text = text
        .replace(DEEP, &deep())
        .replace(HALF, r"\ud83d")
        .into_bytes();
    if flaw == Some(Flaw::NotJson) {
        break_json(&mut text, way);
    }
    (text, flaw)
}

/// Stands for an object that is deeper than most readers go.
const DEEP: &str = "\"deep\"";
/// Stands for an escaped half of a surrogate pair.
const HALF: &str = "half";
/// More than fits into 64 KiB.
const LONG: usize = 70_000;

fn deep() -> String {
    r#"{"":["#.repeat(100) + &"]}".repeat(100)
}

fn flaw_of(number: u8) -> Option<Flaw> {
    let flaws = [
        Flaw::NotJson,
        Flaw::Missing,
        Flaw::Type,
        Flaw::Token,
        Flaw::Decision,
        Flaw::Subscription,
        Flaw::Timestamp,
        Flaw::DecidedBy,
        Flaw::Rationale,
        Flaw::ModifiedAction,
        Flaw::CorrelationId,
        Flaw::OtherProperty,
    ];
    let place = usize::from(number).checked_sub(1)?;
    Some(flaws[place % flaws.len()])
}

fn right(said: &Said<'_>, way: u8) -> Map<String, Value> {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    put("type", json!("confirmation.reply"));
    put("reply_token", json!(said.token));
    put(
        "decision",
        json!(if said.accepts { "accept" } else { "reject" }),
    );
    put("subscription_id", json!(said.subscription));
    put("timestamp", json!(timestamp(said.claimed_at, way)));
    if said.modified {
        put(
            "modified_action",
            json!({"amount": 300, "of": [null, 1.5, "\u{1f4b6}", if way & 8 != 0 { "deep" } else { "" }]}),
        );
    }
    if way & 16 != 0 {
        put(
            "decided_by",
            json!(
                if way & 8 != 0 { HALF } else { "\u{fc}" }.repeat(if way & 32 != 0 {
                    256
                } else {
                    1
                })
            ),
        );
    }
    if way & 64 != 0 {
        put(
            "decision_rationale",
            json!("\u{fc}".repeat(if way & 32 != 0 { 4_096 } else { 1 })),
        );
    }
    if way & 128 != 0 {
        put(
            "correlation_id",
            json!("c".repeat(if way == u8::MAX { LONG } else { 0 })),
        );
    }
    members
}

/// A claimed time in UTC, two hours ahead of it or three and a half behind, with more digits than a millisecond has, or lower case.
fn timestamp(at: i64, way: u8) -> String {
    let text = Timestamp::from_millis(at).to_string();
    let digits = text.trim_end_matches('Z');
    let local = |minutes_ahead: i64, offset: &str| {
        let local = Timestamp::from_millis(at.saturating_add(minutes_ahead * 60_000)).to_string();
        format!("{}{offset}", local.trim_end_matches('Z'))
    };
    match way % 5 {
        0 => format!("{digits}999Z"),
        1 => local(120, "+02:00"),
        2 => text.to_ascii_lowercase(),
        3 => local(-210, "-03:30"),
        _ => text,
    }
}

/// Makes one thing wrong with an object that is right.
fn spoil(members: &mut Map<String, Value>, flaw: Flaw, way: u8) {
    let any = |names: [&'static str; 4]| names[usize::from(way) % 4];
    let name = match flaw {
        Flaw::NotJson => return,
        Flaw::Missing => {
            members.remove(any([
                "reply_token",
                "decision",
                "subscription_id",
                "timestamp",
            ]));
            return;
        }
        Flaw::Type => "type",
        Flaw::Token => "reply_token",
        Flaw::Decision => "decision",
        Flaw::Response => "response",
        Flaw::Subscription => "subscription_id",
        Flaw::Timestamp => "timestamp",
        Flaw::DecidedBy => "decided_by",
        Flaw::Confidence => "confidence",
        Flaw::Rationale => "decision_rationale",
        Flaw::ModifiedAction => "modified_action",
        Flaw::CorrelationId => "correlation_id",
        Flaw::OtherProperty => any(["session_id", "Type", "", "extensions"]),
    };
    let was = members
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default();
    let wrong = wrong(flaw, was)[usize::from(way) % 4].clone();
    members.insert(name.to_owned(), wrong);
}

/// Four values that a property cannot have, where `was` is one that it can.
fn wrong(flaw: Flaw, was: &str) -> [Value; 4] {
    let too_long = |prefix: &str, length: usize| json!(format!("{prefix}{}", "x".repeat(length)));
    let no_text = [json!(7), json!(null), json!([]), json!({})];
    match flaw {
        Flaw::Type => [
            json!("clarification.reply"),
            json!("Confirmation.reply"),
            json!(""),
            json!(null),
        ],
        Flaw::Token => [
            json!(format!("{was}\n")),
            json!("rpl_"),
            too_long("rpl_", 65),
            json!([was]),
        ],
        Flaw::Decision => [
            json!("Accept"),
            json!("accept "),
            json!(true),
            json!("later"),
        ],
        Flaw::Subscription => [
            json!(format!("{was}\n")),
            json!("sub_"),
            too_long("sub_", 65),
            json!(null),
        ],
        Flaw::Timestamp => {
            let spaced = was.to_ascii_uppercase().replace('T', " ");
            [
                json!(spaced),
                json!(was[..10]),
                json!(0),
                json!("2026-02-30T00:00:00Z"),
            ]
        }
        Flaw::DecidedBy => [json!(""), too_long("", 257), json!(null), json!(1)],
        Flaw::Response => [json!(null), json!([]), json!({}), json!(["yes"])],
        Flaw::Confidence => [json!(-0.1), json!(1.1), json!("1"), json!(null)],
        Flaw::Rationale => [json!(""), too_long("", 4_097), json!(null), json!({})],
        Flaw::ModifiedAction => [json!("amount"), json!([]), json!(null), json!(false)],
        Flaw::NotJson | Flaw::Missing | Flaw::CorrelationId | Flaw::OtherProperty => no_text,
    }
}

fn break_json(text: &mut Vec<u8>, way: u8) {
    match way % 5 {
        0 => text.truncate(text.len() / 2),
        1 => text.extend_from_slice(b"}"),
        2 => text.clear(),
        3 => text.insert(0, 0xff),
        _ => *text = format!("[{}]", String::from_utf8_lossy(text)).into_bytes(),
    }
}
