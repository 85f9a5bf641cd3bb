//! The AAEP producer seen from outside: what goes in, what comes out, what it remembers.

mod asking;
mod clarification;
mod invariants;
mod limits;
mod modified;
mod names;
#[path = "../../../spec-trace/clauses/tests/recording/mod.rs"]
mod recording;
mod reply;
mod stage;
mod time;
mod transitions;
mod validation;
mod wire;
mod work;
