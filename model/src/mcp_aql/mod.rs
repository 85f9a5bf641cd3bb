//! The confirmation tokens of MCP-AQL.
//!
//! Where to read: [`words`], [`message`] and [`state`] name the things, [`action`] what can happen, [`rules`] what is
//! forbidden, [`step`] what follows, [`readings`] where the text can be taken in more than one way, [`bounds`] how far the
//! search goes.

pub mod action;
pub mod bounds;
pub mod message;
pub mod output;
pub mod readings;
pub mod rules;
pub mod state;
pub mod step;
pub mod words;
