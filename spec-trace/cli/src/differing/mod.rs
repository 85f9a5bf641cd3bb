//! What driving an implementation has come to, for people and for programs.
//!
//! The one thing to know: a [`Report`] is made once, of any protocol, and holds what all formats say.

pub mod badge;
mod html;
mod json;
mod junit;
pub mod kept;
pub mod live;
pub mod many;
mod sarif;
pub mod saved;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_clauses::{Clause, Level, Role, cited, links};
use countersign_conform::driven::{self, Ask, DRIVER, Divergence, Ended, Search, Told};
use countersign_conform::implementation::Implementation;
use countersign_conform::spoken::{Spoken, Wire};
use countersign_lint::baseline::{Baseline, Known};
use countersign_protocol::{Op, Output, Protocol, Request};
use miette::{IntoDiagnostic, miette};
use serde_json::Value;

use crate::answer::{Answer, ReportFormat, Status};
use crate::show::words::{printable, shortened};

/// What driving an implementation has come to.
pub struct Report {
    protocol: &'static str,
    /// What it calls itself.
    name: String,
    /// What of the optional it declares.
    supports: Vec<String>,
    part: Part,
    /// Whether it was driven over HTTP, in real time.
    is_live: bool,
    runs: u64,
    calls: u64,
    clauses: BTreeMap<String, Judged>,
    unsupported: BTreeSet<String>,
    /// The choices that are taken otherwise than by default.
    taken: Vec<(&'static str, &'static str)>,
    /// For each place that can be taken in more than one way the choices that still fit, the one taken first.
    readings: BTreeMap<&'static str, Vec<&'static str>>,
    divergences: Vec<Found>,
    /// What the baseline knows and is not there any more.
    vanished: Vec<Known>,
    controls: Vec<Controlled>,
    /// The rules for which there is none, each with the reason.
    unseen: Vec<(&'static str, &'static str)>,
    /// What kept runs from being judged.
    remarks: Vec<String>,
}

/// Which runs were played, and how they are judged.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The seed of the first.
    pub seed: u64,
    /// The shard, counted from 1, of so many.
    pub shard: (u64, u64),
    /// Whether they were to show all that is required; kept runs alone are not.
    pub is_whole: bool,
    /// Whether what is only recommended counts, too.
    pub strict: bool,
    /// How long it took; not told, where that would differ each time.
    pub time: Option<Duration>,
    /// Why they have ended before their time, if they have.
    pub ended: Option<Ended>,
}

impl Part {
    /// All runs from this seed on.
    pub const fn whole(seed: u64) -> Self {
        Self {
            seed,
            shard: (1, 1),
            is_whole: true,
            strict: false,
            time: None,
            ended: None,
        }
    }
}

/// A control, and what it was caught by.
#[derive(Clone, Debug)]
pub struct Controlled {
    /// What it is called.
    pub name: String,
    /// The clause; none, where it was not caught.
    pub clause: Option<&'static str>,
    /// In so many runs.
    pub runs: u64,
}

/// What is known of one clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Judged {
    verdict: Verdict,
    /// What would have to be declared for it, or taken otherwise, where it is unsupported.
    needs: Option<&'static str>,
}

/// The verdict on a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing was wrong by it, and another answer would have been.
    Upholds,
    /// Something was wrong by it.
    Violates,
    /// It is kept only where the host never hands an old state back.
    HostMustGuard,
    /// What it is about was not declared.
    Unsupported,
    /// No answer could have been wrong by it.
    NotExercised,
}

/// A divergence in words.
struct Found {
    identity: String,
    clause: &'static str,
    level: Option<Level>,
    gist: String,
    steps: Vec<Step>,
    expected: String,
    /// The same, where it has to be alike each time.
    message: String,
    actual: String,
    also: Vec<&'static str>,
    /// Other clauses that are broken beside it, behind it or in the same way. They do not count.
    consequences: Vec<&'static str>,
    /// The clauses that are broken in the run before it.
    before: BTreeSet<&'static str>,
    /// How many times of how many it was seen again.
    again: (u32, u32),
    /// How often something was found by this clause in all runs.
    times: u64,
    file: PathBuf,
    repeat: String,
    /// Why it is known, if it is.
    known: Option<String>,
}

