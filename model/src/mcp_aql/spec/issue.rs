//! Sections 1.3 and 3: what is not executed without a token, and gets one.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::clause::Clauses;
use crate::engine::fact::Fact;
use crate::engine::obligation::Force;
use crate::engine::protocol::Step;
use crate::mcp_aql::account::{Token, Try, is_written};
use crate::mcp_aql::alphabet::{
    Answer, Code, Entry, Event, Issued, Look, Output, Purpose, Readable, Request, Shown,
};
use crate::mcp_aql::clauses::{
    A1_2_2, A1_2_3, A1_2_5, A1_3_1, A2_1_1, A2_2_1, A2_2_2, A3_1_1, A3_1_2, A3_1_3, A3_2_1, A3_3_1,
    A5_1_1, A5_1_2, A5_1_8, A5_4_1, A5_4_2, A5_5_3, A6_3_3, A6_3_4, A6_4_1, A6_5_1, A7_1_2,
};
use crate::mcp_aql::readings::{EndedSession, Lifetimes, LongestLife, MultiUse, TokenStorage};
use crate::mcp_aql::spec::storage::try_once;
use crate::mcp_aql::spec::{
    AUDIT, Binding, Denial, Effect, Hole, McpAql, PARAMETER_BYTES, Turn, USES,
};

impl Turn<'_, '_> {
    // ── Section 1.3: the flow ──

    pub(super) fn call(&mut self, it: &Arc<Request>) {
        let names = [Some(it.adapter), Some(it.operation), it.session];
        if Self::is_odd(names.into_iter().flatten()) && self.step.choose(2) == 1 {
            return self.refused(&[A7_1_2]);
        }
        let shown = match it.token {
            _ if !it.is_gated() => return self.run_ungated(it),
            // An empty token is one that is unknown, or none.
            Some(Shown::Blank) if self.step.choose(2) == 1 => None,
            shown => shown,
        };
        match shown {
            None => self.ask(it),
            Some(shown) => self.redeem(it, shown),
        }
    }

    /// AQL-5.1-8: what is safe or reversible needs no token, and a token on it is not checked.
    fn run_ungated(&mut self, it: &Arc<Request>) {
        let hole = if self.step.enforces(A1_2_3) {
            Hole::Optional
        } else {
            Hole::Every
        };
        // What no call can ask for may be refused of any.
        let mut denials = SmallVec::<[(Fact, Denial); 4]>::new();
        self.flaws(it, &mut denials);
        let is_flaw = |(fact, it): &(Fact, Denial)| {
            *fact != Fact::No && matches!(it, Denial::Refused(clauses) if *clauses != [A3_2_1])
        };
        let flaw = denials.iter().find(|it| is_flaw(it)).map(|(_, it)| *it);
        if let Some(flaw) = flaw
            && self.step.choose(2) == 1
        {
            return self.answer(flaw);
        }
        let is_due = self.step.enforces(A1_3_1) && self.step.enforces(A5_1_8);
        // Without AQL-5.1-8 alone it is asked about as what does harm is.
        let is_asked = self.step.enforces(A1_3_1) && !is_due;
        let (force, of_token) = match () {
            () if is_due => (Force::Due, Force::Allowed),
            () if is_asked => (Force::Allowed, Force::Usual),
            () => (Force::Usual, Force::Allowed),
        };
        let (runs, holes) = (Output::Perform(it.performed()), self.holes(hole));
        self.step.add(&[A1_3_1, A5_1_8], runs, force).any(holes);
        if !is_due {
            self.step.allow(&[], Output::Refused);
            self.issue(it, of_token);
        }
        let Some(shown) = it.token else { return };
        let place = self.find(shown);
        for event in [Event::Validated, Event::Rejected] {
            let entry = it.entry(event, event == Event::Validated);
            let effect = if event == Event::Validated {
                Effect::MayUse
            } else {
                Effect::Nothing
            };
            self.log(&[], Force::Allowed, entry, place, effect)
                .repeatedly();
        }
        if let Some(token) = place.and_then(|it| self.step.account.tokens.get_mut(it))
            && !self.step.variant.shows(AUDIT)
        {
            token.may_be_used();
        }
    }

