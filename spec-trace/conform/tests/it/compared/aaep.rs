//! What can be changed in what the producer puts out and holds.

use std::sync::Arc;

use countersign_conform::aaep::{AaepBridge, Environment, Host};
use countersign_model::aaep::bounds::Bounds;
use countersign_reference::aaep::{
    ActionId, AgentId, AgentState, Answer, Answered, Audit, Choice, ClauseId, CountersignExtension,
    Decision, Event, EventId, Field, Identity, Notice, Output, OutputId, Payload, Producer,
    Refusal, ReplyToken, ResolutionOutcome, ResponseKind, RiskLevel, SessionId, Settings,
    SubscriptionId, TargetKind, ToolCall, ToolCallId, ToolStatus, UserResponse,
};
use countersign_reference::time::{Timeout, Timestamp};
use serde_json::{Value, json};

use super::{Changeable, Freedom};

impl Changeable for Environment {
    fn bridge() -> AaepBridge {
        let bounds = Bounds {
            confirmations: 1,
            clarifications: 1,
            extensions: 1,
            work: 2,
            ..Bounds::SMALL
        };
        AaepBridge::new(bounds).expect("the bounds are in range")
    }

    const KINDS: &[&str] = &[
        "emit aaep:agent.state.changed",
        "emit aaep:agent.awaiting.clarification",
        "emit aaep:agent.awaiting.confirmation",
        "emit aaep:agent.progress.updated",
        "emit aaep:agent.tool.invoked",
        "emit aaep:agent.tool.completed",
        "emit aaep:agent.output.streaming",
        "emit aaep:agent.handoff.requested",
        "emit aaep:agent.session.completed",
        "emit aaep:agent.session.errored",
        "emit aaep:agent.session.started",
        "emit aaep:agent.session.cancelled",
        "perform",
        "withdraw",
        "in_doubt",
        "answer",
        "notify",
        "respond",
        "audit",
    ];

    fn changes(_: &Host, output: &Output) -> Vec<(Output, Freedom)> {
        let mut changes = Changes {
            output,
            made: Vec::new(),
        };
        match output {
            Output::Emit(event) => changes.of_event(event),
            Output::Perform(call) => {
                changes.of_call(call, Output::Perform);
                changes.to(Output::Withdraw(call.clone()));
                changes.to(Output::InDoubt(call.clone()));
            }
            Output::Withdraw(call) => {
                changes.of_call(call, Output::Withdraw);
                changes.to(Output::Perform(call.clone()));
            }
            Output::InDoubt(call) => {
                changes.of_call(call, Output::InDoubt);
                changes.to(Output::Perform(call.clone()));
            }
            Output::Notify(notice) => changes.of_notice(notice),
            Output::Audit(audit) => changes.of_audit(audit),
            Output::Answer(answer) => changes.of_answer(answer),
            // There is one such value.
            Output::Respond(_) => {}
        }
        changes.made
    }

    fn refusals() -> Vec<Refusal> {
        vec![
            Refusal::SessionExists,
            Refusal::SessionNotActive,
            Refusal::SessionNotEndable,
            Refusal::SubscriptionExists,
            Refusal::SubscriptionNotOpen,
            Refusal::TimeoutOutOfRange,
            Refusal::AllowedRepliesMalformed,
            Refusal::TextBlank(Field::Tool),
            Refusal::TextTooLong(Field::Question),
            Refusal::EventTooLarge(Field::AllowedReplies),
            Refusal::KindsMalformed,
            Refusal::ChoicesMalformed,
            Refusal::ChoicesMissing,
            Refusal::AcceptByDefaultHighRisk,
            Refusal::AcceptByDefaultMediumRisk,
            Refusal::ActionBlocked,
            Refusal::QuestionPending,
            Refusal::NoFreshToken,
            Refusal::NoFreshSessionId,
            Refusal::NothingToCancel,
            Refusal::NothingToExtend,
            Refusal::NotLonger,
            Refusal::NothingToFinish,
            Refusal::HandingOff,
            Refusal::IrreversibleUnasked,
            Refusal::ActionUnanswered,
            Refusal::ActionAsked,
            Refusal::ToolCallIdUsed,
            Refusal::OutputComplete,
            Refusal::ChunkEmpty,
            Refusal::QuestionOpen,
            Refusal::ToolRunning,
            Refusal::OutputOpen,
        ]
    }

