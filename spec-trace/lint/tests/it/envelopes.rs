//! The same streams in the formats of other tools: what is said of a stream, is said of it in every envelope.

use std::fs;
use std::io;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use countersign_lint::envelope::{Envelope, How, Opened, Pointers};
use countersign_lint::lines::Line;
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use countersign_lint::time::Timestamp;
use countersign_lint::{judge_opened, lint};
use serde_json::{Value, json};

/// The streams of a folder, by name.
fn traces(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../traces")
        .join(folder);
    let entries = fs::read_dir(folder).expect("the folder of traces is part of the project");
    let mut traces: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("a readable entry").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read_to_string(path).expect("a stream in UTF-8"))
        })
        .collect();
    traces.sort();
    assert!(traces.len() > 40, "the streams are there");
    traces
}

fn judged_as(bytes: &[u8], how: &How) -> Result<LintReport, String> {
    let opened = Opened::new(bytes, how);
    let selection = Selection::default();
    judge_opened(opened, ("a", "b"), Settings::default(), &selection).map_err(|why| why.to_string())
}

/// A stream of our format whose order is taken to be by two clocks, if that is so.
fn plain(text: &str, two_clocks: bool) -> LintReport {
    let opened = Opened::new(text.as_bytes(), &How::default());
    let settings = Settings {
        two_clocks,
        ..Settings::default()
    };
    let judged = judge_opened(opened, ("a", "b"), settings, &Selection::default());
    judged.unwrap_or_else(|_| lint(text.as_bytes(), "a").expect("memory can be read"))
}

fn judged(bytes: &[u8]) -> LintReport {
    judged_as(bytes, &How::default()).expect("it holds messages")
}

/// What is said of a stream, without places.
fn said(report: &LintReport) -> (Verdict, Vec<&str>, Vec<&str>, u64) {
    let clauses = |findings: &[countersign_lint::finding::Finding]| {
        findings.iter().map(|it| it.clause).collect::<Vec<_>>()
    };
    let (violations, warnings) = (clauses(&report.violations), clauses(&report.warnings));
    (report.verdict, violations, warnings, report.records)
}

/// A way to put the lines of a stream into another format.
struct Way {
    name: &'static str,
    envelope: Envelope,
    /// Whether a line that is no JSON can be put into it.
    takes_all: bool,
    put: fn(&[&str]) -> String,
}

fn sse(lines: &[&str]) -> String {
    let event = |line: &&str| format!(": ping\nid: 7\nevent: message\ndata: {line}\n\n");
    lines.iter().map(event).collect()
}

fn docker(lines: &[&str]) -> String {
    let entry = |line: &&str| {
        let log = format!("{line}\n");
        format!(
            "{}\n",
            json!({"log": log, "stream": "stdout", "time": "2030-01-01T00:00:00.123456789Z"})
        )
    };
    lines.iter().map(entry).collect()
}

fn cri(lines: &[&str]) -> String {
    let entry = |line: &&str| {
        let half = (line.len() / 2..=line.len())
            .find(|at| line.is_char_boundary(*at))
            .unwrap_or_default();
        let time = "2030-01-01T00:00:00.123456789+01:00";
        format!(
            "{time} stdout P {}\n{time} stdout F {}\n",
            &line[..half],
            &line[half..]
        )
    };
    lines.iter().map(entry).collect()
}