/// A step of a run in words.
struct Step {
    at: String,
    asked: String,
    answers: Vec<String>,
}

impl Report {
    /// The report of a search; `files` has where each divergence is kept, and `again` the command that plays it once more.
    pub fn of<P: Spoken, I: Implementation<Wire<P>>>(
        search: &Search<P, I>,
        part: Part,
        files: &[PathBuf],
        again: impl Fn(&Path) -> String,
    ) -> Self {
        let divergences = search.divergences.iter().zip(files).map(|(found, file)| {
            let clause = found.finding().clause;
            let times = search.times.get(clause).copied().unwrap_or(0);
            Found::of(found, times, file, again(file))
        });
        let mut divergences: Vec<Found> = divergences.collect();
        let counted: BTreeSet<&str> = divergences.iter().map(|it| it.clause).collect();
        for found in &mut divergences {
            let also = &found.also;
            found
                .consequences
                .retain(|it| !counted.contains(it) && !also.contains(it));
        }
        let greeting = search.partner().greeting();
        let part = Part {
            ended: search.ended,
            ..part
        };
        Self {
            supports: greeting.declared().collect(),
            runs: search.runs,
            calls: search.calls,
            clauses: verdicts(search, &divergences),
            unsupported: search.unsupported.clone(),
            taken: search.taken(),
            readings: search.choices(),
            divergences,
            remarks: unjudged(&search.unjudged).into_iter().collect(),
            ..Self::of_nothing(P::NAME, greeting.name.clone(), part)
        }
    }

