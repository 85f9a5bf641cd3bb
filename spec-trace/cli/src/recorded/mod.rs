//! The judge of recorded streams held against the model: no run that the model allows is accused.
//!
//! Where to read: [`writer`] makes the records of a stream out of a step of the model; this file walks the pairs of model
//! state and judge.
//!
//! The one thing to know: the walk goes over the literal model. The quotient forgets what a stream has shown (the time, once
//! nothing waits for it; which session a question belonged to; what a reply that fails anyhow has claimed), so that a run
//! of its representatives is not the stream of any producer.

pub mod writer;

use std::hash::Hasher;
use std::sync::Arc;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::action::Action;
use countersign_model::aaep::bounds::{Bounds, BoundsError, Budgets};
use countersign_model::aaep::output::Output;
use countersign_model::aaep::state::State;
use countersign_model::aaep::step::Step;
use countersign_model::aaep::words::SessionName;
use countersign_model::checker::StepText;

use countersign_conform::edges::{self, Scope, Walk};
use countersign_conform::{Disagreement, Sides, not_a_call};
use countersign_lint::finding::Finding;
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::stream::{Linter, Settings};
use writer::{Position, Recorder, Replies, StreamWriter, Taken};

/// One question and every disturbance; two questions in one session, in peace; and one in each of two sessions. All of
/// them together are more than a walk of seconds can take: [`TOGETHER`].
pub const APART: [Bounds; 3] = [
    Bounds {
        name: "one question",
        sessions: 1,
        confirmations: 1,
        ..Bounds::SMALL
    },
    Bounds {
        name: "two questions",
        sessions: 1,
        skew: 0,
        disturbances: Budgets::NONE,
        ..Bounds::SMALL
    },
    Bounds {
        name: "two sessions",
        ticks: 1,
        skew: 0,
        disturbances: Budgets::NONE,
        ..Bounds::SMALL
    },
];

/// A clarification beside a confirmation, in peace; the same where one of them has more time; where a reply is forged or
/// malformed, or a question cancelled; and where a question is cancelled or a subscription closes, and nothing else.
pub const CLARIFYING: [Bounds; 4] = [
    Bounds {
        name: "a clarification",
        sessions: 1,
        clarifications: 1,
        extensions: 0,
        skew: 0,
        disturbances: Budgets::NONE,
        ..Bounds::CLARIFY
    },
    Bounds {
        name: "a clarification, and more time",
        sessions: 1,
        clarifications: 1,
        skew: 0,
        disturbances: Budgets::NONE,
        ..Bounds::CLARIFY
    },
    Bounds {
        name: "a clarification, disturbed",
        sessions: 1,
        clarifications: 1,
        extensions: 0,
        skew: 0,
        disturbances: Budgets::new([0, 0, 1, 0, 1, 1, 0, 0, 0], 1),
        ..Bounds::CLARIFY
    },
    Bounds {
        name: "a clarification that nobody answers",
        sessions: 1,
        clarifications: 1,
        extensions: 0,
        skew: 0,
        disturbances: Budgets::new([0, 0, 0, 0, 0, 1, 1, 0, 0], 1),
        ..Bounds::CLARIFY
    },
];

/// Work around a question, in peace: two pieces of it, and three; and two where a reply is forged or malformed, the question
/// cancelled, or the producer crashes.
pub const WORKING: [Bounds; 3] = [
    Bounds {
        name: "work",
        sessions: 1,
        confirmations: 1,
        skew: 0,
        disturbances: Budgets::NONE,
        ..Bounds::WORK
    },
    Bounds {
        name: "three pieces of work",
        sessions: 1,
        confirmations: 1,
        work: 3,
        skew: 0,
        disturbances: Budgets::NONE,
        ..Bounds::WORK
    },
    Bounds {
        name: "work, disturbed",
        sessions: 1,
        confirmations: 1,
        skew: 0,
        disturbances: Budgets::new([0, 0, 1, 0, 1, 1, 0, 1, 0], 1),
        ..Bounds::WORK
    },
];

