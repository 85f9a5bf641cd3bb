//! The six checks of 6.3.4, in their order: one function for each, named after what it asks of a reply.
//!
//! The one thing to know: the first check that fails is the one that the audit names. A check whose guard is left out
//! passes everything.

use super::message::{Message, Shape, Token};
use super::readings::TimeoutUsesToken;
use super::rules::{Check, Guard};
use super::state::{Confirmation, Phase};
use super::step::StepSoFar;
use super::words::{Decision, Slot};

impl StepSoFar<'_> {
    /// The checks in their order (AAEP-6.3.4-1, AAEP-6.3.4-2, AAEP-6.3.4-3, AAEP-6.3.4-4, AAEP-6.3.4-5 and
    /// AAEP-6.3.4-6), each unless its guard is left out. A valid reply names the confirmation that it resolves.
    pub(super) fn validate(&self, message: Message) -> Result<(Slot, Decision), Check> {
        self.well_formed(message)?;
        let slot = self.issued(message)?;
        let confirmation = self.state.confirmation(slot);
        self.unused(confirmation)?;
        self.not_cancelled(confirmation)?;
        self.decided_in_time(message, confirmation)?;
        self.authenticated(message)?;
        self.subscription_open(message)?;
        self.subscription_its_own(message)?;
        self.decision_allowed(message, confirmation)
            .map(|decision| (slot, decision))
    }

    /// AAEP-6.3.4-1
    fn well_formed(&self, message: Message) -> Result<(), Check> {
        let malformed = message.shape == Shape::Malformed;
        Check::WellFormed.fails_if(malformed && self.model.rules.forbid(Guard::HonoursMalformed))
    }

    /// AAEP-6.3.4-2: the confirmation whose token this is. Left out, a stray token falls to whatever is pending.
    fn issued(&self, message: Message) -> Result<Slot, Check> {
        let reuses = |&slot: &Slot| self.state.confirmation(slot).reused_token;
        let last = Slot::ALL.into_iter().rev().find(reuses);
        match message.token {
            // A token that was issued twice means the confirmation that had it last (against AAEP-6.2.2-3).
            Token::Of(Slot::First) => Ok(last.unwrap_or(Slot::First)),
            Token::Of(slot) => Ok(slot),
            Token::Guessed => {
                let stray = self
                    .state
                    .slots_where(Confirmation::is_pending)
                    .into_iter()
                    .flatten()
                    .next();
                stray
                    .filter(|_| self.model.rules.allow(Guard::HonoursUnissued))
                    .ok_or(Check::Issued)
            }
        }
    }

    /// AAEP-6.3.4-3: used by a reply, or by the default.
    fn unused(&self, confirmation: &Confirmation) -> Result<(), Check> {
        let resolved = matches!(
            confirmation.phase,
            Phase::Accepted | Phase::Finished | Phase::Rejected
        );
        let used = resolved
            && match self.model.reading.timeout_uses_token {
                TimeoutUsesToken::Yes => true,
                TimeoutUsesToken::No => !confirmation.by_default,
            };
        Check::Unused.fails_if(used && self.model.rules.forbid(Guard::HonoursUsed))
    }

    /// AAEP-6.8-4
    fn not_cancelled(&self, confirmation: &Confirmation) -> Result<(), Check> {
        let cancelled = confirmation.phase == Phase::Cancelled;
        Check::NotCancelled.fails_if(cancelled && self.model.rules.forbid(Guard::HonoursCancelled))
    }

    /// AAEP-6.3.4-4: strictly before the deadline; there is no lower bound.
    fn decided_in_time(&self, message: Message, confirmation: &Confirmation) -> Result<(), Check> {
        let late = message.claimed >= confirmation.deadline().cast_signed();
        Check::InTime.fails_if(late && self.model.rules.forbid(Guard::HonoursLate))
    }

    /// AAEP-6.3.4-5, AAEP-6.2.4-1
    fn authenticated(&self, message: Message) -> Result<(), Check> {
        let unknown = !message.authenticated;
        Check::Sender.fails_if(unknown && self.model.rules.forbid(Guard::HonoursUnauthenticated))
    }

    /// AAEP-REPLY-14
    fn subscription_open(&self, message: Message) -> Result<(), Check> {
        let closed = !self.state.is_open(message.sender);
        Check::Sender.fails_if(closed && self.model.rules.forbid(Guard::HonoursClosed))
    }

    /// AAEP-6.3.4-5: the message names the subscription on which it arrives.
    fn subscription_its_own(&self, message: Message) -> Result<(), Check> {
        let impostor = message.shape == Shape::Impostor;
        Check::Sender.fails_if(impostor && self.model.rules.forbid(Guard::HonoursImpostor))
    }

    /// AAEP-6.3.4-6, but for a reply with an unsupported `modified_action`: that counts as reject (AAEP-6.3.2-4), also
    /// where reject is not allowed.
    fn decision_allowed(
        &self,
        message: Message,
        confirmation: &Confirmation,
    ) -> Result<Decision, Check> {
        let rules = self.model.rules;
        if message.shape == Shape::Modified && rules.forbid(Guard::AcceptsModified) {
            return Ok(Decision::Reject);
        }
        let unlisted = !confirmation.class.allowed.allows(message.decision);
        Check::Allowed.fails_if(unlisted && rules.forbid(Guard::HonoursUnlisted))?;
        Ok(message.decision)
    }
}

impl Check {
    /// What comes of it.
    fn fails_if(self, condition: bool) -> Result<(), Self> {
        if condition { Err(self) } else { Ok(()) }
    }
}
