//! What a run of confirmation tokens has seen so far, from which its next calls are made, in both vocabularies.
//!
//! The one thing to know: it is the same whoever is asked, the executor ([`super::world`]) or any implementation
//! ([`super::driven`]).

use std::collections::{BTreeMap, BTreeSet};

use countersign_model::mcp_aql::judge::words as judged;
use countersign_reference::mcp_aql::{
    Call, DangerLevel, EventKind, Input, OperationName, Oracle, Purpose, Query,
};

use super::step::{Limit, Parameters, Passing, Request, Shown, TOKENS, What};
use super::translation::Names;

/// 2026-05-24T14:22:20.000Z.
pub(super) const START: i64 = 1_779_632_540_000;

/// What was seen.
#[derive(Clone)]
pub(super) struct Calls {
    pub(super) names: Names,
    pub(super) now: i64,
    /// In the order of issue.
    pub(super) issued: Vec<Issued>,
    /// For so long an expired token may be remembered.
    pub(super) retention_seconds: u64,
}

/// A token that was issued.
#[derive(Clone)]
pub(super) struct Issued {
    pub(super) text: String,
    /// The call that it was issued for.
    pub(super) request: Request,
    pub(super) expires_at: i64,
    /// The last millisecond at which it is taken.
    pub(super) last: i64,
}

/// One call, in both vocabularies.
pub(super) struct Told {
    pub(super) input: Input,
    pub(super) call: judged::Call,
    /// What the client shows, as a text.
    pub(super) text: Option<String>,
}

impl Calls {
    /// Before the first call.
    pub(super) const fn new(names: Names, retention_seconds: u64) -> Self {
        Self {
            names,
            now: START,
            issued: Vec::new(),
            retention_seconds,
        }
    }

    /// A token came out for a call: it can be shown, until its expiry and a tolerance, both in milliseconds.
    pub(super) fn is_issued(
        &mut self,
        text: &str,
        request: &Request,
        expires_at: i64,
        tolerance: i64,
    ) {
        self.issued.push(Issued {
            text: text.to_owned(),
            request: Request {
                shown: None,
                ..request.clone()
            },
            expires_at,
            last: expires_at.saturating_add(tolerance),
        });
    }

    pub(super) fn time_after(&self, passing: Passing) -> i64 {
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
                let retention = i64::try_from(self.retention_seconds).unwrap_or_default();
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
    pub(super) fn resolved(&self, what: &What) -> What {
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
                let text = self.back(back).map_or("", |it| it.text.as_str());
                // The executor's identifiers have 64 letters and digits; others have as many as they like.
                let place = text.len().checked_sub(64);
                let (prefix, identifier) = place
                    .and_then(|place| text.split_at_checked(place))
                    .or_else(|| text.split_at_checked(text.find('_').map_or(0, |it| it + 1)))
                    .unwrap_or(("", text));
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
    pub(super) fn told(&mut self, what: &What) -> Told {
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
        let text = self.names.text(bytes);
        Some(judged::Parameters { whole, each, text })
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

    /// What counts in which operation, as an operator says it.
    fn lists(&self, critical: &[(u8, u8)]) -> BTreeMap<OperationName, BTreeSet<String>> {
        let operation = |it: u8| self.names.operations[usize::from(it)].clone();
        let names = |bits| Parameters::named(bits).map(|(_, name)| name.to_owned());
        critical
            .iter()
            .map(|(name, bits)| (operation(*name), names(*bits).collect()))
            .collect()
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
