//! What vectors require and forbid that others of the same run do not.
//!
//! The one thing to know: two vectors of a run are made of the answers of two parties, so that what they expect may differ in what
//! nothing depends on. What changes is what is required or forbidden, with the members that matter.

use std::collections::BTreeMap;

use countersign_clauses::cited_all;
use countersign_conform::suite::vectors::{Pattern, Vector, VectorStep};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::commands::clauses::hanging;
use crate::commands::compare::and_more;
use crate::show::words::{printable, shortened};

/// A file whose run has other demands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Changed {
    pub file: String,
    /// None, where there is no such file any more.
    steps: Vec<ChangedStep>,
    /// Whether nobody was found to answer the run rightly.
    left_out: bool,
}

/// A step at which they differ.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangedStep {
    /// Counted from 0, as in the file.
    step: usize,
    op: String,
    /// What is said of an output by the text as it stands, where the changed text says something else of it.
    was: Vec<String>,
    /// And the other way round.
    is: Vec<String>,
}

/// The files that differ, in order.
pub fn all(before: &BTreeMap<String, Vector>, after: &BTreeMap<String, Vector>) -> Vec<Changed> {
    let changed = before.iter().filter_map(|(file, vector)| {
        let now = after.get(file);
        let steps = now.map_or_else(Vec::new, |now| steps(vector, now));
        let changed = Changed {
            file: file.clone(),
            steps,
            left_out: now.is_none(),
        };
        let is_other = changed.left_out || !changed.steps.is_empty();
        is_other.then_some(changed)
    });
    changed.collect()
}

fn steps(before: &Vector, after: &Vector) -> Vec<ChangedStep> {
    let pairs = before.steps.iter().zip(&after.steps).enumerate();
    let changed = pairs.filter_map(|(step, (before, after))| {
        let (was, is) = (only_in(before, after), only_in(after, before));
        let op = before.request.get("op").and_then(Value::as_str);
        let op = op.unwrap_or_default().to_owned();
        (!was.is_empty() || !is.is_empty()).then_some(ChangedStep { step, op, was, is })
    });
    changed.collect()
}

/// What a step demands and the other does not, each in words. What is forbidden of the one counts only where it is right in the other:
/// a file names no more than what comes out somewhere in its run.
fn only_in(step: &VectorStep, other: &VectorStep) -> Vec<String> {
    let is_required = |pattern: &Pattern| {
        let mut alike = other
            .expected
            .iter()
            .filter(|it| is_alike(&it.pattern, pattern));
        alike.any(|it| !it.required.is_empty() || says_less(&it.pattern, pattern))
    };
    let is_right = |pattern: &Pattern| {
        let expected = other.expected.iter().map(|it| &it.pattern);
        let mut right = expected.chain(&other.allowed);
        right.any(|it| it.members == pattern.members && is_alike(it, pattern))
    };
    let required = step.expected.iter().filter(|it| !it.required.is_empty());
    let required = required.filter(|it| !is_required(&it.pattern));
    let like = |pattern: &Pattern| {
        let mut right = other.expected.iter().map(|it| &it.pattern);
        right.find(|it| kind(it) == kind(pattern) && type_of(it) == type_of(pattern))
    };
    let required = required.map(|it| {
        let pattern = &it.pattern;
        demand("required", pattern, like(pattern), &it.required)
    });
    let forbidden = step.forbidden.iter().filter(|it| is_right(&it.pattern));
    let forbidden = forbidden.map(|it| demand("forbidden", &it.pattern, None, &it.because));
    required.chain(forbidden).collect()
}

/// Whether the same output is meant. What one party says and the other leaves out makes no difference; what both say does, where it
/// matters for one of them. Where the number of an event matters, so does all that it counts by, such as its session: to a party that does
/// not number its events it need not.
fn is_alike(one: &Pattern, other: &Pattern) -> bool {
    let [first, second] = [one, other].map(|it| Value::Object(it.output.clone()));
    let mut places = one.members.iter().chain(&other.members);
    let is_free = |it: &Pattern, place: &String| !it.members.contains(place);
    let differs = |it: &Pattern, than: &Pattern, place: &String| {
        is_free(it, place) && !is_free(than, place) && !says_less(it, than)
    };
    kind(one) == kind(other)
        && places.all(
            |place| match (first.pointer(place), second.pointer(place)) {
                (Some(one_says), Some(other_says)) => {
                    one_says == other_says
                        && !differs(one, other, place)
                        && !differs(other, one, place)
                }
                (None, _) | (_, None) => true,
            },
        )
}

