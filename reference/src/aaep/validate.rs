//! The validation of replies: the six checks of section 6.3.4, in the order of the text.
//!
//! The one thing to know: a [`ValidReply`] can only be made here, and only a [`ValidReply`] resolves a confirmation.
//! The first check that fails names the reason, and only the operator learns it.

use super::confirmation::{Authority, Canceller, Confirmation, ConfirmationNumber, Phase};
use super::confirmations::Confirmations;
use super::interface::{Audit, ClauseId, Notice, Sender};
use super::message::{ConfirmationReply, Malformed};
use super::session::Subscriptions;
use super::vocabulary::{Decision, ReplyToken, SubscriptionId};

/// A reply that passed every check. Its fields are private to this file: there is no other way to make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValidReply {
    confirmation: ConfirmationNumber,
    decision: Decision,
}

/// A message that failed a check and is ignored (AAEP-6.3.4-7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ignored {
    reason: IgnoredBecause,
    /// What the message names, where it could be read.
    named: Option<(ReplyToken, SubscriptionId)>,
}

/// Why a message is ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum IgnoredBecause {
    /// Check 1.
    #[error("malformed: {0}")]
    Malformed(Malformed),
    /// Check 2.
    #[error("this producer never issued the token")]
    TokenUnknown,
    /// Check 3.
    #[error("the token was used up by {0}")]
    TokenUsed(Authority),
    /// In the place of check 3.
    #[error("the confirmation was cancelled by {0}")]
    TokenCancelled(Canceller),
    /// Check 4.
    #[error("decided at or after the deadline, as the sender itself says")]
    DecidedTooLate,
    /// Check 5.
    #[error("the transport has not authenticated the sender")]
    SenderNotAuthenticated,
    /// Check 5.
    #[error("the sender has no open subscription")]
    SenderNotSubscribed,
    /// Check 5.
    #[error("the reply names another subscription than the sender's")]
    SubscriptionForeign,
    /// Check 6.
    #[error("the decision is not among the allowed replies")]
    DecisionNotAllowed,
}

/// Applies the six checks to a message as it was received.
pub(super) fn validate(
    message: &[u8],
    sender: &Sender,
    confirmations: &Confirmations,
    subscriptions: &Subscriptions,
) -> Result<ValidReply, Ignored> {
    let reply = match check_1_message_conforms(message) {
        Ok(reply) => reply,
        Err(reason) => {
            return Err(Ignored {
                reason,
                named: None,
            });
        }
    };
    checks_2_to_6(&reply, sender, confirmations, subscriptions).map_err(|reason| Ignored {
        reason,
        named: Some((reply.reply_token, reply.subscription_id)),
    })
}

fn checks_2_to_6(
    reply: &ConfirmationReply,
    sender: &Sender,
    confirmations: &Confirmations,
    subscriptions: &Subscriptions,
) -> Result<ValidReply, IgnoredBecause> {
    let number = check_2_token_was_issued(reply, confirmations)?;
    let confirmation = confirmations.get(number);
    check_3_token_is_unused(confirmation)?;
    check_4_decided_in_time(reply, confirmation)?;
    check_5_sender_is_authentic(sender, &reply.subscription_id, subscriptions)?;
    let decision = check_6_decision_is_allowed(reply, confirmation)?;
    Ok(ValidReply {
        confirmation: number,
        decision,
    })
}

/// AAEP-6.3.4-1: well-formed JSON that conforms to the schema.
fn check_1_message_conforms(message: &[u8]) -> Result<ConfirmationReply, IgnoredBecause> {
    ConfirmationReply::parse(message).map_err(IgnoredBecause::Malformed)
}

/// AAEP-6.3.4-2: the token is one that this producer issued, to the letter (AAEP-REPLY-13), and none that its sender made up
/// (AAEP-6.2.3-2). Whether it is still good is the next check's business.
fn check_2_token_was_issued(
    reply: &ConfirmationReply,
    confirmations: &Confirmations,
) -> Result<ConfirmationNumber, IgnoredBecause> {
    confirmations
        .find(&reply.reply_token)
        .ok_or(IgnoredBecause::TokenUnknown)
}

