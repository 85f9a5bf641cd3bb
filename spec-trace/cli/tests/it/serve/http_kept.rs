//! `countersign serve aaep --http --store`: the command, killed and started again.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Served, ask, is_refused, send};

fn served(store: &Path, seconds: &str) -> Served {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["serve", "aaep", "--http", "127.0.0.1:0", "--store"]);
    command.arg(store).args(["--timeout-seconds", seconds]);
    Served::of(&mut command)
}

/// A subscription that stays open; its id.
fn subscribed(served: &Served) -> String {
    let request = r#"{"subscriber_id":"a","capabilities":{"supports_confirmation_reply":true}}"#;
    let response = send(&served.address, "POST /aaep/v1/subscriptions", request);
    let mut lines = response.lines().map(|line| line.expect("a header"));
    let location = lines.find(|line| line.to_lowercase().starts_with("location: "));
    let location = location.expect("where it is");
    location.split_once('=').expect("its id").1.to_owned()
}

/// What is told to that subscription after `last`, until an event of that type.
fn told(served: &Served, of: &str, last: Option<&Value>, until: &str) -> Vec<Value> {
    let last = last.map_or(String::new(), |event| {
        let id = event["event_id"].as_str().expect("an id");
        format!("last-event-id: {id}\r\n")
    });
    let line = format!("GET /aaep/v1/events?subscription_id={of}");
    let mut events: Vec<Value> = Vec::new();
    let (_, mut stream) = ask(&served.address, &line, &last, "");
    while !events.last().is_some_and(|it| it["type"] == until) {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).expect("an event"), 0);
        if let Some(data) = line.strip_prefix("data: ") {
            events.push(serde_json::from_str(data).expect("JSON"));
        }
    }
    events
}

const ASKED: &str = "aaep:agent.awaiting.confirmation";
const COMPLETED: &str = "aaep:agent.session.completed";

fn reply(question: &Value, of: &str, decision: &str) -> String {
    json!({
        "type": "confirmation.reply", "reply_token": question["reply_token"], "decision": decision,
        "subscription_id": of, "timestamp": question["timestamp"],
    })
    .to_string()
}

fn count(events: &[Value], name: &str) -> usize {
    events.iter().filter(|it| it["type"] == name).count()
}

/// A server whose question waits so many seconds, killed once it has asked: the subscription, and what it was told.
fn killed_while_it_waits(store: &Path, seconds: &str) -> (String, Vec<Value>) {
    let served = served(store, seconds);
    let of = subscribed(&served);
    start(&served, "transfer");
    let asked = told(&served, &of, None, ASKED);
    (of, asked)
}

fn start(served: &Served, prompt: &str) {
    let request = json!({"user_message": prompt}).to_string();
    send(&served.address, "POST /sessions", &request);
}

fn decide(served: &Served, question: &Value, of: &str, decision: &str) {
    let reply = reply(question, of, decision);
    send(&served.address, "POST /aaep/v1/replies", &reply);
}

/// AAEP-6.3.5-1, AAEP-6.7.1-1, AAEP-A.7.4-1: killed while it waits and killed again once it is answered, it honours the first reply
/// alone, and its tool runs once.
#[test]
fn a_question_survives_a_kill_and_is_answered_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    let (of, asked) = killed_while_it_waits(&store, "60");
    let question = asked.last().expect("a question");

    let between = served(&store, "60");
    decide(&between, question, &of, "accept");
    let rest = told(&between, &of, Some(question), COMPLETED);
    drop(between);

    let after = served(&store, "60");
    for decision in ["accept", "reject"] {
        decide(&after, question, &of, decision);
    }
    start(&after, "look");
    let all = told(&after, &of, Some(question), COMPLETED);
    assert_eq!(all, rest, "what was told is told again to the byte");
    let last = rest.last();
    let next = told(&after, &of, last, COMPLETED);
    assert_eq!(next[0]["type"], "aaep:agent.session.started", "{next:?}");
    assert_eq!(count(&rest, "aaep:agent.tool.invoked"), 1, "{rest:?}");
    let numbers = asked
        .iter()
        .chain(&rest)
        .map(|it| it["sequence_number"].as_u64());
    assert!(numbers.eq((0..asked.len() + rest.len()).map(|it| Some(it as u64))));
}

/// AAEP-6.4-1: the deadline does not wait for the process.
#[test]
fn what_fell_due_while_nobody_was_there_is_done_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    let (of, asked) = killed_while_it_waits(&store, "2");
    let question = asked.last().expect("a question");
    thread::sleep(Duration::from_millis(2_100));
    let after = served(&store, "60");
    decide(&after, question, &of, "accept");
    let rest = told(&after, &of, Some(question), COMPLETED);
    assert_eq!(count(&rest, "aaep:agent.tool.invoked"), 0, "{rest:?}");
}

#[test]
fn a_torn_record_is_said_and_a_store_that_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    let shown = store.display().to_string();
    let arguments = ["aaep", "--http", "127.0.0.1:0", "--store", &shown];
    let one = served(&store, "60");
    is_refused("serve", &arguments, "another process has this store open");
    drop(one);
    let journal = store.join("journal");
    let mut bytes = std::fs::read(&journal).expect("a journal");
    bytes.extend(b"0123");
    std::fs::write(&journal, bytes).expect("a journal");
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.arg("serve").args(arguments).stderr(Stdio::piped());
    let mut torn = Served::of(&mut command);
    let mut said = String::new();
    let mut stderr = BufReader::new(torn.process.0.stderr.take().expect("a pipe"));
    stderr.read_line(&mut said).expect("a line");
    assert!(
        said.contains("the last record was not written to its end (4 bytes)"),
        "{said}"
    );
    drop(torn);
    std::fs::write(&journal, "countersign live producer 9\n").expect("a journal");
    is_refused("serve", &arguments, "a store of version 9; this program");
    std::fs::write(&journal, "something\n").expect("a journal");
    is_refused("serve", &arguments, "not a store of a live producer");
}

/// Nothing is told that is not on disk: the server ends, with status 2.
#[test]
fn a_store_that_cannot_be_written_ends_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_countersign");
    // A file of 16 or 32 KiB, by the shell; what is more cannot be written.
    let within = "ulimit -f 32; trap '' XFSZ; exec \"$@\"";
    command.args(["-c", within, "sh", program, "serve", "aaep"]);
    command
        .args(["--http", "127.0.0.1:0", "--store"])
        .arg(&store);
    let mut limited = Served::of(&mut command);
    let of = subscribed(&limited);
    let mut started = 0;
    let request = format!("{{\"user_message\":\"look{}\"}}", " ".repeat(2_000));
    while ask(&limited.address, "POST /sessions", "", &request).0 == 202 {
        started += 1;
        assert!(started < 100, "the limit is reached");
    }
    assert_eq!(limited.process.0.wait().expect("it ends").code(), Some(2));
    // What was answered is there, and no more.
    let again = served(&store, "60");
    let mut stream = send(
        &again.address,
        &format!("GET /aaep/v1/events?subscription_id={of}"),
        "",
    );
    let mut seen = 0;
    while seen < started {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).expect("an event"), 0);
        seen += usize::from(line.contains("agent.session.completed"));
    }
    assert!(started > 0);
}
