//! Driver protocol values of AAEP as the words of the spec, and back.
//!
//! It decides form only: whether something is JSON, of which type, how long, and whether an id is one of its own. A
//! member that is missing, or of another type, has the number of nothing. The envelope of an event has an account of
//! its own.

mod event;
mod reply;

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_protocol as driver;
use countersign_protocol::aaep::{self as own, Aaep as Own};
use countersign_protocol::{Common, Json, Kind};
use serde::de::DeserializeOwned;
use serde_json::json;

pub use self::event::FORM;
use crate::aaep::Aaep;
use crate::aaep::alphabet::{
    Ask, By, Call, Chunk, Clarified, Decision, Event, Given, Handoff, Kind as Taken, Message,
    Modified, Name, Op, Outcome, Output, Query, Risk, Run, SessionId, State, Status, Target, Task,
    Text, Time,
};
use crate::aaep::envelope::{Envelope, Envelopes};
use crate::wire::names::{Ids, NOTHING, Texts};
use crate::wire::{Codec, Flaw, is_blank};

/// The numbers of one run.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Texts,
    /// Numbers and objects by what they mean.
    meanings: Texts,
    sessions: Ids,
    subscriptions: Ids,
    tokens: Ids,
    calls: Ids,
    events: Texts,
    envelopes: Envelopes,
    /// Changes of an action as they are written.
    modified: BTreeMap<Name, Json>,
    /// The greatest time of a call.
    now: Time,
    /// The ids of sessions that the producer made up, and of the calls that were to run, in their order.
    made_up: Vec<String>,
    performed: Vec<String>,
    /// The last response.
    last: Vec<Output>,
    writer: event::Writer,
}

const DECISIONS: [(&str, Decision); 2] =
    [("accept", Decision::Accept), ("reject", Decision::Reject)];
const RISKS: [(&str, Risk); 3] = [
    ("low", Risk::Low),
    ("medium", Risk::Medium),
    ("high", Risk::High),
];
const OUTCOMES: [(&str, Outcome); 3] = [
    ("completed", Outcome::Completed),
    ("errored", Outcome::Errored),
    ("cancelled", Outcome::Cancelled),
];
const STATUSES: [(&str, Status); 3] = [
    ("success", Status::Success),
    ("error", Status::Error),
    ("timeout", Status::Timeout),
];
const KINDS: [(&str, Taken); 4] = [
    ("freetext", Taken::Freetext),
    ("yes_no", Taken::YesNo),
    ("multiple_choice", Taken::MultipleChoice),
    ("numeric", Taken::Numeric),
];
const TARGETS: [(&str, Target); 3] = [
    ("human", Target::Human),
    ("specialist_agent", Target::SpecialistAgent),
    ("escalation_queue", Target::EscalationQueue),
];

/// A text has so many bytes at most.
const TEXT_BYTES: usize = 16 << 10;

/// A prefix, and 1 to 64 letters or digits.
fn is_id(text: &str, prefix: &str) -> bool {
    let rest = text.strip_prefix(prefix).unwrap_or_default();
    (1..=64).contains(&rest.len()) && rest.bytes().all(|it| it.is_ascii_alphanumeric())
}

fn read<T: DeserializeOwned>(json: &Json) -> Option<T> {
    serde_json::from_str(json.as_str()).ok()
}

/// How long the texts are as JSON.
fn size<'t>(texts: impl Iterator<Item = &'t str>) -> u32 {
    let sizes = texts.map(|it| serde_json::to_string(it).map_or(0, |it| it.len()));
    u32::try_from(sizes.sum::<usize>()).unwrap_or(u32::MAX)
}

/// A time in seconds.
fn millis(seconds: i64) -> Time {
    seconds.saturating_mul(1000)
}

