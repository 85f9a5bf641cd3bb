//! The ledger: every transition of the contract.
//!
//! The one thing to know: [`Ledger::handle`] is the only way in. Each call settles what has expired, then does what it
//! was asked, and returns all that the world must do, in order. Everything that changes is in a record, which comes out
//! before anything that follows from it; what is not in a durable record has not happened.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::action::{Action, Run, Status};
use super::arguments::Text;
use super::consequences::consequences;
use super::interface::{Audit, Decide, Input, Named, Outcome, Output, Propose, Refusal, ToolCall};
use super::known::{Contradiction, Known};
use super::propose::{check, name};
use super::record::{Entry, Record};
use super::settings::{Delivery, ReadEffect, Settings};
use super::validate::validate;
use super::vocabulary::{ActionId, Effect, MessageId, Nonce, SessionId, ToolStatus};
use crate::ids::IdSource;
use crate::time::Timestamp;

/// How often an action id that is taken already is drawn again before the source of ids is given up.
const DRAWS: usize = 8;

/// A ledger of pending actions: all its state, and nothing but state.
///
/// Cloned, both copies behave alike given the same inputs and ids. Serialised and read back, it is the same value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    settings: Settings,
    known: Known,
}

/// A ledger as it was after one of its records. It does nothing by itself: see [`Ledger::rebuild`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Snapshot(Known);

/// All that a ledger holds, for whoever has to tell two ledgers apart. A field that is new has to be looked at there.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// What the host chose.
    pub settings: Settings,
    /// The greatest time so far.
    pub now: Timestamp,
    /// The number of the last record.
    pub recorded: u64,
    /// The records whose outputs may not all have been carried out.
    pub tail: &'a VecDeque<Record>,
    /// Everything that was ever proposed, in the order of creation.
    pub actions: &'a [Action],
    /// The sessions that have ended.
    pub ended_sessions: &'a BTreeSet<SessionId>,
}

/// Why a ledger cannot be rebuilt: what the host has kept is not what a ledger has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    /// A record contradicts those before it.
    #[error("record {number} of the journal: {because}")]
    Record {
        /// Which.
        number: u64,
        /// How.
        because: Contradiction,
    },
    /// The snapshot stands on a record that the journal does not hold: it tells of what never became durable.
    #[error("the journal does not hold record {number}, which the snapshot stands on")]
    SnapshotAhead {
        /// The last record before the snapshot.
        number: u64,
    },
    /// The snapshot tells otherwise than the journal up to the record that it stands on: it is of another journal, or
    /// somebody has changed it.
    #[error("the snapshot is not what the journal tells up to record {number}")]
    SnapshotOfAnother {
        /// The last record before the snapshot.
        number: u64,
    },
    /// Outputs are said to be carried out of records that the journal does not hold.
    #[error("record {carried} is said to be carried out, and the journal ends at {recorded}")]
    WatermarkAhead {
        /// The watermark.
        carried: u64,
        /// The number of the last record.
        recorded: u64,
    },
}

