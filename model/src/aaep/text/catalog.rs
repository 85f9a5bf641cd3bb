//! What commands need of AAEP: the clauses by which something can be left out, the numbers, and the bounds by their
//! names.

use crate::aaep::text::Aaep;
use crate::aaep::text::alphabet::Output;
use crate::aaep::text::describe;
use crate::aaep::text::environment::Bounds;
use crate::aaep::text::readings::{AMBIGUITIES, DefaultRule, Reading, Unlisted};
use crate::checker::StepText;
use crate::facade::Rule;
use crate::facade::engine::{Catalog, Size, Step, rules, sizes};
use crate::numbers::{Number, Value};
use crate::readings::{Choice, Place};

impl Catalog for Aaep {
    const NAME: &'static str = "aaep";
    const RULES: &'static [Rule] = RULES;
    const PLACES: &'static [Place<Reading>] = AMBIGUITIES;
    const NUMBERS: &'static [Number<Reading>] = NUMBERS;
    const WORLDS: &'static [(&'static str, Bounds)] = &Bounds::WORLDS;
    const OTHER_WORLDS: &'static [(&'static str, Bounds)] = &Bounds::OTHER_WORLDS;
    const SIZES: &'static [Size<Bounds>] = SIZES;
    const LONGEST: usize = 9;

    fn describe(run: &[Step<Self>]) -> Vec<StepText> {
        describe::run(run)
    }

    fn output_text(output: &Output) -> String {
        describe::output(output)
    }
}

sizes! {
    "confirmations" questions 0 3;
    "clarifications" queries 0 3;
    "work" work 0 3;
    "ticks" ticks 0 8;
    "set back" set_back 0 3;
    "crash" crashes 0 3;
    flags
    "two_sessions" two_sessions;
    "minutes" minutes;
    "every_question" every_question;
    "every_query" every_query;
    "every_reply" every_reply;
    "endings" endings;
    "closings" closings;
}

/// Rows of the table of 6.4.1, each with the words of a default decision, the text's first; and what cannot be changed.
macro_rules! numbers {
    ($($name:literal $clause:literal $field:ident $risk:literal $what:literal $first:ident $second:ident $third:ident;)*
        words $word:literal $of:literal $field_of_word:ident $says:literal $($way:ident $value:literal $gloss:literal),+;
        fixed $($fixed:literal [$($for:literal),+] $number:literal $tells:literal;)*) => {
        const NUMBERS: &[Number<Reading>] = &[
            $(Number {
                name: $name,
                clauses: &[$clause],
                what: concat!("the default decision of ", $what),
                value: Value::Word(&[
                    numbers!(@ $field $risk $first),
                    numbers!(@ $field $risk $second),
                    numbers!(@ $field $risk $third),
                ]),
            },)*
            Number {
                name: $word,
                clauses: &[$of],
                what: $says,
                value: Value::Word(&[$(Choice {
                    value: $value,
                    gloss: $gloss,
                    set: |it| it.numbers.$field_of_word = Unlisted::$way,
                }),+]),
            },
            $(Number {
                name: $fixed,
                clauses: &[$($for),+],
                what: $tells,
                value: Value::fixed($number, "the search has no run that tells it from another"),
            },)*
        ];
    };
    (@ $field:ident $risk:literal MustReject) => {
        Choice {
            value: "must-reject",
            gloss: "It is reject.",
            set: |it| it.numbers.$field[$risk] = DefaultRule::MustReject,
        }
    };
    (@ $field:ident $risk:literal ShouldReject) => {
        Choice {
            value: "should-reject",
            gloss: "It should be reject, and may be accept.",
            set: |it| it.numbers.$field[$risk] = DefaultRule::ShouldReject,
        }
    };
    (@ $field:ident $risk:literal Either) => {
        Choice { value: "either", gloss: "It is either.", set: |it| it.numbers.$field[$risk] = DefaultRule::Either }
    };
}

