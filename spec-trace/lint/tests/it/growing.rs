//! A stream that is judged while it grows: what is told is final, and the end is what the whole stream gets at once.

use std::fs;
use std::io::{self, BufReader, Read};
use std::iter::Cycle;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::vec::IntoIter;

use countersign_lint::envelope::{Envelope, How, Opened, Pointers};
use countersign_lint::finding::Finding;
use countersign_lint::growing::{Followed, Growing};
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::selection::Selection;
use countersign_lint::stream::{Linter, Settings};
use countersign_lint::{judge, judge_line, judge_opened};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

/// All recorded streams, with one that is torn, one without replies and one with lines that are none.
fn streams() -> Vec<Vec<u8>> {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let mut streams = Vec::new();
    for folder in ["invalid", "valid", "several"] {
        for entry in fs::read_dir(traces.join(folder)).expect("the folder is part of the project") {
            let path = entry.expect("readable").path();
            if path.extension().is_some_and(|it| it == "jsonl") {
                streams.push(fs::read(path).expect("a stream"));
            }
        }
    }
    assert!(streams.len() > 100);
    streams.sort();
    let all = streams.concat();
    let torn = all[..all.len() - 100].to_vec();
    let without_replies = all.split_inclusive(|it| *it == b'\n');
    let is_reply = |line: &&[u8]| !String::from_utf8_lossy(line).contains(".reply\"");
    let without_replies = without_replies
        .filter(is_reply)
        .collect::<Vec<_>>()
        .concat();
    let broken = [b"\xEF\xBB\xBF\n\r\nno record\n\xFF\n".to_vec(), all.clone()].concat();
    streams.extend([torn, without_replies, broken]);
    streams
}

/// What tells a finding, without how many more of its kind there are.
type Told = (&'static str, u64, Option<u64>, Option<String>);

fn told(finding: &Finding) -> Told {
    let Finding {
        clause,
        line,
        column,
        session,
        ..
    } = finding;
    (*clause, *line, *column, session.clone())
}

fn at_once(stream: &[u8], selection: &Selection) -> LintReport {
    judge(stream, "a", Settings::default(), selection)
}

fn in_pieces(stream: &[u8], selection: &Selection, sizes: &[usize]) -> (Vec<Finding>, LintReport) {
    let mut growing = Growing::new(Settings::default(), selection.clone());
    let (mut found, mut rest) = (Vec::new(), stream);
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = *sizes.next().expect("it goes round");
        let (piece, more) = rest.split_at(size.min(rest.len()));
        found.extend(growing.push(piece));
        rest = more;
    }
    (found, growing.finish("a"))
}

/// Everything that was told stands in the report, once.
fn are_listed(found: &[Finding], whole: &LintReport) -> Result<(), TestCaseError> {
    let mut listed: Vec<&Finding> = whole.violations.iter().chain(&whole.warnings).collect();
    for finding in found {
        let same =
            |it: &&Finding| told(it) == told(finding) && it.message.starts_with(&finding.message);
        let at = listed.iter().position(same);
        prop_assert!(
            at.is_some(),
            "{:?} was told, and is not in the report",
            finding
        );
        listed.swap_remove(at.unwrap_or_default());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/tests/growing.txt",
        ))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_told_is_final_and_the_end_is_that_of_the_whole_however_it_is_cut(
        stream in select(streams()),
        sizes in prop::collection::vec(1_usize..5_000, 1..8),
        only in prop::option::of(select(vec!["AAEP-A.8-4", "AAEP-6.1-1", "AAEP-EV-1"])),
    ) {
        let selection = Selection {
            only: only.into_iter().map(str::to_owned).collect(),
            ..Selection::default()
        };
        let whole = at_once(&stream, &selection);
        let (found, report) = in_pieces(&stream, &selection, &sizes);
        prop_assert_eq!(report.to_json(), whole.to_json());
        are_listed(&found, &whole)?;
        // Byte by byte no more and no less is told.
        if stream.len() < 20_000 {
            let (byte_by_byte, _) = in_pieces(&stream, &selection, &[1]);
            let [mut one, mut other] = [&found, &byte_by_byte]
                .map(|it| it.iter().map(told).collect::<Vec<_>>());
            one.sort();
            other.sort();
            prop_assert_eq!(one, other);
        }
    }
}

