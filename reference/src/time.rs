//! Points in time and spans of time, each with its unit and its clock in its type.
//!
//! The one thing to know: [`Timestamp`] is always *our* clock, the one that the host passes to every call, and so is [`Deadline`].
//! [`DecidedAt`] is what the sender of a message claims. The two never mix except in the one comparison that the
//! protocol prescribes, [`DecidedAt::precedes`].
//!
//! The reader is written by hand because RFC 3339 to the letter is neither more nor less than what `jiff` reads: that one
//! takes texts that are no RFC 3339, and not all of the fractions, leap seconds and years that are. What would be left to
//! it is the calendar of 40 lines at the end of this file, and it serves better as the oracle of the tests.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

const MILLISECONDS_PER_SECOND: i64 = 1_000;
const SECONDS_PER_MINUTE: i64 = 60;
const MINUTES_PER_DAY: i64 = 24 * 60;
const MILLISECONDS_PER_DAY: i64 = MINUTES_PER_DAY * SECONDS_PER_MINUTE * MILLISECONDS_PER_SECOND;

/// A point in time on the executor's own clock, in milliseconds since 1970-01-01T00:00:00Z.
///
/// Always within the years 0000 to 9999, so that it can be written as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Timestamp(i64);

impl Timestamp {
    /// 0000-01-01T00:00:00.000Z.
    pub const MIN: Self = Self(-62_167_219_200_000);
    /// 9999-12-31T23:59:59.999Z.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// The given number of milliseconds since the epoch, brought into the years 0000 to 9999.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Milliseconds since the epoch.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// When `timeout` has passed from this time on.
    pub fn plus(self, timeout: Timeout) -> Deadline {
        Deadline(self.0 + i64::from(timeout.seconds()) * MILLISECONDS_PER_SECOND)
    }

    /// This time plus that many seconds, unless that lies beyond [`Timestamp::MAX`].
    pub fn checked_plus_seconds(self, seconds: u32) -> Option<Self> {
        let sum = self.0 + i64::from(seconds) * MILLISECONDS_PER_SECOND;
        (sum <= Self::MAX.0).then_some(Self(sum))
    }

    /// Reads an RFC 3339 `date-time`, to the letter of its grammar.
    ///
    /// `T` and `Z` in either case, a numeric offset up to 23:59, any number of fraction digits. Digits beyond the
    /// millisecond are cut off, which changes no comparison with a whole millisecond. The second 60 is read at
    /// 23:59 UTC on the last day of a month, the only place where a leap second can be, and as the first second
    /// of the next day. Nothing else is: no space for the `T`, no hour 24, no day that its month has not.
    ///
    /// # Errors
    ///
    /// [`NotRfc3339`] where the text is anything else.
    pub fn parse(text: &str) -> Result<Self, NotRfc3339> {
        let mut reader = Reader(text.as_bytes());
        let millis = reader.date_time().ok_or(NotRfc3339)?;
        if reader.0.is_empty() {
            Ok(Self::from_millis(millis))
        } else {
            Err(NotRfc3339)
        }
    }
}

/// RFC 3339 in UTC with three fraction digits, such as `2026-05-24T14:22:20.014Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of_day(self.0.div_euclid(MILLISECONDS_PER_DAY));
        let millis = self.0.rem_euclid(MILLISECONDS_PER_DAY);
        let seconds = millis / MILLISECONDS_PER_SECOND;
        let fraction = millis % MILLISECONDS_PER_SECOND;
        // Each event bears a time, so that its digits are not left to the machinery of `write!`.
        let mut text = *b"0000-00-00T00:00:00.000Z";
        for (place, number) in [
            (0..4, year),
            (5..7, month),
            (8..10, day),
            (11..13, seconds / 3_600),
            (14..16, seconds / 60 % 60),
            (17..19, seconds % 60),
            (20..23, fraction),
        ] {
            put_digits(&mut text[place], number);
        }
        formatter.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

