//! The integration tests of this crate, one module a subject.

mod clocks;
mod corpora;
mod envelopes;
mod expected;
mod growing;
mod lint;
mod lint_rewritten;
mod producer;
mod transcripts;
