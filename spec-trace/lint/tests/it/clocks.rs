//! Replies and events that are put together by two clocks, of which the text asks nothing: within a few seconds the order is open.

use countersign_lint::envelope::{How, Opened};
use countersign_lint::report::LintReport;
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use countersign_lint::{judge_opened, lint};
use serde_json::{Value, json};

/// A run as one recorder wrote it: when, in ms, and what, in the order of the run.
type Run = Vec<(i64, Value)>;

const REPLIES: [&str; 2] = ["confirmation.reply", "clarification.reply"];

fn stamp(ms: i64) -> String {
    let (seconds, ms) = (ms.div_euclid(1000) + 600, ms.rem_euclid(1000));
    format!(
        "2026-05-24T14:{:02}:{:02}.{ms:03}Z",
        seconds / 60,
        seconds % 60
    )
}

/// A run of these, each a kind and its members.
fn run(steps: &[(i64, &str, Value)]) -> Run {
    let records = steps
        .iter()
        .enumerate()
        .map(|(number, (ms, kind, members))| {
            let mut record = if REPLIES.contains(kind) {
                json!({"type": kind, "subscription_id": "sub_a", "reply_token": "rpl_a"})
            } else {
                json!({
                    "@context": "https://aaep-protocol.org/context/v1",
                    "type": format!("aaep:agent.{kind}"),
                    "event_id": format!("evt_{number}"),
                    "session_id": "sess_a",
                    "producer": {"agent_id": "a"},
                })
            };
            record["timestamp"] = json!(stamp(*ms));
            for (name, value) in members.as_object().expect("members") {
                record[name] = value.clone();
            }
            (*ms, record)
        });
    records.collect()
}

fn is_reply(record: &Value) -> bool {
    record["type"]
        .as_str()
        .is_some_and(|it| !it.starts_with("aaep:"))
}

/// The clauses that are broken, those of consequences among them, and all that is said not to be judged.
fn told(report: &LintReport) -> (Vec<&'static str>, String) {
    let findings = report.violations.iter().chain(&report.warnings);
    let findings = findings.flat_map(|it| std::iter::once(it).chain(&it.consequences));
    let clauses = findings.map(|it| it.clause).collect();
    let mut open = report.not_judged.iter();
    // The clause is judged all the same, also where it alone is asked for.
    assert!(!open.any(|it| it.clause == "AAEP-6.1-1" && it.wholly));
    let open = report.not_judged.iter();
    let open: Vec<_> = open
        .map(|it| format!("{} {}", it.clause, it.reason))
        .collect();
    (clauses, open.join("\n"))
}

fn record_of(ms: i64, dir: &str, message: &Value) -> Value {
    let mut record = json!({"dir": dir, "at": stamp(ms), "message": message});
    if dir == "in" {
        record["sender"] = json!("known");
    }
    record
}

