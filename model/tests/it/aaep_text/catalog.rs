//! What commands find of AAEP has the names that they know it by.

use countersign_model::aaep::text::Aaep;
use countersign_model::aaep::text::alphabet::Call;
use countersign_model::aaep::text::environment::Bounds;
use countersign_model::aaep::text::guarantees::History;
use countersign_model::engine::model::Environment;
use countersign_model::engine::protocol::Protocol;
use countersign_model::facade::engine::{Catalog, Step};
use countersign_model::facade::text;

/// A rule is known by the place of its clause, and by each name that the old model's rules had.
#[test]
fn the_rules_are_the_clauses_and_have_the_names_of_before() {
    let names: Vec<_> = Aaep::RULES.iter().map(|it| it.name).collect();
    let clauses: Vec<_> = Aaep::CLAUSES.iter().map(|it| it.id).collect();
    assert_eq!(names, clauses);
    for rule in &text("aaep").expect("a text").rules {
        let is_it = |it: &&_| has_name(it, rule.name);
        assert_eq!(Aaep::RULES.iter().filter(is_it).count(), 1, "{}", rule.name);
    }
}

fn has_name(rule: &countersign_model::facade::Rule, name: &str) -> bool {
    rule.name == name || rule.aliases.contains(&name)
}

#[test]
fn the_readings_and_numbers_have_the_names_of_before() {
    let before = text("aaep").expect("a text");
    for place in &before.places {
        let now = Aaep::PLACES.iter().find(|it| it.name == place.name);
        let now = now.unwrap_or_else(|| panic!("no {}", place.name));
        for way in &place.choices {
            let is_it = now.choices.iter().any(|it| it.value == way.value);
            assert!(is_it, "{} {}", place.name, way.value);
        }
    }
    for number in &before.numbers {
        let is_known = Aaep::NUMBERS.iter().any(|it| it.name == number.name);
        assert!(is_known, "{}", number.name);
    }
}

/// Whatever can happen has words.
#[test]
fn a_run_is_described() {
    let mut run = Vec::new();
    for (_, bounds) in Bounds::WORLDS {
        let around = Aaep::surroundings(&bounds);
        Aaep::calls(&bounds, &around, &History::default(), &mut |call: Call| {
            run.push(Step::Call {
                call,
                outputs: Vec::new(),
                lost: 0,
            });
        });
    }
    let texts = Aaep::describe(&run);
    assert_eq!(texts.len(), run.len());
    assert!(texts.iter().all(|it| !it.action.is_empty()));
}
