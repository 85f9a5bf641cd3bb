//! What a host may ask and do: the shapes of both kinds of question, of tools that need none, of output and of handoffs, and the table of forbidden defaults in section 6.4.1.
//!
//! The one thing to know: a forbidden default is refused at the moment of asking, so that no such event ever exists.

use super::clarification::ClarificationQuestion;
use super::interface::{Ask, Chunk, Clarify, Handoff, Refusal, Run};
use super::vocabulary::{Action, Choice, Decision, ResponseKind, RiskLevel};
use crate::time::{Timeout, Timestamp};

/// The most bytes that a text in an event may have (AAEP-EV-10).
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Checks what can be said by itself of a question asked at `now`. Gives its timeout and its allowed replies.
pub(super) fn check_ask(now: Timestamp, ask: &Ask) -> Result<(Timeout, Vec<String>), Refusal> {
    let timeout = timeout_in_range(ask.timeout_seconds)?;
    require_deadline(now, timeout)?;
    let allowed_replies = ask.allowed_replies.clone().unwrap_or_else(both_decisions);
    check_question(&ask.action, ask.default_decision, &allowed_replies)?;
    Ok((timeout, allowed_replies))
}

/// Checks a question first for its shape, then for its default.
pub(super) fn check_question(
    action: &Action,
    default_decision: Decision,
    allowed_replies: &[String],
) -> Result<(), Refusal> {
    require_allowed_replies(allowed_replies)?;
    require_texts(
        &[&action.tool, &action.description, &action.consequence],
        Refusal::TextMalformed,
    )?;
    refuse_forbidden_default(action.irreversible, action.risk_level, default_decision)
}

/// Checks what can be said by itself of a clarification asked at `now`. Gives its timeout.
pub(super) fn check_clarify(now: Timestamp, clarify: &Clarify) -> Result<Timeout, Refusal> {
    let timeout = timeout_in_range(clarify.timeout_seconds)?;
    require_deadline(now, timeout)?;
    require_question(&clarify.question, clarify.default_response.as_deref())?;
    require_answers(
        clarify.accepted_response_kinds.as_deref(),
        clarify.choices.as_deref(),
    )?;
    Ok(timeout)
}

/// The same for a clarification that was asked before.
pub(super) fn check_clarification(question: &ClarificationQuestion) -> Result<(), Refusal> {
    let ClarificationQuestion {
        asked: _,
        text,
        accepted_response_kinds,
        choices,
        default_response,
    } = question;
    require_question(text, default_response.as_deref())?;
    require_answers(accepted_response_kinds.as_deref(), choices.as_deref())
}

/// Checks what can be said by itself of a tool that is to run without a question.
pub(super) fn check_run(run: &Run) -> Result<(), Refusal> {
    // AAEP-A.7.4-1: what cannot be undone is asked about.
    if run.irreversible {
        return Err(Refusal::IrreversibleUnasked);
    }
    require_work_texts(&run.tool, run.args_summary.as_deref())
}

/// Checks what can be said by itself of a handoff.
pub(super) fn check_handoff(handoff: &Handoff) -> Result<(), Refusal> {
    require_work_texts(&handoff.reason, handoff.target_uri.as_deref())
}

fn require_work_texts(one: &str, other: Option<&str>) -> Result<(), Refusal> {
    require_texts(&[one, other.unwrap_or(one)], Refusal::WorkTextMalformed)
}

/// AAEP-EV-10: a chunk does not say too much.
pub(super) fn require_chunk(chunk: &Chunk) -> Result<(), Refusal> {
    if chunk.text.len() <= MAX_TEXT_BYTES {
        Ok(())
    } else {
        Err(Refusal::ChunkTooLong)
    }
}

/// AAEP-EV-5: the event would be malformed.
pub(super) fn timeout_in_range(seconds: u64) -> Result<Timeout, Refusal> {
    Timeout::from_seconds(seconds).map_err(|_| Refusal::TimeoutOutOfRange)
}

/// AAEP-6.4-1: a default that no clock comes to would never apply. Only a question that has to be asked anew, after a crash, may wait
/// for it.
pub(super) fn require_deadline(asked_at: Timestamp, timeout: Timeout) -> Result<(), Refusal> {
    let deadline = asked_at.plus(timeout).timestamp();
    deadline.map(|_| ()).ok_or(Refusal::TimeoutOutOfRange)
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
    if (1..=32).contains(&replies.len()) && are_different(replies) {
        Ok(())
    } else {
        Err(Refusal::AllowedRepliesMalformed)
    }
}

/// AAEP-EV-5: the texts say something. AAEP-EV-10: and not too much.
fn require_texts(texts: &[&str], refusal: Refusal) -> Result<(), Refusal> {
    if texts.iter().all(|text| is_text(text)) {
        Ok(())
    } else {
        Err(refusal)
    }
}

/// AAEP-EV-5, AAEP-EV-10: there is a question, and neither it nor its default says too much.
fn require_question(question: &str, default_response: Option<&str>) -> Result<(), Refusal> {
    if is_text(question) && default_response.is_none_or(|text| text.len() <= MAX_TEXT_BYTES) {
        Ok(())
    } else {
        Err(Refusal::QuestionMalformed)
    }
}

/// AAEP-EV-5: the kinds are 1 to 4 different ones, the choices 2 to 32 of different values; who is to choose has choices.
fn require_answers(
    kinds: Option<&[ResponseKind]>,
    choices: Option<&[Choice]>,
) -> Result<(), Refusal> {
    if kinds.is_some_and(|kinds| !(1..=4).contains(&kinds.len()) || !are_different(kinds)) {
        return Err(Refusal::KindsMalformed);
    }
    if choices.is_some_and(|choices| !are_choices(choices)) {
        return Err(Refusal::ChoicesMalformed);
    }
    let is_choice = kinds.is_some_and(|kinds| kinds.contains(&ResponseKind::MultipleChoice));
    if is_choice && choices.is_none() {
        return Err(Refusal::ChoicesMissing);
    }
    Ok(())
}

fn are_choices(choices: &[Choice]) -> bool {
    let values: Vec<&str> = choices.iter().map(|choice| &*choice.value).collect();
    let mut texts = choices.iter().flat_map(|it| [&it.value, &it.label]);
    (2..=32).contains(&choices.len()) && are_different(&values) && texts.all(|text| is_text(text))
}

fn are_different<T: PartialEq>(all: &[T]) -> bool {
    let mut indexed = all.iter().enumerate();
    indexed.all(|(index, one)| !all[..index].contains(one))
}

pub(super) fn is_text(text: &str) -> bool {
    (1..=MAX_TEXT_BYTES).contains(&text.len())
}
