//! What every test needs: a ledger with its journal, and short ways to make things happen to it.

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    Action, ActionId, Decide, Decision, Effect, Happened, Input, Ledger, Message, Output, Propose,
    Record, Refusal, Run, Settings, Snapshot, Status, Text, ToolStatus,
};
use countersign_reference::time::Timestamp;

/// 2026-05-24T14:22:20.000Z: when every test starts, in milliseconds.
pub const START: i64 = 1_779_632_540_000;

/// When an action that expires does so, in milliseconds.
pub const EXPIRY: i64 = START + 10_000;

/// The arguments of every ordinary action, in a spelling of their own.
pub const ARGUMENTS: &str = "{\"ids\": [3, 5, 8],\n  \"confirm\": true, \"limit\": 1.50}";

/// What comes out when an ordinary action is proposed.
pub const ASKED: [&str; 3] = ["record proposed", "append request", "event created"];

/// What comes out when `ana` allows the first action.
pub const ALLOWED: [&str; 4] = [
    "record decided",
    "event decided Allow by ana",
    "append call",
    "perform 1",
];

/// What comes out when `ana` denies the first action.
pub const DENIED: [&str; 4] = [
    "record decided",
    "event decided Deny by ana",
    "append denied result",
    "event denied",
];

/// What comes out when an action expires.
pub const EXPIRED: [&str; 3] = ["record expired", "append expired result", "event expired"];

#[derive(Clone)]
pub struct Stage {
    pub ledger: Ledger,
    pub ids: SequentialIds,
    /// The host's clock, in milliseconds.
    pub now: i64,
    /// Every record that came out.
    pub journal: Vec<Record>,
}

impl Stage {
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    pub fn with(settings: Settings) -> Self {
        Self {
            ledger: Ledger::new(settings),
            ids: SequentialIds::new(),
            now: START,
            journal: Vec::new(),
        }
    }

    /// Lets something happen that must not be refused; what comes out, told in words.
    #[track_caller]
    pub fn does(&mut self, input: Input) -> Vec<String> {
        self.outputs(input).iter().map(tell).collect()
    }

    /// Lets something happen that must not be refused.
    #[track_caller]
    pub fn outputs(&mut self, input: Input) -> Vec<Output> {
        let (outputs, refused) = self.happens(input);
        assert_eq!(refused, None);
        outputs
    }

    /// Lets something happen that must be refused and must change nothing.
    #[track_caller]
    pub fn refuses(&mut self, input: Input) -> Refusal {
        let mut untouched = self.clone();
        untouched.does(Input::Tick);
        let (outputs, refused) = self.happens(input);
        assert_eq!(outputs, []);
        assert_eq!(self.ledger, untouched.ledger);
        refused.expect("should have been refused")
    }

    pub fn happens(&mut self, input: Input) -> (Vec<Output>, Option<Refusal>) {
        let now = Timestamp::from_millis(self.now);
        let outcome = self.ledger.handle(now, &mut self.ids, input);
        let records = outcome.outputs.iter().filter_map(Output::record);
        self.journal.extend(records.cloned());
        (outcome.outputs, outcome.refused)
    }

    /// Proposes, and gives the id.
    #[track_caller]
    pub fn proposes(&mut self, proposal: Propose) -> ActionId {
        self.does(Input::Propose(proposal));
        self.ledger.actions().last().expect("proposed").action_id
    }

    /// Everything is carried out so far.
    pub fn carries(&mut self) {
        self.ledger.carried(self.ledger.recorded());
    }

    /// The process dies with so many records durable, and comes back with other settings.
    #[track_caller]
    pub fn crashes_into(&mut self, settings: Settings, snapshot: Option<Snapshot>, durable: usize) {
        self.journal.truncate(durable);
        let carried = self.ledger.watermark();
        let journal = self.journal.iter().cloned();
        self.ledger = Ledger::rebuild(settings, snapshot, journal, carried).expect("its journal");
    }

    /// The process dies with every record durable, and comes back.
    #[track_caller]
    pub fn crashes(&mut self) {
        let durable = self.journal.len();
        self.crashes_into(self.ledger.settings(), None, durable);
    }

    #[track_caller]
    pub fn action(&self, action_id: ActionId) -> &Action {
        self.ledger.action(action_id).expect("proposed")
    }

