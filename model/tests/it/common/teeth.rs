//! The teeth of a judge: what it says when a step that conforms had put out something else.
//!
//! The one thing to know: what a judge lets pass must be a freedom that the text names, and every freedom that is named must
//! be used. Every call upon every account that a search meets is asked about; an output is added at every place: before,
//! between and after those that came out.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::mem::discriminant;

use countersign_model::judged::{CallTold, InSearch, Told, asked};
use countersign_model::specification::{Modelled, Specification};

use super::small;

/// What was done to the outputs of a step.
#[derive(Clone, Copy, Debug)]
pub enum Mutation<O> {
    LeftOut(O),
    Added(O),
    Swapped(O, O),
    Changed { was: O, is: O },
}

impl<O> Mutation<O> {
    const fn kind(&self) -> &'static str {
        match self {
            Self::LeftOut(_) => "left out",
            Self::Added(_) => "added",
            Self::Swapped(..) => "swapped",
            Self::Changed { .. } => "changed",
        }
    }
}

impl<O: Copy> Mutation<O> {
    /// Whether one of these was added.
    pub fn adds(self, which: impl Fn(O) -> bool) -> bool {
        matches!(self, Self::Added(it) if which(it))
    }

    /// Whether one of these was left out.
    pub fn leaves_out(self, which: impl Fn(O) -> bool) -> bool {
        matches!(self, Self::LeftOut(it) if which(it))
    }

    /// Whether there is another in the place of one of these.
    pub fn changes(self, which: impl Fn(O) -> bool) -> bool {
        matches!(self, Self::Changed { was, .. } if which(was))
    }

    /// Whether two such were swapped, the earlier one first.
    pub fn swaps(self, which: impl Fn(O, O) -> bool) -> bool {
        matches!(self, Self::Swapped(one, other) if which(one, other))
    }
}

/// What can come out of the steps of a protocol's model.
pub type OutputOf<T> = <Told<T> as CallTold>::Output;

/// Says it of what the judge remembered, what he was told, and what was done to that.
pub type Applies<T> = fn(&<T as Modelled>::Judge, &Told<T>, &Mutation<OutputOf<T>>) -> bool;

/// Something that the text leaves free.
pub struct Freedom<T: Modelled> {
    /// The clause that gives or bounds it.
    pub clause: &'static str,
    /// In plain words.
    pub name: &'static str,
    /// Whether it is why this passes.
    pub applies: Applies<T>,
}

/// Holds the table of a protocol, at `small` bounds, against the one that is pinned.
pub fn assert_table<T: Modelled>(
    vocabulary: &[OutputOf<T>],
    freedoms: &[Freedom<T>],
    pinned: &str,
) {
    assert_table_within(&small(), |_| true, vocabulary, freedoms, pinned);
}

/// The same of this model, and of these of its calls.
pub fn assert_table_within<T: Modelled>(
    model: &Specification<T>,
    calls: impl Fn(&Told<T>) -> bool,
    vocabulary: &[OutputOf<T>],
    freedoms: &[Freedom<T>],
    pinned: &str,
) {
    let found = table(model, calls, vocabulary, freedoms);
    assert!(found == pinned, "the table of freedoms is now:\n{found}");
}

/// How many mutations of each kind were tried and caught, then how many passed by each freedom.
///
/// # Panics
///
/// If one passes by no freedom, or a freedom lets none pass.
fn table<T: Modelled>(
    model: &Specification<T>,
    calls: impl Fn(&Told<T>) -> bool,
    vocabulary: &[OutputOf<T>],
    freedoms: &[Freedom<T>],
) -> String {
    let mut kinds = BTreeMap::<_, (usize, usize)>::new();
    let mut used = vec![0; freedoms.len()];
    let mut unnamed = BTreeMap::<_, (usize, String)>::new();
    for (judge, told) in asked(model).into_iter().filter(|(_, told)| calls(told)) {
        for (mutation, outputs) in mutations(told.outputs(), vocabulary) {
            let Some(otherwise) = told.putting_out(&outputs) else {
                continue;
            };
            let (tried, caught) = kinds.entry(mutation.kind()).or_default();
            *tried += 1;
            if !judge.clone().is_told(otherwise).is_empty() {
                *caught += 1;
            } else if let Some(by) = freedoms
                .iter()
                .position(|it| (it.applies)(&judge, &told, &mutation))
            {
                used[by] += 1;
            } else {
                let first = || (0, format!("{told:?}"));
                unnamed
                    .entry(format!("{mutation:?}"))
                    .or_insert_with(first)
                    .0 += 1;
            }
        }
    }
    assert!(unnamed.is_empty(), "by no freedom:\n{}", listed(&unnamed));
    let mut text = String::new();
    for (kind, (tried, caught)) in kinds {
        writeln!(text, "{kind}: {tried} tried, {caught} caught").expect("a string takes it");
    }
    for (freedom, used) in freedoms.iter().zip(used) {
        assert!(used > 0, "nothing passes by: {}", freedom.name);
        writeln!(text, "{} {} {used}", freedom.clause, freedom.name).expect("a string takes it");
    }
    text
}

/// Every way to put out one thing less, one more, two in the other order, or another of the same kind.
fn mutations<O: Copy + PartialEq + Debug>(
    outputs: &[O],
    vocabulary: &[O],
) -> Vec<(Mutation<O>, Vec<O>)> {
    let mut all = Vec::new();
    let mut with = |mutation, change: &dyn Fn(&mut Vec<O>)| {
        let mut otherwise = outputs.to_vec();
        change(&mut otherwise);
        all.push((mutation, otherwise));
    };
    for (place, &was) in outputs.iter().enumerate() {
        with(Mutation::LeftOut(was), &|list| {
            list.remove(place);
        });
        for (other, &later) in outputs.iter().enumerate().skip(place + 1) {
            if was != later {
                with(Mutation::Swapped(was, later), &|list| {
                    list.swap(place, other);
                });
            }
        }
        for &is in vocabulary {
            if is != was && discriminant(&is) == discriminant(&was) {
                with(Mutation::Changed { was, is }, &|list| list[place] = is);
            }
        }
    }
    for &more in vocabulary {
        for place in 0..=outputs.len() {
            with(Mutation::Added(more), &|list| list.insert(place, more));
        }
    }
    all
}

/// What passes by no freedom: how often, and the first call upon which it does.
fn listed(unnamed: &BTreeMap<String, (usize, String)>) -> String {
    let line = |(mutation, (times, first)): (_, &_)| format!("{times} {mutation} || {first}\n");
    unnamed.iter().map(line).collect::<String>()
}
