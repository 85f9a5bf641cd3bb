//! What becomes of a run that shows something: it is made as short as it can be, and kept as a file.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;

/// Leaves ever smaller stretches out of `steps` for as long as what remains shows the same, and single ones until none can be left
/// out; what the steps that are left show.
///
/// `shows` plays steps. Where they show what the whole run does, which is `shown`, it says after how many of them, and what.
pub(crate) fn shortest<T: Clone, S>(
    steps: &mut Vec<T>,
    mut shown: S,
    mut shows: impl FnMut(&[T]) -> Option<(usize, S)>,
) -> S {
    let mut stretch = steps.len();
    while stretch > 0 {
        let (before, mut start) = (steps.len(), 0);
        while start + stretch <= steps.len() {
            let mut shorter = steps.clone();
            shorter.drain(start..start + stretch);
            match shows(&shorter) {
                Some((needed, again)) => {
                    shorter.truncate(needed);
                    *steps = shorter;
                    shown = again;
                }
                // Those that share half of their steps with another are enough: single ones are each left out in the end.
                None => start += (stretch / 2).max(1),
            }
        }
        // A step may be needed only for another that is left out behind it.
        if stretch > 1 || steps.len() == before {
            stretch /= 2;
        }
    }
    shown
}

/// Puts two steps that follow each other into one, as `fold` has it, for as long as what remains shows the same; what the steps
/// that are left show. `shows` is that of [`shortest`].
pub(crate) fn folded<T: Clone, S>(
    steps: &mut Vec<T>,
    mut shown: S,
    fold: impl Fn(&T, &T) -> Option<T>,
    mut shows: impl FnMut(&[T]) -> Option<(usize, S)>,
) -> S {
    let mut at = 0;
    while at + 1 < steps.len() {
        let shorter = fold(&steps[at], &steps[at + 1]).map(|one| {
            let mut shorter = steps.clone();
            shorter.splice(at..at + 2, [one]);
            shorter
        });
        let again = shorter.and_then(|shorter| Some((shows(&shorter)?, shorter)));
        if let Some(((needed, again), mut shorter)) = again {
            shorter.truncate(needed);
            *steps = shorter;
            shown = again;
            at = at.saturating_sub(1);
        } else {
            at += 1;
        }
    }
    shown
}

/// Writes a run into a folder, as `found-CLAUSE.json`; says where.
///
/// # Errors
///
/// What the system says if the file cannot be written.
pub(crate) fn keep(run: &impl Serialize, clause: &str, folder: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("found-{clause}.json"));
    let mut text = serde_json::to_string_pretty(run).map_err(io::Error::other)?;
    text.push('\n');
    fs::write(&path, text)?;
    Ok(path)
}
