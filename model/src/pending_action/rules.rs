//! The rules of the contract as data: one [`Guard`] for each thing that a ledger, or the host around it, must not do, with its
//! clauses.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a ledger that
//! does what the guard forbids whenever it can.

use crate::table::Tabled;

use super::words::Flaw;

pub use crate::rules::Level;

/// What a decision is checked for, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The ledger knows the action.
    Known,
    /// The nonce, where one is given, is the action's.
    Nonce,
    /// The decider may decide.
    Entitled,
    /// The action has not expired.
    NotExpired,
    /// The action is not resolved otherwise.
    Unresolved,
    /// An allow says nothing of the arguments, or that they are the proposed ones.
    Arguments,
}

impl Check {
    /// The clause that an audit names for a decision that is ignored at this check.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Known | Self::Nonce => "PA-1",
            Self::Entitled => "PA-2",
            Self::NotExpired => "PA-7",
            Self::Unresolved => "PA-8",
            Self::Arguments => "PA-3",
        }
    }
}

/// Why a call was refused: the caller erred and nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// The session of the proposal has ended.
    SessionOver,
    /// The proposal would have expired already.
    NotInFuture,
    /// The proposal is not well-formed.
    Malformed(Flaw),
    /// There is no such action.
    Unknown,
    /// What is to be cancelled, or to have a result, has expired.
    Expired,
    /// What is to be cancelled is resolved, or what is to have a result has one.
    Resolved,
    /// What is to have a result is still pending.
    Undecided,
    /// What is to have a result was denied or cancelled.
    NotReleased,
}

impl Refusal {
    /// The clause that the caller would have had the ledger break.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::SessionOver | Self::NotReleased => "PA-5",
            Self::NotInFuture | Self::Expired => "PA-7",
            Self::Malformed(flaw) => flaw.clause(),
            Self::Unknown => "PA-1",
            Self::Resolved => "PA-8",
            Self::Undecided => "PA-3",
        }
    }
}

/// A rule, named after what it forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// A decision falls on the action that was proposed last, whatever its id.
    MatchesByPosition,
    /// A decision with an unknown id falls on whatever is pending.
    HonoursUnknown,
    /// A decision with another nonce is honoured.
    HonoursOtherNonce,
    /// A decision by somebody who may not decide is honoured.
    HonoursStranger,
    /// An allow of an expired action is honoured.
    HonoursExpired,
    /// Only the timer lets actions expire.
    WaitsForTimer,
    /// An action expires a tick before its time.
    ExpiresEarly,
    /// An earlier time than the greatest that was seen counts.
    TurnsClockBack,
    /// The same decision counts again.
    HonoursRepeated,
    /// An allow of a denied action is honoured.
    AllowsAfterDeny,
    /// A deny of an allowed action is honoured.
    DeniesAfterAllow,
    /// An allow of a cancelled action is honoured.
    HonoursCancelled,
    /// A decision is validated and takes effect in two steps, and the second trusts the first.
    DecidesApart,
    /// An allow of other arguments is honoured and they run.
    RunsEdited,
    /// What runs are the arguments as the client wrote them.
    RunsRewritten,
    /// A proposed call is released at once.
    RunsUnasked,
    /// A yes in free text allows what was proposed last.
    TakesTextForDecision,
    /// A decision that is ignored denies the action all the same.
    SpendsOnIgnored,
    /// A decision that is ignored is not audited.
    IgnoresUnaudited,
    /// Every decision that is ignored is audited as coming too late.
    MisnamesIgnored,
    /// A proposal that is not well-formed is taken.
    ProposesMalformed,
    /// A proposal in an ended session is taken.
    ProposesAfterEnd,
    /// A proposal is taken that has expired already.
    ProposesExpired,
    /// A resolved action is cancelled.
    CancelsResolved,
    /// What is pending outlives its session.
    OutlivesSession,
    /// What was released and has not begun begins after its session has ended.
    BeginsAfterEnd,
    /// A result is taken of a call that was not released.
    FinishesUnreleased,
    /// A second result is taken.
    FinishesTwice,
    /// The visible message shows id and arguments.
    ExposesArguments,
    /// An allow appends no tool call.
    AllowsSilently,
    /// A deny appends no denied result.
    DeniesSilently,
    /// An expiry appends no expired result.
    ExpiresSilently,
    /// An expiry is recorded as a denial.
    ExpiresAsDenied,
    /// A cancellation appends no cancelled result.
    CancelsSilently,
    /// The end of a tool appends no result.
    FinishesSilently,
    /// A decision emits no event.
    DecidesSilently,
    /// The record of a step comes behind what the step puts out.
    RecordsLate,
    /// A restart loses what was pending.
    ForgetsPending,
    /// A restart does not tell of what was released and is not done.
    ForgetsReleased,
    /// A restart runs again what may have run already.
    RepeatsAfterRestart,
    /// A restart releases again what an ended session has withdrawn.
    RepeatsAfterEnd,
    /// A restart leaves what was released and declared idempotent in doubt.
    DropsIdempotent,
    /// A restart does not tell what was recorded and not told.
    ForgetsUntold,
    /// A restart lets expire what is due before it tells what was recorded before.
    SettlesBeforeTelling,
    /// The host reports a run that was withdrawn as not run, though one before the crash had begun.
    TakesWithdrawnForUnrun,
    /// A rollback forgets what was recorded since the snapshot.
    ForgetsSinceSnapshot,
}

