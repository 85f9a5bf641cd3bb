//! Calls that nobody was asked about, and the questions that come behind them.
//!
//! An irreversible one is a fault (AAEP-A.8-4), and judging goes on. It stays open until it completes or its session ends. A question
//! that fits it is then taken to be about it: the call has announced the action, and what its completion says is judged
//! against what became of the question. That the call ran for want of an answer is a consequence of the first fault; that
//! it ran against an answer is another fault.
//!
//! A call that an earlier question may be about, and does not name, may turn out to be one of these, when that question is needed
//! for a call that it names. Until then it says nothing, and is tied to questions as if it were one.
//!
//! One that can be undone needs no question. Where one comes that names it by id, it waits for the answer as any other
//! (AAEP-6.1-1), and its completion under that id is judged in the same way; it too has announced the action (AAEP-A.4-3). Where
//! nothing but its words names it, the call may be another: it has announced the action if that is accepted, and else it is left open.

use std::collections::VecDeque;

use super::Notes;
use super::authorisation::{Accused, Concerned, Used, completes};
use super::checks::Check;
use super::confirmation::{Confirmation, Outcomes};
use super::confirmations::{Confirmations, KEPT};
use super::explaining::{
    after_failed_reply, clauses_of, doubt_announced, doubt_of, doubt_reply, what_would_tell,
};
use super::resolution::Resolution;
use super::wording::{Action, Fit, Wording};
use crate::action_ids::{ActionIds, Relation};
use crate::finding::{Finding, Place, TiedBy};
use crate::memory::Memory;
use crate::record::{Event, EventKind, Question, Risk};
use crate::rules::{self, Rule};
use crate::time::Timestamp;

/// The calls of one session that nobody was asked about.
#[derive(Debug, Default, Clone)]
pub struct Announced {
    /// Those that have not completed, oldest first.
    open: VecDeque<Early>,
    /// Those that ran and were tied to a question, until the session ends: a reply may be recorded late.
    ran: VecDeque<Ran>,
    /// Those that can be undone and ran, of which a question may have been, until the session ends.
    perhaps: VecDeque<Perhaps>,
}

/// A call that nobody was asked about before it.
#[derive(Debug, Clone)]
struct Early {
    line: u64,
    action: Action,
    tie: Tie,
    /// Whether it is told; else an earlier question may be about it.
    told: bool,
    /// If it can be undone: the questions behind it that may be about it, by what they say, and about no later call.
    perhaps: Vec<usize>,
}

/// Which question a call is tied to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Tie {
    /// None so far.
    Open,
    /// This one.
    To(Tied),
    /// Several fit, or several calls fit the question.
    Unclear,
}

/// The question that a call is tied to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Tied {
    number: usize,
    by: TiedBy,
    /// The ids of the question, and what it says of its action.
    question: (ActionIds<'static>, Wording),
}

impl Tied {
    /// How well the two fit.
    fn fit(&self) -> Fit {
        match self.by {
            TiedBy::Order => Fit::Words,
            by @ (TiedBy::ToolCallId | TiedBy::Extension) => Fit::Id(by),
        }
    }

    /// How well another call fits the question.
    fn fits(&self, action: &Action) -> Fit {
        let (ids, wording) = &self.question;
        action.fits(ids, wording)
    }
}

/// A call that ran, as its completion says.
#[derive(Debug, Clone)]
struct Ran {
    early: Early,
    tied: Tied,
    place: Place,
    sent: Option<Timestamp>,
    received: Option<Timestamp>,
    /// Whether the question may have been accepted before that.
    explained: bool,
    /// The last reply before it that had to be ignored.
    ignored: Option<(u64, Vec<Check>)>,
    /// The line of a later call that may be that of the action as it was changed.
    announced_again: Option<u64>,
}

