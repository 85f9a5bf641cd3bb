//! One state of the model: the producer, the world around it, and what the judge has to remember.
//!
//! The one thing to know: `fate` is what the text makes of a confirmation and `phase` what the producer makes of it.
//! In the specification the two always agree; where a rule is left out they may not, and that is how it shows.

use std::hash::{Hash, Hasher};

use crate::network::Coded;
use crate::packed::packed;
use crate::sequence::{Packed, Sequence};
use crate::time;

use super::bounds::{Budgets, Disturbance};
use super::message::{Message, Network};
use super::output::Output;
use super::words::{
    AllowedReplies, Clarifies, Class, Decision, Response, Risk, SLOTS, SUBSCRIBERS, SessionName,
    SessionOutcome, Slot, Subscriber,
};

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionStatus {
    /// Not started.
    Unstarted,
    /// Started and not ended.
    Active,
    /// Ended in this way.
    Ended(SessionOutcome),
}

/// A session as the producer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session {
    /// Where it stands.
    pub status: SessionStatus,
    /// Whether its state is `awaiting_input`; the other states are not told apart.
    pub awaiting_input: bool,
}

impl Session {
    /// A session that has not started.
    pub const UNSTARTED: Self = Self {
        status: SessionStatus::Unstarted,
        awaiting_input: false,
    };

    /// A session that has just started.
    pub const STARTED: Self = Self {
        status: SessionStatus::Active,
        awaiting_input: false,
    };

    /// Whether it has not ended.
    pub const fn is_active(self) -> bool {
        matches!(self.status, SessionStatus::Active)
    }
}

/// Where a subscription stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subscription {
    /// Not opened yet.
    Unopened,
    /// Opened and not closed.
    Open,
    /// Closed for good.
    Closed,
}

/// Where a confirmation stands with the producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Not asked for yet.
    Unasked,
    /// Asked for and not resolved: the action is blocked.
    Pending,
    /// The action is released and not reported as done.
    Accepted,
    /// The action was released and its tool is done.
    Finished,
    /// The action is not to be performed.
    Rejected,
    /// Cancelled, by itself or with its session.
    Cancelled,
    /// A clarification that has its answer, or is not to have one.
    Answered,
}

/// A question: a confirmation, or a clarification. Times and timeouts are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one of its own, and none excludes another"
)]
pub struct Confirmation {
    /// Where it stands with the producer.
    pub phase: Phase,
    /// Its session.
    pub session: SessionName,
    /// Whether its action is the one of the first slot, or its question that of the first clarification; false in those.
    pub same_action: bool,
    /// What it says of its action.
    pub class: Class,
    /// What it says as a clarification; nothing in a confirmation.
    pub clarifies: Option<Clarifies>,
    /// When it was issued.
    pub issued: u8,
    /// `timeout_seconds`, as it is now.
    pub timeout: u8,
    /// How often it has got a tick more.
    pub extended: u8,
    /// Whether the default resolved it, and not a reply.
    pub by_default: bool,
    /// How often the host has run its action, counted up to 2.
    pub runs: u8,
    /// Whether an event has said while it was blocked that its action has begun (against AAEP-6.1-5).
    pub announced: bool,
    /// Which subscriptions have seen the question, have not answered it and have not been told of its resolution, by
    /// [`Subscriber::index`].
    pub may_decide: [bool; SUBSCRIBERS],
    /// Whether it was issued with the token of the first slot (against AAEP-6.2.2-3).
    pub reused_token: bool,
}

impl Confirmation {
    /// A slot that is not filled.
    pub const UNASKED: Self = Self {
        phase: Phase::Unasked,
        session: SessionName::A,
        same_action: false,
        class: Class::PLAIN,
        clarifies: None,
        issued: 0,
        timeout: 0,
        extended: 0,
        by_default: false,
        runs: 0,
        announced: false,
        may_decide: [false; SUBSCRIBERS],
        reused_token: false,
    };

