//! What the judge keeps: what was asked, decided, run and told.
//!
//! The one thing to know: it follows the calls and what was seen to come out of them, never what a producer should hold. A
//! confirmation that was not handled as it should have been has [`Phase::Astray`]: what became of it was said once, and
//! from then on nothing is required of it; that it does not run twice is.

use std::collections::{BTreeMap, BTreeSet};

use super::call::{Allowed, Decision, Output, State};

/// The account of one producer. Its sizes are those of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Account {
    /// The greatest time that any call has borne, over restarts too.
    pub clock: i64,
    /// How many calls there were.
    pub calls: u64,
    pub sessions: BTreeMap<u32, Session>,
    pub subscriptions: BTreeMap<u32, Subscription>,
    /// How many subscriptions are open and can reply.
    pub capable: usize,
    /// Every confirmation ever asked for, by its token.
    pub confirmations: BTreeMap<u32, Confirmation>,
    /// The deadlines still ahead, with their tokens.
    pub deadlines: BTreeSet<(i64, u32)>,
    /// The token with which each action, of each session, was last asked about.
    pub last_asked: BTreeMap<(u32, u32), u32>,
    pub event_ids: BTreeSet<u32>,
    /// What senders get to see whose reply was ignored.
    pub seen_by_ignored: Option<Vec<u32>>,
    /// What came out of the last call.
    pub last_outputs: Vec<Output>,
}

impl Account {
    /// Drops what a model of a producer cannot get wrong, so that no later finding depends on it: ids of events, which it has
    /// none of, times and counters, which only grow, and outputs, of which it loses none once they are shown.
    pub(super) fn forget(&mut self) {
        self.clock = i64::MIN;
        self.event_ids.clear();
        self.last_outputs.clear();
        self.calls = 0;
        for confirmation in self.confirmations.values_mut() {
            if let Phase::Resolved { call, .. } = &mut confirmation.phase {
                *call = 0;
            }
        }
        for session in self.sessions.values_mut() {
            session.last_at = i64::MIN;
        }
    }
}

impl Account {
    /// Takes what is over for alike, each as the strictest would have it: an action that is done with ran, and was rejected, so
    /// that it is not to run again however it came to that; a session that has ended had nothing else.
    pub(super) fn take_what_is_over_for_alike(&mut self) {
        for session in self.sessions.values_mut().filter(|session| session.ended) {
            *session = Session {
                ended: true,
                ..Session::started(i64::MIN, None)
            };
        }
        for session in self.sessions.values_mut() {
            session.tool_calls.clear();
            session.entered = session.entered.as_far_as_confirmations_go();
            session.implied = session.implied.map(State::as_far_as_confirmations_go);
        }
        let (sessions, deadlines) = (&self.sessions, &self.deadlines);
        for (token, confirmation) in &mut self.confirmations {
            let runs = sessions.get(&confirmation.session).is_some_and(|session| {
                let mut running = session.running.iter();
                running.any(|running| running.action == Some(confirmation.action))
            });
            let waits = deadlines.contains(&(confirmation.deadline, *token));
            match &mut confirmation.phase {
                Phase::Resolved { verdict, cause, .. } if !waits => {
                    *cause = Cause::Reply;
                    if !runs && *verdict != Verdict::Withdraw {
                        *verdict = Verdict::Reject;
                    }
                }
                Phase::Open | Phase::Astray | Phase::Resolved { .. } => continue,
            }
            confirmation.refused = true;
            confirmation.runs = 1;
            confirmation.deadline = 0;
            confirmation.timeout_seconds = 0;
            confirmation.default = Decision::Reject;
            confirmation.allowed = Allowed::DEFAULT;
        }
    }
}

/// A session that was started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Session {
    pub ended: bool,
    /// The state that was last entered.
    pub entered: State,
    /// The state that events since then imply.
    pub implied: Option<State>,
    /// Whether nothing has followed its start.
    pub just_started: bool,
    pub last_at: i64,
    /// The number that the next event bears, where this session numbers its events.
    pub next_sequence: Option<i64>,
    /// The tokens of its open questions.
    pub open: BTreeSet<u32>,
    /// Its tools in flight, oldest first.
    pub running: Vec<Running>,
    pub tool_calls: BTreeSet<u32>,
    /// Whether a question of it went astray: then its state says nothing certain any more.
    pub astray: bool,
}

impl Session {
    pub(super) fn started(at: i64, sequence: Option<i64>) -> Self {
        Self {
            ended: false,
            entered: State::Idle,
            implied: None,
            just_started: true,
            last_at: at,
            next_sequence: sequence.map(|number| number.saturating_add(1)),
            open: BTreeSet::new(),
            running: Vec::new(),
            tool_calls: BTreeSet::new(),
            astray: false,
        }
    }

    /// Whether it can be said to be in `state`.
    pub(super) fn is_in(&self, state: State) -> bool {
        self.entered == state || self.implied == Some(state)
    }
}

/// A tool in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Running {
    /// The action that it carries out; none where nobody was asked.
    pub action: Option<u32>,
    pub tool: u32,
    pub tool_call: Option<u32>,
    /// Whether the action was handed over to be run.
    pub performed: bool,
    /// Whether a `tool.invoked` told of it.
    pub invoked: bool,
}

/// A subscription that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Subscription {
    pub active: bool,
    pub can_reply: bool,
}

/// A confirmation that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Confirmation {
    pub session: u32,
    pub action: u32,
    pub tool: u32,
    pub timeout_seconds: i64,
    pub default: Decision,
    pub allowed: Allowed,
    pub deadline: i64,
    /// Whether anybody has seen the question.
    pub told: bool,
    pub phase: Phase,
    /// Whether it was ever withdrawn or rejected, whatever came after.
    pub refused: bool,
    pub runs: u32,
}

/// How far a confirmation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It waits.
    Open,
    /// It was decided.
    Resolved {
        verdict: Verdict,
        cause: Cause,
        /// In which call.
        call: u64,
    },
    /// It was not handled as the text says.
    Astray,
}

/// What a confirmation comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Verdict {
    /// The action is to run.
    Accept,
    /// It is not.
    Reject,
    /// Nobody asks any more.
    Withdraw,
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Accept => Self::Accept,
            Decision::Reject => Self::Reject,
        }
    }
}

/// What brought it to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// The first valid reply.
    Reply,
    /// The first valid reply, which carried a `modified_action`.
    Modified,
    /// The deadline.
    Timeout,
    /// The closing of the last subscription that could answer.
    Closing,
    /// The producer's host withdrew it.
    Cancel,
    /// The end of its session.
    SessionEnd,
}