/// The envelopes that are read line by line.
const BY_LINE: [Envelope; 5] = [
    Envelope::Sse,
    Envelope::Docker,
    Envelope::Cri,
    Envelope::CloudEvents,
    Envelope::Jsonl,
];

/// One message as such a file holds it; of our own format what a pointer leads to.
fn in_envelope(line: &str, envelope: Envelope) -> String {
    match envelope {
        Envelope::Sse => format!("event: message\nid: 7\ndata: {line}\n\n"),
        Envelope::Docker => {
            let log = json!({"log": format!("{line}\n"), "stream": "stdout", "time": "2030-01-01T00:00:00Z"});
            format!("{log}\n")
        }
        Envelope::Cri => {
            let mut middle = line.len() / 2;
            while !line.is_char_boundary(middle) {
                middle -= 1;
            }
            let (first, last) = line.split_at(middle);
            let head = "2030-01-01T00:00:00.1Z stdout";
            format!("{head} P {first}\n{head} F {last}\n")
        }
        Envelope::CloudEvents => {
            format!(
                "{{\"specversion\":\"1.0\",\"type\":\"x\",\"id\":\"1\",\"source\":\"/\",\"data\":{line}}}\n"
            )
        }
        Envelope::Jsonl | Envelope::Json | Envelope::Har => format!("{{\"m\":{line}}}\n"),
    }
}

fn how(envelope: Envelope) -> How {
    let pointers = Pointers::parse([Some("/m"), None, None, None]).expect("a pointer");
    How {
        from: Some(envelope),
        pointers: (envelope == Envelope::Jsonl).then_some(pointers),
    }
}

/// What comes piece by piece, and how much of it has.
struct Pieces {
    rest: io::Cursor<Vec<u8>>,
    sizes: Cycle<IntoIter<usize>>,
    come: Arc<AtomicUsize>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes.next().unwrap_or(1).min(buffer.len());
        let read = self.rest.read(&mut buffer[..size])?;
        self.come.fetch_add(read, Ordering::Relaxed);
        Ok(read)
    }
}

fn followed(
    file: &[u8],
    envelope: Envelope,
    sizes: Vec<usize>,
) -> (Followed<'static>, Arc<AtomicUsize>) {
    let come: Arc<AtomicUsize> = Arc::default();
    let line = file.iter().position(|it| *it == b'\n');
    let (start, rest) = file.split_at(line.map_or(file.len(), |it| it + 1));
    let pieces = Pieces {
        rest: io::Cursor::new(rest.to_vec()),
        sizes: sizes.into_iter().cycle(),
        come: Arc::clone(&come),
    };
    come.store(start.len(), Ordering::Relaxed);
    let opened = Opened::begun(start.to_vec(), BufReader::new(pieces), &how(envelope));
    let followed = Followed::new(opened, Settings::default(), Selection::default());
    (followed, come)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/tests/growing.txt",
        ))),
        ..ProptestConfig::default()
    })]

    /// The same in other envelopes, wherever they are cut and wherever they end.
    #[test]
    fn what_is_followed_in_an_envelope_ends_as_the_whole_however_it_comes(
        stream in select(streams()),
        envelope in select(BY_LINE.to_vec()),
        sizes in prop::collection::vec(1_usize..3_000, 1..8),
        torn in prop::option::of(any::<Index>()),
    ) {
        let text = String::from_utf8_lossy(&stream);
        let is_value = |line: &&str| serde_json::from_str::<Value>(line).is_ok();
        let lines = text.lines().filter(is_value);
        let mut file: Vec<u8> = lines.flat_map(|line| in_envelope(line, envelope).into_bytes()).collect();
        if let Some(torn) = torn {
            file.truncate(torn.index(file.len()));
        }
        let opened = Opened::new(&*file, &how(envelope));
        let whole = judge_opened(opened, ("a", ""), Settings::default(), &Selection::default());
        let (mut followed, _) = followed(&file, envelope, sizes);
        let mut found = Vec::new();
        while let Some(more) = followed.advance(|| false).expect("it can be read") {
            found.extend(more);
        }
        match (followed.finish("a"), whole) {
            (Ok(mut report), Ok(mut whole)) => {
                if whole.records == 0 {
                    // That there is nothing is said, but of how much.
                    let all = [&mut report, &mut whole];
                    let [one, other] = all.map(|it| it.damage.take().is_some());
                    prop_assert_eq!(one, other);
                }
                prop_assert_eq!(report.to_json(), whole.to_json());
                are_listed(&found, &whole)?;
            }
            (Err(one), Err(other)) => prop_assert_eq!(one.to_string(), other.to_string()),
            (one, other) => prop_assert!(false, "{:?} {:?}", one.is_ok(), other.is_ok()),
        }
    }
}

