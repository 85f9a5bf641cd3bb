//! Which requests come of a convention.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::*;

/// What listens there answers every request, and each is told as its first line and its body.
fn listening() -> (Url, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let (mut line, mut header, mut length) = (String::new(), String::new(), 0);
            stream.read_line(&mut line).expect("a request");
            while header != "\r\n" {
                header.clear();
                stream.read_line(&mut header).expect("a header");
                let lower = header.to_lowercase();
                if let Some(told) = lower.strip_prefix("content-length: ") {
                    length = told.trim().parse().expect("a number");
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).expect("a body");
            let body = String::from_utf8(body).expect("text");
            let (kind, answer) = if line.starts_with("GET") {
                ("text/event-stream", "")
            } else {
                (
                    "application/json",
                    r#"{"subscription_id":"sub_1","run":"sess_1"}"#,
                )
            };
            let line = line.replace(" HTTP/1.1\r\n", "");
            if sender.send(format!("{line} {body}")).is_err() {
                return;
            }
            let told = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{answer}",
                answer.len()
            );
            stream
                .get_mut()
                .write_all(told.as_bytes())
                .expect("it is read");
        }
    });
    let url = format!("http://{address}/base").parse().expect("a URL");
    (url, requests)
}

/// All that can be asked by a convention, as requests; and the session that was started.
fn asked(convention: &Convention) -> (Vec<String>, Option<String>) {
    let (url, requests) = listening();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    let started = runtime.block_on(async {
        let wire = Wire::find(&url, None, Some(convention)).await?;
        let started = wire.prompt("go").await?;
        wire.reply(b"{}".to_vec(), true).await?;
        Ok::<_, Trouble>(started)
    });
    (
        requests.try_iter().collect(),
        started.expect("all was answered"),
    )
}

#[test]
fn a_file_that_says_the_same_as_a_named_convention_makes_the_same_requests() {
    let specification = r#"
        replies.path = "/aaep/v1/replies"
        events.path = "/aaep/v1/events?subscription_id={subscription_id}"
        session = [{ path = "/sessions", prompt = "user_message" }]
        subscription = { close = "/aaep/v1/subscriptions/{subscription_id}", open = "/aaep/v1/subscriptions" }
    "#;
    let examples = r#"
        replies.path = "/messages"
        events.path = "/events"
        session = [{ prompt = "user_message", path = "/sessions" }]
    "#;
    let suite = r#"
        replies.path = "/messages"
        events.path = "/events"
        session = [{ path = "/messages", prompt = "text", with.kind = "user_input" }]
    "#;
    for (name, text, first) in [
        (
            "specification",
            specification,
            "POST /base/aaep/v1/subscriptions {",
        ),
        ("examples", examples, "GET /base/events "),
        ("suite", suite, "GET /base/events "),
    ] {
        let named = asked(&Convention::named(name).expect("it is there"));
        let read: Convention = text.parse().expect("it is well-formed");
        assert_eq!(asked(&read), named, "{name}");
        assert!(named.0[0].starts_with(first), "{named:?}");
    }
}

#[test]
fn a_file_says_which_path_takes_what() {
    let text = r#"
        health.path = "/up"
        events.path = "/follow/{subscription_id}"
        replies.path = "/answer?kind=reply"
        subscription.open = "/join"
        subscription.close = "/join/{subscription_id}/end"
        [[session]]
        path = "/run"
        prompt = "task"
        session_id = "run"
        with = { user = { name = "a" }, fast = true }
    "#;
    let own: Convention = text.parse().expect("it is well-formed");
    let (requests, started) = asked(&own);
    assert!(requests[1].starts_with("POST /base/join {"), "{requests:?}");
    let rest = [&requests[..1], &requests[2..]].concat();
    assert_eq!(
        rest,
        [
            "GET /base/up ",
            "GET /base/follow/sub_1 ",
            "DELETE /base/join/sub_1/end ",
            r#"POST /base/run {"fast":true,"user":{"name":"a"},"task":"go"}"#,
            "POST /base/answer?kind=reply {}",
        ]
    );
    assert_eq!(started.as_deref(), Some("sess_1"));
}
