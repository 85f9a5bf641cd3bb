//! What is asked of the model of every protocol.

pub mod agreement;
pub mod bounds;
pub mod changes;
pub mod compare;
pub mod counts;
pub mod engine;
pub mod judged;
pub mod numbers;
pub mod quotient;
pub mod readings;
pub mod seen;
pub mod shape;
pub mod table;
pub mod teeth;

use countersign_model::bounds::Bounds;
use countersign_model::specification::{Modelled, Specification};

/// The smallest preset of a protocol.
pub fn small<T: Modelled>() -> Specification<T> {
    let [small, ..] = T::Bounds::PRESETS;
    within(small)
}

/// The specification within bounds that are known to be in range.
pub fn within<T: Modelled>(bounds: T::Bounds) -> Specification<T> {
    Specification::new(bounds).expect("the bounds are in range")
}