    /// The moment from which the default applies: issue + timeout. A reply's claimed time must lie before it.
    pub const fn deadline(&self) -> u8 {
        time::on(self.issued + self.timeout)
    }

    /// It is resolved or cancelled; the event that says so also tells the subscribers to decide no more.
    pub(super) const fn resolve_to(&mut self, phase: Phase) {
        self.phase = phase;
        self.may_decide = [false; SUBSCRIBERS];
    }

    /// A response that it takes, where it is a clarification.
    pub fn right_response(&self) -> Option<Response> {
        self.clarifies.map(|clarifies| clarifies.takes.right())
    }

    /// Whether it is asked for and not resolved.
    pub const fn is_pending(&self) -> bool {
        matches!(self.phase, Phase::Pending)
    }

    /// The moment from which the default would apply, had it got no more time.
    pub const fn first_deadline(&self) -> u8 {
        time::on(self.issued + self.timeout.saturating_sub(self.extended))
    }

    /// Everything in 32 bits.
    fn word(&self) -> u64 {
        packed([
            (self.phase as u64, 3),
            (self.session as u64, 1),
            (u64::from(self.same_action), 1),
            (self.class.code(), 6),
            (u64::from(self.issued), 4),
            (u64::from(self.timeout), 4),
            (u64::from(self.by_default), 1),
            (u64::from(self.runs), 2),
            (u64::from(self.announced), 1),
            (u64::from(self.may_decide[0]), 1),
            (u64::from(self.may_decide[1]), 1),
            (u64::from(self.may_decide[2]), 1),
            (u64::from(self.reused_token), 1),
            (self.clarifies.map_or(0, Clarifies::code) & 7, 3),
            (u64::from(self.extended), 2),
        ])
    }
}

/// What the host has not carried out yet and something waits for: questions and performances, first in, first out.
///
/// All other events are taken to be emitted at once: nothing in the model waits for them, so no step could tell whether
/// they were. A `withdraw` acts at once.
pub type Outbox = Sequence<Item>;

/// An item of the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// Emit `awaiting.confirmation` or `awaiting.clarification`; the subscribers wait for it.
    Asked(Slot),
    /// Perform the action.
    Perform(Slot),
}

impl Item {
    /// The item that stands for an output, if the output waits in the outbox.
    pub const fn of(output: Output) -> Option<Self> {
        match output {
            Output::Asked(slot) | Output::Clarify(slot) | Output::AskedSome(slot) => {
                Some(Self::Asked(slot))
            }
            Output::Perform(slot) => Some(Self::Perform(slot)),
            Output::Started(_)
            | Output::AwaitingInput(_)
            | Output::MoreTime(_)
            | Output::Answer(..)
            | Output::CallingTool(_)
            | Output::CallingToolAgain(_)
            | Output::Invoked(_)
            | Output::FollowUpLeaving(_)
            | Output::FollowUpStaying(_)
            | Output::Completed(_)
            | Output::Thinking(_)
            | Output::Withdraw(_)
            | Output::Ended(..)
            | Output::Work(..)
            | Output::InDoubt(_)
            | Output::Respond
            | Output::Tell(_)
            | Output::Audit(_)
            | Output::Refused(_)
            | Output::Notice => None,
        }
    }
}

impl Packed for Item {
    const BITS: usize = 3;
    const CAPACITY: usize = 16;

    /// From 1 to 6.
    fn code(self) -> u16 {
        match self {
            Self::Asked(slot) => 1 + slot as u16,
            Self::Perform(slot) => 4 + slot as u16,
        }
    }

    fn from_code(code: u16) -> Option<Self> {
        match code {
            1..=3 => Slot::of_place(code - 1).map(Self::Asked),
            4..=6 => Slot::of_place(code - 4).map(Self::Perform),
            _ => None,
        }
    }
}

/// What is done around the questions: one tool at a time that nobody is asked about, one output, and handoffs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Work {
    /// How many pieces of it were begun: 0 to 3.
    pub begun: u8,
    /// The session in which a tool runs.
    pub tool: Option<SessionName>,
    /// The output, once it has begun.
    pub output: Option<Streaming>,
    /// Which sessions were handed off, by [`SessionName::index`].
    pub handed_off: [bool; 2],
}

