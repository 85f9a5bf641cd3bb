//! JSON, read strictly.
//!
//! The one thing to know: this reader exists because what a message *means* must not depend on who reads it. An
//! object with the same key twice says two things at once, so it is no JSON here, at any depth. Neither is text
//! after the value, a byte order mark, invalid UTF-8 or half a surrogate pair. Numbers are checked and not
//! evaluated, so that none is too large to be well-formed.
//!
//! It is written by hand because `serde_json` evaluates numbers: it refuses `1.5e900`, which is well-formed, and makes
//! 18446744073709551617 the double next to it, which is another number. Its feature that keeps them as they were written
//! would be switched on for every crate that is built along. Nor does it tell at which byte a text goes wrong. It is the
//! oracle of the tests instead.

#[path = "members.rs"]
mod members;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::Error as _};

pub(crate) use members::{Member, members};

/// How many arrays and objects may lie within each other in a [`Value`]. RFC 8259 leaves the limit to the reader; this one keeps
/// hostile input from exhausting the stack.
pub const MAX_DEPTH: usize = 64;

/// A JSON value. A number is kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Number(String),
    String(String),
    Array(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

/// Why the bytes are not one JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    /// The bytes are not UTF-8.
    #[error("not UTF-8 at byte {at}")]
    NotUtf8 {
        /// The first offending byte, from 0.
        at: usize,
    },
    /// The grammar allows something else here, or the text ends too early.
    #[error("not JSON at byte {at}")]
    Unexpected {
        /// The first offending byte, from 0.
        at: usize,
    },
    /// Arrays and objects lie too deep within each other.
    #[error("nested deeper than {MAX_DEPTH} at byte {at}")]
    TooDeep {
        /// The bracket that is one too many, from 0.
        at: usize,
    },
    /// An object has the same key twice.
    #[error("duplicate key before byte {at}")]
    DuplicateKey {
        /// Behind the second key, or behind its member where values are kept, from 0.
        at: usize,
    },
}

/// Reads `bytes` as exactly one JSON value, with white space around it.
///
/// # Errors
///
/// [`NotJson`] says what is wrong and where.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, NotJson> {
    let mut parser = Parser::of(text_of(bytes)?);
    let value = parser.value()?;
    parser.end()?;
    Ok(value)
}

fn text_of(bytes: &[u8]) -> Result<&str, NotJson> {
    std::str::from_utf8(bytes).map_err(|error| NotJson::NotUtf8 {
        at: error.valid_up_to(),
    })
}

