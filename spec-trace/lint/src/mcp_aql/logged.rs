//! The log of 6.4, as far as a transcript shows it.

use super::account::{Call, End, Token};
use super::{Monitor, response, rules};
use crate::transcript::{ENTRY, Exchange, Fields, Found};

/// Entries may be written in whole seconds.
const COARSE: i64 = 1_000;

const EVENTS: [&str; 4] = [
    "TOKEN_ISSUED",
    "TOKEN_VALIDATED",
    "TOKEN_REJECTED",
    "TOKEN_REVOKED",
];

impl Monitor {
    /// AQL-6.4-1: each entry says what it has to, and what is done with a token is logged.
    pub(super) fn log_shape(&mut self, exchange: &Exchange<'_>, found: &mut Found) {
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
            if let Some(name) = lacks(entry) {
                let wanted = wanted_of(name);
                let message = match entry.raw(name) {
                    None => format!("{name} of an entry of the log is missing"),
                    Some(raw) => {
                        format!("{name} of an entry of the log is {raw}, and {wanted} is expected")
                    }
                };
                found.accuse(&rules::ENTRY_SHAPE, exchange, "", None, message);
            } else if exchange.op != ENTRY {
                self.unread_times.take("timestamp", exchange.line, entry);
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
    /// AQL-6.4-1: the entry of what was done with a token tells it as it was: which token, of which operation and adapter, when, and with
    /// what outcome. An entry may name what was called, or what the token is for.
    pub(super) fn log_truth(&mut self, exchange: &Exchange<'_>, call: &Call, found: &mut Found) {
        let Some(wanted) = wanted(exchange).filter(|_| self.shows.has("audit")) else {
            return;
        };
        let issued = || {
            let details = response(exchange)?.object("error")?.object("details")?;
            details.text("confirmation_token")
        };
        let name = if wanted == "TOKEN_ISSUED" {
            issued()
        } else {
            call.token.clone()
        };
        let token = name.as_ref().and_then(|name| self.account.tokens.get(name));
        let told = Told {
            event: wanted,
            operations: [Some(&call.operation), token.map(|it| &it.call.operation)],
            adapters: [Some(&call.adapter), token.map(|it| &it.call.adapter)],
        };
        let id = self.is_told(exchange, &told, token, found);
        self.tells_it_apart(exchange, (name.as_ref(), id.as_ref()), found);
        self.is_told_once(exchange, wanted);
        if let Some(name) = name.filter(|_| wanted == "TOKEN_ISSUED")
            && let Some(token) = self.account.tokens.get_mut(&name)
        {
            token.id.clone_from(&id);
            if let Some(id) = id {
                self.account.named.entry(id).or_default().insert(name);
            }
        }
    }

    /// AQL-6.4-1: two tokens that are good at one time have two names in the log.
    fn tells_it_apart(
        &self,
        exchange: &Exchange<'_>,
        (name, id): (Option<&String>, Option<&String>),
        found: &mut Found,
    ) {
        let latest = self.account.latest;
        let named = id.and_then(|id| self.account.named.get(id));
        let others = named.into_iter().flatten();
        let others = others.filter(|other| Some(*other) != name);
        let mut tokens = others.filter_map(|other| self.account.tokens.get(other));
        if let Some(token) = tokens.find(|it| it.id.as_ref() == id && it.is_live(latest)) {
            let message = format!(
                "token_id of the entry of the log is that of another token, which was issued on line {}",
                token.line
            );
            found.accuse(&rules::ENTRY_UNTRUE, exchange, "", None, message);
        }
    }

    /// AQL-6.4-1: each thing that is done with a token has its entry. Two of one thing may tell of two steps of it.
    fn is_told_once(&mut self, exchange: &Exchange<'_>, event: &'static str) {
        let outputs = exchange.outputs().unwrap_or_default().iter();
        let runs = outputs.filter(|it| it.kind == "perform").count();
        let told = entries(exchange, event).into_iter();
        let told = told.filter(|it| it.text("outcome").as_deref() == Some("success"));
        if told.count() > runs.max(1) {
            self.told_again
                .get_or_insert((exchange.place.line, event, 0))
                .2 += 1;
        }
    }

    /// AQL-6.4-1: a token that is given back leaves an entry, which names what the token was for, or what was asked.
    pub(super) fn revocation_is_told(
        &self,
        exchange: &Exchange<'_>,
        token: &Token,
        found: &mut Found,
    ) {
        if !self.shows.has("audit") {
            return;
        }
        found.touch(&rules::NOT_LOGGED);
        let event = "TOKEN_REVOKED";
        if entries(exchange, event).is_empty() {
            let message =
                format!("no entry {event} of the log tells of what was done with the token");
            return found.accuse(&rules::NOT_LOGGED, exchange, "", None, message);
        }
        let asked = exchange.request.text("adapter");
        let asked = asked.unwrap_or_else(|| "default".to_owned());
        let told = Told {
            event,
            // Which of the two words is asked for in the text is left open.
            operations: [None, None],
            adapters: [Some(&token.call.adapter), Some(&asked)],
        };
        self.is_told(exchange, &told, Some(token), found);
    }

    /// AQL-5.3-1, AQL-5.3-2: a token may be revoked whenever something asks for it; the log tells which. Where it does not say so of one
    /// of its own, it may be any token of that operation and adapter.
    pub(super) fn revoked(&mut self, exchange: &Exchange<'_>) {
        for entry in entries(exchange, "TOKEN_REVOKED") {
            if entry.text("outcome").as_deref() != Some("success") {
                continue;
            }
            let names = |it: &Token| it.id.is_some() && it.id == entry.text("token_id");
            let named = self.account.tokens.values().filter(|it| names(it)).count();
            if named == 1 {
                self.account.end(End::Revoked, exchange.line, names);
                continue;
            }
            let (operation, adapter) = (entry.text("operation"), entry.text("adapter_name"));
            self.account.end(End::Perhaps, exchange.line, |it| {
                let is_of_call = Some(&it.call.operation) == operation.as_ref()
                    && Some(&it.call.adapter) == adapter.as_ref();
                names(it) || is_of_call && (it.id.is_none() || !entry.has("token_id"))
            });
        }
    }

    /// Whether one of the entries of that event is true; yields the name that it has for the token.
    fn is_told(
        &self,
        exchange: &Exchange<'_>,
        told: &Told<'_>,
        token: Option<&Token>,
        found: &mut Found,
    ) -> Option<String> {
        let entries = entries(exchange, told.event);
        let mut faults = entries
            .iter()
            .map(|entry| (entry, self.untrue(exchange, told, token, entry)));
        let true_one = faults.clone().find(|(_, fault)| fault.is_none());
        if let Some((entry, _)) = true_one {
            return entry.text("token_id");
        }
        if let Some((_, Some(member))) = faults.next() {
            let message = format!(
                "{member} of the entry {} of the log is not as it was",
                told.event
            );
            found.accuse(&rules::ENTRY_UNTRUE, exchange, "", None, message);
        }
        None
    }

    fn untrue(
        &self,
        exchange: &Exchange<'_>,
        told: &Told<'_>,
        token: Option<&Token>,
        entry: &Fields<'_>,
    ) -> Option<&'static str> {
        let is_one_of = |name, known: [Option<&String>; 2]| {
            let told = entry.text(name);
            known == [None, None] || known.contains(&told.as_ref())
        };
        let times = [exchange.now, Some(self.account.latest)];
        let coarse = entry.coarseness("timestamp").max(COARSE);
        let is_then = entry.moment("timestamp").is_none_or(|at| {
            exchange.now.is_none()
                || times
                    .iter()
                    .flatten()
                    .any(|time| at.abs_diff(*time) < coarse.unsigned_abs())
        });
        let outcome = if told.event == "TOKEN_REJECTED" {
            "failure"
        } else {
            "success"
        };
        // Of a token that is gone, what the log called it may be gone, too.
        let kept = token.filter(|token| token.end.is_none() || told.event == "TOKEN_REVOKED");
        let id = kept.and_then(|token| token.id.as_deref());
        let other_id = id
            .zip(entry.text("token_id"))
            .is_some_and(|(id, told)| told != id);
        let faults = [
            ("timestamp", !is_then),
            ("token_id", other_id),
            ("operation", !is_one_of("operation", told.operations)),
            ("adapter_name", !is_one_of("adapter_name", told.adapters)),
            ("outcome", entry.text("outcome").as_deref() != Some(outcome)),
        ];
        faults
            .into_iter()
            .find_map(|(name, is_wrong)| is_wrong.then_some(name))
    }

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

/// What an entry has to tell: its event, and the operation and the adapter, each as one of two.
struct Told<'a> {
    event: &'static str,
    operations: [Option<&'a String>; 2],
    adapters: [Option<&'a String>; 2],
}

/// The entries of an event that lack nothing.
fn entries<'a>(exchange: &'a Exchange<'_>, event: &str) -> Vec<&'a Fields<'a>> {
    let outputs = exchange.outputs().unwrap_or_default().iter();
    let entries = outputs.filter(|it| it.kind == "audit").map(|it| &it.fields);
    let of_event = |it: &&Fields<'_>| it.text("event").as_deref() == Some(event);
    entries
        .filter(|it| of_event(it) && lacks(it).is_none())
        .collect()
}

/// Whether the log says that the token of a call, where it is known, was taken.
pub(super) fn is_validated(exchange: &Exchange<'_>, token: Option<&Token>) -> bool {
    let id = token.and_then(|it| it.id.as_deref());
    entries(exchange, "TOKEN_VALIDATED").iter().any(|entry| {
        let is_it = id.is_none_or(|id| entry.text("token_id").as_deref() == Some(id));
        is_it && entry.text("outcome").as_deref() == Some("success")
    })
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
        ("timestamp", !entry.may_be_time("timestamp")),
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

/// What an entry has to hold under this name.
fn wanted_of(name: &str) -> &'static str {
    match name {
        "timestamp" => "a string with a time",
        "event" => "TOKEN_ISSUED, TOKEN_VALIDATED, TOKEN_REJECTED or TOKEN_REVOKED",
        "outcome" => "success or failure",
        _ => "a string",
    }
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
    Call::of(&exchange.request).is_some_and(|call| call.is_gated())
}
