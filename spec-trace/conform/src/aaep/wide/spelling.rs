//! How a reply is written: in one of the right ways, or with one thing wrong.
//!
//! The one thing to know: what the limits of the schemas are stands here a second time, next to them on both sides.

use std::collections::BTreeMap;

use countersign_model::aaep::judge::{Flaw, QuestionKind, Rating, Risk};
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::step::{Answered, Response};
use crate::driven::meaning;

/// What a reply says.
pub(super) struct Said<'a> {
    pub token: &'a str,
    pub says: Says,
    pub claimed_at: i64,
    pub subscription: &'a str,
}

/// What the user has decided or answered.
#[derive(Clone, Copy)]
pub(super) enum Says {
    /// As a `confirmation.reply` says it.
    Decision {
        accepts: bool,
        modified: Option<Modified>,
    },
    /// As a `clarification.reply` says it.
    Response(Response),
}

/// What the user makes of the action.
#[derive(Clone, Copy)]
pub(super) struct Modified {
    /// How it is rated, by number.
    pub rated: u8,
    /// Whether it is deeper than most readers go.
    pub is_deep: bool,
}

/// A reply in bytes.
#[derive(Clone)]
pub(super) struct Written {
    pub message: Vec<u8>,
    /// By its type; a confirmation's where it has none that there is.
    pub kind: QuestionKind,
    pub flaw: Option<Flaw>,
}

/// Writes a reply, with the flaw of that number where it is not 0, in the way of that number.
pub(super) fn write(said: &Said<'_>, flaw: u8, way: u8) -> Written {
    let mut members = right(said, way);
    let kind = said.says.kind();
    let flaw = flaw_of(kind, flaw);
    if let Some(flaw) = flaw {
        spoil(&mut members, kind, flaw, way);
    }
    let mut message = object(&members).into_bytes();
    if flaw == Some(Flaw::NotJson) {
        break_json(&mut message, way);
    }
    let named = [QuestionKind::Confirmation, QuestionKind::Clarification];
    let typed = |kind: &QuestionKind| members.get("type") == Some(&type_of(*kind).to_string());
    let is = named.into_iter().find(typed);
    let flaw = match flaw {
        // It lacks what a reply of the other kind has to have.
        Some(Flaw::Type) if is.is_some() => Some(Flaw::Missing),
        flaw => flaw,
    };
    let is = is.filter(|_| flaw != Some(Flaw::NotJson));
    Written {
        message,
        kind: is.unwrap_or_default(),
        flaw,
    }
}

/// Takes others for numbers that are not what the double next to them is.
pub(super) fn in_doubles(answered: &mut Answered) {
    if flaw_of(QuestionKind::Clarification, answered.flaw) == Some(Flaw::Confidence) {
        // Those that are wrong where there was none are wrong by far.
        answered.spelling &= !64;
    }
    if let Response::Number(number) = &mut answered.response
        && [9, 10, 11, 13, 14].contains(&(*number % 16))
    {
        *number %= 8;
    }
}

impl Says {
    pub(super) fn kind(self) -> QuestionKind {
        match self {
            Self::Decision { .. } => QuestionKind::Confirmation,
            Self::Response(_) => QuestionKind::Clarification,
        }
    }
}

