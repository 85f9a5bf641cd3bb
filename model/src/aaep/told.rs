//! What the judge is told of one step of the model, and how it is told.
//!
//! The one thing to know: [`Told`] is all of a step that a judge outside can see, and it alone is put into the judge's words.
//! A tick is a second. What waits in the outbox counts as put out in the call that put it there, and a crash loses none of it.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use crate::judge::{Finding, Judge, Name};
use crate::judged::{CallTold, InSearch};
use crate::packed::packed;
use crate::time::{self, Scale};

use super::Aaep;
use super::action::Action;
use super::judge::{
    AaepJudge, Allowed, AnsweredBy, Body, Call, Choice, Chunk, Clarification, Clarify, Confirm,
    Decision as Decided, Declared, Delivery, Event, Flaw, Handed, Handoff, Invocation, Modified,
    Outcome, Output as Shown, Question, QuestionKind, Rating, Reply, Response, ResponseKind,
    Risk as Harm, State as AgentState, Streamed, Target, Text, Tool, ToolCall, ToolStatus,
};
use super::message::{Message, Shape, Token};
use super::output::{Answered, Output, Outputs};
use super::state::State;
use super::step::Step;
use super::words::{
    AllowedReplies, Clarifies, Class, Decision, Piece, Response as Says, Risk, SLOTS, SessionName,
    SessionOutcome, Slot, Subscriber, Takes, Worked,
};

/// A call of the producer and all that it put out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    /// In moments.
    now: u8,
    /// What was asked.
    pub call: Asked,
    outputs: Outputs,
    /// How many pieces of work were begun before.
    begun: u8,
    /// What the names of the confirmations stand for.
    known: [Known; SLOTS],
    /// Whether a question or a piece of work can still be begun afterwards.
    can_begin: bool,
}

/// What is asked of the producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// To start a session.
    Start(SessionName),
    /// To open a subscription.
    Open(Subscriber),
    /// To ask for a confirmation.
    Confirm {
        /// The session of the action.
        session: SessionName,
        /// What is said of the action.
        class: Class,
        /// In ticks.
        timeout: u8,
        /// Whether the first slot has asked about this action.
        same_action: bool,
    },
    /// To ask for a clarification.
    Clarify {
        /// The session that asks.
        session: SessionName,
        /// What is asked.
        clarifies: Clarifies,
        /// In ticks.
        timeout: u8,
        /// Whether the first clarification has asked this question.
        same_question: bool,
    },
    /// To give a question more time, or as much as it has.
    Extend(Slot, bool),
    /// To take a message.
    Deliver(Message),
    /// To serve its timers.
    Tick,
    /// To withdraw a question.
    Cancel(Slot),
    /// To end a session.
    End(SessionName, SessionOutcome),
    /// To close a subscription.
    Close(Subscriber),
    /// To take a tool for done.
    Finish(Slot),
    /// To do this work around the questions.
    Work(Piece),
    /// To come back from a crash in which this question was lost, if one was.
    Restart(Option<Slot>),
}

/// What is known of a confirmation by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    session: SessionName,
    same_action: bool,
    class: Class,
    clarifies: Option<Clarifies>,
    timeout: u8,
    reused_token: bool,
    /// Whether its action runs with other arguments than were asked about.
    runs_changed: bool,
}

impl Hash for Known {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(packed([
            (self.session as u64, 1),
            (u64::from(self.same_action), 1),
            (self.class.code(), 6),
            (self.clarifies.map_or(0, Clarifies::code), 4),
            (u64::from(self.timeout), 4),
            (u64::from(self.reused_token), 1),
            (u64::from(self.runs_changed), 1),
        ]));
    }
}

/// The time of a moment, in milliseconds.
fn at(moment: impl Into<i64>) -> i64 {
    Scale::of(1_000).millis(moment)
}

/// A modified action that rates as what was asked.
const MODIFIED: Modified = Modified {
    object: TEXT,
    rating: Some(Rating {
        risk: None,
        irreversible: None,
    }),
};
/// The action of every tool that nobody is asked about, and the first of its calls.
const WORK: u32 = 1_000;