    /// "A gated call without a token is not executed and gets one."
    fn ask(&mut self, it: &Arc<Request>) {
        if !self.step.enforces(A1_3_1) && self.step.choose(2) == 0 {
            let (runs, any) = (Output::Perform(it.performed()), self.holes(Hole::Every));
            self.step.usual(&[A1_3_1], runs).any(any);
            self.step.allow(&[], Output::Refused);
            for other in [Answer::Limited, Answer::Unreadable] {
                self.step.allow(&[], Output::Respond(other));
            }
            let failure = self.failure(it.adapter.name, Code::Invalid);
            self.step
                .allow(&[], Output::Respond(Answer::Failed(failure)))
                .any(any);
            return;
        }
        // Without it no room need be left.
        if !self.step.enforces(A5_5_3) && self.step.choose(2) == 0 {
            return self.deny(Denial::Full, it);
        }
        let mut denials = SmallVec::<[(Fact, Denial); 4]>::new();
        self.flaws(it, &mut denials);
        let limited = self.limited(Try::Issue, it.adapter.name, it.session);
        denials.push((limited, Denial::Limited));
        denials.push((self.is_full(it.adapter.name), Denial::Full));
        match self.denial(&denials, false) {
            Some(denial) => self.deny(denial, it),
            None => self.issue(it, Force::Due),
        }
    }

    /// What cannot be asked for, for certain or perhaps.
    pub(super) fn flaws(&mut self, it: &Request, denials: &mut SmallVec<[(Fact, Denial); 4]>) {
        let Lifetimes { usual, longest } = it.lifetimes(&self.numbers());
        let longest = match self.reading().longest_life {
            LongestLife::Maximum => longest,
            LongestLife::Usual => usual,
        };
        let uses = it.max_uses.unwrap_or(1);
        let most = self.numbers().most_uses;
        let in_session = it.session.is_some();
        let has_ended = it
            .session
            .map_or(Fact::No, |it| self.step.account.has_ended(it.name));
        let is_bound = it.is_bound(self.reading());
        let mut refuse = |clauses: Clauses, is_wrong: Fact| {
            if clauses.iter().all(|it| self.step.enforces(*it)) {
                denials.push((is_wrong, Denial::Refused(clauses)));
            }
        };
        refuse(&[A5_1_2, A1_2_2], it.ttl.is_some_and(|it| it <= 0).into());
        refuse(&[A5_1_1], it.ttl.is_some_and(|it| it > longest).into());
        let is_loose =
            uses > 1 && !in_session && self.step.variant.reading.multi_use == MultiUse::InSession;
        let is_unbindable = it.session_scope == Some(true) && !in_session;
        let are_uses = (1..=USES).contains(&uses) && (most == 0 || uses <= most);
        refuse(&[A5_4_1], (is_loose || is_unbindable || !are_uses).into());
        // `false` with several uses is refused, or bound to no session.
        let is_signed = self.step.variant.reading.token_storage == TokenStorage::Signed;
        if uses > 1 && it.session_scope == Some(false)
            || is_signed && (uses > 1 || is_bound == Fact::Yes)
        {
            refuse(&[A5_4_1], Fact::Perhaps);
        }
        let stays = self.step.variant.reading.ended_session == EndedSession::StaysEnded;
        let most = if stays { Fact::Yes } else { Fact::Perhaps };
        refuse(&[A5_4_2], has_ended.min(is_bound).min(most));
        if self.step.enforces(A3_2_1) && it.parameters.meaning.is_none() {
            denials.push((Fact::Yes, Denial::Unreadable));
            denials.push((Fact::Yes, Denial::Refused(&[A3_2_1])));
        } else if it.parameters.size > PARAMETER_BYTES {
            denials.push((Fact::Perhaps, Denial::Unreadable));
        }
    }

    /// One of the answers that are right: where none must be given, usually none is. Where one that must be given need
    /// not, because a token came with the call, it usually is.
    pub(super) fn denial(&mut self, denials: &[(Fact, Denial)], may_go_on: bool) -> Option<Denial> {
        let is_certain = denials.iter().any(|(fact, _)| *fact == Fact::Yes);
        let mut ways: SmallVec<[Option<Denial>; 4]> = SmallVec::new();
        if !is_certain {
            ways.push(None);
        }
        let of = |wanted| denials.iter().filter(move |(fact, _)| *fact == wanted);
        ways.extend(
            of(Fact::Yes)
                .chain(of(Fact::Perhaps))
                .map(|(_, denial)| Some(*denial)),
        );
        if is_certain && may_go_on {
            ways.push(None);
        }
        let which = if ways.len() > 1 {
            self.step.choose(count(ways.len()))
        } else {
            0
        };
        ways.get(usize::from(which)).copied().flatten()
    }

