//! What every rule is worth: which invariants break without it, and after how many steps at the soonest.
//!
//! The table is a committed file, `ablation.txt`. A change of it is a change of the specification and has to be explained.

use std::fmt::Write;

use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::ablation::{MUTATIONS, ablate};
use countersign_model::mcp_aql::bounds::Bounds;
use countersign_model::mcp_aql::properties::{INVARIANTS, WITNESSES};
use countersign_model::mcp_aql::rules::{GUARDS, Guard};

use crate::table::{assert_carried, table};

#[test]
fn every_rule_carries_something_and_every_invariant_is_carried() {
    let ablations = ablate(Bounds::SMALL, |_| {}).expect("a preset is in range");
    let found = table(&ablations);
    let pinned = include_str!("ablation.txt");
    assert!(found == pinned, "the table of ablations is now:\n{found}");
    let invariants = INVARIANTS.iter().map(|row| row.name).collect();
    assert_carried(&ablations, &invariants);
}

/// What the samples break, as a text: a line for each sample, then one for each invariant with the steps that it takes,
/// and under the one that the sample gives up in the first place the steps themselves.
fn samples(specification: &McpAql) -> String {
    let mut text = String::new();
    for mutation in &MUTATIONS {
        writeln!(text, "{} (sample of {})", mutation.name, mutation.section)
            .expect("a string can be written to");
        for broken in &mutation.breaks(specification) {
            writeln!(text, "  {} {}", broken.steps.len(), broken.name)
                .expect("a string can be written to");
            if broken.name == mutation.gives_up.row().name {
                for step in &broken.steps {
                    writeln!(text, "    {} {} {}", step.at, step.actor, step.action)
                        .expect("a string can be written to");
                }
            }
        }
    }
    text
}

/// AQL-5.1-5, AQL-4.1-6, AQL-5.2-2, AQL-5.1-3: the samples of 4.3, 5.1 and 5.2 break what the text around them says.
#[test]
fn every_sample_of_the_text_breaks_a_rule_of_the_text() {
    let specification = McpAql::new(Bounds::SMALL).expect("a preset is in range");
    let found = samples(&specification);
    let pinned = include_str!("samples.txt");
    for mutation in &MUTATIONS {
        let given_up = mutation.gives_up.row().name;
        let breaks = mutation.breaks(&specification);
        assert!(
            breaks.iter().any(|broken| broken.name == given_up),
            "{}",
            mutation.name
        );
    }
    assert!(found == pinned, "the samples now break:\n{found}");
}

#[test]
fn guards_invariants_and_witnesses_stand_in_their_order_and_are_found() {
    assert_eq!(Guard::named("honours-guessed"), [Guard::HonoursGuessed]);
    assert_eq!(Guard::named("AQL-5.1-6"), [Guard::WidensSilently]);
    assert_eq!(Guard::named("AQL-3.3-1"), []);
    for (place, row) in GUARDS.iter().enumerate() {
        assert_eq!(row.guard as usize, place, "{}", row.name);
    }
    for (place, row) in INVARIANTS.iter().enumerate() {
        assert_eq!(row.invariant as usize, place, "{}", row.name);
    }
    for (place, row) in WITNESSES.iter().enumerate() {
        assert_eq!(row.witness as usize, place, "{}", row.name);
    }
}
