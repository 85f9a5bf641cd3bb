//! Events: member by member, with their rules of form, and as a model writes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_protocol::Json;
use serde::de::DeserializeOwned;
use serde_json::{Value as Plain, json};
use smallvec::SmallVec;

use super::{DECISIONS, KINDS, Names, OUTCOMES, RISKS, STATUSES, TARGETS, is_id, millis, read};
use crate::aaep::alphabet::{
    Asked, CallId, Decision, Event, Name, Outcome, Output, Queried, Risk, SessionId, State, Status,
    Target, Time, What, Written,
};
use crate::aaep::clauses::{C6_2_1, C6_2_1_1, EV_1, EV_2, EV_3, EV_5, EV_9, EV_10};
use crate::aaep::envelope::Envelope;
use crate::engine::clause::Clause;
use crate::wire::names::NOTHING;
use crate::wire::time;

const CONTEXT: &str = "https://aaep-protocol.org/context/v1";
const TYPES: &str = "https://aaep-protocol.org/types/";

const STATES: [(&str, State); 7] = [
    ("idle", State::Idle),
    ("thinking", State::Thinking),
    ("calling_tool", State::CallingTool),
    ("awaiting_input", State::AwaitingInput),
    ("deciding", State::Deciding),
    ("writing_output", State::WritingOutput),
    ("handing_off", State::HandingOff),
];

/// An event, member by member.
#[derive(Debug)]
pub struct Members {
    text: String,
    members: BTreeMap<String, Json>,
}

/// A rule of form: a clause, and whether an event keeps it.
pub type FormRule = (Clause, fn(&Members) -> Result<(), String>);

/// Every rule of form.
pub const FORM: [FormRule; 9] = [
    (EV_1, has_envelope),
    (EV_2, has_ids),
    (EV_3, has_time),
    (EV_9, has_type),
    (C6_2_1, has_token),
    (C6_2_1_1, has_token_of_form),
    (EV_5, has_payload),
    (EV_5, has_limits),
    (EV_10, is_small),
];

/// What a member must be.
#[derive(Clone, Copy)]
enum Is {
    Text,
    Filled,
    Bool,
    Whole,
    Object,
    Word(&'static [&'static str]),
}

/// The payload of each type of event: what it must have, and what it may.
type Payload = (
    &'static str,
    &'static [(&'static str, Is)],
    &'static [(&'static str, Is)],
);

const RISK_WORDS: Is = Is::Word(&["low", "medium", "high"]);
const PAYLOADS: [Payload; 12] = [
    ("session.started", &[("summary_normal", Is::Text)], &[]),
    ("session.completed", &[("summary_normal", Is::Text)], &[]),
    (
        "session.errored",
        &[
            (
                "error_category",
                Is::Word(&["transient", "permanent", "requires_user", "unknown"]),
            ),
            ("summary_normal", Is::Text),
        ],
        &[],
    ),
    (
        "session.cancelled",
        &[
            (
                "cancelled_by",
                Is::Word(&["user", "producer", "timeout", "system"]),
            ),
            ("summary_normal", Is::Text),
        ],
        &[],
    ),
    (
        "state.changed",
        &[("from_state", Is::Filled), ("to_state", Is::Filled)],
        &[],
    ),
    ("progress.updated", &[("progress", Is::Object)], &[]),
    (
        "tool.invoked",
        &[("tool", Is::Filled), ("summary_normal", Is::Text)],
        &[
            ("tool_call_id", Is::Filled),
            ("risk_level", RISK_WORDS),
            ("irreversible", Is::Bool),
        ],
    ),
    (
        "tool.completed",
        &[
            ("tool", Is::Filled),
            ("status", Is::Word(&["success", "error", "timeout"])),
        ],
        &[("tool_call_id", Is::Filled)],
    ),
    (
        "output.streaming",
        &[
            ("chunk", Is::Text),
            ("position", Is::Whole),
            ("complete", Is::Bool),
        ],
        &[("output_id", Is::Filled)],
    ),
    (
        "awaiting.confirmation",
        &[
            ("action", Is::Filled),
            ("consequence", Is::Filled),
            ("timeout_seconds", Is::Whole),
            ("default_decision", Is::Word(&["accept", "reject"])),
        ],
        &[
            ("risk_level", RISK_WORDS),
            ("irreversible", Is::Bool),
            (
                "reversibility",
                Is::Word(&["reversible", "reversible_with_effort", "irreversible"]),
            ),
            ("extra_context", Is::Object),
        ],
    ),
    (
        "awaiting.clarification",
        &[("question", Is::Filled), ("timeout_seconds", Is::Whole)],
        &[("default_response", Is::Text)],
    ),
    (
        "handoff.requested",
        &[
            ("reason", Is::Filled),
            (
                "target_kind",
                Is::Word(&["human", "specialist_agent", "escalation_queue"]),
            ),
        ],
        &[("target_uri", Is::Text)],
    ),
];

