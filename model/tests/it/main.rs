//! The tests of the models, a module for each protocol.

mod aaep;
mod common;
mod mcp_aql;
mod pending_action;
#[path = "../../../spec-trace/clauses/tests/recording/mod.rs"]
mod recording;
