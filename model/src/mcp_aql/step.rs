//! One step: the state that follows and what may come out.

use super::output::Outputs;
use super::rules::Check;
use super::state::State;

/// What an action leads to. What is in no list of outputs is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state that follows, not yet quotiented.
    pub next: State,
    /// What must come out, in this order.
    pub required: Outputs,
    /// What may come out in place of all that: the answer of a gatekeeper that has purged the token already.
    pub instead: Option<Outputs>,
    /// For a call that was rejected: the first check that it failed.
    pub rejected: Option<Check>,
    /// The witnesses that this step is one of, one bit each, by their place in the table of witnesses.
    pub witnessed: u64,
}
