//! Runs of any implementation that takes the driver protocol, under the judge of its protocol.
//!
//! A step of pending actions is a request; of the other protocols it is one of the wide runs of their executors ([`crate::wide`]). Each
//! becomes a request, with whatever the implementation has named by then; what it answers is put into the judge's words. What
//! it does not declare is not asked of it, and what it does not show is not judged.

mod declared;
mod elsewhere;
mod judged;
mod meaning;
mod others;
mod search;
mod step;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use countersign_model::judge::{Finding, Judge, Kind};
use countersign_model::readings::Place;
use countersign_protocol::{Common, Greeting, Kind as OutputKind, Op, Output, Protocol};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::implementation::{Greeted, Implementation, Lost, Said};
use crate::shrinking;
use crate::side_by_side::side_by_side;

pub use declared::unsupported;
pub use judged::judged;
pub(crate) use meaning::meaning;
pub use others::Others;
pub(crate) use others::{places, without};
pub use search::{Divergence, Ended, OnFound, Search, identity};
pub use step::{Step, placed, placeholder};

/// What is asked of a party, as the judge knows it.
pub type CallOf<D> = <<D as Driven>::Judge as Judge>::Call;
/// What it puts out, as the judge knows it.
pub type OutputOf<D> = <<D as Driven>::Judge as Judge>::Output;

/// A word of a judge.
pub trait Spoken: Clone + fmt::Debug + Send + Sync {}

impl<T: Clone + fmt::Debug + Send + Sync> Spoken for T {}

/// What the driver of an implementation keeps in a run: what was asked, and what it has seen of the answers.
pub trait Driven: Clone + Sized {
    /// The protocol.
    type Protocol: Protocol;
    /// A step, as plain data.
    type Step: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// The judge of the protocol.
    type Judge: Judge<Call: Spoken, Output: Spoken> + Clone + Send + Sync;
    /// When a run begins, in milliseconds since the epoch.
    const START: i64;
    /// About so many bytes are a step.
    const BYTES: usize;
    /// The outputs without which nothing can be judged: what is not seen of these would be taken for not done.
    const NEEDED: &'static [OutputKind];

    /// The steps that these bytes are.
    fn steps(bytes: &[u8]) -> Vec<Self::Step>;

    /// The judge of an implementation that declares this, and has not been asked anything.
    fn judge(greeting: &Greeting<Self::Protocol>) -> Self::Judge;

    /// The ways in which the text can be taken, the default first.
    fn readings(greeting: &Greeting<Self::Protocol>) -> Vec<Taken<Self::Judge>> {
        let judge = Self::judge(greeting);
        let choices = Vec::new();
        vec![Taken { choices, judge }]
    }

    /// The call with which nothing happens but that time passes.
    const TICK: CallOf<Self>;

    /// At the start of a run.
    fn begin(greeting: &Rc<Greeting<Self::Protocol>>) -> Self;

    /// The steps without some of them. What they name goes with them.
    fn without(steps: &[Self::Step], gone: Range<usize>) -> Vec<Self::Step> {
        shrinking::without(steps, gone)
    }

    /// Two steps in a simpler way: the second at an earlier time, or alone with the time that both take. None, where there is none.
    fn fold(first: &Self::Step, second: &Self::Step) -> Option<Vec<Self::Step>>;

    /// The call as it would be where the host never hands an old state back, if it is one by which it has.
    fn guarded(_: &CallOf<Self>, _: &[OutputOf<Self>]) -> Option<CallOf<Self>> {
        None
    }

    /// What a step asks. Nothing where there is nothing that it could mean, or what it asks was not declared.
    fn ask(&mut self, step: &Self::Step) -> Option<Asked<Self>>;

