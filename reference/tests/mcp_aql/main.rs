//! The gatekeeper of confirmation tokens seen from outside: what goes in, what comes out, what it remembers.

mod asking;
mod binding;
mod ending;
mod invariants;
mod keeping;
mod signed;
mod stage;
mod validation;
mod wire;
