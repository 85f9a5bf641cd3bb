//! What an event has to say, to the last field.
//!
//! The one thing to know: which event is wanted is for the model's word to say; everything in it follows from the account, and
//! from what the host asked for.

use std::sync::Arc;

use countersign_model::aaep::action::Action;
use countersign_model::aaep::output::{Answered, Output};
use countersign_model::aaep::state::Phase as Word;
use countersign_model::aaep::words::{SessionName, SessionOutcome, Slot, Worked};
use countersign_reference::aaep::{
    self as executor, AgentState, Asked, CancelledBy, Canceller, Clarification, ClarificationPhase,
    ClarificationQuestion, Confirmation, CountersignExtension, ErrorCategory, Event, ExtraContext,
    OpenOutput, Payload, Phase, Progress, Question, ReplyToken, ResolutionOutcome, RunningTool,
    SessionId, SessionStatus, Tool, ToolCallId, ToolStatus, Urgency,
};
use countersign_reference::time::Timeout;

use super::{RUNS_UNASKED, TakenStep, asked, confirmed, settle_tool};
use crate::aaep::CONTRACT;
use crate::aaep::account::{Account, Held};
use crate::aaep::concrete::{CHARACTERS, Environment};
use crate::{Unexplained, unexplained};

/// What an event tells, and of which session and confirmation.
type EventContent = (SessionName, Payload, Option<CountersignExtension>);