impl Codec for Names {
    type Text = Aaep;
    type Driver = Own;
    const KINDS: &'static [Kind] = &[
        Kind::Emit,
        Kind::Perform,
        Kind::InDoubt,
        Kind::Respond,
        Kind::Notify,
        Kind::Audit,
        Kind::Refused,
        Kind::Answer,
    ];

    fn call(&mut self, now: Time, op: &driver::Op<Own>) -> Call {
        let op = match op {
            driver::Op::Common(Common::Hello { .. } | Common::Reset {} | Common::Tick {}) => {
                Op::Tick
            }
            driver::Op::Common(Common::Restart { lost }) => Op::Restart {
                lost: u16::try_from(lost.unwrap_or(0)).unwrap_or(u16::MAX),
            },
            driver::Op::Own(own) => self.op(own),
        };
        let call = Call { now, op };
        self.called(&call);
        call
    }

    fn outputs(
        &mut self,
        call: &Call,
        outputs: &[driver::Output<Own>],
    ) -> (Vec<Output>, Vec<Flaw>) {
        let mut read: Vec<(Output, Option<Envelope>)> = Vec::with_capacity(outputs.len());
        let mut flaws = Vec::new();
        for (place, output) in outputs.iter().enumerate() {
            let own::Output::Emit(json) = &output.what else {
                read.push((self.other(&output.what), None));
                continue;
            };
            let it = event::Members::of(json);
            let broken = FORM.iter().filter_map(|(clause, holds)| {
                let text = holds(&it).err()?;
                Some(Flaw {
                    clause: *clause,
                    place,
                    text,
                })
            });
            // What stands first makes the others follow.
            flaws.extend(broken.take(1));
            read.push(self.event(&it, output.to.as_deref()));
        }
        flaws.extend(self.envelopes.observe(call, &read));
        let read: Vec<Output> = read.into_iter().map(|it| it.0).collect();
        self.last.clone_from(&read);
        (read, flaws)
    }

    #[expect(clippy::too_many_lines, reason = "a table: an arm for each op")]
    fn request(&mut self, call: &Call) -> Option<driver::Op<Own>> {
        self.called(call);
        Some(driver::Op::Own(match &call.op {
            Op::StartSession(given) => own::Op::StartSession {
                session_id: given.map(|it| self.given_of(it, "sess_")),
            },
            Op::EndSession { session, outcome } => own::Op::EndSession {
                session_id: self.session_named(*session),
                outcome: match outcome {
                    Outcome::Completed => own::SessionOutcome::Completed,
                    Outcome::Errored => own::SessionOutcome::Errored,
                    Outcome::Cancelled => own::SessionOutcome::Cancelled,
                    Outcome::Other(_) => return None,
                },
            },
            Op::Subscribe {
                subscription,
                can_reply,
            } => own::Op::Subscribe {
                subscription_id: self.given_of(*subscription, "sub_"),
                capabilities: own::Capabilities {
                    supports_confirmation_reply: *can_reply,
                },
            },
            Op::Unsubscribe(subscription) => own::Op::Unsubscribe {
                subscription_id: self.subscription_named(*subscription),
            },
            Op::Confirm(it) => own::Op::Confirm {
                session_id: self.session_named(it.session),
                action: own::Action {
                    id: self.text_of(it.action),
                    tool: self.text_of(it.tool),
                    description: self.text_of(it.description),
                    consequence: self.text_of(it.consequence),
                    risk_level: risk_of(it.risk)?,
                    irreversible: it.irreversible,
                },
                timeout_seconds: seconds(it.timeout)?,
                default_decision: match it.default {
                    Decision::Accept => own::Decision::Accept,
                    Decision::Reject => own::Decision::Reject,
                    Decision::Other(_) => return None,
                },
                allowed_replies: it
                    .allowed
                    .as_ref()
                    .map(|all| all.iter().map(|it| self.word_of(*it, &DECISIONS)).collect()),
            },
            Op::Clarify(it) => own::Op::Clarify {
                session_id: self.session_named(it.session),
                question: self.text_of(it.question),
                accepted_response_kinds: it
                    .kinds
                    .as_ref()
                    .map(|all| all.iter().map(|it| kind_of(*it)).collect()),
                choices: it.choices.as_ref().map(|all| {
                    let of = |(value, label): &(Text, Text)| own::Choice {
                        value: self.text_of(*value),
                        label: self.text_of(*label),
                    };
                    all.iter().map(of).collect()
                }),
                timeout_seconds: seconds(it.timeout)?,
                default_response: it.default.map(|it| self.text_of(it)),
            },
            Op::Deliver(it) => own::Op::Deliver(own::Deliver {
                sender: own::Sender {
                    subscription_id: it.sender.map(|it| self.subscription_named(it)),
                    authenticated: it.is_authenticated,
                },
                message: self.message_of(it),
            }),
            Op::Cancel(token) => own::Op::Cancel {
                reply_token: self.token_named(*token),
            },
            Op::Extend { token, timeout } => own::Op::Extend {
                reply_token: self.token_named(*token),
                timeout_seconds: seconds(*timeout)?,
            },
            Op::Tool(it) => own::Op::Tool {
                session_id: self.session_named(it.session),
                action: own::ToolAction {
                    id: self.text_of(it.action),
                    tool: self.text_of(it.tool),
                    args_summary: it.summary.map(|it| self.text_of(it)),
                    risk_level: match it.risk {
                        Some(risk) => Some(risk_of(risk)?),
                        None => None,
                    },
                    irreversible: it.irreversible,
                },
                tool_call_id: it.call.map(|it| self.call_of(it)),
            },
            Op::Write(it) => own::Op::Output {
                session_id: self.session_named(it.session),
                output_id: self.text_of(it.stream),
                chunk: self.text_of(it.text),
                complete: it.is_last,
            },
            Op::HandOff(it) => own::Op::Handoff {
                session_id: self.session_named(it.session),
                reason: self.text_of(it.reason),
                target_kind: match it.target {
                    Target::Human => own::TargetKind::Human,
                    Target::SpecialistAgent => own::TargetKind::SpecialistAgent,
                    Target::EscalationQueue => own::TargetKind::EscalationQueue,
                    Target::Other(_) => return None,
                },
                target_uri: it.uri.map(|it| self.text_of(it)),
            },
            Op::FinishTool {
                session,
                action,
                call,
                status,
            } => own::Op::FinishTool {
                session_id: self.session_named(*session),
                action: self.name_of(*action),
                tool_call_id: call.map(|it| self.calls.text(it)),
                status: match status {
                    Status::Success => own::ToolStatus::Success,
                    Status::Error => own::ToolStatus::Error,
                    Status::Timeout => own::ToolStatus::Timeout,
                    Status::Other(_) => return None,
                },
            },
            Op::Tick => return Some(driver::Op::Common(Common::Tick {})),
            Op::Restart { lost } => {
                let lost = Some(u64::from(*lost));
                return Some(driver::Op::Common(Common::Restart { lost }));
            }
        }))
    }

    fn responses(&mut self, outputs: &[Output]) -> Vec<driver::Output<Own>> {
        outputs.clone_into(&mut self.last);
        let mut written = Vec::new();
        for (place, output) in outputs.iter().enumerate() {
            let to = if let Output::Emit(Event { to: Some(to), .. }) = output {
                Some(to.iter().map(|it| self.subscription_named(*it)).collect())
            } else {
                None
            };
            let what = self.response_to(place, output);
            written.extend(what.map(|what| driver::Output { what, to }));
        }
        written
    }

    fn issued(&mut self, outputs: &[Output]) {
        outputs.clone_into(&mut self.last);
        for output in outputs {
            if let Some((session, _)) = output.told() {
                self.session_of(session);
            }
            output.asks().map(|it| self.token_of(it));
            let call = output.call().map(|it| self.call_named(it));
            if let (Output::Perform(_), Some(call)) = (output, call) {
                self.performs(call);
            }
        }
    }

    fn in_run(&self) -> BTreeMap<String, String> {
        let ids = [
            ("session", &self.sessions),
            ("subscription", &self.subscriptions),
            ("token", &self.tokens),
            ("call", &self.calls),
        ];
        let ids = ids.iter().flat_map(|(what, ids)| {
            let numbered = ids.all().iter().enumerate();
            numbered.map(move |(number, id)| (format!("{what} {number}"), id.clone()))
        });
        let texts = self
            .texts
            .all()
            .map(|(number, it)| (format!("text {number}"), format!("{it:?}")));
        ids.chain(texts).collect()
    }
}

