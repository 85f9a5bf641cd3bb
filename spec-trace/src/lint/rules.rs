//! What the monitors judge: one entry for each kind of fault, with the clauses that it breaks.
//!
//! A fault often breaks several clauses that say the same thing in different places. It is one finding all the same: the
//! clause that describes it best is named first, the others under `also`. Violations are the rules of chapter 6, the wire
//! facts, and what of the informative appendix is normative elsewhere; SHOULD and the rest of the appendix are warnings.

/// How binding a clause is, in its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// MUST.
    Must,
    /// MUST NOT.
    MustNot,
    /// SHOULD.
    Should,
}

impl Level {
    /// The word as the text writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::MustNot => "MUST NOT",
            Self::Should => "SHOULD",
        }
    }
}

/// What a finding does to the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The stream does not conform.
    Violation,
    /// Worth a look; the stream conforms all the same.
    Warning,
}

/// One kind of fault.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The clause that describes the fault best.
    pub clause: &'static str,
    /// The other clauses that the same fault breaks.
    pub also: &'static [&'static str],
    /// The level of `clause`.
    pub level: Level,
    /// Violation or warning.
    pub weight: Weight,
    /// Whether the fault is that something is missing before it. Then an unreadable record earlier in the stream may have
    /// held it, and the finding says so; where the numbers of the session show that events are not in the record, the
    /// clause is not judged.
    pub rests_on_absence: bool,
}

const fn violation(clause: &'static str, level: Level, also: &'static [&'static str]) -> Rule {
    Rule {
        clause,
        also,
        level,
        weight: Weight::Violation,
        rests_on_absence: false,
    }
}

const fn absence(clause: &'static str, level: Level, also: &'static [&'static str]) -> Rule {
    Rule {
        rests_on_absence: true,
        ..violation(clause, level, also)
    }
}

const fn warning(clause: &'static str, level: Level) -> Rule {
    Rule {
        weight: Weight::Warning,
        ..violation(clause, level, &[])
    }
}

/// A line that is no record, or an envelope without what every event needs.
pub const RECORD: Rule = violation("AAEP-EV-1", Level::Must, &[]);
/// A timestamp that is not RFC 3339.
pub const TIMESTAMP: Rule = violation("AAEP-EV-3", Level::Must, &[]);
/// A payload field that is missing or of the wrong type.
pub const PAYLOAD: Rule = violation("AAEP-EV-5", Level::Must, &[]);
/// A type under `aaep:` that the list of core types does not have.
pub const CORE_TYPE: Rule = violation("AAEP-EV-9", Level::Must, &[]);

/// The first event of a session is another than session.started.
pub const SESSION_START: Rule = absence("AAEP-A.1-1", Level::Must, &[]);
/// A second session.started.
pub const STARTED_AGAIN: Rule = violation("AAEP-A.1-1", Level::Must, &[]);
/// A second terminal event.
pub const SECOND_TERMINAL: Rule = violation("AAEP-A.8-2", Level::Must, &["AAEP-A.1-2"]);
/// An event after the terminal event.
pub const AFTER_TERMINAL: Rule = violation("AAEP-A.8-3", Level::Must, &["AAEP-A.1-3"]);

/// A completion that belongs to no call in flight.
pub const COMPLETION_WITHOUT_CALL: Rule = absence("AAEP-A.8-1", Level::Must, &["AAEP-A.3-2"]);
/// A call without completion in a session that completed.
pub const CALL_WITHOUT_COMPLETION: Rule = absence("AAEP-A.3-1", Level::Must, &[]);

/// A confirmation while the last state.changed did not enter `awaiting_input`.
pub const ASKED_IN_ANOTHER_STATE: Rule = warning("AAEP-A.4-1", Level::Must);
/// A resolved confirmation after which nothing says that the producer went on.
pub const NO_STATE_AFTER_RESOLUTION: Rule = absence("AAEP-A.4-2", Level::Must, &[]);
/// An accepted action without its call.
pub const ACCEPTED_AND_NOT_CALLED: Rule = absence("AAEP-A.4-3", Level::Must, &[]);
/// A rejected action of which nothing more is heard.
pub const DROPPED_SILENTLY: Rule =
    absence("AAEP-6.1-3", Level::Must, &["AAEP-6.1-2", "AAEP-A.4-2"]);

/// A call that was rejected, and not asked for and accepted again.
pub const CALLED_AFTER_REJECTION: Rule =
    absence("AAEP-A.8-5", Level::Must, &["AAEP-A.4-4", "AAEP-6.1-1"]);
/// An irreversible call for which nobody was ever asked.
pub const IRREVERSIBLE_UNASKED: Rule = absence("AAEP-A.8-4", Level::Must, &["AAEP-A.7.4-1"]);
/// An irreversible call that was asked for and not accepted yet.
pub const IRREVERSIBLE_UNACCEPTED: Rule =
    absence("AAEP-A.7.4-1", Level::Must, &["AAEP-A.8-4", "AAEP-6.1-1"]);
/// A reversible call that names a confirmation which was not accepted yet.
pub const UNACCEPTED: Rule = absence("AAEP-6.1-1", Level::MustNot, &[]);
/// Two calls and one acceptance.
pub const CALLED_TWICE: Rule = absence("AAEP-6.3.5-1", Level::Must, &["AAEP-6.1-1"]);

/// The same action is asked for again while nothing shows that the first question is over.
pub const ASKED_AGAIN: Rule = absence("AAEP-6.1-6", Level::MustNot, &[]);
/// As [`ASKED_AGAIN`], told only by the prose, which two actions may share.
pub const ASKED_AGAIN_IN_THE_SAME_WORDS: Rule = warning("AAEP-6.1-6", Level::MustNot);

/// Irreversible, high risk, default accept.
pub const DEFAULT_IRREVERSIBLE_HIGH: Rule =
    violation("AAEP-6.4.1-1", Level::Must, &["AAEP-6.4.1-7", "AAEP-6.9-5"]);
/// Irreversible, medium risk, default accept.
pub const DEFAULT_IRREVERSIBLE_MEDIUM: Rule = violation("AAEP-6.4.1-2", Level::Must, &[]);
/// Irreversible, low risk, default accept.
pub const DEFAULT_IRREVERSIBLE_LOW: Rule = warning("AAEP-6.4.1-3", Level::Should);
/// Reversible, high risk, default accept.
pub const DEFAULT_REVERSIBLE_HIGH: Rule = warning("AAEP-6.4.1-4", Level::Should);
