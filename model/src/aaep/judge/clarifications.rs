//! Clarifications: 6.5, A.5, and the blocking contract as far as it is theirs (6.1-7 to 6.1-9).
//!
//! The one thing to know: what a question shares with a confirmation is judged with it: tokens, checks 1 to 5, deadlines, withdrawals, the
//! end of a session, restarts. Here is what is a clarification's own: what may be asked, which response fits, and the answer that
//! the host gets of it.

use std::collections::BTreeSet;

use super::account::{About, Cause, Phase, Question, Verdict, Wanted};
use super::call::{Call, Event, Output, QuestionKind};
use super::clarify::{AnsweredBy, Choice, Clarification, Clarify, Response, ResponseKind};
use super::replies::Failed;
use super::{Asked, Ground, Look, What};
use crate::aaep::readings::{ChoicesBesideFreetext, KindsAbsent, Reading};
use crate::judge::Kind;

/// What a clarification takes for a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Takes {
    kinds: BTreeSet<ResponseKind>,
    /// The values of the choices.
    choices: BTreeSet<u32>,
}

/// In which way a response does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// AAEP-6.5.5-2
    Type,
    /// AAEP-6.5.5-3
    Choice,
}

impl Takes {
    /// Where no kinds are given, any string, boolean or number will do; by the reading `kinds-absent` any string.
    fn new(kinds: Option<&[ResponseKind]>, choices: Option<&[Choice]>, reading: Reading) -> Self {
        let any: &[_] = match reading.kinds_absent {
            KindsAbsent::Any => &[
                ResponseKind::Freetext,
                ResponseKind::YesNo,
                ResponseKind::Numeric,
            ],
            KindsAbsent::Freetext => &[ResponseKind::Freetext],
        };
        let choices = choices.unwrap_or_default().iter();
        Self {
            kinds: kinds.unwrap_or(any).iter().copied().collect(),
            choices: choices.map(|choice| choice.value).collect(),
        }
    }

    // AAEP-6.5.2-1, AAEP-6.5.2-2: any of the kinds will do. AAEP-6.5.5-3: where only a choice can be a string, it is one of them; by the
    // reading `choices-beside-freetext` wherever it can be a choice.
    pub(super) fn misfit_of(&self, response: Option<Response>, reading: Reading) -> Option<Misfit> {
        let takes = |kind| self.kinds.contains(&kind);
        let bound = reading.choices_beside_freetext == ChoicesBesideFreetext::Bound;
        let free = !(bound && takes(ResponseKind::MultipleChoice));
        let fits = match response {
            Some(Response::Text(_)) if takes(ResponseKind::Freetext) && free => true,
            Some(Response::Text(text)) if takes(ResponseKind::MultipleChoice) => {
                return (!self.choices.contains(&text)).then_some(Misfit::Choice);
            }
            Some(Response::Boolean(_)) => takes(ResponseKind::YesNo),
            Some(Response::Number(_)) => takes(ResponseKind::Numeric),
            Some(Response::Text(_)) | None => false,
        };
        (!fits).then_some(Misfit::Type)
    }
}

/// What a clarification comes to, as the host is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub session: u32,
    pub token: u32,
    pub response: Option<Response>,
    pub by: AnsweredBy,
}

/// An answer that the host is to get.
pub(super) struct Owed {
    answer: Answer,
    cause: Cause,
    /// Whether it may be left out.
    free: bool,
}

