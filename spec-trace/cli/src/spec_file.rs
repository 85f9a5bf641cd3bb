//! A file with the settings of a text: rules left out, readings taken, numbers changed. `countersign spec` prints one.
//!
//! The one thing to know: what a file says as the text has it changes nothing, so that the file as it is printed changes nothing,
//! within any bounds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use countersign_model::facade::{Number, Rule, Text, Value, Way};
use miette::miette;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::arguments::rules;

/// What a file, and options beside it, change of a text.
#[derive(Clone, Debug)]
pub struct Changes {
    text: &'static Text,
    /// The rules that it leaves out, each once.
    pub left_out: Vec<&'static Rule>,
    list: Vec<Change>,
}

/// A place or a number, and what it is now, as a file has it.
#[derive(Clone, Debug)]
struct Change {
    name: &'static str,
    value: String,
}

impl Changes {
    /// None.
    pub fn none(text: &'static Text) -> Self {
        Self {
            text,
            left_out: Vec::new(),
            list: Vec::new(),
        }
    }

    /// Leaves these rules out, too.
    pub fn leave_out(&mut self, rules: Vec<&'static Rule>) {
        for rule in rules {
            if self.left_out.iter().all(|it| it.name != rule.name) {
                self.left_out.push(rule);
            }
        }
        let place = |rule: &Rule| self.text.rules.iter().position(|it| it.name == rule.name);
        self.left_out.sort_by_key(|it| place(it));
    }

