//! What the judge knows of a party: what was asked, decided, released, run and told.
//!
//! The one thing to know: the account follows the party where the party broke something, and it admits what it cannot know.
//! Of an action that is `unsure` (its state was rolled back, or the party was seen to settle it in a way of its own) only
//! what holds in every case is judged: that it does not run twice, and not unless somebody allows it.

use std::collections::{BTreeMap, BTreeSet};

use crate::pending_action::readings::ExpiryBoundary;

use super::words::{Effect, Form, Proposal, Terms, ToolCall};

/// What is known of a party.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Account {
    /// The greatest time that it must have seen, and the greatest that it can have. They differ only after a rollback.
    clock: (i64, i64),
    pub actions: BTreeMap<u32, Action>,
    pub nonces: BTreeSet<u32>,
    /// The sessions that have ended, and whether the party must know it.
    pub ended: BTreeMap<u32, bool>,
    /// Open actions by session.
    open: BTreeSet<(u32, u32)>,
    /// Open actions by the time at which they close.
    closing: BTreeSet<(i64, u32)>,
    /// Actions that were released and have not come back.
    pub running: BTreeSet<u32>,
}

/// One action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Action {
    pub terms: Terms,
    pub nonce: Option<u32>,
    pub deciders: Option<Vec<u32>>,
    pub idempotent: bool,
    pub fate: Fate,
    pub unsure: bool,
    /// Whether a performance was ever put out for it.
    pub performed: bool,
    /// The forms in which it was told of.
    told: u16,
}

/// What became of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fate {
    Open,
    Denied,
    Cancelled,
    Expired,
    /// Released; what came of it is not known yet.
    Allowed,
    /// Came back, or is known never to have begun.
    Finished,
}

impl Account {
    pub const fn new() -> Self {
        Self {
            clock: (i64::MIN, i64::MIN),
            actions: BTreeMap::new(),
            nonces: BTreeSet::new(),
            ended: BTreeMap::new(),
            open: BTreeSet::new(),
            closing: BTreeSet::new(),
            running: BTreeSet::new(),
        }
    }

    /// Time passes; a clock that steps back is not believed. The open actions whose time has surely come expire, and are
    /// returned in the order in which they do.
    pub fn pass(&mut self, now: i64, boundary: ExpiryBoundary) -> Vec<u32> {
        self.clock = (self.clock.0.max(now), self.clock.1.max(now));
        let mut expired = Vec::new();
        while let Some(&(closes, action)) = self.closing.first() {
            if !has_come(closes, self.clock.0, boundary) {
                break;
            }
            self.settle(action, Fate::Expired);
            expired.push(action);
        }
        expired
    }

    /// Whether no call before came at a later time than this.
    pub const fn has_seen_no_later_than(&self, now: i64) -> bool {
        self.clock.1 <= now
    }

    /// Forgets which times were seen.
    pub const fn forgets_the_time(&mut self) {
        self.clock = (i64::MIN, i64::MIN);
    }

    /// Takes the times that were seen for the full ticks of so many milliseconds before them.
    pub fn goes_by_full(&mut self, tick: i64) {
        let full = |time: i64| time.saturating_sub(time.rem_euclid(tick));
        self.clock = (full(self.clock.0), full(self.clock.1));
    }

    /// Whether an open action closes by itself.
    pub fn waits_for_time(&self) -> bool {
        !self.closing.is_empty()
    }

    /// Whether the party may take this time to have come.
    pub const fn may_have_come(&self, closes: i64, boundary: ExpiryBoundary) -> bool {
        has_come(closes, self.clock.1, boundary)
    }

    /// Whether a question that closes then leaves no time to answer it, whatever the reading.
    pub const fn leaves_no_time(&self, closes: i64) -> bool {
        closes <= self.clock.1
    }

    /// Whether the time has come in every reading: it is over.
    pub const fn is_over(&self, closes: i64) -> bool {
        closes < self.clock.0
    }

    /// A proposal becomes an action that is open.
    pub fn open(
        &mut self,
        action: u32,
        nonce: Option<u32>,
        terms: Terms,
        proposal: &Proposal,
        boundary: ExpiryBoundary,
    ) {
        self.nonces.extend(nonce);
        // After a rollback two clocks are possible, and it may have expired by one of them alone.
        let by = |clock| {
            terms
                .expires_at
                .is_some_and(|closes| has_come(closes, clock, boundary))
        };
        let unsure = by(self.clock.0) != by(self.clock.1);
        self.open.insert((terms.session, action));
        self.closing
            .extend(terms.expires_at.map(|closes| (closes, action)));
        let entry = Action {
            terms,
            nonce,
            deciders: proposal.deciders.clone(),
            idempotent: proposal.idempotent,
            fate: Fate::Open,
            unsure,
            performed: false,
            told: bit(Form::Created),
        };
        self.actions.insert(action, entry);
    }

