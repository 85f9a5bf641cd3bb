//! Sections 4 and 3.2: a token comes back, and each check of it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::clause::{Clause, Clauses};
use crate::engine::fact::Fact;
use crate::engine::obligation::Force;
use crate::mcp_aql::account::{List, Token, Try};
use crate::mcp_aql::alphabet::{
    Answer, Code, Event, Level, Name, Oracle, Output, Parameter, Parameters, Purpose, Request,
    Shown, Text, Word,
};
use crate::mcp_aql::clauses::{
    A1_2_1, A1_2_3, A1_2_4, A1_2_5, A1_3_2, A2_1_1, A3_2_1, A3_2_3, A3_2_4, A4_1_1, A4_1_2, A4_1_3,
    A4_1_4, A4_1_5, A4_1_6, A4_2_1, A4_3_1, A5_1_1, A5_1_3, A5_2_1, A5_2_2, A5_3_1, A5_4_2, A5_4_4,
    A5_5_1, A5_5_2, A6_1_1, A6_1_2, A6_2_1, A6_3_2, A6_4_1, A7_1_1, A7_1_2,
};
use crate::mcp_aql::readings::{
    CheckOrder, PurgeCode, RatingAtRedemption, RevokedCode, TokenStorage,
};
use crate::mcp_aql::spec::{Binding, Denial, Effect, Failed, Hole, PARAMETER_BYTES, Turn};

macro_rules! checks {
    ($($check:ident $own:ident [$($other:ident),*] [$($code:ident),+] $in_sample:literal;)*) => {
        /// A check of section 4.1, or one that other sections add to it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum Check { $($check),* }

        /// Section 4.1, in the order of its table.
        const CHECKS: &[Row] = &[$(Row {
            check: Check::$check, own: $own, others: &[$($other),*], codes: &[$(Code::$code),+], in_sample: $in_sample,
        }),*];
    };
}

/// A check.
struct Row {
    check: Check,
    /// The clause that names what is wrong.
    own: Clause,
    /// The check is not made without these, either.
    others: Clauses,
    /// What it is told by: either is right.
    codes: &'static [Code],
    /// Its place in the sample of 4.3.
    in_sample: u8,
}

checks! {
    Exists A4_1_1 [A6_2_1, A7_1_1, A1_2_4] [Invalid] 0;
    NotRevoked A5_3_1 [A4_1_1, A7_1_1] [Invalid] 1;
    Connection A5_4_2 [A7_1_1] [Invalid, Scope] 2;
    NotExpired A4_1_2 [A5_1_3, A7_1_1] [Expired] 9;
    NotUsed A4_1_3 [A5_2_1, A5_2_2, A6_1_1, A7_1_1] [Used] 10;
    Purpose A2_1_1 [A7_1_1] [Scope, Invalid] 5;
    Operation A4_1_4 [A7_1_1, A1_2_3] [Scope] 3;
    Parameters A4_1_5 [A4_3_1, A7_1_1, A1_2_3] [Scope] 4;
    Adapter A4_1_6 [A7_1_1] [Scope] 6;
    Rating A5_1_1 [A7_1_1] [Scope] 7;
    Session A5_4_4 [A6_1_2, A7_1_1] [Scope, Invalid] 8;
}

/// The checks that name a code which comes without a reason.
const NAMING: [Check; 4] = [
    Check::Exists,
    Check::NotExpired,
    Check::NotUsed,
    Check::Operation,
];

/// Answers that are neither the failure of a check nor a token.
const OTHERS: [Output; 4] = [
    Output::Respond(Answer::Limited),
    Output::Respond(Answer::Full),
    Output::Respond(Answer::Unreadable),
    Output::Refused,
];

/// What may be told instead, where a check is not made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Excuse {
    /// Anything: the check fails.
    Any,
    /// That code, of a token that is good.
    Code(Code),
}

impl Turn<'_, '_> {
    // ── Section 4: a token comes back ──

    /// A call with a token is not heard: that may be logged.
    fn turn_away(&mut self, denial: Denial, it: &Request, shown: Shown) {
        self.deny(denial, it);
        let known = self.known(shown);
        let entry = it.entry(Event::Rejected, false);
        self.log(&[], Force::Allowed, entry, known, Effect::Nothing);
    }

