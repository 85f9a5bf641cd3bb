//! Which invariants a step of the search breaks: what the text makes of it, and whether the party did that.
//!
//! The one thing to know: the judge consults neither [`super::rules::Rules`] nor [`super::readings::Reading`]. It keeps its
//! own account of every confirmation, its [`Fate`], from the text alone, so that a producer with a rule left out, or one
//! that takes the text another way, is held to the same measure.

use crate::properties::broken;

use super::action::Action;
use super::message::{Message, Shape, Token};
use super::output::Output;
use super::properties::Invariant;
use super::state::{Confirmation, Fate, Phase, State};
use super::step::StepSoFar;
use super::witness::witnessed;
use super::words::{Decision, Risk, SessionOutcome, Slot, Subscriber};

/// What the judge knows of a step besides the two states.
pub(super) struct Account {
    /// The fates once everything that was due had been settled, before the call itself.
    pub(super) settled: [Fate; 2],
    /// The fates after the step.
    pub(super) after: [Fate; 2],
}

/// Brings the fates up to date, marks what was broken and says what was witnessed.
pub(super) fn judge(so_far: &mut StepSoFar<'_>, action: Action) -> u64 {
    match action {
        Action::CarryOut => {
            so_far.state.broken |= judge_performance(so_far);
            witnessed(so_far, action, None)
        }
        Action::Tick | Action::Decide { .. } | Action::Duplicate { .. } | Action::Lose { .. } => 0,
        Action::Forge(_) => witnessed(so_far, action, None),
        Action::Ask { .. }
        | Action::Deliver { .. }
        | Action::Replay
        | Action::ServeTimer
        | Action::Cancel { .. }
        | Action::EndSession { .. }
        | Action::Close { .. }
        | Action::FinishTool { .. }
        | Action::Crash
        | Action::Transgress(_) => {
            let account = account(so_far, action);
            for slot in Slot::ALL {
                so_far.state.confirmations[slot.index()].fate = account.after[slot.index()];
            }
            so_far.state.broken |= judge_call(so_far, action, &account);
            witnessed(so_far, action, Some(&account))
        }
    }
}

// What the text makes of a step.

/// What the text makes of a call: first what is due, then the call itself.
fn account(so_far: &StepSoFar<'_>, action: Action) -> Account {
    let before = so_far.before;
    let settled = before.confirmations.map(|confirmation| {
        if matches!(action, Action::Transgress(_)) {
            confirmation.fate
        } else {
            settled_fate(&confirmation, before.clock)
        }
    });
    let mut after = settled;
    match action {
        Action::Deliver { .. } | Action::Replay => {
            if let Some(message) = action.message(before)
                && let Some((slot, decision)) = decided_by(before, settled, message)
            {
                after[slot.index()] = Fate::of(decision);
            }
        }
        Action::Cancel { slot } => change(before, &mut after, Fate::Cancelled, |of, _| of == slot),
        Action::EndSession { session, .. } => {
            change(before, &mut after, Fate::Cancelled, |_, confirmation| {
                confirmation.session == session
            });
        }
        Action::Close {
            subscriber: Subscriber::Capable,
        } if before.is_open(Subscriber::Capable) => {
            change(before, &mut after, Fate::Rejected, |_, c| {
                c.class.default == Decision::Reject
            });
        }
        Action::Close { .. }
        | Action::Ask { .. }
        | Action::Decide { .. }
        | Action::Duplicate { .. }
        | Action::Lose { .. }
        | Action::Forge(_)
        | Action::Tick
        | Action::ServeTimer
        | Action::CarryOut
        | Action::FinishTool { .. }
        | Action::Crash
        | Action::Transgress(_) => {}
    }
    Account { settled, after }
}

/// Gives every open confirmation for which the condition holds this fate.
fn change(
    before: &State,
    fates: &mut [Fate; 2],
    fate: Fate,
    holds: impl Fn(Slot, &Confirmation) -> bool,
) {
    for slot in Slot::ALL {
        let confirmation = before.confirmation(slot);
        let open = confirmation.phase != Phase::Unasked && fates[slot.index()] == Fate::Open;
        if open && holds(slot, confirmation) {
            fates[slot.index()] = fate;
        }
    }
}

/// The fate once the default has been applied if it is due (AAEP-6.4-1).
fn settled_fate(confirmation: &Confirmation, clock: u8) -> Fate {
    let open = confirmation.phase != Phase::Unasked && confirmation.fate == Fate::Open;
    if open && clock >= confirmation.deadline() {
        Fate::of(confirmation.class.default)
    } else {
        confirmation.fate
    }
}