/// A whole number of 64 bits as such, and any other as the double next to it.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Number(written) => match (written.parse::<i64>(), written.parse::<f64>()) {
                (Ok(whole), _) => serializer.serialize_i64(whole),
                (Err(_), Ok(double)) => serializer.serialize_f64(double),
                (Err(_), Err(error)) => Err(S::Error::custom(error)),
            },
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => serializer.collect_seq(elements),
            Self::Object(members) => serializer.collect_map(members),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    const fn of(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            depth: 0,
        }
    }

    /// Nothing but white space follows.
    fn end(&mut self) -> Result<(), NotJson> {
        self.skip_white_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected()),
        }
    }

    fn value(&mut self) -> Result<Value, NotJson> {
        self.skip_white_space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Boolean(true)),
            Some(b'f') => self.literal("false", Value::Boolean(false)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(_) | None => Err(self.unexpected()),
        }
    }

    /// An array or object, one level deeper.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Value, NotJson>,
    ) -> Result<Value, NotJson> {
        if self.depth == MAX_DEPTH {
            return Err(NotJson::TooDeep { at: self.position });
        }
        self.position += 1;
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// The members of an object up to its closing brace.
    fn object(&mut self) -> Result<Value, NotJson> {
        let mut members = BTreeMap::new();
        self.skip_white_space();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.skip_white_space();
            let key = self.string()?;
            self.skip_white_space();
            self.expect(b':')?;
            let value = self.value()?;
            // Keys are compared as the texts that they stand for, after their escapes are undone.
            if members.insert(key, value).is_some() {
                return Err(NotJson::DuplicateKey { at: self.position });
            }
            self.skip_white_space();
            if self.take(b'}') {
                return Ok(Value::Object(members));
            }
            self.expect(b',')?;
        }
    }

    /// The elements of an array up to its closing bracket.
    fn array(&mut self) -> Result<Value, NotJson> {
        let mut elements = Vec::new();
        self.skip_white_space();
        if self.take(b']') {
            return Ok(Value::Array(elements));
        }
        loop {
            elements.push(self.value()?);
            self.skip_white_space();
            if self.take(b']') {
                return Ok(Value::Array(elements));
            }
            self.expect(b',')?;
        }
    }

    fn string(&mut self) -> Result<String, NotJson> {
        self.expect(b'"')?;
        let mut string = String::new();
        loop {
            string.push_str(self.plain());
            if self.take(b'"') {
                return Ok(string);
            }
            // A control character that is not escaped stops here, and so does the end of the text.
            self.expect(b'\\')?;
            string.push(self.escaped()?);
        }
    }

    /// What stands for itself, up to a quote, an escape or a control character.
    fn plain(&mut self) -> &'a str {
        let rest = &self.text[self.position..];
        let plain = rest
            .bytes()
            .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f))
            .count();
        self.position += plain;
        &rest[..plain]
    }

    /// The character that an escape stands for, after its backslash.
    fn escaped(&mut self) -> Result<char, NotJson> {
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            Some(_) | None => return Err(self.unexpected()),
        };
        self.position += 1;
        Ok(character)
    }

    /// `uXXXX`, or two of them that form a surrogate pair.
    fn unicode(&mut self) -> Result<char, NotJson> {
        let first = self.code_unit()?;
        if let Some(character) = char::from_u32(u32::from(first)) {
            return Ok(character);
        }
        self.expect(b'\\')?;
        let at = self.position;
        let second = self.code_unit()?;
        match char::decode_utf16([first, second]).next() {
            Some(Ok(character)) => Ok(character),
            Some(Err(_)) | None => Err(NotJson::Unexpected { at }),
        }
    }

    /// `u` and four hexadecimal digits.
    fn code_unit(&mut self) -> Result<u16, NotJson> {
        self.expect(b'u')?;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit.and_then(|digit| u16::try_from(digit).ok()) else {
                return Err(self.unexpected());
            };
            unit = unit << 4 | digit;
            self.position += 1;
        }
        Ok(unit)
    }

    /// Sign, whole part without leading zeros, fraction, exponent.
    fn number(&mut self) -> Result<Value, NotJson> {
        let start = self.position;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(Value::Number(self.text[start..self.position].to_owned()))
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<(), NotJson> {
        let start = self.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        if self.position == start {
            Err(self.unexpected())
        } else {
            Ok(())
        }
    }

    fn literal(&mut self, word: &'static str, value: Value) -> Result<Value, NotJson> {
        for &byte in word.as_bytes() {
            self.expect(byte)?;
        }
        Ok(value)
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    /// Goes past `byte` if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.position += 1;
        }
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn unexpected(&self) -> NotJson {
        NotJson::Unexpected { at: self.position }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_json(text: &str) -> bool {
        parse(text.as_bytes()).is_ok()
    }

    fn text(json: &str) -> Option<String> {
        match parse(json.as_bytes()) {
            Ok(Value::String(text)) => Some(text),
            Ok(
                Value::Null
                | Value::Boolean(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_),
            )
            | Err(_) => None,
        }
    }

    /// AAEP-6.3.4-1: well-formed JSON.
    #[test]
    fn values_of_every_type_are_read() {
        assert_eq!(parse(b" null\r\n"), Ok(Value::Null));
        assert_eq!(parse(b"\ttrue "), Ok(Value::Boolean(true)));
        assert_eq!(parse(b"false"), Ok(Value::Boolean(false)));
        let nothing = || Value::Array(vec![]);
        let one = Value::Number("1".into());
        let object = Value::Object(BTreeMap::from([("a".into(), nothing())]));
        assert_eq!(
            parse(b"[1, [ ], {\"a\": []}]"),
            Ok(Value::Array(vec![one, nothing(), object]))
        );
        let members = BTreeMap::from([("a".into(), Value::Null), ("b".into(), nothing())]);
        assert_eq!(
            parse(b"{ \"a\" : null , \"b\" : [ ] }"),
            Ok(Value::Object(members))
        );
        assert_eq!(parse(b"{ }"), Ok(Value::Object(BTreeMap::new())));
        for number in [
            "0",
            "-0",
            "10",
            "1.5",
            "-1.05e+10",
            "2E-7",
            "0e0",
            "1e999999",
            "123456789012345678901234567890",
        ] {
            assert_eq!(
                parse(number.as_bytes()),
                Ok(Value::Number(number.into())),
                "{number}"
            );
        }
    }

    /// AAEP-6.3.4-1
    #[test]
    fn what_is_not_json_is_refused() {
        for bad in [
            "",
            " ",
            "nul",
            "nulll",
            "True",
            "'a'",
            "01",
            "-",
            "+1",
            ".5",
            "1.",
            "1e",
            "1e+",
            "0x1",
            "NaN",
            "Infinity",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "]",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{a:1}",
            "{1:1}",
            "{\"a\" 1}",
            "{,}",
            "\"",
            "\"a",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\U1234\"",
            "\"\n\"",
            "\"\u{0}\"",
            "\"\u{1f}\"",
            "1 2",
            "{} {}",
            "null,",
            "\u{feff}null",
            "\u{a0}null",
            "//\nnull",
            "/**/null",
        ] {
            assert!(!is_json(bad), "{bad:?}");
        }
        assert_eq!(parse(b"{} x"), Err(NotJson::Unexpected { at: 3 }));
    }

    #[test]
    fn escapes_stand_for_their_characters() {
        assert_eq!(
            text(r#""\"\\\/\b\f\n\r\t""#).as_deref(),
            Some("\"\\/\u{8}\u{c}\n\r\t")
        );
        assert_eq!(
            text(r#""\u0041\u00e9\u00E9\u0000""#).as_deref(),
            Some("Aéé\0")
        );
        assert_eq!(text(r#""\ud83d\ude00""#).as_deref(), Some("😀"));
        assert_eq!(
            text("\"plain é 😀 \u{7f}\"").as_deref(),
            Some("plain é 😀 \u{7f}")
        );
    }

    #[test]
    fn half_a_surrogate_pair_is_refused() {
        for bad in [
            r#""\ud83d""#,
            r#""\ude00""#,
            r#""\ud83dx""#,
            r#""\ud83d\n""#,
            r#""\ud83d\u0041""#,
            r#""\ud83d\ud83d""#,
            r#""\ude00\ud83d""#,
        ] {
            assert!(!is_json(bad), "{bad}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        assert_eq!(parse(b"\"\xff\""), Err(NotJson::NotUtf8 { at: 1 }));
        assert_eq!(parse(b"\"\xc0\xaf\""), Err(NotJson::NotUtf8 { at: 1 }));
        assert_eq!(parse(b"\"\xed\xa0\xbd\""), Err(NotJson::NotUtf8 { at: 1 }));
        assert_eq!(parse(b"null\xff"), Err(NotJson::NotUtf8 { at: 4 }));
    }

    /// AAEP-6.3.4-1: an object that says two things says nothing.
    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#"[[{"b":1,"b":1}]]"#,
        ] {
            assert!(
                matches!(parse(bad.as_bytes()), Err(NotJson::DuplicateKey { .. })),
                "{bad}"
            );
        }
        assert!(is_json(r#"{"a":{"a":{"a":1}},"b":{"a":1},"A":1}"#));
        // Two spellings of one character are two texts.
        assert!(is_json("{\"\u{e1}\":1,\"a\u{301}\":1}"));
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(is_json(&nested(MAX_DEPTH - 1)));
        assert!(is_json(&nested(MAX_DEPTH)));
        assert_eq!(
            parse(nested(MAX_DEPTH + 1).as_bytes()),
            Err(NotJson::TooDeep { at: MAX_DEPTH })
        );
        assert_eq!(
            parse("[".repeat(1_000_000).as_bytes()),
            Err(NotJson::TooDeep { at: MAX_DEPTH })
        );
        // Side by side is not within each other.
        assert!(is_json(&format!("[{}]", ["[[]]"; 100].join(","))));
    }

    /// Whether another reader takes it for JSON. It says nothing where it stops at a number that it cannot hold.
    fn is_json_elsewhere(text: &str) -> Option<bool> {
        match serde_json::from_str::<serde_json::Value>(text) {
            Ok(_) => Some(true),
            Err(error) if error.to_string().starts_with("number out of range") => None,
            Err(_) => Some(false),
        }
    }

    /// AAEP-6.3.4-1: a number is as well-formed as its grammar says, however large (RFC 8259, section 6, leaves the range to
    /// the reader). A random test found that another reader stops at the first of these.
    #[test]
    fn a_number_that_no_double_holds_is_well_formed() {
        for number in ["1.5e900", "-1.5e900", "1e400"] {
            assert_eq!(parse(number.as_bytes()), Ok(Value::Number(number.into())));
            assert_eq!(is_json_elsewhere(number), None, "{number}");
        }
        assert!(!is_json("1.5e900x") && !is_json("1.5e"));
    }

    /// Pieces that JSON is made of, and pieces that it is not made of.
    pub(super) fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\"", "\"a\":", "\"b\":", "null",
            "true", "false", "0", "-1", "1.5", "e9", "\\", "\\u", "d83d", "\\ude00", "\\n", " ",
            "\n", "é", "\u{1}", "x",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        /// Another reader agrees, but for what it leaves open: duplicate keys, depth and the size of numbers.
        #[test]
        fn another_reader_agrees(json in prop_oneof![pieces(), any::<String>()]) {
            let theirs = is_json_elsewhere(&json);
            match parse(json.as_bytes()) {
                Ok(_) => prop_assert_ne!(theirs, Some(false), "{}", json),
                Err(NotJson::DuplicateKey { .. } | NotJson::TooDeep { .. }) => {}
                Err(NotJson::NotUtf8 { .. } | NotJson::Unexpected { .. }) => prop_assert_ne!(theirs, Some(true), "{}", json),
            }
        }

        #[test]
        fn every_text_is_read_back(original in any::<String>()) {
            let json = serde_json::to_string(&original).expect("a string is JSON");
            prop_assert_eq!(text(&json), Some(original));
        }

        #[test]
        fn reading_never_panics(bytes in any::<Vec<u8>>()) {
            let _ = parse(&bytes);
        }
    }
}
