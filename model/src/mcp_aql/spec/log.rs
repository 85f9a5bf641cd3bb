//! Sections 6.3 and 6.4: what is logged, and what an answer tells.

use crate::engine::clause::{Clause, Clauses};
use crate::engine::fact::Fact;
use crate::engine::obligation::{Force, Obligation};
use crate::engine::protocol::Step;
use crate::mcp_aql::account::is_written;
use crate::mcp_aql::alphabet::{Answer, Code, Entry, Event, INTROSPECT, Name, Output, Shown};
use crate::mcp_aql::clauses::{A4_2_1, A6_3_1, A6_3_2, A6_4_1};
use crate::mcp_aql::spec::{Binding, Effect, Failed, Hole, Holes, McpAql, Turn};

impl Turn<'_, '_> {
    // ── Section 6.4: the log ──

    /// An entry, by each of these clauses.
    pub(super) fn log(
        &mut self,
        clauses: Clauses,
        force: Force,
        entry: Entry,
        place: Option<usize>,
        effect: Effect,
    ) -> &mut Obligation<McpAql> {
        let is_due = clauses.iter().all(|it| self.step.enforces(*it));
        let (force, holes) = (
            if is_due { force } else { Force::Allowed },
            self.holes(Hole::Entry),
        );
        let entry = self.entry(entry, place);
        let entry = self
            .step
            .add(clauses, Output::Audit(entry), force)
            .any(holes);
        entry.bind(Binding::Logged(place, effect))
    }

    /// The same about a query: it names the query, or what the token is for.
    pub(super) fn log_query(&mut self, force: Force, entry: Entry, adapter: Name, shown: Shown) {
        let mut holes = self.holes(Hole::Entry);
        holes.asked = Some(adapter);
        let place = self.known(shown);
        self.log(&[A6_4_1], force, entry, place, Effect::Nothing)
            .any(holes);
    }

    /// That a query came to nothing: it names what the token is for, where that is known.
    pub(super) fn entry_of_query(
        &self,
        event: Event,
        adapter: Name,
        place: Option<usize>,
    ) -> Entry {
        let token = place.and_then(|it| self.step.account.tokens.get(it));
        let unknown = Entry {
            at: self.step.account.times.greatest,
            event,
            is_success: false,
            token: None,
            operation: Some(INTROSPECT),
            adapter: Some(adapter),
            session: None,
        };
        token.map_or(unknown, |it| it.call.entry(event, false))
    }

    /// With the time, and the id that a gatekeeper has for the token.
    fn entry(&self, entry: Entry, place: Option<usize>) -> Entry {
        let token = place.and_then(|it| self.step.account.tokens.get(it));
        let id = token.map_or(Name::MAX, |it| it.logged.unwrap_or(it.id));
        Entry {
            at: self.step.account.times.greatest,
            token: Some(id),
            ..entry
        }
    }
}

/// An entry of the log: it names the token by an id that no other has.
pub(super) fn logged(
    step: &mut Step<'_, McpAql>,
    place: Option<usize>,
    effect: Effect,
    it: &Entry,
) -> Result<(), Clauses> {
    let owner = it.token.and_then(|id| {
        step.account
            .tokens
            .iter()
            .position(|token| token.logged == Some(id))
    });
    let is_right = match (effect, place) {
        // What names a token is about that one.
        (Effect::MayRevoke { .. }, _) => owner.is_none(),
        (_, None) => it.token.is_some() && owner.is_none(),
        (_, Some(place)) => {
            let known = step.account.tokens.get(place).and_then(|it| it.logged);
            it.token.is_some() && known.map_or(owner.is_none(), |known| it.token == Some(known))
        }
    };
    if !is_right {
        return step.check(A6_4_1, false).map_err(Clause::alone);
    }
    if let Effect::MayRevoke { adapter, session } = effect {
        for it in &mut step.account.tokens {
            let own = it.call.session.map(|it| it.name);
            let is_its = adapter.is_none_or(|name| it.call.adapter.name == name);
            if is_its && (session.is_none() || own == session) {
                it.revoked = it.revoked.max(Fact::Perhaps);
            }
        }
    }
    if let Some(token) = place.and_then(|it| step.account.tokens.get_mut(it)) {
        token.logged = it.token;
        match effect {
            Effect::Revokes => (token.revoked, token.is_told_revoked) = (Fact::Yes, true),
            Effect::MayUse => token.may_be_used(),
            Effect::Nothing | Effect::MayRevoke { .. } => {}
        }
    }
    Ok(())
}

/// What was allowed has happened, and is logged.
pub(super) fn must_log(step: &mut Step<'_, McpAql>, event: Event) {
    let variant = step.variant;
    for it in &mut step.open {
        let is_its = matches!(it.output, Output::Audit(entry) if entry.event == event);
        let is_in_force = it.clauses.iter().all(|it| variant.enforces(*it));
        if is_its && is_in_force && !it.clauses.is_empty() {
            it.force = Force::Due;
        }
    }
}

/// A failure says what is so (AQL-4.2-1), and no more (AQL-6.3-1). Where its form is bound it is that of every failure
/// before (AQL-6.3-2).
pub(super) fn told(
    step: &mut Step<'_, McpAql>,
    of: Failed,
    answer: &Answer,
    is_bound: bool,
) -> Result<(), Clauses> {
    let check =
        |step: &Step<'_, McpAql>, clause, holds| step.check(clause, holds).map_err(Clause::alone);
    let shape = match answer {
        Answer::Failed(it) => {
            let ends = |at| {
                of.expires_at
                    .is_some_and(|expires_at| is_written(expires_at, at))
            };
            let is_now = it
                .current_time
                .is_none_or(|at| step.account.times.contains(at));
            check(
                step,
                A4_2_1,
                it.is_whole && it.expired_at.is_none_or(ends) && is_now,
            )?;
            check(step, A6_3_1, !it.exposes_parameters)?;
            Some(it.shape).filter(|_| it.code == Code::Invalid)
        }
        Answer::Revoked(it) | Answer::Status(it) => Some(it.shape),
        Answer::Issued(_)
        | Answer::Unreadable
        | Answer::Limited
        | Answer::Full
        | Answer::Other(_) => None,
    };
    let shapes = step.account.adapter_mut(of.adapter).shapes.get_mut(of.kind);
    let (Some(shape), Some(shapes), true) = (shape, shapes, is_bound) else {
        return Ok(());
    };
    if shapes.contains(&shape) {
        return Ok(());
    }
    shapes.push(shape);
    let is_first = shapes.len() == 1;
    check(step, A6_3_2, is_first)
}

impl Holes {
    pub(super) fn fill_entry(self, expected: &mut Entry, it: &Entry) {
        if self.kind == Hole::Every {
            *expected = Entry {
                event: expected.event,
                is_success: expected.is_success,
                ..*it
            };
            return;
        }
        if self.times.contains(it.at) {
            expected.at = it.at;
        }
        expected.token = it.token;
        expected.session = it.session.and(expected.session);
        if let Some(asked) = self.asked {
            if it.operation == Some(INTROSPECT) {
                expected.operation = it.operation;
            }
            if it.adapter == Some(asked) {
                expected.adapter = it.adapter;
            }
            expected.session = it.session;
        }
    }
}
