//! What the judge remembers: of each token what was seen to become of it, of each adapter what was set, of each session its
//! connections, and the time.
//!
//! The one thing to know: what the text leaves to the party is remembered as [`Chance::Perhaps`], until the party shows it.

use std::collections::{BTreeMap, BTreeSet};

use super::limits::Tries;
use super::words::{Level, Oracle, Parameters, Purpose, Query, Request, Weight};

/// Whether something is so, as far as can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chance {
    /// It is not.
    No,
    /// The text leaves it to the party, and the party has not shown it.
    Perhaps,
    /// It is.
    Certain,
}

impl Chance {
    /// Certain or not at all.
    pub fn of(it_is_so: bool) -> Self {
        if it_is_so { Self::Certain } else { Self::No }
    }
}

/// Everything that is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// The time of the call that is judged.
    pub now: i64,
    /// The latest time of any call.
    pub latest: i64,
    /// The latest since the process came back, which is all that one without a store knows.
    pub latest_since: i64,
    /// Every token that was ever issued.
    pub tokens: BTreeMap<u32, Token>,
    /// Which token the log means.
    pub log_names: BTreeMap<u32, u32>,
    /// What was set.
    pub adapters: BTreeMap<u32, Adapter>,
    /// The sessions that were named in an issue, with what was issued in their present connection.
    pub sessions: BTreeMap<u32, Session>,
    /// How often the process has come back.
    pub restarts: u32,
    /// How often that has ended all connections.
    disconnections: u32,
    /// How often something was tried that may be limited.
    pub attempts: u64,
    /// What was tried of what a party declares to limit.
    pub tries: Tries,
    /// Whether there is no tolerance where none was set.
    pub has_no_tolerance: bool,
}

/// What was seen to become of a token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The adapter that issued it.
    pub adapter: u32,
    /// What it was issued for.
    pub operation: u32,
    /// With these parameters.
    pub parameters: Parameters,
    /// What counted among them at that time.
    pub binding: Binding,
    /// What its prefix says.
    pub purpose: Purpose,
    /// The rating at issue.
    pub level: Level,
    /// The last millisecond at which it is to be taken: its expiry, and the tolerance at issue.
    pub last: i64,
    /// `expires_at`
    pub expires_at: i64,
    /// Whether the party has said that its time is over, when it was.
    pub said_over: bool,
    /// How often it may be used.
    pub max_uses: i64,
    /// How often it was used at least, and at most.
    pub used: (i64, i64),
    /// The session that the issuing call named, and which of its connections that was.
    pub session: Option<(u32, Connection)>,
    /// Whether it is bound to that session.
    pub bound: Chance,
    /// Whether it was revoked.
    pub revoked: Chance,
    /// Whether the store has lost it, or forgotten it.
    pub gone: bool,
    /// The restart after which it was last seen to be in the store.
    pub seen_after: u32,
    /// What the log calls it.
    pub log_name: Option<u32>,
}

/// Which connection of a session: how often it had ended, and how often all of them had.
pub type Connection = (u32, u32);

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Session {
    /// How often its connection has ended.
    pub ends: u32,
    /// Whether its name stands for that connection for good, by the reading ended-session.
    pub stays_ended: bool,
    /// What was issued in it since.
    pub tokens: Vec<u32>,
}

/// What was set for an adapter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Adapter {
    /// The tolerance.
    pub tolerance_ms: i64,
    /// How much a failed check tells.
    pub oracle: Oracle,
    /// What counts, by operation.
    pub critical: BTreeMap<u32, Binding>,
    /// The answer that all failures of a kind get, where they must be alike (AQL-6.3-2).
    pub alike: BTreeMap<(Asked, Alike), u32>,
}

/// What was asked when a failure was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Asked {
    /// A call.
    Operation,
    /// A revocation.
    Revoke,
    /// A status.
    Status,
}

impl From<Query> for Asked {
    fn from(query: Query) -> Self {
        match query {
            Query::Revoke => Self::Revoke,
            Query::Status => Self::Status,
        }
    }
}

/// Which failures must be alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alike {
    /// All: the adapter is uniform.
    All,
    /// Those with `TOKEN_INVALID`.
    Invalid,
}

