//! The things that the specification speaks of, as small values: purposes, scopes, levels of danger, lifetimes.
//!
//! The one thing to know: a tick is 60 seconds, of which all that the text counts in seconds is a multiple.

pub use crate::words::{SLOTS, SessionName, Slot};

use super::numbers::{Lifetimes, Numbers};

/// What a token is for; told by its prefix (AQL-2.1-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// A dangerous operation is confirmed.
    Confirmation,
    /// A quota pause is continued.
    QuotaContinue,
}

impl Purpose {
    /// Both purposes.
    pub const ALL: [Self; 2] = [Self::Confirmation, Self::QuotaContinue];

    /// The prefix of its tokens: `conf_` or `quota_continue_`.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Confirmation => "conf_",
            Self::QuotaContinue => "quota_continue_",
        }
    }

    /// The other purpose.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Confirmation => Self::QuotaContinue,
            Self::QuotaContinue => Self::Confirmation,
        }
    }
}

/// One of two alike things, of which the second is the wrong one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// The first.
    First,
    /// The second.
    Second,
}

impl Which {
    /// Both.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Its number in descriptions: 1 or 2.
    pub const fn number(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }
}

/// The parameters of a call: two, of which a list may leave one out. Each names a resource or widens the scope, so that it
/// counts unless a list says otherwise (AQL-3.2-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parameters {
    /// Those that a token is asked for.
    First,
    /// Others: the one that every list names differs.
    Second,
    /// Others: the one that a narrow list leaves out differs, and it alone.
    Third,
}

impl Parameters {
    /// Their number in descriptions: 1 to 3.
    pub const fn number(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => 2,
            Self::Third => 3,
        }
    }
}

/// Which parameters of an operation count: the operator's list (`critical`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    /// As it was set up: both.
    Unset,
    /// The list leaves one out.
    Narrow,
    /// Both count: the list names both, or neither, which leaves all of a call bound (AQL-3.2-1).
    Wide,
}

impl List {
    /// The lists that an operator can set.
    pub const ALL: [Self; 2] = [Self::Narrow, Self::Wide];

    /// AQL-3.2-1: whether it names nothing of a call. Which of both the wide one does goes by the oracle, so that there are no more
    /// states than with one of them.
    pub const fn names_nothing(self, oracle: Oracle) -> bool {
        matches!((self, oracle), (Self::Wide, Oracle::Uniform))
    }
}

/// What a call is for, and what a token is bound to (AQL-3.2-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// What the token is for.
    pub purpose: Purpose,
    /// The operation.
    pub operation: Which,
    /// Its parameters, beside those that a token is asked for. What no list names is not in the model.
    pub parameters: Parameters,
    /// The adapter.
    pub adapter: Which,
    /// The session that the call names, or that the token is bound to.
    pub session: Option<SessionName>,
}

impl Scope {
    /// The scope that stands for all where it does not matter.
    pub const PLAIN: Self = Self {
        purpose: Purpose::Confirmation,
        operation: Which::First,
        parameters: Parameters::First,
        adapter: Which::First,
        session: None,
    };

    /// The scope as a number below 128.
    pub(super) const fn code(self) -> u16 {
        let session = match self.session {
            None => 0,
            Some(session) => 1 + session as u16,
        };
        (self.purpose as u16) << 6
            | (self.operation as u16) << 5
            | (self.parameters as u16) << 3
            | (self.adapter as u16) << 2
            | session
    }

    /// The scope of a code made by [`Scope::code`].
    pub(super) const fn from_code(code: u16) -> Self {
        const fn which(code: u16, bit: u16) -> Which {
            if (code >> bit) & 1 == 0 {
                Which::First
            } else {
                Which::Second
            }
        }
        Self {
            purpose: if (code >> 6) & 1 == 0 {
                Purpose::Confirmation
            } else {
                Purpose::QuotaContinue
            },
            operation: which(code, 5),
            parameters: match code >> 3 & 3 {
                0 => Parameters::First,
                1 => Parameters::Second,
                _ => Parameters::Third,
            },
            adapter: which(code, 2),
            session: match code & 3 {
                0 => None,
                1 => Some(SessionName::A),
                _ => Some(SessionName::B),
            },
        }
    }
}

