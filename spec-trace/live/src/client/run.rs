//! One run: what is asked of the producer, and what it is seen to do.
//!
//! The one thing to know: whatever passes goes through [`Run::take`] and [`Run::reply`], which write the recording, the steps in
//! words and the log that the scripts and [`super::shown`] look at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Sender, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use countersign_reference::time::Timestamp;
use reqwest::Response;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout_at;

use super::wire::{Answer, Subscription, Trouble, Wire};
use crate::http::now;
use crate::recorder::line::{Answered, Passed};
use crate::recorder::sse::{Event, Events, Told};
use crate::recorder::{Heard, Stream, words};

/// How many events may come in one run.
const MOST_EVENTS: usize = 10_000;
/// How often a stream that breaks off is followed again.
const MOST_RETURNS: u32 = 3;
/// How long a fresh process may take until what it has said is heard here.
const HEARD_WITHIN: Duration = Duration::from_millis(30);

/// Something that is asked of the producer, and what is heard after it.
#[derive(Clone, Debug)]
pub struct Step {
    /// When, since the run began.
    pub at: Duration,
    /// In words.
    pub asked: String,
    /// The events, and what replies were answered with.
    pub heard: Vec<Value>,
}

/// Something that has passed.
pub(super) struct Entry {
    pub at: Instant,
    pub what: What,
}

/// What has passed.
pub(super) enum What {
    /// An event of a session of this run.
    Event(Value),
    /// A reply that was answered.
    Reply(Replied),
}

/// A reply that was sent.
pub(super) struct Replied {
    /// The token of the question that it means.
    pub token: String,
    /// What is wrong with it.
    pub fault: Option<Fault>,
    /// Whether it accepts.
    pub accepts: bool,
    /// Whether its sender is known for certain.
    pub is_known: bool,
    /// The status of HTTP that it was answered with.
    pub status: u16,
}

/// The check that a reply has to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Malformed,
    OtherKind,
    UnknownToken,
    Used,
    Late,
    NotOpen,
    NotAuthenticated,
    NotAllowed,
}

/// A question of a session of this run.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub session: String,
    pub token: String,
    pub event: Value,
    pub heard: Instant,
    /// The time that its event claims.
    pub sent: Timestamp,
    /// Whether a reply to it was sent that is to count, or it was left to its time.
    pub is_done: bool,
}

impl Question {
    pub fn is_confirmation(&self) -> bool {
        name(&self.event) == "awaiting.confirmation"
    }

    pub fn allows(&self, decision: &str) -> bool {
        let allowed = self.event["allowed_replies"].as_array();
        allowed.is_none_or(|allowed| allowed.iter().any(|it| it == decision))
    }

    pub fn timeout(&self) -> Option<Duration> {
        let seconds = self.event["timeout_seconds"].as_u64()?;
        (1..=86_400)
            .contains(&seconds)
            .then(|| Duration::from_secs(seconds))
    }

    /// The time by the clock of whoever asks.
    pub fn now(&self) -> Timestamp {
        self.plus(self.heard.elapsed())
    }

    /// So long after it was asked, by the same clock.
    pub fn plus(&self, time: Duration) -> Timestamp {
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.sent.millis().saturating_add(millis))
    }

    /// Whether a call that nobody has accepted would be told as that: another than an irreversible one needs no question.
    pub fn shows_its_call(&self) -> bool {
        self.event["irreversible"] == true
    }
}

/// The name of an event, behind `aaep:agent.`.
pub(super) fn name(event: &Value) -> &str {
    let kind = event["type"].as_str().unwrap_or_default();
    let uri = kind.strip_prefix("https://aaep-protocol.org/types/");
    let own = kind.strip_prefix("aaep:").or(uri).unwrap_or_default();
    own.strip_prefix("agent.").unwrap_or(own)
}

/// A reply that is to be sent.
pub(super) struct Reply<'a> {
    pub question: &'a Question,
    /// What of it is other than in a valid one.
    pub changes: Map<String, Value>,
    /// The words for what is wrong with it, and the check that it has to fail.
    pub fault: Option<(&'static str, Fault)>,
    /// Its bytes, where they are none of that.
    pub raw: Option<String>,
    pub is_authorized: bool,
    /// The subscription that it names: by its place.
    pub from: usize,
}

impl<'a> Reply<'a> {
    pub fn new(question: &'a Question, decision: &str) -> Self {
        let mut changes = Map::new();
        changes.insert("decision".to_owned(), decision.into());
        Self {
            question,
            changes,
            fault: None,
            raw: None,
            is_authorized: true,
            from: 0,
        }
    }

