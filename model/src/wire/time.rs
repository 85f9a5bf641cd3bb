//! Times: RFC 3339 as milliseconds since the epoch, and back.

const MINUTES_A_DAY: i64 = 24 * 60;
const MILLIS_A_DAY: i64 = MINUTES_A_DAY * 60_000;

/// Reads a time. Finer digits than milliseconds are cut off, and a leap second is the first second of the next day.
pub fn parse(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let (clock, rest) = rest.strip_prefix(['T', 't'])?.split_at_checked(8)?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at_checked(rest.find(|it: char| !it.is_ascii_digit())?)?,
        None => ("0", rest),
    };
    let offset = match zone.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        (sign @ ("+" | "-"), zone) => {
            let [hours, minutes] = numbers(zone, ':', [2, 2])?;
            let minutes = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
            if sign == "+" { minutes } else { -minutes }
        }
        _ => return None,
    };
    let days = days_until(year, month, day);
    let minutes = days * MINUTES_A_DAY + hour * 60 + minute - offset;
    let is_leap = second == 60 && {
        let next = minutes + 1;
        next.rem_euclid(MINUTES_A_DAY) == 0 && date_of(next.div_euclid(MINUTES_A_DAY)).2 == 1
    };
    let is_time = date_of(days) == (year, month, day)
        && hour < 24
        && minute < 60
        && (second < 60 || is_leap)
        && !fraction.is_empty();
    let fraction: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    is_time.then_some((minutes * 60 + second) * 1000 + if is_leap { 0 } else { fraction })
}

/// Writes a time of the years 0 to 9999.
pub fn write(millis: i64) -> String {
    let (year, month, day) = date_of(millis.div_euclid(MILLIS_A_DAY));
    let rest = millis.rem_euclid(MILLIS_A_DAY);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        rest % 1000
    )
}

/// Numbers of so many digits each, with that between them.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|it| it.is_ascii_digit());
        *number = is_number.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

/// The days from the epoch to a date, by Hinnant's `days_from_civil`: its years begin in March.
fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day, by Hinnant's `civil_from_days`.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = (month + 2) % 12 + 1;
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{MILLIS_A_DAY, parse, write};

    #[test]
    fn times_are_read_as_rfc_3339_has_them() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01t00:00:00.0019z", Some(1)),
            ("1970-01-01T00:00:00.5+00:01", Some(-59_500)),
            ("2000-02-29T00:00:00-00:30", Some(951_784_200_000)),
            ("2016-12-31T23:59:60.9Z", Some(1_483_228_800_000)),
            ("2017-01-01T00:59:60+01:00", Some(1_483_228_800_000)),
            ("2016-12-30T23:59:60Z", None),
            ("2016-12-31T23:58:60Z", None),
            ("2001-02-29T00:00:00Z", None),
            ("2001-13-01T00:00:00Z", None),
            ("2001-01-01T24:00:00Z", None),
            ("2001-01-01T00:60:00Z", None),
            ("2001-01-01T00:00:61Z", None),
            ("2001-01-01T00:00:00.Z", None),
            ("2001-01-01T00:00:00", None),
            ("2001-01-01 00:00:00Z", None),
            ("2001-1-01T00:00:00Z", None),
            ("+001-01-01T00:00:00Z", None),
            ("2001-01-01T00:00:00+24:00", None),
            ("2001-01-01T00:00:00Zé", None),
            ("é", None),
            ("", None),
        ] {
            assert_eq!(parse(text), millis, "{text}");
        }
    }

    #[test]
    fn a_time_is_written_and_read_again() {
        let day = |days: i64| days * MILLIS_A_DAY + days.rem_euclid(MILLIS_A_DAY);
        for millis in (-700_000..2_900_000).step_by(997).map(day) {
            assert_eq!(parse(&write(millis)), Some(millis));
        }
        assert_eq!(write(951_784_200_000), "2000-02-29T00:30:00.000Z");
    }
}
