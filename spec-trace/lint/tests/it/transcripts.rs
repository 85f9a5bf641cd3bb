//! Lint against transcripts of the driver protocol that are known to be right or wrong.
//!
//! Each file of `traces/transcripts/<protocol>/invalid` holds one fault and has to be accused of exactly that, at its line; its twin in
//! `valid` has to come out clean and differs in one response alone.

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use countersign_lint::envelope::{self, How, Opened};
use countersign_lint::finding::Finding;
use countersign_lint::protocol::Protocol;
use countersign_lint::report::{LintReport, NotJudged, Verdict};
use countersign_lint::rules::Rule;
use countersign_lint::rules::Weight::{self, Violation, Warning};
use countersign_lint::selection::Selection;
use countersign_lint::transcript::{NoTranscript, judge_transcript};
use countersign_lint::{mcp_aql, pending_action};
use serde_json::json;

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
    fault("PA-1_runs-undecided-with-its-call", 8, Violation),
    fault("PA-2_stranger-decides", 8, Warning),
    fault("PA-2_decision-with-another-nonce", 8, Warning),
    fault(
        "PA-2_one-counts-at-the-very-moment-and-one-expires",
        12,
        Warning,
    ),
    fault(
        "PA-2_nobody-is-named-and-one-counts-at-the-very-moment",
        12,
        Warning,
    ),
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
    fault("PA-5_denied-and-runs-with-its-call", 8, Violation),
    fault("PA-5_denied-and-nothing-comes-of-it", 8, Violation),
    fault("PA-5_denial-that-allows", 8, Violation),
    fault("PA-5_taken-back-and-nothing-comes-of-it", 8, Violation),
    fault("PA-5_taken-back-and-runs", 10, Violation),
    fault("PA-5_taken-back-and-runs-with-its-call", 10, Violation),
    fault(
        "PA-5_taken-back-while-it-runs-and-runs-again",
        12,
        Violation,
    ),
    fault("PA-5_session-ends-and-the-question-pends-on", 8, Violation),
    fault("PA-5_proposed-in-a-session-that-has-ended", 8, Violation),
    fault("PA-6_denial-not-in-the-transcript", 8, Warning),
    fault("PA-7_expired-and-runs", 10, Violation),
    fault("PA-7_expired-and-runs-with-its-call", 10, Violation),
    fault("PA-7_allowed-a-moment-too-late", 8, Violation),
    fault("PA-7_allowed-though-told-to-have-expired", 10, Violation),
    fault("PA-8_allowed-again-and-runs-again", 10, Violation),
    fault("PA-8_denied-then-allowed", 10, Violation),
    fault("PA-8_runs-again-with-its-call", 10, Violation),
    fault("PA-8_runs-again-behind-a-restart", 10, Violation),
    fault("PA-9_label-shows-the-id", 6, Warning),
    fault("PA-9_message-shows-the-arguments", 6, Warning),
    fault("PA-9_label-of-400-characters", 6, Warning),
    fault("PA-10_event-of-another-time", 6, Violation),
    fault("PA-10_confirmation-of-nothing", 8, Violation),
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
    fault("AQL-4.1-1_another-token-was-revoked", 10, Violation),
    fault("AQL-5.1-3_expired-token-is-taken", 8, Violation),
    fault(
        "AQL-5.1-3_token-is-taken-past-both-tolerances",
        12,
        Violation,
    ),
    fault("AQL-5.1-7_good-token-has-expired", 8, Violation),
    fault("AQL-5.1-7_taken-later-than-one-has-expired", 12, Violation),
    fault("AQL-6.1-1_token-is-taken-twice", 10, Violation),
    fault(
        "AQL-6.1-1_token-is-taken-twice-where-none-is-needed",
        10,
        Violation,
    ),
    fault("AQL-6.1-1_token-is-taken-behind-a-restart", 12, Violation),
    fault("AQL-4.1-3_good-token-was-used", 8, Violation),
    fault(
        "AQL-4.1-4_token-of-another-operation-is-taken",
        8,
        Violation,
    ),
    fault("AQL-4.1-5_token-of-other-parameters-is-taken", 8, Violation),
    fault("AQL-4.1-5_order-of-members-is-no-other-call", 8, Violation),
    fault("AQL-4.1-5_list-that-names-none-binds-all", 10, Violation),
    fault("AQL-4.1-6_token-of-another-adapter-is-taken", 8, Violation),
    fault("AQL-5.4-1_token-of-another-session-is-taken", 8, Warning),
    fault(
        "AQL-5.4-2_token-of-an-ended-session-is-taken",
        10,
        Violation,
    ),
    fault("AQL-5.3-3_token-that-was-given-back-is-taken", 10, Warning),
    fault("AQL-5.3-3_token-that-the-log-revoked-is-taken", 10, Warning),
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
    fault("AQL-3.1-1_few-kinds-of-characters", 6, Violation),
    fault("AQL-3.1-1_tokens-are-counted-up", 8, Violation),
    fault("AQL-3.3-1_success-is-true", 6, Violation),
    fault("AQL-3.3-1_another-code", 6, Violation),
    fault("AQL-3.3-1_no-reasons", 6, Violation),
    fault("AQL-3.3-1_another-operation", 6, Violation),
    fault("AQL-3.3-1_danger-level-is-a-number", 6, Violation),
    fault("AQL-4.2-1_failure-without-message", 10, Violation),
    fault(
        "AQL-4.2-1_good-token-is-answered-with-nothing",
        8,
        Violation,
    ),
    fault("AQL-7.1-2_used-token-has-expired", 10, Violation),
    fault("AQL-7.1-2_code-of-its-own", 10, Violation),
    fault(
        "AQL-7.1-2_invalid-where-codes-are-configured",
        10,
        Violation,
    ),
    fault("AQL-6.3-1_failure-tells-a-parameter", 10, Warning),
    fault("AQL-6.3-1_failure-tells-what-the-token-is-for", 8, Warning),
    fault("AQL-5.1-1_expired-at-issue", 6, Violation),
    fault("AQL-5.1-1_token-lives-sixteen-minutes", 6, Violation),
    fault(
        "AQL-5.1-1_token-for-what-is-reversible-lives-sixteen-minutes",
        6,
        Violation,
    ),
    fault("AQL-5.1-1_token-lives-longer-than-asked", 6, Violation),
    fault("AQL-6.4-1_entry-without-outcome", 6, Violation),
    fault("AQL-6.4-1_entry-of-another-operation", 8, Violation),
    fault("AQL-6.4-1_entry-of-another-adapter", 8, Violation),
    fault("AQL-6.4-1_entry-of-another-token", 8, Violation),
    fault("AQL-6.4-1_two-tokens-of-one-name", 8, Violation),
    fault("AQL-6.4-1_entry-of-another-time", 8, Violation),
    fault("AQL-6.4-1_entry-of-another-outcome", 8, Violation),
    fault("AQL-6.4-1_given-back-and-not-logged", 8, Violation),
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
    fault(
        "AQL-5.1-3_taken-later-than-whole-seconds-allow",
        2,
        Violation,
    ),
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

