//! What a recording is taken for: what it seems, unless it is said that it may be otherwise. Then nobody is accused, and what may be wrong
//! is possible.

use std::fs;

use countersign_lint::judge;
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use serde_json::{Value, json};

use super::several::Stream;
use super::{lint_bytes, places, traces};

/// The recordings of others in `traces/invalid`, which say nothing of senders and withdrawals: the line of the fault, and what is assumed.
const SEEMING: [(&str, u64, &str); 6] = [
    (
        "AAEP-A.8-5_rejected-by-one-and-accepted-by-another-later",
        8,
        "unknown-senders",
    ),
    ("AAEP-A.4-3_accepted-and-talked-about", 7, "unknown-senders"),
    ("AAEP-6.1-3_rejected-and-over", 6, "unknown-senders"),
    (
        "AAEP-6.5.5-3_choice-that-is-not-listed-and-taken",
        6,
        "unsaid-withdrawals",
    ),
    (
        "AAEP-6.5.5-2_yes-where-a-choice-is-asked-for-and-taken",
        6,
        "unsaid-withdrawals",
    ),
    (
        "AAEP-6.5.1-1_confirmation-reply-that-is-taken-for-an-answer",
        6,
        "unsaid-withdrawals",
    ),
];

fn judged(bytes: &[u8], settings: Settings) -> LintReport {
    judge(bytes, "stream.jsonl", settings, &Selection::default())
}

fn with(assumed: &str) -> Settings {
    Settings {
        unknown_senders: assumed == "unknown-senders",
        partial_replies: assumed == "partial-replies",
        unsaid_withdrawals: assumed == "unsaid-withdrawals",
        ..Settings::default()
    }
}

/// AAEP-6.7.1-1, AAEP-A.4-3, AAEP-6.1-3, AAEP-6.5.5-3, AAEP-6.5.5-2, AAEP-6.5.1-1: a violation names what it rests on, and where that may
/// be otherwise it is possible, with what would excuse it.
#[test]
fn a_recording_is_what_it_seems_unless_something_else_is_assumed() {
    for (name, line, assumed) in SEEMING {
        let (clause, _) = name.split_once('_').expect("a clause and a name");
        let read = |folder| fs::read(traces(folder).join(format!("{name}.jsonl")));
        let bytes = read("invalid").expect("a readable trace");
        let report = judged(&bytes, Settings::default());
        assert_eq!(places(&report.violations), [(clause, line)], "{name}");
        let [told] = report.violations[0].assumes.as_slice() else {
            panic!("{name}: one assumption decides: {report:?}");
        };
        assert!(told.contains(&format!("--assume {assumed}")), "{told}");
        let report = judged(&bytes, with(assumed));
        assert_eq!(places(&report.violations), [], "{name}");
        assert_eq!(places(&report.possible), [(clause, line)], "{name}");
        assert!(report.possible[0].unless.is_some(), "{name}");
        assert_eq!(report.verdict, Verdict::Inconclusive, "{name}");
        // The twin is clean, whatever is assumed.
        let twin = read("valid").expect("a readable trace");
        for assumed in ["", assumed, "partial-replies"] {
            let report = judged(&twin, with(assumed));
            assert_eq!(places(&report.possible), [], "{name}, {assumed}");
            assert_eq!(report.verdict, Verdict::Conforming, "{name}, {assumed}");
        }
    }
}

/// AAEP-6.3.4-7, AAEP-A.7.4-1: where replies may be missing, that of somebody else may have accepted.
#[test]
fn where_replies_may_be_missing_what_rests_on_them_is_possible() {
    for (name, line, assumed) in SEEMING {
        let (clause, _) = name.split_once('_').expect("a clause and a name");
        let bytes = fs::read(traces("invalid").join(format!("{name}.jsonl"))).expect("a trace");
        let report = judged(&bytes, with("partial-replies"));
        assert_eq!(places(&report.violations), [], "{name}");
        assert_eq!(places(&report.possible), [(clause, line)], "{name}");
        assert_eq!(report.verdict, Verdict::Inconclusive, "{name}");
        let mut open = report.not_judged.iter();
        let is_said = open.any(|it| it.reason.starts_with("replies may be missing"));
        assert!(is_said, "{name}, {assumed}: {:?}", report.not_judged);
        // The head of a recording says that it holds all.
        let head = b"{\"type\":\"countersign.recording\",\"replies\":\"all\"}\n";
        let report = judged(&[head, &*bytes].concat(), with("partial-replies"));
        assert_eq!(report.violations.len(), 1, "{name}");
    }
    // What a sender is told needs no other reply.
    let told = "AAEP-6.3.4-9_sender-is-told-that-the-reply-expired";
    let bytes = fs::read(traces("invalid").join(format!("{told}.jsonl"))).expect("a trace");
    let report = judged(&bytes, with("partial-replies"));
    assert_eq!(places(&report.violations), [("AAEP-6.3.4-9", 5)]);
}