    fn fixed(kind: &str, field: &str) -> Option<Value> {
        let critical = [
            "session.errored",
            "handoff.requested",
            "awaiting.clarification",
            "awaiting.confirmation",
        ];
        let is_critical = critical.iter().any(|critical| kind.ends_with(critical));
        Some(match field {
            "/@context" => json!("https://aaep-protocol.org/context/v1"),
            "/urgency" if is_critical => json!("critical"),
            "/urgency" => json!("normal"),
            "/status" if kind == "respond" => json!(204),
            "/body" if kind == "respond" => Value::Null,
            "/error_category" => json!("unknown"),
            "/cancelled_by" => json!("producer"),
            _ => return None,
        })
    }

    const WORDS: &[&str] = &[
        "idle",
        "thinking",
        "calling_tool",
        "awaiting_input",
        "writing_output",
        "handing_off",
        "active",
        "pending",
        "closed",
        "reply",
        "timeout",
        "subscription_closed",
        "producer",
        "session_end",
        "in_flight",
        "finished",
        "withdrawn",
        "completed",
        "errored",
        "cancelled",
        "accept",
        "reject",
        "freetext",
        "yes_no",
        "multiple_choice",
        "numeric",
        "low",
        "medium",
        "high",
    ];

    fn stored(host: &Host) -> Value {
        json!(host.producer)
    }

    fn restored(host: &Host, document: Value) -> Option<Host> {
        let mut host = host.clone();
        host.producer = serde_json::from_value(document).ok()?;
        Some(host)
    }
}

/// Changes of one output.
struct Changes<'a> {
    output: &'a Output,
    made: Vec<(Output, Freedom)>,
}

impl Changes<'_> {
    fn to(&mut self, changed: Output) {
        if changed != *self.output {
            self.made.push((changed, Freedom::Bound));
        }
    }

    /// The event with one field set to each of these values.
    fn each<T>(
        &mut self,
        event: &Event,
        values: impl IntoIterator<Item = T>,
        set: impl Fn(&mut Event, T),
    ) {
        for value in values {
            let mut changed = event.clone();
            set(&mut changed, value);
            self.to(Output::Emit(Box::new(changed)));
        }
    }

    fn of_event(&mut self, event: &Event) {
        // AAEP-EV-7: that of the first event is taken.
        let taken = [EventId::from_bits(1)];
        self.each(event, taken, |event, id| event.event_id = id);
        let mut renamed = event.clone();
        renamed.event_id = EventId::from_bits(u128::MAX);
        let renamed = Output::Emit(Box::new(renamed));
        self.made.push((renamed, Freedom::Free));
        self.each(event, sessions(), |event, id| event.session_id = id);
        let times = [-1_000, -1, 1].map(|by| Timestamp::from_millis(event.timestamp.millis() + by));
        self.each(event, times, |event, time| event.timestamp = time);
        let Identity {
            agent_id,
            agent_version,
        } = &*event.producer;
        let versions = [None, Some(String::new()), Some("2.2".to_owned())];
        let identities = versions.map(|agent_version| Identity {
            agent_id: agent_id.clone(),
            agent_version,
        });
        let agent = |text| Identity {
            agent_id: AgentId::parse(text).expect("a name"),
            agent_version: agent_version.clone(),
        };
        let identities = identities.into_iter().chain([agent("agent"), agent("E")]);
        self.each(event, identities, |event, identity| {
            event.producer = Arc::new(identity);
        });
        let number = event.sequence_number;
        self.each(
            event,
            [0, number.wrapping_sub(1), number + 1],
            |event, number| {
                event.sequence_number = number;
            },
        );
        self.each(
            event,
            resolutions(event.extension.as_ref()),
            |event, resolution| {
                event.extension = resolution;
            },
        );
        self.each(event, payloads(&event.payload), |event, payload| {
            event.payload = payload;
        });
    }

    fn of_call(&mut self, call: &ToolCall, output: impl Fn(ToolCall) -> Output) {
        let ToolCall {
            session_id: _,
            action: _,
            tool: _,
            tool_call_id: _,
            reply_token: _,
            modified_action: _,
        } = call;
        let with = |set: &dyn Fn(&mut ToolCall)| {
            let mut call = call.clone();
            set(&mut call);
            output(call)
        };
        for session_id in sessions() {
            self.to(with(&|call| call.session_id = session_id.clone()));
        }
        for action in actions() {
            self.to(with(&|call| call.action = action.clone()));
        }
        for tool in texts(&call.tool) {
            self.to(with(&|call| call.tool = tool.clone()));
        }
        for id in calls() {
            self.to(with(&|call| call.tool_call_id = id.clone()));
        }
        for token in tokens().into_iter().map(Some).chain([None]) {
            self.to(with(&|call| call.reply_token.clone_from(&token)));
        }
    }

    fn of_answer(&mut self, answer: &Answer) {
        let Answer {
            session_id,
            reply_token,
            answered,
        } = answer;
        for session_id in sessions() {
            self.to(Output::Answer(Answer {
                session_id,
                ..answer.clone()
            }));
        }
        for reply_token in tokens() {
            self.to(Output::Answer(Answer {
                reply_token,
                ..answer.clone()
            }));
        }
        let said = |text: &str| Answered::Reply {
            response: UserResponse::Text(text.into()),
        };
        let by_default = |text: &str| Answered::Default {
            response: text.into(),
        };
        let mut others = vec![Answered::Nobody, said(""), said("right"), by_default("")];
        others.extend(match answered {
            Answered::Reply { response } => vec![
                Answered::Reply {
                    response: UserResponse::Boolean(true),
                },
                by_default(&format!("{response:?}")),
            ],
            Answered::Default { response } => {
                vec![said(response), by_default(&response.to_uppercase())]
            }
            Answered::Nobody => vec![by_default("as always"), said("left")],
        });
        for answered in others {
            self.to(Output::Answer(Answer {
                session_id: session_id.clone(),
                reply_token: reply_token.clone(),
                answered,
            }));
        }
    }

    fn of_notice(&mut self, notice: &Notice) {
        let Notice {
            subscription_id,
            reply_token,
        } = notice;
        for text in ["sub_s1", "sub_s2", "sub_s3"] {
            self.to(Output::Notify(Notice {
                subscription_id: SubscriptionId::parse(text).expect("an id"),
                reply_token: reply_token.clone(),
            }));
        }
        for reply_token in tokens() {
            self.to(Output::Notify(Notice {
                subscription_id: subscription_id.clone(),
                reply_token,
            }));
        }
    }

    fn of_audit(&mut self, audit: &Audit) {
        let Audit {
            clause,
            reply_token,
            text,
        } = audit;
        for clause in [
            "6.3.4-1", "6.3.4-2", "6.3.4-3", "6.3.4-4", "6.3.4-5", "6.3.4-6", "6.5.5-2", "6.5.5-3",
            "6.8-4",
        ] {
            let clause = ["AAEP-", clause].concat();
            self.to(Output::Audit(Audit {
                clause: ClauseId(clause.leak()),
                reply_token: reply_token.clone(),
                text: text.clone(),
            }));
        }
        for reply_token in tokens().into_iter().map(Some).chain([None]) {
            self.to(Output::Audit(Audit {
                clause: *clause,
                reply_token,
                text: text.clone(),
            }));
        }
        for text in [
            String::new(),
            format!("{text}."),
            "malformed: not JSON".to_owned(),
        ] {
            self.to(Output::Audit(Audit {
                clause: *clause,
                reply_token: reply_token.clone(),
                text,
            }));
        }
    }
}

