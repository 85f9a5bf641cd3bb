//! What the model of the producer puts out, as outputs of the driver protocol.

use std::collections::BTreeMap;

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::action::Action;
use countersign_model::aaep::output::{Answered, Output};
use countersign_model::aaep::rules::Guard;
use countersign_model::aaep::state::State;
use countersign_model::aaep::told::Asked as Call;
use countersign_model::aaep::words::{SessionName, SessionOutcome, Slot, Worked};
use countersign_model::judged::CallTold as _;
use countersign_model::specification::{Modelled as _, Specification};
use countersign_protocol::aaep::{
    self as driver, Aaep, AnsweredBy, Capability, Op as Own, ToolAction, ToolStatus,
};
use countersign_protocol::{Common, Greeting, Json, Op, Output as Put, Refused};
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::Driver;
use crate::suite::party::{AnsweringByModel, Asked};

/// What was asked and has come out in a run so far.
#[derive(Default)]
pub struct Said {
    sessions: BTreeMap<SessionName, String>,
    /// The state in which each of them was told to be.
    states: BTreeMap<SessionName, &'static str>,
    /// Those who can reply.
    capable: Vec<String>,
    /// The request for each question, and when it was asked.
    questions: BTreeMap<Slot, (Own, i64)>,
    /// The tool that runs unasked in a session.
    unasked: BTreeMap<SessionName, ToolAction>,
    /// The calls of tools that are in flight.
    calls: BTreeMap<Runs, String>,
    /// What a session has to say: its output, and how long a chunk of it is.
    streams: BTreeMap<SessionName, (String, usize)>,
    /// How many events and calls there are.
    named: u32,
}

/// What a tool runs for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Runs {
    Question(Slot),
    Unasked(SessionName),
}

impl AnsweringByModel for Driver {
    type Said = Said;
    const BESIDES: &'static [Action] = &[Action::ServeTimer];
    const UNSEEN: &'static [(Guard, &'static str)] = &[
        (
            Guard::TellsCheck,
            "no run of the suite has another response that it would have to be like",
        ),
        (
            Guard::CompletesUninvoked,
            "the driver reports the end of no tool that was not to run",
        ),
        (
            Guard::IgnoresClosing,
            "by the reading early-default-on-close: never nothing is wrong",
        ),
    ];

    fn greeting() -> Greeting<Aaep> {
        Greeting {
            name: "model".to_owned(),
            supports: [
                Capability::Clarify,
                Capability::Cancel,
                Capability::Extend,
                Capability::Delivery,
                Capability::Work,
                Capability::Restart,
            ]
            .into(),
            shows: None,
        }
    }

    /// All that came out was carried out, unless the process has died.
    fn received(model: &Specification<AaepProtocol>, mut state: State, op: &Op<Aaep>) -> State {
        if matches!(op, Op::Common(Common::Restart { .. })) {
            return state;
        }
        while let Some(taken) = AaepProtocol::take(model, &state, Action::CarryOut, 0) {
            state = model.reduced(&taken.next);
        }
        state
    }

    fn outputs(said: &mut Said, asked: &Asked<'_, Self>) -> Option<Vec<Put<Aaep>>> {
        let outputs = asked.taken.told.outputs();
        if let Op::Own(op) = asked.op {
            said.is_asked(op, asked)?;
        }
        let mut all = Vec::new();
        for &output in outputs {
            let Some(what) = said.output(output, asked) else {
                continue;
            };
            let capable = matches!(output, Output::AskedSome(_)).then(|| said.capable.clone());
            all.push(Put { what, to: capable });
        }
        Some(all)
    }
}

