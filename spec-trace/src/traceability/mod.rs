//! `countersign report`: every clause with what states it, carries it out, judges and tests it, as a page and as JSON.
//!
//! Nothing is found out here: the links are derived in [`crate::clause::links`], and this lays them out. The same sources
//! give the same bytes.

pub mod command;
mod html;
