//! The reference gatekeeper as a party of the search: calls of the alphabet go in, and what it puts out comes back.
//!
//! Its host stores the gatekeeper after each call, so that a restart loses outputs and nothing else. The text does not have them
//! repeated: whoever got no answer calls again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use countersign_model::engine::party::Executor;
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::alphabet::{
    self, Answer, Call, Code, Entry, Event, Failure, INTROSPECT, Issued, Level, Look, Lost, Name,
    Op, Output, Performed, Shown, Time, TokenId, Told,
};
use countersign_model::mcp_aql::readings::{self, Reading};
use countersign_reference::ids::IdSource;
use countersign_reference::mcp_aql::{
    self as real, AdapterName, Audit, AuditEntry, AuditOutcome, CheckOrder, ConfirmationRequired,
    ConfirmationToken, DangerLevel, Details, EndedSession, ErrorCode, Gatekeeper, Held, Input,
    IssuedToken, OperationName, Outcome, Persistence, Phase, RateLimit, RateLimits, Response,
    RestartedSession, Retention, SessionBinding, SessionId, SigningKey, Status, TokenEvent,
};
use countersign_reference::time::Timestamp;
use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::search::Differing;
use crate::spoken::Host;

/// What a host chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Tokens are signed instead of kept.
    pub signs: bool,
    /// All the rest.
    pub chosen: real::Settings,
}

/// The reference gatekeeper and its host.
///
/// Two of them are the same if they agree in all that [`Hash`] takes. What it leaves out, and why no later output shows it:
///
/// | left out | because |
/// |---|---|
/// | when a token was issued, and how often it could be used at first | what is left of both is its expiry and its uses |
/// | who revoked a token | the log says that it is revoked, and not by whom |
/// | the numbers by which the gatekeeper calls its tokens | they count; the order is kept |
/// | the texts of tokens that are kept | the same for the same number of tokens: a digest tells which one a token is |
/// | the source of random bits | the bits of a token follow from how many there were, those of a key from the key |
///
/// A test shows that what is merged so puts out the same and leads to what is merged.
#[derive(Clone, Debug)]
pub struct Reference {
    gatekeeper: Arc<Gatekeeper>,
    kept: Arc<Kept>,
    tells_all_apart: bool,
}

/// What the host keeps: the numbers of what the gatekeeper made up, by first appearance.
#[derive(Clone, Debug, Default, Hash)]
struct Kept {
    tokens: Vec<ConfirmationToken>,
    logged: Vec<real::TokenId>,
    bits: Bits,
}

/// Random bits of two kinds, with letters in them, so that a text can differ from another in their case alone.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Bits {
    of_tokens: u64,
    of_keys: u64,
    is_key: bool,
}

impl IdSource for Bits {
    fn next_bits(&mut self) -> u128 {
        let (next, first) = if self.is_key {
            (&mut self.of_keys, 1 << 64)
        } else {
            (&mut self.of_tokens, 0)
        };
        *next += 1;
        // A product with an odd number is another for each factor.
        (first + u128::from(*next)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    }
}

impl Reference {
    /// The same, told apart from every other in whatever they differ: what a test holds the fingerprint against.
    #[must_use]
    pub fn telling_all_apart(self, tells_all_apart: bool) -> Self {
        Self {
            tells_all_apart,
            ..self
        }
    }

