//! The driver's side of a conversation, and what there is to say.
//!
//! The one thing to know: [`Driver::ask`] sends one request and waits for its response before the next one is sent, as
//! a driver does. A response that is not flushed would hang here.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::thread::{self, JoinHandle};

use countersign_reference::ids::SequentialIds;
use countersign_spec_trace::serve::{aaep::Aaep, stdio};
use serde_json::{Value, json};

/// When everything begins.
pub const NOW: &str = "2026-05-24T14:22:20.000Z";

/// One side of a conversation: the driver's.
pub struct Driver {
    requests: PipeWriter,
    responses: BufReader<PipeReader>,
    server: JoinHandle<io::Result<()>>,
    /// The id of the last request. As long as everything is sent by [`Driver::ask`], also the number of its line.
    pub id: u64,
}

impl Driver {
    /// A server that nobody has talked to.
    pub fn connected() -> Self {
        let (input, requests) = io::pipe().unwrap();
        let (responses, output) = io::pipe().unwrap();
        let server = thread::spawn(move || {
            stdio::serve(
                BufReader::new(input),
                output,
                Aaep::new(SequentialIds::new()),
            )
        });
        Self {
            requests,
            responses: BufReader::new(responses),
            server,
            id: 0,
        }
    }

    /// A server after `hello` and `reset`.
    pub fn reset() -> Self {
        let mut driver = Self::connected();
        driver.ask("hello", json!({"driver": 1, "protocol": "aaep"}));
        driver.ask("reset", json!({"now": NOW}));
        driver
    }

    /// A server with the session `sess_1`, and `sub_1`, which can reply.
    pub fn ready() -> Self {
        let mut driver = Self::reset();
        driver.at(NOW, "start_session", json!({"session_id": "sess_1"}));
        driver.subscribe("sub_1");
        driver
    }

    pub fn subscribe(&mut self, id: &str) {
        let capabilities = json!({"supports_confirmation_reply": true, "max_events_per_second": 5});
        let fields = json!({"subscription_id": id, "capabilities": capabilities});
        assert_eq!(self.at(NOW, "subscribe", fields), [""; 0]);
    }

    /// Asks to confirm an action, for a minute; its token.
    pub fn confirm(&mut self, ask: Value) -> String {
        let response = self.ask("confirm", timed(NOW, ask));
        let event = response["outputs"].as_array().unwrap().last().unwrap();
        event["emit"]["reply_token"].as_str().unwrap().to_owned()
    }

    /// Sends one request and gives what came out, a line for each output.
    pub fn at(&mut self, now: &str, op: &str, fields: Value) -> Vec<String> {
        let response = self.ask(op, timed(now, fields));
        let outputs = response["outputs"].as_array();
        let outputs = outputs.unwrap_or_else(|| panic!("no outputs in {response}"));
        outputs.iter().map(summary).collect()
    }

    /// Sends one request with the next id and gives its whole response, which has to carry that id.
    pub fn ask(&mut self, op: &str, fields: Value) -> Value {
        self.id += 1;
        let mut request = json!({"id": self.id, "op": op});
        let Value::Object(fields) = fields else {
            panic!("fields are an object");
        };
        request.as_object_mut().unwrap().extend(fields);
        let response = self.send(&request.to_string());
        assert_eq!(response["id"], self.id);
        response
    }

    /// Sends one line as it stands and gives the response.
    pub fn send(&mut self, line: &str) -> Value {
        writeln!(self.requests, "{line}").unwrap();
        let mut response = String::new();
        self.responses.read_line(&mut response).unwrap();
        serde_json::from_str(&response).unwrap()
    }

    /// Ends the input; the server then ends by itself, without a further word.
    pub fn hang_up(mut self) {
        drop(self.requests);
        self.server.join().unwrap().unwrap();
        let mut rest = String::new();
        self.responses.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}

/// The fields of a request, with the time added.
pub fn timed(now: &str, mut fields: Value) -> Value {
    fields["now"] = json!(now);
    fields
}

/// A question about a transfer: irreversible, of high risk, rejected by default after a minute.
pub fn transfer() -> Value {
    json!({
        "session_id": "sess_1",
        "action": {
            "id": "a1",
            "tool": "transfer_funds",
            "description": "Transfer 500 dollars",
            "consequence": "The money is gone",
            "risk_level": "high",
            "irreversible": true,
        },
        "timeout_seconds": 60,
        "default_decision": "reject",
    })
}

/// A question about a draft: harmless, and accepted by default.
pub fn draft() -> Value {
    let mut ask = transfer();
    ask["action"]["id"] = json!("a2");
    ask["action"]["risk_level"] = json!("low");
    ask["action"]["irreversible"] = json!(false);
    ask["default_decision"] = json!("accept");
    ask
}

/// A reply of `sub_1`, decided at once.
pub fn reply(token: &str, decision: &str) -> Value {
    json!({
        "type": "confirmation.reply",
        "reply_token": token,
        "decision": decision,
        "subscription_id": "sub_1",
        "timestamp": NOW,
    })
}

/// A delivery of `message` by `sub_1`, authenticated.
pub fn delivery(message: &Value) -> Value {
    json!({
        "sender": {"subscription_id": "sub_1", "authenticated": true},
        "message": message.to_string(),
    })
}

/// One output in a few words: its kind, and what tells it from others of its kind.
pub fn summary(output: &Value) -> String {
    let (kind, body) = output.as_object().unwrap().iter().next().unwrap();
    let text = |field: &str| body[field].as_str().unwrap_or("-");
    match kind.as_str() {
        "emit" if body["type"] == "aaep:agent.state.changed" => {
            format!("emit {} > {}", text("from_state"), text("to_state"))
        }
        "emit" => format!("emit {}", text("type").trim_start_matches("aaep:agent.")),
        "perform" | "in_doubt" => format!("{kind} {}", text("action")),
        "audit" | "refused" => format!("{kind} {}", text("clause")),
        "respond" => format!("respond {body}"),
        other => panic!("an output of kind {other}"),
    }
}

/// What the sender of any message gets to see, as [`summary`] puts it.
pub const RESPOND: &str = r#"respond {"status":204,"body":null}"#;