/// A call that can be undone and ran, and the questions that may be about it.
#[derive(Debug, Clone)]
pub(super) struct Perhaps {
    /// Its line, and what it is called.
    pub(super) call: (u64, Action),
    /// The questions, oldest first.
    pub(super) questions: Vec<usize>,
    /// The line of its completion, and when that was.
    pub(super) completed: (u64, Option<Timestamp>),
}

impl Early {
    /// Whether it was no fault by itself: it can be undone.
    fn needs_none(&self) -> bool {
        !self.action.irreversible
    }

    /// How well a question fits it.
    fn fits(&self, (ids, wording): (&ActionIds<'_>, &Wording)) -> Fit {
        match self.action.fits(ids, wording) {
            Fit::Words if self.needs_none() => Fit::Not,
            _ if self.needs_none() && self.action.ids.tool_call_id.is_none() => Fit::Not,
            told @ (Fit::Not | Fit::Words | Fit::Id(_)) => told,
        }
    }

    /// Whether a completion is that of this call, of one that can be undone by its own id.
    fn completes(&self, event: &Event, tool: Option<&str>) -> bool {
        let own = (&self.action.ids.tool_call_id, &event.ids.tool_call_id);
        if self.needs_none() && (own.0.is_none() || own.1.is_none()) {
            return false;
        }
        self.may_complete(event, tool)
    }

    /// The same by the name of its tool.
    fn may_complete(&self, event: &Event, tool: Option<&str>) -> bool {
        let Action { ids, tool: own, .. } = &self.action;
        completes(event, tool, (ids, own.as_deref()))
    }
}

impl Announced {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self { open, ran, perhaps } = self;
        let early = |memory: &mut Memory, early: &Early| {
            let Early {
                line,
                action,
                tie,
                told,
                perhaps,
            } = early;
            memory.line(*line);
            memory.value(&(action, tie, told, perhaps));
        };
        memory.each(open.iter(), early);
        memory.each(ran.iter(), |memory, ran| {
            let Ran {
                early: call,
                tied,
                place,
                sent,
                received,
                explained,
                ignored,
                announced_again,
            } = ran;
            early(memory, call);
            memory.line(place.line);
            memory.line(announced_again.unwrap_or_default());
            memory.value(&(tied, sent, received, explained));
            memory.each(ignored.iter(), |memory, (line, check)| {
                memory.line(*line);
                memory.value(check);
            });
        });
        memory.each(perhaps.iter(), |memory, ran| {
            let Perhaps {
                call,
                questions,
                completed,
            } = ran;
            memory.line(call.0);
            memory.line(completed.0);
            memory.value(&(&call.1, questions, completed.1));
        });
    }

    /// The questions that are about calls which nobody had been asked about, and not about this one: it fits them less, or the
    /// other ran on what became of them. Of one that is not told and that nothing explains so far (`is_unexplained`, by its line), a
    /// question is only taken to be about it where the later call says what it is called with, and nothing of that is in the
    /// question, or another question names the later call (`is_named`).
    pub fn of_others(
        &self,
        action: &Action,
        is_named: bool,
        is_unexplained: impl Fn(u64) -> bool,
    ) -> Vec<usize> {
        let open = self.open.iter().filter_map(|early| match &early.tie {
            Tie::To(tied) => Some((early, tied, false)),
            Tie::Open | Tie::Unclear => None,
        });
        let ran = self.ran.iter();
        let tied = open.chain(ran.map(|ran| (&ran.early, &ran.tied, ran.explained)));
        let others = tied.filter(|(early, tied, explained)| {
            let fit = tied.fits(action);
            let is_apart = || is_named || !action.is_named_in(&tied.question.1);
            if early.told {
                fit < tied.fit() || *explained && fit == tied.fit()
            } else {
                let tells = fit == Fit::Not && action.has_arguments();
                tells && is_apart() && is_unexplained(early.line)
            }
        });
        others.map(|(_, tied, _)| tied.number).collect()
    }