/// Questions go by their slots, and an action by the question that asked about it first.
pub(super) const NAMES: &[Name] = &[
    ("c", question_name),
    ("a", |action| match action {
        WORK => Some("the tool that needs no answer".to_owned()),
        _ => question_name(action).map(|it| format!("the action of {it}")),
    }),
    ("q", |question| {
        question_name(question).map(|it| format!("the question of {it}"))
    }),
    ("t", |call| {
        question_name(call % QUESTIONS).map(|it| format!("the call for {it}"))
    }),
    ("s", |session| {
        let named = SessionName::ALL.get(session as usize)?.name();
        Some(format!("session {named}"))
    }),
    ("e", |event| {
        (event == u32::MAX).then(|| "an event".to_owned())
    }),
    ("sub", |subscription| {
        let named = Subscriber::ALL.get(subscription as usize)?.name();
        Some(named.to_owned())
    }),
];

fn question_name(token: u32) -> Option<String> {
    let slot = Slot::ALL.get(token as usize)?;
    Some(slot.name().to_owned())
}

/// So many questions there are.
const QUESTIONS: u32 = Slot::Third as u32 + 1;
/// A chunk of output.
const CHUNK: Text = Text {
    text: TEXT,
    characters: 10,
};
/// The chunk that is none.
const NOTHING: Text = Text {
    text: TEXT,
    characters: 0,
};
/// Why and to whom a session is handed off.
const TO_A_HUMAN: Handed = Handed {
    reason: TEXT,
    target: Target::Human,
    target_uri: None,
};

/// What comes of work.
enum Work {
    /// The state of its session changes to this.
    State(AgentState),
    /// An event of its session.
    Event(Body),
    /// Anything else.
    Other(Shown),
    /// To the host alone.
    Unseen,
}

/// What every sender gets to see.
const RESPONSE: u32 = 0;
/// A token that was never issued.
const GUESSED: u32 = u32::MAX;
/// An action that is refused.
const NOT_ASKED: u32 = u32::MAX;
/// What is said to the user; it is what was to be said.
const TEXT: u32 = 0;

/// Nothing has begun, as the model begins.
pub(super) fn judge(model: &Aaep) -> AaepJudge {
    let mut judge = AaepJudge::new(model.reading).declaring(Declared {
        clarify: true,
        extend: true,
        delivery: true,
        work: true,
        ..Declared::default()
    });
    // What a sender sees whose reply is ignored, for AAEP-6.3.4-9.
    let ignored = Call::Deliver(Delivery {
        sender: None,
        authenticated: false,
        kind: QuestionKind::Confirmation,
        flaw: Some(Flaw::NotJson),
        reply: Reply::default(),
    });
    judge.see(at(0), &ignored, &[Shown::Respond(RESPONSE)]);
    judge.forget();
    judge
}

impl InSearch for AaepJudge {
    type Told = Told;

    fn is_told(&mut self, told: Told) -> Vec<Finding> {
        let outputs = told.shown(self);
        if let Asked::Restart(Some(slot)) = told.call {
            self.showed_last(told.lost(self, slot));
        }
        let findings = self.see(at(told.now), &told.call(self), &outputs);
        self.forget();
        findings
    }

    fn follow_quotient(&mut self, told: Told) {
        self.take_what_is_over_for_alike(told.can_begin);
    }
}

impl CallTold for Told {
    type Output = Output;

    fn outputs(&self) -> &[Output] {
        self.outputs.as_slice()
    }

    fn putting_out(self, outputs: &[Output]) -> Option<Self> {
        let outputs = Outputs::of(outputs)?;
        Some(Self { outputs, ..self })
    }

    fn seen(self) -> Option<Self> {
        let seen = Self {
            can_begin: false,
            ..self
        };
        Some(seen)
    }
}

impl Told {
    /// The session of a confirmation.
    pub const fn session(&self, slot: Slot) -> SessionName {
        self.known[slot.index()].session
    }

    /// What was said of the action of a confirmation.
    pub const fn class(&self, slot: Slot) -> Class {
        self.known[slot.index()].class
    }

