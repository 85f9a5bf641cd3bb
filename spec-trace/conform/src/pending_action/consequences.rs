//! Messages and events, held against the records that they tell of.
//!
//! The one thing to know: what is told again after a crash is what was told before, with the same id, name and time; so both
//! are held against the record. A message without a record behind it keeps its word: the model says what is wrong with it.

use countersign_model::pending_action::output::{Event as EventWord, Output};
use countersign_model::pending_action::words::{Note, Slot, ToolStatus};
use countersign_reference::pending_action as executor;
use countersign_reference::pending_action::{
    Append, CancelReason, Entry, Event, Happened, Input, Message, MessageId, Record,
};

use super::records::{decision, tool_status};
use super::{Asked, Host};
use crate::{Unexplained, unexplained};

/// What is appended to the transcript, in the model's words.
pub(super) fn append(
    host: &mut Host,
    input: &Input,
    append: &Append,
) -> Result<Output, Unexplained> {
    let Append {
        session_id,
        message_id,
        message: told,
    } = append;
    let (slot, note) = match told {
        Message::UserMessage { .. } => return said(input, append),
        Message::ConfirmationRequest { text, label } => {
            let Some(slot) = asked_in(host, append, text.as_str()) else {
                // PA-1: whoever is asked is asked about what is recorded.
                let is_told = |ids: &[Option<MessageId>; 3]| ids[place(Note::Request)].is_some();
                let untold = host.asked.iter().zip(&host.message_ids);
                let mut untold = untold.filter(|(asked, ids)| asked.is_some() && !is_told(ids));
                let clause = untold.next().map_or("PA-1", |_| "PA-9");
                return Err(unexplained(
                    clause,
                    "the summary of an action, recorded before",
                ));
            };
            let asked = host.asked(slot);
            let is_exposed = is_exposed(asked, append);
            if is_exposed || *text != asked.proposal.summary || *label != asked.proposal.label {
                return Ok(Output::Expose(slot));
            }
            (slot, Note::Request)
        }
        Message::ToolCall { tool_call_id, .. } => (host.known(*tool_call_id)?, Note::Call),
        Message::ToolResult {
            tool_call_id,
            status,
            ..
        } => (
            host.known(*tool_call_id)?,
            Note::Result(tool_status(*status)),
        ),
        Message::DeniedResult { tool_call_id, .. } => (host.known(*tool_call_id)?, Note::Denied),
        Message::ExpiredResult { tool_call_id, .. } => (host.known(*tool_call_id)?, Note::Expired),
        Message::CancelledResult { tool_call_id, .. } => {
            (host.known(*tool_call_id)?, Note::Cancelled)
        }
    };
    let asked = host.asked(slot);
    let wanted = origin(host, slot, note).and_then(|record| message(asked, note, &record.entry));
    if let Some(wanted) = wanted
        && wanted != *told
    {
        return Err(unexplained(clause(note), format!("{wanted:?}")));
    }
    if session_id.as_ref() != Some(&asked.proposal.session_id) {
        let text = format!("a message in {}", asked.proposal.session_id);
        return Err(unexplained("PA-10", text));
    }
    note_id(host, slot, note, Some(*message_id))?;
    Ok(Output::Append(note, slot))
}

/// PA-11: what a user said goes into the transcript as it is, and is about no action.
fn said(input: &Input, append: &Append) -> Result<Output, Unexplained> {
    let wanted = match input {
        Input::Say { by, text } => Some(Message::UserMessage {
            by: by.clone(),
            text: text.clone(),
        }),
        Input::Propose(_)
        | Input::Decide(_)
        | Input::FinishTool { .. }
        | Input::Cancel { .. }
        | Input::EndSession { .. }
        | Input::Tick
        | Input::Restart => None,
    };
    if append.session_id.is_none() && wanted.as_ref() == Some(&append.message) {
        return Ok(Output::AppendText);
    }
    Err(unexplained("PA-11", format!("{wanted:?} and nothing else")))
}

