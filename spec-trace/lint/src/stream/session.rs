//! One open session: its monitors, fed record by record.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::Settings;
use super::shared::Shared;
use crate::action_ids::Relation;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::monitor::Notes;
use crate::monitor::announced::Announced;
use crate::monitor::asking;
use crate::monitor::authorisation::{Accused, Authorisation, Concerned};
use crate::monitor::checks::Check;
use crate::monitor::clarifying::{Asked, Clarifications};
use crate::monitor::clock::Clock;
use crate::monitor::confirmation::{Confirmation, FollowUp, Outcomes};
use crate::monitor::confirmations::{Confirmations, Replies, SLACK_SECONDS};
use crate::monitor::explaining::doubt_of;
use crate::monitor::extension::TimeLeft;
use crate::monitor::lifecycle::Lifecycle;
use crate::monitor::output::Outputs;
use crate::monitor::resolution::Resolution;
use crate::monitor::sequence::Sequence;
use crate::monitor::states::States;
use crate::monitor::timeout::{Timeouts, judge_unanswered};
use crate::monitor::tools::Tools;
use crate::monitor::wording::Action;
use crate::record::{Ending, Event, EventKind};
use crate::reply::{Content, Reply, ReplyContent};
use crate::report::NotJudged;
use crate::rules;
use crate::time::Timestamp;

/// A session that is open, or that a reply which is logged late may still explain a call of.
#[derive(Debug, Clone)]
pub(super) struct OpenSession {
    pub(super) lifecycle: Lifecycle,
    pub(super) sequence: Sequence,
    pub(super) clock: Clock,
    pub(super) tools: Tools,
    pub(super) states: States,
    pub(super) outputs: Outputs,
    pub(super) clarifications: Clarifications,
    pub(super) recorded: ConfirmationMonitors,
    /// Forgotten when the first reply comes.
    pub(super) unseen: Option<Box<ConfirmationMonitors>>,
    /// The latest timestamp of an event.
    pub(super) latest: Option<Timestamp>,
    /// The line of the last message of a foreign type that named the session.
    pub(super) extended: u64,
}

impl OpenSession {
    pub(super) fn new(
        lifecycle: Lifecycle,
        sequence: Sequence,
        replies_seen: bool,
        settings: Settings,
    ) -> Self {
        let monitors = |replies| ConfirmationMonitors::new(replies, settings);
        Self {
            lifecycle,
            sequence,
            clock: Clock::default(),
            tools: Tools::default(),
            states: States::default(),
            outputs: Outputs::default(),
            clarifications: Clarifications::new(settings),
            recorded: monitors(Replies::Recorded),
            unseen: (!replies_seen).then(|| Box::new(monitors(Replies::Unseen))),
            latest: None,
            extended: 0,
        }
    }

    /// Takes in whether the lines stand in the order of receipt.
    pub(super) fn set_order(&mut self, in_order: bool) {
        self.recorded.confirmations.set_order(in_order);
        self.clarifications.in_order = in_order;
    }

    pub(super) fn remember(&self, memory: &mut Memory) {
        let Self {
            lifecycle,
            sequence,
            clock,
            tools,
            states,
            outputs,
            clarifications,
            recorded,
            unseen,
            latest,
            extended,
        } = self;
        lifecycle.remember(Some(sequence.due()), memory);
        sequence.remember(memory);
        clock.remember(memory);
        tools.remember(memory);
        states.remember(memory);
        outputs.remember(memory);
        clarifications.remember(memory);
        recorded.remember(memory);
        memory.each(unseen.iter(), |memory, unseen| unseen.remember(memory));
        memory.value(latest);
        memory.line(*extended);
    }

