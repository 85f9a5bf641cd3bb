//! Which invariants a step of the search breaks: what the text makes of it, and whether the party did that.
//!
//! The one thing to know: the judge consults neither [`super::rules::Rules`] nor [`super::readings::Reading`], and it does not
//! ask the ledger where an action stands: it reads the journal. Every record was judged when it was made, so that a ledger
//! with a rule left out, or one that takes the text another way, is held to the same measure.

use crate::properties::broken;
use crate::table::Tabled;

use super::action::Action;
use super::journal::{Journal, Record};
use super::known::{Known, Status};
use super::message::{Approved, Message};
use super::outbox::Item;
use super::output::{Event, Output};
use super::properties::Invariant;
use super::rules::Check;
use super::state::{Held, State};
use super::step::StepSoFar;
use super::witness::witnessed;
use super::words::{Arguments, Decider, Decision, Nonce, Note, SessionName, Slot, ToolStatus};

/// What the judge knows of a step besides the two states.
pub(super) struct Account {
    /// What the records say that the step could build on.
    pub(super) truth: Known,
    /// The greatest time that the ledger was told.
    pub(super) now: u8,
}

/// Marks what was broken by the step and says what was witnessed.
pub(super) fn judge(so_far: &mut StepSoFar<'_>, action: Action) -> u64 {
    let journal = match action {
        Action::Send { .. }
        | Action::Guess
        | Action::Duplicate { .. }
        | Action::Tick
        | Action::SetBack
        | Action::Snapshot => return 0,
        // A record that was not durable is as if never made.
        Action::Restart => so_far.before.journal.first(so_far.before.durable()),
        Action::Propose(_)
        | Action::ProposeFlawed(_)
        | Action::Deliver { .. }
        | Action::Apply { .. }
        | Action::Say
        | Action::FinishTool { .. }
        | Action::Cancel { .. }
        | Action::EndSession(_)
        | Action::CarryOut
        | Action::ServeTimer
        | Action::Rollback => so_far.before.journal,
    };
    let account = Account {
        truth: Known::of(journal, so_far.before.sessions()),
        now: so_far.state.latest,
    };
    so_far.state.broken |= judge_action(so_far, action, &account);
    if action.is_call() {
        so_far.state.broken |=
            judge_time(so_far, &account) | judge_releases(so_far, action, &account);
    }
    if so_far.state.outbox.is_empty() {
        so_far.state.broken |= judge_transcript(&so_far.state);
    }
    witnessed(so_far, action, &account)
}

/// What is broken by what the action was made for.
fn judge_action(so_far: &StepSoFar<'_>, action: Action, account: &Account) -> u64 {
    match action {
        Action::Propose(_) => judge_proposal(so_far, account),
        Action::ProposeFlawed(_) => broken(Invariant::WellFormed, proposed(so_far).is_some()),
        Action::Deliver { .. } | Action::Apply { .. } => so_far
            .message
            .map_or(0, |message| judge_decision(so_far, message, account)),
        Action::Say => broken(
            Invariant::TextResolvesNothing,
            resolved(so_far, account).is_some(),
        ),
        Action::FinishTool { slot, status } => judge_result(so_far, slot, status, account),
        Action::Cancel { slot } => broken(
            Invariant::OnlyPendingCancelled,
            so_far
                .required
                .contains(Output::Record(Record::Cancelled(slot)))
                && !account.is_pending(so_far, slot),
        ),
        Action::EndSession(session) => judge_end(so_far, session, account),
        Action::CarryOut => so_far
            .carried_out
            .map_or(0, |item| judge_carrying_out(so_far, item, &account.truth)),
        Action::Restart => judge_restart(so_far, account),
        Action::Rollback => broken(
            Invariant::SnapshotUndoesNothing,
            Slot::ALL
                .into_iter()
                .any(|slot| !is_known_as_recorded(so_far, slot, account)),
        ),
        Action::Send { .. }
        | Action::Guess
        | Action::Duplicate { .. }
        | Action::Tick
        | Action::SetBack
        | Action::ServeTimer
        | Action::Snapshot => 0,
    }
}

