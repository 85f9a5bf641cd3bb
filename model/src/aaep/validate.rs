//! The six checks of 6.3.4, in their order: one function for each thing that a producer must not honour.
//!
//! The one thing to know: the first check that fails is the one that the audit names. A check whose guard is left out
//! passes everything.

use super::message::{Message, Shape, Token};
use super::readings::TimeoutUsesToken;
use super::rules::{Check, Guard};
use super::state::{Confirmation, Phase};
use super::step::Turn;
use super::words::{Decision, Slot};

impl Turn<'_> {
    /// The checks in their order (AAEP-6.3.4-1, AAEP-6.3.4-2, AAEP-6.3.4-3, AAEP-6.3.4-4, AAEP-6.3.4-5 and
    /// AAEP-6.3.4-6), each unless its guard is left out. A valid reply names the confirmation that it resolves.
    pub(super) fn validate(&self, message: Message) -> Result<(Slot, Decision), Check> {
        self.honours_malformed(message)?;
        let slot = self.honours_unissued(message)?;
        let confirmation = self.state.confirmation(slot);
        self.honours_used(confirmation)?;
        self.honours_cancelled(confirmation)?;
        self.honours_late(message, confirmation)?;
        self.honours_unauthenticated(message)?;
        self.honours_closed(message)?;
        self.honours_impostor(message)?;
        self.honours_unlisted(message, confirmation)
            .map(|decision| (slot, decision))
    }

    /// AAEP-6.3.4-1
    fn honours_malformed(&self, message: Message) -> Result<(), Check> {
        let fails =
            message.shape == Shape::Malformed && self.model.rules.has(Guard::HonoursMalformed);
        if fails {
            Err(Check::WellFormed)
        } else {
            Ok(())
        }
    }

    /// AAEP-6.3.4-2: the confirmation whose token this is. Left out, a stray token falls to whatever is pending.
    fn honours_unissued(&self, message: Message) -> Result<Slot, Check> {
        let second = self.state.confirmation(Slot::Second);
        match message.token {
            // A token that was issued twice means the confirmation that had it last (against AAEP-6.2.2-3).
            Token::Of(Slot::First) if second.reused_token => Ok(Slot::Second),
            Token::Of(slot) => Ok(slot),
            Token::Guessed => {
                let stray = self
                    .state
                    .slots_where(Confirmation::is_pending)
                    .into_iter()
                    .flatten()
                    .next();
                stray
                    .filter(|_| !self.model.rules.has(Guard::HonoursUnissued))
                    .ok_or(Check::Issued)
            }
        }
    }

    /// AAEP-6.3.4-3: used by a reply, or by the default.
    fn honours_used(&self, confirmation: &Confirmation) -> Result<(), Check> {
        let resolved = matches!(
            confirmation.phase,
            Phase::Accepted | Phase::Finished | Phase::Rejected
        );
        let used = resolved
            && match self.model.reading.timeout_uses_token {
                TimeoutUsesToken::Yes => true,
                TimeoutUsesToken::No => !confirmation.by_default,
            };
        if used && self.model.rules.has(Guard::HonoursUsed) {
            Err(Check::Unused)
        } else {
            Ok(())
        }
    }

    /// AAEP-6.8-4
    fn honours_cancelled(&self, confirmation: &Confirmation) -> Result<(), Check> {
        let fails =
            confirmation.phase == Phase::Cancelled && self.model.rules.has(Guard::HonoursCancelled);
        if fails {
            Err(Check::NotCancelled)
        } else {
            Ok(())
        }
    }

    /// AAEP-6.3.4-4: strictly before the deadline; there is no lower bound.
    fn honours_late(&self, message: Message, confirmation: &Confirmation) -> Result<(), Check> {
        let late = message.claimed >= confirmation.deadline().cast_signed();
        if late && self.model.rules.has(Guard::HonoursLate) {
            Err(Check::InTime)
        } else {
            Ok(())
        }
    }

    /// AAEP-6.3.4-5, AAEP-6.2.4-1
    fn honours_unauthenticated(&self, message: Message) -> Result<(), Check> {
        let fails = !message.authenticated && self.model.rules.has(Guard::HonoursUnauthenticated);
        if fails { Err(Check::Sender) } else { Ok(()) }
    }

    /// AAEP-REPLY-14
    fn honours_closed(&self, message: Message) -> Result<(), Check> {
        let fails =
            !self.state.is_open(message.sender) && self.model.rules.has(Guard::HonoursClosed);
        if fails { Err(Check::Sender) } else { Ok(()) }
    }

    /// AAEP-6.3.4-5: the message names the subscription on which it arrives.
    fn honours_impostor(&self, message: Message) -> Result<(), Check> {
        let fails =
            message.shape == Shape::Impostor && self.model.rules.has(Guard::HonoursImpostor);
        if fails { Err(Check::Sender) } else { Ok(()) }
    }

    /// AAEP-6.3.4-6, but for a reply with an unsupported `modified_action`: that counts as reject (AAEP-6.3.2-4), also
    /// where reject is not allowed.
    fn honours_unlisted(
        &self,
        message: Message,
        confirmation: &Confirmation,
    ) -> Result<Decision, Check> {
        let rules = self.model.rules;
        if message.shape == Shape::Modified && rules.has(Guard::AcceptsModified) {
            return Ok(Decision::Reject);
        }
        let fails = !confirmation.class.allowed.allows(message.decision)
            && rules.has(Guard::HonoursUnlisted);
        if fails {
            Err(Check::Allowed)
        } else {
            Ok(message.decision)
        }
    }
}
