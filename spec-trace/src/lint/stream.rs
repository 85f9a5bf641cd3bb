//! A whole stream: its sessions, and two ways to take it.
//!
//! A stream without replies may come from a recorder that saw events alone. Whether it does shows only at its end, so the
//! monitors that care are run twice, once for each way to take the record, until the first reply comes.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use super::monitor::Notes;
use super::monitor::asking;
use super::monitor::authorisation::Authorisation;
use super::monitor::clarifying::{Clarifications, Status};
use super::monitor::clock::Clock;
use super::monitor::ledger::{Check, Ledger, Outcomes, Replies};
use super::monitor::lifecycle::{Admission, Lifecycle};
use super::monitor::output::Outputs;
use super::monitor::resolution::Resolution;
use super::monitor::seen::{Seen, hash};
use super::monitor::sequence::Sequence;
use super::monitor::states::States;
use super::monitor::telling::Telling;
use super::monitor::timeout::Timeouts;
use super::monitor::tools::Tools;
use super::record::fields::is_identifier;
use super::record::{Ending, Event, EventKind, Question, Record};
use super::reply::{Answer, Content, Reply, ReplyContent};
use super::report::{LintReport, NotJudged, Verdict};
use super::rules::{self, Weight};
use super::time::Timestamp;

/// What a judge is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Whether a warning counts as a violation.
    pub strict: bool,
}

/// The judge of one stream.
#[derive(Debug, Default)]
pub struct Linter {
    settings: Settings,
    sessions: BTreeMap<String, Session>,
    /// The open sessions in which a token was given out. Two producers may have given out the same.
    tokens: BTreeMap<String, BTreeSet<String>>,
    records: u64,
    questions: u64,
    replies_seen: bool,
    /// The line of the last message of a foreign type that named no session.
    extended: u64,
    /// The line of the last acceptance with a token that nobody gave out.
    stray: u64,
    books: Books,
}

/// What is written down of all sessions.
#[derive(Debug, Default)]
struct Books {
    /// What holds either way.
    notes: Notes,
    /// What holds if all replies are recorded.
    recorded: Notes,
    /// What holds if none is.
    unseen: Notes,
    events: Seen,
    tokens: Seen,
    calls: Seen,
    outputs: Seen,
    telling: Telling,
    /// Sessions of which events are not in the record, and where the first gap of the first of them is.
    gaps: u64,
    first_gap: Option<u64>,
}

/// One session. Of one that is over almost nothing is kept.
#[derive(Debug)]
enum Session {
    Kept(Box<OpenSession>),
    Over(Lifecycle),
}

/// A session that is open, or that a reply which is logged late may still explain a call of.
#[derive(Debug)]
struct OpenSession {
    lifecycle: Lifecycle,
    sequence: Sequence,
    clock: Clock,
    tools: Tools,
    states: States,
    outputs: Outputs,
    clarifications: Clarifications,
    recorded: Confirmations,
    /// Forgotten when the first reply comes.
    unseen: Option<Confirmations>,
    /// The latest timestamp of an event.
    latest: Option<Timestamp>,
    /// The line of the last message of a foreign type that named the session.
    extended: u64,
}

impl OpenSession {
    fn new(lifecycle: Lifecycle, sequence: Sequence, replies_seen: bool) -> Self {
        Self {
            lifecycle,
            sequence,
            clock: Clock::default(),
            tools: Tools::default(),
            states: States::default(),
            outputs: Outputs::default(),
            clarifications: Clarifications::default(),
            recorded: Confirmations::new(Replies::Recorded),
            unseen: (!replies_seen).then(|| Confirmations::new(Replies::Unseen)),
            latest: None,
            extended: 0,
        }
    }

