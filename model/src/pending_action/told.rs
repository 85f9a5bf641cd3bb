//! What the judge is told of one step of the model, and how it is told.
//!
//! The one thing to know: [`Told`] is all of a step that a judge outside can see, and it alone is put into the judge's words.
//! One tick is a second. What waits in the outbox counts as put out in the call that put it there. A crash says how many
//! records were not durable, and what is not known to be carried out comes again.

use crate::judge::{Finding, Name};
use crate::judged::{CallTold, InSearch};
use crate::time::{self, Scale};

use super::PendingAction;
use super::action::Action;
use super::bounds::Disturbance;
use super::judge::PendingActionJudge;
use super::judge::words::{
    self as judged, Call, Decide, Event as Happened, Message as Appended, Outcome, Output as Shown,
    Status, Terms, ToolCall,
};
use super::message::{Approved, Message};
use super::output::{Event, Output, Outputs};
use super::state::{Held, State};
use super::step::Step;
use super::words::{
    Arguments, Decider, Decision, Effect, Nonce, Note, Proposal, SLOTS, SessionName, Slot,
    ToolStatus,
};

/// A call of the ledger and all that it put out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    /// In ticks.
    now: u8,
    /// What is asked.
    pub call: Asked,
    outputs: Outputs,
    /// Whether the host has carried out whatever was put out before.
    is_through: bool,
    /// How many records the host has yet to make durable.
    records: u8,
    /// What can still come.
    ahead: Ahead,
    /// Whether an action can still be proposed afterwards.
    can_propose: bool,
}

/// Actions go by their slots.
pub(super) const NAMES: &[Name] = &[("action ", |action| {
    let slot = Slot::ALL.get(action as usize)?;
    Some(slot.name().to_owned())
})];

/// What can still come of what takes something back. What cannot, the judge need not remember anything for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ahead {
    /// A crash.
    crash: bool,
    /// The snapshot that the host keeps from now on, handed back.
    rollback: bool,
    /// A call at an earlier time than this one.
    earlier: bool,
}

impl Ahead {
    /// After this state.
    fn of(state: &State) -> Self {
        let budgets = &state.budgets;
        Self {
            crash: budgets.affords(Disturbance::Crash),
            rollback: state.snapshot.is_some() && budgets.affords(Disturbance::Rollback),
            earlier: budgets.affords(Disturbance::SetBack),
        }
    }
}

/// What is asked of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// To hold a call until it is decided.
    Propose(Proposal),
    /// The same, of a call that breaks the limits.
    ProposeFlawed,
    /// To take a decision.
    Decide(Message),
    /// To pass a text on.
    Say,
    /// To take a tool for done.
    FinishTool(Slot, ToolStatus),
    /// To take a question back.
    Cancel(Slot),
    /// To end a session.
    EndSession(SessionName),
    /// To serve its timers.
    Tick,
    /// To come back from a crash. Records that are not durable are lost.
    Restart {
        /// Of which actions a run waited, by [`Slot::index`].
        waiting: [bool; SLOTS],
    },
    /// Nothing: the host keeps what there is.
    Snapshot,
    /// Nothing: the host carries out what was put out, or something can no longer come.
    Nothing,
    /// To go back to what was kept.
    Rollback,
}

/// The agent that proposes. The deciders follow it.
const AGENT: u32 = 0;
/// What names nothing: an id or a nonce that was never minted.
const UNKNOWN: u32 = u32::MAX;
/// The one text, tool, run and result.
const SAME: u32 = 0;
/// The one snapshot.
const SNAPSHOT: u32 = 0;

/// The time of a moment, in milliseconds.
fn at(moment: u8) -> i64 {
    Scale::of(1_000).millis(moment)
}

impl InSearch for PendingActionJudge {
    type Told = Told;

    fn is_told(&mut self, told: Told) -> Vec<Finding> {
        if told.is_through {
            self.is_through();
        }
        self.are_not_durable(told.records.into());
        let now = at(told.now);
        if let Asked::Restart { waiting } = told.call {
            let waits = |slot: &Slot| waiting[slot.index()];
            let waiting = Slot::ALL.into_iter().filter(waits);
            let waiting: Vec<u32> = waiting.map(|slot| slot as u32).collect();
            self.loses(now, told.records.into(), &waiting);
        }
        let findings = if let Some(call) = told.call() {
            let (outputs, records) = told.outputs(self);
            self.sees_waiting(now, &call, &outputs, records)
        } else {
            if told.call == Asked::Snapshot {
                self.keeps(SNAPSHOT);
            }
            Vec::new()
        };
        if !told.ahead.crash {
            self.is_through();
        }
        if !told.ahead.rollback {
            self.keeps_nothing();
        }
        if !told.ahead.earlier {
            self.forgets_the_time(now);
        }
        findings
    }

    fn follow_quotient(&mut self, told: Told) {
        self.take_what_is_over_for_alike();
        self.goes_by_full(at(time::on(1)), told.can_propose);
    }
}

impl CallTold for Told {
    type Output = Output;

    fn outputs(&self) -> &[Output] {
        self.outputs.as_slice()
    }

