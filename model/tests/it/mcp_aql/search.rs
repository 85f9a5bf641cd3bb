//! The search over the text of MCP-AQL, in its small worlds.

use crate::common::explained::Explained;
use countersign_model::engine::model::CONFORMS;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::account::Account;
use countersign_model::mcp_aql::environment::Bounds;

use crate::common::search::{Found, broken, found, missing};

#[test]
fn every_guarantee_holds_of_whatever_a_conforming_gatekeeper_may_choose() {
    let mut seen = Found::new();
    for (name, bounds) in Bounds::WORLDS {
        let gatekeeper = World::<McpAql>::new(Account::default());
        let (found, _) = found(gatekeeper, Freedom::May, None, bounds);
        assert_eq!(broken::<McpAql>(&found), [""; 0], "{name}");
        seen.extend(found);
    }
    assert_eq!(missing::<McpAql>(&seen), [""; 0]);
}

#[test]
fn the_checker_explains_whatever_a_conforming_gatekeeper_may_choose() {
    const WHOLE: [&str; 4] = ["two", "two-events", "crash", "two-crash"];
    for (name, bounds) in Bounds::WORLDS {
        let both = Explained::<McpAql>::new(Account::default());
        let depth = (!WHOLE.contains(&name)).then_some(5);
        let (found, _) = found(both, Freedom::May, depth, bounds);
        assert!(!found.contains(CONFORMS), "{name}");
    }
}
