//! What each rule is worth: what its loss alone breaks, what it breaks only together with the loss of another, and what the loss
//! of another hides.
//!
//! The one thing to know: a party without a rule does something else, not only more. So the loss of two rules can break less than
//! the loss of one, and each statement holds within the runs that were looked at.

use std::collections::{BTreeMap, BTreeSet};

use countersign_model::ablation::{Broken, broken_within};
use countersign_model::bounds::written;
use countersign_model::checker::PropertyVerdict;
use countersign_model::judge::Kind;
use countersign_model::properties::PropertyRow;
use countersign_model::rules::{GuardRow, Guards, Rules};
use countersign_model::specification::{Modelled, Specification};

use crate::argued::{by_file, changed_numbers};
use crate::parallel;
use crate::progress::Progress;

pub mod page;
pub mod text;

/// What the rules of a protocol are worth.
#[derive(Clone, Debug)]
pub struct Worth<G: 'static> {
    /// Each rule that was left out alone.
    pub singles: Vec<Single<G>>,
    /// What the text is there to prevent, as far as something that was searched breaks it, in the order of the text.
    pub guarantees: Vec<Guarantee>,
    /// The pairs, if they were asked for.
    pub pairs: Option<Pairs<G>>,
}

/// A rule left out.
#[derive(Clone, Debug)]
pub struct Single<G: 'static> {
    /// The rule.
    pub row: &'static GuardRow<G>,
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

/// Two rules left out at a time.
#[derive(Clone, Debug)]
pub struct Pairs<G: 'static> {
    /// How many were searched.
    pub searched: usize,
    /// Those of which no bounds show both rules.
    pub without_bounds: Vec<[&'static GuardRow<G>; 2]>,
    /// What breaks only where both are left out.
    pub together: Vec<Together<G>>,
    /// What breaks where one is left out, and not where both are.
    pub hidden: Vec<Hidden<G>>,
    /// The longest runs of which every one was looked at for each pair, in steps; some pairs have none so long.
    pub steps: usize,
    /// States that differ, in these runs: the least and the most of all pairs.
    pub states: [usize; 2],
}

/// A guarantee that two rules carry, each of which is enough.
#[derive(Clone, Debug)]
pub struct Together<G: 'static> {
    /// The rules.
    pub rows: [&'static GuardRow<G>; 2],
    /// The name of the guarantee.
    pub guarantee: String,
    /// The shortest run that breaks it, in steps.
    pub shortest: usize,
    /// How far it was not broken with one of the rules in force: in steps, and in states of each.
    pub alone: [(usize, usize); 2],
}

/// A guarantee that the loss of a rule breaks, and no longer where another is left out too.
#[derive(Clone, Debug)]
pub struct Hidden<G: 'static> {
    /// The rule whose loss breaks it.
    pub row: &'static GuardRow<G>,
    /// The rule whose loss hides that.
    pub by: &'static GuardRow<G>,
    /// The name of the guarantee.
    pub guarantee: String,
    /// The shortest run that breaks it while the other rule is in force, in steps.
    pub shortest: usize,
    /// How far it was not broken with both left out: in steps, and in states.
    pub within: (usize, usize),
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a, G: 'static> {
    /// These rules; all where it is empty.
    pub rules: &'a [G],
    /// Whether pairs are, too: with any other rule.
    pub pairs: bool,
    /// The longest runs that are looked at, in steps.
    pub steps: usize,
}

/// Whether it is broken however the text is read.
pub fn is_guarantee(property: &PropertyVerdict) -> bool {
    let finding = property.finding.as_ref();
    finding.is_some_and(|finding| finding.kind == Kind::Guarantee)
}

/// The guarantees that break, each with its shortest run in steps.
fn lengths(properties: &[PropertyVerdict]) -> BTreeMap<String, usize> {
    let guarantees = properties.iter().filter(|it| is_guarantee(it));
    guarantees
        .map(|it| (it.name.clone(), it.steps.len()))
        .collect()
}