/// Another resolution, or one with one field changed.
fn resolutions(resolution: Option<&CountersignExtension>) -> Vec<Option<CountersignExtension>> {
    let outcomes = [
        ResolutionOutcome::Accepted,
        ResolutionOutcome::Rejected,
        ResolutionOutcome::Cancelled,
        ResolutionOutcome::Answered,
        ResolutionOutcome::Unanswered,
    ];
    let Some(CountersignExtension {
        reply_token,
        action,
        outcome,
    }) = resolution
    else {
        return vec![Some(CountersignExtension {
            reply_token: tokens()[0].clone(),
            action: Some(actions()[0].clone()),
            outcome: Some(outcomes[0]),
        })];
    };
    let with = |reply_token: &ReplyToken, action: Option<&ActionId>, outcome| {
        Some(CountersignExtension {
            reply_token: reply_token.clone(),
            action: action.cloned(),
            outcome,
        })
    };
    let (action, outcome) = (action.as_ref(), *outcome);
    let mut changed = vec![None];
    changed.extend(tokens().iter().map(|token| with(token, action, outcome)));
    let named = actions();
    let others = named.iter().map(Some).chain([None]);
    changed.extend(others.map(|action| with(reply_token, action, outcome)));
    let others = outcomes.into_iter().map(Some).chain([None]);
    changed.extend(others.map(|outcome| with(reply_token, action, outcome)));
    changed
}

