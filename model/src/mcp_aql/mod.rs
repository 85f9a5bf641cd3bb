//! The confirmation tokens of MCP-AQL.
//!
//! Where to read: [`words`], [`message`] and [`state`] name the things, [`action`] and [`enabled`] what can happen,
//! [`rules`] what is forbidden, [`validate`] the heart of it, [`step`] and [`introspect`] what follows, [`judge`] and
//! [`properties`] what is held to be true, [`readings`] where the text can be taken in more than one way, [`bounds`] how far
//! the search goes, [`quotient`] what it forgets, [`oracle`] which clause an output keeps or breaks, [`ablation`] what each
//! rule is worth and what the samples of the text leave out.
//!
//! What is not in the model: rate limits (AQL-6.5-1) and capacity (AQL-5.5-3), which are numbers far beyond its bounds; that
//! a token is purged within the hour (AQL-5.5-2), of which it knows only that nothing is purged too early; the grammar and
//! the entropy of tokens, the canonical form of parameters, and signatures, which are functions and not steps.

pub mod ablation;
pub mod action;
pub mod bounds;
pub mod describe;
mod enabled;
mod introspect;
mod judge;
pub mod message;
mod oracle;
pub mod output;
pub mod properties;
mod quotient;
pub mod readings;
pub mod rules;
pub mod state;
pub mod step;
mod validate;
mod witness;
pub mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stateright::Property;

use crate::ablation::Ablatable;
use crate::checker::{PropertyText, Protocol, StepText};

use action::Action;
use bounds::{Bounds, BoundsError};
use readings::Reading;
use rules::{Guard, Rules};
use state::State;

/// The model: a gatekeeper of operations in a hostile world.
#[derive(Clone, Debug)]
pub struct McpAql {
    /// How far it goes.
    pub bounds: Bounds,
    /// Which rules the gatekeeper keeps.
    pub rules: Rules,
    /// How the text is taken.
    pub reading: Reading,
    /// Whether data that can no longer matter leaves the state.
    pub quotient: bool,
    /// What was witnessed so far, by all clones of the model together.
    witnessed: Arc<AtomicU64>,
}

impl McpAql {
    /// The specification within these bounds, quotiented.
    ///
    /// # Errors
    ///
    /// A bound that is out of its range.
    pub fn new(bounds: Bounds) -> Result<Self, BoundsError> {
        bounds.validate()?;
        Ok(Self {
            bounds,
            rules: Rules::all(),
            reading: Reading::SPECIFICATION,
            quotient: true,
            witnessed: Arc::default(),
        })
    }

    /// The same with other rules or another reading: literal, because the quotient holds for the specification alone.
    #[must_use]
    pub fn with(&self, rules: Rules, reading: Reading) -> Self {
        let specified = reading == Reading::SPECIFICATION;
        Self {
            rules,
            reading,
            quotient: self.quotient && rules.is_complete() && specified,
            witnessed: Arc::default(),
            ..self.clone()
        }
    }

    /// The same without the quotient.
    #[must_use]
    pub fn literal(&self) -> Self {
        Self {
            quotient: false,
            witnessed: Arc::default(),
            ..self.clone()
        }
    }

    /// The state that a search goes on from: the quotient, where the model has one.
    #[must_use]
    pub fn reduced(&self, state: &State) -> State {
        if self.quotient {
            self.quotient_of(state)
        } else {
            *state
        }
    }

    /// The start.
    pub fn start(&self) -> State {
        self.reduced(&State::start(self.bounds.budgets()))
    }
}

impl stateright::Model for McpAql {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.start()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.enabled(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let step = self.step(state, action)?;
        if step.witnessed & !self.witnessed.load(Ordering::Relaxed) != 0 {
            self.witnessed.fetch_or(step.witnessed, Ordering::Relaxed);
        }
        Some(self.reduced(&step.next))
    }

    /// One property carries all invariants: looking each up at every state would cost more than the step itself.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(
            "every invariant holds",
            |_, state: &State| state.broken == 0,
        )]
    }
}

impl Protocol for McpAql {
    fn invariants(&self) -> Vec<PropertyText> {
        properties::INVARIANTS
            .iter()
            .map(PropertyText::from)
            .collect()
    }

    fn witnesses(&self) -> Vec<PropertyText> {
        properties::WITNESSES
            .iter()
            .map(PropertyText::from)
            .collect()
    }

    fn broken(&self, state: &State) -> u64 {
        state.broken
    }

    fn take(&self, state: &State, action: Action) -> Option<(State, u64)> {
        let step = self.step(state, action)?;
        Some((self.reduced(&step.next), step.witnessed))
    }

    fn witnessed(&self) -> u64 {
        self.witnessed.load(Ordering::Relaxed)
    }

    fn describe(&self, before: &State, action: Action, after: &State) -> StepText {
        McpAql::describe(self, before, action, after)
    }
}

impl Ablatable for McpAql {
    type Guard = Guard;

    fn keeping(&self, rules: Rules) -> Self {
        self.with(rules, Reading::SPECIFICATION)
    }
}
