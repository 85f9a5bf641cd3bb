//! What has to follow a decision: the call after an acceptance, a word after a rejection.
//!
//! Judged when the session completes. A session that errors or is cancelled takes its obligations with it (AAEP-6.8-2),
//! and a question that is still open when its session ends ends with it.

use super::Notes;
use super::authorisation::Accused;
use super::confirmation::{Confirmation, FollowUp, Outcomes};
use super::confirmations::Confirmations;
use super::matching::Matching;
use super::ordered::Ordered;
use crate::action_ids::{ActionIds, CallClass, Relation};
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::{Ending, Event, EventKind};
use crate::rules::{self, Rule};

/// The calls of one session that a decision may have led to.
#[derive(Debug, Default, Clone)]
pub struct Resolution {
    /// Only calls that some confirmation can use are kept, and those that were accused.
    calls: Ordered<usize, Box<Call>>,
    called: usize,
    used: Matching,
}

#[derive(Debug, Clone)]
struct Call {
    ids: ActionIds<'static>,
    relation: Relation,
    line: u64,
    /// Accused of having come without acceptance: if one comes later, this is the call that it leads to.
    accused: bool,
    announces: Announces,
}

/// Which questions a call may announce the action of, that was accused of having come without acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Announces {
    /// Any that its ids do not speak against.
    Any,
    /// This one alone.
    The(usize),
    /// Any that was asked before this line, on which it completed.
    Before(u64),
}

impl Announces {
    fn may_be(self, number: usize, question: &Confirmation) -> bool {
        match self {
            Self::Any => true,
            Self::The(tied) => tied == number,
            Self::Before(line) => question.place.line < line,
        }
    }
}

