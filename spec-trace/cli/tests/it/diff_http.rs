//! `countersign diff aaep --http`: the reference and the adapter in Python pass it over HTTP, seeded faults are caught and named, and
//! producers that do not answer as they should end in a clear error or a finding, and never in a hang.

use crate::adapter;
use crate::running;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use running::{Ending, listens_at};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A producer in a process of its own.
struct Producer {
    _process: Ending,
    url: String,
}

impl Producer {
    fn start(command: &[String]) -> Self {
        let [program, arguments @ ..] = command else {
            panic!("there is no command");
        };
        let mut started = Command::new(program);
        started
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = started.spawn().expect("it starts");
        let stdout = process.stdout.take().expect("a pipe");
        let address = listens_at(&mut BufReader::new(stdout));
        Self {
            _process: Ending(process),
            url: format!("http://{address}"),
        }
    }

    /// The reference. Its questions wait for so many seconds.
    fn reference(more: &[&str]) -> Self {
        let binary = env!("CARGO_BIN_EXE_countersign");
        let command = [binary, "serve", "aaep", "--http", "127.0.0.1:0"];
        let command = command.iter().chain(more).map(|it| (*it).to_owned());
        Self::start(&command.collect::<Vec<_>>())
    }

    /// The adapter in Python behind HTTP, where there is a Python.
    fn shim(more: &[&str]) -> Option<Self> {
        let arguments = [&["--port", "0"], more].concat();
        Some(Self::start(&adapter::adapter("aaep_http", &arguments)?))
    }
}

/// A file in this folder with a bearer token.
fn token_in(folder: &TempDir) -> String {
    let token = folder.path().join("token");
    fs::write(&token, "0123456789abcdef\n").expect("a file");
    token.to_str().expect("a path").to_owned()
}

/// What a command has come to.
struct Outcome {
    status: Option<i32>,
    report: Value,
    stderr: String,
    folder: TempDir,
}

/// Drives the producer at that URL.
fn driven(url: &str, options: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["diff", "aaep", "--format", "json", "--http", url, "--save"]);
    command.arg(folder.path()).args(options);
    let output = command.output().expect("it runs");
    Outcome {
        status: output.status.code(),
        report: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        folder,
    }
}

impl Outcome {
    /// The clauses of the divergences, each with those that the same breaks.
    fn broken(&self) -> BTreeMap<String, Vec<String>> {
        let divergences = self.report["divergences"].as_array();
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let of = |it: &Value| {
            let also = it["also"].as_array().into_iter().flatten();
            (text(&it["clause"]), also.map(text).collect())
        };
        divergences.into_iter().flatten().map(of).collect()
    }

    /// What the report says of a clause.
    fn verdict(&self, clause: &str) -> &str {
        let mut clauses = self.report["clauses"].as_array().into_iter().flatten();
        let found = clauses.find(|it| it["clause"] == clause);
        found
            .and_then(|it| it["verdict"].as_str())
            .unwrap_or_default()
    }

    #[track_caller]
    fn holds(&self) {
        let Self {
            status,
            report,
            stderr,
            ..
        } = self;
        assert_eq!(*status, Some(0), "{report:#} {stderr}");
        // What cannot be shown over HTTP is no pass.
        assert_eq!(self.verdict("AAEP-6.8-4"), "unsupported");
        let shown = [
            "AAEP-6.1-1",
            "AAEP-6.3.4-3",
            "AAEP-6.3.4-4",
            "AAEP-6.4-1",
            "AAEP-6.7-1",
        ];
        for clause in shown {
            assert_eq!(self.verdict(clause), "upholds", "{clause}");
        }
    }
}

/// What waits for the deadlines of a producer does so at once: a minute of each is waiting, and as many tests run side by side as there
/// are processors.
#[test]
#[ignore = "night: drives a producer for minutes"]
fn who_keeps_the_rules_passes_and_faults_are_caught() {
    let all: [(&str, fn()); 3] = [
        ("the reference", the_reference_passes_in_both_bindings),
        (
            "the adapter",
            the_adapter_in_python_passes_started_afresh_for_each_run,
        ),
        (
            "its faults",
            faults_of_the_adapter_are_caught_over_http_and_named,
        ),
    ];
    let started = all.map(|(name, test)| (name, thread::spawn(test)));
    let ended = started.map(|(name, test)| (name, test.join().is_ok()));
    let failed: Vec<_> = ended
        .iter()
        .filter(|(_, is_ok)| !is_ok)
        .map(|it| it.0)
        .collect();
    assert_eq!(failed, [""; 0]);
}

