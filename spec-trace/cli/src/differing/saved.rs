//! The runs of divergences as files of a folder: each is written when it is found.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_conform::driven::Divergence;
use countersign_conform::spoken::Spoken;
use miette::{Context, IntoDiagnostic};
use serde::Deserialize;

/// A folder, and what was written into it.
pub struct Saved {
    folder: PathBuf,
    /// Whether it was made here.
    is_new: bool,
    files: Vec<PathBuf>,
    error: Option<miette::Report>,
}

/// What tells a file that `diff` has written.
#[derive(Deserialize)]
struct Written {
    protocol: String,
    countersign: String,
}

impl Saved {
    /// Where nothing is written yet.
    ///
    /// # Errors
    ///
    /// Where nothing can be.
    pub fn within(folder: &Path) -> miette::Result<Self> {
        let is_new = !folder.exists();
        let probe = folder.join(format!(".countersign-{}", std::process::id()));
        let tried = fs::create_dir_all(folder)
            .and_then(|()| fs::write(&probe, ""))
            .and_then(|()| fs::remove_file(&probe));
        tried.into_diagnostic().wrap_err_with(|| {
            format!(
                "cannot write into the folder of --save, {}",
                folder.display()
            )
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            is_new,
            files: Vec::new(),
            error: None,
        })
    }

    /// Writes the run of a divergence. Whether it could.
    pub fn save<P: Spoken>(&mut self, found: &Divergence<P>) -> bool {
        match found.keep(&self.folder) {
            Ok(file) => self.files.push(file),
            Err(error) => {
                let shown = self.folder.display();
                let error = Err::<(), _>(error).into_diagnostic();
                self.error = error
                    .wrap_err_with(|| format!("cannot keep a run in {shown}"))
                    .err();
            }
        }
        self.error.is_none()
    }

    /// Where each divergence is kept, in the order in which they were found. Where the search is complete, the files that an earlier
    /// one has left of this protocol go.
    ///
    /// # Errors
    ///
    /// Where one could not be written.
    pub fn files(&mut self, is_complete: bool, protocol: &str) -> miette::Result<Vec<PathBuf>> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if is_complete {
            for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if !self.files.contains(&path) && is_ours(&path, protocol) {
                    fs::remove_file(&path).into_diagnostic()?;
                }
            }
        }
        if self.is_new && self.files.is_empty() {
            let _others_are_in_it = fs::remove_dir(&self.folder);
        }
        Ok(self.files.clone())
    }
}

/// Whether `diff` has written this file, for this protocol.
fn is_ours(path: &Path, protocol: &str) -> bool {
    let name = path.file_stem().and_then(|it| it.to_str());
    let is_json = path.extension().is_some_and(|it| it == "json");
    let is_named = is_json && name.is_some_and(|it| it.starts_with("found-"));
    let written = || {
        let text = fs::read(path).ok()?;
        serde_json::from_slice::<Written>(&text).ok()
    };
    is_named && written().is_some_and(|it| it.protocol == protocol && !it.countersign.is_empty())
}
