//! Which protocol a recording is of.

use serde_json::Value;

use crate::transcript::without_arrow;

/// A protocol of which recordings are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// AAEP, as a stream of events and replies.
    Aaep,
    /// MCP-AQL, as a transcript of the driver protocol.
    McpAql,
    /// Pending actions, as a transcript of the driver protocol.
    PendingAction,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Aaep, Self::McpAql, Self::PendingAction];

    /// Its name on the command line and in a greeting.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aaep => "aaep",
            Self::McpAql => "mcp-aql",
            Self::PendingAction => "pending-action",
        }
    }

    /// The one with that name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("expected one of {names}")
        })
    }

    /// The protocol of a transcript that begins like this: its greeting names it, else its requests tell it, or a message
    /// of AAEP before them. `None` for what is no transcript.
    pub fn of_transcript(start: &[u8]) -> Option<Self> {
        values(start).find_map(|request| {
            let event = request.get("event").and_then(Value::as_str);
            if event.is_some_and(|event| event.starts_with("TOKEN_")) {
                return Some(Self::McpAql);
            }
            let name = request.get("type").and_then(Value::as_str);
            if name.is_some_and(|name| name.starts_with("aaep:")) {
                return Some(Self::Aaep);
            }
            let op = request.get("op")?.as_str()?;
            let named = request.get("protocol").and_then(Value::as_str);
            match op {
                "hello" => Self::named(named?).ok(),
                "propose" | "decide" => Some(Self::PendingAction),
                "call" | "introspect" | "configure" => Some(Self::McpAql),
                "start_session" | "deliver" | "subscribe" => Some(Self::Aaep),
                _ => None,
            }
        })
    }

    /// The protocol that the greeting names with which this begins.
    pub fn greeted(start: &[u8]) -> Option<Self> {
        let hello = values(start).next()?;
        let is_hello = hello.get("op").and_then(Value::as_str) == Some("hello");
        let named = hello.get("protocol").and_then(Value::as_str);
        Self::named(named.filter(|_| is_hello)?).ok()
    }

    /// Whether what begins like this has requests or responses of the driver protocol in it, of whatever protocol.
    pub fn is_transcript(start: &[u8]) -> bool {
        values(start).any(|value| Self::is_line(&value))
    }

    /// Whether this is a request or a response of the driver protocol, of whatever protocol, or an entry of the log of MCP-AQL.
    pub(crate) fn is_line(value: &Value) -> bool {
        let has = |name: &str| value.get(name).is_some();
        let event = value.get("event").and_then(Value::as_str);
        has("id") && (has("op") || has("outputs"))
            || has("op") && has("now")
            || event.is_some_and(|event| event.starts_with("TOKEN_"))
    }
}

/// The first values of a file: lines with arrows or without, or the items of an array. One that is cut off, or no JSON, ends them.
fn values(start: &[u8]) -> impl Iterator<Item = Value> {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let start = start.trim_ascii_start();
    let mut rest = start.strip_prefix(b"[").unwrap_or(start);
    let values = std::iter::from_fn(move || {
        rest = without_arrow(behind_comma(rest));
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        rest = &rest[values.byte_offset()..];
        Some(value)
    });
    values.take(TELLING_LINES)
}

fn behind_comma(rest: &[u8]) -> &[u8] {
    let rest = rest.trim_ascii_start();
    rest.strip_prefix(b",").unwrap_or(rest)
}

/// So many lines at most are looked at for one that tells the protocol.
const TELLING_LINES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Protocol> {
        Protocol::of_transcript(text.as_bytes())
    }

    #[test]
    fn a_greeting_tells_the_protocol_and_else_the_requests_do() {
        let hello =
            "\n→ {\"id\":1,\"op\":\"hello\",\"driver\":1,\"protocol\":\"pending-action\"}\n← {";
        assert_eq!(of(hello), Some(Protocol::PendingAction));
        let calls =
            "{\"id\":2,\"op\":\"reset\"}\n{\"id\":2,\"outputs\":[]}\n{\"id\":3,\"op\":\"call\"}";
        assert_eq!(of(calls), Some(Protocol::McpAql));
        let entry = "{\"timestamp\":\"2026-05-24T14:22:20Z\",\"event\":\"TOKEN_ISSUED\"}";
        assert_eq!(of(entry), Some(Protocol::McpAql));
        let items = format!("[\n  {entry},\n  {entry}\n]");
        assert_eq!(of(&items), Some(Protocol::McpAql));
        let indented = "  → {\"id\":2,\"op\":\"tick\"}\r\n  → {\"id\":3,\"op\":\"decide\"}";
        assert_eq!(of(indented), Some(Protocol::PendingAction));
        for (text, is_one) in [
            ("[{\"id\":2,\"op\":\"tick\"}", true),
            ("← {\"id\":2,\"outputs\":[]}", true),
            ("{\"id\":2,\"error\":\"no\"}", false),
        ] {
            assert_eq!(Protocol::is_transcript(text.as_bytes()), is_one, "{text}");
        }
        // What stands behind a message of AAEP is a line that is foreign to its stream.
        let stream = "{\"type\":\"aaep:agent.session.started\"}\n{\"op\":\"call\"}";
        assert_eq!(of(stream), Some(Protocol::Aaep));
        for other in ["", "plain text", "[1]", "{\"id\":1,\"op\":\"hello\"}"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
