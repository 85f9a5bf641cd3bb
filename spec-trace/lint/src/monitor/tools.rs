//! Calls and their completions.
//!
//! A completion belongs to the call with its `tool_call_id`, or, where one of the two has no id, to a call of the same
//! tool. A completion without id among several calls of its tool is kept as owed by one of them; which one is only known
//! by those that complete under their own id.

use std::collections::VecDeque;

use super::Notes;
use super::confirmations::KEPT;
use super::seen::hash;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::{Event, EventKind};
use crate::rules;
use crate::small_map::SmallMap;

/// The calls in flight of one session.
#[derive(Debug, Default, Clone)]
pub struct Tools {
    /// By tool; a call that names none is kept under the empty name.
    in_flight: SmallMap<InFlight>,
    /// The last that completed by their ids: the hash of the id, and the line of the call.
    completed: VecDeque<(u64, u64)>,
}

#[derive(Debug, Default, Clone)]
struct InFlight {
    /// Lines of the calls without id, oldest first.
    without_id: VecDeque<u64>,
    /// Lines of the others by id, oldest first, and how many they are.
    with_id: SmallMap<VecDeque<u64>>,
    with_id_count: usize,
    /// Completions without id that were not laid to one call.
    unassigned: usize,
}

impl InFlight {
    /// Calls for which no completion was seen, whichever they are.
    fn open(&self) -> usize {
        self.without_id.len() + self.with_id_count - self.unassigned
    }

    /// Takes out the oldest call with that id, and yields its line.
    fn complete(&mut self, id: &str) -> Option<u64> {
        let lines = self.with_id.get_mut(id)?;
        let line = lines.pop_front()?;
        if lines.is_empty() {
            self.with_id.remove(id);
        }
        self.with_id_count -= 1;
        Some(line)
    }

    fn complete_any(&mut self) {
        if self.with_id.is_empty() {
            self.without_id.pop_front();
        } else {
            self.unassigned += 1;
        }
    }

    /// The line of a call that is surely open, as the ids tell: what completes without id may be any.
    fn open_by_id(&self, line: u64) -> Option<u64> {
        let mut with_id = self.with_id.values().flatten();
        (self.unassigned == 0 && with_id.any(|it| *it == line)).then_some(line)
    }

    /// Lines of the calls that are still open. Where several could be, the youngest are named.
    fn open_lines(&self) -> impl Iterator<Item = u64> {
        let mut lines: Vec<u64> = self.without_id.iter().copied().collect();
        lines.extend(self.with_id.values().flatten());
        lines.sort_unstable();
        lines.into_iter().skip(self.unassigned)
    }
}