    /// The actions of a session that are open, in the order of their names.
    pub fn open_in(&self, session: u32) -> Vec<u32> {
        let range = self.open.range((session, 0)..=(session, u32::MAX));
        range.map(|&(_, action)| action).collect()
    }

    /// An action meets its fate.
    pub fn settle(&mut self, action: u32, fate: Fate) {
        let Some(entry) = self.actions.get_mut(&action) else {
            return;
        };
        entry.fate = fate;
        self.open.remove(&(entry.terms.session, action));
        if let Some(closes) = entry.terms.expires_at {
            self.closing.remove(&(closes, action));
        }
        if fate == Fate::Allowed {
            self.running.insert(action);
        } else {
            self.running.remove(&action);
        }
    }

    /// What became of an action can no longer be told from outside.
    pub fn is_lost_sight_of(&mut self, action: u32) {
        self.settle(action, Fate::Finished);
        if let Some(entry) = self.actions.get_mut(&action) {
            entry.unsure = true;
        }
    }

    /// An action is performed.
    pub fn performs(&mut self, action: u32, call: ToolCall) {
        self.settle(action, Fate::Allowed);
        if let Some(entry) = self.actions.get_mut(&action) {
            entry.performed = true;
            entry.terms.call = call;
        }
    }

    /// Of these actions the runs that were released since have not begun.
    pub fn never_began(&mut self, actions: &[u32], older: &Self) {
        for name in actions {
            if let Some(action) = self.actions.get_mut(name) {
                action.performed = older.has_performed(*name);
            }
        }
    }

    /// Whether a tool has begun to run since.
    pub fn has_begun_since(&self, older: &Self) -> bool {
        let mut actions = self.actions.iter();
        actions.any(|(&name, action)| action.performed && !older.has_performed(name))
    }

    /// Whether it is known that an action is over: it is neither open nor does it run.
    pub fn is_settled(&self, name: u32) -> bool {
        self.actions
            .get(&name)
            .is_some_and(|action| match action.fate {
                Fate::Denied | Fate::Cancelled | Fate::Expired | Fate::Finished => !action.unsure,
                Fate::Open | Fate::Allowed => false,
            })
    }

    /// An action that is settled is taken for one that ran, that may not run again and of which everything was told.
    pub fn takes_for_alike(&mut self, name: u32) {
        if let Some(action) = self.actions.get_mut(&name) {
            action.terms.expires_at = None;
            action.terms.effect = Effect::Read;
            action.deciders = None;
            action.idempotent = false;
            action.fate = Fate::Finished;
            action.performed = true;
            action.told = u16::MAX;
        }
    }

    fn has_performed(&self, name: u32) -> bool {
        let action = self.actions.get(&name);
        action.is_some_and(|action| action.performed)
    }

    /// Everything is as it was then; but later times may have been seen.
    pub fn is_again(&mut self, older: &Self) {
        let latest = self.clock.1;
        self.clone_from(older);
        self.clock.1 = latest;
    }

    /// The host handed back an older state. What has changed since may be as it was then, or as it was known later.
    pub fn rolls_back(&mut self, now: i64, older: &Self) {
        self.clock.0 = older.clock.0.max(now);
        let changed: Vec<u32> = self
            .actions
            .iter()
            .filter(|(name, action)| {
                let before = older.actions.get(name);
                before.is_none_or(|before| before.fate != action.fate || before.unsure)
            })
            .map(|(&name, _)| name)
            .collect();
        for action in changed {
            self.is_lost_sight_of(action);
        }
        for (session, is_sure) in &mut self.ended {
            *is_sure &= older.ended.get(session) == Some(&true);
        }
    }
}

impl Action {
    pub const fn was_told(&self, form: Form) -> bool {
        self.told & bit(form) != 0
    }

    pub const fn is_told(&mut self, form: Form) {
        self.told |= bit(form);
    }

    /// Whether it was released, and neither came back nor is known never to have begun.
    pub fn runs(&self) -> bool {
        self.fate == Fate::Allowed && !self.unsure
    }
}

const fn has_come(closes: i64, clock: i64, boundary: ExpiryBoundary) -> bool {
    match boundary {
        ExpiryBoundary::At => closes <= clock,
        ExpiryBoundary::After => closes < clock,
    }
}

const fn bit(form: Form) -> u16 {
    1 << form as u16
}
