//! What a host may ask: the shape of a question, and the table of forbidden defaults in section 6.4.1.
//!
//! The one thing to know: a forbidden default is refused at the moment of asking, so that no such event ever exists.

use super::interface::{Ask, Refusal};
use super::vocabulary::{Action, Decision, RiskLevel};
use crate::time::{Timeout, Timestamp};

/// The most bytes that a text in an event may have (AAEP-EV-10).
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Checks what can be said by itself of a question asked at `now`. Gives its timeout and its allowed replies.
pub(super) fn check_ask(now: Timestamp, ask: &Ask) -> Result<(Timeout, Vec<String>), Refusal> {
    // AAEP-EV-5: the event would be malformed.
    let timeout =
        Timeout::from_seconds(ask.timeout_seconds).map_err(|_| Refusal::TimeoutOutOfRange)?;
    let allowed_replies = ask.allowed_replies.clone().unwrap_or_else(both_decisions);
    check_question(
        now,
        timeout,
        &ask.action,
        ask.default_decision,
        &allowed_replies,
    )?;
    Ok((timeout, allowed_replies))
}

/// Checks a question first for its shape, then for its default.
pub(super) fn check_question(
    asked_at: Timestamp,
    timeout: Timeout,
    action: &Action,
    default_decision: Decision,
    allowed_replies: &[String],
) -> Result<(), Refusal> {
    // AAEP-6.4-1, AAEP-6.1-1: a deadline at the border of the calendar instead of beyond it would come too early.
    if asked_at.checked_plus(timeout).is_none() {
        return Err(Refusal::TimeoutOutOfRange);
    }
    require_allowed_replies(allowed_replies)?;
    require_texts(&[&action.tool, &action.description, &action.consequence])?;
    refuse_forbidden_default(action.irreversible, action.risk_level, default_decision)
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

/// AAEP-6.3.4-6: accept and reject where the host does not say.
fn both_decisions() -> Vec<String> {
    [Decision::Accept, Decision::Reject]
        .map(|decision| decision.as_str().to_owned())
        .to_vec()
}

/// AAEP-EV-5: 1 to 32 different strings.
fn require_allowed_replies(replies: &[String]) -> Result<(), Refusal> {
    let all_different = replies
        .iter()
        .enumerate()
        .all(|(index, reply)| !replies[..index].contains(reply));
    if (1..=32).contains(&replies.len()) && all_different {
        Ok(())
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
