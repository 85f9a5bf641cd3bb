//! The validation of replies: the six checks of section 6.3.4, in the order of the text, and what section 6.5.5 puts in the place
//! of the last for a clarification.
//!
//! The one thing to know: a [`ValidReply`] or a [`ValidAnswer`] can only be made here, and only these resolve a question before
//! its time. The first check that fails names the reason, and only the operator learns it.

use super::clarification::{ClarificationNumber, ClarificationQuestion};
use super::confirmation::{Authority, Canceller, ConfirmationNumber, Question};
use super::interface::{Audit, ClauseId, Notice, Sender, UserResponse};
use super::message::{ClarificationReply, ConfirmationReply, Malformed, Reply};
use super::modified::ModifiedAction;
use super::producer::Settings;
use super::question::{Asked, QuestionNumber, TokenState};
use super::questions::Questions;
use super::session::Subscriptions;
use super::vocabulary::{Decision, ReplyToken, ResponseKind, SubscriptionId};
use crate::time::DecidedAt;

/// A message that passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Valid {
    Reply(ValidReply),
    Answer(ValidAnswer),
}

/// A decision that passed every check. Its fields are private to this file: there is no other way to make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValidReply {
    confirmation: ConfirmationNumber,
    verdict: Verdict,
}

/// What a reply decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The action may run, as it was asked about or as modified.
    Accept(Option<ModifiedAction>),
    /// The action must not run.
    Reject,
}

/// The response to a clarification that passed every check. Its fields are private to this file, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValidAnswer {
    clarification: ClarificationNumber,
    response: UserResponse,
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
    #[error("the token was never issued for such a question")]
    TokenUnknown,
    /// Check 3.
    #[error("the token was used up by {0}")]
    TokenUsed(Authority),
    /// In the place of check 3.
    #[error("the {kind} was cancelled by {by}")]
    TokenCancelled { kind: &'static str, by: Canceller },
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
    /// Check 6 of a decision.
    #[error("the decision is not among the allowed replies")]
    DecisionNotAllowed,
    /// The last check of an answer.
    #[error("the response is of no accepted kind")]
    ResponseKindForeign,
    /// The last check of an answer.
    #[error("the response is none of the choices")]
    ResponseNoChoice,
}

/// Applies the checks to a message as it was received.
pub(super) fn validate(
    message: &[u8],
    sender: &Sender,
    questions: &Questions,
    subscriptions: &Subscriptions,
    settings: &Settings,
) -> Result<Valid, Ignored> {
    let reply = match check_1_message_conforms(message) {
        Ok(reply) => reply,
        Err(reason) => {
            return Err(Ignored {
                reason,
                named: None,
            });
        }
    };
    let checked = match &reply {
        Reply::Confirmation(reply) => {
            checks_2_to_6(reply, sender, questions, subscriptions, settings).map(Valid::Reply)
        }
        Reply::Clarification(reply) => {
            checks_of_an_answer(reply, sender, questions, subscriptions).map(Valid::Answer)
        }
    };
    checked.map_err(|reason| Ignored {
        reason,
        named: Some((reply.reply_token().clone(), reply.subscription_id().clone())),
    })
}

fn checks_2_to_6(
    reply: &ConfirmationReply,
    sender: &Sender,
    questions: &Questions,
    subscriptions: &Subscriptions,
    settings: &Settings,
) -> Result<ValidReply, IgnoredBecause> {
    let number = check_2_token_was_issued(&reply.reply_token, questions)?;
    // The token of a clarification is that of no confirmation.
    let QuestionNumber::Confirmation(confirmation) = number else {
        return Err(IgnoredBecause::TokenUnknown);
    };
    let asked = questions.confirmation(confirmation);
    check_3_token_is_unused(number, asked.phase.token())?;
    check_4_decided_in_time(reply.decided_at, &asked.question.asked)?;
    check_5_sender_is_authentic(sender, &reply.subscription_id, subscriptions)?;
    let verdict = check_6_decision_is_allowed(reply, &asked.question, settings)?;
    Ok(ValidReply {
        confirmation,
        verdict,
    })
}

/// AAEP-6.5.5-1: the same checks, and one of its own for the last.
fn checks_of_an_answer(
    reply: &ClarificationReply,
    sender: &Sender,
    questions: &Questions,
    subscriptions: &Subscriptions,
) -> Result<ValidAnswer, IgnoredBecause> {
    let number = check_2_token_was_issued(&reply.reply_token, questions)?;
    // The token of a confirmation is that of no clarification.
    let QuestionNumber::Clarification(clarification) = number else {
        return Err(IgnoredBecause::TokenUnknown);
    };
    let asked = questions.clarification(clarification);
    check_3_token_is_unused(number, asked.phase.token())?;
    check_4_decided_in_time(reply.decided_at, &asked.question.asked)?;
    check_5_sender_is_authentic(sender, &reply.subscription_id, subscriptions)?;
    check_response_is_accepted(&reply.response, &asked.question)?;
    Ok(ValidAnswer {
        clarification,
        response: reply.response.clone(),
    })
}

/// AAEP-6.3.4-1: well-formed JSON that conforms to the schema of its kind.
fn check_1_message_conforms(message: &[u8]) -> Result<Reply, IgnoredBecause> {
    Reply::parse(message).map_err(IgnoredBecause::Malformed)
}

