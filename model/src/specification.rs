//! A protocol as a model: what every protocol has to say, and the one thing that every search works on.
//!
//! The one thing to know: a protocol moves in by implementing [`Modelled`] in the `mod.rs` of its folder, and
//! [`Specification`] is that text within bounds, with the rules in force and the reading taken. Nothing outside of a
//! protocol's folder asks which protocol it is.

use std::fmt::Debug;
use std::hash::Hash;

use crate::ablation;
use crate::bounds::{self, Bounds, BoundsError};
use crate::checker::StepText;
use crate::judge::Name;
use crate::judged::{InSearch, Told};
use crate::numbers::Number;
use crate::properties::PropertyRow;
use crate::readings::{self, Place, ReadingError};
use crate::rules::{Guards, Rules};

/// What one protocol's text comes to.
pub trait Modelled: Clone + Debug + Send + Sync + Sized + 'static {
    /// A state of the world; small and copied.
    type State: Copy + Debug + Eq + Hash + Send + Sync;
    /// A step of the world.
    type Action: Copy + Debug + Eq + Send + Sync;
    /// How far a search goes.
    type Bounds: Bounds;
    /// A rule.
    type Guard: Guards;
    /// One choice for every place that can be taken in more than one way; by default the specification's.
    type Reading: Copy + Debug + Default + PartialEq + Send + Sync;
    /// Who says what a step breaks: the text as a predicate on calls and outputs.
    type Judge: InSearch;

    /// The protocol's name on the command line.
    const NAME: &'static str;
    /// The places that can be taken in more than one way.
    const PLACES: &'static [Place<Self::Reading>];
    /// The numbers of the text; those that can be changed are a part of the reading.
    const NUMBERS: &'static [Number<Self::Reading>];

    /// What holds in every run, as the judge says. Of rows with the same chief clause the first is meant.
    const PROPERTIES: &'static [PropertyRow];
    /// What has to be possible. At most 127.
    const WITNESSES: &'static [PropertyRow];

    /// The longest runs of a party with a rule left out that are looked at, in steps.
    const LONGEST: usize = ablation::LONGEST;

    /// Of what the text guarantees, what no property states: the clause, and what of it is not looked at.
    const UNSTATED: &[(&str, &str)] = &[];

    /// What a run spends steps on in these bounds that the same run of the text need not: why a shortest run may begin with more than
    /// bears on its end.
    const SHORTEST: Option<&str> = None;

    /// How the text is taken within these bounds, unless somebody takes it otherwise.
    fn reading_within(_bounds: &Self::Bounds) -> Self::Reading {
        Self::Reading::default()
    }

    /// The state in which every run begins.
    fn start(bounds: &Self::Bounds) -> Self::State;

    /// Adds every enabled action, in an order that depends on the state alone.
    fn enabled(model: &Specification<Self>, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// The judge of a party as it is at the start, by the reading of the model.
    fn judge(model: &Specification<Self>) -> Self::Judge;

    /// The same judge, who names what is only recommended too; nothing where the model has nothing of the kind.
    fn advising(_model: &Specification<Self>) -> Option<Self::Judge> {
        None
    }

    /// What the action leads to, and of the wanted witnesses those that it is one of; nothing if it is not enabled.
    fn take(
        model: &Specification<Self>,
        state: &Self::State,
        action: Self::Action,
        wanted: u128,
    ) -> Option<Taken<Self>>;

    /// What is seen where something comes out besides that may and need not, one thing at a time; no state depends on it.
    fn besides(_: &Specification<Self>, _: &Self::State, _: Self::Action) -> Vec<Told<Self>> {
        Vec::new()
    }

    /// Whether the call asks for what the text says that it may be, or should not, and is refused: nobody has to support what is only
    /// permitted, though a judge expects of whoever is asked for it that it is done.
    fn may_be_refused(_: &Specification<Self>, _: Told<Self>) -> bool {
        false
    }

    /// The state that stands for all that no later step can tell from this one.
    fn quotient_of(model: &Specification<Self>, state: &Self::State) -> Self::State;

    /// Whether the quotient, which is made for the specification, serves this reading.
    fn quotient_serves(reading: &Self::Reading) -> bool {
        *reading == Self::Reading::default()
    }

    /// A step in words; `after` is the state that the search went on from.
    fn describe(
        model: &Specification<Self>,
        before: &Self::State,
        action: Self::Action,
        after: &Self::State,
    ) -> StepText;

    /// How the steps of a run call what the judge has a number for.
    const NAMES: &'static [Name];

    /// What differs between two states, in words.
    fn changes(before: &Self::State, after: &Self::State) -> Vec<String>;
}

