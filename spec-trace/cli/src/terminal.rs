//! What text for people is shown on: how many columns it has, and whether it shows colours.

use std::io::{self, IsTerminal};

use miette::GraphicalTheme;
use textwrap::core::display_width;

use crate::show::words::between_words;

/// The widest a message of `lint` gets before it is folded, in columns, where nobody says how many there are.
const WIDTH: usize = 110;

/// So many columns there are at least; on fewer, nothing can be shown.
const NARROWEST: usize = 20;

/// What the text is shown on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether it shows colours, and its user wants them.
    pub is_coloured: bool,
    /// How many columns it has. Unknown for a file or a pipe, where only what is long by itself is folded.
    pub columns: Option<usize>,
}

/// What is broken, what is open, and what is good, as a terminal is told.
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const FAINT: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

impl Terminal {
    /// A file or a pipe.
    pub const PLAIN: Self = Self {
        is_coloured: false,
        columns: None,
    };

    /// What standard output is. `NO_COLOR` and `COLUMNS` are wishes to be heard.
    pub fn of_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let wanted = std::env::var("COLUMNS").ok();
        let wanted = wanted.and_then(|it| it.parse().ok()).filter(|it| *it > 0);
        let size = || terminal_size::terminal_size_of(io::stdout());
        let own = || {
            size()
                .map(|(width, _)| usize::from(width.0))
                .filter(|it| *it > 0)
        };
        Self {
            is_coloured: io::stdout().is_terminal() && !unwanted,
            columns: wanted.or_else(own).map(|it: usize| it.max(NARROWEST)),
        }
    }

    pub(crate) fn theme(self) -> GraphicalTheme {
        if self.is_coloured {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        }
    }

    pub(crate) fn width(self) -> usize {
        self.at_most(WIDTH)
    }

    /// Its columns, and no more than so many.
    pub fn at_most(self, most: usize) -> usize {
        self.columns.map_or(most, |columns| columns.min(most))
    }

    /// The text on lines of its columns; what comes behind the first stands in by two.
    pub(crate) fn folded(self, text: &str) -> String {
        let Some(columns) = self.columns else {
            return text.to_owned();
        };
        let options = between_words(columns).subsequent_indent("  ");
        textwrap::fill(text, options)
    }

    /// A text for people as it is shown: lines that are too wide are broken between words, and what is broken, open or good has its colour.
    pub fn fitted(self, text: &str) -> String {
        let lines = text
            .split('\n')
            .map(|line| self.coloured(self.broken(line)));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// A file of settings as it is shown: its comments are faint.
    pub fn settings(self, text: &str) -> String {
        if !self.is_coloured {
            return text.to_owned();
        }
        let lines = text.split('\n').map(|line| {
            if line.starts_with('#') {
                format!("{FAINT}{line}{PLAIN}")
            } else {
                line.to_owned()
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The line on lines of its columns; what comes behind the first stands in by two more than that.
    fn broken(self, line: &str) -> String {
        let Some(columns) = self.columns.filter(|it| display_width(line) > *it) else {
            return line.to_owned();
        };
        let own = line.len() - line.trim_start_matches(' ').len();
        let indent = " ".repeat((own + 2).min(columns / 2));
        // A first word that is too wide would leave its line to the blanks before it.
        let (blanks, text) = line.split_at(own);
        let options = between_words(columns)
            .initial_indent(blanks)
            .subsequent_indent(&indent);
        let filled = textwrap::fill(text, options.break_words(false));
        let lines = filled.lines().map(|line| cut(line, columns, &indent));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The line in the colour of what it says.
    fn coloured(self, line: String) -> String {
        let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
        let colour = if !self.is_coloured {
            return line;
        } else if begins(&[" ✗ ", "BROKEN ", "counterexample to ", "FAIL "]) {
            RED
        } else if begins(&[
            "NOT REACHED ",
            "not broken ",
            "not reached ",
            "INCONCLUSIVE ",
        ]) {
            YELLOW
        } else if begins(&["PASS "]) {
            GREEN
        } else {
            return in_part(line);
        };
        format!("{colour}{line}{PLAIN}")
    }
}

/// The line with its first word that tells how grave something is in the colour that `lint` has for that.
fn in_part(line: String) -> String {
    for (words, colour) in [
        (GRAVE, RED),
        (LESS_GRAVE, YELLOW),
        (OF_USE, CYAN),
        (GOOD, GREEN),
    ] {
        if let Some((at, word)) = words.iter().find_map(|it| Some((line.find(it)?, it))) {
            let (before, behind) = (&line[..at], &line[at + word.len()..]);
            return format!("{before}{colour}{word}{PLAIN}{behind}");
        }
    }
    line
}

/// How grave something is, as the columns of a list have it, or the head of what explains it.
const GRAVE: &[&str] = &[
    "  harm  ",
    "  harm, ",
    "CHANGED (",
    "its words have MOVED",
    "its section is GONE",
    "  MUST NOT  ",
    "  MUST  ",
    "   FAILS   ",
    "  breaks ",
    ", fails under ",
    "  fails under ",
];
const LESS_GRAVE: &[&str] = &[
    "  interoperability  ",
    "  interoperability, ",
    "NOT compared",
    "not compared, ",
    "Nothing states, carries out or tests",
    "    no rule alone",
    "nothing that was found",
    "   INCONCLUSIVE   ",
    "  SHOULD NOT  ",
    "  SHOULD  ",
];
const OF_USE: &[&str] = &["  editorial, ", "  MAY  ", "  INFO  "];
const GOOD: &[&str] = &["   holds   ", "  keeps every guarantee"];

/// What is too wide by itself, such as a name or a path, on lines that end behind one of its joints.
fn cut(line: &str, columns: usize, indent: &str) -> String {
    let mut lines = Vec::new();
    let mut rest = line.to_owned();
    while display_width(&rest) > columns {
        let begun = rest.len() - rest.trim_start_matches(' ').len();
        let mut room = columns;
        let fits = rest.char_indices().take_while(|(_, it)| {
            let width = display_width(it.encode_utf8(&mut [0; 4]));
            let fits = width <= room;
            room = room.saturating_sub(width);
            fits
        });
        let joints = fits.filter(|(at, it)| *at > begun && "_/:.,=-".contains(*it));
        let Some((at, joint)) = joints.last() else {
            break;
        };
        let behind = rest.split_off(at + joint.len_utf8());
        lines.push(rest);
        rest = format!("{indent}{behind}");
    }
    lines.push(rest);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_wide_is_broken_between_words_and_stands_in() {
        let narrow = Terminal {
            is_coloured: false,
            columns: Some(20),
        };
        let text = "short\n  one two three four five\n\nends\n";
        let fitted = "short\n  one two three four\n    five\n\nends\n";
        assert_eq!(narrow.fitted(text), fitted);
        assert_eq!(Terminal::PLAIN.fitted(text), text);
        let long = format!("{} end", "x".repeat(30));
        assert_eq!(narrow.fitted(&long), format!("{}\n  end", "x".repeat(30)));
    }

    #[test]
    fn what_is_broken_open_or_good_has_its_colour_where_colours_are_shown() {
        let coloured = Terminal {
            is_coloured: true,
            columns: None,
        };
        for (line, colour) in [
            (" ✗  6  t=0  it arrives", RED),
            ("BROKEN   6.1-1 it runs", RED),
            ("FAIL  1 of 2 properties broken", RED),
            ("NOT REACHED   it runs", YELLOW),
            ("INCONCLUSIVE  2 properties not broken", YELLOW),
            ("PASS  2 properties hold", GREEN),
        ] {
            assert_eq!(coloured.fitted(line), format!("{colour}{line}{PLAIN}"));
            assert_eq!(Terminal::PLAIN.fitted(line), line);
        }
        let other = "    1  t=0  agent starts";
        assert_eq!(coloured.fitted(other), other);
        let file = "# A comment\nkey = 1\n";
        assert_eq!(
            coloured.settings(file),
            format!("{FAINT}# A comment{PLAIN}\nkey = 1\n")
        );
        assert_eq!(Terminal::PLAIN.settings(file), file);
    }

    /// As `lint` has it: what violates is red, what warns is yellow, advice is cyan.
    #[test]
    fn how_grave_something_is_has_its_colour_and_the_rest_of_the_line_has_none() {
        let coloured = Terminal {
            is_coloured: true,
            columns: None,
        };
        for (before, word, behind, colour) in [
            ("AAEP-F2 ", "  harm  ", "          gap  Its title", RED),
            ("AAEP-F1", "  interoperability, ", "gap", YELLOW),
            ("AAEP-E1", "  editorial, ", "example", CYAN),
            ("PA-8         ", "  MUST NOT  ", "It runs", RED),
            ("PA-6         ", "  SHOULD  ", "  P  It is told", YELLOW),
            ("PA-9         ", "  MAY  ", "     It stays short", CYAN),
            ("aaep", "   FAILS   ", "2 hold", RED),
            ("aaep", "   INCONCLUSIVE   ", "2 hold", YELLOW),
            ("aaep", "   holds   ", "2 hold", GREEN),
            ("    after", "  breaks ", "PA-8 it runs once", RED),
            ("    after", "  keeps every guarantee", "", GREEN),
            (
                "  0069.json  passes under a",
                ", fails under ",
                "b: PA-8",
                RED,
            ),
            (
                "Allowed by one: ",
                "nothing that was found",
                ", in runs",
                YELLOW,
            ),
            (
                "PA-6  SHOULD    ",
                "CHANGED (",
                "other words), read it again",
                RED,
            ),
        ] {
            let line = format!("{before}{word}{behind}");
            let shown = format!("{before}{colour}{word}{PLAIN}{behind}");
            assert_eq!(coloured.fitted(&line), shown);
            assert_eq!(Terminal::PLAIN.fitted(&line), line);
        }
    }

    #[test]
    fn a_name_that_is_too_wide_is_cut_behind_its_joints() {
        let narrow = Terminal {
            is_coloured: false,
            columns: Some(20),
        };
        let text = "  a_name_of_many_words_in_a_row src/a.rs:1";
        let fitted = "  a_name_of_many_\n    words_in_a_row\n    src/a.rs:1";
        assert_eq!(narrow.fitted(text), fitted);
    }
}
