//! The reference gatekeeper.

use countersign_conform::mcp_aql::executor::{Reference, Settings};
use countersign_conform::search::{Exact, model_of, search, shortest, walk};
use countersign_conform::spoken::{Host as _, Spoken as _};
use countersign_model::engine::party::Judged;
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::account::{Account, Declared, Limit};
use countersign_model::mcp_aql::alphabet::{Answer, Call, Op, Output, Performed};
use countersign_model::mcp_aql::environment::Bounds;
use countersign_model::mcp_aql::readings::{
    CheckOrder, EndedSession, LongestLife, Reading, RestartedSession, SessionBinding, TokenStorage,
};
use countersign_reference::mcp_aql::{RateLimit, RateLimits};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::{Altered, Fault, agreed, judged, merging};

/// One token, and few requests about it.
const SMALL: Bounds = Bounds {
    ticks: 2,
    every_request: false,
    every_fault: false,
    ..Bounds::ONE
};

/// Of a host that reads the text so.
fn settings(reading: Reading) -> Settings {
    Reference::taking(reading).expect("there are settings for it")
}

/// AQL-1.3-1 to AQL-7.3-1, in the small worlds, and in what is small of the others.
#[test]
fn the_gatekeeper_agrees_with_the_text() {
    let small = ["clock", "two-events", "crash", "two-crash"];
    let small = Bounds::WORLDS
        .into_iter()
        .filter(|it| small.contains(&it.0));
    let [(_, one), ..] = Bounds::WORLDS;
    let reduced = [
        Bounds { ticks: 0, ..one },
        Bounds {
            tokens: 2,
            ticks: 0,
            ..SMALL
        },
        Bounds {
            ticks: 0,
            events: 1,
            elsewhere: true,
            queries: true,
            ..SMALL
        },
        Bounds {
            settings: 1,
            sessions: false,
            ..SMALL
        },
    ];
    for bounds in small.map(|it| it.1).chain(reduced) {
        agreed::<McpAql>(bounds, settings(Reading::default()));
    }
}

/// The same in every world, whole.
#[test]
#[ignore = "night: searches every world"]
fn the_gatekeeper_agrees_with_the_text_in_every_world() {
    let mut missing: Option<Vec<&str>> = None;
    for (_, bounds) in Bounds::WORLDS {
        let (_, _, unreached) = agreed::<McpAql>(bounds, settings(Reading::default()));
        let is_everywhere = |it: &&str| missing.as_ref().is_none_or(|known| known.contains(it));
        missing = Some(unreached.into_iter().filter(is_everywhere).collect());
    }
    println!("{missing:?}");
    assert_eq!(missing.unwrap_or_default(), [""; 0]);
}

/// AQL-4.1-1, AQL-4.3-1, AQL-5.4-1, AQL-5.4-2, AQL-6.1-2, AQL-6.2-2: also where the host has chosen otherwise.
#[test]
fn the_gatekeeper_agrees_with_the_text_in_the_readings_that_its_host_chooses() {
    let (check_order, session_binding) = (CheckOrder::Sample, SessionBinding::Always);
    let (ended_session, restarted_session) = (EndedSession::StaysEnded, RestartedSession::GoesOn);
    let token_storage = TokenStorage::Signed;
    let usual = Reading::default();
    for reading in [
        Reading {
            check_order,
            ..usual
        },
        Reading {
            session_binding,
            ended_session,
            ..usual
        },
        Reading {
            restarted_session,
            ..usual
        },
        Reading {
            token_storage,
            ..usual
        },
        Reading {
            token_storage,
            check_order,
            ..usual
        },
    ] {
        for bounds in [
            SMALL,
            Bounds {
                ticks: 0,
                every_fault: true,
                ..SMALL
            },
            Bounds {
                ticks: 0,
                events: 2,
                queries: true,
                ..SMALL
            },
            Bounds {
                crashes: 2,
                faults: false,
                ..SMALL
            },
        ] {
            if reading.token_storage == TokenStorage::Kept {
                agreed::<McpAql>(bounds, settings(reading));
                continue;
            }
            // Who signs binds nothing to a session (AQL-5.4-1), and knows of no token unless it is shown (AQL-7.3-2).
            let reference = Reference::new(settings(reading));
            let mut model = judged(bounds, reference);
            model.variant.reading = reading;
            if let Some(broken) = search(&model, 2, &|_| {}).broken {
                panic!("{}\n{}", broken.name, broken.debugged());
            }
        }
    }
    let longest_life = LongestLife::Usual;
    assert_eq!(
        Reference::taking(Reading {
            longest_life,
            ..usual
        }),
        None
    );
}