impl TakenStep<'_> {
    /// AAEP-EV-1: the event, with its envelope.
    pub(super) fn event(
        &self,
        account: &mut Account,
        words: &[Output],
        came: &Event,
    ) -> Result<Event, Unexplained> {
        let (session, payload, resolution) = match words[0] {
            Output::Started(session) => {
                account.start_session(session);
                let summary_normal = "The session has started.";
                (session, Payload::SessionStarted { summary_normal }, None)
            }
            Output::CallingToolAgain(session) => {
                let text = "The tool is still running.";
                let payload = change_state(account, session, AgentState::CallingTool, text)?;
                (session, payload, None)
            }
            Output::AwaitingInput(session) => {
                let text = "Waiting for the user to decide.";
                let payload = change_state(account, session, AgentState::AwaitingInput, text)?;
                (session, payload, None)
            }
            Output::Thinking(session) => {
                let text = "The tool has come back.";
                let payload = change_state(account, session, AgentState::Thinking, text)?;
                (session, payload, None)
            }
            Output::CallingTool(session) => {
                // What is accepted is announced next.
                let slot = words.iter().copied().find_map(Output::slot);
                let slot = slot.ok_or_else(|| unexplained("AAEP-A.4-3", "an invocation"))?;
                let outcome = ResolutionOutcome::Accepted;
                let payload =
                    change_state(account, session, AgentState::CallingTool, summary(outcome))?;
                (session, payload, Some(resolution(account, slot, outcome)?))
            }
            Output::FollowUpLeaving(slot) => {
                self.follow_up(account, words, slot, AgentState::Thinking)?
            }
            Output::FollowUpStaying(slot) => {
                self.follow_up(account, words, slot, AgentState::AwaitingInput)?
            }
            Output::Asked(slot) => {
                let payload = self.question(account, slot, came)?;
                (self.session(slot), payload, None)
            }
            Output::Clarify(slot) => {
                let payload = self.clarification(account, slot, came)?;
                (self.session(slot), payload, None)
            }
            Output::MoreTime(slot) => {
                let (payload, about) = more_time(account, slot)?;
                (self.session(slot), payload, Some(about))
            }
            Output::Invoked(slot) => {
                let by = self.authority(account, slot)?;
                let tool = Tool::InFlight;
                account.set_phase(slot, Phase::Accepted { by, tool });
                let resolution = resolution(account, slot, ResolutionOutcome::Accepted)?;
                let payload = invocation(confirmed(account, slot)?);
                (self.session(slot), payload, Some(resolution))
            }
            Output::Completed(slot) => {
                settle_tool(account, slot, Tool::Finished);
                let question = confirmed(account, slot)?;
                let payload = self.completion(&question.action.tool, &question.tool_call_id);
                (self.session(slot), payload, None)
            }
            Output::Ended(session, outcome) => {
                let ending = account.session(session)?;
                ending.status = SessionStatus::Ended(ended(outcome));
                // AAEP-A.3-1: a session that is cancelled completes none of them.
                ending.work.running.clear();
                (session, terminal(outcome), None)
            }
            Output::Work(session, worked) => {
                (session, self.worked(account, session, worked, came)?, None)
            }
            Output::AskedSome(_)
            | Output::Answer(..)
            | Output::Perform(_)
            | Output::Withdraw(_)
            | Output::InDoubt(_)
            | Output::Respond
            | Output::Tell(_)
            | Output::Audit(_)
            | Output::Refused(_)
            | Output::Notice => return Err(unexplained(CONTRACT, "no event")),
        };
        let asks = matches!(words[0], Output::Asked(_) | Output::Clarify(_));
        let number = if self.action == Action::Crash && asks {
            account.note_again(session, &came.event_id)?
        } else {
            account.note_event(session, &came.event_id)?
        };
        let content = (session, payload, resolution);
        envelope(self.environment, account, content, number, came)
    }

    /// AAEP-6.1-3, AAEP-6.8-3: the event that reflects that the action will not run, and why. AAEP-A.5-1: or that there is an answer,
    /// or none.
    fn follow_up(
        &self,
        account: &mut Account,
        words: &[Output],
        slot: Slot,
        to: AgentState,
    ) -> Result<EventContent, Unexplained> {
        let is_cancelled = self.step.next.confirmation(slot).phase == Word::Cancelled;
        let clarifies = account.clarification(slot).is_some();
        let outcome = if is_cancelled {
            let by = if matches!(self.action, Action::EndSession { .. }) {
                Canceller::SessionEnd
            } else {
                Canceller::Producer
            };
            account.set_cancelled(slot, by);
            ResolutionOutcome::Cancelled
        } else if clarifies {
            let by = self.authority(account, slot)?;
            account.set_answered(slot, by);
            if words.contains(&Output::Answer(slot, Answered::Nobody)) {
                ResolutionOutcome::Unanswered
            } else {
                ResolutionOutcome::Answered
            }
        } else {
            let by = self.authority(account, slot)?;
            account.set_phase(slot, Phase::Rejected { by });
            ResolutionOutcome::Rejected
        };
        let session = self.session(slot);
        let text = if clarifies {
            summary_of_question(outcome)
        } else {
            summary(outcome)
        };
        let payload = change_state(account, session, to, text)?;
        Ok((session, payload, Some(resolution(account, slot, outcome)?)))
    }

    /// AAEP-EV-5: the event asks what the host wanted to ask, in every field.
    fn question(
        &self,
        account: &mut Account,
        slot: Slot,
        came: &Event,
    ) -> Result<Payload, Unexplained> {
        let Payload::AwaitingConfirmation {
            reply_token,
            extra_context: ExtraContext { tool_call_id },
            ..
        } = &came.payload
        else {
            return Err(unexplained("AAEP-6.2-1", "a question"));
        };
        if self.action == Action::Crash {
            return Self::question_again(account, slot);
        }
        if account.has_called(self.session(slot), tool_call_id) {
            let text = "a tool_call_id that no other call has";
            return Err(unexplained("AAEP-EV-13", text));
        }
        let ask = self.call.ask.as_ref();
        let ask = ask.ok_or_else(|| unexplained("AAEP-6.1-6", "no question unasked"))?;
        // AAEP-6.3.4-6: where the host names none, both.
        let both = || vec!["accept".to_owned(), "reject".to_owned()];
        let question = Question {
            asked: newly_asked(account, reply_token, &ask.session_id, ask.timeout_seconds)?,
            action: ask.action.clone(),
            tool_call_id: tool_call_id.clone(),
            default_decision: ask.default_decision,
            allowed_replies: ask.allowed_replies.clone().unwrap_or_else(both),
        };
        let payload = asking(&question);
        account.questions[slot.index()] = Some(Held::Confirmation(Confirmation {
            question: Arc::new(question),
            phase: Phase::Pending,
            modified_action: None,
        }));
        Ok(payload)
    }

    /// The same of a clarification.
    fn clarification(
        &self,
        account: &mut Account,
        slot: Slot,
        came: &Event,
    ) -> Result<Payload, Unexplained> {
        let Payload::AwaitingClarification { reply_token, .. } = &came.payload else {
            return Err(unexplained("AAEP-6.2-1", "a question"));
        };
        if self.action == Action::Crash {
            return Self::question_again(account, slot);
        }
        let clarify = self.call.clarify.as_ref();
        let clarify = clarify.ok_or_else(|| unexplained("AAEP-6.1-9", "no question unasked"))?;
        let session_id = &clarify.session_id;
        let question = ClarificationQuestion {
            asked: newly_asked(account, reply_token, session_id, clarify.timeout_seconds)?,
            text: Arc::clone(&clarify.question),
            accepted_response_kinds: clarify.accepted_response_kinds.clone(),
            choices: clarify.choices.clone(),
            default_response: clarify.default_response.clone(),
        };
        let payload = clarifying(&question);
        account.questions[slot.index()] = Some(Held::Clarification(Clarification {
            question: Arc::new(question),
            phase: ClarificationPhase::Pending,
        }));
        Ok(payload)
    }

    /// AAEP-6.7-1: a question that was lost is asked again as it was, and its timeout counts from now.
    fn question_again(account: &mut Account, slot: Slot) -> Result<Payload, Unexplained> {
        let now = account.now;
        let again = account.questions[slot.index()].as_mut();
        let again = again.ok_or_else(|| unexplained("AAEP-6.1-6", "no question unasked"))?;
        again.asked_mut().at = now;
        Ok(match again {
            Held::Confirmation(again) => asking(&again.question),
            Held::Clarification(again) => clarifying(&again.question),
        })
    }

    /// What comes of work around the questions.
    fn worked(
        &self,
        account: &mut Account,
        session: SessionName,
        worked: Worked,
        came: &Event,
    ) -> Result<Payload, Unexplained> {
        match worked {
            Worked::Calling => {
                change_state(account, session, AgentState::CallingTool, RUNS_UNASKED)
            }
            Worked::Writing => {
                let text = "Output is being written.";
                change_state(account, session, AgentState::WritingOutput, text)
            }
            Worked::Thinking => {
                let text = if self.call.chunk.is_some() {
                    "The output is complete."
                } else {
                    "The tool has come back."
                };
                change_state(account, session, AgentState::Thinking, text)
            }
            Worked::HandingOff => {
                let text = "The session is being handed off.";
                change_state(account, session, AgentState::HandingOff, text)
            }
            Worked::Invoked { .. } => self.unasked_invocation(account, session, came),
            Worked::Completed => {
                let running = &mut account.session(session)?.work.running;
                let back = running.pop();
                let back = back.ok_or_else(|| unexplained("AAEP-A.3-2", "an invocation before"))?;
                Ok(self.completion(&back.tool, &back.tool_call_id))
            }
            Worked::Chunk { .. } => self.chunk(account, session),
            Worked::HandedOff => {
                let handoff = self.call.handoff.as_ref();
                let handoff =
                    handoff.ok_or_else(|| unexplained("AAEP-A.2-3", "no handoff unasked"))?;
                Ok(Payload::HandoffRequested {
                    reason: Arc::clone(&handoff.reason),
                    target_kind: handoff.target_kind,
                    target_uri: handoff.target_uri.clone(),
                })
            }
            Worked::Perform | Worked::Withdraw | Worked::InDoubt => {
                Err(unexplained(CONTRACT, "no event"))
            }
        }
    }

    /// AAEP-EV-5: the event announces the call that the host wanted, in every field.
    fn unasked_invocation(
        &self,
        account: &mut Account,
        session: SessionName,
        came: &Event,
    ) -> Result<Payload, Unexplained> {
        let Payload::ToolInvoked { tool_call_id, .. } = &came.payload else {
            return Err(unexplained("AAEP-A.3-1", "an invocation"));
        };
        let run = self.call.run.as_ref();
        let run = run.ok_or_else(|| unexplained("AAEP-A.3-1", "no call that was not made"))?;
        // AAEP-EV-13: the host names the call, or it has a new name.
        let named = run.tool_call_id.as_ref();
        if named.is_none() && account.has_called(session, tool_call_id) {
            let text = "a tool_call_id that no other call has";
            return Err(unexplained("AAEP-EV-13", text));
        }
        let tool_call_id = named.unwrap_or(tool_call_id);
        let work = &mut account.session(session)?.work;
        work.tool_call_ids.insert(tool_call_id.clone());
        work.running.push(RunningTool {
            action: run.action.clone(),
            tool: Arc::clone(&run.tool),
            tool_call_id: tool_call_id.clone(),
        });
        Ok(Payload::ToolInvoked {
            tool: Arc::clone(&run.tool),
            summary_normal: "A tool that needs no question runs.".into(),
            tool_call_id: tool_call_id.clone(),
            args_summary: run.args_summary.clone(),
            risk_level: run.risk_level,
            irreversible: run.irreversible,
        })
    }

    /// AAEP-A.6-1, AAEP-A.6-2: what the host wanted to put out, where the chunk before it ends. The end of a session completes an
    /// output with nothing.
    fn chunk(&self, account: &mut Account, session: SessionName) -> Result<Payload, Unexplained> {
        let work = &mut account.session(session)?.work;
        let chunk = self.call.chunk.as_ref();
        let (text, complete) = chunk.map_or(("".into(), true), |it| (it.text.clone(), it.is_last));
        let output_id = self.environment.output.clone();
        let position = work.open_outputs.pop().map_or(0, |open| open.position);
        if complete {
            work.complete_outputs.insert(output_id.clone());
        } else {
            work.open_outputs.push(OpenOutput {
                output_id: output_id.clone(),
                position: position + CHARACTERS,
            });
        }
        Ok(Payload::OutputStreaming {
            output_id,
            chunk: text,
            position,
            complete,
        })
    }

    /// AAEP-A.3-1: the event completes the call that was announced, and comes out as it did: as the host says, or with an
    /// error where it never came back.
    fn completion(&self, tool: &Arc<str>, tool_call_id: &ToolCallId) -> Payload {
        Payload::ToolCompleted {
            tool: Arc::clone(tool),
            status: self.call.finished.unwrap_or(ToolStatus::Error),
            tool_call_id: tool_call_id.clone(),
        }
    }
}