impl<G: Guards> Worth<G> {
    /// Leaves the rules out that are asked for, each within bounds in which it matters.
    pub fn of<T: Modelled<Guard = G>>(model: &Specification<T>, asked: Asked<'_, G>) -> Self {
        let is_asked =
            |row: &&GuardRow<G>| asked.rules.is_empty() || asked.rules.contains(&row.guard);
        let rows: Vec<&'static GuardRow<G>> = G::ROWS.iter().filter(is_asked).collect();
        let what = format!("{}: leaving out", T::NAME);
        let progress = Progress::of(rows.len() as u64, &what, "rules");
        let broken = parallel::each(&rows, &progress, |row| {
            let within = model.showing(row.with);
            let mut broken = without(&within, &[row], asked.steps);
            broken.properties.sort_by_key(|it| it.steps.len());
            broken
        });
        drop(progress);
        let singles = rows.iter().zip(broken);
        let singles: Vec<_> = singles
            .map(|(row, broken)| Single { row, broken })
            .collect();
        let mut guarantees: Vec<&PropertyVerdict> = Vec::new();
        let all = singles.iter().flat_map(|it| &it.broken.properties);
        for property in all.filter(|it| is_guarantee(it)) {
            if guarantees.iter().all(|it| it.name != property.name) {
                guarantees.push(property);
            }
        }
        let mut guarantees: Vec<_> = guarantees.into_iter().map(Guarantee::of).collect();
        let pairs = asked.pairs.then(|| {
            let (pairs, more) = Pairs::of(model, &rows, asked.steps);
            guarantees.extend(more);
            pairs
        });
        let place = |name: &str| {
            let mut rows = T::PROPERTIES.iter().map(PropertyRow::name);
            rows.position(|it| it == name).unwrap_or(usize::MAX)
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
            pairs,
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
        if let Some(pairs) = &mut self.pairs {
            pairs.together.retain(|it| is_kept(&it.guarantee));
            pairs.hidden.retain(|it| is_kept(&it.guarantee));
        }
    }

    /// The rules whose loss alone breaks this guarantee, with the shortest run in steps, the shortest first.
    pub fn carriers(&self, guarantee: &Guarantee) -> Vec<(&'static GuardRow<G>, usize)> {
        let singles = self.singles.iter();
        let breaks = singles.filter_map(|it| Some((it.row, it.length(&guarantee.name)?)));
        let mut carriers: Vec<_> = breaks.collect();
        carriers.sort_by_key(|(_, length)| *length);
        carriers
    }
}

impl<G> Single<G> {
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

