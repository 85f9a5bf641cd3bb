//! The search over the text of MCP-AQL, in its small worlds.

use std::collections::BTreeSet;

use countersign_model::engine::checker::Judgement;
use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_model::engine::model::{CONFORMS, Model, Party};
use countersign_model::engine::party::{ByVariant, Explained, Judged};
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::{Freedom, World};
use countersign_model::mcp_aql::text::McpAql;
use countersign_model::mcp_aql::text::account::{Account, Declared, Limit};
use countersign_model::mcp_aql::text::environment::Bounds;
use countersign_model::mcp_aql::text::guarantees::{GUARANTEES, WITNESSES};
use stateright::{Checker, Model as _};

/// What was found within so many steps.
fn found<Q: Party<McpAql>>(
    party: Q,
    freedom: Freedom,
    depth: usize,
    bounds: Bounds,
) -> BTreeSet<&'static str> {
    let model = Model {
        variant: Variant::<McpAql>::default(),
        party,
        bounds,
        freedom,
        forgets: true,
    };
    let search = model.checker().target_max_depth(depth).spawn_bfs().join();
    search.discoveries().into_keys().collect()
}

#[test]
fn every_guarantee_holds_of_whatever_a_conforming_gatekeeper_may_choose() {
    let mut seen = BTreeSet::new();
    for (name, bounds) in Bounds::WORLDS {
        let gatekeeper = World::<McpAql>::new(Account::default());
        let depth = if name == "one" { 5 } else { 6 };
        let found = found(gatekeeper, Freedom::May, depth, bounds);
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
    for (name, bounds) in Bounds::WORLDS {
        let both = Explained::<McpAql>::new(Account::default());
        let found = found(both, Freedom::May, 5, bounds);
        assert!(!found.contains(CONFORMS), "{name}");
    }
}

/// Nothing that an output shows is different without these, or they permit.
const FREE: [&str; 15] = [
    "2.1-2", "2.3-1", "3.1-4", "3.2-2", "5.1-4", "5.1-8", "5.1-9", "5.2-3", "5.3-2", "5.5-1",
    "6.2-2", "6.2-3", "6.2-4", "7.2-1", "7.3-2",
];

/// Within five steps: the first guarantee that breaks without a clause, and the clause by which the checker names the first
/// output that it does not explain.
#[test]
fn what_breaks_without_each_clause_is_known() {
    let mut table = Vec::new();
    for (number, entry) in (0..).zip(McpAql::CLAUSES) {
        let id = entry.id.trim_start_matches("AQL-");
        let variant = Variant {
            left_out: ClauseSet::from(Clause(number)),
            ..Variant::default()
        };
        let limits = [Some(Limit {
            burst: 1,
            every: None,
        }); 3];
        let account = match id {
            "6.5-1" => Account::declaring(Declared {
                limits,
                capacity: None,
            }),
            _ => Account::default(),
        };
        let (mut broken, mut named) = (None, None);
        let depth = if FREE.contains(&id) { 4 } else { 6 };
        for (_, bounds) in Bounds::WORLDS.into_iter().rev() {
            let gatekeeper = ByVariant::new(variant.clone(), account.clone());
            if broken.is_none() {
                let found = search(gatekeeper.clone(), bounds, depth).discoveries();
                broken = GUARANTEES.iter().find(|it| found.contains_key(it.name));
            }
            if named.is_none() {
                let judged = Judged::new(gatekeeper, account.clone());
                let path = search(judged, bounds, depth).discovery(CONFORMS);
                named = path.and_then(|it| match &it.last_state().party.judgement {
                    Judgement::Found(it) => it.clause,
                    Judgement::Conforms | Judgement::TooManyExplanations => None,
                });
            }
        }
        let named = named.map_or("-", |it| McpAql::CLAUSES[usize::from(it.0)].id);
        let named = named.trim_start_matches("AQL-");
        assert_eq!(FREE.contains(&id), broken.is_none() && named == "-", "{id}");
        table.push(format!(
            "{id}: {named}, {}",
            broken.map_or("-", |it| it.name)
        ));
    }
    let known: Vec<_> = include_str!("ablation.txt").lines().collect();
    assert_eq!(table, known);
}

fn search<Q: Party<McpAql>>(
    party: Q,
    bounds: Bounds,
    depth: usize,
) -> impl Checker<Model<McpAql, Q>> {
    let model = Model {
        variant: Variant::<McpAql>::default(),
        party,
        bounds,
        freedom: Freedom::Default,
        forgets: true,
    };
    let breaks = stateright::HasDiscoveries::AnyOf(
        [CONFORMS]
            .into_iter()
            .chain(GUARANTEES.iter().map(|it| it.name))
            .collect(),
    );
    model
        .checker()
        .target_max_depth(depth)
        .finish_when(breaks)
        .spawn_bfs()
        .join()
}
