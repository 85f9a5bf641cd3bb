//! Pending actions: passages, mended wordings, guarantees.
//!
//! A step is what the host, its loop, a person or the world does, `op`, mostly to the action of `action_id`:
//!
//! - `propose`: the record is made, with what it holds: `session_id`, `agent_id`, `tool`, `arguments` (any JSON; a string is text of
//!   JSON), `effect`, `expires_at` (a time of day), `state`, `deciders`, `label`. `summary` stands as the arguments that it states.
//!   `~user` is the person for whom the agent works, `~consent` the argument by which the tool is told that somebody agreed.
//! - `change`: the record gets other `arguments`. `start`: it is stored that the tool will be called. `perform`: the tool is called with
//!   `arguments`; `~does` is what it makes of them, where that is something else. `finish`: it returns with a `status`.
//! - `decide`: a structured decision, `allow` or `deny`, of `by`; it may bring `arguments`; `~meant` is the action that the person had
//!   before them, where the decision names none or another. `told` is what the host answers, as `late`.
//! - `say`: `text` that `answers` an action, and how it is `taken`: by the `model`, or as a decision; `~decision` is what the person
//!   wants, `~clear` whether nobody can doubt it.
//!   Mended wordings add to the record `consent` (what is `~consent` to the tool) and `typed_words_decide`.
//! - `append` (to the transcript) and `event`, each with its `type`; `cancel`, `end_session`, `restart`, `in_doubt` (a report).
//! - The last step may say `"~end":true`: nothing comes after it.

mod contents;
mod decisions;
mod running;
mod transcript;

use serde_json::Value;

use crate::every::{broken, each_op, end, every, kept};
use crate::run::{Guarantee, Run, Step, Text, Verdict};

/// What is executable of the document.
pub static TEXT: Text = Text {
    #[cfg(feature = "execute")]
    passages: &[
        contents::PASSAGES,
        decisions::PASSAGES,
        running::PASSAGES,
        transcript::PASSAGES,
    ],
    #[cfg(feature = "execute")]
    repairs: &[
        contents::REPAIRS,
        decisions::REPAIRS,
        running::REPAIRS,
        transcript::REPAIRS,
    ],
    guarantees: &[
        Guarantee {
            name: "nothing-unapproved-runs",
            section: "Acceptance: paused and resumed",
            means: "a tool is called only where the user allowed it",
            broken: |run| {
                broken(each_op(run, "perform", |number, it| {
                    approved(run, number, it)
                }))
            },
        },
        Guarantee {
            name: "what-was-shown-is-what-runs",
            section: "Problem",
            means: "the summary stated what runs",
            broken: |run| broken(each_op(run, "perform", |number, it| shown(run, number, it))),
        },
        Guarantee {
            name: "at-most-once",
            section: "Acceptance: expired or resolved",
            means: "a pending action is performed once",
            broken: |run| {
                let first = |number, it: &Step| with(run, number, it, "perform").next().is_none();
                broken(each_op(run, "perform", first))
            },
        },
        Guarantee {
            name: "a-decision-stays",
            section: "Acceptance: expired or resolved",
            means: "what was decided once is not turned round",
            broken: |run| broken(every(run, |number, it| is_turned(run, number, it))),
        },
        Guarantee {
            name: "a-rejected-action-never-runs",
            section: "Acceptance: deny or cancel",
            means: "what the user denied does not run",
            broken: |run| {
                broken(each_op(run, "perform", |number, it| {
                    !is_rejected(run, number, it)
                }))
            },
        },
        Guarantee {
            name: "no-decision-is-lost",
            section: "Desired contract: decision",
            means: "what was allowed is performed or reported",
            broken: is_lost,
        },
    ],
    notes: &[
        ("~user", "the person for whom the agent works"),
        (
            "~consent",
            "the argument by which the tool is told that somebody agreed",
        ),
        ("~does", "what the tool makes of its arguments"),
        ("~meant", "the action that the person had in view"),
        ("~decision", "what the person wants"),
        ("~clear", "nobody can doubt what the words mean"),
    ],
};

/// The steps before this one with that `op` and the same action, the first one first.
fn with<'a>(
    run: &'a Run,
    number: usize,
    of: &'a Step,
    op: &'a str,
) -> impl Iterator<Item = (usize, &'a Step)> {
    run.steps()
        .take_while(move |(place, _)| *place < number)
        .filter(move |(_, it)| it.is("op", op) && it.get("action_id") == of.get("action_id"))
}

