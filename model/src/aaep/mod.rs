//! The confirmation protocol of AAEP: chapter 6, the parts of appendix A that bear on it, and the reply schema.
//!
//! Where to read: [`words`], [`message`] and [`state`] name the things, [`action`], [`enabled`] and [`asks`] what can happen,
//! [`rules`] what is forbidden, [`validate`] and [`resolve`] the heart of it, [`step`] what follows, [`marks`] and
//! [`properties`] what is held to be true, [`readings`] where the text can be taken in more than one way, [`bounds`] how far
//! the search goes, [`quotient`] what it forgets, [`judge`] the text as a predicate on calls and outputs, [`told`] what it is
//! told of a step; this file ties them together.

pub mod action;
mod asks;
pub mod bounds;
pub mod describe;
mod enabled;
pub mod judge;
mod marks;
pub mod message;
pub mod output;
pub mod properties;
mod quotient;
pub mod readings;
mod resolve;
pub mod rules;
pub mod state;
pub mod step;
pub mod told;
mod validate;
mod witness;
pub mod words;

use crate::checker::StepText;
use crate::specification::{Modelled, Specification};

use action::Action;
use bounds::Bounds;
use properties::{Invariant, Witness};
use readings::{PLACES, Place, Reading};
use rules::Guard;
use state::State;

/// The model: a producer of confirmations in a hostile world.
pub type Aaep = Specification<AaepProtocol>;

/// What the confirmation protocol of AAEP comes to.
#[derive(Clone, Copy, Debug)]
pub struct AaepProtocol;

impl Modelled for AaepProtocol {
    type State = State;
    type Action = Action;
    type Bounds = Bounds;
    type Guard = Guard;
    type Reading = Reading;
    type Invariant = Invariant;
    type Witness = Witness;

    const NAME: &'static str = "aaep";
    const PLACES: &'static [Place] = &PLACES;

    fn start(bounds: &Bounds) -> State {
        State::start(bounds.disturbances)
    }

    fn enabled(model: &Aaep, state: &State, actions: &mut Vec<Action>) {
        model.enabled(state, actions);
    }

    fn take(model: &Aaep, state: &State, action: Action) -> Option<(State, u64)> {
        let step = model.step(state, action)?;
        Some((step.next, step.witnessed))
    }

    fn quotient_of(model: &Aaep, state: &State) -> State {
        model.quotient_of(state)
    }

    /// Whether a notice may come out concerns no state, so that this choice keeps the quotient.
    fn quotient_serves(reading: &Reading) -> bool {
        let courtesy_notice = Reading::SPECIFICATION.courtesy_notice;
        let specified = Reading {
            courtesy_notice,
            ..*reading
        };
        specified == Reading::SPECIFICATION
    }

    fn broken(state: &State) -> u64 {
        state.broken
    }

    fn describe(model: &Aaep, before: &State, action: Action, after: &State) -> StepText {
        describe::describe(model, before, action, after)
    }

    fn changes(before: &State, after: &State) -> Vec<String> {
        describe::changes(before, after)
    }
}
