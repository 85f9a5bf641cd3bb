//! The messages of AAEP in a few words.

use serde_json::Value;

use countersign_lint::record;

/// The types of what a subscriber sends.
pub const REPLIES: [&str; 2] = ["confirmation.reply", "clarification.reply"];

/// The type of the head of a recording.
pub const HEAD: &str = "countersign.recording";

/// Where an event points in a drawing. On the wire all events go to the subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It concerns the producer alone.
    Within,
    /// The subscriber is told or asked.
    ToSubscriber,
    /// A tool is called.
    ToTools,
    /// A tool has come to its end.
    FromTools,
}

/// Where this event points.
pub fn direction(message: &Value) -> Direction {
    match short_type(message) {
        "state.changed" | "progress.updated" => Direction::Within,
        "tool.invoked" => Direction::ToTools,
        "tool.completed" => Direction::FromTools,
        _ => Direction::ToSubscriber,
    }
}

/// What the message says.
pub fn in_words(message: &Value) -> String {
    let text = |name: &str| {
        message
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let quoted = |name: &str| match text(name).trim() {
        "" => String::new(),
        said => format!(": “{said}”"),
    };
    match short_type(message) {
        "session.started" => format!("starts the session{}", quoted("request_text")),
        "session.completed" => "completes the session".to_owned(),
        "session.errored" => format!("ends the session in error{}", quoted("error_message")),
        "session.cancelled" => "cancels the session".to_owned(),
        "state.changed" => format!("{} → {}", text("from_state"), text("to_state")),
        "progress.updated" => format!("progress{}", quoted("summary_normal")),
        "tool.invoked" if is_true(message, "irreversible") => {
            format!("calls {}, irreversible", text("tool"))
        }
        "tool.invoked" => format!("calls {}", text("tool")),
        "tool.completed" => format!("{} is done: {}", text("tool"), text("status")),
        "output.streaming" if is_true(message, "complete") => match quoted("chunk") {
            none if none.is_empty() => "says no more".to_owned(),
            last => format!("says{last}, and no more"),
        },
        "output.streaming" => format!("says{}", quoted("chunk")),
        "awaiting.confirmation" => question(message),
        "awaiting.clarification" => {
            format!("asks{} as {}", quoted("question"), text("reply_token"))
        }
        "handoff.requested" => "asks for a handoff".to_owned(),
        "confirmation.reply" => format!("{} {}", text("decision"), text("reply_token")),
        "clarification.reply" => format!("clarifies {}{}", text("reply_token"), quoted("response")),
        "" if message.is_object() => "a message without a type".to_owned(),
        "" => "a line that is no record".to_owned(),
        other => other.to_owned(),
    }
}

/// What the head of a recording says; nothing where it says nothing.
pub fn head(message: &Value) -> Option<String> {
    let text = |name: &str| message.get(name).and_then(Value::as_str);
    let all = text("replies").filter(|it| *it == "all");
    let said = [
        all.map(|_| "all replies are recorded".to_owned()),
        text("script").map(|script| format!("script {script}")),
        text("prompt").map(|prompt| format!("prompt “{prompt}”")),
    ];
    let said: Vec<_> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("recording: {}", said.join(", ")))
}

/// A question for confirmation, with what decides how it ends. The token comes last: it is long, and says nothing.
fn question(message: &Value) -> String {
    let text = |name: &str| message.get(name).and_then(Value::as_str);
    let mut terms = Vec::new();
    terms.extend(text("default_decision").map(|default| format!("default {default}")));
    terms.extend(
        message
            .get("timeout_seconds")
            .and_then(Value::as_f64)
            .map(|seconds| format!("{seconds} s")),
    );
    terms.extend(text("risk_level").map(|risk| format!("{risk} risk")));
    if is_true(message, "irreversible") {
        terms.push("irreversible".to_owned());
    }
    let token = text("reply_token");
    let token = token.map_or("without a token".to_owned(), |token| format!("as {token}"));
    let terms = match terms.join(", ") {
        none if none.is_empty() => none,
        terms => format!(" ({terms})"),
    };
    let action = text("action").map_or(String::new(), |action| format!(": “{action}”"));
    format!("asks{terms}{action} {token}")
}

/// What the transport answered.
pub fn answered(wrapper: &Value) -> Option<String> {
    let status = wrapper.get("http_status")?.as_u64()?;
    let status = Some(status).filter(|status| *status < 1000)?;
    Some(format!("answered with HTTP {status}"))
}

/// Whether the type is one of the protocol's own.
pub fn is_known(message: &Value) -> bool {
    let own = short_type(message);
    record::CORE.contains(&own) || REPLIES.contains(&own)
}

fn is_true(message: &Value, name: &str) -> bool {
    message.get(name).and_then(Value::as_bool) == Some(true)
}

/// The type without its prefix; empty where there is none.
fn short_type(message: &Value) -> &str {
    let name = message
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let own = name
        .strip_prefix("aaep:")
        .or_else(|| name.strip_prefix("https://aaep-protocol.org/types/"));
    own.map_or(name, |own| own.strip_prefix("agent.").unwrap_or(own))
}
