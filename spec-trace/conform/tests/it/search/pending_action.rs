//! The reference ledger on every transition of the search, and faults of one that only the search shows.

#[path = "../../../../../model/tests/it/common/changes.rs"]
mod changes;
#[path = "../../../../../model/tests/it/common/mutation.rs"]
mod mutation;
#[path = "../../../../../model/tests/it/pending_action/mutations.rs"]
mod mutations;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use countersign_conform::pending_action::executor::{AT_LEAST_ONCE, Reference};
use countersign_conform::search::{Exact, model_of, search, shortest, walk};
use countersign_conform::spoken::{Host as _, Spoken as _};
use countersign_model::engine::model::Party as _;
use countersign_model::engine::party::ByVariant;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::Freedom;
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::{
    Arguments, Body, Call, Decide, Decision, Effect, Lost, Message, Name, Op, Output, Proposal,
    Status, Time, Value,
};
use countersign_model::pending_action::environment::Bounds;
use countersign_model::pending_action::readings::{
    DecidersAbsent, ExpiryBoundary, FreeText, Reading,
};
use countersign_reference::pending_action::{Delivery, Settings};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::{Altered, Fault, agreed, judged, merging};
use mutations::{assert_listed, changed};

/// One action, and few requests about it.
const SMALL: Bounds = Bounds {
    ticks: 1,
    set_back: 0,
    every_proposal: false,
    every_decision: false,
    ..Bounds::ONE
};

/// PA-1 to PA-14, in the world of one action; what runs at most once runs no second time.
#[test]
fn the_ledger_agrees_with_the_text_about_one_action() {
    let [(_, one), ..] = Bounds::WORLDS;
    for settings in [Settings::default(), AT_LEAST_ONCE] {
        let (states, transitions, missing) = agreed::<PendingAction>(one, settings);
        let runs_again = missing.contains(&"an idempotent call runs again");
        assert_eq!(runs_again, settings.delivery == Delivery::AtMostOnce);
        assert!(states > 4_000 && transitions > 100_000);
    }
}

/// PA-2, PA-7: also where an action is good at the very instant of its expiry, and nobody decides where nobody is named.
#[test]
fn the_ledger_agrees_with_the_text_in_the_readings_that_its_host_chooses() {
    let chosen = Reading {
        expiry_boundary: ExpiryBoundary::After,
        deciders_absent: DecidersAbsent::Nobody,
        ..Reading::default()
    };
    let settings = Reference::taking(chosen).expect("there are settings for them");
    let party = Exact::new(Reference::new(settings), Account::default());
    let mut model = model_of(party, SMALL);
    assert!(search(&model, 2, &|_| {}).broken.is_some());
    model.variant.reading = chosen;
    assert!(search(&model, 2, &|_| {}).broken.is_none());
    let free_text = FreeText::CancelsThem;
    let of_the_text = Reading {
        free_text,
        ..chosen
    };
    assert_eq!(Reference::taking(of_the_text), None);
}

/// The same about two actions, crashes and rollbacks. Prints how fast it is.
#[test]
#[ignore = "night: searches every world"]
fn the_ledger_agrees_with_the_text_in_every_world() {
    for settings in [Settings::default(), AT_LEAST_ONCE] {
        let missing = Bounds::WORLDS.map(|(_, bounds)| agreed::<PendingAction>(bounds, settings).2);
        let everywhere = |name: &&str| missing.iter().all(|it| it.contains(name));
        let unreached: Vec<_> = missing[0].iter().copied().filter(everywhere).collect();
        let again = ["an idempotent call runs again"];
        let at_most_once = settings.delivery == Delivery::AtMostOnce;
        assert_eq!(unreached, &again[..usize::from(at_most_once)]);
    }
}

/// PA-1 to PA-14: whoever changes one output of the spec's producer or of the ledger is found, or has done what the text leaves free.
#[test]
fn a_changed_output_is_found_or_free_and_breaks_no_guarantee() {
    let producer = ByVariant::<PendingAction>::new(Variant::default(), Account::default());
    let mut outcome = changed(&producer);
    let of_the_ledger = changed(&Reference::new(AT_LEAST_ONCE));
    outcome.tried.extend(of_the_ledger.tried);
    outcome.tolerated.extend(of_the_ledger.tolerated);
    assert_listed(&outcome);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/it/search.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// PA-3, PA-5, PA-7, PA-8: whatever the order of decisions, duplicates, faults, clocks, ends, crashes and rollbacks, and however
    /// many of them there are.
    #[test]
    fn the_ledger_agrees_with_the_text_in_random_runs(choices in vec(any::<u16>(), 1..100)) {
        let party = Exact::new(Reference::new(AT_LEAST_ONCE), Account::default());
        if let Some(broken) = walk(&model_of(party, PendingAction::FAR), choices) {
            panic!("{}\n{}", broken.name, broken.debugged());
        }
    }
}

