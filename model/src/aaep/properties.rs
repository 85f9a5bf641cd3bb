//! What holds in every run, and what has to be possible.
//!
//! The one thing to know: an [`Invariant`] is judged in `marks`, which knows the text and no rule set; its mark stays in the
//! state for ever. A [`Witness`] shows that something can happen, so that no invariant holds for want of anything to judge.

use crate::table::Tabled;

pub use super::witness::{WITNESSES, Witness, WitnessRow};

/// Something that holds in every run of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// An action runs only when authorised.
    RunsAuthorised,
    /// An action runs at most once.
    RunsOnce,
    /// A rejected action never runs.
    RejectedNeverRuns,
    /// A cancelled action never runs.
    CancelledNeverRuns,
    /// No action begins after its session has ended.
    NothingBeginsAfterEnd,
    /// No timeout runs an irreversible action of high risk.
    NoTimeoutRunsHighRisk,
    /// No timeout runs an irreversible action of medium risk.
    NoTimeoutRunsMediumRisk,
    /// While blocked, no event implies performance.
    SilentWhileBlocked,
    /// While blocked, the same action is not asked for again.
    NotAskedTwice,
    /// A rejection is followed up.
    RejectionFollowedUp,
    /// A cancellation is told.
    CancellationTold,
    /// The question finds the state `awaiting_input`.
    AwaitingWhenAsked,
    /// The state is `awaiting_input` while a confirmation is pending.
    AwaitingWhilePending,
    /// The state leaves `awaiting_input` after resolution.
    LeavesAwaiting,
    /// A token is issued once.
    TokenIssuedOnce,
    /// A token resolves at most once.
    ResolvedOnce,
    /// The outcome is the first valid reply's, or the default's.
    RightOutcome,
    /// Check 1 by itself.
    MalformedWithoutEffect,
    /// Check 2 by itself.
    UnissuedWithoutEffect,
    /// Check 3 by itself.
    UsedWithoutEffect,
    /// Check 4 by itself.
    LateWithoutEffect,
    /// Check 5 by itself.
    WrongSenderWithoutEffect,
    /// Check 6 by itself.
    UnlistedWithoutEffect,
    /// A cancelled token has no effect.
    CancelledWithoutEffect,
    /// An unauthenticated reply has no effect.
    UnauthenticatedWithoutEffect,
    /// A reply from a closed subscription, or in the name of another, has no effect.
    InactiveWithoutEffect,
    /// A replayed reply has no effect.
    ReplayWithoutEffect,
    /// A reply that fails any check has no effect.
    InvalidWithoutEffect,
    /// A reply that arrives at or after the deadline has no effect.
    LateArrivalWithoutEffect,
    /// Each confirmation is judged by itself.
    JudgedByItself,
    /// An unsupported `modified_action` counts as reject.
    ModifiedRejects,
    /// The sender sees the same whatever happened.
    ConstantResponse,
    /// Past its deadline, with the producer at work, a confirmation is resolved.
    DefaultApplies,
    /// A default of accept never applies before its time.
    NoEarlyAccept,
    /// The closing of the last capable subscription rejects.
    ClosingRejects,
    /// A cancelled session cancels its confirmations.
    SessionCancels,
    /// Accepted leads to exactly one `tool.invoked`.
    AcceptedInvokedOnce,
    /// Rejected leads to no `tool.invoked`.
    RejectedNotInvoked,
    /// An irreversible `tool.invoked` has an authorisation before it.
    IrreversibleAuthorised,
    /// No completion without a tool in flight.
    CompletionHasTool,
    /// Every tool is completed when its session completes.
    ToolsCompleted,
    /// No event after the terminal one.
    NothingAfterEnd,
    /// One terminal event.
    EndsOnce,
    /// After a restart what is in doubt is reported and not performed.
    DoubtReported,
}

impl Tabled for Invariant {
    type Row = InvariantRow;
    const ROWS: &'static [InvariantRow] = &INVARIANTS;

    fn place(self) -> usize {
        self as usize
    }
}

/// What there is to say about an invariant.
pub type InvariantRow = crate::properties::InvariantRow<Invariant, Witness>;

