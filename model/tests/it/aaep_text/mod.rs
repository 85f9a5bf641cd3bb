//! The text of AAEP: its clauses and its readings.

mod text;