/// The slot of the action that a request asks about: by the message's id, if it came before, or by its summary.
fn asked_in(host: &Host, append: &Append, text: &str) -> Option<Slot> {
    let by_id = |slot: &Slot| {
        let known = host.message_ids[slot.index()][place(Note::Request)];
        known == Some(append.message_id)
    };
    let by_summary = |slot: &Slot| {
        let asked = host.asked[slot.index()].as_deref();
        asked.is_some_and(|asked| text.starts_with(asked.proposal.summary.as_str()))
    };
    let slots = || Slot::ALL.into_iter().rev();
    slots().find(by_id).or_else(|| slots().find(by_summary))
}

/// PA-9: whether a visible message shows the id, the nonce or the arguments of its action, in any of its fields.
fn is_exposed(asked: &Asked, append: &Append) -> bool {
    let shown = append.message_id.to_string();
    let digits = |minted: &str| minted.rsplit('_').next().map(str::to_owned);
    [&asked.action_id, &asked.nonce]
        .into_iter()
        .any(|minted| digits(minted).is_some_and(|digits| shown.contains(&digits)))
}

/// The record that a message of this kind tells of.
fn origin(host: &Host, slot: Slot, note: Note) -> Option<&Record> {
    find(host, slot, |entry| match (note, entry) {
        (Note::Request, Entry::Proposed { .. })
        | (Note::Expired, Entry::Expired { .. })
        | (Note::Cancelled, Entry::Cancelled { .. } | Entry::SessionEnded { .. })
        | (Note::Result(_), Entry::Finished { .. }) => true,
        (Note::Call, Entry::Decided { decision, .. }) => *decision == executor::Decision::Allow,
        (Note::Denied, Entry::Decided { decision, .. }) => *decision == executor::Decision::Deny,
        (
            Note::Request
            | Note::Call
            | Note::Denied
            | Note::Expired
            | Note::Cancelled
            | Note::Result(_),
            _,
        ) => false,
    })
}

/// The record about the action in this slot for which the condition holds.
fn find(host: &Host, slot: Slot, is_it: impl Fn(&Entry) -> bool) -> Option<&Record> {
    let action = host.asked(slot).id;
    let is_about = |entry: &Entry| match entry {
        Entry::Proposed { action_id, .. }
        | Entry::Decided { action_id, .. }
        | Entry::Expired { action_id }
        | Entry::Cancelled { action_id }
        | Entry::Finished { action_id, .. } => *action_id == action,
        Entry::SessionEnded { cancelled, .. } => cancelled.contains(&action),
        Entry::Said { .. } => false,
    };
    let mut records = host.journal.iter();
    let found = records.find(|record| is_about(&record.entry) && is_it(&record.entry));
    found.map(|record| &**record)
}

/// What a message of this kind says that tells of this record.
fn message(asked: &Asked, note: Note, entry: &Entry) -> Option<Message> {
    let tool_call_id = asked.id;
    let tool = asked.proposal.tool.clone();
    Some(match (note, entry) {
        (Note::Call, _) => Message::ToolCall {
            tool_call_id,
            tool,
            arguments: asked.proposal.arguments.clone(),
        },
        (Note::Result(_), Entry::Finished { status, result, .. }) => Message::ToolResult {
            tool_call_id,
            tool,
            status: *status,
            result: result.clone(),
        },
        (Note::Denied, Entry::Decided { by, .. }) => Message::DeniedResult {
            tool_call_id,
            tool,
            by: by.clone(),
        },
        (Note::Expired, _) => Message::ExpiredResult { tool_call_id, tool },
        (Note::Cancelled, entry) => Message::CancelledResult {
            tool_call_id,
            tool,
            reason: reason(entry),
        },
        // What the user sees was held against the proposal.
        (Note::Request | Note::Result(_) | Note::Denied, _) => return None,
    })
}

fn reason(entry: &Entry) -> CancelReason {
    match entry {
        Entry::SessionEnded { .. } => CancelReason::SessionEnded,
        Entry::Proposed { .. }
        | Entry::Decided { .. }
        | Entry::Expired { .. }
        | Entry::Cancelled { .. }
        | Entry::Finished { .. }
        | Entry::Said { .. } => CancelReason::Requested,
    }
}

/// The clause that has a message of this kind say what it says.
fn clause(note: Note) -> &'static str {
    match note {
        Note::Request => "PA-9",
        Note::Call | Note::Result(_) => "PA-4",
        Note::Denied => "PA-6",
        Note::Expired | Note::Cancelled => "PA-10",
    }
}

