//! Which clauses say nothing of an implementation that does not declare a capability, or does not show a kind of output.

use std::collections::BTreeSet;

use countersign_driver::{Greeting, Kind, Protocol};
use serde_json::Value;

/// A protocol, a capability of it or a kind of output, and the clauses that need it.
type Need = (&'static str, &'static str, &'static [&'static str]);

/// The clauses of each capability and kind of output.
const NEEDS: &[Need] = &[];

/// The clauses that are not supported by one that declares this, each with what it would have to declare.
pub fn unsupported<P: Protocol>(greeting: &Greeting<P>) -> BTreeSet<(&'static str, &'static str)> {
    let name = |it: serde_json::Result<Value>| it.ok()?.as_str().map(str::to_owned);
    let supports = greeting.supports.iter().map(serde_json::to_value);
    let shown = KINDS.iter().filter(|kind| greeting.shows(**kind));
    let declared = supports.chain(shown.map(serde_json::to_value));
    let declared: BTreeSet<String> = declared.filter_map(name).collect();
    let missing = NEEDS
        .iter()
        .filter(|(protocol, need, _)| *protocol == P::NAME && !declared.contains(*need));
    let clauses = missing.flat_map(|(_, need, clauses)| clauses.iter().map(|it| (*it, *need)));
    clauses.collect()
}

/// The kinds of output that need not be shown.
const KINDS: [Kind; 5] = [
    Kind::Notify,
    Kind::Respond,
    Kind::Answer,
    Kind::Audit,
    Kind::InDoubt,
];