/// AAEP-6.3.4-2: the token is one that this producer issued, to the letter (AAEP-REPLY-13), and none that its sender made up
/// (AAEP-6.2.3-2). Whether it is still good is the next check's business.
fn check_2_token_was_issued(
    reply_token: &ReplyToken,
    questions: &Questions,
) -> Result<QuestionNumber, IgnoredBecause> {
    questions
        .find(reply_token)
        .ok_or(IgnoredBecause::TokenUnknown)
}

/// AAEP-6.3.4-3, AAEP-6.9-2: no reply and no default has used the token up. AAEP-6.8-4: nor was its question cancelled.
fn check_3_token_is_unused(
    number: QuestionNumber,
    token: TokenState,
) -> Result<(), IgnoredBecause> {
    match token {
        TokenState::Good => Ok(()),
        TokenState::UsedUp(by) => Err(IgnoredBecause::TokenUsed(by)),
        TokenState::Invalid(by) => Err(IgnoredBecause::TokenCancelled {
            kind: number.kind(),
            by,
        }),
    }
}

/// AAEP-6.3.4-4: the user decided strictly before the deadline, by the time that the sender claims. There is no
/// lower bound.
fn check_4_decided_in_time(decided_at: DecidedAt, asked: &Asked) -> Result<(), IgnoredBecause> {
    if decided_at.precedes(asked.deadline()) {
        Ok(())
    } else {
        Err(IgnoredBecause::DecidedTooLate)
    }
}

/// AAEP-6.3.4-5: the transport vouches for the sender (AAEP-6.2.4-1), who speaks on its own open subscription
/// (AAEP-REPLY-14); the right token alone proves nothing (AAEP-6.9-1). Whether that subscription declared that it replies does not matter (AAEP-6.6-4).
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
    question: &Question,
    settings: &Settings,
) -> Result<Verdict, IgnoredBecause> {
    // AAEP-6.3.2-4: where modifications are not supported, a reply that carries one rejects, whatever else it says and
    // even where reject is not an allowed reply: it must not be left waiting for a default that might accept.
    if reply.modified_action.is_some() && !settings.modified_action {
        return Ok(Verdict::Reject);
    }
    if !question.allows(reply.decision) {
        return Err(IgnoredBecause::DecisionNotAllowed);
    }
    match (reply.decision, &reply.modified_action) {
        (Decision::Reject, _) => Ok(Verdict::Reject),
        (Decision::Accept, None) => Ok(Verdict::Accept(None)),
        // AAEP-6.3.2-3: it runs as modified, but not where that is more than the user was asked about; then it rejects like above.
        (Decision::Accept, Some(object)) => {
            let modified = ModifiedAction::of(object, &question.action);
            Ok(modified.map_or(Verdict::Reject, |it| Verdict::Accept(Some(it))))
        }
    }
}

/// AAEP-6.5.5-2: the response is of one of the accepted kinds, of any of them (AAEP-6.5.2-2), and of whatever kind where none
/// is named. AAEP-6.5.5-3: a text that can only be a choice is the value of one.
fn check_response_is_accepted(
    response: &UserResponse,
    question: &ClarificationQuestion,
) -> Result<(), IgnoredBecause> {
    let Some(kinds) = &question.accepted_response_kinds else {
        return Ok(());
    };
    let accepts = |kind| kinds.contains(&kind);
    match response {
        UserResponse::Text(_) if accepts(ResponseKind::Freetext) => Ok(()),
        UserResponse::Text(text) if accepts(ResponseKind::MultipleChoice) => {
            if question.offers(text) {
                Ok(())
            } else {
                Err(IgnoredBecause::ResponseNoChoice)
            }
        }
        UserResponse::Boolean(_) if accepts(ResponseKind::YesNo) => Ok(()),
        UserResponse::Number(_) if accepts(ResponseKind::Numeric) => Ok(()),
        UserResponse::Text(_) | UserResponse::Boolean(_) | UserResponse::Number(_) => {
            Err(IgnoredBecause::ResponseKindForeign)
        }
    }
}

impl ValidReply {
    /// The confirmation that it resolves.
    pub(super) fn confirmation(&self) -> ConfirmationNumber {
        self.confirmation
    }

    /// What it decides.
    pub(super) fn into_verdict(self) -> Verdict {
        self.verdict
    }
}

impl ValidAnswer {
    /// The clarification that it resolves.
    pub(super) fn clarification(&self) -> ClarificationNumber {
        self.clarification
    }

    /// What the user answers.
    pub(super) fn into_response(self) -> UserResponse {
        self.response
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

    /// AAEP-6.3.5-2, AAEP-6.7.1-2: a late reply may be told that its question was resolved before. Only to a
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
            Self::TokenCancelled { .. } => "AAEP-6.8-4",
            Self::DecidedTooLate => "AAEP-6.3.4-4",
            Self::SenderNotAuthenticated
            | Self::SenderNotSubscribed
            | Self::SubscriptionForeign => "AAEP-6.3.4-5",
            Self::DecisionNotAllowed => "AAEP-6.3.4-6",
            Self::ResponseKindForeign => "AAEP-6.5.5-2",
            Self::ResponseNoChoice => "AAEP-6.5.5-3",
        })
    }
}
