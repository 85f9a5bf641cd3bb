//! From the executor to the model's words: what it put out.
//!
//! The one thing to know: an output that has no word in the model is not passed over. It is [`Unexplained`], and so is one
//! that is not in every field what was proposed, said or recorded.

use std::collections::BTreeSet;

use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::output::Output;
use countersign_model::pending_action::rules::{Check, Refusal};
use countersign_model::pending_action::words::Arguments;
use countersign_reference::pending_action as executor;
use countersign_reference::pending_action::{
    Audit, ClauseId, IgnoredBecause, Input, Propose, Status, ToolCall,
};

use super::spelling::loose;
use super::{Answer, Host, consequences, records};
use crate::{Unexplained, unexplained};

/// What came out of one call, in the model's words. Notes what was recorded and proposed.
///
/// # Errors
///
/// [`Unexplained`] for the first output that the model has no word for.
pub(super) fn outputs(
    host: &mut Host,
    action: Action,
    answer: &Answer,
) -> Result<Vec<Output>, Unexplained> {
    let input = &answer.call;
    let mut words = Vec::with_capacity(answer.outputs.len() + 1);
    let outputs = &answer.outputs;
    for (place, output) in outputs.iter().enumerate() {
        let next = outputs.get(place + 1);
        words.push(match output {
            executor::Output::Record(record) => match records::note(host, input, record)? {
                Some(word) => Output::Record(word),
                // PA-11: the model has no record of what was said, so that its message is all that tells where it stands.
                None if is_told_by(record, next) => continue,
                None => return Err(unexplained("PA-11", "a record with its message behind it")),
            },
            executor::Output::Append(append) => {
                let word = consequences::append(host, input, append)?;
                // PA-11: and it is recorded before it is told.
                let before = place.checked_sub(1).and_then(|before| outputs.get(before));
                let is_recorded = matches!(before, Some(executor::Output::Record(record)) if is_told_by(record, Some(output)));
                if word == Output::AppendText && !is_recorded {
                    return Err(unexplained("PA-11", "a record before the message"));
                }
                word
            }
            executor::Output::Event(event) => consequences::event(host, event)?,
            executor::Output::Perform(call) => perform(host, call)?,
            executor::Output::Withdraw(named) => Output::Withdraw(host.known(named.action_id)?),
            executor::Output::InDoubt(named) => Output::InDoubt(host.known(named.action_id)?),
            executor::Output::Audit(audit) => self::audit(host, input, audit)?,
        });
    }
    if let Some(refused) = &answer.refused {
        words.push(Output::Refused(refusal(host, action, input, refused)?));
    }
    Ok(words)
}

/// PA-11: whether what somebody has said by the record is told by the message behind it.
fn is_told_by(record: &executor::Record, next: Option<&executor::Output>) -> bool {
    match (&record.entry, next) {
        (executor::Entry::Said { message_id, .. }, Some(executor::Output::Append(append))) => {
            append.message_id == *message_id
        }
        _ => false,
    }
}

/// PA-3: the tool that was proposed runs, and how its arguments compare with the proposed ones.
fn perform(host: &Host, call: &ToolCall) -> Result<Output, Unexplained> {
    let ToolCall {
        action_id,
        tool,
        arguments,
    } = call;
    let slot = host.known(*action_id)?;
    let asked = host.asked(slot);
    if *tool != asked.proposal.tool {
        let text = format!("the tool {}", asked.proposal.tool);
        return Err(unexplained("PA-3", text));
    }
    let arguments = if arguments.as_str() == asked.proposal.arguments.as_str() {
        Arguments::Original
    } else if asked.spelling.same.contains(&arguments.as_str()) {
        Arguments::Alike
    } else {
        Arguments::Edited
    };
    Ok(Output::Perform(slot, arguments))
}

/// PA-10: an entry in the operator's log says which decision was ignored, whose, when and why.
fn audit(host: &Host, input: &Input, audit: &Audit) -> Result<Output, Unexplained> {
    let Input::Decide(decide) = input else {
        return Err(unexplained("PA-10", "nothing ignored but a decision"));
    };
    let check = check(audit.reason);
    let wanted = Audit {
        clause: ClauseId(check.clause()),
        reason: audit.reason,
        action_id: decide.action_id.clone(),
        by: decide.by.clone(),
        at: host.now,
    };
    if *audit != wanted {
        return Err(unexplained("PA-10", format!("{wanted:?}")));
    }
    let slot = host.slot_of(&decide.action_id);
    let status = slot.and_then(|slot| records::status(&host.journal, host.asked(slot).id));
    let is_said_cancelled = audit.reason == IgnoredBecause::Cancelled;
    let is_cancelled = |status| matches!(status, Status::Cancelled { .. });
    if check == Check::Unresolved
        && status.is_some_and(|status| is_cancelled(status) != is_said_cancelled)
    {
        return Err(unexplained("PA-8", "what the action was resolved by"));
    }
    Ok(Output::Audit(check))
}

