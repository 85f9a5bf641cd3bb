//! The suite of the ledger: what its runs show by the text, and the steps that a run of the search is.

use std::collections::{BTreeMap, BTreeSet};

use countersign_model::engine::model::{CONFORMS, Model, Party};
use countersign_model::engine::party::{ByVariant, Judged};
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::Freedom;
use countersign_model::facade::Rule;
use countersign_model::facade::engine::{Step as Taken, Variation, run_of};
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::{
    ActionId, Call, Decide, Decision, Effect, Event, Lost, Name, Nonce, Op, Output, Proposal,
    Status, Text, Value, What,
};
use countersign_model::pending_action::environment::{AGENT, Bounds, DECIDER, RESPELT, STRANGER};
use countersign_model::pending_action::guarantees::WITNESSES;
use countersign_model::pending_action::spec::{
    ARGUMENT_BYTES, ARGUMENT_LEVELS, LABEL_CHARACTERS, NAME_CHARACTERS, SUMMARY_CHARACTERS,
};
use countersign_protocol::Greeting;
use countersign_protocol::pending_action::PendingAction;
use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::Driver;
use super::step::{Approved, Asked, Decided, Decider, Proposed, Quoted, Session, Step, Which};
use crate::checked::Checked;
use crate::driven::{self, Driven as _, Others, play};
use crate::implementation::Greeted;
use crate::suite::party::{ablated, text_of, unseen, without};
use crate::suite::{Derived, Suite, Suited, of_parts};
use crate::wide::Clock;

