//! AAEP, the text as one function: the confirmation protocol of agents, chapter by chapter.

pub mod account;
pub mod alphabet;
pub mod clauses;
pub mod readings;
