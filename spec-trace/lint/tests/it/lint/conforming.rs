//! Streams of producers that do nothing wrong, in as many shapes as the protocol allows: several sessions interleaved,
//! questions accepted, rejected, withdrawn and timed out, one or two at a time, tied by id or by order, with replies of
//! strangers, duplicates and latecomers in between, wrapped and bare; clarifications, streamed output, timeouts that an
//! extension moves, and a second agent at work in the same session.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Accepted,
    Rejected,
    AcceptedByTimeout,
    RejectedByTimeout,
    Withdrawn,
}

/// A reply that must have no effect.
#[derive(Debug, Clone, Copy)]
enum Noise {
    UnknownToken,
    Malformed,
    DecidedTooLate,
    UnknownDecision,
}

#[derive(Debug, Clone)]
struct Asking {
    outcome: Outcome,
    by_id: bool,
    irreversible: bool,
    noise: Vec<Noise>,
    reply: ReplyRecord,
}

/// How a reply with effect stands in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyRecord {
    /// Before what it led to.
    InOrder,
    /// The same, and another subscriber's opposite reply right behind it.
    Contradicted,
    /// Behind what it led to, if it is an acceptance in a wrapped record: the recorder wrote it down when it was answered.
    LoggedLate,
}

#[derive(Debug, Clone)]
enum Step {
    Calls {
        with_id: bool,
        count: usize,
        backwards: bool,
    },
    Question(Asking),
    TwoQuestions {
        accepted: [bool; 2],
        second_first: bool,
        by_id: bool,
    },
    Output(Vec<&'static str>),
    Clarification(Clarified),
    /// A question whose timeout an extension moves, and that is answered behind the first deadline.
    Extended,
    /// A second agent changes its own state and calls a tool.
    SecondAgent,
    /// Progress, and a handoff that comes to nothing.
    Progress,
}

/// What becomes of a clarification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clarified {
    Answered,
    /// First with a response of another type, which has no effect.
    AnsweredAtLast,
    TimedOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Completed,
    Errored,
    CancelledInMidTool,
    CancelledWithAnOpenQuestion,
}

#[derive(Debug, Clone)]
struct Plan {
    steps: Vec<Step>,
    ending: Ending,
    wrapped: bool,
    numbered: bool,
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Accepted),
        Just(Outcome::Rejected),
        Just(Outcome::AcceptedByTimeout),
        Just(Outcome::RejectedByTimeout),
        Just(Outcome::Withdrawn),
    ]
}

fn noises() -> impl Strategy<Value = Noise> {
    prop_oneof![
        Just(Noise::UnknownToken),
        Just(Noise::Malformed),
        Just(Noise::DecidedTooLate),
        Just(Noise::UnknownDecision),
    ]
}

fn askings() -> impl Strategy<Value = Asking> {
    let noise = prop::collection::vec(noises(), 0..3);
    let records = prop_oneof![
        Just(ReplyRecord::InOrder),
        Just(ReplyRecord::Contradicted),
        Just(ReplyRecord::LoggedLate)
    ];
    (outcomes(), any::<bool>(), any::<bool>(), noise, records).prop_map(
        |(outcome, by_id, irreversible, noise, reply)| Asking {
            outcome,
            by_id,
            irreversible,
            noise,
            reply,
        },
    )
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (any::<bool>(), 1..4_usize, any::<bool>()).prop_map(|(with_id, count, backwards)| Step::Calls {
            with_id,
            count,
            backwards
        }),
        4 => askings().prop_map(Step::Question),
        1 => (any::<[bool; 2]>(), any::<bool>(), any::<bool>()).prop_map(|(accepted, second_first, by_id)| {
            Step::TwoQuestions { accepted, second_first, by_id }
        }),
        1 => prop::collection::vec(select(vec!["", "a", "All done. ", "été 🦀", "x\u{301}"]), 0..4).prop_map(Step::Output),
        1 => select(vec![Clarified::Answered, Clarified::AnsweredAtLast, Clarified::TimedOut])
            .prop_map(Step::Clarification),
        1 => Just(Step::Extended),
        1 => Just(Step::SecondAgent),
        1 => Just(Step::Progress),
    ]
}

fn plans() -> impl Strategy<Value = Plan> {
    let endings = prop_oneof![
        4 => Just(Ending::Completed),
        1 => Just(Ending::Errored),
        1 => Just(Ending::CancelledInMidTool),
        1 => Just(Ending::CancelledWithAnOpenQuestion),
    ];
    let steps = prop::collection::vec(steps(), 0..6);
    (steps, endings, any::<bool>(), any::<bool>()).prop_map(|(steps, ending, wrapped, numbered)| {
        Plan {
            steps,
            ending,
            wrapped,
            numbered,
        }
    })
}

