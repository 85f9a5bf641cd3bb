//! A JSON value that reached us through serde, as the text that it was.
//!
//! The one thing to know: serde's own value type keeps one of two equal keys and rounds large numbers, and so would make
//! two requests that say different things one. Here the members are written down as they come, twice where they come
//! twice, so that the strict reader sees what was sent, and refuses it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::canonical::write_string;
use crate::number::LARGEST_WHOLE;

/// A value as it was received.
pub(crate) enum Received {
    /// A string, without its quotes and escapes.
    String(String),
    /// The compact text of any other value.
    Text(String),
}

impl Received {
    /// The content of a string, or the text of another value.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::String(text) | Self::Text(text) => text,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::String(content) => write_string(out, content),
            Self::Text(text) => out.push_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Received {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Writer)
    }
}

/// Writes down what it is handed.
struct Writer;

impl<'de> Visitor<'de> for Writer {
    type Value = Received;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Received, E> {
        Ok(Received::Text("null".to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Received, E> {
        Ok(Received::Text(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Received, E> {
        Ok(Received::Text(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Received, E> {
        Ok(Received::Text(value.to_string()))
    }

    /// A large one may have been rounded before it came here. Without an exponent it has no canonical form.
    fn visit_f64<E>(self, value: f64) -> Result<Received, E> {
        let text = if value.abs() < LARGEST_WHOLE {
            format!("{value:?}")
        } else {
            format!("{value:.0}")
        };
        Ok(Received::Text(text))
    }

    fn visit_str<E>(self, value: &str) -> Result<Received, E> {
        Ok(Received::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Received, E> {
        Ok(Received::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Received, A::Error> {
        let mut text = String::from("[");
        while let Some(item) = items.next_element::<Received>()? {
            if text.len() > 1 {
                text.push(',');
            }
            item.write(&mut text);
        }
        text.push(']');
        Ok(Received::Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Received, A::Error> {
        let mut text = String::from("{");
        while let Some((name, value)) = members.next_entry::<String, Received>()? {
            if text.len() > 1 {
                text.push(',');
            }
            write_string(&mut text, &name);
            text.push(':');
            value.write(&mut text);
        }
        text.push('}');
        Ok(Received::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        let received: Received = serde_json::from_str(json).expect("JSON");
        received.into_text()
    }

    /// AQL-3.2-3, PA-3: what was sent is what is read, members in their order and twice where they were sent twice.
    #[test]
    fn a_value_is_written_down_as_it_came() {
        for json in [
            r#"{"b":1,"a":[true,null,{}],"b":2}"#,
            r#"[-1,18446744073709551615,0.5,"\"\\\n"]"#,
            r#"{"é":{"\u0001":[]}}"#,
        ] {
            assert_eq!(text(json), json);
        }
        assert_eq!(text(r#""{ \"a\": 1 }""#), r#"{ "a": 1 }"#);
    }

    /// AQL-3.2-3: a whole number that serde has rounded is told from the double that it was rounded to.
    #[test]
    fn a_number_beyond_two_to_the_53_is_written_without_an_exponent() {
        assert_eq!(text("9007199254740991.0"), "9007199254740991.0");
        assert_eq!(text("9007199254740992.0"), "9007199254740992");
        let rounded = text("12345678901234567890123");
        assert!(rounded.starts_with("1234567890123456") && rounded.len() == 23);
    }
}
