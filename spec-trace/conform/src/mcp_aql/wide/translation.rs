//! What the executor says and is told, in the judge's words: a table of names.
//!
//! The one thing to know: every number is given out for a text, and every field of an output is read from what was put out.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use countersign_model::mcp_aql::judge::words::{
    Answer, Code, Entry, Failure, INTROSPECT, Issued, Level, LogEvent, Output, Performed, Purpose,
    Readable,
};
use countersign_reference::mcp_aql::{
    self as executor, AdapterName, Audit, AuditEntry, AuditOutcome, ConfirmationRequired,
    DangerLevel, Details, ErrorCode, OperationName, Response, SessionId, Status, TokenEvent,
    TokenId,
};

use serde_json::Value;

use super::readable::Readables;
use super::spelling::SECRETS;
use super::step::{ADAPTERS, OPERATIONS, SESSIONS};

/// What has no number among the names that there are.
pub(super) const NOBODY: u32 = 999;

/// The names, and the numbers for texts that have come up.
#[derive(Clone)]
pub(super) struct Names {
    pub(super) adapters: Arc<[AdapterName]>,
    pub(super) operations: Arc<[OperationName]>,
    pub(super) sessions: Arc<[SessionId]>,
    tokens: BTreeMap<String, u32>,
    log: BTreeMap<TokenId, u32>,
    parameters: BTreeMap<Vec<u8>, u32>,
    /// The same by how they were written: what was read once is not read again.
    written: BTreeMap<Vec<u8>, u32>,
    texts: BTreeMap<Vec<u8>, u32>,
    shapes: BTreeMap<String, u32>,
    /// Whether parameters are the same where they mean the same, and not only where they are written alike.
    by_meaning: bool,
    /// What is to be read off no token.
    readables: Arc<Readables>,
}

/// The number of a text, a new one where it has none.
pub(super) fn number<K: Ord>(numbers: &mut BTreeMap<K, u32>, text: K) -> u32 {
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    *numbers.entry(text).or_insert(next)
}

/// The place of a name.
fn place<T: PartialEq>(names: &[T], name: &T) -> u32 {
    let place = names.iter().position(|it| it == name);
    place
        .and_then(|it| u32::try_from(it).ok())
        .unwrap_or(NOBODY)
}

impl Names {
    pub(super) fn new() -> Self {
        static OF_EXECUTOR: LazyLock<Names> =
            LazyLock::new(|| Names::with_first(AdapterName::default()));
        OF_EXECUTOR.clone()
    }

    /// The names for any implementation: it may write out again what it was given, and its adapter for a call that names none is
    /// `default`.
    pub(super) fn of_any() -> Self {
        static OF_ANY: LazyLock<Names> = LazyLock::new(|| Names {
            by_meaning: true,
            ..Names::with_first(AdapterName::parse("default").expect("a name"))
        });
        OF_ANY.clone()
    }

    /// The names before the first call. The first adapter is the one of a call that names none.
    fn with_first(adapter: AdapterName) -> Self {
        let named =
            |kind: &'static str, count: u8| (0..count).map(move |it| format!("{kind}-{it}"));
        let name = "a name";
        let adapters = named("adapter", ADAPTERS).skip(1);
        let adapters = adapters.map(|it| AdapterName::parse(&it).expect(name));
        let all = [
            ("adapter", ADAPTERS),
            ("operation", OPERATIONS),
            ("session", SESSIONS),
        ];
        let all = all.into_iter().flat_map(|(kind, count)| named(kind, count));
        Self {
            readables: Arc::new(Readables::of(all, SECRETS)),
            adapters: [adapter].into_iter().chain(adapters).collect(),
            operations: named("operation", OPERATIONS)
                .map(|it| OperationName::parse(&it).expect(name))
                .collect(),
            sessions: named("session", SESSIONS)
                .map(|it| SessionId::parse(&it).expect(name))
                .collect(),
            tokens: BTreeMap::new(),
            log: BTreeMap::new(),
            parameters: BTreeMap::new(),
            texts: BTreeMap::new(),
            shapes: BTreeMap::new(),
            written: BTreeMap::new(),
            by_meaning: false,
        }
    }

