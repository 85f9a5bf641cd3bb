//! What has to follow a decision: the call after an acceptance, a word after a rejection.
//!
//! Judged when the session completes. A session that errors or is cancelled takes its obligations with it (AAEP-6.8-2),
//! and a question that is still open when its session ends ends with it.

use std::collections::BTreeSet;

use super::Notes;
use super::authorisation::{Accused, Concerned, completes};
use super::confirmation::{Confirmation, Doubt, FollowUp, Outcomes};
use super::confirmations::{Confirmations, KEPT_OPEN, SLACK_SECONDS};
use super::explaining::what_would_tell;
use super::extension::Extension;
use super::matching::Matching;
use super::ordered::Ordered;
use super::timeout::Timeouts;
use super::wording::Action;
use crate::action_ids::{ActionIds, CallClass, IdKinds, Relation};
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::{Decision, Ending, Event, EventKind};
use crate::rules::{self, Rule};
use crate::time::Timestamp;

/// The calls of one session that a decision may have led to.
#[derive(Debug, Default, Clone)]
pub struct Resolution {
    /// Only calls that some confirmation can use are kept, and those that were accused.
    calls: Ordered<usize, Box<Call>>,
    called: usize,
    used: Matching,
    /// Whether a call was forgotten that was accused: there were more than are kept.
    forgotten: bool,
}

#[derive(Debug, Clone)]
struct Call {
    ids: ActionIds<'static>,
    relation: Relation,
    /// The questions that are about another call.
    others: Vec<usize>,
    line: u64,
    /// When it was made, by the producer's clock and by the recorder's.
    moments: (Option<Timestamp>, Option<Timestamp>),
    irreversible: bool,
    /// Accused of having come without acceptance, or announced before it: if one comes later, this is the call that it leads to.
    accused: bool,
    announces: Announces,
    /// What it calls, if it was accused.
    tool: Option<String>,
}

/// Which questions a call may announce the action of, that was accused of having come without acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Announces {
    /// Any that its ids do not speak against.
    Any,
    /// The same, but where a question shares an id with it and with no call before it, that one.
    Own,
    /// This one alone.
    The(usize),
    /// Any that was asked before this line, on which it completed.
    Before(u64),
}

impl Announces {
    fn may_be(self, number: usize, question: &Confirmation) -> bool {
        match self {
            Self::Any | Self::Own => true,
            Self::The(tied) => tied == number,
            Self::Before(line) => question.place.line < line,
        }
    }
}

