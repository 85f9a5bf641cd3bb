//! Halves of characters: what a producer that counts in UTF-16 units sends when it cuts its output within a character.
//!
//! JSON's grammar takes `"\\ud83d"`, and its parsers do not, for no text holds half a character. The grammar is what a
//! producer has to keep to, so such a half is read as the character that stands for an unreadable one.

use std::borrow::Cow;

/// The digits of U+FFFD.
const REPLACEMENT: &[u8; 4] = b"fffd";

/// The line as a parser can read it.
pub fn readable(line: &[u8]) -> Cow<'_, [u8]> {
    without_halves(line).map_or(Cow::Borrowed(line), Cow::Owned)
}

/// The line with each half of a character replaced, in the same number of bytes; `None` where there is none.
pub fn without_halves(line: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(line, b"\\u")?;
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(next) = line.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += next;
        let half = unit(line, at).filter(|unit| (0xD800..0xE000).contains(unit));
        let is_pair = half.is_some_and(|unit| unit < 0xDC00)
            && unit(line, at + 6).is_some_and(|unit| (0xDC00..0xE000).contains(&unit));
        at += match (half, is_pair) {
            // A backslash escapes at least what stands behind it.
            (None, _) => 2,
            (Some(_), true) => 12,
            (Some(_), false) => {
                let mended = mended.get_or_insert_with(|| line.to_vec());
                mended[at + 2..at + 6].copy_from_slice(REPLACEMENT);
                6
            }
        };
    }
    mended
}

/// The UTF-16 unit that an escape at that byte stands for.
fn unit(line: &[u8], at: usize) -> Option<u32> {
    let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_whole_characters_are_not() {
        for (line, mended) in [
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""\uDE00 \n""#, Some(r#""\ufffd \n""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\ude00\ude00""#, Some(r#""\ud83d\ude00\ufffd""#)),
            (r#""\ud83d\ude00""#, None),
            (r#""\ud7ff\ue000""#, None),
            (r#""\\ud83d""#, None),
            (r#""\ud83""#, None),
            (r#""\u+83d""#, None),
            (r"\", None),
            ("", None),
        ] {
            let found = without_halves(line.as_bytes());
            assert_eq!(found.as_deref(), mended.map(str::as_bytes), "{line}");
        }
    }
}
