//! What a host has done, in a folder, so that it survives the end of its process.
//!
//! The one thing to know: a host is deterministic. Its state follows from an earlier state and from the calls since, each with its
//! time and the ids that were drawn. The file `journal` in the folder holds just that, a line each: the header, a state, and a
//! record for each call. A record is on disk before anything of its call is shown. The file `lock` is held as long as the process
//! lives. Each line but the header begins with a checksum; the last one is left out where it was torn off.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use countersign_reference::aaep::SubscriptionId;
use countersign_reference::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::for_its_owner;

/// The version of what is written here. It is another one as soon as a host does something else in a call.
const VERSION: u64 = 1;
/// What the header begins with; the version follows.
const HEADER: &str = "countersign live producer ";

/// One call of a host, as it can be made again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// When.
    pub at: Timestamp,
    /// What was called.
    pub call: Call,
    /// The ids that were drawn, in order.
    pub drawn: Vec<u128>,
    /// The checksum of the events that it has put out.
    pub told: u64,
}

/// What may be called.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Call {
    /// With the prompt.
    Start(String),
    Subscribe {
        can_reply: bool,
        /// Whether it closes with the connection.
        closes: bool,
    },
    Unsubscribe(SubscriptionId),
    Deliver {
        authenticated: bool,
        /// A character for each byte.
        message: String,
    },
    Tick,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open, or this one has.
    #[error("{}: another process has this store open", .0.display())]
    InUse(PathBuf),
    /// Something else is there.
    #[error("{}: not a store of a live producer", .0.display())]
    NotAStore(PathBuf),
    /// A store of another version.
    #[error("{}: a store of version {found}; this program reads version {VERSION}", path.display())]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Its version.
        found: String,
    },
    /// The settings are chosen once, when the store is made.
    #[error("{}: the store was made with other settings", .0.display())]
    OtherSettings(PathBuf),
    /// A store once, and not a whole one any more.
    #[error("{}: the store is damaged: line {line} of its journal {because}", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        because: &'static str,
    },
    /// It cannot be read or written at all.
    #[error("{}: {because}", path.display())]
    Unreachable {
        /// The folder.
        path: PathBuf,
        /// What the operating system says.
        because: io::Error,
    },
}

/// A folder that belongs to this process.
pub(crate) struct Folder {
    path: PathBuf,
    lock: File,
}

/// What a journal holds.
pub(crate) struct Found<State> {
    pub state: State,
    pub records: Vec<Record>,
    /// How many bytes at the end are no whole line.
    pub torn: usize,
}

/// A journal that is written to.
#[derive(Debug)]
pub(crate) struct Journal {
    pub file: File,
    /// It is held as long as this is.
    #[allow(dead_code, reason = "nobody else may have the folder meanwhile")]
    lock: File,
}

impl Folder {
    /// The folder at `path`, which is made where there is none.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let unreachable = |because| OpenError::unreachable(path, because);
        match fs::read_dir(path) {
            Ok(entries) => {
                let names: io::Result<Vec<_>> = entries.map(|it| Ok(it?.file_name())).collect();
                let names = names.map_err(unreachable)?;
                let own = ["lock", "journal", "journal.new"];
                if !names.iter().all(|name| own.iter().any(|own| name == own)) {
                    return Err(OpenError::NotAStore(path.to_owned()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut builder = DirBuilder::new();
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(path).map_err(unreachable)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(OpenError::NotAStore(path.to_owned()));
            }
            Err(error) => return Err(unreachable(error)),
        }
        let lock = for_its_owner().create(true).open(path.join("lock"));
        let lock = lock.map_err(unreachable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(unreachable(error)),
        }
        let path = path.to_owned();
        Ok(Self { path, lock })
    }

    /// What its journal holds. Nothing, where there is none yet.
    pub fn read<State: DeserializeOwned>(&self) -> Result<Option<Found<State>>, OpenError> {
        let bytes = match fs::read(self.path.join("journal")) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(OpenError::unreachable(&self.path, error)),
        };
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let not_a_store = || OpenError::NotAStore(self.path.clone());
        let header = lines.first().and_then(|line| str::from_utf8(line).ok());
        let found = header.and_then(|line| line.strip_prefix(HEADER));
        let found = found.ok_or_else(not_a_store)?.trim_end();
        if found != VERSION.to_string() {
            let (path, found) = (self.path.clone(), found.to_owned());
            return Err(OpenError::OtherVersion { path, found });
        }
        // Header and state were on disk before the journal had its name.
        let torn = match lines.last() {
            Some(last) if lines.len() > 2 && content(last).is_none() => last.len(),
            _ => 0,
        };
        if torn > 0 {
            lines.pop();
        }
        let state = self.parsed(lines.get(1).copied().unwrap_or_default(), 2)?;
        let records = (3..).zip(lines.iter().skip(2));
        let records = records.map(|(number, line)| self.parsed(line, number));
        Ok(Some(Found {
            state,
            records: records.collect::<Result<_, _>>()?,
            torn,
        }))
    }

    fn parsed<T: DeserializeOwned>(&self, line: &[u8], number: usize) -> Result<T, OpenError> {
        let json = content(line);
        let json = json.ok_or_else(|| self.damaged(number, "is not as it was written"))?;
        serde_json::from_slice(json).map_err(|_| self.damaged(number, "cannot be read"))
    }

    /// The error that names a line of the journal.
    pub fn damaged(&self, line: usize, because: &'static str) -> OpenError {
        let path = self.path.clone();
        OpenError::Damaged {
            path,
            line,
            because,
        }
    }

    /// The error that the settings are others.
    pub fn other_settings(&self) -> OpenError {
        OpenError::OtherSettings(self.path.clone())
    }

    /// A journal that begins with `state`, in the place of the one that is there. It takes its name only once it is whole.
    pub fn begin(self, state: &impl Serialize) -> Result<Journal, OpenError> {
        let begun = || {
            let draft = self.path.join("journal.new");
            let mut file = for_its_owner().create(true).truncate(true).open(&draft)?;
            writeln!(file, "{HEADER}{VERSION}")?;
            file.write_all(&line(state)?)?;
            file.sync_all()?;
            fs::rename(&draft, self.path.join("journal"))?;
            #[cfg(unix)]
            File::open(&self.path)?.sync_all()?;
            Ok(file)
        };
        let file = begun().map_err(|error| OpenError::unreachable(&self.path, error))?;
        let lock = self.lock;
        Ok(Journal { file, lock })
    }
}

impl Journal {
    /// Makes a record durable. Once that has failed nobody knows what is on disk, and nothing more may be shown.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        self.file.write_all(&line(record)?)?;
        self.file.sync_data()
    }
}

impl OpenError {
    fn unreachable(path: &Path, because: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unreachable { path, because }
    }
}

fn line(content: &impl Serialize) -> io::Result<Vec<u8>> {
    let json = serde_json::to_string(content)?;
    Ok(format!("{:016x} {json}\n", checksum(json.bytes())).into_bytes())
}

/// What stands in a line, if it is as it was written.
fn content(line: &[u8]) -> Option<&[u8]> {
    let (sum, json) = line.strip_suffix(b"\n")?.split_at_checked(17)?;
    let is_whole = sum == format!("{:016x} ", checksum(json.iter().copied())).as_bytes();
    is_whole.then_some(json)
}

/// FNV-1a. It finds what a disk does, and no forgery.
pub(crate) fn checksum(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let all = bytes.into_iter();
    all.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