impl Resolution {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            calls,
            called,
            used,
            forgotten,
        } = self;
        memory.value(&(called, used, forgotten));
        memory.each(calls.iter(), |memory, (number, call)| {
            let Call {
                ids,
                relation,
                others,
                line,
                moments,
                irreversible,
                accused,
                announces,
                tool,
            } = &**call;
            memory.line(*line);
            memory.value(&(number, ids, (ids.kinds(), relation), moments));
            memory.value(&(irreversible, accused, tool, others));
            match announces {
                Announces::Before(line) => memory.line(*line),
                Announces::Any | Announces::Own | Announces::The(_) => memory.value(announces),
            }
        });
    }

    /// Judges an event of the open session. `concerned` are the questions that may be about it, if it is a call.
    pub fn event(
        &mut self,
        event: &Event,
        concerned: &Concerned,
        (confirmations, timeouts): (&Confirmations, &Timeouts),
        notes: &mut Notes,
    ) {
        match &event.kind {
            EventKind::Invoked { .. } => self.called(event, concerned, confirmations, notes),
            EventKind::Ended(Ending::Completed) => {
                self.completed(event, (confirmations, timeouts), notes);
            }
            // A rejection may turn out to have been a withdrawal.
            EventKind::StateChanged { .. } => self.used.revive(),
            EventKind::Completed { tool, .. } => self.close_own(event, *tool),
            EventKind::Started
            | EventKind::Ended(Ending::Errored | Ending::Cancelled)
            | EventKind::Progress { .. }
            | EventKind::Output(_)
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => {}
        }
    }

    /// Enters a call that was accused, in place of the same call as it was taken before.
    pub fn accused(&mut self, accused: &Accused) {
        let before = self
            .calls
            .iter()
            .find_map(|(number, it)| (!it.accused && it.line == accused.line).then_some(number));
        if let Some(number) = before {
            self.used.release(number);
            self.calls.remove(number);
        }
        let ids = &accused.action.ids;
        let announces = match (accused.unasked, accused.completed) {
            (true, None) => Announces::Any,
            (false, None) => Announces::Own,
            (_, Some(_)) if ids.tool_call_id.is_some() => Announces::Own,
            (_, Some(line)) => Announces::Before(line),
        };
        self.enter(Call {
            ids: ids.clone(),
            relation: Relation::Unknown,
            others: accused.others.clone(),
            line: accused.line,
            moments: (None, None),
            irreversible: true,
            accused: true,
            announces,
            tool: accused.action.tool.clone(),
        });
    }

    /// Enters a call that can be undone and announces the action of a question behind it (AAEP-A.4-3).
    pub fn announced(&mut self, line: u64, action: &Action) {
        let is_same = |call: &Call| call.accused && call.line == line;
        if self.calls.iter().any(|(_, call)| is_same(call)) {
            return;
        }
        self.enter(Call {
            ids: action.ids.clone(),
            relation: Relation::Unknown,
            others: Vec::new(),
            line,
            moments: (None, None),
            irreversible: false,
            accused: true,
            announces: Announces::Any,
            tool: action.tool.clone(),
        });
    }

    /// Takes in that an action completed which no call announced. True if it shares an id with a question that was accepted
    /// and led to no call (AAEP-A.4-3); then the completion stands for that call.
    pub fn completed_uncalled(&mut self, event: &Event, confirmations: &Confirmations) -> bool {
        let (candidates, relation) = confirmations.candidates(&event.ids, event.place.line);
        let is_uncalled =
            |it: &usize| confirmations.kept(*it).is_surely_accepted() && !self.used.is_taken(*it);
        if !matches!(relation, Relation::Same(_)) || !candidates.iter().any(is_uncalled) {
            return false;
        }
        self.enter(Call {
            ids: event.ids.to_keep(),
            relation,
            others: Vec::new(),
            line: event.place.line,
            moments: (event.sent, event.received),
            irreversible: true,
            accused: true,
            announces: Announces::Any,
            tool: None,
        });
        true
    }

    /// The accused call on `line` is about the question of that number, or about none in particular.
    pub fn tie(&mut self, line: u64, question: Option<usize>) {
        self.announce(line, question.map_or(Announces::Any, Announces::The));
    }

    /// The accused call on `line` completed on line `completed`, and no question was tied to it: none that comes later is.
    /// Where none came before either, it is forgotten.
    pub fn close(&mut self, line: u64, completed: u64, confirmations: &Confirmations) {
        self.announce(line, Announces::Before(completed));
        let useless = self.calls.iter().find_map(|(number, call)| {
            let is_meant = call.accused && call.line == line;
            let useless = is_meant && call.may_follow(confirmations, |_| true).is_empty();
            useless.then_some(number)
        });
        if let Some(number) = useless {
            self.calls.remove(number);
        }
    }

    /// The same for one that a question before it was taken to be about.
    fn close_own(&mut self, event: &Event, tool: Option<&str>) {
        let is_completed = |it: &Call| completes(event, tool, (&it.ids, it.tool.as_deref()));
        let mut calls = self.calls.iter_mut();
        let mut own = calls.find(|(_, it)| it.announces == Announces::Own && is_completed(it));
        if let Some((_, call)) = &mut own
            && call.ids.tool_call_id.is_none()
        {
            call.announces = Announces::Before(event.place.line);
        }
    }

    fn announce(&mut self, line: u64, announces: Announces) {
        let mut calls = self.calls.iter_mut();
        if let Some((_, call)) = calls.find(|(_, call)| call.accused && call.line == line) {
            call.announces = announces;
        }
    }

    /// Takes in that a reply was taken: what was rejected may have been accepted before.
    pub fn replied(&mut self) {
        self.used.revive();
    }

    /// Whether the question led to a call.
    pub fn has_led_to_a_call(&self, number: usize) -> bool {
        self.used.is_taken(number)
    }

    /// A confirmation is forgotten, and with it the call that it led to.
    pub fn forget(&mut self, number: usize) {
        if let Some(call) = self.used.forget(number) {
            self.calls.remove(call);
        }
    }

    fn enter(&mut self, call: Call) -> usize {
        let number = self.called;
        self.called += 1;
        if call.accused {
            self.forget_accused();
        }
        self.calls.insert(number, Box::new(call));
        number
    }

    /// No more of the calls that were accused are kept than questions are.
    fn forget_accused(&mut self) {
        let accused = self.calls.iter().filter(|(_, call)| call.accused);
        let mut accused = accused.map(|(number, _)| number);
        let oldest = accused.next();
        if accused.count() + 1 < KEPT_OPEN {
            return;
        }
        if let Some(oldest) = oldest {
            self.calls.remove(oldest);
            self.forgotten = true;
        }
    }

    fn called(
        &mut self,
        event: &Event,
        concerned: &Concerned,
        confirmations: &Confirmations,
        notes: &mut Notes,
    ) {
        let number = self.enter(Call {
            ids: event.ids.to_keep(),
            relation: concerned.relation,
            others: concerned.others.clone(),
            line: event.place.line,
            moments: (event.sent, event.received),
            irreversible: matches!(
                event.kind,
                EventKind::Invoked {
                    irreversible: true,
                    ..
                }
            ),
            accused: false,
            announces: Announces::Any,
            tool: None,
        });
        let is_certain = matches!(concerned.relation, Relation::Same(_));
        let released = self.release(&concerned.candidates, is_certain, confirmations);
        let useful = self.assign(number, confirmations);
        for call in released {
            if !self.assign(call, confirmations) {
                self.calls.remove(call);
            }
        }
        // No confirmation that was asked before it can use it, and none that is asked later may.
        if !useful {
            self.calls.remove(number);
            return;
        }
        let mut candidates = concerned.candidates.iter();
        let question = candidates.find(|it| self.used.left_of(**it) == Some(number));
        if let Some(question) = question {
            self.calls[number].doubt_modified(confirmations.kept(*question), notes);
        }
    }

    /// A call that is kept for a question and came before its acceptance makes room for one that came behind it, and one that nothing but
    /// its place ties to it for one with its id (AAEP-A.4-3).
    fn release(
        &mut self,
        candidates: &[usize],
        is_certain: bool,
        confirmations: &Confirmations,
    ) -> Vec<usize> {
        let mut released = Vec::new();
        for question in candidates {
            let makes_room = |it: &usize| {
                let call = &self.calls[*it];
                let is_tied = matches!(call.relation, Relation::Same(_));
                is_certain && !is_tied || call.came_too_early(confirmations.kept(*question))
            };
            if self
                .used
                .left_of(*question)
                .is_some_and(|it| makes_room(&it))
            {
                released.extend(self.used.forget(*question));
            }
        }
        released
    }

    /// Assigns a call to a question that it may have come of.
    fn assign(&mut self, number: usize, confirmations: &Confirmations) -> bool {
        let calls = &self.calls;
        let class = |number: usize| calls[number].class(number, &confirmations.kinds);
        let wanted = |it: &Confirmation| it.possible != Outcomes::REJECTED;
        let edges = |number: usize| calls[number].may_follow(confirmations, wanted);
        self.used.assign(number, edges(number), class, edges)
    }

    fn completed(
        &self,
        event: &Event,
        (confirmations, timeouts): (&Confirmations, &Timeouts),
        notes: &mut Notes,
    ) {
        let mut led_to = Matching::default();
        let is_accepted = |it: &Confirmation| {
            it.is_surely_accepted()
                || it.producer == event.producer
                    && (it.is_accepted_by_default(event.sent, SLACK_SECONDS)
                        || it.is_accepted_before_its_timeout(event.sent))
        };
        // Those whose acceptance may not have counted lead to the calls that are left.
        let is_surely_accepted = |it: &Confirmation| is_accepted(it) && it.doubt().is_none();
        let class = |number: usize| self.calls[number].class(number, &confirmations.kinds);
        let edges =
            |number: usize| self.calls[number].may_follow(confirmations, is_surely_accepted);
        let calls = self.calls.keys();
        let left: Vec<usize> = calls
            .filter(|number| !led_to.assign(*number, edges(*number), class, edges))
            .collect();
        led_to.revive();
        for number in left {
            let edges = |number: usize| self.calls[number].may_follow(confirmations, is_accepted);
            led_to.assign(number, edges(number), class, edges);
        }
        // Those that may have been accepted lead to what is left then.
        let mut may_have_led_to = led_to.clone();
        may_have_led_to.revive();
        let may_be = |it: &Confirmation| it.possible.may_be(Outcomes::ACCEPTED);
        let edges = |number: usize| self.calls[number].may_follow(confirmations, may_be);
        for number in self.calls.keys().filter(|it| !led_to.has(*it)) {
            may_have_led_to.assign(number, edges(number), class, edges);
        }
        for (index, confirmation) in confirmations.all() {
            let is_called = may_have_led_to.is_taken(index);
            let fault = if confirmation.possible == Outcomes::REJECTED {
                fault_of_rejection(confirmation)
            } else if is_accepted(confirmation) && !led_to.is_taken(index) {
                // AAEP-A.4-3: an accepted action is called.
                let rule = if confirmation.answered.is_some() {
                    &rules::ACCEPTED_AND_NOT_CALLED
                } else {
                    &rules::DEFAULT_NOT_CALLED
                };
                Some((rule, "no tool.invoked came of it"))
            } else {
                if let Some(call) = led_to.left_of(index) {
                    self.calls[call].doubt_order(confirmation, notes);
                } else {
                    leave_near_open(event, (confirmation, is_called), notes);
                    leave_withdrawn_open(event, (confirmation, is_called), notes);
                    leave_default_open(event, (confirmation, is_called), notes);
                }
                None
            };
            if let Some((rule, what)) = fault {
                let fault = (index, rule, what, self.since(index, &led_to, confirmations));
                self.judge_fault(event, fault, (confirmations, timeouts), notes);
            }
        }
    }

    /// The line behind which all stands that shows that nothing came of the question: it, and each other that only its place gave a call
    /// which may have been that of this one.
    fn since(&self, index: usize, led_to: &Matching, confirmations: &Confirmations) -> u64 {
        let is_accepted = confirmations.kept(index).possible != Outcomes::REJECTED;
        let is_by_id = |call: usize| matches!(self.calls[call].relation, Relation::Same(_));
        let others = confirmations.all().filter(|(number, _)| {
            let call = led_to.left_of(*number);
            *number == index || is_accepted && call.is_some_and(|it| !is_by_id(it))
        });
        let lines = others.map(|(_, it)| it.place.line);
        lines.min().unwrap_or_default()
    }

    fn judge_fault(
        &self,
        event: &Event,
        (index, rule, what, since): (usize, &'static Rule, &str, u64),
        (confirmations, timeouts): (&Confirmations, &Timeouts),
        notes: &mut Notes,
    ) {
        let question = confirmations.kept(index);
        let asked = question.place.line;
        let accepted = question.possible != Outcomes::REJECTED;
        let mut message = match (question.answered, question.deadline) {
            (Some((reply, _)), _) => {
                let word = if accepted { "accepted" } else { "rejected" };
                format!(
                    "session.completed, and the question on line {asked} was {word} on line {reply} and {what}"
                )
            }
            // Of a question that stands as it stood, it is said that its default was never applied.
            (None, Some(deadline)) if accepted && !confirmations.is_untouched(index) => format!(
                "session.completed, and the timeout of the question on line {asked} ended at {deadline}, its default accepts, and {what}: it was not applied, or not carried out"
            ),
            (None, _) => return,
        };
        let early = self.used.left_of(index).map(|call| &self.calls[call]);
        let early = early.filter(|call| accepted && call.came_too_early(question));
        if let Some(call) = early {
            message = format!(
                "{message}; if the call on line {} was of this action, or one before the question, it was made too early",
                call.line
            );
        }
        if accepted && self.forgotten {
            let reason = format!(
                "{message}, but more calls came without an acceptance than are kept, and one of them may be that call"
            );
            return notes.withhold(rule.clause, reason);
        }
        // AAEP-6.4-1: where nothing was done, it is a fault too if the default was due.
        let default_is_a_fault = !accepted
            || question.default == Some(Decision::Accept)
            || question.follow_up != FollowUp::StateOrCall;
        let doubt = question.doubt();
        let doubt = doubt.filter(|it| !(matches!(it, Doubt::Arrival(_)) && default_is_a_fault));
        if let Some(order) = question.order_by_clocks(event).filter(|_| doubt.is_none()) {
            let reason = format!(
                "{message}, but {order}; {}",
                what_would_tell(question.slack)
            );
            return notes.leave_open(rule.clause, event.place.line, reason);
        }
        let finding = Finding::new(rule, event.place, Some(event.session), message);
        let mut finding = finding.since(since).assuming(question.assumed());
        if let Some(doubt) = doubt {
            return notes.add_possible(finding, doubt.to_string());
        }
        if let Some(line) = timeouts.told(index) {
            finding = finding.follows_from(line, rules::DEFAULT_FORGOTTEN.clause);
        }
        if early.is_some() {
            finding = finding.and_also(&["AAEP-6.1-1"]);
        }
        let extension = confirmations.extension(question);
        let is_over = |it: &Extension| event.sent.is_some_and(|now| it.is_over(now, SLACK_SECONDS));
        let excuse = extension.filter(|it| question.answered.is_none() && !is_over(it));
        notes.add_unless(excuse, finding);
    }
}

