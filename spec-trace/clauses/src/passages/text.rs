//! A text as it is compared: its letters, the signs between them that mean something, and where a sentence, a row or a line ends.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// So many letters with this hash. Letters and digits alone count, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Passage {
    pub(super) letters: usize,
    pub(super) hash: u64,
}

impl Passage {
    /// The passage with these words.
    pub fn of(words: &str) -> Passage {
        let text = Copy::new(String::new(), words.to_owned());
        text.passage(0..text.letters.len())
    }

    /// The passage that stands before another, and then that.
    pub(super) fn then(self, next: Passage) -> Passage {
        let before = (0..next.letters).fold(self.hash, |hash, _| times(hash, BASE));
        Passage {
            letters: self.letters + next.letters,
            hash: (before + next.hash) % PRIME,
        }
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:016x}", self.letters, self.hash)
    }
}

impl From<Passage> for String {
    fn from(passage: Passage) -> String {
        passage.to_string()
    }
}

impl TryFrom<String> for Passage {
    type Error = String;

    fn try_from(text: String) -> Result<Passage, String> {
        let read = text.split_once(' ').and_then(|(letters, hash)| {
            let letters = letters.parse().ok()?;
            let hash = u64::from_str_radix(hash, 16).ok()?;
            Some(Passage { letters, hash })
        });
        read.ok_or_else(|| format!("`{text}` is no number of letters and hash"))
    }
}

/// The hash is the letters as digits of a number to this base, modulo a Mersenne prime: that of a part follows from those of two beginnings.
const BASE: u64 = 1_000_003;
const PRIME: u64 = (1 << 61) - 1;

fn times(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other) % u128::from(PRIME);
    u64::try_from(product).unwrap_or_default()
}

fn append(hash: u64, letter: char) -> u64 {
    (times(hash, BASE) + u64::from(u32::from(letter))) % PRIME
}

/// One place in a copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The words, on one line.
    pub text: String,
}

/// One file of an editor's copy. Its places are counted in letters.
pub struct Copy {
    /// Its name.
    pub name: String,
    /// What stands in it.
    pub text: String,
    /// The same without what is markup alone, byte for byte.
    plain: String,
    letters: Vec<usize>,
    /// The hash of all that is before each letter, and the power of the base that belongs to it.
    before: Vec<(u64, u64)>,
}

impl Copy {
    /// A file with this name and text.
    pub fn new(name: String, text: String) -> Copy {
        let plain = plain(&text);
        let mut letters = Vec::new();
        let mut before = vec![(0, 1)];
        for (at, it) in plain.char_indices().filter(|it| it.1.is_alphanumeric()) {
            let (hash, power) = before[letters.len()];
            let lower = it.to_lowercase().next().unwrap_or(it);
            before.push((append(hash, lower), times(power, BASE)));
            letters.push(at);
        }
        Copy {
            name,
            text,
            plain,
            letters,
            before,
        }
    }

    /// How many letters there are.
    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// What these letters hash to.
    pub(super) fn passage(&self, range: Range<usize>) -> Passage {
        let letters = range.len();
        let leading = times(self.before[range.start].0, self.before[letters].1);
        Passage {
            letters,
            hash: (self.before[range.end].0 + PRIME - leading) % PRIME,
        }
    }

    /// Whether a word begins with this letter, or the text ends before it.
    pub(super) fn is_edge(&self, letter: usize) -> bool {
        letter == 0 || letter == self.len() || !self.between(letter).is_empty()
    }

    fn char(&self, letter: usize) -> Option<char> {
        self.plain[*self.letters.get(letter)?..].chars().next()
    }

    /// Where the letter before this one ends.
    fn end(&self, letter: usize) -> usize {
        let before = letter.checked_sub(1);
        before.map_or(0, |it| {
            self.letters[it] + self.char(it).map_or(0, char::len_utf8)
        })
    }

    /// What stands before this letter and behind the one before.
    fn between(&self, letter: usize) -> &str {
        let to = self.letters.get(letter).copied();
        &self.plain[self.end(letter)..to.unwrap_or(self.plain.len())]
    }

