//! A run of the search as data, and in words.

use std::collections::BTreeMap;

use super::engine::Catalog;
use crate::checker::StepText;
use crate::engine::model::{Action, Environment};

/// A step of a run.
#[derive(Clone, Debug)]
pub enum Step<P: Environment> {
    /// The party is called, puts this out, and dies before the last `lost` outputs are carried out.
    Call {
        /// What is said.
        call: P::Call,
        /// What it puts out.
        outputs: Vec<P::Output>,
        /// How many outputs are lost.
        lost: usize,
    },
    /// Nobody is called.
    Move(P::Surroundings),
}

/// A run, from the start.
pub(crate) type Run<P> = Vec<Step<P>>;

/// The run that takes these actions.
pub fn run_of<P: Environment, Q>(actions: Vec<Action<P, Q>>) -> Run<P> {
    let step = |action| match action {
        Action::Call { call, answer, lost } => Step::Call {
            call,
            outputs: answer.1.clone(),
            lost,
        },
        Action::Move(around) => Step::Move(around),
    };
    actions.into_iter().map(step).collect()
}

/// A run in words: who does what, what becomes of each thing, and what comes out.
pub fn describe<P: Catalog>(run: &[Step<P>]) -> Vec<StepText> {
    let (mut clock, mut states) = (0, BTreeMap::new());
    let describe = |step: &Step<P>| {
        let now = P::at(step);
        match step {
            Step::Move(_) => {
                let moves = if now < clock {
                    "is set back"
                } else {
                    "moves on"
                };
                let at = P::time(std::mem::replace(&mut clock, now));
                StepText {
                    at,
                    actor: "clock".to_owned(),
                    to: None,
                    action: format!("{moves} to {}", P::time(now)),
                    changes: Vec::new(),
                }
            }
            Step::Call {
                call,
                outputs,
                lost,
            } => {
                // The process dies before the last of them are carried out.
                let (done, lost) = outputs.split_at(outputs.len().saturating_sub(*lost));
                let mut changes = Vec::new();
                for (what, after) in done.iter().filter_map(P::becomes) {
                    let before = states.insert(what.clone(), after).unwrap_or("unknown");
                    if before != after {
                        changes.push(format!("{what}: {before} → {after}"));
                    }
                }
                let text = |it| P::output_text(it);
                changes.extend(done.iter().map(|it| format!("out: {}", text(it))));
                changes.extend(lost.iter().map(|it| format!("lost: {}", text(it))));
                let (actor, action) = P::said(call);
                StepText {
                    at: P::time(now),
                    to: (actor != "process").then(|| P::PARTY.to_owned()),
                    actor,
                    action,
                    changes,
                }
            }
        }
    };
    run.iter().map(describe).collect()
}
