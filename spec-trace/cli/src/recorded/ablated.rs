//! Whether the judge sees it in the stream when a producer leaves a rule out.
//!
//! The one thing to know: a counterexample is looked at as it stands, and brought to its end, at once, later, or after
//! another question, for some faults show only by what never comes.

use std::fmt::{self, Display};

use countersign_model::aaep::Aaep;
use countersign_model::aaep::action::Action;
use countersign_model::aaep::bounds::{Bounds, Budgets, Variety};
use countersign_model::aaep::rules::{Guard, GuardRow, PROPERTIES, Rules};
use countersign_model::aaep::state::{Phase, State};
use countersign_model::aaep::words::{
    Class, Decision, Piece, Risk, SessionName, SessionOutcome, Slot,
};
use countersign_model::bounds::Bounds as _;
use countersign_model::judged::{Limit, along, search};
use countersign_model::properties::PropertyRow;

use super::accusations;
use super::explained::is_explained;
use super::writer::{Recorder, StreamWriter, Taken};
use countersign_lint::finding::Finding;
use countersign_lint::report::LintReport;
use countersign_lint::rules::Weight;
use countersign_lint::stream::Linter;

/// The longest counterexamples that are looked for, in steps: at first as long as suffices for one of each rule, and where
/// that one does not show as long as the longest of the shortest ones.
const LONGEST: [usize; 2] = [9, 10];

/// What the judge makes of the producer that leaves one rule out.
#[derive(Clone, Debug)]
pub struct Ablated {
    /// The rule.
    pub guard: &'static GuardRow,
    /// The property whose shortest counterexample was written down; the first that shows, or of none the first.
    pub property: String,
    /// The stream.
    pub records: Vec<String>,
    /// What shows.
    pub shows: Shows,
}

/// What shows of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The judge finds a clause of the rule broken.
    Flagged {
        /// The clause that the finding is named after.
        clause: &'static str,
        /// The clause of the rule among those that it breaks.
        of_rule: &'static str,
        /// Its line.
        line: u64,
        /// Whether it is a violation.
        weight: Weight,
    },
    /// The judge finds a fault, and names other clauses.
    Otherwise {
        /// The clause that the finding is named after.
        clause: &'static str,
        /// Its line.
        line: u64,
    },
    /// The judge finds nothing, and each stream of each counterexample could be that of a producer that keeps every rule.
    Invisible,
    /// The judge finds nothing, and no run of the specification within these bounds explains the stream: that a conforming
    /// producer may write it all the same needs a reason.
    Unexplained,
}

impl Display for Shows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flagged {
                clause,
                of_rule,
                line,
                weight,
            } => {
                let weight = match weight {
                    Weight::Violation => "violation",
                    Weight::Warning => "warning",
                };
                write!(formatter, "line {line}: {weight} of {clause}")?;
                if clause == of_rule {
                    Ok(())
                } else {
                    write!(formatter, ", and of {of_rule}")
                }
            }
            Self::Otherwise { clause, line } => {
                write!(formatter, "line {line}: found as {clause}")
            }
            Self::Invisible => write!(formatter, "not visible, and explained by the model"),
            Self::Unexplained => write!(formatter, "not visible, nor explained by the model"),
        }
    }
}

/// A counterexample, and where it went on from there.
struct Counterexample {
    property: String,
    streams: Vec<Vec<String>>,
}

/// How far the search goes for a run of the specification that explains a stream: one that has more to choose from than the
/// runs that are to be explained.
const EXPLAINING: Bounds = Bounds {
    name: "explaining",
    variety: Variety::Many,
    disturbances: Budgets::new([1; 9], 2),
    ..LASTING
};

/// Where runs go on: time passes as long as something can be asked for, long after a deadline.
const LASTING: Bounds = Bounds {
    name: "lasting",
    confirmations: 3,
    ticks: 4,
    ..Bounds::SMALL
};

