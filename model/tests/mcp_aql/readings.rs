//! What each other way to take the text costs.

use countersign_model::checker::{Limit, Protocol, shortest_runs};
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::bounds::Bounds;
use countersign_model::mcp_aql::readings::{PLACES, Reading};
use countersign_model::mcp_aql::rules::Rules;

/// The invariants that break within seven steps at `small` bounds, when the text is taken so.
fn broken(assignment: &str) -> Vec<&'static str> {
    let reading = Reading::parse(assignment).expect("the assignment names a choice");
    let model = McpAql::new(Bounds::SMALL)
        .expect("a preset is in range")
        .with(Rules::all(), reading);
    let found = shortest_runs(
        &model,
        Limit {
            steps: 7,
            ..Limit::default()
        },
    );
    let invariants = model.invariants();
    found
        .broken
        .into_keys()
        .map(|place| invariants[place].name)
        .collect()
}

#[test]
fn the_first_choice_is_the_specification() {
    for place in &PLACES {
        let assignment = format!("{}={}", place.name, place.choices[0].value);
        assert_eq!(
            Reading::parse(&assignment).ok(),
            Some(Reading::SPECIFICATION),
            "{assignment}"
        );
    }
}

/// For every choice that is not the default, the invariants that it gives up.
const GIVEN_UP: [(&str, &[&str]); 8] = [
    ("check-order=sample", &[]),
    ("oracle=codes", &[]),
    ("oracle=uniform", &[]),
    (
        "multi-use=anywhere",
        &["5.4-1 a token with several uses is bound to a session"],
    ),
    ("session-binding=always", &[]),
    ("purge-code=unknown", &[]),
    ("purge-code=remembered", &[]),
    (
        "revoked-code=already-used",
        &["7.1-2 the code is that of a check that failed"],
    ),
];

#[test]
fn every_other_choice_breaks_what_it_gives_up_and_nothing_else() {
    let others: Vec<String> = PLACES
        .iter()
        .flat_map(|place| {
            place.choices[1..]
                .iter()
                .map(move |choice| format!("{}={}", place.name, choice.value))
        })
        .collect();
    assert_eq!(others, GIVEN_UP.map(|(assignment, _)| assignment));
    let found: Vec<_> = GIVEN_UP
        .map(|(assignment, _)| (assignment, broken(assignment)))
        .to_vec();
    let expected: Vec<_> = GIVEN_UP
        .map(|(assignment, names)| (assignment, names.to_vec()))
        .to_vec();
    assert_eq!(found, expected);
}
