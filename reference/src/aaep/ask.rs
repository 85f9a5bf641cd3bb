//! What a host may ask: the shape of a question, and the table of forbidden defaults in section 6.4.1.
//!
//! The one thing to know: a forbidden default is refused at the moment of asking, so that no such event ever exists.

use super::interface::{Ask, Refusal};
use super::vocabulary::{Decision, RiskLevel};
use crate::time::Timeout;

/// The most bytes that a text in an event may have (AAEP-EV-10).
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Checks what can be said of a question by itself, first its shape, then its default. Gives its timeout and its
/// allowed replies.
pub(super) fn check_ask(ask: &Ask) -> Result<(Timeout, Vec<String>), Refusal> {
    // AAEP-EV-5: the event would be malformed.
    let timeout =
        Timeout::from_seconds(ask.timeout_seconds).map_err(|_| Refusal::TimeoutOutOfRange)?;
    let allowed_replies = allowed_replies(ask.allowed_replies.as_deref())?;
    let action = &ask.action;
    require_texts(&[&action.tool, &action.description, &action.consequence])?;
    refuse_forbidden_default(action.irreversible, action.risk_level, ask.default_decision)?;
    Ok((timeout, allowed_replies))
}

/// Section 6.4.1: which defaults are forbidden. The rest of the table only advises, and is the host's to follow.
fn refuse_forbidden_default(
    irreversible: bool,
    risk_level: RiskLevel,
    default_decision: Decision,
) -> Result<(), Refusal> {
    match (irreversible, risk_level, default_decision) {
        // AAEP-6.4.1-1, AAEP-6.9-5: stalling cannot run it.
        (true, RiskLevel::High, Decision::Accept) => Err(Refusal::AcceptByDefaultHighRisk),
        // AAEP-6.4.1-2
        (true, RiskLevel::Medium, Decision::Accept) => Err(Refusal::AcceptByDefaultMediumRisk),
        // AAEP-6.4.1-3
        (true, RiskLevel::Low, Decision::Accept)
        // AAEP-6.4.1-4, AAEP-6.4.1-5, AAEP-6.4.1-6
        | (false, RiskLevel::High | RiskLevel::Medium | RiskLevel::Low, Decision::Accept)
        | (true | false, RiskLevel::High | RiskLevel::Medium | RiskLevel::Low, Decision::Reject) => Ok(()),
    }
}

/// AAEP-EV-5: 1 to 32 different strings. AAEP-6.3.4-6: accept and reject where the host does not say.
fn allowed_replies(given: Option<&[String]>) -> Result<Vec<String>, Refusal> {
    let Some(replies) = given else {
        return Ok([Decision::Accept, Decision::Reject]
            .map(|decision| decision.as_str().to_owned())
            .to_vec());
    };
    let all_different = replies
        .iter()
        .enumerate()
        .all(|(index, reply)| !replies[..index].contains(reply));
    if (1..=32).contains(&replies.len()) && all_different {
        Ok(replies.to_vec())
    } else {
        Err(Refusal::AllowedRepliesMalformed)
    }
}

/// AAEP-EV-5: the texts of a question say something. AAEP-EV-10: and not too much.
fn require_texts(texts: &[&str]) -> Result<(), Refusal> {
    if texts
        .iter()
        .all(|text| (1..=MAX_TEXT_BYTES).contains(&text.len()))
    {
        Ok(())
    } else {
        Err(Refusal::TextMalformed)
    }
}
