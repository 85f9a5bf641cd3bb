//! What has to be possible, so that no invariant holds for want of anything to judge.
//!
//! The one thing to know: a witness is seen on a step, beside the search and never in the state.

use crate::properties::seen;
use crate::table::Tabled;

use super::action::Action;
use super::known::Status;
use super::marks::Account;
use super::message::{Approved, Message};
use super::outbox::Item;
use super::output::{Event, Output};
use super::rules::{Check, Refusal};
use super::step::StepSoFar;
use super::words::{Decider, Decision, Effect, Note, Slot, ToolStatus};

/// Something that has to be possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// A call is proposed and pends.
    Requested,
    /// A call that only reads pends.
    PendsRead,
    /// An allow releases its call.
    Allowed,
    /// Somebody who is on no list allows an action that has none.
    AllowedByAnyone,
    /// An allow is honoured whose arguments mean the same in other bytes.
    AllowedAlike,
    /// An action is allowed while another is pending.
    AllowedBesideAnother,
    /// An action is allowed a tick before it expires.
    AllowedAtTheLast,
    /// A deny rejects its call.
    Denied,
    /// A deny is honoured whatever arguments it gives.
    DeniedDespiteEdits,
    /// Of an allow and a deny under way at once the first counts.
    Raced,
    /// Of two allows under way at once the first counts.
    RacedAllows,
    /// An action expires.
    Expired,
    /// Two actions expire in one call.
    BothExpired,
    /// A call comes at an earlier time than the ledger has seen.
    ClockSetBack,
    /// The host cancels an action.
    Cancelled,
    /// A session ends with an action pending.
    EndedPending,
    /// A session ends and an action of the other stays pending.
    SparedByEnd,
    /// A call that was released and has not begun is withdrawn.
    Withdrawn,
    /// A call that was released again is withdrawn, and it had begun before the crash.
    RepeatWithdrawn,
    /// A call that was allowed runs.
    Ran,
    /// A call that is declared idempotent runs a second time.
    RanAgain,
    /// A tool is done and its result told.
    Finished,
    /// A released call is found never to have run.
    FinishedNotRun,
    /// A decision is ignored: its id is unknown.
    IgnoredKnown,
    /// A decision is ignored: its nonce is another.
    IgnoredNonce,
    /// A decision is ignored: its decider may not decide.
    IgnoredEntitled,
    /// A decision is ignored: the action has expired.
    IgnoredExpired,
    /// A decision is ignored: the action is resolved.
    IgnoredUnresolved,
    /// A decision is ignored: its arguments are others.
    IgnoredArguments,
    /// A decision fails two checks, and the first is told.
    IgnoredTwice,
    /// What is pending outlasts a restart.
    KeptInRestart,
    /// A decision whose record was not durable is as if never made.
    LostInRestart,
    /// A proposal whose record was not durable is as if never made.
    ProposalLost,
    /// What was released and has run is in doubt after a restart.
    InDoubt,
    /// What was released and has not run is in doubt after a restart.
    InDoubtUnrun,
    /// What was declared idempotent is in doubt after a restart, as its session has ended.
    InDoubtOver,
    /// What was released and is declared idempotent is released again after a restart.
    ReleasedAgain,
    /// What was recorded and not told is told after a restart.
    ToldAgain,
    /// What was told already is told again after a restart, and stands once.
    ToldTwice,
    /// A restart tells a request, and behind it that its action has expired.
    ExpiredBehindRequest,
    /// A snapshot is loaded that lacks what was recorded since.
    RolledBack,
    /// Free text comes while an action is pending.
    SaidWhilePending,
    /// A proposal is refused: it is not well-formed.
    RefusedMalformed,
    /// A proposal is refused: its session has ended.
    RefusedSessionOver,
    /// A proposal is refused: it would have expired already.
    RefusedNotInFuture,
    /// A call is refused: the action is unknown.
    RefusedUnknown,
    /// A call is refused: the action has expired.
    RefusedExpired,
    /// A call is refused: the action is resolved, or has its result.
    RefusedResolved,
    /// A result is refused: the action is pending.
    RefusedUndecided,
    /// A result is refused: the action was denied or cancelled.
    RefusedNotReleased,
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
pub static WITNESSES: [WitnessRow; 50] = [
    WitnessRow::new(
        Witness::Requested,
        "PA-1 a call is proposed and pends",
        &["PA-1", "PA-9", "PA-14"],
    ),
    WitnessRow::new(
        Witness::PendsRead,
        "PA-13 a call that only reads pends",
        &["PA-13", "PA-14"],
    ),
    WitnessRow::new(
        Witness::Allowed,
        "PA-3 an allow releases its call",
        &["PA-2", "PA-3"],
    ),
    WitnessRow::new(
        Witness::AllowedByAnyone,
        "PA-2 somebody who is on no list allows an action that has none",
        &["PA-2"],
    ),
    WitnessRow::new(
        Witness::AllowedAlike,
        "PA-3 an allow is honoured whose arguments mean the same in other bytes",
        &["PA-3"],
    ),
    WitnessRow::new(
        Witness::AllowedBesideAnother,
        "PA-1 an action is allowed while another is pending",
        &["PA-1"],
    ),
    WitnessRow::new(
        Witness::AllowedAtTheLast,
        "PA-7 an action is allowed a tick before it expires",
        &["PA-7"],
    ),
    WitnessRow::new(
        Witness::Denied,
        "PA-5 a deny rejects its call",
        &["PA-5", "PA-6"],
    ),
    WitnessRow::new(
        Witness::DeniedDespiteEdits,
        "PA-5 a deny is honoured whatever arguments it gives",
        &["PA-5", "PA-3"],
    ),
    WitnessRow::new(
        Witness::Raced,
        "PA-8 of an allow and a deny under way at once the first counts",
        &["PA-8"],
    ),
    WitnessRow::new(
        Witness::RacedAllows,
        "PA-8 of two allows under way at once the first counts",
        &["PA-8"],
    ),
    WitnessRow::new(Witness::Expired, "PA-7 an action expires", &["PA-7"]),
    WitnessRow::new(
        Witness::BothExpired,
        "PA-7 two actions expire in one call",
        &["PA-7"],
    ),
    WitnessRow::new(
        Witness::ClockSetBack,
        "PA-7 a call comes at an earlier time than the ledger has seen",
        &["PA-7"],
    ),
    WitnessRow::new(
        Witness::Cancelled,
        "PA-5 the host cancels an action",
        &["PA-5"],
    ),
    WitnessRow::new(
        Witness::EndedPending,
        "PA-5 a session ends with an action pending",
        &["PA-5"],
    ),
    WitnessRow::new(
        Witness::SparedByEnd,
        "PA-5 a session ends and an action of the other stays pending",
        &["PA-5"],
    ),
    WitnessRow::new(
        Witness::Withdrawn,
        "PA-5 a call that was released and has not begun is withdrawn",
        &["PA-5"],
    ),
    WitnessRow::new(
        Witness::RepeatWithdrawn,
        "PA-5 a call that was released again is withdrawn and had begun before the crash",
        &["PA-5", "PA-10"],
    ),
    WitnessRow::new(
        Witness::Ran,
        "PA-3 a call that was allowed runs",
        &["PA-3", "PA-4"],
    ),
    WitnessRow::new(
        Witness::RanAgain,
        "PA-3 a call that is declared idempotent runs a second time",
        &["PA-3"],
    ),
    WitnessRow::new(
        Witness::Finished,
        "PA-4 a tool is done and its result told",
        &["PA-4", "PA-10"],
    ),
    WitnessRow::new(
        Witness::FinishedNotRun,
        "PA-4 a released call is found never to have run",
        &["PA-4"],
    ),
    WitnessRow::new(
        Witness::IgnoredKnown,
        "PA-1 a decision is ignored: its id is unknown",
        &["PA-1"],
    ),
    WitnessRow::new(
        Witness::IgnoredNonce,
        "PA-1 a decision is ignored: its nonce is another",
        &["PA-1"],
    ),
    WitnessRow::new(
        Witness::IgnoredEntitled,
        "PA-2 a decision is ignored: its decider may not decide",
        &["PA-2"],
    ),
    WitnessRow::new(
        Witness::IgnoredExpired,
        "PA-7 a decision is ignored: the action has expired",
        &["PA-7"],
    ),
    WitnessRow::new(
        Witness::IgnoredUnresolved,
        "PA-8 a decision is ignored: the action is resolved",
        &["PA-8"],
    ),
    WitnessRow::new(
        Witness::IgnoredArguments,
        "PA-3 a decision is ignored: its arguments are others",
        &["PA-3"],
    ),
    WitnessRow::new(
        Witness::IgnoredTwice,
        "PA-10 a decision fails two checks and the first is told",
        &["PA-10"],
    ),
    WitnessRow::new(
        Witness::KeptInRestart,
        "PA-1 what is pending outlasts a restart",
        &["PA-1"],
    ),
    WitnessRow::new(
        Witness::LostInRestart,
        "PA-1 a decision whose record was not durable is as if never made",
        &["PA-1"],
    ),
    WitnessRow::new(
        Witness::ProposalLost,
        "PA-1 a proposal whose record was not durable is as if never made",
        &["PA-1"],
    ),
    WitnessRow::new(
        Witness::InDoubt,
        "PA-10 what was released and has run is in doubt after a restart",
        &["PA-10", "PA-8"],
    ),
    WitnessRow::new(
        Witness::InDoubtUnrun,
        "PA-10 what was released and has not run is in doubt after a restart",
        &["PA-10", "PA-8"],
    ),
    WitnessRow::new(
        Witness::InDoubtOver,
        "PA-5 what was declared idempotent is in doubt after a restart, as its session has ended",
        &["PA-5"],
    ),
    WitnessRow::new(
        Witness::ReleasedAgain,
        "PA-3 what is declared idempotent is released again after a restart",
        &["PA-3"],
    ),
    WitnessRow::new(
        Witness::ToldAgain,
        "PA-10 what was recorded and not told is told after a restart",
        &["PA-10"],
    ),
    WitnessRow::new(
        Witness::ToldTwice,
        "PA-10 what was told already is told again after a restart, and stands once",
        &["PA-10"],
    ),
    WitnessRow::new(
        Witness::ExpiredBehindRequest,
        "PA-10 a restart tells a request and behind it that its action has expired",
        &["PA-10"],
    ),
    WitnessRow::new(
        Witness::RolledBack,
        "PA-8 a snapshot is loaded that lacks what was recorded since",
        &["PA-8"],
    ),
    WitnessRow::new(
        Witness::SaidWhilePending,
        "PA-11 free text comes while an action is pending",
        &["PA-11"],
    ),
    WitnessRow::new(
        Witness::RefusedMalformed,
        "PA-1 a proposal is refused: it is not well-formed",
        &["PA-1", "PA-2", "PA-3", "PA-9"],
    ),
    WitnessRow::new(
        Witness::RefusedSessionOver,
        "PA-5 a proposal is refused: its session has ended",
        &["PA-5"],
    ),
    WitnessRow::new(
        Witness::RefusedNotInFuture,
        "PA-7 a proposal is refused: it would have expired already",
        &["PA-7"],
    ),
    WitnessRow::new(
        Witness::RefusedUnknown,
        "PA-1 a call is refused: the action is unknown",
        &["PA-1"],
    ),
    WitnessRow::new(
        Witness::RefusedExpired,
        "PA-7 a call is refused: the action has expired",
        &["PA-7"],
    ),
    WitnessRow::new(
        Witness::RefusedResolved,
        "PA-8 a call is refused: the action is resolved, or has its result",
        &["PA-8"],
    ),
    WitnessRow::new(
        Witness::RefusedUndecided,
        "PA-3 a result is refused: the action is pending",
        &["PA-3"],
    ),
    WitnessRow::new(
        Witness::RefusedNotReleased,
        "PA-5 a result is refused: the action was denied or cancelled",
        &["PA-5"],
    ),
];