fn cloud_event(line: &str) -> String {
    format!(r#"{{"specversion":"1.0","type":"com.example","id":"1","source":"/a","data":{line}}}"#)
}

fn cloud_event_in_base64(line: &str) -> String {
    let data = BASE64_STANDARD.encode(line);
    format!(
        r#"{{"specversion":"1.0","type":"com.example","id":"1","source":"/a","data_base64":"{data}"}}"#
    )
}

/// What a cloud event holds in base64 is its data, and what is no base64 is told.
#[test]
fn a_cloud_event_may_hold_its_data_in_base64() {
    for name in [UNASKED, "AAEP-6.1-6_asked-again-while-open.jsonl"] {
        let text = invalid(name);
        let lines = text.lines().map(cloud_event_in_base64);
        let put = lines.collect::<Vec<_>>().join("\n");
        let (plain, within) = (judged(text.as_bytes()), judged(put.as_bytes()));
        assert_eq!(said(&within), said(&plain), "{name}");
        let broken = put.replacen("data_base64\":\"", "data_base64\":\"~", 1);
        let first = &judged(broken.as_bytes()).violations[0];
        assert!(first.message.contains("no base64"), "{}", first.message);
    }
}

fn pretty(lines: &[&str]) -> String {
    let value = |line: &&str| match serde_json::from_str::<Value>(line) {
        // A name that comes twice is to stay so.
        Ok(value)
            if value.to_string().len() + 2 * line.matches([':', ',']).count() >= line.len() =>
        {
            format!("{value:#}\n")
        }
        _ => format!("{}\n", line.replace(", \"", ",\n  \"")),
    };
    lines.iter().map(value).collect()
}

fn har(lines: &[&str]) -> String {
    let body = sse(lines);
    let stream = json!({
        "startedDateTime": "2026-05-24T14:00:00.000Z",
        "request": {"method": "GET", "url": "/events"},
        "response": {"status": 200, "content": {"mimeType": "text/event-stream", "text": body}},
    });
    json!({"log": {"version": "1.2", "creator": {"name": "x"}, "pages": [], "entries": [stream]}})
        .to_string()
}

const WAYS: [Way; 9] = [
    Way {
        name: "sse",
        envelope: Envelope::Sse,
        takes_all: true,
        put: sse,
    },
    Way {
        name: "array",
        envelope: Envelope::Json,
        takes_all: false,
        put: |lines| format!("[{}]", lines.join(",")),
    },
    Way {
        name: "array on lines",
        envelope: Envelope::Json,
        takes_all: false,
        put: |lines| format!("[\n  {}\n]\n", lines.join(",\n  ")),
    },
    Way {
        name: "pretty",
        envelope: Envelope::Json,
        takes_all: false,
        put: pretty,
    },
    Way {
        name: "behind one another",
        envelope: Envelope::Json,
        takes_all: false,
        put: |lines| lines.join(" "),
    },
    Way {
        name: "docker",
        envelope: Envelope::Docker,
        takes_all: true,
        put: docker,
    },
    Way {
        name: "cri",
        envelope: Envelope::Cri,
        takes_all: true,
        put: cri,
    },
    Way {
        name: "cloudevents",
        envelope: Envelope::CloudEvents,
        takes_all: false,
        put: |lines| lines.iter().map(|line| cloud_event(line) + "\n").collect(),
    },
    Way {
        name: "har",
        envelope: Envelope::Har,
        takes_all: true,
        put: har,
    },
];

fn is_json(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok()
}

/// The streams that can be put into it, as lines.
fn streams(way: &Way) -> Vec<(String, String)> {
    let all = ["valid", "invalid"].into_iter().flat_map(traces);
    let fits = |(_, text): &(String, String)| way.takes_all || text.lines().all(is_json);
    all.filter(fits).collect()
}

#[test]
fn what_is_said_of_a_stream_is_said_of_it_in_every_envelope() {
    for way in &WAYS {
        let streams = streams(way);
        assert!(streams.len() > 150, "{}: {}", way.name, streams.len());
        for (name, text) in &streams {
            // Outermost, an array is one of messages.
            if name.contains("not-an-object")
                && ["pretty", "behind one another"].contains(&way.name)
            {
                continue;
            }
            let plain = plain(text, way.envelope == Envelope::Har);
            let lines: Vec<&str> = text.lines().collect();
            let put = (way.put)(&lines);
            let how = How {
                from: Some(way.envelope),
                pointers: None,
            };
            let found = judged_as(put.as_bytes(), &how).expect("it holds messages");
            assert_eq!(
                said(&found),
                said(&plain),
                "{} in {}\n{put}",
                name,
                way.name
            );
            let told = judged(put.as_bytes());
            assert_eq!(
                said(&told),
                said(&plain),
                "{} in {}, by its content",
                name,
                way.name
            );
            let prints = |report: &LintReport| {
                report
                    .violations
                    .iter()
                    .map(|it| it.fingerprint.clone())
                    .collect::<Vec<_>>()
            };
            // Whether the file ends there is another thing to say.
            if way.name != "pretty" && !name.contains("torn-last-line") {
                assert_eq!(prints(&found), prints(&plain), "{} in {}", name, way.name);
            }
        }
    }
}

#[test]
fn our_own_format_is_read_as_it_stands() {
    for (name, text) in ["valid", "invalid"].into_iter().flat_map(traces) {
        assert!(
            Opened::new(text.as_bytes(), &How::default()).is_ours(),
            "{name}"
        );
        let plain = lint(text.as_bytes(), "a").expect("memory can be read");
        assert_eq!(judged(text.as_bytes()).to_json(), plain.to_json(), "{name}");
    }
}

/// Whatever is cut off, what is there is judged, and nothing else: a stream that conforms is not accused but of the record
/// that is cut.
#[test]
fn a_stream_that_is_cut_off_anywhere_is_accused_of_its_last_record_alone() {
    let (_, text) = traces("valid").swap_remove(3);
    let lines: Vec<&str> = text.lines().take(6).collect();
    for way in &WAYS {
        let put = (way.put)(&lines);
        for end in 0..put.len() {
            let Ok(report) = judged_as(&put.as_bytes()[..end], &How::default()) else {
                continue;
            };
            let found = said(&report);
            let is_of_the_last = match report.violations.as_slice() {
                [] => true,
                [one] => one.clause == "AAEP-EV-1",
                _ => false,
            };
            assert!(
                is_of_the_last,
                "{} at {end}: {found:?}\n{}",
                way.name,
                &put[..end]
            );
        }
    }
}

#[test]
fn bytes_that_are_changed_anywhere_are_judged_without_a_panic() {
    let (_, text) = traces("invalid").swap_remove(3);
    let lines: Vec<&str> = text.lines().take(3).collect();
    for way in &WAYS {
        let put = (way.put)(&lines).into_bytes();
        for at in 0..put.len() {
            for byte in [b'"', b'\\', b'{', b']', b'\n', 0xFF] {
                let mut put = put.clone();
                put[at] = byte;
                let how = How {
                    from: Some(way.envelope),
                    pointers: None,
                };
                let _ = judged_as(&put, &how);
                if at < 64 {
                    let _ = judged_as(&put, &How::default());
                }
            }
        }
    }
}

const UNASKED: &str = "AAEP-A.8-4_called-then-asked-then-accepted.jsonl";

fn invalid(name: &str) -> String {
    let (_, text) = traces("invalid")
        .into_iter()
        .find(|(it, _)| it == name)
        .expect("the stream");
    text
}

/// The finding points at the message in the file, and names others by their lines.
#[test]
fn a_finding_stands_where_its_message_lies_in_the_file() {
    let text = invalid(UNASKED);
    let lines: Vec<&str> = text.lines().collect();
    let plain = lint(text.as_bytes(), "a").expect("memory can be read");
    let line = plain.violations[0].line;
    let column = |report: &LintReport| report.violations[0].excerpt().and_then(|it| it.column);
    let own = column(&plain).expect("a column");

    let found = judged(sse(&lines).as_bytes());
    assert_eq!(found.violations[0].line, 5 * (line - 1) + 4);
    assert_eq!(column(&found), Some(own + 6));
    assert!(!found.violations[0].message.contains("(message"));
    assert_eq!(found.violations[0].message_number, None);

    let found = judged(format!("[{}]", lines.join(",")).as_bytes());
    let before: usize = lines[..usize::try_from(line).expect("a small number") - 1]
        .iter()
        .map(|line| line.len() + 1)
        .sum();
    assert_eq!(found.violations[0].line, 1);
    assert_eq!(column(&found), Some(own + before as u64 + 1));
    let message = &found.violations[0].message;
    assert!(message.contains("line 1 (message "), "{message}");
    // On a line of several it is the number that tells, and the same violation is known by the same fingerprint.
    assert_eq!(found.violations[0].message_number, Some(line));
    assert_eq!(plain.violations[0].message_number, None);
    let known_by = |report: &LintReport| report.violations[0].fingerprint.clone();
    assert_eq!(known_by(&found), known_by(&plain));

    let found = judged(docker(&lines).as_bytes());
    assert_eq!((found.violations[0].line, column(&found)), (line, None));
}

/// Docker cuts lines beyond 16 KiB.
#[test]
fn a_message_that_a_log_cuts_into_parts_is_put_together() {
    let text = invalid(UNASKED);
    let entry = |part: &str| format!("{}\n", json!({"log": part, "stream": "stdout"}));
    let entries = text.split_inclusive('\n').map(|line| {
        let (first, rest) = line.split_at(40);
        let (second, third) = rest.split_at(40);
        [first, second, third].map(entry).concat()
    });
    let put = entries.collect::<Vec<_>>().concat();
    let plain = lint(text.as_bytes(), "a").expect("memory can be read");
    let found = judged(put.as_bytes());
    assert_eq!(said(&found), said(&plain));
    assert_eq!(found.violations[0].line, 3 * plain.violations[0].line - 2);
}

/// A line of a log: what stands in it, and on which output.
type Entry = fn(&str, &str) -> String;

/// What a program writes on its other output comes between the parts, in parts itself.
#[test]
fn the_parts_of_one_output_are_put_together_whatever_comes_between_on_the_other() {
    let text = invalid(UNASKED);
    let docker = |part: &str, output: &str| format!("{}\n", json!({"log": part, "stream": output}));
    let cri = |part: &str, output: &str| {
        let tag = if part.ends_with('\n') { "F" } else { "P" };
        format!(
            "2030-01-01T00:00:00.1Z {output} {tag} {}\n",
            part.trim_end()
        )
    };
    let put = |entry: Entry, between: [&str; 2]| {
        let lines = text.split_inclusive('\n').map(|line| {
            let (first, rest) = line.split_at(40);
            let parts = [
                (first, "stdout"),
                (between[0], "stderr"),
                (rest, "stdout"),
                (between[1], "stderr"),
            ];
            parts.map(|(part, output)| entry(part, output)).concat()
        });
        judged(lines.collect::<String>().as_bytes())
    };
    let plain = lint(text.as_bytes(), "a").expect("memory can be read");
    let entries: [Entry; 2] = [docker, cri];
    for entry in entries {
        let other = ["{\"type\":\"acme:", "other\"}\n"];
        let found = put(entry, other);
        let (verdict, violations, warnings, records) = said(&plain);
        assert_eq!(said(&found), (verdict, violations, warnings, 2 * records));
        assert_eq!(found.violations[0].line, 4 * plain.violations[0].line - 3);
        // Of what is not ended the beginning is told, of either output.
        let torn = ["{\"type\":\"acme:other\"}\n", "{\"to"];
        let found = put(entry, torn);
        assert_eq!(
            found.violations.last().map(|it| it.clause),
            Some("AAEP-EV-1")
        );
    }
}

/// AAEP-EV-1: what a program writes in words on its second output is no message, and nobody is accused for it; what is torn or names a
/// type of ours is told.
#[test]
fn the_words_in_a_log_are_passed_over() {
    let (_, text) = traces("valid").swap_remove(0);
    let docker = |line: &str| {
        format!(
            "{}\n",
            json!({"log": format!("{line}\n"), "stream": "stderr"})
        )
    };
    let cri = |line: &str| format!("2030-01-01T00:00:00.1Z stderr F {line}\n");
    for entry in [&docker as &dyn Fn(&str) -> String, &cri] {
        let put = |between: &str| {
            let lines = text
                .lines()
                .map(|line| [entry(line), entry(between)].concat());
            judged(lines.collect::<String>().as_bytes())
        };
        let plain = lint(text.as_bytes(), "a").expect("memory can be read");
        let found = put("Listening on port 80");
        assert_eq!(said(&found), said(&plain));
        let mut open = found.not_judged.iter();
        assert!(
            open.any(|it| it.reason.contains("first on line 2")),
            "{:?}",
            found.not_judged
        );
        for between in [
            "{\"type\":\"aaep:agent.session",
            "sent \"aaep:agent.session.started\"",
        ] {
            let found = put(between);
            assert_eq!(found.violations[0].clause, "AAEP-EV-1", "{between}");
            assert_eq!(found.violations[0].line, 2, "{between}");
        }
    }
}

/// Values that break off take nothing of what follows with them.
#[test]
fn a_value_that_is_torn_ends_where_the_next_begins() {
    let (_, text) = traces("valid").swap_remove(0);
    let lines: Vec<&str> = text.lines().collect();
    for end in 1..lines[2].len() {
        let mut torn = lines.clone();
        torn.insert(2, &lines[2][..end]);
        let put = format!("[\n{}\n]", torn.join("\n,\n"));
        let report = judged(put.as_bytes());
        let clauses: Vec<_> = report
            .violations
            .iter()
            .map(|it| (it.clause, it.line))
            .collect();
        assert_eq!(clauses[0], ("AAEP-EV-1", 6), "{end}: {clauses:?}");
        assert_eq!(report.records, lines.len() as u64 + 1, "{end}: {clauses:?}");
    }
}

/// Events in an answer that streams, replies in requests between them, each with its status.
#[test]
fn an_archive_holds_replies_with_their_status_and_time() {
    let conforming = "AAEP-6.3.4-5_reply-of-a-sender-that-the-transport-refused.jsonl";
    let all = traces("valid");
    let (_, text) = all
        .iter()
        .find(|(it, _)| it == conforming)
        .expect("the stream");
    // The archive is what tells of times and statuses.
    let bare = text.lines().map(|line| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        format!("{}\n", record["message"])
    });
    let text: String = bare.collect();
    let (replies, events): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains(".reply\""));
    assert!(!replies.is_empty());
    let request = |reply: &&str, status: u64| {
        let time = serde_json::from_str::<Value>(reply).expect("JSON")["timestamp"].clone();
        json!({
            "startedDateTime": time,
            "request": {"method": "POST", "postData": {"mimeType": "application/json", "text": reply}},
            "response": {"status": status, "content": {"text": "{\"ok\":true}"}},
        })
    };
    let body = BASE64_STANDARD.encode(sse(&events));
    let archive = |status: u64| {
        let mut entries = vec![json!({
            "startedDateTime": "2026-05-24T14:00:00Z",
            "request": {},
            "response": {"status": 200, "content": {"mimeType": "text/event-stream; charset=utf-8", "encoding": "base64", "text": body}},
        })];
        entries.extend(replies.iter().map(|reply| request(reply, status)));
        json!({"log": {"entries": entries}}).to_string()
    };
    let plain = lint(text.as_bytes(), "a").expect("memory can be read");
    let found = judged(archive(202).as_bytes());
    assert_eq!(said(&found), said(&plain), "{:?}", found.violations);
    // Where no request says when it began, or none in a way that can be read, the reply does. Types are told in any letters.
    for time in [json!(null), json!("soon"), json!("2026-05-24T14:22:21.000")] {
        let mut untimed: Value = serde_json::from_str(&archive(202)).expect("JSON");
        let entries = untimed["log"]["entries"].as_array_mut().expect("entries");
        for entry in entries.iter_mut().skip(1) {
            entry["startedDateTime"] = time.clone();
        }
        let found = judged(untimed.to_string().as_bytes());
        assert_eq!(
            found.verdict, plain.verdict,
            "{time}: {:?}",
            found.violations
        );
    }
    for kind in [
        json!("Text/Event-Stream"),
        json!(""),
        json!(null),
        json!("text/plain"),
    ] {
        let mut typed: Value = serde_json::from_str(&archive(202)).expect("JSON");
        typed["log"]["entries"][0]["response"]["content"]["mimeType"] = kind.clone();
        let found = judged(typed.to_string().as_bytes());
        assert_eq!(said(&found), said(&plain), "{kind}: {:?}", found.violations);
    }
    let broken = archive(202).replace(&body, "not base64");
    let found = &judged(broken.as_bytes()).violations[0];
    assert!(found.message.contains("is not base64"), "{}", found.message);
    // Turned away, it accepts nothing.
    let refused = judged(archive(403).as_bytes());
    assert_eq!(refused.verdict, Verdict::Violating);
}

