//! One step of a wide run as plain data: what a generator draws, a fuzzer mutates and a file keeps.
//!
//! The one thing to know: any bytes are a step. A step names things by their place (the third newest action, the next
//! deadline), so that it still means something when the steps before it are left out.

use serde::{Deserialize, Serialize};

use crate::wide::Clock;

/// How many bytes are a step.
pub const BYTES: usize = 12;

/// One step: time passes or does not, and then something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The host's clock before it happens.
    pub clock: Clock,
    /// What happens.
    pub asked: Asked,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Asked {
    /// A call is proposed.
    Propose(Proposed),
    /// Somebody decides.
    Decide(Decided),
    /// Somebody says something.
    Say {
        /// Who; nobody from 12 on.
        by: u8,
        /// What.
        text: u8,
    },
    /// A tool comes back.
    Finish {
        /// From which call.
        action: Which,
        /// Whether it failed.
        failed: bool,
        /// Whether it was never begun instead.
        #[serde(default)]
        never_begun: bool,
        /// What it returned; nothing, where 0.
        result: u8,
    },
    /// A question is taken back.
    Cancel {
        /// Which.
        action: Which,
    },
    /// A session ends.
    EndSession {
        /// Which.
        session: Session,
    },
    /// The state is put out.
    Snapshot,
    /// An older state is handed back.
    Rollback {
        /// Which of those put out.
        snapshot: u8,
    },
    /// The process dies and comes back.
    Restart {
        /// How many outputs were not carried out; all of them at most.
        lost: u8,
    },
    /// Nothing but time.
    Tick,
}

/// A call that is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposed {
    /// In which session.
    pub session: Session,
    /// Who proposes, and in which run.
    pub agent: u8,
    /// The tool.
    pub tool: u8,
    /// Which arguments, and how spelled.
    pub arguments: u8,
    /// What the call does.
    pub effect: u8,
    /// The words of the question.
    pub words: u8,
    /// When it closes, in milliseconds from now.
    pub expires_in: Option<i64>,
    /// Who may decide: one bit each. An empty list where no bit is set.
    pub deciders: Option<u8>,
    /// Whether it may run twice.
    pub idempotent: bool,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// About which action.
    pub action: Which,
    /// With which nonce.
    pub nonce: Quoted,
    /// Whether it allows.
    pub allows: bool,
    /// By whom.
    pub by: Decider,
    /// The arguments that it approves, if it says.
    pub arguments: Option<Approved>,
}

/// One of 8 sessions, each followed by another when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Which.
    pub place: u8,
    /// Whether the one that has ended is meant.
    pub ended: bool,
}

/// One of the actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Among those that wait, counted from the newest.
    Open(u8),
    /// Among those that were released and have not come back, counted from the newest.
    Running(u8),
    /// Among all, counted from the newest.
    Any(u8),
    /// One that there never was.
    Unknown,
}

/// The nonce in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quoted {
    /// None.
    Absent,
    /// The action's.
    Right,
    /// That of the action proposed before it.
    Neighbour,
    /// None that there ever was.
    Unknown,
}

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// One of those who may.
    Entitled(u8),
    /// Anyone.
    Person(u8),
    /// Nobody: a name of blanks.
    Blank,
}

/// The arguments that a decision approves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approved {
    /// The action's, however spelled.
    Same(u8),
    /// Any.
    Any(u8),
}

/// Spans that matter: the shortest, about a second, a minute, an hour, and days.
const SPANS: [i64; 12] = [
    1,
    2,
    3,
    499,
    999,
    1_000,
    1_001,
    30_000,
    59_999,
    60_000,
    3_600_000,
    172_800_001,
];

impl Step {
    /// The step that these bytes are; what is missing counts as 0.
    pub fn of(bytes: &[u8]) -> Self {
        let mut drawn = Drawn(bytes);
        let clock = drawn.clock();
        let asked = drawn.asked();
        Self { clock, asked }
    }
}

