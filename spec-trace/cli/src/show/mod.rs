//! `countersign show`: a run as a sequence diagram, for the terminal, for a page of Markdown, as a picture, or as a page to
//! step through (AAEP-A.10-1).
//!
//! The one thing to know: whatever the file holds becomes one intermediate form, [`run::Run`], and each renderer knows that
//! form alone. Data flows one way: [`load`] tells what the file is, [`stream`], [`transcript`] and [`document`] make runs of it,
//! [`finding`] makes those that show a finding, and [`text`], [`mermaid`], [`svg`] and [`html`] draw them.
//!
//! The participants are lanes. A step is a row: an arrow from lane to lane, and beside the lanes what it says; so that long
//! prose never lies across the drawing.

pub(crate) mod document;
mod events;
pub mod finding;
pub mod html;
pub mod load;
pub mod mermaid;
pub mod model_run;
mod redact;
pub mod run;
pub mod stream;
pub mod svg;
pub mod text;
mod transcript;
pub mod words;

use clap::ValueEnum;
use run::Run;

/// As what a run is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// For the terminal.
    #[default]
    Text,
    /// The intermediate form, for programs.
    Json,
    /// A Mermaid `sequenceDiagram`.
    Mermaid,
    /// A picture.
    Svg,
    /// A page to step through.
    Html,
}

impl Drawing {
    /// The drawing of a run.
    pub fn of(self, run: &Run) -> String {
        self.of_one(std::slice::from_ref(run), 0)
    }

    /// The drawing of the run at that position. A page has the others to pick.
    pub fn of_one(self, runs: &[Run], chosen: usize) -> String {
        let run = &runs[chosen];
        match self {
            Self::Text => text::render(run),
            Self::Json => format!("{:#}\n", serde_json::json!(run)),
            Self::Mermaid => mermaid::render(run),
            Self::Svg => svg::render(run),
            Self::Html => html::render(runs, chosen),
        }
    }
}