/// What a reply decides, if it passes every check.
fn decided_by(before: &State, settled: [Fate; 2], message: Message) -> Option<(Slot, Decision)> {
    let Token::Of(slot) = message.token else {
        return None;
    };
    let decision = match message.shape {
        Shape::Modified => Decision::Reject,
        Shape::Plain | Shape::Malformed | Shape::Impostor => message.decision,
    };
    (failed_checks(before, settled, message) == 0).then_some((slot, decision))
}

/// Every check that the reply fails, as the bits of the invariants that say what follows from that.
fn failed_checks(before: &State, settled: [Fate; 2], message: Message) -> u64 {
    let stray = broken(
        Invariant::UnissuedWithoutEffect,
        message.token == Token::Guessed,
    ) | broken(
        Invariant::MalformedWithoutEffect,
        message.shape == Shape::Malformed,
    ) | failures_of_sender(before, message);
    let Token::Of(slot) = message.token else {
        return stray;
    };
    let confirmation = before.confirmation(slot);
    let (used, cancelled) = match settled[slot.index()] {
        Fate::Open => (false, false),
        Fate::Accepted | Fate::Rejected => (true, false),
        Fate::Cancelled => (false, true),
    };
    let late = message.claimed >= confirmation.deadline().cast_signed();
    let unlisted =
        !confirmation.class.allowed.allows(message.decision) && message.shape != Shape::Modified;
    stray
        | broken(Invariant::UsedWithoutEffect, used)
        | broken(Invariant::CancelledWithoutEffect, cancelled)
        | broken(Invariant::LateWithoutEffect, late)
        | broken(Invariant::UnlistedWithoutEffect, unlisted)
}

/// The same for check 5.
fn failures_of_sender(before: &State, message: Message) -> u64 {
    let unauthenticated = !message.authenticated;
    let inactive = !before.is_open(message.sender) || message.shape == Shape::Impostor;
    broken(
        Invariant::WrongSenderWithoutEffect,
        unauthenticated || inactive,
    ) | broken(Invariant::UnauthenticatedWithoutEffect, unauthenticated)
        | broken(Invariant::InactiveWithoutEffect, inactive)
}

// Whether the producer did that.

/// What is broken when the host performs an action.
fn judge_performance(so_far: &StepSoFar<'_>) -> u64 {
    let Some(super::state::Item::Perform(slot)) = so_far.before.outbox.head() else {
        return 0;
    };
    let confirmation = so_far.before.confirmation(slot);
    let risk = confirmation.class.risk;
    let by_timeout = confirmation.class.irreversible && confirmation.by_default;
    broken(
        Invariant::RunsAuthorised,
        confirmation.fate != Fate::Accepted,
    ) | broken(Invariant::RunsOnce, confirmation.runs > 0)
        | broken(
            Invariant::RejectedNeverRuns,
            confirmation.fate == Fate::Rejected,
        )
        | broken(
            Invariant::CancelledNeverRuns,
            confirmation.fate == Fate::Cancelled,
        )
        | broken(
            Invariant::NothingBeginsAfterEnd,
            !so_far.before.session(confirmation.session).is_active(),
        )
        | broken(
            Invariant::NoTimeoutRunsHighRisk,
            by_timeout && risk == Risk::High,
        )
        | broken(
            Invariant::NoTimeoutRunsMediumRisk,
            by_timeout && risk == Risk::Medium,
        )
}

/// What is broken by a call.
fn judge_call(so_far: &StepSoFar<'_>, action: Action, account: &Account) -> u64 {
    let mut marks = judge_sessions(so_far, account);
    for slot in Slot::ALL {
        if so_far.state.confirmation(slot).phase != Phase::Unasked {
            marks |= judge_confirmation(so_far, action, account, slot);
        }
    }
    if let Some(message) = action.message(so_far.before) {
        marks |= judge_reply(so_far, action, account, message);
    }
    for output in so_far.required.as_slice() {
        marks |= judge_output(so_far, account, *output);
    }
    marks
}

/// Whether each session's state is as the pending confirmations want it.
fn judge_sessions(so_far: &StepSoFar<'_>, account: &Account) -> u64 {
    let mut marks = 0;
    for (index, session) in so_far.state.sessions.iter().enumerate() {
        let pending = Slot::ALL.into_iter().any(|slot| {
            let confirmation = so_far.state.confirmation(slot);
            let open =
                confirmation.phase != Phase::Unasked && account.after[slot.index()] == Fate::Open;
            open && confirmation.session.index() == index
        });
        if session.is_active() {
            marks |= broken(
                Invariant::LeavesAwaiting,
                session.awaiting_input && !pending,
            ) | broken(
                Invariant::AwaitingWhilePending,
                !session.awaiting_input && pending,
            );
        }
    }
    marks
}

