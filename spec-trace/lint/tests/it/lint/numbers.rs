//! AAEP-EV-4: a wrong number is a fault of its own, and what comes behind it is judged as before.

use countersign_lint::judge_line;
use countersign_lint::stream::Linter;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

use super::several::{Stream, early, is_open};
use super::{conforming, lint_bytes, places};

/// What is wrong with the numbers of a session.
#[derive(Debug, Clone, Copy)]
enum Wrong {
    /// A number of before comes again, and the next is the one that was due behind it.
    Again,
    /// The same, and the next counts from it.
    AgainAndOn,
    /// A number from further back, and then as if nothing had been.
    Back,
    Ahead,
    /// Two numbers in each other's place.
    Swapped,
    /// A number behind the two that follow it.
    Late,
    /// Two of them behind one that follows.
    TwoLate,
}

const ALL: [Wrong; 7] = [
    Wrong::Again,
    Wrong::AgainAndOn,
    Wrong::Back,
    Wrong::Ahead,
    Wrong::Swapped,
    Wrong::Late,
    Wrong::TwoLate,
];

impl Wrong {
    /// The numbers of so many events where that from `at` on are wrong; none where there are too few.
    fn numbers(self, count: usize, at: usize) -> Option<Vec<i64>> {
        let mut numbers: Vec<i64> = (0..i64::try_from(count).ok()?).collect();
        // Behind the last something has to come that shows which number was wrong.
        let rest = numbers.get_mut(at..count.checked_sub(1)?)?;
        match (self, rest) {
            (Self::Again, [first, _, ..]) => *first -= 1,
            (Self::AgainAndOn, rest) if !rest.is_empty() => {
                numbers[at..].iter_mut().for_each(|it| *it -= 1);
            }
            (Self::Back, [first, _, ..]) if at > 3 => *first -= 3,
            (Self::Ahead, [first, _, ..]) => *first += 5,
            (Self::Swapped, [first, second, ..]) => std::mem::swap(first, second),
            (Self::Late, rest) if rest.len() > 2 => rest[..3].rotate_left(1),
            (Self::TwoLate, rest) if rest.len() > 2 => rest[..3].rotate_right(1),
            _ => return None,
        }
        Some(numbers)
    }
}

/// The stream with these numbers on its events.
fn numbered(lines: &[Value], numbers: &[i64]) -> String {
    let mut lines = lines.to_vec();
    let events = lines.iter_mut().filter(|it| it.get("message").is_none());
    for (event, number) in events.zip(numbers) {
        event["sequence_number"] = json!(number);
    }
    let lines = lines.iter().map(Value::to_string);
    lines.collect::<Vec<_>>().join("\n")
}

/// Clauses and lines of what is found.
type Places = Vec<(&'static str, u64)>;

/// A stream without fault, and one that runs against the answer to a question which came too late, each with steps before and
/// behind it.
fn streams() -> [(Vec<Value>, Places); 2] {
    let known = || json!({"sender": "known"});
    let progress =
        |stream: Stream| stream.event("progress.updated", json!({"progress": {"percent": 5}}));
    let accepted = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({}))
        .reply("call_1", "accept", json!({}), known())
        .state("awaiting_input", "calling_tool")
        .call("call_1", json!({}))
        .completed("call_1", "success")
        .state("calling_tool", "thinking");
    let rejected = progress(early().reply("call_1", "reject", json!({}), known()));
    let rejected = rejected
        .completed("call_1", "success")
        .state("awaiting_input", "thinking");
    let found = vec![("AAEP-A.8-4", 3), ("AAEP-A.8-5", 8)];
    [(accepted, vec![]), (rejected, found)].map(|(stream, found)| {
        let stream = progress(progress(stream));
        (stream.ending(), found)
    })
}

fn judged_besides_numbers(text: &str) -> (usize, Vec<(String, u64)>) {
    let report = lint_bytes(text.as_bytes());
    let of_numbers = |it: &&(&str, u64)| it.0 == "AAEP-EV-4";
    let found = places(&report.violations);
    let others = found.iter().filter(|it| !of_numbers(it));
    let others = others.map(|(clause, line)| ((*clause).to_owned(), *line));
    (found.iter().filter(of_numbers).count(), others.collect())
}

