//! What several commands take: a protocol, a bounds preset, rules to leave out.
//!
//! Which presets, rules and readings there are depends on the protocol, so they are looked up when it is known, and not
//! while the command line is taken apart.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use clap::ValueEnum;
use countersign_clauses::nearest;
use countersign_lint::envelope::{Envelope, How, Pointers};
use countersign_model::facade::{self, Model, Rule, Text};
use miette::IntoDiagnostic;
use schemars::JsonSchema;

use crate::spec_file::Changes;

/// The protocols, by their names on the command line, in the order in which they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Protocol {
    /// The AAEP confirmation protocol.
    Aaep,
    /// The confirmation tokens of MCP-AQL.
    McpAql,
    /// The pending actions of the Agents API.
    PendingAction,
}

impl Protocol {
    /// Its text.
    pub fn text(self) -> &'static Text {
        let [aaep, mcp_aql, pending_action] = &*facade::TEXTS;
        match self {
            Self::Aaep => aaep,
            Self::McpAql => mcp_aql,
            Self::PendingAction => pending_action,
        }
    }
}

/// What stands in the help above the options that change a text, or how far it is searched.
pub const VARIANT: &str = "Variant of the text";

/// A text with its readings and numbers changed, and every rule in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Reread {
    /// Take readings and numbers from this file; `spec` prints one
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Choose a reading of an ambiguous clause (may be repeated)
    #[arg(long = "reading", value_name = "NAME=WAY")]
    pub readings: Vec<String>,
}

impl Reread {
    /// The model of the text read so.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or that leaves out rules, or a reading that there is not.
    pub fn of(&self, model: &dyn Model) -> miette::Result<Arc<dyn Model>> {
        let reason = "each rule is left out in turn";
        let (text, file) = (model.text(), self.spec.as_deref());
        let changes = Changes::with_every_rule(text, file, &self.readings, reason)?;
        Ok(model.with(&[], &changes.pairs()))
    }

    /// The options that say the same.
    pub fn options(&self) -> impl Iterator<Item = String> {
        let spec = self.spec.iter();
        let spec = spec.map(|file| format!("--spec {}", file.display()));
        spec.chain(self.readings.iter().map(|it| format!("--reading {it}")))
    }

    /// Whether the text stands as it is.
    pub fn is_usual(&self) -> bool {
        self.spec.is_none() && self.readings.is_empty()
    }
}

/// Where a model departs from the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Taken {
    /// Leave out a clause, a section or a rule (may be repeated)
    #[arg(long, value_name = "RULE")]
    without: Vec<String>,
    #[command(flatten)]
    reread: Reread,
}

/// How much is printed for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Extent {
    /// Print everything, not only the first 40 lines
    #[arg(long)]
    pub all: bool,
}

/// How far a model goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Within {
    /// How far to search: a preset and changes to it, such as small,crash=2
    #[arg(long, value_name = "BOUNDS")]
    pub bounds: Option<String>,
}

impl Within {
    /// The bounds as they were given, or `small`.
    pub fn name(&self) -> &str {
        self.bounds.as_deref().unwrap_or("small")
    }

    /// The text as it stands within these bounds.
    ///
    /// # Errors
    ///
    /// Bounds that there are not.
    pub fn model(&self, text: &Text) -> miette::Result<Arc<dyn Model>> {
        within(text, self.name())
    }
}

impl Taken {
    /// What is changed of the text, by the file first.
    ///
    /// # Errors
    ///
    /// Rules or readings that there are not, or a file that cannot be read.
    pub fn changes(&self, text: &'static Text) -> miette::Result<Changes> {
        let Reread { spec, readings } = &self.reread;
        let mut changes = Changes::of_options(text, spec.as_deref(), readings)?;
        for name_or_clause in &self.without {
            changes.leave_out(rules(text, name_or_clause)?);
        }
        Ok(changes)
    }
}

/// How far the model goes, and where it departs from the specification.
#[derive(Clone, Debug, clap::Args)]
pub struct Variant {
    #[command(flatten)]
    taken: Taken,
    #[command(flatten)]
    within: Within,
    /// Search the literal model, without the quotient
    #[arg(long)]
    literal: bool,
}

