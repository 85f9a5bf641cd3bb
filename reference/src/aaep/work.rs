//! What a session does beside its questions: tools that need none, and output.
//!
//! The one thing to know: what is over leaves only its name behind, so that the name is not used again.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ask::is_text;
use super::interface::{Chunk, Refusal, Run, ToolCall};
use super::vocabulary::{ActionId, OutputId, SessionId, ToolCallId};

/// What a session does beside its questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Those of all calls that needed no question.
    pub tool_call_ids: BTreeSet<ToolCallId>,
    /// The tools that needed no question and have not come back, in the order of their invocation.
    pub running: Vec<RunningTool>,
    /// The outputs of which more is to come, in the order in which they began.
    pub open_outputs: Vec<OpenOutput>,
    /// Those of which no more is to come.
    pub complete_outputs: BTreeSet<OutputId>,
}

/// A tool that needed no question and has not come back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningTool {
    /// The host's name for the action.
    pub action: ActionId,
    /// The tool.
    pub tool: Arc<str>,
    /// The id of this call in the events.
    pub tool_call_id: ToolCallId,
}

/// An output of which more is to come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenOutput {
    /// Which.
    pub output_id: OutputId,
    /// Where its next chunk begins: the number of characters that it has (AAEP-A.6-2).
    pub position: u64,
}

impl Work {
    /// Whether a call that needed no question has that id.
    pub(super) fn has_called(&self, tool_call_id: &ToolCallId) -> bool {
        self.tool_call_ids.contains(tool_call_id)
    }

    /// An id for the next call that needs no question and has none.
    pub(super) fn fresh_tool_call_id(&self) -> Option<ToolCallId> {
        ToolCallId::of_runs(self.tool_call_ids.len()).find(|id| !self.has_called(id))
    }

    /// A tool runs from now on.
    pub(super) fn begin(&mut self, tool: RunningTool) {
        self.tool_call_ids.insert(tool.tool_call_id.clone());
        self.running.push(tool);
    }

    /// A tool has come back: that call, or else the one of that action that was invoked first.
    pub(super) fn finish(
        &mut self,
        action: &ActionId,
        tool_call_id: Option<&ToolCallId>,
    ) -> Option<RunningTool> {
        let is_the_call = |tool: &RunningTool| {
            tool.action == *action && tool_call_id.is_none_or(|id| tool.tool_call_id == *id)
        };
        let index = self.running.iter().position(is_the_call)?;
        Some(self.running.remove(index))
    }

    /// Where the chunk begins, if it may come.
    pub(super) fn position_of(&self, chunk: &Chunk) -> Result<u64, Refusal> {
        // AAEP-A.6-3: what is complete has no more chunks.
        if self.complete_outputs.contains(&chunk.output_id) {
            return Err(Refusal::OutputComplete);
        }
        // AAEP-A.6-2: an empty chunk would leave the position of the next where it is.
        if chunk.text.is_empty() && !chunk.is_last {
            return Err(Refusal::ChunkEmpty);
        }
        let of_output = |open: &&OpenOutput| open.output_id == chunk.output_id;
        let open = self.open_outputs.iter().find(of_output);
        Ok(open.map_or(0, |open| open.position))
    }

    /// The chunk is put out, beginning at that position.
    pub(super) fn write(&mut self, chunk: &Chunk, position: u64) {
        let of_output = |open: &&mut OpenOutput| open.output_id == chunk.output_id;
        if chunk.is_last {
            self.open_outputs
                .retain(|open| open.output_id != chunk.output_id);
            self.complete_outputs.insert(chunk.output_id.clone());
            return;
        }
        let after = position + length(&chunk.text);
        match self.open_outputs.iter_mut().find(of_output) {
            Some(open) => open.position = after,
            None => self.open_outputs.push(OpenOutput {
                output_id: chunk.output_id.clone(),
                position: after,
            }),
        }
    }

    /// The session ends, and what it does with it: the tools that still ran.
    pub(super) fn stop_tools(&mut self) -> Vec<RunningTool> {
        std::mem::take(&mut self.running)
    }

    /// The session ends, and every output with it: those that were open.
    pub(super) fn complete_outputs(&mut self) -> Vec<OpenOutput> {
        let open = std::mem::take(&mut self.open_outputs);
        self.complete_outputs
            .extend(open.iter().map(|open| open.output_id.clone()));
        open
    }

    /// Whether the parts fit each other.
    pub(super) fn is_consistent(&self) -> bool {
        let calls: BTreeSet<_> = self.running.iter().map(|it| &it.tool_call_id).collect();
        let open: BTreeSet<_> = self.open_outputs.iter().map(|it| &it.output_id).collect();
        // AAEP-A.3-1: each id is of one call. AAEP-A.6-3: what is open is not complete.
        calls.len() == self.running.len()
            && calls.iter().all(|id| self.has_called(id))
            && self.running.iter().all(|it| is_text(&it.tool))
            && open.len() == self.open_outputs.len()
            && open.iter().all(|id| !self.complete_outputs.contains(id))
            && self.open_outputs.iter().all(|it| it.position > 0)
    }
}

impl RunningTool {
    pub(super) fn of(run: Run, tool_call_id: ToolCallId) -> Self {
        Self {
            action: run.action,
            tool: run.tool,
            tool_call_id,
        }
    }

    /// The call of the tool.
    pub fn tool_call(&self, session_id: &SessionId) -> ToolCall {
        ToolCall {
            session_id: session_id.clone(),
            action: self.action.clone(),
            tool: Arc::clone(&self.tool),
            tool_call_id: self.tool_call_id.clone(),
            reply_token: None,
            modified_action: None,
        }
    }
}

/// In characters, as the position counts (AAEP-A.6-2).
fn length(text: &str) -> u64 {
    text.chars().map(|_| 1).sum()
}

#[cfg(test)]
impl Work {
    pub(super) fn assert_every_field_differs_from(&self, other: &Self) {
        assert_every_field_differs!(
            Work {
                tool_call_ids,
                running,
                open_outputs,
                complete_outputs
            },
            self,
            other
        );
    }
}