impl Call {
    /// A call that was accused is like no other: the acceptance for it may still come.
    fn class(&self, number: usize, asked: &BTreeSet<IdKinds>) -> CallClass {
        if self.accused || !self.others.is_empty() {
            CallClass::Alone(number)
        } else {
            self.ids.class(self.relation, asked)
        }
    }

    /// The confirmations of a kind that may have led to the call.
    fn may_follow(
        &self,
        confirmations: &Confirmations,
        wanted: impl Fn(&Confirmation) -> bool,
    ) -> Vec<usize> {
        let mut candidates = if self.accused {
            // As with other calls: a question that shares an id with it leaves none to those that only may concern it.
            let by_id = |it: &Confirmation| matches!(it.relation(&self.ids), Relation::Same(_));
            let is_own =
                |it: &Confirmation| by_id(it) && it.called.is_none_or(|called| called == self.line);
            let has_own =
                self.announces == Announces::Own && confirmations.all().any(|(_, it)| is_own(it));
            let concerns = |it: &Confirmation| {
                by_id(it) || !has_own && it.relation(&self.ids) != Relation::Different
            };
            confirmations
                .all()
                .filter(|(number, it)| concerns(it) && self.announces.may_be(*number, it))
                .map(|(index, _)| index)
                .collect()
        } else {
            confirmations.candidates(&self.ids, self.line).0
        };
        candidates.retain(|index| {
            let question = confirmations.kept(*index);
            wanted(question) && !self.others.contains(index) && !self.came_too_early(question)
        });
        candidates
    }

