//! Moments on the wire: RFC 3339, to the microsecond.
//!
//! The calendar is the library's. Its parser takes twice as long as reading the digits of a usual timestamp here, which is
//! a twentieth of what the thread that reads has to do; and it takes more than RFC 3339 allows.

use std::fmt;

use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// Microseconds of the year 9999, and of the one before it.
const LAST_YEAR: i64 = 365 * 24 * 60 * 60 * 1_000_000;

/// Microseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Reads an RFC 3339 date and time. Digits beyond the microsecond are cut off; `None` for anything else, a date that
    /// does not exist included.
    pub fn parse(text: &str) -> Option<Self> {
        usual(text.as_bytes())
            .map(Self)
            .or_else(|| Self::parse_any(text))
    }

    fn parse_any(text: &str) -> Option<Self> {
        if !has_rfc3339_shape(text.as_bytes()) {
            return None;
        }
        // The calendar's parser takes nine digits of a fraction, RFC 3339 as many as there are.
        let moment: Result<jiff::Timestamp, _> = match Self::fractional_digits(text) {
            0..=9 => text.parse(),
            digits => [&text[..29], &text[20 + digits..]].concat().parse(),
        };
        let moment = moment.map(|it| Self(it.as_microsecond()));
        moment.ok().or_else(|| Self::parse_last(text))
    }

    /// The calendar's moments end before the last year does, so that each has a date in every place.
    fn parse_last(text: &str) -> Option<Self> {
        let earlier = ["9998", text.strip_prefix("9999")?].concat();
        let earlier = Self::parse_any(&earlier)?;
        Some(Self(earlier.0 + LAST_YEAR))
    }

    /// Microseconds since the Unix epoch.
    pub fn microseconds(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the Unix epoch.
    pub fn milliseconds(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// How many digits of a fraction the seconds of an RFC 3339 text have.
    pub fn fractional_digits(text: &str) -> usize {
        let fraction = text.as_bytes().get(20..).unwrap_or_default();
        match text.as_bytes().get(19) {
            Some(b'.') => fraction.iter().take_while(|it| it.is_ascii_digit()).count(),
            Some(_) | None => 0,
        }
    }

    /// The moment that part of the way from `self` to `end`; `part` is in per cent.
    #[must_use]
    pub fn part_of_the_way(self, end: Self, part: i64) -> Self {
        let way = end.0.saturating_sub(self.0);
        Self(self.0.saturating_add(way.saturating_mul(part) / 100))
    }

    /// The moment that many seconds later.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// The moment that many milliseconds later.
    #[must_use]
    pub fn plus_milliseconds(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds.saturating_mul(1_000)))
    }

    /// The moment one unit of the last of so many digits of a fraction later, at least a microsecond.
    #[must_use]
    pub fn plus_unit(self, digits: usize) -> Self {
        let units = (0..digits.min(6)).fold(1, |units, _| units * 10);
        Self(self.0.saturating_add(1_000_000 / units))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339, in UTC, with no, 3 or 6 digits of a fraction (AAEP-EV-3).
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.0 {
            it if it % 1_000_000 == 0 => 0,
            it if it % 1_000 == 0 => 3,
            _ => 6,
        };
        if let Ok(moment) = jiff::Timestamp::from_microsecond(self.0) {
            return write!(formatter, "{moment:.digits$}");
        }
        let earlier = self.0.saturating_sub(LAST_YEAR);
        let earlier = jiff::Timestamp::from_microsecond(earlier);
        let earlier = earlier.map(|it| format!("{it:.digits$}"));
        match earlier
            .ok()
            .and_then(|it| it.strip_prefix("9998").map(str::to_owned))
        {
            Some(rest) => write!(formatter, "9999{rest}"),
            // Only a deadline can lie beyond what a calendar holds.
            None => formatter.write_str("the end of time"),
        }
    }
}

/// A date and time in one of the forms of ISO 8601, of which RFC 3339 is one: no more exact than its last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Microseconds since the Unix epoch; where it has no offset, as if it were in UTC.
    pub at: i64,
    /// What its last digit counts, in microseconds.
    pub unit: i64,
    /// Whether it has an offset.
    pub has_zone: bool,
}

impl Written {
    /// Reads a date with the time of its day, in the extended or basic form, down to the minute at least, with an offset or none.
    /// `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let pieces = Pieces::parse(text).ok()?;
        let clock = pieces.time()?;
        // What names a place alone may mean two moments.
        let offset = pieces.to_numeric_offset();
        let (_, time) = text.split_once(['T', 't', ' '])?;
        let time = time.split(['Z', 'z', '+', '-', '[']).next()?.trim_end();
        let (whole, fraction) = time.split_once(['.', ',']).unwrap_or((time, ""));
        let unit = match whole.bytes().filter(u8::is_ascii_digit).count() {
            6 => 10_i64.pow(6 - u32::try_from(fraction.len().min(6)).ok()?),
            4 => 60_000_000,
            _ => return None,
        };
        let local = pieces.date().to_datetime(clock);
        let since = local.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
        let at = i64::try_from(since.as_micros()).ok()?;
        let seconds = offset.map_or(0, Offset::seconds);
        Some(Self {
            at: at - i64::from(seconds) * 1_000_000,
            unit,
            has_zone: offset.is_some(),
        })
    }
}