    /// Nothing comes out where nothing is asked.
    fn putting_out(self, outputs: &[Output]) -> Option<Self> {
        let outputs = Outputs::of(outputs)?;
        self.call().map(|_| Self { outputs, ..self })
    }

    fn seen(self) -> Option<Self> {
        let ahead = Ahead {
            crash: false,
            rollback: false,
            earlier: false,
        };
        let seen = Self {
            ahead,
            can_propose: false,
            ..self
        };
        (self.call != Asked::Nothing).then_some(seen)
    }
}

impl Told {
    pub(super) fn of(
        model: &PendingAction,
        before: &State,
        action: Action,
        step: &Step,
    ) -> Option<Self> {
        let call = match action {
            Action::Propose(proposal) => Asked::Propose(proposal),
            Action::ProposeFlawed(_) => Asked::ProposeFlawed,
            Action::CarryOut => Asked::Nothing,
            // A decision that is only validated is still under way: what is due expires, and nothing else.
            Action::Deliver { .. } if step.next.validated.len() > before.validated.len() => {
                Asked::Tick
            }
            Action::Deliver { index } => Asked::Decide(before.network.get(index.into())?),
            Action::Apply { index } => Asked::Decide(before.validated.get(index.into())?),
            Action::Say => Asked::Say,
            Action::FinishTool { slot, status } => Asked::FinishTool(slot, status),
            Action::Cancel { slot } => Asked::Cancel(slot),
            Action::EndSession(session) => Asked::EndSession(session),
            Action::ServeTimer => Asked::Tick,
            Action::Restart => Asked::Restart {
                waiting: Slot::ALL.map(|slot| before.outbox.performs(slot)),
            },
            Action::Snapshot => Asked::Snapshot,
            Action::Rollback => Asked::Rollback,
            Action::Send { .. }
            | Action::Guess
            | Action::Duplicate { .. }
            | Action::Tick
            | Action::SetBack => {
                if Ahead::of(before) == Ahead::of(&step.next) {
                    return None;
                }
                Asked::Nothing
            }
        };
        let at = if call == Asked::Nothing {
            &step.next
        } else {
            before
        };
        // Where no crash could come before, nothing waits.
        let waits = Ahead::of(before).crash;
        let outbox = at.outbox;
        Some(Self {
            now: at.clock,
            call,
            outputs: step.required,
            is_through: outbox.is_empty() || !waits,
            records: if waits {
                u8::try_from(outbox.records()).unwrap_or(u8::MAX)
            } else {
                0
            },
            ahead: Ahead::of(&step.next),
            can_propose: model.can_propose(&step.next),
        })
    }

    /// The call in the judge's words; nothing where the host only keeps what there is.
    fn call(&self) -> Option<Call> {
        let call = match self.call {
            Asked::Propose(proposal) => Call::Propose(self.proposal(proposal, true)),
            Asked::ProposeFlawed => Call::Propose(self.proposal(Proposal::PLAIN, false)),
            Asked::Decide(message) => Call::Decide(decide(message)),
            Asked::Say => Call::Say {
                by: Some(person(Decider::Owner)),
                text: SAME,
            },
            Asked::FinishTool(slot, reported) => Call::FinishTool {
                action: slot as u32,
                status: status(reported),
                result: result(reported),
            },
            Asked::Cancel(slot) => Call::Cancel {
                action: slot as u32,
            },
            Asked::EndSession(session) => Call::EndSession {
                session: session as u32,
            },
            Asked::Tick => Call::Tick,
            Asked::Restart { .. } => Call::Restart { lost: 0 },
            Asked::Rollback => Call::Rollback { snapshot: SNAPSHOT },
            Asked::Snapshot | Asked::Nothing => return None,
        };
        Some(call)
    }

    fn proposal(&self, proposal: Proposal, within_limits: bool) -> judged::Proposal {
        let deciders = (!proposal.by_anyone).then(|| vec![person(Decider::Owner)]);
        judged::Proposal {
            terms: self.proposed(proposal),
            deciders,
            idempotent: proposal.idempotent,
            within_limits,
        }
    }

    fn proposed(&self, proposal: Proposal) -> Terms {
        let held = Held::of(proposal, self.now);
        Terms {
            agent: AGENT,
            session: held.session as u32,
            run: SAME,
            call: call(Arguments::Original),
            effect: match held.effect {
                Effect::Read => judged::Effect::Read,
                Effect::Destructive => judged::Effect::Destructive,
            },
            summary: SAME,
            label: SAME,
            expires_at: held.expiry().map(at),
        }
    }

