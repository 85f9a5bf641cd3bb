//! Ways to take a place that the text decides, each beside the default: the shortest runs that only one of them has.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::readings::Reading;
use countersign_model::rules::Rules;

use crate::common::compare::{both_ways, by, told};

/// What the other way allows and the default does not, and what the default allows and the other way does not.
fn shortest(assignment: &str) -> [Option<(usize, bool)>; 2] {
    let other = by::<AaepProtocol>(assignment);
    let default = other.with(Rules::all(), Reading::default());
    let [by_default, otherwise] = both_ways(&default, &other);
    [told(&otherwise), told(&by_default)]
}

/// AAEP-6.3.4-4: a claim of a time before the question, which nobody but the reading that forbids it would have sent.
#[test]
fn a_reply_that_claims_a_time_before_its_question_tells_aaep_6_3_4_4() {
    let run = Some((6, true));
    assert_eq!(shortest("reply-lower-bound=not-before-asked"), [run, run]);
}

/// AAEP-A.1-3: the host of a session that is cancelled is told to drop what was accepted, or it is not.
#[test]
fn what_was_accepted_before_its_session_is_cancelled_tells_aaep_a_1_3() {
    let run = Some((5, true));
    assert_eq!(shortest("accepted-then-cancelled=runs"), [run, run]);
}

/// AAEP-6.3.4-4: a claim just behind the deadline, by a clock that is ahead.
#[test]
fn a_claim_within_the_tolerance_tells_aaep_6_3_4_4() {
    let run = Some((6, true));
    assert_eq!(shortest("clock-tolerance=one-tick"), [run, run]);
    let [tolerant, inclusive] = ["clock-tolerance=one-tick", "deadline-boundary=inclusive"].map(by);
    let [tolerates, includes] = both_ways::<AaepProtocol>(&tolerant, &inclusive);
    assert_eq!([told(&tolerates), told(&includes)], [run, run]);
    for compared in [tolerates, includes] {
        let steps = compared.difference.map(|it| it.steps).unwrap_or_default();
        let claims = steps
            .iter()
            .filter(|it| it.action.ends_with("as of t=1+1ms"));
        assert_eq!(claims.count(), 1, "{steps:?}");
    }
}

/// AAEP-6.3.4-5: a forwarder replies in the name of the other subscription.
#[test]
fn a_reply_in_the_name_of_another_tells_aaep_6_3_4_5() {
    let run = Some((7, true));
    assert_eq!(shortest("sender-binding=named"), [run, run]);
}

/// AAEP-A.3-1: a tool was invoked, and its session is cancelled, or completed.
#[test]
fn what_a_session_leaves_open_at_its_end_tells_aaep_a_3_1() {
    let by_way = |way| shortest(&format!("session-end-completes={way}"));
    assert_eq!(by_way("always"), [Some((5, true)); 2]);
    assert_eq!(by_way("never"), [Some((6, true)); 2]);
}

/// AAEP-6.1-1: the agent changes what it has asked about, and it is accepted. Whoever never changes it cannot be told apart.
#[test]
fn an_action_that_is_changed_while_it_is_asked_about_tells_aaep_6_1_1() {
    let run = Some((6, true));
    assert_eq!(shortest("action-binding=as-current"), [run, None]);
}

/// AAEP-6.5.5-2, AAEP-6.5.5-3, AAEP-A.5-2: questions that list no kinds, or two of which one is free text; one that nobody answers.
#[test]
fn what_a_clarification_leaves_open_tells_aaep_6_5_5_2() {
    let all = [
        "kinds-absent=freetext",
        "choices-beside-freetext=bound",
        "default-response-absent=waits",
    ];
    let steps = [6, 6, 5].map(|steps| [Some((steps, true)); 2]);
    assert_eq!(all.map(shortest), steps);
}
