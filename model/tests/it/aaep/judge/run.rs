//! A run written by hand: what is asked and what comes out, with the ids, numbers and times of events filled in when it is
//! judged, so that a test changes one thing and all else stays right.

use countersign_model::aaep::judge::{
    AaepJudge, AnsweredBy, Body, Call, Clarification, Clarify, Confirm, Decision, Declared,
    Delivery, Event, Invocation, Modified, Outcome, Output, Question, QuestionKind, Rating, Reply,
    Response, ResponseKind, Risk, State, ToolCall, ToolStatus,
};
use countersign_model::aaep::readings::Reading;
use countersign_model::judge::{Finding, Judge};
use std::collections::BTreeMap;

/// When every run begins.
pub const START: i64 = 1_800_000_000_000;
/// How long the questions of these runs wait, in milliseconds.
pub const TIMEOUT: i64 = 60_000;
/// What happens when nobody says otherwise.
pub const S: u32 = 1;
pub const SUB: u32 = 1;

/// A run.
#[derive(Clone, Default)]
pub struct Run {
    pub steps: Vec<Step>,
    /// What the producer declares.
    pub declared: Declared,
}

/// A call and what comes out.
#[derive(Clone)]
pub struct Step {
    /// Milliseconds since the start.
    pub at: i64,
    pub call: Call,
    pub out: Vec<Out>,
}

/// What comes out.
#[derive(Clone)]
pub enum Out {
    /// An event, with what is filled in where it is not said.
    Event(Emitted),
    /// The event of an earlier step, as it was.
    Again(usize, usize),
    /// The question of an earlier step, with a new id and time.
    AskedAgain(usize, usize),
    /// The event of an earlier step, with the time of this one.
    AgainNow(usize, usize),
    /// Anything else.
    Other(Output),
}

/// An event.
#[derive(Clone)]
pub struct Emitted {
    pub session: u32,
    pub body: Body,
    pub id: Option<u32>,
    pub at: Option<i64>,
    pub number: Number,
    pub critical: bool,
    pub to: Option<Vec<u32>>,
}

/// The number of an event in its session.
#[derive(Clone, Copy)]
pub enum Number {
    /// The one that is due.
    Next,
    This(i64),
    None,
}

impl Run {
    /// Adds a step.
    pub fn then(&mut self, at: i64, call: Call, out: impl Into<Vec<Out>>) -> &mut Self {
        let out = out.into();
        self.steps.push(Step { at, call, out });
        self
    }

    /// Leaves out something that came out.
    pub fn without(&mut self, step: usize, place: usize) {
        self.steps[step].out.remove(place);
    }

    /// The events of a step that can be changed.
    pub fn event(&mut self, step: usize, place: usize) -> &mut Emitted {
        match &mut self.steps[step].out[place] {
            Out::Event(event) => event,
            Out::Again(..) | Out::AskedAgain(..) | Out::AgainNow(..) | Out::Other(_) => {
                panic!("no event")
            }
        }
    }

    /// What the judge finds.
    pub fn findings(&self, reading: Reading) -> Vec<Finding> {
        self.findings_of(AaepJudge::new(reading).declaring(self.declared))
    }

