//! Lint held against the text: no recording of a conforming producer is accused.
//!
//! [`Recorded`] is every conforming producer of AAEP, with a recorder and lint beside it, as a party of the search. [`writer`]
//! makes the records.

pub mod writer;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use countersign_conform::search::{self, Broken, Searched, model_of};
use countersign_lint::report::Verdict;
use countersign_lint::stream::Linter;
use countersign_model::aaep::account::{Account, Phase, Question};
use countersign_model::aaep::alphabet::{Call, Op, Output, State, Time, What};
use countersign_model::aaep::environment::Bounds;
use countersign_model::aaep::{Aaep, wire};
use countersign_model::engine::model::{Action, Model, Party};
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::facade::engine::Catalog as _;
use countersign_model::facade::run::{describe, run_of};
use countersign_model::wire::Codec as _;
use countersign_protocol::aaep::{self as own, Aaep as Driver};
use countersign_protocol::{self as driver, Common, Json, Kind};
use serde_json::{Value, json};

use crate::verdicts::Divergence;
use writer::{Recorder, Replies, Writer};

/// Every conforming producer, and lint, which reads what a recorder writes of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    world: World<Aaep>,
    recorder: Recorder,
    recording: Arc<Recording>,
    last: Option<Arc<Exchange>>,
}

/// A recording so far.
#[derive(Clone, Debug)]
struct Recording {
    names: wire::Names,
    writer: Writer,
    linter: Linter,
    lines: u64,
    /// What makes a difference to what lint will say.
    memory: Vec<u8>,
    accusation: Option<Accusation>,
}

/// What is wrong with a recording.
#[derive(Clone, Debug)]
struct Accusation {
    /// The clause that lint names.
    clause: &'static str,
    text: String,
}

/// The last request, with all that was put out for it, and the recording before.
#[derive(Debug)]
struct Exchange {
    before: Arc<Recording>,
    at: Time,
    op: driver::Op<Driver>,
    outputs: Vec<driver::Output<Driver>>,
}

impl Recorded {
    /// Before anything has happened.
    pub fn new(recorder: Recorder, bounds: &Bounds) -> Self {
        let (writer, head) = Writer::new(recorder);
        let mut recording = Recording {
            names: wire::Names::default(),
            writer,
            linter: Linter::with(recorder.settings()),
            lines: 0,
            memory: Vec::new(),
            accusation: None,
        };
        let account = Aaep::account(Some(bounds));
        recording.add(head.as_slice(), Some(&account));
        Self {
            world: World::new(account),
            recorder,
            recording: Arc::new(recording),
            last: None,
        }
    }

    /// After a call, for which the world has become that and has put this out.
    fn after(&self, call: &Call, world: World<Aaep>, outputs: &[Output]) -> Self {
        let is_reply = matches!(call.op, Op::Deliver(_));
        let leaves_record = matches!(call.op, Op::Subscribe { .. } | Op::Unsubscribe(_))
            || is_reply && self.recorder.replies != Replies::Unrecorded;
        if !leaves_record && !outputs.iter().any(|it| it.told().is_some()) {
            let recording = Arc::clone(&self.recording);
            return Self {
                world,
                recording,
                last: None,
                ..*self
            };
        }
        let mut recording = Recording::clone(&self.recording);
        let mut call = call.clone();
        if let (Op::Restart { lost }, None) = (&mut call.op, &self.last) {
            // No event was lost.
            *lost = 0;
        }
        let op = recording.names.request(&call);
        // What no request says is refused.
        let op = op.unwrap_or(driver::Op::Common(Common::Tick {}));
        let mut responses = recording.names.responses(outputs);
        if self.recorder.outcomes && !matches!(call.op, Op::Restart { .. }) {
            let changes = [&self.world.account, &world.account].map(|it| &*it.questions);
            tell_outcomes(changes, outputs, &recording.names, &mut responses);
        }
        let exchange = Exchange {
            before: Arc::clone(&self.recording),
            at: world.account.clock,
            op,
            outputs: responses,
        };
        let records = exchange.records(&mut recording.writer, 0);
        recording.add(&records, Some(&world.account));
        Self {
            world,
            recorder: self.recorder,
            recording: Arc::new(recording),
            last: Some(Arc::new(exchange)),
        }
    }
}

impl Party<Aaep> for Recorded {
    fn answers(
        &self,
        variant: &Variant<Aaep>,
        freedom: Freedom,
        call: &Call,
        each: &mut dyn FnMut(Self, Vec<Output>),
    ) {
        self.world
            .answers(variant, freedom, call, |world, outputs| {
                each(self.after(call, world, &outputs), outputs);
            });
    }

