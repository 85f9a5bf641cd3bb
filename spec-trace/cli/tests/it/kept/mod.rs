//! Adapters as `countersign diff` drives them: faults that have to be caught, and variants that have to pass.
//!
//! The one thing to know: the search is the command's own, in this process: first the suite, from which it chooses how the text is
//! taken, then runs of seeds. A fault gets the one that shows it, and all before it only where that is not enough. What the command
//! prints of a search, `diff.rs` tests.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::Command;
use std::time::{Duration, Instant};

use countersign_cli::answer::{ReportFormat, Status};
use countersign_cli::differing::{Part, Report, binds};
use countersign_conform::driven::{Divergence, Search};
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::side_by_side::{processors, side_by_side};
use countersign_conform::spoken::Spoken;
use serde_json::Value;

/// A fault, the clause that names it, and the seed of the run that shows it; 0, where the suite does.
pub type Caught<'a> = (&'a str, &'a str, u64);

/// The command of an adapter with these arguments, or none, where there is nothing to run it.
pub type Start = fn(&[&str]) -> Option<Vec<String>>;

/// In so many runs nothing is found in an adapter that does nothing wrong.
const RUNS: u64 = 30;

/// So many runs the command plays where nothing is said, of the seeds from 1 on.
const BY_DEFAULT: u64 = 500;

/// A choice that is taken where its default is, which allows it and the others too, so that no run can tell them apart.
const WITHIN_DEFAULT: (&str, &str) = ("purge-code", "unknown");

/// For so long a run is made shorter: on a slow machine too until no step can go.
const SHRINKING: Duration = Duration::from_hours(1);

/// So long each response is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// The search in what this command starts.
fn greeted<P: Spoken>(command: Vec<String>) -> Search<P, Process> {
    let command = command.into_iter().map(OsString::from).collect();
    let greeted = Greeted::new(Process::new(command, PATIENCE));
    let mut search = Search::new(greeted.expect("it greets"));
    search.binds = binds;
    search
}

/// The search in what this command starts, behind the suite.
pub fn suited<P: Spoken>(command: Vec<String>) -> Search<P, Process> {
    let mut search = greeted(command);
    search.shrinking = SHRINKING;
    search.suite();
    search
}

/// The divergence that this clause leads, or under which it stands, where it is seen each time.
fn root<'a, P: Spoken>(search: &'a Search<P, Process>, clause: &str) -> Option<&'a Divergence<P>> {
    let all = || search.divergences.iter();
    let leads = all().find(|it| it.finding().clause == clause);
    let names = |it: &&Divergence<P>| it.also.contains(clause) || it.consequences.contains(clause);
    let found = leads.or_else(|| all().find(names))?;
    let (seen, of) = found.again;
    (seen == of).then_some(found)
}

/// The divergences, and whether each counts.
fn identities<P: Spoken>(search: &Search<P, Process>) -> BTreeSet<(String, bool)> {
    let found = search.divergences.iter();
    let found = found.map(|it| (it.identity(), it.clauses().any(binds)));
    found.collect()
}

/// Each fault has the same divergences after so many runs of whatever seed: those that the suite shows, at least one.
pub fn are_stable<P: Spoken>(start: Start, faults: &[&str], runs: u64, seeds: &[u64]) {
    if start(&[]).is_none() {
        return;
    }
    let all: Vec<_> = faults
        .iter()
        .flat_map(|fault| seeds.iter().map(move |seed| (*fault, *seed)))
        .collect();
    let is_stable = |(): &mut (), &(fault, seed): &(&str, u64)| {
        let command = start(&["--fault", fault]).expect("the adapter was started before");
        let mut search = greeted::<P>(command);
        search.shrinking = Duration::ZERO;
        search.suite();
        let by_suite = identities(&search);
        assert!(!by_suite.is_empty(), "{fault}: nothing");
        for run in 0..runs {
            search.seeded(seed + run);
            assert_eq!(
                identities(&search),
                by_suite,
                "{fault}: run {run} from seed {seed}: {:?}",
                search.divergences
            );
        }
    };
    side_by_side(processors(), &all, || (), is_stable);
}