    pub(super) fn of(model: &Aaep, before: &State, action: Action, step: &Step) -> Option<Self> {
        let call = match action {
            Action::StartSession { session } => Asked::Start(session),
            Action::Open { subscriber } => Asked::Open(subscriber),
            Action::Ask {
                session,
                class,
                timeout,
                same_action,
            } => Asked::Confirm {
                session,
                class,
                timeout,
                same_action,
            },
            Action::Clarify {
                session,
                clarifies,
                timeout,
                same_question,
            } => Asked::Clarify {
                session,
                clarifies,
                timeout,
                same_question,
            },
            Action::Extend { slot, longer } => Asked::Extend(slot, longer),
            Action::Deliver { .. } | Action::Replay => Asked::Deliver(action.message(before)?),
            Action::ServeTimer | Action::Transgress(_) => Asked::Tick,
            Action::Cancel { slot } => Asked::Cancel(slot),
            Action::EndSession { session, outcome } => Asked::End(session, outcome),
            Action::Close { subscriber } => Asked::Close(subscriber),
            Action::FinishTool { slot } => Asked::Finish(slot),
            Action::Work(piece) => Asked::Work(piece),
            Action::Crash => Asked::Restart(before.waiting_question()),
            Action::Decide { .. }
            | Action::Answer { .. }
            | Action::Duplicate { .. }
            | Action::Change { .. }
            | Action::Lose { .. }
            | Action::Forge(_)
            | Action::Tick
            | Action::CarryOut => return None,
        };
        Some(Self {
            now: before.clock,
            call,
            outputs: step.required,
            begun: before.work.begun,
            known: Slot::ALL.map(|slot| {
                let confirmation = step.next.confirmation(slot);
                Known {
                    session: confirmation.session,
                    same_action: confirmation.same_action,
                    class: confirmation.class,
                    clarifies: confirmation.clarifies,
                    timeout: confirmation.timeout,
                    reused_token: confirmation.reused_token,
                    runs_changed: model.runs_changed(before, &step.required, slot),
                }
            }),
            can_begin: model.can_ask(&step.next) || model.can_work(&step.next),
        })
    }

    fn call(&self, judge: &AaepJudge) -> Call {
        match self.call {
            Asked::Start(session) => Call::StartSession {
                session: Some(session as u32),
            },
            Asked::Open(subscriber) => Call::Subscribe {
                subscription: subscriber as u32,
                can_reply: subscriber.is_capable(),
            },
            Asked::Confirm {
                session,
                class,
                timeout,
                same_action,
            } => Call::Confirm(Confirm {
                session: session as u32,
                action: self.action_asked(same_action),
                tool: TEXT,
                description: TEXT,
                consequence: TEXT,
                risk: harm(class.risk),
                irreversible: class.irreversible,
                timeout_seconds: timeout.into(),
                default: decided(class.default),
                allowed: allowed(class.allowed, judge),
                out_of_limits: None,
            }),
            Asked::Clarify {
                session,
                clarifies,
                timeout,
                same_question,
            } => Call::Clarify(Clarify {
                session: session as u32,
                question: self.question_asked(same_question),
                kinds: kinds(clarifies.takes),
                choices: choices(clarifies.takes),
                timeout_seconds: timeout.into(),
                default: default(clarifies),
                out_of_limits: None,
            }),
            Asked::Extend(slot, longer) => Call::Extend {
                token: self.token(slot),
                timeout_seconds: judge.waits(self.token(slot)).0 + i64::from(longer),
            },
            Asked::Deliver(message) => Call::Deliver(self.delivery(message)),
            Asked::Tick => Call::Tick,
            Asked::Cancel(slot) => Call::Cancel {
                token: self.token(slot),
            },
            Asked::End(session, outcome) => Call::EndSession {
                session: session as u32,
                outcome: ended(outcome),
            },
            Asked::Close(subscriber) => Call::Unsubscribe {
                subscription: subscriber as u32,
            },
            Asked::Finish(slot) => Call::FinishTool {
                session: self.asked(judge, slot).0,
                action: self.asked(judge, slot).1,
                tool_call: Some(self.tool_call(judge, slot).tool_call),
                status: ToolStatus::Success,
            },
            Asked::Work(piece) => work(piece),
            Asked::Restart(lost) => Call::Restart {
                lost: usize::from(lost.is_some()),
            },
        }
    }

