//! Lint against rows of a table of pending actions that are known to be right or wrong.
//!
//! Each file of `traces/transcripts/pending-action-rows/invalid` holds one fault and has to be accused of exactly that, at its row; its
//! twin in `valid` has to come out clean and differs in that row alone. What a row leaves out accuses nobody.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use countersign_lint::envelope::{How, Mapping, Opened};
use countersign_lint::finding::Finding;
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::rows::{judge_rows, rules};
use countersign_lint::rules::Weight::{self, Violation, Warning};
use countersign_lint::selection::{Selection, parse_time};
use serde_json::{Value, json};

/// A file, the row at which it is accused, and how.
const FAULTS: [(&str, u64, Weight); 26] = [
    ("PA-1_ran-and-nobody-decided", 2, Violation),
    ("PA-1_ran-before-the-decision", 2, Violation),
    ("PA-1_id-of-another-call", 2, Violation),
    ("PA-2_agent-decides", 2, Warning),
    ("PA-2_stranger-decides", 2, Warning),
    ("PA-3_ran-with-other-arguments", 2, Violation),
    ("PA-3_edited-arguments-ran", 2, Violation),
    ("PA-3_other-arguments-approved", 2, Violation),
    ("PA-3_versions-of-other-arguments", 3, Violation),
    (
        "PA-5_withdrawn-in-one-version-and-ran-in-another",
        3,
        Violation,
    ),
    (
        "PA-7_expired-in-one-version-and-ran-in-another",
        3,
        Violation,
    ),
    ("PA-8_ran-twice-as-a-float", 2, Violation),
    ("PA-9_label-shows-the-arguments", 2, Warning),
    ("PA-5_denied-and-ran", 2, Violation),
    ("PA-5_denied-and-says-done", 2, Violation),
    ("PA-5_withdrawn-and-ran", 2, Violation),
    ("PA-7_expired-and-ran", 2, Violation),
    ("PA-7_allowed-after-expiry", 2, Violation),
    ("PA-7_decided-after-expiry-and-ran", 2, Violation),
    ("PA-8_ran-twice", 2, Violation),
    ("PA-8_versions-ran-at-two-times", 3, Violation),
    (
        "PA-8_denied-in-one-version-and-allowed-in-another",
        3,
        Violation,
    ),
    ("PA-9_label-shows-the-id", 2, Warning),
    ("PA-10_pending-and-ran", 2, Violation),
    ("PA-10_decided-before-it-was-created", 2, Violation),
    ("PA-10_expired-and-ran-in-time", 2, Violation),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/transcripts/pending-action-rows")
}

fn read(kind: &str, name: &str) -> String {
    let path = folder().join(kind).join(format!("{name}.json"));
    fs::read_to_string(path).expect("rows and their twin")
}

fn mapping() -> String {
    fs::read_to_string(folder().join("mapping.toml")).expect("the mapping")
}

fn judged(text: &str, mapping: &str, selection: &Selection) -> Result<LintReport, String> {
    let mapping = Mapping::parse(mapping).map_err(|it| it.to_string())?;
    let how = How {
        from: None,
        mapping: Some(mapping.clone()),
    };
    let columns = mapping.row().expect("it has a table of columns");
    let opened = Opened::new(text.as_bytes(), &how);
    judge_rows(opened, columns, "rows.jsonl", false, selection).map_err(|it| it.to_string())
}

fn lint(text: &str) -> LintReport {
    judged(text, &mapping(), &Selection::default()).expect("it holds rows")
}

fn places(findings: &[Finding]) -> Vec<(&str, u64)> {
    findings.iter().map(|it| (it.clause, it.line)).collect()
}

fn words(report: &LintReport) -> String {
    let findings = report.violations.iter().chain(&report.warnings);
    let findings = findings.map(|it| format!("{} on line {}: {}", it.clause, it.line, it.message));
    let open = report.not_judged.iter().filter(|it| it.owed);
    let open = open.map(|it| format!("{} {}", it.clause, it.reason));
    findings.chain(open).collect::<Vec<_>>().join("; ")
}

