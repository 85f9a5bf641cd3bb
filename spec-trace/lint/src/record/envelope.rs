//! AAEP-EV-1 to AAEP-EV-4 and AAEP-EV-6, as far as one event shows them: the envelope.

use std::borrow::Cow;

use super::fields::{Fields, Need};
use super::{Event, EventKind, Fault, Numbered, StatedOutcome, Wrapper, payload};
use crate::action_ids::ActionIds;
use crate::json::tree::{Index, Value};
use crate::rules;
use crate::time::Timestamp;

use Need::{Optional, Required};

/// Reads envelope and payload. Without a session there is nobody to judge.
pub(super) fn read<'a>(
    name: &'static str,
    message: &Index<'a>,
    wrapper: &Wrapper<'a>,
    faults: &mut Vec<Fault>,
) -> Option<Event<'a>> {
    let mut fields = Fields::new(message, &rules::RECORD, faults);
    // AAEP-EV-1: the six required fields.
    context(&mut fields);
    let producer = producer(&mut fields);
    optional_envelope(&mut fields);
    fields.value("timestamp", Required, "a string", Value::as_str);
    let session = fields.text("session_id", Required);
    let id = fields.text("event_id", Required);
    // AAEP-EV-2: the form of identifiers.
    if id.is_some() {
        fields
            .under(&rules::IDENTIFIER)
            .identifier("event_id", "evt_");
    }
    let sequence = sequence(fields.under(&rules::SEQUENCE));
    urgency(name, fields.under(&rules::URGENCY));
    let sent = sent(&mut fields);
    let kind = payload::read(name, fields.under(&rules::PAYLOAD)).expect("the name is on the list");
    let own = fields
        .present("extensions")
        .and_then(|it| it.get("countersign"));
    let own = |name: &str| own.and_then(|own| own.get(name)?.as_str());
    Some(Event {
        place: wrapper.place,
        id,
        session: session?,
        producer: producer.unwrap_or_default(),
        sent,
        received: wrapper.sent.received,
        sequence,
        ids: read_ids(&fields, &kind, own),
        outcome: match own("outcome") {
            Some("accepted") => Some(StatedOutcome::Accepted),
            Some("rejected") => Some(StatedOutcome::Rejected),
            Some("cancelled") => Some(StatedOutcome::Cancelled),
            Some("answered") => Some(StatedOutcome::Answered),
            Some("unanswered") => Some(StatedOutcome::Unanswered),
            Some(_) | None => None,
        },
        name,
        kind,
        message: message.object(),
    })
}

