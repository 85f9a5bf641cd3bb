//! Steps in words: who does what, and what changes by it.

use super::PendingAction;
use super::action::{Action, Manner};
use super::journal::Record;
use super::known::Status;
use super::message::{Approved, Message, Network};
use super::outbox::Item;
use super::output::{Event, Output};
use super::state::{Held, State};
use super::words::{Arguments, Decider, Decision, Effect, Flaw, Nonce, Note, Proposal, Slot};
use crate::checker::StepText;
use crate::network::in_words;
use crate::time;

/// A step in words; `after` is the state that the search went on from.
pub(super) fn describe(
    model: &PendingAction,
    before: &State,
    action: Action,
    after: &State,
) -> StepText {
    let (actor, action_text) = action_text(model, before, action);
    let mut changes = changes(before, after);
    if let Some(step) = model.step(before, action) {
        let outputs = step.required.iter();
        changes.extend(outputs.map(|output| format!("out: {}", output_text(output))));
    }
    StepText {
        at: format!("t={}", time::name(before.clock)),
        actor: actor.to_owned(),
        to: reaches(before, action).map(str::to_owned),
        action: action_text,
        changes,
    }
}

/// Who acts, and what they do.
fn action_text(model: &PendingAction, before: &State, action: Action) -> (&'static str, String) {
    match action {
        Action::Propose(proposal) => ("loop", proposal_text(before, proposal)),
        Action::ProposeFlawed(flaw) => ("loop", format!("proposes a call {}", flaw_text(flaw))),
        Action::Send {
            slot,
            decision,
            manner,
        } => send_text(slot, decision, manner),
        Action::Guess => ("attacker", "sends an allow with a made-up id".to_owned()),
        Action::Duplicate { index } => (
            "network",
            format!("duplicates {}", at(before.network, index)),
        ),
        Action::Deliver { index } => ("network", format!("{} arrives", at(before.network, index))),
        Action::Apply { index } => (
            "ledger",
            format!("lets {} take effect", at(before.validated, index)),
        ),
        Action::Say => ("owner", "says yes in free text".to_owned()),
        Action::FinishTool { slot, status } => (
            "host",
            format!("reports {}: {}", slot.name(), status.name()),
        ),
        Action::Cancel { slot } => ("host", format!("cancels {}", slot.name())),
        Action::EndSession(session) => ("host", format!("ends session {}", session.name())),
        Action::CarryOut => ("host", carry_out_text(before)),
        Action::Tick => {
            let next = model.next_moment(before).unwrap_or(before.clock);
            ("clock", format!("moves on to t={}", time::name(next)))
        }
        Action::SetBack => {
            let back = before.clock.saturating_sub(time::on(1));
            ("clock", format!("is set back to t={}", time::name(back)))
        }
        Action::ServeTimer => ("host", "calls as time has passed".to_owned()),
        Action::Restart => (
            "process",
            "crashes and restarts with what is durable; the outbox is lost".to_owned(),
        ),
        Action::Snapshot => ("host", "keeps a snapshot".to_owned()),
        Action::Rollback => ("host", "loads the snapshot".to_owned()),
    }
}

/// Whom the step reaches, where that is not who acts.
fn reaches(before: &State, action: Action) -> Option<&'static str> {
    match action {
        Action::Send { .. } | Action::Guess => Some("network"),
        Action::Propose(_)
        | Action::ProposeFlawed(_)
        | Action::Deliver { .. }
        | Action::Say
        | Action::FinishTool { .. }
        | Action::Cancel { .. }
        | Action::EndSession(_)
        | Action::ServeTimer
        | Action::Snapshot
        | Action::Rollback => Some("ledger"),
        Action::CarryOut => match before.outbox.head() {
            Some(Item::Record) => Some("store"),
            Some(Item::Tell(..)) => Some("transcript"),
            Some(Item::Perform(..)) => Some("tool"),
            None => None,
        },
        Action::Duplicate { .. }
        | Action::Apply { .. }
        | Action::Tick
        | Action::SetBack
        | Action::Restart => None,
    }
}

/// A proposal in words.
fn proposal_text(before: &State, proposal: Proposal) -> String {
    let slot = before.free_slot().map_or("no slot", Slot::name);
    let held = Held::of(proposal, before.clock);
    let effect = match proposal.effect {
        Effect::Read => "read",
        Effect::Destructive => "destructive",
    };
    let deciders = if proposal.by_anyone {
        "for anyone"
    } else {
        "for the owner"
    };
    let expiry = match proposal.lifetime {
        Some(_) => format!(", expires at t={}", held.expires),
        None => String::new(),
    };
    let idempotent = if proposal.idempotent {
        ", idempotent"
    } else {
        ""
    };
    let session = proposal.session.name();
    format!("proposes {slot} in session {session} ({effect}, {deciders}{expiry}{idempotent})")
}

/// What is wrong with a proposal, in words.
const fn flaw_text(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::NoId => "with an empty id",
        Flaw::NoDecider => "that nobody may decide",
        Flaw::LooseArguments => "whose arguments have no one meaning",
        Flaw::LongLabel => "with a label of 81 characters",
    }
}

/// Who sends a decision, and which.
fn send_text(slot: Slot, decision: Decision, manner: Manner) -> (&'static str, String) {
    let (actor, peculiar) = match manner {
        Manner::Plain => ("owner", ""),
        Manner::Full => ("owner", " with its nonce and the same arguments rewritten"),
        Manner::Stranger => ("stranger", ""),
        Manner::OtherNonce => ("attacker", " with another nonce"),
        Manner::Edited => ("owner", " with other arguments"),
        Manner::Everything => ("stranger", " with another nonce and other arguments"),
    };
    let (decision, slot) = (decision.name(), slot.name());
    (actor, format!("sends {decision}({slot}){peculiar}"))
}

