//! What the server makes of parameters and tokens that no honest client sends, and of requests about them that no driver
//! should send.

use serde_json::{Value, json};

use super::driver::{NOW, timed};
use super::mcp_aql_stage::{
    ASKED, PERFORMED, about, deletion, ready, rejected, summary, with_token,
};

/// A line that calls with `params` as they are written here.
fn line(params: &str, danger_level: u8, token: Option<&str>) -> String {
    let token = token.map_or(String::new(), |token| {
        format!(r#","confirmation_token":{}"#, json!(token))
    });
    format!(
        r#"{{"id":9,"op":"call","now":"{NOW}","adapter":"github","operation":"delete_repo","params":{params},"danger_level":{danger_level}{token}}}"#
    )
}

fn summaries(response: &Value) -> Vec<String> {
    let outputs = response["outputs"].as_array();
    let outputs = outputs.unwrap_or_else(|| panic!("no outputs in {response}"));
    outputs.iter().map(summary).collect()
}

/// JSON objects, and other texts, that have no canonical form, each with what the client is told.
fn hostile() -> Vec<(String, &'static str)> {
    let long = |length| format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
    let too_long = "longer than 1048576 bytes";
    let no_double = "a number that readers differ on: write a large whole number in full, and no other beyond the range of a double";
    vec![
        (r#"{"a":1,"a":2}"#.into(), "duplicate key before byte 12"),
        (
            r#"{"a":1,"\u0061":1}"#.into(),
            "duplicate key before byte 17",
        ),
        (
            r#"{"b":[{"a":1,"a":1}]}"#.into(),
            "duplicate key before byte 18",
        ),
        (r#"{"a":"\ud800"}"#.into(), "not JSON at byte 12"),
        (r#"{"a":"\udc00\ud800"}"#.into(), "not JSON at byte 13"),
        (r#"{"\ud83d":1}"#.into(), "not JSON at byte 8"),
        (r#"{"a":1e400}"#.into(), no_double),
        (r#"{"a":-1e400}"#.into(), no_double),
        (r#"{"a":9007199254740993.0}"#.into(), no_double),
        (r#"{"a":1e-400}"#.into(), no_double),
        (long((1 << 20) - 7), too_long),
        (long(10_000_000), too_long),
        ("1e400".into(), no_double),
        (r#"[{"a":1,"a":1}]"#.into(), "duplicate key before byte 13"),
        (r#""\ud800""#.into(), "not JSON at byte 7"),
    ]
}

/// An object with that many arrays within each other.
fn nested(depth: usize) -> String {
    format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
}

/// AQL-3.2-3: what has no canonical form is answered with a code of its own, whether it comes as JSON or as a text that
/// holds it, with a token or without. AQL-6.3-1: the answer shows none of it.
#[test]
fn parameters_without_a_canonical_form_are_answered_with_a_code() {
    let mut driver = ready();
    let token = driver.asks(deletion());
    for (params, problem) in hostile() {
        let start = &params[..params.len().min(60)];
        for written in [params.clone(), json!(params).to_string()] {
            for token in [None, Some(token.as_str())] {
                let response = driver.send(&line(&written, 2, token));
                let event = if token.is_some() {
                    "REJECTED"
                } else {
                    "ISSUED"
                };
                let expected = [
                    format!("audit TOKEN_{event}: invalid_params"),
                    "respond INVALID_PARAMS".to_owned(),
                ];
                assert_eq!(summaries(&response), expected, "{start}");
                let details = &response["outputs"][1]["respond"]["error"]["details"];
                assert_eq!(*details, json!({ "problem": problem }), "{start}");
            }
        }
    }
    let honest = driver.at(NOW, "call", with_token(deletion(), &token));
    assert_eq!(honest, PERFORMED);
    driver.hang_up();
}

/// AQL-3.2-1, AQL-3.2-3: up to the limits parameters have a canonical form. How deep they are has none: neither here nor in the
/// reader of a line, which is not that of other JSON.
#[test]
fn parameters_at_the_limits_are_taken() {
    let mut driver = ready();
    let limits = [
        "{}".to_owned(),
        r#"{"":"\u0000","a":9007199254740992,"b":-0,"c":5e-324,"d":1.7976931348623157e308}"#
            .to_owned(),
        r#"{"id":[null,18446744073709551615,-9007199254740993]}"#.to_owned(),
        r#"{"id":[1e16,1.5e20,9007199254740994.0,1e21]}"#.to_owned(),
        "[1,null]".to_owned(),
        "null".to_owned(),
        r#""\"a\"""#.to_owned(),
        nested(64),
        nested(128),
        nested(100_000),
        nested((1 << 19) - 3),
        format!(r#"{{"a":"{}"}}"#, "x".repeat((1 << 20) - 8)),
    ];
    for params in limits {
        let response = driver.send(&line(&params, 2, None));
        assert_eq!(summaries(&response), ASKED);
        let details = &response["outputs"][1]["respond"]["error"]["details"];
        let token = details["confirmation_token"].as_str().unwrap();
        let response = driver.send(&line(&params, 2, Some(token)));
        assert_eq!(summaries(&response), PERFORMED);
    }
}

/// AQL-3.2-3: equal meaning is the same, however it is spelled; any other is not. AQL-4.1-5
#[test]
fn a_token_is_bound_to_what_the_parameters_mean() {
    let asked = r#"{"a":[1,{"b":"é","c":null}],"z":100}"#;
    for (retried, same) in [
        (
            r#" { "z" : 1e2 , "a" : [ 1.0 , { "c" : null , "b" : "\u00e9" } ] } "#,
            true,
        ),
        (
            r#""{\"z\":100,\"a\":[1,{\"b\":\"\\u00E9\",\"c\":null}]}""#,
            true,
        ),
        (r#"{"a":[1,{"b":"e\u0301","c":null}],"z":100}"#, false),
        (r#"{"a":[1,{"b":"é"}],"z":100}"#, false),
        (r#"{"a":[{"b":"é","c":null},1],"z":100}"#, false),
        (r#"{"a":[1,{"b":"é","c":null}],"z":"100"}"#, false),
        (r#"{"a":[1,{"b":"é","c":null}],"z":100,"y":1}"#, false),
    ] {
        let mut driver = ready();
        let response = driver.send(&line(asked, 2, None));
        let details = &response["outputs"][1]["respond"]["error"]["details"];
        let token = details["confirmation_token"].as_str().unwrap();
        let response = driver.send(&line(retried, 2, Some(token)));
        assert_eq!(summaries(&response) == PERFORMED, same, "{retried}");
    }
}

/// AQL-1.3-2: an operation comes out with the parameters that came in: as an object where JSON says the same to every
/// reader, else as their text.
#[test]
fn an_operation_comes_out_with_the_parameters_that_came_in() {
    let mut driver = ready();
    for faithful in [
        "{}",
        r#"{"b":[1,0.1,-5,1424953923781206.2],"a":{"\u0000":"é\n"}}"#,
    ] {
        let response = driver.send(&line(faithful, 0, None));
        let params = &response["outputs"][0]["perform"]["params"];
        assert_eq!(*params, serde_json::from_str::<Value>(faithful).unwrap());
    }
    // Names that readers of JSON in Rust use among themselves.
    let private = r#"{"$serde_json::private::Number":"1","$serde_json::private::RawValue":"{}"}"#;
    let response = driver.send_text(&line(private, 0, None));
    assert!(
        response.contains(&format!(r#""params":{private}"#)),
        "{response}"
    );
    for (text, _) in hostile().into_iter().filter(|(text, _)| text.len() < 1_000) {
        for written in [text.clone(), json!(text).to_string()] {
            let response = driver.send(&line(&written, 0, None));
            assert_eq!(response["outputs"][0]["perform"]["params"], json!(text));
        }
    }
    // As JSON where every reader takes it, and deeper as a text.
    let shallow = nested(63);
    let response = driver.send(&line(&shallow, 0, None));
    let as_json: Value = serde_json::from_str(&shallow).unwrap();
    assert_eq!(response["outputs"][0]["perform"]["params"], as_json);
    for deep in [nested(64), nested(100_000)] {
        let response = driver.send(&line(&deep, 0, None));
        assert_eq!(response["outputs"][0]["perform"]["params"], json!(deep));
    }
}

/// Only what is no JSON at all breaks the request, and then only this one.
#[test]
fn parameters_that_are_no_json_are_an_error_of_the_request() {
    let mut driver = ready();
    let nul_byte = line("{\"a\":\"\0\"}", 2, None);
    for (line, error) in [
        (nul_byte, "control character"),
        (line("{\"a\":}", 2, None), "expected value"),
        (line("{\"a\":01}", 2, None), "invalid number"),
        (line("{\"a\":\"\\x\"}", 2, None), "invalid escape"),
        (line(&"[".repeat(100_000), 2, None), "expected value"),
        (
            line("{},\"params\":{}", 2, None),
            "the key \"params\" appears twice",
        ),
    ] {
        let response = driver.send(&line);
        // A line that is JSON, and has one id, has that id.
        let id = if error.ends_with("twice") {
            json!(9)
        } else {
            Value::Null
        };
        assert_eq!(response["id"], id, "{error}");
        let complaint = response["error"].as_str().unwrap();
        assert!(
            complaint.contains("column") && complaint.contains(error),
            "{complaint}"
        );
    }
    assert_eq!(driver.at(NOW, "call", deletion()), ASKED);
}

/// AQL-2.2-1, AQL-2.2-2, AQL-2.2-3: a token of any bytes is answered like one that is unknown, and never believed.
#[test]
fn a_token_of_any_bytes_is_invalid() {
    let mut driver = ready();
    // The fifth token, for it ends with the tenth number drawn: with the letter a.
    let tokens: Vec<String> = (0..5).map(|_| driver.asks(deletion())).collect();
    let token = &tokens[4];
    let digits = token.strip_prefix("conf_").unwrap();
    for hostile in [
        String::new(),
        "conf_".into(),
        "\0".into(),
        format!("{token}\0"),
        format!("{token}\n"),
        format!(" {token}"),
        format!("{token}a"),
        token.to_uppercase(),
        format!("conf_\u{ff10}{}", &digits[1..]),
        "\u{1F980}".repeat(20),
        "x".repeat(10_000_000),
        format!("conf_{}", "0".repeat(10_000_000)),
        r"\ud800".into(),
        r#"{"$gt":""}"#.into(),
        "conf_' OR '1'='1".into(),
    ] {
        let response = driver.ask("call", timed(NOW, with_token(deletion(), &hostile)));
        assert_eq!(summaries(&response), rejected("malformed", "TOKEN_INVALID"));
        assert_eq!(
            response["outputs"][1]["respond"]["error"]["details"],
            json!({})
        );
        let told = driver.at(NOW, "introspect", about("token_status", &hostile));
        assert_eq!(told, ["audit TOKEN_REJECTED: malformed", "respond unknown"]);
        let revoked = driver.at(NOW, "introspect", about("revoke_token", &hostile));
        assert_eq!(
            revoked,
            ["audit TOKEN_REVOKED: malformed", "respond TOKEN_INVALID"]
        );
    }
    let other_case = format!("{}A", token.strip_suffix('a').unwrap());
    for unknown in [format!("conf_{}", &digits[1..]), other_case] {
        let response = driver.at(NOW, "call", with_token(deletion(), &unknown));
        assert_eq!(response, rejected("unknown", "TOKEN_INVALID"));
    }
    // Half a character is no text, and so no token that a request could carry.
    let half = format!(
        r#"{{"id":9,"op":"introspect","now":"{NOW}","query":"token_status","token":"\ud800"}}"#
    );
    let complaint = driver.send(&half)["error"].to_string();
    assert!(complaint.contains("expected a JSON object"), "{complaint}");
    let honest = driver.at(NOW, "call", with_token(deletion(), token));
    assert_eq!(honest, PERFORMED);
}

#[test]
fn a_bad_field_of_a_call_is_named() {
    let changed = |field: &str, value: Value| {
        let mut call = deletion();
        call[field] = value;
        ("call", call)
    };
    let without = |field: &str| {
        let mut call = deletion();
        call.as_object_mut().unwrap().remove(field);
        ("call", call)
    };
    let level = "expected `safe`, `reversible`, `destructive`, `dangerous`, `forbidden`, or their number from 0 to 4";
    let all = "`adapter`, `operation`, `params`, `danger_level`, `session_id`, `session_scope`, `max_uses`, \
               `ttl_seconds`, `confirmation_token`, `purpose`, `reasons`, `confirmation_message`";
    let string = |found: &str| format!("invalid type: {found}, expected a string");
    let cases = [
        (without("operation"), "`operation` is missing".to_owned()),
        (without("params"), "`params` is missing".into()),
        (without("danger_level"), "`danger_level` is missing".into()),
        (
            changed("operation", json!(7)),
            format!("`operation`: {}", string("integer `7`")),
        ),
        (
            changed("danger_level", json!(1.5)),
            format!("`danger_level`: invalid type: floating point `1.5`, {level}"),
        ),
        (
            changed("session_scope", json!("yes")),
            "`session_scope`: invalid type: string \"yes\", expected a boolean".into(),
        ),
        (
            changed("ttl_seconds", json!(0.5)),
            "`ttl_seconds`: invalid type: floating point `0.5`, expected a whole number".into(),
        ),
        (
            changed("confirmation_token", json!(1)),
            format!("`confirmation_token`: {}", string("integer `1`")),
        ),
        (
            changed("reasons", json!("it")),
            "`reasons`: invalid type: string \"it\", expected a sequence".into(),
        ),
        (
            changed("confirmation_message", json!([])),
            format!("`confirmation_message`: {}", string("sequence")),
        ),
        (
            changed("token", json!("x")),
            format!("unknown field `token`: expected one of {all}"),
        ),
    ];
    complains(&cases.map(|((op, call), error)| (op, call, error)));
}

/// What is understood and breaks a limit that the gatekeeper's types keep is refused.
#[test]
fn a_name_or_a_number_that_cannot_be_is_refused() {
    let changed = |field: &str, value: Value| {
        let mut call = deletion();
        call[field] = value;
        call
    };
    let name = "expected a name of 1 to 256 characters";
    let uses = "expected 1 to 4294967295";
    let level = "expected `safe`, `reversible`, `destructive`, `dangerous`, `forbidden`, or their number from 0 to 4";
    let mut driver = ready();
    driver.refuses(&[
        (
            "call",
            changed("adapter", json!("")),
            &format!("`adapter` is \"\": {name}"),
        ),
        (
            "call",
            changed("session_id", json!("")),
            &format!("`session_id` is \"\": {name}"),
        ),
        (
            "call",
            changed("max_uses", json!(-1)),
            &format!("`max_uses` is -1: {uses}"),
        ),
        (
            "call",
            changed("max_uses", json!(1u64 << 32)),
            &format!("`max_uses` is 4294967296: {uses}"),
        ),
        (
            "configure",
            json!({"adapter": "x", "critical": {"": []}}),
            &format!("`critical` is \"\": {name}"),
        ),
        (
            "end_session",
            json!({"session_id": "x".repeat(257)}),
            &format!("`session_id` is \"{}\"…: {name}", "x".repeat(60)),
        ),
        (
            "call",
            changed("danger_level", json!(5)),
            &format!("`danger_level`: invalid value: integer `5`, {level}"),
        ),
        (
            "call",
            changed("danger_level", json!(-1)),
            &format!("`danger_level`: invalid value: integer `-1`, {level}"),
        ),
        (
            "call",
            changed("danger_level", json!("2")),
            &format!("`danger_level`: invalid value: string \"2\", {level}"),
        ),
        (
            "call",
            changed("danger_level", json!("Safe")),
            &format!("`danger_level`: invalid value: string \"Safe\", {level}"),
        ),
        (
            "call",
            changed("purpose", json!("fun")),
            "`purpose`: unknown variant `fun`, expected `confirmation` or `quota_continue`",
        ),
        (
            "configure",
            json!({"adapter": "github", "oracle": "delphi"}),
            "`oracle`: unknown variant `delphi`, expected `codes` or `uniform`",
        ),
        (
            "introspect",
            about("tokens", "x"),
            "`query`: unknown variant `tokens`, expected `revoke_token` or `token_status`",
        ),
        (
            "event",
            json!({"kind": "login"}),
            "`kind`: unknown variant `login`, expected one of `logout`, `security`, `configuration`",
        ),
    ]);
    for (op, fields, clause) in [
        ("call", changed("ttl_seconds", json!(-1)), "AQL-5.1-2"),
        (
            "configure",
            json!({"adapter": "x", "critical": {"delete_repo": []}}),
            "AQL-3.2-1",
        ),
        (
            "configure",
            json!({"adapter": "x", "clock_skew_tolerance_seconds": -1}),
            "AQL-5.1-5",
        ),
    ] {
        assert_eq!(driver.at(NOW, op, fields), [format!("refused {clause}")]);
    }
}

#[test]
fn a_bad_field_of_anything_else_is_named() {
    let configure = |field: &str, value: Value| json!({"adapter": "github", field: value});
    let ops = "`op` is \"confirm\": expected one of `hello`, `reset`, `tick`, `restart`, `configure`, `call`, \
               `introspect`, `event`, `end_session`";
    complains(&[
        ("confirm", json!({}), ops.to_owned()),
        ("configure", json!({}), "`adapter` is missing".into()),
        (
            "configure",
            configure("critical", json!([])),
            "`critical`: invalid type: sequence, expected a map".into(),
        ),
        (
            "configure",
            configure("critical", json!({"delete_repo": "repo"})),
            "`critical.delete_repo`: invalid type: string \"repo\", expected a sequence".into(),
        ),
        (
            "introspect",
            json!({"query": "token_status"}),
            "`token` is missing".into(),
        ),
        (
            "introspect",
            json!({"token": "x"}),
            "`query` is missing".into(),
        ),
        ("event", json!({}), "`kind` is missing".into()),
        ("end_session", json!({}), "`session_id` is missing".into()),
        (
            "restart",
            json!({"x": 1}),
            "unknown field `x`: expected `lost`".into(),
        ),
    ]);
}

/// Each request is answered with its error, and all of them together have changed nothing.
#[track_caller]
fn complains(cases: &[(&str, Value, String)]) {
    let mut driver = ready();
    let token = driver.asks(deletion());
    for (op, fields, error) in cases {
        driver.complains(&[(op, fields.clone(), error)]);
    }
    assert_eq!(
        driver.at(NOW, "call", with_token(deletion(), &token)),
        PERFORMED
    );
    // No id was drawn: the first two were for the first token.
    assert_eq!(
        driver.asks(deletion()),
        format!("conf_{:032x}{:032x}", 3, 4)
    );
}
