//! The host: the producer, the agent and the log, one call at a time.
//!
//! The one thing to know: what the producer puts out is carried out in order and at once, and what the agent then does is part of
//! the same call. So between two calls nothing is under way but questions. A host that is kept writes each call down before it
//! shows anything of it. A tool that did something would have to run behind that, and its end be a call of its own; these do nothing.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

use countersign_reference::aaep::{
    Audit, Capabilities, Input, Output, Producer, Refusal, ResolutionOutcome, Sender, SessionId,
    SessionOutcome, Settings, SubscriptionId, ToolCall, ToolStatus,
};
use countersign_reference::ids::IdSource;
use countersign_reference::time::{Deadline, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Task;
use crate::kept::{Call, Folder, Journal, OpenError, Record, checksum};
use crate::log::{Following, Log, Told};

/// How many sessions may be under way, and how many subscriptions open. The producer remembers those that have ended by
/// their ids, questions and states alone, and for ever: no id may come again.
pub const MOST: usize = 10_000;

/// A producer at work.
#[derive(Debug)]
pub struct Host<Ids> {
    state: State,
    ids: Noted<Ids>,
    /// The events of this call, which nobody has seen.
    staged: Vec<Told>,
    /// Whether this call has done anything.
    has_changed: bool,
    /// What only the operator sees, until it is taken.
    audits: Vec<Audit>,
    journal: Option<Journal>,
    failure: Option<io::Error>,
}

/// All that lasts.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    producer: Producer,
    timeout_seconds: u64,
    /// What is left to do in each session that is under way.
    scripts: BTreeMap<SessionId, VecDeque<Task>>,
    subscriptions: BTreeMap<SubscriptionId, Subscription>,
    log: Log,
}

/// One that is open.
#[derive(Debug, Serialize, Deserialize)]
struct Subscription {
    /// How many events there were before it.
    before: u64,
    /// Whether it closes with the connection that it was opened by.
    closes: bool,
}

/// Ids, and which were drawn in this call.
#[derive(Debug)]
struct Noted<Ids> {
    source: Ids,
    /// What a record says that was drawn, to be drawn again.
    again: VecDeque<u128>,
    drawn: Vec<u128>,
}

