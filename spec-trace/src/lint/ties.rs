//! What ties a call to its confirmation: ids where there are any, else the order of events.

use super::finding::TiedBy;

/// Ids that a confirmation and a call may share. `tool_call_id` is the call's own, or the confirmation's
/// `extra_context.tool_call_id`; the others stand in `extensions.countersign`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ties {
    /// `tool_call_id`.
    pub tool_call_id: Option<String>,
    /// `extensions.countersign.action`.
    pub action: Option<String>,
    /// The token of a confirmation, or `extensions.countersign.reply_token` of any other event.
    pub token: Option<String>,
}

/// Whether two events concern the same action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They do, by this id.
    Same(TiedBy),
    /// They do not: both carry an id, and the ids differ.
    Different,
    /// Nothing says so; the order of events may.
    Unknown,
}

impl Ties {
    /// Whether the action of `self` is that of `other`. The narrowest id decides: a token names one question, an action
    /// may be asked for again.
    pub fn relation(&self, other: &Self) -> Relation {
        let pairs = [
            (&self.token, &other.token, TiedBy::Extension),
            (&self.action, &other.action, TiedBy::Extension),
            (&self.tool_call_id, &other.tool_call_id, TiedBy::ToolCallId),
        ];
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

    /// The class of a call with these ids that stands in this relation to the confirmations before it.
    pub fn class(&self, relation: Relation) -> Class {
        match relation {
            Relation::Same(_) => Class::ById(self.clone()),
            Relation::Different | Relation::Unknown => Class::ByOrder {
                tool_call_id: self.tool_call_id.is_some(),
                action: self.action.is_some(),
                token: self.token.is_some(),
            },
        }
    }
}

/// Calls that differ, as far as confirmations go, only in when they came: whatever may explain the earlier of two calls of
/// a class may explain the later one too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Confirmations with the same ids concern the call.
    ById(Ties),
    /// Those that carry none of the kinds of id that the call carries.
    ByOrder {
        /// Whether the call has a `tool_call_id`.
        tool_call_id: bool,
        /// Whether it names an action.
        action: bool,
        /// Whether it names a token.
        token: bool,
    },
    /// The call is like no other.
    Alone(usize),
}
