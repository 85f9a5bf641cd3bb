//! The executor and the little that its host keeps, in a wide run: steps become calls with real bytes.
//!
//! The one thing to know: what names things by their place is looked up in what the world has seen, never in what the
//! executor holds, but for which questions still wait: that only makes a run livelier.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_model::aaep::judge::{self, AaepJudge};
use countersign_reference::aaep as executor;
use countersign_reference::ids::SequentialIds;
use countersign_reference::time::Timestamp;
use executor::{
    Action, ActionId, Ask, Input, Producer, ReplyToken, SessionId, Settings, SubscriptionId,
};

use super::names::{self, Names};
use super::spelling::{self, Said};
use super::step::{Asked, Claim, Confirmed, Delivered, Sender, Step, Which};
use crate::wide::{Clock, Shown};

/// When a run begins, in milliseconds since the epoch: between two seconds.
const START: i64 = 1_780_000_000_250;
/// The end of the calendar, in milliseconds since the epoch; no question is asked whose timeout elapses after it.
const LAST: i64 = 253_402_300_799_999;
/// As many messages are kept to be sent again.
const MOST_MESSAGES: usize = 16;

/// The executor, and what its host keeps.
pub struct Host {
    producer: Producer,
    ids: SequentialIds,
    clock: i64,
    /// The greatest that the clock has been.
    latest: i64,
    /// The deadlines of all questions.
    deadlines: BTreeSet<i64>,
    /// The tokens of all questions, with their deadlines, in the order of asking.
    questions: Vec<(ReplyToken, i64)>,
    /// The calls of tools that were told to run and are not known to be back, in their order.
    running: Vec<executor::ToolCall>,
    /// The latest messages, with what the judge is told of them.
    messages: Vec<(Vec<u8>, Option<judge::Flaw>, judge::Reply)>,
    sessions: [SessionId; 8],
    /// How often the session and the subscription at each place were followed by another.
    generations: [[u32; 8]; 2],
    /// Which of them are there now.
    there: [[bool; 8]; 2],
    /// What came out of the last call, and whether the judge was shown it.
    last: Vec<(executor::Output, bool)>,
    /// Whether it was refused, which comes last and is shown.
    refused: bool,
    names: Names,
}

