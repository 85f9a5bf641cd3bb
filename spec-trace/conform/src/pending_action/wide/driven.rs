//! Any implementation in a wide run: calls become requests of the driver protocol, and its outputs the judge's words.
//!
//! The one thing to know: what an output leaves out becomes the name of nothing, so that the judge says by which clause it is
//! missed. Arguments are the same where they mean the same.

use std::collections::BTreeMap;
use std::rc::Rc;

use countersign_model::pending_action::judge::PendingActionJudge;
use countersign_model::pending_action::judge::words::{
    self as judged, Call, Event, Message, Outcome, Terms, ToolCall,
};
use countersign_model::pending_action::readings::Reading;
use countersign_protocol::pending_action::{
    self as driver, Capability, Op as Own, Output, PendingAction,
};
use countersign_protocol::{Common, Greeting, Json, Kind, Op, Output as Put, Protocol as _};
use countersign_reference::pending_action::{Decision, Effect, Input, ToolStatus};
use countersign_reference::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::names::{self, ARGUMENTS, UNKNOWN, numbered};
use super::step::{Asked as Asks, BYTES, Step};
use super::world::{MOST_SNAPSHOTS, START, World};
use crate::driven::{Asked, Driven, Settled, Taken, Unreadable, meaning};
use crate::suite::Suited as _;
use crate::wide::Clock;

/// What is kept of an implementation in a run.
#[derive(Clone)]
pub struct Driver {
    world: World<String, String>,
    greeting: Rc<Greeting<PendingAction>>,
    snapshots: Vec<Json>,
    /// What was put out for the last call.
    last: Vec<Put<PendingAction>>,
    /// By kind and id the action and the type of each event and message, since an older state was handed back.
    ids: BTreeMap<(Kind, String), (Option<String>, String)>,
}

impl Driven for Driver {
    type Protocol = PendingAction;
    type Step = Step;
    type Judge = PendingActionJudge;
    const START: i64 = START;
    const NEEDED: &'static [Kind] = &[Kind::Event, Kind::Append, Kind::Perform, Kind::Refused];
    const TICK: Call = Call::Tick;
    const BYTES: usize = BYTES;

    fn steps(bytes: &[u8]) -> Vec<Step> {
        let theme = bytes.first().map_or(0, |first| first % THEMES);
        let step = |(place, bytes): (usize, &[u8])| themed(theme, place, Step::of(bytes));
        bytes.chunks(BYTES).enumerate().map(step).collect()
    }

    fn judge(_: &Greeting<PendingAction>) -> PendingActionJudge {
        PendingActionJudge::new(Reading::SPECIFICATION)
    }

    fn readings(greeting: &Greeting<PendingAction>) -> Vec<Taken<PendingActionJudge>> {
        Self::readings_where(greeting, &Settled::NOTHING)
    }

    fn fold(first: &Step, second: &Step) -> Option<Step> {
        let clock = first.clock.then(second.clock)?;
        Some(Step { clock, ..*second })
    }

    fn guarded(call: &Call, outputs: &[judged::Output]) -> Option<Call> {
        let is_taken = !outputs.contains(&judged::Output::Refused);
        (matches!(call, Call::Rollback { .. }) && is_taken).then_some(Call::Tick)
    }

    fn names(&self) -> BTreeMap<String, String> {
        self.world.names.in_run()
    }

    fn begin(greeting: &Rc<Greeting<PendingAction>>) -> Self {
        Self {
            world: World::new(),
            greeting: Rc::clone(greeting),
            snapshots: Vec::new(),
            last: Vec::new(),
            ids: BTreeMap::new(),
        }
    }

