//! What all protocols share: the form of a spec, the checker that holds a party to it, and the search.
//!
//! Read `protocol` first: a text is one function, [`protocol::Protocol::call`]. What it owes is an `obligation`; `world` meets
//! obligations with outputs, and pays them as a conforming party does; `checker` follows every explanation of one party.

pub mod checker;
mod choice;
pub mod clause;
pub mod fact;
pub mod model;
pub mod obligation;
pub mod party;
pub mod protocol;
pub mod world;