    /// What was lost is not in the recording.
    fn dies(&mut self, lost: usize) {
        let Some(last) = &self.last else { return };
        let mut recording = Recording {
            names: self.recording.names.clone(),
            ..Recording::clone(&last.before)
        };
        let records = last.records(&mut recording.writer, lost);
        recording.add(&records, None);
        self.recording = Arc::new(recording);
    }

    fn conforms(&self) -> bool {
        self.recording.accusation.is_none()
    }

    fn accounts(&mut self, each: &mut dyn FnMut(&mut Account)) {
        each(&mut self.world.account);
    }
}

/// Of the recording the memory of lint alone counts: what names and numbers come next follows from the world.
impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        self.world == other.world && self.recording.memory == other.recording.memory
    }
}
impl Eq for Recorded {}
impl Hash for Recorded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.world.hash(state);
        self.recording.memory.hash(state);
    }
}

impl Exchange {
    /// Its records, without the last so many outputs.
    fn records(&self, writer: &mut Writer, lost: usize) -> Vec<String> {
        let kept = self.outputs.len().saturating_sub(lost);
        let outputs = self.outputs.get(..kept).unwrap_or_default();
        writer.records(self.at, &self.op, outputs)
    }
}

impl Recording {
    fn add(&mut self, records: &[String], account: Option<&Account>) {
        for record in records {
            self.lines += 1;
            countersign_lint::judge_line(&mut self.linter, self.lines, record.as_bytes());
        }
        if !records.is_empty() {
            self.memory = self.linter.memory();
            self.accusation = self.accusation(account);
        }
    }

    /// What is wrong with the report, should the recording end here: a finding, or another verdict than that nothing is wrong. Where
    /// something was lost, the account does not say what is recorded.
    fn accusation(&self, account: Option<&Account>) -> Option<Accusation> {
        let report = self.linter.clone().finish("recording");
        let warnings = report.warnings.iter();
        let warnings = warnings.filter(|it| !DEPARTURES.contains(&it.clause));
        if let Some(it) = report.violations.iter().chain(warnings).next() {
            return Some(Accusation {
                clause: it.clause,
                text: format!("line {}: {}", it.line, it.message),
            });
        }
        let sessions = &account?.sessions;
        let is_over = !sessions.is_empty() && !sessions.iter().any(|it| it.is_active);
        let expected = if is_over {
            Verdict::Conforming
        } else {
            Verdict::Inconclusive
        };
        // What is possible leaves the verdict open, and accuses nobody.
        let is_expected = report.verdict == expected || !report.possible.is_empty();
        (!is_expected).then(|| {
            let reasons = report.not_judged.iter().map(|it| it.reason.as_str());
            let reasons: Vec<_> = reasons.collect();
            Accusation {
                clause: A_1_2,
                text: format!("{}: {}", report.verdict.word(), reasons.join("; ")),
            }
        })
    }
}

/// The end of a session makes a recording complete.
const A_1_2: &str = "AAEP-A.1-2";
/// The whole contract.
const C6_1: &str = "AAEP-6-1";

/// Warnings that are no accusation:
///
/// - AAEP-A.3-3: a rejection is told by a transition to `thinking`, also while the tool of another question runs, before the
///   one back to `calling_tool`.
/// - AAEP-6.4.1-3, AAEP-6.4.1-4: the host may want a default of accept where reject would be better.
/// - AAEP-6.4.3-1, AAEP-6.4.3-4: the time left is told when the producer is called, and the clock may have jumped over the moment.
/// - AAEP-A.7.7-1 is informative, and a producer may write without saying so before.
const DEPARTURES: [&str; 6] = [
    "AAEP-A.3-3",
    "AAEP-6.4.1-3",
    "AAEP-6.4.1-4",
    "AAEP-6.4.3-1",
    "AAEP-6.4.3-4",
    "AAEP-A.7.7-1",
];

