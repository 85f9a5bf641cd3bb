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
#[path = "tree.rs"]
mod tree;

pub(crate) use members::{Member, members};
pub(crate) use tree::{Node, Tree, Value};

/// How many arrays and objects may lie within each other in the arguments of pending actions, and in parameters of MCP-AQL that are
/// put out as JSON. RFC 8259 leaves the limit to the reader, and many readers have one.
pub const MAX_DEPTH: usize = 64;

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

/// Reads `bytes` as exactly one JSON value, with white space around it, however deep.
///
/// # Errors
///
/// [`NotJson`] says what is wrong and where. It is never [`NotJson::TooDeep`].
pub(crate) fn parse(bytes: &[u8]) -> Result<Tree<'_>, NotJson> {
    parse_to(usize::MAX, bytes)
}

/// The same, where arrays and objects lie no deeper within each other than [`MAX_DEPTH`].
///
/// # Errors
///
/// [`NotJson`] says what is wrong and where.
pub(crate) fn parse_shallow(bytes: &[u8]) -> Result<Tree<'_>, NotJson> {
    parse_to(MAX_DEPTH, bytes)
}

fn parse_to(deepest: usize, bytes: &[u8]) -> Result<Tree<'_>, NotJson> {
    let mut parser = Parser::of(text_of(bytes)?);
    let tree = parser.tree(deepest)?;
    parser.end()?;
    Ok(tree)
}

fn text_of(bytes: &[u8]) -> Result<&str, NotJson> {
    std::str::from_utf8(bytes).map_err(|error| NotJson::NotUtf8 {
        at: error.valid_up_to(),
    })
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Parser<'a> {
    const fn of(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    /// Nothing but white space follows.
    fn end(&mut self) -> Result<(), NotJson> {
        self.skip_white_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected()),
        }
    }

    /// A value that begins with neither a bracket nor a quote.
    fn scalar(&mut self) -> Result<Node<'a>, NotJson> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Node::Boolean(true)),
            Some(b'f') => self.literal("false", Node::Boolean(false)),
            Some(b'n') => self.literal("null", Node::Null),
            Some(_) | None => Err(self.unexpected()),
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
    fn number(&mut self) -> Result<Node<'a>, NotJson> {
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
        Ok(Node::Number(&self.text[start..self.position]))
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

    fn literal(&mut self, word: &'static str, value: Node<'a>) -> Result<Node<'a>, NotJson> {
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

    /// The only node of the tree.
    fn alone(json: &str) -> Option<Node<'_>> {
        let tree = parse(json.as_bytes()).ok()?;
        let node = tree.value().node().clone();
        let has_parts = matches!(node, Node::Array { .. } | Node::Object { .. });
        (!has_parts).then_some(node)
    }

    fn text(json: &str) -> Option<String> {
        match alone(json) {
            Some(Node::String(text)) => Some(text),
            Some(
                Node::Null
                | Node::Boolean(_)
                | Node::Number(_)
                | Node::Array { .. }
                | Node::Object { .. },
            )
            | None => None,
        }
    }

    /// The value as another writer of JSON writes it.
    fn rewritten(json: &str) -> String {
        let tree = parse(json.as_bytes()).expect("it is JSON");
        serde_json::to_string(&tree.value()).expect("it can be written")
    }

    /// AAEP-6.3.4-1: well-formed JSON.
    #[test]
    fn values_of_every_type_are_read() {
        assert_eq!(alone(" null\r\n"), Some(Node::Null));
        assert_eq!(alone("\ttrue "), Some(Node::Boolean(true)));
        assert_eq!(alone("false"), Some(Node::Boolean(false)));
        for (json, written) in [
            ("[1, [ ], {\"a\": []}]", r#"[1,[],{"a":[]}]"#),
            ("{ \"b\" : null , \"a\" : [ ] }", r#"{"b":null,"a":[]}"#),
            ("{ }", "{}"),
            (
                r#"[[[]],{"a":{"b":{}},"c":[{},{}]},"d"]"#,
                r#"[[[]],{"a":{"b":{}},"c":[{},{}]},"d"]"#,
            ),
        ] {
            assert_eq!(rewritten(json), written);
        }
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
            assert_eq!(alone(number), Some(Node::Number(number)));
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
    fn nesting_has_a_limit_where_one_is_wanted() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        for depth in [MAX_DEPTH - 1, MAX_DEPTH] {
            assert!(parse_shallow(nested(depth).as_bytes()).is_ok());
        }
        for too_deep in [nested(MAX_DEPTH + 1), "[".repeat(1_000_000)] {
            assert_eq!(
                parse_shallow(too_deep.as_bytes()),
                Err(NotJson::TooDeep { at: MAX_DEPTH })
            );
        }
        // Side by side is not within each other.
        let many = format!("[{}]", ["[[]]"; 100].join(","));
        assert!(parse_shallow(many.as_bytes()).is_ok());
    }

    /// Otherwise it has none: what is deep is neither read nor gone through nor dropped by recursion.
    #[test]
    fn nesting_has_no_limit() {
        let depth = 1_000_000;
        for (opening, closing) in [("[", "]"), (r#"{"":"#, "}")] {
            let json = format!("{}0{}", opening.repeat(depth), closing.repeat(depth));
            let tree = parse(json.as_bytes()).expect("it is JSON");
            let mut value = tree.value();
            let mut passed = 0;
            while let Some(inner) = value
                .elements()
                .next()
                .or(value.members().next().map(|(_, it)| it))
            {
                value = inner;
                passed += 1;
            }
            assert_eq!((passed, value.node()), (depth, &Node::Number("0")));
            assert!(!is_json(&json[opening.len()..]), "one opening fewer");
            assert!(!is_json(&json[..json.len() - 1]), "one closing fewer");
        }
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
            assert_eq!(alone(number), Some(Node::Number(number)));
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

        /// Another reader agrees, but for what it leaves open: duplicate keys and the size of numbers.
        #[test]
        fn another_reader_agrees(json in prop_oneof![pieces(), any::<String>()]) {
            let theirs = is_json_elsewhere(&json);
            match parse(json.as_bytes()) {
                Ok(_) => prop_assert_ne!(theirs, Some(false), "{}", json),
                Err(NotJson::DuplicateKey { .. }) => {}
                Err(NotJson::NotUtf8 { .. } | NotJson::Unexpected { .. } | NotJson::TooDeep { .. }) => prop_assert_ne!(theirs, Some(true), "{}", json),
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
