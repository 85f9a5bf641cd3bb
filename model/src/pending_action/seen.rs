//! What the blocks of [`super::rules`] ask of a step, to see whether it is what has to be possible.

use super::known::Status;
use super::message::{Approved, Message};
use super::output::Output;
use super::rules::Refusal;
use super::step::StepSoFar;
use super::words::{Decider, Decision, Nonce, Note, SessionName, Slot};

impl StepSoFar<'_> {
    /// Whether something like this comes out.
    pub(super) fn puts_out(&self, like: impl Fn(&Output) -> bool) -> bool {
        self.required.as_slice().iter().any(like)
    }

    /// Whether the caller errs so.
    pub(super) fn refuses(&self, refusal: Refusal) -> bool {
        self.required.contains(Output::Refused(refusal))
    }

    /// Whether any action stands so after the step.
    pub(super) fn has(&self, status: Status) -> bool {
        let stands = |slot| self.state.status(slot) == status;
        Slot::ALL.into_iter().any(stands)
    }

    /// Whether an action is pending after the step that is not of this session.
    pub(super) fn has_pending_outside(&self, session: SessionName) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let is_pending = self.state.status(slot) == Status::Pending;
            is_pending && self.state.held(slot).session != session
        })
    }

    /// Whether an action that stood like this is pending again, or unknown.
    pub(super) fn forgets(&self, like: impl Fn(Status) -> bool) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let (was, is) = (self.before.status(slot), self.state.status(slot));
            let forgotten = match is {
                Status::Unknown => true,
                Status::Pending => was != Status::Pending,
                Status::Accepted
                | Status::Rejected
                | Status::Expired
                | Status::Cancelled
                | Status::SessionOver => false,
            };
            forgotten && like(was)
        })
    }

    /// Whether a decision like this is honoured.
    pub(super) fn honours(&self, decision: Decision, like: impl Fn(Slot, Message) -> bool) -> bool {
        let honoured = self.message.filter(|_| self.ignored.is_none());
        let honoured = honoured.filter(|message| message.decision == decision);
        honoured.is_some_and(|message| message.id.is_some_and(|slot| like(slot, message)))
    }

    /// Whether a decision is honoured while another on the same action is under way.
    pub(super) fn honours_beside(&self, decision: Decision, other: Decision) -> bool {
        self.honours(decision, |slot, _| {
            let mut under_way = self.state.network.messages();
            under_way.any(|message| message.id == Some(slot) && message.decision == other)
        })
    }

    /// Whether a decision that its owner sent once is honoured while a copy of it is under way.
    pub(super) fn honours_copied(&self, decision: Decision) -> bool {
        self.honours(decision, |slot, message| {
            let sent_once = message.by == Decider::Owner && self.before.held(slot).sent == 1;
            sent_once && self.state.network.messages().any(|copy| copy == message)
        })
    }

    /// Whether the decision fails two checks.
    pub(super) fn fails_twice(&self) -> bool {
        let decided = self
            .message
            .and_then(|message| Some((message, message.id?)));
        decided.is_some_and(|(message, slot)| {
            let (held, status) = (self.before.held(slot), self.before.status(slot));
            let expires = status == Status::Pending && held.is_past(self.now);
            let edited = message.approved == Approved::Edited;
            let failed = [
                message.nonce == Nonce::Wrong,
                !held.by_anyone && message.by != Decider::Owner,
                status.is_final() || expires,
                edited && message.decision == Decision::Allow,
            ];
            let count = failed.into_iter().filter(|failed| *failed).count();
            status != Status::Unknown && count > 1
        })
    }

    /// Whether a request is told and behind it that its action has expired.
    pub(super) fn tells_expiry_behind_request(&self) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let mut told = self.required.iter();
            told.any(|output| output == Output::Append(Note::Request, slot))
                && told.any(|output| output == Output::Append(Note::Expired, slot))
        })
    }
}