/// An output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Streaming {
    /// Its session.
    pub session: SessionName,
    /// How many chunks it has: 0 to 3.
    pub chunks: u8,
    /// Whether the last of them has come.
    pub complete: bool,
    /// Whether the state of its session is `writing_output`.
    pub writing: bool,
}

impl Work {
    /// Whether an output of this session is begun and not complete.
    pub fn writes(&self, session: SessionName) -> bool {
        let open = |it: Streaming| it.session == session && !it.complete;
        self.output.is_some_and(open)
    }

    /// Everything in 16 bits.
    fn word(self) -> u64 {
        let [first, second] = self.handed_off;
        let output = self.output.map_or(0, |it| {
            packed([
                (1, 1),
                (it.session as u64, 1),
                (u64::from(it.chunks), 2),
                (u64::from(it.complete), 1),
                (u64::from(it.writing), 1),
            ])
        });
        packed([
            (u64::from(self.begun), 2),
            (self.tool.map_or(0, |session| 1 + session as u64), 2),
            (output, 6),
            (u64::from(first), 1),
            (u64::from(second), 1),
        ])
    }
}

/// One state of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The producer's clock, in moments since the start ([`crate::time`]).
    pub clock: u8,
    /// The sessions, by [`SessionName::index`].
    pub sessions: [Session; 2],
    /// The subscriptions, by [`Subscriber::index`].
    pub subscriptions: [Subscription; SUBSCRIBERS],
    /// The confirmations, by [`Slot::index`].
    pub confirmations: [Confirmation; SLOTS],
    /// What is done around the questions.
    pub work: Work,
    /// The replies under way.
    pub network: Network,
    /// The reply that was honoured last, as long as a replay can still be afforded.
    pub captured: Option<Message>,
    /// What the host has not carried out yet.
    pub outbox: Outbox,
    /// How many of its first items were put there before the last call: a host that crashes has carried those out.
    pub stale: u8,
    /// How often each disturbance can still happen.
    pub budgets: Budgets,
    /// Of which questions the agent has changed the arguments of the action; only where a reading is told by it.
    pub changed: [bool; SLOTS],
}

impl State {
    /// Nothing has begun.
    pub fn start(budgets: Budgets) -> Self {
        Self {
            clock: 0,
            sessions: [Session::UNSTARTED; 2],
            subscriptions: [Subscription::Unopened; SUBSCRIBERS],
            confirmations: [Confirmation::UNASKED; SLOTS],
            work: Work::default(),
            network: Network::default(),
            captured: None,
            outbox: Outbox::default(),
            stale: 0,
            budgets,
            changed: [false; SLOTS],
        }
    }

    /// The confirmation in a slot.
    pub const fn confirmation(&self, slot: Slot) -> &Confirmation {
        &self.confirmations[slot.index()]
    }

    /// The slot whose action the confirmation in a slot is about: its own, or the first.
    pub const fn action(&self, slot: Slot) -> Slot {
        let confirmation = self.confirmation(slot);
        if confirmation.same_action && confirmation.clarifies.is_none() {
            Slot::First
        } else {
            slot
        }
    }

    /// The first clarification.
    pub fn first_clarification(&self) -> Option<Slot> {
        let clarifies = |&slot: &Slot| self.confirmation(slot).clarifies.is_some();
        Slot::ALL.into_iter().find(clarifies)
    }

    /// The slot whose question the clarification in a slot asks: its own, or the first clarification's.
    pub fn question(&self, slot: Slot) -> Slot {
        let first = self.first_clarification();
        first
            .filter(|_| self.confirmation(slot).same_action)
            .unwrap_or(slot)
    }

    /// The session of this name.
    pub const fn session(&self, session: SessionName) -> Session {
        self.sessions[session.index()]
    }

