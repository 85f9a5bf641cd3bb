//! The rules of the chapter as data: one [`Guard`] for each thing that a producer must not do, with its clauses.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a producer
//! that does what the guard forbids whenever it can.

use crate::table::Tabled;

pub use crate::rules::Level;

/// The checks of 6.3.4 in their order. Check 3 has two clauses: a token is invalid because it was used, or because its
/// confirmation was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Check 1: well-formed JSON that conforms to the schema.
    WellFormed,
    /// Check 2: the token is one that this producer issued.
    Issued,
    /// Check 3: the token was not used, by a reply or by the default.
    Unused,
    /// Check 3: the token's confirmation was not cancelled.
    NotCancelled,
    /// Check 4: the claimed time lies strictly before issue + timeout.
    InTime,
    /// Check 5: the sender is authenticated, its subscription is open and the one that the message names.
    Sender,
    /// Check 6: the decision is one of the allowed replies.
    Allowed,
}

impl Check {
    /// All checks in order.
    pub const ALL: [Self; 7] = [
        Self::WellFormed,
        Self::Issued,
        Self::Unused,
        Self::NotCancelled,
        Self::InTime,
        Self::Sender,
        Self::Allowed,
    ];

    /// The clause that an audit names for a reply ignored at this check.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::WellFormed => "AAEP-6.3.4-1",
            Self::Issued => "AAEP-6.3.4-2",
            Self::Unused => "AAEP-6.3.4-3",
            Self::NotCancelled => "AAEP-6.8-4",
            Self::InTime => "AAEP-6.3.4-4",
            Self::Sender => "AAEP-6.3.4-5",
            Self::Allowed => "AAEP-6.3.4-6",
        }
    }
}

/// Why a call was refused: the caller erred and nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A confirmation was asked for in a session that has ended.
    SessionOver,
    /// The timeout is out of range.
    BadTimeout,
    /// A default of accept for an irreversible action of high risk.
    DefaultOfHighRisk,
    /// A default of accept for an irreversible action of medium risk.
    DefaultOfMediumRisk,
    /// The same action is still blocked by an earlier confirmation.
    StillBlocked,
    /// The confirmation to be cancelled is not pending.
    NotPending,
    /// The session to be ended has ended.
    EndedAlready,
    /// The subscription to be closed is closed.
    ClosedAlready,
    /// The tool that is reported as done was not released, or is done already, or its session has ended.
    NotInFlight,
}

impl Refusal {
    /// The clause that the caller would have had the producer break.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::SessionOver => "AAEP-A.1-3",
            Self::BadTimeout => "AAEP-EV-5",
            Self::DefaultOfHighRisk => "AAEP-6.4.1-1",
            Self::DefaultOfMediumRisk => "AAEP-6.4.1-2",
            Self::StillBlocked => "AAEP-6.1-6",
            Self::NotPending => "AAEP-6.8-1",
            Self::EndedAlready => "AAEP-A.1-2",
            Self::ClosedAlready => "AAEP-REPLY-14",
            Self::NotInFlight => "AAEP-A.3-2",
        }
    }
}

