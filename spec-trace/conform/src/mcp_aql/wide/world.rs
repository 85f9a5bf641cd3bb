//! The world of one wide run: the gatekeeper, the judge, and what both are told.

use std::collections::{BTreeMap, BTreeSet};

use countersign_model::judge::{Finding, Judge as _};
use countersign_model::mcp_aql::judge::TokenJudge;
use countersign_model::mcp_aql::judge::limits::{self, Limits};
use countersign_model::mcp_aql::judge::words as judged;
use countersign_model::mcp_aql::readings::{CheckOrder, EndedSession, Reading, RestartedSession};
use countersign_reference::ids::IdSource;
use countersign_reference::mcp_aql::{
    Call, Capacity, DangerLevel, EventKind, Gatekeeper, Input, OperationName, Oracle, Output,
    Persistence, Purpose, Query, RateLimit, RateLimits, Retention, Settings,
};
use countersign_reference::time::Timestamp;

use super::Played;
use super::step::{Host, Limit, Parameters, Passing, Request, Shown, Step, TOKENS, What};
use super::translation::Names;

/// 2026-05-24T14:22:20.000Z.
const START: i64 = 1_779_632_540_000;

/// How many tokens of an adapter can be alive (AQL-5.5-3).
const ROOM: u16 = 1_000;
/// How many of them a crowd has. Another then fills the room.
pub(super) const CROWD: u16 = ROOM - 1;

/// The gatekeeper under the judge.
pub(super) struct World {
    pub(super) host: Host,
    pub(super) gatekeeper: Gatekeeper,
    ids: Scattered,
    judge: TokenJudge,
    names: Names,
    now: i64,
    /// In the order of issue.
    pub(super) issued: Vec<Issued>,
    pub(super) played: Played,
}

/// A token that was issued.
#[derive(Clone)]
pub(super) struct Issued {
    pub(super) text: String,
    /// The call that it was issued for.
    pub(super) request: Request,
    expires_at: i64,
    /// The last millisecond at which it is taken.
    last: i64,
}

/// One call, in both vocabularies.
pub(super) struct Told {
    input: Input,
    call: judged::Call,
    /// What the client shows, as a text.
    text: Option<String>,
}

impl World {
    pub(super) fn new(host: Host) -> Self {
        let limit = host
            .burst
            .map(|burst| RateLimit::new(burst, 1_000).expect("in bounds"));
        let settings = Settings {
            check_order: if host.sample_order {
                countersign_reference::mcp_aql::CheckOrder::Sample
            } else {
                countersign_reference::mcp_aql::CheckOrder::Table
            },
            persistence: if host.in_memory {
                Persistence::InMemory
            } else {
                Persistence::Persistent
            },
            capacity: Capacity::new(usize::from(ROOM)).expect("room enough"),
            retention: Retention::from_seconds(host.retention_seconds.min(3_000))
                .expect("in bounds"),
            rate_limits: RateLimits {
                issuance: limit,
                failed_validation: limit,
                revocation: limit,
            },
            ..Settings::default()
        };
        let reading = Reading {
            check_order: if host.sample_order {
                CheckOrder::Sample
            } else {
                CheckOrder::Table
            },
            // The executor's own settings: a session stays ended, and ends with the process.
            ended_session: EndedSession::StaysEnded,
            restarted_session: RestartedSession::Ends,
            ..Reading::SPECIFICATION
        };
        Self {
            host,
            gatekeeper: Gatekeeper::new(settings),
            ids: Scattered(0),
            judge: TokenJudge::new(reading, host.shows_log).of_limited(limits(host.burst)),
            names: Names::new(),
            now: START,
            issued: Vec::new(),
            played: Played::default(),
        }
    }

