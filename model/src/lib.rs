//! The rules of agent confirmation protocols as models that are checked exhaustively.
//!
//! The one thing to know: this crate is one reading of the text, and it knows nothing of the executor, which is another.
//! A step function gives the state that follows and the outputs that are required and optional; the search and
//! the comparison with the executor use that one function. What is right is for the judge to say, whoever put it out.
//!
//! Each protocol is a module that says in its `mod.rs` what is its own; what stands beside them is what all need and none
//! owns: [`specification`] first, where a protocol becomes a model.

pub mod aaep;
pub mod aaep_text;
pub mod ablation;
pub mod bounds;
pub mod checker;
pub mod compare;
pub mod departures;
pub mod engine;
pub mod facade;
mod graph;
pub mod judge;
pub mod judged;
mod judgements;
mod lookup;
pub mod mcp_aql;
pub mod network;
mod numbered;
pub mod numbers;
pub mod outputs;
mod packed;
pub mod pending_action;
pub mod properties;
pub mod readings;
pub mod rules;
pub mod sequence;
pub mod specification;
mod steps;
mod successors;
pub mod table;
mod text;
pub mod time;
pub mod wire;
pub mod words;