    /// The names as the judge calls them, each with the text.
    pub(super) fn in_run(&self) -> BTreeMap<String, String> {
        let tokens = self.tokens.iter();
        let mut names: BTreeMap<_, _> = tokens
            .map(|(text, token)| (format!("token {token}"), text.clone()))
            .collect();
        let adapters = self.adapters.iter().enumerate();
        names.extend(adapters.map(|(place, name)| {
            let (number, name) = (format!("adapter {place}"), name.as_str());
            (number, format!("adapter {name}"))
        }));
        let operations = self.operations.iter().enumerate();
        names.extend(operations.map(|(n, it)| (format!("operation {n}"), it.as_str().to_owned())));
        let sessions = self.sessions.iter().enumerate();
        names.extend(sessions.map(|(n, it)| (format!("session {n}"), it.as_str().to_owned())));
        names
    }

    pub(super) fn token(&mut self, text: &str) -> u32 {
        if let Some(number) = self.tokens.get(text) {
            return *number;
        }
        number(&mut self.tokens, text.to_owned())
    }

    pub(super) fn parameters(&mut self, bytes: &[u8]) -> u32 {
        if let Some(number) = self.written.get(bytes) {
            return *number;
        }
        let meant = Some(bytes).filter(|_| self.by_meaning).and_then(meaning);
        let meant = meant.unwrap_or_else(|| bytes.to_vec());
        let number = number(&mut self.parameters, meant);
        self.written.insert(bytes.to_vec(), number);
        number
    }

    /// What can be read off a token, by what follows its prefix.
    pub(super) fn reads(&self, identifier: &str) -> Option<Readable> {
        self.readables.in_identifier(identifier)
    }

    /// The number of parameters as they are written.
    pub(super) fn text(&mut self, bytes: &[u8]) -> u32 {
        number(&mut self.texts, bytes.to_vec())
    }

    /// The number of an answer of this shape.
    pub(super) fn shaped(&mut self, text: String) -> u32 {
        number(&mut self.shapes, text)
    }

    /// What was put out; `shown` is the token that was sent.
    pub(super) fn output(&mut self, output: &executor::Output, shown: Option<&str>) -> Output {
        match output {
            executor::Output::Audit(Audit::Token(entry)) => Output::Log(self.entry(entry)),
            executor::Output::Audit(Audit::Warning(_)) => Output::Warn,
            executor::Output::Respond(response) => Output::Respond(self.answer(response, shown)),
            executor::Output::Perform(operation) => Output::Perform(Performed {
                operation: place(&self.operations, &operation.operation),
                parameters: self.parameters(operation.params.as_bytes()),
                adapter: Some(place(&self.adapters, &operation.adapter)),
                session: self.session(operation.session_id.as_ref()),
            }),
        }
    }

    fn session(&self, session: Option<&SessionId>) -> Option<u32> {
        session.map(|it| place(&self.sessions, it))
    }

    fn entry(&mut self, entry: &AuditEntry) -> Entry {
        let introspect = entry.operation.as_str() == "introspect";
        let context = entry.client_context.as_ref().map(|it| &it.session_id);
        Entry {
            at: Some(entry.timestamp.millis()),
            event: match entry.event {
                TokenEvent::TokenIssued => LogEvent::Issued,
                TokenEvent::TokenValidated => LogEvent::Validated,
                TokenEvent::TokenRejected => LogEvent::Rejected,
                TokenEvent::TokenRevoked => LogEvent::Revoked,
            },
            success: entry.outcome == AuditOutcome::Success,
            token: entry.token_id.map(|id| number(&mut self.log, id)),
            operation: Some(if introspect {
                INTROSPECT
            } else {
                place(&self.operations, &entry.operation)
            }),
            adapter: Some(place(&self.adapters, &entry.adapter_name)),
            session: self.session(context),
            reason: entry.failure_reason.and_then(|it| code(it.code())),
        }
    }