    /// The clauses of what the judge finds.
    pub fn clauses(&self) -> Vec<&'static str> {
        let found = self.findings(Reading::SPECIFICATION);
        found.iter().map(|finding| finding.clause).collect()
    }

    /// What this judge finds.
    pub fn findings_of(&self, mut judge: AaepJudge) -> Vec<Finding> {
        let mut events: BTreeMap<(usize, usize), Event> = BTreeMap::new();
        let mut numbers: BTreeMap<u32, i64> = BTreeMap::new();
        let mut ids = 1_000;
        let mut found = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let now = START + step.at;
            let mut outputs = Vec::new();
            for (place, out) in step.out.iter().enumerate() {
                ids += 1;
                let event = match out {
                    Out::Event(emitted) => {
                        let number = numbers.entry(emitted.session).or_insert(0);
                        let sequence = match emitted.number {
                            Number::Next => Some(*number),
                            Number::This(number) => Some(number),
                            Number::None => None,
                        };
                        *number += 1;
                        Event {
                            id: emitted.id.unwrap_or(ids),
                            session: emitted.session,
                            at: emitted.at.unwrap_or(now),
                            sequence,
                            critical: emitted.critical,
                            to: emitted.to.clone(),
                            body: emitted.body.clone(),
                        }
                    }
                    Out::Again(step, place) => events[&(*step, *place)].clone(),
                    Out::AskedAgain(step, place) => Event {
                        id: ids,
                        at: now,
                        ..events[&(*step, *place)].clone()
                    },
                    Out::AgainNow(step, place) => Event {
                        at: now,
                        ..events[&(*step, *place)].clone()
                    },
                    Out::Other(output) => {
                        outputs.push(output.clone());
                        continue;
                    }
                };
                events.insert((index, place), event.clone());
                outputs.push(Output::Emit(event));
            }
            found.extend(judge.see(now, &step.call, &outputs));
        }
        found
    }

    /// Nothing is found.
    #[track_caller]
    pub fn conforms(&self) {
        self.conforms_by(Reading::SPECIFICATION);
    }

    #[track_caller]
    pub fn conforms_by(&self, reading: Reading) {
        let found: Vec<String> = self
            .findings(reading)
            .iter()
            .map(Finding::to_string)
            .collect();
        assert!(found.is_empty(), "{found:#?}");
    }

    /// The run conforms; changed, it breaks this clause and nothing else.
    #[track_caller]
    pub fn breaks(&self, clause: &str, change: impl FnOnce(&mut Self)) -> Finding {
        self.conforms();
        self.breaks_by(Reading::SPECIFICATION, clause, change)
    }

    #[track_caller]
    pub fn breaks_by(
        &self,
        reading: Reading,
        clause: &str,
        change: impl FnOnce(&mut Self),
    ) -> Finding {
        let mut changed = self.clone();
        change(&mut changed);
        let mut found = changed.findings(reading);
        let clauses: Vec<String> = found.iter().map(Finding::to_string).collect();
        assert!(
            found.len() == 1 && found[0].clause == clause,
            "{clause}: {clauses:#?}"
        );
        found.remove(0)
    }
}

// What is asked.

pub fn start(session: u32) -> Call {
    let session = Some(session);
    Call::StartSession { session }
}

pub fn subscribe(subscription: u32, can_reply: bool) -> Call {
    Call::Subscribe {
        subscription,
        can_reply,
    }
}

pub fn unsubscribe(subscription: u32) -> Call {
    Call::Unsubscribe { subscription }
}

/// Action `n` runs tool `n`, is irreversible and of high risk, and defaults to reject.
pub fn action(n: u32) -> Confirm {
    Confirm {
        session: S,
        action: n,
        tool: n,
        description: n,
        consequence: 0,
        risk: Risk::High,
        irreversible: true,
        timeout_seconds: TIMEOUT / 1000,
        default: Decision::Reject,
        allowed: None,
        out_of_limits: None,
    }
}

/// Action `n` is harmless and defaults to accept.
pub fn harmless(n: u32) -> Confirm {
    Confirm {
        risk: Risk::Low,
        irreversible: false,
        default: Decision::Accept,
        ..action(n)
    }
}

/// A right reply to token `n`, decided at `claimed` after the start.
pub fn reply(n: u32, decision: Decision, claimed: i64) -> Delivery {
    Delivery {
        sender: Some(SUB),
        authenticated: true,
        kind: QuestionKind::Confirmation,
        flaw: None,
        reply: Reply {
            token: Some(n),
            decision: Some(decision),
            response: None,
            claimed_at: Some(START + claimed),
            subscription: Some(SUB),
            modified_action: None,
        },
    }
}

/// What is said to be run instead, object `n`, which rates as what was asked.
pub fn modified(n: u32) -> Modified {
    Modified {
        object: n,
        rating: Some(Rating::default()),
    }
}

/// Clarification `n` takes any text, and waits like everything else.
pub fn question(n: u32) -> Clarify {
    Clarify {
        session: S,
        question: n,
        kinds: Some(vec![ResponseKind::Freetext]),
        choices: None,
        timeout_seconds: TIMEOUT / 1000,
        default: None,
        out_of_limits: None,
    }
}

/// A right response to the clarification of token `n`, said at `claimed` after the start.
pub fn says(n: u32, response: Response, claimed: i64) -> Delivery {
    let reply = Reply {
        decision: None,
        response: Some(response),
        ..reply(n, Decision::Accept, claimed).reply
    };
    Delivery {
        kind: QuestionKind::Clarification,
        reply,
        ..self::reply(n, Decision::Accept, claimed)
    }
}

pub fn extend(token: u32, timeout_seconds: i64) -> Call {
    Call::Extend {
        token,
        timeout_seconds,
    }
}

