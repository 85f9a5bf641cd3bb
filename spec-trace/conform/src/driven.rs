//! Runs of any implementation that takes the driver protocol, under the checker of its text.
//!
//! A step is a request, with whatever the implementation has named by then; what it answers is put into the words of the text
//! ([`crate::spoken::Driver`]). What it does not declare is not asked of it, and what it does not show is not judged.

mod declared;
mod judged;
mod others;
mod search;
mod step;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use countersign_model::judge::{Finding, Kind};
use countersign_protocol::{Common, Greeting, Json, Kind as OutputKind, Op, Output, Protocol};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checked::{Checked, Read, Shown};
use crate::implementation::{Greeted, Implementation, Lost, Said};
use crate::shrinking;
use crate::side_by_side::side_by_side;
use crate::spoken::{Driver, START, Spoken, Wire};

pub use declared::unsupported;
pub use judged::{judged, masked};
pub use others::exercise;
pub(crate) use others::wrong;
pub use search::{Divergence, Ended, OnFound, Search, identity};
pub use step::{Ask, Step, placed, placeholder};
pub(crate) use step::{refusable_at, replaced, standing_for, with_id};

/// A request, and the call that it is to the judge.
pub struct Asked<P: Spoken> {
    /// The time of it, in milliseconds since the epoch.
    pub now: i64,
    /// As the implementation is asked.
    pub op: Op<Wire<P>>,
    /// As the judge is told.
    pub call: P::Call,
}

/// One way to take the text.
pub struct Taken<P: Spoken> {
    /// Every place that can be taken in more than one way, and the choice.
    pub choices: Vec<(&'static str, &'static str)>,
    /// The judge to whom that is right.
    pub judge: Checked<P>,
}

/// So many ways to take a text are tried at most, unless there are no others than those that differ from the default in two places.
pub(crate) const MOST_READINGS: usize = 64;

/// A run, as a file keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Run<P: Spoken> {
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// What the run once showed.
    pub shows: String,
    /// The version of the command that kept it, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub countersign: Option<String>,
    /// What the host of the reference had chosen, where it is a random run of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Value>,
    /// The steps.
    pub steps: Vec<Step<Wire<P>>>,
}

/// What stands for a clause where an implementation does not keep to the driver protocol.
pub const DRIVER: &str = "driver";

/// What was asked in a run, and what came of it.
#[derive(Clone, Debug)]
pub struct Told<P: Protocol> {
    /// The step of the run, counted from 0.
    pub at: usize,
    /// The time, in milliseconds since the start of the run.
    pub after: i64,
    /// What was asked.
    pub ask: Ask<P>,
    /// What was answered; nothing where nothing was, or an error.
    pub outputs: Vec<Output<P>>,
}

impl<P: Protocol> Told<P> {
    /// The same, as a step that asks by what the implementation has named.
    pub fn step(&self) -> Step<P> {
        Step {
            now: START + self.after,
            ask: self.ask.clone(),
        }
    }
}

/// Something that is wrong in a run.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The step at which it is, counted from 0.
    pub at: usize,
    /// How many calls were made by then, the one at which it is among them.
    pub calls: usize,
    /// What would have been right.
    pub finding: Finding,
    /// Why the implementation was lost, if it was.
    pub lost: Option<Lost>,
}

/// What a run has come to.
#[derive(Clone)]
pub struct Played<P: Spoken> {
    /// Every call, in order.
    pub told: Vec<Told<Wire<P>>>,
    /// What of it the judge was shown.
    shown: Vec<Shown<P>>,
    /// How many calls were made with each that the judge was shown.
    shown_at: Vec<usize>,
    /// Whether the last call has no answer.
    is_last_unanswered: bool,
    /// The steps at which nothing was asked, or it was refused.
    refused: BTreeSet<usize>,
    /// Those at which no more came of it than what the sender or the operator sees.
    ignored: BTreeSet<usize>,
    /// All that is wrong, in order. After the first, the judge's account follows the implementation.
    pub wrong: Vec<Wrong>,
    /// What the judge calls things, each with its name in the run; nothing where nothing is wrong.
    names: BTreeMap<String, String>,
    /// The ops that it cannot do though they are no capability, or one that it has declared.
    pub unsupported: BTreeSet<String>,
    /// From that call on nothing is judged, counted from 1: too many explanations fit.
    pub unjudged_from: Option<usize>,
}

