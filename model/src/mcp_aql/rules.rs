//! The rules of the specification as data: one [`Guard`] for each thing that a gatekeeper must not do, with its clauses.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a gatekeeper
//! that does what the guard forbids whenever it can.

use crate::table::Tabled;

pub use crate::rules::Level;

/// What a token is checked for. The order is that of the reading `check-order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The gatekeeper knows the token.
    Exists,
    /// It was not revoked.
    NotRevoked,
    /// Expiry and tolerance have not passed.
    NotExpired,
    /// It has a use left.
    NotUsed,
    /// The call is for its purpose.
    Purpose,
    /// The call is for its operation.
    Operation,
    /// The call has its critical parameters.
    Parameters,
    /// The call is made to its adapter.
    Adapter,
    /// The call is made in its session, if it has one.
    Session,
}

impl Check {
    /// Every check, in the order of the table of 4.1, with what the table leaves out where it belongs.
    pub const TABLE: [Self; 9] = [
        Self::Exists,
        Self::NotRevoked,
        Self::NotExpired,
        Self::NotUsed,
        Self::Purpose,
        Self::Operation,
        Self::Parameters,
        Self::Adapter,
        Self::Session,
    ];

    /// Every check, in the order of the sample of 4.3.
    pub const SAMPLE: [Self; 9] = [
        Self::Exists,
        Self::NotRevoked,
        Self::Purpose,
        Self::Operation,
        Self::Parameters,
        Self::Adapter,
        Self::Session,
        Self::NotExpired,
        Self::NotUsed,
    ];

    /// The clause that an audit names for a call that is rejected at this check.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Exists => "AQL-4.1-1",
            Self::NotRevoked => "AQL-5.3-1",
            Self::NotExpired => "AQL-4.1-2",
            Self::NotUsed => "AQL-4.1-3",
            Self::Purpose => "AQL-2.1-1",
            Self::Operation => "AQL-4.1-4",
            Self::Parameters => "AQL-4.1-5",
            Self::Adapter => "AQL-4.1-6",
            Self::Session => "AQL-5.4-4",
        }
    }

    /// The code of a call that is rejected at this check, where codes are told.
    pub const fn code(self) -> Code {
        match self {
            Self::Exists | Self::NotRevoked => Code::Invalid,
            Self::NotExpired => Code::Expired,
            Self::NotUsed => Code::AlreadyUsed,
            Self::Purpose | Self::Operation | Self::Parameters | Self::Adapter | Self::Session => {
                Code::ScopeMismatch
            }
        }
    }
}

/// `error.code` of a call or a revocation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// `TOKEN_INVALID`
    Invalid,
    /// `TOKEN_EXPIRED`
    Expired,
    /// `TOKEN_ALREADY_USED`
    AlreadyUsed,
    /// `TOKEN_SCOPE_MISMATCH`
    ScopeMismatch,
}

impl Code {
    /// The code on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "TOKEN_INVALID",
            Self::Expired => "TOKEN_EXPIRED",
            Self::AlreadyUsed => "TOKEN_ALREADY_USED",
            Self::ScopeMismatch => "TOKEN_SCOPE_MISMATCH",
        }
    }
}

/// Why a call was refused: the caller erred and nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// The lifetime asked for is longer than the context allows.
    LongLifetime,
    /// The lifetime asked for is none.
    NoLifetime,
    /// Several uses are asked for outside of any session.
    LooseMultiUse,
    /// The tolerance is out of range.
    WideTolerance,
}

impl Refusal {
    /// The clause that the caller would have had the gatekeeper break.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::LongLifetime => "AQL-5.1-1",
            Self::NoLifetime => "AQL-5.1-2",
            Self::LooseMultiUse => "AQL-5.4-1",
            Self::WideTolerance => "AQL-5.1-5",
        }
    }
}

