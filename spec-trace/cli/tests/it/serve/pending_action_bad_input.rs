//! What the server makes of arguments, decisions and snapshots that no honest client sends, and of requests about them
//! that no driver should send.

use serde_json::{Value, json};

use super::driver::{NOW, timed};
use super::pending_action_stage::{
    ALLOWED, ASKED, LATE, connected, decision, deletion, expiring, ready,
};

fn with(name: &str, value: Value) -> Value {
    let mut proposal = deletion();
    proposal[name] = value;
    proposal
}

fn without(name: &str) -> Value {
    let mut proposal = deletion();
    proposal.as_object_mut().unwrap().remove(name);
    proposal
}

/// PA-1, PA-2, PA-3, PA-7, PA-9: the host erred, and is told by which clause. Nothing is proposed.
#[test]
fn proposals_that_the_contract_does_not_allow_are_refused() {
    let mut driver = ready();
    let nested = |depth| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let long = |length| format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
    let arguments = |text: String| with("arguments", json!(text));
    let cases = [
        (with("agent_id", json!("")), "PA-1"),
        (with("agent_id", json!("\u{2060}")), "PA-1"),
        (with("tool", json!("")), "PA-1"),
        (with("summary", json!("")), "PA-1"),
        (with("summary", json!(" \n")), "PA-1"),
        (with("label", json!(" ")), "PA-9"),
        (with("label", json!("\u{200b}")), "PA-9"),
        (with("deciders", json!(["ana", " "])), "PA-2"),
        (with("deciders", json!(["ana", "\u{feff}"])), "PA-2"),
        (with("label", json!("two\nlines")), "PA-9"),
        (with("deciders", json!([])), "PA-2"),
        (with("deciders", json!(["ana", "ana"])), "PA-2"),
        (with("expires_at", json!(NOW)), "PA-7"),
        (with("arguments", json!("[1")), "PA-3"),
        (with("arguments", json!("")), "PA-3"),
        (arguments(r#"{"a":1,"a":1}"#.into()), "PA-3"),
        (arguments(r#"{"a":"\ud800"}"#.into()), "PA-3"),
        (arguments(nested(64)), "PA-3"),
        (arguments(nested(100_000)), "PA-3"),
        (arguments(long((1 << 20) - 7)), "PA-3"),
        (arguments(long(10_000_000)), "PA-3"),
    ];
    for (proposal, clause) in cases {
        let refused = driver.at(NOW, "propose", proposal);
        assert_eq!(refused, [format!("refused {clause}")]);
    }
    assert_eq!(driver.at(NOW, "propose", arguments(nested(63))), ASKED);
    assert_eq!(
        driver.at(NOW, "propose", arguments(long((1 << 20) - 8))),
        ASKED
    );
    driver.hang_up();
}

/// PA-3: arguments that only a line can carry are judged by the ledger, and not by the reader of requests.
#[test]
fn arguments_that_say_two_things_at_once_are_refused_as_they_are_written() {
    let mut driver = ready();
    let fields = deletion().to_string();
    let fields = fields.replace(&deletion()["arguments"].to_string(), r#"{"a":1,"a":2}"#);
    let fields = fields.strip_prefix('{').unwrap();
    let response = driver.send(&format!(
        r#"{{"id":9,"op":"propose","now":"{NOW}",{fields}"#
    ));
    let refused = json!({
        "clause": "PA-3", "reason": "arguments are duplicate key before byte 12",
    });
    assert_eq!(response["outputs"], json!([{ "refused": refused }]));
    driver.hang_up();
}

/// PA-1, PA-8: a decision is matched by what it names, and hostile names are names of nothing.
#[test]
fn decisions_about_nothing_are_ignored() {
    let mut driver = ready();
    let event = driver.proposes(deletion());
    let id = event["action_id"].as_str().unwrap();
    let unknown = "audit PA-1: the action is unknown";
    for named in [
        "",
        "0",
        "1",
        &id.to_uppercase(),
        &format!("{id} "),
        &"x".repeat(100_000),
    ] {
        let fields = json!({"action_id": named, "decision": "allow", "by": "ana"});
        assert_eq!(driver.at(NOW, "decide", fields), [unknown]);
    }
    let mut other = decision(&event, "allow");
    other["nonce"] = json!("nonce_00000000000000000000000000000000");
    let ignored = driver.at(NOW, "decide", other);
    assert_eq!(ignored, ["audit PA-1: the nonce is another"]);
    let mut own = decision(&event, "allow");
    own["nonce"] = event["nonce"].clone();
    assert_eq!(driver.at(NOW, "decide", own), ALLOWED);
    driver.hang_up();
}

#[test]
fn requests_that_are_no_operations_are_answered_with_the_field_and_what_was_expected() {
    let mut driver = ready();
    let decide = |name: &str, value: Value| {
        let mut fields = json!({"action_id": "pa_1", "decision": "allow", "by": "ana"});
        fields[name] = value;
        fields
    };
    driver.complains(&[
        ("propose", without("arguments"), "`arguments` is missing"),
        ("propose", without("effect"), "`effect` is missing"),
        (
            "propose",
            with("idempotent", json!("yes")),
            "`idempotent`: invalid type: string \"yes\", expected a boolean",
        ),
        (
            "decide",
            decide("decision", json!(1)),
            "`decision`: expected value",
        ),
        (
            "decide",
            json!({"action_id": "pa_1", "decision": "yes"}),
            "`by` is missing",
        ),
        (
            "decide",
            decide("position", json!(0)),
            "unknown field `position`: expected one of `action_id`, `nonce`, `decision`, `by`, `arguments`",
        ),
        (
            "expire",
            json!({}),
            "`op` is \"expire\": expected one of `hello`, `reset`, `tick`, `restart`, `propose`, `decide`, `say`, \
             `finish_tool`, `cancel`, `end_session`, `snapshot`, `rollback`",
        ),
    ]);
    driver.refuses(&[
        (
            "propose",
            with("expires_at", json!("tomorrow")),
            "`expires_at` is \"tomorrow\": not an RFC 3339 date-time",
        ),
        (
            "propose",
            with("effect", json!("harmless")),
            "`effect`: unknown variant `harmless`, expected one of `read`, `write`, `destructive`, `external`",
        ),
        (
            "decide",
            decide("decision", json!("yes")),
            "`decision`: unknown variant `yes`, expected `allow` or `deny`",
        ),
        (
            "finish_tool",
            json!({"action_id": "pa_1", "status": "done"}),
            "`status`: unknown variant `done`, expected one of `success`, `error`, `not_run`",
        ),
        (
            "restart",
            json!({"lost": -1}),
            "`lost`: invalid value: integer `-1`, expected a whole number, 0 or more",
        ),
    ]);
    for snapshot in [json!("{}"), json!({}), json!(1)] {
        let rollback = json!({"snapshot": snapshot});
        assert_eq!(driver.at(NOW, "rollback", rollback), ["refused PA-8"]);
    }
    driver.hang_up();
}

/// PA-7: a word that is not allowed is refused like any other value: time passes, and what is due happens. An error, and
/// before the first `reset` there is nothing else, passes none.
#[test]
fn a_refused_word_lets_time_pass() {
    let mut driver = connected();
    driver.ask("hello", json!({"driver": 1, "protocol": "pending-action"}));
    let maybe = json!({"action_id": "pa_1", "decision": "maybe", "by": "ana"});
    let early = driver.ask("decide", timed(NOW, maybe.clone()));
    assert!(early["error"].is_string(), "{early}");
    driver.ask("reset", json!({"now": NOW}));
    driver.at(NOW, "propose", expiring());
    let unsaid = driver.ask("decide", timed(LATE, json!({"action_id": "pa_1"})));
    assert!(unsaid["error"].is_string(), "{unsaid}");
    assert_eq!(
        driver.at(LATE, "decide", maybe),
        ["append expired_result", "event expired", "refused -"]
    );
    driver.hang_up();
}

/// PA-3, PA-5, PA-7, PA-8: what a tool or a host says of an action that is elsewhere.
#[test]
fn what_does_not_fit_the_status_is_refused() {
    let mut driver = ready();
    let event = driver.proposes(deletion());
    let finish = json!({"action_id": event["action_id"], "status": "success"});
    assert_eq!(
        driver.at(NOW, "finish_tool", finish.clone()),
        ["refused PA-3"]
    );
    driver.at(NOW, "decide", decision(&event, "deny"));
    assert_eq!(driver.at(NOW, "finish_tool", finish), ["refused PA-5"]);
    let cancel = json!({"action_id": event["action_id"]});
    assert_eq!(driver.at(NOW, "cancel", cancel), ["refused PA-8"]);
    let nothing = json!({"action_id": "pa_1"});
    assert_eq!(driver.at(NOW, "cancel", nothing), ["refused PA-1"]);
    driver.hang_up();
}
