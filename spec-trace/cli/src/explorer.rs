//! A protocol's model as stateright's Explorer shows it: actions and states in words, and the way there as a picture.
//!
//! The one thing to know: the Explorer asks a model for words without saying from which state, so the states and actions
//! here carry what is needed to answer: a state knows the start, an action the state before it.

mod run;

use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};

use countersign_model::checker::StepText;
use countersign_model::judge;
use countersign_model::judged::{along, take};
use countersign_model::specification::{Modelled, Specification};
use stateright::{Model, Path, Property};

use crate::show::model_run;
use crate::show::run::{Finding, Kind, Weight};
use crate::show::svg;

pub use run::ExploredText;

/// A run as a picture, with what is wrong at each of its steps.
fn drawn(protocol: &str, steps: &[StepText], found: Vec<Vec<judge::Finding>>) -> String {
    let mut run = model_run::of(Kind::Path, protocol, steps);
    run.verdict = match steps.len() {
        0 => "the start".to_owned(),
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    };
    for (place, findings) in found.into_iter().enumerate() {
        for found in findings {
            let finding = Finding::new(place, Weight::Violation, found.clause, &found.text);
            run.steps[place].findings.push(run.findings.len());
            run.findings.push(finding);
        }
    }
    svg::render(&run)
}

/// The model of a protocol, to be walked through by hand.
pub struct Explored<T: Modelled>(Specification<T>);

/// A state of the model, with what the judge remembers of the way there.
#[derive(Clone)]
pub struct ExploredState<T: Modelled> {
    state: T::State,
    judge: T::Judge,
    /// Whether the judge has found something on the way.
    is_broken: bool,
    start: T::State,
}

impl<T: Modelled> ExploredState<T> {
    /// What sets it apart from others.
    fn key(&self) -> impl PartialEq + Hash {
        (&self.state, &self.judge, self.is_broken)
    }
}

impl<T: Modelled> PartialEq for ExploredState<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T: Modelled> Hash for ExploredState<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

/// A state in words is what sets it apart from the start.
impl<T: Modelled> Debug for ExploredState<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let changes = T::changes(&self.start, &self.state);
        if changes.is_empty() {
            return formatter.write_str("as at the start");
        }
        formatter.write_str(&changes.join("\n"))
    }
}

/// An action, and the state in which it is taken.
pub struct Choice<T: Modelled> {
    before: T::State,
    action: T::Action,
}

impl<T: Modelled> Clone for Choice<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T: Modelled> PartialEq for Choice<T> {
    fn eq(&self, other: &Self) -> bool {
        self.before == other.before && self.action == other.action
    }
}

impl<T: Modelled> Debug for Choice<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.action.fmt(formatter)
    }
}

impl<T: Modelled> Explored<T> {
    /// The model, with its judge beside it.
    pub fn new(model: Specification<T>) -> Self {
        Self(model)
    }

    /// The step in words, if the action is enabled there.
    fn step(&self, choice: &Choice<T>) -> Option<StepText> {
        let after = self.0.take(&choice.before, choice.action)?;
        Some(self.0.describe(&choice.before, choice.action, &after))
    }
}

impl<T: Modelled> Model for Explored<T> {
    type State = ExploredState<T>;
    type Action = Choice<T>;

    fn init_states(&self) -> Vec<ExploredState<T>> {
        vec![ExploredState {
            state: self.0.start(),
            judge: T::judge(&self.0),
            is_broken: false,
            start: self.0.start(),
        }]
    }

    fn actions(&self, from: &ExploredState<T>, choices: &mut Vec<Choice<T>>) {
        let mut actions = Vec::new();
        self.0.actions(&from.state, &mut actions);
        let before = from.state;
        choices.extend(actions.into_iter().map(|action| Choice { before, action }));
    }