    /// Takes a step, and says what the judge finds.
    pub(super) fn take(&mut self, step: &Step) -> Vec<Finding> {
        self.now = self.time_after(step.after);
        let what = self.resolved(&step.what);
        if let What::Restart { .. } = what {
            let stored = serde_json::to_string(&self.gatekeeper).expect("a gatekeeper is stored");
            self.gatekeeper = serde_json::from_str(&stored).expect("what was stored is read back");
        }
        let told = self.told(&what);
        let now = Timestamp::from_millis(self.now);
        let outcome = self.gatekeeper.handle(now, &mut self.ids, told.input);
        let shown = told.text.as_deref();
        let mut outputs = Vec::with_capacity(outcome.outputs.len() + 1);
        for output in &outcome.outputs {
            let output = self.names.output(output, shown);
            if self.host.shows_log
                || !matches!(output, judged::Output::Log(_) | judged::Output::Warn)
            {
                outputs.push(output);
            }
        }
        if outcome.refused.is_some() {
            outputs.push(judged::Output::Refused);
        }
        let findings = self.judge.see(self.now, &told.call, &outputs);
        self.remember(&what, &outcome.outputs);
        self.count(&what, &outputs);
        findings
    }

    fn time_after(&self, passing: Passing) -> i64 {
        match passing {
            Passing::Millis(millis) => self.now.saturating_add(millis),
            Passing::Limit {
                token,
                limit,
                offset,
            } => {
                let Some(token) = self.back(token) else {
                    return self.now;
                };
                let retention = i64::try_from(self.host.retention_seconds).unwrap_or_default();
                let time = match limit {
                    Limit::Expiry => token.expires_at,
                    Limit::Tolerance => token.last,
                    Limit::Retention => token.last + retention * 1_000,
                };
                self.now.max(time + offset)
            }
        }
    }

    /// The token so many back from the latest.
    pub(super) fn back(&self, back: u8) -> Option<&Issued> {
        let among = self.issued.len().min(usize::from(TOKENS));
        let back = usize::from(back).checked_rem(among)?;
        self.issued.get(self.issued.len() - 1 - back)
    }

    /// A retry as the call that it is.
    fn resolved(&self, what: &What) -> What {
        let What::Retry {
            issued,
            shown,
            changes,
        } = what
        else {
            return what.clone();
        };
        let Some(token) = self.back(*issued) else {
            return What::Tick;
        };
        let mut request = token.request.clone();
        request.shown = Some(*shown);
        for change in changes {
            change.make(&mut request);
        }
        What::Call(request)
    }

    fn text(&self, shown: Shown) -> String {
        match (shown, self.issued.last()) {
            (Shown::Issued(back), Some(_)) => self
                .back(back)
                .map_or_else(String::new, |it| it.text.clone()),
            (Shown::Altered(back, longer), Some(_)) => {
                let text = self.back(back).map_or("", |it| &it.text);
                let (prefix, identifier) = text.split_at(text.len() - 64);
                if longer {
                    format!("{text}0")
                } else {
                    format!("{prefix}{}", identifier.to_ascii_uppercase())
                }
            }
            (Shown::Malformed(which), _) => {
                let malformed = [
                    "conf_",
                    "conf_1",
                    "token",
                    "conf_a b c",
                    "CONF_12345678",
                    "conf_\u{e9}\u{e9}\u{e9}\u{e9}",
                ];
                malformed[usize::from(which) % malformed.len()].to_owned()
            }
            (Shown::Unknown(which), _) => format!("conf_{which}{}", "f".repeat(63)),
            (Shown::Issued(_) | Shown::Altered(..), None) => "conf_nothing-yet".to_owned(),
        }
    }

    /// What happens, in both vocabularies.
    fn told(&mut self, what: &What) -> Told {
        match what {
            What::Call(request) => self.call(request),
            What::Retry { .. } | What::Tick => told(Input::Tick, judged::Call::Tick),
            What::Revoke(shown) => self.query(*shown, Query::RevokeToken, judged::Query::Revoke),
            What::Status(shown) => self.query(*shown, Query::TokenStatus, judged::Query::Status),
            What::Configure {
                adapter,
                tolerance_seconds,
                uniform,
                critical,
            } => self.configure(*adapter, *tolerance_seconds, *uniform, critical.as_deref()),
            What::Logout(session) => {
                self.event(EventKind::Logout, judged::EventKind::Logout, *session)
            }
            What::Security => self.event(EventKind::Security, judged::EventKind::Security, None),
            What::Configuration => self.event(
                EventKind::Configuration,
                judged::EventKind::Configuration,
                None,
            ),
            What::EndSession(session) => told(
                Input::EndSession {
                    session_id: self.names.sessions[usize::from(*session)].clone(),
                },
                judged::Call::EndSession {
                    session: u32::from(*session),
                },
            ),
            What::Restart { lost } => told(
                Input::Restart,
                judged::Call::Restart {
                    lost: usize::from(*lost),
                },
            ),
        }
    }

