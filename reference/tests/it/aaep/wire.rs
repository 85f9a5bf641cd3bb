//! The JSON that others see: events, outputs, inputs, and the producer as it is stored.

use countersign_reference::aaep::{
    ActionId, AgentId, Decision, EventId, Field, Identity, Input, Output, OutputId, Producer,
    Refusal, ReplyToken, RiskLevel, SessionId, SessionOutcome, Settings, SubscriptionId,
    ToolCallId, ToolStatus,
};
use serde_json::{Value, json};

use crate::aaep::stage::{
    DEADLINE, Stage, action_id, ask, ask_accepting, deliver, reply, session, start, subscribe,
};

const TOKEN: &str = "rpl_00000000000000000000000000000002";

/// The outputs of a call, as JSON.
fn json_of(stage: &mut Stage, input: Input) -> Value {
    serde_json::to_value(stage.outputs(input)).expect("serialises")
}

/// The envelope of the event that is made with the given draw and number, with the payload beside it.
fn event(
    draw: u32,
    sequence_number: u32,
    timestamp: &str,
    event_type: &str,
    urgency: &str,
    payload: Value,
) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{event_type}"),
        "event_id": format!("evt_{draw:032x}"),
        "session_id": "sess_a",
        "timestamp": timestamp,
        "producer": {"agent_id": "countersign-reference"},
        "sequence_number": sequence_number,
        "urgency": urgency,
    });
    let Value::Object(payload) = payload else {
        panic!("a payload is an object")
    };
    event.as_object_mut().expect("an object").extend(payload);
    json!({ "emit": event })
}

/// AAEP-EV-1, AAEP-EV-3, AAEP-EV-4, AAEP-EV-5, AAEP-EV-6, AAEP-6.2-1: a question, field by field.
#[test]
fn a_question_on_the_wire() {
    let mut stage = Stage::empty(Settings::default());
    stage.does(subscribe("sub_a", true));
    let asked_at = "2026-05-24T14:22:20.000Z";
    assert_eq!(
        json_of(&mut stage, start("sess_a")),
        json!([event(
            1,
            0,
            asked_at,
            "session.started",
            "normal",
            json!({
                "summary_normal": "The session has started.",
            })
        )])
    );
    assert_eq!(
        json_of(&mut stage, Input::Confirm(ask("a1"))),
        json!([
            event(
                3,
                1,
                asked_at,
                "state.changed",
                "normal",
                json!({
                    "from_state": "idle",
                    "to_state": "awaiting_input",
                    "summary_normal": "Waiting for the user to decide.",
                })
            ),
            event(
                4,
                2,
                asked_at,
                "awaiting.confirmation",
                "critical",
                json!({
                    "action": "Transfer 500 dollars to savings.",
                    "consequence": "The money leaves the checking account.",
                    "reply_token": TOKEN,
                    "timeout_seconds": 10,
                    "default_decision": "reject",
                    "risk_level": "high",
                    "irreversible": true,
                    "allowed_replies": ["accept", "reject"],
                    "extra_context": {"tool_call_id": "call_0"},
                })
            ),
        ])
    );
}

/// AAEP-EV-5, AAEP-EV-1: whatever is asked, the question says that, the call that it releases says it again, and each
/// event says who speaks.
#[test]
fn events_say_what_was_asked() {
    for risk_level in [RiskLevel::Low, RiskLevel::Medium, RiskLevel::High] {
        for irreversible in [false, true] {
            for default_decision in [Decision::Accept, Decision::Reject] {
                if irreversible && risk_level > RiskLevel::Low {
                    continue;
                }
                let agent_id = AgentId::parse("bank").expect("a name");
                let mut stage = Stage::with(Settings {
                    identity: Identity {
                        agent_id,
                        agent_version: None,
                    }
                    .into(),
                    ..Settings::default()
                });
                let mut question = ask("a1");
                question.action.risk_level = risk_level;
                question.action.irreversible = irreversible;
                question.default_decision = default_decision;
                question.timeout_seconds = 7;
                question.allowed_replies = Some(vec!["later".into(), "accept".into()]);
                let asked = json_of(&mut stage, Input::Confirm(question));
                let token = stage.producer.confirmations()[0]
                    .question
                    .asked
                    .reply_token
                    .clone();
                let accepts = deliver("sub_a", &reply(&token, Decision::Accept, stage.now));
                let accepted = json_of(&mut stage, accepts);
                let (question, call) = (&asked[1]["emit"], &accepted[2]["emit"]);
                assert_eq!(question["default_decision"], json!(default_decision));
                assert_eq!(question["timeout_seconds"], 7);
                assert_eq!(question["allowed_replies"], json!(["later", "accept"]));
                for said in [question, call] {
                    assert_eq!(said["risk_level"], json!(risk_level));
                    assert_eq!(said["irreversible"], json!(irreversible));
                    assert_eq!(said["producer"], json!({"agent_id": "bank"}));
                }
            }
        }
    }
}

