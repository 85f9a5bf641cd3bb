//! One step of a wide run as plain data: what a generator draws, a fuzzer mutates and a file keeps.
//!
//! The one thing to know: a step names things by their place (the newest question that waits, the next deadline), so that it
//! still means something when steps before it are left out.

use serde::{Deserialize, Serialize};

use crate::wide::Clock;

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
    /// A confirmation is to be asked for.
    Confirm(Confirmed),
    /// A clarification is to be asked for.
    Clarify(Clarified),
    /// A reply to a confirmation arrives.
    Deliver(Delivered),
    /// A reply to a clarification arrives.
    Answer(Answered),
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
    /// A question is given more time, or less.
    Extend {
        /// Which.
        question: Which,
        /// How much.
        to: Extended,
    },
    /// A tool is to run that needs no question.
    Tool(Ran),
    /// A chunk of output is to be streamed.
    Output(Streamed),
    /// A session is to be handed off.
    Handoff(HandedOff),
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

/// A confirmation that is asked for.
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

/// A clarification that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clarified {
    /// In the session at which place.
    pub place: u8,
    /// Which of 8 questions.
    pub question: u8,
    /// Which kinds of answer are taken.
    pub kinds: u8,
    /// What there is to choose from.
    pub choices: u8,
    /// Which text is taken for the answer when none comes; none where 0.
    pub default: u8,
    /// How long it waits, in seconds.
    pub timeout_seconds: u64,
    /// Which words it has.
    pub words: u8,
}

/// A tool that is to run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// In the session at which place.
    pub place: u8,
    /// Which of 40 actions, of which confirmations are about the first 32.
    pub action: u8,
    /// The tool that runs it.
    pub tool: u8,
    /// Its risk, and whether it can be undone: which of the 6 there are.
    pub class: u8,
    /// Which id the call is given; none where 0.
    pub call: u8,
    /// Which words it has.
    pub words: u8,
}

/// A chunk of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streamed {
    /// In the session at which place.
    pub place: u8,
    /// Of which output.
    pub output: u8,
    /// What it says.
    pub text: u8,
    /// Whether it is the last.
    pub complete: bool,
}

/// A session that is to be handed off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandedOff {
    /// The one at which place.
    pub place: u8,
    /// To whom, in the order of the driver protocol.
    pub target: u8,
    /// Which words it has.
    pub words: u8,
}

/// How long a question is to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extended {
    /// So many seconds longer than now.
    By(i64),
    /// So many seconds in all.
    To(u64),
}

/// A reply to a confirmation.
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
    /// How that is rated.
    #[serde(default)]
    pub rated: u8,
    /// What is wrong with its form; nothing where 0.
    pub flaw: u8,
    /// In which of the right or wrong ways it is written.
    pub spelling: u8,
}

/// A reply to a clarification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// To which question.
    pub question: Which,
    /// What it answers.
    pub response: Response,
    /// When the user is said to have decided.
    pub claims: Claim,
    /// Who sends it.
    pub sender: Sender,
    /// Whose subscription it names, where that is not the sender's: the one at this place.
    pub names: Option<u8>,
    /// What is wrong with its form; nothing where 0.
    pub flaw: u8,
    /// In which of the right or wrong ways it is written.
    pub spelling: u8,
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// The text of that number.
    Text(u8),
    /// A boolean.
    Boolean(bool),
    /// The number of that number, by how it is written.
    Number(u8),
}

/// A question that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Among those that wait, counted from the newest; for a reply, those of its kind.
    Open(u8),
    /// For a reply, among those of the other kind that wait, counted from the newest.
    Other(u8),
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
