//! The text as an implementation: with every rule kept nothing is found in it, and with each left out that is what is found.

use std::collections::BTreeSet;
use std::time::Duration;

use countersign_conform::driven::{Search, play};
use countersign_conform::implementation::Greeted;
use countersign_conform::spoken::{Producer, Spoken, ablated, judge, text_of};
use countersign_conform::suite::committed;
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;

/// The checker finds nothing in any run of the suite, all of which the text takes.
fn assert_kept<P: Spoken>() {
    let mut party = Greeted::new(Producer::<P>::default()).expect("it greets");
    let judge = judge::<P>(party.greeting());
    for short in committed::<P>().runs {
        let played = play(&mut party, &short.steps, &judge);
        let (wrong, told) = (&played.wrong, &played.told);
        let shows = &short.shows;
        assert!(wrong.is_empty(), "{shows:?}: {wrong:#?} in {told:#?}");
        assert!(played.unsupported.is_empty(), "{shows:?}");
    }
}

/// The clauses by which a party is found that leaves a rule out.
fn found<P: Spoken>(rule: &str, party: Producer<P>) -> BTreeSet<&'static str> {
    let mut search = Search::<P, _>::new(Greeted::new(party).expect("it greets"));
    search.shrinking = Duration::ZERO;
    search.left_out(rule);
    let found = search.divergences.iter();
    let clauses = found.flat_map(|it| it.consequences.iter().copied().chain(it.clauses()));
    clauses.collect()
}

/// Each rule that is left out is found by a clause for which the suite has a run, but for those of which that is known not to be seen.
fn assert_found<P: Spoken>() {
    let suite = committed::<P>();
    let shows: Vec<&String> = suite.runs.iter().flat_map(|it| &it.shows).collect();
    let mut unfound = Vec::new();
    for rule in ablated::<P>() {
        let shown = format!("without {}: ", rule.name);
        let clauses = shows.iter().filter_map(|it| it.strip_prefix(&shown));
        let clauses: BTreeSet<&str> = clauses.collect();
        let found = found::<P>(rule.name, Producer::without(rule));
        if found.is_disjoint(&clauses) {
            unfound.push(format!("{shown}{found:?}"));
        }
    }
    assert!(unfound.is_empty(), "{unfound:?}");
    for (name, reason) in P::UNSEEN {
        let named = text_of::<P>().named(name);
        let [rule] = named[..] else {
            panic!("{name} is no rule of the text")
        };
        let kept = found::<P>(name, Producer::default());
        let found = found::<P>(name, Producer::without(rule));
        assert_eq!(found, kept, "{name} is found, not: {reason}");
    }
}

#[test]
fn the_text_of_pending_actions_keeps_to_itself() {
    assert_kept::<PendingAction>();
}

#[test]
fn a_rule_of_pending_actions_that_is_left_out_is_found() {
    assert_found::<PendingAction>();
}

#[test]
fn the_text_of_confirmation_tokens_keeps_to_itself() {
    assert_kept::<McpAql>();
}

#[test]
fn a_rule_of_confirmation_tokens_that_is_left_out_is_found() {
    assert_found::<McpAql>();
}

#[test]
fn the_text_of_aaep_keeps_to_itself() {
    assert_kept::<Aaep>();
}

#[test]
fn a_rule_of_aaep_that_is_left_out_is_found() {
    assert_found::<Aaep>();
}
