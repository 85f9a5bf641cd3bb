//! What a step is a witness of: that something can happen, and not only in theory.

use crate::properties::seen;
use crate::table::Tabled;

use super::action::{Action, Forgery};
use super::marks::Account;
use super::message::Shape;
use super::output::Output;
use super::rules::{Check, Refusal};
use super::state::{Confirmation, Fate, Item, Phase};
use super::step::StepSoFar;
use super::words::{AllowedReplies, Decision, SessionOutcome, Slot, Subscriber};

/// Something that some run of the specification shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// A reply accepts.
    ReplyAccepts,
    /// A reply rejects.
    ReplyRejects,
    /// A default accepts at or after its deadline.
    DefaultAccepts,
    /// A default rejects at or after its deadline.
    DefaultRejects,
    /// A timer is served after its deadline.
    ServedLate,
    /// Another call than the timer's applies the default.
    SettledByCall,
    /// A released action is performed.
    Performed,
    /// A tool is reported as done.
    ToolFinished,
    /// A tool is completed because its session completes.
    CompletedWithSession,
    /// An action is taken back from the outbox because its session ended.
    Withdrawn,
    /// A confirmation is cancelled with its session.
    CancelledWithSession,
    /// A confirmation is cancelled by itself.
    CancelledOne,
    /// The state becomes `awaiting_input`.
    EntersAwaiting,
    /// The state leaves `awaiting_input`.
    LeavesAwaiting,
    /// An event is put out in a session in which a confirmation stays pending.
    EventWhileBlocked,
    /// A reply resolves one confirmation while another is pending.
    ResolvedBesideAnother,
    /// A second confirmation is asked for.
    SecondAsked,
    /// A released action is asked for again.
    AskedAgain,
    /// A reply on a forwarder's subscription is honoured.
    Forwarded,
    /// A reply with `modified_action` rejects.
    ModifiedRejects,
    /// It rejects even where reject is not allowed.
    ModifiedRejectsUnlisted,
    /// A reply is sent with the token of another session's confirmation.
    MixedUp,
    /// A reply is ignored at check 1.
    IgnoredMalformed,
    /// A reply is ignored at check 2.
    IgnoredUnissued,
    /// A reply is ignored at check 3: used.
    IgnoredUsed,
    /// A reply is ignored at check 3: cancelled.
    IgnoredCancelled,
    /// A reply is ignored at check 4.
    IgnoredLate,
    /// A reply is ignored at check 5: not authenticated, or an impostor's.
    IgnoredUnauthenticated,
    /// A reply is ignored at check 5: its subscription is closed.
    IgnoredClosed,
    /// A reply is ignored at check 6.
    IgnoredUnlisted,
    /// A replayed reply is ignored.
    IgnoredReplay,
    /// A reply finds that its arrival has just let the default apply.
    IgnoredLateArrival,
    /// The closing of the last capable subscription rejects.
    ClosingRejects,
    /// A default of accept outlasts that closing.
    ClosingKeepsAccept,
    /// An irreversible action is announced.
    IrreversibleInvoked,
    /// A restart reports an action as in doubt.
    InDoubt,
    /// An ask is refused: the session has ended.
    RefusedSessionOver,
    /// An ask is refused: the timeout is out of range.
    RefusedBadTimeout,
    /// An ask is refused: high risk.
    RefusedHighRisk,
    /// An ask is refused: medium risk.
    RefusedMediumRisk,
    /// An ask is refused: the action is blocked.
    RefusedBlocked,
    /// A cancellation is refused.
    RefusedNotPending,
    /// The second end of a session is refused.
    RefusedEndedAlready,
    /// The second closing of a subscription is refused.
    RefusedClosedAlready,
    /// The completion of a tool that is not in flight is refused.
    RefusedNotInFlight,
}

impl Tabled for Witness {
    type Row = WitnessRow;
    const ROWS: &'static [WitnessRow] = &WITNESSES;

    fn place(self) -> usize {
        self as usize
    }
}

/// What there is to say about a witness.
pub type WitnessRow = crate::properties::WitnessRow<Witness>;

