//! Strings of JSON: where they end, and the text in them.
//!
//! The one thing to know: a message within a string has an escape every few bytes. So eight bytes are looked at together, in plain
//! arithmetic, which costs the same however near the next escape is.

/// A byte in each of eight.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each of eight bytes.
const HIGH: u64 = 0x80 * EACH;

/// The highest bit of each of the eight bytes that is a quote, a backslash or a control character; above the first of them, others may be
/// marked, too.
fn special(word: u64) -> u64 {
    let is = |byte: u8| {
        let apart = word ^ (u64::from(byte) * EACH);
        apart.wrapping_sub(EACH) & !apart
    };
    let is_control = word.wrapping_sub(0x20 * EACH) & !word;
    (is(b'"') | is(b'\\') | is_control) & HIGH
}

/// How many bytes there are from `at` on before a quote, a backslash or a control character, or the end.
fn plain(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (words, tail) = rest.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return 8 * index + (found.trailing_zeros() / 8) as usize;
        }
    }
    let is_special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    let before = tail.iter().position(is_special).unwrap_or(tail.len());
    8 * words.len() + before
}

/// Where a string ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Behind its quote, after so many bytes.
    Quote(usize),
    /// Before a line feed, after so many bytes: it is torn.
    Feed(usize),
    /// Not in these bytes.
    Beyond,
}

/// Where the string ends that has begun before; `escaped` says whether the first byte is escaped, and then whether the one behind the
/// last is.
pub fn end_of_string(bytes: &[u8], escaped: &mut bool) -> End {
    let mut at = usize::from(std::mem::take(escaped));
    loop {
        at += plain(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return End::Quote(at + 1),
            Some(b'\n') => return End::Feed(at),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => {
                *escaped = at > bytes.len();
                return End::Beyond;
            }
        }
    }
}

/// The text of a string that is written with its quotes, as UTF-8; `None` where it is broken. Half of a pair of UTF-16 units is read as
/// the character that stands for an unreadable one.
pub fn text_of(string: &[u8]) -> Option<Vec<u8>> {
    let inner = string.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut text = vec![0; inner.len()];
    let (read, end) = text_into(inner, &mut text);
    text.truncate(end);
    (read == inner.len() && std::str::from_utf8(&text).is_ok()).then_some(text)
}

/// The most bytes that are put into a text at a time.
const STEP: usize = 8;

/// Puts the text of what stands within a string into as many bytes as there are: how many bytes were read, and how many put. What cannot
/// be read is not gone over; nothing else is left where the text has as much room as it is written in.
pub fn text_into(inner: &[u8], text: &mut [u8]) -> (usize, usize) {
    let (mut at, mut end) = (0, 0);
    loop {
        // What is plain is copied in words of eight bytes: each is copied whole, and counts up to the first that is not.
        while let (Some(word), Some(room)) = (
            inner.get(at..at + STEP).and_then(|it| it.first_chunk()),
            text.get_mut(end..end + STEP),
        ) {
            let found = special(u64::from_le_bytes(*word));
            room.copy_from_slice(word);
            let count = if found == 0 {
                STEP
            } else {
                (found.trailing_zeros() / 8) as usize
            };
            (at, end) = (at + count, end + count);
            if found != 0 {
                break;
            }
        }
        let room = text.len() - end;
        let until = inner.len().min(at + room);
        let count = plain(&inner[..until], at);
        text[end..end + count].copy_from_slice(&inner[at..at + count]);
        (at, end) = (at + count, end + count);
        let Some((length, put)) = escape(&inner[at..], &mut text[end..]) else {
            return (at, end);
        };
        (at, end) = (at + length, end + put);
    }
}

