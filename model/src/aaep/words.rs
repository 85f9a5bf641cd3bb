//! The things that the chapter speaks of, as small values: sessions, subscriptions, confirmations and their classes.
//!
//! The one thing to know: the model has at most two or three of each, so each is an enum that lists them by name.

use crate::packed::packed;

pub use crate::words::{SLOTS, SessionName, Slot};

use super::numbers::{DefaultRule, Numbers, Unlisted};

/// One of the subscriptions. All are sent every confirmation that is asked for while they are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subscriber {
    /// Declares `supports_confirmation_reply: true`.
    Capable,
    /// A forwarder, declares `supports_confirmation_reply: false`; its replies are honoured all the same (AAEP-6.6-4).
    Forwarder,
    /// A second one that declares it.
    SecondCapable,
}

/// How many subscriptions there can be.
pub const SUBSCRIBERS: usize = Subscriber::ALL.len();

impl Subscriber {
    /// All subscriptions, in order; a search with fewer takes the first.
    pub const ALL: [Self; 3] = [Self::Capable, Self::Forwarder, Self::SecondCapable];

    /// Whether it declares that it can reply.
    pub const fn is_capable(self) -> bool {
        match self {
            Self::Capable | Self::SecondCapable => true,
            Self::Forwarder => false,
        }
    }

    /// Position in arrays that hold one entry for each subscription: 0 to 2.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name used in descriptions: `s1`, `s2` or `s3`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Capable => "s1",
            Self::Forwarder => "s2",
            Self::SecondCapable => "s3",
        }
    }
}

/// What a reply says, and what a default says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// The action may be performed.
    Accept,
    /// The action is not to be performed.
    Reject,
}

impl Decision {
    /// Both decisions.
    pub const ALL: [Self; 2] = [Self::Accept, Self::Reject];

    /// The value on the wire: `accept` or `reject`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
        }
    }
}

/// `risk_level` of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
}

impl Risk {
    /// All three levels.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The value on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// `allowed_replies` of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AllowedReplies {
    /// `["accept", "reject"]`, which is also meant when the field is absent.
    Both,
    /// `["accept"]`
    AcceptOnly,
    /// `["reject"]`
    RejectOnly,
    /// `["reject"]` and a value of the producer's own, which no reply can carry (AAEP-REPLY-15).
    RejectOrOwn,
}

impl AllowedReplies {
    /// All four lists.
    pub const ALL: [Self; 4] = [
        Self::Both,
        Self::AcceptOnly,
        Self::RejectOnly,
        Self::RejectOrOwn,
    ];

    /// Whether the list holds the decision.
    pub const fn allows(self, decision: Decision) -> bool {
        match self {
            Self::Both => true,
            Self::AcceptOnly => matches!(decision, Decision::Accept),
            Self::RejectOnly | Self::RejectOrOwn => matches!(decision, Decision::Reject),
        }
    }

    /// How descriptions word it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Both => "accept or reject",
            Self::AcceptOnly => "accept only",
            Self::RejectOnly => "reject only",
            Self::RejectOrOwn => "reject or a value of its own",
        }
    }
}

/// What a confirmation says of its action, and what may answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    /// `risk_level`
    pub risk: Risk,
    /// `irreversible`
    pub irreversible: bool,
    /// `default_decision`
    pub default: Decision,
    /// `allowed_replies`
    pub allowed: AllowedReplies,
}

impl Class {
    /// The class that stands for all where the class does not matter.
    pub const PLAIN: Self = Self {
        risk: Risk::Low,
        irreversible: false,
        default: Decision::Reject,
        allowed: AllowedReplies::Both,
    };

    /// What the table of 6.4.1 says of the default.
    pub const fn default_rule(self, numbers: Numbers) -> DefaultRule {
        numbers.default_of(self.irreversible, self.risk as usize)
    }

    /// The rows of that table, in the text AAEP-6.4.1-1 and AAEP-6.4.1-2: a default of accept is forbidden.
    pub const fn forbids_default_accept(self, numbers: Numbers) -> bool {
        matches!(self.default_rule(numbers), DefaultRule::MustReject)
    }

    /// AAEP-6.3.4-6: whether a reply may carry the decision. Where both are allowed the list of replies may be absent.
    pub const fn allows(self, decision: Decision, numbers: Numbers) -> bool {
        match (self.allowed, numbers.unlisted) {
            (AllowedReplies::Both, Unlisted::Accept) => matches!(decision, Decision::Accept),
            (AllowedReplies::Both, Unlisted::Reject) => matches!(decision, Decision::Reject),
            (_, Unlisted::AcceptOrReject)
            | (
                AllowedReplies::AcceptOnly
                | AllowedReplies::RejectOnly
                | AllowedReplies::RejectOrOwn,
                _,
            ) => self.allowed.allows(decision),
        }
    }

