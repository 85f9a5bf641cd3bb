//! The clauses that the judge of each protocol can name.

use std::sync::LazyLock;

use countersign_model::aaep::Aaep;
use countersign_model::facade::engine::Catalog;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;

use crate::spoken::Spoken as _;

/// The clauses that the judge of this protocol names, in the order of the documents; none of a protocol that there is not.
///
/// `diff` gives a verdict on each of them.
pub fn judged(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "aaep" => &AAEP,
        "mcp-aql" => &MCP_AQL,
        "pending-action" => &PENDING_ACTION,
        _ => &[],
    }
}

/// Why a run never exercises a clause that the judge names, if there is a reason.
pub fn masked(clause: &str) -> Option<&'static str> {
    let all = [Aaep::UNSEEN, McpAql::UNSEEN, PendingAction::UNSEEN];
    let mut all = all.into_iter().flatten();
    all.find_map(|(masked, reason)| (*masked == clause).then_some(*reason))
}

static AAEP: LazyLock<Vec<&'static str>> = LazyLock::new(of_text::<Aaep>);
static MCP_AQL: LazyLock<Vec<&'static str>> = LazyLock::new(of_text::<McpAql>);
static PENDING_ACTION: LazyLock<Vec<&'static str>> = LazyLock::new(of_text::<PendingAction>);

/// The clauses of a text without those of which nobody sees that they are left out.
fn of_text<P: Catalog>() -> Vec<&'static str> {
    let clauses = P::CLAUSES.iter().filter(|it| it.free.is_none());
    clauses.map(|it| it.id).collect()
}