/// PA-1, PA-2, PA-3, PA-5, PA-7, PA-8, PA-9, PA-10.
#[test]
fn every_invalid_row_is_accused_of_exactly_its_fault_and_its_twin_of_nothing() {
    let (mut wrong, mut shown) = (Vec::new(), BTreeSet::new());
    for (name, line, weight) in FAULTS {
        let clause = name.split('_').next().expect("a clause");
        let [invalid, valid] = ["invalid", "valid"].map(|kind| read(kind, name));
        let (report, twin) = (lint(&invalid), lint(&valid));
        let found = vec![(clause, line)];
        let expected = match weight {
            Violation => (found, vec![], Verdict::Violating),
            Warning => (vec![], found, Verdict::Conforming),
        };
        let told = |report: &LintReport| (report.violations.len(), report.warnings.len());
        let is_it = (
            places(&report.violations),
            places(&report.warnings),
            report.verdict,
        ) == expected;
        if !is_it {
            wrong.push(format!("{name}: {}", words(&report)));
        }
        if told(&twin) != (0, 0) || twin.verdict != Verdict::Conforming {
            wrong.push(format!("the twin of {name}: {}", words(&twin)));
        }
        for finding in report.violations.iter().chain(&report.warnings) {
            shown.insert(finding.clause);
        }
        let apart = invalid.lines().zip(valid.lines());
        assert_eq!(
            apart.filter(|(one, other)| one != other).count(),
            1,
            "{name}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let clauses: BTreeSet<&str> = rules::ALL.iter().map(|rule| rule.clause).collect();
    assert_eq!(
        shown, clauses,
        "each clause that is judged has rows that break it"
    );
    let files = fs::read_dir(folder().join("invalid"))
        .expect("a folder")
        .count();
    assert_eq!(files, FAULTS.len(), "each file is held");
}

/// The same rows as an array in a document, laid out on lines: each is told on the line on which it begins.
#[test]
fn rows_may_stand_in_a_document() {
    let rows = read("invalid", "PA-5_denied-and-ran");
    let rows: Vec<Value> = rows
        .lines()
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .collect();
    let text = format!("{:#}", json!({"count": rows.len(), "rows": rows}));
    let mapping = format!("records = \"/rows\"\n{}", mapping());
    let report = judged(&text, &mapping, &Selection::default()).expect("it holds rows");
    assert_eq!(report.records, 6);
    let line = report.violations[0].line;
    let begins = text
        .lines()
        .take(usize::try_from(line).expect("small"))
        .filter(|it| it.contains("action_id"));
    assert_eq!((report.violations[0].clause, begins.count()), ("PA-5", 1));
    assert!(
        text.lines()
            .nth(usize::try_from(line).expect("small") - 1)
            .is_some_and(|it| it.trim() == "{")
    );
}

/// Rows may stand within what a container or a broker puts around them; a table with columns of such names is a table.
#[test]
fn rows_may_stand_within_an_envelope() {
    let rows = read("invalid", "PA-5_denied-and-ran");
    let expected = places(&lint(&rows).violations).len();
    let around = |with: &dyn Fn(&str, Value) -> Value| {
        let line = |it: &str| with(it, serde_json::from_str(it).expect("JSON")).to_string();
        rows.lines().map(line).collect::<Vec<_>>()
    };
    let docker = around(
        &|line, _| json!({"log": format!("{line}\n"), "stream": "stdout", "time": "2026-05-24T14:20:10Z"}),
    );
    let event = |data: (&str, Value)| json!({"specversion": "1.0", "id": "1", data.0: data.1});
    let events = around(&|_, row| event(("data", row)));
    let coded = around(&|line, _| event(("data_base64", json!(BASE64_STANDARD.encode(line)))));
    for lines in [&docker, &events, &coded] {
        for text in [lines.join("\n"), format!("[{}]", lines.join(","))] {
            let report = judged(&text, &mapping(), &Selection::default()).expect("it holds rows");
            let found = (report.records, places(&report.violations).len());
            assert_eq!(found, (6, expected), "{text}");
        }
    }
    let within = mapping().replace("\"/", "\"/log/");
    let report = judged(&docker.join("\n"), &within, &Selection::default()).expect("rows");
    assert_eq!(report.violations.len(), expected);
    // What says where the rows stand counts.
    let deeper = around(&|_, row| event(("data", json!({"row": row}))));
    let said = format!("message = \"/data/row\"\n{}", mapping());
    let report = judged(&deeper.join("\n"), &said, &Selection::default()).expect("rows");
    assert_eq!(report.violations.len(), expected);
    let own = around(&|_, mut row| {
        row["log"] = json!("written");
        row["time"] = json!("2026-05-24T14:20:10Z");
        row
    });
    assert_eq!(lint(&own.join("\n")).violations.len(), expected);
}

/// An export that puts its table behind other things: the way leads through items, and one that leads nowhere is an input error.
#[test]
fn rows_may_stand_behind_the_items_of_an_array() {
    let rows = read("invalid", "PA-5_denied-and-ran");
    let rows = rows.trim().replace('\n', ",");
    let text = format!(
        r#"[{{"type":"header"}},{{"type":"database"}},{{"type":"table","data":[{rows}]}}]"#
    );
    let with = |pointer: &str| {
        let mapping = format!("records = \"{pointer}\"\n{}", mapping());
        judged(&text, &mapping, &Selection::default())
    };
    let report = with("/2/data").expect("it holds rows");
    assert_eq!((report.records, report.violations[0].clause), (6, "PA-5"));
    for (pointer, what) in [
        ("/data", "the document is an array"),
        ("/2/rows", "at \"/2\" is an object with \"type\", \"data\""),
        ("/3/data", "the document is an array"),
    ] {
        let why = with(pointer).expect_err("it leads nowhere");
        assert!(
            why.contains(&format!("{pointer:?} of `records` leads to no array")),
            "{why}"
        );
        assert!(why.contains(what), "{why}");
    }
}

/// Whatever is taken out of a row, nobody is accused of more: a column, or one that is null in another way of writing it.
#[test]
fn what_a_row_leaves_out_accuses_nobody() {
    for (name, ..) in FAULTS {
        let valid = read("valid", name);
        let rows: Vec<Value> = valid
            .lines()
            .map(|it| serde_json::from_str(it).expect("JSON"))
            .collect();
        let names: Vec<String> = rows[0]
            .as_object()
            .expect("a row")
            .keys()
            .cloned()
            .collect();
        for one in &names {
            for other in names.iter().filter(|other| *other >= one) {
                let mut less = rows.clone();
                for row in &mut less {
                    let row = row.as_object_mut().expect("a row");
                    row.remove(one);
                    row.remove(other);
                }
                let text = less
                    .iter()
                    .map(Value::to_string)
                    .collect::<Vec<_>>()
                    .join("\n");
                match judged(&text, &mapping(), &Selection::default()) {
                    Ok(report) => {
                        let found =
                            places(&report.violations).len() + places(&report.warnings).len();
                        assert_eq!(
                            found,
                            0,
                            "{name} without {one} and {other}: {}",
                            words(&report)
                        );
                    }
                    Err(why) => assert!(
                        why.contains("\"/action_id\" of `id` leads nowhere"),
                        "{why}"
                    ),
                }
            }
        }
    }
}

/// PA-1, PA-7, PA-10: a moment before, at, and after, to the last digit that is written.
#[test]
fn times_are_no_more_exact_than_they_are_written() {
    let row = |decided: &str, ran: &str| {
        format!(
            r#"{{"action_id":"a","effect":"write","status":"done","created_at":"2026-05-24 14:20:00","expires_at":"2026-05-24 14:20:30","decided_at":"{decided}","run":{{"started_at":"{ran}"}}}}"#
        )
    };
    for (decided, ran, clauses) in [
        ("2026-05-24 14:20:29", "2026-05-24 14:20:29", &[][..]),
        ("2026-05-24 14:20:31", "2026-05-24 14:20:31", &[]),
        ("2026-05-24 14:20:32", "2026-05-24 14:20:32", &["PA-7"]),
        ("2026-05-24 14:20:12", "2026-05-24 14:20:11", &[]),
        ("2026-05-24 14:20:12", "2026-05-24 14:20:10", &["PA-1"]),
        ("2026-05-24 14:19:59", "2026-05-24 14:20:10", &[]),
        ("2026-05-24 14:19:58", "2026-05-24 14:20:10", &["PA-10"]),
        // From which zone the others are, nobody knows.
        ("2026-05-24T14:20:32Z", "2026-05-24T14:20:32Z", &[]),
        // Allowed in time, and run later: the text can be taken both ways.
        ("2026-05-24 14:20:10", "2026-05-24 14:25:10", &[]),
    ] {
        let report = lint(&row(decided, ran));
        let found: Vec<_> = report.violations.iter().map(|it| it.clause).collect();
        assert_eq!(found, clauses, "{decided} {ran}: {}", words(&report));
    }
}

/// What has no meaning leaves the verdict open and says how to give it one; a column that is nowhere is named.
#[test]
fn words_without_a_meaning_and_pointers_that_lead_nowhere_are_named() {
    let valid = read("valid", "PA-5_denied-and-ran");
    let own = valid.replacen("\"done\"", "\"finished\"", 1);
    let report = lint(&own);
    assert_eq!(
        (report.verdict, places(&report.violations)),
        (Verdict::Inconclusive, vec![])
    );
    let said =
        "`status` on line 1 is \"finished\", which has no meaning here (1 of 6 rows): [row.words]";
    assert!(words(&report).contains(said), "{}", words(&report));
    let late = valid.replacen("2026-05-24T14:21:10.250Z", "yesterday", 1);
    assert!(words(&lint(&late)).contains("`decided_at` on line 1 is \"yesterday\""));

    let elsewhere = mapping().replace("\"/decided_at\"", "\"/decided/att\"");
    let report = judged(&valid, &elsewhere, &Selection::default()).expect("rows");
    let told = report
        .not_judged
        .iter()
        .any(|it| it.reason == "the pointer \"/decided/att\" of `decided_at` leads nowhere");
    assert!(
        told && report.verdict == Verdict::Conforming,
        "{:?}",
        report.not_judged
    );
    let nameless = mapping().replace("\"/action_id\"", "\"/id\"");
    let why = judged(&valid, &nameless, &Selection::default()).expect_err("no row has an id");
    assert!(
        why.ends_with("the pointer \"/id\" of `id` leads nowhere"),
        "{why}"
    );
    for (broken, said) in [
        ("[row]\nidd = \"/a\"", "unknown field `idd`"),
        ("[row]\nid = \"a\"", "no JSON pointer"),
        (
            "[row]\nid = \"/a\"\n[row.words]\nok = \"fine\"",
            "\"fine\" is no meaning: `status` and `decision` know pending, allowed",
        ),
    ] {
        let why = judged(&valid, broken, &Selection::default()).expect_err("it is no mapping");
        assert!(why.contains(said), "{why}");
    }
}

/// PA-2: what a row would have to hold is said so that a row with a decider and an agent is not told to have none.
#[test]
fn deciders_that_cannot_be_read_are_not_called_absent() {
    let report = changed(&json!({"agent_id": "menta", "may_decide": "bob"}));
    let mut reasons = report.not_judged.iter().filter(|it| it.clause == "PA-2");
    let reason = reasons.next().map(|it| &*it.reason);
    assert!(
        reason.is_some_and(|it| it.contains("`deciders` that are a list of names, or `agent`")),
        "{reason:?}"
    );
    let listed = changed(&json!({"agent_id": "menta", "may_decide": ["ana"]}));
    assert!(listed.not_judged.iter().all(|it| it.clause != "PA-2"));
}

/// PA-1: words of the table's own have a meaning in `effect` and `decision` as in `status`, each in its own column.
#[test]
fn words_of_effect_and_decision_have_a_meaning_too() {
    let undecided = json!({"action_id": "a", "effect": "looks", "status": "done", "decision": null,
        "decided_by": null, "decided_at": null, "expires_at": "2026-05-24T14:20:30Z",
        "run": {"started_at": "2026-05-24T14:20:11Z", "count": 1}});
    let judged = |words: &str, row: &Value| {
        let mapping = format!("{}{words}", mapping());
        judged(&row.to_string(), &mapping, &Selection::default()).expect("it holds a row")
    };
    let report = judged("", &undecided);
    assert!(words(&report).contains("`effect` on line 1 is \"looks\""));
    assert_eq!(report.verdict, Verdict::Inconclusive);
    for effect in ["read", "READ", "write", "destructive", "external"] {
        let report = judged(&format!("looks = \"{effect}\""), &undecided);
        let accused: &[_] = if effect.to_lowercase() == "read" {
            &[]
        } else {
            &[("PA-1", 1)]
        };
        assert_eq!(places(&report.violations), accused, "{}", words(&report));
        let is_right = report.verdict == Verdict::Conforming;
        assert_eq!(is_right, accused.is_empty());
    }
    let mut denied = undecided;
    denied["effect"] = json!("write");
    denied["decision"] = json!("never");
    denied["decided_at"] = json!("2026-05-24T14:20:10Z");
    let report = judged("never = \"deny\"", &denied);
    assert_eq!(places(&report.violations), [("PA-5", 1)]);
    // A word of the other kind says nothing there.
    let report = judged("never = \"write\"", &denied);
    assert!(words(&report).contains("`decision` on line 1 is \"never\""));
}

/// A torn row is told with its line, and what stands before it is judged; a file without rows is none.
#[test]
fn rows_that_are_cut_are_judged_as_far_as_they_go() {
    let invalid = read("invalid", "PA-5_denied-and-ran");
    let third = invalid
        .lines()
        .take(2)
        .map(|it| it.len() + 1)
        .sum::<usize>()
        + 40;
    let report = lint(&invalid[..third]);
    assert_eq!(places(&report.violations), [("PA-5", 2)]);
    let damage = report.damage.expect("it is cut");
    assert_eq!(
        (damage.line, damage.message.as_str()),
        (
            3,
            "line 3 is no row: no JSON object, and the input ends in it"
        )
    );
    let csv = "id,status\na,done\n";
    let why = judged(csv, &mapping(), &Selection::default()).expect_err("these are no objects");
    assert!(why.contains("line 1 is no row"), "{why}");
    let empty = judged("", &mapping(), &Selection::default()).expect("nothing is in it");
    assert_eq!(empty.verdict, Verdict::Inconclusive);
}

/// A session, and a time from which on rows are asked about.
#[test]
fn rows_are_selected_by_session_and_time() {
    let invalid = read("invalid", "PA-5_denied-and-ran");
    let of = |session: Option<&str>, since: Option<&str>| {
        let selection = Selection {
            sessions: session.map(str::to_owned).into_iter().collect(),
            since: since.map(|it| parse_time(it).expect("a time")),
            ..Selection::default()
        };
        judged(&invalid, &mapping(), &selection).expect("rows")
    };
    assert_eq!(
        places(&of(Some("sess_farm"), None).violations),
        [("PA-5", 2)]
    );
    assert_eq!(of(Some("nope"), None).verdict, Verdict::Inconclusive);
    assert_eq!(
        places(&of(None, Some("2026-05-24T14:26:00Z")).violations),
        [("PA-5", 2)]
    );
    let later = of(None, Some("2026-05-24T15:00:00Z"));
    assert_eq!(
        (later.verdict, places(&later.violations)),
        (Verdict::Inconclusive, vec![])
    );
}

/// A row of its own; what `change` holds stands instead of what is right.
fn changed(change: &Value) -> LintReport {
    lint(&row_with(change))
}

/// The same, of one row for each change.
fn versions(changes: &[&Value]) -> LintReport {
    let rows: Vec<String> = changes.iter().map(|it| row_with(it)).collect();
    lint(&rows.join("\n"))
}

fn row_with(change: &Value) -> String {
    let mut row = json!({
        "action_id": "act_1", "effect": "write", "arguments": {"ids": [3]}, "status": "done", "decision": "allow",
        "decided_by": "ana", "created_at": "2026-05-24T14:20:00Z", "expires_at": "2026-05-24T14:20:30Z",
        "decided_at": "2026-05-24T14:20:10Z",
        "run": {"started_at": "2026-05-24T14:20:11Z", "count": 1},
    });
    for (name, value) in change.as_object().expect("columns") {
        row[name] = value.clone();
    }
    row.to_string()
}

/// PA-3, PA-5, PA-7: one version of an action is held against another only for what it says itself.
#[test]
fn a_version_is_held_against_another_for_what_it_says() {
    let ran = json!({});
    for (status, clause) in [("expired", "PA-7"), ("cancelled", "PA-5")] {
        let undecided = json!({"status": status, "decision": null, "decided_by": null, "decided_at": null,
            "run": {"started_at": null, "count": 0}});
        let with = |names: &[(&str, Value)]| {
            let mut row = undecided.clone();
            for (name, value) in names {
                row[*name] = value.clone();
            }
            row
        };
        let report = versions(&[&undecided, &ran]);
        assert_eq!(places(&report.violations), [(clause, 2)]);
        // It was allowed before, or need not be asked about.
        let decided = [
            ("decision", json!("allow")),
            ("decided_by", json!("ana")),
            ("decided_at", json!("2026-05-24T14:20:10Z")),
        ];
        let read = with(&[("effect", json!("read"))]);
        for other in [with(&decided), read] {
            let report = versions(&[&other, &ran]);
            assert_eq!(places(&report.violations), [], "{}", words(&report));
        }
        // What is wrong by itself is told once.
        let itself = with(&[(
            "run",
            json!({"started_at": "2026-05-24T14:20:11Z", "count": 1}),
        )]);
        let report = versions(&[&itself, &ran]);
        let found = places(&report.violations);
        assert!(
            !found.is_empty() && found.iter().all(|it| it.1 == 1),
            "{found:?}"
        );
    }
    let late = json!({"decided_at": "2026-05-24T14:20:41Z", "status": "allowed", "run": null});
    let report = versions(&[&late, &late]);
    assert_eq!(places(&report.violations), [("PA-7", 1), ("PA-7", 2)]);
    assert!(
        !words(&report).contains("was to close later"),
        "{}",
        words(&report)
    );
    // Other arguments that a version between them has.
    let pending = |id: u64| {
        json!({"status": "pending", "decision": null, "decided_by": null, "decided_at": null, "run": null,
            "arguments": {"ids": [id]}})
    };
    let report = versions(&[&pending(3), &pending(4), &ran]);
    assert_eq!(places(&report.violations), [("PA-3", 3)]);
    let report = versions(&[&pending(3), &pending(3), &ran]);
    assert_eq!(places(&report.violations), []);
}

/// PA-8: a number of runs is whole, however it is written; what is none leaves the verdict open.
#[test]
fn a_number_of_runs_is_read_in_each_way_of_writing_it() {
    let with = |count: &str| {
        let row = r#"{"action_id":"a","status":"done","run":{"count":COUNT}}"#;
        lint(&row.replace("COUNT", count))
    };
    for count in ["2", "\"2\"", "2.0", "1e3", "18446744073709551616", "1e30"] {
        let report = with(count);
        assert_eq!(places(&report.violations), [("PA-8", 1)], "{count}");
    }
    for count in ["1", "1.0", "\"1\"", "null"] {
        assert_eq!(with(count).verdict, Verdict::Conforming, "{count}");
    }
    for count in ["-1", "1.5", "true", "[2]", "\"often\""] {
        let report = with(count);
        let found = (report.verdict, places(&report.violations));
        assert_eq!(found, (Verdict::Inconclusive, vec![]), "{count}");
        assert!(words(&report).contains("`executions` on line 1 is"));
    }
}

/// PA-5, PA-7, PA-8, PA-10: a row that says both that it was allowed and that it was denied is held against no rule by one of the two.
#[test]
fn a_row_of_two_decisions_is_not_accused_by_one_of_them() {
    let run = json!({"started_at": "2026-05-24T14:20:11Z", "count": 1});
    let late = json!("2026-05-24T14:20:41Z");
    for (status, decision, is_open) in [
        ("denied", "allow", true),
        ("denied", "executed", true),
        ("allowed", "deny", true),
        ("denied", "deny", false),
        // It ran, and nothing says that it was allowed.
        ("done", "deny", false),
    ] {
        let row = |run: &Value, decided: &Value| {
            let change =
                json!({"status": status, "decision": decision, "run": run, "decided_at": decided});
            changed(&change)
        };
        let in_time = json!("2026-05-24T14:20:10Z");
        let [report, late, late_run] = [
            row(&run, &in_time),
            row(&Value::Null, &late),
            row(&run, &late),
        ];
        let found = places(&report.violations);
        if !is_open {
            assert_eq!(found, [("PA-5", 1)], "{}", words(&report));
            continue;
        }
        for report in [&report, &late, &late_run] {
            let mut open = report.not_judged.iter().filter(|it| it.owed);
            let is_told = open.any(|it| it.clause == "PA-10" && it.reason.contains("`decision`"));
            let told = (report.verdict, is_told, report.violations.len());
            assert_eq!(told, (Verdict::Inconclusive, true, 0), "{}", words(report));
            assert!(report.not_judged.iter().any(|it| it.clause == "PA-5"));
        }
        // More than one run is wrong by either.
        let twice = json!({"started_at": "2026-05-24T14:20:11Z", "count": 2});
        assert_eq!(places(&row(&twice, &in_time).violations), [("PA-8", 1)]);
    }
    // Nor is another version of it held against one of them.
    let name = "PA-8_denied-in-one-version-and-allowed-in-another";
    let versions = read("invalid", name);
    let versions: Vec<&str> = versions.lines().skip(1).take(2).collect();
    let report = lint(&versions.join("\n"));
    let found = places(&report.violations);
    assert_eq!(found, [("PA-8", 2)], "{}", words(&report));
    for (status, decision) in [("allowed", "deny"), ("denied", "allow")] {
        for version in &versions {
            let mut other: Value = serde_json::from_str(version).expect("JSON");
            other["decision"] = json!(decision);
            other["status"] = json!(status);
            for version in &versions {
                let report = lint(&format!("{other}\n{version}"));
                assert_eq!(places(&report.violations), [], "{}", words(&report));
            }
        }
    }
}

/// PA-1, PA-7, PA-10: what contradicts itself, and what is no word, accuses nobody and leaves the verdict open.
#[test]
fn what_nobody_can_tell_leaves_the_verdict_open() {
    assert_eq!(changed(&json!({})).verdict, Verdict::Conforming);
    let ran = |started: Value, count: u64| json!({"started_at": started, "count": count});
    let late = "2026-05-24T14:20:31Z";
    let undecided =
        json!({"effect": "boom", "decision": null, "decided_by": null, "decided_at": null});
    for (change, clause, said) in [
        (
            json!({"status": "denied", "run": null}),
            "PA-10",
            "`decision` that it was allowed",
        ),
        (
            json!({"run": ran(json!("2026-05-24T14:20:11Z"), 0)}),
            "PA-10",
            "`executions` is 0",
        ),
        (
            json!({"run": ran(Value::Null, 1)}),
            "PA-10",
            "`executed_at` is null",
        ),
        (
            json!({"decided_at": late, "run": ran(json!(late), 1)}),
            "PA-7",
            "by no more than their last digit",
        ),
        (
            json!({"run": ran(json!("2026-05-24T14:20:09Z"), 1)}),
            "PA-1",
            "`decided_at` of \"act_1\" on line 1 is later than `executed_at` by no more",
        ),
        (
            json!({"created_at": "2026-05-24T14:20:11Z"}),
            "PA-10",
            "`created_at` of \"act_1\" on line 1 is later than `decided_at` by no more",
        ),
        (
            json!({"decided_at": null, "created_at": "2026-05-24T14:20:12Z"}),
            "PA-10",
            "`created_at` of \"act_1\" on line 1 is later than `executed_at` by no more",
        ),
        (
            json!({"may_decide": "ana, bob"}),
            "PA-1",
            "`deciders` on line 1 is \"ana, bob\"",
        ),
        (
            json!({"may_decide": {"a": 1}, "agent_id": "agent-1", "decided_by": "agent-1"}),
            "PA-1",
            "`deciders` on line 1 is",
        ),
        (
            json!({"effect": "boom"}),
            "PA-1",
            "`effect` on line 1 is \"boom\"",
        ),
        (undecided, "PA-1", "`effect` on line 1 is \"boom\""),
        (json!({"status": ["done"]}), "PA-1", "`status` on line 1 is"),
        (
            json!({"created_at": {}}),
            "PA-1",
            "`created_at` on line 1 is \"{}\"",
        ),
    ] {
        let report = changed(&change);
        let found = (report.verdict, places(&report.violations));
        assert_eq!(found, (Verdict::Inconclusive, vec![]), "{change}");
        let mut open = report.not_judged.iter().filter(|it| it.owed);
        assert!(
            open.any(|it| it.clause == clause && it.reason.contains(said)),
            "{change} {}",
            words(&report)
        );
    }
}

/// PA-1, PA-10: a call that ran in time and undecided is told as both, whatever the row says of its expiry.
#[test]
fn a_row_that_expired_and_ran_undecided_is_accused_of_both() {
    let expired = json!({"status": "expired"});
    assert_eq!(places(&changed(&expired).violations), [("PA-10", 1)]);
    let undecided =
        json!({"status": "expired", "decision": null, "decided_by": null, "decided_at": null});
    assert_eq!(
        places(&changed(&undecided).violations),
        [("PA-10", 1), ("PA-1", 1)]
    );
}

/// PA-2: a list that names nobody is no list; a text of one is one.
#[test]
fn deciders_may_be_written_in_several_ways() {
    for (deciders, by, clauses) in [
        (json!([]), "ana", &[][..]),
        (json!([]), "agent-1", &["PA-2"]),
        (json!(null), "agent-1", &["PA-2"]),
        (json!("[\"agent-1\"]"), "agent-1", &[]),
        (json!(["bob"]), "ana", &["PA-2"]),
        (json!([7]), "7", &[]),
        (json!("[7]"), "7", &[]),
        (json!([7]), "8", &["PA-2"]),
        (json!(["", null]), "ana", &[]),
    ] {
        let report =
            changed(&json!({"may_decide": deciders, "decided_by": by, "agent_id": "agent-1"}));
        let found: Vec<_> = report.warnings.iter().map(|it| it.clause).collect();
        assert_eq!(
            (found.as_slice(), report.verdict),
            (clauses, Verdict::Conforming),
            "{deciders} {by}"
        );
    }
}

/// PA-7: where versions name two ends, whether the question had closed does not show, unless what was allowed is in time by both.
#[test]
fn versions_with_two_ends_leave_open_whether_it_had_closed() {
    let version = |expires: &str, decided: Option<&str>| {
        let at = |time: &str| format!("2026-05-24T14:{time}Z");
        let status = if decided.is_some() {
            "allowed"
        } else {
            "pending"
        };
        json!({"action_id": "a", "status": status, "expires_at": at(expires), "decided_at": decided.map(at)}).to_string()
    };
    for (first, second, is_open) in [
        (
            version("23:20", None),
            version("30:00", Some("25:00")),
            true,
        ),
        (
            version("30:00", Some("25:00")),
            version("23:20", None),
            true,
        ),
        (
            version("23:20", None),
            version("30:00", Some("23:21")),
            false,
        ),
        (
            version("23:20", None),
            version("30:00", Some("23:22")),
            true,
        ),
        (
            version("23:20", None),
            version("23:20", Some("23:10")),
            false,
        ),
        (
            version("30:00", None),
            version("23:20", Some("23:10")),
            false,
        ),
    ] {
        let report = lint(&[first.clone(), second.clone()].join("\n"));
        assert_eq!(places(&report.violations), []);
        let mut open = report.not_judged.iter().filter(|it| it.owed);
        let is_told = open.any(|it| {
            it.clause == "PA-7" && it.reason.contains("when its question was to close later")
        });
        assert_eq!(is_told, is_open, "{first} {second}: {}", words(&report));
    }
}

/// PA-3: versions may differ in their arguments as long as nothing is allowed, and in how they write them.
#[test]
fn versions_of_an_action_run_with_the_arguments_of_all_of_them() {
    let version = |arguments: Value, status: &str| {
        json!({"action_id": "a", "arguments": arguments, "status": status}).to_string()
    };
    let lines = |rows: &[String]| lint(&rows.join("\n"));
    let pending = [
        version(json!([3]), "pending"),
        version(json!([9]), "pending"),
    ];
    assert_eq!(places(&lines(&pending).violations), []);
    let written = [
        version(json!("[3]"), "pending"),
        version(json!([3]), "done"),
    ];
    assert_eq!(places(&lines(&written).violations), []);
    for status in ["done", "allowed"] {
        let third = [&pending[..], &[version(json!([3]), status)]].concat();
        assert_eq!(places(&lines(&third).violations), [("PA-3", 3)]);
    }
}

/// What stands for nothing, as exports and programs write it.
const NOTHING: [&str; 12] = [
    "null",
    r#""""#,
    r#"" ""#,
    r#""NULL""#,
    r#""\\N""#,
    r#""0000-00-00 00:00:00""#,
    r#""0001-01-01T00:00:00Z""#,
    r#""1970-01-01 01:00:00""#,
    r#""infinity""#,
    r#""-infinity""#,
    "0",
    "-62135596800",
];

/// PA-1, PA-5, PA-7, PA-10: only a time says that a call ran; what stands there for none is as null, and what is neither accuses nobody.
#[test]
fn only_a_time_says_that_a_call_ran() {
    let with = |status: &str, ran: &str| {
        let row = r#"{"action_id":"a","effect":"write","status":"STATUS","created_at":"2026-11-28 11:00:00","expires_at":"2026-11-28 11:05:00","decided_at":null,"run":{"started_at":RAN,"count":0}}"#;
        lint(&row.replace("STATUS", status).replace("RAN", ran))
    };
    for (status, clause) in [
        ("denied", "PA-5"),
        ("withdrawn", "PA-5"),
        ("expired", "PA-7"),
        ("pending", "PA-1"),
    ] {
        for nothing in NOTHING {
            let report = with(status, nothing);
            let found = (report.verdict, places(&report.violations));
            assert_eq!(found, (Verdict::Conforming, vec![]), "{status} {nothing}");
        }
        for unread in ["false", "true", "{}", "[]", r#""None""#, r#""2026-11-28""#] {
            let report = with(status, unread);
            let found = (report.verdict, places(&report.violations));
            assert_eq!(found, (Verdict::Inconclusive, vec![]), "{status} {unread}");
            assert!(words(&report).contains("`executed_at` on line 1 is"));
        }
        for ran in [
            r#""2026-11-28 11:07:00""#,
            "1795863960.25",
            r#""20261128T110600.5+0000""#,
        ] {
            assert_eq!(
                places(&with(status, ran).violations),
                [(clause, 1)],
                "{status} {ran}"
            );
        }
    }
}

/// PA-1, PA-7, PA-10: what stands for nothing in any other column is as null, too.
#[test]
fn what_stands_for_nothing_is_nothing_in_each_column() {
    for nothing in NOTHING {
        let nothing: Value = serde_json::from_str(nothing).expect("JSON");
        for column in ["created_at", "expires_at", "decided_at"] {
            let [null, report] = [&Value::Null, &nothing].map(|it| changed(&json!({column: it})));
            assert_eq!(words(&null), words(&report), "{column} {nothing}");
            assert_eq!(report.verdict, Verdict::Conforming, "{column} {nothing}");
        }
        let undecided = json!({"decision": null, "decided_by": "", "decided_at": nothing});
        assert_eq!(
            places(&changed(&undecided).violations),
            [("PA-1", 1)],
            "{nothing}"
        );
    }
    for nothing in ["", "NULL", "\\N"] {
        for column in [
            "effect",
            "arguments",
            "status",
            "decision",
            "decided_by",
            "may_decide",
            "label",
            "agent_id",
            "edited",
            "session_id",
        ] {
            let [null, report] = [Value::Null, json!(nothing)].map(|it| {
                let it = if column == "edited" {
                    json!({"arguments": it})
                } else {
                    it
                };
                changed(&json!({column: it}))
            });
            assert_eq!(words(&null), words(&report), "{column} {nothing}");
        }
    }
    // Names that are none are no versions of one action.
    let nameless = [
        r#"{"action_id":"","status":"denied"}"#,
        r#"{"action_id":"","status":"done"}"#,
    ];
    let report = lint(&nameless.join("\n"));
    let found = (report.verdict, places(&report.violations));
    assert_eq!(found, (Verdict::Inconclusive, vec![]), "{}", words(&report));
}

/// PA-3: what is no JSON, and what a row that did not run holds, is no proof of other arguments.
#[test]
fn only_arguments_are_other_arguments() {
    let ran = |arguments: Value| json!({"started_at": "2026-05-24T14:20:11Z", "count": 1, "arguments": arguments});
    let not_run =
        |arguments: Value| json!({"started_at": null, "count": 0, "arguments": arguments});
    let denied = |arguments: Value| json!({"status": "denied", "decision": "deny", "run": not_run(arguments)});
    let edited = |arguments: Value| json!({"edited": {"arguments": arguments}});
    let (right, wrong, open) = (
        Verdict::Conforming,
        Verdict::Violating,
        Verdict::Inconclusive,
    );
    for (change, verdict) in [
        (json!({"run": ran(json!(""))}), right),
        (json!({"run": ran(json!("{\"ids\":[3]}"))}), right),
        (json!({"run": ran(json!("{\"ids\":[4]}"))}), wrong),
        (json!({"run": ran(json!({}))}), wrong),
        (json!({"run": ran(json!("ids: 4"))}), open),
        (json!({"run": ran(json!(false))}), open),
        (
            json!({"arguments": "ids: 3", "run": ran(json!({"ids": [3]}))}),
            open,
        ),
        (
            json!({"arguments": "ids: 3", "run": ran(json!("ids: 3"))}),
            right,
        ),
        (denied(json!("")), right),
        (denied(json!({})), right),
        (denied(json!("[]")), open),
        (denied(json!({"ids": [4]})), open),
        (edited(json!("")), right),
        (edited(json!({"ids": [4]})), wrong),
        (edited(json!({})), open),
        (edited(json!("[redacted]")), open),
    ] {
        let report = changed(&change);
        assert_eq!(report.verdict, verdict, "{change} {}", words(&report));
        let is_of_arguments = |it: &&str| *it == "PA-3";
        let clauses = report.violations.iter().map(|it| it.clause);
        let open = report
            .not_judged
            .iter()
            .filter(|it| it.owed)
            .map(|it| it.clause);
        assert!(
            clauses.chain(open).all(|it| is_of_arguments(&it)),
            "{change}"
        );
    }
    let version = |arguments: &str, status: &str| {
        json!({"action_id": "a", "arguments": arguments, "status": status}).to_string()
    };
    let report = lint(&[version("ids: 3", "pending"), version("ids: 4", "done")].join("\n"));
    assert_eq!((report.verdict, places(&report.violations)), (open, vec![]));
}

/// PA-1, PA-7, PA-10: a time with an offset and one without are held against each other beyond any offset, and else named.
#[test]
fn a_time_with_an_offset_and_one_without_are_compared_beyond_any_offset() {
    for (decided, ran, found, named) in [
        (
            "2026-05-24 14:20:10",
            "2026-05-24 14:20:11",
            &[][..],
            &["PA-10", "PA-7"][..],
        ),
        ("2026-05-25 04:20:31", "2026-05-25 04:20:32", &[], &["PA-7"]),
        ("2026-05-25 04:20:32", "2026-05-25 04:20:33", &["PA-7"], &[]),
        (
            "2026-05-24 02:19:58",
            "2026-05-24 02:19:58",
            &["PA-10"],
            &[],
        ),
        (
            "2026-05-24 02:19:59",
            "2026-05-24 02:19:59",
            &[],
            &["PA-10"],
        ),
        (
            "2026-05-24T14:20:10Z",
            "2026-05-24 14:20:11",
            &[],
            &["PA-1", "PA-10"],
        ),
        ("2026-05-24T14:20:10Z", "2026-05-24T14:20:11Z", &[], &[]),
    ] {
        let run = json!({"started_at": ran, "count": 1});
        let report = changed(&json!({"decided_at": decided, "run": run}));
        let clauses: Vec<_> = report.violations.iter().map(|it| it.clause).collect();
        assert_eq!(clauses, found, "{decided} {ran}: {}", words(&report));
        let is_such = |it: &&countersign_lint::report::NotJudged| {
            it.reason
                .contains("one has an offset and the other has none")
        };
        let told: Vec<_> = report.not_judged.iter().filter(is_such).collect();
        let clauses: Vec<_> = told.iter().map(|it| it.clause).collect();
        assert_eq!(clauses, named, "{decided} {ran}");
        assert!(told.iter().all(|it| !it.owed));
    }
}

/// PA-1, PA-5, PA-7: words that are understood as they are, in capitals, too.
#[test]
fn words_that_are_understood_need_no_meaning_of_their_own() {
    for (word, clauses) in [
        ("pending", &["PA-10"][..]),
        ("allow", &[]),
        ("allowed", &[]),
        ("approve", &[]),
        ("Approved", &[]),
        ("accept", &[]),
        ("ACCEPTED", &[]),
        ("executed", &[]),
        ("deny", &["PA-5"]),
        ("denied", &["PA-5"]),
        ("reject", &["PA-5"]),
        ("rejected", &["PA-5"]),
        ("cancel", &["PA-5"]),
        ("cancelled", &["PA-5"]),
        ("canceled", &["PA-5"]),
        ("deleted", &["PA-5"]),
        ("expired", &["PA-10"]),
        ("timeout", &["PA-10"]),
        ("timed_out", &["PA-10"]),
    ] {
        let mut change = json!({"status": word, "decision": null});
        if ["cancel", "canceled", "cancelled", "deleted"].contains(&word) {
            change["decided_at"] = Value::Null;
            change["decided_by"] = Value::Null;
        }
        let report = changed(&change);
        let found: Vec<_> = report.violations.iter().map(|it| it.clause).collect();
        assert_eq!(found, clauses, "{word}: {}", words(&report));
        assert!(!words(&report).contains("no meaning"), "{word}");
    }
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/TRANSCRIPTS.md");
    let document = fs::read_to_string(document).expect("the document");
    for word in [
        "`allow`",
        "`approve`",
        "`accept`",
        "`deny`",
        "`reject`",
        "`cancel`",
        "`deleted`",
        "`timeout`",
        "`timed_out`",
    ] {
        assert!(document.contains(word), "{word}");
    }
}
