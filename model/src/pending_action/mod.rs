//! The pending actions of the Agents API.
//!
//! Where to read: [`words`], [`message`], [`journal`] and [`state`] name the things, [`known`] what follows from records and
//! [`outbox`] what is to be carried out; [`action`] and [`enabled`] what can happen, [`rules`] what is forbidden,
//! [`validate`] the checks of a decision, [`step`] and [`consequences`] what follows, [`environment`] what comes from
//! outside, [`readings`] where the text can be taken in more than one way, [`bounds`] how far the search goes, [`quotient`]
//! what it forgets, [`judge`] is the text as obligations, for any number of actions, [`told`] what it is told of a step; this
//! file ties them together.
//!
//! What the host promises:
//!
//! - It carries out what it is given in order and one thing at a time, and drops at once what is withdrawn.
//! - Its watermark moves only when its outbox is empty. It may lag behind what is carried out, and never runs ahead of it.
//! - It keeps a snapshot, and loads one, only when every record that was put out is durable, so that no crash takes back what
//!   a snapshot holds.
//! - It reports a result once no run of the call waits, and `not_run` only of a call that it knows never began. That a run was
//!   withdrawn is not enough: one that was released again after a crash may have begun before it. Such a call stays in doubt
//!   until the host has found out what became of it, and the ledger says so at every restart.
//!
//! What is not in the model: the canonical form of arguments (PA-3), the ids and nonces themselves (PA-1), and how far the
//! contract suits other products (PA-12), which are functions and not steps.

pub mod action;
pub mod bounds;
mod consequences;
pub mod describe;
mod enabled;
mod environment;
pub mod journal;
pub mod judge;
pub mod known;
pub mod message;
pub mod numbers;
pub mod outbox;
pub mod output;
mod quotient;
pub mod readings;
pub mod rules;
mod seen;
pub mod state;
pub mod step;
pub mod text;
pub mod told;
mod validate;
pub mod wire;
pub mod words;

use crate::checker::StepText;
use crate::judge::Name;
use crate::numbers::Number;
use crate::properties::PropertyRow;
use crate::specification::{Modelled, Specification, Taken};

use action::Action;
use bounds::Bounds;
use judge::PendingActionJudge;
use numbers::NUMBERS;
use readings::{PLACES, Place, Reading};
use rules::Guard;
use state::State;
use told::Told;

/// The model: a ledger of pending actions in a hostile world.
pub type PendingAction = Specification<PendingActionProtocol>;

/// What the contract of pending actions comes to.
#[derive(Clone, Copy, Debug)]
pub struct PendingActionProtocol;

impl Modelled for PendingActionProtocol {
    type State = State;
    type Action = Action;
    type Bounds = Bounds;
    type Guard = Guard;
    type Reading = Reading;
    type Judge = PendingActionJudge;

    const NAME: &'static str = "pending-action";
    const PLACES: &'static [Place] = &PLACES;
    const NUMBERS: &'static [Number<Reading>] = &NUMBERS;
    const NAMES: &'static [Name] = told::NAMES;
    const PROPERTIES: &'static [PropertyRow] = rules::PROPERTIES;
    const WITNESSES: &'static [PropertyRow] = rules::WITNESSES;
    /// What runs twice was recorded, told and run before the crash: that alone takes ten steps.
    const LONGEST: usize = 13;

    fn start(bounds: &Bounds) -> State {
        State::start(bounds.disturbances)
    }

    fn enabled(model: &PendingAction, state: &State, actions: &mut Vec<Action>) {
        model.enabled(state, actions);
    }

    fn judge(model: &PendingAction) -> PendingActionJudge {
        PendingActionJudge::new(model.reading)
    }

    fn take(
        model: &PendingAction,
        state: &State,
        action: Action,
        wanted: u128,
    ) -> Option<Taken<Self>> {
        let step = model.step_to_witness(state, action, wanted)?;
        Some(Taken {
            next: step.next,
            witnessed: step.witnessed,
            told: Told::of(model, state, action, &step),
        })
    }

    fn quotient_of(model: &PendingAction, state: &State) -> State {
        model.quotient_of(state)
    }

    fn describe(model: &PendingAction, before: &State, action: Action, after: &State) -> StepText {
        describe::describe(model, before, action, after)
    }

    fn changes(before: &State, after: &State) -> Vec<String> {
        describe::changes(before, after)
    }
}
