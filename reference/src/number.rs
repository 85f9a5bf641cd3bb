//! Numbers in canonical form: RFC 8785 section 3.2.2.3, which is how ECMAScript writes a double.
//!
//! The one thing to know: RFC 8785 takes a number for the double next to it. That is what nearly every reader does
//! with a fraction, so 0.1 and 0.10000000000000001 mean the same here. It is not what every reader does with a large
//! whole number: there the double must be exactly what was written, or the client could confirm the deletion of one
//! identifier and delete the next. [`to_the_digit`] takes such a number as it is written.
//!
//! The digits are written by `ryu-js`. What is by hand is the comparison with what was written, which no crate for
//! canonical JSON makes: each takes the double as it is.

/// Up to here a double carries every whole number: 2^53.
pub(crate) const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The canonical form of a number as written in JSON, unless it has none.
///
/// It has none where the double would be infinite, and where it would be zero though the number is not. A number
/// beyond 2^53 has one only if it is exactly what the canonical form says, and both say it with an exponent: without,
/// it is a whole number that most readers would get wrong.
pub(crate) fn canonical(written: &str) -> Option<String> {
    let double: f64 = written.parse().ok()?;
    let form = write(double)?;
    let carried = if double == 0.0 {
        Decimal::read(written).digits.is_empty()
    } else if double.abs() < LARGEST_WHOLE {
        true
    } else {
        let has_exponent = written.contains(['e', 'E']) && form.contains('e');
        let is_exact = Decimal::read(written) == Decimal::read(&form);
        is_exact && (has_exponent || double.abs() <= LARGEST_WHOLE)
    };
    carried.then_some(form)
}

/// The same, and whatever has one meaning besides. A whole number that is written in full stands for itself, to the digit,
/// however large it is: that is how identifiers of 64 bits are written. One with a fraction or an exponent beyond 2^53 has
/// one meaning where the shortest form of its double is that very number: 1e20 is 100000000000000000000 to every reader,
/// and 9007199254740993.0 is not the same to all.
pub(crate) fn to_the_digit(written: &str) -> Option<String> {
    let in_full = || is_whole(written).then(|| written.to_owned());
    canonical(written)
        .or_else(|| exact(written))
        .or_else(in_full)
}

/// A whole number in full to the digit, and any other as its double: one that is whole has the digits of it. None for a number that no
/// double carries.
pub(crate) fn whole_or_double(written: &str) -> Option<String> {
    let digits = if is_whole(written) {
        written.to_owned()
    } else {
        let double: f64 = written.parse().ok()?;
        let is_lost = double == 0.0 && !Decimal::read(written).digits.is_empty();
        if double.fract() != 0.0 || is_lost {
            return write(double).filter(|_| !is_lost);
        }
        format!("{double:.0}")
    };
    Some(if digits == "-0" {
        "0".to_owned()
    } else {
        digits
    })
}

/// Whether a number as written in JSON lies between 0 and 1 or is one of them, to the digit.
pub(crate) fn is_from_0_to_1(written: &str) -> bool {
    let number = Decimal::read(written);
    let is_one = number.magnitude == 1 && number.digits == [b'1'];
    number.digits.is_empty() || !number.is_negative && (number.magnitude <= 0 || is_one)
}

fn is_whole(written: &str) -> bool {
    let unsigned = written.strip_prefix('-').unwrap_or(written);
    unsigned.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number as RFC 8785 writes it where that says the same number, so that 1e23 is no other than its digits.
fn exact(written: &str) -> Option<String> {
    let form = written.parse().ok().and_then(write);
    let is_exact = |form: &String| Decimal::read(written) == Decimal::read(form);
    form.filter(is_exact)
}

/// A double as ECMAScript's `Number::toString` writes it, unless it is infinite or not a number.
fn write(double: f64) -> Option<String> {
    // The standard library's shortest digits will not do: of two that are equally near, ECMAScript takes the even.
    let is_finite = double.is_finite();
    is_finite.then(|| ryu_js::Buffer::new().format_finite(double).to_owned())
}

/// The number that a text stands for, exactly: `0.digits × 10^magnitude`, without zeros at either end of the digits.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    magnitude: i64,
}

