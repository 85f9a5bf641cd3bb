//! Everything that holds two of {text, model, reference, recorded trace, implementation} against each other, and the
//! `countersign` command around it.
//!
//! Data flows one way: text → clause → (model, reference) → comparison → report.

pub mod cli;
pub mod lint;
pub mod schema;
pub mod serve;
