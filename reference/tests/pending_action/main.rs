//! The ledger of pending actions seen from outside: what goes in, what comes out, what it remembers.

mod acceptance;
mod durability;
mod host;
mod invariants;
mod names;
mod proposing;
mod stage;
mod transitions;
mod validation;
mod wire;
