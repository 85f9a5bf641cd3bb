//! What the rules are worth, for people.

use std::fmt::Write as _;

use countersign_model::facade::Rule;

use super::Worth;
use crate::commands::clauses::hanging;
use crate::table::{self, Align, grouped};

/// The narrowest name of a rule in the matrix.
const NAME: usize = 12;

/// The matrix, as many guarantees beside each other as fit into so many columns, and a legend of their numbers. A cell is the length
/// of the shortest run that breaks the guarantee without the rule; `else` that of what is no guarantee.
pub fn matrix(worth: &Worth, columns: usize) -> String {
    let names = worth
        .singles
        .iter()
        .map(|it| labelled(it.rule).chars().count());
    let name = names.max().unwrap_or(0).max(NAME);
    let fit = (columns.saturating_sub(name + 7) / 5).max(1);
    let mut text = String::new();
    let numbered: Vec<_> = (1..).zip(&worth.guarantees).collect();
    let mut bands: Vec<_> = numbered.chunks(fit).collect();
    if bands.is_empty() {
        // What is no guarantee has a column of its own.
        bands.push(&[]);
    }
    for (place, band) in bands.iter().enumerate() {
        let is_last = place + 1 == bands.len();
        let mut rows = vec![head(band.iter().map(|(number, _)| *number), is_last)];
        for single in &worth.singles {
            let cell =
                |length: Option<usize>| length.map_or_else(|| "·".to_owned(), |it| it.to_string());
            let cells = band.iter().map(|(_, it)| cell(single.length(&it.name)));
            let mut row = vec![labelled(single.rule)];
            row.extend(cells);
            row.extend(is_last.then(|| cell(single.otherwise())));
            rows.push(row);
        }
        let mut aligned = vec![Align::Left];
        aligned.resize(rows[0].len(), Align::Right);
        text += &table::render(&aligned, &rows);
        text.push('\n');
    }
    for (number, guarantee) in numbered {
        text += &hanging(&format!("{number:>4}  "), &guarantee.in_words());
    }
    text += "else  what else the text requires\n";
    text
}

/// A rule with its first clause, which is one of the protocol that the matrix is of: `honours-late 6.3.4-4`.
fn labelled(row: &Rule) -> String {
    let clause = row.clauses.first().copied().unwrap_or_default();
    let short = clause
        .split_once('-')
        .filter(|_| clause.matches('-').count() > 1);
    let clause = short.map_or(clause, |(_, short)| short);
    if row.name == clause {
        return clause.to_owned();
    }
    format!("{} {clause}", row.name).trim_end().to_owned()
}

fn head(numbers: impl Iterator<Item = usize>, is_last: bool) -> Vec<String> {
    let mut head = vec!["without".to_owned()];
    head.extend(numbers.map(|it| it.to_string()));
    head.extend(is_last.then(|| "else".to_owned()));
    head
}

/// For each guarantee the clauses that it states, and the rules whose loss alone breaks it.
pub fn carriers(worth: &Worth) -> String {
    let mut text = String::new();
    for guarantee in &worth.guarantees {
        let _ = writeln!(text, "{}", guarantee.in_words());
        text += &hanging("    states ", &guarantee.clauses.join(", "));
        let carriers = worth.carriers(guarantee);
        let named = carriers
            .iter()
            .map(|(row, steps)| format!("{} ({steps})", labelled(row)));
        let named: Vec<_> = named.collect();
        let said = if guarantee.is_broken {
            BROKEN.to_owned()
        } else if named.is_empty() {
            "no rule alone".to_owned()
        } else {
            named.join(", ")
        };
        text += &hanging("    ", &said);
    }
    text
}

/// What is said of a guarantee that no rule carries as the text is read.
pub const BROKEN: &str = "broken in this variant, with every rule in force";

/// How far each rule was searched: within so many steps, so many states. Of a rule without which there are no runs so long all were
/// looked at.
pub fn extent(worth: &Worth) -> String {
    let broken = || worth.singles.iter().map(|it| &it.broken);
    let steps = broken().map(|it| it.steps).max().unwrap_or(0);
    let least = broken().map(|it| it.states).min().unwrap_or(0);
    let most = broken().map(|it| it.states).max().unwrap_or(0);
    format!("within {steps} steps, {}", states([least, most]))
}

fn states([least, most]: [usize; 2]) -> String {
    if least == most {
        return format!("{} states", grouped(most as u64));
    }
    format!(
        "{} to {} states",
        grouped(least as u64),
        grouped(most as u64)
    )
}
