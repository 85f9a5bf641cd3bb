//! `countersign diff pending-action`: each fault of the adapter in Python is caught and named, and each of its variants passes.

mod adapter;
mod kept;

use kept::Caught;

/// Each fault of the adapter, the clause that names it, and the runs from seed 1 in which it is caught.
const CAUGHT: [Caught<'_>; 35] = [];

#[test]
fn each_fault_is_caught_by_its_clause() {
    kept::are_caught("pending-action", "pending_action", &CAUGHT);
}

#[test]
fn each_fault_is_kept() {
    kept::all_are_kept("pending_action", &CAUGHT);
}

/// What the text leaves open is nobody's fault, and is told.
#[test]
fn the_adapter_and_each_of_its_variants_pass_and_their_readings_are_named() {
    if let Some(command) = adapter::adapter("pending_action", &[]) {
        kept::passes("pending-action", &command, 300);
        assert_eq!(
            kept::variants_pass("pending-action", "pending_action", 200),
            9
        );
    }
}
