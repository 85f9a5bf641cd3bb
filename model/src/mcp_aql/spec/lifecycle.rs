//! Sections 5.1 to 5.4 and 7.3: expiry, revocation and status, the end of sessions, and what an operator sets.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::clause::Clauses;
use crate::engine::fact::Fact;
use crate::engine::obligation::Force;
use crate::mcp_aql::account::{List, Token, Try};
use crate::mcp_aql::alphabet::{
    Answer, Configuration, Entry, Event, EventKind, Name, Oracle, Output, Query, Shown, Text, Time,
    Told,
};
use crate::mcp_aql::clauses::{
    A5_1_5, A5_1_6, A5_1_7, A5_3_1, A5_3_2, A5_3_3, A5_4_2, A5_4_3, A6_4_1, A7_1_2, A7_2_2, A7_3_1,
};
use crate::mcp_aql::readings::{ClockSetBack, OracleModes, TokenStorage, ToleranceUnset};
use crate::mcp_aql::spec::checks::Check;
use crate::mcp_aql::spec::{AUDIT, Binding, Denial, Effect, Failed, Hole, Turn};

impl Turn<'_, '_> {
    // ── Section 5.1: expiry ──

    pub(super) fn tolerance(&self, adapter: Name) -> Time {
        let numbers = self.numbers();
        let set = self
            .step
            .account
            .adapter(adapter)
            .and_then(|it| it.tolerance);
        match set {
            // The sample takes zero for none that is set.
            Some(0) if !self.step.enforces(A5_1_5) => numbers.usual_tolerance,
            Some(tolerance) => tolerance,
            None if self.reading().tolerance_unset == ToleranceUnset::NoneAtAll => 0,
            None => numbers.usual_tolerance,
        }
    }

    /// The times that may count, and the tolerances.
    fn clocks(&self, token: &Token) -> ([Time; 3], [Time; 2]) {
        let times = self.step.account.times;
        let clocks = match (
            self.reading().clock_set_back,
            self.step.account.clock_of_call,
        ) {
            (ClockSetBack::CurrentTime, _) | (_, Fact::Yes) => [times.now; 3],
            (ClockSetBack::StaysExpired, Fact::No) => {
                [times.greatest, times.since_restart, times.since_restart]
            }
            (ClockSetBack::StaysExpired, Fact::Perhaps) => times.each(),
        };
        let now = self.tolerance(token.call.adapter.name);
        let tolerances = match self.step.account.tolerance_of_issue {
            Fact::Yes => [token.tolerance; 2],
            Fact::No => [now; 2],
            Fact::Perhaps => [token.tolerance, now],
        };
        (clocks, tolerances)
    }

    /// Whether expiry and tolerance have passed, as far as one knows.
    pub(super) fn over(&self, place: usize) -> Fact {
        let Some(token) = self.step.account.tokens.get(place) else {
            return Fact::No;
        };
        let stays = self.reading().clock_set_back == ClockSetBack::StaysExpired;
        if token.was_expired && stays {
            return Fact::Yes;
        }
        let Some(expires_at) = token.expires_at else {
            return Fact::No;
        };
        if token.is_bound == Fact::Yes && !self.step.enforces(A5_4_3) {
            return Fact::No;
        }
        let (clocks, tolerances) = self.clocks(token);
        let is_over = |clock: &Time| tolerances.map(|it| *clock > expires_at.saturating_add(it));
        let each = || clocks.iter().flat_map(is_over);
        match (each().any(|it| it), each().all(|it| it)) {
            (_, true) => Fact::Yes,
            (false, _) if self.is_past_expiry(place) && !self.step.enforces(A5_1_7) => {
                Fact::Perhaps
            }
            (false, _) => Fact::No,
            (true, false) => Fact::Perhaps,
        }
    }

    /// Whether it has expired, or is used up.
    pub(super) fn is_worn_out(&self, place: usize) -> Fact {
        let used = self
            .step
            .account
            .tokens
            .get(place)
            .map_or(Fact::No, Token::is_used_up);
        self.over(place).max(used)
    }

    pub(super) fn is_past_expiry(&self, place: usize) -> bool {
        let expires_at = self
            .step
            .account
            .tokens
            .get(place)
            .and_then(|it| it.expires_at);
        expires_at.is_some_and(|it| self.step.account.times.now > it)
    }

    /// Whether they have; what is called expired stays so.
    pub(super) fn is_over(&mut self, place: usize) -> bool {
        let known = self.over(place);
        let is_over = known == Fact::Yes || known == Fact::Perhaps && self.settle(place);
        if let Some(token) = self.step.account.tokens.get_mut(place) {
            token.was_expired |= is_over;
        }
        is_over
    }