/// AQL-4.1-1: the order in which the checks are made is seen.
#[test]
fn another_order_of_the_checks_is_found() {
    let check_order = CheckOrder::Sample;
    let reference = Reference::new(settings(Reading {
        check_order,
        ..Reading::default()
    }));
    let bounds = Bounds {
        every_fault: true,
        ..SMALL
    };
    let broken = shortest(&judged(bounds, reference)).expect("a token with two faults");
    assert_eq!(broken.run.len(), 3);
}

/// AQL-6.5-1: where limits are declared. All callers use up a limit together, as the text allows.
#[test]
fn the_gatekeeper_agrees_with_the_text_within_limits() {
    let limit = RateLimit::new(1, u32::MAX).ok();
    let every = Some(i64::from(u32::MAX));
    let mut settings = settings(Reading::default());
    settings.chosen.rate_limits = RateLimits {
        issuance: limit,
        failed_validation: limit,
        revocation: limit,
    };
    let account = Account::declaring(Declared {
        limits: [Some(Limit { burst: 1, every }); 3],
        capacity: None,
    });
    let party = Judged::new(Reference::new(settings), account);
    let bounds = Bounds {
        tokens: 2,
        ticks: 0,
        ..SMALL
    };
    if let Some(broken) = search(&model_of(party, bounds), 2, &|_| {}).broken {
        panic!("{}\n{}", broken.name, broken.debugged());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/it/search/mcp_aql.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// AQL-5.2-1, AQL-5.3-1, AQL-6.1-1: whatever the order of calls, faults, clocks, ends, configurations and crashes.
    #[test]
    fn the_gatekeeper_agrees_with_the_text_in_random_runs(choices in vec(any::<u16>(), 1..60)) {
        let reference = Reference::new(settings(Reading::default()));
        let party = Exact::new(reference, Account::default());
        if let Some(broken) = walk(&model_of(party, McpAql::FAR), choices) {
            panic!("{}\n{}", broken.name, broken.debugged());
        }
    }
}

/// Counts the tokens that it does not take, and takes the third.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GivesIn {
    tries: u8,
}

impl Fault<McpAql> for GivesIn {
    fn alter(&mut self, call: &Call, outputs: &mut Vec<Output>) {
        let Op::Call(it) = &call.op else { return };
        let fails = |it: &Output| matches!(it, Output::Respond(Answer::Failed(_)));
        if !outputs.iter().any(fails) || self.tries == 3 {
            return;
        }
        self.tries += 1;
        if self.tries == 3 {
            *outputs = vec![Output::Perform(Performed {
                operation: it.operation.name,
                parameters: it.parameters.meaning,
                adapter: Some(it.adapter.name),
                session: it.session.map(|it| it.name),
            })];
        }
    }
}

fn giving_in() -> Altered<Reference, GivesIn> {
    Altered {
        reference: Reference::new(settings(Reading::default())),
        fault: GivesIn { tries: 0 },
    }
}

/// AQL-7.1-1: a count that no output shows until it is too late. It is found, for it is part of the state.
#[test]
fn what_no_output_shows_is_found() {
    let broken = shortest(&judged(SMALL, giving_in())).expect("it gives in");
    assert_eq!(broken.run.len(), 3);
}

/// What the fingerprint of the gatekeeper leaves out decides nothing: states that it merges put out the same for every call, and lead
/// to states that it merges.
#[test]
fn states_that_are_merged_behave_alike() {
    let together = |it: &mut Reference| *it = it.clone().telling_all_apart(false);
    let token_storage = TokenStorage::Signed;
    let signs = Reading {
        token_storage,
        ..Reading::default()
    };
    let bounds = Bounds {
        tokens: 2,
        ticks: 1,
        events: 1,
        queries: true,
        crashes: 1,
        ..SMALL
    };
    for reading in [Reading::default(), signs] {
        let reference = Reference::new(settings(reading)).telling_all_apart(true);
        let (all, merged, unlike) = merging(bounds, reference, together, 5_000);
        assert_eq!(unlike, 0, "{all} states, {merged} merged");
        assert!(merged < all, "{all} states, {merged} merged");
    }
}

/// A count that is left out is noticed so.
#[test]
fn states_that_are_merged_and_do_not_behave_alike_are_noticed() {
    let forget = |it: &mut Altered<Reference, GivesIn>| it.fault.tries = 0;
    let (_, _, unlike) = merging(SMALL, giving_in(), forget, 1_000);
    assert!(unlike > 0);
}
