//! AAEP, the text as one function: the confirmation protocol of agents, chapter by chapter.
//!
//! Read `spec` beside the text. So far it has confirmations and restart.

pub mod account;
pub mod alphabet;
pub mod clauses;
pub mod environment;
pub mod guarantees;
pub mod readings;
pub mod spec;

pub use spec::Aaep;
