//! Steps, drawn from bytes.
//!
//! The one thing to know: any bytes are a step, so that a fuzzer can mutate them as it likes.

use super::step::{
    Answered, Asked, Claim, Clarified, Confirmed, Delivered, Extended, HandedOff, Ran, Response,
    Sender, Step, Streamed, Which,
};
use crate::wide::Clock;

/// How many bytes are a step.
pub const BYTES: usize = 12;

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
        0..=10 => Asked::StartSession {
            place: place_of(by[0], by[1]),
            unnamed: by[2] < 20,
        },
        11..=21 => Asked::Subscribe {
            place: place_of(by[0], by[1]),
            can_reply: by[2] < 160,
        },
        22..=28 => Asked::Unsubscribe {
            place: place_of(by[0], by[1]),
        },
        29..=66 => Asked::Confirm(confirmed_of(by)),
        67..=96 => Asked::Clarify(clarified_of(by)),
        97..=134 => Asked::Deliver(delivered_of(by)),
        135..=166 => Asked::Answer(answered_of(by)),
        167..=175 => Asked::Replay {
            message: by[0] % 16,
            sender: sender_of(by[1], by[2]),
        },
        176..=182 => Asked::Cancel {
            question: which_of(by[0]),
        },
        183..=190 => Asked::Extend {
            question: which_of(by[0]),
            to: extended_of(by[1], by[2]),
        },
        191..=209 => Asked::Finish {
            call: by[0] % 12,
            named: by[1] < 128,
            status: by[2] % 3,
        },
        210..=222 => Asked::Tool(ran_of(by)),
        223..=237 => Asked::Output(Streamed {
            place: place_of(by[0], by[1]),
            output: by[2] % 4,
            text: by[3] % 16,
            complete: by[4] < 60,
        }),
        238..=240 => Asked::Handoff(HandedOff {
            place: place_of(by[0], by[1]),
            target: by[2] % 3,
            words: by[3],
        }),
        241..=244 => Asked::EndSession {
            place: place_of(by[0], by[1]),
            outcome: by[2] % 3,
        },
        245..=249 => Asked::Restart { lost: by[0] % 8 },
        250..=255 => Asked::Tick,
    }
}

fn confirmed_of(by: [u8; 9]) -> Confirmed {
    Confirmed {
        place: place_of(by[0], by[1]),
        action: by[2] % 32,
        tool: by[3] % 5,
        class: by[4] % 12,
        timeout_seconds: seconds_of(by[5]),
        allowed: if by[6] < 180 { 0 } else { by[6] % 12 },
        words: if by[7] < 240 { by[7] % 8 } else { by[7] },
    }
}

fn ran_of(by: [u8; 9]) -> Ran {
    Ran {
        place: place_of(by[0], by[1]),
        // Most were never asked about, or most would be refused.
        action: if by[2] < 80 {
            by[2] % 40
        } else {
            32 + by[2] % 8
        },
        tool: by[3] % 5,
        class: if by[4] < 230 { by[4] % 3 } else { by[4] % 6 },
        call: if by[5] < 160 { 0 } else { by[5] % 10 },
        words: by[6],
    }
}

fn clarified_of(by: [u8; 9]) -> Clarified {
    Clarified {
        place: place_of(by[0], by[1]),
        question: by[2] % 8,
        // Few are wrong, or most would be refused.
        kinds: match by[3] {
            0..=29 => 0,
            30..=239 => by[3] % 31,
            240..=255 => by[3] % 35,
        },
        choices: match by[4] {
            0..=9 => 3,
            10..=49 => 0,
            50..=224 => [1, 2, 4, 5][usize::from(by[4] % 4)],
            225..=255 => by[4] % 17,
        },
        default: if by[5] < 100 { 0 } else { by[5] % 16 },
        timeout_seconds: seconds_of(by[6]),
        words: by[7],
    }
}

fn delivered_of(by: [u8; 9]) -> Delivered {
    Delivered {
        question: which_of(by[0]),
        accepts: by[1] < 150,
        claims: claim_of(by[2], by[3]),
        sender: sender_of(by[4], by[5]),
        names: names_of(by[6]),
        modified: (24..56).contains(&by[6]),
        rated: by[6] % 16,
        flaw: flaw_of(by[7]),
        spelling: by[8],
    }
}

fn answered_of(by: [u8; 9]) -> Answered {
    Answered {
        question: which_of(by[0]),
        response: match by[1] {
            // The values of most choices, and any.
            0..=79 => Response::Text(by[1] % 4),
            80..=127 => Response::Text(by[1] % 16),
            128..=191 => Response::Boolean(by[1] & 1 != 0),
            192..=255 => Response::Number(by[1] % 16),
        },
        claims: claim_of(by[2], by[3]),
        sender: sender_of(by[4], by[5]),
        names: names_of(by[6]),
        flaw: flaw_of(by[7]),
        spelling: by[8],
    }
}

fn names_of(byte: u8) -> Option<u8> {
    (byte < 24).then_some(byte % 8)
}

fn flaw_of(byte: u8) -> u8 {
    if byte < 200 { 0 } else { 1 + byte % 12 }
}

/// Around what it waits already, around the greatest that there may be, and anything.
fn extended_of(kind: u8, by: u8) -> Extended {
    match kind {
        0..=99 => Extended::By(1 + i64::from(by % 4)),
        100..=139 => Extended::By(i64::from(by)),
        140..=179 => Extended::By(i64::from(by % 3) - 2),
        180..=255 => Extended::To(seconds_of(by)),
    }
}

/// One of 8 places, the lower the likelier.
fn place_of(a: u8, b: u8) -> u8 {
    (a % 8).min(b % 8)
}

fn which_of(byte: u8) -> Which {
    match byte {
        0..=159 => Which::Open(byte % 6),
        160..=183 => Which::Other(byte % 6),
        184..=249 => Which::Any(byte % 40),
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

/// Around the least and the greatest that there may be, around a minute, and many that are short.
fn seconds_of(byte: u8) -> u64 {
    match byte {
        0..=99 => 1 + u64::from(byte % 8),
        100..=139 => 58 + u64::from(byte % 8),
        140..=199 => u64::from(byte),
        200..=229 => u64::from(byte) * 97,
        230..=239 => 86_400,
        240..=245 => 86_399,
        246..=249 => 86_401,
        250..=252 => 0,
        253..=255 => u64::MAX >> (8 * (byte - 253)),
    }
}
