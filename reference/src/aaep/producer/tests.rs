use super::*;
use crate::aaep::clarification::ClarificationQuestion;
use crate::aaep::interface::{Ask, Chunk, Clarify, Run, Sender};
use crate::aaep::question::Asked;
use crate::aaep::vocabulary::{
    Action, ActionId, AgentId, Choice, OutputId, ResponseKind, RiskLevel,
};
use crate::aaep::work::RunningTool;
use crate::ids::SequentialIds;
use serde_json::json;

/// Who has done something of everything, twice in every respect in which it can be done otherwise.
fn lived_in() -> Producer {
    let settings = Settings {
        identity: Arc::new(Identity {
            agent_id: AgentId::parse("bank").expect("a name"),
            agent_version: Some("2.1".to_owned()),
        }),
        courtesy_notices: true,
        progress: false,
        modified_action: true,
    };
    let mut producer = Producer::new(settings);
    let mut ids = SequentialIds::new();
    let session = |name| SessionId::parse(name).expect("a name");
    let start = |name| Input::StartSession {
        session_id: Some(session(name)),
    };
    let ask = |name, timeout_seconds, default_decision, allowed_replies, action| {
        Input::Confirm(Ask {
            session_id: session(name),
            action,
            timeout_seconds,
            default_decision,
            allowed_replies,
        })
    };
    let save = Action {
        id: ActionId::parse("a1").expect("a name"),
        tool: "save".into(),
        description: "Save it.".into(),
        consequence: "It is saved.".into(),
        risk_level: RiskLevel::Low,
        irreversible: true,
    };
    let send = Action {
        id: ActionId::parse("a2").expect("a name"),
        tool: "send".into(),
        description: "Send it.".into(),
        consequence: "It is sent.".into(),
        risk_level: RiskLevel::High,
        irreversible: false,
    };
    let accept = Some(vec!["accept".to_owned()]);
    let clarify = |name, question: &str, is_choice: bool| {
        let choice = |value: &str, label: &str| Choice {
            value: value.to_owned(),
            label: label.to_owned(),
        };
        Input::Clarify(Clarify {
            session_id: session(name),
            question: question.into(),
            accepted_response_kinds: is_choice.then(|| vec![ResponseKind::MultipleChoice]),
            choices: is_choice.then(|| vec![choice("a", "A"), choice("b", "B")]),
            timeout_seconds: 5,
            default_response: is_choice.then(|| "a".into()),
        })
    };
    let inputs = [
        (1, start("sess_1")),
        (1, start("sess_2")),
        (
            1,
            Input::Subscribe {
                subscription_id: SubscriptionId::parse("sub_1").expect("a name"),
                capabilities: Capabilities {
                    supports_confirmation_reply: true,
                },
            },
        ),
        (1, ask("sess_1", 1, Decision::Accept, accept, save)),
        (1, reply_that_modifies()),
        (2, ask("sess_2", 2, Decision::Reject, None, send)),
        (2, clarify("sess_1", "Which?", true)),
        (2, clarify("sess_2", "Why?", false)),
        (
            2,
            Input::EndSession {
                session_id: session("sess_2"),
                outcome: SessionOutcome::Completed,
            },
        ),
    ];
    for (second, input) in inputs.into_iter().chain(work(&session("sess_1"))) {
        let now = Timestamp::from_millis(second * 1_000);
        assert_eq!(producer.handle(now, &mut ids, input).refused, None);
    }
    producer
}

/// Something of everything that the session does beside its questions.
fn work(session_id: &SessionId) -> [(i64, Input); 5] {
    let run = |action: &str| {
        Input::Tool(Run {
            session_id: session_id.clone(),
            action: ActionId::parse(action).expect("a name"),
            tool: action.into(),
            args_summary: None,
            risk_level: RiskLevel::Low,
            irreversible: false,
            tool_call_id: None,
        })
    };
    let put_out = |output: &str, text: &str, is_last| {
        Input::Output(Chunk {
            session_id: session_id.clone(),
            output_id: OutputId::parse(output).expect("a name"),
            text: text.into(),
            is_last,
        })
    };
    [
        run("r1"),
        run("r2"),
        put_out("o1", "One", false),
        put_out("o2", "Three", false),
        put_out("o3", "", true),
    ]
    .map(|input| (2, input))
}