    /// Judges an event; `room` is how many questions may be kept. Yields the token of one that is forgotten for it.
    pub(super) fn judge(
        &mut self,
        event: &Event,
        room: usize,
        shared: &mut Shared,
    ) -> Option<Cow<'static, str>> {
        self.latest = self.latest.max(event.sent);
        self.give_time(event);
        self.clock.event(event, &mut shared.notes);
        self.tools.event(event, &mut shared.notes);
        self.judge_uncalled(event, &mut shared.notes);
        let begins = self
            .outputs
            .event(event, &mut shared.outputs, &mut shared.notes);
        self.states.event(event, begins, &mut shared.notes);
        let found = shared.recorded.len();
        // Before the event is taken for what came of one of them.
        let is_alone = self.recorded.confirmations.may_none_be_open();
        let mut asked = Confirmation::asked(event).map(Box::new);
        if let Some(asked) = &mut asked {
            asked.called = shared.first_call(event);
        }
        if let Some(unseen) = &mut self.unseen {
            unseen.event(event, asked.clone(), room, &mut shared.unseen);
        }
        let confirmation = self
            .recorded
            .event(event, asked, room, &mut shared.recorded);
        let clarification = self
            .clarifications
            .event(event, is_alone, &mut shared.recorded);
        if shared.recorded.len() == found {
            self.judge_waiting(event, &self.recorded, &mut shared.recorded);
        }
        if let Some(unseen) = &self.unseen {
            self.judge_waiting(event, unseen, &mut shared.unseen);
        }
        if matches!(event.kind, EventKind::Ended(_)) {
            self.clarifications.give_up(&mut shared.recorded);
        }
        shared.judge_ids(event);
        confirmation.or(clarification)
    }

    /// AAEP-6.4.2-3: a progress.updated may say that a question has more time.
    fn give_time(&mut self, event: &Event) {
        let is_question = |token: &str| {
            let mut clarifications = self.clarifications.all();
            self.recorded.confirmations.gave_out(token)
                || clarifications.any(|it| it.ids.token.as_deref() == Some(token))
        };
        let Some(left) = TimeLeft::of(event, is_question) else {
            return;
        };
        self.clarifications.give_time(&left);
        let monitors = [Some(&mut self.recorded), self.unseen.as_deref_mut()];
        for monitors in monitors.into_iter().flatten() {
            monitors.confirmations.give_time(&left);
        }
    }

    /// AAEP-A.4-3: where what completes without call was asked about and accepted, it is its call that is missing.
    fn judge_uncalled(&mut self, event: &Event, notes: &mut Notes) {
        let is_completion = matches!(event.kind, EventKind::Completed { .. });
        let found = notes
            .last_on(event.place.line)
            .filter(|found| is_completion && found.clause == rules::COMPLETION_WITHOUT_CALL.clause);
        let Some(found) = found else {
            return;
        };
        let mut accepted = self.recorded.completed_uncalled(event);
        if let Some(unseen) = &mut self.unseen {
            accepted &= unseen.completed_uncalled(event);
        }
        if accepted {
            *found = found.clone().and_also(&["AAEP-A.4-3"]);
        }
    }

    /// The tokens of the questions that are pending for sure, where all replies are recorded.
    pub(super) fn pending_tokens(&self) -> impl Iterator<Item = &str> {
        let confirmations = self.recorded.confirmations.all().map(|(_, it)| it);
        let pending = confirmations.filter(|it| it.possible == Outcomes::PENDING);
        pending.filter_map(|it| it.ids.token.as_deref())
    }

    /// AAEP-A.4-2, AAEP-A.5-1, AAEP-6.1-7, AAEP-6.7.2-1, AAEP-6.7.2-2: with the last question resolved, the state leaves
    /// `awaiting_input`.
    fn judge_waiting(&self, event: &Event, monitors: &ConfirmationMonitors, notes: &mut Notes) {
        if !matches!(event.kind, EventKind::Ended(Ending::Completed)) {
            return;
        }
        if monitors.replies == Replies::Recorded {
            self.leave_unheeded_open(event, notes);
        }
        for producer in self.states.waiting() {
            let mut confirmations = monitors.confirmations.all().map(|(_, it)| it);
            let may_wait = confirmations
                .any(|it| it.producer == producer && it.possible.may_be(Outcomes::PENDING));
            let clarifications = self.clarifications.all();
            let mut open =
                clarifications.filter(|it| it.producer == producer && !it.status.is_over());
            let may_run = |it: &Asked| {
                let ends = it.deadline.map(|it| it.plus_seconds(SLACK_SECONDS));
                ends.is_none_or(|ends| event.sent < Some(ends))
            };
            let ran_out = open.clone().find(|it| !it.followed);
            let excuse = open.clone().find_map(|it| {
                let extension = self.clarifications.extension(it)?;
                let is_over = |now| extension.is_over(now, SLACK_SECONDS);
                (!event.sent.is_some_and(is_over)).then_some(extension)
            });
            match ran_out {
                _ if may_wait || open.any(may_run) => {}
                Some(asked) => {
                    let unheeded = asked.unheeded(event.sent).filter(|_| excuse.is_none());
                    notes.add_unless(excuse, forgotten(event, asked));
                    if let Some(reason) = unheeded {
                        notes.leave_open("AAEP-6.1-7", event.place.line, reason);
                    }
                }
                None if excuse.is_none() && monitors.replies == Replies::Recorded => {
                    self.judge_still_waiting(event, notes);
                }
                None => {}
            }
        }
    }

    /// AAEP-6.1-7: a producer may have gone on with what it was told, or not, whatever state it tells.
    fn leave_unheeded_open(&self, event: &Event, notes: &mut Notes) {
        for asked in self.clarifications.all() {
            let mut waiting = self.states.waiting();
            let unheeded = asked.unheeded(event.sent);
            // Of whoever still waits that is told when the timeout is surely over.
            let mut is_told = || asked.status.is_over() || !waiting.any(|it| it == asked.producer);
            if let Some(reason) = unheeded.filter(|_| is_told()) {
                notes.leave_open("AAEP-6.1-7", event.place.line, reason);
            }
        }
    }

    fn judge_still_waiting(&self, event: &Event, notes: &mut Notes) {
        let last_confirmation = self.recorded.confirmations.all().last();
        let last_clarification = self.clarifications.all().last().map(|it| it.place.line);
        let rule = if last_confirmation.map(|(_, it)| it.place.line) > last_clarification {
            &rules::STILL_AWAITING
        } else {
            &rules::STILL_AWAITING_CLARIFICATION
        };
        // Where the last answer did not count, the question was open to the end.
        let unanswered = last_confirmation
            .filter(|(_, it)| it.may_be_unanswered() && it.possible == Outcomes::REJECTED);
        if let Some((_, question)) = unanswered {
            let message = "session.completed, and no state.changed has left awaiting_input";
            let finding = Finding::new(rule, event.place, Some(event.session), message.to_owned());
            return notes.add_possible(finding, doubt_of(question));
        }
        let message = "session.completed, every question was answered, and no state.changed has left awaiting_input since".to_owned();
        let assumed = last_confirmation.and_then(|(_, it)| it.assumed());
        let finding = Finding::new(rule, event.place, Some(event.session), message);
        notes.add(finding.assuming(assumed));
    }
}