/// Whether a party leaves something out of an output that matters where another says it.
fn says_less(it: &Pattern, than: &Pattern) -> bool {
    than.members.iter().any(|place| lacks(it, place))
}

/// Whether an output has no such member.
fn lacks(pattern: &Pattern, place: &str) -> bool {
    let output = Value::Object(pattern.output.clone());
    output.pointer(place).is_none()
}

fn kind(pattern: &Pattern) -> Option<&String> {
    pattern.output.keys().find(|it| *it != "to")
}

fn type_of(pattern: &Pattern) -> Option<&Value> {
    pattern.output.get(kind(pattern)?)?.get("type")
}

/// What is said of an output; what another like it does not have comes first.
fn demand(how: &str, pattern: &Pattern, like: Option<&Pattern>, clauses: &[String]) -> String {
    let output = output_text(pattern, like);
    let clauses = cited_all(clauses);
    format!("{how} by {clauses}: {}", printable(&output))
}

/// What an output is, with its members that matter.
fn output_text(pattern: &Pattern, like: Option<&Pattern>) -> String {
    let output = Value::Object(pattern.output.clone());
    let kind = kind(pattern).map_or("", String::as_str);
    let member = |place: &String| {
        let value = output.pointer(place)?;
        let below = place.strip_prefix('/')?;
        let name = below
            .strip_prefix(kind)
            .map(|it| it.trim_start_matches('/'));
        Some(match name {
            Some("") => value.to_string(),
            name => format!("{}={value}", name.unwrap_or(below)),
        })
    };
    let is_of_like = |place: &&String| {
        like.is_none_or(|it| {
            let others = Value::Object(it.output.clone());
            it.members.contains(place) && others.pointer(place) == output.pointer(place)
        })
    };
    let (rest, own): (Vec<_>, Vec<_>) = pattern.members.iter().partition(is_of_like);
    let members: Vec<_> = own.into_iter().chain(rest).filter_map(member).collect();
    format!("{kind} {}", members.join(" "))
}

/// The first so many files are told.
const TOLD: usize = 8;

/// They in words; `by` is how the text is taken.
pub fn text(changed: &[Changed], by: &str) -> String {
    let (mut left_out, mut other): (Vec<_>, Vec<_>) = changed.iter().partition(|it| it.left_out);
    let mut text = match other.len() {
        0 => hanging(
            "  ",
            "they require and forbid what those of the text as it stands do",
        ),
        1 => hanging(
            "  ",
            "1 requires or forbids another thing than by the text as it stands:",
        ),
        count => {
            let said =
                format!("{count} require or forbid another thing than by the text as it stands:");
            hanging("  ", &said)
        }
    };
    text += &told(&mut other, TOLD);
    if !left_out.is_empty() {
        let count = left_out.len();
        let said = format!(
            "{count} left out: the answers of the text are wrong, and those of the reference by {by}"
        );
        text += &hanging("  ", &said);
        text += &told(&mut left_out, TOLD);
    }
    text
}

/// The first of them.
fn told(changed: &mut Vec<&Changed>, most: usize) -> String {
    let all = changed.len();
    changed.truncate(most);
    let mut text = String::new();
    for it in changed.iter() {
        text += &hanging(&format!("  {}  ", it.file), &it.head());
        let Some(first) = it.steps.first() else {
            continue;
        };
        for (head, demands) in [("was", &first.was), ("is", &first.is)] {
            let nothing = demands.is_empty().then(|| "left free".to_owned());
            for demand in demands.iter().cloned().chain(nothing) {
                text += &hanging(&format!("      {head:<4} "), &shortened(&demand, LONGEST));
            }
        }
    }
    text + &and_more(all, most)
}

impl Changed {
    /// Where it differs.
    fn head(&self) -> String {
        if self.left_out {
            return "left out".to_owned();
        }
        let mut parts = Vec::new();
        if let Some(first) = self.steps.first() {
            parts.push(format!("step {}, {}", first.step, first.op));
        }
        if let Some(more) = self.steps.len().checked_sub(2) {
            parts.push(format!("and {} more", more + 1));
        }
        parts.join(", ")
    }
}

/// So many characters of a demand are printed.
const LONGEST: usize = 240;
