//! Pending actions, the text as one function: the contract of a ledger that holds a tool call until somebody has decided.
//!
//! Read `spec` beside the text; [`wire`] reads and writes its words as the driver protocol has them.

pub mod account;
pub mod alphabet;
mod catalog;
pub mod clauses;
mod describe;
pub mod environment;
pub mod guarantees;
pub mod readings;
pub mod spec;
pub mod wire;

pub use spec::PendingAction;
