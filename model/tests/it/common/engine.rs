//! The search held against stateright, which goes over the same pairs and shares nothing with it: it keeps states and judges
//! themselves, and takes each step from each of them.

use countersign_model::checker::check;
use countersign_model::judged::take;
use countersign_model::specification::{Modelled, Specification};
use stateright::{Checker, Model, Property};

/// A model with its judge beside it.
struct Beside<T: Modelled>(Specification<T>);

impl<T: Modelled> Model for Beside<T> {
    type State = (T::State, T::Judge);
    type Action = T::Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![(self.0.start(), T::judge(&self.0))]
    }

    fn actions(&self, (state, _): &Self::State, actions: &mut Vec<T::Action>) {
        self.0.actions(state, actions);
    }

    fn next_state(&self, (state, judge): &Self::State, action: T::Action) -> Option<Self::State> {
        let mut judge = judge.clone();
        let (next, findings) = take(&self.0, &mut judge, state, action)?;
        assert!(findings.is_empty(), "{findings:?}");
        Some((next, judge))
    }

    /// Stateright goes on as long as one is not refuted.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("it goes on", |_, _| true)]
    }
}

/// Checks that a search of the whole graph comes to as many pairs, by as many steps.
pub fn assert_as_stateright<T: Modelled>(model: &Specification<T>) {
    let report = check(model, |_| {});
    let beside = Beside(model.clone()).checker().spawn_dfs().join();
    // It counts the start among the steps.
    assert_eq!(report.pairs, beside.unique_state_count());
    assert_eq!(report.edges + 1, beside.state_count());
}
