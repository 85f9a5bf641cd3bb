//! The JSON of what goes in, what comes out, and what is kept.

use countersign_reference::pending_action::{
    Input, Ledger, Output, Propose, Record, Settings, Snapshot, Text, ToolStatus,
};
use serde_json::{Value, json};

use crate::pending_action::stage::{
    ARGUMENTS, EXPIRY, Stage, allow, cancel, deny, end_session, expiring, finish, ordinary, say,
};

const ID: &str = "pa_00000000000000000000000000000001";
const NONCE: &str = "nonce_00000000000000000000000000000002";
const NOW: &str = "2026-05-24T14:22:20.000Z";

fn told(outputs: &[Output]) -> Vec<Value> {
    let told = outputs.iter().map(serde_json::to_value);
    told.collect::<Result<_, _>>().expect("JSON")
}

/// What was proposed, as records and events have it.
fn proposal() -> Value {
    json!({
        "agent_id": "menta",
        "session_id": "s1",
        "run_id": "run 1",
        "tool": "carpeta/delete-potreros",
        "arguments": ARGUMENTS,
        "effect": "destructive",
        "summary": "¿Borro estos 3 potreros?",
        "label": "Sí, borrar",
        "expires_at": "2026-05-24T14:22:30.000Z",
        "deciders": ["ana", "ben"],
        "idempotent": false,
    })
}

/// PA-1, PA-9, PA-10: the record has all of it, the visible message only the words, the event all that a client needs.
#[test]
fn a_proposal_in_json() {
    let outputs = told(&Stage::new().outputs(Input::Propose(expiring())));
    let record = json!({"record": {
        "number": 1, "at": NOW,
        "entry": {"proposed": {
            "action_id": ID, "nonce": NONCE, "proposal": proposal(), "pends": true,
        }},
    }});
    assert_eq!(outputs[0], record);
    let message_id = &outputs[1]["append"]["message_id"];
    assert_eq!(message_id.as_str().map(str::len), Some(36));
    assert_eq!(
        outputs[1],
        json!({"append": {
            "session_id": "s1", "message_id": message_id, "type": "confirmation_request",
            "text": "¿Borro estos 3 potreros?", "label": "Sí, borrar",
        }})
    );
    let mut created = proposal();
    created["type"] = json!("created");
    created["event_id"] = json!(format!("created_{ID}"));
    created["action_id"] = json!(ID);
    created["nonce"] = json!(NONCE);
    created["at"] = json!(NOW);
    assert_eq!(outputs[2], json!({ "event": created }));
}

/// PA-3, PA-4, PA-10: decided, called, released, finished.
#[test]
fn an_allowed_call_in_json() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    let outputs = told(&stage.outputs(allow(id)));
    let tool = "carpeta/delete-potreros";
    let call_id = &outputs[2]["append"]["message_id"];
    let expected = [
        json!({"record": {"number": 2, "at": NOW, "entry": {"decided": {
            "action_id": ID, "decision": "allow", "by": "ana",
        }}}}),
        json!({"event": {
            "event_id": format!("decided_{ID}"), "action_id": ID, "at": NOW, "type": "decided",
            "decision": "allow", "by": "ana",
        }}),
        json!({"append": {
            "session_id": "s1", "message_id": call_id, "type": "tool_call",
            "tool_call_id": ID, "tool": tool, "arguments": ARGUMENTS,
        }}),
        json!({"perform": {"action_id": ID, "tool": tool, "arguments": ARGUMENTS}}),
    ];
    assert_eq!(outputs, expected);
    let outputs = told(&stage.outputs(finish(id, ToolStatus::NotRun)));
    let result_id = &outputs[1]["append"]["message_id"];
    assert_ne!(result_id, call_id);
    let expected = [
        json!({"record": {"number": 3, "at": NOW, "entry": {"finished": {
            "action_id": ID, "status": "not_run", "result": "done",
        }}}}),
        json!({"append": {
            "session_id": "s1", "message_id": result_id, "type": "tool_result",
            "tool_call_id": ID, "tool": tool, "status": "not_run", "result": "done",
        }}),
        json!({"event": {
            "event_id": format!("not_run_{ID}"), "action_id": ID, "at": NOW, "type": "not_run",
        }}),
    ];
    assert_eq!(outputs, expected);
}

