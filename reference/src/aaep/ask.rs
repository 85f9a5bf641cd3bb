//! What a host may ask and do: the shapes of both kinds of question, of tools that need none, of output and of handoffs, and the table of forbidden defaults in section 6.4.1.
//!
//! The one thing to know: a forbidden default is refused at the moment of asking, so that no such event ever exists.

use std::sync::Arc;

use serde::Serialize;

use super::clarification::ClarificationQuestion;
use super::confirmation::Question;
use super::event::{CountersignExtension, Event, Payload, ResolutionOutcome};
use super::interface::{Ask, Chunk, Clarify, Field, Handoff, Refusal, Run};
use super::vocabulary::{Action, Choice, Decision, Identity, ResponseKind, RiskLevel, SessionId};
use crate::text::is_blank;
use crate::time::{Timeout, Timestamp};

/// The most bytes of UTF-8 that a text in an event may have (AAEP-EV-10).
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// The most bytes of JSON that an event may have (AAEP-EV-10).
const MAX_EVENT_BYTES: usize = 64 * 1024;

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
    for (field, text) in [
        (Field::Tool, &action.tool),
        (Field::Description, &action.description),
        (Field::Consequence, &action.consequence),
    ] {
        require_text(field, text)?;
    }
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
    require_text(Field::Tool, &run.tool)?;
    let summary = run.args_summary.as_deref();
    summary.map_or(Ok(()), |text| require_text(Field::ArgsSummary, text))
}

/// Checks what can be said by itself of a handoff.
pub(super) fn check_handoff(handoff: &Handoff) -> Result<(), Refusal> {
    require_text(Field::Reason, &handoff.reason)?;
    let uri = handoff.target_uri.as_deref();
    uri.map_or(Ok(()), |text| require_text(Field::TargetUri, text))
}

/// Checks what can be said by itself of a chunk.
pub(super) fn check_chunk(chunk: &Chunk) -> Result<(), Refusal> {
    require_length(Field::Chunk, &chunk.text)
}

/// What an event tells, and of which session.
pub(super) struct Told<'a> {
    /// Who tells it.
    pub(super) identity: &'a Arc<Identity>,
    /// The session.
    pub(super) session_id: &'a SessionId,
    /// What.
    pub(super) payload: Payload,
    /// Of which question.
    pub(super) extension: Option<CountersignExtension>,
}

/// AAEP-EV-10: the events of a confirmation are not too large, that which asks and that which tells of the call.
pub(super) fn require_size_of_confirmation(
    identity: &Arc<Identity>,
    question: &Question,
) -> Result<(), Refusal> {
    let Action {
        tool,
        description,
        consequence,
        ..
    } = &question.action;
    let session_id = &question.asked.session_id;
    let description = || (Field::Description, size(description));
    let asks = Told {
        identity,
        session_id,
        payload: question.awaiting_confirmation(),
        extension: None,
    };
    require_size(asks, || {
        [
            description(),
            (Field::Consequence, size(consequence)),
            (Field::AllowedReplies, size(&question.allowed_replies)),
        ]
    })?;
    // However a reply rates what it makes of the action, no rating has longer words than this.
    let invoked = Payload::ToolInvoked {
        tool: Arc::clone(tool),
        summary_normal: Arc::clone(&question.action.description),
        tool_call_id: question.tool_call_id.clone(),
        args_summary: None,
        risk_level: RiskLevel::Medium,
        irreversible: false,
    };
    let tells = Told {
        identity,
        session_id,
        payload: invoked,
        extension: Some(question.resolution(ResolutionOutcome::Accepted)),
    };
    require_size(tells, || [(Field::Tool, size(tool)), description()])
}

/// AAEP-EV-10: the event that asks for a clarification is not too large.
pub(super) fn require_size_of_clarification(
    identity: &Arc<Identity>,
    question: &ClarificationQuestion,
) -> Result<(), Refusal> {
    let asks = Told {
        identity,
        session_id: &question.asked.session_id,
        payload: question.awaiting_clarification(),
        extension: None,
    };
    require_size(asks, || {
        [
            (Field::Question, size(&question.text)),
            (Field::Choices, size(&question.choices)),
            (Field::DefaultResponse, size(&question.default_response)),
        ]
    })
}

/// AAEP-EV-10: the event is not too large, whatever its number in the session. `fields` are those that can make it so, each with what
/// it takes.
pub(super) fn require_size<const N: usize>(
    told: Told<'_>,
    fields: impl FnOnce() -> [(Field, usize); N],
) -> Result<(), Refusal> {
    if size(&Event::with_longest_number(told)) <= MAX_EVENT_BYTES {
        return Ok(());
    }
    let longest = fields().into_iter().max_by_key(|(_, size)| *size);
    longest.map_or(Ok(()), |(field, _)| Err(Refusal::EventTooLarge(field)))
}

/// Few events take more bytes.
const USUAL_EVENT_BYTES: usize = 1024;

/// How many bytes it takes in JSON.
pub(super) fn size(value: &(impl Serialize + ?Sized)) -> usize {
    // There is nothing in an event that JSON cannot hold.
    let mut json = Vec::with_capacity(USUAL_EVENT_BYTES);
    serde_json::to_writer(&mut json, value).map_or(0, |()| json.len())
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

/// AAEP-EV-5: 1 to 32 different strings. AAEP-EV-10: none says too much.
fn require_allowed_replies(replies: &[String]) -> Result<(), Refusal> {
    if !(1..=32).contains(&replies.len()) || !are_different(replies) {
        return Err(Refusal::AllowedRepliesMalformed);
    }
    let mut replies = replies.iter().enumerate();
    replies.try_for_each(|(place, reply)| require_length(Field::AllowedReply(place), reply))
}

/// AAEP-EV-5: the text says something.
fn require_text(field: Field, text: &str) -> Result<(), Refusal> {
    if is_blank(text) {
        return Err(Refusal::TextBlank(field));
    }
    require_length(field, text)
}

/// AAEP-EV-10: the text does not say too much.
fn require_length(field: Field, text: &str) -> Result<(), Refusal> {
    if text.len() <= MAX_TEXT_BYTES {
        Ok(())
    } else {
        Err(Refusal::TextTooLong(field))
    }
}

/// AAEP-EV-5, AAEP-EV-10: there is a question, and neither it nor its default says too much.
fn require_question(question: &str, default_response: Option<&str>) -> Result<(), Refusal> {
    require_text(Field::Question, question)?;
    require_length(Field::DefaultResponse, default_response.unwrap_or_default())
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
    for (place, choice) in choices.into_iter().flatten().enumerate() {
        require_text(Field::ChoiceValue(place), &choice.value)?;
        require_text(Field::ChoiceLabel(place), &choice.label)?;
    }
    let is_choice = kinds.is_some_and(|kinds| kinds.contains(&ResponseKind::MultipleChoice));
    if is_choice && choices.is_none() {
        return Err(Refusal::ChoicesMissing);
    }
    Ok(())
}

fn are_choices(choices: &[Choice]) -> bool {
    let values: Vec<&str> = choices.iter().map(|choice| &*choice.value).collect();
    (2..=32).contains(&choices.len()) && are_different(&values)
}

fn are_different<T: PartialEq>(all: &[T]) -> bool {
    let mut indexed = all.iter().enumerate();
    indexed.all(|(index, one)| !all[..index].contains(one))
}

/// Whether the text can stand for a tool in an event.
pub(super) fn is_text(text: &str) -> bool {
    require_text(Field::Tool, text).is_ok()
}