/// AAEP-6.1-7: the timeout of a clarification is over, and the producer waits for nothing else.
fn forgotten(event: &Event, asked: &Asked) -> Finding {
    let ended = asked.deadline.map(|it| it.to_string()).unwrap_or_default();
    let message = format!(
        "session.completed, the timeout of the clarification on line {} ended at {ended}, and no state.changed has left awaiting_input since",
        asked.place.line
    );
    let session = Some(event.session);
    Finding::new(
        &rules::CLARIFICATION_FORGOTTEN,
        event.place,
        session,
        message,
    )
}

/// The confirmations of a session, and the monitors that judge what is made of them.
#[derive(Debug, Clone)]
pub(super) struct ConfirmationMonitors {
    pub(super) replies: Replies,
    pub(super) confirmations: Confirmations,
    pub(super) timeouts: Timeouts,
    pub(super) authorisation: Authorisation,
    announced: Announced,
    pub(super) resolution: Resolution,
    /// Whether a question was forgotten of which it is open what came of it.
    forgot_open: bool,
}

impl ConfirmationMonitors {
    pub(super) fn new(replies: Replies, settings: Settings) -> Self {
        Self {
            replies,
            confirmations: Confirmations::new(replies, settings),
            timeouts: Timeouts::default(),
            authorisation: Authorisation::default(),
            announced: Announced::default(),
            resolution: Resolution::default(),
            forgot_open: false,
        }
    }

