//! One open session: its monitors, fed record by record.

use std::borrow::Cow;

use super::books::Books;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::monitor::Notes;
use crate::monitor::asking;
use crate::monitor::authorisation::Authorisation;
use crate::monitor::checks::Check;
use crate::monitor::clarifying::{Clarifications, Status};
use crate::monitor::clock::Clock;
use crate::monitor::confirmation::{Confirmation, Outcomes};
use crate::monitor::ledger::{Ledger, Replies};
use crate::monitor::lifecycle::Lifecycle;
use crate::monitor::output::Outputs;
use crate::monitor::resolution::Resolution;
use crate::monitor::sequence::Sequence;
use crate::monitor::states::States;
use crate::monitor::timeout::{Timeouts, judge_unanswered};
use crate::monitor::tools::Tools;
use crate::record::{Ending, Event, EventKind};
use crate::reply::{Content, Reply, ReplyContent};
use crate::report::NotJudged;
use crate::rules;
use crate::ties::Relation;
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
    pub(super) recorded: Confirmations,
    /// Forgotten when the first reply comes.
    pub(super) unseen: Option<Box<Confirmations>>,
    /// The latest timestamp of an event.
    pub(super) latest: Option<Timestamp>,
    /// The line of the last message of a foreign type that named the session.
    pub(super) extended: u64,
}

impl OpenSession {
    pub(super) fn new(lifecycle: Lifecycle, sequence: Sequence, replies_seen: bool) -> Self {
        Self {
            lifecycle,
            sequence,
            clock: Clock::default(),
            tools: Tools::default(),
            states: States::default(),
            outputs: Outputs::default(),
            clarifications: Clarifications::default(),
            recorded: Confirmations::new(Replies::Recorded),
            unseen: (!replies_seen).then(|| Box::new(Confirmations::new(Replies::Unseen))),
            latest: None,
            extended: 0,
        }
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
        lifecycle.remember(memory);
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
        books: &mut Books,
    ) -> Option<Cow<'static, str>> {
        self.latest = self.latest.max(event.sent);
        self.clock.event(event, &mut books.notes);
        self.tools.event(event, &mut books.notes);
        self.judge_uncalled(event, &mut books.notes);
        let begins = self
            .outputs
            .event(event, &mut books.outputs, &mut books.notes);
        self.states.event(event, begins, &mut books.notes);
        let found = books.recorded.len();
        let asked = Confirmation::asked(event).map(Box::new);
        if let Some(unseen) = &mut self.unseen {
            unseen.event(event, asked.clone(), room, &mut books.unseen);
        }
        let confirmation = self.recorded.event(event, asked, room, &mut books.recorded);
        let clarification = self.clarifications.event(event, &mut books.recorded);
        if books.recorded.len() == found {
            self.judge_waiting(event, &mut books.recorded);
        }
        books.judge_ids(event);
        confirmation.or(clarification)
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
        let confirmations = self.recorded.ledger.all().map(|(_, it)| it);
        let pending = confirmations.filter(|it| it.possible == Outcomes::PENDING);
        pending.filter_map(|it| it.ties.token.as_deref())
    }

    /// AAEP-A.4-2, AAEP-A.5-1, AAEP-6.7.2-1, AAEP-6.7.2-2: with the last question resolved, the state leaves
    /// `awaiting_input`.
    pub(super) fn judge_waiting(&self, event: &Event, notes: &mut Notes) {
        if !matches!(event.kind, EventKind::Ended(Ending::Completed)) {
            return;
        }
        for producer in self.states.waiting() {
            let mut confirmations = self.recorded.ledger.all().map(|(_, it)| it);
            let mut clarifications = self.clarifications.all();
            let may_wait = confirmations
                .any(|it| it.producer == producer && it.possible.may_be(Outcomes::PENDING))
                || clarifications
                    .any(|it| it.producer == producer && it.status != Status::Answered);
            if may_wait {
                continue;
            }
            let last_confirmation = self.recorded.ledger.all().last();
            let last_clarification = self.clarifications.all().last().map(|it| it.place.line);
            let rule = if last_confirmation.map(|(_, it)| it.place.line) > last_clarification {
                &rules::STILL_AWAITING
            } else {
                &rules::STILL_AWAITING_CLARIFICATION
            };
            let message = "session.completed, every question was answered, and no state.changed has left awaiting_input since".to_owned();
            notes.add(Finding::new(
                rule,
                event.place,
                Some(event.session),
                message,
            ));
        }
    }
}

/// The confirmations of a session, and the monitors that judge what is made of them.
#[derive(Debug, Clone)]
pub(super) struct Confirmations {
    pub(super) replies: Replies,
    pub(super) ledger: Ledger,
    pub(super) timeouts: Timeouts,
    pub(super) authorisation: Authorisation,
    pub(super) resolution: Resolution,
}

