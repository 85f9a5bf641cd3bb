//! What a judge makes of other outputs than those that came.

use std::collections::BTreeSet;
use std::rc::Rc;

use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_protocol::{Greeting, Kind, Output, Protocol as _};

use super::{Ask, Asked, Played, Step, Told, Wrong, at_reset};
use crate::checked::{Checked, id};
use crate::spoken::{Driver, Spoken, Wire};

/// Adds the clauses that a run exercises: those that whoever keeps all the others could have broken in it and been found, and those
/// that the form of what came is held by.
pub fn exercise<P: Spoken>(
    exercised: &mut BTreeSet<&'static str>,
    judge: &Checked<P>,
    played: &Played<P>,
) {
    let clauses = (0..).map(Clause).zip(P::CLAUSES);
    let left = clauses.filter(|(_, it)| it.free.is_none() && !exercised.contains(it.id));
    let left = left.fold(ClauseSet::EMPTY, |all, (clause, _)| all.with(clause));
    let found = P::exercised(&at_reset::<P>(judge), &played.shown, left);
    let outputs = played.shown.iter().flat_map(|(_, outputs)| outputs);
    let form = outputs.flat_map(|it| P::form(&it.output));
    exercised.extend(found.iter().chain(form.copied()).map(id::<P>));
}

/// The clauses by which these outputs would be wrong.
pub(crate) fn wrong<P: Spoken>(
    driven: &Driver<P>,
    judge: &Checked<P>,
    asked: &Asked<P>,
    outputs: &[Output<Wire<P>>],
) -> BTreeSet<&'static str> {
    let shown = driven.clone().take(&asked.call, outputs);
    let found = judge.clone().see(&asked.call, &shown).into_iter();
    let clauses = found.flat_map(|it| [it.clause].into_iter().chain(it.also.iter().copied()));
    clauses.collect()
}

/// Whether something was performed at a call that was not to be: without it, the call is not wrong by this clause.
pub(super) fn ran_wrongly<P: Spoken>(
    greeting: &Rc<Greeting<Wire<P>>>,
    steps: &[Step<Wire<P>>],
    judge: &Checked<P>,
    played: &Played<P>,
    at: &Wrong,
) -> bool {
    let mut judge = at_reset::<P>(judge);
    let mut driven = Driver::<P>::begin(greeting);
    let mut answered = (1..).zip(played.answered()).peekable();
    for (place, step) in steps.iter().enumerate() {
        let asked = driven.ask(step);
        let told = answered.next_if(|(_, told)| told.at == place);
        let Some((calls, Told { ask, outputs, .. })) = told else {
            continue;
        };
        let seen = match (asked, ask) {
            (Some(asked), Ask::Op(_)) if calls == at.calls => {
                let is_perform = |it: &&Output<Wire<P>>| Wire::<P>::kind(&it.what) == Kind::Perform;
                let (ran, others): (Vec<_>, Vec<_>) = outputs.iter().partition(is_perform);
                let others: Vec<_> = others.into_iter().cloned().collect();
                return !ran.is_empty()
                    && !wrong(&driven, &judge, &asked, &others).contains(at.finding.clause);
            }
            (Some(Asked { call, .. }), Ask::Op(_)) => {
                let shown = driven.take(&call, outputs);
                Some((call, shown))
            }
            (_, Ask::Raw(raw)) => driven.take_refused(raw, outputs),
            (None, Ask::Op(_)) => None,
        };
        if let Some((call, shown)) = seen {
            let _found = judge.see(&call, &shown);
        }
    }
    false
}
