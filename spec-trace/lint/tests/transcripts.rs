//! Lint against transcripts of the driver protocol that are known to be right or wrong.
//!
//! Each file of `traces/transcripts/<protocol>/invalid` holds one fault and has to be accused of exactly that, at its line; its twin in
//! `valid` has to come out clean and differs in one response alone.

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use countersign_lint::envelope::{How, Opened};
use countersign_lint::finding::Finding;
use countersign_lint::protocol::Protocol;
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::rules::Rule;
use countersign_lint::rules::Weight::{self, Violation, Warning};
use countersign_lint::selection::Selection;
use countersign_lint::transcript::{NoTranscript, judge_transcript};
use countersign_lint::{mcp_aql, pending_action};

#[path = "../../clauses/tests/recording/mod.rs"]
mod recording;

use recording::note;

/// A transcript, the line at which it is accused, and what of.
type Fault = (&'static str, u64, Weight);

const fn fault(name: &'static str, line: u64, weight: Weight) -> Fault {
    (name, line, weight)
}

const PENDING_ACTION: &[Fault] = &[
    fault("PA-1_record-with-other-arguments", 6, Violation),
    fault("PA-1_record-without-session", 6, Violation),
    fault("PA-1_proposed-and-not-recorded", 6, Violation),
    fault("PA-1_nonce-of-another-action", 8, Violation),
    fault("PA-1_words-decide", 8, Violation),
    fault("PA-2_stranger-decides", 8, Warning),
    fault("PA-2_decision-with-another-nonce", 8, Warning),
    fault(
        "PA-2_nobody-is-named-and-one-counts-and-one-does-not",
        12,
        Warning,
    ),
    fault("PA-3_runs-with-other-arguments", 8, Violation),
    fault("PA-3_runs-another-tool", 8, Violation),
    fault("PA-3_allowed-and-does-not-run", 8, Violation),
    fault("PA-3_allowed-and-nothing-comes-of-it", 8, Violation),
    fault("PA-3_other-arguments-approved", 8, Violation),
    fault("PA-3_call-that-nobody-proposed", 8, Violation),
    fault("PA-4_call-not-in-the-transcript", 8, Warning),
    fault(
        "PA-4_call-in-the-transcript-with-other-arguments",
        8,
        Warning,
    ),
    fault("PA-4_result-not-in-the-transcript", 10, Warning),
    fault("PA-4_result-in-the-transcript-otherwise", 10, Warning),
    fault("PA-5_denied-and-runs", 8, Violation),
    fault("PA-5_denied-and-nothing-comes-of-it", 8, Violation),
    fault("PA-5_denial-that-allows", 8, Violation),
    fault("PA-5_taken-back-and-nothing-comes-of-it", 8, Violation),
    fault("PA-5_taken-back-and-runs", 10, Violation),
    fault("PA-5_session-ends-and-the-question-pends-on", 8, Violation),
    fault("PA-5_proposed-in-a-session-that-has-ended", 8, Violation),
    fault("PA-6_denial-not-in-the-transcript", 8, Warning),
    fault("PA-7_expired-and-runs", 10, Violation),
    fault("PA-7_allowed-a-moment-too-late", 8, Violation),
    fault("PA-8_allowed-again-and-runs-again", 10, Violation),
    fault("PA-8_denied-then-allowed", 10, Violation),
    fault("PA-8_runs-again-behind-a-restart", 10, Violation),
    fault("PA-9_label-shows-the-id", 6, Warning),
    fault("PA-10_executed-and-not-told", 10, Violation),
    fault("PA-10_denied-and-not-told", 8, Violation),
    fault("PA-10_decision-of-another-name-told", 8, Violation),
    fault("PA-10_event-with-the-id-of-another", 10, Violation),
    fault("PA-10_message-with-the-id-of-another", 10, Violation),
    fault("PA-10_executed-and-not-as-reported", 10, Violation),
    fault("PA-10_expires-before-its-time", 8, Violation),
    fault("PA-10_expired-and-not-told", 8, Violation),
    fault("PA-10_lost-and-not-told-again", 10, Violation),
    fault("PA-10_in-flight-and-not-in-doubt", 10, Violation),
    fault("PA-10_finished-and-in-doubt", 12, Violation),
    fault("PA-11_words-are-changed", 8, Warning),
];

const MCP_AQL: &[Fault] = &[
    fault("AQL-1.3-1_runs-without-a-token", 6, Violation),
    fault("AQL-1.3-1_client-is-told-nothing", 6, Violation),
    fault("AQL-1.3-1_runs-without-a-call", 8, Violation),
    fault("AQL-1.2-3_runs-with-other-parameters", 8, Violation),
    fault("AQL-1.2-2_token-without-expiry", 6, Violation),
    fault("AQL-4.1-1_unknown-token-is-taken", 6, Violation),
    fault("AQL-4.1-1_good-token-is-unknown", 8, Violation),
    fault("AQL-5.1-3_expired-token-is-taken", 8, Violation),
    fault("AQL-5.1-7_good-token-has-expired", 8, Violation),
    fault("AQL-6.1-1_token-is-taken-twice", 10, Violation),
    fault("AQL-6.1-1_token-is-taken-behind-a-restart", 12, Violation),
    fault("AQL-4.1-3_good-token-was-used", 8, Violation),
    fault(
        "AQL-4.1-4_token-of-another-operation-is-taken",
        8,
        Violation,
    ),
    fault("AQL-4.1-5_token-of-other-parameters-is-taken", 8, Violation),
    fault("AQL-4.1-5_order-of-members-is-no-other-call", 8, Violation),
    fault("AQL-4.1-6_token-of-another-adapter-is-taken", 8, Violation),
    fault(
        "AQL-5.4-2_token-of-an-ended-session-is-taken",
        10,
        Violation,
    ),
    fault("AQL-5.3-3_token-that-was-given-back-is-taken", 10, Warning),
    fault(
        "AQL-5.3-2_token-is-taken-after-an-event-of-security",
        10,
        Warning,
    ),
    fault(
        "AQL-2.1-1_token-for-a-quota-confirms-a-danger",
        8,
        Violation,
    ),
    fault("AQL-2.1-1_token-with-the-prefix-of-a-quota", 6, Violation),
    fault("AQL-2.2-1_token-with-a-dot", 6, Violation),
    fault("AQL-2.2-1_token-of-65-characters", 6, Violation),
    fault("AQL-2.2-2_token-of-seven-characters", 6, Violation),
    fault("AQL-3.1-1_token-too-short-for-128-bits", 6, Violation),
    fault("AQL-3.1-1_token-is-issued-again", 8, Violation),
    fault("AQL-3.3-1_no-reasons", 6, Violation),
    fault("AQL-3.3-1_another-operation", 6, Violation),
    fault("AQL-4.2-1_failure-without-message", 10, Violation),
    fault("AQL-7.1-2_used-token-has-expired", 10, Violation),
    fault("AQL-6.3-1_failure-tells-a-parameter", 10, Warning),
    fault("AQL-5.1-1_token-lives-sixteen-minutes", 6, Violation),
    fault("AQL-5.1-1_token-lives-longer-than-asked", 6, Violation),
    fault("AQL-6.4-1_entry-without-outcome", 6, Violation),
    fault("AQL-6.4-1_issued-and-not-logged", 6, Violation),
    fault("AQL-6.4-1_redeemed-and-not-logged", 8, Violation),
    fault("AQL-5.1-6_long-tolerance-without-a-warning", 8, Warning),
];

const ENTRIES: &[Fault] = &[
    fault("AQL-6.4-1_entry-without-adapter", 2, Violation),
    fault("AQL-6.4-1_entry-of-another-event", 2, Violation),
    fault("AQL-4.1-4_taken-for-another-operation", 2, Violation),
    fault("AQL-4.1-6_taken-by-another-adapter", 2, Violation),
    fault("AQL-5.1-3_taken-after-twenty-minutes", 2, Violation),
    fault("AQL-5.3-3_taken-after-it-was-revoked", 3, Warning),
];

fn folder(protocol: &str, kind: &str) -> PathBuf {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/transcripts");
    traces.join(protocol).join(kind)
}

fn lint(text: &str, protocol: Option<Protocol>) -> Result<LintReport, NoTranscript> {
    let opened = Opened::new(Cursor::new(text.to_owned()), &How::default());
    let told = Protocol::of_transcript(opened.start());
    let protocol = protocol.or(told).expect("its greeting names it");
    judge_transcript(
        opened,
        protocol,
        "transcript.jsonl",
        false,
        &Selection::default(),
    )
}

fn read(protocol: &str, kind: &str, name: &str) -> String {
    let path = folder(protocol, kind).join(format!("{name}.jsonl"));
    fs::read_to_string(path).expect("a transcript and its twin")
}

fn places(findings: &[Finding]) -> Vec<(&str, u64)> {
    findings.iter().map(|it| (it.clause, it.line)).collect()
}

type Told<'a> = (Vec<(&'a str, u64)>, Vec<(&'a str, u64)>, Verdict);

fn told(report: &LintReport) -> Told<'_> {
    let [violations, warnings] = [&report.violations, &report.warnings].map(|it| places(it));
    (violations, warnings, report.verdict)
}