/// AAEP-6.1-1, AAEP-6.3.4-7, AAEP-6.4-1: whoever keeps the rules is not accused, in either binding.
fn the_reference_passes_in_both_bindings() {
    let folder = tempfile::tempdir().expect("a folder");
    let token = token_in(&folder);
    let token = token.as_str();
    let producer = Producer::reference(&["--timeout-seconds", "7", "--bearer-token-file", token]);
    let alone = Producer::reference(&["--timeout-seconds", "7"]);
    let shown = ["--bearer-token-file", token];
    let bindings = [
        ("specification", &producer, shown.as_slice(), "upholds"),
        ("examples", &alone, &[], "unsupported"),
    ];
    thread::scope(|scope| {
        for (convention, producer, more, expected) in bindings {
            scope.spawn(move || {
                let options = [&["--convention", convention, "--max-wait", "20"], more].concat();
                let outcome = driven(&producer.url, &options);
                outcome.holds();
                assert_eq!(outcome.verdict("AAEP-6.2.4-1"), expected);
            });
        }
    });
}

/// What the adapter is asked in the tests of its faults: also what the reference has not.
const PROMPTS: [&str; 8] = [
    "--prompt",
    "transfer",
    "--prompt",
    "note",
    "--prompt",
    "announce",
    "--prompt",
    "change, transfer and note",
];

fn the_adapter_in_python_passes_started_afresh_for_each_run() {
    let port = free_port().to_string();
    let arguments = ["--port", &port, "--timeout-seconds", "7"];
    let Some(command) = adapter::adapter("aaep_http", &arguments) else {
        return;
    };
    let mut options = PROMPTS.to_vec();
    options.extend(["--max-wait", "20", "--spawn"]);
    options.extend(command.iter().map(String::as_str));
    let outcome = driven(&format!("http://127.0.0.1:{port}"), &options);
    outcome.holds();
    assert_eq!(outcome.verdict("AAEP-6.3.4-6"), "upholds");
    // Nothing of it goes on.
    assert!(TcpStream::connect(format!("127.0.0.1:{port}")).is_err());
}

/// A port for a producer whose address has to be known before it is there. The system gives none so low to whoever asks for any, so
/// that nobody takes it meanwhile.
fn free_port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(process::id() % 10_000).expect("a small number");
    loop {
        let port = first + TAKEN.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Each fault of the adapter that shows over HTTP: the script and the prompt that show it, and the clause that names it.
const CAUGHT: [(&str, &str, &str, &str); 18] = [
    ("deny-is-allow", "reject", "transfer", "AAEP-A.8-5"),
    ("wrong-timeout-default", "timeout", "transfer", "AAEP-6.1-1"),
    ("any-default", "accept", "transfer", "AAEP-6.4.1-1"),
    ("runs-twice", "accept-twice", "transfer", "AAEP-6.3.5-1"),
    ("token-swapped", "two-sessions", "transfer", "AAEP-6.1-1"),
    ("late-reply", "decided-late", "transfer", "AAEP-6.3.4-4"),
    (
        "at-the-deadline",
        "decided-late",
        "transfer",
        "AAEP-6.3.4-4",
    ),
    (
        "unauthenticated",
        "not-authenticated",
        "transfer",
        "AAEP-6.3.4-5",
    ),
    ("any-decision", "not-allowed", "announce", "AAEP-6.3.4-6"),
    (
        "reply-kind-confusion",
        "other-kind",
        "transfer",
        "AAEP-6.3.1-1",
    ),
    ("foreign-members", "malformed", "transfer", "AAEP-6.3.4-1"),
    ("error-oracle", "answers", "transfer", "AAEP-6.3.4-9"),
    ("silent-denial", "reject", "transfer", "AAEP-6.1-3"),
    ("reuses-token", "two-sessions", "transfer", "AAEP-6.2.2-3"),
    ("runs-untold", "accept", "transfer", "AAEP-A.4-3"),
    ("never-completes", "accept", "transfer", "AAEP-A.3-1"),
    ("not-urgent", "accept", "transfer", "AAEP-EV-6"),
    ("talks-after-end", "accept", "transfer", "AAEP-A.1-3"),
];

fn faults_of_the_adapter_are_caught_over_http_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let token = token_in(&folder);
    let token = token.as_str();
    let mut missed = Vec::new();
    for some in CAUGHT.chunks(5) {
        thread::scope(|scope| {
            let caught = some.iter().map(|&(fault, script, prompt, clause)| {
                scope.spawn(move || {
                    let options = [
                        "--timeout-seconds",
                        "7",
                        "--bearer-token-file",
                        token,
                        "--fault",
                        fault,
                    ];
                    let producer = Producer::shim(&options)?;
                    let options = [
                        "--script",
                        script,
                        "--prompt",
                        prompt,
                        "--max-wait",
                        "20",
                        "--bearer-token-file",
                        token,
                    ];
                    let outcome = driven(&producer.url, &options);
                    let broken = outcome.broken();
                    let is_named = broken.contains_key(clause)
                        || broken.values().flatten().any(|it| it == clause);
                    let is_caught = outcome.status == Some(1) && is_named;
                    let Outcome { status, stderr, .. } = &outcome;
                    (!is_caught).then(|| format!("{fault}: {status:?} {broken:?} {stderr}"))
                })
            });
            let caught: Vec<_> = caught.collect();
            missed.extend(
                caught
                    .into_iter()
                    .filter_map(|it| it.join().expect("no panic")),
            );
        });
    }
    assert_eq!(missed, [""; 0]);
}

