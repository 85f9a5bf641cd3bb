//! What holds after any sequence of inputs whatever.

use std::collections::{BTreeMap, BTreeSet};

use countersign_reference::aaep::{
    AgentState, Asked, Choice, Chunk, ClarificationPhase, Clarify, Decision, Event, Handoff, Input,
    Output, Payload, Phase, Producer, ReplyToken, ResponseKind, RiskLevel, Run, Sender, SessionId,
    SessionOutcome, Settings, Tool, ToolCall, ToolCallId, ToolStatus,
};
use countersign_reference::time::Timestamp;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{FileFailurePersistence, TestRunner};
use serde_json::{Value, json};

use crate::aaep::stage::{
    Stage, action_id, answer, ask, chunk, clarify, deliver, extend, handoff, reply, run_as,
    session, start, subscribe, subscription, tell, unsubscribe,
};

/// One input, with the time that goes by before it. Names are drawn from few, so that they often meet.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// How much the host's clock moves, in milliseconds. It may run backwards.
    elapsed: i64,
    happening: Happening,
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Start(bool),
    Subscribe {
        number: u8,
        capable: bool,
    },
    Unsubscribe(u8),
    Ask {
        session: bool,
        action: u8,
        timeout: u64,
        risk: u8,
        irreversible: bool,
        default: Decision,
        allowed: u8,
    },
    Clarify {
        session: bool,
        question: u8,
        timeout: u64,
        kinds: u8,
        default: bool,
    },
    Answer {
        question: u8,
        response: u8,
        from: u8,
        skew: i64,
        fault: u8,
    },
    Extend {
        question: u8,
        seconds: u64,
    },
    Reply {
        confirmation: u8,
        decision: Decision,
        from: u8,
        named: u8,
        skew: i64,
        fault: u8,
    },
    Cancel(u8),
    Finish {
        session: bool,
        action: u8,
    },
    Work(Work),
    End(bool, SessionOutcome),
    Tick,
    /// So many of the last outputs were not carried out.
    Restart(usize),
}

/// What is done beside the questions.
#[derive(Clone, Copy, Debug)]
enum Work {
    Run {
        session: bool,
        action: u8,
        irreversible: bool,
        tool_call: u8,
    },
    PutOut {
        session: bool,
        output: u8,
        length: u8,
        is_last: bool,
    },
    HandOff(bool),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let elapsed = prop_oneof![
        12 => Just(0_i64),
        7 => 0..3_000_i64,
        2 => -2_000..0_i64,
        2 => 0..70_000_i64,
    ];
    // Now and then one that is counted down.
    let timeout = || prop_oneof![4 => 0..4_u64, 1 => 59..140_u64];
    let decision = || prop_oneof![Just(Decision::Accept), Just(Decision::Reject)];
    let outcome = prop_oneof![
        Just(SessionOutcome::Completed),
        Just(SessionOutcome::Errored),
        Just(SessionOutcome::Cancelled),
    ];
    let happening = prop_oneof![
        2 => any::<bool>().prop_map(Happening::Start),
        3 => (0..3_u8, any::<bool>()).prop_map(|(number, capable)| Happening::Subscribe { number, capable }),
        1 => (0..3_u8).prop_map(Happening::Unsubscribe),
        8 => (any::<bool>(), 0..3_u8, timeout(), 0..3_u8, any::<bool>(), decision(), 0..8_u8).prop_map(
            |(session, action, timeout, risk, irreversible, default, allowed)| Happening::Ask {
                session, action, timeout, risk, irreversible, default, allowed,
            }
        ),
        8 => (0..16_u8, decision(), 0..3_u8, 0..3_u8, -3_000..3_000_i64, 0..12_u8).prop_map(
            |(confirmation, decision, from, named, skew, fault)| Happening::Reply {
                confirmation, decision, from, named, skew, fault,
            }
        ),
        2 => (0..16_u8).prop_map(Happening::Cancel),
        4 => (any::<bool>(), 0..5_u8).prop_map(|(session, action)| Happening::Finish { session, action }),
        1 => (any::<bool>(), outcome).prop_map(|(session, outcome)| Happening::End(session, outcome)),
        9 => work().prop_map(Happening::Work),
        2 => Just(Happening::Tick),
        1 => (0..6_usize).prop_map(Happening::Restart),
        4 => (any::<bool>(), 0..3_u8, timeout(), 0..9_u8, any::<bool>()).prop_map(
            |(session, question, timeout, kinds, default)| Happening::Clarify {
                session, question, timeout, kinds, default,
            }
        ),
        5 => (0..16_u8, 0..4_u8, 0..3_u8, -3_000..3_000_i64, 0..12_u8).prop_map(
            |(question, response, from, skew, fault)| Happening::Answer {
                question, response, from, skew, fault,
            }
        ),
        2 => (0..16_u8, timeout()).prop_map(|(question, seconds)| Happening::Extend { question, seconds }),
    ];
    let step = (elapsed, happening).prop_map(|(elapsed, happening)| Move { elapsed, happening });
    prop::collection::vec(step, 0..120)
}

