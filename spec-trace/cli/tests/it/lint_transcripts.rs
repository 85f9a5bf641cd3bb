//! Lint of transcripts, against the references and the texts: whoever keeps the rules is not accused, and a rule that is left out is
//! found where a transcript shows it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::process::Command;
use std::rc::Rc;

use countersign_cli::serve::controls::Referred;
use countersign_conform::driven::{Run, Step, play};
use countersign_conform::implementation::{Greeted, Implementation, Lost};
use countersign_conform::spoken::{Producer, Spoken, Wire, ablated, judge};
use countersign_conform::suite::committed;
use countersign_lint::envelope::{How, Opened};
use countersign_lint::protocol::Protocol as Recorded;
use countersign_lint::report::LintReport;
use countersign_lint::selection::Selection;
use countersign_lint::transcript::judge_transcript;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_protocol::{Protocol, Request, Response};

/// So many runs, each of so many steps.
const RUNS: u64 = 150;
const STEPS: usize = 80;

/// An implementation of which everything is written down.
struct Recording<I> {
    implementation: I,
    lines: Rc<RefCell<Vec<String>>>,
}

impl<P: Protocol, I: Implementation<P>> Implementation<P> for Recording<I> {
    fn start(&mut self) -> Result<(), Lost> {
        self.implementation.start()
    }

    fn ask(&mut self, request: Request<P>) -> Result<Response<P>, Lost> {
        let asked = serde_json::to_string(&request).expect("plain data");
        let response = self.implementation.ask(request)?;
        let answered = serde_json::to_string(&response).expect("plain data");
        self.lines.borrow_mut().extend([asked, answered]);
        Ok(response)
    }
}

/// The transcript of a run of this party, and what lint says of it.
fn judged<P: Spoken>(
    party: impl Implementation<Wire<P>>,
    steps: &[Step<Wire<P>>],
) -> (String, LintReport) {
    let lines = Rc::default();
    let recording = Recording {
        implementation: party,
        lines: Rc::clone(&lines),
    };
    let mut greeted = Greeted::new(recording).expect("it greets");
    let judge = judge::<P>(greeted.greeting());
    play(&mut greeted, steps, &judge);
    let text = lines.borrow().join("\n");
    let opened = Opened::new(Cursor::new(text.clone()), &How::default());
    let protocol = Recorded::of_transcript(opened.start()).expect("its greeting names it");
    let report = judge_transcript(opened, protocol, "run", false, &Selection::default());
    (text, report.expect("it is a transcript"))
}

/// What a report accuses, violations and warnings.
fn accused(report: &LintReport) -> Vec<(&'static str, u64, &str)> {
    let findings = report.violations.iter().chain(&report.warnings);
    let findings = findings.map(|it| (it.clause, it.line, &*it.message));
    findings.collect()
}

fn assert_not_accused<P: Spoken>(
    what: &str,
    party: impl Implementation<Wire<P>>,
    steps: &[Step<Wire<P>>],
) -> u64 {
    let (text, report) = judged::<P>(party, steps);
    let accused = accused(&report);
    assert!(
        accused.is_empty() && report.damage.is_none(),
        "{what}: {accused:#?} {:?}\n{text}",
        report.damage
    );
    report.records
}

/// Nothing that the reference does is accused, be it in runs of chance or in those of the suite.
fn assert_reference_not_accused<P: Referred>(least: u64) {
    let mut records = 0;
    for seed in 0..RUNS {
        let run = Run::<P>::plain(seed, STEPS);
        let what = format!("seed {seed}");
        records += assert_not_accused::<P>(&what, P::reference(seed), &run.steps);
    }
    for short in committed::<P>().runs {
        let what = format!("{:?}", short.shows);
        records += assert_not_accused::<P>(&what, P::reference(1), &short.steps);
        let party = Producer::<P>::default();
        records += assert_not_accused::<P>(&what, party, &short.steps);
    }
    assert!(records > least, "{records}");
}

/// The rules that are seen in a transcript of those runs to be left out, each with the clauses that are named, and those that are not.
fn found<P: Spoken>() -> (
    BTreeMap<&'static str, BTreeSet<&'static str>>,
    Vec<&'static str>,
) {
    let (mut seen, mut unseen) = (BTreeMap::new(), Vec::new());
    let suite = committed::<P>();
    for rule in ablated::<P>() {
        let mut clauses = BTreeSet::new();
        for run in &suite.runs {
            let (_, report) = judged::<P>(Producer::<P>::without(rule), &run.steps);
            clauses.extend(accused(&report).iter().map(|it| it.0));
        }
        if clauses.is_empty() {
            unseen.push(rule.name);
        } else {
            seen.insert(rule.name, clauses);
        }
    }
    (seen, unseen)
}

