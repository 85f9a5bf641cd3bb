//! The world of one wide run: the gatekeeper, the judge, and what both are told.

use countersign_model::judge::{Finding, Judge as _};
use countersign_model::mcp_aql::judge::TokenJudge;
use countersign_model::mcp_aql::judge::limits::{self, Limits};
use countersign_model::mcp_aql::judge::words as judged;
use countersign_model::mcp_aql::readings::{
    CheckOrder, EndedSession, Reading, RestartedSession, TokenStorage,
};
use countersign_reference::ids::IdSource;
use countersign_reference::mcp_aql::{
    Capacity, Gatekeeper, Output, Persistence, RateLimit, RateLimits, Retention, Settings,
    SigningKey,
};
use countersign_reference::time::Timestamp;

use super::Played;
use super::calls::Calls;
use super::step::{Host, Request, Shown, Step, What};
use super::translation::Names;

/// How many tokens of an adapter can be alive (AQL-5.5-3).
const ROOM: u16 = 1_000;
/// How many of them a crowd has. Another then fills the room.
pub(super) const CROWD: u16 = ROOM - 1;

impl Host {
    /// What the gatekeeper is told of it.
    ///
    /// # Panics
    ///
    /// Never: a burst of none is one of one.
    pub fn settings(self) -> Settings {
        let limit = |burst: u32| RateLimit::new(burst.max(1), 1_000).expect("in bounds");
        let limit = self.burst.map(limit);
        Settings {
            check_order: if self.sample_order {
                countersign_reference::mcp_aql::CheckOrder::Sample
            } else {
                countersign_reference::mcp_aql::CheckOrder::Table
            },
            persistence: if self.in_memory {
                Persistence::InMemory
            } else {
                Persistence::Persistent
            },
            capacity: Capacity::new(usize::from(ROOM)).expect("room enough"),
            retention: Retention::from_seconds(self.retention_seconds.min(3_000))
                .expect("in bounds"),
            rate_limits: RateLimits {
                issuance: limit,
                failed_validation: limit,
                revocation: limit,
            },
            ..Settings::default()
        }
    }
}

/// The gatekeeper under the judge.
pub(super) struct World {
    pub(super) host: Host,
    pub(super) gatekeeper: Gatekeeper,
    ids: Scattered,
    judge: TokenJudge,
    calls: Calls,
    pub(super) played: Played,
}

impl World {
    pub(super) fn new(host: Host) -> Self {
        let settings = host.settings();
        let reading = Reading {
            check_order: if host.sample_order {
                CheckOrder::Sample
            } else {
                CheckOrder::Table
            },
            // The executor's own settings: a session stays ended, and ends with the process.
            ended_session: EndedSession::StaysEnded,
            restarted_session: RestartedSession::Ends,
            token_storage: if host.signs {
                TokenStorage::Signed
            } else {
                TokenStorage::Kept
            },
            ..Reading::SPECIFICATION
        };
        Self {
            host,
            gatekeeper: if host.signs {
                Gatekeeper::signing(settings, SigningKey::from_bits([1, 2]))
            } else {
                Gatekeeper::new(settings)
            },
            ids: Scattered(0),
            judge: TokenJudge::new(reading, host.shows_log).of_limited(limits(host.burst)),
            calls: Calls::new(Names::new(), host.retention_seconds),
            played: Played::default(),
        }
    }

    /// Takes a step, and says what the judge finds.
    pub(super) fn take(&mut self, step: &Step) -> Vec<Finding> {
        self.calls.now = self.calls.time_after(step.after);
        let what = self.calls.resolved(&step.what);
        if let What::Restart { .. } = what {
            let stored = serde_json::to_string(&self.gatekeeper).expect("a gatekeeper is stored");
            self.gatekeeper = serde_json::from_str(&stored).expect("what was stored is read back");
        }
        let told = self.calls.told(&what);
        let now = Timestamp::from_millis(self.calls.now);
        let outcome = self.gatekeeper.handle(now, &mut self.ids, told.input);
        let shown = told.text.as_deref();
        let mut outputs = Vec::with_capacity(outcome.outputs.len() + 1);
        for output in &outcome.outputs {
            let output = self.calls.names.output(output, shown);
            if self.host.shows_log
                || !matches!(output, judged::Output::Log(_) | judged::Output::Warn)
            {
                outputs.push(output);
            }
        }
        if outcome.refused.is_some() {
            outputs.push(judged::Output::Refused);
        }
        let findings = self.judge.see(self.calls.now, &told.call, &outputs);
        self.remember(&what, &outcome.outputs);
        self.count(&what, &outputs);
        findings
    }

    /// A token that came out can be shown.
    fn remember(&mut self, what: &What, outputs: &[Output]) {
        let What::Call(request) = what else { return };
        for required in outputs.iter().filter_map(Output::confirmation_required) {
            let adapter = &self.calls.names.adapters[usize::from(request.adapter)];
            let tolerance = self.gatekeeper.configuration(adapter).tolerance.seconds();
            let text = required.confirmation_token.as_str();
            let expires_at = required.expires_at.millis();
            let tolerance = 1_000 * i64::from(tolerance);
            self.calls.is_issued(text, request, expires_at, tolerance);
        }
    }

    /// AQL-3.2-1: whether a call with a token differs from that of the token in its parameters alone, and a list names nothing of
    /// either.
    fn is_bound_in_full(&self, request: &Request) -> bool {
        let Some(Shown::Issued(back)) = request.shown else {
            return false;
        };
        let Some(token) = self.calls.back(back) else {
            return false;
        };
        let own = &token.request;
        let adapter = &self.calls.names.adapters[usize::from(request.adapter)];
        let operation = &self.calls.names.operations[usize::from(request.operation)];
        let configuration = self.gatekeeper.configuration(adapter);
        let list = configuration.critical.get(operation);
        let of = |it: &Request| {
            it.parameters
                .names()
                .any(|name| list.is_some_and(|it| it.contains(name)))
        };
        list.is_some()
            && (own.adapter, own.operation) == (request.adapter, request.operation)
            && own.parameters.values != request.parameters.values
            && ![own, request].into_iter().any(of)
    }

    fn count(&mut self, what: &What, outputs: &[judged::Output]) {
        self.played.calls += 1;
        if let What::Call(request) = what
            && self.is_bound_in_full(request)
            && outputs.iter().any(is_mismatch)
        {
            let how = "a call of which its list names nothing is refused, as it differs";
            *self.played.seen.entry(how).or_default() += 1;
        }
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

fn is_mismatch(output: &judged::Output) -> bool {
    matches!(output, judged::Output::Respond(judged::Answer::Failed(failure)) if failure.code == Some(judged::Code::ScopeMismatch))
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

/// Identifiers with letters, so that their case can be told; the same in every run.
struct Scattered(u64);

impl IdSource for Scattered {
    fn next_bits(&mut self) -> u128 {
        self.0 += 1;
        // A product with an odd number is another for each factor.
        u128::from(self.0).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
    }
}