/// Every witness, in the order of [`Witness`].
pub static WITNESSES: [WitnessRow; 45] = [
    WitnessRow::new(
        Witness::ReplyAccepts,
        "6.1-1 a reply accepts",
        &["AAEP-6.1-1", "AAEP-A.4-3"],
    ),
    WitnessRow::new(
        Witness::ReplyRejects,
        "6.1-3 a reply rejects",
        &["AAEP-6.1-3", "AAEP-A.4-4"],
    ),
    WitnessRow::new(
        Witness::DefaultAccepts,
        "6.4-1 a default accepts",
        &["AAEP-6.4-1", "AAEP-6.1-1"],
    ),
    WitnessRow::new(
        Witness::DefaultRejects,
        "6.4-1 a default rejects",
        &["AAEP-6.4-1", "AAEP-6.1-3"],
    ),
    WitnessRow::new(
        Witness::ServedLate,
        "6.4-1 a timer is served after its deadline",
        &["AAEP-6.4-1"],
    ),
    WitnessRow::new(
        Witness::SettledByCall,
        "6.4-1 another call applies a default that is due",
        &["AAEP-6.4-1"],
    ),
    WitnessRow::new(
        Witness::Performed,
        "6.1-1 a released action is performed",
        &["AAEP-6.1-1"],
    ),
    WitnessRow::new(
        Witness::ToolFinished,
        "A.3-1 a tool is reported as done",
        &["AAEP-A.3-1"],
    ),
    WitnessRow::new(
        Witness::CompletedWithSession,
        "A.3-1 a tool is completed because its session completes",
        &["AAEP-A.3-1"],
    ),
    WitnessRow::new(
        Witness::Withdrawn,
        "A.1-3 an action is withdrawn because its session ended",
        &["AAEP-A.1-3", "AAEP-6.8-2"],
    ),
    WitnessRow::new(
        Witness::CancelledWithSession,
        "6.8-2 a confirmation is cancelled with its session",
        &["AAEP-6.8-2"],
    ),
    WitnessRow::new(
        Witness::CancelledOne,
        "6.8-3 a confirmation is cancelled by itself",
        &["AAEP-6.8-1", "AAEP-6.8-3"],
    ),
    WitnessRow::new(
        Witness::EntersAwaiting,
        "A.4-1 the state becomes awaiting_input",
        &["AAEP-A.4-1"],
    ),
    WitnessRow::new(
        Witness::LeavesAwaiting,
        "A.4-2 the state leaves awaiting_input",
        &["AAEP-A.4-2"],
    ),
    WitnessRow::new(
        Witness::EventWhileBlocked,
        "6.1-4 work goes on while a confirmation is pending",
        &["AAEP-6.1-4", "AAEP-6.1-5"],
    ),
    WitnessRow::new(
        Witness::ResolvedBesideAnother,
        "6.9-2 a reply resolves one of two pending confirmations",
        &["AAEP-6.9-2"],
    ),
    WitnessRow::new(
        Witness::SecondAsked,
        "6.2.2-3 a second confirmation has a token of its own",
        &["AAEP-6.2.2-3"],
    ),
    WitnessRow::new(
        Witness::AskedAgain,
        "6.1-6 a released action is asked for again",
        &["AAEP-6.1-6"],
    ),
    WitnessRow::new(
        Witness::Forwarded,
        "6.6-4 a forwarder's reply is honoured",
        &["AAEP-6.6-4"],
    ),
    WitnessRow::new(
        Witness::ModifiedRejects,
        "6.3.2-4 a reply with modified_action rejects",
        &["AAEP-6.3.2-4"],
    ),
    WitnessRow::new(
        Witness::ModifiedRejectsUnlisted,
        "6.3.2-4 it rejects where reject is not allowed",
        &["AAEP-6.3.2-4"],
    ),
    WitnessRow::new(
        Witness::MixedUp,
        "6.9-2 a reply is sent with another session's token",
        &["AAEP-6.9-2"],
    ),
    WitnessRow::new(
        Witness::IgnoredMalformed,
        "6.3.4-1 a malformed reply is ignored",
        &["AAEP-6.3.4-1"],
    ),
    WitnessRow::new(
        Witness::IgnoredUnissued,
        "6.3.4-2 a guessed token is ignored",
        &["AAEP-6.3.4-2"],
    ),
    WitnessRow::new(
        Witness::IgnoredUsed,
        "6.3.4-3 a used token is ignored",
        &["AAEP-6.3.4-3", "AAEP-6.3.5-1", "AAEP-6.7.1-1"],
    ),
    WitnessRow::new(
        Witness::IgnoredCancelled,
        "6.8-4 a cancelled token is ignored",
        &["AAEP-6.8-4"],
    ),
    WitnessRow::new(
        Witness::IgnoredLate,
        "6.3.4-4 a late claim is ignored",
        &["AAEP-6.3.4-4"],
    ),
    WitnessRow::new(
        Witness::IgnoredUnauthenticated,
        "6.3.4-5 an unauthenticated reply is ignored",
        &["AAEP-6.3.4-5", "AAEP-6.9-1"],
    ),
    WitnessRow::new(
        Witness::IgnoredClosed,
        "REPLY-14 a reply on a closed subscription is ignored",
        &["AAEP-REPLY-14", "AAEP-6.3.4-5"],
    ),
    WitnessRow::new(
        Witness::IgnoredUnlisted,
        "6.3.4-6 a decision that is not listed is ignored",
        &["AAEP-6.3.4-6"],
    ),
    WitnessRow::new(
        Witness::IgnoredReplay,
        "6.9-2 a replayed reply is ignored",
        &["AAEP-6.9-2"],
    ),
    WitnessRow::new(
        Witness::IgnoredLateArrival,
        "6.4-1 a reply arrives too late, and its arrival lets the default apply",
        &["AAEP-6.4-1"],
    ),
    WitnessRow::new(
        Witness::ClosingRejects,
        "EV-11 a closing rejects",
        &["AAEP-EV-11"],
    ),
    WitnessRow::new(
        Witness::ClosingKeepsAccept,
        "6.1-1 a default of accept outlasts a closing",
        &["AAEP-6.1-1", "AAEP-EV-11"],
    ),
    WitnessRow::new(
        Witness::IrreversibleInvoked,
        "A.7.4-1 an irreversible action is announced",
        &["AAEP-A.7.4-1"],
    ),
    WitnessRow::new(
        Witness::InDoubt,
        "6.9-2 a restart reports an action as in doubt",
        &["AAEP-6.9-2"],
    ),
    WitnessRow::new(
        Witness::RefusedSessionOver,
        "A.1-3 an ask after the session's end is refused",
        &["AAEP-A.1-3"],
    ),
    WitnessRow::new(
        Witness::RefusedBadTimeout,
        "EV-5 a timeout out of range is refused",
        &["AAEP-EV-5"],
    ),
    WitnessRow::new(
        Witness::RefusedHighRisk,
        "6.4.1-1 a forbidden default is refused",
        &["AAEP-6.4.1-1"],
    ),
    WitnessRow::new(
        Witness::RefusedMediumRisk,
        "6.4.1-2 a forbidden default is refused",
        &["AAEP-6.4.1-2"],
    ),
    WitnessRow::new(
        Witness::RefusedBlocked,
        "6.1-6 a second ask for a blocked action is refused",
        &["AAEP-6.1-6"],
    ),
    WitnessRow::new(
        Witness::RefusedNotPending,
        "6.8-1 the cancellation of what is not pending is refused",
        &["AAEP-6.8-1"],
    ),
    WitnessRow::new(
        Witness::RefusedEndedAlready,
        "A.1-2 a second end is refused",
        &["AAEP-A.1-2"],
    ),
    WitnessRow::new(
        Witness::RefusedClosedAlready,
        "REPLY-14 a second closing is refused",
        &["AAEP-REPLY-14"],
    ),
    WitnessRow::new(
        Witness::RefusedNotInFlight,
        "A.3-2 the completion of no tool is refused",
        &["AAEP-A.3-2"],
    ),
];

