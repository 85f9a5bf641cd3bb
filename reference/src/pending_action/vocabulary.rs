//! The words of the contract: identifiers, decisions, what a call does, and how it came out.
//!
//! The one thing to know: an identifier value is always well-formed, because parsing is the only way to make one from
//! text. Ids that the ledger mints are numbers of 128 bits inside, and text only where they leave it.

use serde::{Deserialize, Serialize};

pub use crate::identifier::InvalidIdentifier;
use crate::identifier::{identifier, is_name};
use crate::text::is_blank;

/// The most characters that a label may have (PA-9).
const MAX_LABEL: usize = 80;

/// The most characters that a summary may have.
const MAX_SUMMARY: usize = 4_096;

identifier!(
    /// The agent whose loop proposes (PA-1).
    AgentId,
    "a name of 1 to 256 characters, and not blank",
    is_somebody
);
identifier!(
    /// The session that a call belongs to; its transcript is where messages are appended (PA-1).
    SessionId,
    "a name of 1 to 256 characters, and not blank",
    is_somebody
);
identifier!(
    /// The run of the agent's loop that proposes (PA-1).
    RunId,
    "a name of 1 to 256 characters, and not blank",
    is_somebody
);
identifier!(
    /// The tool, or ability, to call (PA-1).
    ToolName,
    "a name of 1 to 256 characters, and not blank",
    is_somebody
);
identifier!(
    /// Somebody who decides, as the host has identified them (PA-2).
    DeciderId,
    "a name of 1 to 256 characters, and not blank",
    is_somebody
);
identifier!(
    /// The words on the button: short, one line (PA-9).
    Label,
    "1 to 80 characters without a line break, and not blank",
    is_label
);
identifier!(
    /// What the user is asked, in words (PA-1).
    Summary,
    "1 to 4096 characters, and not blank",
    |text| (1..=MAX_SUMMARY).contains(&text.chars().count()) && !is_blank(text)
);

/// PA-1, PA-2: a name of blanks names nobody and nothing.
fn is_somebody(text: &str) -> bool {
    is_name(text) && !is_blank(text)
}

fn is_label(text: &str) -> bool {
    // Whatever Unicode breaks a line at.
    let breaks_line =
        |character| matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    (1..=MAX_LABEL).contains(&text.chars().count())
        && !text.contains(breaks_line)
        && !is_blank(text)
}

/// Declares an id that the ledger mints: a prefix and 128 random bits, written as 32 lower-case hexadecimal digits.
macro_rules! minted {
    ($(#[$documentation:meta])* $name:ident, $prefix:literal) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(u128);

        impl $name {
            /// The id that those bits make.
            pub fn from_bits(bits: u128) -> Self {
                Self(bits)
            }

            /// Reads an id in the one way in which it is written.
            ///
            /// # Errors
            ///
            /// [`InvalidIdentifier`] where the text is anything else.
            pub fn parse(text: &str) -> Result<Self, InvalidIdentifier> {
                text.strip_prefix($prefix)
                    .and_then(bits_from_digits)
                    .map(Self)
                    .ok_or(InvalidIdentifier {
                        expected: concat!($prefix, " and 32 lower-case hexadecimal digits"),
                    })
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(formatter, "{}{:032x}", $prefix, self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidIdentifier;

            fn try_from(text: String) -> Result<Self, InvalidIdentifier> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(minted: $name) -> Self {
                minted.to_string()
            }
        }
    };
}

minted!(
    /// Names one pending action for ever (PA-1). It is also the id of the tool call in the transcript.
    ActionId,
    "pa_"
);
minted!(
    /// A second name of a pending action, which a decision may give to show that it answers this very question (PA-1).
    Nonce,
    "nonce_"
);

minted!(
    /// Names a message of a transcript. Where it is about an action it follows from the action's id and does not tell it: the
    /// user's client gets to see it (PA-9).
    MessageId,
    "msg_"
);

fn bits_from_digits(digits: &str) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == 32 && digits.bytes().all(is_digit))
        .then(|| u128::from_str_radix(digits, 16).ok())
        .flatten()
}

/// Those who may decide: at least one, sorted and each once (PA-2).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<DeciderId>", into = "Vec<DeciderId>")]
pub struct Deciders(Box<[DeciderId]>);

/// The list of those who may decide is empty, or names somebody twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("deciders are 1 or more different names")]
pub struct InvalidDeciders;

impl Deciders {
    /// Whether that one may decide.
    pub fn contain(&self, decider: &DeciderId) -> bool {
        self.0.binary_search(decider).is_ok()
    }
}

impl TryFrom<Vec<DeciderId>> for Deciders {
    type Error = InvalidDeciders;

    fn try_from(mut names: Vec<DeciderId>) -> Result<Self, InvalidDeciders> {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        if count == 0 || names.len() < count {
            return Err(InvalidDeciders);
        }
        Ok(Self(names.into()))
    }
}

impl From<Deciders> for Vec<DeciderId> {
    fn from(deciders: Deciders) -> Self {
        deciders.0.into()
    }
}

/// What somebody decides (PA-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The call must not run.
    Deny,
}

