//! The text of AAEP: its clauses, its readings, its guarantees, its search.

mod search;
mod text;