/// Lines of conforming streams.
pub fn streams() -> impl Strategy<Value = Vec<String>> {
    let plans = prop::collection::vec(plans(), 1..4);
    (
        plans,
        prop::collection::vec(any::<prop::sample::Index>(), 200),
    )
        .prop_map(|(plans, picks)| {
            let mut sessions: Vec<_> = plans
                .iter()
                .enumerate()
                .map(|(number, plan)| Session::new(number, plan).play(plan).into_iter())
                .collect();
            let mut stream = Vec::new();
            let mut picks = picks.iter().cycle();
            while !sessions.is_empty() {
                let pick = picks
                    .next()
                    .expect("a cycle never ends")
                    .index(sessions.len());
                match sessions[pick].next() {
                    Some(line) => stream.push(line),
                    None => drop(sessions.remove(pick)),
                }
            }
            stream
        })
}

/// A call that the session which `line` belongs to may not make yet.
pub fn irreversible_call_of_the_session_in(line: &str) -> String {
    let record: Value = serde_json::from_str(line).expect("the generator makes JSON");
    let mut event = record.get("message").unwrap_or(&record).clone();
    event["type"] = json!("aaep:agent.tool.invoked");
    event["tool"] = json!("launch");
    event["irreversible"] = json!(true);
    event.to_string()
}

/// Seconds within which every question of these streams is to be answered.
const TIMEOUT: u64 = 60;

/// Milliseconds from one message of a session to the next.
const STEP: u64 = 100;

struct Session {
    number: usize,
    wrapped: bool,
    /// Milliseconds since the session started.
    now: u64,
    /// Of events, questions and calls alike.
    count: usize,
    /// The number of the next event, where events have numbers.
    sequence: Option<u64>,
    /// Whether the second agent has joined.
    joined: bool,
    lines: Vec<String>,
}

impl Session {
    fn new(number: usize, plan: &Plan) -> Self {
        Self {
            number,
            wrapped: plan.wrapped,
            now: 0,
            count: 0,
            sequence: plan.numbered.then_some(0),
            joined: false,
            lines: Vec::new(),
        }
    }

    fn play(mut self, plan: &Plan) -> Vec<String> {
        self.event("session.started", json!({"summary_normal": "Hello."}));
        self.state("idle", "thinking");
        for step in &plan.steps {
            match step {
                Step::Calls {
                    with_id,
                    count,
                    backwards,
                } => self.calls(*with_id, *count, *backwards),
                Step::Question(asking) => self.question(asking),
                Step::TwoQuestions {
                    accepted,
                    second_first,
                    by_id,
                } => {
                    self.two_questions(*accepted, *second_first, *by_id);
                }
                Step::Output(chunks) => self.output(chunks),
                Step::Clarification(clarified) => self.clarification(*clarified),
                Step::Extended => self.extended(),
                Step::SecondAgent => self.second_agent(),
                Step::Progress => {
                    self.event("progress.updated", json!({"progress": {"percent": 50}}));
                    let handoff = json!({"reason": "Too hard.", "target_kind": "human"});
                    self.event("handoff.requested", handoff);
                }
            }
        }
        self.end(plan.ending);
        self.lines
    }

    fn end(&mut self, ending: Ending) {
        let cancelled = json!({"cancelled_by": "user", "summary_normal": "Never mind."});
        match ending {
            Ending::Completed => {
                self.event("session.completed", json!({"summary_normal": "Over."}));
            }
            Ending::Errored => self.event(
                "session.errored",
                json!({"error_category": "unknown", "summary_normal": "It failed."}),
            ),
            Ending::CancelledInMidTool => {
                self.call(None, false);
                self.event("session.cancelled", cancelled);
            }
            Ending::CancelledWithAnOpenQuestion => {
                self.state("thinking", "awaiting_input");
                self.ask(None, true, "reject");
                self.event("session.cancelled", cancelled);
            }
        }
    }

    /// Positions count characters; a last chunk without text closes the output.
    fn output(&mut self, chunks: &[&str]) {
        let id = self.fresh("out_");
        let mut position = 0;
        self.state("thinking", "writing_output");
        for chunk in chunks {
            let payload =
                json!({"chunk": chunk, "position": position, "complete": false, "output_id": id});
            self.event("output.streaming", payload);
            position += chunk.chars().count();
        }
        let last = json!({"chunk": "", "position": position, "complete": true, "output_id": id});
        self.event("output.streaming", last);
        self.state("writing_output", "thinking");
    }