/// AAEP-6.7.2-2, AAEP-A.4-3, AAEP-EV-13, AAEP-EV-15: its acceptance, and the call that is tied to it.
#[test]
fn an_accepted_question_on_the_wire() {
    let mut stage = Stage::empty(Settings::default());
    stage.does(subscribe("sub_a", true));
    stage.does(start("sess_a"));
    let token = stage.asks(ask("a1"));
    assert_eq!(token.as_str(), TOKEN);
    stage.now += 4_015;
    let answered_at = "2026-05-24T14:22:24.015Z";
    let resolution =
        json!({"countersign": {"reply_token": TOKEN, "action": "a1", "outcome": "accepted"}});
    assert_eq!(
        json_of(
            &mut stage,
            deliver("sub_a", &reply(&token, Decision::Accept, DEADLINE - 1))
        ),
        json!([
            {"respond": {"status": 204, "body": null}},
            event(5, 3, answered_at, "state.changed", "normal", json!({
                "from_state": "awaiting_input",
                "to_state": "calling_tool",
                "summary_normal": "The action was accepted and proceeds.",
                "extensions": resolution.clone(),
            })),
            event(6, 4, answered_at, "tool.invoked", "normal", json!({
                "tool": "transfer_funds",
                "summary_normal": "Transfer 500 dollars to savings.",
                "tool_call_id": "call_0",
                "risk_level": "high",
                "irreversible": true,
                "extensions": resolution,
            })),
            {"perform": {
                "session_id": "sess_a",
                "action": "a1",
                "tool": "transfer_funds",
                "tool_call_id": "call_0",
                "reply_token": TOKEN,
            }},
        ])
    );
    let finish = Input::FinishTool {
        session_id: session("sess_a"),
        action: action_id("a1"),
        tool_call_id: None,
        status: ToolStatus::Timeout,
    };
    assert_eq!(
        json_of(&mut stage, finish),
        json!([
            event(
                7,
                5,
                answered_at,
                "tool.completed",
                "normal",
                json!({
                    "tool": "transfer_funds",
                    "status": "timeout",
                    "tool_call_id": "call_0",
                })
            ),
            event(
                8,
                6,
                answered_at,
                "state.changed",
                "normal",
                json!({
                    "from_state": "calling_tool",
                    "to_state": "thinking",
                    "summary_normal": "The tool has come back.",
                })
            ),
        ])
    );
}

/// AAEP-6.1-3, AAEP-6.8-3, AAEP-6.7.2-2: what a rejection and a cancellation look like.
#[test]
fn a_question_that_is_not_accepted_on_the_wire() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    let rejected = json_of(
        &mut stage,
        deliver("sub_a", &reply(&token, Decision::Reject, DEADLINE - 1)),
    );
    assert_eq!(rejected[1]["emit"]["from_state"], "awaiting_input");
    assert_eq!(rejected[1]["emit"]["to_state"], "thinking");
    // What a screen reader speaks.
    let said = &rejected[1]["emit"]["summary_normal"];
    assert_eq!(said, "The action was rejected and will not run.");
    let resolution =
        json!({"countersign": {"reply_token": token, "action": "a1", "outcome": "rejected"}});
    assert_eq!(rejected[1]["emit"]["extensions"], resolution);

    let reply_token = stage.asks(ask("a1"));
    let cancelled = json_of(
        &mut stage,
        Input::Cancel {
            reply_token: reply_token.clone(),
        },
    );
    let resolution = json!({"countersign": {"reply_token": reply_token, "action": "a1", "outcome": "cancelled"}});
    assert_eq!(cancelled[0]["emit"]["extensions"], resolution);
    let said = &cancelled[0]["emit"]["summary_normal"];
    assert_eq!(said, "The action is no longer needed and will not run.");
}

