//! The checks of a decision, in their order.
//!
//! The one thing to know: the first check that fails is the one that the audit names. A check whose guard is left out passes
//! everything.

use super::known::Status;
use super::message::{Approved, Message};
use super::readings::DecidersAbsent;
use super::rules::{Check, Guard};
use super::step::StepSoFar;
use super::words::{Decider, Decision, Nonce, Slot};

/// Every check but the first, which finds the action, in order.
const CHECKS: [Check; 5] = [
    Check::Nonce,
    Check::Entitled,
    Check::NotExpired,
    Check::Unresolved,
    Check::Arguments,
];

impl StepSoFar<'_> {
    /// The checks in their order, each unless its guard is left out. A decision that passes names the action it resolves.
    pub(super) fn validate(&self, message: Message) -> Result<Slot, Check> {
        let slot = self.find(message).ok_or(Check::Known)?;
        match CHECKS
            .into_iter()
            .find(|&check| self.fails(check, message, slot))
        {
            Some(check) => Err(check),
            None => Ok(slot),
        }
    }

    /// PA-1: the action of this id, and no other.
    fn find(&self, message: Message) -> Option<Slot> {
        let rules = self.model.rules;
        let pending = self
            .state
            .slots_where(|_, standing| standing.status == Status::Pending);
        let mut pending = pending.into_iter().flatten();
        let by_id = message
            .id
            .filter(|&slot| self.state.status(slot) != Status::Unknown);
        if rules.allow(Guard::MatchesByPosition) {
            return pending.last().or(by_id);
        }
        if rules.allow(Guard::HonoursUnknown) {
            return by_id.or_else(|| pending.next());
        }
        by_id
    }

    /// Whether the decision fails this check.
    fn fails(&self, check: Check, message: Message, slot: Slot) -> bool {
        let rules = self.model.rules;
        let status = self.state.status(slot);
        match check {
            Check::Known => false,
            // PA-1
            Check::Nonce => message.nonce == Nonce::Wrong && rules.forbid(Guard::HonoursOtherNonce),
            // PA-2
            Check::Entitled => {
                !self.may_decide(message.by, slot) && rules.forbid(Guard::HonoursStranger)
            }
            // PA-7
            Check::NotExpired => {
                status == Status::Expired
                    && (rules.forbid(Guard::HonoursExpired) || message.decision == Decision::Deny)
            }
            // PA-8
            Check::Unresolved => self.is_resolved(status, message.decision),
            // PA-3
            Check::Arguments => {
                message.decision == Decision::Allow
                    && message.approved == Approved::Edited
                    && rules.forbid(Guard::RunsEdited)
            }
        }
    }

    /// PA-2: whether this decider is on the action's list, or there is none.
    fn may_decide(&self, by: Decider, slot: Slot) -> bool {
        if self.state.held(slot).by_anyone {
            match self.model.reading.deciders_absent {
                DecidersAbsent::Anyone => true,
                DecidersAbsent::Nobody => false,
            }
        } else {
            by == Decider::Owner
        }
    }

    /// PA-8, PA-5: whether an action that stands so is resolved for a decision like this.
    fn is_resolved(&self, status: Status, decision: Decision) -> bool {
        let rules = self.model.rules;
        match (status, decision) {
            // Expiry has its own check.
            (Status::Unknown | Status::Pending | Status::Expired, _) => false,
            (Status::Accepted, Decision::Allow) | (Status::Rejected, Decision::Deny) => {
                rules.forbid(Guard::HonoursRepeated)
            }
            (Status::Accepted, Decision::Deny) => rules.forbid(Guard::DeniesAfterAllow),
            (Status::Rejected, Decision::Allow) => rules.forbid(Guard::AllowsAfterDeny),
            (Status::Cancelled | Status::SessionOver, Decision::Allow) => {
                rules.forbid(Guard::HonoursCancelled)
            }
            (Status::Cancelled | Status::SessionOver, Decision::Deny) => true,
        }
    }
}
