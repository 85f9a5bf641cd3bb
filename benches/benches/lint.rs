//! Lint: how fast recorded streams are judged, beside reading the same bytes with `serde_json` into borrowed structs.
//!
//! `cargo bench -p countersign-benches --bench lint`. Both are measured in turn, so that whatever else the machine has to
//! do slows both down alike; the ratio of the two is printed first. Judging takes two threads, one of which reads ahead, so
//! the ratio holds where two cores are idle. Behind these come the other envelopes, each as a ratio to our own format.

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign_benches::lint::Stream;
use countersign_lint::envelope::{How, Opened};
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use countersign_lint::{judge_opened, lint};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use serde::Deserialize;
use serde_json::json;

/// As the command does.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How often each is measured for the ratio; the best counts.
const TURNS: usize = 7;

/// A record, as one who wants its fields and does not judge would read it.
#[derive(Deserialize)]
#[expect(dead_code, reason = "that they are read is what counts")]
struct Record<'a> {
    r#type: &'a str,
    event_id: Option<&'a str>,
    session_id: Option<&'a str>,
    timestamp: Option<&'a str>,
    #[serde(borrow)]
    producer: Option<Producer<'a>>,
    sequence_number: Option<i64>,
    urgency: Option<&'a str>,
    summary_normal: Option<&'a str>,
    from_state: Option<&'a str>,
    to_state: Option<&'a str>,
    tool: Option<&'a str>,
    tool_call_id: Option<&'a str>,
    status: Option<&'a str>,
    action: Option<&'a str>,
    consequence: Option<&'a str>,
    reply_token: Option<&'a str>,
    timeout_seconds: Option<u32>,
    default_decision: Option<&'a str>,
    risk_level: Option<&'a str>,
    irreversible: Option<bool>,
    allowed_replies: Option<Vec<&'a str>>,
    decision: Option<&'a str>,
    subscription_id: Option<&'a str>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "that they are read is what counts")]
struct Producer<'a> {
    agent_id: &'a str,
    agent_version: Option<&'a str>,
}

fn judge(bytes: &[u8]) -> usize {
    let report = lint(bytes, "made").expect("memory can be read");
    assert!(
        report.violations.is_empty(),
        "{:?}",
        report.violations.first()
    );
    report.sessions
}

fn read(bytes: &[u8]) -> usize {
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let records = lines.map(|line| {
        let record: Record<'_> = serde_json::from_slice(line).expect("a record");
        black_box(&record);
    });
    records.count()
}

fn time(work: impl FnOnce() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn both(criterion: &mut Criterion) {
    let is_trial = std::env::args().any(|argument| argument == "--test");
    let megabytes = if is_trial { 1 } else { 64 };
    for sessions in [100, 10_000] {
        let bytes = Stream::new(sessions, megabytes * 1_000_000).bytes();
        let (mut judging, mut reading) = (Duration::MAX, Duration::MAX);
        for _ in 0..if is_trial { 1 } else { TURNS } {
            judging = judging.min(time(|| judge(&bytes)));
            reading = reading.min(time(|| read(&bytes)));
        }
        let rate = |time: Duration| bytes.len() as u128 * 1_000 / time.as_nanos();
        println!(
            "{sessions} sessions beside each other: judged at {} MB/s, {:.2} of the speed of reading into borrowed structs, {} MB/s",
            rate(judging),
            reading.as_secs_f64() / judging.as_secs_f64(),
            rate(reading),
        );
        let mut group = criterion.benchmark_group(format!("lint, {sessions} sessions"));
        group.sample_size(10);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("judge", |bencher| bencher.iter(|| judge(&bytes)));
        group.bench_function("serde_json, borrowed", |bencher| {
            bencher.iter(|| read(&bytes));
        });
        group.finish();
    }
}

/// Other envelopes, each beside our own format in one run: how fast the same messages are judged in it.
fn envelopes(_: &mut Criterion) {
    let is_trial = std::env::args().any(|argument| argument == "--test");
    let own = Stream::new(100, if is_trial { 100_000 } else { 32_000_000 }).bytes();
    let text = String::from_utf8(own).expect("it is written in UTF-8");
    for (name, put) in enveloped(&text) {
        let (mut plain, mut within) = (Duration::MAX, Duration::MAX);
        for _ in 0..if is_trial { 1 } else { TURNS } {
            plain = plain.min(time(|| judge_opened_of(text.as_bytes())));
            within = within.min(time(|| judge_opened_of(put.as_bytes())));
        }
        println!(
            "{name}: {:.2} of the throughput of our own format, by byte of message",
            plain.as_secs_f64() / within.as_secs_f64()
        );
    }
}

/// The lines of a stream in other envelopes, which are told by their content.
fn enveloped(text: &str) -> [(&'static str, String); 6] {
    let each = |put: fn(&str) -> String| text.lines().map(put).collect::<String>();
    let sse: fn(&str) -> String = |line| format!("event: message\ndata: {line}\n\n");
    let stream = json!({
        "startedDateTime": "2026-05-24T00:00:00.000Z",
        "request": {"method": "GET", "url": "/events"},
        "response": {"status": 200, "content": {"mimeType": "text/event-stream", "text": each(sse)}},
    });
    let har = json!({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": [stream]}});
    [
        ("sse", each(sse)),
        ("json", format!("[{}]", text.trim_end().replace('\n', ","))),
        (
            "docker",
            each(|line| {
                let log = format!("{line}\n");
                let time = "2026-05-24T00:00:00.123456789Z";
                format!(
                    "{}\n",
                    json!({"log": log, "stream": "stdout", "time": time})
                )
            }),
        ),
        (
            "cri",
            each(|line| format!("2026-05-24T00:00:00.123456789Z stdout F {line}\n")),
        ),
        (
            "cloudevents",
            each(|line| {
                format!(
                    r#"{{"specversion":"1.0","id":"1","source":"/a","type":"x","data":{line}}}"#
                ) + "\n"
            }),
        ),
        ("har", har.to_string()),
    ]
}

fn judge_opened_of(bytes: &[u8]) -> usize {
    let opened = Opened::new(bytes, &How::default());
    let report = judge_opened(
        opened,
        ("made", ""),
        Settings::default(),
        &Selection::default(),
    );
    let report = report.expect("it holds messages");
    assert!(
        report.violations.is_empty(),
        "{:?}",
        report.violations.first()
    );
    report.sessions
}

criterion_group!(benches, both, envelopes);
criterion_main!(benches);