impl Ledger {
    /// A ledger without actions, whose journal is empty.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            known: Known::default(),
        }
    }

    /// The ledger that a journal tells of, with whatever settings from now on (PA-8).
    ///
    /// Without a snapshot, `records` are the whole journal. With one, they may also begin later, at or before the record
    /// that the snapshot stands on ([`Snapshot::recorded`]): then the snapshot is a short cut and believed, so it must come
    /// from where nobody else can write. Held against the whole journal, it needs no trust but for [`Snapshot::now`]. The journal is the truth in
    /// either case: what was recorded after the snapshot is caught up with, so an old one undoes nothing. `carried` is the greatest number that
    /// [`Ledger::carried`] was called with, or any smaller one.
    ///
    /// Call [`Ledger::handle`] with [`Input::Restart`] then, and carry out what comes out. Its `now` is the greatest that the
    /// ledger was told before, if that is later than the host's clock: the journal tells no time but that of its records.
    ///
    /// # Errors
    ///
    /// [`Damaged`], where the parts do not belong together.
    pub fn rebuild(
        settings: Settings,
        snapshot: Option<Snapshot>,
        records: impl IntoIterator<Item = Record>,
        carried: u64,
    ) -> Result<Self, Damaged> {
        let mut known = snapshot.map_or_else(Known::default, |snapshot| snapshot.0);
        let stands_on = known.recorded;
        let mut is_held = stands_on == 0;
        let mut latest = Timestamp::MIN;
        // PA-8: what the journal tells by itself up to there, if all of it is at hand.
        let mut told = Known::default();
        for record in records {
            let number = record.number;
            // The snapshot may know of a later time than its last record's, so that it cannot tell.
            if record.at < latest {
                let because = Contradiction::Older;
                return Err(Damaged::Record { number, because });
            }
            latest = record.at;
            is_held |= number == stands_on;
            if number <= stands_on && number == told.recorded + 1 {
                let entered = told.enter(record);
                entered.map_err(|because| Damaged::Record { number, because })?;
                if number == stands_on && !known.tells_the_same_as(&told) {
                    return Err(Damaged::SnapshotOfAnother { number });
                }
            } else if number > stands_on || stands_on == 0 {
                let entered = known.enter(record);
                entered.map_err(|because| Damaged::Record { number, because })?;
            }
        }
        if !is_held {
            return Err(Damaged::SnapshotAhead { number: stands_on });
        }
        let recorded = known.recorded;
        if carried > recorded {
            return Err(Damaged::WatermarkAhead { carried, recorded });
        }
        known.carry(carried);
        Ok(Self { settings, known })
    }

    /// The ledger as it is after its last record. Only of use once that record is durable.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.known.clone())
    }

    /// Lets `input` happen at `now`, after everything that has expired by then.
    ///
    /// `now` is the host's clock; where it lies before that of an earlier call, the earlier one counts. Carry out
    /// the outputs one at a time and in order, also when the call was refused: what has expired is among them.
    pub fn handle(&mut self, now: Timestamp, ids: &mut impl IdSource, input: Input) -> Outcome {
        self.known.now = self.known.now.max(now);
        let mut handling = Handling {
            settings: self.settings,
            known: &mut self.known,
            ids,
            outputs: Vec::new(),
        };
        let refused = handling.run(input).err();
        Outcome {
            outputs: handling.outputs,
            refused,
        }
    }

    /// The host has carried out everything behind every record up to that one. What it has not told of comes out once
    /// more after a restart, so it may lag behind.
    ///
    /// Call it now and then with what [`Ledger::recorded`] was after a call whose outputs are all carried out: the
    /// ledger keeps every later record in memory. A number beyond the last record counts as that.
    pub fn carried(&mut self, through: u64) {
        self.known.carry(through);
    }

    /// The number of the last record, 0 before the first.
    pub fn recorded(&self) -> u64 {
        self.known.recorded
    }

    /// The number of the last record that the host has said to be carried out, 0 before the first.
    pub fn watermark(&self) -> u64 {
        self.known.carried()
    }

    /// The records that the host has not said to be carried out: what a restart would tell of again.
    pub fn uncarried(&self) -> impl Iterator<Item = &Record> {
        self.known.tail.iter()
    }

    /// When the next pending action expires. Call [`Ledger::handle`] with [`Input::Tick`] then, if not before.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let boundary = self.settings.expiry_boundary;
        let first = self.known.actions.first_expiry();
        first.map(|expires_at| boundary.first_past(expires_at))
    }

    /// What the host chose.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The ledger's idea of the time: the greatest that any call came with.
    pub fn now(&self) -> Timestamp {
        self.known.now
    }

    /// All actions that were ever proposed, in the order of creation.
    pub fn actions(&self) -> &[Action] {
        self.known.actions.all()
    }

    /// The action with that id, if it was ever proposed here.
    pub fn action(&self, action_id: ActionId) -> Option<&Action> {
        self.known.actions.find(action_id)
    }

    /// The sessions that have ended.
    pub fn ended_sessions(&self) -> &BTreeSet<SessionId> {
        &self.known.ended_sessions
    }

    /// Everything that the ledger holds.
    pub fn held(&self) -> Held<'_> {
        let Self { settings, known } = self;
        let Known {
            now,
            recorded,
            tail,
            actions,
            ended_sessions,
        } = known;
        Held {
            settings: *settings,
            now: *now,
            recorded: *recorded,
            tail,
            actions: actions.all(),
            ended_sessions,
        }
    }
}

