//! When a message was sent, and what it is to the order of those around it.
//!
//! The one thing to know: both stand in the record or in the message within it, and are found in one pass.

use std::ops::Range;

use super::values::parts;
use crate::monitor::seen::hash;
use crate::time::Timestamp;

/// What a message is to the order of those around it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// With its token, as a hash.
    Reply(Option<u64>),
    Question(Option<u64>),
    /// A reply may have led to it, or to a call.
    State,
    Call,
    End,
    #[default]
    Other,
}

impl Role {
    /// The role of a message whose type and token are written like this.
    fn of(kind: &[u8], token: Option<&[u8]>) -> Self {
        let kind = kind.strip_suffix(b"\"").unwrap_or_default();
        let is = |name: &str| kind.ends_with(name.as_bytes());
        match () {
            () if is("confirmation.reply") || is("clarification.reply") => {
                Self::Reply(token.map(|it| hash(&it)))
            }
            () if is("awaiting.confirmation") || is("awaiting.clarification") => {
                Self::Question(token.map(|it| hash(&it)))
            }
            () if is("state.changed") => Self::State,
            () if is("tool.invoked") => Self::Call,
            () if is("session.completed") || is("session.errored") || is("session.cancelled") => {
                Self::End
            }
            () => Self::Other,
        }
    }
}

/// When the message of a record was received, else sent, and the end of the unit of the last digit of that; and its role. Nothing
/// where a name of what tells it comes twice.
pub(super) fn time_and_role(record: &[u8]) -> (Option<(Timestamp, Timestamp)>, Role) {
    let record = record.trim_ascii();
    let names = ["at", "timestamp", "type", "reply_token", "message"];
    let Ok([at, sent, kind, token, message]) = parts(record, names) else {
        return (None, Role::Other);
    };
    let of = |value: Option<Range<usize>>| record.get(value?);
    let time = of(at).and_then(time).or_else(|| of(sent).and_then(time));
    match (of(kind), of(message)) {
        (None, Some(message)) => {
            let (within, role) = time_and_role(message);
            (time.or(within), role)
        }
        (kind, _) => (time, Role::of(kind.unwrap_or_default(), of(token))),
    }
}

/// The time that a string writes, and the end of the unit of its last digit.
fn time(string: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let text = string.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let text = std::str::from_utf8(text).ok()?;
    let time = Timestamp::parse(text)?;
    Some((time, time.plus_unit(Timestamp::fractional_digits(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_counts_before_what_the_sender_wrote_wherever_that_stands() {
        let (one, two) = (r#""2026-05-24T14:00:01Z""#, r#""2026-05-24T14:00:02Z""#);
        let begins = |record: &str| Some(time_and_role(record.as_bytes()).0?.0);
        let of = |text: &str| Timestamp::parse(text.trim_matches('"'));
        for (record, meant) in [
            (format!(r#"{{"timestamp":{one}}}"#), of(one)),
            (format!(r#"{{"timestamp":{one},"at":{two}}}"#), of(two)),
            (format!(r#"{{"message":{{"timestamp":{one}}}}}"#), of(one)),
            (
                format!(r#"{{"at":{two},"message":{{"timestamp":{one}}}}}"#),
                of(two),
            ),
            (format!(r#"{{"at":"soon","timestamp":{one}}}"#), of(one)),
            (format!(r#"{{"timestamp":{one},"timestamp":{two}}}"#), None),
            ("7".to_owned(), None),
        ] {
            assert_eq!(begins(&record), meant, "{record}");
        }
    }

    #[test]
    fn a_role_is_told_by_the_type_with_its_prefix_and_without_it() {
        let token = Some(hash(&&b"\"rpl_1\""[..]));
        for (kind, role) in [
            ("confirmation.reply", Role::Reply(token)),
            ("clarification.reply", Role::Reply(token)),
            ("agent.awaiting.confirmation", Role::Question(token)),
            ("aaep:agent.awaiting.clarification", Role::Question(token)),
            ("aaep:agent.state.changed", Role::State),
            ("aaep:agent.tool.invoked", Role::Call),
            ("aaep:agent.tool.completed", Role::Other),
            ("aaep:agent.session.started", Role::Other),
            ("aaep:agent.session.completed", Role::End),
            ("aaep:agent.session.errored", Role::End),
            ("agent.session.cancelled", Role::End),
        ] {
            let message = format!(r#"{{"type":"{kind}","reply_token":"rpl_1"}}"#);
            for record in [message.clone(), format!(r#"{{"message":{message}}}"#)] {
                assert_eq!(time_and_role(record.as_bytes()).1, role, "{record}");
            }
        }
        let without = time_and_role(br#"{"type":"confirmation.reply"}"#).1;
        assert_eq!(without, Role::Reply(None));
    }
}
