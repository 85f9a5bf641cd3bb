//! The numbers of the text: it has but one, and that is a rule.

use crate::numbers::{self, Value};

use super::readings::Reading;

/// Every number of the text.
pub static NUMBERS: [numbers::Number<Reading>; 1] = [numbers::Number {
    name: "decisions.most",
    clauses: &["PA-8"],
    what: "how often an action is decided on",
    value: Value::fixed(
        "1",
        "it is a rule of the model, which can be left out; when an action expires its proposal says",
    ),
}];