impl<Ids: IdSource> IdSource for Noted<Ids> {
    fn next_bits(&mut self) -> u128 {
        let again = self.again.pop_front();
        let bits = again.unwrap_or_else(|| self.source.next_bits());
        self.drawn.push(bits);
        bits
    }
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
        Self::of(
            State {
                producer: Producer::new(settings),
                timeout_seconds,
                scripts: BTreeMap::new(),
                subscriptions: BTreeMap::new(),
                log: Log::default(),
            },
            ids,
        )
    }

    /// A host that goes on with what the folder at `path` holds, or to which nothing has happened where it is empty or not there.
    /// Questions that are asked from now on wait for `timeout_seconds`. Also how many bytes at the end of the journal were no
    /// whole record: of a call of which nothing was shown.
    ///
    /// # Errors
    ///
    /// [`OpenError`]. Then all is as it was.
    pub fn open(
        path: &Path,
        settings: Settings,
        ids: Ids,
        timeout_seconds: u64,
    ) -> Result<(Self, usize), OpenError> {
        let folder = Folder::open(path)?;
        let mut torn = 0;
        let mut host = match folder.read::<State>()? {
            None => Self::new(settings, ids, timeout_seconds),
            Some(found) if *found.state.producer.settings() != settings => {
                return Err(folder.other_settings());
            }
            Some(found) => {
                torn = found.torn;
                let mut host = Self::of(found.state, ids);
                for (line, record) in (3..).zip(found.records) {
                    if !host.plays(record) {
                        let because = "has another outcome: another version has written it";
                        return Err(folder.damaged(line, because));
                    }
                }
                host.audits.clear();
                host
            }
        };
        host.state.timeout_seconds = timeout_seconds;
        host.journal = Some(folder.begin(&host.state)?);
        Ok((host, torn))
    }

    fn of(state: State, source: Ids) -> Self {
        Self {
            state,
            ids: Noted {
                source,
                again: VecDeque::new(),
                drawn: Vec::new(),
            },
            staged: Vec::new(),
            has_changed: false,
            audits: Vec::new(),
            journal: None,
            failure: None,
        }
    }

    /// Makes a call again. Whether the outcome is what it was.
    fn plays(&mut self, record: Record) -> bool {
        let Record {
            at,
            call,
            drawn,
            told,
        } = record;
        self.ids.again = drawn.clone().into();
        match call {
            Call::Start(prompt) => drop(self.begin(at, &prompt)),
            Call::Subscribe { can_reply, closes } => drop(self.enter(at, can_reply, closes)),
            Call::Unsubscribe(id) => self.leave(at, &id),
            Call::Deliver {
                authenticated,
                message,
            } => {
                let bytes = message.chars().map(|it| u8::try_from(it).unwrap_or(b'?'));
                self.receive(at, authenticated, bytes.collect());
            }
            Call::Tick => self.settle(at),
        }
        let is_same = self.ids.drawn == drawn && self.checksum() == told;
        self.show();
        is_same
    }

    /// Starts a session with a prompt.
    ///
    /// # Errors
    ///
    /// [`NotBegun`], and then there is no session.
    pub fn start(&mut self, now: Timestamp, prompt: &str) -> Result<SessionId, NotBegun> {
        let begun = self.begin(now, prompt);
        self.keep(now, || Call::Start(prompt.to_owned()));
        begun
    }

    fn begin(&mut self, now: Timestamp, prompt: &str) -> Result<SessionId, NotBegun> {
        self.settle(now);
        if self.state.scripts.len() >= MOST {
            return Err(NotBegun::TooMany);
        }
        let session_id = SessionId::from_bits(self.ids.next_bits());
        let started = Input::StartSession {
            session_id: Some(session_id.clone()),
        };
        self.happens(now, started).map_err(NotBegun::Refused)?;
        let tasks = Task::named_in(prompt);
        self.state.scripts.insert(session_id.clone(), tasks);
        self.work(now, VecDeque::from([Next::GoOn(session_id.clone())]));
        Ok(session_id)
    }

    /// Opens a subscription. `closes`: it closes with the connection that it was opened by.
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
        closes: bool,
    ) -> Result<SubscriptionId, NotBegun> {
        let can_reply = capabilities.supports_confirmation_reply;
        let entered = self.enter(now, can_reply, closes);
        self.keep(now, || Call::Subscribe { can_reply, closes });
        entered
    }

    fn enter(
        &mut self,
        now: Timestamp,
        supports_confirmation_reply: bool,
        closes: bool,
    ) -> Result<SubscriptionId, NotBegun> {
        if self.state.subscriptions.len() >= MOST {
            return Err(NotBegun::TooMany);
        }
        let text = format!("sub_{:032x}", self.ids.next_bits());
        let subscription_id = SubscriptionId::parse(&text).expect("digits follow the prefix");
        let opened = Input::Subscribe {
            subscription_id: subscription_id.clone(),
            capabilities: Capabilities {
                supports_confirmation_reply,
            },
        };
        self.happens(now, opened).map_err(NotBegun::Refused)?;
        let before = self.state.log.count() + self.staged.len() as u64;
        let subscription = Subscription { before, closes };
        let id = subscription_id.clone();
        self.state.subscriptions.insert(id, subscription);
        Ok(subscription_id)
    }

    /// Closes a subscription. Whether it was open.
    pub fn unsubscribe(&mut self, now: Timestamp, subscription_id: &SubscriptionId) -> bool {
        let was_open = self.state.subscriptions.contains_key(subscription_id);
        if was_open {
            self.leave(now, subscription_id);
            self.has_changed = true;
            self.keep(now, || Call::Unsubscribe(subscription_id.clone()));
        }
        was_open
    }

    fn leave(&mut self, now: Timestamp, subscription_id: &SubscriptionId) {
        self.state.subscriptions.remove(subscription_id);
        let closed = Input::Unsubscribe {
            subscription_id: subscription_id.clone(),
        };
        let left = self.happens(now, closed);
        debug_assert!(left.is_ok(), "it is open");
    }

    /// A message arrives. HTTP has no connection that belongs to a subscription, so the sender is taken to be the subscription
    /// that the message names; whether that is open is for the producer (AAEP-6.3.4-5). Who may send is what the token says.
    pub fn deliver(&mut self, now: Timestamp, authenticated: bool, message: &[u8]) {
        self.receive(now, authenticated, message.to_vec());
        self.keep(now, || Call::Deliver {
            authenticated,
            message: message.iter().map(|byte| char::from(*byte)).collect(),
        });
    }

    fn receive(&mut self, now: Timestamp, authenticated: bool, message: Vec<u8>) {
        let read: Option<Value> = serde_json::from_slice(&message).ok();
        let named = read.as_ref().and_then(|it| it["subscription_id"].as_str());
        let named = named.and_then(|text| SubscriptionId::parse(text).ok());
        let sender = Sender {
            subscription_id: named,
            authenticated,
        };
        let delivered = self.happens(now, Input::Deliver { sender, message });
        debug_assert!(delivered.is_ok(), "a message is never an error of the host");
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Timestamp) {
        self.settle(now);
        self.keep(now, || Call::Tick);
    }

    fn settle(&mut self, now: Timestamp) {
        let ticked = self.happens(now, Input::Tick);
        debug_assert!(ticked.is_ok(), "time is never an error of the host");
    }

    /// Writes the call down, and then shows its events. A message or a moment of which nothing came leaves all as it was.
    fn keep(&mut self, at: Timestamp, call: impl FnOnce() -> Call) {
        let has_changed = self.has_changed || !self.ids.drawn.is_empty();
        let told = self.checksum();
        if let Some(journal) = self.journal.as_mut().filter(|_| has_changed) {
            let record = Record {
                at,
                call: call(),
                drawn: std::mem::take(&mut self.ids.drawn),
                told,
            };
            if self.failure.is_none() {
                self.failure = journal.append(&record).err();
            }
        }
        self.show();
    }

    /// Nothing, where it was not kept.
    fn show(&mut self) {
        self.ids.drawn.clear();
        self.has_changed = false;
        for told in self.staged.drain(..) {
            if self.failure.is_none() {
                self.state.log.append(told);
            }
        }
    }

    fn checksum(&self) -> u64 {
        checksum(self.staged.iter().flat_map(|it| it.json.bytes()))
    }

    /// Why something could not be written down. From then on nothing is shown, and the host is to be let go.
    pub fn failure(&mut self) -> &mut Option<io::Error> {
        &mut self.failure
    }

    /// The open subscriptions that were to close with a connection.
    pub fn closing(&self) -> impl Iterator<Item = &SubscriptionId> {
        let all = self.state.subscriptions.iter();
        all.filter_map(|(id, it)| it.closes.then_some(id))
    }

    /// When [`Host::tick`] is to be called, if nothing else happens before.
    pub fn next_deadline(&self) -> Option<Deadline> {
        self.state.producer.next_deadline()
    }

    /// The events of an open subscription: those since it was opened, or since the event that is named. Nothing if it is not open.
    pub fn follow(&self, of: &SubscriptionId, last_event_id: Option<&str>) -> Option<Following> {
        let before = self.state.subscriptions.get(of)?.before;
        Some(self.state.log.follow(last_event_id, before))
    }

    /// What only the operator sees, and was not taken yet.
    pub fn take_audits(&mut self) -> Vec<Audit> {
        std::mem::take(&mut self.audits)
    }

    /// How many sessions are under way.
    pub fn under_way(&self) -> usize {
        self.state.scripts.len()
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
        let script = self.state.scripts.get_mut(&session_id);
        let task = script.and_then(VecDeque::pop_front);
        let (input, is_over) = if let Some(task) = task {
            let is_over = matches!(task, Task::Say | Task::Handoff);
            (
                task.input(session_id.clone(), self.state.timeout_seconds),
                is_over,
            )
        } else {
            self.state.scripts.remove(&session_id);
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
        let outcome = self.state.producer.handle(now, &mut self.ids, input);
        for output in outcome.outputs {
            self.has_changed |= !matches!(output, Output::Audit(_));
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
                    self.staged.push(Told {
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
