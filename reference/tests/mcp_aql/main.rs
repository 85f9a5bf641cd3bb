//! The gatekeeper of confirmation tokens seen from outside: what goes in, what comes out, what it remembers.

mod asking;
mod audits;
mod binding;
mod ending;
mod invariants;
mod keeping;
mod names;
mod signed;
mod stage;
mod validation;
mod wire;
