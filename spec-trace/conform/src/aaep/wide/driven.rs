//! Any implementation in a wide run: calls become requests of the driver protocol, and its outputs the judge's words.
//!
//! The one thing to know: an event that is none goes to the judge as such, and he says by which clause. What waits is
//! guessed from what was seen, which only makes a run livelier.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use countersign_model::aaep::judge::{
    self, AaepJudge, Body, Call, Declared, Output, QuestionKind, State, ToolCall,
};
use countersign_model::aaep::readings::Reading;
use countersign_protocol::aaep::{
    self as driver, Aaep, AnsweredBy, Capability, Op as Own, Output as Out,
};
use countersign_protocol::{Common, Greeting, Json, Kind, Op, Output as Put, Protocol as _};
use countersign_reference::aaep as executor;
use executor::{ActionId, Input, ReplyToken, SessionId, ToolCallId};
use serde::Deserialize;

use super::drawing::BYTES;
use super::events::{self, Read};
use super::questions::Question;
use super::spelling::{self, Modified};
use super::step::{Asked as Asks, Step};
use super::world::{Running, START, World};
use crate::driven::{Asked, Driven, Taken, Unreadable};
use crate::suite::Suited as _;

/// What is kept of an implementation in a run.
#[derive(Clone)]
pub struct Driver {
    world: World,
    greeting: Rc<Greeting<Aaep>>,
    /// Of each action of a session that a host has named. A driver is copied often, and its copy names little that is new.
    named: Rc<BTreeMap<(String, String), Named>>,
    /// What is asked about in this call.
    about: Option<(String, String)>,
    /// The last step that was asked.
    asked: Asks,
    /// Of each output of the last call, whether the judge was shown it.
    last: Vec<bool>,
}

/// The tools that were to run for an action, and the tokens that were asked for.
type Named = (BTreeSet<String>, BTreeSet<String>);

impl Driven for Driver {
    type Protocol = Aaep;
    type Step = Step;
    type Judge = AaepJudge;
    const START: i64 = START;
    const NEEDED: &'static [Kind] = &[Kind::Emit, Kind::Perform, Kind::Refused];
    const TICK: Call = Call::Tick;
    const BYTES: usize = BYTES;

    fn steps(bytes: &[u8]) -> Vec<Step> {
        let is_themed = bytes
            .first()
            .is_some_and(|first| first.is_multiple_of(THEMES));
        let steps = bytes.chunks(BYTES).map(Step::of);
        steps
            .map(|step| if is_themed { with_more(step) } else { step })
            .collect()
    }

    fn judge(greeting: &Greeting<Aaep>) -> AaepJudge {
        judge(greeting, Reading::SPECIFICATION)
    }

    fn readings(greeting: &Greeting<Aaep>) -> Vec<Taken<AaepJudge>> {
        Self::readings_where(greeting, &[])
    }

    fn fold(first: &Step, second: &Step) -> Option<Vec<Step>> {
        let clock = first.clock.then(second.clock)?;
        Some(vec![Step { clock, ..*second }])
    }

    fn names(&self) -> BTreeMap<String, String> {
        self.world.names.in_run()
    }

    fn begin(greeting: &Rc<Greeting<Aaep>>) -> Self {
        Self {
            world: World::new(START),
            greeting: Rc::clone(greeting),
            named: Rc::default(),
            about: None,
            asked: Asks::Tick,
            last: Vec::new(),
        }
    }

    fn ask(&mut self, step: &Step) -> Option<Asked<Self>> {
        self.world.set_clock(step.clock);
        if !self.may_ask(step.asked) {
            return None;
        }
        let (op, call) = if let Asks::Restart { lost } = step.asked {
            self.restart(usize::from(lost))
        } else {
            let (input, call) = self.world.input(for_anyone(step.asked))?;
            (op_of(input)?, call)
        };
        self.asked = step.asked;
        self.about = match &op {
            Op::Own(Own::Confirm {
                session_id, action, ..
            }) => Some((session_id.clone(), action.id.clone(), action.tool.clone())),
            Op::Own(Own::Tool {
                session_id, action, ..
            }) => Some((session_id.clone(), action.id.clone(), action.tool.clone())),
            Op::Own(_) | Op::Common(_) => None,
        }
        .map(|(session, action, tool)| {
            let about = (session, action);
            let (tools, _) = self.named_of(&about);
            tools.insert(tool);
            about
        });
        Some(Asked {
            now: self.world.clock,
            op,
            call,
        })
    }