/// The danger level of an operation (AQL-5.1-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Danger {
    /// Safe (0), and reversible (1), which is treated alike: it runs at once.
    Safe,
    /// Destructive (2), and dangerous (3), which is treated alike.
    Destructive,
    /// Forbidden (4).
    Forbidden,
}

impl Danger {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Safe, Self::Destructive, Self::Forbidden];

    /// The level's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Destructive => "destructive",
            Self::Forbidden => "forbidden",
        }
    }
}

/// The longest tolerance (AQL-5.1-5) and the most common lifetime (AQL-5.1-1) of the text, in ticks.
pub const FIVE_MINUTES: u8 = 5;

/// So many seconds in ticks.
pub fn ticks(seconds: u16) -> u8 {
    u8::try_from(seconds / 60).unwrap_or(u8::MAX)
}

/// `ttl_seconds` of a call, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifetime {
    /// It is absent: the default of the context.
    Default,
    /// This many ticks.
    Ticks(u8),
}

/// A call without a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// What it is for; its session is the one that it names.
    pub scope: Scope,
    /// The danger level of the operation.
    pub danger: Danger,
    /// `max_uses`: 1 or 2.
    pub max_uses: u8,
    /// `ttl_seconds`
    pub lifetime: Lifetime,
}

impl Request {
    /// Whether it needs a token: every quota pause does, and every operation above reversible (AQL-1.3-1, AQL-5.1-8).
    pub const fn is_gated(&self) -> bool {
        !matches!(
            (self.scope.purpose, self.danger),
            (Purpose::Confirmation, Danger::Safe)
        )
    }

    /// AQL-5.1-1: the lifetime that is granted where none is asked for, in ticks.
    pub fn default_lifetime(&self, numbers: &Numbers) -> u8 {
        ticks(self.lifetimes(numbers).default)
    }

    /// AQL-5.1-1: the longest lifetime, in ticks.
    pub fn longest_lifetime(&self, numbers: &Numbers) -> u8 {
        ticks(self.lifetimes(numbers).longest)
    }

    const fn lifetimes(&self, numbers: &Numbers) -> Lifetimes {
        match (self.scope.purpose, self.danger) {
            (Purpose::QuotaContinue, _) => numbers.quota,
            (Purpose::Confirmation, Danger::Safe | Danger::Destructive) => numbers.destructive,
            (Purpose::Confirmation, Danger::Forbidden) => numbers.forbidden,
        }
    }
}

/// Whether the client can tell the checks apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oracle {
    /// Every check has its code (AQL-4.1-1 and those after it).
    Codes,
    /// Every failure is answered alike (AQL-6.3-2).
    Uniform,
}

impl Oracle {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Codes, Self::Uniform];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Codes => Self::Uniform,
            Self::Uniform => Self::Codes,
        }
    }

    /// The value of `oracle`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Codes => "codes",
            Self::Uniform => "uniform",
        }
    }
}

/// What the tokens are kept in (AQL-5.5-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Store {
    /// It outlasts the process.
    Persistent,
    /// It is lost with the process.
    InMemory,
}

impl Store {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Persistent, Self::InMemory];
}

/// What revokes tokens by itself (AQL-5.3-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trigger {
    /// The session ends (`end_session`).
    SessionEnd(SessionName),
    /// The user logs out of this session (`event` of kind `logout`), of all if none is named.
    Logout(Option<SessionName>),
    /// The adapter is configured otherwise, and then as before (`configure`, twice).
    Configuration(Which),
    /// A security event (`event` of kind `security`).
    Security,
}

impl Trigger {
    /// Whether it concerns a token that is bound to this scope.
    pub fn concerns(self, scope: Scope) -> bool {
        match self {
            Self::SessionEnd(session) | Self::Logout(Some(session)) => {
                scope.session == Some(session)
            }
            Self::Configuration(adapter) => scope.adapter == adapter,
            Self::Logout(None) | Self::Security => true,
        }
    }
}
