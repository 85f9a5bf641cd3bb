//! One state of the model: the gatekeeper and the world around it.
//!
//! The one thing to know: what the text makes of a token stands nowhere here; the judge, who is told calls and outputs alone,
//! keeps an account of his own beside each state. A token is what the gatekeeper makes of it, with what its client has sent
//! and the host has performed.

use std::hash::{Hash, Hasher};

use crate::packed::packed;
use crate::time;

use super::bounds::Budgets;
use super::message::Network;
use super::words::{List, Oracle, Parameters, SLOTS, Scope, Slot, Which};

/// How the operator has configured both adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setup {
    /// `clock_skew_tolerance_seconds`, in ticks.
    pub tolerance: u8,
    /// `oracle`
    pub oracle: Oracle,
}

/// Where a token stands with the gatekeeper. Whether it has expired is a matter of its time, not of its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Not issued yet.
    Unissued,
    /// Issued, neither used up nor revoked.
    Live,
    /// All its uses are spent.
    Consumed,
    /// Revoked, by hand or by a trigger.
    Revoked,
    /// Gone with a store that did not outlast the process: unknown.
    Lost,
}

/// The expiry of a token that never expires (against AQL-1.2-2).
pub const ETERNAL: u8 = 63;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it stands with the gatekeeper.
    pub phase: Phase,
    /// Whether the store has forgotten it, because it can never be valid again.
    pub purged: bool,
    /// What it is bound to; the session only if it is bound to one.
    pub scope: Scope,
    /// `max_uses`
    pub max_uses: u8,
    /// `use_count`, up to 3.
    pub uses: u8,
    /// The full tick of `expires_at`; [`ETERNAL`] for never.
    pub expires: u8,
    /// How many of its operations the host has still to perform, up to 3.
    pub to_run: u8,
    /// How often its client has sent an honest call with it, up to `max_uses`.
    pub sent: u8,
    /// How many operations the host has performed on it, up to 3.
    pub runs: u8,
}

impl Token {
    /// A slot that is not filled.
    pub const UNISSUED: Self = Self {
        phase: Phase::Unissued,
        purged: false,
        scope: Scope::PLAIN,
        max_uses: 1,
        uses: 0,
        expires: 0,
        to_run: 0,
        sent: 0,
        runs: 0,
    };

    /// Whether its slot is filled.
    pub const fn is_issued(&self) -> bool {
        !matches!(self.phase, Phase::Unissued)
    }

    /// AQL-5.1-7: whether expiry and tolerance have passed; at their sum they have not.
    pub const fn is_past(&self, now: u8, tolerance: u8) -> bool {
        self.expires != ETERNAL && now > time::on(self.last_tick(tolerance))
    }

    /// AQL-5.1-7: the full tick at which it is good for the last time.
    pub const fn last_tick(&self, tolerance: u8) -> u8 {
        self.expires + tolerance
    }

    /// How many uses are left.
    pub const fn uses_left(&self) -> u8 {
        self.max_uses.saturating_sub(self.uses)
    }

    /// Everything in 30 bits.
    fn word(&self) -> u64 {
        packed([
            (self.phase as u64, 3),
            (u64::from(self.purged), 1),
            (u64::from(self.scope.code()), 7),
            (u64::from(self.max_uses), 2),
            (u64::from(self.uses), 2),
            (u64::from(self.expires), 6),
            (u64::from(self.to_run), 2),
            (u64::from(self.sent), 2),
            (u64::from(self.runs), 2),
        ])
    }
}

/// What was answered that may be tried only so often, each up to its limit; 0 where there is none (AQL-6.5-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    /// How many validations have failed at each adapter, by [`Which`].
    pub failed: [u8; 2],
    /// How many tokens each adapter has given away, by [`Which`].
    pub issued: [u8; 2],
    /// How often a token was to be revoked by hand: at the first adapter, which is asked.
    pub revoked: u8,
}

impl Tries {
    /// Everything in 10 bits.
    fn word(self) -> u64 {
        let [first, second] = self.failed;
        let [one, other] = self.issued;
        packed([first, second, one, other, self.revoked].map(|tries| (u64::from(tries), 2)))
    }
}

/// One state of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// How the gatekeeper is configured; nothing before the first step.
    pub setup: Option<Setup>,
    /// Which parameters of each operation of the first adapter count, by [`Which`]. Of the second adapter both do.
    pub lists: [List; 2],
    /// The time, in moments since the start ([`crate::time`]).
    pub clock: u8,
    /// The greatest moment that a call has told the gatekeeper.
    pub latest: u8,
    /// The tokens, by [`Slot::index`].
    pub tokens: [Token; SLOTS],
    /// The calls under way.
    pub network: Network,
    /// The calls that were validated and not redeemed. Only where a rule is left out are there any.
    pub validated: Network,
    /// What was tried that is limited.
    pub tries: Tries,
    /// Which sessions have ended for good, by [`SessionName::index`]; none unless the reading has it so.
    ///
    /// [`SessionName::index`]: super::words::SessionName::index
    pub ended: [bool; 2],
    /// How often each disturbance can still happen.
    pub budgets: Budgets,
}

impl State {
    /// Nothing configured, nothing issued, nothing under way.
    pub fn start(budgets: Budgets) -> Self {
        Self {
            setup: None,
            lists: [List::Unset; 2],
            clock: 0,
            latest: 0,
            tokens: [Token::UNISSUED; SLOTS],
            network: Network::default(),
            validated: Network::default(),
            tries: Tries::default(),
            ended: [false; 2],
            budgets,
        }
    }

