//! The places where the text can be taken in more than one way, each as a named choice.

use crate::readings::{self, Choice};

/// Whether a call that only reads pends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadEffect {
    /// Every proposed call pends.
    Pends,
    /// It is told of and released at once.
    Runs,
}

/// When an action has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpiryBoundary {
    /// At its `expires_at`.
    At,
    /// Only after it.
    After,
}

/// When an action expires whose proposal does not say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpiryAbsent {
    /// Never: it is open until it is decided or cancelled, or its session ends. Its record says so.
    Never,
    /// After a time of the ledger's own, which its record states.
    After,
    /// The proposal is refused.
    Refused,
}

/// Who may decide where `deciders` is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecidersAbsent {
    /// Anyone whom the host has identified, but the agent that proposed.
    Anyone,
    /// Nobody.
    Nobody,
}

/// What becomes of an action that was released before a crash and of which nobody knows whether it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InDoubt {
    /// What its record says: what is declared idempotent runs again, and all else is told to be in doubt.
    AsDeclared,
    /// It runs again.
    RunsAgain,
}

/// One choice for every place that can be taken in more than one way. The default is the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// `read-effect`
    pub read_effect: ReadEffect,
    /// `expiry-boundary`
    pub expiry_boundary: ExpiryBoundary,
    /// `expiry-absent`
    pub expiry_absent: ExpiryAbsent,
    /// `deciders-absent`
    pub deciders_absent: DecidersAbsent,
    /// `in-doubt`
    pub in_doubt: InDoubt,
}

impl Reading {
    /// The reading that binds model and executor alike.
    pub const SPECIFICATION: Self = Self {
        read_effect: ReadEffect::Pends,
        expiry_boundary: ExpiryBoundary::At,
        expiry_absent: ExpiryAbsent::Never,
        deciders_absent: DecidersAbsent::Anyone,
        in_doubt: InDoubt::AsDeclared,
    };
}

impl Default for Reading {
    fn default() -> Self {
        Self::SPECIFICATION
    }
}

/// A place that can be taken in more than one way.
pub type Place = readings::Place<Reading>;

/// Every place, with its choices.
pub static PLACES: [Place; 5] = [
    Place {
        name: "read-effect",
        clauses: &["PA-13", "PA-14"],
        question: "A call is proposed that only reads: does it pend?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "pends",
                gloss: "It pends like any other.",
                set: |reading| reading.read_effect = ReadEffect::Pends,
            },
            Choice {
                value: "runs",
                gloss: "It runs at once: the contract is for destructive, write and external effects above all.",
                set: |reading| reading.read_effect = ReadEffect::Runs,
            },
        ],
        why: "Which calls are proposed is the policy of the loop; whoever proposes one wants it asked about. PA-13 asks above all about calls with an effect, so no guarantee is stated of one that only reads: each is kept either way.",
    },
    Place {
        name: "expiry-boundary",
        clauses: &["PA-7"],
        question: "Has an action expired at the very instant of its expires_at?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "at",
                gloss: "It has expired at that instant.",
                set: |reading| reading.expiry_boundary = ExpiryBoundary::At,
            },
            Choice {
                value: "after",
                gloss: "It expires after that instant, which is the last at which it may be decided; the text has no more than the word expiry.",
                set: |reading| reading.expiry_boundary = ExpiryBoundary::After,
            },
        ],
        why: "It expires at that time, not after it.",
    },
    Place {
        name: "expiry-absent",
        clauses: &["PA-1", "PA-7"],
        question: "A call is proposed without expires_at: when does it expire?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "never",
                gloss: "It stays open until it is decided or cancelled.",
                set: |reading| reading.expiry_absent = ExpiryAbsent::Never,
            },
            Choice {
                value: "after",
                gloss: "It expires after a time that the host has set for all: the shape has an expiry in every record, and the criterion on expired actions counts on one.",
                set: |reading| reading.expiry_absent = ExpiryAbsent::After,
            },
            Choice {
                value: "refused",
                gloss: "It is not proposed: the shape lists the expiry with what a record holds.",
                set: |reading| reading.expiry_absent = ExpiryAbsent::Refused,
            },
        ],
        why: "The shape of the text is a possible one; how long a question is good, the loop knows and the ledger does not.",
    },
    Place {
        name: "deciders-absent",
        clauses: &["PA-2"],
        question: "Who may decide where the proposal names no deciders?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "anyone",
                gloss: "Whoever is authenticated may decide.",
                set: |reading| reading.deciders_absent = DecidersAbsent::Anyone,
            },
            Choice {
                value: "nobody",
                gloss: "Nobody may: a decision is that of the user, and none is named.",
                set: |reading| reading.deciders_absent = DecidersAbsent::Nobody,
            },
        ],
        why: "The text asks for no list; an action that nobody may decide could as well not be proposed.",
    },
    Place {
        name: "in-doubt",
        clauses: &["PA-3", "PA-8", "PA-10"],
        question: "A crash comes after an action was released, and nobody knows whether it ran: is it run again?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "as-declared",
                gloss: "It is told to be in doubt, unless its record lets it run twice.",
                set: |reading| reading.in_doubt = InDoubt::AsDeclared,
            },
            Choice {
                value: "runs-again",
                gloss: "It runs again: on an allow the loop is to execute the call, and nobody knows that it has.",
                set: |reading| reading.in_doubt = InDoubt::RunsAgain,
            },
        ],
        why: "One allow is good for one run, so that what may have run is told to be in doubt, unless its record lets it run twice.",
    },
];
