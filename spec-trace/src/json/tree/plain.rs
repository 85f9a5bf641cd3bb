//! Reads JSON as it is usually written: an object with few members, not deep.
//!
//! It either reads the whole text or yields nothing, and does not say why: whatever it stumbles over is read again by
//! [`super::unusual`]. Escapes and numbers that are not short and whole are left to `serde_json` one by one.

use std::borrow::Cow;

use serde_json::Number;

use super::{Leaf, Names, Node, member};

/// How many levels it goes down.
const DEEPEST: usize = 64;

/// How many members an object has at most: each is compared with those before it, so a hostile one takes no more than its
/// share of time.
const MOST_MEMBERS: usize = 32;

/// How many digits a number has at most that is read here: so many fit into 64 bits, whatever they are.
const DIGITS: usize = 18;

/// Reads a text into `nodes`, which are empty before.
pub(super) fn read<'a>(text: &'a str, nodes: &mut Vec<Node<'a>>) -> Option<()> {
    let mut reader = Reader { text, at: 0, nodes };
    reader.value(Cow::Borrowed(""), DEEPEST)?;
    reader.peek().is_none().then_some(())
}

struct Reader<'a, 'n> {
    text: &'a str,
    /// The byte that is to be read next.
    at: usize,
    nodes: &'n mut Vec<Node<'a>>,
}

impl<'a> Reader<'a, '_> {
    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Whether the next byte that is no white space is that one; then it is taken.
    #[inline]
    fn takes(&mut self, byte: u8) -> Option<bool> {
        let is_there = self.peek()? == byte;
        self.at += usize::from(is_there);
        Some(is_there)
    }

    /// Reads a value, and what is in it.
    fn value(&mut self, name: Cow<'a, str>, levels: usize) -> Option<()> {
        let leaf = match self.peek()? {
            b'"' => Leaf::String(self.string()?),
            b'{' => return self.object(name, levels.checked_sub(1)?),
            b'[' => return self.array(name, levels.checked_sub(1)?),
            b't' => self.word("true", Leaf::Bool(true))?,
            b'f' => self.word("false", Leaf::Bool(false))?,
            b'n' => self.word("null", Leaf::Null)?,
            _ => Leaf::Number(self.number()?),
        };
        self.push(name, leaf);
        Some(())
    }

    fn push(&mut self, name: Cow<'a, str>, leaf: Leaf<'a>) {
        self.nodes.push(Node {
            name,
            leaf,
            size: 1,
        });
    }

    fn object(&mut self, name: Cow<'a, str>, levels: usize) -> Option<()> {
        let place = self.nodes.len();
        self.push(name, Leaf::Null);
        let mut names = Names::default();
        let mut count = 0;
        self.at += 1;
        if !self.takes(b'}')? {
            loop {
                if self.peek()? != b'"' || count == MOST_MEMBERS {
                    return None;
                }
                let name = self.string()?;
                if names.may_hold(&name) && member(&self.nodes[place + 1..], &name).is_some() {
                    return None;
                }
                names.add(&name);
                count += 1;
                if !self.takes(b':')? {
                    return None;
                }
                self.value(name, levels)?;
                if !self.takes(b',')? {
                    break;
                }
            }
            if !self.takes(b'}')? {
                return None;
            }
        }
        self.close(place, Leaf::Object(names));
        Some(())
    }

    fn array(&mut self, name: Cow<'a, str>, levels: usize) -> Option<()> {
        let place = self.nodes.len();
        self.push(name, Leaf::Null);
        self.at += 1;
        if !self.takes(b']')? {
            loop {
                self.value(Cow::Borrowed(""), levels)?;
                if !self.takes(b',')? {
                    break;
                }
            }
            if !self.takes(b']')? {
                return None;
            }
        }
        self.close(place, Leaf::Array);
        Some(())
    }

    /// Completes the object or array that begins there.
    fn close(&mut self, place: usize, leaf: Leaf<'a>) {
        let size = self.nodes.len() - place;
        let node = &mut self.nodes[place];
        node.leaf = leaf;
        node.size = size;
    }

    fn word(&mut self, word: &str, leaf: Leaf<'a>) -> Option<Leaf<'a>> {
        let is_there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_there.then_some(leaf)
    }

    /// Reads the string that begins here.
    #[inline]
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut end = start + special(&bytes[start..])?;
        let mut has_escapes = false;
        while bytes[end] == b'\\' {
            has_escapes = true;
            // What is escaped is no end, whatever it is.
            let after = end + 2;
            end = after + special(bytes.get(after..)?)?;
        }
        if bytes[end] != b'"' {
            return None;
        }
        self.at = end + 1;
        if has_escapes {
            let text = serde_json::from_str(&self.text[start - 1..=end]).ok()?;
            Some(Cow::Owned(text))
        } else {
            Some(Cow::Borrowed(&self.text[start..end]))
        }
    }

    fn number(&mut self) -> Option<Number> {
        let rest = &self.text[self.at..];
        let part_of_number =
            |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| part_of_number(byte)).count();
        let text = &rest[..length];
        self.at += length;
        match short_whole(text.as_bytes()) {
            Some(number) => Some(number.into()),
            None => serde_json::from_str(text).ok(),
        }
    }
}

