//! The suite of the ledger: what its runs show by the text, and the steps that a run of the search is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_model::engine::model::{CONFORMS, Model, Party};
use countersign_model::engine::party::{ByVariant, Judged};
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::Freedom;
use countersign_model::facade::Rule;
use countersign_model::facade::engine::{Step as Taken, Variation, run_of};
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::{Call, Decide, Lost, Op, Value};
use countersign_model::pending_action::environment::Bounds;
use countersign_model::pending_action::guarantees::WITNESSES;
use countersign_model::pending_action::spec::ARGUMENT_BYTES;
use countersign_model::pending_action::wire::Names;
use countersign_protocol::pending_action::PendingAction;
use countersign_protocol::{self as driver, Common, Greeting};
use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::driven::{Driver, START, all_named};
use crate::checked::Checked;
use crate::driven::{self, Driven as _, Others, Step, play};
use crate::implementation::Greeted;
use crate::suite::party::{ablated, text_of, unseen, without};
use crate::suite::{Derived, Suite, Suited, of_parts};

impl Suited for Driver {
    const COMMITTED: [&'static str; 2] = [include_str!("suite.json"), include_str!("clauses.json")];

    fn readings_where(
        greeting: &Greeting<PendingAction>,
        settled: &[(&str, &str)],
    ) -> Vec<driven::Taken<Checked<Spec>>> {
        super::driven::readings(greeting, settled)
    }

    fn ends(steps: &[Self::Step]) -> Vec<Self::Step> {
        let now = steps.last().map_or(Self::START, |it| it.now) + 3_600_000;
        let ends = [Common::Tick {}, Common::Restart { lost: Some(0) }];
        let ends = ends.map(|it| Step {
            now,
            op: driver::Op::Common(it),
        });
        ends.into()
    }
}

/// The suite as the text gives it: for each clause that is left out and each clause that then names what is wrong the shortest run, and
/// for each situation a shortest one. The committed runs are kept besides, by what else they are there for.
///
/// # Panics
///
/// Never: the text greets.
pub fn derived(mut progress: impl FnMut(&str)) -> Suite<Driver> {
    let [committed, _] = of_parts::<Driver>();
    let mut derived = Derived::default();
    let is_of_text = |it: &String| it.starts_with(WITHOUT) || it.starts_with(WITNESS);
    // Of runs that are equally long the last comes first.
    for mut short in committed.runs.into_iter().rev() {
        short.shows.retain(|it| !is_of_text(it));
        for shows in short.shows {
            derived.shows(shows, short.steps.clone());
        }
    }
    let mut runs: Vec<Vec<Step<PendingAction>>> = derived.steps().cloned().collect();
    runs.reverse();
    for rule in ablated::<Driver>() {
        progress(rule.name);
        runs.push(shortest_without(rule));
    }
    runs.sort_by_key(Vec::len);
    for rule in ablated::<Driver>() {
        progress(rule.name);
        let mut known = BTreeSet::new();
        let mut party = Greeted::new(without::<Driver>(rule)).expect("it greets");
        let judge = Driver::judge(party.greeting());
        for steps in &runs {
            let played = play::<Driver, _>(&mut party, steps, &judge, None::<&mut Others<Driver>>);
            let at = played.wrong.first().map(|it| it.at);
            for wrong in played.wrong.iter().filter(|it| Some(it.at) == at) {
                let clause = wrong.finding.clause;
                if known.insert(clause) {
                    derived.shows(format!("{WITHOUT}{}: {clause}", rule.name), steps.clone());
                }
            }
        }
    }
    for (name, reason) in unseen::<Driver>() {
        derived.leaves_out(format!("{WITHOUT}{name}"), reason);
    }
    progress("situations");
    for (name, steps) in situations() {
        derived.shows(format!("{WITNESS}{name}"), steps);
    }
    derived.suite()
}

const WITHOUT: &str = "without ";
const WITNESS: &str = "witness: ";

/// The shortest run in which the checker finds who leaves the clause out.
fn shortest_without(rule: &'static Rule) -> Vec<Step<PendingAction>> {
    let text = within(&[rule]);
    let model = |bounds| {
        let (variant, account) = (text.variant.clone(), Account::default());
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
fn situations() -> BTreeMap<&'static str, Vec<Step<PendingAction>>> {
    let text = within(&[]);
    let model = |bounds| text.every_party(bounds);
    shortest(&text, model, &WITNESSES.iter().map(|it| it.name).collect())
}

/// Shortest runs to what is wanted, in whichever world.
fn shortest<Q: Party<Spec>>(
    text: &Variation<Spec>,
    model: impl Fn(Bounds) -> Model<Spec, Q>,
    wanted: &BTreeSet<&'static str>,
) -> BTreeMap<&'static str, Vec<Step<PendingAction>>> {
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
fn within(left_out: &[&'static Rule]) -> Variation<Spec> {
    let text = text_of::<Driver>();
    let [_, small] = text.usual_bounds;
    let small = (text.within)(small).expect("the usual bounds are in range");
    let text = small.with(left_out, &[]);
    let text: Option<&Variation<Spec>> = text.as_any().downcast_ref();
    text.expect("it is of this text").clone()
}

/// The steps that a run of the search is; nothing in place of one that no request says.
pub fn translated(run: &[Taken<Spec>]) -> impl Iterator<Item = Option<Step<PendingAction>>> {
    let mut names = Names::default();
    let calls = run.iter().filter_map(|step| match step {
        Taken::Call { call, outputs, .. } => Some((call, outputs)),
        Taken::Move(_) => None,
    });
    calls.map(move |(call, outputs)| {
        let op = request(&mut names, call);
        names.issued(outputs);
        let now = on_the_clock(call.now);
        op.map(|op| Step { now, op })
    })
}

/// The request of a call. None, where none says it, or it is too large for a file.
fn request(names: &mut Names, call: &Call) -> Option<driver::Op<PendingAction>> {
    if let Op::Restart(Lost::Outputs(lost)) = &call.op {
        let lost = u64::try_from(lost.len()).ok();
        return Some(driver::Op::Common(Common::Restart { lost }));
    }
    let mut call = call.clone();
    match &mut call.op {
        Op::Propose(it) => {
            let it = Arc::make_mut(it);
            let beside = apart(u16::try_from(names.actions().len()).ok()?);
            for text in [&mut it.tool, &mut it.summary, &mut it.label] {
                text.name += beside;
            }
            it.arguments.value = moved(it.arguments.value, beside);
            it.expires_at = it.expires_at.map(on_the_clock);
            (it.arguments.size <= ARGUMENT_BYTES).then_some(())?;
        }
        Op::Decide(Decide {
            action,
            arguments: Some(arguments),
            ..
        }) => *arguments = moved(*arguments, apart(*action)),
        Op::Decide(_)
        | Op::Say { .. }
        | Op::FinishTool { .. }
        | Op::Cancel(_)
        | Op::EndSession(_)
        | Op::Snapshot
        | Op::Rollback(_)
        | Op::Tick
        | Op::Restart(_) => {}
    }
    let mut op = names.request(&call)?;
    all_named(&mut op, |kind, text| {
        let number = kind.of(names).iter().position(|it| it == text);
        if let Some(number) = number {
            *text = kind.placeholder(number);
        }
        true
    });
    Some(op)
}

/// A tick of the search is a minute.
const fn on_the_clock(ticks: i64) -> i64 {
    START + ticks * 60_000
}

/// The search says the same of every action. In a suite each has words and arguments of its own: so far are its numbers from those of
/// the search.
fn apart(action: u16) -> u16 {
    100 * (action % 100)
}

fn moved(value: Value, by: u16) -> Value {
    Value {
        bytes: value.bytes + by,
        meaning: value.meaning.map(|it| it + by),
    }
}
