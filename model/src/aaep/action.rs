//! What can happen: one [`Action`] for each step of the producer, its host, the subscribers, the network and time.

use super::message::{Message, Shape, Token};
use super::state::State;
use super::words::{
    Clarifies, Class, Decision, Piece, Response, SessionName, SessionOutcome, Slot, Subscriber,
};

/// One step. Positions are those of [`super::message::Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A session starts (`start_session`).
    StartSession {
        /// The session.
        session: SessionName,
    },
    /// A subscription opens (`subscribe`).
    Open {
        /// The subscription.
        subscriber: Subscriber,
    },
    /// The agent asks for a confirmation (`confirm`). It fills the next free slot, unless it is refused.
    Ask {
        /// The session in which it asks.
        session: SessionName,
        /// The class of the action.
        class: Class,
        /// `timeout_seconds`, in ticks; 0 is out of range and refused (AAEP-EV-5).
        timeout: u8,
        /// Whether the action is the one of the first slot (same session, same action id).
        same_action: bool,
    },
    /// The agent asks for a clarification (`clarify`). It fills the next free slot, unless it is refused.
    Clarify {
        /// The session in which it asks.
        session: SessionName,
        /// What the question takes, and whether it has a default.
        clarifies: Clarifies,
        /// `timeout_seconds`, in ticks; 0 is out of range and refused (AAEP-EV-5).
        timeout: u8,
        /// Whether the question is the one of the first clarification.
        same_question: bool,
    },
    /// A subscriber answers a clarification and sends its reply. No call into the producer.
    Answer {
        /// Who answers.
        subscriber: Subscriber,
        /// Which clarification.
        slot: Slot,
        /// What.
        response: Response,
        /// How far its clock is off, in moments; it claims `clock + skew`.
        skew: i8,
        /// Plain or malformed; the latter spends the distortion budget.
        shape: Shape,
    },
    /// A question gets more time (`extend`): a tick more, or none, which is refused.
    Extend {
        /// The question.
        slot: Slot,
        /// Whether it is to wait longer than it does.
        longer: bool,
    },
    /// A subscriber decides and sends its reply. No call into the producer.
    Decide {
        /// Who decides.
        subscriber: Subscriber,
        /// On which confirmation.
        slot: Slot,
        /// What.
        decision: Decision,
        /// How far its clock is off, in moments; it claims `clock + skew`.
        skew: i8,
        /// Plain, malformed or with `modified_action`; the latter two spend the distortion budget.
        shape: Shape,
    },
    /// The message at this position arrives at the producer (`deliver`).
    Deliver {
        /// Position in the network.
        index: u8,
    },
    /// The network duplicates the message at this position. No call.
    Duplicate {
        /// Position in the network.
        index: u8,
    },
    /// The network loses the message at this position. No call.
    Lose {
        /// Position in the network.
        index: u8,
    },
    /// Somebody who is not asked puts a reply on its way. No call.
    Forge(Forgery),
    /// The reply that was captured when it was delivered is delivered again (`deliver`).
    Replay,
    /// The clock moves on to the next moment at which there is something to see. No call.
    Tick,
    /// The timer that is due is served, possibly late (`tick`).
    ServeTimer,
    /// The agent no longer needs this action (`cancel`).
    Cancel {
        /// The confirmation.
        slot: Slot,
    },
    /// The agent changes the arguments of an action that is asked about. No call: no message holds them.
    Change {
        /// The confirmation.
        slot: Slot,
    },
    /// The session ends (`end_session`).
    EndSession {
        /// The session.
        session: SessionName,
        /// How.
        outcome: SessionOutcome,
    },
    /// A subscription closes (`unsubscribe`).
    Close {
        /// The subscription.
        subscriber: Subscriber,
    },
    /// The host carries out the next output of the outbox: emits an event or performs an action. No call.
    CarryOut,
    /// The host reports the tool of this action as done (`finish_tool`, status success).
    FinishTool {
        /// The confirmation that released the action.
        slot: Slot,
    },
    /// The agent has work done around the questions (`tool`, `finish_tool`, `output`, `handoff`).
    Work(Piece),
    /// The process dies with its outbox and comes back with what lasts (`restart`).
    Crash,
    /// The producer does what a rule forbids. Enabled only where that rule is left out.
    Transgress(Transgression),
}

