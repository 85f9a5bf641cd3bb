//! Driver protocol values of pending actions as the words of the spec, and back.
//!
//! It decides form only: whether something is JSON, of which type, how long, and whether an id is one of its own. What a
//! field must say is for the spec: a member that is missing, or of another type, has the number of nothing.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::sync::Arc;

use countersign_protocol as driver;
use countersign_protocol::pending_action::{self as own, PendingAction};
use countersign_protocol::{Common, Json, Kind};
use serde::de::DeserializeOwned;
use serde_json::{Value as Plain, json};
use smallvec::SmallVec;

use crate::engine::clause::Clause;
use crate::pending_action::PendingAction as Spec;
use crate::pending_action::alphabet::{
    ActionId, Arguments, Body, Call, Decide, Decision, Effect, Event, Id, Lost, Message, Name, Op,
    Output, Proposal, Reason, Record, SnapshotId, Status, Text, Time, Value, What,
};
use crate::pending_action::clauses::{PA_9, PA_10};
use crate::wire::names::{Ids, NOTHING, Texts};
use crate::wire::{Codec, Flaw, has_line_break, is_blank, json, time};

/// The numbers of one run.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Texts,
    /// Arguments and results as they are written, and by what they mean.
    bytes: Texts,
    meanings: Texts,
    actions: Ids,
    nonces: Ids,
    snapshots: Ids,
    /// Events and messages as they came, by their ids.
    told: BTreeMap<(Kind, String), String>,
    /// Those that were written, with their ids.
    written: Vec<(Output, String)>,
    /// The last response.
    last: Vec<Output>,
}

/// A rule of form: a clause, and whether an event or a message keeps it.
pub type FormRule = (Clause, fn(&Names, &Call, &Written) -> Result<(), String>);

/// Every rule of form.
pub const FORM: [FormRule; 4] = [
    (PA_10, has_type),
    (PA_10, names_action),
    (PA_10, has_id),
    (PA_9, hides_action),
];

/// An event or a message, member by member.
#[derive(Debug)]
pub struct Written {
    kind: Kind,
    text: String,
    members: BTreeMap<String, Json>,
}

impl Default for Names {
    fn default() -> Self {
        let (mut bytes, mut meanings) = (Texts::default(), Texts::default());
        // The empty string is 0.
        bytes.adopt(0, String::new());
        meanings.adopt(0, String::new());
        Self {
            texts: Texts::default(),
            bytes,
            meanings,
            actions: Ids::default(),
            nonces: Ids::default(),
            snapshots: Ids::default(),
            told: BTreeMap::new(),
            written: Vec::new(),
            last: Vec::new(),
        }
    }
}