/// AAEP-EV-4: wherever a number is wrong, that is one fault, and those are found that are there without it.
#[test]
fn behind_a_wrong_number_all_is_judged() {
    for (lines, found) in streams() {
        let count = lines
            .iter()
            .filter(|it| it.get("message").is_none())
            .count();
        let found: Vec<_> = found
            .iter()
            .map(|(clause, line)| ((*clause).to_owned(), *line))
            .collect();
        let mut met = 0;
        for (wrong, at) in ALL
            .into_iter()
            .flat_map(|it| (1..count).map(move |at| (it, at)))
        {
            let Some(numbers) = wrong.numbers(count, at) else {
                continue;
            };
            met += 1;
            let (told, others) = judged_besides_numbers(&numbered(&lines, &numbers));
            assert_eq!((told, &others), (1, &found), "{wrong:?} {at}");
        }
        assert!(met > 40, "{met} streams");
    }
}

/// AAEP-EV-4: a number that was wrong is told where it stands.
#[test]
fn a_number_that_runs_ahead_is_told_where_it_stands() {
    let [(lines, _), _] = streams();
    for (wrong, line) in [
        (Wrong::Ahead, 3),
        (Wrong::Back, 6),
        (Wrong::Again, 3),
        (Wrong::Swapped, 5),
    ] {
        let at = if line == 6 { 4 } else { 2 };
        let numbers = wrong.numbers(11, at).expect("a place");
        let report = lint_bytes(numbered(&lines, &numbers).as_bytes());
        assert_eq!(
            places(&report.violations),
            [("AAEP-EV-4", line)],
            "{wrong:?}"
        );
        assert!(
            report.not_judged.is_empty(),
            "{wrong:?} {:?}",
            report.not_judged
        );
    }
}

/// AAEP-EV-4, AAEP-A.8-4: where numbers are skipped and do not come, what they may hold is not held against anybody.
#[test]
fn numbers_that_do_not_come_leave_open_what_they_may_hold() {
    let [_, (lines, _)] = streams();
    let count = lines
        .iter()
        .filter(|it| it.get("message").is_none())
        .count();
    let numbers: Vec<i64> = (0_i64..)
        .take(count)
        .map(|it| if it < 2 { it } else { it + 3 })
        .collect();
    let report = lint_bytes(numbered(&lines, &numbers).as_bytes());
    assert_eq!(places(&report.violations), []);
    assert!(
        is_open(&report, "AAEP-A.8-4", "instead of 2"),
        "{:?}",
        report.not_judged
    );
    assert!(
        is_open(&report, "AAEP-EV-4", "skipped"),
        "{:?}",
        report.not_judged
    );
}

/// AAEP-EV-4: where the times do not tell, the events may have come in the order of their numbers, which leaves open what rests on the
/// other one; but it makes no difference to events that tell of progress.
#[test]
fn an_order_that_the_times_do_not_tell_is_open() {
    let at_once = |lines: &mut [Value], at: usize| {
        lines[at + 1]["timestamp"] = lines[at]["timestamp"].clone();
    };
    let [_, (mut lines, _)] = streams();
    // The call and the change of state before it.
    at_once(&mut lines, 1);
    let numbers = Wrong::Swapped.numbers(11, 1).expect("a place");
    let report = lint_bytes(numbered(&lines, &numbers).as_bytes());
    assert_eq!(places(&report.violations), [("AAEP-EV-4", 3)]);
    assert!(
        is_open(&report, "AAEP-EV-4", "finer times"),
        "{:?}",
        report.not_judged
    );
    assert!(
        !is_open(&report, "AAEP-EV-4", "skipped"),
        "{:?}",
        report.not_judged
    );
    assert!(
        is_open(&report, "AAEP-A.8-5", "another order"),
        "{:?}",
        report.not_judged
    );
    let [_, (mut lines, found)] = streams();
    let at = lines.len() - 3;
    assert_eq!(
        lines[at]["type"],
        lines[at + 1]["type"],
        "both tell of progress"
    );
    at_once(&mut lines, at);
    let events = lines
        .iter()
        .filter(|it| it.get("message").is_none())
        .count();
    let numbers = Wrong::Swapped.numbers(events, events - 3).expect("a place");
    let report = lint_bytes(numbered(&lines, &numbers).as_bytes());
    let expected: Vec<_> = found
        .into_iter()
        .chain([("AAEP-EV-4", at as u64 + 2)])
        .collect();
    assert_eq!(places(&report.violations), expected);
    assert!(report.not_judged.is_empty(), "{:?}", report.not_judged);
}

