//! Steps of a random run, drawn from bytes. The reference takes each beside, so that most calls show a token that was given away, and
//! most times that pass end when something ends.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::{Error, Result, Unstructured};
use countersign_model::mcp_aql::McpAql as Spec;
use countersign_model::mcp_aql::alphabet::{Answer, Output};
use countersign_protocol::mcp_aql::{
    Call, DangerLevel, EventKind, McpAql, Op as Own, Oracle, Purpose, Query,
};
use countersign_protocol::{Common, Json, Op};

use super::executor::{Reference, Settings};
use super::spoken::{TOKEN, named};
use crate::driven::{Asked, Step};
use crate::near::{self, seed};
use crate::spoken::{self, Driver, Host as _, START};

/// So many bytes are a step.
pub(super) const BYTES: usize = 32;

/// How many of each a run has at most.
const ADAPTERS: u8 = 3;
const OPERATIONS: u8 = 8;
const SESSIONS: u8 = 8;
/// How far back tokens are taken from, and how many there are at the start of a run with many.
const TOKENS: u8 = 32;
const CROWD: u8 = 30;

/// The names of parameters. The first two name a resource and widen the scope; no call has the last.
const NAMES: [&str; 5] = ["path", "force", "request_id", "note", "resource"];
const PARAMETERS: usize = 4;

/// Their values.
const VALUES: [&str; 4] = [
    "\"secret-a\"",
    "777001",
    "true",
    "{\"x\":[\"secret-b\",null],\"y\":-0.5}",
];

/// Seconds at which and beside which a life changes.
const LIVES: [i64; 15] = [
    0, 1, 60, 119, 120, 121, 299, 300, 301, 599, 600, 601, 899, 900, 901,
];
const TOLERANCES: [i64; 13] = [0, 1, 5, 29, 30, 31, 59, 60, 61, 120, 299, 300, 301];
/// For so long a gatekeeper may remember a token that is over.
const RETENTIONS: [i64; 4] = [900, 0, 1, 3_000];

/// A run that is being drawn, with the reference beside.
pub struct Drawn {
    driver: Driver<Spec>,
    reference: Reference,
    /// The tokens, in the order of issue.
    issued: Vec<Issued>,
    now: i64,
    /// How many of each this run has: where there are few, more happens to each.
    adapters: u8,
    operations: u8,
    sessions: u8,
    /// The time goes on by little, so that many tokens are alive.
    is_calm: bool,
    /// Few tokens are issued, mostly of many uses, so that each is shown often: one of ten uses is used up.
    repeats: bool,
    /// So many steps it begins with in which nothing but a token is asked for: there are more than a run has else.
    crowd: u8,
}

/// A token that was given away.
struct Issued {
    call: Call,
    expires_at: i64,
    /// The last millisecond at which it is taken.
    last: i64,
}

fn below(u: &mut Unstructured<'_>, n: u8) -> Result<u8> {
    u.int_in_range(0..=n.saturating_sub(1))
}

fn one_in(u: &mut Unstructured<'_>, n: u8) -> Result<bool> {
    Ok(below(u, n)? + 1 == n)
}

