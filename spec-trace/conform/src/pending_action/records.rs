//! What the executor records, held against the call that it was made in, and what follows from it.
//!
//! The one thing to know: the bridge reads the journal for itself ([`status`]). What the executor holds must follow from its
//! records, whatever the model can still tell apart.

use std::sync::Arc;

use countersign_model::pending_action::journal::Record as Word;
use countersign_model::pending_action::words::{Decider, Decision, SessionName, Slot, ToolStatus};
use countersign_reference::pending_action as executor;
use countersign_reference::pending_action::{
    ActionId, CancelReason, Entry, Input, Nonce, Propose, Record, Run, Status,
};

use super::concrete::{session, spelling_of};
use super::spelling::OWNER;
use super::{Asked, Host};
use crate::{Unexplained, unexplained};

/// Takes a record that has just come out into the journal; what it says, in the model's words. The model has none for what
/// somebody has said.
pub(super) fn note(
    host: &mut Host,
    input: &Input,
    record: &Record,
) -> Result<Option<Word>, Unexplained> {
    let number = host.journal.len() as u64 + 1;
    if record.number != number {
        return Err(unexplained("PA-1", format!("record number {number}")));
    }
    if record.at != host.now {
        return Err(unexplained(
            "PA-7",
            format!("a record made at {}", host.now),
        ));
    }
    let word = match &record.entry {
        Entry::Proposed {
            action_id,
            nonce,
            proposal,
            pends,
        } => {
            let Input::Propose(propose) = input else {
                return Err(unexplained("PA-1", "no proposal but one that was made"));
            };
            check_proposal(propose, proposal)?;
            if !pends {
                return Err(unexplained("PA-13", "a proposal that pends"));
            }
            Word::Proposed(fill(host, *action_id, *nonce, proposal)?)
        }
        Entry::Decided {
            action_id,
            decision,
            by,
        } => {
            // Whether anything was to be decided now is the model's to say.
            if let Input::Decide(decide) = input
                && by.as_str() != decide.by
            {
                let text = format!("a decision by {}", decide.by);
                return Err(unexplained("PA-2", text));
            }
            Word::Decided {
                slot: host.known(*action_id)?,
                decision: self::decision(*decision),
                by: Some(decider(by.as_str())),
            }
        }
        Entry::Expired { action_id } => Word::Expired(host.known(*action_id)?),
        Entry::Cancelled { action_id } => Word::Cancelled(host.known(*action_id)?),
        Entry::Finished {
            action_id,
            status,
            result,
        } => {
            if let Input::FinishTool {
                result: returned, ..
            } = input
                && result != returned
            {
                return Err(unexplained("PA-4", format!("the result {returned:?}")));
            }
            Word::Finished(host.known(*action_id)?, tool_status(*status))
        }
        Entry::SessionEnded {
            session_id,
            cancelled,
        } => {
            let name = session(session_id.as_str())
                .ok_or_else(|| unexplained("PA-5", "the end of a session that there is"))?;
            let pending = pending_in(host, name);
            if *cancelled != pending {
                let text = format!("the end of what pends: {pending:?}");
                return Err(unexplained("PA-5", text));
            }
            Word::SessionEnded(name)
        }
        Entry::Said {
            message_id: _,
            by,
            text,
        } => {
            let said = Input::Say {
                by: by.clone(),
                text: text.clone(),
            };
            if *input != said {
                return Err(unexplained("PA-11", format!("{input:?} and nothing else")));
            }
            return Ok(None);
        }
    };
    host.journal.push(Arc::new(record.clone()));
    Ok(Some(word))
}