    fn delivery(&self, message: Message) -> Delivery {
        Delivery {
            sender: Some(message.sender as u32),
            authenticated: message.authenticated,
            kind: match message.response {
                None => QuestionKind::Confirmation,
                Some(_) => QuestionKind::Clarification,
            },
            flaw: (message.shape == Shape::Malformed).then_some(Flaw::NotJson),
            reply: Reply {
                token: Some(match message.token {
                    Token::Of(slot) => self.token(slot),
                    Token::Guessed => GUESSED,
                }),
                decision: Some(decided(message.decision)),
                response: message.response.map(said),
                claimed_at: Some(at(message.claimed)),
                subscription: Some(message.named() as u32),
                modified_action: (message.shape == Shape::Modified).then_some(MODIFIED),
            },
        }
    }

    /// What came out, in the judge's words.
    fn shown(&self, judge: &AaepJudge) -> Vec<Shown> {
        let mut shown = Vec::new();
        let mut states: BTreeMap<u32, AgentState> = judge.states().collect();
        for output in self.outputs.iter() {
            let of = |slot| self.asked(judge, slot).0;
            let mut emit = |session: u32, body| {
                let id = u32::try_from(shown.len()).unwrap_or(u32::MAX);
                shown.push(Shown::Emit(event(id, self.now, session, body)));
            };
            let mut changes = |session: u32, to| {
                let from = states.insert(session, to).unwrap_or(AgentState::Idle);
                emit(session, Body::StateChanged { from, to });
            };
            match output {
                Output::Started(session) => emit(session as u32, Body::Started),
                Output::AwaitingInput(session) => {
                    changes(session as u32, AgentState::AwaitingInput);
                }
                Output::CallingTool(session) | Output::CallingToolAgain(session) => {
                    changes(session as u32, AgentState::CallingTool);
                }
                Output::FollowUpLeaving(slot) => changes(of(slot), AgentState::Thinking),
                Output::FollowUpStaying(slot) => changes(of(slot), AgentState::AwaitingInput),
                Output::Thinking(session) => changes(session as u32, AgentState::Thinking),
                Output::Asked(slot) | Output::Clarify(slot) => {
                    emit(of(slot), self.question(slot, judge));
                }
                Output::AskedSome(slot) => {
                    let mut asked = event(0, self.now, of(slot), self.question(slot, judge));
                    asked.id = u32::try_from(shown.len()).unwrap_or(u32::MAX);
                    let capable = Subscriber::ALL.into_iter().filter(|it| it.is_capable());
                    asked.to = Some(capable.map(|it| it as u32).collect());
                    shown.push(Shown::Emit(asked));
                }
                Output::MoreTime(slot) => {
                    let (_, deadline) = judge.waits(self.token(slot));
                    // A tick more than the judge knows of.
                    let left = Some(deadline + at(time::on(1)) - at(self.now));
                    emit(of(slot), Body::Progress { left });
                }
                Output::Answer(slot, answered) => shown.push(self.answer(of(slot), slot, answered)),
                Output::Invoked(slot) => {
                    let Class {
                        risk, irreversible, ..
                    } = self.class(slot);
                    let invoked = Invocation {
                        tool: TEXT,
                        tool_call: Some(self.tool_call(judge, slot).tool_call),
                        args_summary: None,
                        risk: harm(risk),
                        irreversible,
                    };
                    // AAEP-EV-8: where no transition comes before it, the next one leaves the state that it implies.
                    if judge.stays_while_asked() {
                        states.insert(of(slot), AgentState::CallingTool);
                    }
                    emit(of(slot), Body::ToolInvoked(invoked));
                }
                Output::Completed(slot) => {
                    let body = Body::ToolCompleted {
                        tool: TEXT,
                        tool_call: Some(self.tool_call(judge, slot).tool_call),
                        status: self.status(),
                    };
                    emit(of(slot), body);
                }
                Output::Ended(session, outcome) => {
                    emit(session as u32, Body::Ended(ended(outcome)));
                }
                Output::Work(session, worked) => match self.worked(judge, session, worked) {
                    Work::State(to) => changes(session as u32, to),
                    Work::Event(body) => emit(session as u32, body),
                    Work::Other(output) => shown.push(output),
                    Work::Unseen => {}
                },
                Output::Perform(slot) => {
                    let changed = self.known[slot.index()].runs_changed;
                    shown.push(Shown::Perform(ToolCall {
                        modified: changed.then_some(TEXT),
                        ..self.tool_call(judge, slot)
                    }));
                }
                Output::InDoubt(slot) => shown.push(Shown::InDoubt(self.tool_call(judge, slot))),
                Output::Respond => shown.push(Shown::Respond(RESPONSE)),
                Output::Tell(check) => shown.push(Shown::Respond(RESPONSE + 1 + check as u32)),
                Output::Refused(_) => shown.push(Shown::Refused),
                Output::Notice => shown.extend(self.notice()),
                // To the host alone: what it is told not to begin, and what the operator can read.
                Output::Withdraw(_) | Output::Audit(_) => {}
            }
        }
        shown
    }

