//! All actions there ever were, and the ways to find them.
//!
//! The one thing to know: the list of actions is the truth; the indexes beside it follow from the statuses and are
//! brought up to date in one place, [`Actions::transition`]. Only the list is serialised.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::action::{Action, IllegalTransition, Run, Status};
use super::vocabulary::{ActionId, SessionId};
use crate::time::Timestamp;

/// Which action of this ledger: 0 for the first ever proposed, then one more each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ActionNumber(usize);

/// Actions by their session. No session has an empty set.
type BySession = BTreeMap<SessionId, BTreeSet<ActionNumber>>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<Action>", into = "Vec<Action>")]
pub(super) struct Actions {
    /// In the order of creation; an [`ActionNumber`] is an index into it.
    all: Vec<Action>,
    by_id: BTreeMap<ActionId, ActionNumber>,
    /// The pending ones that expire at all, in the order in which they do.
    deadlines: BTreeSet<(Timestamp, ActionNumber)>,
    pending: BySession,
    /// Those that were released and have not come back.
    unfinished: BySession,
}

/// Two actions have the same id, so no ledger can have written the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two actions have the same id")]
pub(super) struct IdTaken;

impl Actions {
    /// Everything ever proposed, in order.
    pub(super) fn all(&self) -> &[Action] {
        &self.all
    }

    /// Enters an action. PA-1: its id names no other.
    pub(super) fn add(&mut self, action: Action) -> Result<(), IdTaken> {
        let number = ActionNumber(self.all.len());
        if self.by_id.contains_key(&action.action_id) {
            return Err(IdTaken);
        }
        self.by_id.insert(action.action_id, number);
        self.all.push(action);
        self.index(number);
        Ok(())
    }

    pub(super) fn get(&self, number: ActionNumber) -> &Action {
        &self.all[number.0]
    }

    pub(super) fn number(&self, action_id: ActionId) -> Option<ActionNumber> {
        self.by_id.get(&action_id).copied()
    }

    pub(super) fn find(&self, action_id: ActionId) -> Option<&Action> {
        self.number(action_id).map(|number| self.get(number))
    }

    /// When the next pending action expires.
    pub(super) fn first_expiry(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|&(expires_at, _)| expires_at)
    }

    /// The pending actions whose expiry is past, in its order; of those that expire at once, the first created first.
    pub(super) fn expired(&self, is_past: impl Fn(Timestamp) -> bool) -> Vec<ActionId> {
        let past = self
            .deadlines
            .iter()
            .take_while(|&&(time, _)| is_past(time));
        past.map(|&(_, number)| self.get(number).action_id)
            .collect()
    }

    /// The pending actions of a session, in the order of creation.
    pub(super) fn pending_in(&self, session_id: &SessionId) -> impl Iterator<Item = &Action> {
        self.in_order(self.pending.get(session_id))
    }

    /// The actions of a session that were released and have not come back, in the order of creation.
    pub(super) fn unfinished_in(&self, session_id: &SessionId) -> impl Iterator<Item = &Action> {
        self.in_order(self.unfinished.get(session_id))
    }

    /// All actions that were released and have not come back, in the order of creation.
    pub(super) fn unfinished(&self) -> Vec<&Action> {
        let numbers: BTreeSet<_> = self.unfinished.values().flatten().collect();
        numbers
            .into_iter()
            .map(|&number| self.get(number))
            .collect()
    }

    fn in_order<'a>(
        &'a self,
        numbers: Option<&'a BTreeSet<ActionNumber>>,
    ) -> impl Iterator<Item = &'a Action> {
        let numbers = numbers.into_iter().flatten();
        numbers.map(|&number| self.get(number))
    }

    /// Takes one action to its next status. An illegal transition changes nothing.
    pub(super) fn transition(
        &mut self,
        number: ActionNumber,
        next: impl FnOnce(&Status) -> Result<Status, IllegalTransition>,
    ) -> Result<(), IllegalTransition> {
        let status = next(&self.get(number).status)?;
        self.remove_from_index(number);
        self.all[number.0].status = status;
        self.index(number);
        Ok(())
    }

    /// Enters an action into the indexes that its status belongs in.
    fn index(&mut self, number: ActionNumber) {
        let Action {
            proposal, status, ..
        } = &self.all[number.0];
        let session_id = proposal.session_id.clone();
        match status {
            Status::Pending => {
                let expires_at = proposal.expires_at;
                self.deadlines.extend(expires_at.map(|time| (time, number)));
                self.pending.entry(session_id).or_default().insert(number);
            }
            Status::Accepted {
                run: Run::Unfinished,
                ..
            } => {
                let unfinished = self.unfinished.entry(session_id).or_default();
                unfinished.insert(number);
            }
            Status::Accepted {
                run: Run::Finished { .. },
                ..
            }
            | Status::Rejected { .. }
            | Status::Expired { .. }
            | Status::Cancelled { .. } => {}
        }
    }

    /// Takes an action out of the indexes that its status belongs in.
    fn remove_from_index(&mut self, number: ActionNumber) {
        let Action {
            proposal, status, ..
        } = &self.all[number.0];
        match status {
            Status::Pending => {
                if let Some(expires_at) = proposal.expires_at {
                    self.deadlines.remove(&(expires_at, number));
                }
                remove(&mut self.pending, &proposal.session_id, number);
            }
            Status::Accepted {
                run: Run::Unfinished,
                ..
            } => remove(&mut self.unfinished, &proposal.session_id, number),
            Status::Accepted {
                run: Run::Finished { .. },
                ..
            }
            | Status::Rejected { .. }
            | Status::Expired { .. }
            | Status::Cancelled { .. } => {}
        }
    }
}

fn remove(index: &mut BySession, session_id: &SessionId, number: ActionNumber) {
    if let Some(numbers) = index.get_mut(session_id) {
        numbers.remove(&number);
        if numbers.is_empty() {
            index.remove(session_id);
        }
    }
}

impl TryFrom<Vec<Action>> for Actions {
    type Error = IdTaken;

    fn try_from(list: Vec<Action>) -> Result<Self, IdTaken> {
        let mut actions = Self::default();
        list.into_iter()
            .try_for_each(|action| actions.add(action))?;
        Ok(actions)
    }
}

impl From<Actions> for Vec<Action> {
    fn from(actions: Actions) -> Self {
        actions.all
    }
}