/// AAEP-EV-4, AAEP-A.8-5: two numbers within one moment of which one is wrong in either order: what comes behind them shows which, and then
/// nothing is open. Where it goes on from the greater, or others are skipped before that shows, the order stays open.
#[test]
fn a_number_that_no_order_makes_right_leaves_none_open() {
    let [_, (lines, found)] = streams();
    let count = lines
        .iter()
        .filter(|it| it.get("message").is_none())
        .count();
    let ahead: Vec<i64> = Wrong::Ahead.numbers(count, 2).expect("a place");
    let goes_on_from_it = |at: usize| {
        let mut numbers = ahead.clone();
        for (number, goes_on) in numbers[at..].iter_mut().zip(8..) {
            *number = goes_on;
        }
        numbers
    };
    let mut skips = ahead.clone();
    skips[4..].iter_mut().for_each(|it| *it += 20);
    for (numbers, at_once, settled) in [
        (&ahead, 1, true),
        // The next comes in the same moment, and the one behind it tells.
        (&ahead, 2, true),
        (&goes_on_from_it(4), 1, false),
        (&goes_on_from_it(5), 2, false),
        (&skips, 2, false),
    ] {
        let mut lines = lines.clone();
        for at in 3..3 + at_once {
            lines[at]["timestamp"] = lines[2]["timestamp"].clone();
        }
        let report = lint_bytes(numbered(&lines, numbers).as_bytes());
        let order_is_open = is_open(&report, "AAEP-EV-4", "finer times");
        assert_eq!(order_is_open, !settled, "{:?}", report.not_judged);
        if settled {
            assert!(report.not_judged.is_empty(), "{:?}", report.not_judged);
            let mut expected = found.clone();
            expected.insert(1, ("AAEP-EV-4", 4));
            assert_eq!(places(&report.violations), expected);
        }
    }
}

/// The places of the events of one session that have numbers.
fn events_of(records: &[Value], session: &str) -> Vec<usize> {
    let of = |record: &Value| {
        let message = record.get("message").unwrap_or(record);
        message["session_id"] == session && message.get("sequence_number").is_some()
    };
    (0..records.len()).filter(|it| of(&records[*it])).collect()
}

fn number_of(record: &mut Value) -> &mut Value {
    let message = if record.get("message").is_some() {
        &mut record["message"]
    } else {
        record
    };
    &mut message["sequence_number"]
}

