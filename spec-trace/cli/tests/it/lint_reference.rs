//! Lint against the reference executor: whatever it is put through, its recorded stream is not accused.
//!
//! The producer gets random inputs, hostile ones among them. What it emits and what is delivered to it is written down as
//! different recorders would do it, and judged. Then faults are put into the records, and each has to be found at its
//! line. A run that failed once is kept and tried again first.

use std::collections::BTreeSet;

use countersign_lint::finding::Finding;
use countersign_lint::lint;
use countersign_lint::report::{LintReport, Verdict};
use countersign_reference::aaep::{
    Authority, ClarificationPhase, Decision, Phase, SessionOutcome, SessionStatus,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::{FileFailurePersistence, TestRunner};
use serde_json::{Value, json};

mod run;

use run::{Ids, Move, Recorder, Run, SESSIONS, moves, played, recorders};

/// A second agent at work in the first session of a run: it asks for a clarification, writes, and calls a tool, at
/// moments between the events of the reference. `picks` says where.
fn with_second_agent(run: &Run, picks: &[Index]) -> Vec<String> {
    let session = SESSIONS[0];
    let is_of_session = |line: &String| line.contains(&format!("\"session_id\":\"{session}\""));
    let ends = |line: &String| {
        ["completed", "errored", "cancelled"]
            .iter()
            .any(|end| line.contains(&format!("aaep:agent.session.{end}")))
    };
    let end = run
        .lines
        .iter()
        .position(|line| is_of_session(line) && ends(line));
    // Behind the start, which is the first line, and before the end.
    let room = end.unwrap_or(run.lines.len()).max(1);
    let script = second_agent(run.recorder.replies);
    let mut places: Vec<usize> = picks.iter().map(|pick| pick.index(room)).collect();
    places.sort_unstable();
    let mut lines = Vec::new();
    let mut script = script.into_iter().enumerate();
    let mut places = places.into_iter().peekable();
    for (number, line) in run.lines.iter().enumerate() {
        lines.push(line.clone());
        let now = last_timestamp(&lines);
        while places.next_if_eq(&number).is_some() {
            if let Some((step, mut message)) = script.next() {
                message["timestamp"] = now.clone();
                if message.get("session_id").is_some() {
                    message["event_id"] = json!(format!("evt_second{step}"));
                }
                lines.push(message.to_string());
            }
        }
    }
    lines
}

/// The same records, as of producers that do not number their events.
fn without_numbers(lines: &[String]) -> Vec<String> {
    let lines = lines.iter().map(|line| {
        let mut record = parsed(line);
        let message = if record.get("message").is_some() {
            &mut record["message"]
        } else {
            &mut record
        };
        message
            .as_object_mut()
            .expect("an object")
            .remove("sequence_number");
        record.to_string()
    });
    lines.collect()
}

/// When the last event was sent, whoever sent it.
fn last_timestamp(lines: &[String]) -> Value {
    let mut records = lines.iter().rev().map(|line| parsed(line));
    records
        .find_map(|record| {
            let message = record.get("message").unwrap_or(&record);
            message.get("event_id")?;
            message.get("timestamp").cloned()
        })
        .expect("the first line is the start of a session")
}

fn second_agent(replies: bool) -> Vec<Value> {
    let event = |name: &str, payload: Value| {
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{name}"),
            "session_id": SESSIONS[0], "producer": {"agent_id": "second"},
        });
        let Value::Object(payload) = payload else {
            unreachable!("payloads are objects")
        };
        event.as_object_mut().expect("an object").extend(payload);
        event
    };
    let state =
        |from: &str, to: &str| event("state.changed", json!({"from_state": from, "to_state": to}));
    let chunk = |text: &str, position: usize, complete: bool| {
        let payload = json!({"chunk": text, "position": position, "complete": complete, "output_id": "out_second"});
        event("output.streaming", payload)
    };
    let question = json!({
        "question": "Which?", "reply_token": "rpl_second", "timeout_seconds": 30, "urgency": "critical",
        "accepted_response_kinds": ["numeric"],
    });
    let answer = json!({
        "type": "clarification.reply", "reply_token": "rpl_second", "response": 67, "subscription_id": "sub_a",
    });
    let call = json!({"tool": "look", "tool_call_id": "call_second", "summary_normal": "Looking."});
    let done = json!({"tool": "look", "tool_call_id": "call_second", "status": "success"});
    let mut script = vec![
        state("idle", "awaiting_input"),
        event("awaiting.clarification", question),
        answer,
        json!({"type": "acme:more.time"}),
        state("awaiting_input", "writing_output"),
        chunk("One, ", 0, false),
        chunk("two.", 5, true),
        state("writing_output", "calling_tool"),
        event("tool.invoked", call),
        event("tool.completed", done),
        state("calling_tool", "thinking"),
    ];
    script.retain(|message| replies || message["type"] != "clarification.reply");
    script
}