    /// What it holds.
    pub fn gatekeeper(&self) -> &Gatekeeper {
        &self.gatekeeper
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl Host<McpAql> for Reference {
    type Settings = Settings;
    type Form = ();

    fn new(settings: Settings) -> Self {
        let mut kept = Kept::default();
        let Settings { signs, chosen } = settings;
        let gatekeeper = if signs {
            kept.bits.is_key = true;
            let bits = [kept.bits.next_bits(), kept.bits.next_bits()];
            Gatekeeper::signing(chosen, SigningKey::from_bits(bits))
        } else {
            Gatekeeper::new(chosen)
        };
        Self {
            gatekeeper: Arc::new(gatekeeper),
            kept: Arc::new(kept),
            tells_all_apart: false,
        }
    }

    fn answer(&mut self, call: &Call) -> Vec<Output> {
        self.call(call)
    }

    fn reading(settings: &Settings) -> Reading {
        let chosen = &settings.chosen;
        Reading {
            token_storage: if settings.signs {
                readings::TokenStorage::Signed
            } else {
                readings::TokenStorage::Kept
            },
            check_order: match chosen.check_order {
                CheckOrder::Table => readings::CheckOrder::Table,
                CheckOrder::Sample => readings::CheckOrder::Sample,
            },
            session_binding: match chosen.session_binding {
                SessionBinding::ManyUses => readings::SessionBinding::MultiUse,
                SessionBinding::Every => readings::SessionBinding::Always,
            },
            ended_session: match chosen.ended_session {
                EndedSession::ComesBack => readings::EndedSession::Either,
                EndedSession::StaysEnded => readings::EndedSession::StaysEnded,
            },
            restarted_session: match chosen.restarted_session {
                RestartedSession::Ends => readings::RestartedSession::Ends,
                RestartedSession::GoesOn => readings::RestartedSession::GoesOn,
            },
            ..Reading::default()
        }
    }

    fn taking(reading: Reading) -> Option<Settings> {
        let signs = match reading.token_storage {
            readings::TokenStorage::Kept => false,
            readings::TokenStorage::Signed => true,
        };
        let check_order = match reading.check_order {
            readings::CheckOrder::Table => CheckOrder::Table,
            readings::CheckOrder::Sample => CheckOrder::Sample,
        };
        let session_binding = match reading.session_binding {
            readings::SessionBinding::MultiUse => SessionBinding::ManyUses,
            readings::SessionBinding::Always => SessionBinding::Every,
        };
        let ended_session = match reading.ended_session {
            readings::EndedSession::Either => EndedSession::ComesBack,
            readings::EndedSession::StaysEnded => EndedSession::StaysEnded,
        };
        let restarted_session = match reading.restarted_session {
            readings::RestartedSession::Ends => RestartedSession::Ends,
            readings::RestartedSession::GoesOn => RestartedSession::GoesOn,
        };
        let chosen = Reading {
            token_storage: reading.token_storage,
            check_order: reading.check_order,
            session_binding: reading.session_binding,
            ended_session: reading.ended_session,
            restarted_session: reading.restarted_session,
            ..Reading::default()
        };
        (reading == chosen).then_some(Settings {
            signs,
            chosen: real::Settings {
                check_order,
                session_binding,
                ended_session,
                restarted_session,
                ..real::Settings::default()
            },
        })
    }

    fn drawn(byte: u8) -> Settings {
        if byte < 128 {
            return Settings::default();
        }
        let is_set = |bit: u8| byte & (1 << bit) != 0;
        let limit = RateLimit::new(2, 1_000).ok().filter(|_| is_set(4));
        let chosen = real::Settings {
            check_order: if is_set(0) {
                CheckOrder::Sample
            } else {
                CheckOrder::Table
            },
            session_binding: if is_set(1) {
                SessionBinding::Every
            } else {
                SessionBinding::ManyUses
            },
            persistence: if is_set(2) {
                Persistence::InMemory
            } else {
                Persistence::Persistent
            },
            retention: if is_set(3) {
                Retention::from_seconds(0).unwrap_or_default()
            } else {
                Retention::default()
            },
            rate_limits: RateLimits {
                issuance: limit,
                failed_validation: limit,
                revocation: limit,
            },
            ..real::Settings::default()
        };
        Settings {
            signs: is_set(5),
            chosen,
        }
    }
}

impl Hash for Reference {
    fn hash<H: Hasher>(&self, to: &mut H) {
        let Self {
            gatekeeper,
            kept,
            tells_all_apart,
        } = self;
        let Kept {
            tokens,
            logged,
            bits: _,
        } = &**kept;
        let Held {
            settings,
            now,
            adapters,
            ended_sessions,
            signer,
            buckets,
        } = gatekeeper.held();
        (settings, now, adapters, ended_sessions, signer, buckets).hash(to);
        for token in gatekeeper.tokens() {
            let IssuedToken {
                scope,
                danger_level,
                issued_at: _,
                expires_at,
                valid_until,
                max_uses: _,
                phase,
                ..
            } = token;
            let uses_left = match phase {
                Phase::Live { uses_left } => Some(uses_left.get()),
                Phase::Consumed => Some(0),
                Phase::Revoked { by: _ } => None,
            };
            let of_its_issue = (scope, danger_level, expires_at, valid_until);
            (token.id(), of_its_issue, uses_left).hash(to);
        }
        tokens.len().hash(to);
        logged.hash(to);
        if signer.is_some() {
            // What is signed is held by whoever shows it.
            tokens.hash(to);
        }
        if *tells_all_apart {
            (gatekeeper, kept).hash(to);
        }
    }
}
impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}
impl Eq for Reference {}

impl Executor<McpAql> for Reference {
    fn call(&mut self, call: &Call) -> Vec<Output> {
        let now = Timestamp::from_millis(call.now);
        let mut outputs = Vec::new();
        if let Op::Restart(Lost::Outputs(_)) = &call.op {
            match stored_and_read_back(&self.gatekeeper) {
                Some(gatekeeper) => self.gatekeeper = Arc::new(gatekeeper),
                None => outputs.push(BROKEN),
            }
        }
        let input = self.input(&call.op);
        let is_said = input.is_some();
        let kept = Arc::make_mut(&mut self.kept);
        kept.bits.is_key = !matches!(input, Some(Input::Call(_)));
        let gatekeeper = Arc::make_mut(&mut self.gatekeeper);
        let outcome = gatekeeper.handle(now, &mut kept.bits, input.unwrap_or(Input::Tick));
        let Outcome {
            outputs: came,
            refused,
        } = outcome;
        outputs.extend(came.iter().map(|it| kept.output(&call.op, it)));
        if refused.is_some() || !is_said {
            outputs.push(Output::Refused);
        }
        outputs
    }
}

impl Differing for McpAql {
    /// The text does not say whether the log or the client is told first.
    const IS_ORDERED: bool = false;

