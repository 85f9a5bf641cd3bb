//! Lint against streams that are known to be right or wrong.
//!
//! Each file of `traces/invalid` holds one fault and has to be accused of exactly that, at its line; each file of
//! `traces/valid` has to come out clean. The properties at the end make conforming streams of their own, cut them, strip
//! them of their replies, and feed plain rubbish.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_lint::finding::{Finding, Here};
use countersign_lint::json::tree::Room;
use countersign_lint::lint;
use countersign_lint::record;
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::rules;
use countersign_lint::rules::Weight::{Violation, Warning};
use countersign_lint::stream::{Linter, Settings};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

mod assumed;
pub mod conforming;
mod doubts;
mod faults;
mod many;
mod more_time;
mod numbers;
mod several;
mod ties;

use faults::{Fault, faults};
use many::busy_session;

/// Lines of a stream that its twin may have otherwise, or not at all. An event that comes too early has to be put
/// elsewhere, with its time; a question that was never asked takes four lines and the answer.
const LINES_OF_A_FAULT: usize = 4;

fn traces(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../traces")
        .join(folder)
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let entries =
        fs::read_dir(traces(folder)).expect("the folder of traces is part of the project");
    entries
        .map(|entry| {
            let name = entry.expect("a readable entry").file_name();
            let name = name.to_str().expect("names are plain text");
            name.strip_suffix(".jsonl")
                .expect("traces are JSON Lines")
                .to_owned()
        })
        .collect()
}

fn lint_file(folder: &str, name: &str) -> LintReport {
    let bytes = fs::read(traces(folder).join(format!("{name}.jsonl"))).expect("a readable trace");
    lint_bytes(&bytes)
}

fn lint_bytes(bytes: &[u8]) -> LintReport {
    lint(bytes, "stream.jsonl").expect("reading from memory cannot fail")
}

fn places(findings: &[Finding]) -> Vec<(&str, u64)> {
    findings
        .iter()
        .map(|finding| (finding.clause, finding.line))
        .collect()
}

/// AAEP-A.8-1, AAEP-A.8-2, AAEP-A.8-3, AAEP-A.8-4, AAEP-A.8-5, AAEP-A.8-6, AAEP-A.8-7 and each other clause that is judged.
#[test]
fn every_invalid_stream_is_accused_of_exactly_its_fault_at_its_line() {
    let listed: BTreeSet<String> = faults().map(|fault| fault.name.to_owned()).collect();
    assert_eq!(
        listed,
        names_in("invalid"),
        "the table and the folder hold the same streams"
    );
    for fault in faults() {
        let name = fault.name;
        let report = lint_file("invalid", name);
        let found = vec![(fault.clause, fault.line)];
        let (violations, warnings, verdict) = match fault.weight {
            Violation => (found, vec![], Verdict::Violating),
            Warning => (vec![], found, Verdict::Conforming),
        };
        assert_eq!(places(&report.violations), violations, "{name}");
        assert_eq!(places(&report.warnings), warnings, "{name}");
        assert_eq!(report.verdict, verdict, "{name}");
    }
}

#[test]
fn every_valid_stream_conforms_without_a_warning() {
    let valid = names_in("valid");
    assert!(valid.len() > 40, "the valid streams are there");
    for name in &valid {
        let report = lint_file("valid", name);
        assert_eq!(places(&report.violations), [], "{name}");
        assert_eq!(places(&report.warnings), [], "{name}");
        assert_eq!(report.verdict, Verdict::Conforming, "{name}");
    }
}

#[test]
fn every_invalid_stream_has_a_conforming_twin_that_differs_in_the_fault_alone() {
    for Fault { name, .. } in faults() {
        let [invalid, valid] = ["invalid", "valid"].map(|folder| {
            let path = traces(folder).join(format!("{name}.jsonl"));
            fs::read_to_string(path).expect("a stream and its twin")
        });
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (invalid, valid) = (lines(&invalid), lines(&valid));
        let shared = in_common(&invalid, &valid);
        let most = LINES_OF_A_FAULT + usize::from(name.ends_with("never-asked"));
        for (stream, folder) in [(&invalid, "invalid"), (&valid, "valid")] {
            let own = stream.len() - shared;
            assert!(own <= most, "{own} lines of {folder}/{name} are its own");
        }
        assert_ne!(invalid, valid, "{name}");
    }
}

