//! The quotient forgets nothing that matters: an exhaustive proof at `small` bounds.
//!
//! For every state `s` of the literal graph, `s` and its quotient `q(s)` offer the same steps. A step is what can be told
//! of it: who does what to which token, what must come out, what may come out instead, at which check a call was rejected,
//! which invariants are broken, and the quotient of the state that follows. Left out of the label is only what the quotient
//! merges: which of several alike calls is meant.

use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::bounds::Bounds;
use countersign_model::mcp_aql::output::Outputs;
use countersign_model::mcp_aql::rules::Check;
use countersign_model::mcp_aql::state::State;
use stateright::{Checker, Model, Property};

/// What can be told of a step.
type Told = (
    Action,
    Outputs,
    Option<Outputs>,
    Option<Check>,
    u64,
    [u64; 5],
);

/// The action without what the quotient merges.
fn label(action: Action) -> Action {
    match action {
        Action::Deliver { skew, .. } => Action::Deliver { index: 0, skew },
        Action::SetUp { .. }
        | Action::Request(_)
        | Action::Send { .. }
        | Action::Guess
        | Action::Redeem { .. }
        | Action::CarryOut { .. }
        | Action::Revoke(_)
        | Action::AskStatus(_)
        | Action::Trigger(_)
        | Action::Tick
        | Action::Purge { .. }
        | Action::Restart(_) => action,
    }
}

/// Every step that the state offers, as it can be told.
fn told(model: &McpAql, state: &State, actions: &mut Vec<Action>) -> Vec<Told> {
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
                step.instead,
                step.rejected,
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
struct Literal(McpAql);

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
                model.0.quotient_of(&quotient) == quotient
                    && (quotient == *state
                        || told(&model.0, state, &mut actions)
                            == told(&model.0, &quotient, &mut actions))
            },
        )]
    }
}

#[test]
fn a_state_and_its_quotient_offer_the_same_steps() {
    let model = McpAql::new(Bounds::SMALL)
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