    pub(super) fn redeem(&mut self, it: &Arc<Request>, shown: Shown) {
        let (adapter, session) = (it.adapter.name, it.session);
        let limited = self.limited(Try::Validation, adapter, session);
        if self.step.enforces(A3_2_1) && it.parameters.meaning.is_none() {
            self.try_once(Try::Validation, adapter, session);
            let ways = if limited == Fact::No { 3 } else { 4 };
            // What was never issued is unknown whatever it is shown with.
            let code = self.known(shown).map_or(Code::Invalid, |_| Code::Scope);
            return match self.step.choose(ways) {
                0 => self.reject(&[A3_2_1], it, (shown, None), (code, Hole::Every)),
                1 => self.turn_away(Denial::Unreadable, it, shown),
                2 => self.turn_away(Denial::Refused(&[A3_2_1]), it, shown),
                _ => self.turn_away(Denial::Limited, it, shown),
            };
        }
        // What cannot be asked for may be refused, whether it brings a token or not; usually it is.
        let mut denials = SmallVec::<[(Fact, Denial); 4]>::new();
        self.flaws(it, &mut denials);
        // What may be had or not was had already where the token was issued for the same.
        let own = self
            .known(shown)
            .and_then(|it| self.step.account.tokens.get(it));
        let is_same = own.is_some_and(|own| {
            let is_larger = it.parameters.size > own.call.parameters.size;
            own.call.asks_alike(it) && !(is_larger && it.parameters.size > PARAMETER_BYTES)
        });
        denials.retain(|(fact, _)| *fact == Fact::Yes || !is_same);
        if let Some(denial) = self.denial(&denials, true) {
            return self.turn_away(denial, it, shown);
        }
        if self.step.holds(limited, false) {
            return self.turn_away(Denial::Limited, it, shown);
        }
        let place = self.find(shown).filter(|it| self.is_stored(*it));
        if let Some(place) = place
            && self.is_purged(place)
        {
            self.try_once(Try::Validation, adapter, session);
            return self.reject(
                &[A5_5_2, A4_2_1],
                it,
                (shown, Some(place)),
                (Code::Invalid, Hole::NotCode),
            );
        }
        let mut excuse = None;
        let Some(code) = self.failing(it, place, &mut excuse) else {
            return self.admit(it, (shown, place), excuse);
        };
        self.try_once(Try::Validation, adapter, session);
        let (code, hole) = match excuse {
            _ if !self.step.enforces(A7_1_2) => (Code::Other, Hole::Every),
            Some(Excuse::Any) => (code, Hole::Every),
            Some(Excuse::Code(_)) | None => (code, Hole::NotCode),
        };
        self.reject(&[A4_2_1], it, (shown, place), (code, hole));
    }

    /// The checks in the order that is read. One that only may fail hides none of those behind it.
    fn failing(
        &mut self,
        it: &Request,
        place: Option<usize>,
        excuse: &mut Option<Excuse>,
    ) -> Option<Code> {
        let mut rows: SmallVec<[&Row; 11]> = CHECKS.iter().collect();
        if self.reading().check_order == CheckOrder::Sample {
            rows.sort_by_key(|row| row.in_sample);
        }
        let is_signed = self.reading().token_storage == TokenStorage::Signed;
        let mut last = None;
        for row in rows {
            let Some(code) = self.check(row, it, place, excuse) else {
                continue;
            };
            // The table has no row for these. Who keeps nothing may tell whatever else is wrong with what was
            // revoked, and what was over before its connection ended is told as that, too.
            let is_lax = match row.check {
                Check::NotRevoked if is_signed => Fact::Perhaps,
                Check::Connection => place.map_or(Fact::No, |it| self.is_worn_out(it)),
                Check::Exists
                | Check::NotRevoked
                | Check::NotExpired
                | Check::NotUsed
                | Check::Purpose
                | Check::Operation
                | Check::Parameters
                | Check::Adapter
                | Check::Rating
                | Check::Session => Fact::No,
            };
            // What is certain is told by default.
            let tells_it = self.step.choose(if is_lax == Fact::No { 1 } else { 2 }) == 0;
            if tells_it != (is_lax == Fact::Yes) {
                return Some(code);
            }
            last = Some(code);
        }
        last
    }

