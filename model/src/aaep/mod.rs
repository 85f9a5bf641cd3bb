//! The confirmation protocol of AAEP: chapter 6, the parts of appendix A that bear on it, and the reply schema.
//!
//! Where to read: [`words`] and [`state`] name the things, [`action`] what can happen, [`rules`] what is forbidden,
//! [`step`] what follows, [`properties`] what is held to be true, [`readings`] where the text can be taken in more than
//! one way, [`bounds`] how far the search goes.

pub mod action;
pub mod bounds;
pub mod message;
pub mod output;
pub mod properties;
pub mod readings;
pub mod rules;
pub mod state;
pub mod step;
pub mod words;