/// PA-5, PA-6, PA-7, PA-10: the other endings, each told apart from the others.
#[test]
fn the_other_endings_in_json() {
    type Ending = (Input, Value, Value);
    let id = Stage::new().proposes(expiring());
    let endings: [Ending; 4] = [
        (
            deny(id),
            json!({"type": "denied_result", "by": "ana"}),
            json!({"type": "denied", "by": "ana"}),
        ),
        (
            cancel(id),
            json!({"type": "cancelled_result", "reason": "requested"}),
            json!({"type": "cancelled", "reason": "requested"}),
        ),
        (
            end_session("s1"),
            json!({"type": "cancelled_result", "reason": "session_ended"}),
            json!({"type": "cancelled", "reason": "session_ended"}),
        ),
        (
            Input::Tick,
            json!({"type": "expired_result"}),
            json!({"type": "expired"}),
        ),
    ];
    for (input, message, event) in endings {
        let mut stage = Stage::new();
        stage.proposes(expiring());
        if input == Input::Tick {
            stage.now = EXPIRY;
        }
        let outputs = told(&stage.outputs(input));
        let [.., append, last] = &outputs[..] else {
            panic!("nothing came out");
        };
        let contains = |whole: &Value, part: &Value| {
            let part = part.as_object().expect("an object");
            part.iter().all(|(name, value)| whole[name] == *value)
        };
        assert!(contains(&append["append"], &message), "{append}");
        assert!(contains(&last["event"], &event), "{last}");
        assert_eq!(append["append"]["tool_call_id"], ID);
        assert_eq!(append["append"]["tool"], "carpeta/delete-potreros");
        assert_eq!(last["event"]["action_id"], ID);
    }
}

/// PA-8, PA-11: what does not count, what was said, what is withdrawn and in doubt.
#[test]
fn the_rest_in_json() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.does(allow(id));
    assert_eq!(
        told(&stage.outputs(deny(id))),
        [json!({"audit": {
            "clause": "PA-8", "reason": "the action was decided already", "action_id": ID,
            "by": "ana", "at": NOW,
        }})]
    );
    let said = told(&stage.outputs(say("Sí, borrar")));
    let message_id = &said[1]["append"]["message_id"];
    assert_eq!(
        said,
        [
            json!({"record": {"number": 3, "at": NOW, "entry": {"said": {
                "message_id": message_id, "by": "ana", "text": "Sí, borrar",
            }}}}),
            json!({"append": {
                "message_id": message_id, "type": "user_message", "by": "ana", "text": "Sí, borrar",
            }}),
        ]
    );
    let named = json!({ "action_id": ID });
    let ended = told(&stage.outputs(end_session("s1")));
    assert_eq!(
        ended[0]["record"]["entry"],
        json!({"session_ended": {"session_id": "s1", "cancelled": []}})
    );
    assert_eq!(ended[1], json!({ "withdraw": named }));
    stage.carries();
    let again = told(&stage.outputs(Input::Restart));
    assert_eq!(again, [json!({ "in_doubt": named })]);
}

/// A ledger with an action of every status, most of it carried out.
fn lived() -> Stage {
    let mut stage = Stage::new();
    let ids = [(); 6].map(|()| stage.proposes(ordinary()));
    stage.proposes(Propose {
        session_id: "s2".into(),
        ..expiring()
    });
    stage.does(allow(ids[0]));
    stage.does(finish(ids[0], ToolStatus::Error));
    stage.does(allow(ids[1]));
    stage.does(deny(ids[2]));
    stage.does(cancel(ids[3]));
    stage.now = EXPIRY;
    stage.does(end_session("s1"));
    stage.ledger.carried(stage.ledger.recorded() - 2);
    stage
}

/// PA-1: written down and read back, a ledger and its records are the same.
#[test]
fn a_ledger_survives_json() {
    let stage = lived();
    let written = serde_json::to_string(&stage.ledger).expect("JSON");
    let read: Ledger = serde_json::from_str(&written).expect("a ledger");
    assert_eq!(read, stage.ledger);
    let journal = serde_json::to_string(&stage.journal).expect("JSON");
    let read: Vec<Record> = serde_json::from_str(&journal).expect("a journal");
    assert_eq!(read, stage.journal);
}

/// PA-3: a result or arguments that are deep stay readable: they are kept as a text, whatever they are.
#[test]
fn what_is_deep_can_be_read_back() {
    let mut stage = Stage::new();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(63), "]".repeat(63));
    let id = stage.proposes(Propose {
        arguments: Text::new(deep),
        ..ordinary()
    });
    stage.does(allow(id));
    let result = "[".repeat(100) + &"]".repeat(100);
    stage.does(Input::FinishTool {
        action_id: id.to_string(),
        status: ToolStatus::Success,
        result: Text::new(result),
    });
    let written = serde_json::to_string(&(&stage.ledger, &stage.journal)).expect("JSON");
    let read: (Ledger, Vec<Record>) = serde_json::from_str(&written).expect("written by us");
    assert_eq!(read, (stage.ledger, stage.journal));
}

