//! The clauses of AAEP, in the order of its registry: chapter 6, the schema of a reply, appendix A, what events have
//! on the wire.
//!
//! The appendix is informative. It has `awaiting_input` be the state of a blocked producer, and is read there as a
//! SHOULD. What it says of a clarification is read as it is worded of a confirmation, and a handoff as what only an
//! end follows.

use crate::clauses;

clauses! { pub const CLAUSES;
    C6_1 "AAEP-6-1" Must "the protocol is required from conformance level 2 up";
    C6_2 "AAEP-6-2" May "the handshake schemas are the canonical machine-readable form"
        free "It permits, and obliges nobody.";
    C6_1_1 "AAEP-6.1-1" Must
        "a producer does not perform the action before a valid accept reply with the matching token, or timeout with default accept"
        ["performs-blocked", "performs-rejected", "accepts-early"];
    C6_1_2 "AAEP-6.1-2" Must "a producer does not drop the action silently on reject (replied or defaulted)"
        free "No output shows it, or another clause carries it.";
    C6_1_3 "AAEP-6.1-3" Must
        "on reject (replied or defaulted) emit a follow-up event that reflects the cancelled action" ["drops-silently"];
    C6_1_4 "AAEP-6.1-4" May "go on with work that does not depend on the confirmation while blocked"
        ["stops-while-blocked"] free "It permits, and obliges nobody.";
    C6_1_5 "AAEP-6.1-5" Must "while blocked, no event implies that the action has been performed" ["announces-blocked"];
    C6_1_6 "AAEP-6.1-6" Must
        "a producer does not ask again for the same action before the prior block is released (by reply or timeout)"
        ["asks-twice"];
    C6_1_7 "AAEP-6.1-7" Must "clarification: honour the reply or the timeout" ["keeps-answer"];
    C6_1_8 "AAEP-6.1-8" Must "a producer does not go on with dependent work before resolution" ["goes-on-unanswered"]
        free "It forbids only what no producer of a search does of itself: the checker names it.";
    C6_1_9 "AAEP-6.1-9" Must "the same contract holds for clarifications (6.1-4 to 6.1-6 too)" ["asks-question-twice"];
    C6_2_1 "AAEP-6.2-1" Must "every blocking event carries a reply_token"
        free "A search knows nothing of the form of an event: the reader of the driver protocol holds it.";
    C6_2_1_1 "AAEP-6.2.1-1" Must "reply_token is 'rpl_' then 1 to 64 ASCII alphanumerics, nothing else"
        free "A search knows nothing of the form of an event: the reader of the driver protocol holds it.";
    C6_2_1_2 "AAEP-6.2.1-2" Should "generate it from 128 cryptographically random bits, as 32 hex digits"
        free "No output shows it, or another clause carries it.";
    C6_2_2_1 "AAEP-6.2.2-1" Must "tokens unique within a producer for the session plus 24 hours at least"
        free "No output shows it, or another clause carries it.";
    C6_2_2_2 "AAEP-6.2.2-2" Should "global uniqueness" free "No output shows it, or another clause carries it.";
    C6_2_2_3 "AAEP-6.2.2-3" Must "a producer does not reuse a token of a prior confirmation, even after its resolution"
        ["reuses-token"];
    C6_2_3_1 "AAEP-6.2.3-1" Must "a subscriber does not parse, interpret or modify a token" free "It binds subscribers.";
    C6_2_3_2 "AAEP-6.2.3-2" Must "a subscriber does not generate tokens" free "It binds subscribers.";
    C6_2_3_3 "AAEP-6.2.3-3" Must "a subscriber does not use a token for anything but echoing it"
        free "It binds subscribers.";
    C6_2_4_1 "AAEP-6.2.4-1" Must "authenticate the sender through the transport before acting, whatever the token";
    C6_3_1_1 "AAEP-6.3.1-1" Must "type is 'confirmation.reply'";
    C6_3_1_2 "AAEP-6.3.1-2" Must "reply_token present: the exact token of the event";
    C6_3_1_3 "AAEP-6.3.1-3" Must "decision present, accept or reject";
    C6_3_1_4 "AAEP-6.3.1-4" Must "subscription_id present";
    C6_3_1_5 "AAEP-6.3.1-5" Must "timestamp present, RFC 3339, the time of the user's decision";
    C6_3_2_1 "AAEP-6.3.2-1" May "decided_by" free "It permits, and obliges nobody.";
    C6_3_2_2 "AAEP-6.3.2-2" May "decision_rationale" free "It permits, and obliges nobody.";
    C6_3_2_3 "AAEP-6.3.2-3" May "support modified_action" free "It permits, and obliges nobody.";
    C6_3_2_4 "AAEP-6.3.2-4" Must "without that support, a reply that carries modified_action counts as reject"
        ["accepts-modified"]
        free "A producer says by what it does whether it supports changes: only one that declares that it does not is found.";
    C6_3_2_5 "AAEP-6.3.2-5" May "correlation_id" free "It permits, and obliges nobody.";
    C6_3_2_6 "AAEP-6.3.2-6" May "modified_action, an object" free "It permits, and obliges nobody.";
    C6_3_4_1 "AAEP-6.3.4-1" Must "check 1: well-formed JSON that conforms to the reply schema" ["honours-malformed"];
    C6_3_4_2 "AAEP-6.3.4-2" Must "check 2: token matches an outstanding confirmation of this producer"
        ["honours-unissued", "spills-over"];
    C6_3_4_3 "AAEP-6.3.4-3" Must "check 3: token not used before" ["honours-used"];
    C6_3_4_4 "AAEP-6.3.4-4" Must "check 4: reply timestamp strictly before event timestamp + timeout_seconds"
        ["honours-late"];
    C6_3_4_5 "AAEP-6.3.4-5" Must "check 5: sender authenticated at the transport"
        ["honours-unauthenticated", "honours-impostor"];
    C6_3_4_6 "AAEP-6.3.4-6" Must "check 6: decision is in the event's allowed_replies (default accept, reject)"
        ["honours-unlisted"];
    C6_3_4_7 "AAEP-6.3.4-7" Must "a reply that fails any check is ignored";
    C6_3_4_8 "AAEP-6.3.4-8" May "log the failure" free "It permits, and obliges nobody.";
    C6_3_4_9 "AAEP-6.3.4-9" Must "a producer does not tell the sender which check failed" ["tells-check"];
    C6_3_5_1 "AAEP-6.3.5-1" Must "honour only the first reply received for a valid token, ignore later ones";
    C6_3_5_2 "AAEP-6.3.5-2" May "courtesy notification to the subscription of a late duplicate"
        free "It permits, and obliges nobody.";
    C6_4_1 "AAEP-6.4-1" Must "no valid reply before timeout_seconds from the event's timestamp: apply default_decision"
        ["forgets-default"];
    C6_4_1_1 "AAEP-6.4.1-1" Must "irreversible, high risk: default is reject" ["defaults-high-risk"];
    C6_4_1_2 "AAEP-6.4.1-2" Must "irreversible, medium risk: default is reject" ["defaults-medium-risk"];
    C6_4_1_3 "AAEP-6.4.1-3" Should "irreversible, low risk: default reject (accept allowed)"
        free "No output shows it, or another clause carries it.";
    C6_4_1_4 "AAEP-6.4.1-4" Should "reversible, high risk: default reject"
        free "No output shows it, or another clause carries it.";
    C6_4_1_5 "AAEP-6.4.1-5" May "reversible, medium risk: either" free "It permits, and obliges nobody.";
    C6_4_1_6 "AAEP-6.4.1-6" May "reversible, low risk: either" free "It permits, and obliges nobody.";
    C6_4_1_7 "AAEP-6.4.1-7" Must "detect and flag default accept on an irreversible high-risk action"
        free "It binds test suites.";
    C6_4_2_1 "AAEP-6.4.2-1" May "recommended timeout ranges per kind of action" free "It permits, and obliges nobody.";
    C6_4_2_2 "AAEP-6.4.2-2" May "ask for a longer timeout" free "It binds subscribers.";
    C6_4_2_3 "AAEP-6.4.2-3" Should "honour reasonable extension requests"
        ["refuses-more-time", "extends-silently", "times-out-unextended", "checks-old-deadline"];
    C6_4_3_1 "AAEP-6.4.3-1" Should "during long timeouts, above all over 60 s, progress events that show the time left"
        free "AAEP-6.4.3-4 requires the same when half of the time is left.";
    C6_4_3_2 "AAEP-6.4.3-2" May "surface the countdown" free "It binds subscribers.";
    C6_4_3_3 "AAEP-6.4.3-3" Must "a subscriber does not depend on countdown events; timeout_seconds rules"
        free "It binds subscribers.";
    C6_4_3_4 "AAEP-6.4.3-4" Should "cadence: one when 50% and one when 10% of the timeout remain"
        free "AAEP-6.4.3-1 requires the same when half of the time is left, and no search comes to a tenth.";
    C6_5_1_1 "AAEP-6.5.1-1" Must "type is 'clarification.reply'";
    C6_5_1_2 "AAEP-6.5.1-2" Must "reply_token echoed";
    C6_5_1_3 "AAEP-6.5.1-3" Must "response present";
    C6_5_1_4 "AAEP-6.5.1-4" Must "subscription_id present";
    C6_5_1_5 "AAEP-6.5.1-5" Must "timestamp present, RFC 3339";
    C6_5_2_1 "AAEP-6.5.2-1" Must
        "freetext: string; yes_no: boolean; multiple_choice: string out of choices; numeric: number";
    C6_5_2_2 "AAEP-6.5.2-2" Must "several accepted kinds: any one of them is accepted" ["takes-first-kind-only"];
    C6_5_3_1 "AAEP-6.5.3-1" May "decided_by" free "It permits, and obliges nobody.";
    C6_5_3_2 "AAEP-6.5.3-2" May "confidence, 0 to 1" free "It permits, and obliges nobody.";
    C6_5_3_3 "AAEP-6.5.3-3" May "correlation_id" free "It permits, and obliges nobody.";
    C6_5_5_1 "AAEP-6.5.5-1" Must "same validation as a confirmation reply" ["honours-other-kind"];
    C6_5_5_2 "AAEP-6.5.5-2" Must "response type matches one of accepted_response_kinds" ["honours-other-type"];
    C6_5_5_3 "AAEP-6.5.5-3" Must "multiple_choice: response is one of choices" ["honours-no-choice"];
    C6_5_5_4 "AAEP-6.5.5-4" Must "failed type validation: as if no reply came; go on waiting" ["gives-up-on-misfit"];
    C6_6_1 "AAEP-6.6-1" Must "a forwarding subscriber declares supports_confirmation_reply false"
        free "It binds subscribers.";
    C6_6_2 "AAEP-6.6-2" Must "it hands the payload on out of band" free "It binds subscribers.";
    C6_6_3 "AAEP-6.6-3" Must "the capable subscriber replies on its own subscription" free "It binds subscribers.";
    C6_6_4 "AAEP-6.6-4" Must "such a reply is treated like any other: token matched, decision applied";
    C6_6_5 "AAEP-6.6-5" May "forwarding is opaque to the producer" free "It permits, and obliges nobody.";
    C6_6_6 "AAEP-6.6-6" May "forward, under 6.6-1 to 6.6-4" free "It binds subscribers.";
    C6_7_1 "AAEP-6.7-1" Must "deliver to every subscription whose capabilities permit; critical is never filtered"
        ["loses-question", "leaves-one-out"];
    C6_7_1_1 "AAEP-6.7.1-1" Must "several subscribers: first valid reply wins, later ones ignored";
    C6_7_1_2 "AAEP-6.7.1-2" May "courtesy notification for late replies" free "It permits, and obliges nobody.";
    C6_7_2_1 "AAEP-6.7.2-1" Should "tell every subscription that had the confirmation the outcome"
        free "A search has outputs in the order in which they are owed: the checker names every other.";
    C6_7_2_2 "AAEP-6.7.2-2" Should
        "the outcome event: state.changed from awaiting_input, to calling_tool on accept, thinking on reject"
        free "It forbids only what no producer of a search does of itself: the checker names it.";
    C6_8_1 "AAEP-6.8-1" May "cancel a pending confirmation before its timeout";
    C6_8_2 "AAEP-6.8-2" Must "session cancelled: every pending confirmation of it is cancelled" ["outlives-session"];
    C6_8_3 "AAEP-6.8-3" Must "one action withdrawn: state.changed to thinking or deciding that explains it"
        ["cancels-silently"];
    C6_8_4 "AAEP-6.8-4" Must "a cancelled token is invalid; replies to it are ignored"
        ["honours-cancelled", "defaults-cancelled"];
    C6_8_5 "AAEP-6.8-5" Should "notice the cancellation and remove the prompt" free "It binds subscribers.";
    C6_8_6 "AAEP-6.8-6" May "tell the user of the cancellation" free "It binds subscribers.";
    C6_9_1 "AAEP-6.9-1" Must "a forged reply (right token, wrong sender) does not authorise";
    C6_9_2 "AAEP-6.9-2" Must "replay: tokens are single-use, bound to their session, bound in time"
        ["performs-twice", "repeats-after-restart"];
    C6_9_3 "AAEP-6.9-3" Should "phishing: verify the producer's identity" free "It binds subscribers.";
    C6_9_4 "AAEP-6.9-4" Must "flooding: critical events are handled even when overwhelmed" free "It binds subscribers.";
    C6_9_5 "AAEP-6.9-5" Must "stalling to force a default accept cannot perform an irreversible high-risk action"
        free "No output shows it, or another clause carries it.";
    C6_9_6 "AAEP-6.9-6" Should "trust policies for unknown producers" free "It binds subscribers.";
    C6_9_7 "AAEP-6.9-7" May "drop excessive events that are not critical" free "It binds subscribers.";
    REPLY_1 "AAEP-REPLY-1" Must "object with type, reply_token, decision, subscription_id, timestamp"
        free "It is a rule of form, which another clause carries.";
    REPLY_2 "AAEP-REPLY-2" Must "type is the constant";
    REPLY_3 "AAEP-REPLY-3" Must "reply_token pattern";
    REPLY_4 "AAEP-REPLY-4" Must "decision enum";
    REPLY_5 "AAEP-REPLY-5" Must "subscription_id: 'sub_' then 1 to 64 ASCII alphanumerics";
    REPLY_6 "AAEP-REPLY-6" Must "timestamp: date-time";
    REPLY_7 "AAEP-REPLY-7" Must "decided_by: 1 to 256 characters";
    REPLY_8 "AAEP-REPLY-8" Must "decision_rationale: 1 to 4096 characters";
    REPLY_9 "AAEP-REPLY-9" Must "modified_action: object";
    REPLY_10 "AAEP-REPLY-10" Must "correlation_id: string";
    REPLY_11 "AAEP-REPLY-11" Must "no other property";
    REPLY_12 "AAEP-REPLY-12" Must "consumed upon the first valid reply; later replies with the token are ignored"
        free "No output shows it, or another clause carries it.";
    REPLY_13 "AAEP-REPLY-13" Must "the token is echoed verbatim" free "It binds subscribers.";
    REPLY_14 "AAEP-REPLY-14" Must "subscription_id is that of an active subscription" ["honours-closed"];
    REPLY_15 "AAEP-REPLY-15" May "custom decisions need values that the event's allowed_replies defines"
        ["takes-unlisted-for-own"] free "It permits, and obliges nobody.";
    A_1 "AAEP-A-1" May "informative; in a conflict chapter 4 prevails" free "It binds test suites.";
    A_1_1 "AAEP-A.1-1" Must "exactly one session.started per session, and it is first" ["starts-twice"];
    A_1_2 "AAEP-A.1-2" Must "exactly one terminal event (completed, errored, cancelled) per session" ["ends-twice"];
    A_1_3 "AAEP-A.1-3" Must "every other event lies between the two" ["asks-after-end", "begins-after-end"];
    A_2_1 "AAEP-A.2-1" May "a session starts in idle" free "It permits, and obliges nobody.";
    A_2_2 "AAEP-A.2-2" Should "awaiting_input while blocked (it may start earlier, A.4)" ["leaves-early"];
    A_2_3 "AAEP-A.2-3" Must "handing_off precedes completed or cancelled" ["works-after-handoff", "hands-off-unsaid"];
    A_2_4 "AAEP-A.2-4" May "further states, with their transitions documented in the manifest"
        free "It permits, and obliges nobody.";
    A_2_5 "AAEP-A.2-5" May "the typical transition graph" free "It permits, and obliges nobody.";
    A_3_1 "AAEP-A.3-1" Must "each tool.invoked has exactly one later tool.completed (by tool_call_id, else by tool)"
        ["leaves-tool-open"];
    A_3_2 "AAEP-A.3-2" Must "no tool.completed comes without a tool.invoked" ["completes-uninvoked"];
    A_3_3 "AAEP-A.3-3" Should "state calling_tool while a tool runs" ["thinks-while-tool-runs"];
    A_3_4 "AAEP-A.3-4" May "several tools in flight, paired by tool_call_id" free "It permits, and obliges nobody.";
    A_4_1 "AAEP-A.4-1" Must "state.changed to awaiting_input at or before awaiting.confirmation" ["asks-without-state"];
    A_4_2 "AAEP-A.4-2" Must "state.changed away from awaiting_input after resolution" ["stays-awaiting"];
    A_4_3 "AAEP-A.4-3" Must "accept: tool.invoked for that action" ["skips-invoked", "invokes-twice"];
    A_4_4 "AAEP-A.4-4" Must "what is rejected has no tool.invoked" ["invokes-rejected"];
    A_5_1 "AAEP-A.5-1" Must "clarification: awaiting_input, then away after reply or timeout" ["stays-after-answer"];
    A_5_2 "AAEP-A.5-2" Must "clarification timeout: default_response where set" ["drops-default-response"];
    A_6_1 "AAEP-A.6-1" Must "exactly one complete:true per output_id" ["leaves-output-open"];
    A_6_2 "AAEP-A.6-2" Must "position increases within an output_id" ["misplaces-chunk"];
    A_6_3 "AAEP-A.6-3" Must "no chunk comes behind complete:true" ["writes-on", "completes-twice"];
    A_7_1_1 "AAEP-A.7.1-1" Must "session.started: no predecessor; its legal successors"
        free "No output shows it, or another clause carries it.";
    A_7_2_1 "AAEP-A.7.2-1" Must "terminal events: no successor" free "No output shows it, or another clause carries it.";
    A_7_2_2 "AAEP-A.7.2-2" May "terminal events: legal predecessors" free "It permits, and obliges nobody.";
    A_7_3_1 "AAEP-A.7.3-1" May "state.changed: legal neighbours" free "It permits, and obliges nobody.";
    A_7_4_1 "AAEP-A.7.4-1" Must "tool.invoked with irreversible:true needs a confirmation.reply with accept before it"
        ["runs-unasked"];
    A_7_4_2 "AAEP-A.7.4-2" Must "tool.invoked: its completion follows"
        free "No output shows it, or another clause carries it.";
    A_7_4_3 "AAEP-A.7.4-3" May "tool.invoked: legal predecessors" free "It permits, and obliges nobody.";
    A_7_5_1 "AAEP-A.7.5-1" Must "tool.completed: its invocation precedes"
        free "No output shows it, or another clause carries it.";
    A_7_5_2 "AAEP-A.7.5-2" May "tool.completed: legal successors" free "It permits, and obliges nobody.";
    A_7_6_1 "AAEP-A.7.6-1" Must
        "awaiting.confirmation: reply or timeout, then state.changed away, and tool.invoked if accepted"
        free "No output shows it, or another clause carries it.";
    A_7_6_2 "AAEP-A.7.6-2" May "awaiting.confirmation: legal predecessors" free "It permits, and obliges nobody.";
    A_7_7_1 "AAEP-A.7.7-1" May "output.streaming: legal neighbours"
        free "A search has outputs in the order in which they are owed: the checker names every other.";
    A_8_1 "AAEP-A.8-1" Must "A.8.1 detected: tool completion without invocation (inferred)" free "It binds test suites.";
    A_8_2 "AAEP-A.8-2" Must "A.8.2 detected: two terminal events (inferred)" free "It binds test suites.";
    A_8_3 "AAEP-A.8-3" Must "A.8.3 detected: event after the terminal event (inferred)" free "It binds test suites.";
    A_8_4 "AAEP-A.8-4" Must "A.8.4 detected: irreversible action without confirmation (inferred)"
        free "It binds test suites.";
    A_8_5 "AAEP-A.8-5" Must "A.8.5 detected: action performed after rejection (inferred)" free "It binds test suites.";
    A_8_6 "AAEP-A.8-6" Must "A.8.6 detected: streaming after completion (inferred)" free "It binds test suites.";
    A_8_7 "AAEP-A.8-7" Must "A.8.7 detected: position decreased (inferred)" free "It binds test suites.";
    A_8_8 "AAEP-A.8-8" Must "a producer does not emit such sequences"
        free "No output shows it, or another clause carries it.";
    A_9_1 "AAEP-A.9-1" May "several producers in one session, told apart by producer; each with its own state"
        free "It permits, and obliges nobody.";
    A_9_2 "AAEP-A.9-2" May "linked sessions, each with its own machine" ["shares-state"]
        free "It permits, and obliges nobody.";
    A_9_3 "AAEP-A.9-3" Should "document the pattern in the manifest"
        free "No output shows it, or another clause carries it.";
    A_10_1 "AAEP-A.10-1" May "a recorded stream can be rendered as a state-machine trace" free "It binds test suites.";
    EV_1 "AAEP-EV-1" Must "envelope: the six required fields, of the right type"
        free "A search knows nothing of the form of an event: the reader of the driver protocol holds it.";
    EV_2 "AAEP-EV-2" Must "identifiers: evt_, sess_, sub_, rpl_ and 1 to 64 ASCII alphanumerics";
    EV_3 "AAEP-EV-3" Must "timestamps: RFC 3339 with 0, 3 or 6 fractional digits, non-decreasing within a session"
        free "It forbids only what no producer of a search does of itself: the checker names it.";
    EV_4 "AAEP-EV-4" Must "sequence_number: 0 at session.started, then +1, on all events of a session or none"
        free "A search has outputs in the order in which they are owed: the checker names every other.";
    EV_5 "AAEP-EV-5" Must "payload: required fields, types, enums and limits of the event type" ["asks-without-time"];
    EV_6 "AAEP-EV-6" Must
        "urgency critical on session.errored, awaiting.confirmation, awaiting.clarification, handoff.requested"
        free "A search knows nothing of the form of an event: the reader of the driver protocol holds it.";
    EV_7 "AAEP-EV-7" Must "event_id unique within the producer"
        free "A search knows nothing of the form of an event: the reader of the driver protocol holds it.";
    EV_8 "AAEP-EV-8" Must
        "the first state.changed leaves idle; each later one leaves the state last entered or implied by other events"
        free "It forbids only what no producer of a search does of itself: the checker names it.";
    EV_9 "AAEP-EV-9" Must "no core type outside the list; foreign types are tolerated by readers"
        free "A search knows nothing of the form of an event: the reader of the driver protocol holds it.";
    EV_10 "AAEP-EV-10" Should "size and nesting limits";
    EV_11 "AAEP-EV-11" Must "the only subscription that could answer closes: the default applies as on timeout"
        ["ignores-closing"];
    EV_12 "AAEP-EV-12" Must "clarification.reply: no other property; decided_by 1 to 256 characters";
    EV_13 "AAEP-EV-13" Must "tool_call_id unique in the session"
        free "It forbids only what no producer of a search does of itself: the checker names it.";
    EV_14 "AAEP-EV-14" Must "supports_confirmation_reply defaults to false"
        free "It is a rule of form, which another clause carries.";
    EV_16 "AAEP-EV-16" Must
        "a subscription without reply capability is not sent confirmations, the default applies at once (against 6.6 and 6.7, DESIGN.md §8)"
        free "It forbids only what no producer of a search does of itself: the checker names it.";
    EV_15 "AAEP-EV-15" Must "say how a confirmation was tied to its tool.invoked" free "It binds test suites.";
}
