//! MCP-AQL: passages, mended wordings, guarantees.
//!
//! A step is what an adapter, a client, a person or the world does, `op`, mostly with a `token`:
//!
//! - `issue`: an adapter answers a gated call with a token. What it is bound to: `operation`, `params`, and where they matter `purpose`
//!   (without one `confirmation`), `adapter` (`default`), `level` (0 to 4), `client`, `principal`, `session_id`, `connection`, `max_uses`,
//!   `batch`, `signed`; then `expires_at` (a time of day). `message` stands as the parameters that it states. `~defaults` are what the
//!   operation takes for absent parameters, `~metadata` the names of those that do not matter, `~identifiers` those that 3.2 lists.
//!   Mended wordings add `metadata` (published), `message_uses` (stated to the person), `idle_seconds`, and for a quota `metric`, `calls`,
//!   `until`.
//! - `call`: a call, as a rule with a `token`, or `tokens`; `gates` are the purposes for which it needs one. What came of it: `performed`,
//!   or a `code`. `~failed`: it ran and failed. Where the one step is taken apart: `validate` (with a `code`), `read`, `mark`, `perform`,
//!   each of a `caller`.
//! - `agree`: somebody (`by`) has seen the message and agrees; `recorded` where the adapter knows it. It is in no message of the text.
//! - `configure` (`clock_skew_tolerance_seconds`; in force from then on), `revoke`, `redeem`, `query`, `purge`, `audit` (an entry of the
//!   log: its `event`, the `token_id` that it shows), `disconnect`, `end_session`, `restart` (with a `new_key`).
//! - The last step may say `"~end":true`: nothing comes after it.
//!
//! An instance is a step without `op`: a `token`, the `method` by which it was made; of a signed one `payload_characters`, the others being
//! the signature.

mod audit;
mod binding;
mod checks;
mod consent;
mod form;
mod lifetime;
mod uses;

use serde_json::{Map, Value};

use crate::every::{broken, each_op, every, kept};
use crate::run::{Guarantee, Run, Step, Text, Verdict};

/// What is executable of the document.
pub static TEXT: Text = Text {
    #[cfg(feature = "execute")]
    passages: &[
        audit::PASSAGES,
        binding::PASSAGES,
        checks::PASSAGES,
        consent::PASSAGES,
        form::PASSAGES,
        lifetime::PASSAGES,
        uses::PASSAGES,
    ],
    #[cfg(feature = "execute")]
    repairs: &[
        audit::REPAIRS,
        binding::REPAIRS,
        checks::REPAIRS,
        consent::REPAIRS,
        form::REPAIRS,
        lifetime::REPAIRS,
        uses::REPAIRS,
    ],
    guarantees: &[
        Guarantee {
            name: "nothing-unapproved-runs",
            section: "1.1",
            means: "what needs a token runs only where somebody other than the calling client agreed",
            broken: |run| broken(each_op(run, "call", |number, it| agreed(run, number, it))),
        },
        Guarantee {
            name: "what-was-agreed-is-what-runs",
            section: "1.2",
            means: "what runs is what the token was issued for: purpose, operation, parameters, adapter, principal",
            broken: |run| {
                broken(each_op(run, "call", |number, it| {
                    is_as_agreed(run, number, it)
                }))
            },
        },
        Guarantee {
            name: "what-was-shown-is-what-runs",
            section: "1.2",
            means: "the message stated what runs",
            broken: |run| {
                broken(each_op(run, "call", |number, it| {
                    is_as_shown(run, number, it)
                }))
            },
        },
        Guarantee {
            name: "at-most-once",
            section: "6.1",
            means: "a token releases no more runs than it is good for",
            broken: |run| broken(every(run, |number, it| within_its_uses(run, number, it))),
        },
        Guarantee {
            name: "a-withdrawn-consent-releases-nothing",
            section: "5.3",
            means: "a revoked token releases nothing",
            broken: |run| {
                broken(each_op(run, "call", |number, it| {
                    !it.has("performed") || with(run, number, it, "revoke").next().is_none()
                }))
            },
        },
    ],
    notes: &[
        (
            "~defaults",
            "what the operation takes for parameters that are absent",
        ),
        (
            "~metadata",
            "the parameters that do not matter to the operation",
        ),
        ("~identifiers", "the parameters that 3.2 counts as critical"),
        ("~failed", "the operation ran and failed"),
    ],
};

/// The steps before this one with that `op` and the same token, the first one first.
fn with<'a>(
    run: &'a Run,
    number: usize,
    of: &'a Step,
    op: &'a str,
) -> impl Iterator<Item = (usize, &'a Step)> {
    run.steps()
        .take_while(move |(place, _)| *place < number)
        .filter(move |(_, it)| it.is("op", op) && it.get("token") == of.get("token"))
}

/// The token that a step shows, as it was issued; none if it never was.
fn issue<'a>(run: &'a Run, number: usize, of: &'a Step) -> Option<&'a Step> {
    with(run, number, of, "issue").last().map(|(_, it)| it)
}