/// PA-1, PA-5, PA-8: a document that no ledger can have written is not read.
#[test]
fn a_contradictory_snapshot_is_not_read() {
    let stage = lived();
    let snapshot = serde_json::to_value(stage.ledger.snapshot()).expect("JSON");
    let is_read = |value: &Value| serde_json::from_value::<Snapshot>(value.clone()).is_ok();
    assert!(is_read(&snapshot));
    let spoils: [fn(&mut Value); 13] = [
        |value| value["actions"][1]["action_id"] = value["actions"][0]["action_id"].clone(),
        |value| value["actions"][3]["status"] = json!("pending"),
        |value| value["actions"][0]["status"] = json!({"accepted": {"by": "ana", "at": NOW}}),
        |value| value["now"] = json!("2026-05-24T14:22:20.000Z"),
        |value| value["actions"][2]["status"]["rejected"]["at"] = json!("2027-01-01T00:00:00Z"),
        |value| value["recorded"] = json!(1),
        |value| value["recorded"] = json!(u64::MAX),
        |value| value["recorded"] = json!(value["recorded"].as_u64().unwrap_or(0) + 1),
        |value| value["tail"][0]["number"] = json!(1),
        |value| value["tail"][1]["at"] = json!("2027-01-01T00:00:00Z"),
        |value| {
            let unknown = json!(["pa_000000000000000000000000000000ff"]);
            value["tail"][1]["entry"]["session_ended"]["cancelled"] = unknown;
        },
        |value| value["actions"][0]["proposal"]["arguments"] = json!("{\"a\":1,\"a\":2}"),
        |value| value["more"] = json!(1),
    ];
    for (index, spoil) in spoils.into_iter().enumerate() {
        let mut spoilt = snapshot.clone();
        spoil(&mut spoilt);
        assert_ne!(spoilt, snapshot, "{index}");
        assert!(!is_read(&spoilt), "{index}");
    }
}

/// PA-8: records are counted no further than every reader of JSON counts: one before the last, at, and after.
#[test]
fn a_snapshot_counts_its_records() {
    let mut stage = Stage::new();
    stage.does(end_session("s1"));
    stage.does(end_session("s2"));
    let is_read = |snapshot: Value| serde_json::from_value::<Snapshot>(snapshot).is_ok();
    let mut carried = stage.ledger.clone();
    carried.carried(2);
    for (recorded, is_valid) in [
        ((1 << 53) - 1, true),
        (1 << 53, true),
        ((1_u64 << 53) + 1, false),
    ] {
        let mut snapshot = serde_json::to_value(carried.snapshot()).expect("JSON");
        snapshot["recorded"] = json!(recorded);
        assert_eq!(is_read(snapshot), is_valid, "{recorded}");
    }
    // More records at the end than there are in all.
    let mut snapshot = serde_json::to_value(stage.ledger.snapshot()).expect("JSON");
    snapshot["recorded"] = json!(1);
    snapshot["tail"][0]["number"] = json!(0);
    snapshot["tail"][1]["number"] = json!(1);
    assert!(!is_read(snapshot));
}

/// PA-7, PA-13: the readings have their names.
#[test]
fn settings_in_json() {
    let defaults = json!({
        "read_effect": "pends", "expiry_boundary": "at", "expiry_absent": "never", "deciders_absent": "anyone",
        "delivery": "at_most_once",
    });
    assert_eq!(
        serde_json::to_value(Settings::default()).ok(),
        Some(defaults)
    );
    let empty: Settings = serde_json::from_value(json!({})).expect("defaults");
    assert_eq!(empty, Settings::default());
    let others = json!({
        "read_effect": "runs", "expiry_boundary": "after", "expiry_absent": {"after": {"seconds": 60}},
        "deciders_absent": "nobody", "delivery": "at_least_once",
    });
    let read: Settings = serde_json::from_value(others.clone()).expect("settings");
    assert_eq!(serde_json::to_value(read).ok(), Some(others));
    for wrong in [
        json!({"delivery": "twice"}),
        json!({"expiry_absent": {"after": {"seconds": 0}}}),
        json!({"expires": "never"}),
    ] {
        assert!(serde_json::from_value::<Settings>(wrong).is_err());
    }
}
