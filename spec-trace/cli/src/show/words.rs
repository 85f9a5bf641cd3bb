//! Text for the eye: what can be shown of foreign text, how wide it is, and how it is cut and folded.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, wrap};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use countersign_lint::place;

/// The same on one line, with what would reach the terminal, turn the text around, hide in it or be no XML shown as �.
pub fn printable(text: &str) -> String {
    let mut before = ' ';
    text.chars()
        .map(|character| {
            let shown = match character {
                '\n' | '\r' | '\t' => ' ',
                '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
                // Scripts and emoji need them; behind a plain letter they only hide.
                '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}' if before.is_ascii() => {
                    '\u{FFFD}'
                }
                _ => place::printable(character),
            };
            before = character;
            shown
        })
        .collect()
}

/// How many columns of a terminal the text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The beginning of the text, no wider than `columns`; what was cut is shown as an ellipsis.
pub fn shortened(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut short = beginning(text, columns.saturating_sub(1))
        .trim_end()
        .to_owned();
    short.push('…');
    short
}

/// The beginning and the end of the text, no wider than `columns`, with an ellipsis for what lies between.
pub fn shortened_within(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let start = beginning(text, room / 2);
    let end: String = text.chars().rev().collect();
    let end = beginning(&end, room - width(start));
    let end = end.chars().rev();
    start.chars().chain(['…']).chain(end).collect()
}

/// The text with each name in it, such as a token, no wider than `columns`.
pub fn with_short_names(text: &str, columns: usize) -> String {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    let mut short = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_of_name) {
        let (before, behind) = rest.split_at(start);
        let end = behind.find(|it| !is_of_name(it)).unwrap_or(behind.len());
        short.push_str(before);
        short.push_str(&shortened_within(&behind[..end], columns));
        rest = &behind[end..];
    }
    short + rest
}

/// As many of the first characters as there is room for.
fn beginning(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    for (place, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > columns {
            return &text[..place];
        }
    }
    text
}

/// The text on at most `lines` lines of at most `columns`, broken between words where that can be; the last line says by
/// an ellipsis that there is more.
pub fn folded(text: &str, columns: usize, lines: usize) -> Vec<String> {
    let mut rest = text.trim();
    let mut folded = Vec::new();
    for line in wrap(rest, between_words(columns))
        .iter()
        .take(lines.saturating_sub(1))
    {
        rest = rest[line.len()..].trim_start();
        folded.push((**line).to_owned());
    }
    if !rest.is_empty() {
        folded.push(shortened(rest, columns));
    }
    folded.retain(|line| !line.is_empty());
    folded
}

/// How text is broken on lines of so many columns: at spaces alone, and as late as can be.
pub fn between_words(columns: usize) -> Options<'static> {
    Options::new(columns)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_the_terminal_or_turns_the_text_is_not_shown() {
        assert_eq!(
            printable("a\x1b[2Jb\u{202E}c\0d\ne"),
            "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}d e"
        );
        assert_eq!(printable("日本 é →"), "日本 é →");
    }

    #[test]
    fn what_is_not_seen_does_not_hide_and_what_joins_letters_stays() {
        for hidden in [
            '\u{200B}',
            '\u{00AD}',
            '\u{2060}',
            '\u{FEFF}',
            '\u{3164}',
            '\u{2028}',
            '\u{E0041}',
            '\u{200D}',
            '\u{FE0F}',
        ] {
            assert_eq!(
                printable(&format!("send{hidden}_email")),
                "send\u{FFFD}_email",
                "{hidden:?}"
            );
        }
        for joined in ["می\u{200C}خواهم", "👩\u{200D}💻", "❤\u{FE0F}"] {
            assert_eq!(printable(joined), joined);
        }
    }

    #[test]
    fn text_is_cut_only_beyond_its_columns_and_wide_characters_take_two() {
        for (columns, expected) in [
            (5, "日本…"),
            (6, "日本語"),
            (7, "日本語"),
            (4, "日…"),
            (1, "…"),
        ] {
            assert_eq!(shortened("日本語", columns), expected, "{columns}");
        }
    }

    #[test]
    fn what_is_cut_within_keeps_both_ends() {
        for (columns, expected) in [(7, "abcdefg"), (6, "ab…efg"), (5, "ab…fg"), (1, "…")] {
            assert_eq!(shortened_within("abcdefg", columns), expected, "{columns}");
        }
        assert_eq!(shortened_within("日本語", 5), "日…語");
        assert_eq!(
            with_short_names("[s] asks: “日本 abcdefg”, abcdefgh", 7),
            "[s] asks: “日本 abcdefg”, abc…fgh"
        );
    }

    #[test]
    fn lines_break_between_words_and_never_grow_too_wide() {
        assert_eq!(folded("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(folded("one two three", 8, 9), ["one two", "three"]);
        assert_eq!(folded("one two three", 6, 9), ["one", "two", "three"]);
        assert_eq!(folded("one two three", 7, 1), ["one tw…"]);
        assert_eq!(folded("日本語日本語", 4, 2), ["日本", "語…"]);
        assert_eq!(folded("語語", 1, 5).len(), 2);
        assert!(folded("  ", 4, 2).is_empty());
    }
}
