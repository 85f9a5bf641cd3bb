//! `explore`.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use predicates::str::contains;
use serde_json::Value;

use super::countersign;

/// The Explorer of a protocol on a free port; it ends with this value.
struct Explorer {
    process: Child,
    address: String,
    command: String,
}

impl Explorer {
    fn of(arguments: &[&str]) -> Self {
        let mut process = std::process::Command::new(assert_cmd::cargo::cargo_bin!("countersign"))
            .arg("explore")
            .args(arguments)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let (command, rest) = line.split_once(" at http://").expect("where it is");
        let address = rest.split('/').next().expect("an address").to_owned();
        let command = command.to_owned();
        Self {
            process,
            address,
            command,
        }
    }

    /// The body of what it answers; it may not listen yet.
    fn get(&self, path: &str) -> String {
        let mut tries = 0;
        let mut stream = loop {
            match TcpStream::connect(&self.address) {
                Ok(stream) => break stream,
                Err(error) if tries == 1_200 => panic!("{error}"),
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(50)),
            }
            tries += 1;
        };
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        body.to_owned()
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn every_protocol_is_explored_in_words_and_pictures() {
    for (protocol, word) in [
        ("aaep", "starts session 0"),
        ("mcp-aql", "configures a tolerance of 0"),
        ("pending-action", "proposes"),
    ] {
        let explorer = Explorer::of(&[protocol, "--bounds", "small"]);
        assert_eq!(
            explorer.command,
            format!("countersign explore {protocol} --bounds small")
        );
        assert!(explorer.get("/").contains("Stateright Explorer"));
        let start: Value = serde_json::from_str(&explorer.get("/.states/")).expect("JSON");
        assert_eq!(start[0]["state"], "as at the start");
        let index = start[0]["actionIndex"].as_u64().expect("an index");
        let next: Value =
            serde_json::from_str(&explorer.get(&format!("/.states/{index}"))).expect("JSON");
        let next = next.as_array().expect("a list");
        let told = next.iter().find(|step| {
            step["action"]
                .as_str()
                .is_some_and(|action| action.contains(word))
        });
        let told = told.unwrap_or_else(|| panic!("{protocol}: {next:?}"));
        let picture = told["svg"].as_str().expect("a picture");
        uppsala::parse(picture).expect("well-formed");
        assert!(picture.contains(word), "{picture}");
    }
}

#[test]
fn what_there_is_not_to_explore_is_refused() {
    for (arguments, complaint) in [
        (
            &["explore", "nope"][..],
            "possible values: aaep, mcp-aql, pending-action",
        ),
        (
            &["explore", "aaep", "--bounds", "nope"],
            "unknown bounds `nope`",
        ),
        (
            &["explore", "aaep", "--port", "65536"],
            "65536 is not in 0..=65535",
        ),
        (
            &["explore", "aaep", "--format", "svg"],
            "[possible values: text, json]",
        ),
    ] {
        countersign(arguments)
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(complaint));
    }
}

#[test]
fn a_port_that_is_in_use_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let refused = countersign(&["explore", "aaep", "--bounds", "small", "--port", &port]).assert();
    refused
        .code(2)
        .stdout("")
        .stderr(contains(format!("cannot listen on port {port}: ")));
}