/// What a report says, for whoever reads why a test fails.
fn words(report: &LintReport) -> String {
    let findings = report.violations.iter().chain(&report.warnings);
    let findings = findings.map(|it| format!("{} on line {}: {}", it.clause, it.line, it.message));
    let all: Vec<_> = findings.collect();
    format!("{} ({:?})", report.verdict.word(), all)
}

fn assert_faults(protocol: &str, faults: &[Fault], rules: &[&Rule]) {
    let names = |kind| {
        let entries =
            fs::read_dir(folder(protocol, kind)).expect("the folder is part of the project");
        let names = entries.map(|it| {
            it.expect("readable")
                .file_name()
                .into_string()
                .expect("plain text")
        });
        names.collect::<BTreeSet<_>>()
    };
    let listed: BTreeSet<String> = faults
        .iter()
        .map(|(name, ..)| format!("{name}.jsonl"))
        .collect();
    assert_eq!(listed, names("invalid"));
    assert_eq!(listed, names("valid"));
    let (mut shown, mut wrong) = (BTreeSet::new(), Vec::new());
    for &(name, line, weight) in faults {
        let clause = name.split('_').next().expect("a clause");
        let [invalid, valid] = ["invalid", "valid"].map(|kind| read(protocol, kind, name));
        let report = lint(&invalid, None).expect("it is a transcript");
        let found = vec![(clause, line)];
        let expected = match weight {
            Violation => (found, vec![], Verdict::Violating),
            Warning => (vec![], found, Verdict::Conforming),
        };
        let twin = lint(&valid, None).expect("it is a transcript");
        if told(&report) != expected {
            wrong.push(format!("{name}: {}", words(&report)));
        }
        if told(&twin) != (vec![], vec![], Verdict::Conforming) {
            wrong.push(format!("the twin of {name}: {}", words(&twin)));
        }
        for finding in report.violations.iter().chain(&report.warnings) {
            note(finding.also.iter().copied().chain([finding.clause]));
            shown.insert(finding.clause);
        }
        let apart = invalid.lines().zip(valid.lines());
        let apart = apart.filter(|(one, other)| one != other).count();
        assert_eq!(apart, 1, "{name} differs from its twin in the fault alone");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let clauses: BTreeSet<&str> = rules.iter().map(|rule| rule.clause).collect();
    assert_eq!(
        shown, clauses,
        "each clause that is judged has a transcript that breaks it"
    );
}

/// PA-1, PA-2, PA-3, PA-4, PA-5, PA-6, PA-7, PA-8, PA-9, PA-10, PA-11.
#[test]
fn every_invalid_transcript_of_pending_actions_is_accused_of_exactly_its_fault_at_its_line() {
    assert_faults(
        "pending-action",
        PENDING_ACTION,
        &pending_action::rules::ALL,
    );
}

/// AQL-1.2-3, AQL-4.1-1, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-5.1-3, AQL-6.1-1 and each other clause that is judged.
#[test]
fn every_invalid_transcript_of_confirmation_tokens_is_accused_of_exactly_its_fault_at_its_line() {
    assert_faults("mcp-aql", MCP_AQL, &mcp_aql::rules::ALL);
}

/// AQL-4.1-4, AQL-4.1-6, AQL-5.1-3, AQL-5.3-3, AQL-6.4-1: entries of the log by themselves.
#[test]
fn every_invalid_log_is_accused_of_exactly_its_fault_at_its_line() {
    assert_faults("mcp-aql-entries", ENTRIES, &mcp_aql::entries::JUDGED);
}

/// What a form of recording says of a clause: it is judged, falls with another, or is not judged.
fn judged(clause: &str, rules: &[&Rule]) -> &'static str {
    let own = rules.iter().filter(|rule| rule.clause == clause);
    let is_violation = |rule: &&Rule| rule.weight == Violation;
    match (own.clone().any(is_violation), own.count()) {
        (true, _) => "violation",
        (false, 1..) => "warning",
        _ if rules.iter().any(|rule| rule.also.contains(&clause)) => "with another",
        _ => "–",
    }
}

