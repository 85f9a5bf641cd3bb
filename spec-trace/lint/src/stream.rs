//! A whole stream: its sessions, and two ways to take it.
//!
//! A stream without replies may come from a recorder that saw events alone. Whether it does shows only at its end, so the
//! monitors that care are run twice, once for each way to take the record, until the first reply comes.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::memory::Memory;
use super::monitor::Notes;
use super::monitor::asking;
use super::monitor::checks::Check;
use super::monitor::confirmations::room;
use super::monitor::lifecycle::{Admission, Lifecycle};
use super::monitor::seen::Seen;
use super::monitor::sequence::Sequence;
use super::record::fields::is_identifier;
use super::record::{Decision, Ending, Event, EventKind, Numbered, Record};
use super::reply::{Answer, Content, Reply};
use super::report::{LintReport, NotJudged, Silence, Unlisted, Verdict, with_consequences};
use super::rules::{self, Weight};
use session::{OpenSession, Owed};
use sessions::{Session, Sessions};
use shared::Shared;
use tokens::Tokens;

mod session;
mod sessions;
mod shared;
mod tokens;

/// What a judge is asked for.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Settings {
    /// Whether a warning counts as a violation.
    pub strict: bool,
    /// Whether the stream is known beforehand to hold replies; else the first one tells.
    pub replies_recorded: bool,
    /// Whether replies stand among the events by their times, that is by two clocks: what rests on so few seconds of that order
    /// as a reply may be on its way is not judged.
    pub two_clocks: bool,
    /// Whether the lines are known beforehand to stand in the order of receipt, replies too, before the producer had them; else
    /// the head of a recording tells. Then no reply explains what stands before it. It says nothing where there are two clocks.
    pub in_order: bool,
    /// Whether the sender of a reply may be one that does not count, where its record does not say: not authenticated, or without an open
    /// subscription. Else each reply was sent by whom it names.
    pub unknown_senders: bool,
    /// Whether replies may be missing from a stream that holds some. Else it holds all of them.
    pub partial_replies: bool,
    /// Whether a clarification may have been withdrawn, or its last subscription closed, where no event says so. Else a change of state
    /// right behind a reply goes on with that reply.
    pub unsaid_withdrawals: bool,
}

impl Settings {
    /// Nothing is assumed that the record does not say: what may have been otherwise is possible, and nobody is accused of it.
    pub const CAUTIOUS: Self = Self {
        strict: false,
        replies_recorded: false,
        two_clocks: false,
        in_order: false,
        unknown_senders: true,
        partial_replies: false,
        unsaid_withdrawals: true,
    };
}