    pub fn but(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.changes.insert(name.to_owned(), value.into());
        self
    }

    pub fn wrong(mut self, words: &'static str, fault: Fault) -> Self {
        self.fault = Some((words, fault));
        self
    }
}

/// What comes over the streams.
enum Incoming {
    Event {
        at: Timestamp,
        when: Instant,
        stream: usize,
        told: Told,
    },
    TooLong,
    Ended {
        stream: usize,
        why: String,
    },
}

/// A stream that is followed.
struct Followed {
    subscription: Subscription,
    id: Option<String>,
    reader: JoinHandle<()>,
    heard: Stream,
    last_id: Option<String>,
    returns: u32,
}

/// A run that is under way.
pub(super) struct Run<'a> {
    pub wire: &'a Wire,
    pub max_wait: Duration,
    /// Whether nobody else can speak to the producer.
    is_alone: bool,
    /// Sessions that are none of this run.
    others: &'a mut BTreeSet<String>,
    begun: Instant,
    pub steps: Vec<Step>,
    pub step_of_line: Vec<usize>,
    recording: Sender<Passed>,
    recorded: Heard,
    /// The stream that has told each event first, by its id, and how often that stream had been followed again by then.
    first_told: BTreeMap<String, (usize, u32)>,
    sender: mpsc::Sender<Incoming>,
    incoming: mpsc::Receiver<Incoming>,
    streams: Vec<Followed>,
    pub log: Vec<Entry>,
    /// Each session, and whether it is over.
    pub sessions: BTreeMap<String, bool>,
    pub questions: Vec<Question>,
    /// Sessions that were asked for and have not shown themselves.
    awaited: usize,
    pub prompts: usize,
    /// The sessions of others have begun meanwhile, and no answer has named those of this run.
    pub doubt: Option<String>,
    pub trouble: Option<Trouble>,
    /// Which streams have told each question.
    pub told_by: BTreeMap<String, BTreeSet<usize>>,
}

impl<'a> Run<'a> {
    pub fn new(
        wire: &'a Wire,
        (max_wait, is_alone): (Duration, bool),
        others: &'a mut BTreeSet<String>,
        recording: Sender<Passed>,
    ) -> Self {
        let (sender, incoming) = mpsc::channel(1_024);
        Self {
            wire,
            max_wait,
            is_alone,
            others,
            begun: Instant::now(),
            steps: Vec::new(),
            step_of_line: Vec::new(),
            recording,
            recorded: Heard::default(),
            first_told: BTreeMap::new(),
            sender,
            incoming,
            streams: Vec::new(),
            log: Vec::new(),
            sessions: BTreeMap::new(),
            questions: Vec::new(),
            awaited: 0,
            prompts: 0,
            doubt: None,
            trouble: None,
            told_by: BTreeMap::new(),
        }
    }

    pub fn step(&mut self, asked: impl Into<String>) {
        self.steps.push(Step {
            at: self.begun.elapsed(),
            asked: asked.into(),
            heard: Vec::new(),
        });
    }

    /// Opens a subscription and follows it.
    pub async fn subscribe(&mut self) -> Result<(), Trouble> {
        self.step("subscribe");
        let subscription = self.wire.subscribe().await?;
        let number = self.streams.len();
        let (response, id) = self.wire.follow(&subscription, None).await?;
        let reader = tokio::spawn(read(response, number, self.sender.clone()));
        self.streams.push(Followed {
            subscription,
            id,
            reader,
            heard: Stream::default(),
            last_id: None,
            returns: 0,
        });
        Ok(())
    }

    /// How many streams are followed.
    pub fn followers(&self) -> usize {
        self.streams.len()
    }

    /// The subscription of a stream, where the producer has named it.
    pub fn subscription(&self, number: usize) -> Option<&str> {
        self.streams.get(number)?.id.as_deref()
    }

    /// Whether a stream could go on where it was left: it has told events with ids.
    pub fn can_come_back(&self, number: usize) -> bool {
        let stream = self.streams.get(number);
        stream.is_some_and(|it| it.last_id.is_some()) && self.wire.keeps_subscriptions()
    }

    /// Stops following a stream.
    pub fn break_off(&mut self, number: usize) {
        self.step(format!("subscriber {} breaks off", number + 1));
        if let Some(stream) = self.streams.get(number) {
            stream.reader.abort();
        }
    }

