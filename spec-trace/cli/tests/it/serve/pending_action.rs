//! Whole conversations about pending actions.

use countersign_store::Store;
use serde_json::{Value, json};

use super::driver::{Driver, NOW, timed};
use super::pending_action_stage::{
    ALLOWED, ARGUMENTS, ASKED, EARLY, LATE, about, connected, decision, deletion, expiring,
    finished, on, ready,
};

#[test]
fn a_greeting_names_what_is_supported() {
    let mut driver = connected();
    let greeting = driver.ask("hello", json!({"driver": 1, "protocol": "pending-action"}));
    let supports = json!(["cancel", "restart", "snapshot", "say", "idempotent"]);
    assert_eq!(greeting["supports"], supports);
    driver.hang_up();
}

/// PA-1, PA-2, PA-3, PA-4: asked, allowed, run, finished.
#[test]
fn an_allowed_call_runs() {
    let mut driver = ready();
    assert_eq!(driver.at(NOW, "propose", deletion()), ASKED);
    let event = driver.proposes(deletion());
    assert_eq!(driver.at(NOW, "decide", decision(&event, "allow")), ALLOWED);
    assert_eq!(
        driver.at(NOW, "finish_tool", finished(&event, "success")),
        ["append tool_result", "event executed"]
    );
    driver.hang_up();
}

/// PA-3: to the byte, whether the arguments are written as JSON or as a string that holds it.
#[test]
fn arguments_come_out_as_they_are_written() {
    let mut driver = ready();
    let spellings = [
        ARGUMENTS,
        "{}",
        r#"{"a":1e400,"b":-0.0,"c":9007199254740993}"#,
        r#"{"z":1,"a":{"z":[ ],"a":null}}"#,
        r#"{"\u0061":"\/"}"#,
    ];
    for arguments in spellings {
        for written in [arguments.to_owned(), json!(arguments).to_string()] {
            let proposal = json!(
                deletion()
                    .to_string()
                    .replace(&json!(ARGUMENTS).to_string(), "@")
            );
            let fields = proposal.as_str().unwrap().replace('@', &written);
            let fields = fields.strip_prefix('{').unwrap();
            let response = driver.send(&format!(
                r#"{{"id":9,"op":"propose","now":"{NOW}",{fields}"#
            ));
            let event = &response["outputs"][1]["event"];
            assert_eq!(event["arguments"], arguments, "{response}");
            let allowed = driver.ask("decide", timed(NOW, decision(event, "allow")));
            let [_, append, perform] = &allowed["outputs"].as_array().unwrap()[..] else {
                panic!("{allowed}");
            };
            assert_eq!(append["append"]["arguments"], arguments);
            assert_eq!(perform["perform"]["arguments"], arguments);
        }
    }
}

/// PA-3: what the client says it approved has to mean what was proposed, however it is written.
#[test]
fn approved_arguments_are_held_against_the_proposed_ones() {
    let mut driver = ready();
    let event = driver.proposes(deletion());
    let approving = |arguments: Value| {
        let mut fields = decision(&event, "allow");
        fields["arguments"] = arguments;
        fields
    };
    let other = json!({"ids": [3, 6], "confirm": true, "name": "Padrón"});
    assert_eq!(
        driver.at(NOW, "decide", approving(other)),
        ["audit PA-3: the approved arguments are not the proposed ones"]
    );
    let same = json!({"name": "Padrón", "confirm": true, "ids": [3, 5]});
    assert_eq!(driver.at(NOW, "decide", approving(same)), ALLOWED);
    // An id of 64 bits comes back with other white space, and is the same to the digit alone.
    let mut proposal = deletion();
    proposal["arguments"] = json!("{\"id\": 12345678901234567890}");
    let event = driver.proposes(proposal);
    for (approved, expected) in [
        (
            "{\"id\":12345678901234567891}",
            "audit PA-3: the approved arguments are not the proposed ones",
        ),
        ("{\"id\":12345678901234567890}", ALLOWED[0]),
    ] {
        let mut fields = decision(&event, "allow");
        fields["arguments"] = json!(approved);
        assert_eq!(driver.at(NOW, "decide", fields)[0], expected);
    }
    driver.hang_up();
}