/// AQL-2.1-1, AQL-4.1-3, AQL-5.3-2, AQL-7.1-2, PA-1, PA-7: what the text leaves free is no fault, though it may look like one.
#[test]
fn what_the_text_leaves_free_is_right() {
    let free = [
        ("mcp-aql", "AQL-2.1-1_reversible-operation-is-confirmed"),
        ("mcp-aql", "AQL-4.1-3_used-where-none-was-needed"),
        (
            "mcp-aql",
            "AQL-5.3-2_revoked-as-another-adapter-is-configured",
        ),
        (
            "mcp-aql",
            "AQL-5.3-2_revoked-by-the-call-that-is-turned-away",
        ),
        ("mcp-aql", "AQL-7.1-2_revoked-told-by-a-code-of-its-own"),
        ("pending-action", "PA-1_read-runs-as-it-is-proposed"),
        ("pending-action", "PA-7_denied-too-late"),
    ];
    for (protocol, name) in free {
        let report = lint(&read(protocol, "free", name), None).expect("it is a transcript");
        assert_eq!(
            told(&report),
            (vec![], vec![], Verdict::Conforming),
            "{name}: {}",
            words(&report)
        );
    }
}

/// PA-1: a call that does more than read is asked about.
#[test]
fn what_does_more_than_read_is_not_released_as_it_is_proposed() {
    let text = read("pending-action", "free", "PA-1_read-runs-as-it-is-proposed");
    for effect in ["write", "destructive", "external"] {
        let other = text.replace(r#""read""#, &format!("{effect:?}"));
        let report = lint(&other, None).expect("it is a transcript");
        assert_eq!(places(&report.violations)[0], ("PA-1", 6), "{effect}");
    }
}

/// AQL-6.4-1: an entry whose event and outcome do not go together leaves open what was done.
#[test]
fn an_entry_that_contradicts_itself_leaves_the_verdict_open() {
    let name = "AQL-5.1-3_taken-later-than-whole-seconds-allow";
    let text = read("mcp-aql-entries", "valid", name);
    let (first, second) = text.trim_end().split_once('\n').expect("two entries");
    let failed = |entry: &str| entry.replace("success", "failure");
    let rejected = |entry: &str| entry.replace("VALIDATED", "REJECTED");
    let issued = |entry: &str| entry.replace("VALIDATED", "ISSUED");
    for (entries, is_open) in [
        ([first.to_owned(), second.to_owned()], false),
        ([first.to_owned(), failed(&rejected(second))], false),
        ([first.to_owned(), rejected(second)], true),
        ([first.to_owned(), failed(second)], true),
        ([failed(first), second.to_owned()], true),
        ([failed(first), first.to_owned()], false),
        // A time that is not read is no time that another entry has.
        (
            [
                first.to_owned(),
                second.replace("2026-05-24T14:42:20.999Z", "2 pm"),
            ],
            false,
        ),
        // One use that is told twice, or two.
        ([second.to_owned(), second.to_owned()], true),
        (
            [second.to_owned(), second.replace("42:20.999", "42:21")],
            false,
        ),
        // A name may be given again once its token cannot be good any more.
        ([first.to_owned(), issued(second)], true),
        (
            [
                first.to_owned(),
                issued(&second.replace("42:20.999", "42:21")),
            ],
            false,
        ),
    ] {
        let text = entries.join("\n");
        let report = lint(&text, Some(Protocol::McpAql)).expect("it is a log");
        let expected = if is_open {
            Verdict::Inconclusive
        } else {
            Verdict::Conforming
        };
        let mut open = report.not_judged.iter().filter(|it| it.owed);
        let is_told =
            open.any(|it| it.clause == "AQL-6.4-1" && it.reason.contains("entry on line 2"));
        assert_eq!(is_told, is_open, "{text}");
        if is_open {
            assert_eq!(report.verdict, expected, "{text}");
        }
        assert_eq!(places(&report.violations), [], "{text}");
    }
}

/// AQL-4.1-4, AQL-4.1-6, AQL-5.1-3, AQL-5.3-3: a log may stand with the newest entry first, or with lines that have changed places.
#[test]
fn entries_are_judged_in_the_order_of_their_times() {
    let judged = |lines: &[&str]| lint(&lines.join("\n"), Some(Protocol::McpAql)).expect("a log");
    for &(name, line, weight) in ENTRIES {
        let clause = name.split('_').next().expect("a clause");
        for kind in ["invalid", "valid"] {
            let text = read("mcp-aql-entries", kind, name);
            let mut lines: Vec<&str> = text.lines().collect();
            lines.reverse();
            let last = lines.len() as u64 + 1;
            let report = judged(&lines);
            let found = if kind == "invalid" {
                vec![(clause, last - line)]
            } else {
                vec![]
            };
            let expected = match weight {
                Violation if kind == "invalid" => (found, vec![], Verdict::Violating),
                Violation | Warning => (vec![], found, Verdict::Conforming),
            };
            assert_eq!(told(&report), expected, "{kind} {name}: {}", words(&report));
        }
    }
    let name = "AQL-4.1-4_taken-for-another-operation";
    let text = read("mcp-aql-entries", "invalid", name);
    let (issued, taken) = text.trim_end().split_once('\n').expect("two entries");
    let other = |line: &str, second: &str| {
        line.replace("digest_1", "digest_2")
            .replace("delete_repo", "empty_repo")
            .replacen("20.000Z", second, 1)
    };
    let (before, behind) = (other(issued, "10.000Z"), other(taken, "59.000Z"));
    // Two lines of an ascending log have changed places.
    let report = judged(&[&before, taken, issued, &behind]);
    assert_eq!(places(&report.violations), [("AQL-4.1-4", 2)]);
    // What was issued later is another token of that name; what is of one second, or has no offset, has no order.
    let later = issued.replace("14:22:20.000Z", "14:23:20.002Z");
    let same = |line: &str| line.replace("14:22:20.000Z", "14:23:20.000Z");
    let zoneless = |line: &str| line.replace(".000Z", ".000");
    let (issued_so, taken_so) = (zoneless(issued), zoneless(taken));
    let right = read("mcp-aql-entries", "valid", name).replace(".000Z", ".000");
    let right: Vec<&str> = right.lines().collect();
    for (lines, clause) in [
        (vec![taken, &*later], None),
        (vec![taken, &*same(issued)], Some("AQL-4.1-4")),
        (right, Some("AQL-5.1-3")),
        (vec![&*before, &*later, taken, &*behind], Some("AQL-4.1-4")),
    ] {
        let report = judged(&lines);
        let open = report
            .not_judged
            .iter()
            .filter(|it| it.owed)
            .map(|it| it.clause);
        assert_eq!(
            open.collect::<Vec<_>>(),
            clause.into_iter().collect::<Vec<_>>(),
            "{lines:?}"
        );
        assert_eq!(places(&report.violations), [], "{lines:?}");
    }
    let report = judged(&[&taken_so, &issued_so]);
    assert_eq!(places(&report.violations), [("AQL-4.1-4", 1)]);
}

/// What to do about other lines of a log is said.
#[test]
fn a_log_with_other_lines_in_it_says_what_to_do() {
    let text = read(
        "mcp-aql-entries",
        "valid",
        "AQL-4.1-4_taken-for-another-operation",
    );
    let advice = "grep '\"TOKEN_'";
    for other in ["listening on 3000", "{\"level\":30}"] {
        let report = lint(&format!("{text}{other}\n"), Some(Protocol::McpAql)).expect("a log");
        let damage = report.damage.expect("it ends there");
        assert!(
            damage.line == 3 && damage.message.ends_with(advice),
            "{}",
            damage.message
        );
        let why = lint(&format!("{other}\n{text}"), Some(Protocol::McpAql)).expect_err("no log");
        assert!(why.to_string().ends_with(advice), "{why}");
        // A transcript has none.
        let transcript = read("mcp-aql", "valid", "AQL-6.1-1_token-is-taken-twice");
        let report = lint(&format!("{transcript}{other}\n"), None).expect("a transcript");
        let damage = report.damage.expect("it ends there");
        assert!(!damage.message.contains("grep"), "{}", damage.message);
    }
}

/// The reasons that leave the verdict of this transcript open; nobody is accused.
fn open(text: &str) -> Vec<String> {
    let report = lint(text, None).expect("it is a transcript");
    let found = (places(&report.violations), places(&report.warnings));
    assert_eq!(found, (vec![], vec![]), "{}", words(&report));
    let open = report.not_judged.into_iter().filter(|it| it.owed);
    open.map(|it| it.reason).collect()
}

/// AQL-1.2-2, AQL-6.4-1: a time may be written in each form of ISO 8601. One without an offset is no fault, and leaves open what rests
/// on it.
#[test]
fn times_may_be_written_in_each_form_of_iso_8601() {
    let written = |text: &str, at: &str, as_this: &str| {
        let of = |member: &str| {
            (
                format!("\"{member}\":\"{at}\""),
                format!("\"{member}\":{as_this}"),
            )
        };
        let [(one, other), (third, fourth)] = ["timestamp", "expires_at"].map(of);
        text.replacen(&one, &other, 1).replace(&third, &fourth)
    };
    let text = read("mcp-aql", "valid", "AQL-6.1-1_token-is-taken-twice");
    let (issued, ends) = ("2026-05-24T14:22:20.000Z", "2026-05-24T14:27:20Z");
    for at in [issued, ends] {
        assert!(text.contains(&format!("\":\"{at}\"")), "{text}");
    }
    for (at, rest) in [(issued, "142220"), (ends, "142720")] {
        let (hours, seconds) = (&rest[..4], &rest[4..]);
        for form in [
            format!("20260524T{rest}Z"),
            format!("2026-05-24 14:{}:{seconds}+0000", &hours[2..]),
            format!("2026-05-24T16:{}:{seconds},000+02", &hours[2..]),
            format!("2026-05-24T14:{}Z", &hours[2..]),
        ] {
            let text = written(&text, at, &format!("\"{form}\""));
            assert_eq!(open(&text), <[String; 0]>::default(), "{form}");
        }
        for form in [
            "2026-05-24T14:22:20.123456",
            "Sun, 24 May 2026 14:22:20 GMT",
            "1779632540",
        ] {
            let open = open(&written(&text, at, &format!("\"{form}\"")));
            assert!(
                open.len() == 1 && open[0].contains(&format!("is {form:?} (1 such)")),
                "{form} {open:?}"
            );
        }
        for (form, said) in [
            ("1779632540", "is 1779632540, and"),
            ("null", "is null, and"),
            ("\"soon\"", "is \"soon\", and"),
        ] {
            let report = lint(&written(&text, at, form), None).expect("it is a transcript");
            let clause = if at == issued {
                "AQL-6.4-1"
            } else {
                "AQL-1.2-2"
            };
            assert_eq!(
                places(&report.violations),
                [(clause, 6)],
                "{form} {}",
                words(&report)
            );
            assert!(
                report.violations[0].message.contains(said),
                "{}",
                words(&report)
            );
        }
    }
    // A token that lives too long does so in each form, and an entry of another time is one.
    let late = lint(&written(&text, ends, "\"20260524T143720,001Z\""), None).expect("a transcript");
    assert_eq!(places(&late.violations), [("AQL-5.1-1", 6)]);
    let other = lint(&written(&text, issued, "\"20260524T142222Z\""), None).expect("a transcript");
    assert_eq!(places(&other.violations), [("AQL-6.4-1", 6)]);
}

/// AQL-6.4-1: the entries of one use may tell of two steps of it, or twice of one.
#[test]
fn two_entries_of_one_use_leave_the_verdict_open() {
    let text = read("mcp-aql", "valid", "AQL-6.1-1_token-is-taken-twice");
    assert_eq!(open(&text), <[String; 0]>::default());
    for event in ["TOKEN_ISSUED", "TOKEN_VALIDATED"] {
        let line = text
            .lines()
            .find(|line| line.contains(event))
            .expect("it is told");
        let (_, behind) = line.split_once("[{").expect("outputs");
        let (entry, _) = behind.split_once("},{").expect("an entry and more");
        let twice = text.replace(&format!("{{{entry}}}"), &format!("{{{entry}}},{{{entry}}}"));
        let open = open(&twice);
        let is_told = |it: &String| it.contains(&format!("more entries {event} than"));
        assert!(open.len() == 1 && open.iter().all(is_told), "{open:?}");
    }
}

/// AQL-4.1-1: what came of a call that nobody can read was issued, and for what it is good is left open; a token that came with one
/// may be used up. So it is behind a request whose op is none.
#[test]
fn a_token_of_a_call_that_cannot_be_read_was_issued() {
    let text = read("mcp-aql", "valid", "AQL-6.1-1_token-is-taken-twice");
    let level = ",\"danger_level\":\"destructive\"";
    for (part, by, said) in [
        (level, "", "answers a call without"),
        (
            level,
            ",\"danger_level\":\"grave\"",
            "answers a call without",
        ),
        (
            "\"operation\":\"delete_repo\",",
            "",
            "answers a call without",
        ),
        (
            "\"op\":\"call\"",
            "\"op\":\"ask\"",
            "whose `op` \"ask\" is none of mcp-aql",
        ),
    ] {
        for at in [4, 6] {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            assert_eq!(lines[at].matches(part).count(), 1);
            lines[at] = lines[at].replace(part, by);
            let open = open(&lines.join("\n"));
            let is_told = |it: &String| it.contains(said) && it.contains(&format!("{}", at + 2));
            assert!(open.len() == 1 && open.iter().all(is_told), "{open:?}");
        }
    }
    let unread = text.replacen(level, "", 1);
    let (issue, use_) = unread.split_at(unread.find("{\"id\":4,").expect("a use"));
    let other = format!("{issue}{}", use_.replace("conf_0123", "conf_3210"));
    let report = lint(&other, None).expect("it is a transcript");
    assert_eq!(places(&report.violations)[0], ("AQL-4.1-1", 8));
    // Where no issue is shown, none is missed.
    let hidden = text.replacen(",\"respond\"", "", 1);
    let lines = hidden.lines().enumerate();
    let lines = lines.filter(|(at, _)| ![4, 5].contains(at));
    let hidden: Vec<_> = lines.map(|(_, line)| line).collect();
    open(&hidden.join("\n"));
}

/// AQL-4.1-1, AQL-4.1-4: what was asked in words that nobody knows may have ended a token, where something came of it; and what a call that
/// cannot be read is answered with counts as issued anew.
#[test]
fn what_cannot_be_read_may_have_changed_what_a_token_is_good_for() {
    let text = read("mcp-aql", "invalid", "AQL-4.1-1_good-token-is-unknown");
    let lines: Vec<&str> = text.lines().collect();
    let with = |op: &str, outputs: &str| {
        let asked = format!("{{\"id\":9,\"op\":{op:?},\"now\":\"2026-05-24T14:22:20.000Z\"}}");
        let answered = format!("{{\"id\":9,\"outputs\":[{outputs}]}}");
        let (before, behind) = lines.split_at(6);
        [before, &[&asked, &answered], behind].concat().join("\n")
    };
    let done = "{\"respond\":{\"success\":true}}";
    assert_eq!(open(&with("purge", done)).len(), 1);
    for (op, outputs) in [("purge", ""), ("tick", done)] {
        let report = lint(&with(op, outputs), None).expect("it is a transcript");
        assert_eq!(places(&report.violations), [("AQL-4.1-1", 10)], "{op}");
        assert!(report.not_judged.iter().all(|it| !it.owed));
    }
    let text = read("mcp-aql", "valid", "AQL-6.1-1_token-is-taken-twice");
    let lines: Vec<&str> = text.lines().collect();
    let other = |line: &str| line.replace("delete_repo", "drop_repo");
    let level = ",\"danger_level\":\"destructive\"";
    let unread = [other(&lines[4].replace(level, "")), other(lines[5])];
    let uses = lines[6..].iter().map(|line| other(line));
    let issued = lines[..6].iter().map(|line| (*line).to_owned());
    let again: Vec<_> = issued.clone().chain(unread).chain(uses.clone()).collect();
    assert_eq!(open(&again.join("\n")).len(), 1);
    let without: Vec<_> = issued.chain(uses).collect();
    let report = lint(&without.join("\n"), None).expect("it is a transcript");
    assert_eq!(places(&report.violations)[0], ("AQL-4.1-4", 8));
}

/// PA-1, PA-5: a decision that cannot be read is neither an approval nor a denial: what becomes of the action is left open.
#[test]
fn a_decision_that_cannot_be_read_leaves_open_what_follows() {
    let decision = "\"decision\":\"deny\"";
    for name in ["PA-5_denial-that-allows", "PA-5_denied-and-runs"] {
        let text = read("pending-action", "invalid", name);
        let lines: Vec<&str> = text.lines().collect();
        let report = lint(&text, None).expect("it is a transcript");
        assert_eq!(places(&report.violations), [("PA-5", 8)]);
        for (part, by) in [
            (decision, "\"decision\":\"approve\""),
            (decision, "\"decision\":true"),
            (",\"by\":\"ana\"", ""),
            ("\"action_id\":\"pa_one\"", "\"action_id\":1"),
            ("\"op\":\"decide\"", "\"op\":\"decided\""),
        ] {
            assert_eq!(lines[6].matches(part).count(), 1);
            let open = open(&text.replace(lines[6], &lines[6].replace(part, by)));
            let is_told =
                |it: &String| it.contains("line 8 answers a ") && it.ends_with("(1 such)");
            assert!(open.len() == 1 && open.iter().all(is_told), "{open:?}");
        }
    }
    // It is about the action that it names, and those that its answer names; what is refused changes nothing.
    let text = read("pending-action", "invalid", "PA-5_denied-and-runs");
    let lines: Vec<&str> = text.lines().collect();
    let now = "\"now\":\"2026-05-24T14:22:20.000Z\"";
    for (asked, outputs, is_open) in [
        ("\"decide\",\"action_id\":\"pa_one\"", "", true),
        ("\"decide\",\"action_id\":\"pa_two\"", "", false),
        (
            "\"decide\"",
            "{\"append\":{\"tool_call_id\":\"pa_one\"}}",
            true,
        ),
        (
            "\"release\"",
            "{\"append\":{\"tool_call_id\":\"pa_one\"}}",
            true,
        ),
        (
            "\"release\"",
            "{\"event\":{\"action_id\":\"pa_one\"}}",
            true,
        ),
        (
            "\"release\"",
            "{\"event\":{\"action_id\":\"pa_two\"}}",
            false,
        ),
        ("\"release\",\"action_id\":\"pa_one\"", "", false),
        (
            "\"decide\",\"action_id\":\"pa_one\"",
            "{\"refused\":{\"clause\":\"PA-2\"}}",
            false,
        ),
        (
            "\"decide\",\"action_id\":\"pa_one\",\"decision\":\"approve\",\"by\":\"ana\"",
            "{\"refused\":{\"clause\":\"PA-2\"}}",
            false,
        ),
    ] {
        let asked = format!("{{\"id\":9,\"op\":{asked},{now}}}");
        let answered = format!("{{\"id\":9,\"outputs\":[{outputs}]}}");
        let (before, behind) = lines.split_at(6);
        let text = [before, &[&asked, &answered], behind].concat().join("\n");
        if is_open {
            assert_eq!(open(&text).len(), 1, "{asked}");
        } else {
            let report = lint(&text, None).expect("it is a transcript");
            assert_eq!(
                places(&report.violations),
                [("PA-5", 10)],
                "{asked} {outputs}"
            );
        }
    }
    // What was denied may have been allowed by it, and that is said once.
    let text = read("pending-action", "valid", "PA-5_denied-and-runs");
    let asked = format!("{{\"id\":9,\"op\":\"decide\",\"action_id\":\"pa_one\",{now}}}");
    let runs = "{\"perform\":{\"action_id\":\"pa_one\",\"tool\":\"delete-paddocks\"}}";
    let later = [
        &asked,
        "{\"id\":9,\"outputs\":[]}",
        &format!("{{\"id\":10,\"op\":\"tick\",{now}}}"),
        &format!("{{\"id\":10,\"outputs\":[{runs}]}}"),
    ];
    assert_eq!(open(&format!("{text}{}", later.join("\n"))).len(), 1);
    // What was told in such an answer is told again behind a restart, and what nobody asks about stays as it was.
    let text = read(
        "pending-action",
        "invalid",
        "PA-8_runs-again-behind-a-restart",
    );
    let unread = text.replacen("\"decision\":\"allow\"", "\"decision\":\"yes\"", 1);
    assert_eq!(open(&unread).len(), 1);
}

/// PA-2: names that cannot be read leave open who may decide; a list without names is none.
#[test]
fn deciders_that_cannot_be_read_are_named() {
    let text = read("pending-action", "valid", "PA-5_denied-and-runs");
    let named = "\"deciders\":[\"ana\"]";
    assert_eq!(text.matches(named).count(), 2);
    for (written, is_open) in [
        ("\"ana\"", true),
        ("[1]", true),
        ("{}", true),
        ("[]", false),
        ("null", false),
    ] {
        let open = open(&text.replace(named, &format!("\"deciders\":{written}")));
        let said = format!("line 6 is {written}, and a list of names is expected (1 such)");
        let is_told = open.iter().any(|it| it.contains(&said));
        assert_eq!(
            (is_told, open.len()),
            (is_open, usize::from(is_open)),
            "{open:?}"
        );
    }
    // Who decides may be named in it, and may be the agent.
    let by = text
        .replace(named, "\"deciders\":\"agent-1\"")
        .replace("\"ana\"", "\"agent-1\"");
    assert_eq!(open(&by).len(), 1);
    // What cannot be read is held against no question of which nobody is named.
    let name = "PA-2_nobody-is-named-and-one-counts-and-one-does-not";
    let two = read("pending-action", "invalid", name);
    let unread = "\"label\":\"Yes, delete\",\"deciders\":\"ana\"";
    let unread = two.replacen("\"label\":\"Yes, delete\"", unread, 1);
    assert_eq!(open(&unread).len(), 1);
    // No names, and a list without any, are the same.
    let absent = text
        .replacen(named, "\"deciders\":[]", 1)
        .replace(&format!(",{named}"), "");
    assert_eq!(open(&absent), <[String; 0]>::default());
}

/// What a greeting declares to be shown is not taken for all kinds where it cannot be read.
#[test]
fn kinds_of_output_that_cannot_be_read_are_named() {
    let invalid = read("mcp-aql", "invalid", "AQL-6.4-1_issued-and-not-logged");
    let shows = "\"shows\":[\"perform\",\"respond\",\"audit\",\"refused\"]";
    assert_eq!(invalid.matches(shows).count(), 1);
    for written in ["\"perform\"", "[1]", "{}", "7"] {
        let open = open(&invalid.replace(shows, &format!("\"shows\":{written}")));
        let said = format!("greeting on line 2 is {written}, and a list of kinds");
        assert!(open.iter().any(|it| it.contains(&said)), "{open:?}");
    }
    let other = invalid.replace("\"audit\",\"refused\"]", "\"audits\",\"refused\"]");
    let report = lint(&other, None).expect("it is a transcript");
    let said = "has \"audits\", which is no kind of output";
    let is_told = report
        .not_judged
        .iter()
        .any(|it| it.reason.contains(said) && !it.owed);
    assert!(
        is_told && report.verdict == Verdict::Conforming,
        "{}",
        words(&report)
    );
    let absent = invalid.replace(&format!(",{shows}"), "");
    let report = lint(&absent, None).expect("it is a transcript");
    assert_eq!(places(&report.violations), [("AQL-6.4-1", 6)]);
}

/// What puts a line within an envelope.
type Around<'a> = &'a dyn Fn(&str) -> String;

/// Messages within an envelope are judged, and the protocol is told by them.
#[test]
fn a_transcript_within_an_envelope_is_judged() {
    let docker = |line: &str| {
        json!({"log": format!("{line}\n"), "stream": "stdout", "time": "2026-05-24T14:22:20Z"})
            .to_string()
    };
    let cri = |line: &str| format!("2026-05-24T14:22:20.000000000Z stdout F {line}");
    let event = |line: &str| {
        let data: serde_json::Value = serde_json::from_str(line).expect("JSON");
        json!({"specversion": "1.0", "id": "1", "source": "/a", "type": "line", "data": data})
            .to_string()
    };
    let sse = |line: &str| format!("data: {line}\n");
    let pretty = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        format!("{value:#}")
    };
    let around: [(&str, Around<'_>); 5] = [
        ("docker", &docker),
        ("cri", &cri),
        ("cloudevents", &event),
        ("sse", &sse),
        ("pretty", &pretty),
    ];
    for (protocol, name, clause) in [
        ("pending-action", "PA-5_denied-and-runs", "PA-5"),
        ("mcp-aql", "AQL-6.1-1_token-is-taken-twice", "AQL-6.1-1"),
        (
            "mcp-aql-entries",
            "AQL-4.1-4_taken-for-another-operation",
            "AQL-4.1-4",
        ),
    ] {
        let text = read(protocol, "invalid", name);
        for (what, around) in around {
            let wrapped: Vec<String> = text.lines().map(around).collect();
            let wrapped = wrapped.join("\n");
            let told = envelope::protocol(wrapped.as_bytes(), &How::default());
            let protocol = told.unwrap_or_else(|| panic!("{what} {protocol}"));
            let report = lint(&wrapped, Some(protocol)).expect("it is a transcript");
            let clauses: Vec<_> = report.violations.iter().map(|it| it.clause).collect();
            assert_eq!(clauses, [clause], "{what}: {}", words(&report));
        }
        let logs: Vec<String> = text.lines().map(docker).collect();
        let words = docker("Listening on port 80").replace("stdout", "stderr");
        let report = lint(
            &[&[words], &logs[..]].concat().join("\n"),
            Some(Protocol::named(protocol.trim_end_matches("-entries")).expect("one")),
        );
        let report = report.expect("it is a transcript");
        let told = report
            .not_judged
            .iter()
            .find(|it| it.reason.contains("second output"));
        assert!(
            told.is_some_and(|it| !it.clause.starts_with("AAEP")),
            "{told:?}"
        );
    }
    let stream = docker("{\"type\":\"aaep:agent.session.started\",\"event_id\":\"e\"}");
    let foreign = docker("{\"op\":\"call\",\"operation\":\"x\"}");
    let told = envelope::protocol(format!("{stream}\n{foreign}").as_bytes(), &How::default());
    assert_eq!(told, Some(Protocol::Aaep));
}

/// AQL-5.1-3, AQL-5.1-5: where nobody sets a tolerance it may stand in the settings; that it would have to is said.
#[test]
fn a_token_taken_past_the_default_tolerance_is_left_open() {
    let text = read("mcp-aql", "invalid", "AQL-5.1-3_expired-token-is-taken");
    for (moment, is_open) in [("14:27:50.000Z", false), ("14:27:50.001Z", true)] {
        let taken = text.replace("14:32:20.001Z", moment);
        let report = lint(&taken, None).expect("it is a transcript");
        assert_eq!(report.verdict, Verdict::Conforming, "{}", words(&report));
        let mut open = report.not_judged.iter();
        let open = open.any(|it| it.clause == "AQL-5.1-3" && it.reason.contains("on line 8"));
        assert_eq!(open, is_open, "{moment}");
    }
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
    assert_faults("pending-action", PENDING_ACTION, pending_action::rules::ALL);
}

/// AQL-1.2-3, AQL-4.1-1, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-5.1-3, AQL-6.1-1 and each other clause that is judged.
#[test]
fn every_invalid_transcript_of_confirmation_tokens_is_accused_of_exactly_its_fault_at_its_line() {
    assert_faults("mcp-aql", MCP_AQL, mcp_aql::rules::ALL);
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

/// The tables of RECORDINGS.md name each clause that a form shows, under how its fault is reported, and no other.
#[test]
fn the_document_says_what_each_form_judges() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/RECORDINGS.md");
    let document = fs::read_to_string(path).expect("the document");
    let row = |protocol: &str, result: &str, forms: &[&[&Rule]]| {
        let clauses = countersign_clauses::all().iter();
        let clauses = clauses.filter(|clause| clause.protocol == protocol);
        let ids: Vec<&str> = clauses.map(|clause| clause.id.as_str()).collect();
        let cells = forms.iter().map(|rules| {
            let shown = ids.iter().filter(|id| judged(id, rules) == result);
            shown.copied().collect::<Vec<_>>().join(", ")
        });
        let cells: Vec<String> = cells.collect();
        if cells.iter().all(String::is_empty) {
            return String::new();
        }
        format!("| {result} | {} |\n", cells.join(" | "))
    };
    let pending: [&[&Rule]; 1] = [pending_action::rules::ALL];
    let tokens: [&[&Rule]; 2] = [mcp_aql::rules::ALL, &mcp_aql::entries::JUDGED];
    let results = ["violation", "warning", "with another"];
    let pending = results.map(|it| row("pending-action", it, &pending));
    let tokens = results.map(|it| row("mcp-aql", it, &tokens));
    for table in [pending.concat(), tokens.concat()] {
        let table = format!("|\n{table}\n");
        assert!(document.contains(&table), "the table has to read\n{table}");
    }
}

/// What entries show, and these do not tell of, is not called unseen.
#[test]
fn what_entries_do_not_tell_of_is_said_otherwise_than_what_they_cannot_show() {
    let text = read(
        "mcp-aql-entries",
        "valid",
        "AQL-5.1-3_taken-later-than-whole-seconds-allow",
    );
    let issue = text.lines().next().expect("an entry");
    let report = lint(issue, None).expect("it is a log");
    let mut shown = 0;
    for NotJudged { clause, reason, .. } in &report.not_judged {
        let is_shown = judged(clause, &mcp_aql::entries::JUDGED) != "–";
        shown += usize::from(is_shown);
        let said = if is_shown {
            "none takes a token of which the log has the issue"
        } else {
            "entries of the log do not show it"
        };
        assert!(reason.contains(said), "{clause}: {reason}");
    }
    assert!(shown >= 5, "{shown}");
}

/// The events of AAEP are judged and not what its driver is asked: another name would not help.
#[test]
fn a_transcript_of_aaep_is_told_to_be_none_that_is_judged() {
    let hello = r#"{"id":1,"op":"hello","driver":1,"protocol":"PROTOCOL"}"#;
    for (protocol, said) in [
        ("aaep", "of AAEP the events and replies are judged"),
        ("some", "say --protocol mcp-aql or pending-action"),
    ] {
        let text = hello.replace("PROTOCOL", protocol);
        let likeness = envelope::looks_like(text.as_bytes()).expect("it is told");
        assert!(likeness.to_string().contains(said), "{likeness}");
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

/// Blanks before an arrow, an array, and a greeting that declares nothing: all of them are read.
#[test]
fn a_transcript_may_be_laid_out_otherwise() {
    let name = "PA-5_denied-and-runs";
    let text = read("pending-action", "invalid", name);
    let lines: Vec<&str> = text.lines().collect();
    let indented = lines.join("\r\n  → ");
    let array = format!("[\n  {}\n]\n", lines.join(",\n  "));
    let (before, greeting) = (lines[0], "{\"id\":1,\"name\":\"ledger 1.0\"}");
    let silent = [&[before, greeting], &lines[2..]].concat().join("\n");
    for (text, line) in [(indented, 8), (array, 9), (silent, 8)] {
        let report = lint(&text, None).expect("it is a transcript");
        assert_eq!(places(&report.violations), [("PA-5", line)], "{text}");
        assert_eq!(report.damage, None);
    }
    let entries = read(
        "mcp-aql-entries",
        "invalid",
        "AQL-4.1-4_taken-for-another-operation",
    );
    let entries: Vec<&str> = entries.lines().collect();
    let array = format!("[{}]", entries.join(","));
    let report = lint(&array, None).expect("it is a log");
    assert_eq!(places(&report.violations), [("AQL-4.1-4", 1)]);
}

/// AQL-6.3-1: a message that is the same whatever the parameters are tells none of them, be one of them a word of it.
#[test]
fn a_word_that_stands_in_every_message_is_no_value() {
    let text = read("mcp-aql", "valid", "AQL-6.3-1_failure-tells-a-parameter");
    let text = text.replace("The token is not for gadgets.", "It is for something else.");
    assert!(text.contains("something"));
    for repo in ["gadgets", "something", "else. It is"] {
        let report = lint(&text.replace("sprockets", repo), None).expect("it is a transcript");
        assert_eq!(places(&report.warnings), [], "{repo}");
    }
    // What is no word does not stand there by chance.
    let text = text.replace("something else", "acme-1/tools");
    let text = text.replace("sprockets", "acme-1/tools");
    let report = lint(&text, None).expect("it is a transcript");
    assert_eq!(places(&report.warnings), [("AQL-6.3-1", 10)]);
}

/// PA-8: what was settled and runs behind an older state leaves the verdict open, as the host may have guarded it.
#[test]
fn what_runs_again_behind_an_older_state_is_no_good_verdict() {
    let text = read(
        "pending-action",
        "valid",
        "PA-8_runs-again-behind-a-restart",
    );
    let lines: Vec<&str> = text.lines().collect();
    let (asked, ran) = (lines[6], lines[7]);
    assert!(ran.contains("\"perform\""));
    let back = [
        "{\"id\":90,\"op\":\"rollback\",\"now\":\"2026-05-24T14:22:20.000Z\",\"snapshot\":\"s\"}",
        "{\"id\":90,\"outputs\":[]}",
    ];
    let again = [asked, ran].map(|line| {
        let line = line.replacen("\"id\":4", "\"id\":91", 1);
        line.replace("decided_pa_one", "decided_again")
            .replace("msg_2", "msg_9")
    });
    let whole = [&lines[..8], &back, &[&*again[0], &*again[1]]].concat();
    let report = lint(&whole.join("\n"), None).expect("it is a transcript");
    let open = report.not_judged.iter().find(|it| it.owed).expect("open");
    assert!(
        open.clause == "PA-8" && open.reason.starts_with("on line 12 "),
        "{}",
        open.reason
    );
    let (violations, warnings, verdict) = told(&report);
    assert_eq!(
        (violations, warnings, verdict),
        (vec![], vec![], Verdict::Inconclusive)
    );
    let report = lint(&whole[..10].join("\n"), None).expect("it is a transcript");
    assert_eq!(report.verdict, Verdict::Conforming);
}

/// AQL-3.3-1: what is of another type is there, and called what it is.
#[test]
fn a_danger_level_that_is_a_number_is_not_called_missing() {
    let text = read("mcp-aql", "invalid", "AQL-3.3-1_danger-level-is-a-number");
    let report = lint(&text, None).expect("it is a transcript");
    let message = &report.violations[0].message;
    assert!(message.contains("danger_level is no string"), "{message}");
}

/// A name that stands twice in a line has no one meaning, and what was made of it is said.
#[test]
fn a_name_that_stands_twice_leaves_the_verdict_open() {
    for (protocol, name, once, twice, line) in [
        (
            "mcp-aql",
            "AQL-4.1-1_good-token-is-unknown",
            "\"op\":\"call\"",
            "\"op\":\"configure\",\"op\":\"call\"",
            "\"op\" stands twice on line 5 (and 1 more",
        ),
        (
            "pending-action",
            "PA-5_denied-and-runs",
            "\"decision\":\"deny\"",
            "\"decision\":\"allow\",\"decision\":\"deny\"",
            "\"decision\" stands twice on line 7",
        ),
    ] {
        let text = read(protocol, "valid", name);
        let lines = text.lines().map(|line| {
            let is_request = line.contains("\"op\":");
            let line = line.to_owned();
            if is_request {
                line.replace(once, twice)
            } else {
                line
            }
        });
        let lines: Vec<_> = lines.collect();
        let report = lint(&lines.join("\n"), None).expect("it is a transcript");
        assert_eq!(report.verdict, Verdict::Inconclusive, "{}", words(&report));
        let mut reasons = report.not_judged.iter().filter(|it| it.owed);
        let reason = reasons.next().map(|it| it.reason.as_str());
        assert!(reason.is_some_and(|it| it.contains(line)), "{reason:?}");
    }
    let text = read("mcp-aql", "valid", "AQL-6.1-1_token-is-taken-twice");
    for (once, twice, said) in [
        (
            "{\"perform\":{",
            "{\"perform\":{\"operation\":\"x\",",
            "\"operation\" stands twice on line 8",
        ),
        (
            "\"details\":{\"operation\"",
            "\"details\":{\"operation\":[1e9,\"\\ud800\"],\"operation\"",
            "\"operation\" stands twice on line 6",
        ),
        (
            "\"params\":{",
            "\"params\":{\"o\\u0077ner\":null,",
            "\"owner\" stands twice on line 5 (and 3 more",
        ),
        (
            "\"event\":\"TOKEN_R",
            "\"event\":1,\"event\":\"TOKEN_R",
            "\"event\" stands twice on line 10",
        ),
    ] {
        let open = open(&text.replace(once, twice));
        assert!(open.len() == 1 && open[0].contains(said), "{open:?}");
    }
}

/// A session that nothing is about leaves the verdict open, as in streams of AAEP.
#[test]
fn a_session_that_is_not_in_it_is_told() {
    for (protocol, name, known) in [
        ("pending-action", "PA-5_denied-and-runs", "s1"),
        (
            "mcp-aql",
            "AQL-5.4-2_token-of-an-ended-session-is-taken",
            "s1",
        ),
    ] {
        let text = read(protocol, "valid", name);
        for (session, verdict) in [
            (known, Verdict::Conforming),
            ("nope", Verdict::Inconclusive),
        ] {
            let selection = Selection {
                sessions: vec![session.to_owned()],
                ..Selection::default()
            };
            let opened = Opened::new(Cursor::new(text.clone()), &How::default());
            let protocol = Protocol::named(protocol).expect("it is one");
            let report = judge_transcript(opened, protocol, "a", false, &selection);
            let report = report.expect("it is a transcript");
            assert_eq!(report.verdict, verdict, "{protocol:?} {session}");
        }
    }
}

/// PA-10: that a question has closed is told once, and what is proposed behind it costs no more for it.
#[test]
fn many_questions_that_have_closed_are_told_once_each() {
    let text = read("pending-action", "valid", "PA-7_expired-and-runs");
    let lines: Vec<&str> = text.lines().collect();
    let mut whole: Vec<String> = lines[..4].iter().map(|line| (*line).to_owned()).collect();
    let many = 10_000;
    for at in 0..many {
        for line in &lines[4..6] {
            let line = line.replace("pa_one", &format!("pa_{at}"));
            let line = line.replace("msg_1", &format!("msg_{at}"));
            whole.push(line.replacen("\"id\":3", &format!("\"id\":{}", at + 3), 1));
        }
    }
    for (at, line) in lines[6..8].iter().chain(&lines[6..8]).enumerate() {
        let line = line.replacen("\"id\":4", &format!("\"id\":{}", many + at), 1);
        let line = line.replace("14:23:20.001", "14:23:20.002");
        let (before, _) = line.split_once("\"outputs\":").unwrap_or((&line, ""));
        let is_response = before.len() < line.len();
        whole.push(if is_response {
            format!("{before}\"outputs\":[]}}")
        } else {
            line
        });
    }
    let whole = whole
        .join("\n")
        .replace(&format!("\"id\":{}", many + 1), &format!("\"id\":{many}"));
    let whole = whole.replace(
        &format!("\"id\":{}", many + 3),
        &format!("\"id\":{}", many + 2),
    );
    let report = lint(&whole, None).expect("it is a transcript");
    assert_eq!(report.damage, None);
    assert_eq!(report.violations.len(), many);
    let line = 4 + 2 * many as u64 + 2;
    assert!(
        report
            .violations
            .iter()
            .all(|it| (it.clause, it.line) == ("PA-10", line))
    );
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