/// Both sessions start, and the first two subscriptions open.
pub const EVERYBODY_COMES: [Action; 4] = [
    Action::StartSession {
        session: SessionName::A,
    },
    Action::StartSession {
        session: SessionName::B,
    },
    Action::Open {
        subscriber: Subscriber::Capable,
    },
    Action::Open {
        subscriber: Subscriber::Forwarder,
    },
];

impl Action {
    /// Whether the step is a call into the producer; other steps concern the world around it alone.
    pub const fn is_call(self) -> bool {
        match self {
            Self::Decide { .. }
            | Self::Answer { .. }
            | Self::Duplicate { .. }
            | Self::Lose { .. }
            | Self::Forge(_)
            | Self::Tick
            | Self::Change { .. }
            | Self::CarryOut => false,
            Self::StartSession { .. }
            | Self::Open { .. }
            | Self::Ask { .. }
            | Self::Clarify { .. }
            | Self::Extend { .. }
            | Self::Deliver { .. }
            | Self::Replay
            | Self::ServeTimer
            | Self::Cancel { .. }
            | Self::EndSession { .. }
            | Self::Close { .. }
            | Self::FinishTool { .. }
            | Self::Work(_)
            | Self::Crash
            | Self::Transgress(_) => true,
        }
    }

    /// The reply that the step delivers.
    pub fn message(self, before: &State) -> Option<Message> {
        match self {
            Self::Deliver { index } => before.network.get(usize::from(index)),
            Self::Replay => before.captured,
            Self::StartSession { .. }
            | Self::Open { .. }
            | Self::Ask { .. }
            | Self::Clarify { .. }
            | Self::Extend { .. }
            | Self::Answer { .. }
            | Self::Decide { .. }
            | Self::Duplicate { .. }
            | Self::Lose { .. }
            | Self::Forge(_)
            | Self::Tick
            | Self::ServeTimer
            | Self::Cancel { .. }
            | Self::Change { .. }
            | Self::EndSession { .. }
            | Self::Close { .. }
            | Self::CarryOut
            | Self::FinishTool { .. }
            | Self::Work(_)
            | Self::Crash
            | Self::Transgress(_) => None,
        }
    }
}

/// A reply from somebody who is not to decide, or not on this confirmation. It claims the present time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Forgery {
    /// The right token from a sender for whom the transport does not vouch.
    Unauthenticated {
        /// Whose token it carries.
        slot: Slot,
        /// What it says.
        decision: Decision,
    },
    /// An authenticated subscriber sends a token that was never issued, saying accept.
    Guessed,
    /// An authenticated subscriber means the other session's confirmation and sends this one's token: it counts as a
    /// reply to the confirmation whose token it carries, and never touches the one that was meant.
    MixedUp {
        /// Whose token it carries.
        slot: Slot,
        /// What it says.
        decision: Decision,
    },
    /// An authenticated subscriber sends the right token in a reply of the other kind: a response to a confirmation, an accept to a
    /// clarification.
    OtherKind {
        /// Whose token it carries.
        slot: Slot,
    },
    /// The forwarder sends the right token in the name of the other subscription.
    Impostor {
        /// Whose token it carries.
        slot: Slot,
        /// What it says.
        decision: Decision,
    },
}

impl Forgery {
    /// The token that the reply carries.
    pub const fn token(self) -> Token {
        match self {
            Self::Unauthenticated { slot, .. }
            | Self::MixedUp { slot, .. }
            | Self::OtherKind { slot }
            | Self::Impostor { slot, .. } => Token::Of(slot),
            Self::Guessed => Token::Guessed,
        }
    }
}

/// What a producer may do when the rule against it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transgression {
    /// It puts the action of a pending confirmation out to be performed (against AAEP-6.1-1).
    PerformWhileBlocked {
        /// The confirmation.
        slot: Slot,
    },
    /// It goes on as if a pending clarification were answered (against AAEP-6.1-8).
    AnswerWhileBlocked {
        /// The clarification.
        slot: Slot,
    },
    /// It says that the action of a pending confirmation has begun (against AAEP-6.1-5).
    AnnounceWhileBlocked {
        /// The confirmation.
        slot: Slot,
    },
}
