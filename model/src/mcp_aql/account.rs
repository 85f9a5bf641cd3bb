//! What an outsider knows of a gatekeeper.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::fact::Fact;
use crate::mcp_aql::alphabet::{LogId, Name, Oracle, Request, Time, TokenId};

/// Everything that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// What may count as the current time.
    pub times: Times,
    /// Every token that was issued.
    pub tokens: SmallVec<[Token; 2]>,
    /// Every adapter that was configured or tried, by ascending number.
    pub adapters: SmallVec<[Adapter; 2]>,
    /// The sessions that have ended, by ascending number.
    pub ended: SmallVec<[Name; 2]>,
    /// Those that had ended before a restart, which may have forgotten it.
    pub ended_before: SmallVec<[Name; 1]>,
    /// Whether the last restart has lost the tokens that were there.
    pub lost: Fact,
    /// Whether the tolerance at the issue of a token counts, or the current one.
    pub tolerance_of_issue: Fact,
    /// Whether the time of the call counts where the clock was set back, or the greatest before it.
    pub clock_of_call: Fact,
    /// The limits that the gatekeeper declares.
    pub declared: Option<Arc<Declared>>,
    /// The token of which a use was counted in the last call.
    pub last_run: Option<TokenId>,
}

/// The times that may count as the current one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Times {
    /// That of the call.
    pub now: Time,
    /// The greatest so far.
    pub greatest: Time,
    /// The greatest since the last restart.
    pub since_restart: Time,
}

/// A token, and what has become of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is known by itself")]
pub struct Token {
    /// Its number.
    pub id: TokenId,
    /// The call that it was issued for.
    pub call: Arc<Request>,
    /// The list of what counts in its operation, as it was at its issue.
    pub list: Option<List>,
    /// The tolerance at its issue.
    pub tolerance: Time,
    /// Nothing where it was issued without an expiry.
    pub expires_at: Option<Time>,
    /// How many uses it has.
    pub uses: i64,
    /// How many of them are gone for certain.
    pub used: i64,
    /// How many may be gone besides: it came with calls that need no token.
    pub spare: i64,
    /// Whether it is bound to the session of its call.
    pub is_bound: Fact,
    /// Whether it was revoked.
    pub revoked: Fact,
    /// It was told as revoked: it was given back when it was over, or revoked.
    pub is_told_revoked: bool,
    /// The connection of its call has ended.
    pub is_cut: bool,
    /// It was called expired.
    pub was_expired: bool,
    /// It was lost or purged, with all that was known of it.
    pub is_gone: bool,
    /// It was not purged when it should have been.
    pub is_kept: bool,
    /// It was there before the last restart.
    pub is_old: bool,
    /// Its id in the log, once that was seen.
    pub logged: Option<LogId>,
    /// It was given away; else it is asked for in this call.
    pub is_issued: bool,
}

/// The parameters of an operation that count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct List {
    /// Their names, by ascending number.
    pub names: Arc<[Name]>,
    /// A later configuration leaves the operation out.
    pub is_left_out: bool,
}

/// What is known of an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Adapter {
    /// Which.
    pub name: Name,
    /// The tolerance that was set.
    pub tolerance: Option<Time>,
    /// How much a failed check tells, as it was set.
    pub oracle: Option<Oracle>,
    /// The lists of what counts, by operation.
    pub critical: SmallVec<[(Name, List); 1]>,
    /// The forms in which each kind of failure was answered: the checks of a call, a revocation, a status.
    pub shapes: [SmallVec<[Name; 1]>; 3],
    /// The tries of each kind ([`Try`]).
    pub tries: [Tries; 3],
}

/// What can be tried too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Try {
    /// A token is asked for.
    Issue,
    /// A token is shown that is not valid.
    Validation,
    /// A token is given back.
    Revocation,
}

/// What was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tries {
    /// Something was, by anybody, since anybody remembers.
    pub is_any: bool,
    /// Where a limit is declared: by everybody together.
    pub all: Bucket,
    /// By each session alone since the last restart; nothing for the calls of none.
    pub each: SmallVec<[(Option<Name>, Bucket); 1]>,
}

/// Tries that are not yet given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// How many.
    pub level: u32,
    /// Since when the first of them is waited for.
    pub since: Time,
}

/// Limits that a gatekeeper declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Declared {
    /// Of each kind ([`Try`]).
    pub limits: [Option<Limit>; 3],
    /// So many active tokens of one adapter find room.
    pub capacity: Option<usize>,
}