numbers! {
    "default_decision.irreversible_high" "AAEP-6.4.1-1" irreversible 2
        "what is irreversible and of high risk" MustReject ShouldReject Either;
    "default_decision.irreversible_medium" "AAEP-6.4.1-2" irreversible 1
        "what is irreversible and of medium risk" MustReject ShouldReject Either;
    "default_decision.irreversible_low" "AAEP-6.4.1-3" irreversible 0
        "what is irreversible and of low risk" ShouldReject MustReject Either;
    "default_decision.reversible_high" "AAEP-6.4.1-4" reversible 2
        "what can be undone and is of high risk" ShouldReject MustReject Either;
    "default_decision.reversible_medium" "AAEP-6.4.1-5" reversible 1
        "what can be undone and is of medium risk" Either MustReject ShouldReject;
    "default_decision.reversible_low" "AAEP-6.4.1-6" reversible 0
        "what can be undone and is of low risk" Either MustReject ShouldReject;
    words "allowed_replies.absent" "AAEP-6.3.4-6" unlisted "what may be replied to a confirmation without a list of replies"
        AcceptOrReject "accept-or-reject" "Either.", Accept "accept" "Accept alone.", Reject "reject" "Reject alone.";
    fixed
    "timeouts.shortest" ["AAEP-EV-5"] "1" "the least timeout_seconds";
    "timeouts.longest" ["AAEP-EV-5"] "86400" "the greatest timeout_seconds";
    "timeouts.recommended.irreversible_high" ["AAEP-6.4.2-1"] "[180, 600]"
        "the recommended timeout_seconds, from and to, of what is irreversible and of high risk";
    "timeouts.recommended.irreversible_medium" ["AAEP-6.4.2-1"] "[60, 180]"
        "the same of what is irreversible and of medium risk";
    "timeouts.recommended.reversible_low" ["AAEP-6.4.2-1"] "[30, 90]"
        "the same of what can be undone and is of low risk";
    "timeouts.recommended.clarification" ["AAEP-6.4.2-1"] "[60, 300]" "the same of a clarification";
    "countdown.above" ["AAEP-6.4.3-1"] "60" "the timeout_seconds above which the time left is told";
    "countdown.percent_left" ["AAEP-6.4.3-4"] "[50, 10]" "at how much of the timeout the time left is told, in percent";
    "tokens.longest" ["AAEP-6.2.1-1"] "64" "the most characters of a reply token behind its prefix";
    "tokens.entropy_bits" ["AAEP-6.2.1-2"] "128" "the recommended entropy of a reply token, in bits";
    "tokens.unique_hours" ["AAEP-6.2.2-1"] "24" "how long behind its session a reply token stays unique, in hours";
    "identifiers.longest" ["AAEP-EV-2", "AAEP-REPLY-5"] "64"
        "the most characters of any other identifier behind its prefix";
    "texts.decided_by" ["AAEP-REPLY-7", "AAEP-EV-12"] "256" "the most characters of decided_by";
    "texts.decision_rationale" ["AAEP-REPLY-8"] "4096" "the most characters of decision_rationale";
    "texts.confidence" ["AAEP-6.5.3-2"] "[0, 1]" "the least and the greatest confidence";
    "conformance.level" ["AAEP-6-1"] "2" "the conformance level from which the protocol is required";
}

