//! Ways to take a place that the text decides, each beside the default: the shortest runs that only one of them has.

use countersign_model::aaep::AaepProtocol;

use crate::common::compare::{both_ways, by, told};
use crate::common::small;

/// What the other way allows and the default does not, and what the default allows and the other way does not.
fn shortest(assignment: &str) -> [Option<(usize, bool)>; 2] {
    let [by_default, otherwise] = both_ways::<AaepProtocol>(&small(), &by(assignment));
    [told(&otherwise), told(&by_default)]
}

/// AAEP-6.3.4-4: a claim of a time before the question, which nobody but the reading that forbids it would have sent.
#[test]
fn a_reply_that_claims_a_time_before_its_question_tells_aaep_6_3_4_4() {
    let run = Some((6, true));
    assert_eq!(shortest("reply-lower-bound=not-before-asked"), [run, run]);
}