    fn ask(&mut self, step: &Step) -> Option<Asked<Self>> {
        self.world.pass(step.clock);
        let needed = match step.asked {
            Asks::Cancel { .. } => Some(Capability::Cancel),
            Asks::Snapshot | Asks::Rollback { .. } => Some(Capability::Snapshot),
            Asks::Restart { .. } => Some(Capability::Restart),
            Asks::Say { .. } => Some(Capability::Say),
            Asks::Propose(_)
            | Asks::Decide(_)
            | Asks::Finish { .. }
            | Asks::EndSession { .. }
            | Asks::Tick => None,
        };
        // Nobody can tell what became of a call that ran into a crash where it is not shown to be in doubt.
        let is_unseen = needed == Some(Capability::Restart) && !self.greeting.shows(Kind::InDoubt);
        if is_unseen || needed.is_some_and(|needed| !self.greeting.supports.contains(&needed)) {
            return None;
        }
        let (call, op) = match step.asked {
            Asks::Snapshot if self.snapshots.len() == MOST_SNAPSHOTS => return None,
            Asks::Snapshot => (Call::Snapshot, Op::Own(Own::Snapshot {})),
            Asks::Rollback { snapshot } => {
                let place = usize::from(snapshot).checked_rem(self.snapshots.len())?;
                let call = Call::Rollback {
                    snapshot: names::number(place),
                };
                let snapshot = self.snapshots[place].clone();
                (call, Op::Own(Own::Rollback { snapshot }))
            }
            Asks::Restart { lost } => {
                let lost = usize::from(lost).min(self.last.len());
                let op = Common::Restart {
                    lost: u64::try_from(lost).ok(),
                };
                let behind = &self.last[self.last.len() - lost..];
                let shown = behind.iter().filter(|it| self.is_shown(it)).count();
                (Call::Restart { lost: shown }, Op::Common(op))
            }
            asked @ (Asks::Propose(_)
            | Asks::Decide(_)
            | Asks::Say { .. }
            | Asks::Finish { .. }
            | Asks::Cancel { .. }
            | Asks::EndSession { .. }
            | Asks::Tick) => {
                let made = self.world.call(asked)?;
                (made.call, self.op(made.input)?)
            }
        };
        Some(Asked {
            now: self.world.clock,
            op,
            call,
        })
    }

    fn take(
        &mut self,
        call: &Call,
        outputs: &[Put<PendingAction>],
    ) -> Result<Vec<Option<judged::Output>>, Unreadable> {
        let is_restart = matches!(call, Call::Restart { .. });
        let texts = self.world.names.texts(is_restart, outputs, &self.last);
        // What a prompt must not show may be named behind it.
        for output in outputs {
            if let Output::Event(event) = &output.what {
                let Told { action_id, .. } = read(event, "PA-10", "event")?;
                self.world.names.action(action_id);
            }
        }
        if let Call::Rollback { .. } = call {
            // Who has forgotten the events may name others so.
            self.ids.clear();
        }
        let shown = outputs.iter().zip(texts).map(|(output, text)| {
            if !self.is_shown(output) {
                return Ok(None);
            }
            let is_again = is_restart && self.last.contains(output);
            let output = self.output(&output.what, text, names::proposed(call), is_again)?;
            Ok(Some(output))
        });
        let shown = shown.collect();
        self.last = outputs.to_vec();
        shown
    }
}

/// So many kinds of runs there are; the first two have more of what is rare among random steps.
const THEMES: u8 = 8;

/// A step of a run of this kind: a tick becomes what the run has more of.
fn themed(theme: u8, place: usize, mut step: Step) -> Step {
    if matches!(step.asked, Asks::Tick) {
        match theme {
            0 if place.is_multiple_of(2) => step.asked = Asks::Snapshot,
            0 => {
                let snapshot = u8::try_from(place / 2).unwrap_or(0);
                step.asked = Asks::Rollback { snapshot };
            }
            1 => step.clock = Clock::Back(BACK),
            2.. => {}
        }
    }
    step
}

/// So far a clock is set back, in milliseconds.
const BACK: i64 = 60_000;

impl Driver {
    fn is_shown(&self, output: &Put<PendingAction>) -> bool {
        self.greeting.shows(PendingAction::kind(&output.what))
    }

    /// PA-10: an event and a message have ids of their own, or a replay cannot tell what is new from what comes again.
    fn is_named(
        &mut self,
        (kind, what): (Kind, &str),
        id: Option<&String>,
        told: &(Option<String>, String),
        is_again: bool,
    ) -> Result<(), Unreadable> {
        let Some(id) = id else {
            return Ok(());
        };
        let before = self.ids.insert((kind, id.clone()), told.clone());
        // The same told twice is for the judge.
        if is_again || before.is_none_or(|before| told.0.is_some() && before == *told) {
            return Ok(());
        }
        let text = format!("the {what} must have an id of its own");
        Err(Unreadable::new("PA-10", text))
    }