/// Most timestamps are in UTC, without fraction or with milliseconds: `2026-05-24T14:22:24.123Z`. Their digits are read here,
/// as microseconds since the Unix epoch; `None` for all else, be it a timestamp or not.
fn usual(text: &[u8]) -> Option<i64> {
    let (moment, rest) = text.split_first_chunk::<19>()?;
    let milliseconds = match rest {
        b"Z" => 0,
        [b'.', digits @ .., b'Z'] if digits.len() == 3 => number(digits)?,
        _ => return None,
    };
    if [moment[4], moment[7], moment[10], moment[13], moment[16]] != *b"--T::" {
        return None;
    }
    let two = |at: usize| i8::try_from(number(&moment[at..at + 2])?).ok();
    let year = number(&moment[..4])?;
    // Leap seconds are left to the parser.
    let moment = DateTime::new(year, two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, 0).ok()?;
    let moment = Offset::UTC.to_timestamp(moment).ok()?;
    Some(moment.as_microsecond() + i64::from(milliseconds) * 1_000)
}

/// A number of four digits at most.
fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        (digit < 10).then_some(number * 10 + i16::from(digit))
    })
}

/// The parser of the library takes more than RFC 3339 allows (spaces, offsets without minutes), so the shape is checked
/// first; ranges and calendar are the library's.
fn has_rfc3339_shape(text: &[u8]) -> bool {
    let Some((moment, rest)) = text.split_at_checked(19) else {
        return false;
    };
    let moment_fits = moment
        .iter()
        .zip(b"0000-00-00T00:00:00")
        .all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't'),
            other => byte == other,
        });
    moment_fits && offset_fits(without_fraction(rest))
}

/// An absent fraction is fine, a point without digits is not: it is left for the offset to stumble over.
fn without_fraction(rest: &[u8]) -> &[u8] {
    let Some(fraction) = rest.strip_prefix(b".") else {
        return rest;
    };
    let digits = fraction
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits > 0 {
        &fraction[digits..]
    } else {
        rest
    }
}

