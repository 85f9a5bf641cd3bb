//! Which clause an output keeps, or breaks.
//!
//! The one thing to know: a divergence has to name a clause. What is required and missing, and what is forbidden and came
//! out, is traced here to the clause that says so.

use super::PendingAction;
use super::action::Action;
use super::journal::Record;
use super::known::Status;
use super::output::{Event, Output};
use super::rules::{Check, Refusal};
use super::state::State;
use super::step::Step;
use super::words::{Arguments, Note, Slot};

impl PendingAction {
    /// The clause that requires this output of this action; nothing if it is not required, or the action not enabled.
    pub fn required_by(
        &self,
        state: &State,
        action: Action,
        output: Output,
    ) -> Option<&'static str> {
        let step = self.step(state, action)?;
        step.required
            .contains(output)
            .then(|| required(action, output))
    }

    /// The clause that forbids this output of this action; nothing if it is required, or the action not enabled. An output
    /// that comes out more often than it is required is asked for with [`PendingAction::repetition_breaks`].
    pub fn forbidden_by(
        &self,
        state: &State,
        action: Action,
        output: Output,
    ) -> Option<&'static str> {
        let step = self.step(state, action)?;
        (!step.required.contains(output)).then(|| forbidden(state, action, &step, output))
    }

    /// The clause that a required output breaks by coming out twice in one step.
    pub const fn repetition_breaks(output: Output) -> &'static str {
        match output {
            Output::Perform(..) | Output::Record(_) => "PA-8",
            Output::Withdraw(_) => "PA-5",
            Output::Expose(_) => "PA-9",
            Output::AppendText => "PA-11",
            Output::Append(..) | Output::Event(..) | Output::InDoubt(_) | Output::Audit(_) => {
                "PA-10"
            }
            Output::Refused(refusal) => refusal.clause(),
        }
    }
}

/// Why an output is required.
const fn required(action: Action, output: Output) -> &'static str {
    match output {
        Output::Record(record) => recording(record),
        Output::Append(note, _) => telling(note),
        Output::Expose(_) => "PA-9",
        Output::AppendText => "PA-11",
        Output::Perform(..) => "PA-3",
        Output::Withdraw(_) => "PA-5",
        // What may have run already.
        Output::InDoubt(_) if matches!(action, Action::Restart) => "PA-8",
        Output::Event(..) | Output::Audit(_) | Output::InDoubt(_) => "PA-10",
        Output::Refused(refusal) => refusal.clause(),
    }
}

/// The clause of what a record says.
const fn recording(record: Record) -> &'static str {
    match record {
        Record::Proposed(_) => "PA-1",
        Record::Decided { .. } => "PA-2",
        Record::Expired(_) => "PA-7",
        Record::Cancelled(_) | Record::SessionEnded(_) => "PA-5",
        Record::Finished(..) => "PA-4",
    }
}

/// The clause of a message of the transcript.
const fn telling(note: Note) -> &'static str {
    match note {
        Note::Request | Note::Expired | Note::Cancelled => "PA-10",
        Note::Call | Note::Result(_) => "PA-4",
        Note::Denied => "PA-6",
    }
}

/// Why an output is forbidden.
fn forbidden(before: &State, action: Action, step: &Step, output: Output) -> &'static str {
    if let Some(refusal) = refusal(step) {
        return refusal.clause();
    }
    match output {
        Output::Perform(slot, arguments) => release(before, action, step, slot, arguments),
        Output::Record(Record::Decided { slot, .. }) if is_another(before, action, slot) => "PA-1",
        Output::Record(record) => step
            .ignored
            .map_or_else(|| unfounded(before, action, record), Check::clause),
        Output::Append(note, slot) => step
            .ignored
            .map_or_else(|| mistold(step, note, slot), Check::clause),
        Output::Event(event, _) => step
            .ignored
            .map_or_else(|| misreported(event), Check::clause),
        Output::Expose(_) => "PA-9",
        Output::AppendText => "PA-11",
        Output::Withdraw(_) => "PA-3",
        Output::InDoubt(_) => "PA-10",
        // Why it must not be ignored so: because of another check, or because it is valid.
        Output::Audit(_) => step.ignored.map_or("PA-2", Check::clause),
        Output::Refused(refusal) => refusal.clause(),
    }
}

/// Why the tool must not run now, or not with these arguments.
fn release(
    before: &State,
    action: Action,
    step: &Step,
    slot: Slot,
    arguments: Arguments,
) -> &'static str {
    if is_another(before, action, slot) {
        return "PA-1";
    }
    if let Some(check) = step.ignored {
        return check.clause();
    }
    let released = step
        .required
        .contains(Output::Perform(slot, Arguments::Original));
    if released && arguments != Arguments::Original {
        return "PA-3";
    }
    match action {
        Action::Propose(_) | Action::ProposeFlawed(_) => "PA-1",
        Action::Say => "PA-11",
        Action::Restart if before.held(slot).idempotent && is_over(before, slot) => "PA-5",
        Action::Restart | Action::Rollback => match before.status(slot) {
            Status::Accepted => "PA-8",
            Status::Unknown | Status::Pending => "PA-1",
            Status::Rejected | Status::Cancelled | Status::SessionOver => "PA-5",
            Status::Expired => "PA-7",
        },
        Action::Deliver { .. } | Action::Cancel { .. } | Action::EndSession(_) => "PA-5",
        Action::ServeTimer => "PA-7",
        Action::FinishTool { .. } => "PA-8",
        Action::Send { .. }
        | Action::Guess
        | Action::Duplicate { .. }
        | Action::Apply { .. }
        | Action::CarryOut
        | Action::Tick
        | Action::SetBack
        | Action::Snapshot => "PA-2",
    }
}

/// Whether the session of the action in a slot has ended.
fn is_over(before: &State, slot: Slot) -> bool {
    before.known.has_ended(before.held(slot).session)
}

/// Whether a decision that gives the id of one action has fallen on another.
fn is_another(before: &State, action: Action, found: Slot) -> bool {
    let Action::Deliver { index } = action else {
        return false;
    };
    let message = before.network.get(usize::from(index));
    let meant = message.and_then(|message| message.id);
    meant.is_some_and(|meant| meant != found)
}

/// Why nothing of this sort is to be recorded.
fn unfounded(before: &State, action: Action, record: Record) -> &'static str {
    let resolved = record
        .resolves()
        .is_some_and(|slot| before.status(slot).is_final());
    if action == Action::Say {
        "PA-11"
    } else if resolved {
        "PA-8"
    } else {
        recording(record)
    }
}

/// Why the transcript must not say this.
fn mistold(step: &Step, note: Note, slot: Slot) -> &'static str {
    let expires = step.required.contains(Output::Append(Note::Expired, slot));
    match note {
        // An expiry is no denial.
        Note::Denied if expires => "PA-10",
        Note::Request
        | Note::Call
        | Note::Denied
        | Note::Expired
        | Note::Cancelled
        | Note::Result(_) => telling(note),
    }
}

/// Why the event must not come out.
const fn misreported(event: Event) -> &'static str {
    match event {
        Event::Expired => "PA-7",
        Event::Created
        | Event::Decided(_)
        | Event::Denied
        | Event::Executed(_)
        | Event::Cancelled => "PA-10",
    }
}

/// The refusal among the required outputs.
fn refusal(step: &Step) -> Option<Refusal> {
    step.required.iter().find_map(|output| {
        let Output::Refused(refusal) = output else {
            return None;
        };
        Some(refusal)
    })
}