impl Codec for Names {
    type Text = Spec;
    type Driver = PendingAction;
    const KINDS: &'static [Kind] = &[
        Kind::Append,
        Kind::Event,
        Kind::Perform,
        Kind::InDoubt,
        Kind::Audit,
        Kind::Snapshot,
        Kind::Refused,
    ];

    fn call(&mut self, now: Time, op: &driver::Op<PendingAction>) -> Call {
        let op = match op {
            driver::Op::Common(Common::Hello { .. } | Common::Reset {} | Common::Tick {}) => {
                Op::Tick
            }
            driver::Op::Common(Common::Restart { lost }) => {
                Op::Restart(Lost::last_of(&self.last, lost.unwrap_or(0)))
            }
            driver::Op::Own(own) => self.op(own),
        };
        Call { now, op }
    }

    fn outputs(
        &mut self,
        call: &Call,
        outputs: &[driver::Output<PendingAction>],
    ) -> (Vec<Output>, Vec<Flaw>) {
        let is_refused = |it: &driver::Output<_>| matches!(it.what, own::Output::Refused(_));
        if matches!(call.op, Op::Rollback(_)) && !outputs.iter().any(is_refused) {
            // A ledger of that time does not know which ids it has used since.
            self.told.clear();
        }
        let mut read = Vec::with_capacity(outputs.len());
        let mut written = Vec::new();
        for (place, output) in outputs.iter().enumerate() {
            let (kind, json) = match &output.what {
                own::Output::Append(json) => (Kind::Append, json),
                own::Output::Event(json) => (Kind::Event, json),
                own::Output::Perform(_)
                | own::Output::InDoubt(_)
                | own::Output::Audit(_)
                | own::Output::Snapshot(_)
                | own::Output::Refused(_) => {
                    read.push(self.other(&output.what));
                    continue;
                }
            };
            let it = Written::of(kind, json);
            read.push(self.told(&it));
            written.push((place, it));
        }
        // What a message must not show may be named behind it.
        let flaws = written.iter().flat_map(|(place, it)| {
            let broken = FORM.iter().filter_map(|(clause, holds)| {
                let text = holds(self, call, it).err()?;
                Some(Flaw {
                    clause: *clause,
                    place: *place,
                    text,
                })
            });
            // What stands first makes the others follow.
            broken.take(1)
        });
        let flaws = flaws.collect();
        self.last.clone_from(&read);
        (read, flaws)
    }

    fn request(&mut self, call: &Call) -> Option<driver::Op<PendingAction>> {
        Some(driver::Op::Own(match &call.op {
            Op::Propose(it) => own::Op::Propose(self.propose(it)?),
            Op::Decide(it) => own::Op::Decide {
                action_id: self.actions.text(it.action),
                nonce: it.nonce.map(|it| self.nonces.text(it)),
                decision: match it.decision {
                    Decision::Allow => own::Decision::Allow,
                    Decision::Deny => own::Decision::Deny,
                    Decision::Other(_) => return None,
                },
                by: self.text_of(it.by),
                arguments: it
                    .arguments
                    .map(|it| Json::holding(&self.json_of(it, None))),
            },
            Op::Say { by, text } => own::Op::Say {
                by: self.text_of(*by),
                text: self.text_of(*text),
            },
            Op::FinishTool {
                action,
                status,
                result,
            } => own::Op::FinishTool {
                action_id: self.actions.text(*action),
                status: match status {
                    Status::Success => own::ToolStatus::Success,
                    Status::Error => own::ToolStatus::Error,
                    Status::NotRun => own::ToolStatus::NotRun,
                    Status::Other(_) => return None,
                },
                result: result.map(|it| Json::holding(&self.result_of(it))),
            },
            Op::Cancel(action) => own::Op::Cancel {
                action_id: self.actions.text(*action),
            },
            Op::EndSession(session) => own::Op::EndSession {
                session_id: self.text_of(*session),
            },
            Op::Snapshot => own::Op::Snapshot {},
            Op::Rollback(snapshot) => {
                let text = self.snapshots.text(*snapshot);
                let snapshot = serde_json::from_str(&text);
                own::Op::Rollback {
                    snapshot: snapshot.unwrap_or_else(|_| Json::holding(&text)),
                }
            }
            Op::Tick => return Some(driver::Op::Common(Common::Tick {})),
            Op::Restart(lost) => {
                let lost = Some(lost.count_in(&self.last)?);
                return Some(driver::Op::Common(Common::Restart { lost }));
            }
        }))
    }

    fn responses(&mut self, outputs: &[Output]) -> Vec<driver::Output<PendingAction>> {
        outputs.clone_into(&mut self.last);
        let written = outputs.iter().filter_map(|it| self.response(it));
        written.map(driver::Output::to_all).collect()
    }

    fn issued(&mut self, outputs: &[Output]) {
        outputs.clone_into(&mut self.last);
        for output in outputs {
            output.action().map(|it| self.action_of(it));
            if let Output::Event(Event {
                what: What::Created(record),
                ..
            }) = output
            {
                self.nonce_of(record);
            }
            if let Output::Snapshot(id) = output {
                self.snapshot_of(*id);
            }
        }
    }

    fn in_run(&self) -> BTreeMap<String, String> {
        let actions = (0..).zip(self.actions.all());
        let actions =
            actions.map(|(number, id): (u16, _)| (format!("action {number}"), id.clone()));
        let nonces = (0..).zip(self.nonces.all());
        let nonces = nonces.map(|(number, it): (u16, _)| (format!("nonce {number}"), it.clone()));
        let texts = self
            .texts
            .all()
            .map(|(number, it)| (format!("text {number}"), format!("{it:?}")));
        let values = self
            .bytes
            .all()
            .map(|(number, it)| (format!("value {number}"), it.to_owned()));
        actions.chain(nonces).chain(texts).chain(values).collect()
    }
}

// ── What is asked ──

impl Names {
    /// Each action, by its number.
    pub fn actions(&self) -> &[String] {
        self.actions.all()
    }

    /// Each nonce, by its number.
    pub fn nonces(&self) -> &[String] {
        self.nonces.all()
    }

    /// Each snapshot as it is written, by its number.
    pub fn snapshots(&self) -> &[String] {
        self.snapshots.all()
    }

    /// The text of that number.
    pub fn text_numbered(&self, name: Name) -> Option<&str> {
        self.texts.text(name)
    }

