//! MCP-AQL confirmation tokens over the driver protocol: ops as inputs of the gatekeeper, its outputs as the protocol's.
//!
//! The one thing to know: `params` is what a client sent, and reaches the gatekeeper as it is written. So a key twice, half
//! a surrogate pair or a number that is too large is answered by the gatekeeper, as the client would be, and not by the
//! reader of requests.

use std::collections::BTreeSet;

use countersign_protocol::mcp_aql::{self as driver, Capability, McpAql as Protocol, Op};
use countersign_protocol::{Json, Kind, Refused};
use countersign_reference::ids::IdSource;
use countersign_reference::mcp_aql::{
    AdapterName, Call, DangerLevel, EventKind, Gatekeeper, Input, OperationName, Oracle, Outcome,
    Output, Parameters, Purpose, Query, Refusal, SessionId, Settings, SigningKey,
};
use countersign_reference::time::Timestamp;

use super::{Failure, Instead, Last, Service, parsed, refusal, stored_and_read_back, told};

/// The adapter of a call that names none, as the driver protocol has it.
pub const DEFAULT_ADAPTER: &str = "default";

/// The gatekeeper, and beside it what its host keeps: the source of identifiers, and the settings of every new gatekeeper.
#[derive(Clone, Debug)]
pub struct McpAql<Ids> {
    gatekeeper: Gatekeeper,
    settings: Settings,
    signs: bool,
    /// How much a failed check tells, whatever is configured; nothing where that is the operator's to say.
    oracle: Option<Oracle>,
    ids: Ids,
}

impl<Ids: IdSource> McpAql<Ids> {
    /// A gatekeeper without tokens, drawing its identifiers from `ids`. A reset leaves the settings as they are, and the
    /// adapter of a call that names none is always [`DEFAULT_ADAPTER`].
    pub fn new(mut settings: Settings, ids: Ids) -> Self {
        if let Ok(adapter) = AdapterName::parse(DEFAULT_ADAPTER) {
            settings.adapter = adapter;
        }
        Self {
            gatekeeper: Gatekeeper::new(settings.clone()),
            settings,
            signs: false,
            oracle: None,
            ids,
        }
    }

    /// The same, and no operator has it tell which check failed (AQL-6.3-2).
    #[must_use]
    pub fn always_uniform(mut self) -> Self {
        self.oracle = Some(Oracle::Uniform);
        self
    }

    /// The same, and it signs its tokens instead of keeping them (AQL-6.2-2). Each reset has a key of its own.
    pub fn signing(settings: Settings, ids: Ids) -> Self {
        let mut service = Self::new(settings, ids);
        service.signs = true;
        service.gatekeeper = service.fresh();
        service
    }

    /// A gatekeeper that nothing has happened to.
    fn fresh(&mut self) -> Gatekeeper {
        let settings = self.settings.clone();
        if self.signs {
            let bits = [self.ids.next_bits(), self.ids.next_bits()];
            Gatekeeper::signing(settings, SigningKey::from_bits(bits))
        } else {
            Gatekeeper::new(settings)
        }
    }
}

/// What a gatekeeper that signs cannot do is keep count, or end with a session (AQL-5.4-1).
const SIGNING_SUPPORTS: &[Capability] = &[
    Capability::Quota,
    Capability::Introspect,
    Capability::Restart,
];

impl<Ids: IdSource> Service for McpAql<Ids> {
    type Protocol = Protocol;
    type Input = Input;
    const SUPPORTS: &'static [Capability] = &[
        Capability::MultiUse,
        Capability::SessionScope,
        Capability::Quota,
        Capability::Introspect,
        Capability::Restart,
    ];
    const SHOWS: &'static [Kind] = &[Kind::Perform, Kind::Respond, Kind::Audit, Kind::Refused];
    const TICK: Input = Input::Tick;

    fn supports(&self) -> &'static [Capability] {
        if self.signs {
            SIGNING_SUPPORTS
        } else {
            Self::SUPPORTS
        }
    }

    fn reset(&mut self, _: Timestamp) -> Result<(), Failure> {
        // The tick that follows tells the time, and warns of the settings (AQL-5.1-6).
        self.gatekeeper = self.fresh();
        Ok(())
    }

    fn input(op: Op) -> Result<Input, Instead> {
        Ok(match op {
            Op::Configure {
                adapter,
                clock_skew_tolerance_seconds,
                oracle,
                critical,
            } => {
                let operation = |(name, parameters): (String, BTreeSet<String>)| {
                    Ok((parsed("critical", &name, OperationName::parse)?, parameters))
                };
                Input::Configure {
                    adapter: adapter_name(&adapter)?,
                    clock_skew_tolerance_seconds: clock_skew_tolerance_seconds.map(seconds),
                    oracle: oracle.map(|oracle| match oracle {
                        driver::Oracle::Codes => Oracle::Codes,
                        driver::Oracle::Uniform => Oracle::Uniform,
                    }),
                    critical: critical
                        .map(|rules| {
                            rules
                                .into_iter()
                                .map(operation)
                                .collect::<Result<_, Instead>>()
                        })
                        .transpose()?,
                }
            }
            Op::Call(call) => Input::Call(called(call)?),
            Op::Introspect {
                adapter,
                query,
                token,
            } => Input::Introspect {
                adapter: adapter.as_deref().map(adapter_name).transpose()?,
                query: match query {
                    driver::Query::RevokeToken => Query::RevokeToken,
                    driver::Query::TokenStatus => Query::TokenStatus,
                },
                token,
            },
            Op::Event { kind, session_id } => Input::Event {
                kind: match kind {
                    driver::EventKind::Logout => EventKind::Logout,
                    driver::EventKind::Security => EventKind::Security,
                    driver::EventKind::Configuration => EventKind::Configuration,
                },
                session_id: session_id.as_deref().map(session).transpose()?,
            },
            Op::EndSession { session_id } => Input::EndSession {
                session_id: session(&session_id)?,
            },
        })
    }

    /// AQL-5.4-1: who signs has neither several uses nor sessions.
    fn is_declared(&self, input: &Input) -> bool {
        let Input::Call(call) = input else {
            return true;
        };
        !self.signs || (call.max_uses == 1 && call.session_scope != Some(true))
    }

    fn refused(refused: Refused) -> driver::Output {
        driver::Output::Refused(refused)
    }

    fn handle(&mut self, now: Timestamp, mut input: Input) -> Result<Vec<driver::Output>, Failure> {
        if let (Input::Configure { oracle, .. }, Some(_)) = (&mut input, self.oracle) {
            *oracle = oracle.and(self.oracle);
        }
        let Outcome { outputs, refused } = self.gatekeeper.handle(now, &mut self.ids, input);
        let refused = refused.map(|it| refusal(it.clause(), it));
        told::<Self>(outputs.iter().map(output), refused)
    }

    /// What was lost is not repeated: a token is used whether or not its operation has run (AQL-5.2-2), and a client that
    /// got no answer calls again. The connections end with the process, and with them what is bound to them (AQL-5.4-2).
    fn restart(
        &mut self,
        now: Timestamp,
        _: Option<Last<'_>>,
    ) -> Result<Vec<driver::Output>, Instead> {
        self.gatekeeper = stored_and_read_back(&self.gatekeeper)?;
        let mut outputs = self.handle(now, Input::Restart)?;
        let tokens = self.gatekeeper.tokens();
        let sessions = tokens.filter_map(|token| token.scope.session_id.clone());
        for session_id in sessions.collect::<BTreeSet<_>>() {
            // No session was said to have ended: whoever connects again may do so under the same name.
            let input = Input::Event {
                kind: EventKind::Logout,
                session_id: Some(session_id),
            };
            outputs.extend(self.handle(now, input)?);
        }
        Ok(outputs)
    }
}

