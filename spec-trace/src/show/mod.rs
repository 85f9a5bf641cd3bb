//! `countersign show`: a run as a sequence diagram, for the terminal, for a page of Markdown, as a picture, or as a page to
//! step through (AAEP-A.10-1).
//!
//! The one thing to know: whatever the file holds becomes one intermediate form, [`run::Run`], and each renderer knows that
//! form alone. Data flows one way: [`load`] tells what the file is, [`stream`], [`document`] and [`kept`] make runs of it,
//! [`text`], [`mermaid`], [`svg`] and [`html`] draw them.
//!
//! The participants are lanes. A step is a row: an arrow from lane to lane, and beside the lanes what it says; so that long
//! prose never lies across the drawing.

pub mod command;
mod document;
mod events;
pub mod html;
mod kept;
pub mod load;
pub mod mermaid;
pub mod model_run;
mod redact;
pub mod run;
pub mod stream;
pub mod svg;
pub mod text;
pub mod words;