    /// Whether it came before the question was accepted. One that was accused is told for that.
    fn came_too_early(&self, question: &Confirmation) -> bool {
        !self.accused && question.is_accepted_after(self.line, self.moments)
    }

    /// AAEP-6.3.2-4: whether a modification is supported does not show, nor whether this is the call that it led to.
    fn doubt_modified(&self, question: &Confirmation, notes: &mut Notes) {
        let both = question.possible.may_be(Outcomes::ACCEPTED)
            && question.possible.may_be(Outcomes::REJECTED);
        let Some((reply, _)) = question.answered.filter(|_| question.modified && both) else {
            return;
        };
        if self.is_taken_for_any() {
            let reason = format!(
                "the call on line {} may come of the reply on line {reply}, which modifies the action that was asked about on line {}: without support for that it rejects, and a recording would have to hold whether there is",
                self.line, question.place.line
            );
            notes.leave_open("AAEP-6.3.2-4", self.line, reason);
        }
    }

    /// Whether it may be any call: it can be undone, and names no question. Nothing else judges such a one.
    fn is_taken_for_any(&self) -> bool {
        !self.accused && !self.irreversible && !matches!(self.relation, Relation::Same(_))
    }

    /// AAEP-6.1-1: a call that is recorded before the reply that accepts it.
    fn doubt_order(&self, question: &Confirmation, notes: &mut Notes) {
        let Some(((reply, _), (decided, received))) = question.answered.zip(question.decided)
        else {
            return;
        };
        let is_told = question.in_order
            || question.slack == 0 && received.is_some() && self.moments.1.is_some();
        if self.is_taken_for_any() && self.line < reply && !is_told {
            let reason = format!(
                "the call on line {} is recorded before the reply on line {reply} which accepts its question, decided at {decided}: whether that had arrived does not show; {}",
                self.line,
                what_would_tell(question.slack)
            );
            notes.leave_open("AAEP-6.1-1", self.line, reason);
        }
    }
}

