//! A host as small as one can be: it carries out what comes out, one thing at a time, and keeps what lasts.
//!
//! The one thing to know: it knows nothing of any product, and nothing of the protocol but what the outputs say. What
//! is only in memory dies with [`Host::crashes`].

use std::collections::{BTreeMap, VecDeque};

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    ActionId, Append, Audit, Event, EventId, Input, Ledger, Message, MessageId, Output, Record,
    Settings, Snapshot, Text, ToolCall, ToolStatus,
};
use countersign_reference::time::Timestamp;

use crate::pending_action::stage::START;

pub struct Host {
    // In memory.
    pub ledger: Ledger,
    pub outbox: VecDeque<Output>,
    /// Calls that were released and have not begun.
    pub ready: VecDeque<ToolCall>,
    /// Tools that run.
    pub running: Vec<ActionId>,
    /// Calls that were taken back before they began, to be finished as not run.
    pub dropped: Vec<ActionId>,
    /// Calls that came out of a restart, and may have begun before it.
    pub repeated: Vec<ActionId>,
    // What lasts.
    pub journal: Vec<Record>,
    pub carried: u64,
    /// In the order in which they were first appended.
    pub transcript: Vec<Append>,
    pub events: Vec<Event>,
    // What a test wants to know.
    pub settings: Settings,
    pub ids: SequentialIds,
    pub now: i64,
    pub runs: Vec<ToolCall>,
    pub audits: Vec<Audit>,
    /// What the last restart has reported.
    pub in_doubt: Vec<ActionId>,
    /// Everything that came out, in order.
    pub came_out: Vec<Output>,
}

impl Host {
    pub fn new(settings: Settings) -> Self {
        Self {
            ledger: Ledger::new(settings),
            outbox: VecDeque::new(),
            ready: VecDeque::new(),
            running: Vec::new(),
            dropped: Vec::new(),
            repeated: Vec::new(),
            journal: Vec::new(),
            carried: 0,
            transcript: Vec::new(),
            events: Vec::new(),
            settings,
            ids: SequentialIds::new(),
            now: START,
            runs: Vec::new(),
            audits: Vec::new(),
            in_doubt: Vec::new(),
            came_out: Vec::new(),
        }
    }

    /// Lets something happen to the ledger; whether it was refused.
    pub fn happens(&mut self, input: Input) -> bool {
        let now = Timestamp::from_millis(self.now);
        let outcome = self.ledger.handle(now, &mut self.ids, input);
        self.came_out.extend(outcome.outputs.iter().cloned());
        self.outbox.extend(outcome.outputs);
        outcome.refused.is_some()
    }

    /// Carries out the next output, and says how far it has come once there is none.
    pub fn carries_out_one(&mut self) {
        match self.outbox.pop_front() {
            Some(Output::Record(record)) => self.journal.push(record),
            Some(Output::Append(append)) => self.append(append),
            Some(Output::Event(event)) => self.tell(event),
            Some(Output::Perform(call)) => self.ready.push_back(call),
            Some(Output::Withdraw(named)) => {
                let before = self.ready.len();
                self.ready.retain(|call| call.action_id != named.action_id);
                if self.ready.len() == before {
                    // Too late: it runs, and will come back.
                } else if self.repeated.contains(&named.action_id) {
                    self.in_doubt.push(named.action_id);
                } else {
                    self.dropped.push(named.action_id);
                }
            }
            Some(Output::InDoubt(named)) => self.in_doubt.push(named.action_id),
            Some(Output::Audit(audit)) => self.audits.push(audit),
            None => {
                self.carried = self.ledger.recorded();
                self.ledger.carried(self.carried);
            }
        }
    }

    /// Carries out all that was put out, and begins nothing of what was released.
    pub fn carries_out_all(&mut self) {
        while !self.outbox.is_empty() {
            self.carries_out_one();
        }
    }

    /// Carries out everything, begins and ends every tool.
    pub fn comes_to_rest(&mut self) {
        while !(self.outbox.is_empty() && self.ready.is_empty() && self.is_idle()) {
            self.carries_out_one();
            self.begins_one();
            self.finishes_one(ToolStatus::Success);
        }
        self.carries_out_one();
    }

    fn is_idle(&self) -> bool {
        self.running.is_empty() && self.dropped.is_empty()
    }

