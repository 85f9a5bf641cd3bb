//! Which clause a divergence goes against: the judge says so.
//!
//! The one thing to know: a walk asks no judge. Where the two sides differ, the run that led there is taken once more with the
//! judge beside it, who is told of each call with what the executor put out for it, in the model's words.

#[cfg(test)]
pub(super) mod changed;
#[cfg(test)]
mod tests;

use countersign_model::judge::{Finding, Kind};
use countersign_model::judged::{CallTold, InSearch};
use countersign_model::specification::Modelled;

use super::bridge::{Action, AnsweredBy, Bridge, Execution, State};
use super::not_compared::Where;
use super::{Disagreement, Sides};

/// So many steps are taken at most to see what the judge finds later.
const ENOUGH: usize = 20_000;

/// What the judge finds broken by the last step of a run at which the two differ; where that is nothing, what he finds first
/// in what the executor does in up to so many steps that can follow.
pub(super) fn broken_by<E: Execution>(
    bridge: &Bridge<E>,
    run: &[Action<E>],
    ahead: usize,
) -> Option<Finding> {
    let (&last, before) = run.split_last()?;
    let mut judged = Judged::begin(bridge);
    for &action in before {
        judged.take(action);
    }
    let taken = judged.take(last);
    taken.finding.or_else(|| judged.later(ahead))
}

/// Both sides, and a judge who was told of all that the executor did.
struct Judged<'a, E: Execution> {
    bridge: &'a Bridge<E>,
    state: State<E>,
    host: E::Host,
    judge: <E::Protocol as Modelled>::Judge,
    /// The steps since the two were first seen to differ, in words.
    since: Vec<String>,
}

/// What came of a step.
struct Taken {
    finding: Option<Finding>,
    differs: Option<Disagreement>,
    /// Whether it was a call, so that there was something to compare.
    was_call: bool,
}

impl<E: Execution> Clone for Judged<'_, E> {
    fn clone(&self) -> Self {
        Self {
            bridge: self.bridge,
            state: self.state,
            host: self.host.clone(),
            judge: self.judge.clone(),
            since: self.since.clone(),
        }
    }
}

impl<'a, E: Execution> Judged<'a, E> {
    fn begin(bridge: &'a Bridge<E>) -> Self {
        let (state, host) = bridge.begin();
        Self {
            bridge,
            state,
            host,
            judge: E::Protocol::judge(&bridge.model),
            since: Vec::new(),
        }
    }

    /// Takes a step. Where the two differ, the model goes its own way.
    fn take(&mut self, action: Action<E>) -> Taken {
        let called = E::call(self.bridge, &self.state, &mut self.host, action);
        match called {
            Ok(answers) => self.take_answered(action, &answers),
            Err(disagreement) => Taken {
                finding: None,
                differs: Some(disagreement),
                was_call: true,
            },
        }
    }

    /// The same, where this is answered to the calls.
    fn take_answered(&mut self, action: Action<E>, answers: &[AnsweredBy<E>]) -> Taken {
        let finding = self.tell(action, answers);
        let (bridge, before) = (self.bridge, self.state);
        let compared = E::compare(bridge, &before, &mut self.host, action, answers);
        let own = bridge.model.take(&before, action);
        self.state = own.unwrap_or(before);
        Taken {
            finding,
            differs: compared.err(),
            was_call: !answers.is_empty(),
        }
    }

    /// Tells the judge; the worst that he finds. He is not told of what the model has no words for.
    fn tell(&mut self, action: Action<E>, answers: &[AnsweredBy<E>]) -> Option<Finding> {
        let Self { bridge, state, .. } = self;
        let taken = E::Protocol::take(&bridge.model, state, action, 0)?;
        let seen = E::seen(bridge, state, &mut self.host.clone(), action, answers);
        let told = taken.told?.putting_out(&seen.ok()?)?;
        worst(self.judge.is_told_in_search(told, bridge.model.quotient))
    }

    /// What the judge finds first after up to so many steps more, as long as the two differ in what is held alone.
    fn later(self, steps: usize) -> Option<Finding> {
        let mut nodes = vec![self];
        let mut left = ENOUGH;
        let mut actions = Vec::new();
        for _ in 0..steps {
            let mut next = Vec::new();
            let mut found = Vec::new();
            for node in nodes {
                actions.clear();
                node.bridge.actions(&node.state, &mut actions);
                for &action in actions.iter().take(left) {
                    left -= 1;
                    let mut node = node.clone();
                    let step = node.bridge.describe(&node.state, action);
                    node.since.push(format!("{} {}", step.actor, step.action));
                    let taken = node.take(action);
                    if let Some(mut finding) = taken.finding {
                        finding.text += "; seen after: ";
                        finding.text += &node.since.join(", then ");
                        found.push(finding);
                    } else if taken.may_show_later() {
                        next.push(node);
                    }
                }
            }
            if let Some(finding) = worst(found) {
                return Some(finding);
            }
            nodes = next;
        }
        None
    }
}

impl Taken {
    /// Whether what is held can still be another: nothing was compared, or it is.
    fn may_show_later(&self) -> bool {
        match &self.differs {
            Some(disagreement) => disagreement.place == Where::State,
            None => !self.was_call,
        }
    }
}

/// A guarantee that is broken says more than what is not done as the text is read.
fn worst(findings: Vec<Finding>) -> Option<Finding> {
    let is_minor = |finding: &Finding| finding.kind != Kind::Guarantee;
    findings.into_iter().min_by_key(is_minor)
}