impl Host {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            producer: Producer::new(settings),
            ids: SequentialIds::new(),
            clock: START,
            latest: START,
            deadlines: BTreeSet::new(),
            questions: Vec::new(),
            running: Vec::new(),
            messages: Vec::new(),
            sessions: std::array::from_fn(|place| session_id(place, 0)),
            generations: [[0; 8]; 2],
            there: [[false; 8]; 2],
            last: Vec::new(),
            refused: false,
            names: Names::default(),
        }
    }

    /// Takes a step; nothing where there is nothing that it could mean.
    pub(super) fn take_step(&mut self, step: Step) -> Option<Shown<AaepJudge>> {
        self.set_clock(step.clock);
        let (input, call) = self.input(step.asked)?;
        if matches!(input, Input::Restart { .. }) {
            self.store_and_read_back();
        }
        let now = Timestamp::from_millis(self.clock);
        let outcome = self.producer.handle(now, &mut self.ids, input);
        self.watch(step.asked, &outcome);
        let mut outputs = Vec::new();
        self.last.clear();
        for output in outcome.outputs {
            let shown = self.names.output(&output);
            self.last.push((output, shown.is_some()));
            outputs.extend(shown);
        }
        self.refused = outcome.refused.is_some();
        outputs.extend(self.refused.then_some(judge::Output::Refused));
        Some(Shown {
            now: self.clock,
            call,
            outputs,
        })
    }

    fn set_clock(&mut self, clock: Clock) {
        self.clock = match clock {
            Clock::Stays => self.clock,
            Clock::Ahead(by) => self.clock.saturating_add(by).min(LAST),
            Clock::Back(by) => self.clock.saturating_sub(by).max(0),
            Clock::Deadline(place, beside) => {
                let mut ahead = self.deadlines.range(self.latest..);
                let deadline = ahead.nth(usize::from(place));
                deadline.map_or(self.clock, |deadline| {
                    deadline.saturating_add(beside).min(LAST)
                })
            }
        };
        self.latest = self.latest.max(self.clock);
    }

    /// What the executor is asked, and what the judge is told of it.
    fn input(&mut self, asked: Asked) -> Option<(Input, judge::Call)> {
        Some(match asked {
            Asked::StartSession { place, unnamed } => self.start_session(place, unnamed),
            Asked::Subscribe { place, can_reply } => self.subscribe(place, can_reply),
            Asked::Unsubscribe { place } => {
                let subscription_id = self.subscription(place);
                let subscription = self.names.subscription(subscription_id.as_str());
                (
                    Input::Unsubscribe { subscription_id },
                    judge::Call::Unsubscribe { subscription },
                )
            }
            Asked::Confirm(confirmed) => self.confirm(confirmed),
            Asked::Deliver(delivered) => self.deliver(delivered),
            Asked::Replay { message, sender } => {
                let place = self.messages.len().checked_sub(1 + usize::from(message))?;
                let (message, flaw, reply) = self.messages[place].clone();
                self.arrives(message, flaw, reply, sender)
            }
            Asked::Cancel { question } => {
                let (reply_token, _) = self.question(question);
                let token = self.names.token(reply_token.as_str());
                (Input::Cancel { reply_token }, judge::Call::Cancel { token })
            }
            Asked::Finish {
                call,
                named,
                status,
            } => self.finish(call, named, status)?,
            Asked::EndSession { place, outcome } => self.end_session(place, outcome),
            Asked::Restart { lost } => self.restart(usize::from(lost)),
            Asked::Tick => (Input::Tick, judge::Call::Tick),
        })
    }

    /// So many of the last outputs are lost, or as many as there are.
    fn restart(&mut self, count: usize) -> (Input, judge::Call) {
        let refused = usize::from(self.refused).min(count);
        let carried = self.last.len().saturating_sub(count - refused);
        let lost = self.last.split_off(carried);
        let shown = lost.iter().filter(|(_, shown)| *shown).count();
        let lost = lost.into_iter().map(|(output, _)| output).collect();
        let call = judge::Call::Restart {
            lost: shown + refused,
        };
        (Input::Restart { lost }, call)
    }

    /// A restart has nothing but what was written down.
    fn store_and_read_back(&mut self) {
        let stored = serde_json::to_vec(&self.producer).expect("a producer can be written");
        self.producer = serde_json::from_slice(&stored).expect("what it wrote can be read");
    }

    fn start_session(&mut self, place: u8, unnamed: bool) -> (Input, judge::Call) {
        if unnamed {
            let call = judge::Call::StartSession { session: None };
            return (Input::StartSession { session_id: None }, call);
        }
        let session_id = self.sessions[usize::from(place)].clone();
        let session = Some(self.names.session(session_id.as_str()));
        let session_id = Some(session_id);
        (
            Input::StartSession { session_id },
            judge::Call::StartSession { session },
        )
    }

    fn end_session(&mut self, place: u8, outcome: u8) -> (Input, judge::Call) {
        let session_id = self.sessions[usize::from(self.place(0, place))].clone();
        let outcome = match outcome {
            0 => executor::SessionOutcome::Completed,
            1 => executor::SessionOutcome::Errored,
            _ => executor::SessionOutcome::Cancelled,
        };
        let call = judge::Call::EndSession {
            session: self.names.session(session_id.as_str()),
            outcome: names::outcome(outcome),
        };
        let input = Input::EndSession {
            session_id,
            outcome,
        };
        (input, call)
    }

    fn subscription(&self, place: u8) -> SubscriptionId {
        let generation = self.generations[1][usize::from(place)];
        SubscriptionId::parse(&format!("sub_{place}x{generation}"))
            .expect("a well-formed subscription id")
    }

    fn subscribe(&mut self, place: u8, can_reply: bool) -> (Input, judge::Call) {
        let subscription_id = self.subscription(place);
        let subscription = self.names.subscription(subscription_id.as_str());
        let capabilities = executor::Capabilities {
            supports_confirmation_reply: can_reply,
        };
        let input = Input::Subscribe {
            subscription_id,
            capabilities,
        };
        let call = judge::Call::Subscribe {
            subscription,
            can_reply,
        };
        (input, call)
    }

    /// The next place at which there is one; the last place is meant as it is said.
    fn place(&self, kind: usize, place: u8) -> u8 {
        let mut onwards = (place..7).chain(0..place);
        let there = onwards.find(|place| self.there[kind][usize::from(*place)]);
        there.filter(|_| place != 7).unwrap_or(place)
    }

    fn confirm(&mut self, confirmed: Confirmed) -> (Input, judge::Call) {
        let ask = self.ask(confirmed);
        let texts = [
            &ask.action.tool,
            &ask.action.description,
            &ask.action.consequence,
        ];
        let too_long = texts.iter().any(|text| text.len() > 16 * 1024);
        let empty = texts.iter().any(|text| text.is_empty());
        let timeout_seconds = i64::try_from(ask.timeout_seconds).unwrap_or(i64::MAX);
        let elapses = self
            .latest
            .saturating_add(timeout_seconds.saturating_mul(1_000));
        let replies = ask.allowed_replies.as_deref();
        let out_of_limits = if too_long {
            Some("AAEP-EV-10")
        } else if empty || elapses > LAST || replies.is_some_and(is_no_list_of_replies) {
            Some("AAEP-EV-5")
        } else {
            None
        };
        let confirm = judge::Confirm {
            session: self.names.session(ask.session_id.as_str()),
            action: self.names.action(ask.action.id.as_str()),
            tool: self.names.tool(&ask.action.tool),
            description: self.names.text(&ask.action.description),
            consequence: self.names.text(&ask.action.consequence),
            risk: names::risk(ask.action.risk_level),
            irreversible: ask.action.irreversible,
            timeout_seconds,
            default: names::decision(ask.default_decision),
            allowed: replies.map(names::allowed),
            out_of_limits,
        };
        (Input::Confirm(ask), judge::Call::Confirm(confirm))
    }

    fn ask(&self, confirmed: Confirmed) -> Ask {
        let Confirmed {
            place,
            action,
            tool,
            class,
            timeout_seconds,
            allowed,
            words,
        } = confirmed;
        let long = |is: u8, length: usize| {
            if words == is {
                "x".repeat(length)
            } else {
                format!("{words}")
            }
        };
        let risk_level = match class % 3 {
            0 => executor::RiskLevel::Low,
            1 => executor::RiskLevel::Medium,
            _ => executor::RiskLevel::High,
        };
        let accept = class / 6 == 0;
        Ask {
            session_id: self.sessions[usize::from(self.place(0, place))].clone(),
            action: Action {
                id: ActionId::parse(&format!("a{action}")).expect("a well-formed name"),
                tool: Arc::from(if words == 241 {
                    String::new()
                } else {
                    format!("tool{tool}")
                }),
                description: Arc::from(format!("do {action} {}", long(242, 16 * 1024 - 6))),
                consequence: Arc::from(long(243, 16 * 1024 + 1)),
                risk_level,
                irreversible: class / 3 % 2 == 1,
            },
            timeout_seconds,
            default_decision: if accept {
                executor::Decision::Accept
            } else {
                executor::Decision::Reject
            },
            allowed_replies: replies(allowed),
        }
    }

    fn deliver(&mut self, delivered: Delivered) -> (Input, judge::Call) {
        let Delivered {
            question,
            accepts,
            claims,
            sender,
            names,
            modified,
            flaw,
            spelling,
        } = delivered;
        let (token, deadline) = self.question(question);
        let claimed_at = match claims {
            Claim::Now(from) => self.clock.saturating_add(from),
            Claim::Deadline(from) => deadline.saturating_add(from),
        };
        let own = match sender {
            Sender::Subscriber(place) | Sender::Unauthenticated(place) => place,
            Sender::Nobody => 0,
        };
        let subscription = self.subscription(names.unwrap_or(self.place(1, own)));
        let said = Said {
            token: token.as_str(),
            accepts,
            claimed_at,
            subscription: subscription.as_str(),
            modified,
        };
        let (message, flaw) = spelling::write(&said, flaw, spelling);
        let decision = if accepts {
            judge::Decision::Accept
        } else {
            judge::Decision::Reject
        };
        let reply = judge::Reply {
            token: Some(self.names.token(token.as_str())),
            decision: Some(decision),
            response: None,
            claimed_at: Some(claimed_at),
            subscription: Some(self.names.subscription(subscription.as_str())),
            modified_action: modified,
        };
        if self.messages.len() == MOST_MESSAGES {
            self.messages.remove(0);
        }
        self.messages.push((message.clone(), flaw, reply));
        self.arrives(message, flaw, reply, sender)
    }

    fn arrives(
        &mut self,
        message: Vec<u8>,
        flaw: Option<judge::Flaw>,
        reply: judge::Reply,
        sender: Sender,
    ) -> (Input, judge::Call) {
        let (place, authenticated) = match sender {
            Sender::Subscriber(place) => (Some(place), true),
            Sender::Unauthenticated(place) => (Some(place), false),
            Sender::Nobody => (None, true),
        };
        let subscription_id = place.map(|place| self.subscription(self.place(1, place)));
        let named = subscription_id
            .as_ref()
            .map(|id| self.names.subscription(id.as_str()));
        let delivery = judge::Delivery {
            sender: named,
            authenticated,
            kind: judge::QuestionKind::Confirmation,
            flaw,
            reply,
        };
        let sender = executor::Sender {
            subscription_id,
            authenticated,
        };
        (
            Input::Deliver { sender, message },
            judge::Call::Deliver(delivery),
        )
    }

    fn finish(&mut self, call: u8, named: bool, status: u8) -> Option<(Input, judge::Call)> {
        let place = self.running.len().checked_sub(1 + usize::from(call))?;
        let call = self.running[place].clone();
        let status = match status {
            0 => executor::ToolStatus::Success,
            1 => executor::ToolStatus::Error,
            _ => executor::ToolStatus::Timeout,
        };
        let tool_call = self.names.tool_call(call.tool_call_id.as_str());
        let judged = judge::Call::FinishTool {
            session: self.names.session(call.session_id.as_str()),
            action: self.names.action(call.action.as_str()),
            tool_call: named.then_some(tool_call),
            status: names::tool_status(status),
        };
        let input = Input::FinishTool {
            session_id: call.session_id,
            action: call.action,
            tool_call_id: named.then_some(call.tool_call_id),
            status,
        };
        Some((input, judged))
    }

    /// A token and its deadline.
    fn question(&self, which: Which) -> (ReplyToken, i64) {
        let waits = |token: &ReplyToken| {
            let asked = self.producer.confirmation(token);
            asked.is_some_and(|asked| asked.phase == executor::Phase::Pending)
        };
        let mut newest_first = self.questions.iter().rev();
        let found = match which {
            Which::Open(place) => newest_first
                .filter(|(token, _)| waits(token))
                .nth(usize::from(place)),
            Which::Any(place) => newest_first.nth(usize::from(place)),
            Which::Unknown(_) => None,
        };
        found.cloned().unwrap_or_else(|| {
            let token = ReplyToken::parse(&format!("rpl_guessed{which:?}").replace(['(', ')'], ""));
            (token.expect("a well-formed token"), self.clock)
        })
    }

    /// What the host learns from what came out.
    fn watch(&mut self, asked: Asked, outcome: &executor::Outcome) {
        for output in &outcome.outputs {
            match output {
                executor::Output::Emit(event) => self.watch_event(event),
                executor::Output::Perform(call) => self.running.push(call.clone()),
                executor::Output::Withdraw(_)
                | executor::Output::Answer(_)
                | executor::Output::Notify(_)
                | executor::Output::Respond(_)
                | executor::Output::Audit(_)
                | executor::Output::InDoubt(_) => {}
            }
        }
        if let Asked::Unsubscribe { place } = asked
            && outcome.refused.is_none()
        {
            self.there[1][usize::from(place)] = false;
            // Now and then an id comes again, which is to be refused.
            self.generations[1][usize::from(place)] += u32::from(place % 4 != 3);
        }
        if let Asked::Subscribe { place, .. } = asked
            && outcome.refused.is_none()
        {
            self.there[1][usize::from(place)] = true;
        }
    }

    fn watch_event(&mut self, event: &executor::Event) {
        match &event.payload {
            executor::Payload::AwaitingConfirmation {
                reply_token,
                timeout,
                ..
            } => {
                let deadline = event.timestamp.millis() + i64::from(timeout.seconds()) * 1_000;
                self.deadlines.insert(deadline);
                self.questions.push((reply_token.clone(), deadline));
            }
            executor::Payload::SessionStarted { .. } => {
                // One that the producer has named takes the place of one that was never started.
                let places = self.generations[0].iter().enumerate();
                if !self.sessions.contains(&event.session_id)
                    && let Some((place, _)) = places.min_by_key(|(_, generation)| **generation)
                {
                    self.sessions[place].clone_from(&event.session_id);
                }
                if let Some(place) = self.place_of(&event.session_id) {
                    self.there[0][place] = true;
                }
            }
            executor::Payload::SessionCompleted { .. }
            | executor::Payload::SessionErrored { .. }
            | executor::Payload::SessionCancelled { .. } => {
                self.session_is_followed(&event.session_id);
            }
            executor::Payload::ToolCompleted { tool_call_id, .. } => {
                // Some come back twice.
                let known = self.running.iter().position(|call| {
                    call.tool_call_id == *tool_call_id && !call.action.as_str().ends_with('7')
                });
                if let Some(known) = known {
                    self.running.remove(known);
                }
            }
            executor::Payload::StateChanged { .. }
            | executor::Payload::ToolInvoked { .. }
            | executor::Payload::ProgressUpdated { .. }
            | executor::Payload::AwaitingClarification { .. } => {}
        }
    }

    fn place_of(&self, session: &SessionId) -> Option<usize> {
        self.sessions.iter().position(|known| known == session)
    }

    /// At the place of a session that has ended there will be another; at some, the same is asked for in vain.
    fn session_is_followed(&mut self, ended: &SessionId) {
        let Some(place) = self.place_of(ended) else {
            return;
        };
        self.there[0][place] = false;
        if place != 6 {
            self.generations[0][place] += 1;
            self.sessions[place] = session_id(place, self.generations[0][place]);
        }
    }
}