    fn line_with(&self, at: usize) -> &str {
        let from = self.plain[..at].rfind('\n').map_or(0, |it| it + 1);
        self.plain[from..].lines().next().unwrap_or_default()
    }

    /// Whether a sentence, a row, an item, a line of code or a heading ends before this letter.
    pub(super) fn divides(&self, letter: usize) -> bool {
        let (1.., Some(next)) = (letter, self.char(letter)) else {
            return true;
        };
        let between = self.between(letter);
        if between.contains(['|', '│']) || is_end(&self.plain[..self.end(letter)], between) {
            return true;
        }
        let Some((head, tail)) = between.split_once('\n') else {
            // Where the end of a line is lost, code sticks to what follows.
            return between.ends_with(['}', ';']);
        };
        let (head, tail) = (head.trim_end(), tail.trim_start_matches([' ', '\t', '\r']));
        let mut start = tail.chars();
        let is_item = match start.next() {
            Some('-' | '*' | '+' | '•') => start.next().is_some_and(char::is_whitespace),
            Some('/') => matches!(start.next(), Some('/' | '*')),
            Some(sign) => "#\"'{[\n".contains(sign),
            None => false,
        };
        head.ends_with([';', '{', '}', ':'])
            || is_item
            || tail.contains('\n')
            || !next.is_lowercase() && !head.ends_with(',')
            || is_whole(self.line_with(self.letters[letter - 1]))
            || is_heading(self.line_with(self.letters[letter]))
    }

    /// The sentences, items, rows, lines of code and headings.
    #[cfg(test)]
    pub(super) fn units(&self) -> Vec<Range<usize>> {
        let mut ends = (0..self.len()).filter(|it| self.divides(it + 1));
        let mut from = 0;
        std::iter::from_fn(|| {
            let to = ends.next()? + 1;
            Some(std::mem::replace(&mut from, to)..to)
        })
        .collect()
    }

    /// Whether a unit is a heading: it is all that its line has.
    #[cfg(test)]
    pub(super) fn is_heading(&self, unit: &Range<usize>) -> bool {
        let line = self.line_with(self.letters[unit.start]);
        let letters = line.chars().filter(|it| it.is_alphanumeric()).count();
        letters == unit.len() && is_heading(line)
    }

    /// The sentence with this letter.
    pub(super) fn sentence(&self, letter: usize) -> Range<usize> {
        let start = (0..=letter).rev().find(|it| self.divides(*it));
        let end = (letter + 1..self.len()).find(|it| self.divides(*it));
        start.unwrap_or(0)..end.unwrap_or(self.len())
    }

    /// The words from the first of these letters to the last, with the signs that stick to them.
    pub(super) fn place(&self, range: &Range<usize>) -> Place {
        let (from, to) = (self.letters[range.start], self.end(range.end));
        let lead = self.text[..from]
            .trim_end_matches(['"', '\'', '`', '(', '[', '*', '_', '^', '$', '/', '!']);
        let tail = self.text[to..]
            .trim_start_matches(['"', '\'', '`', ')', ']', '*', '_', '.', '!', '?', '$', '}']);
        let (from, to) = (lead.len(), self.text.len() - tail.len());
        let words = self.text[from..to].split_whitespace();
        Place {
            file: self.name.clone(),
            line: 1 + self.text[..from].matches('\n').count(),
            text: words.collect::<Vec<_>>().join(" "),
        }
    }

    /// The letter that stands at this byte, or the next one.
    pub(super) fn letter_at(&self, at: usize) -> usize {
        self.letters.partition_point(|it| *it < at)
    }

    /// Letters behind which a normative word begins.
    pub(super) fn keywords(&self) -> Vec<usize> {
        let stand = KEYWORDS
            .iter()
            .flat_map(|word| self.plain.match_indices(word));
        let is_whole = |(at, word): &(usize, &str)| {
            let before = self.plain[..*at].chars().next_back();
            let behind = self.plain[at + word.len()..].chars().next();
            // Where markup is lost, a word may stick to the one before, as in `tool.invokedMUST`.
            !before.is_some_and(|it| it.is_uppercase() || it.is_numeric())
                && !behind.is_some_and(char::is_alphanumeric)
        };
        let mut letters: Vec<usize> = stand
            .filter(is_whole)
            .map(|it| self.letter_at(it.0))
            .collect();
        letters.sort_unstable();
        letters
    }