/// Everything that the step witnesses.
pub(super) fn witnessed(so_far: &StepSoFar<'_>, action: Action, account: &Account) -> u64 {
    let by_output = so_far
        .required
        .iter()
        .fold(0, |bits, output| bits | by_output(so_far, output));
    let by_action = match action {
        Action::Propose(_) => by_proposal(so_far),
        Action::Deliver { .. } | Action::Apply { .. } => so_far
            .message
            .map_or(0, |message| by_decision(so_far, message, account)),
        Action::Say => seen(Witness::SaidWhilePending, so_far.has(Status::Pending)),
        Action::EndSession(session) => {
            let spared = |slot: Slot| {
                so_far.state.status(slot) == Status::Pending
                    && so_far.state.held(slot).session != session
            };
            seen(
                Witness::SparedByEnd,
                !so_far.required.is_empty() && Slot::ALL.into_iter().any(spared),
            )
        }
        Action::CarryOut => so_far
            .carried_out
            .map_or(0, |item| by_carrying_out(so_far, item)),
        Action::Restart => by_restart(so_far, account),
        Action::Rollback => Witness::RolledBack.bit(),
        Action::ProposeFlawed(_)
        | Action::Send { .. }
        | Action::Guess
        | Action::Duplicate { .. }
        | Action::FinishTool { .. }
        | Action::Cancel { .. }
        | Action::Tick
        | Action::SetBack
        | Action::ServeTimer
        | Action::Snapshot => 0,
    };
    let expiries = so_far.required.iter();
    let both = expiries.filter(|output| matches!(output, Output::Event(Event::Expired, _)));
    by_output
        | by_action
        | seen(Witness::BothExpired, both.count() > 1)
        | seen(
            Witness::ClockSetBack,
            action.is_call() && so_far.before.clock < so_far.state.latest,
        )
}

