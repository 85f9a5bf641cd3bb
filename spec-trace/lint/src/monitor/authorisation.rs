//! Whether each call was allowed to run.
//!
//! Every irreversible call needs an acceptance of its own before it, and so does every call that names a confirmation by
//! id. Calls are assigned to confirmations, and a call is accused only when no assignment covers it together with all
//! calls before it. A reversible call that names no confirmation may be any call: it is never accused.
//!
//! Which of the calls is accused then is told by what ties them to the question that is too few: its own id, then what the
//! words say, then the order of events. So a call that a question names takes it from one that only its place ties to it,
//! and a question that is named by one call is about no other that it does not name.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use super::Notes;
use super::confirmation::{Confirmation, Outcomes};
use super::confirmations::{Confirmations, KEPT};
use super::explaining::{
    after_failed_reply, allowed_instead, breaks_besides, calls_withdrawn_accepted, doubt, doubt_of,
    doubt_order, doubt_place, doubt_reversible, doubt_several, doubt_withdrawal, doubt_words,
    stray_acceptance,
};
use super::matching::Matching;
use super::ordered::Ordered;
use super::run::Run;
use super::wording::{Action, Fit};
use crate::action_ids::{ActionIds, IdKinds, Relation};
use crate::finding::{FITS_UP_TO, Finding, INSTEAD, TiedBy};
use crate::memory::Memory;
use crate::record::{Event, EventKind, Risk};
use crate::rules::{self, Rule};
use crate::time::Timestamp;

/// Seconds after which a reply that is not in the record is taken not to have come before a call. A producer that does its
/// work before it answers the reply keeps the recorder waiting for as long as the tool runs, but no transport waits longer.
const LOGGED_LATE_SECONDS: i64 = 600;

/// The calls of one session that need an acceptance.
#[derive(Debug, Default, Clone)]
pub struct Authorisation {
    /// By number, in the order in which they came; those that are accused or forgotten are gone.
    runs: Ordered<usize, Box<Run>>,
    called: usize,
    assigned: Matching,
    /// Calls that only a reply can still explain which was given before them and is recorded after them, oldest first.
    deferred: VecDeque<usize>,
    /// Questions that were told with a call that they name, and that is not kept.
    told: Ordered<usize>,
    /// Calls that are left open because a question names them besides the one that it led to, by the question.
    named_besides: Ordered<usize, Vec<Action>>,
    /// The ways in which calls were tied, while that can make a difference.
    kinds: Ordered<TiedBy>,
    /// Whether a confirmation was forgotten that could explain another call.
    forgotten_spare: bool,
    /// The kinds of id that the confirmations had which were forgotten together with their calls.
    forgotten: BTreeSet<IdKinds>,
}

/// The questions that may be about a call.
#[derive(Debug, Default)]
pub struct Concerned {
    /// Those that an id ties to it, else those that their place does.
    pub candidates: Vec<usize>,
    /// Which of the two.
    pub relation: Relation,
    /// Those that their place would tie to it, and that are about another call by what they say.
    pub others: Vec<usize>,
}

/// A call that was accused.
#[derive(Debug)]
pub struct Accused {
    /// Its line.
    pub line: u64,
    /// Its action.
    pub action: Action,
    /// The line on which it completed, where that is known already.
    pub completed: Option<u64>,
    /// Whether it was accused of never having been asked about.
    pub unasked: bool,
    /// The questions that are about another call.
    pub others: Vec<usize>,
}

/// The question that a call which was told turns out to be about.
#[derive(Debug)]
pub struct Used {
    /// Its number.
    pub question: usize,
    /// How well the two fit.
    pub fit: Fit,
    /// The line on which the call completed, where the question may have been accepted before that.
    pub ran: Option<u64>,
}