    fn take(
        &mut self,
        call: &Call,
        outputs: &[Put<Aaep>],
    ) -> Result<Vec<Option<Output>>, Unreadable> {
        let shown = outputs.iter().map(|output| {
            let is_shown = self.greeting.shows(Aaep::kind(&output.what));
            is_shown.then(|| self.output(call, output)).flatten()
        });
        let shown: Vec<Option<Output>> = shown.collect();
        self.are_as_asked(outputs)?;
        self.last = shown.iter().map(Option::is_some).collect();
        if !shown.contains(&Some(Output::Refused)) {
            self.is_done(call);
        }
        let latest = self.world.latest;
        let questions = &mut self.world.questions;
        questions.are_over(|question| question.deadline() <= latest);
        Ok(shown)
    }
}

/// One in so many runs has more of what is rare among random steps.
const THEMES: u8 = 8;

/// The same, where half of the replies name their session besides (AAEP-REPLY-11).
const fn with_more(mut step: Step) -> Step {
    if let Asks::Deliver(delivered) = &mut step.asked
        && delivered.spelling < 128
    {
        (delivered.flaw, delivered.spelling) = (12, 0);
    }
    step
}

/// What an event asks that has a token.
#[derive(Deserialize)]
struct WithToken {
    reply_token: String,
}

/// The same with numbers that any reader tells apart, for RFC 8259 lets one have doubles; and half of the confirmations are of
/// few actions, each of which is asked about in the same words again (AAEP-6.1-6, AAEP-6.2.2-3).
fn for_anyone(mut asked: Asks) -> Asks {
    match &mut asked {
        Asks::Answer(answered) => spelling::in_doubles(answered),
        Asks::Confirm(confirmed) if confirmed.words < 4 => {
            let action = confirmed.action % 8;
            (confirmed.action, confirmed.words) = (action, 0);
            (confirmed.tool, confirmed.class) = (action % 5, (action + 6) % 12);
        }
        Asks::StartSession { .. }
        | Asks::Subscribe { .. }
        | Asks::Unsubscribe { .. }
        | Asks::Confirm(_)
        | Asks::Clarify(_)
        | Asks::Deliver(_)
        | Asks::Replay { .. }
        | Asks::Cancel { .. }
        | Asks::Extend { .. }
        | Asks::Tool(_)
        | Asks::Output(_)
        | Asks::Handoff(_)
        | Asks::Finish { .. }
        | Asks::EndSession { .. }
        | Asks::Restart { .. }
        | Asks::Tick => {}
    }
    asked
}

/// The judge of an implementation that declares this, by a reading.
pub(super) fn judge(greeting: &Greeting<Aaep>, reading: Reading) -> AaepJudge {
    let can = |it| greeting.supports.contains(&it);
    AaepJudge::new(reading).declaring(Declared {
        clarify: can(Capability::Clarify),
        extend: can(Capability::Extend),
        progress: can(Capability::Progress),
        courtesy_notice: can(Capability::CourtesyNotice) && greeting.shows(Kind::Notify),
        delivery: can(Capability::Delivery),
        modified_action: can(Capability::ModifiedAction),
        work: can(Capability::Work),
        waits_as_read: true,
    })
}

impl Driver {
    /// AAEP-6.1-1, AAEP-6.3.1-2: what is to run names the tool and the token of the question that was asked about it, where it names any.
    fn are_as_asked(&mut self, outputs: &[Put<Aaep>]) -> Result<(), Unreadable> {
        for output in outputs {
            let run = match &output.what {
                Out::Perform(run) | Out::InDoubt(run) => run,
                Out::Emit(event) => {
                    if let Some(about) = self.about.clone()
                        && let Ok(asked) = serde_json::from_str::<WithToken>(event.as_str())
                    {
                        let (_, tokens) = self.named_of(&about);
                        tokens.insert(asked.reply_token);
                    }
                    continue;
                }
                Out::Respond(_)
                | Out::Answer(_)
                | Out::Notify(_)
                | Out::Audit(_)
                | Out::Refused(_) => continue,
            };
            let about = (run.session_id.clone(), run.action.clone());
            let Some((tools, tokens)) = self.named.get(&about) else {
                continue;
            };
            let other = |given: &Option<String>, known: &BTreeSet<String>| {
                given.as_ref().is_some_and(|given| !known.contains(given))
            };
            if other(&run.tool, tools) || other(&run.reply_token, tokens) {
                let text = "what is to run must name the tool and the token of its own question";
                return Err(Unreadable::new("AAEP-6.1-1", text));
            }
        }
        Ok(())
    }

