//! The calls that are not made: those of which it is known that the gatekeeper does not do what the judge wants.
//!
//! The one thing to know: each stands with its clause, and goes when the gatekeeper is mended.

use super::step::{Request, Shown, What};
use super::world::World;

/// Why a call is not made, where it is not.
pub(super) fn is_left_out(world: &World, what: &What) -> Option<&'static str> {
    match what {
        What::Call(request) => request
            .shown
            .and_then(|shown| is_call_left_out(world, request, shown)),
        What::Revoke(shown) => {
            is_token_left_out(world, *shown).or_else(|| is_revocation_left_out(world, *shown))
        }
        What::Status(shown) => is_token_left_out(world, *shown).or(
            // AQL-6.4-1: a status leaves no entry in the log.
            world
                .host
                .shows_log
                .then_some("left out: AQL-6.4-1, a status that is logged"),
        ),
        What::Configure {
            adapter,
            tolerance_seconds,
            uniform,
            critical: _,
        } => {
            let changes = tolerance_seconds
                .is_some_and(|it| it != world.tolerance_seconds(*adapter))
                || uniform.is_some_and(|it| it != world.is_uniform(*adapter));
            // AQL-5.3-2: all tokens of the adapter are revoked, also where nothing that concerns them changes.
            (!changes)
                .then_some("left out: AQL-5.3-2, a configuration that changes nothing but a list")
        }
        What::Retry { .. }
        | What::Logout(_)
        | What::Security
        | What::Configuration
        | What::EndSession(_)
        | What::Tick
        | What::Restart { .. } => None,
    }
}

fn is_call_left_out(world: &World, request: &Request, shown: Shown) -> Option<&'static str> {
    if let Some(issued) = world.known(shown) {
        // AQL-4.1-6: another adapter does not say that a token of a uniform one is out of its scope.
        if world.is_uniform(issued.request.adapter) && !world.is_uniform(request.adapter) {
            return Some("left out: AQL-4.1-6, a token of a uniform adapter elsewhere");
        }
    }
    is_token_left_out(world, shown)
}

fn is_token_left_out(world: &World, shown: Shown) -> Option<&'static str> {
    let issued = world.known(shown)?;
    // AQL-5.4-2: a token that is bound to a session outlives the restart that ended the connection.
    let bound = issued.request.max_uses > 1;
    (bound && issued.restarts < world.restarts && !world.host.in_memory)
        .then_some("left out: AQL-5.4-2, a session token after a restart")
}

fn is_revocation_left_out(world: &World, shown: Shown) -> Option<&'static str> {
    if !world.host.shows_log || world.is_uniform(0) {
        return None;
    }
    // AQL-5.3-3: the answer says that it was revoked, and the log that it was not.
    let is_over = world.known(shown).is_some_and(|it| !world.is_live(it));
    is_over.then_some("left out: AQL-5.3-3, the revocation of a token that is not alive")
}