fn places(findings: &[Finding]) -> Vec<(&str, u64)> {
    findings
        .iter()
        .map(|finding| (finding.clause, finding.line))
        .collect()
}

/// A line of a record with a fault put in, and what it has to be accused of.
struct Faulted {
    lines: Vec<String>,
    /// The line of the call, from 1.
    line: usize,
    clauses: &'static [&'static str],
}

/// The record of each irreversible call that a reply let run, with that reply gone, turned into its opposite, or with
/// the call made twice.
fn faults(run: &Run) -> Vec<Faulted> {
    let records: Vec<Value> = run.lines.iter().map(|line| parsed(line)).collect();
    let mut faults = Vec::new();
    for confirmation in run.producer.confirmations() {
        let question = &confirmation.question;
        let by_reply = matches!(
            confirmation.phase,
            Phase::Accepted {
                by: Authority::Reply,
                ..
            }
        );
        let may_default = question.default_decision == Decision::Accept;
        if !by_reply || may_default || !question.action.irreversible {
            continue;
        }
        let call_id = json!(question.tool_call_id);
        let is_call = |record: &Value| {
            let message = &record["message"];
            message["type"] == "aaep:agent.tool.invoked" && message["tool_call_id"] == call_id
        };
        let call = records.iter().position(is_call).expect("it was called");
        let token = json!(question.asked.reply_token);
        let answers =
            |record: &Value| record["dir"] == "in" && record["message"]["reply_token"] == token;

        // A stranger's reply stands for those that are gone, or the record would seem to hold none at all.
        let mut lost = run.lines.clone();
        for (line, record) in lost
            .iter_mut()
            .zip(&records)
            .filter(|(_, record)| answers(record))
        {
            let mut record = record.clone();
            record["message"]["reply_token"] = json!("rpl_unknown");
            *line = record.to_string();
        }
        faults.push(Faulted {
            lines: lost,
            line: call + 1,
            clauses: &["AAEP-A.7.4-1"],
        });

        let mut turned = run.lines.clone();
        for (line, record) in turned
            .iter_mut()
            .zip(&records)
            .filter(|(_, record)| answers(record))
        {
            let mut record = record.clone();
            record["message"]["decision"] = json!("reject");
            *line = record.to_string();
        }
        // Where the question does not allow a rejection, it is as good as unanswered.
        faults.push(Faulted {
            lines: turned,
            line: call + 1,
            clauses: &["AAEP-A.8-5", "AAEP-A.7.4-1"],
        });

        // Another event says so: the very same one would be a copy.
        let mut twice = run.lines.clone();
        let mut again = records[call].clone();
        again["message"]["event_id"] = json!("evt_again");
        twice.insert(call + 1, again.to_string());
        faults.push(Faulted {
            lines: twice,
            line: call + 2,
            clauses: &["AAEP-6.3.5-1"],
        });
    }
    faults
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("records are JSON")
}

/// A run whose sessions all end.
fn ended(moves: &[Move], recorder: Recorder) -> Run {
    let mut run = played(moves, recorder);
    for session in SESSIONS {
        run.play(&Move::End(session, SessionOutcome::Completed));
    }
    run
}

fn tied_recorders() -> impl Strategy<Value = Recorder> {
    select(vec![Ids::All, Ids::ToolCallId]).prop_map(|ids| Recorder {
        wraps: true,
        ahead: 0,
        replies: true,
        statuses: true,
        senders: false,
        ids,
    })
}