impl Variant {
    /// The model. The quotient holds for the specification alone; everything else is searched literally.
    ///
    /// # Errors
    ///
    /// Bounds, rules or readings that there are not, or a file that cannot be read.
    pub fn model(&self, text: &'static Text) -> miette::Result<Arc<dyn Model>> {
        let changes = self.taken.changes(text)?;
        let is_text = changes.left_out.is_empty() && changes.departing().next().is_none();
        let [of_text, of_others] = text.usual_bounds;
        let bounds = match self.within.bounds.as_deref() {
            Some(name) => name,
            None if is_text && !self.literal => of_text,
            None => of_others,
        };
        let model = within(text, bounds)?.with(&changes.left_out, &changes.pairs());
        Ok(if self.literal { model.literal() } else { model })
    }

    /// The protocol, with what of it is left out or taken in another way.
    pub fn named(&self, text: &Text) -> String {
        let Taken { without, reread } = &self.taken;
        let Reread { spec, readings } = reread;
        let spec = spec.iter().map(|it| format!(" as {}", it.display()));
        let without = without.iter().map(|it| format!(" without {it}"));
        let readings = readings.iter().map(|it| format!(" by {it}"));
        let departs: String = spec.chain(without).chain(readings).collect();
        format!("{}{departs}", text.name)
    }

    /// The bounds that were given.
    pub const fn within(&self) -> &Within {
        &self.within
    }

    /// What was given of readings and numbers.
    pub const fn reread(&self) -> &Reread {
        &self.taken.reread
    }

    /// The same as `compare` takes it.
    pub fn setting(&self) -> Setting {
        Setting {
            taken: self.taken.clone(),
            bounds: self.within.bounds.clone(),
        }
    }

    /// The command line that does `command` once more on this model.
    pub fn again(&self, text: &Text, command: &str) -> String {
        let Taken { without, reread } = &self.taken;
        let mut words = vec![format!("countersign {command} {}", text.name)];
        let bounds = self.within.bounds.iter();
        words.extend(bounds.map(|name| format!("--bounds {name}")));
        words.extend(without.iter().map(|name| format!("--without {name}")));
        words.extend(reread.options());
        if self.literal {
            words.push("--literal".to_owned());
        }
        words.join(" ")
    }
}

/// A setting of a text as `compare` takes it: a file, rules left out, readings taken, and bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    taken: Taken,
    /// How far the model goes; the smallest where nothing is said.
    pub bounds: Option<String>,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut setting = Self::default();
        for part in parts(text) {
            match part.split_once(':') {
                Some(("without", rule)) => setting.taken.without.push(rule.to_owned()),
                Some(("reading", assignment)) => {
                    setting.taken.reread.readings.push(assignment.to_owned());
                }
                Some(("spec", file)) if setting.taken.reread.spec.is_none() => {
                    setting.taken.reread.spec = Some(file.into());
                }
                Some(("bounds", name)) if setting.bounds.is_none() => {
                    setting.bounds = Some(name.to_owned());
                }
                Some(_) | None => {
                    return Err(format!(
                        "`{part}`: expected without:RULE, reading:NAME=WAY, spec:FILE or bounds:NAME"
                    ));
                }
            }
        }
        Ok(setting)
    }
}

/// The parts of a setting. Bounds have commas of their own, and so may the name of a file: what begins with no key goes on with those.
fn parts(text: &str) -> Vec<String> {
    let has_key = |part: &str| {
        let keys = ["without", "reading", "spec", "bounds"];
        part.split_once(':')
            .is_some_and(|(key, _)| keys.contains(&key))
    };
    let goes_on = |part: &String| part.starts_with("spec:") || part.starts_with("bounds:");
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',') {
        match parts.last_mut() {
            Some(last) if goes_on(last) && !has_key(part) => *last = format!("{last},{part}"),
            _ if part.is_empty() => {}
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Taken { without, reread } = &self.taken;
        let Reread { spec, readings } = reread;
        let spec = spec.iter().map(|it| format!("spec:{}", it.display()));
        let without = without.iter().map(|it| format!("without:{it}"));
        let readings = readings.iter().map(|it| format!("reading:{it}"));
        let bounds = self.bounds.iter().map(|it| format!("bounds:{it}"));
        let parts: Vec<_> = spec.chain(without).chain(readings).chain(bounds).collect();
        if parts.is_empty() {
            return formatter.write_str("the text as it stands");
        }
        formatter.write_str(&parts.join(","))
    }
}

impl Setting {
    /// The model of it.
    ///
    /// # Errors
    ///
    /// Bounds, rules or readings that there are not, or a file that cannot be read.
    pub fn model(&self, text: &'static Text) -> miette::Result<Arc<dyn Model>> {
        let bounds = self.bounds.clone().unwrap_or_else(|| "small".to_owned());
        Variant {
            within: Within {
                bounds: Some(bounds),
            },
            taken: self.taken.clone(),
            literal: false,
        }
        .model(text)
    }
}