    /// What comes of work, in the judge's words.
    fn worked(&self, judge: &AaepJudge, session: SessionName, worked: Worked) -> Work {
        let call = self.call_of_work(judge, session);
        match worked {
            Worked::Calling => Work::State(AgentState::CallingTool),
            Worked::Writing => Work::State(AgentState::WritingOutput),
            Worked::Thinking => Work::State(AgentState::Thinking),
            Worked::HandingOff => Work::State(AgentState::HandingOff),
            Worked::Invoked { irreversible } => Work::Event(Body::ToolInvoked(Invocation {
                tool: TEXT,
                tool_call: Some(call.tool_call),
                args_summary: None,
                risk: Harm::Low,
                irreversible,
            })),
            Worked::Completed => Work::Event(Body::ToolCompleted {
                tool: TEXT,
                tool_call: Some(call.tool_call),
                status: self.status(),
            }),
            Worked::Chunk { position, complete } => Work::Event(Body::OutputStreaming(Streamed {
                output: Some(TEXT),
                // A session that ends has nothing more to say.
                chunk: if matches!(self.call, Asked::End(..)) {
                    NOTHING
                } else {
                    CHUNK
                },
                position: i64::from(position) * CHUNK.characters,
                complete,
            })),
            Worked::HandedOff => Work::Event(Body::Handoff(TO_A_HUMAN)),
            Worked::Perform => Work::Other(Shown::Perform(call)),
            Worked::InDoubt => Work::Other(Shown::InDoubt(call)),
            Worked::Withdraw => Work::Unseen,
        }
    }

    /// The call of the tool that runs unasked, or else a new one.
    fn call_of_work(&self, judge: &AaepJudge, session: SessionName) -> ToolCall {
        let session = session as u32;
        let in_flight = judge.in_flight(session, WORK).next();
        ToolCall {
            session,
            action: WORK,
            tool_call: in_flight.unwrap_or(WORK + u32::from(self.begun)),
            modified: None,
        }
    }

    /// The question that was lost: the last thing that the last call put out.
    fn lost(&self, judge: &AaepJudge, slot: Slot) -> Shown {
        let (session, _) = self.asked(judge, slot);
        Shown::Emit(event(
            u32::MAX,
            self.now,
            session,
            self.question(slot, judge),
        ))
    }