/// The first question is accepted, and its action modified.
fn reply_that_modifies() -> Input {
    let modified = json!({
        "type": "confirmation.reply",
        "reply_token": ReplyToken::from_bits(3),
        "decision": "accept",
        "subscription_id": "sub_1",
        "timestamp": "1970-01-01T00:00:01Z",
        "modified_action": {"risk_level": "low", "irreversible": false, "amount": 3},
    });
    Input::Deliver {
        sender: Sender {
            subscription_id: Some(SubscriptionId::parse("sub_1").expect("a name")),
            authenticated: true,
        },
        message: modified.to_string().into_bytes(),
    }
}

/// AAEP-6.2.2-3: a restart loses nothing, neither of what has happened nor of what the host has chosen.
#[test]
fn every_field_survives_storage() {
    let producer = lived_in();
    let new = Producer::new(Settings::default());
    assert_every_field_differs!(
        Producer {
            settings,
            now,
            sessions,
            subscriptions,
            questions
        },
        &producer,
        new
    );
    assert_every_field_differs!(
        Settings {
            identity,
            courtesy_notices,
            progress,
            modified_action
        },
        &producer.settings,
        new.settings
    );
    assert_every_field_differs!(
        Identity {
            agent_id,
            agent_version
        },
        producer.settings.identity,
        new.settings.identity
    );
    the_confirmations_differ(&producer);
    the_clarifications_differ(&producer);
    the_work_differs(&producer);
    let mut sessions = producer.sessions().values();
    let (one, other) = (sessions.next(), sessions.next());
    assert_every_field_differs!(
        Session {
            status,
            state,
            next_sequence_number,
            work
        },
        one.expect("a session"),
        other.expect("another")
    );
    let Some(Subscription::Open(capabilities)) = producer.subscriptions().values().next() else {
        panic!("was closed");
    };
    assert_every_field_differs!(
        Capabilities {
            supports_confirmation_reply
        },
        capabilities,
        Capabilities::default()
    );

    let written = serde_json::to_string(&producer).expect("serialises");
    let read: Producer = serde_json::from_str(&written).expect("written by a producer");
    assert_eq!(read, producer);
}

fn the_confirmations_differ(producer: &Producer) {
    let [one, other] = producer.confirmations() else {
        panic!("asked twice");
    };
    assert_every_field_differs!(
        Confirmation {
            question,
            phase,
            modified_action
        },
        one,
        other
    );
    assert_every_field_differs!(
        Question {
            asked,
            action,
            tool_call_id,
            default_decision,
            allowed_replies
        },
        one.question,
        other.question
    );
    assert_every_field_differs!(
        Asked {
            reply_token,
            session_id,
            at,
            timeout
        },
        &one.question.asked,
        other.question.asked
    );
    assert_every_field_differs!(
        Action {
            id,
            tool,
            description,
            consequence,
            risk_level,
            irreversible
        },
        &one.question.action,
        other.question.action
    );
}

fn the_work_differs(producer: &Producer) {
    let mut sessions = producer.sessions().values();
    let (one, other) = (sessions.next(), sessions.next());
    let work = &one.expect("a session").work;
    work.assert_every_field_differs_from(&other.expect("another").work);
    let [one, other] = &*work.running else {
        panic!("two ran");
    };
    assert_every_field_differs!(
        RunningTool {
            action,
            tool,
            tool_call_id
        },
        one,
        other
    );
    let [one, other] = &*work.open_outputs else {
        panic!("two were open");
    };
    assert_every_field_differs!(
        OpenOutput {
            output_id,
            position
        },
        one,
        other
    );
}

fn the_clarifications_differ(producer: &Producer) {
    let [one, other] = producer.clarifications() else {
        panic!("asked twice");
    };
    assert_every_field_differs!(Clarification { question, phase }, one, other);
    assert_every_field_differs!(
        ClarificationQuestion {
            asked,
            text,
            accepted_response_kinds,
            choices,
            default_response
        },
        one.question,
        other.question
    );
    let choices = one.question.choices.as_deref();
    let [one, other] = choices.expect("was to choose") else {
        panic!("had two choices");
    };
    assert_every_field_differs!(Choice { value, label }, &one, other);
}
