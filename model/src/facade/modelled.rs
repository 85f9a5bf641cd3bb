//! A text that is [`Modelled`], as commands ask of it.

use std::any::Any;
use std::sync::Arc;

use super::{
    Ablation, Explanation, Instead, Model, Number, Place, Property, Rule, Text, Value, Way, Whole,
};
use crate::ablation::{self, Broken, broken_within};
use crate::bounds::{Bounds, written};
use crate::checker::{self, CheckReport, STATES, StepText};
use crate::compare::{self, Advised, Compared};
use crate::departures::{Departure, departures, needed};
use crate::judge::renamed;
use crate::judged::{CallTold, Limit, along};
use crate::numbers;
use crate::properties::PropertyRow;
use crate::readings::{self, Choice};
use crate::rules::{GuardRow, Guards as _, Rules};
use crate::specification::{Modelled, Specification};
use crate::table::Tabled as _;

/// What there is to say about it.
pub(super) fn text<T: Modelled>() -> Text {
    let [small, default, ..] = T::Bounds::PRESETS;
    Text {
        name: T::NAME,
        rules: T::Guard::ROWS.iter().map(rule).collect(),
        places: T::PLACES
            .iter()
            .map(|it| Place {
                name: it.name,
                clauses: it.clauses,
                question: it.question,
                with: it.with,
                choices: ways(it.choices),
                why: it.why,
            })
            .collect(),
        numbers: T::NUMBERS.iter().map(number).collect(),
        properties: T::PROPERTIES.iter().map(property).collect(),
        situations: T::WITNESSES.iter().map(property).collect(),
        longest: T::LONGEST,
        unstated: T::UNSTATED,
        shortest: T::SHORTEST,
        usual_bounds: [default.name(), small.name()],
        within: |bounds| {
            let bounds = Specification::<T>::preset(bounds)?;
            Ok(Arc::new(Specification::<T>::new(bounds)?))
        },
    }
}

fn rule<G>(row: &GuardRow<G>) -> Rule {
    Rule {
        name: row.name,
        aliases: &[],
        clauses: row.clauses,
        gist: row.gist,
        with: row.with,
        in_samples: row.in_samples,
        free: row.free,
    }
}

/// The ways as plain data.
pub(super) fn ways<R>(choices: &[Choice<R>]) -> Vec<Way> {
    let way = |it: &Choice<R>| Way {
        value: it.value,
        gloss: it.gloss,
    };
    choices.iter().map(way).collect()
}

/// The number as plain data.
pub(super) fn number<R: Default>(number: &numbers::Number<R>) -> Number {
    Number {
        name: number.name,
        clauses: number.clauses,
        what: number.what,
        value: match &number.value {
            numbers::Value::Whole(it) => Value::Whole(Whole {
                usual: (it.get)(&R::default()),
                from: it.from,
                to: it.to,
                step: it.step,
                within: it.within,
            }),
            numbers::Value::Word(words) => Value::Word(ways(words)),
            numbers::Value::Fixed { value, reason } => Value::Fixed { value, reason },
        },
    }
}

fn property(row: &PropertyRow) -> Property {
    Property {
        name: row.name(),
        clauses: row.clauses.to_vec(),
    }
}

/// The reading with each `(name, value)` changed; what there is not changes nothing.
pub fn reading_of<'a, T: Modelled>(
    reading: T::Reading,
    changes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> T::Reading {
    change(T::PLACES, T::NUMBERS, reading, changes)
}