    /// Arguments or a result, as they are written.
    pub fn written_as(&self, value: Value) -> Option<&str> {
        self.bytes.text(value.bytes)
    }

    fn op(&mut self, op: &own::Op) -> Op {
        match op {
            own::Op::Propose(it) => Op::Propose(Arc::new(self.proposal(it))),
            own::Op::Decide {
                action_id,
                nonce,
                decision,
                by,
                arguments,
            } => Op::Decide(Decide {
                action: self.actions.named(action_id),
                nonce: nonce.as_ref().map(|it| self.nonces.named(it)),
                decision: match decision {
                    own::Decision::Allow => Decision::Allow,
                    own::Decision::Deny => Decision::Deny,
                },
                by: self.text(by),
                arguments: arguments.as_ref().map(|it| self.arguments(it).value),
            }),
            own::Op::Say { by, text } => Op::Say {
                by: self.text(by),
                text: self.text(text),
            },
            own::Op::FinishTool {
                action_id,
                status,
                result,
            } => Op::FinishTool {
                action: self.actions.named(action_id),
                status: match status {
                    own::ToolStatus::Success => Status::Success,
                    own::ToolStatus::Error => Status::Error,
                    own::ToolStatus::NotRun => Status::NotRun,
                },
                result: result.as_ref().map(|it| self.result(it)),
            },
            own::Op::Cancel { action_id } => Op::Cancel(self.actions.named(action_id)),
            own::Op::EndSession { session_id } => Op::EndSession(self.text(session_id)),
            own::Op::Snapshot {} => Op::Snapshot,
            own::Op::Rollback { snapshot } => {
                Op::Rollback(match self.snapshots.named(snapshot.as_str()) {
                    NOTHING => self.snapshots.named(&snapshot.text()),
                    known => known,
                })
            }
        }
    }

    fn proposal(&mut self, it: &own::Propose) -> Proposal {
        let deciders = it.deciders.as_ref().map(|names| {
            let mut names: SmallVec<[Text; 2]> = names.iter().map(|it| self.text(it)).collect();
            names.sort_by_key(|it| it.name);
            names
        });
        Proposal {
            agent: self.text(&it.agent_id),
            session: self.text(&it.session_id),
            run: self.text(&it.run_id),
            tool: self.text(&it.tool),
            arguments: self.arguments(&it.arguments),
            effect: match it.effect {
                own::Effect::Read => Effect::Read,
                own::Effect::Write => Effect::Write,
                own::Effect::Destructive => Effect::Destructive,
                own::Effect::External => Effect::External,
            },
            summary: self.text(&it.summary),
            label: self.text(&it.label),
            expires_at: it.expires_at.as_deref().map(at),
            deciders,
            idempotent: it.idempotent.unwrap_or(false),
        }
    }

    fn text(&mut self, text: &str) -> Text {
        Text {
            name: self.texts.number(text),
            ..look_of(text)
        }
    }

    fn arguments(&mut self, written: &Json) -> Arguments {
        let text = written.text();
        let json::Meaning {
            text: meaning,
            levels,
        } = json::meaning(&text);
        Arguments {
            value: Value {
                bytes: self.bytes.number(&text),
                meaning: meaning.map(|it| self.meanings.number(&it)),
            },
            size: u32::try_from(text.len()).unwrap_or(u32::MAX),
            levels,
        }
    }

    fn result(&mut self, written: &Json) -> Value {
        let text = written.text();
        let meaning = json::meaning(&text).text;
        // A text that is no JSON means itself.
        let meaning = meaning.as_deref().unwrap_or(&text);
        Value {
            bytes: self.bytes.number(&text),
            meaning: Some(self.meanings.number(meaning)),
        }
    }
}

/// A text with what decides whether it can be a name.
fn look_of(text: &str) -> Text {
    Text {
        name: NOTHING,
        characters: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
        is_blank: is_blank(text),
        has_line_break: has_line_break(text),
    }
}

/// A time. What is none was before everything.
fn at(text: &str) -> Time {
    time::parse(text).unwrap_or(Time::MIN)
}

// ── What is put out ──

impl Names {
    fn other(&mut self, output: &own::Output) -> Output {
        match output {
            own::Output::Perform(it) => Output::Perform {
                action: self.actions.put_out(&it.action_id),
                tool: self.texts.number(&it.tool),
                arguments: self.arguments(&it.arguments).value,
            },
            own::Output::InDoubt(it) => Output::InDoubt(self.actions.put_out(&it.action_id)),
            own::Output::Snapshot(it) => Output::Snapshot(self.snapshots.put_out(it.as_str())),
            own::Output::Refused(_) => Output::Refused,
            own::Output::Audit(_) | own::Output::Append(_) | own::Output::Event(_) => Output::Audit,
        }
    }

