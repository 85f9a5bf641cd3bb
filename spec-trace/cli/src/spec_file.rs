//! A file with the settings of a text: rules left out, readings taken, numbers changed. `countersign spec` prints one.
//!
//! The one thing to know: what a file says as the text has it changes nothing, so that the file as it is printed changes nothing,
//! within any bounds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use countersign_model::numbers::{Number, Value, at_odds};
use countersign_model::readings::{self, Choice, ReadingError};
use countersign_model::rules::Rules;
use countersign_model::specification::Modelled;
use miette::miette;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::arguments::guards;

/// What a file, and options beside it, change of a text.
#[derive(Clone)]
pub struct Changes<T: Modelled> {
    /// The rules that it leaves in force.
    pub rules: Rules<T::Guard>,
    changes: Vec<Change<T::Reading>>,
}

/// A change of how a text is taken.
#[derive(Clone)]
struct Change<R> {
    /// The place or the number.
    name: &'static str,
    /// What it is now, as a file has it.
    value: String,
    set: Set<R>,
}

#[derive(Clone)]
enum Set<R> {
    /// A place, or a word of a table, in another way.
    Choice(fn(&mut R)),
    /// Another number.
    Number(fn(&mut R, u16), u16),
}

impl<T: Modelled> Default for Changes<T> {
    /// None.
    fn default() -> Self {
        Self {
            rules: Rules::all(),
            changes: Vec::new(),
        }
    }
}

