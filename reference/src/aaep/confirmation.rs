//! One confirmation: what was asked, and what has become of it.
//!
//! The one thing to know: everything that can happen to a confirmation is one of the four transitions of [`Phase`].
//! A transition either gives the next phase or says that it is illegal; then nothing has changed.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::event::{CountersignExtension, ExtraContext, Payload, ResolutionOutcome};
use super::interface::ToolCall;
use super::modified::ModifiedAction;
use super::question::{Asked, TokenState};
use super::vocabulary::{Action, Decision, ToolCallId};

/// Which confirmation of this producer: 0 for the first ever asked, then one more each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ConfirmationNumber(pub(super) usize);

/// A confirmation that this producer has asked for, pending or not. It is remembered for ever, so that its token is
/// never taken for a fresh one (AAEP-6.2.2-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Confirmation {
    /// What was asked. Never changes, so copies of the producer share it.
    pub question: Arc<Question>,
    /// What has become of it.
    pub phase: Phase,
    /// What the reply that accepted it has made of the action, if it modified it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_action: Option<ModifiedAction>,
}

impl Confirmation {
    /// The call of the tool that acceptance releases.
    pub fn tool_call(&self) -> ToolCall {
        let Question {
            asked,
            action,
            tool_call_id,
            ..
        } = &*self.question;
        let modified_action = self.modified_action.as_ref();
        ToolCall {
            session_id: asked.session_id.clone(),
            action: action.id.clone(),
            tool: Arc::clone(&action.tool),
            tool_call_id: tool_call_id.clone(),
            reply_token: Some(asked.reply_token.clone()),
            modified_action: modified_action.map(|modified| modified.object().clone()),
        }
    }

    /// The event that says that the action is about to run. It is rated as what runs.
    pub(super) fn tool_invoked(&self) -> Payload {
        let action = &self.question.action;
        let modified = self.modified_action.as_ref();
        Payload::ToolInvoked {
            tool: Arc::clone(&action.tool),
            summary_normal: Arc::clone(&action.description),
            tool_call_id: self.question.tool_call_id.clone(),
            args_summary: None,
            risk_level: modified.map_or(action.risk_level, ModifiedAction::risk_level),
            irreversible: modified.map_or(action.irreversible, ModifiedAction::is_irreversible),
        }
    }
}

/// What was asked: the content of the `awaiting.confirmation` event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Question {
    /// What every question has.
    pub asked: Asked,
    /// The action that is blocked.
    pub action: Action,
    /// The id that the call of the tool has if it is released.
    pub tool_call_id: ToolCallId,
    /// What it does when no valid reply comes.
    pub default_decision: Decision,
    /// The decisions that a reply may carry, in the order given by the host.
    pub allowed_replies: Vec<String>,
}

impl Question {
    /// Whether a reply may carry that decision.
    pub fn allows(&self, decision: Decision) -> bool {
        self.allowed_replies
            .iter()
            .any(|allowed| allowed == decision.as_str())
    }

    /// The event that asks.
    pub(super) fn awaiting_confirmation(&self) -> Payload {
        Payload::AwaitingConfirmation {
            action: Arc::clone(&self.action.description),
            consequence: Arc::clone(&self.action.consequence),
            reply_token: self.asked.reply_token.clone(),
            timeout: self.asked.timeout,
            default_decision: self.default_decision,
            risk_level: self.action.risk_level,
            irreversible: self.action.irreversible,
            allowed_replies: self.allowed_replies.clone(),
            extra_context: ExtraContext {
                tool_call_id: self.tool_call_id.clone(),
            },
        }
    }

    /// What the events that resolve this confirmation say about it.
    pub fn resolution(&self, outcome: ResolutionOutcome) -> CountersignExtension {
        CountersignExtension {
            reply_token: self.asked.reply_token.clone(),
            action: Some(self.action.id.clone()),
            outcome: Some(outcome),
        }
    }
}

/// What has become of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The action is blocked, the token is good.
    Pending,
    /// The action is released, the token is used up.
    Accepted {
        /// By whom.
        by: Authority,
        /// How far the tool is.
        tool: Tool,
    },
    /// The action will not run, the token is used up.
    Rejected {
        /// By whom.
        by: Authority,
    },
    /// The action will not run, the token is invalid (AAEP-6.8-4).
    Cancelled {
        /// By what.
        by: Canceller,
    },
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// The user, with a valid reply.
    Reply,
    /// The default, because time was up (AAEP-6.4-1).
    Timeout,
    /// The default, because the last subscription that could have answered closed (AAEP-EV-11).
    SubscriptionClosed,
}

/// What took a confirmation back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Canceller {
    /// The host withdrew this one question (AAEP-6.8-1).
    Producer,
    /// The session ended (AAEP-6.8-2).
    SessionEnd,
}