rules! {
    "AAEP-6-1" "the protocol is required from conformance level 2 up";
    "AAEP-6-2" "the handshake schemas are the canonical machine-readable form"
        free "It permits, and obliges nobody.";
    "AAEP-6.1-1"
        "a producer does not perform the action before a valid accept reply with the matching token, or timeout with default accept"
        ["performs-blocked", "performs-rejected", "accepts-early"];
    "AAEP-6.1-2" "a producer does not drop the action silently on reject (replied or defaulted)"
        free "No output shows it, or another clause carries it.";
    "AAEP-6.1-3" "on reject (replied or defaulted) emit a follow-up event that reflects the cancelled action"
        ["drops-silently"];
    "AAEP-6.1-4" "go on with work that does not depend on the confirmation while blocked"
        ["stops-while-blocked"]
        free "It permits, and obliges nobody.";
    "AAEP-6.1-5" "while blocked, no event implies that the action has been performed"
        ["announces-blocked"];
    "AAEP-6.1-6"
        "a producer does not ask again for the same action before the prior block is released (by reply or timeout)"
        ["asks-twice"];
    "AAEP-6.1-7" "clarification: honour the reply or the timeout"
        ["keeps-answer"];
    "AAEP-6.1-8" "a producer does not go on with dependent work before resolution"
        ["goes-on-unanswered"];
    "AAEP-6.1-9" "the same contract holds for clarifications (6.1-4 to 6.1-6 too)"
        ["asks-question-twice"];
    "AAEP-6.2-1" "every blocking event carries a reply_token";
    "AAEP-6.2.1-1" "reply_token is 'rpl_' then 1 to 64 ASCII alphanumerics, nothing else";
    "AAEP-6.2.1-2" "generate it from 128 cryptographically random bits, as 32 hex digits"
        free "No output shows it, or another clause carries it.";
    "AAEP-6.2.2-1" "tokens unique within a producer for the session plus 24 hours at least"
        free "No output shows it, or another clause carries it.";
    "AAEP-6.2.2-2" "global uniqueness"
        free "No output shows it, or another clause carries it.";
    "AAEP-6.2.2-3" "a producer does not reuse a token of a prior confirmation, even after its resolution"
        ["reuses-token"];
    "AAEP-6.2.3-1" "a subscriber does not parse, interpret or modify a token"
        free "It binds subscribers.";
    "AAEP-6.2.3-2" "a subscriber does not generate tokens"
        free "It binds subscribers.";
    "AAEP-6.2.3-3" "a subscriber does not use a token for anything but echoing it"
        free "It binds subscribers.";
    "AAEP-6.2.4-1" "authenticate the sender through the transport before acting, whatever the token";
    "AAEP-6.3.1-1" "type is 'confirmation.reply'";
    "AAEP-6.3.1-2" "reply_token present: the exact token of the event";
    "AAEP-6.3.1-3" "decision present, accept or reject";
    "AAEP-6.3.1-4" "subscription_id present";
    "AAEP-6.3.1-5" "timestamp present, RFC 3339, the time of the user's decision";
    "AAEP-6.3.2-1" "decided_by"
        free "It permits, and obliges nobody.";
    "AAEP-6.3.2-2" "decision_rationale"
        free "It permits, and obliges nobody.";
    "AAEP-6.3.2-3" "support modified_action"
        free "It permits, and obliges nobody.";
    "AAEP-6.3.2-4" "without that support, a reply that carries modified_action counts as reject"
        ["accepts-modified"];
    "AAEP-6.3.2-5" "correlation_id"
        free "It permits, and obliges nobody.";
    "AAEP-6.3.2-6" "modified_action, an object"
        free "It permits, and obliges nobody.";
    "AAEP-6.3.4-1" "check 1: well-formed JSON that conforms to the reply schema"
        ["honours-malformed"];
    "AAEP-6.3.4-2" "check 2: token matches an outstanding confirmation of this producer"
        ["honours-unissued", "spills-over"];
    "AAEP-6.3.4-3" "check 3: token not used before"
        ["honours-used"];
    "AAEP-6.3.4-4" "check 4: reply timestamp strictly before event timestamp + timeout_seconds"
        ["honours-late"];
    "AAEP-6.3.4-5" "check 5: sender authenticated at the transport"
        ["honours-unauthenticated", "honours-impostor"];
    "AAEP-6.3.4-6" "check 6: decision is in the event's allowed_replies (default accept, reject)"
        ["honours-unlisted"];
    "AAEP-6.3.4-7" "a reply that fails any check is ignored";
    "AAEP-6.3.4-8" "log the failure"
        free "It permits, and obliges nobody.";
    "AAEP-6.3.4-9" "a producer does not tell the sender which check failed"
        ["tells-check"];
    "AAEP-6.3.5-1" "honour only the first reply received for a valid token, ignore later ones";
    "AAEP-6.3.5-2" "courtesy notification to the subscription of a late duplicate";
    "AAEP-6.4-1" "no valid reply before timeout_seconds from the event's timestamp: apply default_decision"
        ["forgets-default"];
    "AAEP-6.4.1-1" "irreversible, high risk: default is reject"
        ["defaults-high-risk"];
    "AAEP-6.4.1-2" "irreversible, medium risk: default is reject"
        ["defaults-medium-risk"];
    "AAEP-6.4.1-3" "irreversible, low risk: default reject (accept allowed)"
        free "No output shows it, or another clause carries it.";
    "AAEP-6.4.1-4" "reversible, high risk: default reject"
        free "No output shows it, or another clause carries it.";
    "AAEP-6.4.1-5" "reversible, medium risk: either"
        free "It permits, and obliges nobody.";
    "AAEP-6.4.1-6" "reversible, low risk: either"
        free "It permits, and obliges nobody.";
    "AAEP-6.4.1-7" "detect and flag default accept on an irreversible high-risk action"
        free "It binds test suites.";
    "AAEP-6.4.2-1" "recommended timeout ranges per kind of action"
        free "It permits, and obliges nobody.";
    "AAEP-6.4.2-2" "ask for a longer timeout"
        free "It binds subscribers.";
    "AAEP-6.4.2-3" "honour reasonable extension requests"
        ["refuses-more-time", "extends-silently", "times-out-unextended", "checks-old-deadline"];
    "AAEP-6.4.3-1" "during long timeouts, above all over 60 s, progress events that show the time left";
    "AAEP-6.4.3-2" "surface the countdown"
        free "It binds subscribers.";
    "AAEP-6.4.3-3" "a subscriber does not depend on countdown events; timeout_seconds rules"
        free "It binds subscribers.";
    "AAEP-6.4.3-4" "cadence: one when 50% and one when 10% of the timeout remain";
    "AAEP-6.5.1-1" "type is 'clarification.reply'";
    "AAEP-6.5.1-2" "reply_token echoed";
    "AAEP-6.5.1-3" "response present";
    "AAEP-6.5.1-4" "subscription_id present";
    "AAEP-6.5.1-5" "timestamp present, RFC 3339";
    "AAEP-6.5.2-1" "freetext: string; yes_no: boolean; multiple_choice: string out of choices; numeric: number";
    "AAEP-6.5.2-2" "several accepted kinds: any one of them is accepted"
        ["takes-first-kind-only"];
    "AAEP-6.5.3-1" "decided_by"
        free "It permits, and obliges nobody.";
    "AAEP-6.5.3-2" "confidence, 0 to 1"
        free "It permits, and obliges nobody.";
    "AAEP-6.5.3-3" "correlation_id"
        free "It permits, and obliges nobody.";
    "AAEP-6.5.5-1" "same validation as a confirmation reply"
        ["honours-other-kind"];
    "AAEP-6.5.5-2" "response type matches one of accepted_response_kinds"
        ["honours-other-type"];
    "AAEP-6.5.5-3" "multiple_choice: response is one of choices"
        ["honours-no-choice"];
    "AAEP-6.5.5-4" "failed type validation: as if no reply came; go on waiting"
        ["gives-up-on-misfit"];
    "AAEP-6.6-1" "a forwarding subscriber declares supports_confirmation_reply false"
        free "It binds subscribers.";
    "AAEP-6.6-2" "it hands the payload on out of band"
        free "It binds subscribers.";
    "AAEP-6.6-3" "the capable subscriber replies on its own subscription"
        free "It binds subscribers.";
    "AAEP-6.6-4" "such a reply is treated like any other: token matched, decision applied";
    "AAEP-6.6-5" "forwarding is opaque to the producer"
        free "It permits, and obliges nobody.";
    "AAEP-6.6-6" "forward, under 6.6-1 to 6.6-4"
        free "It binds subscribers.";
    "AAEP-6.7-1" "deliver to every subscription whose capabilities permit; critical is never filtered"
        ["loses-question", "leaves-one-out"];
    "AAEP-6.7.1-1" "several subscribers: first valid reply wins, later ones ignored";
    "AAEP-6.7.1-2" "courtesy notification for late replies"
        free "It permits, and obliges nobody.";
    "AAEP-6.7.2-1" "tell every subscription that had the confirmation the outcome";
    "AAEP-6.7.2-2"
        "the outcome event: state.changed from awaiting_input, to calling_tool on accept, thinking on reject";
    "AAEP-6.8-1" "cancel a pending confirmation before its timeout";
    "AAEP-6.8-2" "session cancelled: every pending confirmation of it is cancelled"
        ["outlives-session"];
    "AAEP-6.8-3" "one action withdrawn: state.changed to thinking or deciding that explains it"
        ["cancels-silently"];
    "AAEP-6.8-4" "a cancelled token is invalid; replies to it are ignored"
        ["honours-cancelled", "defaults-cancelled"];
    "AAEP-6.8-5" "notice the cancellation and remove the prompt"
        free "It binds subscribers.";
    "AAEP-6.8-6" "tell the user of the cancellation"
        free "It binds subscribers.";
    "AAEP-6.9-1" "a forged reply (right token, wrong sender) does not authorise";
    "AAEP-6.9-2" "replay: tokens are single-use, bound to their session, bound in time"
        ["performs-twice", "repeats-after-restart"];
    "AAEP-6.9-3" "phishing: verify the producer's identity"
        free "It binds subscribers.";
    "AAEP-6.9-4" "flooding: critical events are handled even when overwhelmed"
        free "It binds subscribers.";
    "AAEP-6.9-5" "stalling to force a default accept cannot perform an irreversible high-risk action"
        free "No output shows it, or another clause carries it.";
    "AAEP-6.9-6" "trust policies for unknown producers"
        free "It binds subscribers.";
    "AAEP-6.9-7" "drop excessive events that are not critical"
        free "It binds subscribers.";
    "AAEP-REPLY-1" "object with type, reply_token, decision, subscription_id, timestamp"
        free "It is a rule of form, which another clause carries.";
    "AAEP-REPLY-2" "type is the constant";
    "AAEP-REPLY-3" "reply_token pattern";
    "AAEP-REPLY-4" "decision enum";
    "AAEP-REPLY-5" "subscription_id: 'sub_' then 1 to 64 ASCII alphanumerics";
    "AAEP-REPLY-6" "timestamp: date-time";
    "AAEP-REPLY-7" "decided_by: 1 to 256 characters";
    "AAEP-REPLY-8" "decision_rationale: 1 to 4096 characters";
    "AAEP-REPLY-9" "modified_action: object";
    "AAEP-REPLY-10" "correlation_id: string";
    "AAEP-REPLY-11" "no other property";
    "AAEP-REPLY-12" "consumed upon the first valid reply; later replies with the token are ignored"
        free "No output shows it, or another clause carries it.";
    "AAEP-REPLY-13" "the token is echoed verbatim"
        free "It binds subscribers.";
    "AAEP-REPLY-14" "subscription_id is that of an active subscription"
        ["honours-closed"];
    "AAEP-REPLY-15" "custom decisions need values that the event's allowed_replies defines"
        ["takes-unlisted-for-own"]
        free "It permits, and obliges nobody.";
    "AAEP-A-1" "informative; in a conflict chapter 4 prevails"
        free "It binds test suites.";
    "AAEP-A.1-1" "exactly one session.started per session, and it is first"
        ["starts-twice"];
    "AAEP-A.1-2" "exactly one terminal event (completed, errored, cancelled) per session"
        ["ends-twice"];
    "AAEP-A.1-3" "every other event lies between the two"
        ["asks-after-end", "begins-after-end"];
    "AAEP-A.2-1" "a session starts in idle"
        free "It permits, and obliges nobody.";
    "AAEP-A.2-2" "awaiting_input while blocked (it may start earlier, A.4)"
        ["leaves-early"];
    "AAEP-A.2-3" "handing_off precedes completed or cancelled"
        ["works-after-handoff", "hands-off-unsaid"];
    "AAEP-A.2-4" "further states, with their transitions documented in the manifest"
        free "It permits, and obliges nobody.";
    "AAEP-A.2-5" "the typical transition graph"
        free "It permits, and obliges nobody.";
    "AAEP-A.3-1" "each tool.invoked has exactly one later tool.completed (by tool_call_id, else by tool)"
        ["leaves-tool-open"];
    "AAEP-A.3-2" "no tool.completed comes without a tool.invoked"
        ["completes-uninvoked"];
    "AAEP-A.3-3" "state calling_tool while a tool runs"
        ["thinks-while-tool-runs"];
    "AAEP-A.3-4" "several tools in flight, paired by tool_call_id"
        free "It permits, and obliges nobody.";
    "AAEP-A.4-1" "state.changed to awaiting_input at or before awaiting.confirmation"
        ["asks-without-state"];
    "AAEP-A.4-2" "state.changed away from awaiting_input after resolution"
        ["stays-awaiting"];
    "AAEP-A.4-3" "accept: tool.invoked for that action"
        ["skips-invoked", "invokes-twice"];
    "AAEP-A.4-4" "what is rejected has no tool.invoked"
        ["invokes-rejected"];
    "AAEP-A.5-1" "clarification: awaiting_input, then away after reply or timeout"
        ["stays-after-answer"];
    "AAEP-A.5-2" "clarification timeout: default_response where set"
        ["drops-default-response"];
    "AAEP-A.6-1" "exactly one complete:true per output_id"
        ["leaves-output-open"];
    "AAEP-A.6-2" "position increases within an output_id"
        ["misplaces-chunk"];
    "AAEP-A.6-3" "no chunk comes behind complete:true"
        ["writes-on", "completes-twice"];
    "AAEP-A.7.1-1" "session.started: no predecessor; its legal successors"
        free "No output shows it, or another clause carries it.";
    "AAEP-A.7.2-1" "terminal events: no successor"
        free "No output shows it, or another clause carries it.";
    "AAEP-A.7.2-2" "terminal events: legal predecessors"
        free "It permits, and obliges nobody.";
    "AAEP-A.7.3-1" "state.changed: legal neighbours"
        free "It permits, and obliges nobody.";
    "AAEP-A.7.4-1" "tool.invoked with irreversible:true needs a confirmation.reply with accept before it"
        ["runs-unasked"];
    "AAEP-A.7.4-2" "tool.invoked: its completion follows"
        free "No output shows it, or another clause carries it.";
    "AAEP-A.7.4-3" "tool.invoked: legal predecessors"
        free "It permits, and obliges nobody.";
    "AAEP-A.7.5-1" "tool.completed: its invocation precedes"
        free "No output shows it, or another clause carries it.";
    "AAEP-A.7.5-2" "tool.completed: legal successors"
        free "It permits, and obliges nobody.";
    "AAEP-A.7.6-1" "awaiting.confirmation: reply or timeout, then state.changed away, and tool.invoked if accepted"
        free "No output shows it, or another clause carries it.";
    "AAEP-A.7.6-2" "awaiting.confirmation: legal predecessors"
        free "It permits, and obliges nobody.";
    "AAEP-A.7.7-1" "output.streaming: legal neighbours";
    "AAEP-A.8-1" "A.8.1 detected: tool completion without invocation (inferred)"
        free "It binds test suites.";
    "AAEP-A.8-2" "A.8.2 detected: two terminal events (inferred)"
        free "It binds test suites.";
    "AAEP-A.8-3" "A.8.3 detected: event after the terminal event (inferred)"
        free "It binds test suites.";
    "AAEP-A.8-4" "A.8.4 detected: irreversible action without confirmation (inferred)"
        free "It binds test suites.";
    "AAEP-A.8-5" "A.8.5 detected: action performed after rejection (inferred)"
        free "It binds test suites.";
    "AAEP-A.8-6" "A.8.6 detected: streaming after completion (inferred)"
        free "It binds test suites.";
    "AAEP-A.8-7" "A.8.7 detected: position decreased (inferred)"
        free "It binds test suites.";
    "AAEP-A.8-8" "a producer does not emit such sequences"
        free "No output shows it, or another clause carries it.";
    "AAEP-A.9-1" "several producers in one session, told apart by producer; each with its own state"
        free "It permits, and obliges nobody.";
    "AAEP-A.9-2" "linked sessions, each with its own machine"
        ["shares-state"]
        free "It permits, and obliges nobody.";
    "AAEP-A.9-3" "document the pattern in the manifest"
        free "No output shows it, or another clause carries it.";
    "AAEP-A.10-1" "a recorded stream can be rendered as a state-machine trace"
        free "It binds test suites.";
    "AAEP-EV-1" "envelope: the six required fields, of the right type";
    "AAEP-EV-2" "identifiers: evt_, sess_, sub_, rpl_ and 1 to 64 ASCII alphanumerics";
    "AAEP-EV-3" "timestamps: RFC 3339 with 0, 3 or 6 fractional digits, non-decreasing within a session";
    "AAEP-EV-4" "sequence_number: 0 at session.started, then +1, on all events of a session or none";
    "AAEP-EV-5" "payload: required fields, types, enums and limits of the event type"
        ["asks-without-time"];
    "AAEP-EV-6" "urgency critical on session.errored, awaiting.confirmation, awaiting.clarification, handoff.requested";
    "AAEP-EV-7" "event_id unique within the producer";
    "AAEP-EV-8"
        "the first state.changed leaves idle; each later one leaves the state last entered or implied by other events";
    "AAEP-EV-9" "no core type outside the list; foreign types are tolerated by readers";
    "AAEP-EV-10" "size and nesting limits";
    "AAEP-EV-11" "the only subscription that could answer closes: the default applies as on timeout"
        ["ignores-closing"];
    "AAEP-EV-12" "clarification.reply: no other property; decided_by 1 to 256 characters";
    "AAEP-EV-13" "tool_call_id unique in the session";
    "AAEP-EV-14" "supports_confirmation_reply defaults to false"
        free "It is a rule of form, which another clause carries.";
    "AAEP-EV-16"
        "a subscription without reply capability is not sent confirmations, the default applies at once (against 6.6 and 6.7, DESIGN.md §8)";
    "AAEP-EV-15" "say how a confirmation was tied to its tool.invoked"
        free "It binds test suites.";
}