    /// Judges an event. Yields the tokens of questions that are forgotten for it.
    fn judge(&mut self, event: &Event, books: &mut Books) -> Vec<String> {
        self.latest = self.latest.max(event.sent);
        self.clock.event(event, &mut books.notes);
        self.tools.event(event, &mut books.notes);
        let begins = self
            .outputs
            .event(event, &mut books.outputs, &mut books.notes);
        self.states.event(event, begins, &mut books.notes);
        let found = books.recorded.len();
        let mut forgotten = Vec::new();
        forgotten.extend(self.recorded.event(event, &mut books.recorded));
        if let Some(unseen) = &mut self.unseen {
            unseen.event(event, &mut books.unseen);
        }
        let clarified = self.clarifications.event(event, &mut books.recorded);
        forgotten.extend(clarified);
        if books.recorded.len() == found {
            self.judge_waiting(event, &mut books.recorded);
        }
        books.judge_ids(event);
        forgotten
    }

    /// AAEP-A.4-2, AAEP-A.5-1, AAEP-6.7.2-1, AAEP-6.7.2-2: with the last question resolved, the state leaves
    /// `awaiting_input`.
    fn judge_waiting(&self, event: &Event, notes: &mut Notes) {
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
                &event.place,
                Some(&event.session),
                message,
            ));
        }
    }
}

/// The confirmations of a session, and the monitors that judge what is made of them.
#[derive(Debug)]
struct Confirmations {
    replies: Replies,
    ledger: Ledger,
    timeouts: Timeouts,
    authorisation: Authorisation,
    resolution: Resolution,
}

impl Confirmations {
    fn new(replies: Replies) -> Self {
        Self {
            replies,
            ledger: Ledger::new(replies),
            timeouts: Timeouts::default(),
            authorisation: Authorisation::default(),
            resolution: Resolution::default(),
        }
    }

    /// Judges an event. Yields the token of a question that is forgotten for it.
    fn event(&mut self, event: &Event, notes: &mut Notes) -> Option<String> {
        if self.replies == Replies::Recorded {
            self.timeouts.event(event, &self.ledger, notes);
        }
        self.ledger.event(event);
        let accused = self.authorisation.event(event, &self.ledger, notes);
        self.resolution.event(event, accused, &self.ledger, notes);
        match &event.kind {
            EventKind::Asked(question) => self.ask(event, question, notes),
            EventKind::Started
            | EventKind::Ended(_)
            | EventKind::StateChanged { .. }
            | EventKind::Progress
            | EventKind::Invoked { .. }
            | EventKind::Completed { .. }
            | EventKind::Output(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => None,
        }
    }

    fn ask(&mut self, event: &Event, question: &Question, notes: &mut Notes) -> Option<String> {
        asking::judge_repetition(event, question, &self.ledger, notes);
        let forgotten = self.ledger.ask(event, question);
        if let Some(number) = self.ledger.latest() {
            self.timeouts.ask(number, event, question);
        }
        let (number, confirmation) = forgotten?;
        self.authorisation.forget(number, &confirmation);
        self.resolution.forget(number);
        confirmation.ties.token
    }
}

impl Books {
    fn all_notes(&mut self) -> [&mut Notes; 3] {
        [&mut self.notes, &mut self.recorded, &mut self.unseen]
    }

    /// AAEP-EV-7: the id of an event stands for that event alone. False for an event that is a copy of an earlier one: judging
    /// it again would accuse one fault twice.
    fn admit(&mut self, event: &Event) -> bool {
        let Some(id) = &event.id else {
            return true;
        };
        let content = (&event.session, event.name, event.sent, event.sequence);
        let line = event.place.line;
        let Some(earlier) = self.events.meet(&(&event.producer, id), &content, line) else {
            return true;
        };
        let copy = earlier.mark == hash(&content);
        let what = if copy {
            "is the event on line"
        } else {
            "has the event_id of the one on line"
        };
        let message = format!("the event {what} {} again", earlier.line);
        self.notes.add(Finding::new(
            &rules::EVENT_ID_AGAIN,
            &event.place,
            Some(&event.session),
            message,
        ));
        !copy
    }

    /// AAEP-EV-2: the form of the session's id, told once and not with each of its events.
    fn judge_session_id(&mut self, event: &Event) {
        if !is_identifier(&event.session, "sess_") {
            let message = "session_id is not sess_ and 1 to 64 ASCII letters or digits".to_owned();
            let session = Some(event.session.as_str());
            self.notes.add(Finding::new(
                &rules::IDENTIFIER,
                &event.place,
                session,
                message,
            ));
        }
    }