/// A number of few digits and nothing else.
fn short_whole(digits: &[u8]) -> Option<u64> {
    let is_short = digits.len() <= DIGITS && (digits.len() == 1 || *digits.first()? != b'0');
    let is_whole = digits.iter().all(u8::is_ascii_digit);
    (is_short && is_whole && !digits.is_empty()).then(|| {
        digits
            .iter()
            .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
    })
}

/// How far the first byte lies that is not simply part of a string: a quote, a backslash or a control character. Eight
/// bytes are looked at together.
#[inline]
fn special(bytes: &[u8]) -> Option<usize> {
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
    const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found =
            below(word ^ QUOTES, ONES) | below(word ^ BACKSLASHES, ONES) | below(word, SPACES);
        if found != 0 {
            return Some(8 * index + found.trailing_zeros() as usize / 8);
        }
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    let far = rest.iter().position(is_special)?;
    Some(8 * words.len() + far)
}

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// The highest bit of each byte that is less than that of `bound`, a bound of 128 at most. Above the first of them there
/// may be bits too many.
#[inline]
fn below(word: u64, bound: u64) -> u64 {
    word.wrapping_sub(bound) & !word & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(text: &str) -> bool {
        read(text, &mut Vec::new()).is_some()
    }

    #[test]
    fn the_usual_is_read_here() {
        for text in [
            "{}",
            " [ ] ",
            r#"{"a":"x","b":{"c":[1,-2,0.5,1e3,true,false,null]},"d":"\"\\\u00e9\n é"}"#,
            "{ \"a\" : [ 1 , 2 ] ,\t\"b\" : 3 }\r",
        ] {
            assert!(is_read(text), "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_read_here_up_to_their_length() {
        for (digits, expected) in [
            ("0", Some(0)),
            ("00", None),
            ("12", Some(12)),
            ("99999999999999999", Some(99_999_999_999_999_999)),
            ("999999999999999999", Some(999_999_999_999_999_999)),
            ("9999999999999999999", None),
            ("", None),
            ("-1", None),
            ("1.0", None),
        ] {
            assert_eq!(short_whole(digits.as_bytes()), expected, "{digits}");
        }
    }

    #[test]
    fn the_first_special_byte_is_found_wherever_it_stands() {
        for special_byte in [b'"', b'\\', 0, 31] {
            for at in 0..20 {
                for filler in [b' ', b'a', 127, 128, 255] {
                    let mut bytes = [filler; 24];
                    assert_eq!(special(&bytes), None);
                    bytes[at] = special_byte;
                    bytes[at + 2] = b'"';
                    assert_eq!(special(&bytes), Some(at), "{filler}");
                }
            }
        }
    }
}