/// The witnesses that the step is one of.
pub(super) fn witnessed(so_far: &StepSoFar<'_>, action: Action, account: Option<&Account>) -> u64 {
    let Some(account) = account else {
        let performs = matches!(so_far.before.outbox.head(), Some(Item::Perform(_)));
        return seen(Witness::Performed, action == Action::CarryOut && performs)
            | seen(
                Witness::MixedUp,
                matches!(action, Action::Forge(Forgery::MixedUp { .. })),
            );
    };
    let mut bits = by_action(so_far, action, account);
    for output in so_far.required.as_slice() {
        bits |= by_output(so_far, *output);
    }
    for slot in Slot::ALL {
        bits |= by_resolution(so_far, action, account, slot);
    }
    bits
}

/// What the action itself shows.
fn by_action(so_far: &StepSoFar<'_>, action: Action, account: &Account) -> u64 {
    match action {
        Action::Ask { same_action, .. } => {
            let asked = so_far
                .before
                .free_slot()
                .filter(|&slot| so_far.puts_out(Output::Asked(slot)) > 0);
            let second = asked == Some(Slot::Second);
            seen(Witness::SecondAsked, second) | seen(Witness::AskedAgain, second && same_action)
        }
        Action::Deliver { .. } | Action::Replay => by_reply(so_far, action, account),
        Action::Cancel { slot } => {
            let pending = account.settled[slot.index()] == Fate::Open;
            seen(
                Witness::CancelledOne,
                pending && account.after[slot.index()] == Fate::Cancelled,
            )
        }
        Action::EndSession { outcome, .. } => {
            let withdrawn = Slot::ALL.into_iter().any(|slot| {
                let waited = so_far.before.outbox.contains(Item::Perform(slot));
                waited && !so_far.state.outbox.contains(Item::Perform(slot))
            });
            let completed = Slot::ALL
                .into_iter()
                .any(|slot| so_far.puts_out(Output::Completed(slot)) > 0);
            let cancelled =
                account.settled != account.after && outcome == SessionOutcome::Cancelled;
            seen(Witness::Withdrawn, withdrawn)
                | seen(Witness::CompletedWithSession, completed)
                | seen(Witness::CancelledWithSession, cancelled)
        }
        Action::Close { subscriber } => {
            let last = subscriber == Subscriber::Capable && so_far.before.is_open(subscriber);
            let kept = so_far
                .state
                .slots_where(|c| c.is_pending() && c.class.default == Decision::Accept)
                != [None; 2];
            seen(
                Witness::ClosingRejects,
                last && account.settled != account.after,
            ) | seen(Witness::ClosingKeepsAccept, last && kept)
        }
        Action::FinishTool { slot } => seen(
            Witness::ToolFinished,
            so_far.puts_out(Output::Completed(slot)) > 0,
        ),
        Action::Decide { .. }
        | Action::Duplicate { .. }
        | Action::Lose { .. }
        | Action::Forge(_)
        | Action::Tick
        | Action::ServeTimer
        | Action::CarryOut
        | Action::Crash
        | Action::Transgress(_) => 0,
    }
}