/// A rule, named after what it forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// A call with a token that was never issued is admitted with whatever token is live.
    HonoursGuessed,
    /// A call with a revoked token is admitted.
    HonoursRevoked,
    /// A call with an expired token is admitted.
    HonoursExpired,
    /// A tolerance of 0 is taken for one that was not configured.
    TakesZeroForDefault,
    /// A token expires without the tolerance.
    ExpiresEarly,
    /// An earlier time than the greatest that was seen counts.
    TurnsClockBack,
    /// A call with a consumed single-use token is admitted.
    HonoursUsed,
    /// The uses of a multi-use token are not counted.
    LosesCount,
    /// A call for the other purpose is admitted.
    HonoursOtherPurpose,
    /// A call for another operation is admitted.
    HonoursOtherOperation,
    /// A call with other critical parameters is admitted.
    HonoursOtherParameters,
    /// A call to another adapter is admitted.
    HonoursOtherAdapter,
    /// A call in another session than the token's is admitted.
    HonoursOtherSession,
    /// Validation and redemption are two steps, and the second trusts the first.
    RedeemsApart,
    /// Validation and redemption are two steps, and the second does not look at the expiry.
    RedeemsExpired,
    /// The use is counted when the operation has run.
    RunsFirst,
    /// One use performs the operation twice.
    PerformsTwice,
    /// A call that fails uses its token.
    ConsumesOnFailure,
    /// A call that needs no token uses the one that it carries.
    ConsumesUngated,
    /// A gated call without a token is performed.
    RunsUnconfirmed,
    /// A lifetime of 0 is taken for none, and the token never expires.
    IssuesEternal,
    /// A lifetime beyond the longest is granted.
    OutstretchesLifetime,
    /// A token with several uses is issued outside of any session.
    GrantsLooseMultiUse,
    /// A tolerance beyond 300 seconds is taken.
    TakesWideTolerance,
    /// A tolerance above 60 seconds is taken without a warning.
    WidensSilently,
    /// A revocation by hand changes nothing.
    IgnoresRevocation,
    /// A session's tokens outlive it.
    OutlivesSession,
    /// Tokens outlive the logout.
    OutlivesLogout,
    /// Tokens outlive the configuration of their adapter.
    OutlivesConfiguration,
    /// Tokens outlive a security event.
    OutlivesSecurityEvent,
    /// A trigger revokes every token, whether it concerns it or not.
    RevokesOthers,
    /// A token is purged at its expiry, before the tolerance has passed.
    PurgesEarly,
    /// A restart forgets which tokens were used.
    RevivesAfterRestart,
    /// A restart loses what was stored.
    LosesStored,
    /// Every failure of a known token is answered as expired.
    ConfusesCodes,
    /// The codes are told in the mode without oracle.
    TellsCheck,
    /// The response to a scope mismatch holds parameter values.
    ExposesParameters,
    /// A token that is not live is said to be live.
    MisstatesStatus,
    /// The status is told in the mode without oracle.
    TellsStatus,
    /// An issue is not audited.
    IssuesUnaudited,
    /// A redemption is not audited.
    RedeemsUnaudited,
    /// A rejection is not audited.
    RejectsUnaudited,
    /// A revocation is not audited.
    RevokesUnaudited,
    /// A redemption is audited twice.
    AuditsTwice,
}

/// What there is to say about a guard.
pub type GuardRow = crate::rules::GuardRow<Guard>;

/// The set of guards in force.
pub type Rules = crate::rules::Rules<Guard>;

