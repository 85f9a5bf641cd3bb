//! What every rule is worth: which properties break without it, and after how many steps at the soonest.
//!
//! The table is a committed file, `ablation.txt`. A change of it is a change of the specification and has to be explained.

use std::fmt::Write;

use countersign_model::ablation::{Ablation, ablate, leave_out, telling};
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::rules::Guard;
use countersign_model::rules::Guards;
use countersign_model::table::Tabled;

use crate::common::agreement::assert_checked_alike;
use crate::common::small;
use crate::common::table::{assert_carried, table};

#[test]
#[ignore = "night: searches without each rule"]
fn every_rule_carries_something_and_every_property_is_carried() {
    let ablations = ablate(&small::<McpAqlProtocol>(), |_| {});
    assert_carried::<McpAqlProtocol>(&ablations);
    let found = table(&ablations);
    let pinned = include_str!("ablation.txt");
    assert!(found == pinned, "the table of ablations is now:\n{found}");
}

/// What the samples of the text break, as a text: a line for each rule that a sample leaves out, then one for each
/// property with the steps that it takes, and under those that tell what the rule is for the steps themselves.
fn samples(ablations: &[Ablation<Guard>]) -> String {
    let mut text = String::new();
    for ablation in ablations {
        let Some(sections) = ablation.guard.in_samples else {
            continue;
        };
        writeln!(text, "{} (sample of {sections})", ablation.guard.name)
            .expect("a string can be written to");
        let telling = telling(ablation.guard, ablation.breaks.iter());
        for broken in &ablation.breaks {
            writeln!(text, "  {} {}", broken.steps.len(), broken.name)
                .expect("a string can be written to");
            if !telling.iter().any(|told| told.name == broken.name) {
                continue;
            }
            for step in &broken.steps {
                writeln!(text, "    {} {} {}", step.at, step.actor, step.action)
                    .expect("a string can be written to");
            }
        }
    }
    text
}

/// AQL-5.1-5, AQL-4.1-6, AQL-5.2-2, AQL-5.1-3: the samples of 4.3, 5.1 and 5.2 break what the text around them says.
#[test]
fn every_sample_of_the_text_breaks_a_rule_of_the_text() {
    let specification = small::<McpAqlProtocol>();
    let ablations: Vec<_> = Guard::ROWS
        .iter()
        .filter(|row| row.in_samples.is_some())
        .map(|row| leave_out(&specification, row))
        .collect();
    for Ablation { guard, breaks, .. } in &ablations {
        let telling = telling(guard, breaks.iter());
        assert!(!telling.is_empty(), "{}", guard.name);
    }
    let found = samples(&ablations);
    let pinned = include_str!("samples.txt");
    assert!(found == pinned, "the samples now break:\n{found}");
}

#[test]
#[ignore = "night: searches once more for each rule"]
fn what_leaving_a_rule_out_breaks_never_holds_in_a_check_without_it() {
    assert_checked_alike::<McpAqlProtocol>(include_str!("ablation.txt"));
}

#[test]
fn guards_are_found_by_name_and_by_clause() {
    assert_eq!(Guard::named("honours-guessed"), [Guard::HonoursGuessed]);
    assert_eq!(Guard::named("AQL-5.1-6"), [Guard::WidensSilently]);
    assert_eq!(Guard::named("AQL-3.3-1"), []);
}
