//! Takes Rust source apart, just far enough to tell comments and string literals from code.
//!
//! By hand: `proc_macro2` tells where a token stands only with a feature that every derive macro would then be built with,
//! and all that uses one: 103 of 309 crates once with it, for a build of the command, and once without, for one of
//! the reference.

/// A piece of source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `//` or `/*` and what follows; `inner` if it documents what it stands in (`//!`, `/*!`).
    Comment {
        text: String,
        line: usize,
        inner: bool,
    },
    /// A string literal of any kind, without its quotes, escapes as written.
    Literal { text: String, line: usize },
    /// A keyword, a name or a number.
    Word { text: String, line: usize },
    /// Any other character; a character literal counts as its first quote.
    Mark(char),
}

/// The tokens of a source in order. Lines are counted from 1.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        rest: source,
        line: 1,
    };
    std::iter::from_fn(|| lexer.next_token()).collect()
}

struct Lexer<'source> {
    rest: &'source str,
    line: usize,
}

impl<'source> Lexer<'source> {
    fn next_token(&mut self) -> Option<Token> {
        self.advance(self.rest.len() - self.rest.trim_start().len());
        let first = self.rest.chars().next()?;
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            return Some(self.comment(end));
        }
        if self.rest.starts_with("/*") {
            return Some(self.comment(block_comment_length(self.rest)));
        }
        if let Some(quotes) = Quotes::opening(self.rest) {
            return Some(self.literal(&quotes));
        }
        if is_word(first) {
            let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
            let line = self.line;
            let text = self.advance(end).to_owned();
            return Some(Token::Word { text, line });
        }
        let length = if first == '\'' {
            character_length(self.rest)
        } else {
            first.len_utf8()
        };
        self.advance(length);
        Some(Token::Mark(first))
    }

    fn comment(&mut self, length: usize) -> Token {
        let line = self.line;
        let text = self.advance(length).to_owned();
        let inner = text.starts_with("//!") || text.starts_with("/*!");
        Token::Comment { text, line, inner }
    }

    fn literal(&mut self, quotes: &Quotes) -> Token {
        let line = self.line;
        self.advance(quotes.opening_length);
        let text = self.advance(quotes.text_length(self.rest)).to_owned();
        self.advance(quotes.closing().len().min(self.rest.len()));
        Token::Literal { text, line }
    }

    /// Leaves `length` bytes behind and gives them back.
    fn advance(&mut self, length: usize) -> &'source str {
        let (passed, rest) = self.rest.split_at(length);
        self.line += passed.matches('\n').count();
        self.rest = rest;
        passed
    }
}

/// How a string literal begins, which tells how it ends.
struct Quotes {
    opening_length: usize,
    /// In a raw literal a backslash is only a backslash.
    raw: bool,
    hashes: usize,
}

impl Quotes {
    /// The quotes of the literal that the text begins with, if it begins with one: plain, byte, C, or raw.
    fn opening(text: &str) -> Option<Self> {
        ["", "b", "c", "r", "br", "cr"]
            .into_iter()
            .find_map(|prefix| {
                let after = text.strip_prefix(prefix)?;
                let raw = prefix.ends_with('r');
                let hashes = if raw {
                    after.len() - after.trim_start_matches('#').len()
                } else {
                    0
                };
                after[hashes..].starts_with('"').then_some(Self {
                    opening_length: prefix.len() + hashes + 1,
                    raw,
                    hashes,
                })
            })
    }

    fn closing(&self) -> String {
        format!("\"{}", "#".repeat(self.hashes))
    }

    /// The length of the literal's text, where `text` begins behind the opening quote.
    fn text_length(&self, text: &str) -> usize {
        if self.raw {
            return text.find(&self.closing()).unwrap_or(text.len());
        }
        let mut escaped = false;
        for (index, character) in text.char_indices() {
            if character == '"' && !escaped {
                return index;
            }
            escaped = character == '\\' && !escaped;
        }
        text.len()
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The length of the block comment that the text begins with; block comments nest.
fn block_comment_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut index = 0;
    while index < text.len() {
        let rest = &text[index..];
        if rest.starts_with("/*") {
            depth += 1;
            index += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            index += 2;
            if depth == 0 {
                return index;
            }
        } else {
            index += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of the character literal that the text begins with, or 1 where the quote begins a lifetime.
fn character_length(text: &str) -> usize {
    let inside = &text[1..];
    if inside.starts_with('\\') {
        // Behind the backslash stands at least one character, which may itself be a quote.
        return inside
            .char_indices()
            .skip(2)
            .find(|&(_, character)| character == '\'')
            .map_or(text.len(), |(index, _)| index + 2);
    }
    let mut characters = inside.chars();
    match (characters.next(), characters.next()) {
        (Some(character), Some('\'')) => character.len_utf8() + 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(source: &str) -> Vec<String> {
        tokens(source)
            .into_iter()
            .filter_map(|token| match token {
                Token::Literal { text, .. } => Some(text),
                Token::Comment { .. } | Token::Word { .. } | Token::Mark(_) => None,
            })
            .collect()
    }

    #[test]
    fn every_kind_of_literal_ends_where_rust_ends_it() {
        assert_eq!(literals(r#"f("a\"b", "c")"#), [r#"a\"b"#, "c"]);
        assert_eq!(literals(r#"f("a\\", "b")"#), [r"a\\", "b"]);
        assert_eq!(literals(r#"f(r"a\", "b")"#), [r"a\", "b"]);
        assert_eq!(literals("f(r#\"a\"b\"#, b\"c\")"), ["a\"b", "c"]);
        assert_eq!(literals("\"unfinished"), ["unfinished"]);
    }

    #[test]
    fn quotes_in_comments_and_characters_open_no_literal() {
        assert_eq!(literals("// \"no\n\"yes\""), ["yes"]);
        assert_eq!(literals("/* \"no /* \"no\" */ \"no */ \"yes\""), ["yes"]);
        assert_eq!(literals("['\"', '\\'', '\\\\'] \"yes\""), ["yes"]);
        assert_eq!(
            literals("fn f<'a>(x: &'a str) -> &'a str { \"yes\" }"),
            ["yes"]
        );
    }

    #[test]
    fn lines_are_counted_through_comments_and_literals() {
        let lines: Vec<usize> = tokens("/* a\nb */ \"c\nd\" // e\n// f")
            .into_iter()
            .filter_map(|token| match token {
                Token::Comment { line, .. } | Token::Literal { line, .. } => Some(line),
                Token::Word { .. } | Token::Mark(_) => None,
            })
            .collect();
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn a_raw_name_is_no_literal() {
        let first = Token::Word {
            text: "r".to_owned(),
            line: 1,
        };
        assert_eq!(tokens("r#type")[0], first);
    }
}