/// A rule, named after what it forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// A malformed reply is honoured.
    HonoursMalformed,
    /// A reply with a token that was never issued is honoured.
    HonoursUnissued,
    /// A reply with a used token is honoured.
    HonoursUsed,
    /// A reply with a cancelled token is honoured.
    HonoursCancelled,
    /// A reply that claims a time at or after the deadline is honoured.
    HonoursLate,
    /// A reply from a sender that is not authenticated is honoured.
    HonoursUnauthenticated,
    /// A reply from a closed subscription is honoured.
    HonoursClosed,
    /// A reply that names another subscription than its sender's is honoured.
    HonoursImpostor,
    /// A decision that is not among the allowed replies is honoured.
    HonoursUnlisted,
    /// A reply resolves other pending confirmations than its own.
    SpillsOver,
    /// An accept with an unsupported `modified_action` counts as accept.
    AcceptsModified,
    /// The sender can tell which check failed.
    TellsCheck,
    /// A token is issued a second time.
    ReusesToken,
    /// A confirmation is asked for in a session that has ended.
    AsksAfterEnd,
    /// A default of accept is taken for an irreversible action of high risk.
    DefaultsHighRisk,
    /// A default of accept is taken for an irreversible action of medium risk.
    DefaultsMediumRisk,
    /// The same action is asked for again while it is blocked.
    AsksTwice,
    /// The question comes without the state being `awaiting_input`.
    AsksWithoutState,
    /// The deadline passes and nothing happens.
    ForgetsDefault,
    /// The action of a pending confirmation is performed.
    PerformsBlocked,
    /// An event says that the action of a pending confirmation has begun.
    AnnouncesBlocked,
    /// A rejected action is dropped without a follow-up.
    DropsSilently,
    /// A rejected action is performed.
    PerformsRejected,
    /// A rejected action is announced by `tool.invoked`.
    InvokesRejected,
    /// An accepted action is performed without `tool.invoked`.
    SkipsInvoked,
    /// An accepted action is announced by `tool.invoked` twice.
    InvokesTwice,
    /// An accepted action is performed twice.
    PerformsTwice,
    /// The state stays `awaiting_input` after the last confirmation is resolved.
    StaysAwaiting,
    /// The state leaves `awaiting_input` while another confirmation is pending.
    LeavesEarly,
    /// A confirmation is cancelled without an event that says so.
    CancelsSilently,
    /// The default of a cancelled confirmation still applies.
    DefaultsCancelled,
    /// A session ends and its confirmations stay pending.
    OutlivesSession,
    /// An action that was released and has not begun is begun after its session has ended.
    BeginsAfterEnd,
    /// A session completes while a tool has no completion.
    LeavesToolOpen,
    /// A session ends twice.
    EndsTwice,
    /// A tool that is not in flight is reported as completed.
    CompletesUninvoked,
    /// The last capable subscription closes and a default of reject is not applied.
    IgnoresClosing,
    /// The last capable subscription closes and a default of accept is applied before its time.
    AcceptsEarly,
    /// A restart performs again what is in doubt.
    RepeatsAfterRestart,
}

/// What there is to say about a guard.
pub type GuardRow = crate::rules::GuardRow<Guard>;

/// The set of guards in force.
pub type Rules = crate::rules::Rules<Guard>;