impl Members {
    pub(super) fn of(json: &Json) -> Self {
        Self {
            text: json.as_str().to_owned(),
            members: read(json).unwrap_or_default(),
        }
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.members.get(name).and_then(read)
    }

    fn string(&self, name: &str) -> Option<String> {
        self.get(name)
    }

    /// What it tells, without the prefix of its type; none of a type that is foreign.
    fn core(&self) -> Option<String> {
        let kind = self.string("type")?;
        let name = kind
            .strip_prefix("aaep:")
            .or_else(|| kind.strip_prefix(TYPES))?;
        Some(name.to_owned())
    }

    fn payload(&self) -> Option<&'static Payload> {
        let core = self.core()?;
        let name = core.strip_prefix("agent.")?;
        PAYLOADS.iter().find(|it| it.0 == name)
    }

    fn is_blocking(&self) -> bool {
        self.payload()
            .is_some_and(|it| it.0.starts_with("awaiting."))
    }

    fn keeps(&self, name: &str, is: Is) -> Result<(), String> {
        let is_kept = match is {
            Is::Text => self.string(name).is_some(),
            Is::Filled => self.string(name).is_some_and(|it| !it.is_empty()),
            Is::Bool => self.get::<bool>(name).is_some(),
            Is::Whole => self.get::<i64>(name).is_some(),
            Is::Object => self.get::<BTreeMap<String, Json>>(name).is_some(),
            Is::Word(words) => self.string(name).is_some_and(|it| words.contains(&&*it)),
        };
        let what = match is {
            Is::Text => "a string".to_owned(),
            Is::Filled => "a string that is not empty".to_owned(),
            Is::Bool => "true or false".to_owned(),
            Is::Whole => "a whole number".to_owned(),
            Is::Object => "an object".to_owned(),
            Is::Word(words) => format!("one of {}", words.join(", ")),
        };
        if is_kept {
            Ok(())
        } else {
            Err(format!("`{name}` must be {what}"))
        }
    }
}

// ── Rules of form ──

/// "The six required fields, of the right type", and what else the envelope has.
fn has_envelope(it: &Members) -> Result<(), String> {
    let context = it.get::<Plain>("@context").unwrap_or_default();
    let first = context.get(0).unwrap_or(&context);
    if first != CONTEXT {
        return Err(format!("`@context` must be {CONTEXT}"));
    }
    for name in ["type", "event_id", "session_id", "timestamp"] {
        it.keeps(name, Is::Filled)?;
    }
    let agent = it.get::<Plain>("producer").unwrap_or_default();
    let agent = agent
        .get("agent_id")
        .and_then(Plain::as_str)
        .unwrap_or_default();
    if agent.is_empty() {
        return Err("`producer` must be an object with an `agent_id`".to_owned());
    }
    let optional = [
        ("sequence_number", Is::Whole),
        ("urgency", Is::Word(&["background", "normal", "critical"])),
        ("verbosity", Is::Word(&["terse", "normal", "detailed"])),
        ("correlation_id", Is::Text),
    ];
    let mut given = optional
        .iter()
        .filter(|(name, _)| it.members.contains_key(*name));
    given.try_for_each(|(name, is)| it.keeps(name, *is))
}

