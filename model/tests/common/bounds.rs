//! Bounds and their names.

use countersign_model::bounds::{Bounds, BoundsError};
use countersign_model::specification::{Modelled, Specification};

/// Checks that bounds are refused once their clock is out of range, and that presets, and nothing else, are found by name.
pub fn assert_bounds<T: Modelled>(with_ticks: impl Fn(u8) -> T::Bounds) {
    for (ticks, refused) in [(7, false), (8, false), (9, true)] {
        let error = BoundsError::OutOfRange {
            name: "ticks",
            value: ticks,
            least: 0,
            most: 8,
        };
        let model = Specification::<T>::new(with_ticks(ticks));
        assert_eq!(model.err(), refused.then_some(error));
    }
    let unknown = Specification::<T>::preset("tiny").expect_err("there is no such preset");
    assert_eq!(
        unknown.to_string(),
        "unknown bounds `tiny`: expected one of small, default, large"
    );
    for preset in T::Bounds::PRESETS {
        assert!(Specification::<T>::new(preset).is_ok());
        assert_eq!(Specification::<T>::preset(preset.name()), Ok(preset));
    }
}
