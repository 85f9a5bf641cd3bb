//! A call with a token, under way.

use crate::network::Coded;

use super::words::{Scope, Slot};

/// The token that a call or a query carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carried {
    /// The token in this slot.
    Token(Slot),
    /// A token that was never issued, or no token at all by its form.
    Guessed,
}

/// A call with a token. The message is what the client says; the danger level is what the adapter knows of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// `confirmation_token`
    pub token: Carried,
    /// Purpose, operation, critical parameters, adapter and the session that it names.
    pub scope: Scope,
    /// Whether it needs a token at all.
    pub gated: bool,
    /// Whether its operation is rated higher than when the token was issued: as forbidden, which was less.
    pub rated_higher: bool,
}

impl Coded for Call {
    fn code(self) -> u16 {
        let token = match self.token {
            Carried::Token(slot) => slot as u16,
            Carried::Guessed => 3,
        };
        u16::from(self.rated_higher) << 11
            | 1 << 10
            | token << 8
            | u16::from(self.gated) << 7
            | self.scope.code()
    }

    fn from_code(code: u16) -> Self {
        Self {
            token: Slot::of_place((code >> 8) & 3).map_or(Carried::Guessed, Carried::Token),
            gated: (code >> 7) & 1 == 1,
            rated_higher: (code >> 11) & 1 == 1,
            scope: Scope::from_code(code & 127),
        }
    }
}

/// The calls under way.
pub type Network = crate::network::Network<Call>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp_aql::words::{Parameters, Purpose, SessionName, Which};

    #[test]
    fn every_call_is_the_one_of_its_code_and_no_other() {
        let mut codes = std::collections::BTreeSet::new();
        let [first, second, third] = Slot::ALL.map(Carried::Token);
        for token in [first, second, third, Carried::Guessed] {
            for session in [None, Some(SessionName::A), Some(SessionName::B)] {
                for bits in 0..32 {
                    for parameters in [Parameters::First, Parameters::Second, Parameters::Third] {
                        let scope = Scope {
                            purpose: Purpose::ALL[bits & 1],
                            operation: Which::ALL[bits >> 1 & 1],
                            parameters,
                            adapter: Which::ALL[bits >> 2 & 1],
                            session,
                        };
                        let call = Call {
                            token,
                            scope,
                            gated: bits >> 3 & 1 == 1,
                            rated_higher: bits >> 4 == 1,
                        };
                        assert_eq!(Call::from_code(call.code()), call);
                        assert!(codes.insert(call.code()));
                    }
                }
            }
        }
        assert!(!codes.contains(&0));
    }
}
