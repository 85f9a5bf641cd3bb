//! One step: the state that follows and what may come out.

use super::output::Outputs;
use super::rules::Check;
use super::state::State;

/// What an action leads to. What is in neither list of outputs is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state that follows, not yet quotiented.
    pub next: State,
    /// What must come out, in this order.
    pub required: Outputs,
    /// What may come out besides.
    pub optional: Outputs,
    /// For a delivered reply that was ignored: the first check that it failed.
    pub ignored: Option<Check>,
    /// The witnesses that this step is one of, one bit each, by their place in [`super::properties::WITNESSES`].
    pub witnessed: u64,
}
