//! Names on both sides of a wide run: numbers for the judge, texts for the executor, and outputs as the judge is shown them.
//!
//! The one thing to know: a text that is no text of ours is [`UNKNOWN`], which is the name of nothing.

use std::collections::BTreeMap;

use countersign_model::pending_action::judge::words::{
    self as judged, Call, Event, Outcome, Status, Terms, ToolCall,
};
use countersign_reference::pending_action::{
    ActionId, Append, Arguments, Decision, Effect, Happened, Message, Nonce, Output, Propose,
    ToolStatus,
};
use countersign_reference::time::Timestamp;

use super::step::Which;

/// What names nothing.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// People, who propose and decide: `p0` to `p11`.
pub(super) const PEOPLE: u8 = 12;

/// Arguments, each with what it means; two that mean the same are next to each other. What means nothing is within
/// no limits (PA-3).
pub(super) const ARGUMENTS: [(&str, Option<u8>); 17] = [
    (r#"{"n":1}"#, Some(0)),
    (r#"{ "n" : 1.0 }"#, Some(0)),
    (r#"{"\u006e":1e0}"#, Some(0)),
    (r#"{"n":2}"#, Some(1)),
    ("{}", Some(2)),
    (r#"{"a":[1,2],"b":null}"#, Some(3)),
    (r#"{"b":null,"a":[1,2.0]}"#, Some(3)),
    (r#"{"a":[2,1],"b":null}"#, Some(4)),
    (r#"{"n":9007199254740993}"#, Some(5)),
    (r#"{"n":9007199254740992}"#, Some(6)),
    (r#"{"n":"1"}"#, Some(7)),
    ("[1]", Some(8)),
    ("null", Some(10)),
    (r#"{"n":1,"n":1}"#, None),
    (r#"{"n":1"#, None),
    ("", None),
    // Another that no double carries; approved, and never proposed.
    (r#"{"n":9007199254740995}"#, Some(9)),
];

/// As many of them may be proposed.
const MEANINGFUL: usize = 13;

/// As many mean nothing, and stand behind those.
const MEANINGLESS: usize = 3;

pub(super) fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(UNKNOWN)
}

/// Arguments that may be proposed, seldom such as mean nothing.
pub(super) fn proposed_arguments(drawn: u8) -> usize {
    let drawn = usize::from(drawn);
    match drawn {
        0..240 => drawn % MEANINGFUL,
        240.. => MEANINGFUL + drawn % MEANINGLESS,
    }
}

/// What arguments mean.
pub(super) fn means(arguments: usize) -> Option<u8> {
    ARGUMENTS.get(arguments).and_then(|(_, meaning)| *meaning)
}

/// Arguments that mean the same as those that were proposed.
pub(super) fn same_arguments(proposed: Option<u32>, drawn: u8) -> usize {
    let proposed = proposed
        .and_then(|it| usize::try_from(it).ok())
        .unwrap_or(0);
    let meaning = means(proposed);
    let same = (0..ARGUMENTS.len()).filter(|it| meaning.is_some() && means(*it) == meaning);
    let same: Vec<usize> = same.collect();
    let place = usize::from(drawn).checked_rem(same.len());
    place.map_or(proposed, |place| same[place])
}

/// The name of the arguments that are approved: that of those proposed, where they mean the same.
pub(super) fn approved(proposed: Option<u32>, approved: usize) -> u32 {
    let meaning = proposed.and_then(|it| means(usize::try_from(it).ok()?));
    match proposed {
        Some(proposed) if meaning.is_some() && means(approved) == meaning => proposed,
        Some(_) | None => number(approved),
    }
}

/// Breaks one of the limits, where a number beyond the words says so.
pub(super) fn spoil(propose: &mut Propose, words: u8) -> bool {
    match words {
        0..240 => return false,
        240 => propose.summary.clear(),
        241 => propose.summary = "é".repeat(4_097),
        242 => propose.label.clear(),
        243 => propose.label = "é".repeat(81),
        244 => propose.label.push('\n'),
        245 => propose.agent_id.clear(),
        246 => propose.agent_id = "é".repeat(257),
        247 => propose.session_id.clear(),
        248 => propose.run_id.clear(),
        249 => propose.tool.clear(),
        250 => propose.deciders = Some(vec!["p1".to_owned(); 2]),
        251..=255 => propose.deciders = Some(vec![String::new()]),
    }
    true
}

/// The number in a name of ours: one letter, then the number.
pub(super) fn numbered(letter: char, text: &str) -> u32 {
    let digits = text.strip_prefix(letter);
    digits.and_then(|it| it.parse().ok()).unwrap_or(UNKNOWN)
}

/// A person; nobody, where the name is blank.
pub(super) fn person(name: &str) -> Option<u32> {
    (!name.trim().is_empty()).then(|| numbered('p', name))
}

fn tool_call(tool: &str, arguments: &Arguments) -> ToolCall {
    let place = ARGUMENTS
        .iter()
        .position(|(text, _)| *text == arguments.as_str());
    ToolCall {
        tool: numbered('t', tool),
        arguments: place.map_or(UNKNOWN, number),
    }
}

pub(super) fn result(text: &str) -> Option<u32> {
    (!text.is_empty()).then(|| numbered('v', text))
}

const fn effect(effect: Effect) -> judged::Effect {
    match effect {
        Effect::Read => judged::Effect::Read,
        Effect::Write => judged::Effect::Write,
        Effect::Destructive => judged::Effect::Destructive,
        Effect::External => judged::Effect::External,
    }
}

pub(super) const fn status(status: ToolStatus) -> Status {
    match status {
        ToolStatus::Success => Status::Success,
        ToolStatus::Error => Status::Error,
        ToolStatus::NotRun => Status::NotRun,
    }
}

/// Whether it is behind a record, so that the executor tells it again after a crash.
pub(super) fn is_told(output: &Output) -> bool {
    match output {
        Output::Append(_) | Output::Event(_) => true,
        Output::Record(_)
        | Output::Perform(_)
        | Output::Withdraw(_)
        | Output::InDoubt(_)
        | Output::Audit(_) => false,
    }
}

/// The actions that a party has made known, and what is known of each. It names them by `A`, and their nonces by `N`.
#[derive(Clone)]
pub(super) struct Names<A, N> {
    actions: Vec<Known>,
    by_id: BTreeMap<A, u32>,
    by_nonce: BTreeMap<N, u32>,
    /// Those that wait, and those that were released and have not come back, as far as one was told.
    open: Vec<u32>,
    running: Vec<u32>,
    /// How many texts were named, and the names of those that were put out last.
    texts: u32,
    last: Vec<u32>,
}

#[derive(Clone)]
struct Known {
    id: String,
    nonce: (u32, String),
    proposal: Option<judged::Proposal>,
}

impl<A, N> Default for Names<A, N> {
    fn default() -> Self {
        Self {
            actions: Vec::new(),
            by_id: BTreeMap::new(),
            by_nonce: BTreeMap::new(),
            open: Vec::new(),
            running: Vec::new(),
            texts: 0,
            last: Vec::new(),
        }
    }
}

impl<A: Ord + ToString, N: Ord + ToString> Names<A, N> {
    /// The action that is meant, as both sides name it.
    pub(super) fn which(&self, which: Which) -> Option<(u32, String)> {
        let from_newest = |list: &[u32], place: u8| {
            let place = usize::from(place).checked_rem(list.len())?;
            list.iter().rev().nth(place).copied()
        };
        let action = match which {
            Which::Open(place) => from_newest(&self.open, place),
            Which::Running(place) => from_newest(&self.running, place),
            Which::Any(place) => {
                let place = usize::from(place).checked_rem(self.actions.len())?;
                Some(number(self.actions.len() - 1 - place))
            }
            Which::Unknown => return Some((UNKNOWN, "pa_?".to_owned())),
        }?;
        let known = self.known(action)?;
        Some((action, known.id.clone()))
    }

    /// The actions as the judge calls them, each with its id.
    pub(super) fn in_run(&self) -> BTreeMap<String, String> {
        let known = self.actions.iter().enumerate();
        known
            .map(|(action, known)| (format!("action {action}"), known.id.clone()))
            .collect()
    }

    fn known(&self, action: u32) -> Option<&Known> {
        self.actions.get(usize::try_from(action).ok()?)
    }

    pub(super) fn nonce(&self, action: u32) -> (u32, String) {
        let known = self.known(action);
        known.map_or((UNKNOWN, "nonce_?".to_owned()), |known| known.nonce.clone())
    }

    pub(super) fn proposal(&self, action: u32) -> Option<&judged::Proposal> {
        self.known(action)?.proposal.as_ref()
    }

    /// The number of an action. What nobody was told of gets one too.
    pub(super) fn action(&mut self, id: A) -> u32 {
        let next = number(self.actions.len());
        let text = (!self.by_id.contains_key(&id)).then(|| id.to_string());
        let action = *self.by_id.entry(id).or_insert(next);
        self.actions.extend(text.map(|id| Known {
            id,
            nonce: (UNKNOWN, String::new()),
            proposal: None,
        }));
        action
    }

    /// An action is told of that was proposed; the number of its nonce.
    pub(super) fn is_created(
        &mut self,
        action: u32,
        nonce: N,
        proposal: Option<&judged::Proposal>,
    ) -> u32 {
        let next = number(self.by_nonce.len());
        let text = nonce.to_string();
        let nonce = *self.by_nonce.entry(nonce).or_insert(next);
        self.is_open(action, (nonce, text), proposal);
        nonce
    }

    /// The same of one with this nonce.
    pub(super) fn is_open(
        &mut self,
        action: u32,
        nonce: (u32, String),
        proposal: Option<&judged::Proposal>,
    ) {
        let known = self.actions.get_mut(usize::try_from(action).unwrap_or(0));
        if let (Some(known), Some(proposal)) = (known, proposal) {
            known.nonce = nonce;
            known.proposal = Some(proposal.clone());
            self.open.push(action);
        }
    }

    /// Whether a text holds the id of an action.
    pub(super) fn is_told_in(&self, text: &str) -> bool {
        self.actions.iter().any(|known| text.contains(&known.id))
    }

    /// An action waits no more.
    pub(super) fn is_closed(&mut self, action: u32) {
        self.open.retain(|open| *open != action);
    }

    /// A call was released.
    pub(super) fn is_released(&mut self, action: u32) {
        self.is_closed(action);
        self.running.push(action);
    }

    /// A call has come back.
    pub(super) fn is_back(&mut self, action: u32) {
        self.running.retain(|running| *running != action);
    }

    /// The numbers of the texts of what was put out, where `before` was put out for the last call: equal values are written
    /// alike, and only what was put out last can come again, after a restart.
    pub(super) fn texts<O: PartialEq>(
        &mut self,
        is_restart: bool,
        told: &[O],
        before: &[O],
    ) -> Vec<u32> {
        let text = |(place, output): (usize, &O)| {
            let again = before.iter().position(|it| is_restart && it == output);
            let again = again.and_then(|place| self.last.get(place).copied());
            again.unwrap_or(self.texts + number(place))
        };
        let texts: Vec<u32> = told.iter().enumerate().map(text).collect();
        self.texts += number(told.len());
        self.last.clone_from(&texts);
        texts
    }
}

/// The call that a proposal is, if it is one.
pub(super) const fn proposed(call: &Call) -> Option<&judged::Proposal> {
    match call {
        Call::Propose(proposal) => Some(proposal),
        Call::Decide(_)
        | Call::Say { .. }
        | Call::FinishTool { .. }
        | Call::Cancel { .. }
        | Call::EndSession { .. }
        | Call::Snapshot
        | Call::Rollback { .. }
        | Call::Restart { .. }
        | Call::Tick => None,
    }
}

/// What the executor has put out.
impl Names<ActionId, Nonce> {
    /// What was put out for a call, as the judge is shown it; `before` is what was put out for the last one.
    pub(super) fn outputs(
        &mut self,
        call: &Call,
        told: &[Output],
        before: &[Output],
    ) -> Vec<judged::Output> {
        let texts = self.texts(matches!(call, Call::Restart { .. }), told, before);
        let outputs = told.iter().zip(texts);
        let proposal = proposed(call);
        let outputs = outputs.map(|(output, text)| self.output(output, text, proposal));
        // A refusal may come behind them.
        let mut all = Vec::with_capacity(told.len() + 1);
        all.extend(outputs);
        all
    }

    fn output(
        &mut self,
        output: &Output,
        text: u32,
        proposal: Option<&judged::Proposal>,
    ) -> judged::Output {
        match output {
            Output::Event(event) => {
                let action = self.action(event.action_id);
                let event = self.event(action, &event.happened, proposal);
                judged::Output::Event { event, text }
            }
            Output::Append(append) => judged::Output::Append {
                message: self.message(append),
                session: append
                    .session_id
                    .as_ref()
                    .map(|it| numbered('s', it.as_str())),
                text,
            },
            Output::Perform(call) => {
                let action = self.action(call.action_id);
                self.is_released(action);
                judged::Output::Perform {
                    action,
                    call: tool_call(call.tool.as_str(), &call.arguments),
                }
            }
            Output::InDoubt(named) => judged::Output::InDoubt {
                action: self.action(named.action_id),
            },
            // A perform counts as carried out once it is put out, so that taking it back is for the operator to know.
            Output::Record(_) | Output::Withdraw(_) | Output::Audit(_) => judged::Output::Audit,
        }
    }

    fn event(
        &mut self,
        action: u32,
        happened: &Happened,
        proposal: Option<&judged::Proposal>,
    ) -> Event {
        if !matches!(happened, Happened::Created { .. }) {
            self.is_closed(action);
        }
        match happened {
            Happened::Created {
                nonce,
                proposal: told,
            } => {
                let nonce_number = self.is_created(action, *nonce, proposal);
                Event::Created {
                    action,
                    nonce: Some(nonce_number),
                    terms: Terms {
                        agent: numbered('p', told.agent_id.as_str()),
                        session: numbered('s', told.session_id.as_str()),
                        run: numbered('r', told.run_id.as_str()),
                        call: tool_call(told.tool.as_str(), &told.arguments),
                        effect: effect(told.effect),
                        summary: numbered('q', told.summary.as_str()),
                        label: numbered('b', told.label.as_str()),
                        expires_at: told.expires_at.map(Timestamp::millis),
                    },
                }
            }
            Happened::Decided { decision, .. } => Event::Decided {
                action,
                decision: match decision {
                    Decision::Allow => judged::Decision::Allow,
                    Decision::Deny => judged::Decision::Deny,
                },
            },
            Happened::Executed { status: told } => {
                self.is_back(action);
                Event::Executed {
                    action,
                    status: Some(status(*told)),
                    result: None,
                }
            }
            Happened::NotRun => {
                self.is_back(action);
                Event::NotRun { action }
            }
            Happened::Denied { .. } => Event::Denied { action },
            Happened::Expired => Event::Expired { action },
            Happened::Cancelled { .. } => Event::Cancelled { action },
        }
    }

    fn message(&mut self, append: &Append) -> judged::Message {
        match &append.message {
            Message::ConfirmationRequest { text, label } => judged::Message::Prompt {
                summary: Some(numbered('q', text.as_str())),
                label: Some(numbered('b', label.as_str())),
                exposes: exposes(append, [text.as_str(), label.as_str()]),
            },
            Message::ToolCall {
                tool_call_id,
                tool,
                arguments,
            } => judged::Message::ToolCall {
                action: self.action(*tool_call_id),
                call: tool_call(tool.as_str(), arguments),
            },
            Message::ToolResult {
                tool_call_id,
                status: told,
                result: returned,
                ..
            } => judged::Message::ToolResult {
                action: self.action(*tool_call_id),
                outcome: Outcome::Finished(status(*told)),
                result: result(returned.as_str()),
            },
            Message::DeniedResult { tool_call_id, .. } => {
                self.result(*tool_call_id, Outcome::Denied)
            }
            Message::ExpiredResult { tool_call_id, .. } => {
                self.result(*tool_call_id, Outcome::Expired)
            }
            Message::CancelledResult { tool_call_id, .. } => {
                self.result(*tool_call_id, Outcome::Cancelled)
            }
            Message::UserMessage { by, text } => judged::Message::Said {
                by: person(by),
                text: numbered('u', text),
            },
        }
    }

    fn result(&mut self, id: ActionId, outcome: Outcome) -> judged::Message {
        judged::Message::ToolResult {
            action: self.action(id),
            outcome,
            result: None,
        }
    }
}

/// PA-9: whether what the user sees holds an id or arguments. The executor's ids begin with `pa_`, and arguments have braces.
fn exposes(append: &Append, texts: [&str; 2]) -> bool {
    let id = append.message_id.to_string();
    let mut seen = texts.into_iter().chain([id.as_str()]);
    seen.any(|text| text.contains("pa_") || text.contains('{'))
}