/// The payload with one field changed, and the payloads that are nearest to it.
#[expect(clippy::too_many_lines, reason = "a list: each kind has its fields")]
fn payloads(payload: &Payload) -> Vec<Payload> {
    let mut all = Vec::new();
    let mut with = |set: &dyn Fn(&mut Payload)| {
        let mut changed = payload.clone();
        set(&mut changed);
        all.push(changed);
    };
    /// Sets one field of this payload.
    macro_rules! set {
        ($variant:ident, $field:ident, $values:expr) => {
            for value in $values {
                with(&|payload| {
                    if let Payload::$variant { $field, .. } = payload {
                        *$field = value.clone();
                    }
                });
            }
        };
    }
    match payload {
        Payload::SessionStarted { summary_normal: _ } => {
            set!(SessionStarted, summary_normal, SUMMARIES);
        }
        Payload::SessionCompleted { summary_normal } => {
            set!(SessionCompleted, summary_normal, SUMMARIES);
            with(&|payload| *payload = Payload::SessionStarted { summary_normal });
        }
        Payload::SessionErrored {
            error_category: _,
            summary_normal,
        } => {
            set!(SessionErrored, summary_normal, SUMMARIES);
            with(&|payload| *payload = Payload::SessionCompleted { summary_normal });
        }
        Payload::SessionCancelled {
            cancelled_by: _,
            summary_normal,
        } => {
            set!(SessionCancelled, summary_normal, SUMMARIES);
            with(&|payload| *payload = Payload::SessionCompleted { summary_normal });
        }
        Payload::StateChanged {
            from_state: _,
            to_state: _,
            summary_normal: _,
        } => {
            let states = [
                AgentState::Idle,
                AgentState::Thinking,
                AgentState::CallingTool,
                AgentState::AwaitingInput,
                AgentState::WritingOutput,
                AgentState::HandingOff,
            ];
            set!(StateChanged, from_state, states);
            set!(StateChanged, to_state, states);
            set!(StateChanged, summary_normal, SUMMARIES);
        }
        Payload::ToolInvoked {
            tool,
            summary_normal,
            tool_call_id,
            args_summary: _,
            risk_level: _,
            irreversible: _,
        } => {
            set!(ToolInvoked, tool, texts(tool));
            set!(ToolInvoked, summary_normal, texts(summary_normal));
            set!(ToolInvoked, tool_call_id, calls());
            set!(ToolInvoked, risk_level, RISKS);
            set!(ToolInvoked, irreversible, [true, false]);
            let summaries = [None, Some(Arc::from("")), Some(Arc::from("The balance"))];
            set!(ToolInvoked, args_summary, summaries);
            with(&|payload| {
                *payload = Payload::ToolCompleted {
                    tool: Arc::clone(tool),
                    status: ToolStatus::Success,
                    tool_call_id: tool_call_id.clone(),
                };
            });
        }
        Payload::ToolCompleted {
            tool,
            status: _,
            tool_call_id: _,
        } => {
            let statuses = [ToolStatus::Success, ToolStatus::Error, ToolStatus::Timeout];
            set!(ToolCompleted, tool, texts(tool));
            set!(ToolCompleted, status, statuses);
            set!(ToolCompleted, tool_call_id, calls());
        }
        Payload::OutputStreaming {
            output_id: _,
            chunk,
            position,
            complete: _,
        } => {
            let outputs = ["out_2", "OUT_1"].map(|text| OutputId::parse(text).expect("an id"));
            let positions = [
                0,
                1,
                10,
                12,
                position.wrapping_sub(1),
                position + 1,
                position + 10,
            ];
            set!(OutputStreaming, output_id, outputs);
            set!(OutputStreaming, chunk, texts(chunk));
            set!(OutputStreaming, position, positions);
            set!(OutputStreaming, complete, [true, false]);
        }
        Payload::HandoffRequested {
            reason,
            target_kind: _,
            target_uri: _,
        } => {
            let kinds = [
                TargetKind::Human,
                TargetKind::SpecialistAgent,
                TargetKind::EscalationQueue,
            ];
            let addresses = [None, Some(Arc::from("")), Some(Arc::from("tel:0"))];
            set!(HandoffRequested, reason, texts(reason));
            set!(HandoffRequested, target_kind, kinds);
            set!(HandoffRequested, target_uri, addresses);
        }
        Payload::ProgressUpdated {
            progress: _,
            eta_ms,
        } => {
            set!(ProgressUpdated, eta_ms, [eta_ms - 1, eta_ms + 1]);
            with(&|payload| {
                if let Payload::ProgressUpdated { progress, .. } = payload {
                    progress.description.push(' ');
                }
            });
        }
        Payload::AwaitingClarification {
            question,
            reply_token: _,
            timeout,
            accepted_response_kinds: _,
            choices: _,
            default_response: _,
        } => {
            let choice = |value: &str, label: &str| Choice {
                value: value.to_owned(),
                label: label.to_owned(),
            };
            let choices = [
                None,
                Some(vec![]),
                Some(vec![
                    choice("left", "To the left"),
                    choice("right", "Right"),
                ]),
                Some(vec![
                    choice("left", "To the left"),
                    choice("up", "To the right"),
                ]),
            ];
            let kinds = [
                None,
                Some(vec![]),
                Some(vec![ResponseKind::Freetext]),
                Some(vec![ResponseKind::YesNo]),
                Some(vec![ResponseKind::Numeric, ResponseKind::YesNo]),
                Some(vec![ResponseKind::MultipleChoice]),
            ];
            let longer = Timeout::from_seconds(u64::from(timeout.seconds()) + 1);
            set!(AwaitingClarification, question, texts(question));
            set!(AwaitingClarification, reply_token, tokens());
            set!(AwaitingClarification, timeout, longer.iter());
            set!(AwaitingClarification, accepted_response_kinds, kinds);
            set!(AwaitingClarification, choices, choices);
            let defaults = [None, Some(Arc::from("")), Some(Arc::from("left"))];
            set!(AwaitingClarification, default_response, defaults);
        }
        Payload::AwaitingConfirmation {
            action,
            consequence,
            reply_token: _,
            timeout,
            default_decision: _,
            risk_level: _,
            irreversible: _,
            allowed_replies,
            extra_context: _,
        } => {
            let timeouts = [1, 2, u64::from(timeout.seconds()) + 1];
            let timeouts =
                timeouts.map(|seconds| Timeout::from_seconds(seconds).expect("in range"));
            let reversed: Vec<String> = allowed_replies.iter().rev().cloned().collect();
            let replies = [
                vec![],
                vec!["accept".to_owned()],
                vec!["reject".to_owned()],
                vec!["accept".to_owned(), "reject".to_owned()],
                reversed,
                [&allowed_replies[..], &["later".to_owned()]].concat(),
            ];
            set!(AwaitingConfirmation, action, texts(action));
            set!(AwaitingConfirmation, consequence, texts(consequence));
            set!(AwaitingConfirmation, reply_token, tokens());
            set!(AwaitingConfirmation, timeout, timeouts);
            set!(
                AwaitingConfirmation,
                default_decision,
                [Decision::Accept, Decision::Reject]
            );
            set!(AwaitingConfirmation, risk_level, RISKS);
            set!(AwaitingConfirmation, irreversible, [true, false]);
            set!(AwaitingConfirmation, allowed_replies, replies);
            for id in calls() {
                with(&|payload| {
                    if let Payload::AwaitingConfirmation { extra_context, .. } = payload {
                        extra_context.tool_call_id = id.clone();
                    }
                });
            }
        }
    }
    all
}

