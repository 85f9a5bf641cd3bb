//! From the executor to the model's words: what it holds.
//!
//! The one thing to know: what the executor holds is what follows from its records, to the last field, and is
//! [`Unexplained`] otherwise. Of what the quotient has made alike the model's word stands.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use countersign_model::pending_action::known::{Standing, Status as Word};
use countersign_model::pending_action::state::{Ledger, LedgerAction, NEVER, State};
use countersign_model::pending_action::words::{Effect, SLOTS, Slot};
use countersign_model::time;
use countersign_reference::pending_action as executor;
use countersign_reference::pending_action::{
    Action, CancelReason, Entry, ExpiryBoundary, Run, Status,
};
use countersign_reference::time::Timestamp;

use super::concrete::{SESSIONS, moment, session};
use super::records::{decider, status, tool_status};
use super::{Asked, Host};
use crate::{Unexplained, unexplained};

/// The abstraction function: what the executor holds, as the ledger's part of the model state `next`, which is literal or
/// quotiented.
///
/// # Errors
///
/// [`Unexplained`] where it holds something that does not follow from its records.
pub(super) fn ledger(host: &Host, next: &State, is_literal: bool) -> Result<Ledger, Unexplained> {
    check_counts(host)?;
    let latest = moment(host.now).ok_or_else(|| unexplained("PA-7", "the time of a call"))?;
    let mut ledger = Ledger {
        latest,
        ended: SESSIONS.map(|name| host.has_ended(name)),
        actions: [None; SLOTS],
    };
    let mut held = host.ledger.actions().iter();
    for slot in Slot::ALL {
        let Some(asked) = host.asked[slot.index()].as_deref() else {
            continue;
        };
        let Some(wanted) = status(&host.journal, asked.id) else {
            continue;
        };
        // In the order of creation, and nothing else.
        let found = held.next().filter(|action| action.action_id == asked.id);
        let found = found.ok_or_else(|| unexplained("PA-1", asked.action_id.as_str()))?;
        ledger.actions[slot.index()] = Some(action(asked, found, &wanted)?);
    }
    if held.next().is_some() {
        return Err(unexplained("PA-1", "no action that was not proposed"));
    }
    if !is_literal {
        forget(&mut ledger, next);
    }
    Ok(ledger)
}

/// The time, the numbers of records, and the sessions.
fn check_counts(host: &Host) -> Result<(), Unexplained> {
    let ended: BTreeSet<&str> = ended(host).collect();
    let found = host.ledger.ended_sessions();
    let found: BTreeSet<&str> = found.iter().map(executor::SessionId::as_str).collect();
    let recorded = host.journal.len() as u64;
    let carried = usize::try_from(host.carried).unwrap_or(usize::MAX);
    let uncarried = host.journal.iter().skip(carried).map(|record| &**record);
    let held = [
        (
            host.ledger.now() == host.now,
            "PA-7",
            format!("{}", host.now),
        ),
        (
            host.ledger.recorded() == recorded,
            "PA-1",
            format!("{recorded} records"),
        ),
        (
            host.ledger.watermark() == host.carried,
            "PA-10",
            format!("{} records carried out", host.carried),
        ),
        (
            host.ledger.uncarried().eq(uncarried),
            "PA-10",
            format!("the records after number {carried}"),
        ),
        (found == ended, "PA-5", format!("{ended:?} ended")),
    ];
    match held.into_iter().find(|(holds, ..)| !holds) {
        Some((_, clause, text)) => Err(unexplained(clause, text)),
        None => Ok(()),
    }
}

/// The sessions that have ended by the journal.
pub(super) fn ended(host: &Host) -> impl Iterator<Item = &str> {
    host.journal
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::SessionEnded { session_id, .. } => Some(session_id.as_str()),
            Entry::Proposed { .. }
            | Entry::Decided { .. }
            | Entry::Expired { .. }
            | Entry::Cancelled { .. }
            | Entry::Finished { .. }
            | Entry::Said { .. } => None,
        })
}

