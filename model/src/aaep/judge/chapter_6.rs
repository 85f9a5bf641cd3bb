//! Chapter 6 without its replies: the blocking contract, tokens, defaults, subscriptions and cancellation.

use super::account::{Account, Cause, Confirmation, Phase, Subscription, Verdict};
use super::call::{Allowed, Body, Confirm, Decision, Event, Output, Question, Risk, ToolCall};
use super::{Asked, Call, Ground, Look, Owes, Resolution};
use crate::aaep::readings::{
    CancellationReleases, EarlyDefaultOnClose, LateReply, SessionEndCancels,
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
        } = run;
        let released = self.duties.resolutions.iter_mut().find(|resolution| {
            resolution.verdict == Verdict::Accept
                && resolution.run.is_none()
                && (resolution.session, resolution.action) == (session, action)
        });
        if let Some(resolution) = released {
            resolution.run = Some(tool_call);
            let (token, cause, tool) = (resolution.token, resolution.cause, resolution.tool);
            self.completion_is_of_run(run, tool);
            self.run_keeps_guarantees(token, cause, is_over);
        } else {
            self.run_was_not_released(run);
        }
        self.account.runs(run);
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

    /// What holds of every run, however the text is read.
    fn run_keeps_guarantees(&mut self, token: u32, cause: Cause, is_over: bool) {
        let confirmation = &self.account.confirmations[&token];
        let (session, action) = (confirmation.session, confirmation.action);
        let ended = is_over || self.account.has_ended(session);
        if !confirmation.told {
            self.guarantee(
                "AAEP-6.1-1",
                &[],
                format!("a{action} was not to run: nobody has seen the question c{token}"),
            );
        } else if confirmation.runs > 0 {
            self.guarantee(
                "AAEP-6.3.5-1",
                &["AAEP-6.9-2"],
                format!("a{action} was not to run a second time for c{token}"),
            );
        } else if confirmation.refused {
            self.guarantee(
                "AAEP-A.4-4",
                &["AAEP-6.8-4"],
                format!("a{action} was not to run: c{token} had been rejected or withdrawn"),
            );
        } else if cause == Cause::Closing {
            self.guarantee(
                "AAEP-6.1-1",
                &[],
                format!(
                    "a{action} was to wait for a reply to c{token} or for its timeout to elapse"
                ),
            );
        } else if ended {
            self.duties.settled.push(session);
            self.guarantee(
                "AAEP-A.1-3",
                &["AAEP-6.8-2"],
                format!("a{action} was not to run after the end of its session"),
            );
        }
    }

    fn run_was_not_released(&mut self, run: ToolCall) {
        let ToolCall {
            session, action, ..
        } = run;
        self.duties.settled.push(session);
        let Some(&token) = self.account.last_asked.get(&(session, action)) else {
            let text = format!("a{action} was not to run: nobody was asked about it");
            return self.guarantee("AAEP-6.1-1", &["AAEP-A.7.4-1"], text);
        };
        let confirmation = &self.account.confirmations[&token];
        let (phase, told, refused) = (confirmation.phase, confirmation.told, confirmation.refused);
        let has_run = confirmation.runs > 0;
        if !told {
            let text = format!("a{action} was not to run: nobody has seen the question c{token}");
            return self.guarantee("AAEP-6.1-1", &[], text);
        }
        let answered = self.ignored_for(token);
        match phase {
            Phase::Open => {
                self.goes_astray(token);
                if let Some(failed) = answered {
                    return self.ran_on_ignored_reply(action, token, failed);
                }
                if self.decides_another(token) {
                    let text = format!("a{action} was not to run: the reply is not to c{token}");
                    return self.guarantee("AAEP-6.9-2", &["AAEP-6.1-1", "AAEP-6.3.4-2"], text);
                }
                let text = format!(
                    "a{action} was to wait for a reply to c{token} or for its timeout to elapse"
                );
                self.guarantee("AAEP-6.1-1", &["AAEP-6.4-1"], text);
            }
            Phase::Resolved { verdict, cause, .. } => {
                self.said_of(token, session);
                match answered {
                    Some(failed) => self.ran_on_ignored_reply(action, token, failed),
                    None if has_run => {
                        let text = format!("a{action} was not to run a second time for c{token}");
                        self.guarantee("AAEP-6.1-1", &["AAEP-6.3.5-1", "AAEP-6.9-2"], text);
                    }
                    None => self.ran_though_refused(action, token, verdict, cause),
                }
            }
            Phase::Astray => {
                self.said_of(token, session);
                if has_run {
                    let text = format!("a{action} was not to run a second time for c{token}");
                    self.guarantee("AAEP-6.1-1", &["AAEP-6.3.5-1", "AAEP-6.9-2"], text);
                } else if refused {
                    self.ran_though_refused(action, token, Verdict::Reject, Cause::Reply);
                }
            }
        }
    }

    fn ran_though_refused(&mut self, action: u32, token: u32, verdict: Verdict, cause: Cause) {
        let (clause, also, why): (_, &[_], _) = match (verdict, cause) {
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
            (_, Cause::SessionEnd) => ("AAEP-6.8-2", &["AAEP-6.1-1"], "its session has ended"),
            (Verdict::Withdraw, Cause::Reply | Cause::Cancel) => {
                ("AAEP-6.8-4", &["AAEP-6.1-1"], "it was withdrawn")
            }
            (Verdict::Accept | Verdict::Reject, Cause::Reply | Cause::Cancel) => {
                ("AAEP-A.4-4", &["AAEP-6.1-1"], "it was rejected")
            }
        };
        self.guarantee(
            clause,
            also,
            format!("a{action} was not to run for c{token}: {why}"),
        );
    }

    // AAEP-6.1-6: the same action is not asked about again before the block is released.
    pub(super) fn ground_against_asking(&self, confirm: &Confirm) -> Ground {
        match self.account.sessions.get(&confirm.session) {
            None => return Ground::Must("AAEP-A.1-1"),
            Some(session) if session.ended => return Ground::Must("AAEP-A.1-3"),
            Some(_) => {}
        }
        if !(1..=86_400).contains(&confirm.timeout_seconds) {
            return Ground::Must("AAEP-EV-5");
        }
        if let Some(clause) = confirm.out_of_limits {
            return Ground::Must(clause);
        }
        if let Some(clause) = default_that_must_be_reject(confirm) {
            return Ground::Must(clause);
        }
        let last_asked = self
            .account
            .last_asked
            .get(&(confirm.session, confirm.action));
        let asked_before = last_asked.map(|token| (token, &self.account.confirmations[token]));
        match asked_before {
            Some((&token, confirmation)) if self.blocks(token, confirmation) => {
                Ground::Must("AAEP-6.1-6")
            }
            Some((_, confirmation)) if confirmation.phase == Phase::Astray => Ground::May,
            _ if default_that_should_be_reject(confirm) => Ground::May,
            _ if confirm.allowed.is_some_and(|allowed| allowed.others) => Ground::May,
            _ => Ground::None,
        }
    }

    fn blocks(&self, token: u32, confirmation: &Confirmation) -> bool {
        match confirmation.phase {
            Phase::Open => true,
            // Only where a withdrawal does not release: then its deadline stays.
            Phase::Resolved { .. } => self
                .account
                .deadlines
                .contains(&(confirmation.deadline, token)),
            Phase::Astray => false,
        }
    }
}

