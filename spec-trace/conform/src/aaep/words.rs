//! From the executor to the model's words: which output of the model each of its outputs is.
//!
//! The one thing to know: a word is told by the kind of an output and by the confirmation that it names. Whatever else it
//! says is held against [`super::wanted`]. An output that has no word in the model is not passed over: it is [`Unexplained`].

use countersign_model::aaep::output::{Answered, Output};
use countersign_model::aaep::rules::{Check, Refusal};
use countersign_model::aaep::words::{SessionName, SessionOutcome, Slot, Worked};
use countersign_reference::aaep as executor;
use countersign_reference::aaep::{AgentState, CountersignExtension, Event, Payload, ReplyToken};

use super::account::Account;
use super::concrete::{CHARACTERS, Environment};
use super::{Answer, abstraction::session_named, wanted::RUNS_UNASKED};
use crate::{Unexplained, unexplained};

/// What came out of one call, in the model's words.
///
/// # Errors
///
/// [`Unexplained`] for the first output that the model has no word for.
pub(super) fn words(
    environment: &Environment,
    account: &Account,
    answer: &Answer,
) -> Result<Vec<Output>, Unexplained> {
    let mut words = Vec::with_capacity(answer.outputs.len() + 1);
    let call_in_words = |call: &executor::ToolCall, asked: fn(Slot) -> Output, unasked| {
        Ok(if call.reply_token.is_some() {
            asked(slot_of(account, call)?)
        } else {
            Output::Work(session_named(environment, &call.session_id)?, unasked)
        })
    };
    for output in &answer.outputs {
        words.push(match output {
            executor::Output::Emit(event) => {
                event_in_words(environment, account, event, words.last())?
            }
            executor::Output::Perform(call) => {
                call_in_words(call, Output::Perform, Worked::Perform)?
            }
            executor::Output::Withdraw(call) => {
                call_in_words(call, Output::Withdraw, Worked::Withdraw)?
            }
            executor::Output::InDoubt(call) => {
                call_in_words(call, Output::InDoubt, Worked::InDoubt)?
            }
            executor::Output::Answer(answer) => answer_in_words(environment, account, answer)?,
            executor::Output::Notify(_) => Output::Notice,
            // It has no other field than its status that could differ.
            executor::Output::Respond(response) if response.status() == 204 => Output::Respond,
            executor::Output::Respond(_) => {
                return Err(unexplained("AAEP-6.3.4-9", "the one constant response"));
            }
            executor::Output::Audit(audit) => Output::Audit(check(audit.clause)?),
        });
    }
    if let Some(refused) = answer.refused {
        words.push(Output::Refused(refusal(refused)?));
    }
    Ok(words)
}

/// `before` is the word before it in its call: what comes of a tool that has come back is told by that tool.
fn event_in_words(
    environment: &Environment,
    account: &Account,
    event: &Event,
    before: Option<&Output>,
) -> Result<Output, Unexplained> {
    let session = session_named(environment, &event.session_id)?;
    Ok(match &event.payload {
        Payload::SessionStarted { .. } => Output::Started(session),
        Payload::SessionCompleted { .. } => Output::Ended(session, SessionOutcome::Completed),
        Payload::SessionErrored { .. } => Output::Ended(session, SessionOutcome::Errored),
        Payload::SessionCancelled { .. } => Output::Ended(session, SessionOutcome::Cancelled),
        Payload::StateChanged {
            to_state,
            summary_normal,
            ..
        } => match (event.extension.as_ref(), *to_state) {
            (Some(resolution), to) => resolved_in_words(account, session, resolution, to)?,
            (None, AgentState::AwaitingInput) => Output::AwaitingInput(session),
            (None, AgentState::Thinking) if matches!(before, Some(Output::Work(..))) => {
                Output::Work(session, Worked::Thinking)
            }
            (None, AgentState::Thinking) => Output::Thinking(session),
            (None, AgentState::CallingTool) if *summary_normal == RUNS_UNASKED => {
                Output::Work(session, Worked::Calling)
            }
            (None, AgentState::CallingTool) => Output::CallingToolAgain(session),
            (None, AgentState::WritingOutput) => Output::Work(session, Worked::Writing),
            (None, AgentState::HandingOff) => Output::Work(session, Worked::HandingOff),
            (None, AgentState::Idle) => {
                return Err(unexplained("AAEP-A.2-1", "no session idle again"));
            }
        },
        Payload::ToolInvoked {
            tool_call_id,
            irreversible,
            ..
        } => {
            let irreversible = *irreversible;
            let unasked = Output::Work(session, Worked::Invoked { irreversible });
            let slot = account.slot_of_call(tool_call_id);
            slot.map_or(unasked, Output::Invoked)
        }
        Payload::ToolCompleted { tool_call_id, .. } => {
            let slot = account.slot_of_call(tool_call_id);
            let unasked = Output::Work(session, Worked::Completed);
            slot.map_or(unasked, Output::Completed)
        }
        Payload::OutputStreaming {
            position, complete, ..
        } => {
            let chunks = u8::try_from(position / CHARACTERS).ok();
            let chunks = chunks.filter(|_| position % CHARACTERS == 0);
            let text = "a chunk where another ends";
            let position = chunks.ok_or_else(|| unexplained("AAEP-A.6-2", text))?;
            let complete = *complete;
            Output::Work(session, Worked::Chunk { position, complete })
        }
        Payload::HandoffRequested { .. } => Output::Work(session, Worked::HandedOff),
        // No question waits so long that its time is counted down.
        Payload::ProgressUpdated { .. } => {
            let about = event.extension.as_ref().map(|about| &about.reply_token);
            let slot = about.and_then(|token| account.slot_of_token(token));
            let slot = slot.ok_or_else(|| unexplained("AAEP-6.4.2-3", "the token of a question"));
            Output::MoreTime(slot?)
        }
        Payload::AwaitingClarification { reply_token, .. } => {
            Output::Clarify(slot_asked(account, reply_token)?)
        }
        Payload::AwaitingConfirmation { reply_token, .. } => {
            Output::Asked(slot_asked(account, reply_token)?)
        }
    })
}

