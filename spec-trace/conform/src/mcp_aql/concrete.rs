//! From the model's words to the wire: real names, real times, real bytes.
//!
//! The one thing to know: one tick of the model is 60 seconds, and calls come around the millisecond at which a token is good
//! for the last time. Where the model has one word for many things, a call says one of them, picked by what the state is: a
//! walk meets them all, and a replay meets the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::bounds::Bounds;
use countersign_model::mcp_aql::message::{Call, Carried};
use countersign_model::mcp_aql::numbers::Numbers;
use countersign_model::mcp_aql::state::{Setup, State};
use countersign_model::mcp_aql::words::{
    Danger, FIVE_MINUTES, Lifetime, List, Oracle, Parameters as Asked, Purpose, Request, Scope,
    SessionName, Slot, Trigger, Which,
};
use countersign_model::time::Scale;
use countersign_reference::mcp_aql as executor;
use countersign_reference::mcp_aql::{
    AdapterName, Capacity, CheckOrder, Configuration, DangerLevel, EventKind, Input, OperationName,
    Parameters, ParametersHash, Persistence, Query, RateLimit, RateLimits, Retention, SessionId,
    Settings, Tolerance,
};
use countersign_reference::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::Host;
use super::spelling::{CRITICAL, OPERATIONS};
use crate::concretion::Picks;

/// A tick in seconds, where lifetimes are those of the text and the longest tolerance is (AQL-5.1-5).
const MINUTE: u32 = 60;
/// A tick in seconds, where the longest tolerance of the model is the default of the text (AQL-5.1-4, AQL-5.1-5).
const TENTH: u32 = 6;
/// The start of every run: 2026-05-24T14:22:20Z.
const START: i64 = 1_779_632_540_000;
/// How long an expired token is remembered, in ticks: a few, so that walks meet it both remembered and forgotten.
const RETENTION: u8 = 5;

/// After how many milliseconds a limit lets one more through: long after every run, for the model has nothing back.
const REFILL: u32 = u32::MAX;

/// The widest tolerance, in seconds (AQL-5.1-5).
const WIDEST: u64 = 300;
/// A tolerance in seconds that the model does not have, and that nobody is warned of.
const OTHER_TOLERANCE: u64 = 7;

/// What the model's names stand for.
pub struct Environment {
    /// By [`Which`]. The first is the gatekeeper's own.
    pub adapters: [AdapterName; 2],
    /// By [`Which`].
    pub operations: [OperationName; 2],
    /// By `SessionName::index`.
    pub sessions: [SessionId; 2],
    /// What a token for the parameters that are asked for is bound to, by operation; and where its list is narrow.
    bound: [[ParametersHash; 2]; 2],
    /// Whether tokens are signed instead of kept.
    pub(super) signs: bool,
    /// What the host chose: as far as it can be told, nothing that an executor has by itself.
    pub settings: Settings,
    /// What the log names as the operation where a query finds nothing.
    pub introspect: OperationName,
    /// A tick, in seconds.
    tick: u32,
    critical: BTreeMap<OperationName, BTreeSet<String>>,
    /// How the parameters that are asked for can be written, by operation.
    asked: [Vec<Parameters>; 2],
    /// Parameters that are others, by operation: those by any list first, then those that a narrow list takes for the same.
    other: [Vec<Parameters>; 2],
}

impl Environment {
    /// AQL-6.5-1, AQL-5.5-3: with the limits and the room of these bounds.
    pub(super) fn within(bounds: &Bounds) -> Self {
        let mut environment = Self::of_ticks(MINUTE);
        environment.signs = bounds.kept == 0;
        let limit = |burst: u8| RateLimit::new(burst.into(), REFILL).ok();
        environment.settings.rate_limits = RateLimits {
            issuance: limit(bounds.issues),
            failed_validation: limit(bounds.limit),
            revocation: limit(bounds.revocations),
        };
        if let Ok(capacity) = Capacity::of_few(bounds.capacity.into()) {
            environment.settings.capacity = capacity;
        }
        environment
    }

    /// The same in which the longest tolerance is 30 seconds, and is there unless the operator says otherwise (AQL-5.1-5).
    pub(super) fn of_thirty_seconds() -> Self {
        let mut environment = Self::of_ticks(TENTH);
        let by_itself = Settings::default().configuration.tolerance;
        Arc::make_mut(&mut environment.settings.configuration).tolerance = by_itself;
        environment
    }