/// Puts there what an escape stands for: how many bytes it has, and how many were put. `None` where there is none, or no room for it.
fn escape(text: &[u8], room: &mut [u8]) -> Option<(usize, usize)> {
    let [b'\\', escaped, ..] = text else {
        return None;
    };
    let escaped = match escaped {
        b'"' | b'\\' | b'/' => *escaped,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'f' => 12,
        b'r' => b'\r',
        b'u' => {
            let (character, length) = character(text)?;
            let room = room.get_mut(..character.len_utf8())?;
            return Some((length, character.encode_utf8(room).len()));
        }
        _ => return None,
    };
    *room.first_mut()? = escaped;
    Some((2, 1))
}

/// The character that is written there in units of UTF-16, and in how many bytes.
fn character(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let is_number = digits.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    if let Some(Ok(character)) = char::decode_utf16([first]).next() {
        return Some((character, 6));
    }
    let pair = unit(6).and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |it| (it, 12)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogates;

    fn by_the_library(string: &[u8]) -> Option<Vec<u8>> {
        let text = serde_json::from_slice::<String>(&surrogates::readable(string));
        text.ok().map(String::into_bytes)
    }

    /// The text, where there is room for so many bytes at a time.
    fn in_pieces(mut inner: &[u8], room: usize) -> Vec<u8> {
        let (mut text, mut piece) = (Vec::new(), vec![0; room]);
        while !inner.is_empty() {
            let (read, put) = text_into(inner, &mut piece);
            assert!(read > 0, "it is not broken");
            text.extend_from_slice(&piece[..put]);
            inner = &inner[read..];
        }
        text
    }

    /// Pieces of strings, in every order up to five of them: what comes out is what the library makes of it.
    #[test]
    fn the_text_of_a_string_is_that_of_the_library() {
        let pieces = [
            "\\\"",
            "\\\\",
            "\\n",
            "\\u00e9",
            "\\ud83d",
            "\\ude00",
            "plain text",
            "é",
            "\\",
            "\\u12",
            "\"",
            "\u{1}",
            "\\x",
            "a",
        ];
        let mut count = 0;
        let base = pieces.len() + 1;
        for number in 0..base.pow(4) {
            let digits = (0..4).map(|place| number / base.pow(place) % base);
            let inner: String = digits
                .filter_map(|digit| pieces.get(digit).copied())
                .collect();
            let string = format!("\"{inner}\"");
            let own = text_of(string.as_bytes());
            assert_eq!(own, by_the_library(string.as_bytes()), "{string}");
            if let Some(own) = &own {
                assert_eq!(
                    *own,
                    in_pieces(inner.as_bytes(), 4 + number % 9),
                    "{string}"
                );
            }
            count += usize::from(own.is_some());
        }
        assert!(count > 5_000, "{count}");
        for broken in [
            &b"\"\xFF\""[..],
            b"\"",
            b"",
            b"\"a",
            b"a\"",
            b"\"\xC3\"",
            b"\"\xED\xA0\x80\"",
        ] {
            assert_eq!(text_of(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn a_string_ends_where_it_ends_however_it_is_cut() {
        for text in [
            "\"abcdefgh\\\"ijkl\\\\\" rest",
            "\"\" rest",
            "\"ab\\\nc\" x",
            "\"abcdefg\u{1}h\ni\"",
            "\"0123456789abcdef",
            "\"\\",
        ] {
            let mut by_byte = (text.len(), false);
            let mut escaped = false;
            for (at, byte) in text.bytes().enumerate().skip(1) {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => {
                        by_byte = (at + 1, true);
                        break;
                    }
                    b'\n' => {
                        by_byte = (at, true);
                        break;
                    }
                    _ => {}
                }
            }
            for cut in 1..=text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let mut escaped = false;
                let whole = match end_of_string(&first[1..], &mut escaped) {
                    End::Beyond => (cut, end_of_string(second, &mut escaped)),
                    end @ (End::Quote(_) | End::Feed(_)) => (1, end),
                };
                let whole = match whole {
                    (before, End::Quote(length) | End::Feed(length)) => (before + length, true),
                    (_, End::Beyond) => (text.len(), false),
                };
                assert_eq!(whole, by_byte, "{text:?} cut at {cut}");
            }
        }
    }
}