/// A clarification with two choices, and a reply that is none of them, which the transport answered like this.
fn unlisted(answered: Value) -> Stream {
    behind(Stream::new().state("idle", "awaiting_input"), answered)
}

/// The same, which the transport took, behind these lines.
fn taken_behind(stream: Stream) -> Stream {
    behind(stream, json!({"http_status": 202}))
}

fn behind(stream: Stream, answered: Value) -> Stream {
    let question = json!({
        "urgency": "critical", "question": "At what age?", "reply_token": "rpl_c1", "timeout_seconds": 60,
        "accepted_response_kinds": ["multiple_choice"],
        "choices": [{"value": "65", "label": "At 65"}, {"value": "67", "label": "At 67"}],
    });
    stream
        .event("awaiting.clarification", question)
        .clarified("rpl_c1", "70", answered)
}

/// AAEP-6.5.5-4: whoever waits on, asks again, turned the reply away or does other work has not taken it for an answer.
#[test]
fn who_does_not_go_on_with_an_answer_is_not_accused_of_taking_it() {
    let output = json!({"chunk": "So.", "position": 0, "complete": true, "output_id": "out_1"});
    let again = json!({
        "urgency": "critical", "question": "At what age?", "reply_token": "rpl_c2", "timeout_seconds": 60,
        "accepted_response_kinds": ["freetext"],
    });
    let goes_on = |stream: Stream| {
        stream
            .state("awaiting_input", "thinking")
            .event("output.streaming", output.clone())
    };
    let taken = || unlisted(json!({"http_status": 202}));
    assert_eq!(
        places(&goes_on(taken()).ends().violations),
        [("AAEP-6.5.5-3", 5)]
    );
    for (stream, why) in [
        (
            goes_on(taken()).state("thinking", "awaiting_input"),
            "waits on",
        ),
        (
            taken()
                .state("awaiting_input", "thinking")
                .state("thinking", "awaiting_input")
                .event("awaiting.clarification", again.clone())
                .clarified("rpl_c2", "67", json!({}))
                .state("awaiting_input", "thinking")
                .event("output.streaming", output.clone()),
            "asks again",
        ),
        (
            goes_on(unlisted(json!({"http_status": 422}))),
            "turned it away",
        ),
        (
            taken()
                .state("awaiting_input", "writing_output")
                .event("output.streaming", output.clone()),
            "does other work",
        ),
        (
            goes_on(taken().clarified("rpl_c1", "67", json!({}))),
            "has another reply",
        ),
        (
            taken().state("awaiting_input", "thinking"),
            "may withdraw the question",
        ),
        (goes_on(taken().wait(70)), "comes to the timeout"),
    ] {
        let report = stream.ends();
        assert_eq!(places(&report.violations), [], "{why}");
        assert_eq!(places(&report.possible), [], "{why}");
    }
    // A change of state may be about another question, which is open or was answered last.
    let second = json!({
        "urgency": "critical", "question": "In which city?", "reply_token": "rpl_c2", "timeout_seconds": 60,
        "accepted_response_kinds": ["freetext"],
    });
    let open = || Stream::new().state("idle", "awaiting_input");
    let both = |stream: Stream| stream.event("awaiting.clarification", second.clone());
    let answered = taken_behind(both(open())).clarified("rpl_c2", "Oslo", json!({}));
    assert_eq!(places(&goes_on(answered).ends().violations), []);
    let allowed = json!({"risk_level": "low", "irreversible": false});
    let confirmed = taken_behind(open().asked("call_1", allowed)).answered("call_1", "reject");
    assert_eq!(places(&goes_on(confirmed).ends().violations), []);
    let beside = taken().asked("call_1", json!({}));
    let beside = beside.clarified("rpl_c1", "70", json!({}));
    assert_eq!(places(&goes_on(beside).ends().violations), []);
}

/// AAEP-6.3.4-5: a record that says whose reply it is leaves nothing to assume.
#[test]
fn a_known_sender_is_not_assumed() {
    for (sender, assumes, is_accused) in [
        (Value::Null, 1, true),
        (json!("known"), 0, true),
        (json!("untold"), 0, false),
        (json!("stranger"), 0, false),
    ] {
        let rejected = Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", json!({}));
        let wrapper = json!({"sender": sender});
        let report = rejected
            .reply("call_1", "reject", json!({}), wrapper)
            .ends();
        let found = report.violations.iter();
        let found: Vec<_> = found.map(|it| (it.clause, it.assumes.len())).collect();
        let expected = [("AAEP-6.1-3", assumes)];
        assert_eq!(found, expected[..usize::from(is_accused)], "{sender}");
    }
    let nothing = lint_bytes(b"");
    assert_eq!(places(&nothing.possible), []);
}
