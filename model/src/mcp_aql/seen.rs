//! What the blocks of [`super::rules`] ask of a step, to see whether it is what has to be possible.

use super::action::Action;
use super::message::{Call, Carried};
use super::output::Output;
use super::rules::{Check, Refusal};
use super::state::{Phase, Token};
use super::step::StepSoFar;
use super::words::{List, Parameters, SLOTS, Slot, Which};

impl StepSoFar<'_> {
    /// Whether something like this comes out.
    pub(super) fn puts_out(&self, like: impl Fn(&Output) -> bool) -> bool {
        self.required.as_slice().iter().any(like)
    }

    /// Whether a call is rejected at this check.
    pub(super) fn rejects_at(&self, check: Check) -> bool {
        self.required.contains(Output::Rejected(check))
    }

    /// Whether the call has these parameters.
    pub(super) fn names(&self, parameters: Parameters) -> bool {
        self.call
            .is_some_and(|it| it.scope.parameters == parameters)
    }

    /// Whether the operation of the call has this list.
    pub(super) fn is_listed(&self, list: List) -> bool {
        let listed = |call: Call| self.before.list(call.scope) == list;
        self.call.is_some_and(listed)
    }

    /// AQL-3.2-1: whether the operation of the call has a list, and it names nothing of the call.
    pub(super) fn is_listed_by_nothing(&self) -> bool {
        self.call
            .is_some_and(|it| self.before.lists_nothing(it.scope))
    }

    /// Whether a token of this adapter is in that slot.
    pub(super) fn has_been_of(&self, slot: Slot, adapter: Which) -> bool {
        let token = self.before.token(slot);
        token.is_issued() && token.scope.adapter == adapter
    }

    /// Whether so many tokens are all that an adapter gives away.
    pub(super) const fn is_used_up(&self, issued: u8) -> bool {
        issued == self.model.bounds.issues
    }

    /// Whether nothing is looked at, as too much was tried.
    pub(super) fn is_turned_away(&self) -> bool {
        self.required.contains(Output::Limited)
    }

    /// Whether the caller errs so.
    pub(super) fn refuses(&self, refusal: Refusal) -> bool {
        self.required.contains(Output::Refused(refusal))
    }

    /// Whether a call with a token like this is admitted, at a node whose clock is off by so much.
    pub(super) fn admits(&self, action: Action, like: impl Fn(Slot, &Token, i8) -> bool) -> bool {
        self.rejected.is_none() && !self.is_turned_away() && self.is_called(action, like)
    }

    /// Whether a call with a token like this is rejected because of its expiry, at a node whose clock is off by so much.
    pub(super) fn takes_for_expired(
        &self,
        action: Action,
        like: impl Fn(Slot, &Token, i8) -> bool,
    ) -> bool {
        self.rejected == Some(Check::NotExpired) && self.is_called(action, like)
    }

    /// Whether a call with a live token is rejected, and the token stays live.
    pub(super) fn rejects_and_keeps(&self, action: Action) -> bool {
        let other_check = self.rejected.is_some_and(|it| it != Check::NotExpired);
        other_check && self.is_called(action, |slot, _, _| self.is_now(slot, Phase::Live))
    }

    /// Whether a gated call with a token like this arrives.
    fn is_called(&self, action: Action, like: impl Fn(Slot, &Token, i8) -> bool) -> bool {
        let Action::Deliver { skew, .. } = action else {
            return false;
        };
        let gated = self.call.filter(|call| call.gated);
        gated.is_some_and(|call| match call.token {
            Carried::Token(slot) => like(slot, self.before.token(slot), skew),
            Carried::Guessed => false,
        })
    }

    /// Whether another call with a single-use token is under way.
    pub(super) fn races(&self, slot: Slot) -> bool {
        let racing = |call: Call| call.token == Carried::Token(slot) && call.gated;
        let single_use = self.before.token(slot).max_uses == 1;
        single_use && self.state.network.messages().any(racing)
    }

    /// Whether a token would admit a call before the step.
    pub(super) fn was_live(&self, slot: Slot) -> bool {
        let token = self.before.token(slot);
        let past = token.is_past(self.now, self.before.tolerance());
        token.phase == Phase::Live && token.uses_left() > 0 && !past
    }

    fn is_now(&self, slot: Slot, phase: Phase) -> bool {
        self.state.token(slot).phase == phase
    }

    /// Whether a token becomes revoked.
    pub(super) fn revokes(&self) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let was = self.before.token(slot).phase == Phase::Revoked;
            self.is_now(slot, Phase::Revoked) && !was
        })
    }

    /// Whether there was a token like this.
    pub(super) fn had(&self, like: impl Fn(&Token) -> bool) -> bool {
        self.before.slots_where(like) != [None; SLOTS]
    }

    /// Whether there is a token like this.
    pub(super) fn has(&self, like: impl Fn(&Token) -> bool) -> bool {
        self.state.slots_where(like) != [None; SLOTS]
    }
}
