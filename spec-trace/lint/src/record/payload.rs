//! AAEP-EV-5: the payload of each core event type: its fields, their types, words and limits.

use std::time::Duration;

use super::fields::{Fields, Need, whole};
use super::{
    Allowed, Chunk, Clarification, Decision, Ending, EventKind, Question, ResponseKind, Risk,
};
use crate::json::tree::Value;
use crate::rules;

use Need::{Optional, Required};

const RISKS: [(&str, Risk); 3] = [
    ("low", Risk::Low),
    ("medium", Risk::Medium),
    ("high", Risk::High),
];

/// The longest time that a question may wait, in seconds: a day.
const LONGEST_TIMEOUT: i64 = 86_400;

/// Reads the payload of an event whose type is `aaep:agent.` and `name`; `None` for a name that is not on the list.
pub fn read<'a>(name: &str, fields: &mut Fields<'a, '_>) -> Option<EventKind<'a>> {
    Some(match name {
        "session.started" => {
            fields.text("summary_normal", Required);
            EventKind::Started
        }
        "session.completed" => {
            fields.text("summary_normal", Required);
            EventKind::Ended(Ending::Completed)
        }
        "session.errored" => {
            const CATEGORIES: [&str; 4] = ["transient", "permanent", "requires_user", "unknown"];
            fields.word("error_category", Required, &CATEGORIES);
            fields.text("summary_normal", Required);
            EventKind::Ended(Ending::Errored)
        }
        "session.cancelled" => {
            const BY: [&str; 4] = ["user", "producer", "timeout", "system"];
            fields.word("cancelled_by", Required, &BY);
            fields.text("summary_normal", Required);
            EventKind::Ended(Ending::Cancelled)
        }
        "state.changed" => EventKind::StateChanged {
            from: fields.text("from_state", Required),
            to: fields.text("to_state", Required),
        },
        "progress.updated" => {
            progress(fields);
            EventKind::Progress {
                eta: fields.present("eta_ms").and_then(milliseconds),
            }
        }
        "tool.invoked" => {
            fields.text("summary_normal", Required);
            fields.text("tool_call_id", Optional);
            EventKind::Invoked {
                risk: fields.one_of("risk_level", Optional, &RISKS),
                tool: fields.text("tool", Required),
                irreversible: fields.flag("irreversible", Optional).unwrap_or(false),
                arguments: fields.present("args_summary").and_then(Value::as_str),
            }
        }
        "tool.completed" => {
            fields.word("status", Required, &["success", "error", "timeout"]);
            fields.text("tool_call_id", Optional);
            EventKind::Completed {
                tool: fields.text("tool", Required),
                success: fields.present("status").and_then(Value::as_str) == Some("success"),
            }
        }
        "output.streaming" => EventKind::Output(chunk(fields)),
        "awaiting.confirmation" => EventKind::Asked(question(fields)),
        "awaiting.clarification" => EventKind::Clarifying(clarification(fields)),
        "handoff.requested" => {
            const TARGETS: [&str; 3] = ["human", "specialist_agent", "escalation_queue"];
            fields.text("reason", Required);
            fields.word("target_kind", Required, &TARGETS);
            EventKind::Handoff
        }
        _ => return None,
    })
}

fn progress(fields: &mut Fields<'_, '_>) {
    const ONE_OF: [&str; 4] = ["percent", "step", "total_steps", "description"];
    let Some(progress) = fields.object("progress", Required) else {
        return;
    };
    if !ONE_OF.iter().any(|name| progress.contains_key(name)) {
        fields.fault("progress has none of percent, step, total_steps, description".to_owned());
    }
    let percent = progress.get("percent").filter(|percent| !percent.is_null());
    let in_range = |percent: Value<'_>| {
        let number = percent.as_f64();
        number.is_some_and(|number| (0.0..=100.0).contains(&number))
    };
    if percent.is_some_and(|percent| !in_range(percent)) {
        fields.fault("progress.percent is not a number from 0 to 100".to_owned());
    }
}

/// `eta_ms`, of which the wire facts say no more than its unit. What is beyond any clock is as long as it gets.
fn milliseconds(eta: Value<'_>) -> Option<i64> {
    let eta = eta.as_f64().filter(|it| *it >= 0.0)?;
    let eta = Duration::try_from_secs_f64(eta / 1_000.0).unwrap_or(Duration::MAX);
    Some(i64::try_from(eta.as_millis()).unwrap_or(i64::MAX))
}