    /// The request that asks this. Nothing where it was not declared.
    fn op(&self, input: Input) -> Option<Op<PendingAction>> {
        let can = |it| self.greeting.supports.contains(&it);
        Some(Op::Own(match input {
            Input::Propose(propose) => Own::Propose(driver::Propose {
                agent_id: propose.agent_id,
                session_id: propose.session_id,
                run_id: propose.run_id,
                tool: propose.tool,
                arguments: Json::holding(propose.arguments.as_str()),
                effect: match propose.effect {
                    Effect::Read => driver::Effect::Read,
                    Effect::Write => driver::Effect::Write,
                    Effect::Destructive => driver::Effect::Destructive,
                    Effect::External => driver::Effect::External,
                },
                summary: propose.summary,
                label: propose.label,
                expires_at: propose.expires_at.map(|it| it.to_string()),
                deciders: propose.deciders,
                idempotent: can(Capability::Idempotent).then_some(propose.idempotent),
            }),
            Input::Decide(decide) => Own::Decide {
                action_id: decide.action_id,
                nonce: decide.nonce,
                decision: match decide.decision {
                    Decision::Allow => driver::Decision::Allow,
                    Decision::Deny => driver::Decision::Deny,
                },
                by: decide.by,
                arguments: decide.arguments.map(|it| Json::holding(it.as_str())),
            },
            Input::Say { by, text } => Own::Say {
                by: by.to_string(),
                text: text.to_string(),
            },
            Input::FinishTool {
                action_id,
                status,
                result,
            } => Own::FinishTool {
                action_id,
                status: match status {
                    ToolStatus::Success => driver::ToolStatus::Success,
                    ToolStatus::Error => driver::ToolStatus::Error,
                    ToolStatus::NotRun => driver::ToolStatus::NotRun,
                },
                result: Some(result.as_str())
                    .filter(|it| !it.is_empty())
                    .map(Json::holding),
            },
            Input::Cancel { action_id } => Own::Cancel { action_id },
            Input::EndSession { session_id } => Own::EndSession { session_id },
            Input::Tick => return Some(Op::Common(Common::Tick {})),
            Input::Restart => return None,
        }))
    }

    fn output(
        &mut self,
        output: &Output,
        text: u32,
        proposal: Option<&judged::Proposal>,
        is_again: bool,
    ) -> Result<judged::Output, Unreadable> {
        Ok(match output {
            Output::Event(event) => {
                let event: Told = read(event, "PA-10", "event")?;
                let id = event.event_id.as_ref().or(event.message_id.as_ref());
                let told = (Some(event.action_id.clone()), event.r#type.clone());
                self.is_named((Kind::Event, "event"), id, &told, is_again)?;
                judged::Output::Event {
                    event: self.event(event, proposal)?,
                    text,
                }
            }
            Output::Append(append) => {
                let said: Said = read(append, "PA-10", "message")?;
                let id = said.event_id.as_ref().or(said.message_id.as_ref());
                let about = said.action_id.as_ref().or(said.tool_call_id.as_ref());
                let told = (about.cloned(), said.r#type.clone());
                self.is_named((Kind::Append, "message"), id, &told, is_again)?;
                judged::Output::Append {
                    session: said.session_id.as_deref().map(|it| numbered('s', it)),
                    message: self.message(said)?,
                    text,
                }
            }
            Output::Perform(call) => {
                let action = self.world.names.action(call.action_id.clone());
                self.world.names.is_released(action);
                judged::Output::Perform {
                    action,
                    call: self.call(action, Some(&call.tool), Some(&call.arguments)),
                }
            }
            Output::InDoubt(named) => judged::Output::InDoubt {
                action: self.world.names.action(named.action_id.clone()),
            },
            Output::Audit(_) => judged::Output::Audit,
            Output::Snapshot(snapshot) => {
                self.snapshots.push(snapshot.clone());
                judged::Output::Snapshot {
                    snapshot: names::number(self.snapshots.len() - 1),
                }
            }
            Output::Refused(_) => judged::Output::Refused,
        })
    }

    fn event(
        &mut self,
        told: Told,
        proposal: Option<&judged::Proposal>,
    ) -> Result<Event, Unreadable> {
        let names = &mut self.world.names;
        let action = names.action(told.action_id.clone());
        if told.r#type != "created" && told.r#type != "called" {
            names.is_closed(action);
        }
        Ok(match &*told.r#type {
            "created" => {
                let nonce = told.nonce.clone();
                let nonce = nonce.map(|nonce| names.is_created(action, nonce, proposal));
                if nonce.is_none() {
                    names.is_open(action, (UNKNOWN, String::new()), proposal);
                }
                let terms = self.terms(action, &told)?;
                Event::Created {
                    action,
                    nonce,
                    terms,
                }
            }
            "decided" => Event::Decided {
                action,
                decision: match told.decision {
                    Some(driver::Decision::Allow) => judged::Decision::Allow,
                    Some(driver::Decision::Deny) => judged::Decision::Deny,
                    None => return Err(without("decision", "event `decided`")),
                },
            },
            "called" => Event::Called {
                action,
                call: self.call(action, told.tool.as_deref(), told.arguments.as_ref()),
            },
            "executed" => {
                names.is_back(action);
                Event::Executed {
                    action,
                    status: told.status.map(status),
                    result: told.result.and_then(|it| names::result(&it.text())),
                }
            }
            "not_run" => {
                names.is_back(action);
                Event::NotRun { action }
            }
            "denied" => Event::Denied { action },
            "expired" => Event::Expired { action },
            "cancelled" => Event::Cancelled { action },
            other => return Err(unknown("event", other)),
        })
    }