/// Where clarifications are asked for, and questions have more time: the runs of a rule about those.
const CLARIFYING: Bounds = Bounds {
    name: "clarifying",
    sessions: 1,
    ..Bounds::CLARIFY
};

/// Like [`LASTING`] and [`EXPLAINING`] for those.
const LASTING_CLARIFYING: Bounds = Bounds {
    ticks: 4,
    ..CLARIFYING
};

const EXPLAINING_CLARIFYING: Bounds = Bounds {
    variety: Variety::Many,
    disturbances: Budgets::new([1; 9], 2),
    ..LASTING_CLARIFYING
};

/// Where tools run that nobody is asked about, output is written and sessions are handed off: the runs of a rule about those.
const WORKING: Bounds = Bounds {
    name: "working",
    sessions: 1,
    ..Bounds::WORK
};

/// Like [`LASTING`] and [`EXPLAINING`] for those.
const LASTING_WORKING: Bounds = Bounds {
    confirmations: 3,
    ticks: 4,
    ..WORKING
};

const EXPLAINING_WORKING: Bounds = Bounds {
    work: 3,
    variety: Variety::Many,
    ..LASTING_WORKING
};

/// What no stream can show: that a call of the host is refused, and whom an event went to.
const OFF_STREAM: [Guard; 2] = [Guard::StopsWhileBlocked, Guard::LeavesOneOut];

/// Leaves one rule out, and judges the streams of what that breaks at small bounds. Nothing, if that is free, or no stream
/// shows it.
///
/// # Panics
///
/// Never: the bounds are in range, and each rule that is not free breaks something when it is left out.
pub fn leave_out(guard: &'static GuardRow, recorder: Recorder) -> Option<Ablated> {
    if guard.free.is_some() || OFF_STREAM.contains(&guard.guard) {
        return None;
    }
    let shows = |bounds: Bounds| guard.with.is_none_or(|many| bounds.shows(many));
    // A question that has more time is not to be counted down.
    let (bounds, seconds) = if shows(Bounds::SMALL) {
        ([Bounds::SMALL, LASTING, EXPLAINING], recorder.seconds)
    } else if shows(WORKING) {
        let bounds = [WORKING, LASTING_WORKING, EXPLAINING_WORKING];
        (bounds, recorder.seconds)
    } else {
        let bounds = [CLARIFYING, LASTING_CLARIFYING, EXPLAINING_CLARIFYING];
        (bounds, recorder.seconds / 2)
    };
    let [specification, lasting, explaining] = &bounds.map(within);
    let writer = StreamWriter::new(Recorder {
        seconds,
        ..recorder
    });
    let mut best: Option<Ablated> = None;
    for steps in LONGEST {
        for counterexample in counterexamples(specification, lasting, guard, &writer, steps) {
            let ablated = counterexample.judged(explaining, guard, &writer);
            if matches!(ablated.shows, Shows::Flagged { .. }) {
                return Some(ablated);
            }
            let worse = best
                .as_ref()
                .is_none_or(|it| it.shows.rank() > ablated.shows.rank());
            if worse {
                best = Some(ablated);
            }
        }
    }
    Some(best.expect("a rule that breaks nothing has no counterexample, and each breaks something"))
}

/// The literal model within these bounds.
fn within(bounds: Bounds) -> Aaep {
    let model = Aaep::new(bounds).expect("the bounds are in range");
    model.literal()
}