impl Account {
    /// PA-7: whether the action is pending by its records, and its time has come.
    fn is_due(&self, so_far: &StepSoFar<'_>, slot: Slot) -> bool {
        self.truth.standing(slot).status == Status::Pending
            && so_far.before.held(slot).is_past(self.now)
    }

    /// Whether the action is pending once what is due has expired.
    fn is_pending(&self, so_far: &StepSoFar<'_>, slot: Slot) -> bool {
        self.status(so_far, slot) == Status::Pending
    }

    /// Where the action stands once what is due has expired.
    fn status(&self, so_far: &StepSoFar<'_>, slot: Slot) -> Status {
        if self.is_due(so_far, slot) {
            Status::Expired
        } else {
            self.truth.standing(slot).status
        }
    }

    /// The first two checks that the decision fails, in their order.
    pub(super) fn failed(&self, so_far: &StepSoFar<'_>, message: Message) -> [Option<Check>; 2] {
        let known = message
            .id
            .filter(|&slot| self.status(so_far, slot) != Status::Unknown);
        let Some(slot) = known else {
            return [Some(Check::Known), None];
        };
        let held = so_far.before.held(slot);
        let status = self.status(so_far, slot);
        let expired = status == Status::Expired;
        let edited = message.approved == Approved::Edited;
        let checks = [
            (message.nonce == Nonce::Wrong, Check::Nonce),
            (!may_decide(held, message.by), Check::Entitled),
            (expired, Check::NotExpired),
            (status.is_final() && !expired, Check::Unresolved),
            (
                edited && message.decision == Decision::Allow,
                Check::Arguments,
            ),
        ];
        let mut failed = checks.iter().filter(|(fails, _)| *fails);
        [failed.next(), failed.next()].map(|found| found.map(|&(_, check)| check))
    }
}

/// PA-2: whether the decider is on the action's list, or there is none.
fn may_decide(held: &Held, by: Decider) -> bool {
    held.by_anyone || by == Decider::Owner
}

/// The invariant that a decision breaks by being honoured though it fails this check.
const fn without_effect(check: Check) -> Invariant {
    match check {
        Check::Known => Invariant::UnknownWithoutEffect,
        Check::Nonce => Invariant::OtherNonceWithoutEffect,
        Check::Entitled => Invariant::StrangerWithoutEffect,
        Check::NotExpired | Check::Unresolved => Invariant::FirstDecisionStands,
        Check::Arguments => Invariant::EditedWithoutEffect,
    }
}

// What the outputs say.

/// The slot that the step has filled.
fn proposed(so_far: &StepSoFar<'_>) -> Option<Slot> {
    Slot::ALL.into_iter().find(|&slot| {
        so_far
            .required
            .contains(Output::Record(Record::Proposed(slot)))
    })
}

/// The first action that the step resolves, apart from what is due and expires.
fn resolved(so_far: &StepSoFar<'_>, account: &Account) -> Option<Slot> {
    so_far.required.iter().find_map(|output| {
        let Output::Record(record) = output else {
            return None;
        };
        let slot = record.resolves()?;
        (!account.is_due(so_far, slot) || decided(record)).then_some(slot)
    })
}

/// Whether the record is that of somebody's decision.
const fn decided(record: Record) -> bool {
    matches!(record, Record::Decided { by: Some(_), .. })
}

/// How often a run of this action's tool comes out.
fn releases(so_far: &StepSoFar<'_>, slot: Slot) -> usize {
    let runs = so_far.required.iter();
    runs.filter(|output| matches!(output, Output::Perform(other, _) if *other == slot))
        .count()
}

// Whether the ledger did what the text says.