impl Said {
    /// Nothing where a session is to start that the model takes for another.
    fn is_asked(&mut self, op: &Own, asked: &Asked<'_, Driver>) -> Option<()> {
        if let (Call::Start(name), Own::StartSession { session_id }) = (asked.taken.told.call, op) {
            let id = session_id.as_ref()?;
            if self.sessions.entry(name).or_insert_with(|| id.clone()) != id {
                return None;
            }
        }
        for output in asked.taken.told.outputs() {
            match (*output, op) {
                (
                    Output::Asked(slot) | Output::AskedSome(slot) | Output::Clarify(slot),
                    Own::Confirm { .. } | Own::Clarify { .. },
                ) => {
                    self.questions.insert(slot, (op.clone(), asked.now));
                }
                (Output::Work(name, Worked::Invoked { .. }), Own::Tool { action, .. }) => {
                    self.unasked.insert(name, action.clone());
                }
                (
                    Output::Work(name, Worked::Chunk { .. }),
                    Own::Output {
                        output_id, chunk, ..
                    },
                ) => {
                    let length = chunk.chars().count();
                    self.streams.insert(name, (output_id.clone(), length));
                }
                _ => {}
            }
        }
        if let Own::Subscribe {
            subscription_id,
            capabilities,
        } = op
            && capabilities.supports_confirmation_reply
        {
            self.capable.push(subscription_id.clone());
        }
        Some(())
    }

    /// Nothing where it is for the host alone.
    fn output(&mut self, output: Output, asked: &Asked<'_, Driver>) -> Option<driver::Output> {
        let of = |slot| asked.taken.told.session(slot);
        let now = asked.now;
        match output {
            Output::Started(name) => self.emit(
                name,
                now,
                "session.started",
                json!({"summary_normal": "Started."}),
            ),
            Output::AwaitingInput(name) => self.changes(name, now, "awaiting_input"),
            Output::CallingTool(name) | Output::CallingToolAgain(name) => {
                self.changes(name, now, "calling_tool")
            }
            Output::FollowUpLeaving(slot) => self.changes(of(slot), now, "thinking"),
            Output::FollowUpStaying(slot) => self.changes(of(slot), now, "awaiting_input"),
            Output::Thinking(name) => self.changes(name, now, "thinking"),
            Output::Asked(slot) | Output::AskedSome(slot) | Output::Clarify(slot) => {
                self.asks(slot, asked)
            }
            Output::MoreTime(slot) => {
                let Op::Own(Own::Extend {
                    timeout_seconds, ..
                }) = asked.op
                else {
                    return None;
                };
                let until = self.questions.get(&slot)?.1 + 1_000 * timeout_seconds;
                let members =
                    json!({"progress": {"description": "Waiting."}, "eta_ms": until - now});
                self.emit(of(slot), now, "progress.updated", members)
            }
            Output::Answer(slot, answered) => self.answer(slot, answered, asked),
            Output::Invoked(slot) => {
                let Own::Confirm { action, .. } = self.questions.get(&slot)?.0.clone() else {
                    return None;
                };
                let members = json!({
                    "tool": action.tool, "tool_call_id": self.call(Runs::Question(slot)),
                    "summary_normal": "Running.", "risk_level": action.risk_level,
                    "irreversible": action.irreversible,
                });
                self.emit(of(slot), now, "tool.invoked", members)
            }
            Output::Perform(slot) => Some(driver::Output::Perform(
                self.run(Runs::Question(slot), asked)?,
            )),
            Output::InDoubt(slot) => Some(driver::Output::InDoubt(
                self.run(Runs::Question(slot), asked)?,
            )),
            Output::Completed(slot) => self.completes(Runs::Question(slot), asked),
            Output::Ended(name, outcome) => {
                let (kind, mut members) = match outcome {
                    SessionOutcome::Completed => ("session.completed", json!({})),
                    SessionOutcome::Errored => (
                        "session.errored",
                        json!({"error_category": "unknown", "urgency": "critical"}),
                    ),
                    SessionOutcome::Cancelled => {
                        ("session.cancelled", json!({"cancelled_by": "user"}))
                    }
                };
                members["summary_normal"] = "Over.".into();
                self.emit(name, now, kind, members)
            }
            Output::Work(name, worked) => self.works(name, worked, asked),
            Output::Respond => Some(sent(204)),
            Output::Tell(check) => Some(sent(400 + check as u16)),
            Output::Notice => {
                let Op::Own(Own::Deliver(driver::Deliver { sender, .. })) = asked.op else {
                    return None;
                };
                Some(driver::Output::Notify(driver::Notice {
                    subscription_id: sender.subscription_id.clone()?,
                    reply_token: None,
                }))
            }
            Output::Refused(refusal) => Some(driver::Output::Refused(Refused {
                clause: None,
                reason: format!("{refusal:?}"),
            })),
            Output::Withdraw(_) | Output::Audit(_) => None,
        }
    }