    /// The action's status in one word, and how its tool came out.
    #[track_caller]
    pub fn status(&self, action_id: ActionId) -> &'static str {
        match &self.action(action_id).status {
            Status::Pending => "pending",
            Status::Accepted { run, .. } => match run {
                Run::Unfinished => "unfinished",
                Run::Finished { status, .. } => match status {
                    ToolStatus::Success => "success",
                    ToolStatus::Error => "error",
                    ToolStatus::NotRun => "not run",
                },
            },
            Status::Rejected { .. } => "rejected",
            Status::Expired { .. } => "expired",
            Status::Cancelled { .. } => "cancelled",
        }
    }
}

/// An output in words: its kind, then what it is about. An action is told by its number.
pub fn tell(output: &Output) -> String {
    match output {
        Output::Record(record) => {
            let record = serde_json::to_value(record).expect("JSON");
            let entry = record["entry"].as_object().expect("an object");
            format!("record {}", entry.keys().next().expect("a kind"))
        }
        Output::Append(append) => format!(
            "append {}",
            match &append.message {
                Message::ConfirmationRequest { .. } => "request",
                Message::ToolCall { .. } => "call",
                Message::ToolResult { .. } => "result",
                Message::DeniedResult { .. } => "denied result",
                Message::ExpiredResult { .. } => "expired result",
                Message::CancelledResult { .. } => "cancelled result",
                Message::UserMessage { .. } => "user message",
            }
        ),
        Output::Event(event) => match &event.happened {
            Happened::Decided {
                decision,
                by: Some(by),
            } => format!("event decided {decision:?} by {by}"),
            Happened::Decided { decision, by: None } => format!("event decided {decision:?}"),
            Happened::Executed { status } => format!("event executed {status:?}"),
            Happened::Cancelled { reason } => format!("event cancelled {reason:?}"),
            Happened::Created { .. }
            | Happened::NotRun
            | Happened::Denied { .. }
            | Happened::Expired => format!("event {}", event.happened.kind()),
        },
        Output::Perform(call) => format!("perform {}", number(call.action_id)),
        Output::Withdraw(named) => format!("withdraw {}", number(named.action_id)),
        Output::InDoubt(named) => format!("in doubt {}", number(named.action_id)),
        Output::Audit(audit) => format!("audit {}", audit.clause),
    }
}

/// Which action it is: each draws two values from a source that counts.
fn number(action_id: ActionId) -> u128 {
    let digits = action_id.to_string().replace("pa_", "");
    u128::from_str_radix(&digits, 16).map_or(0, |drawn| drawn.div_ceil(2))
}

/// Outputs in words.
pub fn telling(outputs: &[Output]) -> Vec<String> {
    outputs.iter().map(tell).collect()
}

/// An ordinary action: destructive, never expires, `ana` and `ben` may decide.
pub fn ordinary() -> Propose {
    Propose {
        agent_id: "menta".into(),
        session_id: "s1".into(),
        run_id: "run 1".into(),
        tool: "carpeta/delete-potreros".into(),
        arguments: Text::new(ARGUMENTS),
        effect: Effect::Destructive,
        summary: "¿Borro estos 3 potreros?".into(),
        label: "Sí, borrar".into(),
        expires_at: None,
        deciders: Some(vec!["ana".into(), "ben".into()]),
        idempotent: false,
    }
}

/// An action that expires.
pub fn expiring() -> Propose {
    Propose {
        expires_at: Some(Timestamp::from_millis(EXPIRY)),
        ..ordinary()
    }
}

/// An action of another session.
pub fn of_session(session_id: &str) -> Propose {
    Propose {
        session_id: session_id.into(),
        ..ordinary()
    }
}

/// An ordinary decision of `ana`.
pub fn decision(action_id: ActionId, decision: Decision) -> Decide {
    Decide {
        action_id: action_id.into(),
        nonce: None,
        decision,
        by: "ana".into(),
        arguments: None,
    }
}

pub fn allow(action_id: ActionId) -> Input {
    Input::Decide(decision(action_id, Decision::Allow))
}

pub fn deny(action_id: ActionId) -> Input {
    Input::Decide(decision(action_id, Decision::Deny))
}

pub fn cancel(action_id: ActionId) -> Input {
    Input::Cancel {
        action_id: action_id.into(),
    }
}

pub fn finish(action_id: ActionId, status: ToolStatus) -> Input {
    Input::FinishTool {
        action_id: action_id.into(),
        status,
        result: Text::new("done"),
    }
}

pub fn end_session(session_id: &str) -> Input {
    Input::EndSession {
        session_id: session_id.into(),
    }
}

pub fn say(text: &str) -> Input {
    Input::Say {
        by: "ana".into(),
        text: text.into(),
    }
}