    /// Judges an event of the open session, but for a question, which is handed to [`Self::asked`] when it is entered.
    pub fn event(
        &mut self,
        event: &Event,
        concerned: &Concerned,
        confirmations: &Confirmations,
        resolution: &mut Resolution,
        notes: &mut Notes,
    ) {
        if let Some(action) = Action::of(event) {
            self.called(event, &action, confirmations, resolution, notes);
            let is_named = |it: &usize| {
                let question = confirmations.kept(*it);
                action.fits(&question.ids, &question.wording) > Fit::Not
            };
            let needs_none = !action.irreversible;
            let is_apart = !matches!(concerned.relation, Relation::Same(_))
                && !concerned.candidates.iter().any(is_named);
            if is_apart {
                self.enter(event.place.line, action, needs_none);
            }
        }
        if let EventKind::Completed { tool, success } = &event.kind {
            self.completed(event, (*tool, *success), confirmations, resolution);
        }
    }

    /// Takes in a call that is told: nobody had been asked about it. Yields the question that it is tied to.
    pub fn unasked(
        &mut self,
        accused: &Accused,
        resolution: &mut Resolution,
        notes: &mut Notes,
    ) -> Option<Used> {
        let ran = self.ran.iter_mut();
        let ran = ran.map(|it| (&mut it.early, it.explained.then_some(it.place.line)));
        let mut calls = self.open.iter_mut().map(|it| (it, None)).chain(ran);
        let Some((early, ran)) = calls.find(|(it, _)| it.line == accused.line) else {
            if accused.completed.is_none() {
                self.enter(accused.line, accused.action.clone(), true);
            }
            return None;
        };
        early.told = true;
        match &early.tie {
            Tie::Open => None,
            Tie::To(tied) => {
                resolution.tie(early.line, Some(tied.number));
                Some(Used {
                    question: tied.number,
                    fit: tied.fit(),
                    ran,
                })
            }
            Tie::Unclear => {
                resolution.tie(early.line, None);
                let reason = format!(
                    "the call on line {} fits several questions behind it, or a question behind it several calls: which of them its answer was for does not show",
                    early.line
                );
                notes.leave_open("AAEP-6.1-1", early.line, reason);
                None
            }
        }
    }

    fn called(
        &mut self,
        event: &Event,
        action: &Action,
        confirmations: &Confirmations,
        resolution: &mut Resolution,
        notes: &mut Notes,
    ) {
        let line = event.place.line;
        let is_about_it = |it: &usize| {
            let question = confirmations.get(*it);
            question.is_none_or(|it| action.fits(&it.ids, &it.wording) > Fit::Not)
        };
        for early in &mut self.open {
            early.perhaps.retain(|it| !is_about_it(it));
            let Tie::To(tied) = &early.tie else {
                continue;
            };
            // A later call that fits at least as well comes in the order of the text, and may be the one that was asked about.
            if tied.fits(action) >= tied.fit() {
                early.tie = Tie::Unclear;
                if !early.told {
                    continue;
                }
                resolution.tie(early.line, None);
                notes.ask_behind(early.line, None);
                let reason = format!(
                    "the question about {} may be about the call on line {} or about that on line {line}: which of them its answer was for does not show",
                    action.name(),
                    early.line
                );
                notes.leave_open("AAEP-6.1-1", line, reason);
            }
        }
        for ran in &mut self.ran {
            let other_tool = ran.early.action.tool != action.tool;
            if !other_tool || ran.tied.fits(action) > Fit::Not {
                ran.announced_again = Some(line);
            }
        }
    }

    fn enter(&mut self, line: u64, action: Action, told: bool) {
        self.open.push_back(Early {
            line,
            action,
            tie: Tie::Open,
            told,
            perhaps: Vec::new(),
        });
        if self.open.len() > KEPT {
            let needless = |it: &Early| it.needs_none() || !it.told;
            let first = self.open.iter().position(needless);
            self.open.remove(first.unwrap_or_default());
        }
    }

