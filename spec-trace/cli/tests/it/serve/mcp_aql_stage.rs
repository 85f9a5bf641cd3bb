//! A gatekeeper that is served, and what there is to say to it.

use countersign_cli::serve::mcp_aql::McpAql;
use countersign_reference::ids::SequentialIds;
use countersign_reference::mcp_aql::Settings;
use serde_json::{Value, json};

use super::driver::{Driver, NOW, timed};

/// What a call that has to be confirmed is answered with, as [`summary`] puts it.
pub const ASKED: &[&str] = &["audit TOKEN_ISSUED", "respond CONFIRMATION_REQUIRED"];

/// What a call with a good token leads to, as [`summary`] puts it.
pub const PERFORMED: &[&str] = &["audit TOKEN_VALIDATED", "perform delete_repo"];

/// What a call with a bad token leads to, as [`summary`] puts it.
pub fn rejected(reason: &str, code: &str) -> [String; 2] {
    [
        format!("audit TOKEN_REJECTED: {reason}"),
        format!("respond {code}"),
    ]
}

/// A server that nobody has talked to.
pub fn connected(settings: Settings) -> Driver {
    Driver::connected(McpAql::new(settings, SequentialIds::new()), summary)
}

/// A server after `hello` and `reset`.
pub fn ready() -> Driver {
    connected(Settings::default()).greeted()
}

impl Driver {
    /// Makes a call that has to be confirmed; the token that comes with the question.
    pub fn asks(&mut self, call: Value) -> String {
        let response = self.ask("call", timed(NOW, call));
        let details = &response["outputs"][1]["respond"]["error"]["details"];
        let token = details["confirmation_token"].as_str();
        token
            .unwrap_or_else(|| panic!("no token in {response}"))
            .to_owned()
    }
}

/// A call that destroys something.
pub fn deletion() -> Value {
    json!({
        "adapter": "github",
        "operation": "delete_repo",
        "params": {"owner": "acme", "repo": "widgets"},
        "danger_level": "destructive",
    })
}

/// The same call again, with a token.
pub fn with_token(mut call: Value, token: &str) -> Value {
    call["confirmation_token"] = json!(token);
    call
}

/// A question about a token, or the wish to give it back.
pub fn about(query: &str, token: &str) -> Value {
    json!({"query": query, "token": token})
}

/// One output in a few words: its kind, and what tells it from others of its kind.
pub fn summary(output: &Value) -> String {
    let (kind, body) = output.as_object().unwrap().iter().next().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    match kind.as_str() {
        "audit" if body["kind"] == "warning" => "audit warning".to_owned(),
        "audit" => {
            let reason = body.get("failure_reason").map(text);
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            format!("audit {}{reason}", text(&body["event"]))
        }
        "perform" => format!("perform {}", text(&body["operation"])),
        "refused" => format!("refused {}", text(&body["clause"])),
        "respond" if body["success"] == false => {
            format!("respond {}", text(&body["error"]["code"]))
        }
        "respond" if body["data"]["revoked"] == true => "respond revoked".to_owned(),
        "respond" => {
            let data = &body["data"];
            let uses_left = data
                .get("uses_left")
                .map_or(String::new(), |left| format!(" {left}"));
            format!("respond {}{uses_left}", text(&data["status"]))
        }
        other => panic!("an output of kind {other}"),
    }
}
