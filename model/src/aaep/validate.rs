//! The six checks of 6.3.4 and the two of 6.5.5, in their order: one function for each, named after what it asks of a reply.
//!
//! The one thing to know: the first check that fails is the one that the audit names. A check whose guard is left out
//! passes everything.

use super::message::{Message, Shape, Token};
use super::output::Answered;
use super::readings::{
    ChoicesBesideFreetext, ClockTolerance, DeadlineBoundary, KindsAbsent, ReplyLowerBound,
    SenderBinding, TimeoutUsesToken,
};
use super::rules::{Check, Guard};
use super::state::{Confirmation, Phase};
use super::step::{StepSoFar, Verdict};
use super::words::{AllowedReplies, Decision, Response, Slot, Takes};
use crate::time;

impl StepSoFar<'_> {
    /// The checks in their order (AAEP-6.3.4-1, AAEP-6.3.4-2, AAEP-6.3.4-3, AAEP-6.3.4-4, AAEP-6.3.4-5 and
    /// AAEP-6.3.4-6; for a clarification AAEP-6.5.5-2 and AAEP-6.5.5-3 in place of the last), each unless its guard is left out. A
    /// valid reply names the question that it resolves.
    pub(super) fn validate(&self, message: Message) -> Result<(Slot, Verdict), Check> {
        self.well_formed(message)?;
        let slot = self.issued(message)?;
        let confirmation = self.state.confirmation(slot);
        self.of_its_kind(message, confirmation)?;
        self.unused(confirmation)?;
        self.not_cancelled(confirmation)?;
        self.decided_in_time(message, confirmation)?;
        self.authenticated(message)?;
        self.subscription_open(message)?;
        self.subscription_its_own(message)?;
        let verdict = match (confirmation.clarifies, message.response) {
            (None, None) => Verdict::Decided(self.decision_allowed(message, confirmation)?),
            (Some(clarifies), Some(response)) => {
                self.response_fits(clarifies.takes, response)?;
                Verdict::Answered(Answered::Reply(response))
            }
            // Only where the rule is left out that tells the kinds apart.
            (None, Some(_)) => Verdict::Decided(Decision::Accept),
            (Some(clarifies), None) => Verdict::Answered(Answered::Reply(clarifies.takes.right())),
        };
        Ok((slot, verdict))
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

    /// AAEP-6.3.4-2, AAEP-6.5.5-1: a token is that of an outstanding question of the kind that the message replies to.
    fn of_its_kind(&self, message: Message, confirmation: &Confirmation) -> Result<(), Check> {
        let other = message.response.is_some() != confirmation.clarifies.is_some();
        Check::Issued.fails_if(other && self.model.rules.forbid(Guard::HonoursOtherKind))
    }

    /// AAEP-6.3.4-3: used by a reply, or by the default.
    fn unused(&self, confirmation: &Confirmation) -> Result<(), Check> {
        let resolved = matches!(
            confirmation.phase,
            Phase::Accepted | Phase::Finished | Phase::Rejected | Phase::Answered
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

    /// AAEP-6.3.4-4: strictly before the deadline, or by another reading no later; by a third no earlier than the question.
    fn decided_in_time(&self, message: Message, confirmation: &Confirmation) -> Result<(), Check> {
        let deadline = if self.model.rules.forbid(Guard::ChecksOldDeadline) {
            confirmation.deadline()
        } else {
            confirmation.first_deadline()
        };
        let tolerated = match self.model.reading.clock_tolerance {
            ClockTolerance::None => 0,
            ClockTolerance::OneTick => time::on(1),
            ClockTolerance::Any => i8::MAX.cast_unsigned() - deadline,
        };
        let deadline = (deadline + tolerated).cast_signed();
        let late = match self.model.reading.deadline_boundary {
            DeadlineBoundary::Strict => message.claimed >= deadline,
            DeadlineBoundary::Inclusive => message.claimed > deadline,
        };
        let early = match self.model.reading.reply_lower_bound {
            ReplyLowerBound::None => false,
            ReplyLowerBound::NotBeforeAsked => {
                message.claimed < time::on(confirmation.issued).cast_signed()
            }
        };
        Check::InTime.fails_if(early || late && self.model.rules.forbid(Guard::HonoursLate))
    }

    /// AAEP-6.3.4-5, AAEP-6.2.4-1
    fn authenticated(&self, message: Message) -> Result<(), Check> {
        let unknown = !message.authenticated;
        Check::Sender.fails_if(unknown && self.model.rules.forbid(Guard::HonoursUnauthenticated))
    }

    /// AAEP-REPLY-14: of the subscriptions that it comes on and that it names, the one that counts.
    fn subscription_open(&self, message: Message) -> Result<(), Check> {
        let closed = !self.state.is_open(match self.model.reading.sender_binding {
            SenderBinding::Own => message.sender,
            SenderBinding::Named => message.named(),
        });
        Check::Sender.fails_if(closed && self.model.rules.forbid(Guard::HonoursClosed))
    }

    /// AAEP-6.3.4-5: the message names the subscription on which it arrives, unless by the reading the one that it names counts.
    fn subscription_its_own(&self, message: Message) -> Result<(), Check> {
        let bound = self.model.reading.sender_binding == SenderBinding::Own;
        let impostor = bound && message.shape == Shape::Impostor;
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
        let allowed = confirmation.class.allowed;
        let takes_for_own =
            allowed == AllowedReplies::RejectOrOwn && rules.allow(Guard::TakesUnlistedForOwn);
        let numbers = self.model.reading.numbers;
        let is_allowed = confirmation.class.allows(message.decision, numbers);
        let unlisted = !is_allowed && !takes_for_own;
        Check::Allowed.fails_if(unlisted && rules.forbid(Guard::HonoursUnlisted))?;
        Ok(message.decision)
    }
}

impl StepSoFar<'_> {
    /// AAEP-6.5.5-2, AAEP-6.5.5-3; of several kinds any will do (AAEP-6.5.2-2).
    fn response_fits(&self, takes: Takes, response: Response) -> Result<(), Check> {
        let rules = self.model.rules;
        let reading = self.model.reading;
        let is_string = response != Response::Number;
        let other_type = match takes {
            Takes::Words | Takes::Choice | Takes::ChoiceOrWords => !is_string,
            Takes::Unlisted => reading.kinds_absent == KindsAbsent::Freetext && !is_string,
            // The first kind is yes_no, and a number is of the second.
            Takes::Several => is_string || rules.allow(Guard::TakesFirstKindOnly),
        };
        Check::Type.fails_if(other_type && rules.forbid(Guard::HonoursOtherType))?;
        let bound = reading.choices_beside_freetext == ChoicesBesideFreetext::Bound;
        let chooses = takes == Takes::Choice || bound && takes == Takes::ChoiceOrWords;
        let no_choice = chooses && response == Response::Word;
        Check::Choice.fails_if(no_choice && rules.forbid(Guard::HonoursNoChoice))
    }
}

impl Check {
    /// What comes of it.
    fn fails_if(self, condition: bool) -> Result<(), Self> {
        if condition { Err(self) } else { Ok(()) }
    }
}
