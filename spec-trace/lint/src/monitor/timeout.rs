//! Timeouts that pass and nothing comes of it, and the countdown to the long ones.
//!
//! A timeout is invisible: what shows is that a question stands as it stood, with nothing in the record that could have
//! decided it, though the clock of the producer who asked is past the deadline. Another producer's clock says nothing, nor
//! does what it puts out (AAEP-A.9-1). A producer's timer may be late, and an extension may have granted more time
//! (AAEP-6.4.2-3, [`super::extension`]): where one could excuse the producer, that is said and nobody is accused.

use super::Notes;
use super::confirmation::{Confirmation, FollowUp, Outcomes, may_follow};
use super::confirmations::{Confirmations, SLACK_SECONDS};
use super::extension::Extension;
use super::ordered::Ordered;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::{Decision, Ending, Event, EventKind};
use crate::rules::{self, Rule};
use crate::time::Timestamp;

/// Seconds by which a timer may be late while the session goes on.
const LATE_SECONDS: i64 = 60;

/// Seconds beyond which a timeout is long.
const LONG_SECONDS: i64 = 60;

/// Per cent of a timeout after which its countdown should have begun: half, and some patience.
const BEGUN: i64 = 60;

/// What a session owes its open questions, and when.
#[derive(Debug, Default, Clone)]
pub struct Timeouts {
    marks: Ordered<(Timestamp, usize, Mark)>,
    /// When the last progress.updated came.
    progress: Option<Timestamp>,
    /// Countdowns that are missing unless they come at this very moment: who was at rest until then tells of the time that
    /// is left when it is woken, perhaps behind other events.
    missing: Vec<(Timestamp, Option<Extension>, Finding)>,
    /// Questions whose default is overdue unless it is applied at this very moment, for the same reason.
    overdue: Vec<(Timestamp, usize, Option<Extension>, Finding)>,
    /// The questions of which it was said that their default is overdue, and on which line.
    told: Ordered<usize, u64>,
}

/// What is due at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Mark {
    /// The countdown has begun.
    Begun,
    /// It has gone on.
    GoneOn,
    /// The default was applied.
    Applied,
}

/// When each is due to a question.
fn marks(asked: Timestamp, deadline: Timestamp) -> [(Timestamp, Mark); 3] {
    [
        (deadline.plus_seconds(LATE_SECONDS), Mark::Applied),
        (asked.part_of_the_way(deadline, BEGUN), Mark::Begun),
        (deadline, Mark::GoneOn),
    ]
}

fn is_long(asked: Timestamp, deadline: Timestamp) -> bool {
    deadline > asked.plus_seconds(LONG_SECONDS)
}

