//! What may come out of a step, and the ordered list of it.

use super::rules::{Check, Refusal};
use super::words::{Response, SessionName, SessionOutcome, Slot, Worked};

/// One thing that the producer puts out. Events go to every open subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// `session.started`
    Started(SessionName),
    /// `state.changed` to `awaiting_input`.
    AwaitingInput(SessionName),
    /// `awaiting.confirmation` of this confirmation, to every open subscription.
    Asked(Slot),
    /// `awaiting.clarification` of this clarification, to every open subscription.
    Clarify(Slot),
    /// `awaiting.confirmation`, to those subscriptions alone that declare that they can reply (against AAEP-6.7-1; AAEP-EV-16 wants it).
    AskedSome(Slot),
    /// `progress.updated`: this question has got more time.
    MoreTime(Slot),
    /// To the host: what this clarification comes to.
    Answer(Slot, Answered),
    /// `state.changed` from `awaiting_input` to `calling_tool`: what was asked about is accepted.
    CallingTool(SessionName),
    /// `state.changed` from `thinking` to `calling_tool`: a tool still runs.
    CallingToolAgain(SessionName),
    /// `tool.invoked` of this confirmation's action.
    Invoked(Slot),
    /// The action of this confirmation is to be performed now.
    Perform(Slot),
    /// The `state.changed` that reflects a rejected or cancelled action or an answer, to `thinking`: it leaves `awaiting_input`.
    FollowUpLeaving(Slot),
    /// The same from `awaiting_input` to `awaiting_input` (against AAEP-A.4-2, but by the reading that stays).
    FollowUpStaying(Slot),
    /// `tool.completed` of this confirmation's action.
    Completed(Slot),
    /// `state.changed` from `calling_tool` to `thinking`.
    Thinking(SessionName),
    /// If the action of this confirmation has not begun, it must not begin any more.
    Withdraw(Slot),
    /// `session.completed`, `session.errored` or `session.cancelled`.
    Ended(SessionName, SessionOutcome),
    /// What comes of work around the questions in this session.
    Work(SessionName, Worked),
    /// After a restart: this action was released and is not recorded as done.
    InDoubt(Slot),
    /// The constant response to the sender of a message (AAEP-6.3.4-9).
    Respond,
    /// A response that tells the sender which check failed. Never allowed.
    Tell(Check),
    /// What only the operator sees: the reply was ignored, at this check.
    Audit(Check),
    /// The caller erred; nothing was changed.
    Refused(Refusal),
    /// A courtesy notice on the subscription of a late duplicate (AAEP-6.3.5-2).
    Notice,
}

/// What a clarification comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answered {
    /// The response of a reply.
    Reply(Response),
    /// Its default.
    Default,
    /// Nothing: nobody has answered, and it has no default.
    Nobody,
}

impl Output {
    /// The question that the output is about, if it is about one.
    pub const fn slot(self) -> Option<Slot> {
        match self {
            Self::Asked(slot)
            | Self::Clarify(slot)
            | Self::AskedSome(slot)
            | Self::MoreTime(slot)
            | Self::Answer(slot, _)
            | Self::Invoked(slot)
            | Self::Perform(slot)
            | Self::FollowUpLeaving(slot)
            | Self::FollowUpStaying(slot)
            | Self::Completed(slot)
            | Self::Withdraw(slot)
            | Self::InDoubt(slot) => Some(slot),
            Self::Started(_)
            | Self::AwaitingInput(_)
            | Self::CallingTool(_)
            | Self::CallingToolAgain(_)
            | Self::Thinking(_)
            | Self::Ended(..)
            | Self::Work(..)
            | Self::Respond
            | Self::Tell(_)
            | Self::Audit(_)
            | Self::Refused(_)
            | Self::Notice => None,
        }
    }

    /// Whether the output is an event of a session, sent to every open subscription.
    pub const fn is_event(self) -> bool {
        match self {
            Self::Started(_)
            | Self::AwaitingInput(_)
            | Self::Asked(_)
            | Self::Clarify(_)
            | Self::AskedSome(_)
            | Self::MoreTime(_)
            | Self::CallingTool(_)
            | Self::CallingToolAgain(_)
            | Self::Invoked(_)
            | Self::FollowUpLeaving(_)
            | Self::FollowUpStaying(_)
            | Self::Completed(_)
            | Self::Thinking(_)
            | Self::Ended(..)
            | Self::Work(
                _,
                Worked::Calling
                | Worked::Invoked { .. }
                | Worked::Completed
                | Worked::Writing
                | Worked::Thinking
                | Worked::Chunk { .. }
                | Worked::HandingOff
                | Worked::HandedOff,
            ) => true,
            Self::Work(_, Worked::Perform | Worked::Withdraw | Worked::InDoubt)
            | Self::Perform(_)
            | Self::Answer(..)
            | Self::Withdraw(_)
            | Self::InDoubt(_)
            | Self::Respond
            | Self::Tell(_)
            | Self::Audit(_)
            | Self::Refused(_)
            | Self::Notice => false,
        }
    }
}

impl crate::outputs::Output for Output {
    const BLANK: Self = Self::Respond;
}

/// The outputs of one step, in order; room for more than any step of any ablation puts out.
pub type Outputs = crate::outputs::Outputs<Output, 20>;
