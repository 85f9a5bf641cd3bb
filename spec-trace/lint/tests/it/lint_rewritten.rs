//! Lint against the same stream written down in other ways: what it says of a stream, it says of each.
//!
//! A producer may name types by their URI, have another time zone and fields of its own, and leave its subscribers' other
//! messages between its events; a recorder may wrap what it sees and end lines as it likes. Nothing of that makes a fault,
//! or hides one.

use std::fs;
use std::path::Path;

use countersign_lint::finding::Finding;
use countersign_lint::json;
use countersign_lint::lint;
use countersign_lint::report::{LintReport, Verdict};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

use crate::lint::conforming;

/// A way to write the same stream down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rewriting {
    /// `https://aaep-protocol.org/types/` instead of `aaep:`, with `agent.`.
    TypeAsUri,
    /// The same without it.
    TypeAsShortUri,
    /// The context first of several.
    SeveralContexts,
    /// The same moments by the clocks of Kathmandu.
    TimeZone,
    /// Fields and extensions that no reader knows.
    FieldsOfOnesOwn,
    /// Messages in the wrapper of a recorder, without the time of their receipt.
    Wrapped,
    /// Lines that end as on Windows, and blank ones between them.
    LineEnds,
    /// Messages that are no events and no replies between the lines.
    OtherMessages,
    /// A byte order mark in front.
    Mark,
}

const ALL: [Rewriting; 9] = [
    Rewriting::TypeAsUri,
    Rewriting::TypeAsShortUri,
    Rewriting::SeveralContexts,
    Rewriting::TimeZone,
    Rewriting::FieldsOfOnesOwn,
    Rewriting::Wrapped,
    Rewriting::LineEnds,
    Rewriting::OtherMessages,
    Rewriting::Mark,
];

/// A stream, each line with its number in the original; those that were put in have none.
#[derive(Debug, Clone)]
struct Written {
    lines: Vec<(Option<u64>, String)>,
    end: &'static str,
    mark: &'static str,
}

impl Written {
    fn of(lines: &[String]) -> Self {
        Self {
            lines: lines
                .iter()
                .cloned()
                .zip(1..)
                .map(|(line, number)| (Some(number), line))
                .collect(),
            end: "\n",
            mark: "",
        }
    }

    fn rewritten(mut self, rewriting: Rewriting) -> Self {
        match rewriting {
            Rewriting::LineEnds => {
                self.end = "\r\n";
                self.put_between(&["", " \t"]);
            }
            Rewriting::OtherMessages => self.put_between(&[
                r#"{"type":"subscription.request","aaep_version":"1.0.0"}"#,
                r#"{"dir":"in","message":{"_raw":"hello"}}"#,
                r#"{"dir":"in","message":"ping"}"#,
                r#"{"_raw":": keep-alive"}"#,
                r#"{"dir":"out","message":{"type":"subscription.accepted","subscription_id":"sub_z"}}"#,
            ]),
            Rewriting::Mark => self.mark = "\u{FEFF}",
            Rewriting::TypeAsUri
            | Rewriting::TypeAsShortUri
            | Rewriting::SeveralContexts
            | Rewriting::TimeZone
            | Rewriting::FieldsOfOnesOwn
            | Rewriting::Wrapped => {
                for (_, line) in &mut self.lines {
                    // What is broken is left as it is.
                    if let Ok(record) = json::parse(line) {
                        *line = rewritten_record(record, rewriting).to_string();
                    }
                }
            }
        }
        self
    }

    fn put_between(&mut self, others: &[&str]) {
        let mut others = others.iter().cycle();
        let lines = std::mem::take(&mut self.lines);
        for line in lines {
            let other = others.next().expect("a cycle never ends");
            self.lines.push((None, (*other).to_owned()));
            self.lines.push(line);
        }
    }

    fn report(&self) -> LintReport {
        let lines: Vec<&str> = self.lines.iter().map(|(_, line)| &**line).collect();
        let text = format!("{}{}", self.mark, lines.join(self.end));
        lint(text.as_bytes(), "stream").expect("reading from memory cannot fail")
    }