    /// The token in a slot.
    pub const fn token(&self, slot: Slot) -> &Token {
        &self.tokens[slot.index()]
    }

    /// The slot that the next token fills.
    pub fn free_slot(&self) -> Option<Slot> {
        Slot::ALL
            .into_iter()
            .find(|&slot| !self.token(slot).is_issued())
    }

    /// The slots of the issued tokens for which the condition holds, in order.
    pub fn slots_where(&self, holds: impl Fn(&Token) -> bool) -> [Option<Slot>; SLOTS] {
        Slot::ALL.map(|slot| {
            let token = self.token(slot);
            (token.is_issued() && holds(token)).then_some(slot)
        })
    }

    /// The configured tolerance, in ticks; 0 before anything is configured.
    pub fn tolerance(&self) -> u8 {
        self.setup.map_or(0, |setup| setup.tolerance)
    }

    /// Whether failures are answered alike.
    pub fn is_uniform(&self) -> bool {
        self.setup
            .is_some_and(|setup| setup.oracle == Oracle::Uniform)
    }

    /// Which parameters count in a call of this scope.
    pub const fn list(&self, scope: Scope) -> List {
        match scope.adapter {
            Which::First => self.lists[scope.operation as usize],
            Which::Second => List::Unset,
        }
    }

    /// AQL-3.2-1: whether there is a list for calls of this scope, and it names nothing of them.
    pub fn lists_nothing(&self, scope: Scope) -> bool {
        let nothing = |setup: Setup| self.list(scope).names_nothing(setup.oracle);
        self.setup.is_some_and(nothing)
    }

    /// AQL-3.2-4, AQL-4.1-5: whether a call differs in a parameter that counts from what a token is bound to. AQL-4.3-1: the
    /// adapter that is called recomputes what a token is bound to, so that parameters differ where others count there.
    pub fn differs(&self, named: Scope, bound: Scope) -> bool {
        let is_narrow = self.list(bound) == List::Narrow;
        let counts = named.parameters != Parameters::Third || !is_narrow;
        let elsewhere = (self.list(named) == List::Narrow) != is_narrow;
        elsewhere || named.parameters != bound.parameters && counts
    }

    /// The moment that the gatekeeper goes by in a call at a node whose clock is off by so many: it never goes back.
    pub fn now(&self, skew: i8) -> u8 {
        self.clock.saturating_add_signed(skew).max(self.latest)
    }

    /// What the gatekeeper knows, apart from what the world keeps.
    pub fn gatekeeper(&self) -> Gatekeeper {
        Gatekeeper {
            latest: self.latest,
            tries: self.tries,
            tokens: self.tokens.map(|token| {
                token.is_issued().then_some(GatekeeperToken {
                    phase: token.phase,
                    purged: token.purged,
                    scope: token.scope,
                    max_uses: token.max_uses,
                    uses: token.uses,
                    expires: token.expires,
                })
            }),
        }
    }

    /// This state with another gatekeeper in it: the world stays as it is.
    ///
    /// An executor agrees with a model state `s` when the quotient of `s.with_gatekeeper(executor's)` is the quotient of
    /// `s`. A token that the executor has purged is to be told as the model has it, with `purged` set.
    #[must_use]
    pub fn with_gatekeeper(&self, gatekeeper: &Gatekeeper) -> Self {
        let mut state = *self;
        state.latest = gatekeeper.latest;
        state.tries = gatekeeper.tries;
        for (place, found) in state.tokens.iter_mut().zip(gatekeeper.tokens) {
            let found = found.unwrap_or(GatekeeperToken::UNISSUED);
            place.phase = found.phase;
            place.purged = found.purged;
            place.scope = found.scope;
            place.max_uses = found.max_uses;
            place.uses = found.uses;
            place.expires = found.expires;
        }
        state
    }

    /// Everything in five words, for hashing: equal words mean equal states.
    pub fn words(&self) -> [u64; 5] {
        let [first, second, third] = self.tokens;
        let [of_first, of_second] = self.lists.map(|list| list as u64);
        let setup = self.setup.map_or(0, |setup| {
            1 + (u64::from(setup.tolerance) << 1 | setup.oracle as u64)
        });
        [
            first.word() << 32 | second.word(),
            self.tries.word() << 32 | third.word(),
            self.network.word(),
            self.validated.word(),
            u64::from(self.ended[0]) << 63
                | u64::from(self.ended[1]) << 62
                | of_second << 60
                | of_first << 58
                | setup << 48
                | u64::from(self.clock) << 40
                | u64::from(self.latest) << 32
                | u64::from(self.budgets.word()),
        ]
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for word in self.words() {
            hasher.write_u64(word);
        }
    }
}

/// The gatekeeper's part of a state: what an abstraction function makes of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gatekeeper {
    /// The greatest moment that it was told.
    pub latest: u8,
    /// What was tried that it limits.
    pub tries: Tries,
    /// The tokens that it issued, by [`Slot::index`].
    pub tokens: [Option<GatekeeperToken>; SLOTS],
}

/// A token as the gatekeeper knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatekeeperToken {
    /// Where it stands.
    pub phase: Phase,
    /// Whether the store has forgotten it.
    pub purged: bool,
    /// What it is bound to.
    pub scope: Scope,
    /// `max_uses`
    pub max_uses: u8,
    /// `use_count`
    pub uses: u8,
    /// The full tick of `expires_at`.
    pub expires: u8,
}

impl GatekeeperToken {
    /// A slot that is not filled.
    const UNISSUED: Self = Self {
        phase: Phase::Unissued,
        purged: false,
        scope: Scope::PLAIN,
        max_uses: 1,
        uses: 0,
        expires: 0,
    };
}
