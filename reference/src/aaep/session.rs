//! What the producer knows of a session and of a subscription.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::event::AgentState;
use super::vocabulary::{Capabilities, SessionOutcome, SubscriptionId};
use super::work::Work;

/// A session that was started.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Session {
    /// Whether it goes on.
    pub status: SessionStatus,
    /// The state that its last `state.changed` entered.
    pub state: AgentState,
    /// The sequence number of its next event (AAEP-EV-4).
    pub next_sequence_number: u64,
    /// What it does beside its questions.
    pub work: Work,
}

/// Whether a session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Between its first event and its last.
    Active,
    /// Its terminal event is out (AAEP-A.1-2).
    Ended(SessionOutcome),
}

/// A subscription that was opened. It is remembered when it has closed, so that its id is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subscription {
    /// Events go to it, replies come from it.
    Open(Capabilities),
    /// Neither any more.
    Closed,
}

/// All subscriptions there ever were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    from = "BTreeMap<SubscriptionId, Subscription>",
    into = "BTreeMap<SubscriptionId, Subscription>"
)]
pub(super) struct Subscriptions {
    all: BTreeMap<SubscriptionId, Subscription>,
    /// How many of them are open and able to answer a confirmation.
    able_to_reply: usize,
}

impl Session {
    /// AAEP-A.2-1: a session starts in idle.
    pub(super) fn started() -> Self {
        Self {
            status: SessionStatus::Active,
            state: AgentState::Idle,
            next_sequence_number: 0,
            work: Work::default(),
        }
    }
}

impl Subscription {
    fn is_able_to_reply(self) -> bool {
        match self {
            Self::Open(capabilities) => capabilities.supports_confirmation_reply,
            Self::Closed => false,
        }
    }
}

impl Subscriptions {
    /// Open or closed, by id.
    pub(super) fn all(&self) -> &BTreeMap<SubscriptionId, Subscription> {
        &self.all
    }

    pub(super) fn open(&mut self, subscription_id: SubscriptionId, capabilities: Capabilities) {
        self.set(subscription_id, Subscription::Open(capabilities));
    }

    pub(super) fn close(&mut self, subscription_id: &SubscriptionId) {
        self.set(subscription_id.clone(), Subscription::Closed);
    }

    fn set(&mut self, subscription_id: SubscriptionId, subscription: Subscription) {
        let before = self.all.insert(subscription_id, subscription);
        self.able_to_reply += usize::from(subscription.is_able_to_reply());
        self.able_to_reply -= usize::from(before.is_some_and(Subscription::is_able_to_reply));
    }

    /// Whether events go to that subscription and replies may come from it (AAEP-REPLY-14).
    pub(super) fn is_open(&self, subscription_id: &SubscriptionId) -> bool {
        match self.all.get(subscription_id) {
            Some(Subscription::Open(_)) => true,
            Some(Subscription::Closed) | None => false,
        }
    }

    /// Whether any open subscription says that it can answer a confirmation.
    pub(super) fn can_anyone_reply(&self) -> bool {
        self.able_to_reply > 0
    }
}

impl From<BTreeMap<SubscriptionId, Subscription>> for Subscriptions {
    fn from(all: BTreeMap<SubscriptionId, Subscription>) -> Self {
        let able = all.values().filter(|one| one.is_able_to_reply());
        Self {
            able_to_reply: able.count(),
            all,
        }
    }
}

impl From<Subscriptions> for BTreeMap<SubscriptionId, Subscription> {
    fn from(subscriptions: Subscriptions) -> Self {
        subscriptions.all
    }
}