    /// Whether a letter is one of several capitals, as in `MUST` and `TOKEN_EXPIRED`: that they are capitals means something.
    fn is_shouted(&self, letter: usize) -> bool {
        let is_capital = |letter: usize| self.char(letter).is_some_and(char::is_uppercase);
        let follows =
            |letter: usize| is_capital(letter) && matches!(self.between(letter), "" | "_");
        is_capital(letter)
            && (letter > 0 && is_capital(letter - 1) && follows(letter) || follows(letter + 1))
    }

    /// A hash of the signs among and around these letters that mean something, and of words in capitals, each with its place; 0 where there
    /// are none.
    pub(super) fn signs(&self, range: &Range<usize>) -> u32 {
        let mut hash = 0;
        for letter in range.start..=range.end {
            let offset = u64::try_from(letter - range.start).unwrap_or_default();
            let mut add = |sign| hash = append((times(hash, BASE) + offset) % PRIME, sign);
            let between = self.between(letter);
            // What is directly before a word belongs to it, as in `!stored` and `"^a"`; the rest to what is before.
            let mut ends = between.char_indices().rev();
            let edge = ends.find(|(_, it)| it.is_whitespace() || ",;{".contains(*it));
            let edge = edge.map_or(between.len(), |(at, it)| at + it.len_utf8());
            let part = match letter {
                0 => 0..between.len(),
                _ if letter == range.start => edge..between.len(),
                _ if letter == range.end && letter < self.len() => 0..edge,
                _ => 0..between.len(),
            };
            let is_inner = letter > range.start && letter < range.end;
            for (at, sign) in between[part.clone()].char_indices() {
                let at = self.end(letter) + part.start + at;
                if self.means(at, sign, is_inner) {
                    add(sign);
                }
            }
            if letter < range.end && self.is_shouted(letter) {
                add('A');
            }
        }
        u32::try_from(hash & u64::from(u32::MAX)).unwrap_or_default()
    }

    /// Whether a sign is more than punctuation and markup.
    fn means(&self, at: usize, sign: char, is_inner: bool) -> bool {
        let rest = &self.plain[at + sign.len_utf8()..];
        let before = self.plain[..at].chars().next_back().unwrap_or('\n');
        let after = rest.chars().next().unwrap_or('\n');
        let within = before.is_alphanumeric() && after.is_alphanumeric();
        let closes = rest.starts_with(['"', '\'']) && !rest[1..].starts_with(char::is_alphanumeric);
        match sign {
            '=' | '<' | '>' | '&' | '^' | '$' | '%' | '~' | '?' | '/' | '←'..='⋿' => true,
            '!' => after != '[',
            '#' => after.is_alphanumeric(),
            '|' => before == '|' || after == '|',
            '+' | '*' => {
                let spaced = before.is_whitespace() && after.is_whitespace();
                let line = self.plain[..at].rsplit('\n').next().unwrap_or_default();
                let is_item = spaced && !is_inner && line.trim().is_empty();
                !is_item && (sign == '+' || spaced || within)
            }
            '-' | '.' => {
                // Emphasis may end or begin within a word, which may be broken behind a hyphen.
                let markup = ['`', '*', '_'];
                let before = self.plain[..at].trim_end_matches(markup);
                let after = rest.trim_start_matches(markup);
                let after = if sign == '-' && after.starts_with('\n') {
                    after.trim_start()
                } else {
                    after
                };
                let joins = after.starts_with(char::is_alphanumeric);
                joins && before.ends_with(char::is_alphanumeric)
                    || sign == '-' && (closes || rest.starts_with(char::is_numeric))
            }
            '_' => within || closes,
            _ => false,
        }
    }
}

/// The words that make a sentence normative.
pub(super) const KEYWORDS: [&str; 7] = [
    "MUST",
    "SHALL",
    "SHOULD",
    "MAY",
    "REQUIRED",
    "RECOMMENDED",
    "OPTIONAL",
];