/// Whether one confirmation stands where the text puts it, and whether what has to be told of it is told.
fn judge_confirmation(
    so_far: &StepSoFar<'_>,
    action: Action,
    account: &Account,
    slot: Slot,
) -> u64 {
    let before = so_far.before.confirmation(slot);
    let after = so_far.state.confirmation(slot);
    let fate = account.after[slot.index()];
    let became = |other| so_far.on_course(slot) && before.fate == Fate::Open && fate == other;
    let invoked_once = || so_far.puts_out(Output::Invoked(slot)) == 1;
    let due = so_far.before.clock >= after.deadline();
    let called = !matches!(action, Action::Transgress(_));
    let overdue = called && due && after.is_pending();
    let early = after.phase == Phase::Accepted && after.by_default && before.is_pending() && !due;
    let closed =
        matches!(action, Action::Close { .. }) && account.settled[slot.index()] == Fate::Open;
    let resolutions = so_far.resolved[slot.index()]
        + u8::from(matches!(before.fate, Fate::Accepted | Fate::Rejected));
    broken(
        Invariant::RejectionFollowedUp,
        became(Fate::Rejected) && !so_far.follows_up(slot),
    ) | broken(
        Invariant::AcceptedInvokedOnce,
        became(Fate::Accepted) && !invoked_once() || after.invoked > 1,
    ) | broken(
        Invariant::ResolvedOnce,
        so_far.resolved[slot.index()] > 0 && resolutions > 1,
    ) | broken(Invariant::RightOutcome, !agrees(after.phase, fate))
        | broken(Invariant::DefaultApplies, overdue)
        | broken(
            Invariant::LateArrivalWithoutEffect,
            so_far.resolved_by_reply[slot.index()] && due,
        )
        | broken(Invariant::NoEarlyAccept, early)
        | broken(
            Invariant::ClosingRejects,
            closed && fate == Fate::Rejected && after.is_pending(),
        )
        | judge_ends(so_far, action, account, slot)
}

/// The same for what a cancellation, the end of a session and a restart have to tell.
fn judge_ends(so_far: &StepSoFar<'_>, action: Action, account: &Account, slot: Slot) -> u64 {
    let before = so_far.before.confirmation(slot);
    let was_active = so_far.before.session(before.session).is_active();
    if !so_far.on_course(slot) {
        return 0;
    }
    match action {
        Action::Cancel { slot: cancelled } => {
            let by_this = account.settled[slot.index()] == Fate::Open
                && account.after[slot.index()] == Fate::Cancelled;
            broken(
                Invariant::CancellationTold,
                cancelled == slot && by_this && !so_far.follows_up(slot),
            )
        }
        Action::EndSession { session, outcome } if session == before.session && was_active => {
            let pending = so_far.state.confirmation(slot).is_pending();
            let in_flight =
                account.after[slot.index()] == Fate::Accepted && before.phase != Phase::Finished;
            let completed = so_far.puts_out(Output::Completed(slot)) == 1;
            broken(
                Invariant::SessionCancels,
                outcome == SessionOutcome::Cancelled && pending,
            ) | broken(
                Invariant::ToolsCompleted,
                outcome == SessionOutcome::Completed && in_flight && !completed,
            )
        }
        Action::Crash if was_active && before.phase == Phase::Accepted => {
            let reported = so_far.puts_out(Output::InDoubt(slot)) == 1
                && so_far.puts_out(Output::Perform(slot)) == 0;
            broken(Invariant::DoubtReported, !reported)
        }
        Action::Ask { .. }
        | Action::Decide { .. }
        | Action::Deliver { .. }
        | Action::Duplicate { .. }
        | Action::Lose { .. }
        | Action::Forge(_)
        | Action::Replay
        | Action::Tick
        | Action::ServeTimer
        | Action::EndSession { .. }
        | Action::Close { .. }
        | Action::CarryOut
        | Action::FinishTool { .. }
        | Action::Crash
        | Action::Transgress(_) => 0,
    }
}

/// Whether the producer's phase is what the fate says.
const fn agrees(phase: Phase, fate: Fate) -> bool {
    match phase {
        Phase::Unasked => true,
        Phase::Pending => matches!(fate, Fate::Open),
        Phase::Accepted | Phase::Finished => matches!(fate, Fate::Accepted),
        Phase::Rejected => matches!(fate, Fate::Rejected),
        Phase::Cancelled => matches!(fate, Fate::Cancelled),
    }
}