fn work() -> impl Strategy<Value = Work> {
    prop_oneof![
        4 => (any::<bool>(), 0..5_u8, 0..9_u8, 0..9_u8).prop_map(
            |(session, action, irreversible, tool_call)| Work::Run {
                session, action, irreversible: irreversible == 0, tool_call,
            }
        ),
        4 => (any::<bool>(), 0..6_u8, 0..4_u8, 0..3_u8).prop_map(
            |(session, output, length, is_last)| Work::PutOut {
                session, output, length, is_last: is_last == 0,
            }
        ),
        1 => any::<bool>().prop_map(Work::HandOff),
    ]
}

fn session_named(second: bool) -> SessionId {
    session(if second { "sess_b" } else { "sess_a" })
}

/// What every question has, confirmations first.
fn all_asked(producer: &Producer) -> impl Iterator<Item = &Asked> {
    let confirmations = producer.confirmations().iter();
    let clarifications = producer.clarifications().iter();
    confirmations
        .map(|it| &it.question.asked)
        .chain(clarifications.map(|it| &it.question.asked))
}

fn token(producer: &Producer, index: u8) -> ReplyToken {
    let all: Vec<&Asked> = all_asked(producer).collect();
    match all.as_slice() {
        [] => ReplyToken::parse("rpl_none").expect("a token"),
        all => all[usize::from(index) % all.len()].reply_token.clone(),
    }
}

/// A response out of four, decided at that time.
fn answered(token: &ReplyToken, response: u8, from: u8, decided_at: i64, fault: u8) -> Input {
    let responses = [json!("a"), json!("other"), json!(true), json!(1)];
    let mut message = answer(token, responses[usize::from(response)].clone(), decided_at);
    let from = format!("sub_{from}");
    message["subscription_id"] = json!(from);
    if fault == 0 {
        message["decision"] = json!("accept");
    }
    deliver(&from, &message)
}

/// A reply with at most one fault.
fn replied(mut message: Value, from: u8, named: u8, fault: u8) -> Input {
    // Most replies name the sender's own subscription, or the sequence would be a row of failures.
    let named = if fault < 9 { from } else { named };
    message["subscription_id"] = json!(subscription(&format!("sub_{named}")));
    match fault {
        0 => message["session_id"] = json!("sess_a"),
        1 => message["modified_action"] = json!({"risk_level": "low"}),
        2 => message["reply_token"] = json!("rpl_guessed"),
        _none => {}
    }
    let sender = Sender {
        subscription_id: Some(subscription(&format!("sub_{from}"))),
        authenticated: fault != 3,
    };
    Input::Deliver {
        sender,
        message: message.to_string().into_bytes(),
    }
}

/// A tool that needs no question. Some of the ids are what the producer would take, too.
fn unasked(session: bool, action: u8, tool_call: u8) -> Run {
    let action = format!("a{action}");
    let run = match tool_call {
        0..3 => run_as(&action, &format!("call_{tool_call}")),
        3 => run_as(&action, "run_1"),
        _none => crate::aaep::stage::run(&action),
    };
    Run {
        session_id: session_named(session),
        ..run
    }
}

fn input_of(work: Work) -> Input {
    match work {
        Work::Run {
            session,
            action,
            irreversible,
            tool_call,
        } => Input::Tool(Run {
            irreversible,
            ..unasked(session, action, tool_call)
        }),
        Work::PutOut {
            session,
            output,
            length,
            is_last,
        } => Input::Output(Chunk {
            session_id: session_named(session),
            is_last,
            ..chunk(&format!("o{output}"), &"é".repeat(usize::from(length)))
        }),
        Work::HandOff(second) => Input::Handoff(Handoff {
            session_id: session_named(second),
            ..handoff()
        }),
    }
}

