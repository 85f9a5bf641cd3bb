//! What can be changed in what the ledger puts out and holds.

#[path = "pending_action/values.rs"]
mod values;

use std::sync::Arc;

use countersign_conform::pending_action::{Environment, Host, PendingActionBridge};
use countersign_model::pending_action::bounds::Bounds;
use countersign_reference::pending_action::{
    ActionId, Append, Arguments, Audit, CancelReason, ClauseId, DeciderId, DecidersAbsent,
    Delivery, Entry, Event, ExpiryAbsent, ExpiryBoundary, Happened, IgnoredBecause, Label, Ledger,
    Message, MessageId, Named, Nonce, NotArguments, Output, Proposal, ReadEffect, Record, Refusal,
    SessionId, Settings, Summary, Text, ToolCall, ToolName,
};
use serde_json::{Value, json};

use super::{Changeable, Freedom};
use values::{
    DECISIONS, STATUSES, arguments, around, deciders, foreign, labels, proposals, results,
    sessions, summaries, tools,
};

impl Changeable for Environment {
    fn bridge() -> PendingActionBridge {
        PendingActionBridge::new(Bounds::SMALL).expect("the presets are in range")
    }

    const KINDS: &[&str] = &[
        "record",
        "append confirmation_request",
        "append tool_call",
        "append tool_result",
        "append denied_result",
        "append expired_result",
        "append cancelled_result",
        "append user_message",
        "event created",
        "event decided",
        "event executed",
        "event not_run",
        "event denied",
        "event expired",
        "event cancelled",
        "perform",
        "withdraw",
        "in_doubt",
        "audit",
    ];

    fn changes(host: &Host, output: &Output) -> Vec<(Output, Freedom)> {
        let mut changes = Changes {
            output,
            actions: host.asked.iter().flatten().map(|asked| asked.id).collect(),
            nonces: host
                .asked
                .iter()
                .flatten()
                .map(|asked| asked.minted)
                .collect(),
            message_ids: host
                .message_ids
                .iter()
                .flatten()
                .flatten()
                .copied()
                .collect(),
            made: Vec::new(),
        };
        changes.actions.push(ActionId::from_bits(1));
        changes.nonces.push(Nonce::from_bits(1));
        match output {
            Output::Record(record) => changes.of_record(record),
            Output::Append(append) => changes.of_append(append),
            Output::Event(event) => changes.of_event(event),
            Output::Perform(call) => changes.of_call(call),
            Output::Withdraw(named) => {
                changes.of_named(Output::Withdraw);
                changes.to(Output::InDoubt(*named));
            }
            Output::InDoubt(named) => {
                changes.of_named(Output::InDoubt);
                changes.to(Output::Withdraw(*named));
            }
            Output::Audit(audit) => changes.of_audit(audit),
        }
        changes.made
    }

    fn refusals() -> Vec<Refusal> {
        vec![
            Refusal::NoName { field: "tool" },
            Refusal::SummaryMalformed,
            Refusal::LabelMalformed,
            Refusal::SessionEnded,
            Refusal::ExpiresTooSoon,
            Refusal::DecidersMalformed,
            Refusal::ArgumentsMalformed(NotArguments::TooLong),
            Refusal::NoFreshId,
            Refusal::UnknownAction,
            Refusal::Expired,
            Refusal::AlreadySettled,
            Refusal::StillPending,
            Refusal::NotAllowed,
            Refusal::AlreadyFinished,
        ]
    }

    fn fixed(_: &str, _: &str) -> Option<Value> {
        None
    }

    const WORDS: &[&str] = &[
        "pends",
        "runs",
        "at",
        "after",
        "anyone",
        "nobody",
        "at_least_once",
        "at_most_once",
        "read",
        "write",
        "destructive",
        "external",
        "pending",
        "unfinished",
        "success",
        "error",
        "not_run",
        "requested",
        "session_ended",
        "allow",
        "deny",
    ];

    fn stored(host: &Host) -> Value {
        json!(*host.ledger)
    }

    fn restored(host: &Host, document: Value) -> Option<Host> {
        let ledger: Ledger = serde_json::from_value(document).ok()?;
        let mut host = host.clone();
        host.ledger = Arc::new(ledger);
        Some(host)
    }
}

/// Changes of one output.
struct Changes<'a> {
    output: &'a Output,
    actions: Vec<ActionId>,
    nonces: Vec<Nonce>,
    message_ids: Vec<MessageId>,
    made: Vec<(Output, Freedom)>,
}

