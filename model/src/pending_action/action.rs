//! What can happen: one [`Action`] for each step of the loop, the deciders, the network, the host and time.

use super::words::{Decision, Flaw, Proposal, SessionName, Slot, ToolStatus};

/// One step. Positions are those of [`super::message::Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The loop proposes a call (`propose`). It fills the next free slot, unless it is refused.
    Propose(Proposal),
    /// The loop proposes a call that is not well-formed (`propose`).
    ProposeFlawed(Flaw),
    /// A client sends a decision on an action that it was told of. No call into the ledger yet.
    Send {
        /// Whose id it gives.
        slot: Slot,
        /// What is decided.
        decision: Decision,
        /// What is peculiar about it. Whatever is wrong with it spends the budget for forgeries.
        manner: Manner,
    },
    /// Somebody sends an allow with an id that was never minted. No call yet.
    Guess,
    /// The network makes two messages out of one, or somebody keeps one to replay it. No call.
    Duplicate {
        /// Position in the network.
        index: u8,
    },
    /// The decision at this position arrives (`decide`).
    Deliver {
        /// Position in the network.
        index: u8,
    },
    /// The validated decision at this position takes effect. Only where a rule is left out are the two steps apart.
    Apply {
        /// Position among the validated decisions.
        index: u8,
    },
    /// The owner says yes in free text (`say`).
    Say,
    /// The host reports what became of a call (`finish_tool`).
    FinishTool {
        /// Which call.
        slot: Slot,
        /// What became of it.
        status: ToolStatus,
    },
    /// The host cancels an action (`cancel`).
    Cancel {
        /// Which action.
        slot: Slot,
    },
    /// The host ends a session (`end_session`).
    EndSession(SessionName),
    /// The host carries out the head of the outbox. No call.
    CarryOut,
    /// The clock moves on to the next moment at which there is something to see. No call.
    Tick,
    /// The clock is set back by a tick. No call.
    SetBack,
    /// The host calls only to let time pass (`tick`).
    ServeTimer,
    /// The process dies with its outbox and comes back with what is durable (`restart`).
    Restart,
    /// The host keeps the ledger as it is now (`snapshot`). Nothing comes of it.
    Snapshot,
    /// The host loads the snapshot (`rollback`).
    Rollback,
}

impl Action {
    /// Whether the step is a call into the ledger that tells it the time; other steps concern the world around it alone.
    pub const fn is_call(self) -> bool {
        match self {
            Self::Send { .. }
            | Self::Guess
            | Self::Duplicate { .. }
            | Self::CarryOut
            | Self::Tick
            | Self::SetBack
            | Self::Snapshot => false,
            Self::Propose(_)
            | Self::ProposeFlawed(_)
            | Self::Deliver { .. }
            | Self::Apply { .. }
            | Self::Say
            | Self::FinishTool { .. }
            | Self::Cancel { .. }
            | Self::EndSession(_)
            | Self::ServeTimer
            | Self::Restart
            | Self::Rollback => true,
        }
    }
}

/// What is peculiar about a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Manner {
    /// It gives the action's id alone.
    Plain,
    /// It gives the nonce as well, and arguments that mean the same as the proposed ones.
    Full,
    /// It comes from somebody who is on no list of deciders.
    Stranger,
    /// It gives another nonce.
    OtherNonce,
    /// It gives other arguments.
    Edited,
    /// All that is wrong with the three before.
    Everything,
}

impl Manner {
    /// Whether something is wrong with it.
    pub const fn is_forged(self) -> bool {
        match self {
            Self::Plain | Self::Full => false,
            Self::Stranger | Self::OtherNonce | Self::Edited | Self::Everything => true,
        }
    }
}