    /// AAEP-EV-13: a `tool_call_id` stands for one call. AAEP-6.2.2-1, AAEP-6.2.2-2, AAEP-6.2.2-3: a token for one question.
    fn judge_ids(&mut self, event: &Event) {
        let line = event.place.line;
        match (&event.kind, &event.ties.tool_call_id, &event.ties.token) {
            (EventKind::Invoked { .. }, Some(id), _) => {
                let earlier = self.calls.meet(&(&event.session, id), &(), line);
                if let Some(earlier) = earlier {
                    self.call_id_again(event, id, earlier.line);
                }
            }
            (EventKind::Asked(_) | EventKind::Clarifying(_), _, Some(token)) => {
                let Some(earlier) = self.tokens.meet(token, &event.producer, line) else {
                    return;
                };
                let own = earlier.mark == hash(&event.producer);
                let (rule, whose) = if own {
                    (&rules::TOKEN_AGAIN, "this producer")
                } else {
                    (&rules::TOKEN_OF_ANOTHER, "another producer")
                };
                let message = format!(
                    "the reply_token was given out by {whose} on line {}",
                    earlier.line
                );
                let session = Some(event.session.as_str());
                self.notes
                    .add(Finding::new(rule, &event.place, session, message));
            }
            _ => {}
        }
    }

    /// Where the second call is accused of having run without an acceptance of its own, that is the same fault.
    fn call_id_again(&mut self, event: &Event, id: &str, earlier: u64) {
        for notes in [&mut self.recorded, &mut self.unseen] {
            if let Some(finding) = notes.last_on(event.place.line) {
                let also = finding.clone().and_also(&["AAEP-EV-13"]);
                *finding = also;
                continue;
            }
            let message = format!("the tool_call_id {id} is that of the call on line {earlier}");
            let session = Some(event.session.as_str());
            notes.add(Finding::new(
                &rules::CALL_ID_AGAIN,
                &event.place,
                session,
                message,
            ));
        }
    }

    fn set_gap_of(&mut self, sequence: &Sequence) {
        let gap = sequence.gap();
        for notes in self.all_notes() {
            notes.gap = gap;
        }
    }
}

/// How an event comes into its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// As the first.
    First,
    /// Behind others.
    Later,
}

/// What may have become of a question of an open session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The session.
    pub session: String,
    /// The token, if it has one.
    pub token: Option<String>,
    /// The line of the question.
    pub line: u64,
    /// The outcomes that fit the record so far, in words: pending, accepted, rejected, cancelled; for a clarification
    /// pending, answered, defaulted, cancelled.
    pub outcomes: Vec<&'static str>,
}