/// How far the tool of an accepted confirmation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// The host was told to run it and has not reported back.
    InFlight,
    /// The host reported that it came back.
    Finished,
    /// The session ended first.
    Withdrawn,
}

/// The phase does not allow what was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IllegalTransition;

impl Phase {
    /// The user or the default decides.
    pub(super) fn resolve(
        self,
        decision: Decision,
        by: Authority,
    ) -> Result<Self, IllegalTransition> {
        match (self, decision) {
            (Self::Pending, Decision::Accept) => Ok(Self::Accepted {
                by,
                tool: Tool::InFlight,
            }),
            (Self::Pending, Decision::Reject) => Ok(Self::Rejected { by }),
            // AAEP-6.3.5-1, AAEP-6.7.1-1: what is resolved stays as it is.
            (
                Self::Accepted { .. } | Self::Rejected { .. } | Self::Cancelled { .. },
                Decision::Accept | Decision::Reject,
            ) => Err(IllegalTransition),
        }
    }

    /// The question is taken back.
    pub(super) fn cancel(self, by: Canceller) -> Result<Self, IllegalTransition> {
        match self {
            Self::Pending => Ok(Self::Cancelled { by }),
            Self::Accepted { .. } | Self::Rejected { .. } | Self::Cancelled { .. } => {
                Err(IllegalTransition)
            }
        }
    }

    pub(super) fn token(self) -> TokenState {
        match self {
            Self::Pending => TokenState::Good,
            Self::Accepted { by, .. } | Self::Rejected { by } => TokenState::UsedUp(by),
            Self::Cancelled { by } => TokenState::Invalid(by),
        }
    }

    /// Whether the action was released and its tool has not come back.
    pub(super) fn is_in_flight(self) -> bool {
        match self {
            Self::Accepted { tool, .. } => tool == Tool::InFlight,
            Self::Pending | Self::Rejected { .. } | Self::Cancelled { .. } => false,
        }
    }

    /// The tool has come back.
    pub(super) fn finish(self) -> Result<Self, IllegalTransition> {
        self.settle_tool(Tool::Finished)
    }

    /// The session ends before the tool has come back.
    pub(super) fn withdraw(self) -> Result<Self, IllegalTransition> {
        self.settle_tool(Tool::Withdrawn)
    }

    fn settle_tool(self, settled: Tool) -> Result<Self, IllegalTransition> {
        match self {
            Self::Accepted {
                by,
                tool: Tool::InFlight,
            } => Ok(Self::Accepted { by, tool: settled }),
            Self::Accepted {
                tool: Tool::Finished | Tool::Withdrawn,
                ..
            }
            | Self::Pending
            | Self::Rejected { .. }
            | Self::Cancelled { .. } => Err(IllegalTransition),
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Reply => "a reply",
            Self::Timeout => "the default at its timeout",
            Self::SubscriptionClosed => {
                "the default when the last subscription able to answer closed"
            }
        })
    }
}

impl fmt::Display for Canceller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Producer => "the producer",
            Self::SessionEnd => "the end of its session",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: Authority = Authority::Reply;
    const IN_FLIGHT: Phase = Phase::Accepted {
        by: BY,
        tool: Tool::InFlight,
    };
    const FINISHED: Phase = Phase::Accepted {
        by: BY,
        tool: Tool::Finished,
    };
    const WITHDRAWN: Phase = Phase::Accepted {
        by: BY,
        tool: Tool::Withdrawn,
    };
    const REJECTED: Phase = Phase::Rejected { by: BY };
    const CANCELLED: Phase = Phase::Cancelled {
        by: Canceller::Producer,
    };

    /// AAEP-6.3.5-1, AAEP-6.1-1, AAEP-6.8-1, AAEP-A.3-1, AAEP-A.3-2: the whole table, every phase and everything that
    /// can be tried in it. What is not allowed gives no next phase.
    #[test]
    fn every_phase_allows_only_its_own_transitions() {
        // Accepted, rejected, cancelled, finished, withdrawn.
        let table = [
            (
                Phase::Pending,
                [Some(IN_FLIGHT), Some(REJECTED), Some(CANCELLED), None, None],
            ),
            (
                IN_FLIGHT,
                [None, None, None, Some(FINISHED), Some(WITHDRAWN)],
            ),
            (FINISHED, [None; 5]),
            (WITHDRAWN, [None; 5]),
            (REJECTED, [None; 5]),
            (CANCELLED, [None; 5]),
        ];
        for (phase, expected) in table {
            let actual = [
                phase.resolve(Decision::Accept, BY),
                phase.resolve(Decision::Reject, BY),
                phase.cancel(Canceller::Producer),
                phase.finish(),
                phase.withdraw(),
            ];
            assert_eq!(actual.map(Result::ok), expected, "{phase:?}");
        }
    }
}
