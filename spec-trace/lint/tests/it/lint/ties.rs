//! What ties a question to a call where no id does: what it says of its action, else its place.

use countersign_lint::report::LintReport;
use serde_json::{Value, json};

use super::places;
use super::several::{Stream, is_open};

/// A question without id that says this, and its answer.
fn answered(says: &str, changes: Value, decision: &str) -> Stream {
    let mut question = json!({"action": says, "extra_context": null});
    let fields = question.as_object_mut().expect("an object");
    let Value::Object(changes) = changes else {
        unreachable!("changes are objects")
    };
    fields.extend(changes);
    Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_q", question)
        .answered("call_q", decision)
        .state("awaiting_input", "calling_tool")
}

/// A call of a tool with these arguments, and its completion.
fn called(stream: Stream, id: &str, (tool, arguments): (&str, &str)) -> Stream {
    stream
        .call(id, json!({"tool": tool, "args_summary": arguments}))
        .event(
            "tool.completed",
            json!({"tool": tool, "tool_call_id": id, "status": "success"}),
        )
}

/// These calls, behind a question that says this and was accepted.
fn accepted(says: &str, changes: Value, calls: &[(&str, &str)]) -> LintReport {
    let stream = answered(says, changes, "accept");
    let calls = calls.iter().zip(["call_1", "call_2", "call_3", "call_4"]);
    let called = calls.fold(stream, |it, (call, id)| called(it, id, *call));
    called.ends()
}

/// AAEP-A.8-4, AAEP-6.3.5-1: nothing says that a question is for one call. The same call again is another matter.
#[test]
fn a_question_that_names_several_calls_may_be_for_each_of_them() {
    const FILES: &str = "Delete the files a.txt, b.txt and c.txt";
    const TRIP: &str = "Book the flight to Lagos and pay 500 for it (book_flight, make_payment)";
    let [a, b, c, d] = ["a.txt", "b.txt", "c.txt", "d.txt"].map(|it| format!("path={it}"));
    let [a, b, c, d] = [&a, &b, &c, &d].map(|it| ("delete_file", it.as_str()));
    let flight = ("book_flight", "to=Lagos");
    let payment = |arguments| ("make_payment", arguments);
    for (says, calls, accused) in [
        (FILES, vec![a, b, c], vec![]),
        (FILES, vec![c, a], vec![]),
        (TRIP, vec![flight, payment("amount=500")], vec![]),
        (TRIP, vec![payment("amount=500"), flight], vec![]),
        // The same again, also of one that was left open.
        (FILES, vec![a, a], vec![("AAEP-6.3.5-1", 8)]),
        (FILES, vec![a, b, b], vec![("AAEP-6.3.5-1", 10)]),
        (FILES, vec![a, b, a], vec![("AAEP-6.3.5-1", 10)]),
        (
            "Call send_email with to=ann",
            vec![("send_email", "to=ann"); 2],
            vec![("AAEP-6.3.5-1", 8)],
        ),
        // What the question does not name.
        (FILES, vec![a, d], vec![("AAEP-6.3.5-1", 8)]),
        (
            FILES,
            vec![a, ("wipe_disk", "path=b.txt")],
            vec![("AAEP-A.8-4", 8)],
        ),
        (
            TRIP,
            vec![flight, payment("amount=50")],
            vec![("AAEP-A.8-4", 8)],
        ),
        (
            TRIP,
            vec![flight, ("make_transfer", "amount=500")],
            vec![("AAEP-A.8-4", 8)],
        ),
    ] {
        let report = accepted(says, json!({}), &calls);
        assert_eq!(places(&report.violations), accused, "{calls:?}");
        let named = if accused.is_empty() {
            calls.len() - 1
        } else {
            0
        };
        let open = report.not_judged.iter();
        let open =
            open.filter(|it| it.clause == "AAEP-A.8-4" && it.reason.contains("names it as well"));
        assert!(open.count() >= named, "{report:?}");
    }
}

/// AAEP-A.8-4, AAEP-EV-13: a question that was not accepted lets none of them run, and one with an id is for the call with that.
#[test]
fn a_question_that_names_several_calls_has_to_be_accepted_and_of_no_other_call() {
    let calls = [("delete_file", "path=a.txt"), ("delete_file", "path=b.txt")];
    let says = "Delete the files a.txt and b.txt";
    let by_id = json!({"extra_context": {"tool_call_id": "call_1"}});
    let report = accepted(says, by_id, &calls);
    assert_eq!(places(&report.violations), [("AAEP-A.8-4", 8)]);
    let otherwise = json!({"irreversible": false, "risk_level": "low"});
    let report = accepted(says, otherwise, &calls);
    assert_eq!(places(&report.violations), [("AAEP-6.3.5-1", 8)]);
    let mut rejected = answered(says, json!({}), "reject");
    for (call, id) in calls.into_iter().zip(["call_1", "call_2"]) {
        rejected = called(rejected, id, call);
    }
    let report = rejected.ends();
    assert_eq!(
        places(&report.violations),
        [("AAEP-A.8-5", 6), ("AAEP-A.8-5", 8)]
    );
}

