//! Every edge of the literal model: the quotient makes replies that the model cannot tell apart into one, and an executor
//! could tell them apart all the same.

use countersign_spec_trace::conform::aaep::{AaepBridge, LITERAL};
use countersign_spec_trace::conform::edges::{self, Scope};

/// AAEP-6.3.4-1, AAEP-6.3.4-3: whatever a reply says beside what makes it fail, it has no effect, and the check that it
/// fails first is named.
#[test]
fn the_executor_agrees_with_the_literal_model_on_every_edge() {
    let bridge = AaepBridge::new(LITERAL).expect("the bounds are in range");
    let walk = edges::walk(&bridge.literal(), Scope::States, &|_| {});
    assert_eq!(walk.divergences, []);
    assert_eq!((walk.nodes, walk.edges), (413_902, 1_281_079));
}