/// AAEP-EV-1, AAEP-EV-3, AAEP-EV-6: the event that tells this now.
fn envelope(
    environment: &Environment,
    account: &Account,
    (session, payload, resolution): EventContent,
    sequence_number: u64,
    came: &Event,
) -> Result<Event, Unexplained> {
    // It is no field of its own, and stands on the wire all the same.
    let wanted = match payload {
        Payload::SessionErrored { .. }
        | Payload::HandoffRequested { .. }
        | Payload::AwaitingConfirmation { .. }
        | Payload::AwaitingClarification { .. } => Urgency::Critical,
        Payload::SessionStarted { .. }
        | Payload::SessionCompleted { .. }
        | Payload::SessionCancelled { .. }
        | Payload::StateChanged { .. }
        | Payload::ToolInvoked { .. }
        | Payload::ToolCompleted { .. }
        | Payload::OutputStreaming { .. }
        | Payload::ProgressUpdated { .. } => Urgency::Normal,
    };
    if payload.urgency() != wanted {
        let text = "urgency critical for questions, handoffs and failed sessions only";
        return Err(unexplained("AAEP-EV-6", text));
    }
    Ok(Event {
        sequence_number,
        event_id: came.event_id.clone(),
        session_id: environment.sessions[session.index()].clone(),
        timestamp: account.now,
        producer: Arc::clone(&environment.settings.identity),
        payload,
        extension: resolution,
    })
}

