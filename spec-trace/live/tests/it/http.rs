//! The server over real sockets: the three conventions, those that come back, and those that mean harm.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use countersign_live::host::Host;
use countersign_live::http::{self, Settings};
use countersign_reference::aaep::{self, Audit};
use countersign_reference::ids::SequentialIds;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// What is awaited comes within it on a slow machine too.
const PATIENCE: Duration = Duration::from_mins(1);
/// How many connections a server takes.
const CONNECTIONS: u32 = 40;

struct Server {
    address: SocketAddr,
    audits: Receiver<Audit>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// One whose questions wait for so many seconds.
    fn start(timeout_seconds: u64, token: Option<&str>) -> Self {
        Self::with_patience(PATIENCE, timeout_seconds, token)
    }

    /// One that gives its clients so much time.
    fn with_patience(patience: Duration, timeout_seconds: u64, token: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (sender, audits) = sync_channel(100);
        let (stop, stopped) = oneshot::channel();
        let settings = Settings {
            bearer_token: token.map(str::to_owned),
            patience,
            connections: CONNECTIONS,
            audits: sender,
        };
        let host = Host::new(
            aaep::Settings::default(),
            SequentialIds::new(),
            timeout_seconds,
        );
        let thread = thread::spawn(move || {
            let stopped = async move { drop(stopped.await) };
            http::run(listener, host, settings, stopped).expect("it serves");
        });
        Self {
            address,
            audits,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a patience");
        stream
    }

    /// Sends a request, and reads the head of the response.
    fn send(&self, line: &str, headers: &str, body: &str) -> (u16, String, BufReader<TcpStream>) {
        let mut stream = self.connect();
        let (address, length) = (self.address, body.len());
        let head = format!(
            "{line} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        // What it does not want it need not read.
        let _refused = stream.write_all(format!("{head}{body}").as_bytes());
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = reader.read_line(&mut head).expect("a response");
            assert_ne!(read, 0, "the connection ended after {head:?}");
        }
        let status = head.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), head.clone(), reader)
    }

    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let headers = "content-type: application/json\r\nconnection: close\r\n";
        let (status, head, mut reader) =
            self.send(&format!("POST {path}"), headers, &body.to_string());
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("a body");
        (status, head.to_lowercase() + &text)
    }

    fn status(&self, line: &str, headers: &str, body: &str) -> u16 {
        self.send(line, headers, body).0
    }

    /// A stream, and the subscription that it belongs to.
    fn events(&self, path: &str, headers: &str) -> Events {
        let (status, head, reader) = self.send(&format!("GET {path}"), headers, "");
        assert_eq!(status, 200, "{head}");
        let mut lines = head.lines();
        let id = lines.find_map(|line| line.strip_prefix("aaep-subscription-id: "));
        Events {
            id: id.expect("a subscription").to_owned(),
            reader,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let thread = self.thread.take().expect("it runs");
        assert!(thread.join().is_ok() || thread::panicking());
    }
}

struct Events {
    id: String,
    reader: BufReader<TcpStream>,
}

impl Events {
    /// The next event, unless the stream ends or nothing but comments keeps it open.
    fn next(&mut self) -> Option<Value> {
        let begun = Instant::now();
        let mut line = String::new();
        while begun.elapsed() < PATIENCE
            && self.reader.read_line(&mut line).is_ok_and(|read| read > 0)
        {
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
            line.clear();
        }
        None
    }

    /// All events up to the first of that type.
    fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let event = self
                .next()
                .unwrap_or_else(|| panic!("no {kind} after {seen:#?}"));
            let found = event["type"] == format!("aaep:agent.{kind}");
            seen.push(event);
            if found {
                return seen;
            }
        }
    }

    fn reply(&self, seen: &[Value], decision: &str) -> Value {
        let question = seen.last().expect("a question");
        json!({
            "type": "confirmation.reply", "reply_token": question["reply_token"], "decision": decision,
            "subscription_id": self.id, "timestamp": question["timestamp"],
        })
    }
}

fn invokes(seen: &[Value]) -> bool {
    seen.iter()
        .any(|event| event["type"] == "aaep:agent.tool.invoked")
}

