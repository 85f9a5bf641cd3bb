//! What driving a producer over HTTP has come to: the recordings of its runs, judged as any recording is.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use countersign_clauses::Level;
use countersign_conform::driven::{self, DRIVER, identity};
use countersign_lint::finding::Finding;
use countersign_lint::report::LintReport;
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use countersign_live::client::{Played, SHOWN};
use countersign_live::for_its_owner;
use serde_json::Value;

use super::{Found, Judged, Part, Report, Step, Verdict, in_words};
use crate::show::words::{printable, shortened};

/// What cannot be shown over HTTP, where the host of the implementation cannot be asked for anything and its clock goes on.
const NEEDS_DRIVER: &str = "the driver protocol";

/// So many times a run is played again that is the first to break a clause.
const AGAIN: usize = 2;

/// How often runs are to be played again, told one after the other.
pub fn worth_again() -> impl FnMut(&Played) -> usize {
    let mut broken = BTreeSet::new();
    move |run| {
        let found = broken_clauses(run);
        let is_new = !found.is_subset(&broken);
        broken.extend(found);
        if is_new { AGAIN } else { 0 }
    }
}

/// The clauses that a run breaks: none, where it is not to be judged.
fn broken_clauses(run: &Played) -> BTreeSet<&'static str> {
    let wrong = run.doubt.is_none().then(|| judge(run).0);
    wrong.into_iter().flatten().map(|it| it.clause).collect()
}

/// Something wrong in a run, wherever that shows.
struct Wrong {
    clause: &'static str,
    also: Vec<&'static str>,
    actual: String,
    /// The last step that belongs to it, from 0.
    step: usize,
}

impl Report {
    /// The report on runs over HTTP. `keep` has the file of one that shows something, `again` the command that plays one again, and
    /// `lacks` what a clause still needs before it can be shown.
    ///
    /// # Errors
    ///
    /// Where a recording cannot be kept.
    pub fn live(
        runs: &[Played],
        keep: impl Fn(&Played, usize) -> io::Result<PathBuf>,
        part: Part,
        again: impl Fn(&Played) -> String,
        lacks: impl Fn(&'static str) -> Option<&'static str>,
    ) -> io::Result<Self> {
        let is_whole = part.is_whole;
        let mut divergences: Vec<Found> = Vec::new();
        let mut upheld = BTreeSet::new();
        let mut times: BTreeMap<&str, u64> = BTreeMap::new();
        for (n, run) in (1..).zip(runs) {
            if run.doubt.is_some() {
                continue;
            }
            let (wrong, open) = judge(run);
            // Where a rule is broken, what follows shows no more: of such a run what is said of each event by itself is upheld.
            let is_broken = wrong.iter().any(|it| !is_recommended(it.clause));
            let shown = run.shown.iter().filter(|it| !open.contains(*it));
            upheld.extend(shown.filter(|it| !is_broken || it.starts_with("AAEP-EV-")));
            let clauses: BTreeSet<&str> = wrong.iter().map(|it| it.clause).collect();
            for clause in &clauses {
                *times.entry(clause).or_default() += 1;
            }
            if wrong.is_empty() {
                continue;
            }
            let file = keep(run, n)?;
            let seen: Vec<_> = run.again.iter().map(broken_clauses).collect();
            for (place, one) in wrong.iter().enumerate() {
                if divergences.iter().all(|it| it.clause != one.clause) {
                    let before = wrong[..place].iter().map(|it| it.clause);
                    let before = before.filter(|it| *it != one.clause).collect();
                    let mut found = Found::live(one, run, before, &file, again(run));
                    let times = seen.iter().filter(|it| it.contains(one.clause)).count();
                    found.again = (count(times), count(seen.len()));
                    divergences.push(found);
                }
            }
        }
        for found in &mut divergences {
            found.times = times.get(found.clause).copied().unwrap_or(0);
        }
        let names = runs.iter().find_map(|it| it.name.clone());
        let replies = runs.iter().flat_map(|it| &it.steps).count();
        let name = names.unwrap_or_else(|| "a producer that has shown nothing".to_owned());
        let part = Part {
            // Of runs that are not to be judged nothing holds.
            is_whole: is_whole || runs.iter().all(|it| it.doubt.is_some()),
            ..part
        };
        Ok(Self {
            is_live: true,
            runs: u64::try_from(runs.len()).unwrap_or(u64::MAX),
            calls: u64::try_from(replies).unwrap_or(u64::MAX),
            clauses: verdicts(&upheld, &divergences, lacks),
            divergences,
            remarks: remarks(runs),
            ..Self::of_nothing("aaep", name, part)
        })
    }
}

/// What is wrong in a run, in the order of its lines, and the clauses that it leaves open.
fn judge(run: &Played) -> (Vec<Wrong>, BTreeSet<&'static str>) {
    let name = run.script.name();
    let report: LintReport = countersign_lint::judge(
        run.lines.as_slice(),
        name,
        Settings::default(),
        &Selection::default(),
    );
    let open = report.not_judged.iter().map(|it| it.clause).collect();
    // What the appendix alone asks for is a warning, whatever its words.
    let warnings = report.warnings.iter();
    let recommended = warnings.filter(|it| is_recommended(it.clause));
    let mut findings: Vec<&Finding> = report.violations.iter().chain(recommended).collect();
    findings.sort_by_key(|it| it.line);
    let last = run.steps.len().saturating_sub(1);
    let step = |line: u64| {
        let place = usize::try_from(line).unwrap_or(0).saturating_sub(1);
        run.step_of_line.get(place).copied().unwrap_or(last)
    };
    let recorded = findings.into_iter().map(|it| Wrong {
        clause: it.clause,
        also: it.also.clone(),
        actual: it.message.clone(),
        step: step(it.line),
    });
    let unrecorded = run.wrong.iter().map(|it| Wrong {
        clause: it.clause,
        also: Vec::new(),
        actual: it.actual.clone(),
        step: it.step,
    });
    let trouble = run.trouble.iter().map(|it| Wrong {
        clause: DRIVER,
        also: Vec::new(),
        actual: it.clone(),
        step: last,
    });
    (recorded.chain(unrecorded).chain(trouble).collect(), open)
}

fn count(times: usize) -> u32 {
    u32::try_from(times).unwrap_or(u32::MAX)
}

fn is_recommended(clause: &str) -> bool {
    let clause = countersign_clauses::get(clause);
    clause.is_ok_and(|it| matches!(it.level, Level::Should | Level::ShouldNot))
}

/// Keeps the recording of a run, for whoever may read it alone: who has it can reply.
///
/// # Errors
///
/// Where it cannot be written.
pub fn keep(run: &Played, n: usize, folder: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("http-{n:02}-{}.jsonl", run.script.name()));
    let file = for_its_owner().create(true).truncate(true).open(&path);
    file?.write_all(&run.lines)?;
    Ok(path)
}

