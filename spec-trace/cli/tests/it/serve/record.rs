//! `countersign record`: what passes through stands in the recording, and nothing that passes is changed.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::{Served, follow, is_refused, linted};
use super::running::{Ending, listens_at};

pub struct Recorder {
    pub process: Ending,
    pub address: String,
    pub stderr: BufReader<ChildStderr>,
    file: PathBuf,
    _folder: TempDir,
}

impl Recorder {
    /// In front of what listens at that address.
    fn of(address: &str) -> Self {
        Self::to(&format!("http://{address}"))
    }

    pub fn to(url: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.jsonl");
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["record", "--listen", "127.0.0.1:0", "--to", url, "--out"]);
        command
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let mut stderr = BufReader::new(process.stderr.take().expect("a pipe"));
        Self {
            address: listens_at(&mut stderr),
            process: Ending(process),
            stderr,
            file,
            _folder: folder,
        }
    }

    /// Ends it by a signal: its exit status, its summary and what it said of trouble.
    pub fn stop(&mut self) -> (Option<i32>, String) {
        let status = self.process.asked_to();
        let mut said = String::new();
        let mut stdout = self.process.0.stdout.take().expect("a pipe");
        stdout.read_to_string(&mut said).expect("text");
        self.stderr.read_to_string(&mut said).expect("text");
        (status, said)
    }
}

/// The lines behind the first, which says that all replies are there.
fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("a recording");
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "a line is cut: {text}"
    );
    let mut lines = text.lines();
    let head = lines.next().unwrap_or(HEAD);
    assert_eq!(head, HEAD);
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

const HEAD: &str = r#"{"type":"countersign.recording","replies":"all","order":"receipt"}"#;

/// A producer that answers each connection with these bytes, and then closes it.
pub fn answering(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = vec![0; 65_536];
            let _read = stream.read(&mut request);
            let _gone = stream.write_all(&bytes);
            let _gone = stream.shutdown(Shutdown::Write);
            let _rest = stream.read_to_end(&mut request);
        }
    });
    address
}

