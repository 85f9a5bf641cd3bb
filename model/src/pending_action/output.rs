//! What may come out of a step.

use super::journal::Record;
use super::rules::{Check, Refusal};
use super::words::{Arguments, Decision, Note, Slot, ToolStatus};

/// An event about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// It pends; its id, its nonce and all that was proposed come with it.
    Created,
    /// It was decided; by whom and when comes with it.
    Decided(Decision),
    /// It was denied.
    Denied,
    /// The host has reported that the call ran, and how it came out.
    Executed(ToolStatus),
    /// The host has reported that the call was never begun.
    NotRun,
    /// It expired.
    Expired,
    /// It was cancelled, by itself or with its session.
    Cancelled,
}

/// One thing that the ledger puts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// A record, to be durable before anything behind it is carried out.
    Record(Record),
    /// A message is appended to the transcript.
    Append(Note, Slot),
    /// A `confirmation_request` that shows id, nonce or arguments. Never allowed (PA-9).
    Expose(Slot),
    /// Free text is appended to the transcript, untouched.
    AppendText,
    /// An event is emitted.
    Event(Event, Slot),
    /// The tool is to run with these arguments.
    Perform(Slot, Arguments),
    /// The tool is not to run if it has not begun; the host drops it from the outbox at once.
    Withdraw(Slot),
    /// The call was released before the restart, and whether it ran is not known.
    InDoubt(Slot),
    /// A decision was ignored, and why. Only the operator sees it.
    Audit(Check),
    /// The caller erred; nothing was changed by the call itself.
    Refused(Refusal),
}

impl crate::outputs::Output for Output {
    const BLANK: Self = Self::AppendText;
}

/// The outputs of one step, in order; room for more than any step of any ablation puts out.
pub type Outputs = crate::outputs::Outputs<Output, 28>;
