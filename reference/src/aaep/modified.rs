//! What a reply may make of the action that was asked about.
//!
//! The one thing to know: a [`ModifiedAction`] can only be made here, and it never rates higher than what the user was asked about.

use serde::{Deserialize, Serialize};

use super::message::WrittenObject;
use super::vocabulary::{Action, RiskLevel};
use crate::json::{self, Member};

/// An action as the user has modified it (AAEP-6.3.2-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModifiedAction {
    object: WrittenObject,
    risk_level: RiskLevel,
    irreversible: bool,
}

impl ModifiedAction {
    /// What the object makes of what was asked. Its members `risk_level` and `irreversible` rate it where it has them, else it
    /// rates as what was asked. Nothing where that is higher, or is no rating: the user was asked about less.
    pub(super) fn of(object: &WrittenObject, asked: &Action) -> Option<Self> {
        let members = json::members(object.as_str().as_bytes()).ok()??;
        let risk_level = match members.get("risk_level") {
            None => asked.risk_level,
            Some(Member::String(text)) => RiskLevel::named(&text.whole()?)?,
            Some(Member::Number(_) | Member::Boolean(_) | Member::Object(_) | Member::Other) => {
                return None;
            }
        };
        let irreversible = match members.get("irreversible") {
            None => asked.irreversible,
            Some(Member::Boolean(value)) => *value,
            Some(Member::String(_) | Member::Number(_) | Member::Object(_) | Member::Other) => {
                return None;
            }
        };
        let is_higher = risk_level > asked.risk_level || irreversible && !asked.irreversible;
        (!is_higher).then(|| Self {
            object: object.clone(),
            risk_level,
            irreversible,
        })
    }

    /// What the reply said.
    pub fn object(&self) -> &WrittenObject {
        &self.object
    }

    /// How much harm it can do.
    pub fn risk_level(&self) -> RiskLevel {
        self.risk_level
    }

    /// Whether it cannot be undone.
    pub fn is_irreversible(&self) -> bool {
        self.irreversible
    }
}