/// A question in one of three wordings, which takes one of several sets of kinds.
fn clarification(session: bool, question: u8, timeout: u64, kinds: u8, default: bool) -> Clarify {
    use ResponseKind::{Freetext, MultipleChoice, Numeric, YesNo};
    let choice = |value: &str| Choice {
        value: value.to_owned(),
        label: value.to_uppercase(),
    };
    let accepted = match kinds {
        0 => Some(vec![]),
        1 => Some(vec![YesNo]),
        2 => Some(vec![Numeric, YesNo]),
        3 | 4 => Some(vec![MultipleChoice]),
        5 => Some(vec![MultipleChoice, Freetext]),
        6 => Some(vec![Freetext]),
        _any => None,
    };
    Clarify {
        session_id: session_named(session),
        accepted_response_kinds: accepted,
        choices: (kinds > 3).then(|| vec![choice("a"), choice("b")]),
        timeout_seconds: timeout,
        default_response: default.then(|| "b".into()),
        ..clarify(&format!("q{question}"))
    }
}

/// The input that a happening stands for, in the state that the producer is in.
fn input(happening: Happening, stage: &Stage, last: &[Output]) -> Input {
    match happening {
        Happening::Start(second) => start(session_named(second).as_str()),
        Happening::Subscribe { number, capable } => subscribe(&format!("sub_{number}"), capable),
        Happening::Unsubscribe(number) => unsubscribe(&format!("sub_{number}")),
        Happening::Ask {
            session,
            action,
            timeout,
            risk,
            irreversible,
            default,
            allowed,
        } => {
            let mut question = ask(&format!("a{action}"));
            question.session_id = session_named(session);
            question.timeout_seconds = timeout;
            question.action.irreversible = irreversible;
            question.action.risk_level =
                [RiskLevel::Low, RiskLevel::Medium, RiskLevel::High][usize::from(risk)];
            question.default_decision = default;
            question.allowed_replies = match allowed {
                0 => Some(vec!["accept".into()]),
                1 => Some(vec!["reject".into()]),
                2 => Some(vec![]),
                _usual => None,
            };
            Input::Confirm(question)
        }
        Happening::Clarify {
            session,
            question,
            timeout,
            kinds,
            default,
        } => Input::Clarify(clarification(session, question, timeout, kinds, default)),
        Happening::Answer {
            question,
            response,
            from,
            skew,
            fault,
        } => answered(
            &token(&stage.producer, question),
            response,
            from,
            stage.now + skew,
            fault,
        ),
        Happening::Extend { question, seconds } => {
            extend(&token(&stage.producer, question), seconds)
        }
        Happening::Reply {
            confirmation,
            decision,
            from,
            named,
            skew,
            fault,
        } => {
            let token = token(&stage.producer, confirmation);
            replied(
                reply(&token, decision, stage.now + skew),
                from,
                named,
                fault,
            )
        }
        Happening::Cancel(index) => Input::Cancel {
            reply_token: token(&stage.producer, index),
        },
        Happening::Finish { session, action } => Input::FinishTool {
            session_id: session_named(session),
            action: action_id(&format!("a{action}")),
            tool_call_id: None,
            status: ToolStatus::Success,
        },
        Happening::Work(work) => input_of(work),
        Happening::End(second, outcome) => Input::EndSession {
            session_id: session_named(second),
            outcome,
        },
        Happening::Tick => Input::Tick,
        Happening::Restart(lost) => Input::Restart {
            lost: last[last.len().saturating_sub(lost)..].to_vec(),
        },
    }
}

/// Everything that has come out so far, judged by itself: it does not look at the producer's state.
#[derive(Default)]
struct Witness {
    performed: BTreeSet<(SessionId, ToolCallId)>,
    answered: BTreeSet<ReplyToken>,
    /// Calls that must not run any more.
    barred: BTreeSet<(SessionId, ToolCallId)>,
    issued: BTreeSet<ReplyToken>,
    event_ids: BTreeSet<String>,
    sessions: BTreeMap<SessionId, SessionTrace>,
}

