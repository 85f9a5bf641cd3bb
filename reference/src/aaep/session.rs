//! What the producer knows of a session and of a subscription.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::event::AgentState;
use super::vocabulary::{Capabilities, SessionOutcome, SubscriptionId};

/// A session that was started.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Session {
    /// Whether it goes on.
    pub status: SessionStatus,
    /// The state that its last `state.changed` entered.
    pub state: AgentState,
    /// The sequence number of its next event (AAEP-EV-4).
    pub next_sequence_number: u64,
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
#[serde(transparent)]
pub(super) struct Subscriptions(BTreeMap<SubscriptionId, Subscription>);

impl Session {
    /// AAEP-A.2-1: a session starts in idle.
    pub(super) fn started() -> Self {
        Self {
            status: SessionStatus::Active,
            state: AgentState::Idle,
            next_sequence_number: 0,
        }
    }
}

impl Subscriptions {
    /// Open or closed, by id.
    pub(super) fn all(&self) -> &BTreeMap<SubscriptionId, Subscription> {
        &self.0
    }

    pub(super) fn open(&mut self, subscription_id: SubscriptionId, capabilities: Capabilities) {
        self.0
            .insert(subscription_id, Subscription::Open(capabilities));
    }

    pub(super) fn close(&mut self, subscription_id: &SubscriptionId) {
        self.0.insert(subscription_id.clone(), Subscription::Closed);
    }

    /// Whether events go to that subscription and replies may come from it (AAEP-REPLY-14).
    pub(super) fn is_open(&self, subscription_id: &SubscriptionId) -> bool {
        match self.0.get(subscription_id) {
            Some(Subscription::Open(_)) => true,
            Some(Subscription::Closed) | None => false,
        }
    }

    /// Whether any open subscription says that it can answer a confirmation.
    pub(super) fn can_anyone_reply(&self) -> bool {
        self.0.values().any(|subscription| match subscription {
            Subscription::Open(capabilities) => capabilities.supports_confirmation_reply,
            Subscription::Closed => false,
        })
    }
}
