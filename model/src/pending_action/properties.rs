//! What holds in every run, and what has to be possible.
//!
//! The one thing to know: an [`Invariant`] is judged in `marks`, which knows the text and no rule set; its mark stays in the
//! state for ever. A [`Witness`] shows that something can happen, so that no invariant holds for want of anything to judge.

use crate::table::Tabled;

pub use super::witness::{WITNESSES, Witness, WitnessRow};

/// Something that holds in every run of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// A decision resolves the action of its id and no other.
    MatchedById,
    /// A decision with an unknown id resolves nothing.
    UnknownWithoutEffect,
    /// A decision with another nonce resolves nothing.
    OtherNonceWithoutEffect,
    /// Nothing takes effect outside before its record is durable.
    RecordedFirst,
    /// What is durable outlasts a restart.
    NothingLost,
    /// A proposal that is not well-formed is refused.
    WellFormed,
    /// A decision by somebody who may not decide resolves nothing.
    StrangerWithoutEffect,
    /// A decision that passes every check resolves its action.
    ValidResolves,
    /// A decision that is ignored changes nothing.
    IgnoredChangesNothing,
    /// Nothing is released but by an allow.
    RunsOnlyAllowed,
    /// An allow of other arguments resolves nothing.
    EditedWithoutEffect,
    /// What is released are the proposed arguments, byte by byte.
    ExactArguments,
    /// What is declared idempotent is released again until it is done.
    RunsAtLeastOnce,
    /// Only a call that was released has a result.
    OnlyReleasedFinishes,
    /// The tool call is in the transcript before it runs.
    CallTold,
    /// The tool's result is in the transcript in the end.
    ResultTold,
    /// What was denied is never released.
    DeniedNeverReleased,
    /// What was cancelled is never released.
    CancelledNeverReleased,
    /// The end of a session cancels what is pending in it.
    SessionEndCancels,
    /// Nothing begins after its session has ended.
    NothingBeginsAfterEnd,
    /// Nothing is proposed in an ended session.
    NothingProposedAfterEnd,
    /// The denied result is in the transcript in the end.
    DenialTold,
    /// What has expired is never released.
    ExpiredNeverReleased,
    /// After any call nothing that is due is pending.
    DueExpires,
    /// Nothing expires before its time.
    NothingExpiresEarly,
    /// What is proposed expires after every time that was seen.
    ExpiryInFuture,
    /// What is resolved stays as it was resolved.
    FirstDecisionStands,
    /// One allow releases one run.
    ReleasedOnce,
    /// What is not declared idempotent runs at most once.
    RunsAtMostOnce,
    /// Only what is declared idempotent is released again after a restart.
    OnlyDeclaredAgain,
    /// Only what is pending is cancelled.
    OnlyPendingCancelled,
    /// A call has one result.
    OneResult,
    /// A rollback undoes nothing.
    SnapshotUndoesNothing,
    /// The visible message shows neither id nor arguments.
    VisibleKeeps,
    /// The request is in the transcript in the end.
    RequestTold,
    /// The expired result is in the transcript in the end.
    ExpiryTold,
    /// An expiry is not recorded as a denial.
    ExpiryIsNoDenial,
    /// The cancelled result is in the transcript in the end.
    CancellationTold,
    /// An action ends with one message.
    OneFinalMessage,
    /// No request and no tool call comes behind the message that ends its action.
    NothingBehindEnd,
    /// The transcript alone tells what happened.
    TranscriptTells,
    /// What is reported as not run never runs, before or after.
    NotRunNeverRan,
    /// Every decision emits its events.
    DecisionEmitted,
    /// A decision that is ignored is audited once.
    IgnoredAudited,
    /// An audit names the first check that failed.
    AuditNamesCheck,
    /// After a restart what was released and is not done is told as in doubt.
    InDoubtTold,
    /// Free text resolves nothing.
    TextResolvesNothing,
    /// Every call that is proposed pends.
    EveryCallPends,
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
pub static INVARIANTS: [InvariantRow; 48] = [
    InvariantRow::new(
        Invariant::MatchedById,
        "PA-1 a decision resolves the action of its id and no other",
        &["PA-1", "PA-2"],
        Witness::AllowedBesideAnother,
    ),
    InvariantRow::new(
        Invariant::UnknownWithoutEffect,
        "PA-1 a decision with an unknown id resolves nothing",
        &["PA-1"],
        Witness::IgnoredKnown,
    ),
    InvariantRow::new(
        Invariant::OtherNonceWithoutEffect,
        "PA-1 a decision with another nonce resolves nothing",
        &["PA-1"],
        Witness::IgnoredNonce,
    ),
    InvariantRow::new(
        Invariant::RecordedFirst,
        "PA-1 nothing takes effect outside before its record is durable",
        &["PA-1", "PA-8"],
        Witness::LostInRestart,
    ),
    InvariantRow::new(
        Invariant::NothingLost,
        "PA-1 what is durable outlasts a restart",
        &["PA-1"],
        Witness::KeptInRestart,
    ),
    InvariantRow::new(
        Invariant::WellFormed,
        "PA-1 a proposal that is not well-formed is refused",
        &["PA-1", "PA-2", "PA-3", "PA-9"],
        Witness::RefusedMalformed,
    ),
    InvariantRow::new(
        Invariant::StrangerWithoutEffect,
        "PA-2 a decision by somebody who may not decide resolves nothing",
        &["PA-2"],
        Witness::IgnoredEntitled,
    ),
    InvariantRow::new(
        Invariant::ValidResolves,
        "PA-2 a decision that passes every check resolves its action",
        &["PA-2", "PA-1"],
        Witness::Allowed,
    ),
    InvariantRow::new(
        Invariant::IgnoredChangesNothing,
        "PA-2 a decision that is ignored changes nothing",
        &["PA-2", "PA-8"],
        Witness::IgnoredEntitled,
    ),
    InvariantRow::new(
        Invariant::RunsOnlyAllowed,
        "PA-2 nothing is released but by an allow of somebody who may decide",
        &["PA-2", "PA-1"],
        Witness::Allowed,
    ),
    InvariantRow::new(
        Invariant::EditedWithoutEffect,
        "PA-3 an allow of other arguments resolves nothing",
        &["PA-3"],
        Witness::IgnoredArguments,
    ),
    InvariantRow::new(
        Invariant::ExactArguments,
        "PA-3 what is released are the proposed arguments, byte by byte",
        &["PA-3"],
        Witness::AllowedAlike,
    ),
    InvariantRow::new(
        Invariant::RunsAtLeastOnce,
        "PA-3 what is declared idempotent is released again until it is done",
        &["PA-3"],
        Witness::ReleasedAgain,
    ),
    InvariantRow::new(
        Invariant::OnlyReleasedFinishes,
        "PA-3 only a call that was released has a result",
        &["PA-3", "PA-5", "PA-7"],
        Witness::RefusedUndecided,
    ),
    InvariantRow::new(
        Invariant::CallTold,
        "PA-4 the tool call is in the transcript before it runs",
        &["PA-4"],
        Witness::Ran,
    ),
    InvariantRow::new(
        Invariant::ResultTold,
        "PA-4 the tool's result is in the transcript in the end",
        &["PA-4"],
        Witness::Finished,
    ),
    InvariantRow::new(
        Invariant::DeniedNeverReleased,
        "PA-5 what was denied is never released",
        &["PA-5", "PA-8"],
        Witness::Denied,
    ),
    InvariantRow::new(
        Invariant::CancelledNeverReleased,
        "PA-5 what was cancelled, by itself or with its session, is never released",
        &["PA-5"],
        Witness::Cancelled,
    ),
    InvariantRow::new(
        Invariant::SessionEndCancels,
        "PA-5 the end of a session cancels what is pending in it",
        &["PA-5"],
        Witness::EndedPending,
    ),
    InvariantRow::new(
        Invariant::NothingBeginsAfterEnd,
        "PA-5 nothing begins after its session has ended",
        &["PA-5"],
        Witness::Withdrawn,
    ),
    InvariantRow::new(
        Invariant::NothingProposedAfterEnd,
        "PA-5 nothing is proposed in an ended session",
        &["PA-5"],
        Witness::RefusedSessionOver,
    ),
    InvariantRow::new(
        Invariant::DenialTold,
        "PA-6 the denied result is in the transcript in the end",
        &["PA-6"],
        Witness::Denied,
    ),
    InvariantRow::new(
        Invariant::ExpiredNeverReleased,
        "PA-7 what has expired is never released",
        &["PA-7"],
        Witness::IgnoredExpired,
    ),
    InvariantRow::new(
        Invariant::DueExpires,
        "PA-7 after any call nothing that is due is pending",
        &["PA-7"],
        Witness::Expired,
    ),
    InvariantRow::new(
        Invariant::NothingExpiresEarly,
        "PA-7 nothing expires before its time",
        &["PA-7"],
        Witness::AllowedAtTheLast,
    ),
    InvariantRow::new(
        Invariant::ExpiryInFuture,
        "PA-7 what is proposed expires after every time that was seen",
        &["PA-7"],
        Witness::RefusedNotInFuture,
    ),
    InvariantRow::new(
        Invariant::FirstDecisionStands,
        "PA-8 what is resolved stays as it was resolved",
        &["PA-8"],
        Witness::IgnoredUnresolved,
    ),
    InvariantRow::new(
        Invariant::ReleasedOnce,
        "PA-8 one allow releases one run",
        &["PA-8"],
        Witness::RacedAllows,
    ),
    InvariantRow::new(
        Invariant::RunsAtMostOnce,
        "PA-8 what is not declared idempotent runs at most once",
        &["PA-8"],
        Witness::Ran,
    ),
    InvariantRow::new(
        Invariant::OnlyDeclaredAgain,
        "PA-8 only what is declared idempotent is released again after a restart",
        &["PA-8"],
        Witness::InDoubt,
    ),
    InvariantRow::new(
        Invariant::OnlyPendingCancelled,
        "PA-8 only what is pending is cancelled",
        &["PA-8", "PA-7"],
        Witness::RefusedResolved,
    ),
    InvariantRow::new(
        Invariant::OneResult,
        "PA-8 a call has one result",
        &["PA-8"],
        Witness::RefusedResolved,
    ),
    InvariantRow::new(
        Invariant::SnapshotUndoesNothing,
        "PA-8 a rollback undoes nothing",
        &["PA-8"],
        Witness::RolledBack,
    ),
    InvariantRow::new(
        Invariant::VisibleKeeps,
        "PA-9 the visible message shows neither id nor arguments",
        &["PA-9"],
        Witness::Requested,
    ),
    InvariantRow::new(
        Invariant::RequestTold,
        "PA-10 the request is in the transcript in the end",
        &["PA-10", "PA-1"],
        Witness::Requested,
    ),
    InvariantRow::new(
        Invariant::ExpiryTold,
        "PA-10 the expired result is in the transcript in the end",
        &["PA-10"],
        Witness::Expired,
    ),
    InvariantRow::new(
        Invariant::ExpiryIsNoDenial,
        "PA-10 an expiry is not recorded as a denial",
        &["PA-10", "PA-7"],
        Witness::Expired,
    ),
    InvariantRow::new(
        Invariant::CancellationTold,
        "PA-10 the cancelled result is in the transcript in the end",
        &["PA-10", "PA-5"],
        Witness::Cancelled,
    ),
    InvariantRow::new(
        Invariant::OneFinalMessage,
        "PA-10 an action ends with one message",
        &["PA-10"],
        Witness::Finished,
    ),
    InvariantRow::new(
        Invariant::NothingBehindEnd,
        "PA-10 no request and no tool call comes behind the message that ends its action",
        &["PA-10", "PA-4"],
        Witness::ExpiredBehindRequest,
    ),
    InvariantRow::new(
        Invariant::TranscriptTells,
        "PA-10 the transcript alone tells what happened",
        &["PA-10"],
        Witness::ToldAgain,
    ),
    InvariantRow::new(
        Invariant::NotRunNeverRan,
        "PA-10 what is reported as not run never runs, before or after",
        &["PA-10", "PA-4"],
        Witness::RepeatWithdrawn,
    ),
    InvariantRow::new(
        Invariant::DecisionEmitted,
        "PA-10 every decision emits its events",
        &["PA-10"],
        Witness::Denied,
    ),
    InvariantRow::new(
        Invariant::IgnoredAudited,
        "PA-10 a decision that is ignored is audited once",
        &["PA-10"],
        Witness::IgnoredKnown,
    ),
    InvariantRow::new(
        Invariant::AuditNamesCheck,
        "PA-10 an audit names the first check that failed",
        &["PA-10"],
        Witness::IgnoredTwice,
    ),
    InvariantRow::new(
        Invariant::InDoubtTold,
        "PA-10 after a restart what was released and is not done is told as in doubt",
        &["PA-10"],
        Witness::InDoubt,
    ),
    InvariantRow::new(
        Invariant::TextResolvesNothing,
        "PA-11 free text resolves nothing",
        &["PA-11", "PA-2"],
        Witness::SaidWhilePending,
    ),
    InvariantRow::new(
        Invariant::EveryCallPends,
        "PA-13 every call that is proposed pends",
        &["PA-13", "PA-14", "PA-1"],
        Witness::PendsRead,
    ),
];
