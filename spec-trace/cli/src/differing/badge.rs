//! A report in a badge, as an endpoint of shields.io has it.

use serde_json::{Value, json};

/// The badge of a report that `diff` has written as JSON, of this verdict, with so many clauses upheld and violated.
pub fn badge(protocol: &str, verdict: &str, upheld: usize, violated: usize) -> Value {
    let (message, color) = match verdict {
        "holds" => (format!("{upheld} clauses upheld"), "brightgreen"),
        "violates" => (format!("{violated} clauses violated"), "red"),
        _ => (format!("inconclusive, {upheld} clauses upheld"), "yellow"),
    };
    json!({
        "schemaVersion": 1, "label": format!("countersign {protocol}"), "message": message, "color": color,
    })
}
