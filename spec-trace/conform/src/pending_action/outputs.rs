//! From the executor to the model's words: what it put out.
//!
//! The one thing to know: an output that has no word in the model is not passed over. It is [`Unexplained`], and so is one
//! that is not in every field what was proposed, said or recorded.

use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::output::Output;
use countersign_model::pending_action::rules::{Check, Refusal};
use countersign_model::pending_action::words::{Arguments, Flaw};
use countersign_reference::pending_action as executor;
use countersign_reference::pending_action::{
    Audit, IgnoredBecause, Input, Outcome, Status, ToolCall,
};

use super::{Host, records, telling};
use crate::{Unexplained, unexplained};

/// What came out of one call, in the model's words. Notes what was recorded and proposed.
///
/// # Errors
///
/// [`Unexplained`] for the first output that the model has no word for.
pub(super) fn outputs(
    host: &mut Host,
    action: Action,
    input: &Input,
    outcome: &Outcome,
) -> Result<Vec<Output>, Unexplained> {
    let mut words = Vec::with_capacity(outcome.outputs.len() + 1);
    for output in &outcome.outputs {
        words.push(match output {
            executor::Output::Record(record) => Output::Record(records::note(host, input, record)?),
            executor::Output::Append(append) => telling::append(host, input, append)?,
            executor::Output::Event(event) => telling::event(host, event)?,
            executor::Output::Perform(call) => perform(host, call)?,
            executor::Output::Withdraw(named) => Output::Withdraw(host.known(named.action_id)?),
            executor::Output::InDoubt(named) => Output::InDoubt(host.known(named.action_id)?),
            executor::Output::Audit(audit) => self::audit(host, input, audit)?,
        });
    }
    if let Some(refused) = &outcome.refused {
        words.push(Output::Refused(refusal(host, action, input, refused)?));
    }
    Ok(words)
}

/// PA-3: the tool that was proposed runs, and how its arguments compare with the proposed ones.
fn perform(host: &Host, call: &ToolCall) -> Result<Output, Unexplained> {
    let slot = host.known(call.action_id)?;
    let asked = host.asked(slot);
    if call.tool != asked.proposal.tool {
        let text = format!("the tool {}", asked.proposal.tool);
        return Err(unexplained("PA-3", text));
    }
    let arguments = if call.arguments.as_str() == asked.proposal.arguments.as_str() {
        Arguments::Original
    } else if asked.spelling.same.contains(&call.arguments.as_str()) {
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
    let said = audit.action_id == decide.action_id && audit.by == decide.by;
    let check = check(audit.reason);
    if !said || audit.at != host.now || audit.clause.0 != check.clause() {
        let text = format!(
            "an audit of {decide:?} at {} by {}",
            host.now,
            check.clause()
        );
        return Err(unexplained("PA-10", text));
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

/// Why a call was refused.
///
/// Nothing in the text says which of several reasons to refuse a proposal comes first. So one that truly applies stands for
/// the one that the model names: what is wrong with the proposal, the end of its session, its expiry, in this order.
fn refusal(
    host: &Host,
    action: Action,
    input: &Input,
    refused: &executor::Refusal,
) -> Result<Refusal, Unexplained> {
    let named = match refused {
        executor::Refusal::NoName { .. } | executor::Refusal::SummaryMalformed => {
            Refusal::Malformed(Flaw::NoId)
        }
        executor::Refusal::DecidersMalformed => Refusal::Malformed(Flaw::NoDecider),
        executor::Refusal::ArgumentsMalformed(_) => Refusal::Malformed(Flaw::LooseArguments),
        executor::Refusal::LabelMalformed => Refusal::Malformed(Flaw::LongLabel),
        executor::Refusal::SessionEnded => Refusal::SessionOver,
        executor::Refusal::ExpiresTooSoon => Refusal::NotInFuture,
        executor::Refusal::UnknownAction => Refusal::Unknown,
        executor::Refusal::Expired => Refusal::Expired,
        executor::Refusal::AlreadySettled | executor::Refusal::AlreadyFinished => Refusal::Resolved,
        executor::Refusal::StillPending => Refusal::Undecided,
        executor::Refusal::NotAllowed => Refusal::NotReleased,
        executor::Refusal::NoFreshId => return Err(unexplained("PA-1", "a fresh id")),
    };
    if refused.clause().0 != named.clause() {
        let text = format!("refused by {}", named.clause());
        return Err(unexplained(named.clause(), text));
    }
    let reasons = reasons(host, action, input);
    let truly = reasons.contains(&Some(named));
    Ok(reasons
        .into_iter()
        .flatten()
        .next()
        .filter(|_| truly)
        .unwrap_or(named))
}

/// Every reason to refuse a proposal, in the model's order.
fn reasons(host: &Host, action: Action, input: &Input) -> [Option<Refusal>; 3] {
    let flaw = if let Action::ProposeFlawed(flaw) = action {
        Some(Refusal::Malformed(flaw))
    } else {
        None
    };
    let Input::Propose(propose) = input else {
        return [flaw, None, None];
    };
    let is_over = host.has_ended(&propose.session_id);
    let is_past = propose.expires_at.is_some_and(|time| time <= host.now);
    [
        flaw,
        is_over.then_some(Refusal::SessionOver),
        is_past.then_some(Refusal::NotInFuture),
    ]
}
