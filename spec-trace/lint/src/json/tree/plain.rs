//! Reads JSON as it is usually written: an object with few members, not deep.
//!
//! It either reads the whole text or yields nothing, and does not say why: whatever it stumbles over is read again by
//! [`super::unusual`]. Escapes and numbers that are not short and whole are left to `serde_json` one by one.

use memchr::memchr2;
use serde_json::Number;

use super::{Leaf, NAMELESS, Name, Part, Room, mark};

/// How many levels it goes down.
const DEEPEST: usize = 64;

/// How many members an object has at most: each is compared with those before it, so a hostile one takes no more than its
/// share of time.
const MOST_MEMBERS: usize = 32;

/// How many digits a number has at most that is read here: so many fit into 64 bits, whatever they are.
const DIGITS: usize = 18;

/// Reads a text into a room in which nothing is.
pub(super) fn read(text: &str, room: &mut Room) -> Option<()> {
    let bytes = text.strip_suffix('\r').unwrap_or(text).as_bytes();
    // Strings hold no control characters, and besides them there is hardly ever one.
    if bytes.iter().copied().fold(u8::MAX, u8::min) < b' ' {
        return None;
    }
    let mut reader = Reader {
        text,
        bytes,
        at: 0,
        room,
    };
    reader.value(NAMELESS, DEEPEST)?;
    // Behind the value there is white space at most.
    reader.next_byte();
    (reader.at == bytes.len()).then_some(())
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The byte that is to be read next.
    at: usize,
    room: &'a mut Room,
}

impl Reader<'_> {
    /// The next byte that is no white space.
    #[inline]
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if byte != b' ' {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Takes the next byte if it is that one.
    #[inline]
    fn takes(&mut self, byte: u8) -> Option<bool> {
        let is_there = self.next_byte()? == byte;
        self.at += usize::from(is_there);
        Some(is_there)
    }

    /// Takes the next byte, which is that one.
    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        self.takes(byte)?.then_some(())
    }

    /// Reads a value, and what is in it.
    fn value(&mut self, name: Name, levels: usize) -> Option<()> {
        let leaf = match self.next_byte()? {
            b'"' => Leaf::String(self.string()?),
            b'{' => return self.object(name, levels.checked_sub(1)?),
            b'[' => return self.array(name, levels.checked_sub(1)?),
            b't' => self.word("true", Leaf::Bool(true))?,
            b'f' => self.word("false", Leaf::Bool(false))?,
            b'n' => self.word("null", Leaf::Null)?,
            _ => Leaf::Number(self.number()?),
        };
        self.room.push(name, leaf);
        Some(())
    }

    fn object(&mut self, name: Name, levels: usize) -> Option<()> {
        let place = self.room.nodes.len();
        self.room.push(name, Leaf::Object);
        self.at += 1;
        let mut marks = 0;
        if !self.takes(b'}')? {
            for _ in 0..MOST_MEMBERS {
                let name = self.new_name(place + 1, &mut marks)?;
                self.take(b':')?;
                self.value(name, levels)?;
                if !self.takes(b',')? {
                    break;
                }
            }
            self.take(b'}')?;
        }
        self.room.close(place);
        Some(())
    }

    /// Reads a name that none of the members has which begin there; `marks` are those of their names.
    fn new_name(&mut self, members: usize, marks: &mut u64) -> Option<Name> {
        if self.next_byte()? != b'"' {
            return None;
        }
        let part = self.string()?;
        let bytes = self.room.bytes(self.text, part);
        let mark = mark(bytes);
        let is_new = *marks & 1 << mark == 0 || {
            let end = self.room.nodes.len();
            let double = self.room.find(self.text, members, end, (bytes, mark));
            double.is_none()
        };
        *marks |= 1 << mark;
        is_new.then_some((part, mark))
    }

    fn array(&mut self, name: Name, levels: usize) -> Option<()> {
        let place = self.room.nodes.len();
        self.room.push(name, Leaf::Array);
        self.at += 1;
        if !self.takes(b']')? {
            loop {
                self.value(NAMELESS, levels)?;
                if !self.takes(b',')? {
                    break;
                }
            }
            self.take(b']')?;
        }
        self.room.close(place);
        Some(())
    }

    fn word(&mut self, word: &str, leaf: Leaf) -> Option<Leaf> {
        let is_there = self.bytes[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_there.then_some(leaf)
    }

    /// Reads the string that begins here.
    #[inline]
    fn string(&mut self) -> Option<Part> {
        let start = self.at + 1;
        let end = self.special(start)?;
        if self.bytes[end] == b'\\' {
            return self.string_with_escapes(start, end);
        }
        self.at = end + 1;
        (self.bytes[end] == b'"').then(|| Part::new(start..end))
    }

    /// The same for one whose first escape stands there.
    fn string_with_escapes(&mut self, start: usize, first: usize) -> Option<Part> {
        let mut end = first;
        while self.bytes[end] == b'\\' {
            // What is escaped is no end, whatever it is.
            end = self.special(end + 2)?;
        }
        self.at = end + 1;
        let string: String = serde_json::from_str(&self.text[start - 1..self.at]).ok()?;
        Some(self.room.spell_out(self.text, &string))
    }

    /// Where the first quote or backslash stands from there on.
    #[inline]
    fn special(&self, from: usize) -> Option<usize> {
        let far = memchr2(b'"', b'\\', self.bytes.get(from..)?)?;
        Some(from + far)
    }

    fn number(&mut self) -> Option<Number> {
        let rest = &self.bytes[self.at..];
        let part_of_number =
            |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.iter().take_while(part_of_number).count();
        let digits = &rest[..length];
        self.at += length;
        match short_whole(digits) {
            Some(number) => Some(number.into()),
            None => serde_json::from_slice(digits).ok(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(text: &str) -> bool {
        read(text, &mut Room::default()).is_some()
    }

    #[test]
    fn the_usual_is_read_here() {
        for text in [
            "{}",
            " [ ] ",
            r#"{"a":"x","b":{"c":[1,-2,0.5,1e3,true,false,null]},"d":"\"\\\u00e9\n é"}"#,
            "{ \"a\" : [ 1 , 2 ] , \"b\" : 3 } \r",
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
    fn a_string_ends_at_the_first_quote_wherever_it_stands() {
        for length in 0..20 {
            for filler in ["a", " ", "\u{7f}", "é", "\u{ffff}"] {
                let string = filler.repeat(length);
                let mut room = Room::default();
                let text = format!("[\"{string}\",\"\"]");
                read(&text, &mut room).expect("usual");
                let Leaf::String(part) = room.nodes[1].leaf else {
                    panic!("a string")
                };
                assert_eq!(room.string(&text, part), string);
                assert!(!is_read(&format!("[\"{string}\u{1f}\",\"\"]")));
            }
        }
    }
}
