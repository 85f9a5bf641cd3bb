//! Replies that modify the action that they accept.

use countersign_reference::aaep::{
    Ask, Decision, Input, Output, Phase, Producer, ReplyToken, RiskLevel, SessionOutcome, Settings,
};
use serde_json::{Value, json};

use crate::aaep::stage::{
    ACCEPTED, DEADLINE, REJECTED, START, Stage, ask, deliver, end, finish, reply,
};

/// A producer that takes modified actions.
fn stage() -> Stage {
    Stage::with(Settings {
        modified_action: true,
        ..Settings::default()
    })
}

/// An action of that rating.
fn rated(risk_level: RiskLevel, irreversible: bool) -> Ask {
    let mut ask = ask("a1");
    ask.action.risk_level = risk_level;
    ask.action.irreversible = irreversible;
    ask
}

/// A reply that modifies the action.
fn modifying(token: &ReplyToken, decision: Decision, modified: Value) -> Value {
    let mut message = reply(token, decision, START);
    message["modified_action"] = modified;
    message
}

/// What comes of an accept that makes `modified` of what was asked, without the response.
#[track_caller]
fn accepted_as(ask: Ask, modified: Value) -> Vec<String> {
    let mut stage = stage();
    let token = stage.asks(ask);
    let message = modifying(&token, Decision::Accept, modified);
    let mut told = stage.does(deliver("sub_a", &message));
    stage.stored_and_read_back();
    told.remove(0);
    told
}