/// AAEP-A.4-3: a call that one question names besides another takes no other question from a call which that one is for.
#[test]
fn a_call_that_is_named_besides_another_leaves_other_questions_alone() {
    let asked_twice = |says: &str| {
        let stream = answered("Delete a.txt and b.txt", json!({}), "accept")
            .state("calling_tool", "awaiting_input")
            .asked("call_r", json!({"action": says, "extra_context": null}))
            .answered("call_r", "accept")
            .state("awaiting_input", "calling_tool");
        let first = called(stream, "call_1", ("delete_file", "path=a.txt"));
        let second = called(first, "call_2", ("delete_file", "path=b.txt"));
        called(second, "call_3", ("mailer", "to=all")).ends()
    };
    let report = asked_twice("Send the report");
    assert_eq!(places(&report.violations), []);
    let open = "call of delete_file on line 12";
    assert!(is_open(&report, "AAEP-A.8-4", open), "{report:?}");
    // That is its own, and no other's.
    let report = asked_twice("Call delete_file with path=b.txt");
    assert_eq!(places(&report.violations), [("AAEP-A.8-4", 14)]);
}

/// AAEP-A.8-4, AAEP-A.8-5: a call that has no word in common with a question which was rejected may be another: what is proved in either
/// case is that nobody accepted it.
#[test]
fn a_rejected_question_that_only_its_place_ties_proves_that_a_call_was_not_accepted() {
    const MAIL: &str = "Call send_email with: to=ann";
    let rejected = |says: &str, call, changes: Value| {
        let stream = answered(says, changes, "reject");
        called(stream, "call_1", call).ends()
    };
    let money = ("transfer_funds", "to=savings, amount=500");
    for (says, call) in [
        (MAIL, money),
        ("Send the report to everyone", ("mailer", "list=7")),
    ] {
        let report = rejected(says, call, json!({}));
        let [finding] = report.violations.as_slice() else {
            panic!("{report:?}");
        };
        assert_eq!((finding.clause, finding.line), ("AAEP-A.8-4", 6));
        assert_eq!(finding.also, ["AAEP-A.7.4-1", "AAEP-A.8-8"]);
        assert_eq!(finding.tied_by, None);
        let told =
            "the question on line 3, which was rejected on line 4 and may have been about it";
        assert!(finding.message.contains(told), "{}", finding.message);
    }
    // Its words do tie it, or an id.
    let by_id = json!({"extra_context": {"tool_call_id": "call_1"}});
    for (says, call, changes) in [
        (MAIL, ("send_email", "to=ann"), json!({})),
        (MAIL, ("send_email", "to=bob"), json!({})),
        (MAIL, ("mailer", "to=ann"), json!({})),
        (MAIL, money, by_id),
    ] {
        let report = rejected(says, call, changes);
        assert_eq!(
            places(&report.violations),
            [("AAEP-A.8-5", 6)],
            "{says}: {call:?}"
        );
    }
}

/// AAEP-A.4-3, AAEP-6.1-1: of which action a call was that stands between a question and its answer does not show.
#[test]
fn what_came_of_an_acceptance_may_have_come_before_its_question() {
    let harmless = json!({"risk_level": "high", "irreversible": false, "tool": "archive"});
    let says = |says: &str| json!({"action": says, "extra_context": null, "irreversible": false});
    let known = || json!({"sender": "known"});
    let report = Stream::new()
        .state("idle", "calling_tool")
        .call("call_1", harmless.clone())
        .asked("call_q", says("Put the old one away"))
        .call("call_2", harmless)
        .asked("call_r", says("Throw it out"))
        .reply("call_q", "accept", json!({}), known())
        .reply("call_r", "accept", json!({}), known())
        .ends();
    let found = report
        .violations
        .iter()
        .find(|it| it.clause == "AAEP-A.4-3");
    let message = &found.expect("it is told").message;
    let told = "; if the call on line 5 was of this action, or one before the question, it was made too early";
    assert!(message.ends_with(told), "{message}");
}
