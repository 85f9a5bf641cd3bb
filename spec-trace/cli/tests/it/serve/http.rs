//! `countersign serve aaep --http`: the command. What the server does is for the tests of `live`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::running::{Ending, listens_at};

pub struct Served {
    pub process: Ending,
    pub address: String,
    _stdout: BufReader<ChildStdout>,
}

impl Served {
    /// At a free port; the questions of the agent wait so long that a reply is in time on a slow machine too.
    pub fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["serve", "aaep", "--http", "127.0.0.1:0"]);
        command.args(["--timeout-seconds", "5"]);
        Self::of(command.stderr(Stdio::null()))
    }

    /// By that command, which says where it listens.
    pub fn of(command: &mut Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        Self {
            address: listens_at(&mut stdout),
            process: Ending(process),
            _stdout: stdout,
        }
    }
}

/// Sends a request that is granted, and leaves the response to be read behind its first line.
pub fn send(address: &str, line: &str, body: &str) -> BufReader<TcpStream> {
    let (status, reader) = ask(address, line, "", body);
    assert_eq!(status / 10, 20, "{line}: {status}");
    reader
}

/// Sends a request with further headers: the status, and what is left of the response.
pub fn ask(address: &str, line: &str, headers: &str, body: &str) -> (u16, BufReader<TcpStream>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let patience = Some(Duration::from_mins(1));
    stream.set_read_timeout(patience).expect("a patience");
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(head.as_bytes()).expect("it is read");
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status).expect("a response");
    let status = status.split(' ').nth(1).expect("a status");
    (status.parse().expect("a number"), reader)
}

/// Follows one session from its prompt to its end, and accepts what is of high risk. The events, and the replies where they were
/// sent.
pub fn follow(address: &str) -> Vec<Value> {
    let mut events = send(address, "GET /events", "");
    let mut subscription = String::new();
    while !subscription
        .to_lowercase()
        .starts_with("aaep-subscription-id: ")
    {
        subscription.clear();
        events.read_line(&mut subscription).expect("a header");
    }
    let subscription = subscription["aaep-subscription-id: ".len()..].trim();
    let prompt = r#"{"user_message":"transfer, and a note"}"#;
    send(address, "POST /sessions", prompt);
    let mut recording: Vec<Value> = Vec::new();
    while recording
        .last()
        .is_none_or(|it| it["type"] != "aaep:agent.session.completed")
    {
        let mut line = String::new();
        assert_ne!(events.read_line(&mut line).expect("an event"), 0);
        let Some(data) = line.strip_prefix("data: ") else {
            continue;
        };
        let event: Value = serde_json::from_str(data).expect("JSON");
        let is_asked = event["risk_level"] == "high" && !event["reply_token"].is_null();
        let reply = json!({
            "type": "confirmation.reply", "reply_token": event["reply_token"], "decision": "accept",
            "subscription_id": subscription, "timestamp": event["timestamp"],
        });
        recording.push(event);
        if is_asked {
            send(address, "POST /messages", &reply.to_string());
            recording.push(reply);
        }
    }
    recording
}

/// The command does not begin, and says why.
pub fn is_refused(command: &str, arguments: &[&str], why: &str) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let output = process.arg(command).args(arguments).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(why), "{arguments:?}: {said}");
}

/// The verdict on a recording, as JSON.
pub fn linted(recording: &Path) -> Value {
    let mut lint = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let output = lint
        .args(["lint", "--format", "json"])
        .arg(recording)
        .output();
    serde_json::from_slice(&output.expect("it runs").stdout).expect("JSON")
}

/// AAEP-6.4-1, AAEP-A.7.4-1: a transfer is accepted by a reply, the note by its default; what a subscriber sees of it conforms.
#[test]
fn a_session_over_http_is_judged_conforming_as_a_recording() {
    let served = Served::start();
    let recording = follow(&served.address);
    let lines: Vec<String> = recording.iter().map(|it| format!("{it}\n")).collect();
    let lines = lines.concat();
    for tool in ["transfer_funds", "leave_note"] {
        assert!(lines.contains(tool), "{lines}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("recorded.jsonl");
    std::fs::write(&file, &lines).expect("a file");
    let verdict = linted(&file);
    assert_eq!(verdict["verdict"], "conforming", "{verdict:#}\n{lines}");
}

#[test]
fn a_signal_ends_it_with_its_streams() {
    let mut served = Served::start();
    let mut events = send(&served.address, "GET /events", "");
    assert_eq!(served.process.asked_to(), Some(0));
    let mut rest = String::new();
    events.read_to_string(&mut rest).expect("the stream ends");
    assert!(!rest.contains("data: "), "{rest}");
}

#[test]
fn what_would_let_anybody_in_or_cannot_be_served_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = folder.path().join("token.txt");
    std::fs::write(&short, "guess me\n").expect("a file");
    let short = short.display().to_string();
    let refused: [(&[&str], &str); 6] = [
        (
            &["mcp-aql", "--http", "127.0.0.1:0"],
            "--http is for aaep alone",
        ),
        (
            &["aaep", "--http", "0.0.0.0:0"],
            "whoever reaches this address",
        ),
        (
            &[
                "aaep",
                "--http",
                "127.0.0.1:0",
                "--bearer-token-file",
                &short,
            ],
            "expected one line of 16",
        ),
        (
            &["aaep", "--stdio", "--store", "x"],
            "--store is for pending-action alone",
        ),
        (
            &["aaep", "--http", "127.0.0.1:0", "--store", "x"],
            "--store is for pending-action alone",
        ),
        (&["aaep", "--http", "nowhere"], "invalid value 'nowhere'"),
    ];
    for (arguments, why) in refused {
        is_refused("serve", arguments, why);
    }
    // A port that somebody else has.
    let served = Served::start();
    let taken = ["aaep", "--http", &served.address];
    is_refused("serve", &taken, "cannot listen there");
}

/// What is wrong with a convention is told with its place, before anything is asked.
#[test]
fn a_convention_that_says_nothing_sensible_is_refused_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.toml");
    let shown = file.display().to_string();
    let with = |text: &str, why: &str| {
        std::fs::write(&file, text).expect("a file");
        let arguments = [
            "aaep",
            "--http",
            "http://127.0.0.1:1",
            "--convention",
            &shown,
        ];
        is_refused("diff", &arguments, why);
    };
    with(
        "events.path = \"/e\"\nreply = 1\n",
        "own.toml:2:1: unknown field `reply`",
    );
    with("events.path = \"e\"\n", "own.toml:1:15: expected a path");
    let nameless = [
        "aaep",
        "--http",
        "http://127.0.0.1:1",
        "--convention",
        "own",
    ];
    is_refused(
        "diff",
        &nameless,
        "expected specification, examples, suite, or a file",
    );
}

/// Nothing is started, and nobody is asked.
#[cfg(not(feature = "tls"))]
#[test]
fn an_address_that_needs_tls_is_refused_by_a_build_without() {
    let folder = tempfile::tempdir().expect("a folder");
    let started = folder.path().join("started");
    let touch = started.display().to_string();
    let url = "https://127.0.0.1:9/";
    for (command, arguments) in [
        ("record", &["--listen", "127.0.0.1:0", "--to", url][..]),
        ("diff", &["aaep", "--http", url]),
        ("diff", &["aaep", "--http", url, "--spawn", "touch", &touch]),
    ] {
        is_refused(
            command,
            arguments,
            "https://127.0.0.1:9/: `https` needs TLS, which this build does not have\n  hint: build with `--features tls`",
        );
    }
    assert!(!started.exists());
}
