//! MCP-AQL: how long a call takes with few and with many active tokens, what of it is hashing, and what a token weighs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign_benches::mcp_aql::{Active, call};
use countersign_benches::resident_bytes;
use countersign_reference::mcp_aql::{
    Call, ConfirmationToken, Input, ParametersHash, Purpose, canonical_form,
};
use criterion::{Criterion, criterion_group, criterion_main};

/// How many inputs are made ready at once, so that making them is not measured.
const BATCH: usize = 256;

/// Coprime to every number of tokens here: steps that long visit all of them, in an order that no cache foresees.
const STRIDE: usize = 618_033;

/// A million, or few where it is only tried whether the benches run.
fn many() -> usize {
    let is_trial = std::env::args().any(|argument| argument == "--test");
    if is_trial { 1_000 } else { 1_000_000 }
}

/// A call with its token: checked, used, and the operation out.
fn redeem(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("validate and redeem");
    for count in [10, many()] {
        let mut calls = Calls::new(count, retry);
        group.bench_function(format!("of {count}"), |bencher| {
            bencher.iter_custom(|times| calls.time(times));
        });
    }
    group.finish();
}

/// The call of one of the tokens, with it.
fn retry(active: &Active, number: usize) -> Input {
    active.retry(number * STRIDE % active.count())
}

/// A call without a token: one is issued.
fn issue(criterion: &mut Criterion) {
    let mut calls = Calls::new(many(), |active, number| {
        Input::Call(call(active.count() + number))
    });
    criterion.bench_function(&format!("issue/beside {}", many()), |bencher| {
        bencher.iter_custom(|times| calls.time(times));
    });
}

/// A call while as many tokens as there are have just expired: it forgets as many as one call does.
fn purge(criterion: &mut Criterion) {
    let mut calls = Calls::new(many(), |_, _| Input::Tick);
    calls.active.let_all_expire();
    criterion.bench_function(&format!("purge/of {}", many()), |bencher| {
        bencher.iter_custom(|times| calls.time_purges(times));
    });
}

/// The parts of a redemption that hash, each by itself.
fn parts(criterion: &mut Criterion) {
    let token = ConfirmationToken::from_bits(Purpose::Confirmation, [1, 2]);
    let call = call(7);
    let mut group = criterion.benchmark_group("part");
    group.bench_function("digest of the token", |bencher| {
        bencher.iter(|| black_box(&token).id());
    });
    group.bench_function("canonical form", |bencher| {
        bencher.iter(|| canonical_form(black_box(&call.operation), &call.params, None));
    });
    group.bench_function("canonical form and its digest", |bencher| {
        bencher.iter(|| ParametersHash::of_call(black_box(&call.operation), &call.params, None));
    });
    group.finish();
}

/// Calls of one kind. A gatekeeper does not stay as it was, so a fresh one takes over when it has seen half as many
/// calls as it had tokens.
struct Calls {
    active: Active,
    seen: usize,
    input: fn(&Active, usize) -> Input,
}

impl Calls {
    fn new(count: usize, input: fn(&Active, usize) -> Input) -> Self {
        Self {
            active: Active::new(count),
            seen: 0,
            input,
        }
    }

    /// How long so many calls take.
    fn time(&mut self, times: u64) -> Duration {
        let mut elapsed = Duration::ZERO;
        let mut left = usize::try_from(times).unwrap_or(usize::MAX);
        while left > 0 {
            let count = self.active.count();
            if self.seen == count / 2 {
                *self = Self::new(count, self.input);
            }
            let batch = left.min(BATCH).min(count / 2 - self.seen);
            let inputs: Vec<Input> = (self.seen..self.seen + batch)
                .map(|number| (self.input)(&self.active, number))
                .collect();
            let start = Instant::now();
            for input in inputs {
                black_box(self.active.handle(input));
            }
            elapsed += start.elapsed();
            self.seen += batch;
            left -= batch;
        }
        elapsed
    }