/// The length of the longest common subsequence.
fn in_common(left: &[String], right: &[String]) -> usize {
    let mut best = vec![0; right.len() + 1];
    for line in left {
        let mut diagonal = 0;
        for (index, other) in right.iter().enumerate() {
            let above = best[index + 1];
            best[index + 1] = if line == other {
                diagonal + 1
            } else {
                above.max(best[index])
            };
            diagonal = above;
        }
    }
    best[right.len()]
}

/// Whatever can be found stands in a stream of its own, so that no check can go missing unnoticed.
#[test]
fn every_rule_has_a_stream_that_breaks_it() {
    for rule in rules::ALL {
        let broken =
            faults().any(|fault| fault.clause == rule.clause && fault.weight == rule.weight);
        let broken = broken || several::NEVER_ALONE.contains(&rule.clause);
        assert!(broken, "{}", rule.clause);
    }
}

/// AAEP-A-1: what the informative appendix alone says is a warning, and a violation for who wants it so.
#[test]
fn a_strict_judge_takes_a_warning_for_a_violation() {
    for fault in faults() {
        let Fault {
            name, clause, line, ..
        } = fault;
        let bytes = fs::read(traces("invalid").join(format!("{name}.jsonl"))).expect("a trace");
        let report = judged(
            Linter::with(Settings {
                strict: true,
                ..Settings::default()
            }),
            &bytes,
        );
        assert_eq!(places(&report.violations), [(clause, line)], "{name}");
        assert_eq!(places(&report.warnings), [], "{name}");
    }
}

/// What `lint` does with each line, for a judge of one's own.
fn judged(mut linter: Linter, bytes: &[u8]) -> LintReport {
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let here = Here::new(index as u64 + 1, line);
        let broken = record::parse(line, &mut Room::default()).and_then(|tree| {
            let (record, faults) = record::read(tree, here)?;
            for fault in faults {
                linter.faulty(fault.at(here, record.session()));
            }
            linter.record(&record);
            Ok(())
        });
        if let Err(fault) = broken {
            linter.broken(fault.at(here, None), true);
        }
    }
    linter.finish("stream.jsonl")
}

/// AAEP-A.7.4-1, AAEP-A.4-3: a call that comes before its question is one fault, also when the question is accepted later
/// and no second call comes.
#[test]
fn one_fault_is_one_finding_and_names_its_other_clauses() {
    let report = lint_file("invalid", "AAEP-A.8-4_called-then-asked-then-accepted");
    assert_eq!(report.violations.len(), 1);
    assert_eq!(report.violations[0].also, ["AAEP-A.7.4-1", "AAEP-A.8-8"]);
}

/// AAEP-6.1-3, AAEP-6.8-2, AAEP-6.8-4, AAEP-A.4-3: what else is surely broken is named, and nothing that may not be.
#[test]
fn a_fault_names_the_clauses_that_it_surely_breaks_besides() {
    for (name, clause, is_named) in [
        (
            "AAEP-A.8-1_accepted-and-completed-and-never-called",
            "AAEP-A.4-3",
            true,
        ),
        ("AAEP-A.8-1_completed-twice", "AAEP-A.4-3", false),
        (
            "AAEP-A.8-3_call-of-a-question-that-was-cancelled-with-its-session",
            "AAEP-6.8-2",
            true,
        ),
        ("AAEP-A.8-3_call-after-the-end", "AAEP-6.8-2", false),
        (
            "AAEP-6.1-1_call-that-calls-a-withdrawn-question-accepted",
            "AAEP-6.8-4",
            true,
        ),
        (
            "AAEP-6.1-1_reversible-call-by-id-before-acceptance",
            "AAEP-6.8-4",
            false,
        ),
        (
            "AAEP-6.4-1_session-completes-after-a-timeout-that-never-fired",
            "AAEP-6.1-3",
            true,
        ),
        (
            "AAEP-6.4-1_timeout-never-fires-while-the-stream-goes-on",
            "AAEP-6.1-3",
            false,
        ),
        ("AAEP-6.4-1_default-accept-never-fires", "AAEP-6.1-3", false),
    ] {
        let report = lint_file("invalid", name);
        let found = &report.violations[0];
        assert_eq!(
            found.also.contains(&clause),
            is_named,
            "{name}: {:?}",
            found.also
        );
    }
}

