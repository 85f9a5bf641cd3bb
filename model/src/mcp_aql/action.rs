//! What can happen: one [`Action`] for each step of the operator, the clients, the network, the host and time.

use super::message::Carried;
use super::words::{List, Oracle, Request, Slot, Store, Trigger, Which};

/// One step. Positions are those of [`super::message::Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The operator configures both adapters alike (`configure`, twice). The first step of every run.
    SetUp {
        /// `clock_skew_tolerance_seconds` in ticks: 0, 5, or 6, which is out of range and refused.
        tolerance: u8,
        /// `oracle`
        oracle: Oracle,
    },
    /// A client makes a call without a token (`call`). If it is gated, it fills the next free slot, unless it is refused.
    Request(Request),
    /// A client sends a call with the token in this slot. No call into the gatekeeper yet.
    Send {
        /// Whose token it carries.
        slot: Slot,
        /// What is wrong with it. An honest call beyond the token's uses is a retry, and spends the budget for it.
        fault: Fault,
    },
    /// Somebody sends a call with a token that was never issued. No call into the gatekeeper yet.
    Guess,
    /// The call at this position arrives at the gatekeeper (`call`).
    Deliver {
        /// Position in the network.
        index: u8,
        /// How far the clock of the node at which it arrives is off, in moments: `now` is the clock plus this.
        skew: i8,
    },
    /// The validated call at this position is redeemed. Only where a rule is left out are the two steps apart.
    Redeem {
        /// Position among the validated calls.
        index: u8,
    },
    /// The host performs an operation that this token admitted. No call.
    CarryOut {
        /// The token.
        slot: Slot,
    },
    /// Somebody revokes a token by hand (`introspect`, `revoke_token`).
    Revoke(Carried),
    /// Somebody asks for a token's status (`introspect`, `token_status`).
    AskStatus(Carried),
    /// Something happens that revokes tokens (`end_session`, `event`, `configure`).
    Trigger(Trigger),
    /// The operator configures an adapter as it is (`configure`): nothing changes.
    Reconfigure(Which),
    /// The operator changes which parameters of an operation of the first adapter count (`configure`, `critical`).
    Relist {
        /// The operation.
        operation: Which,
        /// Its list from now on.
        list: List,
    },
    /// The clock moves on to the next moment at which there is something to see. No call.
    Tick,
    /// The store forgets a token that can never be valid again, if it has not yet (`tick`). It may do so in any call.
    Purge {
        /// The token.
        slot: Slot,
    },
    /// The process dies with its outbox and comes back, with its store or without (`restart`).
    Restart(Store),
}

impl Action {
    /// Whether the step is a call into the gatekeeper; other steps concern the world around it alone.
    pub const fn is_call(self) -> bool {
        match self {
            Self::Send { .. } | Self::Guess | Self::CarryOut { .. } | Self::Tick => false,
            Self::SetUp { .. }
            | Self::Request(_)
            | Self::Deliver { .. }
            | Self::Redeem { .. }
            | Self::Revoke(_)
            | Self::AskStatus(_)
            | Self::Trigger(_)
            | Self::Reconfigure(_)
            | Self::Relist { .. }
            | Self::Purge { .. }
            | Self::Restart(_) => true,
        }
    }
}

/// How a call differs from the one that its token was issued for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Not at all.
    None,
    /// It is for the other purpose.
    Purpose,
    /// It is for another operation.
    Operation,
    /// Its critical parameters are others.
    Parameters,
    /// It is made to another adapter.
    Adapter,
    /// It names another session.
    Session,
    /// All of these.
    Everything,
    /// It is for an operation that needs no token.
    Ungated,
    /// Its parameters are others: the one that a narrow list leaves out, and it alone.
    Unlisted,
    /// It is rated higher by now.
    Rating,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Purpose,
        Self::Operation,
        Self::Parameters,
        Self::Adapter,
        Self::Session,
        Self::Everything,
        Self::Ungated,
        Self::Unlisted,
        Self::Rating,
    ];
}