/// What a proposal that was taken shows.
fn by_proposal(so_far: &StepSoFar<'_>) -> u64 {
    let created = |slot| {
        so_far
            .required
            .contains(Output::Event(Event::Created, slot))
    };
    let read = |slot| so_far.state.held(slot).effect == Effect::Read;
    let reads = |slot: Slot| created(slot) && read(slot);
    seen(Witness::Requested, Slot::ALL.into_iter().any(created))
        | seen(Witness::PendsRead, Slot::ALL.into_iter().any(reads))
}

/// What a decision shows.
fn by_decision(so_far: &StepSoFar<'_>, message: Message, account: &Account) -> u64 {
    let Some(slot) = message.id else {
        return 0;
    };
    let held = so_far.before.held(slot);
    if so_far.ignored.is_some() {
        let [_, failed] = account.failed(so_far, message);
        return seen(Witness::IgnoredTwice, failed.is_some());
    }
    let other = |wanted: Decision| {
        let mut under_way = so_far.state.network.messages();
        under_way.any(|other| other.id == Some(slot) && other.decision == wanted)
    };
    let pending = so_far.before.status(slot.other()) == Status::Pending;
    match message.decision {
        Decision::Allow => {
            seen(Witness::AllowedByAnyone, message.by == Decider::Stranger)
                | seen(Witness::AllowedAlike, message.approved == Approved::Alike)
                | seen(Witness::AllowedBesideAnother, pending)
                | seen(Witness::AllowedAtTheLast, held.expires == account.now + 1)
                | seen(Witness::Raced, other(Decision::Deny))
                | seen(Witness::RacedAllows, other(Decision::Allow))
        }
        Decision::Deny => {
            let edited = message.approved == Approved::Edited;
            seen(Witness::DeniedDespiteEdits, edited) | seen(Witness::Raced, other(Decision::Allow))
        }
    }
}