#[derive(Default)]
struct SessionTrace {
    events: u64,
    ended: bool,
    last: Option<Timestamp>,
    state: Option<AgentState>,
    invoked: BTreeSet<String>,
    completed: BTreeSet<String>,
    awaiting: BTreeSet<String>,
    /// How many characters each output has, while it is open.
    open: BTreeMap<String, u64>,
    complete: BTreeSet<String>,
}

fn name_of(call: &ToolCall) -> (SessionId, ToolCallId) {
    (call.session_id.clone(), call.tool_call_id.clone())
}

impl Witness {
    fn sees(&mut self, output: &Output) {
        match output {
            Output::Emit(event) => self.sees_event(event),
            Output::Perform(call) => {
                // AAEP-6.1-1: at most once, and never after it was rejected or taken back.
                assert!(self.performed.insert(name_of(call)), "performed twice");
                assert!(
                    !self.barred.contains(&name_of(call)),
                    "performed after the end"
                );
                let trace = &self.sessions[&call.session_id];
                assert!(
                    trace.invoked.contains(call.tool_call_id.as_str()),
                    "performed before it was announced"
                );
            }
            Output::Withdraw(call) => {
                assert!(
                    self.performed.contains(&name_of(call)),
                    "withdrawn but never released"
                );
                self.barred.insert(name_of(call));
            }
            Output::InDoubt(call) => {
                assert!(
                    self.performed.contains(&name_of(call)),
                    "in doubt but never released"
                );
                assert!(
                    !self.barred.contains(&name_of(call)),
                    "in doubt but withdrawn"
                );
            }
            Output::Notify(_) => panic!("notices are off"),
            Output::Answer(answer) => {
                // AAEP-6.1-8: at most once, and only what was asked.
                let token = &answer.reply_token;
                assert!(self.issued.contains(token), "answered without a question");
                assert!(self.answered.insert(token.clone()), "answered twice");
            }
            Output::Respond(response) => assert_eq!(response.status(), 204),
            Output::Audit(_) => {}
        }
    }

    fn sees_event(&mut self, event: &Event) {
        // AAEP-EV-7
        assert!(
            self.event_ids.insert(event.event_id.to_string()),
            "event id twice"
        );
        let trace = self.sessions.entry(event.session_id.clone()).or_default();
        // AAEP-EV-4, AAEP-EV-3, AAEP-A.1-2, AAEP-A.1-3
        assert_eq!(event.sequence_number, trace.events);
        assert!(trace.last <= Some(event.timestamp));
        assert!(!trace.ended, "event after the terminal one");
        trace.last = Some(event.timestamp);
        // AAEP-A.1-1
        assert_eq!(
            trace.events == 0,
            matches!(event.payload, Payload::SessionStarted { .. })
        );
        trace.events += 1;
        match &event.payload {
            Payload::SessionStarted { .. } => {}
            Payload::ProgressUpdated { eta_ms, .. } => {
                // AAEP-6.4.3-1: of a question that goes on waiting.
                assert!(*eta_ms > 0);
                assert_eq!(trace.state, Some(AgentState::AwaitingInput));
            }
            Payload::AwaitingClarification { reply_token, .. } => {
                // AAEP-6.2.2-3, AAEP-A.5-1
                assert!(self.issued.insert(reply_token.clone()), "token reused");
                assert_eq!(trace.state, Some(AgentState::AwaitingInput));
            }
            Payload::SessionCompleted { .. } => {
                // AAEP-A.3-1
                assert_eq!(trace.invoked, trace.completed, "completed with a tool open");
                trace.ends();
            }
            Payload::SessionErrored { .. } | Payload::SessionCancelled { .. } => trace.ends(),
            Payload::StateChanged {
                from_state,
                to_state,
                ..
            } => {
                // AAEP-EV-8
                assert_eq!(*from_state, trace.state.unwrap_or(AgentState::Idle));
                trace.state = Some(*to_state);
            }
            Payload::OutputStreaming {
                output_id,
                chunk,
                position,
                complete,
            } => trace.puts_out(output_id.as_str(), chunk, *position, *complete),
            Payload::HandoffRequested { .. } => {
                // AAEP-A.2-3, AAEP-A.3-3
                assert_eq!(trace.state, Some(AgentState::HandingOff));
                assert_eq!(
                    trace.invoked, trace.completed,
                    "handed off with a tool open"
                );
                assert!(trace.open.is_empty(), "handed off with an output open");
            }
            Payload::ToolInvoked {
                tool_call_id,
                irreversible,
                ..
            } => {
                // AAEP-EV-13, AAEP-A.7.4-1
                assert!(
                    trace.invoked.insert(tool_call_id.to_string()),
                    "invoked twice"
                );
                let is_confirmed = event.extension.is_some();
                assert!(is_confirmed || !irreversible, "irreversible and unasked");
                assert_eq!(
                    trace.awaiting.contains(tool_call_id.as_str()),
                    is_confirmed,
                    "invoked without a question"
                );
            }
            Payload::ToolCompleted { tool_call_id, .. } => {
                // AAEP-A.3-1, AAEP-A.3-2
                assert!(
                    trace.invoked.contains(tool_call_id.as_str()),
                    "completed without an invocation"
                );
                assert!(
                    trace.completed.insert(tool_call_id.to_string()),
                    "completed twice"
                );
            }
            Payload::AwaitingConfirmation {
                reply_token,
                extra_context,
                ..
            } => {
                // AAEP-6.2.2-3, AAEP-A.4-1
                assert!(self.issued.insert(reply_token.clone()), "token reused");
                assert_eq!(trace.state, Some(AgentState::AwaitingInput));
                trace
                    .awaiting
                    .insert(extra_context.tool_call_id.to_string());
            }
        }
    }
}