/// 6.1 and 6.5.2: what may be asked, and what the question says.
impl Look<'_> {
    // AAEP-EV-5: what a question has to have. AAEP-6.1-9, after AAEP-6.1-6: the same question is not asked again while it waits.
    pub(super) fn ground_against_clarifying(&self, clarify: &Clarify) -> Ground {
        if let Some(clause) = self.cannot_be_asked(clarify.session, clarify.timeout_seconds) {
            return Ground::Must(clause);
        }
        if let Some(clause) = clarify.out_of_limits {
            return Ground::Must(clause);
        }
        if !is_well_formed(clarify) {
            return Ground::Must("AAEP-EV-5");
        }
        let mut same = self.account.questions.iter().filter(|(_, question)| {
            let asks = question.wanted().map(|wanted| wanted.question);
            question.session == clarify.session && asks == Some(clarify.question)
        });
        if same
            .clone()
            .any(|(&token, question)| self.blocks(token, question))
        {
            Ground::Must("AAEP-6.1-9")
        } else if same.any(|(_, question)| question.phase == Phase::Astray) {
            Ground::May
        } else {
            Ground::None
        }
    }

    pub(super) fn clarification_comes(&mut self, event: &Event, asked: &Clarification) {
        if !self.declared.clarify && !matches!(self.call, Call::Clarify(_)) {
            // One of the producer's own, who does not declare that clarifications are judged.
            return;
        }
        let kind = QuestionKind::Clarification;
        let Some(Asked {
            what: What::Clarify(clarify),
            forbidden,
        }) = self.is_to_come(event.session, asked.token, kind)
        else {
            return;
        };
        let wanted = Wanted {
            question: asked.question,
            takes: Takes::new(
                asked.kinds.as_deref(),
                asked.choices.as_deref(),
                self.reading,
            ),
            default: asked.default,
        };
        let about = About::Answer(Box::new(wanted));
        let question = Question::asked(event, asked.timeout_seconds, about);
        self.account.waits(asked.token, question);
        if let Some(clause) = forbidden {
            let text = format!("q{} must not be asked like this", clarify.question);
            return self.conformance(clause, &[], text);
        }
        self.clarification_says_what_it_should(asked, &clarify);
        self.clarification_has_time(asked.token, asked.timeout_seconds);
        self.input_is_awaited(event.session);
    }

    // AAEP-EV-5: the question shows the user what is asked.
    fn clarification_says_what_it_should(&mut self, asked: &Clarification, clarify: &Clarify) {
        let reading = self.reading;
        let kinds =
            |kinds: &Option<Vec<ResponseKind>>| Takes::new(kinds.as_deref(), None, reading).kinds;
        let choices = |choices: &Option<Vec<Choice>>| -> BTreeSet<Choice> {
            choices.iter().flatten().copied().collect()
        };
        let fields = [
            ("question", asked.question == clarify.question),
            (
                "accepted_response_kinds",
                kinds(&asked.kinds) == kinds(&clarify.kinds),
            ),
            (
                "choices",
                choices(&asked.choices) == choices(&clarify.choices),
            ),
            (
                "timeout_seconds",
                asked.timeout_seconds == clarify.timeout_seconds,
            ),
            ("default_response", asked.default == clarify.default),
        ];
        self.fields_are_as_asked(asked.token, &fields);
    }
}

/// AAEP-EV-5: 1 to 4 different kinds, 2 to 32 choices of different values, and choices where one is to be chosen.
fn is_well_formed(clarify: &Clarify) -> bool {
    let kinds = clarify.kinds.as_deref();
    let choices = clarify.choices.as_deref();
    let differ = |kinds: &[ResponseKind]| {
        let different: BTreeSet<_> = kinds.iter().collect();
        !kinds.is_empty() && different.len() == kinds.len()
    };
    let can_be_chosen = |choices: &[Choice]| {
        let different: BTreeSet<_> = choices.iter().map(|choice| choice.value).collect();
        (2..=32).contains(&choices.len()) && different.len() == choices.len()
    };
    let chooses = kinds.is_some_and(|kinds| kinds.contains(&ResponseKind::MultipleChoice));
    kinds.is_none_or(differ) && choices.is_none_or(can_be_chosen) && (!chooses || choices.is_some())
}