    fn of_ticks(tick: u32) -> Self {
        let adapters = ["files", "Files"]
            .map(|text| AdapterName::parse(text).expect("a well-formed adapter name"));
        let operations = OPERATIONS
            .each_ref()
            .map(|spelling| OperationName::parse(spelling.operation).expect("a well-formed name"));
        let critical = CRITICAL.map(ToOwned::to_owned);
        let introspect = OperationName::parse("introspect").expect("a well-formed name");
        let texts = |texts: &[&str]| texts.iter().map(Parameters::new).collect();
        Self {
            signs: false,
            settings: Settings {
                adapter: adapters[0].clone(),
                check_order: CheckOrder::Table,
                session_binding: executor::SessionBinding::ManyUses,
                // The model's few sessions come back, as a name that stands for another connection.
                ended_session: executor::EndedSession::ComesBack,
                // The connections of the model outlast its gatekeeper.
                restarted_session: executor::RestartedSession::GoesOn,
                persistence: Persistence::Persistent,
                capacity: Capacity::new(1_234).expect("room enough"),
                retention: Retention::from_seconds(u64::from(tick) * u64::from(RETENTION))
                    .expect("within the hour"),
                rate_limits: RateLimits::default(),
                // Both adapters are configured before they are called. But the strictest mode of all is that of introspection.
                configuration: Arc::new(Configuration {
                    tolerance: Tolerance::from_seconds(7).expect("within 300 s"),
                    oracle: executor::Oracle::Codes,
                    critical: BTreeMap::from([(introspect.clone(), BTreeSet::new())]),
                }),
            },
            introspect,
            tick,
            critical: BTreeMap::from([(operations[0].clone(), BTreeSet::from(critical))]),
            adapters,
            operations,
            sessions: ["sess_A", "sess_a"]
                .map(|text| SessionId::parse(text).expect("a well-formed session id")),
            bound: OPERATIONS
                .each_ref()
                .map(|spelling| [spelling.canonical, spelling.narrowly].map(bound)),
            asked: OPERATIONS.each_ref().map(|spelling| texts(spelling.asked)),
            other: OPERATIONS
                .each_ref()
                .map(|spelling| texts(&[spelling.other, spelling.unlisted].concat())),
        }
    }

    /// The time at a node whose clock is off by so many moments.
    pub fn time(&self, clock: u8, skew: i8) -> Timestamp {
        let moment = i64::from(clock) + i64::from(skew);
        Timestamp::from_millis(START + self.scale().millis(moment))
    }

    /// The moment at this time; nothing for a time between two, or before the start.
    pub fn moment(&self, time: Timestamp) -> Option<u8> {
        self.scale().moment(time.millis() - START)
    }

    /// The model's times in milliseconds.
    fn scale(&self) -> Scale {
        Scale::of(i64::from(self.tick) * 1_000)
    }

    /// So many ticks in seconds.
    pub(super) fn seconds(&self, ticks: u8) -> u64 {
        u64::from(ticks) * u64::from(self.tick)
    }

    /// AQL-5.1-6: whether a tolerance of so many ticks is one to be warned of.
    pub(super) fn is_warned_of(&self, tolerance: u8) -> bool {
        self.seconds(tolerance) > 60
    }

    /// Whether an adapter works as the operator has configured it; as by default, if he has not.
    pub(super) fn is_configured(&self, found: &Configuration, which: Which, state: &State) -> bool {
        let Some(setup) = state.setup else {
            return *found == *self.settings.configuration;
        };
        u64::from(found.tolerance.seconds()) == self.seconds(setup.tolerance)
            && found.oracle == oracle(setup.oracle)
            && found.critical == self.lists(which, state)
    }

    /// AQL-3.2-4: which parameters count at an adapter, by operation.
    fn lists(&self, which: Which, state: &State) -> BTreeMap<OperationName, BTreeSet<String>> {
        let mut lists = self.critical.clone();
        if which == Which::Second {
            return lists;
        }
        for operation in Which::ALL {
            let spelling = &OPERATIONS[place(operation)];
            let list = state.lists[place(operation)];
            let names = match list {
                List::Unset => continue,
                List::Narrow => spelling.narrow,
                List::Wide if state.setup.is_some_and(|it| list.names_nothing(it.oracle)) => {
                    spelling.absent
                }
                List::Wide => spelling.wide,
            };
            let names = names.iter().map(|&name| name.to_owned()).collect();
            lists.insert(self.operations[place(operation)].clone(), names);
        }
        lists
    }

