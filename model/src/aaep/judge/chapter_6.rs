//! Chapter 6 without its replies: the blocking contract, tokens, defaults, subscriptions and cancellation.

use super::account::{About, Account, Blocked, Cause, Phase, Question, Subscription, Verdict};
use super::call::{
    self, Allowed, Body, Confirm, Decision, Event, Output, QuestionKind, Risk, ToolCall,
};
use super::{Asked, Call, Ground, Look, Owes, Resolution, What};
use crate::aaep::numbers::{DefaultRule, Numbers};
use crate::aaep::readings::{
    CancellationReleases, DefaultResponseAbsent, EarlyDefaultOnClose, LateReply, SessionEndCancels,
    SessionEndTells,
};
use crate::judge::Kind;

/// 6.1: the blocking contract.
impl Look<'_> {
    pub(super) fn runs(&mut self) {
        // The sessions that were told to be over, in this call.
        let mut over = Vec::new();
        for output in self.outputs {
            if let Output::Perform(run) = output {
                self.runs_when_released(*run, over.contains(&run.session));
            } else if let Output::Emit(event) = output
                && matches!(event.body, Body::Ended(_))
            {
                over.push(event.session);
            }
        }
    }

    // AAEP-6.1-1: an action runs once it is accepted: by a valid reply, or by its timeout if the default is accept.
    fn runs_when_released(&mut self, run: ToolCall, is_over: bool) {
        let ToolCall {
            session,
            action,
            tool_call,
            modified: _,
        } = run;
        let released = self.duties.resolutions.iter_mut().find(|resolution| {
            resolution.verdict == Verdict::Accept
                && resolution.run.is_none()
                && (resolution.session, resolution.action) == (session, action)
        });
        if let Some(resolution) = released {
            resolution.run = Some(tool_call);
            let (token, cause, tool) = (resolution.token, resolution.cause, resolution.tool);
            let modified = resolution.modified;
            self.completion_is_of_run(run, tool);
            if self.run_keeps_guarantees(token, cause, is_over) {
                self.run_is_of_what_was_accepted(run, token, modified);
            }
            // AAEP-EV-16: what the reading decides as soon as it is asked is not what was due before.
            let decided = self.duties.decided.map(|_| token);
            self.account.runs(run, decided);
        } else if !self.tool_was_to_run(run, is_over) {
            self.run_was_not_released(run);
            self.account.runs(run, None);
        }
    }

    /// What is released and completed in one call has no name before it runs.
    fn completion_is_of_run(&mut self, run: ToolCall, tool: u32) {
        let mut owed = self.duties.completions.iter_mut();
        let owed = owed.find(|owed| {
            (owed.session, owed.tool) == (run.session, tool) && owed.tool_call.is_none()
        });
        if let Some(owed) = owed {
            owed.tool_call = Some(run.tool_call);
        }
    }

    // AAEP-6.3.2-3: what was modified runs as it was modified to, and everything else as it was asked about.
    fn run_is_of_what_was_accepted(
        &mut self,
        run: ToolCall,
        token: u32,
        modified: Option<call::Modified>,
    ) {
        let action = run.action;
        match (modified, run.modified) {
            (None, None) => {}
            (None, Some(_)) => {
                let text = format!("a{action} must run as c{token} asked about it");
                self.guarantee("AAEP-6.1-1", &["AAEP-6.3.2-3"], text);
            }
            (Some(modified), run) if run == Some(modified.object) => {}
            (Some(_), _) => {
                let text = format!("a{action} must run as the reply to c{token} modified it");
                self.conformance("AAEP-6.3.2-3", &[], text);
            }
        }
    }

    /// What holds of every run, however the text is read; whether this one keeps it.
    fn run_keeps_guarantees(&mut self, token: u32, cause: Cause, is_over: bool) -> bool {
        let found = self.findings.len();
        self.run_breaks_guarantee(token, cause, is_over);
        self.findings.len() == found
    }

    fn run_breaks_guarantee(&mut self, token: u32, cause: Cause, is_over: bool) {
        let Some((question, &asked)) = self.account.confirmation(token) else {
            return;
        };
        let (session, told, action) = (question.session, question.told, asked.action);
        let ended = is_over || self.account.has_ended(session);
        // Not by what decides it anew in this call, behind the acceptance.
        let resolved = self.duties.resolutions.iter();
        let last = resolved.rev().find(|resolution| resolution.token == token);
        let refused = asked.refused && last.is_none_or(|last| last.verdict == Verdict::Accept);
        if !told {
            self.guarantee(
                "AAEP-6.1-1",
                &[],
                format!("a{action} must not run: nobody has seen the question c{token}"),
            );
        } else if asked.runs > 0 {
            self.guarantee(
                "AAEP-6.3.5-1",
                &["AAEP-6.9-2"],
                format!("a{action} must not run a second time for c{token}"),
            );
        } else if refused && cause == Cause::Timeout {
            // Of what is decided already only a withdrawal can leave a timeout to come.
            self.guarantee(
                "AAEP-6.8-1",
                &["AAEP-6.1-1"],
                format!("a{action} must not run: c{token} was withdrawn"),
            );
        } else if refused {
            self.guarantee(
                "AAEP-A.4-4",
                &[],
                format!("a{action} must not run: c{token} was rejected"),
            );
        } else if matches!(cause, Cause::Closing | Cause::Unanswerable) {
            self.guarantee(
                "AAEP-6.1-1",
                &[],
                format!("a{action} must wait for a reply to c{token} or for its timeout to elapse"),
            );
        } else if ended {
            self.duties.settled.push(session);
            self.guarantee(
                "AAEP-A.1-3",
                &[],
                format!("a{action} must not run after the end of its session"),
            );
        }
    }

    fn run_was_not_released(&mut self, run: ToolCall) {
        let ToolCall {
            session, action, ..
        } = run;
        self.duties.settled.push(session);
        let Some((token, question, asked)) = self.account.last_asked(session, action) else {
            let text = format!("a{action} must not run: nobody was asked about it");
            return self.guarantee("AAEP-6.1-1", &["AAEP-A.7.4-1"], text);
        };
        let (phase, told) = (question.phase, question.told);
        let (refused, has_run) = (asked.refused, asked.runs > 0);
        let too_early = asked.default == Decision::Accept && self.waits_longer(token);
        if !told {
            let text = format!("a{action} must not run: nobody has seen the question c{token}");
            return self.guarantee("AAEP-6.1-1", &[], text);
        }
        let answered = self.ignored_for(token);
        match phase {
            Phase::Open => {
                self.goes_astray(token);
                if let Some(failed) = answered {
                    return self.ran_on_ignored_reply(action, token, failed);
                }
                // Its own reply is to have the matching token; nothing was replayed.
                if self.decides_another(token) {
                    let text = format!("a{action} must not run: the reply is not to c{token}");
                    return self.guarantee("AAEP-6.1-1", &["AAEP-6.3.4-2", "AAEP-6.9-2"], text);
                }
                let text = format!(
                    "a{action} must wait for a reply to c{token} or for its timeout to elapse"
                );
                if too_early {
                    return self.guarantee("AAEP-6.4.2-3", &["AAEP-6.1-1", "AAEP-6.4-1"], text);
                }
                self.guarantee("AAEP-6.1-1", &["AAEP-6.4-1"], text);
            }
            Phase::Resolved { verdict, cause, .. } => {
                self.said_of(token, session);
                match answered {
                    Some(failed) => self.ran_on_ignored_reply(action, token, failed),
                    None if has_run => self.ran_again(action, token),
                    None => self.ran_though_refused(action, token, verdict, cause),
                }
            }
            Phase::Astray => {
                self.said_of(token, session);
                if has_run {
                    self.ran_again(action, token);
                } else if refused {
                    self.ran_though_refused(action, token, Verdict::Reject, Cause::Reply);
                }
            }
        }
    }

    // AAEP-6.9-2: no reply has come that it could have run on, so that no check of one was left out: the acceptance that there was is used
    // once more.
    fn ran_again(&mut self, action: u32, token: u32) {
        let text = format!("a{action} must not run a second time for c{token}");
        self.guarantee("AAEP-6.9-2", &["AAEP-6.1-1", "AAEP-6.3.5-1"], text);
    }

    fn ran_though_refused(&mut self, action: u32, token: u32, verdict: Verdict, cause: Cause) {
        let (clause, also, why): (_, &[_], _) = match (verdict, cause) {
            (_, Cause::Modified) if self.declared.modified_action => (
                "AAEP-6.3.2-3",
                &["AAEP-A.4-4"],
                "a modified action that rates higher counts as a reject",
            ),
            (_, Cause::Modified) => (
                "AAEP-6.3.2-4",
                &["AAEP-A.4-4"],
                "a modified action that is not supported counts as a reject",
            ),
            (_, Cause::Timeout) => (
                "AAEP-6.4-1",
                &["AAEP-6.1-1", "AAEP-A.4-4"],
                "its default is reject",
            ),
            (_, Cause::Closing) => ("AAEP-EV-11", &["AAEP-6.1-1"], "its default is reject"),
            (_, Cause::Unanswerable) => ("AAEP-EV-16", &["AAEP-6.1-1"], "its default is reject"),
            (_, Cause::SessionEnd) => ("AAEP-6.8-2", &["AAEP-6.1-1"], "its session has ended"),
            (Verdict::Withdraw, Cause::Reply | Cause::Cancel) => {
                ("AAEP-6.8-4", &["AAEP-6.1-1"], "it was withdrawn")
            }
            (Verdict::Accept | Verdict::Reject | Verdict::Answer, Cause::Reply | Cause::Cancel) => {
                ("AAEP-A.4-4", &["AAEP-6.1-1"], "it was rejected")
            }
        };
        self.guarantee(
            clause,
            also,
            format!("a{action} must not run for c{token}: {why}"),
        );
    }

    // AAEP-6.1-6: the same action is not asked about again before the block is released.
    pub(super) fn ground_against_asking(&self, confirm: &Confirm) -> Ground {
        if let Some(clause) = self.cannot_be_asked(confirm.session, confirm.timeout_seconds) {
            return Ground::Must(clause);
        }
        if let Some(clause) = confirm.out_of_limits {
            return Ground::Must(clause);
        }
        if let Some(clause) = default_that_must_be_reject(self.reading.numbers, confirm) {
            return Ground::Must(clause);
        }
        match self.account.last_asked(confirm.session, confirm.action) {
            Some((token, question, _)) if self.blocks(token, question) => {
                Ground::Must("AAEP-6.1-6")
            }
            Some((_, question, _)) if question.phase == Phase::Astray => Ground::May,
            _ if default_that_should_be_reject(self.reading.numbers, confirm) => Ground::May,
            _ if confirm.allowed.is_some_and(|allowed| allowed.others) => Ground::May,
            _ => Ground::None,
        }
    }

    /// What forbids to ask anything in this session and with this timeout.
    pub(super) fn cannot_be_asked(&self, session: u32, timeout: i64) -> Option<&'static str> {
        match self.account.sessions.get(&session) {
            None => Some("AAEP-A.1-1"),
            Some(session) if session.ended => Some("AAEP-A.1-3"),
            Some(_) => cannot_wait(self.account.clock, timeout),
        }
    }

    pub(super) fn blocks(&self, token: u32, question: &Question) -> bool {
        match question.phase {
            Phase::Open => true,
            // Only where a withdrawal does not release: then its deadline stays.
            Phase::Resolved { .. } => {
                let deadline = (question.deadline, token);
                self.account.deadlines.contains(&deadline)
            }
            Phase::Astray => false,
        }
    }
}