/// What is broken by what became of a proposal.
fn judge_proposal(so_far: &StepSoFar<'_>, account: &Account) -> u64 {
    let Some(slot) = proposed(so_far) else {
        return 0;
    };
    let held = so_far.state.held(slot);
    broken(
        Invariant::NothingProposedAfterEnd,
        account.truth.has_ended(held.session),
    ) | broken(Invariant::ExpiryInFuture, held.is_past(account.now))
        | broken(
            Invariant::EveryCallPends,
            so_far.state.status(slot) != Status::Pending,
        )
        | broken(
            Invariant::VisibleKeeps,
            so_far.required.contains(Output::Expose(slot)),
        )
}

/// What is broken by what became of a decision.
fn judge_decision(so_far: &StepSoFar<'_>, message: Message, account: &Account) -> u64 {
    let failed = account.failed(so_far, message);
    let mut audits = so_far.required.iter().filter_map(|output| {
        let Output::Audit(check) = output else {
            return None;
        };
        Some(check)
    });
    let audit = audits.next();
    match resolved(so_far, account) {
        Some(slot) if audit.is_none() => judge_honoured(so_far, message, slot, failed),
        None if audit.is_none() && so_far.state.validated.len() > so_far.before.validated.len() => {
            0
        }
        changed => {
            broken(Invariant::IgnoredChangesNothing, changed.is_some())
                | broken(Invariant::ValidResolves, failed == [None; 2])
                | broken(
                    Invariant::IgnoredAudited,
                    audit.is_none() || audits.next().is_some(),
                )
                | broken(
                    Invariant::AuditNamesCheck,
                    audit.is_some_and(|check| failed[0] != Some(check)),
                )
        }
    }
}

/// What is broken by resolving this action by the decision.
fn judge_honoured(
    so_far: &StepSoFar<'_>,
    message: Message,
    slot: Slot,
    failed: [Option<Check>; 2],
) -> u64 {
    let event = Event::Decided(message.decision);
    let emitted = so_far.required.count(Output::Event(event, slot)) == 1;
    let mut marks = broken(
        Invariant::MatchedById,
        message.id.is_some_and(|id| id != slot),
    ) | broken(Invariant::DecisionEmitted, !emitted);
    for check in failed.into_iter().flatten() {
        marks |= without_effect(check).bit();
    }
    marks
}

/// What is broken by what became of a result.
fn judge_result(so_far: &StepSoFar<'_>, slot: Slot, status: ToolStatus, account: &Account) -> u64 {
    let taken = so_far.required.iter().any(
        |output| matches!(output, Output::Record(Record::Finished(other, _)) if other == slot),
    );
    let standing = account.truth.standing(slot);
    broken(
        Invariant::OnlyReleasedFinishes,
        taken && standing.status != Status::Accepted,
    ) | broken(Invariant::OneResult, taken && standing.finished.is_some())
        | broken(
            Invariant::NotRunNeverRan,
            taken && status == ToolStatus::NotRun && so_far.before.held(slot).runs > 0,
        )
}

/// What is broken by the end of a session.
fn judge_end(so_far: &StepSoFar<'_>, session: SessionName, account: &Account) -> u64 {
    let outlives = |slot: Slot| {
        account.is_pending(so_far, slot)
            && so_far.before.held(slot).session == session
            && so_far.state.status(slot) == Status::Pending
    };
    broken(
        Invariant::SessionEndCancels,
        Slot::ALL.into_iter().any(outlives),
    )
}

