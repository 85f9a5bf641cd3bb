//! What a run of pending actions has seen so far, from which its next requests are made.
//!
//! It is the same whoever is asked.

use std::collections::BTreeSet;

use countersign_model::pending_action::alphabet::{self, Call, Event, What};
use countersign_model::pending_action::wire::Names;
use countersign_protocol::Json;
use countersign_protocol::pending_action::{Decision, Effect, Op, Propose, ToolStatus};
use countersign_reference::time::Timestamp;

use super::step::{Approved, Asked, Decided, Decider, Proposed, Quoted, Session, Which};
use crate::wide::Clock;

/// When a run begins, in milliseconds since the epoch.
pub(super) const START: i64 = 1_780_000_000_000;

/// As many snapshots are kept in a run: the checker keeps its account of each.
pub(super) const MOST_SNAPSHOTS: usize = 8;

/// People, who propose and decide: `p0` to `p11`.
const PEOPLE: u8 = 12;

/// Arguments, each with what it means; two that mean the same are next to each other. What means nothing is within
/// no limits (PA-3).
const ARGUMENTS: [(&str, Option<u8>); 17] = [
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

/// What was seen.
#[derive(Clone)]
pub(super) struct World {
    pub clock: i64,
    latest: i64,
    deadlines: BTreeSet<i64>,
    /// How often the session at each place was followed by another.
    sessions: [u8; 8],
    /// By number: what is known of each action.
    known: Vec<Option<Known>>,
    /// Those that wait, and those that were released and have not come back, as far as one was told.
    open: Vec<usize>,
    running: Vec<usize>,
}

/// What is known of an action that was proposed.
#[derive(Clone)]
struct Known {
    /// Empty, where the party has none.
    nonce: String,
    deciders: Vec<String>,
    arguments: usize,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            clock: START,
            latest: START,
            deadlines: BTreeSet::new(),
            sessions: [0; 8],
            known: Vec::new(),
            open: Vec::new(),
            running: Vec::new(),
        }
    }

    /// Time passes, or is set back.
    pub(super) fn pass(&mut self, clock: Clock) {
        self.clock = match clock {
            Clock::Stays => self.clock,
            Clock::Ahead(span) => self.clock.saturating_add(span),
            Clock::Back(span) => self.clock.saturating_sub(span),
            Clock::Deadline(place, beside) => {
                let mut to_come = self.deadlines.range(self.latest + 1..);
                let deadline = to_come.nth(place.into());
                deadline.map_or(self.clock, |deadline| deadline.saturating_add(beside))
            }
        };
        self.latest = self.latest.max(self.clock);
    }

    /// What a step asks of any party. Nothing where there is nothing that it could be about, and where it asks for its state.
    pub(super) fn op(&mut self, names: &Names, asked: Asked) -> Option<Op> {
        Some(match asked {
            Asked::Propose(proposed) => Op::Propose(self.propose(proposed)),
            Asked::Decide(decided) => self.decide(names, decided)?,
            Asked::Say { by, text } => Op::Say {
                by: if by < PEOPLE {
                    format!("p{by}")
                } else {
                    " ".to_owned()
                },
                text: format!("u{text}"),
            },
            Asked::Finish {
                action,
                failed,
                never_begun,
                result,
            } => Op::FinishTool {
                action_id: self.which(names, action)?.1,
                status: match (never_begun, failed) {
                    (true, _) => ToolStatus::NotRun,
                    (false, true) => ToolStatus::Error,
                    (false, false) => ToolStatus::Success,
                },
                result: (result > 0).then(|| Json::holding(&format!("v{result}"))),
            },
            Asked::Cancel { action } => Op::Cancel {
                action_id: self.which(names, action)?.1,
            },
            Asked::EndSession { session } => self.end_session(session),
            Asked::Tick | Asked::Snapshot | Asked::Rollback { .. } | Asked::Restart { .. } => {
                return None;
            }
        })
    }

    /// What came of a call.
    pub(super) fn see(&mut self, names: &Names, call: &Call, outputs: &[alphabet::Output]) {
        for output in outputs {
            let Some(action) = output.action().map(usize::from) else {
                continue;
            };
            if self.known.len() <= action {
                self.known.resize(action + 1, None);
            }
            match output {
                alphabet::Output::Event(Event {
                    what: What::Created(record),
                    ..
                }) => {
                    if let alphabet::Op::Propose(proposal) = &call.op {
                        let nonce = record.nonce.map(usize::from);
                        let nonce = nonce.and_then(|it| names.nonces().get(it));
                        let deciders = proposal.deciders.iter().flatten();
                        let deciders = deciders.filter_map(|it| names.text_numbered(it.name));
                        let arguments = names.written_as(proposal.arguments.value);
                        let mut texts = ARGUMENTS.iter();
                        self.known[action] = Some(Known {
                            nonce: nonce.cloned().unwrap_or_default(),
                            deciders: deciders.map(str::to_owned).collect(),
                            arguments: texts
                                .position(|(text, _)| Some(*text) == arguments)
                                .unwrap_or(0),
                        });
                        self.open.push(action);
                    }
                }
                alphabet::Output::Event(Event { what, .. }) => {
                    self.open.retain(|it| *it != action);
                    if matches!(what, What::Executed { .. } | What::NotRun) {
                        self.running.retain(|it| *it != action);
                    }
                }
                alphabet::Output::Perform { .. } => {
                    self.open.retain(|it| *it != action);
                    self.running.push(action);
                }
                alphabet::Output::Append(_)
                | alphabet::Output::InDoubt(_)
                | alphabet::Output::Audit
                | alphabet::Output::Snapshot(_)
                | alphabet::Output::Refused
                | alphabet::Output::Other(_) => {}
            }
        }
    }

    /// The action that is meant, by number and id.
    fn which(&self, names: &Names, which: Which) -> Option<(Option<usize>, String)> {
        let from_newest = |list: &[usize], place: u8| {
            let place = usize::from(place).checked_rem(list.len())?;
            list.iter().rev().nth(place).copied()
        };
        let action = match which {
            Which::Open(place) => from_newest(&self.open, place),
            Which::Running(place) => from_newest(&self.running, place),
            Which::Any(place) => {
                let place = usize::from(place).checked_rem(names.actions().len())?;
                Some(names.actions().len() - 1 - place)
            }
            Which::Unknown => return Some((None, "pa_?".to_owned())),
        }?;
        Some((Some(action), names.actions().get(action)?.clone()))
    }

    fn known(&self, action: Option<usize>) -> Option<&Known> {
        self.known.get(action?)?.as_ref()
    }

    fn nonce(&self, action: Option<usize>) -> String {
        let known = self.known(action);
        known.map_or("nonce_?".to_owned(), |it| it.nonce.clone())
    }

    fn propose(&mut self, proposed: Proposed) -> Propose {
        let session = self.session(proposed.session);
        let drawn = usize::from(proposed.arguments);
        let arguments = match drawn {
            0..240 => drawn % MEANINGFUL,
            240.. => MEANINGFUL + drawn % MEANINGLESS,
        };
        let expires_at = proposed
            .expires_in
            .map(|span| self.latest.saturating_add(span));
        let deciders = proposed.deciders.map(|bits| {
            let people = (0..8).filter(|bit| bits & (1 << bit) != 0);
            people.map(|person| format!("p{person}")).collect()
        });
        let words = proposed.words % 16;
        self.deadlines.extend(expires_at);
        let mut propose = Propose {
            agent_id: format!("p{}", proposed.agent % PEOPLE),
            session_id: format!("s{session}"),
            run_id: format!("r{}", proposed.agent / 4),
            tool: format!("t{}", proposed.tool),
            arguments: Json::holding(ARGUMENTS[arguments].0),
            effect: EFFECTS[usize::from(proposed.effect) % EFFECTS.len()],
            summary: format!("q{words}"),
            label: format!("b{words}"),
            expires_at: expires_at.map(|it| Timestamp::from_millis(it).to_string()),
            deciders,
            idempotent: Some(proposed.idempotent),
        };
        spoil(&mut propose, proposed.words);
        propose
    }

    fn decide(&mut self, names: &Names, decided: Decided) -> Option<Op> {
        let (action, action_id) = self.which(names, decided.action)?;
        let nonce = match decided.nonce {
            Quoted::Absent => None,
            // There are parties without any.
            Quoted::Right => Some(self.nonce(action)).filter(|text| !text.is_empty()),
            Quoted::Neighbour => Some(self.nonce(action.map(|it| it.saturating_sub(1)))),
            Quoted::Unknown => Some("nonce_?".to_owned()),
        };
        let known = self.known(action);
        let by = match decided.by {
            Decider::Entitled(place) => {
                let listed = known.map_or(&[][..], |it| &it.deciders);
                let which = usize::from(place).checked_rem(listed.len());
                let listed = which.and_then(|it| listed.get(it));
                listed.map_or_else(|| format!("p{place}"), Clone::clone)
            }
            Decider::Person(person) => format!("p{}", person % PEOPLE),
            Decider::Blank => " \t".to_owned(),
        };
        let proposed = known.map_or(0, |it| it.arguments);
        let arguments = decided.arguments.map(|approved| {
            let which = match approved {
                Approved::Same(drawn) => same_arguments(proposed, drawn),
                Approved::Any(place) => usize::from(place) % ARGUMENTS.len(),
            };
            Json::holding(ARGUMENTS[which].0)
        });
        let decision = if decided.allows {
            Decision::Allow
        } else {
            Decision::Deny
        };
        Some(Op::Decide {
            action_id,
            nonce,
            decision,
            by,
            arguments,
        })
    }

    fn end_session(&mut self, session: Session) -> Op {
        let name = self.session(session);
        let place = usize::from(session.place) % self.sessions.len();
        if name == session_name(place, self.sessions[place]) {
            self.sessions[place] = self.sessions[place].saturating_add(1);
        }
        Op::EndSession {
            session_id: format!("s{name}"),
        }
    }

    fn session(&self, session: Session) -> usize {
        let place = usize::from(session.place) % self.sessions.len();
        let now = self.sessions[place];
        let before = if session.ended {
            now.saturating_sub(1)
        } else {
            now
        };
        session_name(place, before)
    }
}

const EFFECTS: [Effect; 4] = [
    Effect::Read,
    Effect::Write,
    Effect::Destructive,
    Effect::External,
];

fn session_name(place: usize, followed: u8) -> usize {
    place + 8 * usize::from(followed)
}

/// Arguments that mean the same as those that were proposed.
fn same_arguments(proposed: usize, drawn: u8) -> usize {
    let meaning = ARGUMENTS[proposed].1;
    let same = (0..ARGUMENTS.len()).filter(|it| meaning.is_some() && ARGUMENTS[*it].1 == meaning);
    let same: Vec<usize> = same.collect();
    let place = usize::from(drawn).checked_rem(same.len());
    place.map_or(proposed, |place| same[place])
}

/// Breaks one of the limits, where a number beyond the words says so.
fn spoil(propose: &mut Propose, words: u8) {
    match words {
        0..240 => {}
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
}
