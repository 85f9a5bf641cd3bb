//! The tests of the reference executors, a module for each protocol.

mod aaep;
mod mcp_aql;
mod pending_action;
