//! The same work for many things, several at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::progress::Progress;

/// What the work comes to for each of the items, in their order; as many are worked on at a time as there are processors.
pub fn each<I: Sync, R: Send>(
    items: &[I],
    progress: &Progress,
    work: impl Fn(&I) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(at) else {
            return;
        };
        let result = work(item);
        if let Ok(mut results) = results.lock() {
            results.push((at, result));
        }
        progress.at(done.fetch_add(1, Ordering::Relaxed) as u64 + 1);
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_items() {
        let items: Vec<u64> = (0..50).collect();
        let doubled = each(&items, &Progress::of(50, "doubling", "numbers"), |it| {
            2 * it
        });
        assert_eq!(doubled, (0..50).map(|it| 2 * it).collect::<Vec<_>>());
    }
}