    fn question(&self, slot: Slot, judge: &AaepJudge) -> Body {
        let Known {
            class,
            clarifies,
            timeout,
            ..
        } = self.known[slot.index()];
        if let Some(clarifies) = clarifies {
            return Body::Clarification(Clarification {
                token: self.token(slot),
                question: self.question_in(slot),
                kinds: kinds(clarifies.takes),
                choices: choices(clarifies.takes),
                timeout_seconds: timeout.into(),
                default: default(clarifies),
            });
        }
        Body::Question(Question {
            token: self.token(slot),
            description: TEXT,
            consequence: TEXT,
            timeout_seconds: timeout.into(),
            default: decided(class.default),
            risk: Some(harm(class.risk)),
            irreversible: Some(class.irreversible),
            allowed: allowed(class.allowed, judge),
        })
    }

    fn notice(&self) -> Option<Shown> {
        let Asked::Deliver(message) = self.call else {
            return None;
        };
        Some(Shown::Notify {
            subscription: message.sender as u32,
            token: None,
        })
    }

    /// The session and the action of a question, as the judge saw it asked: the quotient forgets them.
    fn asked(&self, judge: &AaepJudge, slot: Slot) -> (u32, u32) {
        judge.asked(self.token(slot)).unwrap_or_else(|| {
            let known = self.known[slot.index()];
            let of = if known.same_action { Slot::First } else { slot };
            (known.session as u32, of as u32)
        })
    }

    /// How a tool is told to have come out: one whose session ends before it has come back did not.
    const fn status(&self) -> ToolStatus {
        match self.call {
            Asked::End(..) => ToolStatus::Error,
            Asked::Start(_)
            | Asked::Open(_)
            | Asked::Confirm { .. }
            | Asked::Clarify { .. }
            | Asked::Extend(..)
            | Asked::Deliver(_)
            | Asked::Tick
            | Asked::Cancel(_)
            | Asked::Close(_)
            | Asked::Finish(_)
            | Asked::Work(_)
            | Asked::Restart(_) => ToolStatus::Success,
        }
    }

    fn answer(&self, session: u32, slot: Slot, answered: Answered) -> Shown {
        let (response, by) = match answered {
            Answered::Reply(response) => (Some(said(response)), AnsweredBy::Reply),
            Answered::Default => (Some(Response::Text(DEFAULT)), AnsweredBy::Default),
            Answered::Nobody => (None, AnsweredBy::Nobody),
        };
        Shown::Answer {
            session,
            token: self.token(slot),
            response,
            by,
        }
    }

    /// The text of the question in a slot.
    fn question_in(&self, slot: Slot) -> u32 {
        let same = self.known[slot.index()].same_action;
        self.question_of(Some(slot), same)
    }

    /// The text of the question that is to be asked.
    fn question_asked(&self, same_question: bool) -> u32 {
        self.question_of(self.filled(), same_question)
    }

    fn question_of(&self, slot: Option<Slot>, same_question: bool) -> u32 {
        let clarifies = |slot: &Slot| self.known[slot.index()].clarifies.is_some();
        let first = Slot::ALL.into_iter().find(clarifies);
        let asks = if same_question { first } else { slot };
        asks.map_or(NOT_ASKED, |slot| slot as u32)
    }

    /// The slot that the call fills.
    fn filled(&self) -> Option<Slot> {
        let fills = |&slot: &Slot| {
            let asked = [
                Output::Asked(slot),
                Output::Clarify(slot),
                Output::AskedSome(slot),
            ];
            asked.into_iter().any(|it| self.outputs.contains(it))
        };
        Slot::ALL.into_iter().find(fills)
    }

    fn token(&self, slot: Slot) -> u32 {
        if self.known[slot.index()].reused_token {
            Slot::First as u32
        } else {
            slot as u32
        }
    }

    /// The action of the question that is to be asked: the first slot's, or that of the slot that it fills.
    fn action_asked(&self, same_action: bool) -> u32 {
        match (same_action, self.filled()) {
            (true, _) => Slot::First as u32,
            (false, Some(slot)) => slot as u32,
            (false, None) => NOT_ASKED,
        }
    }

    /// The call of a tool that is in flight, or else a new one: each time that the action runs for this question.
    fn tool_call(&self, judge: &AaepJudge, slot: Slot) -> ToolCall {
        let (session, action) = self.asked(judge, slot);
        let in_flight = judge
            .in_flight(session, action)
            .find(|call| call % QUESTIONS == slot as u32);
        let new = slot as u32 + QUESTIONS * judge.runs(self.token(slot));
        ToolCall {
            session,
            action,
            tool_call: in_flight.unwrap_or(new),
            modified: None,
        }
    }
}

