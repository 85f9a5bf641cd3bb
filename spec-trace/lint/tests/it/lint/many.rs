//! Many questions in one session, many sessions in one stream, and one fault many times.

use std::fs;

use countersign_lint::growing::Growing;
use countersign_lint::report::{LintReport, Silence, Verdict, Within};
use serde_json::{Value, json};

use super::faults::faults;
use super::several::Stream;
use super::{lint_bytes, places, traces};

/// A session that asks, hears an acceptance and calls `count` times; `by_id` ties each call to its question.
pub fn busy_session(count: u64, by_id: bool) -> Vec<String> {
    let event = |number: u64, name: &str, payload: Value| {
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{name}"),
            "event_id": format!("evt_{number}"), "session_id": "sess_a", "producer": {"agent_id": "a"},
            "timestamp": format!("2026-05-24T14:{:02}:{:02}Z", number / 60 % 60, number % 60),
        });
        let Value::Object(payload) = payload else {
            unreachable!("payloads are objects")
        };
        event.as_object_mut().expect("an object").extend(payload);
        event.to_string()
    };
    let mut lines = vec![event(
        0,
        "session.started",
        json!({"summary_normal": "Hello."}),
    )];
    for number in 0..count {
        let (token, id) = (format!("rpl_{number}"), format!("call_{number}"));
        let context = if by_id {
            json!({"tool_call_id": id})
        } else {
            json!({})
        };
        let state = |from: &str, to: &str| json!({"from_state": from, "to_state": to});
        let call = json!({"tool": "pay", "tool_call_id": id, "irreversible": true, "summary_normal": "Paying."});
        let question = json!({
            "action": format!("Pay {number}"), "consequence": "It is paid.", "reply_token": token, "urgency": "critical",
            "timeout_seconds": 60, "default_decision": "reject", "irreversible": true, "extra_context": context,
        });
        let from = if number == 0 { "idle" } else { "calling_tool" };
        let base = number * 5 + 1;
        // A second is enough for all that one action takes: time stands still within it.
        let at = |offset: u64, name: &str, payload: Value| {
            let line = event(number % 3_000, name, payload);
            line.replace(
                &format!("\"evt_{}\"", number % 3_000),
                &format!("\"evt_{}\"", base + offset),
            )
        };
        lines.push(at(0, "state.changed", state(from, "awaiting_input")));
        lines.push(at(1, "awaiting.confirmation", question));
        let reply = json!({
            "type": "confirmation.reply", "reply_token": token, "decision": "accept", "subscription_id": "sub_a",
            "timestamp": format!("2026-05-24T14:{:02}:{:02}Z", number % 3_000 / 60, number % 60),
        });
        lines.push(reply.to_string());
        lines.push(at(
            2,
            "state.changed",
            state("awaiting_input", "calling_tool"),
        ));
        lines.push(at(3, "tool.invoked", call));
        lines.push(at(
            4,
            "tool.completed",
            json!({"tool": "pay", "tool_call_id": id, "status": "success"}),
        ));
    }
    lines
}

/// AAEP-A.7.4-1, AAEP-A.8-4: however many questions a session asks, the first ones are forgotten at nobody's expense, and a
/// call that nobody was asked about is found.
#[test]
fn a_session_that_never_stops_asking_is_judged_all_the_same() {
    for by_id in [true, false] {
        let mut lines = busy_session(700, by_id);
        let call = lines[lines.len() - 2].clone();
        let report = lint_bytes(lines.join("\n").as_bytes());
        assert_eq!(places(&report.violations), [], "{by_id}");
        lines.push(
            call.replace("call_699", "call_x")
                .replace("\"evt_", "\"evt_x"),
        );
        let line = lines.len() as u64;
        let report = lint_bytes(lines.join("\n").as_bytes());
        let clause = if by_id { "AAEP-A.8-4" } else { "AAEP-6.3.5-1" };
        assert_eq!(places(&report.violations), [(clause, line)], "{by_id}");
    }
}

