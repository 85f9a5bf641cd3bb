//! Whoever changes one output of the spec's producer is found, or has done what the text leaves free.

use super::mutations::{assert_listed, changed};
use countersign_model::engine::party::ByVariant;
use countersign_model::engine::protocol::Variant;
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::account::Account;

#[test]
fn a_changed_output_of_the_producer_is_found_or_free_and_breaks_no_guarantee() {
    let producer = ByVariant::<McpAql>::new(Variant::default(), Account::default());
    assert_listed(&changed(&producer));
}
