//! Lint against streams that are known to be right or wrong.
//!
//! Each file of `traces/invalid` holds one fault and has to be accused of exactly that, at its line; each file of
//! `traces/valid` has to come out clean. The properties at the end make conforming streams of their own, cut them, strip
//! them of their replies, and feed plain rubbish.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_spec_trace::answer::{FindingsFormat, Status};
use countersign_spec_trace::lint::command::{LintArgs, run};
use countersign_spec_trace::lint::finding::Finding;
use countersign_spec_trace::lint::lint;
use countersign_spec_trace::lint::render::text::{Terminal, render_one};
use countersign_spec_trace::lint::report::{LintReport, Verdict};
use proptest::prelude::*;

#[path = "lint/conforming.rs"]
mod conforming;

/// File, clause, line.
const INVALID: &[(&str, &str, u64)] = &[
    (
        "AAEP-6.1-1_reversible-call-by-id-before-acceptance",
        "AAEP-6.1-1",
        6,
    ),
    ("AAEP-6.1-3_rejected-and-nothing-more", "AAEP-6.1-3", 6),
    ("AAEP-6.1-6_asked-again-while-open", "AAEP-6.1-6", 5),
    (
        "AAEP-6.3.5-1_duplicate-acceptance-and-two-calls-by-id",
        "AAEP-6.3.5-1",
        10,
    ),
    (
        "AAEP-6.3.5-1_one-acceptance-and-two-calls",
        "AAEP-6.3.5-1",
        9,
    ),
    (
        "AAEP-6.4.1-1_irreversible-high-defaults-to-accept",
        "AAEP-6.4.1-1",
        4,
    ),
    (
        "AAEP-6.4.1-2_irreversible-medium-defaults-to-accept",
        "AAEP-6.4.1-2",
        4,
    ),
    ("AAEP-A.1-1_first-event-is-not-the-start", "AAEP-A.1-1", 1),
    ("AAEP-A.1-1_started-again-after-its-end", "AAEP-A.1-1", 4),
    ("AAEP-A.1-1_started-twice", "AAEP-A.1-1", 3),
    ("AAEP-A.3-1_call-never-completes", "AAEP-A.3-1", 5),
    ("AAEP-A.4-2_no-state-after-rejection", "AAEP-A.4-2", 7),
    ("AAEP-A.4-3_accepted-and-never-called", "AAEP-A.4-3", 7),
    ("AAEP-A.4-3_two-accepted-and-one-call", "AAEP-A.4-3", 12),
    (
        "AAEP-A.7.4-1_accepted-after-called-and-logged-after-the-end",
        "AAEP-A.7.4-1",
        6,
    ),
    ("AAEP-A.7.4-1_called-before-accepted", "AAEP-A.7.4-1", 6),
    (
        "AAEP-A.7.4-1_called-before-accepted-and-another-was-accepted",
        "AAEP-A.7.4-1",
        11,
    ),
    (
        "AAEP-A.7.4-1_called-before-accepted-and-another-was-rejected",
        "AAEP-A.7.4-1",
        9,
    ),
    (
        "AAEP-A.7.4-1_called-just-before-the-timeout-accepts",
        "AAEP-A.7.4-1",
        7,
    ),
    (
        "AAEP-A.7.4-1_decision-that-was-not-allowed",
        "AAEP-A.7.4-1",
        7,
    ),
    (
        "AAEP-A.7.4-1_reply-decided-at-the-deadline",
        "AAEP-A.7.4-1",
        7,
    ),
    (
        "AAEP-A.7.4-1_reply-of-a-sender-that-the-transport-refused",
        "AAEP-A.7.4-1",
        7,
    ),
    ("AAEP-A.7.4-1_reply-of-another-token", "AAEP-A.7.4-1", 7),
    (
        "AAEP-A.7.4-1_reply-with-a-property-of-its-own",
        "AAEP-A.7.4-1",
        7,
    ),
    (
        "AAEP-A.7.4-1_timeout-whose-default-is-reject",
        "AAEP-A.7.4-1",
        7,
    ),
    ("AAEP-A.8-1_completed-twice", "AAEP-A.8-1", 4),
    ("AAEP-A.8-1_completion-under-another-id", "AAEP-A.8-1", 3),
    ("AAEP-A.8-1_completion-without-call", "AAEP-A.8-1", 2),
    ("AAEP-A.8-2_cancelled-then-completed", "AAEP-A.8-2", 3),
    ("AAEP-A.8-2_completed-then-errored", "AAEP-A.8-2", 3),
    ("AAEP-A.8-3_call-after-the-end", "AAEP-A.8-3", 3),
    ("AAEP-A.8-4_acceptance-led-to-another-call", "AAEP-A.8-4", 9),
    (
        "AAEP-A.8-4_called-then-asked-then-accepted",
        "AAEP-A.8-4",
        4,
    ),
    (
        "AAEP-A.8-4_called-then-asked-then-rejected-then-accepted",
        "AAEP-A.8-4",
        4,
    ),
    ("AAEP-A.8-4_irreversible-and-never-asked", "AAEP-A.8-4", 3),
    (
        "AAEP-A.8-4_never-asked-and-no-replies-recorded",
        "AAEP-A.8-4",
        8,
    ),
    ("AAEP-A.8-5_called-after-rejection", "AAEP-A.8-5", 7),
    ("AAEP-A.8-5_modified-rejection", "AAEP-A.8-5", 7),
    ("AAEP-A.8-5_one-of-two-rejected", "AAEP-A.8-5", 11),
    (
        "AAEP-A.8-5_rejected-first-and-accepted-later",
        "AAEP-A.8-5",
        8,
    ),
    (
        "AAEP-A.8-5_reversible-call-after-rejection-by-id",
        "AAEP-A.8-5",
        7,
    ),
    ("AAEP-EV-1_duplicate-key", "AAEP-EV-1", 3),
    ("AAEP-EV-1_no-session", "AAEP-EV-1", 3),
    ("AAEP-EV-1_no-type", "AAEP-EV-1", 3),
    ("AAEP-EV-1_no-timestamp", "AAEP-EV-1", 3),
    ("AAEP-EV-1_not-an-object", "AAEP-EV-1", 3),
    ("AAEP-EV-1_not-json", "AAEP-EV-1", 3),
    ("AAEP-EV-1_raw-message-of-the-producer", "AAEP-EV-1", 3),
    ("AAEP-EV-1_torn-last-line", "AAEP-EV-1", 3),
    ("AAEP-EV-3_timestamp-without-offset", "AAEP-EV-3", 3),
    ("AAEP-EV-5_no-reply-is-allowed", "AAEP-EV-5", 4),
    ("AAEP-EV-5_timeout-of-zero", "AAEP-EV-5", 4),
    ("AAEP-EV-5_tool-is-no-string", "AAEP-EV-5", 3),
    ("AAEP-EV-9_unknown-core-type", "AAEP-EV-9", 3),
];

