//! The AAEP producer seen from outside: what goes in, what comes out, what it remembers.

mod asking;
mod clarification;
mod invariants;
mod limits;
mod modified;
mod names;
mod reply;
mod stage;
mod time;
mod transitions;
mod validation;
mod wire;
mod work;