#[test]
fn the_conventions_in_the_field_accept_and_reject() {
    let server = Server::start(30, None);
    for (path, prompt) in [
        ("/sessions", json!({"user_message": "transfer"})),
        (
            "/messages",
            json!({"kind": "user_input", "text": "something that requires confirmation"}),
        ),
    ] {
        for (decision, runs) in [("accept", true), ("reject", false)] {
            let mut events = server.events("/events", "");
            assert_eq!(server.post(path, &prompt).0, 202);
            let asked = events.until("awaiting.confirmation");
            assert_eq!(
                server.post("/messages", &events.reply(&asked, decision)).0,
                204
            );
            assert_eq!(invokes(&events.until("session.completed")), runs);
        }
    }
    assert_eq!(server.status("GET /healthz", "", ""), 200);
}

#[test]
fn the_binding_of_the_specification_accepts_and_reaches_two_subscribers() {
    let server = Server::start(30, None);
    let wanted = json!({"aaep_version": "1.0.0", "subscriber_id": "reader", "capabilities": {"supports_confirmation_reply": true}});
    let (status, response) = server.post("/aaep/v1/subscriptions", &wanted);
    assert_eq!(status, 201, "{response}");
    let mut lines = response.lines();
    let stream = lines.find_map(|line| line.strip_prefix("location: "));
    // What comes between the subscription and its stream is not missed.
    assert_eq!(
        server
            .post("/sessions", &json!({"user_message": "transfer"}))
            .0,
        202
    );
    let mut other = server.events("/events", "");
    let mut events = server.events(stream.expect("a stream"), "");
    let asked = events.until("awaiting.confirmation");
    let reply = events.reply(&asked, "accept");
    assert_eq!(server.post("/aaep/v1/replies", &reply).0, 204);
    let seen = events.until("session.completed");
    assert!(invokes(&seen));
    assert_eq!(other.until("session.completed"), seen);
    let closed = format!("DELETE /aaep/v1/subscriptions/{}", events.id);
    assert_eq!(server.status(&closed, "", ""), 204);
    assert_eq!(server.status(&closed, "", ""), 404);
}

#[test]
fn the_default_applies_at_its_deadline_without_a_reply() {
    let server = Server::start(1, None);
    let mut events = server.events("/events", "");
    let begun = Instant::now();
    assert_eq!(
        server.post("/sessions", &json!({"user_message": "note"})).0,
        202
    );
    assert!(invokes(&events.until("session.completed")));
    // The server's clock counts whole milliseconds.
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_millis(990), "{waited:?}");
}

#[test]
fn a_reader_that_comes_back_goes_on_after_the_last_event_that_it_has_seen() {
    let server = Server::start(30, None);
    let mut events = server.events("/events", "");
    assert_eq!(
        server
            .post("/sessions", &json!({"user_message": "what is new?"}))
            .0,
        202
    );
    let seen = events.until("session.completed");
    for place in [0, 2, seen.len() - 2] {
        let last = seen[place]["event_id"].as_str().expect("an id");
        let headers = format!("last-event-id: {last}\r\n");
        let again = server
            .events("/events", &headers)
            .until("session.completed");
        assert_eq!(again, seen[place + 1..]);
    }
}

#[test]
fn a_guessed_token_opens_nothing_and_its_reply_is_ignored_without_a_word() {
    let server = Server::start(30, Some("right"));
    let right = "authorization: Bearer right\r\ncontent-type: application/json\r\n";
    let prompt = json!({"user_message": "transfer"}).to_string();
    for wrong in [
        "",
        "authorization: Bearer wrong\r\n",
        "authorization: Bearer righ\r\n",
        "authorization: right\r\n",
    ] {
        let wrong = format!("{wrong}content-type: application/json\r\n");
        assert_eq!(server.status("POST /sessions", &wrong, &prompt), 401);
        assert_eq!(server.status("GET /events", &wrong, ""), 401);
        let input = json!({"kind": "user_input", "text": "transfer"}).to_string();
        assert_eq!(server.status("POST /messages", &wrong, &input), 401);
    }
    let mut events = server.events("/events", right);
    assert_eq!(server.status("POST /sessions", right, &prompt), 202);
    let asked = events.until("awaiting.confirmation");
    let accept = events.reply(&asked, "accept").to_string();
    let wrong = right.replace("right", "wrong");
    assert_eq!(server.status("POST /messages", &wrong, &accept), 204);
    let audit = server.audits.recv_timeout(PATIENCE).expect("an audit");
    assert!(audit.text.contains("authenticat"), "{}", audit.text);
    let reject = events.reply(&asked, "reject").to_string();
    assert_eq!(server.status("POST /messages", right, &reject), 204);
    assert!(!invokes(&events.until("session.completed")));
}

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let server = Server::start(30, None);
    let own = format!("origin: http://{}\r\n", server.address);
    assert_eq!(server.status("GET /healthz", &own, ""), 200);
    for foreign in [
        "origin: http://evil.example\r\n",
        "origin: null\r\n",
        "origin: http://127.0.0.1\r\n",
    ] {
        assert_eq!(server.status("GET /events", foreign, ""), 403);
        let prompt = format!("{foreign}content-type: application/json\r\n");
        assert_eq!(server.status("POST /sessions", &prompt, "{}"), 403);
    }
    // A name of the page's own that leads here.
    let mut stream = server.connect();
    let misled = b"GET /events HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    stream.write_all(misled).expect("a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    assert!(response.starts_with("HTTP/1.1 403"), "{response}");
}