impl Confirmations {
    pub(super) fn new(replies: Replies) -> Self {
        Self {
            replies,
            ledger: Ledger::new(replies),
            timeouts: Timeouts::default(),
            authorisation: Authorisation::default(),
            resolution: Resolution::default(),
        }
    }

    fn remember(&self, memory: &mut Memory) {
        let Self {
            replies,
            ledger,
            timeouts,
            authorisation,
            resolution,
        } = self;
        memory.value(replies);
        ledger.remember(memory);
        timeouts.remember(memory);
        authorisation.remember(memory);
        resolution.remember(memory);
    }

    fn completed_uncalled(&mut self, event: &Event) -> bool {
        self.resolution.completed_uncalled(event, &self.ledger)
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
            Replies::Recorded => self.timeouts.event(event, &self.ledger, notes),
            Replies::Unseen => judge_unanswered(event, &self.ledger, notes),
        }
        self.ledger.event(event);
        let call = match &event.kind {
            EventKind::Invoked { .. } => self.ledger.candidates(&event.ties, event.place.line),
            EventKind::Started
            | EventKind::Ended(_)
            | EventKind::StateChanged { .. }
            | EventKind::Progress
            | EventKind::Completed { .. }
            | EventKind::Output(_)
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => (Vec::new(), Relation::Unknown),
        };
        let accused = self.authorisation.event(event, &call, &self.ledger, notes);
        self.resolution
            .event(event, accused, &call, &self.ledger, notes);
        self.ask(event, asked?, room, notes)
    }

    pub(super) fn ask(
        &mut self,
        event: &Event,
        asked: Box<Confirmation>,
        room: usize,
        notes: &mut Notes,
    ) -> Option<Cow<'static, str>> {
        asking::judge_repetition(event, asked.prose, &self.ledger, notes);
        self.timeouts.ask(self.ledger.next_number(), &asked);
        let forgotten = self.ledger.ask(asked, room);
        let (number, confirmation) = forgotten?;
        self.timeouts.forget(number, &confirmation);
        self.authorisation.forget(number, &confirmation);
        self.resolution.forget(number);
        confirmation.ties.token
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
            .any(|it| it.ties.token.as_deref() == reply.token);
        if clarifies {
            return self.clarifications.reply(reply);
        }
        let check = match &reply.content {
            Content::Confirmation(Ok(content)) => {
                return self.decide(reply, content, elsewhere, notes);
            }
            // AAEP-6.3.1-1: a reply of the other kind decides nothing.
            Content::Clarification(_) => Check::Kind,
            Content::Confirmation(Err(clause)) => Check::Schema(clause),
        };
        self.recorded.ledger.refuse(reply, check);
        Some(check)
    }

    pub(super) fn decide(
        &mut self,
        reply: &Reply,
        content: &ReplyContent,
        elsewhere: bool,
        notes: &mut Notes,
    ) -> Option<Check> {
        let Confirmations {
            ledger,
            authorisation,
            ..
        } = &mut self.recorded;
        let (decided, failed) = ledger.reply(reply, content, self.latest, elsewhere);
        for number in decided {
            if ledger.kept(number).possible.may_be(Outcomes::ACCEPTED) {
                let moments = (content.decided, reply.received);
                authorisation.accepted(number, moments, ledger, notes);
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
    pub(super) questions: Vec<u64>,
    pub(super) undecided: Vec<u64>,
}

impl Owed {
    pub(super) fn add(&mut self, id: &str, open: &OpenSession) {
        self.sessions.push(id.to_owned());
        self.calls.extend(open.tools.open_lines());
        let confirmations = open.unseen.as_deref().unwrap_or(&open.recorded);
        let asked = confirmations.ledger.all().map(|(_, it)| it);
        let pending = asked.filter(|it| it.possible.may_be(Outcomes::PENDING));
        self.questions.extend(pending.map(|it| it.place.line));
        let clarifying = open.clarifications.all();
        let pending = clarifying.filter(|it| it.status != Status::Answered);
        self.questions.extend(pending.map(|it| it.place.line));
        self.undecided
            .extend(confirmations.authorisation.undecided_lines());
    }

    pub(super) fn told(self) -> Vec<NotJudged> {
        let lines = |mut lines: Vec<u64>| {
            lines.sort_unstable();
            let lines = lines.into_iter();
            lines.map(|line| format!("line {line}")).collect()
        };
        [
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
                "AAEP-A.7.4-1",
                "nothing tells yet whether an acceptance preceded the call on",
                lines(self.undecided),
            ),
        ]
        .into_iter()
        .filter(|(_, _, items)| !items.is_empty())
        .map(|(clause, what, items)| NotJudged {
            clause,
            reason: format!("the input ends, and {what} {}", some_of(&items)),
            owed: true,
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
