//! The spec of MCP-AQL.

mod book;
mod search;
mod variants;
mod wire;
