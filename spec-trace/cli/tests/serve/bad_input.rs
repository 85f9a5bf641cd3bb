//! What the server makes of input that no driver should send, with requests of AAEP where it takes some.

use std::io::{self, Write};

use countersign_cli::serve::{aaep::Aaep, stdio};
use countersign_reference::ids::SequentialIds;
use serde_json::{Value, json};

use super::aaep::{ready, transfer};
use super::driver::{NOW, timed};

/// Each line is answered with an id, as JSON, and an error; the line after all of them is served.
#[track_caller]
fn answers(cases: &[(&str, &str, &str)]) {
    let mut driver = ready();
    // `hello`, `reset` and the two of `ready` were lines 1 to 4.
    for (number, (line, id, error)) in (5..).zip(cases) {
        let response = driver.send(line);
        assert_eq!(response["id"].to_string(), *id, "{line}");
        let error = format!("line {number}: {error}");
        assert_eq!(response["error"], error, "{line}");
    }
    assert_eq!(driver.at(NOW, "tick", json!({})), [""; 0]);
    driver.hang_up();
}

#[test]
fn a_line_that_is_no_object_is_answered_with_its_place_and_what_was_expected() {
    let deep = format!(r#"{{"id":9,"op":{}"#, "[".repeat(200));
    answers(&[
        ("", "null", "expected a JSON object, found nothing"),
        (
            "{\"id\":9",
            "null",
            "column 7: expected a JSON object: EOF while parsing an object",
        ),
        (
            "{\"id\":9}}",
            "null",
            "column 9: expected a JSON object: trailing characters",
        ),
        ("[9]", "null", "expected a JSON object, found [9]"),
        ("null", "null", "expected a JSON object, found null"),
        (
            r#"{"id":9,"op":"tick","op":"tick"}"#,
            "null",
            "column 24: expected a JSON object: the key \"op\" appears twice",
        ),
        (
            &deep,
            "null",
            "column 140: expected a JSON object: recursion limit exceeded",
        ),
    ]);
}

#[test]
fn a_request_without_id_op_or_time_says_so() {
    answers(&[
        (r#"{"op":"tick"}"#, "null", "`id` is missing"),
        (
            r#"{"id":"9","op":"tick"}"#,
            "null",
            "`id` is \"9\": expected a whole number, 0 or more",
        ),
        (
            r#"{"id":-9,"op":"tick"}"#,
            "null",
            "`id` is -9: expected a whole number, 0 or more",
        ),
        (r#"{"id":9}"#, "9", "`op` is missing"),
        (r#"{"id":9,"op":7}"#, "9", "`op` is 7: expected a string"),
        (
            r#"{"id":9,"op":"tock","now":"2026-05-24T14:22:20Z"}"#,
            "9",
            "`op` is \"tock\": expected `hello`, `reset`, `start_session`, `subscribe`, `unsubscribe`, `confirm`, \
             `deliver`, `cancel`, `finish_tool`, `end_session`, `tick`, `restart`",
        ),
        (r#"{"id":9,"op":"tick"}"#, "9", "`now` is missing"),
        (
            r#"{"id":9,"op":"tick","now":null}"#,
            "9",
            "`now` is null: expected a string",
        ),
        (
            r#"{"id":9,"op":"tick","now":"today"}"#,
            "9",
            "`now` is \"today\": not an RFC 3339 date-time",
        ),
        (
            r#"{"id":9,"op":"tick","now":"2026-05-24T14:22:20Z","nwo":1}"#,
            "9",
            "unknown field `nwo`: expected only `id`, `op`, `now`",
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
            r#"{"id":9,"op":"hello","driver":1,"protocol":"aaep","now":0}"#,
            "9",
            "`now` is 0: expected a string",
        ),
    ]);
}

/// Each request is answered with its error, and all of them together have changed nothing.
#[track_caller]
fn complains(cases: &[(&str, Value, &str)]) {
    let mut driver = ready();
    driver.complains(cases);
    // No event was put out, and no id was drawn: the first was for the start, the second is for the token.
    let response = driver.ask("confirm", timed(NOW, transfer()));
    let event = &response["outputs"][0]["emit"];
    assert_eq!(event["sequence_number"], 1);
    assert_eq!(event["event_id"], format!("evt_{:032x}", 3));
}

#[test]
fn a_bad_field_of_a_session_or_a_subscription_is_named() {
    let session = "`session_id` is \"s\": expected sess_ and 1 to 64 ASCII letters or digits";
    let empty = "`subscription_id` is \"sub_\": expected sub_ and 1 to 64 ASCII letters or digits";
    let outcome = "`outcome` is \"stopped\": unknown variant `stopped`, \
                   expected one of `completed`, `errored`, `cancelled`";
    let status = "`status` is \"done\": unknown variant `done`, \
                  expected one of `success`, `error`, `timeout`";
    let flag = "`capabilities.supports_confirmation_reply` is \"yes\": expected true or false";
    let list = "`capabilities` is [true]: expected an object";
    let subscriber =
        |capabilities| json!({"subscription_id": "sub_9", "capabilities": capabilities});
    complains(&[
        ("start_session", json!({"session_id": "s"}), session),
        (
            "start_session",
            json!({"session_id": null}),
            "`session_id` is null: expected a string",
        ),
        ("subscribe", json!({}), "`subscription_id` is missing"),
        ("subscribe", json!({"subscription_id": "sub_"}), empty),
        ("subscribe", subscriber(json!([true])), list),
        (
            "subscribe",
            subscriber(json!({"supports_confirmation_reply": "yes"})),
            flag,
        ),
        (
            "unsubscribe",
            json!({"subscription_id": 1}),
            "`subscription_id` is 1: expected a string",
        ),
        (
            "finish_tool",
            json!({"session_id": "sess_1", "action": "a1", "status": "done"}),
            status,
        ),
        (
            "end_session",
            json!({"session_id": "sess_1", "outcome": "stopped"}),
            outcome,
        ),
    ]);
}

#[test]
fn a_bad_field_of_a_question_is_named() {
    let changed = |field: &str, value: Value| {
        let mut ask = transfer();
        let (object, field) = field.rsplit_once('/').unwrap();
        ask.pointer_mut(object).unwrap()[field] = value;
        ("confirm", ask)
    };
    let without = |field: &str| {
        let mut ask = transfer();
        ask.as_object_mut().unwrap().remove(field);
        ("confirm", ask)
    };
    let risk = "`action.risk_level` is \"huge\": unknown variant `huge`, \
                expected one of `low`, `medium`, `high`";
    let foreign = "unknown field `action.args`: expected only `id`, `tool`, `description`, \
                   `consequence`, `risk_level`, `irreversible`";
    let decision = "`default_decision` is \"maybe\": unknown variant `maybe`, \
                    expected `accept` or `reject`";
    let replies = "`allowed_replies` is [\"accept\",1]: expected an array of strings";
    let cases = [
        (without("session_id"), "`session_id` is missing"),
        (without("action"), "`action` is missing"),
        (
            changed("/action", json!("a1")),
            "`action` is \"a1\": expected an object",
        ),
        (
            changed("/action/id", json!("")),
            "`action.id` is \"\": expected a name of 1 to 256 characters",
        ),
        (
            changed("/action/tool", json!(0)),
            "`action.tool` is 0: expected a string",
        ),
        (changed("/action/risk_level", json!("huge")), risk),
        (
            changed("/action/irreversible", json!(1)),
            "`action.irreversible` is 1: expected true or false",
        ),
        (changed("/action/args", json!({})), foreign),
        (
            changed("/timeout_seconds", json!(-1)),
            "`timeout_seconds` is -1: expected a whole number, 0 or more",
        ),
        (
            changed("/timeout_seconds", json!(1.5)),
            "`timeout_seconds` is 1.5: expected a whole number, 0 or more",
        ),
        (changed("/default_decision", json!("maybe")), decision),
        (
            changed("/default_decision", json!({"accept": null})),
            "`default_decision` is {\"accept\":null}: expected a string",
        ),
        (changed("/allowed_replies", json!(["accept", 1])), replies),
    ];
    complains(&cases.map(|((op, ask), error)| (op, ask, error)));
}

#[test]
fn a_bad_field_of_a_delivery_or_a_cancellation_is_named() {
    let sender = "unknown field `sender.name`: expected only `subscription_id`, `authenticated`";
    let token = "expected rpl_ and 1 to 64 ASCII letters or digits";
    let long = format!("`reply_token` is \"{}…: {token}", "x".repeat(59));
    complains(&[
        ("deliver", json!({"message": "x"}), "`sender` is missing"),
        (
            "deliver",
            json!({"message": "x", "sender": {}}),
            "`sender.authenticated` is missing",
        ),
        (
            "deliver",
            json!({"message": {}, "sender": {"authenticated": true}}),
            "`message` is {}: expected a string",
        ),
        (
            "deliver",
            json!({"message": "x", "sender": {"authenticated": true, "name": "x"}}),
            sender,
        ),
        (
            "cancel",
            json!({"reply_token": "rpl-1"}),
            &format!("`reply_token` is \"rpl-1\": {token}"),
        ),
        ("cancel", json!({"reply_token": "x".repeat(100)}), &long),
    ]);
}

/// AAEP-EV-5: what has the right type and the wrong value is the executor's to refuse.
#[test]
fn a_timeout_out_of_range_is_refused_and_no_error() {
    for (seconds, refused) in [
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
    stdio::serve(input, &mut output, Aaep::new(SequentialIds::new())).unwrap();
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
        (field, json!({}), "`restart`"),
        ("tick", json!({ field: 1 }), "`now`"),
        (
            "end_session",
            json!({"session_id": "sess_1", "outcome": long}),
            "`cancelled`",
        ),
    ] {
        let response = driver.ask(op, timed(NOW, fields));
        let error = response["error"].as_str().unwrap();
        assert!(
            error.starts_with("line ") && error.ends_with(expected),
            "{error}"
        );
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
        let service = Aaep::new(SequentialIds::new());
        stdio::serve(&b"{}\n{}\n"[..], Refusing(kind), service)
    };
    assert!(serve(io::ErrorKind::BrokenPipe).is_ok());
    let error = serve(io::ErrorKind::StorageFull).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
