//! What a run of pending actions has seen so far, from which its next calls are made.
//!
//! The one thing to know: it is the same whoever is asked, the executor ([`super::host`]) or any implementation
//! ([`super::driven`]); only how the party names things is another.

use std::collections::BTreeSet;

use countersign_model::pending_action::judge::words as judged;
use countersign_reference::pending_action::{
    Decide, Decision, Effect, Input, Propose, Text, ToolStatus,
};
use countersign_reference::time::Timestamp;

use super::names::{self, Names};
use super::step::{Approved, Asked, Decided, Decider, Proposed, Quoted, Session, Which};
use crate::wide::Clock;

/// When a run begins, in milliseconds since the epoch.
pub(super) const START: i64 = 1_780_000_000_000;

/// As many snapshots are kept in a run: the judge keeps its account of each.
pub(super) const MOST_SNAPSHOTS: usize = 8;

/// What was seen. The party names actions by `A`, and their nonces by `N`.
#[derive(Clone)]
pub(super) struct World<A, N> {
    pub clock: i64,
    latest: i64,
    deadlines: BTreeSet<i64>,
    /// How often the session at each place was followed by another.
    sessions: [u8; 8],
    pub names: Names<A, N>,
}

impl<A: Ord + ToString, N: Ord + ToString> World<A, N> {
    pub(super) fn new() -> Self {
        Self {
            clock: START,
            latest: START,
            deadlines: BTreeSet::new(),
            sessions: [0; 8],
            names: Names::default(),
        }
    }

    /// Time passes, or is set back.
    pub(super) fn pass(&mut self, clock: Clock) {
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

    /// What a step asks of any party. Nothing where there is nothing that it could be about, and where it asks for its state.
    pub(super) fn call(&mut self, asked: Asked) -> Option<Call> {
        Some(match asked {
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
            Asked::Tick => Call::of(judged::Call::Tick, Input::Tick),
            Asked::Snapshot | Asked::Rollback { .. } | Asked::Restart { .. } => return None,
        })
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
            // There are parties without any.
            Quoted::Right => Some(self.names.nonce(action)).filter(|(_, text)| !text.is_empty()),
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
}

/// A call on both sides.
pub(super) struct Call {
    pub call: judged::Call,
    pub input: Input,
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