    /// What was put out for it, each as the judge is shown it; nothing for what he is not shown, or is not declared to be shown.
    ///
    /// # Errors
    ///
    /// [`Unreadable`], where one of them does not say what an output of its kind has to say.
    fn take(
        &mut self,
        call: &CallOf<Self>,
        outputs: &[Output<Self::Protocol>],
    ) -> Result<Vec<Option<OutputOf<Self>>>, Unreadable>;

    /// What the judge calls things, such as `action 0`, each with its name in this run.
    fn names(&self) -> BTreeMap<String, String>;
}

/// A request, and the call that it is to the judge.
pub struct Asked<D: Driven> {
    /// The time of it, in milliseconds since the epoch.
    pub now: i64,
    /// As the implementation is asked.
    pub op: Op<D::Protocol>,
    /// As the judge is told.
    pub call: CallOf<D>,
}

/// One way to take the text.
pub struct Taken<J> {
    /// Every place that can be taken in more than one way, and the choice.
    pub choices: Vec<(&'static str, &'static str)>,
    /// The judge to whom that is right.
    pub judge: J,
}

/// The places that are not settled.
pub(crate) fn open<R>(
    places: &'static [Place<R>],
    settled: &[(&str, &str)],
) -> impl Iterator<Item = &'static Place<R>> {
    let is_settled = |place: &Place<R>| settled.iter().any(|(name, _)| *name == place.name);
    places.iter().filter(move |place| !is_settled(place))
}

/// So many ways to take a text are tried at most, unless there are no others than those that differ from the default in two places.
pub(crate) const MOST_READINGS: usize = 64;

/// The ways that a text leaves open: all, or where they are too many those that differ from the default in two places at most.
pub(crate) fn readings<R: Copy + 'static, J>(
    places: impl IntoIterator<Item = &'static Place<R>>,
    default: R,
    judge: impl Fn(R) -> J,
) -> Vec<Taken<J>> {
    let places: Vec<_> = places.into_iter().filter(|place| place.open).collect();
    let count: usize = places.iter().map(|place| place.choices.len()).product();
    let most = if count <= MOST_READINGS {
        places.len()
    } else {
        2
    };
    let mut all = vec![(Vec::new(), default, 0)];
    for place in places {
        let before = std::mem::take(&mut all);
        for (choices, reading, changed) in before {
            for (which, choice) in place.choices.iter().enumerate() {
                let changed = changed + usize::from(which > 0);
                if changed > most {
                    continue;
                }
                let (mut choices, mut reading): (Vec<_>, R) = (choices.clone(), reading);
                choices.push((place.name, choice.value));
                // What the default is, it stays.
                if which > 0 {
                    (choice.set)(&mut reading);
                }
                all.push((choices, reading, changed));
            }
        }
    }
    all.sort_by_key(|(_, _, changed)| *changed);
    let taken = all.into_iter().map(|(choices, reading, _)| Taken {
        choices,
        judge: judge(reading),
    });
    taken.collect()
}

/// An output that does not say what an output of its kind has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The clause that has it say so.
    pub clause: &'static str,
    /// What is wrong.
    pub text: String,
}

/// A run, as a file keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Run<D: Driven> {
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
    pub steps: Vec<D::Step>,
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
    pub op: Op<P>,
    /// What was answered; nothing where nothing was.
    pub outputs: Vec<Output<P>>,
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

/// A call as the judge was shown it: its time, the call and the outputs.
type Shown<D> = (i64, CallOf<D>, Vec<OutputOf<D>>);

/// What a run has come to.
#[derive(Clone)]
pub struct Played<D: Driven> {
    /// Every call, in order.
    pub told: Vec<Told<D::Protocol>>,
    /// The same as the judge was shown it, as far as it could be read.
    shown: Vec<Shown<D>>,
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

impl<D: Driven> Run<D> {
    /// The run that a seed gives, of about so many steps.
    pub fn seeded(seed: u64, steps: usize) -> Self {
        let bytes: Vec<u8> = crate::wide::random(seed).take(steps * D::BYTES).collect();
        Self::of(D::steps(&bytes))
    }