impl Suited for Driver {
    const COMMITTED: [&'static str; 2] = [include_str!("suite.json"), include_str!("clauses.json")];

    fn readings_where(
        greeting: &Greeting<PendingAction>,
        settled: &[(&str, &str)],
    ) -> Vec<driven::Taken<Checked<Spec>>> {
        super::driven::readings(greeting, settled)
    }

    fn ends() -> Vec<Step> {
        let step = |clock, asked| Step { clock, asked };
        vec![
            step(Clock::Ahead(3_600_000), Asked::Tick),
            step(Clock::Stays, Asked::Restart { lost: 0 }),
        ]
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
    let mut runs: Vec<Vec<Step>> = derived.steps().cloned().collect();
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
fn shortest_without(rule: &'static Rule) -> Vec<Step> {
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
fn situations() -> BTreeMap<&'static str, Vec<Step>> {
    let text = within(&[]);
    let model = |bounds| text.every_party(bounds);
    shortest(&text, model, &WITNESSES.iter().map(|it| it.name).collect())
}

/// Shortest runs to what is wanted, in whichever world.
fn shortest<Q: Party<Spec>>(
    text: &Variation<Spec>,
    model: impl Fn(Bounds) -> Model<Spec, Q>,
    wanted: &BTreeSet<&'static str>,
) -> BTreeMap<&'static str, Vec<Step>> {
    let mut found = BTreeMap::new();
    for depth in 2..=DEEPEST {
        for (_, bounds) in &text.worlds {
            let left = wanted.iter().filter(|it| !found.contains_key(*it));
            let left = HasDiscoveries::AllOf(left.copied().collect());
            let search = model(*bounds).checker().target_max_depth(depth);
            let checker = search.finish_when(left).spawn_bfs().join();
            for (name, path) in checker.discoveries() {
                if let (true, Some(steps)) = (
                    wanted.contains(name),
                    translated(&run_of(path.into_actions())),
                ) {
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

/// A tick of the search is a minute.
const TICK: i64 = 60_000;
/// Who proposes, who may decide, and somebody else, by number.
const PEOPLE: [(Name, u8); 3] = [(AGENT, 0), (DECIDER, 1), (STRANGER, 2)];
/// For each proposal, counted from 0, arguments that have another spelling, and others that mean something else.
const ARGUMENTS: [(u8, u8); 3] = [(0, 3), (5, 7), (8, 9)];
/// Arguments that have no one meaning: as they are proposed, and as they are approved.
const MEANINGLESS: (u8, u8) = (240, 13);

/// The steps that a run of the search is; nothing where no step says what is asked in it.
fn translated(run: &[Taken<Spec>]) -> Option<Vec<Step>> {
    let mut before = Before::default();
    let calls = run.iter().filter_map(|step| match step {
        Taken::Call { call, outputs, .. } => Some((call, outputs)),
        Taken::Move(_) => None,
    });
    let steps = calls.map(|(call, outputs)| {
        let asked = before.asked(call)?;
        let clock = Clock::by((call.now - before.now) * TICK);
        before.now = call.now;
        before.latest = before.latest.max(call.now);
        let created = |it: &&Output| {
            matches!(
                it,
                Output::Event(Event {
                    what: What::Created(_),
                    ..
                })
            )
        };
        before.actions += outputs.iter().filter(created).count();
        Some(Step { clock, asked })
    });
    steps.collect()
}

/// What has come before a call.
#[derive(Default)]
struct Before {
    /// The time of the last call, and the latest of any.
    now: i64,
    latest: i64,
    proposed: u8,
    actions: usize,
    ended: Vec<Name>,
}

impl Before {
    fn asked(&mut self, call: &Call) -> Option<Asked> {
        Some(match &call.op {
            Op::Propose(it) => Asked::Propose(self.proposed(it, call.now)?),
            Op::Decide(it) => Asked::Decide(self.decided(it)?),
            Op::Say { by, .. } => Asked::Say {
                by: person(*by)?,
                text: 0,
            },
            Op::FinishTool {
                action,
                status,
                result,
            } => Asked::Finish {
                action: self.which(*action),
                failed: *status == Status::Error,
                never_begun: match status {
                    Status::Success | Status::Error => false,
                    Status::NotRun => true,
                    Status::Other(_) => return None,
                },
                result: result.is_some().into(),
            },
            Op::Cancel(action) => Asked::Cancel {
                action: self.which(*action),
            },
            Op::EndSession(it) => {
                let session = self.session(*it)?;
                self.ended.push(it.name);
                Asked::EndSession { session }
            }
            Op::Snapshot => Asked::Snapshot,
            // There is one at most, and no step hands another back.
            Op::Rollback(0) => Asked::Rollback { snapshot: 0 },
            Op::Tick => Asked::Tick,
            Op::Restart(Lost::Outputs(lost)) => Asked::Restart {
                lost: u8::try_from(lost.len()).ok()?,
            },
            Op::Rollback(_) | Op::Restart(Lost::TooMany) => return None,
        })
    }

    fn proposed(&mut self, it: &Proposal, now: i64) -> Option<Proposed> {
        let place = self.proposed;
        self.proposed += 1;
        let (arguments, _) = ARGUMENTS[usize::from(place) % ARGUMENTS.len()];
        let mut deciders = None;
        let mut words = place;
        if let Some(names) = &it.deciders {
            let bits = names.iter().map(|it| Some(1 << person(*it)?));
            let bits: Vec<u8> = bits.collect::<Option<_>>()?;
            let distinct: BTreeSet<_> = bits.iter().collect();
            deciders = Some(bits.iter().fold(0, |all, bit| all | bit));
            if distinct.len() < bits.len() {
                words = 250;
            }
        }
        // The words of a step that break a limit.
        let spoilt = [
            (it.agent.is_blank, 245),
            (it.session.characters > NAME_CHARACTERS, 247),
            (it.summary.characters > SUMMARY_CHARACTERS, 241),
            (it.label.characters > LABEL_CHARACTERS, 243),
            (it.label.has_line_break, 244),
        ];
        for (is_broken, spoils) in spoilt {
            if is_broken {
                words = spoils;
            }
        }
        let has_meaning = it.arguments.value.meaning.is_some();
        // No step breaks a limit of the arguments.
        let is_said = it.arguments.size <= ARGUMENT_BYTES && it.arguments.levels <= ARGUMENT_LEVELS;
        is_said.then_some(())?;
        let latest = self.latest.max(now);
        Some(Proposed {
            session: self.session(it.session)?,
            agent: 0,
            tool: place,
            arguments: if has_meaning {
                arguments
            } else {
                MEANINGLESS.0
            },
            effect: match it.effect {
                Effect::Read => 0,
                Effect::Write => 1,
                Effect::Destructive => 2,
                Effect::External => 3,
                Effect::Other(_) => return None,
            },
            words,
            expires_in: it.expires_at.map(|time| (time - latest) * TICK),
            deciders,
            idempotent: it.idempotent,
        })
    }

    fn which(&self, action: ActionId) -> Which {
        let from_newest = self.actions.checked_sub(usize::from(action) + 1);
        let place = from_newest.and_then(|it| u8::try_from(it).ok());
        place.map_or(Which::Unknown, Which::Any)
    }

    fn decided(&self, it: &Decide) -> Option<Decided> {
        let (_, others) = ARGUMENTS[usize::from(it.action) % ARGUMENTS.len()];
        Some(Decided {
            action: self.which(it.action),
            nonce: match it.nonce {
                None => Quoted::Absent,
                Some(Nonce::MAX) => Quoted::Unknown,
                Some(_) => Quoted::Right,
            },
            allows: match it.decision {
                Decision::Allow => true,
                Decision::Deny => false,
                Decision::Other(_) => return None,
            },
            by: if it.by.is_blank {
                Decider::Blank
            } else {
                Decider::Person(person(it.by)?)
            },
            arguments: match it.arguments {
                None => None,
                Some(RESPELT) => Some(Approved::Same(1)),
                Some(Value { meaning: None, .. }) => Some(Approved::Any(MEANINGLESS.1)),
                Some(_) => Some(Approved::Any(others)),
            },
        })
    }

    fn session(&self, it: Text) -> Option<Session> {
        // A name that a session can have is 1 or 2.
        let place = u8::try_from(it.name).ok()?.checked_sub(1)?;
        (!it.is_blank).then_some(Session {
            place,
            ended: self.ended.contains(&it.name),
        })
    }
}

/// Somebody by number.
fn person(it: Text) -> Option<u8> {
    if it.is_blank {
        return Some(0);
    }
    let known = PEOPLE.iter().find(|(name, _)| *name == it.name);
    known.map(|(_, number)| *number)
}