/// AAEP-A.8-4: in an envelope, too, a fault is told before anything behind its message has come.
#[test]
fn what_is_followed_in_an_envelope_is_told_as_soon_as_it_is_there() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/several");
    let stream = fs::read_to_string(traces.join("a22-two-calls-and-the-wrong-token.jsonl"));
    let stream = stream.expect("a stream");
    for envelope in BY_LINE {
        let mut file = String::new();
        let mut ends = Vec::new();
        for line in stream.lines() {
            file += &in_envelope(line, envelope);
            ends.push(file.len());
        }
        let (mut followed, come) = followed(file.as_bytes(), envelope, vec![1]);
        let mut told = 0;
        for end in ends {
            let found = followed.advance(|| false).expect("it can be read");
            told += found.expect("a message").len();
            assert_eq!(come.load(Ordering::Relaxed), end, "{envelope:?}");
        }
        assert!(told > 0);
    }
}

/// AAEP-A.8-4: a call that nobody was asked about is told with its line, and not at the end.
#[test]
fn a_fault_is_told_with_the_line_that_shows_it() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/several");
    let stream = fs::read(traces.join("a22-two-calls-and-the-wrong-token.jsonl"));
    let stream = stream.expect("a stream");
    let whole = at_once(&stream, &Selection::default());
    let mut growing = Growing::default();
    let (mut told, mut line) = (Vec::new(), 0);
    for piece in stream.split_inclusive(|it| *it == b'\n') {
        line += 1;
        let found = growing.push(piece);
        assert!(found.iter().all(|it| it.line <= line), "{found:?}");
        let unasked = found.iter().filter(|it| it.clause == "AAEP-A.8-4");
        assert!(unasked.clone().all(|it| it.line == line), "{found:?}");
        assert!(found.iter().all(|it| !it.fingerprint.is_empty()));
        told.extend(found.iter().map(|it| (it.clause, it.line)));
    }
    assert!(!told.is_empty());
    let open = growing.undecided();
    assert!(open.violations.is_empty(), "each was told: {open:?}");
    let listed = whole.violations.iter().chain(&whole.warnings);
    let listed = listed.map(|it| (it.clause, it.line));
    let listed: Vec<_> = listed.collect();
    assert!(
        told.iter().all(|it| listed.contains(it)),
        "{told:?} {listed:?}"
    );
    // Without its replies the call was asked about by nobody all the same.
    let lines = stream.split_inclusive(|it| *it == b'\n');
    let events = lines.filter(|line| !String::from_utf8_lossy(line).contains(".reply\""));
    let mut growing = Growing::default();
    let found = growing.push(&events.collect::<Vec<_>>().concat());
    assert!(
        found.iter().any(|it| it.clause == "AAEP-A.8-4"),
        "{found:?}"
    );
}

/// What is told and what is undecided are together what the report holds, wherever the stream ends, and the verdict is open for what
/// `undecided` says.
#[test]
fn what_the_end_finds_was_told_or_listed_before() {
    let mut listed = 0;
    let streams = streams();
    // The last are all of them in one.
    for stream in &streams[..streams.len() - 3] {
        // A line that has not ended is left out.
        let ended = stream.iter().rposition(|it| *it == b'\n');
        let stream = &stream[..ended.map_or(0, |it| it + 1)];
        for settings in [Settings::default(), RECORDED, IN_ORDER] {
            let mut growing = Growing::new(settings, Selection::default());
            let (mut found, mut end) = (Vec::new(), 0);
            for line in stream.split_inclusive(|it| *it == b'\n') {
                found.extend(growing.push(line).iter().map(told));
                end += line.len();
                let undecided = growing.undecided();
                let all = undecided.violations.iter().chain(&undecided.warnings);
                let all: Vec<_> = all.map(told).collect();
                listed += all.len();
                let mut all = [all, found.clone()].concat();
                let whole = judge(&stream[..end], "a", settings, &Selection::default());
                let mut at_the_end: Vec<_> = whole
                    .violations
                    .iter()
                    .chain(&whole.warnings)
                    .map(told)
                    .collect();
                all.sort();
                at_the_end.sort();
                assert_eq!(
                    all,
                    at_the_end,
                    "{settings:?} {}",
                    String::from_utf8_lossy(&stream[..end])
                );
                let open = whole.not_judged.iter().filter(|it| it.owed);
                assert_eq!(undecided.not_judged, open.cloned().collect::<Vec<_>>());
            }
        }
    }
    assert!(listed > 500, "{listed}");
}

