//! The confirmation tokens of MCP-AQL, the text as one function: what a gatekeeper does with a call that needs a token.
//!
//! Read `spec` beside the text; its table of checks is section 4.1.

pub mod account;
pub mod alphabet;
mod catalog;
mod describe;
pub mod environment;
pub mod guarantees;
pub mod readings;
pub mod spec;
pub mod wire;

pub use spec::McpAql;

/// The clauses of the text as constants, made of the rows of the registry (`spec-trace/clauses/`) by `build.rs`.
pub mod clauses {
    include!(concat!(env!("OUT_DIR"), "/mcp_aql.rs"));
}
