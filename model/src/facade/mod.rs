//! What commands ask of the text of a protocol, as plain data.
//!
//! A protocol is registered by one line of [`TEXTS`]. [`Text`] is what there is to say about it before anything is searched;
//! [`Model`] is the text within bounds, with what of it is left out or read otherwise.

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

use crate::aaep::Aaep;
use crate::bounds::BoundsError;
use crate::checker::{Broken, CheckReport, Limit, PropertyVerdict, StepText};
use crate::compare::Compared;
use crate::departures::Departure;
use crate::mcp_aql::McpAql;
use crate::pending_action::PendingAction;
use crate::{numbers, readings};

mod can;
pub mod engine;
pub mod run;

/// Every text, in the order in which they are reported.
pub static TEXTS: LazyLock<[Text; 3]> = LazyLock::new(|| {
    [
        engine::text::<Aaep>(),
        engine::text::<McpAql>(),
        engine::text::<PendingAction>(),
    ]
});

/// The text of that name.
pub fn text(name: &str) -> Option<&'static Text> {
    TEXTS.iter().find(|it| it.name == name)
}

/// What there is to say about the text of a protocol.
#[derive(Debug)]
pub struct Text {
    /// The protocol's name on the command line.
    pub name: &'static str,
    /// What can be left out.
    pub rules: Vec<Rule>,
    /// The places that can be read in more than one way.
    pub places: Vec<Place>,
    /// The numbers.
    pub numbers: Vec<Number>,
    /// What must hold of every run.
    pub properties: Vec<Property>,
    /// What some run must show.
    pub situations: Vec<Property>,
    /// The longest runs of a changed text that are searched, in steps.
    pub longest: usize,
    /// The bounds that the text as it stands is searched within, and every other variant.
    pub usual_bounds: [&'static str; 2],
    /// The text as it stands within those bounds: the name of bounds, and changes to them.
    pub within: fn(&str) -> Result<Arc<dyn Model>, BoundsError>,
}

/// What can be left out of a text.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// Other names by which the command line takes it.
    pub aliases: &'static [&'static str],
    /// The clauses that it carries out, the chief one first.
    pub clauses: &'static [&'static str],
    /// The rule in a sentence.
    pub gist: &'static str,
    /// The sections of the text whose own code leaves it out.
    pub in_samples: Option<&'static str>,
    /// Why nobody outside finds anything wrong where it is left out.
    pub free: Option<&'static str>,
}

/// A place that can be read in more than one way.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its name on the command line.
    pub name: &'static str,
    /// The clauses that leave it open.
    pub clauses: &'static [&'static str],
    /// What is open.
    pub question: &'static str,
    /// The ways to read it, the default first.
    pub choices: Vec<Way>,
    /// Why the first way is the default.
    pub why: &'static str,
}

/// A way to read a place, or a word of a table.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Its value on the command line.
    pub value: &'static str,
    /// What it means.
    pub gloss: &'static str,
}

/// A number of a text, or a word in one of its tables.
#[derive(Clone, Debug)]
pub struct Number {
    /// Its table and its key, with dots between: `tolerance.longest`.
    pub name: &'static str,
    /// The clauses that give it.
    pub clauses: &'static [&'static str],
    /// What it says, with its unit.
    pub what: &'static str,
    /// What it can be.
    pub value: Value,
}

/// What a number can be.
#[derive(Clone, Debug)]
pub enum Value {
    /// A whole number.
    Whole(Whole),
    /// One of these words, that of the text first.
    Word(Vec<Way>),
    /// What the text says and the model does not have.
    Fixed {
        /// As a file has it.
        value: &'static str,
        /// Why the model does not have it.
        reason: &'static str,
    },
}

/// A whole number that can be changed.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// What the text says.
    pub usual: u16,
    /// The least that it can be.
    pub from: u16,
    /// The most.
    pub to: u16,
    /// It is a multiple of this.
    pub step: u16,
    /// The name of the number that it must not be above, if there is one.
    pub within: Option<&'static str>,
}