pub fn finish(n: u32) -> Call {
    Call::FinishTool {
        session: S,
        action: n,
        tool_call: None,
        status: ToolStatus::Success,
    }
}

pub fn end(outcome: Outcome) -> Call {
    Call::EndSession {
        session: S,
        outcome,
    }
}

// What comes out.

pub fn event(session: u32, body: Body) -> Out {
    let critical = matches!(
        body,
        Body::Question(_)
            | Body::Clarification(_)
            | Body::Handoff(_)
            | Body::Ended(Outcome::Errored)
    );
    Out::Event(Emitted {
        session,
        body,
        id: None,
        at: None,
        number: Number::Next,
        critical,
        to: None,
    })
}

pub fn started() -> Out {
    event(S, Body::Started)
}

pub fn goes(from: State, to: State) -> Out {
    event(S, Body::StateChanged { from, to })
}

/// The question about `confirm`, with the token that is the number of its action.
pub fn asks(confirm: &Confirm) -> Out {
    asks_with(confirm.action, confirm)
}

pub fn asks_with(token: u32, confirm: &Confirm) -> Out {
    let question = Question {
        token,
        description: confirm.description,
        consequence: confirm.consequence,
        timeout_seconds: confirm.timeout_seconds,
        default: confirm.default,
        risk: Some(confirm.risk),
        irreversible: Some(confirm.irreversible),
        allowed: confirm.allowed,
    };
    event(confirm.session, Body::Question(question))
}

/// The clarification, with the token that is the number of its question.
pub fn clarifies(clarify: &Clarify) -> Out {
    clarifies_with(clarify.question, clarify)
}

pub fn clarifies_with(token: u32, clarify: &Clarify) -> Out {
    let asked = Clarification {
        token,
        question: clarify.question,
        kinds: clarify.kinds.clone(),
        choices: clarify.choices.clone(),
        timeout_seconds: clarify.timeout_seconds,
        default: clarify.default,
    };
    event(clarify.session, Body::Clarification(asked))
}

/// What comes out when `confirm` is asked about and the session is in this state.
pub fn ask_out(from: State, confirm: &Confirm) -> [Out; 2] {
    [goes(from, State::AwaitingInput), asks(confirm)]
}

/// The answer to the clarification of token `n`.
pub fn answer(n: u32, response: Option<Response>, by: AnsweredBy) -> Out {
    answer_in(S, n, response, by)
}

pub fn answer_in(session: u32, n: u32, response: Option<Response>, by: AnsweredBy) -> Out {
    Out::Other(Output::Answer {
        session,
        token: n,
        response,
        by,
    })
}

pub fn progress(left: i64) -> Out {
    event(S, Body::Progress { left: Some(left) })
}

/// Tool `n` is told to run, in call `n`.
pub fn invoked(n: u32) -> Out {
    invoked_as(n, n)
}

pub fn invoked_as(tool: u32, tool_call: u32) -> Out {
    let invoked = Invocation {
        tool,
        tool_call: Some(tool_call),
        args_summary: None,
        risk: Risk::High,
        irreversible: true,
    };
    event(S, Body::ToolInvoked(invoked))
}

pub fn completed(n: u32, status: ToolStatus) -> Out {
    completed_as(n, n, status)
}

pub fn completed_as(tool: u32, tool_call: u32, status: ToolStatus) -> Out {
    event(
        S,
        Body::ToolCompleted {
            tool,
            tool_call: Some(tool_call),
            status,
        },
    )
}

pub fn ended(outcome: Outcome) -> Out {
    event(S, Body::Ended(outcome))
}

fn call_of(n: u32) -> ToolCall {
    ToolCall {
        session: S,
        action: n,
        tool_call: n,
        modified: None,
    }
}

pub fn perform(n: u32) -> Out {
    Out::Other(Output::Perform(call_of(n)))
}

/// Action `n` runs in this call.
pub fn perform_as(n: u32, tool_call: u32) -> Out {
    Out::Other(Output::Perform(ToolCall {
        tool_call,
        ..call_of(n)
    }))
}

pub fn in_doubt(n: u32) -> Out {
    Out::Other(Output::InDoubt(call_of(n)))
}

pub fn respond(what: u32) -> Out {
    Out::Other(Output::Respond(what))
}

pub fn refused() -> Out {
    Out::Other(Output::Refused)
}

pub fn notify(subscription: u32, token: u32) -> Out {
    let token = Some(token);
    Out::Other(Output::Notify {
        subscription,
        token,
    })
}
