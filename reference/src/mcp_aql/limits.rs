//! Section 5.1: how long a token lives.
//!
//! The one thing to know: no token is without an end (AQL-1.2-2). A life that is too long is refused, not cut short,
//! for a host that asks for it has misunderstood something.

use super::interface::Refusal;
use super::vocabulary::{DangerLevel, Purpose};

/// The two columns of the table, in seconds.
struct Limits {
    default: u32,
    maximum: u32,
}

/// AQL-5.1-1: the table.
fn limits(purpose: Purpose, danger_level: DangerLevel) -> Limits {
    match (purpose, danger_level) {
        // What is not dangerous needs no confirmation; were one asked for, the table's longest life would do.
        (
            Purpose::Confirmation,
            DangerLevel::Safe
            | DangerLevel::Reversible
            | DangerLevel::Destructive
            | DangerLevel::Dangerous,
        ) => Limits {
            default: 300,
            maximum: 900,
        },
        (Purpose::Confirmation, DangerLevel::Forbidden) => Limits {
            default: 120,
            maximum: 300,
        },
        // What is dangerous gets no quota token.
        (
            Purpose::QuotaContinue,
            DangerLevel::Safe
            | DangerLevel::Reversible
            | DangerLevel::Destructive
            | DangerLevel::Dangerous
            | DangerLevel::Forbidden,
        ) => Limits {
            default: 300,
            maximum: 600,
        },
    }
}

/// The life of a token in seconds, as asked for or by default.
pub(super) fn time_to_live(
    purpose: Purpose,
    danger_level: DangerLevel,
    asked: Option<u64>,
) -> Result<u32, Refusal> {
    let Limits { default, maximum } = limits(purpose, danger_level);
    let too_long = Refusal::TimeToLiveTooLong {
        maximum_seconds: maximum,
    };
    match asked {
        None => Ok(default),
        // AQL-5.1-2: a token that has expired before it is issued has no expiry to speak of.
        Some(0) => Err(Refusal::WithoutExpiry),
        Some(seconds) => match u32::try_from(seconds) {
            Ok(seconds) if seconds <= maximum => Ok(seconds),
            Ok(_) | Err(_) => Err(too_long),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AQL-5.1-1, AQL-5.1-2: every row; none, one before the maximum, at, one after, and far beyond.
    #[test]
    fn a_token_lives_as_long_as_the_table_says() {
        for purpose in [Purpose::Confirmation, Purpose::QuotaContinue] {
            for danger_level in DangerLevel::ALL {
                let (default, maximum) = match (purpose, danger_level) {
                    (Purpose::QuotaContinue, _any) => (300, 600),
                    (Purpose::Confirmation, DangerLevel::Forbidden) => (120, 300),
                    (Purpose::Confirmation, _other) => (300, 900),
                };
                let asks = |asked| time_to_live(purpose, danger_level, asked);
                let too_long = Err(Refusal::TimeToLiveTooLong {
                    maximum_seconds: maximum,
                });
                assert_eq!(asks(None), Ok(default));
                assert_eq!(asks(Some(0)), Err(Refusal::WithoutExpiry));
                assert_eq!(asks(Some(1)), Ok(1));
                let at = u64::from(maximum);
                assert_eq!(asks(Some(at - 1)), Ok(maximum - 1));
                assert_eq!(asks(Some(at)), Ok(maximum));
                assert_eq!(asks(Some(at + 1)), too_long);
                assert_eq!(asks(Some((1 << 32) + 1)), too_long);
            }
        }
    }
}
