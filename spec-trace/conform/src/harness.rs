//! What a fuzzer runs: bytes in, and a panic with the finding where something is wrong.
//!
//! The one thing to know: each function here is a target in `fuzz/`, and a test replays its corpus, so that whatever a
//! fuzzer finds is found again by `cargo test`.

mod json;
mod mcp_aql;
mod pending_action;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use countersign_reference::aaep::Reply;
use serde_json::value::RawValue;

use crate::aaep::AaepBridge;
use crate::aaep::wide::WideRun;
use crate::bridge::Bridge;
use crate::steps::numbered;
use crate::{Divergence, Sides, schedule};

pub use self::mcp_aql::{
    far_mcp_aql, mcp_aql_canonical, mcp_aql_schedule, mcp_aql_signed, mcp_aql_token, mcp_aql_wide,
};
pub use self::pending_action::{
    pending_action_arguments, pending_action_journal, pending_action_schedule, pending_action_wide,
};

/// The bridge for runs that go as far as the model of AAEP does, made once.
pub fn far_aaep() -> &'static AaepBridge {
    static BRIDGE: LazyLock<AaepBridge> = LazyLock::new(Bridge::far);
    &BRIDGE
}

/// A run of the AAEP model and executor that the bytes choose, far beyond the bounds of the exhaustive walk.
///
/// # Panics
///
/// Where model and executor differ, with the shrunk run.
pub fn aaep_schedule(bytes: &[u8]) {
    run(far_aaep(), bytes);
}

/// A wide run of the producer under the judge that the bytes choose: the first what its host has chosen, the others the steps.
///
/// # Panics
///
/// Where the judge finds something, with the shrunk run.
pub fn aaep_wide(bytes: &[u8]) {
    if let Some((_, broken)) = WideRun::of(bytes).shrunk() {
        panic!("{broken}\n{}", broken.shown.join("\n"));
    }
}

/// The bytes as a reply of either kind: the parser must not panic, and what it takes it must take again after it has
/// been written out with its properties in another order.
///
/// # Panics
///
/// Where the two parses differ.
pub fn aaep_reply(bytes: &[u8]) {
    let Ok(reply) = Reply::parse(bytes) else {
        return;
    };
    // A lone surrogate is JSON, and this reader has no character for it.
    let Ok(properties) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(bytes) else {
        return;
    };
    let again = serde_json::to_vec(&properties).expect("a JSON value can be written");
    assert_eq!(
        Reply::parse(&again).as_ref(),
        Ok(&reply),
        "the same document, written out"
    );
}

fn run(sides: &impl Sides, bytes: &[u8]) {
    if let Err(shrunk) = schedule::run(sides, schedule::choices(bytes)) {
        panic!("{}", explain(&shrunk.divergence));
    }
}

/// A divergence as the message of a panic.
pub fn explain(divergence: &Divergence) -> String {
    let disagreement = &divergence.disagreement;
    format!(
        "model and executor differ ({})\nexpected: {}\nseen:     {}\nrequired: {}\n{}",
        disagreement.clause,
        disagreement.expected,
        disagreement.actual,
        disagreement
            .required
            .as_deref()
            .unwrap_or("what is expected"),
        numbered(&divergence.steps)
    )
}