/// AAEP-6.3.2-3, AAEP-6.1-1: the action runs as modified, and the events tell how that is rated.
#[test]
fn an_accepted_action_runs_as_modified() {
    let mut stage = stage();
    let token = stage.asks(ask("a1"));
    let modified = r#"{ "b" : 1.50, "a":18446744073709551617, "risk_level":"low", "text":" a \" b\\",
        "irreversible":false, "\ud800":[ 1 , {} ] }"#;
    let message = reply(&token, Decision::Accept, START).to_string();
    let message = message.replacen('{', &format!(r#"{{"modified_action":{modified},"#), 1);
    let outputs = stage.outputs(Input::Deliver {
        sender: countersign_reference::aaep::Sender {
            subscription_id: Some(crate::aaep::stage::subscription("sub_a")),
            authenticated: true,
        },
        message: message.into_bytes(),
    });
    let invoked = serde_json::to_value(&outputs[2]).expect("serialises");
    assert_eq!(invoked["emit"]["type"], "aaep:agent.tool.invoked");
    assert_eq!(invoked["emit"]["risk_level"], "low");
    assert_eq!(invoked["emit"]["irreversible"], false);
    let as_received = r#""modified_action":{"b":1.50,"a":18446744073709551617,"risk_level":"low","text":" a \" b\\","irreversible":false,"\ud800":[1,{}]}"#;
    let perform = serde_json::to_string(&outputs[3]).expect("serialises");
    assert!(
        perform.starts_with(r#"{"perform":"#) && perform.contains(as_received),
        "{perform}"
    );

    // It is the same wherever that call is told, also after a restart.
    let mut stage = stage.stored_and_read_back();
    let told = |output: &Output| serde_json::to_string(output).expect("serialises");
    let doubt = stage.outputs(Input::Restart { lost: Vec::new() });
    assert!(told(&doubt[0]).contains(as_received));
    let ended = stage.outputs(end(SessionOutcome::Errored));
    assert!(told(&ended[0]).contains(as_received));
}

/// AAEP-6.3.2-3: what it does not rate anew is rated as it was asked about.
#[test]
fn a_modified_action_is_rated_as_asked_where_it_does_not_say() {
    let mut stage = stage();
    let token = stage.asks(rated(RiskLevel::Medium, true));
    let message = modifying(&token, Decision::Accept, json!({"amount": 300}));
    let outputs = serde_json::to_value(stage.outputs(deliver("sub_a", &message)));
    let outputs = outputs.expect("serialises");
    assert_eq!(outputs[2]["emit"]["risk_level"], "medium");
    assert_eq!(outputs[2]["emit"]["irreversible"], true);
    assert_eq!(
        outputs[3]["perform"]["modified_action"],
        json!({"amount": 300})
    );
    assert_eq!(
        stage.does(finish("a1")),
        [
            "tool.completed Success",
            "state.changed CallingTool>Thinking"
        ]
    );
}

/// AAEP-6.3.2-3, AAEP-6.3.2-4: no higher than what was asked, and else it is rejected.
#[test]
fn a_modified_action_rates_no_higher_than_what_was_asked() {
    let levels = [
        (RiskLevel::Low, "low"),
        (RiskLevel::Medium, "medium"),
        (RiskLevel::High, "high"),
    ];
    for (asked, _) in levels {
        for (modified, word) in levels {
            let expected = if modified <= asked {
                &ACCEPTED[..]
            } else {
                &REJECTED
            };
            let modified = json!({"risk_level": word});
            assert_eq!(accepted_as(rated(asked, true), modified), expected);
        }
        let critical = json!({"risk_level": "critical"});
        assert_eq!(accepted_as(rated(asked, true), critical), REJECTED);
    }
    for (asked, modified, expected) in [
        (false, false, &ACCEPTED[..]),
        (false, true, &REJECTED),
        (true, false, &ACCEPTED),
        (true, true, &ACCEPTED),
    ] {
        let modified = json!({"irreversible": modified});
        let asked = rated(RiskLevel::High, asked);
        assert_eq!(accepted_as(asked, modified), expected);
    }
}

/// AAEP-6.3.2-4: what is no rating is not taken for one.
#[test]
fn a_modified_action_with_a_rating_that_is_none_is_rejected() {
    for modified in [
        json!({"risk_level": null}),
        json!({"risk_level": 1}),
        json!({"risk_level": "Low"}),
        json!({"risk_level": ""}),
        json!({"risk_level": ["low"]}),
        json!({"risk_level": {"low": true}}),
        json!({"risk_level": false}),
        json!({"irreversible": null}),
        json!({"irreversible": "false"}),
        json!({"irreversible": 0}),
        json!({"irreversible": {}}),
        json!({"irreversible": [false]}),
    ] {
        let told = accepted_as(ask("a1"), modified.clone());
        assert_eq!(told, REJECTED, "{modified}");
    }
    // Ratings that lie deeper are none of the action's.
    let deeper = json!({"action": {"risk_level": "critical", "irreversible": "yes"}});
    assert_eq!(accepted_as(ask("a1"), deeper), ACCEPTED);
    assert_eq!(accepted_as(ask("a1"), json!({})), ACCEPTED);
}

/// AAEP-6.3.2-4, AAEP-6.3.4-6: check 6 looks at what was decided, and then what rates higher is rejected, even where reject is not
/// allowed.
#[test]
fn a_modified_action_is_checked_by_the_decision_as_sent() {
    let higher = || json!({"risk_level": "critical"});
    for (decision, allowed, modified, expected) in [
        (Decision::Accept, &["accept"][..], json!({}), &ACCEPTED[..]),
        (Decision::Accept, &["accept"], higher(), &REJECTED),
        (
            Decision::Accept,
            &["reject"],
            json!({}),
            &["audit AAEP-6.3.4-6"],
        ),
        (
            Decision::Accept,
            &["reject"],
            higher(),
            &["audit AAEP-6.3.4-6"],
        ),
        (
            Decision::Reject,
            &["accept", "reject"],
            json!({}),
            &REJECTED,
        ),
        (
            Decision::Reject,
            &["accept"],
            json!({}),
            &["audit AAEP-6.3.4-6"],
        ),
    ] {
        let mut stage = stage();
        let allowed = allowed.iter().map(|it| (*it).to_owned()).collect();
        let token = stage.asks(Ask {
            allowed_replies: Some(allowed),
            ..ask("a1")
        });
        let message = modifying(&token, decision, modified);
        assert_eq!(stage.does(deliver("sub_a", &message))[1..], *expected);
    }
}

/// AAEP-6.4-1: a default accepts the action as it was asked about.
#[test]
fn what_silence_accepts_is_not_modified() {
    let mut stage = stage();
    stage.asks(crate::aaep::stage::ask_accepting("a1"));
    stage.now = DEADLINE;
    assert_eq!(stage.does(Input::Tick), ACCEPTED);
    assert_eq!(stage.producer.confirmations()[0].modified_action, None);
}

/// AAEP-6.3.2-3: only what a reply has accepted is modified, and to no more than was asked; a document that says otherwise is not
/// read.
#[test]
fn a_document_with_a_modification_that_cannot_be_is_not_read() {
    let mut stage = stage();
    let token = stage.asks(rated(RiskLevel::Medium, false));
    let message = modifying(&token, Decision::Accept, json!({"risk_level": "low"}));
    stage.does(deliver("sub_a", &message));
    let phase = stage.producer.confirmations()[0].phase;
    assert!(matches!(phase, Phase::Accepted { .. }));
    let stored = serde_json::to_value(&stage.producer).expect("serialises");
    for (pointer, value) in [
        ("/phase", json!({"rejected": {"by": "reply"}})),
        ("/phase/accepted/by", json!("timeout")),
        ("/modified_action/object", json!({"risk_level": "high"})),
        ("/modified_action/object", json!({"irreversible": true})),
        ("/modified_action/object", json!([])),
        ("/modified_action/risk_level", json!("medium")),
        ("/modified_action/irreversible", json!(true)),
    ] {
        let mut stored = stored.clone();
        *stored["questions"]["confirmations"][0]
            .pointer_mut(pointer)
            .expect("is in the document") = value;
        assert!(
            serde_json::from_value::<Producer>(stored).is_err(),
            "{pointer}"
        );
    }
}
