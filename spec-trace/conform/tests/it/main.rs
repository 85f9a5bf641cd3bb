//! The integration tests of this crate, one module a subject.

mod compared;
mod corpora;
mod limits;
mod literal_edges;
mod party;
mod process;
mod random_runs;
mod search;
mod suite;
mod wide;
mod wide_aaep;
mod wide_mcp_aql;
mod wide_pending_action;