    fn terms(&self, action: u32, told: &Told) -> Result<Terms, Unreadable> {
        let named = |letter, text: &Option<String>| {
            text.as_deref().map_or(UNKNOWN, |it| numbered(letter, it))
        };
        let closes = |text: &String| Timestamp::parse(text).map_or(i64::MIN, Timestamp::millis);
        Ok(Terms {
            agent: named('p', &told.agent_id),
            session: named('s', &told.session_id),
            run: named('r', &told.run_id),
            call: self.call(action, told.tool.as_deref(), told.arguments.as_ref()),
            effect: match told.effect {
                Some(driver::Effect::Read) => judged::Effect::Read,
                Some(driver::Effect::Write) => judged::Effect::Write,
                Some(driver::Effect::Destructive) => judged::Effect::Destructive,
                Some(driver::Effect::External) => judged::Effect::External,
                None => {
                    let text = "the event `created` has no `effect`";
                    return Err(Unreadable::new("PA-1", text));
                }
            },
            summary: named('q', &told.summary),
            label: named('b', &told.label),
            expires_at: told.expires_at.as_ref().map(closes),
        })
    }

    /// The call as the judge knows it: by the number of the arguments that were proposed, where these mean the same.
    fn call(&self, action: u32, tool: Option<&str>, arguments: Option<&Json>) -> ToolCall {
        let proposed = self.world.names.proposal(action);
        let proposed = proposed.map(|it| it.terms.call.arguments);
        let given = arguments.and_then(|it| place_of(&it.text()));
        ToolCall {
            tool: tool.map_or(UNKNOWN, |it| numbered('t', it)),
            arguments: given.map_or(UNKNOWN, |it| names::approved(proposed, it)),
        }
    }

    fn message(&mut self, said: Said) -> Result<Message, Unreadable> {
        let about = said.tool_call_id.clone();
        let about = about.map(|id| self.world.names.action(id));
        let answered = |outcome, result| match about {
            Some(action) => Ok(Message::ToolResult {
                action,
                outcome,
                result,
            }),
            None => Err(without("tool_call_id", "message")),
        };
        match &*said.r#type {
            "confirmation_request" => Ok(Message::Prompt {
                summary: said.text.as_deref().map(|it| numbered('q', it)),
                label: said.label.as_deref().map(|it| numbered('b', it)),
                exposes: self.exposes(&said),
            }),
            "tool_call" => match about {
                Some(action) => Ok(Message::ToolCall {
                    action,
                    call: self.call(action, said.tool.as_deref(), said.arguments.as_ref()),
                }),
                None => Err(without("tool_call_id", "message")),
            },
            "tool_result" => {
                let Some(told) = said.status else {
                    return Err(without("status", "message `tool_result`"));
                };
                let result = said.result.and_then(|it| names::result(&it.text()));
                answered(Outcome::Finished(status(told)), result)
            }
            "denied_result" => answered(Outcome::Denied, None),
            "expired_result" => answered(Outcome::Expired, None),
            "cancelled_result" => answered(Outcome::Cancelled, None),
            "user_message" => Ok(Message::Said {
                by: said.by.as_deref().and_then(names::person),
                text: said.text.as_deref().map_or(UNKNOWN, |it| numbered('u', it)),
            }),
            other => Err(unknown("message", other)),
        }
    }

    /// PA-9: whether what the user sees holds the id of an action, or arguments: those of ours have braces or brackets.
    fn exposes(&self, said: &Said) -> bool {
        let seen = [&said.text, &said.label, &said.message_id];
        let mut seen = seen.into_iter().flatten();
        seen.any(|text| text.contains(['{', '[']) || self.world.names.is_told_in(text))
    }
}

