//! `countersign diff aaep`: each fault of the adapter in TypeScript is caught and named, and each of its variants passes.

mod adapter;
mod kept;

use kept::Caught;

/// Each fault of the adapter, the clause that names it, and the runs from seed 1 in which it is caught.
const CAUGHT: [Caught<'_>; 22] = [
    ("runs-before-approval", "AAEP-6.1-1", 30),
    ("deny-is-allow", "AAEP-A.4-4", 100),
    ("modified-is-accepted", "AAEP-6.3.2-4", 100),
    ("wrong-timeout-default", "AAEP-6.4-1", 30),
    ("any-default", "AAEP-6.4.1-1", 30),
    ("runs-twice", "AAEP-6.3.4-3", 300),
    ("token-swapped", "AAEP-6.1-1", 300),
    ("late-reply", "AAEP-6.3.4-4", 30),
    ("at-the-deadline", "AAEP-6.3.4-4", 30),
    ("cancel-does-not-revoke", "AAEP-6.8-4", 100),
    ("unauthenticated", "AAEP-6.3.4-5", 100),
    ("wrong-sender", "AAEP-6.3.4-5", 100),
    ("any-decision", "AAEP-6.3.4-6", 100),
    ("error-oracle", "AAEP-6.3.4-9", 30),
    ("silent-denial", "AAEP-6.1-3", 100),
    ("asks-twice", "AAEP-6.1-6", 100),
    ("third-token-again", "AAEP-6.2.2-3", 30),
    ("not-urgent", "AAEP-EV-6", 30),
    ("never-completes", "AAEP-A.3-1", 100),
    ("runs-again-after-restart", "AAEP-6.1-1", 30),
    ("forgets-doubt", "AAEP-A.3-1", 100),
    ("unauthenticated-after-restart", "AAEP-6.3.4-5", 100),
];

fn start(arguments: &[&str]) -> Option<Vec<String>> {
    adapter::typescript(arguments)
}

#[test]
fn each_fault_is_caught_by_its_clause() {
    kept::are_caught("aaep", start, &CAUGHT);
}

#[test]
fn each_fault_is_kept() {
    kept::all_are_kept(start, &CAUGHT);
}

/// What the text leaves open is nobody's fault, and is told.
#[test]
fn the_adapter_and_each_of_its_variants_pass_and_their_readings_are_named() {
    kept::variants_pass("aaep", start, 5);
}
