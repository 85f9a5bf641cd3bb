//! From the executor to the model's words: what it put out and what it holds.
//!
//! The one thing to know: an output that has no word in the model is not passed over. It is [`Unexplained`], and so is an
//! event whose envelope or payload contradicts what came before it.

use countersign_model::aaep::output::Output;
use countersign_model::aaep::rules::{Check, Refusal};
use countersign_model::aaep::state::{
    Phase, Producer, ProducerConfirmation, Session, SessionStatus,
};
use countersign_model::aaep::words::{
    AllowedReplies, Class, Decision, Risk, SessionName, SessionOutcome, Slot, Subscriber,
};
use countersign_reference::aaep as executor;
use countersign_reference::aaep::{
    AgentState, Confirmation, Event, Outcome, Payload, ResolutionOutcome, SessionId, Subscription,
};

use super::concrete::World;
use super::{Host, Names};

/// Something that the executor did and that has no place in the model's reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The clause that it goes against.
    pub clause: &'static str,
    /// What was expected instead.
    pub text: String,
}

/// A session as its events have told it so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    next_sequence_number: u64,
    state: AgentState,
}

impl Told {
    /// After `session.started`.
    pub(super) const START: Self = Self {
        next_sequence_number: 1,
        state: AgentState::Idle,
    };
}

fn unexplained(clause: &'static str, text: impl Into<String>) -> Unexplained {
    Unexplained {
        clause,
        text: text.into(),
    }
}

/// What came out of one call, in the model's words. Notes the names of a new confirmation, and what the events tell.
///
/// # Errors
///
/// [`Unexplained`] for the first output that the model has no word for.
pub(super) fn outputs(
    world: &World,
    host: &mut Host,
    outcome: &Outcome,
) -> Result<Vec<Output>, Unexplained> {
    let mut words = Vec::with_capacity(outcome.outputs.len() + 1);
    for output in &outcome.outputs {
        words.push(match output {
            executor::Output::Emit(event) => {
                check_envelope(world, host, event)?;
                event_in_words(world, host, event)?
            }
            executor::Output::Perform(call) => Output::Perform(slot_of(host, call)?),
            executor::Output::Withdraw(call) => Output::Withdraw(slot_of(host, call)?),
            executor::Output::InDoubt(call) => Output::InDoubt(slot_of(host, call)?),
            executor::Output::Notify(_) => Output::Notice,
            executor::Output::Respond(response) if response.status() == 204 => Output::Respond,
            executor::Output::Respond(_) => {
                return Err(unexplained("AAEP-6.3.4-9", "the one constant response"));
            }
            executor::Output::Audit(audit) => Output::Audit(check(audit.clause)?),
        });
    }
    if let Some(refused) = outcome.refused {
        words.push(Output::Refused(refusal(refused)?));
    }
    Ok(words)
}

/// AAEP-EV-3, AAEP-EV-4: the time is now, and the numbers have no gaps.
fn check_envelope(world: &World, host: &mut Host, event: &Event) -> Result<(), Unexplained> {
    let session = session_named(world, &event.session_id)?;
    let told = &mut host.told[session.index()];
    if event.sequence_number != told.next_sequence_number {
        let text = format!("sequence_number {}", told.next_sequence_number);
        return Err(unexplained("AAEP-EV-4", text));
    }
    told.next_sequence_number += 1;
    if event.timestamp == host.producer.now() {
        Ok(())
    } else {
        Err(unexplained(
            "AAEP-EV-3",
            "the time of the call as timestamp",
        ))
    }
}

fn event_in_words(world: &World, host: &mut Host, event: &Event) -> Result<Output, Unexplained> {
    let session = session_named(world, &event.session_id)?;
    match &event.payload {
        Payload::SessionStarted { .. } => Err(unexplained(
            "AAEP-A.1-1",
            "one session.started for each session",
        )),
        Payload::SessionCompleted { .. } => Ok(Output::Ended(session, SessionOutcome::Completed)),
        Payload::SessionErrored { .. } => Ok(Output::Ended(session, SessionOutcome::Errored)),
        Payload::SessionCancelled { .. } => Ok(Output::Ended(session, SessionOutcome::Cancelled)),
        Payload::StateChanged {
            from_state,
            to_state,
            ..
        } => {
            let told = &mut host.told[session.index()];
            if *from_state != told.state {
                let text = format!("from_state {:?}, where the session was left", told.state);
                return Err(unexplained("AAEP-EV-8", text));
            }
            told.state = *to_state;
            state_change_in_words(host, session, event, (*from_state, *to_state))
        }
        Payload::ToolInvoked { tool_call_id, .. } => host
            .slot_of_call(tool_call_id)
            .map(Output::Invoked)
            .ok_or_else(|| unexplained("AAEP-A.7.4-1", "the tool_call_id of a confirmation")),
        Payload::ToolCompleted { tool_call_id, .. } => host
            .slot_of_call(tool_call_id)
            .map(Output::Completed)
            .ok_or_else(|| unexplained("AAEP-A.3-2", "the tool_call_id of an invocation")),
        Payload::AwaitingConfirmation {
            reply_token,
            extra_context,
            ..
        } => {
            let names = Names {
                reply_token: reply_token.clone(),
                tool_call_id: extra_context.tool_call_id.clone(),
            };
            name_question(host, names).map(Output::Asked)
        }
    }
}