    fn remember(&self, memory: &mut Memory) {
        let Self {
            replies,
            confirmations,
            timeouts,
            authorisation,
            announced,
            resolution,
            forgot_open,
        } = self;
        memory.value(&(replies, forgot_open));
        confirmations.remember(memory);
        timeouts.remember(memory);
        authorisation.remember(memory);
        announced.remember(memory);
        resolution.remember(memory);
    }

    fn completed_uncalled(&mut self, event: &Event) -> bool {
        self.resolution
            .completed_uncalled(event, &self.confirmations)
    }

    /// Judges an event; `asked` is the confirmation that it asks for. Yields the token of a question that is forgotten for
    /// it.
    pub(super) fn event(
        &mut self,
        event: &Event,
        asked: Option<Box<Confirmation>>,
        room: usize,
        notes: &mut Notes,
    ) -> Option<Cow<'static, str>> {
        match self.replies {
            Replies::Recorded => self.timeouts.event(event, &self.confirmations, notes),
            Replies::Unseen => judge_unanswered(event, &self.confirmations, notes),
        }
        self.confirmations.event(event);
        let concerned = self.concerned(event);
        let (confirmations, resolution) = (&self.confirmations, &mut self.resolution);
        let accused = self
            .authorisation
            .event(event, &concerned, confirmations, notes);
        if self.replies == Replies::Recorded {
            self.announced
                .event(event, &concerned, confirmations, resolution, notes);
        }
        self.accused(event.session, accused, notes);
        if matches!(event.kind, EventKind::Ended(_)) {
            self.announced
                .end_by_clocks(event.session, &self.confirmations, notes);
        }
        self.resolution.event(
            event,
            &concerned,
            (&self.confirmations, &self.timeouts),
            notes,
        );
        self.ask(event, asked?, room, notes)
    }

    /// The questions that may be about a call. Where no replies are recorded each may have been accepted, and only that one is
    /// missing is judged.
    fn concerned(&self, event: &Event) -> Concerned {
        let Some(action) = Action::of(event) else {
            return Concerned::default();
        };
        let (mut candidates, relation) =
            (self.confirmations).candidates(&event.ids, event.place.line);
        let mut others = Vec::new();
        if self.replies == Replies::Recorded && !matches!(relation, Relation::Same(_)) {
            let is_named = self.confirmations.is_named(&action, &candidates);
            let is_unexplained = |line| self.authorisation.is_deferred(line);
            others = self.announced.of_others(&action, is_named, is_unexplained);
            if is_named {
                let plainly = self.confirmations.plainly_of_others(&action, &candidates);
                others.extend(plainly);
            }
            candidates.retain(|it| !others.contains(it));
        }
        Concerned {
            candidates,
            relation,
            others,
        }
    }

    pub(super) fn ask(
        &mut self,
        event: &Event,
        asked: Box<Confirmation>,
        room: usize,
        notes: &mut Notes,
    ) -> Option<Cow<'static, str>> {
        asking::judge_repetition(event, asked.prose, &self.confirmations, notes);
        let number = self.confirmations.next_number();
        self.timeouts.ask(number, &asked);
        if let EventKind::Asked(question) = &event.kind {
            self.call_unasked(event, &asked, notes);
            let known = (&self.confirmations, &mut self.resolution);
            self.announced.asked(event, question, number, known, notes);
        }
        let forgotten = self.confirmations.ask(asked, room);
        let (number, confirmation) = forgotten?;
        if !self.forgot_open && self.is_open(number, &confirmation) {
            self.forgot_open = true;
            let reason = format!(
                "the session has asked so often that its first questions are not kept, and what came of the one on line {} does not show yet",
                confirmation.place.line
            );
            notes.withhold("AAEP-A.7.6-1", reason);
        }
        self.timeouts.forget(number, &confirmation);
        self.authorisation.forget(number, &confirmation);
        self.resolution.forget(number);
        confirmation.ids.token
    }

    /// Takes in which calls a question says had not been asked about.
    fn call_unasked(&mut self, event: &Event, asked: &Confirmation, notes: &mut Notes) {
        if self.replies == Replies::Unseen {
            return;
        }
        let unasked = self
            .authorisation
            .asked(event, asked, &self.confirmations, notes);
        self.accused(event.session, unasked, notes);
    }

    /// Takes in which calls were accused, and those that are accused for it: they had the question which one of the first was about.
    fn accused(&mut self, session: &str, accused: Vec<Accused>, notes: &mut Notes) {
        let mut accused = VecDeque::from(accused);
        while let Some(call) = accused.pop_front() {
            self.resolution.accused(&call);
            if !call.unasked || self.replies != Replies::Recorded {
                continue;
            }
            let used = self.announced.unasked(&call, &mut self.resolution, notes);
            accused.extend(used.and_then(|used| {
                let confirmations = &self.confirmations;
                let question = confirmations.get(used.question)?;
                notes.ask_behind(call.line, Some(question.place.line));
                self.authorisation
                    .take_back(&used, session, confirmations, notes)
            }));
        }
    }

    /// Whether a reply may still change the verdict on what came, even when the session is over.
    pub(super) fn is_undecided(&self) -> bool {
        self.authorisation.is_undecided() || self.announced.is_undecided()
    }

    /// Judges what no question that is still to come can be about: the input ends.
    pub(super) fn give_up_waiting(&mut self, session: &str, notes: &mut Notes) {
        let accused = self
            .authorisation
            .give_up_waiting(session, &self.confirmations, notes);
        self.accused(session, accused, notes);
    }

    /// Judges what no reply explained, when none will come any more.
    pub(super) fn give_up(&mut self, session: &str, notes: &mut Notes) {
        // One by one: what is told of one tells whom a question is about.
        while self.authorisation.is_undecided() {
            let confirmations = &self.confirmations;
            let accused = self.authorisation.give_up(session, confirmations, notes);
            self.accused(session, Vec::from_iter(accused), notes);
        }
        self.announced.end(session, &self.confirmations, notes);
    }

    /// Whether something may have to come of a question that has not come yet.
    fn is_open(&self, number: usize, confirmation: &Confirmation) -> bool {
        let is_followed = confirmation.follow_up == FollowUp::StateOrCall;
        match confirmation.possible {
            Outcomes::PENDING => true,
            Outcomes::ACCEPTED => !self.resolution.has_led_to_a_call(number),
            Outcomes::REJECTED => !is_followed,
            _ => self.replies == Replies::Unseen && !is_followed,
        }
    }
}