/// Bytes that choices are drawn from.
struct Drawn<'a>(&'a [u8]);

impl Drawn<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn span(&mut self) -> i64 {
        SPANS[usize::from(self.byte()) % SPANS.len()]
    }

    fn clock(&mut self) -> Clock {
        match self.byte() {
            0..150 => Clock::Stays,
            150..190 => Clock::Ahead(self.span()),
            190..245 => {
                let which = self.byte();
                let place = if which < 128 { 0 } else { which % 8 };
                Clock::Deadline(place, i64::from(which % 3) - 1)
            }
            245..=255 => Clock::Back(self.span()),
        }
    }

    fn asked(&mut self) -> Asked {
        match self.byte() {
            0..70 => Asked::Propose(self.proposed()),
            70..150 => Asked::Decide(self.decided()),
            150..190 => self.finished(),
            190..200 => Asked::Cancel {
                action: self.which(),
            },
            200..208 => Asked::Say {
                by: self.byte() % 14,
                text: self.byte(),
            },
            208..215 => Asked::EndSession {
                session: self.session(),
            },
            215..218 => Asked::Snapshot,
            218..220 => Asked::Rollback {
                snapshot: self.byte(),
            },
            220..230 => Asked::Restart { lost: self.lost() },
            230..=255 => Asked::Tick,
        }
    }

    fn finished(&mut self) -> Asked {
        let action = self.which();
        let drawn = self.byte();
        Asked::Finish {
            action,
            failed: drawn < 64,
            never_begun: drawn >= 208,
            result: self.byte() % 4,
        }
    }

    fn lost(&mut self) -> u8 {
        match self.byte() {
            0..64 => 0,
            drawn @ 64..224 => drawn % 6,
            224..=255 => u8::MAX,
        }
    }

    fn session(&mut self) -> Session {
        let drawn = self.byte();
        Session {
            place: drawn % 8,
            ended: drawn >= 240,
        }
    }

    fn proposed(&mut self) -> Proposed {
        let session = self.session();
        let (agent, tool) = (self.byte() % 16, self.byte() % 8);
        let (arguments, effect, words) = (self.byte(), self.byte() % 4, self.byte());
        let expires_in = match self.byte() {
            0..64 => None,
            drawn @ 64..248 => Some(SPANS[usize::from(drawn) % SPANS.len()]),
            drawn @ 248..=255 => Some(i64::from(drawn) - 254),
        };
        let drawn = self.byte();
        let deciders = (drawn >= 100).then_some(drawn.wrapping_mul(37));
        Proposed {
            session,
            agent,
            tool,
            arguments,
            effect,
            words,
            expires_in,
            deciders,
            idempotent: drawn.is_multiple_of(3),
        }
    }

    fn decided(&mut self) -> Decided {
        let action = self.which();
        let nonce = match self.byte() {
            0..120 => Quoted::Absent,
            120..230 => Quoted::Right,
            230..245 => Quoted::Neighbour,
            245..=255 => Quoted::Unknown,
        };
        let drawn = self.byte();
        let by = match drawn {
            0..200 => Decider::Entitled(drawn % 8),
            200..248 => Decider::Person(drawn % 12),
            248..=255 => Decider::Blank,
        };
        let drawn = self.byte();
        let arguments = match drawn {
            0..140 => None,
            140..210 => Some(Approved::Same(drawn)),
            210..=255 => Some(Approved::Any(drawn)),
        };
        Decided {
            action,
            nonce,
            allows: self.byte() < 160,
            by,
            arguments,
        }
    }

    fn which(&mut self) -> Which {
        let drawn = self.byte();
        match drawn {
            0..120 => Which::Open(drawn % 32),
            120..200 => Which::Running(drawn % 32),
            200..252 => Which::Any(drawn % 32),
            252..=255 => Which::Unknown,
        }
    }
}
