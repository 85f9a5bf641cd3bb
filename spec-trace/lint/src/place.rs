//! Lines of the input as findings show them: which line, and what in it is meant.

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

/// How many bytes of a line are held while it is judged: enough for a window around whatever is meant.
const HELD: usize = 1 << 10;

/// How many of them are kept for later: enough to recognise the line, little enough for very many.
const KEPT: usize = 96;

/// How many characters of a line are shown.
const SHOWN: usize = 100;

/// How much of the rest stands before what is meant, in hundredths, where there is enough on both sides.
const BEFORE: usize = 40;

/// How far the columns of the input lie ahead of those of the record: a record may stand within a line. Unknown where it
/// stands otherwise in the input than it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift(i32);

impl Shift {
    /// The record is the line.
    pub const NONE: Self = Self(0);
    /// No column can be told.
    pub const UNKNOWN: Self = Self(i32::MIN);

    /// So many columns.
    pub fn by(columns: i64) -> Self {
        i32::try_from(columns).map_or(Self::UNKNOWN, Self)
    }

    /// The column of the input, from 1, for that of the record.
    pub fn column(self, column: u64) -> Option<u64> {
        let is_known = self != Self::UNKNOWN;
        let column = column.checked_add_signed(i64::from(self.0))?;
        (is_known && column > 0).then_some(column)
    }
}

impl Shift {
    /// The column of the record, from 1, for that of the input.
    fn back(self, column: u64) -> Option<u64> {
        column.checked_add_signed(-i64::from(self.0))
    }
}

/// A line of the input while it is judged.
#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    /// The number of the line, from 1.
    pub line: u64,
    bytes: &'a [u8],
    shift: Shift,
}

impl<'a> Here<'a> {
    /// The line that reads `bytes`.
    pub fn new(line: u64, bytes: &'a [u8]) -> Self {
        let shift = Shift::NONE;
        Self { line, bytes, shift }
    }

    /// The same, with its columns that far ahead.
    #[must_use]
    pub fn shifted(self, shift: Shift) -> Self {
        Self { shift, ..self }
    }

    /// The line.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// How many bytes the line has.
    pub fn length(self) -> usize {
        self.bytes.len()
    }

    /// Its place, for something to be said about the byte in that column, from 1.
    pub fn at(self, column: Option<u64>) -> Place {
        let bytes = self.bytes;
        let meant = column.map_or(0, |column| {
            usize::try_from(column)
                .unwrap_or(usize::MAX)
                .min(bytes.len())
        });
        let from = meant.saturating_sub(HELD / 2);
        self.keeping(from..bytes.len().min(from + HELD))
    }

    /// Its place with little of the line, for a finding that may never come: what stands around its tool, else around its
    /// type.
    pub fn to_keep(self) -> Place {
        let held = &self.bytes[..self.bytes.len().min(HELD)];
        let meant = ["tool", "type"]
            .into_iter()
            .find_map(|name| value_of(held, name));
        let from = meant
            .map_or(0, |meant| meant.start)
            .saturating_sub(KEPT / 2);
        self.keeping(from..held.len().min(from + KEPT))
    }

    fn keeping(self, part: Range<usize>) -> Place {
        Place {
            line: self.line,
            from: part.start,
            goes_on: part.end < self.bytes.len(),
            shift: self.shift,
            kept: self.bytes[part].into(),
        }
    }
}

impl From<Here<'_>> for Place {
    fn from(here: Here<'_>) -> Self {
        here.at(None)
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Self {
        place.clone()
    }
}

/// What is known of a line of the input as long as something may still be said about it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The number of the line, from 1.
    pub line: u64,
    /// The byte of the line, from 0, at which `kept` begins.
    from: usize,
    /// A part of the line.
    kept: Arc<[u8]>,
    /// Whether the line goes on after it.
    goes_on: bool,
    shift: Shift,
}

impl Place {
    /// The column of the input, from 1, for that of the record.
    pub fn column(&self, column: u64) -> Option<u64> {
        self.shift.column(column)
    }