impl Default for Adapter {
    /// AQL-5.1-5: 30 seconds unless set. AQL-4.1-1 is a MUST and AQL-6.3-2 a SHOULD NOT: codes unless set.
    fn default() -> Self {
        Self {
            tolerance_ms: 30_000,
            oracle: Oracle::Codes,
            critical: BTreeMap::new(),
            alike: BTreeMap::new(),
        }
    }
}

/// Which parameters of an operation count (AQL-3.2-4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Binding {
    /// Nobody has said: those that the text says.
    #[default]
    Text,
    /// These.
    Listed(BTreeSet<u32>),
    /// A later setting left the operation out: these still, or those that the text says.
    Either(BTreeSet<u32>),
}

impl Binding {
    /// Whether a parameter counts in a call with these.
    fn counts(&self, name: u32, weight: Weight, call: &Parameters) -> Chance {
        let by_text = match weight {
            Weight::Impact => Chance::Certain,
            Weight::Unsaid => Chance::Perhaps,
        };
        // AQL-3.2-1: a token that is bound to nothing is none, so a list that names nothing of a call is as good as none.
        let by_list = |names: &BTreeSet<u32>| {
            if names.contains(&name) {
                Chance::Certain
            } else if is_named(names, call) {
                Chance::No
            } else {
                by_text
            }
        };
        match self {
            Self::Text => by_text,
            Self::Listed(names) => by_list(names),
            Self::Either(names) if by_list(names) == by_text => by_text,
            Self::Either(_) => Chance::Perhaps,
        }
    }

    /// Whether there is a list, and it names nothing of a call.
    pub fn names_nothing_of(&self, call: &Parameters) -> bool {
        match self {
            Self::Text => false,
            Self::Listed(names) | Self::Either(names) => !is_named(names, call),
        }
    }
}

/// Whether any of these is in a call.
fn is_named(names: &BTreeSet<u32>, call: &Parameters) -> bool {
    names.iter().any(|name| call.each.contains_key(name))
}

impl Token {
    /// The token that was used up on this call, of those that the store keeps as long as this one.
    fn spent(&self, on: &Request) -> Self {
        Self {
            adapter: on.adapter,
            operation: on.operation,
            parameters: on.parameters.clone().unwrap_or_default(),
            binding: Binding::Text,
            purpose: on.purpose,
            level: on.level,
            last: self.last,
            expires_at: self.last,
            said_over: false,
            max_uses: 1,
            used: (1, 1),
            session: None,
            bound: Chance::No,
            revoked: Chance::No,
            gone: self.gone,
            seen_after: self.seen_after,
            log_name: self.log_name,
        }
    }

    /// AQL-3.2-1: whether there was a list at issue that names nothing of the call.
    pub fn is_bound_in_full(&self) -> bool {
        self.binding.names_nothing_of(&self.parameters)
    }

    /// Whether parameters that count differ from those at issue, by what counted then and by what counts now.
    pub fn parameters_differ(&self, now: &Parameters, binding: &Binding) -> Chance {
        let mut differ = Chance::No;
        if *binding != self.binding {
            differ = Chance::Perhaps;
        }
        let then = &self.parameters;
        for (name, parameter) in then.each.iter().chain(&now.each) {
            if then.each.get(name).map(|it| it.value) == now.each.get(name).map(|it| it.value) {
                continue;
            }
            let counted = self.binding.counts(*name, parameter.weight, then);
            let counts = binding.counts(*name, parameter.weight, now);
            let both = if counted == counts {
                counts
            } else {
                Chance::Perhaps
            };
            differ = differ.max(both);
        }
        differ
    }
}

impl Default for Account {
    /// Nothing has happened.
    fn default() -> Self {
        Self {
            now: i64::MIN,
            latest: i64::MIN,
            latest_since: i64::MIN,
            tokens: BTreeMap::new(),
            log_names: BTreeMap::new(),
            adapters: BTreeMap::new(),
            sessions: BTreeMap::new(),
            restarts: 0,
            disconnections: 0,
            attempts: 0,
            tries: Tries::default(),
            has_no_tolerance: false,
        }
    }
}

