//! That leaving a rule out is told alike by the search for what every rule is worth and by the check of one model.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use countersign_model::checker::{STATES, check_within};
use countersign_model::judged::Limit;
use countersign_model::rules::{Guards, Rules};
use countersign_model::specification::Modelled;
use countersign_model::table::Tabled;

use super::small;

/// One rule of the table of ablations, with the one that masks it.
struct Entry<'a> {
    rules: Vec<&'a str>,
    /// What breaks, with the steps that it takes.
    breaks: Vec<(usize, &'a str)>,
}

/// Takes a table of ablations apart.
fn entries(table: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in table.lines() {
        if let Some(broken) = line.strip_prefix("  ") {
            let mut words = broken.splitn(3, ' ');
            let steps = words.next().expect("steps");
            let name = words.nth(1).expect("a kind and a name");
            let steps = steps.parse().expect("a number of steps");
            let entry = entries.last_mut().expect("a rule comes first");
            entry.breaks.push((steps, name));
        } else {
            let mut words = line.split(' ');
            let rule = words.next();
            let masked_by = words.nth(1);
            entries.push(Entry {
                rules: rule.into_iter().chain(masked_by).collect(),
                breaks: Vec::new(),
            });
        }
    }
    entries
}

/// Checks, for every rule of the table of ablations, that what it breaks there is broken by a check without it, too, by a
/// run of the same length; so no property holds in the one that is broken in the other.
pub fn assert_checked_alike<T: Modelled>(table: &str) {
    let entries = entries(table);
    assert_eq!(entries.len(), T::Guard::ROWS.len());
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|threads| {
        for _ in 0..workers {
            threads.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    assert_entry::<T>(entry);
                }
            });
        }
    });
}

fn assert_entry<T: Modelled>(entry: &Entry) {
    // What lies behind the last of these steps cannot change what was broken before.
    let steps = entry.breaks.iter().map(|&(steps, _)| steps).max();
    let limit = Limit {
        pairs: STATES,
        steps: steps.unwrap_or_default(),
    };
    let guards = || entry.rules.iter().map(|name| T::Guard::named(name)[0]);
    let kept = guards().fold(Rules::all(), Rules::without);
    let first = guards().next().expect("an entry has a rule").row();
    let shown = small::<T>().showing(first.with);
    let model = shown.with(kept, T::Reading::default());
    let report = check_within(&model, limit, |_| {});
    for &(steps, name) in &entry.breaks {
        let mut properties = report.properties.iter();
        let property = properties.find(|property| property.name == name);
        let property = property.unwrap_or_else(|| panic!("there is no {name}"));
        let without = entry.rules.join(" and ");
        assert!(!property.holds, "without {without} this holds: {name}");
        assert_eq!(property.steps.len(), steps, "without {without}: {name}");
    }
}