/// What is broken when the host has carried an item out; `truth` is what all records say, durable or not.
fn judge_carrying_out(so_far: &StepSoFar<'_>, item: Item, truth: &Known) -> u64 {
    match item {
        Item::Record => 0,
        Item::Tell(note, slot) => {
            let held = so_far.state.held(slot);
            broken(
                Invariant::RecordedFirst,
                !is_durable(so_far.before, note, slot),
            ) | broken(
                Invariant::OneFinalMessage,
                (held.told & Note::FINAL).count_ones() > 1,
            ) | broken(
                Invariant::NothingBehindEnd,
                is_behind_end(so_far.before.held(slot), note),
            )
        }
        Item::Perform(slot, _) => {
            let held = so_far.state.held(slot);
            broken(
                Invariant::RecordedFirst,
                !is_durable(so_far.before, Note::Call, slot),
            ) | broken(Invariant::CallTold, !held.is_told(Note::Call))
                | broken(Invariant::RunsAtMostOnce, held.runs > 1 && !held.idempotent)
                | broken(
                    Invariant::NotRunNeverRan,
                    truth.standing(slot).finished == Some(ToolStatus::NotRun),
                )
                | broken(
                    Invariant::NothingBeginsAfterEnd,
                    truth.has_ended(held.session),
                )
        }
    }
}

/// Whether the message opens or releases an action whose end the transcript tells already. What is told again stands where it
/// stood.
const fn is_behind_end(before: &Held, note: Note) -> bool {
    let ends = note.bit() & Note::FINAL != 0;
    !ends && !before.is_told(note) && before.told & Note::FINAL != 0
}

/// Whether a durable record says what the message tells.
fn is_durable(state: &State, note: Note, slot: Slot) -> bool {
    let journal: Journal = state.journal.first(state.durable());
    let session = state.held(slot).session;
    journal.items().any(|entry| match (note, entry.record) {
        (Note::Request, Record::Proposed(other))
        | (Note::Expired, Record::Expired(other))
        | (Note::Cancelled, Record::Cancelled(other))
        | (Note::Result(_), Record::Finished(other, _)) => other == slot,
        (Note::Call | Note::Denied, record @ Record::Decided { decision, .. }) => {
            let told = match decision {
                Decision::Allow => Note::Call,
                Decision::Deny => Note::Denied,
            };
            record.resolves() == Some(slot) && told == note
        }
        (Note::Cancelled, Record::SessionEnded(ended)) => ended == session,
        (
            Note::Request
            | Note::Call
            | Note::Denied
            | Note::Expired
            | Note::Cancelled
            | Note::Result(_),
            Record::Proposed(_)
            | Record::Decided { .. }
            | Record::Expired(_)
            | Record::Cancelled(_)
            | Record::Finished(..)
            | Record::SessionEnded(_),
        ) => false,
    })
}

/// What is broken by a restart.
fn judge_restart(so_far: &StepSoFar<'_>, account: &Account) -> u64 {
    Slot::ALL.into_iter().fold(0, |marks, slot| {
        let held = so_far.before.held(slot);
        let unfinished = account.truth.standing(slot).is_unfinished();
        let ended = account.truth.has_ended(held.session);
        let again = held.idempotent && !ended;
        let released = releases(so_far, slot);
        let doubted = so_far.required.count(Output::InDoubt(slot));
        marks
            | broken(
                Invariant::NothingLost,
                !is_known_as_recorded(so_far, slot, account),
            )
            | broken(
                Invariant::RunsAtLeastOnce,
                unfinished && again && released == 0,
            )
            | broken(
                Invariant::OnlyDeclaredAgain,
                unfinished && !held.idempotent && released > 0,
            )
            | broken(
                Invariant::NothingBeginsAfterEnd,
                unfinished && ended && released > 0,
            )
            | broken(
                Invariant::InDoubtTold,
                doubted != usize::from(unfinished && !again),
            )
    })
}

/// Whether the ledger knows of an action what its records say.
fn is_known_as_recorded(so_far: &StepSoFar<'_>, slot: Slot, account: &Account) -> bool {
    let known = so_far.state.known.standing(slot);
    let recorded = account.truth.standing(slot);
    // Whether what is due has expired is judged in every call.
    let same = known.status == recorded.status || account.is_due(so_far, slot);
    same && known.finished == recorded.finished
}