/// The judge of one stream.
#[derive(Debug, Default, Clone)]
pub struct Linter {
    settings: Settings,
    sessions: Sessions,
    /// How many of them are kept.
    kept: usize,
    /// That of the last event.
    last: Option<usize>,
    tokens: Tokens,
    /// The tokens that sessions which nobody asks about gave out.
    elsewhere: Seen,
    records: u64,
    questions: u64,
    clarifications: u64,
    replies_seen: bool,
    /// Whether a reply has come where others may be missing.
    some_seen: bool,
    /// Whether the lines stand in the order of receipt from here on.
    in_order: bool,
    /// How often another producer started a session under an id that was taken, and the line of the first.
    twins: u64,
    first_twin: Option<u64>,
    /// The line of the last message of a foreign type that named no session.
    extended: u64,
    /// The line of the last acceptance with a token that nobody gave out.
    stray: u64,
    shared: Shared,
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
            replies_seen: settings.replies_recorded,
            in_order: settings.in_order,
            ..Self::default()
        }
    }

    /// Findings on lines before this one are not asked for.
    pub fn be_silent_before(&mut self, line: u64) {
        for notes in self.shared.all_notes() {
            notes.silent_before = line;
        }
    }

    /// Takes note of a line that could not be read, and whether it may have been a message.
    pub fn broken(&mut self, finding: Finding, may_be_missed: bool) {
        self.records += 1;
        let told = (finding.line, finding.clause);
        if self.shared.notes.add_unreadable(finding) && may_be_missed {
            self.shared.may_be_missed(told.0, told.1);
        }
    }

    /// Takes note of a fault in a record that is handed in besides.
    pub fn faulty(&mut self, finding: Finding) {
        self.shared.notes.add(finding);
    }

    /// Judges a record.
    pub fn record(&mut self, record: &Record) {
        match record {
            Record::Event(event) => self.event(event),
            Record::Reply(reply) => self.reply(reply),
            Record::NoJson(reply) => {
                self.records += 1;
                self.shared.judge_answer_to_no_json(reply);
            }
            Record::Foreign {
                session,
                numbered,
                line,
            } => self.foreign(*session, *numbered, *line),
            Record::Unread {
                session,
                numbered,
                may_be_missed,
            } => self.unread(*session, *numbered, *may_be_missed),
            Record::Head { replies, in_order } => {
                self.records += 1;
                self.set_order(*in_order);
                if *replies {
                    self.replies_are_recorded();
                }
            }
            Record::NotJudged => self.records += 1,
        }
    }

    /// Takes note of an event of a session that nobody asks about: what it gives out is not another's to use, and replies to
    /// it are none of the others' business.
    pub fn event_elsewhere(&mut self, event: &Event) {
        self.shared.meet_elsewhere(event);
        if let Some(token) = token_given_out(event) {
            self.elsewhere.meet(&token, &(), event.place.line);
        }
    }

    /// What may have become of the questions of an open session, after the records so far, oldest first. Of a session with
    /// very many questions the latest are kept; of one that is over there are none.
    pub fn confirmations(&self, session: &str) -> Vec<Standing> {
        let number = self.sessions.number(session);
        let Some(Session::Kept(open)) = number.map(|number| &self.sessions[number]) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        let monitors = open.unseen.as_deref().unwrap_or(&open.recorded);
        for (_, it) in monitors.confirmations.all() {
            all.push(Standing {
                token: it.ids.token.as_deref().map(str::to_owned),
                line: it.place.line,
                outcomes: it.possible.words(),
            });
        }
        for it in open.clarifications.all() {
            all.push(Standing {
                token: it.ids.token.as_deref().map(str::to_owned),
                line: it.place.line,
                outcomes: it.status.words().to_vec(),
            });
        }
        all.sort_by_key(|standing| standing.line);
        all
    }

    /// What is found so far: what holds either way, what holds with replies, and as long as none has come what holds without. Each
    /// grows at its end alone.
    pub(crate) fn findings(&self) -> (&[Finding], &[Finding], Option<&[Finding]>) {
        let without = (!self.replies_seen).then(|| self.shared.unseen.findings());
        let (always, with) = (&self.shared.notes, &self.shared.recorded);
        (always.findings(), with.findings(), without)
    }

    /// Where no more findings are listed, in the same three.
    pub(crate) fn silences(&self) -> (&[Silence], &[Silence], Option<&[Silence]>) {
        let without = (!self.replies_seen).then(|| self.shared.unseen.silences());
        let (always, with) = (&self.shared.notes, &self.shared.recorded);
        (always.silences(), with.silences(), without)
    }

    /// All that can make a difference to what the judge will say of what is still to come: see [`super::memory`].
    pub fn memory(&self) -> Vec<u8> {
        let Self {
            settings,
            sessions,
            kept,
            last,
            tokens,
            // Of sessions that are not judged.
            elsewhere: _,
            // Counts that the report tells.
            records: _,
            questions: _,
            clarifications: _,
            twins: _,
            first_twin: _,
            replies_seen,
            // What is asked for.
            some_seen: _,
            in_order,
            extended,
            stray,
            shared,
        } = self;
        let tokens = tokens.all();
        let tokens: BTreeSet<_> = tokens.map(|(token, it)| (token, sessions.id(it))).collect();
        let mut memory = Memory::default();
        memory.value(&(settings, replies_seen, in_order, tokens, kept));
        memory.value(&last.map(|it| sessions.id(it)));
        memory.line(*extended);
        memory.line(*stray);
        shared.remember(&mut memory);
        memory.each(sessions.in_order().into_iter(), |memory, number| {
            memory.value(&sessions.id(number));
            match &sessions[number] {
                Session::Kept(open) => open.remember(memory),
                Session::Over(lifecycle) => lifecycle.remember(None, memory),
            }
        });
        memory.into_bytes()
    }

    fn event(&mut self, event: &Event) {
        self.records += 1;
        if !self.shared.admit(event) {
            return;
        }
        let Shared {
            notes, unfinished, ..
        } = &mut self.shared;
        unfinished.pass_time(event.sent, notes);
        let Some((number, entry)) = self.enter(event) else {
            return;
        };
        if entry == Entry::First {
            self.misnamed(event, number);
        }
        self.last = Some(number);
        let (extended, stray) = (self.extended, self.stray);
        let Session::Kept(open) = &mut self.sessions[number] else {
            return;
        };
        let before = open.sequence.gap();
        open.sequence.event(event, &mut self.shared.notes);
        self.shared.set_gap_of(&open.sequence);
        match (before, open.sequence.gap()) {
            (None, Some(gap)) => self.shared.miss(gap),
            (Some(gap), None) => self.shared.find(gap, event),
            (Some(gap), Some(order)) if gap != order => self.shared.reorder(gap, order),
            (None, None) | (Some(_), Some(_)) => {}
        }
        let monitors = [Some(&mut open.recorded), open.unseen.as_deref_mut()];
        for monitors in monitors.into_iter().flatten() {
            monitors.confirmations.extended = extended.max(open.extended);
            monitors.confirmations.stray = stray;
        }
        open.clarifications.extended = extended.max(open.extended);
        if entry == Entry::First {
            // Not before the numbers have shown what is missing.
            Lifecycle::judge_first(event, &mut self.shared.notes);
            self.shared.judge_session_id(event);
        }
        let forgotten = open.judge(event, room(self.kept), &mut self.shared);
        if matches!(event.kind, EventKind::Ended(Ending::Cancelled)) {
            for token in open.pending_tokens() {
                self.shared.cancel(event.session, token, event.place.line);
            }
        }
        if matches!(event.kind, EventKind::Ended(Ending::Completed)) {
            let Shared {
                notes, unfinished, ..
            } = &mut self.shared;
            unfinished.ended(event, &open.tools, notes);
        }
        let over = matches!(event.kind, EventKind::Ended(_)) && !open.recorded.is_undecided();
        if let Some(token) = forgotten {
            self.tokens.remove(&token, number);
        }
        self.note_question(event, number);
        if over {
            self.conclude(number);
        }
    }

    /// Opens the session, if the event does, and yields its number. `None` for an event that lies outside of its session.
    fn enter(&mut self, event: &Event) -> Option<(usize, Entry)> {
        let Some(number) = self.sessions.number(event.session) else {
            let open = self.open(Lifecycle::after(event), Sequence::default());
            return Some((self.sessions.add(event.session, open), Entry::First));
        };
        let notes = &mut self.shared.notes;
        let admission = match &mut self.sessions[number] {
            Session::Kept(open) => {
                let is_heard = open.sequence.has_heard(event.producer);
                let admission = open.lifecycle.next(event, is_heard, notes);
                if admission == Admission::Continue {
                    return Some((number, Entry::Later));
                }
                admission
            }
            Session::Over(lifecycle) => lifecycle.next(event, false, notes),
        };
        match admission {
            Admission::Ignore => {
                self.shared.unfinished.outside(event);
                if self.replies_seen {
                    self.shared.judge_outlived(event);
                }
            }
            Admission::Continue => {}
            Admission::Unknown => self.leave(number, event),
            Admission::Open => {
                let Shared {
                    notes, unfinished, ..
                } = &mut self.shared;
                unfinished.begins_anew(event.session, notes);
                self.conclude(number);
                self.sessions[number] = self.open(Lifecycle::Active, Sequence::again());
                return Some((number, Entry::Later));
            }
        }
        None
    }

    /// Leaves a session unjudged from this event on: it may be of another session with the same id.
    fn leave(&mut self, number: usize, event: &Event) {
        if let EventKind::Started = event.kind {
            self.twins += 1;
            self.first_twin.get_or_insert(event.place.line);
        }
        if let Some(open) = self.close(number) {
            let tokens = tokens_of(&open);
            for token in tokens {
                self.elsewhere.meet(&token, &(), event.place.line);
                self.tokens.remove(token, number);
            }
        }
        self.event_elsewhere(event);
    }

    fn open(&mut self, lifecycle: Lifecycle, sequence: Sequence) -> Session {
        self.kept += 1;
        let settings = self.settings;
        let mut open = OpenSession::new(lifecycle, sequence, self.replies_seen, settings);
        open.set_order(self.in_order && !settings.two_clocks);
        Session::Kept(Box::new(open))
    }

    fn note_question(&mut self, event: &Event, session: usize) {
        if let EventKind::Asked(question) = &event.kind {
            self.questions += 1;
            asking::judge_default(event, question, &mut self.shared.notes);
        }
        if let EventKind::Clarifying(_) = &event.kind {
            self.clarifications += 1;
        }
        if let Some(token) = token_given_out(event) {
            self.tokens.insert(token, session);
        }
    }

    /// The open sessions in which the token was given out, in the order of their ids.
    fn sessions_of(&self, token: &str) -> Vec<usize> {
        let mut sessions = self.tokens.sessions(token);
        sessions.sort_unstable_by_key(|session| self.sessions.id(*session));
        sessions
    }

    /// Forgets what was kept of a session, when nothing can change the verdict on it any more.
    fn conclude(&mut self, number: usize) {
        let Some(mut open) = self.close(number) else {
            return;
        };
        self.shared.set_gap_of(&open.sequence);
        let id = self.sessions.id(number);
        open.recorded.give_up(id, &mut self.shared.recorded);
        for token in tokens_of(&open) {
            self.tokens.remove(token, number);
        }
    }

    /// Takes out what is kept of a session, if anything is.
    fn close(&mut self, number: usize) -> Option<Box<OpenSession>> {
        let session = &mut self.sessions[number];
        let Session::Kept(open) = session else {
            return None;
        };
        let over = Session::Over(open.lifecycle);
        let Session::Kept(open) = std::mem::replace(session, over) else {
            return None;
        };
        self.kept -= 1;
        Some(open)
    }

    /// Takes note of a message that may have granted more time, and that it counts where its session has numbers.
    fn foreign(&mut self, session: Option<&str>, numbered: Option<(&str, i64)>, line: u64) {
        self.records += 1;
        let number = session.and_then(|id| self.sessions.number(id));
        match number.map(|number| &mut self.sessions[number]) {
            Some(Session::Kept(open)) => {
                open.extended = line;
                if let Some((producer, number)) = numbered {
                    open.sequence.pass_over(producer, number);
                }
            }
            Some(Session::Over(_)) => {}
            None => self.extended = line,
        }
    }

    /// Takes note of an event that cannot be judged, and of its number: that of its session, or of the only one that is open.
    fn unread(
        &mut self,
        session: Option<&str>,
        numbered: Option<(&str, i64)>,
        may_be_missed: Option<(u64, &'static str)>,
    ) {
        self.records += 1;
        if let Some((line, clause)) = may_be_missed {
            self.shared.may_be_missed(line, clause);
        }
        let known = session.and_then(|id| self.sessions.number(id));
        let meant = match (known, session) {
            (Some(known), _) => Some(known),
            (None, None) => self.only_open(None),
            (None, Some(_)) => None,
        };
        if let (Some(number), Some((producer, sequence))) = (meant, numbered)
            && let Session::Kept(open) = &mut self.sessions[number]
        {
            open.sequence.pass_over(producer, sequence);
        }
    }

    /// The session of the last event, where no other is open but that one.
    fn only_open(&self, besides: Option<usize>) -> Option<usize> {
        let is_only = self.kept == 1 + usize::from(besides.is_some());
        let last = self.last.filter(|it| is_only && Some(*it) != besides)?;
        match &self.sessions[last] {
            Session::Kept(open) => (open.lifecycle == Lifecycle::Active).then_some(last),
            Session::Over(_) => None,
        }
    }

    /// AAEP-EV-2: an event that begins a session under an id of the wrong form may have the number that is due in the only other one.
    fn misnamed(&mut self, event: &Event, number: usize) {
        let is_start = matches!(event.kind, EventKind::Started);
        if is_start || is_identifier(event.session, "sess_") {
            return;
        }
        if let (Numbered::As(sequence), Some(other)) =
            (event.sequence, self.only_open(Some(number)))
            && let Session::Kept(open) = &mut self.sessions[other]
        {
            open.sequence.pass_over(event.producer, sequence);
            self.shared
                .may_be_missed(event.place.line, rules::IDENTIFIER.clause);
        }
    }

    /// Judges a reply: it moves the confirmation that it answers, if the producer had to honour it.
    fn reply(&mut self, reply: &Reply) {
        self.records += 1;
        if self.settings.partial_replies {
            self.some_seen = true;
        } else {
            self.replies_are_recorded();
        }
        let token = reply.token;
        let sessions = token.map_or_else(Vec::new, |token| self.sessions_of(token));
        let is_elsewhere = token.is_some_and(|it| self.elsewhere.earlier(&it).is_some());
        if sessions.is_empty() && is_elsewhere {
            return;
        }
        if sessions.is_empty() {
            // AAEP-6.3.4-2: a token that was not given out, or of a session that ended, has no effect.
            return self.stray(reply);
        }
        let elsewhere = is_elsewhere || sessions.len() > 1;
        let mut failed = None;
        let mut taken = false;
        for number in sessions {
            let Session::Kept(open) = &mut self.sessions[number] else {
                continue;
            };
            self.shared.set_gap_of(&open.sequence);
            let extended = self.extended.max(open.extended);
            open.recorded.confirmations.extended = extended;
            open.clarifications.extended = extended;
            match open.reply(reply, elsewhere, &mut self.shared.recorded) {
                None => taken = true,
                Some(check) => failed = Some((number, check)),
            }
        }
        if let Some((number, check)) = failed.filter(|_| !taken) {
            let session = Some(self.sessions.id(number));
            self.shared
                .judge_answer(reply, check, session, self.replies_seen);
        }
    }

    fn stray(&mut self, reply: &Reply) {
        let check = match &reply.content {
            Content::Confirmation(Ok(content)) => {
                if content.answer == Answer::Plain(Decision::Accept) {
                    self.stray = reply.place.line;
                }
                self.check_of_stray(reply)
            }
            Content::Clarification(Ok(_)) => self.check_of_stray(reply),
            Content::Confirmation(Err(broken)) | Content::Clarification(Err(broken)) => {
                Check::Schema(*broken)
            }
        };
        self.shared
            .judge_answer(reply, check, None, self.replies_seen);
    }

    /// AAEP-6.3.5-2: a token that was given out and is not known any more may have been used.
    fn check_of_stray(&self, reply: &Reply) -> Check {
        let earlier = reply.token.as_ref();
        match earlier.and_then(|token| self.shared.tokens.earlier(token)) {
            Some(_) => Check::Unused,
            None => Check::Issued,
        }
    }

    fn replies_are_recorded(&mut self) {
        if self.replies_seen {
            return;
        }
        self.replies_seen = true;
        self.shared.unseen = Notes::default();
        for session in self.sessions.all_mut() {
            if let Session::Kept(open) = session {
                open.unseen = None;
            }
        }
    }

    /// Takes in what the head of a recording says of those behind it. What began before that has lines of both.
    fn set_order(&mut self, in_order: bool) {
        self.in_order = self.settings.in_order || in_order;
        if !self.in_order {
            for session in self.sessions.all_mut() {
                if let Session::Kept(open) = session {
                    open.set_order(false);
                }
            }
        }
    }

    /// The verdict, at the end of the input.
    pub fn finish(mut self, file: &str) -> LintReport {
        self.conclude_all_that_ended();
        self.shared.judge_answers();
        let Shared {
            notes, unfinished, ..
        } = &mut self.shared;
        unfinished.finish(notes);
        let chosen = if self.replies_seen {
            &mut self.shared.recorded
        } else {
            &mut self.shared.unseen
        };
        let mut findings = chosen.take_findings();
        let withheld = chosen.take_withheld();
        let mut possible = chosen.take_possible();
        let tied = std::mem::take(&mut chosen.tied);
        let mut unlisted = Unlisted::new();
        let either_way = self.shared.notes.take_unlisted();
        for ((clause, weight), count) in either_way.into_iter().chain(chosen.take_unlisted()) {
            let weight = if self.settings.strict {
                Weight::Violation
            } else {
                weight
            };
            *unlisted.entry((clause, weight)).or_default() += count;
        }
        findings.extend(self.shared.notes.take_findings());
        let withheld: Vec<_> = withheld.chain(self.shared.notes.take_withheld()).collect();
        possible.extend(self.shared.notes.take_possible());
        if self.some_seen && !self.replies_seen {
            possible.extend(self.unless_replies_are_missing(&findings));
        }
        possible.sort_by_key(|finding| finding.line);
        findings.sort_by_key(|finding| finding.line);
        let findings = with_consequences(findings);
        let mut not_judged = self.owed();
        not_judged.extend(withheld);
        not_judged.extend(self.twins());
        let owed = not_judged.iter().any(|it| it.owed);
        not_judged.extend(self.gaps());
        not_judged.extend(self.delivered_again());
        not_judged.extend(self.without_replies());
        let strict = self.settings.strict;
        let (violations, warnings): (Vec<_>, Vec<_>) = findings
            .into_iter()
            .partition(|finding| strict || finding.weight == Weight::Violation);
        let verdict = if !violations.is_empty() {
            Verdict::Violating
        } else if owed || !possible.is_empty() {
            Verdict::Inconclusive
        } else {
            Verdict::Conforming
        };
        LintReport {
            file: file.to_owned(),
            protocol: "aaep",
            records: self.records,
            sessions: self.sessions.len(),
            verdict,
            violations,
            possible,
            warnings,
            not_judged,
            known: Vec::new(),
            unlisted,
            tied,
            damage: None,
        }
    }

    /// What would be wrong if the replies that were seen were all, besides what is wrong in any case.
    fn unless_replies_are_missing(&mut self, found: &[Finding]) -> Vec<Finding> {
        let is_found = |it: &Finding| {
            found
                .iter()
                .any(|other| (other.clause, other.line) == (it.clause, it.line))
        };
        let recorded = self.shared.recorded.take_findings().into_iter();
        let wrong = recorded.filter(|it| {
            it.weight == Weight::Violation && it.follows_from.is_none() && !is_found(it)
        });
        let unless = "a reply that is not in the recording decided otherwise";
        wrong
            .map(|it| Finding {
                unless: Some(unless.to_owned()),
                ..it
            })
            .collect()
    }

    /// No reply that is logged late will come any more.
    fn conclude_all_that_ended(&mut self) {
        for number in self.sessions.in_order() {
            let id = self.sessions.id(number).to_owned();
            let has_ended = match &mut self.sessions[number] {
                Session::Kept(open) => {
                    self.shared.set_gap_of(&open.sequence);
                    open.clarifications.give_up(&mut self.shared.recorded);
                    let has_ended = open.lifecycle != Lifecycle::Active;
                    if !has_ended {
                        open.recorded
                            .give_up_waiting(&id, &mut self.shared.recorded);
                    }
                    has_ended
                }
                Session::Over(_) => false,
            };
            if has_ended {
                self.conclude(number);
            }
        }
    }

    /// What the input ends too early to tell.
    fn owed(&self) -> Vec<NotJudged> {
        if self.sessions.len() == 0 {
            let reason = "the input holds no event of a session";
            return vec![NotJudged::open("AAEP-A.1-1", reason)];
        }
        let mut owed = Owed::default();
        for number in self.sessions.in_order() {
            if let Session::Kept(open) = &self.sessions[number] {
                owed.add(self.sessions.id(number), open);
            }
        }
        owed.not_judged()
    }

    /// AAEP-EV-4: a number that is skipped may be the producer's fault or the recorder's.
    fn gaps(&self) -> Option<NotJudged> {
        let line = self.shared.first_gap?;
        let reason = format!(
            "numbers are skipped in {} of the sessions, first on line {line}: whether those events were never sent or are not in the record does not show",
            self.shared.gaps
        );
        Some(NotJudged::partly("AAEP-EV-4", reason))
    }

    /// AAEP-EV-7: a subscriber who comes back may get an event again, and that is no second one.
    fn delivered_again(&self) -> Option<NotJudged> {
        let (line, earlier) = self.shared.first_again?;
        let reason = format!(
            "events that come again as they were, {} in all, first on line {line} the one of line {earlier}: whether they were sent twice, or delivered again to who came back, does not show, and each is judged once",
            self.shared.delivered_again
        );
        Some(NotJudged::partly("AAEP-EV-7", reason))
    }

    /// AAEP-A.1-1, AAEP-A.9-1: another producer starts a session under an id that is taken.
    fn twins(&self) -> Option<NotJudged> {
        let line = self.first_twin?;
        let reason = format!(
            "another producer starts a session under an id that is taken, {} in all, first on line {line}: whether that is one session which starts twice, or two with one id, does not show, and nothing behind it is judged of either; judge each recording, or what each producer sent, in a file of its own",
            self.twins
        );
        Some(NotJudged::open("AAEP-A.1-1", reason))
    }

    /// What would need the replies.
    fn without_replies(&self) -> Vec<NotJudged> {
        const CONFIRMATIONS: [(&str, &str); 5] = [
            ("AAEP-6.1-3", "whether anything was rejected does not show"),
            (
                "AAEP-6.1-6",
                "whether a question was still open when it was asked again does not show",
            ),
            (
                "AAEP-6.4-1",
                "whether a timeout passed without a reply does not show",
            ),
            ("AAEP-A.4-3", "whether anything was accepted does not show"),
            ("AAEP-A.4-4", "whether anything was rejected does not show"),
        ];
        const ABSENCE: (&str, &str) = (
            "AAEP-A.7.4-1",
            "each question may have been accepted off the record, so only its absence is judged",
        );
        const CLARIFICATIONS: [(&str, &str); 3] = [
            (
                "AAEP-6.1-8",
                "whether a clarification was answered when the producer went on does not show",
            ),
            (
                "AAEP-6.1-9",
                "whether a clarification was still open when it was asked again does not show",
            ),
            (
                "AAEP-6.5.5-4",
                "whether a response that fails its checks was honoured does not show",
            ),
        ];
        let of = |asked: u64, clauses: &'static [_]| if asked > 0 { clauses } else { &[] };
        if self.replies_seen {
            return Vec::new();
        }
        let why = if self.settings.partial_replies {
            "replies may be missing"
        } else {
            "the stream holds no replies"
        };
        let reason = |what: &str| format!("{why}: {what}");
        let unseen =
            |(clause, what): &(&'static str, &str)| NotJudged::unseen(clause, reason(what));
        let (clause, what) = ABSENCE;
        let absence = (self.questions > 0).then(|| NotJudged::partly(clause, reason(what)));
        let confirmations = of(self.questions, &CONFIRMATIONS).iter().map(unseen);
        let clarifications = of(self.clarifications, &CLARIFICATIONS).iter().map(unseen);
        confirmations.chain(absence).chain(clarifications).collect()
    }
}

/// The tokens of the questions that are kept of a session.
fn tokens_of(open: &OpenSession) -> impl Iterator<Item = &str> {
    let confirmations = open.recorded.confirmations.all().map(|(_, it)| &it.ids);
    let clarifications = open.clarifications.all().map(|it| &it.ids);
    let ids = confirmations.chain(clarifications);
    ids.filter_map(|ids| ids.token.as_deref())
}

/// The token of a question.
fn token_given_out<'a>(event: &'a Event<'_>) -> Option<&'a str> {
    match &event.kind {
        EventKind::Asked(question) => question.token,
        EventKind::Clarifying(question) => question.token.as_deref(),
        EventKind::Started
        | EventKind::Ended(_)
        | EventKind::StateChanged { .. }
        | EventKind::Progress { .. }
        | EventKind::Invoked { .. }
        | EventKind::Completed { .. }
        | EventKind::Output(_)
        | EventKind::Handoff => None,
    }
}
