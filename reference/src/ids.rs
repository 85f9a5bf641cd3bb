//! Where fresh identifiers come from.
//!
//! The executor never makes up a random number: the host hands it an [`IdSource`]. A host in production draws from
//! a cryptographic generator; tests and walks over the model use [`SequentialIds`].

use serde::{Deserialize, Serialize};

/// Source of the 128 bits that each fresh identifier is made of.
///
/// Whoever can guess the next value can guess a token, so a host in production draws every value from a
/// cryptographically secure generator (AAEP-6.2.1-2, AQL-3.1-3). A source must not return the same value twice; where a repeat
/// would do harm (a token, a session id) the executor notices it and asks again.
pub trait IdSource {
    /// The next 128 bits, never returned before.
    fn next_bits(&mut self) -> u128;
}

/// Deterministic source that counts up. For tests and state walks only: anyone can guess its tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SequentialIds {
    drawn: u64,
}

impl SequentialIds {
    /// A source whose first value is 1.
    pub fn new() -> Self {
        Self::default()
    }
}

impl IdSource for SequentialIds {
    fn next_bits(&mut self) -> u128 {
        self.drawn += 1;
        u128::from(self.drawn)
    }
}