fn offset_fits(offset: &[u8]) -> bool {
    match offset {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit())
                && (*h1, *h2) <= (b'2', b'3')
                && *m1 <= b'5'
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_moment_in_other_words_is_the_same_timestamp() {
        let moment = Timestamp::parse("2026-05-24T14:22:24Z").unwrap();
        for text in [
            "2026-05-24t14:22:24.000z",
            "2026-05-24T14:22:24.0000000009Z",
            "2026-05-24T16:22:24.000000+02:00",
        ] {
            assert_eq!(Timestamp::parse(text), Some(moment), "{text}");
        }
        assert_eq!(
            Timestamp::parse("2026-05-24T14:22:34Z"),
            Some(moment.plus_seconds(10))
        );
    }

    #[test]
    fn the_last_days_of_the_calendar_are_moments_like_others() {
        let second = |text: &str| Timestamp::parse(text).expect(text).0 / 1_000_000;
        let before = second("9999-12-30T22:00:00Z");
        for (text, later) in [
            ("9999-12-30T22:00:01Z", 1),
            ("9999-12-31T23:59:59Z", 93_599),
            ("9999-12-31T23:59:59.999999Z", 93_599),
            ("9999-12-31T23:59:59-01:00", 97_199),
        ] {
            assert_eq!(second(text), before + later, "{text}");
        }
        let last = Timestamp::parse("9999-12-31T23:59:59Z").expect("a moment");
        assert_eq!(last.to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(last.plus_seconds(1).to_string(), "the end of time");
    }

    #[test]
    fn the_digits_of_a_fraction_are_counted() {
        for (text, digits) in [
            ("2026-05-24T14:22:24Z", 0),
            ("2026-05-24T14:22:24.1Z", 1),
            ("2026-05-24T14:22:24.123456+02:00", 6),
            ("", 0),
        ] {
            assert_eq!(Timestamp::fractional_digits(text), digits, "{text}");
        }
    }

    #[test]
    fn a_unit_of_the_last_digit_is_a_microsecond_at_least() {
        let moment = Timestamp(7);
        for (digits, unit) in [(0, 1_000_000), (1, 100_000), (3, 1_000), (6, 1), (9, 1)] {
            assert_eq!(moment.plus_unit(digits).0, 7 + unit, "{digits}");
        }
    }

    proptest! {
        /// Each number from somewhat below its range to somewhat above.
        #[test]
        fn the_usual_form_is_read_as_the_library_reads_it(
            date in (1965..2105, 0..14, 0..33), time in (0..26, 0..62, 0..62), fraction in prop::option::of(0..1000),
        ) {
            let ((year, month, day), (hours, minutes, seconds)) = (date, time);
            let fraction = fraction.map(|it| format!(".{it:03}")).unwrap_or_default();
            let text = format!("{year}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}{fraction}Z");
            prop_assert_eq!(Timestamp::parse(&text), Timestamp::parse_any(&text), "{}", text);
        }
    }

    #[test]
    fn a_moment_is_written_with_no_3_or_6_digits_of_a_fraction() {
        for (text, written) in [
            ("2026-05-24T14:23:20.000Z", "2026-05-24T14:23:20Z"),
            ("2026-05-24T14:23:20.040Z", "2026-05-24T14:23:20.040Z"),
            ("2026-05-24T16:23:20.5+02:00", "2026-05-24T14:23:20.500Z"),
            (
                "2026-05-24T14:23:20.04000100Z",
                "2026-05-24T14:23:20.040001Z",
            ),
            ("1969-12-31T23:59:59.900Z", "1969-12-31T23:59:59.900Z"),
            ("9999-12-31T23:59:59.040Z", "9999-12-31T23:59:59.040Z"),
        ] {
            let moment = Timestamp::parse(text).map(|it| it.to_string());
            assert_eq!(moment.as_deref(), Some(written), "{text}");
        }
    }

    #[test]
    fn each_form_of_iso_8601_is_read_with_what_its_last_digit_counts() {
        let at = Timestamp::parse("2026-05-24T14:22:00Z")
            .expect("a moment")
            .0;
        for (text, later, unit, has_zone) in [
            ("2026-05-24T14:22:20Z", 20_000_000, 1_000_000, true),
            ("2026-05-24 14:22:20z", 20_000_000, 1_000_000, true),
            ("20260524T142220Z", 20_000_000, 1_000_000, true),
            ("20260524T162220+0200", 20_000_000, 1_000_000, true),
            ("2026-05-24T16:22:20+02", 20_000_000, 1_000_000, true),
            ("2026-05-24T14:22:20,5Z", 20_500_000, 100_000, true),
            ("2026-05-24T14:22:20.1234567Z", 20_123_456, 1, true),
            ("2026-05-24T14:22Z", 0, 60_000_000, true),
            ("20260524T1422", 0, 60_000_000, false),
            ("2026-05-24T14:22:20.123456", 20_123_456, 1, false),
            (
                "2026-05-24T14:22:20[Europe/Berlin]",
                20_000_000,
                1_000_000,
                false,
            ),
            (
                "2026-05-24T16:22:20+02:00[Europe/Berlin]",
                20_000_000,
                1_000_000,
                true,
            ),
        ] {
            let read = Written {
                at: at + later,
                unit,
                has_zone,
            };
            assert_eq!(Written::parse(text), Some(read), "{text}");
        }
        let last = Written::parse("9999-12-31T23:59:59Z").map(|it| it.at);
        assert_eq!(
            last,
            Timestamp::parse("9999-12-31T23:59:59Z").map(|it| it.0)
        );
        for text in [
            "",
            "2026-05-24",
            "20260524",
            "2026-05-24T14Z",
            "2026-05-24T142:20Z",
            "2026-02-30T14:22Z",
            "14:22:20Z",
        ] {
            assert_eq!(Written::parse(text), None, "{text}");
        }
    }

    proptest! {
        /// What RFC 3339 allows is the same moment in both.
        #[test]
        fn an_rfc_3339_time_is_the_same_moment_as_iso_8601(
            date in (1000..9999, 1..13, 1..29), time in (0..24, 0..60, 0..60), fraction in "(\\.[0-9]{1,9})?", offset in "Z|[+-][01][0-9]:[0-5][0-9]",
        ) {
            let ((year, month, day), (hours, minutes, seconds)) = (date, time);
            let text = format!("{year}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}{fraction}{offset}");
            let at = Timestamp::parse(&text).map(Timestamp::microseconds);
            prop_assert_eq!(Written::parse(&text).map(|it| it.at), at, "{}", text);
        }
    }

    #[test]
    fn what_is_not_rfc_3339_is_no_timestamp() {
        for text in [
            "",
            "2026-05-24",
            "2026-05-24T14:22:24",
            "2026-05-24 14:22:24Z",
            "2026-05-24T14:22:24.Z",
            "2026-05-24T14:22:24+02",
            "2026-05-24T14:22:24+24:00",
            "2026-05-24T14:22:24+02:60",
            "2026-02-30T14:22:24Z",
            "2026-05-24T25:22:24Z",
            "2026-05-24T14:22:24Z\n",
            "2026-05-24T14:22:24é",
            "9999-02-29T00:00:00Z",
            "9999-12-32T00:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
