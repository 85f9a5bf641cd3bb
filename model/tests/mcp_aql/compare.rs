//! Ways to take a place, each beside the default: the shortest runs that only one of them has.

use countersign_model::mcp_aql::McpAqlProtocol;

use crate::common::compare::{both_ways, by, told};
use crate::common::small;

/// AQL-5.3-1: the code of a revoked token.
#[test]
fn the_code_of_a_revoked_token_tells_aql_5_3_1() {
    let apart = both_ways::<McpAqlProtocol>(&small(), &by("revoked-code=already-used"));
    let run = Some((5, true));
    assert_eq!(apart.each_ref().map(told), [run, run]);
}

/// AQL-5.1-1: a call of what is rated higher than when its token was issued, which nobody but the reading that takes it would have made.
#[test]
fn a_higher_rating_at_redemption_tells_aql_5_1_1() {
    let apart = both_ways::<McpAqlProtocol>(&small(), &by("rating-at-redemption=not-checked"));
    let run = Some((4, true));
    assert_eq!(apart.each_ref().map(told), [run, run]);
}