/// Every guard, in the order of [`Guard`].
pub static GUARDS: [GuardRow; 39] = [
    GuardRow::new(
        Guard::HonoursMalformed,
        "honours-malformed",
        Level::Must,
        &["AAEP-6.3.4-1", "AAEP-6.3.4-7"],
        "a message that does not conform to the reply schema is ignored",
    ),
    GuardRow::new(
        Guard::HonoursUnissued,
        "honours-unissued",
        Level::Must,
        &["AAEP-6.3.4-2", "AAEP-6.3.4-7"],
        "a reply whose token this producer never issued is ignored",
    ),
    GuardRow::new(
        Guard::HonoursUsed,
        "honours-used",
        Level::Must,
        &[
            "AAEP-6.3.4-3",
            "AAEP-6.3.5-1",
            "AAEP-6.7.1-1",
            "AAEP-REPLY-12",
            "AAEP-6.9-2",
        ],
        "a token that was used, by a reply or by the default, is not honoured again",
    ),
    GuardRow::new(
        Guard::HonoursCancelled,
        "honours-cancelled",
        Level::Must,
        &["AAEP-6.8-4"],
        "the token of a cancelled confirmation is invalid",
    ),
    GuardRow::new(
        Guard::HonoursLate,
        "honours-late",
        Level::Must,
        &["AAEP-6.3.4-4", "AAEP-6.3.4-7", "AAEP-6.9-2"],
        "a reply whose timestamp is not before issue + timeout is ignored",
    ),
    GuardRow::new(
        Guard::HonoursUnauthenticated,
        "honours-unauthenticated",
        Level::Must,
        &["AAEP-6.3.4-5", "AAEP-6.2.4-1", "AAEP-6.9-1"],
        "whoever knows the token is not thereby the one who may decide",
    ),
    GuardRow::new(
        Guard::HonoursClosed,
        "honours-closed",
        Level::Must,
        &["AAEP-REPLY-14", "AAEP-6.3.4-5"],
        "a reply on a subscription that is closed is ignored",
    ),
    GuardRow::new(
        Guard::HonoursImpostor,
        "honours-impostor",
        Level::Must,
        &["AAEP-6.3.4-5", "AAEP-REPLY-14"],
        "a reply that names another subscription than its sender's is ignored",
    ),
    GuardRow::new(
        Guard::HonoursUnlisted,
        "honours-unlisted",
        Level::Must,
        &["AAEP-6.3.4-6", "AAEP-6.3.4-7"],
        "a decision that the confirmation does not list as allowed is ignored",
    ),
    GuardRow::new(
        Guard::SpillsOver,
        "spills-over",
        Level::Must,
        &["AAEP-6.3.4-2", "AAEP-6.9-2"],
        "a reply concerns the confirmation of its token and no other",
    ),
    GuardRow::new(
        Guard::AcceptsModified,
        "accepts-modified",
        Level::Must,
        &["AAEP-6.3.2-4"],
        "an unsupported modified_action makes a reply a reject",
    ),
    GuardRow::new(
        Guard::TellsCheck,
        "tells-check",
        Level::MustNot,
        &["AAEP-6.3.4-9"],
        "the response is the same whichever check failed, and when none did",
    ),
    GuardRow::new(
        Guard::ReusesToken,
        "reuses-token",
        Level::MustNot,
        &["AAEP-6.2.2-3", "AAEP-6.2.2-1"],
        "a token is issued once and never again",
    ),
    GuardRow::new(
        Guard::AsksAfterEnd,
        "asks-after-end",
        Level::Must,
        &["AAEP-A.1-3"],
        "no confirmation is asked for in a session that has ended",
    ),
    GuardRow::new(
        Guard::DefaultsHighRisk,
        "defaults-high-risk",
        Level::Must,
        &["AAEP-6.4.1-1", "AAEP-6.9-5"],
        "irreversible and high risk: the default is reject",
    ),
    GuardRow::new(
        Guard::DefaultsMediumRisk,
        "defaults-medium-risk",
        Level::Must,
        &["AAEP-6.4.1-2"],
        "irreversible and medium risk: the default is reject",
    ),
    GuardRow::new(
        Guard::AsksTwice,
        "asks-twice",
        Level::MustNot,
        &["AAEP-6.1-6"],
        "an action is not asked for again while it is blocked",
    ),
    GuardRow::new(
        Guard::AsksWithoutState,
        "asks-without-state",
        Level::Must,
        &["AAEP-A.4-1"],
        "the state is awaiting_input at or before the question",
    ),
    GuardRow::new(
        Guard::ForgetsDefault,
        "forgets-default",
        Level::Must,
        &["AAEP-6.4-1"],
        "once the timeout has elapsed without a valid reply the default applies",
    ),
    GuardRow::new(
        Guard::PerformsBlocked,
        "performs-blocked",
        Level::MustNot,
        &["AAEP-6.1-1"],
        "a pending action is not performed",
    ),
    GuardRow::new(
        Guard::AnnouncesBlocked,
        "announces-blocked",
        Level::MustNot,
        &["AAEP-6.1-5"],
        "no event implies that a pending action was performed",
    ),
    GuardRow::new(
        Guard::DropsSilently,
        "drops-silently",
        Level::Must,
        &["AAEP-6.1-3", "AAEP-6.1-2"],
        "a rejection is followed by an event that reflects it",
    ),
    GuardRow::new(
        Guard::PerformsRejected,
        "performs-rejected",
        Level::MustNot,
        &["AAEP-6.1-1", "AAEP-A.8-5"],
        "a rejected action is not performed",
    ),
    GuardRow::new(
        Guard::InvokesRejected,
        "invokes-rejected",
        Level::MustNot,
        &["AAEP-A.4-4", "AAEP-A.7.4-1", "AAEP-A.8-4"],
        "a rejected action is not announced by tool.invoked",
    ),
    GuardRow::new(
        Guard::SkipsInvoked,
        "skips-invoked",
        Level::Must,
        &["AAEP-A.4-3"],
        "an accepted action is announced by tool.invoked",
    ),
    GuardRow::new(
        Guard::InvokesTwice,
        "invokes-twice",
        Level::Must,
        &["AAEP-A.4-3", "AAEP-A.3-1"],
        "an accepted action is announced by tool.invoked once",
    ),
    GuardRow::new(
        Guard::PerformsTwice,
        "performs-twice",
        Level::Must,
        &["AAEP-6.9-2", "AAEP-6.1-1"],
        "one authorisation performs its action once",
    ),
    GuardRow::new(
        Guard::StaysAwaiting,
        "stays-awaiting",
        Level::Must,
        &["AAEP-A.4-2"],
        "the state leaves awaiting_input once the last confirmation is resolved",
    ),
    GuardRow::new(
        Guard::LeavesEarly,
        "leaves-early",
        Level::Info,
        &["AAEP-A.2-2"],
        "the state is awaiting_input as long as a confirmation is pending",
    ),
    GuardRow::new(
        Guard::CancelsSilently,
        "cancels-silently",
        Level::Must,
        &["AAEP-6.8-3"],
        "the cancellation of one confirmation is told by a state.changed",
    ),
    GuardRow::new(
        Guard::DefaultsCancelled,
        "defaults-cancelled",
        Level::Must,
        &["AAEP-6.8-4", "AAEP-6.8-1"],
        "the default of a cancelled confirmation does not apply",
    ),
    GuardRow::new(
        Guard::OutlivesSession,
        "outlives-session",
        Level::Must,
        &["AAEP-6.8-2"],
        "the end of a session cancels its pending confirmations",
    ),
    GuardRow::new(
        Guard::BeginsAfterEnd,
        "begins-after-end",
        Level::Must,
        &["AAEP-A.1-3", "AAEP-6.8-2"],
        "an action that has not begun when its session ends is withdrawn",
    ),
    GuardRow::new(
        Guard::LeavesToolOpen,
        "leaves-tool-open",
        Level::Must,
        &["AAEP-A.3-1", "AAEP-A.7.4-2"],
        "every tool.invoked has its tool.completed before its session completes",
    ),
    GuardRow::new(
        Guard::EndsTwice,
        "ends-twice",
        Level::Must,
        &["AAEP-A.1-2"],
        "a session has one terminal event",
    ),
    GuardRow::new(
        Guard::CompletesUninvoked,
        "completes-uninvoked",
        Level::MustNot,
        &["AAEP-A.3-2", "AAEP-A.7.5-1", "AAEP-A.8-1"],
        "no tool.completed without a tool in flight",
    ),
    GuardRow::new(
        Guard::IgnoresClosing,
        "ignores-closing",
        Level::Must,
        &["AAEP-EV-11"],
        "when the last subscription that could answer closes, a default of reject applies",
    ),
    GuardRow::new(
        Guard::AcceptsEarly,
        "accepts-early",
        Level::MustNot,
        &["AAEP-6.1-1"],
        "a default of accept never applies before its time",
    ),
    GuardRow::new(
        Guard::RepeatsAfterRestart,
        "repeats-after-restart",
        Level::MustNot,
        &["AAEP-6.9-2", "AAEP-6.1-1"],
        "after a restart an action in doubt is reported, not performed again",
    ),
];

impl Tabled for Guard {
    type Row = GuardRow;
    const ROWS: &'static [GuardRow] = &GUARDS;

    fn place(self) -> usize {
        self as usize
    }
}