    fn answer(&mut self, response: &Response, shown: Option<&str>) -> Answer {
        match response {
            Response::Revoked => Answer::Revoked {
                done: true,
                shape: self.shape(response, shown),
            },
            Response::Status(status) => Answer::Status {
                valid: status.status == Status::Live,
                shape: self.shape(response, shown),
            },
            Response::Failed(failure) => match (failure.code, &failure.details) {
                (ErrorCode::ConfirmationRequired, Details::ConfirmationRequired(required)) => {
                    Answer::Issued(self.issued(required))
                }
                (ErrorCode::InvalidParams, _) => Answer::Unreadable,
                (ErrorCode::RateLimited, _) => Answer::Limited,
                (ErrorCode::CapacityExceeded, _) => Answer::Full,
                (code, details) => Answer::Failed(self.failure(code, details, response, shown)),
            },
        }
    }

    fn issued(&mut self, required: &ConfirmationRequired) -> Issued {
        let text = required.confirmation_token.as_str();
        let prefixes = [
            ("quota_continue_", Purpose::Quota),
            ("conf_", Purpose::Confirmation),
        ];
        let mut read = prefixes
            .into_iter()
            .filter_map(|(prefix, purpose)| Some((purpose, text.strip_prefix(prefix)?)));
        let (prefix, identifier) = match read.next() {
            Some((purpose, identifier)) => (Some(purpose), identifier),
            None => (None, text),
        };
        let says = |text: &str| !text.trim().is_empty();
        Issued {
            token: Some(self.token(text)),
            prefix,
            identifier_length: identifier.len(),
            length: text.len(),
            url_safe: identifier
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-'),
            reads: self.reads(identifier),
            expires_at: Some(required.expires_at.millis()),
            operation: Some(place(&self.operations, &required.operation)),
            level: Some(level(required.danger_level)),
            reasons: required.reasons.iter().any(|it| says(it)),
            message: says(&required.confirmation_message),
        }
    }

    fn failure(
        &mut self,
        code: ErrorCode,
        details: &Details,
        response: &Response,
        shown: Option<&str>,
    ) -> Failure {
        let text = serde_json::to_string(response).expect("a response can be written");
        let (expired_at, current_time) = match details {
            Details::Expired {
                expired_at,
                current_time,
                ..
            } => (Some(expired_at.millis()), Some(current_time.millis())),
            Details::ConfirmationRequired(_)
            | Details::Token { .. }
            | Details::RetryAfter { .. }
            | Details::Problem { .. }
            | Details::Nothing {} => (None, None),
        };
        Failure {
            code: self::code(code),
            whole: [
                "\"success\":false",
                "\"code\":",
                "\"message\":",
                "\"details\":",
            ]
            .iter()
            .all(|member| text.contains(member)),
            shape: self.shape(response, shown),
            expired_at,
            current_time,
            exposes_parameters: SECRETS.iter().any(|secret| text.contains(secret)),
        }
    }

    /// The answer without the text of the token that was sent; that one was sent back is part of the shape. Times stand in
    /// answers that are not compared by shape, or give them away.
    fn shape(&mut self, response: &Response, shown: Option<&str>) -> u32 {
        let text = serde_json::to_string(response).expect("a response can be written");
        let text = match shown {
            Some(shown) => text.replace(&format!("\"token\":\"{shown}\""), "\"token\":\"\""),
            None => text,
        };
        number(&mut self.shapes, text)
    }
}

/// Parameters as all readers would write them.
fn meaning(bytes: &[u8]) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    serde_json_canonicalizer::to_vec(&value).ok()
}

fn code(code: ErrorCode) -> Option<Code> {
    match code {
        ErrorCode::TokenInvalid => Some(Code::Invalid),
        ErrorCode::TokenExpired => Some(Code::Expired),
        ErrorCode::TokenAlreadyUsed => Some(Code::AlreadyUsed),
        ErrorCode::TokenScopeMismatch => Some(Code::ScopeMismatch),
        ErrorCode::ConfirmationRequired
        | ErrorCode::InvalidParams
        | ErrorCode::RateLimited
        | ErrorCode::CapacityExceeded => None,
    }
}

fn level(level: DangerLevel) -> Level {
    match level {
        DangerLevel::Safe => Level::Safe,
        DangerLevel::Reversible => Level::Reversible,
        DangerLevel::Destructive => Level::Destructive,
        DangerLevel::Dangerous => Level::Dangerous,
        DangerLevel::Forbidden => Level::Forbidden,
    }
}
