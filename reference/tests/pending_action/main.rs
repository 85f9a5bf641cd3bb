//! The ledger of pending actions seen from outside: what goes in, what comes out, what it remembers.

mod acceptance;
mod durability;
mod host;
mod invariants;
mod names;
mod proposing;
#[path = "../../../spec-trace/clauses/tests/recording/mod.rs"]
mod recording;
mod stage;
mod transitions;
mod validation;
mod wire;