/// PA-3: null is a value like any other, and approves nothing but null. Who leaves the field out says nothing.
#[test]
fn null_approves_null_alone() {
    let mut driver = ready();
    let other = "audit PA-3: the approved arguments are not the proposed ones";
    for (proposed, written, outcome) in [
        (ARGUMENTS, "null", other),
        (ARGUMENTS, "\"null\"", other),
        ("null", "null", ALLOWED[0]),
        ("null", "\"null\"", ALLOWED[0]),
        ("null", "{}", other),
    ] {
        let mut proposal = deletion();
        proposal["arguments"] = json!(proposed);
        let event = driver.proposes(proposal);
        let mut fields = decision(&event, "allow");
        fields["arguments"] = serde_json::from_str(written).unwrap();
        assert_eq!(driver.at(NOW, "decide", fields)[0], outcome, "{written}");
    }
    driver.hang_up();
}

/// PA-4: what a tool returned comes out as its text, whatever that is; null is something, and nothing is nothing.
#[test]
fn a_result_comes_out_as_its_text() {
    let mut driver = ready();
    for (written, text) in [
        (Some("null"), "null"),
        (Some("\"null\""), "null"),
        (None, ""),
        (Some("\"\""), ""),
        (Some("\"not json\""), "not json"),
        (Some(r#""\ud800""#), r#""\ud800""#),
        (Some("{\"a\" :1e400}"), "{\"a\" :1e400}"),
    ] {
        let event = driver.proposes(deletion());
        driver.at(NOW, "decide", decision(&event, "allow"));
        let result = written.map_or(String::new(), |written| format!(r#","result":{written}"#));
        let response = driver.send(&format!(
            r#"{{"id":9,"op":"finish_tool","now":"{NOW}","action_id":{},"status":"success"{result}}}"#,
            event["action_id"]
        ));
        assert_eq!(
            response["outputs"][0]["append"]["result"], text,
            "{response}"
        );
    }
    driver.hang_up();
}

/// PA-2, PA-5: a name beyond the limit is the host's mistake, and decides neither this nor that.
#[test]
fn a_decider_whose_name_is_too_long_is_refused() {
    let mut driver = ready();
    for word in ["allow", "deny"] {
        for (length, is_refused) in [(255, false), (256, false), (257, true)] {
            let event = driver.proposes(deletion());
            let mut fields = decision(&event, word);
            fields["by"] = json!("é".repeat(length));
            let outputs = driver.at(NOW, "decide", fields);
            assert_eq!(outputs == ["refused PA-2"], is_refused, "{word} {length}");
        }
    }
    // Nobody has identified who has a blank name.
    let event = driver.proposes(deletion());
    for by in ["", " ", "\u{200b}", "\0"] {
        let mut fields = decision(&event, "deny");
        fields["by"] = json!(by);
        let ignored = driver.at(NOW, "decide", fields);
        assert_eq!(ignored, ["audit PA-2: the decider is not entitled"]);
    }
    driver.hang_up();
}

/// PA-5, PA-6, PA-7, PA-8: the endings without a run, and decisions that come after them.
#[test]
fn what_is_denied_cancelled_or_expired_does_not_run() {
    let mut driver = ready();
    let denied = driver.proposes(deletion());
    assert_eq!(
        driver.at(NOW, "decide", decision(&denied, "deny")),
        ["event decided", "append denied_result", "event denied"]
    );
    let cancelled = driver.proposes(deletion());
    assert_eq!(
        driver.at(NOW, "cancel", about(&cancelled)),
        ["append cancelled_result", "event cancelled"]
    );
    let expired = driver.proposes(expiring());
    assert_eq!(driver.at(EARLY, "tick", json!({})), [""; 0]);
    assert_eq!(
        driver.at(LATE, "tick", json!({})),
        ["append expired_result", "event expired"]
    );
    for (event, ignored) in [
        (&denied, "audit PA-8: the action was decided already"),
        (&cancelled, "audit PA-8: the action was cancelled"),
        (&expired, "audit PA-7: the action has expired"),
    ] {
        let late = driver.at(LATE, "decide", decision(event, "allow"));
        assert_eq!(late, [ignored]);
    }
    driver.hang_up();
}

/// PA-11: words decide nothing and reach the transcript as they are.
#[test]
fn what_somebody_says_is_appended_and_decides_nothing() {
    let mut driver = ready();
    let event = driver.proposes(deletion());
    let said = driver.output("say", json!({"by": "ana", "text": "Sí, borrar"}), 0);
    let message_id = &said["append"]["message_id"];
    assert!(message_id.as_str().is_some_and(|id| id.starts_with("msg_")));
    assert_eq!(
        said,
        json!({"append": {
            "message_id": message_id, "type": "user_message", "by": "ana", "text": "Sí, borrar",
        }})
    );
    assert_eq!(driver.at(NOW, "decide", decision(&event, "allow")), ALLOWED);
    driver.hang_up();
}

/// PA-5: what pends is cancelled; what was released is told to the operator, for a response cannot be taken back.
#[test]
fn the_end_of_a_session_cancels_and_withdraws() {
    let mut driver = ready();
    let released = driver.proposes(deletion());
    driver.at(NOW, "decide", decision(&released, "allow"));
    driver.proposes(deletion());
    let ended = driver.ask("end_session", timed(NOW, json!({"session_id": "s1"})));
    let [_, _, audit] = &ended["outputs"].as_array().unwrap()[..] else {
        panic!("{ended}");
    };
    assert_eq!(audit["audit"]["clause"], "PA-5");
    assert_eq!(audit["audit"]["action_id"], released["action_id"]);
    assert_eq!(audit["audit"]["at"], NOW);
    assert_eq!(driver.at(NOW, "propose", deletion()), ["refused PA-5"]);
    driver.hang_up();
}

/// PA-5: a session ends once; one of which nothing was seen may end as well.
#[test]
fn the_end_of_a_session_that_has_ended_is_refused() {
    let mut driver = ready();
    driver.at(NOW, "propose", expiring());
    let other = json!({"session_id": "never seen"});
    assert_eq!(driver.at(NOW, "end_session", other.clone()), [""; 0]);
    // What is due happens all the same.
    assert_eq!(
        driver.at(LATE, "end_session", other),
        ["append expired_result", "event expired", "refused PA-5"]
    );
    let this = json!({"session_id": "s1"});
    assert_eq!(driver.at(LATE, "end_session", this.clone()), [""; 0]);
    assert_eq!(driver.at(LATE, "end_session", this), ["refused PA-5"]);
    driver.hang_up();
}

/// PA-8: a restart tells what is in doubt, as often as it is asked, and performs nothing again.
#[test]
fn what_was_released_is_in_doubt_after_every_restart_until_it_is_finished() {
    let mut driver = ready();
    let event = driver.proposes(deletion());
    driver.at(NOW, "decide", decision(&event, "allow"));
    for _ in 0..2 {
        assert_eq!(driver.at(NOW, "restart", json!({})), ["in_doubt"]);
    }
    driver.at(NOW, "finish_tool", finished(&event, "not_run"));
    assert_eq!(driver.at(NOW, "restart", json!({})), [""; 0]);
    driver.hang_up();
}

/// PA-10: what a crash has swallowed is told again in the same words, and what it has not is not; PA-8: a call that was
/// released is in doubt, whether or not it was handed over.
#[test]
fn what_was_lost_is_told_again_byte_for_byte() {
    let told = ["event decided", "append tool_call", "perform delete"];
    for lost in 0..=3 {
        let mut driver = ready();
        let event = driver.proposes(deletion());
        let response = driver.ask("decide", timed(NOW, decision(&event, "allow")));
        let outputs = response["outputs"].as_array().unwrap();
        let again = &outputs[3 - lost..2.max(3 - lost)];
        // Twice, for the second restart loses what the first one told.
        for swallowed in [lost, again.len() + 1] {
            let restarted = driver.ask("restart", json!({"now": LATE, "lost": swallowed}));
            let outputs = restarted["outputs"].as_array().unwrap();
            assert_eq!(&outputs[..outputs.len() - 1], again, "{lost} of {told:?}");
            assert!(outputs[outputs.len() - 1].get("in_doubt").is_some());
        }
        assert_eq!(driver.at(LATE, "restart", json!({})), ["in_doubt"]);
        driver.hang_up();
    }
}

/// PA-7: what is due comes behind what was lost.
#[test]
fn what_is_due_comes_behind_what_was_lost() {
    let mut driver = ready();
    driver.at(NOW, "propose", expiring());
    assert_eq!(
        driver.at(LATE, "restart", json!({"lost": 1})),
        ["event created", "append expired_result", "event expired"]
    );
    // Then all of it is lost, but what was carried out before.
    assert_eq!(
        driver.at(LATE, "restart", json!({"lost": 2})),
        ["append expired_result", "event expired"]
    );
    driver.hang_up();
}

/// PA-10, PA-11: what somebody has said is told again where it was lost, byte for byte, and not where it was not.
#[test]
fn what_was_said_outlives_a_crash() {
    let mut driver = ready();
    let said = driver.ask("say", timed(NOW, json!({"by": "ana", "text": "no"})));
    for _ in 0..2 {
        let again = driver.ask("restart", json!({"now": NOW, "lost": 1}));
        assert_eq!(again["outputs"], said["outputs"]);
    }
    assert_eq!(driver.at(NOW, "restart", json!({})), [""; 0]);
    driver.hang_up();
}

/// What is claimed to be lost has to have been there.
#[test]
fn a_restart_that_cannot_make_good_what_was_lost_is_refused() {
    let mut driver = ready();
    driver.at(NOW, "propose", deletion());
    let beyond = driver.ask("restart", json!({"now": NOW, "lost": 3}));
    let reason = "`lost` is 3: expected at most 2, the outputs of the last response";
    assert_eq!(beyond["outputs"], json!([{"refused": {"reason": reason}}]));
    driver.hang_up();
}

/// PA-7: the greatest time so far counts, over restarts too.
#[test]
fn a_restart_does_not_turn_the_clock_back() {
    let mut driver = ready();
    driver.at(LATE, "tick", json!({}));
    assert_eq!(driver.at(NOW, "restart", json!({})), [""; 0]);
    assert_eq!(driver.at(NOW, "propose", expiring()), ["refused PA-7"]);
    driver.hang_up();
}

/// PA-7: what is due is due also where the op is refused.
#[test]
fn a_refused_rollback_settles_what_has_expired() {
    let mut driver = ready();
    driver.at(NOW, "propose", expiring());
    assert_eq!(
        driver.at(LATE, "rollback", json!({"snapshot": "{}"})),
        ["append expired_result", "event expired", "refused PA-8"]
    );
    driver.hang_up();
}

/// PA-8: whatever an old snapshot says, no decision counts twice.
#[test]
fn a_rollback_undoes_nothing() {
    let mut driver = ready();
    let event = driver.proposes(deletion());
    let snapshot = driver.output("snapshot", json!({}), 0);
    assert!(snapshot["snapshot"].is_string(), "{snapshot}");
    driver.at(NOW, "decide", decision(&event, "deny"));
    assert_eq!(driver.at(NOW, "rollback", snapshot.clone()), [""; 0]);
    assert_eq!(
        driver.at(NOW, "decide", decision(&event, "allow")),
        ["audit PA-8: the action was decided already"]
    );
    // The journal of another life does not hold what it stands on, and tells otherwise once it is as long.
    driver.ask("reset", json!({"now": NOW}));
    assert_eq!(
        driver.at(NOW, "rollback", snapshot.clone()),
        ["refused PA-8"]
    );
    for _ in 0..2 {
        assert_eq!(driver.at(NOW, "propose", deletion()), ASKED);
        assert_eq!(
            driver.at(NOW, "rollback", snapshot.clone()),
            ["refused PA-8"]
        );
    }
    driver.hang_up();
}

/// PA-7: what has expired meanwhile is settled with the rollback and with the snapshot.
#[test]
fn a_rollback_and_a_snapshot_settle_what_has_expired() {
    let mut driver = ready();
    driver.proposes(expiring());
    let pending = driver.output("snapshot", json!({}), 0);
    driver.proposes(expiring());
    let expired = ["append expired_result", "event expired"];
    assert_eq!(
        driver.at(LATE, "rollback", pending),
        [expired, expired].concat()
    );
    assert_eq!(driver.at(LATE, "snapshot", json!({})), ["snapshot"]);
    driver.hang_up();
}

/// PA-7: a snapshot of an earlier time does not turn the clock back.
#[test]
fn a_rollback_does_not_turn_the_clock_back() {
    let mut driver = ready();
    let early = driver.output("snapshot", json!({}), 0);
    driver.at(LATE, "tick", json!({}));
    assert_eq!(driver.at(NOW, "rollback", early), [""; 0]);
    assert_eq!(driver.at(NOW, "propose", expiring()), ["refused PA-7"]);
    driver.hang_up();
}

/// Serves the same store again, after the one before has gone.
fn again(path: &std::path::Path, lives: u128) -> Driver {
    let mut driver = on(Store::open(path).expect("a store"), lives);
    let greeting = json!({"driver": 1, "protocol": "pending-action"});
    driver.ask("hello", greeting);
    driver
}

/// PA-1, PA-8: a conversation with a store goes on where the last one ended; the first thing to say is `restart`.
#[test]
fn a_store_outlives_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("actions.store");
    let mut driver = again(&path, 0);
    driver.ask("reset", json!({"now": NOW}));
    let pending = driver.proposes(deletion());
    let released = driver.proposes(deletion());
    driver.at(NOW, "decide", decision(&released, "allow"));
    driver.hang_up();

    let mut driver = again(&path, 1);
    let early = driver.ask("tick", json!({"now": NOW}));
    let complaint = "`op` is \"tick\": expected \"restart\" or \"reset\" after \"hello\"";
    assert_eq!(early["error"], format!("line 2: {complaint}"));
    // The last response may not have been read, so what it told is told again; the call itself is not.
    assert_eq!(
        driver.at(NOW, "restart", json!({})),
        ["event decided", "append tool_call", "in_doubt"]
    );
    assert_eq!(
        driver.at(NOW, "decide", decision(&pending, "allow")),
        ALLOWED
    );
    driver.hang_up();

    // Somebody who knows that nothing was lost is told nothing again.
    let mut driver = again(&path, 2);
    let in_doubt = ["in_doubt", "in_doubt"];
    assert_eq!(driver.at(NOW, "restart", json!({"lost": 0})), in_doubt);
    driver.hang_up();

    let mut driver = again(&path, 3);
    driver.ask("reset", json!({"now": NOW}));
    assert_eq!(
        driver.at(NOW, "decide", decision(&released, "allow")),
        ["audit PA-1: the action is unknown"]
    );
    driver.hang_up();
}

/// PA-7: the greatest time so far outlives the process, also where only a tick, a snapshot, or an op that was refused or
/// ignored has moved it, or nothing but the reset has told it.
#[test]
fn a_store_keeps_the_time() {
    let nothing = json!({});
    let ignored = json!({"action_id": "pa_1", "decision": "allow", "by": "ana"});
    for (op, fields) in [
        ("reset", nothing.clone()),
        ("tick", nothing.clone()),
        ("snapshot", nothing),
        ("decide", ignored),
        ("cancel", json!({"action_id": "pa_1"})),
        ("rollback", json!({"snapshot": "{}"})),
        ("end_session", json!({"session_id": "s2"})),
        ("restart", json!({"lost": 0})),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("actions.store");
        let mut driver = again(&path, 0);
        driver.ask("reset", json!({"now": NOW}));
        driver.ask(op, timed(LATE, fields));
        driver.hang_up();
        for lives in 1..3 {
            let mut driver = again(&path, lives);
            driver.at(NOW, "restart", json!({"lost": 0}));
            let refused = driver.at(NOW, "propose", expiring());
            assert_eq!(refused, ["refused PA-7"], "{op}");
            driver.hang_up();
        }
    }
}

/// PA-7: a snapshot is of this journal, and somebody has changed its time: it does not move the clock.
#[test]
fn a_snapshot_of_a_later_time_is_refused() {
    let mut driver = ready();
    let event = driver.proposes(expiring());
    let text = driver.output("snapshot", json!({}), 0);
    let at = |now: &str| {
        let text = text["snapshot"].as_str().unwrap();
        json!({"snapshot": text.replacen(NOW, now, 1)})
    };
    for (now, outcome) in [
        (NOW, &[][..]),
        ("2026-05-24T14:22:20.001Z", &["refused PA-7"]),
        ("9999-12-31T23:59:59.999Z", &["refused PA-7"]),
    ] {
        assert_eq!(driver.at(NOW, "rollback", at(now)), outcome, "{now}");
    }
    assert_eq!(driver.at(NOW, "decide", decision(&event, "allow")), ALLOWED);
    driver.hang_up();
}

/// Without a store there is nothing to go on with.
#[test]
fn a_conversation_without_a_store_begins_with_reset() {
    let mut driver = connected();
    driver.ask("hello", json!({"driver": 1, "protocol": "pending-action"}));
    let restart = driver.ask("restart", json!({"now": NOW}));
    let complaint = "`op` is \"restart\": expected \"reset\" after \"hello\"";
    assert_eq!(restart["error"], format!("line 2: {complaint}"));
    driver.hang_up();
}