// AAEP-EV-5: a second to a day, and the deadline is a time that can be written.
pub(super) fn cannot_wait(asked_at: i64, timeout: i64) -> Option<&'static str> {
    let can = (1..=86_400).contains(&timeout) && asked_at + timeout * 1000 <= LAST_MOMENT;
    (!can).then_some("AAEP-EV-5")
}

/// The end of the year 9999, the last that a timestamp can show.
const LAST_MOMENT: i64 = 253_402_300_799_999;

/// 6.2 and 6.4.1: what a question says.
impl Look<'_> {
    pub(super) fn is_to_ask(&mut self, what: What, ground: &Ground) {
        let forbidden = match ground {
            Ground::Must(clause) => Some(*clause),
            Ground::May | Ground::None => None,
        };
        self.duties.question = Some(Asked { what, forbidden });
        self.default_applies_at_once();
    }

    /// What the question that comes, of this session and kind, was to be about. Nothing, where there is nothing to ask or its token
    /// was issued before: that is said.
    pub(super) fn is_to_come(
        &mut self,
        session: u32,
        token: u32,
        kind: QuestionKind,
    ) -> Option<Asked> {
        let asked = self
            .duties
            .question
            .take_if(|asked| (asked.what.session(), asked.what.kind()) == (session, kind));
        // AAEP-6.2.2-1, AAEP-6.2.2-3: no token is issued twice, for questions of either kind.
        if self.account.questions.contains_key(&token) && self.duties.decided != Some(token) {
            let text = format!(
                "c{token} must not be used for another question: a token is never issued again"
            );
            self.guarantee("AAEP-6.2.2-3", &["AAEP-6.2.2-1"], text);
            return None;
        }
        if asked.is_none() {
            let (clause, also, what): (_, &[_], _) = match kind {
                QuestionKind::Confirmation => ("AAEP-6.1-6", &[], "confirmed"),
                QuestionKind::Clarification => ("AAEP-6.1-9", &["AAEP-6.1-6"], "clarified"),
            };
            let text = format!("c{token} must not be asked: there is nothing new to be {what}");
            self.conformance(clause, also, text);
        }
        asked
    }

    pub(super) fn question_comes(&mut self, event: &Event, question: &call::Question) {
        let kind = QuestionKind::Confirmation;
        let Some(Asked {
            what: What::Confirm(confirm),
            forbidden,
        }) = self.is_to_come(event.session, question.token, kind)
        else {
            return;
        };
        if self.duties.decided != Some(question.token) {
            let unlisted = Allowed::unlisted(self.reading.numbers);
            self.account.asks(event, question, &confirm, unlisted);
        }
        if let Some(clause) = forbidden {
            let kind = match clause {
                // AAEP-6.9-5: whoever stalls must not thereby make it run.
                "AAEP-6.4.1-1" | "AAEP-6.4.1-2" => Kind::Guarantee,
                _ => Kind::Conformance,
            };
            let text = format!("a{} must not be asked about like this", confirm.action);
            return self.finds(kind, clause, &[], text);
        }
        self.question_says_what_it_should(question, &confirm);
        self.timeout_is_recommended(question.token, question.timeout_seconds, &confirm);
        self.default_is_recommended(question.token, &confirm);
        self.input_is_awaited(event.session);
    }

    // AAEP-EV-5 and, for the default, AAEP-6.4.1-1 and AAEP-6.4.1-2: the question shows the user what is asked.
    fn question_says_what_it_should(&mut self, question: &call::Question, confirm: &Confirm) {
        let token = question.token;
        let as_shown = Confirm {
            risk: confirm.risk,
            default: question.default,
            ..confirm.clone()
        };
        if let Some(clause) = default_that_must_be_reject(self.reading.numbers, &as_shown) {
            let text = format!("the default of c{token} must be reject");
            return self.guarantee(clause, &["AAEP-6.9-5"], text);
        }
        let unlisted = Allowed::unlisted(self.reading.numbers);
        let allowed = question.allowed.unwrap_or(unlisted);
        let fields = [
            ("action", question.description == confirm.description),
            ("consequence", question.consequence == confirm.consequence),
            (
                "timeout_seconds",
                question.timeout_seconds == confirm.timeout_seconds,
            ),
            ("default_decision", question.default == confirm.default),
            (
                "risk_level",
                question.risk.is_none_or(|risk| risk == confirm.risk),
            ),
            (
                "irreversible",
                question
                    .irreversible
                    .is_none_or(|irreversible| irreversible == confirm.irreversible),
            ),
            (
                "allowed_replies",
                allowed == confirm.allowed.unwrap_or(unlisted),
            ),
        ];
        self.fields_are_as_asked(token, &fields);
    }

    // AAEP-EV-5
    pub(super) fn fields_are_as_asked(&mut self, token: u32, fields: &[(&str, bool)]) {
        for (field, _) in fields.iter().filter(|(_, right)| !right) {
            let text = format!("c{token} must show the {field} that the question is about");
            self.conformance("AAEP-EV-5", &[], text);
        }
    }

    pub(super) fn question_was_asked(&mut self) {
        let Some(Asked {
            what,
            forbidden: None,
        }) = self.duties.question.take()
        else {
            return;
        };
        if self.duties.malformed {
            return;
        }
        match what {
            What::Confirm(confirm) => {
                let text = format!("a{} must be asked about", confirm.action);
                self.conformance("AAEP-6-1", &["AAEP-6.7-1"], text);
            }
            What::Clarify(clarify) => {
                let text = format!("q{} must be asked", clarify.question);
                self.conformance("AAEP-6.1-9", &["AAEP-6.7-1"], text);
            }
        }
    }
}

