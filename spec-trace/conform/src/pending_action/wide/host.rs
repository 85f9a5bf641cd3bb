//! The executor and what its host keeps, in a wide run: steps become calls with real bytes.
//!
//! The one thing to know: the host is as simple as one can be. A restart has nothing but the records, read back from what was
//! written down, and what it knows to be carried out; a snapshot is a text.

use std::collections::BTreeSet;

use countersign_model::pending_action::judge::{PendingActionJudge, words as judged};
use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    Damaged, Decide, Decision, Effect, Input, Ledger, Outcome, Output, Propose, Record, Settings,
    Snapshot, Text, ToolStatus,
};
use countersign_reference::time::Timestamp;

use super::names::{self, Names};
use super::step::{Approved, Asked, Decided, Decider, Proposed, Quoted, Session, Step, Which};
use crate::wide::{Clock, Shown};

/// When a run begins, in milliseconds since the epoch.
const START: i64 = 1_780_000_000_000;

/// As many snapshots are kept in a run: the judge keeps its account of each.
const MOST_SNAPSHOTS: usize = 8;

/// The executor, and what its host keeps.
pub struct Host {
    ledger: Ledger,
    settings: Settings,
    ids: SequentialIds,
    journal: Vec<Record>,
    /// As many of the journal's records were read back from what was written down; the others are when they are needed.
    read: usize,
    snapshots: Vec<String>,
    /// What the last call put out, without its records.
    last: Vec<Output>,
    /// How many outputs of the host's own came after them: a refusal, or a snapshot.
    behind: usize,
    /// How many outputs behind the records past the watermark are known to be carried out: the first so many of them.
    carried: usize,
    clock: i64,
    latest: i64,
    deadlines: BTreeSet<i64>,
    /// How often the session at each place was followed by another.
    sessions: [u8; 8],
    pub(super) names: Names,
}