    /// The report on an implementation that was asked nothing.
    pub fn of_nothing(protocol: &'static str, name: String, part: Part) -> Self {
        Self {
            protocol,
            name,
            supports: Vec::new(),
            part,
            is_live: false,
            runs: 0,
            calls: 0,
            clauses: unexercised(protocol),
            unsupported: BTreeSet::new(),
            taken: Vec::new(),
            readings: BTreeMap::new(),
            divergences: Vec::new(),
            vanished: Vec::new(),
            controls: Vec::new(),
            unseen: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// The same, with the controls that were played, and the rules for which there is none.
    #[must_use]
    pub fn with_controls(
        mut self,
        controls: Vec<Controlled>,
        unseen: Vec<(&'static str, &'static str)>,
    ) -> Self {
        (self.controls, self.unseen) = (controls, unseen);
        self
    }

    /// The same, held against what is known.
    #[must_use]
    pub fn against(mut self, baseline: &Baseline) -> Self {
        for found in &mut self.divergences {
            if let Some(known) = baseline.known(&found.identity) {
                let reason = known.reason.clone();
                found.known = Some(reason.unwrap_or_else(|| "in the baseline".to_owned()));
            }
        }
        let is_there = |known: &&Known| {
            let mut found = self.divergences.iter();
            found.any(|it| it.identity == known.fingerprint)
        };
        // What one shard does not show, another may; and so may what was not played.
        if self.part.shard.1 == 1 && self.part.ended.is_none() {
            let vanished = baseline.all().filter(|it| !is_there(it));
            self.vanished.extend(vanished.cloned());
        }
        self
    }

    /// What a baseline would hold of it: each divergence that counts or is known.
    pub fn baseline(&self) -> Baseline {
        let found = self.divergences.iter();
        let found = found.filter(|it| it.known.is_some() || self.counts(it));
        let known = found.map(|found| Known {
            fingerprint: found.identity.clone(),
            clause: found.clause.to_owned(),
            session: None,
            message: Some(found.message.clone()),
            count: 1,
            reason: None,
        });
        Baseline::with(Some(self.protocol), known.collect())
    }

    /// As it is printed; a text for people is cut, unless all of it is asked for.
    pub fn answer(&self, format: ReportFormat, all: bool) -> Answer {
        let text = match format {
            ReportFormat::Text => return text::render(self, all),
            ReportFormat::Json => format!("{:#}\n", json::document(self)),
            ReportFormat::Junit => junit::render(self),
            ReportFormat::Sarif => format!("{:#}\n", sarif::document(self)),
            ReportFormat::Html => html::render(self),
        };
        let status = self.status();
        Answer { text, status }
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.with(verdict).count()
    }

    /// The clauses with this verdict. The driver protocol is none.
    fn with(&self, verdict: Verdict) -> impl Iterator<Item = &str> {
        let clauses = self.clauses.iter();
        let clauses = clauses.filter(move |(id, it)| it.verdict == verdict && *id != DRIVER);
        clauses.map(|(clause, _)| clause.as_str())
    }

    /// The clauses that bind whoever declares what it declares, and by which no answer could have been wrong.
    pub fn untried(&self) -> Vec<&str> {
        let untried = self.with(Verdict::NotExercised);
        untried.filter(|clause| is_duty(clause)).collect()
    }

    /// The controls that were not caught.
    fn uncaught(&self) -> impl Iterator<Item = &Controlled> {
        self.controls.iter().filter(|it| it.clause.is_none())
    }

    /// Whether a divergence counts.
    fn counts(&self, found: &Found) -> bool {
        found.known.is_none() && (self.part.strict || found.is_required())
    }

    /// The divergences that count.
    fn violations(&self) -> usize {
        let found = self.divergences.iter();
        found.filter(|it| self.counts(it)).count()
    }

    fn status(&self) -> Status {
        if self.violations() > 0 {
            return Status::Violated;
        }
        let is_tried = self.count(Verdict::Upholds) > 0 || !self.part.is_whole;
        let is_whole = self.untried().is_empty() || !self.part.is_whole;
        let is_judged = self.unsupported.is_empty()
            && self.uncaught().next().is_none()
            && (self.is_live || self.remarks.is_empty());
        Status::if_exercised(is_tried && is_whole && is_judged && self.part.ended.is_none())
    }

    fn verdict(&self) -> &'static str {
        self.status().verdict()
    }
}

/// Whether a clause is a MUST or MUST NOT of the producer, and speaks of what calls and outputs can show.
fn is_duty(clause: &str) -> bool {
    let known = countersign_clauses::get(clause);
    let is_duty = |it: &Clause| it.level.binds() && it.role == Role::Producer;
    known.is_ok_and(is_duty) && excuse(clause).is_none()
}

/// Why a MUST or MUST NOT need not be exercised, if there is a reason.
fn excuse(clause: &str) -> Option<&'static str> {
    let clause = countersign_clauses::get(clause).ok()?;
    let masked = || driven::masked(clause.id.as_str());
    links::without_rule(clause)
        .or_else(masked)
        .filter(|_| clause.level.binds())
}

/// Whether a clause is more than recommended.
pub fn binds(clause: &str) -> bool {
    let clause = countersign_clauses::get(clause);
    clause.map_or(true, |it| {
        !matches!(it.level, Level::Should | Level::ShouldNot | Level::May)
    })
}

/// Reads what is known of an implementation of a protocol.
///
/// # Errors
///
/// Where the file cannot be read, or is no baseline of this protocol.
pub fn known(file: &Path, protocol: &str) -> miette::Result<Baseline> {
    let baseline = Baseline::read(file).into_diagnostic()?;
    match baseline.protocol() {
        Some(of) if of != protocol => {
            let shown = file.display();
            Err(miette!("{shown} is a baseline of {of}, not of {protocol}"))
        }
        Some(_) | None => Ok(baseline),
    }
}

