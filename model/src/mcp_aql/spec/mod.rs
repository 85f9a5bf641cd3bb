//! The confirmation tokens of MCP-AQL as a function: what each request obliges a gatekeeper to.
//!
//! Read it beside the text, a module for a chapter. Where two answers are right, it is a choice, the usual one first.

mod checks;
mod issue;
mod lifecycle;
mod log;
mod storage;

use crate::engine::clause::{Clause, Clauses, Entry as Listed};
use crate::engine::fact::Fact;
use crate::engine::protocol::{Protocol, Step};
use crate::mcp_aql::account::{Account, Times};
use crate::mcp_aql::alphabet::{
    Answer, Call, Code, Entry, Event, Failure, Level, Name, Op, Output, Performed, Purpose,
    Request, Text, Time,
};
use crate::mcp_aql::clauses::{
    A1_3_1, A3_2_1, A4_2_1, A5_3_2, A5_3_3, A5_5_3, A6_3_1, A6_4_1, A6_5_1, A7_1_2, A7_3_1, CLAUSES,
};
use crate::mcp_aql::readings::{Lifetimes, Numbers, Reading, SessionBinding};
use crate::mcp_aql::spec::issue::issued;
use crate::mcp_aql::spec::log::{logged, must_log, told};

/// A name has so many characters at most.
pub const NAME_CHARACTERS: u32 = 256;
/// More uses than that cannot be asked for.
pub const USES: i64 = 4_294_967_295;
/// Parameters of more bytes need not be read.
pub const PARAMETER_BYTES: u32 = 1 << 20;

/// The confirmation tokens of MCP-AQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct McpAql;

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
    /// Tokens of that adapter and that session, or of all, may be revoked.
    MayRevoke {
        /// The adapter.
        adapter: Option<Name>,
        /// The session.
        session: Option<Name>,
    },
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
                    token.spare = token.spare.min((token.uses - token.used).max(0));
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

    /// Whether it asks for as many uses in the same session, bound as much.
    fn asks_alike(&self, other: &Self) -> bool {
        let asks = |it: &Self| (it.session, it.session_scope, it.max_uses);
        asks(self) == asks(other)
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