/// AAEP-6.4.1-3, AAEP-6.4.1-4: what the host asks for as it should not. AAEP-6.1-6: what has the words of another question.
/// AAEP-A.3-3: a question that is resolved while a tool runs goes by `thinking`, which AAEP-A.4-2 wants more.
/// AAEP-6.4.3-1, AAEP-6.4.3-4: no countdown comes of a host that sleeps until a timeout is over.
const KNOWN: [&str; 6] = [
    "AAEP-6.1-6",
    "AAEP-6.4.1-3",
    "AAEP-6.4.1-4",
    "AAEP-6.4.3-1",
    "AAEP-6.4.3-4",
    "AAEP-A.3-3",
];

/// Warnings that the reference does not deserve.
fn undeserved(report: &LintReport) -> Vec<(&str, u64)> {
    let mut warnings = places(&report.warnings);
    warnings.retain(|(clause, _)| !KNOWN.contains(clause));
    warnings
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/lint_reference.txt",
        ))),
        ..ProptestConfig::with_cases(512)
    })]

    /// AAEP-6.1-1, AAEP-6.1-3, AAEP-6.1-6, AAEP-6.3.5-1, AAEP-A.4-3, AAEP-A.4-4, AAEP-A.7.4-1: none of them is ever said
    /// to be broken by the executor that keeps them, however it is recorded.
    #[test]
    fn the_reference_is_never_accused(
        moves in prop::collection::vec(moves(), 0..40),
        recorder in recorders(),
    ) {
        let run = played(&moves, recorder);
        let report = run.report();
        prop_assert_eq!(places(&report.violations), [], "{}", run.lines.join("\n"));
        prop_assert_eq!(undeserved(&report), [], "{}", run.lines.join("\n"));
        let mut sessions = run.producer.sessions().values();
        let over = sessions.all(|session| session.status != SessionStatus::Active);
        // What is recorded as it was is what it seems, and nothing is possible that was not.
        if recorder.wraps && recorder.ids == Ids::All && !run.closes {
            prop_assert_eq!(places(&report.possible), [], "{}", run.lines.join("\n"));
        }
        let is_open = !over || !report.possible.is_empty();
        let expected = if is_open { Verdict::Inconclusive } else { Verdict::Conforming };
        prop_assert_eq!(report.verdict, expected);
    }

    /// AAEP-6.3.4-5, AAEP-REPLY-14, AAEP-6.1-3, AAEP-A.4-3: nor where replies are recorded that did not count, and nothing says
    /// so.
    #[test]
    fn the_reference_is_not_accused_for_replies_that_may_not_have_counted(
        moves in prop::collection::vec(moves(), 0..40),
        recorder in recorders(),
    ) {
        let run = played(&moves, Recorder { statuses: false, ..recorder });
        let report = run.report();
        prop_assert_eq!(places(&report.violations), [], "{}", run.lines.join("\n"));
    }

    /// AAEP-6.3.4-5, AAEP-6.8-4, AAEP-6.1-3, AAEP-A.4-3: nor where the record says of each reply whether its sender counts.
    #[test]
    fn the_reference_is_not_accused_where_senders_are_recorded(
        moves in prop::collection::vec(moves(), 0..40),
        recorder in recorders(),
        statuses in any::<bool>(),
    ) {
        let recorder = Recorder { wraps: true, statuses, senders: true, ..recorder };
        let run = played(&moves, recorder);
        let report = run.report();
        prop_assert_eq!(places(&report.violations), [], "{}", run.lines.join("\n"));
        prop_assert_eq!(undeserved(&report), [], "{}", run.lines.join("\n"));
    }

    /// AAEP-A.9-1, AAEP-EV-8, AAEP-A.6-2, AAEP-6.1-7: nor is it when another agent asks, writes and calls tools in its session.
    #[test]
    fn two_agents_in_one_session_are_never_accused(
        moves in prop::collection::vec(moves(), 0..40),
        recorder in recorders(),
        picks in prop::collection::vec(any::<Index>(), 11),
    ) {
        let run = played(&moves, recorder);
        // The second agent does not number its events, so nobody may.
        let lines = without_numbers(&with_second_agent(&run, &picks));
        let report = run.judged(&lines);
        prop_assert_eq!(places(&report.violations), [], "{}", lines.join("\n"));
    }

    /// AAEP-A.1-1, AAEP-EV-4, AAEP-EV-7: nor when the recording begins in the middle, or what came just before is delivered
    /// again, with numbers or without.
    #[test]
    fn a_run_that_is_recorded_from_its_middle_on_accuses_nobody(
        moves in prop::collection::vec(moves(), 0..40),
        recorder in recorders(),
        picks in prop::collection::vec(any::<Index>(), 11),
        from in any::<Index>(),
        again in any::<Index>(),
        several in any::<bool>(),
    ) {
        let run = played(&moves, recorder);
        let mut lines = if several { without_numbers(&with_second_agent(&run, &picks)) } else { run.lines.clone() };
        let events: Vec<String> = lines.iter().filter(|line| line.contains("event_id")).cloned().collect();
        lines.drain(..from.index(lines.len()));
        let at = again.index(lines.len());
        let delivered = lines[at].clone();
        if let Some(known) = events.iter().position(|event| *event == delivered) {
            let copies = &events[known.saturating_sub(2)..=known];
            let copies: Vec<String> = copies.iter().filter(|it| lines[..=at].contains(it)).cloned().collect();
            let behind = at + 1;
            lines.splice(behind..behind, copies);
        }
        let report = run.judged(&lines);
        prop_assert_eq!(places(&report.violations), [], "{}", lines.join("\n"));
    }

    /// AAEP-A.7.4-1, AAEP-A.8-5, AAEP-6.3.5-1: an irreversible call is accused when its acceptance is taken from it.
    #[test]
    fn a_fault_put_into_a_run_of_the_reference_is_found(
        moves in prop::collection::vec(moves(), 0..40),
        recorder in tied_recorders(),
    ) {
        for fault in faults(&ended(&moves, recorder)) {
            let text = fault.lines.join("\n");
            let report = lint(text.as_bytes(), "run").expect("reading from memory cannot fail");
            let accused = places(&report.violations);
            let found = report.violations.iter().any(|it| {
                let named = |clause: &&str| *clause == it.clause || it.also.contains(clause);
                fault.clauses.iter().any(named) && it.line == fault.line as u64
            });
            prop_assert!(found, "line {} {:?}: {:?}\n{}", fault.line, fault.clauses, accused, text);
        }
    }
}