    /// An event or a message. What cannot be said in the words of the spec is a text of its own.
    fn told(&mut self, it: &Written) -> Output {
        let told = if it.is_event() {
            self.event(it).map(Output::Event)
        } else {
            self.message(it).map(Output::Append)
        };
        told.unwrap_or_else(|| Output::Other(self.texts.number(&it.text)))
    }

    fn id(&mut self, it: &Written) -> Id {
        let Some(id) = it.id() else {
            return Id::Fresh;
        };
        match self.told.insert((it.kind, id), it.text.clone()) {
            None => Id::Fresh,
            Some(text) if text == it.text => Id::Again,
            Some(_) => Id::Taken,
        }
    }

    fn event(&mut self, it: &Written) -> Option<Event> {
        let action = self.actions.put_out(&it.string("action_id")?);
        let what = match &*it.string("type")? {
            "created" => What::Created(Arc::new(self.record(it))),
            "decided" => What::Decided {
                decision: self.word(it, "decision", &DECISIONS, Decision::Other),
                by: self.optional(it, "by"),
            },
            "denied" => What::Denied {
                by: self.optional(it, "by"),
            },
            "executed" => What::Executed {
                status: self.word(it, "status", &STATUSES, Status::Other),
                result: it.members.get("result").map(|it| self.result(it)),
            },
            "not_run" => What::NotRun,
            "expired" => What::Expired,
            "cancelled" => What::Cancelled {
                reason: self.reason(it),
            },
            _ => return None,
        };
        Some(Event {
            id: self.id(it),
            action,
            at: it.string("at").map_or(Time::MIN, |it| at(&it)),
            what,
        })
    }

    fn record(&mut self, it: &Written) -> Record {
        let deciders = it.given("deciders").map(|names| {
            let names: Option<Vec<String>> = read(names);
            let mut names: SmallVec<[Name; 2]> = names.map_or_else(
                || SmallVec::from_slice(&[NOTHING]),
                |names| names.iter().map(|it| self.texts.number(it)).collect(),
            );
            names.sort_unstable();
            names
        });
        Record {
            nonce: it.string("nonce").map(|it| self.nonces.put_out(&it)),
            agent: self.name(it, "agent_id"),
            session: self.name(it, "session_id"),
            run: self.name(it, "run_id"),
            tool: self.name(it, "tool"),
            arguments: self.told_arguments(it),
            effect: self.word(it, "effect", &EFFECTS, Effect::Other),
            summary: self.name(it, "summary"),
            label: self.name(it, "label"),
            expires_at: it.given("expires_at").map(|it| {
                let text: Option<String> = read(it);
                text.map_or(Time::MIN, |it| at(&it))
            }),
            deciders,
            idempotent: it.given("idempotent").and_then(read).unwrap_or(false),
        }
    }

    fn message(&mut self, it: &Written) -> Option<Message> {
        let mut about = || Some(self.actions.put_out(&it.string("tool_call_id")?));
        let body = match &*it.string("type")? {
            "confirmation_request" => Body::ConfirmationRequest {
                text: self.name(it, "text"),
                label: self.name(it, "label"),
            },
            "tool_call" => Body::ToolCall {
                action: about()?,
                tool: self.name(it, "tool"),
                arguments: self.told_arguments(it),
            },
            "tool_result" => Body::ToolResult {
                action: about()?,
                tool: self.name(it, "tool"),
                status: self.word(it, "status", &STATUSES, Status::Other),
                result: it
                    .members
                    .get("result")
                    .map_or(MISSING, |it| self.result(it)),
            },
            "denied_result" => Body::DeniedResult {
                action: about()?,
                tool: self.name(it, "tool"),
                by: self.name(it, "by"),
            },
            "expired_result" => Body::ExpiredResult {
                action: about()?,
                tool: self.name(it, "tool"),
            },
            "cancelled_result" => Body::CancelledResult {
                action: about()?,
                tool: self.name(it, "tool"),
                reason: self.reason(it),
            },
            "user_message" => Body::UserMessage {
                by: self.name(it, "by"),
                text: self.name(it, "text"),
            },
            _ => return None,
        };
        Some(Message {
            id: self.id(it),
            session: self.optional(it, "session_id"),
            body,
        })
    }

    fn optional(&mut self, it: &Written, member: &str) -> Option<Name> {
        let given = it.given(member)?;
        let text: Option<String> = read(given);
        Some(text.map_or(NOTHING, |it| self.texts.number(&it)))
    }