impl OpenSession {
    /// Takes in a reply to a question of the session. Yields the check that it failed, if it failed one.
    pub(super) fn reply(
        &mut self,
        reply: &Reply,
        elsewhere: bool,
        notes: &mut Notes,
    ) -> Option<Check> {
        let clarifies = self
            .clarifications
            .all()
            .any(|it| it.ids.token.as_deref() == reply.token);
        if clarifies {
            return self.clarifications.reply(reply, notes);
        }
        let check = match &reply.content {
            Content::Confirmation(Ok(content)) => {
                return self.decide(reply, content, elsewhere, notes);
            }
            // AAEP-6.3.1-1: a reply of the other kind decides nothing.
            Content::Clarification(_) => Check::Kind,
            Content::Confirmation(Err(broken)) => Check::Schema(*broken),
        };
        self.recorded.confirmations.refuse(reply);
        Some(check)
    }

    pub(super) fn decide(
        &mut self,
        reply: &Reply,
        content: &ReplyContent,
        elsewhere: bool,
        notes: &mut Notes,
    ) -> Option<Check> {
        let ConfirmationMonitors {
            confirmations,
            authorisation,
            resolution,
            ..
        } = &mut self.recorded;
        let (decided, failed) =
            confirmations.reply(reply, content, (self.latest, elsewhere), notes);
        resolution.replied();
        for number in decided {
            if confirmations
                .kept(number)
                .possible
                .may_be(Outcomes::ACCEPTED)
            {
                let moments = (content.decided, reply.received);
                authorisation.accepted(number, moments, confirmations, notes);
            }
        }
        failed
    }
}

