//! What became of a question and may not have counted: it accuses nobody, and what a recording would have to hold is said.

use countersign_lint::report::LintReport;
use serde_json::{Value, json};

use super::several::{Stream, is_open};
use super::{lint_bytes, places};

/// A question that is still open when other work begins, which leads out of `awaiting_input`, and ends in this state.
fn other_work(question: Value, seconds: i64, ends_in: &str) -> Stream {
    Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", question)
        // Replies are recorded; to this question there is none.
        .answered("call_x", "reject")
        .state("awaiting_input", "calling_tool")
        .call(
            "call_2",
            json!({"risk_level": "low", "irreversible": false}),
        )
        .completed("call_2", "success")
        .wait(seconds)
        .state("calling_tool", ends_in)
}

fn is_left_open(report: &LintReport, clause: &str, word: &str) -> bool {
    report.violations.is_empty() && is_open(report, clause, word)
}

/// AAEP-6.8-3, AAEP-6.1-4, AAEP-A.4-3: a withdrawal returns to thinking or deciding, whatever state other work has led to.
#[test]
fn a_change_out_of_another_state_may_withdraw_a_question_that_is_open() {
    let accepts = json!({
        "timeout_seconds": 2, "default_decision": "accept", "risk_level": "low", "irreversible": false,
    });
    for (seconds, ends_in, withdraws) in [
        (0, "thinking", true),
        (0, "deciding", true),
        // Nothing is withdrawn by going on, nor behind the timeout.
        (0, "writing_output", false),
        (3, "thinking", false),
    ] {
        let report = other_work(accepts.clone(), seconds, ends_in)
            .wait(200)
            .ends();
        let found = places(&report.violations);
        if withdraws {
            assert_eq!(found, [], "{ends_in}");
            assert!(
                is_open(&report, "AAEP-A.4-3", "state.changed on line 8"),
                "{report:?}"
            );
        } else {
            assert_eq!(found, [("AAEP-A.4-3", 9)], "{ends_in}");
        }
    }
}

/// AAEP-6.8-4, AAEP-6.1-6: a reply to a question that may be withdrawn may be ignored, and its action asked for again.
#[test]
fn what_comes_behind_a_change_that_may_withdraw_is_not_judged() {
    let known = || json!({"sender": "known"});
    for (ends_in, withdraws) in [("thinking", true), ("writing_output", false)] {
        let work = other_work(json!({}), 0, ends_in);
        let replied = work
            .clone()
            .reply("call_1", "accept", json!({}), known())
            .ends();
        let again = work
            .state(ends_in, "awaiting_input")
            .asked("call_1", json!({"reply_token": "rpl_b"}));
        let again = again.ends();
        if withdraws {
            assert!(is_left_open(
                &replied,
                "AAEP-A.4-3",
                "state.changed on line 8"
            ));
            assert!(
                is_left_open(&again, "AAEP-6.1-6", "state.changed on line 8"),
                "{again:?}"
            );
        } else {
            assert_eq!(places(&replied.violations), [("AAEP-A.4-3", 10)]);
            assert_eq!(places(&again.violations), [("AAEP-6.1-6", 10)]);
        }
    }
}

/// AAEP-6.4-1, AAEP-A.4-3: whether a reply came before the timeout goes by when it arrived, which its own time does not say.
#[test]
fn a_reply_whose_arrival_is_not_recorded_may_have_come_behind_the_timeout() {
    let known = |at: Value| json!({"sender": "known", "at": at});
    let replied = |at: Value| {
        Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", json!({"extra_context": null}))
            .reply("call_1", "accept", json!({}), known(at))
    };
    let arrived = json!("2026-05-24T14:00:01.000Z");
    for (seconds, at, is_due) in [
        (60, Value::Null, false),
        (60, arrived, true),
        // What came of it before the timeout came of the reply.
        (1, Value::Null, true),
    ] {
        let applied = replied(at)
            .wait(seconds)
            .state("awaiting_input", "thinking");
        let report = applied.clone().wait(70).ends();
        // Who accepted another question is not accused for that.
        let other = applied
            .state("thinking", "awaiting_input")
            .asked("call_2", json!({"extra_context": null}))
            .reply("call_2", "accept", json!({}), json!({"sender": "known"}))
            .state("awaiting_input", "calling_tool")
            .call("call_2", json!({}))
            .completed("call_2", "success")
            .wait(70)
            .ends();
        if is_due {
            assert_eq!(places(&report.violations), [("AAEP-A.4-3", 6)]);
            assert_eq!(places(&other.violations).len(), 1);
        } else {
            assert!(is_left_open(&report, "AAEP-A.4-3", "\"at\""), "{report:?}");
            assert!(
                is_left_open(&other, "AAEP-A.4-3", "line 3 was accepted on line 4"),
                "{other:?}"
            );
        }
    }
    // Nothing at all came of it: a fault, whichever it was.
    assert_eq!(
        places(&replied(Value::Null).wait(70).ends().violations),
        [("AAEP-A.4-3", 5)]
    );
}