fn chunk<'a>(fields: &mut Fields<'a, '_>) -> Chunk<'a> {
    let text = fields.text("chunk", Required);
    Chunk {
        output: fields.text("output_id", Optional),
        characters: text.map(|text| text.chars().count() as u64),
        units: text.map(|text| text.encode_utf16().count() as u64),
        ascii: text.is_some_and(str::is_ascii),
        position: fields
            .whole("position", Required, 0, i64::MAX)
            .and_then(|position| u64::try_from(position).ok()),
        complete: fields.flag("complete", Required),
    }
}

fn question<'a>(fields: &mut Fields<'a, '_>) -> Question<'a> {
    const REVERSIBILITIES: [(&str, bool); 3] = [
        ("reversible", false),
        ("reversible_with_effort", false),
        ("irreversible", true),
    ];
    let in_words = fields.one_of("reversibility", Optional, &REVERSIBILITIES);
    fields.object("extra_context", Optional);
    let allowed = fields.texts("allowed_replies", Optional, (1, 32));
    let mut text = |name| fields.text(name, Required).unwrap_or_default();
    let prose = (text("action"), text("consequence"));
    Question {
        timeout: fields.whole("timeout_seconds", Required, 1, LONGEST_TIMEOUT),
        default: fields.one_of(
            "default_decision",
            Required,
            &[("accept", Decision::Accept), ("reject", Decision::Reject)],
        ),
        risk: fields.one_of("risk_level", Optional, &RISKS),
        irreversible: fields
            .flag("irreversible", Optional)
            .or(in_words)
            .unwrap_or(false),
        allowed: allowed.map_or_else(Allowed::usual, |words| Allowed::of(&words)),
        prose,
        token: token(fields),
    }
}

fn clarification(fields: &mut Fields<'_, '_>) -> Clarification {
    const KINDS: [(&str, ResponseKind); 4] = [
        ("freetext", ResponseKind::FreeText),
        ("yes_no", ResponseKind::YesNo),
        ("multiple_choice", ResponseKind::MultipleChoice),
        ("numeric", ResponseKind::Numeric),
    ];
    let kinds = fields.value(
        "accepted_response_kinds",
        Optional,
        "an array of 1 to 4 of freetext, yes_no, multiple_choice, numeric",
        |value| {
            let kinds: Option<Vec<ResponseKind>> = value
                .as_array()?
                .iter()
                .map(|kind| {
                    let found = KINDS.iter().find(|(word, _)| Some(*word) == kind.as_str());
                    found.map(|(_, kind)| *kind)
                })
                .collect();
            kinds.filter(|kinds| (1..=4).contains(&kinds.len()))
        },
    );
    let choices = fields.value(
        "choices",
        Optional,
        "an array of 2 to 32 choices, each with a value and a label",
        |value| {
            let choices = value.as_array()?.iter().map(|choice| {
                choice.get("label")?.as_str()?;
                choice.get("value")?.as_str().map(str::to_owned)
            });
            let choices: Option<Vec<String>> = choices.collect();
            choices.filter(|choices| (2..=32).contains(&choices.len()))
        },
    );
    let offers = kinds
        .as_ref()
        .is_some_and(|kinds| kinds.contains(&ResponseKind::MultipleChoice));
    if offers && fields.present("choices").is_none() {
        fields.fault("choices are missing, and multiple_choice is accepted".to_owned());
    }
    Clarification {
        has_default: fields.text("default_response", Optional).is_some(),
        question: fields
            .text("question", Required)
            .unwrap_or_default()
            .to_owned(),
        // Only for a confirmation are limits given.
        timeout: fields
            .value("timeout_seconds", Required, "a number", |value| {
                value.as_f64().map(|_| whole(value))
            })
            .flatten(),
        kinds,
        choices,
        token: token(fields).map(str::to_owned),
    }
}

/// Read last, for its faults have rules of their own.
fn token<'a>(fields: &mut Fields<'a, '_>) -> Option<&'a str> {
    // AAEP-6.2-1: every question carries a token. AAEP-6.2.1-1: its form.
    if fields.present("reply_token").is_none() {
        fields
            .under(&rules::NO_TOKEN)
            .fault("reply_token is missing".to_owned());
        return None;
    }
    fields
        .under(&rules::TOKEN_FORM)
        .identifier("reply_token", "rpl_")
}