    fn call(&mut self, request: &Request) -> Told {
        let bytes = request.parameters.bytes();
        let text = request.shown.map(|shown| self.text(shown));
        let level = DangerLevel::ALL[usize::from(request.level)];
        let session = request.session.map(usize::from);
        let adapter = usize::from(request.adapter);
        let input = Input::Call(Call {
            // The first is the one of a call that names none.
            adapter: (adapter > 0).then(|| self.names.adapters[adapter].clone()),
            operation: self.names.operations[usize::from(request.operation)].clone(),
            params: countersign_reference::mcp_aql::Parameters::new(&bytes),
            danger_level: level,
            session_id: session.map(|it| self.names.sessions[it].clone()),
            session_scope: None,
            max_uses: request.max_uses,
            ttl_seconds: request.ttl_seconds,
            confirmation_token: text.clone(),
            purpose: if request.quota {
                Purpose::QuotaContinue
            } else {
                Purpose::Confirmation
            },
            reasons: None,
            confirmation_message: None,
        });
        let call = judged::Call::Operation(judged::Request {
            adapter: u32::from(request.adapter),
            operation: u32::from(request.operation),
            parameters: self.meaning(&request.parameters, &bytes),
            level: LEVELS[usize::from(request.level)],
            purpose: if request.quota {
                judged::Purpose::Quota
            } else {
                judged::Purpose::Confirmation
            },
            session: request.session.map(u32::from),
            session_scope: None,
            max_uses: i64::from(request.max_uses),
            ttl_seconds: request.ttl_seconds.and_then(|it| i64::try_from(it).ok()),
            token: text.as_deref().map(|it| self.names.token(it)),
        });
        Told { input, call, text }
    }

    fn meaning(&mut self, parameters: &Parameters, bytes: &[u8]) -> Option<judged::Parameters> {
        let each = parameters.meaning()?;
        let whole = self.names.parameters(bytes);
        Some(judged::Parameters { whole, each })
    }

    fn query(&mut self, shown: Shown, query: Query, judged: judged::Query) -> Told {
        let text = self.text(shown);
        Told {
            input: Input::Introspect {
                adapter: None,
                query,
                token: text.clone(),
            },
            // Introspection is the business of the first adapter.
            call: judged::Call::Introspect {
                adapter: 0,
                query: judged,
                token: self.names.token(&text),
            },
            text: Some(text),
        }
    }

    fn configure(
        &self,
        adapter: u8,
        tolerance_seconds: Option<u64>,
        uniform: Option<bool>,
        critical: Option<&[(u8, u8)]>,
    ) -> Told {
        let oracle = |uniform| {
            if uniform {
                Oracle::Uniform
            } else {
                Oracle::Codes
            }
        };
        let judged_oracle = |uniform| {
            if uniform {
                judged::Oracle::Uniform
            } else {
                judged::Oracle::Codes
            }
        };
        let judged_lists = |lists: &[(u8, u8)]| {
            let names = |bits| Parameters::named(bits).map(|(place, _)| place);
            let list = |&(operation, bits): &(u8, u8)| {
                (u32::from(operation), names(bits).collect::<BTreeSet<_>>())
            };
            lists.iter().map(list).collect::<BTreeMap<_, _>>()
        };
        told(
            Input::Configure {
                adapter: self.names.adapters[usize::from(adapter)].clone(),
                clock_skew_tolerance_seconds: tolerance_seconds,
                oracle: uniform.map(oracle),
                critical: critical.map(|lists| self.lists(lists)),
            },
            judged::Call::Configure(judged::Configuration {
                adapter: u32::from(adapter),
                tolerance_seconds: tolerance_seconds.and_then(|it| i64::try_from(it).ok()),
                oracle: uniform.map(judged_oracle),
                critical: critical.map(judged_lists),
            }),
        )
    }