/// The reading with each place and number of a text read so; what there is not changes nothing.
pub fn change<'a, R>(
    places: &'static [readings::Place<R>],
    numbers: &'static [numbers::Number<R>],
    mut reading: R,
    changes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> R {
    for (name, value) in changes {
        let is_it = |it: &&Choice<R>| it.value == value;
        let places = places.iter().filter(|it| it.name == name);
        let mut choices = places.flat_map(|it| it.choices);
        if let Some(choice) = choices.find(is_it) {
            (choice.set)(&mut reading);
        }
        for number in numbers.iter().filter(|it| it.name == name) {
            match &number.value {
                numbers::Value::Whole(whole) => {
                    if let Ok(value) = value.parse() {
                        (whole.set)(&mut reading, value);
                    }
                }
                numbers::Value::Word(words) => {
                    if let Some(word) = words.iter().find(is_it) {
                        (word.set)(&mut reading);
                    }
                }
                numbers::Value::Fixed { .. } => {}
            }
        }
    }
    reading
}

/// The model as this engine has it.
///
/// # Panics
///
/// Where it is of another text.
pub fn specification_of<T: Modelled>(model: &dyn Model) -> Specification<T> {
    Specification::of_same_text(model).clone()
}

fn guards<T: Modelled>(rules: &[&'static Rule]) -> impl Iterator<Item = T::Guard> {
    rules.iter().flat_map(|it| T::Guard::named(it.name))
}

impl<T: Modelled> Specification<T> {
    fn rule_of(&self, row: &GuardRow<T::Guard>) -> &'static Rule {
        let mut rules = self.text().rules.iter();
        let rule = rules.find(|it| it.name == row.name);
        rule.expect("each guard is a rule of the text")
    }

    fn of_same_text(model: &dyn Model) -> &Self {
        let same = model.as_any().downcast_ref();
        same.expect("both models are of one text")
    }
}