/// The table of the document is that of the code.
#[test]
fn the_document_says_what_each_form_judges() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/TRANSCRIPTS.md");
    let document = fs::read_to_string(path).expect("the document");
    let rows = |protocol: &'static str| {
        let clauses = countersign_clauses::all().iter();
        let clauses = clauses.filter(move |clause| clause.protocol == protocol);
        clauses.map(|clause| clause.id.as_str())
    };
    let pending = rows("pending-action").map(|clause| {
        format!(
            "| {clause} | {} |\n",
            judged(clause, &pending_action::rules::ALL)
        )
    });
    let tokens = rows("mcp-aql").map(|clause| {
        let transcript = judged(clause, &mcp_aql::rules::ALL);
        format!(
            "| {clause} | {transcript} | {} |\n",
            judged(clause, &mcp_aql::entries::JUDGED)
        )
    });
    for table in [pending.collect::<String>(), tokens.collect()] {
        assert!(document.contains(&table), "the table has to read\n{table}");
    }
}

/// What no transcript shows is told, and so is what this one did not ask.
#[test]
fn what_a_transcript_cannot_show_is_not_judged() {
    let text = read(
        "pending-action",
        "valid",
        "PA-6_denial-not-in-the-transcript",
    );
    let report = lint(&text, None).expect("it is a transcript");
    let clauses: BTreeSet<&str> = report.not_judged.iter().map(|it| it.clause).collect();
    for clause in ["PA-11", "PA-12", "PA-13", "PA-14"] {
        assert!(clauses.contains(clause), "{clauses:?}");
    }
    assert!(
        !clauses.contains("PA-6") && !clauses.contains("PA-10"),
        "{clauses:?}"
    );
    // Where no message is shown, nobody is accused of having appended none.
    let shows = r#""append","event""#;
    assert!(text.contains(shows));
    let silent = text.replace(shows, r#""event""#);
    let without: Vec<String> = silent.lines().map(without_appends).collect();
    let report = lint(&without.join("\n"), None).expect("it is a transcript");
    assert_eq!(places(&report.warnings), []);
    assert_eq!(places(&report.violations), []);
}

fn without_appends(line: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(line).expect("JSON");
    if let Some(outputs) = value["outputs"].as_array_mut() {
        outputs.retain(|output| output.get("append").is_none());
    }
    value.to_string()
}

/// Requests may be written ahead, and arrows may tell who speaks.
#[test]
fn requests_written_ahead_and_arrows_change_nothing() {
    let text = read("pending-action", "invalid", "PA-5_denied-and-runs");
    let (mut requests, mut responses) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if line.contains("\"op\"") {
            requests.push(format!("→ {line}"));
        } else {
            responses.push(format!("← {line}"));
        }
    }
    let count = requests.len();
    let ahead = [requests, responses].concat().join("\n");
    let report = lint(&ahead, None).expect("it is a transcript");
    assert_eq!(places(&report.violations), [("PA-5", 2 * count as u64)]);
}

