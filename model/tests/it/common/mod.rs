//! What is asked of every text.

pub mod changes;
pub mod facade;
pub mod rows;
pub mod search;
pub mod wire;
