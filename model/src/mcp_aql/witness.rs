//! What a step is a witness of: that something can happen, and not only in theory.

use crate::properties::seen;
use crate::table::Tabled;

use super::action::Action;
use super::marks::Account;
use super::message::{Call, Carried};
use super::output::{Output, Status};
use super::rules::{Check, Refusal};
use super::state::{Phase, Token};
use super::step::StepSoFar;
use super::words::{Purpose, Slot, Store, Trigger};

/// Something that some run of the specification shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// A gated call gets a token.
    Issued,
    /// A quota pause gets a token.
    IssuedForQuota,
    /// A call with its token is admitted.
    Admitted,
    /// A session's token admits the same call again.
    AdmittedAgain,
    /// A call after expiry and within the tolerance is admitted.
    AdmittedWithinTolerance,
    /// A call at the sum of expiry and tolerance is admitted.
    AdmittedAtTheLast,
    /// A call at a node whose clock is ahead is admitted within the tolerance.
    AdmittedDespiteSkew,
    /// A call with a live token fails and the token stays live.
    RejectedAndKept,
    /// A live token outlasts a restart.
    KeptInRestart,
    /// A token admits while another is live.
    AdmittedBesideAnother,
    /// An admitted operation is performed.
    Performed,
    /// The second operation of a multi-use token is performed.
    PerformedAgain,
    /// A call that needs no token runs without.
    UngatedWithoutToken,
    /// A call that needs no token runs and its token stays.
    UngatedWithToken,
    /// A call is rejected: the token is unknown.
    RejectedExists,
    /// A call is rejected: the token was revoked.
    RejectedRevoked,
    /// A call is rejected: the token has expired.
    RejectedExpired,
    /// A call is rejected: the token was used.
    RejectedUsed,
    /// A call is rejected: the token is for the other purpose.
    RejectedPurpose,
    /// A call is rejected: the token is for another operation.
    RejectedOperation,
    /// A call is rejected: the token is for other parameters.
    RejectedParameters,
    /// A call is rejected: the token is another adapter's.
    RejectedAdapter,
    /// A call is rejected: the token is another session's.
    RejectedSession,
    /// A call is rejected in the mode without oracle.
    RejectedAlike,
    /// With tolerance 0 a call a tick after expiry is rejected.
    RejectedStrictly,
    /// A call is rejected only because the node's clock is ahead by more than the tolerance.
    RejectedAhead,
    /// A node whose clock is behind does not bring an expired token back.
    RejectedBehind,
    /// Of two calls that race with a single-use token one is admitted.
    Raced,
    /// A consumed token stays consumed in a restart.
    StaysUsedInRestart,
    /// An operation that was admitted is lost in a crash, and its use stays counted.
    PerformanceLost,
    /// A restart loses the tokens that were in memory.
    StoreLost,
    /// An expired token is purged.
    Purged,
    /// A call with an expired token may be answered as one with an unknown token.
    MayBePurged,
    /// A token is revoked by hand.
    RevokedByHand,
    /// A token is revoked by a trigger.
    RevokedByTrigger,
    /// A token is revoked by the end of its session.
    EndedWithSession,
    /// A trigger spares a token that it does not concern.
    SparedByTrigger,
    /// There is nothing to revoke.
    NothingToRevoke,
    /// A lifetime beyond the longest is refused.
    RefusedLongLifetime,
    /// A lifetime of none is refused.
    RefusedNoLifetime,
    /// Several uses outside of any session are refused.
    RefusedLooseMultiUse,
    /// A tolerance out of range is refused.
    RefusedTolerance,
    /// A wide tolerance is warned of.
    Warned,
    /// The status of a live token is told.
    StatusLive,
    /// The status of a token that is not live is told.
    StatusDead,
    /// The status of a token that is not live is not told.
    StatusHidden,
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
pub static WITNESSES: [WitnessRow; 46] = [
    WitnessRow::new(
        Witness::Issued,
        "1.3-1 a gated call gets a token",
        &["AQL-1.3-1", "AQL-1.2-5"],
    ),
    WitnessRow::new(
        Witness::IssuedForQuota,
        "2.1-1 a quota pause gets a token",
        &["AQL-2.1-1"],
    ),
    WitnessRow::new(
        Witness::Admitted,
        "1.3-2 a call with its token is admitted",
        &["AQL-1.3-2"],
    ),
    WitnessRow::new(
        Witness::AdmittedAgain,
        "5.4-4 a session's token admits the same call again",
        &["AQL-5.4-4", "AQL-5.2-3"],
    ),
    WitnessRow::new(
        Witness::AdmittedWithinTolerance,
        "5.1-7 a call after expiry and within the tolerance is admitted",
        &["AQL-5.1-7", "AQL-5.1-4"],
    ),
    WitnessRow::new(
        Witness::AdmittedAtTheLast,
        "5.1-7 a call at the sum of expiry and tolerance is admitted",
        &["AQL-5.1-7"],
    ),
    WitnessRow::new(
        Witness::AdmittedDespiteSkew,
        "5.1-4 a call at a node whose clock is ahead is admitted within the tolerance",
        &["AQL-5.1-4"],
    ),
    WitnessRow::new(
        Witness::RejectedAndKept,
        "1.2-1 a call with a live token fails and the token stays live",
        &["AQL-1.2-1"],
    ),
    WitnessRow::new(
        Witness::KeptInRestart,
        "5.5-1 a live token outlasts a restart",
        &["AQL-5.5-1"],
    ),
    WitnessRow::new(
        Witness::AdmittedBesideAnother,
        "1.2-3 a token admits while another is live",
        &["AQL-1.2-3"],
    ),
    WitnessRow::new(
        Witness::Performed,
        "5.2-1 an admitted operation is performed",
        &["AQL-5.2-1"],
    ),
    WitnessRow::new(
        Witness::PerformedAgain,
        "5.4-1 the second operation of a multi-use token is performed",
        &["AQL-5.4-1"],
    ),
    WitnessRow::new(
        Witness::UngatedWithoutToken,
        "5.1-8 a call that needs no token runs without",
        &["AQL-5.1-8"],
    ),
    WitnessRow::new(
        Witness::UngatedWithToken,
        "5.1-8 a call that needs no token runs and its token stays",
        &["AQL-5.1-8", "AQL-1.2-1"],
    ),
    WitnessRow::new(
        Witness::RejectedExists,
        "4.1-1 a call is rejected: the token is unknown",
        &["AQL-4.1-1"],
    ),
    WitnessRow::new(
        Witness::RejectedRevoked,
        "5.3-1 a call is rejected: the token was revoked",
        &["AQL-5.3-1"],
    ),
    WitnessRow::new(
        Witness::RejectedExpired,
        "4.1-2 a call is rejected: the token has expired",
        &["AQL-4.1-2", "AQL-5.1-3"],
    ),
    WitnessRow::new(
        Witness::RejectedUsed,
        "4.1-3 a call is rejected: the token was used",
        &["AQL-4.1-3", "AQL-6.1-1"],
    ),
    WitnessRow::new(
        Witness::RejectedPurpose,
        "2.1-1 a call is rejected: the token is for the other purpose",
        &["AQL-2.1-1"],
    ),
    WitnessRow::new(
        Witness::RejectedOperation,
        "4.1-4 a call is rejected: the token is for another operation",
        &["AQL-4.1-4"],
    ),
    WitnessRow::new(
        Witness::RejectedParameters,
        "4.1-5 a call is rejected: the token is for other parameters",
        &["AQL-4.1-5"],
    ),
    WitnessRow::new(
        Witness::RejectedAdapter,
        "4.1-6 a call is rejected: the token is another adapter's",
        &["AQL-4.1-6"],
    ),
    WitnessRow::new(
        Witness::RejectedSession,
        "5.4-4 a call is rejected: the token is another session's",
        &["AQL-5.4-4"],
    ),
    WitnessRow::new(
        Witness::RejectedAlike,
        "6.3-2 a call is rejected in the mode without oracle",
        &["AQL-6.3-2"],
    ),
    WitnessRow::new(
        Witness::RejectedStrictly,
        "5.1-5 with tolerance 0 a call a tick after expiry is rejected",
        &["AQL-5.1-5"],
    ),
    WitnessRow::new(
        Witness::RejectedAhead,
        "5.1-3 a call is rejected only because the node's clock is ahead by more than the tolerance",
        &["AQL-5.1-3"],
    ),
    WitnessRow::new(
        Witness::RejectedBehind,
        "5.1-3 a node whose clock is behind does not bring an expired token back",
        &["AQL-5.1-3"],
    ),
    WitnessRow::new(
        Witness::Raced,
        "5.2-2 of two calls that race with a single-use token one is admitted",
        &["AQL-5.2-2", "AQL-6.1-1"],
    ),
    WitnessRow::new(
        Witness::StaysUsedInRestart,
        "6.1-1 a consumed token stays consumed in a restart",
        &["AQL-6.1-1"],
    ),
    WitnessRow::new(
        Witness::PerformanceLost,
        "5.2-2 an operation that was admitted is lost in a crash, and its use stays counted",
        &["AQL-5.2-2"],
    ),
    WitnessRow::new(
        Witness::StoreLost,
        "5.5-1 a restart loses the tokens that were in memory",
        &["AQL-5.5-1"],
    ),
    WitnessRow::new(
        Witness::Purged,
        "5.5-2 an expired token is purged",
        &["AQL-5.5-2"],
    ),
    WitnessRow::new(
        Witness::MayBePurged,
        "4.1-1 a call with an expired token may be answered as one with an unknown token",
        &["AQL-4.1-1", "AQL-5.5-2"],
    ),
    WitnessRow::new(
        Witness::RevokedByHand,
        "5.3-3 a token is revoked by hand",
        &["AQL-5.3-3"],
    ),
    WitnessRow::new(
        Witness::RevokedByTrigger,
        "5.3-2 a token is revoked by a trigger",
        &["AQL-5.3-2"],
    ),
    WitnessRow::new(
        Witness::EndedWithSession,
        "5.4-2 a token is revoked by the end of its session",
        &["AQL-5.4-2"],
    ),
    WitnessRow::new(
        Witness::SparedByTrigger,
        "5.3-2 a trigger spares a token that it does not concern",
        &["AQL-5.3-2"],
    ),
    WitnessRow::new(
        Witness::NothingToRevoke,
        "5.3-3 there is nothing to revoke",
        &["AQL-5.3-3"],
    ),
    WitnessRow::new(
        Witness::RefusedLongLifetime,
        "5.1-1 a lifetime beyond the longest is refused",
        &["AQL-5.1-1"],
    ),
    WitnessRow::new(
        Witness::RefusedNoLifetime,
        "5.1-2 a lifetime of none is refused",
        &["AQL-5.1-2"],
    ),
    WitnessRow::new(
        Witness::RefusedLooseMultiUse,
        "5.4-1 several uses outside of any session are refused",
        &["AQL-5.4-1"],
    ),
    WitnessRow::new(
        Witness::RefusedTolerance,
        "5.1-5 a tolerance out of range is refused",
        &["AQL-5.1-5"],
    ),
    WitnessRow::new(
        Witness::Warned,
        "5.1-6 a wide tolerance is warned of",
        &["AQL-5.1-6"],
    ),
    WitnessRow::new(
        Witness::StatusLive,
        "7.3-1 the status of a live token is told",
        &["AQL-7.3-1"],
    ),
    WitnessRow::new(
        Witness::StatusDead,
        "7.3-1 the status of a token that is not live is told",
        &["AQL-7.3-1"],
    ),
    WitnessRow::new(
        Witness::StatusHidden,
        "6.3-2 the status of a token that is not live is not told",
        &["AQL-6.3-2"],
    ),
];