/// The next slot takes the action that was just proposed.
fn fill(
    host: &mut Host,
    action_id: ActionId,
    nonce: Nonce,
    proposal: &Arc<executor::Proposal>,
) -> Result<Slot, Unexplained> {
    let minted = [action_id.to_string(), nonce.to_string()];
    let has_form = |text: &str, prefix: &str| {
        let digits = text.strip_prefix(prefix);
        digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(is_digit))
    };
    let is_taken = |asked: &Asked| {
        let taken = [&asked.action_id, &asked.nonce];
        minted.iter().any(|text| taken.contains(&text))
    };
    let [id_text, nonce_text] = &minted;
    let is_fresh = !host.asked.iter().flatten().any(|asked| is_taken(asked));
    if !is_fresh || !has_form(id_text, "pa_") || !has_form(nonce_text, "nonce_") {
        return Err(unexplained("PA-1", "an id and a nonce, minted afresh"));
    }
    let free = Slot::ALL
        .into_iter()
        .find(|slot| host.asked[slot.index()].is_none());
    let slot = free.ok_or_else(|| unexplained("PA-1", "no further action"))?;
    let spelling = spelling_of(proposal.arguments.as_str());
    let [id_text, nonce_text] = minted;
    host.asked[slot.index()] = Some(Arc::new(Asked {
        id: action_id,
        minted: nonce,
        action_id: id_text,
        nonce: nonce_text,
        proposal: Arc::clone(proposal),
        spelling: spelling.ok_or_else(|| unexplained("PA-3", "arguments that were proposed"))?,
    }));
    Ok(slot)
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// PA-1: what is recorded is what was proposed, in every field; the arguments to the byte (PA-3).
fn check_proposal(propose: &Propose, recorded: &executor::Proposal) -> Result<(), Unexplained> {
    let executor::Proposal {
        agent_id,
        session_id,
        run_id,
        tool,
        arguments,
        effect,
        summary,
        label,
        expires_at,
        deciders,
        idempotent,
    } = recorded;
    let listed = deciders.as_ref().map(|deciders| {
        let names: Vec<executor::DeciderId> = deciders.clone().into();
        let names = names.iter().map(|name| name.as_str().to_owned());
        names.collect::<Vec<_>>()
    });
    let mut named = propose.deciders.clone();
    if let Some(named) = &mut named {
        named.sort_unstable();
    }
    let same = [
        (agent_id.as_str() == propose.agent_id, "PA-1"),
        (session_id.as_str() == propose.session_id, "PA-1"),
        (run_id.as_str() == propose.run_id, "PA-1"),
        (tool.as_str() == propose.tool, "PA-1"),
        (arguments.as_str() == propose.arguments.as_str(), "PA-3"),
        (*effect == propose.effect, "PA-13"),
        (summary.as_str() == propose.summary, "PA-1"),
        (label.as_str() == propose.label, "PA-9"),
        (*expires_at == propose.expires_at, "PA-7"),
        (listed == named, "PA-2"),
        (*idempotent == propose.idempotent, "PA-8"),
    ];
    match same.into_iter().find(|(holds, _)| !holds) {
        Some((_, clause)) => Err(unexplained(clause, format!("{propose:?} as proposed"))),
        None => Ok(()),
    }
}

/// What follows from the journal for an action; nothing if it was not proposed.
pub(super) fn status(journal: &[Arc<Record>], action_id: ActionId) -> Option<Status> {
    let mut status = None;
    for record in journal {
        let at = record.at;
        let next = match &record.entry {
            Entry::Proposed { action_id: id, .. } if *id == action_id => Status::Pending,
            Entry::Decided {
                action_id: id,
                decision,
                by,
            } if *id == action_id => match decision {
                executor::Decision::Allow => Status::Accepted {
                    by: Some(by.clone()),
                    at,
                    run: Run::Unfinished,
                },
                executor::Decision::Deny => Status::Rejected { by: by.clone(), at },
            },
            Entry::Expired { action_id: id } if *id == action_id => Status::Expired { at },
            Entry::Cancelled { action_id: id } if *id == action_id => Status::Cancelled {
                reason: CancelReason::Requested,
                at,
            },
            Entry::SessionEnded { cancelled, .. } if cancelled.contains(&action_id) => {
                Status::Cancelled {
                    reason: CancelReason::SessionEnded,
                    at,
                }
            }
            Entry::Finished {
                action_id: id,
                status: outcome,
                ..
            } if *id == action_id => finished(status?, *outcome, at),
            Entry::Proposed { .. }
            | Entry::Decided { .. }
            | Entry::Expired { .. }
            | Entry::Cancelled { .. }
            | Entry::SessionEnded { .. }
            | Entry::Finished { .. }
            | Entry::Said { .. } => continue,
        };
        status = Some(next);
    }
    status
}

/// The status of an action whose tool has come back.
fn finished(
    before: Status,
    outcome: executor::ToolStatus,
    finished_at: countersign_reference::time::Timestamp,
) -> Status {
    match before {
        Status::Accepted { by, at, .. } => Status::Accepted {
            by,
            at,
            run: Run::Finished {
                status: outcome,
                at: finished_at,
            },
        },
        Status::Pending
        | Status::Rejected { .. }
        | Status::Expired { .. }
        | Status::Cancelled { .. } => before,
    }
}

/// The actions of a session that pend by the journal, in the order of creation.
fn pending_in(host: &Host, name: SessionName) -> Vec<ActionId> {
    let in_it = host.asked.iter().flatten().filter(|asked| {
        session(asked.proposal.session_id.as_str()) == Some(name)
            && status(&host.journal, asked.id) == Some(Status::Pending)
    });
    in_it.map(|asked| asked.id).collect()
}

/// The model knows the owner, and everybody else.
pub(super) fn decider(name: &str) -> Decider {
    if name == OWNER {
        Decider::Owner
    } else {
        Decider::Stranger
    }
}

pub(super) fn decision(decision: executor::Decision) -> Decision {
    match decision {
        executor::Decision::Allow => Decision::Allow,
        executor::Decision::Deny => Decision::Deny,
    }
}

pub(super) fn tool_status(status: executor::ToolStatus) -> ToolStatus {
    match status {
        executor::ToolStatus::Success => ToolStatus::Success,
        executor::ToolStatus::Error => ToolStatus::Error,
        executor::ToolStatus::NotRun => ToolStatus::NotRun,
    }
}