    /// Ties a question to the one call that it fits best.
    pub fn asked(
        &mut self,
        event: &Event,
        question: &Question,
        number: usize,
        (confirmations, resolution): (&Confirmations, &mut Resolution),
        notes: &mut Notes,
    ) {
        if self.open.is_empty() {
            return;
        }
        let wording = Wording::of(question);
        let fit = |early: &Early| early.fits((&event.ids, &wording));
        let fits: Vec<_> = self.open.iter().map(|it| (fit(it), it.told)).collect();
        let (mut unclear, mut several) = (Vec::new(), false);
        for early in &mut self.open {
            // Those that are told are held against each other, the others against all.
            let rivals = fits.iter().filter(|(_, told)| *told || !early.told);
            let best = rivals.clone().map(|(fit, _)| *fit).max();
            let own = fit(early);
            let by = match own {
                _ if best != Some(own) => continue,
                Fit::Not => continue,
                Fit::Words => TiedBy::Order,
                Fit::Id(by) => by,
            };
            let is_shared = rivals.filter(|(fit, _)| *fit == own).count() > 1;
            let better = match &early.tie {
                Tie::Open => true,
                Tie::To(tied) if tied.by == TiedBy::Order => by != TiedBy::Order,
                Tie::To(_) if by == TiedBy::Order => continue,
                Tie::To(_) | Tie::Unclear => false,
            };
            let tied = (better && !is_shared).then(|| Tied {
                number,
                by,
                question: (event.ids.to_keep(), wording.clone()),
            });
            early.tie = tied.map_or(Tie::Unclear, Tie::To);
            if !early.told {
                continue;
            }
            let is_tied = early.tie != Tie::Unclear;
            if early.needs_none() {
                resolution.announced(early.line, &early.action);
            }
            resolution.tie(early.line, is_tied.then_some(number));
            notes.ask_behind(early.line, is_tied.then_some(event.place.line));
            if !is_tied {
                several |= is_shared;
                unclear.push(format!("line {}", early.line));
            }
        }
        if !unclear.is_empty() {
            let what = if several {
                "fits several calls that came before it"
            } else {
                "is the second that fits the call that came before it"
            };
            let reason = format!(
                "the question on line {} {what} ({}): which question was about which call does not show, so that what ran is not held against the answers",
                event.place.line,
                unclear.join(", ")
            );
            notes.leave_open("AAEP-6.1-1", event.place.line, reason);
        }
        self.name((&event.ids, &wording), number, (confirmations, resolution));
    }

