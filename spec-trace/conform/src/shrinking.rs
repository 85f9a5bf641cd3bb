//! What becomes of a run that shows something: it is made as short as it can be, and kept as a file.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Leaves out of `steps` what can go for as long as what remains shows the same, until no single one can be left out; what the steps
/// that are left show.
///
/// `without` leaves some out. `shows` plays steps. Where they show what the whole run does, which is `shown`, it says after how many of them, and what.
pub(crate) fn shortest<T: Clone, S>(
    steps: &mut Vec<T>,
    mut shown: S,
    without: impl Fn(&[T], Range<usize>) -> Vec<T>,
    mut shows: impl FnMut(&[T]) -> Option<(usize, S)>,
) -> S {
    let mut goes = |steps: &mut Vec<T>, stretch: Range<usize>| {
        let mut shorter = without(steps, stretch);
        let Some((needed, again)) = shows(&shorter) else {
            return false;
        };
        shorter.truncate(needed);
        *steps = shorter;
        shown = again;
        true
    };
    halves_go(steps, &mut goes);
    let mut stretch = steps.len();
    while stretch > 0 {
        let (before, mut start) = (steps.len(), 0);
        while start + stretch <= steps.len() {
            if !goes(steps, start..start + stretch) {
                // Those that share half of their steps with another are enough: single ones are each left out in the end.
                start += (stretch / 2).max(1);
            }
        }
        // A step may be needed only for another that is left out behind it.
        if stretch > 1 || steps.len() == before {
            stretch /= 2;
        }
    }
    shown
}

/// Leaves out ever smaller stretches: of each that cannot go as a whole both halves are tried, from the end on. Of a long run of which
/// little is needed little is played again.
fn halves_go<T>(steps: &mut Vec<T>, mut goes: impl FnMut(&mut Vec<T>, Range<usize>) -> bool) {
    // Whatever a run shows, it shows at its last step.
    let before_last = steps.len().saturating_sub(1);
    if goes(steps, 0..before_last) {
        return;
    }
    let mut stretches = vec![before_last];
    while stretches.iter().any(|it| *it > 1) {
        let mut end = stretches.iter().sum::<usize>();
        let mut stay = Vec::new();
        for stretch in stretches.into_iter().rev() {
            let begin = end - stretch;
            // What remains may show it before its end.
            let until = end.min(steps.len().saturating_sub(1));
            end = begin;
            if until <= begin + 1 {
                stay.extend((until > begin).then_some(1));
                continue;
            }
            let middle = begin.midpoint(until);
            let is_gone = goes(steps, middle..until);
            if !is_gone {
                stay.push(until - middle);
            }
            // Where the one half goes, the other holds what has to stay.
            if is_gone || !goes(steps, begin..middle) {
                stay.push(middle - begin);
            }
        }
        stay.reverse();
        stretches = stay;
    }
}

/// Puts two steps that follow each other more simply, as `fold` has it, for as long as what remains shows the same; what the steps
/// that are left show. `shows` is that of [`shortest`].
pub(crate) fn folded<T: Clone, S>(
    steps: &mut Vec<T>,
    mut shown: S,
    fold: impl Fn(&T, &T) -> Option<Vec<T>>,
    mut shows: impl FnMut(&[T]) -> Option<(usize, S)>,
) -> S {
    let mut at = 0;
    while at + 1 < steps.len() {
        let shorter = fold(&steps[at], &steps[at + 1]).map(|simpler| {
            let mut shorter = steps.clone();
            shorter.splice(at..at + 2, simpler);
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

/// Writes the text of a run into a folder, as `found-CLAUSE.json`; says where.
///
/// # Errors
///
/// What the system says if the file cannot be written.
pub(crate) fn write(text: &str, clause: &str, folder: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("found-{clause}.json"));
    fs::write(&path, format!("{text}\n"))?;
    Ok(path)
}