/// AAEP-EV-15: how a call was tied to its confirmation is said, for explained calls and accused ones.
#[test]
fn the_report_says_how_calls_were_tied() {
    let tied = |name| lint_file("valid", name).to_json()["tied"].to_string();
    assert_eq!(tied("AAEP-A.8-5_both-accepted"), r#"{"tool_call_id":2}"#);
    assert_eq!(
        tied("AAEP-6.3.5-1_two-acceptances-and-two-calls"),
        r#"{"order":2}"#
    );
    let accused = |name| lint_file("invalid", name).to_json()["violations"][0]["tied_by"].clone();
    assert_eq!(accused("AAEP-A.8-5_one-of-two-rejected"), "tool_call_id");
    assert_eq!(accused("AAEP-A.8-5_called-after-rejection"), "order");
}

#[test]
fn the_json_of_a_report_has_the_shape_that_others_rely_on() {
    let json = lint_file("invalid", "AAEP-A.8-1_completion-without-call").to_json();
    let keys: Vec<&str> = json
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "file",
            "protocol",
            "records",
            "sessions",
            "verdict",
            "violations",
            "possible",
            "warnings",
            "not_judged",
            "tied",
            "result",
            "texts"
        ]
    );
    assert_eq!(json["verdict"], "violating");
    assert_eq!(json["result"], "FAIL");
    assert_eq!(
        (json["records"].as_u64(), json["sessions"].as_u64()),
        (Some(3), Some(1))
    );
    let violation = &json["violations"][0];
    assert_eq!(violation["clause"], "AAEP-A.8-1");
    assert_eq!(violation["level"], "MUST");
    assert_eq!(violation["line"], 2);
    assert_eq!(violation["session"], "sess_a1");
    assert_eq!(violation["also"][0], "AAEP-A.3-2");
}

/// AAEP-A.1-2, AAEP-A.3-1, AAEP-A.7.6-1: what is still owed at the end of the input makes it inconclusive.
#[test]
fn an_input_that_ends_too_early_is_inconclusive_and_says_what_is_owed() {
    let owed = |name, lines| {
        let text = fs::read_to_string(traces("valid").join(format!("{name}.jsonl")))
            .expect("a readable trace");
        let start: String = text.split_inclusive('\n').take(lines).collect();
        let report = lint_bytes(start.as_bytes());
        assert_eq!(report.verdict, Verdict::Inconclusive, "{name}");
        report
            .not_judged
            .iter()
            .map(|entry| entry.clause)
            .collect::<Vec<_>>()
    };
    assert_eq!(owed("AAEP-A.8-1_completion-of-its-call", 1), ["AAEP-A.1-2"]);
    assert_eq!(
        owed("AAEP-A.8-1_completion-of-its-call", 2),
        ["AAEP-A.1-2", "AAEP-A.3-1"]
    );
    assert_eq!(
        owed("AAEP-6.1-3_session-completes-over-an-open-question", 5),
        ["AAEP-A.1-2", "AAEP-A.7.6-1"]
    );
}

/// AAEP-A.4-1, AAEP-A.5-1: the state may be told right behind the question, and the input ends before.
#[test]
fn whether_the_state_follows_a_question_that_is_the_last_event_is_open() {
    for (name, clause) in [
        ("AAEP-A.4-1_asked-while-thinking", "AAEP-A.4-1"),
        ("AAEP-A.5-1_clarification-while-thinking", "AAEP-A.5-1"),
    ] {
        let path = traces("invalid").join(format!("{name}.jsonl"));
        let text = fs::read_to_string(path).expect("a readable trace");
        let up_to_question: String = text.split_inclusive('\n').take(3).collect();
        let report = lint_bytes(up_to_question.as_bytes());
        assert_eq!(places(&report.warnings), [], "{name}");
        assert!(several::is_open(&report, clause, "line 3"), "{name}");
    }
}

