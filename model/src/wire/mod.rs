//! What every map between the driver protocol and an alphabet reads: JSON by its meaning, times, texts, and numbers for
//! them.

pub mod json;
pub mod names;
pub mod time;

/// Whether nobody sees anything of a text: white space, control characters and characters without width.
pub fn is_blank(text: &str) -> bool {
    let is_invisible = |it: char| {
        it.is_whitespace()
            || it.is_control()
            || matches!(
                it,
                '\u{ad}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{202a}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{feff}'
            )
    };
    text.chars().all(is_invisible)
}

/// Whether a text goes on in another line.
pub fn has_line_break(text: &str) -> bool {
    text.contains([
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ])
}