/// "evt_, sess_ and 1 to 64 ASCII alphanumerics".
fn has_ids(it: &Members) -> Result<(), String> {
    for (name, prefix) in [("event_id", "evt_"), ("session_id", "sess_")] {
        if !it.string(name).is_some_and(|it| is_id(&it, prefix)) {
            return Err(format!(
                "`{name}` must be {prefix} and 1 to 64 letters or digits"
            ));
        }
    }
    Ok(())
}

/// "RFC 3339 with 0, 3 or 6 fractional digits".
fn has_time(it: &Members) -> Result<(), String> {
    let text = it.string("timestamp").unwrap_or_default();
    let digits = text.split_once('.').map_or(0, |(_, rest)| {
        rest.bytes().take_while(u8::is_ascii_digit).count()
    });
    let is_time = time::parse(&text).is_some() && [0, 3, 6].contains(&digits);
    is_time
        .then_some(())
        .ok_or_else(|| "`timestamp` must be RFC 3339 with 0, 3 or 6 fractional digits".to_owned())
}

/// "No core type outside the list; foreign types are tolerated".
fn has_type(it: &Members) -> Result<(), String> {
    match it.core() {
        Some(core) if it.payload().is_none() => Err(format!("there is no core type {core}")),
        Some(_) | None => Ok(()),
    }
}

/// "Every blocking event carries a `reply_token`."
fn has_token(it: &Members) -> Result<(), String> {
    if it.is_blocking() {
        it.keeps("reply_token", Is::Text)
    } else {
        Ok(())
    }
}

/// AAEP-6.2.1-1: the prefix, and 1 to 64 letters and digits.
fn has_token_of_form(it: &Members) -> Result<(), String> {
    let is_formed = !it.is_blocking()
        || it
            .string("reply_token")
            .is_some_and(|it| is_id(&it, "rpl_"));
    is_formed
        .then_some(())
        .ok_or_else(|| "`reply_token` must be rpl_ and 1 to 64 letters or digits".to_owned())
}

/// "Required fields, types, enums" of its type.
fn has_payload(it: &Members) -> Result<(), String> {
    let Some((_, required, optional)) = it.payload() else {
        return Ok(());
    };
    let given = optional
        .iter()
        .filter(|(name, _)| it.members.contains_key(*name));
    required
        .iter()
        .chain(given)
        .try_for_each(|(name, is)| it.keeps(name, *is))
}

/// "Limits of the event type".
fn has_limits(it: &Members) -> Result<(), String> {
    let names = |member: &str| {
        it.members
            .get(member)
            .map(|_| it.get::<Vec<String>>(member).unwrap_or_default())
    };
    let differ = |all: &[String]| {
        (1..all.len()).all(|end| {
            all.get(..end)
                .zip(all.get(end))
                .is_some_and(|(earlier, it)| !earlier.contains(it))
        })
    };
    let is_list = |all: Option<Vec<String>>, most| {
        all.is_none_or(|it| (1..=most).contains(&it.len()) && differ(&it))
    };
    if !is_list(names("allowed_replies"), 32) {
        return Err("`allowed_replies` must be 1 to 32 different strings".to_owned());
    }
    let kinds = names("accepted_response_kinds");
    let is_kind = |it: &String| KINDS.iter().any(|(word, _)| word == it);
    if !is_list(kinds.clone(), 4) || !kinds.iter().flatten().all(is_kind) {
        return Err("`accepted_response_kinds` must be 1 to 4 different kinds".to_owned());
    }
    if it.members.contains_key("choices") {
        let choices: Vec<BTreeMap<String, String>> = it.get("choices").unwrap_or_default();
        let is_choice =
            |it: &BTreeMap<String, String>| it.contains_key("value") && it.contains_key("label");
        if !(2..=32).contains(&choices.len()) || !choices.iter().all(is_choice) {
            return Err("`choices` must be 2 to 32 objects with `value` and `label`".to_owned());
        }
    }
    if kinds.iter().flatten().any(|it| it == "multiple_choice")
        && !it.members.contains_key("choices")
    {
        return Err("`choices` must be there to choose from".to_owned());
    }
    let waits = it
        .get::<i64>("timeout_seconds")
        .filter(|_| it.is_blocking());
    if !waits.is_none_or(|it| (1..=86_400).contains(&it)) {
        return Err("`timeout_seconds` must be 1 to 86400".to_owned());
    }
    let is_progress = it.payload().is_some_and(|it| it.0 == "progress.updated");
    let progress: Plain = it.get("progress").unwrap_or_default();
    let says = ["percent", "step", "total_steps", "description"];
    if is_progress && !says.iter().any(|name| progress.get(name).is_some()) {
        return Err("`progress` must say something".to_owned());
    }
    Ok(())
}