const RECORDED: Settings = Settings {
    strict: false,
    replies_recorded: true,
    two_clocks: false,
    in_order: false,
    unknown_senders: false,
    partial_replies: false,
    unsaid_withdrawals: false,
};

const IN_ORDER: Settings = Settings {
    in_order: true,
    ..RECORDED
};

fn event(name: &str, number: u64, more: &Value) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{name}"),
        "event_id": format!("evt_{number:026}"), "session_id": "sess_1", "sequence_number": number,
        "timestamp": format!("2026-05-24T14:22:{:02}.000Z", 10 + number),
        "producer": {"agent_id": "agent", "agent_version": "1"},
    });
    let members = more.as_object().expect("members").clone();
    event.as_object_mut().expect("an event").extend(members);
    event
}

/// A question, the irreversible call that it asks for, and a reply that stands behind as many of the events as is said.
fn called(reply: &Value, behind: usize) -> Vec<Value> {
    let question = json!({
        "reply_token": "rpl_00000000000000000000000001", "action": "Delete the file a.txt",
        "consequence": "It is gone.", "risk_level": "low", "irreversible": true, "urgency": "critical",
        "default_decision": "reject", "timeout_seconds": 300,
        "extra_context": {"tool_call_id": "call_1"},
    });
    let call = json!({
        "tool_call_id": "call_1", "tool": "delete_file", "risk_level": "low", "irreversible": true,
        "args_summary": "a.txt", "summary_normal": "It deletes a.txt.",
    });
    let mut lines = vec![
        event(
            "session.started",
            0,
            &json!({"summary_normal": "A request."}),
        ),
        event(
            "state.changed",
            1,
            &json!({"from_state": "idle", "to_state": "awaiting_input"}),
        ),
        event("awaiting.confirmation", 2, &question),
        event(
            "state.changed",
            3,
            &json!({"from_state": "awaiting_input", "to_state": "calling_tool"}),
        ),
        event("tool.invoked", 4, &call),
    ];
    lines.insert(behind, reply.clone());
    lines
}

fn lines_of(values: &[Value]) -> Vec<String> {
    values.iter().map(|it| format!("{it}\n")).collect()
}

/// A line without an end takes no more memory than the longest that is read.
#[test]
fn a_line_that_is_too_long_is_told_when_it_ends() {
    let mut growing = Growing::default();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        assert!(growing.push(&piece).is_empty());
    }
    let found = growing.push(b"\n{}\n");
    assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), [1, 2]);
    assert!(
        found[0].message.contains("longer than 16 MiB"),
        "{}",
        found[0].message
    );
}

const ACCEPTANCE: &str = r#"{"type":"confirmation.reply","reply_token":"rpl_00000000000000000000000001","decision":"accept","subscription_id":"sub_1","timestamp":"2026-05-24T14:22:13.000Z"}"#;

