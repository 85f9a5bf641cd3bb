//! What each other way to take the text costs: what it gives up is what it breaks.
//!
//! The table is a committed file, `readings.txt`. A change of it is a change of the specification and has to be explained.

use countersign_model::aaep::{Aaep, AaepProtocol};

use crate::common::readings::{assert_first_choices_specify, table};

#[test]
fn the_first_choice_is_the_specification() {
    assert_first_choices_specify::<AaepProtocol>();
}

#[test]
#[ignore = "night: searches by each reading"]
fn every_other_choice_breaks_what_it_gives_up_and_nothing_else() {
    let found = table::<AaepProtocol>(10);
    let pinned = include_str!("readings.txt");
    assert!(found == pinned, "the table of readings is now:\n{found}");
}

#[test]
fn an_assignment_that_chooses_nothing_says_what_there_is_to_choose() {
    let message = |assignment| {
        Aaep::reading([assignment])
            .expect_err("it chooses nothing")
            .to_string()
    };
    assert_eq!(
        message("late-reply"),
        "reading `late-reply`: expected NAME=VALUE, such as late-reply=by-claim"
    );
    assert_eq!(
        message("late-replies=by-claim"),
        "unknown reading `late-replies`: expected one of late-reply, deadline-boundary, reply-lower-bound, \
         clock-tolerance, sender-binding, timeout-uses-token, cancellation-releases, session-end-cancels, \
         early-default-on-close, courtesy-notice, incapable-subscriptions, state-while-asked, accepted-then-cancelled, session-end-tells, \
         session-end-completes, action-binding, kinds-absent, choices-beside-freetext, default-response-absent"
    );
    assert_eq!(
        message("late-reply=never"),
        "reading late-reply: unknown value `never`: expected by-arrival or by-claim"
    );
}
