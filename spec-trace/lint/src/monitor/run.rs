//! A call that needs an acceptance, and what is remembered of it.

use std::collections::BTreeSet;

use super::authorisation::{Accused, Concerned};
use super::confirmation::Confirmation;
use super::confirmations::Confirmations;
use super::wording::{Action, Fit};
use crate::action_ids::{ActionIds, CallClass, IdKinds, Relation};
use crate::finding::{Place, TiedBy};
use crate::record::{Event, Risk};
use crate::time::Timestamp;

/// A call that needs an acceptance.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) place: Place,
    pub(super) action: Action,
    pub(super) relation: Relation,
    /// The questions that are about another call.
    pub(super) others: Vec<usize>,
    /// Whether it only waits for a question of its own: no reply can explain it.
    pub(super) waits: bool,
    /// Whether a question behind it fits it better than all before it.
    pub(super) asked_behind: bool,
    /// Whether it names a question and says that it was accepted.
    pub(super) says_accepted: bool,
    pub(super) sent: Option<Timestamp>,
    pub(super) received: Option<Timestamp>,
    /// The line on which it completed.
    pub(super) completed: Option<u64>,
    /// Confirmations that were accepted before the call, and recorded so after it.
    pub(super) accepted_unseen: Vec<usize>,
    /// The line of the last acceptance before it with a token that nobody gave out, or 0.
    pub(super) stray: u64,
}

impl Run {
    pub(super) fn new(event: &Event, concerned: &Concerned, stray: u64) -> Option<Self> {
        Some(Self {
            place: event.place.to_keep(),
            action: Action::of(event)?,
            relation: concerned.relation,
            others: concerned.others.clone(),
            waits: false,
            asked_behind: false,
            says_accepted: event.says_accepted(),
            sent: event.sent,
            received: event.received,
            completed: None,
            accepted_unseen: Vec::new(),
            stray,
        })
    }

    pub(super) fn ids(&self) -> &ActionIds<'static> {
        &self.action.ids
    }

    pub(super) fn line(&self) -> u64 {
        self.place.line
    }

    /// Whether an acceptance with a token that nobody gave out came between this line and the call.
    pub(super) fn has_stray_acceptance(&self, asked: u64) -> bool {
        asked < self.stray
    }

    /// How well a question fits it.
    pub(super) fn fit(&self, question: &Confirmation) -> Fit {
        self.action.fits(&question.ids, &question.wording)
    }

    pub(super) fn risk(&self) -> Risk {
        self.action.risk.unwrap_or(Risk::Low)
    }

    /// AAEP-A.7.4-1, AAEP-6.9-5: an irreversible call may run for want of a reply where its risk is low, and not else.
    pub(super) fn may_default(&self) -> bool {
        !self.action.irreversible || self.risk() == Risk::Low
    }

    /// A call with an acceptance of its own that others cannot have, or without one that others can, is like no other.
    pub(super) fn class(&self, number: usize, asked: &BTreeSet<IdKinds>) -> (CallClass, bool) {
        let class = if self.accepted_unseen.is_empty() && self.others.is_empty() {
            self.ids().class(self.relation, asked)
        } else {
            CallClass::Alone(number)
        };
        (class, self.may_default())
    }

    pub(super) fn accused(&self, unasked: bool) -> Accused {
        Accused {
            line: self.line(),
            action: self.action.clone(),
            completed: self.completed,
            unasked,
            others: self.others.clone(),
        }
    }

    pub(super) fn tied_by(&self) -> TiedBy {
        match self.relation {
            Relation::Same(tied_by) => tied_by,
            Relation::Unknown | Relation::Different => TiedBy::Order,
        }
    }

    /// Whether the acceptance of a question explains it, as far as replies count that are recorded.
    pub(super) fn is_explained_by(&self, question: usize, confirmations: &Confirmations) -> bool {
        let may_explain = confirmations
            .kept(question)
            .may_explain(self.line(), self.may_default());
        may_explain || self.accepted_unseen.contains(&question)
    }

    /// The line of an acceptance before it that counts if the reply that decided the question did not.
    pub(super) fn otherwise(&self, question: &Confirmation) -> Option<u64> {
        let moment = self.received.or(self.sent);
        question.overruled_before((self.line(), moment), self.may_default())
    }

    /// AAEP-6.3.4-5: what is assumed of the sender of the reply that decided a question, where the call was accepted otherwise.
    pub(super) fn assumes(&self, question: &Confirmation) -> Option<String> {
        let moment = self.received.or(self.sent);
        let accepted = question.accepted_besides((self.line(), moment), self.may_default());
        question.assumed().filter(|_| accepted.is_some())
    }

    pub(super) fn is_irreversible(&self) -> bool {
        self.action.irreversible
    }

    pub(super) fn call(&self) -> String {
        let kind = if self.action.irreversible {
            "irreversible call"
        } else {
            "call"
        };
        format!("{kind} of {}", self.name())
    }

    pub(super) fn name(&self) -> &str {
        self.action.name()
    }

    /// The questions that may be about it.
    pub(super) fn candidates(&self, confirmations: &Confirmations) -> Vec<usize> {
        let (mut candidates, _) = confirmations.candidates(self.ids(), self.line());
        candidates.retain(|it| !self.others.contains(it));
        candidates
    }

    /// Whether nothing but its place ties a question to it.
    pub(super) fn is_tied_by_place_alone(&self, question: &Confirmation) -> bool {
        !matches!(self.relation, Relation::Same(_)) && !self.action.is_named_in(&question.wording)
    }
}
