//! Two settings beside each other: what only one of them allows is told by a shortest run.

use countersign_model::compare::{Compared, apart, apart_by_each};
use countersign_model::departures::What;
use countersign_model::judged::Limit;
use countersign_model::pending_action::rules::Guard;
use countersign_model::pending_action::{PendingAction, PendingActionProtocol};
use countersign_model::rules::{Guards as _, Rules};
use countersign_model::specification::Specification;

use crate::common::compare::{
    LIMIT, allowed, assert_each_number_tells, both_ways, by, needs, told,
};
use crate::common::small;

#[test]
fn a_setting_allows_what_it_allows() {
    let model: Specification<PendingActionProtocol> = small();
    let limit = Limit { steps: 4, ..LIMIT };
    let same = apart(&model, &model, limit, |_| {});
    assert!(same.difference.is_none() && same.steps == 4, "{same:?}");
}

/// PA-13: one who takes a call that only reads otherwise puts out something else, and so does the other.
#[test]
fn two_ways_to_take_a_place_are_told_apart_by_what_comes_out_pa_13() {
    let [one, other] = both_ways::<PendingActionProtocol>(&small(), &by("read-effect=runs"));
    assert_eq!(
        [told(&one), told(&other)],
        [Some((1, true)), Some((1, true))]
    );
    let last = |compared: &Compared| {
        let difference = compared.difference.clone().expect("a run");
        (
            difference.steps[0].clone(),
            difference.instead.expect("another step"),
        )
    };
    let (one, instead_of_one) = last(&one);
    let (other, instead_of_other) = last(&other);
    assert_eq!((&one, &instead_of_one), (&instead_of_other, &other));
    assert_ne!(one.changes, other.changes);
}

/// PA-7: until the time has come nothing tells the two apart.
#[test]
fn the_run_that_tells_two_ways_apart_is_a_shortest_one_pa_7() {
    let [one, other] = both_ways::<PendingActionProtocol>(&small(), &by("expiry-boundary=after"));
    for compared in [&one, &other] {
        let (steps, _) = told(compared).expect("a run");
        let shorter = Limit {
            steps: steps - 1,
            ..LIMIT
        };
        let shorter =
            apart::<PendingActionProtocol>(&small(), &by("expiry-boundary=after"), shorter, |_| {});
        assert!(
            steps > 1 && shorter.difference.is_none(),
            "{steps}: {shorter:?}"
        );
    }
}

/// PA-7: a clock that moves on by itself tells nothing apart; what is asked behind it does.
#[test]
fn a_call_without_an_expiry_is_told_by_what_is_asked_pa_7() {
    let [never, after] = both_ways::<PendingActionProtocol>(&small(), &by("expiry-absent=after"));
    assert_eq!(
        [&never, &after].map(told),
        [Some((6, true)), Some((5, true))]
    );
    assert_eq!([&never, &after].map(allowed), [None, None]);
}

/// PA-2, PA-7: of two changes at once each that matters has its run, which needs nothing of the other.
#[test]
fn each_of_two_changes_has_its_run_pa_2() {
    let default: PendingAction = small();
    let assignments = ["expiry-boundary=after", "deciders-absent=nobody"];
    let reading = Specification::<PendingActionProtocol>::reading(assignments);
    let both = default.with(Rules::all(), reading.expect("two readings"));
    for (leader, other) in [(&default, &both), (&both, &default)] {
        let first = apart(leader, other, LIMIT, |_| {});
        let difference = first.difference.as_ref().expect("a run");
        assert_eq!(needs(difference), [(What::Reading, "expiry-boundary")]);
        let each = apart_by_each(leader, other, &first, LIMIT, |_| {});
        let each = each.iter().map(|(departure, compared)| {
            let difference = compared.difference.as_ref().expect("a run");
            (departure.name, needs(difference))
        });
        let place = "deciders-absent";
        assert_eq!(
            each.collect::<Vec<_>>(),
            [(place, vec![(What::Reading, place)])]
        );
    }
}

