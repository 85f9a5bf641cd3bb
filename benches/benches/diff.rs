//! How fast implementations are driven: runs of the suite a second, in this process and over stdio, and the time to make a long run
//! short.
//!
//! What is in this process is driven on all processors (`in process`), and for comparison on one (`on one thread`). What the reference
//! takes to answer is its own: `driving alone` is the same on one thread with its answers kept, so that it takes nothing.

use std::cell::{LazyCell, RefCell};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use countersign_cli::serve::controls::Referred;
use countersign_conform::driven::{Run, Search, play, play_all};
use countersign_conform::implementation::{Greeted, Implementation, Lost, Process};
use countersign_conform::side_by_side::processors;
use countersign_conform::spoken::{Spoken, Wire, judge};
use countersign_conform::suite::committed;
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_protocol::{Answer, Protocol, Request, Response};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};

/// As the command does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs of the suite a second, each driven and judged, by the reference in this process and by an adapter in Python over stdio.
fn suite(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("suite");
    group.sample_size(10);
    in_process::<Aaep>(&mut group);
    in_process::<McpAql>(&mut group);
    in_process::<PendingAction>(&mut group);
    if let Some(command) = adapter("aaep.py", &[]) {
        let process = Process::new(command, ANSWERED_WITHIN);
        driven::<Aaep, _>(&mut group, "over stdio", process, 1);
    }
    group.finish();
}

fn in_process<P: Referred>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let reference = || P::reference(1);
    driven::<P, _>(group, "in process", reference(), processors());
    driven::<P, _>(group, "on one thread", reference(), 1);
    let answers = Rc::new(RefCell::new(Vec::new()));
    let recorded = Recorded {
        implementation: reference(),
        answers: Rc::clone(&answers),
    };
    let mut partner = Greeted::new(recorded).expect("it greets");
    let judge = judge::<P>(partner.greeting());
    for run in committed::<P>().played() {
        let _played = play::<P, _>(&mut partner, &run.steps, &judge);
    }
    let answers = answers.take();
    driven::<P, _>(group, "driving alone", Kept { answers, next: 0 }, 1);
}

/// An implementation whose answers are kept, the greeting first.
struct Recorded<P: Protocol, I> {
    implementation: I,
    answers: Rc<RefCell<Vec<Answer<P>>>>,
}

impl<P: Protocol, I: Implementation<P>> Implementation<P> for Recorded<P, I> {
    fn start(&mut self) -> Result<(), Lost> {
        self.implementation.start()
    }

    fn ask(&mut self, request: Request<P>) -> Result<Response<P>, Lost> {
        let response = self.implementation.ask(request)?;
        self.answers.borrow_mut().push(response.answer.clone());
        Ok(response)
    }
}

/// Gives the answers that were kept, those behind the greeting again and again.
struct Kept<P: Protocol> {
    answers: Vec<Answer<P>>,
    next: usize,
}

impl<P: Protocol> Implementation<P> for Kept<P> {
    fn start(&mut self) -> Result<(), Lost> {
        Ok(())
    }

    fn ask(&mut self, request: Request<P>) -> Result<Response<P>, Lost> {
        let answer = self.answers[self.next].clone();
        self.next = self.next % (self.answers.len() - 1) + 1;
        let id = Some(request.id);
        Ok(Response { id, answer })
    }
}

fn driven<P: Spoken, I: Implementation<Wire<P>>>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    how: &str,
    implementation: I,
    threads: usize,
) {
    let suite = committed::<P>();
    let runs: Vec<Run<P>> = suite.played().collect();
    let mut partner = Greeted::new(implementation).expect("it greets");
    let judge = judge::<P>(partner.greeting());
    group.throughput(Throughput::Elements(runs.len() as u64));
    group.bench_function(format!("{}, {how}", P::NAME), |bencher| {
        bencher.iter(|| {
            let all = play_all::<P, I>(&mut partner, &runs, &judge, threads);
            assert!(all.iter().all(|played| played.wrong.is_empty()));
        });
    });
}

/// The time to play a run of 200 steps in which a fault shows, and to make it as short as it can be, over stdio.
fn shortest(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shortest");
    group.sample_size(10);
    for fault in ["runs-before-approval", "third-runs-twice", "forgets-used"] {
        let Some(command) = adapter("aaep.py", &["--fault", fault]) else {
            continue;
        };
        let found = || {
            let process = Process::new(command.clone(), ANSWERED_WITHIN);
            Search::<Aaep, _>::new(Greeted::new(process).expect("it greets"))
        };
        let shows = |seed: &u64| {
            let mut search = found();
            search.play(&Run::seeded(*seed, STEPS), *seed);
            !search.divergences.is_empty()
        };
        let shown = LazyCell::new(|| {
            let seed = (1..1_000).find(shows).expect("a run that shows it");
            (Run::seeded(seed, STEPS), seed)
        });
        group.bench_function(fault, |bencher| {
            let (run, seed) = &*shown;
            bencher.iter(|| found().play(run, *seed));
        });
    }
    group.finish();
}

/// So many steps has a long run.
const STEPS: usize = 200;

const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// The command that is an adapter; none without a Python.
fn adapter(program: &str, arguments: &[&str]) -> Option<Vec<std::ffi::OsString>> {
    let is_there = Command::new("python3").arg("--version").output().is_ok();
    if !is_there {
        println!("SKIPPED: there is no python3 to run {program}");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-trace/adapters/python");
    let program = folder.join(program).into_os_string();
    let first = ["python3".into(), "-B".into(), program];
    Some(
        first
            .into_iter()
            .chain(arguments.iter().map(Into::into))
            .collect(),
    )
}

criterion_group!(benches, suite, shortest);
criterion_main!(benches);