/// So many tries at once, and one more each time that this is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// How many at once.
    pub burst: u32,
    /// How soon one is given back; never, where it is absent.
    pub every: Option<Time>,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            times: Times::default(),
            tokens: SmallVec::new(),
            adapters: SmallVec::new(),
            ended: SmallVec::new(),
            ended_before: SmallVec::new(),
            lost: Fact::No,
            tolerance_of_issue: Fact::Perhaps,
            clock_of_call: Fact::Perhaps,
            declared: None,
            last_run: None,
        }
    }
}

impl Times {
    /// A call comes at that time.
    pub fn go_on(&mut self, now: Time) {
        self.now = now;
        self.greatest = self.greatest.max(now);
        self.since_restart = self.since_restart.max(now);
    }

    /// Each time that may count.
    pub fn each(self) -> [Time; 3] {
        [self.greatest, self.since_restart, self.now]
    }

    /// Whether a written time is one of them, or its whole second.
    pub fn contains(self, time: Time) -> bool {
        self.each().iter().any(|it| is_written(*it, time))
    }
}

/// Whether a time may be written so: to the millisecond or to the whole second.
pub fn is_written(time: Time, written: Time) -> bool {
    written == time || written == time.saturating_sub(time.rem_euclid(1000))
}

impl Bucket {
    /// What is given back by that time.
    #[must_use]
    pub fn at(mut self, now: Time, limit: Limit) -> Self {
        if let Some(every) = limit.every.filter(|it| *it > 0) {
            let given_back = now.saturating_sub(self.since).max(0) / every;
            self.level = self
                .level
                .saturating_sub(u32::try_from(given_back).unwrap_or(u32::MAX));
            self.since = if self.level == 0 {
                0
            } else {
                self.since.saturating_add(given_back.saturating_mul(every))
            };
        }
        self
    }

    /// One more.
    #[must_use]
    pub fn and_one(mut self, now: Time) -> Self {
        if self.level == 0 {
            self.since = now;
        }
        self.level = self.level.saturating_add(1);
        self
    }
}

impl Token {
    /// Whether every use of it is gone.
    pub fn is_used_up(&self) -> Fact {
        match self.uses {
            uses if self.used >= uses => Fact::Yes,
            uses if self.used + self.spare >= uses => Fact::Perhaps,
            _ => Fact::No,
        }
    }

    /// One more use may be gone; more than it has cannot be.
    pub fn may_be_used(&mut self) {
        self.spare = (self.spare + 1).min((self.uses - self.used).max(0));
    }
}

impl Account {
    /// A gatekeeper that declares these limits.
    pub fn declaring(declared: Declared) -> Self {
        Self {
            declared: Some(Arc::new(declared)),
            ..Self::default()
        }
    }

    /// The token of that number.
    pub fn token(&self, id: TokenId) -> Option<&Token> {
        self.tokens.iter().find(|it| it.id == id)
    }

    /// The token of that number.
    pub fn token_mut(&mut self, id: TokenId) -> Option<&mut Token> {
        self.tokens.iter_mut().find(|it| it.id == id)
    }

    /// The token that has that id in the log.
    pub fn logged(&self, id: LogId) -> Option<TokenId> {
        self.tokens
            .iter()
            .find(|it| it.logged == Some(id))
            .map(|it| it.id)
    }

    /// The number of the token that is issued next.
    pub fn next_token(&self) -> TokenId {
        self.tokens
            .iter()
            .map(|it| it.id.saturating_add(1))
            .max()
            .unwrap_or_default()
    }

    /// The adapter of that name, if something is known of it.
    pub fn adapter(&self, name: Name) -> Option<&Adapter> {
        self.adapters.iter().find(|it| it.name == name)
    }

    /// The adapter of that name.
    pub fn adapter_mut(&mut self, name: Name) -> &mut Adapter {
        let place = self.adapters.partition_point(|it| it.name < name);
        if self.adapters.get(place).is_none_or(|it| it.name != name) {
            let adapter = Adapter {
                name,
                ..Adapter::default()
            };
            self.adapters.insert(place, adapter);
        }
        &mut self.adapters[place]
    }

    /// The list of what counts in an operation of an adapter.
    pub fn list(&self, adapter: Name, operation: Name) -> Option<&List> {
        let lists = &self.adapter(adapter)?.critical;
        lists
            .iter()
            .find(|(of, _)| *of == operation)
            .map(|(_, list)| list)
    }

    /// Whether the session has ended, and is known to have.
    pub fn has_ended(&self, session: Name) -> Fact {
        match session {
            it if self.ended.contains(&it) => Fact::Yes,
            it if self.ended_before.contains(&it) => Fact::Perhaps,
            _ => Fact::No,
        }
    }

    /// A session ends, or with the process all do.
    pub fn cut(&mut self, session: Option<Name>) {
        for token in &mut self.tokens {
            let own = token.call.session.map(|it| it.name);
            token.is_cut |= own.is_some() && (session.is_none() || own == session);
        }
    }
}