/// Two questions in one session with every disturbance.
pub const TOGETHER: Bounds = Bounds {
    name: "small, one session",
    sessions: 1,
    ..Bounds::SMALL
};

/// Recorders that differ in all that they can differ in. With ticks of a second everything is close to a deadline, with
/// ticks of a minute nothing.
pub const RECORDERS: [Recorder; 5] = [
    Recorder::FULL,
    Recorder::EVENTS_ALONE,
    Recorder {
        stray_first: false,
        seconds: 1,
        ..Recorder::FULL
    },
    Recorder {
        replies: Replies::Last,
        ids: false,
        ..Recorder::FULL
    },
    Recorder {
        ids: false,
        seconds: 1,
        ..Recorder::EVENTS_ALONE
    },
];

/// Recorders of runs in which a question may have twice the time, and would be counted down if that were more than a minute.
pub const UNCOUNTED: [Recorder; 3] = [
    Recorder {
        seconds: 30,
        ..Recorder::FULL
    },
    Recorder {
        seconds: 30,
        ..Recorder::EVENTS_ALONE
    },
    Recorder {
        ids: false,
        seconds: 30,
        ..Recorder::FULL
    },
];

/// Walks the pairs of model state and judge within each of these bounds, for the streams of each of these recorders, and
/// tells `progress` the number of edges so far. The counts are those of all walks together.
///
/// # Panics
///
/// Where a bound is out of its range.
pub fn walk(bounds: &[Bounds], recorders: &[Recorder], progress: &(dyn Fn(u64) + Sync)) -> Walk {
    let mut all = Walk {
        nodes: 0,
        edges: 0,
        divergences: Vec::new(),
    };
    for (&bounds, &recorder) in bounds
        .iter()
        .flat_map(|bounds| recorders.iter().map(move |recorder| (bounds, recorder)))
    {
        let recorded = Recorded::new(bounds, recorder).expect("the bounds are in range");
        let before = all.edges;
        let one = edges::walk(&recorded, Scope::Pairs, &|edges| progress(before + edges));
        all.nodes += one.nodes;
        all.edges += one.edges;
        all.divergences.extend(one.divergences);
    }
    all
}

/// The AAEP model, and the judge of what its producer is recorded to do.
pub struct Recorded {
    model: Aaep,
    writer: StreamWriter,
}

/// A step of the model, with or without what it may put out besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedAction {
    action: Action,
    with_optional: bool,
}

/// A stream so far, as its writer and its judge remember it. Steps that write nothing share it.
#[derive(Clone)]
pub struct Stream {
    so_far: Arc<SoFar>,
}

#[derive(Clone)]
struct SoFar {
    position: Position,
    linter: Linter,
    line: u64,
    memory: Vec<u8>,
}

impl SoFar {
    fn add(&mut self, records: &[String]) {
        for record in records {
            self.line += 1;
            countersign_lint::judge_line(&mut self.linter, self.line, record.as_bytes());
        }
        self.memory = self.linter.memory();
    }
}

impl Recorded {
    /// Model and judge within these bounds, for the streams of this recorder.
    ///
    /// # Errors
    ///
    /// A bound that is out of its range.
    pub fn new(bounds: Bounds, recorder: Recorder) -> Result<Self, BoundsError> {
        Ok(Self {
            model: Aaep::new(bounds)?.literal(),
            writer: StreamWriter::new(recorder),
        })
    }

    /// The verdict on the stream, should it end here: nothing is found, and where every session has ended nothing is owed.
    fn judge(&self, state: &State, linter: &Linter) -> Result<(), Disagreement> {
        let report = linter.clone().finish("stream");
        if let Some(finding) = accusations(&report).next() {
            return Err(Disagreement::in_outputs(
                finding.clause,
                "a stream without fault".to_owned(),
                format!("line {}: {}", finding.line, finding.message),
            ));
        }
        let count = usize::from(self.model.bounds.sessions);
        let mut sessions = SessionName::ALL.into_iter().take(count);
        let over = sessions.all(|session| !state.session(session).is_active());
        let expected = if over {
            Verdict::Conforming
        } else {
            Verdict::Inconclusive
        };
        // What is possible leaves the verdict open, and accuses nobody.
        if report.verdict == expected || !report.possible.is_empty() {
            return Ok(());
        }
        Err(Disagreement::in_outputs(
            "AAEP-A.1-2",
            expected.word().to_owned(),
            format!("{}: {}", report.verdict.word(), owed(&report)),
        ))
    }
}

