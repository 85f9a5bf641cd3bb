//! The states that an agent may be in (appendix A, section 2). What is known of each stands in its row of the table, and
//! nowhere else.

use AgentState::{AwaitingInput, CallingTool, Deciding, HandingOff, Idle, Thinking, WritingOutput};

use crate::record::EventKind;

/// A state of the protocol. A producer may have others of its own naming, out of which calls and output may come.
#[expect(missing_docs, reason = "they are called as in the text")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentState {
    Idle,
    Thinking,
    Deciding,
    CallingTool,
    AwaitingInput,
    WritingOutput,
    HandingOff,
}

/// Each state with its name, and whether a call may come out of it, output may begin in it that relays nothing, and it may
/// be entered while a tool runs.
#[rustfmt::skip]
const TABLE: [(AgentState, &str, bool, bool, bool); 7] = [
    //                               AAEP-A.7.4-3  AAEP-A.7.7-1  AAEP-A.3-3
    //                               call          output        running tool
    (Idle,          "idle",           false,        false,        false),
    (Thinking,      "thinking",       true,         false,        false),
    (Deciding,      "deciding",       true,         false,        false),
    (CallingTool,   "calling_tool",   true,         false,        true),
    (AwaitingInput, "awaiting_input", true,         true,         true),
    (WritingOutput, "writing_output", false,        true,         false),
    (HandingOff,    "handing_off",    false,        false,        false),
];

impl AgentState {
    /// The names of all.
    pub const NAMES: [&str; TABLE.len()] = {
        let mut names = [""; TABLE.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = TABLE[index].1;
            index += 1;
        }
        names
    };

    /// The state of that name.
    pub fn named(name: &str) -> Option<Self> {
        let row = TABLE.iter().find(|row| row.1 == name)?;
        Some(row.0)
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Whether a call may come out of it.
    pub const fn lets_call(self) -> bool {
        TABLE[self as usize].2
    }

    /// Whether output may begin in it that relays nothing.
    pub const fn lets_output_begin(self) -> bool {
        TABLE[self as usize].3
    }

    /// Whether it may be entered while a tool runs.
    pub const fn lets_tool_run(self) -> bool {
        TABLE[self as usize].4
    }

    /// The state that an event shows its session to be in, though no `state.changed` may have told so.
    pub const fn shown_by(kind: &EventKind) -> Option<Self> {
        match kind {
            EventKind::Invoked { .. } => Some(CallingTool),
            EventKind::Asked(_) | EventKind::Clarifying(_) => Some(AwaitingInput),
            EventKind::Output(_) => Some(WritingOutput),
            EventKind::Handoff => Some(HandingOff),
            EventKind::Started
            | EventKind::Ended(_)
            | EventKind::StateChanged { .. }
            | EventKind::Progress { .. }
            | EventKind::Completed { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_the_row_that_stands_at_its_place() {
        for (state, name, ..) in TABLE {
            assert_eq!(state.name(), name);
            assert_eq!(AgentState::named(name), Some(state));
        }
        assert_eq!(AgentState::named("reviewing"), None);
    }
}