    /// AQL-3.2-1, AQL-3.2-3: what a token is bound to that is issued for this call.
    pub(super) fn bound(&self, call: &executor::Call, state: &State) -> ParametersHash {
        let named = |&which: &Which| self.operations[place(which)] == call.operation;
        let operation = Which::ALL.into_iter().find(named).map_or(0, place);
        let [whole, narrow] = &self.bound[operation];
        let is_listed = *self.adapter_of(call) == self.adapters[0];
        if is_listed && state.lists[operation] == List::Narrow {
            *narrow
        } else {
            *whole
        }
    }

    /// The calls into the executor that a step of the model is; none for a step of the world around it.
    pub(super) fn inputs(&self, host: &Host, state: &State, action: Action) -> Option<Vec<Input>> {
        let mut picks = Picks::of(&state.words());
        let input = match action {
            Action::SetUp { tolerance, oracle } => {
                let mut configure = |which| self.set_up(which, tolerance, oracle, &mut picks);
                return Some(Which::ALL.map(&mut configure).to_vec());
            }
            Action::Request(request) => Input::Call(self.request(request, state, &mut picks)?),
            Action::Deliver { index, .. } => {
                let call = state.network.get(usize::from(index))?;
                Input::Call(self.deliver(host, state, call, &mut picks))
            }
            Action::Revoke(carried) => Input::Introspect {
                adapter: None,
                query: Query::RevokeToken,
                token: token(host, carried, &mut picks),
            },
            Action::AskStatus(carried) => Input::Introspect {
                adapter: None,
                query: Query::TokenStatus,
                token: token(host, carried, &mut picks),
            },
            Action::Trigger(Trigger::Configuration(which)) => {
                let setup = state.setup?;
                let other = self.otherwise(which, setup, &mut picks);
                return Some(vec![
                    other,
                    self.as_it_is(which, setup, state, &mut picks),
                ]);
            }
            Action::Reconfigure(which) => self.as_it_is(which, state.setup?, state, &mut picks),
            Action::Relist { operation, list } => {
                let mut next = *state;
                next.lists[place(operation)] = list;
                Input::Configure {
                    adapter: self.adapters[place(Which::First)].clone(),
                    clock_skew_tolerance_seconds: None,
                    oracle: None,
                    critical: Some(self.lists(Which::First, &next)),
                }
            }
            Action::Trigger(trigger) => self.trigger(trigger, &mut picks)?,
            // A gatekeeper forgets when it likes, once it may; it is given the occasion.
            Action::Purge { .. } => Input::Tick,
            Action::Restart(_) => Input::Restart,
            Action::Send { .. }
            | Action::Guess
            | Action::CarryOut { .. }
            | Action::Tick
            // A gatekeeper that redeems apart from validating is the model's own.
            | Action::Redeem { .. } => return None,
        };
        Some(vec![input])
    }

    /// A call without a token. Parameters that are others are only ever sent with a token for the ones asked for.
    fn request(
        &self,
        request: Request,
        state: &State,
        picks: &mut Picks,
    ) -> Option<executor::Call> {
        let scope = request.scope;
        let (Asked::First, true) = (scope.parameters, request.max_uses > 0) else {
            return None;
        };
        let reasons = [None, Some(vec!["Nobody has a copy.".to_owned()])];
        let messages = [None, Some("Gone for good. Go on?".to_owned())];
        Some(executor::Call {
            adapter: self.adapter(scope.adapter, picks),
            operation: self.operations[place(scope.operation)].clone(),
            params: picks.among(self.asked(scope, state)),
            danger_level: danger_level(&request, picks),
            session_id: scope.session.map(|name| self.session(name)),
            session_scope: None,
            max_uses: request.max_uses.into(),
            ttl_seconds: self.seconds_asked(&request),
            confirmation_token: None,
            purpose: purpose(scope.purpose),
            reasons: picks.among(&reasons),
            confirmation_message: picks.among(&messages),
        })
    }

    /// The parameters that are asked for, as they can be written where that list is in force.
    fn asked(&self, scope: Scope, state: &State) -> &[Parameters] {
        let operation = place(scope.operation);
        let left_out = if state.lists_nothing(scope) {
            OPERATIONS[operation].saying_more
        } else {
            0
        };
        &self.asked[operation][left_out..]
    }

