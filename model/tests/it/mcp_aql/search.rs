//! The search over the text of MCP-AQL, in its small worlds.

use std::collections::BTreeSet;

use countersign_model::engine::model::{CONFORMS, Model, Party};
use countersign_model::engine::party::Explained;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::account::Account;
use countersign_model::mcp_aql::environment::Bounds;
use countersign_model::mcp_aql::guarantees::{GUARANTEES, WITNESSES};
use stateright::{Checker as _, Model as _};

/// What was found in the states that can be reached: in so many steps, or in all.
fn found<Q: Party<McpAql>>(
    party: Q,
    depth: Option<usize>,
    bounds: Bounds,
) -> BTreeSet<&'static str> {
    let model = Model {
        variant: Variant::<McpAql>::default(),
        party,
        bounds,
        freedom: Freedom::May,
        forgets: true,
    };
    let search = model.checker();
    let found = match depth {
        Some(depth) => search
            .target_max_depth(depth)
            .spawn_bfs()
            .join()
            .discoveries(),
        None => search.spawn_dfs().join().discoveries(),
    };
    found.into_keys().collect()
}

#[test]
fn every_guarantee_holds_of_whatever_a_conforming_gatekeeper_may_choose() {
    let mut seen = BTreeSet::new();
    for (name, bounds) in Bounds::WORLDS {
        let found = found(World::<McpAql>::new(Account::default()), None, bounds);
        let broken: Vec<_> = GUARANTEES
            .iter()
            .filter(|it| found.contains(it.name))
            .collect();
        assert!(broken.is_empty(), "{name}: {broken:?}");
        seen.extend(found);
    }
    let missing = WITNESSES.iter().filter(|it| !seen.contains(it.name));
    let missing: Vec<_> = missing.map(|it| it.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_checker_explains_whatever_a_conforming_gatekeeper_may_choose() {
    const WHOLE: [&str; 4] = ["two", "two-events", "crash", "two-crash"];
    for (name, bounds) in Bounds::WORLDS {
        let both = Explained::<McpAql>::new(Account::default());
        let depth = (!WHOLE.contains(&name)).then_some(5);
        assert!(!found(both, depth, bounds).contains(CONFORMS), "{name}");
    }
}
