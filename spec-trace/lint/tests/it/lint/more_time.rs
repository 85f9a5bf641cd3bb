//! AAEP-6.4.2-3: a question that may have been given more time, for sure or not.
//!
//! Each stream asks at 14:20:00 with a timeout of a minute, and says in between how much time is left.

use countersign_lint::report::LintReport;
use serde_json::{Value, json};

use super::{lint_bytes, places};

/// Which kind of question is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Confirmation,
    Clarification,
}

use Asked::{Clarification, Confirmation};

fn at(time: &str) -> String {
    format!("2026-05-24T14:{time}Z")
}

fn event(time: &str, name: &str, payload: &Value) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{name}"),
        "event_id": format!("evt_{}{}", time.replace([':', '.'], ""), name.len()), "session_id": "sess_a",
        "timestamp": at(time), "producer": {"agent_id": "agent"}, "summary_normal": "So it is.",
    });
    let payload = payload.as_object().expect("payloads are objects").clone();
    event.as_object_mut().expect("an object").extend(payload);
    event
}

fn state(time: &str, from: &str, to: &str) -> Value {
    event(
        time,
        "state.changed",
        &json!({"from_state": from, "to_state": to}),
    )
}

fn progress(time: &str, eta: &Value) -> Value {
    let payload = json!({"progress": {"description": "Some time is left."}, "eta_ms": eta});
    event(time, "progress.updated", &payload)
}

/// Lines 1 to 3: a session that waits for the answer.
fn question(asked: Asked, default: &str) -> Vec<Value> {
    let (name, payload) = match asked {
        Confirmation => {
            let payload = json!({
                "action": "Send it", "consequence": "It is sent.", "reply_token": "rpl_a", "timeout_seconds": 60,
                "default_decision": default, "irreversible": default == "reject", "risk_level": "low",
                "urgency": "critical", "extra_context": {"tool_call_id": "call_a"},
            });
            ("awaiting.confirmation", payload)
        }
        Clarification => {
            let payload = json!({
                "question": "Which?", "reply_token": "rpl_a", "timeout_seconds": 60, "urgency": "critical",
            });
            ("awaiting.clarification", payload)
        }
    };
    vec![
        event("19:59", "session.started", &json!({})),
        state("20:00", "idle", "awaiting_input"),
        event("20:00", name, &payload),
    ]
}

fn reply(asked: Asked, decided: &str, received: &str) -> Value {
    let (kind, property) = match asked {
        Confirmation => ("confirmation.reply", "decision"),
        Clarification => ("clarification.reply", "response"),
    };
    let message = json!({
        "type": kind, "reply_token": "rpl_a", property: "accept", "subscription_id": "sub_a", "timestamp": at(decided),
    });
    json!({"dir": "in", "at": at(received), "message": message, "http_status": 204})
}

fn call(time: &str) -> [Value; 3] {
    let payload = json!({"tool": "send", "tool_call_id": "call_a", "irreversible": true, "status": "success"});
    [
        state(time, "awaiting_input", "calling_tool"),
        event(time, "tool.invoked", &payload),
        event(time, "tool.completed", &payload),
    ]
}

fn completed(time: &str) -> Value {
    event(time, "session.completed", &json!({}))
}

/// A message of a stranger: it says that replies are recorded.
fn stranger() -> Value {
    let mut stranger = reply(Confirmation, "20:01", "20:01");
    stranger["message"]["reply_token"] = json!("rpl_of_nobody");
    stranger
}

fn judged(lines: impl IntoIterator<Item = Value>) -> LintReport {
    let lines: Vec<String> = lines.into_iter().map(|line| line.to_string()).collect();
    lint_bytes(lines.join("\n").as_bytes())
}

/// What is left open, by clause.
fn open(report: &LintReport) -> Vec<&str> {
    let not_judged = report.not_judged.iter();
    not_judged.map(|it| it.clause).collect()
}

/// A question, the progress, a reply decided then, and the call.
fn answered(progress: Value, decided: &str) -> LintReport {
    let mut lines = question(Confirmation, "reject");
    lines.extend([progress, reply(Confirmation, decided, decided)]);
    lines.extend(call(decided));
    lines.push(completed(decided));
    judged(lines)
}