    /// What a row of the text states.
    pub fn named(row: &PropertyRow) -> Self {
        Self {
            name: row.name(),
            clauses: row.clauses.to_vec(),
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

/// What breaks without these rules.
fn without<T: Modelled>(
    model: &Specification<T>,
    rows: &[&GuardRow<T::Guard>],
    steps: usize,
) -> Broken {
    let rules = rows
        .iter()
        .fold(Rules::all(), |rules, row| rules.without(row.guard));
    broken_within(&model.with(rules, model.reading), steps)
}

/// What one setting breaks of the guarantees, and how far was looked: steps, states.
type Looked = (BTreeMap<String, usize>, (usize, usize));

fn looked(broken: &Broken) -> Looked {
    (lengths(&broken.properties), (broken.steps, broken.states))
}

impl<G: Guards> Pairs<G> {
    /// Leaves two rules out at a time, one of which is among these, within bounds in which both matter; and the guarantees that
    /// break only so.
    fn of<T: Modelled<Guard = G>>(
        model: &Specification<T>,
        rows: &[&'static GuardRow<G>],
        steps: usize,
    ) -> (Self, Vec<Guarantee>) {
        let mut tasks = Vec::new();
        let mut without_bounds = Vec::new();
        for (place, first) in rows.iter().copied().enumerate() {
            let all = G::ROWS.iter();
            let behind = all.filter(|it| rows[..=place].iter().all(|row| row.guard != it.guard));
            for second in behind {
                let orders = [[first, second], [second, first]];
                let mut within = orders
                    .map(|[one, other]| model.showing(one.with).showing(other.with))
                    .into_iter();
                match within.find(|it| it.shows(first.with) && it.shows(second.with)) {
                    Some(within) => tasks.push((within, [first, second])),
                    None => without_bounds.push([first, second]),
                }
            }
        }
        // Each rule alone, within the bounds of its pairs.
        let mut alone: Vec<(String, &Specification<T>, &'static GuardRow<G>)> = Vec::new();
        for (within, pair) in &tasks {
            let bounds = written(within.bounds);
            for row in pair {
                if alone
                    .iter()
                    .all(|(it, _, other)| (it, other.name) != (&bounds, row.name))
                {
                    alone.push((bounds.clone(), within, row));
                }
            }
        }
        let what = format!("{}: leaving out", T::NAME);
        let progress = Progress::of(alone.len() as u64, &what, "rules");
        let known = parallel::each(&alone, &progress, |(_, within, row)| {
            looked(&without(within, &[row], steps))
        });
        drop(progress);
        let names = alone
            .iter()
            .map(|(bounds, _, row)| (bounds.clone(), row.name));
        let known: BTreeMap<_, _> = names.zip(known).collect();
        let progress = Progress::of(tasks.len() as u64, &what, "pairs");
        let found = parallel::each(&tasks, &progress, |(within, pair)| {
            let broken = without(within, pair, steps);
            let guarantees = broken.properties.iter().filter(|it| is_guarantee(it));
            let guarantees: Vec<_> = guarantees.map(Guarantee::of).collect();
            (looked(&broken), guarantees)
        });
        let mut pairs = Self {
            searched: tasks.len(),
            without_bounds,
            together: Vec::new(),
            hidden: Vec::new(),
            steps: 0,
            states: [usize::MAX, 0],
        };
        let mut more = Vec::new();
        let nothing = Looked::default();
        for ((within, pair), ((both, extent), guarantees)) in tasks.iter().zip(&found) {
            let bounds = written(within.bounds);
            let alone = pair.map(|row| known.get(&(bounds.clone(), row.name)).unwrap_or(&nothing));
            let new = pairs.add(*pair, alone, (both, *extent));
            more.extend(
                guarantees
                    .iter()
                    .filter(|it| new.contains(&it.name))
                    .cloned(),
            );
        }
        (pairs, more)
    }
}

impl<G> Pairs<G> {
    /// Adds a pair; the names of the guarantees that break only so.
    fn add(
        &mut self,
        rows: [&'static GuardRow<G>; 2],
        alone: [&Looked; 2],
        (both, extent): (&BTreeMap<String, usize>, (usize, usize)),
    ) -> Vec<String> {
        // Of what has no longer runs all were looked at.
        self.steps = self.steps.max(extent.0);
        self.states = [self.states[0].min(extent.1), self.states[1].max(extent.1)];
        let mut new = Vec::new();
        for (guarantee, shortest) in both {
            if alone
                .iter()
                .all(|(broken, _)| !broken.contains_key(guarantee))
            {
                new.push(guarantee.clone());
                self.together.push(Together {
                    rows,
                    guarantee: guarantee.clone(),
                    shortest: *shortest,
                    alone: alone.map(|(_, extent)| *extent),
                });
            }
        }
        for (place, (broken, _)) in alone.into_iter().enumerate() {
            for (guarantee, shortest) in broken {
                if !both.contains_key(guarantee) {
                    self.hidden.push(Hidden {
                        row: rows[place],
                        by: rows[1 - place],
                        guarantee: guarantee.clone(),
                        shortest: *shortest,
                        within: extent,
                    });
                }
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(broken: &[(&str, usize)]) -> Looked {
        let broken = broken
            .iter()
            .map(|(name, steps)| ((*name).to_owned(), *steps));
        (broken.collect(), (8, 100))
    }

    #[test]
    fn a_pair_tells_what_breaks_only_so_and_what_no_longer_does() {
        let row = |name| GuardRow {
            guard: (),
            name,
            clauses: &["PA-1"],
            gist: "",
            with: None,
            in_samples: None,
            free: None,
        };
        let rows = ["one", "other"].map(|name| &*Box::leak(Box::new(row(name))));
        let mut pairs = Pairs {
            searched: 1,
            without_bounds: Vec::new(),
            together: Vec::new(),
            hidden: Vec::new(),
            steps: 0,
            states: [usize::MAX, 0],
        };
        let (one, other) = (
            looked(&[("kept", 3), ("hidden", 4)]),
            looked(&[("kept", 5)]),
        );
        let (both, extent) = looked(&[("kept", 3), ("new", 6)]);
        let new = pairs.add(rows, [&one, &other], (&both, extent));
        assert_eq!(new, ["new"]);
        let together: Vec<_> = pairs
            .together
            .iter()
            .map(|it| (&*it.guarantee, it.shortest))
            .collect();
        assert_eq!(together, [("new", 6)]);
        let hidden: Vec<_> = pairs
            .hidden
            .iter()
            .map(|it| (it.row.name, it.by.name, &*it.guarantee))
            .collect();
        assert_eq!(hidden, [("one", "other", "hidden")]);
        assert_eq!((pairs.steps, pairs.states), (8, [100, 100]));
    }
}
