//! One clarification: what was asked, and what has become of it.
//!
//! The one thing to know: everything that can happen to a clarification is one of the two transitions of
//! [`ClarificationPhase`]. A transition either gives the next phase or says that it is illegal; then nothing has changed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::confirmation::{Authority, Canceller, IllegalTransition};
use super::event::{CountersignExtension, Payload, ResolutionOutcome};
use super::interface::Answered;
use super::question::{Asked, TokenState};
use super::vocabulary::{Choice, ResponseKind};
use crate::text::Text;

/// Which clarification of this producer: 0 for the first ever asked, then one more each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClarificationNumber(pub(super) usize);

/// A clarification that this producer has asked for, pending or not. Like a confirmation it is remembered for ever.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Clarification {
    /// What was asked. Copies of the producer share it.
    pub question: Arc<ClarificationQuestion>,
    /// What has become of it.
    pub phase: ClarificationPhase,
}

/// What was asked: the content of the `awaiting.clarification` event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClarificationQuestion {
    /// What every question has.
    pub asked: Asked,
    /// The question, for the user to read.
    pub text: Arc<str>,
    /// The kinds of answer that are taken, in the order given by the host; any where absent.
    pub accepted_response_kinds: Option<Vec<ResponseKind>>,
    /// What there is to choose from, in the order given by the host.
    pub choices: Option<Vec<Choice>>,
    /// What is taken for the answer when no valid reply comes.
    pub default_response: Option<Arc<str>>,
}

impl ClarificationQuestion {
    /// What is taken for the answer when no valid reply comes. AAEP-A.5-2: the default where one is set.
    pub(super) fn default_answer(&self) -> Answered {
        match &self.default_response {
            Some(response) => Answered::Default {
                response: Arc::clone(response),
            },
            None => Answered::Nobody,
        }
    }

    /// Whether that is the value of one of the choices.
    pub fn offers(&self, value: &Text) -> bool {
        let mut choices = self.choices.iter().flatten();
        choices.any(|choice| *value == *choice.value)
    }

    /// The event that asks.
    pub(super) fn awaiting_clarification(&self) -> Payload {
        Payload::AwaitingClarification {
            question: Arc::clone(&self.text),
            reply_token: self.asked.reply_token.clone(),
            timeout: self.asked.timeout,
            accepted_response_kinds: self.accepted_response_kinds.clone(),
            choices: self.choices.clone(),
            default_response: self.default_response.clone(),
        }
    }

    /// What the event that resolves this clarification says about it.
    pub fn resolution(&self, outcome: ResolutionOutcome) -> CountersignExtension {
        CountersignExtension {
            reply_token: self.asked.reply_token.clone(),
            action: None,
            outcome: Some(outcome),
        }
    }
}

/// What has become of a clarification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClarificationPhase {
    /// What depends on the answer is blocked, the token is good.
    Pending,
    /// The host was told the answer, or that there is none. The token is used up.
    Resolved {
        /// By whom.
        by: Authority,
    },
    /// No answer is needed any more, the token is invalid.
    Cancelled {
        /// By what.
        by: Canceller,
    },
}

impl ClarificationPhase {
    /// There is an answer, or nobody has given one in time.
    pub(super) fn resolve(self, by: Authority) -> Result<Self, IllegalTransition> {
        match self {
            Self::Pending => Ok(Self::Resolved { by }),
            // AAEP-6.5.5-1, AAEP-6.3.5-1: what is resolved stays as it is.
            Self::Resolved { .. } | Self::Cancelled { .. } => Err(IllegalTransition),
        }
    }

    /// The question is taken back.
    pub(super) fn cancel(self, by: Canceller) -> Result<Self, IllegalTransition> {
        match self {
            Self::Pending => Ok(Self::Cancelled { by }),
            Self::Resolved { .. } | Self::Cancelled { .. } => Err(IllegalTransition),
        }
    }

    pub(super) fn token(self) -> TokenState {
        match self {
            Self::Pending => TokenState::Good,
            Self::Resolved { by } => TokenState::UsedUp(by),
            Self::Cancelled { by } => TokenState::Invalid(by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AAEP-6.1-7, AAEP-6.3.5-1, AAEP-6.8-1: the whole table, every phase and everything that can be tried in it.
    #[test]
    fn every_phase_allows_only_its_own_transitions() {
        let by = Authority::Reply;
        let resolved = ClarificationPhase::Resolved { by };
        let cancelled = ClarificationPhase::Cancelled {
            by: Canceller::Producer,
        };
        for (phase, expected) in [
            (
                ClarificationPhase::Pending,
                [Some(resolved), Some(cancelled)],
            ),
            (resolved, [None; 2]),
            (cancelled, [None; 2]),
        ] {
            let actual = [phase.resolve(by), phase.cancel(Canceller::Producer)];
            assert_eq!(actual.map(Result::ok), expected, "{phase:?}");
        }
    }
}