/// AAEP-EV-5, AAEP-EV-6: each way for a session to end.
#[test]
fn terminal_events_on_the_wire() {
    for (outcome, event_type, urgency, payload) in [
        (
            SessionOutcome::Completed,
            "session.completed",
            "normal",
            json!({"summary_normal": "The session has done its work."}),
        ),
        (
            SessionOutcome::Errored,
            "session.errored",
            "critical",
            json!({"error_category": "unknown", "summary_normal": "The session has failed."}),
        ),
        (
            SessionOutcome::Cancelled,
            "session.cancelled",
            "normal",
            json!({
                "cancelled_by": "producer",
                "summary_normal": "The session was cancelled, and every pending question with it.",
            }),
        ),
    ] {
        let mut stage = Stage::new();
        let ended = json_of(
            &mut stage,
            Input::EndSession {
                session_id: session("sess_a"),
                outcome,
            },
        );
        assert_eq!(
            ended,
            json!([event(
                2,
                1,
                "2026-05-24T14:22:20.000Z",
                event_type,
                urgency,
                payload
            )])
        );
    }
}

/// AAEP-6.3.4-8: the operator's side of an ignored message, and of a courtesy notice.
#[test]
fn an_ignored_reply_on_the_operators_side() {
    let identity = Identity {
        agent_id: AgentId::parse("bank").expect("a name"),
        agent_version: Some("2.1".into()),
    };
    let settings = Settings {
        identity: identity.into(),
        courtesy_notices: true,
        ..Settings::default()
    };
    let mut stage = Stage::with(settings);
    assert_eq!(
        json_of(&mut stage, start("sess_b"))[0]["emit"]["producer"],
        json!({"agent_id": "bank", "agent_version": "2.1"})
    );
    let token = stage.asks(ask("a1"));
    stage.replies(&token, Decision::Reject);
    assert_eq!(
        json_of(
            &mut stage,
            deliver("sub_a", &reply(&token, Decision::Reject, 0))
        ),
        json!([
            {"respond": {"status": 204, "body": null}},
            {"audit": {
                "clause": "AAEP-6.3.4-3",
                "reply_token": token,
                "text": "the token was used up by a reply",
            }},
            {"notify": {"subscription_id": "sub_a", "reply_token": token}},
        ])
    );
    assert_eq!(
        json_of(
            &mut stage,
            deliver("sub_a", &json!({"type": "confirmation.reply"}))
        )[1],
        json!({"audit": {
            "clause": "AAEP-6.3.4-1",
            "reply_token": null,
            "text": "malformed: property reply_token is missing",
        }})
    );
}

/// The outputs that only a session's end or a restart has.
#[test]
fn withdrawn_and_doubtful_calls_as_outputs() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    stage.replies(&token, Decision::Accept);
    let call = json!({
        "session_id": "sess_a",
        "action": "a1",
        "tool": "transfer_funds",
        "tool_call_id": "call_0",
        "reply_token": token,
    });
    assert_eq!(
        json_of(&mut stage, Input::Restart { lost: Vec::new() }),
        json!([{ "in_doubt": call }])
    );
    let end = Input::EndSession {
        session_id: session("sess_a"),
        outcome: SessionOutcome::Errored,
    };
    assert_eq!(json_of(&mut stage, end)[0], json!({ "withdraw": call }));
}

/// AAEP-EV-2: identifiers are checked where they come in.
#[test]
fn identifiers_have_their_grammar() {
    for (prefix, parses) in [
        (
            "rpl_",
            (|text| ReplyToken::parse(text).is_ok()) as fn(&str) -> bool,
        ),
        ("sess_", |text| SessionId::parse(text).is_ok()),
        ("sub_", |text| SubscriptionId::parse(text).is_ok()),
        ("evt_", |text| EventId::parse(text).is_ok()),
    ] {
        for (length, fits) in [
            (0, false),
            (1, true),
            (2, true),
            (63, true),
            (64, true),
            (65, false),
        ] {
            assert_eq!(
                parses(&(prefix.to_owned() + &"x".repeat(length))),
                fits,
                "{prefix} {length}"
            );
        }
        assert!(!parses("x") && !parses(&format!("{prefix}a\n")) && !parses(&format!("{prefix}é")));
    }
    for (length, fits) in [(0, false), (1, true), (63, true), (64, true), (65, false)] {
        let name = "é".repeat(length);
        assert_eq!(ToolCallId::parse(&name).is_ok(), fits);
        assert_eq!(OutputId::parse(&name).is_ok(), fits);
    }
    for (length, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (255, true),
        (256, true),
        (257, false),
    ] {
        for character in ["é", "😀"] {
            let name = character.repeat(length);
            assert_eq!(ActionId::parse(&name).is_ok(), fits);
            assert_eq!(AgentId::parse(&name).is_ok(), fits);
        }
    }
}

