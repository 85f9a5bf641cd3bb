//! Conversations that show one ruling of the driver protocol each, as they go over the wire.
//!
//! The one thing to know: a transcript lists what was sent and what came back, as in `spec-trace/docs/LIVE.md`; the ids count up, so that
//! every line is always the same. The requests stand in `transcripts/`, one file a ruling, with a comment before each.

use std::fs;
use std::path::Path;

use countersign_cli::serve::aaep::{self, Aaep};
use countersign_cli::serve::mcp_aql::McpAql;
use countersign_cli::serve::pending_action::PendingAction;
use countersign_cli::serve::{Service, stdio};
use countersign_reference::ids::SequentialIds;
use countersign_reference::{mcp_aql, pending_action};

/// Before an op is carried out, refused ones too, whatever has fallen due by `now` happens. (AAEP-6.4-1)
#[test]
fn what_is_due_comes_first() {
    holds("due_first");
}

/// What is not understood is an error, what is not allowed is refused, and a message that is wrong is ignored.
#[test]
fn what_is_not_done_is_an_error_or_refused_or_ignored() {
    holds("not_done");
}

/// `hello` declares what is judged; what is not declared is not supported.
#[test]
fn hello_declares_what_is_judged() {
    holds("hello");
}

/// What was lost, what is due, what is in doubt. (PA-10, AAEP-6.1-1, AQL-5.4-2)
#[test]
fn a_restart_tells_what_was_lost() {
    holds("restart");
}

/// The kinds of answer, and what comes of those that are none. (AAEP-6.5.5-2, AAEP-6.5.5-3, AAEP-6.5.5-4, AAEP-A.5-2)
#[test]
fn a_clarification_waits_for_an_answer_of_its_kinds() {
    holds("clarification");
}

/// The countdown, and an extension. (AAEP-6.4.2-3, AAEP-6.4.3-4)
#[test]
fn a_question_may_be_given_more_time() {
    holds("more_time");
}

/// Tools that need no question, output, and a handoff. (AAEP-6.1-4, AAEP-A.6-1, AAEP-A.2-3)
#[test]
fn a_session_works_beside_its_questions() {
    holds("work");
}

/// A reply may make less of an action than was asked about, and no more. (AAEP-6.3.2-3, AAEP-6.3.2-4)
#[test]
fn a_reply_may_modify_the_action_that_it_accepts() {
    holds("modified_action");
}

/// Bytes that are no UTF-8 arrive as they are. (AAEP-6.3.4-1)
#[test]
fn a_message_may_be_any_bytes() {
    holds("base64");
}

/// Says again what the transcript says, and hears what it heard. A line of it is a comment, a request (`→`) or a response
/// (`←`); a request with the id 1 is the first to another server. With `UPDATE_TRANSCRIPTS` set the responses are written anew.
#[track_caller]
fn holds(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/it/serve/transcripts/{name}.txt"));
    let transcript = fs::read_to_string(&path).unwrap();
    let heard = heard_again(name, &transcript);
    if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
        fs::write(&path, &heard).unwrap();
    }
    assert!(heard.contains('←'), "{name} says nothing");
    for (line, heard) in transcript.lines().zip(heard.lines()) {
        assert_eq!(heard, line);
    }
    assert_eq!(heard, transcript);
}

/// The transcript with the responses that there are today.
fn heard_again(name: &str, transcript: &str) -> String {
    let requests: Vec<&str> = transcript
        .lines()
        .filter_map(|line| line.strip_prefix("→ "))
        .collect();
    let is_first = |line: &&str| line.starts_with(r#"{"id":1,"#);
    let mut responses = Vec::new();
    for conversation in requests.chunk_by(|_, next| !is_first(next)) {
        responses.extend(conversation_with_a_server(name, conversation));
    }
    let mut responses = responses.iter();
    let mut heard = String::new();
    for line in transcript.lines().filter(|line| !line.starts_with("← ")) {
        heard.extend([line, "\n"]);
        if line.starts_with("→ ") {
            heard.extend(["← ", responses.next().unwrap(), "\n"]);
        }
    }
    heard
}

fn conversation_with_a_server(name: &str, requests: &[&str]) -> Vec<String> {
    fn answers(requests: &[&str], service: impl Service) -> Vec<String> {
        let mut output = Vec::new();
        stdio::serve(requests.join("\n").as_bytes(), &mut output, service).unwrap();
        let output = String::from_utf8(output).unwrap();
        output.lines().map(str::to_owned).collect()
    }
    let ids = SequentialIds::new();
    let served = |protocol: &str| requests[0].contains(&format!(r#""protocol":"{protocol}""#));
    if served("mcp-aql") {
        answers(requests, McpAql::new(mcp_aql::Settings::default(), ids))
    } else if served("pending-action") {
        let settings = pending_action::Settings::default();
        answers(requests, PendingAction::in_memory(settings, ids))
    } else {
        let settings = aaep::Settings {
            modified_action: name == "modified_action",
        };
        answers(requests, Aaep::new(settings, ids))
    }
}
