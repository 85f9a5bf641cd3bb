//! The things that the contract speaks of, as small values: decisions and deciders, proposals, arguments, outcomes.

pub use crate::words::{SLOTS, SessionName, Slot};

use super::readings::{ExpiryAbsent, Reading};
use super::rules::Refusal;

/// What a decider decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// The call is to run.
    Allow,
    /// The call is not to run.
    Deny,
}

impl Decision {
    /// Both decisions.
    pub const ALL: [Self; 2] = [Self::Allow, Self::Deny];

    /// The decision on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// Somebody whom the host has identified and who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decider {
    /// On every list of deciders.
    Owner,
    /// On no list of deciders.
    Stranger,
}

impl Decider {
    /// The name used in descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Stranger => "stranger",
        }
    }
}

/// What the tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Nothing.
    Read,
    /// It destroys, writes or reaches out, which are treated alike.
    Destructive,
}

/// A tool call that the loop proposes. Identity, summary, label and the arguments themselves are the same in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Proposal {
    /// The session that it belongs to.
    pub session: SessionName,
    /// How many ticks after the caller's clock it expires; `expires_at` is absent if nothing.
    pub lifetime: Option<u8>,
    /// Whether `deciders` is absent; if not, it lists the owner alone.
    pub by_anyone: bool,
    /// `idempotent`: the tool may run again after a crash.
    pub idempotent: bool,
    /// What the tool does to the world.
    pub effect: Effect,
}

impl Proposal {
    /// One that never expires, for the owner to decide, to run at most once.
    pub const PLAIN: Self = Self {
        session: SessionName::A,
        lifetime: None,
        by_anyone: false,
        idempotent: false,
        effect: Effect::Destructive,
    };

    /// The same as a ledger records it: one without expiry may get one of its own, a tick ahead.
    pub(super) const fn read_as(self, reading: Reading) -> Self {
        match (self.lifetime, reading.expiry_absent) {
            (None, ExpiryAbsent::After) => Self {
                lifetime: Some(1),
                ..self
            },
            (None, ExpiryAbsent::Never | ExpiryAbsent::Refused) | (Some(_), _) => self,
        }
    }
}

/// What is wrong with a proposal that is not well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// An id is empty.
    NoId,
    /// The list of deciders is empty.
    NoDecider,
    /// The arguments are no JSON that has one meaning.
    LooseArguments,
    /// The label is longer than 80 characters.
    LongLabel,
}

impl Flaw {
    /// All flaws.
    pub const ALL: [Self; 4] = [
        Self::NoId,
        Self::NoDecider,
        Self::LooseArguments,
        Self::LongLabel,
    ];

    /// How a ledger refuses the proposal.
    pub const fn refusal(self) -> Refusal {
        match self {
            Self::NoId => Refusal::NoId,
            Self::NoDecider => Refusal::NoDecider,
            Self::LooseArguments => Refusal::LooseArguments,
            Self::LongLabel => Refusal::LongLabel,
        }
    }
}

/// Arguments, compared with the proposed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arguments {
    /// The proposed ones, byte by byte.
    Original,
    /// The same by their meaning (canonical JSON), in other bytes.
    Alike,
    /// Others.
    Edited,
}

/// The nonce that a decision gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nonce {
    /// None.
    Absent,
    /// That of the action whose id it gives.
    Right,
    /// Another.
    Wrong,
}

/// What became of a call that was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolStatus {
    /// It ran and succeeded.
    Success,
    /// It ran and failed.
    Error,
    /// It never ran: the host dropped it, or found out after a crash.
    NotRun,
}

impl ToolStatus {
    /// The status on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::NotRun => "not_run",
        }
    }

    /// The status of this place in the order.
    pub(super) const fn from_place(place: u8) -> Self {
        match place {
            0 => Self::Success,
            1 => Self::Error,
            _ => Self::NotRun,
        }
    }
}

/// A message of the transcript about an action. Each comes once: its id is made of the action's and of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Note {
    /// `confirmation_request`, which everybody sees.
    Request,
    /// `tool_call`
    Call,
    /// `denied_result`
    Denied,
    /// `expired_result`
    Expired,
    /// `cancelled_result`
    Cancelled,
    /// `tool_result`
    Result(ToolStatus),
}

impl Note {
    /// Its kind as a bit among those of a transcript.
    pub const fn bit(self) -> u8 {
        match self {
            Self::Request => 1,
            Self::Call => 1 << 1,
            Self::Denied => 1 << 2,
            Self::Expired => 1 << 3,
            Self::Cancelled => 1 << 4,
            Self::Result(_) => 1 << 5,
        }
    }

    /// The kinds with which an action ends.
    pub const FINAL: u8 = 0b11_1100;

    /// The message as a number below 8.
    pub(super) const fn code(self) -> u16 {
        match self {
            Self::Request => 0,
            Self::Call => 1,
            Self::Denied => 2,
            Self::Expired => 3,
            Self::Cancelled => 4,
            Self::Result(status) => 5 + status as u16,
        }
    }

    /// The message of a code made by [`Note::code`].
    pub(super) const fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Request,
            1 => Self::Call,
            2 => Self::Denied,
            3 => Self::Expired,
            4 => Self::Cancelled,
            status => Self::Result(ToolStatus::from_place(status - 5)),
        }
    }
}
