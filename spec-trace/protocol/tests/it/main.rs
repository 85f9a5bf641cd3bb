//! The integration tests of this crate, one module a subject.

mod messages;
mod survival;
