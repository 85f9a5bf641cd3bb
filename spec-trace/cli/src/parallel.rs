//! The same work for many things, several at a time.

use std::sync::atomic::{AtomicU64, Ordering};

use countersign_conform::side_by_side::{processors, side_by_side};

use crate::progress::Progress;

/// What the work comes to for each of the items, in their order; as many are worked on at a time as there are processors.
pub fn each<I: Sync, R: Send>(
    items: &[I],
    progress: &Progress,
    work: impl Fn(&I) -> R + Sync,
) -> Vec<R> {
    let done = AtomicU64::new(0);
    side_by_side(
        processors(),
        items,
        || (),
        |(), item| {
            let result = work(item);
            progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
            result
        },
    )
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
