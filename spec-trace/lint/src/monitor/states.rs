//! The states of a session, one for each of its producers (AAEP-A.9-1), and what is done in them.
//!
//! A state is entered by state.changed. Other events imply one ([`AgentState::shown_by`]). The next change may leave any of
//! them. What may happen in which state stands in [`crate::agent_state`].

use std::borrow::Cow;

use super::Notes;
use crate::agent_state::AgentState;
use crate::finding::{Finding, Place};
use crate::memory::Memory;
use crate::record::{Event, EventKind};
use crate::rules::{self, Rule};
use crate::small_map::SmallMap;
use crate::time::Timestamp;

/// The states of one session.
#[derive(Debug, Default, Clone)]
pub struct States {
    of: SmallMap<Box<State>>,
    /// The state where all producers share one. It counts only where there are several.
    shared: Chain,
    /// How many events came before.
    events: u64,
}

#[derive(Debug, Default, Clone)]
struct State {
    chain: Chain,
    /// The line of the last change.
    changed: Option<u64>,
    /// Whether the producer was the first of the session, or joined it later, in a state of its own.
    joined: bool,
    /// Calls in flight, and the line of the one before which there was none.
    calls: u64,
    called: Option<u64>,
    asked: bool,
    /// How many tools completed since the last change.
    completed: u64,
    /// On which line a change was told to come while a tool runs.
    told: Option<u64>,
    /// A question that was put in another state. The change may come at the question, so in a stream that sorts by time it
    /// may stand right behind it.
    unproved: Option<(Place, Option<Timestamp>, &'static Rule)>,
}

/// The state last entered, and those that events since then imply.
#[derive(Debug, Default, Clone, Hash)]
struct Chain {
    entered: Option<Cow<'static, str>>,
    /// A change whose state is unknown may have entered any.
    unknown: bool,
    /// By [`AgentState`].
    implied: [bool; AgentState::NAMES.len()],
}

impl Chain {
    fn event(&mut self, kind: &EventKind) {
        if let EventKind::StateChanged { to, .. } = kind {
            self.entered = to.map(to_keep);
            self.unknown = to.is_none();
            self.implied = Default::default();
        }
        if let Some(implied) = AgentState::shown_by(kind) {
            self.implied[implied as usize] = true;
        }
    }

    /// AAEP-A.2-1: a session starts in idle.
    fn may_leave(&self, state: &str) -> bool {
        let is_implied =
            || AgentState::named(state).is_some_and(|state| self.implied[state as usize]);
        self.unknown || self.entered() == state || is_implied()
    }

    fn entered(&self) -> &str {
        self.entered.as_deref().unwrap_or(AgentState::Idle.name())
    }

    fn waits(&self) -> bool {
        self.unknown || self.is_in(AgentState::AwaitingInput)
    }

    fn is_in(&self, state: AgentState) -> bool {
        self.entered() == state.name()
    }

    /// The state that was told last, where it is one of the protocol.
    fn known(&self) -> Option<AgentState> {
        AgentState::named(self.entered.as_deref()?)
    }
}

impl States {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self { of, shared, events } = self;
        // Whether it is the first or the second event makes a difference, and no more.
        memory.value(&(shared, (*events).min(2)));
        memory.each(of.iter(), |memory, (producer, state)| {
            let State {
                chain,
                changed,
                joined,
                calls,
                // What the numbers of the session tell.
                called: _,
                asked,
                completed,
                told,
                unproved,
            } = &**state;
            memory.line(changed.unwrap_or_default());
            memory.value(&(producer, chain, joined, calls, asked));
            memory.value(&(*completed > 0, told.is_some()));
            memory.each(unproved.iter(), |memory, (place, sent, rule)| {
                memory.line(place.line);
                memory.value(&(sent, rule.clause));
            });
        });
    }

    /// Judges an event of the open session; `begins_output` if it is the first chunk of an output.
    pub fn event(&mut self, event: &Event, begins_output: bool, notes: &mut Notes) {
        let first = self.of.is_empty();
        let several = !first && (self.of.len() > 1 || self.of.get(event.producer).is_none());
        let shared = Some(&self.shared).filter(|_| several);
        let right_after_start = self.events == 1;
        let state = self.of.get_or_make(event.producer, || {
            Box::new(State {
                joined: !first,
                ..State::default()
            })
        });
        state.prove(event, notes);
        match &event.kind {
            EventKind::StateChanged { from, to } => {
                state.changed(event, *from, *to, shared, notes);
            }
            EventKind::Invoked { .. } => state.called(event, notes),
            EventKind::Completed { .. } => {
                state.calls = state.calls.saturating_sub(1);
                state.completed += 1;
            }
            EventKind::Output(_) if begins_output => state.wrote(event, notes),
            EventKind::Asked(_) => {
                state.asked(event, &rules::ASKED_IN_ANOTHER_STATE, right_after_start);
            }
            EventKind::Clarifying(_) => {
                state.asked(
                    event,
                    &rules::CLARIFYING_IN_ANOTHER_STATE,
                    right_after_start,
                );
            }
            EventKind::Started
            | EventKind::Ended(_)
            | EventKind::Progress { .. }
            | EventKind::Output(_)
            | EventKind::Handoff => {}
        }
        state.chain.event(&event.kind);
        self.shared.event(&event.kind);
        self.events += 1;
    }

