//! The reference ledger as a party of the search: calls of the alphabet go in, and what it puts out comes back.
//!
//! Its host is as simple as one can be. A response is put out when all of its records are durable. The next request shows
//! that the host carried it out; a restart says how much of it was lost.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use countersign_model::engine::party::Executor;
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::alphabet::{
    self, Arguments, Body, Call, Effect, Event, Id, Lost, Message, Name, Op, Output, Proposal,
    Reason, SnapshotId, Status, Value, What,
};
use countersign_model::pending_action::readings::{self, Reading};
use countersign_model::pending_action::spec::ARGUMENT_LEVELS;
use countersign_reference::ids::IdSource;
use countersign_reference::pending_action::{
    self as real, Action, ActionId, Append, Decide, Entry, EventId, Happened, Held, Input, Ledger,
    MessageId, Nonce, Outcome, Propose, Record, Run, Settings, Snapshot, Text,
};
use countersign_reference::time::Timestamp;
use foldhash::fast::{FixedState, RandomState};
use smallvec::SmallVec;

use crate::search::Differing;
use crate::spoken::Host;

/// What is released in an idempotent call may run again: the more of the two settings is to be searched.
pub const AT_LEAST_ONCE: Settings = Settings {
    read_effect: real::ReadEffect::Pends,
    expiry_boundary: real::ExpiryBoundary::At,
    expiry_absent: real::ExpiryAbsent::Never,
    deciders_absent: real::DecidersAbsent::Anyone,
    delivery: real::Delivery::AtLeastOnce,
};

/// The reference ledger and its host.
///
/// Two of them are the same if they agree in all that [`Hash`] takes. What it leaves out, and why no later output shows it:
///
/// | left out | because |
/// |---|---|
/// | how many records there are, and the number of each | they count; no output has a number |
/// | the ids of what is said | nothing but the message has them |
/// | who settled an action, when, and how its tool came out | told once, with the event, and never read again |
/// | the records to tell again, while the process is up | the next request shows that they were told |
/// | which outputs of the last response are told again | read if the process dies before the next request, and at no other time |
/// | the journal | a restart reads it, and comes to the ledger that wrote it |
/// | the source of ids and the ids told so far | an id is fresh, or comes again with its record, and that is taken |
///
/// A test shows that what is merged so puts out the same and leads to what is merged.
#[derive(Clone, Debug)]
pub struct Reference {
    ledger: Arc<Ledger>,
    kept: Arc<Kept>,
    ids: Ids,
    /// Of each output of the last response, whether it is told again after a restart.
    last: SmallVec<[bool; 8]>,
    /// How many outputs behind the records past the watermark are known to be carried out: the first so many of them.
    carried: usize,
    is_down: bool,
    tells_all_apart: bool,
}

/// What the host keeps, and the numbers of what the ledger made up.
#[derive(Clone, Debug, Default, Hash)]
struct Kept {
    journal: Vec<Arc<Record>>,
    /// Every snapshot, with what a ledger that is like it is taken for.
    snapshots: Vec<(Snapshot, u64)>,
    /// By number: each id with its text.
    actions: Vec<(ActionId, Arc<str>)>,
    nonces: Vec<(Nonce, Arc<str>)>,
    /// Every id of a message or an event, with a hash of what was told under it.
    told: Vec<(Told, u64)>,
}

/// Ids that tell their order: one sequence for what is said, and one for everything else, of which the ledger remembers each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Ids {
    issued: u64,
    said: u64,
    is_said: bool,
}