    /// The words of an answer are the gatekeeper's, and so is how the log calls a token: the checker holds them against each other.
    /// A query is logged under what the token was for, or as `introspect`. What is over may be purged already. What is wrong
    /// with a call that shows a token may be told by the checks of the token.
    fn may_replace(expected: &Output, output: &Output) -> bool {
        match (expected, output) {
            (
                Output::Respond(Answer::Failed(expected)),
                Output::Respond(Answer::Failed(output)),
            ) => {
                let head = |it: &Failure| (it.is_whole, it.exposes_parameters);
                let is_purged = (expected.code, output.code) == (Code::Expired, Code::Invalid);
                (expected.code == output.code || is_purged) && head(expected) == head(output)
            }
            (Output::Refused, Output::Respond(Answer::Failed(_))) => true,
            (
                Output::Respond(Answer::Revoked(expected)),
                Output::Respond(Answer::Revoked(output)),
            )
            | (
                Output::Respond(Answer::Status(expected)),
                Output::Respond(Answer::Status(output)),
            ) => expected.holds == output.holds,
            (Output::Audit(expected), Output::Audit(output)) => {
                let is_query = output.operation == Some(INTROSPECT);
                let names = |it: &Entry| (it.operation, it.adapter, it.session);
                let rest = |it: &Entry| (it.at, it.event, it.is_success, it.token.is_some());
                rest(expected) == rest(output) && (is_query || names(expected) == names(output))
            }
            _ => false,
        }
    }
}

/// The gatekeeper does not take what it has itself written.
const BROKEN: Output = Output::Respond(Answer::Other(Name::MAX));

fn stored_and_read_back(gatekeeper: &Gatekeeper) -> Option<Gatekeeper> {
    let stored = serde_json::to_string(gatekeeper).ok()?;
    serde_json::from_str(&stored).ok()
}

// ── What is asked ──

impl Reference {
    /// Nothing for what the gatekeeper cannot be told.
    fn input(&self, op: &Op) -> Option<Input> {
        Some(match op {
            Op::Configure(it) => Input::Configure {
                adapter: adapter(it.adapter)?,
                clock_skew_tolerance_seconds: it.tolerance.map(seconds),
                oracle: it.oracle.map(|it| match it {
                    alphabet::Oracle::Codes => real::Oracle::Codes,
                    alphabet::Oracle::Uniform => real::Oracle::Uniform,
                }),
                critical: match &it.critical {
                    Some(lists) => Some(critical(lists)?),
                    None => None,
                },
            },
            Op::Call(it) => Input::Call(self.request(it)?),
            Op::Introspect {
                adapter: asked,
                query,
                token,
            } => Input::Introspect {
                adapter: Some(adapter(*asked)?),
                query: match query {
                    alphabet::Query::Revoke => real::Query::RevokeToken,
                    alphabet::Query::Status => real::Query::TokenStatus,
                },
                token: self.kept.shown(*token),
            },
            Op::Event { kind, session: of } => Input::Event {
                kind: match kind {
                    alphabet::EventKind::Logout => real::EventKind::Logout,
                    alphabet::EventKind::Security => real::EventKind::Security,
                    alphabet::EventKind::Configuration => real::EventKind::Configuration,
                },
                session_id: match of {
                    Some(of) => Some(session(*of)?),
                    None => None,
                },
            },
            Op::EndSession(it) => Input::EndSession {
                session_id: session(*it)?,
            },
            Op::Tick => Input::Tick,
            Op::Restart(Lost::Outputs(_)) => Input::Restart,
            Op::Restart(Lost::TooMany) => return None,
        })
    }

