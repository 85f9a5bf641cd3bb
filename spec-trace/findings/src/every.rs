//! How most judges go through a run: step by step, to the first that is against it.

use crate::run::{Run, Step, Verdict};

/// What several verdicts come to: the first that is against the run, else right where one is.
pub(crate) fn together(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let mut all = Verdict::Silent;
    for said in verdicts {
        if said.is_against() {
            return said;
        }
        if said == Verdict::Right {
            all = said;
        }
    }
    all
}

/// What is said of every step taken together.
pub(crate) fn every(run: &Run, said: impl Fn(usize, &Step) -> Verdict) -> Verdict {
    together(run.steps().map(|(number, step)| said(number, step)))
}

/// What is said of the steps that a rule is about taken together, of which each is right or wrong.
pub(crate) fn each(
    run: &Run,
    about: impl Fn(&Step) -> bool,
    right: impl Fn(usize, &Step) -> bool,
) -> Verdict {
    let steps = run.steps().filter(|(_, step)| about(step));
    together(steps.map(|(number, step)| kept(right(number, step), number)))
}

/// The same of the steps with this `op`.
pub(crate) fn each_op(run: &Run, op: &str, right: impl Fn(usize, &Step) -> bool) -> Verdict {
    each(run, |step| step.is("op", op), right)
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
