//! What the recorder costs: the same stream read with it and without it, at the same time; and a transfer of 100 MB.

use std::fs;
use std::io::{BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{Running, ask, listens_at, percentiles};

/// How many events a second, and how many in all.
const RATE: u32 = 1_000;
const EVENTS: u32 = 10_000;
const MEGABYTES: u32 = 100;
const TRANSFER: usize = MEGABYTES as usize * 1_000_000;

/// How much was wrong.
pub fn run() -> usize {
    let clock = Instant::now();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let direct = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever reads may go.
            thread::spawn(move || drop(serve(stream, clock)));
        }
    });
    let file = std::env::temp_dir().join(format!("countersign-{}.jsonl", std::process::id()));
    let (to, out) = (format!("http://{direct}"), file.display().to_string());
    let arguments = [
        "record",
        "--listen",
        "127.0.0.1:0",
        "--to",
        &to,
        "--out",
        &out,
    ];
    let mut recorder = Running::start(&arguments);
    let recorded = listens_at(recorder.0.stderr.take().expect("a pipe"));
    let [without, with] = [&direct, &recorded].map(|address| {
        let address = address.clone();
        thread::spawn(move || delays(&address, clock))
    });
    let without = without.join().expect("it is read");
    let with = with.join().expect("it is read");
    let lost = 2 * EVENTS as usize - without.len() - with.len();
    println!("{EVENTS} events at {RATE} a second; microseconds from sent to read");
    let [median, _, most, greatest] = percentiles(without);
    println!("without the recorder: median {median:>6}, p99 {most:>6}, greatest {greatest:>7}");
    let [slower, _, most_slower, slowest] = percentiles(with);
    println!(
        "with the recorder:    median {slower:>6}, p99 {most_slower:>6}, greatest {slowest:>7}"
    );
    let number = |micros: i64| f64::from(i32::try_from(micros).unwrap_or(i32::MAX));
    let ratio = |with: i64, without: i64| number(with) / number(without.max(1));
    println!(
        "added:                median {:>6}, p99 {:>6}; ratio of the medians {:.1}, of the p99 {:.1}",
        slower - median,
        most_slower - most,
        ratio(slower, median),
        ratio(most_slower, most)
    );
    let [plain, through] = [&direct, &recorded].map(|address| transfer(address));
    let rate = |time: Duration| f64::from(MEGABYTES) / time.as_secs_f64();
    println!(
        "100 MB: {plain:.2?} without ({:.0} MB/s), {through:.2?} with the recorder ({:.0} MB/s), ratio {:.1}",
        rate(plain),
        rate(through),
        through.as_secs_f64() / plain.as_secs_f64()
    );
    let killed = Command::new("kill")
        .args(["-TERM", &recorder.0.id().to_string()])
        .status();
    assert!(killed.expect("there is a kill").success());
    let status = recorder.0.wait().expect("it ends");
    let lines = fs::read_to_string(&file)
        .expect("a recording")
        .lines()
        .count();
    println!("lines of the recording: {lines}; the recorder: {status}");
    let _there = fs::remove_file(&file);
    lost + (EVENTS as usize).abs_diff(lines) + usize::from(!status.success())
}

/// A producer whose events say when they were sent.
fn serve(mut stream: TcpStream, clock: Instant) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    if head.starts_with(b"GET /big") {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {TRANSFER}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let piece = vec![b'.'; 100_000];
        return (0..TRANSFER / piece.len()).try_for_each(|_| stream.write_all(&piece));
    }
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )?;
    let begun = Instant::now();
    // As long as the events of the reference are.
    let rest = " ".repeat(400);
    for number in 0..EVENTS {
        let due = Duration::from_secs(1) * number / RATE;
        thread::sleep(due.saturating_sub(begun.elapsed()));
        let sent = clock.elapsed().as_micros();
        let event = format!(
            "data: {{\"event_id\":\"evt_{number}\",\"rest\":\"{rest}\",\"sent\":{sent}}}\n\n"
        );
        stream.write_all(event.as_bytes())?;
    }
    Ok(())
}

/// How long each event was on its way, in microseconds.
fn delays(address: &str, clock: Instant) -> Vec<i64> {
    let (_, _, mut stream) = ask(address, "GET /events", "").expect("a stream");
    let (mut line, mut delays) = (String::new(), Vec::new());
    while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
        let read = clock.elapsed().as_micros();
        let sent = line
            .split_once("\"sent\":")
            .and_then(|(_, it)| it.split('}').next());
        if let Some(sent) = sent.and_then(|it| it.parse::<u128>().ok()) {
            delays.push(i64::try_from(read - sent).expect("it is not that late"));
        }
        line.clear();
    }
    delays
}

fn transfer(address: &str) -> Duration {
    let begun = Instant::now();
    let (_, _, mut stream) = ask(address, "GET /big", "").expect("an answer");
    let mut piece = vec![0; 1 << 16];
    let mut read = 0;
    while read < TRANSFER {
        let count = stream.read(&mut piece).expect("it is not cut off");
        assert_ne!(count, 0, "cut off after {read} bytes");
        read += count;
    }
    begun.elapsed()
}