    fn clarification(&mut self, clarified: Clarified) {
        let token = self.fresh("rpl_");
        self.state("thinking", "awaiting_input");
        let question = json!({
            "question": format!("Which, {token}?"), "reply_token": token, "timeout_seconds": TIMEOUT,
            "accepted_response_kinds": ["multiple_choice", "yes_no"],
            "choices": [{"value": "a", "label": "The one"}, {"value": "b", "label": "The other"}],
        });
        self.event("awaiting.clarification", question);
        let answer = |session: &mut Self, response: Value| {
            session.now += STEP;
            let reply = json!({
                "type": "clarification.reply", "reply_token": token, "response": response,
                "subscription_id": "sub_a", "timestamp": moment(session.now),
            });
            let line = session.incoming(&reply);
            session.lines.push(line);
        };
        match clarified {
            Clarified::Answered => answer(self, json!(true)),
            Clarified::AnsweredAtLast => {
                answer(self, json!(1));
                answer(self, json!("b"));
            }
            Clarified::TimedOut => self.now += TIMEOUT * 1000,
        }
        self.state("awaiting_input", "thinking");
    }

    fn extended(&mut self) {
        self.state("thinking", "awaiting_input");
        let token = self.ask(None, true, "reject");
        let request = json!({"type": "acme:more.time", "reply_token": token});
        let line = self.incoming(&request);
        self.lines.push(line);
        self.now += TIMEOUT * 2000;
        self.event(
            "progress.updated",
            json!({"progress": {"description": "Still waiting."}}),
        );
        let reply = self.reply_line(&token, "accept");
        self.lines.push(reply);
        self.state("awaiting_input", "calling_tool");
        self.call(None, true);
        self.complete(None);
        self.state("calling_tool", "thinking");
    }

    fn second_agent(&mut self) {
        let from = if self.joined { "thinking" } else { "idle" };
        self.joined = true;
        let id = self.fresh("call_");
        let state = |from: &str, to: &str| json!({"from_state": from, "to_state": to});
        self.event_of("b", "state.changed", state(from, "calling_tool"));
        let call = json!({"tool": "look", "tool_call_id": id, "summary_normal": "Looking."});
        self.event_of("b", "tool.invoked", call);
        let done = json!({"tool": "look", "tool_call_id": id, "status": "success"});
        self.event_of("b", "tool.completed", done);
        self.event_of("b", "state.changed", state("calling_tool", "thinking"));
    }

    fn calls(&mut self, with_id: bool, count: usize, backwards: bool) {
        let mut ids: Vec<Option<String>> = (0..count)
            .map(|_| with_id.then(|| self.fresh("call_")))
            .collect();
        for id in &ids {
            self.call(id.as_deref(), false);
        }
        if backwards {
            ids.reverse();
        }
        for id in &ids {
            self.complete(id.as_deref());
        }
    }

    fn question(&mut self, asking: &Asking) {
        let accepts = asking.outcome == Outcome::AcceptedByTimeout;
        let id = asking.by_id.then(|| self.fresh("call_"));
        self.state("thinking", "awaiting_input");
        let token = self.ask(
            id.as_deref(),
            asking.irreversible,
            if accepts { "accept" } else { "reject" },
        );
        let asked = self.now;
        for noise in &asking.noise {
            self.noise(*noise, &token);
        }
        match asking.outcome {
            Outcome::Accepted => {
                let reply = self.reply_line(&token, "accept");
                let late = asking.reply == ReplyRecord::LoggedLate && self.wrapped;
                if !late {
                    self.lines.push(reply.clone());
                    self.contradict(asking, &token, "reject");
                }
                self.state("awaiting_input", "calling_tool");
                self.call(id.as_deref(), asking.irreversible);
                if late {
                    self.lines.push(reply);
                }
                self.complete(id.as_deref());
                self.state("calling_tool", "thinking");
            }
            Outcome::Rejected => {
                let reply = self.reply_line(&token, "reject");
                self.lines.push(reply);
                self.contradict(asking, &token, "accept");
                self.state("awaiting_input", "thinking");
            }
            Outcome::AcceptedByTimeout => {
                self.now = asked + TIMEOUT * 1000 - STEP;
                self.state("awaiting_input", "calling_tool");
                self.call(id.as_deref(), asking.irreversible);
                self.complete(id.as_deref());
                self.state("calling_tool", "thinking");
            }
            Outcome::RejectedByTimeout => {
                self.now = asked + TIMEOUT * 1000 - STEP;
                self.state("awaiting_input", "thinking");
            }
            Outcome::Withdrawn => self.state("awaiting_input", "thinking"),
        }
    }

