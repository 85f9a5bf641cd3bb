//! The suite of a text: what its runs show, and the steps that a run of the search is.

use std::collections::{BTreeMap, BTreeSet};

use countersign_model::engine::model::{CONFORMS, Model, Party};
use countersign_model::engine::party::{ByVariant, Judged};
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::Freedom;
use countersign_model::facade::Rule;
use countersign_model::facade::engine::{Variation, property};
use countersign_model::facade::run::{Step as Taken, run_of};
use countersign_model::wire::Codec as _;
use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::producer::{Producer, ablated, text_of, unseen};
use super::{Spoken, Wire, judge};
use crate::driven::{Step, play, standing_for};
use crate::implementation::Greeted;
use crate::suite::{Derived, Suite, WITHOUT, WITNESS, committed, is_of_text};

/// The steps that runs are.
type Steps<P> = Vec<Step<Wire<P>>>;

/// The suite as the text gives it: for each clause that is left out and each clause that then names what is wrong the shortest run, and
/// for each situation a shortest one. The committed runs are kept besides, by what else they are there for.
///
/// # Panics
///
/// Never: the text greets.
pub fn derived<P: Spoken>(mut progress: impl FnMut(&str)) -> Suite<P> {
    let committed = committed::<P>();
    let mut derived = Derived::default();
    // Of runs that are equally long the last comes first.
    for mut short in committed.runs.into_iter().rev() {
        short.shows.retain(|it| !is_of_text(it));
        for shows in short.shows {
            derived.shows(shows, short.steps.clone());
        }
    }
    let mut runs: Vec<Steps<P>> = derived.steps().cloned().collect();
    runs.reverse();
    for rule in ablated::<P>() {
        progress(rule.name);
        runs.push(shortest_without::<P>(rule));
    }
    progress("situations");
    let situations = situations::<P>();
    runs.extend(situations.values().cloned());
    runs.sort_by_key(Vec::len);
    for rule in ablated::<P>() {
        progress(rule.name);
        let mut known = BTreeSet::new();
        let mut party = Greeted::new(Producer::<P>::without(rule)).expect("it greets");
        let judge = judge::<P>(party.greeting());
        for steps in &runs {
            let played = play(&mut party, steps, &judge);
            let at = played.wrong.first().map(|it| it.at);
            for wrong in played.wrong.iter().filter(|it| Some(it.at) == at) {
                let clause = wrong.finding.clause;
                if known.insert(clause) {
                    derived.shows(format!("{WITHOUT}{}: {clause}", rule.name), steps.clone());
                }
            }
        }
    }
    for (name, reason) in unseen::<P>() {
        derived.leaves_out(format!("{WITHOUT}{name}"), reason);
    }
    for it in P::WITNESSES {
        let steps = situations.get(it.name).cloned().unwrap_or_default();
        derived.shows(format!("{WITNESS}{}", property(it).name), steps);
    }
    derived.suite()
}

/// The shortest run in which the checker finds who leaves the clause out.
fn shortest_without<P: Spoken>(rule: &'static Rule) -> Steps<P> {
    let text = within::<P>(&[rule]);
    let model = |bounds| {
        let (variant, account) = (text.variant.clone(), P::account(Some(&bounds)));
        Model {
            variant: Variant::default(),
            party: Judged::new(ByVariant::new(variant, account.clone()), account),
            bounds,
            freedom: Freedom::Default,
            forgets: false,
        }
    };
    let found = shortest(&text, model, &BTreeSet::from([CONFORMS]));
    found.into_values().next().unwrap_or_default()
}

/// A shortest run to each situation.
fn situations<P: Spoken>() -> BTreeMap<&'static str, Steps<P>> {
    let text = within::<P>(&[]);
    let model = |bounds| text.every_party(bounds);
    shortest(
        &text,
        model,
        &P::WITNESSES.iter().map(|it| it.name).collect(),
    )
}

/// Shortest runs to what is wanted, in whichever world.
fn shortest<P: Spoken, Q: Party<P>>(
    text: &Variation<P>,
    model: impl Fn(P::Bounds) -> Model<P, Q>,
    wanted: &BTreeSet<&'static str>,
) -> BTreeMap<&'static str, Steps<P>> {
    let mut found = BTreeMap::new();
    for depth in 2..=DEEPEST {
        for (_, bounds) in &text.worlds {
            let left = wanted.iter().filter(|it| !found.contains_key(*it));
            let left = HasDiscoveries::AllOf(left.copied().collect());
            let search = model(*bounds).checker().target_max_depth(depth);
            let checker = search.finish_when(left).spawn_bfs().join();
            for (name, path) in checker.discoveries() {
                let steps: Option<Vec<_>> = translated(&run_of(path.into_actions())).collect();
                if let (true, Some(steps)) = (wanted.contains(name), steps) {
                    found.entry(name).or_insert(steps);
                }
            }
            if found.len() == wanted.len() {
                return found;
            }
        }
    }
    found
}

/// So deep is searched, the start among it: what is wanted is nearer.
const DEEPEST: usize = 8;

/// The text without those clauses, within the bounds of a changed one.
fn within<P: Spoken>(left_out: &[&'static Rule]) -> Variation<P> {
    let text = text_of::<P>();
    let [_, small] = text.usual_bounds;
    let small = (text.within)(small).expect("the usual bounds are in range");
    let text = small.with(left_out, &[]);
    let text: Option<&Variation<P>> = text.as_any().downcast_ref();
    text.expect("it is of this text").clone()
}

/// The steps that a run of the search is; nothing in place of one that no request says.
pub fn translated<P: Spoken>(run: &[Taken<P>]) -> impl Iterator<Item = Option<Step<Wire<P>>>> {
    let mut codec = P::Codec::default();
    let calls = run.iter().filter_map(|step| match step {
        Taken::Call { call, outputs, .. } => Some((call, outputs)),
        Taken::Move(_) => None,
    });
    calls.map(move |(call, outputs)| {
        let step = P::in_suite(&mut codec, call);
        codec.issued(outputs);
        let (now, mut op) = step?;
        P::all_named(&mut op, &mut |kind, text| {
            *text = standing_for(P::NAMED[kind], P::names(&codec, kind), text);
            true
        });
        Some(Step::new(now, op))
    })
}