/// AAEP-6.4-1, AAEP-A.8-5: the same of a rejection, where the default accepts.
#[test]
fn a_rejection_whose_arrival_is_not_recorded_may_have_come_behind_the_timeout() {
    let accepts = json!({"default_decision": "accept", "risk_level": "low", "irreversible": false});
    for (at, may_be_late) in [
        (Value::Null, true),
        (json!("2026-05-24T14:00:01.000Z"), false),
    ] {
        let report = Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", accepts.clone())
            .reply(
                "call_1",
                "reject",
                json!({}),
                json!({"sender": "known", "at": at}),
            )
            .wait(60)
            .state("awaiting_input", "calling_tool")
            .call(
                "call_1",
                json!({"risk_level": "low", "irreversible": false}),
            )
            .completed("call_1", "success")
            .ends();
        if may_be_late {
            assert!(is_left_open(&report, "AAEP-A.8-5", "\"at\""), "{report:?}");
        } else {
            assert_eq!(places(&report.violations), [("AAEP-A.8-5", 6)]);
        }
    }
}

/// AAEP-A.4-3, AAEP-6.3.4-4: the timeout cannot have come before the acceptance where it is still to come when the session is over.
#[test]
fn an_acceptance_near_a_timeout_counts_where_the_session_is_over_before_it() {
    let known = || json!({"sender": "known"});
    let ends_after = |seconds: i64| {
        Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", json!({"timeout_seconds": 4}))
            .reply("call_1", "accept", json!({}), known())
            .state("awaiting_input", "calling_tool")
            .wait(seconds)
            .ends()
    };
    assert_eq!(places(&ends_after(2).violations), [("AAEP-A.4-3", 6)]);
    // A clock may be set back, and behind the timeout it may have come first.
    for seconds in [3, 5] {
        assert!(is_left_open(
            &ends_after(seconds),
            "AAEP-A.4-3",
            "so near to its deadline"
        ));
    }
    let withdrawn = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({"timeout_seconds": 4}))
        .state("awaiting_input", "thinking")
        .reply("call_1", "accept", json!({}), known())
        .ends();
    assert_eq!(places(&withdrawn.violations), []);
}

/// AAEP-A.6-1: whether an output has to end where its session is broken off, the text does not say: nobody is accused.
#[test]
fn an_output_that_ends_with_a_session_that_is_broken_off_is_left_open() {
    for (ending, complete, named, is_accused) in [
        ("errored", false, true, false),
        ("cancelled", false, true, false),
        ("cancelled", true, false, false),
        ("completed", false, false, true),
    ] {
        let chunk = |output: &str, complete: bool| json!({"output_id": output, "chunk": "Hello.", "position": 0, "complete": complete});
        let mut lines = Stream::new()
            .state("idle", "writing_output")
            .event("output.streaming", chunk("out_1", complete))
            .event("output.streaming", chunk("out_2", complete))
            .ending();
        lines[4]["type"] = json!(format!("aaep:agent.session.{ending}"));
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let report = lint_bytes(lines.join("\n").as_bytes());
        let clauses: Vec<_> = places(&report.violations)
            .into_iter()
            .map(|(clause, _)| clause)
            .collect();
        let is_told = clauses.contains(&"AAEP-A.6-1");
        assert_eq!(is_told, is_accused, "{ending}: {clauses:?}");
        let word = format!(
            "session.{ending}, and no chunk of out_1 has complete: true; the last is on line 3, and so it is with 1 more"
        );
        assert_eq!(
            is_open(&report, "AAEP-A.6-1", &word),
            named,
            "{:?}",
            report.not_judged
        );
        // That is no reason for another verdict.
        let mut open = report.not_judged.iter();
        assert!(open.all(|it| it.clause != "AAEP-A.6-1" || !it.owed));
    }
}

/// AAEP-6.4-1: where the input ends behind the timeout of a question of which nothing came, that is said with its end.
#[test]
fn a_timeout_that_is_over_when_the_input_ends_is_named() {
    let told = |seconds: i64, goes_on: bool| {
        let stream = Stream::new()
            .state("idle", "awaiting_input")
            .answered("call_x", "reject")
            .asked("call_1", json!({"timeout_seconds": 3}))
            .wait(seconds);
        let half = json!({"progress": {"percent": 50}});
        let stream = if goes_on {
            stream.event("progress.updated", half)
        } else {
            stream.state("awaiting_input", "thinking")
        };
        stream.told()
    };
    let ended = "for the question on line 4 (2026-05-24T14:00:03";
    assert!(
        is_open(&told(10, true), "AAEP-6.4-1", ended),
        "{:?}",
        told(10, true)
    );
    assert!(!is_open(&told(1, true), "AAEP-6.4-1", ""));
    assert!(!is_open(&told(10, false), "AAEP-6.4-1", ""));
}
