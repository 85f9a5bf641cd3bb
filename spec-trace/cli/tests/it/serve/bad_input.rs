//! What the server makes of input that no driver should send, with requests of AAEP where it takes some.

use std::io::{self, Write};

use countersign_cli::serve::{
    aaep::{Aaep, Settings},
    stdio,
};
use countersign_reference::ids::SequentialIds;
use serde_json::{Value, json};

use super::aaep::{ready, transfer};
use super::driver::{Driver, NOW, timed};

/// What a reader finds wrong with a line is pinned where it is read. Here: the error names the line and carries the id, if
/// there is one, and the next line is served.
#[test]
fn a_bad_line_is_answered_with_its_number_and_its_id_and_the_next_one_is_served() {
    let mut driver = ready();
    let lines = [
        ("", "null", "expected a JSON object, found nothing"),
        ("[9]", "null", "expected a JSON object, found [9]"),
        (
            "{\"id\":9",
            "null",
            "column 7: expected a JSON object: EOF while parsing an object",
        ),
        (
            r#"{"id":9,"op":"tick","op":"tick"}"#,
            "9",
            "column 24: the key \"op\" appears twice",
        ),
        (r#"{"op":"tick"}"#, "null", "`id` is missing"),
        (r#"{"id":9}"#, "9", "`op` is missing"),
        (r#"{"id":9,"op":"tick"}"#, "9", "`now` is missing"),
        (
            r#"{"id":9,"op":"tick","now":"today"}"#,
            "9",
            "`now` is \"today\": not an RFC 3339 date-time",
        ),
        (r#"{"id":9,"op":"reset"}"#, "9", "`now` is missing"),
        (
            r#"{"id":9,"op":"hello","driver":2,"protocol":"aaep"}"#,
            "9",
            "`driver` is 2: expected 1, the only version spoken here",
        ),
        (
            r#"{"id":9,"op":"hello","driver":1,"protocol":"mcp-aql"}"#,
            "9",
            "`protocol` is \"mcp-aql\": expected \"aaep\", the protocol served here",
        ),
        (
            r#"{"id":9,"op":"hello","driver":1,"protocol":"aaep","now":"today"}"#,
            "9",
            "`now` is \"today\": not an RFC 3339 date-time",
        ),
    ];
    // `hello`, `reset` and the two of `ready` were lines 1 to 4.
    for (number, (line, id, error)) in (5..).zip(lines) {
        let response = driver.send(line);
        assert_eq!(response["id"].to_string(), id, "{line}");
        let error = format!("line {number}: {error}");
        assert_eq!(response["error"], error, "{line}");
    }
    assert_eq!(driver.at(NOW, "tick", json!({})), [""; 0]);
    driver.hang_up();
}

/// Whatever was answered instead has changed nothing: no event was put out, and no id was drawn.
#[track_caller]
fn is_untouched(driver: &mut Driver) {
    let response = driver.ask("confirm", timed(NOW, transfer()));
    let event = &response["outputs"][0]["emit"];
    assert_eq!(event["sequence_number"], 1);
    // The first id was for the start, the second is for the token.
    assert_eq!(event["event_id"], format!("evt_{:032x}", 3));
}

/// A question with one field changed.
fn changed(field: &str, value: Value) -> Value {
    let mut ask = transfer();
    let (object, field) = field.rsplit_once('/').unwrap();
    ask.pointer_mut(object).unwrap()[field] = value;
    ask
}

#[test]
fn a_field_that_is_not_understood_is_named_and_nothing_happens() {
    let mut driver = ready();
    let mut without = transfer();
    without.as_object_mut().unwrap().remove("action");
    driver.complains(&[
        ("subscribe", json!({}), "`subscription_id` is missing"),
        ("confirm", without, "`action` is missing"),
        (
            "confirm",
            changed("/action/tool", json!(0)),
            "`action.tool`: invalid type: integer `0`, expected a string",
        ),
        (
            "confirm",
            changed("/action/args", json!({})),
            "unknown field `action.args`: expected one of `id`, `tool`, `description`, `consequence`, `risk_level`, \
             `irreversible`",
        ),
        (
            "deliver",
            json!({"message": {}, "sender": {"authenticated": true}}),
            "`message`: invalid type: map, expected a string",
        ),
        ("tick", json!({"nwo": 1}), "unknown field `nwo`: expected only `id`, `op`, `now`"),
    ]);
    is_untouched(&mut driver);
}

/// What is understood and breaks a limit that the producer's types keep is refused.
#[test]
fn an_id_or_a_name_that_cannot_be_is_refused_and_nothing_happens() {
    let mut driver = ready();
    let token = "expected rpl_ and 1 to 64 ASCII letters or digits";
    let long = format!("`reply_token` is \"{}\"…: {token}", "x".repeat(60));
    let subscription = "expected sub_ and 1 to 64 ASCII letters or digits";
    driver.refuses(&[
        (
            "start_session",
            json!({"session_id": "s"}),
            "`session_id` is \"s\": expected sess_ and 1 to 64 ASCII letters or digits",
        ),
        (
            "subscribe",
            json!({"subscription_id": "sub_"}),
            &format!("`subscription_id` is \"sub_\": {subscription}"),
        ),
        (
            "confirm",
            changed("/action/id", json!("")),
            "`action.id` is \"\": expected a name of 1 to 256 characters, not blank",
        ),
        (
            "tool",
            json!({"session_id": "sess_1", "action": {"id": "", "tool": "t"}}),
            "`action.id` is \"\": expected a name of 1 to 256 characters, not blank",
        ),
        (
            "tool",
            json!({"session_id": "sess_1", "action": {"id": "r1", "tool": "t"}, "tool_call_id": ""}),
            "`tool_call_id` is \"\": expected a name of 1 to 64 characters, not blank",
        ),
        (
            "output",
            json!({"session_id": "sess_1", "output_id": "", "chunk": "x", "complete": true}),
            "`output_id` is \"\": expected a name of 1 to 64 characters, not blank",
        ),
        (
            "handoff",
            json!({"session_id": "s", "reason": "r", "target_kind": "human"}),
            "`session_id` is \"s\": expected sess_ and 1 to 64 ASCII letters or digits",
        ),
        (
            "deliver",
            json!({"message": "x", "sender": {"authenticated": true, "subscription_id": "1"}}),
            &format!("`sender.subscription_id` is \"1\": {subscription}"),
        ),
        (
            "cancel",
            json!({"reply_token": "rpl-1"}),
            &format!("`reply_token` is \"rpl-1\": {token}"),
        ),
        ("cancel", json!({"reply_token": "x".repeat(100)}), &long),
        (
            "finish_tool",
            json!({"session_id": "sess_1", "action": "a1", "status": "done"}),
            "`status`: unknown variant `done`, expected one of `success`, `error`, `timeout`",
        ),
        (
            "confirm",
            changed("/action/risk_level", json!("huge")),
            "`action.risk_level`: unknown variant `huge`, expected one of `low`, `medium`, `high`",
        ),
        (
            "deliver",
            json!({"message_base64": "_w==", "sender": {"authenticated": true}}),
            "`message_base64`: invalid value: no base64, expected A to Z, a to z, 0 to 9, + and /, padded with =",
        ),
    ]);
    is_untouched(&mut driver);
}

/// AAEP-EV-5: what has the right type and the wrong value is the executor's to refuse.
#[test]
fn a_timeout_out_of_range_is_refused_and_no_error() {
    for (seconds, refused) in [
        (-1, true),
        (0, true),
        (1, false),
        (2, false),
        (86_399, false),
        (86_400, false),
        (86_401, true),
    ] {
        let mut driver = ready();
        let mut ask = transfer();
        ask["timeout_seconds"] = json!(seconds);
        let outputs = driver.at(NOW, "confirm", ask);
        assert_eq!(outputs == ["refused AAEP-EV-5"], refused, "{seconds} s");
    }
}

/// The whole of what is written for `input`.
fn served(input: &[u8]) -> String {
    let mut output = Vec::new();
    stdio::serve(
        input,
        &mut output,
        Aaep::new(Settings::default(), SequentialIds::new()),
    )
    .unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn a_line_of_more_than_16_mib_is_an_error_and_the_next_line_is_served() {
    const LIMIT: usize = 16 << 20;
    let hello = r#"{"id":2,"op":"hello","driver":1,"protocol":"aaep"}"#;
    for (length, too_long) in [(LIMIT - 1, false), (LIMIT, false), (LIMIT + 1, true)] {
        let input = format!("{hello}{}\n{hello}\n", " ".repeat(length - hello.len()));
        let output = served(input.as_bytes());
        let (first, second) = output.trim_end().split_once('\n').unwrap();
        let error = r#"{"id":null,"error":"line 1: expected at most 16777216 bytes"}"#;
        assert_eq!(first == error, too_long, "{length}");
        assert!(second.contains("countersign-reference"), "{second}");
    }
}

/// What a request gets wrong may be as long as a line; the complaint about it is not.
#[test]
fn a_complaint_stays_short_however_long_the_fault_is() {
    let long = "é".repeat(1 << 20);
    let field: &str = &long;
    let mut driver = ready();
    for (op, fields, expected) in [
        (field, json!({}), "`end_session`"),
        ("tick", json!({ field: 1 }), "`now`"),
        (
            "end_session",
            json!({"session_id": "sess_1", "outcome": long}),
            "`cancelled`",
        ),
    ] {
        let response = driver.ask(op, timed(NOW, fields));
        // An unknown word is refused, all else is an error.
        let refused = &response["outputs"][0]["refused"]["reason"];
        let error = response["error"].as_str().or(refused.as_str()).unwrap();
        assert!(error.ends_with(expected), "{error}");
        assert!(error.chars().count() < 1_100, "{}", error.chars().count());
    }
}

#[test]
fn bytes_that_are_no_utf8_are_an_error() {
    assert_eq!(
        served(b"{\"id\":\xff}\n"),
        "{\"id\":null,\"error\":\"line 1: column 7: expected UTF-8\"}\n"
    );
}

#[test]
fn a_last_line_without_line_end_is_served() {
    let output = served(br#"{"id":1,"op":"hello","driver":1,"protocol":"aaep"}"#);
    assert!(output.starts_with("{\"id\":1,\"name\":"), "{output}");
}

#[test]
fn to_be_asked_nothing_is_fine() {
    assert_eq!(served(b""), "");
}

/// Takes nothing, for a reason.
struct Refusing(io::ErrorKind);

impl Write for Refusing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_has_gone_ends_the_conversation_quietly_and_any_other_failure_does_not() {
    let serve = |kind| {
        let service = Aaep::new(Settings::default(), SequentialIds::new());
        stdio::serve(&b"{}\n{}\n"[..], Refusing(kind), service)
    };
    assert!(serve(io::ErrorKind::BrokenPipe).is_ok());
    let error = serve(io::ErrorKind::StorageFull).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
