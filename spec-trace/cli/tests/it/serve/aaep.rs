//! Whole conversations with `countersign serve aaep --stdio`, over pipes and with ids that count up.

use countersign_cli::serve::aaep::{Aaep, Settings};
use countersign_reference::ids::SequentialIds;
use serde_json::{Value, json};

use super::driver::{Driver, NOW, timed};

#[test]
fn hello_says_who_is_here_and_what_it_can_do() {
    let mut driver = connected();
    let hello = r#"{"id":1,"op":"hello","driver":1,"protocol":"aaep"}"#;
    let response = driver.send(hello);
    assert_eq!(
        response.to_string(),
        concat!(
            r#"{"id":1,"name":"countersign-reference "#,
            env!("CARGO_PKG_VERSION"),
            r#"","supports":["clarify","cancel","extend","courtesy_notice","progress","delivery","work","restart"],"#,
            r#""shows":["emit","notify","perform","respond","answer","audit","in_doubt","refused"]}"#
        )
    );
    driver.hang_up();
}

/// AAEP-6.1-1: nothing runs before the accept arrives, and then the action runs.
#[test]
fn an_accepted_action_is_performed() {
    let mut driver = reset();
    let started = driver.at(NOW, "start_session", json!({"session_id": "sess_1"}));
    assert_eq!(started, ["emit session.started"]);
    driver.subscribe("sub_1");

    let asked = driver.ask("confirm", timed(NOW, transfer()));
    let outputs = asked["outputs"].as_array().unwrap();
    assert_eq!(summary(&outputs[0]), "emit idle > awaiting_input");
    let question = &outputs[1]["emit"];
    assert_eq!(question["type"], "aaep:agent.awaiting.confirmation");
    assert_eq!(question["timeout_seconds"], 60);
    assert_eq!(question["timestamp"], NOW);

    let token = question["reply_token"].as_str().unwrap();
    let accepted = driver.at(NOW, "deliver", delivery(&reply(token, "accept")));
    assert_eq!(
        accepted,
        [
            RESPOND,
            "emit awaiting_input > calling_tool",
            "emit tool.invoked",
            "perform a1"
        ]
    );
    let done = json!({"session_id": "sess_1", "action": "a1", "status": "success"});
    let finished = driver.at(NOW, "finish_tool", done);
    assert_eq!(
        finished,
        ["emit tool.completed", "emit calling_tool > thinking"]
    );
    let end = json!({"session_id": "sess_1", "outcome": "completed"});
    assert_eq!(
        driver.at(NOW, "end_session", end),
        ["emit session.completed"]
    );
    driver.hang_up();
}

#[test]
fn a_perform_names_the_action_first_and_all_that_a_host_needs_to_run_it() {
    let mut driver = ready();
    let token = driver.confirm(transfer());
    let fields = timed(NOW, delivery(&reply(&token, "accept")));
    let response = driver.ask("deliver", fields);
    let perform = response["outputs"].as_array().unwrap().last().unwrap();
    let invoked = &response["outputs"][2]["emit"];
    let expected = json!({"perform": {
        "action": "a1",
        "session_id": "sess_1",
        "tool": "transfer_funds",
        "tool_call_id": invoked["tool_call_id"],
        "reply_token": token,
    }});
    assert_eq!(perform.to_string(), expected.to_string());
}

/// AAEP-6.1-3: a rejected action does not run, and an event says so.
#[test]
fn a_rejected_action_has_a_follow_up() {
    let mut driver = ready();
    let token = driver.confirm(transfer());
    let rejected = driver.at(NOW, "deliver", delivery(&reply(&token, "reject")));
    assert_eq!(rejected, [RESPOND, "emit awaiting_input > thinking"]);
}

/// AAEP-6.4-1: the default applies when the timeout has elapsed, and not a millisecond before.
#[test]
fn the_default_applies_at_the_deadline() {
    for (now, expected) in [
        ("2026-05-24T14:23:19.999Z", [].as_slice()),
        (
            "2026-05-24T14:23:20.000Z",
            &["emit awaiting_input > thinking"],
        ),
        (
            "2026-05-24T14:23:20.001Z",
            &["emit awaiting_input > thinking"],
        ),
    ] {
        let mut driver = ready();
        driver.confirm(transfer());
        assert_eq!(driver.at(now, "tick", json!({})), expected, "at {now}");
    }
}