fn verdicts(
    upheld: &BTreeSet<&'static str>,
    divergences: &[Found],
    lacks: impl Fn(&'static str) -> Option<&'static str>,
) -> BTreeMap<String, Judged> {
    let of = |verdict, needs| Judged { verdict, needs };
    let unseen = of(Verdict::Unsupported, Some(NEEDS_DRIVER));
    let judged = driven::judged("aaep").iter();
    let unseen = judged.map(|it| ((*it).to_owned(), unseen));
    let mut verdicts: BTreeMap<String, Judged> = unseen.collect();
    for (clause, _) in SHOWN {
        let judged = match lacks(clause) {
            _ if upheld.contains(clause) => of(Verdict::Upholds, None),
            None => of(Verdict::NotExercised, None),
            needs => of(Verdict::Unsupported, needs),
        };
        verdicts.insert(clause.to_owned(), judged);
    }
    for found in divergences {
        for clause in found.also.iter().copied().chain([found.clause]) {
            verdicts.insert(clause.to_owned(), of(Verdict::Violates, None));
        }
    }
    verdicts
}

/// What kept runs from being judged.
fn remarks(runs: &[Played]) -> Vec<String> {
    let doubted = runs.iter().filter_map(|it| Some((it, it.doubt.as_ref()?)));
    let doubted = doubted.map(|(run, why)| {
        let name = run.script.name();
        printable(&format!("the run {name} is not judged: {why}"))
    });
    let unseen = runs
        .iter()
        .filter(|it| it.name.is_none() && it.trouble.is_none());
    let unseen =
        unseen.map(|it| format!("no session came of the prompt {:?}", printable(&it.prompt)));
    let open = runs
        .iter()
        .filter(|it| it.name.is_some() && it.trouble.is_none() && !it.is_over);
    let open = open.map(|run| {
        let (name, prompt) = (run.script.name(), printable(&run.prompt));
        format!("the run {name} has waited in vain for the end of its session, prompt {prompt:?}")
    });
    doubted.chain(unseen).chain(open).collect()
}

impl Found {
    fn live(
        wrong: &Wrong,
        run: &Played,
        before: BTreeSet<&'static str>,
        file: &Path,
        repeat: String,
    ) -> Self {
        let known = countersign_clauses::get(wrong.clause).ok();
        let steps = run.steps.iter().take(wrong.step + 1).map(|it| Step {
            at: format!("{}.{:03}", it.at.as_secs(), it.at.subsec_millis()),
            asked: printable(&it.asked),
            answers: it.heard.iter().map(heard).collect(),
        });
        let gist = match known {
            Some(clause) => clause.gist.clone(),
            None => "what is asked over HTTP is answered, and events come".to_owned(),
        };
        Self {
            identity: identity(&format!("http\n{}\n{}", wrong.clause, run.script.name())),
            clause: wrong.clause,
            level: known.map(|it| it.level),
            steps: steps.collect(),
            expected: gist.clone(),
            message: gist.clone(),
            gist,
            actual: wrong.actual.clone(),
            also: wrong.also.clone(),
            consequences: Vec::new(),
            before,
            again: (0, 0),
            times: 0,
            file: file.to_owned(),
            repeat,
            known: None,
        }
    }
}

/// What the envelope of each event says, and texts for people.
const UNTOLD: [&str; 13] = [
    "@context",
    "type",
    "event_id",
    "session_id",
    "timestamp",
    "producer",
    "sequence_number",
    "urgency",
    "aaep_version",
    "summary_terse",
    "summary_normal",
    "summary_detailed",
    "request_text",
];

/// An event, or an answer, in words.
fn heard(value: &Value) -> String {
    let kind = value["type"].as_str().unwrap_or_default();
    let name = kind.strip_prefix("aaep:agent.").unwrap_or(kind);
    let members = value.as_object().into_iter().flatten();
    let members =
        members.filter(|(name, value)| !UNTOLD.contains(&name.as_str()) && !value.is_null());
    let members: serde_json::Map<_, _> = members
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let told = in_words(&Value::Object(members));
    let name = shortened(&printable(name), super::LONGEST);
    format!("{name} {told}").trim().to_owned()
}
