//! The clauses without a test, as `spec-trace/TRACE.md` has them.

use countersign_clauses::Clause;

const TRACE: &str = include_str!("../../../../TRACE.md");

/// What an empty cell of the page holds.
pub const NONE: &str = "–";

/// Where a row has the test, and where the reason, behind the clause.
const TEST: usize = 4;
const REASON: usize = 7;

/// Why a clause has no test, in a word; [`NONE`] where nothing says it, and `None` where it has one.
pub fn why_untested(clause: &Clause) -> Option<&'static str> {
    let row = TRACE.lines().find_map(|line| {
        let row = line.strip_prefix("| ")?.strip_prefix(clause.id.as_str())?;
        row.strip_prefix(" | ")?.strip_suffix(" |")
    });
    let cells: Vec<&str> = row.unwrap_or_default().split(" | ").collect();
    let cell = |at: usize| cells.get(at).copied().unwrap_or(NONE);
    (cell(TEST) == NONE).then(|| cell(REASON))
}
