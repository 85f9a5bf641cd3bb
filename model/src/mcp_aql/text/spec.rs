//! The confirmation tokens of MCP-AQL as a function: what each request obliges a gatekeeper to.
//!
//! Read it beside the text: sections 1.3, 3 and 5.1 are [`Turn::ask`], section 4 is [`CHECKS`] and [`Turn::redeem`], section
//! 5.3 is [`Turn::introspect`] and what follows it. Where two answers are right, it is a choice, the usual one first.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::clause::{Clause, Clauses, Entry as Listed};
use crate::engine::fact::Fact;
use crate::engine::obligation::{Force, Obligation};
use crate::engine::protocol::{Protocol, Step};
use crate::mcp_aql::text::account::{Account, Bucket, List, Times, Token, Try, is_written};
use crate::mcp_aql::text::alphabet::{
    Answer, Call, Code, Configuration, Entry, Event, EventKind, Failure, INTROSPECT, Issued, Level,
    Look, Lost, Name, Op, Oracle, Output, Parameter, Parameters, Performed, Purpose, Query,
    Readable, Request, Shown, Text, Time, TokenId, Told, Word,
};
use crate::mcp_aql::text::clauses::{
    A1_2_1, A1_2_2, A1_2_3, A1_2_4, A1_2_5, A1_3_1, A1_3_2, A2_1_1, A2_2_1, A2_2_2, A2_2_3, A3_1_1,
    A3_1_2, A3_1_3, A3_2_1, A3_2_3, A3_2_4, A3_3_1, A4_1_1, A4_1_2, A4_1_3, A4_1_4, A4_1_5, A4_1_6,
    A4_2_1, A4_3_1, A5_1_1, A5_1_2, A5_1_3, A5_1_5, A5_1_6, A5_1_7, A5_1_8, A5_2_1, A5_2_2, A5_3_1,
    A5_3_2, A5_3_3, A5_4_1, A5_4_2, A5_4_3, A5_4_4, A5_5_1, A5_5_2, A5_5_3, A6_1_1, A6_1_2, A6_2_1,
    A6_3_1, A6_3_2, A6_3_3, A6_3_4, A6_4_1, A6_5_1, A7_1_1, A7_1_2, A7_2_2, A7_3_1, CLAUSES,
};
use crate::mcp_aql::text::readings::{
    CheckOrder, ClockSetBack, EndedSession, Lifetimes, LongestLife, MultiUse, Numbers, OracleModes,
    PurgeCode, RatingAtRedemption, Reading, RestartedSession, RevokedCode, SessionBinding,
    TokenStorage, ToleranceUnset,
};

/// A name has so many characters at most.
pub const NAME_CHARACTERS: u32 = 256;
/// More uses than that cannot be asked for.
pub const USES: i64 = 4_294_967_295;
/// Parameters of more bytes need not be read.
pub const PARAMETER_BYTES: u32 = 1 << 20;

/// The confirmation tokens of MCP-AQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct McpAql;

macro_rules! checks {
    ($($check:ident $own:ident [$($other:ident),*] [$($code:ident),+] $in_sample:literal;)*) => {
        /// A check of section 4.1, or one that other sections add to it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        enum Check { $($check),* }

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
    NotUsed A4_1_3 [A5_2_1, A6_1_1, A7_1_1] [Used] 10;
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

/// What a gatekeeper chooses of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holes {
    kind: Hole,
    /// What may count as the current time.
    times: Times,
    /// The adapter that was asked, where an entry may name it instead.
    asked: Option<Name>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hole {
    #[default]
    Nothing,
    /// What need not be named is absent.
    Optional,
    /// Every field; what it has to be is for [`Protocol::bind`].
    Every,
    /// Every field but the code.
    NotCode,
    /// The form of an answer.
    Shape,
    /// The time, the id, and what need not be named.
    Entry,
}

/// What meeting an obligation tells the account. A token is named by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// The token that this call asks for is given away.
    Issued,
    /// A use of that token is gone.
    Ran(usize),
    /// An entry about that token, or about one that the gatekeeper does not know.
    Logged(Option<usize>, Effect),
    /// A failure is told. Where its form is bound it is that of all.
    Failed(Failed, bool),
    /// A token is refused without a reason: the gatekeeper goes by what it tells from here on.
    Believed(Failed, Option<usize>, Code),
    /// The request is refused, which those clauses let the host make.
    Refused(Clauses),
}

/// A failure, as an adapter tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failed {
    adapter: Name,
    /// A check, a revocation or a status.
    kind: usize,
    /// When the token expires.
    expires_at: Option<Time>,
}