/// AAEP-EV-4, AAEP-A.1-1, AAEP-A.4-3, AAEP-A.8-4: where the numbers show that events are not in the record, what they may
/// have held is not missed; what no event can excuse is accused all the same.
#[test]
fn nothing_is_missed_where_events_are_not_in_the_record() {
    let without = |folder: &str, name: &str, number: usize| {
        let path = traces(folder).join(format!("{name}.jsonl"));
        let text = fs::read_to_string(path).expect("a readable trace");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.remove(number - 1);
        lint_bytes(lines.join("\n").as_bytes())
    };
    let accepted = "AAEP-A.8-4_asked-then-accepted-then-called";
    for (missing, clause) in [
        (1, "AAEP-A.1-1"),
        (4, "AAEP-A.8-4"),
        (7, "AAEP-A.8-1"),
        (8, "AAEP-A.3-1"),
    ] {
        let report = without("valid", accepted, missing);
        assert_eq!(places(&report.violations), [], "{missing}");
        assert_eq!(report.verdict, Verdict::Inconclusive, "{missing}");
        let not_judged: Vec<_> = report.not_judged.iter().map(|it| it.clause).collect();
        assert!(not_judged.contains(&clause), "{missing}: {not_judged:?}");
    }
    let report = without(
        "invalid",
        "AAEP-6.4.1-1_irreversible-high-defaults-to-accept",
        2,
    );
    assert_eq!(places(&report.violations), [("AAEP-6.4.1-1", 3)]);
}

/// AAEP-EV-4, AAEP-EV-9: an event of a foreign type has its number, too. One that is not counted is not missed.
#[test]
fn the_number_of_an_event_of_a_foreign_type_is_not_skipped() {
    let event = |kind: &str, number: &str| {
        format!(
            r#"{{"@context":"https://aaep-protocol.org/context/v1","type":"{kind}","event_id":"evt_{kind}{number}","session_id":"sess_a","timestamp":"2026-05-24T14:00:00Z","producer":{{"agent_id":"a"}},"summary_normal":"S","sequence_number":{number}}}"#
        )
        .replace(&format!("evt_{kind}"), &format!("evt_{}", kind.len()))
    };
    let (start, end) = ("aaep:agent.session.started", "aaep:agent.session.completed");
    for (notes, last, is_skipped) in [
        (&["1"][..], "2", false),
        (&["1", "2"], "3", false),
        (&["1"], "1", false),
        (&["1"], "3", true),
        (&["7"], "1", false),
        (&["2"], "3", true),
    ] {
        let notes = notes.iter().map(|number| event("acme:note", number));
        let lines = [event(start, "0")]
            .into_iter()
            .chain(notes)
            .chain([event(end, last)]);
        let report = lint_bytes(lines.collect::<Vec<_>>().join("\n").as_bytes());
        assert_eq!(places(&report.violations), [], "{last}");
        let told = report.not_judged.iter().any(|it| it.clause == "AAEP-EV-4");
        assert_eq!(told, is_skipped, "{last}: {:?}", report.not_judged);
    }
}

#[test]
fn an_input_without_events_is_inconclusive() {
    let foreign = &br#"{"type":"acme:note"}"#[..];
    let malformed_reply = &br#"{"type":"confirmation.reply"}"#[..];
    for input in [&b""[..], b"\n \r\n", foreign, malformed_reply] {
        let report = lint_bytes(input);
        assert_eq!(report.verdict, Verdict::Inconclusive);
        assert_eq!(report.not_judged.len(), 1);
    }
}

/// AAEP-EV-1: a line that the end of the input cuts is told as such, also within a character; one that ends is not.
#[test]
fn a_line_that_is_cut_says_that_the_input_ends_there() {
    for (bytes, is_cut) in [
        ("{\"summary_normal\":\"caf\u{e9}".as_bytes().to_vec(), true),
        (b"{\"summary_normal\":\"caf\xC3".to_vec(), true),
        (b"{\"summary_normal\":\"\xF0\x9F\x8D".to_vec(), true),
        (b"{\"summary_normal\":\"caf\xC3\n".to_vec(), false),
        (b"{\"summary_normal\":\"caf\xFF".to_vec(), false),
        (b"{\"summary_normal\":\"caf\xC3\"".to_vec(), false),
    ] {
        let report = lint_bytes(&bytes);
        let message = &report.violations[0].message;
        let told = message.starts_with("the input ends in the middle of a record: ");
        assert_eq!(told, is_cut, "{message}");
    }
}