/// "64 KiB per event, 16 KiB per string, depth 8, 32 envelope fields".
fn is_small(it: &Members) -> Result<(), String> {
    let is_short = |text: &Plain| text.as_str().is_none_or(|it| it.len() <= 16 << 10);
    let mut left: Vec<Plain> = serde_json::from_str(&it.text).into_iter().collect();
    while let Some(value) = left.pop() {
        if !is_short(&value) {
            return Err("a string is longer than 16 KiB".to_owned());
        }
        match value {
            Plain::Array(all) => left.extend(all),
            Plain::Object(all) => left.extend(all.into_iter().map(|it| it.1)),
            Plain::Null | Plain::Bool(_) | Plain::Number(_) | Plain::String(_) => {}
        }
    }
    let levels = crate::wire::json::meaning(&it.text).levels;
    if it.text.len() > 64 << 10 || levels > 8 {
        return Err("the event is larger than 64 KiB, or deeper than 8 levels".to_owned());
    }
    Ok(())
}

// ── What an event tells ──

impl Names {
    /// An event and its envelope. What cannot be said in the words of the spec is a text of its own.
    pub(super) fn event(
        &mut self,
        it: &Members,
        to: Option<&[String]>,
    ) -> (Output, Option<Envelope>) {
        let Some(session) = it.string("session_id") else {
            return (Output::Other(self.texts.number(&it.text)), None);
        };
        let envelope = Envelope {
            id: it.string("event_id").map(|it| self.events.number(&it)),
            sequence: it.get("sequence_number"),
            at: it.string("timestamp").and_then(|it| time::parse(&it)),
            is_critical: it.string("urgency").as_deref() == Some("critical"),
        };
        let event = Event {
            session: self.session(&session),
            what: self.what(it),
            to: to.map(|all| {
                let mut to: SmallVec<[u16; 2]> =
                    all.iter().map(|it| self.subscriptions.named(it)).collect();
                to.sort_unstable();
                to
            }),
        };
        (Output::Emit(event), Some(envelope))
    }

    fn what(&mut self, it: &Members) -> What {
        let Some((name, _, _)) = it.payload() else {
            return What::Other(self.texts.number(&it.string("type").unwrap_or_default()));
        };
        match *name {
            "session.started" => What::Started,
            "session.completed" => What::Ended(Outcome::Completed),
            "session.errored" => What::Ended(Outcome::Errored),
            "session.cancelled" => What::Ended(Outcome::Cancelled),
            "state.changed" => What::Changed {
                from: self.told_word(it, "from_state", &STATES, State::Other),
                to: self.told_word(it, "to_state", &STATES, State::Other),
            },
            "progress.updated" => What::Progress {
                left: it.get("eta_ms"),
            },
            "tool.invoked" => What::Invoked {
                call: self.told_call(it.string("tool_call_id")),
                tool: self.told(it, "tool"),
                risk: self.told_risk(it).unwrap_or(Risk::Low),
                irreversible: it.get("irreversible").unwrap_or(false),
            },
            "tool.completed" => What::Completed {
                call: self.told_call(it.string("tool_call_id")),
                tool: self.told(it, "tool"),
                status: self.told_word(it, "status", &STATUSES, Status::Other),
            },
            "output.streaming" => {
                let chunk = it.string("chunk").unwrap_or_default();
                What::Chunk(Written {
                    stream: it.string("output_id").map(|it| self.texts.number(&it)),
                    text: self.texts.number(&chunk),
                    characters: u32::try_from(chunk.chars().count()).unwrap_or(u32::MAX),
                    position: it.get("position").unwrap_or(i64::MIN),
                    is_last: it.get("complete").unwrap_or(false),
                })
            }
            "awaiting.confirmation" => What::Asked(Arc::new(self.asked(it))),
            "awaiting.clarification" => What::Queried(Arc::new(self.queried(it))),
            _ => What::HandedOff {
                reason: self.told(it, "reason"),
                target: self.told_word(it, "target_kind", &TARGETS, Target::Other),
                uri: it.string("target_uri").map(|it| self.texts.number(&it)),
            },
        }
    }