/// Conforming streams that deserve a warning: file, clause, line.
const WARNED: &[(&str, &str, u64)] = &[
    ("AAEP-6.1-6_asked-again-in-the-same-words", "AAEP-6.1-6", 5),
    (
        "AAEP-6.4.1-3_irreversible-low-defaults-to-accept",
        "AAEP-6.4.1-3",
        4,
    ),
    (
        "AAEP-6.4.1-4_reversible-high-defaults-to-accept",
        "AAEP-6.4.1-4",
        4,
    ),
    ("AAEP-A.4-1_asked-while-thinking", "AAEP-A.4-1", 3),
];

fn traces(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("traces")
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

/// AAEP-A.8-1, AAEP-A.8-2, AAEP-A.8-3, AAEP-A.8-4, AAEP-A.8-5 and each other clause that is judged.
#[test]
fn every_invalid_stream_is_accused_of_exactly_its_fault_at_its_line() {
    let listed: BTreeSet<String> = INVALID
        .iter()
        .map(|(name, _, _)| (*name).to_owned())
        .collect();
    assert_eq!(
        listed,
        names_in("invalid"),
        "the table and the folder hold the same streams"
    );
    for (name, clause, line) in INVALID {
        let report = lint_file("invalid", name);
        assert_eq!(places(&report.violations), [(*clause, *line)], "{name}");
        assert_eq!(
            (report.verdict, report.status().code()),
            (Verdict::Violating, 1),
            "{name}"
        );
    }
}

#[test]
fn every_valid_stream_conforms_and_is_warned_only_where_it_is_listed() {
    let valid = names_in("valid");
    assert!(valid.len() > 40, "the valid streams are there");
    for name in &valid {
        let report = lint_file("valid", name);
        assert_eq!(places(&report.violations), [], "{name}");
        assert_eq!(
            (report.verdict, report.status().code()),
            (Verdict::Conforming, 0),
            "{name}"
        );
        let expected: Vec<_> = WARNED
            .iter()
            .filter(|(warned, _, _)| warned == name)
            .map(|(_, clause, line)| (*clause, *line))
            .collect();
        assert_eq!(places(&report.warnings), expected, "{name}");
    }
    for (name, _, _) in WARNED {
        assert!(valid.contains(*name), "{name} is listed and missing");
    }
}

/// AAEP-A.7.4-1, AAEP-A.4-3: a call that comes before its question is one fault, also when the question is accepted later
/// and no second call comes.
#[test]
fn one_fault_is_one_finding_and_names_its_other_clauses() {
    let report = lint_file("invalid", "AAEP-A.8-4_called-then-asked-then-accepted");
    assert_eq!(report.violations.len(), 1);
    assert_eq!(report.violations[0].also, ["AAEP-A.7.4-1"]);
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
            "records",
            "sessions",
            "verdict",
            "violations",
            "warnings",
            "not_judged",
            "tied"
        ]
    );
    assert_eq!(json["verdict"], "violating");
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