/// AAEP-EV-8: each change leaves the state that the one before it entered.
fn change_state(
    account: &mut Account,
    session: SessionName,
    to_state: AgentState,
    summary_normal: &'static str,
) -> Result<Payload, Unexplained> {
    let state = &mut account.session(session)?.state;
    Ok(Payload::StateChanged {
        from_state: std::mem::replace(state, to_state),
        to_state,
        summary_normal,
    })
}

/// AAEP-6.7.2-1: whoever reads the event learns which confirmation it resolves, and how.
fn resolution(
    account: &Account,
    slot: Slot,
    outcome: ResolutionOutcome,
) -> Result<CountersignExtension, Unexplained> {
    let action = account.question(slot);
    Ok(CountersignExtension {
        reply_token: asked(account, slot)?.reply_token.clone(),
        action: action.map(|question| question.action.id.clone()),
        outcome: Some(outcome),
    })
}

/// AAEP-6.1-3, AAEP-6.8-3: what a screen reader says of it.
fn summary(outcome: ResolutionOutcome) -> &'static str {
    match outcome {
        ResolutionOutcome::Accepted => "The action was accepted and proceeds.",
        ResolutionOutcome::Rejected => "The action was rejected and will not run.",
        ResolutionOutcome::Cancelled => "The action is no longer needed and will not run.",
        // No confirmation comes to these.
        ResolutionOutcome::Answered | ResolutionOutcome::Unanswered => "",
    }
}

/// AAEP-A.5-1: the same of a clarification.
fn summary_of_question(outcome: ResolutionOutcome) -> &'static str {
    match outcome {
        ResolutionOutcome::Answered => "The question is answered.",
        ResolutionOutcome::Unanswered => "Nobody has answered the question.",
        ResolutionOutcome::Cancelled => "The question is no longer needed.",
        // No clarification comes to these.
        ResolutionOutcome::Accepted | ResolutionOutcome::Rejected => "",
    }
}