    fn asked(&mut self, it: &Members) -> Asked {
        let context: Plain = it.get("extra_context").unwrap_or_default();
        let call = context
            .get("tool_call_id")
            .and_then(Plain::as_str)
            .map(str::to_owned);
        let allowed: Option<Vec<String>> = it.get("allowed_replies");
        Asked {
            at: it
                .string("timestamp")
                .and_then(|it| time::parse(&it))
                .unwrap_or(Time::MIN),
            token: it
                .string("reply_token")
                .map_or(NOTHING, |it| self.tokens.put_out(&it)),
            call: self.told_call(call),
            description: self.told(it, "action"),
            consequence: self.told(it, "consequence"),
            timeout: it.get("timeout_seconds").map_or(Time::MIN, millis),
            default: self.told_word(it, "default_decision", &DECISIONS, Decision::Other),
            risk: self.told_risk(it),
            irreversible: it.get("irreversible"),
            allowed: allowed.map(|all| {
                all.iter()
                    .map(|it| self.word(it, &DECISIONS, Decision::Other))
                    .collect()
            }),
        }
    }

    fn queried(&mut self, it: &Members) -> Queried {
        let kinds: Option<Vec<String>> = it.get("accepted_response_kinds");
        let known = |word: &String| KINDS.iter().find(|it| it.0 == word).map(|it| it.1);
        let choices: Option<Vec<BTreeMap<String, Plain>>> = it.get("choices");
        let mut name = |of: &BTreeMap<String, Plain>, member: &str| {
            let text = of.get(member).and_then(Plain::as_str);
            text.map_or(NOTHING, |it| self.texts.number(it))
        };
        let choices = choices.map(|all| {
            all.iter()
                .map(|it| (name(it, "value"), name(it, "label")))
                .collect()
        });
        Queried {
            at: it
                .string("timestamp")
                .and_then(|it| time::parse(&it))
                .unwrap_or(Time::MIN),
            token: it
                .string("reply_token")
                .map_or(NOTHING, |it| self.tokens.put_out(&it)),
            question: self.told(it, "question"),
            timeout: it.get("timeout_seconds").map_or(Time::MIN, millis),
            kinds: kinds.map(|all| all.iter().filter_map(known).collect()),
            choices,
            default: it
                .string("default_response")
                .map(|it| self.texts.number(&it)),
        }
    }

    fn told(&mut self, it: &Members, member: &str) -> Name {
        it.string(member)
            .map_or(NOTHING, |it| self.texts.number(&it))
    }

    fn told_call(&mut self, id: Option<String>) -> Option<CallId> {
        id.map(|it| self.calls.put_out(&it))
    }

    fn told_word<T: Copy>(
        &mut self,
        it: &Members,
        member: &str,
        words: &[(&str, T)],
        other: fn(Name) -> T,
    ) -> T {
        it.string(member)
            .map_or_else(|| other(NOTHING), |text| self.word(&text, words, other))
    }

    fn told_risk(&mut self, it: &Members) -> Option<Risk> {
        it.string("risk_level")
            .map(|text| self.word(&text, &RISKS, Risk::Other))
    }
}

// ── The way back ──