impl Linter {
    /// A judge who has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with settings.
    pub fn with(settings: Settings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Takes note of a line that could not be read.
    pub fn broken(&mut self, finding: Finding) {
        self.records += 1;
        for notes in self.books.all_notes() {
            notes.unreadable = Some(finding.line);
        }
        self.books.notes.add(finding);
    }

    /// Takes note of a fault in a record that is handed in besides.
    pub fn faulty(&mut self, finding: Finding) {
        self.books.notes.add(finding);
    }

    /// Judges a record.
    pub fn record(&mut self, record: &Record) {
        match record {
            Record::Event(event) => self.event(event),
            Record::Reply(reply) => self.reply(reply),
            Record::Foreign { session, line } => self.foreign(session.as_deref(), *line),
            Record::NotJudged => self.records += 1,
        }
    }

    /// What may have become of the questions of the sessions that are open, after the records so far; oldest first in each
    /// session. Of a session with very many questions the latest are kept.
    pub fn confirmations(&self) -> Vec<Standing> {
        let mut all = Vec::new();
        for (session, kept) in &self.sessions {
            let Session::Kept(open) = kept else {
                continue;
            };
            let mut of_session = Vec::new();
            let confirmations = open.unseen.as_ref().unwrap_or(&open.recorded);
            for (_, it) in confirmations.ledger.all() {
                of_session.push(Standing {
                    session: session.clone(),
                    token: it.ties.token.clone(),
                    line: it.place.line,
                    outcomes: it.possible.words(),
                });
            }
            for it in open.clarifications.all() {
                of_session.push(Standing {
                    session: session.clone(),
                    token: it.ties.token.clone(),
                    line: it.place.line,
                    outcomes: it.status.words().to_vec(),
                });
            }
            of_session.sort_by_key(|standing| standing.line);
            all.extend(of_session);
        }
        all
    }

    fn event(&mut self, event: &Event) {
        self.records += 1;
        if !self.books.admit(event) {
            return;
        }
        let Some(entry) = self.enter(event) else {
            return;
        };
        let (extended, stray) = (self.extended, self.stray);
        let Some(Session::Kept(open)) = self.sessions.get_mut(&event.session) else {
            return;
        };
        let complete = open.sequence.gap().is_none();
        open.sequence.event(event, &mut self.books.notes);
        if complete && open.sequence.gap().is_some() {
            self.books.gaps += 1;
            self.books.first_gap.get_or_insert(event.place.line);
        }
        self.books.set_gap_of(&open.sequence);
        let confirmations = [Some(&mut open.recorded), open.unseen.as_mut()];
        for confirmations in confirmations.into_iter().flatten() {
            confirmations.ledger.extended = extended.max(open.extended);
            confirmations.ledger.stray = stray;
        }
        if entry == Entry::First {
            // Not before the numbers have shown what is missing.
            Lifecycle::judge_first(event, &mut self.books.notes);
            self.books.judge_session_id(event);
        }
        let forgotten = open.judge(event, &mut self.books);
        let over = matches!(event.kind, EventKind::Ended(_))
            && !open.recorded.authorisation.is_undecided();
        for token in forgotten {
            self.forget_token(&token, &event.session);
        }
        self.note_question(event);
        if over {
            self.conclude(&event.session);
        }
    }

    /// Opens the session, if the event does. `None` for an event that lies outside of its session.
    fn enter(&mut self, event: &Event) -> Option<Entry> {
        let notes = &mut self.books.notes;
        let admission = match self.sessions.get_mut(&event.session) {
            None => {
                let open = OpenSession::new(
                    Lifecycle::first(event),
                    Sequence::default(),
                    self.replies_seen,
                );
                let open = Session::Kept(Box::new(open));
                self.sessions.insert(event.session.clone(), open);
                return Some(Entry::First);
            }
            Some(Session::Kept(open)) => {
                let admission = open.lifecycle.next(event, notes);
                if admission == Admission::Continue {
                    return Some(Entry::Later);
                }
                admission
            }
            Some(Session::Over(lifecycle)) => lifecycle.next(event, notes),
        };
        (admission == Admission::Open).then(|| {
            self.conclude(&event.session);
            let open = OpenSession::new(Lifecycle::Active, Sequence::again(), self.replies_seen);
            let open = Session::Kept(Box::new(open));
            self.sessions.insert(event.session.clone(), open);
            Entry::Later
        })
    }

    fn note_question(&mut self, event: &Event) {
        let token = match &event.kind {
            EventKind::Asked(question) => {
                self.questions += 1;
                asking::judge_default(event, question, &mut self.books.notes);
                question.token.as_ref()
            }
            EventKind::Clarifying(question) => question.token.as_ref(),
            EventKind::Started
            | EventKind::Ended(_)
            | EventKind::StateChanged { .. }
            | EventKind::Progress
            | EventKind::Invoked { .. }
            | EventKind::Completed { .. }
            | EventKind::Output(_)
            | EventKind::Handoff => None,
        };
        if let Some(token) = token {
            let sessions = self.tokens.entry(token.clone()).or_default();
            sessions.insert(event.session.clone());
        }
    }

    fn forget_token(&mut self, token: &str, session: &str) {
        if let Some(sessions) = self.tokens.get_mut(token) {
            sessions.remove(session);
            if sessions.is_empty() {
                self.tokens.remove(token);
            }
        }
    }

    /// Forgets what was kept of a session, when nothing can change the verdict on it any more.
    fn conclude(&mut self, id: &str) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let Session::Kept(open) = session else {
            return;
        };
        let over = Session::Over(open.lifecycle);
        let Session::Kept(mut open) = std::mem::replace(session, over) else {
            return;
        };
        self.books.set_gap_of(&open.sequence);
        let Confirmations {
            ledger,
            authorisation,
            ..
        } = &mut open.recorded;
        authorisation.give_up(id, ledger, &mut self.books.recorded);
        let confirmations = ledger.all().map(|(_, it)| &it.ties);
        let clarifications = open.clarifications.all().map(|it| &it.ties);
        for ties in confirmations.chain(clarifications) {
            if let Some(token) = &ties.token {
                self.forget_token(token, id);
            }
        }
    }

