//! Calls that had not completed when their session did (AAEP-A.3-1).
//!
//! A completion may still come behind the end. Then the call has one, and what is wrong is its place (AAEP-A.8-3): that is one fault. So
//! what is missing is told when none will come any more: when the session begins anew, time enough has passed, or the input ends. A
//! session that is cancelled or errors in mid-tool leaves it open.

use std::collections::VecDeque;

use super::Notes;
use super::confirmations::KEPT;
use super::tools::Tools;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::{Event, EventKind};
use crate::time::Timestamp;

/// Seconds behind the end of a session in which a completion is waited for, by the clocks of the producers.
const WAITED_FOR_SECONDS: i64 = 600;

/// The sessions of a stream that completed with such calls, at most [`KEPT`], in the order of their ends.
#[derive(Debug, Default, Clone)]
pub struct Unfinished {
    sessions: VecDeque<Waiting>,
}

#[derive(Debug, Clone)]
struct Waiting {
    session: String,
    ended: Option<Timestamp>,
    tools: Tools,
    /// What is found if no completion comes, by the line of the call.
    missing: Vec<(u64, Finding)>,
}

impl Unfinished {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        memory.each(self.sessions.iter(), |memory, waiting| {
            let Waiting {
                session,
                ended,
                tools,
                missing,
            } = waiting;
            memory.value(&(session, ended));
            tools.remember(memory);
            memory.each(missing.iter(), |memory, (line, _)| memory.line(*line));
        });
    }

    /// Takes in the end of a session that completed, with its calls.
    pub fn ended(&mut self, end: &Event, tools: &Tools, notes: &mut Notes) {
        let missing = tools.missing(end).into_iter();
        let missing = missing.filter_map(|(line, it)| Some((line, notes.weigh(it)?)));
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return;
        }
        self.sessions.push_back(Waiting {
            session: end.session.to_owned(),
            ended: end.sent,
            tools: tools.clone(),
            missing,
        });
        if self.sessions.len() > KEPT {
            self.tell_first(notes);
        }
    }

    /// Takes in an event behind the end of its session.
    pub fn outside(&mut self, event: &Event) {
        let EventKind::Completed { tool, .. } = &event.kind else {
            return;
        };
        let mut sessions = self.sessions.iter_mut();
        if let Some(waiting) = sessions.find(|it| it.session == event.session)
            && waiting.tools.complete(event, *tool)
        {
            let open = waiting.tools.open_lines();
            waiting.missing.retain(|(line, _)| open.contains(line));
        }
    }

    /// Tells what the sessions lack that ended long before.
    pub fn pass_time(&mut self, now: Option<Timestamp>, notes: &mut Notes) {
        let is_due = |it: &Waiting| {
            let until = it.ended.map(|it| it.plus_seconds(WAITED_FOR_SECONDS));
            until.is_some_and(|until| now.is_some_and(|now| until < now))
        };
        while self.sessions.front().is_some_and(is_due) {
            self.tell_first(notes);
        }
    }

    /// Tells what a session lacks that begins anew.
    pub fn begins_anew(&mut self, session: &str, notes: &mut Notes) {
        let at = self.sessions.iter().position(|it| it.session == session);
        if let Some(waiting) = at.and_then(|at| self.sessions.remove(at)) {
            waiting.tell(notes);
        }
    }

    /// Tells what all of them lack: the input ends.
    pub fn finish(&mut self, notes: &mut Notes) {
        while !self.sessions.is_empty() {
            self.tell_first(notes);
        }
    }

    fn tell_first(&mut self, notes: &mut Notes) {
        if let Some(waiting) = self.sessions.pop_front() {
            waiting.tell(notes);
        }
    }
}

impl Waiting {
    fn tell(self, notes: &mut Notes) {
        for (_, finding) in self.missing {
            notes.list(finding);
        }
    }
}
