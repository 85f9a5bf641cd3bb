//! What counts as a clause id in running text.

/// How the ids of each document family begin.
const FAMILIES: [&str; 3] = ["AAEP-", "AQL-", "PA-"];

/// The ids cited in a text, each with the number of line breaks before it.
///
/// What is only nearly an id is among them, so that a slip gets noticed: an id without its ordinal, or several that are
/// drawn together with a slash.
pub(super) fn ids(text: &str) -> Vec<(String, usize)> {
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(line, text)| ids_of_line(text).map(move |id| (id.to_owned(), line)))
        .collect()
}

fn ids_of_line(text: &str) -> impl Iterator<Item = &str> {
    let mut end_of_last = 0;
    text.char_indices().filter_map(move |(start, _)| {
        let inside_a_word = text[..start].chars().next_back().is_some_and(joins);
        if start < end_of_last || inside_a_word {
            return None;
        }
        let id = id_at_start(&text[start..])?;
        end_of_last = start + id.len();
        Some(id)
    })
}

/// Whether a character before a family's name makes that the end of a longer word, as in `MCP-AQL-1`.
fn joins(character: char) -> bool {
    character.is_alphanumeric() || character == '-' || character == '_'
}

/// The id that the text begins with. It has a digit in it, or else the name of a document would count.
fn id_at_start(text: &str) -> Option<&str> {
    let family = FAMILIES.iter().find(|family| text.starts_with(*family))?;
    let part = |character: char| {
        character.is_ascii_uppercase() || character.is_ascii_digit() || ".-".contains(character)
    };
    let end = text
        .find(|character| !part(character))
        .unwrap_or(text.len());
    let id = text[..end].trim_end_matches(['.', '-']);
    let has_a_digit = id.contains(|character: char| character.is_ascii_digit());
    let own = id.get(family.len()..).unwrap_or_default();
    // A finding on the text is named by its number behind an F, or an E where it is editorial.
    let number = own.strip_prefix(['F', 'E']).unwrap_or_default();
    let is_finding = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    (has_a_digit && !own.is_empty() && !is_finding)
        .then(|| &text[..id.len() + drawn_together(&text[id.len()..])])
}

/// The length of a further ordinal that a slash appends to an id.
fn drawn_together(after: &str) -> usize {
    let Some(more) = after.strip_prefix('/') else {
        return 0;
    };
    let digits = more.chars().take_while(char::is_ascii_digit).count();
    if digits == 0 { 0 } else { 1 + digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        ids(text).into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn ids_of_every_document_are_found_in_running_text() {
        assert_eq!(
            found("see AAEP-6-1, (AAEP-6.3.4-4), `AAEP-REPLY-12`; AAEP-A.7.4-1: AQL-1.2-1. PA-14."),
            [
                "AAEP-6-1",
                "AAEP-6.3.4-4",
                "AAEP-REPLY-12",
                "AAEP-A.7.4-1",
                "AQL-1.2-1",
                "PA-14"
            ]
        );
    }

    #[test]
    fn other_words_are_no_ids() {
        assert_eq!(
            found("AAEP-FACTS.md MCP-AQL-1 AAEP AQL- PA-RISC XPA-1 aaep-6-1 AAEP-F12 PA-F1 PA-E1."),
            [""; 0]
        );
    }

    #[test]
    fn near_misses_are_found_as_they_are_written() {
        assert_eq!(
            found("AAEP-6.3.4 and AAEP-6.3.4-4/5"),
            ["AAEP-6.3.4", "AAEP-6.3.4-4/5"]
        );
        assert_eq!(
            found("AAEP-6.3.4-4/AAEP-6.3.4-5"),
            ["AAEP-6.3.4-4", "AAEP-6.3.4-5"]
        );
    }

    #[test]
    fn each_id_comes_with_its_line() {
        assert_eq!(
            ids("none\nPA-1\r\nPA-2"),
            [("PA-1".to_owned(), 1), ("PA-2".to_owned(), 2)]
        );
    }
}