    fn two_questions(&mut self, accepted: [bool; 2], second_first: bool, by_id: bool) {
        self.state("thinking", "awaiting_input");
        let ids = [(); 2].map(|()| by_id.then(|| self.fresh("call_")));
        let tokens = [0, 1].map(|which: usize| self.ask(ids[which].as_deref(), true, "reject"));
        let order = if second_first { [1, 0] } else { [0, 1] };
        for which in order {
            let reply = self.reply_line(
                &tokens[which],
                if accepted[which] { "accept" } else { "reject" },
            );
            self.lines.push(reply);
            if accepted[which] {
                self.call(ids[which].as_deref(), true);
                self.complete(ids[which].as_deref());
            } else {
                self.state("awaiting_input", "awaiting_input");
            }
        }
        self.state("awaiting_input", "thinking");
    }

    fn contradict(&mut self, asking: &Asking, token: &str, decision: &str) {
        if asking.reply == ReplyRecord::Contradicted {
            let reply = self.reply_line(token, decision);
            self.lines.push(reply);
        }
    }

    fn noise(&mut self, noise: Noise, token: &str) {
        let line = match noise {
            Noise::UnknownToken => self.reply_line("rpl_unknown", "accept"),
            Noise::Malformed => {
                let mut reply = self.reply(token, "accept");
                reply["subscription_id"] = json!("nobody");
                self.incoming(&reply)
            }
            Noise::DecidedTooLate => {
                let mut reply = self.reply(token, "accept");
                reply["timestamp"] = json!(moment(self.now + TIMEOUT * 1000));
                self.incoming(&reply)
            }
            Noise::UnknownDecision => self.reply_line(token, "perhaps"),
        };
        self.lines.push(line);
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}s{}n{}", self.number, self.count)
    }

    fn state(&mut self, from: &str, to: &str) {
        self.event("state.changed", json!({"from_state": from, "to_state": to}));
    }

    fn call(&mut self, id: Option<&str>, irreversible: bool) {
        self.event(
            "tool.invoked",
            json!({"tool": "act", "tool_call_id": id, "irreversible": irreversible, "summary_normal": "Acting."}),
        );
    }

    fn complete(&mut self, id: Option<&str>) {
        self.event(
            "tool.completed",
            json!({"tool": "act", "tool_call_id": id, "status": "success"}),
        );
    }

    fn ask(&mut self, id: Option<&str>, irreversible: bool, default: &str) -> String {
        let token = self.fresh("rpl_");
        self.event(
            "awaiting.confirmation",
            json!({
                "action": format!("Act for {token}"), "consequence": "It is done.", "reply_token": token,
                "timeout_seconds": TIMEOUT, "default_decision": default, "risk_level": "low",
                "irreversible": irreversible, "extra_context": {"tool_call_id": id},
            }),
        );
        token
    }

    fn event(&mut self, name: &str, payload: Value) {
        self.event_of("a", name, payload);
    }

    fn event_of(&mut self, producer: &str, name: &str, payload: Value) {
        self.now += STEP;
        let id = self.fresh("evt_");
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{name}"), "event_id": id,
            "session_id": format!("sess_{}", self.number), "timestamp": moment(self.now), "producer": {"agent_id": producer},
        });
        if name.starts_with("awaiting.") || ["session.errored", "handoff.requested"].contains(&name)
        {
            event["urgency"] = json!("critical");
        }
        if let Some(number) = &mut self.sequence {
            event["sequence_number"] = json!(number);
            *number += 1;
        }
        let Value::Object(payload) = payload else {
            unreachable!("payloads are objects")
        };
        event.as_object_mut().expect("an object").extend(payload);
        let line = if self.wrapped {
            json!({"dir": "out", "at": moment(self.now + 2), "message": event})
        } else {
            event
        };
        self.lines.push(line.to_string());
    }

    fn reply_line(&mut self, token: &str, decision: &str) -> String {
        self.now += STEP;
        let reply = self.reply(token, decision);
        self.incoming(&reply)
    }

    fn reply(&self, token: &str, decision: &str) -> Value {
        json!({
            "type": "confirmation.reply", "reply_token": token, "decision": decision, "subscription_id": "sub_a",
            "timestamp": moment(self.now),
        })
    }

    fn incoming(&self, reply: &Value) -> String {
        if self.wrapped {
            json!({"dir": "in", "at": moment(self.now), "message": reply, "http_status": 204})
                .to_string()
        } else {
            reply.to_string()
        }
    }
}

fn moment(milliseconds: u64) -> String {
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!(
        "2026-05-24T{:02}:{:02}:{seconds:02}.{rest:03}Z",
        10 + minutes / 60,
        minutes % 60
    )
}
