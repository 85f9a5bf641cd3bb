//! Everything that holds two of {text, model, reference, recorded trace, implementation} against each other, and the
//! `countersign` command around it.
//!
//! Data flows one way: text → clause → (model, reference) → comparison → report.

pub mod answer;
pub mod clause;
pub mod cli;
pub mod conform;
pub mod explorer;
pub mod formats;
pub mod harness;
pub mod json;
pub mod lines;
pub mod lint;
pub mod page;
pub mod report;
pub mod schema;
pub mod serve;
pub mod show;
pub mod store;
pub mod traceability;