/// AAEP-EV-1: whatever a line holds, the next one is judged.
#[test]
fn a_broken_line_is_reported_with_its_column_and_the_rest_is_judged() {
    let rest = fs::read(traces("invalid").join("AAEP-A.8-4_irreversible-and-never-asked.jsonl"))
        .expect("a readable trace");
    let deep = "[".repeat(100_000);
    let long = "x".repeat((16 << 20) + 1);
    let cases: [(&[u8], Option<u64>, bool); 13] = [
        (b"{\"type\":", Some(8), true),
        (b"ab\xFFcd", Some(3), true),
        (b"\0\0\0", Some(1), true),
        (b"{\"a\":1e999}", Some(10), false),
        (deep.as_bytes(), Some(128), false),
        (long.as_bytes(), Some((16 << 20) + 1), false),
        (b"{}", None, false),
        (b"{\"type\":\"a\",\"type\":\"b\"}", Some(18), true),
        (b"{\"type\":\"aaep:agent.x\0\"}", Some(22), true),
        (b"ence_number\":3}", Some(1), true),
        (b"{\"event_id\":\"evt_1\"}", None, true),
        // Whatever a program writes besides.
        (b"INFO: listening on port 3000", Some(1), false),
        (b"{\"level\":\"info\",\"text\":\"listening\"}", None, false),
    ];
    for (line, column, may_be_missed) in cases {
        let input = [line, b"\n", &rest].concat();
        let report = lint_bytes(&input);
        let start = String::from_utf8_lossy(&line[..line.len().min(20)]).into_owned();
        assert_eq!(report.violations[0].column, column, "{start}");
        if !may_be_missed {
            let both = [("AAEP-EV-1", 1), ("AAEP-A.8-4", 4)];
            assert_eq!(places(&report.violations), both, "{start}");
            continue;
        }
        assert_eq!(places(&report.violations), [("AAEP-EV-1", 1)], "{start}");
        // What rests on something missing is a consequence: the broken line may have held it.
        let consequences = &report.violations[0].consequences;
        assert_eq!(places(consequences), [("AAEP-A.8-4", 4)], "{start}");
        assert!(
            consequences[0].message.contains("line 1 could not be read"),
            "{start}"
        );
    }
}

/// AAEP-EV-1, AAEP-EV-2, AAEP-A.8-5: what an event without a session, or under an id of another form, may have held is told under its fault, and
/// its number is not missing in the only session that is open.
#[test]
fn what_may_have_stood_in_an_event_of_no_session_is_told_under_its_fault() {
    for name in ["f08-no-session", "f09-misnamed-session"] {
        let path = traces("several").join(format!("{name}-with-a-number.jsonl"));
        let text = fs::read(path).expect("a stream");
        let report = lint_bytes(&text);
        let [cause] = &report.violations[..] else {
            panic!("{name} {:?}", places(&report.violations));
        };
        assert_eq!(places(&cause.consequences), [("AAEP-A.8-5", 9)], "{name}");
    }
}

/// AAEP-EV-1: JSON that is no deeper than its reader goes is judged, and of what is deeper that is said.
#[test]
fn a_record_that_is_nested_too_deeply_is_told_so() {
    let told = |levels: usize| {
        let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
        let line = format!("{{\"type\":\"x.other\",\"a\":{open}{close}}}");
        let violations = lint_bytes(line.as_bytes()).violations;
        violations.into_iter().map(|it| it.message).next()
    };
    assert_eq!(told(127), None);
    let message = told(128).expect("a finding");
    assert!(message.contains("nested too deeply"), "{message}");
    assert!(message.contains("127"), "{message}");
}