/// Everything that the step witnesses.
pub(super) fn witnessed(so_far: &StepSoFar<'_>, action: Action, account: &Account) -> u64 {
    let by_output = so_far
        .required
        .iter()
        .fold(0, |bits, output| bits | by_output(so_far, output));
    let by_action = match action {
        Action::Deliver { skew, .. } => so_far
            .call
            .map_or(0, |call| by_call(so_far, call, skew, account)),
        Action::CarryOut { slot } => {
            let runs = so_far.state.token(slot).runs;
            seen(Witness::Performed, runs == 1) | seen(Witness::PerformedAgain, runs == 2)
        }
        Action::Revoke(_) => {
            let revoked = so_far.slots_that_became(Phase::Revoked) != [None; 2];
            seen(Witness::RevokedByHand, revoked)
        }
        Action::Trigger(trigger) => by_trigger(so_far, trigger),
        Action::Purge { .. } => Witness::Purged.bit(),
        Action::Restart(store) => by_restart(so_far, store),
        Action::SetUp { .. }
        | Action::Request(_)
        | Action::Send { .. }
        | Action::Guess
        | Action::Redeem { .. }
        | Action::AskStatus(_)
        | Action::Tick => 0,
    };
    by_output | by_action
}

/// What a delivered call shows.
fn by_call(so_far: &StepSoFar<'_>, call: Call, skew: i8, account: &Account) -> u64 {
    if !call.gated {
        return seen(Witness::UngatedWithToken, call.token != Carried::Guessed);
    }
    match (so_far.rejected, call.token) {
        (Some(check), carried) => by_rejection(so_far, check, carried, skew),
        (None, Carried::Token(slot)) => by_admission(so_far, slot, skew, account),
        (None, Carried::Guessed) => 0,
    }
}