    /// The bytes that are kept: the beginning of the line, unless something further on is meant.
    pub fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// What to show of the line. Meant is what begins in `column` (a byte of the input, from 1), else the field that `message` speaks
    /// of first, else the tool, else the type.
    pub fn excerpt(&self, column: Option<u64>, message: &str) -> Excerpt {
        let told = column
            .and_then(|column| self.shift.back(column))
            .and_then(|column| usize::try_from(column).ok()?.checked_sub(1 + self.from))
            .filter(|start| *start < self.kept.len())
            .map(|start| start..end_of_token(&self.kept, start));
        let meant = told.or_else(|| self.value_meant(message));
        self.window(meant.unwrap_or(0..self.kept.len()))
    }

    fn value_meant(&self, message: &str) -> Option<Range<usize>> {
        let spoken_of = message.split([' ', ',']).next().unwrap_or_default();
        [spoken_of, "tool", "type"]
            .into_iter()
            .find_map(|name| value_of(&self.kept, name))
    }

    fn window(&self, meant: Range<usize>) -> Excerpt {
        let before = printable_text(&self.kept[..meant.start]);
        let marked = printable_text(&self.kept[meant.clone()]);
        let after = printable_text(&self.kept[meant.end..]);
        let room = SHOWN - marked.len().min(SHOWN);
        let shown_before = before
            .len()
            .min(room.saturating_sub(after.len().min(room - room * BEFORE / 100)));
        let shown_after = after.len().min(room - shown_before);
        let is_cut_before = self.from > 0 || shown_before < before.len();
        let is_cut_after = marked.len() > SHOWN || shown_after < after.len() || self.goes_on;
        let mut text: String = if is_cut_before { "…" } else { "" }.to_owned();
        text.extend(&before[before.len() - shown_before..]);
        let start = text.len();
        text.extend(marked.iter().take(SHOWN));
        let end = text.len();
        text.extend(&after[..shown_after]);
        if is_cut_after {
            text.push('…');
        }
        Excerpt {
            text,
            marked: start..end,
            column: self.column((self.from + meant.start) as u64 + 1),
            // Where the record is not the line, its characters are not counted from the beginning of the line.
            characters: (self.from == 0 && self.shift == Shift::NONE).then(|| {
                let first = before.len() as u64 + 1;
                first..first + marked.len() as u64
            }),
        }
    }
}

/// Where the value of the first member of that name stands.
fn value_of(bytes: &[u8], name: &str) -> Option<Range<usize>> {
    for name_at in memmem::find_iter(bytes, name) {
        let after_key = name_at + name.len() + 1;
        let is_quoted =
            name_at > 0 && bytes[name_at - 1] == b'"' && bytes.get(after_key - 1) == Some(&b'"');
        let is_escaped = name_at > 1 && bytes[name_at - 2] == b'\\';
        if !is_quoted || is_escaped {
            continue;
        }
        let colon = after_key + skip_white(&bytes[after_key..]);
        if bytes.get(colon) == Some(&b':') {
            let value = colon + 1 + skip_white(&bytes[colon + 1..]);
            return (value < bytes.len()).then(|| value..end_of_token(bytes, value));
        }
    }
    None
}

/// The end of the string, number or word that begins there; brackets are marked alone.
fn end_of_token(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    let length = match rest[0] {
        b'"' => {
            let mut escaped = false;
            let end = rest[1..].iter().position(|byte| {
                let ends = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 2)
        }
        _ => rest
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte))
            .map_or(rest.len(), |end| end.max(1)),
    };
    start + length
}

fn skip_white(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// Part of a line, printable, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// What is shown.
    pub text: String,
    /// The bytes of it that are meant.
    pub marked: Range<usize>,
    /// The byte of the line, from 1, at which that begins, where that can be told.
    pub column: Option<u64>,
    /// The characters of the line, from 1, that are meant; unknown so far into a line that its beginning is not kept.
    pub characters: Option<Range<u64>>,
}

fn printable_text(bytes: &[u8]) -> Vec<char> {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(printable)
        .collect()
}

