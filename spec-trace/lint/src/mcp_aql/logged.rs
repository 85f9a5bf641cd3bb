//! The log of 6.4, as far as a transcript shows it.

use super::{Monitor, response, rules};
use crate::transcript::{Exchange, Fields, Found};

const EVENTS: [&str; 4] = [
    "TOKEN_ISSUED",
    "TOKEN_VALIDATED",
    "TOKEN_REJECTED",
    "TOKEN_REVOKED",
];

impl Monitor {
    /// AQL-6.4-1: each entry says what it has to, and what is done with a token is logged.
    pub(super) fn log_shape(&self, exchange: &Exchange<'_>, found: &mut Found) {
        if !self.shows.has("audit") {
            return;
        }
        let outputs = exchange.outputs().unwrap_or_default();
        let entries: Vec<&Fields<'_>> = outputs
            .iter()
            .filter(|it| it.kind == "audit")
            .map(|it| &it.fields)
            .collect();
        // A warning tells of no token.
        let tells_of_token = |entry: &&&Fields<'_>| is_of_token(entry);
        for entry in entries.iter().filter(tells_of_token) {
            found.touch(&rules::ENTRY_SHAPE);
            if let Some(what) = lacks(entry) {
                let message =
                    format!("{what} of an entry of the log is missing, or another than it may be");
                found.accuse(&rules::ENTRY_SHAPE, exchange, "", None, message);
            }
        }
        let Some(wanted) = wanted(exchange) else {
            return;
        };
        found.touch(&rules::NOT_LOGGED);
        let is_logged = entries
            .iter()
            .any(|entry| entry.text("event").as_deref() == Some(wanted));
        if !is_logged {
            let message =
                format!("no entry {wanted} of the log tells of what was done with the token");
            found.accuse(&rules::NOT_LOGGED, exchange, "", None, message);
        }
    }
}

impl Monitor {
    /// AQL-5.1-6: a tolerance of more than 60 seconds is warned of in the log.
    pub(super) fn warns(&self, exchange: &Exchange<'_>, found: &mut Found) {
        let seconds = exchange.request.number("clock_skew_tolerance_seconds");
        if !self.shows.has("audit") || seconds.is_none_or(|seconds| seconds <= 60) {
            return;
        }
        found.touch(&rules::NOT_WARNED);
        let mut outputs = exchange.outputs().unwrap_or_default().iter();
        if !outputs.any(|it| it.kind == "audit" && !is_of_token(&it.fields)) {
            let message = "clock_skew_tolerance_seconds is above 60, and the log does not warn";
            found.accuse(&rules::NOT_WARNED, exchange, "", None, message.to_owned());
        }
    }
}

/// Whether an entry tells of a token.
fn is_of_token(entry: &Fields<'_>) -> bool {
    let event = entry.text("event").unwrap_or_default();
    event.starts_with("TOKEN_") || entry.has("token_id")
}

/// The first member that an entry lacks. A call that got no token has none to name, nor has what revokes signed tokens, of which nothing
/// is kept.
pub(crate) fn lacks(entry: &Fields<'_>) -> Option<&'static str> {
    let event = entry.text("event").unwrap_or_default();
    let outcome = entry.text("outcome").unwrap_or_default();
    let names_none = event == "TOKEN_ISSUED" && outcome == "failure" || event == "TOKEN_REVOKED";
    let missing = [
        ("timestamp", entry.time("timestamp").is_none()),
        ("event", !EVENTS.contains(&&*event)),
        (
            "token_id",
            !names_none && entry.text("token_id").is_none_or(|it| it.is_empty()),
        ),
        ("operation", entry.text("operation").is_none()),
        ("adapter_name", entry.text("adapter_name").is_none()),
        ("outcome", !["success", "failure"].contains(&&*outcome)),
    ];
    missing
        .into_iter()
        .find_map(|(name, is_missing)| is_missing.then_some(name))
}

/// The entry that an exchange has to leave behind.
fn wanted(exchange: &Exchange<'_>) -> Option<&'static str> {
    let outputs = exchange.outputs().unwrap_or_default();
    let runs = outputs.iter().any(|it| it.kind == "perform");
    let code = response(exchange).and_then(|it| it.object("error")?.text("code"));
    let has_token = exchange.request.has("confirmation_token");
    match (&*exchange.op, code.as_deref()) {
        ("call", Some("CONFIRMATION_REQUIRED")) => Some("TOKEN_ISSUED"),
        (
            "call",
            Some("TOKEN_INVALID" | "TOKEN_EXPIRED" | "TOKEN_ALREADY_USED" | "TOKEN_SCOPE_MISMATCH"),
        ) if has_token => Some("TOKEN_REJECTED"),
        ("call", None) if runs && has_token && is_gated(exchange) => Some("TOKEN_VALIDATED"),
        _ => None,
    }
}

fn is_gated(exchange: &Exchange<'_>) -> bool {
    super::account::Call::of(&exchange.request).is_some_and(|call| call.is_gated())
}