/// How often the operation has run with the token of a step.
fn runs(run: &Run, number: usize, of: &Step) -> usize {
    let calls = with(run, number, of, "call").filter(|(_, it)| it.has("performed"));
    calls.count() + with(run, number, of, "perform").count()
}

/// How often a token may be used.
fn max_uses(issue: &Step) -> usize {
    let uses = issue.get("max_uses").as_u64().unwrap_or(1);
    usize::try_from(uses).unwrap_or(usize::MAX)
}

/// What came of a call: its code, or `valid` where it ran.
fn outcome(step: &Step) -> &str {
    if step.has("performed") {
        "valid"
    } else {
        step.text("code")
    }
}

/// The code of the first check that fails, or `valid`.
fn first_of(checks: &[(bool, &'static str)]) -> &'static str {
    let failed = checks.iter().find(|(fails, _)| *fails);
    failed.map_or("valid", |(_, code)| *code)
}

/// Every call with a token, and every validation of one, has the outcome that is wanted of it.
fn answers(run: &Run, wanted: impl Fn(usize, &Step, Option<&Step>) -> &'static str) -> Verdict {
    every(run, |number, it| {
        if (it.is("op", "call") || it.is("op", "validate")) && it.has("token") {
            kept(
                outcome(it) == wanted(number, it, issue(run, number, it)),
                number,
            )
        } else {
            Verdict::Silent
        }
    })
}

/// A member, or what it is where it is absent.
fn member<'a>(step: &'a Step, name: &str, absent: &'a str) -> &'a str {
    step.get(name).as_str().unwrap_or(absent)
}

/// The parameters of a call in the one form in which equal ones are equal: numbers by value, defaults filled in.
fn canonical(params: &Value, defaults: &Value) -> Map<String, Value> {
    let mut all: Map<String, Value> = defaults.as_object().cloned().unwrap_or_default();
    all.extend(params.as_object().cloned().unwrap_or_default());
    all.into_iter()
        .map(|(name, it)| (name, by_value(it)))
        .collect()
}

/// JSON with whole numbers that are written as fractions (`1.0`) as whole ones.
fn by_value(json: Value) -> Value {
    match json {
        Value::Array(all) => all.into_iter().map(by_value).collect(),
        Value::Object(_) => Value::Object(canonical(&json, &Value::Null)),
        Value::Number(number) if number.is_f64() => {
            let text = number.to_string();
            let whole = text
                .strip_suffix(".0")
                .and_then(|it| it.parse::<i64>().ok());
            whole.map_or(Value::Number(number), Value::from)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// Whether two steps are of the same call, without the parameters that `metadata` names.
fn same_call(issue: &Step, call: &Step, metadata: &str) -> bool {
    let params = |it: &Step| {
        let mut all = canonical(it.get("params"), issue.get("~defaults"));
        let names = issue.get(metadata).as_array().into_iter().flatten();
        names
            .filter_map(Value::as_str)
            .for_each(|name| _ = all.shift_remove(name));
        all
    };
    issue.get("operation") == call.get("operation") && params(issue) == params(call)
}

/// The tokens that a call carries.
fn tokens(call: &Step) -> impl Iterator<Item = &Value> {
    let several = call.get("tokens").as_array().into_iter().flatten();
    several.chain(call.members.get("token"))
}

/// Whether somebody other than the calling client agreed to each token of a call that runs.
fn agreed(run: &Run, number: usize, call: &Step) -> bool {
    let agreed = |token: &Value| {
        run.before(number).any(|(_, it)| {
            it.is("op", "agree") && it.get("token") == token && it.get("by") != call.get("client")
        })
    };
    !call.has("performed") || tokens(call).all(agreed)
}

/// Whether a call that runs is the one that the token is for: purpose, operation, parameters, adapter, principal.
fn is_as_agreed(run: &Run, number: usize, call: &Step) -> bool {
    let Some(issue) = issue(run, number, call).filter(|_| call.has("performed")) else {
        return true;
    };
    let purpose = member(issue, "purpose", "confirmation");
    let gates = call.get("gates").as_array();
    let covers_others = issue.has("calls");
    gates.is_none_or(|gates| gates.iter().all(|gate| gate == purpose))
        && (covers_others || same_call(issue, call, "~metadata"))
        && member(issue, "adapter", "default") == member(call, "adapter", "default")
        && issue.get("principal") == call.get("principal")
}

/// Whether the message stated what runs.
fn is_as_shown(run: &Run, number: usize, call: &Step) -> bool {
    let issue = issue(run, number, call).filter(|_| call.has("performed"));
    issue.is_none_or(|it| !it.has("message") || it.get("message") == call.get("params"))
}

/// Whether what runs is within what the token is good for; a purpose of its own for more than one call states how many.
fn within_its_uses(run: &Run, number: usize, step: &Step) -> Verdict {
    let runs_now = step.is("op", "perform") || step.has("performed") && step.has("token");
    match issue(run, number, step).filter(|_| runs_now) {
        Some(it) if !it.has("calls") => kept(runs(run, number, step) < max_uses(it), number),
        _ => Verdict::Silent,
    }
}
