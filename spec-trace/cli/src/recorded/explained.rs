//! Whether a stream could be that of a producer that keeps every rule.

use std::collections::HashSet;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::action::Action;
use countersign_model::aaep::state::State;
use countersign_model::aaep::words::{SessionName, SessionOutcome};
use serde_json::Value;

use super::has_optional_event;
use super::writer::{Position, StreamWriter, Taken};

/// A run of the specification that has written the first so many records.
struct Partial {
    state: State,
    position: Position,
    written: usize,
}

/// Whether the model has a run within its bounds whose stream is just this.
///
/// Of two runs that have written the same and come to the same state one is followed: what they write from there on is
/// the same.
pub fn is_explained(model: &Aaep, writer: &StreamWriter, records: &[String]) -> bool {
    let (position, started) = writer.begin();
    if !records.starts_with(&started) {
        return false;
    }
    let Some(nexts) = records.iter().map(|it| Next::read(writer, it)).collect() else {
        return false;
    };
    let search = Search {
        model,
        writer,
        records,
        nexts,
    };
    let mut seen = HashSet::new();
    let mut open = vec![Partial {
        state: model.start(),
        position,
        written: started.len(),
    }];
    while let Some(partial) = open.pop() {
        if partial.written == records.len() {
            return true;
        }
        for next in search.steps(&partial) {
            if seen.insert((next.state, next.written)) {
                open.push(next);
            }
        }
    }
    false
}

/// What is known of a record without writing it.
struct Next {
    clock: u8,
    is_reply: bool,
}

impl Next {
    /// Nothing for a record that no run writes.
    fn read(writer: &StreamWriter, record: &str) -> Option<Self> {
        let record: Value = serde_json::from_str(record).ok()?;
        Some(Self {
            clock: writer.clock(record["at"].as_str()?)?,
            is_reply: record["dir"] == "in",
        })
    }
}

struct Search<'a> {
    model: &'a Aaep,
    writer: &'a StreamWriter,
    records: &'a [String],
    nexts: Vec<Next>,
}

impl Search<'_> {
    /// The steps that write nothing, or what comes next.
    fn steps(&self, partial: &Partial) -> Vec<Partial> {
        let mut next = Vec::new();
        if self.nexts[partial.written].clock < partial.state.clock {
            return next;
        }
        let mut enabled = Vec::new();
        self.model.enabled(&partial.state, &mut enabled);
        self.always(&partial.state, &mut enabled);
        for action in enabled {
            let Some(step) = self.model.step(&partial.state, action) else {
                continue;
            };
            for with_optional in [false, true] {
                if with_optional && !has_optional_event(&step) {
                    continue;
                }
                let taken = Taken {
                    before: &partial.state,
                    action,
                    step: &step,
                    with_optional,
                };
                next.extend(self.matching(partial, taken));
            }
        }
        next
    }

    /// What can happen at any time, and what the model does not offer where nothing depends on it.
    fn always(&self, state: &State, actions: &mut Vec<Action>) {
        let count = usize::from(self.model.bounds.sessions);
        let sessions = SessionName::ALL.into_iter().take(count);
        let active = sessions.filter(|&session| state.session(session).is_active());
        let ends = active.flat_map(|session| {
            SessionOutcome::ALL.map(|outcome| Action::EndSession { session, outcome })
        });
        for action in ends.chain([Action::Tick]) {
            if !actions.contains(&action) {
                actions.push(action);
            }
        }
    }

    /// The run one step on, if the step writes what comes next.
    fn matching(&self, partial: &Partial, taken: Taken<'_>) -> Option<Partial> {
        let mut position = partial.position.clone();
        let mut written = partial.written;
        let expected = &self.nexts[written];
        let kinds = self.writer.kinds(taken);
        // Writing costs a hundred times what this does, and most steps are not the one.
        if let Some(is_reply) = kinds {
            if expected.clock != taken.before.clock || expected.is_reply != is_reply {
                return None;
            }
            let records = self.writer.write(&mut position, taken);
            if !self.records[written..].starts_with(&records) {
                return None;
            }
            written += records.len();
        }
        Some(Partial {
            state: taken.step.next,
            position,
            written,
        })
    }
}