/// A session that asks `count` questions, and calls for all of them afterwards; each call has an id of its own, and what ties it
/// to a question all of them have.
fn asked_then_called(count: usize, ids: &Value, replies: bool) -> Vec<String> {
    let mut lines = busy_session(1, false);
    let of = |line: &str, number: usize, change: &Value| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if line["event_id"].is_string() {
            line["event_id"] = json!(format!(
                "evt_{number}x{}",
                line["type"].as_str().map_or(0, str::len)
            ));
            line["extensions"] = json!({"countersign": change});
        }
        for (name, word) in [("reply_token", "rpl_"), ("tool_call_id", "call_")] {
            if line[name].is_string() {
                line[name] = json!(format!("{word}{number}"));
            }
        }
        line.to_string()
    };
    let parts: Vec<String> = lines.drain(2..).collect();
    for at in [0, 1, 3, 4].into_iter().filter(|at| replies || *at != 1) {
        lines.extend((0..count).map(|number| of(&parts[at], number, ids)));
    }
    lines.push(parts[2].clone());
    lines
}

/// AAEP-A.7.4-1, AAEP-6.3.5-1, AAEP-A.4-3: very many questions at once, and then their calls. Searching among all that are kept for
/// each of those would take minutes; what is forgotten is held against nobody, and said.
#[test]
fn more_questions_at_once_than_are_kept_cost_no_more_each_and_accuse_nobody() {
    for (ids, replies) in [
        (json!({"action": "pay"}), false),
        (json!({"action": "pay"}), true),
        (json!({}), true),
    ] {
        let lines = asked_then_called(1_500, &ids, replies);
        let report = lint_bytes(lines.join("\n").as_bytes());
        let found = report
            .violations
            .iter()
            .filter(|it| it.clause != "AAEP-6.1-6");
        let found: Vec<_> = found.map(|it| (it.clause, it.line, &it.message)).collect();
        assert_eq!(found, [], "{ids} {replies}");
        let forgotten = |reason: &str| reason.contains("first questions are not kept");
        assert!(
            report
                .not_judged
                .iter()
                .any(|it| it.owed && forgotten(&it.reason)),
            "{ids} {replies}: {:?}",
            report.not_judged
        );
    }
}

/// AAEP-A.4-3, AAEP-A.7.6-1: a question that is accepted, led to no call, and is not kept any more.
#[test]
fn what_came_of_a_question_that_is_forgotten_is_said_to_be_open() {
    let lines = busy_session(700, true);
    let report = lint_bytes(lines.join("\n").as_bytes());
    assert_eq!(report.verdict, Verdict::Inconclusive);
    let is_told = |report: &LintReport| {
        let mut reasons = report.not_judged.iter().map(|it| &it.reason);
        reasons.any(|it| it.contains("first questions are not kept"))
    };
    assert!(!is_told(&report), "{:?}", report.not_judged);
    let mut lines = lines;
    // Without the call of the first question, and its completion.
    lines.drain(5..7);
    let report = lint_bytes(lines.join("\n").as_bytes());
    assert_eq!(places(&report.violations), []);
    assert!(is_told(&report), "{:?}", report.not_judged);
}

/// AAEP-6.3.4-4, AAEP-A.7.4-1, AAEP-6.3.5-1: of ten thousand sessions that go on beside each other three have a fault late
/// in them. Each is found, and nothing else.
#[test]
fn late_faults_among_ten_thousand_sessions_are_found_and_nothing_else() {
    const SESSIONS: usize = 10_000;
    const FAULTY: [(usize, &str); 3] = [
        (17, "AAEP-6.3.4-4_reply-decided-at-the-deadline"),
        (5_000, "AAEP-6.3.5-1_one-acceptance-and-two-calls"),
        (SESSIONS - 1, "AAEP-A.7.4-1_called-before-accepted"),
    ];
    let lines_of = |folder: &str, name: &str| -> Vec<String> {
        let path = traces(folder).join(format!("{name}.jsonl"));
        let text = fs::read_to_string(path).expect("a readable trace");
        text.lines().map(str::to_owned).collect()
    };
    let company = lines_of("valid", FAULTY[1].1);
    let faulty = FAULTY.map(|(session, name)| (session, lines_of("invalid", name)));
    // A line of each session in turn, each with ids of its own.
    let mut stream = Vec::new();
    let mut places_of = vec![Vec::new(); SESSIONS];
    for number in 0..company.len() + 2 {
        for (session, places) in places_of.iter_mut().enumerate() {
            let own = faulty.iter().find(|(it, _)| *it == session);
            let lines = own.map_or(&company, |(_, lines)| lines);
            if let Some(line) = lines.get(number) {
                let line = line.replace("_a1", &format!("_{session}"));
                let line = line.replace("rpl_q", &format!("rpl_{session}q"));
                stream.push(line.replace("agent-1", &format!("agent-{session}")));
                places.push(stream.len() as u64);
            }
        }
    }
    let mut expected: Vec<(&str, u64)> = FAULTY
        .iter()
        .map(|(session, name)| {
            let fault = faults().find(|fault| fault.name == *name);
            let fault = fault.expect("a stream that is listed");
            let index = usize::try_from(fault.line - 1).expect("a small number");
            (fault.clause, places_of[*session][index])
        })
        .collect();
    expected.sort_by_key(|(_, line)| *line);
    let report = lint_bytes(stream.join("\n").as_bytes());
    assert_eq!(places(&report.violations), expected);
    assert_eq!(places(&report.warnings), []);
    assert_eq!(report.sessions, SESSIONS);
}

