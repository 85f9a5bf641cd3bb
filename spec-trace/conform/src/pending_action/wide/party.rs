//! What the model of the ledger puts out, as outputs of the driver protocol.
//!
//! The one thing to know: what was told once is kept as it was told, for after a crash it has to come again to the letter.

use std::collections::BTreeMap;

use countersign_model::judged::CallTold as _;
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::outbox::Item;
use countersign_model::pending_action::output::{Event as Told, Output};
use countersign_model::pending_action::rules::Guard;
use countersign_model::pending_action::state::State;
use countersign_model::pending_action::words::{Arguments, Decision, Note, Slot, ToolStatus};
use countersign_model::specification::{Modelled as _, Specification};
use countersign_protocol::pending_action::{
    self as driver, Append, CancelReason, Capability, Event, Happened, Message, Op as Own,
    PendingAction, Propose,
};
use countersign_protocol::{Common, Greeting, Json, Op, Output as Put, Refused};
use countersign_reference::time::Timestamp;
use serde::Serialize;

use super::Driver;
use crate::suite::party::{Answering, Asked};

/// What has come out in a run so far.
#[derive(Default)]
pub struct Said {
    /// What was proposed, by the slot that it fills.
    proposed: BTreeMap<Slot, Propose>,
    /// What its tool has returned.
    returned: BTreeMap<Slot, Json>,
    /// Each message and event as it was told first.
    told: BTreeMap<Output, driver::Output>,
    /// How many messages and events there are.
    named: u32,
    /// What came out last.
    last: Vec<Put<PendingAction>>,
}

impl Answering for Driver {
    type Said = Said;
    const BESIDES: &'static [Action] = &[Action::ServeTimer];
    const UNSEEN: &'static [(Guard, &'static str)] = &[(
        Guard::RunsRewritten,
        "arguments that mean the same are the same, however they are spelled",
    )];

    fn greeting() -> Greeting<PendingAction> {
        Greeting {
            name: "model".to_owned(),
            supports: [
                Capability::Cancel,
                Capability::Restart,
                Capability::Snapshot,
                Capability::Say,
                Capability::Idempotent,
            ]
            .into(),
            shows: None,
        }
    }

    /// A record is durable before what is behind it comes out. All of it was carried out once something else is asked.
    fn received(
        model: &Specification<PendingActionProtocol>,
        mut state: State,
        op: &Op<PendingAction>,
    ) -> State {
        let crashes = matches!(op, Op::Common(Common::Restart { .. }));
        while let Some(item) = state.outbox.items().next()
            && (!crashes || item == Item::Record)
            && let Some(taken) = PendingActionProtocol::take(model, &state, Action::CarryOut, 0)
        {
            state = model.reduced(&taken.next);
        }
        state
    }

    fn outputs(said: &mut Said, asked: &Asked<'_, Self>) -> Option<Vec<Put<PendingAction>>> {
        if let (Op::Own(Own::FinishTool { result, .. }), Action::FinishTool { slot, .. }) =
            (asked.op, asked.taken.action)
        {
            let result = result.clone().unwrap_or_else(|| Json::holding(""));
            said.returned.insert(slot, result);
        }
        let told = asked.taken.told.outputs();
        for output in told {
            if let (Output::Event(Told::Created, slot), Op::Own(Own::Propose(propose))) =
                (output, asked.op)
            {
                said.proposed.insert(*slot, propose.clone());
            }
        }
        let outputs = told.iter().filter_map(|it| said.output(*it, asked));
        let mut outputs: Vec<_> = outputs.map(Put::to_all).collect();
        match asked.op {
            Op::Own(Own::Snapshot {}) => {
                let snapshot = driver::Output::Snapshot(Json::holding("snapshot"));
                outputs.push(Put::to_all(snapshot));
            }
            // What was carried out need not be told again.
            Op::Common(Common::Restart { lost }) => {
                let lost = usize::try_from(lost.unwrap_or(0)).unwrap_or(usize::MAX);
                let carried = said.last.len().saturating_sub(lost);
                let carried = &said.last[..carried];
                outputs.retain(|it| !(is_told(&it.what) && carried.contains(it)));
            }
            Op::Common(_) | Op::Own(_) => {}
        }
        said.last.clone_from(&outputs);
        Some(outputs)
    }
}

impl Said {
    /// Nothing where it is for the host alone.
    fn output(&mut self, output: Output, asked: &Asked<'_, Driver>) -> Option<driver::Output> {
        Some(match output {
            Output::Record(_) => return None,
            Output::Append(note, slot) => self.once(output, |said| {
                let message = said.message(note, slot, asked)?;
                said.append(slot, message)
            })?,
            Output::Expose(slot) => self.once(output, |said| {
                let text = said.proposed.get(&slot)?.summary.clone();
                let label = id(slot);
                said.append(slot, Message::ConfirmationRequest { text, label })
            })?,
            Output::AppendText => {
                let Op::Own(Own::Say { by, text }) = asked.op.clone() else {
                    return None;
                };
                driver::Output::Append(json(&Append {
                    session_id: None,
                    message_id: self.name(),
                    message: Message::UserMessage { by, text },
                }))
            }
            Output::Event(event, slot) => self.once(output, |said| {
                let happened = said.happened(event, slot, asked)?;
                Some(driver::Output::Event(json(&Event {
                    event_id: said.name(),
                    action_id: id(slot),
                    at: Timestamp::from_millis(asked.now).to_string(),
                    happened,
                })))
            })?,
            Output::Perform(slot, arguments) => {
                let proposed = self.proposed.get(&slot)?;
                let approved = match (asked.op, arguments) {
                    (_, Arguments::Original) => None,
                    (Op::Own(Own::Decide { arguments, .. }), _) => arguments.clone(),
                    (Op::Common(_) | Op::Own(_), _) => None,
                };
                driver::Output::Perform(driver::ToolCall {
                    action_id: id(slot),
                    tool: proposed.tool.clone(),
                    arguments: approved.unwrap_or_else(|| proposed.arguments.clone()),
                })
            }
            Output::InDoubt(slot) => driver::Output::InDoubt(driver::Named {
                action_id: id(slot),
            }),
            Output::Withdraw(_) | Output::Audit(_) => driver::Output::Audit(json(&driver::Audit {
                clause: "PA-2".to_owned(),
                reason: format!("{output:?}"),
                action_id: String::new(),
                by: None,
                at: Timestamp::from_millis(asked.now).to_string(),
            })),
            Output::Refused(refusal) => driver::Output::Refused(Refused {
                clause: None,
                reason: format!("{refusal:?}"),
            }),
        })
    }

