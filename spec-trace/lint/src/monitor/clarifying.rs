//! Clarifications: asked, answered, and whether the producer goes on before they are.
//!
//! A clarification has no effect of its own, so what shows of its outcome is a change of state, and a withdrawn one looks
//! the same. A producer that goes on right behind a reply is taken to go on with that reply, unless
//! [`Settings::unsaid_withdrawals`] says otherwise. Whether it may go on without any reply is no more than a warning. That a reply or a timeout was not honoured (AAEP-6.1-7) is a violation where the producer says so itself, and else does
//! not show: no clause says what has to come of either.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::Notes;
use super::checks::{Check, broken_in_words, schema, transport};
use super::confirmation::{assumed_sender, goes_back};
use super::confirmations::SLACK_SECONDS;
use super::extension::{Extension, TimeLeft, late_reply};
use crate::action_ids::ActionIds;
use crate::agent_state::AgentState;
use crate::finding::{Finding, Place};
use crate::memory::Memory;
use crate::record::{Clarification, Event, EventKind, ResponseKind, StatedOutcome};
use crate::reply::{ClarificationContent, Content, Reply, Response, Sender};
use crate::rules::{self, Rule};
use crate::stream::Settings;
use crate::time::Timestamp;

/// Clarifications that are kept of a session.
const KEPT: usize = 64;

/// The clarifications of one session.
#[derive(Debug, Default, Clone)]
pub struct Clarifications {
    asked: VecDeque<Asked>,
    /// The line of the last message that may have granted the questions before it more time (AAEP-6.4.2-3).
    pub extended: u64,
    /// Whether the lines stand in the order of receipt: no reply explains what stands before it.
    pub in_order: bool,
    unknown_senders: bool,
    unsaid_withdrawals: bool,
}

/// What an event shows besides itself.
#[derive(Debug, Clone, Copy)]
struct Around {
    /// Whether no other question may be open, so that a change of state is about the clarification.
    is_alone: bool,
    unsaid_withdrawals: bool,
}

/// One clarification.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The line of the question.
    pub place: Place,
    /// Who asked.
    pub producer: String,
    /// Its ids.
    pub ids: ActionIds<'static>,
    /// What may have become of it.
    pub status: Status,
    /// Whether the producer has gone on since, and said nothing against its being about this question.
    pub followed: bool,
    /// Whether it has gone on since a valid reply came.
    heeded: bool,
    /// The valid reply that came, where it surely counted: its line, and when it was received.
    counted: Option<(u64, Timestamp)>,
    /// What is assumed of its sender.
    assumed: Option<String>,
    /// When it first put out another event since the timeout, and had not gone on.
    stood_still: Option<Timestamp>,
    /// The line on which it first went on where that was late: it had put out other events since the timeout.
    late: Option<u64>,
    /// When it runs out by the producer's clock.
    pub deadline: Option<Timestamp>,
    extension: Option<Extension>,
    question: Clarification,
    /// The last reply to it that had to be ignored.
    ignored: Option<(u64, Vec<Check>)>,
    /// Whether that was taken by the transport, and nothing but progress has come since.
    is_fresh: bool,
    suspicion: Option<Suspicion>,
}

/// What the producer is accused of unless a reply comes that is recorded late.
#[derive(Debug, Clone)]
struct Suspicion {
    finding: Finding,
    /// Whether the producer may have done other work, or withdrawn the question.
    open: bool,
    sent: Option<Timestamp>,
    received: Option<Timestamp>,
    /// Whether it went on right behind a reply that had to be ignored.
    right_behind: bool,
    since: Since,
}

/// What the producer has done since it is suspected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Since {
    /// Nothing that tells.
    Nothing,
    /// It works with what it was told.
    Works,
    /// It waits again, and has asked nothing else.
    Waits,
}

/// What may have become of a clarification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is open for sure.
    Open,
    /// It may be over: its timeout has passed, or the producer has gone on.
    PerhapsOver,
    /// A valid reply came.
    Answered,
    /// The producer has said that it is over, and how.
    Told(StatedOutcome),
}

