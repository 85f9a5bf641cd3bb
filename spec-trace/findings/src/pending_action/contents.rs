//! What the record holds, what is shown of it, and what runs: problem section, shape, pausing and resuming.

use serde_json::Value;

use super::{approved, decision, record, shown, value, with};
use crate::every::{each_op, every, kept};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "Problem",
        judge: exactly_that_action,
    },
    Judge {
        name: "Problem: the decision is still pending",
        judge: consent_comes_with_the_decision,
    },
    Judge {
        name: "Desired contract: shape: one possibility",
        judge: a_record,
    },
    Judge {
        name: "Desired contract: shape: every field",
        judge: every_field,
    },
    Judge {
        name: "Desired contract: shape: what the record holds runs",
        judge: as_recorded,
    },
    Judge {
        name: "Desired contract: on allow: the original arguments",
        judge: as_proposed,
    },
    Judge {
        name: "Acceptance: paused and resumed: the same text",
        judge: as_proposed,
    },
    Judge {
        name: "Acceptance: paused and resumed: the same value",
        judge: the_same_value,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "PA-F1",
        judge: the_host_states_consent,
    },
    Judge {
        name: "PA-F2",
        judge: required_fields,
    },
    Judge {
        name: "PA-F3",
        judge: summary_of_the_arguments,
    },
    Judge {
        name: "PA-F11",
        judge: frozen,
    },
    Judge {
        name: "PA-F16",
        judge: text_of_one_meaning,
    },
];

/// Problem: what is pending is the user's decision to execute exactly what was shown.
fn exactly_that_action(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        approved(run, number, it) && shown(run, number, it)
    })
}

/// Problem: the decision is pending, and what runs then is the call that says that it is confirmed.
fn consent_comes_with_the_decision(run: &Run) -> Verdict {
    every(run, |number, it| {
        let record = record(run, number, it);
        match it.text("op") {
            "propose" if it.has("~consent") => kept(consent(it, it) != &Value::Bool(true), number),
            "perform" if record.is_some_and(|it| it.has("~consent")) => {
                let record = record.unwrap_or(it);
                kept(consent(record, it) == &Value::Bool(true), number)
            }
            _ => Verdict::Silent,
        }
    })
}

/// What a call says in the argument by which the tool is told of consent.
fn consent<'a>(record: &Step, call: &'a Step) -> &'a Value {
    let name = record.text("~consent");
    call.get("arguments").get(name).unwrap_or(&Value::Null)
}

/// Shape, as one possibility: there is a record, whatever it holds.
fn a_record(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        record(run, number, it).is_some()
    })
}

/// Shape, as the contract: every field of the list.
fn every_field(run: &Run) -> Verdict {
    let fields = [
        "action_id",
        "session_id",
        "tool",
        "arguments",
        "effect",
        "summary",
        "expires_at",
    ];
    each_op(run, "propose", |_, it| {
        fields.iter().all(|name| it.has(name))
    })
}

/// Shape: the record holds the arguments to execute, as it stands when they are.
fn as_recorded(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        let changed = with(run, number, it, "change").last().map(|(_, it)| it);
        let held = changed.or_else(|| record(run, number, it));
        held.is_some_and(|held| held.get("arguments") == it.get("arguments"))
    })
}

/// On allow, and on resuming: the arguments of the proposal, to the letter.
fn as_proposed(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        let record = record(run, number, it);
        record.is_some_and(|record| record.get("arguments") == it.get("arguments"))
    })
}

/// On resuming: arguments that are equal as a reader of JSON has them that keeps numbers as doubles.
fn the_same_value(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        let doubles = |step: &Step| in_doubles(value(step.get("arguments")));
        record(run, number, it).is_some_and(|record| doubles(record) == doubles(it))
    })
}

/// JSON with every number as a double.
fn in_doubles(json: Value) -> Value {
    match json {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(all) => all.into_iter().map(in_doubles).collect(),
        Value::Object(all) => {
            let all = all.into_iter().map(|(name, it)| (name, in_doubles(it)));
            Value::Object(all.collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::String(_)) => other,
    }
}

/// Mended: the record names the argument that states consent, the proposal leaves it out, and the host sets it on allow.
fn the_host_states_consent(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "propose" if it.has("~consent") && it.get("consent") != it.get("~consent") => {
            Verdict::Lacks(number)
        }
        "propose" => kept(
            it.get("arguments").get(it.text("consent")).is_none(),
            number,
        ),
        "perform" => {
            let Some(record) = record(run, number, it) else {
                return Verdict::Wrong(number);
            };
            let mut wanted = record.get("arguments").clone();
            if record.has("consent") {
                wanted[record.text("consent")] = Value::Bool(decision(run, number, it) == "allow");
            }
            kept(wanted == *it.get("arguments"), number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: these fields are required, and without an expiry it is ten minutes.
fn required_fields(run: &Run) -> Verdict {
    let fields = [
        "action_id",
        "session_id",
        "tool",
        "arguments",
        "effect",
        "summary",
        "state",
    ];
    every(run, |number, it| match it.text("op") {
        "propose" if !fields.iter().all(|name| it.has(name)) => Verdict::Lacks(number),
        "propose" => Verdict::Right,
        "perform" => {
            let record = record(run, number, it);
            let ten_minutes = |record: &Step| record.at + 600_000;
            let expiry = |it| crate::every::time(it, "expires_at").unwrap_or(ten_minutes(it));
            kept(record.is_some_and(|record| it.at < expiry(record)), number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: the summary is made from the arguments and shows all of them.
fn summary_of_the_arguments(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "propose" if !it.has("summary") => Verdict::Lacks(number),
        "propose" => kept(*it.get("summary") == value(it.get("arguments")), number),
        _ => Verdict::Silent,
    })
}

/// Mended: no record changes; an allow with other arguments is refused, and a denial denies whatever else it holds.
fn frozen(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "change" => Verdict::Wrong(number),
        "propose" => {
            let old = with(run, number, it, "propose").all(|(_, old)| old.members == it.members);
            kept(old, number)
        }
        "perform" => {
            let record = record(run, number, it).map(|it| it.get("arguments"));
            let same = |it: &Step| record.is_some_and(|record| record == it.get("arguments"));
            let denied = with(run, number, it, "decide").any(|(_, it)| it.is("decision", "deny"));
            let allowed = with(run, number, it, "decide")
                .any(|(_, it)| it.is("decision", "allow") && (!it.has("arguments") || same(it)));
            let cancelled = with(run, number, it, "cancel").next().is_some();
            kept(same(it) && allowed && !denied && !cancelled, number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: the text that was received is kept, shown and run, and none with repeated names is registered.
fn text_of_one_meaning(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "propose" => {
            let text = it.text("arguments");
            let read = value(it.get("arguments"));
            let is_text = it.get("arguments").is_string();
            let once = !is_text || members_written(text) == members(&read);
            kept(once && *it.get("summary") == read, number)
        }
        "perform" => {
            let record = record(run, number, it);
            let same = record.is_some_and(|it_| it_.get("arguments") == it.get("arguments"));
            kept(same, number)
        }
        _ => Verdict::Silent,
    })
}

/// How many members a text of JSON writes: colons outside strings.
fn members_written(text: &str) -> usize {
    let unescaped = text.replace("\\\\", "").replace("\\\"", "");
    unescaped
        .split('"')
        .step_by(2)
        .map(|it| it.matches(':').count())
        .sum()
}

/// How many members there are after reading.
fn members(json: &Value) -> usize {
    match json {
        Value::Object(all) => all.len() + all.values().map(members).sum::<usize>(),
        Value::Array(all) => all.iter().map(members).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