impl Timeouts {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            marks,
            progress,
            missing,
            overdue,
            told,
        } = self;
        memory.value(&(marks, progress));
        memory.each(told.iter(), |memory, (number, line)| {
            memory.value(&number);
            memory.line(*line);
        });
        memory.each(missing.iter(), |memory, (moment, excuse, finding)| {
            memory.line(finding.line);
            memory.value(&(finding.clause, moment, excuse.map(|it| it.until)));
        });
        memory.each(
            overdue.iter(),
            |memory, (moment, number, excuse, finding)| {
                memory.line(finding.line);
                memory.value(&(number, moment, excuse.map(|it| it.until)));
            },
        );
    }

    /// Enters a question.
    pub fn ask(&mut self, number: usize, confirmation: &Confirmation) {
        let (Some(asked), Some(deadline)) = (confirmation.asked, confirmation.deadline) else {
            return;
        };
        for (moment, mark) in marks(asked, deadline) {
            if mark == Mark::Applied || is_long(asked, deadline) {
                self.marks.insert((moment, number, mark), ());
            }
        }
    }

    /// Judges an event of the open session, before it has its effect on the confirmations.
    pub fn event(&mut self, event: &Event, confirmations: &Confirmations, notes: &mut Notes) {
        let Some(now) = event.sent else {
            return;
        };
        if matches!(event.kind, EventKind::Progress { .. }) {
            self.progress = Some(now);
        }
        self.leave_late_open(event, now, confirmations, notes);
        self.judge_missing(event, now, notes);
        self.judge_overdue(event, now, confirmations, notes);
        for (moment, number, mark) in self.take_due(event, now, confirmations) {
            let Some(confirmation) = confirmations.get(number) else {
                continue;
            };
            match mark {
                Mark::Begun | Mark::GoneOn => {
                    let fault = self.judge_countdown(confirmation, mark, moment);
                    let extension = confirmations.extension(confirmation);
                    if let Some((rule, message)) = fault {
                        self.missing
                            .push((now, extension, finding(rule, event, message)));
                    }
                }
                Mark::Applied if is_follow_up(&event.kind) => {}
                // Judged with all others at the end.
                Mark::Applied if matches!(event.kind, EventKind::Ended(_)) => {
                    self.marks.insert((moment, number, mark), ());
                }
                Mark::Applied => {
                    let due = (now, LATE_SECONDS);
                    if let Some((excuse, finding)) =
                        self.judge_default(event, due, number, confirmations)
                    {
                        self.overdue.push((now, number, excuse, finding));
                    }
                }
            }
        }
        if matches!(event.kind, EventKind::Ended(Ending::Completed)) {
            self.judge_end(event, now, confirmations, notes);
        }
        if matches!(event.kind, EventKind::Ended(_)) {
            for (_, excuse, finding) in std::mem::take(&mut self.missing) {
                notes.add_unless(excuse, finding);
            }
        }
    }

    /// AAEP-6.4-1: what may be the default was late, and other events had come since the timeout. A timer may be late, so that this
    /// is no fault by itself.
    fn leave_late_open(
        &self,
        event: &Event,
        now: Timestamp,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        let may_be_default = match event.kind {
            EventKind::StateChanged { from, to } => may_follow(from, to),
            EventKind::Invoked { .. } => true,
            EventKind::Started
            | EventKind::Ended(_)
            | EventKind::Progress { .. }
            | EventKind::Completed { .. }
            | EventKind::Output(_)
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => false,
        };
        if !may_be_default {
            return;
        }
        for number in confirmations.that_ran_out() {
            let question = confirmations.kept(number);
            let Some(deadline) = question.deadline else {
                continue;
            };
            let is_late = question.stood_still.is_some_and(|it| it < now)
                && deadline.plus_seconds(SLACK_SECONDS) <= now
                && confirmations.extension(question).is_none();
            let is_open = question.answered.is_none() && self.told(number).is_none();
            if is_late
                && is_open
                && event.producer == question.producer
                && event.speaks_of(&question.ids)
            {
                let reason = format!(
                    "the timeout of the question on line {} ended at {deadline}, other events came, and the first that may be its default is on line {}, at {now}: whether the default was applied then, or never, does not show; a recording would have to hold what became of it (extensions.countersign.outcome)",
                    question.place.line, event.place.line
                );
                notes.leave_open("AAEP-6.4-1", event.place.line, reason);
            }
        }
    }

    /// A countdown that was missing has come by now, or will not.
    fn judge_missing(&mut self, event: &Event, now: Timestamp, notes: &mut Notes) {
        if self.missing.is_empty() {
            return;
        }
        for (moment, excuse, finding) in std::mem::take(&mut self.missing) {
            if now > moment {
                notes.add_unless(excuse, finding);
            } else if !matches!(event.kind, EventKind::Progress { .. }) {
                self.missing.push((moment, excuse, finding));
            }
        }
    }

    /// A default that was overdue has been applied by now, or was not.
    fn judge_overdue(
        &mut self,
        event: &Event,
        now: Timestamp,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        if self.overdue.is_empty() {
            return;
        }
        for (moment, number, excuse, finding) in std::mem::take(&mut self.overdue) {
            let applied = !confirmations.is_untouched(number);
            if now <= moment && !applied && !matches!(event.kind, EventKind::Ended(_)) {
                self.overdue.push((moment, number, excuse, finding));
            } else if !applied {
                if excuse.is_none() {
                    self.told.insert(number, finding.line);
                }
                notes.add_unless(excuse, finding);
            }
        }
    }

    /// The line on which it was said that the default of this question is overdue.
    pub fn told(&self, number: usize) -> Option<u64> {
        self.told.get(number).copied()
    }

    /// What is due by now to the questions of whoever put out this event.
    fn take_due(
        &mut self,
        event: &Event,
        now: Timestamp,
        confirmations: &Confirmations,
    ) -> Vec<(Timestamp, usize, Mark)> {
        if self.marks.first().is_none_or(|(first, ..)| first > now) {
            return Vec::new();
        }
        let due = self.marks.up_to((now, usize::MAX, Mark::Applied));
        let due: Vec<_> = due
            .filter(|(_, number, _)| {
                let confirmation = confirmations.get(*number);
                confirmation.is_none_or(|it| it.producer == event.producer)
            })
            .collect();
        for mark in &due {
            self.marks.remove(*mark);
        }
        due
    }

    /// Forgets a question.
    pub fn forget(&mut self, number: usize, confirmation: &Confirmation) {
        self.told.remove(number);
        let (Some(asked), Some(deadline)) = (confirmation.asked, confirmation.deadline) else {
            return;
        };
        for (moment, mark) in marks(asked, deadline) {
            self.marks.remove((moment, number, mark));
        }
        self.overdue.retain(|it| it.1 != number);
        if confirmation.extension.is_some() {
            let all: Vec<_> = self.marks.keys().collect();
            for mark in all.into_iter().filter(|mark| mark.1 == number) {
                self.marks.remove(mark);
            }
        }
    }

    /// AAEP-6.4.3-1, AAEP-6.4.3-4: progress while a long timeout runs, at half time and near the end.
    fn judge_countdown(
        &self,
        confirmation: &Confirmation,
        mark: Mark,
        moment: Timestamp,
    ) -> Option<(&'static Rule, String)> {
        let line = confirmation.place.line;
        let heard_since =
            |moment: Option<Timestamp>| self.progress.is_some() && self.progress >= moment;
        let deadline = confirmation.deadline?;
        if let Some(reply) = answered_behind(confirmation, moment).filter(|_| mark == Mark::Begun)
            && !heard_since(confirmation.asked)
        {
            let message = format!(
                "more than half of the timeout of the question on line {line} was over (it ended at {deadline}) when the reply on line {reply} came, and no progress.updated had shown the time left"
            );
            return Some((&rules::NO_COUNTDOWN, message));
        }
        if confirmation.possible != Outcomes::PENDING {
            return None;
        }
        if mark == Mark::Begun && !heard_since(confirmation.asked) {
            let message = format!(
                "more than half of the timeout of the question on line {line} is over (it ends at {deadline}), and no progress.updated has shown the time left"
            );
            return Some((&rules::NO_COUNTDOWN, message));
        }
        let begun = confirmation
            .asked
            .map(|asked| asked.part_of_the_way(moment, BEGUN));
        // Who never began is told that already.
        if mark == Mark::GoneOn && heard_since(confirmation.asked) && !heard_since(begun) {
            let message = format!(
                "the timeout of the question on line {line} ended at {deadline}, and after half time no progress.updated has shown the time left"
            );
            return Some((&rules::COUNTDOWN_STOPS, message));
        }
        None
    }

    /// When the session completes, no timer is left that could be late.
    fn judge_end(
        &mut self,
        event: &Event,
        now: Timestamp,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        for (_, number, mark) in std::mem::take(&mut self.marks).keys() {
            let over = confirmations.get(number).is_some_and(|confirmation| {
                let deadline = confirmation.deadline;
                confirmation.producer == event.producer
                    && deadline.is_some_and(|it| it.plus_seconds(SLACK_SECONDS) <= now)
            });
            if over && mark == Mark::Applied {
                let due = (now, SLACK_SECONDS);
                if let Some((excuse, finding)) =
                    self.judge_default(event, due, number, confirmations)
                {
                    notes.add_unless(excuse, finding);
                }
            }
        }
    }

    /// AAEP-6.4-1: the default is applied when the timeout is over, some seconds of patience included. With more time it may
    /// still be applied at the end of that.
    fn judge_default(
        &mut self,
        event: &Event,
        (now, patience): (Timestamp, i64),
        number: usize,
        confirmations: &Confirmations,
    ) -> Option<(Option<Extension>, Finding)> {
        let confirmation = confirmations.get(number)?;
        let deadline = confirmation.deadline?;
        if !confirmations.is_untouched(number)
            || confirmation.answered.is_some()
            || confirmation.possible.may_be(Outcomes::CANCELLED)
        {
            return None;
        }
        let extension = confirmations.extension(confirmation);
        let excuse = extension.filter(|it| !it.is_over(now, patience));
        let ended = extension
            .and_then(|it| it.until)
            .filter(|_| excuse.is_none());
        let message = format!(
            "the timeout of the question on line {} ended at {} without a valid reply, and nothing shows that the default was applied: no state.changed, no tool.invoked",
            confirmation.place.line,
            ended.unwrap_or(deadline)
        );
        if let Some(until) = excuse.and_then(|it| it.until) {
            let late = until.plus_seconds(LATE_SECONDS);
            self.marks.insert((late, number, Mark::Applied), ());
        }
        let mut finding =
            finding(&rules::DEFAULT_FORGOTTEN, event, message).since(confirmation.place.line);
        let nothing_came =
            matches!(event.kind, EventKind::Ended(_)) && !confirmations.has_run_out(number);
        if nothing_came && confirmation.default == Some(Decision::Reject) {
            // AAEP-6.1-3: whether the rejection was never made or made in silence, the event that tells of it is missing.
            finding = finding.and_also(&rules::DROPPED_SILENTLY.all_clauses());
        }
        Some((excuse, finding))
    }
}