    /// The subscription of this subscriber.
    pub const fn subscription(&self, subscriber: Subscriber) -> Subscription {
        self.subscriptions[subscriber.index()]
    }

    /// Whether the subscription is open.
    pub const fn is_open(&self, subscriber: Subscriber) -> bool {
        matches!(self.subscription(subscriber), Subscription::Open)
    }

    /// Whether a subscription is open whose subscriber declares that it can reply.
    pub fn has_capable(&self) -> bool {
        let could_answer = |&it: &Subscriber| it.is_capable() && self.is_open(it);
        Subscriber::ALL.iter().any(could_answer)
    }

    /// Whether a confirmation of this session is pending, apart from the one in `except`.
    pub fn has_pending(&self, session: SessionName, except: Option<Slot>) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let confirmation = self.confirmation(slot);
            Some(slot) != except && confirmation.is_pending() && confirmation.session == session
        })
    }

    /// Whether an action of this session was released and its tool is not reported as done.
    pub fn has_running(&self, session: SessionName) -> bool {
        Slot::ALL.into_iter().any(|slot| {
            let confirmation = self.confirmation(slot);
            confirmation.phase == Phase::Accepted && confirmation.session == session
        }) || self.work.tool == Some(session)
    }

    /// The slot that the next confirmation fills.
    pub fn free_slot(&self) -> Option<Slot> {
        Slot::ALL
            .into_iter()
            .find(|&slot| self.confirmation(slot).phase == Phase::Unasked)
    }

    /// Whether the subscriber has seen the question, has not answered it, has not been told of a resolution and is still
    /// there.
    pub fn can_decide(&self, subscriber: Subscriber, slot: Slot) -> bool {
        self.confirmation(slot).may_decide[subscriber.index()] && self.is_open(subscriber)
    }

    /// The filled slots for whose confirmation the condition holds, in order of issue.
    pub(super) fn slots_where(
        &self,
        condition: impl Fn(&Confirmation) -> bool,
    ) -> [Option<Slot>; SLOTS] {
        Slot::ALL.map(|slot| {
            let confirmation = self.confirmation(slot);
            (confirmation.phase != Phase::Unasked && condition(confirmation)).then_some(slot)
        })
    }

    /// The question that waits at the host: where only what the last call put out waits there, a crash loses it.
    pub fn waiting_question(&self) -> Option<Slot> {
        self.outbox.items().find_map(|item| match item {
            Item::Asked(slot) => Some(slot),
            Item::Perform(_) => None,
        })
    }

    /// Whether a crash would lose the question: the last call put it out and it is not carried out.
    pub(super) fn may_lose_question(&self, slot: Slot) -> bool {
        let mut fresh = self.outbox.items().skip(usize::from(self.stale));
        self.budgets.affords(Disturbance::Crash) && fresh.any(|item| item == Item::Asked(slot))
    }

    /// What of this state is the producer's, as an executor's state can be read too.
    pub fn producer(&self) -> Producer {
        Producer {
            sessions: self.sessions,
            subscriptions: self.subscriptions,
            confirmations: self.confirmations.map(|confirmation| {
                let Confirmation {
                    phase,
                    session,
                    same_action,
                    class,
                    clarifies,
                    issued,
                    timeout,
                    by_default,
                    ..
                } = confirmation;
                (phase != Phase::Unasked).then_some(ProducerConfirmation {
                    phase,
                    session,
                    same_action,
                    class,
                    clarifies,
                    issued,
                    timeout,
                    by_default,
                })
            }),
            work: self.work,
        }
    }

    /// This state with another producer in it: the world and the judge's account stay as they are.
    ///
    /// An executor agrees with a model state `s` when the quotient of `s.with_producer(executor's)` is the quotient of `s`.
    #[must_use]
    pub fn with_producer(&self, producer: &Producer) -> Self {
        let mut state = *self;
        state.sessions = producer.sessions;
        state.subscriptions = producer.subscriptions;
        for (place, found) in state.confirmations.iter_mut().zip(producer.confirmations) {
            let found = found.unwrap_or(ProducerConfirmation::UNASKED);
            place.phase = found.phase;
            place.session = found.session;
            place.same_action = found.same_action;
            place.class = found.class;
            place.clarifies = found.clarifies;
            place.issued = found.issued;
            place.timeout = found.timeout;
            place.by_default = found.by_default;
        }
        // How much was begun, and how long an output is that is complete, no producer has to know.
        let Work { begun, output, .. } = self.work;
        state.work = Work {
            begun,
            ..producer.work
        };
        if let (Some(own), Some(found)) = (output, &mut state.work.output)
            && found.complete
        {
            found.chunks = own.chunks;
        }
        state
    }

    /// Everything in five words, for hashing: equal words mean equal states.
    pub fn words(&self) -> [u64; 5] {
        let status = |session: Session| match session.status {
            SessionStatus::Unstarted => 0,
            SessionStatus::Active => 1,
            SessionStatus::Ended(outcome) => 2 + outcome as u64,
        };
        // What has no room with its confirmation.
        let kinds = |slot: usize| {
            let clarifies = self.confirmations[slot].clarifies;
            clarifies.map_or(0, Clarifies::code) >> 3
        };
        let world = packed([
            (u64::from(self.clock), 5),
            (status(self.sessions[0]), 3),
            (u64::from(self.sessions[0].awaiting_input), 1),
            (status(self.sessions[1]), 3),
            (u64::from(self.sessions[1].awaiting_input), 1),
            (self.subscriptions[0] as u64, 2),
            (self.subscriptions[1] as u64, 2),
            (self.subscriptions[2] as u64, 2),
            (u64::from(self.stale), 5),
            (u64::from(self.changed[0]), 1),
            (u64::from(self.changed[1]), 1),
            (u64::from(self.changed[2]), 1),
            (kinds(0), 1),
            (kinds(1), 1),
            (kinds(2), 1),
        ]);
        let [_, outbox] = self.outbox.words();
        let [first, second, third] = self.confirmations;
        let captured = self.captured.map_or(0, |message| u64::from(message.code()));
        [
            first.word() << 32 | second.word(),
            self.work.word() << 32 | third.word(),
            self.network.word(),
            outbox << 16 | captured,
            world << 32 | u64::from(self.budgets.word()),
        ]
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for word in self.words() {
            hasher.write_u64(word);
        }
    }
}

