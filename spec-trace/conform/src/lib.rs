//! Implementations held against the texts: the references on every transition of a search, and whatever speaks the driver protocol in
//! runs of the suite and at random.

pub mod aaep;
pub mod checked;
pub mod driven;
pub mod harness;
pub mod implementation;
pub mod mcp_aql;
mod near;
pub mod pending_action;
pub mod search;
mod shrinking;
pub mod side_by_side;
pub mod spoken;
pub mod steps;
pub mod suite;
