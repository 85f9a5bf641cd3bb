//! The places where the text can be taken in more than one way, each as a named choice.

use crate::readings::{self, Choice};

use super::numbers::Numbers;
use super::rules::{Check, Code};
use super::words::Oracle;

/// In which order a token is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckOrder {
    /// As the table of 4.1 lists the checks.
    Table,
    /// As the sample of 4.3 makes them: the scope before expiry and use.
    Sample,
}

impl CheckOrder {
    /// The checks in this order.
    pub const fn checks(self) -> &'static [Check; 10] {
        match self {
            Self::Table => &Check::TABLE,
            Self::Sample => &Check::SAMPLE,
        }
    }
}

/// Which answers to a failure the operator can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OracleModes {
    /// Both.
    Configured,
    /// A code for every check, to the letter of 4.1.
    Codes,
    /// The same for all, to the letter of 6.3.
    Uniform,
}

impl OracleModes {
    /// Whether the operator can choose this mode.
    pub const fn allows(self, oracle: Oracle) -> bool {
        match self {
            Self::Configured => true,
            Self::Codes => matches!(oracle, Oracle::Codes),
            Self::Uniform => matches!(oracle, Oracle::Uniform),
        }
    }
}

/// Where a token may have several uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MultiUse {
    /// In a session that the call names.
    InSession,
    /// Anywhere: batches too (AQL-5.2-3).
    Anywhere,
}

/// Which tokens are bound to the session that the call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionBinding {
    /// Those with several uses.
    MultiUse,
    /// All.
    Always,
}

/// Whether the name of a session that has ended may come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndedSession {
    /// It may, as that of another connection; whoever takes it for the one that has ended is right too.
    Either,
    /// It stands for the connection that has ended: no token is bound to it any more.
    StaysEnded,
}

/// What a restart of the process does to the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RestartedSession {
    /// Nothing: somebody else holds the connections.
    GoesOn,
    /// Their connections have ended.
    Ends,
}

/// Where that which a token stands for is kept (AQL-6.2-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenStorage {
    /// With the gatekeeper.
    Kept,
    /// In the token, signed (AQL-6.2-2): one that never came with its call is unknown to who asks about it, none is bound to a
    /// session or has several uses, and what ends all may be logged as one. A call with a revoked one may be told any check that
    /// it fails besides, for the table of 4.1 has no row for revocation; one that ended with all others may be told as unknown
    /// and one that ended with its adapter be given back once more, for 5.3 says neither what is kept of it nor what is answered.
    Signed,
}

/// How a token is answered that can never be valid again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PurgeCode {
    /// As remembered or as unknown: the store may have forgotten it or not.
    Either,
    /// As remembered until it is purged, and as unknown from then on.
    Unknown,
    /// As remembered for ever.
    Remembered,
}

/// Whether a token admits a call whose operation is rated higher than when the token was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RatingAtRedemption {
    /// It does not: it stands for the warning that was given.
    Checked,
    /// It does: nothing is asked of the rating of the call.
    NotChecked,
}

/// One choice for every place that can be taken in more than one way, and the numbers. The default is the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// What the text counts, and what its tables say.
    pub numbers: Numbers,
    /// `check-order`
    pub check_order: CheckOrder,
    /// `oracle`
    pub oracle: OracleModes,
    /// `multi-use`
    pub multi_use: MultiUse,
    /// `session-binding`
    pub session_binding: SessionBinding,
    /// `ended-session`
    pub ended_session: EndedSession,
    /// `restarted-session`
    pub restarted_session: RestartedSession,
    /// `token-storage`
    pub token_storage: TokenStorage,
    /// `rating-at-redemption`
    pub rating_at_redemption: RatingAtRedemption,
    /// `purge-code`
    pub purge_code: PurgeCode,
    /// `revoked-code`: the code of a token that was revoked.
    pub revoked_code: Code,
}

