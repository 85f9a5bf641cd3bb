//! The confirmation protocol of AAEP: chapter 6 with its clarifications, the parts of appendix A that bear on it, and the reply schema.
//!
//! Where to read: [`words`], [`message`] and [`state`] name the things, [`action`], [`enabled`] and [`asks`] what can happen,
//! [`rules`] what the text says of it, clause by clause, [`validate`] and [`resolve`] the heart of it, [`step`] what follows
//! [`work`] what goes on around the questions, and [`environment`] what comes from outside, [`readings`] where the text can be taken in more than one way, [`numbers`] what it counts, [`bounds`] how
//! far the search goes, [`quotient`] what it forgets; [`judge`] is the text as a predicate on calls and outputs, for any
//! number of questions and to the millisecond, [`told`] what it is told of a step; [`text`] is the text as one
//! function, which takes the place of all these; this file ties them together.

pub mod action;
mod asks;
pub mod bounds;
pub mod describe;
mod enabled;
mod environment;
pub mod judge;
pub mod message;
pub mod numbers;
pub mod output;
mod quotient;
pub mod readings;
mod resolve;
pub mod rules;
mod seen;
pub mod state;
pub mod step;
pub mod text;
pub mod told;
mod validate;
pub mod words;
mod work;

use crate::checker::StepText;
use crate::judge::Name;
use crate::judged::CallTold as _;
use crate::numbers::Number;
use crate::properties::PropertyRow;
use crate::specification::{Modelled, Specification, Taken};

use action::Action;
use bounds::Bounds;
use judge::AaepJudge;
use numbers::NUMBERS;
use output::Output;
use readings::{PLACES, Place, Reading};
use rules::{Guard, Refusal};
use state::State;
use told::{Asked, Told};

/// The model: a producer of confirmations and clarifications in a hostile world.
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
    type Judge = AaepJudge;

    const UNSTATED: &[(&str, &str)] = &[(
        "AAEP-6.9-1",
        "that a sender is authorised to decide, and not only authenticated",
    )];
    const SHORTEST: Option<&str> = Some(
        "within these bounds, where asking before all sessions and subscriptions are there is a disturbance of its own",
    );
    const NAME: &'static str = "aaep";
    // Four of them are those in which everybody comes.
    const LONGEST: usize = 10;
    const PLACES: &'static [Place] = &PLACES;
    const NUMBERS: &'static [Number<Reading>] = &NUMBERS;
    const NAMES: &'static [Name] = told::NAMES;
    const PROPERTIES: &'static [PropertyRow] = rules::PROPERTIES;
    const WITNESSES: &'static [PropertyRow] = rules::WITNESSES;

    fn start(bounds: &Bounds) -> State {
        State::start(bounds.disturbances)
    }

    fn enabled(model: &Aaep, state: &State, actions: &mut Vec<Action>) {
        model.enabled(state, actions);
    }

    fn judge(model: &Aaep) -> AaepJudge {
        told::judge(model)
    }

    fn advising(model: &Aaep) -> Option<AaepJudge> {
        Some(told::judge(model).advising())
    }

    fn take(model: &Aaep, state: &State, action: Action, wanted: u128) -> Option<Taken<Self>> {
        let step = model.step_to_witness(state, action, wanted)?;
        Some(Taken {
            next: step.next,
            witnessed: step.witnessed,
            told: Told::of(model, state, action, &step),
        })
    }

    fn besides(model: &Aaep, state: &State, action: Action) -> Vec<Told> {
        let told = model.step(state, action).and_then(|step| {
            let told = Told::of(model, state, action, &step)?;
            Some((told, step))
        });
        told.map_or_else(Vec::new, |(told, step)| {
            let with = |it| [step.required.as_slice(), &[it]].concat();
            let optional = step.optional.iter();
            optional
                .filter_map(|it| told.putting_out(&with(it)))
                .collect()
        })
    }

    // AAEP-6.4.1-3 to AAEP-6.4.1-6: a default of accept is a MAY, or against a SHOULD.
    fn may_be_refused(model: &Aaep, told: Told) -> bool {
        let is_of_default = |output| {
            matches!(
                output,
                Output::Refused(
                    Refusal::DefaultOfHighRisk
                        | Refusal::DefaultOfMediumRisk
                        | Refusal::DefaultOfLowRisk
                        | Refusal::DefaultOfReversibleHighRisk
                        | Refusal::DefaultOfReversibleMediumRisk
                        | Refusal::DefaultOfReversibleLowRisk
                )
            )
        };
        matches!(told.call, Asked::Confirm { class, .. } if !class.forbids_default_accept(model.reading.numbers))
            && told.outputs().iter().copied().any(is_of_default)
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

    fn describe(model: &Aaep, before: &State, action: Action, after: &State) -> StepText {
        describe::describe(model, before, action, after)
    }

    fn changes(before: &State, after: &State) -> Vec<String> {
        describe::changes(before, after)
    }
}
