//! The quotient forgets nothing that matters: an exhaustive proof at `small` bounds.
//!
//! For every state `s` of the literal graph, `s` and its quotient `q(s)` offer the same steps. A step is what can be told
//! of it: who does what to which confirmation, session or subscription, what must and what may come out, at which check
//! a reply was ignored, which invariants are broken, and the quotient of the state that follows. Left out of the label is
//! only what the quotient merges: which of several alike messages is meant, and by which of several alike decisions a
//! message comes to be under way. Asks keep their class.

use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_model::aaep::Aaep;
use countersign_model::aaep::action::{Action, Forgery};
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::output::Outputs;
use countersign_model::aaep::rules::Check;
use countersign_model::aaep::state::State;
use stateright::{Checker, Model, Property};

/// What can be told of a step.
type Told = (Label, Outputs, Outputs, Option<Check>, u64, [u64; 5]);

/// An action without what the quotient merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// Nothing is merged.
    Whole(Action),
    /// Some subscriber decides on some question.
    Decide,
    /// Some message arrives.
    Deliver,
    /// Some message is doubled.
    Duplicate,
    /// Some message is lost.
    Lose,
    /// Somebody forges a reply.
    Forge,
}

/// The action without what the quotient merges.
fn label(action: Action) -> Label {
    match action {
        Action::Decide { .. } => Label::Decide,
        Action::Deliver { .. } => Label::Deliver,
        Action::Duplicate { .. } => Label::Duplicate,
        Action::Lose { .. } => Label::Lose,
        Action::Forge(
            Forgery::Unauthenticated { .. }
            | Forgery::Guessed
            | Forgery::MixedUp { .. }
            | Forgery::Impostor { .. },
        ) => Label::Forge,
        Action::Ask { .. }
        | Action::Replay
        | Action::Tick
        | Action::ServeTimer
        | Action::Cancel { .. }
        | Action::EndSession { .. }
        | Action::Close { .. }
        | Action::CarryOut
        | Action::FinishTool { .. }
        | Action::Crash
        | Action::Transgress(_) => Label::Whole(action),
    }
}

/// Every step that the state offers, as it can be told.
fn told(model: &Aaep, state: &State, actions: &mut Vec<Action>) -> Vec<Told> {
    actions.clear();
    model.enabled(state, actions);
    let mut steps: Vec<Told> = actions
        .iter()
        .filter_map(|&action| {
            let step = model.step(state, action)?;
            let next = model.quotient_of(&step.next);
            Some((
                label(action),
                step.required,
                step.optional,
                step.ignored,
                next.broken,
                next.words(),
            ))
        })
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// The literal model; its one property is that a state and its quotient offer the same steps.
#[derive(Clone)]
struct Literal(Aaep);

impl Model for Literal {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.0.start()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.0.enabled(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.0.step(state, action).map(|step| step.next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(
            "a state and its quotient offer the same steps",
            |model: &Self, state: &State| {
                let quotient = model.0.quotient_of(state);
                let mut actions = Vec::new();
                quotient == *state
                    || told(&model.0, state, &mut actions)
                        == told(&model.0, &quotient, &mut actions)
            },
        )]
    }
}

#[test]
fn a_state_and_its_quotient_offer_the_same_steps() {
    let model = Aaep::new(Bounds::SMALL)
        .expect("a preset is in range")
        .literal();
    let checker = Literal(model).checker().threads(2).spawn_dfs().join();
    let disagreements: Vec<_> = checker
        .discoveries()
        .into_values()
        .map(stateright::Path::into_actions)
        .collect();
    assert_eq!(disagreements, Vec::<Vec<Action>>::new());
}

#[test]
fn the_quotient_of_a_quotient_is_itself() {
    let model = Aaep::new(Bounds::SMALL).expect("a preset is in range");
    let seen = AtomicUsize::new(0);
    let mut open = vec![model.start()];
    let mut known = std::collections::BTreeSet::from([model.start().words()]);
    let mut actions = Vec::new();
    while let Some(state) = open.pop() {
        assert_eq!(model.quotient_of(&state), state);
        seen.fetch_add(1, Ordering::Relaxed);
        actions.clear();
        model.enabled(&state, &mut actions);
        for step in actions
            .iter()
            .filter_map(|&action| model.step(&state, action))
        {
            let next = model.quotient_of(&step.next);
            if known.insert(next.words()) {
                open.push(next);
            }
        }
    }
    assert_eq!(seen.into_inner(), known.len());
}