    /// A call with a token. What it says of a token to be issued makes no difference.
    fn deliver(&self, host: &Host, state: &State, call: Call, picks: &mut Picks) -> executor::Call {
        let scope = call.scope;
        let operation = place(scope.operation);
        let (asked, other) = (self.asked(scope, state), &self.other[operation][..]);
        let (by_any, unlisted) = other.split_at(OPERATIONS[operation].other.len());
        let spellings = match scope.parameters {
            Asked::First => asked,
            Asked::Second if state.list(scope) == List::Narrow => by_any,
            Asked::Second => other,
            Asked::Third => unlisted,
        };
        let bound_to = match call.token {
            Carried::Token(slot) => state.token(slot).scope.session,
            Carried::Guessed => None,
        };
        let session_id = self.session_named(scope.session, bound_to, picks);
        executor::Call {
            adapter: self.adapter(scope.adapter, picks),
            operation: self.operations[operation].clone(),
            params: picks.among(spellings),
            danger_level: level_of_call(host, call, picks),
            // AQL-5.4-1: more than one only in a session, and only of a token that is kept.
            max_uses: match &session_id {
                Some(_) if !self.signs => picks.among(&[1, 2]),
                Some(_) | None => 1,
            },
            session_id,
            session_scope: None,
            ttl_seconds: None,
            confirmation_token: Some(token(host, call.token, picks)),
            purpose: if call.gated {
                purpose(scope.purpose)
            } else {
                executor::Purpose::Confirmation
            },
            reasons: None,
            confirmation_message: None,
        }
    }

    /// The session of a call. One with a token for no session may come in any or none, and one that is to come in another
    /// session than its token's may come in none.
    fn session_named(
        &self,
        named: Option<SessionName>,
        bound_to: Option<SessionName>,
        picks: &mut Picks,
    ) -> Option<SessionId> {
        let [first, second] = self.sessions.clone().map(Some);
        match (named, bound_to) {
            (None, None) => picks.among(&[None, first, second]),
            (Some(name), Some(bound_to)) if name != bound_to => {
                picks.among(&[Some(self.session(name)), None])
            }
            (named, _) => named.map(|name| self.session(name)),
        }
    }

    /// What revokes and is no configuration.
    fn trigger(&self, trigger: Trigger, picks: &mut Picks) -> Option<Input> {
        let event = |kind, session_id| Input::Event { kind, session_id };
        Some(match trigger {
            Trigger::SessionEnd(name) => Input::EndSession {
                session_id: self.session(name),
            },
            Trigger::Logout(session) => event(
                EventKind::Logout,
                session.map(|session| self.session(session)),
            ),
            // Either revokes all.
            Trigger::Security => event(
                picks.among(&[EventKind::Security, EventKind::Configuration]),
                None,
            ),
            Trigger::Configuration(_) => return None,
        })
    }

    /// AQL-5.3-2: an adapter is configured in one thing otherwise than it is.
    fn otherwise(&self, which: Which, setup: Setup, picks: &mut Picks) -> Input {
        let change = |tolerance, mode: Option<Oracle>| Input::Configure {
            adapter: self.adapters[place(which)].clone(),
            clock_skew_tolerance_seconds: tolerance,
            oracle: mode.map(oracle),
            critical: None,
        };
        picks.among(&[
            change(Some(OTHER_TOLERANCE), None),
            change(None, Some(setup.oracle.other())),
        ])
    }

    /// An adapter is configured as it was set up. What is left out of a configuration stays as it was.
    fn as_it_is(&self, which: Which, setup: Setup, state: &State, picks: &mut Picks) -> Input {
        let mut whole = self.configure(which, setup.tolerance, setup.oracle);
        if let Input::Configure { critical, .. } = &mut whole {
            *critical = Some(self.lists(which, state));
        }
        let mut part = whole.clone();
        if let Input::Configure {
            oracle, critical, ..
        } = &mut part
        {
            (*oracle, *critical) = (Some(self::oracle(setup.oracle)), None);
        }
        picks.among(&[whole, part])
    }

    /// The first configuration. A tolerance that is there by itself need not be set; what is too wide in the model by a tick
    /// is too wide here by a second.
    fn set_up(&self, which: Which, tolerance: u8, mode: Oracle, picks: &mut Picks) -> Input {
        let mut input = self.configure(which, tolerance, mode);
        let by_itself = self.settings.configuration.tolerance.seconds();
        if let Input::Configure {
            clock_skew_tolerance_seconds: seconds,
            ..
        } = &mut input
        {
            if tolerance > FIVE_MINUTES {
                *seconds = Some(WIDEST + 1);
            } else if *seconds == Some(by_itself.into()) {
                *seconds = picks.among(&[None, *seconds]);
            }
        }
        input
    }