impl SessionTrace {
    /// AAEP-A.6-1, AAEP-A.6-2, AAEP-A.6-3: each chunk lies behind those before it, and one is the last.
    fn puts_out(&mut self, output: &str, chunk: &str, position: u64, complete: bool) {
        assert!(!self.complete.contains(output), "a chunk too many");
        let before = self.open.remove(output);
        assert_eq!(position, before.unwrap_or(0));
        if complete {
            self.complete.insert(output.to_owned());
        } else {
            let after = position + chunk.chars().count() as u64;
            assert!(after > position);
            self.open.insert(output.to_owned(), after);
        }
    }

    /// AAEP-A.6-1: no output is left open.
    fn ends(&mut self) {
        assert!(self.open.is_empty(), "ended with an output open");
        self.ended = true;
    }
}

/// What must hold of the producer's state after every call.
fn check_state(producer: &Producer, witness: &Witness) {
    // AAEP-6.4-1: nothing that is due is left.
    assert!(
        producer
            .next_deadline()
            .is_none_or(|deadline| deadline > producer.now().into())
    );
    for clarification in producer.clarifications() {
        let token = &clarification.question.asked.reply_token;
        let is_answered = witness.answered.contains(token);
        match clarification.phase {
            ClarificationPhase::Resolved { .. } => assert!(is_answered),
            ClarificationPhase::Pending => {
                assert!(!is_answered);
                let state = producer.sessions()[&clarification.question.asked.session_id].state;
                assert_eq!(state, AgentState::AwaitingInput);
            }
            ClarificationPhase::Cancelled { .. } => assert!(!is_answered),
        }
    }
    for confirmation in producer.confirmations() {
        let asked = &confirmation.question;
        let call = (asked.asked.session_id.clone(), asked.tool_call_id.clone());
        let performed = witness.performed.contains(&call);
        match confirmation.phase {
            Phase::Accepted {
                tool: Tool::InFlight | Tool::Finished | Tool::Withdrawn,
                ..
            } => assert!(performed),
            Phase::Pending | Phase::Rejected { .. } | Phase::Cancelled { .. } => {
                assert!(!performed);
            }
        }
        // AAEP-A.4-2, AAEP-A.2-2: the state is awaiting_input while something is pending.
        if confirmation.phase == Phase::Pending {
            let state = producer.sessions()[&confirmation.question.asked.session_id].state;
            assert_eq!(state, AgentState::AwaitingInput);
        }
    }
}

