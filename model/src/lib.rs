//! The rules of agent confirmation protocols, each text as one function, checked exhaustively.
//!
//! This crate is one reading of the texts; it shares nothing with the reference implementation, which is another. For each text a
//! function gives what a call obliges a party to put out. From it follow every conforming party ([`engine::world`]) and the checker
//! of whatever another party puts out ([`engine::checker`]).
//!
//! Each protocol is a module; [`engine`] is what all texts share, and [`facade`] what commands ask of them.

pub mod aaep;
pub mod bounds;
pub mod checker;
pub mod compare;
pub mod departures;
pub mod engine;
pub mod facade;
pub mod judge;
pub mod mcp_aql;
pub mod numbers;
pub mod pending_action;
pub mod readings;
pub mod wire;
