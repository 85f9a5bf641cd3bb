//! What the monitors judge: one entry for each kind of fault, with the clauses that it breaks.
//!
//! A fault often breaks several clauses that say the same thing in different places. It is one finding all the same: the
//! clause that describes it best is named first, the others under `also`. Violations are the rules of chapter 6, the wire
//! facts, and what of the informative appendix (AAEP-A-1) is normative elsewhere; SHOULD and the rest of the appendix are
//! warnings.

/// What a finding does to the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Violation or warning.
    pub weight: Weight,
    /// Whether the fault is that something is missing before it. Then an unreadable record earlier in the stream may have
    /// held it, and the finding says so; where the numbers of the session show that events are not in the record, the
    /// clause is not judged.
    pub rests_on_absence: bool,
}

impl Rule {
    /// Every clause that the fault breaks.
    pub fn all_clauses(&self) -> Vec<&'static str> {
        let clauses = [self.clause].into_iter();
        clauses.chain(self.also.iter().copied()).collect()
    }
}

pub(crate) const fn violation(clause: &'static str, also: &'static [&'static str]) -> Rule {
    Rule {
        clause,
        also,
        weight: Weight::Violation,
        rests_on_absence: false,
    }
}

const fn absence(clause: &'static str, also: &'static [&'static str]) -> Rule {
    Rule {
        rests_on_absence: true,
        ..violation(clause, also)
    }
}

pub(crate) const fn warning(clause: &'static str, also: &'static [&'static str]) -> Rule {
    Rule {
        weight: Weight::Warning,
        ..violation(clause, also)
    }
}

const fn warned_absence(clause: &'static str, also: &'static [&'static str]) -> Rule {
    Rule {
        rests_on_absence: true,
        ..warning(clause, also)
    }
}

/// A line that is no record, or an envelope without what every event needs.
pub const RECORD: Rule = violation("AAEP-EV-1", &[]);
/// An identifier of another form.
pub const IDENTIFIER: Rule = violation("AAEP-EV-2", &[]);
/// A timestamp that is not RFC 3339, or has another number of fractional digits.
pub const TIMESTAMP: Rule = violation("AAEP-EV-3", &[]);
/// A timestamp before the one before it.
pub const CLOCK: Rule = violation("AAEP-EV-3", &[]);
/// A number that comes again or steps back, or is missing on some events of a session.
pub const SEQUENCE: Rule = violation("AAEP-EV-4", &[]);
/// A payload field that is missing, of the wrong type or out of range.
pub const PAYLOAD: Rule = violation("AAEP-EV-5", &[]);
/// An event that a user has to notice and that is not critical.
pub const URGENCY: Rule = violation("AAEP-EV-6", &[]);
/// The same event twice, in other words.
pub const EVENT_TOLD_AGAIN: Rule = warning("AAEP-EV-7", &[]);
/// Two events with one id.
pub const EVENT_ID_AGAIN: Rule = violation("AAEP-EV-7", &[]);
/// A change out of a state that the producer was not in.
pub const STATE_CHAIN: Rule = absence("AAEP-EV-8", &[]);
/// A type under `aaep:` that the list of core types does not have.
pub const CORE_TYPE: Rule = violation("AAEP-EV-9", &[]);
/// An event beyond the limits of size and nesting.
pub const SIZE: Rule = warning("AAEP-EV-10", &[]);
/// Two calls of a session with one id.
pub const CALL_ID_AGAIN: Rule = violation("AAEP-EV-13", &[]);

/// A question without token.
pub const NO_TOKEN: Rule = violation("AAEP-6.2-1", &["AAEP-EV-5"]);
/// A token of another form.
pub const TOKEN_FORM: Rule = violation("AAEP-6.2.1-1", &["AAEP-EV-2"]);
/// A token that was given out before by the same producer.
pub const TOKEN_AGAIN: Rule = violation("AAEP-6.2.2-3", &["AAEP-6.2.2-1"]);
/// A token that another producer has given out.
pub const TOKEN_OF_ANOTHER: Rule = warning("AAEP-6.2.2-2", &[]);

/// The first event of a session is another than session.started.
pub const SESSION_START: Rule = absence("AAEP-A.1-1", &["AAEP-A.7.1-1"]);
/// A second session.started.
pub const STARTED_AGAIN: Rule = violation("AAEP-A.1-1", &["AAEP-A.7.1-1"]);
/// A second terminal event.
pub const SECOND_TERMINAL: Rule =
    violation("AAEP-A.8-2", &["AAEP-A.1-2", "AAEP-A.7.2-1", "AAEP-A.8-8"]);
/// An event after the terminal event.
pub const AFTER_TERMINAL: Rule =
    violation("AAEP-A.8-3", &["AAEP-A.1-3", "AAEP-A.7.2-1", "AAEP-A.8-8"]);

/// A completion that belongs to no call in flight.
pub const COMPLETION_WITHOUT_CALL: Rule =
    absence("AAEP-A.8-1", &["AAEP-A.3-2", "AAEP-A.7.5-1", "AAEP-A.8-8"]);
/// A call without completion in a session that completed.
pub const CALL_WITHOUT_COMPLETION: Rule = absence("AAEP-A.3-1", &["AAEP-A.7.4-2"]);
/// Another state while a tool runs.
pub const OTHER_STATE_WHILE_CALLING: Rule = warned_absence("AAEP-A.3-3", &[]);
/// A call out of a state in which no tools are called.
pub const CALLED_IN_ANOTHER_STATE: Rule = warned_absence("AAEP-A.7.4-3", &[]);
/// An output that begins in a state in which none is written.
pub const WRITTEN_IN_ANOTHER_STATE: Rule = warned_absence("AAEP-A.7.7-1", &[]);

/// A confirmation while the last state.changed did not enter `awaiting_input`.
pub const ASKED_IN_ANOTHER_STATE: Rule =
    warned_absence("AAEP-A.4-1", &["AAEP-A.2-2", "AAEP-A.7.6-2"]);
/// A clarification while the last state.changed did not enter `awaiting_input`.
pub const CLARIFYING_IN_ANOTHER_STATE: Rule = warned_absence("AAEP-A.5-1", &["AAEP-A.2-2"]);
/// A resolved confirmation after which nothing says that the producer went on.
pub const NO_STATE_AFTER_RESOLUTION: Rule = absence("AAEP-A.4-2", &["AAEP-A.7.6-1"]);
/// All is answered and the session over, and the state is still `awaiting_input`.
pub const STILL_AWAITING: Rule = warned_absence("AAEP-A.4-2", &["AAEP-6.7.2-1", "AAEP-6.7.2-2"]);
/// As [`STILL_AWAITING`], where the last question was a clarification.
pub const STILL_AWAITING_CLARIFICATION: Rule = warned_absence("AAEP-A.5-1", &[]);
/// An accepted action without its call.
pub const ACCEPTED_AND_NOT_CALLED: Rule = absence("AAEP-A.4-3", &["AAEP-A.7.6-1", "AAEP-6.6-4"]);
/// A question that nobody answered, whose default accepts, and no call when the session completes.
pub const DEFAULT_NOT_CALLED: Rule = absence("AAEP-A.4-3", &["AAEP-6.4-1", "AAEP-A.7.6-1"]);
/// A rejected action of which nothing more is heard.
pub const DROPPED_SILENTLY: Rule = absence("AAEP-6.1-3", &["AAEP-6.1-2", "AAEP-A.4-2"]);
/// The timeout has passed and nothing was made of it.
pub const DEFAULT_FORGOTTEN: Rule = absence("AAEP-6.4-1", &["AAEP-A.7.6-1"]);
/// No countdown while a long timeout runs.
pub const NO_COUNTDOWN: Rule = warned_absence("AAEP-6.4.3-1", &["AAEP-6.4.3-4"]);
/// A countdown that falls silent before the end.
pub const COUNTDOWN_STOPS: Rule = warned_absence("AAEP-6.4.3-4", &[]);

/// A call that was rejected, and not asked for and accepted again.
pub const CALLED_AFTER_REJECTION: Rule =
    absence("AAEP-A.8-5", &["AAEP-A.4-4", "AAEP-6.1-1", "AAEP-A.8-8"]);
/// An irreversible call for which nobody was ever asked.
pub const IRREVERSIBLE_UNASKED: Rule = absence("AAEP-A.8-4", &["AAEP-A.7.4-1", "AAEP-A.8-8"]);
/// An irreversible call that was asked for and not accepted yet.
pub const IRREVERSIBLE_UNACCEPTED: Rule =
    absence("AAEP-A.7.4-1", &["AAEP-A.8-4", "AAEP-6.1-1", "AAEP-6.1-5"]);
/// An irreversible call of high risk that was asked for as another, and accepted by nobody.
pub const DEFAULT_RAN: Rule = absence("AAEP-6.9-5", &["AAEP-A.7.4-1", "AAEP-A.8-4"]);
/// A reversible call that names a confirmation which was not accepted yet.
pub const UNACCEPTED: Rule = absence("AAEP-6.1-1", &["AAEP-6.1-5"]);
/// Two calls and one acceptance. Where the reply had to be ignored, nothing was used twice: each call breaks what that reply does.
pub const CALLED_TWICE: Rule = absence("AAEP-6.3.5-1", &["AAEP-6.1-1", "AAEP-6.9-2"]);
/// A call after a reply that breaks the schema, and no other.
pub const HONOURED_MALFORMED: Rule = absence("AAEP-6.3.4-1", &["AAEP-6.3.4-7", "AAEP-6.1-1"]);
/// A call after a reply of the other kind, and no other.
pub const HONOURED_OTHER_KIND: Rule = absence(
    "AAEP-6.3.1-1",
    &["AAEP-REPLY-2", "AAEP-6.3.4-1", "AAEP-6.3.4-7", "AAEP-6.1-1"],
);
/// A call after a reply to a question that was decided otherwise before.
pub const HONOURED_USED: Rule = absence(
    "AAEP-6.3.4-3",
    &[
        "AAEP-6.3.5-1",
        "AAEP-6.7.1-1",
        "AAEP-REPLY-12",
        "AAEP-6.9-2",
        "AAEP-6.3.4-7",
        "AAEP-6.1-1",
    ],
);
/// A call after a reply to a question that was withdrawn.
pub const HONOURED_CANCELLED: Rule = absence(
    "AAEP-6.8-4",
    &["AAEP-6.3.4-2", "AAEP-6.3.4-7", "AAEP-6.1-1"],
);
/// A call after a reply that was decided too late, and no other.
pub const HONOURED_EXPIRED: Rule = absence(
    "AAEP-6.3.4-4",
    &["AAEP-6.9-2", "AAEP-6.3.4-7", "AAEP-6.1-1"],
);
/// A call after a reply of a sender that the transport refused or does not know, and no other.
pub const HONOURED_STRANGER: Rule = absence(
    "AAEP-6.3.4-5",
    &["AAEP-6.2.4-1", "AAEP-6.9-1", "AAEP-6.3.4-7", "AAEP-6.1-1"],
);
/// A call after a reply that the question does not allow, and no other.
pub const HONOURED_NOT_ALLOWED: Rule = absence("AAEP-6.3.4-6", &["AAEP-6.3.4-7", "AAEP-6.1-1"]);
/// A call that was announced before a reply modified its action ran, and nothing announces another.
pub const MODIFIED_TAKEN_AS_ACCEPTED: Rule = absence("AAEP-6.3.2-4", &["AAEP-A.4-3", "AAEP-6.1-1"]);
/// The sender of a reply was told which check it failed.
pub const TELLS_CHECK: Rule = violation("AAEP-6.3.4-9", &[]);
/// The status of the answer tells one failed check from another.
pub const STATUS_TELLS_CHECK: Rule = warning("AAEP-6.3.4-9", &[]);

/// The sender of a message that is no JSON, and so perhaps no reply, was told that.
pub const TELLS_BROKEN: Rule = warning("AAEP-6.3.4-9", &[]);

/// The same action is asked for again while nothing shows that the first question is over.
pub const ASKED_AGAIN: Rule = absence("AAEP-6.1-6", &[]);
/// As [`ASKED_AGAIN`], told only by the prose, which two actions may share.
pub const ASKED_AGAIN_IN_THE_SAME_WORDS: Rule = warned_absence("AAEP-6.1-6", &[]);
/// The same clarification is asked for again while the first is open.
pub const CLARIFYING_AGAIN: Rule = warned_absence("AAEP-6.1-9", &["AAEP-6.1-6"]);
/// The timeout of a clarification has passed and nothing was made of it.
pub const CLARIFICATION_FORGOTTEN: Rule = warned_absence("AAEP-6.1-7", &["AAEP-A.5-1"]);
/// The producer says that nobody answered a clarification which a valid reply had answered.
pub const CLARIFICATION_DROPPED: Rule = violation("AAEP-6.1-7", &["AAEP-6.1-9"]);
/// The producer says that a clarification is answered which nobody has answered.
pub const CLARIFIED_BY_NOBODY: Rule = warned_absence("AAEP-6.1-8", &[]);
/// The producer goes on after a reply to a clarification that failed a check, and no other.
pub const CLARIFIED_BY_INVALID: Rule = absence("AAEP-6.5.5-1", &["AAEP-6.5.5-4", "AAEP-6.1-8"]);
/// The same, for a response of a kind that was not accepted.
pub const CLARIFIED_BY_OTHER_TYPE: Rule = absence(
    "AAEP-6.5.5-2",
    &["AAEP-6.5.2-1", "AAEP-6.5.5-4", "AAEP-6.1-8"],
);
/// The same, for a response that is none of the choices.
pub const CLARIFIED_BY_NO_CHOICE: Rule = absence(
    "AAEP-6.5.5-3",
    &["AAEP-6.5.2-1", "AAEP-6.5.5-4", "AAEP-6.1-8"],
);
/// The same, for a confirmation reply.
pub const CLARIFIED_BY_CONFIRMATION: Rule = absence(
    "AAEP-6.5.1-1",
    &["AAEP-6.5.5-1", "AAEP-6.5.5-4", "AAEP-6.1-8"],
);

/// Irreversible, high risk, default accept.
pub const DEFAULT_IRREVERSIBLE_HIGH: Rule =
    violation("AAEP-6.4.1-1", &["AAEP-6.4.1-7", "AAEP-6.9-5"]);
/// Irreversible, medium risk, default accept.
pub const DEFAULT_IRREVERSIBLE_MEDIUM: Rule = violation("AAEP-6.4.1-2", &[]);
/// Irreversible, low risk, default accept.
pub const DEFAULT_IRREVERSIBLE_LOW: Rule = warning("AAEP-6.4.1-3", &[]);
/// Reversible, high risk, default accept.
pub const DEFAULT_REVERSIBLE_HIGH: Rule = warning("AAEP-6.4.1-4", &[]);

/// A session completes, and one of its outputs never did.
pub const OUTPUT_NEVER_COMPLETE: Rule = absence("AAEP-A.6-1", &[]);
/// A chunk of an output that is complete.
pub const CHUNK_AFTER_COMPLETE: Rule = violation("AAEP-A.8-6", &["AAEP-A.6-3", "AAEP-A.8-8"]);
/// A chunk that stands before the one before it.
pub const POSITION_DECREASES: Rule = violation("AAEP-A.8-7", &["AAEP-A.6-2", "AAEP-A.8-8"]);
/// A chunk that stands within the one before it.
pub const POSITION_OVERLAPS: Rule = violation("AAEP-A.6-2", &[]);
/// A chunk that stands beyond the end of the one before it.
pub const POSITION_SKIPS: Rule = absence("AAEP-A.6-2", &[]);

/// All of them.
pub const ALL: [&Rule; 73] = [
    &RECORD,
    &IDENTIFIER,
    &TIMESTAMP,
    &CLOCK,
    &SEQUENCE,
    &PAYLOAD,
    &URGENCY,
    &EVENT_TOLD_AGAIN,
    &EVENT_ID_AGAIN,
    &STATE_CHAIN,
    &CORE_TYPE,
    &SIZE,
    &CALL_ID_AGAIN,
    &NO_TOKEN,
    &TOKEN_FORM,
    &TOKEN_AGAIN,
    &TOKEN_OF_ANOTHER,
    &SESSION_START,
    &STARTED_AGAIN,
    &SECOND_TERMINAL,
    &AFTER_TERMINAL,
    &COMPLETION_WITHOUT_CALL,
    &CALL_WITHOUT_COMPLETION,
    &OTHER_STATE_WHILE_CALLING,
    &CALLED_IN_ANOTHER_STATE,
    &WRITTEN_IN_ANOTHER_STATE,
    &ASKED_IN_ANOTHER_STATE,
    &CLARIFYING_IN_ANOTHER_STATE,
    &NO_STATE_AFTER_RESOLUTION,
    &STILL_AWAITING,
    &STILL_AWAITING_CLARIFICATION,
    &ACCEPTED_AND_NOT_CALLED,
    &DEFAULT_NOT_CALLED,
    &DROPPED_SILENTLY,
    &DEFAULT_FORGOTTEN,
    &NO_COUNTDOWN,
    &COUNTDOWN_STOPS,
    &CALLED_AFTER_REJECTION,
    &IRREVERSIBLE_UNASKED,
    &IRREVERSIBLE_UNACCEPTED,
    &DEFAULT_RAN,
    &UNACCEPTED,
    &CALLED_TWICE,
    &HONOURED_MALFORMED,
    &HONOURED_OTHER_KIND,
    &HONOURED_USED,
    &HONOURED_CANCELLED,
    &HONOURED_EXPIRED,
    &HONOURED_STRANGER,
    &HONOURED_NOT_ALLOWED,
    &MODIFIED_TAKEN_AS_ACCEPTED,
    &TELLS_CHECK,
    &STATUS_TELLS_CHECK,
    &TELLS_BROKEN,
    &ASKED_AGAIN,
    &ASKED_AGAIN_IN_THE_SAME_WORDS,
    &CLARIFYING_AGAIN,
    &CLARIFICATION_FORGOTTEN,
    &CLARIFICATION_DROPPED,
    &CLARIFIED_BY_NOBODY,
    &CLARIFIED_BY_INVALID,
    &CLARIFIED_BY_OTHER_TYPE,
    &CLARIFIED_BY_NO_CHOICE,
    &CLARIFIED_BY_CONFIRMATION,
    &DEFAULT_IRREVERSIBLE_HIGH,
    &DEFAULT_IRREVERSIBLE_MEDIUM,
    &DEFAULT_IRREVERSIBLE_LOW,
    &DEFAULT_REVERSIBLE_HIGH,
    &OUTPUT_NEVER_COMPLETE,
    &CHUNK_AFTER_COMPLETE,
    &POSITION_DECREASES,
    &POSITION_OVERLAPS,
    &POSITION_SKIPS,
];

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_clauses as clause;

    #[test]
    fn every_rule_names_clauses_of_the_registry_and_stands_on_the_list() {
        for rule in ALL {
            for id in rule.also.iter().chain([&rule.clause]) {
                assert!(clause::get(id).is_ok(), "{id}");
            }
            assert!(!rule.also.contains(&rule.clause), "{}", rule.clause);
        }
        let written = include_str!("rules.rs").matches(": Rule =").count();
        assert_eq!(written, ALL.len() + 1, "the search for it holds one more");
    }
}
