//! What every question to the user has, whatever it asks: a confirmation and a clarification are both questions.
//!
//! The one thing to know: the token and the session never change. The time of asking does where nobody has seen the question, and
//! the timeout where it is extended.

use serde::{Deserialize, Serialize};

use super::clarification::ClarificationNumber;
use super::confirmation::{Authority, Canceller, ConfirmationNumber};
use super::vocabulary::{ReplyToken, SessionId};
use crate::time::{Deadline, Timeout, Timestamp};

/// What was asked, but for its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Asked {
    /// The token that a reply must echo.
    pub reply_token: ReplyToken,
    /// The session that the question belongs to.
    pub session_id: SessionId,
    /// The timestamp of the event.
    pub at: Timestamp,
    /// How long the producer waits from then on.
    pub timeout: Timeout,
}

/// Which question of this producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum QuestionNumber {
    Confirmation(ConfirmationNumber),
    Clarification(ClarificationNumber),
}

/// What a token is still good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenState {
    /// Its question is pending.
    Good,
    /// Its question was resolved.
    UsedUp(Authority),
    /// Its question was taken back.
    Invalid(Canceller),
}

impl Asked {
    /// The first point in time at which the default applies (AAEP-6.4-1), and the first at which a reply claims to
    /// have been decided too late (AAEP-6.3.4-4).
    pub fn deadline(&self) -> Deadline {
        self.at.plus(self.timeout)
    }
}

impl QuestionNumber {
    /// Behind every question that there can be.
    pub(super) const LAST: Self = Self::Clarification(ClarificationNumber(usize::MAX));

    /// What kind of question it is, in words.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Confirmation(_) => "confirmation",
            Self::Clarification(_) => "clarification",
        }
    }
}

impl From<ConfirmationNumber> for QuestionNumber {
    fn from(number: ConfirmationNumber) -> Self {
        Self::Confirmation(number)
    }
}

impl From<ClarificationNumber> for QuestionNumber {
    fn from(number: ClarificationNumber) -> Self {
        Self::Clarification(number)
    }
}
