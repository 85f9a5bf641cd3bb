//! What is asked of every text.

pub mod changes;
pub mod explained;
pub mod facade;
pub mod kept;
pub mod mutation;
pub mod rows;
pub mod search;
pub mod wire;
