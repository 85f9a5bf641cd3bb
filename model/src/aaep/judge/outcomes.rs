//! How the outcome of a question is told: the transitions out of `awaiting_input`.
//!
//! The one thing to know: each resolution is told by a transition of its own. The judge counts them: a
//! session owes as many as it has resolutions in this call, and one more than that tells of an outcome that there was not.
//! By the reading that stays in `awaiting_input` (AAEP-A.2-2) the last resolution alone owes one.

use super::account::{Cause, Question, Verdict};
use super::call::{Call, Output, QuestionKind, State};
use super::{Look, Owes, Resolution};
use crate::aaep::readings::StateWhileAsked;
use crate::judge::Kind;

/// How often a session has left `awaiting_input` in this call, by where it went.
#[derive(Default)]
struct Left {
    /// To `calling_tool`: an acceptance, or other work.
    to_tool: usize,
    /// To `thinking` or `deciding`: a rejection or withdrawal, and an acceptance where nothing else is left.
    to_thinking: usize,
    /// Anywhere else.
    elsewhere: usize,
    /// Nowhere: it was told to go from there to there.
    stayed: usize,
}

impl Left {
    /// How often it went anywhere.
    const fn away(&self) -> usize {
        self.to_tool + self.to_thinking + self.elsewhere
    }

    /// Takes one that may tell of `verdict`; whether there was one.
    fn tells(&mut self, verdict: Verdict) -> bool {
        let counts = match verdict {
            Verdict::Accept => [
                &mut self.to_tool,
                &mut self.elsewhere,
                &mut self.to_thinking,
            ],
            Verdict::Reject | Verdict::Withdraw => {
                [&mut self.to_thinking, &mut self.elsewhere, &mut 0]
            }
            // AAEP-A.5-1: away, wherever that is.
            Verdict::Answer => [
                &mut self.to_thinking,
                &mut self.elsewhere,
                &mut self.to_tool,
            ],
        };
        takes_one(counts)
    }
}

/// Takes one from the first that is not 0; whether there was one.
fn takes_one<'a>(counts: impl IntoIterator<Item = &'a mut usize>) -> bool {
    let count = counts.into_iter().find(|count| **count > 0);
    count.map(|count| *count -= 1).is_some()
}

