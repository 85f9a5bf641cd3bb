//! What the journal amounts to: all that the ledger knows.
//!
//! The one thing to know: [`Known::enter`] is the only way to change it, for a record that was made just now as for one
//! that was read back. So a ledger that was rebuilt from its journal is the ledger that wrote it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::action::{Action, Proposal, Status};
use super::actions::{ActionNumber, Actions};
use super::record::{Entry, Record};
use super::stored::Stored;
use super::vocabulary::{ActionId, CancelReason, DeciderId, Nonce, SessionId};
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub(super) struct Known {
    /// The greatest time that any call or record came with. Time never goes back, so nothing ever un-expires.
    pub(super) now: Timestamp,
    /// How many records there are.
    pub(super) recorded: u64,
    /// The last of them: those whose outputs may not all have been carried out.
    pub(super) tail: VecDeque<Record>,
    pub(super) actions: Actions,
    pub(super) ended_sessions: BTreeSet<SessionId>,
}

/// A record cannot follow on those before it, so no ledger can have written the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// It is not the next one.
    #[error("a record is missing before it")]
    Gap,
    /// It was made before the one above it.
    #[error("it is older than the record before it")]
    Older,
    /// The id names another action already.
    #[error("its action was proposed before")]
    ProposedTwice,
    /// There is no such action.
    #[error("its action was never proposed")]
    NeverProposed,
    /// The action's status does not allow it.
    #[error("its action is settled otherwise")]
    SettledOtherwise,
    /// The proposal names others.
    #[error("its decider is not entitled")]
    NotEntitled,
    /// The action has expired by then.
    #[error("its action has expired")]
    Expired,
    /// The action has not expired by then, or never does.
    #[error("its action has not expired")]
    NotExpired,
    /// Nothing comes from a session after its end.
    #[error("its session has ended")]
    SessionEnded,
    /// Not what was pending in the session.
    #[error("it cancels other actions than those that were pending")]
    OthersCancelled,
}

impl Known {
    /// The number of the last record whose outputs were all carried out.
    pub(super) fn carried(&self) -> u64 {
        // As many records as lie in memory can be counted.
        self.recorded - self.tail.len() as u64
    }

    /// All outputs of the records up to that one were carried out. What was said before is not taken back.
    pub(super) fn carry(&mut self, through: u64) {
        while self
            .tail
            .front()
            .is_some_and(|record| record.number <= through)
        {
            self.tail.pop_front();
        }
    }

    /// Whether both come from the same records, however far these are carried out and whatever the time is.
    pub(super) fn tells_the_same_as(&self, other: &Self) -> bool {
        (self.recorded, &self.actions, &self.ended_sessions)
            == (other.recorded, &other.actions, &other.ended_sessions)
    }

    /// Makes true what the next record says. A record that contradicts what is known changes nothing.
    pub(super) fn enter(&mut self, record: Record) -> Result<(), Contradiction> {
        if Some(record.number) != self.recorded.checked_add(1) {
            return Err(Contradiction::Gap);
        }
        self.apply(record.at, &record.entry)?;
        self.now = self.now.max(record.at);
        self.recorded = record.number;
        self.tail.push_back(record);
        Ok(())
    }

    fn apply(&mut self, at: Timestamp, entry: &Entry) -> Result<(), Contradiction> {
        match entry {
            Entry::Proposed {
                action_id,
                nonce,
                proposal,
                pends,
            } => {
                let status = Status::first(*pends, at);
                self.propose(*action_id, *nonce, proposal, status, at)
            }
            Entry::Decided {
                action_id,
                decision,
                by,
            } => {
                let number = self.number(*action_id)?;
                self.require_entitled(number, by)?;
                self.require_open(number, at)?;
                self.transition(number, |status| status.decide(*decision, by.clone(), at))
            }
            Entry::Expired { action_id } => {
                let number = self.number(*action_id)?;
                self.require_expired(number, at)?;
                self.transition(number, |status| status.expire(at))
            }
            Entry::Cancelled { action_id } => {
                let number = self.number(*action_id)?;
                self.require_open(number, at)?;
                self.transition(number, |status| status.cancel(CancelReason::Requested, at))
            }
            Entry::Finished {
                action_id, status, ..
            } => {
                let number = self.number(*action_id)?;
                self.transition(number, |before| before.finish(*status, at))
            }
            Entry::SessionEnded {
                session_id,
                cancelled,
            } => self.end_session(session_id, cancelled, at),
            // PA-11: what is said changes nothing.
            Entry::Said { .. } => Ok(()),
        }
    }