    /// The run of these steps.
    pub fn of(steps: Vec<D::Step>) -> Self {
        Self {
            protocol: D::Protocol::NAME.to_owned(),
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

/// Takes the steps with this implementation, and has the judge say what is wrong; and which other answers would have been, where
/// there is anything to note that in.
pub fn play<D: Driven, I: Implementation<D::Protocol>>(
    partner: &mut Greeted<D::Protocol, I>,
    steps: &[D::Step],
    judge: &D::Judge,
    others: Option<&mut Others<D>>,
) -> Played<D> {
    let played = driven_with(partner, steps, judge);
    if let Some(others) = others {
        others.try_run(partner.greeting(), steps, judge, &played);
    }
    played
}

/// Takes each of the runs with this implementation, or with more of the same on so many threads where there can be more; what each has
/// come to, in the order of the runs.
pub fn play_all<D: Driven, I: Implementation<D::Protocol>>(
    partner: &mut Greeted<D::Protocol, I>,
    runs: &[Run<D>],
    judge: &D::Judge,
    threads: usize,
) -> Vec<Played<D>> {
    let Some(make) = partner.maker().filter(|_| threads > 1) else {
        let runs = runs.iter();
        return runs
            .map(|run| driven_with(partner, &run.steps, judge))
            .collect();
    };
    let greeting: &Greeting<D::Protocol> = partner.greeting();
    let begin = || Greeted::like(make(), greeting.clone());
    side_by_side(threads, runs, begin, |partner, run| {
        driven_with(partner, &run.steps, judge)
    })
}

fn driven_with<D: Driven, I: Implementation<D::Protocol>>(
    partner: &mut Greeted<D::Protocol, I>,
    steps: &[D::Step],
    judge: &D::Judge,
) -> Played<D> {
    let mut played = Played {
        told: Vec::new(),
        shown: Vec::new(),
        refused: BTreeSet::new(),
        ignored: BTreeSet::new(),
        wrong: Vec::new(),
        names: BTreeMap::new(),
        unsupported: BTreeSet::new(),
        unjudged_from: None,
    };
    if let Err(lost) = partner.reset(D::START) {
        played.is_lost(0, lost);
        return played;
    }
    let mut judge = at_reset::<D>(judge);
    let mut driven = D::begin(partner.greeting());
    let mut now = D::START;
    for (at, step) in steps.iter().enumerate() {
        let Some(asked) = driven.ask(step) else {
            played.refused.insert(at);
            continue;
        };
        now = asked.now;
        let outputs = match partner.ask(now, asked.op.clone()) {
            Ok(Said::Outputs(outputs)) => outputs,
            Ok(Said::Unsupported) => {
                played.unsupported.insert(asked.op.name());
                played.refused.insert(at);
                continue;
            }
            Err(lost) => {
                played.is_told(at, now, asked.op, Vec::new());
                played.is_lost(at, lost);
                return played;
            }
        };
        let kinds = || outputs.iter().map(|it| D::Protocol::kind(&it.what));
        if kinds().any(|it| it == OutputKind::Refused) {
            played.refused.insert(at);
        } else if !outputs.is_empty()
            && kinds().all(|it| matches!(it, OutputKind::Respond | OutputKind::Audit))
        {
            played.ignored.insert(at);
        }
        let taken = driven.take(&asked.call, &outputs);
        played.is_told(at, now, asked.op, outputs);
        let shown = match taken {
            Ok(shown) => shown.into_iter().flatten().collect::<Vec<_>>(),
            Err(unreadable) => {
                let finding = unreadable.finding();
                played.is_wrong(at, finding, None);
                return played;
            }
        };
        let found = judge.see(now, &asked.call, &shown);
        if !found.is_empty() {
            played.names = driven.names();
        }
        for finding in found {
            played.is_wrong(at, finding, None);
        }
        if played.unjudged_from.is_none() && judge.has_given_up() {
            played.unjudged_from = Some(played.told.len());
        }
        played.shown.push((now, asked.call, shown));
    }
    // A second answer to the last request shows with one more.
    if let Err(lost) = partner.ask(now, Op::Common(Common::Tick {})) {
        played.is_lost(steps.len().saturating_sub(1), lost);
    }
    played
}

/// The judge behind a reset: no time is known but that of it. What an implementation says of its settings is its own affair.
pub(crate) fn at_reset<D: Driven>(judge: &D::Judge) -> D::Judge {
    let mut judge = judge.clone();
    let _nothing = judge.see(D::START, &D::TICK, &[]);
    judge
}

/// So many characters of a name are shown at least.
const LONGEST_NAME: usize = 16;

impl<D: Driven> Played<D> {
    /// The clauses that are kept only where the host never hands an old state back: what a judge finds who is not told that it has.
    fn guarded_by_host(&self, judge: &D::Judge) -> BTreeSet<&'static str> {
        let calls = self.shown.iter();
        let guarded = calls.map(|(_, call, outputs)| D::guarded(call, outputs));
        let guarded: Vec<_> = guarded.collect();
        let mut found = BTreeSet::new();
        if guarded.iter().all(Option::is_none) {
            return found;
        }
        let mut judge = at_reset::<D>(judge);
        for ((now, call, outputs), guarded) in self.shown.iter().zip(&guarded) {
            let findings = judge.see(*now, guarded.as_ref().unwrap_or(call), outputs);
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
    fn wrong_by<'a>(&'a self, judge: &D::Judge) -> impl Iterator<Item = Wrong> + 'a {
        let mut judge = at_reset::<D>(judge);
        let calls = (1..).zip(&self.shown).zip(&self.told);
        let found = calls.flat_map(move |((calls, (now, call, outputs)), told)| {
            let findings = judge.see(*now, call, outputs).into_iter();
            findings.map(move |finding| Wrong {
                at: told.at,
                calls,
                finding,
                lost: None,
            })
        });
        // Whatever the reading, it is lost, or cannot be read.
        let of_all = self.wrong.iter();
        let of_all = of_all.filter(|it| it.lost.is_some() || it.calls > self.shown.len());
        found.chain(of_all.cloned())
    }

    /// What another judge finds wrong at the first call that is wrong to it: whatever is wrong behind that may follow from it.
    fn first_wrong_by(&self, judge: &D::Judge) -> Vec<Wrong> {
        let mut wrong = self.wrong_by(judge).peekable();
        let first = wrong.peek().map(|it| it.calls);
        wrong.take_while(|it| Some(it.calls) == first).collect()
    }

    /// The clauses by which a run is first wrong to another judge.
    fn found_by(&self, judge: &D::Judge) -> BTreeSet<&'static str> {
        let first = self.first_wrong_by(judge).into_iter();
        first.map(|it| it.finding.clause).collect()
    }

    /// How many calls were made when another judge first finds something in the same; nothing where it never does.
    fn first_found_by(&self, judge: &D::Judge) -> Option<usize> {
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
    fn answered(&self) -> &[Told<D::Protocol>] {
        let is_lost = self.wrong.last().is_some_and(|it| it.lost.is_some());
        let answered = if is_lost {
            self.shown.len()
        } else {
            self.told.len()
        };
        &self.told[..answered]
    }

    fn is_told(
        &mut self,
        at: usize,
        now: i64,
        op: Op<D::Protocol>,
        outputs: Vec<Output<D::Protocol>>,
    ) {
        let after = now - D::START;
        self.told.push(Told {
            at,
            after,
            op,
            outputs,
        });
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

impl Unreadable {
    /// One of this clause.
    pub(crate) fn new(clause: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { clause, text }
    }

    fn finding(self) -> Finding {
        Finding {
            clause: self.clause,
            also: &[],
            kind: Kind::Conformance,
            text: self.text,
        }
    }
}