    /// A check. Without the clause of its own it is not made, and whatever is told instead is excused.
    fn check(
        &mut self,
        row: &Row,
        it: &Request,
        place: Option<usize>,
        excuse: &mut Option<Excuse>,
    ) -> Option<Code> {
        let &Row {
            check,
            own,
            others,
            codes,
            ..
        } = row;
        if place.is_none() && check != Check::Exists {
            return None;
        }
        let fails = self.fails(check, it, place);
        let usual = codes.first().copied()?;
        let is_own = self.step.enforces(own);
        if !is_own || others.iter().any(|it| !self.step.enforces(*it)) {
            // Within the tolerance it is another clause by which a token is good.
            let is_tolerated =
                check == Check::NotExpired && place.is_some_and(|it| self.is_past_expiry(it));
            if fails != Fact::No {
                *excuse = Some(Excuse::Any);
                self.survive(check, place);
            } else if !is_own && !is_tolerated && NAMING.contains(&check) {
                *excuse = excuse.or(Some(Excuse::Code(usual)));
            }
            return None;
        }
        // … or all does.
        let own = place.and_then(|it| self.step.account.tokens.get(it));
        let is_changed =
            own.is_some_and(|own| own.call.parameters.meaning != it.parameters.meaning);
        if check == Check::Parameters && is_changed && !self.step.enforces(A3_2_4) {
            *excuse = Some(Excuse::Code(usual));
        }
        // "A call is bound in full where `critical` has no list": by default whatever changed counts.
        let fails = self.step.holds(fails, check == Check::Parameters);
        if let Some(place) = place {
            self.learn(check, place, fails);
        }
        let is_used = self.reading().revoked_code == RevokedCode::AlreadyUsed;
        match *codes {
            _ if !fails => None,
            [_] if check == Check::NotRevoked && is_used => Some(Code::Used),
            [_, other] if self.step.choose(2) == 1 => Some(other),
            _ => Some(usual),
        }
    }

    /// What outlives the end of its connection does so once and for all: that is one fault.
    fn survive(&mut self, check: Check, place: Option<usize>) {
        if let Some(token) = place.and_then(|it| self.step.account.tokens.get_mut(it))
            && check == Check::Connection
        {
            (token.is_cut, token.is_bound) = (false, Fact::No);
        }
    }

    /// Whether a check fails, as far as one knows.
    pub(super) fn fails(&mut self, check: Check, it: &Request, place: Option<usize>) -> Fact {
        let Some(token) = place.and_then(|it| self.step.account.tokens.get(it)) else {
            return Fact::Yes;
        };
        let of = &token.call;
        let differ = |one: Text, other: Text| Fact::from(one.name != other.name);
        match check {
            // The end of its connection is a check of its own.
            Check::NotRevoked if token.is_cut && token.is_bound == Fact::Yes => Fact::No,
            Check::NotRevoked => token.revoked,
            Check::Connection if token.is_cut => token.is_bound,
            Check::NotExpired => place.map_or(Fact::No, |place| self.is_over(place).into()),
            Check::NotUsed => token.is_used_up(),
            Check::Purpose => match (of.purpose_of_token(), it.purpose_of_token()) {
                (Purpose::Quota, Purpose::Confirmation) => Fact::Yes,
                // What is confirmed passes a quota, too.
                (Purpose::Confirmation, Purpose::Quota) => Fact::Perhaps,
                (_, _) => Fact::No,
            },
            Check::Operation => differ(of.operation, it.operation),
            Check::Parameters => {
                let token = token.clone();
                self.differ(&token, it)
            }
            Check::Adapter => differ(of.adapter, it.adapter),
            Check::Rating
                if self.reading().rating_at_redemption == RatingAtRedemption::NotChecked =>
            {
                Fact::No
            }
            Check::Rating => match (of.level, it.level) {
                (Level::Destructive, Level::Dangerous) => Fact::Perhaps,
                (of, it) if of < it => Fact::Yes,
                (of, it) if of > it => Fact::Perhaps,
                (_, _) => Fact::No,
            },
            Check::Session if token.is_cut => Fact::No,
            Check::Session if of.session.map(|it| it.name) != it.session.map(|it| it.name) => {
                token.is_bound
            }
            Check::Exists | Check::Connection | Check::Session => Fact::No,
        }
    }

    /// What was seen of a check narrows what may be.
    pub(super) fn learn(&mut self, check: Check, place: usize, fails: bool) {
        let Some(token) = self.step.account.tokens.get_mut(place) else {
            return;
        };
        match check {
            Check::NotRevoked if token.revoked == Fact::Perhaps => token.revoked = fails.into(),
            Check::NotUsed if fails => (token.used, token.spare) = (token.uses, 0),
            Check::NotUsed => token.spare = token.spare.min(token.uses - token.used - 1),
            Check::Connection if token.is_cut => token.is_bound = fails.into(),
            Check::Session if fails => token.is_bound = Fact::Yes,
            Check::Exists
            | Check::NotRevoked
            | Check::Connection
            | Check::NotExpired
            | Check::Purpose
            | Check::Operation
            | Check::Parameters
            | Check::Adapter
            | Check::Rating
            | Check::Session => {}
        }
    }