    fn name(&mut self, it: &Written, member: &str) -> Name {
        self.optional(it, member).unwrap_or(NOTHING)
    }

    fn told_arguments(&mut self, it: &Written) -> Value {
        let arguments = it.members.get("arguments");
        arguments.map_or(MISSING, |it| self.arguments(it).value)
    }

    fn word<T: Copy>(
        &mut self,
        it: &Written,
        member: &str,
        words: &[(&str, T)],
        other: fn(Name) -> T,
    ) -> T {
        let text = it.string(member);
        let known = words
            .iter()
            .find(|(word, _)| Some(*word) == text.as_deref());
        known.map_or_else(|| other(self.name(it, member)), |(_, known)| *known)
    }

    fn reason(&mut self, it: &Written) -> Option<Reason> {
        it.given("reason")?;
        Some(self.word(it, "reason", &REASONS, Reason::Other))
    }
}

const EFFECTS: [(&str, Effect); 4] = [
    ("read", Effect::Read),
    ("write", Effect::Write),
    ("destructive", Effect::Destructive),
    ("external", Effect::External),
];
const DECISIONS: [(&str, Decision); 2] = [("allow", Decision::Allow), ("deny", Decision::Deny)];
const STATUSES: [(&str, Status); 3] = [
    ("success", Status::Success),
    ("error", Status::Error),
    ("not_run", Status::NotRun),
];
const REASONS: [(&str, Reason); 2] = [
    ("requested", Reason::Requested),
    ("session_ended", Reason::SessionEnded),
];
/// Arguments or a result that are not there.
const MISSING: Value = Value {
    bytes: NOTHING,
    meaning: None,
};

impl Written {
    fn of(kind: Kind, json: &Json) -> Self {
        Self {
            kind,
            text: json.as_str().to_owned(),
            members: read(json).unwrap_or_default(),
        }
    }

    /// A member, unless it is null.
    fn given(&self, member: &str) -> Option<&Json> {
        self.members.get(member).filter(|it| it.as_str() != "null")
    }

    fn string(&self, member: &str) -> Option<String> {
        self.given(member).and_then(read)
    }

    fn is_event(&self) -> bool {
        self.kind == Kind::Event
    }

    fn what(&self) -> &'static str {
        if self.is_event() { "event" } else { "message" }
    }

    fn id(&self) -> Option<String> {
        self.string(&format!("{}_id", self.what()))
    }

    fn is_prompt(&self) -> bool {
        self.string("type").as_deref() == Some("confirmation_request")
    }
}

fn read<T: DeserializeOwned>(json: &Json) -> Option<T> {
    serde_json::from_str(json.as_str()).ok()
}

// ── Rules of form ──

/// PA-10: it is a JSON object of a type that tells something.
fn has_type(_: &Names, _: &Call, it: &Written) -> Result<(), String> {
    const OF_EVENTS: &[&str] = &[
        "created",
        "decided",
        "denied",
        "executed",
        "not_run",
        "expired",
        "cancelled",
    ];
    const OF_MESSAGES: &[&str] = &[
        "confirmation_request",
        "tool_call",
        "tool_result",
        "denied_result",
        "expired_result",
        "cancelled_result",
        "user_message",
    ];
    let known = if it.is_event() {
        OF_EVENTS
    } else {
        OF_MESSAGES
    };
    match it.string("type") {
        Some(given) if known.contains(&&*given) => Ok(()),
        Some(given) => Err(format!("there is no {} of type {given:?}", it.what())),
        None => Err(format!("the {} has no `type`", it.what())),
    }
}

/// PA-10: it says which action it is about, where it is about one.
fn names_action(_: &Names, _: &Call, it: &Written) -> Result<(), String> {
    let is_about_none = it.is_prompt() || it.string("type").as_deref() == Some("user_message");
    let member = if it.is_event() {
        "action_id"
    } else if is_about_none {
        return Ok(());
    } else {
        "tool_call_id"
    };
    let names = it.string(member).map(|_| ());
    names.ok_or_else(|| format!("the {} has no `{member}`", it.what()))
}

/// PA-10: it has an id, or a replay cannot tell what is new from what comes again.
fn has_id(_: &Names, _: &Call, it: &Written) -> Result<(), String> {
    it.id()
        .map(|_| ())
        .ok_or_else(|| format!("the {} has no `{}_id`", it.what(), it.what()))
}

