//! How most judges go through a run: step by step, to the first that is against it.

use crate::run::{Run, Step, Verdict};

/// What is said of every step taken together: the first verdict against one, else right where anything is right.
pub(crate) fn every(run: &Run, said: impl Fn(usize, &Step) -> Verdict) -> Verdict {
    let mut all = Verdict::Silent;
    for (number, step) in run.steps() {
        match said(number, step) {
            Verdict::Silent => {}
            Verdict::Right => all = Verdict::Right,
            against @ (Verdict::Wrong(_) | Verdict::Lacks(_)) => return against,
        }
    }
    all
}

/// What two judges say together: the first that is against it, else right where one is right.
pub(crate) fn both(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (against @ (Verdict::Wrong(_) | Verdict::Lacks(_)), _) => against,
        (Verdict::Right, Verdict::Silent) => one,
        _ => other,
    }
}

/// What is said of the steps with this `op` taken together, of which each is right or wrong.
pub(crate) fn each(run: &Run, op: &str, right: impl Fn(usize, &Step) -> bool) -> Verdict {
    every(run, |number, step| {
        if step.is("op", op) {
            kept(right(number, step), number)
        } else {
            Verdict::Silent
        }
    })
}

/// Right, or wrong at this step.
pub(crate) fn kept(right: bool, number: usize) -> Verdict {
    if right {
        Verdict::Right
    } else {
        Verdict::Wrong(number)
    }
}

/// The step that wrongs it, for a guarantee.
pub(crate) fn broken(verdict: Verdict) -> Option<usize> {
    match verdict {
        Verdict::Wrong(step) | Verdict::Lacks(step) => Some(step),
        Verdict::Silent | Verdict::Right => None,
    }
}

/// The last step, where it says that nothing comes after it: `"~end":true`.
pub(crate) fn end(run: &Run) -> Option<usize> {
    let (number, step) = run.steps().next_back()?;
    step.has("~end").then_some(number)
}

/// The time of day that a member states, in milliseconds since midnight.
pub(crate) fn time(step: &Step, name: &str) -> Option<i64> {
    let stated = Run::read(&format!("{{\"at\":{}}}", step.get(name))).ok()?;
    stated.0.first().map(|it| it.at)
}
