//! A run as a Mermaid `sequenceDiagram`, to be pasted into Markdown.
//!
//! Mermaid takes most punctuation for grammar somewhere; its way out is `#35;`, the number of a character. So what is not a
//! letter, a digit or one of a few signs that mean nothing to it is written as a number.

use std::fmt::Write as _;

use super::run::{Run, Step};
use super::words::{folded, shortened_within};

/// A text of a message or note, in columns and in lines.
const COLUMNS: usize = 56;
const LINES: usize = 4;

/// Signs that mean nothing within a text.
const PLAIN: &str = ".,:!?_=-()/'→✗…“”’";

/// The drawing, with a line's end behind it.
pub fn render(run: &Run) -> String {
    let mut text = "sequenceDiagram\n".to_owned();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "    accTitle: {}", escaped(&run.title));
    let _ = writeln!(text, "    accDescr: {}", escaped(&run.description()));
    for (index, name) in run.participants.iter().enumerate() {
        let _ = writeln!(
            text,
            "    participant p{index} as {}",
            escaped(&shortened_within(name, COLUMNS))
        );
    }
    for (index, step) in run.steps.iter().enumerate() {
        message(run, index, step, &mut text);
    }
    text
}

fn message(run: &Run, index: usize, step: &Step, text: &mut String) {
    let number = step.number(index);
    let mark = step
        .weight(run)
        .map_or(String::new(), |weight| format!("{} ", weight.mark()));
    let (from, to) = (step.from, step.to.unwrap_or(step.from));
    let said = broken(&format!("{mark}{number} {}", step.text));
    let _ = writeln!(text, "    p{from}->>p{to}: {said}");
    let asides = step.asides(run).join(", ");
    if !asides.is_empty() {
        let _ = writeln!(text, "    Note over p{to}: {}", broken(&asides));
    }
    for finding in step.findings.iter().map(|index| &run.findings[*index]) {
        let told = broken(&finding.told());
        let _ = writeln!(text, "    Note over p{from},p{to}: {told}");
    }
}

/// The text as Mermaid shows it, on a few lines; never empty.
fn broken(text: &str) -> String {
    let lines: Vec<String> = folded(text, COLUMNS, LINES)
        .iter()
        .map(|line| escaped(line))
        .collect();
    if lines.is_empty() {
        "#160;".to_owned()
    } else {
        lines.join("<br/>")
    }
}

/// The text as Mermaid shows it, on one line.
fn escaped(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    // The word ends a block.
    if word.eq_ignore_ascii_case("end") {
        return format!("#{};{}", u32::from(word.as_bytes()[0]), &word[1..]);
    }
    let mut escaped = String::new();
    for character in word.chars() {
        if character.is_alphanumeric() || PLAIN.contains(character) {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "#{};", u32::from(character));
        }
    }
    // Lines in which these words come before a colon lose a semicolon before they are read, and with it what follows.
    escaped
        .replace("style", "#115;tyle")
        .replace("classDef", "#99;lassDef")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_mermaid_is_written_as_a_number() {
        assert_eq!(
            escaped("a: b;#1 %% <b>"),
            "a: b#59;#35;1 #37;#37; #60;b#62;"
        );
        assert_eq!(escaped("the End"), "the #69;nd");
        assert_eq!(
            escaped("my_style:x<y classDef:#"),
            "my_#115;tyle:x#60;y #99;lassDef:#35;"
        );
        assert_eq!(broken(""), "#160;");
        assert_eq!(broken(&"word ".repeat(12)).matches("<br/>").count(), 1);
    }
}