// ── What is asked ──

impl Names {
    /// The call is made: what is written next is its response.
    fn called(&mut self, call: &Call) {
        self.now = self.now.max(call.now);
        let lost = if let Op::Restart { lost } = call.op {
            lost.into()
        } else {
            0
        };
        self.writer.called(lost, self.last.len());
    }

    /// Each token, by its number.
    pub fn tokens(&self) -> &[String] {
        self.tokens.all()
    }

    /// The `tool_call_id` of each call that was to run, in their order.
    pub fn performed(&self) -> &[String] {
        &self.performed
    }

    /// The id of each session that the producer made up, in their order.
    pub fn made_up(&self) -> &[String] {
        &self.made_up
    }

    /// The text of that number.
    pub fn text_numbered(&self, name: Name) -> Option<&str> {
        self.texts.text(name)
    }

    #[expect(clippy::too_many_lines, reason = "a table: an arm for each op")]
    fn op(&mut self, op: &own::Op) -> Op {
        match op {
            own::Op::StartSession { session_id } => Op::StartSession(
                session_id
                    .as_ref()
                    .map(|it| given(&mut self.sessions, it, is_id(it, "sess_"))),
            ),
            own::Op::Subscribe {
                subscription_id,
                capabilities,
            } => Op::Subscribe {
                subscription: given(
                    &mut self.subscriptions,
                    subscription_id,
                    is_id(subscription_id, "sub_"),
                ),
                can_reply: capabilities.supports_confirmation_reply,
            },
            own::Op::Unsubscribe { subscription_id } => {
                Op::Unsubscribe(self.subscriptions.named(subscription_id))
            }
            own::Op::Confirm {
                session_id,
                action,
                timeout_seconds,
                default_decision,
                allowed_replies,
            } => {
                let allowed = allowed_replies.as_deref();
                let texts = [&*action.description, &*action.consequence];
                let all = texts
                    .into_iter()
                    .chain(allowed.into_iter().flatten().map(String::as_str));
                Op::Confirm(Arc::new(Ask {
                    session: self.sessions.named(session_id),
                    // A reply that no event can hold has no other place to show.
                    size: if allowed
                        .into_iter()
                        .flatten()
                        .any(|it| it.len() > TEXT_BYTES)
                    {
                        u32::MAX
                    } else {
                        size(all).max(size([&*action.tool].into_iter()))
                    },
                    action: self.text(&action.id),
                    tool: self.text(&action.tool),
                    description: self.text(&action.description),
                    consequence: self.text(&action.consequence),
                    risk: risk(action.risk_level),
                    irreversible: action.irreversible,
                    timeout: millis(*timeout_seconds),
                    default: match default_decision {
                        own::Decision::Accept => Decision::Accept,
                        own::Decision::Reject => Decision::Reject,
                    },
                    allowed: allowed.map(|all| {
                        all.iter()
                            .map(|it| self.word(it, &DECISIONS, Decision::Other))
                            .collect()
                    }),
                }))
            }
            own::Op::Clarify {
                session_id,
                question,
                accepted_response_kinds,
                choices,
                timeout_seconds,
                default_response,
            } => {
                let offered = || {
                    choices
                        .iter()
                        .flatten()
                        .flat_map(|it| [&*it.value, &*it.label])
                };
                let all = offered()
                    .chain([&**question])
                    .chain(default_response.as_deref());
                Op::Clarify(Arc::new(Query {
                    session: self.sessions.named(session_id),
                    size: size(all),
                    question: self.text(question),
                    kinds: accepted_response_kinds
                        .as_ref()
                        .map(|it| it.iter().map(|it| taken(*it)).collect()),
                    choices: choices.as_ref().map(|all| {
                        all.iter()
                            .map(|it| (self.text(&it.value), self.text(&it.label)))
                            .collect()
                    }),
                    timeout: millis(*timeout_seconds),
                    default: default_response.as_ref().map(|it| self.text(it)),
                }))
            }
            own::Op::Deliver(it) => {
                let sender = it.sender.subscription_id.as_ref();
                Op::Deliver(Arc::new(Message {
                    sender: sender.map(|it| self.subscriptions.named(it)),
                    is_authenticated: it.sender.authenticated,
                    reply: self.reply(&it.message),
                }))
            }
            own::Op::Cancel { reply_token } => Op::Cancel(self.tokens.named(reply_token)),
            own::Op::Extend {
                reply_token,
                timeout_seconds,
            } => Op::Extend {
                token: self.tokens.named(reply_token),
                timeout: millis(*timeout_seconds),
            },
            own::Op::Tool {
                session_id,
                action,
                tool_call_id,
            } => {
                let texts = [Some(&*action.tool), action.args_summary.as_deref()];
                Op::Tool(Arc::new(Task {
                    session: self.sessions.named(session_id),
                    size: size(texts.into_iter().flatten()),
                    action: self.text(&action.id),
                    tool: self.text(&action.tool),
                    summary: action.args_summary.as_ref().map(|it| self.text(it)),
                    risk: action.risk_level.map(risk),
                    irreversible: action.irreversible,
                    call: tool_call_id.as_ref().map(|it| {
                        let is_short = it.chars().count() <= 64;
                        given(&mut self.calls, it, is_short && !is_blank(it))
                    }),
                }))
            }
            own::Op::FinishTool {
                session_id,
                action,
                tool_call_id,
                status,
            } => Op::FinishTool {
                session: self.sessions.named(session_id),
                action: self.texts.number(action),
                call: tool_call_id.as_ref().map(|it| self.calls.named(it)),
                status: match status {
                    own::ToolStatus::Success => Status::Success,
                    own::ToolStatus::Error => Status::Error,
                    own::ToolStatus::Timeout => Status::Timeout,
                },
            },
            own::Op::Output {
                session_id,
                output_id,
                chunk,
                complete,
            } => Op::Write(Arc::new(Chunk {
                session: self.sessions.named(session_id),
                size: size([&**output_id, &**chunk].into_iter()),
                stream: self.text(output_id),
                text: self.text(chunk),
                characters: u32::try_from(chunk.chars().count()).unwrap_or(u32::MAX),
                is_last: *complete,
            })),
            own::Op::Handoff {
                session_id,
                reason,
                target_kind,
                target_uri,
            } => {
                let texts = [Some(&**reason), target_uri.as_deref()];
                Op::HandOff(Arc::new(Handoff {
                    session: self.sessions.named(session_id),
                    size: size(texts.into_iter().flatten()),
                    reason: self.text(reason),
                    target: match target_kind {
                        own::TargetKind::Human => Target::Human,
                        own::TargetKind::SpecialistAgent => Target::SpecialistAgent,
                        own::TargetKind::EscalationQueue => Target::EscalationQueue,
                    },
                    uri: target_uri.as_ref().map(|it| self.text(it)),
                }))
            }
            own::Op::EndSession {
                session_id,
                outcome,
            } => Op::EndSession {
                session: self.sessions.named(session_id),
                outcome: match outcome {
                    own::SessionOutcome::Completed => Outcome::Completed,
                    own::SessionOutcome::Errored => Outcome::Errored,
                    own::SessionOutcome::Cancelled => Outcome::Cancelled,
                },
            },
        }
    }