/// What a delivered reply shows.
fn by_reply(so_far: &StepSoFar<'_>, action: Action, account: &Account) -> u64 {
    let Some(message) = action.message(so_far.before) else {
        return 0;
    };
    let Some(check) = so_far.ignored else {
        let unlisted = so_far
            .before
            .slots_where(|c| c.class.allowed == AllowedReplies::AcceptOnly);
        let modified = message.shape == Shape::Modified;
        let without_reject = unlisted
            .into_iter()
            .flatten()
            .any(|slot| so_far.resolved_by_reply[slot.index()]);
        let others = so_far.state.slots_where(Confirmation::is_pending) != [None; 2];
        return seen(Witness::Forwarded, message.sender == Subscriber::Forwarder)
            | seen(Witness::ModifiedRejects, modified)
            | seen(Witness::ModifiedRejectsUnlisted, modified && without_reject)
            | seen(Witness::ResolvedBesideAnother, others);
    };
    let by_arrival = so_far
        .before
        .confirmations
        .map(|confirmation| confirmation.fate)
        != account.settled;
    let closed = !so_far.before.is_open(message.sender);
    seen(Witness::IgnoredReplay, action == Action::Replay)
        | seen(
            Witness::IgnoredLateArrival,
            check == Check::Unused && by_arrival,
        )
        | match check {
            Check::WellFormed => Witness::IgnoredMalformed.bit(),
            Check::Issued => Witness::IgnoredUnissued.bit(),
            Check::Unused => Witness::IgnoredUsed.bit(),
            Check::NotCancelled => Witness::IgnoredCancelled.bit(),
            Check::InTime => Witness::IgnoredLate.bit(),
            Check::Sender if message.authenticated && closed => Witness::IgnoredClosed.bit(),
            Check::Sender => Witness::IgnoredUnauthenticated.bit(),
            Check::Allowed => Witness::IgnoredUnlisted.bit(),
        }
}