impl Status {
    /// In words.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Open => &["pending"],
            Self::PerhapsOver => &["pending", "defaulted", "cancelled"],
            Self::Answered => &["answered"],
            Self::Told(StatedOutcome::Answered) => &["answered", "defaulted"],
            Self::Told(StatedOutcome::Cancelled) => &["cancelled"],
            Self::Told(
                StatedOutcome::Unanswered | StatedOutcome::Accepted | StatedOutcome::Rejected,
            ) => &["defaulted"],
        }
    }

    /// Whether it is over for sure.
    pub const fn is_over(self) -> bool {
        match self {
            Self::Open | Self::PerhapsOver => false,
            Self::Answered | Self::Told(_) => true,
        }
    }
}

impl Clarifications {
    /// None at all.
    pub fn new(settings: Settings) -> Self {
        Self {
            unknown_senders: settings.unknown_senders,
            unsaid_withdrawals: settings.unsaid_withdrawals,
            ..Self::default()
        }
    }

    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            asked,
            extended,
            in_order,
            // What is asked for.
            unknown_senders: _,
            unsaid_withdrawals,
        } = self;
        memory.line(*extended);
        memory.value(in_order);
        memory.each(asked.iter(), |memory, asked| {
            let Asked {
                place,
                producer,
                ids,
                status,
                followed,
                heeded,
                counted,
                // It follows from that.
                assumed: _,
                stood_still,
                late,
                deadline,
                extension,
                question,
                ignored,
                is_fresh,
                suspicion,
            } = asked;
            // What they tell is no accusation where withdrawals may be unsaid.
            let is_told = !unsaid_withdrawals;
            memory.value(&(is_told && *is_fresh));
            memory.line(place.line);
            memory.line(late.unwrap_or_default());
            memory.value(stood_still);
            memory.each(counted.iter(), |memory, (line, received)| {
                memory.line(*line);
                memory.value(received);
            });
            memory.value(&(producer, ids, status, followed, heeded, question, deadline));
            memory.value(&extension.map(|it| it.until));
            memory.each(ignored.iter(), |memory, (line, checks)| {
                memory.line(*line);
                memory.value(checks);
            });
            memory.each(suspicion.iter(), |memory, suspicion| {
                let Suspicion {
                    finding,
                    open,
                    sent,
                    received,
                    right_behind,
                    since,
                } = suspicion;
                memory.value(&(is_told && *right_behind));
                memory.value(&Some(since).filter(|_| is_told));
                memory.line(finding.line);
                memory.value(&(finding.clause, open, sent, received));
            });
        });
    }

    /// All that are kept, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Asked> + Clone {
        self.asked.iter()
    }

    /// Judges an event of the open session, for a record that holds all replies. Yields the token of a clarification that is
    /// forgotten. `is_alone` says that no confirmation may be open.
    pub fn event(
        &mut self,
        event: &Event,
        is_alone: bool,
        notes: &mut Notes,
    ) -> Option<Cow<'static, str>> {
        let open = self
            .asked
            .iter()
            .filter(|it| !it.status.is_over() && !it.followed);
        let around = Around {
            is_alone: is_alone && open.count() < 2,
            unsaid_withdrawals: self.unsaid_withdrawals,
        };
        for asked in &mut self.asked {
            asked.pass(event, around, notes);
            // One that is open is over with any later reply.
            let is_open = asked.suspicion.as_ref().is_none_or(|it| it.open);
            if self.in_order && !is_open {
                asked.give_up(around.unsaid_withdrawals, notes);
            }
        }
        let EventKind::Clarifying(question) = &event.kind else {
            return None;
        };
        self.judge_repetition(event, question, notes);
        let after_timeout = |sent: Timestamp| Some(sent.plus_seconds(question.timeout?));
        self.asked.push_back(Asked {
            place: event.place.to_keep(),
            producer: event.producer.to_owned(),
            ids: event.ids.to_keep(),
            status: Status::Open,
            followed: false,
            heeded: false,
            counted: None,
            assumed: None,
            stood_still: None,
            late: None,
            deadline: event.sent.and_then(after_timeout),
            extension: None,
            question: question.clone(),
            ignored: None,
            is_fresh: false,
            suspicion: None,
        });
        if self.asked.len() <= KEPT {
            return None;
        }
        let mut forgotten = self.asked.pop_front()?;
        forgotten.give_up(self.unsaid_withdrawals, notes);
        forgotten.ids.token
    }

    /// AAEP-6.1-9: as for confirmations, the same is not asked again while the first question is open. What makes two questions the
    /// same the text leaves open, but for two that take the same answers.
    fn judge_repetition(&self, event: &Event, question: &Clarification, notes: &mut Notes) {
        let mut open = self.asked.iter().filter(|it| it.status == Status::Open);
        let same = |it: &&Asked| {
            let asked = &it.question;
            it.producer == event.producer
                && asked.question == question.question
                && (&asked.kinds, &asked.choices) == (&question.kinds, &question.choices)
        };
        if let Some(earlier) = open.find(same) {
            let message = format!(
                "the clarification on line {} is open and has the same words; if it is the same, it must not be asked for again",
                earlier.place.line
            );
            notes.add(finding(&rules::CLARIFYING_AGAIN, event, message));
        }
    }

    /// AAEP-6.4.2-3: takes in what the producer says of the time that is left.
    pub fn give_time(&mut self, left: &TimeLeft<'_>) {
        for asked in self.asked.iter_mut().filter(|it| !it.status.is_over()) {
            let of = (&*asked.producer, &asked.ids);
            let extension = left.extends(of, asked.deadline, asked.extension);
            asked.extension = extension.or(asked.extension);
        }
    }

    /// More time that the question may have been given.
    pub fn extension(&self, asked: &Asked) -> Option<Extension> {
        asked.extension_after(self.extended)
    }

    /// Takes in a reply. Yields the check that it failed; `None` where no clarification here has its token, or where it is
    /// valid.
    pub fn reply(&mut self, reply: &Reply, notes: &mut Notes) -> Option<Check> {
        let token = reply.token;
        // What comes next may come of this one.
        for asked in &mut self.asked {
            asked.is_fresh = false;
        }
        let asked = self
            .asked
            .iter_mut()
            .find(|it| it.ids.token.as_deref() == token)?;
        let extension = asked.extension_after(self.extended);
        let failed = failed(asked, reply, extension);
        if let (Content::Clarification(Ok(content)), []) = (&reply.content, &*failed) {
            asked.answer(reply, content, extension, self.unknown_senders, notes);
        }
        let leads = failed.first().copied();
        asked.is_fresh = leads.is_some() && is_taken(reply);
        if leads.is_some() {
            asked.ignored = Some((reply.place.line, failed));
        }
        leads
    }

    /// Accuses what no reply explained: none will come any more.
    pub fn give_up(&mut self, notes: &mut Notes) {
        for asked in &mut self.asked {
            asked.give_up(self.unsaid_withdrawals, notes);
        }
    }
}

