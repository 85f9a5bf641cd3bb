//! AAEP: how fast the text is searched with the reference, and a reply is turned into outputs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign_benches::aaep::Outstanding;
use countersign_conform::aaep::executor::{Reference, Settings};
use countersign_conform::search::{self, Exact, model_of};
use countersign_conform::side_by_side::processors;
use countersign_conform::spoken::Host as _;
use countersign_model::aaep::Aaep;
use countersign_model::aaep::account::Account;
use countersign_model::aaep::environment::Bounds;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Transitions a second: a world searched with the reference in it.
fn search(criterion: &mut Criterion) {
    let party = || Exact::<Aaep, _>::new(Reference::new(Settings::default()), Account::default());
    let [(_, bounds), ..] = Bounds::WORLDS;
    let searched = || search::search(&model_of(party(), bounds), processors(), &|_| {});
    let mut group = criterion.benchmark_group("search");
    group.sample_size(10);
    group.throughput(Throughput::Elements(searched().transitions as u64));
    group.bench_function("transitions", |bencher| bencher.iter(searched));
    group.finish();
}

/// Bytes in, outputs out, with few and with many confirmations outstanding.
fn reply(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reply");
    for outstanding in [10, 10_000] {
        let producer = Outstanding::new(outstanding);
        group.bench_function(format!("accepted, of {outstanding}"), |bencher| {
            bencher.iter_custom(|replies| time_to_accept(&producer, replies));
        });
        let used = producer.reply(0, "accept");
        group.bench_function(format!("ignored, of {outstanding}"), |bencher| {
            let mut producer = producer.clone();
            producer.deliver(used.clone());
            bencher.iter(|| producer.deliver(black_box(used.clone())));
        });
    }
    group.finish();
}

/// How long so many first replies take. Half of the questions are answered, then a fresh producer takes over, so that
/// at least half are outstanding all the time.
fn time_to_accept(producer: &Outstanding, replies: u64) -> Duration {
    let batch = (producer.tokens.len() / 2).max(1);
    let messages: Vec<Vec<u8>> = (0..batch)
        .map(|number| producer.reply(number, "accept"))
        .collect();
    let mut elapsed = Duration::ZERO;
    let mut left = replies;
    while left > 0 {
        let mut fresh = producer.clone();
        let now = messages.iter().take(usize::try_from(left).unwrap_or(batch));
        left = left.saturating_sub(batch as u64);
        let start = Instant::now();
        for message in now {
            black_box(fresh.deliver(message.clone()));
        }
        elapsed += start.elapsed();
    }
    elapsed
}

criterion_group!(benches, search, reply);
criterion_main!(benches);