/// The random runs are worth something: they end in every way in which a question can, and hold calls to put faults to.
#[test]
fn random_runs_reach_every_outcome() {
    let mut runner = TestRunner::deterministic();
    let strategy = (prop::collection::vec(moves(), 40), tied_recorders());
    let mut seen = BTreeSet::new();
    let mut faults_put_in = 0;
    for _ in 0..500 {
        let tree = strategy.new_tree(&mut runner).expect("nothing is filtered");
        let (moves, recorder) = tree.current();
        let run = ended(&moves, recorder);
        faults_put_in += faults(&run).len();
        for confirmation in run.producer.confirmations() {
            seen.insert(match confirmation.phase {
                Phase::Accepted { by, .. } => format!("accepted by {by:?}"),
                Phase::Rejected { by } => format!("rejected by {by:?}"),
                Phase::Cancelled { .. } => "cancelled".to_owned(),
                Phase::Pending => "pending".to_owned(),
            });
        }
        for clarification in run.producer.clarifications() {
            seen.insert(match clarification.phase {
                ClarificationPhase::Resolved { by } => format!("answered by {by:?}"),
                ClarificationPhase::Cancelled { .. } => "cancelled".to_owned(),
                ClarificationPhase::Pending => "pending".to_owned(),
            });
        }
        for words in ["Time left to answer", "There is more time"] {
            let told = run.lines.iter().any(|line| line.contains(words));
            seen.extend(told.then(|| words.to_owned()));
        }
        let reasons = run.report().not_judged.into_iter().map(|it| it.reason);
        let mut reasons = reasons.filter(|it| it.contains("may have given it time"));
        seen.extend(reasons.next().map(|_| "left open".to_owned()));
    }
    let outcomes = [
        "There is more time",
        "Time left to answer",
        "accepted by Reply",
        "accepted by Timeout",
        "answered by Reply",
        "answered by SubscriptionClosed",
        "answered by Timeout",
        "cancelled",
        "left open",
        "rejected by Reply",
        "rejected by SubscriptionClosed",
        "rejected by Timeout",
    ];
    assert!(seen.iter().eq(outcomes), "{seen:?}");
    assert!(faults_put_in > 40, "{faults_put_in}");
}
