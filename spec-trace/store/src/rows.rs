//! Where the rows of a store lie: in a database, or in the memory of this process.
//!
//! The one thing to know: a [`Change`] is written whole or not at all, and no change but that of [`Rows::clear`] takes a row away.

use redb::{Database, ReadableDatabase};

use super::{CARRIED, JOURNAL, PASSED, StoreError};

/// The rows of one store.
#[derive(Debug)]
pub(super) enum Rows {
    /// Tables of a database.
    Database(Database),
    /// The journal. What else is durable the store itself knows, as nobody opens it a second time.
    Memory(Vec<Box<[u8]>>),
}

/// What becomes durable at once.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// Records as JSON, the first with the number behind the last one of the journal.
    pub rows: Vec<Box<[u8]>>,
    /// The watermark, if it moves.
    pub carried: Option<u64>,
    /// The time that has passed without a record, in milliseconds since the epoch, if it moves.
    pub passed: Option<i64>,
}

impl Rows {
    /// Makes a change durable, behind the record with the number `recorded`.
    pub fn write(&mut self, recorded: u64, change: Change) -> Result<(), StoreError> {
        let database = match self {
            Self::Database(database) => database,
            Self::Memory(rows) => {
                rows.extend(change.rows);
                return Ok(());
            }
        };
        let writing = database.begin_write()?;
        if !change.rows.is_empty() {
            let mut journal = writing.open_table(JOURNAL)?;
            for (number, row) in (recorded + 1..).zip(&change.rows) {
                journal.insert(number, &**row)?;
            }
        }
        if let Some(carried) = change.carried {
            writing.open_table(CARRIED)?.insert((), carried)?;
        }
        if let Some(passed) = change.passed {
            writing.open_table(PASSED)?.insert((), passed)?;
        }
        writing.commit()?;
        Ok(())
    }

    /// Each record from the one with the number `first` on, in order: its number, and what `read` makes of its row.
    pub fn read<T>(
        &self,
        first: u64,
        read: impl Fn(u64, &[u8]) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        match self {
            Self::Database(database) => {
                let reading = database.begin_read()?;
                let journal = reading.open_table(JOURNAL)?;
                let rows = journal.range(first..)?;
                rows.map(|row| {
                    let (number, row) = row?;
                    read(number.value(), row.value())
                })
                .collect()
            }
            Self::Memory(rows) => (1..)
                .zip(rows)
                .skip_while(|(number, _)| *number < first)
                .map(|(number, row)| read(number, row))
                .collect(),
        }
    }

    /// Takes every row away, durably.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        let database = match self {
            Self::Database(database) => database,
            Self::Memory(rows) => {
                rows.clear();
                return Ok(());
            }
        };
        let writing = database.begin_write()?;
        writing.delete_table(JOURNAL)?;
        writing.delete_table(CARRIED)?;
        writing.delete_table(PASSED)?;
        writing.open_table(JOURNAL)?;
        writing.open_table(CARRIED)?;
        writing.commit()?;
        Ok(())
    }
}