    fn text(&mut self, text: &str) -> Text {
        Text {
            name: self.texts.number(text),
            ..look_of(text)
        }
    }

    fn word<T: Copy>(&mut self, text: &str, words: &[(&str, T)], other: fn(Name) -> T) -> T {
        let known = words.iter().find(|it| it.0 == text);
        known.map_or_else(|| other(self.texts.number(text)), |it| it.1)
    }
}

/// An id that the host gives: it has a number as soon as it can be one.
fn given(ids: &mut Ids, text: &str, is_formed: bool) -> Given {
    let id = if is_formed {
        ids.put_out(text)
    } else {
        NOTHING
    };
    Given { id, is_formed }
}

/// A text with what decides whether it can be told.
fn look_of(text: &str) -> Text {
    Text {
        name: NOTHING,
        bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
        is_blank: is_blank(text),
    }
}

fn risk(it: own::RiskLevel) -> Risk {
    match it {
        own::RiskLevel::Low => Risk::Low,
        own::RiskLevel::Medium => Risk::Medium,
        own::RiskLevel::High => Risk::High,
    }
}

fn taken(it: own::ResponseKind) -> Taken {
    match it {
        own::ResponseKind::Freetext => Taken::Freetext,
        own::ResponseKind::YesNo => Taken::YesNo,
        own::ResponseKind::MultipleChoice => Taken::MultipleChoice,
        own::ResponseKind::Numeric => Taken::Numeric,
    }
}