    /// Takes in of which calls that can be undone a question may be: those that its words fit. If it is accepted, that one has announced
    /// the action (AAEP-A.4-3).
    fn name(
        &mut self,
        (ids, wording): (&ActionIds<'_>, &Wording),
        number: usize,
        (confirmations, resolution): (&Confirmations, &mut Resolution),
    ) {
        let fit = |early: &Early| early.action.fits(ids, wording);
        let best = self.open.iter().map(fit).max();
        let is_accepted = |it: &usize| {
            let question = confirmations.get(*it);
            question.is_some_and(|it| it.possible.may_be(Outcomes::ACCEPTED))
        };
        for early in self.open.iter_mut().filter(|it| it.needs_none()) {
            let own = fit(early);
            if own == Fit::Not || Some(own) != best {
                continue;
            }
            if early.tie == Tie::Open && !early.perhaps.iter().any(is_accepted) {
                resolution.announced(early.line, &early.action);
                resolution.tie(early.line, Some(number));
            }
            early.perhaps.push(number);
        }
    }

    fn completed(
        &mut self,
        event: &Event,
        (tool, success): (Option<&str>, bool),
        confirmations: &Confirmations,
        resolution: &mut Resolution,
    ) {
        let found = self.open.iter().position(|it| it.completes(event, tool));
        let Some(early) = found.and_then(|index| self.open.remove(index)) else {
            return self.completed_by_name(event, (tool, success));
        };
        if early.tie == Tie::Open && early.perhaps.is_empty() {
            resolution.close(early.line, event.place.line, confirmations);
        }
        // Only this shows that the action was performed.
        if !success {
            return;
        }
        let tied = match early.tie.clone() {
            Tie::To(tied) => tied,
            Tie::Open => return self.perhaps_ran(early, event),
            Tie::Unclear => return,
        };
        let question = confirmations.get(tied.number);
        self.ran.push_back(Ran {
            early,
            explained: question.is_some_and(|it| it.may_explain(event.place.line, true)),
            ignored: question.and_then(|it| it.ignored.clone()),
            tied,
            place: event.place.to_keep(),
            sent: event.sent,
            received: event.received,
            announced_again: None,
        });
        if self.ran.len() > KEPT {
            self.ran.pop_front();
        }
    }

    /// The same for one that can be undone and that only the name of its tool tells.
    fn completed_by_name(&mut self, event: &Event, (tool, success): (Option<&str>, bool)) {
        let mut open = self.open.iter();
        let found = open.position(|it| it.needs_none() && it.may_complete(event, tool));
        let Some(early) = found.and_then(|index| self.open.remove(index)) else {
            return;
        };
        if success {
            self.perhaps_ran(early, event);
        }
    }

    fn perhaps_ran(&mut self, early: Early, event: &Event) {
        if early.perhaps.is_empty() {
            return;
        }
        self.perhaps.push_back(Perhaps {
            call: (early.line, early.action),
            questions: early.perhaps,
            completed: (event.place.line, event.received.or(event.sent)),
        });
        if self.perhaps.len() > KEPT {
            self.perhaps.pop_front();
        }
    }

    /// The session is over: judges what ran of the calls that are told.
    pub fn end(&mut self, session: &str, confirmations: &Confirmations, notes: &mut Notes) {
        self.open.clear();
        self.judge_told(session, confirmations, notes, |_| true);
    }

    /// The same where a reply may still come by another clock: what needs one waits for it.
    pub fn end_by_clocks(
        &mut self,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        self.open.clear();
        let is_pending = |it: &Confirmation| it.possible.may_be(Outcomes::PENDING);
        let needs_none =
            |it: &Confirmation| it.slack == 0 || it.answered.is_some() || !is_pending(it);
        self.judge_told(session, confirmations, notes, needs_none);
    }

    /// Whether what ran of a call that is told waits for a reply.
    pub fn is_undecided(&self) -> bool {
        self.ran.iter().any(|it| it.early.told)
    }

    fn judge_told(
        &mut self,
        session: &str,
        confirmations: &Confirmations,
        notes: &mut Notes,
        is_ready: impl Fn(&Confirmation) -> bool,
    ) {
        for ran in std::mem::take(&mut self.perhaps) {
            doubt_announced(&ran, confirmations, notes);
        }
        self.ran.retain(|ran| {
            let question = confirmations.get(ran.tied.number);
            if !ran.early.told || question.is_some_and(|it| !is_ready(it)) {
                return true;
            }
            if let Some(question) = question {
                ran.judge(session, question, notes);
            }
            false
        });
    }
}

impl Ran {
    /// AAEP-6.1-1: what ran was accepted before, or it is said why not.
    fn judge(&self, session: &str, question: &Confirmation, notes: &mut Notes) {
        let asked = question.place.line;
        let what = format!(
            "tool.completed of {} with success, of the call on line {} that came before its question on line {asked}",
            self.early.action.name(),
            self.early.line
        );
        let answered = question.answered.filter(|it| self.follows(*it, question));
        let may_default = !self.early.action.irreversible
            || matches!(self.early.action.risk, None | Some(Risk::Low));
        let by_default = answered.is_none() && question.may_explain(self.place.line, may_default);
        let accepted = question.possible.may_be(Outcomes::ACCEPTED);
        let rejected = question.possible.may_be(Outcomes::REJECTED);
        if by_default || answered.is_some() && accepted && !rejected {
            if let Some((reply, _)) = answered.filter(|(line, _)| *line > self.place.line)
                && question.slack > 0
            {
                let tells = what_would_tell(question.slack);
                let reason = format!(
                    "{what}, and is recorded before the reply on line {reply} which accepts that: whether that had arrived does not show; {tells}"
                );
                notes.leave_open(rules::UNACCEPTED.clause, self.place.line, reason);
            }
            return doubt_reply((&what, self.place.line), question, notes);
        }
        if let Some((reply, _)) = answered {
            return match (accepted, question.modified) {
                (true, true) => self.judge_modified(session, (&what, reply), notes),
                // What a decision of one's own does is not said.
                (true, false) => {}
                (false, _)
                    if question
                        .overruled_before((self.place.line, self.moment()), may_default)
                        .is_some() =>
                {
                    let message = format!(
                        "{what}, which was rejected and then accepted, by another reply or by default"
                    );
                    let finding = self.finding(&rules::CALLED_AFTER_REJECTION, session, message);
                    notes.add_possible(finding, doubt_of(question));
                }
                (false, _) => {
                    let message = format!("{what}, which was rejected on line {reply}");
                    let finding = self.finding(&rules::CALLED_AFTER_REJECTION, session, message);
                    let before = (self.place.line, self.moment());
                    let accepted = question.accepted_besides(before, may_default);
                    let assumed = question.assumed().filter(|_| accepted.is_some());
                    notes.add(finding.assuming(assumed));
                }
            };
        }
        let needs_none = self.early.needs_none();
        let other = "or nothing waited for the reply";
        if let Some((rule, message)) =
            after_failed_reply((&what, self.place.line), asked, self.ignored.as_ref())
        {
            let finding = self.finding(rule, session, format!("{message}; {other}"));
            let checks = self
                .ignored
                .iter()
                .flat_map(|(_, checks)| clauses_of(checks));
            return notes.add(finding.and_also(&checks.collect::<Vec<_>>()));
        }
        let message = format!("{what}, and nobody had accepted it; {other}");
        let finding = self.finding(&rules::UNACCEPTED, session, message);
        notes.add(if needs_none {
            finding
        } else {
            finding.follows_from(self.early.line, rules::IRREVERSIBLE_UNASKED.clause)
        });
    }

