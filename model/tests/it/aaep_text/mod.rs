//! The text of AAEP: its clauses, its readings, its guarantees, its search.

mod catalog;
mod envelope;
mod search;
mod text;
mod waiting;
mod wire;
mod words;
mod work;