/// AAEP-EV-1: an answer is passed over in silence only where no event can stand in it.
#[test]
fn an_archive_says_which_answers_were_passed_over() {
    let text = invalid(UNASKED);
    let lines: Vec<&str> = text.lines().collect();
    let answer = |content: Value| json!({"response": {"status": 200, "content": content}});
    let said_of = |contents: &[Value]| {
        let stream = json!({"mimeType": "text/event-stream", "text": sse(&lines)});
        let entries = [&[stream], contents].concat().into_iter().map(answer);
        let archive = json!({"log": {"entries": entries.collect::<Vec<_>>()}});
        let report = judged(format!("\n{archive}").as_bytes());
        let passed_over = report
            .not_judged
            .iter()
            .filter(|it| it.clause == "AAEP-EV-1");
        let passed_over = passed_over.map(|it| it.reason.clone()).collect::<Vec<_>>();
        (report.verdict, passed_over)
    };
    let events = format!("<pre>{}</pre>", lines.join("\n"));
    let deeper = format!("{{\"events\":[{}]}}", lines.join(","));
    for (contents, told) in [
        (vec![], None),
        (
            vec![json!({"mimeType": "text/html", "text": "<p>aaep:agent.</p>"})],
            None,
        ),
        (
            vec![json!({"mimeType": "text/event-stream", "text": ""})],
            None,
        ),
        (
            vec![
                json!({"mimeType": "text/html", "text": events}),
                json!({"text": events}),
            ],
            Some(
                "2 answers in the archive hold what looks like events, and are neither streams nor JSON events, first on line 2 (text/html)",
            ),
        ),
        (
            vec![json!({"text": BASE64_STANDARD.encode(&events), "encoding": "base64"})],
            Some("(no type)"),
        ),
        (
            vec![json!({"mimeType": "application/json", "text": deeper})],
            Some("1 answer in the archive"),
        ),
        (
            vec![json!({"mimeType": "text/event-stream", "size": 0})],
            Some("without a body"),
        ),
    ] {
        let (verdict, found) = said_of(&contents);
        assert_eq!(verdict, Verdict::Violating);
        assert_eq!(found.len(), usize::from(told.is_some()), "{found:?}");
        assert!(
            found.iter().all(|it| it.contains(told.unwrap_or_default())),
            "{found:?}"
        );
    }
}

/// Whatever the stream: an answer waits for the requests that came between its events.
#[test]
fn an_archive_puts_replies_between_the_events_by_time() {
    let mut archived = 0;
    for (name, text) in ["valid", "invalid"].into_iter().flat_map(traces) {
        let is_bare = |line: &&str| line.starts_with("{\"type\": \"confirmation.reply\"");
        let time = |line: &str| {
            serde_json::from_str::<Value>(line).ok()?["timestamp"]
                .as_str()
                .map(str::to_owned)
        };
        let times: Vec<_> = text.lines().filter_map(time).collect();
        let (replies, events): (Vec<&str>, Vec<&str>) = text.lines().partition(is_bare);
        // Where times are the same, nobody can tell which came first.
        let is_told =
            times.is_sorted_by(|one, next| one < next) && times.len() == text.lines().count();
        if replies.is_empty() || !text.lines().all(is_json) || !is_told {
            continue;
        }
        let mut entries = vec![json!({
            "startedDateTime": "2020-01-01T00:00:00Z",
            "response": {"status": 200, "content": {"mimeType": "text/event-stream", "text": sse(&events)}},
        })];
        entries.extend(replies.iter().map(|reply| {
            json!({
                "startedDateTime": time(reply),
                "request": {"postData": {"text": reply}},
                "response": {"status": 0},
            })
        }));
        let found = judged(json!({"log": {"entries": entries}}).to_string().as_bytes());
        let received = text
            .lines()
            .map(|line| match time(line).filter(|_| is_bare(&line)) {
                Some(time) => format!("{{\"dir\":\"in\",\"at\":\"{time}\",\"message\":{line}}}\n"),
                None => format!("{line}\n"),
            });
        let plain = plain(&received.collect::<String>(), true);
        assert_eq!(said(&found), said(&plain), "{name}");
        archived += 1;
    }
    assert!(archived > 20, "{archived}");
}

#[test]
fn replies_of_another_file_come_between_the_events_by_time() {
    let mut joined_at_all = 0;
    for (name, text) in ["valid", "invalid"].into_iter().flat_map(traces) {
        let is_bare = |line: &&str| line.starts_with("{\"type\": \"confirmation.reply\"");
        let (replies, events): (Vec<&str>, Vec<&str>) = text.lines().partition(is_bare);
        let times = text.lines().filter_map(|line| {
            let record: Value = serde_json::from_str(line).ok()?;
            Some(record["timestamp"].as_str()?.to_owned())
        });
        // Where the clocks disagree, or times are none, nobody can tell.
        if replies.is_empty() || !text.lines().all(is_json) || !times.is_sorted() {
            continue;
        }
        let events = sse(&events);
        let replies = replies.join("\n");
        let joined = Opened::new(events.as_bytes(), &How::default())
            .joined(Opened::new(replies.as_bytes(), &How::default()));
        let found = judge_opened(
            joined,
            ("a", "b"),
            Settings::default(),
            &Selection::default(),
        );
        let found = found.expect("it holds messages");
        assert_eq!(said(&found), said(&plain(&text, true)), "{name}");
        joined_at_all += 1;
    }
    assert!(joined_at_all > 60, "{joined_at_all}");
}

