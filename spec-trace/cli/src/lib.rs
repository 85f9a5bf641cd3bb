//! Everything that holds two of {text, model, reference, recorded stream, implementation} against each other, as the
//! `countersign` command.
//!
//! Where to begin: [`commands`] has a module for each command; what they draw, render or serve stands beside it. Data flows
//! one way: text → clause → (model, reference) → comparison → report.

pub mod answer;
pub mod argued;
pub mod arguments;
pub mod commands;
pub mod differing;
#[cfg(feature = "explore")]
pub mod explorer;
pub mod findings;
pub mod formats;
pub mod links;
pub mod page;
pub mod parallel;
pub mod progress;
pub mod recorded;
pub mod report;
pub mod serve;
pub mod show;
pub mod spec_file;
pub mod table;
pub mod terminal;
pub mod verdicts;
pub mod worth;