    /// The same as before, where it was told before.
    fn once(
        &mut self,
        output: Output,
        tell: impl FnOnce(&mut Self) -> Option<driver::Output>,
    ) -> Option<driver::Output> {
        if !self.told.contains_key(&output) {
            let told = tell(self)?;
            self.told.insert(output, told);
        }
        self.told.get(&output).cloned()
    }

    /// Another name for a message or an event.
    fn name(&mut self) -> String {
        self.named += 1;
        format!("n{}", self.named)
    }

    fn append(&mut self, slot: Slot, message: Message) -> Option<driver::Output> {
        let session = self.proposed.get(&slot)?.session_id.clone();
        Some(driver::Output::Append(json(&Append {
            session_id: Some(session),
            message_id: self.name(),
            message,
        })))
    }

    fn message(&self, note: Note, slot: Slot, asked: &Asked<'_, Driver>) -> Option<Message> {
        let proposed = self.proposed.get(&slot)?.clone();
        let (tool_call_id, tool) = (id(slot), proposed.tool);
        Some(match note {
            Note::Request => Message::ConfirmationRequest {
                text: proposed.summary,
                label: proposed.label,
            },
            Note::Call => Message::ToolCall {
                tool_call_id,
                tool,
                arguments: proposed.arguments,
            },
            Note::Denied => Message::DeniedResult {
                tool_call_id,
                tool,
                by: by(asked).unwrap_or_default(),
            },
            Note::Expired => Message::ExpiredResult { tool_call_id, tool },
            Note::Cancelled => Message::CancelledResult {
                tool_call_id,
                tool,
                reason: reason(asked),
            },
            Note::Result(told) => Message::ToolResult {
                tool_call_id,
                tool,
                status: status(told),
                result: self.returned.get(&slot)?.clone(),
            },
        })
    }

    fn happened(&self, event: Told, slot: Slot, asked: &Asked<'_, Driver>) -> Option<Happened> {
        Some(match event {
            Told::Created => {
                let proposed = self.proposed.get(&slot)?.clone();
                Happened::Created {
                    nonce: format!("nonce_{}", slot.index()),
                    agent_id: proposed.agent_id,
                    session_id: proposed.session_id,
                    run_id: proposed.run_id,
                    tool: proposed.tool,
                    arguments: proposed.arguments,
                    effect: proposed.effect,
                    summary: proposed.summary,
                    label: proposed.label,
                    expires_at: proposed.expires_at,
                    deciders: proposed.deciders,
                    idempotent: proposed.idempotent.unwrap_or(false),
                }
            }
            Told::Decided(decision) => Happened::Decided {
                decision: match decision {
                    Decision::Allow => driver::Decision::Allow,
                    Decision::Deny => driver::Decision::Deny,
                },
                by: by(asked),
            },
            Told::Denied => Happened::Denied {
                by: by(asked).unwrap_or_default(),
            },
            Told::Executed(told) => Happened::Executed {
                status: status(told),
            },
            Told::NotRun => Happened::NotRun,
            Told::Expired => Happened::Expired,
            Told::Cancelled => Happened::Cancelled {
                reason: reason(asked),
            },
        })
    }
}

/// Whether it tells of something, and so comes once.
const fn is_told(output: &driver::Output) -> bool {
    matches!(output, driver::Output::Append(_) | driver::Output::Event(_))
}

fn id(slot: Slot) -> String {
    format!("action_{}", slot.index())
}

/// Who decides.
fn by(asked: &Asked<'_, Driver>) -> Option<String> {
    match asked.op {
        Op::Own(Own::Decide { by, .. }) => Some(by.clone()),
        Op::Common(_) | Op::Own(_) => None,
    }
}

const fn reason(asked: &Asked<'_, Driver>) -> CancelReason {
    match asked.op {
        Op::Own(Own::Cancel { .. }) => CancelReason::Requested,
        Op::Common(_) | Op::Own(_) => CancelReason::SessionEnded,
    }
}

const fn status(status: ToolStatus) -> driver::ToolStatus {
    match status {
        ToolStatus::Success => driver::ToolStatus::Success,
        ToolStatus::Error => driver::ToolStatus::Error,
        ToolStatus::NotRun => driver::ToolStatus::NotRun,
    }
}

fn json(value: &impl Serialize) -> Json {
    Json::of(value).expect("plain data")
}