/// What is decided stays decided.
fn check_step(before: &Producer, after: &Producer) {
    for (old, new) in before.confirmations().iter().zip(after.confirmations()) {
        if old.phase == Phase::Pending {
            check_asked(&old.question.asked, &new.question.asked);
            assert_eq!(old.question.action, new.question.action);
        } else {
            assert_eq!(old.question, new.question);
        }
        match (old.phase, new.phase) {
            (Phase::Pending, _) => {}
            (
                Phase::Accepted {
                    by,
                    tool: Tool::InFlight,
                },
                Phase::Accepted { by: later, .. },
            ) => assert_eq!(by, later),
            (old, new) => assert_eq!(old, new),
        }
    }
    for (old, new) in before.clarifications().iter().zip(after.clarifications()) {
        match old.phase {
            ClarificationPhase::Pending => check_asked(&old.question.asked, &new.question.asked),
            ClarificationPhase::Resolved { .. } | ClarificationPhase::Cancelled { .. } => {
                assert_eq!(old, new);
            }
        }
    }
}

/// A question that is pending may get more time, never less.
fn check_asked(old: &Asked, new: &Asked) {
    assert_eq!(old.reply_token, new.reply_token);
    assert_eq!(old.session_id, new.session_id);
    assert!(old.deadline() <= new.deadline());
}

/// After a restart what was lost comes first: as it was, but for the id and the time of a question and for the times behind it.
/// Gives what comes then.
fn behind_what_was_lost<'a>(lost: &[Output], again: &'a [Output]) -> &'a [Output] {
    let comes_again = |it: &&Output| matches!(it, Output::Emit(_) | Output::Answer(_));
    let lost: Vec<&Output> = lost.iter().filter(comes_again).collect();
    let (again, then) = again.split_at(lost.len());
    for (lost, again) in lost.into_iter().zip(again) {
        match (lost, again) {
            (Output::Emit(lost), Output::Emit(again)) => {
                assert_eq!(lost.payload, again.payload);
                assert_eq!(lost.sequence_number, again.sequence_number);
                assert!(lost.timestamp <= again.timestamp);
            }
            (lost, again) => assert_eq!(lost, again),
        }
    }
    then
}

/// Makes the moves, checking everything after each. Gives what was seen on the way, in words.
fn run(moves: Vec<Move>) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut stage = Stage::empty(Settings {
        modified_action: true,
        ..Settings::default()
    });
    let mut witness = Witness::default();
    let mut last = Vec::new();
    for step in moves {
        stage.now += step.elapsed;
        let input = input(step.happening, &stage, &last);
        let now = Timestamp::from_millis(stage.now);

        // A copy that was written down and read back behaves alike.
        let stored = serde_json::to_string(&stage.producer).expect("serialises");
        let mut restored: Producer = serde_json::from_str(&stored).expect("deserialises");
        assert_eq!(restored, stage.producer);
        let copied = restored.handle(now, &mut stage.ids.clone(), input.clone());

        let before = stage.clone();
        let outcome = stage.producer.handle(now, &mut stage.ids, input.clone());
        assert_eq!(outcome, copied);
        assert_eq!(restored, stage.producer);

        let new = if let Input::Restart { lost } = &input {
            behind_what_was_lost(lost, &outcome.outputs)
        } else {
            &outcome.outputs
        };
        for output in new {
            witness.sees(output);
            let told = tell(output);
            if told.starts_with("progress.updated") {
                seen.insert("a countdown".to_owned());
            }
            seen.insert(told);
        }
        seen.extend(
            outcome
                .refused
                .map(|refusal| format!("refused {}", refusal.clause())),
        );
        check_state(&stage.producer, &witness);
        check_step(&before.producer, &stage.producer);

        // AAEP-6.3.4-7: a refused call and an ignored message do no more than let time pass.
        let ignored = outcome
            .outputs
            .iter()
            .any(|output| matches!(output, Output::Audit(_)));
        if outcome.refused.is_some() || ignored {
            let mut ticked = before;
            let ticked_outputs = ticked
                .producer
                .handle(now, &mut ticked.ids, Input::Tick)
                .outputs;
            assert_eq!(ticked.producer, stage.producer);
            assert!(outcome.outputs.starts_with(&ticked_outputs));
        }
        last = outcome.outputs;
    }
    for confirmation in stage.producer.confirmations() {
        match confirmation.phase {
            Phase::Accepted { by, .. } | Phase::Rejected { by } => {
                seen.insert(format!("resolved by {by:?}"));
            }
            Phase::Pending | Phase::Cancelled { .. } => {}
        }
    }
    for clarification in stage.producer.clarifications() {
        match clarification.phase {
            ClarificationPhase::Resolved { by } => {
                seen.insert(format!("answered by {by:?}"));
            }
            ClarificationPhase::Pending | ClarificationPhase::Cancelled { .. } => {}
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/aaep_invariants.txt",
        ))),
        ..ProptestConfig::with_cases(512)
    })]

    /// AAEP-6.1-1, AAEP-6.3.5-1, AAEP-6.4-1, AAEP-A.4-3, AAEP-A.4-4, AAEP-EV-4, AAEP-EV-8: in any run whatever.
    #[test]
    fn every_run_keeps_the_contract(moves in moves()) {
        run(moves);
    }
}

