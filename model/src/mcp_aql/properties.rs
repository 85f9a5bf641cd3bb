//! What holds in every run, and what has to be possible.
//!
//! The one thing to know: an [`Invariant`] is judged in `marks`, which knows the text and no rule set; its mark stays in the
//! state for ever. A [`Witness`] shows that something can happen, so that no invariant holds for want of anything to judge.

use crate::table::Tabled;

pub use super::witness::{WITNESSES, Witness, WitnessRow};

/// Something that holds in every run of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// A gated operation runs only with a token that admits it.
    RunsWithToken,
    /// A gated call without a token is not performed and gets one.
    NotWithoutToken,
    /// A call that needs no token runs and uses none.
    UngatedRuns,
    /// A token that was never issued, or is lost, runs nothing.
    GuessedWithoutEffect,
    /// Nothing runs after revocation.
    RevokedWithoutEffect,
    /// Nothing runs after the token's session has ended.
    SessionOverWithoutEffect,
    /// Nothing runs after expiry and tolerance.
    ExpiredWithoutEffect,
    /// With tolerance 0 nothing runs after expiry.
    ZeroIsStrict,
    /// No token is expired until expiry and tolerance have passed.
    ToleranceGranted,
    /// Clocks that differ by no more than the tolerance shorten no token's life.
    SkewTolerated,
    /// A consumed token runs nothing.
    UsedWithoutEffect,
    /// A single-use token runs at most one operation.
    SingleUseRunsOnce,
    /// A multi-use token runs at most `max_uses` operations.
    MultiUseIsCounted,
    /// A token for one purpose runs nothing for the other.
    OtherPurposeWithoutEffect,
    /// A token runs no other operation.
    OtherOperationWithoutEffect,
    /// A token runs nothing with other critical parameters.
    OtherParametersWithoutEffect,
    /// A token runs nothing on another adapter.
    OtherAdapterWithoutEffect,
    /// A session's token runs nothing in another session.
    OtherSessionWithoutEffect,
    /// What runs is what was confirmed.
    ScopeNeverWidens,
    /// The use is counted before the operation runs.
    UseCountedFirst,
    /// A call that fails uses no token.
    FailureUsesNothing,
    /// A call that passes every check is performed.
    ValidIsAdmitted,
    /// A restart makes no consumed token valid again.
    NothingRevives,
    /// What is stored outlasts a restart.
    StoredOutlasts,
    /// Only what can never be valid again is purged.
    PurgesTheDead,
    /// No token lives longer than its context allows.
    LifetimeBounded,
    /// Every token expires.
    EveryTokenExpires,
    /// A token with several uses is bound to a session.
    MultiUseInSession,
    /// The tolerance is at most 300 seconds.
    ToleranceInRange,
    /// A tolerance above 60 seconds is warned of.
    WideToleranceWarned,
    /// A trigger revokes every live token that it concerns.
    TriggersRevoke,
    /// A trigger revokes no other token.
    TriggersSpare,
    /// A token that is revoked by hand is revoked.
    HandRevokes,
    /// The code is that of a check that failed.
    RightCode,
    /// In the mode without oracle every failure is answered alike.
    NoOracle,
    /// No response holds parameter values.
    ParametersKept,
    /// A status is what it is.
    StatusIsTrue,
    /// In the mode without oracle whatever is not live is unknown.
    StatusWithoutOracle,
    /// Every issue is audited once.
    IssueAudited,
    /// Every redemption is audited once.
    RedemptionAudited,
    /// Every rejection is audited once.
    RejectionAudited,
    /// Every revocation is audited once.
    RevocationAudited,
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
pub static INVARIANTS: [InvariantRow; 42] = [
    InvariantRow::new(
        Invariant::RunsWithToken,
        "1.3-2 a gated operation runs only with a token that admits it",
        &["AQL-1.3-2", "AQL-7.1-1"],
        Witness::Admitted,
    ),
    InvariantRow::new(
        Invariant::NotWithoutToken,
        "1.3-1 a gated call without a token is not performed and gets one",
        &["AQL-1.3-1"],
        Witness::Issued,
    ),
    InvariantRow::new(
        Invariant::UngatedRuns,
        "5.1-8 a call that needs no token runs and uses none",
        &["AQL-5.1-8", "AQL-1.2-1"],
        Witness::UngatedWithToken,
    ),
    InvariantRow::new(
        Invariant::GuessedWithoutEffect,
        "4.1-1 a token that was never issued, or is lost, runs nothing",
        &["AQL-4.1-1", "AQL-1.2-4"],
        Witness::RejectedExists,
    ),
    InvariantRow::new(
        Invariant::RevokedWithoutEffect,
        "5.3-1 nothing runs after revocation",
        &["AQL-5.3-1", "AQL-5.3-3", "AQL-7.2-2"],
        Witness::RejectedRevoked,
    ),
    InvariantRow::new(
        Invariant::SessionOverWithoutEffect,
        "5.4-2 nothing runs after the token's session has ended",
        &["AQL-5.4-2"],
        Witness::EndedWithSession,
    ),
    InvariantRow::new(
        Invariant::ExpiredWithoutEffect,
        "5.1-3 nothing runs after expiry and tolerance",
        &["AQL-5.1-3", "AQL-4.1-2", "AQL-5.4-3", "AQL-1.2-2"],
        Witness::RejectedExpired,
    ),
    InvariantRow::new(
        Invariant::ZeroIsStrict,
        "5.1-5 with tolerance 0 nothing runs after expiry",
        &["AQL-5.1-5"],
        Witness::RejectedStrictly,
    ),
    InvariantRow::new(
        Invariant::ToleranceGranted,
        "5.1-7 no token is expired until expiry and tolerance have passed",
        &["AQL-5.1-7"],
        Witness::AdmittedAtTheLast,
    ),
    InvariantRow::new(
        Invariant::SkewTolerated,
        "5.1-4 clocks that differ by no more than the tolerance shorten no token's life",
        &["AQL-5.1-4", "AQL-5.1-7"],
        Witness::AdmittedDespiteSkew,
    ),
    InvariantRow::new(
        Invariant::UsedWithoutEffect,
        "4.1-3 a consumed token runs nothing",
        &["AQL-4.1-3", "AQL-6.1-1"],
        Witness::RejectedUsed,
    ),
    InvariantRow::new(
        Invariant::SingleUseRunsOnce,
        "5.2-1 a single-use token runs at most one operation",
        &["AQL-5.2-1", "AQL-1.2-1", "AQL-6.1-1"],
        Witness::Performed,
    ),
    InvariantRow::new(
        Invariant::MultiUseIsCounted,
        "5.4-1 a multi-use token runs at most max_uses operations",
        &["AQL-5.4-1", "AQL-5.2-3", "AQL-5.4-4"],
        Witness::PerformedAgain,
    ),
    InvariantRow::new(
        Invariant::OtherPurposeWithoutEffect,
        "2.1-1 a token for one purpose runs nothing for the other",
        &["AQL-2.1-1"],
        Witness::RejectedPurpose,
    ),
    InvariantRow::new(
        Invariant::OtherOperationWithoutEffect,
        "4.1-4 a token runs no other operation",
        &["AQL-4.1-4", "AQL-3.2-1"],
        Witness::RejectedOperation,
    ),
    InvariantRow::new(
        Invariant::OtherParametersWithoutEffect,
        "4.1-5 a token runs nothing with other critical parameters",
        &["AQL-4.1-5", "AQL-4.3-1", "AQL-3.2-1"],
        Witness::RejectedParameters,
    ),
    InvariantRow::new(
        Invariant::OtherAdapterWithoutEffect,
        "4.1-6 a token runs nothing on another adapter",
        &["AQL-4.1-6"],
        Witness::RejectedAdapter,
    ),
    InvariantRow::new(
        Invariant::OtherSessionWithoutEffect,
        "5.4-4 a session's token runs nothing in another session",
        &["AQL-5.4-4", "AQL-6.1-2"],
        Witness::RejectedSession,
    ),
    InvariantRow::new(
        Invariant::ScopeNeverWidens,
        "1.2-3 what runs is what was confirmed",
        &["AQL-1.2-3", "AQL-1.2-4", "AQL-3.2-1", "AQL-6.2-1"],
        Witness::RejectedOperation,
    ),
    InvariantRow::new(
        Invariant::UseCountedFirst,
        "5.2-2 the use is counted before the operation runs",
        &["AQL-5.2-2"],
        Witness::Admitted,
    ),
    InvariantRow::new(
        Invariant::FailureUsesNothing,
        "1.2-1 a call that fails uses no token",
        &["AQL-1.2-1"],
        Witness::RejectedAndKept,
    ),
    InvariantRow::new(
        Invariant::ValidIsAdmitted,
        "1.3-2 a call that passes every check is performed",
        &["AQL-1.3-2", "AQL-4.3-1"],
        Witness::Admitted,
    ),
    InvariantRow::new(
        Invariant::NothingRevives,
        "6.1-1 a restart makes no consumed token valid again",
        &["AQL-6.1-1", "AQL-5.2-2"],
        Witness::StaysUsedInRestart,
    ),
    InvariantRow::new(
        Invariant::StoredOutlasts,
        "5.5-1 what is stored outlasts a restart",
        &["AQL-5.5-1", "AQL-7.2-1"],
        Witness::KeptInRestart,
    ),
    InvariantRow::new(
        Invariant::PurgesTheDead,
        "5.5-2 only what can never be valid again is purged",
        &["AQL-5.5-2"],
        Witness::Purged,
    ),
    InvariantRow::new(
        Invariant::LifetimeBounded,
        "5.1-1 no token lives longer than its context allows",
        &["AQL-5.1-1"],
        Witness::RefusedLongLifetime,
    ),
    InvariantRow::new(
        Invariant::EveryTokenExpires,
        "1.2-2 every token expires",
        &["AQL-1.2-2", "AQL-5.1-2"],
        Witness::RefusedNoLifetime,
    ),
    InvariantRow::new(
        Invariant::MultiUseInSession,
        "5.4-1 a token with several uses is bound to a session",
        &["AQL-5.4-1"],
        Witness::RefusedLooseMultiUse,
    ),
    InvariantRow::new(
        Invariant::ToleranceInRange,
        "5.1-5 the tolerance is at most 300 seconds",
        &["AQL-5.1-5"],
        Witness::RefusedTolerance,
    ),
    InvariantRow::new(
        Invariant::WideToleranceWarned,
        "5.1-6 a tolerance above 60 seconds is warned of",
        &["AQL-5.1-6"],
        Witness::Warned,
    ),
    InvariantRow::new(
        Invariant::TriggersRevoke,
        "5.3-2 a trigger revokes every live token that it concerns",
        &["AQL-5.3-2", "AQL-5.4-2"],
        Witness::RevokedByTrigger,
    ),
    InvariantRow::new(
        Invariant::TriggersSpare,
        "5.3-2 a trigger revokes no other token",
        &["AQL-5.3-2"],
        Witness::SparedByTrigger,
    ),
    InvariantRow::new(
        Invariant::HandRevokes,
        "5.3-3 a token that is revoked by hand is revoked",
        &["AQL-5.3-3", "AQL-7.2-2"],
        Witness::RevokedByHand,
    ),
    InvariantRow::new(
        Invariant::RightCode,
        "7.1-2 the code is that of a check that failed",
        &[
            "AQL-7.1-2",
            "AQL-4.1-1",
            "AQL-4.1-2",
            "AQL-4.1-3",
            "AQL-4.1-4",
            "AQL-4.1-5",
            "AQL-4.1-6",
        ],
        Witness::RejectedExpired,
    ),
    InvariantRow::new(
        Invariant::NoOracle,
        "6.3-2 in the mode without oracle every failure is answered alike",
        &["AQL-6.3-2"],
        Witness::RejectedAlike,
    ),
    InvariantRow::new(
        Invariant::ParametersKept,
        "6.3-1 no response holds parameter values",
        &["AQL-6.3-1"],
        Witness::RejectedParameters,
    ),
    InvariantRow::new(
        Invariant::StatusIsTrue,
        "7.3-1 a status is what it is",
        &["AQL-7.3-1"],
        Witness::StatusLive,
    ),
    InvariantRow::new(
        Invariant::StatusWithoutOracle,
        "6.3-2 in the mode without oracle whatever is not live is unknown",
        &["AQL-6.3-2", "AQL-7.3-1"],
        Witness::StatusHidden,
    ),
    InvariantRow::new(
        Invariant::IssueAudited,
        "1.2-5 every issue is audited once",
        &["AQL-1.2-5", "AQL-6.4-1"],
        Witness::Issued,
    ),
    InvariantRow::new(
        Invariant::RedemptionAudited,
        "1.2-5 every redemption is audited once",
        &["AQL-1.2-5", "AQL-6.4-1"],
        Witness::Admitted,
    ),
    InvariantRow::new(
        Invariant::RejectionAudited,
        "6.4-1 every rejection is audited once",
        &["AQL-6.4-1"],
        Witness::RejectedUsed,
    ),
    InvariantRow::new(
        Invariant::RevocationAudited,
        "6.4-1 every revocation is audited once",
        &["AQL-6.4-1"],
        Witness::RevokedByTrigger,
    ),
];
