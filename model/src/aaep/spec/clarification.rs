//! Clarifications: 6.1, 6.5 and A.5, in the order of the text.

use std::sync::Arc;

use smallvec::SmallVec;

use super::confirmation::{EVENT_BYTES, TEXT_BYTES};
use super::{Binding, To, Turn};
use crate::aaep::account::Phase;
use crate::aaep::alphabet::{
    By, Clarified, Kind, Output, Queried, Query, Response, State, Subject, Text, Time, Token,
};
use crate::aaep::clauses::{
    A_5_1, A_5_2, C6_1_7, C6_1_9, C6_5_2_1, C6_5_2_2, C6_5_5_2, C6_5_5_3, C6_5_5_4, EV_5, EV_10,
};
use crate::aaep::readings::{ChoicesBesideFreetext, DefaultResponseAbsent, KindsAbsent};
use crate::engine::clause::Clauses;
use crate::engine::obligation::Force;

/// So many choices there are at least, and at most.
const CHOICES: std::ops::RangeInclusive<usize> = 2..=32;

impl Turn<'_, '_> {
    // ── 6.1 The blocking contract ──

    /// AAEP-6.1-9: a clarification has the contract of a confirmation.
    pub(super) fn clarify(&mut self, query: &Arc<Query>) -> Result<(), Clauses> {
        self.offer();
        self.can_be_queried(query)?;
        if let Some(evaded) = self.evades() {
            return evaded;
        }
        let pending = self.step.account.questions_in(query.session, Phase::Open);
        let pending = pending
            .into_iter()
            .filter_map(|it| self.question(it)?.subject.query());
        let alike: Vec<bool> = pending
            .filter(|it| it.question.name == query.question.name)
            .map(|it| it.kinds == query.kinds && it.choices == query.choices)
            .collect();
        self.check(C6_1_9, !alike.contains(&true))?;
        // What makes two questions the same is open, but for two that are the same in all that is asked.
        if !alike.is_empty() && self.step.enforces(C6_1_9) && self.step.choose(2) == 0 {
            return Err(C6_1_9.alone());
        }
        // "(need clarification) … state changes to awaiting_input"
        self.put(&Subject::Words(Arc::clone(query)), &[A_5_1]);
        Ok(())
    }

    /// Its session goes on, and an event can hold it.
    fn can_be_queried(&mut self, query: &Query) -> Result<(), Clauses> {
        self.goes_on(query.session)?;
        let choices = query.choices.as_deref().unwrap_or_default();
        let named: Vec<Text> = choices
            .iter()
            .flat_map(|(value, label)| [*value, *label])
            .chain([query.question])
            .collect();
        self.check(EV_5, !named.iter().any(|it| it.is_blank || it.bytes == 0))?;
        let mut all = named.iter().chain(&query.default);
        self.check(
            EV_10,
            all.all(|it| it.bytes <= TEXT_BYTES) && query.size <= EVENT_BYTES,
        )?;
        self.may_be_too_large(query.size)?;
        self.can_wait(query.timeout)?;
        let kinds = query.kinds.as_deref();
        self.check(
            EV_5,
            kinds.is_none_or(|it| !it.is_empty() && are_different(it)),
        )?;
        let values: Vec<_> = choices.iter().map(|it| it.0.name).collect();
        let is_list = query.choices.is_none() || CHOICES.contains(&values.len());
        self.check(EV_5, is_list && are_different(&values))?;
        let needs_choices = kinds.is_some_and(|it| it.contains(&Kind::MultipleChoice));
        self.check(EV_5, query.choices.is_some() || !needs_choices)
    }

    // ── 6.5 The clarification.reply message ──

    /// AAEP-6.5.5-2, AAEP-6.5.5-3: the response is of a kind that is asked for, and a choice one that is listed. What a reply
    /// answers; nothing where it gives the question up.
    pub(super) fn answers(
        &mut self,
        query: &Query,
        response: Response,
    ) -> Result<Option<Response>, Clauses> {
        // AAEP-6.1-7 left out: nobody listens.
        if !self.step.enforces(C6_1_7) && self.step.choose(2) == 1 {
            return Err(&[]);
        }
        match self.fits(query, response) {
            Ok(()) => Ok(Some(response)),
            // AAEP-6.5.5-4: such a reply is none, and the question waits on.
            Err(clauses) if self.step.enforces(C6_5_5_4) => Err(clauses),
            Err(_) => Ok(None),
        }
    }