/// 6.2 and 6.4.1: what a question says.
impl Look<'_> {
    pub(super) fn is_to_ask(&mut self, confirm: &Confirm, ground: &Ground) {
        let forbidden = match ground {
            Ground::Must(clause) => Some(*clause),
            Ground::May | Ground::None => None,
        };
        self.duties.question = Some(Asked {
            confirm: confirm.clone(),
            forbidden,
        });
    }

    pub(super) fn question_comes(&mut self, event: &Event, question: &Question) {
        let token = question.token;
        let asked = self
            .duties
            .question
            .take_if(|asked| asked.confirm.session == event.session);
        // AAEP-6.2.2-1, AAEP-6.2.2-3: no token is issued twice.
        if self.account.confirmations.contains_key(&token) {
            let text = format!(
                "c{token} was not to be used for another question: a token is never issued again"
            );
            return self.guarantee("AAEP-6.2.2-3", &["AAEP-6.2.2-1"], text);
        }
        let Some(Asked { confirm, forbidden }) = asked else {
            let text = format!("c{token} was not to be asked: nothing new was to be confirmed");
            return self.conformance("AAEP-6.1-6", &[], text);
        };
        self.account.asks(event, question, &confirm);
        if let Some(clause) = forbidden {
            let kind = match clause {
                // AAEP-6.9-5: whoever stalls must not thereby make it run.
                "AAEP-6.4.1-1" | "AAEP-6.4.1-2" => Kind::Guarantee,
                _ => Kind::Conformance,
            };
            let text = format!("a{} was not to be asked about like this", confirm.action);
            return self.finds(kind, clause, &[], text);
        }
        self.question_says_what_it_should(question, &confirm);
        self.input_is_awaited(event.session);
    }

    // AAEP-EV-5 and, for the default, AAEP-6.4.1-1 and AAEP-6.4.1-2: the question shows the user what is asked.
    fn question_says_what_it_should(&mut self, question: &Question, confirm: &Confirm) {
        let token = question.token;
        let as_shown = Confirm {
            risk: confirm.risk,
            default: question.default,
            ..confirm.clone()
        };
        if let Some(clause) = default_that_must_be_reject(&as_shown) {
            let text = format!("the default of c{token} was to be reject");
            return self.guarantee(clause, &["AAEP-6.9-5"], text);
        }
        let allowed = question.allowed.unwrap_or(Allowed::DEFAULT);
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
                allowed == confirm.allowed.unwrap_or(Allowed::DEFAULT),
            ),
        ];
        for (field, _) in fields.iter().filter(|(_, right)| !right) {
            let text = format!("c{token} was to show the {field} that was to be asked about");
            self.conformance("AAEP-EV-5", &[], text);
        }
    }

    pub(super) fn question_was_asked(&mut self) {
        let asked = self.duties.question.take();
        if let Some(Asked {
            confirm,
            forbidden: None,
        }) = asked
            && !self.duties.malformed
        {
            let text = format!("a{} was to be asked about", confirm.action);
            self.conformance("AAEP-6-1", &["AAEP-6.7-1"], text);
        }
    }
}

