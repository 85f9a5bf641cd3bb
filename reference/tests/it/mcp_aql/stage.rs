//! What every test needs: a gatekeeper, and short ways to make things happen to it.

use countersign_reference::ids::SequentialIds;
use countersign_reference::mcp_aql::{
    AdapterName, Audit, AuditOutcome, Call, Configuration, ConfirmationToken, DangerLevel,
    EventKind, Gatekeeper, Input, OperationName, Oracle, Output, Parameters, Purpose, Query,
    Refusal, Response, SessionId, Settings, Status,
};
use countersign_reference::time::Timestamp;

/// 2026-05-24T14:22:20.000Z: when every test starts, in milliseconds.
pub const START: i64 = 1_779_632_540_000;

/// When an ordinary token expires, in milliseconds.
pub const EXPIRY: i64 = START + 300_000;

/// Until when an ordinary token is taken, in milliseconds.
pub const VALID_UNTIL: i64 = EXPIRY + 30_000;

/// What comes out when a token is honoured.
pub const HONOURED: [&str; 2] = ["audit TokenValidated", "perform delete_repo"];

#[derive(Clone)]
pub struct Stage {
    pub gatekeeper: Gatekeeper,
    pub ids: SequentialIds,
    /// The host's clock, in milliseconds.
    pub now: i64,
}

impl Stage {
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    pub fn with(settings: Settings) -> Self {
        Self {
            gatekeeper: Gatekeeper::new(settings),
            ids: SequentialIds::new(),
            now: START,
        }
    }

    /// Which tells no more than that a token is no good.
    pub fn uniform() -> Self {
        let configuration = Configuration {
            oracle: Oracle::Uniform,
            ..Configuration::default()
        };
        Self::with(Settings {
            configuration: configuration.into(),
            ..Settings::default()
        })
    }

    /// Lets something happen that must not be refused; what comes out, told in words.
    #[track_caller]
    pub fn does(&mut self, input: Input) -> Vec<String> {
        self.outputs(input).iter().map(tell).collect()
    }

    /// Lets something happen that must not be refused.
    #[track_caller]
    pub fn outputs(&mut self, input: Input) -> Vec<Output> {
        let now = Timestamp::from_millis(self.now);
        let outcome = self.gatekeeper.handle(now, &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }

    /// Lets something happen that must be refused and must change nothing.
    #[track_caller]
    pub fn refuses(&mut self, input: Input) -> Refusal {
        let mut untouched = self.clone();
        untouched.does(Input::Tick);
        let now = Timestamp::from_millis(self.now);
        let outcome = self.gatekeeper.handle(now, &mut self.ids, input);
        assert_eq!(outcome.outputs, []);
        assert_eq!(self.gatekeeper, untouched.gatekeeper);
        outcome.refused.expect("should have been refused")
    }

    /// Calls without a token, and gives the one that comes out.
    #[track_caller]
    pub fn asks(&mut self, call: Call) -> ConfirmationToken {
        let outputs = self.outputs(Input::Call(call));
        issued(&outputs).expect("a token").clone()
    }

    /// Repeats an ordinary call with a token.
    #[track_caller]
    pub fn retries(&mut self, token: &ConfirmationToken) -> Vec<String> {
        self.does(Input::Call(with_token(call(), token)))
    }

    /// What introspection tells of a token: its status, the uses left.
    #[track_caller]
    pub fn status(&mut self, token: &str) -> (Status, Option<u32>) {
        match self.outputs(introspect(Query::TokenStatus, token)).pop() {
            Some(Output::Respond(Response::Status(status))) => (status.status, status.uses_left),
            other => panic!("not a status: {other:?}"),
        }
    }
}

/// The token among the outputs.
pub fn issued(outputs: &[Output]) -> Option<&ConfirmationToken> {
    let required = outputs.iter().find_map(Output::confirmation_required);
    required.map(|required| &required.confirmation_token)
}

/// An output in words: its kind, then what it is about.
pub fn tell(output: &Output) -> String {
    match output {
        Output::Audit(Audit::Token(entry)) => {
            assert_eq!(
                entry.outcome == AuditOutcome::Failure,
                entry.failure_reason.is_some()
            );
            match entry.failure_reason {
                Some(reason) => format!("audit {:?} failed: {reason:?}", entry.event),
                None => format!("audit {:?}", entry.event),
            }
        }
        Output::Audit(Audit::Warning(warning)) => format!("warning {}", warning.clause),
        Output::Respond(Response::Failed(failure)) => format!("respond {:?}", failure.code),
        Output::Respond(Response::Revoked) => "respond revoked".into(),
        Output::Respond(Response::Status(status)) => format!("respond {:?}", status.status),
        Output::Perform(operation) => format!("perform {}", operation.operation),
    }
}

pub fn operation(name: &str) -> OperationName {
    OperationName::parse(name).expect("a name")
}

pub fn adapter(name: &str) -> AdapterName {
    AdapterName::parse(name).expect("a name")
}

pub fn session(name: &str) -> SessionId {
    SessionId::parse(name).expect("a name")
}

pub fn token(text: &str) -> ConfirmationToken {
    ConfirmationToken::parse(text).expect("a token")
}

/// An ordinary call: destructive, without a session, without a token.
pub fn call() -> Call {
    Call {
        adapter: Some(adapter("github")),
        operation: operation("delete_repo"),
        params: Parameters::new(r#"{"owner": "acme", "repo": "widgets"}"#),
        danger_level: DangerLevel::Destructive,
        session_id: None,
        session_scope: None,
        max_uses: 1,
        ttl_seconds: None,
        confirmation_token: None,
        purpose: Purpose::Confirmation,
        reasons: None,
        confirmation_message: None,
    }
}

/// An ordinary call that gets a token for that purpose: a quota pauses what is harmless.
pub fn call_for(purpose: Purpose) -> Call {
    let danger_level = match purpose {
        Purpose::Confirmation => DangerLevel::Destructive,
        Purpose::QuotaContinue => DangerLevel::Safe,
    };
    Call {
        purpose,
        danger_level,
        ..call()
    }
}

/// A call in session `s1` for a token that can be used so often.
pub fn call_in_session(max_uses: u32) -> Call {
    Call {
        session_id: Some(session("s1")),
        max_uses,
        ..call()
    }
}

pub fn with_token(call: Call, token: &ConfirmationToken) -> Call {
    Call {
        confirmation_token: Some(token.to_string()),
        ..call
    }
}

pub fn introspect(query: Query, token: &str) -> Input {
    Input::Introspect {
        adapter: None,
        query,
        token: token.into(),
    }
}

pub fn revoke(token: &ConfirmationToken) -> Input {
    introspect(Query::RevokeToken, token.as_str())
}

/// `github` is configured with that tolerance.
pub fn configure(tolerance: Option<u64>) -> Input {
    Input::Configure {
        adapter: adapter("github"),
        clock_skew_tolerance_seconds: tolerance,
        oracle: None,
        critical: None,
    }
}

pub fn event(kind: EventKind, session_id: Option<&str>) -> Input {
    Input::Event {
        kind,
        session_id: session_id.map(session),
    }
}

pub fn end_session(name: &str) -> Input {
    Input::EndSession {
        session_id: session(name),
    }
}
