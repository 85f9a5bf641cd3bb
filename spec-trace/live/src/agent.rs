//! The scripted agent: what a prompt makes it do, one task after the other. Its tools do nothing.
//!
//! The one thing to know: a task is named by a word of the prompt, and each is done once, in the order of [`Task`]. At the end,
//! and at once where the prompt names none, the agent says that it is done.

use std::collections::{BTreeSet, VecDeque};

use countersign_reference::aaep::{
    Action, ActionId, Ask, Chunk, Clarify, Decision, Handoff, Input, OutputId, RiskLevel, Run,
    SessionId, TargetKind,
};

/// One thing that the agent does in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Looks something up: low risk, and nobody is asked.
    Lookup,
    /// Changes something: medium risk, reversible, rejected by default.
    Change,
    /// Moves money: high risk, irreversible, rejected by default.
    Transfer,
    /// Leaves a note: low risk, irreversible, accepted by default.
    Note,
    /// Asks the user something, without a default.
    Clarify,
    /// Says that it is done, which is the last task but for a handoff.
    Say,
    /// Hands the session off.
    Handoff,
}

impl Task {
    /// What the prompt names, in order.
    pub fn named_in(prompt: &str) -> VecDeque<Self> {
        let prompt = prompt.to_lowercase();
        let words: BTreeSet<&str> = prompt.split(|it: char| !it.is_alphanumeric()).collect();
        let mut tasks = VecDeque::new();
        for (task, wanted) in [
            (Self::Lookup, &["lookup", "look", "fetch"][..]),
            (Self::Change, &["change"]),
            (Self::Transfer, &["transfer", "confirmation"]),
            (Self::Note, &["note"]),
            (Self::Clarify, &["clarify", "clarification"]),
            (Self::Handoff, &["handoff"]),
        ] {
            if wanted.iter().any(|word| words.contains(word)) {
                tasks.push_back(task);
            }
        }
        let before_handoff = tasks.iter().filter(|task| **task != Self::Handoff).count();
        tasks.insert(before_handoff, Self::Say);
        tasks
    }

    /// The task as what happens to the producer. Questions wait for so many seconds.
    ///
    /// # Panics
    ///
    /// Never: all names are well-formed.
    pub fn input(self, session_id: SessionId, timeout_seconds: u64) -> Input {
        let ask = |tool: &str, description: &str, consequence: &str, risk_level, irreversible| {
            Input::Confirm(Ask {
                session_id: session_id.clone(),
                action: Action {
                    id: action(tool),
                    tool: tool.into(),
                    description: description.into(),
                    consequence: consequence.into(),
                    risk_level,
                    irreversible,
                },
                timeout_seconds,
                default_decision: if risk_level == RiskLevel::Low {
                    Decision::Accept
                } else {
                    Decision::Reject
                },
                allowed_replies: None,
            })
        };
        match self {
            Self::Lookup => Input::Tool(Run {
                session_id,
                action: action("look_up"),
                tool: "look_up".into(),
                args_summary: None,
                risk_level: RiskLevel::Low,
                irreversible: false,
                tool_call_id: None,
            }),
            Self::Change => ask(
                "change_setting",
                "Turn the notifications off.",
                "No more notifications come until they are turned on.",
                RiskLevel::Medium,
                false,
            ),
            Self::Transfer => ask(
                "transfer_funds",
                "Transfer 500 dollars to savings.",
                "The money leaves the checking account.",
                RiskLevel::High,
                true,
            ),
            Self::Note => ask(
                "leave_note",
                "Leave a note in the record.",
                "The note cannot be removed.",
                RiskLevel::Low,
                true,
            ),
            Self::Clarify => Input::Clarify(Clarify {
                session_id,
                question: "Which account?".into(),
                accepted_response_kinds: None,
                choices: None,
                timeout_seconds,
                default_response: None,
            }),
            Self::Say => Input::Output(Chunk {
                session_id,
                output_id: OutputId::parse("answer").expect("a name"),
                text: "Done.".into(),
                is_last: true,
            }),
            Self::Handoff => Input::Handoff(Handoff {
                session_id,
                reason: "The prompt asks for it.".into(),
                target_kind: TargetKind::Human,
                target_uri: None,
            }),
        }
    }
}

fn action(name: &str) -> ActionId {
    ActionId::parse(name).expect("a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_names_its_tasks_by_words() {
        for (prompt, tasks) in [
            ("what is new?", &[Task::Say][..]),
            ("Look that up.", &[Task::Lookup, Task::Say]),
            (
                "Do something that requires confirmation.",
                &[Task::Transfer, Task::Say],
            ),
            (
                "note, then TRANSFER",
                &[Task::Transfer, Task::Note, Task::Say],
            ),
            ("a keynote", &[Task::Say]),
            (
                "handoff and clarification",
                &[Task::Clarify, Task::Say, Task::Handoff],
            ),
        ] {
            assert_eq!(Task::named_in(prompt), tasks, "{prompt}");
        }
    }
}