    fn works(
        &mut self,
        name: SessionName,
        worked: Worked,
        asked: &Asked<'_, Driver>,
    ) -> Option<driver::Output> {
        let now = asked.now;
        let runs = Runs::Unasked(name);
        match worked {
            Worked::Calling => self.changes(name, now, "calling_tool"),
            Worked::Writing => self.changes(name, now, "writing_output"),
            Worked::Thinking => self.changes(name, now, "thinking"),
            Worked::HandingOff => self.changes(name, now, "handing_off"),
            Worked::Invoked { irreversible } => {
                let action = self.unasked.get(&name)?.clone();
                let mut members = json!({
                    "tool": action.tool, "tool_call_id": self.call(runs),
                    "summary_normal": "Running.", "irreversible": irreversible,
                });
                if let Some(summary) = action.args_summary {
                    members["args_summary"] = summary.into();
                }
                if let Some(level) = action.risk_level {
                    members["risk_level"] = json!(level);
                }
                self.emit(name, now, "tool.invoked", members)
            }
            Worked::Perform => Some(driver::Output::Perform(self.run(runs, asked)?)),
            Worked::InDoubt => Some(driver::Output::InDoubt(self.run(runs, asked)?)),
            Worked::Completed => self.completes(runs, asked),
            Worked::Chunk { position, complete } => {
                let (output, length) = self.streams.get(&name)?.clone();
                let chunk = match asked.op {
                    Op::Own(Own::Output { chunk, .. }) => chunk.as_str(),
                    Op::Common(_) | Op::Own(_) => "",
                };
                let members = json!({
                    "output_id": output, "chunk": chunk, "position": length * usize::from(position),
                    "complete": complete,
                });
                self.emit(name, now, "output.streaming", members)
            }
            Worked::HandedOff => {
                let Op::Own(Own::Handoff {
                    reason,
                    target_kind,
                    target_uri,
                    ..
                }) = asked.op
                else {
                    return None;
                };
                let mut members =
                    json!({"reason": reason, "target_kind": target_kind, "urgency": "critical"});
                if let Some(uri) = target_uri {
                    members["target_uri"] = uri.as_str().into();
                }
                self.emit(name, now, "handoff.requested", members)
            }
            Worked::Withdraw => None,
        }
    }

    /// The question, which waits from now on.
    fn asks(&mut self, slot: Slot, asked: &Asked<'_, Driver>) -> Option<driver::Output> {
        let (op, at) = self.questions.get_mut(&slot)?;
        *at = asked.now;
        let (kind, mut members) = match op {
            Own::Confirm {
                action,
                timeout_seconds,
                default_decision,
                allowed_replies,
                ..
            } => (
                "awaiting.confirmation",
                json!({
                    "action": action.description, "consequence": action.consequence,
                    "timeout_seconds": timeout_seconds, "default_decision": default_decision,
                    "risk_level": action.risk_level, "irreversible": action.irreversible,
                    "allowed_replies": allowed_replies,
                }),
            ),
            Own::Clarify {
                question,
                accepted_response_kinds,
                choices,
                timeout_seconds,
                default_response,
                ..
            } => (
                "awaiting.clarification",
                json!({
                    "question": question, "timeout_seconds": timeout_seconds,
                    "accepted_response_kinds": accepted_response_kinds, "choices": choices,
                    "default_response": default_response,
                }),
            ),
            Own::StartSession { .. }
            | Own::Subscribe { .. }
            | Own::Unsubscribe { .. }
            | Own::Deliver(_)
            | Own::Cancel { .. }
            | Own::Extend { .. }
            | Own::Tool { .. }
            | Own::FinishTool { .. }
            | Own::Output { .. }
            | Own::Handoff { .. }
            | Own::EndSession { .. } => return None,
        };
        members["reply_token"] = token(slot, asked).into();
        members["urgency"] = "critical".into();
        self.emit(asked.taken.told.session(slot), asked.now, kind, members)
    }

