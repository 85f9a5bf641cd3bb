//! One clarification: what was asked, and what has become of it.
//!
//! The one thing to know: everything that can happen to a clarification is one of the two transitions of
//! [`ClarificationPhase`]. A transition either gives the next phase or says that it is illegal; then nothing has changed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::confirmation::{Authority, Canceller};
use super::question::Asked;
use super::vocabulary::{Choice, ResponseKind};

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