/// PA-1, PA-2, PA-3, PA-5, PA-7, PA-8, PA-10: whoever keeps the rules is not accused.
#[test]
fn a_ledger_that_keeps_the_rules_is_never_accused() {
    assert_reference_not_accused::<PendingAction>(15_000);
}

/// All clauses show but these: what was asked is not in the record, so that neither does what was refused (PA-11, PA-12), nor how long a
/// label may be (PA-9).
#[test]
fn a_rule_of_pending_actions_that_is_left_out_shows_in_a_transcript() {
    let (seen, unseen) = found::<PendingAction>();
    assert_eq!(unseen, ["PA-9", "PA-11", "PA-12"], "{seen:#?}");
    assert_eq!(seen.len(), 9);
}

/// AQL-1.3-1, AQL-4.1-1, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-5.1-3, AQL-6.1-1: whoever keeps the rules is not accused.
#[test]
fn a_gatekeeper_that_keeps_the_rules_is_never_accused() {
    assert_reference_not_accused::<McpAql>(15_000);
}

/// Not found are the rules about a MAY or a SHOULD (limits, how long an expired token is known), those about what is left open (names of
/// parameters that are not listed, other purposes, what is revoked by what and whether that is logged), and those that show in the status of
/// a token alone, of which the text says nothing.
#[test]
fn a_rule_of_confirmation_tokens_that_is_left_out_shows_in_a_transcript() {
    let (seen, unseen) = found::<McpAql>();
    let known = [
        "AQL-3.1-2",
        "AQL-3.2-1",
        "AQL-5.1-3",
        "AQL-5.1-5",
        "AQL-5.1-8",
        "AQL-5.4-1",
        "AQL-5.4-2",
        "AQL-5.4-3",
        "AQL-5.5-3",
        "AQL-6.3-2",
        "AQL-6.3-3",
        "AQL-6.5-1",
        "AQL-7.1-2",
        "AQL-7.3-1",
    ];
    assert_eq!(unseen, known, "{seen:#?}");
    assert_eq!(seen.len(), 42);
}

/// The command, its status and what it writes.
fn command(arguments: &[&str]) -> (Option<i32>, String) {
    let transcripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/transcripts");
    let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .current_dir(transcripts)
        .arg("lint")
        .args(arguments)
        .output()
        .expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("it is text");
    (output.status.code(), text)
}

#[test]
fn the_command_tells_the_protocol_by_the_content_and_names_file_line_and_clause() {
    let wrong = "pending-action/invalid/PA-8_denied-then-allowed.jsonl";
    let right = "pending-action/valid/PA-8_denied-then-allowed.jsonl";
    let (status, text) = command(&[wrong]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains(&format!("{wrong}:10")) && text.contains("PA-8 (inferred) violated"),
        "{text}"
    );
    assert_eq!(command(&[right]).0, Some(0));
    assert_eq!(command(&[wrong, "--only", "PA-2"]).0, Some(0));
    // Nothing in it is about that.
    assert_eq!(command(&[wrong, "--only", "PA-7"]).0, Some(3));
    assert_eq!(command(&[wrong, "--only", "AAEP-6.1-1"]).0, Some(3));
    assert_eq!(
        command(&["mcp-aql/invalid", "--only", "AQL-6.1-1"]).0,
        Some(1)
    );
    let entries = "mcp-aql-entries/invalid/AQL-4.1-4_taken-for-another-operation.jsonl";
    assert_eq!(command(&[entries]).0, Some(1));
    for format in ["json", "sarif", "junit"] {
        let (status, text) = command(&[wrong, "--format", format]);
        assert!(status == Some(1) && text.contains("PA-8"), "{text}");
    }
}

#[test]
fn a_file_of_another_kind_is_status_2_and_says_why() {
    let stream = "../valid/AAEP-6.1-6_asked-again-while-open.jsonl";
    let (status, text) = command(&[stream, "--protocol", "pending-action"]);
    assert_eq!(status, Some(2));
    assert!(
        text.contains("no transcript of pending-action: line 1"),
        "{text}"
    );
    let transcript = "pending-action/valid/PA-8_denied-then-allowed.jsonl";
    assert_eq!(command(&[transcript, "--protocol", "mcp-aql"]).0, Some(2));
}