/// The random runs are worth something: they reach every kind of output, every check and every refusal that the
/// names drawn can lead to.
#[test]
fn random_runs_reach_everything() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..400 {
        let moves = moves().new_tree(&mut runner).expect("a sequence").current();
        seen.extend(run(moves));
    }
    let missing: Vec<_> = [
        "session.started",
        "session.completed",
        "session.errored",
        "session.cancelled",
        "state.changed Idle>AwaitingInput",
        "state.changed CallingTool>AwaitingInput",
        "state.changed CallingTool>Thinking",
        "state.changed AwaitingInput>CallingTool (a0 Accepted)",
        "state.changed AwaitingInput>Thinking (a0 Rejected)",
        "state.changed AwaitingInput>Thinking (a0 Cancelled)",
        "state.changed Thinking>AwaitingInput",
        "state.changed Thinking>CallingTool",
        "awaiting.confirmation",
        "tool.invoked (a0 Accepted)",
        "tool.completed Success",
        "tool.completed Error",
        "awaiting.clarification",
        "state.changed AwaitingInput>Thinking (Answered)",
        "state.changed AwaitingInput>Thinking (Unanswered)",
        "state.changed AwaitingInput>Thinking (Cancelled)",
        "answer \"a\" by reply",
        "answer \"other\" by reply",
        "answer true by reply",
        "answer 1 by reply",
        "answer \"b\" by default",
        "answer by nobody",
        "a countdown",
        "perform sess_b a0",
        "withdraw sess_b a0",
        "in doubt sess_b a0",
        "tool.invoked",
        "perform sess_b a3",
        "withdraw sess_b a3",
        "in doubt sess_b a3",
        "state.changed Idle>CallingTool",
        "state.changed WritingOutput>Thinking",
        "state.changed WritingOutput>CallingTool",
        "output.streaming o0 \"éé\" at 0",
        "output.streaming o0 \"\" at 2 complete",
        "state.changed Idle>HandingOff",
        "handoff.requested",
        "refused AAEP-A.2-2",
        "refused AAEP-A.2-3",
        "refused AAEP-A.3-1",
        "refused AAEP-A.3-3",
        "refused AAEP-A.4-4",
        "refused AAEP-A.6-1",
        "refused AAEP-A.6-2",
        "refused AAEP-A.6-3",
        "refused AAEP-A.7.4-1",
        "refused AAEP-6.1-1",
        "respond 204",
        "audit AAEP-6.3.4-1",
        "audit AAEP-6.3.4-2",
        "audit AAEP-6.3.4-3",
        "audit AAEP-6.3.4-4",
        "audit AAEP-6.3.4-5",
        "audit AAEP-6.3.4-6",
        "audit AAEP-6.5.5-2",
        "audit AAEP-6.5.5-3",
        "audit AAEP-6.8-4",
        "refused AAEP-A.1-1",
        "refused AAEP-A.1-2",
        "refused AAEP-A.1-3",
        "refused AAEP-A.3-2",
        "refused AAEP-EV-2",
        "refused AAEP-EV-5",
        "refused AAEP-REPLY-14",
        "refused AAEP-6.4.1-1",
        "refused AAEP-6.4.1-2",
        "refused AAEP-6.1-6",
        "refused AAEP-6.1-9",
        "refused AAEP-6.4.2-3",
        "refused AAEP-6.8-1",
        "resolved by Reply",
        "resolved by Timeout",
        "resolved by SubscriptionClosed",
        "answered by Reply",
        "answered by Timeout",
        "answered by SubscriptionClosed",
    ]
    .into_iter()
    .filter(|expected| !seen.contains(*expected))
    .collect();
    assert_eq!(missing, [""; 0]);
}