impl<T: Modelled> Changes<T> {
    /// Those of a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is no TOML, or has what there is not; the message has the line and the column.
    pub fn read(path: &Path) -> miette::Result<Self> {
        let shown = path.display();
        let bytes = fs::read(path).map_err(|error| miette!("cannot read {shown}: {error}"))?;
        let text = String::from_utf8_lossy(&bytes);
        let changes = match std::str::from_utf8(&bytes) {
            Ok(text) => Self::of(text),
            Err(error) => Err(Wrong {
                at: error.valid_up_to(),
                text: "this is no text: a byte of it is no UTF-8".to_owned(),
            }),
        };
        changes.map_err(|wrong| {
            let before = text.get(..wrong.at).unwrap_or(&text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            miette!("{shown}:{line}:{column}: {}", wrong.text)
        })
    }

    /// Those of a file, where there is one, and of the options beside it: each `name=value` holds whatever the file says of its place.
    ///
    /// # Errors
    ///
    /// As of the file, and readings that there are not or that exclude each other.
    pub fn of_options(file: Option<&Path>, assignments: &[String]) -> miette::Result<Self> {
        let mut all = file.map(Self::read).transpose()?.unwrap_or_default();
        let chosen = readings::chosen(T::PLACES, assignments.iter().map(String::as_str));
        for (place, choice) in chosen.map_err(miette::Report::msg)? {
            all.changes.retain(|it| it.name != place.name);
            all.changes.push(Change {
                name: place.name,
                value: choice.value.to_owned(),
                set: Set::Choice(choice.set),
            });
        }
        Ok(all)
    }

    /// The same where no rule can be left out, for a reason.
    ///
    /// # Errors
    ///
    /// As of those, and a file that leaves out rules.
    pub fn with_every_rule(
        file: Option<&Path>,
        assignments: &[String],
        reason: &str,
    ) -> miette::Result<Self> {
        let all = Self::of_options(file, assignments)?;
        if all.rules.is_complete() {
            return Ok(all);
        }
        let shown = file.unwrap_or_else(|| Path::new("")).display();
        Err(miette!(
            "{shown}: left_out has to be empty here, for {reason}"
        ))
    }

    fn of(text: &str) -> Result<Self, Wrong> {
        let document = DeTable::parse(text).map_err(|error| Wrong {
            at: error.span().map_or(0, |span| span.start),
            text: error.message().to_owned(),
        })?;
        let mut changes = Self::default();
        // First of all, for another protocol has other readings and numbers.
        let mut keys = document.get_ref().iter();
        let protocol = keys.find(|(key, _)| key.get_ref() == "protocol");
        let is_of_protocol = protocol.map(|(_, value)| is_named::<T>(value));
        let is_of_protocol = is_of_protocol.transpose()?.is_some();
        for (key, value) in document.get_ref() {
            match key.get_ref().as_ref() {
                "protocol" => {}
                "left_out" => changes.leave_out(value)?,
                "readings" => changes.take_readings(value)?,
                "numbers" => changes.take_numbers(value)?,
                other => {
                    let text = format!(
                        "unknown key `{other}`: expected one of protocol, left_out, readings, numbers"
                    );
                    return Err(Wrong::at(key, text));
                }
            }
        }
        if is_of_protocol {
            return Ok(changes);
        }
        let (at, text) = (
            0,
            format!("the key protocol is missing: expected \"{}\"", T::NAME),
        );
        Err(Wrong { at, text })
    }

    /// The reading, with what the file changes.
    pub fn of_reading(&self, mut reading: T::Reading) -> T::Reading {
        for change in &self.changes {
            match change.set {
                Set::Choice(set) => set(&mut reading),
                Set::Number(set, value) => set(&mut reading, value),
            }
        }
        reading
    }

    /// The places and numbers that are changed, or named by an option, each with what it is now.
    pub fn changed(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let changes = self.changes.iter();
        changes.map(|change| (change.name, change.value.as_str()))
    }

    /// Those by which the text is not taken as it stands.
    pub fn departing(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.changed().filter(|(name, value)| {
            let place = T::PLACES.iter().find(|place| place.name == *name);
            place.is_none_or(|place| place.choices.first().is_none_or(|it| it.value != *value))
        })
    }

    /// The same with another choice at a place.
    #[must_use]
    pub fn choosing(&self, place: &str, choice: &str) -> Self {
        let mut all = self.clone();
        let places = T::PLACES.iter().filter(|it| it.name == place);
        let choices = places.flat_map(|it| it.choices.iter().map(move |choice| (it.name, choice)));
        for (name, choice) in choices.filter(|(_, it)| it.value == choice) {
            all.changes.retain(|it| it.name != name);
            all.changes.push(Change {
                name,
                value: choice.value.to_owned(),
                set: Set::Choice(choice.set),
            });
        }
        all
    }

    fn leave_out(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        let names = value.get_ref().as_array();
        let names = names.ok_or_else(|| of_type("left_out", "a list of rules", value))?;
        for name in names {
            let rule = text(name).ok_or_else(|| of_type("left_out", "the name of a rule", name))?;
            let guards = guards::<T>(rule).map_err(|error| Wrong::at(name, error.to_string()))?;
            for guard in guards {
                self.rules = self.rules.without(guard);
            }
        }
        Ok(())
    }

    fn take_readings(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        for (key, value) in table("readings", value)? {
            let name = key.get_ref().as_ref();
            let place = T::PLACES.iter().find(|place| place.name == name);
            let place = place.ok_or_else(|| {
                let (places, name) = (T::PLACES, name.to_owned());
                let unknown: ReadingError<T::Reading> = ReadingError::UnknownName { places, name };
                Wrong::at(key, unknown.to_string())
            })?;
            self.choose(place.name, place.choices, value)?;
        }
        Ok(())
    }

    fn choose(
        &mut self,
        name: &'static str,
        choices: &'static [Choice<T::Reading>],
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Wrong> {
        let words: Vec<_> = choices
            .iter()
            .map(|it| format!("\"{}\"", it.value))
            .collect();
        let words = words.join(" or ");
        let word = text(value).ok_or_else(|| of_type(name, &words, value))?;
        let place = choices.iter().position(|choice| choice.value == word);
        match place {
            None => {
                let text = format!("{name}: unknown value \"{word}\": expected {words}");
                Err(Wrong::at(value, text))
            }
            // As the text has it.
            Some(0) => Ok(()),
            Some(place) => {
                self.changes.push(Change {
                    name,
                    value: word.to_owned(),
                    set: Set::Choice(choices[place].set),
                });
                Ok(())
            }
        }
    }

    fn take_numbers(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        let mut given = BTreeMap::new();
        self.take_table("", value, &mut given)?;
        let reading = self.of_reading(T::Reading::default());
        let Some([(name, value), (other, most)]) = at_odds(T::NUMBERS, &reading) else {
            return Ok(());
        };
        let at = given.get(name).or_else(|| given.get(other));
        Err(Wrong {
            at: at.copied().unwrap_or(0),
            text: format!("{name} is {value}, and {other} no more than {most}"),
        })
    }

    /// The numbers of a table whose name ends with a dot; where each of them stands is noted.
    fn take_table(
        &mut self,
        prefix: &str,
        value: &Spanned<DeValue<'_>>,
        given: &mut BTreeMap<&'static str, usize>,
    ) -> Result<(), Wrong> {
        let shown = format!("numbers.{prefix}");
        for (key, value) in table(shown.trim_end_matches('.'), value)? {
            let name = format!("{prefix}{}", key.get_ref());
            if let Some(number) = T::NUMBERS.iter().find(|number| number.name == name) {
                given.insert(number.name, key.span().start);
                self.take_number(number, key.span().start, value)?;
                continue;
            }
            let below = format!("{name}.");
            if T::NUMBERS.iter().any(|it| it.name.starts_with(&below)) {
                self.take_table(&below, value, given)?;
                continue;
            }
            let beside = T::NUMBERS
                .iter()
                .filter_map(|it| it.name.strip_prefix(prefix));
            let mut names = Vec::new();
            for it in beside.filter_map(|it| it.split('.').next()) {
                if !names.contains(&it) {
                    names.push(it);
                }
            }
            let text = format!(
                "unknown number `{name}`: expected one of {}",
                names.join(", ")
            );
            return Err(Wrong::at(key, text));
        }
        Ok(())
    }

    fn take_number(
        &mut self,
        number: &'static Number<T::Reading>,
        at: usize,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Wrong> {
        let name = number.name;
        match &number.value {
            Value::Word(words) => self.choose(name, words, value),
            Value::Whole(whole) => {
                let integer = value.get_ref().as_integer();
                let integer = integer.ok_or_else(|| of_type(name, "a whole number", value))?;
                let digits = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
                let changed = digits.and_then(|it| whole.can_be(it)).ok_or_else(|| {
                    let text = format!("{name} is {}: expected {whole}", integer.as_str());
                    Wrong::at(value, text)
                })?;
                if changed != (whole.get)(&T::Reading::default()) {
                    self.changes.push(Change {
                        name,
                        value: changed.to_string(),
                        set: Set::Number(whole.set, changed),
                    });
                }
                Ok(())
            }
            Value::Fixed { reason, .. } => Err(Wrong {
                at,
                text: format!("{name} is not modelled, so it cannot be changed: {reason}"),
            }),
        }
    }
}

/// What is wrong in a file, and at which byte.
struct Wrong {
    at: usize,
    text: String,
}

impl Wrong {
    fn at<V>(place: &Spanned<V>, text: String) -> Self {
        let at = place.span().start;
        Self { at, text }
    }
}

/// A value of another type than is expected.
fn of_type(name: &str, expected: &str, value: &Spanned<DeValue<'_>>) -> Wrong {
    let is = value.get_ref().type_str();
    Wrong::at(
        value,
        format!("{name}: expected {expected}, and this is of the type {is}"),
    )
}

fn text<'a>(value: &'a Spanned<DeValue<'_>>) -> Option<&'a str> {
    value.get_ref().as_str()
}

fn table<'a, 'i>(name: &str, value: &'a Spanned<DeValue<'i>>) -> Result<&'a DeTable<'i>, Wrong> {
    let table = value.get_ref().as_table();
    table.ok_or_else(|| of_type(name, "a table", value))
}

/// Whether the file is of this protocol.
fn is_named<T: Modelled>(value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
    let expected = format!("\"{}\"", T::NAME);
    let name = text(value).ok_or_else(|| of_type("protocol", &expected, value))?;
    if name == T::NAME {
        return Ok(());
    }
    let text = format!("this file is of the protocol \"{name}\": expected {expected}");
    Err(Wrong::at(value, text))
}