/// Control characters would reach the terminal of whoever reads the report.
pub fn printable(character: char) -> char {
    if character.is_control() || turns_the_text(character) || is_unseen(character) {
        '\u{FFFD}'
    } else {
        character
    }
}

/// Whether the character is shown as nothing and changes the direction of what follows it, so that a line could be made
/// to look like another.
fn turns_the_text(character: char) -> bool {
    matches!(
        character,
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    )
}

/// Whether the character takes no room and means nothing, so that two names that differ in it look the same. What joins or
/// varies letters and pictures is not among them: some scripts need it.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180E}'
            | '\u{200B}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206A}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &str, column: Option<u64>, message: &str) -> (String, u64) {
        let excerpt = Place::from(Here::new(1, line.as_bytes())).excerpt(column, message);
        let column = excerpt.column.expect("the record is the line");
        (excerpt.text[excerpt.marked].to_owned(), column)
    }

    #[test]
    fn an_excerpt_is_cut_only_beyond_its_width_and_shows_no_control_characters() {
        for length in [99, 100, 101] {
            let excerpt =
                Place::from(Here::new(1, "é".repeat(length).as_bytes())).excerpt(None, "");
            assert_eq!(
                excerpt.text.chars().filter(|it| *it == 'é').count(),
                length.min(100)
            );
            assert_eq!(excerpt.text.ends_with('…'), length > 100);
        }
        let hostile = Place::from(Here::new(1, b"a\x1b[2Jb\xff\xE2\x80\xAE"));
        assert_eq!(
            hostile.excerpt(None, "").text,
            "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}"
        );
    }

    #[test]
    fn what_is_meant_is_told_by_the_column_then_the_message_then_the_tool_then_the_type() {
        let line = r#"{"type" : "t","note":"\"tool\": 1","timeout_seconds":-1.5e3,"tool":"a\"b"}"#;
        let column = line.find("-1.5").unwrap() as u64 + 1;
        let timeout = ("-1.5e3".to_owned(), column);
        assert_eq!(marked(line, Some(column), ""), timeout);
        assert_eq!(marked(line, None, "timeout_seconds is not whole"), timeout);
        assert_eq!(marked(line, None, "a call too many").0, r#""a\"b""#);
        assert_eq!(marked(r#"{"type":"t"}"#, None, "no").0, r#""t""#);
        assert_eq!(marked(r#"{"type"#, None, "no").0, r#"{"type"#);
    }

    #[test]
    fn a_window_moves_to_what_is_meant_wherever_it_stands() {
        for at in [0, 39, 40, 41, 900, HELD - 1, HELD, HELD + 1, 5000] {
            let line = format!("{}X{}", ".".repeat(at), " ".repeat(3000));
            let column = Some(at as u64 + 1);
            let excerpt = Here::new(7, line.as_bytes()).at(column).excerpt(column, "");
            assert_eq!(&excerpt.text[excerpt.marked.clone()], "X", "{at}");
            assert_eq!(excerpt.column, Some(at as u64 + 1));
            assert_eq!(excerpt.text.starts_with('…'), at > 39, "{at}");
            assert!(excerpt.text.ends_with('…') && excerpt.text.chars().count() <= SHOWN + 2);
        }
    }

    #[test]
    fn what_is_kept_for_later_is_little_and_shows_what_was_meant() {
        for at in [0, 500, 900] {
            let before = " ".repeat(at);
            let line = format!("{{{before}\"type\":\"t\",\"tool\":\"send\"{before}}}");
            let here = Here::new(3, line.as_bytes());
            let kept = here.to_keep();
            let (whole, excerpt) = (here.at(None).excerpt(None, ""), kept.excerpt(None, ""));
            assert_eq!(excerpt.column, whole.column);
            assert_eq!(&excerpt.text[excerpt.marked.clone()], "\"send\"");
            assert!(kept.kept.len() <= KEPT);
        }
    }

    #[test]
    fn a_column_beyond_the_line_is_shown_as_the_line() {
        let line = br#"{"a":1"#;
        let excerpt = Here::new(1, line).at(Some(99)).excerpt(Some(99), "broken");
        assert_eq!(excerpt.text, r#"{"a":1"#);
    }
}