// AAEP-6.4.1-1, AAEP-6.4.1-2, and the other rows where the table was changed.
fn default_that_must_be_reject(numbers: Numbers, confirm: &Confirm) -> Option<&'static str> {
    let row = (confirm.irreversible, confirm.risk);
    let is_broken = confirm.default == Decision::Accept && must_be_reject(numbers, row);
    is_broken.then(|| clause_of_default(row))
}

fn must_be_reject(numbers: Numbers, (irreversible, risk): (bool, Risk)) -> bool {
    numbers.default_of(irreversible, risk as usize) == DefaultRule::MustReject
}

const fn clause_of_default(row: (bool, Risk)) -> &'static str {
    match row {
        (true, Risk::High) => "AAEP-6.4.1-1",
        (true, Risk::Medium) => "AAEP-6.4.1-2",
        (true, Risk::Low) => "AAEP-6.4.1-3",
        (false, Risk::High) => "AAEP-6.4.1-4",
        (false, Risk::Medium) => "AAEP-6.4.1-5",
        (false, Risk::Low) => "AAEP-6.4.1-6",
    }
}

impl Look<'_> {
    // AAEP-6.4.1-3, AAEP-6.4.1-4, and the other rows where the table was changed: judged where the judge is asked for advice.
    fn default_is_recommended(&mut self, token: u32, confirm: &Confirm) {
        if self.advises && default_that_should_be_reject(self.reading.numbers, confirm) {
            let clause = clause_of_default((confirm.irreversible, confirm.risk));
            let text = format!("c{token} had better be asked with a default of reject");
            self.conformance(clause, &[], text);
        }
    }
}

