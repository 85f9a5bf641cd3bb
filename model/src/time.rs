//! The time of a model: three moments to a unit, one of them a millisecond before the full unit, one on it, one behind it.
//!
//! The one thing to know: limits lie whole units apart from what they are counted from, so that sums and comparisons of
//! moments are those of their milliseconds, and the moments next to a limit are those at which it has almost, just and
//! already come.

/// Moments in a unit.
pub const UNIT: u8 = 3;

/// The milliseconds since the start at a moment, where a unit has so many.
pub fn millis(moment: impl Into<i64>, unit: i64) -> i64 {
    let moment = moment.into() + 1;
    let past = i64::from(UNIT);
    moment.div_euclid(past) * unit + moment.rem_euclid(past) - 1
}

/// The moment at these milliseconds, where a unit has so many; nothing for a time between two moments.
pub fn moment(at: i64, unit: i64) -> Option<u8> {
    let (units, past) = ((at + 1).div_euclid(unit), (at + 1).rem_euclid(unit));
    let moment = units.checked_mul(i64::from(UNIT))?.checked_add(past - 1)?;
    u8::try_from(moment).ok().filter(|_| past < i64::from(UNIT))
}

/// The next moment at which there is something to see: the one before, at or behind one of these limits.
pub fn next(clock: u8, limits: impl IntoIterator<Item = u8>) -> Option<u8> {
    let around = |limit: u8| [limit.saturating_sub(1), limit, limit.saturating_add(1)];
    let moments = limits.into_iter().flat_map(around);
    moments.filter(|&moment| moment > clock).min()
}

#[cfg(test)]
mod tests {
    use super::{UNIT, millis, moment, next};

    #[test]
    fn a_limit_comes_a_whole_unit_later_to_the_millisecond() {
        for from in -7_i8..20 {
            let later = from + UNIT.cast_signed();
            assert_eq!(millis(later, 1_000), millis(from, 1_000) + 1_000);
            assert!(millis(from, 1_000) < millis(from + 1, 1_000));
        }
        assert_eq!(
            [2, 3, 4_i8].map(|at| millis(at, 1_000)),
            [999, 1_000, 1_001]
        );
    }

    #[test]
    fn a_moment_is_found_again_and_nothing_between_two_is_one() {
        for from in 0..=80 {
            assert_eq!(moment(millis(from, 60_000), 60_000), Some(from));
        }
        assert_eq!([2, 500, -1].map(|at| moment(at, 1_000)), [None; 3]);
    }

    #[test]
    fn time_moves_to_the_moments_around_a_limit() {
        let all = std::iter::successors(Some(0), |&clock| next(clock, [3, 9]));
        assert_eq!(all.collect::<Vec<u8>>(), [0, 2, 3, 4, 8, 9, 10]);
    }
}