    /// What is found, by the lines of the original.
    fn found(&self) -> Found {
        let report = self.report();
        let places = |findings: &[Finding]| {
            let place = |finding: &Finding| {
                let index = usize::try_from(finding.line - 1).expect("a small number");
                let line = self.lines[index].0.expect("a line of the original");
                (finding.clause, line)
            };
            findings.iter().map(place).collect()
        };
        Found {
            violations: places(&report.violations),
            warnings: places(&report.warnings),
            verdict: report.verdict,
        }
    }
}

/// Clauses and the lines of the original at which they are broken.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    violations: Vec<(&'static str, u64)>,
    warnings: Vec<(&'static str, u64)>,
    verdict: Verdict,
}

fn rewritten_record(mut record: Value, rewriting: Rewriting) -> Value {
    let is_wrapped = record.get("message").is_some_and(Value::is_object);
    if rewriting == Rewriting::Wrapped {
        let is_reply = matches!(
            record["type"].as_str(),
            Some("confirmation.reply" | "clarification.reply")
        );
        let is_event = record["type"]
            .as_str()
            .is_some_and(|it| it.starts_with("aaep:"));
        return match (is_wrapped, is_event, is_reply) {
            (false, true, _) => json!({"dir": "out", "message": record}),
            (false, _, true) => json!({"dir": "in", "message": record}),
            (true, ..) | (false, false, false) => record,
        };
    }
    let message = if is_wrapped {
        &mut record["message"]
    } else {
        &mut record
    };
    let name = message["type"]
        .as_str()
        .and_then(|it| it.strip_prefix("aaep:"))
        .map(str::to_owned);
    let uri = "https://aaep-protocol.org/types/";
    match (rewriting, name) {
        (Rewriting::TypeAsUri, Some(name)) => message["type"] = json!(format!("{uri}{name}")),
        (Rewriting::TypeAsShortUri, Some(name)) => {
            let name = name.strip_prefix("agent.").unwrap_or(&name);
            message["type"] = json!(format!("{uri}{name}"));
        }
        (Rewriting::SeveralContexts, Some(_)) if message["@context"].is_string() => {
            message["@context"] = json!([message["@context"], "https://example.org/context"]);
        }
        (Rewriting::FieldsOfOnesOwn, Some(_)) => {
            message["note"] = json!([{"of": "the producer"}, null, 1.5]);
            if message.get("extensions").is_none_or(Value::is_object) {
                message["extensions"]["example"] =
                    json!({"tool": "other", "reply_token": "rpl_other"});
            }
        }
        (Rewriting::TimeZone, _) => in_kathmandu(message),
        _ => {}
    }
    record
}

/// A quarter to six hours are added to a time that says that it is universal. None of the streams goes over midnight.
fn in_kathmandu(message: &mut Value) {
    let Some(text) = message["timestamp"].as_str() else {
        return;
    };
    let hour_and_minute = text
        .get(11..13)
        .and_then(|it| it.parse::<u32>().ok())
        .zip(text.get(14..16).and_then(|it| it.parse::<u32>().ok()));
    let Some((hour, minute)) = hour_and_minute.filter(|_| text.ends_with('Z')) else {
        return;
    };
    let minutes = hour * 60 + minute + 345;
    let (date, rest) = (&text[..11], &text[16..text.len() - 1]);
    message["timestamp"] = json!(format!(
        "{date}{:02}:{:02}{rest}+05:45",
        minutes / 60,
        minutes % 60
    ));
}

fn traces(folder: &str) -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../traces")
        .join(folder);
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("streams") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a stream");
        let lines = text.lines().map(str::to_owned).collect();
        all.push((path.display().to_string(), lines));
    }
    all
}

/// Each fault is found where it is, and each conforming stream conforms, however it is written down.
#[test]
fn a_verdict_does_not_hang_on_how_a_stream_is_written_down() {
    let mut judged = 0;
    for folder in ["valid", "invalid"] {
        for (name, lines) in traces(folder) {
            let original = Written::of(&lines);
            let expected = original.found();
            for rewriting in ALL {
                let written = original.clone().rewritten(rewriting);
                assert_eq!(written.found(), expected, "{rewriting:?} of {name}");
                judged += 1;
            }
        }
    }
    assert!(judged > 2_000, "{judged}");
}

