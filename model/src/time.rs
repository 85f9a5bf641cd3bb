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

/// Whether a moment is a full tick.
pub const fn is_full_tick(moment: u8) -> bool {
    tick(moment).is_some()
}

/// How many full ticks have passed at a moment.
pub const fn passed(moment: u8) -> u8 {
    moment / MOMENTS
}

/// The last moment of a search to this tick: the one after it.
pub const fn last(tick: u8) -> u8 {
    on(tick) + 1
}

/// A moment as reports name it: `1`, `1-1ms` or `1+1ms`.
pub fn name(moment: impl Into<i64>) -> String {
    name_in(moment, "")
}

/// The same with the unit that a tick is: `1min`, `1min-1ms` or `1min+1ms`; the start is `0`.
pub fn name_in(moment: impl Into<i64>, unit: &str) -> String {
    let (moment, moments) = (moment.into() + 1, i64::from(MOMENTS));
    let tick = moment.div_euclid(moments);
    let unit = if tick == 0 { "" } else { unit };
    match moment.rem_euclid(moments) {
        0 => format!("{tick}{unit}-1ms"),
        1 => format!("{tick}{unit}"),
        _ => format!("{tick}{unit}+1ms"),
    }
}

/// How long the model's times are, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// From one full tick to the next.
    tick: i64,
    /// From a full tick to the moments beside it.
    beside: i64,
}

impl Scale {
    /// Ticks of so many milliseconds, and moments a millisecond beside them.
    pub const fn of(tick: i64) -> Self {
        Self::beside(tick, 1)
    }

    /// Ticks of so many milliseconds, and moments so many beside them.
    pub const fn beside(tick: i64, beside: i64) -> Self {
        Self { tick, beside }
    }

    /// The milliseconds since the start at a moment.
    pub fn millis(self, moment: impl Into<i64>) -> i64 {
        let (moment, moments) = (moment.into() + 1, i64::from(MOMENTS));
        moment.div_euclid(moments) * self.tick + (moment.rem_euclid(moments) - 1) * self.beside
    }

    /// The moment at these milliseconds since the start; nothing for a time between two moments.
    pub fn moment(self, millis: i64) -> Option<u8> {
        let tick = (millis + self.beside).div_euclid(self.tick);
        let nearest = (-1..=1).map(|beside| tick.saturating_mul(i64::from(MOMENTS)) + beside);
        let moment = nearest.into_iter().find(|&it| self.millis(it) == millis)?;
        u8::try_from(moment).ok()
    }
}

/// What time goes on for in a state of a search.
#[derive(Debug)]
pub struct Waiting<Limits> {
    /// The full ticks at which what waits is over.
    pub limits: Limits,
    /// Whether anything can still begin.
    pub can_begin: bool,
    /// Every how many ticks it can, and time goes on without a limit.
    pub every: u8,
}

impl<Limits: Iterator<Item = u8>> Waiting<Limits> {
    /// The next moment of a search of so many ticks: one before, at or after a limit; and a full tick, as long as something
    /// can begin there, or where something waits and has no limit before the end.
    pub fn next(self, clock: u8, ticks: u8) -> Option<u8> {
        let mut limits = self.limits.peekable();
        let is_any = limits.peek().is_some();
        let at_limit = next(clock, limits).filter(|&moment| moment <= last(ticks));
        let full = next_tick(clock, self.every);
        let goes_on = is_any || !is_full_tick(clock);
        let can_begin = self.can_begin && goes_on && full < on(ticks);
        let has_no_limit = is_any && at_limit.is_none() && full <= on(ticks);
        let at_tick = (can_begin || has_no_limit).then_some(full);
        at_limit.into_iter().chain(at_tick).min()
    }
}

/// The next full tick after a moment whose number is a multiple of this.
const fn next_tick(moment: u8, multiple: u8) -> u8 {
    on((passed(moment) / multiple + 1) * multiple)
}

/// The next moment that is one before, at or after one of these limits.
fn next(moment: u8, limits: impl IntoIterator<Item = u8>) -> Option<u8> {
    let around = |limit: u8| [limit.saturating_sub(1), limit, limit.saturating_add(1)];
    let moments = limits.into_iter().flat_map(around);
    moments.filter(|&next| next > moment).min()
}

#[cfg(test)]
mod tests {
    use super::{Scale, Waiting, is_full_tick, last, name, name_in, next, next_tick, on, tick};

    #[test]
    fn the_moments_of_a_tick_are_the_millisecond_before_it_itself_and_the_one_after() {
        let second = on(1);
        let of = [second - 1, second, second + 1].map(|it| Scale::of(1_000).millis(it));
        assert_eq!(of, [999, 1_000, 1_001]);
        assert_eq!(
            [second - 1, second, second + 1].map(name),
            ["1-1ms", "1", "1+1ms"]
        );
        assert_eq!(
            [second - 1, second, 0].map(|it| name_in(it, "min")),
            ["1min-1ms", "1min", "0"]
        );
        assert_eq!(
            [0_i8, -1, -3].map(|it| Scale::of(1_000).millis(it)),
            [0, -1, -1_000]
        );
    }

    #[test]
    fn a_moment_is_found_again_and_a_time_between_two_is_none() {
        for from in 0..=80 {
            for scale in [Scale::of(60_000), Scale::beside(60_000, 20_000)] {
                assert_eq!(scale.moment(scale.millis(from)), Some(from));
            }
        }
        let between = [2, 500, -1].map(|at| Scale::of(1_000).moment(at));
        assert_eq!(between, [None; 3]);
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
        assert_eq!([8, 9, 10].map(is_full_tick), [false, true, false]);
        assert_eq!([8, 9, 10].map(|at| next_tick(at, 1)), [9, 12, 12]);
        assert_eq!(
            [8, 14, 15].map(|at| next_tick(at, 5)),
            [on(5), on(5), on(10)]
        );
    }

    #[test]
    fn time_goes_on_for_what_can_begin_and_for_what_has_no_limit_before_the_end() {
        let visited = |limits: &[u8], can_begin| {
            let from = |&clock: &u8| {
                let limits = limits.iter().copied();
                let waiting = Waiting {
                    limits,
                    can_begin,
                    every: 1,
                };
                waiting.next(clock, 3)
            };
            let all = std::iter::successors(Some(0), from);
            all.map(name).collect::<Vec<String>>().join(" ")
        };
        assert_eq!(visited(&[on(2)], false), "0 2-1ms 2 2+1ms 3");
        assert_eq!(visited(&[on(2)], true), "0 1 2-1ms 2 2+1ms 3");
        assert_eq!(visited(&[on(9)], false), "0 1 2 3");
        assert_eq!(visited(&[], true), "0");
    }
}