/// The evidence is a stream that `lint` finds the same in, and the command that is told plays the run again.
#[test]
fn a_divergence_is_kept_as_a_stream_and_can_be_played_again() {
    let Some(producer) = Producer::shim(&["--fault", "deny-is-allow"]) else {
        return;
    };
    let outcome = driven(
        &producer.url,
        &[
            "--script",
            "reject",
            "--prompt",
            "transfer",
            "--max-wait",
            "2",
        ],
    );
    let found = &outcome.report["divergences"][0];
    let file = found["file"].as_str().expect("a file");
    assert!(file.starts_with(outcome.folder.path().to_str().expect("a path")));
    let binary = env!("CARGO_BIN_EXE_countersign");
    let schema = Command::new(binary).args(["schema", "diff"]).output();
    let schema: Value = serde_json::from_slice(&schema.expect("it runs").stdout).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema of its draft");
    let problems = validator.iter_errors(&outcome.report);
    let problems: Vec<String> = problems.map(|it| it.to_string()).collect();
    assert_eq!(problems, [""; 0]);
    let linted = Command::new(binary)
        .args(["lint", "--format", "json", file])
        .output();
    let linted: Value = serde_json::from_slice(&linted.expect("it runs").stdout).expect("JSON");
    assert_eq!(linted["violations"][0]["clause"], found["clause"]);
    assert_eq!(linted["violations"][0]["message"], found["actual"]);
    let repeat = found["repeat"].as_str().expect("a command");
    let again = repeat.replacen("countersign", binary, 1);
    let again = format!(
        "{again} --format json --save {}",
        outcome.folder.path().display()
    );
    let again = Command::new("sh")
        .args(["-c", &again])
        .output()
        .expect("it runs");
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["divergences"][0]["identity"], found["identity"]);
    let arguments = ["replay", "--format", "json", file, "--http", &producer.url];
    let replayed = Command::new(binary).args(arguments).output();
    let replayed: Value = serde_json::from_slice(&replayed.expect("it runs").stdout).expect("JSON");
    assert_eq!(replayed["divergences"][0]["identity"], found["identity"]);
    assert_eq!(replayed["divergences"][0]["file"], file);
    assert_eq!(found["again"], json!({"seen": 2, "of": 2}));
    let steps = found["steps"].as_array().expect("steps");
    let bad: Vec<bool> = steps.iter().map(|it| it["bad"] == true).collect();
    assert_eq!(bad.iter().filter(|it| **it).count(), 1);
    assert_eq!(bad.last(), Some(&true));
}

/// What does not come again is said to be unstable.
#[test]
fn a_divergence_that_does_not_come_again_is_told_with_its_rate() {
    let port = free_port().to_string();
    let Some(command) = adapter::adapter("aaep_http", &["--port", &port]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let once = folder.path().join("once");
    let script = r#"once="$1"; shift; if mkdir "$once" 2>/dev/null; then exec "$@" --fault deny-is-allow; else exec "$@"; fi"#;
    let once = once.to_str().expect("a path");
    let mut options = vec!["--script", "reject", "--prompt", "transfer", "--spawn"];
    options.extend(["sh", "-c", script, "sh", once]);
    options.extend(command.iter().map(String::as_str));
    let outcome = driven(&format!("http://127.0.0.1:{port}"), &options);
    assert_eq!(outcome.status, Some(1), "{}", outcome.stderr);
    let found = &outcome.report["divergences"][0];
    assert_eq!(found["again"], json!({"seen": 0, "of": 2}));
}

/// What a bad producer does with a request.
type Answers = fn(&str, &mut TcpStream) -> std::io::Result<()>;

/// A producer that answers so. It ends with the test.
fn bad(answers: Answers) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone()?);
                let (mut first, mut length) = (String::new(), 0);
                reader.read_line(&mut first)?;
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line)?;
                    let line = line.trim().to_ascii_lowercase();
                    if let Some(told) = line.strip_prefix("content-length:") {
                        length = told.trim().parse().unwrap_or(0);
                    }
                    if line.is_empty() {
                        break;
                    }
                }
                reader.read_exact(&mut vec![0; length])?;
                answers(&first, &mut stream)
            });
        }
    });
    url
}

