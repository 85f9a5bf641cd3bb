//! The driver protocol in the words of MCP-AQL's spec: what is read, and that what is written is read.

use countersign_model::engine::checker::Judgement;
use countersign_model::mcp_aql::alphabet::*;
use countersign_model::mcp_aql::clauses::A3_1_3;
use countersign_model::mcp_aql::wire::Names;
use countersign_model::wire::Codec as _;
use countersign_protocol::mcp_aql::McpAql as Driver;

use crate::common::wire::{self, judge_examples, put, written_and_read};

fn asked(line: &str) -> (Time, countersign_protocol::Op<Driver>) {
    wire::asked(line)
}

/// The examples of the page of the driver protocol conform, every one of them.
#[test]
fn the_examples_of_the_page_conform() {
    // The tokens of the page are shortened …
    let page = include_str!("../../../../spec-trace/docs/DRIVER_MCP_AQL.md");
    let page = page.replace("conf_", &format!("conf_{:z<42}", ""));
    let page = page.replace("quota_continue_1", &format!("quota_continue_{:z<42}1", ""));
    // … and counted.
    let judged = judge_examples::<Names>(&page, |judgement, _| {
        matches!(judgement, Judgement::Conforms)
            || matches!(judgement, Judgement::Found(it) if it.clause == Some(A3_1_3))
    });
    assert!(judged > 25, "{judged}");
}

/// What the spec's producer does within the worlds, written and read again, conforms.
#[test]
fn what_is_written_is_read() {
    let read = written_and_read::<Names>(12, |call| call.now, |_| true);
    assert!(read > 1000, "{read}");
}

const CALL: &str = r#"{"id":1,"op":"call","now":"1970-01-01T00:00:01.5Z","operation":"delete_repo","danger_level":3,"#;

/// A call with that token and those parameters, and what a gatekeeper answers.
fn answered(names: &mut Names, token: &str, params: &str, answer: &str) -> (Request, Vec<Output>) {
    let token = if token.is_empty() {
        String::new()
    } else {
        format!(r#","confirmation_token":"{token}""#)
    };
    let (now, op) = asked(&format!(r#"{CALL}"params":{params}{token}}}"#));
    let call = names.call(now, &op);
    let (outputs, _) = names.outputs(&call, &put(&format!(r#"{{"id":1,"outputs":[{answer}]}}"#)));
    let Op::Call(request) = &call.op else {
        panic!("{call:?}");
    };
    (Request::clone(request), outputs)
}

fn failed(code: &str, message: &str) -> String {
    format!(
        r#"{{"respond":{{"success":false,"error":{{"code":"{code}","message":"{message}","details":{{}}}}}}}}"#
    )
}

#[test]
fn a_request_and_its_answer_are_read() {
    let names = &mut Names::default();
    let identifier = "a".repeat(43);
    let issue = format!(
        r#"{{"respond":{{"success":false,"error":{{"code":"CONFIRMATION_REQUIRED","message":"?","details":{{
        "operation":"delete_repo","danger_level":"dangerous","reasons":["It is gone."],"confirmation_message":"Sure?",
        "confirmation_token":"conf_{identifier}","expires_at":"1970-01-01T00:05:01.500Z"}}}}}}}}"#
    )
    .replace('\n', "");
    let params = r#"{"repo":"widgets","force":true,"note":1}"#;
    let (request, outputs) = answered(names, "", params, &issue);
    let words: Vec<Word> = request.parameters.each.iter().map(|it| it.word).collect();
    assert_eq!(words.iter().filter(|it| **it == Word::Resource).count(), 1);
    assert!(words.contains(&Word::Force) && words.contains(&Word::Other));
    assert_eq!(
        (request.level, request.token, request.ttl),
        (Level::Dangerous, None, None)
    );
    let [Output::Respond(Answer::Issued(it))] = outputs[..] else {
        panic!("{outputs:?}");
    };
    assert_eq!(
        (
            it.token,
            it.expires_at,
            it.look.identifier,
            it.look.characters
        ),
        (0, Some(301_500), 43, 48)
    );
    assert!(it.has_reasons && it.has_message && it.look.is_url_safe && !it.look.is_counted);
    assert_eq!(
        (it.level, it.look.prefix, it.look.reads),
        (Some(Level::Dangerous), Some(Purpose::Confirmation), None)
    );

    // The same parameters in another spelling, the token in another case, and one that was never put out.
    let respelt = r#"{"note":1.0,"force":true, "repo":"w\u0069dgets"}"#;
    let token = format!("CONF_{identifier}");
    let (other, _) = answered(names, &token, respelt, "");
    assert_eq!(other.parameters.meaning, request.parameters.meaning);
    assert_eq!(other.parameters.each, request.parameters.each);
    assert_ne!(other.parameters.spelling, request.parameters.spelling);
    assert_eq!(other.token, Some(Shown::OtherCase(0)));
    assert_eq!(
        answered(names, &format!("conf_{identifier}"), "1", "")
            .0
            .token,
        Some(Shown::Token(0))
    );
    assert_eq!(
        answered(names, "conf_x", "1", "").0.token,
        Some(Shown::Unknown)
    );

    // Numbers that are not the same to all readers, and a name twice.
    for (params, is_one) in [
        ("[9007199254740993]", true),
        ("[9007199254740993.0]", false),
        ("[9007199254740992.0]", true),
        ("[1e16]", true),
        ("[1e400]", false),
        ("[true,false,null,\"1e400\"]", true),
        (r#""{\"a\":1,\"a\":2}""#, false),
    ] {
        let (request, _) = answered(names, "", params, "");
        assert_eq!(request.parameters.meaning.is_some(), is_one, "{params}");
    }

    // Answers that differ in nothing but the token that they repeat have one form.
    let mut form = |token: &str, code: &str, message: &str| {
        let (_, outputs) = answered(names, token, "{}", &failed(code, message));
        match outputs[..] {
            [Output::Respond(Answer::Failed(it))] => {
                (it.code, it.shape, it.is_whole, it.exposes_parameters)
            }
            _ => panic!("{outputs:?}"),
        }
    };
    let first = form("conf_x", "TOKEN_INVALID", "conf_x is not valid");
    assert_eq!(
        first,
        form("conf_y", "TOKEN_INVALID", "conf_y is not valid")
    );
    let other = form("conf_y", "TOKEN_INVALID", "unknown");
    assert_ne!(first.1, other.1);
    assert_eq!((other.0, other.2, other.3), (Code::Invalid, true, false));
    assert_eq!(
        form("conf_y", "NO", "not widgets"),
        (Code::Other, other.1 + 1, true, true)
    );
    for (code, answer) in [
        ("RATE_LIMITED", Answer::Limited),
        ("INVALID_PARAMS", Answer::Unreadable),
    ] {
        let outputs = answered(names, "", "{}", &failed(code, "no")).1;
        assert_eq!(outputs, [Output::Respond(answer)]);
    }

    // What a crash loses is what came last.
    let (_, op) = asked(r#"{"id":1,"op":"restart","now":"1970-01-01T00:00:00Z","lost":1}"#);
    let Op::Restart(Lost::Outputs(lost)) = names.call(0, &op).op else {
        panic!("too many");
    };
    assert_eq!(lost[..], [Output::Respond(Answer::Unreadable)]);
    let (_, op) = asked(r#"{"id":1,"op":"restart","now":"1970-01-01T00:00:00Z","lost":2}"#);
    assert_eq!(names.call(0, &op).op, Op::Restart(Lost::TooMany));
}