    fn next_state(&self, from: &ExploredState<T>, choice: Choice<T>) -> Option<ExploredState<T>> {
        let mut next = from.clone();
        let (state, findings) = take(&self.0, &mut next.judge, &from.state, choice.action)?;
        next.state = state;
        next.is_broken |= !findings.is_empty();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(
            "the judge finds nothing",
            |_, state: &ExploredState<T>| !state.is_broken,
        )]
    }

    fn format_action(&self, choice: &Choice<T>) -> String {
        self.step(choice).map_or_else(
            || format!("{:?}", choice.action),
            |step| format!("{} {} {}", step.at, step.actor, step.action),
        )
    }

    /// What the step changes, a line for each.
    fn format_step(&self, _: &ExploredState<T>, choice: Choice<T>) -> Option<String> {
        let step = self.step(&choice)?;
        if step.changes.is_empty() {
            return Some("nothing changes".to_owned());
        }
        Some(step.changes.join("\n"))
    }

    fn as_svg(&self, path: Path<ExploredState<T>, Choice<T>>) -> Option<String> {
        let choices = path.into_actions();
        let steps: Vec<StepText> = choices
            .iter()
            .filter_map(|choice| self.step(choice))
            .collect();
        let actions: Vec<_> = choices.iter().map(|choice| choice.action).collect();
        Some(drawn(T::NAME, &steps, along(&self.0, &actions)))
    }
}

#[cfg(test)]
mod tests {
    use countersign_model::aaep::AaepProtocol;
    use countersign_model::aaep::readings::Reading;
    use countersign_model::aaep::rules::Guard;
    use countersign_model::ablation::LONGEST;
    use countersign_model::checker::check;
    use countersign_model::judged::{Limit, search};
    use countersign_model::rules::{Guards, Rules};
    use stateright::Checker;

    use super::*;

    fn explored() -> Explored<AaepProtocol> {
        let small = Specification::<AaepProtocol>::preset("small").unwrap();
        Explored::new(Specification::new(small).unwrap())
    }

    /// The first step of which this is told, and the state behind it.
    fn told(
        model: &Explored<AaepProtocol>,
        before: &ExploredState<AaepProtocol>,
        text: &str,
    ) -> (Choice<AaepProtocol>, ExploredState<AaepProtocol>) {
        let mut steps = model.next_steps(before).into_iter();
        let is_told = |choice: &Choice<AaepProtocol>| model.format_action(choice).contains(text);
        steps.find(|(choice, _)| is_told(choice)).expect("a step")
    }

    #[test]
    fn actions_and_states_are_told_in_words() {
        let model = explored();
        let start = model.init_states().remove(0);
        assert_eq!(format!("{start:#?}"), "as at the start");
        let (_, begun) = told(&model, &start, "agent starts");
        let (choice, next) = told(&model, &begun, "producer asks");
        let told = model.format_action(&choice);
        assert!(
            told.starts_with("t=0 producer asks in session A: c1 ("),
            "{told}"
        );
        assert!(
            format!("{next:#?}").contains("c1: not asked → pending"),
            "{next:#?}"
        );
        let changes = model.format_step(&begun, choice).expect("an enabled step");
        assert!(changes.contains("c1: not asked → pending\n"), "{changes}");
    }

    #[test]
    fn a_way_is_drawn_and_a_broken_invariant_is_marked_in_it() {
        let model = explored();
        let start = model.init_states().remove(0);
        let (first, begun) = told(&model, &start, "agent starts");
        let (second, _) = told(&model, &begun, "producer asks");
        let path = Path::from_actions(&model, start, &[first, second]).expect("enabled steps");
        let picture = model.as_svg(path).expect("a picture");
        assert!(picture.contains("asks in session A"), "{picture}");
        assert!(!picture.contains("class=\"violation\""), "{picture}");

        let guard = Guard::named("AAEP-6.3.4-4")[0];
        let without = Rules::all().without(guard);
        let without = Explored::new(model.0.with(without, Reading::default()));
        let limit = Limit {
            steps: LONGEST,
            ..Limit::default()
        };
        let known = search(&without.0, limit, |_| {});
        let found = known.found.into_values().next();
        let actions = found.expect("something is found").run;
        let mut state = without.init_states().remove(0);
        let mut choices = Vec::new();
        for action in actions {
            let choice = Choice {
                before: state.state,
                action,
            };
            state = without
                .next_state(&state, choice.clone())
                .expect("an enabled step");
            choices.push(choice);
        }
        let start = without.init_states().remove(0);
        let path = Path::from_actions(&without, start, &choices).expect("enabled steps");
        let picture = without.as_svg(path).expect("a picture");
        assert!(picture.contains("violation AAEP-6.3.4-4 MUST"), "{picture}");
    }

    #[test]
    fn the_explored_model_has_the_states_of_the_model_itself() {
        let own = check(&explored().0, |_| {}).pairs;
        let told = explored().checker().spawn_dfs().join().unique_state_count();
        assert_eq!(own, told);
    }
}