impl Reading {
    /// The reading that binds model and executor alike.
    pub const SPECIFICATION: Self = Self {
        numbers: Numbers::TEXT,
        check_order: CheckOrder::Table,
        oracle: OracleModes::Configured,
        multi_use: MultiUse::InSession,
        session_binding: SessionBinding::MultiUse,
        ended_session: EndedSession::Either,
        restarted_session: RestartedSession::GoesOn,
        token_storage: TokenStorage::Kept,
        rating_at_redemption: RatingAtRedemption::Checked,
        purge_code: PurgeCode::Either,
        revoked_code: Code::Invalid,
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
pub static PLACES: [Place; 10] = [
    Place {
        name: "check-order",
        clauses: &["AQL-4.1-1", "AQL-4.3-1"],
        question: "A token has two faults, it was used and is for another call: which of the checks comes first and gives the code?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "table",
                gloss: "The checks in the order in which 4.1 lists them.",
                set: |reading| reading.check_order = CheckOrder::Table,
            },
            Choice {
                value: "sample",
                gloss: "The checks in the order of the sample of 4.3: operation and parameters before expiry and use.",
                set: |reading| reading.check_order = CheckOrder::Sample,
            },
        ],
        why: "The table is the rule, the sample an example; a dead token then tells nothing of its scope.",
    },
    Place {
        name: "oracle",
        clauses: &["AQL-4.1-1", "AQL-6.3-2", "AQL-7.1-2"],
        question: "May whoever presents a token, in a call or to revoke it, tell by the code which check failed?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "configured",
                gloss: "The operator chooses: a code for each check, or one for all.",
                set: |reading| reading.oracle = OracleModes::Configured,
            },
            Choice {
                value: "codes",
                gloss: "A code for each check: 4.1 gives each its own, and 7.1 makes the appropriate one a MUST.",
                set: |reading| reading.oracle = OracleModes::Codes,
            },
            Choice {
                value: "uniform",
                gloss: "One code for all: 6.3 would not have an unknown token told from an invalid one.",
                set: |reading| reading.oracle = OracleModes::Uniform,
            },
        ],
        why: "4.1 and 7.1 give each check its code, 6.3 advises against it: the operator chooses.",
    },
    Place {
        name: "multi-use",
        clauses: &["AQL-5.2-3", "AQL-5.4-1"],
        question: "May a token that is bound to no session have several uses?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "in-session",
                gloss: "Several uses in a session alone.",
                set: |reading| reading.multi_use = MultiUse::InSession,
            },
            Choice {
                value: "anywhere",
                gloss: "Several uses anywhere: 5.2 allows them for batches with equal parameters, too, and 7.3 repeats it.",
                set: |reading| reading.multi_use = MultiUse::Anywhere,
            },
        ],
        why: "5.4 gives max_uses to session-scoped tokens alone, and a token for all sessions could be replayed in any.",
    },
    Place {
        name: "session-binding",
        clauses: &["AQL-5.4-1", "AQL-6.1-2"],
        question: "A call names a session and asks for one use: is its token bound to the session?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "multi-use",
                gloss: "A token for several uses is bound to the session.",
                set: |reading| reading.session_binding = SessionBinding::MultiUse,
            },
            Choice {
                value: "always",
                gloss: "Every token is: 6.1 has the binding to a session as a protection besides, and 5.4 counts one use where nothing is said.",
                set: |reading| reading.session_binding = SessionBinding::Always,
            },
        ],
        why: "Session scope is an option of its own; a single use is protected by being single.",
    },
    Place {
        name: "ended-session",
        clauses: &["AQL-5.4-2"],
        question: "A call names a session that has ended: may a token be bound to it again?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "either",
                gloss: "The name may come again, or stand for what has ended.",
                set: |reading| reading.ended_session = EndedSession::Either,
            },
            Choice {
                value: "stays-ended",
                gloss: "A session that has ended binds no token any more: 5.4 voids its tokens with its connection and names no return.",
                set: |reading| reading.ended_session = EndedSession::StaysEnded,
            },
        ],
        why: "5.4 ends tokens with their connection; whether its name may stand for a later one is not said.",
    },
    Place {
        name: "restarted-session",
        clauses: &["AQL-5.4-2", "AQL-5.5-1"],
        question: "The process comes back with its tokens: has the connection of a session ended?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "goes-on",
                gloss: "The connections last, for others hold them.",
                set: |reading| reading.restarted_session = RestartedSession::GoesOn,
            },
            Choice {
                value: "ends",
                gloss: "They have ended with the process: 5.4 ends a session with the MCP connection, which a process holds.",
                set: |reading| reading.restarted_session = RestartedSession::Ends,
            },
        ],
        why: "The model's connections are held by others than its gatekeeper, who stores what they were given.",
    },
    Place {
        name: "token-storage",
        clauses: &["AQL-6.2-1", "AQL-6.2-2", "AQL-7.3-1", "AQL-7.3-2"],
        question: "Where is kept what a token stands for: with the gatekeeper, or signed in the token itself?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "kept",
                gloss: "The gatekeeper keeps what a token stands for.",
                set: |reading| reading.token_storage = TokenStorage::Kept,
            },
            Choice {
                value: "signed",
                gloss: "The token holds it, signed: 6.2 names that as the alternative, and 7.3 allows it.",
                set: |reading| reading.token_storage = TokenStorage::Signed,
            },
        ],
        why: "6.2 prefers the store; who signs cannot tell of a token that never came back, nor count its uses.",
    },
    Place {
        name: "rating-at-redemption",
        clauses: &["AQL-5.1-1", "AQL-3.2-1", "AQL-4.1-4"],
        question: "An operation is rated higher than when its token was issued: does the token admit a call of it?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "checked",
                gloss: "A token of a lower rating does not admit the call.",
                set: |reading| reading.rating_at_redemption = RatingAtRedemption::Checked,
            },
            Choice {
                value: "not-checked",
                gloss: "It does: the checks of 4.1 are all that there are, and none of them looks at the rating.",
                set: |reading| reading.rating_at_redemption = RatingAtRedemption::NotChecked,
            },
        ],
        why: "A token proves that a warning was acknowledged (1.1), and nobody was warned of this; what is now forbidden would have lived less long (5.1). The checks of 4.1 know no rating.",
    },
    Place {
        name: "purge-code",
        clauses: &["AQL-4.1-1", "AQL-4.1-2", "AQL-5.5-2"],
        question: "A token has expired and may have been purged: which code does it get?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "either",
                gloss: "A token that is over is answered as expired or as unknown, each time anew: 5.5 has it purged at some time within an hour.",
                set: |reading| reading.purge_code = PurgeCode::Either,
            },
            Choice {
                value: "unknown",
                gloss: "It is expired as long as it is stored, and unknown from its purge on (4.1), an hour after its tolerance at the latest (5.5). No one can see a purge, so that one answer does not tell this from `either`: an answer of expired behind one of unknown does, and so does the hour; no run within the small bounds is told apart by either.",
                set: |reading| reading.purge_code = PurgeCode::Unknown,
            },
            Choice {
                value: "remembered",
                gloss: "It is always answered as expired: that it is purged within an hour is a SHOULD (5.5).",
                set: |reading| reading.purge_code = PurgeCode::Remembered,
            },
        ],
        why: "The text leaves open when within the hour a token is purged.",
    },
    Place {
        name: "revoked-code",
        clauses: &["AQL-5.3-1", "AQL-7.1-2"],
        question: "Which code does a revoked token get?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "invalid",
                gloss: "A revoked token is answered as one that never was.",
                set: |reading| reading.revoked_code = Code::Invalid,
            },
            Choice {
                value: "already-used",
                gloss: "It is answered as one that was used: it is in the store, so that the first row of 4.1 does not fit it, and of the others this one comes nearest.",
                set: |reading| reading.revoked_code = Code::AlreadyUsed,
            },
        ],
        why: "The table has no row for it; a token that was revoked is no more than one that never was.",
    },
];