/// What the carrying out of an item shows.
fn by_carrying_out(so_far: &StepSoFar<'_>, item: Item) -> u64 {
    match item {
        Item::Record => 0,
        Item::Tell(note, slot) => {
            let before = so_far.before.held(slot);
            seen(Witness::ToldTwice, before.is_told(note))
        }
        Item::Perform(slot, _) => {
            let runs = so_far.state.held(slot).runs;
            seen(Witness::Ran, runs == 1) | seen(Witness::RanAgain, runs == 2)
        }
    }
}

/// What a restart shows.
fn by_restart(so_far: &StepSoFar<'_>, account: &Account) -> u64 {
    let any = |holds: &dyn Fn(Slot) -> bool| Slot::ALL.into_iter().any(holds);
    let was = |slot: Slot| so_far.before.status(slot);
    let is = |slot: Slot| so_far.state.status(slot);
    let decided = |status| matches!(status, Status::Accepted | Status::Rejected);
    let pending = |slot| account.truth.standing(slot).status == Status::Pending;
    let told = |output: Output| matches!(output, Output::Append(note, _) if note != Note::Expired);
    let expired_behind_request = |slot: Slot| {
        let mut untold = so_far.required.iter();
        untold.any(|output| output == Output::Append(Note::Request, slot))
            && untold.any(|output| output == Output::Append(Note::Expired, slot))
    };
    seen(
        Witness::KeptInRestart,
        any(&|slot| is(slot) == Status::Pending),
    ) | seen(
        Witness::LostInRestart,
        any(&|slot| decided(was(slot)) && pending(slot)),
    ) | seen(
        Witness::ProposalLost,
        any(&|slot| was(slot) != Status::Unknown && is(slot) == Status::Unknown),
    ) | seen(Witness::ToldAgain, so_far.required.iter().any(told))
        | seen(Witness::ExpiredBehindRequest, any(&expired_behind_request))
}

