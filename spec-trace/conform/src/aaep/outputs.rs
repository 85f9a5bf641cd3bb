//! From the executor to the model's words: what it put out.
//!
//! The one thing to know: an output that has no word in the model is not passed over. It is [`Unexplained`], and so is an
//! event whose envelope contradicts what came before it, or whose payload is not what was asked.

use std::sync::Arc;

use countersign_model::aaep::output::Output;
use countersign_model::aaep::rules::{Check, Refusal};
use countersign_model::aaep::words::{SessionName, SessionOutcome, Slot};
use countersign_reference::aaep as executor;
use countersign_reference::aaep::{
    AgentState, Ask, CountersignExtension, Event, ExtraContext, Input, Outcome, Payload,
    ResolutionOutcome, ToolStatus, Urgency,
};
use countersign_reference::time::Timeout;

use super::abstraction::session_named;
use super::concrete::World;
use super::{Asked, Host};
use crate::{Unexplained, unexplained};

/// What of a call its outputs are held against.
pub(super) struct Call {
    /// What is asked, if the call asks.
    ask: Option<Arc<Ask>>,
    /// How the calls of tools that it completes come out: as the host says, or with an error where they never came back.
    completes_with: ToolStatus,
}

impl Call {
    pub(super) fn of(input: &Input) -> Self {
        Self {
            ask: match input {
                Input::Confirm(ask) => Some(Arc::new(ask.clone())),
                Input::StartSession { .. }
                | Input::Subscribe { .. }
                | Input::Unsubscribe { .. }
                | Input::Deliver { .. }
                | Input::Cancel { .. }
                | Input::FinishTool { .. }
                | Input::EndSession { .. }
                | Input::Tick
                | Input::Restart => None,
            },
            completes_with: match input {
                Input::FinishTool { status, .. } => *status,
                Input::StartSession { .. }
                | Input::Subscribe { .. }
                | Input::Unsubscribe { .. }
                | Input::Confirm(_)
                | Input::Deliver { .. }
                | Input::Cancel { .. }
                | Input::EndSession { .. }
                | Input::Tick
                | Input::Restart => ToolStatus::Error,
            },
        }
    }
}