    /// Takes note of a message that may have granted more time.
    fn foreign(&mut self, session: Option<&str>, line: u64) {
        self.records += 1;
        match session.and_then(|id| self.sessions.get_mut(id)) {
            Some(Session::Kept(open)) => open.extended = line,
            Some(Session::Over(_)) => {}
            None => self.extended = line,
        }
    }

    /// Judges a reply: it moves the confirmation that it answers, if the producer had to honour it.
    fn reply(&mut self, reply: &Reply) {
        self.records += 1;
        self.replies_are_recorded();
        let sessions = reply.token.as_ref().and_then(|it| self.tokens.get(it));
        let Some(sessions) = sessions.cloned() else {
            // AAEP-6.3.4-2: a token that was not given out, or of a session that ended, has no effect.
            return self.stray(reply);
        };
        let elsewhere = sessions.len() > 1;
        let mut failed = None;
        let mut taken = false;
        for id in &sessions {
            let Some(Session::Kept(open)) = self.sessions.get_mut(id) else {
                continue;
            };
            self.books.set_gap_of(&open.sequence);
            let extended = self.extended.max(open.extended);
            open.recorded.ledger.extended = extended;
            match open.reply(reply, elsewhere, &mut self.books.recorded) {
                None => taken = true,
                Some(check) => failed = Some((id, check)),
            }
        }
        if let Some((session, check)) = failed.filter(|_| !taken) {
            let notes = &mut self.books.recorded;
            self.books
                .telling
                .failed(reply, check, Some(session), notes);
        }
    }

    fn stray(&mut self, reply: &Reply) {
        let check = match &reply.content {
            Content::Confirmation(Ok(content)) => {
                if content.answer == Answer::Plain(super::record::Decision::Accept) {
                    self.stray = reply.place.line;
                }
                Check::Issued
            }
            Content::Clarification(Ok(_)) => Check::Issued,
            Content::Confirmation(Err(clause)) | Content::Clarification(Err(clause)) => {
                Check::Schema(clause)
            }
        };
        let notes = &mut self.books.recorded;
        self.books.telling.failed(reply, check, None, notes);
    }

    fn replies_are_recorded(&mut self) {
        if self.replies_seen {
            return;
        }
        self.replies_seen = true;
        self.books.unseen = Notes::default();
        for session in self.sessions.values_mut() {
            if let Session::Kept(open) = session {
                open.unseen = None;
            }
        }
    }

    /// The verdict, at the end of the input.
    pub fn finish(mut self, file: &str) -> LintReport {
        self.conclude_all_that_ended();
        let of_world = if self.replies_seen {
            &mut self.books.recorded
        } else {
            &mut self.books.unseen
        };
        let mut findings = of_world.take_findings();
        let mut withheld = std::mem::take(&mut of_world.withheld);
        let tied = std::mem::take(&mut of_world.tied);
        findings.extend(self.books.notes.take_findings());
        withheld.append(&mut self.books.notes.withheld);
        findings.sort_by_key(|finding| finding.line);
        let mut not_judged = self.owed();
        not_judged.append(&mut withheld);
        let owed = !not_judged.is_empty();
        not_judged.extend(self.gaps());
        not_judged.extend(self.without_replies());
        let strict = self.settings.strict;
        let (violations, warnings): (Vec<_>, Vec<_>) = findings
            .into_iter()
            .partition(|finding| strict || finding.weight == Weight::Violation);
        let verdict = if !violations.is_empty() {
            Verdict::Violating
        } else if owed {
            Verdict::Inconclusive
        } else {
            Verdict::Conforming
        };
        LintReport {
            file: file.to_owned(),
            records: self.records,
            sessions: self.sessions.len(),
            verdict,
            violations,
            warnings,
            not_judged,
            known: Vec::new(),
            tied,
            damage: None,
        }
    }

