//! The clauses that `lint` can judge.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::{mcp_aql, pending_action, rules};

/// Every clause that a monitor of this crate judges. `--only` tells from this that nothing judges a clause.
pub static JUDGED: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let rules = [rules::ALL, mcp_aql::rules::ALL, pending_action::rules::ALL].concat();
    let named = rules.into_iter().flat_map(rules::Rule::all_clauses);
    named.chain(OF_OTHERS.iter().copied()).collect()
});

/// Those that a finding does not name, for it names the one that they lead to.
const OF_OTHERS: &[&str] = &[
    "AAEP-6.1-4",
    "AAEP-6.3.5-2",
    "AAEP-6.4.1-5",
    "AAEP-6.4.1-6",
    "AAEP-6.4.2-2",
    "AAEP-6.4.2-3",
    "AAEP-6.5.1-2",
    "AAEP-6.5.1-3",
    "AAEP-6.5.1-4",
    "AAEP-6.5.1-5",
    "AAEP-6.5.2-2",
    "AAEP-6.5.3-1",
    "AAEP-6.5.3-2",
    "AAEP-6.5.3-3",
    "AAEP-6.8-1",
    "AAEP-6.8-2",
    "AAEP-6.8-3",
    "AAEP-REPLY-1",
    "AAEP-REPLY-3",
    "AAEP-REPLY-4",
    "AAEP-REPLY-5",
    "AAEP-REPLY-6",
    "AAEP-REPLY-7",
    "AAEP-REPLY-8",
    "AAEP-REPLY-9",
    "AAEP-REPLY-10",
    "AAEP-REPLY-11",
    "AAEP-REPLY-14",
    "AAEP-REPLY-15",
    "AAEP-A.2-1",
    "AAEP-A.2-4",
    "AAEP-A.5-2",
    "AAEP-A.9-1",
    "AAEP-A.9-2",
    "AAEP-EV-12",
    "AAEP-EV-15",
    "AQL-3.2-4",
    "AQL-5.1-5",
    "AQL-5.3-1",
    "AQL-5.5-1",
    "PA-12",
    "PA-13",
    "PA-14",
];