/// What an output shows.
fn by_output(so_far: &StepSoFar<'_>, output: Output) -> u64 {
    match output {
        Output::Event(event, _) => match event {
            Event::Decided(Decision::Allow) => Witness::Allowed.bit(),
            Event::Denied => Witness::Denied.bit(),
            Event::Expired => Witness::Expired.bit(),
            Event::Cancelled => {
                seen(Witness::Cancelled, so_far.has(Status::Cancelled))
                    | seen(Witness::EndedPending, so_far.has(Status::SessionOver))
            }
            Event::Executed(ToolStatus::NotRun) => Witness::FinishedNotRun.bit(),
            Event::Executed(ToolStatus::Success | ToolStatus::Error) => Witness::Finished.bit(),
            Event::Created | Event::Decided(Decision::Deny) => 0,
        },
        Output::Withdraw(slot) => {
            let waits = so_far.before.outbox.performs(slot);
            let began = so_far.before.held(slot).runs > 0;
            seen(Witness::Withdrawn, waits) | seen(Witness::RepeatWithdrawn, waits && began)
        }
        Output::InDoubt(slot) => {
            let held = so_far.before.held(slot);
            seen(Witness::InDoubt, held.runs > 0)
                | seen(Witness::InDoubtUnrun, held.runs == 0)
                | seen(Witness::InDoubtOver, held.idempotent)
        }
        Output::Perform(_, _) => seen(Witness::ReleasedAgain, so_far.message.is_none()),
        Output::Audit(check) => match check {
            Check::Known => Witness::IgnoredKnown.bit(),
            Check::Nonce => Witness::IgnoredNonce.bit(),
            Check::Entitled => Witness::IgnoredEntitled.bit(),
            Check::NotExpired => Witness::IgnoredExpired.bit(),
            Check::Unresolved => Witness::IgnoredUnresolved.bit(),
            Check::Arguments => Witness::IgnoredArguments.bit(),
        },
        Output::Refused(refusal) => match refusal {
            Refusal::Malformed(_) => Witness::RefusedMalformed.bit(),
            Refusal::SessionOver => Witness::RefusedSessionOver.bit(),
            Refusal::NotInFuture => Witness::RefusedNotInFuture.bit(),
            Refusal::Unknown => Witness::RefusedUnknown.bit(),
            Refusal::Expired => Witness::RefusedExpired.bit(),
            Refusal::Resolved => Witness::RefusedResolved.bit(),
            Refusal::Undecided => Witness::RefusedUndecided.bit(),
            Refusal::NotReleased => Witness::RefusedNotReleased.bit(),
        },
        Output::Record(_) | Output::Append(..) | Output::Expose(_) | Output::AppendText => 0,
    }
}

impl StepSoFar<'_> {
    /// Whether any action stands so after the step.
    fn has(&self, status: Status) -> bool {
        let stands = |_: &_, standing: super::known::Standing| standing.status == status;
        self.state.slots_where(stands) != [None; 2]
    }
}