impl Counterexample {
    /// What shows of it, in the first of its streams in which anything does.
    fn judged(
        self,
        specification: &Aaep,
        guard: &'static GuardRow,
        writer: &StreamWriter,
    ) -> Ablated {
        let Self { property, streams } = &self;
        let ablated = |records: &Vec<String>, shows| Ablated {
            guard,
            property: property.clone(),
            records: records.clone(),
            shows,
        };
        let reports: Vec<_> = streams.iter().map(|records| judged(records)).collect();
        let looked_at = || streams.iter().zip(&reports);
        let flagged = looked_at().find_map(|(records, report)| {
            flagged(guard, report).map(|shows| ablated(records, shows))
        });
        let otherwise = || {
            looked_at().find_map(|(records, report)| {
                let finding = accusations(report).next()?;
                let (clause, line) = (finding.clause, finding.line);
                Some(ablated(records, Shows::Otherwise { clause, line }))
            })
        };
        let unexplained = || {
            let is_not = |records: &&Vec<String>| !is_explained(specification, writer, records);
            let records = streams.iter().find(is_not)?;
            Some(ablated(records, Shows::Unexplained))
        };
        let shows = flagged.or_else(otherwise).or_else(unexplained);
        shows.unwrap_or_else(|| ablated(&streams[0], Shows::Invisible))
    }
}

impl Shows {
    /// What is seen comes before what should be seen, and that before what nobody could see.
    const fn rank(&self) -> u8 {
        match self {
            Self::Flagged { .. } => 0,
            Self::Otherwise { .. } => 1,
            Self::Unexplained => 2,
            Self::Invisible => 3,
        }
    }
}

/// The verdict on these records.
pub fn judged(records: &[String]) -> LintReport {
    let mut linter = Linter::new();
    for (record, line) in records.iter().zip(1..) {
        countersign_lint::judge_line(&mut linter, line, record.as_bytes());
    }
    linter.finish("stream")
}

/// The first finding that names a clause of the rule; violations before warnings.
fn flagged(guard: &GuardRow, report: &LintReport) -> Option<Shows> {
    accusations(report).find_map(|finding| {
        let of_rule = guard.clauses.iter().find(|clause| names(finding, clause))?;
        Some(Shows::Flagged {
            clause: finding.clause,
            of_rule,
            line: finding.line,
            weight: finding.weight,
        })
    })
}

fn names(finding: &Finding, clause: &str) -> bool {
    finding.clause == clause || finding.also.contains(&clause)
}

/// The shortest counterexample to each property that breaks without the rule: those first that say what the rule is for,
/// then the shorter ones.
fn counterexamples(
    specification: &Aaep,
    lasting: &Aaep,
    guard: &'static GuardRow,
    writer: &StreamWriter,
    steps: usize,
) -> Vec<Counterexample> {
    let rules = Rules::all().without(guard.guard);
    let model = specification.with(rules, specification.reading);
    let lasting = lasting.with(rules, specification.reading);
    let limit = Limit {
        steps,
        ..Limit::default()
    };
    let found = search(&model, limit, |_| {}).found;
    // A run that breaks a guarantee, and one that goes against the text alone, may show in different ways.
    let of = |row: &'static PropertyRow| {
        let named = found.iter();
        let named = named.filter(|((clause, _), _)| *clause == row.clauses[0]);
        named.map(move |(_, found)| (row, &found.run))
    };
    let mut broken: Vec<_> = PROPERTIES.iter().flat_map(of).collect();
    broken.sort_by_key(|(row, run)| (row.clauses[0] != guard.clauses[0], run.len()));
    let counterexample = |(row, run): (&PropertyRow, &Vec<Action>)| {
        let alike = alike(&lasting, row.clauses[0], run);
        let streams = alike
            .iter()
            .flat_map(|run| Goes::ALL.map(|goes| stream(&lasting, writer, run, goes)));
        Counterexample {
            property: row.name(),
            streams: streams.collect(),
        }
    };
    broken.into_iter().map(counterexample).collect()
}

/// From a full tick to the next while something can be asked for: over the moment behind it.
const A_TICK: [Action; 2] = [TICK; 2];