/// The producer's part of a state: what an abstraction function makes of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// The sessions, by [`SessionName::index`].
    pub sessions: [Session; 2],
    /// The subscriptions, by [`Subscriber::index`].
    pub subscriptions: [Subscription; SUBSCRIBERS],
    /// The confirmations that were asked for, by [`Slot::index`].
    pub confirmations: [Option<ProducerConfirmation>; SLOTS],
    /// What is done around them. What was begun in all, and how many chunks a complete output has, is not looked at.
    pub work: Work,
}

/// A confirmation as the producer knows it. Times and timeouts are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerConfirmation {
    /// Where it stands.
    pub phase: Phase,
    /// Its session.
    pub session: SessionName,
    /// Whether its action is the one of the first slot; false in the first slot.
    pub same_action: bool,
    /// What it says of its action.
    pub class: Class,
    /// What it says as a clarification; nothing in a confirmation.
    pub clarifies: Option<Clarifies>,
    /// When it was issued.
    pub issued: u8,
    /// `timeout_seconds`
    pub timeout: u8,
    /// Whether the default resolved it, on time or because the last capable subscription closed.
    pub by_default: bool,
}

impl ProducerConfirmation {
    /// A slot that is not filled.
    const UNASKED: Self = Self {
        phase: Phase::Unasked,
        session: SessionName::A,
        same_action: false,
        class: Class {
            risk: Risk::Low,
            irreversible: false,
            default: Decision::Reject,
            allowed: AllowedReplies::Both,
        },
        clarifies: None,
        issued: 0,
        timeout: 0,
        by_default: false,
    };
}