/// What an action leads to.
#[derive(Clone, Copy, Debug)]
pub struct Taken<T: Modelled> {
    /// The state that follows, not yet quotiented.
    pub next: T::State,
    /// The witnesses that the step is one of, as a mask over their places.
    pub witnessed: u128,
    /// What the judge is told of the step, if it is a call.
    pub told: Option<Told<T>>,
}

/// The model of one protocol, ready to be searched.
#[derive(Clone, Debug)]
pub struct Specification<T: Modelled> {
    /// How far it goes.
    pub bounds: T::Bounds,
    /// Which rules are kept.
    pub rules: Rules<T::Guard>,
    /// How the text is taken.
    pub reading: T::Reading,
    /// Whether data that can no longer matter leaves the state.
    pub quotient: bool,
}

impl<T: Modelled> Specification<T> {
    /// The specification within these bounds, quotiented where the quotient serves how the text is taken there.
    ///
    /// # Errors
    ///
    /// A bound that is out of its range.
    pub fn new(bounds: T::Bounds) -> Result<Self, BoundsError> {
        bounds::within(bounds)?;
        let reading = T::reading_within(&bounds);
        Ok(Self {
            bounds,
            rules: Rules::all(),
            reading,
            quotient: T::quotient_serves(&reading),
        })
    }

    /// The preset of this name, changed as it says behind the name: `small,crash=2`.
    ///
    /// # Errors
    ///
    /// An unknown name, with the names that there are; a change that is no change, or that is made twice.
    pub fn preset(name: &str) -> Result<T::Bounds, BoundsError> {
        bounds::preset(name)
    }

    /// The default reading, changed as each of the `name=value` says.
    ///
    /// # Errors
    ///
    /// No equals sign, an unknown name, a value that the place does not have, or two values for one place; the message lists what
    /// there is.
    pub fn reading<'a>(
        assignments: impl IntoIterator<Item = &'a str>,
    ) -> Result<T::Reading, ReadingError<T::Reading>> {
        Self::reading_from(T::Reading::default(), assignments)
    }

    /// The same of another reading.
    ///
    /// # Errors
    ///
    /// As of the default one.
    pub fn reading_from<'a>(
        mut reading: T::Reading,
        assignments: impl IntoIterator<Item = &'a str>,
    ) -> Result<T::Reading, ReadingError<T::Reading>> {
        for (_, choice) in readings::chosen(T::PLACES, assignments)? {
            (choice.set)(&mut reading);
        }
        Ok(reading)
    }

    /// The same with other rules or another reading: literal, unless the quotient serves them too.
    #[must_use]
    pub fn with(&self, rules: Rules<T::Guard>, reading: T::Reading) -> Self {
        Self {
            bounds: self.bounds,
            rules,
            reading,
            quotient: self.quotient && rules.is_complete() && T::quotient_serves(&reading),
        }
    }

    /// Whether it departs from the specification: a rule is left out, or another reading is taken than that of the bounds.
    pub fn departs(&self) -> bool {
        !self.rules.is_complete() || self.reading != T::reading_within(&self.bounds)
    }

    /// The same without the quotient.
    #[must_use]
    pub fn literal(&self) -> Self {
        Self {
            quotient: false,
            ..self.clone()
        }
    }

    /// Whether what needs so many of something shows within these bounds ([`Bounds::shows`]); what needs nothing always does.
    pub fn shows(&self, with: Option<&str>) -> bool {
        with.is_none_or(|many| self.bounds.shows(many))
    }

    /// The same within bounds in which that shows.
    #[must_use]
    pub fn showing(&self, with: Option<&str>) -> Self {
        let mut showing = self.clone();
        if let Some(many) = with {
            showing.bounds = self.bounds.showing(many);
        }
        showing
    }

    /// The start.
    pub fn start(&self) -> T::State {
        self.reduced(&T::start(&self.bounds))
    }

    /// The state that a search goes on from: the quotient, where the model has one.
    #[must_use]
    pub fn reduced(&self, state: &T::State) -> T::State {
        if self.quotient {
            T::quotient_of(self, state)
        } else {
            *state
        }
    }

    /// The state that the search goes on from; nothing if the action is not enabled.
    pub fn take(&self, state: &T::State, action: T::Action) -> Option<T::State> {
        Some(self.reduced(&T::take(self, state, action, 0)?.next))
    }

    /// Adds every enabled action, in an order that depends on the state alone.
    pub fn actions(&self, state: &T::State, actions: &mut Vec<T::Action>) {
        T::enabled(self, state, actions);
    }

    /// A step in words; `after` is the state that the search went on from.
    pub fn describe(&self, before: &T::State, action: T::Action, after: &T::State) -> StepText {
        T::describe(self, before, action, after)
    }

    /// A step in words, with what it changes; one that is not enabled changes nothing.
    pub fn in_words(&self, before: &T::State, action: T::Action) -> StepText {
        let after = self.take(before, action).unwrap_or(*before);
        self.describe(before, action, &after)
    }
}