/// A whole response, head and body.
pub fn asked(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let patience = Some(Duration::from_mins(1));
    stream.set_read_timeout(patience).expect("a patience");
    stream.write_all(request.as_bytes()).expect("it is read");
    let mut response = Vec::new();
    let _broken_off = stream.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

pub const GET: &str = "GET /events HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

fn post(path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// What the producer's own log of the session says is what the recording says, and it is judged alike.
#[test]
fn a_session_that_was_recorded_is_judged_as_its_producer_has_it() {
    let served = Served::start();
    let mut recorder = Recorder::of(&served.address);
    let own = follow(&recorder.address);
    let (status, said) = recorder.stop();
    let recorded = lines(&recorder.file);
    assert_eq!(status, Some(0), "{said}");
    let messages: Vec<&Value> = recorded.iter().map(|it| &it["message"]).collect();
    assert_eq!(messages, own.iter().collect::<Vec<_>>());
    let replies: Vec<&Value> = recorded.iter().filter(|it| it["dir"] == "in").collect();
    let [reply] = replies[..] else {
        panic!("one reply was sent: {replies:?}");
    };
    assert_eq!(reply["http_status"], 204);
    assert_eq!(reply["authorization"], false);
    assert!(said.contains("1 reply"), "{said}");
    let file = recorder.file.with_extension("own");
    let text: Vec<String> = own.iter().map(|it| format!("{it}\n")).collect();
    fs::write(&file, format!("{HEAD}\n{}", text.concat())).expect("a file");
    let (mut recorded, mut own) = (linted(&recorder.file), linted(&file));
    for verdict in [&mut recorded, &mut own] {
        // It is of the line as it is written.
        for warning in verdict["warnings"].as_array_mut().expect("a list") {
            warning["fingerprint"] = Value::Null;
        }
    }
    for member in ["verdict", "violations", "warnings", "records", "sessions"] {
        assert_eq!(recorded[member], own[member], "{member}");
    }
    assert_eq!(recorded["verdict"], "conforming", "{recorded:#}");
}

/// An event that comes to two subscribers is one event; one that comes twice to one of them is two.
#[test]
fn an_event_stands_as_often_as_it_came_in_one_stream() {
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
                  data: {\"type\":\"aaep:a\",\ndata: \"n\":1}\n\ndata: {\"type\":\"aaep:b\"}\n\ndata: {\"type\":\"aaep:b\"}\n\ndata: {\"cut\"";
    let address = answering(stream.into());
    let mut recorder = Recorder::of(&address);
    for _subscriber in 0..3 {
        let passed = asked(&recorder.address, GET);
        // It passes as it is, what is cut off included.
        assert!(passed.contains("data: \"n\":1}\n\n"), "{passed}");
        assert!(passed.contains("data: {\"cut\""), "{passed}");
    }
    let (status, said) = recorder.stop();
    let recorded = lines(&recorder.file);
    assert_eq!(status, Some(0), "{said}");
    let messages: Vec<Value> = recorded.iter().map(|it| it["message"].clone()).collect();
    let [a, b] = [json!({"type": "aaep:a", "n": 1}), json!({"type": "aaep:b"})];
    assert_eq!(messages, [a, b.clone(), b]);
    assert!(said.contains("3 events of 3 streams"), "{said}");
}

/// A reply stands before the events that come because of it, also where its answer comes after them.
#[test]
fn what_is_posted_stands_where_it_came_with_its_answer() {
    let answer = "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: 12\r\nx-own: 1\r\n\r\n{\"error\":\"a\"";
    let address = answering(
        format!("{answer}}}")
            .replace("length: 12", "length: 13")
            .into(),
    );
    let mut recorder = Recorder::of(&address);
    let deep = format!(
        "{{\"type\":\"confirmation.reply\",\"a\":{}{}}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let posted = [
        (
            "/messages",
            "{\"type\":\"confirmation.reply\",\n \"decision\":\"accept\"}",
        ),
        ("/aaep/v1/replies", "not JSON"),
        ("/aaep/v1/replies", &deep),
        ("/messages", "{\"kind\":\"user_input\",\"text\":\"hello\"}"),
        ("/sessions", "{\"user_message\":\"hello\"}"),
    ];
    for (path, body) in posted {
        let passed = asked(&recorder.address, &post(path, body));
        assert!(passed.starts_with("HTTP/1.1 403"), "{passed}");
        assert!(
            passed.contains("x-own: 1") && passed.ends_with("{\"error\":\"a\"}"),
            "{passed}"
        );
    }
    let (status, said) = recorder.stop();
    assert_eq!(status, Some(0), "{said}");
    let text = fs::read_to_string(&recorder.file).expect("a recording");
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0]
            .contains("\"message\":{\"type\":\"confirmation.reply\",  \"decision\":\"accept\"}")
    );
    assert!(lines[1].contains("\"message\":{\"_raw\":\"not JSON\"}"));
    assert!(lines[2].contains(&format!("\"message\":{deep}")));
    for line in lines {
        assert!(
            line.ends_with("\"http_status\":403,\"http_body\":{\"error\":\"a\"}}"),
            "{line}"
        );
    }
}

/// What the producer does wrong is told to the client and to the operator, and the recorder goes on.
#[test]
fn a_producer_that_is_not_there_or_breaks_off_is_told() {
    // A port that the system gives to nobody who asks for a free one.
    let mut recorder = Recorder::of("127.0.0.1:1");
    let passed = asked(&recorder.address, GET);
    assert!(passed.starts_with("HTTP/1.1 502"), "{passed}");
    let (status, said) = recorder.stop();
    let recorded = lines(&recorder.file);
    assert_eq!(status, Some(3), "nothing was recorded: {said}");
    assert!(
        said.contains("not passed on: /events:") && said.contains("refused"),
        "{said}"
    );
    assert_eq!(recorded, Vec::<Value>::new());

    let redirect = "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://elsewhere.example/\r\ncontent-length: 0\r\n\r\n";
    let mut recorder = Recorder::of(&answering(redirect.into()));
    let passed = asked(&recorder.address, GET);
    assert!(passed.starts_with("HTTP/1.1 307"), "{passed}");
    assert!(
        passed.contains("location: http://elsewhere.example/"),
        "{passed}"
    );
    drop(recorder.stop());

    let short = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100\r\n\r\ndata: {\"type\":\"aaep:a\"}\n\n";
    let mut recorder = Recorder::of(&answering(short.into()));
    asked(&recorder.address, GET);
    let (status, said) = recorder.stop();
    let recorded = lines(&recorder.file);
    assert_eq!((status, recorded.len()), (Some(0), 1), "{said}");
    assert!(said.contains("broke off: "), "{said}");

    let babble = "SSH-2.0-OpenSSH_9.9\r\n";
    let mut recorder = Recorder::of(&answering(babble.into()));
    let passed = asked(&recorder.address, GET);
    assert!(passed.starts_with("HTTP/1.1 502"), "{passed}");
    drop(recorder.stop());
}

/// Lines are there while it runs, whole, so that one that is killed leaves them.
#[test]
fn what_was_received_is_there_when_the_recorder_is_killed() {
    let served = Served::start();
    let mut recorder = Recorder::of(&served.address);
    let own = follow(&recorder.address);
    let until = Instant::now() + Duration::from_mins(1);
    while lines(&recorder.file).len() < own.len() && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    recorder.process.0.kill().expect("it runs");
    recorder.process.0.wait().expect("it ends");
    assert_eq!(lines(&recorder.file).len(), own.len());
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = folder.path().join("run.jsonl");
    fs::write(&there, "mine\n").expect("a file");
    let there = there.display().to_string();
    let taken = Served::start();
    let refused: [(&[&str], &str); 6] = [
        (
            &["--listen", "0.0.0.0:0", "--to", "http://a"],
            "whoever reaches this address",
        ),
        (
            &["--listen", "127.0.0.1:0", "--to", "ftp://a"],
            "expected a URL such as",
        ),
        (
            &["--listen", "127.0.0.1:0", "--to", "http://a/?b"],
            "expected a URL such as",
        ),
        (
            &["--listen", "127.0.0.1:0", "--to", "nowhere"],
            "invalid value 'nowhere'",
        ),
        (
            &["--listen", &taken.address, "--to", "http://a"],
            "cannot listen there",
        ),
        (
            &[
                "--listen",
                "127.0.0.1:0",
                "--to",
                "http://a",
                "--out",
                &there,
            ],
            "cannot be made",
        ),
    ];
    for (arguments, why) in refused {
        is_refused("record", arguments, why);
    }
    assert_eq!(fs::read_to_string(&there).expect("it is there"), "mine\n");
}

/// Whoever has read where it listens may end it at once.
#[test]
fn a_signal_is_heard_as_soon_as_the_address_is_told() {
    for _ in 0..10 {
        let mut recorder = Recorder::of("127.0.0.1:9");
        let (status, said) = recorder.stop();
        assert_eq!(status, Some(3), "{said}");
    }
}
