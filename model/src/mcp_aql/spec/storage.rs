//! Sections 5.5 and 6.5: what is kept, what a crash takes, and how much there is room for.

use crate::engine::fact::Fact;
use crate::engine::obligation::Force;
use crate::engine::protocol::Step;
use crate::mcp_aql::account::{Bucket, Token, Try};
use crate::mcp_aql::alphabet::{Lost, Name, Output, Shown, Text, TokenId};
use crate::mcp_aql::clauses::{A2_2_3, A5_2_2, A5_5_1, A5_5_3, A6_5_1};
use crate::mcp_aql::readings::RestartedSession;
use crate::mcp_aql::spec::{McpAql, Turn};

impl Turn<'_, '_> {
    // ── Section 5.5: storage ──

    /// "Tokens may be lost (5.5), never forgotten as used."
    pub(super) fn restart(&mut self, lost: &Lost, last_run: Option<TokenId>) {
        let Lost::Outputs(lost) = lost else {
            return self.refused(&[A5_5_1]);
        };
        for entry in lost.iter().filter(|it| matches!(it, Output::Audit(_))) {
            self.step.allow(&[], *entry);
        }
        let was_lost = lost.iter().any(|it| matches!(it, Output::Perform(_)));
        if let Some(token) = last_run.and_then(|it| self.step.account.token_mut(it))
            && was_lost
            && !self.step.variant.enforces(A5_2_2)
        {
            token.used -= 1;
        }
        let ended = std::mem::take(&mut self.step.account.ended);
        let before = &mut self.step.account.ended_before;
        before.extend(ended);
        before.sort_unstable();
        before.dedup();
        if self.reading().restarted_session == RestartedSession::Ends {
            self.cut(None, Force::Allowed);
        }
        let account = &mut self.step.account;
        account.times.since_restart = account.times.now;
        if !account.tokens.is_empty() {
            account.lost = Fact::Perhaps;
        }
        account.tokens.iter_mut().for_each(|it| it.is_old = true);
        let tries = account.adapters.iter_mut().flat_map(|it| &mut it.tries);
        tries.for_each(|it| it.each.clear());
    }

    /// The token that a client shows, by its place, if it was ever issued.
    pub(super) fn known(&self, shown: Shown) -> Option<usize> {
        let id = match shown {
            Shown::Token(id) => id,
            Shown::OtherCase(id) if !self.step.enforces(A2_2_3) => id,
            Shown::OtherCase(_) | Shown::Unknown | Shown::Blank => return None,
        };
        self.step.account.tokens.iter().position(|it| it.id == id)
    }

    /// The same, where the gatekeeper still has it. What a crash took it took as a whole.
    pub(super) fn find(&mut self, shown: Shown) -> Option<usize> {
        let place = self.known(shown)?;
        let is_old = self.step.account.tokens.get(place)?.is_old;
        if is_old && self.step.decide(|it| &mut it.lost, false) {
            let old = self.step.account.tokens.iter_mut().filter(|it| it.is_old);
            old.for_each(|it| it.is_gone = true);
        }
        (!self.step.account.tokens.get(place)?.is_gone).then_some(place)
    }

    // ── Sections 5.5 and 6.5: how much ──

    /// AQL-6.5-1. A limit is required where one session has used it up, and allowed where all together have. Where
    /// none is declared, it is allowed from the second try on.
    pub(super) fn limited(&self, kind: Try, adapter: Name, session: Option<Text>) -> Fact {
        if !self.step.enforces(A6_5_1) {
            return Fact::Perhaps;
        }
        let account = &self.step.account;
        let Some(tries) = account.adapter(adapter).map(|it| &it.tries[kind as usize]) else {
            return Fact::No;
        };
        let Some(declared) = &account.declared else {
            return if tries.is_any {
                Fact::Perhaps
            } else {
                Fact::No
            };
        };
        let Some(limit) = declared.limits[kind as usize] else {
            return Fact::No;
        };
        let is_reached = |it: Bucket| it.at(account.times.greatest, limit).level >= limit.burst;
        let session = session.map(|it| it.name);
        let own = tries.each.iter().find(|(of, _)| *of == session);
        if own.is_some_and(|(_, it)| is_reached(*it)) {
            Fact::Yes
        } else if is_reached(tries.all) {
            Fact::Perhaps
        } else {
            Fact::No
        }
    }

    pub(super) fn try_once(&mut self, kind: Try, adapter: Name, session: Option<Text>) {
        try_once(self.step, kind, adapter, session);
    }

    /// AQL-5.5-3.
    pub(super) fn is_full(&self, adapter: Name) -> Fact {
        let account = &self.step.account;
        let is_active = |(place, it): &(usize, &Token)| {
            let is_over = it.is_gone
                || it.is_cut && it.is_bound == Fact::Yes
                || self.over(*place) == Fact::Yes;
            it.call.adapter.name == adapter
                && it.used < it.uses
                && it.revoked != Fact::Yes
                && !is_over
        };
        let active = account.tokens.iter().enumerate().filter(is_active).count();
        let declared = account.declared.as_ref().and_then(|it| it.capacity);
        match declared {
            Some(_) if !self.step.enforces(A5_5_3) => Fact::Perhaps,
            Some(capacity) => (active >= capacity).into(),
            None if active >= self.numbers().capacity => Fact::Perhaps,
            None => Fact::No,
        }
    }
}

pub(super) fn try_once(
    step: &mut Step<'_, McpAql>,
    kind: Try,
    adapter: Name,
    session: Option<Text>,
) {
    let (now, declared) = (step.account.times.greatest, step.account.declared.clone());
    let Some(tries) = step
        .account
        .adapter_mut(adapter)
        .tries
        .get_mut(kind as usize)
    else {
        return;
    };
    let Some(declared) = declared else {
        tries.is_any = true;
        return;
    };
    let Some(limit) = declared.limits.get(kind as usize).copied().flatten() else {
        return;
    };
    let session = session.map(|it| it.name);
    tries.all = tries.all.at(now, limit).and_one(now);
    match tries.each.iter_mut().find(|(of, _)| *of == session) {
        Some((_, it)) => *it = it.at(now, limit).and_one(now),
        None => tries.each.push((session, Bucket::default().and_one(now))),
    }
}
