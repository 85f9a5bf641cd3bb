//! What the judge keeps: what was asked, decided, run and told.
//!
//! The one thing to know: it follows the calls and what was seen to come out of them, never what a producer should hold. A
//! question that was not handled as it should have been has [`Phase::Astray`]: what became of it was said once, and
//! from then on nothing is required of it; that it does not run twice is.

use std::collections::{BTreeMap, BTreeSet};

use super::call::{Allowed, Decision, Event, Modified, Output, QuestionKind, Rating, Risk, State};
use super::clarifications::Takes;

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
    /// Every question ever asked, by its token.
    pub questions: BTreeMap<u32, Question>,
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
        for question in self.questions.values_mut() {
            if let Phase::Resolved { call, .. } = &mut question.phase {
                *call = 0;
            }
        }
        for session in self.sessions.values_mut() {
            session.last_at = i64::MIN;
        }
    }
}

impl Account {
    /// The confirmation of a token: the question, and what is kept of its action.
    pub(super) fn confirmation(&self, token: u32) -> Option<(&Question, &Blocked)> {
        let question = self.questions.get(&token)?;
        Some((question, question.action()?))
    }

    /// The confirmation with which an action was last asked about.
    pub(super) fn last_asked(
        &self,
        session: u32,
        action: u32,
    ) -> Option<(u32, &Question, &Blocked)> {
        let token = *self.last_asked.get(&(session, action))?;
        let (question, action) = self.confirmation(token)?;
        Some((token, question, action))
    }

    /// Whether a question of this session waits.
    pub(super) fn awaits(&self, session: u32) -> bool {
        let session = self.sessions.get(&session);
        session.is_some_and(|session| !session.open.is_empty())
    }

    /// Notes that a question waits, from the time of its event on.
    pub(super) fn waits(&mut self, token: u32, question: Question) {
        self.deadlines.insert((question.deadline, token));
        if let Some(session) = self.sessions.get_mut(&question.session) {
            session.open.insert(token);
        }
        self.questions.insert(token, question);
    }

    /// Takes what is over for alike, each as the strictest would have it: an action that is done with ran, and was rejected, so
    /// that it is not to run again however it came to that; a session that has ended had nothing else. Where nothing can
    /// begin any more a session in which nothing is open or runs is over too, and nobody asks who is still there once all are.
    /// An action that waits is rated as its default has it.
    pub(super) fn take_what_is_over_for_alike(&mut self, can_begin: bool) {
        for session in self.sessions.values_mut().filter(|session| session.ended) {
            *session = Session {
                ended: true,
                ..Session::started(i64::MIN, None)
            };
        }
        if !can_begin {
            self.sessions.retain(|_, session| session.is_busy());
            if self.sessions.is_empty() {
                for subscription in self.subscriptions.values_mut() {
                    subscription.active = true;
                }
            }
        }
        for session in self.sessions.values_mut() {
            session.tool_calls.clear();
            for stream in session
                .outputs
                .values_mut()
                .filter(|stream| stream.complete)
            {
                (stream.last, stream.next) = (0, 0);
            }
            session.entered = session.entered.as_far_as_confirmations_go();
            session.implied = session.implied.map(State::as_far_as_confirmations_go);
        }
        let (sessions, deadlines) = (&self.sessions, &self.deadlines);
        for (token, question) in &mut self.questions {
            let waits = deadlines.contains(&(question.deadline, *token));
            let Phase::Resolved { verdict, cause, .. } = &mut question.phase else {
                if let (Phase::Open, About::Action(action)) = (question.phase, &mut question.about)
                {
                    (action.risk, action.irreversible) = match action.default {
                        Decision::Accept => (Risk::Low, false),
                        Decision::Reject => (Risk::High, true),
                    };
                }
                continue;
            };
            if waits {
                continue;
            }
            *cause = Cause::Reply;
            question.deadline = 0;
            question.timeout_seconds = 0;
            question.first_timeout = 0;
            match &mut question.about {
                About::Action(action) => {
                    let runs = sessions.get(&question.session).is_some_and(|session| {
                        let mut running = session.running.iter();
                        running.any(|running| running.action == Some(action.action))
                    });
                    if !runs && *verdict != Verdict::Withdraw {
                        *verdict = Verdict::Reject;
                    }
                    action.refused = true;
                    action.runs = 1;
                    action.risk = Risk::Low;
                    action.irreversible = false;
                    action.default = Decision::Reject;
                    action.allowed = Allowed::DEFAULT;
                }
                About::Answer(wanted) => **wanted = Wanted::default(),
            }
        }
    }
}