impl<T: Modelled> Model for Specification<T> {
    fn text(&self) -> &'static Text {
        super::text(T::NAME).expect("the text is registered")
    }

    fn bounds(&self) -> String {
        written(self.bounds)
    }

    fn left_out(&self) -> Vec<&'static Rule> {
        let guards = self.rules.left_out();
        guards.map(|it| self.rule_of(it.row())).collect()
    }

    fn has_quotient(&self) -> bool {
        self.quotient
    }

    fn departs(&self) -> bool {
        Specification::departs(self)
    }

    fn with(&self, left_out: &[&'static Rule], changes: &[(&str, &str)]) -> Arc<dyn Model> {
        let rules = guards::<T>(left_out).fold(Rules::all(), Rules::without);
        let reading = reading_of::<T>(self.reading, changes.iter().copied());
        Arc::new(Specification::with(self, rules, reading))
    }

    fn as_it_stands(&self) -> Arc<dyn Model> {
        Arc::new(text_of(self))
    }

    fn literal(&self) -> Arc<dyn Model> {
        Arc::new(Specification::literal(self))
    }

    fn shows(&self, with: Option<&str>) -> bool {
        Specification::shows(self, with)
    }

    fn showing(&self, with: Option<&str>) -> Arc<dyn Model> {
        Arc::new(Specification::showing(self, with))
    }

    fn departures(&self, other: &dyn Model) -> Vec<Departure> {
        departures(self, Self::of_same_text(other))
    }

    fn check(&self, whole: bool, progress: &mut dyn FnMut(usize)) -> CheckReport {
        if !Specification::departs(self) {
            return checker::check(self, progress);
        }
        let mut limit = Limit::default();
        if !whole {
            limit.pairs = STATES;
        }
        checker::check_within(self, limit, progress)
    }

    fn broken_within(&self, steps: usize) -> Broken {
        broken_within(self, steps)
    }

    fn leave_out(&self, rule: &'static Rule) -> Ablation {
        let mut rows = T::Guard::ROWS.iter();
        let row = rows.find(|it| it.name == rule.name);
        let ablation = ablation::leave_out(self, row.expect("the rule is one of the text"));
        Ablation {
            rule,
            breaks: ablation.breaks,
            masked_by: ablation.masked_by.map(|it| self.rule_of(it.row())),
        }
    }

    fn apart(&self, other: &dyn Model, limit: Limit, progress: &mut dyn FnMut(usize)) -> Compared {
        compare::apart(self, Self::of_same_text(other), limit, progress)
    }

    fn apart_by_each(
        &self,
        other: &dyn Model,
        found: &Compared,
        limit: Limit,
    ) -> Vec<(Departure, Compared)> {
        compare::apart_by_each(self, Self::of_same_text(other), found, limit, |_| {})
    }

    fn advised(&self, other: &dyn Model, limit: Limit) -> Option<Advised> {
        let mut advised = compare::advised(self, Self::of_same_text(other), limit)?;
        advised.finding.text = renamed(&advised.finding.text, T::NAMES);
        Some(advised)
    }

    fn explain(&self, steps: &[StepText]) -> Explanation {
        explain(self, steps)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The text as it stands, within the bounds of a model.
fn text_of<T: Modelled>(model: &Specification<T>) -> Specification<T> {
    model.with(Rules::all(), T::reading_within(&model.bounds))
}

/// The steps of a run, each with the state before it.
type Taken<T> = Vec<(<T as Modelled>::State, <T as Modelled>::Action)>;

/// The run is taken again, step by step. Where it cannot be, it needs all that the model departs in.
fn explain<T: Modelled>(model: &Specification<T>, steps: &[StepText]) -> Explanation {
    let text = text_of(model);
    let all = Explanation {
        needs: departures(model, &text),
        instead: None,
    };
    let mut run = Vec::new();
    if !is_taken(model, model.start(), steps, &mut run) {
        return all;
    }
    let instead = apart(model, &text, &run);
    let actions: Vec<_> = run.iter().map(|(_, action)| *action).collect();
    let is_wrong = |model: &Specification<T>| {
        let found = along(model, &actions);
        found.last().is_some_and(|findings| !findings.is_empty())
    };
    // What is no matter of the judge is a matter of the steps alone.
    let is_judged = is_wrong(model);
    let needs = needed(model, &text, |less| {
        apart(model, less, &run).is_none() && (!is_judged || is_wrong(less))
    });
    Explanation { needs, instead }
}

/// Whether the model has these steps from here on; then they are added to the run.
fn is_taken<T: Modelled>(
    model: &Specification<T>,
    state: T::State,
    steps: &[StepText],
    run: &mut Taken<T>,
) -> bool {
    let [first, rest @ ..] = steps else {
        return true;
    };
    let mut actions = Vec::new();
    model.actions(&state, &mut actions);
    for action in actions {
        let Some(next) = model.take(&state, action) else {
            continue;
        };
        if model.describe(&state, action, &next) == *first {
            run.push((state, action));
            if is_taken(model, next, rest, run) {
                return true;
            }
            run.pop();
        }
    }
    false
}

/// The actions of a run that is told by its steps; nothing where the model does not have it.
pub fn actions_of<T: Modelled>(
    model: &Specification<T>,
    steps: &[StepText],
) -> Option<Vec<T::Action>> {
    let mut run = Vec::new();
    let is_taken = is_taken(model, model.start(), steps, &mut run);
    is_taken.then(|| run.into_iter().map(|(_, action)| action).collect())
}

/// The first step of the run that the other goes on from otherwise.
fn apart<T: Modelled>(
    model: &Specification<T>,
    other: &Specification<T>,
    run: &Taken<T>,
) -> Option<Instead> {
    let mut steps = (1..).zip(run);
    steps.find_map(|(step, (state, action))| {
        let own = T::take(model, state, *action, 0)?;
        let Some(others) = T::take(other, state, *action, 0) else {
            // What the world does and the other need not look at is nothing that is required of it.
            own.told?;
            let changes = None;
            return Some(Instead { step, changes });
        };
        let is_same = own.next == others.next
            && own.told.and_then(CallTold::seen) == others.told.and_then(CallTold::seen);
        let changes = || Some(other.in_words(state, *action).changes);
        (!is_same).then(|| Instead {
            step,
            changes: changes(),
        })
    })
}