/// Every invariant, in the order of [`Invariant`].
pub static INVARIANTS: [InvariantRow; 44] = [
    InvariantRow::new(
        Invariant::RunsAuthorised,
        "6.1-1 an action runs only when authorised",
        &["AAEP-6.1-1"],
        Witness::Performed,
    ),
    InvariantRow::new(
        Invariant::RunsOnce,
        "6.9-2 an action runs at most once",
        &["AAEP-6.9-2", "AAEP-6.1-1"],
        Witness::Performed,
    ),
    InvariantRow::new(
        Invariant::RejectedNeverRuns,
        "A.8-5 a rejected action never runs",
        &["AAEP-A.8-5", "AAEP-6.1-1"],
        Witness::ReplyRejects,
    ),
    InvariantRow::new(
        Invariant::CancelledNeverRuns,
        "6.8-1 a cancelled action never runs",
        &["AAEP-6.8-1", "AAEP-6.1-1"],
        Witness::CancelledOne,
    ),
    InvariantRow::new(
        Invariant::NothingBeginsAfterEnd,
        "A.1-3 no action begins after its session has ended",
        &["AAEP-A.1-3"],
        Witness::Withdrawn,
    ),
    InvariantRow::new(
        Invariant::NoTimeoutRunsHighRisk,
        "6.4.1-1 no timeout runs an irreversible high-risk action",
        &["AAEP-6.4.1-1", "AAEP-6.9-5"],
        Witness::RefusedHighRisk,
    ),
    InvariantRow::new(
        Invariant::NoTimeoutRunsMediumRisk,
        "6.4.1-2 no timeout runs an irreversible medium-risk action",
        &["AAEP-6.4.1-2"],
        Witness::RefusedMediumRisk,
    ),
    InvariantRow::new(
        Invariant::SilentWhileBlocked,
        "6.1-5 while blocked, no event implies that the action was performed",
        &["AAEP-6.1-5"],
        Witness::EventWhileBlocked,
    ),
    InvariantRow::new(
        Invariant::NotAskedTwice,
        "6.1-6 while blocked, the same action is not asked for again",
        &["AAEP-6.1-6"],
        Witness::RefusedBlocked,
    ),
    InvariantRow::new(
        Invariant::RejectionFollowedUp,
        "6.1-3 a rejection is followed up",
        &["AAEP-6.1-3", "AAEP-6.1-2"],
        Witness::ReplyRejects,
    ),
    InvariantRow::new(
        Invariant::CancellationTold,
        "6.8-3 the cancellation of one confirmation is told",
        &["AAEP-6.8-3"],
        Witness::CancelledOne,
    ),
    InvariantRow::new(
        Invariant::AwaitingWhenAsked,
        "A.4-1 the question finds the state awaiting_input",
        &["AAEP-A.4-1"],
        Witness::EntersAwaiting,
    ),
    InvariantRow::new(
        Invariant::AwaitingWhilePending,
        "A.2-2 the state is awaiting_input while a confirmation is pending",
        &["AAEP-A.2-2"],
        Witness::EventWhileBlocked,
    ),
    InvariantRow::new(
        Invariant::LeavesAwaiting,
        "A.4-2 the state leaves awaiting_input after resolution",
        &["AAEP-A.4-2", "AAEP-A.7.6-1"],
        Witness::LeavesAwaiting,
    ),
    InvariantRow::new(
        Invariant::TokenIssuedOnce,
        "6.2.2-3 a token is issued once",
        &["AAEP-6.2.2-3", "AAEP-6.2.2-1"],
        Witness::SecondAsked,
    ),
    InvariantRow::new(
        Invariant::ResolvedOnce,
        "6.3.5-1 a token resolves at most once",
        &["AAEP-6.3.5-1", "AAEP-6.7.1-1", "AAEP-REPLY-12"],
        Witness::IgnoredUsed,
    ),
    InvariantRow::new(
        Invariant::RightOutcome,
        "6.7.1-1 the outcome is that of the first valid reply, or the default's",
        &["AAEP-6.7.1-1", "AAEP-6.4-1", "AAEP-6.6-4"],
        Witness::Forwarded,
    ),
    InvariantRow::new(
        Invariant::MalformedWithoutEffect,
        "6.3.4-1 a malformed reply has no effect",
        &["AAEP-6.3.4-1"],
        Witness::IgnoredMalformed,
    ),
    InvariantRow::new(
        Invariant::UnissuedWithoutEffect,
        "6.3.4-2 a token that was never issued has no effect",
        &["AAEP-6.3.4-2"],
        Witness::IgnoredUnissued,
    ),
    InvariantRow::new(
        Invariant::UsedWithoutEffect,
        "6.3.4-3 a used token has no effect",
        &["AAEP-6.3.4-3", "AAEP-6.3.5-1", "AAEP-REPLY-12"],
        Witness::IgnoredUsed,
    ),
    InvariantRow::new(
        Invariant::LateWithoutEffect,
        "6.3.4-4 a reply that claims the deadline or later has no effect",
        &["AAEP-6.3.4-4"],
        Witness::IgnoredLate,
    ),
    InvariantRow::new(
        Invariant::WrongSenderWithoutEffect,
        "6.3.4-5 a reply that fails check 5 has no effect",
        &["AAEP-6.3.4-5"],
        Witness::IgnoredUnauthenticated,
    ),
    InvariantRow::new(
        Invariant::UnlistedWithoutEffect,
        "6.3.4-6 a decision that is not listed has no effect",
        &["AAEP-6.3.4-6"],
        Witness::IgnoredUnlisted,
    ),
    InvariantRow::new(
        Invariant::CancelledWithoutEffect,
        "6.8-4 a cancelled token has no effect",
        &["AAEP-6.8-4"],
        Witness::IgnoredCancelled,
    ),
    InvariantRow::new(
        Invariant::UnauthenticatedWithoutEffect,
        "6.9-1 an unauthenticated reply has no effect",
        &["AAEP-6.9-1", "AAEP-6.2.4-1"],
        Witness::IgnoredUnauthenticated,
    ),
    InvariantRow::new(
        Invariant::InactiveWithoutEffect,
        "REPLY-14 a reply from no open subscription of its own has no effect",
        &["AAEP-REPLY-14"],
        Witness::IgnoredClosed,
    ),
    InvariantRow::new(
        Invariant::ReplayWithoutEffect,
        "6.9-2 a replayed reply has no effect",
        &["AAEP-6.9-2"],
        Witness::IgnoredReplay,
    ),
    InvariantRow::new(
        Invariant::InvalidWithoutEffect,
        "6.3.4-7 a reply that fails any check has no effect",
        &["AAEP-6.3.4-7"],
        Witness::IgnoredUsed,
    ),
    InvariantRow::new(
        Invariant::LateArrivalWithoutEffect,
        "6.4-1 a reply that arrives at the deadline or later has no effect",
        &["AAEP-6.4-1"],
        Witness::IgnoredLateArrival,
    ),
    InvariantRow::new(
        Invariant::JudgedByItself,
        "6.9-2 a reply concerns the confirmation of its token alone",
        &["AAEP-6.9-2", "AAEP-6.3.4-2"],
        Witness::ResolvedBesideAnother,
    ),
    InvariantRow::new(
        Invariant::ModifiedRejects,
        "6.3.2-4 an unsupported modified_action counts as reject",
        &["AAEP-6.3.2-4"],
        Witness::ModifiedRejects,
    ),
    InvariantRow::new(
        Invariant::ConstantResponse,
        "6.3.4-9 the sender sees the same whatever happened",
        &["AAEP-6.3.4-9"],
        Witness::IgnoredUsed,
    ),
    InvariantRow::new(
        Invariant::DefaultApplies,
        "6.4-1 past its deadline a confirmation is resolved by its default",
        &["AAEP-6.4-1"],
        Witness::ServedLate,
    ),
    InvariantRow::new(
        Invariant::NoEarlyAccept,
        "6.1-1 a default of accept never applies before its time",
        &["AAEP-6.1-1", "AAEP-6.4-1"],
        Witness::ClosingKeepsAccept,
    ),
    InvariantRow::new(
        Invariant::ClosingRejects,
        "EV-11 the closing of the last capable subscription rejects",
        &["AAEP-EV-11"],
        Witness::ClosingRejects,
    ),
    InvariantRow::new(
        Invariant::SessionCancels,
        "6.8-2 a cancelled session cancels its confirmations",
        &["AAEP-6.8-2"],
        Witness::CancelledWithSession,
    ),
    InvariantRow::new(
        Invariant::AcceptedInvokedOnce,
        "A.4-3 accepted leads to exactly one tool.invoked",
        &["AAEP-A.4-3", "AAEP-A.7.6-1"],
        Witness::ReplyAccepts,
    ),
    InvariantRow::new(
        Invariant::RejectedNotInvoked,
        "A.4-4 rejected leads to no tool.invoked",
        &["AAEP-A.4-4", "AAEP-A.8-5"],
        Witness::ReplyRejects,
    ),
    InvariantRow::new(
        Invariant::IrreversibleAuthorised,
        "A.7.4-1 an irreversible tool.invoked has an authorisation before it",
        &["AAEP-A.7.4-1", "AAEP-A.8-4", "AAEP-A.8-5"],
        Witness::IrreversibleInvoked,
    ),
    InvariantRow::new(
        Invariant::CompletionHasTool,
        "A.3-2 no tool.completed without a tool in flight",
        &["AAEP-A.3-2", "AAEP-A.7.5-1", "AAEP-A.8-1"],
        Witness::RefusedNotInFlight,
    ),
    InvariantRow::new(
        Invariant::ToolsCompleted,
        "A.3-1 every tool is completed when its session completes",
        &["AAEP-A.3-1", "AAEP-A.7.4-2"],
        Witness::CompletedWithSession,
    ),
    InvariantRow::new(
        Invariant::NothingAfterEnd,
        "A.1-3 no event follows the terminal one",
        &["AAEP-A.1-3", "AAEP-A.7.2-1", "AAEP-A.8-3"],
        Witness::RefusedSessionOver,
    ),
    InvariantRow::new(
        Invariant::EndsOnce,
        "A.1-2 a session has one terminal event",
        &["AAEP-A.1-2", "AAEP-A.8-2"],
        Witness::RefusedEndedAlready,
    ),
    InvariantRow::new(
        Invariant::DoubtReported,
        "6.9-2 after a restart what is in doubt is reported and not performed",
        &["AAEP-6.9-2", "AAEP-6.1-1"],
        Witness::InDoubt,
    ),
];
