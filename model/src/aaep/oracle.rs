//! Which clause an output keeps, or breaks.
//!
//! The one thing to know: a divergence has to name a clause. What is required and missing, and what is forbidden and came
//! out, is traced here to the clause that says so.

use super::Aaep;
use super::action::Action;
use super::message::{Shape, Token};
use super::output::Output;
use super::rules::Refusal;
use super::state::{Phase, State};
use super::step::Step;
use super::words::{SessionName, Slot};

impl Aaep {
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
            .then(|| required(state, action, &step, output))
    }

    /// The clause that forbids this output of this action; nothing if it is required or optional, or the action not
    /// enabled. An output that comes out more often than it is allowed is asked for with [`Aaep::repetition_breaks`].
    pub fn forbidden_by(
        &self,
        state: &State,
        action: Action,
        output: Output,
    ) -> Option<&'static str> {
        let step = self.step(state, action)?;
        let allowed = step.required.contains(output) || step.optional.contains(output);
        (!allowed).then(|| forbidden(state, action, &step, output))
    }

    /// The clause that an allowed output breaks by coming out twice in one step.
    pub const fn repetition_breaks(output: Output) -> &'static str {
        match output {
            Output::Perform(_) | Output::InDoubt(_) => "AAEP-6.9-2",
            Output::Invoked(_) => "AAEP-A.4-3",
            Output::Asked(_) => "AAEP-6.1-6",
            Output::FollowUpLeaving(_) | Output::FollowUpStaying(_) => "AAEP-6.1-3",
            Output::Completed(_) => "AAEP-A.3-1",
            Output::Ended(..) => "AAEP-A.1-2",
            Output::AwaitingInput(_) | Output::CallingTool(_) | Output::Thinking(_) => "AAEP-EV-8",
            Output::Respond | Output::Tell(_) | Output::Notice => "AAEP-6.3.4-9",
            Output::Audit(_) => "AAEP-6.3.4-8",
            Output::Withdraw(_) => "AAEP-6.8-2",
            Output::Refused(refusal) => refusal.clause(),
        }
    }
}

/// Why an output is required.
fn required(before: &State, action: Action, step: &Step, output: Output) -> &'static str {
    match output {
        Output::AwaitingInput(_) => "AAEP-A.4-1",
        Output::Asked(_) => "AAEP-6.2-1",
        Output::CallingTool(_) => "AAEP-A.4-2",
        Output::Invoked(slot) | Output::Perform(slot) => {
            applied_default(before, action, step, slot).unwrap_or("AAEP-A.4-3")
        }
        Output::FollowUpLeaving(slot) | Output::FollowUpStaying(slot) => {
            if step.next.confirmation(slot).phase == Phase::Cancelled {
                "AAEP-6.8-3"
            } else {
                applied_default(before, action, step, slot)
                    .unwrap_or(rejecting_reply(before, action))
            }
        }
        Output::Completed(_) => "AAEP-A.3-1",
        Output::Thinking(_) => "AAEP-A.3-3",
        Output::Withdraw(_) => "AAEP-6.8-2",
        Output::Ended(..) => "AAEP-A.1-2",
        Output::InDoubt(_) => "AAEP-6.9-2",
        Output::Respond | Output::Tell(_) => "AAEP-6.3.4-9",
        Output::Audit(_) => "AAEP-6.3.4-8",
        Output::Notice => "AAEP-6.3.5-2",
        Output::Refused(refusal) => refusal.clause(),
    }
}

/// The clause that applies a default, if that is what resolved the confirmation in this step.
fn applied_default(
    before: &State,
    action: Action,
    step: &Step,
    slot: Slot,
) -> Option<&'static str> {
    let resolved =
        before.confirmation(slot).is_pending() && step.next.confirmation(slot).by_default;
    let due = before.confirmation(slot).deadline() <= before.clock;
    let closing = matches!(action, Action::Close { .. });
    resolved.then_some(if closing && !due {
        "AAEP-EV-11"
    } else {
        "AAEP-6.4-1"
    })
}

/// The clause that a reply's rejection follows.
fn rejecting_reply(before: &State, action: Action) -> &'static str {
    let message = action.message(before);
    if message.is_some_and(|message| message.shape == Shape::Modified) {
        "AAEP-6.3.2-4"
    } else {
        "AAEP-6.1-3"
    }
}