/// Adds to the event that leaves a question behind what became of it, where it is the only one of its session of which something
/// became.
fn tell_outcomes(
    [before, after]: [&[Question]; 2],
    outputs: &[Output],
    names: &wire::Names,
    responses: &mut [driver::Output<Driver>],
) {
    let is_open = |it: &&Question| it.phase == Phase::Open && it.token.is_some();
    let resolved = |open: &Question| {
        let now = after.iter().find(|it| it.token == open.token);
        now.filter(|it| it.phase != Phase::Open).cloned()
    };
    let resolved: Vec<_> = before.iter().filter(is_open).filter_map(resolved).collect();
    for it in &resolved {
        let others = resolved
            .iter()
            .filter(|other| other.session() == it.session());
        let leaves = |output: &Output| {
            let told = output.told();
            told.is_some_and(|(session, what)| {
                let is_left =
                    matches!(what, What::Changed { to, .. } if *to != State::AwaitingInput);
                is_left && session == it.session()
            })
        };
        let Some(place) = outputs
            .iter()
            .position(leaves)
            .filter(|_| others.count() == 1)
        else {
            continue;
        };
        let has_answer = it.is_replied || it.subject.query().is_some_and(|it| it.default.is_some());
        let outcome = match it.phase {
            Phase::Open => continue,
            Phase::Running | Phase::Finished | Phase::Abandoned => "accepted",
            Phase::Rejected => "rejected",
            Phase::Answered if has_answer => "answered",
            Phase::Answered => "unanswered",
            Phase::Cancelled => "cancelled",
        };
        let token = it.token.and_then(|it| names.tokens().get(usize::from(it)));
        if let Some(own::Output::Emit(event)) = responses.get_mut(place).map(|it| &mut it.what) {
            let mut told: Value = serde_json::from_str(event.as_str()).unwrap_or_default();
            told["extensions"] = json!({"countersign": {"reply_token": token, "outcome": outcome}});
            *event = Json::of(&told).expect("an object");
        }
    }
}

/// One question, and nothing else.
const ONE: Bounds = Bounds {
    ticks: 1,
    set_back: 0,
    every_question: false,
    every_reply: false,
    endings: false,
    closings: false,
    ..Bounds::ONE
};

/// Worlds that take seconds where no replies are recorded: one question that times out and a clock that is set back; questions that
/// have more time; two questions in one session, and in two; a question and a clarification; and a crash.
pub const SMALL: [Bounds; 6] = [
    Bounds {
        ticks: 2,
        set_back: 1,
        every_question: true,
        ..ONE
    },
    Bounds {
        ticks: 3,
        minutes: true,
        ..ONE
    },
    Bounds {
        questions: 2,
        ..ONE
    },
    Bounds {
        questions: 2,
        two_sessions: true,
        ..ONE
    },
    Bounds { queries: 1, ..ONE },
    Bounds { crashes: 1, ..ONE },
];

fn model(recorder: Recorder, bounds: Bounds) -> Model<Aaep, Recorded> {
    let is_shown = |kind| {
        !matches!(kind, Kind::Notify | Kind::Audit) && (kind != Kind::Respond || recorder.statuses)
    };
    Model {
        variant: Variant {
            hidden: wire::Names::hidden(is_shown),
            ..Variant::default()
        },
        freedom: Freedom::May,
        forgets: true,
        ..model_of(Recorded::new(recorder, &bounds), bounds)
    }
}

/// Searches every run of every conforming producer within these bounds; `progress` is told the number of transitions so far.
pub fn search(
    recorder: Recorder,
    bounds: Bounds,
    threads: usize,
    progress: &dyn Fn(u64),
) -> Searched<Aaep, Recorded> {
    search::search(&model(recorder, bounds), threads, progress)
}

/// Walks the run that these choices pick within these bounds, as [`search::walk`] does.
pub fn walk(
    recorder: Recorder,
    bounds: Bounds,
    choices: impl IntoIterator<Item = u16>,
) -> Option<Broken<Aaep, Recorded>> {
    search::walk(&model(recorder, bounds), choices)
}

/// A run in which lint accuses the producer, with the records of each step.
pub fn divergence(broken: &Broken<Aaep, Recorded>) -> Divergence {
    let actions = broken.run.iter().map(|(_, action)| action.clone());
    let mut steps = describe::<Aaep>(&run_of(actions.collect()));
    let states = broken.run.iter().skip(1).map(|(state, _)| state);
    let states = states.chain([&broken.last]);
    for ((step, (_, action)), state) in steps.iter_mut().zip(&broken.run).zip(states) {
        if let (Action::Call { .. }, Some(last)) = (action, &state.party.last) {
            let lost = state.down.as_ref().map_or(0, |it| it.len());
            let mut writer = last.before.writer.clone();
            step.changes.extend(last.records(&mut writer, lost));
        }
    }
    let accusation = &broken.last.party.recording.accusation;
    let (clause, text) = match accusation {
        Some(it) => (it.clause, it.text.clone()),
        None => (C6_1, broken.name.to_owned()),
    };
    Divergence {
        steps,
        clause,
        expected: "a recording without fault".to_owned(),
        actual: text,
    }
}
