//! What each other way to take the text costs.

use countersign_model::aaep::Aaep;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::readings::{PLACES, Reading};
use countersign_model::aaep::rules::Rules;
use countersign_model::checker::{Limit, Protocol, shortest_runs};

/// The invariants that break within eight steps at `small` bounds, when the text is taken so.
fn broken(assignment: &str) -> Vec<&'static str> {
    let reading = Reading::parse(assignment).expect("the assignment names a choice");
    let model = Aaep::new(Bounds::SMALL)
        .expect("a preset is in range")
        .with(Rules::all(), reading);
    let found = shortest_runs(
        &model,
        Limit {
            steps: 8,
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
fn the_default_choices_break_nothing() {
    for place in &PLACES {
        let assignment = format!("{}={}", place.name, place.choices[0].value);
        assert_eq!(
            Reading::parse(&assignment).ok(),
            Some(Reading::SPECIFICATION),
            "{assignment}"
        );
    }
    assert_eq!(broken("late-reply=by-arrival"), Vec::<&str>::new());
}

/// For every choice that is not the default, the invariants that say what it gives up.
const GIVEN_UP: [(&str, &[&str]); 7] = [
    (
        "late-reply=by-claim",
        &[
            "6.4-1 a reply that arrives at the deadline or later has no effect",
            "6.7.1-1 the outcome is that of the first valid reply, or the default's",
        ],
    ),
    (
        "timeout-uses-token=no",
        &[
            "6.3.5-1 a token resolves at most once",
            "6.9-2 an action runs at most once",
            "A.8-5 a rejected action never runs",
        ],
    ),
    (
        "cancellation-releases=no",
        &["6.8-1 a cancelled action never runs"],
    ),
    (
        "session-end-cancels=cancelled-only",
        &[
            "A.1-3 no event follows the terminal one",
            "A.1-3 no action begins after its session has ended",
        ],
    ),
    (
        "early-default-on-close=as-default",
        &[
            "6.1-1 a default of accept never applies before its time",
            "6.1-1 an action runs only when authorised",
        ],
    ),
    (
        "early-default-on-close=never",
        &["EV-11 the closing of the last capable subscription rejects"],
    ),
    // Nothing that is required depends on a notice that is optional.
    ("courtesy-notice=forbidden", &[]),
];

#[test]
fn every_other_choice_breaks_what_it_gives_up() {
    let others: Vec<String> = PLACES
        .iter()
        .flat_map(|place| {
            place.choices[1..]
                .iter()
                .map(move |choice| format!("{}={}", place.name, choice.value))
        })
        .collect();
    assert_eq!(others, GIVEN_UP.map(|(assignment, _)| assignment));
    for (assignment, given_up) in GIVEN_UP {
        let found = broken(assignment);
        let kept: Vec<_> = given_up
            .iter()
            .filter(|name| !found.contains(name))
            .collect();
        assert!(kept.is_empty(), "{assignment} does not break {kept:?}");
        assert_eq!(
            found.is_empty(),
            given_up.is_empty(),
            "{assignment} breaks {found:?}"
        );
    }
}

#[test]
fn an_assignment_that_chooses_nothing_says_what_there_is_to_choose() {
    let message = |assignment| {
        Reading::parse(assignment)
            .expect_err("it chooses nothing")
            .to_string()
    };
    assert_eq!(
        message("late-reply"),
        "reading `late-reply`: expected NAME=VALUE, such as late-reply=by-claim"
    );
    assert_eq!(
        message("late-replies=by-claim"),
        "unknown reading `late-replies`: expected one of late-reply, timeout-uses-token, cancellation-releases, \
         session-end-cancels, early-default-on-close, courtesy-notice"
    );
    assert_eq!(
        message("late-reply=never"),
        "reading late-reply: unknown value `never`: expected by-arrival or by-claim"
    );
}
