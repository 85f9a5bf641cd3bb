//! Pending actions, the text as one function: the contract of a ledger that holds a tool call until somebody has decided.
//!
//! Read `spec` beside the text; [`wire`] reads and writes its words as the driver protocol has them.

pub mod account;
pub mod alphabet;
mod catalog;
mod describe;
pub mod environment;
pub mod guarantees;
pub mod readings;
pub mod spec;
pub mod wire;

pub use spec::PendingAction;

/// The clauses of the text as constants, made of the rows of the registry (`spec-trace/clauses/`) by `build.rs`.
pub mod clauses {
    include!(concat!(env!("OUT_DIR"), "/pending_action.rs"));
}
