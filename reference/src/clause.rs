//! The name of a clause, for everything that says which rule of a text was carried out.

use std::fmt;

use serde::Serialize;

/// The id of a clause, as the clause index spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ClauseId(pub &'static str);

impl fmt::Display for ClauseId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}
