//! The judge, who knows calls and outputs alone, is told of every step of the model.

use countersign_model::judge::Kind;
use countersign_model::judged::{Limit, search};
use countersign_model::mcp_aql::bounds::{Bounds, Budgets};
use countersign_model::mcp_aql::rules::{Guard, Rules};
use countersign_model::mcp_aql::{McpAql, McpAqlProtocol};

use crate::common::judged::assert_nothing_is_found;
use crate::common::{small, within};

#[test]
fn the_judge_finds_nothing_in_a_gatekeeper_that_keeps_every_rule() {
    assert_nothing_is_found(&small::<McpAqlProtocol>());
}

#[test]
#[ignore = "night: walks whole graphs"]
fn the_judge_finds_nothing_without_the_quotient_either() {
    assert_nothing_is_found(&small::<McpAqlProtocol>().literal());
}

/// AQL-5.5-3: also where there is room for one active token, or for two.
#[test]
fn the_judge_finds_nothing_in_a_gatekeeper_with_room_for_few() {
    assert_nothing_is_found(&within::<McpAqlProtocol>(Bounds::CROWDED));
    let two = Bounds {
        tokens: 3,
        ticks: 0,
        capacity: 2,
        ..Bounds::CROWDED
    };
    assert_nothing_is_found(&within::<McpAqlProtocol>(two));
}

/// AQL-6.5-1: also where validations, issues and revocations are limited, and with more than one failure.
#[test]
fn the_judge_finds_nothing_in_a_gatekeeper_that_limits_what_is_tried() {
    assert_nothing_is_found(&within::<McpAqlProtocol>(Bounds::LIMITED));
    let twice = Bounds {
        tokens: 1,
        limit: 2,
        ..Bounds::LIMITED
    };
    assert_nothing_is_found(&within::<McpAqlProtocol>(twice).literal());
}

/// AQL-3.2-4, AQL-5.3-2: also where the operator changes which parameters count, and a call arrives as it was sent.
#[test]
fn the_judge_finds_nothing_in_a_gatekeeper_whose_lists_change() {
    assert_nothing_is_found(&within::<McpAqlProtocol>(Bounds::LISTS));
    let one = Bounds {
        tokens: 1,
        disturbances: Budgets::new([1; 7], 2),
        ..Bounds::LISTS
    };
    assert_nothing_is_found(&within::<McpAqlProtocol>(one).literal());
}

/// AQL-6.2-2, AQL-7.3-2: also where tokens are signed and not kept, by the reading that has it so.
#[test]
fn the_judge_finds_nothing_in_a_gatekeeper_that_signs() {
    let reading = McpAql::reading(["token-storage=signed"]).expect("a reading");
    let model = small::<McpAqlProtocol>().with(Rules::all(), reading);
    assert_nothing_is_found(&model);
}

/// With the quotient the judge forgets of a token that is over all but that it is.
#[test]
fn what_is_over_is_taken_for_alike_and_its_use_found_all_the_same() {
    for (guard, clause) in [
        (Guard::HonoursRevoked, "AQL-5.3-1"),
        (Guard::HonoursUsed, "AQL-4.1-3"),
    ] {
        let mut model = small::<McpAqlProtocol>();
        model.rules = Rules::all().without(guard);
        assert!(model.quotient);
        let limit = Limit {
            steps: 6,
            ..Limit::default()
        };
        let found = search(&model, limit, |_| {}).found;
        let named = found.contains_key(&(clause, Kind::Guarantee));
        assert!(named, "{clause}: {found:#?}");
    }
}

/// AQL-6.1-1: at `small` bounds, where one thing goes wrong in a run, a token that a restart revives only tells its status
/// wrongly; a replay takes a second.
#[test]
fn a_token_that_a_restart_revives_runs_again_where_a_call_is_sent_again() {
    let bounds = Bounds {
        tokens: 1,
        disturbances: Budgets::new([1, 1, 1, 1, 1, 1, 0], 2),
        ..Bounds::SMALL
    };
    let mut model = within::<McpAqlProtocol>(bounds).literal();
    model.rules = Rules::all().without(Guard::RevivesAfterRestart);
    let limit = Limit {
        steps: 7,
        ..Limit::default()
    };
    let searched = search(&model, limit, |_| {});
    let replay = searched.found.get(&("AQL-6.1-1", Kind::Guarantee));
    assert_eq!(replay.map(|found| found.run.len()), Some(7));
}
