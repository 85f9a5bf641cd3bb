//! The pending actions of the Agents API: the contract of a ledger that holds a tool call until somebody has decided.
//!
//! [`text`] is the contract as one function, [`wire`] reads and writes it as the driver protocol has it.
//!
//! What is not in it: how far the contract suits other products (PA-12), which no run shows.

pub mod text;
pub mod wire;