/// AAEP-6.3.4-4, AAEP-6.4.2-3: between the two deadlines either is right, and that is said; beyond the later one it is late.
#[test]
fn a_reply_is_late_for_sure_beyond_the_longer_time_alone() {
    let late: &[_] = &[("AAEP-6.3.4-4", 7)];
    for (decided, accused, left_open) in [
        ("20:59.999", &[][..], &[][..]),
        ("21:00", &[], &["AAEP-6.3.4-4"]),
        ("29:59.999", &[], &["AAEP-6.4-1", "AAEP-6.3.4-4"]),
        ("30:00", late, &[]),
        ("30:00.001", late, &[]),
    ] {
        let report = answered(progress("20:50", &json!(550_000)), decided);
        assert_eq!(places(&report.violations), accused, "{decided}");
        let not_judged = open(&report);
        let all = left_open.iter().filter(|it| **it != "AAEP-6.4-1");
        assert!(all.clone().all(|it| not_judged.contains(it)), "{decided}");
        assert_eq!(not_judged.is_empty(), left_open.is_empty(), "{decided}");
    }
}

/// AAEP-6.4-1, AAEP-A.4-3: a reply that came in time only where more was granted takes nothing from the default that was applied before it.
#[test]
fn a_reply_behind_the_default_does_not_make_its_call_too_early() {
    let mut lines = question(Confirmation, "accept");
    lines.push(progress("20:50", &json!(550_000)));
    lines.extend(call("21:01"));
    let accepted = json!({"countersign": {"reply_token": "rpl_a", "outcome": "accepted"}});
    lines[4]["extensions"] = accepted;
    let mut rejected = reply(Confirmation, "21:30", "21:30");
    rejected["message"]["decision"] = json!("reject");
    lines.push(rejected);
    lines.push(completed("21:40"));
    let report = judged(lines);
    assert_eq!(places(&report.violations), [], "{report:?}");
    assert_eq!(places(&report.possible), []);
}

/// AAEP-6.4.3-1: the countdown of the question itself ends at its deadline, and gives no time; whatever `eta_ms` is.
#[test]
fn a_progress_gives_time_when_it_ends_behind_the_deadline() {
    for (eta, gives) in [
        (json!(9_999), false),
        (json!(10_000), false),
        (json!(10_001), true),
        (json!(1e300), true),
        (json!(-550_000), false),
        (json!("550000"), false),
        (json!(null), false),
    ] {
        let report = answered(progress("20:50", &eta), "21:00");
        assert_eq!(report.violations.is_empty(), gives, "{eta}");
    }
}

/// AAEP-6.4.2-2: a question is given time while it is open.
#[test]
fn a_progress_gives_no_time_when_the_time_is_over() {
    for (sent, gives) in [("20:59.999", true), ("21:00", false), ("21:00.001", false)] {
        let report = answered(progress(sent, &json!(550_000)), "21:30");
        assert_eq!(report.violations.is_empty(), gives, "{sent}");
    }
    // Nor is what is added to the longer time lost, or what is added when that is over.
    for (sent, gives) in [("21:29.999", true), ("21:30", false)] {
        let mut lines = question(Confirmation, "reject");
        lines.push(progress("20:50", &json!(40_000)));
        lines.push(progress(sent, &json!(550_000)));
        lines.push(reply(Confirmation, "22:00", "22:00"));
        lines.extend(call("22:00"));
        lines.push(completed("22:00"));
        let report = judged(lines);
        assert_eq!(report.violations.is_empty(), gives, "{sent}");
    }
}

/// AAEP-A.9-1, AAEP-6.4.2-3: who else is at work gives no time, nor does what names another question of the session.
#[test]
fn a_progress_gives_time_to_the_question_that_it_may_be_about() {
    let other = json!({
        "question": "Which?", "reply_token": "rpl_b", "timeout_seconds": 60, "urgency": "critical",
    });
    for (name, value, gives) in [
        ("producer", json!({"agent_id": "other"}), false),
        ("session_id", json!("sess_b"), false),
        (
            "extensions",
            json!({"acme": {"reply_token": "rpl_a"}}),
            true,
        ),
        (
            "extensions",
            json!({"acme": {"reply_token": "rpl_b"}}),
            false,
        ),
        (
            "extensions",
            json!({"acme": {"reply_token": "rpl_c"}}),
            true,
        ),
        ("extensions", json!({"acme": {"of": "rpl_b"}}), true),
    ] {
        let mut told = progress("20:50", &json!(550_000));
        told[name] = value;
        let mut lines = question(Confirmation, "reject");
        lines.push(event("20:01", "awaiting.clarification", &other));
        lines.extend([told.clone(), reply(Confirmation, "21:30", "21:30")]);
        lines.extend(call("21:30"));
        lines.push(completed("21:30"));
        let report = judged(lines);
        let is_late = |clause| report.violations.iter().any(|it| it.clause == clause);
        assert_eq!(is_late("AAEP-6.3.4-4"), !gives, "{told}");
    }
}