/// The line of the reply that decided it, where it had surely stood open until then, and that was behind this moment by the clock of
/// whoever sent the reply and of whoever received it.
fn answered_behind(confirmation: &Confirmation, moment: Timestamp) -> Option<u64> {
    let (line, _) = confirmation.answered?;
    let (decided, received) = confirmation.decided?;
    let first = received.map_or(decided, |received| received.min(decided));
    let withdrawn = [
        confirmation.perhaps_withdrawn,
        confirmation.withdrawn_elsewhere,
    ];
    let stood_open = withdrawn == [None, None]
        && !confirmation.possible.may_be(Outcomes::CANCELLED)
        && confirmation.extension.is_none();
    (stood_open && moment.plus_seconds(SLACK_SECONDS) < first).then_some(line)
}

/// AAEP-A.4-2: where no replies are recorded, a question may have been accepted, rejected or left to its timeout; by its
/// deadline it was one of these, and each has a call or a change of state behind it.
pub fn judge_unanswered(event: &Event, confirmations: &Confirmations, notes: &mut Notes) {
    let (EventKind::Ended(Ending::Completed), Some(now)) = (&event.kind, event.sent) else {
        return;
    };
    let forgotten = confirmations.all().map(|(_, it)| it).filter(|it| {
        let ends = it.deadline.map(|it| it.plus_seconds(SLACK_SECONDS));
        it.producer == event.producer
            && it.follow_up != FollowUp::StateOrCall
            && ends.is_some_and(|it| it <= now)
    });
    for confirmation in forgotten {
        let message = format!(
            "session.completed, and nothing came of the question on line {}, whose timeout is over: no state.changed, no tool.invoked",
            confirmation.place.line
        );
        let extension = confirmations.extension(confirmation);
        let excuse = extension.filter(|it| !it.is_over(now, SLACK_SECONDS));
        let rule = &rules::NO_STATE_AFTER_RESOLUTION;
        notes.add_unless(excuse, finding(rule, event, message));
    }
}

/// Whether the event may be what a late timer led to. The completion of a session is none: no timer is left then.
fn is_follow_up(kind: &EventKind) -> bool {
    match kind {
        EventKind::StateChanged { .. }
        | EventKind::Invoked { .. }
        | EventKind::Ended(Ending::Errored | Ending::Cancelled) => true,
        EventKind::Started
        | EventKind::Ended(Ending::Completed)
        | EventKind::Progress { .. }
        | EventKind::Completed { .. }
        | EventKind::Output(_)
        | EventKind::Asked(_)
        | EventKind::Clarifying(_)
        | EventKind::Handoff => false,
    }
}

fn finding(rule: &Rule, event: &Event, message: String) -> Finding {
    Finding::new(rule, event.place, Some(event.session), message)
}
