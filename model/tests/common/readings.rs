//! What each other way to take a text costs.

use std::fmt::Write;

use countersign_model::rules::Rules;
use countersign_model::shortest::{Limit, shortest_runs};
use countersign_model::specification::{Modelled, Specification};
use countersign_model::table::Tabled;

use super::small;

/// The reading that takes one place as `name=value` says.
fn taken<T: Modelled>(assignment: &str) -> T::Reading {
    Specification::<T>::reading([assignment]).expect("the assignment names a choice")
}

/// Checks that the first choice of every place is the specification.
pub fn assert_first_choices_specify<T: Modelled>() {
    for place in T::PLACES {
        let assignment = format!("{}={}", place.name, place.choices[0].value);
        assert_eq!(
            taken::<T>(&assignment),
            T::Reading::default(),
            "{assignment}"
        );
    }
}

/// Every other choice as a text: a line for each, then one for each invariant that breaks within so many steps at `small`
/// bounds when the text is taken so, with the steps that it takes.
pub fn table<T: Modelled>(steps: usize) -> String {
    let limit = Limit {
        steps,
        ..Limit::default()
    };
    let mut text = String::new();
    for place in T::PLACES {
        for choice in &place.choices[1..] {
            let assignment = format!("{}={}", place.name, choice.value);
            let model = small::<T>().with(Rules::all(), taken::<T>(&assignment));
            writeln!(text, "{assignment}").expect("a string can be written to");
            for (broken, run) in shortest_runs(&model, limit).broken {
                writeln!(text, "  {} {}", run.len(), T::Invariant::ROWS[broken].name)
                    .expect("a string can be written to");
            }
        }
    }
    text
}
