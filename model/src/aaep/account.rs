//! What an outsider knows of a producer.
//!
//! Two of everything are inline: a search needs no more. A crash brings back no older account: what was put out was
//! stored, and what was lost of it is told again.

use smallvec::SmallVec;

use crate::aaep::alphabet::{
    CallId, Decision, Name, Output, Run, SessionId, State, Subject, SubscriptionId, Time, Token,
    Written,
};
use crate::aaep::readings::Unlisted;
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
    /// Whether it tells the time left of long questions.
    pub counts_down: Fact,
    /// Whether it says which subscription gets an event.
    pub delivers: Fact,
    /// Every session that was ever started.
    pub sessions: SmallVec<[Session; 2]>,
    /// Every subscription that was ever opened.
    pub subscriptions: SmallVec<[Subscription; 2]>,
    /// Every output of a session.
    pub streams: SmallVec<[Stream; 1]>,
    /// Every confirmation and clarification that was ever asked for, and every tool that runs without.
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
    /// It only ends.
    pub is_handed_off: bool,
    /// The state that it last entered.
    pub state: State,
    /// The state that another event has implied since.
    pub implied: Option<State>,
}

/// An output of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    /// Its session.
    pub session: SessionId,
    /// Its number.
    pub id: Option<Name>,
    /// How many characters it has.
    pub length: i64,
    /// Its last chunk has come.
    pub is_complete: bool,
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

/// A confirmation or a clarification; or a tool that runs without, as if it had been accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// What the host wanted to be asked.
    pub subject: Subject,
    /// The timestamp of its event.
    pub asked_at: Time,
    /// How long it waits from then.
    pub timeout: Time,
    /// So many subscriptions had been opened.
    pub asked_of: u16,
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

/// What has become of a question.
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
    /// A reply has answered it, or its default, or its time is over.
    Answered,
    /// It was taken back, or its session has ended.
    Cancelled,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            clock: 0,
            modifies: Fact::Perhaps,
            notifies: Fact::Perhaps,
            counts_down: Fact::Perhaps,
            delivers: Fact::Perhaps,
            sessions: SmallVec::new(),
            subscriptions: SmallVec::new(),
            streams: SmallVec::new(),
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
    pub fn new(subject: Subject, now: Time, asked_of: u16) -> Self {
        Self {
            timeout: subject.timeout(),
            subject,
            asked_at: now,
            asked_of,
            token: None,
            call: None,
            phase: Phase::Open,
            is_replied: false,
            modified: None,
        }
    }

    /// When its default applies.
    pub fn deadline(&self) -> Time {
        self.asked_at.saturating_add(self.timeout)
    }

    /// Its session.
    pub fn session(&self) -> SessionId {
        self.subject.session()
    }

    /// Whether it is about that action.
    pub fn is_about(&self, session: SessionId, action: Name) -> bool {
        let own = self.subject.action();
        self.session() == session && own.is_some_and(|it| it.name == action)
    }

    /// Whether a reply may decide so.
    pub fn allows(&self, decision: Decision, unlisted: Unlisted) -> bool {
        let allowed = self.subject.ask().and_then(|it| it.allowed.as_deref());
        allowed.unwrap_or(unlisted.replies()).contains(&decision)
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
            is_handed_off: false,
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

    /// Whether that subscription said that it can reply.
    pub fn can_reply(&self, id: SubscriptionId) -> bool {
        self.subscriptions
            .iter()
            .any(|it| it.id == id && it.can_reply)
    }

    /// Whether anybody is there who said that it can reply.
    pub fn can_anybody_reply(&self) -> bool {
        self.subscriptions
            .iter()
            .any(|it| it.is_open && it.can_reply)
    }

    /// The questions of a session that are in that phase.
    pub fn questions_in(&self, session: SessionId, phase: Phase) -> SmallVec<[usize; 2]> {
        let of = |it: &Question| it.session() == session && it.phase == phase;
        let all = self.questions.iter().enumerate();
        all.filter(|(_, it)| of(it))
            .map(|(place, _)| place)
            .collect()
    }

    /// A chunk of an output.
    pub fn write(&mut self, session: SessionId, it: &Written) {
        let is_it = |other: &&mut Stream| (other.session, other.id) == (session, it.stream);
        let length = it.position.saturating_add(it.characters.into());
        match self.streams.iter_mut().find(is_it) {
            Some(stream) => {
                stream.length = length;
                stream.is_complete |= it.is_last;
            }
            None => self.streams.push(Stream {
                session,
                id: it.stream,
                length,
                is_complete: it.is_last,
            }),
        }
    }

    /// How long that output is, and whether it is complete.
    pub fn written(&self, session: SessionId, id: Option<Name>) -> Option<(i64, bool)> {
        let is_it = |it: &&Stream| (it.session, it.id) == (session, id);
        let found = self.streams.iter().find(is_it);
        found.map(|it| (it.length, it.is_complete))
    }

    /// The question with that token.
    pub fn asked(&self, token: Token) -> Option<usize> {
        self.questions.iter().position(|it| it.token == Some(token))
    }

    /// The last question about what that output runs, or says to run.
    pub fn about(&self, run: &Run) -> Option<usize> {
        let is = |it: &Question| {
            it.is_about(run.session, run.action) && it.call.is_none_or(|call| call == run.call)
        };
        self.questions.iter().rposition(is)
    }

    /// The question of that call, or the last with that tool where no call is named.
    pub fn called(&self, session: SessionId, call: Option<CallId>, tool: Name) -> Option<usize> {
        let is_in = |it: &Question| it.session() == session;
        let by_call = |it: &Question| is_in(it) && call.is_some() && it.call == call;
        let by_tool = |it: &Question| {
            let own = it.subject.action().map(|it| it.tool);
            is_in(it) && (call.is_none() || it.call.is_none()) && own == Some(tool)
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