/// Events whose times have this fraction: a question of second 2, what comes of it, and more.
fn asked_and_called(fraction: &str, calls_at: u64, ends_at: u64, calls: bool) -> Vec<String> {
    let event = |second: u64, name: &str, payload: &str| {
        format!(
            r#"{{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.{name}","event_id":"evt_{name}{second}","session_id":"sess_a","timestamp":"2026-05-24T14:00:0{second}{fraction}Z","producer":{{"agent_id":"a"}},{payload}}}"#
        )
        .replace(&format!("evt_{name}"), &format!("evt_{}", name.replace(['.', '_'], "")))
    };
    let question = r#""urgency":"critical","action":"Send","consequence":"It is sent.","reply_token":"rpl_a","timeout_seconds":60,"default_decision":"reject","risk_level":"high","irreversible":true"#;
    let state = |from: &str, to: &str| format!(r#""from_state":"{from}","to_state":"{to}""#);
    let mut events = vec![
        event(1, "session.started", r#""summary_normal":"A request.""#),
        event(1, "state.changed", &state("idle", "awaiting_input")),
        event(2, "awaiting.confirmation", question),
    ];
    if calls {
        let call =
            r#""tool":"send","summary_normal":"Calling.","risk_level":"high","irreversible":true"#;
        events.push(event(
            calls_at,
            "state.changed",
            &state("awaiting_input", "calling_tool"),
        ));
        events.push(event(calls_at, "tool.invoked", call));
        events.push(event(
            6,
            "tool.completed",
            r#""tool":"send","status":"success""#,
        ));
    } else {
        events.push(event(
            calls_at,
            "progress.updated",
            r#""progress":{"percent":50}"#,
        ));
    }
    events.push(event(
        ends_at,
        "session.completed",
        r#""summary_normal":"Over.""#,
    ));
    events
}

/// The report on events and one reply, put together out of two files.
fn joined(events: &str, replies: &str) -> LintReport {
    let joined = Opened::new(events.as_bytes(), &How::default())
        .joined(Opened::new(replies.as_bytes(), &How::default()));
    let (settings, selection) = (Settings::default(), Selection::default());
    judge_opened(joined, ("a", "b"), settings, &selection).expect("messages")
}

/// AAEP-EV-3, AAEP-A.7.4-1: within the unit of a time the order is open, and a reply is taken to have come before what it led to,
/// but behind its question.
#[test]
fn a_reply_comes_before_what_it_may_have_led_to_in_the_same_unit_of_a_time() {
    for (fraction, calls, calls_at, ends_at, at, expected, is_open) in [
        ("", true, 5, 7, "05.400", &[][..], true),
        ("", true, 2, 7, "02.700", &[], true),
        ("", true, 5, 7, "04.900", &[], false),
        // A second is a second.
        ("", true, 5, 7, "06.000", &[], false),
        ("", true, 4, 7, "05.400", &[], false),
        ("", true, 5, 7, "10.001", &["AAEP-A.7.4-1"], false),
        // Nothing says that it came before the end.
        ("", false, 7, 7, "07.400", &[], false),
        (".223", true, 5, 7, "05.223", &[], true),
        (".223", true, 2, 7, "02.223", &[], true),
        (".223", true, 5, 7, "05.2239", &[], true),
        (".223", true, 5, 7, "05.224", &[], false),
        (".223456", true, 5, 7, "05.223456", &[], true),
        (".223456", true, 5, 7, "05.223457", &[], false),
        (".223456", true, 5, 7, "10.223457", &["AAEP-A.7.4-1"], false),
        (".223", false, 7, 7, "07.223", &[], false),
    ] {
        let at = format!("2026-05-24T14:00:{at}Z");
        let reply = format!(
            r#"{{"type":"confirmation.reply","reply_token":"rpl_a","decision":"accept","subscription_id":"sub_a","timestamp":"{at}"}}"#
        );
        let events = asked_and_called(fraction, calls_at, ends_at, calls);
        let events = sse(&events.iter().map(String::as_str).collect::<Vec<_>>());
        let replies = format!(r#"{{"dir":"in","at":"{at}","sender":"known","message":{reply}}}"#);
        let archive = json!({"log": {"entries": [
            {
                "startedDateTime": "2020-01-01T00:00:00Z",
                "response": {"status": 200, "content": {"mimeType": "text/event-stream", "text": events}},
            },
            {
                "startedDateTime": at,
                "request": {"postData": {"text": reply}},
                "response": {"status": 202},
            },
        ]}});
        for found in [
            joined(&events, &replies),
            judged(archive.to_string().as_bytes()),
        ] {
            let clauses: Vec<_> = found.violations.iter().map(|it| it.clause).collect();
            assert_eq!(clauses, expected, "{at}: {found:?}");
            let mut open = found.not_judged.iter();
            let told =
                open.any(|it| it.clause == "AAEP-6.1-1" && it.reason.contains("the same time"));
            assert_eq!(told, is_open, "{at}: {found:?}");
        }
    }
}

/// AAEP-6.8-4: an acceptance within the unit in which its question may have been withdrawn may have come behind that, and then
/// nothing comes of it.
#[test]
fn an_acceptance_in_the_same_unit_as_a_withdrawal_may_have_come_behind_it() {
    for (to, at, is_fault, is_open) in [
        ("thinking", "05", false, true),
        ("deciding", "05", false, true),
        ("thinking", "05.400", false, false),
        ("thinking", "04.900", false, true),
        ("thinking", "06.000", false, false),
    ] {
        let mut events = asked_and_called("", 5, 7, false);
        events[3] = events[3]
            .replace("progress.updated", "state.changed")
            .replace(
                r#""progress":{"percent":50}"#,
                &format!(r#""from_state":"awaiting_input","to_state":"{to}""#),
            );
        let found = joined(&events.join("\n"), &ACCEPTED.replace("05.400", at));
        let clauses: Vec<_> = found.violations.iter().map(|it| it.clause).collect();
        let expected: &[_] = if is_fault { &["AAEP-A.4-3"] } else { &[] };
        assert_eq!(clauses, expected, "{to} {at}: {found:?}");
        let mut open = found.not_judged.iter();
        let told =
            open.any(|it| it.clause == "AAEP-A.4-3" && it.reason.contains("may have withdrawn"));
        assert_eq!(told, is_open, "{to} {at}: {found:?}");
    }
}

/// A reply that accepts, 400 ms within the second in which the call has its time.
const ACCEPTED: &str = r#"{"dir":"in","at":"2026-05-24T14:00:05.400Z","sender":"known","message":{"type":"confirmation.reply","reply_token":"rpl_a","decision":"accept","subscription_id":"sub_a","timestamp":"2026-05-24T14:00:05.400Z"}}"#;

/// A unit that starts with a fine time ends with the coarsest in it; what was before the reply by its own time stays there.
#[test]
fn a_time_of_fewer_digits_has_a_longer_unit_wherever_it_stands() {
    for (fine, is_open) in [(1, true), (2, false)] {
        let mut events = asked_and_called("", 5, 7, true);
        events.insert(
            5,
            r#"{"type":"acme:other","timestamp":"2026-05-24T14:00:05Z"}"#.to_owned(),
        );
        let events = events
            .join("\n")
            .replacen("14:00:05Z", "14:00:05.000Z", fine);
        let found = joined(&events, ACCEPTED);
        assert_eq!(found.violations.len(), 0, "{fine}: {found:?}");
        let mut open = found.not_judged.iter();
        let told = open.any(|it| it.reason.contains("the same time"));
        assert_eq!(told, is_open, "{fine}: {found:?}");
    }
}

/// AAEP-A.7.4-1: a reply in whole seconds stands before its question, whose time has milliseconds; the first of two counts.
#[test]
fn a_reply_whose_time_has_fewer_digits_comes_behind_its_question() {
    let in_seconds = |decision: &str, second: u64| {
        let reply = ACCEPTED.replace("05.400", &format!("0{second}"));
        reply.replace("accept", decision)
    };
    for replies in [
        vec![in_seconds("accept", 2)],
        vec![in_seconds("accept", 2), in_seconds("reject", 2)],
        vec![in_seconds("perhaps", 2), in_seconds("accept", 2)],
        vec![in_seconds("accept", 1)],
        vec![in_seconds("accept", 1), in_seconds("reject", 1)],
    ] {
        let events = asked_and_called(".300", 2, 7, true).join("\n");
        let found = joined(&events, &replies.join("\n"));
        assert_eq!(found.violations.len(), 0, "{replies:?}: {found:?}");
    }
}

/// AAEP-6.1-1: the messages of one unit that are held are so many. Where there are more, and replies among them, that is said, and
/// nobody is accused for their order; where there is none, the order is that of the events.
#[test]
fn where_too_many_messages_have_one_time_the_order_of_replies_is_open() {
    let other = r#"{"type":"acme:other","timestamp":"2026-05-24T14:00:05Z"}"#;
    for (between, reply, is_open, expected) in [
        (1000, ACCEPTED, false, &[][..]),
        (1017, ACCEPTED, false, &[]),
        (1100, ACCEPTED, true, &[]),
        (5000, ACCEPTED, true, &[]),
        (
            5000,
            &ACCEPTED.replace("05.400", "10.001"),
            false,
            &["AAEP-A.7.4-1"],
        ),
        (5000, &ACCEPTED.replace("05.400", "04.000"), false, &[]),
    ] {
        let mut events = asked_and_called("", 5, 7, true);
        let at = events.len() - 2;
        let others = std::iter::repeat_n(other.to_owned(), between);
        events.splice(at..at, others);
        let found = joined(&events.join("\n"), reply);
        let clauses: Vec<_> = found.violations.iter().map(|it| it.clause).collect();
        assert_eq!(clauses, expected, "{between}: {found:?}");
        let mut open = found.not_judged.iter();
        let told = open.any(|it| it.clause == "AAEP-6.1-1" && it.reason.contains("more than 1024"));
        assert_eq!(told, is_open, "{between}: {:?}", found.not_judged);
        // What comes before is judged as ever.
        events.insert(1, events[0].replace("evt_", "evt_again"));
        let found = joined(&events.join("\n"), reply);
        let clauses: Vec<_> = found.violations.iter().map(|it| it.clause).collect();
        assert_eq!(clauses, [&["AAEP-A.1-1"], expected].concat(), "{between}");
    }
}

/// AAEP-6.1-1: an archive whose entries are not in the order in which they began accuses nobody of what rests on it, and that is said.
#[test]
fn the_entries_of_an_archive_may_be_in_no_order() {
    let events = asked_and_called(".000", 5, 7, true);
    let events = sse(&events.iter().map(String::as_str).collect::<Vec<_>>());
    let stream = json!({"startedDateTime": "2026-05-24T14:00:00Z", "response": {
        "status": 200, "content": {"mimeType": "text/event-stream", "text": events}}});
    let reply = |decision: &str, at: &str| {
        let at = format!("2026-05-24T14:00:{at}Z");
        let reply = format!(
            r#"{{"type":"confirmation.reply","reply_token":"rpl_a","decision":"{decision}","subscription_id":"sub_a","timestamp":"{at}"}}"#
        );
        json!({"startedDateTime": at, "request": {"postData": {"text": reply}}, "response": {"status": 202}})
    };
    let (first, again) = (reply("accept", "04.000"), reply("accept", "06.500"));
    let rejects = reply("reject", "04.000");
    for (entries, is_open, expected) in [
        ([&stream, &first, &again], false, &[][..]),
        ([&first, &stream, &again], false, &[]),
        ([&first, &again, &stream], true, &[]),
        ([&again, &first, &stream], true, &[]),
        ([&stream, &rejects, &again], false, &["AAEP-A.8-5"]),
        ([&rejects, &again, &stream], true, &[]),
    ] {
        let archive = json!({"log": {"entries": entries}}).to_string();
        let found = judged(archive.as_bytes());
        let clauses: Vec<_> = found.violations.iter().map(|it| it.clause).collect();
        assert_eq!(clauses, expected, "{found:?}");
        let mut open = found.not_judged.iter();
        assert_eq!(
            open.any(|it| it.reason.contains("startedDateTime")),
            is_open,
            "{found:?}"
        );
    }
}

/// AAEP-6.1-1: of two files that are put together each tells what it leaves open itself.
#[test]
fn what_either_of_two_files_leaves_open_is_told() {
    let events = asked_and_called(".000", 5, 7, true);
    let of = |events: &[String]| {
        let events = sse(&events.iter().map(String::as_str).collect::<Vec<_>>());
        json!({"startedDateTime": "2020-01-01T00:00:00Z", "response": {
            "status": 200, "content": {"mimeType": "text/event-stream", "text": events}}})
    };
    let reply = |at: &str| {
        let at = format!("2026-05-24T14:00:{at}Z");
        let reply = format!(
            r#"{{"type":"confirmation.reply","reply_token":"rpl_a","decision":"accept","subscription_id":"sub_a","timestamp":"{at}"}}"#
        );
        json!({"startedDateTime": at, "request": {"postData": {"text": reply}}, "response": {"status": 202}})
    };
    let archive = |entries: &[Value]| json!({"log": {"entries": entries}}).to_string();
    // What cannot be read of an archive is passed over.
    let unread = json!({"startedDateTime": "2026-05-24T14:00:01Z", "response": {
        "status": 200, "content": {"mimeType": "text/event-stream"}}});
    for (events, replies, reasons) in [
        (
            archive(&[of(&events)]),
            archive(&[reply("04.500")]),
            &[][..],
        ),
        (
            archive(&[of(&events), unread.clone()]),
            archive(&[reply("04.500")]),
            &["without a body"],
        ),
        (
            archive(&[of(&events)]),
            archive(&[reply("04.500"), unread.clone()]),
            &["in the file of the replies"],
        ),
        (
            archive(&[of(&events), reply("05.000")]),
            archive(&[unread]),
            &["the same time", "in the file of the replies"],
        ),
    ] {
        let found = joined(&events, &replies);
        assert_eq!(found.violations.len(), 0, "{found:?}");
        for reason in reasons {
            let mut all = found.not_judged.iter();
            assert!(
                all.any(|it| it.reason.contains(reason)),
                "{reason} {:?}",
                found.not_judged
            );
        }
    }
}

/// Where the message stands, its time, its direction and its status.
fn pointers(pointers: [Option<&str>; 4]) -> How {
    How {
        from: None,
        pointers: Some(Pointers::parse(pointers).expect("pointers")),
    }
}

/// Where the message stands.
fn message(pointer: &str) -> How {
    pointers([Some(pointer), None, None, None])
}

#[test]
fn pointers_lead_to_the_message_its_time_direction_and_status() {
    let text = invalid(UNASKED);
    let how = pointers([Some("/a~1b/0"), Some("/t"), Some("/d"), Some("/s")]);
    let values = text.lines().map(|line| {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let is_reply = line.contains(".reply\"");
        let direction = if is_reply { "inbound" } else { "out" };
        let time = message["timestamp"].clone();
        // JSON within a string within JSON.
        let inner = json!([message]).to_string();
        format!(
            "{}\n",
            json!({"t": time, "d": direction, "s": 202, "a/b": inner})
        )
    });
    let put = values.collect::<Vec<_>>().concat();
    let found = judged_as(put.as_bytes(), &how).expect("it holds messages");
    let plain = lint(text.as_bytes(), "a").expect("memory can be read");
    assert_eq!(said(&found), said(&plain), "{:?}", found.violations);
    let lost = put.replacen("\"a/b\"", "\"other\"", 1);
    let found = judged_as(lost.as_bytes(), &how).expect("it holds messages");
    let first = &found.violations[0];
    assert_eq!((first.clause, first.line), ("AAEP-EV-1", 1));
    assert!(first.message.contains("\"/a~1b/0\""), "{}", first.message);
    let twice = put.replacen("{\"t\"", "{\"a/b\":1,\"t\"", 1);
    let found = judged_as(twice.as_bytes(), &how).expect("it holds messages");
    assert!(
        found.violations[0].message.contains("appears twice"),
        "{:?}",
        found.violations[0]
    );
    let never = judged_as(put.as_bytes(), &message("/nowhere")).expect_err("no message");
    assert!(never.contains("\"/nowhere\""), "{never}");
}

/// A time in a form of ISO 8601 is taken; one without an offset, or that is none, is named once and left out, and nobody is accused of it.
#[test]
fn a_time_that_cannot_be_taken_is_left_out_and_named() {
    let text = invalid(UNASKED);
    let plain = lint(text.as_bytes(), "a").expect("memory can be read");
    let how = pointers([Some("/m"), Some("/t"), None, None]);
    for (time, why) in [
        (json!("2026-05-24 14:22:20.339"), Some("has no offset")),
        (json!("2026-05-24T14:22:20"), Some("has no offset")),
        (json!("24/May/2026"), Some("is no time that can be read")),
        (json!(1e300), Some("is no time that can be read")),
        (json!("2026-05-24 14:22:20.339+00"), None),
        (json!("2026-05-24 14:22:20 UTC"), None),
        (json!(1_779_632_540.25), None),
        (json!(null), None),
    ] {
        let line = |line: &str| {
            let message: Value = serde_json::from_str(line).expect("JSON");
            json!({"t": time, "m": message}).to_string() + "\n"
        };
        let put: String = text.lines().map(line).collect();
        let found = judged_as(put.as_bytes(), &how).expect("it holds messages");
        assert_eq!(said(&found), said(&plain), "{time}: {:?}", found.violations);
        let told = found
            .not_judged
            .iter()
            .filter(|it| it.clause == "AAEP-EV-1");
        let told: Vec<_> = told.map(|it| &*it.reason).collect();
        assert_eq!(told.len(), usize::from(why.is_some()), "{time}: {told:?}");
        if let (Some(why), [told]) = (why, &*told) {
            let count = format!("({} of them)", text.lines().count());
            for part in [why, "the time at \"/t\" on line 1", &count] {
                assert!(told.contains(part), "{told}");
            }
        }
    }
}

/// Where a time is written in another form, it is the same time: a reply of another file comes where that says.
#[test]
fn a_time_in_another_form_is_the_same_time() {
    let put = |time: &str| format!("{{\"t\":{time},\"m\":{{\"type\":\"aaep:agent.x\"}}}}\n");
    let how = pointers([Some("/m"), Some("/t"), None, None]);
    for time in [
        "\"2026-05-24 16:22:20.250+02\"",
        "\"2026-05-24T14:22:20.25Z\"",
        "1779632540.25",
        "1779632540250",
    ] {
        let put = put(time);
        let mut records = Opened::new(put.as_bytes(), &how).into_records();
        let Ok(Some(Line::Whole { bytes, .. })) = records.next_line() else {
            panic!("{time}: a record is read");
        };
        let record: Value = serde_json::from_slice(bytes).expect("JSON");
        let at = record["at"].as_str().expect("a time");
        let read = Timestamp::parse(at).expect(at);
        assert_eq!(Some(read), Timestamp::parse("2026-05-24T14:22:20.25Z"));
    }
}

/// The pointers of a stream hold of the file of its replies where no message stands in that as it is; a file in which none is is refused.
#[test]
fn the_replies_of_another_file_are_read_as_they_stand_or_by_the_pointers() {
    let text = invalid("AAEP-6.3.4-4_reply-decided-at-the-deadline.jsonl");
    let (replies, events): (Vec<_>, Vec<_>) =
        text.lines().partition(|line| line.contains(".reply\""));
    assert_eq!(replies.len(), 1);
    let mapped = |lines: &[&str]| {
        let lines = lines.iter().map(|line| format!("{{\"m\":{line}}}\n"));
        lines.collect::<String>()
    };
    let plain = joined(&events.join("\n"), &replies.join("\n"));
    assert_eq!(plain.violations.len(), 1);
    let how = How {
        from: Some(Envelope::Jsonl),
        ..message("/m")
    };
    let events = mapped(&events);
    let read = |replies: &str| {
        let opened = Opened::new(events.as_bytes(), &how);
        let replies = Opened::of_replies(replies.as_bytes(), &how).map_err(|it| it.to_string())?;
        let selection = Selection::default();
        judge_opened(
            opened.joined(replies),
            ("a", "b"),
            Settings::default(),
            &selection,
        )
        .map_err(|it| it.to_string())
    };
    let lines = replies.join("\n");
    for put in [
        lines.clone(),
        format!("[{}]", replies.join(",\n")),
        mapped(&replies),
        format!("[{}]", mapped(&replies).trim_end()),
        sse(&[mapped(&replies).trim_end()]),
    ] {
        let found = read(&put).expect("it holds messages");
        assert_eq!(said(&found), said(&plain), "{put}");
    }
    // Of a value that goes on where no more of the file is looked at, the pointers are tried.
    let long = mapped(&replies).replacen('{', &format!("{{\"x\":\"{}\",", "a".repeat(20_000)), 1);
    assert_eq!(said(&read(&long).expect("it holds messages")), said(&plain));
    // Nothing was sent.
    assert!(read("").is_ok());
    let other = lines.replacen('{', "{\"n\":{", 1) + "}";
    let why = read(&other).expect_err("no message is in it");
    assert!(why.contains("the pointer \"/m\" leads nowhere"), "{why}");
}

/// The word that stands in the way is named, not the pointer that was given.
#[test]
fn a_direction_that_is_none_is_named_where_it_hides_every_message() {
    let line = r#"{"way":"response","payload":{"type":"aaep:agent.session.started"}}"#;
    let how = pointers([Some("/payload"), None, Some("/way"), None]);
    let why = judged_as(line.as_bytes(), &how).expect_err("no message is read");
    assert!(why.contains("\"response\" is no direction"), "{why}");
    assert!(!why.contains("say --message /payload"), "{why}");
}

#[test]
fn what_is_no_pointer_is_refused() {
    for wrong in ["a", "/~2", "/a~"] {
        let parsed = Pointers::parse([None, Some(wrong), None, None]);
        assert!(parsed.is_err(), "{wrong}");
    }
}

#[test]
fn a_file_without_messages_is_told_and_what_it_looks_like() {
    for (text, what) in [
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n",
            "JSON-RPC",
        ),
        ("[{\"jsonrpc\":\"2.0\"}]", "JSON-RPC"),
        // What stands within it is read all the same.
        (
            "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"type\":\"aaep:agent.x\"}}\n",
            "JSON-RPC with a message at /params: say --message /params",
        ),
        // A value that is whole was not cut off.
        ("null", "on line 1, a record is a JSON object"),
        ("import os\n\ndef a():\n    pass\n", "Python"),
        ("<!doctype html><html></html>", "HTML"),
        ("\u{1}\0\0\0", "binary"),
        ("2026-05-24 INFO started\n", "plain text"),
        (
            "{\"level\":\"info\",\"p\":{\"q\":\"{\\\"type\\\":\\\"aaep:agent.x\\\"}\"}}\n",
            "--message /p/q",
        ),
        ("{\"level\":\"info\"}\n", "JSON of another kind"),
        // No data is no text.
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
            "server-sent events, and none has a message for data",
        ),
        // What only speaks of messages holds none, and neither does what holds them for somebody else.
        (
            "import json\n# {\"type\": \"confirmation.reply\"}\nsend(\"aaep:agent.session.started\")\n",
            "Python",
        ),
        (
            "# Readme\n\nUse `aaep:`.\n{\"type\": \"confirmation.reply\", ...}\n",
            "plain text",
        ),
        ("\u{1}\0aaep:\nconfirmation.reply\n\0", "binary"),
        (
            "{\"jsonrpc\":\"2.0\",\"params\":{\"type\":\"aaep:agent.session.sta",
            "JSON-RPC",
        ),
        (
            "{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\",\"params\":{\"type\":\"aaep:ag",
            "JSON-RPC",
        ),
        (
            "{\"id\":2,\"op\":\"reset\",\"now\":\"2026-05-24T14:22:20Z\"}\n{\"id\":2,\"outputs\":[]}\n",
            "--protocol mcp-aql or pending-action",
        ),
        (
            "{\"id\":7,\"status\":\"ok\",\"text\":\"a\"}",
            "JSON of another kind",
        ),
        (
            "{\"type\":\"module\",\"name\":\"aaep:\"}",
            "JSON of another kind",
        ),
        (
            "{\"@context\":\"https://schema.org\",\"dir\":\"/tmp\"}",
            "JSON of another kind",
        ),
    ] {
        let why = judged_as(text.as_bytes(), &How::default()).expect_err(text);
        assert!(why.contains(what), "{text}: {why}");
        let is_advised = ["--message", "--protocol"]
            .iter()
            .any(|it| what.contains(it));
        assert_eq!(why.contains("Say --from"), !is_advised, "{why}");
    }
    // One message, even a torn one at the beginning, makes the rest findings.
    for text in [
        "{\"type\":\"aaep:agent.session.sta",
        "{\"dir\":\"out\",\"message\":{\"type\":\"aaep:ag\n# Readme\n",
        "# Readme\n{\"type\":\"aaep:agent.session.started\"}\n",
    ] {
        assert_eq!(
            judged(text.as_bytes()).verdict,
            Verdict::Violating,
            "{text}"
        );
    }
    let why = judged_as(b"\x89PNG\r\n\x1a\n\0\0", &How::default()).expect_err("an image");
    assert!(why.contains("image"), "{why}");
    let damage = judged(b": ping\n\n: ping\n")
        .damage
        .expect("nothing is in it");
    assert!(damage.message.contains("none has a message"), "{damage:?}");
    assert_eq!(judged(b"").verdict, Verdict::Inconclusive);
}

/// What is said to do about messages that stand somewhere else gets them judged.
#[test]
fn a_file_with_messages_elsewhere_is_told_and_what_to_do() {
    let event = r#"{"type":"aaep:agent.x"}"#;
    let words = "text with JSON behind other words, first on line 2: cut off what is in front of it, as with `sed";
    let many: Vec<_> = (0..2000).map(|_| json!({ "message": event })).collect();
    for (text, what) in [
        (format!("starts\nagent-1  | {event}\n"), words),
        (format!("<14>1 host -\n<14>1 host - {event}\n"), words),
        (format!("<html>\n<p>{event}</p>\n"), "HTML"),
        (format!("# A file\nimport os\n# {event}\n"), "Python"),
        (
            format!("a: {event}, and more\n"),
            "it looks like plain text. Say --from",
        ),
        (
            json!({ "events": [{ "a": [1], "message": event }] }).to_string(),
            "a message at /events/0/message: take them out first, as with `jq -c '.. | strings | fromjson? | objects' FILE",
        ),
        // Of a value that is longer than what tells the envelope, the beginning tells it.
        (
            json!({ "page": 1, "events": many }).to_string(),
            "a message at /events/0/message: take them out first",
        ),
        (
            json!({ "streams": [{ "values": [["1", event]] }] }).to_string(),
            "at /streams/0/values/0/1: take them out first, as with `jq -c '.. | strings | fromjson? | objects' FILE",
        ),
        (
            json!({ "logs": [{ "body": { "type": "aaep:agent.x" } }], "type": "a" }).to_string(),
            "a message at /logs/0/body: take them out first, as with `jq -c '.. | objects | select(.type)' FILE",
        ),
        // A log may say which way its messages went, too.
        (
            json!({ "dir": "out", "event": { "type": "aaep:agent.x" } }).to_string(),
            "a message at /event: say --message /event",
        ),
        // So it is where each line of a log has its message there, also behind lines about something else.
        (
            [
                json!({ "level": "info", "message": "starts" }),
                json!({ "level": "info", "message": { "type": "aaep:agent.x" } }),
                json!({ "level": "info", "message": event }),
            ]
            .map(|it| it.to_string())
            .join("\n"),
            "a message at /message: say --message /message",
        ),
        (
            json!({ "type": "log", "session_id": "a", "dir": "out", "message": { "type": "aaep:agent.x" } })
                .to_string(),
            "a message at /message: say --message /message",
        ),
        (
            format!("data: {event}\ndata: {event}\n"),
            "server-sent events without the blank lines between them: put those in, as with `sed G FILE",
        ),
        (
            json!({ "a": [[{ "type": "aaep:agent.x" }]] }).to_string(),
            "at /a/0/0: take them out first, as with `jq -c '.. | objects | select(.type)' FILE",
        ),
    ] {
        let why = judged_as(text.as_bytes(), &How::default()).expect_err(&text);
        assert!(why.contains(what), "{why}");
        let advises_command = what.contains("first") || what.contains("sed");
        assert_eq!(why.contains("FILE"), advises_command, "{why}");
    }
    let content = json!({"mimeType": "text/event-stream", "text": format!("data: {event}\ndata: {event}\n\n")});
    let entry =
        json!({"startedDateTime": "2026-05-24T14:22:20Z", "response": {"content": content}});
    let archive = json!({"log": {"entries": [entry]}}).to_string();
    let why = judged_as(archive.as_bytes(), &How::default()).expect_err("an archive");
    assert!(
        why.ends_with("the blank lines between them are missing"),
        "{why}"
    );
    // Among records it is one of them that is broken, and between events a blank line that is missing.
    let record = format!("{{\"message\":{event}}}");
    let found = judged(format!("{event}\n{record}\n").as_bytes());
    let mut found = found.violations.iter();
    assert!(found.any(|it| (it.line, &*it.message) == (2, "dir is missing")));
    let found = judged(format!("data: {event}\n\ndata: {event}\ndata: {event}\n\n").as_bytes());
    let last = found.violations.last().expect("a finding");
    assert_eq!(last.line, 3);
    assert!(
        last.message
            .contains("the blank lines between them are missing"),
        "{}",
        last.message
    );
}

#[test]
fn an_archive_of_web_sockets_is_told_as_one() {
    let message = json!({"data": "{\"type\":\"aaep:agent.session.started\"}"});
    let archive = json!({"log": {"entries": [{"_webSocketMessages": [message]}]}});
    let damage = judged(archive.to_string().as_bytes())
        .damage
        .expect("it holds nothing");
    assert!(
        damage.message.contains("_webSocketMessages"),
        "{}",
        damage.message
    );
}

/// A wrong `--from` is told with what the file is, in whatever envelope; where it can be read so, it is.
#[test]
fn what_a_file_is_is_told_where_something_else_was_said() {
    let text = invalid(UNASKED);
    let lines: Vec<&str> = text.lines().collect();
    let files = [
        (text.clone(), Envelope::Jsonl),
        (format!("[{}]", lines.join(",")), Envelope::Json),
        (sse(&lines), Envelope::Sse),
        (har(&lines), Envelope::Har),
        (docker(&lines), Envelope::Docker),
        (cri(&lines), Envelope::Cri),
    ];
    let mut refused = 0;
    for (file, is) in &files {
        for (_, said) in Envelope::ALL {
            let how = How {
                from: Some(said),
                pointers: None,
            };
            let Err(why) = judged_as(file.as_bytes(), &how) else {
                continue;
            };
            refused += 1;
            let advice = format!("say --from {}, or leave --from out", is.name());
            assert!(
                why.contains("it looks like ") && why.contains(&advice),
                "{said:?}: {why}"
            );
            assert!(!why.contains("--message"), "{said:?}: {why}");
        }
    }
    assert!(refused > 10, "{refused}");
    // What is nothing else is not taken for lines.
    let har = How {
        from: Some(Envelope::Har),
        pointers: None,
    };
    let nothing = judged_as(b"2026-05-24 INFO started\n", &har).expect("a report");
    assert!(
        nothing
            .damage
            .is_some_and(|it| it.message.contains("plain text"))
    );
}

/// An array of 100 MB, made while it is read, of which the reader never holds more than an item.
#[test]
fn an_array_is_read_item_by_item() {
    struct Items {
        item: Vec<u8>,
        left: usize,
        at: usize,
    }
    impl io::Read for Items {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.at == self.item.len() {
                (self.at, self.left) = (0, self.left - 1);
                self.item[0] = b',';
            }
            if self.left == 0 {
                return Ok(0);
            }
            let length = buffer.len().min(self.item.len() - self.at);
            buffer[..length].copy_from_slice(&self.item[self.at..self.at + length]);
            self.at += length;
            Ok(length)
        }
    }
    let item = format!(
        "[{{\"type\":\"acme:x\",\"text\":\"{}\"}}",
        "x".repeat(1 << 12)
    )
    .into_bytes();
    let items = Items {
        item,
        left: 5_000,
        at: 0,
    };
    let opened = Opened::new(io::BufReader::new(items), &How::default());
    let report = judge_opened(
        opened,
        ("a", "b"),
        Settings::default(),
        &Selection::default(),
    );
    let report = report.expect("it holds messages");
    assert_eq!((report.records, report.violations.len()), (5_000, 0));
    assert!(
        report
            .damage
            .expect("the array does not end")
            .message
            .contains("before its JSON")
    );
}

/// A conforming stream with replies, short enough to be cut everywhere.
fn short() -> Vec<String> {
    let name = "AAEP-6.3.4-5_reply-of-a-sender-that-the-transport-refused.jsonl";
    let (_, text) = traces("valid")
        .into_iter()
        .find(|(it, _)| it == name)
        .expect("the stream");
    text.lines().map(str::to_owned).collect()
}

/// The lines of a stream in an envelope.
type Put<'a> = Box<dyn Fn(&[&str]) -> String + 'a>;

/// Every envelope, cut at every byte: what is there is judged, a cut within a message is told with the line on which that begins, and a
/// stream that conforms is accused of nothing else.
#[test]
fn a_cut_is_told_with_its_place_and_accuses_of_nothing_else() {
    let lines = short();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mapped = |lines: &[&str]| {
        let line = |line: &&str| format!("{{\"ts\":1,\"payload\":{}}}\n", Value::from(*line));
        lines.iter().map(line).collect::<String>()
    };
    let pointers = Pointers::parse([Some("/payload"), None, None, None]).expect("a pointer");
    let ways = WAYS
        .iter()
        .map(|way| (way.name, Box::new(way.put) as Put<'_>, None));
    let ours = |lines: &[&str]| lines.join("\n") + "\n";
    let more: [(_, Put<'_>, _); 2] = [
        ("ours", Box::new(ours), None),
        ("a pointer", Box::new(mapped), Some(pointers)),
    ];
    for (name, put, pointers) in ways.chain(more) {
        let how = How {
            from: None,
            pointers,
        };
        let whole = put(&lines);
        // Where each message is there.
        let ends = (0..=lines.len()).map(|count| {
            let put = put(&lines[..count]);
            put.trim_end_matches([' ', '\n', ']']).len()
        });
        let ends: Vec<usize> = ends.collect();
        let (mut told, mut refused, mut silent) = (0, 0, 0);
        for end in 0..=whole.len() {
            let cut = &whole.as_bytes()[..end];
            let context = || format!("{name} at {end}: {}", String::from_utf8_lossy(cut));
            let report = match judged_as(cut, &how) {
                Ok(report) => report,
                Err(why) => {
                    assert!(why.contains("--from NAME"), "{why} {}", context());
                    assert!(name == "har" || end < ends[1], "{why} {}", context());
                    assert!(
                        end < 200 || why.contains("on line 1, "),
                        "{why} {}",
                        context()
                    );
                    refused += 1;
                    continue;
                }
            };
            let place = match (&*report.violations, &report.damage) {
                ([], None) => None,
                ([], Some(damage)) => Some(damage.line),
                ([one], _) if one.clause == "AAEP-EV-1" => Some(one.line),
                _ => panic!("{:?} {}", said(&report), context()),
            };
            if let Some(line) = place {
                let last = 1 + memchr::memchr_iter(b'\n', cut).count() as u64;
                assert!((1..=last).contains(&line), "line {line} {}", context());
                told += 1;
            } else {
                let there = ends[1..].iter().filter(|it| **it <= end).count();
                assert_eq!(report.records, there as u64, "{}", context());
                silent += 1;
            }
        }
        let all = whole.len();
        assert!(
            told + refused > all / 2 && silent > 1,
            "{name}: {told}, {refused}, {silent} of {all}"
        );
    }
}

/// Two files of an envelope whose lines come in turn, and lines of all envelopes in one: nothing hangs, and what cannot be read is told.
#[test]
fn files_that_are_mixed_up_are_told_as_such() {
    let lines = short();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let others: Vec<String> = lines
        .iter()
        .map(|it| {
            it.replace("sess_a", "sess_b")
                .replace("evt_0", "evt_9")
                .replace("rpl_", "rpl_f")
        })
        .collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    for way in &WAYS {
        let (one, other) = ((way.put)(&lines), (way.put)(&others));
        let mut mixed = String::new();
        let (mut one, mut other) = (one.lines(), other.lines());
        loop {
            let pair = [one.next(), other.next()];
            if pair == [None, None] {
                break;
            }
            mixed.extend(pair.into_iter().flatten().map(|it| format!("{it}\n")));
        }
        let how = How {
            from: Some(way.envelope),
            pointers: None,
        };
        let Ok(report) = judged_as(mixed.as_bytes(), &how) else {
            continue;
        };
        let is_told =
            report.damage.is_some() || report.violations.iter().any(|it| it.clause == "AAEP-EV-1");
        assert!(
            is_told || report.violations.is_empty(),
            "{}: {:?}",
            way.name,
            said(&report)
        );
        if ["docker", "cloudevents", "pretty"].contains(&way.name) {
            assert!(
                !is_told || way.name == "pretty",
                "{}: whole lines are read",
                way.name
            );
        }
    }
    let all: String = WAYS.iter().map(|way| (way.put)(&lines) + "\n").collect();
    // An archive is looked for in whatever stands there; the others take all that is there.
    for way in WAYS.iter().filter(|way| way.name != "har") {
        let how = How {
            from: Some(way.envelope),
            pointers: None,
        };
        if let Ok(report) = judged_as(all.as_bytes(), &how) {
            let is_told = report.damage.is_some() || !report.violations.is_empty();
            assert!(
                is_told,
                "{} takes what is no message of it for nothing",
                way.name
            );
        }
    }
}

/// A pointer that leads nowhere is named; where it leads somewhere at times, each value without a message is a finding on its line, and
/// what may have stood there follows from it, if the value speaks of messages.
#[test]
fn a_pointer_that_leads_nowhere_is_named_and_nothing_is_lost() {
    for (other, may_hold_one) in [
        ("{\"n\":{\"type\":\"aaep:agent.x\"}}", true),
        ("{\"n\":1}", false),
    ] {
        leads_nowhere_beside(other, may_hold_one);
    }
}

fn leads_nowhere_beside(other: &str, may_hold_one: bool) {
    let text = invalid(UNASKED);
    let pairs = text
        .lines()
        .map(|line| ["{\"m\":", line, "}\n", other, "\n"].concat());
    let put: String = pairs.collect();
    let why = judged_as(put.as_bytes(), &message("/x/y")).expect_err("it leads nowhere");
    assert!(why.contains("the pointer \"/x/y\" leads nowhere"), "{why}");
    let report = judged_as(put.as_bytes(), &message("/m")).expect("it leads to messages");
    let (foreign, rest): (Vec<_>, Vec<_>) = report
        .violations
        .iter()
        .partition(|it| it.clause == "AAEP-EV-1");
    let lines: Vec<u64> = foreign.iter().map(|it| it.line).collect();
    let count = text.lines().count() as u64;
    assert_eq!(lines, (1..=count).map(|it| 2 * it).collect::<Vec<_>>());
    let plain = lint(text.as_bytes(), "a").expect("memory");
    let clauses = |all: &[&countersign_lint::finding::Finding]| {
        all.iter().map(|it| it.clause).collect::<Vec<_>>()
    };
    // Where the question may have stood on a line that is no message, that nobody was asked follows from the first of them.
    let followed: Vec<_> = foreign.iter().flat_map(|it| &it.consequences).collect();
    let (told, none) = if may_hold_one {
        (followed, rest)
    } else {
        (rest, followed)
    };
    assert_eq!(clauses(&none), [""; 0]);
    assert_eq!(clauses(&told), said(&plain).1);
}

/// A consequence stands on its line of the file, too.
#[test]
fn a_consequence_stands_on_its_line() {
    let text = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../traces/several/a22-two-calls-and-the-wrong-token.jsonl"),
    )
    .expect("the stream");
    let lines: Vec<&str> = text.lines().collect();
    let plain = lint(text.as_bytes(), "a").expect("memory");
    let found = judged(sse(&lines).as_bytes());
    let places = |report: &LintReport| {
        let consequences = report.violations.iter().flat_map(|it| &it.consequences);
        consequences.map(|it| it.line).collect::<Vec<_>>()
    };
    let own = places(&plain);
    assert!(!own.is_empty(), "one has a consequence");
    assert_eq!(
        places(&found),
        own.iter().map(|it| 5 * (it - 1) + 4).collect::<Vec<_>>()
    );
}