/// AAEP-6.7-1: a question is a new one, or one that was lost comes again.
fn slot_asked(account: &Account, token: &ReplyToken) -> Result<Slot, Unexplained> {
    let slot = account.slot_of_token(token);
    let slot = slot.or_else(|| account.free_slot());
    slot.ok_or_else(|| unexplained("AAEP-6.1-6", "no further question"))
}

/// AAEP-6.1-7: what the host goes on with.
fn answer_in_words(
    environment: &Environment,
    account: &Account,
    answer: &executor::Answer,
) -> Result<Output, Unexplained> {
    let slot = account.slot_of_token(&answer.reply_token);
    let slot = slot.ok_or_else(|| unexplained("AAEP-6.1-7", "the token of a clarification"))?;
    let answered = match &answer.answered {
        executor::Answered::Reply { response } => {
            let response = environment.response(response);
            let given = || unexplained("AAEP-6.1-7", "a response that was given");
            Answered::Reply(response.ok_or_else(given)?)
        }
        executor::Answered::Default { .. } => Answered::Default,
        executor::Answered::Nobody => Answered::Nobody,
    };
    Ok(Output::Answer(slot, answered))
}

/// The change of state that tells what a question has come to.
fn resolved_in_words(
    account: &Account,
    session: SessionName,
    resolution: &CountersignExtension,
    to: AgentState,
) -> Result<Output, Unexplained> {
    let slot = account
        .slot_of_token(&resolution.reply_token)
        .ok_or_else(|| unexplained("AAEP-6.7.2-1", "the token of a question"))?;
    match to {
        AgentState::CallingTool => Ok(Output::CallingTool(session)),
        AgentState::Thinking => Ok(Output::FollowUpLeaving(slot)),
        AgentState::AwaitingInput => Ok(Output::FollowUpStaying(slot)),
        AgentState::Idle | AgentState::WritingOutput | AgentState::HandingOff => Err(unexplained(
            "AAEP-6.7.2-2",
            "calling_tool on accept, thinking on reject and cancellation",
        )),
    }
}

/// AAEP-6.1-1: what is to be performed is what was confirmed.
fn slot_of(account: &Account, call: &executor::ToolCall) -> Result<Slot, Unexplained> {
    let token = call.reply_token.as_ref();
    let slot = token.and_then(|token| account.slot_of_token(token));
    slot.ok_or_else(|| unexplained("AAEP-6.1-1", "the action of a confirmation"))
}

fn check(clause: executor::ClauseId) -> Result<Check, Unexplained> {
    Check::ALL
        .iter()
        .copied()
        .find(|check| check.clause() == clause.0)
        .ok_or_else(|| unexplained("AAEP-6.3.4-7", "an audit that names the failed check"))
}
fn refusal(refusal: executor::Refusal) -> Result<Refusal, Unexplained> {
    Ok(match refusal {
        executor::Refusal::SessionNotActive => Refusal::SessionOver,
        executor::Refusal::SessionNotEndable => Refusal::EndedAlready,
        executor::Refusal::SubscriptionNotOpen => Refusal::ClosedAlready,
        executor::Refusal::TimeoutOutOfRange => Refusal::BadTimeout,
        executor::Refusal::AcceptByDefaultHighRisk => Refusal::DefaultOfHighRisk,
        executor::Refusal::AcceptByDefaultMediumRisk => Refusal::DefaultOfMediumRisk,
        executor::Refusal::ActionBlocked => Refusal::StillBlocked,
        executor::Refusal::NothingToCancel => Refusal::NotPending,
        executor::Refusal::NothingToFinish => Refusal::NotInFlight,
        executor::Refusal::QuestionPending => Refusal::StillAsked,
        // Which of the two it is follows from whether the question waits.
        executor::Refusal::NothingToExtend | executor::Refusal::NotLonger => Refusal::NoMoreTime,
        executor::Refusal::SessionExists => Refusal::StartedAlready,
        executor::Refusal::SubscriptionExists => Refusal::OpenedAlready,
        executor::Refusal::HandingOff => Refusal::HandedOff,
        executor::Refusal::IrreversibleUnasked => Refusal::NotAskedAbout,
        executor::Refusal::OutputComplete => Refusal::OutputComplete,
        // Which of the three it is follows from what goes on.
        executor::Refusal::QuestionOpen
        | executor::Refusal::ToolRunning
        | executor::Refusal::OutputOpen => Refusal::Busy,
        executor::Refusal::AllowedRepliesMalformed
        | executor::Refusal::TextBlank(_)
        | executor::Refusal::TextTooLong(_)
        | executor::Refusal::EventTooLarge(_)
        | executor::Refusal::KindsMalformed
        | executor::Refusal::ChoicesMalformed
        | executor::Refusal::ChoicesMissing
        | executor::Refusal::ActionUnanswered
        | executor::Refusal::ActionAsked
        | executor::Refusal::ToolCallIdUsed
        | executor::Refusal::ChunkEmpty
        | executor::Refusal::NoFreshToken
        | executor::Refusal::NoFreshSessionId => {
            let clause = refusal.clause().0;
            return Err(unexplained(clause, format!("no refusal because {refusal}")));
        }
    })
}
