//! The host: the producer, the agent and the log, one call at a time.
//!
//! The one thing to know: what the producer puts out is carried out in order and at once, and what the agent then does is part of
//! the same call. So between two calls nothing is under way but questions. A tool that did something would have to end in a call of
//! its own; these do nothing.

use std::collections::{BTreeMap, VecDeque};

use countersign_reference::aaep::{
    Audit, Capabilities, Input, Output, Producer, Refusal, ResolutionOutcome, Sender, SessionId,
    SessionOutcome, Settings, SubscriptionId, ToolCall, ToolStatus,
};
use countersign_reference::ids::IdSource;
use countersign_reference::time::{Deadline, Timestamp};
use serde_json::Value;

use crate::agent::Task;
use crate::log::{Following, Log, Told};

/// How many sessions may be under way, and how many subscriptions open. The producer remembers those that have ended by
/// their ids, questions and states alone, and for ever: no id may come again.
pub const MOST: usize = 10_000;

/// A producer at work.
#[derive(Debug)]
pub struct Host<Ids> {
    producer: Producer,
    ids: Ids,
    timeout_seconds: u64,
    /// What is left to do in each session that is under way.
    scripts: BTreeMap<SessionId, VecDeque<Task>>,
    /// Those that are open, each with how many events there were before it.
    subscriptions: BTreeMap<SubscriptionId, u64>,
    log: Log,
    /// What only the operator sees, until it is taken.
    audits: Vec<Audit>,
}

/// Why nothing was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotBegun {
    /// There are [`MOST`] already.
    TooMany,
    /// The producer has refused it.
    Refused(Refusal),
}

/// What the agent does next.
#[derive(Debug)]
enum Next {
    /// The tool of this call has come back.
    Finish(ToolCall),
    /// The session goes on with its next task.
    GoOn(SessionId),
}

impl<Ids: IdSource> Host<Ids> {
    /// A host to which nothing has happened, whose agent's questions wait for so many seconds.
    pub fn new(settings: Settings, ids: Ids, timeout_seconds: u64) -> Self {
        Self {
            producer: Producer::new(settings),
            ids,
            timeout_seconds,
            scripts: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            log: Log::default(),
            audits: Vec::new(),
        }
    }

    /// Starts a session with a prompt.
    ///
    /// # Errors
    ///
    /// [`NotBegun`], and then there is no session.
    pub fn start(&mut self, now: Timestamp, prompt: &str) -> Result<SessionId, NotBegun> {
        self.tick(now);
        if self.scripts.len() >= MOST {
            return Err(NotBegun::TooMany);
        }
        let session_id = SessionId::from_bits(self.ids.next_bits());
        let started = Input::StartSession {
            session_id: Some(session_id.clone()),
        };
        self.happens(now, started).map_err(NotBegun::Refused)?;
        let tasks = Task::named_in(prompt);
        self.scripts.insert(session_id.clone(), tasks);
        self.work(now, VecDeque::from([Next::GoOn(session_id.clone())]));
        Ok(session_id)
    }

    /// Opens a subscription.
    ///
    /// # Errors
    ///
    /// [`NotBegun`], and then there is none.
    ///
    /// # Panics
    ///
    /// Never: an id of digits is well-formed.
    pub fn subscribe(
        &mut self,
        now: Timestamp,
        capabilities: Capabilities,
    ) -> Result<SubscriptionId, NotBegun> {
        if self.subscriptions.len() >= MOST {
            return Err(NotBegun::TooMany);
        }
        let text = format!("sub_{:032x}", self.ids.next_bits());
        let subscription_id = SubscriptionId::parse(&text).expect("digits follow the prefix");
        let opened = Input::Subscribe {
            subscription_id: subscription_id.clone(),
            capabilities,
        };
        self.happens(now, opened).map_err(NotBegun::Refused)?;
        let before = self.log.count();
        self.subscriptions.insert(subscription_id.clone(), before);
        Ok(subscription_id)
    }

    /// Closes a subscription. Whether it was open.
    pub fn unsubscribe(&mut self, now: Timestamp, subscription_id: &SubscriptionId) -> bool {
        let was_open = self.subscriptions.remove(subscription_id).is_some();
        if was_open {
            let closed = Input::Unsubscribe {
                subscription_id: subscription_id.clone(),
            };
            let left = self.happens(now, closed);
            debug_assert!(left.is_ok(), "it is open");
        }
        was_open
    }