    /// Everything in 6 bits.
    pub(super) fn code(self) -> u64 {
        packed([
            (self.risk as u64, 2),
            (u64::from(self.irreversible), 1),
            (self.default as u64, 1),
            (self.allowed as u64, 2),
        ])
    }
}

/// What a clarification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clarifies {
    /// `accepted_response_kinds`
    pub takes: Takes,
    /// Whether it has a `default_response`.
    pub default: bool,
}

impl Clarifies {
    /// What stands for all where nothing of it matters.
    pub const PLAIN: Self = Self {
        takes: Takes::Words,
        default: false,
    };

    /// Everything in 4 bits, from 1 to 10; where no reading is told by it in 3.
    pub(super) const fn code(self) -> u64 {
        1 + (self.takes as u64) * 2 + self.default as u64
    }
}

/// What a clarification takes for a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Takes {
    /// `freetext`: any string.
    Words,
    /// `multiple_choice`: one of its choices.
    Choice,
    /// `yes_no` and `numeric`: a boolean or a number.
    Several,
    /// No kinds are listed. Asked only where a reading is told by it.
    Unlisted,
    /// `freetext` and `multiple_choice`. Asked only where a reading is told by it.
    ChoiceOrWords,
}

impl Takes {
    /// A response that it takes. Of several kinds it is one of the last.
    pub const fn right(self) -> Response {
        match self {
            Self::Words | Self::Choice | Self::Unlisted | Self::ChoiceOrWords => Response::Choice,
            Self::Several => Response::Number,
        }
    }

    /// The responses of which each comes to something else: the right one first.
    pub const fn tried(self) -> &'static [Response] {
        match self {
            Self::Words | Self::Unlisted => &[Response::Choice, Response::Number],
            Self::Choice | Self::ChoiceOrWords => {
                &[Response::Choice, Response::Word, Response::Number]
            }
            Self::Several => &[Response::Number, Response::Word],
        }
    }

    /// How descriptions word it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "any words",
            Self::Choice => "one of its choices",
            Self::Several => "a boolean or a number",
            Self::Unlisted => "no kind listed",
            Self::ChoiceOrWords => "any words or one of its choices",
        }
    }
}

/// What a reply to a clarification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Response {
    /// A string that is one of the choices, where there are any.
    Choice,
    /// A string that is none of them.
    Word,
    /// A number.
    Number,
}

impl Response {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Choice, Self::Word, Self::Number];

    /// How descriptions word it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Choice => "a choice",
            Self::Word => "a word",
            Self::Number => "a number",
        }
    }
}

/// Work around the questions, which the agent has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Piece {
    /// A tool runs that nobody is asked about (`tool`): one at a time.
    Run {
        /// Its session.
        session: SessionName,
        /// Whether it cannot be undone, so that it is refused.
        irreversible: bool,
    },
    /// That tool has come back (`finish_tool`, status success).
    Finish {
        /// Its session.
        session: SessionName,
    },
    /// A chunk of the one output that a run has (`output`).
    Write {
        /// Its session.
        session: SessionName,
        /// Whether it is the last.
        complete: bool,
    },
    /// A session is handed off (`handoff`).
    HandOff {
        /// Which.
        session: SessionName,
    },
}

impl Piece {
    /// The session that it is of.
    pub const fn session(self) -> SessionName {
        match self {
            Self::Run { session, .. }
            | Self::Finish { session }
            | Self::Write { session, .. }
            | Self::HandOff { session } => session,
        }
    }
}

/// What comes of work around the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Worked {
    /// `state.changed` to `calling_tool`.
    Calling,
    /// `tool.invoked`
    Invoked {
        /// `irreversible`
        irreversible: bool,
    },
    /// The tool is to run now.
    Perform,
    /// `tool.completed`
    Completed,
    /// If the tool has not begun to run, it must not begin any more.
    Withdraw,
    /// After a restart: the tool is not known to be done.
    InDoubt,
    /// `state.changed` to `writing_output`.
    Writing,
    /// `state.changed` to `thinking`.
    Thinking,
    /// `output.streaming`
    Chunk {
        /// How many chunks stand before it.
        position: u8,
        /// Whether it is the last.
        complete: bool,
    },
    /// `state.changed` to `handing_off`.
    HandingOff,
    /// `handoff.requested`
    HandedOff,
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionOutcome {
    /// `agent.session.completed`
    Completed,
    /// `agent.session.errored`
    Errored,
    /// `agent.session.cancelled`
    Cancelled,
}

impl SessionOutcome {
    /// All three outcomes.
    pub const ALL: [Self; 3] = [Self::Completed, Self::Errored, Self::Cancelled];

    /// The word of the wire format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Errored => "errored",
            Self::Cancelled => "cancelled",
        }
    }
}