/// A producer is one JSON document, and the same producer when it is read back.
#[test]
fn a_producer_survives_storage() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    stage.asks(ask_accepting("a2"));
    stage.replies(&token, Decision::Accept);
    let stored = serde_json::to_string(&stage.producer).expect("serialises");
    let restored: Producer = serde_json::from_str(&stored).expect("deserialises");
    assert_eq!(restored, stage.producer);
    assert_eq!(
        serde_json::to_string(&restored).expect("serialises"),
        stored
    );
    stage.producer = restored;
    stage.now = DEADLINE;
    assert_eq!(
        stage
            .does(Input::Restart { lost: Vec::new() })
            .last()
            .map(String::as_str),
        Some("in doubt sess_a a1")
    );
}

/// A document that was changed after it was written, and what reading it says.
#[track_caller]
fn check_tampered(stage: &Stage, pointer: &str, value: Value, complaint: &str) {
    let mut stored = serde_json::to_value(&stage.producer).expect("serialises");
    assert!(serde_json::from_value::<Producer>(stored.clone()).is_ok());
    *stored.pointer_mut(pointer).expect("is in the document") = value;
    let error = serde_json::from_value::<Producer>(stored).expect_err(pointer);
    assert!(error.to_string().contains(complaint), "{pointer}: {error}");
}

/// AAEP-6.2.2-3, AAEP-6.1-6, AAEP-EV-13: no two questions share a token, a blocked action or the id of a call.
#[test]
fn a_document_whose_questions_contradict_each_other_is_not_read() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    stage.asks(ask("a2"));
    for (field, of_the_first, complaint) in [
        (
            "asked/reply_token",
            token.as_str(),
            "have the same reply token",
        ),
        ("action/id", "a1", "of the same action are pending"),
        ("tool_call_id", "call_0", "the tool_call_id of another"),
    ] {
        let pointer = format!("/questions/confirmations/1/question/{field}");
        check_tampered(&stage, &pointer, json!(of_the_first), complaint);
    }
}

/// AAEP-6.4.1-1, AAEP-6.4.1-2, AAEP-EV-5, AAEP-6.4-1: what must not be asked is not read back either.
#[test]
fn a_document_with_a_question_that_must_not_be_asked_is_not_read() {
    let mut stage = Stage::new();
    let mut question = ask("a1");
    question.default_decision = Decision::Reject;
    question.action.risk_level = RiskLevel::High;
    question.action.irreversible = true;
    stage.asks(question.clone());
    question.action.id = action_id("a2");
    question.action.risk_level = RiskLevel::Medium;
    stage.asks(question);
    for (pointer, value, complaint) in [
        ("0/question/default_decision", json!("accept"), "high risk"),
        (
            "1/question/default_decision",
            json!("accept"),
            "medium risk",
        ),
        ("0/question/allowed_replies", json!([]), "allowed_replies"),
        ("0/question/action/tool", json!(" "), "action.tool"),
        ("0/question/asked/timeout", json!(0), "1 to 86400"),
        (
            "0/question/asked/at",
            json!("2027-01-01T00:00:00Z"),
            "later than now",
        ),
    ] {
        check_tampered(
            &stage,
            &format!("/questions/confirmations/{pointer}"),
            value,
            complaint,
        );
    }
}

