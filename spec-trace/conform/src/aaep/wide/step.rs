//! One step of a wide run as plain data: what a generator draws, a fuzzer mutates and a file keeps.
//!
//! The one thing to know: any bytes are a step. A step names things by their place (the newest question that waits, the next
//! deadline), so that it still means something when steps before it are left out.

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
    /// A session begins.
    StartSession {
        /// At which of 8 places.
        place: u8,
        /// Whether its id is for the producer to make; else it is that of the place.
        unnamed: bool,
    },
    /// A subscription is opened.
    Subscribe {
        /// At which of 8 places.
        place: u8,
        /// Whether it says that it can reply.
        can_reply: bool,
    },
    /// A subscription is closed.
    Unsubscribe {
        /// At which place.
        place: u8,
    },
    /// A question is to be asked.
    Confirm(Confirmed),
    /// A reply arrives.
    Deliver(Delivered),
    /// A reply arrives once more, byte for byte.
    Replay {
        /// Which of those that came, counted from the newest.
        message: u8,
        /// Over whose connection.
        sender: Sender,
    },
    /// A question is withdrawn.
    Cancel {
        /// Which.
        question: Which,
    },
    /// A tool comes back.
    Finish {
        /// Which of those that were told to run, counted from the newest.
        call: u8,
        /// Whether the call is named, or the action alone.
        named: bool,
        /// How it came out, in the order of the driver protocol.
        status: u8,
    },
    /// A session ends.
    EndSession {
        /// At which place.
        place: u8,
        /// How, in the order of the driver protocol.
        outcome: u8,
    },
    /// The process dies and comes back.
    Restart {
        /// How many outputs were not carried out, as far as they can be lost.
        lost: u8,
    },
    /// Nothing but time.
    Tick,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmed {
    /// In the session at which place.
    pub place: u8,
    /// About which of 32 actions.
    pub action: u8,
    /// The tool that runs it.
    pub tool: u8,
    /// Its risk, whether it can be undone, and the default: which of the 12 there are.
    pub class: u8,
    /// How long it waits, in seconds.
    pub timeout_seconds: u64,
    /// Which replies are allowed.
    pub allowed: u8,
    /// Which words it has.
    pub words: u8,
}

/// A reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delivered {
    /// To which question.
    pub question: Which,
    /// Whether it accepts.
    pub accepts: bool,
    /// When the user is said to have decided.
    pub claims: Claim,
    /// Who sends it.
    pub sender: Sender,
    /// Whose subscription it names, where that is not the sender's: the one at this place.
    pub names: Option<u8>,
    /// Whether it carries a modified action.
    pub modified: bool,
    /// What is wrong with its form; nothing where 0.
    pub flaw: u8,
    /// In which of the right or wrong ways it is written.
    pub spelling: u8,
}

/// A question that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Among those that wait, counted from the newest.
    Open(u8),
    /// Among all, counted from the newest.
    Any(u8),
    /// None: a token that was never issued.
    Unknown(u8),
}

/// A time that a reply claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// So many milliseconds from now.
    Now(i64),
    /// So many milliseconds from the deadline of the question.
    Deadline(i64),
}

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// The subscriber at this place.
    Subscriber(u8),
    /// The same, whom the transport has not authenticated.
    Unauthenticated(u8),
    /// Somebody authenticated without a subscription.
    Nobody,
}

impl Step {
    /// The step that the bytes are; zeros stand for those that are missing.
    pub fn of(bytes: &[u8]) -> Self {
        let mut all = [0; BYTES];
        for (byte, given) in all.iter_mut().zip(bytes) {
            *byte = *given;
        }
        let [clock, by, kind, rest @ ..] = all;
        Self {
            clock: clock_of(clock, by),
            asked: asked_of(kind, rest),
        }
    }
}

