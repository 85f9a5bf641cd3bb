//! Bounds and their names.

use countersign_model::bounds::{Bounds, BoundsError, presets, written};
use countersign_model::specification::{Modelled, Specification};

/// Checks that bounds are refused once their clock is out of range, and that presets, and nothing else, are found by name.
pub fn assert_bounds<T: Modelled>(most: u8, with_ticks: impl Fn(u8) -> T::Bounds) {
    for (ticks, refused) in [(most - 1, false), (most, false), (most + 1, true)] {
        let error = BoundsError::OutOfRange {
            name: "ticks",
            value: ticks,
            least: 0,
            most,
        };
        let model = Specification::<T>::new(with_ticks(ticks));
        assert_eq!(model.err(), refused.then_some(error));
    }
    let unknown = Specification::<T>::preset("tiny").expect_err("there is no such preset");
    let known: Vec<_> = presets::<T::Bounds>().map(|it| it.name()).collect();
    assert_eq!(known[..4], ["small", "default", "large", "three"]);
    assert_eq!(
        unknown.to_string(),
        format!(
            "unknown bounds `tiny`: expected one of {}",
            known.join(", ")
        )
    );
    for preset in presets::<T::Bounds>() {
        assert!(Specification::<T>::new(preset).is_ok());
        assert_eq!(Specification::<T>::preset(preset.name()), Ok(preset));
    }
    assert_changes::<T>();
}

/// Checks that every number of a preset can be changed by its name, that bounds are written as they are read, and what is
/// said of changes that are none.
fn assert_changes<T: Modelled>() {
    let [small, ..] = T::Bounds::PRESETS;
    let read = |text: &str| Specification::<T>::preset(text);
    assert_eq!(written(small), "small");
    let numbers = { small }.numbers().len();
    for place in 0..numbers {
        let mut changed = small;
        let number = &mut changed.numbers()[place];
        *number.value += 1;
        let text = format!("small,{}={}", number.name, number.value);
        assert_eq!(read(&text), Ok(changed), "{text}");
        assert_eq!(written(changed), text);
    }
    for (text, error) in [
        (
            "small,ticks",
            "bounds: `ticks` is no change: expected NAME=NUMBER, such as `ticks=3`",
        ),
        (
            "small,",
            "bounds: `` is no change: expected NAME=NUMBER, such as `ticks=3`",
        ),
        (
            "small,ticks=-1",
            "bounds: `ticks=-1` is no change: expected NAME=NUMBER, such as `ticks=3`",
        ),
        (
            "small,ticks=256",
            "bounds: `ticks=256` is no change: expected NAME=NUMBER, such as `ticks=3`",
        ),
        ("small,ticks=2,ticks=2", "bounds: ticks is changed twice"),
    ] {
        assert_eq!(read(text).expect_err(text).to_string(), error);
    }
    let unknown = read("small,tocks=2")
        .expect_err("no such number")
        .to_string();
    let known = "bounds: there is no number `tocks`: expected one of ";
    assert!(unknown.starts_with(known), "{unknown}");
    assert!(unknown.contains(", ticks, "), "{unknown}");
}