/// What there is to say about a guard.
pub type GuardRow = crate::rules::GuardRow<Guard>;

/// The set of guards in force.
pub type Rules = crate::rules::Rules<Guard>;

/// Every guard, in the order of [`Guard`].
pub static GUARDS: [GuardRow; 46] = [
    GuardRow::new(
        Guard::MatchesByPosition,
        "matches-by-position",
        Level::Must,
        &["PA-1", "PA-2"],
        "a decision is matched by the action's id, never by position",
    ),
    GuardRow::new(
        Guard::HonoursUnknown,
        "honours-unknown",
        Level::Must,
        &["PA-1"],
        "a decision with an id that was never minted resolves nothing",
    ),
    GuardRow::new(
        Guard::HonoursOtherNonce,
        "honours-other-nonce",
        Level::Must,
        &["PA-1"],
        "a nonce that is given is the action's",
    ),
    GuardRow::new(
        Guard::HonoursStranger,
        "honours-stranger",
        Level::Should,
        &["PA-2"],
        "only who may decide decides",
    ),
    GuardRow::new(
        Guard::HonoursExpired,
        "honours-expired",
        Level::MustNot,
        &["PA-7"],
        "an expired action does not run",
    ),
    GuardRow::new(
        Guard::WaitsForTimer,
        "waits-for-timer",
        Level::MustNot,
        &["PA-7"],
        "every call first lets expire what is due",
    ),
    GuardRow::new(
        Guard::ExpiresEarly,
        "expires-early",
        Level::MustNot,
        &["PA-7"],
        "no action expires before its time",
    ),
    GuardRow::new(
        Guard::TurnsClockBack,
        "turns-clock-back",
        Level::MustNot,
        &["PA-7"],
        "a clock that is set back brings no time back",
    ),
    GuardRow::new(
        Guard::HonoursRepeated,
        "honours-repeated",
        Level::MustNot,
        &["PA-8"],
        "one decision counts once, however often it arrives",
    ),
    GuardRow::new(
        Guard::AllowsAfterDeny,
        "allows-after-deny",
        Level::MustNot,
        &["PA-8", "PA-5"],
        "what is denied stays denied",
    ),
    GuardRow::new(
        Guard::DeniesAfterAllow,
        "denies-after-allow",
        Level::MustNot,
        &["PA-8"],
        "what is allowed stays allowed",
    ),
    GuardRow::new(
        Guard::HonoursCancelled,
        "honours-cancelled",
        Level::Must,
        &["PA-5", "PA-8"],
        "what is cancelled, by itself or with its session, stays cancelled",
    ),
    GuardRow::new(
        Guard::DecidesApart,
        "decides-apart",
        Level::MustNot,
        &["PA-8"],
        "a decision is validated and takes effect in one step",
    ),
    GuardRow::new(
        Guard::RunsEdited,
        "runs-edited",
        Level::Must,
        &["PA-3"],
        "an allow of other arguments than the proposed ones resolves nothing",
    ),
    GuardRow::new(
        Guard::RunsRewritten,
        "runs-rewritten",
        Level::Must,
        &["PA-3"],
        "the arguments that run are the proposed ones, byte by byte",
    ),
    GuardRow::new(
        Guard::RunsUnasked,
        "runs-unasked",
        Level::Must,
        &["PA-1", "PA-13", "PA-14"],
        "every proposed call pends until it is decided",
    ),
    GuardRow::new(
        Guard::TakesTextForDecision,
        "takes-text-for-decision",
        Level::May,
        &["PA-11", "PA-2"],
        "free text resolves nothing",
    ),
    GuardRow::new(
        Guard::SpendsOnIgnored,
        "spends-on-ignored",
        Level::Should,
        &["PA-2"],
        "a decision that is ignored changes nothing",
    ),
    GuardRow::new(
        Guard::IgnoresUnaudited,
        "ignores-unaudited",
        Level::Must,
        &["PA-10"],
        "a decision that is ignored is audited once",
    ),
    GuardRow::new(
        Guard::MisnamesIgnored,
        "misnames-ignored",
        Level::Must,
        &["PA-10"],
        "an audit names the check that failed",
    ),
    GuardRow::new(
        Guard::ProposesMalformed,
        "proposes-malformed",
        Level::Must,
        &["PA-1", "PA-2", "PA-3", "PA-9"],
        "a proposal that is not well-formed is refused",
    ),
    GuardRow::new(
        Guard::ProposesAfterEnd,
        "proposes-after-end",
        Level::Must,
        &["PA-5"],
        "nothing is proposed in an ended session",
    ),
    GuardRow::new(
        Guard::ProposesExpired,
        "proposes-expired",
        Level::MustNot,
        &["PA-7"],
        "what is proposed expires in the future",
    ),
    GuardRow::new(
        Guard::CancelsResolved,
        "cancels-resolved",
        Level::MustNot,
        &["PA-8", "PA-7"],
        "only what is pending is cancelled",
    ),
    GuardRow::new(
        Guard::OutlivesSession,
        "outlives-session",
        Level::Must,
        &["PA-5"],
        "the end of a session cancels what is pending in it",
    ),
    GuardRow::new(
        Guard::BeginsAfterEnd,
        "begins-after-end",
        Level::Must,
        &["PA-5"],
        "what has not begun when its session ends is withdrawn",
    ),
    GuardRow::new(
        Guard::FinishesUnreleased,
        "finishes-unreleased",
        Level::Must,
        &["PA-3", "PA-5", "PA-7"],
        "only a call that was released has a result",
    ),
    GuardRow::new(
        Guard::FinishesTwice,
        "finishes-twice",
        Level::MustNot,
        &["PA-8"],
        "a call has one result",
    ),
    GuardRow::new(
        Guard::ExposesArguments,
        "exposes-arguments",
        Level::May,
        &["PA-9"],
        "the visible message holds summary and label alone",
    ),
    GuardRow::new(
        Guard::AllowsSilently,
        "allows-silently",
        Level::Should,
        &["PA-4"],
        "an allow appends the tool call",
    ),
    GuardRow::new(
        Guard::DeniesSilently,
        "denies-silently",
        Level::Should,
        &["PA-6"],
        "a deny appends the denied result",
    ),
    GuardRow::new(
        Guard::ExpiresSilently,
        "expires-silently",
        Level::Must,
        &["PA-10"],
        "an expiry appends the expired result",
    ),
    GuardRow::new(
        Guard::ExpiresAsDenied,
        "expires-as-denied",
        Level::Must,
        &["PA-10", "PA-7"],
        "an expiry is told from a denial",
    ),
    GuardRow::new(
        Guard::CancelsSilently,
        "cancels-silently",
        Level::Must,
        &["PA-10", "PA-5"],
        "a cancellation appends the cancelled result",
    ),
    GuardRow::new(
        Guard::FinishesSilently,
        "finishes-silently",
        Level::Should,
        &["PA-4"],
        "the end of a tool appends its result",
    ),
    GuardRow::new(
        Guard::DecidesSilently,
        "decides-silently",
        Level::Must,
        &["PA-10"],
        "a decision emits its event",
    ),
    GuardRow::new(
        Guard::RecordsLate,
        "records-late",
        Level::Must,
        &["PA-1", "PA-8"],
        "what happens is recorded before it takes effect outside",
    ),
    GuardRow::new(
        Guard::ForgetsPending,
        "forgets-pending",
        Level::Must,
        &["PA-1"],
        "what is pending outlasts a restart",
    ),
    GuardRow::new(
        Guard::ForgetsReleased,
        "forgets-released",
        Level::Must,
        &["PA-10"],
        "what was released and is not done is told as in doubt after a restart",
    ),
    GuardRow::new(
        Guard::RepeatsAfterRestart,
        "repeats-after-restart",
        Level::MustNot,
        &["PA-8"],
        "what is not declared idempotent is not released again",
    ),
    GuardRow::new(
        Guard::RepeatsAfterEnd,
        "repeats-after-end",
        Level::Must,
        &["PA-5"],
        "what was released in a session that has ended is not released again",
    ),
    GuardRow::new(
        Guard::DropsIdempotent,
        "drops-idempotent",
        Level::Must,
        &["PA-3"],
        "what is declared idempotent is released again until it is done",
    ),
    GuardRow::new(
        Guard::ForgetsUntold,
        "forgets-untold",
        Level::Must,
        &["PA-10", "PA-4", "PA-6"],
        "what was recorded and not told is told after a restart",
    ),
    GuardRow::new(
        Guard::SettlesBeforeTelling,
        "settles-before-telling",
        Level::Must,
        &["PA-10"],
        "after a restart what was recorded is told before what is due expires",
    ),
    GuardRow::new(
        Guard::TakesWithdrawnForUnrun,
        "takes-withdrawn-for-unrun",
        Level::Must,
        &["PA-10", "PA-4"],
        "what was to run again and was withdrawn is not reported as not run if it had begun before",
    ),
    GuardRow::new(
        Guard::ForgetsSinceSnapshot,
        "forgets-since-snapshot",
        Level::MustNot,
        &["PA-8"],
        "a rollback catches up with the journal",
    ),
];

impl Tabled for Guard {
    type Row = GuardRow;
    const ROWS: &'static [GuardRow] = &GUARDS;

    fn place(self) -> usize {
        self as usize
    }
}