/// What a call does to the world (PA-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It looks and changes nothing.
    Read,
    /// It changes something.
    Write,
    /// It destroys something.
    Destructive,
    /// It reaches beyond what the host controls.
    External,
}

/// How a released call came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what it should.
    Success,
    /// It failed.
    Error,
    /// It never ran: the host dropped it, or found out after a restart that it had not begun.
    NotRun,
}

/// Why a pending action was cancelled (PA-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// The host took it back.
    Requested,
    /// Its session ended.
    SessionEnded,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PA-1: there is one way to write an id, so that two texts never name the same action.
    #[test]
    fn a_minted_id_is_read_in_one_way_only() {
        let id = ActionId::from_bits(0xab);
        let written = id.to_string();
        assert_eq!(written, format!("pa_{}ab", "0".repeat(30)));
        assert_eq!(ActionId::parse(&written), Ok(id));
        let largest = ActionId::from_bits(u128::MAX);
        assert_eq!(ActionId::parse(&largest.to_string()), Ok(largest));
        for bad in [
            String::new(),
            "pa_".into(),
            written.to_uppercase(),
            written.replace("ab", "AB"),
            written.replace("pa_", "nonce_"),
            written.replace("pa_0", "pa_+"),
            written.replacen('0', "", 1),
            written.clone() + "0",
            written.clone() + "\n",
            format!(" {written}"),
        ] {
            assert!(ActionId::parse(&bad).is_err(), "{bad:?}");
        }
        assert!(Nonce::parse(&Nonce::from_bits(7).to_string()).is_ok());
    }

    /// PA-9: one character before the longest label, at, and after; counted as characters, neither bytes nor units of UTF-16.
    #[test]
    fn a_label_is_one_short_line() {
        for (length, is_valid) in [(0, false), (1, true), (79, true), (80, true), (81, false)] {
            for character in ["é", "😀"] {
                let label = Label::parse(&character.repeat(length));
                assert_eq!(label.is_ok(), is_valid, "{length}");
            }
        }
        for line_break in [
            "\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            assert!(
                Label::parse(&format!("a{line_break}b")).is_err(),
                "{line_break:?}"
            );
        }
        assert!(Label::parse("Sí, borrar\t").is_ok());
    }

    /// PA-1, PA-9: what nobody can see asks nothing; with one character that can be seen it does.
    #[test]
    fn what_is_blank_is_no_question() {
        for unseen in [
            " ", "\t", "\u{a0}", "\u{3000}", "\0", "\u{ad}", "\u{200b}", "\u{202e}", "\u{2060}",
            "\u{feff}",
        ] {
            for text in [unseen.to_owned(), unseen.repeat(3), format!(" {unseen}")] {
                assert!(Label::parse(&text).is_err(), "{text:?}");
                assert!(Summary::parse(&text).is_err(), "{text:?}");
                // PA-2: nor is it anybody.
                assert!(DeciderId::parse(&text).is_err(), "{text:?}");
                assert!(AgentId::parse(&text).is_err() && ToolName::parse(&text).is_err());
                assert!(SessionId::parse(&text).is_err() && RunId::parse(&text).is_err());
            }
            let seen = format!("{unseen}?");
            assert!(Label::parse(&seen).is_ok() && Summary::parse(&seen).is_ok());
            assert!(DeciderId::parse(&seen).is_ok());
        }
        assert!(Summary::parse("\n\n").is_err());
    }

    /// PA-1: one character before the longest summary, at, and after. It may have lines.
    #[test]
    fn a_summary_says_something_and_not_too_much() {
        for (length, is_valid) in [
            (0, false),
            (1, true),
            (4_095, true),
            (4_096, true),
            (4_097, false),
        ] {
            for character in ["é", "😀"] {
                let summary = Summary::parse(&character.repeat(length));
                assert_eq!(summary.is_ok(), is_valid, "{length}");
            }
        }
        assert!(Summary::parse("two\nlines").is_ok());
    }

    /// PA-2
    #[test]
    fn deciders_are_at_least_one_and_each_once() {
        let names = |names: &[&str]| -> Vec<DeciderId> {
            let parse = |name: &&str| DeciderId::parse(name).expect("a name");
            names.iter().map(parse).collect()
        };
        for (list, is_valid) in [
            (names(&[]), false),
            (names(&["ana"]), true),
            (names(&["ana", "ben"]), true),
            (names(&["ana", "ben", "ana"]), false),
        ] {
            assert_eq!(Deciders::try_from(list).is_ok(), is_valid);
        }
    }
}