fn answer(stream: &mut TcpStream, head: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// The head of a stream; a session that has begun, where a prompt is answered; else not found.
fn streams(line: &str, stream: &mut TcpStream) -> std::io::Result<bool> {
    if line.starts_with("GET /events") {
        write!(stream, "{STREAM}")?;
        return Ok(true);
    }
    if line.starts_with("POST /sessions") {
        answer(stream, "202 Accepted", "{\"session_id\":\"sess_1\"}")?;
    } else {
        answer(stream, "404 Not Found", "")?;
    }
    Ok(false)
}

const STARTED: &str = r#"{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-24T14:22:20Z","producer":{"agent_id":"a"},"summary_normal":"s"}"#;

#[test]
#[ignore = "night: waits for 20 seconds"]
fn a_producer_that_does_not_answer_is_an_error_that_says_so() {
    let silent = bad(|_, _| {
        thread::sleep(Duration::from_mins(1));
        Ok(())
    });
    let outcome = driven(&silent, &[]);
    assert_eq!(outcome.status, Some(2), "{}", outcome.report);
    assert!(
        outcome.stderr.contains("no answer in 10 seconds"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_producer_that_cannot_be_driven_is_an_error_that_says_why() {
    let refused = "http://127.0.0.1:1".to_owned();
    let cases: Vec<(&str, String, &str)> = vec![
        ("refuses", refused, "refused"),
        (
            "redirects",
            bad(|_, to| answer(to, "302 Found\r\nlocation: http://127.0.0.1:1/", "")),
            "302, leads to http://127.0.0.1:1/",
        ),
        (
            "another type",
            bad(|_, to| answer(to, "200 OK\r\ncontent-type: text/html", "<p>")),
            "200, text/html: expected 200 and text/event-stream",
        ),
        (
            "no HTTP",
            bad(|_, to| write!(to, "SSH-2.0\r\n")),
            "GET /events",
        ),
        (
            "fails at the prompt",
            bad(|line, to| {
                if line.starts_with("POST /sessions") {
                    return answer(to, "500 Internal Server Error", "broken");
                }
                streams(line, to).map(drop)
            }),
            "500, broken",
        ),
        (
            "an endless line",
            bad(|line, to| {
                while streams(line, to)? {
                    write!(to, "data: ")?;
                    while write!(to, "{}", "a".repeat(1 << 16)).is_ok() {}
                }
                Ok(())
            }),
            "more than 16 MiB",
        ),
    ];
    thread::scope(|scope| {
        for (name, url, why) in &cases {
            scope.spawn(move || {
                let outcome = driven(url, &[]);
                assert_eq!(outcome.status, Some(2), "{name}: {}", outcome.report);
                assert!(outcome.stderr.contains(why), "{name}: {}", outcome.stderr);
            });
        }
    });
}

#[test]
fn a_producer_of_which_nothing_comes_or_that_dies_is_no_pass_and_no_hang() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    // Nothing comes.
    let silent = bad(|line, to| {
        if streams(line, to)? {
            thread::sleep(Duration::from_mins(1));
        }
        Ok(())
    });
    let outcome = driven(&silent, &["--max-wait", "1"]);
    assert_eq!(outcome.status, Some(3), "{:#}", outcome.report);
    let remark = outcome.report["remarks"][0].as_str();
    assert!(
        remark.is_some_and(|it| it.contains("no session came")),
        "{remark:?}"
    );
    // It breaks off in the middle of an event, again and again, once a session has begun.
    let dies = bad(|line, to| {
        if streams(line, to)? {
            while !BEGUN.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(10));
            }
            write!(to, "data: {STARTED}\n\ndata: {{\"type\"")?;
        } else if line.starts_with("POST /sessions") {
            BEGUN.store(true, Ordering::Relaxed);
        }
        Ok(())
    });
    let outcome = driven(&dies, &["--max-wait", "5"]);
    assert_eq!(outcome.status, Some(1), "{:#}", outcome.report);
    let broken = outcome.broken();
    assert_eq!(broken.keys().collect::<Vec<_>>(), ["driver"]);
    // A process that is started and ends.
    let outcome = driven(
        "http://127.0.0.1:1",
        &["--spawn", "sh", "-c", "echo no >&2; exit 3"],
    );
    assert_eq!(outcome.status, Some(2));
    assert!(
        outcome
            .stderr
            .contains("exit status: 3; its last words: \"no\""),
        "{}",
        outcome.stderr
    );
}