/// What is broken by what expires, or does not, in any call.
fn judge_time(so_far: &StepSoFar<'_>, account: &Account) -> u64 {
    Slot::ALL.into_iter().fold(0, |marks, slot| {
        let due = account.is_due(so_far, slot);
        let expires = so_far
            .required
            .contains(Output::Record(Record::Expired(slot)));
        let denied = Record::Decided {
            slot,
            decision: Decision::Deny,
            by: None,
        };
        marks
            | broken(
                Invariant::DueExpires,
                due && so_far.state.status(slot) == Status::Pending,
            )
            | broken(Invariant::NothingExpiresEarly, expires && !due)
            | broken(
                Invariant::ExpiryIsNoDenial,
                due && so_far.required.contains(Output::Record(denied)),
            )
    })
}

/// What is broken by what comes out to be run, in any call.
fn judge_releases(so_far: &StepSoFar<'_>, action: Action, account: &Account) -> u64 {
    so_far.required.iter().fold(0, |marks, output| {
        let Output::Perform(slot, arguments) = output else {
            return marks;
        };
        let status = account.status(so_far, slot);
        let by_decision = matches!(action, Action::Deliver { .. } | Action::Apply { .. });
        let unasked = !by_decision && action != Action::Restart;
        let stranger = so_far
            .message
            .is_some_and(|message| !may_decide(so_far.before.held(slot), message.by));
        marks
            | broken(Invariant::RunsOnlyAllowed, unasked || stranger)
            | broken(Invariant::ExactArguments, arguments != Arguments::Original)
            | broken(
                Invariant::ReleasedOnce,
                releases(so_far, slot) > 1 || by_decision && status == Status::Accepted,
            )
            | released_after(status)
    })
}

/// What is broken by releasing an action that stands so.
fn released_after(status: Status) -> u64 {
    match status {
        Status::Unknown | Status::Pending | Status::Accepted => 0,
        Status::Rejected => Invariant::DeniedNeverReleased.bit(),
        Status::Expired => Invariant::ExpiredNeverReleased.bit(),
        Status::Cancelled | Status::SessionOver => Invariant::CancelledNeverReleased.bit(),
    }
}

/// What is broken by a transcript to which nothing is to be added: it tells what the records say, no less and no more.
fn judge_transcript(state: &State) -> u64 {
    let truth = Known::of(state.journal, state.sessions());
    Slot::ALL.into_iter().fold(0, |marks, slot| {
        let expected = notes(&truth, slot);
        let told = state.held(slot).told;
        let missing = |note: u8| expected & !told & note != 0;
        marks
            | broken(Invariant::TranscriptTells, told != expected)
            | broken(Invariant::RequestTold, missing(Note::Request.bit()))
            | broken(Invariant::CallTold, missing(Note::Call.bit()))
            | broken(Invariant::ResultTold, missing(RESULT))
            | broken(Invariant::DenialTold, missing(Note::Denied.bit()))
            | broken(Invariant::ExpiryTold, missing(Note::Expired.bit()))
            | broken(Invariant::CancellationTold, missing(Note::Cancelled.bit()))
    })
}

/// The messages that tell what the records say of an action.
fn notes(truth: &Known, slot: Slot) -> u8 {
    let standing = truth.standing(slot);
    let resolution = match standing.status {
        Status::Unknown => return 0,
        Status::Pending => 0,
        Status::Accepted if standing.finished.is_some() => Note::Call.bit() | RESULT,
        Status::Accepted => Note::Call.bit(),
        Status::Rejected => Note::Denied.bit(),
        Status::Expired => Note::Expired.bit(),
        Status::Cancelled | Status::SessionOver => Note::Cancelled.bit(),
    };
    Note::Request.bit() | resolution
}

/// The tool's result, whatever its status.
const RESULT: u8 = Note::Result(ToolStatus::Success).bit();