    /// The next tool that was released begins.
    pub fn begins_one(&mut self) {
        if let Some(call) = self.ready.pop_front() {
            self.running.push(call.action_id);
            self.runs.push(call);
        }
    }

    /// A tool comes back, or is said not to have begun.
    pub fn finishes_one(&mut self, status: ToolStatus) {
        let finished = match (self.dropped.pop(), self.running.pop()) {
            (Some(dropped), running) => {
                self.running.extend(running);
                Some((dropped, ToolStatus::NotRun))
            }
            (None, running) => running.map(|action_id| (action_id, status)),
        };
        if let Some((action_id, status)) = finished {
            let refused = self.happens(Input::FinishTool {
                action_id: action_id.into(),
                status,
                result: Text::new("done"),
            });
            assert!(!refused, "what was released comes back once");
        }
    }

    /// The operator finds out what became of everything that is in doubt.
    pub fn clears_doubts(&mut self) {
        for action_id in std::mem::take(&mut self.in_doubt) {
            let ran = self.runs.iter().any(|call| call.action_id == action_id);
            let status = if ran {
                ToolStatus::Success
            } else {
                ToolStatus::NotRun
            };
            self.happens(Input::FinishTool {
                action_id: action_id.into(),
                status,
                result: Text::default(),
            });
        }
    }

    /// The process dies and comes back with what lasts, and with an old snapshot where it has one.
    pub fn crashes(&mut self, snapshot: Option<Snapshot>) {
        self.outbox.clear();
        self.ready.clear();
        self.running.clear();
        self.dropped.clear();
        self.in_doubt.clear();
        let journal = self.journal.iter().cloned();
        self.ledger = Ledger::rebuild(self.settings, snapshot, journal, self.carried)
            .expect("the host's own journal");
        self.happens(Input::Restart);
        let released = self.outbox.iter().filter_map(|output| {
            let Output::Perform(call) = output else {
                return None;
            };
            Some(call.action_id)
        });
        self.repeated = released.collect();
    }

    /// Appends a message unless it is there. The same id says the same.
    fn append(&mut self, append: Append) {
        let same = |other: &&Append| other.message_id == append.message_id;
        match self.transcript.iter().find(same) {
            Some(there) => assert_eq!(*there, append),
            None => self.transcript.push(append),
        }
    }

    /// Tells an event unless it was told.
    fn tell(&mut self, event: Event) {
        let same = |other: &&Event| other.event_id == event.event_id;
        match self.events.iter().find(same) {
            Some(told) => assert_eq!(*told, event),
            None => self.events.push(event),
        }
    }

    /// What the transcript alone says became of each action that it tells of.
    pub fn read_transcript(&self) -> BTreeMap<ActionId, Vec<&'static str>> {
        let mut told: BTreeMap<ActionId, Vec<&'static str>> = BTreeMap::new();
        for append in &self.transcript {
            let (action_id, word) = match &append.message {
                Message::ToolCall { tool_call_id, .. } => (tool_call_id, "called"),
                Message::ToolResult {
                    tool_call_id,
                    status,
                    ..
                } => match status {
                    ToolStatus::Success => (tool_call_id, "success"),
                    ToolStatus::Error => (tool_call_id, "error"),
                    ToolStatus::NotRun => (tool_call_id, "not run"),
                },
                Message::DeniedResult { tool_call_id, .. } => (tool_call_id, "rejected"),
                Message::ExpiredResult { tool_call_id, .. } => (tool_call_id, "expired"),
                Message::CancelledResult { tool_call_id, .. } => (tool_call_id, "cancelled"),
                Message::ConfirmationRequest { .. } | Message::UserMessage { .. } => continue,
            };
            told.entry(*action_id).or_default().push(word);
        }
        told
    }

    /// The kinds of the events of an action, in order.
    pub fn read_events(&self, action_id: ActionId) -> Vec<&'static str> {
        let of_action = self
            .events
            .iter()
            .filter(|event| event.action_id == action_id);
        of_action.map(|event| event.happened.kind()).collect()
    }

    pub fn message_ids(&self) -> Vec<MessageId> {
        let ids = self.transcript.iter();
        ids.map(|append| append.message_id).collect()
    }

    pub fn event_ids(&self) -> Vec<EventId> {
        self.events.iter().map(|event| event.event_id).collect()
    }
}