/// AAEP-6.3.4-3: no reply and no default has used the token up. AAEP-6.8-4: nor was its confirmation cancelled.
fn check_3_token_is_unused(confirmation: &Confirmation) -> Result<(), IgnoredBecause> {
    match confirmation.phase {
        Phase::Pending => Ok(()),
        Phase::Accepted { by, .. } | Phase::Rejected { by } => Err(IgnoredBecause::TokenUsed(by)),
        Phase::Cancelled { by } => Err(IgnoredBecause::TokenCancelled(by)),
    }
}

/// AAEP-6.3.4-4: the user decided strictly before the deadline, by the time that the sender claims. There is no
/// lower bound.
fn check_4_decided_in_time(
    reply: &ConfirmationReply,
    confirmation: &Confirmation,
) -> Result<(), IgnoredBecause> {
    if reply
        .decided_at
        .precedes(confirmation.question.asked.deadline())
    {
        Ok(())
    } else {
        Err(IgnoredBecause::DecidedTooLate)
    }
}

/// AAEP-6.3.4-5: the transport vouches for the sender (AAEP-6.2.4-1), who speaks on its own open subscription
/// (AAEP-REPLY-14). Whether that subscription declared that it replies does not matter (AAEP-6.6-4).
fn check_5_sender_is_authentic(
    sender: &Sender,
    named: &SubscriptionId,
    subscriptions: &Subscriptions,
) -> Result<(), IgnoredBecause> {
    if !sender.authenticated {
        return Err(IgnoredBecause::SenderNotAuthenticated);
    }
    match &sender.subscription_id {
        Some(own) if subscriptions.is_open(own) && own == named => Ok(()),
        Some(own) if subscriptions.is_open(own) => Err(IgnoredBecause::SubscriptionForeign),
        Some(_) | None => Err(IgnoredBecause::SenderNotSubscribed),
    }
}

/// AAEP-6.3.4-6: the decision is one that the question allows.
fn check_6_decision_is_allowed(
    reply: &ConfirmationReply,
    confirmation: &Confirmation,
) -> Result<Decision, IgnoredBecause> {
    // AAEP-6.3.2-4: modifications are not supported, so a reply that carries one rejects, whatever else it says and
    // even where reject is not an allowed reply: it must not be left waiting for a default that might accept.
    if reply.has_modified_action {
        return Ok(Decision::Reject);
    }
    if confirmation.question.allows(reply.decision) {
        Ok(reply.decision)
    } else {
        Err(IgnoredBecause::DecisionNotAllowed)
    }
}

impl ValidReply {
    /// The confirmation that it resolves.
    pub(super) fn confirmation(self) -> ConfirmationNumber {
        self.confirmation
    }

    /// What it decides.
    pub(super) fn decision(self) -> Decision {
        self.decision
    }
}

impl Ignored {
    /// What the operator gets to read.
    pub(super) fn audit(&self) -> Audit {
        Audit {
            clause: self.reason.clause(),
            reply_token: self.named.as_ref().map(|(token, _)| token.clone()),
            text: self.reason.to_string(),
        }
    }

    /// AAEP-6.3.5-2, AAEP-6.7.1-2: a late reply may be told that the confirmation was resolved before. Only to a
    /// sender who could have answered it: to anyone else it would tell that the token exists (AAEP-6.3.4-9).
    pub(super) fn courtesy_notice(
        &self,
        sender: &Sender,
        subscriptions: &Subscriptions,
    ) -> Option<Notice> {
        let (reply_token, subscription_id) = self.named.as_ref()?;
        let is_late = matches!(self.reason, IgnoredBecause::TokenUsed(_));
        let is_authentic =
            check_5_sender_is_authentic(sender, subscription_id, subscriptions).is_ok();
        (is_late && is_authentic).then(|| Notice {
            subscription_id: subscription_id.clone(),
            reply_token: reply_token.clone(),
        })
    }
}

impl IgnoredBecause {
    /// The clause that has the message ignored.
    fn clause(&self) -> ClauseId {
        ClauseId(match self {
            Self::Malformed(_) => "AAEP-6.3.4-1",
            Self::TokenUnknown => "AAEP-6.3.4-2",
            Self::TokenUsed(_) => "AAEP-6.3.4-3",
            Self::TokenCancelled(_) => "AAEP-6.8-4",
            Self::DecidedTooLate => "AAEP-6.3.4-4",
            Self::SenderNotAuthenticated
            | Self::SenderNotSubscribed
            | Self::SubscriptionForeign => "AAEP-6.3.4-5",
            Self::DecisionNotAllowed => "AAEP-6.3.4-6",
        })
    }
}