impl Asked {
    fn extension_after(&self, extended: u64) -> Option<Extension> {
        let foreign = (self.place.line < extended).then_some(Extension {
            line: extended,
            until: None,
        });
        foreign.or(self.extension)
    }

    /// Takes in an event: the timeout may have passed by then, or the producer goes on.
    fn pass(&mut self, event: &Event, around: Around, notes: &mut Notes) {
        let is_fresh = self.is_fresh;
        if event.producer == self.producer {
            self.is_fresh &= matches!(event.kind, EventKind::Progress { .. });
            self.go_on(event);
        }
        if self.status.is_over() {
            if self.is_left_by(event) {
                self.heeded = true;
                self.judge_dropped(event, notes);
            }
            return;
        }
        let is_past = |seconds| {
            let ends = self.deadline.map(|it| it.plus_seconds(seconds));
            ends.is_some() && event.sent >= ends
        };
        let (over, overdue) = (is_past(0), is_past(SLACK_SECONDS));
        if self.deadline.is_none() || over {
            self.status = Status::PerhapsOver;
        }
        if !self.is_left_by(event) {
            let stands = over && event.producer == self.producer;
            self.stood_still = self.stood_still.or(event.sent.filter(|_| stands));
            return;
        }
        let stood_still = self.stood_still.is_some_and(|it| event.sent > Some(it));
        if overdue && stood_still && !self.followed && self.extension.is_none() {
            self.late = Some(event.place.line);
        }
        let stated = stated(event);
        if self.status == Status::Open && event.sent.is_some() {
            self.suspect(event, stated, is_fresh && around.is_alone);
        }
        self.followed = true;
        self.status = stated.map_or(Status::PerhapsOver, Status::Told);
    }