/// What a model has written so far, so that each event gets its envelope.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer {
    events: u32,
    /// The number of the next event of a session, and the latest timestamp.
    lines: BTreeMap<SessionId, (i64, Time)>,
    /// The events of the last response, each with its place.
    sent: Vec<(usize, Sent)>,
    /// What was lost in a crash, and comes again.
    lost: Vec<Sent>,
}

/// An event that was written.
#[derive(Clone, Debug)]
struct Sent {
    event: Event,
    id: String,
    at: Time,
    before: (i64, Time),
}

impl Writer {
    /// A call is made: of the last response so many outputs were lost.
    pub(super) fn called(&mut self, lost: usize, outputs: usize) {
        // Where more were lost than there were, nothing was.
        let kept = outputs.checked_sub(lost).unwrap_or(outputs);
        self.lost.clear();
        for (place, sent) in std::mem::take(&mut self.sent).into_iter().rev() {
            if place >= kept {
                self.lines.insert(sent.event.session, sent.before);
                self.lost.insert(0, sent);
            }
        }
    }
}

impl Names {
    pub(super) fn event_of(&mut self, place: usize, event: &Event) -> Option<Json> {
        let again = self.writer.lost.iter().position(|it| it.event == *event);
        let again = again.map(|it| self.writer.lost.remove(it));
        let before = self
            .writer
            .lines
            .get(&event.session)
            .copied()
            .unwrap_or((0, Time::MIN));
        let at = again.as_ref().map_or(self.now, |it| it.at).max(before.1);
        let is_asked = event.what.asks().is_some();
        let id = again.filter(|_| !is_asked).map_or_else(
            || {
                self.writer.events += 1;
                format!("evt_{}", self.writer.events)
            },
            |it| it.id,
        );
        let at = if let What::Asked(it) = &event.what {
            it.at
        } else if let What::Queried(it) = &event.what {
            it.at
        } else {
            at
        };
        self.writer.lines.insert(event.session, (before.0 + 1, at));
        let sent = Sent {
            event: event.clone(),
            id: id.clone(),
            at,
            before,
        };
        self.writer.sent.push((place, sent));
        let (name, payload) = self.payload_of(&event.what)?;
        let is_critical = is_asked
            || matches!(
                event.what,
                What::HandedOff { .. } | What::Ended(Outcome::Errored)
            );
        let envelope = vec![
            ("@context", json!(CONTEXT)),
            ("type", json!(name)),
            ("event_id", json!(id)),
            ("session_id", json!(self.session_of(event.session))),
            ("timestamp", json!(time::write(at))),
            ("producer", json!({"agent_id": "countersign-model"})),
            ("sequence_number", json!(before.0)),
            (
                "urgency",
                json!(if is_critical { "critical" } else { "normal" }),
            ),
        ];
        let given = envelope
            .into_iter()
            .chain(payload)
            .filter(|(_, it)| !it.is_null());
        let members: serde_json::Map<_, _> =
            given.map(|(name, it)| (name.to_owned(), it)).collect();
        Json::of(&members).ok()
    }

