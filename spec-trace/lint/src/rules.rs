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

/// Constants, and the list of all of them.
macro_rules! rules {
    ($($(#[$said:meta])* $name:ident = $rule:expr;)*) => {
        $($(#[$said])* pub const $name: $crate::rules::Rule = $rule;)*
        /// All of them.
        pub const ALL: &[&$crate::rules::Rule] = &[$(&$name),*];
    };
}
pub(crate) use rules;

rules! {
    /// A line that is no record, or an envelope without what every event needs.
    RECORD = violation("AAEP-EV-1", &[]);
    /// An identifier of another form.
    IDENTIFIER = violation("AAEP-EV-2", &[]);
    /// A timestamp that is not RFC 3339, or has another number of fractional digits.
    TIMESTAMP = violation("AAEP-EV-3", &[]);
    /// A timestamp before the one before it.
    CLOCK = violation("AAEP-EV-3", &[]);
    /// A number that comes again or steps back, or is missing on some events of a session.
    SEQUENCE = violation("AAEP-EV-4", &[]);
    /// A payload field that is missing, of the wrong type or out of range.
    PAYLOAD = violation("AAEP-EV-5", &[]);
    /// An event that a user has to notice and that is not critical.
    URGENCY = violation("AAEP-EV-6", &[]);
    /// The same event twice, in other words.
    EVENT_TOLD_AGAIN = warning("AAEP-EV-7", &[]);
    /// Two events with one id.
    EVENT_ID_AGAIN = violation("AAEP-EV-7", &[]);
    /// A change out of a state that the producer was not in.
    STATE_CHAIN = absence("AAEP-EV-8", &[]);
    /// A type under `aaep:` that the list of core types does not have.
    CORE_TYPE = violation("AAEP-EV-9", &[]);
    /// An event beyond the limits of size and nesting.
    SIZE = warning("AAEP-EV-10", &[]);
    /// Two calls of a session with one id.
    CALL_ID_AGAIN = violation("AAEP-EV-13", &[]);

    /// A question without token.
    NO_TOKEN = violation("AAEP-6.2-1", &["AAEP-EV-5"]);
    /// A token of another form.
    TOKEN_FORM = violation("AAEP-6.2.1-1", &["AAEP-EV-2"]);
    /// A token that was given out before by the same producer.
    TOKEN_AGAIN = violation("AAEP-6.2.2-3", &["AAEP-6.2.2-1"]);
    /// A token that another producer has given out.
    TOKEN_OF_ANOTHER = warning("AAEP-6.2.2-2", &[]);

    /// The first event of a session is another than session.started.
    SESSION_START = absence("AAEP-A.1-1", &["AAEP-A.7.1-1"]);
    /// A second session.started.
    STARTED_AGAIN = violation("AAEP-A.1-1", &["AAEP-A.7.1-1"]);
    /// A second terminal event.
    SECOND_TERMINAL = violation("AAEP-A.8-2", &["AAEP-A.1-2", "AAEP-A.7.2-1", "AAEP-A.8-8"]);
    /// An event after the terminal event.
    AFTER_TERMINAL = violation("AAEP-A.8-3", &["AAEP-A.1-3", "AAEP-A.7.2-1", "AAEP-A.8-8"]);

    /// A completion that belongs to no call in flight.
    COMPLETION_WITHOUT_CALL = absence("AAEP-A.8-1", &["AAEP-A.3-2", "AAEP-A.7.5-1", "AAEP-A.8-8"]);
    /// A call without completion in a session that completed.
    CALL_WITHOUT_COMPLETION = absence("AAEP-A.3-1", &["AAEP-A.7.4-2"]);
    /// Another state while a tool runs.
    OTHER_STATE_WHILE_CALLING = warned_absence("AAEP-A.3-3", &[]);
    /// A call out of a state in which no tools are called.
    CALLED_IN_ANOTHER_STATE = warned_absence("AAEP-A.7.4-3", &[]);
    /// An output that begins in a state in which none is written.
    WRITTEN_IN_ANOTHER_STATE = warned_absence("AAEP-A.7.7-1", &[]);

    /// A confirmation while the last state.changed did not enter `awaiting_input`.
    ASKED_IN_ANOTHER_STATE = warned_absence("AAEP-A.4-1", &["AAEP-A.2-2", "AAEP-A.7.6-2"]);
    /// A clarification while the last state.changed did not enter `awaiting_input`.
    CLARIFYING_IN_ANOTHER_STATE = warned_absence("AAEP-A.5-1", &["AAEP-A.2-2"]);
    /// A resolved confirmation after which nothing says that the producer went on.
    NO_STATE_AFTER_RESOLUTION = absence("AAEP-A.4-2", &["AAEP-A.7.6-1"]);
    /// All is answered and the session over, and the state is still `awaiting_input`.
    STILL_AWAITING = warned_absence("AAEP-A.4-2", &["AAEP-6.7.2-1", "AAEP-6.7.2-2"]);
    /// As [`STILL_AWAITING`], where the last question was a clarification.
    STILL_AWAITING_CLARIFICATION = warned_absence("AAEP-A.5-1", &[]);
    /// An accepted action without its call.
    ACCEPTED_AND_NOT_CALLED = absence("AAEP-A.4-3", &["AAEP-A.7.6-1", "AAEP-6.6-4"]);
    /// A question that nobody answered, whose default accepts, and no call when the session completes.
    DEFAULT_NOT_CALLED = absence("AAEP-A.4-3", &["AAEP-6.4-1", "AAEP-A.7.6-1"]);
    /// A rejected action of which nothing more is heard.
    DROPPED_SILENTLY = absence("AAEP-6.1-3", &["AAEP-6.1-2", "AAEP-A.4-2"]);
    /// The timeout has passed and nothing was made of it.
    DEFAULT_FORGOTTEN = absence("AAEP-6.4-1", &["AAEP-A.7.6-1"]);
    /// No countdown while a long timeout runs.
    NO_COUNTDOWN = warned_absence("AAEP-6.4.3-1", &["AAEP-6.4.3-4"]);
    /// A countdown that falls silent before the end.
    COUNTDOWN_STOPS = warned_absence("AAEP-6.4.3-4", &[]);

    /// A call that was rejected, and not asked for and accepted again.
    CALLED_AFTER_REJECTION = absence("AAEP-A.8-5", &["AAEP-A.4-4", "AAEP-6.1-1", "AAEP-A.8-8"]);
    /// An irreversible call for which nobody was ever asked.
    IRREVERSIBLE_UNASKED = absence("AAEP-A.8-4", &["AAEP-A.7.4-1", "AAEP-A.8-8"]);
    /// An irreversible call that was asked for and not accepted yet.
    IRREVERSIBLE_UNACCEPTED = absence("AAEP-A.7.4-1", &["AAEP-A.8-4", "AAEP-6.1-1", "AAEP-6.1-5"]);
    /// An irreversible call of high risk that was asked for as another, and accepted by nobody.
    DEFAULT_RAN = absence("AAEP-6.9-5", &["AAEP-A.7.4-1", "AAEP-A.8-4"]);
    /// A reversible call that names a confirmation which was not accepted yet.
    UNACCEPTED = absence("AAEP-6.1-1", &["AAEP-6.1-5"]);
    /// Two calls and one acceptance. Where the reply had to be ignored, nothing was used twice: each call breaks what that reply does.
    CALLED_TWICE = absence("AAEP-6.3.5-1", &["AAEP-6.1-1", "AAEP-6.9-2"]);
    /// A call after a reply that breaks the schema, and no other.
    HONOURED_MALFORMED = absence("AAEP-6.3.4-1", &["AAEP-6.3.4-7", "AAEP-6.1-1"]);
    /// A call after a reply of the other kind, and no other.
    HONOURED_OTHER_KIND = absence("AAEP-6.3.1-1", &["AAEP-REPLY-2", "AAEP-6.3.4-1", "AAEP-6.3.4-7", "AAEP-6.1-1"]);
    /// A call after a reply to a question that was decided otherwise before.
    HONOURED_USED = absence("AAEP-6.3.4-3", &["AAEP-6.3.5-1", "AAEP-6.7.1-1", "AAEP-REPLY-12", "AAEP-6.9-2", "AAEP-6.3.4-7", "AAEP-6.1-1"]);
    /// A call after a reply to a question that was withdrawn.
    HONOURED_CANCELLED = absence("AAEP-6.8-4", &["AAEP-6.3.4-2", "AAEP-6.3.4-7", "AAEP-6.1-1"]);
    /// A call after a reply that was decided too late, and no other.
    HONOURED_EXPIRED = absence("AAEP-6.3.4-4", &["AAEP-6.9-2", "AAEP-6.3.4-7", "AAEP-6.1-1"]);
    /// A call after a reply of a sender that the transport refused or does not know, and no other.
    HONOURED_STRANGER = absence("AAEP-6.3.4-5", &["AAEP-6.2.4-1", "AAEP-6.9-1", "AAEP-6.3.4-7", "AAEP-6.1-1"]);
    /// A call after a reply that the question does not allow, and no other.
    HONOURED_NOT_ALLOWED = absence("AAEP-6.3.4-6", &["AAEP-6.3.4-7", "AAEP-6.1-1"]);
    /// A call that was announced before a reply modified its action ran, and nothing announces another.
    MODIFIED_TAKEN_AS_ACCEPTED = absence("AAEP-6.3.2-4", &["AAEP-A.4-3", "AAEP-6.1-1"]);
    /// The sender of a reply was told which check it failed.
    TELLS_CHECK = violation("AAEP-6.3.4-9", &[]);
    /// The status of the answer tells one failed check from another.
    STATUS_TELLS_CHECK = warning("AAEP-6.3.4-9", &[]);

    /// The sender of a message that is no JSON, and so perhaps no reply, was told that.
    TELLS_BROKEN = warning("AAEP-6.3.4-9", &[]);

    /// The same action is asked for again while nothing shows that the first question is over.
    ASKED_AGAIN = absence("AAEP-6.1-6", &[]);
    /// As [`ASKED_AGAIN`], told only by the prose, which two actions may share.
    ASKED_AGAIN_IN_THE_SAME_WORDS = warned_absence("AAEP-6.1-6", &[]);
    /// The same clarification is asked for again while the first is open.
    CLARIFYING_AGAIN = warned_absence("AAEP-6.1-9", &["AAEP-6.1-6"]);
    /// The timeout of a clarification has passed and nothing was made of it.
    CLARIFICATION_FORGOTTEN = warned_absence("AAEP-6.1-7", &["AAEP-A.5-1"]);
    /// The producer says that nobody answered a clarification which a valid reply had answered.
    CLARIFICATION_DROPPED = violation("AAEP-6.1-7", &["AAEP-6.1-9"]);
    /// The producer says that a clarification is answered which nobody has answered.
    CLARIFIED_BY_NOBODY = warned_absence("AAEP-6.1-8", &[]);
    /// The producer goes on after a reply to a clarification that failed a check, and no other.
    CLARIFIED_BY_INVALID = absence("AAEP-6.5.5-1", &["AAEP-6.5.5-4", "AAEP-6.1-8"]);
    /// The same, for a response of a kind that was not accepted.
    CLARIFIED_BY_OTHER_TYPE = absence("AAEP-6.5.5-2", &["AAEP-6.5.2-1", "AAEP-6.5.5-4", "AAEP-6.1-8"]);
    /// The same, for a response that is none of the choices.
    CLARIFIED_BY_NO_CHOICE = absence("AAEP-6.5.5-3", &["AAEP-6.5.2-1", "AAEP-6.5.5-4", "AAEP-6.1-8"]);
    /// The same, for a confirmation reply.
    CLARIFIED_BY_CONFIRMATION = absence("AAEP-6.5.1-1", &["AAEP-6.5.5-1", "AAEP-6.5.5-4", "AAEP-6.1-8"]);

    /// Irreversible, high risk, default accept.
    DEFAULT_IRREVERSIBLE_HIGH = violation("AAEP-6.4.1-1", &["AAEP-6.4.1-7", "AAEP-6.9-5"]);
    /// Irreversible, medium risk, default accept.
    DEFAULT_IRREVERSIBLE_MEDIUM = violation("AAEP-6.4.1-2", &[]);
    /// Irreversible, low risk, default accept.
    DEFAULT_IRREVERSIBLE_LOW = warning("AAEP-6.4.1-3", &[]);
    /// Reversible, high risk, default accept.
    DEFAULT_REVERSIBLE_HIGH = warning("AAEP-6.4.1-4", &[]);

    /// A session completes, and one of its outputs never did.
    OUTPUT_NEVER_COMPLETE = absence("AAEP-A.6-1", &[]);
    /// A chunk of an output that is complete.
    CHUNK_AFTER_COMPLETE = violation("AAEP-A.8-6", &["AAEP-A.6-3", "AAEP-A.8-8"]);
    /// A chunk that stands before the one before it.
    POSITION_DECREASES = violation("AAEP-A.8-7", &["AAEP-A.6-2", "AAEP-A.8-8"]);
    /// A chunk that stands within the one before it.
    POSITION_OVERLAPS = violation("AAEP-A.6-2", &[]);
    /// A chunk that stands beyond the end of the one before it.
    POSITION_SKIPS = absence("AAEP-A.6-2", &[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_clauses as clause;

    #[test]
    fn every_rule_names_clauses_of_the_registry() {
        for rule in ALL {
            for id in rule.also.iter().chain([&rule.clause]) {
                assert!(clause::get(id).is_ok(), "{id}");
            }
            assert!(!rule.also.contains(&rule.clause), "{}", rule.clause);
        }
    }
}