// ── What is put out ──

impl Names {
    fn other(&mut self, output: &own::Output) -> Output {
        match output {
            own::Output::Notify(it) => Output::Notify {
                subscription: self.subscriptions.put_out(&it.subscription_id),
                token: it.reply_token.as_ref().map(|it| self.tokens.named(it)),
            },
            own::Output::Perform(it) => {
                self.performs(it.tool_call_id.clone());
                Output::Perform(self.run(it))
            }
            own::Output::InDoubt(it) => Output::InDoubt(self.run(it)),
            own::Output::Respond(it) => Output::Respond {
                status: it.status,
                body: it
                    .body
                    .as_ref()
                    .filter(|it| it.as_str() != "null")
                    .map(|it| self.texts.number(it.as_str())),
            },
            own::Output::Answer(it) => Output::Answer(Clarified {
                session: self.session(&it.session_id),
                token: self.tokens.named(&it.reply_token),
                response: it.response.as_ref().map(|it| self.response(it.as_str())),
                by: match it.by {
                    own::AnsweredBy::Reply => By::Reply,
                    own::AnsweredBy::Default => By::Default,
                    own::AnsweredBy::Nobody => By::Nobody,
                },
            }),
            own::Output::Refused(_) => Output::Refused,
            own::Output::Audit(_) | own::Output::Emit(_) => Output::Audit,
        }
    }