    /// Those of a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is no TOML, or has what there is not; the message has the line and the column.
    pub fn read(text: &'static Text, path: &Path) -> miette::Result<Self> {
        let shown = path.display();
        let bytes = fs::read(path).map_err(|error| miette!("cannot read {shown}: {error}"))?;
        let written = String::from_utf8_lossy(&bytes);
        let changes = match std::str::from_utf8(&bytes) {
            Ok(written) => Self::of(text, written),
            Err(error) => Err(Wrong {
                at: error.valid_up_to(),
                text: "this is no text: a byte of it is no UTF-8".to_owned(),
            }),
        };
        changes.map_err(|wrong| {
            let before = written.get(..wrong.at).unwrap_or(&written);
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
    pub fn of_options(
        text: &'static Text,
        file: Option<&Path>,
        assignments: &[String],
    ) -> miette::Result<Self> {
        let mut all = match file {
            Some(file) => Self::read(text, file)?,
            None => Self::none(text),
        };
        let mut chosen: Vec<(&'static str, &'static str)> = Vec::new();
        for assignment in assignments {
            let (name, value) = choose(text, assignment)?;
            let mut before = chosen.iter().filter(|it| it.0 == name);
            if let Some((_, other)) = before.find(|it| it.1 != value) {
                return Err(miette!(
                    "reading {name}: {other} and {value} exclude each other: expected one of them"
                ));
            }
            chosen.push((name, value));
        }
        for (name, value) in chosen {
            all.set(name, value);
        }
        Ok(all)
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.list.retain(|it| it.name != name);
        let value = value.to_owned();
        self.list.push(Change { name, value });
    }

    /// The same where no rule can be left out, for a reason.
    ///
    /// # Errors
    ///
    /// As of those, and a file that leaves out rules.
    pub fn with_every_rule(
        text: &'static Text,
        file: Option<&Path>,
        assignments: &[String],
        reason: &str,
    ) -> miette::Result<Self> {
        let all = Self::of_options(text, file, assignments)?;
        if all.left_out.is_empty() {
            return Ok(all);
        }
        let shown = file.unwrap_or_else(|| Path::new("")).display();
        Err(miette!(
            "{shown}: left_out has to be empty here, for {reason}"
        ))
    }

    fn of(text: &'static Text, written: &str) -> Result<Self, Wrong> {
        let document = DeTable::parse(written).map_err(|error| Wrong {
            at: error.span().map_or(0, |span| span.start),
            text: error.message().to_owned(),
        })?;
        let mut changes = Self::none(text);
        // First of all, for another protocol has other readings and numbers.
        let mut keys = document.get_ref().iter();
        let protocol = keys.find(|(key, _)| key.get_ref() == "protocol");
        let is_of_protocol = protocol.map(|(_, value)| is_named(text.name, value));
        let is_of_protocol = is_of_protocol.transpose()?.is_some();
        for (key, value) in document.get_ref() {
            match key.get_ref().as_ref() {
                "protocol" => {}
                "left_out" => changes.take_left_out(value)?,
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
            format!("the key protocol is missing: expected \"{}\"", text.name),
        );
        Err(Wrong { at, text })
    }

    /// The same as `Model::with` takes them.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        self.changed().collect()
    }

    /// What a place or a number is.
    pub fn value(&self, name: &str) -> String {
        let changed = self.list.iter().find(|it| it.name == name);
        let usual = || {
            let place = self.text.place(name);
            let choice = place.and_then(|it| it.choices.first());
            choice.map(|it| it.value.to_owned())
        };
        let number = || self.text.number(name).map(Number::usual);
        let changed = changed.map(|it| it.value.clone());
        changed.or_else(usual).or_else(number).unwrap_or_default()
    }

    /// The places and numbers that are changed, or named by an option, each with what it is now.
    pub fn changed(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let changes = self.list.iter();
        changes.map(|change| (change.name, change.value.as_str()))
    }

    /// Those by which the text is not taken as it stands.
    pub fn departing(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.changed().filter(|(name, value)| {
            let place = self.text.place(name);
            place.is_none_or(|place| place.choices.first().is_none_or(|it| it.value != *value))
        })
    }

    /// The same with another choice at a place.
    #[must_use]
    pub fn choosing(&self, place: &str, choice: &str) -> Self {
        let mut all = self.clone();
        let known = self.text.place(place);
        let known = known.filter(|it| it.choices.iter().any(|it| it.value == choice));
        if let Some(place) = known {
            all.set(place.name, choice);
        }
        all
    }

    fn take_left_out(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        let names = value.get_ref().as_array();
        let names = names.ok_or_else(|| of_type("left_out", "a list of rules", value))?;
        for name in names {
            let rule = text(name).ok_or_else(|| of_type("left_out", "the name of a rule", name))?;
            let rules = rules(self.text, rule);
            self.leave_out(rules.map_err(|error| Wrong::at(name, error.to_string()))?);
        }
        Ok(())
    }

    fn take_readings(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        for (key, value) in table("readings", value)? {
            let name = key.get_ref().as_ref();
            let place = self.text.place(name);
            let place = place.ok_or_else(|| Wrong::at(key, unknown_reading(self.text, name)))?;
            self.choose(place.name, &place.choices, value)?;
        }
        Ok(())
    }

    fn choose(
        &mut self,
        name: &'static str,
        choices: &'static [Way],
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
                self.list.push(Change {
                    name,
                    value: choices[place].value.to_owned(),
                });
                Ok(())
            }
        }
    }

    fn take_numbers(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        let mut given = BTreeMap::new();
        self.take_table("", value, &mut given)?;
        let Some([(name, value), (other, most)]) = self.at_odds() else {
            return Ok(());
        };
        let at = given.get(name).or_else(|| given.get(other));
        Err(Wrong {
            at: at.copied().unwrap_or(0),
            text: format!("{name} is {value}, and {other} no more than {most}"),
        })
    }

    /// A number above the one that it must not be above, with their names and values; nothing where there is none.
    fn at_odds(&self) -> Option<[(&'static str, u16); 2]> {
        let value = |name: &str| self.value(name).parse().ok();
        self.text.numbers.iter().find_map(|number| {
            let Value::Whole(whole) = &number.value else {
                return None;
            };
            let (value, other): (u16, _) = (value(number.name)?, whole.within?);
            let most = self.value(other).parse().ok()?;
            (value > most).then_some([(number.name, value), (other, most)])
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
            if let Some(number) = self.text.number(&name) {
                given.insert(number.name, key.span().start);
                self.take_number(number, key.span().start, value)?;
                continue;
            }
            let below = format!("{name}.");
            if self
                .text
                .numbers
                .iter()
                .any(|it| it.name.starts_with(&below))
            {
                self.take_table(&below, value, given)?;
                continue;
            }
            let beside = self
                .text
                .numbers
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
        number: &'static Number,
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
                if changed != whole.usual {
                    self.list.push(Change {
                        name,
                        value: changed.to_string(),
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

/// What an assignment `name=value` chooses of a text.
fn choose(text: &'static Text, assignment: &str) -> miette::Result<(&'static str, &'static str)> {
    let Some((name, value)) = assignment.split_once('=') else {
        let first = text.places.first();
        let example = first.and_then(|place| Some((place.name, place.choices.last()?.value)));
        let example = example.map_or_else(String::new, |(name, value)| {
            format!(", such as {name}={value}")
        });
        return Err(miette!(
            "reading `{assignment}`: expected NAME=VALUE{example}"
        ));
    };
    let place = text.place(name);
    let place = place.ok_or_else(|| miette!("{}", unknown_reading(text, name)))?;
    let choice = place.choices.iter().find(|it| it.value == value);
    let choice = choice.ok_or_else(|| {
        let values: Vec<_> = place.choices.iter().map(|it| it.value).collect();
        let values = values.join(" or ");
        miette!("reading {name}: unknown value `{value}`: expected {values}")
    })?;
    Ok((place.name, choice.value))
}

/// That no place of a text has this name, with the names that there are.
pub fn unknown_reading(text: &Text, name: &str) -> String {
    let names: Vec<_> = text.places.iter().map(|it| it.name).collect();
    format!(
        "unknown reading `{name}`: expected one of {}",
        names.join(", ")
    )
}

/// Whether the file is of this protocol.
fn is_named(protocol: &str, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
    let expected = format!("\"{protocol}\"");
    let name = text(value).ok_or_else(|| of_type("protocol", &expected, value))?;
    if name == protocol {
        return Ok(());
    }
    let text = format!("this file is of the protocol \"{name}\": expected {expected}");
    Err(Wrong::at(value, text))
}