fn maybe<T>(
    u: &mut Unstructured<'_>,
    n: u8,
    some: impl FnOnce(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    one_in(u, n)?.then(|| some(u)).transpose()
}

/// A token counted back from the latest; most often one of the last.
fn back(u: &mut Unstructured<'_>) -> Result<usize> {
    let among = *u.choose(&[1, 2, 4, 8, TOKENS])?;
    below(u, among).map(usize::from)
}

impl spoken::Drawn<Spec> for Drawn {
    fn begin(bytes: &[u8]) -> Self {
        let u = &mut Unstructured::new(bytes);
        let few = |u: &mut Unstructured<'_>, ways: &[u8]| u.choose(ways).copied().unwrap_or(1);
        Self {
            driver: Driver::of_all(),
            reference: Reference::new(Settings::default()),
            issued: Vec::new(),
            now: START,
            adapters: few(u, &[1, ADAPTERS]),
            operations: few(u, &[1, 2, OPERATIONS]),
            sessions: few(u, &[1, 2, SESSIONS]),
            is_calm: one_in(u, 3).unwrap_or_default(),
            repeats: one_in(u, 3).unwrap_or_default(),
            crowd: if one_in(u, 10).unwrap_or_default() {
                CROWD
            } else {
                0
            },
        }
    }

    fn next(&mut self, u: &mut Unstructured<'_>) -> Result<Step<McpAql>> {
        let op = if let Some(left) = self.crowd.checked_sub(1) {
            self.crowd = left;
            Op::Own(Own::Call(self.of_crowd()))
        } else {
            self.pass(u)?;
            self.op(u)?
        };
        Ok(Step::new(self.now, op))
    }

    fn take(&mut self, step: &Step<McpAql>) {
        let Some(Asked { call, .. }) = self.driver.ask(step) else {
            return;
        };
        let outputs = self.reference.answer(&call);
        self.driver.is_answered(&outputs);
        let is_issued = |it: &Output| matches!(it, Output::Respond(Answer::Issued(_)));
        let token = self.reference.gatekeeper().tokens().last();
        if let (true, Some(token), Some(Op::Own(Own::Call(call)))) =
            (outputs.iter().any(is_issued), token, step.ask.op())
        {
            self.issued.push(Issued {
                call: call.clone(),
                expires_at: token.expires_at.millis(),
                last: token.valid_until.millis(),
            });
        }
    }
}

impl Drawn {
    /// The number of the token so many back from the latest.
    fn number(&self, back: usize) -> Result<usize> {
        let back = back.checked_rem(self.issued.len().min(usize::from(TOKENS)));
        let back = back.ok_or(Error::EmptyChoose)?;
        Ok(self.issued.len() - 1 - back)
    }

    /// Time passes, is set back, or comes to the end of something.
    fn pass(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let millis = match below(u, if self.is_calm { 15 } else { 24 })? {
            0..10 => 0,
            10..14 => below(u, 255)?.into(),
            14..16 => 1_000 * i64::from(below(u, 200)?),
            16 => 600_000 * i64::from(below(u, 30)?),
            17 => -i64::from(below(u, 255)?) * u.choose(&[1, 1_000, 60_000])?,
            _ => {
                let number = self.number(back(u)?);
                let retention = 1_000 * u.choose(&RETENTIONS)?;
                let (which, offset) = (below(u, 4)?, u.int_in_range(-1..=1)?);
                let time = number.map_or(self.now, |number| {
                    let Issued {
                        expires_at, last, ..
                    } = self.issued[number];
                    offset + [last, expires_at, last, last + retention][usize::from(which)]
                });
                self.now.max(time) - self.now
            }
        };
        self.now += millis;
        Ok(())
    }

    fn op(&self, u: &mut Unstructured<'_>) -> Result<Op<McpAql>> {
        let own = match below(u, 40)? {
            0..10 if !self.repeats || one_in(u, 8)? => Own::Call(self.call(u)?),
            0..31 => Own::Call(self.retry(u)?),
            drawn @ 31..34 => Own::Introspect {
                adapter: maybe(u, 4, |u| self.adapter(u))?.flatten(),
                query: if drawn == 33 || drawn == 32 && self.repeats {
                    Query::TokenStatus
                } else {
                    Query::RevokeToken
                },
                token: self.shown(u)?,
            },
            34 => self.configure(u)?,
            35 => {
                let session_id = (!one_in(u, 4)?).then(|| self.session(u)).transpose()?;
                event(EventKind::Logout, session_id)
            }
            36 if one_in(u, 3)? => event(EventKind::Security, None),
            36 if one_in(u, 3)? => event(EventKind::Configuration, None),
            36 | 37 => Own::EndSession {
                session_id: self.session(u)?,
            },
            drawn => {
                let lost = Some(below(u, 6)?.into());
                let common = if drawn == 38 {
                    Common::Tick {}
                } else {
                    Common::Restart { lost }
                };
                return Ok(Op::Common(common));
            }
        };
        Ok(Op::Own(own))
    }

    /// Where much is repeated, all of them in one session.
    fn of_crowd(&self) -> Call {
        Call {
            session_id: self.repeats.then(|| "session-0".to_owned()),
            max_uses: self.repeats.then_some(2),
            ..plain()
        }
    }

    fn adapter(&self, u: &mut Unstructured<'_>) -> Result<Option<String>> {
        below(u, self.adapters).map(adapter)
    }

    fn operation(&self, u: &mut Unstructured<'_>) -> Result<String> {
        Ok(format!("operation-{}", below(u, self.operations)?))
    }

    fn session(&self, u: &mut Unstructured<'_>) -> Result<String> {
        Ok(format!("session-{}", below(u, self.sessions)?))
    }

    fn call(&self, u: &mut Unstructured<'_>) -> Result<Call> {
        let is_repeated = self.repeats && !one_in(u, 4)?;
        let in_session = if is_repeated { 1 } else { 2 };
        let session_id = maybe(u, in_session, |u| self.session(u))?;
        let uses = if is_repeated {
            Some(u.int_in_range(3..=10)?)
        } else {
            maybe(u, 2, |u| below(u, 11))?
        };
        let is_quota = one_in(u, 4)?;
        let levels: &[u8] = if is_quota {
            &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 3, 4]
        } else {
            &[2, 3, 4, 2, 3, 4, 0, 1]
        };
        let mut members = Vec::new();
        for name in NAMES.iter().take(PARAMETERS) {
            let value = maybe(u, 2, |u| u.choose(&VALUES).copied())?;
            members.extend(value.map(|it| format!("{name:?}:{it}")));
        }
        let params = format!("{{{}}}", members.join(","));
        let near = maybe(u, 16, seed)?;
        let params = near.map_or(params.clone(), |seed| near::json(seed, &params));
        Ok(Call {
            adapter: self.adapter(u)?,
            operation: self.operation(u)?,
            danger_level: level(*u.choose(levels)?),
            max_uses: uses.filter(|_| session_id.is_some()).map(i64::from),
            session_id,
            session_scope: maybe(u, 12, |u| u.ratio(1, 2_u8))?,
            ttl_seconds: maybe(u, 3, |u| u.choose(&LIVES).copied())?,
            confirmation_token: maybe(u, 12, |u| self.shown(u))?,
            purpose: is_quota.then_some(Purpose::QuotaContinue),
            params: Json::holding(&params),
            ..plain()
        })
    }

    /// The call for which a token was issued, again and mostly with that token, and something else than it was.
    fn retry(&self, u: &mut Unstructured<'_>) -> Result<Call> {
        let number = self.number(back(u)?)?;
        let mut call = self.issued[number].call.clone();
        let token = maybe(u, 10, |u| self.shown(u))?;
        let is_own = token.is_none();
        call.confirmation_token = token.or(Some(named(TOKEN, number)));
        let changes = if is_own {
            *u.choose(&[0, 0, 0, 1, 1, 2])?
        } else {
            0
        };
        for _ in 0..changes {
            match below(u, 9)? {
                0 => call.adapter = adapter(below(u, ADAPTERS)?),
                1 => call.operation = format!("operation-{}", below(u, OPERATIONS)?),
                2..5 => {
                    let params = near::json(seed(u)?, &call.params.text());
                    call.params = Json::holding(&params);
                }
                5 => call.danger_level = level(below(u, 5)?),
                6 => {
                    call.purpose = match call.purpose {
                        Some(_) => None,
                        None => Some(Purpose::QuotaContinue),
                    };
                }
                7 => call.session_id = maybe(u, 2, |u| self.session(u))?,
                _ => call.max_uses = Some(below(u, 11)?.into()),
            }
        }
        Ok(call)
    }

    fn shown(&self, u: &mut Unstructured<'_>) -> Result<String> {
        Ok(match below(u, 8)? {
            0..5 => named(TOKEN, self.number(back(u)?)?),
            5 => format!("conf_{}{}", below(u, 4)?, "f".repeat(63)),
            _ => near::text(seed(u)?, &named(TOKEN, self.number(back(u)?)?)),
        })
    }

    fn configure(&self, u: &mut Unstructured<'_>) -> Result<Own> {
        let adapter = self.adapter(u)?;
        let critical = maybe(u, 2, |u| {
            let mut lists = BTreeMap::new();
            for _ in 0..below(u, 5)? {
                let (operation, bits) = (self.operation(u)?, below(u, 32)?);
                let names = (0..).zip(NAMES).filter(|(bit, _)| bits >> bit & 1 == 1);
                let names = names.map(|(_, name)| name.to_owned());
                lists.insert(operation, names.collect::<BTreeSet<_>>());
            }
            Ok(lists)
        })?;
        Ok(Own::Configure {
            adapter: adapter.unwrap_or_else(|| "default".to_owned()),
            clock_skew_tolerance_seconds: maybe(u, 2, |u| u.choose(&TOLERANCES).copied())?,
            oracle: maybe(u, 2, |u| {
                u.choose(&[Oracle::Codes, Oracle::Uniform]).copied()
            })?,
            critical,
        })
    }
}

/// The first is that of a call that names none.
fn adapter(number: u8) -> Option<String> {
    (number > 0).then(|| format!("adapter-{number}"))
}

/// A call that gets a token, for as long as there is one.
fn plain() -> Call {
    Call {
        adapter: None,
        operation: "operation-0".to_owned(),
        params: Json::holding("{}"),
        danger_level: DangerLevel::Destructive,
        session_id: None,
        session_scope: None,
        max_uses: None,
        ttl_seconds: Some(900),
        confirmation_token: None,
        purpose: None,
        reasons: None,
        confirmation_message: None,
    }
}

fn event(kind: EventKind, session_id: Option<String>) -> Own {
    Own::Event { kind, session_id }
}

fn level(number: u8) -> DangerLevel {
    match number {
        0 => DangerLevel::Safe,
        1 => DangerLevel::Reversible,
        2 => DangerLevel::Destructive,
        3 => DangerLevel::Dangerous,
        _ => DangerLevel::Forbidden,
    }
}
