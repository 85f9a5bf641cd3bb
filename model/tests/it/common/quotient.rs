//! An exhaustive proof, within bounds, that a quotient forgets nothing that matters.
//!
//! For every state `s` of the literal graph, `s` and its quotient `q(s)` offer the same steps, and `q(q(s)) = q(s)`. What
//! can be observed of a step is for the protocol to say: who does what, what comes out, which invariants are broken, and the
//! quotient of the state that follows.

use countersign_model::bounds::Bounds;
use countersign_model::specification::{Modelled, Specification};
use stateright::{Checker, Model, Property};

use super::within;

/// What can be observed of one step of a model; nothing if it is not enabled.
type Observe<T, L> =
    fn(&Specification<T>, &<T as Modelled>::State, <T as Modelled>::Action) -> Option<L>;

/// The literal model; its one property is that a state and its quotient offer the same steps.
#[derive(Clone)]
struct Literal<T: Modelled, L> {
    model: Specification<T>,
    observe: Observe<T, L>,
}

impl<T: Modelled, L: Ord> Literal<T, L> {
    /// Every step that the state offers, as it can be observed.
    fn offered(&self, state: &T::State) -> Vec<L> {
        let mut actions = Vec::new();
        self.model.actions(state, &mut actions);
        let mut steps: Vec<L> = actions
            .iter()
            .filter_map(|&action| (self.observe)(&self.model, state, action))
            .collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }
}

impl<T: Modelled, L: Ord> Model for Literal<T, L> {
    type State = T::State;
    type Action = T::Action;

    fn init_states(&self) -> Vec<T::State> {
        vec![self.model.start()]
    }

    fn actions(&self, state: &T::State, actions: &mut Vec<T::Action>) {
        self.model.actions(state, actions);
    }

    fn next_state(&self, state: &T::State, action: T::Action) -> Option<T::State> {
        self.model.take(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(
            "a state and its quotient offer the same steps",
            |this: &Self, state: &T::State| {
                let quotient = T::quotient_of(&this.model, state);
                T::quotient_of(&this.model, &quotient) == quotient
                    && (quotient == *state || this.offered(state) == this.offered(&quotient))
            },
        )]
    }
}

/// Checks, at `small` bounds, that no state offers other steps than its quotient, or has a quotient that has another.
pub fn assert_bisimulation<T: Modelled, L: Ord + 'static>(observe: Observe<T, L>) {
    let [bounds, ..] = T::Bounds::PRESETS;
    assert_bisimulation_within(bounds, observe);
}

/// The same within these bounds.
pub fn assert_bisimulation_within<T: Modelled, L: Ord + 'static>(
    bounds: T::Bounds,
    observe: Observe<T, L>,
) {
    let model = within(bounds).literal();
    let checker = Literal { model, observe }
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    let disagreements: Vec<_> = checker
        .discoveries()
        .into_values()
        .map(stateright::Path::into_actions)
        .collect();
    assert_eq!(disagreements, Vec::<Vec<T::Action>>::new());
}