impl Look<'_> {
    // AAEP-6.1-2, AAEP-6.1-3, AAEP-6.7.2-1, AAEP-6.8-3, AAEP-A.4-2: each resolution is told by a transition
    // of its own out of awaiting_input, a rejection or withdrawal not by one to calling_tool.
    pub(super) fn outcomes_were_told(&mut self) {
        let left = self.duties.leaving.iter().map(|(session, _)| *session);
        let resolved = self
            .duties
            .resolutions
            .iter()
            .map(|resolution| resolution.session);
        let mut sessions: Vec<u32> = left.chain(resolved).collect();
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            if !self.is_settled(session) && self.outcomes_were_told_in(session) {
                self.state_follows(session);
            }
        }
    }

    /// Whether every resolution in `session` was told, and nothing else was told as one.
    fn outcomes_were_told_in(&mut self, session: u32) -> bool {
        let mut left = self.left(session);
        let mut resolutions = self.duties.resolutions.clone();
        resolutions.retain(|resolution| resolution.session == session);
        // Those that only some transitions can tell take their pick first, and those that need not be told last.
        resolutions.sort_by_key(|resolution| {
            (
                resolution.owes != Owes::All,
                matches!(resolution.verdict, Verdict::Accept | Verdict::Answer),
            )
        });
        let stays = self.reading.state_while_asked == StateWhileAsked::LeavesWithLast;
        let mut all_told = !stays || self.last_alone_leaves(session, &mut left, &resolutions);
        let ends = |resolution: &Resolution| resolution.cause == Cause::SessionEnd;
        let leaves = |it: &&Resolution| !ends(it) && (!stays || it.verdict == Verdict::Withdraw);
        for resolution in resolutions.iter().filter(leaves) {
            if !left.tells(resolution.verdict) && resolution.owes == Owes::All {
                self.outcome_was_not_told(resolution);
                all_told = false;
            }
        }
        // AAEP-6.8-2: a session that is completed or errored withdraws its questions by an event first.
        let withdraws = resolutions
            .iter()
            .any(|resolution| ends(resolution) && resolution.owes == Owes::All);
        if withdraws && !left.tells(Verdict::Withdraw) {
            let text = format!("the open questions of s{session} must be withdrawn before its end");
            self.conformance("AAEP-6.8-3", &["AAEP-6.8-2"], text);
        }
        all_told && !self.told_without_outcome(session, &left)
    }

    // AAEP-A.2-2, by the reading that stays in awaiting_input while a question is open: the last resolution alone leaves it (AAEP-A.4-2).
    // A rejection is told all the same (AAEP-6.1-3); an acceptance is by its tool.invoked, and an answer is the host's.
    fn last_alone_leaves(
        &mut self,
        session: u32,
        left: &mut Left,
        resolutions: &[Resolution],
    ) -> bool {
        let withdrawn = |resolution: &Resolution| resolution.verdict == Verdict::Withdraw;
        let withdraws = resolutions.iter().filter(|it| withdrawn(it)).count();
        let resolved = || resolutions.iter().filter(|it| !withdrawn(it));
        let owed = |it: &&Resolution| it.owes == Owes::All;
        let last_leaves = withdraws == 0 && !self.waited(session);
        let has_left = left.away() > 0;
        let mut may_leave = last_leaves;
        let mut all_told = true;
        for resolution in resolved() {
            let stayed = takes_one([&mut left.stayed]);
            let leaves = !stayed && may_leave && left.tells(resolution.verdict);
            may_leave &= !leaves;
            let rejects = resolution.verdict == Verdict::Reject;
            if rejects && !stayed && !leaves && resolution.owes == Owes::All {
                self.outcome_was_not_told(resolution);
                all_told = false;
            }
        }
        if !all_told {
            return false;
        }
        if last_leaves && !has_left && resolved().any(|it| owed(&it)) {
            let text = format!("s{session} must leave awaiting_input: no question of it is open");
            self.conformance("AAEP-A.4-2", &["AAEP-A.5-1", "AAEP-A.7.6-1"], text);
            return false;
        }
        // AAEP-6.1-4: whoever asks or works besides has other reasons to leave.
        let is_free = self.asks_in(session) || self.session_of_work() == Some(session);
        let leaves = left.away() > usize::from(may_leave) + withdraws;
        if resolved().any(|it| owed(&it)) && leaves && !is_free {
            let text = format!("s{session} must stay in awaiting_input: a question of it is open");
            self.conformance("AAEP-A.2-2", &[], text);
            return false;
        }
        true
    }

    /// Whether a question of `session` waits that was not asked by this call.
    fn waited(&self, session: u32) -> bool {
        let is_new = |token: u32| {
            self.asks_in(session)
                && self.outputs.iter().any(|output| {
                    matches!(output, Output::Emit(event) if event.body.asks().is_some_and(|(asked, _)| asked == token))
                })
        };
        let mut open = self.account.sessions[&session].open.iter();
        open.any(|&token| !is_new(token))
    }

    fn left(&self, session: u32) -> Left {
        let mut left = Left::default();
        for (_, to) in self
            .duties
            .leaving
            .iter()
            .filter(|(name, _)| *name == session)
        {
            match to {
                State::CallingTool => left.to_tool += 1,
                State::Thinking | State::Deciding => left.to_thinking += 1,
                State::AwaitingInput => left.stayed += 1,
                State::Idle | State::WritingOutput | State::HandingOff | State::Other(_) => {
                    left.elsewhere += 1;
                }
            }
        }
        left
    }

    fn outcome_was_not_told(&mut self, resolution: &Resolution) {
        let Resolution {
            token,
            session,
            action,
            verdict,
            cause,
            ..
        } = *resolution;
        if verdict == Verdict::Accept {
            let text = format!("s{session} must leave awaiting_input when c{token} was accepted");
            return self.conformance("AAEP-A.4-2", &["AAEP-6.7.2-1", "AAEP-A.7.6-1"], text);
        }
        if verdict == Verdict::Answer {
            let text = format!("s{session} must leave awaiting_input when c{token} was answered");
            return self.conformance("AAEP-A.5-1", &["AAEP-6.1-9", "AAEP-A.4-2"], text);
        }
        self.goes_astray(token);
        match cause {
            Cause::Timeout => {
                let text = format!("c{token} must be rejected when its timeout elapsed");
                let also = &["AAEP-6.1-2", "AAEP-6.1-3", "AAEP-A.4-2", "AAEP-A.7.6-1"];
                self.guarantee("AAEP-6.4-1", also, text);
            }
            Cause::Closing => {
                let text = format!(
                    "c{token} must be rejected when the last subscription that could answer it closed"
                );
                self.conformance("AAEP-EV-11", &["AAEP-6.1-3", "AAEP-A.4-2"], text);
            }
            Cause::Unanswerable => {
                let text =
                    format!("c{token} must be rejected when it was asked: nobody can answer");
                self.conformance("AAEP-EV-16", &["AAEP-6.1-3", "AAEP-A.4-2"], text);
            }
            Cause::Cancel | Cause::SessionEnd => {
                let text = format!(
                    "c{token} must be withdrawn by a state.changed to thinking or deciding"
                );
                self.conformance("AAEP-6.8-3", &["AAEP-A.4-2"], text);
            }
            Cause::Modified => {
                let text = format!("the reply to c{token} must count as a reject of a{action}");
                let clause = if self.declared.modified_action {
                    "AAEP-6.3.2-3"
                } else {
                    "AAEP-6.3.2-4"
                };
                self.conformance(clause, &["AAEP-6.1-3", "AAEP-A.4-2"], text);
            }
            Cause::Reply => {
                let text = format!(
                    "an event must show that a{action} was rejected by the reply to c{token}"
                );
                let also = &["AAEP-6.1-2", "AAEP-6.6-4", "AAEP-A.4-2", "AAEP-A.7.6-1"];
                self.conformance("AAEP-6.1-3", also, text);
            }
        }
    }

    /// Whether `session` was told to leave `awaiting_input` as if a question were resolved, and none was.
    fn told_without_outcome(&mut self, session: u32, left: &Left) -> bool {
        let open = &self.account.sessions[&session].open;
        let of_session = |token: &u32| open.contains(token);
        let ignored = self
            .duties
            .ignored
            .filter(|failed| failed.token.as_ref().is_some_and(of_session));
        // AAEP-6.1-4: work that does not depend on the answer goes on, so that a tool may be called or output written; and
        // whoever asks anew may think between two questions.
        let elsewhere = if ignored.is_some() {
            left.stayed + left.to_tool + left.elsewhere
        } else {
            0
        };
        let as_if = left.to_thinking + elsewhere;
        let token = ignored
            .and_then(|failed| failed.token)
            .or_else(|| open.iter().copied().find(|&it| self.waits_longer(it)))
            .or_else(|| open.first().copied());
        let Some(token) = token.filter(|_| as_if > 0 && !self.asks_in(session)) else {
            return false;
        };
        self.goes_astray(token);
        if let Some(failed) = ignored {
            let text = format!("c{token} must stay open: the reply {}", failed.why);
            self.finds(Kind::Conformance, failed.clause, failed.also, text);
            return true;
        }
        let (clause, why) = self.why_it_stays_open(token);
        let text = format!("c{token} must stay open: {why}");
        // AAEP-A.9-2: what is decided in another session moves this one nowhere.
        let mut resolutions = self.duties.resolutions.iter();
        let also: &[_] = if resolutions.any(|resolution| resolution.session != session) {
            &["AAEP-A.2-2", "AAEP-A.9-2"]
        } else if clause == "AAEP-6.4.2-3" {
            &["AAEP-A.2-2", "AAEP-6.4-1"]
        } else {
            &["AAEP-A.2-2"]
        };
        self.conformance(clause, also, text);
        true
    }

    /// Whether the call asks something anew in `session`.
    fn asks_in(&self, session: u32) -> bool {
        self.session_asked_in() == Some(session)
    }

    /// The session in which the call asks something anew.
    pub(super) const fn session_asked_in(&self) -> Option<u32> {
        match self.call {
            Call::Confirm(confirm) => Some(confirm.session),
            Call::Clarify(clarify) => Some(clarify.session),
            Call::StartSession { .. }
            | Call::Subscribe { .. }
            | Call::Unsubscribe { .. }
            | Call::Deliver(_)
            | Call::Cancel { .. }
            | Call::Extend { .. }
            | Call::Tool(_)
            | Call::Output(_)
            | Call::Handoff(_)
            | Call::FinishTool { .. }
            | Call::EndSession { .. }
            | Call::Tick
            | Call::Restart { .. } => None,
        }
    }

    fn why_it_stays_open(&self, token: u32) -> (&'static str, &'static str) {
        match self.call {
            Call::Unsubscribe { .. } => ("AAEP-EV-11", "this closing does not apply its default"),
            Call::Cancel { .. } => ("AAEP-6.8-3", "another question was withdrawn"),
            Call::EndSession { .. } => ("AAEP-6.8-2", "another session ended"),
            Call::StartSession { .. }
            | Call::Subscribe { .. }
            | Call::Confirm(_)
            | Call::Clarify(_)
            | Call::Deliver(_)
            | Call::Extend { .. }
            | Call::Tool(_)
            | Call::Output(_)
            | Call::Handoff(_)
            | Call::FinishTool { .. }
            | Call::Tick
            | Call::Restart { .. } => {
                let question = self.account.questions.get(&token);
                let clause = match question.map(Question::kind) {
                    Some(_) if self.waits_longer(token) => "AAEP-6.4.2-3",
                    Some(QuestionKind::Clarification) => "AAEP-6.1-8",
                    Some(QuestionKind::Confirmation) | None => "AAEP-6.4-1",
                };
                (clause, "its timeout has not elapsed")
            }
        }
    }

    // AAEP-A.2-2, AAEP-A.3-3: after a resolution the session awaits input while a question is open, and
    // else calls a tool while one runs.
    pub(super) fn state_follows(&mut self, name: u32) {
        let resolved = self
            .duties
            .resolutions
            .iter()
            .any(|resolution| resolution.session == name && resolution.owes == Owes::All);
        let Some(session) = self.account.sessions.get(&name) else {
            return;
        };
        if !resolved || session.ended {
            return;
        }
        if !session.open.is_empty() {
            if !session.is_in(State::AwaitingInput) {
                let text = format!("s{name} must await input again: a question of it is open");
                self.conformance("AAEP-A.2-2", &["AAEP-A.4-2"], text);
            }
        } else if !session.running.is_empty() && !session.is_in(State::CallingTool) {
            let text = format!("s{name} must be in calling_tool: a tool of it runs");
            self.conformance("AAEP-A.3-3", &["AAEP-6.7.2-2"], text);
        }
    }
}