    /// A session that an output names. The producer made its id up, where no request did.
    fn session(&mut self, id: &str) -> SessionId {
        let known = self.sessions.count();
        let number = self.sessions.put_out(id);
        if number == known {
            self.made_up.push(id.to_owned());
        }
        number
    }

    fn performs(&mut self, id: String) {
        if !self.performed.contains(&id) {
            self.performed.push(id);
        }
    }

    fn run(&mut self, it: &own::ToolCall) -> Run {
        Run {
            session: self.session(&it.session_id),
            action: self.texts.number(&it.action),
            call: self.calls.put_out(&it.tool_call_id),
            tool: it.tool.as_ref().map(|it| self.texts.number(it)),
            token: it.reply_token.as_ref().map(|it| self.tokens.named(it)),
            modified: it
                .modified_action
                .as_ref()
                .map(|it| self.meaning(it.as_str())),
        }
    }
}

// ── The way back ──

impl Names {
    fn response_to(&mut self, place: usize, output: &Output) -> Option<own::Output> {
        Some(match output {
            Output::Emit(event) => own::Output::Emit(self.event_of(place, event)?),
            Output::Perform(run) => {
                let run = self.run_of(run);
                self.performs(run.tool_call_id.clone());
                own::Output::Perform(run)
            }
            Output::InDoubt(run) => own::Output::InDoubt(self.run_of(run)),
            Output::Respond { status, body } => own::Output::Respond(own::Sent {
                status: *status,
                body: body.and_then(|it| {
                    let text = self
                        .texts
                        .text(it)
                        .and_then(|it| serde_json::from_str(it).ok());
                    text.or_else(|| {
                        self.texts.adopt(it, it.to_string());
                        Json::of(&it).ok()
                    })
                }),
            }),
            Output::Answer(it) => own::Output::Answer(own::Answered {
                session_id: self.session_of(it.session),
                reply_token: self.token_named(it.token),
                response: match it.response {
                    Some(response) => Some(Json::of(&self.response_of(response)).ok()?),
                    None => None,
                },
                by: match it.by {
                    By::Reply => own::AnsweredBy::Reply,
                    By::Default => own::AnsweredBy::Default,
                    By::Nobody => own::AnsweredBy::Nobody,
                },
            }),
            Output::Notify {
                subscription,
                token,
            } => own::Output::Notify(own::Notice {
                subscription_id: self.subscription_named(*subscription),
                reply_token: token.map(|it| self.token_named(it)),
            }),
            Output::Audit => own::Output::Audit(Json::of(&json!({"text": "ignored"})).ok()?),
            Output::Refused => own::Output::Refused(driver::Refused {
                clause: None,
                reason: "not allowed".to_owned(),
            }),
            Output::Other(_) => return None,
        })
    }

    fn run_of(&mut self, run: &Run) -> own::ToolCall {
        let modified = run.modified.and_then(|action| {
            self.modified_of(Modified {
                action,
                risk: None,
                irreversible: None,
            })
        });
        own::ToolCall {
            action: self.name_of(run.action),
            session_id: self.session_of(run.session),
            tool: run.tool.map(|it| self.name_of(it)),
            tool_call_id: self.call_named(run.call),
            reply_token: run.token.map(|it| self.token_named(it)),
            modified_action: modified,
        }
    }