    fn fits(&self, query: &Query, response: Response) -> Result<(), Clauses> {
        let reading = self.reading();
        let kinds = match query.kinds.as_deref() {
            None if reading.kinds_absent == KindsAbsent::Freetext => Some(&[Kind::Freetext][..]),
            // AAEP-6.5.2-2: any kind that is listed is taken.
            Some(kinds) if !self.step.enforces(C6_5_2_2) => kinds.get(..1),
            kinds => kinds,
        };
        let takes = |kind| kinds.is_none_or(|it| it.contains(&kind));
        let is_listed = kinds.is_some() && takes(Kind::MultipleChoice);
        let is_of_type = match response {
            Response::Text(_) => takes(Kind::Freetext) || is_listed,
            Response::Truth(_) => takes(Kind::YesNo),
            Response::Number(_) => takes(Kind::Numeric),
            Response::Other(_) => false,
        };
        self.check_each(&[C6_5_5_2, C6_5_2_1], is_of_type)?;
        let is_free = !is_listed
            || takes(Kind::Freetext)
                && reading.choices_beside_freetext == ChoicesBesideFreetext::Free;
        let mut choices = query.choices.iter().flatten();
        let is_choice = match response {
            Response::Text(name) => is_free || choices.any(|it| it.0.name == name),
            Response::Truth(_) | Response::Number(_) | Response::Other(_) => true,
        };
        self.check(C6_5_5_3, is_choice)
    }

    // ── A.5 Clarification state machine ──

    /// "process response", then "resumes thinking".
    pub(super) fn answer(&mut self, which: usize, response: Option<Response>, by: By) {
        let Some((session, token)) = self.question(which).map(|it| (it.session(), it.token)) else {
            return;
        };
        self.becomes(which, Phase::Answered);
        if self.tells(session) {
            self.change(
                &[A_5_1],
                session,
                State::Thinking,
                To::Away,
                Binding::Changed,
            );
            self.go_on(session);
        }
        let answer = Clarified {
            session,
            token: token.unwrap_or(Token::MAX),
            response,
            by,
        };
        self.add(
            &[C6_1_7],
            Force::Due,
            Output::Answer(answer),
            Binding::Answered(answer),
        );
    }

    /// AAEP-A.5-2: the default response, where there is one.
    pub(super) fn default_answer(&mut self, which: usize, query: &Query) {
        let default = query.default.filter(|_| self.step.enforces(A_5_2));
        let waits = self.reading().default_response_absent == DefaultResponseAbsent::Waits;
        match default {
            Some(text) => self.answer(which, Some(Response::Text(text.name)), By::Default),
            None if waits && query.default.is_none() => {}
            None => self.answer(which, None, By::Nobody),
        }
    }
}

/// Whether no two are equal.
pub(super) fn are_different<T: PartialEq>(all: &[T]) -> bool {
    (1..all.len()).all(|end| {
        all.get(..end)
            .zip(all.get(end))
            .is_some_and(|(earlier, it)| !earlier.contains(it))
    })
}

/// The event that asks it.
pub(super) fn event_of(query: &Query, at: Time, token: Token) -> Queried {
    let names = |it: &(Text, Text)| (it.0.name, it.1.name);
    Queried {
        at,
        token,
        question: query.question.name,
        timeout: query.timeout,
        kinds: query.kinds.clone(),
        choices: query
            .choices
            .as_ref()
            .map(|it| it.iter().map(names).collect()),
        default: query.default.map(|it| it.name),
    }
}

/// Whether an event asks what was to be asked.
pub(super) fn queries(query: &Query, queried: &Queried) -> bool {
    let asked = event_of(query, queried.at, queried.token);
    let is_listed = |kinds: &SmallVec<[Kind; 2]>| {
        let count = query.kinds.as_ref().map_or(0, SmallVec::len);
        count == kinds.len()
            && kinds
                .iter()
                .all(|it| query.kinds.iter().flatten().any(|own| own == it))
    };
    // In any order.
    let is_of_kinds = queried
        .kinds
        .as_ref()
        .map_or(query.kinds.is_none(), is_listed);
    let kinds = queried.kinds.clone();
    is_of_kinds && Queried { kinds, ..asked } == *queried
}