#[test]
fn the_text_of_a_report_names_file_line_clause_and_level_and_shows_the_line() {
    let text = render_one(&lint_file("invalid", "AAEP-EV-1_not-json"), Terminal::Plain);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "stream.jsonl:3:2: violation AAEP-EV-1 MUST");
    assert!(lines.contains(&" 3 │ this is no record"), "{text}");
    assert_eq!(
        lines.last(),
        Some(&"stream.jsonl: violating: 4 records, 1 session, 1 violation, 0 warnings")
    );
}

/// AAEP-A.1-2, AAEP-A.3-1, AAEP-A.7.6-1: what is still owed at the end of the input makes it inconclusive.
#[test]
fn an_input_that_ends_too_early_is_inconclusive_and_says_what_is_owed() {
    let owed = |name, lines| {
        let text = fs::read_to_string(traces("valid").join(format!("{name}.jsonl")))
            .expect("a readable trace");
        let start: String = text.split_inclusive('\n').take(lines).collect();
        let report = lint_bytes(start.as_bytes());
        assert_eq!(
            (report.verdict, report.status().code()),
            (Verdict::Inconclusive, 3),
            "{name}"
        );
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
        assert_eq!(report.status(), Status::Inconclusive, "{missing}");
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

#[test]
fn an_input_without_events_is_inconclusive() {
    let foreign = &br#"{"type":"acme:note"}"#[..];
    let malformed_reply = &br#"{"type":"confirmation.reply"}"#[..];
    for input in [&b""[..], b"\n \r\n", foreign, malformed_reply] {
        let report = lint_bytes(input);
        assert_eq!(
            (report.verdict, report.status().code()),
            (Verdict::Inconclusive, 3)
        );
        assert_eq!(report.not_judged.len(), 1);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_that_names_it() {
    let file = traces("valid").join("no-such-stream.jsonl");
    let error = run(&LintArgs::of(&file), FindingsFormat::Text).expect_err("nothing to read");
    let name = file.to_str().expect("plain text");
    assert!(error.to_string().contains(name), "{error}");
}

/// AAEP-EV-1: whatever a line holds, the next one is judged.
#[test]
fn a_broken_line_is_reported_with_its_column_and_the_rest_is_judged() {
    let rest = fs::read(traces("invalid").join("AAEP-A.8-4_irreversible-and-never-asked.jsonl"))
        .expect("a readable trace");
    let deep = "[".repeat(100_000);
    let long = "x".repeat((16 << 20) + 1);
    let cases: [(&[u8], Option<u64>); 7] = [
        (b"{\"type\":", Some(8)),
        (b"ab\xFFcd", Some(3)),
        (b"\0\0\0", Some(1)),
        (b"{\"a\":1e999}", Some(10)),
        (deep.as_bytes(), Some(128)),
        (long.as_bytes(), Some((16 << 20) + 1)),
        (b"{}", None),
    ];
    for (line, column) in cases {
        let input = [line, b"\n", &rest].concat();
        let report = lint_bytes(&input);
        let start = String::from_utf8_lossy(&line[..line.len().min(20)]).into_owned();
        assert_eq!(
            places(&report.violations),
            [("AAEP-EV-1", 1), ("AAEP-A.8-4", 4)],
            "{start}"
        );
        assert_eq!(report.violations[0].column, column, "{start}");
        // What rests on something missing says that the broken line may have held it.
        assert!(
            report.violations[1]
                .message
                .contains("line 1 could not be read"),
            "{start}"
        );
    }
}

proptest! {
    /// Whatever the monitors keep, it never accuses a producer that did nothing wrong.
    #[test]
    fn a_conforming_stream_conforms(stream in conforming::streams()) {
        let report = lint_bytes(stream.join("\n").as_bytes());
        prop_assert_eq!(places(&report.violations), []);
        prop_assert_eq!(report.verdict, Verdict::Conforming);
    }

    /// A recorder that saw events alone turns no conforming producer into a violating one.
    #[test]
    fn a_conforming_stream_without_its_replies_conforms(stream in conforming::streams()) {
        let events = stream.into_iter().filter(|line| !line.contains("confirmation.reply"));
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
        let text = stream.join("\n");
        let text = &text[..cut.index(text.len())];
        let last = text.split('\n').count() as u64;
        for finding in lint_bytes(text.as_bytes()).violations {
            prop_assert_eq!((finding.clause, finding.line), ("AAEP-EV-1", last));
        }
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
        prop_assert_eq!(report.status() == Status::Violated, !report.violations.is_empty());
    }
}