    fn named_of(&mut self, about: &(String, String)) -> &mut Named {
        let named = Rc::make_mut(&mut self.named);
        named.entry(about.clone()).or_default()
    }

    /// Whether what is asked was declared, and what it needs is shown: nobody can tell what becomes of a question of which no
    /// answer is shown, nor of any whose events, performances and refusals are not.
    fn may_ask(&self, asked: Asks) -> bool {
        let can = |it| self.greeting.supports.contains(&it);
        match asked {
            Asks::Clarify(_) => can(Capability::Clarify) && self.greeting.shows(Kind::Answer),
            Asks::Cancel { .. } => can(Capability::Cancel),
            Asks::Extend { .. } => can(Capability::Extend),
            Asks::Tool(_) | Asks::Output(_) | Asks::Handoff(_) => can(Capability::Work),
            Asks::Restart { .. } => can(Capability::Restart) && self.greeting.shows(Kind::InDoubt),
            Asks::StartSession { .. }
            | Asks::Subscribe { .. }
            | Asks::Unsubscribe { .. }
            | Asks::Confirm(_)
            | Asks::Deliver(_)
            | Asks::Answer(_)
            | Asks::Replay { .. }
            | Asks::Finish { .. }
            | Asks::EndSession { .. }
            | Asks::Tick => true,
        }
    }

    /// So many of the last outputs are lost, or as many as there are.
    fn restart(&self, lost: usize) -> (Op<Aaep>, Call) {
        let lost = lost.min(self.last.len());
        let behind = &self.last[self.last.len() - lost..];
        let shown = behind.iter().filter(|shown| **shown).count();
        let op = Common::Restart {
            lost: u64::try_from(lost).ok(),
        };
        (Op::Common(op), Call::Restart { lost: shown })
    }

    /// What the judge is shown of an output; nothing of what only the operator sees.
    fn output(&mut self, call: &Call, output: &Put<Aaep>) -> Option<Output> {
        let names = &mut self.world.names;
        Some(match &output.what {
            Out::Emit(event) => match events::read(event, output.to.as_deref(), names) {
                Ok(read) => {
                    self.watch(call, &read);
                    Output::Emit(read.event)
                }
                Err(malformed) => Output::Malformed(malformed),
            },
            Out::Perform(run) => {
                self.is_performed(run);
                Output::Perform(self.call(run))
            }
            Out::InDoubt(run) => Output::InDoubt(self.call(run)),
            Out::Notify(notice) => Output::Notify {
                subscription: names.subscription(&notice.subscription_id),
                token: notice.reply_token.as_deref().map(|it| names.token(it)),
            },
            Out::Respond(sent) => {
                let body = sent.body.as_ref().map_or("", Json::as_str);
                names.shown(&format!("{} {body}", sent.status))
            }
            Out::Answer(answer) => self.answer(answer),
            Out::Refused(_) => Output::Refused,
            Out::Audit(_) => return None,
        })
    }

    fn call(&mut self, run: &driver::ToolCall) -> ToolCall {
        let names = &mut self.world.names;
        ToolCall {
            session: names.session(&run.session_id),
            action: names.action(&run.action),
            tool_call: names.tool_call(&run.tool_call_id),
            modified: run.modified_action.as_ref().map(|it| {
                let text = it.text();
                let drawn = Modified::meant_by(&text);
                names.text(drawn.as_deref().unwrap_or(&text))
            }),
        }
    }

    fn answer(&mut self, answer: &driver::Answered) -> Output {
        let names = &mut self.world.names;
        let response = answer.response.as_ref();
        Output::Answer {
            session: names.session(&answer.session_id),
            token: names.token(&answer.reply_token),
            response: response.and_then(|it| names.written_response(it.as_str())),
            by: match answer.by {
                AnsweredBy::Reply => judge::AnsweredBy::Reply,
                AnsweredBy::Default => judge::AnsweredBy::Default,
                AnsweredBy::Nobody => judge::AnsweredBy::Nobody,
            },
        }
    }

    fn is_performed(&mut self, run: &driver::ToolCall) {
        let token = run.reply_token.as_deref();
        let questions = &mut self.world.questions;
        questions.are_over(|question| Some(question.token.as_str()) == token);
        let session = SessionId::parse(&run.session_id);
        let action = ActionId::parse(&run.action);
        let tool_call = ToolCallId::parse(&run.tool_call_id);
        if let (Ok(session_id), Ok(action), Ok(tool_call_id)) = (session, action, tool_call) {
            self.world.runs(Running {
                session_id,
                action,
                tool_call_id,
            });
        }
    }