    /// AQL-5.1-1: the life that is asked for; what is too long in the model by a tick is too long here by a second.
    fn seconds_asked(&self, request: &Request) -> Option<u64> {
        let longest = request.longest_lifetime(&Numbers::TEXT);
        match request.lifetime {
            Lifetime::Default if self.tick == MINUTE => None,
            Lifetime::Default => Some(self.seconds(request.default_lifetime(&Numbers::TEXT))),
            Lifetime::Ticks(ticks) if ticks > longest => {
                Some(u64::from(longest) * u64::from(MINUTE) + 1)
            }
            Lifetime::Ticks(ticks) => Some(self.seconds(ticks)),
        }
    }

    fn configure(&self, which: Which, tolerance: u8, mode: Oracle) -> Input {
        Input::Configure {
            adapter: self.adapters[place(which)].clone(),
            clock_skew_tolerance_seconds: Some(self.seconds(tolerance)),
            oracle: Some(oracle(mode)),
            critical: Some(self.critical.clone()),
        }
    }

    fn adapter(&self, which: Which, picks: &mut Picks) -> Option<AdapterName> {
        let named = Some(self.adapters[place(which)].clone());
        match which {
            Which::First => picks.among(&[None, named]),
            Which::Second => named,
        }
    }

    fn session(&self, name: SessionName) -> SessionId {
        self.sessions[name.index()].clone()
    }

    /// Whether a call says of the parameters of its operation what is said where a token is asked for.
    pub(super) fn is_as_asked(&self, call: &executor::Call) -> bool {
        let mut operations = self.operations.iter().zip(&self.asked);
        operations
            .any(|(operation, asked)| *operation == call.operation && asked.contains(&call.params))
    }

    /// The adapter that a call is made to.
    pub(super) fn adapter_of<'a>(&'a self, call: &'a executor::Call) -> &'a AdapterName {
        call.adapter.as_ref().unwrap_or(&self.settings.adapter)
    }
}

/// AQL-6.5-1: whether a limit that was used up can let something through again in so many seconds, rounded up: it began to be
/// used after the start.
pub(super) fn can_be_had_back(seconds: i64, now: Timestamp) -> bool {
    let whole = i64::from(REFILL);
    let spent = now.millis() - START;
    (whole - spent..whole + 1_000).contains(&(seconds * 1_000))
}

/// AQL-4.1-1, AQL-2.2-1, AQL-2.2-2, AQL-2.2-3: the token, or one that was never issued: anything else, also what is
/// nearly one that was.
fn token(host: &Host, carried: Carried, picks: &mut Picks) -> String {
    let issued = |slot: Slot| host.issued[slot.index()].as_ref();
    let text = |slot| issued(slot).map(|issued| issued.token.as_str().to_owned());
    let guessed = || "conf_guessed".to_owned();
    match carried {
        Carried::Token(slot) => text(slot).unwrap_or_else(guessed),
        Carried::Guessed => match picks.among(&[None, text(Slot::First)]) {
            None => picks.among(&NO_TOKENS).to_owned(),
            Some(issued) => picks.among(&NEARLY)(&issued),
        },
    }
}

/// A token that nobody issued, and texts that are none by their form.
const NO_TOKENS: [&str; 6] = [
    "conf_guessed",
    "conf_ab",
    "confirm_0123456789",
    "conf_01234 6789",
    "",
    "quota_continue_\u{e9}t\u{e9}",
];

/// What can be made of a token that was issued, and is not it.
const NEARLY: [fn(&str) -> String; 8] = [
    |token| format!("{token}\n"),
    |token| format!("{token}0"),
    |token| token[..token.len() - 1].to_owned(),
    |token| token.to_uppercase(),
    in_other_case,
    |token| match token.strip_prefix("conf_") {
        Some(rest) => format!("quota_continue_{rest}"),
        None => token.replace("quota_continue_", "conf_"),
    },
    // Where a signed token has its expiry, and at the end of its signature.
    |token| with_other(token, token.len() - 58),
    |token| with_other(token, token.len() - 1),
];