impl IdSource for Ids {
    fn next_bits(&mut self) -> u128 {
        let (next, first) = if self.is_said {
            (&mut self.said, 1 << 64)
        } else {
            (&mut self.issued, 0)
        };
        *next += 1;
        first + u128::from(*next)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Told {
    Message(MessageId),
    Event(EventId),
}

impl Reference {
    /// The same, told apart from every other in whatever they differ: what a test holds the fingerprint against.
    #[must_use]
    pub fn telling_all_apart(self, tells_all_apart: bool) -> Self {
        Self {
            tells_all_apart,
            ..self
        }
    }

    /// What was recorded, and the snapshots that were put out.
    pub fn kept(
        &self,
    ) -> (
        impl Iterator<Item = &Record>,
        impl Iterator<Item = &Snapshot>,
    ) {
        let journal = self.kept.journal.iter().map(|it| &**it);
        (journal, self.kept.snapshots.iter().map(|(it, _)| it))
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl Host<PendingAction> for Reference {
    type Settings = Settings;
    type Form = ();

    fn new(settings: Settings) -> Self {
        Self {
            ledger: Arc::new(Ledger::new(settings)),
            kept: Arc::default(),
            ids: Ids::default(),
            last: SmallVec::new(),
            carried: 0,
            is_down: false,
            tells_all_apart: false,
        }
    }

    fn answer(&mut self, call: &Call) -> Vec<Output> {
        if let Op::Restart(Lost::Outputs(lost)) = &call.op
            && !lost.is_empty()
        {
            self.dies(lost.len());
        }
        self.call(call)
    }

    fn reading(settings: &Settings) -> Reading {
        Reading {
            read_effect: match settings.read_effect {
                real::ReadEffect::Pends => readings::ReadEffect::Pends,
                real::ReadEffect::Runs => readings::ReadEffect::Runs,
            },
            expiry_boundary: match settings.expiry_boundary {
                real::ExpiryBoundary::At => readings::ExpiryBoundary::At,
                real::ExpiryBoundary::After => readings::ExpiryBoundary::After,
            },
            expiry_absent: match settings.expiry_absent {
                real::ExpiryAbsent::Never => readings::ExpiryAbsent::Never,
                real::ExpiryAbsent::After { .. } => readings::ExpiryAbsent::After,
            },
            deciders_absent: match settings.deciders_absent {
                real::DecidersAbsent::Anyone => readings::DecidersAbsent::Anyone,
                real::DecidersAbsent::Nobody => readings::DecidersAbsent::Nobody,
            },
            ..Reading::default()
        }
    }

    fn taking(reading: Reading) -> Option<Settings> {
        let expiry_boundary = match reading.expiry_boundary {
            readings::ExpiryBoundary::At => real::ExpiryBoundary::At,
            readings::ExpiryBoundary::After => real::ExpiryBoundary::After,
        };
        let deciders_absent = match reading.deciders_absent {
            readings::DecidersAbsent::Anyone => real::DecidersAbsent::Anyone,
            readings::DecidersAbsent::Nobody => real::DecidersAbsent::Nobody,
            readings::DecidersAbsent::TheAgentToo => return None,
        };
        let chosen = Reading {
            expiry_boundary: reading.expiry_boundary,
            deciders_absent: reading.deciders_absent,
            ..Reading::default()
        };
        (reading == chosen).then_some(Settings {
            expiry_boundary,
            deciders_absent,
            ..AT_LEAST_ONCE
        })
    }

    fn drawn(byte: u8) -> Settings {
        if byte < 128 {
            return Settings::default();
        }
        let is_set = |bit: u8| byte & (1 << bit) != 0;
        Settings {
            read_effect: if is_set(0) {
                real::ReadEffect::Runs
            } else {
                real::ReadEffect::Pends
            },
            expiry_boundary: if is_set(1) {
                real::ExpiryBoundary::After
            } else {
                real::ExpiryBoundary::At
            },
            expiry_absent: real::ExpiryAbsent::Never,
            deciders_absent: if is_set(2) {
                real::DecidersAbsent::Nobody
            } else {
                real::DecidersAbsent::Anyone
            },
            delivery: if is_set(3) {
                real::Delivery::AtLeastOnce
            } else {
                real::Delivery::AtMostOnce
            },
        }
    }
}

impl Hash for Reference {
    fn hash<H: Hasher>(&self, to: &mut H) {
        let Self {
            ledger,
            kept,
            ids,
            last,
            carried,
            is_down,
            tells_all_apart,
        } = self;
        let Kept {
            journal: _,
            snapshots,
            actions: _,
            nonces: _,
            told: _,
        } = &**kept;
        let Held {
            settings,
            now,
            recorded: _,
            tail,
            actions,
            ended_sessions,
        } = ledger.held();
        (settings, now, ended_sessions, is_down).hash(to);
        for (_, like) in snapshots {
            like.hash(to);
        }
        for Action {
            action_id,
            nonce,
            proposal,
            status,
        } in actions
        {
            (action_id, nonce, proposal, rank(status)).hash(to);
        }
        if *is_down {
            carried.hash(to);
            for Record {
                number: _,
                at,
                entry,
            } in tail
            {
                at.hash(to);
                if let Entry::Said {
                    message_id: _,
                    by,
                    text,
                } = entry
                {
                    (by, text).hash(to);
                } else {
                    entry.hash(to);
                }
            }
        }
        if *tells_all_apart {
            (ledger, kept, ids, last, carried).hash(to);
        }
    }
}
impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}
impl Eq for Reference {}

/// What has become of an action, but for who brought it about, and when.
fn rank(status: &real::Status) -> u8 {
    match status {
        real::Status::Pending => 0,
        real::Status::Accepted {
            by: _,
            at: _,
            run: Run::Unfinished,
        } => 1,
        real::Status::Accepted {
            by: _,
            at: _,
            run: Run::Finished { status: _, at: _ },
        } => 2,
        real::Status::Rejected { by: _, at: _ } => 3,
        real::Status::Expired { at: _ } => 4,
        real::Status::Cancelled { reason: _, at: _ } => 5,
    }
}

impl Executor<PendingAction> for Reference {
    fn call(&mut self, call: &Call) -> Vec<Output> {
        let now = Timestamp::from_millis(call.now);
        let mut outputs = Vec::new();
        let is_back = self.is_down && matches!(call.op, Op::Restart(_));
        if !is_back {
            let ledger = Arc::make_mut(&mut self.ledger);
            ledger.carried(ledger.recorded());
            self.carried = 0;
        }
        match &call.op {
            Op::Snapshot => {
                self.handle(now, Input::Tick, &mut outputs);
                outputs.push(Output::Snapshot(self.snapshot()));
            }
            Op::Rollback(id) => self.roll_back(now, *id, &mut outputs),
            Op::Restart(Lost::Outputs(_)) => {
                let latest = self.ledger.now().max(now);
                match self.rebuilt(None) {
                    Some(ledger) => self.ledger = ledger,
                    None => outputs.push(BROKEN),
                }
                self.handle(latest, Input::Restart, &mut outputs);
                outputs.drain(..self.carried.min(outputs.len()));
            }
            op @ (Op::Propose(_)
            | Op::Decide(_)
            | Op::Say { .. }
            | Op::FinishTool { .. }
            | Op::Cancel(_)
            | Op::EndSession(_)
            | Op::Tick
            | Op::Restart(Lost::TooMany)) => {
                let input = self.input(op);
                let is_said = input.is_some();
                self.handle(now, input.unwrap_or(Input::Tick), &mut outputs);
                if !is_said {
                    outputs.push(Output::Refused);
                }
            }
        }
        self.is_down = false;
        let is_told = |it: &Output| matches!(it, Output::Append(_) | Output::Event(_));
        self.last = outputs.iter().map(is_told).collect();
        outputs
    }

    fn dies(&mut self, lost: usize) {
        let carried_out = self.last.len().saturating_sub(lost);
        self.carried += self.last.iter().take(carried_out).filter(|it| **it).count();
        self.is_down = true;
    }
}

impl Differing for PendingAction {
    const IS_ORDERED: bool = true;

    /// `executed` has a `result` or none, and an idempotent call in doubt "may be performed again … instead of its `in_doubt`".
    fn may_replace(expected: &Output, output: &Output) -> bool {
        match (expected, output) {
            (Output::Event(expected), Output::Event(output)) => {
                match (&expected.what, &output.what) {
                    (
                        What::Executed { status, .. },
                        What::Executed {
                            status: other,
                            result: None,
                        },
                    ) => {
                        let head = |it: &Event| (it.id, it.action, it.at);
                        status == other && head(expected) == head(output)
                    }
                    _ => false,
                }
            }
            (Output::InDoubt(expected), Output::Perform { action, .. }) => expected == action,
            _ => false,
        }
    }
}

/// The ledger does not take what it has itself written.
const BROKEN: Output = Output::Other(0);

impl Reference {
    /// Lets the ledger do it, and keeps what it records.
    fn handle(&mut self, now: Timestamp, input: Input, to: &mut Vec<Output>) {
        self.ids.is_said = matches!(input, Input::Say { .. });
        let ledger = Arc::make_mut(&mut self.ledger);
        let Outcome { outputs, refused } = ledger.handle(now, &mut self.ids, input);
        for output in outputs {
            to.extend(Kept::read(&mut self.kept, output));
        }
        to.extend(refused.map(|_| Output::Refused));
    }

    fn snapshot(&mut self) -> SnapshotId {
        let snapshot = self.ledger.snapshot();
        let snapshots = &self.kept.snapshots;
        let place = snapshots.iter().position(|(it, _)| *it == snapshot);
        number(place.unwrap_or_else(|| {
            let like = self.clone().telling_all_apart(false).fingerprint();
            let snapshots = &mut Arc::make_mut(&mut self.kept).snapshots;
            snapshots.push((snapshot, like));
            snapshots.len() - 1
        }))
    }

    /// The ledger is what it was then, and catches up with the journal.
    fn roll_back(&mut self, now: Timestamp, id: SnapshotId, to: &mut Vec<Output>) {
        self.handle(now, Input::Tick, to);
        let latest = self.ledger.now();
        let snapshot = self.kept.snapshots.get(usize::from(id));
        let snapshot = snapshot.map(|(it, _)| it.clone());
        let older = snapshot.filter(|it| it.now() <= latest);
        match older.and_then(|it| self.rebuilt(Some(it))) {
            Some(ledger) => {
                self.ledger = ledger;
                self.handle(latest, Input::Tick, to);
            }
            None => to.push(Output::Refused),
        }
    }

    fn rebuilt(&self, snapshot: Option<Snapshot>) -> Option<Arc<Ledger>> {
        let (settings, through) = (self.ledger.settings(), self.ledger.watermark());
        let journal = self.kept.journal.iter().map(|it| Record::clone(it));
        let ledger = Ledger::rebuild(settings, snapshot, journal, through);
        ledger.ok().map(Arc::new)
    }

    /// Nothing for what the ledger cannot be told.
    fn input(&self, op: &Op) -> Option<Input> {
        Some(match op {
            Op::Propose(proposal) => Input::Propose(propose(proposal)?),
            Op::Decide(it) => Input::Decide(Decide {
                action_id: self.kept.written(it.action),
                nonce: it.nonce.map(|it| self.kept.written_nonce(it)),
                decision: match it.decision {
                    alphabet::Decision::Allow => real::Decision::Allow,
                    alphabet::Decision::Deny => real::Decision::Deny,
                    alphabet::Decision::Other(_) => return None,
                },
                // Nobody can be identified by such a name.
                by: (it.by.characters <= 256).then(|| text(it.by))?,
                arguments: it.arguments.map(json),
            }),
            Op::Say { by, text: said } => Input::Say {
                by: text(*by).into(),
                text: text(*said).into(),
            },
            Op::FinishTool {
                action,
                status,
                result,
            } => Input::FinishTool {
                action_id: self.kept.written(*action),
                status: match status {
                    Status::Success => real::ToolStatus::Success,
                    Status::Error => real::ToolStatus::Error,
                    Status::NotRun => real::ToolStatus::NotRun,
                    Status::Other(_) => return None,
                },
                result: json(result.unwrap_or(Value::EMPTY)),
            },
            Op::Cancel(action) => Input::Cancel {
                action_id: self.kept.written(*action),
            },
            Op::EndSession(session) => Input::EndSession {
                session_id: text(*session),
            },
            Op::Tick => Input::Tick,
            Op::Snapshot | Op::Rollback(_) | Op::Restart(_) => return None,
        })
    }
}

impl Kept {
    /// The text of the id of that number; of one that was never put out, where there is none.
    fn written(&self, number: alphabet::ActionId) -> String {
        let never = || ActionId::from_bits(u128::MAX - u128::from(number)).to_string();
        self.actions
            .get(usize::from(number))
            .map_or_else(never, |it| it.1.to_string())
    }
    fn written_nonce(&self, number: alphabet::Nonce) -> String {
        let never = || Nonce::from_bits(u128::MAX - u128::from(number)).to_string();
        self.nonces
            .get(usize::from(number))
            .map_or_else(never, |it| it.1.to_string())
    }

    /// An output in the alphabet; nothing for a record, which is durable from here on.
    fn read(kept: &mut Arc<Self>, output: real::Output) -> Option<Output> {
        Some(match output {
            real::Output::Record(record) => {
                Arc::make_mut(kept).journal.push(Arc::new(record));
                return None;
            }
            real::Output::Append(append) => Self::append(kept, &append),
            real::Output::Event(event) => Self::event(kept, &event),
            real::Output::Perform(call) => Output::Perform {
                action: Self::number(kept, call.action_id),
                tool: name(call.tool.as_str()),
                arguments: value(call.arguments.as_str()),
            },
            real::Output::InDoubt(named) => Output::InDoubt(Self::number(kept, named.action_id)),
            // The operator is told of both, and nobody else.
            real::Output::Withdraw(_) | real::Output::Audit(_) => Output::Audit,
        })
    }

    fn append(kept: &mut Arc<Self>, append: &Append) -> Output {
        let message = &append.message;
        let body = match message {
            real::Message::ConfirmationRequest { text, label } => Body::ConfirmationRequest {
                text: name(text.as_str()),
                label: name(label.as_str()),
            },
            real::Message::ToolCall {
                tool_call_id,
                tool,
                arguments,
            } => Body::ToolCall {
                action: Self::number(kept, *tool_call_id),
                tool: name(tool.as_str()),
                arguments: value(arguments.as_str()),
            },
            real::Message::ToolResult {
                tool_call_id,
                tool,
                status,
                result,
            } => Body::ToolResult {
                action: Self::number(kept, *tool_call_id),
                tool: name(tool.as_str()),
                status: came_out(*status),
                result: value(result.as_str()),
            },
            real::Message::DeniedResult {
                tool_call_id,
                tool,
                by,
            } => Body::DeniedResult {
                action: Self::number(kept, *tool_call_id),
                tool: name(tool.as_str()),
                by: name(by.as_str()),
            },
            real::Message::ExpiredResult { tool_call_id, tool } => Body::ExpiredResult {
                action: Self::number(kept, *tool_call_id),
                tool: name(tool.as_str()),
            },
            real::Message::CancelledResult {
                tool_call_id,
                tool,
                reason,
            } => Body::CancelledResult {
                action: Self::number(kept, *tool_call_id),
                tool: name(tool.as_str()),
                reason: Some(why(*reason)),
            },
            real::Message::UserMessage { by, text } => Body::UserMessage {
                by: name(by),
                text: name(text),
            },
        };
        let session = append.session_id.as_ref().map(|it| name(it.as_str()));
        let id = Self::tell(kept, Told::Message(append.message_id), &(session, body));
        Output::Append(Message { id, session, body })
    }

    fn event(kept: &mut Arc<Self>, event: &real::Event) -> Output {
        let action = Self::number(kept, event.action_id);
        let what = match &event.happened {
            Happened::Created { nonce, proposal } => {
                What::Created(Arc::new(Self::recorded(kept, *nonce, proposal)))
            }
            Happened::Decided { decision, by } => What::Decided {
                decision: match decision {
                    real::Decision::Allow => alphabet::Decision::Allow,
                    real::Decision::Deny => alphabet::Decision::Deny,
                },
                by: by.as_ref().map(|it| name(it.as_str())),
            },
            Happened::Executed { status } => What::Executed {
                status: came_out(*status),
                result: None,
            },
            Happened::NotRun => What::NotRun,
            Happened::Denied { by } => What::Denied {
                by: Some(name(by.as_str())),
            },
            Happened::Expired => What::Expired,
            Happened::Cancelled { reason } => What::Cancelled {
                reason: Some(why(*reason)),
            },
        };
        let at = event.at.millis();
        let id = Self::tell(kept, Told::Event(event.event_id), &(action, at, &what));
        Output::Event(Event {
            id,
            action,
            at,
            what,
        })
    }

    fn recorded(kept: &mut Arc<Self>, nonce: Nonce, of: &real::Proposal) -> alphabet::Record {
        let place = kept.nonces.iter().position(|it| it.0 == nonce);
        let place = place.unwrap_or_else(|| {
            let nonces = &mut Arc::make_mut(kept).nonces;
            nonces.push((nonce, nonce.to_string().into()));
            nonces.len() - 1
        });
        let names = |names: Vec<real::DeciderId>| {
            let mut names: SmallVec<[Name; 2]> = names.iter().map(|it| name(it.as_str())).collect();
            names.sort_unstable();
            names
        };
        alphabet::Record {
            nonce: Some(number(place)),
            agent: name(of.agent_id.as_str()),
            session: name(of.session_id.as_str()),
            run: name(of.run_id.as_str()),
            tool: name(of.tool.as_str()),
            arguments: value(of.arguments.as_str()),
            effect: match of.effect {
                real::Effect::Read => Effect::Read,
                real::Effect::Write => Effect::Write,
                real::Effect::Destructive => Effect::Destructive,
                real::Effect::External => Effect::External,
            },
            summary: name(of.summary.as_str()),
            label: name(of.label.as_str()),
            expires_at: of.expires_at.map(Timestamp::millis),
            deciders: of.deciders.clone().map(|it| names(it.into())),
            idempotent: of.idempotent,
        }
    }

    /// The number of an id, by first appearance.
    fn number(kept: &mut Arc<Self>, id: ActionId) -> alphabet::ActionId {
        let place = kept.actions.iter().position(|it| it.0 == id);
        number(place.unwrap_or_else(|| {
            let actions = &mut Arc::make_mut(kept).actions;
            actions.push((id, id.to_string().into()));
            actions.len() - 1
        }))
    }

    /// Whether that id names something else, the very same, or nothing yet.
    fn tell(kept: &mut Arc<Self>, id: Told, what: &impl Hash) -> Id {
        let told = FixedState::default().hash_one(what);
        match kept.told.iter().find(|it| it.0 == id) {
            Some((_, earlier)) if *earlier == told => Id::Again,
            Some(_) => Id::Taken,
            None => {
                Arc::make_mut(kept).told.push((id, told));
                Id::Fresh
            }
        }
    }
}

fn propose(proposal: &Proposal) -> Option<Propose> {
    let names = |names: &SmallVec<[alphabet::Text; 2]>| names.iter().map(|it| text(*it)).collect();
    Some(Propose {
        agent_id: text(proposal.agent),
        session_id: text(proposal.session),
        run_id: text(proposal.run),
        tool: text(proposal.tool),
        arguments: arguments(proposal.arguments),
        effect: match proposal.effect {
            Effect::Read => real::Effect::Read,
            Effect::Write => real::Effect::Write,
            Effect::Destructive => real::Effect::Destructive,
            Effect::External => real::Effect::External,
            Effect::Other(_) => return None,
        },
        summary: text(proposal.summary),
        label: text(proposal.label),
        expires_at: proposal.expires_at.map(Timestamp::from_millis),
        deciders: proposal.deciders.as_ref().map(names),
        idempotent: proposal.idempotent,
    })
}

fn came_out(status: real::ToolStatus) -> Status {
    match status {
        real::ToolStatus::Success => Status::Success,
        real::ToolStatus::Error => Status::Error,
        real::ToolStatus::NotRun => Status::NotRun,
    }
}

fn why(reason: real::CancelReason) -> Reason {
    match reason {
        real::CancelReason::Requested => Reason::Requested,
        real::CancelReason::SessionEnded => Reason::SessionEnded,
    }
}

/// A text for a name: its digits behind zeros, or its bits as two kinds of white space.
fn text(it: alphabet::Text) -> String {
    let (name, width) = (it.name, it.characters as usize);
    let bit = |place| {
        if name.checked_shr(place).unwrap_or(0) & 1 == 1 {
            '\t'
        } else {
            ' '
        }
    };
    let digits = name.to_string();
    let (mut text, telling) = if it.is_blank {
        let blanks = (0..it.characters.max(Name::BITS)).map(bit);
        (blanks.rev().collect(), Name::BITS as usize)
    } else {
        let zeros = "0".repeat(width.saturating_sub(digits.len()));
        (zeros + &digits, digits.len())
    };
    if it.has_line_break {
        // It stands in the place of what tells nothing, if there is any.
        let room = usize::from(text.len() > telling);
        text.replace_range(..room, "\n");
    }
    text
}

/// The name that a text stands for.
fn name(text: &str) -> Name {
    let digits = text.trim_start_matches('\n');
    let bits = || {
        let bit = |(place, it)| match it {
            b' ' => Some(0),
            b'\t' => 1_u16.checked_shl(place),
            _ => None,
        };
        (0..)
            .zip(digits.bytes().rev())
            .map(bit)
            .sum::<Option<Name>>()
    };
    digits.parse().ok().or_else(bits).unwrap_or(Name::MAX)
}

/// JSON for a value: the number that it means in an array, in front of so many blanks as tell its spelling. All begin alike.
fn json(value: Value) -> Text {
    arguments(Arguments {
        value,
        size: 0,
        levels: 1,
    })
}

fn arguments(it: Arguments) -> Text {
    thread_local! {
        static TEXTS: RefCell<HashMap<Arguments, Text, RandomState>> = RefCell::default();
    }
    let write = || {
        let Value { bytes, meaning } = it.value;
        let blanks = usize::from(bytes);
        // A decision does not say how deep its arguments are: those that can be recorded are all alike.
        let levels = if it.levels > ARGUMENT_LEVELS {
            it.levels as usize
        } else {
            1
        };
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let text = match meaning {
            _ if it.value == Value::EMPTY => String::new(),
            Some(meaning) => format!("{open}{meaning:>24}{}{close}", " ".repeat(blanks)),
            None => format!("{{{}:", " ".repeat(blanks)),
        };
        let padding = (it.size as usize).saturating_sub(text.len());
        Text::new(text + &" ".repeat(padding))
    };
    TEXTS.with_borrow_mut(|texts| texts.entry(it).or_insert_with(write).clone())
}

/// The value that a text stands for.
fn value(text: &str) -> Value {
    if text.is_empty() {
        return Value::EMPTY;
    }
    let spelled = text.trim_end().trim_end_matches([']', ':']);
    let word = spelled.trim_end();
    Value {
        bytes: number(spelled.len() - word.len()),
        meaning: word.trim_start_matches(['[', ' ']).parse().ok(),
    }
}

fn number(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}
