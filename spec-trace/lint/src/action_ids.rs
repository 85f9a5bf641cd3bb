//! The ids that tie a call to its confirmation. Where there are none, the order of events does.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::finding::TiedBy;
use super::monitor::seen::hash;

/// Ids that a confirmation and a call may share. `tool_call_id` is the call's own, or the confirmation's
/// `extra_context.tool_call_id`; the others stand in `extensions.countersign`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionIds<'a> {
    /// `tool_call_id`.
    pub tool_call_id: Option<Cow<'a, str>>,
    /// `extensions.countersign.action`.
    pub action: Option<Cow<'a, str>>,
    /// The token of a confirmation, or `extensions.countersign.reply_token` of any other event.
    pub token: Option<Cow<'a, str>>,
}

/// Whether two events concern the same action.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Relation {
    /// They do, by this id.
    Same(TiedBy),
    /// They do not: both carry an id, and the ids differ.
    Different,
    /// Nothing says so; the order of events may.
    #[default]
    Unknown,
}

impl ActionIds<'_> {
    /// The same, for later.
    #[must_use]
    pub fn to_keep(&self) -> ActionIds<'static> {
        let kept = |id: &Option<Cow<'_, str>>| id.as_deref().map(|id| Cow::Owned(id.to_owned()));
        ActionIds {
            tool_call_id: kept(&self.tool_call_id),
            action: kept(&self.action),
            token: kept(&self.token),
        }
    }

    /// Whether the action of `self` is that of `other`. The narrowest id decides: a token names one question, an action
    /// may be asked for again.
    pub fn relation(&self, other: &ActionIds<'_>) -> Relation {
        let tokens = (self.token.as_deref(), other.token.as_deref());
        match same([(tokens.0, tokens.1, TiedBy::Extension)]) {
            Relation::Unknown => self.relation_of_actions(other),
            told @ (Relation::Same(_) | Relation::Different) => told,
        }
    }

    /// The same for two questions: each has a token of its own, so only the ids of the action can tell that it is the same.
    pub fn relation_of_actions(&self, other: &ActionIds<'_>) -> Relation {
        same([
            (
                self.action.as_deref(),
                other.action.as_deref(),
                TiedBy::Extension,
            ),
            (
                self.tool_call_id.as_deref(),
                other.tool_call_id.as_deref(),
                TiedBy::ToolCallId,
            ),
        ])
    }

    /// The ids as hashes.
    pub fn hashes(&self) -> IdHashes {
        let mark = |id: &Option<Cow<'_, str>>| id.as_deref().map(|id| hash(&id));
        IdHashes {
            token: mark(&self.token),
            action: mark(&self.action),
            tool_call_id: mark(&self.tool_call_id),
        }
    }

    /// The class of a call with these ids that stands in this relation to the confirmations before it; `asked` are the kinds
    /// of id that the confirmations of the session have.
    pub fn class(&self, relation: Relation, asked: &BTreeSet<IdKinds>) -> CallClass {
        match relation {
            Relation::Same(_) => CallClass::ById(self.hashes().that_decide(asked)),
            Relation::Different | Relation::Unknown => CallClass::ByOrder(self.kinds()),
        }
    }

    /// Which ids there are.
    pub fn kinds(&self) -> IdKinds {
        IdKinds {
            tool_call_id: self.tool_call_id.is_some(),
            action: self.action.is_some(),
            token: self.token.is_some(),
        }
    }
}

/// The same ids as hashes: they tell at a glance that two events have no id in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdHashes {
    /// Of the token.
    pub token: Option<u64>,
    action: Option<u64>,
    tool_call_id: Option<u64>,
}

impl IdHashes {
    /// What [`ActionIds::relation`] says, but that different ids may have the same hash.
    pub fn relation(&self, other: &Self) -> Relation {
        same([
            (self.token, other.token, TiedBy::Extension),
            (self.action, other.action, TiedBy::Extension),
            (self.tool_call_id, other.tool_call_id, TiedBy::ToolCallId),
        ])
    }

    /// Those that tell whether a confirmation with such kinds of id is concerned; of each only the narrowest that both have.
    fn that_decide(self, asked: &BTreeSet<IdKinds>) -> Self {
        let mut decide = Self {
            token: None,
            action: None,
            tool_call_id: None,
        };
        for kinds in asked {
            if kinds.token && self.token.is_some() {
                decide.token = self.token;
            } else if kinds.action && self.action.is_some() {
                decide.action = self.action;
            } else if kinds.tool_call_id {
                decide.tool_call_id = self.tool_call_id;
            }
        }
        decide
    }
}

/// The first pair of ids that both have decides.
fn same<Id: PartialEq, const PAIRS: usize>(
    pairs: [(Option<Id>, Option<Id>, TiedBy); PAIRS],
) -> Relation {
    for (mine, theirs, tied_by) in pairs {
        if let (Some(mine), Some(theirs)) = (mine, theirs) {
            return if mine == theirs {
                Relation::Same(tied_by)
            } else {
                Relation::Different
            };
        }
    }
    Relation::Unknown
}

/// Kinds of id that an event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdKinds {
    /// Whether it has a `tool_call_id`.
    pub tool_call_id: bool,
    /// Whether it names an action.
    pub action: bool,
    /// Whether it names a token.
    pub token: bool,
}

impl IdKinds {
    /// Whether both have ids of one kind, so that these decide whether they belong together.
    pub const fn share_one(self, other: Self) -> bool {
        self.tool_call_id && other.tool_call_id
            || self.action && other.action
            || self.token && other.token
    }
}

/// Calls that differ, as far as confirmations go, only in when they came: whatever may explain the earlier of two calls of
/// a class may explain the later one too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallClass {
    /// Confirmations with the same ids concern the call.
    ById(IdHashes),
    /// Those that carry none of the kinds of id that the call carries.
    ByOrder(IdKinds),
    /// The call is like no other.
    Alone(usize),
}
