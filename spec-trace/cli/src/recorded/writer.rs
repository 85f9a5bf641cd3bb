//! From the requests and responses of one producer to the records of a recording.

use std::collections::BTreeSet;

use countersign_lint::stream::Settings;
use countersign_model::wire::time;
use countersign_protocol::aaep::{self as own, Aaep as Driver, Deliver};
use countersign_protocol::{Op, Output};
use serde_json::{Value, json};

/// Which replies a recording holds, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// Each before what came of it.
    First,
    /// Each behind what came of it: its answer was awaited before it was written down.
    Last,
    /// None.
    Unrecorded,
}

/// What a recorder writes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
pub struct Recorder {
    /// What it sees of the replies.
    pub replies: Replies,
    /// Whether a head says so: that all are there, and in which order. Else the first reply shows that there are replies.
    pub head: bool,
    /// Whether it knows the sender of each reply.
    pub senders: bool,
    /// Whether it sees what the transport answered.
    pub statuses: bool,
    /// Whether questions and calls share a `tool_call_id`. Else the order of events ties them.
    pub ids: bool,
    /// Whether an event says what became of its question.
    pub outcomes: bool,
}

impl Recorder {
    /// It sees everything.
    pub const FULL: Self = Self {
        replies: Replies::First,
        head: true,
        senders: true,
        statuses: false,
        ids: true,
        outcomes: true,
    };

    /// It sees no replies.
    pub const EVENTS_ALONE: Self = Self {
        replies: Replies::Unrecorded,
        head: false,
        ..Self::FULL
    };

    /// Recorders that differ in all that they can differ in.
    pub const ALL: [Self; 5] = [
        Self::FULL,
        Self::EVENTS_ALONE,
        Self {
            head: false,
            statuses: true,
            ..Self::FULL
        },
        Self {
            replies: Replies::Last,
            senders: false,
            statuses: true,
            ids: false,
            outcomes: false,
            ..Self::FULL
        },
        Self {
            ids: false,
            outcomes: false,
            ..Self::EVENTS_ALONE
        },
    ];

    /// What may be assumed of its recordings.
    pub fn settings(self) -> Settings {
        Settings {
            unknown_senders: !self.senders,
            unsaid_withdrawals: !self.outcomes,
            ..Settings::CAUTIOUS
        }
    }
}

/// Writes a run down, request by request.
#[derive(Clone, Debug)]
pub struct Writer {
    recorder: Recorder,
    /// The subscriptions that are open.
    open: BTreeSet<String>,
}

impl Writer {
    /// Before the first request, with the head, if it writes one.
    pub fn new(recorder: Recorder) -> (Self, Option<String>) {
        let mut head = json!({"type": "countersign.recording", "replies": "all"});
        if recorder.replies == Replies::First {
            head["order"] = json!("receipt");
        }
        let writer = Self {
            recorder,
            open: BTreeSet::new(),
        };
        (writer, recorder.head.then(|| head.to_string()))
    }

    /// The records of a request at that time, and of the outputs that were carried out, in order.
    pub fn records(&mut self, at: i64, op: &Op<Driver>, outputs: &[Output<Driver>]) -> Vec<String> {
        let at = time::write(at);
        let events = outputs.iter().filter_map(|it| self.event(it));
        let mut records: Vec<_> = events
            .map(|it| json!({"dir": "out", "at": at, "message": it}).to_string())
            .collect();
        match op {
            Op::Own(own::Op::Subscribe {
                subscription_id, ..
            }) => _ = self.open.insert(subscription_id.clone()),
            Op::Own(own::Op::Unsubscribe { subscription_id }) => {
                self.open.remove(subscription_id);
            }
            Op::Own(own::Op::Deliver(it)) => {
                let reply = self.reply(&at, it, outputs).to_string();
                match self.recorder.replies {
                    Replies::First => records.insert(0, reply),
                    Replies::Last => records.push(reply),
                    Replies::Unrecorded => {}
                }
            }
            Op::Own(_) | Op::Common(_) => {}
        }
        records
    }

    fn event(&self, output: &Output<Driver>) -> Option<Value> {
        let own::Output::Emit(event) = &output.what else {
            return None;
        };
        let mut event: Value = serde_json::from_str(event.as_str()).ok()?;
        if let (Some(members), false) = (event.as_object_mut(), self.recorder.ids) {
            members.retain(|name, _| !["tool_call_id", "extra_context"].contains(&name.as_str()));
        }
        Some(event)
    }

    /// A message as it arrived, and what its transport answered.
    fn reply(&self, at: &str, delivered: &Deliver, outputs: &[Output<Driver>]) -> Value {
        let text = String::from_utf8_lossy(&delivered.message);
        let message = countersign_lint::json::parse(&text).ok();
        let sender = delivered.sender.subscription_id.as_deref();
        let named = message
            .as_ref()
            .map_or(&Value::Null, |it| &it["subscription_id"]);
        let is_known = delivered.sender.authenticated
            && sender.is_some_and(|it| self.open.contains(it))
            && (named.is_null() || named.as_str() == sender);
        let message = message.unwrap_or_else(|| json!({"_raw": text}));
        let mut record = json!({"dir": "in", "at": at, "message": message});
        if self.recorder.senders {
            record["sender"] = json!(if is_known { "known" } else { "stranger" });
        }
        let status = outputs.iter().rev().find_map(|it| {
            if let own::Output::Respond(it) = &it.what {
                Some(it.status)
            } else {
                None
            }
        });
        if let (Some(status), true) = (status, self.recorder.statuses) {
            record["http_status"] = json!(status);
        }
        record
    }
}