/// AAEP-EV-4: of a session that is over the number of its end is where others count from, and what it is makes no difference.
#[test]
fn what_is_remembered_of_a_session_that_is_over_counts_from_its_end() {
    let remembered = |states: &[&str]| {
        let changes = states.windows(2).map(|it| {
            let [from, to] = it else { unreachable!("two") };
            ("state.changed", json!({"from_state": from, "to_state": to}))
        });
        let start = ("session.started", json!({"summary_normal": "A request."}));
        let end = ("session.completed", json!({"summary_normal": "Over."}));
        let mut linter = Linter::new();
        for (at, (name, mut event)) in [start].into_iter().chain(changes).chain([end]).enumerate() {
            event["@context"] = json!("https://aaep-protocol.org/context/v1");
            event["type"] = json!(format!("aaep:agent.{name}"));
            event["event_id"] = json!(format!("evt_{at}"));
            event["session_id"] = json!("sess_1");
            event["timestamp"] = json!("2026-05-24T14:22:20Z");
            event["producer"] = json!({"agent_id": "agent-1"});
            event["sequence_number"] = json!(at);
            judge_line(&mut linter, at as u64 + 1, event.to_string().as_bytes());
        }
        linter.memory()
    };
    let short = remembered(&["idle", "thinking"]);
    assert_eq!(
        short,
        remembered(&["idle", "thinking", "deciding", "thinking"])
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/tests/lint_numbers.txt",
        ))),
        ..ProptestConfig::default()
    })]

    /// AAEP-EV-4: wherever numbers are wrong in a stream without other fault, that is all it is accused of, also where other events are
    /// not in the record.
    #[test]
    fn a_wrong_number_alone_accuses_of_nothing_else(
        stream in conforming::streams(),
        session in 0..3_usize,
        wrong in prop::sample::select(ALL.to_vec()),
        [at, missing] in any::<[Index; 2]>(),
        is_lost in any::<bool>(),
    ) {
        let mut records: Vec<Value> =
            stream.iter().map(|it| serde_json::from_str(it).expect("JSON")).collect();
        let events = events_of(&records, &format!("sess_{session}"));
        if events.len() < 3 {
            return Ok(());
        }
        let at = 1 + at.index(events.len() - 1);
        if let Some(numbers) = wrong.numbers(events.len(), at) {
            for (event, number) in events.iter().zip(numbers) {
                *number_of(&mut records[*event]) = json!(number);
            }
        }
        let missing = missing.index(events.len());
        if is_lost && missing.abs_diff(at) > 4 {
            records.remove(events[missing]);
        }
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        let report = lint_bytes(lines.join("\n").as_bytes());
        for finding in &report.violations {
            prop_assert_eq!(finding.clause, "AAEP-EV-4", "{}", finding.message);
        }
    }

    /// AAEP-EV-3, AAEP-EV-4: a recorder that wrote two events of one moment in the other order accuses nobody of what rests on it.
    #[test]
    fn events_in_another_order_than_their_numbers_accuse_of_nothing_else(
        stream in conforming::streams(),
        session in 0..3_usize,
        at in any::<Index>(),
    ) {
        let mut records: Vec<Value> =
            stream.iter().map(|it| serde_json::from_str(it).expect("JSON")).collect();
        let events = events_of(&records, &format!("sess_{session}"));
        if events.len() < 5 {
            return Ok(());
        }
        let at = 1 + at.index(events.len() - 3);
        let (first, second) = (events[at], events[at + 1]);
        let time = |record: &Value| record.get("message").unwrap_or(record)["timestamp"].clone();
        let earlier = time(&records[first]);
        let later = &mut records[second];
        let message = if later.get("message").is_some() { &mut later["message"] } else { later };
        message["timestamp"] = earlier;
        records.swap(first, second);
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        let report = lint_bytes(lines.join("\n").as_bytes());
        for finding in &report.violations {
            prop_assert_eq!(finding.clause, "AAEP-EV-4", "{}", finding.message);
        }
    }
}

/// AAEP-A.3-3: whether a tool still runs shows only where its completion cannot have stood among the numbers that are missing.
#[test]
fn a_tool_may_have_completed_among_the_numbers_that_are_missing() {
    let call = |stream: Stream, id: &str| {
        stream.call(id, json!({"risk_level": "low", "irreversible": false}))
    };
    let stream = call(Stream::new().state("idle", "calling_tool"), "call_1");
    let stream = stream.completed("call_1", "success");
    let stream = stream
        .state("calling_tool", "thinking")
        .state("thinking", "calling_tool");
    let stream = call(stream, "call_2").state("calling_tool", "thinking");
    let records = stream.completed("call_2", "success").ending();
    for (lost, told) in [(3_usize, false), (5, true), (1, true)] {
        let mut records = records.clone();
        records.remove(lost);
        let numbers: Vec<i64> = (0..=9)
            .filter(|it| usize::try_from(*it) != Ok(lost))
            .collect();
        let report = lint_bytes(numbered(&records, &numbers).as_bytes());
        let warned = report.warnings.iter().any(|it| it.clause == "AAEP-A.3-3");
        assert_eq!(warned, told, "{lost}: {report:?}");
    }
}
