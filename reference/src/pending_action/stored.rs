//! What is known as it was written down, before it is believed.
//!
//! The one thing to know: a document that no ledger can have written is not read. A snapshot only saves reading the
//! journal from its beginning; it must not say anything that the journal could not.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::action::{Action, Run, Status};
use super::actions::Actions;
use super::known::Known;
use super::record::Record;
use super::vocabulary::SessionId;
use crate::time::Timestamp;

/// No journal has more records than this: the largest integer that every reader of JSON takes for what it is.
const MAX_RECORDS: u64 = 1 << 53;

/// The fields of a [`Known`] as read from a document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    now: Timestamp,
    recorded: u64,
    tail: VecDeque<Record>,
    actions: Actions,
    ended_sessions: BTreeSet<SessionId>,
}

/// The parts of the document contradict each other, so no ledger can have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Inconsistent {
    #[error("there are more actions than records, or more records than can be counted")]
    CountLost,
    #[error("the last records do not follow one another")]
    TailTorn,
    #[error("a record is about an action that was not proposed")]
    NeverProposed,
    #[error("something happened later than now")]
    Later,
    #[error("an action is pending in a session that has ended")]
    PendingAfterEnd,
}

impl Stored {
    /// Checks each part against the others.
    fn check(&self) -> Result<(), Inconsistent> {
        let actions = self.actions.all();
        if self.recorded > MAX_RECORDS || actions.len() as u64 > self.recorded {
            return Err(Inconsistent::CountLost);
        }
        actions
            .iter()
            .try_for_each(|action| self.check_action(action))?;
        // The last one is the last of all, and each follows on the one before.
        let numbers = self.tail.iter().rev().map(|record| record.number);
        let counted_down = (1..=self.recorded).rev();
        if self.tail.len() as u64 > self.recorded || !counted_down.zip(numbers).all(|(a, b)| a == b)
        {
            return Err(Inconsistent::TailTorn);
        }
        self.tail
            .iter()
            .try_for_each(|record| self.check_record(record))
    }

    fn check_action(&self, action: &Action) -> Result<(), Inconsistent> {
        // PA-5
        let has_ended = self.ended_sessions.contains(&action.proposal.session_id);
        if action.status == Status::Pending && has_ended {
            return Err(Inconsistent::PendingAfterEnd);
        }
        let last = match action.status {
            Status::Pending => None,
            Status::Accepted {
                run: Run::Finished { at, .. },
                ..
            }
            | Status::Accepted {
                run: Run::Unfinished,
                at,
                ..
            }
            | Status::Rejected { at, .. }
            | Status::Expired { at }
            | Status::Cancelled { at, .. } => Some(at),
        };
        self.check_time(last)
    }

    fn check_record(&self, record: &Record) -> Result<(), Inconsistent> {
        self.check_time(Some(record.at))?;
        let mut about = record.entry.about().iter();
        if about.all(|action_id| self.actions.find(*action_id).is_some()) {
            Ok(())
        } else {
            Err(Inconsistent::NeverProposed)
        }
    }

    fn check_time(&self, happened: Option<Timestamp>) -> Result<(), Inconsistent> {
        match happened {
            Some(at) if at > self.now => Err(Inconsistent::Later),
            Some(_) | None => Ok(()),
        }
    }
}

impl TryFrom<Stored> for Known {
    type Error = Inconsistent;

    fn try_from(stored: Stored) -> Result<Self, Inconsistent> {
        stored.check()?;
        let Stored {
            now,
            recorded,
            tail,
            actions,
            ended_sessions,
        } = stored;
        Ok(Self {
            now,
            recorded,
            tail,
            actions,
            ended_sessions,
        })
    }
}

impl From<Known> for Stored {
    fn from(known: Known) -> Self {
        let Known {
            now,
            recorded,
            tail,
            actions,
            ended_sessions,
        } = known;
        Self {
            now,
            recorded,
            tail,
            actions,
            ended_sessions,
        }
    }
}