    fn request(&self, it: &alphabet::Request) -> Option<real::Call> {
        /// The longest life that any token can have: whoever asks for more is refused, whether or not the call needs a token.
        const LONGEST_LIFE: u64 = 900;
        let ttl_seconds = it.ttl.map(seconds);
        if ttl_seconds.is_some_and(|it| it == 0 || it > LONGEST_LIFE) {
            return None;
        }
        let max_uses = u32::try_from(it.max_uses.unwrap_or(1)).ok();
        Some(real::Call {
            adapter: Some(adapter(it.adapter)?),
            operation: operation(it.operation)?,
            params: written(&it.parameters),
            danger_level: match it.level {
                Level::Safe => DangerLevel::Safe,
                Level::Reversible => DangerLevel::Reversible,
                Level::Destructive => DangerLevel::Destructive,
                Level::Dangerous => DangerLevel::Dangerous,
                Level::Forbidden => DangerLevel::Forbidden,
            },
            session_id: match it.session {
                Some(it) => Some(session(it)?),
                None => None,
            },
            session_scope: it.session_scope,
            max_uses: max_uses.filter(|it| *it > 0)?,
            ttl_seconds,
            confirmation_token: it.token.map(|it| self.kept.shown(it)),
            purpose: match it.purpose {
                alphabet::Purpose::Confirmation => real::Purpose::Confirmation,
                alphabet::Purpose::Quota => real::Purpose::QuotaContinue,
            },
            reasons: None,
            confirmation_message: None,
        })
    }
}

/// Whole seconds, rounded up: no request can say a part of one. What is out of range below is so above as well.
fn seconds(millis: Time) -> u64 {
    let whole = millis.div_euclid(1_000) + i64::from(millis.rem_euclid(1_000) > 0);
    u64::try_from(whole).unwrap_or(u64::MAX)
}

fn adapter(it: alphabet::Text) -> Option<AdapterName> {
    AdapterName::parse(&text(it)).ok()
}
fn operation(it: alphabet::Text) -> Option<OperationName> {
    OperationName::parse(&text(it)).ok()
}
fn session(it: alphabet::Text) -> Option<SessionId> {
    SessionId::parse(&text(it)).ok()
}

fn critical(lists: &[(Name, Vec<Name>)]) -> Option<BTreeMap<OperationName, BTreeSet<String>>> {
    let lists = lists.iter().map(|(of, names)| {
        let names = names.iter().map(Name::to_string).collect();
        Some((operation((*of).into())?, names))
    });
    lists.collect()
}

/// A text for a name: the same of whatever length, unless it is too short or too long for one.
fn text(it: alphabet::Text) -> String {
    let width = match it.characters {
        0 => return String::new(),
        1..=256 => 0,
        longer => longer as usize,
    };
    match it.name {
        INTROSPECT => "introspect".to_owned(),
        name => format!("{name:0width$}"),
    }
}

/// The name that a text stands for.
fn name(text: &str) -> Name {
    let is_introspect = text == "introspect";
    let name = text.parse().ok();
    name.or(is_introspect.then_some(INTROSPECT))
        .unwrap_or(Name::MAX)
}

thread_local! {
    /// Parameters with the texts that were written for them, both ways.
    static TEXTS: RefCell<HashMap<alphabet::Parameters, real::Parameters, RandomState>> = RefCell::default();
    static MEANINGS: RefCell<HashMap<real::Parameters, Option<Name>, RandomState>> = RefCell::default();
}

/// JSON for parameters, behind so many blanks as tell their spelling and their meaning. Without one meaning they have a name twice.
fn written(it: &alphabet::Parameters) -> real::Parameters {
    let known = TEXTS.with_borrow(|texts| texts.get(it).cloned());
    known.unwrap_or_else(|| {
        let blanks = |number: Name| {
            let bits = (0..Name::BITS).map(move |bit| number >> bit & 1 == 1);
            bits.map(|is_set| if is_set { '\t' } else { ' ' })
        };
        let meaning = it.meaning.unwrap_or(Name::MAX);
        let space: String = blanks(it.spelling).chain(blanks(meaning)).collect();
        let each = it.each.iter();
        let members = each.map(|it| format!("\"{}\":{}", it.name, it.value));
        let members = members.collect::<Vec<_>>().join(",");
        let text = match it.meaning {
            None => format!("{{{space}\"0\":1,\"0\":2}}"),
            // No object, or an empty one.
            Some(_) if it.each.is_empty() => format!("[{space}{meaning}]"),
            Some(_) => format!("{{{space}{members}}}"),
        };
        let padding = (it.size as usize).saturating_sub(text.len());
        let written = real::Parameters::new(text + &" ".repeat(padding));
        TEXTS.with_borrow_mut(|texts| texts.insert(it.clone(), written.clone()));
        MEANINGS.with_borrow_mut(|meanings| meanings.insert(written.clone(), it.meaning));
        written
    })
}

// ── What is put out ──

impl Kept {
    /// The text of a token as a client shows it.
    fn shown(&self, it: Shown) -> String {
        let own = |id: TokenId| {
            let token = self.tokens.get(usize::from(id));
            token.map_or_else(|| format!("conf_{id:a>43}"), |it| it.as_str().to_owned())
        };
        match it {
            Shown::Token(id) => own(id),
            Shown::OtherCase(id) => {
                let text = own(id);
                let (prefix, identifier) = text.split_at(text.len() - 43);
                let other = |it: char| {
                    if it.is_ascii_lowercase() {
                        it.to_ascii_uppercase()
                    } else {
                        it.to_ascii_lowercase()
                    }
                };
                let identifier: String = identifier.chars().map(other).collect();
                format!("{prefix}{identifier}")
            }
            Shown::Unknown => format!("conf_{:b>43}", ""),
            Shown::Blank => String::new(),
        }
    }