impl Snapshot {
    /// The number of the last record before it, 0 if there is none.
    pub fn recorded(&self) -> u64 {
        self.0.recorded
    }

    /// The time when it was taken. No journal bears it out, so a host does not take one from later than its own time: it
    /// would move the clock for ever (PA-7).
    pub fn now(&self) -> Timestamp {
        self.0.now
    }
}

/// One call under way: the parts of the ledger, where fresh ids come from, and what has come out so far.
struct Handling<'a> {
    settings: Settings,
    known: &'a mut Known,
    ids: &'a mut dyn IdSource,
    outputs: Vec<Output>,
}

impl Handling<'_> {
    fn run(&mut self, input: Input) -> Result<(), Refusal> {
        // In the order of the records: what a crash has swallowed comes before what has expired since, and nobody reads
        // how a question ended before they read the question.
        if matches!(input, Input::Restart) {
            self.tell_again();
        }
        self.settle_what_has_expired();
        match input {
            Input::Propose(propose) => self.propose(propose),
            Input::Decide(decide) => {
                self.decide(decide);
                Ok(())
            }
            Input::Say { by, text } => {
                // PA-11: whatever the words are, they decide nothing. They are recorded, so that a crash does not lose them.
                let message_id = MessageId::from_bits(self.ids.next_bits());
                self.record(Entry::Said {
                    message_id,
                    by,
                    text,
                });
                Ok(())
            }
            Input::FinishTool {
                action_id,
                status,
                result,
            } => self.finish_tool(&action_id, status, result),
            Input::Cancel { action_id } => self.cancel(&action_id),
            Input::EndSession { session_id } => self.end_session(&session_id),
            Input::Tick => Ok(()),
            Input::Restart => {
                self.resume();
                Ok(())
            }
        }
    }

    /// Makes something true: the record comes out, then all that follows from it.
    fn record(&mut self, entry: Entry) {
        let record = Record {
            number: self.known.recorded + 1,
            at: self.known.now,
            entry,
        };
        let entered = self.known.enter(record.clone());
        debug_assert_eq!(entered, Ok(()), "only what can follow is recorded");
        if entered.is_ok() {
            let consequences = consequences(&record, &self.known.actions);
            self.outputs.push(Output::Record(record.clone()));
            self.outputs.extend(consequences);
        }
    }

    /// PA-7: nobody has decided in time. In the order of expiry, then of creation.
    fn settle_what_has_expired(&mut self) {
        let now = self.known.now;
        let boundary = self.settings.expiry_boundary;
        let is_past = |expires_at| boundary.is_past(expires_at, now);
        for action_id in self.known.actions.expired(is_past) {
            self.record(Entry::Expired { action_id });
        }
    }

    // Proposing.

    fn propose(&mut self, propose: Propose) -> Result<(), Refusal> {
        let proposal = check(self.known.now, self.settings.expiry_absent, propose)?;
        // PA-5: nothing comes from a session after its end.
        if self.known.ended_sessions.contains(&proposal.session_id) {
            return Err(Refusal::SessionEnded);
        }
        let pends = match (proposal.effect, self.settings.read_effect) {
            // PA-13
            (Effect::Read, ReadEffect::Runs) => false,
            (Effect::Read, ReadEffect::Pends)
            | (
                Effect::Write | Effect::Destructive | Effect::External,
                ReadEffect::Pends | ReadEffect::Runs,
            ) => true,
        };
        let action_id = self.fresh_action_id()?;
        let nonce = Nonce::from_bits(self.ids.next_bits());
        self.record(Entry::Proposed {
            action_id,
            nonce,
            proposal: proposal.into(),
            pends,
        });
        Ok(())
    }

    /// PA-1: an id names one action for ever, whatever the source of ids does.
    fn fresh_action_id(&mut self) -> Result<ActionId, Refusal> {
        (0..DRAWS)
            .map(|_| ActionId::from_bits(self.ids.next_bits()))
            .find(|action_id| self.known.actions.find(*action_id).is_none())
            .ok_or(Refusal::NoFreshId)
    }

    // Deciding.

    fn decide(&mut self, decide: Decide) {
        match validate(&decide, &self.known.actions, self.settings.deciders_absent) {
            Ok(valid) => {
                let (action_id, decision, by) = valid.into_parts();
                self.record(Entry::Decided {
                    action_id,
                    decision,
                    by,
                });
            }
            // PA-8, and every other check: nothing changes, and only the operator learns of it.
            Err(reason) => self.outputs.push(Output::Audit(Audit {
                clause: reason.clause(),
                reason,
                action_id: decide.action_id,
                by: decide.by,
                at: self.known.now,
            })),
        }
    }

    /// PA-5
    fn cancel(&mut self, action_id: &str) -> Result<(), Refusal> {
        let action = self.find(action_id)?;
        match action.status {
            Status::Pending => {
                let action_id = action.action_id;
                self.record(Entry::Cancelled { action_id });
                Ok(())
            }
            // PA-7
            Status::Expired { .. } => Err(Refusal::Expired),
            // PA-8
            Status::Accepted { .. } | Status::Rejected { .. } | Status::Cancelled { .. } => {
                Err(Refusal::AlreadySettled)
            }
        }
    }

    /// PA-5: what pends is cancelled, and what was released and not begun is not begun any more.
    fn end_session(&mut self, session_id: &str) -> Result<(), Refusal> {
        let session_id = name("session_id", session_id, SessionId::parse)?;
        // A session ends once: who ends it again has erred.
        if self.known.ended_sessions.contains(&session_id) {
            return Err(Refusal::SessionEnded);
        }
        let unfinished = self.known.actions.unfinished_in(&session_id);
        let withdraw = |action: &Action| {
            Output::Withdraw(Named {
                action_id: action.action_id,
            })
        };
        let withdrawn: Vec<_> = unfinished.map(withdraw).collect();
        let cancelled = self.known.pending_in(&session_id);
        self.record(Entry::SessionEnded {
            session_id,
            cancelled,
        });
        self.outputs.extend(withdrawn);
        Ok(())
    }

    // Running.

    /// PA-4, PA-10: only what was released can come back, and it comes back once.
    fn finish_tool(
        &mut self,
        action_id: &str,
        status: ToolStatus,
        result: Text,
    ) -> Result<(), Refusal> {
        let action = self.find(action_id)?;
        match action.status {
            Status::Accepted {
                run: Run::Unfinished,
                ..
            } => {
                let action_id = action.action_id;
                self.record(Entry::Finished {
                    action_id,
                    status,
                    result,
                });
                Ok(())
            }
            // PA-8
            Status::Accepted {
                run: Run::Finished { .. },
                ..
            } => Err(Refusal::AlreadyFinished),
            // PA-3
            Status::Pending => Err(Refusal::StillPending),
            // PA-5
            Status::Rejected { .. } | Status::Cancelled { .. } => Err(Refusal::NotAllowed),
            // PA-7
            Status::Expired { .. } => Err(Refusal::Expired),
        }
    }

    /// PA-1
    fn find(&self, action_id: &str) -> Result<&Action, Refusal> {
        ActionId::parse(action_id)
            .ok()
            .and_then(|action_id| self.known.actions.find(action_id))
            .ok_or(Refusal::UnknownAction)
    }

    // Coming back.

    /// PA-10: what may not have been told before the crash is told again. Each message and each event has its id, so
    /// nobody is told twice; to run or to withdraw again is another matter.
    fn tell_again(&mut self) {
        for record in &self.known.tail {
            let consequences = consequences(record, &self.known.actions);
            let is_told = |output: &Output| match output {
                Output::Append(_) | Output::Event(_) => true,
                Output::Record(_)
                | Output::Perform(_)
                | Output::Withdraw(_)
                | Output::InDoubt(_)
                | Output::Audit(_) => false,
            };
            self.outputs.extend(consequences.filter(is_told));
        }
    }

    /// PA-8: what was released and is not recorded as finished may have run, so it does not run again; unless the
    /// proposal says that this does no harm, and the host has chosen so.
    fn resume(&mut self) {
        for action in self.known.actions.unfinished() {
            let has_ended = self
                .known
                .ended_sessions
                .contains(&action.proposal.session_id);
            let runs_again = match self.settings.delivery {
                Delivery::AtMostOnce => false,
                Delivery::AtLeastOnce => action.proposal.idempotent && !has_ended,
            };
            self.outputs.push(if runs_again {
                Output::Perform(ToolCall::of(action))
            } else {
                Output::InDoubt(Named {
                    action_id: action.action_id,
                })
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::ids::SequentialIds;
    use crate::pending_action::action::Proposal;
    use crate::pending_action::settings::{DecidersAbsent, ExpiryAbsent, ExpiryBoundary};

    fn chosen_otherwise() -> Settings {
        Settings {
            read_effect: ReadEffect::Runs,
            expiry_boundary: ExpiryBoundary::After,
            expiry_absent: ExpiryAbsent::After {
                seconds: NonZeroU32::MAX,
            },
            deciders_absent: DecidersAbsent::Nobody,
            delivery: Delivery::AtLeastOnce,
        }
    }

    /// PA-1, PA-8: what is written down is all there is, neither of what has happened nor of what the host has chosen is
    /// anything lost.
    #[test]
    fn every_field_survives_storage() {
        let new = Ledger::default();
        let mut ledger = Ledger::new(chosen_otherwise());
        let mut ids = SequentialIds::new();
        let one = Propose {
            agent_id: "menta".into(),
            session_id: "s1".into(),
            run_id: "r1".into(),
            tool: "t1".into(),
            arguments: Text::new(r#"{"a":1}"#),
            effect: Effect::Write,
            summary: "One?".into(),
            label: "One".into(),
            expires_at: Some(Timestamp::from_millis(1_000)),
            deciders: Some(vec!["ana".into()]),
            idempotent: true,
        };
        let other = Propose {
            agent_id: "salvia".into(),
            session_id: "s2".into(),
            run_id: "r2".into(),
            tool: "t2".into(),
            arguments: Text::new(r#"{"a":2}"#),
            effect: Effect::Read,
            summary: "Two?".into(),
            label: "Two".into(),
            expires_at: None,
            deciders: None,
            idempotent: false,
        };
        for input in [
            Input::Propose(one),
            Input::Propose(other),
            Input::EndSession {
                session_id: "s2".into(),
            },
        ] {
            let outcome = ledger.handle(Timestamp::from_millis(1), &mut ids, input);
            assert_eq!(outcome.refused, None);
        }
        ledger.carried(1);
        assert_every_field_differs!(Ledger { settings, known }, &ledger, new);
        assert_every_field_differs!(
            Settings {
                read_effect,
                expiry_boundary,
                expiry_absent,
                deciders_absent,
                delivery
            },
            &ledger.settings,
            new.settings
        );
        assert_every_field_differs!(
            Known {
                now,
                recorded,
                tail,
                actions,
                ended_sessions
            },
            &ledger.known,
            new.known
        );
        let [one, other] = ledger.actions() else {
            panic!("proposed two");
        };
        assert_every_field_differs!(
            Action {
                action_id,
                nonce,
                proposal,
                status
            },
            one,
            other
        );
        assert_every_field_differs!(
            Proposal {
                agent_id,
                session_id,
                run_id,
                tool,
                arguments,
                effect,
                summary,
                label,
                expires_at,
                deciders,
                idempotent
            },
            one.proposal,
            other.proposal
        );
        let written = serde_json::to_string(&ledger).expect("serialises");
        let read: Ledger = serde_json::from_str(&written).expect("written by a ledger");
        assert_eq!(read, ledger);
    }
}