/// What is told of the run as it went, in one file.
fn in_order(run: &Run) -> (Vec<&'static str>, String) {
    let lines = run.iter().map(|(ms, record)| {
        let dir = if is_reply(record) { "in" } else { "out" };
        record_of(*ms, dir, record).to_string()
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    told(&lint(text.as_bytes(), "a").expect("memory can be read"))
}

fn judged(opened: Opened<'_>) -> (Vec<&'static str>, String) {
    let (settings, selection) = (Settings::default(), Selection::default());
    told(&judge_opened(opened, ("a", "b"), settings, &selection).expect("messages"))
}

/// What is told of it where the clock of the replies is so many ms ahead: of two files, where the sender is known and
/// where not, and of an archive.
fn by_two_clocks(run: &Run, ahead: i64) -> [(Vec<&'static str>, String); 3] {
    let (replies, events): (Run, Run) = run.iter().cloned().partition(|(_, it)| is_reply(it));
    let replies: Run = replies
        .into_iter()
        .map(|(ms, mut reply)| {
            reply["timestamp"] = json!(stamp(ms + ahead));
            (ms + ahead, reply)
        })
        .collect();
    let lines = |all: &Run| {
        let lines: Vec<_> = all.iter().map(|(_, it)| it.to_string()).collect();
        lines.join("\n")
    };
    let wrapped = replies.iter().map(|(ms, reply)| {
        let record = record_of(*ms, "in", reply);
        (*ms, record)
    });
    let (one, other, known) = (lines(&events), lines(&replies), lines(&wrapped.collect()));
    let joined = |replies: &str| {
        let replies = Opened::new(replies.as_bytes(), &How::default());
        judged(Opened::new(one.as_bytes(), &How::default()).joined(replies))
    };
    let stream: Vec<_> = events
        .iter()
        .map(|(_, it)| {
            format!(
                "data: {it}

"
            )
        })
        .collect();
    let mut entries = vec![json!({
        "startedDateTime": stamp(ahead - 60_000),
        "response": {"status": 200, "content": {"mimeType": "text/event-stream", "text": stream.concat()}},
    })];
    entries.extend(replies.iter().map(|(ms, reply)| {
        json!({
            "startedDateTime": stamp(*ms),
            "request": {"postData": {"text": reply.to_string()}},
            "response": {"status": 202},
        })
    }));
    let archive = json!({"log": {"entries": entries}}).to_string();
    [
        joined(&known),
        joined(&other),
        judged(Opened::new(archive.as_bytes(), &How::default())),
    ]
}

fn state(from: &str, to: &str) -> Value {
    json!({"from_state": from, "to_state": to})
}

fn question(irreversible: bool) -> Value {
    json!({
        "urgency": "critical", "action": "Transfer $500", "consequence": "c", "reply_token": "rpl_a",
        "timeout_seconds": 60, "default_decision": "reject", "risk_level": "high", "irreversible": irreversible,
    })
}

fn call() -> Value {
    json!({"tool": "transfer", "summary_normal": "x", "risk_level": "high", "irreversible": true})
}

fn done() -> Value {
    json!({"tool": "transfer", "status": "success"})
}

fn summary() -> Value {
    json!({"summary_normal": "x"})
}

fn decision(word: &str) -> Value {
    json!({"decision": word})
}

/// Asked and accepted, called and completed.
fn accepted() -> Run {
    run(&[
        (100, "session.started", summary()),
        (200, "state.changed", state("idle", "thinking")),
        (300, "state.changed", state("thinking", "awaiting_input")),
        (400, "awaiting.confirmation", question(true)),
        (1400, "confirmation.reply", decision("accept")),
        (
            1420,
            "state.changed",
            state("awaiting_input", "calling_tool"),
        ),
        (1440, "tool.invoked", call()),
        (1500, "tool.completed", done()),
        (1510, "state.changed", state("calling_tool", "thinking")),
        (2600, "session.completed", summary()),
    ])
}

/// The same with what becomes of it instead, from the reply on.
fn asked(rest: &[(i64, &str, Value)]) -> Run {
    let mut steps = vec![
        (100, "session.started", summary()),
        (300, "state.changed", state("idle", "awaiting_input")),
        (400, "awaiting.confirmation", question(true)),
    ];
    steps.extend(rest.iter().cloned());
    run(&steps)
}

/// Conforming runs of every kind.
fn conforming() -> Vec<(&'static str, Run)> {
    let reject = decision("reject");
    let over = |ms| (ms, "session.completed", summary());
    let left = |ms, to: &str| (ms, "state.changed", state("awaiting_input", to));
    let clarify = |rest: &[(i64, &'static str, Value)]| {
        let asks = json!({
            "urgency": "critical", "question": "Which?", "reply_token": "rpl_a", "timeout_seconds": 60,
            "accepts": ["text"], "summary_normal": "x",
        });
        let mut steps = vec![
            (100, "session.started", summary()),
            (300, "state.changed", state("idle", "awaiting_input")),
            (400, "awaiting.clarification", asks),
        ];
        steps.extend(rest.iter().cloned());
        run(&steps)
    };
    let answer = json!({"response": "that", "response_type": "text"});
    vec![
        ("accepted", accepted()),
        (
            "rejected",
            asked(&[
                (1400, "confirmation.reply", reject.clone()),
                left(1420, "thinking"),
                over(2600),
            ]),
        ),
        (
            "rejected, and written about",
            asked(&[
                (1400, "confirmation.reply", reject),
                left(1420, "writing_output"),
                (1500, "state.changed", state("writing_output", "thinking")),
                over(9000),
            ]),
        ),
        (
            "withdrawn before the reply",
            asked(&[
                left(1400, "thinking"),
                (1500, "confirmation.reply", decision("accept")),
                over(9000),
            ]),
        ),
        (
            "over before the reply",
            asked(&[
                left(1400, "thinking"),
                over(8000),
                (8100, "confirmation.reply", decision("accept")),
            ]),
        ),
        (
            "clarified",
            clarify(&[
                (1400, "clarification.reply", answer.clone()),
                left(1420, "thinking"),
                over(2600),
            ]),
        ),
        (
            "clarified while it waits",
            clarify(&[
                (1400, "clarification.reply", answer),
                left(1420, "writing_output"),
                over(9000),
            ]),
        ),
    ]
}

/// AAEP-6.1-1, AAEP-A.7.4-1, AAEP-A.8-4: whoever conforms is not accused for what another's clock says.
#[test]
fn no_clock_of_a_subscriber_makes_a_conforming_producer_a_violator() {
    for (name, run) in conforming() {
        let (expected, open) = in_order(&run);
        assert!(expected.is_empty(), "{name}: {expected:?} {open}");
        for ahead in [
            -60_000, -10_000, -4000, -3000, -2000, -1000, -500, -250, -100, -10, 0, 10, 30, 50, 90,
            120, 250, 500, 1000, 2000, 3000, 4000,
        ] {
            for (by, (clauses, open)) in by_two_clocks(&run, ahead).into_iter().enumerate() {
                assert!(
                    clauses.is_empty(),
                    "{name} {ahead} {by}: {clauses:?}\n{open}"
                );
            }
        }
    }
}

/// AAEP-A.7.4-1, AAEP-A.8-4, AAEP-6.1-1: what lies further apart than clocks may, or in the order of one recorder, is told as ever.
#[test]
fn what_lies_further_apart_than_clocks_may_is_told() {
    for ahead in [6000, 10_000] {
        for (clauses, _) in by_two_clocks(&accepted(), ahead) {
            assert!(clauses.contains(&"AAEP-A.7.4-1"), "{ahead}: {clauses:?}");
        }
    }
    // A call minutes before the reply is early by whatever clock.
    let early = |at: i64| {
        let mut early = asked(&[
            (
                420,
                "state.changed",
                state("awaiting_input", "calling_tool"),
            ),
            (440, "tool.invoked", call()),
            (500, "tool.completed", done()),
            (510, "state.changed", state("calling_tool", "thinking")),
            (at, "confirmation.reply", decision("accept")),
            (at + 9000, "session.completed", summary()),
        ]);
        early[2].1["timeout_seconds"] = json!(900);
        early
    };
    for ahead in [-4000, 0, 4000] {
        for (clauses, _) in by_two_clocks(&early(300_000), ahead) {
            assert!(clauses.contains(&"AAEP-A.7.4-1"), "{ahead}: {clauses:?}");
        }
    }
    let (clauses, _) = in_order(&early(1400));
    assert!(clauses.contains(&"AAEP-A.7.4-1"), "{clauses:?}");
    // Nobody accepted it at all, or it was rejected.
    for (number, rest) in [
        decision("reject"),
        json!({"decision": "accept", "reply_token": "rpl_b"}),
    ]
    .into_iter()
    .enumerate()
    {
        let mut run = accepted();
        for (name, value) in rest.as_object().expect("members") {
            run[4].1[name] = value.clone();
        }
        for ahead in [-4000, 0, 4000] {
            for (clauses, open) in by_two_clocks(&run, ahead) {
                assert!(!clauses.is_empty(), "{number} {ahead}: {open}");
            }
        }
    }
    // Nothing came of the acceptance long after.
    let run = asked(&[
        (1400, "confirmation.reply", decision("accept")),
        (
            1420,
            "state.changed",
            state("awaiting_input", "writing_output"),
        ),
        (20_000, "session.completed", summary()),
    ]);
    for ahead in [-4000, 0, 4000] {
        let [(clauses, open), ..] = by_two_clocks(&run, ahead);
        assert_eq!(clauses, ["AAEP-A.4-3"], "{ahead}: {open}");
    }
}

/// AAEP-6.1-1: that the order rests on two clocks is told once, with how many replies that concerns, and where.
#[test]
fn that_the_order_rests_on_two_clocks_is_told() {
    let (near, behind) = ("1 reply stands within 5 seconds", "1 reply is dated before");
    let call = "AAEP-A.7.4-1 call of transfer that is recorded before the reply which accepts it";
    for (ahead, reasons) in [
        (0, &[near][..]),
        (250, &[near, call]),
        (-2000, &[near, behind]),
        (-60_000, &[behind]),
    ] {
        for (_, open) in by_two_clocks(&accepted(), ahead) {
            for reason in [near, behind, call] {
                let count = open.matches(reason).count();
                assert_eq!(
                    count,
                    usize::from(reasons.contains(&reason)),
                    "{ahead}: {open}"
                );
            }
        }
    }
    let (_, open) = in_order(&accepted());
    assert!(!open.contains("clocks"), "{open}");
}

/// AAEP-6.1-1: of a call that came before its question, which ran on the reply, no more is told than of the run as it went.
#[test]
fn what_ran_of_a_call_before_its_question_may_have_waited_for_the_reply() {
    let mut asks = question(true);
    asks["action"] = json!("Call transfer with: amount=500");
    let mut called = call();
    called["args_summary"] = json!("amount=500");
    called["tool_call_id"] = json!("call_1");
    let mut completed = done();
    completed["tool_call_id"] = json!("call_1");
    let run = run(&[
        (100, "session.started", summary()),
        (200, "state.changed", state("idle", "calling_tool")),
        (300, "tool.invoked", call()),
        (
            350,
            "state.changed",
            state("calling_tool", "awaiting_input"),
        ),
        (400, "awaiting.confirmation", asks),
        (1400, "confirmation.reply", decision("accept")),
        (
            1420,
            "state.changed",
            state("awaiting_input", "calling_tool"),
        ),
        (1500, "tool.completed", completed),
        (1510, "state.changed", state("calling_tool", "thinking")),
        (1600, "session.completed", summary()),
    ]);
    let (expected, _) = in_order(&run);
    assert!(!expected.contains(&"AAEP-6.1-1"), "{expected:?}");
    for ahead in [-60_000, -4000, -1000, 0, 50, 110, 250, 1000, 4000] {
        for (clauses, open) in by_two_clocks(&run, ahead) {
            assert_eq!(clauses, expected, "{ahead}: {open}");
        }
    }
    for (clauses, open) in by_two_clocks(&run, 10_000) {
        assert!(clauses.contains(&"AAEP-6.1-1"), "{clauses:?} {open}");
    }
}