/// PA-9: what the user sees holds neither the id of an action nor its arguments, unless the loop has put them there.
fn hides_action(names: &Names, call: &Call, it: &Written) -> Result<(), String> {
    let Op::Propose(proposal) = &call.op else {
        return Ok(());
    };
    if it.is_event() || !it.is_prompt() {
        return Ok(());
    }
    let own = [proposal.summary.name, proposal.label.name].map(|it| names.texts.text(it));
    let seen = ["text", "label", "message_id"].map(|member| it.string(member));
    for text in seen.iter().flatten() {
        if own.contains(&Some(text)) {
            continue;
        }
        if names.actions.all().iter().any(|id| text.contains(id)) {
            return Err(format!(
                "the user must not see the id of an action: {text:?}"
            ));
        }
        let meaning = proposal.arguments.value.meaning;
        let meaning = meaning.and_then(|it| names.meanings.text(it));
        let mut values = text.match_indices(['{', '[']).filter_map(|(from, _)| {
            let mut values = serde_json::Deserializer::from_str(text.get(from..)?).into_iter();
            let value: &serde_json::value::RawValue = values.next()?.ok()?;
            json::meaning(value.get()).text
        });
        if values.any(|it| Some(&*it) == meaning) {
            return Err(format!("the user must not see the arguments: {text:?}"));
        }
    }
    Ok(())
}

// ── The way back ──

impl Names {
    fn propose(&mut self, it: &Proposal) -> Option<own::Propose> {
        let deciders = it.deciders.as_ref();
        Some(own::Propose {
            agent_id: self.text_of(it.agent),
            session_id: self.text_of(it.session),
            run_id: self.text_of(it.run),
            tool: self.text_of(it.tool),
            arguments: Json::holding(&self.json_of(it.arguments.value, Some(it.arguments))),
            effect: match it.effect {
                Effect::Read => own::Effect::Read,
                Effect::Write => own::Effect::Write,
                Effect::Destructive => own::Effect::Destructive,
                Effect::External => own::Effect::External,
                Effect::Other(_) => return None,
            },
            summary: self.text_of(it.summary),
            label: self.text_of(it.label),
            expires_at: it.expires_at.map(time::write),
            deciders: deciders.map(|names| names.iter().map(|it| self.text_of(*it)).collect()),
            idempotent: it.idempotent.then_some(true),
        })
    }

    fn response(&mut self, output: &Output) -> Option<own::Output> {
        Some(match output {
            Output::Append(Message { id, session, body }) => {
                let mut fields = self.fields_of_body(body);
                fields.extend([
                    ("message_id", json!(self.id_of(output, *id))),
                    ("session_id", json!(session.map(|it| self.name_of(it)))),
                ]);
                own::Output::Append(object(fields)?)
            }
            Output::Event(it) => {
                let mut fields = self.fields_of_what(&it.what);
                fields.extend([
                    ("event_id", json!(self.id_of(output, it.id))),
                    ("action_id", json!(self.action_of(it.action))),
                    ("at", json!(time::write(it.at))),
                ]);
                own::Output::Event(object(fields)?)
            }
            Output::Perform {
                action,
                tool,
                arguments,
            } => own::Output::Perform(own::ToolCall {
                action_id: self.action_of(*action),
                tool: self.name_of(*tool),
                arguments: Json::holding(&self.json_of(*arguments, None)),
            }),
            Output::InDoubt(action) => own::Output::InDoubt(own::Named {
                action_id: self.action_of(*action),
            }),
            Output::Audit => own::Output::Audit(object(vec![("reason", json!("ignored"))])?),
            Output::Snapshot(id) => {
                let text = self.snapshot_of(*id);
                own::Output::Snapshot(serde_json::from_str(&text).ok()?)
            }
            Output::Refused => own::Output::Refused(driver::Refused {
                clause: None,
                reason: "not allowed".to_owned(),
            }),
            Output::Other(_) => return None,
        })
    }

