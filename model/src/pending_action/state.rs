//! One state of the model: the ledger, what is durable of it, and the world around it.
//!
//! The one thing to know: `known` is what the ledger holds in its memory, `journal` what it has recorded. How much of that is
//! durable follows from the outbox, in which every record waits that is not.

use std::hash::{Hash, Hasher};

use crate::packed::packed;
use crate::time;

use super::bounds::Budgets;
use super::journal::Journal;
use super::known::{Known, Standing, Status};
use super::message::Network;
use super::outbox::Outbox;
use super::words::{Effect, Note, Proposal, SLOTS, SessionName, Slot};

/// The `expires_at` of an action that never expires.
pub const NEVER: u8 = 15;

/// A proposed call, and what the world knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Whether its slot is filled. What was proposed and lost in a crash fills it for ever.
    pub proposed: bool,
    /// The session that it belongs to.
    pub session: SessionName,
    /// `expires_at`, in ticks since the start; [`NEVER`] if absent.
    pub expires: u8,
    /// Whether `deciders` is absent.
    pub by_anyone: bool,
    /// `idempotent`
    pub idempotent: bool,
    /// What the tool does to the world.
    pub effect: Effect,
    /// How often the tool has run, up to 3.
    pub runs: u8,
    /// Which messages the transcript holds, by [`Note::bit`].
    pub told: u8,
    /// How many honest decisions were sent.
    pub sent: u8,
}

impl Held {
    /// A slot that is not filled.
    pub const UNPROPOSED: Self = Self {
        proposed: false,
        session: SessionName::A,
        expires: NEVER,
        by_anyone: false,
        idempotent: false,
        effect: Effect::Destructive,
        runs: 0,
        told: 0,
        sent: 0,
    };

    /// What is proposed at this moment by the caller's clock; what has a time to live, on a full tick.
    pub(super) fn of(proposal: Proposal, clock: u8) -> Self {
        Self {
            proposed: true,
            session: proposal.session,
            expires: proposal
                .lifetime
                .map_or(NEVER, |ticks| time::passed(clock) + ticks),
            by_anyone: proposal.by_anyone,
            idempotent: proposal.idempotent,
            effect: proposal.effect,
            ..Self::UNPROPOSED
        }
    }

    /// Whether the transcript holds the message.
    pub const fn is_told(&self, note: Note) -> bool {
        self.told & note.bit() != 0
    }

    /// Whether the deciders were told of it, and not yet of how it was resolved.
    pub const fn is_asked(&self) -> bool {
        self.is_told(Note::Request) && self.told & (Note::FINAL | Note::Call.bit()) == 0
    }

    /// The moment of its expiry, if it has one.
    pub fn expiry(&self) -> Option<u8> {
        (self.expires != NEVER).then_some(time::on(self.expires))
    }

    /// PA-7: whether it has expired at this moment.
    pub fn is_past(&self, now: u8) -> bool {
        self.expiry().is_some_and(|expiry| now >= expiry)
    }

    /// Everything in 19 bits.
    fn word(&self) -> u64 {
        packed([
            (u64::from(self.proposed), 1),
            (self.session as u64, 1),
            (u64::from(self.expires), 4),
            (u64::from(self.by_anyone), 1),
            (u64::from(self.idempotent), 1),
            (self.effect as u64, 1),
            (u64::from(self.runs), 2),
            (u64::from(self.told), 6),
            (u64::from(self.sent), 2),
        ])
    }
}

/// One state of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The caller's clock, in moments since the start ([`crate::time`]).
    pub clock: u8,
    /// The latest moment that the ledger has seen.
    pub latest: u8,
    /// What the ledger holds in its memory.
    pub known: Known,
    /// The proposed calls, by [`Slot::index`].
    pub actions: [Held; SLOTS],
    /// What the ledger has recorded, durable or not.
    pub journal: Journal,
    /// The watermark: of so many records the host knows that it has carried out all that is behind them.
    pub carried: u8,
    /// What the host has not carried out yet.
    pub outbox: Outbox,
    /// Of which calls the host remembers that a run was withdrawn before it began, by [`Slot::index`]. A crash makes it forget.
    pub withdrawn: [bool; SLOTS],
    /// The decisions under way.
    pub network: Network,
    /// The decisions that were validated and have no effect yet. Only where a rule is left out are there any.
    pub validated: Network,
    /// How many records the snapshot holds, once there is one.
    pub snapshot: Option<u8>,
    /// How often each disturbance can still happen.
    pub budgets: Budgets,
}

