//! The events that went out, for those that read them now and those that come back.
//!
//! The one thing to know: memory is bounded. The last [`KEPT`] events are kept, of at most 64 KiB each. Whoever reads so slowly
//! that more than [`AHEAD`] events wait is cut off, and nobody waits for it.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast::{self, Receiver, Sender};

/// How many events are kept for those that come back.
pub const KEPT: usize = 16_384;
/// How many events may wait for one reader: one call can put out thousands, where many questions have the same deadline.
pub const AHEAD: usize = KEPT;

/// An event as it goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its `event_id`.
    pub id: Arc<str>,
    /// The event, in one line of JSON.
    pub json: Arc<str>,
}

/// What a reader gets: first what it has missed, then what comes.
#[derive(Debug)]
pub struct Following {
    /// What it has missed, in order.
    pub missed: Vec<Told>,
    /// What comes.
    pub coming: Receiver<Told>,
}

/// All events, in the order in which they were put out.
#[derive(Debug)]
pub struct Log {
    kept: VecDeque<Told>,
    /// How many were ever put out.
    count: u64,
    readers: Sender<Told>,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            kept: VecDeque::new(),
            count: 0,
            readers: broadcast::channel(AHEAD).0,
        }
    }
}

impl Log {
    /// Puts out an event.
    pub fn append(&mut self, told: Told) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(told.clone());
        self.count += 1;
        // That nobody reads is no failure.
        let _readers = self.readers.send(told);
    }

    /// How many events were ever put out.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What was put out after that event, and what comes. Where the event is not named, or not kept any more: what is kept of
    /// that which was put out after the first `count`.
    pub fn follow(&self, last_event_id: Option<&str>, count: u64) -> Following {
        let named = last_event_id.and_then(|id| self.kept.iter().rposition(|it| &*it.id == id));
        let forgotten = self.count - self.kept.len() as u64;
        let since = usize::try_from(count.saturating_sub(forgotten)).unwrap_or(usize::MAX);
        let seen = named.map_or(since, |place| place + 1);
        Following {
            missed: self.kept.iter().skip(seen).cloned().collect(),
            coming: self.readers.subscribe(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(count: usize) -> Log {
        let mut log = Log::default();
        for number in 0..count {
            log.append(told(number));
        }
        log
    }

    fn told(number: usize) -> Told {
        Told {
            id: format!("evt_{number}").into(),
            json: "{}".into(),
        }
    }

    #[test]
    fn a_reader_gets_what_follows_the_event_that_it_names() {
        let log = log(5);
        assert_eq!(
            log.follow(Some("evt_2"), 0).missed,
            [told(3), told(4)],
            "not the named one"
        );
        assert_eq!(log.follow(Some("evt_4"), 0).missed, []);
        assert_eq!(log.follow(Some("evt_9"), 4).missed, [told(4)]);
        assert_eq!(log.follow(None, 5).missed, []);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let log = log(KEPT + 1);
        assert_eq!(log.kept.len(), KEPT);
        assert_eq!(log.follow(None, 0).missed[0], told(1));
        assert_eq!(log.follow(None, log.count() - 1).missed, [told(KEPT)]);
    }

    #[test]
    fn a_slow_reader_is_cut_off_and_holds_nobody_up() {
        let mut log = log(0);
        let mut following = log.follow(None, 0);
        (0..=AHEAD).for_each(|number| log.append(told(number)));
        let cut_off = following.coming.try_recv();
        assert!(matches!(
            cut_off,
            Err(broadcast::error::TryRecvError::Lagged(1))
        ));
    }
}
