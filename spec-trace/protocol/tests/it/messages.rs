//! What is read, what is written, and what the schema says of it.

use std::fs;
use std::path::Path;

use countersign_protocol::aaep::{self, Aaep, Deliver, Sender};
use countersign_protocol::mcp_aql::McpAql;
use countersign_protocol::pending_action::PendingAction;
use countersign_protocol::{Answer, Json, Kind, Op, Output, Protocol, Request, Response, schema};
use jsonschema::Validator;
use serde_json::{Value, json};

/// The schema of one of the messages, with the formats and the base64 that it names.
fn validator(message: &str) -> Validator {
    let mut schema = schema();
    schema["anyOf"] = json!([{"$ref": format!("#/$defs/{message}")}]);
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&schema).unwrap()
}

/// A request of each op, with each of its fields.
const REQUESTS: [&str; 33] = [
    r#"aaep {"id":1,"op":"hello","driver":1,"protocol":"aaep"}"#,
    r#"aaep {"id":1,"op":"hello","now":"2026-05-24T14:22:20Z","driver":1,"protocol":"aaep"}"#,
    r#"aaep {"id":1,"op":"reset","now":"2026-05-24T14:22:20Z"}"#,
    r#"aaep {"id":1,"op":"tick","now":"2026-05-24T14:22:20.001Z"}"#,
    r#"aaep {"id":1,"op":"restart","now":"2026-05-24T14:22:20Z"}"#,
    r#"aaep {"id":1,"op":"restart","now":"2026-05-24T14:22:20Z","lost":2}"#,
    r#"aaep {"id":1,"op":"start_session","now":"2026-05-24T14:22:20Z","session_id":"sess_1"}"#,
    r#"aaep {"id":1,"op":"subscribe","now":"2026-05-24T14:22:20Z","subscription_id":"sub_1","capabilities":{"supports_confirmation_reply":true}}"#,
    r#"aaep {"id":1,"op":"unsubscribe","now":"2026-05-24T14:22:20Z","subscription_id":"sub_1"}"#,
    r#"aaep {"id":1,"op":"confirm","now":"2026-05-24T14:22:20Z","session_id":"sess_1","action":{"id":"a1","tool":"t","description":"d","consequence":"c","risk_level":"low","irreversible":false},"timeout_seconds":60,"default_decision":"accept","allowed_replies":["accept","later"]}"#,
    r#"aaep {"id":1,"op":"clarify","now":"2026-05-24T14:22:20Z","session_id":"sess_1","question":"Which?","accepted_response_kinds":["multiple_choice","freetext"],"choices":[{"value":"a","label":"A"},{"value":"b","label":"B"}],"timeout_seconds":60,"default_response":"a"}"#,
    r#"aaep {"id":1,"op":"deliver","now":"2026-05-24T14:22:20Z","sender":{"subscription_id":"sub_1","authenticated":true},"message":"{}"}"#,
    r#"aaep {"id":1,"op":"deliver","now":"2026-05-24T14:22:20Z","sender":{"authenticated":false},"message_base64":"/w=="}"#,
    r#"aaep {"id":1,"op":"cancel","now":"2026-05-24T14:22:20Z","reply_token":"rpl_1"}"#,
    r#"aaep {"id":1,"op":"extend","now":"2026-05-24T14:22:20Z","reply_token":"rpl_1","timeout_seconds":90}"#,
    r#"aaep {"id":1,"op":"finish_tool","now":"2026-05-24T14:22:20Z","session_id":"sess_1","action":"a1","tool_call_id":"call_1","status":"timeout"}"#,
    r#"aaep {"id":1,"op":"tool","now":"2026-05-24T14:22:20Z","session_id":"sess_1","action":{"id":"a1","tool":"t"}}"#,
    r#"aaep {"id":1,"op":"tool","now":"2026-05-24T14:22:20Z","session_id":"sess_1","action":{"id":"a1","tool":"t","args_summary":"s","risk_level":"medium","irreversible":false},"tool_call_id":"c1"}"#,
    r#"aaep {"id":1,"op":"output","now":"2026-05-24T14:22:20Z","session_id":"sess_1","output_id":"o1","chunk":"","complete":true}"#,
    r#"aaep {"id":1,"op":"handoff","now":"2026-05-24T14:22:20Z","session_id":"sess_1","reason":"r","target_kind":"specialist_agent","target_uri":"tel:1"}"#,
    r#"aaep {"id":1,"op":"handoff","now":"2026-05-24T14:22:20Z","session_id":"sess_1","reason":"r","target_kind":"human"}"#,
    r#"aaep {"id":1,"op":"end_session","now":"2026-05-24T14:22:20Z","session_id":"sess_1","outcome":"errored"}"#,
    r#"mcp-aql {"id":1,"op":"configure","now":"2026-05-24T14:22:20Z","adapter":"github","clock_skew_tolerance_seconds":30,"oracle":"uniform","critical":{"delete":["repo"]}}"#,
    r#"mcp-aql {"id":1,"op":"call","now":"2026-05-24T14:22:20Z","operation":"delete","params":{"a":1e400,"a":2},"danger_level":"safe"}"#,
    r#"mcp-aql {"id":1,"op":"call","now":"2026-05-24T14:22:20Z","adapter":"github","operation":"delete","params":null,"danger_level":"forbidden","session_id":"s","session_scope":true,"max_uses":2,"ttl_seconds":60,"confirmation_token":"conf_1","purpose":"quota_continue","reasons":["r"],"confirmation_message":"m"}"#,
    r#"mcp-aql {"id":1,"op":"introspect","now":"2026-05-24T14:22:20Z","adapter":"github","query":"revoke_token","token":"conf_1"}"#,
    r#"mcp-aql {"id":1,"op":"event","now":"2026-05-24T14:22:20Z","kind":"logout","session_id":"s"}"#,
    r#"pending-action {"id":1,"op":"propose","now":"2026-05-24T14:22:20Z","agent_id":"a","session_id":"s","run_id":"r","tool":"t","arguments":"{ }","effect":"read","summary":"s","label":"l","expires_at":"2026-05-24T14:22:21Z","deciders":["ana"],"idempotent":true}"#,
    r#"pending-action {"id":1,"op":"decide","now":"2026-05-24T14:22:20Z","action_id":"pa_1","nonce":"n","decision":"deny","by":"ana","arguments":{ "a" : null }}"#,
    r#"pending-action {"id":1,"op":"say","now":"2026-05-24T14:22:20Z","by":"ana","text":"no"}"#,
    r#"pending-action {"id":1,"op":"finish_tool","now":"2026-05-24T14:22:20Z","action_id":"pa_1","status":"not_run","result":[1.0]}"#,
    r#"pending-action {"id":1,"op":"snapshot","now":"2026-05-24T14:22:20Z"}"#,
    r#"pending-action {"id":1,"op":"rollback","now":"2026-05-24T14:22:20Z","snapshot":"{}"}"#,
];

