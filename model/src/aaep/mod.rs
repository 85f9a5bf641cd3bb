//! AAEP, the text as one function: the confirmation protocol of agents, chapter by chapter.
//!
//! Read `spec` beside the text; [`wire`] reads and writes its words as the driver protocol has them.

pub mod account;
pub mod alphabet;
mod catalog;
mod describe;
pub mod envelope;
pub mod environment;
pub mod guarantees;
pub mod readings;
pub mod spec;
pub mod wire;

pub use spec::Aaep;

/// The clauses of the text as constants, made of the rows of the registry (`spec-trace/clauses/`) by `build.rs`.
#[expect(clippy::doc_markdown, reason = "sentences of the registry")]
pub mod clauses {
    include!(concat!(env!("OUT_DIR"), "/aaep.rs"));
}
