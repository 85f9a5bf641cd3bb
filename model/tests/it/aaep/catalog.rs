//! What commands need of AAEP: names, and words for a run.

use std::collections::BTreeSet;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::alphabet::Call;
use countersign_model::aaep::environment::Bounds;
use countersign_model::aaep::guarantees::History;
use countersign_model::engine::model::Environment;
use countersign_model::engine::party::{ByVariant, Executor as _};
use countersign_model::engine::protocol::Variant;
use countersign_model::facade::engine::Catalog as _;
use countersign_model::facade::run::{Step, describe};
use countersign_model::facade::text;

use crate::common::facade::assert_named;

/// A rule is known by the place of its clause, and by its earlier names.
#[test]
fn every_name_means_one_thing() {
    assert_named::<Aaep>();
    let named = text("aaep").expect("a text").named("honours-late");
    assert_eq!(
        named.iter().map(|it| it.name).collect::<Vec<_>>(),
        ["AAEP-6.3.4-4"]
    );
}

/// Whatever can happen has words of its own: a run is found again by them.
#[test]
fn a_run_is_described() {
    for (name, bounds) in Bounds::WORLDS {
        let (mut around, mut history) = (Aaep::surroundings(&bounds), History::default());
        let mut producer = ByVariant::<Aaep>::new(Variant::default(), Aaep::account(Some(&bounds)));
        for _ in 0..6 {
            let mut calls = Vec::new();
            Aaep::calls(&bounds, &around, &history, &mut |it| calls.push(it));
            let step = |call: &Call| Step::Call {
                call: call.clone(),
                outputs: Vec::new(),
                lost: 0,
            };
            let words = calls
                .iter()
                .map(|it| describe::<Aaep>(&[step(it)]).remove(0));
            let words: BTreeSet<_> = words.map(|it| (it.actor, it.action)).collect();
            let mut distinct: Vec<&Call> = Vec::new();
            for call in &calls {
                if !distinct.contains(&call) {
                    distinct.push(call);
                }
            }
            assert_eq!(words.len(), distinct.len(), "{name}: {words:#?}");
            // What asks, and behind it what replies, stands behind the first call, that time passes.
            let call = calls.swap_remove(usize::from(calls.len() > 1));
            let outputs = producer.call(&call);
            Aaep::happened(&mut around, &mut history, &call, &outputs, 0);
        }
    }
}