impl Account {
    /// The times that may be meant by now: that of the call, and the latest so far where the clock stepped back.
    pub fn times(&self) -> [i64; 3] {
        [self.now, self.latest, self.latest_since]
    }

    /// Forgets the time of the last call, as the next tells its own, and how much was tried, as a model limits nothing
    /// (AQL-6.5-1).
    pub fn forget(&mut self) {
        self.now = i64::MIN;
        self.attempts = 0;
    }

    /// Forgets which times were told where none was later than this, and no later call comes at an earlier one.
    pub fn forget_the_time(&mut self, now: i64) {
        if self.latest <= now {
            (self.latest, self.latest_since) = (i64::MIN, i64::MIN);
        }
    }

    /// Takes tokens for alike that can never be taken again, as though they had all been issued for this call, and forgets the
    /// sessions that only they were issued in. Until its time is over, one that was revoked or used is refused with another
    /// code.
    pub fn take_what_is_over_for_alike(&mut self, on: &Request) {
        for token in self.tokens.values_mut() {
            let (least, _) = token.used;
            if token.said_over || self.latest_since > token.last {
                *token = Token {
                    last: i64::MIN,
                    said_over: true,
                    ..token.spent(on)
                };
            } else if token.revoked == Chance::Certain {
                *token = Token {
                    used: (0, 0),
                    revoked: Chance::Certain,
                    ..token.spent(on)
                };
            } else if least >= token.max_uses {
                *token = token.spent(on);
            }
            // A model tells no time with a status, and of restarts it matters whether one came since.
            token.expires_at = token.last;
            token.seen_after = u32::from(token.seen_after == self.restarts);
        }
        self.restarts = 1;
        let tokens = &self.tokens;
        self.sessions.retain(|&name, session| {
            let is_of = |token: &Token| token.session.is_some_and(|(own, _)| own == name);
            session
                .tokens
                .retain(|it| tokens.get(it).is_some_and(is_of));
            session.stays_ended || tokens.values().any(is_of)
        });
    }

    /// What was set for an adapter.
    pub fn adapter(&mut self, adapter: u32) -> &mut Adapter {
        let tolerance_ms = if self.has_no_tolerance { 0 } else { 30_000 };
        let unset = || Adapter {
            tolerance_ms,
            ..Adapter::default()
        };
        self.adapters.entry(adapter).or_insert_with(unset)
    }

    /// What counts in a call.
    pub fn binding(&self, adapter: u32, operation: u32) -> Binding {
        let adapter = self.adapters.get(&adapter);
        let listed = adapter.and_then(|it| it.critical.get(&operation));
        listed.cloned().unwrap_or_default()
    }

    /// The present connection of a session.
    pub fn connection(&self, session: u32) -> Connection {
        let ends = self.sessions.get(&session).map_or(0, |it| it.ends);
        (ends, self.disconnections)
    }

    /// Every connection ends.
    pub fn end_connections(&mut self) {
        self.disconnections += 1;
        for session in self.sessions.values_mut() {
            session.tokens.clear();
        }
    }

    /// Whether the connection that a token was issued in has ended.
    pub fn connection_ended(&self, token: &Token) -> bool {
        let present = |(session, connection)| self.connection(session) != connection;
        token.session.is_some_and(present)
    }

    /// Whether another session calls than the one that a token is bound to.
    pub fn is_other_session(token: &Token, request: &Request) -> bool {
        token.session.map(|(session, _)| session) != request.session
    }

    /// A token is in the store, with what is seen of it.
    pub fn add(&mut self, name: u32, token: Token) {
        if let Some((session, _)) = token.session {
            self.sessions.entry(session).or_default().tokens.push(name);
        }
        self.tokens.insert(name, token);
    }

    /// Whether fewer tokens of an adapter are active than it should be able to keep, `capacity` (AQL-5.5-3): one that was revoked is not
    /// (AQL-5.3-1), nor one that has had its uses or whose time is over.
    pub fn has_room(&self, adapter: u32, capacity: usize) -> bool {
        let active = |token: &&Token| {
            token.adapter == adapter
                && token.last >= self.now
                && token.used.0 < token.max_uses
                && token.revoked < Chance::Certain
        };
        self.tokens.values().filter(active).count() < capacity
    }
}
