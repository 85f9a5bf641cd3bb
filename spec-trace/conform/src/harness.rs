//! What a fuzzer runs: bytes in, and a panic with the finding where something is wrong.
//!
//! The one thing to know: each function here is a target in `fuzz/`, and a test replays its corpus, so that whatever a
//! fuzzer finds is found again by `cargo test`.

mod json;
mod mcp_aql;
mod pending_action;

use std::collections::BTreeMap;

use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_reference::aaep::Reply;
use serde_json::value::RawValue;

use crate::search::{self, Exact, model_of};
use crate::spoken::{Host as _, Spoken, drawn, mixed, random, shrunk};

pub use self::mcp_aql::{mcp_aql_canonical, mcp_aql_signed, mcp_aql_token};
pub use self::pending_action::{pending_action_arguments, pending_action_journal};

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

/// A run of the reference producer in the search that the bytes choose, as [`pending_action_schedule`].
///
/// # Panics
///
/// Where something does not hold, with the run.
pub fn aaep_schedule(bytes: &[u8]) {
    searched::<Aaep>(bytes);
}

/// A random run of the reference producer under the checker that the bytes choose, as [`pending_action_wide`].
///
/// # Panics
///
/// Where the checker finds something, with the shrunk run.
pub fn aaep_wide(bytes: &[u8]) {
    at_random::<Aaep>(bytes);
}

/// A run of the reference gatekeeper in the search that the bytes choose, as [`pending_action_schedule`].
///
/// # Panics
///
/// Where something does not hold, with the run.
pub fn mcp_aql_schedule(bytes: &[u8]) {
    searched::<McpAql>(bytes);
}

/// A run of the reference ledger in the search that the bytes choose, far beyond the bounds of the exhaustive one.
///
/// # Panics
///
/// Where something does not hold, with the run.
pub fn pending_action_schedule(bytes: &[u8]) {
    searched::<PendingAction>(bytes);
}

fn searched<P: Spoken>(bytes: &[u8]) {
    let settings = P::Reference::taking(P::Reading::default()).unwrap_or_default();
    let account = P::Reference::account(&settings, Some(&P::FAR));
    let party = Exact::new(P::Reference::new(settings), account);
    if let Some(broken) = search::walk(&model_of(party, P::FAR), choices(bytes)) {
        panic!("{}\n{}", broken.name, broken.debugged());
    }
}

/// A random run of the reference gatekeeper under the checker that the bytes choose, as [`pending_action_wide`].
///
/// # Panics
///
/// Where the checker finds something, with the shrunk run.
pub fn mcp_aql_wide(bytes: &[u8]) {
    at_random::<McpAql>(bytes);
}

/// A random run of the reference ledger under the checker that the bytes choose: the first the host's settings, each two of the others a
/// step, and all of them the steps behind these.
///
/// Two bytes name one of 65,536 random steps: a fuzzer that copies or moves bytes repeats or moves steps. However few bytes there
/// are, the run is long.
///
/// # Panics
///
/// Where the checker finds something, with the shrunk run.
pub fn pending_action_wide(bytes: &[u8]) {
    at_random::<PendingAction>(bytes);
}

fn at_random<P: Spoken>(bytes: &[u8]) {
    let (settings, steps) = bytes.split_first().unwrap_or((&0, &[]));
    let steps = steps.chunks(2).take(MOST_STEPS);
    let steps = steps.flat_map(|it| random(mixed(it)).take(P::BYTES));
    let behind = random(mixed(bytes)).take(MOST_STEPS * P::BYTES);
    let bytes: Vec<u8> = [*settings].into_iter().chain(steps).chain(behind).collect();
    if let Some((_, broken)) = shrunk::<P>(&drawn(&bytes)) {
        panic!("{broken}\n{}", broken.shown.join("\n"));
    }
}

/// As many steps the bytes of a run name at most, and so many come behind them: what a step costs grows with those before it.
const MOST_STEPS: usize = 100;

/// The choices in a fuzzer's input: two bytes each, the lesser first; an odd byte at the end is not used.
fn choices(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let pairs = bytes.chunks_exact(2);
    pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
}
