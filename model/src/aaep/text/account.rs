//! What an outsider knows of a producer.
//!
//! Two of everything are inline: a search needs no more. A crash brings back no older account: what was put out was
//! stored, and what was lost of it is told again.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::aaep::text::alphabet::{
    Ask, CallId, Decision, Name, Output, Run, SessionId, State, SubscriptionId, Time, Token,
};
use crate::engine::fact::Fact;

/// Everything that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// The greatest time so far.
    pub clock: Time,
    /// Whether the producer supports `modified_action`.
    pub modifies: Fact,
    /// Whether it tells the sender of a late duplicate.
    pub notifies: Fact,
    /// Every session that was ever started.
    pub sessions: SmallVec<[Session; 2]>,
    /// Every subscription that was ever opened.
    pub subscriptions: SmallVec<[Subscription; 2]>,
    /// Every confirmation that was ever asked for.
    pub questions: SmallVec<[Question; 2]>,
    /// How many tokens were put out.
    pub tokens: Token,
    /// How many call ids were put out.
    pub calls: CallId,
    /// What the sender of a reply sees that fails a check.
    pub to_failed: Answer,
    /// So many restarts can still come. With none to come, the last outputs are not kept.
    pub restarts: u8,
    /// The outputs of the last call: a restart can say that the last of them were lost.
    pub last: SmallVec<[Output; 4]>,
}

/// What the sender of a reply sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Nobody has seen it yet.
    #[default]
    Unknown,
    /// Nothing at all.
    Silence,
    /// A status and a body.
    Response(u16, Option<Name>),
}

/// A session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// Its number.
    pub id: SessionId,
    /// It has not ended.
    pub is_active: bool,
    /// The state that it last entered.
    pub state: State,
    /// The state that another event has implied since.
    pub implied: Option<State>,
}

/// A subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subscription {
    /// Its number.
    pub id: SubscriptionId,
    /// It said that it can reply.
    pub can_reply: bool,
    /// It has not closed.
    pub is_open: bool,
}

/// A confirmation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// What the host wanted to be asked.
    pub ask: Arc<Ask>,
    /// The timestamp of its event.
    pub asked_at: Time,
    /// Nothing before the event has come.
    pub token: Option<Token>,
    /// Nothing before an output has named it.
    pub call: Option<CallId>,
    /// What has become of it.
    pub phase: Phase,
    /// A reply has decided it.
    pub is_replied: bool,
    /// What runs instead of the action, by a reply.
    pub modified: Option<Name>,
}

/// What has become of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Nobody has decided.
    Open,
    /// It was accepted, and its action is in flight.
    Running,
    /// It was accepted, and its action has come back.
    Finished,
    /// It was accepted, and its session ended before its action came back.
    Abandoned,
    /// It was rejected.
    Rejected,
    /// It was taken back, or its session has ended.
    Cancelled,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            clock: 0,
            modifies: Fact::Perhaps,
            notifies: Fact::Perhaps,
            sessions: SmallVec::new(),
            subscriptions: SmallVec::new(),
            questions: SmallVec::new(),
            tokens: 0,
            calls: 0,
            to_failed: Answer::Unknown,
            restarts: u8::MAX,
            last: SmallVec::new(),
        }
    }
}

impl Question {
    /// A question that is not yet asked.
    pub fn new(ask: &Arc<Ask>, now: Time) -> Self {
        Self {
            ask: Arc::clone(ask),
            asked_at: now,
            token: None,
            call: None,
            phase: Phase::Open,
            is_replied: false,
            modified: None,
        }
    }

    /// When its default applies.
    pub fn deadline(&self) -> Time {
        self.asked_at.saturating_add(self.ask.timeout)
    }

    /// Whether a reply may decide so.
    pub fn allows(&self, decision: Decision) -> bool {
        match &self.ask.allowed {
            Some(allowed) => allowed.contains(&decision),
            None => matches!(decision, Decision::Accept | Decision::Reject),
        }
    }
}

impl Account {
    /// The session of that number.
    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.iter().find(|it| it.id == id)
    }

    /// The session of that number.
    pub fn session_mut(&mut self, id: SessionId) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|it| it.id == id)
    }

    /// Whether events of that session may come.
    pub fn is_active(&self, id: SessionId) -> bool {
        self.session(id).is_some_and(|it| it.is_active)
    }

    /// A session has started.
    pub fn start(&mut self, id: SessionId) {
        self.sessions.push(Session {
            id,
            is_active: true,
            state: State::Idle,
            implied: None,
        });
    }

    /// The number of a session whose id the producer makes.
    pub fn next_session(&self) -> SessionId {
        let next = self.sessions.iter().map(|it| it.id.saturating_add(1));
        next.max().unwrap_or_default()
    }

    /// Whether that subscription is open.
    pub fn is_open(&self, id: SubscriptionId) -> bool {
        self.subscriptions
            .iter()
            .any(|it| it.id == id && it.is_open)
    }

    /// Whether anybody is there who said that it can reply.
    pub fn can_anybody_reply(&self) -> bool {
        self.subscriptions
            .iter()
            .any(|it| it.is_open && it.can_reply)
    }

    /// The questions of a session that are in that phase.
    pub fn questions_in(&self, session: SessionId, phase: Phase) -> SmallVec<[usize; 2]> {
        let of = |it: &Question| it.ask.session == session && it.phase == phase;
        let all = self.questions.iter().enumerate();
        all.filter(|(_, it)| of(it))
            .map(|(place, _)| place)
            .collect()
    }

    /// The question with that token.
    pub fn asked(&self, token: Token) -> Option<usize> {
        self.questions.iter().position(|it| it.token == Some(token))
    }

    /// The last question about what that output runs, or says to run.
    pub fn about(&self, run: &Run) -> Option<usize> {
        let is = |it: &Question| {
            it.ask.session == run.session
                && it.ask.action.name == run.action
                && it.call.is_none_or(|call| call == run.call)
        };
        self.questions.iter().rposition(is)
    }

    /// The question of that call, or the last with that tool where no call is named.
    pub fn called(&self, session: SessionId, call: Option<CallId>, tool: Name) -> Option<usize> {
        let is_in = |it: &Question| it.ask.session == session;
        let by_call = |it: &Question| is_in(it) && call.is_some() && it.call == call;
        let by_tool = |it: &Question| {
            is_in(it) && (call.is_none() || it.call.is_none()) && it.ask.tool.name == tool
        };
        let last = |is: &dyn Fn(&Question) -> bool| self.questions.iter().rposition(is);
        last(&by_call).or_else(|| last(&by_tool))
    }

    /// Those call ids and tokens were put out.
    pub fn see_ids(&mut self, token: Option<Token>, call: Option<CallId>) {
        let next = |known: u16, id: Option<u16>| known.max(id.map_or(0, |id| id.saturating_add(1)));
        self.tokens = next(self.tokens, token);
        self.calls = next(self.calls, call);
    }
}