/// Whether a completion of this tool is that of the call with these ids and tool.
pub(super) fn completes(
    event: &Event,
    tool: Option<&str>,
    call: (&ActionIds<'_>, Option<&str>),
) -> bool {
    match (&call.0.tool_call_id, &event.ids.tool_call_id) {
        (Some(own), Some(other)) => own == other,
        (None, _) | (_, None) => call.1 == tool,
    }
}

impl Authorisation {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            runs,
            called,
            assigned,
            deferred,
            told,
            named_besides,
            kinds,
            forgotten_spare,
            forgotten,
        } = self;
        memory.value(&(called, assigned, deferred, told, kinds));
        memory.value(named_besides);
        memory.value(&(forgotten_spare, forgotten));
        memory.each(runs.iter(), |memory, (number, run)| {
            let Run {
                place,
                action,
                relation,
                others,
                waits,
                asked_behind,
                says_accepted,
                sent,
                received,
                completed,
                accepted_unseen,
                stray,
            } = &**run;
            memory.line(place.line);
            memory.line(completed.unwrap_or_default());
            memory.line(*stray);
            memory.value(&(number, action, relation, others, (waits, asked_behind)));
            memory.value(&(says_accepted, sent, received, accepted_unseen));
        });
    }

    /// Judges an event of the open session. Yields the calls that were accused, and at its end those that may still be: they
    /// stand for the calls that their confirmations lead to, should those be accepted later.
    ///
    /// `concerned` are the questions that may be about it, if it is a call.
    pub fn event(
        &mut self,
        event: &Event,
        concerned: &Concerned,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Vec<Accused> {
        let mut accused = self.settle(event, confirmations, notes);
        if let EventKind::Invoked { irreversible, .. } = &event.kind {
            accused.extend(self.called(event, *irreversible, concerned, confirmations, notes));
        }
        if let EventKind::Completed { tool, .. } = &event.kind {
            self.completed(event, *tool);
        }
        if matches!(event.kind, EventKind::Ended(_)) {
            accused.extend(self.give_up_waiting(event.session, confirmations, notes));
            let undecided = self.deferred.iter();
            accused.extend(undecided.map(|number| self.runs[*number].accused(false)));
        }
        accused
    }

    /// Takes in that a call completed, unless its own id ties it to its acceptance.
    fn completed(&mut self, event: &Event, tool: Option<&str>) {
        let is_completed = |run: &Run| {
            let call = (run.ids(), run.action.tool.as_deref());
            run.completed.is_none() && completes(event, tool, call)
        };
        let may_be_told = |number: usize, run: &Run| {
            !matches!(run.relation, Relation::Same(_)) || self.deferred.contains(&number)
        };
        let number = self.runs.iter().find_map(|(number, run)| {
            (may_be_told(number, run) && is_completed(run)).then_some(number)
        });
        if let Some(run) = number.and_then(|it| self.runs.get_mut(it)) {
            run.completed = Some(event.place.line);
        }
    }

    fn accuse_deferred(
        &mut self,
        number: usize,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        self.deferred.retain(|it| *it != number);
        self.accuse(number, session, confirmations, notes)
    }

    /// Takes in a question before it is entered: an undecided call that it fits better than all before it had not been asked
    /// about. Where a reply may explain the call all the same, only an id is certain.
    pub fn asked(
        &mut self,
        event: &Event,
        question: &Confirmation,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Vec<Accused> {
        let mut accused = Vec::new();
        for number in self.deferred.clone() {
            let Some(run) = self.runs.get_mut(number) else {
                continue;
            };
            let fit = run.fit(question);
            let candidates = run.candidates(confirmations);
            let mut earlier = candidates.iter().map(|it| run.fit(confirmations.kept(*it)));
            let fits_better = match fit {
                Fit::Id(_) => !matches!(run.relation, Relation::Same(_)),
                Fit::Words => {
                    let may_be_its_own = run.completed.is_none() || !run.waits;
                    may_be_its_own
                        && (run.waits || run.action.has_arguments())
                        && earlier.all(|it| it == Fit::Not)
                }
                Fit::Not => false,
            };
            run.asked_behind |= fits_better;
            if fits_better && (run.waits || fit > Fit::Words) {
                accused.extend(self.accuse_deferred(number, event.session, confirmations, notes));
            }
        }
        accused
    }

    /// Whether a reply may still explain a call, even when the session is over.
    pub fn is_undecided(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Accuses what only waited for a question of its own, or for a call that the last one names: none will come any more.
    pub fn give_up_waiting(
        &mut self,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Vec<Accused> {
        let waits = |it: &usize| self.runs.get(*it).is_some_and(|it| it.waits);
        let waiting: Vec<_> = self.deferred.iter().copied().filter(waits).collect();
        let waiting = waiting.into_iter();
        waiting
            .filter_map(|number| self.accuse_deferred(number, session, confirmations, notes))
            .collect()
    }

    /// Accuses the first of those that no reply explained: none will come any more.
    pub fn give_up(
        &mut self,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        let first = self.deferred.pop_front()?;
        self.accuse(first, session, confirmations, notes)
    }

    /// A reply may explain a call that is recorded before it: whoever logs both writes the reply down when it is answered.
    pub fn accepted(
        &mut self,
        confirmation: usize,
        (decided, received): (Timestamp, Option<Timestamp>),
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        // The oldest first: where one acceptance is for one of two calls, it is the second that is one too many.
        for number in std::mem::take(&mut self.deferred) {
            let Some(run) = self.runs.get_mut(number) else {
                continue;
            };
            let is_before =
                |reply: Timestamp, call: Timestamp| reply <= call.plus_seconds(confirmations.slack);
            let before = match (received, run.received, run.sent) {
                _ if confirmations.in_order => false,
                (Some(reply), Some(call), _) => is_before(reply, call),
                (_, _, Some(call)) => is_before(decided, call),
                (_, _, None) => true,
            };
            if before {
                run.accepted_unseen.push(confirmation);
                self.assigned.revive();
            }
            let candidates = run.candidates(confirmations);
            if !before || !self.assign(number, &candidates, confirmations, notes) {
                self.deferred.push_back(number);
            } else if confirmations.slack > 0
                || received.is_none()
                || self.runs[number].received.is_none()
            {
                doubt_order(&self.runs[number], (decided, confirmations.slack), notes);
            }
        }
    }

    /// Whether the call on that line is neither explained nor accused.
    pub fn is_deferred(&self, line: u64) -> bool {
        self.undecided_lines().any(|it| it == line)
    }

    /// Lines of the calls that are neither explained nor accused.
    pub fn undecided_lines(&self) -> impl Iterator<Item = u64> {
        self.deferred.iter().map(|number| self.runs[*number].line())
    }

    fn called(
        &mut self,
        event: &Event,
        irreversible: bool,
        concerned: &Concerned,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        if !irreversible && !matches!(concerned.relation, Relation::Same(_)) {
            // A reversible call that names no confirmation needs none.
            doubt_reversible(event, &concerned.candidates, confirmations, notes);
            return None;
        }
        let number = self.called;
        self.called += 1;
        let run = Run::new(event, concerned, confirmations.stray)?;
        self.kinds.insert(run.tied_by(), ());
        self.runs.insert(number, Box::new(run));
        self.judge(number, event.session, confirmations, notes)
    }

    /// Finds a question for a call, and yields the call that is told for want of one.
    fn judge(
        &mut self,
        number: usize,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        let candidates = self.runs[number].candidates(confirmations);
        if self.leave_named_besides(number, &candidates, confirmations, notes) {
            return None;
        }
        let mut left_over = number;
        if !self.assign(number, &candidates, confirmations, notes) {
            // Each takes a question that it fits better than who held it, so that there is an end.
            while let Some(displaced) = self.displace(left_over, confirmations, notes) {
                left_over = displaced;
            }
        }
        self.doubt(number, &candidates, confirmations, notes);
        let is_explained = self.assigned.has(left_over);
        (!is_explained).then(|| self.unexplained(left_over, session, confirmations, notes))?
    }

    /// AAEP-A.8-4: leaves a call open that a question names which was accepted before it and led to another: nothing says that a question
    /// is for one call. Not where a question that it fits is left for it, nor where it is the same call again.
    fn leave_named_besides(
        &mut self,
        number: usize,
        candidates: &[usize],
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> bool {
        let run = &self.runs[number];
        let by_own_id = run.relation == Relation::Same(TiedBy::ToolCallId);
        let explaining = candidates.iter().copied();
        let explaining = explaining.filter(|it| run.is_explained_by(*it, confirmations));
        let (used, free): (Vec<_>, Vec<_>) = explaining.partition(|it| self.assigned.is_taken(*it));
        let fits = |it: &usize| run.fit(confirmations.kept(*it)) > Fit::Not;
        if by_own_id || free.iter().any(fits) {
            return false;
        }
        let found = used.into_iter().find_map(|it| {
            let wording = &confirmations.kept(it).wording;
            let first = &self.runs[self.assigned.left_of(it)?];
            let others = self.named_besides.get(it).into_iter().flatten();
            let mut others = others.chain([&first.action]);
            let is_named = others.all(|other| run.action.is_named_besides(other, wording));
            is_named.then_some((it, first.line()))
        });
        let Some((question, first)) = found else {
            return false;
        };
        doubt_several(run, confirmations.kept(question), first, notes);
        let Some(run) = self.runs.remove(number) else {
            return false;
        };
        let mut besides = self.named_besides.remove(question).unwrap_or_default();
        besides.push(run.action);
        self.named_besides.insert(question, besides);
        true
    }

    /// A question turns out to be about a call that came before it: judges the later call anew that has it so far, where that fits it less,
    /// or came when the first had run on it.
    pub fn take_back(
        &mut self,
        used: &Used,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        let question = confirmations.get(used.question)?;
        self.told.insert(used.question, ());
        let holder = self.assigned.left_of(used.question)?;
        let run = self.runs.get_mut(holder)?;
        let fit = run.fit(question);
        let is_behind = used.ran.is_some_and(|ran| ran < run.line());
        if fit > used.fit || fit == used.fit && !is_behind {
            return None;
        }
        run.others.push(used.question);
        self.assigned.release(holder);
        self.untie(holder, question, notes);
        self.judge(holder, session, confirmations, notes)
    }

    /// Takes back what was said of a call and the question that it loses.
    fn untie(&self, number: usize, question: &Confirmation, notes: &mut Notes) {
        let run = &self.runs[number];
        notes.unsay(&doubt_place(run, question));
        let tied = notes.tied.entry(run.tied_by()).or_default();
        *tied = tied.saturating_sub(1);
    }

    /// Gives a call the question that it fits best, in place of a call that fits it less. Yields that one.
    fn displace(
        &mut self,
        number: usize,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<usize> {
        let run = &self.runs[number];
        let candidates = run.candidates(confirmations);
        let held = candidates.iter().filter_map(|it| {
            let holder = self.assigned.left_of(*it)?;
            let question = confirmations.kept(*it);
            let fits = (run.fit(question), self.runs[holder].fit(question));
            let is_better = fits.0 > fits.1 && run.is_explained_by(*it, confirmations);
            is_better.then_some((fits.1, *it, holder))
        });
        let (_, question, holder) = held.min_by_key(|(fit, ..)| *fit)?;
        self.assigned.give(question, number);
        let question = confirmations.kept(question);
        self.untie(holder, question, notes);
        *notes.tied.entry(self.runs[number].tied_by()).or_default() += 1;
        Some(holder)
    }

    /// Judges a call that no acceptance is left for, as far as the record goes.
    fn unexplained(
        &mut self,
        number: usize,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        let run = &self.runs[number];
        let irreversible = run.is_irreversible();
        let candidates = run.candidates(confirmations);
        let left = |outcome| {
            candidates.iter().any(|index| {
                !self.assigned.is_taken(*index)
                    && confirmations.kept(*index).possible.may_be(outcome)
            })
        };
        let mut own = candidates.iter().filter(|it| !self.assigned.is_taken(**it));
        let may_be_withdrawn = left(Outcomes::CANCELLED)
            || own.any(|it| confirmations.kept(*it).withdrawn_elsewhere.is_some());
        if !irreversible && may_be_withdrawn && !run.says_accepted {
            // A question that was withdrawn asks nothing any more, and a reversible call needs none. One that says that it
            // was accepted does not go without.
            if let Some(run) = self.runs.remove(number) {
                doubt_withdrawal(&run, &candidates, confirmations, notes);
            }
            return None;
        }
        // Who rejected may be nobody who counts, and whose acceptance does may be recorded late.
        let may_be_unanswered = candidates.iter().any(|index| {
            !self.assigned.is_taken(*index) && confirmations.kept(*index).may_be_unanswered()
        });
        // Whether a call breaks the answer to a question that does not name it, or came before a question of its own, shows
        // when it completes at last.
        let mut open = candidates
            .iter()
            .filter(|it| !self.is_of_another(run, **it, confirmations))
            .map(|it| confirmations.kept(*it))
            .peekable();
        let tells = run.action.has_arguments() || run.ids().tool_call_id.is_some();
        let waits = irreversible
            && confirmations.hold_replies()
            && run.completed.is_none()
            && open.peek().is_some()
            && open.all(|it| run.is_tied_by_place_alone(it) || tells && run.fit(it) == Fit::Not);
        let is_deferred = !confirmations.in_order && (left(Outcomes::PENDING) || may_be_unanswered);
        if !is_deferred && !waits {
            return self.accuse(number, session, confirmations, notes);
        }
        self.runs.get_mut(number)?.waits = waits && !is_deferred;
        self.deferred.push_back(number);
        self.give_up_the_oldest(session, confirmations, notes)
    }

    /// Whether a question names another call, which it led to, was told with, or may be yet, and not this one.
    fn is_of_another(&self, run: &Run, question: usize, confirmations: &Confirmations) -> bool {
        let kept = confirmations.kept(question);
        let holder = self.assigned.left_of(question);
        let mut others = self.deferred.iter().copied().chain(holder);
        let is_named = |it: usize| self.runs[it].fit(kept) > Fit::Not;
        run.fit(kept) == Fit::Not && (self.told.contains(question) || others.any(is_named))
    }

    /// A confirmation is forgotten, and with it the call that it explains. Where calls are tied in one way alone nothing is
    /// lost by that; else another call might have been explained by moving that one.
    pub fn forget(&mut self, number: usize, confirmation: &Confirmation) {
        let spare = Outcomes::PENDING.or(Outcomes::ACCEPTED);
        self.told.remove(number);
        self.named_besides.remove(number);
        match self.assigned.forget(number) {
            Some(run) => {
                self.runs.remove(run);
                self.forgotten.insert(confirmation.ids.kinds());
            }
            None => self.forgotten_spare |= confirmation.possible.may_be(spare),
        }
    }

    /// No more calls are kept undecided than confirmations are.
    fn give_up_the_oldest(
        &mut self,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        if self.deferred.len() <= KEPT {
            return None;
        }
        let oldest = self.deferred.front().copied()?;
        if self.runs.get(oldest)?.waits {
            return self.accuse_deferred(oldest, session, confirmations, notes);
        }
        self.deferred.pop_front();
        let run = self.runs.remove(oldest)?;
        let reason = format!(
            "nothing tells yet whether an acceptance preceded the call on line {}, and too many such calls have come since",
            run.line()
        );
        notes.withhold("AAEP-A.7.4-1", reason);
        None
    }

    /// Assigns a call with these candidates, to the one that fits it best of those that can explain it, or by moving others.
    fn assign(
        &mut self,
        number: usize,
        candidates: &[usize],
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> bool {
        let explains = |run: &Run, it: usize| run.is_explained_by(it, confirmations);
        self.assign_by(number, candidates, explains, confirmations, notes)
    }

    /// The same where a question explains a call by other means.
    fn assign_by(
        &mut self,
        number: usize,
        candidates: &[usize],
        explains: impl Fn(&Run, usize) -> bool,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> bool {
        let runs = &self.runs;
        let own = candidates.iter().copied();
        let own = own.filter(|it| !self.assigned.is_taken(*it) && explains(&runs[number], *it));
        let mut own: Vec<_> = own.collect();
        if own.len() > 1 {
            // Of the free ones that which names it, so that the others are left for those that they name.
            own.sort_by_key(|it| Reverse(runs[number].fit(confirmations.kept(*it))));
        }
        let class = |number: usize| runs[number].class(number, &confirmations.kinds);
        let edges = |number: usize| {
            let run = &runs[number];
            let mut candidates = run.candidates(confirmations);
            candidates.retain(|it| explains(run, *it));
            candidates
        };
        let assigned = self.assigned.assign(number, own, class, edges);
        if assigned {
            *notes.tied.entry(runs[number].tied_by()).or_default() += 1;
        }
        assigned
    }

    /// AAEP-6.3.4-5, AAEP-REPLY-14: whether an acceptance explains a call that counts if the reply which rejected before it did not. It is
    /// assigned to that as to any other, so that it explains no second call.
    fn explain_otherwise(
        &mut self,
        number: usize,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> bool {
        let mut questions = confirmations.all();
        if !questions.any(|(_, it)| it.overruled.iter().any(Option::is_some)) {
            return false;
        }
        let explains = |run: &Run, it: usize| {
            let otherwise = || run.otherwise(confirmations.kept(it)).is_some();
            run.is_explained_by(it, confirmations) || otherwise()
        };
        self.assigned.revive();
        if !self.assign_by(number, &[], explains, confirmations, notes) {
            return false;
        }
        let doubtful = |index: usize| {
            let question = confirmations.kept(index);
            let holder = &self.runs[self.assigned.left_of(index)?];
            let counted = holder.is_explained_by(index, confirmations);
            let (reply, _) = question.answered.filter(|_| !counted)?;
            Some((question, reply, holder.otherwise(question)?))
        };
        if let Some((question, reply, accepted)) =
            confirmations.all().rev().find_map(|(it, _)| doubtful(it))
        {
            let message = format!(
                "{}, and the question on line {} was rejected on line {reply}, and accepted from line {accepted} on, by another reply or by default",
                self.runs[number].call(),
                question.place.line
            );
            let run = &self.runs[number];
            let rule = &rules::CALLED_AFTER_REJECTION;
            let finding = Finding::new(rule, &run.place, Some(session), message);
            notes.add_possible(finding.tied_by(run.tied_by()), doubt_of(question));
        }
        true
    }

    /// Says what may be wrong about a call that is explained, and does not show.
    fn doubt(
        &self,
        number: usize,
        candidates: &[usize],
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        let mut all = candidates.iter();
        let Some(explains) = all.find(|it| self.assigned.left_of(**it) == Some(number)) else {
            return;
        };
        let (run, explains) = (&self.runs[number], confirmations.kept(*explains));
        doubt(run, explains, notes);
        doubt_words(run, explains, candidates, confirmations, notes);
    }

    /// Accuses the deferred calls that no reply can explain any more.
    fn settle(
        &mut self,
        event: &Event,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Vec<Accused> {
        let later = |then: Option<Timestamp>, now: Option<Timestamp>| match (then, now) {
            (Some(then), Some(now)) => now > then.plus_seconds(LOGGED_LATE_SECONDS),
            (None, _) | (_, None) => false,
        };
        let is_due = |number: &usize| {
            let run = &self.runs[*number];
            later(run.sent, event.sent) || later(run.received, event.received)
        };
        let due: Vec<_> = self.deferred.iter().copied().take_while(is_due).collect();
        let accused = due
            .into_iter()
            .filter_map(|number| self.accuse_deferred(number, event.session, confirmations, notes));
        accused.collect()
    }

    /// Accuses a call, unless a confirmation that is not kept any more may have explained it.
    fn accuse(
        &mut self,
        number: usize,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) -> Option<Accused> {
        if self.explain_otherwise(number, session, confirmations, notes) {
            return Some(self.runs[number].accused(false));
        }
        let candidates = self.runs.get(number)?.candidates(confirmations);
        if self.leave_named_besides(number, &candidates, confirmations, notes) {
            return None;
        }
        let mut run = self.runs.remove(number)?;
        let line = run.line();
        let mut others = run.candidates(confirmations);
        others.retain(|it| run.asked_behind || self.is_of_another(&run, *it, confirmations));
        run.others.extend(others);
        let candidates = run.candidates(confirmations);
        for question in &candidates {
            if run.fit(confirmations.kept(*question)) > Fit::Not {
                self.told.insert(*question, ());
            }
        }
        let (rule, message) = self.explain(&run, &candidates, confirmations);
        let accused = |unasked| run.accused(unasked);
        let concerned = !candidates.is_empty()
            || self
                .forgotten
                .iter()
                .any(|kinds| !kinds.share_one(run.ids().kinds()));
        let movable = !self.forgotten.is_empty() && self.kinds.len() > 1 && concerned;
        if self.forgotten_spare || movable {
            let reason = format!(
                "{message} (line {line}), but the session has asked so often that its first questions are not kept, and one of them may explain the call"
            );
            notes.withhold(rule.clause, reason);
            return Some(accused(false));
        }
        let before = match line - 1 {
            0 => "; ".to_owned(),
            last => {
                format!("{FITS_UP_TO}{last} the calls of this session fit a conforming run, and ")
            }
        };
        let message = format!(
            "{message}{before}{INSTEAD}{}",
            allowed_instead(&run, &candidates, confirmations)
        );
        let mut finding = Finding::new(rule, &run.place, Some(session), message);
        if run.action.irreversible {
            finding = finding.and_also(&["AAEP-A.7.4-1", "AAEP-A.8-4"]);
        }
        if stray_acceptance(&run, &candidates, confirmations) {
            // AAEP-6.3.4-2: a reply with a token that was never given out may have let the call run.
            finding = finding.and_also(&["AAEP-6.3.4-2", "AAEP-6.3.4-7"]);
        }
        if calls_withdrawn_accepted(&run, &candidates, confirmations) {
            // AAEP-6.8-4: the token that the call goes by was not valid any more.
            finding = finding.and_also(&["AAEP-6.8-4"]);
        }
        let mut unused = candidates.iter().rev();
        if let Some(latest) = unused.find(|it| !self.assigned.is_taken(**it)) {
            let question = confirmations.kept(*latest);
            finding = finding.and_also(&breaks_besides(rule, &run, question));
            finding = finding.assuming(run.assumes(question));
        }
        // One that no question is left for that may be about it, and one that nobody accepted.
        let unasked = rule == &rules::IRREVERSIBLE_UNASKED;
        let all_used = candidates.iter().all(|it| self.assigned.is_taken(*it));
        notes.add(if candidates.is_empty() || unasked && !all_used {
            finding
        } else {
            finding.tied_by(run.tied_by())
        });
        Some(accused(unasked && all_used))
    }

    /// Names the fault of a call that no acceptance is left for, by the latest of the questions that fit it best.
    fn explain(
        &self,
        run: &Run,
        candidates: &[usize],
        confirmations: &Confirmations,
    ) -> (&'static Rule, String) {
        let by_id = matches!(run.relation, Relation::Same(_));
        // One that was accepted behind the call was not used before it.
        let is_accepted_behind = |it: usize| {
            let from = confirmations.kept(it).acceptable_from;
            from.is_some_and(|from| run.line() < from) && !run.accepted_unseen.contains(&it)
        };
        let is_used = |it: &&usize| self.assigned.is_taken(**it) && !is_accepted_behind(**it);
        let (used, unused): (Vec<usize>, Vec<usize>) = candidates.iter().partition(is_used);
        let last_used = used.last().copied();
        let unused = unused.iter().map(|it| (*it, confirmations.kept(*it)));
        let latest = unused.max_by_key(|(index, question)| (run.fit(question), *index));
        let call = run.call();
        // AAEP-6.3.4-3, AAEP-6.3.5-1: one acceptance lets its action run once. A call that came before its question was not accepted
        // then, and neither was the next of its kind: that one is AAEP-A.8-4 as well.
        let twin = used.iter().rev().find_map(|index| {
            let first = &self.runs[self.assigned.left_of(*index)?];
            (by_id || first.action.tool == run.action.tool).then_some((*index, first))
        });
        if let Some((index, first)) = twin
            && latest.is_none_or(|(latest, question)| {
                (run.fit(question), latest) < (run.fit(confirmations.kept(index)), index)
            })
        {
            let message = format!(
                "{call}, and the one acceptance that could explain it, of the question on line {}, explains the call on line {}",
                confirmations.kept(index).place.line,
                first.line()
            );
            return (&rules::CALLED_TWICE, message);
        }
        if let Some((_, question)) = latest {
            let asked = question.place.line;
            let reply = question.answered.map(|(line, _)| line);
            let rejected = question.possible.may_be(Outcomes::REJECTED);
            // AAEP-A.4-4, AAEP-A.8-5: no call after a rejection. Where it may have been of another, what is proved is AAEP-A.8-4.
            if let Some(reply) = reply.filter(|reply| rejected && *reply < run.line()) {
                if run.is_irreversible() && run.is_tied_by_place_alone(question) {
                    let message = format!(
                        "{call} without an accepted confirmation before it; nothing but its place ties it to the question on line {asked}, which was rejected on line {reply} and may have been about it"
                    );
                    return (&rules::IRREVERSIBLE_UNASKED, message);
                }
                let message = format!(
                    "{call} after the question on line {asked} was rejected on line {reply}"
                );
                return (&rules::CALLED_AFTER_REJECTION, message);
            }
            if let Some(explained) =
                after_failed_reply((&call, run.line()), asked, question.ignored.as_ref())
            {
                return explained;
            }
            // AAEP-6.9-5, AAEP-A.7.4-1: nobody answered, and that may not let it run.
            if !run.may_default() && question.may_explain(run.line(), true) {
                let message = format!(
                    "{call}, which is of {} risk, and the question on line {asked} was accepted by nobody: its default is for an action of low risk or one that can be undone",
                    if run.risk() == Risk::High {
                        "high"
                    } else {
                        "medium"
                    }
                );
                let rule = match run.risk() {
                    Risk::High => &rules::DEFAULT_RAN,
                    Risk::Medium | Risk::Low => &rules::IRREVERSIBLE_UNACCEPTED,
                };
                return (rule, message);
            }
            // AAEP-6.1-1, AAEP-A.7.4-1: asked for, and not accepted.
            let message = format!("{call} before the question on line {asked} was accepted");
            let rule = if run.action.irreversible {
                &rules::IRREVERSIBLE_UNACCEPTED
            } else {
                &rules::UNACCEPTED
            };
            return (rule, message);
        }
        // AAEP-A.7.4-1, AAEP-A.8-4: no question at all, or each was used by another call.
        let others = run.others.iter().filter_map(|it| confirmations.get(*it));
        let of_another = others.max_by_key(|it| it.place.line);
        let last = last_used
            .map(|index| confirmations.kept(index).place.line)
            .or_else(|| confirmations.last_called(run.line()));
        let message = match (last, of_another) {
            (None, Some(question)) if run.fit(question) == Fit::Not => format!(
                "{call} without a confirmation of its own; the last, on line {}, is about another action by what it says",
                question.place.line
            ),
            (None, None) => format!("{call} without a confirmation before it"),
            (last, other) => format!(
                "{call} without a confirmation of its own; the last, on line {}, led to another call",
                last.or(other.map(|it| it.place.line)).unwrap_or_default()
            ),
        };
        (&rules::IRREVERSIBLE_UNASKED, message)
    }
}