// AAEP-6.4.1-3, AAEP-6.4.1-4: a SHOULD, so that either may be.
fn default_that_should_be_reject(numbers: Numbers, confirm: &Confirm) -> bool {
    let rule = numbers.default_of(confirm.irreversible, confirm.risk as usize);
    confirm.default == Decision::Accept && rule == DefaultRule::ShouldReject
}

/// 6.4: timeouts.
impl Look<'_> {
    // AAEP-6.4.1-1, AAEP-6.4.1-2, AAEP-6.9-5: what the text guarantees it does however its table is changed.
    fn default_is_harmless(&mut self, token: u32) {
        let Some((_, action)) = self.account.confirmation(token) else {
            return;
        };
        let row = (action.irreversible, action.risk);
        let must = |numbers: Numbers| must_be_reject(numbers, row);
        if action.default == Decision::Accept && must(Numbers::TEXT) && !must(self.reading.numbers)
        {
            let text = format!(
                "a{} must not run for c{token}: nobody has accepted it, and it cannot be undone",
                action.action
            );
            self.guarantee(clause_of_default(row), &["AAEP-6.9-5"], text);
        }
    }

    // AAEP-6.4-1: timeout_seconds after the timestamp of its event the default applies, unless a valid reply came before.
    // AAEP-6.1-7, AAEP-A.5-2: a clarification is answered by its default, or by nobody.
    pub(super) fn pass_deadlines(&mut self) {
        let due: Vec<u32> = self.account.due().collect();
        for token in due {
            let Some(question) = self.account.questions.get(&token) else {
                continue;
            };
            let (deadline, default) = (question.deadline, question.by_default());
            let ended = self.account.has_ended(question.session);
            let phase = question.phase;
            let goes_on = self.is_answered_by_claim(token) || !self.is_over_unanswered(token);
            if phase == Phase::Open && goes_on {
                continue;
            }
            match phase {
                Phase::Open => {
                    self.default_is_harmless(token);
                    let owes = if ended { Owes::Run } else { Owes::All };
                    self.default_applies(token, default, Cause::Timeout, owes);
                }
                // Withdrawn, and by this reading not released: the default still fires.
                Phase::Resolved { .. } => {
                    self.default_applies(token, default, Cause::Timeout, Owes::Run);
                }
                Phase::Astray => {
                    self.account.deadlines.remove(&(deadline, token));
                }
            }
        }
    }

    // AAEP-A.5-2: whether a question is over that nobody answers: by the reading `default-response-absent` no clarification that has no
    // default is.
    fn is_over_unanswered(&self, token: u32) -> bool {
        let question = self.account.questions.get(&token);
        let wanted = question.and_then(Question::wanted);
        self.reading.default_response_absent == DefaultResponseAbsent::Nobody
            || wanted.is_none_or(|wanted| wanted.default.is_some())
    }

    /// Nobody has answered: a question comes to its default.
    fn default_applies(&mut self, token: u32, default: Verdict, cause: Cause, owes: Owes) {
        self.resolve(token, default, cause, owes);
        self.default_is_the_answer(token, cause);
    }

    /// Whether, by the reading that goes by claims, the reply that arrives is still in time.
    fn is_answered_by_claim(&self, token: u32) -> bool {
        let Call::Deliver(delivery) = self.call else {
            return false;
        };
        self.reading.late_reply == LateReply::ByClaim
            && delivery.reply.token == Some(token)
            && self.checks(delivery).is_ok()
    }

    // AAEP-A.4-3, AAEP-A.7.6-1: what was accepted runs, and a tool.invoked tells of it.
    pub(super) fn accepted_actions_ran(&mut self) {
        for resolution in self.duties.resolutions.clone() {
            let Resolution {
                token,
                action,
                cause,
                owes,
                run,
                invoked,
                ..
            } = resolution;
            if resolution.verdict != Verdict::Accept || owes == Owes::Nothing {
                continue;
            }
            let text = match (run.is_some(), invoked || owes == Owes::Run) {
                (true, true) => continue,
                (true, false) => format!("a tool.invoked must tell that a{action} runs"),
                (false, true) if invoked => format!("a{action} must run: a tool.invoked says so"),
                (false, _) => {
                    self.goes_astray(token);
                    self.accepted_action_did_not_run(token, action, cause);
                    continue;
                }
            };
            self.conformance("AAEP-A.4-3", &["AAEP-A.7.6-1"], text);
        }
    }

    fn accepted_action_did_not_run(&mut self, token: u32, action: u32, cause: Cause) {
        match cause {
            Cause::Timeout => {
                let text = format!(
                    "a{action} must run: the timeout of c{token} has elapsed and its default is accept"
                );
                self.guarantee("AAEP-6.4-1", &["AAEP-A.4-3", "AAEP-A.7.6-1"], text);
            }
            Cause::Closing => {
                let text = format!(
                    "a{action} must run when the last subscription that could answer c{token} closed"
                );
                self.conformance("AAEP-EV-11", &["AAEP-A.4-3"], text);
            }
            Cause::Unanswerable => {
                let text = format!(
                    "a{action} must run when it was asked about: nobody can answer c{token}"
                );
                self.conformance("AAEP-EV-16", &["AAEP-A.4-3"], text);
            }
            Cause::Modified => {
                let text =
                    format!("a{action} must run as the reply to c{token} modified and accepted it");
                self.conformance("AAEP-6.3.2-3", &["AAEP-A.4-3", "AAEP-A.7.6-1"], text);
            }
            Cause::Reply | Cause::Cancel | Cause::SessionEnd => {
                let text = format!("a{action} must run: a valid reply accepted c{token}");
                if self.cannot_have_replied() {
                    return self.conformance("AAEP-6.6-4", &["AAEP-A.4-3", "AAEP-A.7.6-1"], text);
                }
                self.conformance("AAEP-A.4-3", &["AAEP-6.6-4", "AAEP-A.7.6-1"], text);
            }
        }
    }
}