/// AAEP-A.2-4: a producer may have states of its own, and a stream that conforms does so with them.
#[test]
fn a_state_of_ones_own_is_as_good_as_thinking() {
    let mut judged = 0;
    for (name, lines) in traces("valid") {
        let renamed = |line: &String| line.replace("\"thinking\"", "\"musing\"");
        let own: Vec<String> = lines.iter().map(renamed).collect();
        let (own, original) = (Written::of(&own), Written::of(&lines));
        assert_eq!(own.found(), original.found(), "{name}");
        judged += usize::from(own.lines != original.lines);
    }
    assert!(judged > 50, "{judged}");
}

/// AAEP-A.9-1: a fault is found, and nothing else, in whatever company its session is.
#[test]
fn a_fault_is_found_between_the_sessions_of_others() {
    let company: Vec<String> = traces("valid")
        .into_iter()
        .find(|(name, _)| name.contains("AAEP-A.8-4_asked-then-accepted-then-called"))
        .map(|(_, lines)| lines)
        .expect("a conforming stream with a question and a reply");
    let of_others = |line: &String, other: usize| {
        let line = line
            .replace("sess_", &format!("sess_other{other}"))
            .replace("evt_", &format!("evt_other{other}"));
        let line = line.replace("rpl_", &format!("rpl_other{other}"));
        line.replace("agent-1", &format!("agent-of-{other}"))
    };
    for (name, lines) in traces("invalid") {
        let original = Written::of(&lines);
        // Without any reply the judge has to take it that replies are not recorded, and here are some.
        if !lines.iter().any(|line| line.contains(".reply\""))
            && lines.iter().any(|line| line.contains("awaiting."))
        {
            continue;
        }
        let mut written = original.clone();
        written.lines.clear();
        let most = lines.len().max(company.len());
        for number in 0..most {
            for other in 0..2 {
                let line = company.get(number).map(|line| of_others(line, other));
                written.lines.extend(line.map(|line| (None, line)));
                if other == 0 {
                    written.lines.extend(original.lines.get(number).cloned());
                }
            }
        }
        assert_eq!(written.found(), original.found(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/tests/lint_rewritten.txt",
        ))),
        ..ProptestConfig::default()
    })]

    /// The same for what a generator comes up with, in several ways at once.
    #[test]
    fn a_conforming_stream_conforms_however_it_is_written_down(
        stream in conforming::streams(),
        rewritings in subsequence(ALL.to_vec(), 1..4),
        twice in any::<[Index; 2]>(),
    ) {
        let mut written = Written::of(&stream);
        for rewriting in rewritings {
            written = written.rewritten(rewriting);
        }
        // A reply that is sent again, and arrives when it may.
        let [reply, behind] = twice;
        let reply = reply.get(&written.lines).clone();
        if reply.1.contains(".reply\"") {
            let first = written.lines.iter().position(|it| *it == reply).unwrap_or_default();
            let at = first + 1 + behind.index(written.lines.len() - first);
            written.lines.insert(at, (None, reply.1));
        }
        let report = written.report();
        let accused: Vec<_> = report.violations.iter().map(|it| (it.clause, it.line, &it.message)).collect();
        prop_assert_eq!(accused, []);
        let warned = report.warnings.iter().filter(|it| it.clause != "AAEP-6.4.1-3");
        prop_assert_eq!(warned.map(|it| &it.message).collect::<Vec<_>>(), Vec::<&String>::new());
        prop_assert_eq!(report.verdict, Verdict::Conforming);
    }

    /// AAEP-A.8-4: nor does a call that nobody was asked about go unnoticed.
    #[test]
    fn a_call_without_question_is_accused_however_it_is_written_down(
        stream in conforming::streams(),
        rewritings in subsequence(ALL.to_vec(), 1..4),
    ) {
        let mut lines = stream;
        lines.insert(1, conforming::irreversible_call_of_the_session_in(&lines[0]));
        let mut written = Written::of(&lines);
        for rewriting in rewritings {
            written = written.rewritten(rewriting);
        }
        let violations = written.found().violations;
        prop_assert!(violations.contains(&("AAEP-A.8-4", 2)), "{:?}", violations);
    }
}
