//! What follows from a record: the messages and events that tell of it, and the call that it releases.
//!
//! The one thing to know: it follows from the record and the proposal alone, and neither ever changes. So what a crash
//! has swallowed can be told again, in the same words (PA-10).

use std::sync::Arc;

use super::action::Action;
use super::actions::Actions;
use super::arguments::Text;
use super::event::{Event, Happened};
use super::interface::{Output, ToolCall};
use super::message::{Append, Message, MessageKind};
use super::record::{Entry, Record};
use super::vocabulary::{CancelReason, DeciderId, Decision, ToolStatus};
use crate::time::Timestamp;

/// Everything that the world must do once the record is durable, in order.
pub(super) fn consequences(record: &Record, actions: &Actions) -> impl Iterator<Item = Output> {
    let at = record.at;
    let about = record.entry.about().iter();
    let of_actions = about
        .filter_map(|action_id| actions.find(*action_id))
        .flat_map(move |action| Consequences { action, at }.of(&record.entry));
    said(&record.entry).into_iter().chain(of_actions)
}

/// PA-11: what somebody has said, which is about no action.
fn said(entry: &Entry) -> Option<Output> {
    match entry {
        Entry::Said {
            message_id,
            by,
            text,
        } => {
            let (by, text) = (Arc::clone(by), Arc::clone(text));
            let message = Message::UserMessage { by, text };
            Some(Output::Append(Append::said(*message_id, message)))
        }
        Entry::Proposed { .. }
        | Entry::Decided { .. }
        | Entry::Expired { .. }
        | Entry::Cancelled { .. }
        | Entry::Finished { .. }
        | Entry::SessionEnded { .. } => None,
    }
}

/// What follows for one action from what became true at a time.
#[derive(Clone, Copy)]
struct Consequences<'a> {
    action: &'a Action,
    at: Timestamp,
}

impl Consequences<'_> {
    fn of(self, entry: &Entry) -> Vec<Output> {
        match entry {
            Entry::Proposed { pends: true, .. } => self.asked(),
            Entry::Proposed { pends: false, .. } => self.released_unasked(),
            Entry::Decided { decision, by, .. } => self.decided(*decision, by),
            Entry::Expired { .. } => self.expired(),
            Entry::Cancelled { .. } => self.cancelled(CancelReason::Requested),
            Entry::Finished { status, result, .. } => self.finished(*status, result),
            Entry::SessionEnded { .. } => self.cancelled(CancelReason::SessionEnded),
            // It is about no action.
            Entry::Said { .. } => Vec::new(),
        }
    }

    /// PA-1: the question. PA-9: the user sees the words and nothing else.
    fn asked(self) -> Vec<Output> {
        let proposal = &self.action.proposal;
        let request = Message::ConfirmationRequest {
            text: proposal.summary.clone(),
            label: proposal.label.clone(),
        };
        vec![
            self.append(MessageKind::Request, request),
            self.event(self.created()),
        ]
    }

    /// PA-13: nobody is asked, so there is no question to append.
    fn released_unasked(self) -> Vec<Output> {
        let decided = Happened::Decided {
            decision: Decision::Allow,
            by: None,
        };
        vec![
            self.event(self.created()),
            self.event(decided),
            self.tool_call(),
            self.perform(),
        ]
    }

    fn decided(self, decision: Decision, by: &DeciderId) -> Vec<Output> {
        let decided = self.event(Happened::Decided {
            decision,
            by: Some(by.clone()),
        });
        match decision {
            // PA-4: the canonical call, and then the call itself.
            Decision::Allow => vec![decided, self.tool_call(), self.perform()],
            // PA-6: the canonical denied result.
            Decision::Deny => {
                let result = Message::DeniedResult {
                    tool_call_id: self.action.action_id,
                    tool: self.action.proposal.tool.clone(),
                    by: by.clone(),
                };
                vec![
                    decided,
                    self.append(MessageKind::Result, result),
                    self.event(Happened::Denied { by: by.clone() }),
                ]
            }
        }
    }

    /// PA-10: nobody has denied it, so it is told apart from a denial.
    fn expired(self) -> Vec<Output> {
        let result = Message::ExpiredResult {
            tool_call_id: self.action.action_id,
            tool: self.action.proposal.tool.clone(),
        };
        vec![
            self.append(MessageKind::Result, result),
            self.event(Happened::Expired),
        ]
    }

    /// PA-5
    fn cancelled(self, reason: CancelReason) -> Vec<Output> {
        let result = Message::CancelledResult {
            tool_call_id: self.action.action_id,
            tool: self.action.proposal.tool.clone(),
            reason,
        };
        vec![
            self.append(MessageKind::Result, result),
            self.event(Happened::Cancelled { reason }),
        ]
    }

    /// PA-4: the canonical result. PA-10: what never ran is told apart from what was executed.
    fn finished(self, status: ToolStatus, result: &Text) -> Vec<Output> {
        let result = Message::ToolResult {
            tool_call_id: self.action.action_id,
            tool: self.action.proposal.tool.clone(),
            status,
            result: result.clone(),
        };
        let happened = match status {
            ToolStatus::Success | ToolStatus::Error => Happened::Executed { status },
            ToolStatus::NotRun => Happened::NotRun,
        };
        vec![
            self.append(MessageKind::Result, result),
            self.event(happened),
        ]
    }

    fn created(self) -> Happened {
        Happened::Created {
            nonce: self.action.nonce,
            proposal: Arc::clone(&self.action.proposal),
        }
    }

    /// PA-4: the transcript says which call runs before it does.
    fn tool_call(self) -> Output {
        let proposal = &self.action.proposal;
        let call = Message::ToolCall {
            tool_call_id: self.action.action_id,
            tool: proposal.tool.clone(),
            arguments: proposal.arguments.clone(),
        };
        self.append(MessageKind::Call, call)
    }

    fn perform(self) -> Output {
        Output::Perform(ToolCall::of(self.action))
    }

    fn append(self, kind: MessageKind, message: Message) -> Output {
        Output::Append(Append::about(self.action, kind, message))
    }

    fn event(self, happened: Happened) -> Output {
        Output::Event(Event::new(self.action.action_id, self.at, happened))
    }
}
