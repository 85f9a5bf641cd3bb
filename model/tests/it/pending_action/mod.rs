//! The text of pending actions: its clauses, its guarantees, its search and its wire.

mod facade;
mod freedoms;
mod guarantees;
mod mutations;
mod search;
mod text;
mod wire;

use crate::common::{changes, mutation};