/// What is said of what a signal ended.
pub const STOPPED: &str = "stopped by a signal";

/// Why runs have ended before their time, in words.
const fn cut(ended: Ended) -> &'static str {
    match ended {
        Ended::Stopped => STOPPED,
        Ended::Hung => "stopped at the first hang",
        Ended::Found => "stopped at the first violation",
    }
}

/// What is said of runs that were not judged to their end.
fn unjudged(runs: &[(u64, usize)]) -> Option<String> {
    let (first, others) = runs.split_first()?;
    let run = match first {
        (0, call) => format!("a run without a seed from call {call} on"),
        (seed, call) => format!("the run of seed {seed} from call {call} on"),
    };
    let others = match others.len() {
        0 => String::new(),
        1 => ", and the end of another run".to_owned(),
        count => format!(", and the end of {count} other runs"),
    };
    Some(format!(
        "not judged: {run}{others}, since too many explanations fit the outputs"
    ))
}

/// Every clause that the judge of a protocol names, before the first run.
fn unexercised(protocol: &str) -> BTreeMap<String, Judged> {
    let judged = Judged {
        verdict: Verdict::NotExercised,
        needs: None,
    };
    let named = driven::judged(protocol).iter();
    named.map(|clause| ((*clause).to_owned(), judged)).collect()
}

/// The verdict on each of them.
fn verdicts<P: Spoken, I: Implementation<Wire<P>>>(
    search: &Search<P, I>,
    divergences: &[Found],
) -> BTreeMap<String, Judged> {
    let of = |verdict| Judged {
        verdict,
        needs: None,
    };
    let mut verdicts = unexercised(P::NAME);
    let upheld = search.exercised.iter();
    verdicts.extend(upheld.map(|clause| ((*clause).to_owned(), of(Verdict::Upholds))));
    // A judge names one beside others, too, of which it says the same.
    for (clause, needs) in driven::unsupported::<P>(search.partner().greeting()) {
        let judged = Judged {
            verdict: Verdict::Unsupported,
            needs: Some(needs),
        };
        verdicts.insert(clause.to_owned(), judged);
    }
    let guarded = search.guarded_by_host.iter();
    let guarded = guarded.map(|clause| (*clause, Verdict::HostMustGuard));
    let violated = divergences.iter().flat_map(|found| {
        let clauses = found.also.iter().chain(&found.consequences).copied();
        let clauses = clauses.chain([found.clause]);
        clauses.map(|clause| (clause, Verdict::Violates))
    });
    for (clause, verdict) in guarded.chain(violated) {
        verdicts.insert(clause.to_owned(), of(verdict));
    }
    verdicts
}

impl Found {
    fn of<P: Spoken>(found: &Divergence<P>, times: u64, file: &Path, repeat: String) -> Self {
        let finding = found.finding();
        let known: Option<&Clause> = countersign_clauses::get(finding.clause).ok();
        let steps: Vec<Step> = found.told().iter().map(Step::of).collect();
        let actual = match (&found.wrong.lost, steps.last()) {
            (Some(lost), _) => lost.to_string(),
            (None, Some(Step { answers, .. })) if !answers.is_empty() => answers.join("\n"),
            (None, _) => "nothing".to_owned(),
        };
        Self {
            identity: found.identity(),
            clause: finding.clause,
            level: known.map(|it| it.level),
            gist: known.map_or_else(String::new, |it| it.gist.clone()),
            steps,
            expected: found.expected(),
            message: finding.text.clone(),
            actual,
            also: found.also.iter().copied().collect(),
            consequences: found.consequences.iter().copied().collect(),
            before: BTreeSet::new(),
            again: found.again,
            times,
            file: file.to_owned(),
            repeat,
            known: None,
        }
    }

    /// Whether anything that it goes against binds.
    fn is_required(&self) -> bool {
        binds(self.clause) || self.also.iter().any(|it| binds(it))
    }

