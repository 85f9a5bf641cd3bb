//! A ledger that is served, and what there is to say to it.

use countersign_cli::serve::pending_action::PendingAction;
use countersign_reference::ids::{IdSource, SequentialIds};
use countersign_reference::pending_action::Settings;
use countersign_store::Store;
use serde_json::{Value, json};

use super::driver::{Driver, NOW, timed};

/// Nine seconds later, one millisecond before [`LATE`].
pub const EARLY: &str = "2026-05-24T14:22:29.999Z";

/// When what [`expiring`] proposes expires.
pub const LATE: &str = "2026-05-24T14:22:30.000Z";

/// Arguments that no writer of JSON would spell like that.
pub const ARGUMENTS: &str = "{ \"ids\" :[3,5e0], \"confirm\":true,\t\"name\":\"Padr\\u00f3n\" }";

/// What a proposal leads to, as [`summary`] puts it.
pub const ASKED: &[&str] = &["append confirmation_request", "event created"];

/// What an allow leads to.
pub const ALLOWED: &[&str] = &["event decided", "append tool_call", "perform delete"];

/// A server that nobody has talked to.
pub fn connected() -> Driver {
    let service = PendingAction::in_memory(Settings::default(), SequentialIds::new());
    Driver::connected(service, summary)
}

/// A server after `hello` and `reset`.
pub fn ready() -> Driver {
    connected().greeted()
}

/// A server on a store. `lives` says how many servers had it before, for no two draw the same ids.
pub fn on(store: Store, lives: u128) -> Driver {
    let service = PendingAction::kept_in(store, Settings::default(), Ids(lives << 64));
    Driver::connected(service, summary)
}

/// Ids that count up from anywhere.
#[derive(Debug)]
struct Ids(u128);

impl IdSource for Ids {
    fn next_bits(&mut self) -> u128 {
        self.0 += 1;
        self.0
    }
}

impl Driver {
    /// Proposes something, and gives what a client needs to answer: the event.
    pub fn proposes(&mut self, proposal: Value) -> Value {
        let response = self.ask("propose", timed(NOW, proposal));
        let event = &response["outputs"][1]["event"];
        assert_eq!(event["type"], "created", "{response}");
        event.clone()
    }

    /// One output as it is.
    pub fn output(&mut self, op: &str, fields: Value, index: usize) -> Value {
        self.ask(op, timed(NOW, fields))["outputs"][index].clone()
    }
}

/// A call that destroys something.
pub fn deletion() -> Value {
    json!({
        "agent_id": "menta", "session_id": "s1", "run_id": "run 1", "tool": "delete",
        "arguments": ARGUMENTS, "effect": "destructive",
        "summary": "¿Borro estos 2 potreros?", "label": "Sí, borrar",
    })
}

/// The same, until [`LATE`].
pub fn expiring() -> Value {
    let mut proposal = deletion();
    proposal["expires_at"] = json!(LATE);
    proposal
}

pub fn decision(event: &Value, decision: &str) -> Value {
    json!({"action_id": event["action_id"], "decision": decision, "by": "ana"})
}

pub fn about(event: &Value) -> Value {
    json!({"action_id": event["action_id"]})
}

pub fn finished(event: &Value, status: &str) -> Value {
    json!({"action_id": event["action_id"], "status": status, "result": "done"})
}

/// One output in a few words: its kind, and what tells it from others of its kind.
pub fn summary(output: &Value) -> String {
    let (kind, body) = output.as_object().unwrap().iter().next().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    match kind.as_str() {
        "append" | "event" => format!("{kind} {}", text(&body["type"])),
        "perform" => format!("perform {}", text(&body["tool"])),
        "audit" if body.get("by").is_none() => "audit withdrawn".to_owned(),
        "audit" => format!("audit {}: {}", text(&body["clause"]), text(&body["reason"])),
        "refused" => format!("refused {}", text(&body["clause"])),
        "in_doubt" | "snapshot" => kind.clone(),
        other => panic!("an output of kind {other}"),
    }
}