impl Resolution {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            calls,
            called,
            used,
        } = self;
        memory.value(&(called, used));
        memory.each(calls.iter(), |memory, (number, call)| {
            let Call {
                ids,
                // It tells the class.
                relation: _,
                line,
                accused,
                announces,
            } = &**call;
            memory.line(*line);
            memory.value(&(number, ids, call.class(number), accused));
            match announces {
                Announces::Before(line) => memory.line(*line),
                Announces::Any | Announces::The(_) => memory.value(announces),
            }
        });
    }

    /// Judges an event of the open session; `accused` are the calls that were just accused. `call` is what
    /// [`Confirmations::candidates`] says of the event, if it is a call.
    pub fn event(
        &mut self,
        event: &Event,
        accused: Vec<Accused>,
        call: &(Vec<usize>, Relation),
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        for Accused { line, ids, .. } in accused {
            self.enter(Call {
                ids,
                relation: Relation::Unknown,
                line,
                accused: true,
                announces: Announces::Any,
            });
        }
        match &event.kind {
            EventKind::Invoked { .. } => self.called(event, call, confirmations),
            EventKind::Ended(Ending::Completed) => self.completed(event, confirmations, notes),
            EventKind::Started
            | EventKind::Ended(Ending::Errored | Ending::Cancelled)
            | EventKind::StateChanged { .. }
            | EventKind::Completed { .. }
            | EventKind::Progress { .. }
            | EventKind::Output(_)
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => {}
        }
    }

    /// Takes in that an action completed which no call announced. True if it shares an id with a question that was accepted
    /// and led to no call (AAEP-A.4-3); then the completion stands for that call.
    pub fn completed_uncalled(&mut self, event: &Event, confirmations: &Confirmations) -> bool {
        let (candidates, relation) = confirmations.candidates(&event.ids, event.place.line);
        let is_uncalled =
            |it: &usize| confirmations.kept(*it).is_surely_accepted() && !self.used.is_taken(*it);
        if !matches!(relation, Relation::Same(_)) || !candidates.iter().any(is_uncalled) {
            return false;
        }
        self.enter(Call {
            ids: event.ids.to_keep(),
            relation,
            line: event.place.line,
            accused: true,
            announces: Announces::Any,
        });
        true
    }

    /// The accused call on `line` is about the question of that number, or about none in particular.
    pub fn tie(&mut self, line: u64, question: Option<usize>) {
        self.announce(line, question.map_or(Announces::Any, Announces::The));
    }

    /// The accused call on `line` completed on line `completed`, and no question was tied to it: none that comes later is.
    /// Where none came before either, it is forgotten.
    pub fn close(&mut self, line: u64, completed: u64, confirmations: &Confirmations) {
        self.announce(line, Announces::Before(completed));
        let useless = self.calls.iter().find_map(|(number, call)| {
            let is_meant = call.accused && call.line == line;
            let useless = is_meant && call.may_follow(confirmations, |_| true).is_empty();
            useless.then_some(number)
        });
        if let Some(number) = useless {
            self.calls.remove(number);
        }
    }

    fn announce(&mut self, line: u64, announces: Announces) {
        let mut calls = self.calls.iter_mut();
        if let Some((_, call)) = calls.find(|(_, call)| call.accused && call.line == line) {
            call.announces = announces;
        }
    }

    /// A confirmation is forgotten, and with it the call that it led to.
    pub fn forget(&mut self, number: usize) {
        if let Some(call) = self.used.forget(number) {
            self.calls.remove(call);
        }
    }

    fn enter(&mut self, call: Call) -> usize {
        let number = self.called;
        self.called += 1;
        self.calls.insert(number, Box::new(call));
        number
    }

    fn called(
        &mut self,
        event: &Event,
        (candidates, relation): &(Vec<usize>, Relation),
        confirmations: &Confirmations,
    ) {
        let number = self.enter(Call {
            ids: event.ids.to_keep(),
            relation: *relation,
            line: event.place.line,
            accused: false,
            announces: Announces::Any,
        });
        let calls = &self.calls;
        let class = |number: usize| calls[number].class(number);
        let wanted = |it: &Confirmation| it.possible != Outcomes::REJECTED;
        let edges = |number: usize| calls[number].may_follow(confirmations, wanted);
        let own = candidates.iter().copied();
        let own = own.filter(|index| wanted(confirmations.kept(*index)));
        let useful = self.used.assign(number, own, class, edges);
        // No confirmation that was asked before it can use it, and none that is asked later may.
        if !useful {
            self.calls.remove(number);
        }
    }

    fn completed(&self, event: &Event, confirmations: &Confirmations, notes: &mut Notes) {
        let mut led_to = Matching::default();
        for number in self.calls.keys() {
            let class = |number: usize| self.calls[number].class(number);
            let accepted = |it: &Confirmation| it.possible == Outcomes::ACCEPTED;
            let edges = |number: usize| self.calls[number].may_follow(confirmations, accepted);
            led_to.assign(number, edges(number), class, edges);
        }
        for (index, confirmation) in confirmations.all() {
            let accepted = confirmation.possible == Outcomes::ACCEPTED;
            let fault = if confirmation.possible == Outcomes::REJECTED {
                fault_of_rejection(confirmation)
            } else if accepted && !led_to.is_taken(index) {
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
            if confirmation.may_be_unanswered {
                notes.leave_open(
                    rule.clause,
                    event.place.line,
                    may_not_count(&message, reply),
                );
                continue;
            }
            notes.add(Finding::new(
                rule,
                event.place,
                Some(event.session),
                message,
            ));
        }
    }
}

/// What would be a fault if the reply on that line counted.
pub fn may_not_count(message: &str, reply: u64) -> String {
    format!(
        "{message}; whether the reply on line {reply} counted does not show: a recording would have to hold that its sender was authenticated and its subscription open (\"sender\":\"known\")"
    )
}

impl Call {
    /// A call that was accused is like no other: the acceptance for it may still come.
    fn class(&self, number: usize) -> CallClass {
        if self.accused {
            CallClass::Alone(number)
        } else {
            self.ids.class(self.relation)
        }
    }

    /// The confirmations of a kind that may have led to the call.
    fn may_follow(
        &self,
        confirmations: &Confirmations,
        wanted: impl Fn(&Confirmation) -> bool,
    ) -> Vec<usize> {
        let mut candidates = if self.accused {
            let concerns = |it: &Confirmation| it.ids.relation(&self.ids) != Relation::Different;
            confirmations
                .all()
                .filter(|(number, it)| concerns(it) && self.announces.may_be(*number, it))
                .map(|(index, _)| index)
                .collect()
        } else {
            confirmations.candidates(&self.ids, self.line).0
        };
        candidates.retain(|index| wanted(confirmations.kept(*index)));
        candidates
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