/// AAEP-A.7.4-1: where the lines stand in the order of receipt, a call before its reply is told with its own line, and is a violation
/// where the stream stops there. In any other a reply that is dated before it may be logged behind it. That holds for whatever says
/// that of the order, and for replies that may not count.
#[test]
fn a_call_before_its_reply_is_told_at_once_where_the_order_is_certain() {
    let head =
        |more: &str| format!("{{\"type\":\"countersign.recording\",\"replies\":\"all\"{more}}}\n");
    let accepted: Value = serde_json::from_str(ACCEPTANCE).expect("a reply");
    let wrapped = |sender: &str| json!({"dir": "in", "at": "2026-05-24T14:22:13.100Z", "sender": sender, "message": accepted});
    let of_nobody = wrapped("stranger");
    for (settings, first, is_certain) in [
        (RECORDED, String::new(), false),
        (Settings::default(), head(""), false),
        (IN_ORDER, String::new(), true),
        (Settings::default(), head(",\"order\":\"receipt\""), true),
        (
            Settings {
                two_clocks: true,
                ..IN_ORDER
            },
            String::new(),
            false,
        ),
    ] {
        let mut lines = lines_of(&called(&accepted, 5)[..5]);
        lines.insert(0, first);
        let mut growing = Growing::new(settings, Selection::default());
        let before = lines.len() - 1;
        let found = growing.push(lines[..before].concat().as_bytes());
        assert!(found.is_empty(), "{found:?}");
        let found = growing.push(lines[before].as_bytes());
        let expected: &[&str] = if is_certain { &["AAEP-A.7.4-1"] } else { &[] };
        let clauses: Vec<_> = found.iter().map(|it| it.clause).collect();
        assert_eq!(clauses, expected, "{settings:?}");
        let verdict = if is_certain {
            Verdict::Violating
        } else {
            Verdict::Inconclusive
        };
        assert_eq!(growing.clone().finish("a").verdict, verdict, "{settings:?}");
        // The reply that is dated before the call: then it may explain it.
        let found = growing.push(format!("{accepted}\n").as_bytes());
        assert!(found.is_empty(), "{found:?}");
        let violations = growing.finish("a").violations;
        assert_eq!(
            violations.is_empty(),
            !is_certain,
            "{settings:?} {violations:?}"
        );
    }
    // One that does not count, before the call.
    let lines = lines_of(&called(&of_nobody, 3)).concat();
    let found = Growing::new(IN_ORDER, Selection::default()).push(lines.as_bytes());
    assert_eq!(
        found
            .iter()
            .map(|it| (it.clause, it.line))
            .collect::<Vec<_>>(),
        [("AAEP-6.3.4-5", 6)]
    );
    // One that does.
    let lines = lines_of(&called(&wrapped("known"), 3)).concat();
    let found = Growing::new(IN_ORDER, Selection::default()).push(lines.as_bytes());
    assert!(found.is_empty(), "{found:?}");
}

/// AAEP-6.4-1: a rejection by who may be nobody, and a call by which the timeout of a default that accepts is over: it may have been applied.
#[test]
fn a_default_that_the_call_itself_shows_came_before_it() {
    let rejected: Value =
        serde_json::from_str(&ACCEPTANCE.replace("accept", "reject")).expect("a reply");
    let mut lines = called(&rejected, 3);
    let question = &mut lines[2];
    question["default_decision"] = json!("accept");
    question["timeout_seconds"] = json!(60);
    let sender = json!({"dir": "in", "at": "2026-05-24T14:22:13.100Z", "message": rejected});
    lines[3] = sender;
    lines.last_mut().expect("the call")["timestamp"] = json!("2026-05-24T14:23:30.000Z");
    let stream = lines_of(&lines).concat();
    for settings in [RECORDED, IN_ORDER] {
        let settings = Settings {
            unknown_senders: true,
            ..settings
        };
        let report = judge(stream.as_bytes(), "a", settings, &Selection::default());
        assert!(report.violations.is_empty(), "{:?}", report.violations);
        let possible = report.possible.iter().map(|it| it.clause);
        let open = report.not_judged.iter().map(|it| it.clause);
        let mut open = open.chain(possible);
        let clause = if settings.in_order {
            "AAEP-A.8-5"
        } else {
            "AAEP-A.7.4-1"
        };
        assert!(open.any(|it| it == clause), "{:?}", report.not_judged);
    }
}

/// The example of RECORDINGS.md: a producer's own test.
fn producers_test(lines: &[String]) {
    let settings = Settings {
        replies_recorded: true, // a reply that is not here was not sent
        in_order: true,         // each reply is pushed before the producer has it
        ..Settings::default()
    };
    let mut stream = Growing::new(settings, Selection::default());
    for line in lines {
        let found = stream.push(format!("{line}\n").as_bytes());
        assert!(found.is_empty(), "{found:?}");
    }
    let report = stream.finish("test");
    assert!(report.violations.is_empty(), "{:?}", report.violations);
    assert_eq!(report.verdict, Verdict::Conforming, "{report:?}");
}