/// A sentence about every run, or about some run.
#[derive(Clone, Debug)]
pub struct Property {
    /// The sentence, behind its chief clause.
    pub name: String,
    /// The clauses that it states, the chief one first.
    pub clauses: Vec<&'static str>,
}

/// What leaving out one rule does.
#[derive(Clone, Debug)]
pub struct Ablation {
    /// The rule.
    pub rule: &'static Rule,
    /// What breaks, each with its shortest run.
    pub breaks: Vec<PropertyVerdict>,
}

/// Why a run is possible, and what is required instead.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What it needs.
    pub needs: Vec<Departure>,
    /// Where the text as it stands goes on otherwise; nowhere if the run is not one of the model, or only judged otherwise.
    pub instead: Option<Instead>,
}

/// How the text as it stands goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// The step, from 1.
    pub step: usize,
    /// What changes and comes out by it; nothing where there is no such step.
    pub changes: Option<Vec<String>>,
}

/// A text within bounds, with what of it is left out or read otherwise.
///
/// Where a method takes another model, that is one of the same text.
pub trait Model: Debug + Send + Sync {
    /// The text.
    fn text(&self) -> &'static Text;
    /// The bounds: their name, and what differs from the bounds of that name.
    fn bounds(&self) -> String;
    /// The rules that are left out.
    fn left_out(&self) -> Vec<&'static Rule>;
    /// Whether data that can no longer matter leaves the state.
    fn has_quotient(&self) -> bool;
    /// Whether it differs from the text as it stands within the same bounds.
    fn departs(&self) -> bool;
    /// The same with those rules left out and no others, and with each `(name, value)` changed of its readings and numbers.
    fn with(&self, left_out: &[&'static Rule], changes: &[(&str, &str)]) -> Arc<dyn Model>;
    /// The text as it stands within the same bounds.
    fn as_it_stands(&self) -> Arc<dyn Model>;
    /// The same without the quotient.
    fn literal(&self) -> Arc<dyn Model>;
    /// All in which it differs from another: rules first, then readings, then numbers.
    fn departures(&self, other: &dyn Model) -> Vec<Departure>;
    /// Searches every run, or so many states of a changed text as take less than a minute unless it is searched `whole`.
    fn check(&self, whole: bool, progress: &mut dyn FnMut(usize)) -> CheckReport;
    /// What breaks in runs of up to so many steps.
    fn broken_within(&self, steps: usize) -> Broken;
    /// Leaves out that rule beside what is left out.
    fn leave_out(&self, rule: &'static Rule) -> Ablation;
    /// The shortest run of this model that no party of the other can have.
    fn apart(&self, other: &dyn Model, limit: Limit, progress: &mut dyn FnMut(usize)) -> Compared;
    /// The shortest run in which outputs are put out, in this order, whose texts contain these.
    fn can(&self, outputs: &[String], limit: Limit, progress: &mut dyn FnMut(usize)) -> Compared;
    /// [`Self::apart`] by each thing in which they differ and that the run found does not need.
    fn apart_by_each(
        &self,
        other: &dyn Model,
        found: &Compared,
        limit: Limit,
    ) -> Vec<(Departure, Compared)>;
    /// Why a run of this model is possible that breaks something at its last step, and what is required instead.
    fn explain(&self, steps: &[StepText]) -> Explanation;
    /// For a caller that knows which text it is of.
    fn as_any(&self) -> &dyn Any;
}

/// The reading with each place and number of a text read so; what there is not changes nothing.
pub fn change<'a, R: Copy>(
    places: &'static [readings::Place<R>],
    numbers: &'static [numbers::Number<R>],
    reading: R,
    changes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> R {
    changes.into_iter().fold(reading, |reading, (name, value)| {
        let read = readings::with(places, reading, name, value);
        let number = || numbers::with(numbers, reading, name, value);
        read.or_else(number).unwrap_or(reading)
    })
}

impl Text {
    /// The rules that a name or a clause id means: one for a name, every rule that carries it out for a clause.
    pub fn named(&self, name_or_clause: &str) -> Vec<&Rule> {
        let is_meant = |it: &&Rule| {
            it.name == name_or_clause
                || it.aliases.contains(&name_or_clause)
                || it.clauses.contains(&name_or_clause)
        };
        self.rules.iter().filter(is_meant).collect()
    }

    /// The place of that name.
    pub fn place(&self, name: &str) -> Option<&Place> {
        self.places.iter().find(|it| it.name == name)
    }

    /// The number of that name.
    pub fn number(&self, name: &str) -> Option<&Number> {
        self.numbers.iter().find(|it| it.name == name)
    }
}

impl<R> From<&readings::Choice<R>> for Way {
    fn from(choice: &readings::Choice<R>) -> Self {
        Self {
            value: choice.value,
            gloss: choice.gloss,
        }
    }
}

impl<R> From<&readings::Place<R>> for Place {
    fn from(place: &readings::Place<R>) -> Self {
        Self {
            name: place.name,
            clauses: place.clauses,
            question: place.question,
            choices: place.choices.iter().map(Way::from).collect(),
            why: place.why,
        }
    }
}

impl<R: Default> From<&numbers::Number<R>> for Number {
    fn from(number: &numbers::Number<R>) -> Self {
        let value = match &number.value {
            numbers::Value::Whole(it) => Value::Whole(Whole {
                usual: (it.get)(&R::default()),
                from: it.from,
                to: it.to,
                step: it.step,
                within: it.within,
            }),
            numbers::Value::Word(words) => Value::Word(words.iter().map(Way::from).collect()),
            numbers::Value::Fixed { value, reason } => Value::Fixed { value, reason },
        };
        Self {
            name: number.name,
            clauses: number.clauses,
            what: number.what,
            value,
        }
    }
}

impl Number {
    /// What the text says, without quotes.
    pub fn usual(&self) -> String {
        match &self.value {
            Value::Whole(whole) => whole.usual.to_string(),
            Value::Word(words) => words.first().map_or("", |it| it.value).to_owned(),
            Value::Fixed { value, .. } => (*value).to_owned(),
        }
    }
}

impl Whole {
    /// Whether it can be this.
    pub fn can_be(&self, value: i64) -> Option<u16> {
        let value = u16::try_from(value).ok()?;
        let is_one = (self.from..=self.to).contains(&value) && value.is_multiple_of(self.step);
        is_one.then_some(value)
    }
}

impl std::fmt::Display for Whole {
    /// What it can be, in words.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} to {}", self.from, self.to)?;
        if self.step > 1 {
            write!(formatter, ", a multiple of {}", self.step)?;
        }
        self.within.map_or(Ok(()), |other| {
            write!(formatter, ", and no more than {other}")
        })
    }
}

impl Ablation {
    /// Whether it breaks something, or it is known why nobody outside finds anything wrong.
    pub fn is_explained(&self) -> bool {
        !self.breaks.is_empty() || self.rule.free.is_some()
    }
}

/// Of the properties that break, those that say what the rule is for: they state its chief clause before all others. Where
/// there is none, those that state any of its clauses.
pub fn telling<'a>(
    rule: &Rule,
    broken: impl Iterator<Item = &'a PropertyVerdict> + Clone,
) -> Vec<&'a PropertyVerdict> {
    let is_chief = |it: &&PropertyVerdict| it.clauses.first() == rule.clauses.first();
    let chief: Vec<_> = broken.clone().filter(is_chief).collect();
    if !chief.is_empty() {
        return chief;
    }
    let states_one = |it: &&PropertyVerdict| {
        rule.clauses
            .iter()
            .any(|clause| it.clauses.contains(clause))
    };
    broken.filter(states_one).collect()
}
