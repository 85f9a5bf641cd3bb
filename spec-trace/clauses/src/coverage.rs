//! How far the clauses are covered: the figures under the tables, and the text of `coverage.txt`.
//!
//! The one thing to know: the committed text names kinds of links and neither files nor lines, so it changes only when
//! a clause gains or loses a kind of evidence.

use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::links::{Kind, Links};
use crate::{Clause, all};

/// How many clauses of a selection have which kind of link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All of them.
    pub clauses: usize,
    /// Those with a guard or a property in the model.
    pub modelled: usize,
    /// Those that a property states.
    pub stated: usize,
    /// Those that the reference executor carries out.
    pub carried_out: usize,
    /// Those that a monitor judges in recorded streams.
    pub judged: usize,
    /// Those that a test or fuzz target shows.
    pub tested: usize,
    /// Those that a fuzz target would see broken.
    pub fuzzed: usize,
    /// Those that nothing can check, with a reason.
    pub not_checkable: usize,
    /// Those without any link.
    pub gaps: usize,
}

impl Tally {
    /// Counts a selection of clauses.
    pub fn of<'a>(links: &Links, clauses: impl IntoIterator<Item = &'a Clause>) -> Self {
        let mut tally = Self::default();
        for clause in clauses {
            let has = |kind| usize::from(links.count(clause, kind) > 0);
            tally.clauses += 1;
            tally.modelled += has(Kind::Guard).max(has(Kind::Property));
            tally.stated += has(Kind::Property);
            tally.carried_out += has(Kind::Reference);
            tally.judged += has(Kind::Monitor);
            tally.tested += has(Kind::Test).max(has(Kind::Fuzz));
            tally.fuzzed += has(Kind::Fuzz);
            tally.not_checkable += has(Kind::Exception);
            tally.gaps += usize::from(!links.is_covered(clause));
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} clauses: {} stated by a property, {} carried out by the reference, {} judged in traces, \
             {} tested, {} not checkable, {} open",
            self.clauses,
            self.stated,
            self.carried_out,
            self.judged,
            self.tested,
            self.not_checkable,
            self.gaps
        )
    }
}

/// Clauses that follow one another and stem from one document.
pub fn by_document<'a>(clauses: &[&'a Clause]) -> Vec<Vec<&'a Clause>> {
    clauses
        .chunk_by(|one, next| one.document == next.document)
        .map(<[&Clause]>::to_vec)
        .collect()
}

/// The kinds of links that a clause has: a column for each kind, with its letter or a dot.
pub fn kinds(links: &Links, clause: &Clause) -> String {
    Kind::ALL
        .into_iter()
        .map(|kind| {
            if links.count(clause, kind) > 0 {
                kind.letter()
            } else {
                '.'
            }
        })
        .collect()
}

const HEADING: &str = "\
Which clause has which kind of evidence. Generated; to refresh after a change:

    UPDATE_COVERAGE=1 cargo test -p countersign-cli --test clauses

A test counts where it saw the clause at work (evidence.txt, which .ci/evidence --update records) or was seen to fail
without it (faults/). That it names the clause counts for nothing: countersign clauses ID shows it as a mention.

g guard of the model   p property of the model   r reference executor   m monitor of recorded streams
t test                 f fuzz target             v test vector          x not checkable (exceptions.toml)
";

/// The text of `coverage.txt`.
pub fn text(links: &Links) -> String {
    let clauses: Vec<&Clause> = all().iter().collect();
    let documents = by_document(&clauses);
    let mut text = format!("{HEADING}\n{}", totals(links, &documents));
    for document in documents {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "\n{} ({})\n",
            document[0].document, document[0].protocol
        );
        for clause in document {
            let _ = writeln!(
                text,
                "{:<15}{:<12}{}",
                clause.id,
                clause.level,
                kinds(links, clause)
            );
        }
    }
    text
}

/// A line of figures for each document, and one for all.
fn totals(links: &Links, documents: &[Vec<&Clause>]) -> String {
    let mut text = format!(
        "{:<42}{:>8}{:>9}{:>9}{:>7}{:>7}{:>11}{:>7}\n",
        "", "clauses", "modelled", "executed", "judged", "tested", "excepted", "open"
    );
    let mut line = |title: &str, tally: Tally| {
        let _ = writeln!(
            text,
            "{title:<42}{:>8}{:>9}{:>9}{:>7}{:>7}{:>11}{:>7}",
            tally.clauses,
            tally.modelled,
            tally.carried_out,
            tally.judged,
            tally.tested,
            tally.not_checkable,
            tally.gaps
        );
    };
    for document in documents {
        line(
            &document[0].document,
            Tally::of(links, document.iter().copied()),
        );
    }
    line("all", Tally::of(links, all()));
    text
}