    /// Questions in another state than `awaiting_input` with nothing behind them yet: the clause, and the line.
    pub fn unproved(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let unproved = self.of.iter().filter_map(|(_, it)| it.unproved.as_ref());
        unproved.map(|(place, _, rule)| (rule.clause, place.line))
    }

    /// Producers whose state is `awaiting_input`.
    pub fn waiting(&self) -> impl Iterator<Item = &str> {
        let waiting = self.of.iter().filter(|(_, state)| {
            let chain = &state.chain;
            state.asked && !chain.unknown && chain.is_in(AgentState::AwaitingInput)
        });
        waiting.map(|(producer, _)| producer)
    }
}

impl State {
    /// AAEP-EV-8: the chain. AAEP-A.3-3: `calling_tool` while a tool runs.
    fn changed(
        &mut self,
        event: &Event,
        from: Option<&str>,
        to: Option<&str>,
        shared: Option<&Chain>,
        notes: &mut Notes,
    ) {
        let unknown_start = self.joined && self.chain.entered.is_none();
        if let Some(from) = from
            && !unknown_start
            && !self.chain.may_leave(from)
            && !shared.is_some_and(|chain| chain.may_leave(from))
        {
            let message = format!(
                "state.changed leaves {from}, and the state is {}",
                self.chain.entered()
            );
            notes.add(finding(&rules::STATE_CHAIN, event, message).since(self.changed));
        }
        if let Some(to) = to
            && !AgentState::named(to).is_some_and(AgentState::lets_tool_run)
            && self.calls > 0
            && self.told.is_none()
        {
            self.told = Some(event.place.line);
            let message = format!(
                "the state becomes {to} while a tool runs; further changes in this session are not listed"
            );
            let found = finding(&rules::OTHER_STATE_WHILE_CALLING, event, message);
            notes.add(found.since(self.called));
        }
        self.changed = Some(event.place.line);
        self.completed = 0;
    }

    /// AAEP-A.7.4-3: a call comes out of thinking, deciding or `calling_tool`, or out of a state of one's own.
    fn called(&mut self, event: &Event, notes: &mut Notes) {
        let elsewhere = self.chain.known().filter(|state| !state.lets_call());
        if let Some(state) = elsewhere.filter(|_| self.calls == 0 && !self.asked) {
            let message = format!("tool.invoked while the state is {}", state.name());
            notes.add(finding(&rules::CALLED_IN_ANOTHER_STATE, event, message));
        }
        if self.calls == 0 {
            self.called = Some(event.place.line);
        }
        self.calls += 1;
    }

    /// AAEP-A.7.7-1: output comes out of `writing_output`, or relays what a tool yielded. After a question it may explain
    /// what became of it (6.1). While a tool runs the state is to be `calling_tool` (AAEP-A.3-3), whatever else is done.
    fn wrote(&mut self, event: &Event, notes: &mut Notes) {
        let known = self.chain.known();
        let elsewhere = known.filter(|state| !state.lets_output_begin());
        let relays = self.calls > 0 || self.completed > 0 || self.asked;
        if let Some(state) = elsewhere.filter(|_| !relays) {
            let state = state.name();
            let message = format!("output.streaming begins while the state is {state}");
            notes.add(finding(&rules::WRITTEN_IN_ANOTHER_STATE, event, message));
        }
    }

    /// A session may start by asking (AAEP-A.7.6-2).
    fn asked(&mut self, event: &Event, rule: &'static Rule, right_after_start: bool) {
        self.asked = true;
        if !self.chain.waits() && !right_after_start {
            self.unproved = Some((event.place.to_keep(), event.sent, rule));
        }
    }

    /// AAEP-A.4-1, AAEP-A.5-1: `awaiting_input` is entered at or before the question.
    fn prove(&mut self, event: &Event, notes: &mut Notes) {
        let Some((place, asked, rule)) = self.unproved.take() else {
            return;
        };
        let enters = matches!(
            event.kind,
            EventKind::StateChanged { to, .. } if to.is_none_or(|to| to == AgentState::AwaitingInput.name())
        );
        let at_the_question =
            enters && (asked.is_none() || event.sent.is_none() || asked == event.sent);
        if !at_the_question {
            notes.add(Finding::new(
                rule,
                &place,
                Some(event.session),
                "a question without a state.changed to awaiting_input at or before it".to_owned(),
            ));
        }
    }
}

fn finding(rule: &Rule, event: &Event, message: String) -> Finding {
    Finding::new(rule, event.place, Some(event.session), message)
}

/// A state of the protocol takes no room of its own.
fn to_keep(state: &str) -> Cow<'static, str> {
    match AgentState::named(state) {
        Some(known) => Cow::Borrowed(known.name()),
        None => Cow::Owned(state.to_owned()),
    }
}