/// Why an output is forbidden.
fn forbidden(before: &State, action: Action, step: &Step, output: Output) -> &'static str {
    if let Some(clause) = forbidden_by_the_call(before, action, step, output) {
        return clause;
    }
    let phase = |slot: Slot| step.next.confirmation(slot).phase;
    let over = |slot: Slot| {
        !before
            .session(before.confirmation(slot).session)
            .is_active()
    };
    match output {
        Output::Perform(_) if action == Action::Crash => "AAEP-6.9-2",
        Output::Perform(slot) => performance(phase(slot), over(slot)),
        Output::Invoked(slot) => invocation(phase(slot), over(slot)),
        Output::FollowUpLeaving(slot) => {
            state_change(step, before.confirmation(slot).session, false)
        }
        Output::FollowUpStaying(slot) => {
            state_change(step, before.confirmation(slot).session, true)
        }
        Output::CallingTool(session) | Output::Thinking(session) => {
            state_change(step, session, false)
        }
        Output::AwaitingInput(session) => state_change(step, session, true),
        Output::Completed(_) => "AAEP-A.3-2",
        Output::Ended(..) => "AAEP-A.1-2",
        Output::Withdraw(_) => "AAEP-A.4-3",
        Output::InDoubt(_) => "AAEP-6.9-2",
        Output::Asked(_) => "AAEP-6.1-6",
        Output::Audit(_) => "AAEP-6.7.1-1",
        Output::Respond | Output::Tell(_) | Output::Notice => "AAEP-6.3.4-9",
        Output::Refused(refusal) => refusal.clause(),
    }
}

/// What the call itself makes of an output: nothing follows from a call that is refused or a reply that is ignored.
fn forbidden_by_the_call(
    before: &State,
    action: Action,
    step: &Step,
    output: Output,
) -> Option<&'static str> {
    let effect = output.is_event() || matches!(output, Output::Perform(_));
    if let Some(refusal) = refusal(step) {
        return effect.then(|| refusal.clause());
    }
    if let Some(check) = step.ignored {
        return (effect || matches!(output, Output::Audit(_))).then(|| check.clause());
    }
    let message = action.message(before)?;
    let own = output
        .slot()
        .is_some_and(|slot| message.token == Token::Of(slot));
    let released = matches!(output, Output::Perform(_) | Output::Invoked(_));
    if effect && output.slot().is_some() && !own {
        // A reply concerns the confirmation of its token alone.
        Some("AAEP-6.9-2")
    } else if message.shape == Shape::Modified && released {
        Some("AAEP-6.3.2-4")
    } else {
        None
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

/// Why an action must not be performed now.
const fn performance(phase: Phase, session_over: bool) -> &'static str {
    match phase {
        Phase::Unasked | Phase::Pending | Phase::Rejected => "AAEP-6.1-1",
        Phase::Cancelled if session_over => "AAEP-6.8-2",
        Phase::Cancelled => "AAEP-6.8-1",
        Phase::Accepted | Phase::Finished => "AAEP-6.9-2",
    }
}

/// Why an action must not be announced now.
const fn invocation(phase: Phase, session_over: bool) -> &'static str {
    match phase {
        Phase::Unasked => "AAEP-A.7.4-1",
        Phase::Pending => "AAEP-6.1-5",
        Phase::Rejected => "AAEP-A.4-4",
        Phase::Cancelled if session_over => "AAEP-A.1-3",
        Phase::Cancelled => "AAEP-6.8-1",
        Phase::Accepted | Phase::Finished => "AAEP-A.4-3",
    }
}

/// Why the state must not change so: the session is over, it has to leave `awaiting_input` or to stay there, or there is
/// nothing that it could reflect.
fn state_change(step: &Step, session: SessionName, to_awaiting: bool) -> &'static str {
    let after = step.next.session(session);
    if !after.is_active() {
        "AAEP-A.1-3"
    } else if after.awaiting_input == to_awaiting {
        "AAEP-EV-8"
    } else if to_awaiting {
        "AAEP-A.4-2"
    } else {
        "AAEP-A.2-2"
    }
}