/// 6.1-7, 6.1-8 and A.5: the answer.
impl Look<'_> {
    // AAEP-6.1-7: the reply is honoured: its response is the answer.
    pub(super) fn response_is_the_answer(&mut self, token: u32, response: Option<Response>) {
        self.is_to_be_answered(token, response, AnsweredBy::Reply, Cause::Reply);
    }

    // AAEP-A.5-2: nobody answers: the default response is the answer, as it is and whatever the kinds, where one is set.
    pub(super) fn default_is_the_answer(&mut self, token: u32, cause: Cause) {
        let question = self.account.questions.get(&token);
        let Some(wanted) = question.and_then(Question::wanted) else {
            return;
        };
        let (response, by) = match wanted.default {
            Some(text) => (Some(Response::Text(text)), AnsweredBy::Default),
            None => (None, AnsweredBy::Nobody),
        };
        self.is_to_be_answered(token, response, by, cause);
    }

    fn is_to_be_answered(
        &mut self,
        token: u32,
        response: Option<Response>,
        by: AnsweredBy,
        cause: Cause,
    ) {
        let resolution = self.duties.resolutions.last();
        let Some(resolution) = resolution.filter(|resolution| resolution.token == token) else {
            return;
        };
        let free = resolution.owes == super::Owes::Nothing;
        let session = resolution.session;
        let answer = Answer {
            session,
            token,
            response,
            by,
        };
        self.duties.answers.push(Owed {
            answer,
            cause,
            free,
        });
    }

    pub(super) fn answers(&mut self) {
        for output in self.outputs {
            if let &Output::Answer {
                session,
                token,
                response,
                by,
            } = output
            {
                let answer = Answer {
                    session,
                    token,
                    response,
                    by,
                };
                if !self.answer_comes_again(answer) {
                    self.answer_comes(answer);
                }
            }
        }
    }

    fn answer_comes(&mut self, answer: Answer) {
        let mut owed = self.duties.answers.iter();
        let Some(position) = owed.position(|owed| owed.answer.token == answer.token) else {
            return self.answer_was_not_due(answer);
        };
        let owed = self.duties.answers.remove(position);
        if owed.answer != answer && !owed.free {
            self.answer_is_another(&owed, answer);
        }
    }

    fn answer_is_another(&mut self, owed: &Owed, answer: Answer) {
        let Answer { session, token, .. } = owed.answer;
        if let Some(failed) = self.ignored_for(token)
            && answer.by == AnsweredBy::Reply
        {
            self.said_of(token, session);
            return self.answered_on_ignored_reply(token, failed);
        }
        if answer.session != session {
            let text = format!("the answer to c{token} must be of s{session}");
            return self.conformance("AAEP-6.1-7", &[], text);
        }
        let (clause, what) = match owed.answer.by {
            AnsweredBy::Reply => ("AAEP-6.1-7", "the response of the valid reply"),
            AnsweredBy::Default => ("AAEP-A.5-2", "its default response"),
            AnsweredBy::Nobody => ("AAEP-A.5-2", "that nobody answered: it has no default"),
        };
        let text = format!("the answer to c{token} must be {what}");
        self.conformance(clause, &[], text);
    }

    // AAEP-6.1-8: nothing goes on as if there were an answer before there is one.
    fn answer_was_not_due(&mut self, answer: Answer) {
        let Answer { token, .. } = answer;
        let failed = self.ignored_for(token);
        let question = self.account.questions.get(&token);
        let Some(question) = question.filter(|question| question.wanted().is_some()) else {
            self.goes_astray(token);
            if let Some(failed) = failed {
                return self.answered_on_ignored_reply(token, failed);
            }
            let text = format!("there must be no answer to c{token}: no such thing was asked");
            return self.guarantee("AAEP-6.1-8", &[], text);
        };
        let (session, phase, told) = (question.session, question.phase, question.told);
        match (phase, failed) {
            (Phase::Astray, _) => {}
            (Phase::Open, Some(failed)) => {
                self.goes_astray(token);
                self.answered_on_ignored_reply(token, failed);
            }
            (Phase::Open, None) => {
                self.goes_astray(token);
                self.answered_without_reply(answer, told);
                self.answer_is_to_another();
            }
            (Phase::Resolved { .. }, Some(failed)) => {
                self.said_of(token, session);
                self.answered_on_ignored_reply(token, failed);
            }
            (Phase::Resolved { verdict, cause, .. }, None) => {
                self.said_of(token, session);
                self.answered_though_over(token, verdict, cause);
            }
        }
    }

    fn answered_on_ignored_reply(&mut self, token: u32, failed: Failed) {
        let kind = if failed.by_reading {
            Kind::Conformance
        } else {
            Kind::Guarantee
        };
        let text = format!("c{token} must not be answered: the reply {}", failed.why);
        self.finds(kind, failed.clause, failed.also, text);
    }

    fn answered_without_reply(&mut self, answer: Answer, told: bool) {
        let Answer { token, by, .. } = answer;
        let why = if !told {
            "nobody has seen the question"
        } else if self.decides_another(token) {
            "the reply is to another question"
        } else {
            "no valid reply has come, and its timeout has not elapsed"
        };
        let text = format!("c{token} must not be answered: {why}");
        if by != AnsweredBy::Reply && self.waits_longer(token) {
            return self.guarantee("AAEP-6.4.2-3", &["AAEP-6.1-8", "AAEP-6.1-7"], text);
        }
        self.guarantee("AAEP-6.1-8", &["AAEP-6.1-7"], text);
    }

    /// An answer under the wrong token is taken for the one that the reply is owed.
    fn answer_is_to_another(&mut self) {
        let mut owed = self.duties.answers.iter();
        if let Some(position) = owed.position(|owed| owed.answer.by == AnsweredBy::Reply) {
            let owed = self.duties.answers.remove(position);
            self.goes_astray(owed.answer.token);
        }
    }

    fn answered_though_over(&mut self, token: u32, verdict: Verdict, cause: Cause) {
        let (clause, also, why): (_, &[_], _) = match (verdict, cause) {
            (Verdict::Withdraw, Cause::SessionEnd) => {
                ("AAEP-6.8-2", &["AAEP-6.1-8"], "its session has ended")
            }
            (Verdict::Withdraw, _) => ("AAEP-6.8-4", &["AAEP-6.1-8"], "it was withdrawn"),
            (Verdict::Accept | Verdict::Reject | Verdict::Answer, _) => (
                "AAEP-6.1-7",
                &["AAEP-6.3.5-1", "AAEP-6.5.5-1"],
                "it was answered before",
            ),
        };
        let text = format!("c{token} must not be answered: {why}");
        self.guarantee(clause, also, text);
    }

    // AAEP-6.1-7: reply and timeout are honoured.
    pub(super) fn answers_were_given(&mut self) {
        for owed in std::mem::take(&mut self.duties.answers) {
            if !owed.free {
                self.goes_astray(owed.answer.token);
                self.answer_was_not_given(&owed);
            }
        }
        for lost in std::mem::take(&mut self.duties.untold_answers) {
            let text = format!("the answer to c{} was lost and must come again", lost.token);
            self.conformance("AAEP-6.1-7", &[], text);
        }
    }

    fn answer_was_not_given(&mut self, owed: &Owed) {
        let token = owed.answer.token;
        match owed.cause {
            Cause::Timeout => {
                let text = format!("c{token} must be answered when its timeout elapsed");
                self.guarantee("AAEP-6.1-7", &["AAEP-A.5-2", "AAEP-6.1-9"], text);
            }
            Cause::Closing | Cause::Unanswerable => {
                let text = format!(
                    "c{token} must be answered when the last subscription that could answer it closed"
                );
                self.conformance("AAEP-EV-11", &["AAEP-6.1-7", "AAEP-A.5-2"], text);
            }
            // AAEP-6.5.2-2: whichever of its kinds the response is of.
            Cause::Reply | Cause::Modified | Cause::Cancel | Cause::SessionEnd => {
                let text = format!("c{token} must be answered by the reply: it is valid");
                if self.cannot_have_replied() {
                    return self.conformance("AAEP-6.6-4", &["AAEP-6.1-7", "AAEP-6.5.2-2"], text);
                }
                if self.takes_several(token) {
                    return self.conformance("AAEP-6.5.2-2", &["AAEP-6.1-7", "AAEP-6.6-4"], text);
                }
                self.conformance("AAEP-6.1-7", &["AAEP-6.6-4"], text);
            }
        }
    }

    fn takes_several(&self, token: u32) -> bool {
        let question = self.account.questions.get(&token);
        let wanted = question.and_then(Question::wanted);
        wanted.is_some_and(|wanted| wanted.takes.kinds.len() > 1)
    }

    /// Whether `answer` is one that was lost and comes again.
    fn answer_comes_again(&mut self, answer: Answer) -> bool {
        let mut untold = self.duties.untold_answers.iter();
        let Some(position) = untold.position(|lost| lost.token == answer.token) else {
            return false;
        };
        if self.duties.untold_answers.remove(position) != answer {
            let text = format!(
                "the lost answer to c{} must come again as it was",
                answer.token
            );
            self.conformance("AAEP-6.1-7", &[], text);
        }
        true
    }
}