    /// What came out in the judge's words, each with the number of records before it; and the number of all records.
    fn outputs(&self, judge: &PendingActionJudge) -> (Vec<(usize, Shown)>, usize) {
        let mut records = 0;
        let mut shown = Vec::new();
        for output in self.outputs.iter() {
            let output = match output {
                Output::Record(_) => {
                    records += 1;
                    continue;
                }
                // To the host alone: what has not begun is not to begin.
                Output::Withdraw(_) => continue,
                Output::Append(note, slot) => self.appended(judge, slot, message(note, slot)),
                Output::Expose(slot) => self.appended(judge, slot, prompt(true)),
                Output::AppendText => Shown::Append {
                    message: Appended::Said {
                        by: Some(person(Decider::Owner)),
                        text: SAME,
                    },
                    session: None,
                    text: SAME,
                },
                Output::Event(event, slot) => Shown::Event {
                    event: self.happened(judge, event, slot),
                    text: slot as u32,
                },
                Output::Perform(slot, arguments) => Shown::Perform {
                    action: slot as u32,
                    call: call(arguments),
                },
                Output::InDoubt(slot) => Shown::InDoubt {
                    action: slot as u32,
                },
                Output::Audit(_) => Shown::Audit,
                Output::Refused(_) => Shown::Refused,
            };
            shown.push((records, output));
        }
        (shown, records)
    }

    fn appended(&self, judge: &PendingActionJudge, slot: Slot, message: Appended) -> Shown {
        Shown::Append {
            message,
            session: Some(self.terms(judge, slot).session),
            text: slot as u32,
        }
    }

    fn happened(&self, judge: &PendingActionJudge, event: Event, slot: Slot) -> Happened {
        let action = slot as u32;
        match event {
            Event::Created => Happened::Created {
                action,
                nonce: Some(action),
                terms: self.terms(judge, slot),
            },
            Event::Decided(decision) => Happened::Decided {
                action,
                decision: decided(decision),
            },
            Event::Denied => Happened::Denied { action },
            Event::Executed(reported) => Happened::Executed {
                action,
                status: Some(status(reported)),
                result: None,
            },
            Event::NotRun => Happened::NotRun { action },
            Event::Expired => Happened::Expired { action },
            Event::Cancelled => Happened::Cancelled { action },
        }
    }

    /// What was proposed: now, or as the judge saw it, since what can no longer matter to the ledger leaves its state.
    fn terms(&self, judge: &PendingActionJudge, slot: Slot) -> Terms {
        let now = match self.call {
            Asked::Propose(proposal) => proposal.read_as(judge.reading()),
            Asked::ProposeFlawed
            | Asked::Decide(_)
            | Asked::Say
            | Asked::FinishTool(..)
            | Asked::Cancel(_)
            | Asked::EndSession(_)
            | Asked::Tick
            | Asked::Restart { .. }
            | Asked::Snapshot
            | Asked::Nothing
            | Asked::Rollback => Proposal::PLAIN,
        };
        judge
            .terms(slot as u32)
            .unwrap_or_else(|| self.proposed(now))
    }
}

fn decide(message: Message) -> Decide {
    let action = message.id.map_or(UNKNOWN, |slot| slot as u32);
    Decide {
        action,
        nonce: match message.nonce {
            Nonce::Absent => None,
            Nonce::Right => Some(action),
            Nonce::Wrong => Some(UNKNOWN),
        },
        decision: decided(message.decision),
        by: Some(person(message.by)),
        arguments: match message.approved {
            Approved::Unsaid => None,
            // What means the same is the same to approve; what runs are the bytes that were proposed (PA-3).
            Approved::Alike => Some(Arguments::Original as u32),
            Approved::Edited => Some(Arguments::Edited as u32),
        },
    }
}

/// A call of the one tool with these arguments, byte by byte.
const fn call(arguments: Arguments) -> ToolCall {
    ToolCall {
        tool: SAME,
        arguments: arguments as u32,
    }
}

const fn person(decider: Decider) -> u32 {
    AGENT + 1 + decider as u32
}

const fn prompt(exposes: bool) -> Appended {
    Appended::Prompt {
        summary: Some(SAME),
        label: Some(SAME),
        exposes,
    }
}

const fn message(note: Note, slot: Slot) -> Appended {
    let outcome = match note {
        Note::Request => return prompt(false),
        Note::Call => {
            return Appended::ToolCall {
                action: slot as u32,
                call: call(Arguments::Original),
            };
        }
        Note::Denied => Outcome::Denied,
        Note::Expired => Outcome::Expired,
        Note::Cancelled => Outcome::Cancelled,
        Note::Result(reported) => Outcome::Finished(status(reported)),
    };
    Appended::ToolResult {
        action: slot as u32,
        outcome,
        result: match note {
            Note::Result(reported) => result(reported),
            Note::Request | Note::Call | Note::Denied | Note::Expired | Note::Cancelled => None,
        },
    }
}

const fn decided(decision: Decision) -> judged::Decision {
    match decision {
        Decision::Allow => judged::Decision::Allow,
        Decision::Deny => judged::Decision::Deny,
    }
}

const fn status(status: ToolStatus) -> Status {
    match status {
        ToolStatus::Success => Status::Success,
        ToolStatus::Error => Status::Error,
        ToolStatus::NotRun => Status::NotRun,
    }
}

/// What a tool returns, if it ran.
const fn result(status: ToolStatus) -> Option<u32> {
    match status {
        ToolStatus::Success | ToolStatus::Error => Some(SAME),
        ToolStatus::NotRun => None,
    }
}