    fn watch(&mut self, call: &Call, read: &Read) {
        let Ok(session) = SessionId::parse(read.text("session_id")) else {
            return;
        };
        match &read.event.body {
            Body::Started => self.world.session_is_there(&session),
            Body::Ended(_) => {
                let is_of = |question: &Question| question.session.as_ref() == Some(&session);
                self.world.questions.are_over(is_of);
                self.world.session_is_followed(&session);
            }
            Body::StateChanged {
                from: State::AwaitingInput,
                to,
            } if *to != State::AwaitingInput => self.is_resolved(call, &session),
            Body::Question(asked) => {
                let (kind, timeout) = (QuestionKind::Confirmation, asked.timeout_seconds);
                self.is_asked(read, session, kind, timeout);
            }
            Body::Clarification(asked) => {
                let (kind, timeout) = (QuestionKind::Clarification, asked.timeout_seconds);
                self.is_asked(read, session, kind, timeout);
            }
            Body::ToolCompleted { .. } => self.world.is_back(read.text("tool_call_id")),
            Body::StateChanged { .. }
            | Body::Progress { .. }
            | Body::ToolInvoked(_)
            | Body::OutputStreaming(_)
            | Body::Handoff(_)
            | Body::Other => {}
        }
    }

    fn is_asked(&mut self, read: &Read, session: SessionId, kind: QuestionKind, timeout: i64) {
        if let Ok(token) = ReplyToken::parse(read.text("reply_token")) {
            let asked = Question::asked(token, session, kind, read.event.at, timeout);
            self.world.questions.is_asked(asked);
        }
    }

    /// A session has left `awaiting_input`: the question that the call is about is answered, or where a subscription closes, all.
    /// One that was taken back is replied to as if it still waited.
    fn is_resolved(&mut self, call: &Call, session: &SessionId) {
        let (token, closes) = match call {
            Call::Deliver(delivery) => (delivery.reply.token, false),
            Call::Unsubscribe { .. } => (None, true),
            Call::StartSession { .. }
            | Call::Subscribe { .. }
            | Call::Confirm(_)
            | Call::Clarify(_)
            | Call::Cancel { .. }
            | Call::Extend { .. }
            | Call::Tool(_)
            | Call::Output(_)
            | Call::Handoff(_)
            | Call::FinishTool { .. }
            | Call::EndSession { .. }
            | Call::Tick
            | Call::Restart { .. } => return,
        };
        let names = &mut self.world.names;
        self.world.questions.are_over(|question| {
            let is_of = question.session.as_ref() == Some(session);
            is_of && (closes || Some(names.token(question.token.as_str())) == token)
        });
    }

    /// What was asked was not refused.
    fn is_done(&mut self, call: &Call) {
        self.world.is_done(self.asked);
        if let Call::Extend {
            token,
            timeout_seconds,
        } = call
        {
            let names = &mut self.world.names;
            self.world.questions.extend(*timeout_seconds, |question| {
                names.token(question.token.as_str()) == *token
            });
        }
    }
}

