//! The spec of MCP-AQL.

mod book;
mod catalog;
mod facade;
mod freedoms;
mod mutations;
mod search;
mod variants;
mod wire;

use crate::common::{changes, mutation};
