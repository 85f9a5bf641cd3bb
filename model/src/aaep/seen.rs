//! What the blocks of [`super::rules`] ask of a step, to see whether it is what has to be possible.

use super::action::Action;
use super::message::Message;
use super::output::{Answered, Output};
use super::rules::{Check, Refusal};
use super::state::{Confirmation, Phase};
use super::step::StepSoFar;
use super::words::{SLOTS, Slot};

/// The resolution of a confirmation that was pending, not of a clarification.
pub(super) struct Resolution {
    pub(super) slot: Slot,
    pub(super) accepts: bool,
    pub(super) by_reply: bool,
    /// How long its deadline had come, in moments; nothing if it had not.
    pub(super) due: Option<u8>,
}

impl StepSoFar<'_> {
    /// Whether something like this comes out.
    pub(super) fn puts_out(&self, like: impl Fn(&Output) -> bool) -> bool {
        self.required.as_slice().iter().any(like)
    }

    /// Whether the call is refused so.
    pub(super) fn refuses(&self, refusal: Refusal) -> bool {
        self.required.contains(Output::Refused(refusal))
    }

    /// Whether a confirmation is resolved like this.
    pub(super) fn resolves(&self, like: impl Fn(Resolution) -> bool) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let before = self.before.confirmation(slot);
            before.is_pending()
                && before.clarifies.is_none()
                && self.resolved[slot.index()]
                && like(Resolution {
                    slot,
                    accepts: self.state.confirmation(slot).phase == Phase::Accepted,
                    by_reply: self.resolved_by_reply[slot.index()],
                    due: self.before.clock.checked_sub(before.deadline()),
                })
        })
    }

    /// Whether a clarification comes to this.
    pub(super) fn answers(&self, like: impl Fn(Answered) -> bool) -> bool {
        self.puts_out(|it| matches!(it, Output::Answer(_, answered) if like(*answered)))
    }

    /// Whether a reply like this is honoured.
    pub(super) fn honours(&self, action: Action, like: impl Fn(Message) -> bool) -> bool {
        let arrives = matches!(action, Action::Deliver { .. } | Action::Replay);
        arrives && self.ignored.is_none() && self.reply_is(action, like)
    }

    /// Whether a reply like this is ignored at this check.
    pub(super) fn ignores(
        &self,
        action: Action,
        check: Check,
        like: impl Fn(Message) -> bool,
    ) -> bool {
        self.ignored == Some(check) && self.reply_is(action, like)
    }

    fn reply_is(&self, action: Action, like: impl Fn(Message) -> bool) -> bool {
        action.message(self.before).is_some_and(like)
    }

    /// Whether a confirmation is cancelled that was pending.
    pub(super) fn cancels(&self) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let is_cancelled = self.state.confirmation(slot).phase == Phase::Cancelled;
            is_cancelled && self.before.confirmation(slot).is_pending()
        })
    }

    /// Whether the last subscription that could answer closes.
    pub(super) fn last_capable_closes(&self, action: Action) -> bool {
        let closes = matches!(action, Action::Close { .. });
        closes && self.before.has_capable() && !self.state.has_capable()
    }

    /// Whether a confirmation like this is left pending.
    pub(super) fn leaves_pending(&self, like: impl Fn(&Confirmation) -> bool) -> bool {
        let slots = self.state.slots_where(|it| it.is_pending() && like(it));
        slots != [None; SLOTS]
    }

    /// Whether an event comes out in a session in which something is pending.
    pub(super) fn goes_on_while_blocked(&self) -> bool {
        let blocked = |slot: Slot| {
            let session = self.state.confirmation(slot).session;
            self.state.has_pending(session, Some(slot))
        };
        self.puts_out(|it| matches!(it, Output::Invoked(slot) if blocked(*slot)))
    }
}