/// AAEP-6.4-1: a default at the old deadline is right, and so is one at the new one; none at all is wrong a minute later.
#[test]
fn a_default_may_be_applied_at_either_deadline() {
    for time in ["21:00", "25:00", "30:00"] {
        let mut lines = question(Confirmation, "accept");
        lines.extend([progress("20:50", &json!(550_000)), stranger()]);
        lines.extend(call(time));
        lines.push(completed(time));
        assert_eq!(places(&judged(lines).violations), [], "{time}");
    }
    let forgotten: &[_] = &[("AAEP-6.4-1", 6)];
    for (now, later, accused, is_open) in [
        ("21:59.998", "21:59.999", &[][..], false),
        ("22:00", "22:00.001", &[], true),
        ("30:59.998", "30:59.999", &[], true),
        ("31:00", "31:00.001", forgotten, false),
    ] {
        let mut lines = question(Confirmation, "reject");
        lines.extend([progress("20:50", &json!(550_000)), stranger()]);
        lines.push(progress(now, &json!(null)));
        // Who was at rest until then may apply it at this very moment, behind other events.
        let mut woken = lines.clone();
        woken.push(state(now, "awaiting_input", "thinking"));
        assert_eq!(places(&judged(woken).violations), [], "{now}");
        lines.push(progress(later, &json!(null)));
        let report = judged(lines);
        assert_eq!(places(&report.violations), accused, "{now}");
        assert_eq!(open(&report).contains(&"AAEP-6.4-1"), is_open, "{now}");
    }
}

/// AAEP-6.4-1: nor may a session complete that has waited in vain, some seconds of patience included.
#[test]
fn a_session_that_completes_is_excused_by_the_longer_time_alone() {
    for (now, is_accused) in [("21:05", false), ("30:04.999", false), ("30:05", true)] {
        for replies in [vec![], vec![stranger()]] {
            let mut lines = question(Confirmation, "reject");
            lines.push(progress("20:50", &json!(550_000)));
            lines.extend(replies);
            lines.push(completed(now));
            let report = judged(lines);
            assert_eq!(!report.violations.is_empty(), is_accused, "{now}");
            let owed = report
                .not_judged
                .iter()
                .filter(|it| it.reason.contains("line 4"));
            assert_eq!(owed.count(), usize::from(!is_accused), "{now}: {report:?}");
        }
    }
}

/// AAEP-6.5.5-1, AAEP-6.4.2-3: the same for clarifications: a response between the deadlines is neither late nor in time.
#[test]
fn a_response_between_the_deadlines_is_not_judged() {
    for (decided, is_open) in [("20:59.999", false), ("21:00", true), ("30:00", false)] {
        let mut lines = question(Clarification, "");
        lines.extend([progress("20:50", &json!(550_000))]);
        lines.push(reply(Clarification, decided, "20:51"));
        let mut answered = state("20:52", "awaiting_input", "thinking");
        let resolution = json!({"reply_token": "rpl_a", "outcome": "answered"});
        answered["extensions"] = json!({"countersign": resolution});
        lines.push(answered);
        lines.push(completed("20:53"));
        let report = judged(lines);
        assert_eq!(
            open(&report).contains(&"AAEP-6.5.5-1"),
            is_open,
            "{decided}"
        );
        let accused: &[_] = if decided == "30:00" {
            &[("AAEP-6.5.5-1", 6)]
        } else {
            &[]
        };
        assert_eq!(places(&report.violations), accused, "{decided}");
    }
}