/// What an entry of the log comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It tells what is known.
    Nothing,
    /// The token is revoked.
    Revokes,
    /// A use of the token may be gone.
    MayUse,
    /// Tokens of that adapter, or of all, may be revoked.
    MayRevoke(Option<Name>),
}

const RESPOND: u8 = 1;
const AUDIT: u8 = 2;

impl Protocol for McpAql {
    type Call = Call;
    type Output = Output;
    type Account = Account;
    type Holes = Holes;
    type Binding = Binding;
    /// Nothing stays owed beyond its call.
    type Closing = ();
    /// The operation.
    type Thing = Name;
    type Reading = Reading;

    const CLAUSES: &'static [Listed] = CLAUSES;

    fn call(step: &mut Step<'_, Self>, call: &Call) {
        step.account.tokens.retain(|it| it.is_issued);
        step.account.times.go_on(call.now);
        let last_run = step.account.last_run.take();
        let mut turn = Turn { step };
        match &call.op {
            Op::Configure(it) => turn.configure(it),
            Op::Call(it) => turn.call(it),
            Op::Introspect {
                adapter,
                query,
                token,
            } => turn.introspect(*adapter, *query, *token),
            Op::Event { kind, session } => turn.event(*kind, *session),
            Op::EndSession(session) => turn.end_session(*session),
            Op::Tick => {}
            Op::Restart(lost) => turn.restart(lost, last_run),
        }
    }

    fn fill(expected: &mut Output, output: &Output, holes: Holes) {
        match (expected, output) {
            (Output::Perform(expected), Output::Perform(it)) => {
                if holes.kind == Hole::Every {
                    *expected = *it;
                } else {
                    expected.adapter = it.adapter.and(expected.adapter);
                    expected.session = it.session.and(expected.session);
                }
            }
            (Output::Respond(Answer::Issued(expected)), Output::Respond(Answer::Issued(it))) => {
                *expected = *it;
            }
            (Output::Respond(Answer::Failed(expected)), Output::Respond(Answer::Failed(it))) => {
                let code = if holes.kind == Hole::Every {
                    it.code
                } else {
                    expected.code
                };
                *expected = Failure { code, ..*it };
            }
            (Output::Respond(Answer::Revoked(expected)), Output::Respond(Answer::Revoked(it)))
            | (Output::Respond(Answer::Status(expected)), Output::Respond(Answer::Status(it))) => {
                if holes.kind == Hole::Every {
                    *expected = *it;
                } else {
                    expected.shape = it.shape;
                }
            }
            (Output::Audit(expected), Output::Audit(it)) if holes.kind != Hole::Nothing => {
                holes.fill_entry(expected, it);
            }
            (_, _) => {}
        }
    }

    fn bind(step: &mut Step<'_, Self>, binding: Binding, output: &Output) -> Result<(), Clauses> {
        match (binding, output) {
            (Binding::Issued, Output::Respond(Answer::Issued(it))) => return issued(step, it),
            (Binding::Ran(place), _) => {
                if let Some(token) = step.account.tokens.get_mut(place) {
                    token.used += 1;
                    step.account.last_run = Some(token.id);
                }
                must_log(step, Event::Validated);
            }
            (Binding::Logged(place, effect), Output::Audit(it)) => {
                return logged(step, place, effect, it);
            }
            (Binding::Failed(it, is_bound), Output::Respond(answer)) => {
                return told(step, it, answer, is_bound);
            }
            (Binding::Believed(it, place, code), Output::Respond(answer)) => {
                if let Some(token) = place.and_then(|it| step.account.tokens.get_mut(it)) {
                    token.is_gone |= code == Code::Invalid;
                    token.was_expired |= code == Code::Expired;
                    token.used = token
                        .used
                        .max(if code == Code::Used { token.uses } else { 0 });
                }
                must_log(step, Event::Rejected);
                return told(step, it, answer, true);
            }
            (Binding::Refused(clauses), _) => {
                let is_in_force = clauses.iter().all(|it| step.enforces(*it));
                return if is_in_force { Err(clauses) } else { Ok(()) };
            }
            (_, _) => {}
        }
        Ok(())
    }