    /// No reply that is logged late will come any more.
    fn conclude_all_that_ended(&mut self) {
        let ended = self.sessions.iter().filter(|(_, session)| match session {
            Session::Kept(open) => open.lifecycle != Lifecycle::Active,
            Session::Over(_) => false,
        });
        let ended: Vec<String> = ended.map(|(id, _)| id.clone()).collect();
        for id in ended {
            self.conclude(&id);
        }
    }

    /// What the input ends too early to tell.
    fn owed(&self) -> Vec<NotJudged> {
        if self.sessions.is_empty() {
            let reason = "the input holds no event of a session".to_owned();
            return vec![NotJudged {
                clause: "AAEP-A.1-1",
                reason,
                owed: true,
            }];
        }
        let mut owed = Owed::default();
        for (id, session) in &self.sessions {
            if let Session::Kept(open) = session {
                owed.add(id, open);
            }
        }
        owed.told()
    }

    /// AAEP-EV-4: a number that is skipped may be the producer's fault or the recorder's.
    fn gaps(&self) -> Option<NotJudged> {
        let line = self.books.first_gap?;
        Some(NotJudged {
            clause: "AAEP-EV-4",
            reason: format!(
                "numbers are skipped in {} of the sessions, first on line {line}: whether those events were never sent or are not in the record does not show",
                self.books.gaps
            ),
            owed: false,
        })
    }

    /// What would need the replies.
    fn without_replies(&self) -> Vec<NotJudged> {
        if self.replies_seen || self.questions == 0 {
            return Vec::new();
        }
        [
            ("AAEP-6.1-3", "whether anything was rejected does not show"),
            ("AAEP-6.1-6", "whether a question was still open when it was asked again does not show"),
            ("AAEP-6.4-1", "whether a timeout passed without a reply does not show"),
            ("AAEP-A.4-3", "whether anything was accepted does not show"),
            ("AAEP-A.4-4", "whether anything was rejected does not show"),
            ("AAEP-A.7.4-1", "each question may have been accepted off the record, so only its absence is judged"),
        ]
        .into_iter()
        .map(|(clause, what)| NotJudged {
            clause,
            reason: format!("the stream holds no replies: {what}"),
            owed: false,
        })
        .collect()
    }
}

impl OpenSession {
    /// Takes in a reply to a question of the session. Yields the check that it failed, if it failed one.
    fn reply(&mut self, reply: &Reply, elsewhere: bool, notes: &mut Notes) -> Option<Check> {
        let clarifies = self
            .clarifications
            .all()
            .any(|it| it.ties.token == reply.token);
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

    fn decide(
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
struct Owed {
    sessions: Vec<String>,
    calls: Vec<u64>,
    questions: Vec<u64>,
    undecided: Vec<u64>,
}

impl Owed {
    fn add(&mut self, id: &str, open: &OpenSession) {
        self.sessions.push(id.to_owned());
        self.calls.extend(open.tools.open_lines());
        let confirmations = open.unseen.as_ref().unwrap_or(&open.recorded);
        let asked = confirmations.ledger.all().map(|(_, it)| it);
        let pending = asked.filter(|it| it.possible.may_be(Outcomes::PENDING));
        self.questions.extend(pending.map(|it| it.place.line));
        let clarifying = open.clarifications.all();
        let pending = clarifying.filter(|it| it.status != Status::Answered);
        self.questions.extend(pending.map(|it| it.place.line));
        self.undecided
            .extend(confirmations.authorisation.undecided_lines());
    }

    fn told(self) -> Vec<NotJudged> {
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