    /// AAEP-6.1-7: the producer says itself that nobody answered, well behind a valid reply of a known sender that arrived in time.
    fn judge_dropped(&mut self, event: &Event, notes: &mut Notes) {
        let says_so = stated(event) == Some(StatedOutcome::Unanswered);
        let is_behind =
            |received: Timestamp| event.sent > Some(received.plus_seconds(SLACK_SECONDS));
        let dropped = self
            .counted
            .filter(|(_, received)| says_so && is_behind(*received));
        let Some((reply, _)) = dropped else {
            return;
        };
        self.counted = None;
        let message = format!(
            "the producer says that nobody answered the clarification on line {}, which the valid reply on line {reply} had answered in time",
            self.place.line
        );
        let finding = finding(&rules::CLARIFICATION_DROPPED, event, message);
        notes.add(finding.assuming(self.assumed.take()));
    }

    /// Whether it is a change of state by which the producer goes on.
    fn is_left_by(&self, event: &Event) -> bool {
        let EventKind::StateChanged { to, .. } = &event.kind else {
            return false;
        };
        let leaves = *to != Some(AgentState::AwaitingInput.name());
        leaves && event.producer == self.producer && event.speaks_of(&self.ids)
    }

    /// AAEP-6.1-7: what does not show where nothing came of the question up to the end of its session.
    pub fn unheeded(&self, now: Option<Timestamp>) -> Option<String> {
        if let (Status::PerhapsOver, Some(line), Some(deadline)) =
            (self.status, self.late, self.deadline)
        {
            return Some(format!(
                "the timeout of the clarification on line {} ended at {deadline}, other events came, and the first state.changed behind it is that on line {line}: whether the timeout was honoured does not show; a recording would have to hold what became of it (extensions.countersign.outcome)",
                self.place.line
            ));
        }
        let what = match self.status {
            Status::Answered if !self.heeded => "a valid reply came",
            Status::Open | Status::PerhapsOver
                if !self.followed && self.deadline.is_some() && now >= self.deadline =>
            {
                "its timeout is over"
            }
            Status::Open | Status::PerhapsOver | Status::Answered | Status::Told(_) => return None,
        };
        Some(format!(
            "session.completed, and no state.changed came of the clarification on line {}, though {what}: whether it was honoured does not show; a recording would have to hold what became of it (extensions.countersign.outcome)",
            self.place.line
        ))
    }

    /// The producer says before the timeout that the question is answered, and no valid reply is on record. Where it says nothing,
    /// and a reply came that had to be ignored, that is left open: it may have withdrawn the question, or be speaking of another (AAEP-6.8-3); and a default may have been applied when the
    /// last subscription closed (AAEP-A.5-2). So it is where it goes on to a state that no withdrawal returns to.
    fn suspect(&mut self, event: &Event, stated: Option<StatedOutcome>, is_fresh: bool) {
        let says_so = stated == Some(StatedOutcome::Answered) && !self.question.has_default;
        let may_heed_it = stated.is_none() && self.ignored.is_some();
        let EventKind::StateChanged { from, to } = &event.kind else {
            return;
        };
        let awaiting = Some(AgentState::AwaitingInput.name());
        let right_behind =
            is_fresh && may_heed_it && *from == awaiting && to.is_some_and(goes_back);
        let goes_on = stated.is_none() && to.is_some_and(|to| !goes_back(to));
        if !says_so && !may_heed_it && !goes_on {
            return;
        }
        let line = self.place.line;
        let failed = self.ignored.as_ref();
        let described = failed.and_then(|(reply, checks)| Some((reply, describe(checks)?)));
        let finding = if let Some((reply, (rule, why, also))) = described {
            let message = format!(
                "the producer goes on, and nothing could have answered the clarification on line {line} but the reply on line {reply}, which {why} and had to be ignored"
            );
            finding(rule, event, message).and_also(&also)
        } else {
            let what = if says_so {
                format!("says that the clarification on line {line} is answered")
            } else {
                format!("goes on before the timeout of the clarification on line {line} is over")
            };
            let message = format!("the producer {what}, and nobody had answered it");
            finding(&rules::CLARIFIED_BY_NOBODY, event, message)
        };
        self.suspicion = Some(Suspicion {
            finding,
            open: !says_so,
            sent: event.sent,
            received: event.received,
            right_behind,
            since: Since::Nothing,
        });
    }

