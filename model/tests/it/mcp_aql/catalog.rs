//! What commands find of MCP-AQL on the engine has the names that they know it by.

use countersign_model::engine::model::Environment;
use countersign_model::engine::protocol::Protocol;
use countersign_model::facade::engine::{Catalog, Step};
use countersign_model::facade::text;
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::alphabet::{Call, Op};
use countersign_model::mcp_aql::environment::Bounds;
use countersign_model::mcp_aql::guarantees::History;
use countersign_model::numbers::Value;

/// A rule is known by the place of its clause, and by each name that the old model's rules had.
#[test]
fn the_rules_are_the_clauses_and_have_the_names_of_before() {
    let names: Vec<_> = McpAql::RULES.iter().map(|it| it.name).collect();
    let clauses: Vec<_> = McpAql::CLAUSES.iter().map(|it| it.id).collect();
    assert_eq!(names, clauses);
    for rule in &text("mcp-aql").expect("a text").rules {
        let found = McpAql::RULES
            .iter()
            .filter(|it| it.name == rule.name || it.aliases.contains(&rule.name));
        assert_eq!(found.count(), 1, "{}", rule.name);
    }
}

#[test]
fn the_readings_and_numbers_have_the_names_of_before() {
    let before = text("mcp-aql").expect("a text");
    for place in &before.places {
        let now = McpAql::PLACES.iter().find(|it| it.name == place.name);
        let now = now.unwrap_or_else(|| panic!("no {}", place.name));
        for way in &place.choices {
            assert!(
                now.choices.iter().any(|it| it.value == way.value),
                "{} {}",
                place.name,
                way.value
            );
        }
    }
    for number in &before.numbers {
        assert!(
            McpAql::NUMBERS.iter().any(|it| it.name == number.name),
            "{}",
            number.name
        );
    }
}

#[test]
fn a_number_that_is_changed_is_read_back() {
    for number in McpAql::NUMBERS {
        if let Value::Whole(it) = &number.value {
            let mut reading = countersign_model::mcp_aql::readings::Reading::default();
            let usual = (it.get)(&reading);
            assert!((it.from..=it.to).contains(&usual), "{}", number.name);
            (it.set)(&mut reading, it.to);
            assert_eq!((it.get)(&reading), it.to, "{}", number.name);
        }
    }
}

/// Whatever can happen has words.
#[test]
fn a_run_is_described() {
    let mut run = Vec::new();
    for (_, bounds) in Bounds::WORLDS {
        let around = McpAql::surroundings(&bounds);
        McpAql::calls(&bounds, &around, &History::default(), &mut |call: Call| {
            run.push(Step::Call {
                call,
                outputs: Vec::new(),
                lost: 0,
            });
        });
    }
    let texts = McpAql::describe(&run);
    assert_eq!(texts.len(), run.len());
    for (text, step) in texts.iter().zip(&run) {
        let is_restart =
            matches!(step, Step::Call { call, .. } if matches!(call.op, Op::Restart(_)));
        assert_eq!(text.to.is_none(), is_restart, "{text:?}");
        assert!(!text.action.is_empty());
    }
    assert!(
        texts
            .iter()
            .any(|it| it.action
                == "calls operation 1 (destructive) of adapter 3 with parameters 111")
    );
}
