//! The envelope of events: ids, sequence numbers, timestamps, urgency.
//!
//! It has an account of its own, which no search holds: [`crate::aaep::wire`] judges it in random runs, `diff`
//! and `lint`.

use std::collections::{BTreeMap, BTreeSet};

use crate::aaep::alphabet::{Call, Event, Name, Op, Outcome, Output, SessionId, Time, What};
use crate::aaep::clauses::{EV_3, EV_4, EV_6, EV_7};
use crate::engine::clause::Clause;
use crate::wire::Flaw;

/// What stands around what an event tells. What cannot be read of it is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Its `event_id`.
    pub id: Option<Name>,
    /// Its `sequence_number`.
    pub sequence: Option<i64>,
    /// Its `timestamp`.
    pub at: Option<Time>,
    /// Its `urgency` is `critical`.
    pub is_critical: bool,
}

/// What is known of the envelopes of one producer.
#[derive(Clone, Debug, Default)]
pub struct Envelopes {
    ids: BTreeSet<Name>,
    sessions: BTreeMap<SessionId, Line>,
    /// The outputs of the last call: what was known of its session before each event.
    last: Vec<Option<Told>>,
    /// What was lost in a crash, and has not come again.
    lost: Vec<Told>,
}

/// The events of a session so far.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    numbering: Numbering,
    /// The latest timestamp.
    at: Option<Time>,
}

/// How the events of a session are numbered.
#[derive(Clone, Copy, Debug, Default)]
enum Numbering {
    /// Nothing has come.
    #[default]
    Unknown,
    Absent,
    /// The next has this.
    Next(i64),
}

/// An event that was put out, with what was known before.
#[derive(Clone, Debug)]
struct Told {
    event: Event,
    envelope: Envelope,
    before: Line,
}

/// A rule of the envelope: a clause, and what is wrong with an event.
type Rule = (
    Clause,
    fn(&Envelopes, &Line, Option<&Told>, &Event, &Envelope) -> Option<String>,
);

/// Every rule, each by itself.
const RULES: [Rule; 4] = [
    (EV_3, goes_back),
    (EV_4, is_out_of_sequence),
    (EV_6, is_not_urgent),
    (EV_7, has_other_id),
];

impl Envelopes {
    /// What came of a call, and what of its envelopes is wrong.
    pub fn observe(&mut self, call: &Call, outputs: &[(Output, Option<Envelope>)]) -> Vec<Flaw> {
        let last = std::mem::take(&mut self.last);
        self.lost.clear();
        // Where more were lost than there were, nothing was.
        let is_refused = outputs.iter().any(|it| it.0 == Output::Refused);
        if let (Op::Restart { lost }, false) = (&call.op, is_refused) {
            let lost = *lost;
            let kept = last.len().saturating_sub(lost.into());
            for told in last.into_iter().skip(kept).rev().flatten() {
                self.sessions.insert(told.event.session, told.before);
                self.lost.insert(0, told);
            }
        }
        let mut flaws = Vec::new();
        for (place, (output, envelope)) in outputs.iter().enumerate() {
            let told = match (output, envelope) {
                (Output::Emit(event), Some(envelope)) => {
                    let found = self.see(event, envelope);
                    flaws.extend(found.into_iter().map(|(clause, text)| Flaw {
                        clause,
                        place,
                        text,
                    }));
                    let before = self
                        .sessions
                        .get(&event.session)
                        .copied()
                        .unwrap_or_default();
                    self.learn(event, envelope);
                    Some(Told {
                        event: event.clone(),
                        envelope: *envelope,
                        before,
                    })
                }
                _ => None,
            };
            self.last.push(told);
        }
        flaws
    }

    fn see(&mut self, event: &Event, envelope: &Envelope) -> Vec<(Clause, String)> {
        let line = self
            .sessions
            .get(&event.session)
            .copied()
            .unwrap_or_default();
        let is_same = |it: &Told| {
            it.event.session == event.session
                && (it.event.what == event.what
                    || event.what.asks().is_some() && it.event.what.asks() == event.what.asks())
        };
        let again = self
            .lost
            .iter()
            .position(is_same)
            .map(|it| self.lost.remove(it));
        let broken = RULES.iter().filter_map(|(clause, finds)| {
            Some((
                *clause,
                finds(self, &line, again.as_ref(), event, envelope)?,
            ))
        });
        broken.collect()
    }

    fn learn(&mut self, event: &Event, envelope: &Envelope) {
        self.ids.extend(envelope.id);
        let line = self.sessions.entry(event.session).or_default();
        line.at = line.at.max(envelope.at);
        line.numbering = match (line.numbering, envelope.sequence) {
            (Numbering::Unknown, None) | (Numbering::Absent, _) => Numbering::Absent,
            (Numbering::Unknown | Numbering::Next(_), Some(it)) => {
                Numbering::Next(it.saturating_add(1))
            }
            (Numbering::Next(it), None) => Numbering::Next(it.saturating_add(1)),
        };
    }
}

/// "Non-decreasing within a session".
fn goes_back(
    _: &Envelopes,
    line: &Line,
    _: Option<&Told>,
    _: &Event,
    it: &Envelope,
) -> Option<String> {
    let is_earlier = it.at.is_some() && it.at < line.at;
    is_earlier.then(|| "`timestamp` lies before that of an earlier event of its session".to_owned())
}

/// "0 at session.started, then +1 each; on all events of a session or on none".
fn is_out_of_sequence(
    _: &Envelopes,
    line: &Line,
    _: Option<&Told>,
    event: &Event,
    it: &Envelope,
) -> Option<String> {
    let first = if event.what == What::Started {
        Some(0)
    } else {
        it.sequence
    };
    let expected = match line.numbering {
        Numbering::Unknown => first.filter(|_| it.sequence.is_some()),
        Numbering::Absent => None,
        Numbering::Next(next) => Some(next),
    };
    (it.sequence != expected).then(|| match expected {
        Some(next) => format!("`sequence_number` must be {next}"),
        None => "`sequence_number` must be absent, as it was".to_owned(),
    })
}

/// "Urgency `critical`" of what somebody has to see.
fn is_not_urgent(
    _: &Envelopes,
    _: &Line,
    _: Option<&Told>,
    event: &Event,
    it: &Envelope,
) -> Option<String> {
    let must_be = matches!(
        event.what,
        What::Ended(Outcome::Errored) | What::Asked(_) | What::Queried(_) | What::HandedOff { .. }
    );
    (must_be && !it.is_critical).then(|| "`urgency` must be `critical`".to_owned())
}

/// "Unique per producer"; what comes again behind a crash keeps its id, but for a question, which is asked anew.
fn has_other_id(
    all: &Envelopes,
    _: &Line,
    again: Option<&Told>,
    event: &Event,
    it: &Envelope,
) -> Option<String> {
    let known = it.id.is_some_and(|it| all.ids.contains(&it));
    match again {
        Some(told) if event.what.asks().is_none() => (it.id != told.envelope.id)
            .then(|| "`event_id` must be that of the event that was lost".to_owned()),
        Some(_) | None => known.then(|| "`event_id` was used before".to_owned()),
    }
}