    /// "A call that comes without a token and gets none may be audited as a failed `TOKEN_ISSUED`."
    pub(super) fn deny(&mut self, denial: Denial, it: &Request) {
        self.answer(denial);
        let at = self.step.account.times.greatest;
        let entry = Entry {
            at,
            ..it.entry(Event::Issued, false)
        };
        let holes = self.holes(Hole::Entry);
        self.step.allow(&[], Output::Audit(entry)).any(holes);
    }

    pub(super) fn answer(&mut self, denial: Denial) {
        match denial {
            Denial::Refused(clauses) => self.refused(clauses),
            Denial::Unreadable => drop(
                self.step
                    .owe(&[A3_2_1], Output::Respond(Answer::Unreadable)),
            ),
            Denial::Limited => drop(
                self.step
                    .owe(&[A6_5_1, A7_1_2], Output::Respond(Answer::Limited)),
            ),
            Denial::Full => drop(
                self.step
                    .owe(&[A5_5_3, A7_1_2], Output::Respond(Answer::Full)),
            ),
        }
    }

    pub(super) fn refused(&mut self, clauses: Clauses) {
        // What is not done is answered, though it only may be done at all.
        let clauses = if clauses == [A5_4_1] {
            &[A5_4_1, A7_1_2]
        } else {
            clauses
        };
        self.step.owe(clauses, Output::Refused);
    }

    // ── Section 3: a token is issued ──

    pub(super) fn issue(&mut self, it: &Arc<Request>, force: Force) {
        let numbers = self.numbers();
        let account = &self.step.account;
        let (adapter, operation) = (it.adapter.name, it.operation.name);
        let token = Token {
            id: account.next_token(),
            call: Arc::clone(it),
            list: account.list(adapter, operation).cloned(),
            tolerance: self.tolerance(adapter),
            expires_at: None,
            uses: it.max_uses.unwrap_or(1),
            used: 0,
            spare: 0,
            is_bound: it.is_bound(self.reading()),
            revoked: Fact::No,
            is_told_revoked: false,
            is_cut: false,
            was_expired: false,
            is_gone: false,
            is_kept: false,
            is_old: false,
            logged: None,
            is_issued: false,
        };
        let Lifetimes { usual, longest } = it.lifetimes(&numbers);
        let life = if self.step.enforces(A5_1_1) {
            it.ttl.unwrap_or(usual)
        } else {
            it.ttl.unwrap_or(longest.saturating_add(1))
        };
        let has_expiry = self.step.enforces(A5_1_2) && self.step.enforces(A1_2_2);
        let tells = self.step.enforces(A3_3_1);
        let (purpose, place) = (it.purpose_of_token(), account.tokens.len());
        let earlier = account.tokens.last().map(|it| it.id);
        let issued = Issued {
            token: earlier
                .filter(|_| !self.step.enforces(A3_1_1))
                .unwrap_or(token.id),
            look: self.look(purpose),
            expires_at: has_expiry.then(|| account.times.greatest.saturating_add(life)),
            operation: tells.then_some(operation),
            level: tells.then_some(it.level),
            has_reasons: self.step.enforces(A6_3_4),
            has_message: true,
        };
        self.step.account.tokens.push(token);
        let any = self.holes(Hole::Every);
        let respond = Output::Respond(Answer::Issued(issued));
        self.step
            .add(&[A1_3_1], respond, force)
            .any(any)
            .bind(Binding::Issued);
        self.log(
            &[A6_4_1, A1_2_5],
            force,
            it.entry(Event::Issued, true),
            Some(place),
            Effect::Nothing,
        );
    }

