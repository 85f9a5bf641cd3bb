//! The text as a party: with every rule kept nothing is found in it, and with each left out that is what is found.

use std::collections::BTreeSet;
use std::time::Duration;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::driven::{Others, Search, play};
use countersign_conform::implementation::Greeted;
use countersign_conform::mcp_aql::Driver as McpAqlDriver;
use countersign_conform::pending_action::Driver as PendingActionDriver;
use countersign_conform::suite::committed;
use countersign_conform::suite::party::{Answering, ablated, all, keeping, text_of, without};

/// The judge finds nothing in any run of the suite, of which the model takes so many at least to their end within some bounds. The others
/// are those that only a party without a rule takes, and random ones.
fn assert_kept<D: Answering>(least: usize) {
    let parties: Result<Vec<_>, _> = all::<D>().into_iter().map(Greeted::new).collect();
    let mut parties = parties.expect("each greets");
    let mut taken = 0;
    for short in committed::<D>().runs {
        let is_taken = parties.iter_mut().any(|party| {
            let judge = D::judge(party.greeting());
            let others = None::<&mut Others<D>>;
            let played = play::<D, _>(party, &short.steps, &judge, others);
            let (wrong, told) = (&played.wrong, &played.told);
            assert!(
                wrong.is_empty(),
                "{:?}: {wrong:#?} in {told:#?}",
                short.shows
            );
            played.unsupported.is_empty()
        });
        taken += usize::from(is_taken);
    }
    assert!(taken >= least, "{taken}");
}

/// The clauses by which a party is found that leaves a rule out.
fn found<D: Answering>(rule: &str, party: D::Party) -> BTreeSet<&'static str> {
    let mut search = Search::<D, _>::new(Greeted::new(party).expect("it greets"));
    search.shrinking = Duration::ZERO;
    search.left_out(rule);
    let found = search.divergences.iter();
    let clauses = found.flat_map(|it| it.consequences.iter().copied().chain(it.clauses()));
    clauses.collect()
}

/// Each rule that is left out is found by a clause for which the suite has a run, but for those of which that is known not to be seen.
fn assert_found<D: Answering>() {
    let suite = committed::<D>();
    let shows: Vec<&String> = suite.runs.iter().flat_map(|it| &it.shows).collect();
    let mut unfound = Vec::new();
    for rule in ablated::<D>() {
        let shown = format!("without {}: ", rule.name);
        let clauses = shows.iter().filter_map(|it| it.strip_prefix(&shown));
        let clauses: BTreeSet<&str> = clauses.collect();
        let found = found::<D>(rule.name, without::<D>(rule));
        if found.is_disjoint(&clauses) {
            unfound.push(format!("{shown}{found:?}"));
        }
    }
    assert!(unfound.is_empty(), "{unfound:?}");
    for (name, reason) in D::unseen() {
        let named = text_of::<D>().named(name);
        let [rule] = named[..] else {
            panic!("{name} is no rule of the text")
        };
        let kept = found::<D>(name, keeping::<D>(rule));
        let found = found::<D>(name, without::<D>(rule));
        assert_eq!(found, kept, "{name} is found, not: {reason}");
    }
}

#[test]
fn the_model_of_pending_actions_keeps_to_its_text() {
    assert_kept::<PendingActionDriver>(98);
}

#[test]
fn a_rule_of_pending_actions_that_is_left_out_is_found() {
    assert_found::<PendingActionDriver>();
}

#[test]
fn the_model_of_confirmation_tokens_keeps_to_its_text() {
    assert_kept::<McpAqlDriver>(40);
}

#[test]
fn a_rule_of_confirmation_tokens_that_is_left_out_is_found() {
    assert_found::<McpAqlDriver>();
}

#[test]
fn the_model_of_aaep_keeps_to_its_text() {
    assert_kept::<AaepDriver>(176);
}

#[test]
fn a_rule_of_aaep_that_is_left_out_is_found() {
    assert_found::<AaepDriver>();
}
