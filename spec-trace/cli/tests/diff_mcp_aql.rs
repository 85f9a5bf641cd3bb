//! `countersign diff mcp-aql`: each fault of the adapter in Python is caught and named, and each of its variants passes.

mod adapter;
mod kept;

use kept::Caught;

/// Each fault of the adapter, the clause that names it, and the runs from seed 1 in which it is caught.
const CAUGHT: [Caught<'_>; 35] = [
    ("runs-before-approval", "AQL-1.3-1", 30),
    ("runs-rejected", "AQL-4.1-1", 30),
    ("unknown-level-is-safe", "AQL-1.3-1", 30),
    ("runs-twice", "AQL-4.1-3", 30),
    ("third-runs-twice", "AQL-4.1-3", 30),
    ("one-use-too-many", "AQL-4.1-3", 100),
    ("failure-uses-up", "AQL-4.1-3", 30),
    ("runs-again-after-restart", "AQL-4.1-3", 30),
    ("late-reply", "AQL-4.1-2", 30),
    ("zero-is-thirty", "AQL-4.1-2", 300),
    ("expires-a-millisecond-early", "AQL-5.1-7", 100),
    ("wrong-timeout-default", "AQL-5.1-1", 30),
    ("any-life", "AQL-5.1-1", 30),
    ("cancel-does-not-revoke", "AQL-5.3-1", 30),
    ("session-end-keeps", "AQL-5.4-2", 30),
    ("forgets-after-restart", "AQL-5.3-1", 100),
    ("purges-early", "AQL-4.1-1", 100),
    ("any-operation", "AQL-4.1-4", 30),
    ("any-parameters", "AQL-4.1-5", 30),
    ("any-adapter", "AQL-4.1-6", 30),
    ("any-adapter-after-restart", "AQL-4.1-6", 100),
    ("wrong-sender", "AQL-5.4-1", 100),
    ("reply-kind-confusion", "AQL-2.1-1", 30),
    ("parameters-swapped", "AQL-4.1-5", 100),
    ("same-millisecond", "AQL-3.2-1", 30),
    ("every-parameter", "AQL-3.2-4", 100),
    ("bound-to-text", "AQL-3.2-3", 30),
    ("error-oracle", "AQL-6.3-2", 30),
    ("tells-parameters", "AQL-6.3-1", 30),
    ("silent-denial", "AQL-4.2-1", 30),
    ("wrong-code", "AQL-4.1-2", 30),
    ("tells-no-expiry", "AQL-1.2-2", 30),
    ("short-tokens", "AQL-2.2-2", 30),
    ("redeems-unlogged", "AQL-6.4-1", 30),
    ("rejects-unlogged", "AQL-6.4-1", 30),
];

fn start(arguments: &[&str]) -> Option<Vec<String>> {
    adapter::adapter("mcp_aql", arguments)
}

#[test]
fn each_fault_is_caught_by_its_clause() {
    kept::are_caught("mcp-aql", start, &CAUGHT);
}

#[test]
fn each_fault_is_kept() {
    kept::all_are_kept(start, &CAUGHT);
}

/// What the text leaves open is nobody's fault, and is told.
#[test]
fn the_adapter_and_each_of_its_variants_pass_and_their_readings_are_named() {
    kept::variants_pass("mcp-aql", start, 11);
}
