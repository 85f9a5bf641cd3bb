//! A protocol as a model: what every protocol has to say, and the one thing that every search works on.
//!
//! The one thing to know: a protocol moves in by implementing [`Modelled`] in the `mod.rs` of its folder, and
//! [`Specification`] is that text within bounds, with the rules in force and the reading taken. Nothing outside of a
//! protocol's folder asks which protocol it is.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stateright::{Model, Property};

use crate::ablation;
use crate::bounds::{self, Bounds, BoundsError};
use crate::checker::StepText;
use crate::properties::{InvariantRow, WitnessRow};
use crate::readings::{self, Place, ReadingError};
use crate::rules::{Guards, Rules};
use crate::table::Tabled;

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
    /// Something that holds in every run; it is judged in the steps.
    type Invariant: Tabled<Row = InvariantRow<Self::Invariant, Self::Witness>>;
    /// Something that has to be possible.
    type Witness: Tabled<Row = WitnessRow<Self::Witness>>;

    /// The protocol's name on the command line.
    const NAME: &'static str;
    /// The places that can be taken in more than one way.
    const PLACES: &'static [Place<Self::Reading>];

    /// The longest runs of a party with a rule left out that are looked at, in steps.
    const LONGEST: usize = ablation::LONGEST;

    /// The state in which every run begins.
    fn start(bounds: &Self::Bounds) -> Self::State;

    /// Adds every enabled action, in an order that depends on the state alone.
    fn enabled(model: &Specification<Self>, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// The state that follows, not yet quotiented, and what the step witnesses, as a mask; nothing if the action is not
    /// enabled.
    fn take(
        model: &Specification<Self>,
        state: &Self::State,
        action: Self::Action,
    ) -> Option<(Self::State, u64)>;

    /// The state that stands for all that no later step can tell from this one.
    fn quotient_of(model: &Specification<Self>, state: &Self::State) -> Self::State;

    /// Whether the quotient, which is made for the specification, serves this reading.
    fn quotient_serves(reading: &Self::Reading) -> bool {
        *reading == Self::Reading::default()
    }

    /// The invariants that were broken on the way to this state, as a mask.
    fn broken(state: &Self::State) -> u64;

    /// A step in words; `after` is the state that the search went on from.
    fn describe(
        model: &Specification<Self>,
        before: &Self::State,
        action: Self::Action,
        after: &Self::State,
    ) -> StepText;

    /// What differs between two states, in words.
    fn changes(before: &Self::State, after: &Self::State) -> Vec<String>;
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
    /// What was witnessed so far, by all clones of the model together.
    witnessed: Arc<AtomicU64>,
}

impl<T: Modelled> Specification<T> {
    /// The specification within these bounds, quotiented.
    ///
    /// # Errors
    ///
    /// A bound that is out of its range.
    pub fn new(bounds: T::Bounds) -> Result<Self, BoundsError> {
        bounds::within(&bounds)?;
        Ok(Self {
            bounds,
            rules: Rules::all(),
            reading: T::Reading::default(),
            quotient: true,
            witnessed: Arc::default(),
        })
    }

    /// The preset of this name.
    ///
    /// # Errors
    ///
    /// An unknown name; the message lists the names that there are.
    pub fn preset(name: &str) -> Result<T::Bounds, BoundsError> {
        bounds::preset(name)
    }

    /// The default reading, changed as each of the `name=value` says.
    ///
    /// # Errors
    ///
    /// No equals sign, an unknown name, or a value that the place does not have; the message lists what there is.
    pub fn reading<'a>(
        assignments: impl IntoIterator<Item = &'a str>,
    ) -> Result<T::Reading, ReadingError<T::Reading>> {
        let mut reading = T::Reading::default();
        for assignment in assignments {
            readings::choose(T::PLACES, &mut reading, assignment)?;
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
            witnessed: Arc::default(),
        }
    }

    /// Whether it departs from the specification: a rule is left out, or another reading is taken.
    pub fn departs(&self) -> bool {
        !self.rules.is_complete() || self.reading != T::Reading::default()
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

    /// The state that the search goes on from, and what the step witnesses; nothing if the action is not enabled.
    pub fn take(&self, state: &T::State, action: T::Action) -> Option<(T::State, u64)> {
        let (next, witnessed) = T::take(self, state, action)?;
        Some((self.reduced(&next), witnessed))
    }

    /// What was witnessed by every exhaustive search with this model so far.
    pub fn witnessed(&self) -> u64 {
        self.witnessed.load(Ordering::Relaxed)
    }

    /// A step in words; `after` is the state that the search went on from.
    pub fn describe(&self, before: &T::State, action: T::Action, after: &T::State) -> StepText {
        T::describe(self, before, action, after)
    }

    /// A step in words, with what it changes; one that is not enabled changes nothing.
    pub fn in_words(&self, before: &T::State, action: T::Action) -> StepText {
        let after = self.take(before, action);
        let after = after.map_or(*before, |(after, _)| after);
        self.describe(before, action, &after)
    }
}

impl<T: Modelled> Model for Specification<T> {
    type State = T::State;
    type Action = T::Action;

    fn init_states(&self) -> Vec<T::State> {
        vec![self.start()]
    }

    fn actions(&self, state: &T::State, actions: &mut Vec<T::Action>) {
        T::enabled(self, state, actions);
    }

    fn next_state(&self, state: &T::State, action: T::Action) -> Option<T::State> {
        let (next, witnessed) = self.take(state, action)?;
        // Almost every step shows what was seen before; reading is then all that the threads have to share.
        if witnessed & !self.witnessed() != 0 {
            self.witnessed.fetch_or(witnessed, Ordering::Relaxed);
        }
        Some(next)
    }

    /// One property carries all invariants: looking each up at every state would cost more than the step itself.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every invariant holds", |_, state| {
            T::broken(state) == 0
        })]
    }
}
