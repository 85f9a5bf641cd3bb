//! How an outcome is shown: to people, to build servers and to code hosts.
//!
//! What must not be shown is taken out before ([`super::report::Outcome::redact`]); nothing here looks at a stream.

use super::report::Outcome;
use crate::answer::{Answer, FindingsFormat};

pub mod junit;
pub mod sarif;
pub mod text;

/// The outcome in that format.
pub fn render(outcome: &Outcome, format: FindingsFormat, terminal: text::Terminal) -> Answer {
    let status = outcome.status();
    match format {
        FindingsFormat::Text => Answer {
            text: text::render(outcome, terminal),
            status,
        },
        FindingsFormat::Json => Answer::json(&outcome.to_json(), status),
        FindingsFormat::Junit => Answer {
            text: junit::render(outcome),
            status,
        },
        FindingsFormat::Sarif => Answer::json(&sarif::render(outcome), status),
    }
}
