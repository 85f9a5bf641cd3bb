//! Whether each call was allowed to run.
//!
//! Every irreversible call needs an acceptance of its own before it, and so does every call that names a confirmation by
//! id. Calls are assigned to confirmations, and a call is accused only when no assignment covers it together with all
//! calls before it. A reversible call that names no confirmation may be any call: it is never accused.

use super::Notes;
use super::ledger::{Ledger, Outcomes};
use super::matching::Matching;
use crate::lint::finding::{Finding, Place, TiedBy};
use crate::lint::record::{Event, EventKind};
use crate::lint::rules::{self, Rule};
use crate::lint::ties::{Class, Relation, Ties};
use crate::lint::time::Timestamp;

/// Seconds after which a reply that is not in the record is taken not to have come before a call. A producer that does its
/// work before it answers the reply keeps the recorder waiting for as long as the tool runs, but no transport waits longer.
const LOGGED_LATE_SECONDS: i64 = 600;

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
    /// Judges an event of the open session. Yields the calls that were accused, and at its end those that may still be: they
    /// stand for the calls that their confirmations lead to, should those be accepted later.
    pub fn event(&mut self, event: &Event, ledger: &Ledger, notes: &mut Notes) -> Vec<Ties> {
        let mut accused = self.settle(event, ledger, notes);
        if let EventKind::Invoked { tool, irreversible } = &event.kind {
            accused.extend(self.called(event, tool.as_ref(), *irreversible, ledger, notes));
        }
        if matches!(event.kind, EventKind::Ended(_)) {
            let undecided = self.deferred.iter();
            accused.extend(undecided.map(|number| self.runs[*number].ties.clone()));
        }
        accused
    }

    /// Whether a reply may still explain a call, even when the session is over.
    pub fn is_undecided(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Accuses what no reply explained: none will come any more.
    pub fn give_up(&mut self, session: &str, ledger: &Ledger, notes: &mut Notes) {
        for number in std::mem::take(&mut self.deferred) {
            self.accuse(number, session, ledger, notes);
        }
    }

    /// A reply may explain a call that is recorded before it: whoever logs both writes the reply down when it is answered.
    pub fn accepted(
        &mut self,
        confirmation: usize,
        (decided, received): (Timestamp, Option<Timestamp>),
        ledger: &Ledger,
        notes: &mut Notes,
    ) {
        // The oldest first: where one acceptance is for one of two calls, it is the second that is one too many.
        for number in std::mem::take(&mut self.deferred) {
            let run = &mut self.runs[number];
            let before = match (received, run.received, run.sent) {
                (Some(reply), Some(call), _) => reply <= call,
                (_, _, Some(call)) => decided <= call,
                (_, _, None) => true,
            };
            if before {
                run.accepted_unseen.push(confirmation);
            }
            if !before || !self.assign(number, ledger, notes) {
                self.deferred.push(number);
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
        Some(self.accuse(number, &event.session, ledger, notes))
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
        let later = |then: Option<Timestamp>, now: Option<Timestamp>| match (then, now) {
            (Some(then), Some(now)) => now > then.plus_seconds(LOGGED_LATE_SECONDS),
            (None, _) | (_, None) => false,
        };
        let (due, waiting): (Vec<usize>, Vec<usize>) = self.deferred.iter().partition(|number| {
            let run = &self.runs[**number];
            later(run.sent, event.sent) || later(run.received, event.received)
        });
        self.deferred = waiting;
        due.into_iter()
            .map(|number| self.accuse(number, &event.session, ledger, notes))
            .collect()
    }

    fn accuse(&self, number: usize, session: &str, ledger: &Ledger, notes: &mut Notes) -> Ties {
        let run = &self.runs[number];
        let (candidates, _) = ledger.candidates(&run.ties, run.place.line);
        let (rule, message) = self.explain(run, &candidates, ledger);
        let finding = Finding::new(rule, &run.place, Some(session), message);
        notes.add(if candidates.is_empty() {
            finding
        } else {
            finding.tied_by(run.tied_by())
        });
        run.ties.clone()
    }

    /// Names the fault of a call that no acceptance is left for, by the latest question that could be meant.
    fn explain(&self, run: &Run, candidates: &[usize], ledger: &Ledger) -> (&'static Rule, String) {
        let by_id = matches!(run.relation, Relation::Same(_));
        let (used, unused): (Vec<usize>, Vec<usize>) = candidates
            .iter()
            .partition(|index| self.assigned.left_of(**index).is_some());
        let latest = unused
            .last()
            .map(|index| (*index, &ledger.confirmations[*index]));
        let call = if run.irreversible {
            format!("irreversible call of {}", run.name())
        } else {
            format!("call of {}", run.name())
        };
        // AAEP-6.3.5-1: one acceptance lets its action run once.
        let twin = used.iter().rev().find_map(|index| {
            let first = &self.runs[self.assigned.left_of(*index)?];
            (by_id || first.tool == run.tool).then_some((*index, first))
        });
        if let Some((index, first)) = twin
            && latest.is_none_or(|(latest, _)| latest < index)
        {
            let message = format!(
                "{call}, and the one acceptance that could explain it, of the question on line {}, explains the call on line {}",
                ledger.confirmations[index].place.line, first.place.line
            );
            return (&rules::CALLED_TWICE, message);
        }
        if let Some((_, question)) = latest {
            let asked = question.place.line;
            let reply = question.answered.map(|(line, _)| line);
            let rejected = question.possible.may_be(Outcomes::REJECTED);
            // AAEP-A.4-4, AAEP-A.8-5: no call after a rejection.
            if let Some(reply) = reply.filter(|reply| rejected && *reply < run.place.line) {
                let message = format!(
                    "{call} after the question on line {asked} was rejected on line {reply}"
                );
                return (&rules::CALLED_AFTER_REJECTION, message);
            }
            // AAEP-6.1-1, AAEP-A.7.4-1: asked for, and not accepted.
            let message = format!("{call} before the question on line {asked} was accepted");
            let rule = if run.irreversible {
                &rules::IRREVERSIBLE_UNACCEPTED
            } else {
                &rules::UNACCEPTED
            };
            return (rule, message);
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
        (&rules::IRREVERSIBLE_UNASKED, message)
    }
}
