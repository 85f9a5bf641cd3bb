//! The driver protocol in the words of AAEP's spec: what is read, and that what is written is read.

use countersign_model::aaep::alphabet::*;
use countersign_model::aaep::clauses::*;
use countersign_model::aaep::wire::Names;
use countersign_model::engine::checker::Judgement;
use countersign_model::engine::clause::Clause;
use countersign_model::wire::Codec as _;
use countersign_protocol::aaep::Aaep as Driver;

use crate::common::wire::{self, judge_examples, put, written_and_read};

fn asked(line: &str) -> (Time, countersign_protocol::Op<Driver>) {
    wire::asked(line)
}

/// The examples of the page of the driver protocol conform, every one of them.
#[test]
fn the_examples_of_the_page_conform() {
    let page = include_str!("../../../../spec-trace/docs/DRIVER_AAEP.md");
    let judged = judge_examples::<Names>(page, |judgement, flaws| {
        *judgement == Judgement::Conforms && flaws.is_empty()
    });
    assert!(judged > 40, "{judged}");
}

/// What the spec's producer does within the worlds, written and read again, conforms.
#[test]
fn what_is_written_is_read() {
    // What is too large is no question of form.
    let is_written = |call: &Call| !matches!(&call.op, Op::Clarify(query) if query.size > 100);
    let read = written_and_read::<Names>(16, |call| call.now, is_written);
    assert!(read > 1000, "{read}");
}

/// A message of that text, as it is read.
fn read(message: &str) -> Option<Reply> {
    let mut names = Names::default();
    let op = format!(
        r#"{{"id":1,"op":"deliver","now":"1970-01-01T00:00:01Z","sender":{{"authenticated":true}},"message":{}}}"#,
        serde_json::to_string(message).unwrap()
    );
    let (now, op) = asked(&op);
    let Op::Deliver(it) = names.call(now, &op).op else {
        panic!("{op:?}");
    };
    it.reply
}
const CONFIRMS: &str = r#""type":"confirmation.reply","reply_token":"rpl_1","decision":"accept","subscription_id":"sub_1","timestamp":"1970-01-01T00:00:01Z""#;
const CLARIFIES: &str = r#""type":"clarification.reply","reply_token":"rpl_1","response":true,"subscription_id":"sub_1","timestamp":"1970-01-01T00:00:01Z""#;

