//! A search of every text: what was found, and what of it is broken or missing.

use std::collections::BTreeSet;

use countersign_model::engine::model::{Environment, Model, Party};
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::Freedom;
use countersign_model::facade::engine::Catalog;
use stateright::{Checker as _, Model as _};

/// The names of what a search has found: guarantees that are broken, situations that were reached.
pub type Found = BTreeSet<&'static str>;

/// The bounds of that name.
pub fn world<P: Catalog>(name: &str) -> P::Bounds {
    let found = P::WORLDS.iter().find(|it| it.0 == name);
    found.expect("a world of that name").1
}

/// What was found in the states that can be reached, in so many steps or in all, and how many there are.
pub fn found<P: Environment, Q: Party<P>>(
    party: Q,
    freedom: Freedom,
    depth: Option<usize>,
    bounds: P::Bounds,
) -> (Found, usize) {
    let model = Model {
        variant: Variant::<P>::default(),
        party,
        bounds,
        freedom,
        forgets: true,
    };
    let search = model.checker();
    // Depth first, what is near may be reached by a long way alone, and count as far.
    if let Some(depth) = depth {
        let search = search.target_max_depth(depth).spawn_bfs().join();
        let found = search.discoveries().into_keys().collect();
        return (found, search.unique_state_count());
    }
    let search = search.spawn_dfs().join();
    let found = search.discoveries().into_keys().collect();
    (found, search.unique_state_count())
}

/// The guarantees that are broken.
pub fn broken<P: Environment>(found: &Found) -> Vec<&'static str> {
    let all = P::GUARANTEES.iter().map(|it| it.name);
    all.filter(|it| found.contains(it)).collect()
}

/// The situations that were not reached.
pub fn missing<P: Environment>(found: &Found) -> Vec<&'static str> {
    let all = P::WITNESSES.iter().map(|it| it.name);
    all.filter(|it| !found.contains(it)).collect()
}
