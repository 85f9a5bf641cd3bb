//! The spec of MCP-AQL.

mod book;
mod catalog;
mod search;
mod variants;
mod wire;
