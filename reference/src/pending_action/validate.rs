//! The checks that a decision has to pass, in their order.
//!
//! The one thing to know: a [`ValidDecision`] is proof that every check was passed, for nothing else can make one. The
//! first check that fails gives the reason, and nothing but the operator's log ever tells it.

use serde::{Serialize, Serializer};

use super::action::{Action, Proposal, Status};
use super::actions::Actions;
use super::interface::{ClauseId, Decide};
use super::settings::DecidersAbsent;
use super::vocabulary::{ActionId, DeciderId, Decision, Nonce};

/// A decision that counts.
#[derive(Debug)]
pub(super) struct ValidDecision {
    action_id: ActionId,
    decision: Decision,
    by: DeciderId,
}

/// Why a decision does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum IgnoredBecause {
    /// It names no action of this ledger.
    #[error("the action is unknown")]
    UnknownAction,
    /// It answers another question.
    #[error("the nonce is another")]
    OtherNonce,
    /// It comes from somebody who has no say in this.
    #[error("the decider is not entitled")]
    NotEntitled,
    /// It comes too late.
    #[error("the action has expired")]
    Expired,
    /// Another decision has counted before.
    #[error("the action was decided already")]
    AlreadyDecided,
    /// The question was taken back.
    #[error("the action was cancelled")]
    Cancelled,
    /// It allows another call than the one that was proposed.
    #[error("the approved arguments are not the proposed ones")]
    OtherArguments,
}

/// Makes all checks in order. What has expired by now must have been settled before.
pub(super) fn validate(
    decide: &Decide,
    actions: &Actions,
    deciders_absent: DecidersAbsent,
) -> Result<ValidDecision, IgnoredBecause> {
    let action = is_known(decide, actions)?;
    answers_this_question(decide, action)?;
    let by = is_entitled(decide, &action.proposal, deciders_absent)?;
    is_pending(action)?;
    approves_these_arguments(decide, &action.proposal)?;
    Ok(ValidDecision {
        action_id: action.action_id,
        decision: decide.decision,
        by,
    })
}

/// PA-1: by its id, never by its place in a list or a transcript.
fn is_known<'a>(decide: &Decide, actions: &'a Actions) -> Result<&'a Action, IgnoredBecause> {
    ActionId::parse(&decide.action_id)
        .ok()
        .and_then(|action_id| actions.find(action_id))
        .ok_or(IgnoredBecause::UnknownAction)
}

/// PA-1: the nonce is the action's, where the decision gives one.
fn answers_this_question(decide: &Decide, action: &Action) -> Result<(), IgnoredBecause> {
    match &decide.nonce {
        None => Ok(()),
        Some(nonce) if Nonce::parse(nonce) == Ok(action.nonce) => Ok(()),
        Some(_) => Err(IgnoredBecause::OtherNonce),
    }
}

/// PA-2: one of those who may decide. Who has no name, or one of blanks, has not been identified. Where nobody is named, the
/// agent that proposed does not decide on its own call.
fn is_entitled(
    decide: &Decide,
    proposal: &Proposal,
    deciders_absent: DecidersAbsent,
) -> Result<DeciderId, IgnoredBecause> {
    let by = DeciderId::parse(&decide.by).map_err(|_| IgnoredBecause::NotEntitled)?;
    let is_entitled = match (&proposal.deciders, deciders_absent) {
        (Some(deciders), DecidersAbsent::Anyone | DecidersAbsent::Nobody) => deciders.contain(&by),
        (None, DecidersAbsent::Anyone) => by.as_str() != proposal.agent_id.as_str(),
        (None, DecidersAbsent::Nobody) => false,
    };
    if is_entitled {
        Ok(by)
    } else {
        Err(IgnoredBecause::NotEntitled)
    }
}

/// PA-7: it has not expired. PA-8: nothing has settled it otherwise, so that the first decision is the only one.
fn is_pending(action: &Action) -> Result<(), IgnoredBecause> {
    match action.status {
        Status::Pending => Ok(()),
        Status::Expired { .. } => Err(IgnoredBecause::Expired),
        Status::Accepted { .. } | Status::Rejected { .. } => Err(IgnoredBecause::AlreadyDecided),
        Status::Cancelled { .. } => Err(IgnoredBecause::Cancelled),
    }
}

/// PA-3: who allows something says, if anything, what was proposed. Whoever denies has denied it whatever they saw: that
/// is the safe side.
fn approves_these_arguments(decide: &Decide, proposal: &Proposal) -> Result<(), IgnoredBecause> {
    match (decide.decision, &decide.arguments) {
        (Decision::Allow, Some(approved)) if !proposal.arguments.means(approved) => {
            Err(IgnoredBecause::OtherArguments)
        }
        (Decision::Allow | Decision::Deny, Some(_) | None) => Ok(()),
    }
}

impl ValidDecision {
    /// The action, what was decided, and by whom. Whoever takes them gives the proof away.
    pub(super) fn into_parts(self) -> (ActionId, Decision, DeciderId) {
        (self.action_id, self.decision, self.by)
    }
}

impl IgnoredBecause {
    /// The clause that has the decision ignored.
    pub fn clause(self) -> ClauseId {
        ClauseId(match self {
            Self::UnknownAction | Self::OtherNonce => "PA-1",
            Self::NotEntitled => "PA-2",
            Self::OtherArguments => "PA-3",
            Self::Expired => "PA-7",
            Self::AlreadyDecided | Self::Cancelled => "PA-8",
        })
    }
}

/// In words.
impl Serialize for IgnoredBecause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
