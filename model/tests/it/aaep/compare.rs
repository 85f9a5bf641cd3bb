//! Ways to take a place that the text decides, each beside the default: the shortest runs that only one of them has.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::readings::Reading;
use countersign_model::aaep::rules::Guard;
use countersign_model::compare::{Compared, advised};
use countersign_model::departures::What;
use countersign_model::judged::Limit;
use countersign_model::rules::Rules;

use crate::common::compare::{
    LIMIT, allowed, assert_each_number_tells, both_ways, by, counting, told,
};
use crate::common::small;

/// What the other way allows and the default does not, and what the default allows and the other way does not.
fn shortest(assignment: &str) -> [Option<(usize, bool)>; 2] {
    beside_default(assignment).each_ref().map(told)
}

/// What the other way does otherwise and the default allows, too, and what the default does and the other way allows.
fn allowed_by_both(assignment: &str) -> [Option<(usize, bool)>; 2] {
    beside_default(assignment).each_ref().map(allowed)
}

fn beside_default(assignment: &str) -> [Compared; 2] {
    let other = by::<AaepProtocol>(assignment);
    let default = other.with(Rules::all(), Reading::default());
    let [by_default, otherwise] = both_ways(&default, &other);
    [otherwise, by_default]
}

/// AAEP-6.3.4-4: a claim of a time before the question, which nobody but the reading that forbids it would have sent.
#[test]
fn a_reply_that_claims_a_time_before_its_question_tells_aaep_6_3_4_4() {
    let run = Some((6, true));
    assert_eq!(shortest("reply-lower-bound=not-before-asked"), [run, run]);
}

/// AAEP-A.1-3: the host of a session that is cancelled is told to drop what was accepted, or it is not. Nobody else sees it, and either is
/// allowed.
#[test]
fn what_was_accepted_before_its_session_is_cancelled_is_the_hosts_alone_aaep_a_1_3() {
    let run = Some((5, true));
    assert_eq!(shortest("accepted-then-cancelled=runs"), [None, None]);
    assert_eq!(allowed_by_both("accepted-then-cancelled=runs"), [run, run]);
}

/// AAEP-6.3.4-4: a claim just behind the deadline, by a clock that is ahead.
#[test]
fn a_claim_within_the_tolerance_tells_aaep_6_3_4_4() {
    let run = Some((6, true));
    assert_eq!(shortest("clock-tolerance=one-tick"), [run, run]);
    assert_eq!(shortest("clock-tolerance=any"), [run, run]);
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

/// AAEP-A.3-1: a tool was invoked, and its session is cancelled, or completed. Whoever completes more than is wanted does nothing wrong.
#[test]
fn what_a_session_leaves_open_at_its_end_tells_aaep_a_3_1() {
    let (always, never) = (
        "session-end-completes=always",
        "session-end-completes=never",
    );
    assert_eq!(shortest(always), [None, Some((5, true))]);
    assert_eq!(allowed_by_both(always), [Some((5, true)), None]);
    assert_eq!(shortest(never), [Some((6, true)), None]);
    assert_eq!(allowed_by_both(never), [None, Some((6, true))]);
    // It has failed.
    let completed = "session-end-completes=only-completed";
    assert_eq!(shortest(completed), [Some((6, true)), None]);
    assert_eq!(allowed_by_both(completed), [None, Some((6, true))]);
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

/// Between what should be and what may be no output differs, but what is advised; with the clause, and whether it is the text that
/// advises.
const ADVISED: [(&str, &str, &str, bool); 4] = [
    (
        "default_decision.irreversible_low",
        "either",
        "AAEP-6.4.1-3",
        true,
    ),
    (
        "default_decision.reversible_high",
        "either",
        "AAEP-6.4.1-4",
        true,
    ),
    (
        "default_decision.reversible_medium",
        "should-reject",
        "AAEP-6.4.1-5",
        false,
    ),
    (
        "default_decision.reversible_low",
        "should-reject",
        "AAEP-6.4.1-6",
        false,
    ),
];

/// AAEP-6.4.1-1 to AAEP-6.4.1-6, AAEP-6.3.4-6: both are asked for what the table of one of them forbids.
#[test]
fn a_changed_table_is_told_in_both_directions_aaep_6_4_1_5() {
    assert_each_number_tells::<AaepProtocol>(&ADVISED.map(|(name, value, ..)| (name, value)));
}

/// AAEP-6.4.1-2, AAEP-6.4.1-5: who refuses what another may ask is allowed by both, be it a SHOULD or a MAY; who asks for what must not
/// be asked is not.
#[test]
fn what_may_be_need_not_be_aaep_6_4_1_2() {
    for value in ["should-reject", "either"] {
        let changed = counting::<AaepProtocol>("default_decision.irreversible_medium", value);
        let [text, changed] = both_ways(&small(), &changed);
        assert_eq!(
            [told(&text), told(&changed)],
            [None, Some((2, true))],
            "{value}"
        );
        assert_eq!(allowed(&text), Some((2, true)), "{value}");
    }
    let stricter = counting::<AaepProtocol>("default_decision.reversible_low", "must-reject");
    let [text, stricter] = both_ways(&small(), &stricter);
    assert_eq!([told(&text), told(&stricter)], [Some((2, true)), None]);
}

/// AAEP-6.2.2-3: a token that is issued again is told from one of its own.
#[test]
fn steps_that_differ_are_told_apart_aaep_6_2_2_3() {
    let model = small::<AaepProtocol>();
    let reuses = Rules::all().without(Guard::ReusesToken);
    let [_, again] = both_ways(&model, &model.with(reuses, model.reading));
    let difference = again.difference.expect("a run");
    let instead = difference.instead.expect("another step");
    let last = difference.steps.last().expect("a step");
    assert_ne!(last.changes, instead.changes);
}

/// AAEP-6.4.1-3 to AAEP-6.4.1-6: what is advised follows the table.
#[test]
fn advice_follows_the_table_aaep_6_4_1_3() {
    for (name, value, clause, is_of_text) in ADVISED {
        let (text, changed) = (small::<AaepProtocol>(), counting(name, value));
        let [more, less] = if is_of_text {
            [&text, &changed]
        } else {
            [&changed, &text]
        };
        let advice = advised(more, less, LIMIT).expect("advice");
        assert_eq!(advice.finding.clause, clause);
        let needs = advice.needs.iter().map(|it| (it.what, it.name));
        assert_eq!(needs.collect::<Vec<_>>(), [(What::Number, name)]);
        let limit = Limit { steps: 3, ..LIMIT };
        assert!(advised(less, more, limit).is_none(), "{name}");
    }
}
