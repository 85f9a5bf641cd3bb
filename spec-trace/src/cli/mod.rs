//! The command line: arguments in; text or JSON on stdout, progress and errors on stderr, and an exit status.
//!
//! Each command is a module with an `Args` struct and a `run` that returns what to print and how it went. Nothing below
//! this module prints to stdout or ends the process.

mod answer;
pub mod progress;
pub mod table;

pub use answer::{Answer, Format, Status};