/// Each fault is caught by its clause, in a run of which no step can go.
pub fn are_caught<P: Spoken>(start: Start, faults: &[Caught<'_>]) {
    if start(&[]).is_none() {
        return;
    }
    let is_caught = |(): &mut (), &(fault, clause, seed): &Caught<'_>| {
        let begin = Instant::now();
        let command = start(&["--fault", fault]).expect("the adapter was started before");
        assert!(seed <= BY_DEFAULT, "{fault}: {seed}");
        let mut search = suited::<P>(command.clone());
        if root(&search, clause).is_none() && seed > 0 {
            search.seeded(seed);
        }
        if root(&search, clause).is_none() {
            // A way to take the text may explain it that only runs before it rule out.
            search = suited(command);
            (1..=seed).for_each(|seed| search.seeded(seed));
        }
        let led: Vec<_> = search
            .divergences
            .iter()
            .map(|it| it.finding().clause)
            .collect();
        let found = root(&search, clause);
        let found = found.unwrap_or_else(|| panic!("{fault}: {clause} by seed {seed}: {led:?}"));
        let (steps, clause) = (found.run.steps.clone(), found.finding().clause);
        for left_out in 0..steps.len() {
            let mut shorter = steps.clone();
            shorter.remove(left_out);
            let is_shown = search.is_shown(&shorter, clause);
            assert!(!is_shown, "{fault}: step {left_out} can go: {steps:?}");
        }
        let (calls, time) = (search.calls, begin.elapsed());
        println!("{fault}: {clause} by seed {seed}, {calls} calls, {time:.1?}");
    };
    side_by_side(processors(), faults, || (), is_caught);
}

/// The adapter passes, and so does each of so many variants, by the default reading or by the one that the variant names, and no other.
pub fn variants_pass<P: Spoken>(start: Start, count: usize) {
    let Some(variants) = listed(start, "--list-variants") else {
        return;
    };
    assert_eq!(variants.len(), count);
    let changed = variants.iter().map(|it| {
        let name = it["name"].as_str().expect("a name");
        let clause = it["clause"].as_str().expect("a clause");
        assert!(countersign_clauses::get(clause).is_ok(), "{name}: {clause}");
        let reading = it["reading"].as_str().map(|it| it.split_once('='));
        (
            vec!["--variant", name],
            reading.map(|it| it.expect("a choice")),
        )
    });
    let all: Vec<_> = changed.chain([(Vec::new(), None)]).collect();
    side_by_side(
        processors(),
        &all,
        || (),
        |(), (arguments, reading)| {
            passes::<P>(start(arguments).expect("it was listed"), reading.as_slice());
        },
    );
}

/// Nothing is found, every MUST that binds it is tried, and the text is taken otherwise than by default in these choices alone.
pub fn passes<P: Spoken>(command: Vec<String>, readings: &[(&str, &str)]) -> Search<P, Process> {
    let told = command.join(" ");
    let mut search = suited::<P>(command);
    for seed in 1..=RUNS {
        search.seeded(seed);
    }
    let found = &search.divergences;
    assert!(found.is_empty(), "{told}: {found:#?}");
    let mut named = readings.to_vec();
    let choices = search.choices();
    named.retain(|it| *it != WITHIN_DEFAULT);
    for (place, choice) in &named {
        assert_eq!(choices[place], [*choice], "{told}: {place}");
    }
    // What is named may be the default.
    let taken = search.taken();
    assert!(
        taken.iter().all(|it| named.contains(it)),
        "{told}: {taken:?}"
    );
    for (place, choice) in readings {
        assert!(choices[place].contains(choice), "{told}: {place}");
    }
    let report = Report::of(&search, Part::whole(1), &[], |_| String::new());
    assert_eq!(report.untried(), [""; 0], "{told}");
    assert_eq!(
        report.answer(ReportFormat::Text, true).status,
        Status::Holds
    );
    search
}

/// What an adapter has, as it lists it.
pub fn listed(start: Start, list: &str) -> Option<Vec<Value>> {
    let command = start(&[list])?;
    let output = Command::new(&command[0]).args(&command[1..]).output();
    let list: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("a document");
    Some(list.as_array().expect("a list").clone())
}

/// Every fault that an adapter has stands in the list, by the clause that it says it breaks.
pub fn all_are_kept(start: Start, faults: &[Caught<'_>]) {
    let Some(listed) = listed(start, "--list-faults") else {
        return;
    };
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let listed = listed
        .iter()
        .map(|it| (text(it, "name"), text(it, "clause")));
    let kept = faults
        .iter()
        .map(|(fault, clause, _)| ((*fault).to_owned(), (*clause).to_owned()));
    let [mut listed, mut kept]: [Vec<_>; 2] = [listed.collect(), kept.collect()];
    listed.sort_unstable();
    kept.sort_unstable();
    assert_eq!(listed, kept);
}
