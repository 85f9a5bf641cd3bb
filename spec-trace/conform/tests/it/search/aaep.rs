//! The reference producer.

use countersign_conform::aaep::executor::{Reference, Settings};
use countersign_conform::search::{Exact, model_of, search, shortest, walk};
use countersign_conform::spoken::{Host as _, Spoken as _};
use countersign_model::aaep::Aaep;
use countersign_model::aaep::alphabet::{Call, Op, Output, Reply, Run, Says};
use countersign_model::aaep::environment::Bounds;
use countersign_model::aaep::readings::{LateReply, Reading};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::{Altered, Fault, agreed, judged, merging};

/// One question, and few requests about it.
const SMALL: Bounds = Bounds {
    ticks: 1,
    set_back: 0,
    every_question: false,
    every_reply: false,
    endings: false,
    closings: false,
    ..Bounds::ONE
};

/// Of a host that reads the text so.
fn settings(reading: Reading) -> Settings {
    Reference::taking(reading).expect("there are settings for it")
}

/// AAEP-6-1 to AAEP-A.7.4-1, in the small worlds, and in what is small of the others.
#[test]
fn the_producer_agrees_with_the_text() {
    let small = ["replies", "work", "words-crash", "two-words"];
    let small = Bounds::WORLDS
        .into_iter()
        .filter(|it| small.contains(&it.0));
    let reduced = [
        SMALL,
        Bounds {
            ticks: 0,
            every_question: true,
            ..SMALL
        },
        Bounds {
            ticks: 2,
            crashes: 1,
            endings: true,
            ..SMALL
        },
        Bounds {
            ticks: 3,
            minutes: true,
            ..SMALL
        },
    ];
    for bounds in small.map(|it| it.1).chain(reduced) {
        agreed::<Aaep>(bounds, settings(Reading::default()));
    }
}

/// The same in every world, whole.
#[test]
#[ignore = "night: searches every world"]
fn the_producer_agrees_with_the_text_in_every_world() {
    let mut missing: Option<Vec<&str>> = None;
    for (name, bounds) in Bounds::WORLDS {
        println!("{name}");
        let (_, _, unreached) = agreed::<Aaep>(bounds, settings(Reading::default()));
        let is_everywhere = |it: &&str| missing.as_ref().is_none_or(|known| known.contains(it));
        missing = Some(unreached.into_iter().filter(is_everywhere).collect());
    }
    assert_eq!(missing, Some(Vec::new()));
}

/// AAEP-6.3.2-4: where its host supports no changes of an action.
#[test]
fn a_producer_that_takes_no_changes_agrees_with_the_text() {
    let chosen = Settings {
        modified_action: false,
        ..settings(Reading::default())
    };
    let bounds = Bounds {
        every_question: true,
        every_reply: true,
        ..SMALL
    };
    let account = Reference::account(&chosen, Some(&bounds));
    let party = Exact::new(Reference::new(chosen), account);
    let searched = search(&model_of(party, bounds), 2, &|_| {});
    if let Some(broken) = searched.broken {
        panic!("{}\n{}", broken.name, broken.debugged());
    }
    assert!(!searched.reached.contains("a changed action runs"));
}

/// No host chooses how its producer reads the text.
#[test]
fn a_producer_has_one_reading() {
    let late_reply = LateReply::ByClaim;
    let other = Reading {
        late_reply,
        ..Reading::default()
    };
    assert_eq!(Reference::taking(other), None);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/it/search/aaep.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// AAEP-6.1-1, AAEP-6.3.4-7, AAEP-6.4-1, AAEP-6.8-2: whatever the order of questions, replies, clocks, ends, work and crashes.
    #[test]
    fn the_producer_agrees_with_the_text_in_random_runs(choices in vec(any::<u16>(), 1..60)) {
        let settings = settings(Reading::default());
        let account = Reference::account(&settings, None);
        let party = Exact::new(Reference::new(settings), account);
        if let Some(broken) = walk(&model_of(party, Aaep::FAR), choices) {
            panic!("{}\n{}", broken.name, broken.debugged());
        }
    }
}

/// Counts the replies whose sender is not authenticated, and honours the third.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GivesIn {
    tries: u8,
}

impl Fault<Aaep> for GivesIn {
    fn alter(&mut self, call: &Call, outputs: &mut Vec<Output>) {
        let Op::Deliver(message) = &call.op else {
            return;
        };
        let says = message.reply.map(|it| it.says);
        if message.is_authenticated || !matches!(says, Some(Says::Decides(..))) || self.tries == 3 {
            return;
        }
        self.tries += 1;
        if let (3, Some(Reply { token, .. })) = (self.tries, message.reply) {
            outputs.push(Output::Perform(Run {
                session: 0,
                action: 10,
                call: 0,
                tool: None,
                token: Some(token),
                modified: None,
            }));
        }
    }
}

fn giving_in() -> Altered<Reference, GivesIn> {
    Altered {
        reference: Reference::new(settings(Reading::default())),
        fault: GivesIn { tries: 0 },
    }
}

/// AAEP-6.3.4-5: a count that no output shows until it is too late. It is found, for it is part of the state.
#[test]
fn what_no_output_shows_is_found() {
    let bounds = Bounds {
        every_reply: true,
        ..SMALL
    };
    let broken = shortest(&judged(bounds, giving_in())).expect("it gives in");
    assert_eq!(broken.run.len(), 6);
}

/// What the fingerprint of the producer leaves out decides nothing: states that it merges put out the same for every call, and lead
/// to states that it merges.
#[test]
fn states_that_are_merged_behave_alike() {
    let together = |it: &mut Reference| *it = it.clone().telling_all_apart(false);
    let crash = Bounds {
        queries: 1,
        crashes: 1,
        endings: true,
        closings: true,
        ..SMALL
    };
    let work = Bounds {
        questions: 0,
        work: 1,
        ticks: 0,
        crashes: 1,
        endings: true,
        ..SMALL
    };
    for bounds in [crash, work] {
        let reference = Reference::new(settings(Reading::default())).telling_all_apart(true);
        let (all, merged, unlike) = merging(bounds, reference, together, 3_000);
        assert_eq!(unlike, 0, "{all} states, {merged} merged");
        assert!(merged < all, "{all} states, {merged} merged");
    }
}

/// A count that is left out is noticed so.
#[test]
fn states_that_are_merged_and_do_not_behave_alike_are_noticed() {
    let forget = |it: &mut Altered<Reference, GivesIn>| it.fault.tries = 0;
    let bounds = Bounds {
        every_reply: true,
        ..SMALL
    };
    let (_, _, unlike) = merging(bounds, giving_in(), forget, 1_000);
    assert!(unlike > 0);
}