const RISKS: [RiskLevel; 3] = [RiskLevel::Low, RiskLevel::Medium, RiskLevel::High];

/// What the events say of themselves, one for the other, and nothing at all.
const SUMMARIES: [&str; 17] = [
    "The session has started.",
    "The session has done its work.",
    "The session has failed.",
    "Waiting for the user to decide.",
    "The action was accepted and proceeds.",
    "The action was rejected and will not run.",
    "The action is no longer needed and will not run.",
    "The question is answered.",
    "Nobody has answered the question.",
    "The question is no longer needed.",
    "The tool has come back.",
    "The tool is still running.",
    "A tool is about to run.",
    "Output is being written.",
    "The output is complete.",
    "The session is being handed off.",
    "",
];

fn texts(text: &Arc<str>) -> Vec<Arc<str>> {
    [
        "".into(),
        format!("{text} ").into(),
        text.to_uppercase().into(),
    ]
    .to_vec()
}

fn sessions() -> Vec<SessionId> {
    ["sess_A", "sess_B", "sess_C"]
        .map(|text| SessionId::parse(text).expect("an id"))
        .to_vec()
}

fn actions() -> Vec<ActionId> {
    ["a1", "a2", "w1"]
        .map(|text| ActionId::parse(text).expect("an id"))
        .to_vec()
}

fn calls() -> Vec<ToolCallId> {
    ["call_0", "call_1", "run_0", "own_1"]
        .map(|text| ToolCallId::parse(text).expect("an id"))
        .to_vec()
}

/// Those that can be issued on the walk, whichever of its ids the source has given them, and one that cannot.
fn tokens() -> Vec<ReplyToken> {
    (1..=12)
        .chain([u128::MAX])
        .map(ReplyToken::from_bits)
        .collect()
}

/// A producer of which nothing is as it is by itself.
pub fn chosen() -> Producer {
    Producer::new(Settings {
        identity: Arc::new(Identity {
            agent_id: AgentId::parse("another").expect("a name"),
            agent_version: Some("3".to_owned()),
        }),
        courtesy_notices: true,
        progress: false,
        modified_action: true,
    })
}