    /// How long so many calls take that forget all they may.
    fn time_purges(&mut self, times: u64) -> Duration {
        let mut elapsed = Duration::ZERO;
        for _ in 0..times {
            if self.active.gatekeeper.tokens().len() < 128 {
                *self = Self::new(self.active.count(), self.input);
                self.active.let_all_expire();
            }
            let start = Instant::now();
            black_box(self.active.handle(Input::Tick));
            elapsed += start.elapsed();
        }
        elapsed
    }
}

/// What no average shows, in one line each: the weight of a token, the shares of a redemption, the longest call.
fn figures(_: &mut Criterion) {
    let before = resident_bytes();
    let mut calls = Calls::new(many(), retry);
    let after = resident_bytes();
    if let (Some(before), Some(after)) = (before, after) {
        let count = calls.active.count();
        // The bench keeps each token as its client does: a pointer to 69 characters, in an allocation of 96 bytes.
        let kept = 16 + 96;
        let bytes = after.saturating_sub(before) / count;
        println!(
            "memory: {} bytes for each of {count} tokens",
            bytes.saturating_sub(kept)
        );
    }
    shares(&mut Calls::new(10, retry));
    shares(&mut calls);
    longest_call();
}

/// What a redemption takes, and what of it the digests and the canonical form take.
fn shares(calls: &mut Calls) {
    let batch: Vec<Call> = (0..BATCH).map(call).collect();
    let tokens: Vec<ConfirmationToken> = (0..BATCH as u128)
        .map(|number| ConfirmationToken::from_bits(Purpose::Confirmation, [number, 0]))
        .collect();
    let canonical = nanoseconds(|index| {
        let Call {
            operation, params, ..
        } = &batch[index];
        black_box(canonical_form(operation, params, None).ok());
    });
    let hashed = nanoseconds(|index| {
        let Call {
            operation, params, ..
        } = &batch[index];
        black_box(ParametersHash::of_call(operation, params, None).ok());
    });
    let digest = nanoseconds(|index| {
        black_box(tokens[index].id());
    });
    let times = many() / 4;
    let whole = mean(calls.time(times as u64), times);
    let percent = |part: f64| 100.0 * part / whole;
    println!(
        "validate and redeem, of {}: {whole:.0} ns, of which canonical form {canonical:.0} ns ({:.0} %), SHA-256 of it \
         {:.0} ns ({:.0} %), SHA-256 of the token {digest:.0} ns ({:.0} %)",
        calls.active.count(),
        percent(canonical),
        hashed - canonical,
        percent(hashed - canonical),
        percent(digest),
    );
}

/// The mean time that something takes which is run for every index of a batch, again and again.
fn nanoseconds(run: impl Fn(usize)) -> f64 {
    let rounds = many() / BATCH + 1;
    let start = Instant::now();
    for _ in 0..rounds {
        (0..BATCH).for_each(&run);
    }
    mean(start.elapsed(), rounds * BATCH)
}

/// In nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "both are far below 2^53")]
fn mean(elapsed: Duration, times: usize) -> f64 {
    elapsed.as_nanos() as f64 / times.max(1) as f64
}

/// The longest call from the moment that all tokens have expired until none is left.
///
/// On a shared machine the longest is the one that was interrupted. So each call is made in three runs that are alike,
/// and the shortest of the three counts.
fn longest_call() {
    let runs = [expiry(), expiry(), expiry()];
    let [first, second, third] = &runs;
    let times = first.iter().zip(second).zip(third);
    let mut times: Vec<Duration> = times
        .map(|((first, second), third)| *first.min(second).min(third))
        .collect();
    times.sort_unstable();
    println!(
        "while {} tokens had just expired, each of {} calls issued a token and forgot some: median {:?}, longest {:?}",
        many(),
        times.len(),
        times[times.len() / 2],
        times[times.len() - 1],
    );
}

/// What each call takes from the moment that all tokens have expired until none is left.
fn expiry() -> Vec<Duration> {
    let mut active = Active::new(many());
    active.let_all_expire();
    let mut times = Vec::new();
    while active.gatekeeper.tokens().len() > times.len() {
        let input = Input::Call(call(active.count() + times.len()));
        let start = Instant::now();
        black_box(active.handle(input));
        times.push(start.elapsed());
    }
    times
}

criterion_group!(benches, figures, redeem, issue, purge, parts);
criterion_main!(benches);