    /// Takes in what the producer does behind what it is suspected for.
    fn go_on(&mut self, event: &Event) {
        let question = &self.question.question;
        let Some(suspicion) = &mut self.suspicion else {
            return;
        };
        match &event.kind {
            EventKind::StateChanged { to, .. } => {
                if *to == Some(AgentState::AwaitingInput.name()) {
                    suspicion.since = Since::Waits;
                } else if suspicion.since == Since::Waits {
                    suspicion.since = Since::Nothing;
                }
            }
            // It asks again: the reply was none.
            EventKind::Clarifying(again) if again.question == *question => {
                suspicion.right_behind = false;
            }
            EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Invoked { .. }
            | EventKind::Output(_)
            | EventKind::Handoff => suspicion.since = Since::Works,
            EventKind::Started
            | EventKind::Progress { .. }
            | EventKind::Completed { .. }
            | EventKind::Ended(_) => {}
        }
    }

    /// Takes in a valid reply. Behind the deadline it is one only where more time was given.
    fn answer(
        &mut self,
        reply: &Reply,
        content: &ClarificationContent,
        extension: Option<Extension>,
        unknown_senders: bool,
        notes: &mut Notes,
    ) {
        let explains = |it: &Suspicion| match (reply.received, it.received, it.sent) {
            (Some(reply), Some(event), _) => reply <= event,
            (_, _, Some(event)) => content.decided <= event,
            (_, _, None) => true,
        };
        self.suspicion = self.suspicion.take().filter(|it| !it.open && !explains(it));
        let late = self.deadline.filter(|it| content.decided >= *it);
        let (Some(deadline), Some(extension)) = (late, extension) else {
            if self.status != Status::Told(StatedOutcome::Answered) {
                let is_assumed = reply.sender == Sender::Unsaid && !unknown_senders;
                let is_known = reply.sender == Sender::Known || is_assumed;
                self.counted = self.surely_counted(reply, content).filter(|_| is_known);
                self.assumed = is_assumed.then(|| assumed_sender(reply.place.line));
            }
            self.status = Status::Answered;
            return;
        };
        if self.status == Status::Open {
            self.status = Status::PerhapsOver;
        }
        let (line, reply) = (self.place.line, reply.place.line);
        let reason = late_reply(line, deadline, (reply, content.decided), extension);
        notes.leave_open("AAEP-6.5.5-1", reply, reason);
    }

    /// The line of a valid reply and when it was received, where it arrived in time whatever the clocks did.
    fn surely_counted(
        &self,
        reply: &Reply,
        content: &ClarificationContent,
    ) -> Option<(u64, Timestamp)> {
        let received = reply.received?;
        let is_in_time = |it: Timestamp| Some(it.plus_seconds(SLACK_SECONDS)) < self.deadline;
        let counts = self.status == Status::Open
            && is_taken(reply)
            && is_in_time(received)
            && is_in_time(content.decided);
        counts.then_some((reply.place.line, received))
    }

    fn give_up(&mut self, unsaid_withdrawals: bool, notes: &mut Notes) {
        let Some(suspicion) = self.suspicion.take() else {
            return;
        };
        let goes_on = suspicion.right_behind && suspicion.since == Since::Works;
        let Suspicion { finding, open, .. } = suspicion;
        let line = finding.line;
        if !open {
            return notes.add(finding);
        }
        if goes_on && unsaid_withdrawals {
            let unless = format!(
                "the state.changed on line {line} withdrew the question, or its last subscription had closed; extensions.countersign.outcome would tell"
            );
            return notes.add_possible(finding, unless);
        }
        if goes_on {
            let assumed = format!(
                "the state.changed on line {line} goes on with that reply: nothing withdrew the question, and no subscription closed (--assume unsaid-withdrawals: one may have)"
            );
            return notes.add(finding.assuming([assumed]));
        }
        let heeded = self.ignored.is_some();
        let reason = format!(
            "{} (line {}): whether it {}withdrew the question or did other work does not show; a recording would have to hold what became of it (extensions.countersign.outcome)",
            finding.message,
            finding.line,
            if heeded { "heeded that reply, " } else { "" }
        );
        notes.leave_open(finding.clause, finding.line, reason);
    }
}

/// Whether the transport did not turn the reply away.
fn is_taken(reply: &Reply) -> bool {
    reply.http_status.is_none_or(|it| (200..300).contains(&it))
}