/// AAEP-6.1-7: and its timeout is over when the longer one is. Whether it was honoured all the same is open.
#[test]
fn a_clarification_is_forgotten_beyond_the_longer_time_alone() {
    let forgotten: &[_] = &[("AAEP-6.1-7", 6)];
    for (now, accused, is_open) in [
        ("21:04.999", &[][..], false),
        ("21:05", &[], true),
        ("30:04.999", &[], true),
        ("30:05", forgotten, true),
    ] {
        let mut lines = question(Clarification, "");
        lines.extend([
            progress("20:50", &json!(550_000)),
            stranger(),
            completed(now),
        ]);
        let report = judged(lines);
        assert_eq!(places(&report.warnings), accused, "{now}");
        assert_eq!(open(&report).contains(&"AAEP-6.1-7"), is_open, "{now}");
    }
}

/// AAEP-6.4.3-1: a host that was at rest tells of the time that is left when it is woken, perhaps behind other events.
#[test]
fn a_countdown_may_stand_behind_the_events_of_its_moment() {
    for (told, warned) in [("21:20", &[][..]), ("21:20.001", &[("AAEP-6.4.3-1", 5)])] {
        let mut lines = question(Confirmation, "reject");
        lines[2]["timeout_seconds"] = json!(120);
        lines.push(stranger());
        lines.push(state("21:20", "awaiting_input", "awaiting_input"));
        lines.push(progress(told, &json!(40_000)));
        assert_eq!(places(&judged(lines).warnings), warned, "{told}");
    }
}

/// AAEP-6.4.3-1: who answers late has waited as long without being told of the time left. Half of 300 s are 150, of which nothing is
/// said for 30 more, and the clocks may differ by 5; where numbers are missing, it may have been told.
#[test]
fn a_late_reply_makes_good_no_countdown() {
    let stream = |replied: &str, told: Option<&str>, numbers: [u64; 6]| {
        let mut lines = question(Confirmation, "reject");
        lines[2]["timeout_seconds"] = json!(300);
        lines.extend(told.map(|told| progress(told, &json!(1))));
        lines.push(json!({
            "type": "confirmation.reply", "reply_token": "rpl_a", "decision": "reject", "subscription_id": "sub_a",
            "timestamp": at(replied),
        }));
        lines.push(state("24:50.5", "awaiting_input", "thinking"));
        lines.push(completed("24:51"));
        let events = lines.iter_mut().filter(|it| it.get("event_id").is_some());
        for (event, number) in events.zip(numbers) {
            event["sequence_number"] = json!(number);
        }
        judged(lines)
    };
    let warned = &[("AAEP-6.4.3-1", 5)][..];
    let whole = [0, 1, 2, 3, 4, 5];
    for (replied, told, numbers, warnings) in [
        ("24:50", None, whole, warned),
        ("24:50", Some("22:30"), whole, &[]),
        ("23:05.001", None, whole, warned),
        ("23:05", None, whole, &[]),
        ("24:50", None, [0, 1, 2, 4, 5, 6], &[]),
    ] {
        let report = stream(replied, told, numbers);
        let of_clause: Vec<_> = places(&report.warnings)
            .into_iter()
            .filter(|(clause, _)| *clause == "AAEP-6.4.3-1")
            .collect();
        assert_eq!(of_clause, warnings, "{replied} {told:?} {numbers:?}");
        assert_eq!(
            open(&report).contains(&"AAEP-6.4.3-1"),
            numbers != whole,
            "{numbers:?}"
        );
    }
}

/// AAEP-A.7.6-1, AAEP-A.5-1: what came at the deadline may be the outcome, and is one where the producer says so.
#[test]
fn an_outcome_that_came_is_not_called_missing() {
    let says = |outcome| json!({"countersign": {"reply_token": "rpl_a", "outcome": outcome}});
    for (extensions, reasons) in [
        (json!({}), &["what came may be the outcome or not"][..]),
        (says("unanswered"), &[]),
        (says("answered"), &[]),
        (says("cancelled"), &[]),
    ] {
        let mut left = state("21:00", "awaiting_input", "thinking");
        left["extensions"] = extensions.clone();
        let mut lines = question(Clarification, "");
        lines.extend([stranger(), left]);
        let report = judged(lines);
        let mut told = report.not_judged.iter().map(|it| it.reason.as_str());
        let told: Vec<_> = told.by_ref().filter(|it| it.contains("outcome")).collect();
        assert_eq!(told.len(), reasons.len(), "{extensions}: {told:?}");
        assert!(told.iter().zip(reasons).all(|(it, with)| it.contains(with)));
    }
}
