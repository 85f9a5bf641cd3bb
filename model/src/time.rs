//! The time of a model: moments, three to a tick, and the milliseconds that they are.
//!
//! The one thing to know: a moment is a full tick, the millisecond before it or the one after it. What has a limit begins on
//! a full tick and lasts full ticks, so that a limit is a full tick too, and the search sees it one before, at and after.

/// Moments in a tick.
const MOMENTS: u8 = 3;

/// The moment on a full tick.
pub const fn on(tick: u8) -> u8 {
    tick * MOMENTS
}

/// The full tick on which a moment lies; nothing for a moment beside one.
pub const fn tick(moment: u8) -> Option<u8> {
    if moment.is_multiple_of(MOMENTS) {
        Some(moment / MOMENTS)
    } else {
        None
    }
}

/// The last moment of a search to this tick: the one after it.
pub const fn last(tick: u8) -> u8 {
    on(tick) + 1
}

/// A moment as reports name it: `1`, `1-1ms` or `1+1ms`.
pub fn name(moment: u8) -> String {
    let tick = (moment + 1) / MOMENTS;
    match (moment + 1) % MOMENTS {
        0 => format!("{tick}-1ms"),
        1 => tick.to_string(),
        _ => format!("{tick}+1ms"),
    }
}

/// The milliseconds since the start at a moment, where a tick has so many.
pub fn millis(moment: impl Into<i64>, tick: i64) -> i64 {
    let moment = moment.into() + 1;
    let moments = i64::from(MOMENTS);
    moment.div_euclid(moments) * tick + moment.rem_euclid(moments) - 1
}

/// The moment at these milliseconds since the start, where a tick has so many; nothing for a time between two moments.
pub fn moment(millis: i64, tick: i64) -> Option<u8> {
    let (ticks, past) = ((millis + 1).div_euclid(tick), (millis + 1).rem_euclid(tick));
    let moment = ticks
        .checked_mul(i64::from(MOMENTS))?
        .checked_add(past - 1)?;
    u8::try_from(moment)
        .ok()
        .filter(|_| past < i64::from(MOMENTS))
}

/// The next full tick after a moment.
pub const fn next_tick(moment: u8) -> u8 {
    on(moment / MOMENTS + 1)
}

/// The next moment that is one before, at or after one of these limits.
pub fn next(moment: u8, limits: impl IntoIterator<Item = u8>) -> Option<u8> {
    let around = |limit: u8| [limit.saturating_sub(1), limit, limit.saturating_add(1)];
    let moments = limits.into_iter().flat_map(around);
    moments.filter(|&next| next > moment).min()
}

#[cfg(test)]
mod tests {
    use super::{last, millis, moment, name, next, next_tick, on, tick};

    #[test]
    fn the_moments_of_a_tick_are_the_millisecond_before_it_itself_and_the_one_after() {
        let second = on(1);
        let of = [second - 1, second, second + 1].map(|it| millis(it, 1_000));
        assert_eq!(of, [999, 1_000, 1_001]);
        assert_eq!(
            [second - 1, second, second + 1].map(name),
            ["1-1ms", "1", "1+1ms"]
        );
        assert_eq!([0_i8, -1, -3].map(|it| millis(it, 1_000)), [0, -1, -1_000]);
    }

    #[test]
    fn a_moment_is_found_again_and_a_time_between_two_is_none() {
        for from in 0..=80 {
            assert_eq!(moment(millis(from, 60_000), 60_000), Some(from));
        }
        assert_eq!([2, 500, -1].map(|at| moment(at, 1_000)), [None; 3]);
    }

    #[test]
    fn time_moves_to_the_moments_around_a_limit_and_no_other() {
        let all = std::iter::successors(Some(0), |&clock| next(clock, [on(1), on(3)]));
        assert_eq!(all.collect::<Vec<u8>>(), [0, 2, 3, 4, 8, 9, 10]);
        assert_eq!(last(3), 10);
    }

    #[test]
    fn full_ticks_are_counted_and_nothing_beside_them() {
        assert_eq!([8, 9, 10].map(tick), [None, Some(3), None]);
        assert_eq!([8, 9, 10].map(next_tick), [9, 12, 12]);
    }
}
