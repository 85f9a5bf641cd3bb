//! One pending action: what was proposed, which never changes, and its status, which does.
//!
//! The one thing to know: everything that can become of an action is one of the four transitions of [`Status`]. A
//! transition either gives the next status or says that it is illegal; then nothing has changed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arguments::Arguments;
use super::vocabulary::{
    ActionId, AgentId, CancelReason, DeciderId, Deciders, Decision, Effect, Label, Nonce, RunId,
    SessionId, Summary, ToolName, ToolStatus,
};
use crate::time::Timestamp;

/// A proposed call and what has become of it. It is remembered for ever, so that no decision counts twice (PA-8).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Its name.
    pub action_id: ActionId,
    /// Its second name.
    pub nonce: Nonce,
    /// What was proposed. Shared by everything that tells of it.
    pub proposal: Arc<Proposal>,
    /// What has become of it.
    pub status: Status,
}

/// What was proposed (PA-1): everything that is needed to run it, with nothing left to be made up again (PA-12).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// Who proposes.
    pub agent_id: AgentId,
    /// In which session.
    pub session_id: SessionId,
    /// In which run.
    pub run_id: RunId,
    /// The tool to call.
    pub tool: ToolName,
    /// With exactly these arguments.
    pub arguments: Arguments,
    /// What that does.
    pub effect: Effect,
    /// What the user is asked.
    pub summary: Summary,
    /// The words on the button.
    pub label: Label,
    /// When the question is no longer open. `null`, where that is never: the record says so (PA-1).
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Who may decide, where the proposal says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deciders: Option<Deciders>,
    /// Whether calling the tool twice does what calling it once does.
    #[serde(default)]
    pub idempotent: bool,
}

/// What has become of an action. All but the first are final, and keep who and when.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Status {
    /// Waiting for a decision.
    Pending,
    /// Released.
    Accepted {
        /// Who allowed it. Nobody, where a call that only reads was released unasked.
        by: Option<DeciderId>,
        /// When.
        at: Timestamp,
        /// How far the tool is.
        run: Run,
    },
    /// It does not run.
    Rejected {
        /// Who denied it.
        by: DeciderId,
        /// When.
        at: Timestamp,
    },
    /// It does not run: nobody decided in time. The ledger itself has seen to that.
    Expired {
        /// When that was noticed, at its expiry or after.
        at: Timestamp,
    },
    /// It does not run: it was taken back.
    Cancelled {
        /// Why.
        reason: CancelReason,
        /// When.
        at: Timestamp,
    },
}

/// How far the tool of an accepted action is, as far as anyone has said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Run {
    /// Released, and not come back.
    Unfinished,
    /// It came back.
    Finished {
        /// How it came out.
        status: ToolStatus,
        /// When.
        at: Timestamp,
    },
}

/// There is no such way from that status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal transition")]
pub(super) struct IllegalTransition;

impl Status {
    /// What a proposal begins with: it waits, or is released unasked (PA-13).
    pub(super) fn first(pends: bool, at: Timestamp) -> Self {
        if pends {
            Self::Pending
        } else {
            Self::accepted(None, at)
        }
    }

    fn accepted(by: Option<DeciderId>, at: Timestamp) -> Self {
        Self::Accepted {
            by,
            at,
            run: Run::Unfinished,
        }
    }

    /// PA-2: a decision settles what is pending. PA-8: and nothing else.
    pub(super) fn decide(
        &self,
        decision: Decision,
        by: DeciderId,
        at: Timestamp,
    ) -> Result<Self, IllegalTransition> {
        self.require_pending()?;
        Ok(match decision {
            Decision::Allow => Self::accepted(Some(by), at),
            Decision::Deny => Self::Rejected { by, at },
        })
    }

    /// PA-7: nobody decided in time.
    pub(super) fn expire(&self, at: Timestamp) -> Result<Self, IllegalTransition> {
        self.require_pending()?;
        Ok(Self::Expired { at })
    }

    /// PA-5: taken back.
    pub(super) fn cancel(
        &self,
        reason: CancelReason,
        at: Timestamp,
    ) -> Result<Self, IllegalTransition> {
        self.require_pending()?;
        Ok(Self::Cancelled { reason, at })
    }

    /// PA-10: what was released has come back.
    pub(super) fn finish(
        &self,
        status: ToolStatus,
        finished_at: Timestamp,
    ) -> Result<Self, IllegalTransition> {
        match self {
            Self::Accepted {
                by,
                at,
                run: Run::Unfinished,
            } => Ok(Self::Accepted {
                by: by.clone(),
                at: *at,
                run: Run::Finished {
                    status,
                    at: finished_at,
                },
            }),
            Self::Accepted {
                run: Run::Finished { .. },
                ..
            }
            | Self::Pending
            | Self::Rejected { .. }
            | Self::Expired { .. }
            | Self::Cancelled { .. } => Err(IllegalTransition),
        }
    }

    fn require_pending(&self) -> Result<(), IllegalTransition> {
        match self {
            Self::Pending => Ok(()),
            Self::Accepted { .. }
            | Self::Rejected { .. }
            | Self::Expired { .. }
            | Self::Cancelled { .. } => Err(IllegalTransition),
        }
    }
}
