//! What a host may propose: from the texts of a [`Propose`] to a [`Proposal`], which is well-formed because it is made
//! of nothing but well-formed parts.

use super::action::Proposal;
use super::arguments::Arguments;
use super::interface::{Propose, Refusal};
use super::settings::ExpiryAbsent;
use super::vocabulary::{
    AgentId, DeciderId, Deciders, InvalidIdentifier, Label, RunId, SessionId, Summary, ToolName,
};
use crate::time::Timestamp;

/// Checks all of a proposal but its session, and gives what it proposes.
pub(super) fn check(
    now: Timestamp,
    expiry_absent: ExpiryAbsent,
    propose: Propose,
) -> Result<Proposal, Refusal> {
    Ok(Proposal {
        // PA-1: where it comes from, and what is to be called.
        agent_id: name("agent_id", &propose.agent_id, AgentId::parse)?,
        session_id: name("session_id", &propose.session_id, SessionId::parse)?,
        run_id: name("run_id", &propose.run_id, RunId::parse)?,
        tool: name("tool", &propose.tool, ToolName::parse)?,
        expires_at: in_the_future(now, propose.expires_at.or(expiry_absent.expires_at(now)))?,
        deciders: propose.deciders.as_deref().map(deciders).transpose()?,
        // PA-9
        label: Label::parse(&propose.label).map_err(|_| Refusal::LabelMalformed)?,
        // PA-1
        summary: Summary::parse(&propose.summary).map_err(|_| Refusal::SummaryMalformed)?,
        // PA-3: what could be read in two ways could not be run exactly.
        arguments: Arguments::parse(propose.arguments).map_err(Refusal::ArgumentsMalformed)?,
        effect: propose.effect,
        idempotent: propose.idempotent,
    })
}

/// PA-1
pub(super) fn name<T>(
    field: &'static str,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, InvalidIdentifier>,
) -> Result<T, Refusal> {
    parse(text).map_err(|_| Refusal::NoName { field })
}

/// PA-7: what has expired before it is asked could never be decided. At the end of the calendar nothing can be asked that
/// expires.
fn in_the_future(
    now: Timestamp,
    expires_at: Option<Timestamp>,
) -> Result<Option<Timestamp>, Refusal> {
    match expires_at {
        Some(time) if time <= now => Err(Refusal::ExpiresTooSoon),
        Some(_) | None => Ok(expires_at),
    }
}

/// PA-2: a list without anybody in it is a mistake, and not everybody.
fn deciders(names: &[String]) -> Result<Deciders, Refusal> {
    let names: Result<Vec<_>, _> = names.iter().map(|name| DeciderId::parse(name)).collect();
    names
        .ok()
        .and_then(|names| Deciders::try_from(names).ok())
        .ok_or(Refusal::DecidersMalformed)
}