/// Whether a sentence ends between this and the next letter.
fn is_end(before: &str, between: &str) -> bool {
    let bare = between.replace(['"', '\'', '`', '*', '_', ')', ']', '’', '”'], "");
    // Where the end of a line is lost, the mark of an item sticks to what is before.
    let bare = bare.replacen(".- ", ". ", 1);
    let mut pairs = bare.chars().zip(bare.chars().skip(1));
    let is_short = ["e.g", "i.e", "etc", "vs", "cf"].map(|it| before.ends_with(it));
    pairs.any(|(it, next)| ".!?".contains(it) && next.is_whitespace())
        && !(bare.starts_with('.') && is_short.contains(&true))
}

/// Whether nothing of a line goes on in the next: a heading, and a comment in code.
fn is_whole(line: &str) -> bool {
    line.trim_start().starts_with("//") || is_heading(line)
}

/// Whether a line is a heading: marked, numbered as in `6.3.4 Title`, or up to three words and nothing else.
fn is_heading(line: &str) -> bool {
    let line = line.trim_start_matches('}').trim();
    let title = line.trim_matches(['#', '*', '_', ' ']);
    let is_marked = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let is_bare = title.starts_with(char::is_uppercase)
        && title.split(' ').count() < 4
        && title.chars().all(|it| it.is_alphabetic() || it == ' ');
    is_marked || is_bare || is_numbered(title)
}

fn is_numbered(line: &str) -> bool {
    let (number, title) = line.split_once(' ').unwrap_or((line, ""));
    let mut parts = number.split('.');
    let is_number = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_digit());
    let first = parts.next().unwrap_or_default();
    let is_letter = first.len() == 1 && first.starts_with(|it: char| it.is_ascii_uppercase());
    number.contains('.')
        && (is_number(first) || is_letter)
        && parts.all(is_number)
        && title.starts_with(char::is_alphabetic)
        && !title.ends_with(['.', ';', ':', ','])
}

/// The text with blanks for what is markup alone: entities, breaks of lines in cells, the targets of links, fences, marks of quotes, and the numbers of items, which
/// become hyphens. Every byte stays where it is.
fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (name, sign) in ENTITIES {
        for (at, _) in text.match_indices(name) {
            bytes[at..at + name.len()].fill(b' ');
            bytes[at] = sign;
        }
    }
    for (at, _) in text.match_indices("](") {
        let line = text[at..].lines().next().unwrap_or_default();
        if let Some(end) = line.find(')') {
            bytes[at + 1..=at + end].fill(b' ');
        }
    }
    let mut from = 0;
    let mut before = "";
    for line in text.split_inclusive('\n') {
        blank(
            before,
            line.trim_end(),
            &mut bytes[from..from + line.trim_end().len()],
        );
        from += line.len();
        before = line;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

const ENTITIES: [(&str, u8); 8] = [
    ("<br>", b' '),
    ("<br/>", b' '),
    ("&lt;", b'<'),
    ("&gt;", b'>'),
    ("&amp;", b'&'),
    ("&quot;", b'"'),
    ("&#39;", b'\''),
    ("&nbsp;", b' '),
];

/// The same for a line, with the one before.
fn blank(before: &str, line: &str, bytes: &mut [u8]) {
    let body = line.trim_start_matches([' ', '\t', '>']);
    let indent = line.len() - body.len();
    bytes[..indent].fill(b' ');
    let is_rule = body.contains(['=', '~', '+']) && body.chars().all(|it| " =~+-|:".contains(it));
    if body.starts_with("```") || body.starts_with("~~~") || is_rule && body.len() > 2 {
        bytes.fill(b' ');
        return;
    }
    let number = body.trim_start_matches([' ', '}', '#', '*', '_']);
    let rest = number.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_open = before.matches('(').count() > before.matches(')').count();
    let is_item = (1..4).contains(&(number.len() - rest.len()))
        && (rest.starts_with('.') || rest.starts_with(')') && !is_open)
        && rest[1..].starts_with(char::is_whitespace);
    if is_item {
        let at = line.len() - number.len();
        bytes[at..=line.len() - rest.len()].fill(b' ');
        bytes[at] = b'-';
    }
}