/// AAEP-A.1-3, AAEP-6.8-2, AAEP-A.4-1, AAEP-A.4-2, AAEP-EV-4: sessions and questions agree.
#[test]
fn a_document_whose_sessions_contradict_the_questions_is_not_read() {
    let mut pending = Stage::new();
    let token = pending.asks(ask("a1"));
    let mut in_flight = pending.clone();
    in_flight.replies(&token, Decision::Accept);
    for stage in [&pending, &in_flight] {
        for (pointer, value, complaint) in [
            ("/sessions", json!({}), "a session that was not started"),
            (
                "/sessions/sess_a/status",
                json!({"ended": "completed"}),
                "has ended",
            ),
            (
                "/sessions/sess_a/next_sequence_number",
                json!(0),
                "lost count",
            ),
            (
                "/sessions/sess_a/next_sequence_number",
                json!(u64::MAX),
                "lost count",
            ),
        ] {
            check_tampered(stage, pointer, value, complaint);
        }
    }
    let state = "/sessions/sess_a/state";
    check_tampered(&pending, state, json!("thinking"), "awaiting_input");
    check_tampered(&in_flight, state, json!("awaiting_input"), "awaiting_input");
}

/// Every refusal names its clause and says what is wrong.
#[test]
fn refusals_name_their_clauses() {
    for (refusal, clause) in [
        (Refusal::SessionExists, "AAEP-A.1-1"),
        (Refusal::SessionNotActive, "AAEP-A.1-3"),
        (Refusal::SessionNotEndable, "AAEP-A.1-2"),
        (Refusal::SubscriptionExists, "AAEP-EV-2"),
        (Refusal::SubscriptionNotOpen, "AAEP-REPLY-14"),
        (Refusal::TimeoutOutOfRange, "AAEP-EV-5"),
        (Refusal::AllowedRepliesMalformed, "AAEP-EV-5"),
        (Refusal::TextBlank(Field::Tool), "AAEP-EV-5"),
        (Refusal::AcceptByDefaultHighRisk, "AAEP-6.4.1-1"),
        (Refusal::AcceptByDefaultMediumRisk, "AAEP-6.4.1-2"),
        (Refusal::ActionBlocked, "AAEP-6.1-6"),
        (Refusal::NoFreshToken, "AAEP-6.2.2-3"),
        (Refusal::NoFreshSessionId, "AAEP-A.1-1"),
        (Refusal::NothingToCancel, "AAEP-6.8-1"),
        (Refusal::NothingToFinish, "AAEP-A.3-2"),
        (Refusal::KindsMalformed, "AAEP-EV-5"),
        (Refusal::ChoicesMalformed, "AAEP-EV-5"),
        (Refusal::ChoicesMissing, "AAEP-EV-5"),
        (Refusal::QuestionPending, "AAEP-6.1-9"),
        (Refusal::NothingToExtend, "AAEP-6.4.2-3"),
        (Refusal::NotLonger, "AAEP-6.4.2-3"),
        (Refusal::HandingOff, "AAEP-A.2-3"),
        (Refusal::IrreversibleUnasked, "AAEP-A.7.4-1"),
        (Refusal::ActionUnanswered, "AAEP-6.1-1"),
        (Refusal::ActionAsked, "AAEP-A.4-4"),
        (Refusal::ToolCallIdUsed, "AAEP-A.3-1"),
        (Refusal::OutputComplete, "AAEP-A.6-3"),
        (Refusal::ChunkEmpty, "AAEP-A.6-2"),
        (Refusal::TextTooLong(Field::Chunk), "AAEP-EV-10"),
        (Refusal::EventTooLarge(Field::Choices), "AAEP-EV-10"),
        (Refusal::QuestionOpen, "AAEP-A.2-2"),
        (Refusal::ToolRunning, "AAEP-A.3-3"),
        (Refusal::OutputOpen, "AAEP-A.6-1"),
    ] {
        assert_eq!(refusal.clause().to_string(), clause);
        assert!(!refusal.to_string().is_empty());
    }
}

/// Every output kind has the name that the driver protocol gives it.
#[test]
fn an_output_is_an_object_with_its_kind_as_the_only_key() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    let outputs = stage.outputs(deliver("sub_a", &reply(&token, Decision::Accept, 0)));
    for output in &outputs {
        let expected = match output {
            Output::Emit(_) => "emit",
            Output::Perform(_) => "perform",
            Output::Withdraw(_) => "withdraw",
            Output::Answer(_) => "answer",
            Output::Notify(_) => "notify",
            Output::Respond(_) => "respond",
            Output::Audit(_) => "audit",
            Output::InDoubt(_) => "in_doubt",
        };
        let json = serde_json::to_value(output).expect("serialises");
        let keys: Vec<_> = json.as_object().expect("an object").keys().collect();
        assert_eq!(keys, [expected]);
    }
    assert_eq!(outputs.len(), 4);
}