/// 6.7 and 6.8: subscriptions that come and go, questions that are withdrawn.
impl Look<'_> {
    // AAEP-EV-14: one that does not say that it can reply counts as one that cannot.
    pub(super) fn subscription_opens(&mut self, subscription: u32, can_reply: bool) {
        let active = true;
        let opened = Subscription { active, can_reply };
        self.account.subscriptions.insert(subscription, opened);
        self.account.capable += usize::from(can_reply);
    }

    // AAEP-EV-11: the last subscription that could answer closes: the default applies as on timeout; by default only where
    // it lets nothing run.
    pub(super) fn subscription_closes(&mut self, subscription: u32) {
        let Some(closed) = self.account.subscriptions.get_mut(&subscription) else {
            return;
        };
        closed.active = false;
        if !closed.can_reply {
            return;
        }
        self.account.capable -= 1;
        if self.account.capable > 0 {
            return;
        }
        for token in self.account.open_questions() {
            let Some(question) = self.account.questions.get(&token) else {
                continue;
            };
            let default = question.by_default();
            let ended = self.account.has_ended(question.session);
            let applies = match self.reading.early_default_on_close {
                EarlyDefaultOnClose::RejectOnly => default != Verdict::Accept,
                EarlyDefaultOnClose::AsDefault => true,
                EarlyDefaultOnClose::Never => false,
            };
            if applies && self.is_over_unanswered(token) {
                let owes = if ended { Owes::Run } else { Owes::All };
                self.default_applies(token, default, Cause::Closing, owes);
            } else if default != Verdict::Accept && !self.declared.waits_as_read {
                self.duties.unanswerable.push(token);
            }
        }
    }

    // AAEP-EV-11, however it is read: nobody waits for an answer that nobody can give, where the default lets nothing run.
    pub(super) fn nobody_is_left_blocked(&mut self) {
        for token in std::mem::take(&mut self.duties.unanswerable) {
            let question = self.account.questions.get(&token);
            if let Some(question) = question.filter(|question| question.phase == Phase::Open) {
                let default = match question.kind() {
                    QuestionKind::Confirmation => ", and its default is reject",
                    QuestionKind::Clarification => "",
                };
                let text = format!(
                    "c{token} must not block any longer: nobody is left who could answer{default}"
                );
                self.guarantee("AAEP-EV-11", &[], text);
            }
        }
    }

    // AAEP-6.8-1: only a question that waits can be withdrawn.
    pub(super) fn ground_against_withdrawing(&self, token: u32) -> Ground {
        self.ground_unless_open(token, "AAEP-6.8-1")
    }

    /// That a question does not wait, which this clause says it has to.
    pub(super) fn ground_unless_open(&self, token: u32, clause: &'static str) -> Ground {
        let question = self.account.questions.get(&token);
        match question.map(|question| question.phase) {
            Some(Phase::Open) => Ground::None,
            Some(Phase::Astray) => Ground::May,
            Some(Phase::Resolved { .. }) | None => Ground::Must(clause),
        }
    }

    // AAEP-6.8-3: a state.changed to thinking or deciding tells of it; `outcomes_were_told` looks for that.
    // AAEP-6.8-4: from now on its token is void; `checks` looks at that.
    pub(super) fn question_is_withdrawn(&mut self, token: u32) {
        let Some(question) = self.account.questions.get(&token) else {
            return;
        };
        let (phase, deadline) = (question.phase, question.deadline);
        let ended = self.account.has_ended(question.session);
        let owes = match phase {
            Phase::Open if !ended => Owes::All,
            Phase::Open | Phase::Resolved { .. } | Phase::Astray => Owes::Nothing,
        };
        self.resolve(token, Verdict::Withdraw, Cause::Cancel, owes);
        if self.reading.cancellation_releases == CancellationReleases::No {
            self.account.deadlines.insert((deadline, token));
        }
    }

    // AAEP-6.8-2: a session that is cancelled cancels its questions; by default every end does. Whether what was accepted before still
    // begins, a host decides whom nobody sees (reading `accepted-then-cancelled`): here it ran when it was put out.
    pub(super) fn end_withdraws_questions(&mut self, session: u32, cancelled: bool) {
        if !cancelled && self.reading.session_end_cancels == SessionEndCancels::CancelledOnly {
            return;
        }
        let Some(open) = self
            .account
            .sessions
            .get(&session)
            .map(|session| session.open.clone())
        else {
            return;
        };
        // The event that cancels the session cancels them; to tell of each is free. By the other reading so does that of every end.
        let by_itself = self.reading.session_end_tells == SessionEndTells::ByItself;
        let owes = if cancelled || by_itself {
            Owes::Nothing
        } else {
            Owes::All
        };
        for token in open {
            self.resolve(token, Verdict::Withdraw, Cause::SessionEnd, owes);
        }
        // One that was withdrawn before, and by this reading still waits for its default, waits no more.
        let questions = &self.account.questions;
        let of_session = |token: u32| {
            questions
                .get(&token)
                .is_some_and(|it| it.session == session)
        };
        self.account
            .deadlines
            .retain(|&(_, token)| !of_session(token));
    }
}