/// What is to be done, in the judge's words.
const fn work(piece: Piece) -> Call {
    let session = piece.session() as u32;
    let out_of_limits = None;
    match piece {
        Piece::Run { irreversible, .. } => Call::Tool(Tool {
            session,
            action: WORK,
            tool: TEXT,
            args_summary: None,
            risk: Harm::Low,
            irreversible,
            tool_call: None,
            out_of_limits,
        }),
        Piece::Finish { .. } => Call::FinishTool {
            session,
            action: WORK,
            tool_call: None,
            status: ToolStatus::Success,
        },
        Piece::Write { complete, .. } => Call::Output(Chunk {
            session,
            output: TEXT,
            chunk: CHUNK,
            complete,
            out_of_limits,
        }),
        Piece::HandOff { .. } => Call::Handoff(Handoff {
            session,
            to: TO_A_HUMAN,
            out_of_limits,
        }),
    }
}

fn event(id: u32, now: u8, session: u32, body: Body) -> Event {
    Event {
        id,
        session,
        at: at(now),
        sequence: None,
        critical: matches!(
            body,
            Body::Question(_)
                | Body::Clarification(_)
                | Body::Handoff(_)
                | Body::Ended(Outcome::Errored)
        ),
        to: None,
        body,
    }
}

/// A text that is one of the choices, one that is none, and the default.
const CHOICE: u32 = 1;
const WORD: u32 = 2;
const OTHER_CHOICE: u32 = 3;
const DEFAULT: u32 = 4;

const fn said(response: Says) -> Response {
    match response {
        Says::Choice => Response::Text(CHOICE),
        Says::Word => Response::Text(WORD),
        Says::Number => Response::Number(0),
    }
}

fn kinds(takes: Takes) -> Option<Vec<ResponseKind>> {
    Some(match takes {
        Takes::Words => vec![ResponseKind::Freetext],
        Takes::Choice => vec![ResponseKind::MultipleChoice],
        Takes::Several => vec![ResponseKind::YesNo, ResponseKind::Numeric],
        Takes::ChoiceOrWords => vec![ResponseKind::Freetext, ResponseKind::MultipleChoice],
        Takes::Unlisted => return None,
    })
}

fn choices(takes: Takes) -> Option<Vec<Choice>> {
    let choice = |value| Choice {
        value,
        label: value,
    };
    match takes {
        Takes::Words | Takes::Several | Takes::Unlisted => None,
        Takes::Choice | Takes::ChoiceOrWords => Some(vec![choice(CHOICE), choice(OTHER_CHOICE)]),
    }
}

fn default(clarifies: Clarifies) -> Option<u32> {
    clarifies.default.then_some(DEFAULT)
}

const fn decided(decision: Decision) -> Decided {
    match decision {
        Decision::Accept => Decided::Accept,
        Decision::Reject => Decided::Reject,
    }
}

const fn harm(risk: Risk) -> Harm {
    match risk {
        Risk::Low => Harm::Low,
        Risk::Medium => Harm::Medium,
        Risk::High => Harm::High,
    }
}

const fn ended(outcome: SessionOutcome) -> Outcome {
    match outcome {
        SessionOutcome::Completed => Outcome::Completed,
        SessionOutcome::Errored => Outcome::Errored,
        SessionOutcome::Cancelled => Outcome::Cancelled,
    }
}

/// The list of replies, which is absent where the judge knows what that means, and it is not both.
fn allowed(replies: AllowedReplies, judge: &AaepJudge) -> Option<Allowed> {
    let is_absent = replies == AllowedReplies::Both && !judge.allows_both_unlisted();
    (!is_absent).then(|| Allowed {
        accept: replies.allows(Decision::Accept),
        reject: replies.allows(Decision::Reject),
        others: replies == AllowedReplies::RejectOrOwn,
    })
}