    /// One of the clocks counts, and one of the tolerances, the same for every token.
    fn settle(&mut self, place: usize) -> bool {
        let Some(token) = self.step.account.tokens.get(place).cloned() else {
            return false;
        };
        let ends = |tolerance| {
            token
                .expires_at
                .unwrap_or(Time::MAX)
                .saturating_add(tolerance)
        };
        let (clocks, tolerances) = self.clocks(&token);
        let [_, before, now] = clocks;
        if tolerances
            .iter()
            .any(|it| (before > ends(*it)) != (now > ends(*it)))
        {
            self.step.decide(|it| &mut it.clock_of_call, false);
        }
        let (mut clocks, [of_issue, current]) = self.clocks(&token);
        let tolerance = if !self.step.enforces(A5_1_7) && self.step.choose(2) == 0 {
            0
        } else if clocks
            .iter()
            .any(|it| (*it > ends(of_issue)) != (*it > ends(current)))
        {
            let is_of_issue = self.step.decide(|it| &mut it.tolerance_of_issue, true);
            if is_of_issue { of_issue } else { current }
        } else {
            of_issue
        };
        clocks.sort_unstable();
        let [least, _, greatest] = clocks;
        let known = match (greatest > ends(tolerance), least > ends(tolerance)) {
            (true, false) => Fact::Perhaps,
            (is_over, _) => is_over.into(),
        };
        self.step.holds(known, true)
    }

    // ── Sections 5.3 and 7.3: revocation and status ──

    pub(super) fn introspect(&mut self, adapter: Text, query: Query, shown: Shown) {
        if Self::is_odd([adapter]) && self.step.choose(2) == 1 {
            return self.refused(&[A7_1_2]);
        }
        let adapter = adapter.name;
        let kind = match query {
            Query::Revoke => Try::Revocation,
            Query::Status => Try::Validation,
        };
        let limited = self.limited(kind, adapter, None);
        if self.step.holds(limited, false) {
            self.answer(Denial::Limited);
            let event = match query {
                Query::Status => Event::Rejected,
                Query::Revoke => Event::Revoked,
            };
            let entry = self.entry_of_query(event, adapter, self.known(shown));
            return self.log_query(Force::Allowed, entry, adapter, shown);
        }
        let place = self.find(shown);
        let is_live = place.is_some_and(|it| self.is_live(it));
        let is_signed = self.reading().token_storage == TokenStorage::Signed;
        let token = place
            .and_then(|it| self.step.account.tokens.get(it))
            .cloned();
        let entry = self.entry_of_query(Event::Revoked, adapter, place);
        match query {
            Query::Status => {
                // Who signs does not know what never came back.
                let is_seen = !is_signed || token.as_ref().is_some_and(|it| it.used > 0);
                let is_valid = is_live && (is_seen || self.step.choose(2) == 0);
                // Without the clause it tells the opposite, or what is so.
                let is_true = self.step.enforces(A7_3_1) || self.step.choose(2) == 1;
                let is_valid = is_valid == is_true;
                self.tell(&[A7_3_1, A7_1_2], adapter, 2, (is_valid, is_valid));
                let event = if is_valid {
                    Event::Validated
                } else {
                    Event::Rejected
                };
                let entry = Entry {
                    event,
                    is_success: is_valid,
                    ..entry
                };
                self.log_query(Force::Due, entry, adapter, shown);
                if !is_valid {
                    self.try_once(kind, adapter, None);
                }
            }
            Query::Revoke => {
                self.try_once(kind, adapter, None);
                // What is over may be given back, too: then it is told as revoked or as over.
                let is_told = token.as_ref().is_some_and(|it| it.is_told_revoked);
                let can_be = token.is_some() && (!is_told || is_signed);
                let is_done = is_live || can_be && self.step.choose(2) == 1;
                self.tell(&[A5_3_3, A7_1_2], adapter, 1, (is_done, is_done));
                let entry = Entry {
                    is_success: is_done,
                    ..entry
                };
                self.log_query(Force::Due, entry, adapter, shown);
                let takes = self.step.enforces(A5_3_3)
                    && self.step.enforces(A5_3_1)
                    && self.step.enforces(A7_2_2);
                if let Some(token) = place.and_then(|it| self.step.account.tokens.get_mut(it))
                    && is_done
                {
                    token.is_told_revoked = true;
                    let revoked = if is_live { Fact::Yes } else { Fact::Perhaps };
                    token.revoked = token.revoked.max(if takes { revoked } else { Fact::No });
                }
            }
        }
    }