/// AAEP-6.1-1: the other way to run is a timeout with default accept.
#[test]
fn a_default_accept_is_performed() {
    let mut driver = ready();
    driver.confirm(draft());
    assert_eq!(
        driver.at("2026-05-24T14:23:20.000Z", "tick", json!({})),
        [
            "emit awaiting_input > calling_tool",
            "emit tool.invoked",
            "perform a2"
        ]
    );
}

/// AAEP-REPLY-9, AAEP-REPLY-7, AAEP-REPLY-10: the schema limits no depth and no length but those it names. A rejection that is
/// ignored for either would leave the default to accept (AAEP-6.1-1).
#[test]
fn a_rejection_counts_however_deep_and_long_it_is() {
    let deep = r#"{"":["#.repeat(10_000) + &"]}".repeat(10_000);
    let long = "c".repeat(1 << 20);
    for extravagant in [
        format!(r#""modified_action":{deep}"#),
        format!(r#""correlation_id":"{long}""#),
        r#""decided_by":"\ud800""#.to_owned(),
    ] {
        let mut driver = ready();
        let token = driver.confirm(draft());
        let mut delivery = delivery(&reply(&token, "reject"));
        let message = delivery["message"].as_str().expect("a text");
        delivery["message"] = json!(message.replacen('{', &format!("{{{extravagant},"), 1));
        let rejected = driver.at(NOW, "deliver", delivery);
        assert_eq!(rejected, [RESPOND, "emit awaiting_input > thinking"]);
        let nothing: [&str; 0] = [];
        assert_eq!(
            driver.at("2026-05-24T14:23:20.001Z", "tick", json!({})),
            nothing
        );
    }
}

/// AAEP-6.3.5-1: only the first reply counts, and AAEP-6.3.4-9: the answer does not tell. AAEP-6.3.5-2: a courtesy on the sender's
/// own subscription does, that somebody has answered before.
#[test]
fn a_duplicate_reply_is_audited_and_answered_alike() {
    let mut driver = ready();
    let token = driver.confirm(transfer());
    driver.at(NOW, "deliver", delivery(&reply(&token, "reject")));
    let again = driver.at(NOW, "deliver", delivery(&reply(&token, "accept")));
    assert_eq!(again, [RESPOND, "audit AAEP-6.3.4-3", "notify sub_1"]);
}

/// AAEP-6.3.4-7: a reply that fails a check does nothing, and AAEP-6.3.4-9: whichever check it is, it is answered alike.
#[test]
fn every_failed_check_is_answered_alike() {
    let mut driver = ready();
    let mut ask = transfer();
    ask["allowed_replies"] = json!(["reject"]);
    let token = driver.confirm(ask);

    let mut late = reply(&token, "reject");
    late["timestamp"] = json!("2026-05-24T14:23:20Z");
    let mut forged = delivery(&reply(&token, "reject"));
    forged["sender"]["authenticated"] = json!(false);
    let garbage = json!({
        "sender": {"subscription_id": "sub_1", "authenticated": true},
        "message": "\u{0}{",
    });
    for (fields, audit) in [
        (garbage, "audit AAEP-6.3.4-1"),
        (
            delivery(&reply("rpl_guess", "reject")),
            "audit AAEP-6.3.4-2",
        ),
        (delivery(&late), "audit AAEP-6.3.4-4"),
        (forged, "audit AAEP-6.3.4-5"),
        (delivery(&reply(&token, "accept")), "audit AAEP-6.3.4-6"),
    ] {
        assert_eq!(driver.at(NOW, "deliver", fields), [RESPOND, audit]);
    }
    let honest = driver.at(NOW, "deliver", delivery(&reply(&token, "reject")));
    assert_eq!(honest, [RESPOND, "emit awaiting_input > thinking"]);
}

/// AAEP-6.8-3: a question that is taken back has a follow-up, and AAEP-6.8-4: its token is dead.
#[test]
fn a_cancelled_question_cannot_be_answered_or_cancelled_again() {
    let mut driver = ready();
    let token = driver.confirm(transfer());
    let cancel = json!({"reply_token": token});
    assert_eq!(
        driver.at(NOW, "cancel", cancel.clone()),
        ["emit awaiting_input > thinking"]
    );
    assert_eq!(
        driver.at(NOW, "deliver", delivery(&reply(&token, "accept"))),
        [RESPOND, "audit AAEP-6.8-4"]
    );
    let refused = driver.ask("cancel", timed(NOW, cancel));
    let reason = "no question with this token is pending";
    let expected = json!([{"refused": {"clause": "AAEP-6.8-1", "reason": reason}}]);
    assert_eq!(refused["outputs"], expected);
}

/// AAEP-6.4-1: what fell due before a refused call has happened all the same, and comes first.
#[test]
fn a_refusal_comes_after_what_was_due() {
    let mut driver = ready();
    let token = driver.confirm(transfer());
    let too_late = driver.at(
        "2026-05-24T14:23:20Z",
        "cancel",
        json!({"reply_token": token}),
    );
    assert_eq!(
        too_late,
        ["emit awaiting_input > thinking", "refused AAEP-6.8-1"]
    );
}

/// AAEP-6.4.1-1: silence cannot run an irreversible action of high risk.
#[test]
fn a_forbidden_default_is_refused() {
    let mut driver = ready();
    let mut ask = transfer();
    ask["default_decision"] = json!("accept");
    assert_eq!(driver.at(NOW, "confirm", ask), ["refused AAEP-6.4.1-1"]);
    // Nothing has changed: the same action can be asked for.
    driver.confirm(transfer());
}

/// AAEP-6.2.2-3: what the process had stored when it died still counts, tokens above all.
#[test]
fn a_restart_keeps_questions_and_tokens_and_performs_nothing_again() {
    let mut driver = ready();
    let used = driver.confirm(transfer());
    driver.at(NOW, "deliver", delivery(&reply(&used, "accept")));
    let pending = driver.confirm(draft());

    assert_eq!(driver.at(NOW, "restart", json!({})), ["in_doubt a1"]);
    assert_eq!(
        driver.at(NOW, "deliver", delivery(&reply(&used, "accept"))),
        [RESPOND, "audit AAEP-6.3.4-3", "notify sub_1"]
    );
    assert_eq!(
        driver.at(NOW, "deliver", delivery(&reply(&pending, "reject"))),
        [
            RESPOND,
            "emit awaiting_input > thinking",
            "emit thinking > calling_tool"
        ]
    );
}

/// AAEP-6.4-1, AAEP-6.3.5-2: what is due comes first, also before a reply that comes as it falls due; that one is told that it
/// came too late.
#[test]
fn a_reply_that_comes_as_its_deadline_passes_finds_the_default_applied() {
    for (now, is_late) in [
        ("2026-05-24T14:23:19.999Z", false),
        ("2026-05-24T14:23:20.000Z", true),
        ("2026-05-24T14:23:20.001Z", true),
    ] {
        let mut driver = ready();
        let token = driver.confirm(transfer());
        let told = driver.at(now, "deliver", delivery(&reply(&token, "accept")));
        if is_late {
            let rejected = "emit awaiting_input > thinking";
            let ignored = [rejected, RESPOND, "audit AAEP-6.3.4-3", "notify sub_1"];
            assert_eq!(told, ignored, "{now}");
        } else {
            assert_eq!(told.last().map(String::as_str), Some("perform a1"));
        }
    }
}

/// AAEP-6.3.5-2, AAEP-6.3.4-9: what was told to one sender alone is not told again, and counts among what was lost all the same.
#[test]
fn a_lost_courtesy_does_not_come_again() {
    let mut driver = ready();
    let used = driver.confirm(transfer());
    driver.at(NOW, "deliver", delivery(&reply(&used, "reject")));
    for lost in 1..=3 {
        let late = driver.at(NOW, "deliver", delivery(&reply(&used, "accept")));
        assert_eq!(late, [RESPOND, "audit AAEP-6.3.4-3", "notify sub_1"]);
        assert_eq!(driver.at(NOW, "restart", json!({"lost": lost})), [""; 0]);
    }
    let late = delivery(&reply(&used, "accept"));
    driver.at(NOW, "deliver", late);
    let response = driver.ask("restart", timed(NOW, json!({"lost": 4})));
    let reason = "`lost` is 4: expected at most 3, the outputs of the last response";
    assert_eq!(response["outputs"][0]["refused"]["reason"], reason);
}

/// AAEP-6.4-1: a deadline that passes while the process is down is served when it is back, and AAEP-6.1-1: what it
/// releases is performed as usual.
#[test]
fn a_default_that_fell_due_before_the_restart_is_not_in_doubt() {
    let mut driver = ready();
    driver.confirm(draft());
    assert_eq!(
        driver.at("2026-05-24T14:23:21Z", "restart", json!({})),
        [
            "emit awaiting_input > calling_tool",
            "emit tool.invoked",
            "perform a2"
        ]
    );
}

/// AAEP-6.8-2: a session's end cancels its questions. A perform cannot be taken back over this protocol: it is audited.
#[test]
fn the_end_of_a_session_cancels_its_questions_and_audits_what_may_still_run() {
    let mut driver = ready();
    let used = driver.confirm(transfer());
    driver.at(NOW, "deliver", delivery(&reply(&used, "accept")));
    let pending = driver.confirm(draft());

    let end = json!({"session_id": "sess_1", "outcome": "cancelled"});
    let response = driver.ask("end_session", timed(NOW, end.clone()));
    let audit = &response["outputs"][0]["audit"];
    assert_eq!(
        (&audit["clause"], &audit["action"]),
        (&json!("AAEP-6.8-2"), &json!("a1"))
    );
    assert_eq!(summary(&response["outputs"][1]), "emit session.cancelled");
    assert_eq!(response["outputs"].as_array().unwrap().len(), 2);

    assert_eq!(
        driver.at(NOW, "deliver", delivery(&reply(&pending, "accept"))),
        [RESPOND, "audit AAEP-6.8-4"]
    );
    assert_eq!(
        driver.at("2026-05-25T00:00:00Z", "tick", json!({})),
        [""; 0]
    );
    assert_eq!(driver.at(NOW, "end_session", end), ["refused AAEP-A.1-2"]);
}

/// AAEP-EV-11: when nobody is left who could answer, a default reject applies at once.
#[test]
fn the_last_capable_subscriber_takes_pending_rejections_with_it() {
    let mut driver = ready();
    driver.confirm(transfer());
    let gone = json!({"subscription_id": "sub_1"});
    assert_eq!(
        driver.at(NOW, "unsubscribe", gone),
        ["emit awaiting_input > thinking"]
    );
}

/// AAEP-EV-14: a subscriber that does not say that it can answer cannot, however it does not say so.
#[test]
fn nobody_can_answer_who_does_not_say_so() {
    for silent in [
        json!({"subscription_id": "sub_2"}),
        json!({"subscription_id": "sub_2", "capabilities": {}}),
        json!({"subscription_id": "sub_2", "capabilities": {"max_events_per_second": 3}}),
    ] {
        let mut driver = ready();
        driver.confirm(transfer());
        assert_eq!(driver.at(NOW, "subscribe", silent), [""; 0]);
        assert_eq!(
            driver.at(NOW, "unsubscribe", json!({"subscription_id": "sub_1"})),
            ["emit awaiting_input > thinking"]
        );
    }
}

#[test]
fn a_session_id_is_drawn_where_none_is_given() {
    let mut driver = reset();
    let response = driver.ask("start_session", json!({"now": NOW}));
    let id = response["outputs"][0]["emit"]["session_id"]
        .as_str()
        .unwrap();
    assert!(id.starts_with("sess_"), "{id}");
}

#[test]
fn a_reset_forgets_everything_and_the_clock_too() {
    let mut driver = ready();
    let token = driver.confirm(transfer());
    driver.ask("reset", json!({"now": "2001-01-01T00:00:00Z"}));
    assert_eq!(
        driver.at(NOW, "deliver", delivery(&reply(&token, "accept"))),
        [RESPOND, "audit AAEP-6.3.4-2"]
    );

    driver.ask("reset", json!({"now": "2001-01-01T00:00:00Z"}));
    let fields = json!({"now": "2001-01-01T00:00:00Z", "session_id": "sess_1"});
    let started = driver.ask("start_session", fields);
    let timestamp = &started["outputs"][0]["emit"]["timestamp"];
    assert_eq!(timestamp, "2001-01-01T00:00:00.000Z");
}

#[test]
fn time_does_not_go_back_behind_the_reset() {
    let mut driver = reset();
    let fields = json!({"now": "2001-01-01T00:00:00Z"});
    let started = driver.ask("start_session", fields);
    assert_eq!(started["outputs"][0]["emit"]["timestamp"], NOW);
}

#[test]
fn a_second_hello_changes_nothing() {
    let mut driver = ready();
    let token = driver.confirm(transfer());
    driver.ask(
        "hello",
        json!({"driver": 1, "protocol": "aaep", "now": NOW}),
    );
    assert_eq!(
        driver.at(NOW, "cancel", json!({"reply_token": token})),
        ["emit awaiting_input > thinking"]
    );
}

#[test]
fn hello_and_reset_come_before_anything_else() {
    let mut driver = connected();
    let error = |driver: &mut Driver, op: &str, fields: Value| {
        driver.ask(op, fields)["error"].as_str().unwrap().to_owned()
    };
    for op in ["reset", "tick"] {
        assert!(
            error(&mut driver, op, json!({"now": NOW})).ends_with(&format!(
                "`op` is \"{op}\": expected \"hello\" before anything else"
            ))
        );
    }
    driver.ask("hello", json!({"driver": 1, "protocol": "aaep"}));
    assert_eq!(
        error(&mut driver, "tick", json!({"now": NOW})),
        "line 4: `op` is \"tick\": expected \"reset\" after \"hello\""
    );
    driver.ask("reset", json!({"now": NOW}));
    assert_eq!(driver.at(NOW, "tick", json!({})), [""; 0]);
}

/// A server that nobody has talked to.
pub fn connected() -> Driver {
    Driver::connected(
        Aaep::new(Settings::default(), SequentialIds::new()),
        summary,
    )
}

/// A server after `hello` and `reset`.
fn reset() -> Driver {
    connected().greeted()
}

/// A server with the session `sess_1`, and `sub_1`, which can reply.
pub fn ready() -> Driver {
    let mut driver = reset();
    driver.at(NOW, "start_session", json!({"session_id": "sess_1"}));
    driver.subscribe("sub_1");
    driver
}

impl Driver {
    fn subscribe(&mut self, id: &str) {
        let capabilities = json!({"supports_confirmation_reply": true, "max_events_per_second": 5});
        let fields = json!({"subscription_id": id, "capabilities": capabilities});
        assert_eq!(self.at(NOW, "subscribe", fields), [""; 0]);
    }

    /// Asks to confirm an action, for a minute; its token.
    fn confirm(&mut self, ask: Value) -> String {
        let response = self.ask("confirm", timed(NOW, ask));
        let event = response["outputs"].as_array().unwrap().last().unwrap();
        event["emit"]["reply_token"].as_str().unwrap().to_owned()
    }
}

/// A question about a transfer: irreversible, of high risk, rejected by default after a minute.
pub fn transfer() -> Value {
    json!({
        "session_id": "sess_1",
        "action": {
            "id": "a1",
            "tool": "transfer_funds",
            "description": "Transfer 500 dollars",
            "consequence": "The money is gone",
            "risk_level": "high",
            "irreversible": true,
        },
        "timeout_seconds": 60,
        "default_decision": "reject",
    })
}

/// A question about a draft: harmless, and accepted by default.
fn draft() -> Value {
    let mut ask = transfer();
    ask["action"]["id"] = json!("a2");
    ask["action"]["risk_level"] = json!("low");
    ask["action"]["irreversible"] = json!(false);
    ask["default_decision"] = json!("accept");
    ask
}

/// A reply of `sub_1`, decided at once.
fn reply(token: &str, decision: &str) -> Value {
    json!({
        "type": "confirmation.reply",
        "reply_token": token,
        "decision": decision,
        "subscription_id": "sub_1",
        "timestamp": NOW,
    })
}

/// A delivery of `message` by `sub_1`, authenticated.
fn delivery(message: &Value) -> Value {
    json!({
        "sender": {"subscription_id": "sub_1", "authenticated": true},
        "message": message.to_string(),
    })
}

/// One output in a few words: its kind, and what tells it from others of its kind.
fn summary(output: &Value) -> String {
    let (kind, body) = output.as_object().unwrap().iter().next().unwrap();
    let text = |field: &str| body[field].as_str().unwrap_or("-");
    match kind.as_str() {
        "emit" if body["type"] == "aaep:agent.state.changed" => {
            format!("emit {} > {}", text("from_state"), text("to_state"))
        }
        "emit" => format!("emit {}", text("type").trim_start_matches("aaep:agent.")),
        "perform" | "in_doubt" => format!("{kind} {}", text("action")),
        "audit" | "refused" => format!("{kind} {}", text("clause")),
        "respond" => format!("respond {body}"),
        "notify" => format!("notify {}", text("subscription_id")),
        "answer" => format!("answer {} by {}", body["response"], text("by")),
        other => panic!("an output of kind {other}"),
    }
}

/// What the sender of any message gets to see, as [`summary`] puts it.
const RESPOND: &str = r#"respond {"status":204,"body":null}"#;