/// Warnings that the model earns, for what they stand on is a SHOULD that it does not keep.
///
/// - AAEP-A.3-3: a rejection is told by a transition to `thinking`, also while the tool of another question runs, before the
///   one back to `calling_tool`.
/// - AAEP-6.4.1-3, AAEP-6.4.1-4: the host may want a default of accept where reject would be better.
pub const EARNED: [&str; 3] = ["AAEP-A.3-3", "AAEP-6.4.1-3", "AAEP-6.4.1-4"];

/// What a report finds, but for what the model earns.
fn accusations(report: &LintReport) -> impl Iterator<Item = &Finding> {
    let warnings = report.warnings.iter();
    let warnings = warnings.filter(|finding| !EARNED.contains(&finding.clause));
    report.violations.iter().chain(warnings)
}

/// What a report says it could not judge.
fn owed(report: &LintReport) -> String {
    let reasons = report.not_judged.iter().map(|it| it.reason.as_str());
    reasons.collect::<Vec<_>>().join("; ")
}

/// Whether the step may put out an event besides those that it has to.
fn has_optional_event(step: &Step) -> bool {
    step.optional.iter().any(Output::is_event)
}

impl Sides for Recorded {
    type State = State;
    type Action = RecordedAction;
    type Host = Stream;

    fn begin(&self) -> (State, Stream) {
        let (position, records) = self.writer.begin();
        let mut so_far = SoFar {
            position,
            // The writer tells no stranger's reply from another, and no withdrawal from another change.
            linter: Linter::with(Settings::CAUTIOUS),
            line: 0,
            memory: Vec::new(),
        };
        so_far.add(&records);
        let so_far = Arc::new(so_far);
        (self.model.start(), Stream { so_far })
    }

    fn actions(&self, state: &State, actions: &mut Vec<RecordedAction>) {
        let mut enabled = Vec::new();
        self.model.enabled(state, &mut enabled);
        // What was lost was never recorded, and cannot be taken back here.
        let loses = state.waiting_question().is_some();
        enabled.retain(|action| !(loses && *action == Action::Crash));
        for action in enabled {
            actions.push(RecordedAction {
                action,
                with_optional: false,
            });
            if action.is_call()
                && let Some(step) = self.model.step(state, action)
                && has_optional_event(&step)
            {
                actions.push(RecordedAction {
                    action,
                    with_optional: true,
                });
            }
        }
    }

    fn step(
        &self,
        state: &State,
        host: &mut Stream,
        action: RecordedAction,
    ) -> Result<State, Disagreement> {
        let RecordedAction {
            action,
            with_optional,
        } = action;
        let Some(step) = self.model.step(state, action) else {
            return Err(not_a_call("AAEP-6-1", action));
        };
        let taken = Taken {
            before: state,
            action,
            step: &step,
            with_optional,
        };
        let mut position = host.so_far.position.clone();
        let records = self.writer.write(&mut position, taken);
        if !records.is_empty() {
            let so_far = Arc::make_mut(&mut host.so_far);
            so_far.position = position;
            so_far.add(&records);
            self.judge(&step.next, &so_far.linter)?;
        }
        Ok(step.next)
    }

    /// What the judge remembers. What the writer does follows from it: the numbers that it writes are those that are due,
    /// and the state that it leaves is the one last told.
    fn identity(&self, host: &Stream, hasher: &mut impl Hasher) {
        hasher.write(&host.so_far.memory);
    }

    fn describe(&self, state: &State, action: RecordedAction) -> StepText {
        self.model.in_words(state, action.action)
    }
}