/// The request that asks this. Nothing where it is none.
fn op_of(input: Input) -> Option<Op<Aaep>> {
    Some(Op::Own(match input {
        Input::StartSession { session_id } => Own::StartSession {
            session_id: session_id.map(|it| it.to_string()),
        },
        Input::Subscribe {
            subscription_id,
            capabilities,
        } => Own::Subscribe {
            subscription_id: subscription_id.to_string(),
            capabilities: driver::Capabilities {
                supports_confirmation_reply: capabilities.supports_confirmation_reply,
            },
        },
        Input::Unsubscribe { subscription_id } => Own::Unsubscribe {
            subscription_id: subscription_id.to_string(),
        },
        Input::Confirm(ask) => confirm(ask),
        Input::Clarify(clarify) => clarified(clarify),
        Input::Deliver { sender, message } => Own::Deliver(driver::Deliver {
            sender: driver::Sender {
                subscription_id: sender.subscription_id.map(|it| it.to_string()),
                authenticated: sender.authenticated,
            },
            message,
        }),
        Input::Cancel { reply_token } => Own::Cancel {
            reply_token: reply_token.to_string(),
        },
        Input::Extend {
            reply_token,
            timeout_seconds,
        } => Own::Extend {
            reply_token: reply_token.to_string(),
            timeout_seconds: seconds(timeout_seconds),
        },
        Input::Tool(run) => Own::Tool {
            session_id: run.session_id.to_string(),
            action: driver::ToolAction {
                id: run.action.to_string(),
                tool: run.tool.to_string(),
                args_summary: run.args_summary.map(|it| it.to_string()),
                risk_level: Some(risk(run.risk_level)),
                irreversible: Some(run.irreversible),
            },
            tool_call_id: run.tool_call_id.map(|it| it.to_string()),
        },
        Input::FinishTool {
            session_id,
            action,
            tool_call_id,
            status,
        } => Own::FinishTool {
            session_id: session_id.to_string(),
            action: action.to_string(),
            tool_call_id: tool_call_id.map(|it| it.to_string()),
            status: match status {
                executor::ToolStatus::Success => driver::ToolStatus::Success,
                executor::ToolStatus::Error => driver::ToolStatus::Error,
                executor::ToolStatus::Timeout => driver::ToolStatus::Timeout,
            },
        },
        Input::Output(chunk) => Own::Output {
            session_id: chunk.session_id.to_string(),
            output_id: chunk.output_id.to_string(),
            chunk: chunk.text.to_string(),
            complete: chunk.is_last,
        },
        Input::Handoff(handoff) => Own::Handoff {
            session_id: handoff.session_id.to_string(),
            reason: handoff.reason.to_string(),
            target_kind: match handoff.target_kind {
                executor::TargetKind::Human => driver::TargetKind::Human,
                executor::TargetKind::SpecialistAgent => driver::TargetKind::SpecialistAgent,
                executor::TargetKind::EscalationQueue => driver::TargetKind::EscalationQueue,
            },
            target_uri: handoff.target_uri.map(|it| it.to_string()),
        },
        Input::EndSession {
            session_id,
            outcome,
        } => Own::EndSession {
            session_id: session_id.to_string(),
            outcome: match outcome {
                executor::SessionOutcome::Completed => driver::SessionOutcome::Completed,
                executor::SessionOutcome::Errored => driver::SessionOutcome::Errored,
                executor::SessionOutcome::Cancelled => driver::SessionOutcome::Cancelled,
            },
        },
        Input::Tick => return Some(Op::Common(Common::Tick {})),
        Input::Restart { .. } => return None,
    }))
}

fn confirm(ask: executor::Ask) -> Own {
    Own::Confirm {
        session_id: ask.session_id.to_string(),
        action: driver::Action {
            id: ask.action.id.to_string(),
            tool: ask.action.tool.to_string(),
            description: ask.action.description.to_string(),
            consequence: ask.action.consequence.to_string(),
            risk_level: risk(ask.action.risk_level),
            irreversible: ask.action.irreversible,
        },
        timeout_seconds: seconds(ask.timeout_seconds),
        default_decision: match ask.default_decision {
            executor::Decision::Accept => driver::Decision::Accept,
            executor::Decision::Reject => driver::Decision::Reject,
        },
        allowed_replies: ask.allowed_replies,
    }
}

fn clarified(clarify: executor::Clarify) -> Own {
    let kind = |kind| match kind {
        executor::ResponseKind::Freetext => driver::ResponseKind::Freetext,
        executor::ResponseKind::YesNo => driver::ResponseKind::YesNo,
        executor::ResponseKind::MultipleChoice => driver::ResponseKind::MultipleChoice,
        executor::ResponseKind::Numeric => driver::ResponseKind::Numeric,
    };
    let choice = |choice: executor::Choice| driver::Choice {
        value: choice.value,
        label: choice.label,
    };
    let kinds = clarify.accepted_response_kinds;
    let choices = clarify.choices;
    Own::Clarify {
        session_id: clarify.session_id.to_string(),
        question: clarify.question.to_string(),
        accepted_response_kinds: kinds.map(|it| it.into_iter().map(kind).collect()),
        choices: choices.map(|it| it.into_iter().map(choice).collect()),
        timeout_seconds: seconds(clarify.timeout_seconds),
        default_response: clarify.default_response.map(|it| it.to_string()),
    }
}

fn seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

const fn risk(level: executor::RiskLevel) -> driver::RiskLevel {
    match level {
        executor::RiskLevel::Low => driver::RiskLevel::Low,
        executor::RiskLevel::Medium => driver::RiskLevel::Medium,
        executor::RiskLevel::High => driver::RiskLevel::High,
    }
}
