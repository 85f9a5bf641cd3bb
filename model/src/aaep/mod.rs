//! The confirmation protocol of AAEP: chapter 6, the parts of appendix A that bear on it, and the reply schema.
//!
//! Where to read: [`words`], [`message`] and [`state`] name the things, [`action`], [`enabled`] and [`asks`] what can happen,
//! [`rules`] what is forbidden, [`validate`] and [`resolve`] the heart of it, [`step`] what follows, [`judge`] and [`properties`] what is held to be true, [`readings`]
//! where the text can be taken in more than one way, [`bounds`] how far the search goes, [`quotient`] what it forgets.

pub mod ablation;
pub mod action;
mod asks;
pub mod bounds;
pub mod describe;
mod enabled;
mod judge;
pub mod message;
mod oracle;
pub mod output;
pub mod properties;
mod quotient;
pub mod readings;
mod resolve;
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

/// The model: a producer of confirmations in a hostile world.
#[derive(Clone, Debug)]
pub struct Aaep {
    /// How far it goes.
    pub bounds: Bounds,
    /// Which rules the producer keeps.
    pub rules: Rules,
    /// How the text is taken.
    pub reading: Reading,
    /// Whether data that can no longer matter leaves the state.
    pub quotient: bool,
    /// What was witnessed so far, by all clones of the model together.
    witnessed: Arc<AtomicU64>,
}

impl Aaep {
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
    /// Whether a notice may come out concerns no state, so that choice keeps the quotient.
    #[must_use]
    pub fn with(&self, rules: Rules, reading: Reading) -> Self {
        let courtesy_notice = Reading::SPECIFICATION.courtesy_notice;
        let specified = Reading {
            courtesy_notice,
            ..reading
        } == Reading::SPECIFICATION;
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

impl stateright::Model for Aaep {
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

impl Protocol for Aaep {
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
        Aaep::describe(self, before, action, after)
    }
}

impl Ablatable for Aaep {
    type Guard = Guard;

    fn keeping(&self, rules: Rules) -> Self {
        self.with(rules, Reading::SPECIFICATION)
    }
}