/// What the sessions that are open at the end of the input still owe.
#[derive(Debug, Default)]
pub(super) struct Owed {
    pub(super) sessions: Vec<String>,
    pub(super) calls: Vec<u64>,
    /// Of which nothing was heard.
    pub(super) questions: Vec<u64>,
    /// Those of them behind whose timeout an event came, and when that ended.
    pub(super) ran_out: Vec<String>,
    /// Of which what was heard may be the outcome.
    pub(super) uncertain: Vec<u64>,
    pub(super) undecided: Vec<u64>,
    /// Behind which the state may be told yet: the clause, and the line.
    pub(super) unproved: Vec<(&'static str, u64)>,
}

impl Owed {
    pub(super) fn add(&mut self, id: &str, open: &OpenSession) {
        self.sessions.push(id.to_owned());
        self.calls.extend(open.tools.open_lines());
        let monitors = open.unseen.as_deref().unwrap_or(&open.recorded);
        let confirmations = monitors.confirmations.all();
        let pending = confirmations.filter(|(_, it)| it.possible.may_be(Outcomes::PENDING));
        let pending = pending.map(|(number, it)| {
            let silent = monitors.confirmations.is_untouched(number) && it.answered.is_none();
            (it.place.line, silent)
        });
        let recorded = &open.recorded.confirmations;
        let ran_out = recorded.that_ran_out().filter_map(|number| {
            let question = recorded.get(number).filter(|it| it.answered.is_none())?;
            let has_more = recorded.extension(question).is_some();
            let is_told = open.recorded.timeouts.told(number).is_some();
            let ended = question.deadline.filter(|_| !has_more && !is_told)?;
            Some(format!("line {} ({ended})", question.place.line))
        });
        if open.unseen.is_none() {
            self.ran_out.extend(ran_out);
        }
        let clarifications = open.clarifications.all().filter(|it| !it.status.is_over());
        let clarifying = clarifications.map(|it| (it.place.line, !it.followed));
        for (line, silent) in pending.chain(clarifying) {
            let lines = if silent {
                &mut self.questions
            } else {
                &mut self.uncertain
            };
            lines.push(line);
        }
        self.undecided
            .extend(monitors.authorisation.undecided_lines());
        self.unproved.extend(open.states.unproved());
    }

    pub(super) fn not_judged(self) -> Vec<NotJudged> {
        let lines = |mut lines: Vec<u64>| {
            lines.sort_unstable();
            let lines = lines.into_iter();
            lines.map(|line| format!("line {line}")).collect()
        };
        let unproved = |clause| {
            let of_clause = self.unproved.iter().filter(|(other, _)| *other == clause);
            lines(of_clause.map(|(_, line)| *line).collect())
        };
        let behind = "the state.changed to awaiting_input may come right behind the question on";
        [
            ("AAEP-A.4-1", behind, unproved("AAEP-A.4-1")),
            ("AAEP-A.5-1", behind, unproved("AAEP-A.5-1")),
            ("AAEP-A.1-2", "no terminal event came for", self.sessions),
            (
                "AAEP-A.3-1",
                "no tool.completed came for the call on",
                lines(self.calls),
            ),
            (
                "AAEP-A.7.6-1",
                "no outcome came for the question on",
                lines(self.questions),
            ),
            (
                "AAEP-6.4-1",
                "events came behind its timeout, and none shows that its default was applied, for the question on",
                self.ran_out,
            ),
            (
                "AAEP-A.7.6-1",
                "what came may be the outcome or not for the question on",
                lines(self.uncertain),
            ),
            (
                "AAEP-A.7.4-1",
                "nothing tells yet whether an acceptance preceded the call on",
                lines(self.undecided),
            ),
        ]
        .into_iter()
        .filter(|(_, _, items)| !items.is_empty())
        .map(|(clause, what, items)| {
            let reason = format!("the input ends, and {what} {}", some_of(&items));
            NotJudged::open(clause, reason)
        })
        .collect()
    }
}

/// The first few of many.
fn some_of(items: &[String]) -> String {
    const NAMED: usize = 5;
    let named = items[..items.len().min(NAMED)].join(", ");
    match items.len().checked_sub(NAMED) {
        None | Some(0) => named,
        Some(more) => format!("{named} and {more} more"),
    }
}