impl Decimal {
    /// Reads a number in the grammar of JSON. Zero has no digits, sign or magnitude.
    fn read(written: &str) -> Self {
        let (is_negative, unsigned) = match written.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, written),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            // An exponent that no integer holds belongs to a number that no double holds.
            Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(i64::MAX / 2)),
            None => (unsigned, 0_i64),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = all.iter().take_while(|&&digit| digit == b'0').count();
        let trailing = all[leading..]
            .iter()
            .rev()
            .take_while(|&&digit| digit == b'0')
            .count();
        let digits = all[leading..all.len() - trailing].to_vec();
        if digits.is_empty() {
            return Self {
                is_negative: false,
                digits,
                magnitude: 0,
            };
        }
        let places = i64::try_from(whole.len()).unwrap_or(i64::MAX / 4)
            - i64::try_from(leading).unwrap_or(i64::MAX / 4);
        Self {
            is_negative,
            digits,
            magnitude: exponent.saturating_add(places),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// AQL-3.2-3: the table of RFC 8785, appendix B.
    #[test]
    fn doubles_are_written_as_rfc_8785_has_it() {
        for (bits, form) in [
            (0x0000_0000_0000_0000, Some("0")),
            (0x8000_0000_0000_0000, Some("0")),
            (0x0000_0000_0000_0001, Some("5e-324")),
            (0x8000_0000_0000_0001, Some("-5e-324")),
            (0x7fef_ffff_ffff_ffff, Some("1.7976931348623157e+308")),
            (0xffef_ffff_ffff_ffff, Some("-1.7976931348623157e+308")),
            (0x4340_0000_0000_0000, Some("9007199254740992")),
            (0xc340_0000_0000_0000, Some("-9007199254740992")),
            (0x4430_0000_0000_0000, Some("295147905179352830000")),
            (0x7fff_ffff_ffff_ffff, None),
            (0x7ff0_0000_0000_0000, None),
            (0x44b5_2d02_c7e1_4af5, Some("9.999999999999997e+22")),
            (0x44b5_2d02_c7e1_4af6, Some("1e+23")),
            (0x44b5_2d02_c7e1_4af7, Some("1.0000000000000001e+23")),
            (0x444b_1ae4_d6e2_ef4e, Some("999999999999999700000")),
            (0x444b_1ae4_d6e2_ef4f, Some("999999999999999900000")),
            (0x444b_1ae4_d6e2_ef50, Some("1e+21")),
            (0x3eb0_c6f7_a0b5_ed8c, Some("9.999999999999997e-7")),
            (0x3eb0_c6f7_a0b5_ed8d, Some("0.000001")),
            (0x41b3_de43_5555_5553, Some("333333333.3333332")),
            (0x41b3_de43_5555_5554, Some("333333333.33333325")),
            (0x41b3_de43_5555_5555, Some("333333333.3333333")),
            (0x41b3_de43_5555_5556, Some("333333333.3333334")),
            (0x41b3_de43_5555_5557, Some("333333333.33333343")),
            (0xbecb_f647_612f_3696, Some("-0.0000033333333333333333")),
            (0x4314_3ff3_c1cb_0959, Some("1424953923781206.2")),
        ] {
            assert_eq!(write(f64::from_bits(bits)).as_deref(), form, "{bits:016x}");
        }
    }

    /// AQL-3.2-3: one before the last whole number that every double carries, at, and one after; by whatever spelling.
    #[test]
    fn whole_numbers_end_where_doubles_do() {
        for (written, form) in [
            ("9007199254740991", Some("9007199254740991")),
            ("9007199254740992", Some("9007199254740992")),
            ("9007199254740993", None),
            ("9007199254740994", None),
            ("-9007199254740992", Some("-9007199254740992")),
            ("-9007199254740993", None),
            ("9007199254740993.0", None),
            ("9007199254740992.5", None),
            ("9007199254740993e0", None),
            ("90071992547409930e-1", None),
            ("18446744073709551617", None),
            ("9007199254740992.0", Some("9007199254740992")),
            ("9007199254740994.0", None),
            ("9007199254740994e0", None),
            ("1e20", None),
            ("1e21", Some("1e+21")),
            ("1000000000000000000000", None),
            ("1E30", Some("1e+30")),
            ("1000000000000000000.000000000001e12", None),
            ("1000000000000000000000000000001.0", None),
        ] {
            assert_eq!(canonical(written).as_deref(), form, "{written}");
        }
    }

    /// AQL-3.2-3: what is written in full is bound as it stands, one before, at, and after the last whole number that every
    /// double carries, and beyond 64 bits. Nothing else that no double carries is.
    #[test]
    fn a_whole_number_in_full_stands_for_itself() {
        for written in [
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "-9007199254740993",
            "9223372036854775807",
            "18446744073709551615",
            "18446744073709551616",
            "295147905179352830000",
            "100000000000000000000001",
        ] {
            assert_eq!(to_the_digit(written).as_deref(), Some(written));
        }
        let large = Some("1e+23".to_owned());
        assert_eq!(to_the_digit("100000000000000000000000"), large);
        assert_eq!(to_the_digit("1e23"), large);
        assert_eq!(to_the_digit("-0").as_deref(), Some("0"));
        for written in [
            "9007199254740993.0",
            "9007199254740993e0",
            "1e400",
            "1e-400",
        ] {
            assert_eq!(to_the_digit(written), None, "{written}");
        }
    }

    /// AQL-3.2-3: with a fraction or an exponent a number is the same as in full, beyond 2^53 too, wherever its double is that
    /// number; one before and one after the last that RFC 8785 writes in full.
    #[test]
    fn what_is_the_same_number_has_the_same_form() {
        for (written, form) in [
            ("9007199254740994.0", Some("9007199254740994")),
            ("9007199254740994e0", Some("9007199254740994")),
            ("9007199254740995.0", None),
            ("1e16", Some("10000000000000000")),
            ("1.5e20", Some("150000000000000000000")),
            ("-1e20", Some("-100000000000000000000")),
            ("1e21", Some("1e+21")),
            ("1000000000000000000000.0", Some("1e+21")),
            ("1.7976931348623157e308", Some("1.7976931348623157e+308")),
            ("1.7976931348623158e308", None),
            ("1.8e308", None),
        ] {
            assert_eq!(to_the_digit(written).as_deref(), form, "{written}");
        }
        for (one, other) in [
            ("1e16", "10000000000000000"),
            ("1.5e20", "150000000000000000000"),
            ("1e21", "1000000000000000000000"),
        ] {
            assert_eq!(to_the_digit(one), to_the_digit(other), "{one}");
        }
    }

    /// AAEP-6.5.3-2: before, at and after each end, also where the nearest double is the end itself.
    #[test]
    fn a_number_from_0_to_1_is_told_to_the_digit() {
        for written in [
            "0",
            "-0",
            "0.0e9",
            "1e-400",
            "0.9999999999999999999",
            "1",
            "1.0",
            "10E-1",
        ] {
            assert!(is_from_0_to_1(written), "{written}");
        }
        for written in [
            "-1e-400",
            "-0.1",
            "-1",
            "1.00000000000000000001",
            "1.1",
            "2",
            "10",
            "1e400",
        ] {
            assert!(!is_from_0_to_1(written), "{written}");
        }
    }

    /// AQL-3.2-3: numbers without a double of their own.
    #[test]
    fn numbers_without_a_double_have_no_canonical_form() {
        for (written, form) in [
            ("1e308", Some("1e+308")),
            ("1e309", None),
            ("-1e400", None),
            ("1e99999999999999999999", None),
            ("5e-324", Some("5e-324")),
            ("1e-400", None),
            ("-1e-99999999999999999999", None),
            ("0e400", Some("0")),
            ("-0.0e-99999999999999999999", Some("0")),
        ] {
            assert_eq!(canonical(written).as_deref(), form, "{written}");
        }
    }

    /// AQL-3.2-3: one number, many spellings.
    #[test]
    fn equal_numbers_are_written_alike() {
        for (form, spellings) in [
            ("0", ["0", "-0", "0.0", "-0e7"]),
            ("1", ["1", "1.0", "1e0", "10E-1"]),
            ("-1500", ["-1500", "-1.5e3", "-15E+2", "-1500.000"]),
            ("0.002", ["0.002", "2e-3", "0.2E-2", "0.0020"]),
            ("1e-7", ["1e-7", "0.0000001", "0.1e-6", "10e-8"]),
            ("4.5", ["4.50", "4.5", "45e-1", "0.45e1"]),
        ] {
            for written in spellings {
                assert_eq!(canonical(written).as_deref(), Some(form), "{written}");
            }
        }
    }

    proptest! {
        /// What is written is read back as the same double, and has a canonical form itself: the same.
        #[test]
        fn what_is_written_is_read_back(bits in any::<u64>(), small in any::<i32>(), scale in 0..9_i32) {
            for double in [f64::from_bits(bits), f64::from(small) / 10_f64.powi(scale)] {
                let Some(form) = write(double) else {
                    prop_assert!(!double.is_finite());
                    continue;
                };
                prop_assert_eq!(form.parse(), Ok(double + 0.0));
                let is_long_whole = double.abs() > LARGEST_WHOLE && !form.contains('e');
                let again = canonical(&form);
                prop_assert_eq!(again, (!is_long_whole).then_some(form));
            }
        }
    }
}