    fn fields_of_body(&mut self, body: &Body) -> Fields {
        let (kind, action) = match *body {
            Body::ConfirmationRequest { .. } => ("confirmation_request", None),
            Body::UserMessage { .. } => ("user_message", None),
            Body::ToolCall { action, .. } => ("tool_call", Some(action)),
            Body::ToolResult { action, .. } => ("tool_result", Some(action)),
            Body::DeniedResult { action, .. } => ("denied_result", Some(action)),
            Body::ExpiredResult { action, .. } => ("expired_result", Some(action)),
            Body::CancelledResult { action, .. } => ("cancelled_result", Some(action)),
        };
        let action = action.map(|it| self.action_of(it));
        let mut fields = vec![("type", json!(kind)), ("tool_call_id", json!(action))];
        match *body {
            Body::ConfirmationRequest { text, label } => fields.extend([
                ("text", json!(self.name_of(text))),
                ("label", json!(self.name_of(label))),
            ]),
            Body::UserMessage { by, text } => fields.extend([
                ("by", json!(self.name_of(by))),
                ("text", json!(self.name_of(text))),
            ]),
            Body::ToolCall {
                tool, arguments, ..
            } => fields.extend([
                ("tool", json!(self.name_of(tool))),
                ("arguments", json!(self.json_of(arguments, None))),
            ]),
            Body::ToolResult {
                tool,
                status,
                result,
                ..
            } => fields.extend([
                ("tool", json!(self.name_of(tool))),
                ("status", self.word_of(status, &STATUSES)),
                ("result", json!(self.result_of(result))),
            ]),
            Body::DeniedResult { tool, by, .. } => fields.extend([
                ("tool", json!(self.name_of(tool))),
                ("by", json!(self.name_of(by))),
            ]),
            Body::ExpiredResult { tool, .. } => fields.push(("tool", json!(self.name_of(tool)))),
            Body::CancelledResult { tool, reason, .. } => fields.extend([
                ("tool", json!(self.name_of(tool))),
                ("reason", json!(reason.map(|it| self.word_of(it, &REASONS)))),
            ]),
        }
        fields
    }

    fn fields_of_what(&mut self, what: &What) -> Fields {
        match what {
            What::Created(it) => self.fields_of_record(it),
            What::Decided { decision, by } => vec![
                ("type", json!("decided")),
                ("decision", self.word_of(*decision, &DECISIONS)),
                ("by", json!(by.map(|it| self.name_of(it)))),
            ],
            What::Denied { by } => vec![
                ("type", json!("denied")),
                ("by", json!(by.map(|it| self.name_of(it)))),
            ],
            What::Executed { status, result } => vec![
                ("type", json!("executed")),
                ("status", self.word_of(*status, &STATUSES)),
                ("result", json!(result.map(|it| self.result_of(it)))),
            ],
            What::NotRun => vec![("type", json!("not_run"))],
            What::Expired => vec![("type", json!("expired"))],
            What::Cancelled { reason } => vec![
                ("type", json!("cancelled")),
                ("reason", json!(reason.map(|it| self.word_of(it, &REASONS)))),
            ],
        }
    }

    fn fields_of_record(&mut self, it: &Record) -> Fields {
        let nonce = self.nonce_of(it);
        let deciders = it.deciders.as_ref();
        // They have no order: the numbers are those of their first appearance.
        let deciders = deciders.map(|names| {
            let mut names: Vec<_> = names.iter().map(|it| self.name_of(*it)).collect();
            names.sort_unstable();
            names
        });
        vec![
            ("type", json!("created")),
            ("nonce", json!(nonce)),
            ("agent_id", json!(self.name_of(it.agent))),
            ("session_id", json!(self.name_of(it.session))),
            ("run_id", json!(self.name_of(it.run))),
            ("tool", json!(self.name_of(it.tool))),
            ("arguments", json!(self.json_of(it.arguments, None))),
            ("effect", self.word_of(it.effect, &EFFECTS)),
            ("summary", json!(self.name_of(it.summary))),
            ("label", json!(self.name_of(it.label))),
            ("expires_at", json!(it.expires_at.map(time::write))),
            ("deciders", json!(deciders)),
            ("idempotent", json!(it.idempotent)),
        ]
    }

    fn action_of(&mut self, action: ActionId) -> String {
        issued(&mut self.actions, action, |it| format!("pa_{it}"))
    }

    fn nonce_of(&mut self, record: &Record) -> Option<String> {
        let nonce = record.nonce?;
        Some(issued(&mut self.nonces, nonce, |it| format!("nonce_{it}")))
    }

    fn snapshot_of(&mut self, snapshot: SnapshotId) -> String {
        issued(&mut self.snapshots, snapshot, |it| {
            format!("\"snapshot_{it}\"")
        })
    }

    fn id_of(&mut self, output: &Output, id: Id) -> Option<String> {
        let fresh = output.with_id(Id::Fresh)?;
        let is_of_kind = |it: &Output| discriminant(it) == discriminant(&fresh);
        let mut written = self.written.iter().rev();
        let known = match id {
            Id::Fresh => None,
            Id::Again => written.find(|(it, _)| *it == fresh),
            Id::Taken => written.find(|(it, _)| is_of_kind(it) && *it != fresh),
        };
        if let Some((_, id)) = known {
            return Some(id.clone());
        }
        let id = format!("id_{}", self.written.len());
        self.written.push((fresh, id.clone()));
        Some(id)
    }