/// AAEP-6.4.2-3: a question has a second more, which is told with the time that is left.
fn more_time(
    account: &mut Account,
    slot: Slot,
) -> Result<(Payload, CountersignExtension), Unexplained> {
    let now = account.now;
    let held = account.questions[slot.index()].as_mut();
    let held = held.ok_or_else(|| unexplained("AAEP-6.4.2-3", "no time for what was not asked"))?;
    let asked = held.asked_mut();
    let longer = u64::from(asked.timeout.seconds()) + 1;
    asked.timeout = Timeout::try_from(longer)
        .map_err(|_| unexplained("AAEP-6.4.2-3", "no question with such a timeout"))?;
    let eta_ms = asked.deadline().millis().abs_diff(now.millis());
    let seconds = eta_ms.div_ceil(1_000);
    let unit = if seconds == 1 { "second" } else { "seconds" };
    let payload = Payload::ProgressUpdated {
        progress: Progress {
            description: format!("There is more time to answer now: {seconds} {unit}."),
        },
        eta_ms,
    };
    let about = CountersignExtension {
        reply_token: asked.reply_token.clone(),
        action: None,
        outcome: None,
    };
    Ok((payload, about))
}

/// AAEP-6.2.2-3: what every new question has, with a token that no other has.
fn newly_asked(
    account: &Account,
    reply_token: &ReplyToken,
    session_id: &SessionId,
    timeout_seconds: u64,
) -> Result<Asked, Unexplained> {
    if account.slot_of_token(reply_token).is_some() {
        let text = "a token that was never issued before";
        return Err(unexplained("AAEP-6.2.2-3", text));
    }
    Ok(Asked {
        reply_token: reply_token.clone(),
        session_id: session_id.clone(),
        at: account.now,
        timeout: Timeout::try_from(timeout_seconds)
            .map_err(|_| unexplained("AAEP-EV-5", "no question with such a timeout"))?,
    })
}

/// AAEP-EV-5: the event that asks.
fn asking(question: &Question) -> Payload {
    Payload::AwaitingConfirmation {
        action: Arc::clone(&question.action.description),
        consequence: Arc::clone(&question.action.consequence),
        reply_token: question.asked.reply_token.clone(),
        timeout: question.asked.timeout,
        default_decision: question.default_decision,
        risk_level: question.action.risk_level,
        irreversible: question.action.irreversible,
        allowed_replies: question.allowed_replies.clone(),
        extra_context: ExtraContext {
            tool_call_id: question.tool_call_id.clone(),
        },
    }
}

/// AAEP-EV-5: the event that asks for a clarification.
fn clarifying(question: &ClarificationQuestion) -> Payload {
    Payload::AwaitingClarification {
        question: Arc::clone(&question.text),
        reply_token: question.asked.reply_token.clone(),
        timeout: question.asked.timeout,
        accepted_response_kinds: question.accepted_response_kinds.clone(),
        choices: question.choices.clone(),
        default_response: question.default_response.clone(),
    }
}

/// AAEP-EV-5: the event announces the call that was confirmed, in every field.
fn invocation(question: &Question) -> Payload {
    let action = &question.action;
    Payload::ToolInvoked {
        tool: Arc::clone(&action.tool),
        summary_normal: Arc::clone(&action.description),
        tool_call_id: question.tool_call_id.clone(),
        args_summary: None,
        risk_level: action.risk_level,
        irreversible: action.irreversible,
    }
}

fn ended(outcome: SessionOutcome) -> executor::SessionOutcome {
    match outcome {
        SessionOutcome::Completed => executor::SessionOutcome::Completed,
        SessionOutcome::Errored => executor::SessionOutcome::Errored,
        SessionOutcome::Cancelled => executor::SessionOutcome::Cancelled,
    }
}

/// AAEP-A.1-2: the terminal event speaks for the session, not for one of its confirmations.
fn terminal(outcome: SessionOutcome) -> Payload {
    match outcome {
        SessionOutcome::Completed => Payload::SessionCompleted {
            summary_normal: "The session has done its work.",
        },
        SessionOutcome::Errored => Payload::SessionErrored {
            error_category: ErrorCategory::Unknown,
            summary_normal: "The session has failed.",
        },
        SessionOutcome::Cancelled => Payload::SessionCancelled {
            cancelled_by: CancelledBy::Producer,
            summary_normal: "The session was cancelled, and every pending question with it.",
        },
    }
}