/// PA-3, PA-8: what was allowed is in doubt after a crash, or runs again.
#[test]
fn what_runs_again_after_a_crash_tells_pa_8() {
    let apart = both_ways::<PendingActionProtocol>(&small(), &by("in-doubt=runs-again"));
    let run = Some((7, true));
    assert_eq!(apart.each_ref().map(told), [run, run]);
}

/// PA-8: without a rule a party does what nobody does who keeps it.
#[test]
fn a_rule_that_is_left_out_is_told_by_a_run_that_nobody_else_has() {
    let guards = Guard::named("PA-8");
    let model: PendingAction = small();
    let without = guards
        .iter()
        .fold(Rules::all(), |rules, guard| rules.without(*guard));
    let [kept, left_out] = both_ways(&model, &model.with(without, model.reading));
    assert!(told(&left_out).is_some(), "{left_out:?}");
    // Whoever keeps it all the same does nothing wrong: a text without a rule forbids nothing that the text with it allows.
    assert_eq!(told(&kept), None, "{kept:?}");
    let freed = kept.allowed.expect("a run");
    assert!(
        kept.exhaustive && freed.is_no_longer_required(),
        "{freed:?}"
    );
}

/// PA-2, PA-8: where each leaves out another rule, each direction counts by its own, and nothing is forbidden by what is left out.
#[test]
fn each_of_two_that_leave_out_a_rule_is_told_by_its_own_pa_2() {
    let model: PendingAction = small();
    let without = |name| {
        let guards = Guard::named(name).into_iter();
        model.with(guards.fold(Rules::all(), Rules::without), model.reading)
    };
    let [stranger, repeated] = ["honours-stranger", "honours-repeated"].map(without);
    let both = both_ways(&stranger, &repeated);
    for (compared, name) in both.iter().zip(["honours-stranger", "honours-repeated"]) {
        let difference = compared.difference.as_ref().expect("a run");
        assert_eq!(needs(difference), [(What::Lost, name)]);
    }
}

/// PA-7: what one of several rules that are left out makes possible by itself is what it does where it alone is left out.
#[test]
fn each_of_several_rules_that_are_left_out_is_told_as_if_it_were_the_only_one_pa_7() {
    let model: PendingAction = small();
    let without = |guards: &[Guard]| {
        let guards = guards.iter().copied();
        model.with(guards.fold(Rules::all(), Rules::without), model.reading)
    };
    let all = Guard::named("PA-7");
    let leader = without(&all);
    let first = apart(&leader, &model, LIMIT, |_| {});
    let each = apart_by_each(&leader, &model, &first, LIMIT, |_| {});
    assert_eq!(each.len(), all.len() - 1);
    for (departure, found) in &each {
        let own = Guard::named(departure.name);
        let alone = apart(&without(&own), &model, LIMIT, |_| {});
        assert_eq!(told(found), told(&alone), "{}", departure.name);
    }
    let found = each.iter().filter(|it| it.1.difference.is_some());
    assert!(found.count() > 2);
}

/// PA-7, PA-8: what only the one who keeps a rule may do is put down to how that one reads the text, and not to the rule.
#[test]
fn a_run_of_one_who_keeps_a_rule_needs_the_reading_pa_7() {
    let guards = Guard::named("PA-8").into_iter();
    let rules = guards.fold(Rules::all(), Rules::without);
    let after: PendingAction = by("expiry-boundary=after");
    let without =
        small::<PendingActionProtocol>().with(rules, small::<PendingActionProtocol>().reading);
    for (compared, what) in both_ways(&after, &without)
        .iter()
        .zip([What::Reading, What::Lost])
    {
        let difference = compared.difference.as_ref().expect("a run");
        let needs = needs(difference);
        assert!(
            !needs.is_empty() && needs.iter().all(|it| it.0 == what),
            "{needs:?}"
        );
    }
}

/// PA-8: the one number that the text has is a rule.
#[test]
fn no_number_can_be_changed() {
    assert_each_number_tells::<PendingActionProtocol>(&[]);
}