impl Changes<'_> {
    fn to(&mut self, changed: Output) {
        if changed != *self.output {
            self.made.push((changed, Freedom::Bound));
        }
    }

    fn of_named(&mut self, output: impl Fn(Named) -> Output) {
        for action_id in self.actions.clone() {
            self.to(output(Named { action_id }));
        }
    }

    fn of_call(&mut self, call: &ToolCall) {
        let ToolCall {
            action_id,
            tool,
            arguments,
        } = call;
        let (action_id, tool, arguments) = (*action_id, tool.clone(), arguments.clone());
        self.to(Output::InDoubt(Named { action_id }));
        self.to(Output::Withdraw(Named { action_id }));
        let call = |action_id, tool: &ToolName, arguments: &Arguments| {
            Output::Perform(ToolCall {
                action_id,
                tool: tool.clone(),
                arguments: arguments.clone(),
            })
        };
        for other in self.actions.clone() {
            self.to(call(other, &tool, &arguments));
        }
        for other in tools() {
            self.to(call(action_id, &other, &arguments));
        }
        for other in self::arguments(&arguments) {
            self.to(call(action_id, &tool, &other));
        }
    }

    fn of_audit(&mut self, audit: &Audit) {
        let Audit {
            clause: _,
            reason: _,
            action_id: _,
            by: _,
            at,
        } = audit;
        let with = |set: &dyn Fn(&mut Audit)| {
            let mut audit = audit.clone();
            set(&mut audit);
            Output::Audit(audit)
        };
        for clause in ["PA-1", "PA-2", "PA-3", "PA-5", "PA-7", "PA-8", "PA-10"] {
            self.to(with(&|audit| audit.clause = ClauseId(clause)));
        }
        for reason in [
            IgnoredBecause::UnknownAction,
            IgnoredBecause::OtherNonce,
            IgnoredBecause::NotEntitled,
            IgnoredBecause::Expired,
            IgnoredBecause::AlreadyDecided,
            IgnoredBecause::Cancelled,
            IgnoredBecause::OtherArguments,
        ] {
            self.to(with(&|audit| audit.reason = reason));
        }
        for action_id in self.actions.clone() {
            self.to(with(&|audit| audit.action_id = action_id.to_string()));
        }
        for by in ["", "ana", "eve"] {
            self.to(with(&|audit| by.clone_into(&mut audit.by)));
        }
        for time in around(*at) {
            self.to(with(&|audit| audit.at = time));
        }
    }

    fn of_record(&mut self, record: &Record) {
        let Record { number, at, entry } = record;
        let with = |set: &dyn Fn(&mut Record)| {
            let mut record = record.clone();
            set(&mut record);
            Output::Record(record)
        };
        for number in [0, number - 1, number + 1] {
            self.to(with(&|record| record.number = number));
        }
        for time in around(*at) {
            self.to(with(&|record| record.at = time));
        }
        for entry in self.entries(entry) {
            self.to(with(&|record| record.entry = entry.clone()));
        }
    }

    #[expect(clippy::too_many_lines, reason = "a list: each kind has its fields")]
    fn entries(&self, entry: &Entry) -> Vec<Entry> {
        let mut all = Vec::new();
        match entry.clone() {
            Entry::Proposed {
                action_id,
                nonce,
                proposal,
                pends,
            } => {
                let proposed = |action_id, nonce, proposal: &Proposal, pends| Entry::Proposed {
                    action_id,
                    nonce,
                    proposal: Arc::new(proposal.clone()),
                    pends,
                };
                all.extend(
                    self.actions
                        .iter()
                        .map(|id| proposed(*id, nonce, &proposal, pends)),
                );
                all.extend(
                    self.nonces
                        .iter()
                        .map(|nonce| proposed(action_id, *nonce, &proposal, pends)),
                );
                all.push(proposed(action_id, nonce, &proposal, !pends));
                let others = proposals(&proposal);
                all.extend(
                    others
                        .iter()
                        .map(|other| proposed(action_id, nonce, other, pends)),
                );
            }
            Entry::Decided {
                action_id,
                decision,
                by,
            } => {
                let decided = |action_id, decision, by: &DeciderId| Entry::Decided {
                    action_id,
                    decision,
                    by: by.clone(),
                };
                all.extend(self.actions.iter().map(|id| decided(*id, decision, &by)));
                all.extend(DECISIONS.map(|decision| decided(action_id, decision, &by)));
                all.extend(deciders().iter().map(|by| decided(action_id, decision, by)));
                all.push(Entry::Expired { action_id });
            }
            Entry::Expired { action_id } => {
                all.extend(
                    self.actions
                        .iter()
                        .map(|&action_id| Entry::Expired { action_id }),
                );
                all.push(Entry::Cancelled { action_id });
            }
            Entry::Cancelled { action_id } => {
                all.extend(
                    self.actions
                        .iter()
                        .map(|&action_id| Entry::Cancelled { action_id }),
                );
                all.push(Entry::Expired { action_id });
            }
            Entry::Finished {
                action_id,
                status,
                result,
            } => {
                let finished = |action_id, status, result: &Text| Entry::Finished {
                    action_id,
                    status,
                    result: result.clone(),
                };
                all.extend(self.actions.iter().map(|id| finished(*id, status, &result)));
                all.extend(STATUSES.map(|status| finished(action_id, status, &result)));
                all.extend(
                    results(&result)
                        .iter()
                        .map(|text| finished(action_id, status, text)),
                );
            }
            Entry::Said {
                message_id,
                by,
                text,
            } => {
                let said = |message_id, by: &str, text: &str| Entry::Said {
                    message_id,
                    by: by.into(),
                    text: text.into(),
                };
                all.push(said(foreign().1, &by, &text));
                all.push(said(message_id, "somebody else", &text));
                all.push(said(message_id, &by, "something else"));
            }
            Entry::SessionEnded {
                session_id,
                cancelled,
            } => {
                let ended = |session_id: &SessionId, cancelled: &[ActionId]| Entry::SessionEnded {
                    session_id: session_id.clone(),
                    cancelled: cancelled.to_vec(),
                };
                all.extend(sessions().iter().map(|id| ended(id, &cancelled)));
                let reversed: Vec<_> = cancelled.iter().rev().copied().collect();
                let more = [&cancelled[..], &self.actions[..1]].concat();
                let others = [
                    &[][..],
                    &reversed,
                    &more,
                    &cancelled[cancelled.len().min(1)..],
                ];
                all.extend(others.map(|cancelled| ended(&session_id, cancelled)));
            }
        }
        all
    }

    fn of_event(&mut self, event: &Event) {
        let Event {
            event_id: _,
            action_id: _,
            at,
            happened,
        } = event;
        let with = |set: &dyn Fn(&mut Event)| {
            let mut event = event.clone();
            set(&mut event);
            Output::Event(event)
        };
        for action_id in self.actions.clone() {
            self.to(with(&|event| event.action_id = action_id));
        }
        self.to(with(&|event| event.event_id = foreign().0));
        for time in around(*at) {
            self.to(with(&|event| event.at = time));
        }
        for happened in self.happenings(happened) {
            self.to(with(&|event| event.happened = happened.clone()));
        }
    }

    fn happenings(&self, happened: &Happened) -> Vec<Happened> {
        let mut all = vec![
            Happened::NotRun,
            Happened::Expired,
            Happened::Cancelled {
                reason: CancelReason::Requested,
            },
            Happened::Cancelled {
                reason: CancelReason::SessionEnded,
            },
        ];
        all.extend(STATUSES.map(|status| Happened::Executed { status }));
        all.extend(deciders().into_iter().map(|by| Happened::Denied { by }));
        let named = || deciders().into_iter().map(Some).chain([None]);
        for decision in DECISIONS {
            all.extend(named().map(|by| Happened::Decided { decision, by }));
        }
        if let Happened::Created { nonce, proposal } = happened {
            let created = |nonce, proposal: &Proposal| Happened::Created {
                nonce,
                proposal: Arc::new(proposal.clone()),
            };
            all.extend(self.nonces.iter().map(|nonce| created(*nonce, proposal)));
            all.extend(
                proposals(proposal)
                    .iter()
                    .map(|other| created(*nonce, other)),
            );
        }
        all
    }

    fn of_append(&mut self, append: &Append) {
        let Append {
            session_id: _,
            message_id,
            message,
        } = append;
        let with = |set: &dyn Fn(&mut Append)| {
            let mut append = append.clone();
            set(&mut append);
            Output::Append(append)
        };
        for session_id in sessions().into_iter().map(Some).chain([None]) {
            self.to(with(&|append| append.session_id.clone_from(&session_id)));
        }
        for id in self.message_ids.clone() {
            self.to(with(&|append| append.message_id = id));
        }
        let renamed = with(&|append| append.message_id = foreign().1);
        if matches!(message, Message::UserMessage { .. }) {
            // Its id stands in its record.
            self.to(renamed);
        } else if !self.message_ids.contains(message_id) {
            // It is told for the first time.
            self.made.push((renamed, Freedom::Free));
        }
        for message in self.messages(message) {
            self.to(with(&|append| append.message = message.clone()));
        }
    }

    #[expect(clippy::too_many_lines, reason = "a list: each kind has its fields")]
    fn messages(&self, message: &Message) -> Vec<Message> {
        let mut all = Vec::new();
        let message = message.clone();
        match message {
            Message::ConfirmationRequest { text, label } => {
                let request = |text: &Summary, label: &Label| Message::ConfirmationRequest {
                    text: text.clone(),
                    label: label.clone(),
                };
                all.extend(summaries(&text).iter().map(|text| request(text, &label)));
                all.extend(labels().iter().map(|label| request(&text, label)));
            }
            Message::ToolCall {
                tool_call_id,
                tool,
                arguments,
            } => {
                let call =
                    |tool_call_id, tool: &ToolName, arguments: &Arguments| Message::ToolCall {
                        tool_call_id,
                        tool: tool.clone(),
                        arguments: arguments.clone(),
                    };
                all.extend(self.actions.iter().map(|id| call(*id, &tool, &arguments)));
                all.extend(
                    tools()
                        .iter()
                        .map(|tool| call(tool_call_id, tool, &arguments)),
                );
                let others = self::arguments(&arguments);
                all.extend(others.iter().map(|other| call(tool_call_id, &tool, other)));
            }
            Message::ToolResult {
                tool_call_id,
                tool,
                status,
                result,
            } => {
                let with =
                    |tool_call_id, tool: &ToolName, status, result: &Text| Message::ToolResult {
                        tool_call_id,
                        tool: tool.clone(),
                        status,
                        result: result.clone(),
                    };
                all.extend(
                    self.actions
                        .iter()
                        .map(|id| with(*id, &tool, status, &result)),
                );
                all.extend(
                    tools()
                        .iter()
                        .map(|tool| with(tool_call_id, tool, status, &result)),
                );
                all.extend(STATUSES.map(|status| with(tool_call_id, &tool, status, &result)));
                let others = results(&result);
                all.extend(
                    others
                        .iter()
                        .map(|text| with(tool_call_id, &tool, status, text)),
                );
            }
            Message::DeniedResult {
                tool_call_id,
                tool,
                by,
            } => {
                let with = |tool_call_id, tool: &ToolName, by: &DeciderId| Message::DeniedResult {
                    tool_call_id,
                    tool: tool.clone(),
                    by: by.clone(),
                };
                all.extend(self.actions.iter().map(|id| with(*id, &tool, &by)));
                all.extend(tools().iter().map(|tool| with(tool_call_id, tool, &by)));
                all.extend(deciders().iter().map(|by| with(tool_call_id, &tool, by)));
                all.push(Message::ExpiredResult { tool_call_id, tool });
            }
            Message::ExpiredResult { tool_call_id, tool } => {
                let with = |tool_call_id, tool: &ToolName| Message::ExpiredResult {
                    tool_call_id,
                    tool: tool.clone(),
                };
                all.extend(self.actions.iter().map(|id| with(*id, &tool)));
                all.extend(tools().iter().map(|tool| with(tool_call_id, tool)));
                all.push(Message::CancelledResult {
                    tool_call_id,
                    tool,
                    reason: CancelReason::Requested,
                });
            }
            Message::CancelledResult {
                tool_call_id,
                tool,
                reason,
            } => {
                let with = |tool_call_id, tool: &ToolName, reason| Message::CancelledResult {
                    tool_call_id,
                    tool: tool.clone(),
                    reason,
                };
                all.extend(self.actions.iter().map(|id| with(*id, &tool, reason)));
                all.extend(tools().iter().map(|tool| with(tool_call_id, tool, reason)));
                let reasons = [CancelReason::Requested, CancelReason::SessionEnded];
                all.extend(reasons.map(|reason| with(tool_call_id, &tool, reason)));
            }
            Message::UserMessage { by, text } => {
                let with = |by: &Arc<str>, text: &Arc<str>| Message::UserMessage {
                    by: Arc::clone(by),
                    text: Arc::clone(text),
                };
                all.extend(["", "eve"].map(|by| with(&by.into(), &text)));
                all.extend(["no", "SI"].map(|text| with(&by, &text.into())));
            }
        }
        all
    }
}

/// A ledger of which nothing is as it is by itself.
pub fn chosen() -> Ledger {
    let settings = Settings {
        read_effect: ReadEffect::Runs,
        expiry_boundary: ExpiryBoundary::After,
        expiry_absent: ExpiryAbsent::Never,
        deciders_absent: DecidersAbsent::Nobody,
        delivery: Delivery::AtLeastOnce,
    };
    Ledger::new(settings)
}
