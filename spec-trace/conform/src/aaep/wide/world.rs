//! What a run has seen so far, from which its next calls are made.
//!
//! The one thing to know: it is the same whoever is asked, the executor ([`super::host`]) or any implementation
//! ([`super::driven`]). What names things by their place is looked up in what was seen to come out.

use std::rc::Rc;

use countersign_model::aaep::judge::{self, QuestionKind};
use countersign_reference::aaep as executor;
use executor::{ActionId, Input, ReplyToken, SessionId, SubscriptionId, ToolCallId};

use super::asking;
use super::names::{self, Names};
use super::questions::{Question, Questions};
use super::spelling::{self, Modified, Said, Says, Written};
use super::step::{Answered, Asked, Claim, Delivered, Extended, Sender, Which};
use crate::wide::Clock;

/// When a run begins, in milliseconds since the epoch: between two seconds.
pub(super) const START: i64 = 1_780_000_000_250;
/// The end of the calendar, in milliseconds since the epoch; no question is asked whose timeout elapses after it.
const LAST: i64 = 253_402_300_799_999;
/// When a run begins that comes near it: a day and a minute before.
pub(super) const LATE_START: i64 = LAST - 86_460_000;
/// As many messages are kept to be sent again.
const MOST_MESSAGES: usize = 16;

/// What was seen.
#[derive(Clone)]
pub(super) struct World {
    pub clock: i64,
    /// The greatest that the clock has been.
    pub latest: i64,
    pub questions: Questions,
    /// The calls of tools that were told to run and are not known to be back, in their order.
    running: Vec<Running>,
    /// The latest messages, with what the judge is told of them.
    messages: Vec<Rc<Message>>,
    sessions: [SessionId; 8],
    /// How often the session and the subscription at each place were followed by another.
    generations: [[u32; 8]; 2],
    /// Which of them are there now.
    there: [[bool; 8]; 2],
    pub names: Names,
}

/// A call of a tool.
#[derive(Clone)]
pub(super) struct Running {
    pub session_id: SessionId,
    pub action: ActionId,
    pub tool_call_id: ToolCallId,
}

/// A message in bytes, and what the judge is told of it.
#[derive(Clone)]
struct Message {
    written: Written,
    reply: judge::Reply,
}

impl World {
    /// At the start of a run, at this time.
    pub(super) fn new(start: i64) -> Self {
        Self {
            clock: start,
            latest: start,
            questions: Questions::default(),
            running: Vec::new(),
            messages: Vec::new(),
            sessions: std::array::from_fn(|place| session_id(place, 0)),
            generations: [[0; 8]; 2],
            there: [[false; 8]; 2],
            names: Names::default(),
        }
    }

    /// The host's clock goes on, or is set.
    pub(super) fn set_clock(&mut self, clock: Clock) {
        self.clock = match clock {
            Clock::Stays => self.clock,
            Clock::Ahead(by) => self.clock.saturating_add(by).min(LAST),
            Clock::Back(by) => self.clock.saturating_sub(by).max(0),
            Clock::Deadline(place, beside) => {
                let moment = self.questions.moment(self.latest, place);
                moment.map_or(self.clock, |moment| moment.saturating_add(beside).min(LAST))
            }
        };
        self.latest = self.latest.max(self.clock);
    }

