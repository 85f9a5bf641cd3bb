//! The members of one object, however large and deep it is.
//!
//! The one thing to know: [`members`] has no limit of its own and does not recurse. What lies deeper than the members is
//! checked and gone past, so that a message costs at most some twenty bytes of memory for each of its own: the names of the objects
//! that are open, which must differ.
//!
//! A lone surrogate that is escaped is well-formed (RFC 8259, section 8.2), and names and texts are compared with it as what it
//! is. Where a name is kept, U+FFFD stands in its place; a text keeps it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Node, NotJson, Parser, text_of};
use crate::text::Text;

/// What a message says by one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// A text.
    String(Text),
    /// A number, as it is written.
    Number(String),
    /// True or false.
    Boolean(bool),
    /// An object, as it is written.
    Object(String),
    /// Anything else.
    Other,
}

/// Reads `bytes` as exactly one JSON value, with white space around it; `None` where that is no object.
///
/// # Errors
///
/// [`NotJson`] says what is wrong and where. It is never [`NotJson::TooDeep`].
pub(crate) fn members(bytes: &[u8]) -> Result<Option<BTreeMap<String, Member>>, NotJson> {
    let mut parser = Parser::of(text_of(bytes)?);
    parser.skip_white_space();
    let members = if parser.peek() == Some(b'{') {
        Some(parser.members()?)
    } else {
        parser.pass()?;
        None
    };
    parser.end()?;
    Ok(members)
}

/// An array or an object in which the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    Object,
}

/// The names of all objects that are open, each with how deep its object lies.
type Names = BTreeSet<(usize, Vec<u16>)>;