    /// An output in the alphabet.
    fn output(&mut self, op: &Op, output: &real::Output) -> Output {
        match output {
            real::Output::Perform(it) => Output::Perform(Performed {
                operation: name(it.operation.as_str()),
                parameters: MEANINGS.with_borrow(|meanings| {
                    let meaning = meanings.get(&it.params);
                    meaning.copied().unwrap_or(Some(Name::MAX))
                }),
                adapter: Some(name(it.adapter.as_str())),
                session: it.session_id.as_ref().map(|it| name(it.as_str())),
            }),
            real::Output::Respond(it) => Output::Respond(self.answer(op, it)),
            real::Output::Audit(Audit::Token(it)) => Output::Audit(self.entry(it)),
            real::Output::Audit(Audit::Warning(_)) => Output::Warn,
        }
    }

    fn answer(&mut self, op: &Op, answer: &Response) -> Answer {
        match answer {
            Response::Failed(it) => self.failure(op, it),
            Response::Revoked => Answer::Revoked(Told {
                holds: true,
                shape: 0,
            }),
            Response::Status(it) => {
                let uses = it.uses_left.map_or(0, |it| 1 + it.min(998));
                let status = 1_000 * (1 + it.status as u16);
                Answer::Status(Told {
                    holds: it.status == Status::Live,
                    shape: status + u16::try_from(uses).unwrap_or_default(),
                })
            }
        }
    }

