//! The judge, who knows calls and outputs alone, is told of every step of the model.
//!
//! The tables are committed files. [`UNNAMED`] says of which rules the judge does not name a clause, and why.

use countersign_model::judge::Kind;
use countersign_model::judged;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::rules::{Guard, Rules};
use countersign_model::shortest::Limit;
use countersign_model::specification::Modelled;

use crate::common::judged::{assert_nothing_is_found, readings, rules};
use crate::common::small;

#[test]
fn the_judge_finds_nothing_in_a_gatekeeper_that_keeps_every_rule() {
    assert_nothing_is_found::<McpAqlProtocol>();
}

#[test]
fn the_judge_finds_nothing_without_the_quotient_either() {
    let judged = judged::search(
        &small::<McpAqlProtocol>().literal(),
        Limit::default(),
        |_| {},
    );
    assert!(judged.exhaustive);
    assert!(judged.found.is_empty(), "{:#?}", judged.found);
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
        let judged = judged::search(&model, limit, |_| {});
        let found = judged
            .found
            .keys()
            .any(|&it| it == (clause, Kind::Guarantee));
        assert!(found, "{clause}: {:#?}", judged.found);
    }
}

/// The rules that can be left out without breaking a clause that they stand for, as far as somebody outside can tell.
const UNNAMED: [(&str, &str); 5] = [
    (
        "outlives-logout",
        "AQL-5.3-2 is a MAY: a logout may revoke tokens, and need not.",
    ),
    (
        "outlives-configuration",
        "AQL-5.3-2 is a MAY: a configuration may revoke tokens, and need not.",
    ),
    (
        "outlives-security-event",
        "AQL-5.3-2 is a MAY: a security event may revoke tokens, and need not.",
    ),
    (
        "loses-stored",
        "AQL-5.5-1 asks for no more than memory, which is lost with the process.",
    ),
    (
        "audits-twice",
        "AQL-6.4-1 has no event for a redemption: a second entry may be that of the redemption.",
    ),
];

#[test]
fn the_judge_names_the_clause_of_the_rule_that_is_left_out() {
    let found = rules::<McpAqlProtocol>(McpAqlProtocol::LONGEST);
    let pinned = include_str!("judged_rules.txt");
    assert!(
        found == pinned,
        "the judge's table of rules is now:\n{found}"
    );
    let missed = found.lines().filter(|line| line.ends_with(": not named"));
    let missed: Vec<_> = missed.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(missed, UNNAMED.map(|(name, _)| name));
}

/// No reading costs a guarantee.
#[test]
fn under_every_reading_the_gatekeeper_conforms() {
    let found = readings::<McpAqlProtocol>(McpAqlProtocol::LONGEST);
    let pinned = include_str!("judged_readings.txt");
    assert!(
        found == pinned,
        "the judge's table of readings is now:\n{found}"
    );
}