/// AAEP-A.7.4-1: the example fails for a call before its reply, with that call, and for nothing that conforms.
#[test]
fn the_example_fails_for_a_call_before_its_reply() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/RECORDINGS.md");
    let docs = fs::read_to_string(docs).expect("it is part of the project");
    let (_, example) = docs.split_once("```rust\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let own = include_str!("growing.rs");
    let indented = example.lines().map(|line| format!("    {line}\n"));
    let indented: String = indented.collect();
    assert!(own.contains(&indented), "{indented}");
    let accepted: Value = serde_json::from_str(ACCEPTANCE).expect("a reply");
    let early = called(&accepted, 5);
    let early: Vec<_> = early[..5].iter().map(Value::to_string).collect();
    let failed = catch_unwind(|| producers_test(&early)).expect_err("the call is before its reply");
    let message = failed.downcast_ref::<String>().expect("a message");
    assert!(message.contains("AAEP-A.7.4-1"), "{message}");
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/valid");
    let stream =
        fs::read_to_string(traces.join("AAEP-A.7.4-1_reply-decided-before-the-deadline.jsonl"));
    let stream: Vec<_> = stream
        .expect("a stream")
        .lines()
        .map(str::to_owned)
        .collect();
    producers_test(&stream);
}

/// AAEP-EV-1: another word at `order` says nothing, and is told; a later head speaks of what stands behind it.
#[test]
fn the_order_holds_for_what_stands_behind_the_head_that_says_it() {
    let accepted: Value = serde_json::from_str(ACCEPTANCE).expect("a reply");
    let events = lines_of(&called(&accepted, 5)[..5]).concat();
    let ordered =
        "{\"type\":\"countersign.recording\",\"replies\":\"all\",\"order\":\"receipt\"}\n";
    let unordered = "{\"type\":\"countersign.recording\",\"replies\":\"all\"}\n";
    let other = "{\"type\":\"countersign.recording\",\"replies\":\"all\",\"order\":\"time\"}\n";
    let started = events.lines().next().unwrap_or_default();
    let rest = &events[started.len()..];
    let begun = format!("{ordered}{started}\n{unordered}{}", rest.trim_start());
    for (stream, expected) in [
        (format!("{other}{events}"), vec!["AAEP-EV-1"]),
        (format!("{ordered}{unordered}{events}"), vec![]),
        (begun, vec![]),
        (
            format!("{unordered}{ordered}{events}"),
            vec!["AAEP-A.7.4-1"],
        ),
    ] {
        let found = Growing::default().push(stream.as_bytes());
        assert_eq!(
            found.iter().map(|it| it.clause).collect::<Vec<_>>(),
            expected,
            "{stream}"
        );
    }
}

/// A session that is over is not kept for a reply that cannot come: its question asks nothing any more.
#[test]
fn nothing_waits_behind_the_end_of_a_session_where_the_order_is_certain() {
    let accepted: Value = serde_json::from_str(ACCEPTANCE).expect("a reply");
    let mut lines = called(&accepted, 5);
    lines.truncate(5);
    lines.push(event(
        "session.errored",
        5,
        &json!({"summary_normal": "It broke."}),
    ));
    let text = lines_of(&lines).concat();
    for (settings, is_kept) in [(RECORDED, true), (IN_ORDER, false)] {
        let mut linter = Linter::with(settings);
        for (line, text) in (1..).zip(text.lines()) {
            judge_line(&mut linter, line, text.as_bytes());
        }
        assert_eq!(
            !linter.confirmations("sess_1").is_empty(),
            is_kept,
            "{settings:?}"
        );
    }
}

/// AAEP-A.7.4-1: streams that conform do so where their lines are known to stand in the order of receipt, but for those whose names
/// say that a reply is logged behind what it led to.
#[test]
fn a_conforming_stream_conforms_in_order() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/valid");
    let mut judged = 0;
    for entry in fs::read_dir(traces).expect("the folder is part of the project") {
        let path = entry.expect("readable").path();
        let name = path.to_string_lossy().into_owned();
        if path.extension().is_none_or(|it| it != "jsonl") {
            continue;
        }
        let stream = fs::read(&path).expect("a stream");
        let accused = |settings| {
            !judge(&*stream, "a", settings, &Selection::default())
                .violations
                .is_empty()
        };
        let is_logged_late = name.contains("logged-after");
        let in_order = Settings {
            in_order: true,
            ..Settings::default()
        };
        assert_eq!(accused(in_order), is_logged_late, "{name}");
        judged += 1;
    }
    assert!(judged > 200, "{judged}");
}