/// The text as it stands within the bounds of that name, with the changes behind it.
///
/// # Errors
///
/// Bounds that there are not, or that are out of range; the message lists the names.
pub fn within(text: &Text, bounds: &str) -> miette::Result<Arc<dyn Model>> {
    (text.within)(bounds).map_err(miette::Report::msg)
}

/// The rules that the id of a clause or of a section stands for, or the rule of that name.
///
/// # Errors
///
/// Clauses that no rule carries out, a rule of another protocol, or a word that is neither.
pub fn rules(text: &'static Text, name_or_clause: &str) -> miette::Result<Vec<&'static Rule>> {
    let mut rules = text.named(name_or_clause);
    for clause in countersign_clauses::meant(name_or_clause).unwrap_or_default() {
        for rule in text.named(clause.id.as_str()) {
            if rules.iter().all(|it| it.name != rule.name) {
                rules.push(rule);
            }
        }
    }
    if rules.is_empty() {
        Err(miette::Report::msg(no_rule(text, name_or_clause)))
    } else {
        Ok(rules)
    }
}

/// Why the text has no rule for this word.
fn no_rule(text: &Text, word: &str) -> String {
    match countersign_clauses::meant(word).as_deref() {
        Ok([first, ..]) if first.protocol != text.name => {
            let what = if first.id.as_str().eq_ignore_ascii_case(word) {
                "clause"
            } else {
                "section"
            };
            format!(
                "{word} is a {what} of {}, not of {}",
                first.protocol, text.name
            )
        }
        Ok(_) => format!("no rule carries out {word}\n  hint: countersign clauses {word}"),
        Err(_) => elsewhere(word).map_or_else(
            || {
                let clauses = countersign_clauses::all().iter();
                let own = clauses.filter(|it| it.protocol == text.name);
                let hint = nearest::hint(&nearest::ids(word, own.map(|it| it.id.as_str())));
                let names: Vec<&str> = text.rules.iter().map(|it| it.name).collect();
                format!(
                    "unknown clause `{word}`{hint}\nexpected a clause id, or one of the rules: {}",
                    names.join(", ")
                )
            },
            |protocol| format!("{word} is a rule of {protocol}, not of {}", text.name),
        ),
    }
}

/// The protocol that has a rule of this name.
fn elsewhere(name: &str) -> Option<&'static str> {
    let mut texts = facade::TEXTS.iter();
    texts
        .find(|it| !it.named(name).is_empty())
        .map(|it| it.name)
}

/// Where the messages stand in recorded streams.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StreamFormat {
    /// Read this envelope: jsonl, json, sse, har, docker, cri or cloudevents
    #[arg(long, value_name = "NAME", value_parser = Envelope::named)]
    pub from: Option<Envelope>,

    /// Find the message at this JSON pointer, such as /payload
    #[arg(long, value_name = "POINTER")]
    pub message: Option<String>,

    /// Find the time of receipt at this JSON pointer
    #[arg(long, value_name = "POINTER")]
    pub time: Option<String>,

    /// Find the direction (in or out of the producer) at this JSON pointer
    #[arg(long, value_name = "POINTER")]
    pub direction: Option<String>,

    /// Find the HTTP status that answered a reply at this JSON pointer
    #[arg(long, value_name = "POINTER")]
    pub status: Option<String>,
}

impl StreamFormat {
    /// What is said of the format of the streams.
    ///
    /// # Errors
    ///
    /// What is given is no JSON pointer.
    pub fn how(&self) -> miette::Result<How> {
        let pointers = [&self.message, &self.time, &self.direction, &self.status];
        let pointers = pointers.map(Option::as_deref);
        let are_given = pointers.iter().any(Option::is_some);
        let pointers = Pointers::parse(pointers).into_diagnostic()?;
        Ok(How {
            from: self.from,
            pointers: are_given.then_some(pointers),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_bounds_may_have_commas() {
        for text in [
            "spec:a,b.toml,without:PA-2,bounds:small,crash=1",
            "spec:c:/a,b:c.toml,reading:in-doubt=never",
        ] {
            let setting: Setting = text.parse().expect("a setting");
            assert_eq!(setting.to_string(), text);
        }
        assert!("without:PA-2,crash=1".parse::<Setting>().is_err());
    }
}