    /// Whether a token would be taken, whatever the call.
    fn is_live(&mut self, place: usize) -> bool {
        if self.is_purged(place) {
            return false;
        }
        let Some(call) = self
            .step
            .account
            .tokens
            .get(place)
            .map(|it| Arc::clone(&it.call))
        else {
            return false;
        };
        let checks = [
            Check::NotRevoked,
            Check::Connection,
            Check::NotExpired,
            Check::NotUsed,
        ];
        checks.into_iter().all(|check| {
            let fails = self.fails(check, &call, Some(place));
            let fails = self.step.holds(fails, false);
            self.learn(check, place, fails);
            !fails
        })
    }

    /// A query is answered. In the mode without oracle every failure has one form.
    fn tell(
        &mut self,
        clauses: Clauses,
        adapter: Name,
        kind: usize,
        (holds, is_good): (bool, bool),
    ) {
        let is_uniform = self.oracle(adapter) == Oracle::Uniform && !is_good;
        let told = Told {
            holds,
            shape: self.shape(adapter, kind),
        };
        let answer = if kind == 1 {
            Answer::Revoked(told)
        } else {
            Answer::Status(told)
        };
        let holes = self.holes(if is_uniform && kind == 1 {
            Hole::Every
        } else {
            Hole::Shape
        });
        let of = Failed {
            adapter,
            kind,
            expires_at: None,
        };
        let binding = Binding::Failed(of, is_uniform);
        // What is declared is answered, though it only may be had at all.
        let force = if clauses.first().is_some_and(|it| self.step.enforces(*it)) {
            Force::Due
        } else {
            Force::Usual
        };
        self.step
            .add(clauses, Output::Respond(answer), force)
            .any(holes)
            .bind(binding);
    }

    /// AQL-5.3-2. "`logout` of a session ends the tokens that are bound to it. Every other event ends all tokens."
    pub(super) fn event(&mut self, kind: EventKind, session: Option<Text>) {
        // A host that has no such events refuses them.
        if self.step.choose(2) == 1 {
            return self.refused(&[A5_3_2]);
        }
        let of = session
            .filter(|_| kind == EventKind::Logout)
            .map(|it| it.name);
        let live = self.live();
        self.revoke(&live, |it| {
            of.is_none() || it.call.session.map(|it| it.name) == of
        });
        self.revoke_unknown(None, of);
    }

    /// Of each token, whether it has a use left and has not expired.
    fn live(&self) -> SmallVec<[bool; 2]> {
        let tokens = self.step.account.tokens.iter().enumerate();
        let is_live =
            |(place, it): (usize, &Token)| it.used < it.uses && self.over(place) == Fact::No;
        tokens.map(is_live).collect()
    }

    /// These tokens may be revoked, which is logged: usually those that are live.
    fn revoke(&mut self, live: &[bool], is_its: impl Fn(&Token) -> bool) {
        let others = !self.step.enforces(A5_3_2);
        let is_shown = self.step.variant.shows(AUDIT);
        for place in 0..self.step.account.tokens.len() {
            let Some(token) = self.step.account.tokens.get_mut(place) else {
                continue;
            };
            let is_its = is_its(token);
            if token.is_told_revoked || !(others || is_its) {
                continue;
            }
            if !is_shown {
                token.revoked = Fact::Perhaps;
                continue;
            }
            let entry = token.call.entry(Event::Revoked, true);
            let force = if live.get(place) == Some(&true) {
                Force::Usual
            } else {
                Force::Allowed
            };
            let clauses: Clauses = if is_its { &[A5_3_2] } else { &[] };
            self.log(clauses, force, entry, Some(place), Effect::Revokes);
        }
    }

    /// Who signs knows none of them, nor whether there are any: one entry may stand for all.
    fn revoke_unknown(&mut self, adapter: Option<Name>, session: Option<Name>) {
        if self.step.variant.shows(AUDIT) && self.reading().token_storage == TokenStorage::Signed {
            let (at, event) = (self.step.account.times.greatest, Event::Revoked);
            let entry = Entry {
                at,
                event,
                is_success: true,
                token: None,
                operation: None,
                adapter,
                session: None,
            };
            let any = self.holes(Hole::Every);
            let binding = Binding::Logged(None, Effect::MayRevoke { adapter, session });
            self.step
                .allow(&[], Output::Audit(entry))
                .any(any)
                .bind(binding);
        }
    }

