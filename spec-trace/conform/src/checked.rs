//! The checker of a spec, where a judge is asked: what it finds is put into words.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use countersign_model::engine::checker::{Checker, Finding as Found, Judgement};
use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_model::engine::model::Environment;
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::Mismatch;
use countersign_model::judge::{Finding, Kind};

/// A protocol whose outputs can be named.
pub trait Worded: Environment {
    /// What an output is and is about: `the event "created" of action 0`.
    fn head(output: &Self::Output) -> String;
    /// What else it says, field by field.
    fn fields(output: &Self::Output) -> Vec<(&'static str, String)>;
    /// A call and what came of it, for the guarantees.
    fn see(history: &mut Self::History, call: &Self::Call, outputs: &[Self::Output]);
    /// [`Checked::judge`]: where it is written for one protocol, it is compiled once, with this crate's optimisation.
    fn judge(
        checked: &mut Checked<Self>,
        call: &Self::Call,
        outputs: &[Read<Self::Output>],
    ) -> Vec<Finding>;
    /// [`Checked::exercised`], in the same way.
    fn exercised(checked: &Checked<Self>, calls: &[Shown<Self>], clauses: ClauseSet) -> ClauseSet;
}

/// A call, and the outputs that came.
pub type Shown<P> = (<P as Protocol>::Call, Vec<Read<<P as Protocol>::Output>>);

/// An output as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<O> {
    /// In the words of the spec.
    pub output: O,
    /// The clause that asks for another form, and what it asks for.
    pub flaw: Option<(Clause, String)>,
}

/// A party, checked against a variant of a text.
#[derive(Clone, Debug)]
pub struct Checked<P: Environment> {
    variant: Variant<P>,
    checker: Checker<P>,
    history: P::History,
}

/// Where more explanations fit, it is not asked what a run exercises from there on.
const FEW: usize = 8;

impl<P: Worded> Checked<P> {
    /// A party that has done nothing so far.
    pub fn new(variant: Variant<P>, account: P::Account) -> Self {
        Self {
            variant,
            checker: Checker::new(account),
            history: P::History::default(),
        }
    }

    /// [`Self::judge`], compiled once.
    pub fn see(&mut self, call: &P::Call, outputs: &[Read<P::Output>]) -> Vec<Finding> {
        P::judge(self, call, outputs)
    }

    /// Whether nothing more is found, for too many explanations fit what came so far.
    pub fn has_given_up(&self) -> bool {
        self.checker.is_undecided()
    }

    fn broken(&self) -> usize {
        let broken = P::GUARANTEES.iter().filter(|it| !(it.holds)(&self.history));
        broken.count()
    }

    /// Of these clauses those that a run exercises: who keeps all but one of them could have answered a call of it otherwise, and would have
    /// been found.
    pub fn exercised(&self, calls: &[Shown<P>], clauses: ClauseSet) -> ClauseSet {
        let mut whole = self.checker.clone();
        let less = clauses
            .iter()
            .map(|it| (it, self.variant.without(it.into()), self.checker.clone()));
        let mut less: Vec<_> = less.collect();
        let mut exercised = ClauseSet::EMPTY;
        for (call, outputs) in calls {
            less.retain(|(.., checker)| checker.worlds().len() <= FEW);
            if whole.worlds().len() > FEW {
                break;
            }
            let outputs: Vec<P::Output> = outputs.iter().map(|it| it.output.clone()).collect();
            less.retain(|(clause, variant, checker)| {
                let tells = whole.tells(&self.variant, (variant, checker), call);
                if tells {
                    exercised = exercised.with(*clause);
                }
                !tells
            });
            whole.observe(&self.variant, call, &outputs);
            // Behind a fault things stand as they do for whoever keeps all.
            for (_, variant, checker) in &mut less {
                if !checker.explains(variant, call, &outputs) {
                    checker.clone_from(&whole);
                }
            }
        }
        exercised
    }

    /// What of a call and of all that came of it is not as the text has it.
    pub fn judge(&mut self, call: &P::Call, outputs: &[Read<P::Output>]) -> Vec<Finding> {
        let read: Vec<P::Output> = outputs.iter().map(|it| it.output.clone()).collect();
        let flaws = outputs.iter().filter_map(|it| it.flaw.as_ref());
        let flaws = flaws.filter(|(clause, _)| self.variant.enforces(*clause));
        let mut found: Vec<(Clause, Vec<Clause>, String)> = Vec::new();
        for (clause, text) in flaws {
            if found.iter().all(|it| it.0 != *clause) {
                found.push((*clause, Vec::new(), text.clone()));
            }
        }
        let before = self.broken();
        P::see(&mut self.history, call, &read);
        let judgement = self.checker.observe(&self.variant, call, &read);
        if let (Judgement::Found(it), true) = (judgement, found.is_empty()) {
            let text = in_words::<P>(&it);
            let named = it.clause.or_else(|| it.mismatch.clauses().first().copied());
            found.extend(named.map(|clause| (clause, it.also, text.clone())));
            found.extend(it.beside.map(|clause| (clause, Vec::new(), text)));
        }
        let kind = if self.broken() > before {
            Kind::Guarantee
        } else {
            Kind::Conformance
        };
        let findings = found.into_iter().map(|(clause, also, text)| Finding {
            clause: id::<P>(clause),
            also: kept(also.into_iter().map(id::<P>).collect()),
            kind,
            text,
        });
        findings.collect()
    }
}

/// The id of a clause.
pub(crate) fn id<P: Environment>(clause: Clause) -> &'static str {
    P::CLAUSES
        .get(usize::from(clause.0))
        .map_or("", |entry| entry.id)
}

/// The same ids, for as long as the process lives: there are few such lists.
fn kept(ids: Vec<&'static str>) -> &'static [&'static str] {
    static ALL: Mutex<BTreeSet<&'static [&'static str]>> = Mutex::new(BTreeSet::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(&*ids) {
        return known;
    }
    let new: &'static [&'static str] = ids.leak();
    all.insert(new);
    new
}

/// What would have been right, beside what came.
fn in_words<P: Worded>(found: &Found<P::Output>) -> String {
    let output = found.mismatch.output();
    let head = P::head(output);
    let is_missing = |it: &Mismatch<P::Output>| matches!(it, Mismatch::Missing { .. });
    let other = found
        .consequences
        .iter()
        .find(|it| is_missing(it) != is_missing(&found.mismatch) && P::head(it.output()) == head);
    let Some(other) = other else {
        return if is_missing(&found.mismatch) {
            head
        } else {
            format!("no {}", head.strip_prefix("the ").unwrap_or(&head))
        };
    };
    let (expected, came) = if is_missing(other) {
        (other.output(), output)
    } else {
        (output, other.output())
    };
    let (expected, came) = (P::fields(expected), P::fields(came));
    let value = |name, fields: &[(&str, String)]| {
        let field = fields.iter().find(|(it, _)| *it == name);
        field.map_or("nothing".to_owned(), |(_, it)| it.clone())
    };
    let mut names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    names.extend(came.iter().map(|(name, _)| *name));
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let differing = names.into_iter().filter_map(|name| {
        let [expected, came] = [value(name, &expected), value(name, &came)];
        (expected != came).then(|| format!("`{name}` {expected}, not {came}"))
    });
    let differing: Vec<_> = differing.collect();
    if differing.is_empty() {
        // It is right, and came where it could not.
        return format!("{head}, in another place");
    }
    format!("{head}, with {}", differing.join("; "))
}