fn context(fields: &mut Fields<'_, '_>) {
    const CONTEXT: &str = "https://aaep-protocol.org/context/v1";
    let what = format_args!("{CONTEXT:?}, alone or first of an array of strings");
    fields.value("@context", Required, what, |value| match value {
        Value::String(context) => (context == CONTEXT).then_some(()),
        Value::Array(all) => {
            let strings = all.iter().all(Value::is_string);
            (strings && all.iter().next()?.as_str()? == CONTEXT).then_some(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    });
}

fn producer<'a>(fields: &mut Fields<'a, '_>) -> Option<&'a str> {
    let producer = fields.object("producer", Required)?;
    let id = producer.get("agent_id").and_then(Value::as_str);
    let id = id.filter(|id| !id.is_empty());
    if id.is_none() {
        fields.fault("producer.agent_id is not a string with something in it".to_owned());
    }
    for name in ["agent_version", "agent_name", "model", "manifest_uri"] {
        let value = producer.get(name).filter(|value| !value.is_null());
        if value.is_some_and(|value| !value.is_string()) {
            fields.fault(format!("producer.{name} is not a string"));
        }
    }
    id
}

fn optional_envelope(fields: &mut Fields<'_, '_>) {
    fields.word("verbosity", Optional, &["terse", "normal", "detailed"]);
    fields.text("correlation_id", Optional);
    fields.value("aaep_version", Optional, "a version like 1.0.0", |value| {
        let core = value.as_str()?.split(['-', '+']).next()?;
        let numbers: Vec<&str> = core.split('.').collect();
        let whole = |text: &&str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        (numbers.len() == 3 && numbers.iter().all(whole)).then_some(())
    });
    fields.object("localization_hints", Optional);
    if let Some(extensions) = fields.object("extensions", Optional)
        && let Some((name, _)) = extensions.iter().find(|(_, value)| !value.is_object())
    {
        // AAEP-A.9-2 shows an extension that is a plain string.
        if name != "parent_session_id" {
            fields.fault(format!("extensions.{name} is not an object"));
        }
    }
}

/// AAEP-EV-4: an integer.
fn sequence(fields: &mut Fields<'_, '_>) -> Numbered {
    let absent = fields.present("sequence_number").is_none();
    match fields.whole("sequence_number", Optional, 0, i64::MAX) {
        Some(number) => Numbered::As(number),
        None if absent => Numbered::Not,
        None => Numbered::Badly,
    }
}

/// AAEP-EV-6: critical where a user has to notice.
fn urgency(name: &str, fields: &mut Fields<'_, '_>) {
    const CRITICAL: [&str; 4] = [
        "session.errored",
        "awaiting.confirmation",
        "awaiting.clarification",
        "handoff.requested",
    ];
    let urgency = fields.present("urgency").and_then(Value::as_str);
    if CRITICAL.contains(&name) {
        if urgency != Some("critical") {
            fields.fault(format!("urgency of {name} is not critical"));
        }
    } else {
        fields.under(&rules::RECORD).word(
            "urgency",
            Optional,
            &["background", "normal", "critical"],
        );
    }
}

/// AAEP-EV-3: RFC 3339 with no, 3 or 6 fractional digits. A timestamp that is missing was told already.
fn sent(fields: &mut Fields<'_, '_>) -> Option<Timestamp> {
    let text = fields.present("timestamp")?.as_str()?;
    let sent = Timestamp::parse(text);
    let digits = Timestamp::fractional_digits(text);
    fields.under(&rules::TIMESTAMP);
    if sent.is_none() {
        fields.fault("timestamp is not an RFC 3339 date and time".to_owned());
    } else if ![0, 3, 6].contains(&digits) {
        fields.fault(format!(
            "timestamp has {digits} fractional digits; 0, 3 or 6 are allowed"
        ));
    }
    sent
}

/// `own` are the texts that stand in `extensions.countersign`.
fn read_ids<'a>(
    fields: &Fields<'a, '_>,
    kind: &EventKind<'a>,
    own: impl Fn(&str) -> Option<&'a str>,
) -> ActionIds<'a> {
    let (tool_call_id, own_token) = match kind {
        EventKind::Asked(question) => (
            fields
                .present("extra_context")
                .and_then(|it| it.get("tool_call_id")),
            question.token.map(Cow::Borrowed),
        ),
        EventKind::Clarifying(clarification) => (None, clarification.token.clone().map(Cow::Owned)),
        EventKind::Invoked { .. } | EventKind::Completed { .. } => {
            (fields.present("tool_call_id"), None)
        }
        EventKind::Progress { .. } => (None, token_in_extensions(fields).map(Cow::Borrowed)),
        EventKind::Started
        | EventKind::Ended(_)
        | EventKind::StateChanged { .. }
        | EventKind::Output(_)
        | EventKind::Handoff => (None, None),
    };
    ActionIds {
        tool_call_id: tool_call_id.and_then(Value::as_str).map(Cow::Borrowed),
        action: own("action").map(Cow::Borrowed),
        token: own_token.or_else(|| own("reply_token").map(Cow::Borrowed)),
    }
}

/// The question that a `progress.updated` names: the wire has no field for it, so it may stand in any extension.
fn token_in_extensions<'a>(fields: &Fields<'a, '_>) -> Option<&'a str> {
    let extensions = fields.present("extensions")?.as_object()?;
    let mut tokens = extensions
        .iter()
        .filter_map(|(_, it)| it.get("reply_token"));
    tokens.find_map(Value::as_str)
}
