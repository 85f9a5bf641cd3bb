//! Judges a stream of 10,000 sessions that run beside each other, and tells the most memory that this took.
//!
//! `cargo run --release -p countersign-benches --example lint_memory -- [MEGABYTES] [SESSIONS]`. The stream is made while
//! it is read, which takes a share of the time, and no memory.

use std::env;
use std::io::BufReader;
use std::process::ExitCode;
use std::time::Instant;

use countersign_benches::lint::Stream;
use countersign_benches::peak_resident_bytes;
use countersign_lint::lint;
use countersign_lint::report::Verdict;
use mimalloc::MiMalloc;

/// As the command does.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What one read asks for, as the command does.
const CHUNK: usize = 256 << 10;

fn main() -> ExitCode {
    let mut numbers = env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(megabytes), Ok(sessions)) = (
        numbers.next().unwrap_or(Ok(1_000)),
        numbers.next().unwrap_or(Ok(10_000)),
    ) else {
        eprintln!("expected: lint_memory [MEGABYTES] [SESSIONS]");
        return ExitCode::from(2);
    };
    let stream = Stream::new(sessions, megabytes * 1_000_000);
    let start = Instant::now();
    let report = match lint(BufReader::with_capacity(CHUNK, stream), "made") {
        Ok(report) => report,
        Err(error) => {
            eprintln!("cannot read the stream: {error}");
            return ExitCode::from(2);
        }
    };
    println!(
        "{} records of {} sessions in {:.1} s: {} with {} violations and {} warnings",
        report.records,
        report.sessions,
        start.elapsed().as_secs_f64(),
        report.verdict.word(),
        report.violations.len(),
        report.warnings.len(),
    );
    match peak_resident_bytes() {
        Some(bytes) => println!("{} MB of memory at most", bytes / 1_000_000),
        None => println!("this system does not tell how much memory a process had"),
    }
    ExitCode::from(match report.verdict {
        Verdict::Conforming => 0,
        Verdict::Violating => 1,
        Verdict::Inconclusive => 3,
    })
}