    /// AQL-5.5-1: a token is kept in memory at least, up to its expiry.
    fn is_stored(&mut self, place: usize) -> bool {
        let is_kept = self.step.enforces(A5_5_1) || self.over(place) != Fact::No;
        is_kept || self.step.choose(2) == 1
    }

    /// AQL-5.5-2: what is over may be purged, and should within the hour. From then on it is unknown.
    pub(super) fn is_purged(&mut self, place: usize) -> bool {
        let reading = self.reading();
        let Some(token) = self.step.account.tokens.get(place).cloned() else {
            return false;
        };
        if reading.purge_code == PurgeCode::Remembered || self.over(place) == Fact::No {
            return false;
        }
        let tolerance = token.tolerance.max(self.tolerance(token.call.adapter.name));
        let within = tolerance.saturating_add(self.numbers().purged_within);
        let ends = token.expires_at.map(|it| it.saturating_add(within));
        let is_late = ends.is_some_and(|it| self.step.account.times.now > it);
        let is_due = is_late && !token.is_kept && reading.token_storage == TokenStorage::Kept;
        let stays = !(is_due && self.step.enforces(A5_5_2)) && self.step.choose(2) == 0;
        let is_purged = !stays && self.is_over(place);
        if let Some(token) = self.step.account.tokens.get_mut(place) {
            token.is_kept |= stays && is_due;
            token.is_gone |= is_purged && reading.purge_code == PurgeCode::Unknown;
        }
        is_purged
    }

    /// "… run the operation, once." AQL-5.2-2: its use is counted first.
    fn admit(
        &mut self,
        it: &Arc<Request>,
        (shown, place): (Shown, Option<usize>),
        excuse: Option<Excuse>,
    ) {
        // Without the clause a good token need not be heard.
        if !self.step.enforces(A1_3_2) && self.step.choose(2) == 0 {
            self.step.allow(&[], Output::Refused);
            self.step.allow(&[], Output::Respond(Answer::Limited));
            return;
        }
        let way = if excuse == Some(Excuse::Any) {
            self.step.choose(3)
        } else {
            0
        };
        match way {
            0 => {
                self.run(it, (shown, place), excuse.is_none());
                if let Some(excuse) = excuse {
                    self.believe(it, (shown, place), excuse);
                }
            }
            1 => {
                let which = usize::from(self.step.choose(4));
                let other = OTHERS.get(which).copied().unwrap_or(Output::Refused);
                self.step.owe(&[], other);
            }
            _ => self.issue(it, Force::Due),
        }
    }

    /// The operation runs, and its token is logged as validated.
    fn run(&mut self, it: &Request, (shown, place): (Shown, Option<usize>), is_due: bool) {
        let usual = if is_due { Force::Due } else { Force::Usual };
        let mut runs = it.performed();
        let mut holes = self.holes(Hole::Optional);
        if !self.step.enforces(A1_2_3) {
            // What was confirmed runs, and not what is called.
            let token = place.and_then(|it| self.step.account.tokens.get(it));
            runs.parameters = token.map_or(runs.parameters, |it| it.call.parameters.meaning);
            holes = self.holes(Hole::Every);
        }
        let entry = it.entry(Event::Validated, true);
        let known = self.known(shown);
        self.log(&[A6_4_1, A1_2_5], usual, entry, known, Effect::Nothing);
        let runs = self
            .step
            .add(&[A1_3_2], Output::Perform(runs), usual)
            .any(holes);
        if let Some(place) = place {
            runs.bind(Binding::Ran(place));
        }
    }

    /// A check is not made, and the token may be refused all the same.
    fn believe(&mut self, it: &Request, (shown, place): (Shown, Option<usize>), excuse: Excuse) {
        let (mut code, mut hole) = match excuse {
            Excuse::Any => (Code::Other, Hole::Every),
            Excuse::Code(code) => (code, Hole::NotCode),
        };
        if self.oracle(it.adapter.name) == Oracle::Uniform {
            (code, hole) = (Code::Invalid, Hole::NotCode);
        }
        let token = place.and_then(|it| self.step.account.tokens.get(it));
        let told = Failed {
            adapter: it.adapter.name,
            kind: 0,
            expires_at: token.and_then(|it| it.expires_at),
        };
        let binding = Binding::Believed(told, place, code);
        let (failure, holes) = (self.failure(it.adapter.name, code), self.holes(hole));
        let failure = Output::Respond(Answer::Failed(failure));
        self.step.allow(&[], failure).any(holes).bind(binding);
        let entry = it.entry(Event::Rejected, false);
        let known = self.known(shown);
        self.log(&[A6_4_1], Force::Allowed, entry, known, Effect::Nothing);
    }