    /// What is broken, in a line.
    fn heading(&self) -> String {
        match self.clause {
            DRIVER if self.gist.is_empty() => "driver protocol".to_owned(),
            DRIVER => self.gist.clone(),
            clause => {
                let (clause, level) = (cited(clause), self.weight());
                let verdict = if self.is_required() {
                    "violated"
                } else {
                    "not followed"
                };
                format!("{clause} {verdict} ({level}): {}", self.gist)
            }
        }
    }

    /// The level of its clause, and the clause that binds in its place where it does not.
    fn weight(&self) -> String {
        let level = self.level();
        match self.also.iter().find(|it| binds(it)) {
            Some(also) if !binds(self.clause) => format!("{level}, and {}", cited(also)),
            Some(_) | None => level.to_owned(),
        }
    }

    fn level(&self) -> &'static str {
        self.level.map_or("", Level::as_str)
    }
}

impl Step {
    fn of<P: Protocol>(told: &Told<P>) -> Self {
        let after = told.after;
        let sign = if after < 0 { "-" } else { "" };
        let (seconds, millis) = (after.abs() / 1_000, after.abs() % 1_000);
        let asked = match &told.ask {
            Ask::Raw(raw) => printable(&shortened(raw.as_str(), LONGEST_RAW)),
            Ask::Op(op) => op_in_words(op),
        };
        Self {
            at: format!("{sign}{seconds}.{millis:03}"),
            asked,
            answers: told.outputs.iter().map(answer).collect(),
        }
    }
}

/// A request of the protocol: its op, and its fields.
fn op_in_words<P: Protocol>(op: &Op<P>) -> String {
    let request = Request {
        id: 0,
        now: None,
        op: op.clone(),
    };
    let fields = match serde_json::to_value(&request) {
        Ok(Value::Object(mut fields)) => {
            for known in ["id", "op", "now"] {
                fields.remove(known);
            }
            in_words(&Value::Object(fields))
        }
        Ok(_) | Err(_) => String::new(),
    };
    format!("{} {fields}", op.name()).trim_end().to_owned()
}

fn answer<P: Protocol>(output: &Output<P>) -> String {
    serde_json::to_value(output).map_or_else(|_| String::new(), |it| output_in_words(&it))
}

/// An output: its kind, and what stands in it.
pub(crate) fn output_in_words(output: &Value) -> String {
    let members = output.as_object().into_iter().flatten();
    let members = members.map(|(name, value)| format!("{name} {}", in_words(value)));
    members.collect::<Vec<_>>().join(" ")
}

/// So many characters of a text are told.
const LONGEST: usize = 60;
/// And of a request that the protocol does not have.
const LONGEST_RAW: usize = 400;

/// JSON with as few marks as it can be read with.
pub(crate) fn in_words(value: &Value) -> String {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match value {
                Value::Object(_) => format!("{name}({})", in_words(value)),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => {
                    format!("{name}={}", in_words(value))
                }
            })
            .collect::<Vec<_>>()
            .join(" "),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(in_words).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => {
            let is_plain = |it: char| it.is_alphanumeric() || "-_.:+".contains(it);
            let escaped = text.escape_debug().to_string();
            let short = shortened(&printable(&escaped), LONGEST);
            if !text.is_empty() && text.chars().all(is_plain) {
                short
            } else {
                format!("\"{short}\"")
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

impl Verdict {
    /// As it is written.
    const fn name(self) -> &'static str {
        match self {
            Self::Upholds => "upholds",
            Self::Violates => "violates",
            Self::HostMustGuard => "host-must-guard",
            Self::Unsupported => "unsupported",
            Self::NotExercised => "not-exercised",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::in_words;

    #[test]
    fn a_line_break_in_a_text_is_seen() {
        assert_eq!(in_words(&json!("b4\n")), r#""b4\n""#);
        assert_eq!(in_words(&json!("b4")), "b4");
    }
}