/// The steps of the whole run with that `op` and the same action.
fn all_with<'a>(
    run: &'a Run,
    of: &'a Step,
    op: &'a str,
) -> impl Iterator<Item = (usize, &'a Step)> {
    with(run, usize::MAX, of, op)
}

/// The record of the action of a step, as it was made before that.
fn record<'a>(run: &'a Run, number: usize, of: &'a Step) -> Option<&'a Step> {
    with(run, number, of, "propose").last().map(|(_, it)| it)
}

/// The first decision on the action of a step.
fn decision<'a>(run: &'a Run, number: usize, of: &'a Step) -> &'a str {
    let first = with(run, number, of, "decide").next();
    first.map_or("", |(_, it)| it.text("decision"))
}

/// JSON that is given as text, read; the last of repeated members counts.
fn value(json: &Value) -> Value {
    let text = json.as_str();
    text.map_or_else(
        || json.clone(),
        |text| serde_json::from_str(text).unwrap_or_default(),
    )
}

/// What the tool makes of its arguments.
fn does(perform: &Step) -> Value {
    let name = if perform.has("~does") {
        "~does"
    } else {
        "arguments"
    };
    value(perform.get(name))
}

/// Whether the person for whom the agent works has decided that this runs.
fn approved(run: &Run, number: usize, perform: &Step) -> bool {
    let user = record(run, number, perform).map_or(&Value::Null, |it| it.get("~user"));
    run.before(number).any(|(_, it)| match it.text("op") {
        "decide" => {
            let meant = if it.has("~meant") {
                "~meant"
            } else {
                "action_id"
            };
            it.is("decision", "allow")
                && it.get(meant) == perform.get("action_id")
                && (user.is_null() || it.get("by") == user)
                && (!it.has("arguments") || value(it.get("arguments")) == does(perform))
        }
        "say" => it.is("~decision", "allow") && it.get("answers") == perform.get("action_id"),
        _ => false,
    })
}

/// Whether what the summary states is what the tool does.
fn shown(run: &Run, number: usize, perform: &Step) -> bool {
    let record = record(run, number, perform);
    record.is_none_or(|it| !it.has("summary") || *it.get("summary") == does(perform))
}

/// The tool runs, and the transcript says that it was denied.
fn is_turned(run: &Run, number: usize, step: &Step) -> Verdict {
    let denied = |it: &Step| it.is("type", "denied_result");
    match step.text("op") {
        "perform" => kept(
            !with(run, number, step, "append").any(|(_, it)| denied(it)),
            number,
        ),
        "append" if denied(step) => {
            kept(with(run, number, step, "perform").next().is_none(), number)
        }
        _ => Verdict::Silent,
    }
}

/// Whether the first that the user decided on the action, tapped or typed, was to reject it.
fn is_rejected(run: &Run, number: usize, perform: &Step) -> bool {
    let action = perform.get("action_id");
    let user = record(run, number, perform).map_or(&Value::Null, |it| it.get("~user"));
    let of_user = |it: &Step| user.is_null() || it.get("by") == user;
    let decided = run
        .steps()
        .take(number - 1)
        .find_map(|(_, it)| match it.text("op") {
            "decide" if it.get("action_id") == action && of_user(it) => {
                Some(it.is("decision", "deny"))
            }
            "say" if it.get("answers") == action && it.has("~decision") => {
                Some(it.is("~decision", "deny"))
            }
            _ => None,
        });
    decided == Some(true)
}

/// At the end an action that was allowed has neither run nor been reported on, and nobody was told that the decision is late.
fn is_lost(run: &Run) -> Option<usize> {
    let end = end(run)?;
    let lost = run.steps().any(|(number, it)| {
        it.is("op", "propose")
            && decision(run, usize::MAX, it) == "allow"
            && all_with(run, it, "decide").any(|(at, it)| at > number && !it.is("told", "late"))
            && all_with(run, it, "perform").next().is_none()
            && all_with(run, it, "in_doubt").next().is_none()
            && !all_with(run, it, "event").any(|(_, it)| ENDS.contains(&it.text("type")))
    });
    lost.then_some(end)
}

/// The events that tell how an action ended without a run.
const ENDS: [&str; 5] = ["denied", "expired", "cancelled", "failed", "not_run"];
