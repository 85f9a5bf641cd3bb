//! What each rule is worth: what its loss alone breaks, within the runs that were looked at.

use std::collections::BTreeSet;

use countersign_model::checker::Broken;
use countersign_model::checker::PropertyVerdict;
use countersign_model::facade::{Model, Property, Rule};
use countersign_model::judge::Kind;

use crate::argued::{by_file, changed_numbers};
use crate::parallel;
use crate::progress::Progress;

pub mod page;
pub mod text;

/// What the rules of a protocol are worth.
#[derive(Clone, Debug)]
pub struct Worth {
    /// Each rule that was left out alone.
    pub singles: Vec<Single>,
    /// What the text is there to prevent, as far as something that was searched breaks it, in the order of the text.
    pub guarantees: Vec<Guarantee>,
}

/// A rule left out.
#[derive(Clone, Debug)]
pub struct Single {
    /// The rule.
    pub rule: &'static Rule,
    /// What that breaks, the shortest runs first.
    pub broken: Broken,
}

/// What the text is there to prevent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// Its name.
    pub name: String,
    /// The clauses that it states.
    pub clauses: Vec<&'static str>,
    /// What stands behind the name: the numbers of its clauses that a file has changed.
    pub by_file: String,
    /// Whether it breaks with every rule in force.
    pub is_broken: bool,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// These rules; all where it is empty.
    pub rules: &'a [&'static Rule],
    /// The longest runs that are looked at, in steps.
    pub steps: usize,
}

/// Whether it is broken however the text is read.
pub fn is_guarantee(property: &PropertyVerdict) -> bool {
    let finding = property.finding.as_ref();
    finding.is_some_and(|finding| finding.kind == Kind::Guarantee)
}

impl Worth {
    /// Leaves the rules out that are asked for, each within bounds in which it matters.
    pub fn of(model: &dyn Model, asked: Asked<'_>) -> Self {
        let text = model.text();
        let rules: Vec<&'static Rule> = if asked.rules.is_empty() {
            text.rules.iter().collect()
        } else {
            asked.rules.to_vec()
        };
        let what = format!("{}: leaving out", text.name);
        let progress = Progress::of(rules.len() as u64, &what, "rules");
        let broken = parallel::each(&rules, &progress, |rule| {
            let without = model.with(&[*rule], &[]);
            let mut broken = without.broken_within(asked.steps);
            broken.properties.sort_by_key(|it| it.steps.len());
            broken
        });
        drop(progress);
        let singles = rules.iter().zip(broken);
        let singles: Vec<_> = singles
            .map(|(rule, broken)| Single { rule, broken })
            .collect();
        let mut guarantees: Vec<&PropertyVerdict> = Vec::new();
        let all = singles.iter().flat_map(|it| &it.broken.properties);
        for property in all.filter(|it| is_guarantee(it)) {
            if guarantees.iter().all(|it| it.name != property.name) {
                guarantees.push(property);
            }
        }
        let mut guarantees: Vec<_> = guarantees.into_iter().map(Guarantee::of).collect();
        let place = |name: &str| {
            let mut properties = text.properties.iter();
            let place = properties.position(|it| it.name == name);
            place.unwrap_or(usize::MAX)
        };
        guarantees.sort_by_cached_key(|it| place(&it.name));
        guarantees.dedup();
        let numbers = changed_numbers(model);
        for guarantee in &mut guarantees {
            guarantee.by_file = by_file(&numbers, &guarantee.clauses);
        }
        Self {
            singles,
            guarantees,
        }
    }

    /// Keeps of the guarantees those that state the clause, or have it in their name.
    pub fn keep(&mut self, clause: &str) {
        self.guarantees.retain(|it| it.states(clause));
        let kept: BTreeSet<String> = self.guarantees.iter().map(|it| it.name.clone()).collect();
        self.retain(|name| kept.contains(name));
    }

    /// Drops the runs to what breaks with every rule in force.
    pub fn drop_broken(&mut self, broken: &BTreeSet<String>) {
        for guarantee in &mut self.guarantees {
            guarantee.is_broken = broken.contains(&guarantee.name);
        }
        self.retain(|name| !broken.contains(name));
    }

    fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        for single in &mut self.singles {
            single.broken.properties.retain(|it| is_kept(&it.name));
        }
    }

    /// The rules whose loss alone breaks this guarantee, with the shortest run in steps, the shortest first.
    pub fn carriers(&self, guarantee: &Guarantee) -> Vec<(&'static Rule, usize)> {
        let singles = self.singles.iter();
        let breaks = singles.filter_map(|it| Some((it.rule, it.length(&guarantee.name)?)));
        let mut carriers: Vec<_> = breaks.collect();
        carriers.sort_by_key(|(_, length)| *length);
        carriers
    }
}

impl Single {
    /// What its loss breaks of this guarantee, by the shortest run, with its place among all that it breaks.
    pub fn breaking(&self, guarantee: &str) -> Option<(usize, &PropertyVerdict)> {
        let mut broken = self.broken.properties.iter().enumerate();
        broken.find(|(_, it)| it.name == guarantee && is_guarantee(it))
    }

    /// The same of what the text as it is read wants, and is no guarantee: by the shortest run of all.
    pub fn breaking_otherwise(&self) -> Option<(usize, &PropertyVerdict)> {
        let broken = self.broken.properties.iter().enumerate();
        let others = broken.filter(|(_, it)| !is_guarantee(it));
        others.min_by_key(|(_, it)| it.steps.len())
    }

    /// The shortest run that breaks this guarantee, in steps.
    pub fn length(&self, guarantee: &str) -> Option<usize> {
        self.breaking(guarantee).map(|(_, it)| it.steps.len())
    }

    /// The shortest run that breaks something else, in steps.
    pub fn otherwise(&self) -> Option<usize> {
        self.breaking_otherwise().map(|(_, it)| it.steps.len())
    }
}

impl Guarantee {
    fn of(property: &PropertyVerdict) -> Self {
        Self {
            name: property.name.clone(),
            clauses: property.clauses.to_vec(),
            by_file: String::new(),
            is_broken: false,
        }
    }

    /// What a property of the text states.
    pub fn named(property: &Property) -> Self {
        Self {
            name: property.name.clone(),
            clauses: property.clauses.clone(),
            by_file: String::new(),
            is_broken: false,
        }
    }

    /// Its name, and the numbers of it that a file has changed.
    pub fn in_words(&self) -> String {
        format!("{}{}", self.name, self.by_file)
    }

    /// Whether it states the clause, or one of the section, or its name has these words.
    pub fn states(&self, asked: &str) -> bool {
        match countersign_clauses::meant(asked) {
            Ok(meant) => {
                let mut meant = meant.iter();
                meant.any(|clause| self.clauses.contains(&clause.id.as_str()))
            }
            Err(_) => self.name.contains(asked),
        }
    }
}