    fn answer(
        &self,
        slot: Slot,
        answered: Answered,
        asked: &Asked<'_, Driver>,
    ) -> Option<driver::Output> {
        let (response, by) = match (answered, asked.op, &self.questions.get(&slot)?.0) {
            (Answered::Reply(_), Op::Own(Own::Deliver(delivered)), _) => {
                let reply: Value = serde_json::from_slice(&delivered.message).ok()?;
                (Some(json(&reply["response"])), AnsweredBy::Reply)
            }
            (
                Answered::Default,
                _,
                Own::Clarify {
                    default_response, ..
                },
            ) => {
                let response = default_response.clone()?.into();
                (Some(json(&response)), AnsweredBy::Default)
            }
            _ => (None, AnsweredBy::Nobody),
        };
        Some(driver::Output::Answer(driver::Answered {
            session_id: self.sessions.get(&asked.taken.told.session(slot))?.clone(),
            reply_token: token(slot, asked),
            response,
            by,
        }))
    }

    /// The call that is in flight, or else a new one.
    fn call(&mut self, runs: Runs) -> String {
        self.named += 1;
        let new = format!("call_{}", self.named);
        self.calls.entry(runs).or_insert(new).clone()
    }

    fn run(&mut self, runs: Runs, asked: &Asked<'_, Driver>) -> Option<driver::ToolCall> {
        let (name, action, tool, reply_token) = match runs {
            Runs::Question(slot) => {
                let (Own::Confirm { action, .. }, _) = self.questions.get(&slot)? else {
                    return None;
                };
                let name = asked.taken.told.session(slot);
                (name, &action.id, &action.tool, Some(token(slot, asked)))
            }
            Runs::Unasked(name) => {
                let action = self.unasked.get(&name)?;
                (name, &action.id, &action.tool, None)
            }
        };
        let (action, tool) = (action.clone(), Some(tool.clone()));
        Some(driver::ToolCall {
            action,
            session_id: self.sessions.get(&name)?.clone(),
            tool,
            tool_call_id: self.call(runs),
            reply_token,
            modified_action: None,
        })
    }

    fn completes(&mut self, runs: Runs, asked: &Asked<'_, Driver>) -> Option<driver::Output> {
        let run = self.run(runs, asked)?;
        self.calls.remove(&runs);
        let name = match runs {
            Runs::Question(slot) => asked.taken.told.session(slot),
            Runs::Unasked(name) => name,
        };
        let status = match asked.op {
            Op::Own(Own::EndSession { .. }) => ToolStatus::Error,
            Op::Common(_) | Op::Own(_) => ToolStatus::Success,
        };
        let members = json!({"tool": run.tool, "tool_call_id": run.tool_call_id, "status": status});
        self.emit(name, asked.now, "tool.completed", members)
    }

    fn changes(&mut self, name: SessionName, now: i64, to: &'static str) -> Option<driver::Output> {
        let from = self.states.insert(name, to).unwrap_or("idle");
        self.emit(
            name,
            now,
            "state.changed",
            json!({"from_state": from, "to_state": to}),
        )
    }

    /// An event with these members, those left out that are null.
    fn emit(
        &mut self,
        name: SessionName,
        now: i64,
        kind: &str,
        mut members: Value,
    ) -> Option<driver::Output> {
        self.named += 1;
        let members = members.as_object_mut()?;
        members.retain(|_, it| !it.is_null());
        let envelope = [
            ("@context", json!("https://aaep-protocol.org/context/v1")),
            ("type", json!(format!("aaep:agent.{kind}"))),
            ("event_id", json!(format!("evt_{}", self.named))),
            ("session_id", json!(self.sessions.get(&name)?)),
            ("timestamp", json!(Timestamp::from_millis(now).to_string())),
            ("producer", json!({"agent_id": "model"})),
        ];
        members.extend(envelope.map(|(name, it)| (name.to_owned(), it)));
        Some(driver::Output::Emit(json(&json!(members))))
    }
}

/// The token of a question.
fn token(slot: Slot, asked: &Asked<'_, Driver>) -> String {
    let of = if asked.taken.after.confirmation(slot).reused_token {
        Slot::First
    } else {
        slot
    };
    format!("rpl_{:032}", of.index())
}

fn sent(status: u16) -> driver::Output {
    let body = None;
    driver::Output::Respond(driver::Sent { status, body })
}

fn json(value: &Value) -> Json {
    Json::of(value).expect("plain data")
}