    /// Section 4.2.
    fn reject(
        &mut self,
        clauses: Clauses,
        it: &Arc<Request>,
        (shown, place): (Shown, Option<usize>),
        (mut code, mut hole): (Code, Hole),
    ) {
        if self.oracle(it.adapter.name) == Oracle::Uniform {
            hole = Hole::NotCode;
            if self.step.enforces(A6_3_2) || self.step.choose(2) == 1 {
                code = Code::Invalid;
            }
        }
        let token = place.and_then(|it| self.step.account.tokens.get(it));
        let told = Failed {
            adapter: it.adapter.name,
            kind: 0,
            expires_at: token.and_then(|it| it.expires_at),
        };
        let binding = Binding::Failed(told, true);
        let (failure, holes) = (self.failure(it.adapter.name, code), self.holes(hole));
        let is_due = clauses != [A4_2_1] || self.step.enforces(A4_2_1);
        let force = if is_due { Force::Due } else { Force::Usual };
        let respond = Output::Respond(Answer::Failed(failure));
        self.step
            .add(clauses, respond, force)
            .any(holes)
            .bind(binding);
        let entry = it.entry(Event::Rejected, false);
        let known = self.known(shown);
        self.log(&[A6_4_1], Force::Due, entry, known, Effect::Nothing);
        // AQL-1.2-1: only a use that succeeds is one.
        if let Some(token) = place.and_then(|it| self.step.account.tokens.get_mut(it))
            && !self.step.variant.enforces(A1_2_1)
        {
            token.used += 1;
        }
    }

    // ── Section 3.2: which parameters count ──

    fn differ(&mut self, token: &Token, it: &Request) -> Fact {
        let (own, other) = (&token.call.parameters, &it.parameters);
        if own.meaning == other.meaning
            && own.spelling != other.spelling
            && !self.step.enforces(A3_2_3)
            && self.step.choose(2) == 0
        {
            return Fact::Yes;
        }
        let mut changed: SmallVec<[Parameter; 4]> =
            own.beside(other).chain(other.beside(own)).collect();
        // Without the clause that says which, scope modifiers do not count.
        if !self.step.enforces(A3_2_4) {
            changed.retain(|it| it.word == Word::Resource);
        }
        let is_other = own.meaning != other.meaning && own.each.is_empty() && other.each.is_empty();
        let in_full = |names: &[Name]| {
            let counts = changed.iter().map(|it| {
                if names.contains(&it.name) {
                    Fact::Yes
                } else {
                    it.word.counts()
                }
            });
            counts.max().unwrap_or(is_other.into())
        };
        let names_any = |names: &[Name]| own.each.iter().any(|it| names.contains(&it.name));
        let binds_all = self.step.enforces(A3_2_1);
        let by_list = |list: Option<&List>| {
            let Some(List { names, is_left_out }) = list else {
                return in_full(&[]);
            };
            let listed = if names_any(names) {
                changed.iter().any(|it| names.contains(&it.name)).into()
            } else if binds_all {
                in_full(names)
            } else {
                Fact::No
            };
            match (*is_left_out, listed == in_full(&[])) {
                (true, false) => Fact::Perhaps,
                (_, _) => listed,
            }
        };
        let now = self
            .step
            .account
            .list(token.call.adapter.name, token.call.operation.name);
        let (at_issue, now) = if token.list.as_ref() == now {
            return by_list(now);
        } else {
            (by_list(token.list.as_ref()), by_list(now))
        };
        // The list was changed since: the token may be bound to what counted then, or to what counts now, or to
        // neither.
        if at_issue == now && now == Fact::Yes {
            now
        } else {
            Fact::Perhaps
        }
    }
}

impl Parameters {
    /// Those that the other does not have, or has with another value.
    fn beside<'p>(&'p self, other: &'p Self) -> impl Iterator<Item = Parameter> + 'p {
        self.each
            .iter()
            .filter(|it| !other.each.contains(it))
            .copied()
    }
}

impl Word {
    /// AQL-3.2-4: names of resources and what widens a scope are bound, metadata is not: of any other, and of what is bound in
    /// full, either is right.
    fn counts(self) -> Fact {
        match self {
            Self::Resource | Self::Force | Self::Permanent | Self::Recursive => Fact::Yes,
            Self::Timestamp | Self::RequestId | Self::Other => Fact::Perhaps,
        }
    }
}