#[test]
fn the_first_flaw_of_a_reply_is_read() {
    let [most, more] =
        [256, 257].map(|it| format!(r#"Z","decided_by":"{}""#, r"\ud83d".repeat(it)));
    for (of, from, to, flaw) in [
        (CONFIRMS, "", "", None),
        (CONFIRMS, "confirmation.reply", "reply", Some(Flaw::Type)),
        (CONFIRMS, "rpl_1", "rpl_", Some(Flaw::Token)),
        (CONFIRMS, "\"accept\"", "\"maybe\"", Some(Flaw::Decision)),
        (CONFIRMS, "sub_1", "sub_1\\n", Some(Flaw::Subscription)),
        (CONFIRMS, "00:01Z", "00:01", Some(Flaw::Timestamp)),
        (
            CONFIRMS,
            "Z\"",
            r#"Z","decided_by":"""#,
            Some(Flaw::DecidedBy),
        ),
        (CONFIRMS, "Z\"", r#"Z","decided_by":"\ud800""#, None),
        (CONFIRMS, "Z\"", &most, None),
        (CONFIRMS, "Z\"", &more, Some(Flaw::DecidedBy)),
        (
            CONFIRMS,
            "Z\"",
            r#"Z","decision_rationale":1"#,
            Some(Flaw::Rationale),
        ),
        (
            CONFIRMS,
            "Z\"",
            r#"Z","modified_action":[]"#,
            Some(Flaw::ModifiedAction),
        ),
        (CONFIRMS, "Z\"", r#"Z","modified_action":{}"#, None),
        (
            CONFIRMS,
            "Z\"",
            r#"Z","correlation_id":null"#,
            Some(Flaw::CorrelationId),
        ),
        (
            CONFIRMS,
            "Z\"",
            r#"Z","confidence":1"#,
            Some(Flaw::OtherProperty),
        ),
        (
            CONFIRMS,
            "Z\"",
            r#"Z","modified_action":{"a":[{"b":1,"\u0062":2}]}"#,
            Some(Flaw::RepeatedName),
        ),
        (CLARIFIES, "", "", None),
        (CLARIFIES, "true", "[]", Some(Flaw::Response)),
        (
            CLARIFIES,
            "Z\"",
            r#"Z","confidence":1.5"#,
            Some(Flaw::Confidence),
        ),
        (CLARIFIES, "Z\"", r#"Z","confidence":0"#, None),
        (
            CLARIFIES,
            "Z\"",
            r#"Z","decision":"accept""#,
            Some(Flaw::OtherProperty),
        ),
    ] {
        let text = format!(
            "{{{}}}",
            if from.is_empty() {
                of.to_owned()
            } else {
                of.replace(from, to)
            }
        );
        assert_eq!(read(&text).map(|it| it.flaw), Some(flaw), "{text}");
    }
    for unreadable in [
        "",
        "[]",
        "{",
        r#"{"reply_token":"rpl_1"}"#,
        r#"{"decision":"accept"}"#,
    ] {
        assert_eq!(read(unreadable), None, "{unreadable}");
    }
}

#[test]
fn what_a_reply_says_is_read_whatever_its_spelling() {
    let says = |of: &str, from: &str, to: &str| {
        read(&format!("{{{}}}", of.replace(from, to))).unwrap().says
    };
    let one = says(CLARIFIES, "true", "1");
    assert_eq!(one, says(CLARIFIES, "true", "1.0"));
    assert!(matches!(one, Says::Answers(Response::Number(_))));
    assert_eq!(
        says(CLARIFIES, "", ""),
        Says::Answers(Response::Truth(true))
    );
    let change = says(
        CONFIRMS,
        "Z\"",
        r#"Z","modified_action":{"risk_level":"high","irreversible":true}"#,
    );
    let Says::Decides(Decision::Accept, Some(it)) = change else {
        panic!("{change:?}");
    };
    assert_eq!((it.risk, it.irreversible), (Some(Risk::High), Some(true)));
}

/// The clauses of what is wrong with the form of an event.
fn flaws(event: &str) -> Vec<Clause> {
    let mut names = Names::default();
    let (now, op) = asked(r#"{"id":1,"op":"tick","now":"1970-01-01T00:00:01Z"}"#);
    let call = names.call(now, &op);
    let put = put(&format!(r#"{{"id":1,"outputs":[{{"emit":{event}}}]}}"#));
    names
        .outputs(&call, &put)
        .1
        .into_iter()
        .map(|it| it.clause)
        .collect()
}
const EVENT: &str = r#"{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.awaiting.confirmation","event_id":"evt_1","session_id":"sess_1","timestamp":"1970-01-01T00:00:01.000Z","producer":{"agent_id":"p"},"urgency":"critical","action":"a","consequence":"c","reply_token":"rpl_1","timeout_seconds":60,"default_decision":"reject"}"#;

#[test]
fn each_rule_of_form_names_its_clause() {
    let long = format!("\"action\":\"{}\"", "x".repeat(16 << 10));
    for (clause, from, to) in [
        (EV_1, "context/v1", "context/v2"),
        (EV_1, r#"{"agent_id":"p"}"#, "{}"),
        (EV_1, "\"urgency\"", "\"verbosity\":\"loud\",\"urgency\""),
        (EV_2, "evt_1", "evt-1"),
        (EV_2, "sess_1", "sess_"),
        (EV_3, ".000Z", ".00Z"),
        (EV_3, "1970-01-01T", "1970-01-01 "),
        (
            EV_9,
            "agent.awaiting.confirmation",
            "agent.awaiting.something",
        ),
        (C6_2_1, r#""reply_token":"rpl_1","#, ""),
        (C6_2_1_1, "rpl_1", "rpl_1-"),
        (EV_5, r#""action":"a","#, ""),
        (EV_5, r#""timeout_seconds":60"#, r#""timeout_seconds":60.5"#),
        (
            EV_5,
            r#""timeout_seconds":60"#,
            r#""timeout_seconds":86401"#,
        ),
        (EV_5, r#""reject""#, r#""perhaps""#),
        (EV_5, r#""reject""#, r#""reject","risk_level":"some""#),
        (EV_5, r#""reject""#, r#""reject","allowed_replies":[]"#),
        (
            EV_5,
            r#""reject""#,
            r#""reject","allowed_replies":["accept","accept"]"#,
        ),
        (EV_10, r#""action":"a""#, &*long.replace("xx", "xxx")),
        (EV_6, "\"urgency\":\"critical\"", "\"urgency\":\"normal\""),
    ] {
        assert_eq!(flaws(&EVENT.replace(from, to)), [clause], "{to}");
    }
    assert_eq!(flaws(EVENT), []);
    assert_eq!(flaws(&EVENT.replace(r#""action":"a""#, &long)), []);
    let foreign = EVENT.replace("aaep:agent.awaiting.confirmation", "vendor:something");
    assert_eq!(flaws(&foreign), []);
}