/// Findings of one clause and session are listed up to a number; the last says how many more there are.
#[test]
fn a_fault_that_is_made_again_and_again_is_listed_ten_times_and_counted() {
    let mut lines = busy_session(1, true);
    let chunk = |number: u64| {
        lines[1]
            .replace("state.changed", "progress.updated")
            .replace("\"evt_", &format!("\"evt_p{number}"))
    };
    let faulty: Vec<String> = (0..25).map(chunk).collect();
    lines.extend(faulty);
    let report = lint_bytes(lines.join("\n").as_bytes());
    assert_eq!(report.violations.len(), 10);
    let last = &report.violations[9].message;
    assert!(last.contains("15 more of this clause"), "{last}");
}

/// AAEP-A.8-4: what is not listed is counted, of a session and of a stream, and it is told once where the list ends.
#[test]
fn findings_that_are_not_listed_are_counted() {
    let calls = |sessions: u64, calls: u64| {
        let each = move |session: u64| {
            let stream = Stream::new();
            let each = (0..calls).fold(stream, |stream, it| {
                stream.call(&format!("call_{it}"), json!({}))
            });
            let lines = each.ending();
            let line = lines.into_iter().map(move |it| {
                it.to_string()
                    .replace("sess_a", &format!("sess_{session}"))
                    .replace("evt_", &format!("evt_{session}x"))
                    + "\n"
            });
            line.collect::<String>()
        };
        (0..sessions).map(each).collect::<String>()
    };
    let unlisted = |report: &LintReport| {
        let of_clause = report
            .unlisted
            .iter()
            .filter(|((clause, _), _)| *clause == "AAEP-A.8-4");
        of_clause.map(|(_, count)| count).sum::<u64>()
    };
    let listed = |report: &LintReport| {
        let found = report
            .violations
            .iter()
            .filter(|it| it.clause == "AAEP-A.8-4");
        found.count() as u64
    };
    let stream = |clause| Silence {
        clause,
        within: Within::Stream,
    };
    let session = |clause| Silence {
        clause,
        within: Within::Session("sess_0".to_owned()),
    };
    for (bytes, all, silence) in [
        (calls(1_000, 1), 1_000, None),
        (calls(1_001, 1), 1_001, Some(stream("AAEP-A.8-4"))),
        (calls(1_500, 1), 1_500, Some(stream("AAEP-A.8-4"))),
        (calls(1, 10), 10, None),
        (calls(1, 12), 12, Some(session("AAEP-A.8-4"))),
    ] {
        let report = lint_bytes(bytes.as_bytes());
        assert_eq!(listed(&report) + unlisted(&report), all);
        assert_eq!(unlisted(&report) > 0, silence.is_some(), "{all}");
        let mut growing = Growing::default();
        let mut told = Vec::new();
        for line in bytes.as_bytes().split_inclusive(|it| *it == b'\n') {
            growing.push(line);
            told.extend(growing.new_silences());
        }
        told.retain(|it| it.clause == "AAEP-A.8-4");
        assert_eq!(told, Vec::from_iter(silence), "{all}");
    }
}