    /// What a party is asked, as the executor takes it, and what the judge is told of it. Nothing where there is nothing that the step
    /// could mean, and of a restart, which each party has in its own way.
    pub(super) fn input(&mut self, asked: Asked) -> Option<(Input, judge::Call)> {
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
            Asked::Confirm(confirmed) => {
                let ask = asking::confirmation(self.session(confirmed.place), confirmed);
                let limits = asking::limits_of_confirmation(&ask);
                let call = judge::Call::Confirm(self.names.confirm(&ask, limits));
                (Input::Confirm(ask), call)
            }
            Asked::Clarify(clarified) => {
                let clarify = asking::clarification(self.session(clarified.place), clarified);
                let limits = asking::limits_of_clarification(&clarify);
                let call = judge::Call::Clarify(self.names.clarify(&clarify, limits));
                (Input::Clarify(clarify), call)
            }
            Asked::Deliver(delivered) => self.deliver(delivered),
            Asked::Answer(answered) => self.answer(answered),
            Asked::Replay { message, sender } => {
                let place = self.messages.len().checked_sub(1 + usize::from(message))?;
                self.arrives(&Rc::clone(&self.messages[place]), sender)
            }
            Asked::Cancel { question } => {
                let reply_token = self.question(question, None).token;
                let token = self.names.token(reply_token.as_str());
                (Input::Cancel { reply_token }, judge::Call::Cancel { token })
            }
            Asked::Extend { question, to } => self.extend(question, to),
            Asked::Tool(ran) => {
                let run = asking::run(self.session(ran.place), ran);
                let limits = asking::limits_of_run(&run);
                let call = judge::Call::Tool(self.names.run(&run, limits));
                (Input::Tool(run), call)
            }
            Asked::Output(streamed) => {
                let chunk = asking::chunk(self.session(streamed.place), streamed);
                let limits = asking::limits_of_chunk(&chunk);
                let call = judge::Call::Output(self.names.chunk(&chunk, limits));
                (Input::Output(chunk), call)
            }
            Asked::Handoff(handed) => {
                let handoff = asking::handoff(self.session(handed.place), handed);
                let limits = asking::limits_of_handoff(&handoff);
                let call = judge::Call::Handoff(self.names.handoff(&handoff, limits));
                (Input::Handoff(handoff), call)
            }
            Asked::Finish {
                call,
                named,
                status,
            } => self.finish(call, named, status)?,
            Asked::EndSession { place, outcome } => self.end_session(place, outcome),
            Asked::Tick => (Input::Tick, judge::Call::Tick),
            Asked::Restart { .. } => return None,
        })
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
        let session_id = self.session(place);
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

    fn session(&self, place: u8) -> SessionId {
        self.sessions[usize::from(self.place(0, place))].clone()
    }

    fn extend(&mut self, which: Which, to: Extended) -> (Input, judge::Call) {
        let question = self.question(which, None);
        let timeout_seconds = match to {
            Extended::By(seconds) => u64::try_from(question.timeout + seconds).unwrap_or(0),
            Extended::To(seconds) => seconds,
        };
        let call = judge::Call::Extend {
            token: self.names.token(question.token.as_str()),
            timeout_seconds: i64::try_from(timeout_seconds).unwrap_or(i64::MAX),
        };
        let input = Input::Extend {
            reply_token: question.token,
            timeout_seconds,
        };
        (input, call)
    }

    fn deliver(&mut self, delivered: Delivered) -> (Input, judge::Call) {
        let Delivered {
            question,
            accepts,
            claims,
            sender,
            names,
            modified,
            rated,
            flaw,
            spelling,
        } = delivered;
        let modified = modified.then_some(Modified {
            rated,
            is_deep: spelling & 8 != 0,
        });
        let says = Says::Decision { accepts, modified };
        self.reply(says, question, claims, (sender, names), (flaw, spelling))
    }

    fn answer(&mut self, answered: Answered) -> (Input, judge::Call) {
        let Answered {
            question,
            response,
            claims,
            sender,
            names,
            flaw,
            spelling,
        } = answered;
        let says = Says::Response(response);
        self.reply(says, question, claims, (sender, names), (flaw, spelling))
    }

    fn reply(
        &mut self,
        says: Says,
        which: Which,
        claims: Claim,
        (sender, names): (Sender, Option<u8>),
        (flaw, way): (u8, u8),
    ) -> (Input, judge::Call) {
        let question = self.question(which, Some(says.kind()));
        let claimed_at = match claims {
            Claim::Now(from) => self.clock.saturating_add(from),
            Claim::Deadline(from) => question.deadline().saturating_add(from),
        }
        .min(LAST);
        let own = match sender {
            Sender::Subscriber(place) | Sender::Unauthenticated(place) => place,
            Sender::Nobody => 0,
        };
        let subscription = self.subscription(names.unwrap_or(self.place(1, own)));
        let said = Said {
            token: question.token.as_str(),
            says,
            claimed_at,
            subscription: subscription.as_str(),
        };
        let written = spelling::write(&said, flaw, way);
        let reply = self.names.reply(&said);
        let message = Rc::new(Message { written, reply });
        if self.messages.len() == MOST_MESSAGES {
            self.messages.remove(0);
        }
        self.messages.push(Rc::clone(&message));
        self.arrives(&message, sender)
    }

    fn arrives(&mut self, message: &Message, sender: Sender) -> (Input, judge::Call) {
        let Message { written, reply } = message;
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
            kind: written.kind,
            flaw: written.flaw,
            reply: *reply,
        };
        let message = written.message.clone();
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

    /// The question that is meant; one that was never asked where there is none.
    fn question(&self, which: Which, kind: Option<QuestionKind>) -> Question {
        let found = self.questions.find(which, kind).cloned();
        found.unwrap_or_else(|| {
            let token = format!("rpl_guessed{which:?}").replace(['(', ')'], "");
            let token = ReplyToken::parse(&token).expect("a well-formed token");
            Question::never_asked(token, self.clock)
        })
    }

    /// What was asked was not refused.
    pub(super) fn is_done(&mut self, asked: Asked) {
        if let Asked::Unsubscribe { place } = asked {
            self.there[1][usize::from(place)] = false;
            // Now and then an id comes again, which is to be refused.
            self.generations[1][usize::from(place)] += u32::from(place % 4 != 3);
        }
        if let Asked::Subscribe { place, .. } = asked {
            self.there[1][usize::from(place)] = true;
        }
    }

    /// A tool was told to run.
    pub(super) fn runs(&mut self, call: Running) {
        self.running.push(call);
    }

    /// A tool is back.
    pub(super) fn is_back(&mut self, tool_call_id: &str) {
        // Some come back twice.
        let known = self.running.iter().position(|call| {
            call.tool_call_id.as_str() == tool_call_id && !call.action.as_str().ends_with('7')
        });
        if let Some(known) = known {
            self.running.remove(known);
        }
    }

    /// A session has begun.
    pub(super) fn session_is_there(&mut self, session: &SessionId) {
        // One that the producer has named takes the place of one that was never started.
        let places = self.generations[0].iter().enumerate();
        if !self.sessions.contains(session)
            && let Some((place, _)) = places.min_by_key(|(_, generation)| **generation)
        {
            self.sessions[place].clone_from(session);
        }
        if let Some(place) = self.place_of(session) {
            self.there[0][place] = true;
        }
    }

    fn place_of(&self, session: &SessionId) -> Option<usize> {
        self.sessions.iter().position(|known| known == session)
    }

    /// At the place of a session that has ended there will be another; at some, the same is asked for in vain.
    pub(super) fn session_is_followed(&mut self, ended: &SessionId) {
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