/// Of sessions of one generation the name of each begins with that of the one before it.
fn session_id(place: usize, generation: u32) -> SessionId {
    let name = format!("sess_{generation}{}", "x".repeat(place));
    SessionId::parse(&name).expect("a well-formed session id")
}

fn replies(which: u8) -> Option<Vec<String>> {
    let listed = |replies: &[&str]| -> Vec<String> {
        replies.iter().map(|reply| (*reply).to_owned()).collect()
    };
    // What may be decided stands behind everything else.
    let many = |others: u8| {
        let others = (0..others).map(|n| format!("r{n}"));
        others.chain(listed(&["accept", "reject"])).collect()
    };
    match which {
        0 => None,
        1 => Some(listed(&["accept", "reject"])),
        2 => Some(listed(&["accept"])),
        3 => Some(listed(&["reject"])),
        4 => Some(listed(&["reject", "later"])),
        5 => Some(listed(&["later"])),
        6 => Some(many(30)),
        7 => Some(many(31)),
        8 => Some(listed(&["accept", "reject", "accept"])),
        _ => Some(Vec::new()),
    }
}

/// AAEP-EV-5: 1 to 32 different strings.
fn is_no_list_of_replies(replies: &[String]) -> bool {
    let different: BTreeSet<&String> = replies.iter().collect();
    different.len() != replies.len() || !(1..=32).contains(&replies.len())
}