/// Writes the last digits of a number that is not below 0, as many as there is place for.
fn put_digits(place: &mut [u8], mut number: i64) {
    for digit in place.iter_mut().rev() {
        *digit = b"0123456789"[usize::try_from(number % 10).unwrap_or_default()];
        number /= 10;
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = NotRfc3339;

    fn try_from(text: String) -> Result<Self, NotRfc3339> {
        Self::parse(&text)
    }
}

/// When something falls due on the executor's own clock, in milliseconds since 1970-01-01T00:00:00Z.
///
/// It may lie beyond [`Timestamp::MAX`]. No clock shows such a time, so that it never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deadline(i64);

impl Deadline {
    /// The given number of milliseconds since the epoch.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// The same as a time, unless it lies beyond the calendar.
    pub fn timestamp(self) -> Option<Timestamp> {
        let nearest = Timestamp::from_millis(self.0);
        (nearest.0 == self.0).then_some(nearest)
    }
}

impl From<Timestamp> for Deadline {
    fn from(timestamp: Timestamp) -> Self {
        Self(timestamp.0)
    }
}

/// The text is no RFC 3339 `date-time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 date-time")]
pub struct NotRfc3339;

/// When the sender of a reply says that the user decided. A claim: its clock may be off, or it may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecidedAt(Timestamp);

impl DecidedAt {
    /// Takes a time that a message claims for what it is.
    pub fn claimed(timestamp: Timestamp) -> Self {
        Self(timestamp)
    }

    /// Whether the claimed time lies strictly before `deadline`, which is on our clock.
    pub fn precedes(self, deadline: Deadline) -> bool {
        Deadline::from(self.0) < deadline
    }
}

impl fmt::Display for DecidedAt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// How long a confirmation waits, in whole seconds from 1 to 86400 (AAEP-EV-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Timeout(u32);

impl Timeout {
    /// The longest timeout: one day.
    pub const MAX_SECONDS: u32 = 86_400;

    /// A timeout of that many seconds.
    ///
    /// # Errors
    ///
    /// [`TimeoutOutOfRange`] unless it is 1 to 86400.
    pub fn from_seconds(seconds: u64) -> Result<Self, TimeoutOutOfRange> {
        match u32::try_from(seconds) {
            Ok(seconds @ 1..=Self::MAX_SECONDS) => Ok(Self(seconds)),
            Ok(_) | Err(_) => Err(TimeoutOutOfRange),
        }
    }

    /// The number of seconds.
    pub fn seconds(self) -> u32 {
        self.0
    }
}

impl TryFrom<u64> for Timeout {
    type Error = TimeoutOutOfRange;

    fn try_from(seconds: u64) -> Result<Self, TimeoutOutOfRange> {
        Self::from_seconds(seconds)
    }
}

impl From<Timeout> for u64 {
    fn from(timeout: Timeout) -> Self {
        Self::from(timeout.0)
    }
}

/// A timeout must be 1 to 86400 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a timeout is 1 to 86400 seconds")]
pub struct TimeoutOutOfRange;

/// The part of an RFC 3339 text that is still to be read. Each method takes its piece off the front, or is `None`.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// `full-date "T" full-time`, as milliseconds since the epoch.
    fn date_time(&mut self) -> Option<i64> {
        let day = self.full_date()?;
        self.one_of(b"Tt")?;
        let hour = self.number(2, 0..=23)?;
        self.one_of(b":")?;
        let minute = self.number(2, 0..=59)?;
        self.one_of(b":")?;
        let second = self.number(2, 0..=60)?;
        let millis = self.fraction()?;
        let offset = self.offset_minutes()?;

        let minutes = day * MINUTES_PER_DAY + hour * 60 + minute - offset;
        if second == 60 && !ends_a_month(minutes) {
            return None;
        }
        Some((minutes * SECONDS_PER_MINUTE + second) * MILLISECONDS_PER_SECOND + millis)
    }

    /// `YYYY-MM-DD` as days since the epoch.
    fn full_date(&mut self) -> Option<i64> {
        let year = self.number(4, 0..=9_999)?;
        self.one_of(b"-")?;
        let month = self.number(2, 1..=12)?;
        self.one_of(b"-")?;
        let day = self.number(2, 1..=days_in_month(year, month))?;
        Some(day_of_date(year, month, day))
    }

    /// Nothing, or a point and at least one digit, as whole milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        if self.one_of(b".").is_none() {
            return Some(0);
        }
        let length = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        let millis = digits
            .iter()
            .chain(b"00")
            .take(3)
            .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        (length > 0).then_some(millis)
    }

    /// `Z`, or a sign and `HH:MM`: how many minutes the local time is ahead of UTC.
    fn offset_minutes(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _zulu => return Some(0),
        };
        let hours = self.number(2, 0..=23)?;
        self.one_of(b":")?;
        let minutes = self.number(2, 0..=59)?;
        Some(sign * (hours * 60 + minutes))
    }

    /// Exactly `digits` ASCII digits whose value lies in `range`.
    fn number(&mut self, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        let value = number.iter().try_fold(0, |sum, byte| {
            byte.is_ascii_digit()
                .then(|| sum * 10 + i64::from(byte - b'0'))
        })?;
        self.0 = rest;
        range.contains(&value).then_some(value)
    }

    /// One byte out of `allowed`.
    fn one_of(&mut self, allowed: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if !allowed.contains(&first) {
            return None;
        }
        self.0 = rest;
        Some(first)
    }
}