impl Account {
    /// The tokens whose deadline has come.
    fn due(&self) -> impl Iterator<Item = u32> {
        let clock = self.clock;
        self.deadlines
            .iter()
            .take_while(move |(deadline, _)| *deadline <= clock)
            .map(|(_, token)| *token)
    }

    fn open_questions(&self) -> Vec<u32> {
        let tokens = self.deadlines.iter().map(|(_, token)| *token);
        let is_open = |token: &u32| {
            let question = self.questions.get(token);
            question.is_some_and(|question| question.phase == Phase::Open)
        };
        tokens.filter(is_open).collect()
    }

    pub(super) fn has_ended(&self, session: u32) -> bool {
        self.sessions
            .get(&session)
            .is_some_and(|session| session.ended)
    }

    pub(super) fn is_active(&self, subscription: u32) -> bool {
        self.subscriptions
            .get(&subscription)
            .is_some_and(|subscription| subscription.active)
    }

    pub(super) fn asks(
        &mut self,
        event: &Event,
        question: &call::Question,
        confirm: &Confirm,
        unlisted: Allowed,
    ) {
        let about = About::Action(Blocked {
            action: confirm.action,
            tool: confirm.tool,
            risk: confirm.risk,
            irreversible: confirm.irreversible,
            default: question.default,
            allowed: question.allowed.unwrap_or(unlisted),
            refused: false,
            runs: 0,
        });
        let asked = Question::asked(event, question.timeout_seconds, about);
        self.waits(question.token, asked);
        self.last_asked
            .insert((event.session, confirm.action), question.token);
    }
}
