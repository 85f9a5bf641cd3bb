//! What is to be judged: files, standard input, and folders of recorded streams.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::compression::decompressed;
use super::place::printable;
use super::report::Unreadable;

/// What one read of a file asks for.
const CHUNK: usize = 256 << 10;

/// The names that recorded streams have within a folder.
const NAMES: [&str; 4] = [".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz"];

/// Where one stream comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// The name that reports give it.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_owned(),
            Self::File(path) => named(path),
        }
    }

    /// The length of what is stored, in bytes, where that is known.
    fn length(&self) -> Option<u64> {
        match self {
            Self::Stdin => None,
            Self::File(path) => {
                let found = fs::metadata(path).ok()?;
                found.is_file().then_some(found.len())
            }
        }
    }

    /// Opens it for reading, decompressed; what is read is counted by `meter`.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or its first bytes cannot be read.
    pub fn open<'a>(&self, meter: &'a Meter<'a>) -> io::Result<Box<dyn BufRead + Send + 'a>> {
        match self {
            Self::Stdin => decompressed(meter.counting(io::stdin())),
            Self::File(path) => decompressed(meter.counting(File::open(path)?)),
        }
    }
}

/// The streams that are meant, and what could not be searched for them: `-` is standard input, a folder stands for all
/// recorded streams below it, by name. Whether a file can be read shows only when it is opened.
pub fn sources(inputs: &[PathBuf]) -> (Vec<Source>, Vec<Unreadable>) {
    let (mut sources, mut unreadable) = (Vec::new(), Vec::new());
    for input in inputs {
        if input.as_os_str() == "-" {
            sources.push(Source::Stdin);
        } else if input.is_dir() {
            let (mut found, mut closed) = (Vec::new(), Vec::new());
            streams_below(input, &mut found, &mut closed);
            if found.is_empty() && closed.is_empty() {
                let error = format!("it holds no recorded stream (*{})", NAMES.join(", *"));
                closed.push(Unreadable {
                    file: named(input),
                    error,
                });
            }
            sources.extend(found.into_iter().map(Source::File));
            unreadable.extend(closed);
        } else {
            sources.push(Source::File(input.clone()));
        }
    }
    (sources, unreadable)
}

/// Folders that are links are not followed, so that there is an end.
fn streams_below(folder: &Path, streams: &mut Vec<PathBuf>, unreadable: &mut Vec<Unreadable>) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            let (file, error) = (named(folder), error.to_string());
            return unreadable.push(Unreadable { file, error });
        }
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            streams_below(&path, streams, unreadable);
        } else if is_stream(&path) {
            streams.push(path);
        }
    }
}

/// A link that leads nowhere is taken for the stream that it should lead to, and a file that is compressed with zstd for one that cannot
/// be read: passing over it would look like a good verdict.
fn is_stream(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let is_something_else = fs::metadata(path).is_ok_and(|found| !found.is_file());
    !is_something_else && NAMES.iter().any(|end| name.ends_with(end))
}

fn named(path: &Path) -> String {
    path.display().to_string().chars().map(printable).collect()
}

/// The length of what is stored of all of these streams, in bytes, where that of each is known.
pub fn length(sources: &[Source]) -> Option<u64> {
    sources.iter().map(Source::length).sum()
}

/// Counts the bytes that are read, and tells them.
pub struct Meter<'a> {
    tell: &'a (dyn Fn(u64) + Sync),
    read: AtomicU64,
}

impl<'a> Meter<'a> {
    /// A meter that tells how many bytes of all streams have been read by now.
    pub fn new(tell: &'a (dyn Fn(u64) + Sync)) -> Self {
        Self {
            tell,
            read: AtomicU64::new(0),
        }
    }

    fn counting<R: Read>(&self, input: R) -> BufReader<Counted<'_, R>> {
        BufReader::with_capacity(CHUNK, Counted { input, meter: self })
    }
}

struct Counted<'a, R> {
    input: R,
    meter: &'a Meter<'a>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let before = self.meter.read.fetch_add(read as u64, Ordering::Relaxed);
        (self.meter.tell)(before + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_the_streams_below_it_by_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        for name in [
            "c.jsonl",
            "b/z.ndjson.zst",
            "b/notes.txt",
            "a.jsonl.gz",
            "d.gz",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let (found, unreadable) = sources(&[folder.path().to_owned(), PathBuf::from("-")]);
        assert!(unreadable.is_empty());
        let expected = ["a.jsonl.gz", "b/z.ndjson.zst", "c.jsonl"]
            .map(|name| Source::File(folder.path().join(name)));
        assert_eq!(found[..3], expected);
        assert_eq!(found[3..], [Source::Stdin]);
    }

    #[test]
    fn a_folder_without_streams_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (found, unreadable) = sources(&[folder.path().to_owned()]);
        assert_eq!(found, []);
        assert!(unreadable[0].error.contains("holds no recorded stream"));
    }

    /// What is no file is passed over, and a file that is missing is not.
    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_are_streams_and_folders_with_the_name_of_one_are_not() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("nowhere", at("a.jsonl")).unwrap();
        symlink("b.jsonl", at("b.jsonl")).unwrap();
        symlink(".", at("c.jsonl")).unwrap();
        fs::create_dir(at("d.jsonl")).unwrap();
        let (found, _) = sources(&[folder.path().to_owned()]);
        let expected = ["a.jsonl", "b.jsonl"].map(|name| Source::File(at(name)));
        assert_eq!(found, expected);
    }
}