/// Whether the minute (counted from the epoch, UTC) is the last of its month.
fn ends_a_month(minute: i64) -> bool {
    let next = minute + 1;
    let (_, _, day) = date_of_day(next.div_euclid(MINUTES_PER_DAY));
    next.rem_euclid(MINUTES_PER_DAY) == 0 && day == 1
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

// The two conversions count years from March, so that the leap day is the last day of its year, in eras of 400
// years (146 097 days). 719 468 days lie between 0000-03-01 and 1970-01-01.

/// Days since the epoch of a date of the proleptic Gregorian calendar.
fn day_of_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a number of days since the epoch.
fn date_of_day(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn millis(text: &str) -> Option<i64> {
        Timestamp::parse(text).ok().map(Timestamp::millis)
    }

    /// AAEP-REPLY-6: the forms that RFC 3339 allows.
    #[test]
    fn every_form_of_the_same_instant_is_read_alike() {
        let instant = millis("2026-05-24T14:22:24.812Z");
        assert!(instant.is_some());
        for text in [
            "2026-05-24t14:22:24.812z",
            "2026-05-24T14:22:24.812+00:00",
            "2026-05-24T14:22:24.812-00:00",
            "2026-05-24T16:22:24.812+02:00",
            "2026-05-24T00:52:24.812-13:30",
            "2026-05-25T14:21:24.812+23:59",
            "2026-05-24T14:22:24.812000000000000000000000Z",
            "2026-05-24T14:22:24.812999999999999999999999Z",
        ] {
            assert_eq!(millis(text), instant, "{text}");
        }
        assert_eq!(millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(millis("1970-01-01T00:00:00.5Z"), Some(500));
        assert_eq!(millis("1969-12-31T23:59:59.9999Z"), Some(-1));
    }

    /// AAEP-REPLY-6: nothing else is a date-time.
    #[test]
    fn what_the_grammar_does_not_have_is_refused() {
        for text in [
            "",
            "2026-05-24",
            "14:22:24Z",
            "2026-05-24 14:22:24Z",
            "2026-05-24T14:22:24",
            "2026-05-24T14:22:24Z\n",
            " 2026-05-24T14:22:24Z",
            "2026-05-24T14:22Z",
            "2026-05-24T14:22:24.Z",
            "2026-05-24T14:22:24,5Z",
            "2026-05-24T14:22:24+0200",
            "2026-05-24T14:22:24+02",
            "2026-05-24T14:22:24+24:00",
            "2026-05-24T14:22:24+02:60",
            "2026-05-24T14:22:24UTC",
            "2026-5-24T14:22:24Z",
            "26-05-24T14:22:24Z",
            "+2026-05-24T14:22:24Z",
            "-0001-05-24T14:22:24Z",
            "12026-05-24T14:22:24Z",
            "2026-144T14:22:24Z",
            "2026-W21-7T14:22:24Z",
            "20260524T142224Z",
            "2026-05-24T14:22:24.८Z",
            "2026-05-2４T14:22:24Z",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }

    #[test]
    fn every_field_has_its_range() {
        for (text, accepted) in [
            ("0000-01-01T00:00:00Z", true),
            ("9999-12-31T23:59:59.999Z", true),
            ("2026-00-24T00:00:00Z", false),
            ("2026-01-24T00:00:00Z", true),
            ("2026-12-24T00:00:00Z", true),
            ("2026-13-24T00:00:00Z", false),
            ("2026-01-00T00:00:00Z", false),
            ("2026-01-01T00:00:00Z", true),
            ("2026-01-31T00:00:00Z", true),
            ("2026-01-32T00:00:00Z", false),
            ("2026-04-30T00:00:00Z", true),
            ("2026-04-31T00:00:00Z", false),
            ("2026-02-28T00:00:00Z", true),
            ("2026-02-29T00:00:00Z", false),
            ("2024-02-29T00:00:00Z", true),
            ("2024-02-30T00:00:00Z", false),
            ("1900-02-29T00:00:00Z", false),
            ("2000-02-29T00:00:00Z", true),
            ("2026-01-01T23:00:00Z", true),
            ("2026-01-01T24:00:00Z", false),
            ("2026-01-01T00:59:00Z", true),
            ("2026-01-01T00:60:00Z", false),
            ("2026-01-01T00:00:59Z", true),
            ("2026-01-01T00:00:60Z", false),
            ("2026-01-01T00:00:61Z", false),
        ] {
            assert_eq!(millis(text).is_some(), accepted, "{text}");
        }
    }

    #[test]
    fn a_leap_second_is_read_only_at_the_end_of_a_month_in_utc() {
        assert_eq!(
            millis("1998-12-31T23:59:60Z"),
            millis("1999-01-01T00:00:00Z")
        );
        assert_eq!(
            millis("1998-12-31T15:59:60.123-08:00"),
            millis("1999-01-01T00:00:00.123Z")
        );
        assert_eq!(
            millis("1999-01-01T01:59:60+02:00"),
            millis("1999-01-01T00:00:00Z")
        );
        assert!(millis("2016-06-30T23:59:60Z").is_some());
        assert_eq!(millis("1998-12-30T23:59:60Z"), None);
        assert_eq!(millis("1998-12-31T22:59:60Z"), None);
        assert_eq!(millis("1998-12-31T23:58:60Z"), None);
        assert_eq!(millis("1998-12-31T23:59:60+01:00"), None);
        assert_eq!(millis("1998-12-31T23:59:61Z"), None);
    }

    #[test]
    fn times_stop_at_the_border_of_the_calendar() {
        assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_millis(i64::MIN), Timestamp::MIN);
        assert_eq!(Timestamp::from_millis(i64::MAX), Timestamp::MAX);
        assert_eq!(
            Timestamp::parse("0000-01-01T00:00:00+00:01"),
            Ok(Timestamp::MIN)
        );
        assert_eq!(
            Timestamp::parse("9999-12-31T23:59:59-00:01"),
            Ok(Timestamp::MAX)
        );
        let timeout = Timeout::from_seconds(1).expect("in range");
        let sum = |millis| Timestamp::from_millis(millis).plus(timeout);
        assert_eq!(sum(5).millis(), 1_005);
        let last = Timestamp::MAX.millis() - 1_000;
        assert_eq!(
            sum(last - 1).timestamp(),
            Some(Timestamp::from_millis(last + 999))
        );
        assert_eq!(sum(last).timestamp(), Some(Timestamp::MAX));
        assert_eq!(sum(last + 1).timestamp(), None);
        assert_eq!(sum(last + 1).millis(), Timestamp::MAX.millis() + 1);
    }

    /// AAEP-EV-5: from 1 to 86400 seconds.
    #[test]
    fn a_timeout_has_its_range() {
        assert_eq!(Timeout::from_seconds(0), Err(TimeoutOutOfRange));
        assert_eq!(Timeout::from_seconds(1).map(Timeout::seconds), Ok(1));
        assert_eq!(Timeout::from_seconds(2).map(Timeout::seconds), Ok(2));
        assert_eq!(
            Timeout::from_seconds(86_399).map(Timeout::seconds),
            Ok(86_399)
        );
        assert_eq!(
            Timeout::from_seconds(86_400).map(Timeout::seconds),
            Ok(86_400)
        );
        assert_eq!(Timeout::from_seconds(86_401), Err(TimeoutOutOfRange));
        assert_eq!(
            Timeout::from_seconds(u64::from(u32::MAX) + 2),
            Err(TimeoutOutOfRange)
        );
    }

    /// AAEP-6.3.4-4: strictly before.
    #[test]
    fn a_claimed_time_precedes_a_deadline_only_strictly() {
        let claimed = |millis| DecidedAt::claimed(Timestamp::from_millis(millis));
        for at in [1_000, 1_001, 1_500, 1_999] {
            let deadline = Deadline::from_millis(at);
            assert!(claimed(at - 500).precedes(deadline));
            assert!(claimed(at - 1).precedes(deadline));
            assert!(!claimed(at).precedes(deadline));
            assert!(!claimed(at + 1).precedes(deadline));
        }
    }

    /// AAEP-REPLY-6: where the other calendar reads otherwise than RFC 3339 has it, which is why there is this one.
    #[test]
    fn another_calendar_reads_other_texts() {
        let theirs = |text: &str| text.parse::<jiff::Timestamp>().ok();
        for (text, is_rfc_3339) in [
            ("2026-05-24 14:22:24Z", false),
            ("2026-05-24T14:22:24+02", false),
            ("20260524T142224Z", false),
            ("2026-05-24T14:22:24.0123456789Z", true),
            ("9999-12-31T23:59:59Z", true),
        ] {
            assert_eq!(millis(text).is_some(), is_rfc_3339, "{text}");
            assert_eq!(theirs(text).is_some(), !is_rfc_3339, "{text}");
        }
        // A leap second is the first second of the next day here, and the one before it there.
        let leap = "2016-12-31T23:59:60Z";
        let second_before = theirs("2016-12-31T23:59:59Z");
        assert_eq!(millis(leap), millis("2017-01-01T00:00:00Z"));
        assert_eq!(theirs(leap), second_before);
    }

    /// AAEP-6.3.4-4: every millisecond counts, and what is written behind it does not.
    #[test]
    fn every_millisecond_is_read() {
        let whole = millis("2026-05-24T14:22:24Z").expect("a time");
        for fraction in 0..1_000 {
            for behind in ["", "0", "000001", "999999999"] {
                let text = format!("2026-05-24T14:22:24.{fraction:03}{behind}Z");
                assert_eq!(millis(&text), Some(whole + fraction), "{text}");
            }
        }
        for (digits, fraction) in [("5", 500), ("05", 50), ("25", 250), ("005", 5)] {
            let text = format!("2026-05-24T14:22:24.{digits}Z");
            assert_eq!(millis(&text), Some(whole + fraction), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(millis in Timestamp::MIN.millis()..=Timestamp::MAX.millis()) {
            let timestamp = Timestamp::from_millis(millis);
            prop_assert_eq!(timestamp.millis(), millis);
            prop_assert_eq!(Timestamp::parse(&timestamp.to_string()), Ok(timestamp));
        }

        /// An independent calendar reads and writes the same dates.
        #[test]
        fn another_calendar_agrees(millis in Timestamp::MIN.millis()..=253_402_207_200_000) {
            let ours = Timestamp::from_millis(millis);
            let theirs = jiff::Timestamp::from_millisecond(millis).expect("in jiff's range");
            prop_assert_eq!(ours.to_string(), format!("{theirs:.3}"));
        }

        #[test]
        fn reading_never_panics(text in any::<String>()) {
            let _ = Timestamp::parse(&text);
        }

        /// Texts that are almost right: whatever jiff cannot place, we do not read either.
        #[test]
        fn no_impossible_time_is_read(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,12})?(Z|[+-][0-2][0-9]:[0-6][0-9])"
        ) {
            let is_leap_second = &text[17..19] == "60";
            // Years 0000 and 9999 reach beyond jiff's range.
            let is_at_the_border = text.starts_with("0000") || text.starts_with("9999");
            prop_assume!(!is_leap_second && !is_at_the_border);
            let fraction_end = text.rfind(['Z', '+', '-']).expect("has an offset");
            let short = format!("{}{}", &text[..fraction_end.min(29)], &text[fraction_end..]);
            let theirs = short.parse::<jiff::Timestamp>().ok().map(|time| {
                time.as_nanosecond().div_euclid(1_000_000)
            });
            let offset_is_ours = text.ends_with('Z') || &text[text.len() - 5..] <= "23:59";
            if offset_is_ours {
                prop_assert_eq!(millis(&text).map(i128::from), theirs, "{}", text);
            } else {
                prop_assert_eq!(millis(&text), None);
            }
        }
    }
}
