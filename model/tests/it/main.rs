//! The tests of the models, a module for each protocol.

mod aaep;
mod common;
mod form;
mod mcp_aql;
mod pending_action;