/// AAEP-EV-1: a word at `sender` that is none of the three is a finding, and the reply is not taken to count.
#[test]
fn an_unknown_word_about_the_sender_is_a_finding_and_vouches_for_nobody() {
    let name = "AAEP-A.4-3_accepted-and-never-called.jsonl";
    let stream = fs::read_to_string(traces("invalid").join(name)).expect("a readable trace");
    let by = |sender: Value| {
        let stream = stream.replace("\"sender\": \"known\"", &format!("\"sender\": {sender}"));
        lint_bytes(stream.as_bytes())
    };
    let clauses = |report: &LintReport| {
        let all = report.violations.iter().map(|it| it.clause);
        all.collect::<Vec<_>>()
    };
    assert_eq!(clauses(&by(json!("known"))), ["AAEP-A.4-3"]);
    assert_eq!(clauses(&by(Value::Null)), ["AAEP-A.4-3"]);
    let untold = by(json!("untold"));
    assert_eq!(clauses(&untold), [] as [&str; 0]);
    for wrong in [json!("strangr"), json!(1)] {
        let report = by(wrong);
        assert_eq!(clauses(&report), ["AAEP-EV-1"]);
        assert_eq!(report.not_judged, untold.not_judged);
    }
}

/// AAEP-A.6-2: a producer that counts in UTF-16 units may cut its output within a character, and JSON can write that.
#[test]
fn output_that_is_cut_within_a_character_conforms() {
    let name = "AAEP-A.6-2_position-skips.jsonl";
    let text = fs::read_to_string(traces("valid").join(name)).expect("a readable trace");
    let mut chunks = 0;
    let lines = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        if record.get("chunk").is_some() {
            record["chunk"] = json!("HALF");
            record["position"] = json!(chunks);
            chunks += 1;
        }
        let half = if chunks % 2 == 1 {
            "\\ud83e"
        } else {
            "\\udd80"
        };
        record.to_string().replace("HALF", half)
    });
    let stream: Vec<String> = lines.collect();
    let report = lint_bytes(stream.join("\n").as_bytes());
    assert!(chunks > 1);
    assert_eq!(places(&report.violations), []);
    assert_eq!(report.verdict, Verdict::Conforming);
}

/// A torn file is broken where it is torn and nowhere else, wherever that is.
#[test]
fn a_stream_that_is_cut_at_any_byte_is_accused_of_nothing_but_the_cut() {
    let name = "AAEP-A.8-4_asked-then-accepted-then-called.jsonl";
    let bytes = fs::read(traces("valid").join(name)).expect("a readable trace");
    for length in 0..bytes.len() {
        let line = bytes[..length].split(|byte| *byte == b'\n').count() as u64;
        let report = lint_bytes(&bytes[..length]);
        let accused = places(&report.violations);
        assert!(
            accused.is_empty() || accused == [("AAEP-EV-1", line)],
            "{length}: {accused:?}"
        );
    }
}