/// Reads a request and writes it again.
fn reread<P: Protocol>(line: &str) -> Result<String, String> {
    let request = Request::<P>::read(line.as_bytes()).map_err(|bad| bad.to_string())?;
    let written = serde_json::to_string(&request).unwrap();
    assert_eq!(
        serde_json::from_str::<Request<P>>(&written).unwrap(),
        request
    );
    assert_eq!(Request::<P>::read(written.as_bytes()).unwrap(), request);
    Ok(written)
}

fn reread_as(protocol: &str, line: &str) -> Result<String, String> {
    match protocol {
        "aaep" => reread::<Aaep>(line),
        "mcp-aql" => reread::<McpAql>(line),
        "pending-action" => reread::<PendingAction>(line),
        other => panic!("no protocol {other}"),
    }
}

fn value(line: &str) -> Value {
    serde_json::from_str(&line.replace("1e400", "1")).unwrap()
}

#[test]
fn every_request_is_read_and_written_again_and_fits_the_schema() {
    for example in REQUESTS {
        let (protocol, line) = example.split_once(' ').unwrap();
        let written = reread_as(protocol, line).unwrap();
        assert_eq!(value(&written), value(line), "{line}");
        let schema = validator(&format!("{protocol}.request"));
        assert!(
            schema.is_valid(&value(line)),
            "{line}: {:?}",
            schema.iter_errors(&value(line)).collect::<Vec<_>>()
        );
    }
}