#[test]
fn what_has_the_wrong_form_is_refused() {
    let server = Server::start(30, None);
    let form = "content-type: text/plain\r\n";
    assert_eq!(server.status("POST /messages", form, "{}"), 415);
    let json = "content-type: application/json; charset=utf-8\r\n";
    let longest = " ".repeat(http::LONGEST_BODY);
    assert_eq!(server.status("POST /messages", json, &longest), 204);
    assert_eq!(server.status("POST /messages", json, &(longest + " ")), 413);
    assert_eq!(server.status("POST /sessions", json, "[]"), 400);
    assert_eq!(server.status("POST /aaep/v1/subscriptions", json, "{"), 400);
    assert_eq!(server.status("GET /aaep/v1/events", "", ""), 400);
    assert_eq!(
        server.status("GET /aaep/v1/events?subscription_id=sub_x", "", ""),
        404
    );
    assert_eq!(server.status("GET /nowhere", "", ""), 404);
}

#[test]
fn slow_and_half_requests_are_cut_off_and_hold_nobody_up() {
    // So that what is sent in one piece comes in time on a slow machine too.
    let server = Server::with_patience(Duration::from_secs(3), 30, None);
    let idle: Vec<TcpStream> = (0..CONNECTIONS - 5).map(|_| server.connect()).collect();
    let mut slow = server.connect();
    slow.write_all(b"POST /messages HTTP/1.1\r\nhost: ")
        .expect("half a head");
    let mut half = server.connect();
    let head = format!(
        "POST /messages HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{{",
        server.address
    );
    half.write_all(head.as_bytes()).expect("half a body");
    assert_eq!(server.status("GET /healthz", "", ""), 200);
    let mut response = String::new();
    half.read_to_string(&mut response).expect("a response");
    assert!(response.starts_with("HTTP/1.1 408"), "{response}");
    for mut stream in idle.into_iter().chain([slow]) {
        let end = stream
            .read_to_end(&mut Vec::new())
            .map_err(|error| error.kind());
        assert!(
            matches!(end, Ok(_) | Err(ErrorKind::ConnectionReset)),
            "{end:?}"
        );
    }
}

#[test]
fn connections_beyond_the_limit_are_closed_and_the_others_go_on() {
    let server = Server::start(30, None);
    let mut events = server.events("/events", "");
    let others: Vec<TcpStream> = (0..CONNECTIONS).map(|_| server.connect()).collect();
    let mut last = others.last().expect("a connection");
    let end = last
        .read_to_end(&mut Vec::new())
        .map_err(|error| error.kind());
    assert!(
        matches!(end, Ok(0) | Err(ErrorKind::ConnectionReset)),
        "{end:?}"
    );
    drop(others);
    // The ends are seen one after the other.
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let mut stream = server.connect();
        let head = format!(
            "GET /healthz HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            server.address
        );
        let mut response = String::new();
        let _closed = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.read_to_string(&mut response).map(drop));
        if response.starts_with("HTTP/1.1 200") {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(
        server
            .post("/sessions", &json!({"user_message": "what is new?"}))
            .0,
        202
    );
    events.until("session.completed");
}

#[test]
fn when_the_server_stops_streams_end_and_nothing_hangs() {
    let server = Server::start(30, None);
    let mut events = server.events("/events", "");
    let _idle = server.connect();
    drop(server);
    assert_eq!(events.next(), None);
}
