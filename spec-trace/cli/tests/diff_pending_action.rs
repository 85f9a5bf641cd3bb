//! `countersign diff pending-action`: each fault of the adapter in Python is caught and named, and each of its variants passes.

mod adapter;
mod kept;

use kept::Caught;

/// Each fault of the adapter, the clause that names it, and the runs from seed 1 in which it is caught.
const CAUGHT: [Caught<'_>; 35] = [
    ("runs-before-approval", "PA-1", 30),
    ("deny-is-allow", "PA-5", 30),
    ("third-denial-runs", "PA-5", 30),
    ("expiry-allows", "PA-7", 30),
    ("words-allow", "PA-1", 30),
    ("by-position", "PA-1", 30),
    ("any-nonce", "PA-1", 30),
    ("any-decider", "PA-2", 30),
    ("agent-decides", "PA-2", 30),
    ("late-decision", "PA-7", 30),
    ("expiry-waits-for-timer", "PA-7", 30),
    ("clock-goes-back", "PA-7", 30),
    ("cancel-keeps-the-button", "PA-5", 30),
    ("session-end-forgets", "PA-5", 100),
    ("runs-twice", "PA-8", 30),
    ("third-runs-twice", "PA-8", 100),
    ("allow-after-deny", "PA-5", 100),
    ("arguments-swapped", "PA-3", 30),
    ("edited-arguments", "PA-3", 30),
    ("other-arguments-approved", "PA-3", 30),
    ("rewritten-arguments", "PA-3", 30),
    ("same-millisecond", "PA-3", 30),
    ("allowed-silently", "PA-4", 30),
    ("result-dropped", "PA-4", 30),
    ("silent-denial", "PA-6", 30),
    ("shows-arguments", "PA-9", 30),
    ("decided-silently", "PA-10", 30),
    ("denied-as-executed", "PA-10", 30),
    ("runs-again-after-restart", "PA-8", 30),
    ("forgets-after-restart", "PA-2", 30),
    ("forgets-decisions", "PA-5", 100),
    ("forgets-doubt", "PA-10", 30),
    ("forgets-untold", "PA-10", 30),
    ("any-nonce-after-restart", "PA-1", 30),
    ("snapshot-turns-back", "PA-8", 100),
];

fn start(arguments: &[&str]) -> Option<Vec<String>> {
    adapter::adapter("pending_action", arguments)
}

#[test]
fn each_fault_is_caught_by_its_clause() {
    kept::are_caught("pending-action", start, &CAUGHT);
}

#[test]
fn each_fault_is_kept() {
    kept::all_are_kept(start, &CAUGHT);
}

/// What the text leaves open is nobody's fault, and is told.
#[test]
fn the_adapter_and_each_of_its_variants_pass_and_their_readings_are_named() {
    kept::variants_pass("pending-action", start, 9);
}