/// What an output shows.
fn by_output(so_far: &StepSoFar<'_>, output: Output) -> u64 {
    let blocked = |slot: Slot| {
        so_far
            .state
            .has_pending(so_far.state.confirmation(slot).session, Some(slot))
    };
    match output {
        Output::AwaitingInput(_) => Witness::EntersAwaiting.bit(),
        Output::CallingTool(_) | Output::FollowUpLeaving(_) => Witness::LeavesAwaiting.bit(),
        Output::FollowUpStaying(_) => Witness::EventWhileBlocked.bit(),
        Output::Invoked(slot) => {
            seen(Witness::EventWhileBlocked, blocked(slot))
                | seen(
                    Witness::IrreversibleInvoked,
                    so_far.state.confirmation(slot).class.irreversible,
                )
        }
        Output::InDoubt(_) => Witness::InDoubt.bit(),
        Output::Refused(refusal) => match refusal {
            Refusal::SessionOver => Witness::RefusedSessionOver.bit(),
            Refusal::BadTimeout => Witness::RefusedBadTimeout.bit(),
            Refusal::DefaultOfHighRisk => Witness::RefusedHighRisk.bit(),
            Refusal::DefaultOfMediumRisk => Witness::RefusedMediumRisk.bit(),
            Refusal::StillBlocked => Witness::RefusedBlocked.bit(),
            Refusal::NotPending => Witness::RefusedNotPending.bit(),
            Refusal::EndedAlready => Witness::RefusedEndedAlready.bit(),
            Refusal::ClosedAlready => Witness::RefusedClosedAlready.bit(),
            Refusal::NotInFlight => Witness::RefusedNotInFlight.bit(),
        },
        Output::Asked(_)
        | Output::Perform(_)
        | Output::Completed(_)
        | Output::Thinking(_)
        | Output::Withdraw(_)
        | Output::Ended(..)
        | Output::Respond
        | Output::Tell(_)
        | Output::Audit(_)
        | Output::Notice => 0,
    }
}

/// What the resolution of one confirmation shows.
fn by_resolution(so_far: &StepSoFar<'_>, action: Action, account: &Account, slot: Slot) -> u64 {
    let before = so_far.before.confirmation(slot);
    if before.phase != Phase::Pending || so_far.resolved[slot.index()] == 0 {
        return 0;
    }
    let accepted = account.after[slot.index()] == Fate::Accepted;
    if so_far.resolved_by_reply[slot.index()] {
        return seen(Witness::ReplyAccepts, accepted) | seen(Witness::ReplyRejects, !accepted);
    }
    let due = so_far.before.clock >= before.deadline();
    let late = so_far.before.clock > before.deadline();
    let by_timer = action == Action::ServeTimer;
    seen(Witness::DefaultAccepts, due && accepted)
        | seen(Witness::DefaultRejects, due && !accepted)
        | seen(Witness::ServedLate, by_timer && late)
        | seen(Witness::SettledByCall, due && !by_timer)
}

#[cfg(test)]
mod tests {
    use super::super::properties::INVARIANTS;
    use super::WITNESSES;

    #[test]
    fn every_row_stands_at_the_place_of_its_property() {
        for (place, row) in WITNESSES.iter().enumerate() {
            assert_eq!(row.witness as usize, place, "{}", row.name);
        }
        for (place, row) in INVARIANTS.iter().enumerate() {
            assert_eq!(row.invariant as usize, place, "{}", row.name);
        }
    }

    #[test]
    fn no_two_properties_have_the_same_name() {
        let names = WITNESSES
            .iter()
            .map(|row| row.name)
            .chain(INVARIANTS.iter().map(|row| row.name));
        let distinct: std::collections::BTreeSet<_> = names.collect();
        assert_eq!(distinct.len(), WITNESSES.len() + INVARIANTS.len());
    }
}