/// What belongs to streams is refused for transcripts, and a part that does not tell its protocol is told how to say it.
#[test]
fn what_does_not_fit_a_transcript_is_said() {
    let transcript = "pending-action/valid/PA-8_denied-then-allowed.jsonl";
    for (arguments, word) in [
        (&["--replies", "all"][..], "--replies is for streams"),
        (&["--assume", "unknown-senders"], "--assume is for streams"),
        (
            &["--replies-from", transcript],
            "--replies-from is for streams",
        ),
    ] {
        let (status, text) = command(&[&[transcript], arguments].concat());
        assert!(status == Some(2) && text.contains(word), "{text}");
    }
    for transcript in [
        transcript,
        "mcp-aql-entries/invalid/AQL-4.1-4_taken-for-another-operation.jsonl",
    ] {
        let (status, text) = command(&["--follow", transcript]);
        let is_told =
            text.contains("--follow judges streams of AAEP alone") && !text.contains("AAEP-EV-1");
        assert!(status == Some(2) && is_told, "{text}");
    }
    assert_eq!(command(&[transcript, "--session", "s1"]).0, Some(0));
    let (status, text) = command(&[transcript, "--session", "nope"]);
    assert!(status == Some(3) && text.contains("nope"), "{text}");
    let used = "mcp-aql/invalid/AQL-6.1-1_token-is-taken-twice.jsonl";
    assert_eq!(command(&[used, "--session", "nope"]).0, Some(3));
    let folder = tempfile::tempdir().expect("a folder");
    let part = folder.path().join("part.jsonl");
    let whole = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/transcripts/");
    let whole = std::fs::read_to_string(format!("{whole}{transcript}")).expect("a transcript");
    let lines: Vec<&str> = whole.lines().skip(2).take(2).collect();
    std::fs::write(&part, lines.join("\n")).expect("a file");
    let part = part.to_str().expect("a plain path");
    let (status, text) = command(&[part]);
    assert!(status == Some(2) && text.contains("--protocol"), "{text}");
    assert_eq!(command(&[part, "--protocol", "pending-action"]).0, Some(3));
}

/// AQL-1.3-1: a call that is answered and cannot be read is not passed over in silence.
#[test]
fn a_call_that_cannot_be_read_leaves_the_verdict_open() {
    let name = "mcp-aql/valid/AQL-6.1-1_token-is-taken-twice.jsonl";
    assert_eq!(command(&[name]).0, Some(0));
    let whole = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/transcripts/");
    let whole = std::fs::read_to_string(format!("{whole}{name}")).expect("a transcript");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.jsonl");
    let text = whole.replace("\"danger_level\":\"destructive\"", "\"danger_level\":{}");
    std::fs::write(&file, text).expect("a file");
    let (status, text) = command(&[file.to_str().expect("a plain path")]);
    assert!(
        status == Some(3) && text.contains("answers a call without"),
        "{text}"
    );
}

/// What is given as something else than it is, is told how to be read.
#[test]
fn a_transcript_that_is_given_as_something_else_is_named() {
    let transcript = "pending-action/valid/PA-8_denied-then-allowed.jsonl";
    let whole = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/transcripts/");
    let whole = std::fs::read_to_string(format!("{whole}{transcript}")).expect("a transcript");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("container.log");
    let lines = whole.lines().map(|line| {
        let line = serde_json::json!({"log": format!("{line}\n"), "stream": "stdout", "time": "2026-05-24T14:22:20Z"});
        format!("{line}\n")
    });
    std::fs::write(&file, lines.collect::<String>()).expect("a file");
    let file = file.to_str().expect("a plain path");
    for arguments in [&[file][..], &[file, "--protocol", "pending-action"]] {
        let (status, text) = command(arguments);
        assert!(status == Some(0) && text.contains("conforming"), "{text}");
    }
    let (status, text) = command(&["--follow", file]);
    assert!(
        status == Some(2) && text.contains("a recording of pending-action"),
        "{text}"
    );
    // In an envelope of another kind it is told where the messages stand, and then read.
    let other = folder.path().join("other.jsonl");
    let lines = whole.lines().map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
        format!("{}\n", serde_json::json!({"n": 1, "payload": message}))
    });
    std::fs::write(&other, lines.collect::<String>()).expect("a file");
    let other = other.to_str().expect("a plain path");
    let (status, text) = command(&[other]);
    assert!(
        status == Some(2) && text.contains("say --message /payload"),
        "{text}"
    );
    assert_eq!(command(&[other, "--message", "/payload"]).0, Some(0));
}