/// What is broken by what a reply did, and by what its sender could see.
fn judge_reply(so_far: &StepSoFar<'_>, action: Action, account: &Account, message: Message) -> u64 {
    let failed = failed_checks(so_far.before, account.settled, message);
    let effect = so_far.resolved_by_reply.contains(&true);
    let elsewhere = Slot::ALL
        .into_iter()
        .any(|slot| so_far.resolved_by_reply[slot.index()] && message.token != Token::Of(slot));
    let constant = so_far.puts_out(Output::Respond) == 1;
    let mut marks = broken(Invariant::ConstantResponse, !constant)
        | broken(Invariant::JudgedByItself, elsewhere)
        | broken(Invariant::InvalidWithoutEffect, effect && failed != 0)
        | broken(
            Invariant::ReplayWithoutEffect,
            effect && action == Action::Replay,
        )
        | if effect { failed } else { 0 };
    if let Token::Of(slot) = message.token
        && message.shape == Shape::Modified
    {
        let rejected = so_far.state.confirmation(slot).phase == Phase::Rejected;
        marks |= broken(
            Invariant::ModifiedRejects,
            (effect || failed == 0) && !rejected,
        );
    }
    marks
}

/// What is broken by an output.
fn judge_output(so_far: &StepSoFar<'_>, account: &Account, output: Output) -> u64 {
    let mut marks = 0;
    let fate = |slot: Slot| account.after[slot.index()];
    let session = match output {
        Output::AwaitingInput(session)
        | Output::CallingTool(session)
        | Output::Thinking(session) => session,
        Output::FollowUpLeaving(slot) | Output::FollowUpStaying(slot) => {
            so_far.state.confirmation(slot).session
        }
        Output::Ended(session, _) => {
            return broken(
                Invariant::EndsOnce,
                !so_far.before.session(session).is_active(),
            );
        }
        Output::Asked(slot) => {
            marks |= judge_question(so_far, account, slot);
            so_far.state.confirmation(slot).session
        }
        Output::Invoked(slot) => {
            let confirmation = so_far.state.confirmation(slot);
            let unauthorised = fate(slot) != Fate::Accepted;
            marks |= broken(Invariant::SilentWhileBlocked, fate(slot) == Fate::Open)
                | broken(Invariant::RejectedNotInvoked, fate(slot) == Fate::Rejected)
                | broken(
                    Invariant::IrreversibleAuthorised,
                    confirmation.class.irreversible && unauthorised,
                );
            confirmation.session
        }
        Output::Completed(slot) => {
            let no_tool = fate(slot) != Fate::Accepted
                || so_far.before.confirmation(slot).phase == Phase::Finished;
            if so_far.on_course(slot) {
                marks |= broken(Invariant::SilentWhileBlocked, fate(slot) == Fate::Open)
                    | broken(Invariant::CompletionHasTool, no_tool);
            }
            so_far.state.confirmation(slot).session
        }
        Output::Perform(_)
        | Output::Withdraw(_)
        | Output::InDoubt(_)
        | Output::Respond
        | Output::Tell(_)
        | Output::Audit(_)
        | Output::Refused(_)
        | Output::Notice => return 0,
    };
    marks
        | broken(
            Invariant::NothingAfterEnd,
            !so_far.before.session(session).is_active(),
        )
}

/// What is broken by a question.
fn judge_question(so_far: &StepSoFar<'_>, account: &Account, slot: Slot) -> u64 {
    let confirmation = so_far.state.confirmation(slot);
    let blocked =
        so_far.on_course(Slot::First) && account.settled[Slot::First.index()] == Fate::Open;
    let awaiting = so_far.state.session(confirmation.session).awaiting_input;
    broken(
        Invariant::NotAskedTwice,
        confirmation.same_action && blocked,
    ) | broken(Invariant::TokenIssuedOnce, confirmation.reused_token)
        | broken(Invariant::AwaitingWhenAsked, !awaiting)
}

impl StepSoFar<'_> {
    /// Whether the producer stood with this confirmation where the text puts it. One that has gone astray is held to what
    /// it does to the action, but not accused again of everything that it then cannot know to tell.
    fn on_course(&self, slot: Slot) -> bool {
        let before = self.before.confirmation(slot);
        agrees(before.phase, before.fate)
    }

    /// Whether the step tells that this confirmation was rejected or cancelled.
    fn follows_up(&self, slot: Slot) -> bool {
        self.puts_out(Output::FollowUpLeaving(slot)) + self.puts_out(Output::FollowUpStaying(slot))
            > 0
    }

    /// How often the step puts this output out.
    pub(super) fn puts_out(&self, output: Output) -> usize {
        self.required.count(output)
    }
}