    /// How a token looks that a gatekeeper makes up.
    fn look(&self, purpose: Purpose) -> Look {
        let is = |clause| self.step.enforces(clause);
        let identifier = match () {
            () if !is(A3_1_1) => 16,
            () if !is(A3_1_2) => 22,
            () if !is(A2_2_1) => 65,
            () => 64,
        };
        let other = match purpose {
            Purpose::Confirmation => Purpose::Quota,
            Purpose::Quota => Purpose::Confirmation,
        };
        Look {
            prefix: Some(if is(A2_1_1) { purpose } else { other }),
            identifier,
            characters: if is(A2_2_2) {
                purpose.prefix() + identifier
            } else {
                81
            },
            is_url_safe: is(A2_2_1),
            is_counted: !is(A3_1_3),
            reads: (!is(A6_3_3)).then_some(Readable::Value),
        }
    }
}

/// So many options; beyond 255 the others are not tried.
fn count(options: usize) -> u8 {
    u8::try_from(options).unwrap_or(u8::MAX)
}

/// A token was given away: what it looks like, how long it lives, and what the answer says.
pub(super) fn issued(step: &mut Step<'_, McpAql>, it: &Issued) -> Result<(), Clauses> {
    let numbers = step.variant.reading.numbers;
    let times = step.account.times;
    let is_known = step
        .account
        .tokens
        .iter()
        .any(|token| token.is_issued && token.id == it.token);
    let Some(token) = step.account.tokens.last_mut() else {
        return Ok(());
    };
    let call = Arc::clone(&token.call);
    token.id = it.token;
    token.expires_at = it.expires_at;
    token.is_issued = true;
    if is_known {
        // From here on its name stands for the new one.
        let newest = step.account.tokens.pop();
        step.account.tokens.retain(|token| token.id != it.token);
        step.account.tokens.extend(newest);
    }
    try_once(step, Try::Issue, call.adapter.name, call.session);
    // What is bound to it again has come again.
    if let Some(session) = call.session
        && call.is_bound(step.variant.reading) != Fact::No
    {
        step.account.ended.retain(|it| *it != session.name);
    }
    let check = |clauses: Clauses, holds: bool| {
        let is_in_force = clauses.iter().all(|it| step.enforces(*it));
        if holds || !is_in_force {
            Ok(())
        } else {
            Err(clauses)
        }
    };
    let (look, purpose) = (it.look, call.purpose_of_token());
    let (fewest, most) = numbers.characters;
    let bits = look.identifier.saturating_mul(6);
    let (enough, recommended) = numbers.entropy;
    check(&[A2_1_1], look.prefix == Some(purpose))?;
    // What has no identifier is too short, and can be guessed.
    match look.identifier {
        0 => check(&[A2_2_1, A2_2_2, A3_1_1], false)?,
        characters => check(
            &[A2_2_1],
            look.is_url_safe && characters <= numbers.longest_identifier,
        )?,
    }
    match look.characters {
        characters if characters < fewest && bits < enough => check(&[A2_2_2, A3_1_1], false)?,
        characters => check(&[A2_2_2], (fewest..=most).contains(&characters))?,
    }
    check(&[A3_1_1], !is_known && bits >= enough)?;
    check(&[A3_1_2], bits >= recommended || bits < enough)?;
    check(&[A3_1_3], !look.is_counted)?;
    check(&[A5_1_2, A1_2_2], it.expires_at.is_some())?;
    let life = call.ttl.unwrap_or(call.lifetimes(&numbers).usual);
    let ends = |expires_at| {
        times
            .each()
            .iter()
            .any(|now| is_written(now.saturating_add(life), expires_at))
    };
    check(&[A5_1_1], it.expires_at.is_none_or(ends))?;
    // Of a quota pause the answer need not say what is dangerous.
    let is_quota = purpose == Purpose::Quota;
    let is_named = it.operation == Some(call.operation.name) || it.operation.is_none() && is_quota;
    let is_rated = it.level == Some(call.level) || it.level.is_none() && is_quota;
    check(&[A3_3_1], is_named && is_rated)?;
    check(
        &[A3_3_1, A6_3_4],
        it.has_message && (it.has_reasons || is_quota),
    )?;
    let is_signed = step.variant.reading.token_storage == TokenStorage::Signed;
    check(
        &[A6_3_3],
        look.reads
            .is_none_or(|it| is_signed && it == Readable::Name),
    )
}

impl Purpose {
    /// How many characters `conf_` and `quota_continue_` have.
    fn prefix(self) -> u32 {
        match self {
            Self::Confirmation => 5,
            Self::Quota => 15,
        }
    }
}
