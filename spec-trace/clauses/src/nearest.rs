//! Which ids somebody may have meant who wrote one that does not exist.

use std::cmp::Reverse;

use strsim::levenshtein;

/// How many ids are suggested.
const SUGGESTIONS: usize = 3;

/// The ids that look most like `wanted`, the likeliest first.
///
/// Whoever names a section without an ordinal is offered the first clauses of that section; so is who leaves out which document it is of.
pub fn ids<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_ascii_uppercase();
    let mut ids: Vec<&str> = known.collect();
    let is_in = |id: &str| {
        id == wanted
            || id
                .strip_prefix(&wanted)
                .is_some_and(|it| it.starts_with('-'))
    };
    let is_meant = |id: &str| is_in(id) || id.split_once('-').is_some_and(|(_, rest)| is_in(rest));
    if ids.iter().any(|id| is_meant(id)) {
        ids.retain(|id| is_meant(id));
    } else {
        // Of what is equally near, the same section is likelier than another; a stable sort keeps the order of the
        // documents among the rest.
        ids.sort_by_cached_key(|id| (levenshtein(&wanted, id), Reverse(common_start(&wanted, id))));
    }
    ids.truncate(SUGGESTIONS);
    ids
}

/// What follows an error message: the suggestions, in words.
pub fn hint(nearest: &[impl ToString]) -> String {
    match nearest {
        [] => String::new(),
        [only] => format!("; did you mean {}?", only.to_string()),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!(
                "; did you mean {} or {}?",
                first.join(", "),
                last.to_string()
            )
        }
    }
}

/// How many characters two texts begin with alike.
fn common_start(left: &str, right: &str) -> usize {
    let pairs = left.chars().zip(right.chars());
    pairs.take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(wanted: &str) -> Vec<String> {
        let known = crate::all().iter().map(|clause| clause.id.as_str());
        ids(wanted, known).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_slip_of_the_finger_finds_the_clause_that_was_meant() {
        assert_eq!(suggested("AAEP-6.3.4-44")[0], "AAEP-6.3.4-4");
        assert_eq!(suggested("aaep-6.8.4")[0], "AAEP-6.8-4");
    }

    #[test]
    fn a_section_without_an_ordinal_finds_its_first_clauses() {
        assert_eq!(suggested("AAEP-6.3.5"), ["AAEP-6.3.5-1", "AAEP-6.3.5-2"]);
        assert_eq!(suggested("6.3.5"), ["AAEP-6.3.5-1", "AAEP-6.3.5-2"]);
        assert_eq!(suggested("6.3.5-2"), ["AAEP-6.3.5-2"]);
    }
}