    /// A text of that number that looks so: as it came, or one that is made up.
    fn text_of(&mut self, text: Text) -> String {
        let known = self.texts.text(text.name);
        let known = known.filter(|it| {
            Text {
                name: text.name,
                ..look_of(it)
            } == text
        });
        if let Some(known) = known {
            return known.to_owned();
        }
        let characters = usize::try_from(text.characters).unwrap_or(usize::MAX);
        let mut made_up = if text.is_blank {
            blanks(text.name, characters)
        } else {
            format!("{:-<characters$}", format!("n{}", text.name))
        };
        if text.has_line_break {
            made_up.pop();
            made_up.push('\n');
        }
        self.texts.adopt(text.name, made_up.clone());
        made_up
    }

    fn name_of(&mut self, name: Name) -> String {
        if let Some(text) = self.texts.text(name) {
            return text.to_owned();
        }
        self.text_of(name.into())
    }

    fn word_of<T: Copy + PartialEq + Other>(&mut self, word: T, words: &[(&str, T)]) -> Plain {
        if let Some((text, _)) = words.iter().find(|(_, it)| *it == word) {
            return json!(text);
        }
        json!(word.other().map(|it| self.name_of(it)))
    }

    /// A JSON text with those bytes and that meaning; of that size and so deep, where it can be.
    fn json_of(&mut self, value: Value, shape: Option<Arguments>) -> String {
        if let Some(text) = self.bytes.text(value.bytes).map(str::to_owned) {
            let read = self.arguments(&Json::holding(&text));
            if read.value == value && shape.is_none_or(|it| it == read) {
                return text;
            }
        }
        let (size, levels) = shape.map_or((0, 1), |it| (it.size, it.levels));
        let levels = usize::try_from(levels.saturating_sub(1)).unwrap_or(0);
        let (before, after) = match value.meaning {
            Some(meaning) => (
                "[".repeat(levels) + "{",
                format!("\"m\":{meaning}}}") + &"]".repeat(levels),
            ),
            None => ("{".to_owned(), format!("\"b\":{}", value.bytes)),
        };
        let size = usize::try_from(size).unwrap_or(0);
        let spaces = match size.checked_sub(before.len() + after.len()) {
            Some(spaces) => spaces,
            None if Some(value.bytes) == value.meaning => 0,
            None => BITS,
        };
        let text = before + &blanks(value.bytes, spaces) + &after;
        if let (Some(number), Some(meaning)) = (value.meaning, json::meaning(&text).text) {
            self.meanings.adopt(number, meaning);
        }
        self.bytes.adopt(value.bytes, text.clone());
        text
    }

    fn result_of(&mut self, value: Value) -> String {
        if let Some(text) = self.bytes.text(value.bytes).map(str::to_owned)
            && self.result(&Json::holding(&text)) == value
        {
            return text;
        }
        self.json_of(value, None)
    }
}

type Fields = Vec<(&'static str, Plain)>;

/// Those fields that are not null.
fn object(fields: Fields) -> Option<Json> {
    let given = fields.into_iter().filter(|(_, it)| !it.is_null());
    let object: serde_json::Map<_, _> = given.map(|(name, it)| (name.to_owned(), it)).collect();
    Json::of(&object).ok()
}

/// The id of that number, which is put out.
fn issued(ids: &mut Ids, number: u16, make: fn(u16) -> String) -> String {
    if number == ids.count() {
        ids.put_out(&make(number));
    }
    ids.text(number)
}

/// The bits of a number.
const BITS: usize = 16;

/// So many blanks, which are others for another number, if there are enough of them.
fn blanks(number: u16, count: usize) -> String {
    let bit = |place: usize| number.checked_shr(u32::try_from(place).ok()?);
    let blank = |place| {
        if bit(place).is_some_and(|it| it & 1 == 1) {
            '\t'
        } else {
            ' '
        }
    };
    (0..count).map(blank).collect()
}

/// A word of the spec that may be another than the page has.
trait Other {
    fn other(self) -> Option<Name>;
}

macro_rules! other {
    ($($word:ident: $($known:ident)*;)*) => {$(
        impl Other for $word {
            fn other(self) -> Option<Name> {
                match self {
                    Self::Other(name) => Some(name).filter(|it| *it != NOTHING),
                    $(Self::$known)|* => None,
                }
            }
        }
    )*};
}

other! {
    Effect: Read Write Destructive External;
    Decision: Allow Deny;
    Status: Success Error NotRun;
    Reason: Requested SessionEnded;
}