/// What an admitted call shows.
fn by_admission(so_far: &StepSoFar<'_>, slot: Slot, skew: i8, account: &Account) -> u64 {
    let token = so_far.before.token(slot);
    let tolerance = so_far.before.tolerance();
    let other = so_far.before.token(slot.other());
    let racing = |call: Call| call.token == Carried::Token(slot) && call.gated;
    seen(Witness::Admitted, true)
        | seen(Witness::AdmittedAgain, token.redemptions > 0)
        | seen(
            Witness::AdmittedWithinTolerance,
            so_far.now > token.expires && tolerance > 0,
        )
        | seen(
            Witness::AdmittedAtTheLast,
            so_far.now == token.expires + tolerance,
        )
        | seen(
            Witness::AdmittedDespiteSkew,
            skew > 0 && so_far.now > token.expires,
        )
        | seen(
            Witness::AdmittedBesideAnother,
            account.is_live(so_far, other),
        )
        | seen(
            Witness::Raced,
            token.max_uses == 1 && so_far.state.network.messages().any(racing),
        )
}

/// What a rejected call shows.
fn by_rejection(so_far: &StepSoFar<'_>, check: Check, carried: Carried, skew: i8) -> u64 {
    let expired = check == Check::NotExpired;
    let (mut kept, mut strictly, mut ahead, mut behind) = (false, false, false, false);
    if let Carried::Token(slot) = carried {
        let token = so_far.before.token(slot);
        let tolerance = so_far.before.tolerance();
        kept = so_far.state.token(slot).phase == Phase::Live && !expired;
        strictly = expired && tolerance == 0 && so_far.now == token.expires + 1;
        ahead = expired && skew > 0 && so_far.before.clock <= token.expires;
        behind = expired && skew < 0;
    }
    seen(Witness::RejectedAlike, so_far.before.is_uniform())
        | seen(Witness::RejectedAndKept, kept)
        | seen(Witness::RejectedStrictly, strictly)
        | seen(Witness::RejectedAhead, ahead)
        | seen(Witness::RejectedBehind, behind)
        | seen(Witness::MayBePurged, so_far.instead.is_some())
}

