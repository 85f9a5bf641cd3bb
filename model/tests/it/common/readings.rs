//! What each other way to take a text costs.

use std::fmt::Write;

use countersign_model::ablation::breaks_within;
use countersign_model::rules::Rules;
use countersign_model::specification::{Modelled, Specification};

use super::small;
use super::table::broken;

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

/// Every other choice as a text: a line for each, then one for each property that breaks within so many steps at `small`
/// bounds when the text is taken so, by a party that takes it so.
pub fn table<T: Modelled>(steps: usize) -> String {
    let mut text = String::new();
    for place in T::PLACES {
        for choice in &place.choices[1..] {
            let assignment = format!("{}={}", place.name, choice.value);
            let model = small::<T>().showing(place.with);
            let model = model.with(Rules::all(), taken::<T>(&assignment));
            writeln!(text, "{assignment}").expect("a string can be written to");
            text.push_str(&broken(&breaks_within(&model, steps)));
        }
    }
    text
}
