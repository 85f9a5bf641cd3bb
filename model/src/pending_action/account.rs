//! What an outsider knows of a ledger.
//!
//! Two of everything are inline: a search needs no more. A crash brings back no older account: what was put out is
//! told again, so it was stored. A rollback does: a snapshot holds what the ledger kept, never what the world has seen.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::fact::Fact;
use crate::pending_action::alphabet::{
    ActionId, Body, Decision, Effect, Event, Message, Name, Nonce, Output, Record, SnapshotId,
    Time, Value, What,
};

/// Everything that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Account {
    /// The greatest time so far.
    pub clock: Time,
    /// Every action that was ever created, by its number.
    pub actions: SmallVec<[Action; 2]>,
    /// How many nonces were put out.
    pub nonces: Nonce,
    /// Every session that ever ended, and whether the ledger knows: behind a rollback it may not.
    pub ended: SmallVec<[(Name, Fact); 2]>,
    /// Every snapshot that was put out. Equal ones may be of several times.
    pub snapshots: SmallVec<[Snapshot; 2]>,
}

/// An action, and what has become of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "what later calls read of the record")]
pub struct Action {
    pub nonce: Option<Nonce>,
    pub agent: Name,
    pub session: Name,
    pub tool: Name,
    pub arguments: Value,
    pub expires_at: Option<Time>,
    pub deciders: Option<Arc<[Name]>>,
    pub idempotent: bool,
    pub only_reads: bool,
    /// Whether its call is in the transcript.
    pub is_appended: bool,
    /// What the world has seen last.
    pub seen: Phase,
    /// What the ledger may hold: one phase, but several behind a rollback, and none before it is told as created.
    pub held: Phases,
}

/// What has become of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The ledger does not have it.
    Absent,
    /// Nobody has decided.
    Pending,
    /// Its call was released, and has not come back.
    Released,
    /// Its call has come back.
    Finished,
    /// It was denied or taken back.
    Denied,
    /// Nobody decided in time.
    Expired,
}

/// Several phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Phases(u8);

/// What the ledger kept when it put a snapshot out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// Its number.
    pub id: SnapshotId,
    /// The time.
    pub clock: Time,
    /// What it held of each action.
    pub held: SmallVec<[Phases; 2]>,
    /// The sessions that had ended.
    pub ended: SmallVec<[(Name, Fact); 2]>,
}

impl Phase {
    const ALL: [Self; 6] = [
        Self::Absent,
        Self::Pending,
        Self::Released,
        Self::Finished,
        Self::Denied,
        Self::Expired,
    ];

    /// Whether its tool was told to run.
    pub fn has_run(self) -> bool {
        matches!(self, Self::Released | Self::Finished)
    }
}

impl From<Phase> for Phases {
    fn from(phase: Phase) -> Self {
        Self(1 << phase as u8)
    }
}

impl Phases {
    /// The phases.
    pub fn iter(self) -> impl Iterator<Item = Phase> + Clone {
        Phase::ALL
            .into_iter()
            .filter(move |phase| self.contains(*phase))
    }
    /// Whether it is among them.
    pub fn contains(self, phase: Phase) -> bool {
        self.0 >> phase as u8 & 1 == 1
    }
    /// Adds one.
    pub fn add(&mut self, phase: Phase) {
        self.0 |= Self::from(phase).0;
    }
    /// Takes one away.
    pub fn remove(&mut self, phase: Phase) {
        self.0 &= !Self::from(phase).0;
    }
}

impl Action {
    /// An action that is not yet told as created.
    pub fn new(record: &Record) -> Self {
        Self {
            nonce: None,
            agent: record.agent,
            session: record.session,
            tool: record.tool,
            arguments: record.arguments,
            expires_at: record.expires_at,
            deciders: record.deciders.as_deref().map(Arc::from),
            idempotent: record.idempotent,
            only_reads: record.effect == Effect::Read,
            is_appended: false,
            seen: Phase::Absent,
            held: Phases::default(),
        }
    }
}

