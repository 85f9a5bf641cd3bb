//! Opening a store: what may be there, and how one is made where there is none.
//!
//! The one thing to know: a store is made under another name and takes its own only once it is whole, so that a crash in
//! the middle leaves nothing that is neither a store nor none.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use redb::backends::FileBackend;
use redb::{Builder, Database, DatabaseError, ReadableDatabase, StorageError, TableDefinition};

use super::{CARRIED, JOURNAL, StoreError};

/// One row: the version of this layout.
const FORMAT: TableDefinition<(), u64> = TableDefinition::new("countersign pending actions");

/// The version that is written here: these tables, records as the JSON of this version of the reference, and the time in a
/// fourth table once one has passed without a record.
const VERSION: u64 = 1;

/// How much of the file is kept in memory. The journal is only ever read once, and written at its end.
const CACHE_BYTES: usize = 16 << 20;

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open, or this one has.
    #[error("{}: another process has this store open", .0.display())]
    InUse(PathBuf),
    /// The file is something else.
    #[error("{}: not a store of pending actions", .0.display())]
    NotAStore(PathBuf),
    /// A store of another version.
    #[error("{}: a store of version {found}; this program reads version {VERSION}", path.display())]
    OtherVersion {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A store once, and not a whole one any more.
    #[error("{}: the store is damaged: {because}", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What is wrong with it.
        because: String,
    },
    /// The file cannot be read or written at all.
    #[error("{}: {because}", path.display())]
    Unreachable {
        /// The store.
        path: PathBuf,
        /// What the operating system says.
        because: io::Error,
    },
}

/// The database at `path`, as the layout of this version.
pub(super) fn open(path: &Path) -> Result<Database, OpenError> {
    match fs::metadata(path) {
        // A device or a pipe is as long as an empty file, and is not to be replaced by a store.
        Ok(metadata) if !metadata.is_file() => return Err(OpenError::NotAStore(path.to_owned())),
        Ok(metadata) if metadata.len() > 0 => {}
        Ok(_empty) => return make(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return make(path),
        Err(error) => return Err(OpenError::unreachable(path, error)),
    }
    let database = builder()
        .open(path)
        .map_err(|error| OpenError::of(path, error))?;
    match version(&database) {
        Ok(Some(VERSION)) => Ok(database),
        Ok(Some(found)) => Err(OpenError::OtherVersion {
            path: path.to_owned(),
            found,
        }),
        Ok(None) => Err(OpenError::NotAStore(path.to_owned())),
        Err(error) => Err(OpenError::damaged(path, &error)),
    }
}

/// What every database is opened with.
pub(super) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    // A file that somebody else has written to is to be reported, not to end the process.
    builder.set_check_integrity_on_open(true);
    builder
}

/// Makes the tables of this version, unless they are there.
pub(super) fn enter_tables(database: &Database) -> Result<(), StoreError> {
    let writing = database.begin_write()?;
    writing.open_table(FORMAT)?.insert((), VERSION)?;
    writing.open_table(JOURNAL)?;
    writing.open_table(CARRIED)?;
    writing.commit()?;
    Ok(())
}

/// The version of the layout, if it is one of ours.
fn version(database: &Database) -> Result<Option<u64>, StoreError> {
    let reading = database.begin_read()?;
    match reading.open_table(FORMAT) {
        Ok(format) => Ok(format.get(())?.map(|version| version.value())),
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes an empty store beside `path`, and then gives it that name.
///
/// Whoever makes it holds the lock of the draft from before it looks whether there is a store until after it has
/// become one. So of two processes that make one at the same time, one fails, and neither loses what the other has.
fn make(path: &Path) -> Result<Database, OpenError> {
    let unreachable = |error| OpenError::unreachable(path, error);
    let draft = draft_of(path);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(&draft).map_err(unreachable)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => return Err(unreachable(error)),
    }
    if let Ok(there) = fs::metadata(path) {
        if there.len() > 0 {
            // Somebody was faster.
            fs::remove_file(&draft).map_err(unreachable)?;
            return Err(OpenError::InUse(path.to_owned()));
        }
        // Whoever has made the empty file has said who may read it.
        file.set_permissions(there.permissions())
            .map_err(unreachable)?;
    }
    // What a crash has left there is no store yet.
    file.set_len(0).map_err(unreachable)?;
    let backend = FileBackend::new(file).map_err(|error| OpenError::of(path, error))?;
    let database = builder()
        .create_with_backend(backend)
        .map_err(|error| OpenError::of(path, error))?;
    enter_tables(&database).map_err(|error| OpenError::damaged(path, &error))?;
    fs::rename(&draft, path).map_err(unreachable)?;
    sync_folder_of(path).map_err(unreachable)?;
    Ok(database)
}

/// The name that a store has before it is whole.
fn draft_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".new");
    name.into()
}

/// A new name in a folder is durable only once the folder is.
#[cfg(unix)]
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file, and the file system sees to it.
#[cfg(not(unix))]
fn sync_folder_of(_path: &Path) -> io::Result<()> {
    Ok(())
}

impl OpenError {
    /// Asks for what is told apart, one by one: the database may come to know further errors.
    fn of(path: &Path, error: DatabaseError) -> Self {
        if matches!(
            error,
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch
        ) {
            return Self::InUse(path.to_owned());
        }
        let DatabaseError::Storage(StorageError::Io(because)) = error else {
            return Self::damaged(path, &error);
        };
        if because.kind() == io::ErrorKind::InvalidData {
            // Nothing else has this kind: the file does not begin as such a database does.
            Self::NotAStore(path.to_owned())
        } else if because.kind() == io::ErrorKind::UnexpectedEof {
            Self::damaged(path, &"it was cut short")
        } else {
            Self::unreachable(path, because)
        }
    }

    fn unreachable(path: &Path, because: io::Error) -> Self {
        Self::Unreachable {
            path: path.to_owned(),
            because,
        }
    }

    pub(super) fn damaged(path: &Path, because: &impl ToString) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            because: because.to_string(),
        }
    }
}