/// The run, and others like it, as far as they break the property too: with every action irreversible, for only of those
/// each has to be asked for; and with the last step a tick later, for at the deadline itself nobody can tell who was first.
fn alike(model: &Aaep, clause: &str, run: &[Action]) -> Vec<Vec<Action>> {
    let mut later = run.to_vec();
    let last = later.pop();
    later.extend(A_TICK.into_iter().chain(last));
    let others = [
        of_class(run, |class| Class {
            risk: Risk::High,
            irreversible: true,
            default: Decision::Reject,
            ..class
        }),
        of_class(run, |class| Class {
            irreversible: true,
            ..class
        }),
        later,
    ];
    let breaks_too = others.into_iter().filter(|run| {
        let mut findings = along(model, run).into_iter().flatten();
        findings.any(|finding| finding.names(clause))
    });
    [run.to_vec()].into_iter().chain(breaks_too).collect()
}

/// The same run with other classes of actions.
fn of_class(run: &[Action], change: impl Fn(Class) -> Class) -> Vec<Action> {
    let mut run = run.to_vec();
    for action in &mut run {
        if let Action::Ask { class, .. } = action {
            *class = change(*class);
        }
    }
    run
}

/// How a run goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    NoFurther,
    ToItsEnd,
    /// After a tick or two.
    ToItsEndLater,
    /// After another question.
    ToItsEndAskingAgain,
    /// After another question, and its deadline.
    ToItsEndAskingAgainLater,
}

const TICK: Action = Action::Tick;

/// Another question.
const ASK: Action = Action::Ask {
    session: SessionName::A,
    class: Class {
        default: Decision::Accept,
        ..Class::PLAIN
    },
    timeout: 1,
    same_action: false,
};

impl Goes {
    const ALL: [Self; 5] = [
        Self::NoFurther,
        Self::ToItsEnd,
        Self::ToItsEndLater,
        Self::ToItsEndAskingAgain,
        Self::ToItsEndAskingAgainLater,
    ];

    /// What happens first.
    const fn first(self) -> &'static [Action] {
        match self {
            Self::NoFurther | Self::ToItsEnd => &[],
            Self::ToItsEndLater => &[TICK; 5],
            Self::ToItsEndAskingAgain => &[ASK],
            // Time passes as long as a question waits.
            Self::ToItsEndAskingAgainLater => &[ASK, Action::CarryOut, TICK, TICK, TICK, TICK],
        }
    }
}

/// The stream of a run.
fn stream(model: &Aaep, writer: &StreamWriter, run: &[Action], goes: Goes) -> Vec<String> {
    let (mut position, mut records) = writer.begin();
    let mut state = model.start();
    let mut to_go = run.iter().chain(goes.first()).copied();
    loop {
        let next = match to_go.next() {
            Some(action) => Some(action),
            None if goes == Goes::NoFurther => None,
            None => towards_the_end(model, &state),
        };
        let Some(action) = next else {
            return records;
        };
        let Some(step) = model.step(&state, action) else {
            continue;
        };
        let taken = Taken {
            before: &state,
            action,
            step: &step,
            with_optional: false,
        };
        records.extend(writer.write(&mut position, taken));
        state = step.next;
    }
}

/// The next step of a producer that finishes what it has begun: actions are carried out, tools return, sessions complete.
fn towards_the_end(model: &Aaep, state: &State) -> Option<Action> {
    if !state.outbox.is_empty() {
        return Some(Action::CarryOut);
    }
    let finishes = |slot: &Slot| {
        let confirmation = state.confirmation(*slot);
        confirmation.phase == Phase::Accepted && state.session(confirmation.session).is_active()
    };
    if let Some(slot) = Slot::ALL.into_iter().find(finishes) {
        return Some(Action::FinishTool { slot });
    }
    if let Some(session) = state.work.tool {
        return Some(Action::Work(Piece::Finish { session }));
    }
    let count = usize::from(model.bounds.sessions);
    let mut sessions = SessionName::ALL.into_iter().take(count);
    let session = sessions.find(|&session| state.session(session).is_active())?;
    Some(Action::EndSession {
        session,
        outcome: SessionOutcome::Completed,
    })
}