    /// Follows a stream again, behind the last event that it has told.
    pub async fn come_back(&mut self, number: usize) -> Result<(), Trouble> {
        self.step(format!("subscriber {} comes back", number + 1));
        self.follow_again(number).await
    }

    async fn follow_again(&mut self, number: usize) -> Result<(), Trouble> {
        let Some(stream) = self.streams.get_mut(number) else {
            return Ok(());
        };
        let last = stream.last_id.as_deref();
        let (response, id) = self.wire.follow(&stream.subscription, last).await?;
        stream.id = id;
        stream.returns += 1;
        stream.heard = Stream::default();
        stream.reader = tokio::spawn(read(response, number, self.sender.clone()));
        Ok(())
    }

    /// Closes the subscription of a stream for good: whether the producer has answered so.
    pub async fn close(&mut self, number: usize) -> bool {
        let Some(stream) = self.streams.get(number) else {
            return false;
        };
        stream.reader.abort();
        let subscription = stream.subscription.clone();
        self.step(format!("subscriber {} closes its subscription", number + 1));
        self.wire.unsubscribe(&subscription).await
    }

    /// Starts a session.
    pub async fn prompt(&mut self, prompt: &str) -> Result<(), Trouble> {
        self.step(format!("prompt {prompt:?}"));
        let session = self.wire.prompt(prompt).await?;
        self.prompts += 1;
        match session {
            Some(session) => drop(self.sessions.entry(session).or_insert(false)),
            None => self.awaited += 1,
        }
        Ok(())
    }

    /// Takes what comes, until then or until something has come: whether it has.
    async fn next(&mut self, until: Instant) -> bool {
        if self.trouble.is_some() {
            return false;
        }
        let incoming = timeout_at(until.into(), self.incoming.recv()).await;
        let Ok(Some(incoming)) = incoming else {
            return false;
        };
        match incoming {
            Incoming::Event {
                at,
                when,
                stream,
                told,
            } => self.take(at, when, stream, told),
            Incoming::TooLong => self.fail("an event of more than 16 MiB came"),
            Incoming::Ended { stream, why } => self.ended(stream, &why).await,
        }
        self.trouble.is_none()
    }

    /// Takes what comes for so long.
    pub async fn watch(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.next(until).await {}
    }

    /// Takes what comes until that holds: whether it does, at most so long after.
    pub async fn until(&mut self, time: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        let until = Instant::now() + time;
        loop {
            if holds(self) {
                return true;
            }
            if !self.next(until).await {
                return holds(self);
            }
        }
    }

    fn fail(&mut self, trouble: impl Into<String>) {
        self.trouble.get_or_insert_with(|| Trouble(trouble.into()));
    }

    /// A stream that ends is followed again, as subscribers do.
    async fn ended(&mut self, number: usize, why: &str) {
        let Some(stream) = self.streams.get_mut(number) else {
            return;
        };
        if self.sessions.values().all(|over| *over) && self.awaited == 0 && self.prompts > 0 {
            return;
        }
        if stream.returns >= MOST_RETURNS {
            return self.fail(format!(
                "the stream of events breaks off again and again: {why}"
            ));
        }
        self.step(format!(
            "the stream of subscriber {} ends: {why}; it comes back",
            number + 1
        ));
        if let Err(trouble) = self.follow_again(number).await {
            self.fail(format!(
                "the stream of events broke off: {why}; then {trouble}"
            ));
        }
    }

    /// Takes an event in.
    fn take(&mut self, at: Timestamp, when: Instant, number: usize, told: Told) {
        // What has another name in the stream is no event of the protocol.
        if !matches!(told.name.as_slice(), b"" | b"message" | b"aaep.event") {
            return;
        }
        let Some(stream) = self.streams.get_mut(number) else {
            return;
        };
        if !told.id.is_empty() {
            stream.last_id = Some(String::from_utf8_lossy(&told.id).into_owned());
        }
        let event: Value = serde_json::from_slice(&told.data).unwrap_or_default();
        let session = event["session_id"].as_str().unwrap_or_default().to_owned();
        if !self.is_of_this_run(&session, &event) {
            return;
        }
        if let Some(token) = event["reply_token"].as_str() {
            let told_by = self.told_by.entry(token.to_owned()).or_default();
            told_by.insert(number);
        }
        let Some(stream) = self.streams.get_mut(number) else {
            return;
        };
        let teller = (number, stream.returns);
        let id = event["event_id"].as_str();
        let first = id.map(|id| *self.first_told.entry(id.to_owned()).or_insert(teller));
        // What several were told is one event, and so is what comes again to one that has come back.
        if first.is_some_and(|first| first != teller)
            || !self.recorded.is_new(&mut stream.heard, &told.data)
        {
            return;
        }
        let subscription_id = stream.id.clone();
        let stream = u64::try_from(number).unwrap_or(u64::MAX).saturating_add(1);
        self.record(Passed::Event {
            at,
            data: told.data,
            stream,
            subscription_id,
        });
        self.note(at, when, &session, event);
    }