    fn event(&self, kind: EventKind, judged: judged::EventKind, session: Option<u8>) -> Told {
        told(
            Input::Event {
                kind,
                session_id: session.map(|it| self.names.sessions[usize::from(it)].clone()),
            },
            judged::Call::Event {
                kind: judged,
                session: session.map(u32::from),
            },
        )
    }

    /// A token that came out can be shown.
    fn remember(&mut self, what: &What, outputs: &[Output]) {
        let What::Call(request) = what else { return };
        for required in outputs.iter().filter_map(Output::confirmation_required) {
            let adapter = &self.names.adapters[usize::from(request.adapter)];
            let tolerance = self.gatekeeper.configuration(adapter).tolerance.seconds();
            let expires_at = required.expires_at.millis();
            self.issued.push(Issued {
                text: required.confirmation_token.as_str().to_owned(),
                request: Request {
                    shown: None,
                    ..request.clone()
                },
                expires_at,
                last: expires_at + 1_000 * i64::from(tolerance),
            });
        }
    }

    /// What counts in which operation, as an operator says it.
    fn lists(&self, critical: &[(u8, u8)]) -> BTreeMap<OperationName, BTreeSet<String>> {
        let operation = |it: u8| self.names.operations[usize::from(it)].clone();
        let names = |bits| Parameters::named(bits).map(|(_, name)| name.to_owned());
        critical
            .iter()
            .map(|(name, bits)| (operation(*name), names(*bits).collect()))
            .collect()
    }

    fn count(&mut self, what: &What, outputs: &[judged::Output]) {
        self.played.calls += 1;
        let came = |wanted: fn(&judged::Output) -> bool| outputs.iter().any(wanted);
        let how = match what {
            What::Call(request) if request.shown.is_some() => {
                if came(|it| matches!(it, judged::Output::Perform(_))) {
                    "a token is taken"
                } else if came(|it| {
                    matches!(it, judged::Output::Respond(judged::Answer::Failed(_)))
                }) {
                    "a token is refused"
                } else {
                    "a call with a token is turned away"
                }
            }
            What::Call(_)
                if came(|it| matches!(it, judged::Output::Respond(judged::Answer::Issued(_)))) =>
            {
                "a token is issued"
            }
            What::Call(_)
                if came(|it| matches!(it, judged::Output::Respond(judged::Answer::Full))) =>
            {
                "there is no room"
            }
            What::Call(_) => "a call without a token runs or is turned away",
            What::Revoke(_) => "a revocation",
            What::Status(_) => "a status",
            What::Configure { .. } => "a configuration",
            What::Logout(_) | What::Security | What::Configuration => "an event",
            What::EndSession(_) => "the end of a session",
            What::Restart { .. } => "a restart",
            What::Retry { .. } | What::Tick => "a tick",
        };
        *self.played.seen.entry(how).or_default() += 1;
    }
}

/// The limits of a host, as the judge is told of them: so many at once, and then one a second.
fn limits(burst: Option<u32>) -> Limits {
    let limit = burst.map(|burst| limits::Limit {
        burst,
        every_ms: Some(1_000),
    });
    Limits {
        issuance: limit,
        failed_validation: limit,
        revocation: limit,
        capacity: None,
    }
}

/// By number.
const LEVELS: [judged::Level; 5] = [
    judged::Level::Safe,
    judged::Level::Reversible,
    judged::Level::Destructive,
    judged::Level::Dangerous,
    judged::Level::Forbidden,
];

fn told(input: Input, call: judged::Call) -> Told {
    Told {
        input,
        call,
        text: None,
    }
}

/// Identifiers with letters, so that their case can be told; the same in every run.
struct Scattered(u64);

impl IdSource for Scattered {
    fn next_bits(&mut self) -> u128 {
        self.0 += 1;
        // A product with an odd number is another for each factor.
        u128::from(self.0).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
    }
}