/// What a trigger shows.
fn by_trigger(so_far: &StepSoFar<'_>, trigger: Trigger) -> u64 {
    let revoked = so_far.slots_that_became(Phase::Revoked) != [None; 2];
    let spared = |token: &Token| token.phase == Phase::Live && !trigger.concerns(token.scope);
    seen(Witness::RevokedByTrigger, revoked)
        | seen(
            Witness::EndedWithSession,
            revoked && matches!(trigger, Trigger::SessionEnd(_)),
        )
        | seen(
            Witness::SparedByTrigger,
            so_far.state.slots_where(spared) != [None; 2],
        )
}

/// What a restart shows.
fn by_restart(so_far: &StepSoFar<'_>, store: Store) -> u64 {
    let any = |holds: fn(&Token) -> bool| so_far.before.slots_where(holds) != [None; 2];
    let stored = store == Store::Persistent;
    seen(
        Witness::KeptInRestart,
        stored && any(|token| token.phase == Phase::Live),
    ) | seen(
        Witness::StaysUsedInRestart,
        stored && any(|token| token.phase == Phase::Consumed),
    ) | seen(Witness::PerformanceLost, any(|token| token.to_run > 0))
        | seen(Witness::StoreLost, !stored)
}

/// What an output shows.
fn by_output(so_far: &StepSoFar<'_>, output: Output) -> u64 {
    match output {
        Output::Issued(slot) => {
            let purpose = so_far.state.token(slot).scope.purpose;
            seen(Witness::Issued, true)
                | seen(Witness::IssuedForQuota, purpose == Purpose::QuotaContinue)
        }
        Output::PerformUngated => seen(Witness::UngatedWithoutToken, so_far.call.is_none()),
        Output::Rejected(check) => match check {
            Check::Exists => Witness::RejectedExists.bit(),
            Check::NotRevoked => Witness::RejectedRevoked.bit(),
            Check::NotExpired => Witness::RejectedExpired.bit(),
            Check::NotUsed => Witness::RejectedUsed.bit(),
            Check::Purpose => Witness::RejectedPurpose.bit(),
            Check::Operation => Witness::RejectedOperation.bit(),
            Check::Parameters => Witness::RejectedParameters.bit(),
            Check::Adapter => Witness::RejectedAdapter.bit(),
            Check::Session => Witness::RejectedSession.bit(),
        },
        Output::NotRevoked => Witness::NothingToRevoke.bit(),
        Output::Warned(_) => Witness::Warned.bit(),
        Output::Refused(refusal) => match refusal {
            Refusal::LongLifetime => Witness::RefusedLongLifetime.bit(),
            Refusal::NoLifetime => Witness::RefusedNoLifetime.bit(),
            Refusal::LooseMultiUse => Witness::RefusedLooseMultiUse.bit(),
            Refusal::WideTolerance => Witness::RefusedTolerance.bit(),
        },
        Output::AnswerStatus(status) => match status {
            Status::Live { .. } => Witness::StatusLive.bit(),
            Status::Consumed | Status::Expired | Status::Revoked => Witness::StatusDead.bit(),
            Status::Unknown => seen(Witness::StatusHidden, so_far.before.is_uniform()),
        },
        Output::Validated(_)
        | Output::Revoked(_)
        | Output::Perform(_)
        | Output::ConfirmationRequired(_)
        | Output::Fail(_)
        | Output::AnswerRevocation
        | Output::Expose => 0,
    }
}