#[test]
fn what_is_no_transcript_is_told_by_its_line() {
    let damaged = |text: &str| lint(text, Some(Protocol::PendingAction));
    let error = damaged("{\"type\":\"aaep:agent.session.started\"}\n").expect_err("it is a stream");
    assert!(
        error
            .to_string()
            .starts_with("it is no transcript of pending-action: line 1: "),
        "{error}"
    );
    assert!(damaged("plain text").is_err());
    assert_eq!(
        damaged("").expect("nothing is wrong with nothing").verdict,
        Verdict::Inconclusive
    );
    let text = read("pending-action", "valid", "PA-5_denied-and-runs");
    let last = text.lines().count() as u64;
    for (more, why) in [
        ("{\"id\":99,\"outputs\":[]}\n", "no request"),
        ("{\"id\":99,\"op\":\"tick\"", "no JSON object"),
        ("{\"id\":99}", "neither a request"),
    ] {
        let report = damaged(&format!("{text}{more}")).expect("it begins like a transcript");
        let damage = report.damage.expect("it does not end like one");
        assert_eq!(damage.line, last + 1);
        assert!(damage.message.contains(why), "{}", damage.message);
        assert_eq!(report.verdict, Verdict::Inconclusive);
    }
    let other = text.replace("\"pending-action\"", "\"aaep\"");
    let error = damaged(&other).expect_err("it is of another protocol");
    assert!(error.to_string().contains("\"aaep\""), "{error}");
}