/// The next free slot takes the names of the confirmation that was just put out.
fn name_question(host: &mut Host, names: Names) -> Result<Slot, Unexplained> {
    if host.slot_of_token(&names.reply_token).is_some() {
        return Err(unexplained(
            "AAEP-6.2.2-3",
            "a token that was never issued before",
        ));
    }
    let free = Slot::ALL
        .into_iter()
        .find(|slot| host.questions[slot.index()].is_none());
    let slot = free.ok_or_else(|| unexplained("AAEP-6.1-6", "no further question"))?;
    host.questions[slot.index()] = Some(names);
    Ok(slot)
}

fn state_change_in_words(
    host: &Host,
    session: SessionName,
    event: &Event,
    (from, to): (AgentState, AgentState),
) -> Result<Output, Unexplained> {
    let Some(resolution) = &event.resolution else {
        return match to {
            AgentState::AwaitingInput => Ok(Output::AwaitingInput(session)),
            AgentState::Thinking if from == AgentState::CallingTool => {
                Ok(Output::Thinking(session))
            }
            AgentState::Thinking | AgentState::CallingTool | AgentState::Idle => Err(unexplained(
                "AAEP-A.4-2",
                "a state.changed out of awaiting_input that names its confirmation",
            )),
        };
    };
    let slot = host
        .slot_of_token(&resolution.reply_token)
        .ok_or_else(|| unexplained("AAEP-6.7.2-1", "the token of a confirmation"))?;
    match (resolution.outcome, to) {
        (ResolutionOutcome::Accepted, AgentState::CallingTool) => Ok(Output::CallingTool(session)),
        (ResolutionOutcome::Rejected | ResolutionOutcome::Cancelled, AgentState::Thinking) => {
            Ok(Output::FollowUpLeaving(slot))
        }
        (ResolutionOutcome::Rejected | ResolutionOutcome::Cancelled, AgentState::AwaitingInput) => {
            Ok(Output::FollowUpStaying(slot))
        }
        (
            ResolutionOutcome::Accepted,
            AgentState::Thinking | AgentState::AwaitingInput | AgentState::Idle,
        )
        | (
            ResolutionOutcome::Rejected | ResolutionOutcome::Cancelled,
            AgentState::CallingTool | AgentState::Idle,
        ) => Err(unexplained(
            "AAEP-6.7.2-2",
            "calling_tool on accept, thinking on reject and cancellation",
        )),
    }
}

fn slot_of(host: &Host, call: &executor::ToolCall) -> Result<Slot, Unexplained> {
    host.slot_of_token(&call.reply_token)
        .ok_or_else(|| unexplained("AAEP-6.1-1", "the action of a confirmation"))
}

fn session_named(world: &World, session_id: &SessionId) -> Result<SessionName, Unexplained> {
    SessionName::ALL
        .into_iter()
        .find(|name| world.sessions[name.index()] == *session_id)
        .ok_or_else(|| unexplained("AAEP-EV-1", "the id of a session that was started"))
}

fn check(clause: executor::ClauseId) -> Result<Check, Unexplained> {
    Check::ALL
        .into_iter()
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
        executor::Refusal::SessionExists
        | executor::Refusal::SubscriptionExists
        | executor::Refusal::AllowedRepliesMalformed
        | executor::Refusal::TextMalformed
        | executor::Refusal::NoFreshToken
        | executor::Refusal::NoFreshSessionId => {
            let clause = refusal.clause().0;
            return Err(unexplained(clause, format!("no refusal because {refusal}")));
        }
    })
}