impl Modified {
    /// The object as it is written, without white space between its parts.
    pub(super) fn object(self) -> String {
        let deep = if self.is_deep { deep() } else { quoted("") };
        let (rating, _) = self.both();
        let of = r#""amount":300,"of":[null,1.5e300,"💶","#;
        if self.rated.is_multiple_of(2) {
            format!("{{{of}{deep}]{rating}}}")
        } else {
            // The rating of what is in it is not its own.
            format!(r#"{{{of}{deep},{{"risk_level":"low","irreversible":true}}]{rating}}}"#)
        }
    }

    /// As the object is drawn that means the same as this text.
    pub(super) fn meant_by(text: &str) -> Option<String> {
        let meant = meaning(text)?;
        let all = (0..16).flat_map(|rated| [false, true].map(|is_deep| Self { rated, is_deep }));
        let mut objects = all.map(Self::object);
        objects.find(|object| meaning(object).as_ref() == Some(&meant))
    }

    /// How its own members rate it; nothing where one of them is no rating.
    pub(super) fn rating(self) -> Option<Rating> {
        self.both().1
    }

    /// The members that rate it, as they are written behind others, and what they say.
    fn both(self) -> (&'static str, Option<Rating>) {
        let rated = |risk, irreversible| Some(Rating { risk, irreversible });
        let (low, medium, high) = (Some(Risk::Low), Some(Risk::Medium), Some(Risk::High));
        match self.rated % 16 {
            0..=1 => ("", rated(None, None)),
            2 => (r#","risk_level":"low""#, rated(low, None)),
            3 => (r#","risk_level":"medium""#, rated(medium, None)),
            4 => (r#","risk_level":"high""#, rated(high, None)),
            5 => (r#","irreversible":false"#, rated(None, Some(false))),
            6 => (r#","irreversible":true"#, rated(None, Some(true))),
            7 => (
                r#","irreversible":true,"risk_level":"low""#,
                rated(low, Some(true)),
            ),
            8 => (
                r#","risk_level":"high","irreversible":false"#,
                rated(high, Some(false)),
            ),
            9 => (r#","Risk_level":"high""#, rated(None, None)),
            10 => (r#","risk_level":"Low""#, None),
            11 => (r#","risk_level":null"#, None),
            12 => (r#","risk_level":"low","irreversible":"false""#, None),
            13 => (r#","irreversible":0"#, None),
            14 => (r#","irreversible":false,"risk_level":["low"]"#, None),
            _ => (r#","irreversible":null"#, None),
        }
    }
}

/// The text of that number: what choices, defaults and responses have in common, and what looks like it.
pub(super) fn text(number: u8) -> String {
    let short = [
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
    ];
    match short.get(usize::from(number % TEXTS)) {
        Some(text) => (*text).to_owned(),
        None if number % TEXTS == HALF => "\u{fffd}".to_owned(),
        None if number % TEXTS == HALF + 1 => "x".repeat(16 * 1024),
        None => "x".repeat(20_000),
    }
}

/// The same as a response says it, written in JSON.
pub(super) fn as_response(number: u8) -> String {
    if number % TEXTS == HALF {
        quoted(r"\ud83d")
    } else {
        json!(text(number)).to_string()
    }
}

/// How many texts there are.
const TEXTS: u8 = 16;
/// The text that stands for half of a surrogate pair. A response of that number has the half itself, which is another text.
const HALF: u8 = 13;
/// More than fits into 64 KiB.
const LONG: usize = 70_000;

/// The number of that number, as it is written: some are equal, and some are next to the same double.
pub(super) fn number(number: u8) -> &'static str {
    let numbers = [
        "0",
        "-0",
        "0.0",
        "1",
        "1.0",
        "1e0",
        "10E-1",
        "-1",
        "0.1",
        "1.5e900",
        "18446744073709551617",
        "9007199254740993",
        "9007199254740992",
        "1E+400",
        "1e-400",
        "0e99999999999999999999",
    ];
    numbers[usize::from(number) % numbers.len()]
}

/// The members of an object: names, and values as they are written.
type Members = BTreeMap<&'static str, String>;

fn object(members: &Members) -> String {
    let member = |(name, value): (&&str, &String)| format!("{}:{value}", json!(name));
    let members: Vec<String> = members.iter().map(member).collect();
    format!("{{{}}}", members.join(","))
}

const fn type_of(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Confirmation => "\"confirmation.reply\"",
        QuestionKind::Clarification => "\"clarification.reply\"",
    }
}

fn flaw_of(kind: QuestionKind, number: u8) -> Option<Flaw> {
    let flaws = match kind {
        QuestionKind::Confirmation => [
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
        ],
        QuestionKind::Clarification => [
            Flaw::NotJson,
            Flaw::Missing,
            Flaw::Type,
            Flaw::Token,
            Flaw::Response,
            Flaw::Subscription,
            Flaw::Timestamp,
            Flaw::DecidedBy,
            Flaw::Confidence,
            Flaw::Response,
            Flaw::CorrelationId,
            Flaw::OtherProperty,
        ],
    };
    let place = usize::from(number).checked_sub(1)?;
    Some(flaws[place % flaws.len()])
}

fn right(said: &Said<'_>, way: u8) -> Members {
    let mut members = Members::new();
    let mut put = |name, value: Value| members.insert(name, value.to_string());
    put("reply_token", json!(said.token));
    put("subscription_id", json!(said.subscription));
    put("timestamp", json!(timestamp(said.claimed_at, way)));
    if way & 128 != 0 {
        let length = if way == u8::MAX { LONG } else { 0 };
        put("correlation_id", json!("c".repeat(length)));
    }
    let is_long = way & 32 != 0;
    let characters = |longest| if is_long { longest } else { 1 };
    let mut put = |name, value: String| members.insert(name, value);
    if way & 16 != 0 {
        let character = if way & 8 != 0 { r"\ud83d" } else { "\u{fc}" };
        put("decided_by", quoted(&character.repeat(characters(256))));
    }
    put("type", type_of(said.says.kind()).to_owned());
    match said.says {
        Says::Decision { accepts, modified } => {
            let decision = if accepts { "accept" } else { "reject" };
            put("decision", quoted(decision));
            if let Some(modified) = modified {
                put("modified_action", modified.object());
            }
            if way & 64 != 0 {
                let rationale = "\u{fc}".repeat(characters(4_096));
                put("decision_rationale", quoted(&rationale));
            }
        }
        Says::Response(response) => {
            put("response", response_as_written(response));
            if way & 64 != 0 {
                put("confidence", confidence(way).to_owned());
            }
        }
    }
    members
}

fn response_as_written(response: Response) -> String {
    match response {
        Response::Text(number) => as_response(number),
        Response::Boolean(is) => is.to_string(),
        Response::Number(is) => number(is).to_owned(),
    }
}

/// From 0 to 1, also where no double is so near to either.
fn confidence(way: u8) -> &'static str {
    let all = [
        "0",
        "1",
        "0.5",
        "-0",
        "1.0",
        "10E-1",
        "0.99999999999999999999",
        "1e-400",
    ];
    all[usize::from(way) % all.len()]
}

/// A text that has nothing to escape, or has escaped it.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// An object that is deeper than most readers go.
fn deep() -> String {
    r#"{"":["#.repeat(100) + &"]}".repeat(100)
}

/// A claimed time in UTC, two hours ahead of it or three and a half behind, with more digits than a millisecond has, or lower case.
fn timestamp(at: i64, way: u8) -> String {
    let text = Timestamp::from_millis(at).to_string();
    let digits = text.trim_end_matches('Z');
    let local = |minutes_ahead: i64, offset: &str| {
        let local = at.saturating_add(minutes_ahead * 60_000);
        if local > Timestamp::MAX.millis() {
            // No year has five digits.
            return text.clone();
        }
        let local = Timestamp::from_millis(local).to_string();
        format!("{}{offset}", local.trim_end_matches('Z'))
    };
    match way % 5 {
        0 => format!("{digits}999Z"),
        1 => local(120, "+02:00"),
        2 => text.to_ascii_lowercase(),
        3 => local(-210, "-03:30"),
        _ => text.clone(),
    }
}

/// Makes one thing wrong with an object that is right.
fn spoil(members: &mut Members, kind: QuestionKind, flaw: Flaw, way: u8) {
    let any = |names: [&'static str; 5]| names[usize::from(way) % 5];
    let is_decision = kind == QuestionKind::Confirmation;
    let said = if is_decision { "decision" } else { "response" };
    let name = match flaw {
        Flaw::NotJson => return,
        Flaw::Missing => {
            let required = ["type", "reply_token", said, "subscription_id", "timestamp"];
            members.remove(any(required));
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
        Flaw::OtherProperty if is_decision => {
            any(["session_id", "Type", "", "response", "confidence"])
        }
        Flaw::OtherProperty => any([
            "session_id",
            "Response",
            "decision",
            "decision_rationale",
            "modified_action",
        ]),
    };
    let was = members.get(name).map_or("", String::as_str);
    let wrong = wrong(kind, flaw, was.trim_matches('"'));
    let wrong = wrong[usize::from(way) % 4].clone();
    members.insert(name, wrong);
}

/// Four values that a property cannot have, where `was` is one that it can.
fn wrong(kind: QuestionKind, flaw: Flaw, was: &str) -> [String; 4] {
    let too_long = |prefix: &str, length: usize| json!(format!("{prefix}{}", "x".repeat(length)));
    let no_text = [json!(7), json!(null), json!([]), json!({})];
    let wrong = match flaw {
        Flaw::Type => return wrong_types(kind),
        Flaw::Confidence => return wrong_confidences(was),
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
        Flaw::Response => [json!(null), json!([]), json!({}), json!(["v0"])],
        Flaw::Rationale => [json!(""), too_long("", 4_097), json!(null), json!({})],
        Flaw::ModifiedAction => [json!("amount"), json!([]), json!(null), json!(false)],
        // Also where it would be right, were it listed.
        Flaw::OtherProperty => [json!("sess_0"), json!(null), json!([]), json!(0.5)],
        Flaw::NotJson | Flaw::Missing | Flaw::CorrelationId => no_text,
    };
    wrong.map(|value| value.to_string())
}

/// The type of the other kind first.
fn wrong_types(kind: QuestionKind) -> [String; 4] {
    let (other, cased) = match kind {
        QuestionKind::Confirmation => (QuestionKind::Clarification, "Confirmation.reply"),
        QuestionKind::Clarification => (QuestionKind::Confirmation, "Clarification.reply"),
    };
    [
        type_of(other).to_owned(),
        quoted(cased),
        quoted(""),
        "null".to_owned(),
    ]
}

/// Beyond either end, also where the double next to it is not, or of another type.
fn wrong_confidences(was: &str) -> [String; 4] {
    let all = match was {
        "" => ["-0.1", "1.1", "\"1\"", "null"],
        _ => ["-1e-400", "1.00000000000000000001", "1e400", "true"],
    };
    all.map(str::to_owned)
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

#[cfg(test)]
mod tests {
    use countersign_reference::aaep::Reply;

    use super::*;

    fn said(says: Says) -> Said<'static> {
        Said {
            token: "rpl_1",
            says,
            claimed_at: 1_780_000_000_250,
            subscription: "sub_1",
        }
    }

    fn all_that_can_be_said() -> impl Iterator<Item = Says> {
        let modified = (0..16)
            .flat_map(|rated| [false, true].map(|is_deep| Some(Modified { rated, is_deep })));
        let decisions = modified
            .chain([None])
            .flat_map(|modified| [true, false].map(|accepts| Says::Decision { accepts, modified }));
        let texts = (0..TEXTS).map(Response::Text);
        let numbers = (0..16).map(Response::Number);
        let responses = texts
            .chain(numbers)
            .chain([true, false].map(Response::Boolean));
        decisions.chain(responses.map(Says::Response))
    }

    /// AAEP-6.3.4-1, AAEP-6.5.5-1: in every way, a reply without a flaw fits the schema of its kind.
    #[test]
    fn what_has_no_flaw_is_a_reply_of_its_kind() {
        for says in all_that_can_be_said() {
            for way in 0..=u8::MAX {
                let written = write(&said(says), 0, way);
                assert_eq!(written.flaw, None);
                assert_eq!(written.kind, says.kind());
                let kind = match Reply::parse(&written.message) {
                    Ok(Reply::Confirmation(_)) => QuestionKind::Confirmation,
                    Ok(Reply::Clarification(_)) => QuestionKind::Clarification,
                    Err(malformed) => panic!("{malformed}: {}", shown(&written)),
                };
                assert_eq!(kind, written.kind);
            }
        }
    }

    /// The same: with a flaw, whichever and in every way, it fits neither.
    #[test]
    fn what_has_a_flaw_is_no_reply() {
        for says in all_that_can_be_said().step_by(3) {
            for flaw in 1..=12 {
                for way in 0..=u8::MAX {
                    let written = write(&said(says), flaw, way);
                    assert!(written.flaw.is_some(), "{}", shown(&written));
                    let read = Reply::parse(&written.message);
                    assert!(read.is_err(), "{:?}: {}", written.flaw, shown(&written));
                }
            }
        }
    }

    /// The kind of a message is that of its type, and a confirmation's where it has none.
    #[test]
    fn a_type_of_the_other_kind_makes_it_a_message_of_that_kind_that_lacks_something() {
        let answer = Says::Response(Response::Boolean(true));
        let decision = Says::Decision {
            accepts: true,
            modified: None,
        };
        let of = |says, flaw, way| {
            let written = write(&said(says), flaw, way);
            (written.kind, written.flaw)
        };
        let (confirmation, clarification) =
            (QuestionKind::Confirmation, QuestionKind::Clarification);
        assert_eq!(of(answer, 3, 0), (confirmation, Some(Flaw::Missing)));
        assert_eq!(of(decision, 3, 0), (clarification, Some(Flaw::Missing)));
        assert_eq!(of(answer, 3, 1), (confirmation, Some(Flaw::Type)));
        assert_eq!(of(answer, 1, 0), (confirmation, Some(Flaw::NotJson)));
        assert_eq!(of(answer, 2, 1), (clarification, Some(Flaw::Missing)));
    }

    fn shown(written: &Written) -> String {
        let text = String::from_utf8_lossy(&written.message);
        text.chars().take(300).collect()
    }
}