fn clock_of(kind: u8, by: u8) -> Clock {
    let amount = i64::from(by);
    match kind {
        0..=110 => Clock::Stays,
        111..=150 => Clock::Ahead(amount % 4),
        151..=175 => Clock::Ahead(amount * 37),
        176..=190 => Clock::Ahead(amount * 1_000),
        191..=194 => Clock::Ahead(amount * 60_000),
        195..=205 => Clock::Back(amount * amount * 50),
        206..=255 => Clock::Deadline(by / 64, i64::from(by % 3) - 1),
    }
}

fn asked_of(kind: u8, by: [u8; 9]) -> Asked {
    match kind {
        0..=11 => Asked::StartSession {
            place: place_of(by[0], by[1]),
            unnamed: by[2] < 20,
        },
        12..=23 => Asked::Subscribe {
            place: place_of(by[0], by[1]),
            can_reply: by[2] < 160,
        },
        24..=31 => Asked::Unsubscribe {
            place: place_of(by[0], by[1]),
        },
        32..=95 => Asked::Confirm(Confirmed {
            place: place_of(by[0], by[1]),
            action: by[2] % 32,
            tool: by[3] % 5,
            class: by[4] % 12,
            timeout_seconds: seconds_of(by[5]),
            allowed: if by[6] < 180 { 0 } else { by[6] % 10 },
            words: if by[7] < 240 { by[7] % 8 } else { by[7] },
        }),
        96..=175 => Asked::Deliver(Delivered {
            question: which_of(by[0]),
            accepts: by[1] < 150,
            claims: claim_of(by[2], by[3]),
            sender: sender_of(by[4], by[5]),
            names: (by[6] < 24).then_some(by[6] % 8),
            modified: (24..40).contains(&by[6]),
            flaw: if by[7] < 200 { 0 } else { 1 + by[7] % 12 },
            spelling: by[8],
        }),
        176..=187 => Asked::Replay {
            message: by[0] % 16,
            sender: sender_of(by[1], by[2]),
        },
        188..=199 => Asked::Cancel {
            question: which_of(by[0]),
        },
        200..=227 => Asked::Finish {
            call: by[0] % 12,
            named: by[1] < 128,
            status: by[2] % 3,
        },
        228..=234 => Asked::EndSession {
            place: place_of(by[0], by[1]),
            outcome: by[2] % 3,
        },
        235..=240 => Asked::Restart { lost: by[0] % 8 },
        241..=255 => Asked::Tick,
    }
}

/// One of 8 places, the lower the likelier.
fn place_of(a: u8, b: u8) -> u8 {
    (a % 8).min(b % 8)
}

fn which_of(byte: u8) -> Which {
    match byte {
        0..=169 => Which::Open(byte % 6),
        170..=249 => Which::Any(byte % 40),
        250..=255 => Which::Unknown(byte % 3),
    }
}

fn claim_of(kind: u8, by: u8) -> Claim {
    let amount = i64::from(by);
    match kind {
        0..=139 => Claim::Now(-amount),
        140..=199 => Claim::Deadline(i64::from(by % 3) - 1),
        200..=219 => Claim::Now(amount * 1_000),
        220..=239 => Claim::Now(-amount * 60_000),
        240..=255 => Claim::Now(amount * 600_000),
    }
}

fn sender_of(kind: u8, place: u8) -> Sender {
    match kind {
        0..=215 => Sender::Subscriber(place_of(place, place / 8)),
        216..=241 => Sender::Unauthenticated(place_of(place, place / 8)),
        242..=255 => Sender::Nobody,
    }
}

/// Around the least and the greatest that there may be, and many that are short.
fn seconds_of(byte: u8) -> u64 {
    match byte {
        0..=119 => 1 + u64::from(byte % 8),
        120..=199 => u64::from(byte),
        200..=229 => u64::from(byte) * 97,
        230..=239 => 86_400,
        240..=245 => 86_399,
        246..=249 => 86_401,
        250..=252 => 0,
        253..=255 => u64::MAX >> (8 * (byte - 253)),
    }
}
