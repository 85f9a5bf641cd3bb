//! The command itself, serving a store, and killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::driver::{NOW, timed};
use super::pending_action_stage::{ARGUMENTS, decision, deletion};

struct Served {
    process: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
}

impl Served {
    fn from(store: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["serve", "pending-action", "--stdio", "--store"]);
        command.arg(store);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let requests = process.stdin.take().unwrap();
        let responses = BufReader::new(process.stdout.take().unwrap());
        let mut served = Self {
            process,
            requests,
            responses,
        };
        served.ask("hello", json!({"driver": 1, "protocol": "pending-action"}));
        served
    }

    fn ask(&mut self, op: &str, fields: Value) -> Value {
        let mut request = timed(NOW, fields);
        (request["id"], request["op"]) = (json!(1), json!(op));
        writeln!(self.requests, "{request}").unwrap();
        let mut response = String::new();
        self.responses.read_line(&mut response).unwrap();
        serde_json::from_str(&response).unwrap()
    }

    fn proposes(&mut self) -> Value {
        self.ask("propose", deletion())["outputs"][1]["event"].clone()
    }

    fn dies(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// PA-1, PA-3, PA-8: what was answered before the kill holds after it, and what was pending can be decided.
#[test]
fn what_is_served_from_a_store_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("actions.store");
    let mut served = Served::from(&store);
    served.ask("reset", json!({}));
    let (denied, pending) = (served.proposes(), served.proposes());
    served.ask("decide", decision(&denied, "deny"));
    served.dies();

    let mut served = Served::from(&store);
    served.ask("restart", json!({}));
    let again = served.ask("decide", decision(&denied, "allow"));
    assert_eq!(again["outputs"][0]["audit"]["clause"], "PA-8", "{again}");
    let allowed = served.ask("decide", decision(&pending, "allow"));
    let perform = &allowed["outputs"][2]["perform"];
    assert_eq!(perform["arguments"], ARGUMENTS, "{allowed}");
    served.dies();
}