/// The longest life that any token can have, in seconds (AQL-5.1-1).
const LONGEST_LIFE: u32 = 900;

/// What is out of every range is refused of a call that needs no token, too: the schema does not know which do.
fn called(call: driver::Call) -> Result<Call, Instead> {
    Ok(Call {
        max_uses: max_uses(call.max_uses)?,
        ttl_seconds: ttl_seconds(call.ttl_seconds)?,
        adapter: call.adapter.as_deref().map(adapter_name).transpose()?,
        operation: parsed("operation", &call.operation, OperationName::parse)?,
        params: Parameters::new(call.params.text().as_bytes()),
        danger_level: match call.danger_level {
            driver::DangerLevel::Safe => DangerLevel::Safe,
            driver::DangerLevel::Reversible => DangerLevel::Reversible,
            driver::DangerLevel::Destructive => DangerLevel::Destructive,
            driver::DangerLevel::Dangerous => DangerLevel::Dangerous,
            driver::DangerLevel::Forbidden => DangerLevel::Forbidden,
        },
        session_id: call.session_id.as_deref().map(session).transpose()?,
        session_scope: call.session_scope,
        confirmation_token: call.confirmation_token,
        purpose: match call.purpose {
            Some(driver::Purpose::Confirmation) | None => Purpose::Confirmation,
            Some(driver::Purpose::QuotaContinue) => Purpose::QuotaContinue,
        },
        reasons: call.reasons,
        confirmation_message: call.confirmation_message,
    })
}

/// AQL-5.2-1: one use where nothing is said.
fn max_uses(asked: Option<i64>) -> Result<u32, Instead> {
    let asked = asked.unwrap_or(1);
    let out_of_range = || {
        let expected = format!("`max_uses` is {asked}: expected 1 to {}", u32::MAX);
        Instead::refused(expected)
    };
    match u32::try_from(asked).map_err(|_| out_of_range())? {
        0 => Err(forbidden(Refusal::NoUses)),
        uses => Ok(uses),
    }
}

fn ttl_seconds(asked: Option<i64>) -> Result<Option<u64>, Instead> {
    let Some(asked) = asked else {
        return Ok(None);
    };
    match u64::try_from(asked) {
        // AQL-5.1-2
        Ok(0) | Err(_) => Err(forbidden(Refusal::WithoutExpiry)),
        Ok(seconds) if seconds > LONGEST_LIFE.into() => {
            Err(forbidden(Refusal::TimeToLiveTooLong {
                maximum_seconds: LONGEST_LIFE,
            }))
        }
        Ok(seconds) => Ok(Some(seconds)),
    }
}

fn forbidden(it: Refusal) -> Instead {
    Instead::Refused(refusal(it.clause(), it))
}

fn adapter_name(text: &str) -> Result<AdapterName, Instead> {
    parsed("adapter", text, AdapterName::parse)
}

fn session(text: &str) -> Result<SessionId, Instead> {
    parsed("session_id", text, SessionId::parse)
}

/// What is out of range below is so above as well.
fn seconds(seconds: i64) -> u64 {
    u64::try_from(seconds).unwrap_or(u64::MAX)
}

fn output(output: &Output) -> serde_json::Result<driver::Output> {
    Ok(match output {
        Output::Audit(audit) => driver::Output::Audit(Json::of(audit)?),
        Output::Respond(response) => driver::Output::Respond(Json::of(response)?),
        Output::Perform(operation) => driver::Output::Perform(driver::Operation {
            operation: operation.operation.to_string(),
            params: Json::of(&operation.params)?,
            adapter: Some(operation.adapter.to_string()),
            session_id: operation.session_id.as_ref().map(ToString::to_string),
        }),
    })
}