impl Host {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            ledger: Ledger::new(settings),
            settings,
            ids: SequentialIds::new(),
            journal: Vec::new(),
            read: 0,
            snapshots: Vec::new(),
            last: Vec::new(),
            behind: 0,
            carried: 0,
            clock: START,
            latest: START,
            deadlines: BTreeSet::new(),
            sessions: [0; 8],
            names: Names::default(),
        }
    }

    /// Takes a step; nothing where there is nothing that it could be about, or where it is left out.
    pub(super) fn take_step(&mut self, step: Step) -> Option<Shown<PendingActionJudge>> {
        self.pass(step.clock);
        let asked = match step.asked {
            Asked::Propose(proposed) => self.propose(proposed),
            Asked::Decide(decided) => self.decide(decided)?,
            Asked::Say { by, text } => Call::of(
                judged::Call::Say {
                    by: names::person(&said_by(by)),
                    text: text.into(),
                },
                Input::Say {
                    by: said_by(by).into(),
                    text: format!("u{text}").into(),
                },
            ),
            Asked::Finish {
                action,
                failed,
                never_begun,
                result,
            } => {
                let status = match (never_begun, failed) {
                    (true, _) => ToolStatus::NotRun,
                    (false, true) => ToolStatus::Error,
                    (false, false) => ToolStatus::Success,
                };
                self.finish(action, status, result)?
            }
            Asked::Cancel { action } => {
                let (action, action_id) = self.names.which(action)?;
                let input = Input::Cancel { action_id };
                Call::of(judged::Call::Cancel { action }, input)
            }
            Asked::EndSession { session } => self.end_session(session),
            Asked::Snapshot => return self.snapshot(),
            Asked::Rollback { snapshot } => return self.roll_back(snapshot),
            Asked::Restart { lost } => return Some(self.restart(lost)),
            Asked::Tick => Call::of(judged::Call::Tick, Input::Tick),
        };
        self.all_was_carried_out();
        let outcome = self.handle(self.clock, asked.input);
        Some(self.show(asked.call, outcome))
    }

    fn pass(&mut self, clock: Clock) {
        self.clock = match clock {
            Clock::Stays => self.clock,
            Clock::Ahead(span) => self.clock.saturating_add(span),
            Clock::Back(span) => self.clock.saturating_sub(span),
            Clock::Deadline(place, beside) => {
                let mut to_come = self.deadlines.range(self.latest + 1..);
                let deadline = to_come.nth(place.into());
                deadline.map_or(self.clock, |deadline| deadline.saturating_add(beside))
            }
        };
        self.latest = self.latest.max(self.clock);
    }

    fn propose(&mut self, proposed: Proposed) -> Call {
        let session = self.session(proposed.session);
        let agent = proposed.agent % names::PEOPLE;
        let run = proposed.agent / 4;
        let arguments = names::proposed_arguments(proposed.arguments);
        let expires_at = proposed
            .expires_in
            .map(|span| self.latest.saturating_add(span));
        let deciders = proposed.deciders.map(|bits| {
            let people = (0..8).filter(|bit| bits & (1 << bit) != 0);
            people.collect::<Vec<u32>>()
        });
        let words = proposed.words % 16;
        let (effect, judged_effect) = EFFECTS[usize::from(proposed.effect) % EFFECTS.len()];
        let mut input = Propose {
            agent_id: format!("p{agent}"),
            session_id: format!("s{session}"),
            run_id: format!("r{run}"),
            tool: format!("t{}", proposed.tool),
            arguments: Text::new(names::ARGUMENTS[arguments].0),
            effect,
            summary: format!("q{words}"),
            label: format!("b{words}"),
            expires_at: expires_at.map(Timestamp::from_millis),
            deciders: deciders
                .as_ref()
                .map(|people| people.iter().map(|person| format!("p{person}")).collect()),
            idempotent: proposed.idempotent,
        };
        let is_spoilt = names::spoil(&mut input, proposed.words);
        let is_read = names::means(arguments).is_some();
        let has_deciders = deciders.as_ref().is_none_or(|people| !people.is_empty());
        self.deadlines.extend(expires_at);
        let proposal = judged::Proposal {
            terms: judged::Terms {
                agent: agent.into(),
                session,
                run: run.into(),
                call: judged::ToolCall {
                    tool: proposed.tool.into(),
                    arguments: names::number(arguments),
                },
                effect: judged_effect,
                summary: words.into(),
                label: words.into(),
                expires_at,
            },
            deciders,
            idempotent: proposed.idempotent,
            within_limits: !is_spoilt && is_read && has_deciders,
        };
        Call::of(judged::Call::Propose(proposal), Input::Propose(input))
    }

    fn decide(&mut self, decided: Decided) -> Option<Call> {
        let (action, action_id) = self.names.which(decided.action)?;
        let quoted = match decided.nonce {
            Quoted::Absent => None,
            Quoted::Right => Some(self.names.nonce(action)),
            Quoted::Neighbour => Some(self.names.nonce(action.saturating_sub(1))),
            Quoted::Unknown => Some((names::UNKNOWN, "nonce_?".to_owned())),
        };
        let known = self.names.proposal(action);
        let by = match decided.by {
            Decider::Entitled(place) => {
                let listed = known.and_then(|known| known.deciders.as_ref());
                let listed = listed.filter(|people| !people.is_empty());
                let place = usize::from(place);
                let person =
                    listed.map_or(names::number(place), |people| people[place % people.len()]);
                format!("p{person}")
            }
            Decider::Person(person) => format!("p{}", person % names::PEOPLE),
            Decider::Blank => " \t".to_owned(),
        };
        let proposed = known.map(|known| known.terms.call.arguments);
        let approved = decided.arguments.map(|approved| match approved {
            Approved::Same(place) => names::same_arguments(proposed, place),
            Approved::Any(place) => usize::from(place) % names::ARGUMENTS.len(),
        });
        let call = judged::Decide {
            action,
            nonce: quoted.as_ref().map(|(nonce, _)| *nonce),
            decision: if decided.allows {
                judged::Decision::Allow
            } else {
                judged::Decision::Deny
            },
            by: names::person(&by),
            arguments: approved.map(|approved| names::approved(proposed, approved)),
        };
        let input = Decide {
            action_id,
            nonce: quoted.map(|(_, text)| text),
            decision: if decided.allows {
                Decision::Allow
            } else {
                Decision::Deny
            },
            by,
            arguments: approved.map(|approved| Text::new(names::ARGUMENTS[approved].0)),
        };
        Some(Call::of(judged::Call::Decide(call), Input::Decide(input)))
    }

    fn finish(&mut self, action: Which, status: ToolStatus, result: u8) -> Option<Call> {
        let (action, action_id) = self.names.which(action)?;
        let is_returned = result > 0;
        let text = is_returned.then(|| Text::new(format!("v{result}")));
        Some(Call::of(
            judged::Call::FinishTool {
                action,
                status: names::status(status),
                result: is_returned.then_some(result.into()),
            },
            Input::FinishTool {
                action_id,
                status,
                result: text.unwrap_or_default(),
            },
        ))
    }

    fn end_session(&mut self, session: Session) -> Call {
        let name = self.session(session);
        let place = usize::from(session.place) % self.sessions.len();
        if name == session_name(place, self.sessions[place]) {
            self.sessions[place] = self.sessions[place].saturating_add(1);
        }
        let input = Input::EndSession {
            session_id: format!("s{name}"),
        };
        Call::of(judged::Call::EndSession { session: name }, input)
    }

    fn session(&self, session: Session) -> u32 {
        let place = usize::from(session.place) % self.sessions.len();
        let now = self.sessions[place];
        let before = if session.ended {
            now.saturating_sub(1)
        } else {
            now
        };
        session_name(place, before)
    }

    fn snapshot(&mut self) -> Option<Shown<PendingActionJudge>> {
        if self.snapshots.len() == MOST_SNAPSHOTS {
            return None;
        }
        self.all_was_carried_out();
        let outcome = self.handle(self.clock, Input::Tick);
        let text = serde_json::to_string(&self.ledger.snapshot()).expect("it can be written down");
        let mut shown = self.show(judged::Call::Snapshot, outcome);
        let snapshot = names::number(self.snapshots.len());
        shown.outputs.push(judged::Output::Snapshot { snapshot });
        self.behind = 1;
        self.snapshots.push(text);
        Some(shown)
    }

    /// PA-8: the host hands back an older state with the whole journal, which is what undoes nothing. A host that hands back an
    /// older journal as well has to guard against that itself.
    fn roll_back(&mut self, snapshot: u8) -> Option<Shown<PendingActionJudge>> {
        let place = usize::from(snapshot).checked_rem(self.snapshots.len())?;
        self.all_was_carried_out();
        let mut outcome = self.handle(self.clock, Input::Tick);
        let text = &self.snapshots[place];
        let older: Snapshot = serde_json::from_str(text).expect("it was written down");
        let latest = self.ledger.now().millis();
        let through = self.ledger.watermark();
        let call = judged::Call::Rollback {
            snapshot: names::number(place),
        };
        let Ok(ledger) = self.rebuild(Some(older), through) else {
            return Some(self.refuse(call, outcome));
        };
        self.ledger = ledger;
        let due = self.handle(latest, Input::Tick);
        outcome.outputs.extend(due.outputs);
        Some(self.show(call, outcome))
    }

    /// PA-10, PA-11: the process dies, and has lost as many outputs of the last call.
    fn restart(&mut self, lost: u8) -> Shown<PendingActionJudge> {
        let lost = usize::from(lost).min(self.last.len() + self.behind);
        let carried_out = &self.last[..self.last.len() - lost.saturating_sub(self.behind)];
        self.carried += carried_out.iter().filter(|it| names::is_told(it)).count();
        if lost == 0 {
            self.all_was_carried_out();
        }
        let latest = self.ledger.now().millis().max(self.clock);
        let call = judged::Call::Restart { lost };
        let Ok(ledger) = self.rebuild(None, self.ledger.watermark()) else {
            let outcome = self.handle(latest, Input::Tick);
            return self.refuse(call, outcome);
        };
        self.ledger = ledger;
        let mut outcome = self.handle(latest, Input::Restart);
        let mut known = self.carried;
        outcome.outputs.retain(|output| {
            let is_known = known > 0 && output.record().is_none();
            known -= usize::from(is_known);
            !is_known
        });
        self.show(call, outcome)
    }

    fn rebuild(&mut self, snapshot: Option<Snapshot>, through: u64) -> Result<Ledger, Damaged> {
        for record in &mut self.journal[self.read..] {
            let written = serde_json::to_string(record).expect("it can be written down");
            *record = serde_json::from_str(&written).expect("it was written down");
        }
        self.read = self.journal.len();
        let journal = self.journal.iter().cloned();
        Ledger::rebuild(self.settings, snapshot, journal, through)
    }

    /// Whoever asks further has carried out what was put out before.
    fn all_was_carried_out(&mut self) {
        self.ledger.carried(self.ledger.recorded());
        self.carried = 0;
    }

    /// Lets the executor do it, and keeps what it records.
    fn handle(&mut self, now: i64, input: Input) -> Outcome {
        let now = Timestamp::from_millis(now);
        let outcome = self.ledger.handle(now, &mut self.ids, input);
        let records = outcome.outputs.iter().filter_map(Output::record);
        self.journal.extend(records.cloned());
        outcome
    }

    /// What the host kept is no state of the executor, by its own account.
    fn refuse(&mut self, call: judged::Call, outcome: Outcome) -> Shown<PendingActionJudge> {
        let mut shown = self.show(call, outcome);
        shown.outputs.push(judged::Output::Refused);
        self.behind += 1;
        shown
    }

    fn show(&mut self, call: judged::Call, outcome: Outcome) -> Shown<PendingActionJudge> {
        let told = outcome.outputs.into_iter();
        let told: Vec<Output> = told.filter(|output| output.record().is_none()).collect();
        let mut outputs = self.names.outputs(&call, &told, &self.last);
        outputs.extend(outcome.refused.map(|_| judged::Output::Refused));
        self.behind = outputs.len() - told.len();
        self.last = told;
        Shown {
            now: self.clock,
            call,
            outputs,
        }
    }
}

/// A call on both sides.
struct Call {
    call: judged::Call,
    input: Input,
}

impl Call {
    const fn of(call: judged::Call, input: Input) -> Self {
        Self { call, input }
    }
}

const EFFECTS: [(Effect, judged::Effect); 4] = [
    (Effect::Read, judged::Effect::Read),
    (Effect::Write, judged::Effect::Write),
    (Effect::Destructive, judged::Effect::Destructive),
    (Effect::External, judged::Effect::External),
];

fn session_name(place: usize, followed: u8) -> u32 {
    names::number(place) + 8 * u32::from(followed)
}

fn said_by(by: u8) -> String {
    if by < names::PEOPLE {
        format!("p{by}")
    } else {
        " ".to_owned()
    }
}