/// An event as it is read: whatever it has.
#[derive(Deserialize)]
struct Told {
    event_id: Option<String>,
    message_id: Option<String>,
    action_id: String,
    r#type: String,
    nonce: Option<String>,
    agent_id: Option<String>,
    session_id: Option<String>,
    run_id: Option<String>,
    tool: Option<String>,
    #[serde(default, deserialize_with = "value")]
    arguments: Option<Json>,
    effect: Option<driver::Effect>,
    summary: Option<String>,
    label: Option<String>,
    expires_at: Option<String>,
    decision: Option<driver::Decision>,
    status: Option<driver::ToolStatus>,
    #[serde(default, deserialize_with = "value")]
    result: Option<Json>,
}

/// A message as it is read: whatever it has.
#[derive(Deserialize)]
struct Said {
    session_id: Option<String>,
    event_id: Option<String>,
    message_id: Option<String>,
    action_id: Option<String>,
    r#type: String,
    text: Option<String>,
    label: Option<String>,
    tool_call_id: Option<String>,
    tool: Option<String>,
    #[serde(default, deserialize_with = "value")]
    arguments: Option<Json>,
    status: Option<driver::ToolStatus>,
    #[serde(default, deserialize_with = "value")]
    result: Option<Json>,
    by: Option<String>,
}

/// Null is a value.
fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

fn read<T: DeserializeOwned>(
    json: &Json,
    clause: &'static str,
    what: &str,
) -> Result<T, Unreadable> {
    let wrong = |error| Unreadable::new(clause, format!("{what} of its form: {error}"));
    serde_json::from_str(json.as_str()).map_err(wrong)
}

fn without(field: &str, what: &str) -> Unreadable {
    Unreadable::new("PA-10", format!("the {what} has no `{field}`"))
}

fn unknown(what: &str, given: &str) -> Unreadable {
    Unreadable::new("PA-10", format!("there is no {what} of type {given:?}"))
}

const fn status(status: driver::ToolStatus) -> judged::Status {
    match status {
        driver::ToolStatus::Success => judged::Status::Success,
        driver::ToolStatus::Error => judged::Status::Error,
        driver::ToolStatus::NotRun => judged::Status::NotRun,
    }
}

/// The place of arguments among those of a run: of the same text, or else the first that mean the same.
fn place_of(text: &str) -> Option<usize> {
    let same = ARGUMENTS.iter().position(|(known, _)| *known == text);
    same.or_else(|| {
        let meant = meaning(text)?;
        ARGUMENTS
            .iter()
            .position(|(known, read)| read.is_some() && meaning(known).as_ref() == Some(&meant))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PA-3: `null` is arguments, and no other are none.
    #[test]
    fn null_is_read_as_arguments() {
        let event = Json::of(&serde_json::json!({
            "action_id": "pa_1", "type": "created", "arguments": null,
        }));
        let event = event.expect("it can be written");
        let read: Told = read(&event, "PA-10", "event").expect("an event");
        assert_eq!(
            read.arguments.map(|it| it.as_str().to_owned()),
            Some("null".to_owned())
        );
        assert!(read.result.is_none());
    }

    /// PA-3: however they are written out again.
    #[test]
    fn arguments_are_known_by_what_they_mean() {
        assert_eq!(place_of(r#"{"n":1}"#), Some(0));
        assert_eq!(place_of(r#"{"n":  1e0}"#), Some(0));
        assert_eq!(place_of(r#"{"b": null, "a": [1, 2]}"#), Some(5));
        assert_eq!(place_of(r#"{"n":9007199254740993 }"#), Some(8));
        assert_eq!(place_of(r#"{"n":9007199254740992 }"#), Some(9));
        assert_eq!(place_of(r#"{"n":3}"#), None);
        assert_eq!(place_of("{"), None);
    }
}
