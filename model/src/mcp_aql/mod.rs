//! The confirmation tokens of MCP-AQL.
//!
//! Where to read: [`words`], [`message`] and [`state`] name the things, [`action`] and [`enabled`] what can happen, [`rules`]
//! what the text says of it, clause by clause, [`validate`] the heart of it, [`step`] and [`introspect`] what follows,
//! [`environment`] what comes from outside, [`readings`] where the text can be taken in more than one way, [`numbers`] what it counts, [`bounds`] how far
//! the search goes, [`quotient`] what it forgets; [`judge`] is the text as obligations, for any number of tokens and to the
//! millisecond, and shares none of that but the readings, [`told`] what it is told of a step; [`text`] is the text as one function, which takes the place
//! of all these; this file ties them together.
//!
//! What is not in the model: that what was tried too often may be tried again in time (AQL-6.5-1), of which the judge knows; that
//! a token is purged within the hour (AQL-5.5-2), of which it knows only that nothing is purged too early; the grammar and the entropy of tokens, the canonical form of parameters, and signatures,
//! which are functions and not steps.

pub mod action;
pub mod bounds;
pub mod describe;
mod enabled;
mod environment;
mod introspect;
pub mod judge;
pub mod message;
pub mod numbers;
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
pub mod words;

use crate::checker::StepText;
use crate::judge::Name;
use crate::judged::CallTold as _;
use crate::numbers::Number;
use crate::properties::PropertyRow;
use crate::specification::{Modelled, Specification, Taken};

use action::Action;
use bounds::Bounds;
use judge::TokenJudge;
use numbers::NUMBERS;
use output::Output;
use readings::{PLACES, Place, Reading};
use rules::{Guard, Refusal};
use state::State;
use told::Told;

/// The model: a gatekeeper of operations in a hostile world.
pub type McpAql = Specification<McpAqlProtocol>;

/// What the specification of the confirmation tokens comes to.
#[derive(Clone, Copy, Debug)]
pub struct McpAqlProtocol;

impl Modelled for McpAqlProtocol {
    type State = State;
    type Action = Action;
    type Bounds = Bounds;
    type Guard = Guard;
    type Reading = Reading;
    type Judge = TokenJudge;

    const NAME: &'static str = "mcp-aql";
    const PLACES: &'static [Place] = &PLACES;
    const NUMBERS: &'static [Number<Reading>] = &NUMBERS;
    const NAMES: &'static [Name] = told::NAMES;
    const PROPERTIES: &'static [PropertyRow] = rules::PROPERTIES;
    const WITNESSES: &'static [PropertyRow] = rules::WITNESSES;

    fn reading_within(bounds: &Bounds) -> Reading {
        Reading {
            token_storage: bounds.token_storage(),
            ..Reading::SPECIFICATION
        }
    }

    fn start(bounds: &Bounds) -> State {
        State::start(bounds.disturbances)
    }

    fn enabled(model: &McpAql, state: &State, actions: &mut Vec<Action>) {
        model.enabled(state, actions);
    }

    fn judge(model: &McpAql) -> TokenJudge {
        told::judge(model)
    }

    fn take(model: &McpAql, state: &State, action: Action, wanted: u128) -> Option<Taken<Self>> {
        let step = model.step_to_witness(state, action, wanted)?;
        Some(Taken {
            next: step.next,
            witnessed: step.witnessed,
            told: Told::of(model, state, action, &step),
        })
    }

    /// What a gatekeeper puts out that has purged the token already.
    fn besides(model: &McpAql, state: &State, action: Action) -> Vec<Told> {
        let besides = model.step(state, action).and_then(|step| {
            let told = Told::of(model, state, action, &step)?;
            told.putting_out(step.instead?.as_slice())
        });
        besides.into_iter().collect()
    }

    // AQL-5.4-1: several uses MAY be supported.
    fn may_be_refused(_: &McpAql, told: Told) -> bool {
        let of_uses = |output: &Output| {
            matches!(
                output,
                Output::Refused(Refusal::ManyUses | Refusal::LooseMultiUse)
            )
        };
        told.outputs().iter().any(of_uses)
    }

    fn quotient_of(model: &McpAql, state: &State) -> State {
        model.quotient_of(state)
    }

    fn describe(model: &McpAql, before: &State, action: Action, after: &State) -> StepText {
        describe::describe(model, before, action, after)
    }

    fn changes(before: &State, after: &State) -> Vec<String> {
        describe::changes(before, after)
    }
}
