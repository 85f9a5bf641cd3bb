//! The integration tests of this crate, one module a subject.

mod corpora;
mod limits;
mod outside;
mod party;
mod process;
mod search;
mod suite;
mod wide;
mod wide_aaep;
mod wide_mcp_aql;
mod wide_pending_action;
