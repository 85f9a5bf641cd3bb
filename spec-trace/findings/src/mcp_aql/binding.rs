//! What a token is bound to: 3.2, 3.3.

use serde_json::Value;

use super::lifetime::is_raised;
use super::{canonical, issue, outcome, same_call};
use crate::every::{every, kept};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "3.2: identifiers and scope modifiers",
        judge: |run| scope(run, same_identifiers),
    },
    Judge {
        name: "3.2: whatever affects the impact",
        judge: |run| scope(run, |issue, call| same_call(issue, call, "~metadata")),
    },
    Judge {
        name: "3.2: canonical by text",
        judge: |run| scope(run, |issue, call| text(issue) == text(call)),
    },
    Judge {
        name: "3.2: canonical by value",
        judge: |run| scope(run, |issue, call| same_call(issue, call, "~metadata")),
    },
    Judge {
        name: "3.2: canonical by values in a row",
        judge: |run| scope(run, |issue, call| in_a_row(issue) == in_a_row(call)),
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AQL-F8",
        judge: |run| scope(run, |issue, call| same_call(issue, call, "metadata")),
    },
    Judge {
        name: "AQL-F9",
        judge: |run| scope(run, |issue, call| same_call(issue, call, "")),
    },
    Judge {
        name: "AQL-F11",
        judge: stated_by_the_message,
    },
];

/// 3.2: a call that is not the one that the token is bound to gets a mismatch, any other does not.
fn scope(run: &Run, same: fn(&Step, &Step) -> bool) -> Verdict {
    every(run, |number, it| match issue(run, number, it) {
        // What else is out of scope is another rule's.
        Some(issue) if it.is("op", "call") && !is_raised(run, number, it) => kept(
            same(issue, it) != (outcome(it) == "TOKEN_SCOPE_MISMATCH"),
            number,
        ),
        _ => Verdict::Silent,
    })
}

/// The same operation, with the same in those parameters that identify something or modify the scope.
fn same_identifiers(issue: &Step, call: &Step) -> bool {
    let mut names = issue.get("~identifiers").as_array().into_iter().flatten();
    let of = |it: &Step, name: &Value| {
        it.get("params")
            .get(name.as_str().unwrap_or_default())
            .cloned()
    };
    issue.get("operation") == call.get("operation")
        && names.all(|name| of(issue, name) == of(call, name))
}

/// A form that keeps the text of the parameters.
fn text(step: &Step) -> String {
    format!("{} {}", step.text("operation"), step.get("params"))
}

/// A form that writes the values one behind the other.
fn in_a_row(step: &Step) -> String {
    let values = canonical(step.get("params"), &Value::Null);
    let values = values
        .values()
        .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    values.collect()
}

/// Mended: the message is made from what the token binds, with every parameter.
fn stated_by_the_message(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "issue" if !it.has("message") => Verdict::Lacks(number),
        "issue" => kept(it.get("message") == it.get("params"), number),
        _ => Verdict::Silent,
    })
}