    /// AQL-5.4-2.
    pub(super) fn end_session(&mut self, session: Text) {
        if Self::is_odd([session]) && self.step.choose(2) == 1 {
            return self.refused(&[A7_1_2]);
        }
        if let Err(place) = self.step.account.ended.binary_search(&session.name) {
            self.step.account.ended.insert(place, session.name);
        }
        self.cut(Some(session.name), Force::Due);
    }

    /// A connection ends, or all do, and the tokens that are bound to it.
    pub(super) fn cut(&mut self, session: Option<Name>, force: Force) {
        let ends = self.step.enforces(A5_4_2);
        for place in 0..self.step.account.tokens.len() {
            let Some(token) = self.step.account.tokens.get(place) else {
                continue;
            };
            let own = token.call.session.map(|it| it.name);
            if own.is_none()
                || token.is_cut
                || token.is_told_revoked
                || session.is_some() && own != session
            {
                continue;
            }
            let is_live = token.is_bound == Fact::Yes
                && token.used < token.uses
                && self.over(place) == Fact::No;
            let is_certain = is_live
                && ends
                && !token.is_gone
                && (!token.is_old || self.step.account.lost == Fact::No);
            let force = if is_certain { force } else { Force::Allowed };
            let entry = token.call.entry(Event::Revoked, true);
            self.log(&[A6_4_1], force, entry, Some(place), Effect::Revokes);
        }
        self.step.account.cut(session);
    }

    // ── Section 5.1 and 3.2: an operator sets what counts ──

    pub(super) fn configure(&mut self, it: &Configuration) {
        let mut denials = SmallVec::<[(Fact, Denial); 4]>::new();
        let range = 0..=self.numbers().longest_tolerance;
        let refused = |clauses| Denial::Refused(clauses);
        let is_out = it.tolerance.is_some_and(|it| !range.contains(&it));
        let is_out = is_out && self.step.enforces(A5_1_5);
        denials.push((is_out.into(), refused(&[A5_1_5])));
        // "An implementation without a setting refuses the `configure` that asks for it."
        let lists = it.critical.as_deref().unwrap_or_default();
        let is_empty = lists.iter().any(|(_, names)| names.is_empty());
        if Self::is_odd([it.adapter]) || it.oracle.is_some() || is_empty {
            denials.push((Fact::Perhaps, refused(&[A7_1_2])));
        }
        if let Some(denial) = self.denial(&denials, false) {
            return self.answer(denial);
        }
        self.step
            .allow(&[], Output::Refused)
            .bind(Binding::Refused(&[A5_1_5]));
        let live = self.live();
        let name = it.adapter.name;
        let before = (self.tolerance(name), self.oracle(name));
        if let Some(tolerance) = it.tolerance {
            self.step.account.adapter_mut(name).tolerance = Some(tolerance);
            if tolerance > self.numbers().warned_above {
                self.step.owe(&[A5_1_6], Output::Warn);
            }
        }
        if it.oracle.is_some() {
            self.step.account.adapter_mut(name).oracle = it.oracle;
        }
        let changed = it
            .critical
            .as_ref()
            .map(|it| self.list(name, it))
            .unwrap_or_default();
        let is_all = before != (self.tolerance(name), self.oracle(name));
        self.revoke(&live, |it| {
            it.call.adapter.name == name && (is_all || changed.contains(&it.call.operation.name))
        });
        if is_all || !changed.is_empty() {
            self.revoke_unknown(Some(name), None);
        }
    }

    /// "… in place of all that were named before." The operations of which other parameters count now.
    pub(super) fn list(&mut self, adapter: Name, lists: &[(Name, Vec<Name>)]) -> Vec<Name> {
        let mut changed = Vec::new();
        let known = &mut self.step.account.adapter_mut(adapter).critical;
        for (operation, list) in known.iter_mut() {
            if !lists.iter().any(|(of, _)| of == operation) {
                list.is_left_out = true;
                changed.push(*operation);
            }
        }
        for (operation, names) in lists {
            let list = List {
                names: names.as_slice().into(),
                is_left_out: false,
            };
            let place = known.partition_point(|(of, _)| of < operation);
            match known.get_mut(place).filter(|(of, _)| of == operation) {
                Some((_, before)) if *before == list => continue,
                Some((_, before)) => *before = list,
                None => known.insert(place, (*operation, list)),
            }
            changed.push(*operation);
        }
        changed
    }

    pub(super) fn oracle(&self, adapter: Name) -> Oracle {
        match self.reading().oracle {
            OracleModes::Uniform => Oracle::Uniform,
            OracleModes::Codes => Oracle::Codes,
            OracleModes::Configured => {
                let set = self.step.account.adapter(adapter).and_then(|it| it.oracle);
                set.unwrap_or(Oracle::Codes)
            }
        }
    }
}
