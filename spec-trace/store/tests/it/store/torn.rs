//! A commit that is cut off anywhere leaves the journal as it was before, or as it is after, and nothing else.
//!
//! The one thing to know: the store runs on a [`Disk`] in memory that writes down every write. Of the writes of one
//! commit each is cut at every byte, once with nothing behind it, as a crash of the process leaves it, and once with all
//! the others done, as a crash of the machine may: until the sync, a disk writes in whatever order it likes.

use std::collections::BTreeSet;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex};

use countersign_reference::pending_action::Action;
use countersign_store::Store;
use redb::StorageBackend;

use super::stage::{Stage, actions, proposal};

/// One thing that was done to a disk.
#[derive(Clone, Debug)]
enum Deed {
    Resize(usize),
    Write { at: usize, bytes: Vec<u8> },
    Sync,
}

/// What a disk holds, and what was done to it.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<(Vec<u8>, Vec<Deed>)>>);

impl Disk {
    fn holding(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new((bytes, Vec::new()))))
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("nobody panics").0.clone()
    }

    /// What was done to it since this was last asked.
    fn deeds(&self) -> Vec<Deed> {
        mem::take(&mut self.0.lock().expect("nobody panics").1)
    }

    fn does(&self, deed: Deed) {
        let (bytes, deeds) = &mut *self.0.lock().expect("nobody panics");
        deed.done_to(bytes);
        deeds.push(deed);
    }
}

impl Deed {
    fn done_to(&self, disk: &mut Vec<u8>) {
        match self {
            Self::Resize(length) => disk.resize(*length, 0),
            Self::Write { at, bytes } => disk[*at..at + bytes.len()].copy_from_slice(bytes),
            Self::Sync => {}
        }
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).expect("a disk in memory")
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().expect("nobody panics").0.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let disk = self.0.lock().expect("nobody panics");
        let range = index(offset)..index(offset) + out.len();
        let bytes = disk.0.get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.does(Deed::Resize(index(len)));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.does(Deed::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.does(Deed::Write {
            at: index(offset),
            bytes: data.to_vec(),
        });
        Ok(())
    }
}

/// One commit: the disk before it, what it did, and the two journals that may be there after a crash.
struct Commit {
    disk: Vec<u8>,
    deeds: Vec<Deed>,
    before: Vec<Action>,
    after: Vec<Action>,
}

impl Commit {
    /// The last one of a store that has made some before.
    fn recorded() -> Self {
        let disk = Disk::default();
        let store = Store::with_backend(disk.clone()).expect("a store");
        let mut stage = Stage::on(store);
        stage.fill(30);
        let before = stage.ledger.actions().to_vec();
        let bytes = disk.bytes();
        let _earlier = disk.deeds();
        stage.does(proposal(99));
        let deeds = disk.deeds();
        let after = stage.ledger.actions().to_vec();
        // Its host dies: nothing is put in order.
        mem::forget(stage);
        Self {
            disk: bytes,
            deeds,
            before,
            after,
        }
    }

    /// What the store holds that is opened on such a disk: whether the record is there.
    fn is_there(&self, disk: &[u8]) -> bool {
        let store = Store::with_backend(Disk::holding(disk.to_vec()));
        let actions = actions(&store.expect("a store, whatever was cut"));
        assert!(
            actions == self.before || actions == self.after,
            "half a commit"
        );
        actions == self.after
    }

    /// For each write, cut at every byte that makes a difference: whether the record is there. `behind` says what else
    /// is done.
    fn cut(&self, behind: impl Fn(&[Deed], &mut Vec<u8>)) -> Vec<bool> {
        let mut is_there = Vec::new();
        for (index, deed) in self.deeds.iter().enumerate() {
            let Deed::Write { at, bytes } = deed else {
                continue;
            };
            let mut disk = self.disk.clone();
            for earlier in &self.deeds[..index] {
                earlier.done_to(&mut disk);
            }
            behind(&self.deeds[index + 1..], &mut disk);
            for (offset, byte) in bytes.iter().enumerate() {
                if disk[at + offset] != *byte {
                    is_there.push(self.is_there(&disk));
                    disk[at + offset] = *byte;
                }
            }
            is_there.push(self.is_there(&disk));
        }
        is_there
    }
}

/// PA-8: a process that dies while it appends has appended, or it has not; and once it has, it has for good.
#[test]
fn a_commit_that_ends_at_any_byte_is_there_or_is_not() {
    let commit = Commit::recorded();
    let is_there = commit.cut(|_none, _disk| {});
    assert!(is_there.len() > 1_000, "{} cuts", is_there.len());
    assert_eq!(is_there.first(), Some(&false));
    assert_eq!(is_there.last(), Some(&true));
    let first = is_there.iter().position(|there| *there);
    let gone = is_there.iter().rposition(|there| !there);
    assert!(first > gone, "once it is there it stays");
    println!("{} states of the disk", is_there.len());
}

/// PA-8: a machine that dies before the sync may have done all of the writes but a part of one.
#[test]
fn a_commit_of_which_a_part_of_one_write_is_missing_is_there_or_is_not() {
    let commit = Commit::recorded();
    let is_there = commit.cut(|later, disk| {
        for deed in later {
            deed.done_to(disk);
        }
    });
    let kinds: BTreeSet<bool> = is_there.iter().copied().collect();
    assert_eq!(
        kinds.len(),
        2,
        "some of them are noticed, the last of each is whole"
    );
    println!("{} states of the disk", is_there.len());
}

/// PA-8: what a commit does is synced before it returns, so that nothing behind the record is carried out too early.
#[test]
fn a_commit_ends_with_a_sync() {
    let commit = Commit::recorded();
    let last_write = commit
        .deeds
        .iter()
        .rposition(|deed| matches!(deed, Deed::Write { .. } | Deed::Resize(_)));
    let last_sync = commit
        .deeds
        .iter()
        .rposition(|deed| matches!(deed, Deed::Sync));
    assert!(last_sync > last_write);
}