    fn unowed(step: &mut Step<'_, Self>, output: &Output) -> Result<(), Clauses> {
        let clause = match output {
            Output::Perform(_) => A1_3_1,
            // Without which clause it may come is said where it is owed.
            Output::Respond(Answer::Issued(_)) => return Err(&[]),
            Output::Respond(Answer::Unreadable) => A3_2_1,
            Output::Respond(Answer::Limited) => A6_5_1,
            Output::Respond(Answer::Full) => A5_5_3,
            Output::Respond(Answer::Revoked(_)) => A5_3_3,
            Output::Respond(Answer::Status(_)) => A7_3_1,
            Output::Audit(it) if it.event == Event::Revoked && it.is_success => {
                let place = step.account.tokens.iter().position(|token| {
                    token.logged == it.token && token.logged.is_some() && !token.is_told_revoked
                });
                match place.and_then(|it| step.account.tokens.get_mut(it)) {
                    Some(token) => {
                        (token.revoked, token.is_told_revoked) = (Fact::Yes, true);
                        A5_3_2
                    }
                    None => A6_4_1,
                }
            }
            Output::Audit(_) => A6_4_1,
            Output::Refused | Output::Respond(Answer::Failed(_)) => A7_1_2,
            // How an operation went, and what an operator is told besides, is said by no clause.
            Output::Respond(Answer::Other(_)) | Output::Warn => return Ok(()),
        };
        step.check(clause, false).map_err(Clause::alone)
    }

    fn thing(output: &Output) -> Option<Name> {
        match output {
            Output::Perform(it) => Some(it.operation),
            Output::Respond(Answer::Issued(it)) => it.operation,
            Output::Audit(it) => it.operation,
            Output::Respond(_) | Output::Warn | Output::Refused => None,
        }
    }

    fn kind(output: &Output) -> u8 {
        match output {
            Output::Perform(_) => 0,
            Output::Respond(_) => RESPOND,
            Output::Audit(_) | Output::Warn => AUDIT,
            Output::Refused => 3,
        }
    }

    fn gravity(output: &Output) -> u8 {
        match output {
            Output::Perform(_) => 0,
            Output::Respond(_) => 1,
            Output::Audit(_) => 2,
            Output::Warn | Output::Refused => 3,
        }
    }
}

/// What may be told instead, where a check is not made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excuse {
    /// Anything: the check fails.
    Any,
    /// That code, of a token that is good.
    Code(Code),
}

/// What a gatekeeper can answer where it does not what it is asked for.
#[derive(Clone, Copy)]
enum Denial {
    Refused(Clauses),
    Unreadable,
    Limited,
    Full,
}

/// One request under way.
struct Turn<'t, 'v> {
    step: &'t mut Step<'v, McpAql>,
}

impl Turn<'_, '_> {
    // ── Section 1.3: the flow ──

