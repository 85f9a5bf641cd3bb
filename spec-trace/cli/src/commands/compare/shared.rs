//! What goes with a clause that is left out: a rule may carry out several.

use std::collections::{BTreeSet, HashSet};

use countersign_model::checker::Broken;
use countersign_model::checker::PropertyVerdict;
use countersign_model::compare::Compared;
use countersign_model::departures::Departure;
use countersign_model::facade::Model;
use serde_json::{Value, json};

use super::hanging;
use crate::arguments::Setting;

/// One thing in which two settings differ, and what it came to by itself.
pub(super) type Each = (Departure, Compared);

/// Of a setting that leaves out clauses: what goes with them, as a rule may carry out several.
#[derive(Debug, Default)]
pub struct Shared {
    /// The clauses that were named.
    named: Vec<&'static str>,
    /// What the rules of these carry out besides.
    others: BTreeSet<&'static str>,
    /// Those of the rules that carry out nothing else.
    alone: Vec<&'static str>,
    /// The others.
    more: Vec<&'static str>,
}

impl Shared {
    /// What goes with what this setting leaves out; a rule that was named itself is meant with all that it carries out.
    pub fn of(setting: &Setting, model: &dyn Model) -> Self {
        let words = setting.without();
        let is_named = |clause: &str| {
            words.iter().any(|word| {
                let meant = countersign_clauses::meant(word).unwrap_or_default();
                word == clause || meant.iter().any(|it| it.id.as_str() == clause)
            })
        };
        let mut all = Self::default();
        let is_rule = |name: &str| words.iter().any(|word| word == name);
        let rules = model.left_out().into_iter();
        for row in rules.filter(|it| !is_rule(it.name)) {
            let (named, others): (Vec<_>, Vec<_>) =
                row.clauses.iter().partition(|clause| is_named(clause));
            if named.is_empty() {
                continue;
            }
            let of = if others.is_empty() {
                &mut all.alone
            } else {
                &mut all.more
            };
            of.push(row.name);
            all.others.extend(others);
            for clause in named {
                if !all.named.contains(&clause) {
                    all.named.push(clause);
                }
            }
        }
        all
    }

    /// As a line that stands in so far; nothing where nothing goes with it.
    pub fn text(&self, indent: &str) -> String {
        if self.others.is_empty() {
            return String::new();
        }
        let list = |all: &[&str]| match all {
            [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            all => all.join(", "),
        };
        let mut others: Vec<_> = self.others.iter().copied().collect();
        others.sort_by_key(|it| countersign_clauses::place(it));
        let (others, named, alone) = (list(&others), list(&self.named), list(&self.alone));
        let carries = match self.alone.as_slice() {
            [] => format!("no rule is of {named} alone"),
            [_] => format!("the rule of {named} alone is {alone}"),
            _ => format!("the rules of {named} alone are {alone}"),
        };
        hanging(
            indent,
            &format!("also leaves out part of {others}: {carries}"),
        )
    }

    /// The clauses, the rules by which they go, and those that carry out nothing else.
    pub(super) fn json(&self) -> Value {
        json!({ "clauses": self.others, "rules": self.more, "alone": self.alone })
    }

    /// How far a run is from the clauses that were named: not at all where its rule carries out nothing else.
    fn distance(&self, departure: &Departure) -> usize {
        let name = &departure.name;
        if self.alone.contains(name) {
            return 0;
        }
        let chief = departure.clauses.first();
        let is_chief = chief.is_some_and(|it| self.named.contains(it));
        if is_chief || !self.more.contains(name) {
            1
        } else {
            2
        }
    }

    /// Puts the runs first that are about the clauses that were named; the name of that by which the first one is, if it is another now.
    pub(super) fn order(&self, compared: &mut Compared, each: &mut Vec<Each>) -> Option<String> {
        if self.others.is_empty() {
            return None;
        }
        each.sort_by_key(|(it, _)| self.distance(it));
        let is_freed = compared.difference.is_none();
        let [own] = compared.told_unless_free()?.needs.as_slice() else {
            return None;
        };
        let own = own.clone();
        let nearer = |(it, compared): &Each| {
            let told = [&compared.difference, &compared.allowed][usize::from(is_freed)];
            told.is_some() && self.distance(it) < self.distance(&own)
        };
        let first = each.iter().position(nearer)?;
        let (departure, mut nearest) = each.remove(first);
        if is_freed {
            std::mem::swap(&mut compared.allowed, &mut nearest.allowed);
        } else {
            std::mem::swap(compared, &mut nearest);
        }
        each.push((own, nearest));
        each.sort_by_key(|(it, _)| self.distance(it));
        (!is_freed).then(|| departure.in_words())
    }

    /// The searches that are nearer to the clauses that were named than the run that was found, and found nothing; and the rest.
    pub(super) fn nearer_without(&self, found: &Compared, each: &[Each]) -> (Vec<Each>, Vec<Each>) {
        let needs = found.difference.iter().flat_map(|it| &it.needs);
        let own = needs.map(|it| self.distance(it)).min().unwrap_or(0);
        let each = each.iter().cloned();
        each.partition(|(it, compared)| compared.difference.is_none() && self.distance(it) < own)
    }

    /// Of what breaks, by its name, what does not where only those of the rules are left out that carry out nothing else; but for what
    /// states a clause that was named.
    pub(super) fn breaking(&self, model: &dyn Model, broken: &Broken) -> HashSet<String> {
        if self.others.is_empty() {
            return HashSet::new();
        }
        let mut left_out = model.left_out();
        left_out.retain(|it| !self.more.contains(&it.name));
        let alone = model.with(&left_out, &[]);
        let alone = alone.broken_within(model.text().longest);
        let is_other = |it: &&PropertyVerdict| {
            let is_named = it.clauses.first().is_some_and(|it| self.named.contains(it));
            !is_named && !alone.properties.iter().any(|other| other.name == it.name)
        };
        let others = broken.properties.iter().filter(is_other);
        others.map(|it| it.name.clone()).collect()
    }
}