    fn note(&mut self, at: Timestamp, when: Instant, session: &str, event: Value) {
        if let Some(step) = self.steps.last_mut() {
            step.heard.push(event.clone());
        }
        if self.log.len() >= MOST_EVENTS {
            self.fail(format!("more than {MOST_EVENTS} events came in one run"));
        }
        match name(&event) {
            "session.completed" | "session.errored" | "session.cancelled" => {
                self.sessions.insert(session.to_owned(), true);
            }
            "awaiting.confirmation" | "awaiting.clarification" => {
                let sent = event["timestamp"].as_str().unwrap_or_default();
                if let Some(token) = event["reply_token"].as_str() {
                    self.questions.push(Question {
                        session: session.to_owned(),
                        token: token.to_owned(),
                        heard: when,
                        sent: Timestamp::parse(sent).unwrap_or(at),
                        is_done: false,
                        event: event.clone(),
                    });
                }
            }
            _ => {}
        }
        let what = What::Event(event);
        self.log.push(Entry { at: when, what });
    }

    /// Whether an event belongs to this run. What names no session is the producer's own.
    fn is_of_this_run(&mut self, session: &str, event: &Value) -> bool {
        if session.is_empty() || self.sessions.contains_key(session) {
            return true;
        }
        if self.others.contains(session) {
            return false;
        }
        let is_start = name(event) == "session.started";
        if self.awaited > 0 && (is_start || self.is_alone) {
            self.awaited -= 1;
            self.sessions.insert(session.to_owned(), false);
            return true;
        }
        if is_start && self.prompts > 0 && !self.sessions.is_empty() {
            // By which of them the prompt was answered does not show, unless the answer has said it.
            self.doubt = Some(format!("another session has begun meanwhile: {session}"));
        }
        self.others.insert(session.to_owned());
        false
    }

    fn record(&mut self, passed: Passed) {
        self.step_of_line.push(self.steps.len().saturating_sub(1));
        // Where it cannot be written any more, the run has ended.
        let _ended = self.recording.send(passed);
    }

    /// Waits for a question that nothing was done about, or until all sessions are over.
    pub async fn question(&mut self) -> Option<Question> {
        let open = |run: &Self| run.questions.iter().position(|it| !it.is_done);
        let is_found = |run: &Self| open(run).is_some() || run.is_over();
        self.until(self.max_wait, is_found).await;
        let place = open(self)?;
        self.questions[place].is_done = true;
        Some(self.questions[place].clone())
    }

    /// Whether all sessions that were asked for are over.
    pub fn is_over(&self) -> bool {
        self.prompts > 0 && self.awaited == 0 && self.sessions.values().all(|over| *over)
    }

    /// Sends a reply, and waits for the answer.
    pub async fn reply(&mut self, reply: Reply<'_>) -> Result<(), Trouble> {
        let (message, replied, words) = self.prepare(&reply).await;
        self.step(words);
        let told = self.enter(&message, &reply);
        let answer = self.wire.reply(message, reply.is_authorized).await?;
        self.answered(replied, answer, &told);
        Ok(())
    }