    fn propose(
        &mut self,
        action_id: ActionId,
        nonce: Nonce,
        proposal: &Arc<Proposal>,
        status: Status,
        at: Timestamp,
    ) -> Result<(), Contradiction> {
        // PA-5
        if self.ended_sessions.contains(&proposal.session_id) {
            return Err(Contradiction::SessionEnded);
        }
        // PA-7
        if proposal.expires_at.is_some_and(|time| time <= at) {
            return Err(Contradiction::Expired);
        }
        let action = Action {
            action_id,
            nonce,
            proposal: Arc::clone(proposal),
            status,
        };
        // PA-1
        let added = self.actions.add(action);
        added.map_err(|_| Contradiction::ProposedTwice)
    }

    /// PA-2: whoever wrote it down, nobody else than those who were named.
    fn require_entitled(&self, number: ActionNumber, by: &DeciderId) -> Result<(), Contradiction> {
        let deciders = &self.actions.get(number).proposal.deciders;
        match deciders {
            Some(deciders) if !deciders.contain(by) => Err(Contradiction::NotEntitled),
            Some(_) | None => Ok(()),
        }
    }

    /// PA-7: what is past its expiry in either reading has expired, and nothing else becomes of it.
    fn require_open(&self, number: ActionNumber, at: Timestamp) -> Result<(), Contradiction> {
        match self.actions.get(number).proposal.expires_at {
            Some(expires_at) if expires_at < at => Err(Contradiction::Expired),
            Some(_) | None => Ok(()),
        }
    }

    /// PA-7: whichever reading was in force.
    fn require_expired(&self, number: ActionNumber, at: Timestamp) -> Result<(), Contradiction> {
        match self.actions.get(number).proposal.expires_at {
            Some(expires_at) if expires_at <= at => Ok(()),
            Some(_) | None => Err(Contradiction::NotExpired),
        }
    }

    /// PA-5: nothing pends in a session that has ended.
    fn end_session(
        &mut self,
        session_id: &SessionId,
        cancelled: &[ActionId],
        at: Timestamp,
    ) -> Result<(), Contradiction> {
        if self.ended_sessions.contains(session_id) {
            return Err(Contradiction::SessionEnded);
        }
        if self.pending_in(session_id) != cancelled {
            return Err(Contradiction::OthersCancelled);
        }
        let numbers: Result<Vec<_>, _> = cancelled.iter().map(|id| self.number(*id)).collect();
        let numbers = numbers?;
        for number in &numbers {
            self.require_open(*number, at)?;
        }
        for number in numbers {
            self.transition(number, |status| {
                status.cancel(CancelReason::SessionEnded, at)
            })?;
        }
        self.ended_sessions.insert(session_id.clone());
        Ok(())
    }

    /// The pending actions of a session, in the order of creation.
    pub(super) fn pending_in(&self, session_id: &SessionId) -> Vec<ActionId> {
        let pending = self.actions.pending_in(session_id);
        pending.map(|action| action.action_id).collect()
    }

    fn number(&self, action_id: ActionId) -> Result<ActionNumber, Contradiction> {
        let number = self.actions.number(action_id);
        number.ok_or(Contradiction::NeverProposed)
    }

    /// PA-8: what is settled stays settled.
    fn transition(
        &mut self,
        number: ActionNumber,
        next: impl FnOnce(&Status) -> Result<Status, super::action::IllegalTransition>,
    ) -> Result<(), Contradiction> {
        let done = self.actions.transition(number, next);
        done.map_err(|_| Contradiction::SettledOtherwise)
    }
}

/// What is known before the first record.
impl Default for Known {
    fn default() -> Self {
        Self {
            now: Timestamp::MIN,
            recorded: 0,
            tail: VecDeque::new(),
            actions: Actions::default(),
            ended_sessions: BTreeSet::new(),
        }
    }
}
