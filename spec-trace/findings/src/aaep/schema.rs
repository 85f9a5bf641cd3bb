//! Single messages and events, held against the reply schema and the table of 6.4.1.
//!
//! A step with `type` is a message as it stands on the wire.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::consent::is_question;
use crate::every::{each, together};
use crate::run::{Judge, Run, Step, Verdict};
use crate::schemas::{Validator, compile};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "schema, formats asserted",
        judge: |run| by(run, &ASSERTED),
    },
    Judge {
        name: "schema, formats annotated",
        judge: |run| by(run, &ANNOTATED),
    },
    Judge {
        name: "schema, $ before a newline",
        judge: |run| {
            each(run, is_message, |_, it| {
                is_asserted(&without_newline(&wire(it)))
            })
        },
    },
    Judge {
        name: "6.4.1 by irreversible",
        judge: |run| default_rule(run, |it| it.get("irreversible") == true),
    },
    Judge {
        name: "6.4.1 by reversibility",
        judge: |run| default_rule(run, |it| it.is("reversibility", "irreversible")),
    },
    Judge {
        name: "6.9 session",
        judge: |run| each(run, is_message, |_, it| it.has("session_id")),
    },
    Judge {
        name: "6.11",
        judge: |run| {
            each(run, is_message, |_, it| {
                is_asserted(&without_new_members(&wire(it)))
            })
        },
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AAEP-F27",
        judge: |run| default_rule(run, is_graver),
    },
    Judge {
        name: "AAEP-F40",
        judge: of_its_session,
    },
    Judge {
        name: "AAEP-F42",
        judge: |run| by(run, &READABLE),
    },
    Judge {
        name: "AAEP-F43",
        judge: |run| by(run, &EXTENSIBLE),
    },
];

type Compiled = LazyLock<Option<Validator>>;

/// The reply schema as the text has it.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../cli/schemas/confirmation.reply.schema.json");
    serde_json::from_str(text).unwrap_or_default()
});

/// A validator that asserts formats and takes patterns by ECMA-262.
static ASSERTED: Compiled = LazyLock::new(|| compile(&SCHEMA, true));

/// A validator to which a format is a remark, the default of 2020-12.
static ANNOTATED: Compiled = LazyLock::new(|| compile(&SCHEMA, false));

/// Mended: the form of the time is a pattern, and formats are asserted as well.
static READABLE: Compiled = LazyLock::new(|| {
    let time = r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$";
    compile(
        &with(
            "timestamp",
            &json!({ "type": "string", "format": "date-time", "pattern": time }),
        ),
        true,
    )
});

/// Mended: `session_id` may be there.
static WITH_SESSION: Compiled = LazyLock::new(|| {
    let id = json!({ "type": "string", "pattern": "^sess_[A-Za-z0-9]{1,64}$" });
    compile(&with("session_id", &id), true)
});

/// Mended: one object `extensions` may be there.
static EXTENSIBLE: Compiled =
    LazyLock::new(|| compile(&with("extensions", &json!({ "type": "object" })), true));

/// The schema with one more property, or another rule for it.
fn with(name: &str, rule: &Value) -> Value {
    let mut schema = SCHEMA.clone();
    schema["properties"][name] = rule.clone();
    schema
}

fn is_message(step: &Step) -> bool {
    step.has("type")
}

/// The members that are on the wire.
fn wire(step: &Step) -> Value {
    let members = step
        .members
        .iter()
        .filter(|(name, _)| !name.starts_with('~'));
    members
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn by(run: &Run, validator: &Compiled) -> Verdict {
    each(run, is_message, |_, it| {
        validator
            .as_ref()
            .is_some_and(|validator| validator.is_valid(&wire(it)))
    })
}

fn is_asserted(message: &Value) -> bool {
    ASSERTED.as_ref().is_some_and(|it| it.is_valid(message))
}

/// What the anchor leaves to be matched where it stands before a final newline.
fn without_newline(message: &Value) -> Value {
    let members = message.as_object().into_iter().flatten();
    members
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map(|text| text.strip_suffix('\n').unwrap_or(text));
            (
                name.clone(),
                text.map_or_else(|| value.clone(), Value::from),
            )
        })
        .collect()
}

/// 6.11: new fields break nothing, so that what is left without them decides.
fn without_new_members(message: &Value) -> Value {
    let members = message.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| SCHEMA["properties"].get(name.as_str()).is_some())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// 6.4.1: an irreversible action of high or medium risk is rejected by default.
fn default_rule(run: &Run, is_irreversible: impl Fn(&Step) -> bool) -> Verdict {
    each(run, is_question, |_, it| {
        let graver = it.is("risk_level", "high") || it.is("risk_level", "medium");
        !graver || !is_irreversible(it) || it.is("default_decision", "reject")
    })
}

/// Mended: of the two ratings the graver counts, and an effort counts as irreversible.
fn is_graver(step: &Step) -> bool {
    let of_effort = ["irreversible", "reversible_with_effort"];
    step.get("irreversible") == true || of_effort.contains(&step.text("reversibility"))
}

/// Mended: a session that is named is that of the question.
fn of_its_session(run: &Run) -> Verdict {
    let same = each(run, is_message, |number, it| {
        let mut before = run.before(number);
        let question = before.find(|(_, step)| {
            is_question(step) && step.get("reply_token") == it.get("reply_token")
        });
        !it.has("session_id")
            || question.is_some_and(|(_, step)| step.get("session_id") == it.get("session_id"))
    });
    together([by(run, &WITH_SESSION), same])
}
