//! One monitor for each concern. Each is fed the records of one session in the order of the stream, keeps what it needs
//! and no more, and writes what it finds into [`Notes`].
//!
//! | monitor | concern |
//! |---|---|
//! | [`lifecycle`] | a session starts once and ends once |
//! | [`sequence`], [`clock`] | numbers and timestamps; where the record is incomplete |
//! | [`seen`] | ids and tokens that come again |
//! | [`states`] | the chain of states, and what happens in which |
//! | [`tools`], [`unfinished`] | calls and completions |
//! | [`output`] | streamed output |
//! | [`asking`] | defaults, and questions that are put twice |
//! | [`authorisation`] | whether each call was allowed |
//! | [`announced`] | calls that nobody was asked about, and the questions that come behind them |
//! | [`resolution`] | what has to follow a decision |
//! | [`extension`] | more time that a question may have been given |
//! | [`timeout`] | defaults that are never applied, and the countdown to them |
//! | [`clarifying`] | clarifications and their replies |
//! | [`disclosure`] | what the senders of failed replies are told |
//!
//! The [`wording`] of a question and of a call is what ties the two without ids.
//!
//! Those about confirmations read the [`confirmations`] of the session, which hold for each [`confirmation`] the set of
//! outcomes that fit the record so far.

pub mod announced;
pub mod asking;
pub mod authorisation;
pub mod checks;
pub mod clarifying;
pub mod clock;
pub mod confirmation;
pub mod confirmations;
pub mod disclosure;
pub mod explaining;
pub mod extension;
pub mod lifecycle;
mod matching;
mod ordered;
pub mod output;
pub mod resolution;
mod run;
pub mod seen;
pub mod sequence;
pub mod states;
pub mod timeout;
pub mod tools;
pub mod unfinished;
pub mod wording;

use std::collections::BTreeMap;

use super::finding::{ASKED_BEHIND, Finding, TiedBy};
use super::memory::Memory;
use super::report::{NotJudged, Silence, Unlisted, Within};
use super::rules::{IRREVERSIBLE_UNASKED, Weight};
use extension::Extension;
use sequence::{Gap, Shown};

/// Findings of one clause that are kept for a session; the others are counted.
const KEPT_PER_SESSION: u64 = 10;

const UNASKED: &str = IRREVERSIBLE_UNASKED.clause;

/// Findings of one clause that are kept for a stream.
const KEPT_PER_CLAUSE: u64 = 1_000;

/// What is not found because of a gap, which may have held what is missing.
#[derive(Debug, Clone)]
struct Held {
    by: Gap,
    finding: Box<Finding>,
}