    fn call(&mut self, it: &Arc<Request>) {
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
        let is_due = self.step.enforces(A1_3_1) && self.step.enforces(A5_1_8);
        let force = if is_due { Force::Due } else { Force::Usual };
        let (runs, holes) = (Output::Perform(it.performed()), self.holes(hole));
        self.step.add(&[A1_3_1, A5_1_8], runs, force).any(holes);
        if !is_due {
            self.step.allow(&[], Output::Refused);
            self.issue(it, Force::Allowed);
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
            token.spare += 1;
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
        match self.denial(&denials) {
            Some(denial) => self.deny(denial, it),
            None => self.issue(it, Force::Due),
        }
    }

    /// What cannot be asked for, for certain or perhaps.
    fn flaws(&mut self, it: &Request, denials: &mut SmallVec<[(Fact, Denial); 4]>) {
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
            .is_some_and(|it| self.step.account.has_ended(it.name));
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
        if has_ended && is_bound != Fact::No {
            let stays = self.step.variant.reading.ended_session == EndedSession::StaysEnded;
            refuse(&[A5_4_2], if stays { is_bound } else { Fact::Perhaps });
        }
        if self.step.enforces(A3_2_1) && it.parameters.meaning.is_none() {
            denials.push((Fact::Yes, Denial::Unreadable));
            denials.push((Fact::Yes, Denial::Refused(&[A3_2_1])));
        } else if it.parameters.size > PARAMETER_BYTES {
            denials.push((Fact::Perhaps, Denial::Unreadable));
        }
    }

    /// One of the answers that are right: where none must be given, usually none is.
    fn denial(&mut self, denials: &[(Fact, Denial)]) -> Option<Denial> {
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
        let which = if ways.len() > 1 {
            self.step.choose(count(ways.len()))
        } else {
            0
        };
        ways.get(usize::from(which)).copied().flatten()
    }

    /// "A call that comes without a token and gets none may be audited as a failed `TOKEN_ISSUED`."
    fn deny(&mut self, denial: Denial, it: &Request) {
        self.answer(denial);
        let at = self.step.account.times.greatest;
        let entry = Entry {
            at,
            ..it.entry(Event::Issued, false)
        };
        let holes = self.holes(Hole::Entry);
        self.step.allow(&[], Output::Audit(entry)).any(holes);
    }

    fn answer(&mut self, denial: Denial) {
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

    fn refused(&mut self, clauses: Clauses) {
        // What is not done is answered, though it only may be done at all.
        let clauses = if clauses == [A5_4_1] {
            &[A5_4_1, A7_1_2]
        } else {
            clauses
        };
        self.step.owe(clauses, Output::Refused);
    }

    // ── Section 3: a token is issued ──

    fn issue(&mut self, it: &Arc<Request>, force: Force) {
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

    // ── Section 4: a token comes back ──

    /// A call with a token is not heard: that may be logged.
    fn turn_away(&mut self, denial: Denial, it: &Request, shown: Shown) {
        self.deny(denial, it);
        let known = self.known(shown);
        let entry = it.entry(Event::Rejected, false);
        self.log(&[], Force::Allowed, entry, known, Effect::Nothing);
    }

    fn redeem(&mut self, it: &Arc<Request>, shown: Shown) {
        let (adapter, session) = (it.adapter.name, it.session);
        if self.step.enforces(A3_2_1) && it.parameters.meaning.is_none() {
            self.try_once(Try::Validation, adapter, session);
            return match self.step.choose(3) {
                0 => self.reject(&[A3_2_1], it, (shown, None), (Code::Scope, Hole::Every)),
                1 => self.turn_away(Denial::Unreadable, it, shown),
                _ => self.turn_away(Denial::Refused(&[A3_2_1]), it, shown),
            };
        }
        let has_ended = session.is_some_and(|it| self.step.account.has_ended(it.name));
        if has_ended && it.is_bound(self.reading()) != Fact::No && self.step.choose(2) == 1 {
            return self.refused(&[A5_4_2]);
        }
        let limited = self.limited(Try::Validation, adapter, session);
        if self.step.holds(limited, false) {
            return self.turn_away(Denial::Limited, it, shown);
        }
        let place = self.find(shown);
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
            // Who keeps nothing may tell whatever else is wrong with what was revoked: the table has no row for it.
            let is_lax = row.check == Check::NotRevoked && is_signed;
            if !is_lax || self.step.choose(2) == 0 {
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
        let fails = self.step.holds(fails, false);
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
    fn fails(&mut self, check: Check, it: &Request, place: Option<usize>) -> Fact {
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
            Check::NotUsed if token.used >= token.uses => Fact::Yes,
            Check::NotUsed if token.used + token.spare >= token.uses => Fact::Perhaps,
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
            Check::Exists | Check::Connection | Check::NotUsed | Check::Session => Fact::No,
        }
    }

    /// What was seen of a check narrows what may be.
    fn learn(&mut self, check: Check, place: usize, fails: bool) {
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

    /// AQL-5.5-2: what is over may be purged, and should within the hour. From then on it is unknown.
    fn is_purged(&mut self, place: usize) -> bool {
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
        let usual = if excuse.is_some() {
            Force::Usual
        } else {
            Force::Due
        };
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
        let is_any = excuse == Some(Excuse::Any);
        let (mut code, mut hole) = match excuse {
            None => return,
            Some(Excuse::Any) => (Code::Other, Hole::Every),
            Some(Excuse::Code(code)) => (code, Hole::NotCode),
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
        self.log(&[A6_4_1], Force::Allowed, entry, known, Effect::Nothing);
        if is_any {
            let others = [Answer::Limited, Answer::Full, Answer::Unreadable].map(Output::Respond);
            for other in others.into_iter().chain([Output::Refused]) {
                self.step.allow(&[], other);
            }
            self.issue(it, Force::Allowed);
        }
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
        // The list was changed since: the token may be bound to what counted then, or to what counts now, or to neither.
        if at_issue == now && now == Fact::Yes {
            now
        } else {
            Fact::Perhaps
        }
    }

    // ── Section 5.1: expiry ──

    fn tolerance(&self, adapter: Name) -> Time {
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
        let clocks = match self.reading().clock_set_back {
            ClockSetBack::StaysExpired => times.each(),
            ClockSetBack::CurrentTime => [times.now; 3],
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
    fn over(&self, place: usize) -> Fact {
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

    fn is_past_expiry(&self, place: usize) -> bool {
        let expires_at = self
            .step
            .account
            .tokens
            .get(place)
            .and_then(|it| it.expires_at);
        expires_at.is_some_and(|it| self.step.account.times.now > it)
    }

    /// Whether they have; what is called expired stays so.
    fn is_over(&mut self, place: usize) -> bool {
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
        let (mut clocks, [of_issue, current]) = self.clocks(&token);
        let ends = |tolerance| {
            token
                .expires_at
                .unwrap_or(Time::MAX)
                .saturating_add(tolerance)
        };
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

    fn introspect(&mut self, adapter: Text, query: Query, shown: Shown) {
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
            return self.answer(Denial::Limited);
        }
        let place = self.find(shown);
        let is_live = place.is_some_and(|it| self.is_live(it));
        let is_signed = self.reading().token_storage == TokenStorage::Signed;
        let token = place
            .and_then(|it| self.step.account.tokens.get(it))
            .cloned();
        let entry = token.as_ref().map_or(
            Entry {
                at: self.step.account.times.greatest,
                event: Event::Revoked,
                is_success: false,
                token: None,
                operation: Some(INTROSPECT),
                adapter: Some(adapter),
                session: None,
            },
            |it| it.call.entry(Event::Revoked, false),
        );
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
                self.log_query(entry, adapter, shown);
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
                self.log_query(
                    Entry {
                        is_success: is_done,
                        ..entry
                    },
                    adapter,
                    shown,
                );
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
    fn event(&mut self, kind: EventKind, session: Option<Text>) {
        // A host that has no such events refuses them.
        if self.step.choose(2) == 1 {
            return self.refused(&[A5_3_2]);
        }
        let of = session
            .filter(|_| kind == EventKind::Logout)
            .map(|it| it.name);
        self.revoke(None, |it| {
            of.is_none() || it.call.session.map(|it| it.name) == of
        });
    }

    /// These tokens may be revoked, which is logged.
    fn revoke(&mut self, adapter: Option<Name>, is_its: impl Fn(&Token) -> bool) {
        let others = !self.step.enforces(A5_3_2);
        let is_shown = self.step.variant.shows(AUDIT);
        let mut is_any = false;
        for place in 0..self.step.account.tokens.len() {
            let Some(token) = self.step.account.tokens.get_mut(place) else {
                continue;
            };
            if token.is_told_revoked || !(others || is_its(token)) {
                continue;
            }
            is_any = true;
            if !is_shown {
                token.revoked = Fact::Perhaps;
                continue;
            }
            let entry = token.call.entry(Event::Revoked, true);
            let force = if token.used < token.uses {
                Force::Usual
            } else {
                Force::Allowed
            };
            self.log(&[A5_3_2], force, entry, Some(place), Effect::Revokes);
        }
        // Who signs knows none of them: one entry may stand for all.
        if is_any && is_shown && self.reading().token_storage == TokenStorage::Signed {
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
            let binding = Binding::Logged(None, Effect::MayRevoke(adapter));
            self.step
                .allow(&[], Output::Audit(entry))
                .any(any)
                .bind(binding);
        }
    }

    /// AQL-5.4-2.
    fn end_session(&mut self, session: Text) {
        if Self::is_odd([session]) && self.step.choose(2) == 1 {
            return self.refused(&[A7_1_2]);
        }
        if let Err(place) = self.step.account.ended.binary_search(&session.name) {
            self.step.account.ended.insert(place, session.name);
        }
        self.cut(Some(session.name), Force::Due);
    }

    /// A connection ends, or all do, and the tokens that are bound to it.
    fn cut(&mut self, session: Option<Name>, force: Force) {
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

    fn configure(&mut self, it: &Configuration) {
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
        let (mode, clauses): (_, Clauses) = match self.reading().oracle {
            OracleModes::Configured => (None, &[A7_1_2]),
            OracleModes::Codes => (Some(Oracle::Codes), &[A7_1_2]),
            OracleModes::Uniform => (Some(Oracle::Uniform), &[A6_3_2]),
        };
        if it
            .oracle
            .is_some_and(|it| mode.is_some_and(|mode| mode != it))
        {
            denials.push((Fact::Yes, refused(clauses)));
        }
        if let Some(denial) = self.denial(&denials) {
            return self.answer(denial);
        }
        self.step
            .allow(&[], Output::Refused)
            .bind(Binding::Refused(&[A5_1_5]));
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
        self.revoke(Some(name), |it| {
            it.call.adapter.name == name && (is_all || changed.contains(&it.call.operation.name))
        });
    }

    /// "… in place of all that were named before." The operations of which other parameters count now.
    fn list(&mut self, adapter: Name, lists: &[(Name, Vec<Name>)]) -> Vec<Name> {
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

    fn oracle(&self, adapter: Name) -> Oracle {
        match self.reading().oracle {
            OracleModes::Uniform => Oracle::Uniform,
            OracleModes::Codes => Oracle::Codes,
            OracleModes::Configured => {
                let set = self.step.account.adapter(adapter).and_then(|it| it.oracle);
                set.unwrap_or(Oracle::Codes)
            }
        }
    }

    // ── Section 5.5: storage ──

    /// "Tokens may be lost (5.5), never forgotten as used."
    fn restart(&mut self, lost: &Lost, last_run: Option<TokenId>) {
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
        self.step.account.ended.clear();
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
    fn known(&self, shown: Shown) -> Option<usize> {
        let id = match shown {
            Shown::Token(id) => id,
            Shown::OtherCase(id) if !self.step.enforces(A2_2_3) => id,
            Shown::OtherCase(_) | Shown::Unknown | Shown::Blank => return None,
        };
        self.step.account.tokens.iter().position(|it| it.id == id)
    }

    /// The same, where the gatekeeper still has it. What a crash took it took as a whole.
    fn find(&mut self, shown: Shown) -> Option<usize> {
        let place = self.known(shown)?;
        let is_old = self.step.account.tokens.get(place)?.is_old;
        if is_old && self.step.decide(|it| &mut it.lost, false) {
            let old = self.step.account.tokens.iter_mut().filter(|it| it.is_old);
            old.for_each(|it| it.is_gone = true);
        }
        (!self.step.account.tokens.get(place)?.is_gone).then_some(place)
    }

    // ── Sections 5.5 and 6.5: how much ──

    /// AQL-6.5-1. A limit is required where one session has used it up, and allowed where all together have. Where none is
    /// declared, it is allowed from the second try on.
    fn limited(&self, kind: Try, adapter: Name, session: Option<Text>) -> Fact {
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

    fn try_once(&mut self, kind: Try, adapter: Name, session: Option<Text>) {
        try_once(self.step, kind, adapter, session);
    }

    /// AQL-5.5-3.
    fn is_full(&self, adapter: Name) -> Fact {
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
            Some(capacity) => (active >= capacity).into(),
            None if active >= self.numbers().capacity => Fact::Perhaps,
            None => Fact::No,
        }
    }

    // ── Section 6.4: the log ──

    /// An entry, by each of these clauses.
    fn log(
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
    fn log_query(&mut self, entry: Entry, adapter: Name, shown: Shown) {
        let mut holes = self.holes(Hole::Entry);
        holes.asked = Some(adapter);
        let place = self.known(shown);
        self.log(&[A6_4_1], Force::Due, entry, place, Effect::Nothing)
            .any(holes);
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

    // ── Answers ──

    fn failure(&self, adapter: Name, code: Code) -> Failure {
        Failure {
            code,
            is_whole: self.step.enforces(A4_2_1),
            shape: if code == Code::Invalid {
                self.shape(adapter, 0)
            } else {
                1
            },
            expired_at: None,
            current_time: None,
            exposes_parameters: !self.step.enforces(A6_3_1),
        }
    }

    fn shape(&self, adapter: Name, kind: usize) -> Name {
        let shapes = self
            .step
            .account
            .adapter(adapter)
            .and_then(|it| it.shapes.get(kind));
        shapes
            .and_then(|it| it.first())
            .copied()
            .unwrap_or_default()
    }

    fn holes(&self, kind: Hole) -> Holes {
        Holes {
            kind,
            times: self.step.account.times,
            asked: None,
        }
    }

    fn is_odd(names: impl IntoIterator<Item = Text>) -> bool {
        names
            .into_iter()
            .any(|it| !(1..=NAME_CHARACTERS).contains(&it.characters))
    }

    fn reading(&self) -> Reading {
        self.step.variant.reading
    }

    fn numbers(&self) -> Numbers {
        self.step.variant.reading.numbers
    }
}

/// So many options; beyond 255 the others are not tried.
fn count(options: usize) -> u8 {
    u8::try_from(options).unwrap_or(u8::MAX)
}

fn try_once(step: &mut Step<'_, McpAql>, kind: Try, adapter: Name, session: Option<Text>) {
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

/// A token was given away: what it looks like, how long it lives, and what the answer says.
fn issued(step: &mut Step<'_, McpAql>, it: &Issued) -> Result<(), Clauses> {
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

/// An entry of the log: it names the token by an id that no other has.
fn logged(
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
        (Effect::MayRevoke(_), _) => true,
        (_, None) => it.token.is_some() && owner.is_none(),
        (_, Some(place)) => {
            let known = step.account.tokens.get(place).and_then(|it| it.logged);
            it.token.is_some() && known.map_or(owner.is_none(), |known| it.token == Some(known))
        }
    };
    if !is_right {
        return step.check(A6_4_1, false).map_err(Clause::alone);
    }
    if let Effect::MayRevoke(adapter) = effect {
        let its = step.account.tokens.iter_mut();
        let its = its.filter(|it| adapter.is_none_or(|name| it.call.adapter.name == name));
        its.for_each(|it| it.revoked = it.revoked.max(Fact::Perhaps));
    }
    if let Some(token) = place.and_then(|it| step.account.tokens.get_mut(it)) {
        token.logged = it.token;
        match effect {
            Effect::Revokes => (token.revoked, token.is_told_revoked) = (Fact::Yes, true),
            Effect::MayUse => token.spare += 1,
            Effect::Nothing | Effect::MayRevoke(_) => {}
        }
    }
    Ok(())
}

/// What was allowed has happened, and is logged.
fn must_log(step: &mut Step<'_, McpAql>, event: Event) {
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
fn told(
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

impl Request {
    /// AQL-1.3-1, AQL-5.1-8: every quota pause needs a token, and every operation above reversible.
    fn is_gated(&self) -> bool {
        self.level >= Level::Destructive || self.purpose == Purpose::Quota
    }

    /// What is dangerous past a quota is asked about once, for its danger.
    fn purpose_of_token(&self) -> Purpose {
        if self.level >= Level::Destructive {
            Purpose::Confirmation
        } else {
            Purpose::Quota
        }
    }

    /// AQL-5.1-1.
    fn lifetimes(&self, numbers: &Numbers) -> Lifetimes {
        match self.level {
            Level::Safe | Level::Reversible => numbers.quota,
            Level::Destructive | Level::Dangerous => numbers.destructive,
            Level::Forbidden => numbers.forbidden,
        }
    }

    /// Whether a token for it is bound to its session.
    fn is_bound(&self, reading: Reading) -> Fact {
        let is_multiple = self.max_uses.unwrap_or(1) > 1;
        match (self.session, self.session_scope) {
            (None, _) => Fact::No,
            (_, Some(true)) => Fact::Yes,
            (_, Some(false)) if is_multiple => Fact::Perhaps,
            (_, Some(false)) => Fact::No,
            (_, None) => (is_multiple || reading.session_binding == SessionBinding::Always).into(),
        }
    }

    fn performed(&self) -> Performed {
        Performed {
            operation: self.operation.name,
            parameters: self.parameters.meaning,
            adapter: Some(self.adapter.name),
            session: self.session.map(|it| it.name),
        }
    }

    fn entry(&self, event: Event, is_success: bool) -> Entry {
        Entry {
            at: 0,
            event,
            is_success,
            token: None,
            operation: Some(self.operation.name),
            adapter: Some(self.adapter.name),
            session: self.session.map(|it| it.name),
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
    /// "Resource identifiers (IDs, names, paths)", "scope modifiers", "NOT metadata": of any other, and of what is bound in
    /// full, either is right.
    fn counts(self) -> Fact {
        match self {
            Self::Resource | Self::Force | Self::Permanent | Self::Recursive => Fact::Yes,
            Self::Timestamp | Self::RequestId | Self::Other => Fact::Perhaps,
        }
    }
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

impl Holes {
    fn fill_entry(self, expected: &mut Entry, it: &Entry) {
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