    /// A message arrives. HTTP has no connection that belongs to a subscription, so the sender is taken to be the subscription
    /// that the message names; whether that is open is for the producer (AAEP-6.3.4-5). Who may send is what the token says.
    pub fn deliver(&mut self, now: Timestamp, authenticated: bool, message: &[u8]) {
        let read: Option<Value> = serde_json::from_slice(message).ok();
        let named = read.as_ref().and_then(|it| it["subscription_id"].as_str());
        let named = named.and_then(|text| SubscriptionId::parse(text).ok());
        let sender = Sender {
            subscription_id: named,
            authenticated,
        };
        let message = message.to_vec();
        let delivered = self.happens(now, Input::Deliver { sender, message });
        debug_assert!(delivered.is_ok(), "a message is never an error of the host");
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Timestamp) {
        let ticked = self.happens(now, Input::Tick);
        debug_assert!(ticked.is_ok(), "time is never an error of the host");
    }

    /// When [`Host::tick`] is to be called, if nothing else happens before.
    pub fn next_deadline(&self) -> Option<Deadline> {
        self.producer.next_deadline()
    }

    /// The events of an open subscription: those since it was opened, or since the event that is named. Nothing if it is not open.
    pub fn follow(&self, of: &SubscriptionId, last_event_id: Option<&str>) -> Option<Following> {
        let before = *self.subscriptions.get(of)?;
        Some(self.log.follow(last_event_id, before))
    }

    /// What only the operator sees, and was not taken yet.
    pub fn take_audits(&mut self) -> Vec<Audit> {
        std::mem::take(&mut self.audits)
    }

    /// How many sessions are under way.
    pub fn under_way(&self) -> usize {
        self.scripts.len()
    }

    fn happens(&mut self, now: Timestamp, input: Input) -> Result<(), Refusal> {
        let mut next = VecDeque::new();
        let done = self.call(now, input, &mut next);
        self.work(now, next);
        done
    }

    /// Does what the agent has to do, and what follows from it.
    fn work(&mut self, now: Timestamp, mut next: VecDeque<Next>) {
        while let Some(one) = next.pop_front() {
            match one {
                Next::Finish(call) => {
                    let session_id = call.session_id.clone();
                    let finished = Input::FinishTool {
                        session_id: call.session_id,
                        action: call.action,
                        tool_call_id: Some(call.tool_call_id),
                        status: ToolStatus::Success,
                    };
                    let done = self.call(now, finished, &mut next);
                    debug_assert!(done.is_ok(), "what was withdrawn is not finished");
                    next.push_back(Next::GoOn(session_id));
                }
                Next::GoOn(session_id) => self.go_on(now, session_id, &mut next),
            }
        }
    }

    fn go_on(&mut self, now: Timestamp, session_id: SessionId, next: &mut VecDeque<Next>) {
        let script = self.scripts.get_mut(&session_id);
        let task = script.and_then(VecDeque::pop_front);
        let (input, is_over) = if let Some(task) = task {
            let is_over = matches!(task, Task::Say | Task::Handoff);
            (
                task.input(session_id.clone(), self.timeout_seconds),
                is_over,
            )
        } else {
            self.scripts.remove(&session_id);
            let outcome = SessionOutcome::Completed;
            let session_id = session_id.clone();
            (
                Input::EndSession {
                    session_id,
                    outcome,
                },
                false,
            )
        };
        let done = self.call(now, input, next);
        debug_assert!(done.is_ok(), "the script asks for nothing that is refused");
        if is_over {
            next.push_back(Next::GoOn(session_id));
        }
    }

    /// Lets something happen, and carries out what the producer puts out. What the agent has to do then is added to `next`.
    fn call(
        &mut self,
        now: Timestamp,
        input: Input,
        next: &mut VecDeque<Next>,
    ) -> Result<(), Refusal> {
        let outcome = self.producer.handle(now, &mut self.ids, input);
        for output in outcome.outputs {
            match output {
                Output::Emit(event) => {
                    let told = event.extension.as_ref();
                    let told = told
                        .filter(|it| it.action.is_some())
                        .and_then(|it| it.outcome);
                    if let Some(ResolutionOutcome::Rejected) = told {
                        next.push_back(Next::GoOn(event.session_id.clone()));
                    }
                    let json = serde_json::to_string(&event).expect("an event can be written");
                    self.log.append(Told {
                        id: event.event_id.as_str().into(),
                        json: json.into(),
                    });
                }
                Output::Perform(call) => next.push_back(Next::Finish(call)),
                Output::Withdraw(withdrawn) => {
                    next.retain(|one| !matches!(one, Next::Finish(call) if *call == withdrawn));
                }
                Output::Answer(answer) => next.push_back(Next::GoOn(answer.session_id)),
                Output::Audit(audit) => self.audits.push(audit),
                // The response is the same for every message; the rest is not put out with these settings, without a restart.
                Output::Respond(_) | Output::Notify(_) | Output::InDoubt(_) => {}
            }
        }
        outcome.refused.map_or(Ok(()), Err)
    }
}
