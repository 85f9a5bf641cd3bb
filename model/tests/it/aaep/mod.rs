//! The text of AAEP: its clauses, its readings, its guarantees, its search and its wire.

mod catalog;
mod envelope;
mod facade;
mod freedoms;
mod mutations;
mod search;
mod text;
mod waiting;
mod wire;
mod words;
mod work;

use crate::common::{changes, mutation};