/// What may have become of each question is known after every record.
#[test]
fn a_judge_tells_the_standing_of_each_question() {
    let lines = busy_session(1, true);
    let after = |count: usize| {
        let mut linter = Linter::new();
        for (index, line) in lines.iter().take(count).enumerate() {
            let mut room = Room::default();
            let tree = record::parse(line.as_bytes(), &mut room).expect("JSON");
            let here = Here::new(index as u64 + 1, line.as_bytes());
            let (record, _) = record::read(tree, here).expect("a record");
            linter.record(&record);
        }
        linter.confirmations("sess_a")
    };
    assert_eq!(after(2), []);
    let standing = &after(4)[0];
    assert_eq!(standing.line, 3);
    assert_eq!(standing.token.as_deref(), Some("rpl_0"));
    assert_eq!(standing.outcomes, ["accepted"]);
    // Without a reply in the record anything may have been said off it.
    assert_eq!(after(3)[0].outcomes, ["pending", "accepted", "rejected"]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/tests/lint.txt",
        ))),
        ..ProptestConfig::default()
    })]

    /// Whatever the monitors keep, it never accuses a producer that did nothing wrong.
    #[test]
    fn a_conforming_stream_conforms(stream in conforming::streams()) {
        let report = lint_bytes(stream.join("\n").as_bytes());
        prop_assert_eq!(places(&report.violations), []);
        // A low risk may be accepted by default, and yet should not be.
        let warned = report.warnings.iter().filter(|it| it.clause != "AAEP-6.4.1-3");
        prop_assert_eq!(warned.map(|it| &it.message).collect::<Vec<_>>(), Vec::<&String>::new());
        prop_assert_eq!(report.verdict, Verdict::Conforming);
    }

    /// A recorder that saw events alone turns no conforming producer into a violating one.
    #[test]
    fn a_conforming_stream_without_its_replies_conforms(stream in conforming::streams()) {
        let events = stream.into_iter().filter(|line| !line.contains(".reply\""));
        let events: Vec<String> = events.collect();
        let report = lint_bytes(events.join("\n").as_bytes());
        prop_assert_eq!(places(&report.violations), []);
        prop_assert_eq!(report.verdict, Verdict::Conforming);
    }

    /// A torn file is broken where it is torn and nowhere else.
    #[test]
    fn a_cut_stream_is_accused_of_nothing_but_the_cut(
        stream in conforming::streams(),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = stream.join("\n").into_bytes();
        // Also in the middle of a character.
        let text = &text[..cut.index(text.len())];
        let last = text.split(|byte| *byte == b'\n').count() as u64;
        for finding in lint_bytes(text).violations {
            prop_assert_eq!((finding.clause, finding.line), ("AAEP-EV-1", last));
        }
    }

    /// AAEP-A.1-1, AAEP-A.8-4, AAEP-EV-8: who begins to record in the middle of a session has not seen what came before, with
    /// numbers or without.
    #[test]
    fn a_recording_that_begins_late_accuses_nobody(
        stream in conforming::streams(),
        from in any::<prop::sample::Index>(),
    ) {
        let lines = &stream[from.index(stream.len())..];
        let report = lint_bytes(lines.join("\n").as_bytes());
        prop_assert_eq!(places(&report.violations), []);
        let warned = report.warnings.iter().filter(|it| it.clause != "AAEP-6.4.1-3");
        prop_assert_eq!(warned.map(|it| &it.message).collect::<Vec<_>>(), Vec::<&String>::new());
    }

    /// AAEP-EV-7: an event that is delivered again, to a subscriber who came back say, is the same event.
    #[test]
    fn events_that_are_delivered_again_accuse_nobody(
        stream in conforming::streams(),
        copies in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 1..8),
    ) {
        let (mut lines, mut again) = (stream, 0);
        for [original, behind] in copies {
            let original = original.index(lines.len());
            let line = lines[original].clone();
            if !line.contains(".reply\"") {
                again += usize::from(line.contains(r#""type":"aaep:agent."#));
                lines.insert(original + 1 + behind.index(lines.len() - original), line);
            }
        }
        let report = lint_bytes(lines.join("\n").as_bytes());
        prop_assert_eq!(places(&report.violations), []);
        let others = report.warnings.iter().filter(|it| it.clause != "AAEP-6.4.1-3");
        prop_assert_eq!(others.map(|it| &it.message).collect::<Vec<_>>(), Vec::<&String>::new());
        let mut told = report.not_judged.iter().filter(|it| it.clause == "AAEP-EV-7");
        let count = format!("events that come again as they were, {again} in all");
        prop_assert_eq!(told.next().is_some_and(|it| it.reason.starts_with(&count)), again > 0);
        prop_assert!(told.next().is_none());
    }

    /// A call that is moved in front of everything that could have authorised it does not go unnoticed.
    #[test]
    fn an_irreversible_call_before_every_question_is_accused(stream in conforming::streams()) {
        let start = stream[0].clone();
        let rogue = conforming::irreversible_call_of_the_session_in(&start);
        let mut lines = stream;
        lines.insert(1, rogue);
        let report = lint_bytes(lines.join("\n").as_bytes());
        let accused = places(&report.violations);
        prop_assert!(accused.contains(&("AAEP-A.8-4", 2)), "{:?}", accused);
    }

    /// Bytes are judged or called broken; they never end the program.
    #[test]
    fn arbitrary_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let report = lint_bytes(&bytes);
        prop_assert_ne!(report.verdict, Verdict::Conforming);
    }

    /// The same for streams that are nearly right: one byte replaced, another one lost.
    #[test]
    fn streams_with_a_line_garbled_are_judged(
        stream in conforming::streams(),
        at in any::<prop::sample::Index>(),
        removed in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = stream.join("\n").into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.remove(removed.index(bytes.len()));
        let report = lint_bytes(&bytes);
        prop_assert_eq!(report.verdict == Verdict::Violating, !report.violations.is_empty());
    }
}
