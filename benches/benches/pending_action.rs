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

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    ActionId, Decide, Decision, Effect, Input, Ledger, Output, Propose, Record, Settings, Text,
};
use countersign_reference::time::Timestamp;
use countersign_spec_trace::store::Store;
use criterion::{Criterion, criterion_group};
use redb::{Database, TableDefinition};

/// How many actions pend.
const PENDING: usize = 100_000;

/// How many of them, where the benches are only tried out.
const PENDING_IN_A_TEST: usize = 1_000;

/// How many decisions are measured for the ratio.
const COMMITS: usize = 500;

/// A ledger with actions pending, and what is needed to decide about them.
#[derive(Clone)]
struct Pending {
    ledger: Ledger,
    ids: SequentialIds,
    action_ids: Vec<ActionId>,
}

impl Pending {
    /// Proposes so many calls, each of which goes to `each` as records.
    fn new(count: usize, mut each: impl FnMut(&[Record])) -> Self {
        let mut pending = Self {
            ledger: Ledger::new(Settings::default()),
            ids: SequentialIds::new(),
            action_ids: Vec::with_capacity(count),
        };
        for number in 0..count {
            let outputs = pending.happens(Input::Propose(proposal(number)));
            each(&records(&outputs));
            pending.has_carried();
        }
        let actions = pending.ledger.actions().iter();
        pending.action_ids = actions.map(|action| action.action_id).collect();
        pending
    }

    fn allows(&mut self, number: usize) -> Vec<Output> {
        self.happens(Input::Decide(Decide {
            action_id: self.action_ids[number].to_string(),
            nonce: None,
            decision: Decision::Allow,
            by: "ana".into(),
            arguments: None,
        }))
    }

    /// All that has come out is carried out.
    fn has_carried(&mut self) {
        self.ledger.carried(self.ledger.recorded());
    }

    fn happens(&mut self, input: Input) -> Vec<Output> {
        let now = Timestamp::from_millis(1_779_632_540_000);
        let outcome = self.ledger.handle(now, &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }
}

fn proposal(number: usize) -> Propose {
    Propose {
        agent_id: "menta".into(),
        session_id: format!("chat {}", number / 10),
        run_id: "run 1".into(),
        tool: "carpeta/delete-potreros".into(),
        arguments: Text::new(format!(r#"{{"ids": [{number}], "confirm": true}}"#)),
        effect: Effect::Destructive,
        summary: "¿Borro este potrero?".into(),
        label: "Sí, borrar".into(),
        expires_at: None,
        deciders: None,
        idempotent: false,
    }
}

fn records(outputs: &[Output]) -> Vec<Record> {
    outputs.iter().filter_map(Output::record).cloned().collect()
}

fn is_test() -> bool {
    std::env::args().any(|argument| argument == "--test")
}

fn count() -> usize {
    if is_test() {
        PENDING_IN_A_TEST
    } else {
        PENDING
    }
}

/// The ledger alone: a decision that counts, and one that does not.
fn decide(criterion: &mut Criterion) {
    let pending = Pending::new(count(), |_records| {});
    let mut group = criterion.benchmark_group("decide in memory");
    group.bench_function(format!("allowed, of {}", count()), |bencher| {
        bencher.iter_custom(|decisions| time_to_allow(&pending, decisions));
    });
    group.bench_function(format!("ignored, of {}", count()), |bencher| {
        let mut pending = pending.clone();
        pending.allows(0);
        bencher.iter_batched(
            || (),
            |()| black_box(pending.allows(0)),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// How long so many decisions take. Half of the actions are decided, then a fresh ledger takes over, so that at least
/// half of them pend all the time.
fn time_to_allow(pending: &Pending, decisions: u64) -> Duration {
    let half = pending.action_ids.len() / 2;
    let mut left = usize::try_from(decisions).expect("a number of decisions");
    let mut elapsed = Duration::ZERO;
    while left > 0 {
        let mut fresh = pending.clone();
        let start = Instant::now();
        for number in 0..left.min(half) {
            black_box(fresh.allows(number));
            fresh.has_carried();
        }
        elapsed += start.elapsed();
        left = left.saturating_sub(half);
    }
    elapsed
}

/// On disk: what they weigh, how long the store takes to open, and a durable decision beside the smallest durable write.
fn durable() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("actions.store");
    let mut pending = fill(&path);
    let bytes = fs::metadata(&path).expect("the store's file").len();
    let each = bytes / count() as u64;
    say("actions pending", count());
    say("bytes of the store's file for each", each);

    let start = Instant::now();
    let mut store = Store::open(&path).expect("a store");
    let opened = start.elapsed();
    let ledger = store.ledger(Settings::default(), None).expect("a journal");
    assert_eq!(ledger.actions().len(), count());
    say("store opened and checked", milliseconds(opened));
    say(
        "journal read and ledger rebuilt",
        milliseconds(start.elapsed() - opened),
    );

    let database = Database::create(folder.path().join("plain.redb")).expect("a database");
    let (mut decisions, mut writes) = (Duration::ZERO, Duration::ZERO);
    let commits = COMMITS.min(count() / 2);
    for number in 0..commits {
        let start = Instant::now();
        let outputs = pending.allows(number);
        let appended = store.append(&records(&outputs), pending.ledger.watermark());
        appended.expect("a store that works");
        pending.has_carried();
        decisions += start.elapsed();
        let start = Instant::now();
        write(&database, number as u64);
        writes += start.elapsed();
    }
    let per_second = |time: Duration| commits as f64 / time.as_secs_f64();
    say(
        "durable decisions a second",
        format!("{:.0}", per_second(decisions)),
    );
    say(
        "the store's own synced single writes a second",
        format!("{:.0}", per_second(writes)),
    );
    let ratio = per_second(decisions) / per_second(writes);
    say("ratio", format!("{ratio:.2}"));
    assert!(is_test() || ratio >= 0.5, "less than half as many");
}

/// A store in which all of them pend.
fn fill(path: &Path) -> Pending {
    let mut store = Store::open(path).expect("a new store");
    let mut waiting = Vec::new();
    let pending = Pending::new(count(), |records| {
        waiting.extend_from_slice(records);
        if waiting.len() == 1_000 {
            let carried = store.recorded();
            store.append(&waiting, carried).expect("a store that works");
            waiting.clear();
        }
    });
    assert!(waiting.is_empty(), "a round number of actions");
    pending
}

/// The smallest commit that there is: one row of as many bytes as the record of a decision, one sync.
fn write(database: &Database, number: u64) {
    const ROWS: TableDefinition<u64, &[u8]> = TableDefinition::new("rows");
    let writing = database.begin_write().expect("a transaction");
    let mut table = writing.open_table(ROWS).expect("a table");
    table.insert(number, &[b'x'; 160][..]).expect("a row");
    drop(table);
    writing.commit().expect("a commit");
}

fn say(what: &str, figure: impl Display) {
    println!("{what:<46} {figure:>10}");
}

fn milliseconds(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1_000.0)
}

criterion_group!(benches, decide);

fn main() {
    durable();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
