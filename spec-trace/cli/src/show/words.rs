//! Text for the eye: what can be shown of foreign text, how wide it is, and how it is cut and folded.

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
    let mut folded = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && folded.len() + 1 < lines && width(rest) > columns {
        let most = beginning(rest, columns);
        // A word that is wider than a line is broken wherever the line ends, after one character at least.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let at_end = rest[most.len()..].starts_with(' ');
        let end = if at_end {
            Some(most.len())
        } else {
            most.rfind(' ')
        };
        let end = end.filter(|end| *end > 0).unwrap_or(most.len()).max(first);
        folded.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        folded.push(shortened(rest, columns));
    }
    folded
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