/// What an event says has become of the clarification that it names.
fn stated(event: &Event) -> Option<StatedOutcome> {
    let outcome = event.outcome.filter(|_| event.ids.token.is_some())?;
    match outcome {
        StatedOutcome::Answered | StatedOutcome::Unanswered | StatedOutcome::Cancelled => {
            Some(outcome)
        }
        // Of confirmations.
        StatedOutcome::Accepted | StatedOutcome::Rejected => None,
    }
}

/// AAEP-6.5.5-1, AAEP-6.5.5-2, AAEP-6.5.5-3, AAEP-6.5.2-2: the checks that a reply to a clarification fails.
fn failed(asked: &Asked, reply: &Reply, extension: Option<Extension>) -> Vec<Check> {
    let mut failed = match &reply.content {
        // AAEP-6.5.1-1: of the other kind.
        Content::Confirmation(_) => vec![Check::Kind],
        Content::Clarification(_) => schema(reply),
    };
    let over = match asked.status {
        // Where it was answered by a reply, this may be it.
        Status::Open | Status::PerhapsOver | Status::Told(StatedOutcome::Answered) => None,
        Status::Told(StatedOutcome::Cancelled) => Some(Check::Standing),
        // AAEP-6.3.4-3, by AAEP-6.5.5-1: the first reply counts.
        Status::Answered | Status::Told(_) => Some(Check::Unused),
    };
    failed.extend(over);
    failed.extend(transport(reply, asked.deadline, extension));
    if let Content::Clarification(Ok(content)) = &reply.content {
        failed.extend(response(&asked.question, &content.response));
    }
    failed
}

/// AAEP-6.5.5-2, AAEP-6.5.5-3, AAEP-6.5.2-2: the check that the response itself fails.
fn response(question: &Clarification, response: &Response) -> Option<Check> {
    let kinds = question.kinds.as_ref()?;
    let accepts = |kind| kinds.contains(&kind);
    let choices = question.choices.as_ref();
    match response {
        Response::Text(_) if accepts(ResponseKind::FreeText) => None,
        Response::Text(text) if accepts(ResponseKind::MultipleChoice) => {
            let listed = choices.is_none_or(|choices| choices.contains(text));
            (!listed).then_some(Check::Choice)
        }
        Response::YesNo if accepts(ResponseKind::YesNo) => None,
        Response::Number if accepts(ResponseKind::Numeric) => None,
        Response::Text(_) | Response::YesNo | Response::Number => Some(Check::ResponseType),
    }
}

/// What whoever heeds a reply does that fails these checks, led by the first: what is wrong with the reply, and what else that breaks.
fn describe(checks: &[Check]) -> Option<(&'static Rule, String, Vec<&'static str>)> {
    let told: Vec<_> = checks.iter().map(|it| heeded(*it)).collect();
    let (leads, _) = told.first()?;
    let whys: Vec<_> = told.iter().map(|(_, why)| &**why).collect();
    let also = told.iter().flat_map(|(rule, _)| rule.all_clauses());
    Some((leads, whys.join(", "), also.collect()))
}

fn heeded(check: Check) -> (&'static Rule, String) {
    let (rule, why) = match check {
        Check::Kind => (
            &rules::CLARIFIED_BY_CONFIRMATION,
            "is no clarification.reply",
        ),
        Check::ResponseType => (
            &rules::CLARIFIED_BY_OTHER_TYPE,
            "is of a kind that was not accepted",
        ),
        Check::Choice => (&rules::CLARIFIED_BY_NO_CHOICE, "is none of the choices"),
        Check::Schema(broken) => return (&rules::CLARIFIED_BY_INVALID, broken_in_words(broken)),
        Check::InTime => (&rules::CLARIFIED_BY_INVALID, "was decided too late"),
        Check::Sender => (
            &rules::CLARIFIED_BY_INVALID,
            "came from a sender that the transport refused or does not know",
        ),
        Check::Issued | Check::Unused | Check::Standing | Check::Allowed => {
            (&rules::CLARIFIED_BY_INVALID, "failed a check")
        }
    };
    (rule, why.to_owned())
}

fn finding(rule: &Rule, event: &Event, message: String) -> Finding {
    Finding::new(rule, event.place, Some(event.session), message)
}
