//! 6.4.2 and 6.4.3: how long a question waits, more time for it, and the countdown.
//!
//! The one thing to know: nothing is kept for the countdown. What passes between one call and the next are the moments of the questions that
//! wait, and those follow from their deadlines and timeouts.

use super::account::{Phase, Question};
use super::call::{Confirm, Event, Risk};
use super::chapter_6::cannot_wait;
use super::{Ground, Look};

/// That so much time is left, which is to be told.
pub(super) struct Time {
    session: u32,
    token: u32,
    deadline: i64,
    why: Why,
}

/// An extension that is not to be, of a question by this token.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub token: u32,
}

/// Why it is to be told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    Countdown,
    Extended,
}

/// 6.4.2: extensions.
impl Look<'_> {
    // AAEP-6.4.2-3: a question that waits is given more time, not less. AAEP-EV-5: a day at most.
    pub(super) fn ground_against_extending(&self, token: u32, timeout: i64) -> Ground {
        let ground = self.ground_unless_open(token, "AAEP-6.4.2-3");
        let question = self.account.questions.get(&token);
        let (Ground::None, Some(question)) = (&ground, question) else {
            return ground;
        };
        if let Some(clause) = cannot_wait(question.asked_at(), timeout) {
            Ground::Must(clause)
        } else if timeout <= question.timeout_seconds {
            Ground::Must("AAEP-6.4.2-3")
        } else if self.declared.extend {
            Ground::None
        } else {
            // A SHOULD of one that does not declare it.
            Ground::May
        }
    }

    // AAEP-6.4.2-2, AAEP-6.4.2-3: whoever asks for more time gets it, counted from when the question was asked; the deadline of check 4
    // (AAEP-6.3.4-4) and of the timeout (AAEP-6.4-1) is one.
    pub(super) fn question_gets_time(&mut self, token: u32, timeout: i64) {
        let Some(question) = self.account.questions.get_mut(&token) else {
            return;
        };
        if question.phase != Phase::Open {
            return;
        }
        let before = question.deadline;
        let asked_at = question.asked_at();
        question.timeout_seconds = timeout;
        question.deadline = asked_at.saturating_add(timeout.saturating_mul(1000));
        let (session, deadline) = (question.session, question.deadline);
        self.account.deadlines.remove(&(before, token));
        self.account.deadlines.insert((deadline, token));
        self.duties.time.push(Time {
            session,
            token,
            deadline,
            why: Why::Extended,
        });
    }

    /// AAEP-6.4.2-3: whether a question waits only because it was given more time.
    pub(super) fn waits_longer(&self, token: u32) -> bool {
        let question = self.account.questions.get(&token);
        question.is_some_and(|it| it.waits_longer(self.account.clock))
    }
}

/// 6.4.3: the countdown.
impl Look<'_> {
    // AAEP-6.4.3-1, AAEP-6.4.3-4: of a question that waits for over a minute it is told when half and when a tenth of its time is left;
    // where both have passed since the call before, once.
    pub(super) fn pass_moments(&mut self) {
        if !self.declared.progress {
            return;
        }
        let (before, now) = (self.before, self.account.clock);
        let passes = |moment: i64| before < moment && moment <= now;
        for &(deadline, token) in &self.account.deadlines {
            let Some(question) = self.account.questions.get(&token) else {
                continue;
            };
            let waits = question.phase == Phase::Open && deadline > now;
            if waits && moments(question).into_iter().flatten().any(passes) {
                self.duties.time.push(Time {
                    session: question.session,
                    token,
                    deadline,
                    why: Why::Countdown,
                });
            }
        }
    }

    // AAEP-6.4.3-1: more of it is free. One that does not say how many milliseconds are left may say it in words.
    pub(super) fn progress_comes(&mut self, event: &Event, left: Option<i64>) {
        let now = self.account.clock;
        let told = |time: &Time| {
            let is_right = |left| {
                time.deadline.checked_sub(now) == Some(left)
                    || time.deadline.checked_sub(event.at) == Some(left)
            };
            time.session == event.session && left.is_none_or(is_right)
        };
        if let Some(position) = self.duties.time.iter().position(told) {
            self.duties.time.remove(position);
        } else {
            self.duties.wrong_time.push(event.session);
            self.stretch_is_told(event, left);
        }
    }

    // AAEP-6.4.2-3: what is said in answer to an extension that was to be refused, and is the time left of no question that waits, says that
    // it was carried out.
    fn stretch_is_told(&mut self, event: &Event, left: Option<i64>) {
        let (Some(Stretch { token }), Some(left)) = (self.duties.stretch, left) else {
            return;
        };
        let now = self.account.clock;
        let is_left_of = |question: &Question| {
            let waits = question.phase == Phase::Open && question.session == event.session;
            let until = |from: i64| question.deadline.checked_sub(from);
            waits && (until(now) == Some(left) || until(event.at) == Some(left))
        };
        let named = self.account.questions.get(&token);
        let elsewhere = named.is_some_and(|question| question.session != event.session);
        if elsewhere || self.account.questions.values().any(is_left_of) {
            return;
        }
        self.duties.stretch = None;
        self.goes_astray(token);
        let text = format!("c{token} must not get another timeout: the producer must refuse it");
        self.conformance("AAEP-6.4.2-3", &[], text);
    }

    pub(super) fn time_was_told(&mut self) {
        for time in std::mem::take(&mut self.duties.time) {
            let Time {
                session,
                token,
                deadline,
                why,
            } = time;
            let left = deadline.saturating_sub(self.account.clock);
            let text = format!("a progress.updated must tell that c{token} has {left} ms left");
            match why {
                Why::Extended => {
                    self.goes_astray(token);
                    self.conformance("AAEP-6.4.2-3", &["AAEP-6.4.2-2"], text);
                }
                Why::Countdown if self.duties.wrong_time.contains(&session) => {
                    self.conformance("AAEP-6.4.3-1", &["AAEP-6.4.3-4"], text);
                }
                Why::Countdown => self.conformance("AAEP-6.4.3-4", &["AAEP-6.4.3-1"], text),
            }
        }
    }
}

/// When half and when a tenth of the time of a long question is left.
fn moments(question: &Question) -> [Option<i64>; 2] {
    const LONG: i64 = 60;
    let is_long = question.timeout_seconds > LONG;
    // In milliseconds, so that both are whole.
    let from_asked = |share: i64| question.asked_at() + question.timeout_seconds * share;
    [500, 900].map(|share| is_long.then(|| from_asked(share)))
}

/// AAEP-6.4.2-1: what is recommended; judged where the judge is asked for advice.
impl Look<'_> {
    pub(super) fn timeout_is_recommended(&mut self, token: u32, timeout: i64, confirm: &Confirm) {
        let (shortest, longest) = match (confirm.risk, confirm.irreversible) {
            (Risk::High, true) => (180, 600),
            (Risk::Medium, true) => (60, 180),
            (Risk::Low, false) => (30, 90),
            (Risk::High | Risk::Medium, false) | (Risk::Low, true) => return,
        };
        self.is_recommended(token, timeout, shortest, longest);
    }

    pub(super) fn clarification_has_time(&mut self, token: u32, timeout: i64) {
        self.is_recommended(token, timeout, 60, 300);
    }

    fn is_recommended(&mut self, token: u32, timeout: i64, shortest: i64, longest: i64) {
        if self.advises && !(shortest..=longest).contains(&timeout) {
            let text = format!("c{token} had better wait for {shortest} to {longest} seconds");
            self.conformance("AAEP-6.4.2-1", &[], text);
        }
    }
}