/// The abstraction function: what the executor holds, as the producer's part of a model state.
///
/// # Errors
///
/// [`Unexplained`] where it holds something that no producer of the model can hold.
pub(super) fn producer(world: &World, host: &Host) -> Result<Producer, Unexplained> {
    let confirmations = host.producer.confirmations();
    if confirmations.len() > 2 {
        return Err(unexplained("AAEP-6.1-6", "two confirmations at most"));
    }
    let mut sessions = [Session::STARTED; 2];
    for name in SessionName::ALL {
        let session = &host.producer.sessions()[&world.sessions[name.index()]];
        sessions[name.index()] = Session {
            status: match session.status {
                executor::SessionStatus::Active => SessionStatus::Active,
                executor::SessionStatus::Ended(outcome) => SessionStatus::Ended(match outcome {
                    executor::SessionOutcome::Completed => SessionOutcome::Completed,
                    executor::SessionOutcome::Errored => SessionOutcome::Errored,
                    executor::SessionOutcome::Cancelled => SessionOutcome::Cancelled,
                }),
            },
            // A session that has ended is in no state any more.
            awaiting_input: session.status == executor::SessionStatus::Active
                && session.state == AgentState::AwaitingInput,
        };
    }
    let open = Subscriber::ALL.map(|subscriber| {
        match host.producer.subscriptions()[&world.subscriptions[subscriber.index()]] {
            Subscription::Open(_) => true,
            Subscription::Closed => false,
        }
    });
    let confirmation = |slot: Slot| {
        confirmations
            .get(slot.index())
            .map(|found| confirmation(world, found, slot, confirmations))
            .transpose()
    };
    Ok(Producer {
        sessions,
        open,
        confirmations: [confirmation(Slot::First)?, confirmation(Slot::Second)?],
    })
}

fn confirmation(
    world: &World,
    found: &Confirmation,
    slot: Slot,
    all: &[Confirmation],
) -> Result<ProducerConfirmation, Unexplained> {
    let question = &found.question;
    let issued = world
        .tick(question.asked_at)
        .ok_or_else(|| unexplained("AAEP-6.4-1", "the time of the call as time of issue"))?;
    let timeout = u8::try_from(question.timeout.seconds())
        .map_err(|_| unexplained("AAEP-6.4-1", "the timeout that was asked for"))?;
    let same_action = slot == Slot::Second
        && question.action.id == all[0].question.action.id
        && question.session_id == all[0].question.session_id;
    let (phase, by_default) = phase(found.phase);
    Ok(ProducerConfirmation {
        phase,
        session: session_named(world, &question.session_id)?,
        same_action,
        class: class(question)?,
        issued,
        timeout,
        by_default,
    })
}

fn phase(phase: executor::Phase) -> (Phase, bool) {
    match phase {
        executor::Phase::Pending => (Phase::Pending, false),
        executor::Phase::Accepted { by, tool } => {
            let phase = match tool {
                executor::Tool::InFlight => Phase::Accepted,
                executor::Tool::Finished | executor::Tool::Withdrawn => Phase::Finished,
            };
            (phase, is_default(by))
        }
        executor::Phase::Rejected { by } => (Phase::Rejected, is_default(by)),
        executor::Phase::Cancelled { .. } => (Phase::Cancelled, false),
    }
}

fn is_default(by: executor::Authority) -> bool {
    match by {
        executor::Authority::Reply => false,
        executor::Authority::Timeout | executor::Authority::SubscriptionClosed => true,
    }
}

fn class(question: &executor::Question) -> Result<Class, Unexplained> {
    let allowed: Vec<&str> = question
        .allowed_replies
        .iter()
        .map(String::as_str)
        .collect();
    Ok(Class {
        risk: match question.action.risk_level {
            executor::RiskLevel::Low => Risk::Low,
            executor::RiskLevel::Medium => Risk::Medium,
            executor::RiskLevel::High => Risk::High,
        },
        irreversible: question.action.irreversible,
        default: match question.default_decision {
            executor::Decision::Accept => Decision::Accept,
            executor::Decision::Reject => Decision::Reject,
        },
        allowed: match allowed.as_slice() {
            ["accept", "reject"] => AllowedReplies::Both,
            ["accept"] => AllowedReplies::AcceptOnly,
            ["reject"] => AllowedReplies::RejectOnly,
            _ => return Err(unexplained("AAEP-6.3.4-6", "the allowed replies asked for")),
        },
    })
}

/// All that the executor holds, without what can make no difference: what its ids are called, how many events it has
/// numbered, and the time of its last call.
///
/// Ids are named in the order in which they first appear, so two executors that differ only in the values that their
/// source of ids gave them have the same identity.
pub(super) fn identity(world: &World, host: &Host) -> Vec<u8> {
    let mut document = serde_json::to_value(&host.producer).expect("a producer can be serialised");
    if let Some(members) = document.as_object_mut() {
        members.remove("now");
        let sessions = members
            .get_mut("sessions")
            .and_then(serde_json::Value::as_object_mut);
        for session in sessions.into_iter().flatten() {
            if let Some(session) = session.1.as_object_mut() {
                session.remove("next_sequence_number");
            }
        }
    }
    let _ = world;
    let mut text = document.to_string();
    for (number, names) in host.questions.iter().flatten().enumerate() {
        text = text.replace(names.reply_token.as_str(), &format!("#{number}"));
    }
    text.into_bytes()
}