/// What the host carries out next, in words.
fn carry_out_text(before: &State) -> String {
    match before.outbox.head() {
        None => "has nothing to carry out".to_owned(),
        Some(Item::Record) => {
            let entry = before.journal.items().nth(before.durable());
            let record = entry.map_or_else(String::new, |entry| record_text(entry.record));
            format!("makes the record {record} durable")
        }
        Some(Item::Tell(note, slot)) => {
            format!(
                "appends {}({}) to the transcript",
                note_text(note),
                slot.name()
            )
        }
        Some(Item::Perform(slot, arguments)) => {
            let slot = slot.name();
            format!("runs {slot} with {}", arguments_text(arguments))
        }
    }
}

/// The decision at a position, in words.
fn at(network: Network, index: u8) -> String {
    network
        .get(usize::from(index))
        .map_or_else(|| "nothing".to_owned(), message_text)
}

/// A decision in words.
fn message_text(message: Message) -> String {
    let slot = message.id.map_or("a made-up id", Slot::name);
    let nonce = match message.nonce {
        Nonce::Absent => "",
        Nonce::Right => ", its nonce",
        Nonce::Wrong => ", another nonce",
    };
    let approved = match message.approved {
        Approved::Unsaid => "",
        Approved::Alike => ", the same arguments rewritten",
        Approved::Edited => ", other arguments",
    };
    let (decision, by) = (message.decision.name(), message.by.name());
    format!("{decision}({slot}{nonce}{approved}) by the {by}")
}

/// A record in words.
fn record_text(record: Record) -> String {
    match record {
        Record::Proposed(slot) => format!("proposed({})", slot.name()),
        Record::Decided { slot, decision, by } => {
            let by = by.map_or("nobody", Decider::name);
            format!("decided({} {}, by {by})", decision.name(), slot.name())
        }
        Record::Expired(slot) => format!("expired({})", slot.name()),
        Record::Cancelled(slot) => format!("cancelled({})", slot.name()),
        Record::Finished(slot, status) => {
            format!("finished({} {})", slot.name(), status.name())
        }
        Record::SessionEnded(session) => format!("session_ended({})", session.name()),
    }
}

/// The kind of a message of the transcript.
fn note_text(note: Note) -> String {
    match note {
        Note::Request => "confirmation_request".to_owned(),
        Note::Call => "tool_call".to_owned(),
        Note::Denied => "denied_result".to_owned(),
        Note::Expired => "expired_result".to_owned(),
        Note::Cancelled => "cancelled_result".to_owned(),
        Note::Result(status) => format!("tool_result {}", status.name()),
    }
}

/// Arguments in words.
const fn arguments_text(arguments: Arguments) -> &'static str {
    match arguments {
        Arguments::Original => "the proposed arguments",
        Arguments::Alike => "the same arguments rewritten",
        Arguments::Edited => "other arguments",
    }
}

/// An output in words, as the wire names it.
pub fn output_text(output: Output) -> String {
    match output {
        Output::Record(record) => format!("record({})", record_text(record)),
        Output::Append(note, slot) => format!("append({} {})", note_text(note), slot.name()),
        Output::Expose(slot) => format!(
            "append(confirmation_request {}, with id and arguments)",
            slot.name()
        ),
        Output::AppendText => "append(user_message)".to_owned(),
        Output::Event(event, slot) => format!("event({} {})", event_text(event), slot.name()),
        Output::Perform(slot, arguments) => {
            let arguments = arguments_text(arguments);
            format!("perform({} with {arguments})", slot.name())
        }
        Output::Withdraw(slot) => format!("withdraw({})", slot.name()),
        Output::InDoubt(slot) => format!("in_doubt({})", slot.name()),
        Output::Audit(check) => format!("audit({})", check.clause()),
        Output::Refused(refusal) => format!("refused({})", refusal.clause()),
    }
}

/// The kind of an event.
fn event_text(event: Event) -> String {
    match event {
        Event::Created => "created".to_owned(),
        Event::Decided(decision) => format!("decided {}", decision.name()),
        Event::Denied => "denied".to_owned(),
        Event::Executed(status) => format!("executed {}", status.name()),
        Event::NotRun => "not_run".to_owned(),
        Event::Expired => "expired".to_owned(),
        Event::Cancelled => "cancelled".to_owned(),
    }
}

/// What differs between two states, in words.
pub(super) fn changes(before: &State, after: &State) -> Vec<String> {
    let mut changes = Vec::new();
    for slot in Slot::ALL {
        let (old, new) = (before.status(slot), after.status(slot));
        if old != new {
            let (old, new) = (status_text(old), status_text(new));
            changes.push(format!("{}: {old} → {new}", slot.name()));
        }
        let (old, new) = (before.held(slot).runs, after.held(slot).runs);
        if old < new {
            let times = if new > 1 { "again" } else { "once" };
            changes.push(format!("{}: runs {times}", slot.name()));
        }
    }
    for (name, old, new) in [
        ("network", before.network, after.network),
        ("validated", before.validated, after.validated),
    ] {
        if old != new {
            changes.push(format!(
                "{name}: {}",
                in_words(new.messages().map(message_text))
            ));
        }
    }
    changes
}

/// Where an action stands, in words.
const fn status_text(status: Status) -> &'static str {
    match status {
        Status::Unknown => "unknown",
        Status::Pending => "pending",
        Status::Accepted => "accepted",
        Status::Rejected => "rejected",
        Status::Expired => "expired",
        Status::Cancelled => "cancelled",
        Status::SessionOver => "cancelled with its session",
    }
}
