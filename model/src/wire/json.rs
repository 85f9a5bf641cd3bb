//! What a JSON text means: neither blanks nor escapes nor the order of members make a difference.

use std::fmt::{self, Write as _};
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Deeper values have no meaning.
const MOST_LEVELS: u32 = 128;

/// A JSON text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Equal for texts that mean the same. None for text that is no JSON, has a name twice in an object, or half a
    /// surrogate pair.
    pub text: Option<String>,
    /// So many arrays and objects stand in each other.
    pub levels: u32,
}

/// Reads a text.
///
/// Numbers in digits alone are equal to the last digit, others where their doubles are. With a number that no double
/// holds, a text means the same as itself alone.
pub fn meaning(text: &str) -> Meaning {
    let mut reader = Reader {
        meaning: String::new(),
        is_of_its_own: false,
    };
    let read = serde_json::from_str::<&RawValue>(text)
        .ok()
        .and_then(|it| reader.value(it, 0));
    Meaning {
        text: read.map(|()| {
            if reader.is_of_its_own {
                format!("={text}")
            } else {
                reader.meaning
            }
        }),
        levels: levels(text),
    }
}

/// How deep brackets stand in each other, outside of strings.
fn levels(text: &str) -> u32 {
    let (mut level, mut deepest) = (0_u32, 0);
    let (mut is_string, mut is_escaped) = (false, false);
    for it in text.bytes() {
        match it {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => level += 1,
            b'}' | b']' if !is_string => level = level.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(level);
    }
    deepest
}

struct Reader {
    meaning: String,
    is_of_its_own: bool,
}

impl Reader {
    fn value(&mut self, value: &RawValue, level: u32) -> Option<()> {
        let written = value.get();
        match written.chars().next()? {
            '{' => {
                let mut members = serde_json::from_str::<Members<'_, String>>(written).ok()?.0;
                members.sort_by(|one, other| one.0.cmp(&other.0));
                let is_twice = members
                    .iter()
                    .zip(members.iter().skip(1))
                    .any(|(one, next)| one.0 == next.0);
                (!is_twice && level < MOST_LEVELS).then_some(())?;
                self.meaning.push('{');
                for (name, value) in members {
                    self.string(&name);
                    self.meaning.push(':');
                    self.value(value, level + 1)?;
                    self.meaning.push(',');
                }
                self.meaning.push('}');
            }
            '[' => {
                (level < MOST_LEVELS).then_some(())?;
                self.meaning.push('[');
                for value in serde_json::from_str::<Vec<&RawValue>>(written).ok()? {
                    self.value(value, level + 1)?;
                    self.meaning.push(',');
                }
                self.meaning.push(']');
            }
            '"' => self.string(&serde_json::from_str::<String>(written).ok()?),
            't' | 'f' | 'n' => self.meaning.push_str(written),
            _ => self.number(written)?,
        }
        Some(())
    }

    fn string(&mut self, text: &str) {
        // To write to a text does not fail.
        let _written = write!(self.meaning, "{text:?}");
    }

    fn number(&mut self, written: &str) -> Option<()> {
        let is_whole = written.chars().all(|it| it.is_ascii_digit() || it == '-');
        let double: f64 = written.parse().ok()?;
        let read = if is_whole {
            written.to_owned()
        } else if double.fract() == 0.0 {
            format!("{double:.0}")
        } else {
            format!("{double:?}")
        };
        self.is_of_its_own |= !is_whole && !is_held(written);
        self.meaning
            .push_str(if read == "-0" { "0" } else { &read });
        Some(())
    }
}

/// Whether a double holds a number at least nearly: it is not infinite, and 0 only where the number is.
pub(crate) fn is_held(written: &str) -> bool {
    let mantissa = written.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.contains(|it| matches!(it, '1'..='9'));
    let double = written.parse::<f64>();
    double.is_ok_and(|it| it.is_finite() && (it != 0.0 || is_zero))
}

/// The members of an object, as they are written, a name twice included; a name is read as `N`.
pub(crate) struct Members<'a, N>(pub(crate) Vec<(N, &'a RawValue)>);

impl<'de: 'a, 'a, N: Deserialize<'de>> Deserialize<'de> for Members<'a, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<N>(PhantomData<N>);
        impl<'de, N: Deserialize<'de>> Visitor<'de> for Each<N> {
            type Value = Vec<(N, &'de RawValue)>;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Each(PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::meaning;

    #[test]
    fn texts_mean_the_same_whatever_their_spelling() {
        for (one, other) in [
            (r#"{"n":1}"#, r#"{ "n" : 1.0 }"#),
            (r#"{"n":1}"#, r#"{"\u006e":1e0}"#),
            (r#"{"a":[1,2],"b":null}"#, "{\"b\":null,\t\"a\":[1,2.0]}"),
            ("0", "-0"),
            ("-0.0", "0"),
            ("0.5", "5e-1"),
            ("1e400", "1e400"),
            ("9007199254740992", "9007199254740992.0"),
        ] {
            assert_eq!(meaning(one), meaning(other), "{one} {other}");
            assert!(meaning(one).text.is_some(), "{one}");
        }
        for (one, other) in [
            ("9007199254740993", "9007199254740992"),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
            (r#"{"n":1}"#, r#"{"n":"1"}"#),
            ("1e400", "1e401"),
            ("1e-400", "0"),
            ("1e-400", "1e-401"),
            ("1e400", " 1e400"),
            ("[1e400]", "[=1e400]"),
            ("1", "1.5"),
            ("[]", "{}"),
            ("[[],[]]", "[[[]]]"),
        ] {
            assert_ne!(meaning(one).text, meaning(other).text, "{one} {other}");
        }
    }

    #[test]
    fn what_has_no_one_meaning_has_none() {
        for text in [
            "",
            "{",
            "1 2",
            r#"{"n":1,"n":1}"#,
            r#"{"n":1,"\u006e":2}"#,
            r#"[{"a":{"b":1,"b":1}}]"#,
            r#""\ud800""#,
            r#"{"\ud800":1}"#,
        ] {
            assert_eq!(meaning(text).text, None, "{text}");
        }
    }

    #[test]
    fn levels_are_arrays_and_objects_in_each_other() {
        for (text, levels) in [
            ("1", 0),
            ("[]", 1),
            (r#"{"a":[1],"b":2}"#, 2),
            (r#"{"[\"[":"[\\"}"#, 1),
            ("{", 1),
        ] {
            assert_eq!(meaning(text).levels, levels, "{text}");
        }
        let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(meaning(&deep(65)).levels, 65);
        assert!(meaning(&deep(128)).text.is_some());
        assert_eq!(meaning(&deep(129)).text, None);
        assert_eq!(meaning(&deep(100_000)).levels, 100_000);
    }
}