    /// The type of an event, and what it tells.
    fn payload_of(&mut self, what: &What) -> Option<(String, Vec<(&'static str, Plain)>)> {
        let summary = ("summary_normal", json!("It goes on."));
        let (name, fields) = match what {
            What::Started => ("session.started", vec![summary]),
            What::Ended(outcome) => {
                let (word, _) = OUTCOMES.iter().find(|it| it.1 == *outcome)?;
                let fields = vec![
                    summary,
                    (
                        "error_category",
                        json!((*word == "errored").then_some("unknown")),
                    ),
                    (
                        "cancelled_by",
                        json!((*word == "cancelled").then_some("producer")),
                    ),
                ];
                return Some((format!("aaep:agent.session.{word}"), fields));
            }
            What::Changed { from, to } => (
                "state.changed",
                vec![
                    ("from_state", json!(self.word_of(*from, &STATES))),
                    ("to_state", json!(self.word_of(*to, &STATES))),
                ],
            ),
            What::Progress { left } => (
                "progress.updated",
                vec![
                    ("progress", json!({"description": "It goes on."})),
                    ("eta_ms", json!(left)),
                ],
            ),
            What::Invoked {
                call,
                tool,
                risk,
                irreversible,
            } => (
                "tool.invoked",
                vec![
                    summary,
                    ("tool", json!(self.name_of(*tool))),
                    ("tool_call_id", json!(call.map(|it| self.call_named(it)))),
                    ("risk_level", json!(self.word_of(*risk, &RISKS))),
                    ("irreversible", json!(irreversible)),
                ],
            ),
            What::Completed { call, tool, status } => (
                "tool.completed",
                vec![
                    ("tool", json!(self.name_of(*tool))),
                    ("tool_call_id", json!(call.map(|it| self.call_named(it)))),
                    ("status", json!(self.word_of(*status, &STATUSES))),
                ],
            ),
            What::Chunk(it) => {
                let empty = (it.text == NOTHING).then(String::new);
                (
                    "output.streaming",
                    vec![
                        ("output_id", json!(it.stream.map(|it| self.name_of(it)))),
                        (
                            "chunk",
                            json!(empty.unwrap_or_else(|| self.name_of(it.text))),
                        ),
                        ("position", json!(it.position)),
                        ("complete", json!(it.is_last)),
                    ],
                )
            }
            What::HandedOff {
                reason,
                target,
                uri,
            } => (
                "handoff.requested",
                vec![
                    ("reason", json!(self.name_of(*reason))),
                    ("target_kind", json!(self.word_of(*target, &TARGETS))),
                    ("target_uri", json!(uri.map(|it| self.name_of(it)))),
                ],
            ),
            What::Asked(it) => ("awaiting.confirmation", self.fields_of_asked(it)),
            What::Queried(it) => ("awaiting.clarification", self.fields_of_queried(it)),
            What::Other(name) => return Some((self.name_of(*name), Vec::new())),
        };
        Some((format!("aaep:agent.{name}"), fields))
    }

    fn fields_of_asked(&mut self, it: &Asked) -> Vec<(&'static str, Plain)> {
        let call = it
            .call
            .map(|it| json!({"tool_call_id": self.call_named(it)}));
        let words = |all: &SmallVec<[Decision; 2]>| -> Vec<String> {
            all.iter().map(|it| self.word_of(*it, &DECISIONS)).collect()
        };
        let allowed = it.allowed.as_ref().map(words);
        vec![
            ("action", json!(self.name_of(it.description))),
            ("consequence", json!(self.name_of(it.consequence))),
            ("reply_token", json!(self.token_of(it.token))),
            ("timeout_seconds", json!(it.timeout / 1000)),
            (
                "default_decision",
                json!(self.word_of(it.default, &DECISIONS)),
            ),
            (
                "risk_level",
                json!(it.risk.map(|it| self.word_of(it, &RISKS))),
            ),
            ("irreversible", json!(it.irreversible)),
            ("allowed_replies", json!(allowed)),
            ("extra_context", json!(call)),
        ]
    }

    fn fields_of_queried(&mut self, it: &Queried) -> Vec<(&'static str, Plain)> {
        let word = |kind| KINDS.iter().find(|it| it.1 == kind).map(|it| it.0);
        let kinds = it
            .kinds
            .as_ref()
            .map(|all| all.iter().filter_map(|it| word(*it)).collect::<Vec<_>>());
        let choice = |(value, label): &(Name, Name)| json!({"value": self.name_of(*value), "label": self.name_of(*label)});
        let choices = it
            .choices
            .as_ref()
            .map(|all| all.iter().map(choice).collect::<Vec<_>>());
        vec![
            ("question", json!(self.name_of(it.question))),
            ("reply_token", json!(self.token_of(it.token))),
            ("timeout_seconds", json!(it.timeout / 1000)),
            ("accepted_response_kinds", json!(kinds)),
            ("choices", json!(choices)),
            (
                "default_response",
                json!(it.default.map(|it| self.name_of(it))),
            ),
        ]
    }
}