/// What came out of one call, in the model's words. Notes what was asked and under which names, and what the events tell.
///
/// # Errors
///
/// [`Unexplained`] for the first output that the model has no word for.
pub(super) fn outputs(
    world: &World,
    host: &mut Host,
    call: &Call,
    outcome: &Outcome,
) -> Result<Vec<Output>, Unexplained> {
    let mut words = Vec::with_capacity(outcome.outputs.len() + 1);
    for output in &outcome.outputs {
        words.push(match output {
            executor::Output::Emit(event) => {
                check_envelope(world, host, event)?;
                event_in_words(world, host, call, event)?
            }
            executor::Output::Perform(call) => Output::Perform(slot_of(host, call)?),
            executor::Output::Withdraw(call) => Output::Withdraw(slot_of(host, call)?),
            executor::Output::InDoubt(call) => Output::InDoubt(slot_of(host, call)?),
            // A producer may send them; this one was told not to.
            executor::Output::Notify(_) => {
                return Err(unexplained("AAEP-6.3.4-9", "no courtesy notice"));
            }
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

/// AAEP-EV-3, AAEP-EV-4, AAEP-EV-6: the time is now, the numbers have no gaps, and what is critical says so.
fn check_envelope(world: &World, host: &mut Host, event: &Event) -> Result<(), Unexplained> {
    let session = session_named(world, &event.session_id)?;
    let told = &mut host.told[session.index()];
    if event.sequence_number != told.next_sequence_number {
        let text = format!("sequence_number {}", told.next_sequence_number);
        return Err(unexplained("AAEP-EV-4", text));
    }
    told.next_sequence_number += 1;
    if event.timestamp != host.producer.now() {
        let text = "the time of the call as timestamp";
        return Err(unexplained("AAEP-EV-3", text));
    }
    let is_critical = matches!(
        event.payload,
        Payload::AwaitingConfirmation { .. } | Payload::SessionErrored { .. }
    );
    if (event.payload.urgency() == Urgency::Critical) == is_critical {
        Ok(())
    } else {
        let text = "critical urgency for a question and a failed session alone";
        Err(unexplained("AAEP-EV-6", text))
    }
}

fn event_in_words(
    world: &World,
    host: &mut Host,
    call: &Call,
    event: &Event,
) -> Result<Output, Unexplained> {
    let session = session_named(world, &event.session_id)?;
    match &event.payload {
        Payload::SessionStarted { .. } => Err(unexplained(
            "AAEP-A.1-1",
            "one session.started for each session",
        )),
        // AAEP-A.1-2: the terminal event speaks for the session, not for one of its confirmations.
        Payload::SessionCompleted { .. }
        | Payload::SessionErrored { .. }
        | Payload::SessionCancelled { .. }
            if event.resolution.is_some() =>
        {
            Err(unexplained(
                "AAEP-A.1-2",
                "a terminal event without a resolution",
            ))
        }
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
        Payload::ToolInvoked { tool_call_id, .. } => {
            let slot = host
                .slot_of_call(tool_call_id)
                .ok_or_else(|| unexplained("AAEP-A.7.4-1", "the tool_call_id of a confirmation"))?;
            check_invocation(host.asked(slot), event).map(|()| Output::Invoked(slot))
        }
        Payload::ToolCompleted { tool_call_id, .. } => {
            let slot = host
                .slot_of_call(tool_call_id)
                .ok_or_else(|| unexplained("AAEP-A.3-2", "the tool_call_id of an invocation"))?;
            check_completion(host.asked(slot), call, event).map(|()| Output::Completed(slot))
        }
        Payload::AwaitingConfirmation {
            reply_token,
            extra_context,
            ..
        } => {
            let ask = call.ask.clone();
            let asked = Asked {
                ask: ask.ok_or_else(|| unexplained("AAEP-6.1-6", "no question unasked"))?,
                reply_token: reply_token.clone(),
                tool_call_id: extra_context.tool_call_id.clone(),
            };
            check_question(&asked, event)?;
            note_question(host, asked).map(Output::Asked)
        }
    }
}

/// AAEP-EV-5: the event asks what the host wanted to ask, in every field.
fn check_question(asked: &Asked, event: &Event) -> Result<(), Unexplained> {
    let ask = &asked.ask;
    let both = || vec!["accept".to_owned(), "reject".to_owned()];
    let wanted = Payload::AwaitingConfirmation {
        action: Arc::clone(&ask.action.description),
        consequence: Arc::clone(&ask.action.consequence),
        reply_token: asked.reply_token.clone(),
        timeout: Timeout::try_from(ask.timeout_seconds)
            .map_err(|_| unexplained("AAEP-EV-5", "no question with such a timeout"))?,
        default_decision: ask.default_decision,
        risk_level: ask.action.risk_level,
        irreversible: ask.action.irreversible,
        // AAEP-6.3.4-6: where the host names none, both.
        allowed_replies: ask.allowed_replies.clone().unwrap_or_else(both),
        extra_context: ExtraContext {
            tool_call_id: asked.tool_call_id.clone(),
        },
    };
    check_event(asked, event, &wanted, None)
}

/// AAEP-EV-5: the event announces the call that was confirmed, in every field, and says which confirmation released it.
fn check_invocation(asked: &Asked, event: &Event) -> Result<(), Unexplained> {
    let action = &asked.ask.action;
    let wanted = Payload::ToolInvoked {
        tool: Arc::clone(&action.tool),
        summary_normal: Arc::clone(&action.description),
        tool_call_id: asked.tool_call_id.clone(),
        risk_level: action.risk_level,
        irreversible: action.irreversible,
    };
    check_event(asked, event, &wanted, Some(ResolutionOutcome::Accepted))
}

/// AAEP-A.3-1: the event completes the call that was announced, and comes out as it did.
fn check_completion(asked: &Asked, call: &Call, event: &Event) -> Result<(), Unexplained> {
    let wanted = Payload::ToolCompleted {
        tool: Arc::clone(&asked.ask.action.tool),
        status: call.completes_with,
        tool_call_id: asked.tool_call_id.clone(),
    };
    check_event(asked, event, &wanted, None)
}

/// An event about a confirmation is one of its session, says what is wanted, and resolves it as is wanted.
fn check_event(
    asked: &Asked,
    event: &Event,
    wanted: &Payload,
    outcome: Option<ResolutionOutcome>,
) -> Result<(), Unexplained> {
    if event.session_id != asked.ask.session_id {
        let text = format!("an event of session {}", asked.ask.session_id);
        return Err(unexplained("AAEP-EV-1", text));
    }
    if event.payload != *wanted {
        let wanted = serde_json::to_string(wanted).unwrap_or_default();
        return Err(unexplained("AAEP-EV-5", wanted));
    }
    check_resolution(asked, event, outcome)
}

/// AAEP-6.7.2-1: whoever reads the event learns which confirmation it resolves and how, if it resolves one.
fn check_resolution(
    asked: &Asked,
    event: &Event,
    outcome: Option<ResolutionOutcome>,
) -> Result<(), Unexplained> {
    let wanted = outcome.map(|outcome| CountersignExtension {
        reply_token: asked.reply_token.clone(),
        action: asked.ask.action.id.clone(),
        outcome,
    });
    if event.resolution == wanted {
        return Ok(());
    }
    let wanted = serde_json::to_string(&wanted).unwrap_or_default();
    let text = format!("the resolution {wanted}");
    Err(unexplained("AAEP-6.7.2-1", text))
}

/// The next free slot takes the confirmation that was just put out.
fn note_question(host: &mut Host, asked: Asked) -> Result<Slot, Unexplained> {
    if host.slot_of_token(&asked.reply_token).is_some() {
        let text = "a token that was never issued before";
        return Err(unexplained("AAEP-6.2.2-3", text));
    }
    if host.slot_of_call(&asked.tool_call_id).is_some() {
        let text = "a tool_call_id that no other call has";
        return Err(unexplained("AAEP-EV-13", text));
    }
    let free = Slot::ALL
        .into_iter()
        .find(|slot| host.questions[slot.index()].is_none());
    let slot = free.ok_or_else(|| unexplained("AAEP-6.1-6", "no further question"))?;
    host.questions[slot.index()] = Some(asked);
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
    let asked = host.asked(slot);
    check_resolution(asked, event, Some(resolution.outcome))?;
    if event.session_id != asked.ask.session_id {
        let text = format!("an event of session {}", asked.ask.session_id);
        return Err(unexplained("AAEP-EV-1", text));
    }
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

/// AAEP-6.1-1: what is to be performed is what was confirmed.
fn slot_of(host: &Host, call: &executor::ToolCall) -> Result<Slot, Unexplained> {
    let slot = host
        .slot_of_token(&call.reply_token)
        .ok_or_else(|| unexplained("AAEP-6.1-1", "the action of a confirmation"))?;
    let asked = host.asked(slot);
    let confirmed = executor::ToolCall {
        session_id: asked.ask.session_id.clone(),
        action: asked.ask.action.id.clone(),
        tool: Arc::clone(&asked.ask.action.tool),
        tool_call_id: asked.tool_call_id.clone(),
        reply_token: asked.reply_token.clone(),
    };
    if *call == confirmed {
        Ok(slot)
    } else {
        Err(unexplained("AAEP-6.1-1", format!("{confirmed:?}")))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sides as _;
    use crate::aaep::AaepBridge;
    use countersign_model::aaep::action::Action;
    use countersign_model::aaep::bounds::Bounds;
    use countersign_model::aaep::words::{AllowedReplies, Class, Decision, Risk};

    /// The start, and a question whose default is accept after one second.
    fn start() -> (AaepBridge, Host, Ask) {
        let bridge = AaepBridge::new(Bounds::SMALL).expect("the presets are in range");
        let (state, host) = bridge.begin();
        let action = Action::Ask {
            session: SessionName::A,
            class: Class {
                risk: Risk::Low,
                irreversible: false,
                default: Decision::Accept,
                allowed: AllowedReplies::Both,
            },
            timeout: 1,
            same_action: false,
        };
        match bridge.world.input(&host, &state, action) {
            Some(Input::Confirm(ask)) => (bridge, host, ask),
            other => panic!("no question: {other:?}"),
        }
    }

    /// How an executor is judged that asks `asked` where the host wanted to ask `wanted`, and then lets the default
    /// apply: the judgement of the question, and that of what follows if the question had passed.
    fn judged(wanted: &Ask, asked: &Ask) -> [Option<&'static str>; 2] {
        let (bridge, mut host, _) = start();
        let world = &bridge.world;
        let take = |host: &mut Host, tick, input| {
            let time = world.time(tick);
            host.producer.handle(time, &mut host.ids, input)
        };
        let call = |ask: &Ask| Call::of(&Input::Confirm(ask.clone()));
        let outcome = take(&mut host, 0, Input::Confirm(asked.clone()));
        let question = outputs(world, &mut host.clone(), &call(wanted), &outcome);
        outputs(world, &mut host, &call(asked), &outcome).expect("asked as wanted");
        if let Some(noted) = &mut host.questions[0] {
            noted.ask = Arc::new(wanted.clone());
        }
        let outcome = take(&mut host, 1, Input::Tick);
        let resolution = outputs(world, &mut host, &Call::of(&Input::Tick), &outcome);
        [question, resolution].map(|judged| judged.err().map(|unexplained| unexplained.clause))
    }

    /// AAEP-EV-5, AAEP-6.7.2-1: the events and the call of the tool say what the host asked for, in every field.
    #[test]
    fn what_is_put_out_is_held_against_what_was_asked() {
        type Change = fn(&mut Ask);
        let changes: [(Change, [Option<&str>; 2]); 11] = [
            (|_| {}, [None, None]),
            (|ask| ask.allowed_replies = None, [None, None]),
            (
                |ask| ask.action.description = "x".into(),
                [Some("AAEP-EV-5"); 2],
            ),
            (
                |ask| ask.action.consequence = "x".into(),
                [Some("AAEP-EV-5"), None],
            ),
            (
                |ask| ask.action.risk_level = executor::RiskLevel::High,
                [Some("AAEP-EV-5"); 2],
            ),
            (|ask| ask.action.irreversible = true, [Some("AAEP-EV-5"); 2]),
            (|ask| ask.timeout_seconds = 2, [Some("AAEP-EV-5"), None]),
            (
                |ask| ask.default_decision = executor::Decision::Reject,
                [Some("AAEP-EV-5"), None],
            ),
            (
                |ask| ask.allowed_replies = Some(vec!["accept".to_owned()]),
                [Some("AAEP-EV-5"), None],
            ),
            (
                |ask| ask.action.tool = "x".into(),
                [None, Some("AAEP-EV-5")],
            ),
            (
                |ask| ask.action.id = executor::ActionId::parse("x").expect("an action id"),
                [None, Some("AAEP-6.7.2-1")],
            ),
        ];
        let (_, _, asked) = start();
        for (number, (change, verdicts)) in changes.into_iter().enumerate() {
            let mut wanted = asked.clone();
            change(&mut wanted);
            assert_eq!(judged(&wanted, &asked), verdicts, "change {number}");
        }
    }

    /// AAEP-EV-1: an event about a confirmation belongs to the session of the confirmation.
    #[test]
    fn an_event_of_another_session_is_not_explained() {
        let (bridge, _, asked) = start();
        let mut wanted = asked.clone();
        wanted.session_id = bridge.world.sessions[SessionName::B.index()].clone();
        assert_eq!(judged(&wanted, &asked), [Some("AAEP-EV-1"); 2]);
    }

    /// AAEP-6.1-1: what is to be performed is what was confirmed, whatever the events said.
    #[test]
    fn the_call_of_another_action_is_not_explained() {
        let (bridge, mut host, ask) = start();
        let now = bridge.world.time(0);
        let input = Input::Confirm(ask.clone());
        let call = Call::of(&input);
        let outcome = host.producer.handle(now, &mut host.ids, input);
        outputs(&bridge.world, &mut host, &call, &outcome).expect("asked as wanted");
        let question = Arc::clone(&host.producer.confirmations()[0].question);
        assert_eq!(slot_of(&host, &question.tool_call()), Ok(Slot::First));
        let mut other = question.tool_call();
        other.tool = "x".into();
        let unexplained = slot_of(&host, &other).expect_err("another tool");
        assert_eq!(unexplained.clause, "AAEP-6.1-1");
    }
}
