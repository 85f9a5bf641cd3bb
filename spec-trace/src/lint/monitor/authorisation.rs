//! Whether each call was allowed to run.
//!
//! Every irreversible call needs an acceptance of its own before it, and so does every call that names a confirmation by
//! id. Calls are assigned to confirmations, and a call is accused only when no assignment covers it together with all
//! calls before it. A reversible call that names no confirmation may be any call: it is never accused.

use super::Notes;
use super::ledger::{Confirmation, Ledger, Outcomes, SLACK_SECONDS};
use super::matching::Matching;
use crate::lint::finding::{Finding, Place, TiedBy};
use crate::lint::record::{Event, EventKind};
use crate::lint::rules::{self, Rule};
use crate::lint::ties::{Class, Relation, Ties};
use crate::lint::time::Timestamp;

/// The calls of one session that need an acceptance.
#[derive(Debug, Default)]
pub struct Authorisation {
    runs: Vec<Run>,
    assigned: Matching,
    /// Calls that only a reply can still explain which was given before them and is recorded after them.
    deferred: Vec<usize>,
}

#[derive(Debug)]
struct Run {
    place: Place,
    tool: Option<String>,
    irreversible: bool,
    ties: Ties,
    relation: Relation,
    sent: Option<Timestamp>,
    received: Option<Timestamp>,
    /// Confirmations that were accepted before the call, and recorded so after it.
    accepted_unseen: Vec<usize>,
}

impl Run {
    fn new(event: &Event, tool: Option<&String>, irreversible: bool, relation: Relation) -> Self {
        Self {
            place: event.place.clone(),
            tool: tool.cloned(),
            irreversible,
            ties: event.ties.clone(),
            relation,
            sent: event.sent,
            received: event.received,
            accepted_unseen: Vec::new(),
        }
    }

    /// A call with an acceptance of its own that others cannot have is like no other.
    fn class(&self, number: usize) -> Class {
        if self.accepted_unseen.is_empty() {
            self.ties.class(self.relation)
        } else {
            Class::Alone(number)
        }
    }

    fn tied_by(&self) -> TiedBy {
        match self.relation {
            Relation::Same(tied_by) => tied_by,
            Relation::Unknown | Relation::Different => TiedBy::Order,
        }
    }

    fn name(&self) -> &str {
        self.tool.as_deref().unwrap_or("a tool without name")
    }
}

impl Authorisation {
    /// Judges an event of the open session. Yields the call that was accused, if any: it stands for the call that its
    /// confirmation leads to, should that be accepted later.
    pub fn event(&mut self, event: &Event, ledger: &Ledger, notes: &mut Notes) -> Vec<Ties> {
        let mut accused = self.settle(event, ledger, notes);
        if let EventKind::Invoked { tool, irreversible } = &event.kind {
            accused.extend(self.called(event, tool.as_ref(), *irreversible, ledger, notes));
        }
        accused
    }

    /// A reply may explain a call that is recorded before it: whoever logs both writes the reply down when it is answered.
    pub fn accepted(
        &mut self,
        confirmation: usize,
        (decided, received): (Timestamp, Option<Timestamp>),
        ledger: &Ledger,
        notes: &mut Notes,
    ) {
        for position in (0..self.deferred.len()).rev() {
            let number = self.deferred[position];
            let run = &mut self.runs[number];
            let before = match (received, run.received, run.sent) {
                (Some(reply), Some(call), _) => reply <= call,
                (_, _, Some(call)) => decided <= call,
                (_, _, None) => true,
            };
            if before {
                run.accepted_unseen.push(confirmation);
                if self.assign(number, ledger, notes) {
                    self.deferred.remove(position);
                }
            }
        }
    }

    /// Lines of the calls that are neither explained nor accused.
    pub fn undecided_lines(&self) -> impl Iterator<Item = u64> {
        self.deferred
            .iter()
            .map(|number| self.runs[*number].place.line)
    }

    fn called(
        &mut self,
        event: &Event,
        tool: Option<&String>,
        irreversible: bool,
        ledger: &Ledger,
        notes: &mut Notes,
    ) -> Option<Ties> {
        let (candidates, relation) = ledger.candidates(&event.ties, event.place.line);
        if !irreversible && !matches!(relation, Relation::Same(_)) {
            // A reversible call that names no confirmation needs none.
            return None;
        }
        let number = self.runs.len();
        self.runs
            .push(Run::new(event, tool, irreversible, relation));
        if self.assign(number, ledger, notes) {
            return None;
        }
        let left = |outcome| {
            candidates.iter().any(|index| {
                self.assigned.left_of(*index).is_none()
                    && ledger.confirmations[*index].possible.may_be(outcome)
            })
        };
        if !self.runs[number].irreversible && left(Outcomes::CANCELLED) {
            // A question that was withdrawn asks nothing any more, and a reversible call needs none.
            return None;
        }
        if left(Outcomes::PENDING) {
            self.deferred.push(number);
            return None;
        }
        self.accuse(number, &event.session, ledger, notes)
    }

