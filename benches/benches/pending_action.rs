//! Pending actions: how long a decision takes with 100,000 pending, in memory and durable, and what they cost on disk.
//!
//! `cargo bench -p countersign-benches --bench pending_action`. What is durable is written to the folder for temporary
//! files; set `TMPDIR` to measure another disk. The durable decision and the store's own smallest commit are measured in
//! turn, so that whatever else the disk has to do slows both down alike.

use std::fmt::Display;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use countersign_benches::pending_action::Pending;
use countersign_benches::resident_bytes;
use countersign_reference::pending_action::{Input, Output, Record, Settings};
use countersign_store::Store;
use criterion::{Criterion, criterion_group, criterion_main};
use redb::{Database, TableDefinition};

/// How many decisions are made ready at once.
const BATCH: usize = 256;

/// How many decisions are measured beside as many commits.
const COMMITS: u32 = 500;

/// How many actions pend: few where it is only tried whether the benches run.
fn many() -> usize {
    if is_trial() { 1_000 } else { 100_000 }
}

fn is_trial() -> bool {
    std::env::args().any(|argument| argument == "--test")
}

/// The ledger alone: a decision that counts, and one that does not.
fn decide(criterion: &mut Criterion) {
    let pending = Pending::new(many(), drop);
    let mut group = criterion.benchmark_group("decide in memory");
    group.bench_function(format!("allowed, of {}", many()), |bencher| {
        bencher.iter_custom(|decisions| time_to_allow(&pending, decisions));
    });
    group.bench_function(format!("ignored, of {}", many()), |bencher| {
        let mut pending = pending.clone();
        let allow = pending.allow(0);
        drop(pending.happens(allow.clone()));
        bencher.iter(|| pending.happens(black_box(allow.clone())));
    });
    group.finish();
}

/// How long so many decisions take. When half of the actions are decided, a fresh ledger takes over, so that at least
/// half of them pend all the time.
fn time_to_allow(pending: &Pending, decisions: u64) -> Duration {
    let half = pending.action_ids.len() / 2;
    let mut left = usize::try_from(decisions).unwrap_or(usize::MAX);
    let mut elapsed = Duration::ZERO;
    while left > 0 {
        let mut fresh = pending.clone();
        // Made ready in small batches, so that making them is not measured and they are not all fetched from far away.
        for first in (0..left.min(half)).step_by(BATCH) {
            let batch = first..left.min(half).min(first + BATCH);
            let inputs: Vec<Input> = batch.map(|number| fresh.allow(number)).collect();
            let start = Instant::now();
            for input in inputs {
                black_box(fresh.happens(input));
                fresh.has_carried();
            }
            elapsed += start.elapsed();
        }
        left = left.saturating_sub(half);
    }
    elapsed
}

/// On disk, in one line each: what they weigh, how long the store takes to open, and durable decisions beside the
/// smallest durable writes.
fn figures(_: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("actions.store");
    let before = resident_bytes();
    let mut store = Store::open(&path).expect("a new store");
    let mut pending = fill(&mut store);
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let bytes = after.saturating_sub(before) / many();
        say(
            "memory, the store's cache included",
            format!("{bytes} bytes for each"),
        );
    }
    drop(store);
    let file = fs::metadata(&path).expect("the store's file").len();
    say(
        "file of the store",
        format!("{} bytes for each", file / many() as u64),
    );
    let start = Instant::now();
    let mut store = Store::open(&path).expect("a store");
    say(
        "opened, every byte of it checked",
        milliseconds(start.elapsed()),
    );
    let start = Instant::now();
    let ledger = store.ledger(Settings::default(), None).expect("a journal");
    say(
        "journal read, ledger rebuilt",
        milliseconds(start.elapsed()),
    );
    assert_eq!(ledger.actions().len(), many());
    compare_commits(&mut store, &mut pending, &folder.path().join("plain"));
}

/// Decisions and plain writes in turn, so that whatever else the disk has to do slows both down alike.
fn compare_commits(store: &mut Store, pending: &mut Pending, plain: &Path) {
    let database = Database::create(plain).expect("a database");
    let (mut decisions, mut writes) = (Duration::ZERO, Duration::ZERO);
    for number in 0..COMMITS {
        let allow = pending.allow(number as usize);
        let start = Instant::now();
        let outputs = pending.happens(allow);
        append(store, &records(&outputs), pending.ledger.watermark());
        pending.has_carried();
        decisions += start.elapsed();
        let start = Instant::now();
        write(&database, number.into());
        writes += start.elapsed();
    }
    let rate = |time: Duration| 1.0 / (time / COMMITS).as_secs_f64();
    let ratio = rate(decisions) / rate(writes);
    say(
        "durable decisions",
        format!("{:.0} a second", rate(decisions)),
    );
    say(
        "synced single writes of the database",
        format!("{:.0} a second", rate(writes)),
    );
    say("ratio", format!("{ratio:.2}"));
    assert!(
        is_trial() || ratio >= 0.5,
        "a decision costs more than two writes"
    );
}

/// Makes all of them durable, a thousand in one commit.
fn fill(store: &mut Store) -> Pending {
    let mut waiting = Vec::new();
    let pending = Pending::new(many(), |outputs| {
        waiting.extend(records(&outputs));
        if waiting.len() == 1_000 {
            append(store, &waiting, store.recorded());
            waiting.clear();
        }
    });
    assert!(waiting.is_empty(), "a round number of actions");
    pending
}

fn append(store: &mut Store, records: &[Record], carried: u64) {
    let appended = store.append(records, carried);
    appended.expect("a store that works");
}

fn records(outputs: &[Output]) -> Vec<Record> {
    outputs.iter().filter_map(Output::record).cloned().collect()
}

/// One row of as many bytes as the record of a decision, one sync.
fn write(database: &Database, number: u64) {
    const ROWS: TableDefinition<u64, &[u8]> = TableDefinition::new("rows");
    let writing = database.begin_write().expect("a transaction");
    let mut table = writing.open_table(ROWS).expect("a table");
    table.insert(number, &[b'x'; 160][..]).expect("a row");
    drop(table);
    writing.commit().expect("a commit");
}

fn say(what: &str, figure: impl Display) {
    println!("{} pending: {what}: {figure}", many());
}

fn milliseconds(time: Duration) -> String {
    format!("{} ms", time.as_millis())
}

criterion_group!(benches, figures, decide);
criterion_main!(benches);
