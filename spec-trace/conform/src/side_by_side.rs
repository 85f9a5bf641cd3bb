//! Many things done at once, and what came of them in their order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

/// So many threads run at once here: as many as there are processors.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does this with each of `all` on so many threads, each with what it needs for itself; what came of them, in the order of `all`.
pub fn side_by_side<W, T: Sync, R: Send>(
    threads: usize,
    all: &[T],
    begin: impl Fn() -> W + Sync,
    does: impl Fn(&mut W, &T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(all.len());
    if threads < 2 {
        let mut own = begin();
        return all.iter().map(|it| does(&mut own, it)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut own, mut done) = (begin(), Vec::new());
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(place) else {
                return done;
            };
            done.push((place, does(&mut own, one)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|it| panic::resume_unwind(it)));
        }
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, it)| it).collect()
}
