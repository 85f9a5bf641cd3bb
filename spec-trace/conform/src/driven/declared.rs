//! Which clauses say nothing of an implementation that does not declare a capability, or does not show a kind of output.

use std::collections::BTreeSet;

use countersign_protocol::{Greeting, Kind, Protocol};

/// A protocol, a capability of it or a kind of output, and the clauses that need it.
type Need = (&'static str, &'static str, &'static [&'static str]);

/// The clauses of each capability and kind of output. A clause that says something of other things too is not among them.
const NEEDS: &[Need] = &[
    ("aaep", "clarify", CLARIFICATIONS),
    ("aaep", "answer", CLARIFICATIONS),
    ("aaep", "cancel", &["AAEP-6.8-1", "AAEP-6.8-3"]),
    ("aaep", "extend", &["AAEP-6.4.2-2", "AAEP-6.4.2-3"]),
    ("aaep", "restart", &["AAEP-6.7-1", "AAEP-6.9-2"]),
    ("aaep", "courtesy_notice", &["AAEP-6.7.1-2"]),
    ("aaep", "notify", &["AAEP-6.7.1-2"]),
    ("aaep", "progress", &["AAEP-6.4.3-4"]),
    (
        "aaep",
        "work",
        &[
            "AAEP-A.2-3",
            "AAEP-A.6-1",
            "AAEP-A.6-2",
            "AAEP-A.6-3",
            "AAEP-A.7.4-1",
            "AAEP-A.7.7-1",
        ],
    ),
    (
        "mcp-aql",
        "multi_use",
        &["AQL-5.2-3", "AQL-5.4-2", "AQL-5.4-3", "AQL-5.4-4"],
    ),
    ("mcp-aql", "introspect", &["AQL-7.3-1"]),
    ("mcp-aql", "audit", &["AQL-1.2-5", "AQL-5.1-6", "AQL-6.4-1"]),
    ("pending-action", "say", &["PA-11"]),
    ("pending-action", "snapshot", &["PA-12"]),
];

/// What is said of questions for words or a choice alone.
const CLARIFICATIONS: &[&str] = &[
    "AAEP-6.1-7",
    "AAEP-6.1-8",
    "AAEP-6.1-9",
    "AAEP-6.5.1-1",
    "AAEP-6.5.1-2",
    "AAEP-6.5.1-3",
    "AAEP-6.5.1-4",
    "AAEP-6.5.1-5",
    "AAEP-6.5.2-1",
    "AAEP-6.5.2-2",
    "AAEP-6.5.3-1",
    "AAEP-6.5.3-2",
    "AAEP-6.5.3-3",
    "AAEP-6.5.5-1",
    "AAEP-6.5.5-2",
    "AAEP-6.5.5-3",
    "AAEP-6.5.5-4",
    "AAEP-A.5-1",
    "AAEP-A.5-2",
    "AAEP-EV-12",
];

/// The clauses that are not supported by one that declares this, each with what it would have to declare.
pub fn unsupported<P: Protocol>(greeting: &Greeting<P>) -> BTreeSet<(&'static str, &'static str)> {
    let shown = KINDS.iter().filter(|kind| greeting.shows(**kind));
    let shown = shown.map(serde_json::to_value);
    let shown = shown.filter_map(|it| it.ok()?.as_str().map(str::to_owned));
    let declared: BTreeSet<String> = greeting.declared().chain(shown).collect();
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
