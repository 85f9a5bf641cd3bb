//! What the benches of this package have in common: executors of each protocol with much to remember.
//!
//! Run them with `cargo bench -p countersign-benches`. Figures of one run can be compared with each other; figures of
//! two machines, or of two days on a shared one, cannot.

pub mod aaep;
pub mod mcp_aql;