impl State {
    /// Nothing proposed, nothing recorded, nothing under way.
    pub fn start(budgets: Budgets) -> Self {
        Self {
            clock: 0,
            latest: 0,
            known: Known::EMPTY,
            actions: [Held::UNPROPOSED; SLOTS],
            journal: Journal::default(),
            carried: 0,
            outbox: Outbox::default(),
            withdrawn: [false; SLOTS],
            network: Network::default(),
            validated: Network::default(),
            snapshot: None,
            budgets,
        }
    }

    /// The proposed call in a slot.
    pub const fn held(&self, slot: Slot) -> &Held {
        &self.actions[slot.index()]
    }

    /// Where the action in a slot stands with the ledger.
    pub const fn status(&self, slot: Slot) -> Status {
        self.known.standing(slot).status
    }

    /// The slot that the next proposal fills.
    pub fn free_slot(&self) -> Option<Slot> {
        Slot::ALL
            .into_iter()
            .find(|&slot| !self.held(slot).proposed)
    }

    /// The slots of the actions that the ledger knows and for which the condition holds, in order of creation.
    pub fn slots_where(&self, holds: impl Fn(&Held, Standing) -> bool) -> [Option<Slot>; SLOTS] {
        Slot::ALL.map(|slot| {
            let standing = self.known.standing(slot);
            let known = standing.status != Status::Unknown;
            (known && holds(self.held(slot), standing)).then_some(slot)
        })
    }

    /// The sessions of the slots.
    pub fn sessions(&self) -> [SessionName; SLOTS] {
        self.actions.map(|held| held.session)
    }

    /// How many records are durable.
    pub fn durable(&self) -> usize {
        self.journal.len().saturating_sub(self.outbox.records())
    }

    /// The ledger, apart from the world around it.
    pub fn ledger(&self) -> Ledger {
        Ledger {
            latest: self.latest,
            ended: self.known.ended,
            actions: Slot::ALL.map(|slot| {
                let held = self.held(slot);
                let standing = self.known.standing(slot);
                (standing.status != Status::Unknown).then_some(LedgerAction {
                    session: held.session,
                    expires: held.expires,
                    by_anyone: held.by_anyone,
                    idempotent: held.idempotent,
                    effect: held.effect,
                    standing,
                })
            }),
        }
    }

    /// This state with another ledger in it: the journal, what is to be carried out and the world stay as they are.
    ///
    /// An executor agrees with a model state `s` when the quotient of `s.with_ledger(executor's)` is the quotient of `s`.
    #[must_use]
    pub fn with_ledger(&self, ledger: &Ledger) -> Self {
        let mut state = *self;
        state.latest = ledger.latest;
        state.known.ended = ledger.ended;
        for slot in Slot::ALL {
            let found = ledger.actions[slot.index()];
            state.known.standings[slot.index()] =
                found.map_or(Standing::UNKNOWN, |found| found.standing);
            if let Some(found) = found {
                let held = &mut state.actions[slot.index()];
                held.session = found.session;
                held.expires = found.expires;
                held.by_anyone = found.by_anyone;
                held.idempotent = found.idempotent;
                held.effect = found.effect;
            }
        }
        state
    }

    /// Everything in nine words, for hashing: equal words mean equal states.
    pub fn words(&self) -> [u64; 9] {
        let rest = packed([
            (u64::from(self.clock), 5),
            (u64::from(self.latest), 5),
            (u64::from(self.carried), 4),
            (u64::from(self.withdrawn[0]), 1),
            (u64::from(self.withdrawn[1]), 1),
            (u64::from(self.withdrawn[2]), 1),
            (self.snapshot.map_or(0, |count| 1 + u64::from(count)), 4),
            (u64::from(self.budgets.word()), 18),
        ]);
        let [first, second, third] = self.actions.map(|held| held.word());
        let [journal, more_journal] = self.journal.words();
        let [outbox, more_outbox] = self.outbox.words();
        [
            self.known.word(),
            first << 38 | second << 19 | third,
            journal,
            more_journal,
            outbox,
            more_outbox,
            self.network.word(),
            self.validated.word(),
            rest,
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

/// The ledger's part of a state: what an abstraction function makes of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// The latest moment that it has seen.
    pub latest: u8,
    /// Which sessions have ended, by [`SessionName::index`].
    pub ended: [bool; 2],
    /// The actions that it knows, by [`Slot::index`].
    pub actions: [Option<LedgerAction>; SLOTS],
}

/// An action as the ledger knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerAction {
    /// Its session.
    pub session: SessionName,
    /// `expires_at`, in ticks; [`NEVER`] if absent.
    pub expires: u8,
    /// Whether `deciders` is absent.
    pub by_anyone: bool,
    /// `idempotent`
    pub idempotent: bool,
    /// What the tool does to the world.
    pub effect: Effect,
    /// Where it stands.
    pub standing: Standing,
}