impl Tools {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            in_flight,
            completed,
        } = self;
        memory.each(completed.iter(), |memory, (id, line)| {
            memory.value(id);
            memory.line(*line);
        });
        memory.each(in_flight.iter(), |memory, (tool, in_flight)| {
            let InFlight {
                without_id,
                with_id,
                with_id_count,
                unassigned,
            } = in_flight;
            memory.value(&(tool, with_id_count, unassigned));
            memory.each(without_id.iter(), |memory, line| memory.line(*line));
            memory.each(with_id.iter(), |memory, (id, lines)| {
                memory.value(&id);
                memory.each(lines.iter(), |memory, line| memory.line(*line));
            });
        });
    }

    /// Judges an event of the open session.
    pub fn event(&mut self, event: &Event, notes: &mut Notes) {
        match &event.kind {
            EventKind::Invoked { tool, .. } => {
                let tool = tool.as_deref().unwrap_or_default();
                let in_flight = self.in_flight.get_or_make(tool, InFlight::default);
                match &event.ids.tool_call_id {
                    Some(id) => {
                        let lines = in_flight.with_id.get_or_make(id, VecDeque::new);
                        lines.push_back(event.place.line);
                        in_flight.with_id_count += 1;
                    }
                    None => in_flight.without_id.push_back(event.place.line),
                }
            }
            EventKind::Completed { tool, .. } => self.completed(event, tool.as_deref(), notes),
            EventKind::Started
            | EventKind::Ended(_)
            | EventKind::StateChanged { .. }
            | EventKind::Progress { .. }
            | EventKind::Output(_)
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => {}
        }
    }

    /// Lines of the calls that have not completed.
    pub fn open_lines(&self) -> Vec<u64> {
        let mut lines: Vec<u64> = self
            .in_flight
            .values()
            .flat_map(InFlight::open_lines)
            .collect();
        lines.sort_unstable();
        lines
    }

    fn completed(&mut self, event: &Event, tool: Option<&str>, notes: &mut Notes) {
        if self.complete(event, tool) {
            return;
        }
        let id = event.ids.tool_call_id.as_deref();
        // AAEP-A.3-2, AAEP-A.8-1: a completion needs its invocation.
        let named = match (tool, id) {
            (Some(tool), Some(id)) => format!("{tool} ({id})"),
            (Some(name), None) | (None, Some(name)) => name.to_owned(),
            (None, None) => "an unnamed tool".to_owned(),
        };
        let meant = tool.and_then(|tool| self.close_misnamed(tool));
        let explanation = match meant {
            Some(line) => format!("the call of that tool on line {line} has another tool_call_id"),
            None => "no such call is in flight: it was never invoked, or has completed already"
                .to_owned(),
        };
        let message = format!("tool.completed of {named}, and {explanation}");
        let session = Some(event.session);
        let rule = &rules::COMPLETION_WITHOUT_CALL;
        let finding = Finding::new(rule, event.place, session, message);
        notes.add(finding.since(id.and_then(|id| self.completed_by_id(id))));
    }

    /// Takes in a completion. Whether it is that of a call in flight.
    pub(super) fn complete(&mut self, event: &Event, tool: Option<&str>) -> bool {
        let id = event.ids.tool_call_id.as_deref();
        let found = id.is_some_and(|id| self.complete_by_id(id)) || self.complete_by_tool(tool, id);
        if found {
            self.in_flight.retain(|in_flight| in_flight.open() > 0);
        }
        found
    }

    fn complete_by_id(&mut self, id: &str) -> bool {
        for in_flight in self
            .in_flight
            .values_mut()
            .filter(|in_flight| in_flight.open() > 0)
        {
            if let Some(line) = in_flight.complete(id) {
                self.completed.push_back((hash(&id), line));
                if self.completed.len() > KEPT {
                    self.completed.pop_front();
                }
                return true;
            }
        }
        false
    }

    /// The line of the call that has completed by this id.
    fn completed_by_id(&self, id: &str) -> Option<u64> {
        let id = hash(&id);
        let mut completed = self.completed.iter().rev();
        completed.find(|it| it.0 == id).map(|(_, line)| *line)
    }

    /// AAEP-A.3-1: by tool where an id is missing on one side. An unnamed tool may be any.
    fn complete_by_tool(&mut self, tool: Option<&str>, id: Option<&str>) -> bool {
        let may_be = |name: &str| tool.is_none_or(|tool| tool == name || name.is_empty());
        for (name, in_flight) in self.in_flight.iter_mut() {
            if !may_be(name) || in_flight.open() == 0 {
                continue;
            }
            if id.is_none() {
                in_flight.complete_any();
                return true;
            }
            if !in_flight.without_id.is_empty() {
                in_flight.without_id.pop_front();
                return true;
            }
        }
        false
    }

    /// A completion under a wrong id was meant for the oldest call of its tool: reporting that call as open later on would
    /// accuse one fault twice.
    fn close_misnamed(&mut self, tool: &str) -> Option<u64> {
        let in_flight = self
            .in_flight
            .get_mut(tool)
            .filter(|in_flight| in_flight.open() > 0)?;
        let oldest = in_flight.with_id.iter().min_by_key(|(_, lines)| lines[0]);
        let id = oldest.map(|(id, _)| id.to_owned())?;
        let line = in_flight.complete(&id)?;
        self.in_flight.retain(|in_flight| in_flight.open() > 0);
        Some(line)
    }

    /// AAEP-A.3-1: what the end of a session that completed lacks, by the lines of the calls.
    pub(super) fn missing(&self, end: &Event) -> Vec<(u64, Finding)> {
        let missing = self.open_lines().into_iter().map(|line| {
            let finding = Finding::new(
                &rules::CALL_WITHOUT_COMPLETION,
                end.place,
                Some(end.session),
                format!("session.completed, and the call on line {line} has no tool.completed"),
            );
            let mut in_flight = self.in_flight.values();
            let since = in_flight.find_map(|it| it.open_by_id(line));
            (line, finding.since(since))
        });
        missing.collect()
    }
}