/// A question of the first agent, which the second person may decide, and which expires at that time.
fn proposal(session: Name, expires_at: Option<Time>) -> Proposal {
    let value = Value {
        bytes: 10,
        meaning: Some(10),
    };
    Proposal {
        agent: 1.into(),
        session: session.into(),
        run: 5.into(),
        tool: 6.into(),
        arguments: Arguments {
            value,
            size: 8,
            levels: 1,
        },
        effect: Effect::Destructive,
        summary: 7.into(),
        label: 8.into(),
        expires_at,
        deciders: Some([2.into()].into_iter().collect()),
        idempotent: false,
    }
}

fn propose(session: Name, expires_at: Option<Time>) -> Op {
    Op::Propose(proposal(session, expires_at).into())
}

fn decide(decision: Decision, arguments: Option<Value>) -> Op {
    Op::Decide(Decide {
        action: 0,
        nonce: None,
        decision,
        by: 2.into(),
        arguments,
    })
}

fn finish(status: Status) -> Op {
    Op::FinishTool {
        action: 0,
        status,
        result: None,
    }
}

fn restart() -> Op {
    Op::Restart(Lost::Outputs([].into_iter().collect()))
}

/// A request, when it comes, and how many of its outputs are lost in a crash.
type Request = (Time, Op, usize);

/// Runs that once showed something, and how often something runs in each.
fn kept() -> [(&'static str, Vec<Request>, usize); 7] {
    let (allow, deny) = (decide(Decision::Allow, None), decide(Decision::Deny, None));
    let of = |bytes, meaning| decide(Decision::Allow, Some(Value { bytes, meaning }));
    let say = || Op::Say {
        by: 2.into(),
        text: 20.into(),
    };
    let guess = Op::Cancel(9);
    let reads = Proposal {
        effect: Effect::Read,
        deciders: None,
        idempotent: true,
        ..proposal(1, None)
    };
    let reads = || Op::Propose(reads.clone().into());
    let run = |requests: &[(Time, Op)]| -> Vec<Request> {
        let requests = requests.iter().cloned();
        requests.map(|(now, op)| (now, op, 0)).collect()
    };
    [
        (
            "PA-7: a snapshot knows a later time than any record",
            run(&[
                (0, propose(1, Some(2))),
                (2, guess),
                (1, Op::Snapshot),
                (1, restart()),
                (1, allow.clone()),
                (1, Op::Rollback(0)),
            ]),
            0,
        ),
        (
            "PA-8: a snapshot undoes no decision",
            run(&[
                (0, propose(1, Some(2))),
                (0, Op::Snapshot),
                (0, allow.clone()),
                (0, Op::Rollback(0)),
                (0, allow.clone()),
            ]),
            1,
        ),
        (
            "PA-3: edited arguments are not approved, the same in other bytes are",
            run(&[
                (0, propose(1, Some(2))),
                (0, of(12, Some(12))),
                (0, of(11, Some(10))),
                (0, finish(Status::Error)),
            ]),
            1,
        ),
        (
            "PA-7: at its expiry an action expires, and the answer comes too late",
            run(&[
                (0, propose(1, Some(1))),
                (0, propose(2, Some(1))),
                (1, allow.clone()),
            ]),
            0,
        ),
        (
            "PA-11: free text decides nothing",
            run(&[(0, reads()), (0, say()), (0, deny), (0, say())]),
            0,
        ),
        (
            "PA-8: what was released is in doubt at every restart, until somebody reports",
            vec![
                (0, propose(1, Some(2)), 0),
                (0, allow.clone(), 2),
                (0, restart(), 0),
                (0, restart(), 0),
                (0, finish(Status::NotRun), 0),
                (0, Op::Cancel(0), 0),
            ],
            1,
        ),
        (
            "PA-5: an idempotent call runs again, outlives its session, and is finished",
            run(&[
                (0, reads()),
                (0, allow),
                (0, restart()),
                (0, Op::EndSession(1.into())),
                (0, finish(Status::Success)),
            ]),
            2,
        ),
    ]
}

#[test]
fn every_kept_run_agrees() {
    for (shows, run, runs) in kept() {
        let mut party = Exact::new(Reference::new(AT_LEAST_ONCE), Account::default());
        let (mut performed, mut requests) = (0, VecDeque::from(run));
        while let Some((now, op, lost)) = requests.pop_front() {
            let (mut answer, call) = (None, Call { now, op });
            let variant = Variant::default();
            party.answers(&variant, Freedom::Default, &call, &mut |party, outputs| {
                answer = Some((party, outputs));
            });
            let (next, outputs) = answer.expect("an answer");
            assert!(next.conforms(), "{shows}: {call:?}\n{next:?}");
            party = next;
            let is_run = |it: &&Output| matches!(it, Output::Perform { .. });
            performed += outputs.iter().filter(is_run).count();
            if lost > 0 {
                party.dies(lost);
                let lost = outputs[outputs.len() - lost..].iter().cloned().collect();
                requests.push_front((now, Op::Restart(Lost::Outputs(lost)), 0));
            }
        }
        assert_eq!(performed, runs, "{shows}");
    }
}

fn altered<F>(fault: F) -> Altered<Reference, F> {
    let reference = Reference::new(Settings::default());
    Altered { reference, fault }
}

/// Nobody is asked in words. The text lets a ledger do without.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct AsksNobody;

impl Fault<PendingAction> for AsksNobody {
    fn alter(&mut self, _: &Call, outputs: &mut Vec<Output>) {
        let is_request = |it: &Output| {
            matches!(
                it,
                Output::Append(Message {
                    body: Body::ConfirmationRequest { .. },
                    ..
                })
            )
        };
        outputs.retain(|it| !is_request(it));
    }
}

/// PA-9: what the text leaves open conforms, and is no way for spec and reference to drift apart.
#[test]
fn what_the_producer_usually_does_is_missed_by_the_exact_comparison_alone() {
    let bounds = Bounds {
        crashes: 0,
        ..SMALL
    };
    let searched = search(&judged(bounds, altered(AsksNobody)), 1, &|_| {});
    assert!(searched.broken.is_none());
    let party = Exact::new(altered(AsksNobody), Account::default());
    let broken = search(&model_of(party, bounds), 1, &|_| {}).broken;
    let broken = broken.expect("the request is missing");
    assert_eq!(broken.run.len(), 1);
}

/// Counts the decisions that did not count, and lets the third one run something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GivesIn {
    tries: u8,
}

