//! The AAEP producer seen from outside: what goes in, what comes out, what it remembers.

mod asking;
mod invariants;
mod names;
mod reply;
mod stage;
mod transitions;
mod validation;
mod wire;
