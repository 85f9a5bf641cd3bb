//! The store of pending actions: the journal of one ledger, and how far its host has come in carrying it out.
//!
//! The one thing to know: when [`Store::append`] returns, the records survive whatever happens next, a loss of power
//! included; before it has, nothing behind them may be carried out. `examples/pending_action_host.rs` is the loop around
//! it, `countersign serve` another one.
//!
//! On disk it is a [`redb`] database of four tables. Each call of [`Store::append`] is one transaction and one sync of the file,
//! however many records there are, so a busy host appends what several calls of the ledger have put out at once. A crash
//! leaves the records of a call all there or all missing. No snapshot is kept: the journal is the truth, and is read
//! from its beginning.

pub mod ids;
mod open;
mod rows;

use std::path::Path;

use countersign_reference::pending_action::{Damaged, Ledger, Record, Settings, Snapshot};
use countersign_reference::time::Timestamp;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableError};

pub use open::OpenError;

use rows::{Change, Rows};

/// Record number to the record as JSON.
const JOURNAL: TableDefinition<u64, &[u8]> = TableDefinition::new("journal");

/// One row: the number of the last record whose outputs were all carried out. None, as long as that is 0.
const CARRIED: TableDefinition<(), u64> = TableDefinition::new("carried");

/// One row: the latest time that has passed without a record, in milliseconds since the epoch. None, as long as there was no
/// such time: a store of before there was this table has none either.
const PASSED: TableDefinition<(), i64> = TableDefinition::new("passed");

/// The journal of one ledger. It belongs to one process at a time.
///
/// Once a call has failed, nobody knows what is durable: let go of the store, and of the ledger, and open it again.
#[derive(Debug)]
pub struct Store {
    rows: Rows,
    /// The number of the last record that is durable, 0 before the first.
    recorded: u64,
    /// The watermark that is durable.
    carried: u64,
    /// The latest time that is durable in a row of its own, or with a record that was appended since the store was opened.
    passed: Timestamp,
}

/// Why the journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file, or what lies in it.
    #[error("the store failed: {0}")]
    Database(#[source] Box<redb::Error>),
    /// A row that no store has written.
    #[error("record {number} of the store is no record: {because}")]
    NoRecord {
        /// Which.
        number: u64,
        /// What is wrong with it.
        because: serde_json::Error,
    },
    /// Somebody else has written to the journal, or this ledger belongs to another store.
    #[error("record {number} does not follow on record {recorded}, the last one of the store")]
    OutOfOrder {
        /// The record that was to be appended.
        number: u64,
        /// The last one that is durable.
        recorded: u64,
    },
    /// The records are readable and do not make a journal, or the snapshot is not one of it.
    #[error(transparent)]
    Damaged(Damaged),
}

