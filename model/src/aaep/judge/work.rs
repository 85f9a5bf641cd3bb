//! The judge's own words for work around the questions: a tool that needs none, a chunk of output, a handoff.
//!
//! The one thing to know: lengths are counted in characters, as positions are (Unicode scalar values, AAEP-A.6-2).

use super::call::Risk;

/// A tool that is to run without a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The session of the action.
    pub session: u32,
    /// The action: in one session the same name is the same action, also of a `Confirm`.
    pub action: u32,
    /// The tool that runs it.
    pub tool: u32,
    /// What it is run with, for the user to read, where the driver says.
    pub args_summary: Option<u32>,
    /// How much harm it can do; low where the driver does not say.
    pub risk: Risk,
    /// Whether it cannot be undone.
    pub irreversible: bool,
    /// The id of the call, where the driver gives one.
    pub tool_call: Option<u32>,
    /// Whose limits a field is outside of (AAEP-EV-2, AAEP-EV-5, AAEP-EV-10), if any, so that it cannot run as it stands.
    pub out_of_limits: Option<&'static str>,
}

/// A chunk of output that is to be streamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The session that says it.
    pub session: u32,
    /// The output that it is part of; the same name in two sessions is two outputs.
    pub output: u32,
    /// What it says.
    pub chunk: Text,
    /// Whether it is the last.
    pub complete: bool,
    /// Whose limits a field is outside of, if any, so that it cannot be streamed as it stands.
    pub out_of_limits: Option<&'static str>,
}

/// A session that is to be handed off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Which.
    pub session: u32,
    /// Why, and to whom.
    pub to: Handed,
    /// Whose limits a field is outside of, if any, so that it cannot be handed off as it stands.
    pub out_of_limits: Option<&'static str>,
}

/// What a `tool.invoked` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Invocation {
    /// The tool.
    pub tool: u32,
    /// The id of the call, where it says.
    pub tool_call: Option<u32>,
    /// What it is run with, where it says.
    pub args_summary: Option<u32>,
    /// How much harm it can do; low where it does not say.
    pub risk: Risk,
    /// Whether it says that what it does cannot be undone.
    pub irreversible: bool,
}

/// What an `output.streaming` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Streamed {
    /// The output that it is part of; those that do not say are one.
    pub output: Option<u32>,
    /// What it says.
    pub chunk: Text,
    /// How many characters of the output stand before it.
    pub position: i64,
    /// Whether it is the last.
    pub complete: bool,
}

/// A text, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    /// The text: the same number is the same text.
    pub text: u32,
    /// In characters.
    pub characters: i64,
}

/// Why a session is handed off, and to whom; what a `handoff.requested` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handed {
    /// Why.
    pub reason: u32,
    /// To what.
    pub target: Target,
    /// Where that is found, where it says.
    pub target_uri: Option<u32>,
}

/// What a session can be handed off to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `human`
    Human,
    /// `specialist_agent`
    SpecialistAgent,
    /// `escalation_queue`
    EscalationQueue,
}
