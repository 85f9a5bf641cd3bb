//! What is known of the actions of a transcript.

use std::collections::{BTreeMap, BTreeSet};

use crate::transcript::{Exchange, Fields, is_blank};

/// How far an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nobody has decided.
    Pending,
    /// Somebody has allowed it.
    Allowed,
    /// Somebody has denied it.
    Denied,
    /// Nobody has decided in time.
    Expired,
    /// It was taken back.
    Cancelled,
}

impl Phase {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Who may decide, as it was proposed.
#[derive(Debug, PartialEq, Eq)]
pub enum Deciders {
    /// Nobody is named.
    Nobody,
    /// These.
    Named(Vec<String>),
    /// What stands there is no list of names.
    Unread,
}

impl Deciders {
    /// Those of a proposal. A list that names nobody is none.
    pub fn of(proposal: &Fields<'_>) -> Self {
        match proposal.texts("deciders") {
            Some(names) if !names.is_empty() => Self::Named(names),
            None if proposal.raw("deciders").is_some_and(|it| it != "null") => Self::Unread,
            Some(_) | None => Self::Nobody,
        }
    }
}

/// An action, as it was proposed and recorded.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Action {
    pub agent: Option<String>,
    pub session: Option<String>,
    pub tool: Option<String>,
    /// As they are written.
    pub arguments: Option<String>,
    pub only_reads: bool,
    pub nonce: Option<String>,
    pub deciders: Deciders,
    pub idempotent: bool,
    /// When the question closes, in milliseconds; never, where there is none.
    pub expires_at: Option<i64>,
    pub phase: Phase,
    /// The line at which it came into its phase.
    pub since: u64,
    /// What was told of it: types of events and messages.
    pub told: BTreeSet<String>,
    /// The line on which it ran.
    pub ran: Option<u64>,
    /// Whether somebody has reported how it came out.
    pub is_finished: bool,
    /// Whether it was taken back after it was released.
    pub is_cut: bool,
    /// Whether an older state was handed back behind it: what it was then, nobody knows.
    pub is_forgotten: bool,
}

impl Action {
    /// The action of this record; what the record leaves out is as it was proposed.
    pub fn new(record: &Fields<'_>, proposal: &Fields<'_>, line: u64) -> Self {
        let text = |name| record.text(name).or_else(|| proposal.text(name));
        Self {
            agent: text("agent_id"),
            session: text("session_id"),
            tool: text("tool"),
            arguments: proposal.raw("arguments").map(str::to_owned),
            only_reads: text("effect").as_deref() == Some("read"),
            nonce: record.text("nonce"),
            deciders: Deciders::of(proposal),
            idempotent: proposal.flag("idempotent") == Some(true),
            expires_at: if record.has("expires_at") {
                record.time("expires_at")
            } else {
                proposal.time("expires_at")
            },
            phase: Phase::Pending,
            since: line,
            told: BTreeSet::new(),
            ran: None,
            is_finished: false,
            is_cut: false,
            is_forgotten: false,
        }
    }

    /// Whether it was released and nobody has reported how it came out.
    pub fn is_in_flight(&self) -> bool {
        self.phase == Phase::Allowed && !self.is_finished
    }

    /// Whether its question has closed before this time, however the very moment is taken.
    pub fn is_overdue(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|expires_at| now > expires_at)
    }

    /// Whether this is the very moment at which its question closes.
    pub fn closes_at(&self, now: i64) -> bool {
        self.expires_at == Some(now)
    }

    /// Whether that name may decide. Nobody knows, where nobody was named or what names them cannot be read.
    pub fn entitles(&self, by: &str) -> Option<bool> {
        match &self.deciders {
            _ if is_blank(by) => Some(false),
            Deciders::Named(names) => Some(names.iter().any(|name| name == by)),
            Deciders::Nobody if self.agent.as_deref() == Some(by) => Some(false),
            Deciders::Nobody | Deciders::Unread => None,
        }
    }
}

/// All that is known since the last `reset`.
#[derive(Debug, Default)]
pub struct Account {
    pub actions: BTreeMap<String, Action>,
    /// The actions of each session.
    pub of_session: BTreeMap<String, Vec<String>>,
    /// The questions of which nothing has told yet that they have closed, by the time at which they close.
    pub closing: BTreeSet<(i64, String)>,
    pub ended: BTreeSet<String>,
    /// Event and message ids, with the line of each.
    pub ids: BTreeMap<(&'static str, String), u64>,
    pub nonces: BTreeMap<String, u64>,
    /// The greatest time so far.
    pub now: i64,
    /// The outputs of the last response that has any: kind, and text as it is written.
    pub last: Vec<(String, String)>,
}

impl Account {
    /// Whether the session of the action has ended.
    pub fn has_ended(&self, action: &Action) -> bool {
        action
            .session
            .as_ref()
            .is_some_and(|session| self.ended.contains(session))
    }

    /// The time of an exchange in which something happened.
    pub fn passes(&mut self, exchange: &Exchange<'_>) {
        self.now = self.now.max(exchange.now.unwrap_or(i64::MIN));
    }
}