/// The kinds of which an action has one message each: the question, the call, and how it ends.
const fn place(note: Note) -> usize {
    match note {
        Note::Request => 0,
        Note::Call => 1,
        Note::Denied | Note::Expired | Note::Cancelled | Note::Result(_) => 2,
    }
}

/// PA-10: told twice is told once, for it has the same id; and no other message has it.
fn note_id(
    host: &mut Host,
    slot: Slot,
    note: Note,
    id: Option<MessageId>,
) -> Result<(), Unexplained> {
    let known = &mut host.message_ids[slot.index()][place(note)];
    if known.is_none() {
        *known = id;
    }
    let is_same = *known == id;
    let mut all = host.message_ids.iter().flatten();
    let is_only = all.by_ref().filter(|&&other| other == id).count() == 1;
    if is_same && is_only && id.is_some() {
        return Ok(());
    }
    Err(unexplained("PA-10", "one id for each message of an action"))
}

/// An event, in the model's words.
pub(super) fn event(host: &Host, event: &Event) -> Result<Output, Unexplained> {
    let Event {
        event_id,
        action_id,
        at,
        happened: told,
    } = event;
    let slot = host.known(*action_id)?;
    let asked = host.asked(slot);
    let (word, origin) = match told {
        Happened::Created { .. } => (EventWord::Created, origin(host, slot, Note::Request)),
        Happened::Decided { decision, .. } => {
            let note = match decision {
                executor::Decision::Allow => Note::Call,
                executor::Decision::Deny => Note::Denied,
            };
            let word = EventWord::Decided(self::decision(*decision));
            (word, origin(host, slot, note))
        }
        Happened::Executed { status } => {
            let status = tool_status(*status);
            let origin = origin(host, slot, Note::Result(status));
            (EventWord::Executed(status), origin)
        }
        Happened::NotRun => {
            let note = Note::Result(ToolStatus::NotRun);
            (EventWord::NotRun, origin(host, slot, note))
        }
        Happened::Denied { .. } => (EventWord::Denied, origin(host, slot, Note::Denied)),
        Happened::Expired => (EventWord::Expired, origin(host, slot, Note::Expired)),
        Happened::Cancelled { .. } => (EventWord::Cancelled, origin(host, slot, Note::Cancelled)),
    };
    if let Some(record) = origin {
        let wanted = happened(asked, word, &record.entry);
        let says_so = wanted.is_none_or(|wanted| wanted == *told);
        if !says_so || *at != record.at {
            let text = format!("an event of {record:?}");
            return Err(unexplained("PA-10", text));
        }
    }
    let kind = match word {
        EventWord::Created => "created",
        EventWord::Decided(_) => "decided",
        EventWord::Executed(_) => "executed",
        EventWord::NotRun => "not_run",
        EventWord::Denied => "denied",
        EventWord::Expired => "expired",
        EventWord::Cancelled => "cancelled",
    };
    let id = format!("{kind}_{}", asked.action_id);
    if event_id.to_string() != id {
        return Err(unexplained("PA-10", format!("the event {id}")));
    }
    Ok(Output::Event(word, slot))
}

/// What an event says that tells of this record.
fn happened(asked: &Asked, word: EventWord, entry: &Entry) -> Option<Happened> {
    Some(match (word, entry) {
        (EventWord::Created, _) => Happened::Created {
            nonce: asked.minted,
            proposal: asked.proposal.clone(),
        },
        (EventWord::Decided(_), Entry::Decided { decision, by, .. }) => Happened::Decided {
            decision: *decision,
            by: Some(by.clone()),
        },
        (EventWord::Denied, Entry::Decided { by, .. }) => Happened::Denied { by: by.clone() },
        (EventWord::Executed(_), Entry::Finished { status, .. }) => {
            Happened::Executed { status: *status }
        }
        (EventWord::NotRun, _) => Happened::NotRun,
        (EventWord::Expired, _) => Happened::Expired,
        (EventWord::Cancelled, entry) => Happened::Cancelled {
            reason: reason(entry),
        },
        (EventWord::Decided(_) | EventWord::Denied | EventWord::Executed(_), _) => return None,
    })
}
