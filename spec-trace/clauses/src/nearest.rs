//! Which ids somebody may have meant who wrote one that does not exist.

use std::cmp::Reverse;

use crate::{Clause, ClauseId};

/// How many ids are suggested.
const SUGGESTIONS: usize = 3;

/// The ids that look most like `wanted`, the likeliest first.
///
/// Whoever names a section without an ordinal is offered the first clauses of that section.
pub(super) fn ids(wanted: &str, clauses: &[Clause]) -> Vec<ClauseId> {
    let wanted = wanted.to_ascii_uppercase();
    let section = format!("{wanted}-");
    let mut ids: Vec<&ClauseId> = clauses.iter().map(|clause| &clause.id).collect();
    if ids.iter().any(|id| id.as_str().starts_with(&section)) {
        ids.retain(|id| id.as_str().starts_with(&section));
    } else {
        // Of what is equally near, the same section is likelier than another; a stable sort keeps the order of the
        // documents among the rest.
        ids.sort_by_cached_key(|id| {
            let id = id.as_str();
            (distance(&wanted, id), Reverse(common_start(&wanted, id)))
        });
    }
    ids.into_iter().take(SUGGESTIONS).cloned().collect()
}

/// What follows an error message: the suggestions, in words.
pub(super) fn hint(nearest: &[ClauseId]) -> String {
    match nearest {
        [] => String::new(),
        [only] => format!("; did you mean {only}?"),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(ClauseId::as_str).collect();
            format!("; did you mean {} or {last}?", first.join(", "))
        }
    }
}

/// How many characters two texts begin with alike.
fn common_start(left: &str, right: &str) -> usize {
    let pairs = left.chars().zip(right.chars());
    pairs.take_while(|(left, right)| left == right).count()
}

/// How many characters have to be put in, taken out or replaced to turn one text into the other (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(wanted: &str) -> Vec<String> {
        ids(wanted, crate::all())
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_slip_of_the_finger_finds_the_clause_that_was_meant() {
        assert_eq!(suggested("AAEP-6.3.4-44")[0], "AAEP-6.3.4-4");
        assert_eq!(suggested("aaep-6.8.4")[0], "AAEP-6.8-4");
    }

    #[test]
    fn a_section_without_an_ordinal_finds_its_first_clauses() {
        assert_eq!(suggested("AAEP-6.3.5"), ["AAEP-6.3.5-1", "AAEP-6.3.5-2"]);
    }

    #[test]
    fn the_distance_counts_insertions_deletions_and_replacements() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