    /// AAEP-6.3.2-4: without support for a modified action the reply rejects, and with it the modified action runs, which is
    /// announced (AAEP-A.4-3). The call on record was announced before there was a modification.
    fn judge_modified(&self, session: &str, (what, reply): (&str, u64), notes: &mut Notes) {
        if let Some(line) = self.announced_again {
            let reason = format!(
                "{what}, and the reply on line {reply} modifies the action: whether the call on line {line} announces it as modified does not show; a recording would have to hold what the modification is, and its support"
            );
            notes.leave_open("AAEP-6.3.2-4", self.place.line, reason);
            return;
        }
        let message = format!(
            "{what}; the reply on line {reply} modifies the action, which rejects it where that is not supported, and where it is, no tool.invoked announces what was modified"
        );
        self.accuse(&rules::MODIFIED_TAKEN_AS_ACCEPTED, session, message, notes);
    }

    /// Whether the reply that decided came before the completion.
    fn follows(&self, (line, moment): (u64, Timestamp), question: &Confirmation) -> bool {
        let completed = self.moment().map(|it| it.plus_seconds(question.slack));
        let by_time = completed.is_none_or(|completed| moment <= completed);
        line < self.place.line || !question.in_order && by_time
    }

    /// When it is taken to have completed.
    fn moment(&self) -> Option<Timestamp> {
        self.received.or(self.sent)
    }

    fn accuse(&self, rule: &'static Rule, session: &str, message: String, notes: &mut Notes) {
        notes.add(self.finding(rule, session, message));
    }

    fn finding(&self, rule: &'static Rule, session: &str, message: String) -> Finding {
        Finding::new(rule, &self.place, Some(session), message).tied_by(self.tied.by)
    }
}