/// A session that was started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each holds or does not, whatever the others do"
)]
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
    /// Its outputs, by their names.
    pub outputs: BTreeMap<Option<u32>, Stream>,
    /// Whether it was handed off.
    pub handing_off: bool,
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
            outputs: BTreeMap::new(),
            handing_off: false,
            astray: false,
        }
    }

    /// Whether a question of it waits, a tool runs, or an output goes on.
    fn is_busy(&self) -> bool {
        let writes = self.outputs.values().any(|stream| !stream.complete);
        !self.open.is_empty() || !self.running.is_empty() || writes
    }

    /// Whether it can be said to be in `state`.
    pub(super) fn is_in(&self, state: State) -> bool {
        self.entered == state || self.implied == Some(state)
    }
}

/// An output that is streamed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Stream {
    /// Where its last chunk stood.
    pub last: i64,
    /// Where its next chunk stands.
    pub next: i64,
    pub complete: bool,
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

/// A question that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    pub session: u32,
    /// As it is now: an extension makes it longer, and moves the deadline with it.
    pub timeout_seconds: i64,
    /// As it was asked, in seconds.
    pub first_timeout: i64,
    pub deadline: i64,
    /// Whether anybody has seen the question.
    pub told: bool,
    pub phase: Phase,
    pub about: About,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum About {
    /// A confirmation: whether an action is to run.
    Action(Blocked),
    /// A clarification: what the answer is.
    Answer(Box<Wanted>),
}

/// The action that a confirmation blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blocked {
    pub action: u32,
    pub tool: u32,
    pub risk: Risk,
    pub irreversible: bool,
    pub default: Decision,
    pub allowed: Allowed,
    /// Whether it was ever withdrawn or rejected, whatever came after.
    pub refused: bool,
    pub runs: u32,
}

impl Blocked {
    /// How what it was modified to is rated; nothing where that is no rating.
    pub(super) fn rating_of(&self, modified: Modified) -> Option<(Risk, bool)> {
        let Rating { risk, irreversible } = modified.rating?;
        let risk = risk.unwrap_or(self.risk);
        Some((risk, irreversible.unwrap_or(self.irreversible)))
    }

    // AAEP-6.3.2-3: what rates no higher than what was asked is accepted with it.
    pub(super) fn covers(&self, modified: Modified) -> bool {
        let rating = self.rating_of(modified);
        rating.is_some_and(|(risk, irreversible)| {
            risk <= self.risk && (self.irreversible || !irreversible)
        })
    }
}

/// The answer that a clarification wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    /// The text of the question.
    pub question: u32,
    pub takes: Takes,
    /// `default_response`
    pub default: Option<u32>,
}

impl Question {
    /// One that an event has just asked.
    pub(super) fn asked(event: &Event, timeout_seconds: i64, about: About) -> Self {
        Self {
            session: event.session,
            timeout_seconds,
            first_timeout: timeout_seconds,
            deadline: event
                .at
                .saturating_add(timeout_seconds.saturating_mul(1000)),
            told: true,
            phase: Phase::Open,
            about,
        }
    }

    /// When it was asked.
    pub(super) const fn asked_at(&self) -> i64 {
        self.deadline
            .saturating_sub(self.timeout_seconds.saturating_mul(1000))
    }

    /// Whether it waits at this time, in milliseconds since the epoch, only because it was given more (AAEP-6.4.2-3).
    pub(super) const fn waits_longer(&self, now: i64) -> bool {
        let first = self.first_timeout.saturating_mul(1000);
        self.asked_at().saturating_add(first) <= now && now < self.deadline
    }

    pub(super) const fn kind(&self) -> QuestionKind {
        match self.about {
            About::Action(_) => QuestionKind::Confirmation,
            About::Answer(_) => QuestionKind::Clarification,
        }
    }

    pub(super) const fn action(&self) -> Option<&Blocked> {
        match &self.about {
            About::Action(action) => Some(action),
            About::Answer(_) => None,
        }
    }

    pub(super) const fn action_mut(&mut self) -> Option<&mut Blocked> {
        match &mut self.about {
            About::Action(action) => Some(action),
            About::Answer(_) => None,
        }
    }

    pub(super) fn wanted(&self) -> Option<&Wanted> {
        match &self.about {
            About::Action(_) => None,
            About::Answer(wanted) => Some(wanted),
        }
    }

    /// What it comes to when nobody answers.
    pub(super) fn by_default(&self) -> Verdict {
        match &self.about {
            About::Action(action) => action.default.into(),
            About::Answer(_) => Verdict::Answer,
        }
    }
}

/// How far a question has come.
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

/// What a question comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Verdict {
    /// The action is to run.
    Accept,
    /// It is not.
    Reject,
    /// A clarification has its answer, or is not to have one.
    Answer,
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
    /// That it was asked while no subscription could answer, by the reading that then waits for nobody.
    Unanswerable,
    /// The producer's host withdrew it.
    Cancel,
    /// The end of its session.
    SessionEnd,
}