    fn given_of(&mut self, given: Given, prefix: &str) -> String {
        if !given.is_formed {
            return format!("{prefix}-");
        }
        let ids = if prefix == "sub_" {
            &mut self.subscriptions
        } else {
            &mut self.sessions
        };
        issued(ids, given.id, |it| format!("{prefix}{it}"))
    }

    fn call_of(&mut self, given: Given) -> String {
        if given.is_formed {
            issued(&mut self.calls, given.id, |it| format!("call_{it}"))
        } else {
            " ".to_owned()
        }
    }

    fn session_of(&mut self, session: SessionId) -> String {
        let is_new = self.sessions.count() <= session && session != NOTHING;
        let id = issued(&mut self.sessions, session, |it| format!("sess_{it}"));
        if is_new {
            self.made_up.push(id.clone());
        }
        id
    }

    fn session_named(&mut self, session: SessionId) -> String {
        self.sessions
            .text_as(session, |it| format!("sess_unknown{it}"))
    }

    fn token_of(&mut self, token: u16) -> String {
        issued(&mut self.tokens, token, |it| format!("rpl_{it}"))
    }

    fn call_named(&mut self, call: u16) -> String {
        issued(&mut self.calls, call, |it| format!("call_{it}"))
    }

    /// A text of that number that looks so: as it came, or one that is made up.
    fn text_of(&mut self, text: Text) -> String {
        let known = self.texts.text(text.name);
        let known = known.filter(|it| {
            Text {
                name: text.name,
                ..look_of(it)
            } == text
        });
        if let Some(known) = known {
            return known.to_owned();
        }
        let bytes = usize::try_from(text.bytes).unwrap_or(usize::MAX);
        let made_up = if text.bytes == 0 {
            String::new()
        } else if text.is_blank {
            " ".repeat(bytes)
        } else {
            format!("{:-<bytes$}", format!("n{}", text.name))
        };
        self.texts.adopt(text.name, made_up.clone());
        made_up
    }

    fn name_of(&mut self, name: Name) -> String {
        if let Some(text) = self.texts.text(name) {
            return text.to_owned();
        }
        self.text_of(name.into())
    }

    fn word_of<T: Copy + PartialEq + Other>(&mut self, word: T, words: &[(&str, T)]) -> String {
        let known = words
            .iter()
            .find(|it| it.1 == word)
            .map(|it| it.0.to_owned());
        known.unwrap_or_else(|| word.other().map_or(String::new(), |it| self.name_of(it)))
    }
}

/// The id of that number, which is put out.
fn issued(ids: &mut Ids, number: u16, make: impl Fn(u16) -> String) -> String {
    // Of numbers that were left out nothing is known but that they are taken.
    while ids.count() <= number && number != NOTHING {
        let mut next = make(ids.count());
        // A host may have given that.
        while ids.is_put_out(&next) {
            next.push('x');
        }
        ids.put_out(&next);
    }
    ids.text_as(number, make)
}

/// So many whole seconds.
fn seconds(millis: Time) -> Option<i64> {
    (millis % 1000 == 0).then_some(millis / 1000)
}

fn risk_of(it: Risk) -> Option<own::RiskLevel> {
    Some(match it {
        Risk::Low => own::RiskLevel::Low,
        Risk::Medium => own::RiskLevel::Medium,
        Risk::High => own::RiskLevel::High,
        Risk::Other(_) => return None,
    })
}

fn kind_of(it: Taken) -> own::ResponseKind {
    match it {
        Taken::Freetext => own::ResponseKind::Freetext,
        Taken::YesNo => own::ResponseKind::YesNo,
        Taken::MultipleChoice => own::ResponseKind::MultipleChoice,
        Taken::Numeric => own::ResponseKind::Numeric,
    }
}

/// A word of the spec that may be another than the page has.
trait Other {
    fn other(self) -> Option<Name>;
}

macro_rules! other {
    ($($word:ident)*) => {$(
        impl Other for $word {
            fn other(self) -> Option<Name> {
                if let Self::Other(name) = self { Some(name).filter(|it| *it != NOTHING) } else { None }
            }
        }
    )*};
}

other!(Risk Decision Status Outcome Target State);
