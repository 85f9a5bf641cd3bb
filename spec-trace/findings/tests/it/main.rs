//! The integration tests of this crate, one module a subject.

mod clashes;
mod shown;