    /// Sends two replies at once, and waits for both answers.
    pub async fn reply_at_once(&mut self, replies: [Reply<'_>; 2]) -> Result<(), Trouble> {
        let [one, two] = replies;
        let (message, replied, words) = self.prepare(&one).await;
        let (other, replied_too, other_words) = self.prepare(&two).await;
        self.step(format!("{words}, and at once {other_words}"));
        let told = self.enter(&message, &one);
        let told_too = self.enter(&other, &two);
        let both = tokio::join!(
            self.wire.reply(message, one.is_authorized),
            self.wire.reply(other, two.is_authorized)
        );
        self.answered(replied, both.0?, &told);
        self.answered(replied_too, both.1?, &told_too);
        Ok(())
    }

    /// The bytes of a reply, what is kept of it, and the words for it.
    async fn prepare(&mut self, reply: &Reply<'_>) -> (Vec<u8>, Replied, String) {
        // What has come stands before it.
        self.watch(HEARD_WITHIN).await;
        let Reply {
            question,
            changes,
            fault,
            raw,
            ..
        } = reply;
        let named = self.subscription(reply.from).map(str::to_owned);
        let is_confirmation = question.is_confirmation();
        let kind = if is_confirmation {
            "confirmation.reply"
        } else {
            "clarification.reply"
        };
        let mut message = json!({
            "type": kind, "reply_token": question.token,
            "subscription_id": named.clone().unwrap_or_else(|| "sub_countersign".to_owned()),
            "timestamp": question.now().to_string(),
        });
        for (name, value) in changes {
            if value.is_null() {
                message.as_object_mut().and_then(|it| it.remove(name));
            } else {
                message[name] = value.clone();
            }
        }
        let decision = changes.get("response").or(changes.get("decision"));
        let decision = match decision {
            Some(Value::String(word)) => word.clone(),
            Some(other) => other.to_string(),
            None => "a reply".to_owned(),
        };
        let about = question.event["action"].as_str();
        let about = about
            .or(question.event["question"].as_str())
            .unwrap_or_default();
        let from = match self.followers() {
            1 => String::new(),
            _ => format!("subscriber {}: ", reply.from + 1),
        };
        let wrong = fault.map_or_else(String::new, |(words, _)| format!(", {words}"));
        let replied = Replied {
            token: question.token.clone(),
            fault: fault.map(|(_, fault)| fault),
            accepts: decision != "reject",
            is_known: named.is_some(),
            status: 0,
        };
        let bytes = raw.clone().unwrap_or_else(|| message.to_string());
        let words = format!("{from}{decision} {about:?}{wrong}");
        (bytes.into_bytes(), replied, words)
    }

    /// Records a reply; where its answer goes.
    fn enter(&mut self, message: &[u8], reply: &Reply<'_>) -> SyncSender<Answered> {
        let (told, answer) = sync_channel(1);
        let sender = match reply.fault {
            Some((_, Fault::NotOpen | Fault::NotAuthenticated)) => "stranger",
            Some(_) | None if self.subscription(reply.from).is_none() => "untold",
            Some(_) | None => "known",
        };
        self.record(Passed::Message {
            at: now(),
            body: message.to_vec(),
            has_authorization: self.wire.has_token() && reply.is_authorized,
            sender: Some(sender),
            answer,
        });
        told
    }

    fn answered(&mut self, replied: Replied, answer: Answer, told: &SyncSender<Answered>) {
        let status = answer.status.as_u16();
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        if let Some(step) = self.steps.last_mut() {
            let body = if body.is_empty() {
                Value::Null
            } else {
                body.into()
            };
            step.heard.push(json!({"status": status, "body": body}));
        }
        // The line may not have waited so long.
        let _late = told.try_send(Answered {
            status,
            body: Some(answer.body),
        });
        let what = What::Reply(Replied { status, ..replied });
        self.log.push(Entry {
            at: Instant::now(),
            what,
        });
    }

    /// Ends it: nothing is followed any more, and what was subscribed is given back.
    pub async fn end(&mut self) {
        for stream in &self.streams {
            stream.reader.abort();
            let _closed = self.wire.unsubscribe(&stream.subscription).await;
        }
        self.others.extend(self.sessions.keys().cloned());
    }
}

/// Reads a stream until it ends or nobody takes what it tells.
async fn read(mut response: Response, stream: usize, to: mpsc::Sender<Incoming>) {
    let mut events = Events::default();
    loop {
        let bytes = match response.chunk().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let why = "it has an end".to_owned();
                return drop(to.send(Incoming::Ended { stream, why }).await);
            }
            Err(error) => {
                let why = words(&error);
                return drop(to.send(Incoming::Ended { stream, why }).await);
            }
        };
        let (at, when) = (now(), Instant::now());
        let mut heard = Vec::new();
        events.read(&bytes, |event| heard.push(event));
        for event in heard {
            let incoming = match event {
                Event::TooLong => Incoming::TooLong,
                Event::Told(told) => Incoming::Event {
                    at,
                    when,
                    stream,
                    told,
                },
            };
            if to.send(incoming).await.is_err() {
                return;
            }
        }
        // It may never end.
        if events.is_too_long() {
            return drop(to.send(Incoming::TooLong).await);
        }
    }
}