/// What the monitors found.
#[derive(Debug, Default, Clone)]
pub struct Notes {
    /// In the order in which they were found.
    findings: Vec<Finding>,
    /// What would be wrong, if something that does not show did not excuse it.
    possible: Vec<Finding>,
    /// What cannot be judged although it looks like a fault.
    withheld: Vec<(Option<Held>, NotJudged)>,
    /// The lines of calls that nobody had been asked about, with those of the questions that came behind them.
    asked_behind: BTreeMap<u64, u64>,
    /// Calls that a confirmation explains, by how the two were tied.
    pub tied: BTreeMap<TiedBy, u64>,
    /// The last line that could not be read, of those that are listed, and the clause that this breaks.
    pub unreadable: Option<(u64, &'static str)>,
    /// The first gap in the session that is being judged.
    pub gap: Option<Gap>,
    /// The line from which on none of its events is known to be missing.
    pub whole_from: u64,
    /// What lies before this line is not asked for: it is neither listed nor counted, so that it takes nobody's place.
    pub silent_before: u64,
    /// Findings by clause and session, and by clause.
    counts: BTreeMap<(&'static str, Option<String>), u64>,
    totals: BTreeMap<&'static str, u64>,
    /// What of it is not listed.
    unlisted: Unlisted,
    /// Where no more are listed, in the order in which that was found.
    silences: Vec<Silence>,
}

impl Notes {
    /// Adds a finding. One that rests on something missing is a consequence of an unreadable line that may have held it, and is
    /// not made when events of its session are known to be missing before it, unless all that it rests on stands behind them.
    pub fn add(&mut self, finding: Finding) {
        if let Some(finding) = self.weigh(finding) {
            self.list(finding);
        }
    }

    /// What is to be told of a finding, if it is: see [`Self::add`].
    fn weigh(&mut self, mut finding: Finding) -> Option<Finding> {
        if finding.line < self.silent_before {
            return None;
        }
        if finding.rests_on_absence || self.is_order_open() && finding.may_rest_on_order() {
            let is_behind = finding.since.is_some_and(|it| it >= self.whole_from);
            let gap = self.gap.filter(|gap| gap.line <= finding.line);
            if let Some(gap) = gap.filter(|_| !is_behind) {
                let reason = format!("{} (line {}), but {gap}", finding.message, finding.line);
                let held = Held {
                    by: gap,
                    finding: Box::new(finding),
                };
                let clause = held.finding.clause;
                self.keep_open(Some(held), clause, (reason, true));
                return None;
            }
            if let Some((line, clause)) = self.unreadable.filter(|_| finding.rests_on_absence) {
                finding.message = format!(
                    "{} (line {line} could not be read and may have held what is missing)",
                    finding.message
                );
                finding.follows_from.get_or_insert((line, clause));
            }
        }
        Some(finding)
    }

    /// Adds what is wrong unless this excuses it, which does not show. Of what is no more than a warning that is not judged.
    pub fn add_possible(&mut self, finding: Finding, unless: String) {
        if finding.weight == Weight::Warning {
            let reason = format!("{}, unless {unless}", finding.message);
            return self.leave_open(finding.clause, finding.line, reason);
        }
        if let Some(finding) = self.weigh(finding)
            && (self.possible.len() as u64) < KEPT_PER_CLAUSE
        {
            let unless = Some(unless);
            self.possible.push(Finding { unless, ..finding });
        }
    }

    fn list(&mut self, finding: Finding) {
        let Finding { clause, weight, .. } = finding;
        let session = (clause, finding.session.clone());
        let in_session = self.counts.entry(session).or_default();
        *in_session += 1;
        let in_all = self.totals.entry(clause).or_default();
        let within = if *in_session > KEPT_PER_SESSION {
            let session = finding.session.clone();
            let within = session.map_or(Within::NoSession, Within::Session);
            let is_first = *in_session == KEPT_PER_SESSION + 1 && *in_all <= KEPT_PER_CLAUSE;
            is_first.then_some(within)
        } else {
            *in_all += 1;
            if *in_all <= KEPT_PER_CLAUSE {
                self.findings.push(finding);
                return;
            }
            (*in_all == KEPT_PER_CLAUSE + 1).then_some(Within::Stream)
        };
        if finding.follows_from.is_none() {
            *self.unlisted.entry((clause, weight)).or_default() += 1;
        }
        let silence = within.map(|within| Silence { clause, within });
        self.silences.extend(silence);
    }

    fn is_order_open(&self) -> bool {
        self.gap
            .is_some_and(|gap| matches!(gap.shown_by, Shown::Order(_)))
    }

    /// Adds what is wrong with a line that could not be read. Yields whether it is listed.
    pub fn add_unreadable(&mut self, finding: Finding) -> bool {
        let before = self.findings.len();
        self.add(finding);
        self.findings.len() > before
    }

    /// Notes what cannot be judged although it looks like a fault.
    pub fn withhold(&mut self, clause: &'static str, reason: String) {
        self.keep_open(None, clause, (reason, true));
    }

    /// Adds a finding, unless more time may excuse it: then it is left open.
    pub fn add_unless(&mut self, excuse: Option<Extension>, finding: Finding) {
        match excuse {
            Some(excuse) => {
                let Finding { message, line, .. } = &finding;
                let reason = format!("{message} (line {line}), but {excuse}");
                self.leave_open(finding.clause, finding.line, reason);
            }
            None => self.add(finding),
        }
    }

    /// Notes what looks like a fault and is none where the producer gave more time, as it may have.
    pub fn leave_open(&mut self, clause: &'static str, line: u64, reason: String) {
        if line >= self.silent_before {
            self.keep_open(None, clause, (reason, false));
        }
    }

    /// Takes note of the line of the question that came behind a call which is told, or that it is not known any more.
    pub fn ask_behind(&mut self, call: u64, question: Option<u64>) {
        let is_told = |it: &Finding| it.line == call && it.clause == UNASKED;
        match question {
            Some(question) if self.findings.iter().rev().any(is_told) => {
                self.asked_behind.insert(call, question);
            }
            Some(_) => {}
            None => {
                self.asked_behind.remove(&call);
            }
        }
    }

    /// Takes back what was left open, for what it says.
    pub fn unsay(&mut self, reason: &str) {
        self.withheld.retain(|(_, it)| it.reason != reason);
    }

    fn keep_open(
        &mut self,
        held: Option<Held>,
        clause: &'static str,
        (reason, owed): (String, bool),
    ) {
        if (self.withheld.len() as u64) < KEPT_PER_CLAUSE {
            let open = NotJudged {
                clause,
                reason,
                owed,
                wholly: false,
            };
            self.withheld.push((held, open));
        }
    }

    /// Takes back what was not judged of a clause for the sake of that gap.
    pub fn take_back(&mut self, clause: &str, gap: Gap) {
        let is_held = |held: &Option<Held>| held.as_ref().is_some_and(|it| it.by.line == gap.line);
        self.withheld
            .retain(|(held, it)| it.clause != clause || !is_held(held));
    }

    /// Finds what was not found for the sake of that gap: there is none.
    pub fn find_held(&mut self, gap: Gap) {
        let is_held = |held: &Option<Held>| held.as_ref().is_some_and(|it| it.by.line == gap.line);
        let held = self.withheld.extract_if(.., |(held, _)| is_held(held));
        let held: Vec<_> = held.filter_map(|(held, _)| held).collect();
        for Held { finding, .. } in held {
            self.add(*finding);
        }
    }

    /// What would be wrong, if something that does not show did not excuse it.
    pub fn take_possible(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.possible)
    }

    /// What cannot be judged although it looks like a fault.
    pub fn take_withheld(&mut self) -> impl Iterator<Item = NotJudged> + use<> {
        std::mem::take(&mut self.withheld)
            .into_iter()
            .map(|(_, it)| it)
    }

    /// The last finding, if it is about that line: what else breaks there may be the same fault.
    pub fn last_on(&mut self, line: u64) -> Option<&mut Finding> {
        self.findings
            .last_mut()
            .filter(|finding| finding.line == line)
    }

    pub(super) fn remember(&self, memory: &mut Memory) {
        let Self {
            // What was said already.
            findings: _,
            possible: _,
            asked_behind: _,
            tied: _,
            counts: _,
            totals: _,
            unlisted: _,
            silences: _,
            // What is asked for.
            silent_before: _,
            // What the numbers of the session tell.
            whole_from: _,
            withheld,
            unreadable,
            gap,
        } = self;
        memory.value(&(unreadable.is_some(), gap.is_some()));
        let held = withheld.iter().filter_map(|(held, _)| held.as_ref());
        let held: Vec<_> = held.map(|it| (it.by.line, &it.finding)).collect();
        memory.each(held.into_iter(), |memory, (gap, finding)| {
            memory.line(gap);
            memory.line(finding.line);
            memory.value(&finding.clause);
        });
    }

    /// The findings so far, in the order in which they were found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Where no more of a clause are listed, in the order in which that was found.
    pub fn silences(&self) -> &[Silence] {
        &self.silences
    }

    /// What is counted and not listed.
    pub fn take_unlisted(&mut self) -> Unlisted {
        std::mem::take(&mut self.unlisted)
    }

    /// How many findings there are.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings. The last of a clause in a session, or in the stream, says how many more there were.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut self.findings);
        let mut kept: BTreeMap<(&'static str, Option<String>), u64> = BTreeMap::new();
        let mut last_of_clause: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (index, finding) in findings.iter_mut().enumerate() {
            let behind = self.asked_behind.get(&finding.line);
            if let Some(question) = behind.filter(|_| finding.clause == UNASKED) {
                finding.message = format!("{}{ASKED_BEHIND}{question}", finding.message);
            }
            let session = (finding.clause, finding.session.clone());
            let all = self.counts.get(&session).copied().unwrap_or_default();
            let so_far = kept.entry(session).or_default();
            *so_far += 1;
            if *so_far == KEPT_PER_SESSION && all > KEPT_PER_SESSION {
                let more = all - KEPT_PER_SESSION;
                finding.message = format!(
                    "{}; {more} more of this clause in the session are not listed",
                    finding.message
                );
            }
            last_of_clause.insert(finding.clause, index);
        }
        for (clause, index) in last_of_clause {
            let total = self.totals.get(clause).copied().unwrap_or_default();
            if let Some(more) = total.checked_sub(KEPT_PER_CLAUSE).filter(|more| *more > 0) {
                let finding = &mut findings[index];
                finding.message = format!(
                    "{}; at least {more} more of this clause in other sessions are not listed",
                    finding.message
                );
            }
        }
        findings
    }
}