    fn failure(&mut self, op: &Op, it: &real::Failure) -> Answer {
        let code = match it.code {
            ErrorCode::TokenInvalid => Code::Invalid,
            ErrorCode::TokenExpired => Code::Expired,
            ErrorCode::TokenAlreadyUsed => Code::Used,
            ErrorCode::TokenScopeMismatch => Code::Scope,
            ErrorCode::InvalidParams => return Answer::Unreadable,
            ErrorCode::RateLimited => return Answer::Limited,
            ErrorCode::CapacityExceeded => return Answer::Full,
            ErrorCode::ConfirmationRequired => Code::Other,
        };
        let (details, expired_at, current_time) = match &it.details {
            Details::ConfirmationRequired(it) => return Answer::Issued(self.issued(it)),
            Details::Nothing {} => (0, None, None),
            Details::Token { token: _ } => (1, None, None),
            Details::Expired {
                token: _,
                expired_at,
                current_time,
            } => (2, Some(expired_at.millis()), Some(current_time.millis())),
            Details::RetryAfter { .. } => (3, None, None),
            Details::Problem { .. } => (4, None, None),
        };
        // What it says besides follows from its code.
        let shape = 10 * it.code as u16 + details;
        match op {
            Op::Introspect { .. } => Answer::Revoked(Told {
                holds: false,
                shape,
            }),
            Op::Configure(_)
            | Op::Call(_)
            | Op::Event { .. }
            | Op::EndSession(_)
            | Op::Tick
            | Op::Restart(_) => Answer::Failed(Failure {
                code,
                is_whole: true,
                shape,
                expired_at,
                current_time,
                exposes_parameters: false,
            }),
        }
    }

    fn issued(&mut self, it: &ConfirmationRequired) -> Issued {
        let token = &it.confirmation_token;
        let text = token.as_str();
        let identifier = text
            .strip_prefix(token.purpose().prefix())
            .unwrap_or_default();
        let is_safe = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        Issued {
            token: place(&mut self.tokens, token),
            look: Look {
                prefix: Some(match token.purpose() {
                    real::Purpose::Confirmation => alphabet::Purpose::Confirmation,
                    real::Purpose::QuotaContinue => alphabet::Purpose::Quota,
                }),
                identifier: count(identifier),
                characters: count(text),
                is_url_safe: identifier.chars().all(is_safe),
                // Its bits are the host's.
                is_counted: false,
                reads: None,
            },
            expires_at: Some(it.expires_at.millis()),
            operation: Some(name(it.operation.as_str())),
            level: Some(match it.danger_level {
                DangerLevel::Safe => Level::Safe,
                DangerLevel::Reversible => Level::Reversible,
                DangerLevel::Destructive => Level::Destructive,
                DangerLevel::Dangerous => Level::Dangerous,
                DangerLevel::Forbidden => Level::Forbidden,
            }),
            has_reasons: !it.reasons.is_empty(),
            has_message: !it.confirmation_message.is_empty(),
        }
    }

    fn entry(&mut self, it: &AuditEntry) -> Entry {
        let session = it.client_context.as_ref();
        Entry {
            at: it.timestamp.millis(),
            event: match it.event {
                TokenEvent::TokenIssued => Event::Issued,
                TokenEvent::TokenValidated => Event::Validated,
                TokenEvent::TokenRejected => Event::Rejected,
                TokenEvent::TokenRevoked => Event::Revoked,
            },
            is_success: it.outcome == AuditOutcome::Success,
            token: it.token_id.map(|it| place(&mut self.logged, &it)),
            operation: Some(name(it.operation.as_str())),
            adapter: Some(name(it.adapter_name.as_str())),
            session: session.map(|it| name(it.session_id.as_str())),
        }
    }
}

/// The number of what was made up, by first appearance.
fn place<T: Clone + PartialEq>(known: &mut Vec<T>, it: &T) -> u16 {
    let place = known.iter().position(|known| known == it);
    let place = place.unwrap_or_else(|| {
        known.push(it.clone());
        known.len() - 1
    });
    u16::try_from(place).unwrap_or(u16::MAX)
}
