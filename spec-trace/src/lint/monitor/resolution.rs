//! What has to follow a decision: the call after an acceptance, a word after a rejection.
//!
//! Judged when the session completes. A session that errors or is cancelled takes its obligations with it (AAEP-6.8-2),
//! and a question that is still open when its session ends ends with it.

use super::Notes;
use super::ledger::{Confirmation, FollowUp, Ledger, Outcomes};
use super::matching::Matching;
use crate::lint::finding::Finding;
use crate::lint::record::{Ending, Event, EventKind, Relation, Ties};
use crate::lint::rules::{self, Rule};

/// The calls of one session that a decision may have led to.
#[derive(Debug, Default)]
pub struct Resolution {
    /// Only calls that some confirmation can use are kept, so there are never more than confirmations.
    calls: Vec<Call>,
    used: Matching,
}

#[derive(Debug)]
struct Call {
    ties: Ties,
    line: u64,
    /// Accused of having come without acceptance: if one comes later, this is the call that it leads to.
    accused: bool,
}

impl Resolution {
    /// Judges an event of the open session; `accused` are the calls that were just accused.
    pub fn event(&mut self, event: &Event, accused: Vec<Ties>, ledger: &Ledger, notes: &mut Notes) {
        for ties in accused {
            self.calls.push(Call {
                ties,
                line: event.place.line,
                accused: true,
            });
        }
        match &event.kind {
            EventKind::Invoked { .. } => self.called(event, ledger),
            EventKind::Ended(Ending::Completed) => self.completed(event, ledger, notes),
            EventKind::Started
            | EventKind::Ended(Ending::Errored | Ending::Cancelled)
            | EventKind::StateChanged { .. }
            | EventKind::Completed { .. }
            | EventKind::Asked(_)
            | EventKind::Other => {}
        }
    }

    fn called(&mut self, event: &Event, ledger: &Ledger) {
        let number = self.calls.len();
        self.calls.push(Call {
            ties: event.ties.clone(),
            line: event.place.line,
            accused: false,
        });
        let calls = &self.calls;
        let useful = self.used.assign(number, |number| {
            let (mut candidates, _) = ledger.candidates(&calls[number].ties, calls[number].line);
            candidates.retain(|index| ledger.confirmations[*index].possible != Outcomes::REJECTED);
            candidates
        });
        // No confirmation that was asked before it can use it, and none that is asked later may.
        if !useful {
            self.calls.pop();
        }
    }

    fn completed(&self, event: &Event, ledger: &Ledger, notes: &mut Notes) {
        let mut explained = Matching::default();
        for (index, confirmation) in ledger.confirmations.iter().enumerate() {
            let accepted = confirmation.possible == Outcomes::ACCEPTED;
            let fault = if confirmation.possible == Outcomes::REJECTED {
                fault_of_rejection(confirmation)
            } else if accepted && !explained.assign(index, |index| self.calls_for(index, ledger)) {
                // AAEP-A.4-3: an accepted action is called.
                Some((
                    &rules::ACCEPTED_AND_NOT_CALLED,
                    "no tool.invoked came of it",
                ))
            } else {
                None
            };
            let (Some((rule, what)), Some((reply, _))) = (fault, confirmation.answered) else {
                continue;
            };
            let word = if accepted { "accepted" } else { "rejected" };
            let message = format!(
                "session.completed, and the question on line {} was {word} on line {reply} and {what}",
                confirmation.place.line
            );
            notes.add(Finding::new(
                rule,
                &event.place,
                Some(&event.session),
                message,
            ));
        }
    }

    fn calls_for(&self, index: usize, ledger: &Ledger) -> Vec<usize> {
        let confirmation = &ledger.confirmations[index];
        let fits = |call: &Call| {
            if call.accused {
                return confirmation.ties.relation(&call.ties) != Relation::Different;
            }
            ledger.candidates(&call.ties, call.line).0.contains(&index)
        };
        (0..self.calls.len())
            .filter(|number| fits(&self.calls[*number]))
            .collect()
    }
}

/// AAEP-6.1-3: a rejection is not passed over in silence. AAEP-A.4-2: a state.changed says how it went on.
fn fault_of_rejection(confirmation: &Confirmation) -> Option<(&'static Rule, &'static str)> {
    match confirmation.follow_up {
        FollowUp::Nothing => Some((&rules::DROPPED_SILENTLY, "no event came of it")),
        FollowUp::Event => Some((
            &rules::NO_STATE_AFTER_RESOLUTION,
            "no state.changed came of it",
        )),
        FollowUp::StateOrCall => None,
    }
}