fn check(reason: IgnoredBecause) -> Check {
    match reason {
        IgnoredBecause::UnknownAction => Check::Known,
        IgnoredBecause::OtherNonce => Check::Nonce,
        IgnoredBecause::NotEntitled => Check::Entitled,
        IgnoredBecause::Expired => Check::NotExpired,
        IgnoredBecause::AlreadyDecided | IgnoredBecause::Cancelled => Check::Unresolved,
        IgnoredBecause::OtherArguments => Check::Arguments,
    }
}

/// Why a call was refused, which has to be just that.
///
/// Nothing in the text says which of several reasons to refuse a proposal comes first. The executor's order is another than the
/// model's, so that what it says first, and has to say, stands for what the model says first.
fn refusal(
    host: &Host,
    action: Action,
    input: &Input,
    refused: &executor::Refusal,
) -> Result<Refusal, Unexplained> {
    let named = match refused {
        executor::Refusal::NoName { .. } | executor::Refusal::SummaryMalformed => Refusal::NoId,
        executor::Refusal::DecidersMalformed => Refusal::NoDecider,
        executor::Refusal::ArgumentsMalformed(_) => Refusal::LooseArguments,
        executor::Refusal::LabelMalformed => Refusal::LongLabel,
        executor::Refusal::SessionEnded => Refusal::SessionOver,
        executor::Refusal::ExpiresTooSoon => Refusal::NotInFuture,
        executor::Refusal::UnknownAction => Refusal::Unknown,
        executor::Refusal::Expired => Refusal::Expired,
        executor::Refusal::AlreadySettled | executor::Refusal::AlreadyFinished => Refusal::Resolved,
        executor::Refusal::StillPending => Refusal::Undecided,
        executor::Refusal::NotAllowed => Refusal::NotReleased,
        executor::Refusal::NoFreshId => return Err(unexplained("PA-1", "a fresh id")),
    };
    let is_it = match input {
        Input::Propose(propose) => Some(refused) == reason(host, propose).as_ref(),
        Input::Cancel { .. } => *refused != executor::Refusal::AlreadyFinished,
        Input::FinishTool { .. } => *refused != executor::Refusal::AlreadySettled,
        Input::EndSession { .. } => *refused == executor::Refusal::SessionEnded,
        Input::Decide(_) | Input::Say { .. } | Input::Tick | Input::Restart => false,
    };
    if !is_it || refused.clause().0 != named.clause() {
        let text = format!("the reason to refuse {input:?}");
        return Err(unexplained(named.clause(), text));
    }
    Ok(first_of_the_model(host, action, input).unwrap_or(named))
}

/// The first reason to refuse a proposal, in the executor's order; nothing if there is none.
fn reason(host: &Host, propose: &Propose) -> Option<executor::Refusal> {
    let names = [
        ("agent_id", &propose.agent_id),
        ("session_id", &propose.session_id),
        ("run_id", &propose.run_id),
        ("tool", &propose.tool),
    ];
    let is_name = |text: &str| (1..=256).contains(&text.chars().count());
    let mut unnamed = names.into_iter().filter(|(_, text)| !is_name(text));
    if let Some((field, _)) = unnamed.next() {
        return Some(executor::Refusal::NoName { field });
    }
    let breaks = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    let is_label = |text: &str| (1..=80).contains(&text.chars().count()) && !text.contains(breaks);
    let deciders = propose.deciders.as_deref();
    let is_list = |names: &[String]| {
        let different: BTreeSet<_> = names.iter().filter(|name| is_name(name)).collect();
        !names.is_empty() && different.len() == names.len()
    };
    if is_past(host, propose) {
        Some(executor::Refusal::ExpiresTooSoon)
    } else if deciders.is_some_and(|names| !is_list(names)) {
        Some(executor::Refusal::DecidersMalformed)
    } else if !is_label(&propose.label) {
        Some(executor::Refusal::LabelMalformed)
    } else if propose.summary.is_empty() {
        Some(executor::Refusal::SummaryMalformed)
    } else if let Some(loose) = loose(propose.arguments.as_str()) {
        Some(executor::Refusal::ArgumentsMalformed(loose))
    } else {
        let is_over = host.has_ended(&propose.session_id);
        is_over.then_some(executor::Refusal::SessionEnded)
    }
}

/// The first reason to refuse a proposal, in the model's order.
fn first_of_the_model(host: &Host, action: Action, input: &Input) -> Option<Refusal> {
    if let Action::ProposeFlawed(flaw) = action {
        return Some(flaw.refusal());
    }
    let Input::Propose(propose) = input else {
        return None;
    };
    let is_over = host.has_ended(&propose.session_id);
    let is_over = is_over.then_some(Refusal::SessionOver);
    is_over.or(is_past(host, propose).then_some(Refusal::NotInFuture))
}

fn is_past(host: &Host, propose: &Propose) -> bool {
    propose.expires_at.is_some_and(|time| time <= host.now)
}