/// The token with its last letter in the other case.
fn in_other_case(token: &str) -> String {
    let last = token.rfind(|letter: char| letter.is_ascii_alphabetic());
    let (before, rest) = token.split_at(last.unwrap_or_default());
    let other = if rest.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        rest.to_ascii_uppercase()
    } else {
        rest.to_ascii_lowercase()
    };
    format!("{before}{other}")
}

/// The token with another character in this place.
fn with_other(token: &str, place: usize) -> String {
    let (before, rest) = token.split_at(place);
    let other = if rest.starts_with('A') { "B" } else { "A" };
    format!("{before}{other}{}", &rest[1..])
}

/// SHA-256 of a canonical form, which is written down and not computed here.
fn bound(canonical: &str) -> ParametersHash {
    let digest = serde_json::Value::String(sha_256(canonical));
    serde_json::from_value(digest).expect("64 hexadecimal digits")
}

/// The digest in hexadecimal digits.
pub(super) fn sha_256(text: &str) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// AQL-5.1-8: the levels that the model does not tell apart. A quota pauses what is harmless: what is dangerous is confirmed
/// (AQL-2.1-1).
fn danger_level(request: &Request, picks: &mut Picks) -> DangerLevel {
    picks.among(match (request.scope.purpose, request.danger) {
        (Purpose::QuotaContinue, _) | (Purpose::Confirmation, Danger::Safe) => {
            &DangerLevel::ALL[..2]
        }
        (Purpose::Confirmation, Danger::Destructive) => &DangerLevel::ALL[2..4],
        (Purpose::Confirmation, Danger::Forbidden) => &DangerLevel::ALL[4..],
    })
}

/// AQL-5.1-8: the level of a call with a token: any that needs one, or any that needs none. Where it was rated high enough at
/// issue, none that is higher (AQL-5.1-1), which the model does not rate anew.
fn level_of_call(host: &Host, call: Call, picks: &mut Picks) -> DangerLevel {
    let levels = match (call.gated, call.scope.purpose) {
        (false, _) | (true, Purpose::QuotaContinue) => &DangerLevel::ALL[..2],
        (true, Purpose::Confirmation) => &DangerLevel::ALL[2..],
    };
    let issued = match call.token {
        Carried::Token(slot) => host.issued[slot.index()].as_ref().zip(Some(slot)),
        Carried::Guessed => None,
    };
    let rated = issued.and_then(|(issued, slot)| {
        let held = host.gatekeeper.token(&issued.token);
        let signed = host.signed[slot.index()].then_some(issued.call.danger_level);
        held.map(|token| token.danger_level).or(signed)
    });
    let fitting = levels
        .iter()
        .filter(|&&level| rated.is_some_and(|rated| level <= rated));
    match fitting.count() {
        0 => picks.among(levels),
        fitting => picks.among(&levels[..fitting]),
    }
}

/// AQL-5.1-1: how long a token for this call lives, in seconds.
pub(super) fn life(call: &executor::Call) -> u64 {
    let default = match (call.purpose, call.danger_level) {
        (executor::Purpose::Confirmation, DangerLevel::Forbidden) => 120,
        (executor::Purpose::Confirmation | executor::Purpose::QuotaContinue, _) => 300,
    };
    call.ttl_seconds.unwrap_or(default)
}

/// AQL-5.1-1: the longest life of a token for this call, in seconds.
pub(super) fn longest_life(call: &executor::Call) -> u32 {
    match (call.purpose, call.danger_level) {
        (executor::Purpose::QuotaContinue, _) => 600,
        (executor::Purpose::Confirmation, DangerLevel::Forbidden) => 300,
        (executor::Purpose::Confirmation, _) => 900,
    }
}

/// That many seconds later.
pub(super) fn later(time: Timestamp, seconds: u64) -> Timestamp {
    Timestamp::from_millis(time.millis() + i64::try_from(seconds).unwrap_or(i64::MAX) * 1_000)
}

/// The position in arrays that hold one entry for each of two alike things.
pub(super) const fn place(which: Which) -> usize {
    match which {
        Which::First => 0,
        Which::Second => 1,
    }
}

fn purpose(purpose: Purpose) -> executor::Purpose {
    match purpose {
        Purpose::Confirmation => executor::Purpose::Confirmation,
        Purpose::QuotaContinue => executor::Purpose::QuotaContinue,
    }
}

fn oracle(mode: Oracle) -> executor::Oracle {
    match mode {
        Oracle::Codes => executor::Oracle::Codes,
        Oracle::Uniform => executor::Oracle::Uniform,
    }
}