impl Parser<'_> {
    fn members(&mut self) -> Result<BTreeMap<String, Member>, NotJson> {
        let mut members = BTreeMap::new();
        let mut names = BTreeSet::new();
        self.expect(b'{')?;
        self.skip_white_space();
        if self.take(b'}') {
            return Ok(members);
        }
        loop {
            let name = self.name()?;
            self.skip_white_space();
            let member = match self.peek() {
                Some(b'"') => Member::String(Text::of_code_units(self.code_units()?)),
                Some(b'{') => {
                    let start = self.position;
                    self.pass()?;
                    Member::Object(self.text[start..self.position].to_owned())
                }
                Some(b'[') => {
                    self.pass()?;
                    Member::Other
                }
                Some(_) | None => match self.scalar()? {
                    Node::Number(written) => Member::Number(written.to_owned()),
                    Node::Boolean(value) => Member::Boolean(value),
                    Node::Null | Node::String(_) | Node::Array { .. } | Node::Object { .. } => {
                        Member::Other
                    }
                },
            };
            members.insert(String::from_utf16_lossy(&name), member);
            if !names.insert(name) {
                return Err(NotJson::DuplicateKey { at: self.position });
            }
            self.skip_white_space();
            if self.take(b'}') {
                return Ok(members);
            }
            self.expect(b',')?;
        }
    }

    /// Goes past one value.
    fn pass(&mut self) -> Result<(), NotJson> {
        let mut open = Vec::new();
        let mut names = Names::new();
        loop {
            let opened = self.pass_beginning()?;
            self.skip_white_space();
            match opened {
                Some(Open::Array) if !self.take(b']') => open.push(Open::Array),
                Some(Open::Object) if !self.take(b'}') => {
                    open.push(Open::Object);
                    self.pass_name(open.len(), &mut names)?;
                }
                Some(_) | None => {
                    if self.pass_ends(&mut open, &mut names)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Goes past a value that holds no other, or past the bracket that opens one which may.
    fn pass_beginning(&mut self) -> Result<Option<Open>, NotJson> {
        self.skip_white_space();
        let open = match self.peek() {
            Some(b'[') => Open::Array,
            Some(b'{') => Open::Object,
            Some(b'"') => return self.code_units().map(|_| None),
            Some(_) | None => return self.scalar().map(|_| None),
        };
        self.position += 1;
        Ok(Some(open))
    }

    /// A value has ended: goes past all that ends with it, up to the next value. Whether nothing is open any more.
    fn pass_ends(&mut self, open: &mut Vec<Open>, names: &mut Names) -> Result<bool, NotJson> {
        while let Some(&innermost) = open.last() {
            self.skip_white_space();
            match innermost {
                Open::Array if self.take(b']') => {}
                Open::Object if self.take(b'}') => {
                    names.split_off(&(open.len(), Vec::new()));
                }
                Open::Array => return self.expect(b',').map(|()| false),
                Open::Object => {
                    self.expect(b',')?;
                    return self.pass_name(open.len(), names).map(|()| false);
                }
            }
            open.pop();
        }
        Ok(true)
    }

    /// A name that its object has not had yet, and the colon behind it.
    fn pass_name(&mut self, depth: usize, names: &mut Names) -> Result<(), NotJson> {
        if names.insert((depth, self.name()?)) {
            Ok(())
        } else {
            Err(NotJson::DuplicateKey { at: self.position })
        }
    }

    /// A name, and the colon behind it.
    fn name(&mut self) -> Result<Vec<u16>, NotJson> {
        self.skip_white_space();
        let name = self.code_units()?;
        self.skip_white_space();
        self.expect(b':')?;
        Ok(name)
    }

    /// A string, as the code units that it stands for.
    fn code_units(&mut self) -> Result<Vec<u16>, NotJson> {
        self.expect(b'"')?;
        let mut units = Vec::new();
        loop {
            units.extend(self.plain().encode_utf16());
            if self.take(b'"') {
                return Ok(units);
            }
            // A control character that is not escaped stops here, and so does the end of the text.
            self.expect(b'\\')?;
            if self.peek() == Some(b'u') {
                units.push(self.code_unit()?);
            } else {
                units.extend(self.escaped()?.encode_utf16(&mut [0; 2]).iter());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{parse, tests::pieces};
    use super::*;

    fn is_json(text: &str) -> bool {
        members(text.as_bytes()).is_ok()
    }

    fn read(json: &str) -> BTreeMap<String, Member> {
        let members = members(json.as_bytes()).expect("it is JSON");
        members.expect("it is an object")
    }

    /// AAEP-6.3.4-1: what is no object is JSON all the same.
    #[test]
    fn an_object_is_told_from_everything_else() {
        let json = r#" { "a" : "b\n" , "c" : { "d" : [ ] } , "e" : [ {} ] , "f" : 1.5e900 , "g" : false , "h" : null } "#;
        let expected = [
            ("a", Member::String("b\n".into())),
            ("c", Member::Object(r#"{ "d" : [ ] }"#.to_owned())),
            ("e", Member::Other),
            ("f", Member::Number("1.5e900".to_owned())),
            ("g", Member::Boolean(false)),
            ("h", Member::Other),
        ];
        let expected = expected.map(|(name, member)| (name.to_owned(), member));
        assert_eq!(read(json), BTreeMap::from(expected));
        assert_eq!(read(" {} "), BTreeMap::new());
        for json in ["null", "[1,[]]", "\"a\"", "-0", " true ", r#"[{"a":1}]"#] {
            assert_eq!(members(json.as_bytes()), Ok(None), "{json}");
        }
    }

    /// AAEP-6.3.4-1: the schema limits no depth. It is neither read nor dropped by recursion.
    #[test]
    fn depth_has_no_limit() {
        for depth in [64, 65, 1_000_000] {
            let arrays = "[".repeat(depth) + &"]".repeat(depth);
            assert_eq!(members(arrays.as_bytes()), Ok(None));
            let objects = r#"{"":"#.repeat(depth) + "0" + &"}".repeat(depth);
            assert_eq!(
                read(&objects),
                BTreeMap::from([(
                    String::new(),
                    if depth == 1 {
                        Member::Number("0".to_owned())
                    } else {
                        Member::Object(objects[4..objects.len() - 1].to_owned())
                    }
                )])
            );
            assert!(!is_json(&arrays[1..]), "one opening bracket fewer");
            assert!(!is_json(&arrays[..2 * depth - 1]), "one closing fewer");
        }
    }

    /// AAEP-6.3.4-1: an object that says two things says nothing, however deep it lies.
    #[test]
    fn a_name_comes_once_in_an_object() {
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#"[[{"b":1,"c":[{"b":2}],"b":1}]]"#,
            r#"{"x":{"\ud800":1,"\uD800":2}}"#,
        ] {
            let found = members(bad.as_bytes());
            assert!(matches!(found, Err(NotJson::DuplicateKey { .. })), "{bad}");
        }
        for good in [
            r#"{"a":{"a":{"a":1},"b":1},"b":{"a":1},"A":1}"#,
            r#"[{"a":1},{"a":1},{"b":{"a":1},"a":1}]"#,
            r#"{"\ud800":1,"\udbff":2,"\ufffd":3}"#,
        ] {
            assert!(is_json(good), "{good}");
        }
    }

    /// AAEP-6.3.4-1: half a surrogate pair is JSON, and one character; both halves are one, too.
    #[test]
    fn a_lone_surrogate_is_one_character() {
        for (escaped, characters, put_out) in [
            (r"\ud83d", 1, r"\ud83d"),
            (r"\uDE00", 1, r"\ude00"),
            (r"\ud83d\ude00", 1, "😀"),
            (r"\ude00\ud83d", 2, r"\ude00\ud83d"),
            (r"\ud83d\ud83d\ude00", 2, r"\ud83d😀"),
            (r#"\ud83d\"\n"#, 3, r#"\ud83d\"\n"#),
            (r"\ud83d\u0041", 2, r"\ud83dA"),
            ("\u{fffd}", 1, "\u{fffd}"),
        ] {
            let found = read(&format!(r#"{{"a":"{escaped}"}}"#)).remove("a");
            let Some(Member::String(text)) = found else {
                panic!("{escaped}: {found:?}");
            };
            assert_eq!(text.characters(), characters, "{escaped}");
            let written = serde_json::to_string(&text).expect("a text can be written");
            assert_eq!(written, format!("\"{put_out}\""));
            assert_eq!(
                text.whole().is_some(),
                !put_out.contains(r"\u"),
                "{escaped}"
            );
        }
        // What stands for it elsewhere is another text.
        assert_ne!(read(r#"{"a":"\ud83d"}"#), read("{\"a\":\"\u{fffd}\"}"));
        assert_ne!(read(r#"{"a":"\ud83d"}"#), read(r#"{"a":"\ud83e"}"#));
        for bad in [
            r#"{"a":"\ud83"}"#,
            r#"{"a":"\ud83d\u"}"#,
            r#"{"a":"\ud83d\x"}"#,
        ] {
            assert!(!is_json(bad), "{bad}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        /// Both readers agree, but for lone surrogates.
        #[test]
        fn the_reader_of_values_agrees(json in prop_oneof![pieces(), any::<String>()]) {
            let values = parse(json.as_bytes());
            match members(json.as_bytes()) {
                Ok(_) if json.contains('\\') => {}
                Ok(members) => {
                    prop_assert!(values.is_ok(), "{}", json);
                    let is_object = json.trim_start().starts_with('{');
                    prop_assert_eq!(members.is_some(), is_object, "{}", json);
                }
                Err(_) => prop_assert!(values.is_err(), "{}", json),
            }
        }

        #[test]
        fn reading_never_panics(bytes in any::<Vec<u8>>()) {
            let _ = members(&bytes);
        }
    }
}