/// Every guard, in the order of [`Guard`].
pub static GUARDS: [GuardRow; 44] = [
    GuardRow::new(
        Guard::HonoursGuessed,
        "honours-guessed",
        Level::Must,
        &["AQL-4.1-1", "AQL-7.1-1", "AQL-1.2-4"],
        "a token that was never issued admits nothing",
    ),
    GuardRow::new(
        Guard::HonoursRevoked,
        "honours-revoked",
        Level::May,
        &["AQL-5.3-1", "AQL-7.2-2"],
        "a revoked token admits nothing",
    ),
    GuardRow::new(
        Guard::HonoursExpired,
        "honours-expired",
        Level::MustNot,
        &["AQL-5.1-3", "AQL-4.1-2", "AQL-5.4-3", "AQL-7.1-1"],
        "once expiry and tolerance have passed a token admits nothing",
    ),
    GuardRow::new(
        Guard::TakesZeroForDefault,
        "takes-zero-for-default",
        Level::Should,
        &["AQL-5.1-5"],
        "a tolerance of 0 is none",
    )
    .left_out_in("5.1"),
    GuardRow::new(
        Guard::ExpiresEarly,
        "expires-early",
        Level::Must,
        &["AQL-5.1-7", "AQL-5.1-4"],
        "the tolerance is added to the expiry, and at their sum the token is still good",
    ),
    GuardRow::new(
        Guard::TurnsClockBack,
        "turns-clock-back",
        Level::MustNot,
        &["AQL-5.1-3"],
        "a clock that is turned back brings no expired token back",
    ),
    GuardRow::new(
        Guard::HonoursUsed,
        "honours-used",
        Level::Must,
        &["AQL-4.1-3", "AQL-5.2-1", "AQL-6.1-1", "AQL-7.1-1"],
        "a consumed token admits nothing",
    ),
    GuardRow::new(
        Guard::LosesCount,
        "loses-count",
        Level::May,
        &["AQL-5.4-1", "AQL-5.2-3", "AQL-5.4-4"],
        "each use of a multi-use token counts, up to max_uses",
    ),
    GuardRow::new(
        Guard::HonoursOtherPurpose,
        "honours-other-purpose",
        Level::Must,
        &["AQL-2.1-1", "AQL-7.1-1"],
        "a token for one purpose admits no call for the other",
    ),
    GuardRow::new(
        Guard::HonoursOtherOperation,
        "honours-other-operation",
        Level::Must,
        &["AQL-4.1-4", "AQL-1.2-3", "AQL-3.2-1", "AQL-7.1-1"],
        "a token admits the operation that it was issued for and no other",
    ),
    GuardRow::new(
        Guard::HonoursOtherParameters,
        "honours-other-parameters",
        Level::Must,
        &["AQL-4.1-5", "AQL-4.3-1", "AQL-1.2-3", "AQL-3.2-1"],
        "a token admits the critical parameters that it was issued for and no others",
    ),
    GuardRow::new(
        Guard::HonoursOtherAdapter,
        "honours-other-adapter",
        Level::Must,
        &["AQL-4.1-6", "AQL-7.1-1"],
        "a token admits calls to the adapter that issued it",
    )
    .left_out_in("4.3"),
    GuardRow::new(
        Guard::HonoursOtherSession,
        "honours-other-session",
        Level::May,
        &["AQL-5.4-4", "AQL-6.1-2"],
        "a token that is bound to a session admits calls in that session",
    ),
    GuardRow::new(
        Guard::RedeemsApart,
        "redeems-apart",
        Level::Must,
        &["AQL-5.2-2", "AQL-6.1-1"],
        "a token is validated and its use counted in one step",
    )
    .left_out_in("4.3 and 5.2"),
    GuardRow::new(
        Guard::RedeemsExpired,
        "redeems-expired",
        Level::MustNot,
        &["AQL-5.1-3"],
        "what is redeemed has not expired when it is redeemed",
    )
    .left_out_in("5.2"),
    GuardRow::new(
        Guard::RunsFirst,
        "runs-first",
        Level::Must,
        &["AQL-5.2-2"],
        "the use is counted before the operation runs",
    ),
    GuardRow::new(
        Guard::PerformsTwice,
        "performs-twice",
        Level::Should,
        &["AQL-5.2-1", "AQL-6.1-1"],
        "one use performs one operation",
    ),
    GuardRow::new(
        Guard::ConsumesOnFailure,
        "consumes-on-failure",
        Level::Should,
        &["AQL-1.2-1"],
        "only a call that is admitted uses its token",
    ),
    GuardRow::new(
        Guard::ConsumesUngated,
        "consumes-ungated",
        Level::Should,
        &["AQL-1.2-1", "AQL-5.1-8"],
        "a call that needs no token uses none",
    ),
    GuardRow::new(
        Guard::RunsUnconfirmed,
        "runs-unconfirmed",
        Level::Must,
        &["AQL-1.3-1"],
        "a gated call without a token is not performed",
    ),
    GuardRow::new(
        Guard::IssuesEternal,
        "issues-eternal",
        Level::Must,
        &["AQL-5.1-2", "AQL-1.2-2"],
        "every token expires",
    ),
    GuardRow::new(
        Guard::OutstretchesLifetime,
        "outstretches-lifetime",
        Level::Must,
        &["AQL-5.1-1"],
        "no token lives longer than its context allows",
    ),
    GuardRow::new(
        Guard::GrantsLooseMultiUse,
        "grants-loose-multi-use",
        Level::May,
        &["AQL-5.4-1"],
        "a token with several uses is bound to a session",
    ),
    GuardRow::new(
        Guard::TakesWideTolerance,
        "takes-wide-tolerance",
        Level::Should,
        &["AQL-5.1-5"],
        "the tolerance is at most 300 seconds",
    ),
    GuardRow::new(
        Guard::WidensSilently,
        "widens-silently",
        Level::Should,
        &["AQL-5.1-6"],
        "a tolerance above 60 seconds is warned of",
    ),
    GuardRow::new(
        Guard::IgnoresRevocation,
        "ignores-revocation",
        Level::May,
        &["AQL-5.3-3", "AQL-7.2-2"],
        "a token that is revoked by hand is revoked",
    ),
    GuardRow::new(
        Guard::OutlivesSession,
        "outlives-session",
        Level::Must,
        &["AQL-5.4-2", "AQL-5.3-2"],
        "a session's tokens end with it",
    ),
    GuardRow::new(
        Guard::OutlivesLogout,
        "outlives-logout",
        Level::May,
        &["AQL-5.3-2"],
        "a logout revokes the tokens of its sessions",
    ),
    GuardRow::new(
        Guard::OutlivesConfiguration,
        "outlives-configuration",
        Level::May,
        &["AQL-5.3-2"],
        "a change of an adapter's configuration revokes its tokens",
    ),
    GuardRow::new(
        Guard::OutlivesSecurityEvent,
        "outlives-security-event",
        Level::May,
        &["AQL-5.3-2"],
        "a security event revokes every token",
    ),
    GuardRow::new(
        Guard::RevokesOthers,
        "revokes-others",
        Level::May,
        &["AQL-5.3-2"],
        "a trigger revokes the tokens that it concerns and no others",
    ),
    GuardRow::new(
        Guard::PurgesEarly,
        "purges-early",
        Level::Should,
        &["AQL-5.5-2", "AQL-5.1-7"],
        "only a token that can never be valid again is purged",
    ),
    GuardRow::new(
        Guard::RevivesAfterRestart,
        "revives-after-restart",
        Level::MustNot,
        &["AQL-6.1-1", "AQL-5.2-2"],
        "a restart makes no consumed token valid again",
    ),
    GuardRow::new(
        Guard::LosesStored,
        "loses-stored",
        Level::Must,
        &["AQL-5.5-1", "AQL-7.2-1"],
        "what is stored outlasts a restart",
    ),
    GuardRow::new(
        Guard::ConfusesCodes,
        "confuses-codes",
        Level::Must,
        &["AQL-7.1-2", "AQL-4.1-2", "AQL-4.1-3"],
        "the code is that of a check that failed",
    ),
    GuardRow::new(
        Guard::TellsCheck,
        "tells-check",
        Level::ShouldNot,
        &["AQL-6.3-2"],
        "in the mode without oracle every failure is answered alike",
    ),
    GuardRow::new(
        Guard::ExposesParameters,
        "exposes-parameters",
        Level::ShouldNot,
        &["AQL-6.3-1"],
        "no response to a failure holds parameter values",
    ),
    GuardRow::new(
        Guard::MisstatesStatus,
        "misstates-status",
        Level::May,
        &["AQL-7.3-1"],
        "a status is what it is",
    ),
    GuardRow::new(
        Guard::TellsStatus,
        "tells-status",
        Level::ShouldNot,
        &["AQL-6.3-2"],
        "in the mode without oracle whatever is not live is unknown",
    ),
    GuardRow::new(
        Guard::IssuesUnaudited,
        "issues-unaudited",
        Level::Must,
        &["AQL-6.4-1", "AQL-1.2-5"],
        "every issue is audited",
    ),
    GuardRow::new(
        Guard::RedeemsUnaudited,
        "redeems-unaudited",
        Level::Must,
        &["AQL-6.4-1", "AQL-1.2-5"],
        "every redemption is audited",
    ),
    GuardRow::new(
        Guard::RejectsUnaudited,
        "rejects-unaudited",
        Level::Must,
        &["AQL-6.4-1"],
        "every rejection is audited",
    ),
    GuardRow::new(
        Guard::RevokesUnaudited,
        "revokes-unaudited",
        Level::Must,
        &["AQL-6.4-1"],
        "every revocation is audited",
    ),
    GuardRow::new(
        Guard::AuditsTwice,
        "audits-twice",
        Level::Must,
        &["AQL-6.4-1"],
        "what happens once is audited once",
    ),
];

impl Tabled for Guard {
    type Row = GuardRow;
    const ROWS: &'static [GuardRow] = &GUARDS;

    fn place(self) -> usize {
        self as usize
    }
}