impl Fault<PendingAction> for GivesIn {
    fn alter(&mut self, call: &Call, outputs: &mut Vec<Output>) {
        let Op::Decide(decide) = &call.op else {
            return;
        };
        if outputs == &[Output::Audit] && self.tries < 3 {
            self.tries += 1;
            if self.tries == 3 {
                outputs.push(Output::Perform {
                    action: decide.action,
                    tool: 6,
                    arguments: Value::EMPTY,
                });
            }
        }
    }
}

/// The same, and whoever tells states apart does not look at the count.
#[derive(Clone, Debug)]
struct Unseen(GivesIn);

impl Hash for Unseen {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
impl PartialEq for Unseen {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Unseen {}

impl Fault<PendingAction> for Unseen {
    fn alter(&mut self, call: &Call, outputs: &mut Vec<Output>) {
        self.0.alter(call, outputs);
    }
}

/// PA-2: a count that no output shows until it is too late. It is found where the state of the search holds it.
#[test]
fn what_no_output_shows_is_found_for_it_is_part_of_the_state() {
    let fault = GivesIn { tries: 0 };
    let broken = shortest(&judged(SMALL, altered(fault.clone()))).expect("it gives in");
    assert_eq!(broken.run.len(), 3);
    let unseen = search(&judged(SMALL, altered(Unseen(fault))), 1, &|_| {});
    assert!(unseen.broken.is_none());
}

/// What the fingerprint of the ledger leaves out decides nothing: states that it merges put out the same for every call, and lead to
/// states that it merges.
#[test]
fn states_that_are_merged_behave_alike() {
    let together = |ledger: &mut Reference| {
        *ledger = ledger.clone().telling_all_apart(false);
    };
    for (bounds, settings) in [
        (SMALL, AT_LEAST_ONCE),
        (
            Bounds {
                rollbacks: 1,
                ..SMALL
            },
            Settings::default(),
        ),
    ] {
        let ledger = Reference::new(settings).telling_all_apart(true);
        let (all, merged, unlike) = merging(bounds, ledger, together, 20_000);
        assert_eq!(unlike, 0, "{bounds:?}: {all} states, {merged} merged");
        assert!(merged < all / 2, "{all} states, {merged} merged");
    }
}

/// A count that is left out is noticed so.
#[test]
fn states_that_are_merged_and_do_not_behave_alike_are_noticed() {
    let forget = |it: &mut Altered<Reference, GivesIn>| it.fault.tries = 0;
    let (_, _, unlike) = merging(SMALL, altered(GivesIn { tries: 0 }), forget, 5_000);
    assert!(unlike > 0);
}