impl Output {
    /// What has become of an action, by this output.
    pub fn settles(&self) -> Option<(ActionId, Phase)> {
        let phase = match self {
            Self::Event(Event { what, .. }) => match what {
                What::Decided {
                    decision: Decision::Allow,
                    ..
                } => Phase::Released,
                What::Executed { .. } | What::NotRun => Phase::Finished,
                What::Decided { .. } | What::Denied { .. } | What::Cancelled { .. } => {
                    Phase::Denied
                }
                What::Expired => Phase::Expired,
                What::Created(_) => return None,
            },
            Self::Append(Message { body, .. }) => match body {
                Body::DeniedResult { .. } | Body::CancelledResult { .. } => Phase::Denied,
                Body::ExpiredResult { .. } => Phase::Expired,
                Body::ConfirmationRequest { .. }
                | Body::ToolCall { .. }
                | Body::ToolResult { .. }
                | Body::UserMessage { .. } => return None,
            },
            Self::Perform { .. } => Phase::Released,
            Self::InDoubt(_) | Self::Audit | Self::Snapshot(_) | Self::Refused | Self::Other(_) => {
                return None;
            }
        };
        self.action().map(|id| (id, phase))
    }
}

impl Account {
    /// The action of that number.
    pub fn action(&self, id: ActionId) -> Option<&Action> {
        self.actions.get(usize::from(id))
    }

    /// The action of that number.
    pub fn action_mut(&mut self, id: ActionId) -> Option<&mut Action> {
        self.actions.get_mut(usize::from(id))
    }

    /// That has become of the action, if there is one, and the ledger knows.
    pub fn becomes(&mut self, id: ActionId, phase: Phase) {
        if let Some(action) = self.action_mut(id) {
            action.seen = phase;
            action.held = phase.into();
        }
    }

    /// An action was told as created.
    pub fn create(&mut self, id: ActionId, record: &Record) {
        if id == self.next_action() {
            self.actions.push(Action::new(record));
        }
        if let Some(action) = self
            .action_mut(id)
            .filter(|it| it.held == Phases::default())
        {
            action.nonce = record.nonce;
            action.expires_at = record.expires_at;
            self.nonces += Nonce::from(record.nonce.is_some());
            self.becomes(id, Phase::Pending);
        }
    }

    /// Takes an output for what it says: even where nothing called for it, the ledger may go by it from here on.
    pub fn believe(&mut self, output: &Output) {
        match output {
            Output::Event(Event {
                action,
                what: What::Created(record),
                ..
            }) => self.create(*action, record),
            Output::Append(Message {
                body: Body::ToolCall { action, .. },
                ..
            }) => {
                if let Some(action) = self.action_mut(*action) {
                    action.is_appended = true;
                }
            }
            Output::Snapshot(id) => self.snapshots.push(self.snapshot(*id)),
            Output::Append(_)
            | Output::Event(_)
            | Output::Perform { .. }
            | Output::InDoubt(_)
            | Output::Audit
            | Output::Refused
            | Output::Other(_) => {}
        }
        // Of what is settled, nothing but a run is news.
        let is_news = |phase: Phase, seen| match seen {
            Phase::Absent | Phase::Pending => true,
            Phase::Released => phase.has_run(),
            Phase::Denied | Phase::Expired | Phase::Finished => {
                matches!(output, Output::Perform { .. })
            }
        };
        if let Some((id, phase)) = output.settles()
            && self.action(id).is_some_and(|it| is_news(phase, it.seen))
        {
            self.becomes(id, phase);
        }
    }

    /// The number of the action that is created next.
    pub fn next_action(&self) -> ActionId {
        ActionId::try_from(self.actions.len()).unwrap_or(ActionId::MAX)
    }

    /// The numbers of the actions whose ledger may hold that phase, in the order in which they were created.
    pub fn holding(&self, phase: Phase) -> SmallVec<[ActionId; 2]> {
        (0..self.next_action())
            .filter(|id| self.action(*id).is_some_and(|it| it.held.contains(phase)))
            .collect()
    }

    /// Whether the session has ended, as far as the ledger knows.
    pub fn has_ended(&self, session: Name) -> Fact {
        self.ended
            .iter()
            .find(|it| it.0 == session)
            .map_or(Fact::No, |it| it.1)
    }

    /// The ledger knows, or does not know, that the session has ended.
    pub fn set_ended(&mut self, session: Name, is_known: Fact) {
        match self.ended.iter_mut().find(|it| it.0 == session) {
            Some(it) => it.1 = is_known,
            None => self.ended.push((session, is_known)),
        }
    }

    /// What the ledger keeps now.
    pub fn snapshot(&self, id: SnapshotId) -> Snapshot {
        let held = self.actions.iter().map(|it| it.held).collect();
        Snapshot {
            id,
            clock: self.clock,
            held,
            ended: self.ended.clone(),
        }
    }

    /// The number of the snapshot that is put out next, if its text is new.
    pub fn next_snapshot(&self) -> SnapshotId {
        self.snapshots
            .iter()
            .map(|it| it.id.saturating_add(1))
            .max()
            .unwrap_or_default()
    }
}