impl<P: Spoken> Run<P> {
    /// The run that a seed gives, of about so many steps.
    pub fn seeded(seed: u64, steps: usize) -> Self {
        let bytes: Vec<u8> = crate::spoken::random(seed).take(steps * P::BYTES).collect();
        Self::of(crate::spoken::steps::<P>(&bytes))
    }

    /// The same without near misses.
    pub fn plain(seed: u64, steps: usize) -> Self {
        let bytes: Vec<u8> = crate::spoken::random(seed).take(steps * P::BYTES).collect();
        Self::of(crate::spoken::plain::<P>(&bytes))
    }

    /// The run of these steps.
    pub fn of(steps: Vec<Step<Wire<P>>>) -> Self {
        Self {
            protocol: P::NAME.to_owned(),
            shows: String::new(),
            countersign: Some(env!("CARGO_PKG_VERSION").to_owned()),
            settings: None,
            steps,
        }
    }

    /// Writes the run into a folder, as `found-CLAUSE.json` with a line for each step; says where.
    ///
    /// # Errors
    ///
    /// What the system says if the file cannot be written.
    pub fn keep(&self, folder: &Path) -> io::Result<PathBuf> {
        let clause = self.shows.split(':').next().unwrap_or("run");
        let head = Self {
            steps: Vec::new(),
            ..self.clone()
        };
        let head = serde_json::to_string_pretty(&head)?;
        let steps = self.steps.iter().map(serde_json::to_string);
        let steps = steps.collect::<Result<Vec<_>, _>>()?.join(",\n    ");
        let steps = format!("\"steps\": [\n    {steps}\n  ]");
        shrinking::write(&head.replace("\"steps\": []", &steps), clause, folder)
    }
}

/// Takes each of the runs with this implementation, or with more of the same on so many threads where there can be more; what each has
/// come to, in the order of the runs.
pub fn play_all<P: Spoken, I: Implementation<Wire<P>>>(
    partner: &mut Greeted<Wire<P>, I>,
    runs: &[Run<P>],
    judge: &Checked<P>,
    threads: usize,
) -> Vec<Played<P>> {
    let Some(make) = partner.maker().filter(|_| threads > 1) else {
        let runs = runs.iter();
        return runs.map(|run| play(partner, &run.steps, judge)).collect();
    };
    let greeting: &Greeting<Wire<P>> = partner.greeting();
    let begin = || Greeted::like(make(), greeting.clone());
    side_by_side(threads, runs, begin, |partner, run| {
        play(partner, &run.steps, judge)
    })
}