/// AAEP-A.4-3: an accepted action is called.
const NOT_CALLED: (&Rule, &str) = (
    &rules::ACCEPTED_AND_NOT_CALLED,
    "no tool.invoked came of it",
);

/// AAEP-6.1-3: a rejection is not passed over in silence. AAEP-A.4-2: a state.changed says how it went on.
fn fault_of_rejection(confirmation: &Confirmation) -> Option<(&'static Rule, &'static str)> {
    match confirmation.follow_up {
        FollowUp::Nothing => Some((&rules::DROPPED_SILENTLY, "no event came of it")),
        FollowUp::Event => Some((
            &rules::NO_STATE_AFTER_RESOLUTION,
            "no state.changed came of it",
        )),
        FollowUp::StateOrCall => None,
    }
}

/// AAEP-A.4-3, AAEP-6.1-3: nothing came of a reply that may have come in time.
fn leave_near_open(event: &Event, (question, is_called): (&Confirmation, bool), notes: &mut Notes) {
    let Some(((reply, _), decision)) = question.answered.zip(question.near) else {
        return;
    };
    let (fault, word) = match decision {
        Decision::Accept if is_called => return,
        Decision::Accept => (Some(NOT_CALLED), "accepted"),
        Decision::Reject => (fault_of_rejection(question), "rejected"),
    };
    let Some((rule, what)) = fault.filter(|_| question.closed.is_none()) else {
        return;
    };
    let reason = format!(
        "session.completed, and the question on line {} was {word} on line {reply}, so near to its deadline that the timeout may have come first, and {what}: whether that reply counted does not show; a recording would have to hold what became of the question (extensions.countersign.outcome)",
        question.place.line
    );
    notes.leave_open(rule.clause, event.place.line, reason);
}