/// An action that the executor holds.
fn action(asked: &Asked, found: &Action, wanted: &Status) -> Result<LedgerAction, Unexplained> {
    if found.nonce != asked.minted || found.proposal != asked.proposal {
        let text = format!("{:?} as proposed", asked.proposal);
        return Err(unexplained("PA-1", text));
    }
    if found.status != *wanted {
        return Err(unexplained(clause(wanted), format!("{wanted:?}")));
    }
    let proposal = &found.proposal;
    let expires = proposal
        .expires_at
        .map_or(Some(NEVER), |expires| moment(expires).and_then(time::tick));
    let session = session(proposal.session_id.as_str());
    Ok(LedgerAction {
        session: session.ok_or_else(|| unexplained("PA-1", "a session that was named"))?,
        expires: expires.ok_or_else(|| unexplained("PA-7", "an expiry at a tick"))?,
        by_anyone: proposal.deciders.is_none(),
        idempotent: proposal.idempotent,
        effect: match proposal.effect {
            executor::Effect::Read => Effect::Read,
            executor::Effect::Write
            | executor::Effect::Destructive
            | executor::Effect::External => Effect::Destructive,
        },
        standing: standing(&found.status),
    })
}

/// The clause that has an action stand so.
fn clause(status: &Status) -> &'static str {
    match status {
        Status::Pending => "PA-1",
        Status::Accepted { .. } => "PA-3",
        Status::Rejected { .. } | Status::Cancelled { .. } => "PA-5",
        Status::Expired { .. } => "PA-7",
    }
}

fn standing(status: &Status) -> Standing {
    let (word, by, at, run) = match status {
        Status::Pending => {
            return Standing {
                status: Word::Pending,
                ..Standing::UNKNOWN
            };
        }
        Status::Accepted { by, at, run } => (Word::Accepted, by.as_ref(), at, Some(run)),
        Status::Rejected { by, at } => (Word::Rejected, Some(by), at, None),
        Status::Expired { at } => (Word::Expired, None, at, None),
        Status::Cancelled { reason, at } => {
            let word = match reason {
                CancelReason::Requested => Word::Cancelled,
                CancelReason::SessionEnded => Word::SessionOver,
            };
            (word, None, at, None)
        }
    };
    Standing {
        status: word,
        by: by.map(|by| decider(by.as_str())),
        // Every record was made at the time of a call.
        at: moment(*at).unwrap_or(u8::MAX),
        finished: run.and_then(|run| match run {
            Run::Unfinished => None,
            Run::Finished { status, .. } => Some(tool_status(*status)),
        }),
    }
}

/// What the quotient has made alike, as it has it: a denial stands for whatever else ended an action without a run, and that
/// a session has ended is forgotten where nothing comes of it.
fn forget(ledger: &mut Ledger, next: &State) {
    for slot in Slot::ALL {
        let Some(found) = &mut ledger.actions[slot.index()] else {
            continue;
        };
        let is_alike = matches!(found.standing.status, Word::Cancelled | Word::SessionOver);
        if is_alike && next.status(slot) == Word::Rejected {
            found.standing.status = Word::Rejected;
        }
    }
    for (found, known) in ledger.ended.iter_mut().zip(next.known.ended) {
        *found &= known;
    }
}

/// PA-7: when the executor has to be called to let something expire, if there is anything.
pub(super) fn deadline(host: &Host) -> Option<Timestamp> {
    let asked = host.asked.iter().flatten();
    let pending = asked.filter(|asked| status(&host.journal, asked.id) == Some(Status::Pending));
    let first = pending.filter_map(|asked| asked.proposal.expires_at).min();
    first.map(|time| match host.ledger.settings().expiry_boundary {
        ExpiryBoundary::At => time,
        ExpiryBoundary::After => Timestamp::from_millis(time.millis() + 1),
    })
}

/// All that can make a difference to what the executor will do: what it holds, what is kept of it, and how far the host has
/// come. Not what the host chose, which is set anew before it matters.
pub(super) fn identity(host: &Host, hasher: &mut impl Hasher) {
    let snapshot = host.snapshot.as_deref();
    let snapshot = snapshot.map(executor::Snapshot::recorded);
    let kept = (&host.journal, host.carried, snapshot);
    (host.ledger.snapshot(), kept).hash(hasher);
}
