//! A stream with nothing left in it that was written by hand or given out: no token, id, name, prompt or summary.
//!
//! The one thing to know: it goes by what may stay. What is left of a message is the vocabulary of the protocol, numbers of
//! seconds and times; whatever else a message says is gone, and what has a name of its own gets a number.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use countersign_lint::agent_state::AgentState;

/// The fields whose value is a word of the protocol, and the words. Another word is one of somebody's own.
const WORDS: [(&str, &[&str]); 7] = [
    ("from_state", &AgentState::NAMES),
    ("to_state", &AgentState::NAMES),
    ("default_decision", DECISIONS),
    ("decision", DECISIONS),
    ("risk_level", &["low", "medium", "high"]),
    ("status", &["success", "error", "timeout"]),
    // Of the head of a recording.
    ("replies", &["all"]),
];

const DECISIONS: &[&str] = &["accept", "reject"];

/// The fields that hold nothing but a yes or no, or a number of seconds.
const PLAIN: [&str; 3] = ["irreversible", "complete", "timeout_seconds"];

/// What stands in for a word that is not of the protocol.
const WITHHELD: &str = "(withheld)";

/// The numbers that stand in for names. The same name has the same number throughout.
#[derive(Debug, Default)]
pub struct Numbers {
    known: BTreeMap<(&'static str, String), String>,
    counts: BTreeMap<&'static str, usize>,
}

impl Numbers {
    /// The name in the place of this one, as in `tool 2`.
    fn of(&mut self, what: &'static str, name: &str) -> Value {
        let count = self.counts.entry(what).or_default();
        let number = self.known.entry((what, name.to_owned()));
        let number = number.or_insert_with(|| {
            *count += 1;
            format!("{what} {count}")
        });
        Value::from(number.as_str())
    }
}

/// What may be shown of a message; `is_known_type` tells the types of the protocol from others.
pub fn redacted(message: &Value, is_known_type: bool, numbers: &mut Numbers) -> Value {
    let Some(message) = message.as_object() else {
        return Value::Null;
    };
    let mut left = Map::new();
    let text = |name: &str| message.get(name).and_then(Value::as_str);
    if let Some(own) = message.get("type") {
        let other = Value::from("a message of another type");
        let kind = if is_known_type { own.clone() } else { other };
        left.insert("type".to_owned(), kind);
    }
    for (name, words) in WORDS {
        if let Some(word) = text(name) {
            let shown = if words.contains(&word) {
                word
            } else {
                WITHHELD
            };
            left.insert(name.to_owned(), shown.into());
        }
    }
    for name in PLAIN {
        if let Some(value) = message
            .get(name)
            .filter(|it| it.is_boolean() || it.is_number())
        {
            left.insert(name.to_owned(), value.clone());
        }
    }
    for (name, what) in [
        ("session_id", "session"),
        ("tool", "tool"),
        ("reply_token", "question"),
    ] {
        if let Some(value) = text(name) {
            left.insert(name.to_owned(), numbers.of(what, value));
        }
    }
    let agent = message.get("producer").and_then(|it| it.get("agent_id"));
    if let Some(agent) = agent.and_then(Value::as_str) {
        let producer = serde_json::json!({ "agent_id": numbers.of("agent", agent) });
        left.insert("producer".to_owned(), producer);
    }
    Value::Object(left)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_words_of_the_protocol_are_left_and_a_name_keeps_its_number() {
        let mut numbers = Numbers::default();
        let message = |tool: &str, state: &str| {
            json!({ "type": "t", "tool": tool, "to_state": state, "irreversible": true, "timeout_seconds": "60",
                "summary_normal": "a secret", "producer": { "agent_id": "mine", "more": 1 }, "own": { "deep": "secret" } })
        };
        let mut left = |tool, state| redacted(&message(tool, state), true, &mut numbers);
        let expected = |number: &str, state: &str| {
            json!({ "type": "t", "tool": number, "to_state": state, "irreversible": true,
                "producer": { "agent_id": "agent 1" } })
        };
        assert_eq!(left("send", "thinking"), expected("tool 1", "thinking"));
        assert_eq!(left("drop", "plotting"), expected("tool 2", WITHHELD));
        assert_eq!(left("send", "idle"), expected("tool 1", "idle"));
        assert_eq!(redacted(&json!("secret"), true, &mut numbers), Value::Null);
        let foreign = redacted(&json!({ "type": "secret" }), false, &mut numbers);
        assert_eq!(foreign, json!({ "type": "a message of another type" }));
    }
}