/// AAEP-A.4-3: nothing came of a default that accepts, and the session ends so near to the timeout that it may have come first.
fn leave_default_open(
    event: &Event,
    (question, is_called): (&Confirmation, bool),
    notes: &mut Notes,
) {
    let is_due = question.is_accepted_by_default(event.sent, 0);
    let is_own = question.producer == event.producer && !is_called;
    let Some(deadline) = question.deadline.filter(|_| is_due && is_own) else {
        return;
    };
    let reason = format!(
        "session.completed within {SLACK_SECONDS} seconds of {deadline}, where the timeout of the question on line {} ended, its default accepts, and no tool.invoked came of it: whether the timeout came first does not show; a recording would have to hold what became of the question (extensions.countersign.outcome)",
        question.place.line
    );
    notes.leave_open(rules::DEFAULT_NOT_CALLED.clause, event.place.line, reason);
}

/// AAEP-A.4-3, AAEP-6.1-3: nothing came of a reply behind a change of state that looks as if the question was withdrawn.
fn leave_withdrawn_open(
    event: &Event,
    (question, is_called): (&Confirmation, bool),
    notes: &mut Notes,
) {
    let Some((reply, changed)) = question.answered_withdrawn() else {
        return;
    };
    let decided = question.possible.without(Outcomes::CANCELLED);
    let (fault, word) = if decided == Outcomes::REJECTED {
        (fault_of_rejection(question), "rejected")
    } else if decided == Outcomes::ACCEPTED && !is_called {
        (Some(NOT_CALLED), "accepted")
    } else {
        return;
    };
    let Some((rule, what)) = fault else {
        return;
    };
    let reason = format!(
        "session.completed, and the question on line {} was {word} on line {reply} and {what}: whether the state.changed on line {changed} had withdrawn it does not show; a recording would have to hold what became of it (extensions.countersign.outcome)",
        question.place.line
    );
    notes.leave_open(rule.clause, event.place.line, reason);
}