// AAEP-6.4.1-1, AAEP-6.4.1-2
fn default_that_must_be_reject(confirm: &Confirm) -> Option<&'static str> {
    match (confirm.default, confirm.irreversible, confirm.risk) {
        (Decision::Accept, true, Risk::High) => Some("AAEP-6.4.1-1"),
        (Decision::Accept, true, Risk::Medium) => Some("AAEP-6.4.1-2"),
        (Decision::Accept, true, Risk::Low)
        | (Decision::Accept, false, _)
        | (Decision::Reject, _, _) => None,
    }
}

// AAEP-6.4.1-3, AAEP-6.4.1-4: a SHOULD, so that either may be.
fn default_that_should_be_reject(confirm: &Confirm) -> bool {
    confirm.default == Decision::Accept && (confirm.irreversible || confirm.risk == Risk::High)
}

/// 6.4: timeouts.
impl Look<'_> {
    // AAEP-6.4-1: timeout_seconds after the timestamp of its event the default applies, unless a valid reply came before.
    pub(super) fn pass_deadlines(&mut self) {
        let due: Vec<u32> = self.account.due().collect();
        for token in due {
            let confirmation = &self.account.confirmations[&token];
            let (deadline, default) = (confirmation.deadline, confirmation.default);
            let ended = self.account.has_ended(confirmation.session);
            let phase = confirmation.phase;
            if phase == Phase::Open && self.is_answered_by_claim(token) {
                continue;
            }
            match phase {
                Phase::Open => {
                    let owes = if ended { Owes::Run } else { Owes::All };
                    self.resolve(token, default.into(), Cause::Timeout, owes);
                }
                // Withdrawn, and by this reading not released: the default still fires.
                Phase::Resolved { .. } => {
                    self.resolve(token, default.into(), Cause::Timeout, Owes::Run);
                }
                Phase::Astray => {
                    self.account.deadlines.remove(&(deadline, token));
                }
            }
        }
    }

    /// Whether, by the reading that goes by claims, the reply that arrives is still in time.
    fn is_answered_by_claim(&self, token: u32) -> bool {
        let Call::Deliver(delivery) = self.call else {
            return false;
        };
        self.reading.late_reply == LateReply::ByClaim
            && delivery.reply.token == Some(token)
            && self.checks_1_to_6(delivery).is_ok()
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
                (true, false) => format!("a tool.invoked was to tell that a{action} runs"),
                (false, true) if invoked => format!("a{action} was to run: a tool.invoked says so"),
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
                    "a{action} was to run: the timeout of c{token} has elapsed and its default is accept"
                );
                self.guarantee("AAEP-6.4-1", &["AAEP-A.4-3", "AAEP-A.7.6-1"], text);
            }
            Cause::Closing => {
                let text = format!(
                    "a{action} was to run when the last subscription that could answer c{token} closed"
                );
                self.conformance("AAEP-EV-11", &["AAEP-A.4-3"], text);
            }
            Cause::Reply | Cause::Modified | Cause::Cancel | Cause::SessionEnd => {
                let text = format!("a{action} was to run: a valid reply accepted c{token}");
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
    // it rejects.
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
            let confirmation = &self.account.confirmations[&token];
            let default = confirmation.default;
            let ended = self.account.has_ended(confirmation.session);
            let applies = match self.reading.early_default_on_close {
                EarlyDefaultOnClose::RejectOnly => default == Decision::Reject,
                EarlyDefaultOnClose::AsDefault => true,
                EarlyDefaultOnClose::Never => false,
            };
            if applies {
                let owes = if ended { Owes::Run } else { Owes::All };
                self.resolve(token, default.into(), Cause::Closing, owes);
            } else if default == Decision::Reject {
                self.duties.unanswerable.push(token);
            }
        }
    }

    // AAEP-EV-11, however it is read: nobody waits for an answer that nobody can give, where the default is reject.
    pub(super) fn nobody_is_left_blocked(&mut self) {
        for token in std::mem::take(&mut self.duties.unanswerable) {
            if self.account.confirmations[&token].phase == Phase::Open {
                let text = format!(
                    "c{token} was not to block any longer: nobody is left who could answer, and its default is reject"
                );
                self.guarantee("AAEP-EV-11", &[], text);
            }
        }
    }

    // AAEP-6.8-1: only a question that waits can be withdrawn.
    pub(super) fn ground_against_withdrawing(&self, token: u32) -> Ground {
        match self
            .account
            .confirmations
            .get(&token)
            .map(|confirmation| confirmation.phase)
        {
            Some(Phase::Open) => Ground::None,
            Some(Phase::Astray) => Ground::May,
            Some(Phase::Resolved { .. }) | None => Ground::Must("AAEP-6.8-1"),
        }
    }

    // AAEP-6.8-3: a state.changed to thinking or deciding tells of it; `outcomes_were_told` looks for that.
    // AAEP-6.8-4: from now on its token is void; `checks_1_to_6` looks at that.
    pub(super) fn question_is_withdrawn(&mut self, token: u32) {
        let Some(confirmation) = self.account.confirmations.get(&token) else {
            return;
        };
        let (phase, deadline) = (confirmation.phase, confirmation.deadline);
        let ended = self.account.has_ended(confirmation.session);
        let owes = match phase {
            Phase::Open if !ended => Owes::All,
            Phase::Open | Phase::Resolved { .. } | Phase::Astray => Owes::Nothing,
        };
        self.resolve(token, Verdict::Withdraw, Cause::Cancel, owes);
        if self.reading.cancellation_releases == CancellationReleases::No {
            self.account.deadlines.insert((deadline, token));
        }
    }

    // AAEP-6.8-2: a session that is cancelled cancels its questions; by default every end does.
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
        // The event that cancels the session cancels them; to tell of each is free.
        let owes = if cancelled { Owes::Nothing } else { Owes::All };
        for token in open {
            self.resolve(token, Verdict::Withdraw, Cause::SessionEnd, owes);
        }
        // One that was withdrawn before, and by this reading still waits for its default, waits no more.
        let confirmations = &self.account.confirmations;
        self.account
            .deadlines
            .retain(|(_, token)| confirmations[token].session != session);
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
        tokens
            .filter(|token| self.confirmations[token].phase == Phase::Open)
            .collect()
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

    fn asks(&mut self, event: &Event, question: &Question, confirm: &Confirm) {
        let Event { session, at, .. } = *event;
        let deadline = at.saturating_add(question.timeout_seconds.saturating_mul(1000));
        let asked = Confirmation {
            session,
            action: confirm.action,
            tool: confirm.tool,
            timeout_seconds: question.timeout_seconds,
            default: question.default,
            allowed: question.allowed.unwrap_or(Allowed::DEFAULT),
            deadline,
            told: true,
            phase: Phase::Open,
            refused: false,
            runs: 0,
        };
        self.confirmations.insert(question.token, asked);
        self.deadlines.insert((deadline, question.token));
        self.last_asked
            .insert((session, confirm.action), question.token);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.open.insert(question.token);
        }
    }
}