    fn assign(&mut self, number: usize, ledger: &Ledger, notes: &mut Notes) -> bool {
        let runs = &self.runs;
        let class = |number: usize| runs[number].class(number);
        let assigned = self.assigned.assign(number, class, |number| {
            let run = &runs[number];
            let line = run.place.line;
            let (mut candidates, _) = ledger.candidates(&run.ties, line);
            candidates.retain(|index| {
                ledger.confirmations[*index].may_explain(line)
                    || run.accepted_unseen.contains(index)
            });
            candidates
        });
        if assigned {
            *notes.tied.entry(runs[number].tied_by()).or_default() += 1;
        }
        assigned
    }

    /// Accuses the deferred calls that no reply can explain any more.
    fn settle(&mut self, event: &Event, ledger: &Ledger, notes: &mut Notes) -> Vec<Ties> {
        let ended = matches!(event.kind, EventKind::Ended(_));
        let later = |then: Option<Timestamp>, now: Option<Timestamp>| match (then, now) {
            (Some(then), Some(now)) => now > then.plus_seconds(SLACK_SECONDS),
            (None, _) | (_, None) => false,
        };
        let (due, waiting): (Vec<usize>, Vec<usize>) = self.deferred.iter().partition(|number| {
            let run = &self.runs[**number];
            ended || later(run.sent, event.sent) || later(run.received, event.received)
        });
        self.deferred = waiting;
        due.into_iter()
            .filter_map(|number| self.accuse(number, &event.session, ledger, notes))
            .collect()
    }

    fn accuse(
        &self,
        number: usize,
        session: &str,
        ledger: &Ledger,
        notes: &mut Notes,
    ) -> Option<Ties> {
        let run = &self.runs[number];
        let (candidates, _) = ledger.candidates(&run.ties, run.place.line);
        let (rule, message) = self.explain(run, &candidates, ledger)?;
        let finding = Finding::new(rule, &run.place, Some(session), message);
        notes.add(if candidates.is_empty() {
            finding
        } else {
            finding.tied_by(run.tied_by())
        });
        Some(run.ties.clone())
    }

    /// Names the fault of a call that no acceptance is left for.
    fn explain(
        &self,
        run: &Run,
        candidates: &[usize],
        ledger: &Ledger,
    ) -> Option<(&'static Rule, String)> {
        let by_id = matches!(run.relation, Relation::Same(_));
        let (used, unused): (Vec<usize>, Vec<usize>) = candidates
            .iter()
            .partition(|index| self.assigned.left_of(**index).is_some());
        let newest = |wanted: &dyn Fn(&Confirmation) -> bool| {
            let found = unused
                .iter()
                .map(|index| &ledger.confirmations[*index])
                .filter(|it| wanted(it));
            found.last()
        };
        let call = if run.irreversible {
            format!("irreversible call of {}", run.name())
        } else {
            format!("call of {}", run.name())
        };
        // AAEP-A.4-4, AAEP-A.8-5: no call after a rejection.
        let rejected_before = |it: &Confirmation| {
            it.possible.may_be(Outcomes::REJECTED)
                && it.answered.is_some_and(|(line, _)| line < run.place.line)
        };
        if let Some(rejected) = newest(&rejected_before) {
            let (reply, _) = rejected.answered?;
            let message = format!(
                "{call} after the question on line {} was rejected on line {reply}",
                rejected.place.line
            );
            return Some((&rules::CALLED_AFTER_REJECTION, message));
        }
        // AAEP-6.3.5-1: one acceptance lets its action run once.
        let twin = used.iter().rev().find_map(|index| {
            let first = &self.runs[self.assigned.left_of(*index)?];
            let question = &ledger.confirmations[*index];
            (by_id || first.tool == run.tool).then_some((first, question))
        });
        if let Some((first, question)) = twin {
            let message = format!(
                "{call}, and the one acceptance that could explain it, of the question on line {}, explains the call on line {}",
                question.place.line, first.place.line
            );
            return Some((&rules::CALLED_TWICE, message));
        }
        // AAEP-6.1-1, AAEP-A.7.4-1: asked for, and not accepted.
        if let Some(open) = newest(&|_| true) {
            let message = format!(
                "{call} before the question on line {} was accepted",
                open.place.line
            );
            let rule = if run.irreversible {
                &rules::IRREVERSIBLE_UNACCEPTED
            } else {
                &rules::UNACCEPTED
            };
            return Some((rule, message));
        }
        // AAEP-A.7.4-1, AAEP-A.8-4: no question at all, or each was used by another call.
        let message = match used
            .last()
            .map(|index| ledger.confirmations[*index].place.line)
        {
            Some(line) => format!(
                "{call} without a confirmation of its own; the last, on line {line}, led to another call"
            ),
            None => format!("{call} without a confirmation before it"),
        };
        Some((&rules::IRREVERSIBLE_UNASKED, message))
    }
}