impl Store {
    /// Opens the store at `path`, or makes an empty one where there is no file, or an empty one.
    ///
    /// All of the file is read to see that it is whole, so this takes the longer the longer the journal is. A store whose
    /// host has died is brought back to its last durable record.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says what else is there, or what is in the way. Nothing is changed then.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let database = open::open(path)?;
        Self::of(database).map_err(|error| OpenError::damaged(path, &error))
    }

    /// An empty store that lives in memory and dies with its process.
    pub fn in_memory() -> Self {
        Self {
            rows: Rows::Memory(Vec::new()),
            recorded: 0,
            carried: 0,
            passed: Timestamp::MIN,
        }
    }

    /// The store whose bytes `backend` keeps, or an empty one where it keeps none.
    ///
    /// # Errors
    ///
    /// [`StoreError`], where the bytes are no store.
    pub fn with_backend(backend: impl redb::StorageBackend) -> Result<Self, StoreError> {
        let database = open::builder().create_with_backend(backend)?;
        open::enter_tables(&database)?;
        Self::of(database)
    }

    fn of(database: Database) -> Result<Self, StoreError> {
        let reading = database.begin_read()?;
        let journal = reading.open_table(JOURNAL)?;
        let last = journal.last()?;
        let recorded = last.map_or(0, |(number, _)| number.value());
        let table = reading.open_table(CARRIED)?;
        let carried = table.get(())?;
        let carried = carried.map_or(0, |number| number.value());
        let passed = match reading.open_table(PASSED) {
            Ok(table) => table.get(())?.map(|millis| millis.value()),
            Err(TableError::TableDoesNotExist(_)) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            rows: Rows::Database(database),
            recorded,
            carried,
            passed: passed.map_or(Timestamp::MIN, Timestamp::from_millis),
        })
    }

    /// Makes records durable, all or none, and with them the watermark `carried`: the number of the last record whose
    /// outputs the host has all carried out, as in [`Ledger::carried`]. Without records nothing is written, for the
    /// watermark may lag.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. Then nothing behind the records may be carried out.
    pub fn append<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a Record>,
        carried: u64,
    ) -> Result<(), StoreError> {
        let (mut recorded, mut passed) = (self.recorded, self.passed);
        let mut rows = Vec::new();
        for record in records {
            let number = record.number;
            if number != recorded + 1 {
                return Err(StoreError::OutOfOrder { number, recorded });
            }
            let because = |because| StoreError::NoRecord { number, because };
            rows.push(serde_json::to_vec(record).map_err(because)?.into());
            recorded = number;
            passed = passed.max(record.at);
        }
        if rows.is_empty() {
            return Ok(());
        }
        // What is not durable cannot have been carried out.
        let carried = carried.min(self.recorded).max(self.carried);
        let change = Change {
            rows,
            carried: (carried > self.carried).then_some(carried),
            passed: None,
        };
        self.rows.write(self.recorded, change)?;
        (self.recorded, self.carried, self.passed) = (recorded, carried, passed);
        Ok(())
    }

    /// Makes it durable that it is so late, where no record says so: [`Ledger::now`] after a call that put out none. Nothing
    /// is written where time has not moved, so that only a call that moves it and does nothing else costs a sync of its own.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. Then nobody may be told anything that holds by that time (PA-7).
    pub fn pass(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if now <= self.passed {
            return Ok(());
        }
        let change = Change {
            passed: Some(now.millis()),
            ..Change::default()
        };
        self.rows.write(self.recorded, change)?;
        self.passed = now;
        Ok(())
    }

    /// Makes the watermark durable without any record: for a host that ends in peace.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn carried(&mut self, through: u64) -> Result<(), StoreError> {
        // What is not durable cannot have been carried out.
        let through = through.min(self.recorded);
        if through <= self.carried {
            return Ok(());
        }
        let change = Change {
            carried: Some(through),
            ..Change::default()
        };
        self.rows.write(self.recorded, change)?;
        self.carried = through;
        Ok(())
    }

    /// The ledger that the journal tells of; see [`Ledger::rebuild`]. The host lets
    /// [`Input::Restart`](countersign_reference::pending_action::Input::Restart) happen to it next.
    ///
    /// # Errors
    ///
    /// [`StoreError`], where the journal cannot be read, or the snapshot is not one of it.
    pub fn ledger(
        &self,
        settings: Settings,
        snapshot: Option<Snapshot>,
    ) -> Result<Ledger, StoreError> {
        // All of the journal, also with a snapshot: whoever sends one need not be trusted with it.
        let records = self.records(1)?;
        let ledger = Ledger::rebuild(settings, snapshot, records, self.carried);
        ledger.map_err(StoreError::Damaged)
    }

    /// The records from the one with that number on, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError`], where they cannot be read.
    pub fn records(&self, first: u64) -> Result<Vec<Record>, StoreError> {
        self.rows.read(first, |number, row| {
            let because = |because| StoreError::NoRecord { number, because };
            serde_json::from_slice(row).map_err(because)
        })
    }

    /// The number of the last record, 0 before the first.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// The number of the last record that is said to be carried out, 0 before the first. It may lag behind.
    pub fn watermark(&self) -> u64 {
        self.carried
    }

    /// The latest time that has passed, as far as it is not the journal that tells it: it and [`Ledger::now`] of
    /// [`Store::ledger`] together are the earliest that a host may say it is (PA-7).
    pub fn passed(&self) -> Timestamp {
        self.passed
    }

    /// Forgets everything, durably.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. Then everything is still there, or everything is gone.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        self.rows.clear()?;
        (self.recorded, self.carried, self.passed) = (0, 0, Timestamp::MIN);
        Ok(())
    }
}

/// Whatever `redb` has to complain about, in any of its steps.
impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        Self::Database(Box::new(error.into()))
    }
}