#[test]
fn what_is_verbatim_is_written_as_it_was_read() {
    let call = r#"{"id":1,"op":"call","now":"","operation":"o","params":{ "b" : 1e400, "b":"\u0041" },"danger_level":2}"#;
    let written = reread::<McpAql>(call).unwrap();
    assert!(
        written.contains(r#""params":{ "b" : 1e400, "b":"\u0041" }"#),
        "{written}"
    );
    assert!(
        written.contains(r#""danger_level":"destructive""#),
        "{written}"
    );
}

/// A request at a time, without its time and id.
fn timed(fields: &str) -> String {
    format!(r#"{{"id":9,"now":"2026-05-24T14:22:20Z",{fields}}}"#)
}

/// The fields of a question, with `action` in the place of its action and `more` behind.
fn question(action: &str, more: &str) -> String {
    timed(&format!(
        r#""op":"confirm","session_id":"sess_1","default_decision":"accept","action":{action},{more}"#
    ))
}

const ACTION: &str = r#"{"id":"a1","tool":"t","description":"d","consequence":"c","risk_level":"low","irreversible":false}"#;

/// Requests that the reader does not take, each with what it says: for what every request has.
fn without_an_envelope() -> Vec<(String, &'static str)> {
    vec![
        (
            r#"{"op":"tick","now":"2026-05-24T14:22:20Z"}"#.into(),
            "`id` is missing",
        ),
        (
            r#"{"id":"9","op":"tick","now":"2026-05-24T14:22:20Z"}"#.into(),
            "`id`: invalid type: string \"9\", expected a whole number, 0 or more",
        ),
        (
            r#"{"id":-9,"op":"tick","now":"2026-05-24T14:22:20Z"}"#.into(),
            "`id`: invalid value: integer `-9`, expected a whole number, 0 or more",
        ),
        (timed(r#""opp":1"#), "`op` is missing"),
        (
            timed(r#""op":7"#),
            "`op`: invalid type: integer `7`, expected a string",
        ),
        (
            timed(r#""op":"tock""#),
            "`op` is \"tock\": expected one of `hello`, `reset`, `tick`, `restart`, `start_session`, `subscribe`, \
             `unsubscribe`, `confirm`, `clarify`, `deliver`, `cancel`, `extend`, `tool`, `finish_tool`, \
             `output`, `handoff`, `end_session`",
        ),
        (r#"{"id":9,"op":"tick"}"#.into(), "`now` is missing"),
        (
            r#"{"id":9,"op":"tick","now":null}"#.into(),
            "column 30: `now` is null: expected a value, or no such field",
        ),
        (
            timed(r#""op":"tick","nwo":1"#),
            "unknown field `nwo`: expected only `id`, `op`, `now`",
        ),
        (
            timed(r#""op":"restart","lost":-1"#),
            "`lost`: invalid value: integer `-1`, expected a whole number, 0 or more",
        ),
    ]
}

/// The same, for the fields of questions and subscriptions.
fn with_bad_fields() -> Vec<(String, &'static str)> {
    let subscribe = |capabilities: &str| {
        timed(&format!(
            r#""op":"subscribe","subscription_id":"sub_1","capabilities":{capabilities}"#
        ))
    };
    vec![
        (timed(r#""op":"cancel""#), "`reply_token` is missing"),
        (
            timed(r#""op":"cancel","reply_token":"rpl_1","by":"ana""#),
            "unknown field `by`: expected `reply_token`",
        ),
        (
            subscribe("[true]"),
            "`capabilities`: invalid type: sequence, expected an object",
        ),
        (
            subscribe(r#"{"supports_confirmation_reply":"yes"}"#),
            "`capabilities.supports_confirmation_reply`: invalid type: string \"yes\", expected a boolean",
        ),
        (
            question("\"a1\"", r#""timeout_seconds":1"#),
            "`action`: invalid type: string \"a1\", expected an object",
        ),
        (
            question(
                r#"["a1","t","d","c","low",false]"#,
                r#""timeout_seconds":1"#,
            ),
            "`action`: invalid type: sequence, expected an object",
        ),
        (
            question("{}", r#""timeout_seconds":1"#),
            "`action.id` is missing",
        ),
        (
            question(&ACTION.replace("low", "huge"), r#""timeout_seconds":1"#),
            "`action.risk_level`: unknown variant `huge`, expected one of `low`, `medium`, `high`",
        ),
        (
            question(
                &ACTION.replace('}', ",\"args\":{}}"),
                r#""timeout_seconds":1"#,
            ),
            "unknown field `action.args`: expected one of `id`, `tool`, `description`, `consequence`, `risk_level`, \
             `irreversible`",
        ),
        (
            question(ACTION, r#""timeout_seconds":1.5"#),
            "`timeout_seconds`: invalid type: floating point `1.5`, expected a whole number",
        ),
        (
            question(
                ACTION,
                r#""timeout_seconds":1,"allowed_replies":["accept",1]"#,
            ),
            "`allowed_replies[1]`: invalid type: integer `1`, expected a string",
        ),
        (
            timed(r#""op":"end_session","session_id":"sess_1","outcome":{"completed":1}"#),
            "`outcome.completed`: invalid type: integer `1`, expected unit",
        ),
    ]
}

/// The same, for what arrives.
fn with_bad_deliveries() -> Vec<(String, &'static str)> {
    let sent = |sender: &str, message: &str| {
        timed(&format!(r#""op":"deliver","sender":{sender}{message}"#))
    };
    let known = r#"{"authenticated":true}"#;
    vec![
        (
            timed(r#""op":"deliver","message":"x""#),
            "`sender` is missing",
        ),
        (
            sent("{}", r#","message":"x""#),
            "`sender.authenticated` is missing",
        ),
        (
            sent(known, ""),
            "`message` is missing, and so is `message_base64`",
        ),
        (
            sent(known, r#","message":"","message_base64":"""#),
            "both `message` and `message_base64`: expected one of them",
        ),
        (
            sent(known, r#","message_base64":"_w==""#),
            "`message_base64`: invalid value: no base64, expected A to Z, a to z, 0 to 9, + and /, padded with =",
        ),
    ]
}

#[test]
fn what_the_reader_does_not_understand_the_schema_does_not_allow() {
    let schema = validator("aaep.request");
    let bad = [
        without_an_envelope(),
        with_bad_fields(),
        with_bad_deliveries(),
    ]
    .concat();
    for (line, problem) in bad {
        let said = Request::<Aaep>::read(line.as_bytes()).unwrap_err();
        assert_eq!(said.to_string(), problem, "{line}");
        let has_id = line.starts_with(r#"{"id":9"#);
        assert_eq!(said.id, has_id.then_some(9), "{line}");
        assert!(!schema.is_valid(&value(&line)), "{line}");
    }
}

#[test]
fn a_line_that_is_no_object_says_where_and_what_was_expected() {
    let deep = format!(r#"{{"id":9,"op":{}"#, "[".repeat(200));
    for (line, problem) in [
        ("", "expected a JSON object, found nothing"),
        ("[9]", "expected a JSON object, found [9]"),
        (
            "{\"id\":9",
            "column 7: expected a JSON object: EOF while parsing an object",
        ),
        (
            "{\"id\":9}}",
            "column 9: expected a JSON object: trailing characters",
        ),
        (
            r#"{"id":9,"op":"tick","op":"tick"}"#,
            "column 24: the key \"op\" appears twice",
        ),
        (
            r#"{"id":9,"sender":{"a":[{"b":1,"b":2}]}}"#,
            "column 33: the key \"b\" appears twice",
        ),
        (
            &deep,
            "column 140: expected a JSON object: recursion limit exceeded",
        ),
    ] {
        let said = Request::<Aaep>::read(line.as_bytes()).unwrap_err();
        let id = problem.ends_with("twice").then_some(9);
        assert_eq!((said.id, said.to_string().as_str()), (id, problem));
    }
    let said = Request::<Aaep>::read(b"{\"id\":\xff}").unwrap_err();
    assert_eq!(said.to_string(), "column 7: expected UTF-8");
}

/// What is understood and breaks a limit reaches whoever carries it out, who refuses it.
#[test]
fn a_limit_stands_in_the_schema_and_is_not_the_readers_to_keep() {
    let schema = validator("aaep.request");
    let output = |id: &str| {
        timed(&format!(
            r#""op":"output","session_id":"sess_1","output_id":"{id}","chunk":"c","complete":false"#
        ))
    };
    let timeout = |seconds: &str| question(ACTION, &format!(r#""timeout_seconds":{seconds}"#));
    let replies = |reply: &str| {
        question(
            ACTION,
            &format!(r#""timeout_seconds":1,"allowed_replies":["{reply}"]"#),
        )
    };
    let asked = |text: &str, choices: &str, default: &str| {
        timed(&format!(
            r#""op":"clarify","session_id":"sess_1","question":"{text}","choices":{choices},"timeout_seconds":1,"default_response":"{default}""#
        ))
    };
    let choices = |count: usize, value: &str, label: &str| {
        let choice = format!(r#"{{"value":"{value}","label":"{label}"}}"#);
        format!("[{}]", vec![choice; count].join(","))
    };
    let call = |id: &str| {
        timed(&format!(
            r#""op":"finish_tool","session_id":"sess_1","action":"a1","tool_call_id":"{id}","status":"success""#
        ))
    };
    let (most, more) = ("x".repeat(16_384), "x".repeat(16_385));
    let two = choices(2, "v", "l");
    for (line, is_within) in [
        (timeout("-1"), false),
        (timeout("0"), false),
        (timeout("1"), true),
        (timeout("86400"), true),
        (timeout("86401"), false),
        (timed(r#""op":"cancel","reply_token":"rpl""#), false),
        (replies(""), true),
        (replies(&most), true),
        (replies(&more), false),
        (asked("", &two, ""), false),
        (asked("?", &two, ""), true),
        (asked(&most, &two, &most), true),
        (asked(&more, &two, ""), false),
        (asked("?", &two, &more), false),
        (asked("?", &choices(1, "v", "l"), ""), false),
        (asked("?", &choices(32, "v", "l"), ""), true),
        (asked("?", &choices(33, "v", "l"), ""), false),
        (asked("?", &choices(2, &most, &most), ""), true),
        (asked("?", &choices(2, &more, "l"), ""), false),
        (asked("?", &choices(2, "v", &more), ""), false),
        (asked("?", &choices(2, "", "l"), ""), false),
        (asked("?", &choices(2, "v", ""), ""), false),
        (call(&"c".repeat(64)), true),
        (call(&"c".repeat(65)), false),
        (output(&"o".repeat(63)), true),
        (output(&"o".repeat(64)), true),
        (output(&"o".repeat(65)), false),
        (timed(r#""op":"cancel","reply_token":"rpl_1\n""#), false),
    ] {
        assert!(Request::<Aaep>::read(line.as_bytes()).is_ok(), "{line}");
        assert_eq!(schema.is_valid(&value(&line)), is_within, "{line}");
    }
}

#[test]
fn bytes_that_are_no_utf8_travel_as_base64() {
    let delivery = |message: &[u8]| Request::<Aaep> {
        id: 1,
        now: Some("2026-05-24T14:22:20Z".into()),
        op: Op::Own(aaep::Op::Deliver(Deliver {
            sender: Sender {
                subscription_id: None,
                authenticated: false,
            },
            message: message.to_vec(),
        })),
    };
    for (message, written) in [
        (&b"{\"\n"[..], r#""message":"{\"\n""#),
        (b"\xff\x00", r#""message_base64":"/wA=""#),
    ] {
        let request = delivery(message);
        let line = serde_json::to_string(&request).unwrap();
        assert!(line.contains(written), "{line}");
        assert_eq!(Request::<Aaep>::read(line.as_bytes()).unwrap(), request);
    }
}

/// A response of AAEP, read and written again.
fn answered(line: &str) -> Result<String, String> {
    let response =
        Response::<Aaep>::read(line.as_bytes()).map_err(|problem| problem.to_string())?;
    let written = serde_json::to_string(&response).unwrap();
    assert_eq!(
        serde_json::from_str::<Response<Aaep>>(&written).unwrap(),
        response
    );
    Ok(written)
}

#[test]
fn a_response_may_say_more_than_anybody_asks_and_in_any_order() {
    let schema = validator("aaep.response");
    for (line, read) in [
        (
            r#"{"extra":0,"shows":null,"supports":["restart","cancel"],"name":"x","id":1}"#,
            r#"{"id":1,"name":"x","supports":["cancel","restart"]}"#,
        ),
        (
            r#"{"outputs":[{"to":["sub_1"],"at":1,"emit":{"b":1.00,"a":1}},{"respond":{"status":204}}],"id":1}"#,
            r#"{"id":1,"outputs":[{"emit":{"b":1.00,"a":1},"to":["sub_1"]},{"respond":{"status":204,"body":null}}]}"#,
        ),
        (
            r#"{"id":1,"outputs":[{"perform":{"tool_call_id":"c","action":"a","session_id":"s","why":""}},{"refused":{"reason":"r"}}]}"#,
            r#"{"id":1,"outputs":[{"perform":{"action":"a","session_id":"s","tool_call_id":"c"}},{"refused":{"reason":"r"}}]}"#,
        ),
        (
            r#"{"id":1,"outputs":[{"perform":{"tool_call_id":"c","action":"a","session_id":"s","modified_action":{"b":1.00,"a":18446744073709551617}}}]}"#,
            r#"{"id":1,"outputs":[{"perform":{"action":"a","session_id":"s","tool_call_id":"c","modified_action":{"b":1.00,"a":18446744073709551617}}}]}"#,
        ),
        (
            r#"{"id":1,"outputs":[{"answer":{"by":"reply","response":67.0,"reply_token":"rpl_1","session_id":"sess_1"}}]}"#,
            r#"{"id":1,"outputs":[{"answer":{"session_id":"sess_1","reply_token":"rpl_1","response":67.0,"by":"reply"}}]}"#,
        ),
        (
            r#"{"id":1,"outputs":[{"emit":{},"to":null}]}"#,
            r#"{"id":1,"outputs":[{"emit":{}}]}"#,
        ),
        (r#"{"error":"x","id":null}"#, r#"{"id":null,"error":"x"}"#),
        (
            r#"{"id":1,"unsupported":true,"op":"clarify"}"#,
            r#"{"id":1,"unsupported":true}"#,
        ),
    ] {
        assert_eq!(answered(line).unwrap(), read);
        assert!(schema.is_valid(&value(line)), "{line}");
    }
}

#[test]
fn a_response_is_one_of_four_answers_and_an_output_of_one_known_kind() {
    let schema = validator("aaep.response");
    let kinds = "expected one of `emit`, `notify`, `perform`, `respond`, `answer`, `append`, `event`, `audit`, \
                 `in_doubt`, `snapshot`, `refused`, and no other of them";
    let answers = "expected one of `name`, `outputs`, `error`, `unsupported`, and no other of them";
    for (line, problem) in [
        (r#"{"id":1}"#, format!("{answers}, found none of them")),
        (r#"{"id":1,"outputs":[],"error":"x"}"#, format!("{answers}, found `error`, `outputs`")),
        (r#"{"id":1,"unsupported":false}"#, "`unsupported` is false: expected true".into()),
        (r#"{"id":1,"outputs":[{"emitt":1}]}"#, format!("`outputs[0]`: {kinds}, found none of them")),
        (
            r#"{"id":1,"outputs":[{"emit":1,"audit":2}]}"#,
            format!("`outputs[0]`: {kinds}, found `audit`, `emit`"),
        ),
        (
            r#"{"id":1,"outputs":[{"append":{}}]}"#,
            "`outputs[0]`: unknown variant `append`, expected one of `emit`, `notify`, `perform`, `respond`, `answer`, \
             `audit`, `in_doubt`, `refused`"
                .into(),
        ),
        (
            r#"{"id":1,"outputs":[{"audit":{}},{"perform":{"action":"a1"}}]}"#,
            "`outputs[1]`: `perform.session_id` is missing".into(),
        ),
        (
            r#"{"id":1,"outputs":[{"perform":{"action":"a","session_id":"s","tool_call_id":"c","modified_action":[1]}}]}"#,
            "`outputs[0]`: `perform.modified_action`: invalid type: `[1]`, expected an object".into(),
        ),
        (
            r#"{"id":1,"name":"x","supports":["clock"]}"#,
            "`supports[0]`: unknown variant `clock`, expected one of `clarify`, `cancel`, `extend`, \
             `modified_action`, `courtesy_notice`, `progress`, `delivery`, `work`, `restart`"
                .into(),
        ),
    ] {
        assert_eq!(answered(line).unwrap_err(), problem, "{line}");
        assert!(!schema.is_valid(&value(line)), "{line}");
    }
    let twice = r#"{"id":1,"outputs":[{"emit":{"a":1,"a":2}}]}"#;
    assert_eq!(
        answered(twice).unwrap_err(),
        "column 37: the key \"a\" appears twice"
    );
}

/// AAEP-6.5.2-1: what a user has said passes through as it is written, half a surrogate pair included.
#[test]
fn what_a_user_has_said_passes_through_as_it_is_written() {
    for output in [
        r#"{"answer":{"session_id":"s","reply_token":"t","response":"\ud800","by":"reply"}}"#,
        r#"{"perform":{"action":"a","session_id":"s","tool_call_id":"c","modified_action":{"\ud800":"\udfff"}}}"#,
    ] {
        let line = format!(r#"{{"id":1,"outputs":[{output}]}}"#);
        assert_eq!(answered(&line).unwrap(), line);
    }
}

/// The kinds of the responses are named as the outputs are written.
#[test]
fn the_kind_of_an_output_is_the_name_that_it_is_written_under() {
    fn check<P: Protocol>(body: &str) {
        for kind in [
            Kind::Emit,
            Kind::Notify,
            Kind::Perform,
            Kind::Respond,
            Kind::Answer,
            Kind::Append,
            Kind::Event,
            Kind::Audit,
            Kind::InDoubt,
            Kind::Snapshot,
            Kind::Refused,
        ] {
            let name = json!(kind);
            let line = format!(r"{{{name}:{body}}}");
            if let Ok(output) = serde_json::from_str::<Output<P>>(&line) {
                assert_eq!(P::kind(&output.what), kind);
                assert!(
                    P::SHOWN_UNASKED.contains(&kind) || (P::NAME, kind) == ("aaep", Kind::Audit)
                );
            } else {
                assert!(!P::SHOWN_UNASKED.contains(&kind), "{line}");
            }
        }
    }
    let body = r#"{"action":"","session_id":"","tool_call_id":"","subscription_id":"","status":1,"reason":"",
        "operation":"","params":1,"action_id":"","tool":"","arguments":1,"reply_token":"","by":"nobody"}"#;
    check::<Aaep>(body);
    check::<McpAql>(body);
    check::<PendingAction>(body);
}

#[test]
fn an_answer_of_each_sort_is_written_with_its_id_first() {
    let outputs = vec![Output::to_all(aaep::Output::Emit(Json::holding("e")))];
    let response = Response::<Aaep> {
        id: Some(7),
        answer: Answer::Outputs { outputs },
    };
    assert_eq!(
        serde_json::to_string(&response).unwrap(),
        r#"{"id":7,"outputs":[{"emit":"e"}]}"#
    );
}

fn bad<P: Protocol>(line: &str) -> countersign_protocol::BadRequest {
    Request::<P>::read(line.as_bytes()).unwrap_err()
}

/// A word that a field may not hold has the right type: the request is understood, and to be refused. What is missing, of
/// another type or unknown is an error, wherever it stands.
#[test]
fn a_value_is_refused_and_a_type_is_an_error() {
    let decide = |fields: &str| timed(&format!(r#""op":"decide","action_id":"pa_1",{fields}"#));
    for (line, is_refused) in [
        (decide(r#""decision":"maybe","by":"ana""#), true),
        (
            decide(r#""decision":"maybe, expected `x`","by":"ana""#),
            true,
        ),
        (decide(r#""decision":"maybe""#), false),
        (decide(r#""decision":"maybe","by":1"#), false),
        (
            decide(r#""decision":"maybe","by":"ana","nunce":"n""#),
            false,
        ),
        (decide(r#""decision":1,"by":"ana""#), false),
        (decide(r#""decision":{"maybe":1},"by":"ana""#), false),
        (decide(r#""decision":["maybe"],"by":"ana""#), false),
        (timed(r#""op":"restart","lost":-1"#), true),
        (timed(r#""op":"restart","lost":0.5"#), false),
        (timed(r#""op":"restart","lost":"1""#), false),
        (timed(r#""op":"tock""#), false),
        (timed(r#""op":"tick","lost":-1"#), false),
        (
            r#"{"id":9,"op":"hello","now":"2026-05-24T14:22:20Z","driver":-1,"protocol":"aaep"}"#
                .into(),
            false,
        ),
    ] {
        let bad = bad::<PendingAction>(&line);
        let now = is_refused.then(|| "2026-05-24T14:22:20Z".to_owned());
        assert_eq!((bad.id, bad.refused_at), (Some(9), now), "{line}");
    }
}

/// AAEP-EV-5: the same within a field, however deep. A request is understood as a whole before any value of it is judged.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of requests")]
fn a_value_within_a_field_is_refused_only_if_all_else_is_understood() {
    let risk = |word: &str, rest: &str| {
        let action = ACTION.replace("\"low\"", word);
        question(&action, rest)
    };
    let clarify = |kinds: &str, rest: &str| {
        timed(&format!(
            r#""op":"clarify","session_id":"sess_1","accepted_response_kinds":{kinds}{rest}"#
        ))
    };
    let asks = r#","question":"Which?","timeout_seconds":1"#;
    let deliver = |sender: &str, base64: &str| {
        timed(&format!(
            r#""op":"deliver","sender":{sender},"message_base64":{base64}"#
        ))
    };
    let known = r#"{"authenticated":true}"#;
    let many = format!("[{}]", vec![r#""no""#; 100_000].join(","));
    for (line, problem, is_refused) in [
        (
            risk("\"huge\"", r#""timeout_seconds":1"#),
            "`action.risk_level`: unknown variant",
            true,
        ),
        (
            risk("\"huge\"", r#""timeout":1"#),
            "unknown field `timeout`",
            false,
        ),
        (
            risk("\"huge\"", r#""timeout_seconds":"1""#),
            "`timeout_seconds`: invalid type",
            false,
        ),
        (
            risk("\"huge\",\"more\":1", r#""timeout_seconds":1"#),
            "unknown field `action.more`",
            false,
        ),
        (
            risk("\"huge\"", r#""timeout_seconds":1"#).replace(r#","irreversible":false"#, ""),
            "`action.irreversible` is missing",
            false,
        ),
        (
            risk("\"huge\"", r#""timeout_seconds":1"#).replace("\"accept\"", "\"defer\""),
            "`action.risk_level`: unknown variant",
            true,
        ),
        (
            risk("\"huge\"", r#""timeout_seconds":true"#).replace("\"accept\"", "\"defer\""),
            "`timeout_seconds`: invalid type",
            false,
        ),
        (
            risk(r#"{"huge":1}"#, r#""timeout_seconds":1"#),
            "`action.risk_level`: invalid type: map, expected a string",
            false,
        ),
        (
            clarify(r#"["no"]"#, asks),
            "`accepted_response_kinds[0]`: unknown variant",
            true,
        ),
        (
            clarify(r#"["freetext","no","nor this"]"#, asks),
            "`accepted_response_kinds[1]`: unknown variant",
            true,
        ),
        (
            clarify(r#"["no"]"#, r#","question":"Which?""#),
            "`timeout_seconds` is missing",
            false,
        ),
        (
            clarify(r#"["no",1]"#, asks),
            "`accepted_response_kinds[1]`: expected value",
            false,
        ),
        (
            clarify(r#"["freetext",{"no":1}]"#, asks),
            "`accepted_response_kinds[1]`: invalid type: map, expected a string",
            false,
        ),
        (
            clarify(
                r#"["no"]"#,
                &format!(r#"{asks},"choices":[{{"value":"v"}}]"#),
            ),
            "`choices[0].label` is missing",
            false,
        ),
        (
            clarify(&many, asks),
            "`accepted_response_kinds[0]`: unknown variant",
            true,
        ),
        (clarify(&many, ""), "`question` is missing", false),
        (
            deliver(known, r#""_w==""#),
            "`message_base64`: invalid value: no base64",
            true,
        ),
        (
            deliver(known, r#""/w=""#),
            "`message_base64`: invalid value: no base64",
            true,
        ),
        (deliver(known, "7"), "`message_base64`: invalid type", false),
        (
            deliver("{}", r#""_w==""#),
            "`sender.authenticated` is missing",
            false,
        ),
        (
            deliver(known, r#""_w==","message":"x""#),
            "both `message` and `message_base64`",
            false,
        ),
    ] {
        let bad = bad::<Aaep>(&line);
        let shown = &line[..line.len().min(300)];
        assert!(
            bad.problem.to_string().starts_with(problem),
            "{}: {shown}",
            bad.problem
        );
        assert_eq!(bad.refused_at.is_some(), is_refused, "{shown}");
    }
}

/// What a rule means is for the texts to say: the crate names no clause of theirs.
#[test]
fn no_clause_stands_in_this_crate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![folder];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let behind = ["PA-", "AQL-", "AAEP-"].map(|prefix| text.split(prefix).skip(1));
            let is_id = |rest: &str| rest.starts_with(|it: char| it.is_ascii_alphanumeric());
            let ids = behind.into_iter().flatten().filter(|rest| is_id(rest));
            assert_eq!(ids.count(), 0, "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 5);
}

/// The id that a line has is said with the complaint, whatever else is wrong with it.
#[test]
fn an_id_that_can_be_read_is_echoed() {
    for (line, id) in [
        (r#"{"id":9,"op":"tick","now":null}"#, Some(9)),
        (r#"{"op":"tick","now":null,"id":9}"#, Some(9)),
        (r#"{"id":9,"op":"tick","op":"tick"}"#, Some(9)),
        (
            r#"{"id":18446744073709551615,"op":"tick","op":"tick"}"#,
            Some(u64::MAX),
        ),
        (
            r#"{"id":18446744073709551616,"op":"tick","op":"tick"}"#,
            None,
        ),
        (r#"{"id":9,"id":9,"op":"tick"}"#, None),
        (r#"{"id":9,"op":"tick""#, None),
        ("[9]", None),
    ] {
        assert_eq!(bad::<PendingAction>(line).id, id, "{line}");
    }
}

/// PA-3: who says that null was approved, or returned, has said something.
#[test]
fn a_null_in_a_field_for_any_json_is_a_value() {
    for fields in [
        r#""op":"decide","action_id":"pa_1","decision":"allow","by":"ana","arguments":null"#,
        r#""op":"finish_tool","action_id":"pa_1","status":"success","result":null"#,
    ] {
        let line = timed(fields);
        assert_eq!(
            value(&reread::<PendingAction>(&line).unwrap()),
            value(&line)
        );
        let schema = validator("pending-action.request");
        assert!(schema.is_valid(&value(&line)), "{line}");
    }
}

/// PA-10: whoever reads events and messages knows them by their type, and finds every id that they answer with.
#[test]
fn the_schema_gives_the_shape_of_what_is_told() {
    let schema = validator("pending-action.response");
    let event = r#""event_id":"e","action_id":"pa_1","at":"2026-05-24T14:22:20Z""#;
    let proposal = r#""agent_id":"a","session_id":"s","run_id":"r","tool":"t","arguments":"1","effect":"read","summary":"s","label":"l","expires_at":null,"idempotent":false"#;
    let message = r#""session_id":"s","message_id":"m""#;
    for (output, is_valid) in [
        (format!(r#"{{"event":{{{event},"type":"created","nonce":"n",{proposal}}}}}"#), true),
        (format!(r#"{{"event":{{{event},"type":"created",{proposal}}}}}"#), false),
        (format!(r#"{{"event":{{{event},"type":"decided","decision":"allow"}}}}"#), true),
        (format!(r#"{{"event":{{{event},"type":"decided"}}}}"#), false),
        (format!(r#"{{"event":{{{event},"type":"not_run","more":1}}}}"#), true),
        (format!(r#"{{"event":{{{event},"type":"vanished"}}}}"#), false),
        (r#"{"event":{"event_id":"e","at":"2026-05-24T14:22:20Z","type":"expired"}}"#.into(), false),
        (format!(r#"{{"append":{{{message},"type":"denied_result","tool_call_id":"pa_1","tool":"t","by":"ana"}}}}"#), true),
        (format!(r#"{{"append":{{{message},"type":"denied_result","tool":"t","by":"ana"}}}}"#), false),
        (r#"{"append":{"message_id":"m","type":"user_message","by":"a","text":"b"}}"#.into(), true),
        (r#"{"append":{"type":"user_message","by":"a","text":"b"}}"#.into(), false),
        (r#"{"audit":{"clause":"PA-8","reason":"r","action_id":"pa_1","by":"","at":"2026-05-24T14:22:20Z"}}"#.into(), true),
        (r#"{"audit":{"clause":"PA-5","reason":"r","action_id":"pa_1"}}"#.into(), false),
    ] {
        let response: Value = serde_json::from_str(&format!(r#"{{"id":1,"outputs":[{output}]}}"#)).unwrap();
        assert_eq!(schema.is_valid(&response), is_valid, "{output}");
    }
}
