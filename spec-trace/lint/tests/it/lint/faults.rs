//! The streams of `traces/invalid`, each with its one fault.

use countersign_lint::rules::Weight::{self, Violation, Warning};

/// Each stream, and what it has to be accused of: the clause, the line, and how much it weighs.
const INVALID: &str = "
AAEP-6.1-1_call-that-calls-a-withdrawn-question-accepted  AAEP-6.1-1 6 violation
AAEP-6.1-1_completes-after-a-timeout-that-rejects  AAEP-6.1-1 7 violation
AAEP-6.1-1_reversible-call-by-id-before-acceptance  AAEP-6.1-1 6 violation
AAEP-6.1-3_rejected-and-over  AAEP-6.1-3 6 violation
AAEP-6.1-3_rejected-and-nothing-more  AAEP-6.1-3 6 violation
AAEP-6.1-6_asked-again-in-the-same-words  AAEP-6.1-6 5 warning
AAEP-6.1-6_asked-again-while-open  AAEP-6.1-6 5 violation
AAEP-6.1-7_nothing-came-of-a-clarification-and-no-replies-recorded  AAEP-6.1-7 5 warning
AAEP-6.1-7_says-that-nobody-answered-whom-a-valid-reply-had-answered  AAEP-6.1-7 6 violation
AAEP-6.1-7_timeout-of-a-clarification-never-fires  AAEP-6.1-7 6 warning
AAEP-6.1-8_clarification-that-nobody-has-answered  AAEP-6.1-8 6 warning
AAEP-6.1-9_clarification-asked-again-while-open  AAEP-6.1-9 5 warning
AAEP-6.2-1_question-without-token  AAEP-6.2-1 4 violation
AAEP-6.2.1-1_token-of-65-characters  AAEP-6.2.1-1 4 violation
AAEP-6.2.1-1_token-with-a-dash  AAEP-6.2.1-1 4 violation
AAEP-6.2.2-2_two-producers-and-one-token  AAEP-6.2.2-2 6 warning
AAEP-6.2.2-3_clarification-with-the-token-of-a-confirmation  AAEP-6.2.2-3 8 violation
AAEP-6.2.2-3_token-of-a-question-before  AAEP-6.2.2-3 8 violation
AAEP-6.2.2-3_token-of-another-session  AAEP-6.2.2-3 11 violation
AAEP-6.3.1-1_clarification-reply-on-a-confirmation  AAEP-6.3.1-1 7 violation
AAEP-6.3.4-1_reply-that-is-cut-off  AAEP-6.3.4-1 7 violation
AAEP-6.3.4-1_reply-with-a-modification-that-is-no-object  AAEP-6.3.4-1 7 violation
AAEP-6.3.4-1_reply-with-a-property-of-its-own  AAEP-6.3.4-1 7 violation
AAEP-6.3.4-1_reply-with-an-empty-rationale  AAEP-6.3.4-1 7 violation
AAEP-6.3.4-1_reply-without-subscription  AAEP-6.3.4-1 7 violation
AAEP-6.3.4-3_acceptance-after-the-default-rejected  AAEP-6.3.4-3 7 violation
AAEP-6.3.4-4_reply-decided-at-the-deadline  AAEP-6.3.4-4 7 violation
AAEP-6.3.4-4_reply-decided-at-the-end-of-more-time  AAEP-6.3.4-4 8 violation
AAEP-6.3.4-5_reply-of-a-sender-that-the-transport-refused  AAEP-6.3.4-5 7 violation
AAEP-6.3.4-5_reply-of-a-stranger-that-the-transport-let-in  AAEP-6.3.4-5 7 violation
AAEP-6.3.4-5_status-that-is-written-with-a-fraction  AAEP-6.3.4-5 7 violation
AAEP-6.3.4-6_decision-that-no-question-knows  AAEP-6.3.4-6 7 violation
AAEP-6.3.4-6_decision-that-was-not-allowed  AAEP-6.3.4-6 7 violation
AAEP-6.3.4-9_sender-is-told-that-the-reply-expired  AAEP-6.3.4-9 5 violation
AAEP-6.3.4-9_sender-is-told-that-the-token-is-unknown  AAEP-6.3.4-9 5 violation
AAEP-6.3.4-9_sender-is-told-that-the-reply-is-no-json  AAEP-6.3.4-9 5 warning
AAEP-6.3.4-9_status-tells-one-check-from-another  AAEP-6.3.4-9 6 warning
AAEP-6.3.5-1_duplicate-acceptance-and-two-calls-by-id  AAEP-6.3.5-1 10 violation
AAEP-6.3.5-1_one-acceptance-and-two-calls  AAEP-6.3.5-1 9 violation
AAEP-6.4-1_default-accept-never-fires  AAEP-6.4-1 6 violation
AAEP-6.4-1_nothing-came-at-the-end-of-more-time  AAEP-6.4-1 7 violation
AAEP-6.4-1_session-completes-a-minute-after-a-timeout-that-never-fired  AAEP-6.4-1 6 violation
AAEP-6.4-1_session-completes-after-a-timeout-that-never-fired  AAEP-6.4-1 6 violation
AAEP-6.4-1_timeout-never-fires-while-the-stream-goes-on  AAEP-6.4-1 7 violation
AAEP-6.4.1-1_irreversible-high-defaults-to-accept  AAEP-6.4.1-1 4 violation
AAEP-6.4.1-1_irreversible-in-words-high-defaults-to-accept  AAEP-6.4.1-1 4 violation
AAEP-6.4.1-2_irreversible-medium-defaults-to-accept  AAEP-6.4.1-2 4 violation
AAEP-6.4.1-3_irreversible-low-defaults-to-accept  AAEP-6.4.1-3 4 warning
AAEP-6.4.1-4_reversible-high-defaults-to-accept  AAEP-6.4.1-4 4 warning
AAEP-6.4.3-1_long-timeout-without-countdown  AAEP-6.4.3-1 6 warning
AAEP-6.4.3-4_countdown-stops-at-half-time  AAEP-6.4.3-4 7 warning
AAEP-6.5.1-1_confirmation-reply-that-is-taken-for-an-answer  AAEP-6.5.1-1 6 violation
AAEP-6.5.1-1_confirmation-reply-on-a-clarification  AAEP-6.5.1-1 6 violation
AAEP-6.5.5-1_response-decided-at-the-deadline  AAEP-6.5.5-1 6 violation
AAEP-6.5.5-1_response-with-a-confidence-beyond-one  AAEP-6.5.5-1 6 violation
AAEP-6.5.5-2_response-of-another-kind  AAEP-6.5.5-2 6 violation
AAEP-6.5.5-2_yes-where-a-choice-is-asked-for-and-taken  AAEP-6.5.5-2 6 violation
AAEP-6.5.5-3_choice-that-is-not-listed-and-taken  AAEP-6.5.5-3 6 violation
AAEP-6.5.5-3_response-that-is-no-choice  AAEP-6.5.5-3 6 violation
AAEP-6.8-4_acceptance-after-withdrawal  AAEP-6.8-4 7 violation
AAEP-6.9-5_question-of-low-risk-times-out-for-a-call-of-high-risk  AAEP-6.9-5 7 violation
AAEP-A.1-1_first-event-is-not-the-start  AAEP-A.1-1 1 violation
AAEP-A.1-1_started-again-after-its-end  AAEP-A.1-1 4 violation
AAEP-A.1-1_started-behind-another-event  AAEP-A.1-1 2 violation
AAEP-A.1-1_started-twice  AAEP-A.1-1 3 violation
AAEP-A.3-1_call-never-completes  AAEP-A.3-1 5 violation
AAEP-A.3-3_thinking-while-a-tool-runs  AAEP-A.3-3 5 warning
AAEP-A.4-1_asked-while-thinking  AAEP-A.4-1 3 warning
AAEP-A.4-2_awaiting-input-to-the-end  AAEP-A.4-2 8 warning
AAEP-A.4-2_no-state-after-rejection  AAEP-A.4-2 7 violation
AAEP-A.4-2_nothing-came-of-a-question-and-no-replies-recorded  AAEP-A.4-2 5 violation
AAEP-A.4-3_accepted-and-talked-about  AAEP-A.4-3 7 violation
AAEP-A.4-3_accepted-and-never-called  AAEP-A.4-3 7 violation
AAEP-A.4-3_called-while-the-question-is-open-and-not-behind-its-acceptance  AAEP-A.4-3 9 violation
AAEP-A.4-3_default-accepts-and-nothing-is-called  AAEP-A.4-3 7 violation
AAEP-A.4-3_two-accepted-and-one-call  AAEP-A.4-3 12 violation
AAEP-A.5-1_awaiting-input-to-the-end  AAEP-A.5-1 6 warning
AAEP-A.5-1_clarification-while-thinking  AAEP-A.5-1 3 warning
AAEP-A.6-1_output-never-completes  AAEP-A.6-1 6 violation
AAEP-A.6-1_output-without-id-never-completes  AAEP-A.6-1 6 violation
AAEP-A.6-2_output-begins-beyond-its-beginning  AAEP-A.6-2 4 violation
AAEP-A.6-2_position-skips  AAEP-A.6-2 5 violation
AAEP-A.6-2_position-within-the-chunk-before  AAEP-A.6-2 5 violation
AAEP-A.6-3_completed-twice-over  AAEP-A.8-6 5 violation
AAEP-A.7.4-1_accepted-after-called-and-logged-after-the-end  AAEP-A.7.4-1 6 violation
AAEP-A.7.4-1_called-before-accepted  AAEP-A.7.4-1 6 violation
AAEP-A.7.4-1_called-before-accepted-and-another-was-accepted  AAEP-A.7.4-1 11 violation
AAEP-A.7.4-1_called-before-accepted-and-another-was-rejected  AAEP-A.7.4-1 9 violation
AAEP-A.7.4-1_called-just-before-the-timeout-accepts  AAEP-A.7.4-1 7 violation
AAEP-A.7.4-1_reply-of-another-token  AAEP-A.7.4-1 7 violation
AAEP-A.7.4-1_timeout-whose-default-is-reject  AAEP-A.7.4-1 7 violation
AAEP-A.7.4-3_call-while-writing  AAEP-A.7.4-3 4 warning
AAEP-A.7.7-1_output-while-thinking  AAEP-A.7.7-1 4 warning
AAEP-A.8-1_accepted-and-completed-and-never-called  AAEP-A.8-1 7 violation
AAEP-A.8-1_completed-twice  AAEP-A.8-1 4 violation
AAEP-A.8-1_completion-under-another-id  AAEP-A.8-1 3 violation
AAEP-A.8-1_completion-without-call  AAEP-A.8-1 2 violation
AAEP-A.8-2_cancelled-then-completed  AAEP-A.8-2 3 violation
AAEP-A.8-2_completed-then-errored  AAEP-A.8-2 3 violation
AAEP-A.8-3_call-after-the-end  AAEP-A.8-3 3 violation
AAEP-A.8-3_call-of-a-question-that-was-cancelled-with-its-session  AAEP-A.8-3 10 violation
AAEP-A.8-4_acceptance-led-to-another-call  AAEP-A.8-4 9 violation
AAEP-A.8-4_acceptance-of-the-call-that-it-names  AAEP-A.8-4 9 violation
AAEP-A.8-4_called-then-asked-then-accepted  AAEP-A.8-4 4 violation
AAEP-A.8-4_called-then-asked-then-rejected-then-accepted  AAEP-A.8-4 4 violation
AAEP-A.8-4_irreversible-and-never-asked  AAEP-A.8-4 3 violation
AAEP-A.8-4_never-asked-and-no-replies-recorded  AAEP-A.8-4 8 violation
AAEP-A.8-5_rejected-by-one-and-accepted-by-another-later  AAEP-A.8-5 8 violation
AAEP-A.8-5_called-after-rejection  AAEP-A.8-5 7 violation
AAEP-A.8-5_completes-after-the-question-about-it-was-rejected  AAEP-A.8-5 7 violation
AAEP-A.8-5_modified-rejection  AAEP-A.8-5 7 violation
AAEP-A.8-5_one-of-two-rejected  AAEP-A.8-5 11 violation
AAEP-A.8-5_rejected-first-and-accepted-later  AAEP-A.8-5 8 violation
AAEP-A.8-5_reversible-call-after-rejection-by-id  AAEP-A.8-5 7 violation
AAEP-A.8-6_chunk-after-the-last  AAEP-A.8-6 5 violation
AAEP-A.8-7_position-decreases  AAEP-A.8-7 6 violation
AAEP-EV-10_integer-beyond-2-to-53  AAEP-EV-10 3 warning
AAEP-EV-10_nested-too-deep  AAEP-EV-10 3 warning
AAEP-EV-10_string-beyond-16-kib  AAEP-EV-10 3 warning
AAEP-EV-13_two-calls-with-one-id  AAEP-EV-13 4 violation
AAEP-EV-1_duplicate-key  AAEP-EV-1 3 violation
AAEP-EV-1_event-without-id  AAEP-EV-1 3 violation
AAEP-EV-1_extension-that-is-no-object  AAEP-EV-1 3 violation
AAEP-EV-1_no-session  AAEP-EV-1 3 violation
AAEP-EV-1_no-timestamp  AAEP-EV-1 3 violation
AAEP-EV-1_no-type  AAEP-EV-1 3 violation
AAEP-EV-1_not-an-object  AAEP-EV-1 3 violation
AAEP-EV-1_not-json  AAEP-EV-1 3 violation
AAEP-EV-1_other-context  AAEP-EV-1 2 violation
AAEP-EV-1_producer-without-agent  AAEP-EV-1 3 violation
AAEP-EV-1_raw-message-of-the-producer  AAEP-EV-1 3 violation
AAEP-EV-1_status-that-is-none  AAEP-EV-1 5 violation
AAEP-EV-1_torn-last-line  AAEP-EV-1 3 violation
AAEP-EV-1_type-without-its-prefix  AAEP-EV-1 3 violation
AAEP-EV-1_urgency-of-no-such-kind  AAEP-EV-1 3 violation
AAEP-EV-2_event-id-with-a-dash  AAEP-EV-2 3 violation
AAEP-EV-2_session-of-another-form  AAEP-EV-2 1 violation
AAEP-EV-3_timestamp-steps-back  AAEP-EV-3 3 violation
AAEP-EV-3_timestamp-without-offset  AAEP-EV-3 3 violation
AAEP-EV-3_two-fractional-digits  AAEP-EV-3 3 violation
AAEP-EV-4_number-comes-again  AAEP-EV-4 3 violation
AAEP-EV-4_number-is-a-string  AAEP-EV-4 3 violation
AAEP-EV-4_one-event-without-number  AAEP-EV-4 3 violation
AAEP-EV-4_start-is-not-zero  AAEP-EV-4 1 violation
AAEP-EV-5_allowed-reply-listed-twice  AAEP-EV-5 4 violation
AAEP-EV-5_cancelled-by-nobody  AAEP-EV-5 3 violation
AAEP-EV-5_completion-of-no-such-status  AAEP-EV-5 4 violation
AAEP-EV-5_errored-without-category  AAEP-EV-5 3 violation
AAEP-EV-5_handoff-to-no-such-target  AAEP-EV-5 3 violation
AAEP-EV-5_multiple-choice-without-choices  AAEP-EV-5 4 violation
AAEP-EV-5_no-reply-is-allowed  AAEP-EV-5 4 violation
AAEP-EV-5_position-below-zero  AAEP-EV-5 4 violation
AAEP-EV-5_progress-beyond-100  AAEP-EV-5 3 violation
AAEP-EV-5_question-without-consequence  AAEP-EV-5 4 violation
AAEP-EV-5_timeout-of-zero  AAEP-EV-5 4 violation
AAEP-EV-5_tool-is-no-string  AAEP-EV-5 3 violation
AAEP-EV-6_handoff-that-is-not-critical  AAEP-EV-6 3 violation
AAEP-EV-6_question-that-is-not-critical  AAEP-EV-6 4 violation
AAEP-EV-7_the-same-event-twice  AAEP-EV-7 4 warning
AAEP-EV-7_two-events-with-one-id  AAEP-EV-7 3 violation
AAEP-EV-8_change-leaves-a-state-never-entered  AAEP-EV-8 3 violation
AAEP-EV-8_first-change-leaves-another-state  AAEP-EV-8 2 violation
AAEP-EV-8_producer-breaks-its-own-chain  AAEP-EV-8 5 violation
AAEP-EV-9_unknown-core-type  AAEP-EV-9 3 violation
";

/// A row of [`INVALID`].
pub struct Fault {
    pub name: &'static str,
    pub clause: &'static str,
    pub line: u64,
    pub weight: Weight,
}

/// All rows.
pub fn faults() -> impl Iterator<Item = Fault> {
    INVALID.trim().lines().map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let &[name, clause, line, weight] = words.as_slice() else {
            panic!("four words: {row}");
        };
        Fault {
            name,
            clause,
            line: line.parse().expect("the number of a line"),
            weight: match weight {
                "violation" => Violation,
                "warning" => Warning,
                other => panic!("no weight: {other}"),
            },
        }
    })
}
