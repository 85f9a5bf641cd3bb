//! Edges a second of the search with the reference ledger on every edge: `cargo run --example edges [WORLD] [LIMIT]`.

use std::time::Instant;

use countersign_conform::pending_action::executor::Reference;
use countersign_model::engine::model::Model;
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::pending_action::text::PendingAction;
use countersign_model::pending_action::text::account::Account;
use countersign_model::pending_action::text::environment::Bounds;
use countersign_reference::pending_action::{Delivery, Settings};
use stateright::{Checker as _, HasDiscoveries, Model as _};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let wanted = arguments.get(1).map_or("", String::as_str);
    let limit = arguments
        .get(2)
        .map_or(1_000_000_000, |it| it.parse().expect("a number"));
    let settings = Settings {
        delivery: Delivery::AtLeastOnce,
        ..Settings::default()
    };
    for (name, bounds) in Bounds::WORLDS {
        if wanted != name && !wanted.is_empty() {
            continue;
        }
        if arguments.iter().any(|it| it == "spec") {
            run(
                name,
                Model::<PendingAction, _> {
                    variant: Variant::default(),
                    party: World::new(Account::default()),
                    bounds,
                    freedom: Freedom::Default,
                    forgets: false,
                },
                limit,
            );
        } else {
            run(
                name,
                Model::<PendingAction, _> {
                    variant: Variant::default(),
                    party: countersign_conform::search::Exact::new(
                        Reference::new(settings),
                        Account::default(),
                    ),
                    bounds,
                    freedom: Freedom::Default,
                    forgets: false,
                },
                limit,
            );
        }
    }
}

fn run<Q: countersign_model::engine::model::Party<PendingAction>>(
    name: &str,
    model: Model<PendingAction, Q>,
    limit: usize,
) {
    let begun = Instant::now();
    let checker = model
        .checker()
        .finish_when(HasDiscoveries::AnyFailures)
        .target_state_count(limit)
        .spawn_dfs()
        .join();
    let seconds = begun.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss)]
    let rate = checker.state_count() as f64 / seconds / 1e3;
    println!(
        "{name}: {} states, {} transitions, depth {}, {seconds:.1} s, {rate:.0} k/s",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth()
    );
    for property in checker.model().properties() {
        let path = checker.discovery(property.name);
        match (&property.expectation, path) {
            (stateright::Expectation::Always, Some(path)) => {
                println!("BROKEN {}", property.name);
                let last = path.last_state().clone();
                for action in path.into_actions() {
                    println!("   {action:?}");
                }
                println!("   {:?}", last.party);
            }
            (stateright::Expectation::Sometimes, None) => println!("NEVER {}", property.name),
            _ => {}
        }
    }
}
