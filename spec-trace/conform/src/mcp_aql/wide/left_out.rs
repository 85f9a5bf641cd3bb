//! The calls that are not made: those of which it is known that the gatekeeper does not do what the judge wants.
//!
//! The one thing to know: each stands with its clause, and goes when the gatekeeper is mended.

use super::step::{Shown, What};
use super::world::World;

/// Why a call is not made, where it is not.
pub(super) fn is_left_out(world: &World, what: &What) -> Option<&'static str> {
    match what {
        What::Call(request) => request
            .shown
            .and_then(|shown| is_token_left_out(world, shown)),
        What::Revoke(shown) | What::Status(shown) => is_token_left_out(world, *shown),
        What::Configure {
            adapter,
            tolerance_seconds,
            uniform,
            critical: Some(critical),
        } => {
            let changes = tolerance_seconds
                .is_some_and(|it| it != world.tolerance_seconds(*adapter))
                || uniform.is_some_and(|it| it != world.is_uniform(*adapter));
            // AQL-5.3-2: where the list of one operation changes, the tokens of the others are revoked too.
            (!changes && !world.is_listed(*adapter, critical))
                .then_some("left out: AQL-5.3-2, a configuration that changes nothing but a list")
        }
        What::Configure { critical: None, .. }
        | What::Retry { .. }
        | What::Logout(_)
        | What::Security
        | What::Configuration
        | What::EndSession(_)
        | What::Tick
        | What::Restart { .. } => None,
    }
}

fn is_token_left_out(world: &World, shown: Shown) -> Option<&'static str> {
    let issued = world.known(shown)?;
    // AQL-5.4-2: a token that is bound to a session outlives the restart that ended the connection.
    let bound = issued.request.max_uses > 1;
    (bound && issued.restarts < world.restarts && !world.host.in_memory)
        .then_some("left out: AQL-5.4-2, a session token after a restart")
}