/// Takes the steps with this implementation, and has the judge say what is wrong.
pub fn play<P: Spoken, I: Implementation<Wire<P>>>(
    partner: &mut Greeted<Wire<P>, I>,
    steps: &[Step<Wire<P>>],
    judge: &Checked<P>,
) -> Played<P> {
    let mut played = Played {
        told: Vec::new(),
        shown: Vec::new(),
        shown_at: Vec::new(),
        is_last_unanswered: false,
        refused: BTreeSet::new(),
        ignored: BTreeSet::new(),
        wrong: Vec::new(),
        names: BTreeMap::new(),
        unsupported: BTreeSet::new(),
        unjudged_from: None,
    };
    if let Err(lost) = partner.reset(START) {
        played.is_lost(0, lost);
        return played;
    }
    let mut judge = at_reset::<P>(judge);
    let mut driven = Driver::<P>::begin(partner.greeting());
    let mut now = START;
    for (at, step) in steps.iter().enumerate() {
        let (ask, call) = match (driven.ask(step), driven.raw(step)) {
            (Some(Asked { op, call, .. }), _) => (Ask::Op(op), Some(call)),
            (None, Some(raw)) => (Ask::Raw(raw), None),
            (None, None) => {
                played.refused.insert(at);
                continue;
            }
        };
        now = step.now;
        let answered = match &ask {
            Ask::Op(op) => partner.ask(now, op.clone()),
            Ask::Raw(raw) => partner.ask_raw(raw),
        };
        let outputs = match answered {
            Ok(Said::Outputs(outputs)) => outputs,
            Ok(Said::Unsupported | Said::NotUnderstood) => {
                played.refused.insert(at);
                match ask {
                    Ask::Op(op) => {
                        played.unsupported.insert(op.name());
                    }
                    Ask::Raw(_) => played.is_told(at, now, ask, Vec::new()),
                }
                continue;
            }
            Err(lost) => {
                played.is_told(at, now, ask, Vec::new());
                played.is_last_unanswered = true;
                played.is_lost(at, lost);
                return played;
            }
        };
        let kinds = || outputs.iter().map(|it| Wire::<P>::kind(&it.what));
        if kinds().any(|it| it == OutputKind::Refused) {
            played.refused.insert(at);
        } else if !outputs.is_empty()
            && kinds().all(|it| matches!(it, OutputKind::Respond | OutputKind::Audit))
        {
            played.ignored.insert(at);
        }
        let seen = match (call, &ask) {
            (Some(call), _) => {
                let shown = driven.take(&call, &outputs);
                Ok((call, shown))
            }
            (None, Ask::Raw(raw)) => driven
                .take_refused(raw, &outputs)
                .ok_or_else(|| not_understood::<P>(raw)),
            (None, Ask::Op(_)) => continue,
        };
        played.is_told(at, now, ask, outputs);
        match seen {
            Ok((call, shown)) => played.is_shown(at, call, shown, &driven, &mut judge),
            Err(finding) => played.is_wrong(at, finding, None),
        }
    }
    // A second answer to the last request shows with one more.
    if let Err(lost) = partner.ask(now, Op::Common(Common::Tick {})) {
        played.is_lost(steps.len().saturating_sub(1), lost);
    }
    played
}

/// The judge behind a reset: no time is known but that of it. What an implementation says of its settings is its own affair.
pub(crate) fn at_reset<P: Spoken>(judge: &Checked<P>) -> Checked<P> {
    let mut judge = judge.clone();
    let _nothing = judge.see(&P::TICK, &[]);
    judge
}

/// What an answer to a request that the protocol does not have has to be.
fn not_understood<P: Spoken>(raw: &Json) -> Finding {
    let instead = if refusable_at::<Wire<P>>(raw).is_some() {
        "a refusal: the request has a value that is not allowed"
    } else {
        "an `error`: a field of the request is missing, unknown, twice, null or of another type"
    };
    Finding {
        clause: DRIVER,
        also: &[],
        kind: Kind::Conformance,
        text: format!("{instead}, by the driver protocol"),
    }
}

/// So many characters of a name are shown at least.
const LONGEST_NAME: usize = 16;

impl<P: Spoken> Played<P> {
    /// The clauses that are kept only where the host never hands an old state back: what a judge finds who is not told that it has.
    fn guarded_by_host(&self, judge: &Checked<P>) -> BTreeSet<&'static str> {
        let calls = self.shown.iter();
        let guarded = calls.map(|(call, outputs)| P::guarded(call, outputs));
        let guarded: Vec<_> = guarded.collect();
        let mut found = BTreeSet::new();
        if guarded.iter().all(Option::is_none) {
            return found;
        }
        let mut judge = at_reset::<P>(judge);
        for ((call, outputs), guarded) in self.shown.iter().zip(&guarded) {
            let findings = judge.see(guarded.as_ref().unwrap_or(call), outputs);
            for finding in &findings {
                found.insert(finding.clause);
                found.extend(finding.also);
            }
            // What is found behind it may follow from it.
            if !findings.is_empty() {
                break;
            }
        }
        found
    }

    /// All that another judge finds in the same, in order. It judges no further than it is asked for.
    fn wrong_by<'a>(&'a self, judge: &Checked<P>) -> impl Iterator<Item = Wrong> + 'a {
        let mut judge = at_reset::<P>(judge);
        let mut shown = self.shown_at.iter().zip(&self.shown).peekable();
        (0..=self.told.len()).flat_map(move |calls| {
            let shown = shown.next_if(|(at, _)| **at == calls);
            let found = shown.map(|(_, (call, outputs))| judge.see(call, outputs));
            let found = found.into_iter().flatten().map(|finding| Wrong {
                at: self.told[calls - 1].at,
                calls,
                finding,
                lost: None,
            });
            // The driver protocol is not kept, whatever the reading.
            let of_all = self.wrong.iter();
            let of_all = of_all.filter(|it| it.calls == calls && it.finding.clause == DRIVER);
            found.chain(of_all.cloned()).collect::<Vec<_>>()
        })
    }

    /// What another judge finds wrong at the first call that is wrong to it: whatever is wrong behind that may follow from it.
    fn first_wrong_by(&self, judge: &Checked<P>) -> Vec<Wrong> {
        let mut wrong = self.wrong_by(judge).peekable();
        let first = wrong.peek().map(|it| it.calls);
        wrong.take_while(|it| Some(it.calls) == first).collect()
    }

    /// The clauses by which a run is first wrong to another judge.
    fn found_by(&self, judge: &Checked<P>) -> BTreeSet<&'static str> {
        let first = self.first_wrong_by(judge).into_iter();
        first.map(|it| it.finding.clause).collect()
    }

    /// How many calls were made when another judge first finds something in the same; nothing where it never does.
    fn first_found_by(&self, judge: &Checked<P>) -> Option<usize> {
        self.wrong_by(judge).map(|it| it.calls).next()
    }

    /// A name of the run, without its end where its beginning tells it from the others.
    fn shortened(&self, name: &str) -> String {
        let begins = name
            .char_indices()
            .nth(LONGEST_NAME)
            .map(|(end, _)| &name[..end]);
        let alike = |begins: &str| {
            self.names
                .values()
                .filter(|it| it.starts_with(begins))
                .count()
        };
        match begins {
            Some(begins) if alike(begins) == 1 => format!("{begins}…"),
            Some(_) | None => name.to_owned(),
        }
    }

    /// What the judge says, with the names of the run.
    fn named(&self, text: &str) -> String {
        let is_word = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
        let (mut named, mut rest, mut before) = (String::new(), text, None);
        while let Some(next) = rest.chars().next() {
            let known = self.names.iter().find_map(|(name, of)| {
                let behind = rest.strip_prefix(name.as_str())?;
                (!is_word(before) && !is_word(behind.chars().next())).then_some((of, behind))
            });
            if let Some((of, behind)) = known {
                named += &self.shortened(of);
                rest = behind;
            } else {
                named.push(next);
                rest = &rest[next.len_utf8()..];
            }
            before = Some(next);
        }
        named
    }

    /// What was answered, be it readable or not.
    fn answered(&self) -> &[Told<Wire<P>>] {
        &self.told[..self.told.len() - usize::from(self.is_last_unanswered)]
    }

    fn is_told(&mut self, at: usize, now: i64, ask: Ask<Wire<P>>, outputs: Vec<Output<Wire<P>>>) {
        let after = now - START;
        self.told.push(Told {
            at,
            after,
            ask,
            outputs,
        });
    }

    /// Shows the judge what came of the last call.
    fn is_shown(
        &mut self,
        at: usize,
        call: P::Call,
        shown: Vec<Read<P::Output>>,
        driven: &Driver<P>,
        judge: &mut Checked<P>,
    ) {
        let found = judge.see(&call, &shown);
        if !found.is_empty() {
            self.names = driven.names();
        }
        for finding in found {
            self.is_wrong(at, finding, None);
        }
        if self.unjudged_from.is_none() && judge.has_given_up() {
            self.unjudged_from = Some(self.told.len());
        }
        self.shown_at.push(self.told.len());
        self.shown.push((call, shown));
    }

    fn is_lost(&mut self, at: usize, lost: Lost) {
        let finding = Finding {
            clause: DRIVER,
            also: &[],
            kind: Kind::Conformance,
            text: "one response to each request, in order, by the driver protocol".to_owned(),
        };
        self.is_wrong(at, finding, Some(lost));
    }

    fn is_wrong(&mut self, at: usize, finding: Finding, lost: Option<Lost>) {
        self.wrong.push(Wrong {
            at,
            calls: self.told.len(),
            finding,
            lost,
        });
    }
}
