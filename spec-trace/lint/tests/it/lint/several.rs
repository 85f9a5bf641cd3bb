//! Streams with several faults: each is found, and what follows from another stands under it.

use countersign_lint::judge;
use countersign_lint::report::{LintReport, Verdict};
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use serde_json::{Value, json};

use super::{lint_bytes, places};

/// Faults that never come alone: the call that breaks them was announced too early.
pub const NEVER_ALONE: [&str; 1] = ["AAEP-6.3.2-4"];

/// A stream of one session, a line every tenth of a second.
#[derive(Clone)]
pub struct Stream {
    lines: Vec<Value>,
    time: i64,
}

impl Stream {
    /// With the start of the session.
    pub fn new() -> Self {
        let (lines, time) = (Vec::new(), 0);
        let started = json!({"summary_normal": "A request came in."});
        Self { lines, time }.event("session.started", started)
    }

    /// So many seconds pass.
    pub fn wait(mut self, seconds: i64) -> Self {
        self.time += seconds * 1_000;
        self
    }

    fn now(&self, later: i64) -> String {
        let time = self.time + later;
        let (minutes, seconds) = (time / 60_000, time / 1_000 % 60);
        format!(
            "2026-05-24T14:{minutes:02}:{seconds:02}.{:03}Z",
            time % 1_000
        )
    }

    /// One more event.
    pub fn event(mut self, name: &str, payload: Value) -> Self {
        self.time += 100;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{name}"),
            "event_id": format!("evt_{}", self.lines.len()), "session_id": "sess_a",
            "timestamp": self.now(0), "producer": {"agent_id": "agent"},
        });
        let Value::Object(payload) = payload else {
            unreachable!("payloads are objects")
        };
        event.as_object_mut().expect("an object").extend(payload);
        self.lines.push(event);
        self
    }

    /// A change of state.
    pub fn state(self, from: &str, to: &str) -> Self {
        self.event("state.changed", json!({"from_state": from, "to_state": to}))
    }

    /// A call of that id, irreversible and of high risk, with these fields changed; null takes one out.
    pub fn call(self, id: &str, changes: Value) -> Self {
        let call = json!({
            "tool": "send_email", "tool_call_id": id, "summary_normal": "Calling.", "risk_level": "high",
            "irreversible": true,
        });
        self.event("tool.invoked", changed(call, changes))
    }

    /// Its completion.
    pub fn completed(self, id: &str, status: &str) -> Self {
        let payload = json!({"tool": "send_email", "tool_call_id": id, "status": status});
        self.event("tool.completed", payload)
    }

    /// A question about the call of that id, of 60 seconds, with these fields changed.
    pub fn asked(self, id: &str, changes: Value) -> Self {
        let question = json!({
            "urgency": "critical", "action": "Call send_email", "consequence": "It is sent.",
            "reply_token": format!("rpl_{}", id.replace('_', "")), "timeout_seconds": 60,
            "default_decision": "reject", "risk_level": "high", "irreversible": true,
            "extra_context": {"tool_call_id": id},
        });
        self.event("awaiting.confirmation", changed(question, changes))
    }

    /// A reply to it, with these fields changed, and those of the wrapper.
    pub fn reply(mut self, id: &str, decision: &str, changes: Value, wrapper: Value) -> Self {
        self.time += 100;
        let reply = json!({
            "type": "confirmation.reply", "reply_token": format!("rpl_{}", id.replace('_', "")),
            "decision": decision, "subscription_id": "sub_a", "timestamp": self.now(0),
        });
        let record = json!({"dir": "in", "at": self.now(5), "message": changed(reply, changes)});
        self.lines.push(changed(record, wrapper));
        self
    }

    /// A reply to the clarification with that token.
    pub fn clarified(self, token: &str, response: &str, wrapper: Value) -> Self {
        let changes = json!({
            "type": "clarification.reply", "reply_token": token, "response": response, "decision": null,
        });
        self.reply("call_1", "accept", changes, wrapper)
    }

    /// The same, as it should be.
    pub fn answered(self, id: &str, decision: &str) -> Self {
        self.reply(id, decision, json!({}), json!({}))
    }

    /// Its lines, with the end of the session.
    pub fn ending(self) -> Vec<Value> {
        let stream = self.event("session.completed", json!({"summary_normal": "Over."}));
        stream.lines
    }

    /// The end of the session, and the verdict.
    pub fn ends(self) -> LintReport {
        judged(&self.ending())
    }

    /// The same where nothing is assumed.
    pub fn ends_cautiously(self) -> LintReport {
        let lines: Vec<String> = self.ending().iter().map(Value::to_string).collect();
        let (text, selection) = (lines.join("\n"), Selection::default());
        judge(
            text.as_bytes(),
            "stream.jsonl",
            Settings::CAUTIOUS,
            &selection,
        )
    }

    /// The verdict on what there is.
    pub fn told(self) -> LintReport {
        judged(&self.lines)
    }
}

fn judged(lines: &[Value]) -> LintReport {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lint_bytes(lines.join("\n").as_bytes())
}

fn changed(mut object: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else {
        unreachable!("changes are objects")
    };
    let fields = object.as_object_mut().expect("an object");
    for (name, value) in changes {
        if value.is_null() {
            fields.remove(&name);
        } else {
            fields.insert(name, value);
        }
    }
    object
}

/// A call that nobody was asked about, and the question behind it.
pub fn early() -> Stream {
    Stream::new()
        .state("idle", "calling_tool")
        .call("call_1", json!({}))
        .state("calling_tool", "awaiting_input")
        .asked("call_1", json!({}))
}

const EARLY: (&str, u64) = ("AAEP-A.8-4", 3);

/// What is not judged of a clause, and says this.
pub fn is_open(report: &LintReport, clause: &str, word: &str) -> bool {
    let mut all = report.not_judged.iter();
    let mut possible = report.possible.iter();
    all.any(|it| it.clause == clause && it.reason.contains(word))
        || possible.any(|it| {
            let unless = it.unless.as_deref().unwrap_or_default();
            it.clause == clause && format!("{} {unless}", it.message).contains(word)
        })
}

/// AAEP-6.3.4-1, AAEP-6.3.4-4, AAEP-6.3.4-5, AAEP-6.3.4-6, AAEP-6.3.1-1, AAEP-A.8-5: what was announced too early and ran on
/// a reply that does not accept it is two faults.
#[test]
fn a_call_that_comes_too_early_and_runs_against_its_answer_is_two_faults() {
    let cases = [
        ("AAEP-6.3.4-1", "accept", json!({"extra": 1}), json!({})),
        (
            "AAEP-6.3.4-4",
            "accept",
            json!({"timestamp": "2026-05-24T14:05:00Z"}),
            json!({}),
        ),
        (
            "AAEP-6.3.4-5",
            "accept",
            json!({}),
            json!({"http_status": 403}),
        ),
        ("AAEP-6.3.4-6", "later", json!({}), json!({})),
        (
            "AAEP-6.3.1-1",
            "accept",
            json!({"type": "clarification.reply", "response": true, "decision": null}),
            json!({}),
        ),
        ("AAEP-A.8-5", "reject", json!({}), json!({})),
    ];
    for (clause, decision, changes, wrapper) in cases {
        let stream = early().reply("call_1", decision, changes, wrapper);
        let ran = stream.clone().completed("call_1", "success");
        let report = ran.state("awaiting_input", "thinking").ends();
        assert_eq!(places(&report.violations), [EARLY, (clause, 7)]);
        assert!(
            report.violations[1].also.contains(&"AAEP-6.1-1"),
            "{clause}"
        );
        // That it ran does not show where it failed.
        let failed = stream.completed("call_1", "error");
        let report = failed.state("awaiting_input", "thinking").ends();
        assert_eq!(places(&report.violations), [EARLY], "{clause}");
    }
}

/// AAEP-A.4-3, AAEP-6.1-1: the call has announced the action, and once it is accepted it may run.
#[test]
fn a_call_that_comes_too_early_and_is_accepted_before_it_runs_is_one_fault() {
    let stream = early().answered("call_1", "accept");
    let stream = stream.completed("call_1", "success");
    let report = stream.state("awaiting_input", "thinking").ends();
    assert_eq!(places(&report.violations), [EARLY]);
    assert!(report.violations[0].consequences.is_empty());
}

/// AAEP-6.1-1: nobody answered, and that the action ran would not be a fault had it been asked about and accepted before.
#[test]
fn what_would_vanish_with_the_first_fault_stands_under_it() {
    let stream = early().completed("call_1", "success");
    let report = stream
        .reply("call_2", "accept", json!({}), json!({}))
        .state("awaiting_input", "thinking")
        .ends();
    assert_eq!(places(&report.violations), [EARLY]);
    assert_eq!(
        places(&report.violations[0].consequences),
        [("AAEP-6.1-1", 6)]
    );
    let json = report.to_json();
    assert_eq!(json["violations"][0]["consequences"][0]["line"], 6);
}

/// AAEP-6.3.2-4, AAEP-A.4-3: a call that was announced before the action was modified is not that of the modified action.
#[test]
fn a_modification_is_no_acceptance_of_what_was_announced_before_it() {
    let modified = json!({"modified_action": {"to": "nobody"}});
    let stream = early().reply("call_1", "accept", modified.clone(), json!({}));
    let report = stream.clone().completed("call_1", "success").ends();
    assert_eq!(places(&report.violations), [EARLY, ("AAEP-6.3.2-4", 7)]);
    // Another call may be that of the modified action.
    let again = stream.completed("call_1", "success");
    let again = again.call(
        "call_2",
        json!({"irreversible": false, "risk_level": "low"}),
    );
    let report = again.completed("call_2", "success").ends();
    assert_eq!(places(&report.violations), [EARLY]);
    assert!(
        is_open(&report, "AAEP-6.3.2-4", "line 8"),
        "{:?}",
        report.not_judged
    );
    // In the order of the text it may be, too.
    let stream = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({}));
    let stream = stream.reply("call_1", "accept", modified, json!({}));
    let stream = stream.state("awaiting_input", "calling_tool");
    let report = stream
        .call("call_1", json!({}))
        .completed("call_1", "success")
        .ends();
    assert_eq!(report.verdict, Verdict::Conforming);
    assert!(
        is_open(&report, "AAEP-6.3.2-4", "line 4"),
        "{:?}",
        report.not_judged
    );
}

/// AAEP-EV-15: without ids the words tie a question to a call, where they are those of one alone.
#[test]
fn a_question_is_tied_to_the_call_before_it_by_its_words() {
    let no_id = json!({"tool_call_id": null, "args_summary": "to=ana"});
    let stream = |action: &str, risk: &str| {
        let question = json!({"extra_context": null, "action": action, "risk_level": risk});
        let stream = Stream::new().state("idle", "calling_tool");
        let stream = stream.call("call_1", no_id.clone());
        stream
            .state("calling_tool", "awaiting_input")
            .asked("call_1", question)
    };
    let ran = |stream: Stream| {
        let stream = stream.answered("call_1", "reject");
        let completed = json!({"tool": "send_email", "status": "success"});
        stream
            .event("tool.completed", completed)
            .state("awaiting_input", "thinking")
    };
    let report = ran(stream("Call send_email (to=ana)", "high")).ends();
    assert_eq!(places(&report.violations), [EARLY, ("AAEP-A.8-5", 7)]);
    for (action, risk) in [
        ("Call send_email (to=anabel)", "high"),
        ("Call send (to=ana)", "high"),
        ("Call send_email (to=ana)", "medium"),
    ] {
        let report = ran(stream(action, risk)).ends();
        assert_eq!(places(&report.violations), [EARLY], "{action} {risk}");
    }
}

/// AAEP-EV-15, AAEP-6.1-1: where several questions fit, or several calls, none is tied, and that is said.
#[test]
fn what_fits_several_is_tied_to_none_and_that_is_said() {
    let words = json!({"extra_context": null});
    let again = json!({"extra_context": null, "reply_token": "rpl_2"});
    let two_questions = Stream::new()
        .state("idle", "calling_tool")
        .call("call_1", json!({}))
        .state("calling_tool", "awaiting_input")
        .asked("call_1", words.clone())
        .answered("call_1", "reject")
        .asked("call_1", again)
        .completed("call_1", "success")
        .state("awaiting_input", "thinking")
        .ends();
    assert_eq!(places(&two_questions.violations), [EARLY]);
    assert!(
        is_open(&two_questions, "AAEP-6.1-1", "line 7"),
        "{:?}",
        two_questions.not_judged
    );
    let two_calls = Stream::new()
        .state("idle", "calling_tool")
        .call("call_1", json!({}))
        .call("call_2", json!({}))
        .state("calling_tool", "awaiting_input")
        .asked("call_1", words)
        .answered("call_1", "reject")
        .completed("call_1", "success")
        .completed("call_2", "success")
        .state("awaiting_input", "thinking")
        .ends();
    assert_eq!(places(&two_calls.violations), [EARLY, ("AAEP-A.8-4", 4)]);
    assert!(
        is_open(&two_calls, "AAEP-6.1-1", "line 3, line 4"),
        "{:?}",
        two_calls.not_judged
    );
}

/// A question, and two replies to it that fail different checks, with these answers.
fn told(late: Value, malformed: Value) -> LintReport {
    let late_reply = json!({"timestamp": "2026-05-24T14:05:00Z"});
    Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({}))
        .reply("call_1", "accept", late_reply, late)
        .reply("call_1", "accept", json!({"decided_by": ""}), malformed)
        .answered("call_1", "reject")
        .state("awaiting_input", "thinking")
        .ends()
}

/// AAEP-6.3.4-9: two answers tell two checks apart, and one answer names what is wrong.
#[test]
fn answers_that_differ_or_name_the_field_tell_the_check() {
    let same = json!({"http_status": 202, "http_body": {"status": "received"}});
    let body = |text: &str| json!({"http_status": 202, "http_body": {"status": text}});
    for (late, malformed, line) in [
        (same.clone(), body("noted"), 5),
        (same.clone(), body("received; see decided_by"), 5),
        (body("2026-05-24t14:05:00z will not do"), same.clone(), 4),
        (body("look at the timestamp"), body("received"), 4),
    ] {
        let report = told(late, malformed);
        assert_eq!(places(&report.violations), [("AAEP-6.3.4-9", line)]);
    }
    // A status alone is a warning.
    let report = told(json!({"http_status": 400}), json!({"http_status": 422}));
    assert_eq!(places(&report.violations), []);
    assert_eq!(places(&report.warnings), [("AAEP-6.3.4-9", 5)]);
}

/// AAEP-6.3.4-9: what all are told tells nobody anything, whatever it says; nor do ids and times.
#[test]
fn a_uniform_refusal_is_no_fault() {
    let body = |text: &str| json!({"http_status": 400, "http_body": {"error": text}});
    let with = |name: &str, value: Value| json!({"http_status": 400, "http_body": {"error": "refused", name: value}});
    for (late, malformed) in [
        (body("refused"), body("refused")),
        (body("the reply expired"), body("the reply expired")),
        (body("look at decided_by"), body("look at decided_by")),
        (
            body("decision, timestamp or decided_by will not do"),
            body("decision, timestamp or decided_by will not do"),
        ),
        (body("request 00a81 refused"), body("request 00a82 refused")),
        (json!({"http_status": 400}), body("refused")),
        (with("trace", json!("1")), with("trace", json!("2"))),
        (
            with("request_id", json!("r1")),
            with("request_id", json!("r2")),
        ),
        (with("id", json!(1)), with("id", json!(2))),
    ] {
        let report = told(late, malformed);
        assert_eq!(places(&report.violations), []);
        assert_eq!(places(&report.warnings), []);
    }
    // What is no id, or a word, tells.
    for (late, malformed) in [
        (with("code", json!("1")), with("code", json!("2"))),
        (with("code", json!(1)), with("code", json!(2))),
        (with("trace", json!("north")), with("trace", json!("south"))),
    ] {
        assert_eq!(
            places(&told(late, malformed).violations),
            [("AAEP-6.3.4-9", 5)]
        );
    }
}

/// AAEP-6.3.4-9: a code tells as its words do, however they are joined; one that names no check does not, nor does one that names
/// another.
#[test]
fn a_code_that_names_the_check_tells_it() {
    let unknown = |body: Value| {
        let answer = json!({"http_status": 400, "http_body": body});
        let report = Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", json!({}))
            .reply("call_0", "accept", json!({}), answer)
            .answered("call_1", "reject")
            .state("awaiting_input", "thinking")
            .ends();
        places(&report.violations) == [("AAEP-6.3.4-9", 4)]
    };
    for (told, uniform) in [
        (json!("reply_token_not_found"), json!("reply_refused")),
        (json!("E_TOKEN_NOT_FOUND"), json!("E_REPLY_REJECTED")),
        (json!("TOKEN_UNKNOWN"), json!("REPLY_REJECTED")),
        (json!("unknown-token"), json!("bad-request")),
        (json!("TokenNotFoundError"), json!("InvalidReplyError")),
        (json!("unrecognised token"), json!("invalid_reply")),
        (
            json!("the token is not known"),
            json!("the token is refused"),
        ),
        (json!({"failed_check": 2}), json!({"failed_checks": 2})),
        (json!({"failedCheck": 2}), json!({"failedCheck": 4})),
        (json!("check_2_failed"), json!("check_failed")),
        (json!("TOKEN_INVALID"), json!("TOKEN_INVALID_OR_EXPIRED")),
        (json!("token_unknown"), json!("token_already_used")),
    ] {
        let within = |error: &Value| {
            if error.is_object() {
                error.clone()
            } else {
                json!({"code": error})
            }
        };
        assert!(unknown(within(&told)), "{told}");
        assert!(!unknown(within(&uniform)), "{uniform}");
    }
    let body = |code: &str| json!({"http_status": 400, "http_body": {"code": code}});
    for (late, malformed, line) in [
        ("E_DEADLINE_PASSED", "E_REFUSED", 4),
        ("bad_request", "invalid JSON", 5),
        ("bad_request", "JsonInvalid", 5),
    ] {
        let report = told(body(late), body(malformed));
        assert_eq!(
            places(&report.violations),
            [("AAEP-6.3.4-9", line)],
            "{late}, {malformed}"
        );
    }
    let report = told(body("REPLY_REJECTED"), body("REPLY_REJECTED"));
    assert_eq!(places(&report.violations), []);
    let only_reject = json!({"allowed_replies": ["reject"]});
    for (code, violations) in [
        ("DECISION_NOT_ALLOWED", &[("AAEP-6.3.4-9", 4)][..]),
        ("INVALID_DECISION", &[("AAEP-6.3.4-9", 4)]),
        ("NOT_ACCEPTED", &[]),
    ] {
        let report = Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", only_reject.clone())
            .reply("call_1", "accept", json!({}), body(code))
            .answered("call_1", "reject")
            .state("awaiting_input", "thinking")
            .ends();
        assert_eq!(places(&report.violations), violations, "{code}");
    }
}

/// AAEP-6.3.4-9: a parser's words for what is no JSON tell its sender so, whether a token can be read in it or not, and with the
/// status of a handler that has failed; what a gateway answers, or all are told, does not.
#[test]
fn a_parsers_words_tell_that_a_reply_is_no_json() {
    let said = |text: &str, status: u64, error: &str, late: &str| {
        let answer = |body: &str| json!({"http_status": status, "http_body": {"error": body}});
        let raw = changed(answer(error), json!({"message": {"_raw": text}}));
        let report = told(answer(late), raw);
        assert_eq!(places(&report.violations), [], "{text} {status} {error}");
        places(&report.warnings).contains(&("AAEP-6.3.4-9", 5))
    };
    let words = "Expected double-quoted property name in JSON at position 29";
    for text in [
        r#"{"type":"confirmation.reply","#,
        "hello",
        r#"{"reply_token":"rpl_call1","#,
    ] {
        assert!(said(text, 500, words, "refused"), "{text}");
        assert!(!said(text, 502, words, "refused"), "{text}");
        assert!(!said(text, 500, "refused", "refused"), "{text}");
        assert!(!said(text, 400, words, words), "{text}");
    }
    assert!(said("hello", 400, "Malformed JSON", "refused"));
    // Where no other reply is in the record, it is told all the same.
    let alone = json!({"message": {"_raw": "hello"}, "http_body": {"error": words}});
    let report = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({}))
        .reply("call_1", "accept", json!({}), alone)
        .ends();
    assert!(places(&report.warnings).contains(&("AAEP-6.3.4-9", 4)));
}

/// AAEP-A.7.4-1, AAEP-A.8-5: what a call could have come behind is told as the stream had it when the call came.
#[test]
fn what_could_have_come_instead_of_a_call_is_what_was_open_then() {
    let asked = |changes: Value| {
        let stream = Stream::new().state("idle", "awaiting_input");
        stream.asked("call_1", changes)
    };
    let call = |stream: Stream| {
        stream
            .state("awaiting_input", "calling_tool")
            .call("call_1", json!({}))
    };
    let only_reject = json!({"allowed_replies": ["reject"]});
    let acceptance = "what it could have gone on with is the acceptance of the question on line 3";
    for (stream, line, told) in [
        (
            call(asked(json!({})).answered("call_1", "reject")),
            6,
            "what it could have gone on with is a question for this action",
        ),
        (
            call(asked(only_reject).answered("call_1", "accept")),
            6,
            "what it could have gone on with is the rejection of the question on line 3, by a reply decided before 2026-05-24T14:01:00.300Z or by its default then, or its withdrawal",
        ),
        (
            call(asked(json!({}))).answered("call_1", "reject"),
            5,
            acceptance,
        ),
        (
            call(asked(json!({}))).answered("call_1", "accept"),
            5,
            acceptance,
        ),
    ] {
        let report = stream.completed("call_1", "success").ends();
        let found = report.violations.iter().find(|it| it.line == line);
        let message = found.map(|it| &*it.message).unwrap_or_default();
        assert!(message.contains(told), "{told}: {:?}", report.violations);
    }
}

/// AAEP-A.7.4-1: of a call before the acceptance and one behind it, the first is the one that came too early.
#[test]
fn a_call_before_the_acceptance_of_another_came_too_early() {
    let stream = |second: &str| {
        let stream = Stream::new().state("idle", "awaiting_input");
        let stream = stream.asked("call_1", json!({"extra_context": null}));
        let stream = stream.state("awaiting_input", "calling_tool");
        let stream = stream
            .call("call_1", json!({}))
            .answered("call_1", "accept");
        let report = stream.call(second, json!({})).completed(second, "success");
        report.ends()
    };
    for second in ["call_1", "call_2"] {
        let report = stream(second);
        let found = places(&report.violations);
        assert!(found.contains(&("AAEP-A.7.4-1", 5)), "{found:?}");
        assert!(
            found.iter().all(|(clause, _)| *clause != "AAEP-6.3.5-1"),
            "{found:?}"
        );
    }
}

/// A question of low risk about what can be undone, which lets its call run where nobody answers.
fn low(default: &str) -> Stream {
    let question = json!({"risk_level": "low", "irreversible": false, "default_decision": default});
    // A stranger's reply says that replies are recorded.
    let stranger = json!({"sender": "stranger"});
    Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", question)
        .reply("call_0", "accept", json!({}), stranger)
}

const REVERSIBLE: &str = r#"{"irreversible": false, "risk_level": "low"}"#;

fn reversible() -> Value {
    serde_json::from_str(REVERSIBLE).expect("JSON")
}

/// AAEP-6.9-5, AAEP-A.7.4-1: silence lets an irreversible call of low risk run, and none of more.
#[test]
fn silence_lets_no_irreversible_call_of_more_than_low_risk_run() {
    for (risk, clause) in [
        (json!(null), None),
        (json!("low"), None),
        (json!("medium"), Some("AAEP-A.7.4-1")),
        (json!("high"), Some("AAEP-6.9-5")),
    ] {
        let stream = low("accept")
            .wait(60)
            .state("awaiting_input", "calling_tool");
        let call = json!({"risk_level": risk});
        let report = stream
            .call("call_1", call)
            .completed("call_1", "success")
            .ends();
        let found: Vec<_> = clause.map(|it| (it, 6)).into_iter().collect();
        assert_eq!(places(&report.violations), found, "{risk}");
    }
}

/// AAEP-6.1-1: a call that can be undone waits for its question too, and its default is applied when its time is over and not
/// before.
#[test]
fn a_call_that_can_be_undone_waits_for_its_question() {
    let ran = |stream: Stream| {
        let stream = stream
            .state("awaiting_input", "calling_tool")
            .call("call_1", reversible());
        stream.completed("call_1", "success").ends()
    };
    for (default, seconds, found) in [
        ("reject", 0, true),
        ("reject", 60, true),
        ("accept", 0, true),
        ("accept", 60, false),
    ] {
        let report = ran(low(default).wait(seconds));
        let found: Vec<_> = found.then_some(("AAEP-6.1-1", 6)).into_iter().collect();
        assert_eq!(places(&report.violations), found, "{default} {seconds}");
    }
    // The default is applied, and then the call is made all the same.
    let rejected = low("reject").wait(60).state("awaiting_input", "thinking");
    let rejected = rejected
        .state("thinking", "calling_tool")
        .call("call_1", reversible());
    let report = rejected.completed("call_1", "success").ends();
    assert_eq!(places(&report.violations), [("AAEP-6.1-1", 7)]);
    // Before its time it may have been withdrawn.
    let withdrawn = low("reject").state("awaiting_input", "thinking");
    let withdrawn = withdrawn
        .state("thinking", "calling_tool")
        .call("call_1", reversible());
    let report = withdrawn.completed("call_1", "success").ends();
    assert_eq!(places(&report.violations), []);
    assert!(
        is_open(&report, "AAEP-6.1-1", "withdrew"),
        "{:?}",
        report.not_judged
    );
}

/// AAEP-6.1-1, AAEP-A.8-5, AAEP-A.4-3: a question names by its words alone a call that came before it and can be undone. Whether it is about
/// that one does not show: what ran against the answer is left open, and what ran on an acceptance is told no more.
#[test]
fn a_call_that_can_be_undone_and_that_only_words_name_is_said_to_be_open() {
    let reversible =
        |id: Option<&str>| json!({"risk_level": "low", "irreversible": false, "tool_call_id": id});
    let question = |token: &str| json!({"risk_level": "low", "irreversible": false, "extra_context": null, "reply_token": token});
    let asked = |id: Option<&str>| {
        Stream::new()
            .state("idle", "calling_tool")
            .call("call_1", reversible(id))
            .state("calling_tool", "awaiting_input")
            .asked("call_1", question("rpl_call1"))
    };
    let again = |stream: Stream, first: &str, second: &str| {
        let known = || json!({"sender": "known"});
        stream
            .reply("call_1", first, json!({}), known())
            .asked("call_2", question("rpl_call2"))
            .reply("call_2", second, json!({}), known())
    };
    let bad = json!({"extra": 1});
    let modified = json!({"modified_action": {"to": "b"}});
    for id in [Some("call_1"), None] {
        for (stream, open) in [
            (asked(id).answered("call_1", "reject"), Some("AAEP-A.8-5")),
            (
                asked(id).reply("call_1", "accept", bad.clone(), json!({})),
                Some("AAEP-6.1-1"),
            ),
            (
                asked(id).reply("call_1", "accept", modified.clone(), json!({})),
                Some("AAEP-6.3.2-4"),
            ),
            (asked(id).answered("call_x", "accept"), Some("AAEP-6.1-1")),
            (asked(id).answered("call_1", "accept"), None),
            // One of two acceptances, or one of two answers, is for the call.
            (again(asked(id), "accept", "reject"), None),
            (again(asked(id), "reject", "accept"), None),
            (again(asked(id), "reject", "reject"), Some("AAEP-A.8-5")),
        ] {
            let report = stream
                .completed("call_1", "success")
                .state("awaiting_input", "thinking")
                .ends();
            let left: Vec<_> = report.not_judged.iter().collect();
            let is_of_the_call = |clause: &str| {
                left.iter().any(|it| {
                    it.clause == clause && it.reason.contains("tool.completed of send_email")
                })
            };
            assert_eq!(places(&report.violations), [], "{id:?}");
            match open {
                Some(clause) => assert!(is_of_the_call(clause), "{clause} {left:?}"),
                None => assert!(
                    !left.iter().any(|it| it.reason.contains("tool.completed")),
                    "{left:?}"
                ),
            }
        }
    }
    // A call behind the question may be the one that was asked about, and so may one that shares an id with it.
    for later in [
        reversible(Some("call_2")),
        json!({"tool_call_id": "call_2"}),
    ] {
        let is_meant = later["irreversible"] == json!(false);
        let report = asked(None)
            .answered("call_1", "reject")
            .call("call_2", later)
            .completed("call_2", "success")
            .completed("call_1", "success")
            .state("awaiting_input", "thinking")
            .ends();
        assert_eq!(
            is_open(&report, "AAEP-A.8-5", "tool.completed"),
            !is_meant,
            "{report:?}"
        );
        assert_eq!(
            is_open(&report, "AAEP-A.8-5", "call of send_email"),
            is_meant,
            "{report:?}"
        );
    }
}

/// AAEP-6.1-1, AAEP-A.8-5, AAEP-A.4-3: such a question is about the call that an id names, asks nothing where it is withdrawn, and no other
/// acceptance is paid for by the call that it names.
#[test]
fn a_call_that_only_words_name_is_that_of_no_other_question() {
    let reversible =
        |id: Option<&str>| json!({"risk_level": "low", "irreversible": false, "tool_call_id": id});
    let low = |action: &str, context: Value| {
        json!({
            "action": action, "risk_level": "low", "irreversible": false, "extra_context": context,
        })
    };
    let known = || json!({"sender": "known"});
    let says_so = |report: &LintReport| {
        let mut all = report.not_judged.iter();
        all.any(|it| it.reason.contains("tool.completed"))
    };
    let open = |id| {
        Stream::new()
            .state("idle", "calling_tool")
            .call("call_1", reversible(id))
    };
    for id in [Some("call_2"), None] {
        let context = id.map(|it| json!({"tool_call_id": it}));
        let report = open(None)
            .call("call_2", reversible(Some("call_2")))
            .state("calling_tool", "awaiting_input")
            .asked("call_2", low("Call send_email", json!(context)))
            .reply("call_2", "reject", json!({}), known())
            .completed("call_1", "success")
            .completed("call_2", "error")
            .state("awaiting_input", "thinking")
            .ends();
        assert_eq!(places(&report.violations), [], "{id:?}");
        assert_eq!(says_so(&report), id.is_none(), "{report:?}");
    }
    for (outcome, is_left) in [("cancelled", false), ("rejected", true)] {
        let resolution = json!({"countersign": {"reply_token": "rpl_call1", "outcome": outcome}});
        let report = open(None)
            .state("calling_tool", "awaiting_input")
            .asked("call_1", low("Call send_email", Value::Null))
            .answered("call_x", "reject")
            .event(
                "state.changed",
                json!({"from_state": "awaiting_input", "to_state": "thinking", "extensions": resolution}),
            )
            .completed("call_1", "success")
            .ends();
        assert_eq!(says_so(&report), is_left, "{report:?}");
    }
    let report = open(Some("call_1"))
        .state("calling_tool", "awaiting_input")
        .asked("call_x", low("Call pay", Value::Null))
        .reply("call_x", "accept", json!({}), known())
        .asked("call_1", low("Call send_email", Value::Null))
        .reply("call_1", "reject", json!({}), known())
        .completed("call_1", "success")
        .state("awaiting_input", "thinking")
        .wait(70)
        .ends();
    assert_eq!(places(&report.violations), [("AAEP-A.4-3", 11)]);
    assert!(says_so(&report), "{report:?}");
}

/// AAEP-A.4-3: a call that is accused leads to one acceptance, and not to the one that it was taken for before as well.
#[test]
fn a_call_that_is_accused_pays_for_one_acceptance() {
    let accepts = json!({
        "timeout_seconds": 2, "default_decision": "accept", "risk_level": "low", "irreversible": false,
        "extra_context": null,
    });
    // Of high risk, which the default of the first question is not for, and while the second is open.
    let report = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", accepts)
        .asked(
            "call_2",
            json!({"action": "Call pay", "extra_context": null}),
        )
        .wait(10)
        .state("awaiting_input", "calling_tool")
        .call("call_x", json!({"tool_call_id": null}))
        .state("calling_tool", "awaiting_input")
        .reply("call_2", "accept", json!({}), json!({"sender": "known"}))
        .event(
            "tool.completed",
            json!({"tool": "send_email", "status": "success"}),
        )
        .state("awaiting_input", "thinking")
        .wait(70)
        .ends();
    let found = places(&report.violations);
    let clauses: Vec<_> = found.iter().map(|(clause, _)| *clause).collect();
    assert_eq!(clauses, ["AAEP-A.7.4-1", "AAEP-A.4-3"], "{found:?}");
}

/// AAEP-A.8-4, AAEP-A.4-3: what is not said of a tool has no words that could be missing in a question, and a completion without a name is
/// that of the call without one.
#[test]
fn a_call_without_a_name_is_tied_by_its_place_and_nothing_is_made_of_that() {
    let nameless = json!({"tool": null, "tool_call_id": null});
    let ran = |stream: Stream| {
        stream
            .call("call_1", nameless.clone())
            .event("tool.completed", json!({"status": "success"}))
    };
    let asked = |stream: Stream| {
        stream
            .asked("call_1", json!({"extra_context": null}))
            .reply("call_1", "accept", json!({}), json!({"sender": "known"}))
    };
    let accepted = asked(Stream::new().state("idle", "awaiting_input"));
    let accepted = ran(accepted.state("awaiting_input", "calling_tool"))
        .state("calling_tool", "thinking")
        .ends();
    let forms = |line| [("AAEP-EV-5", line), ("AAEP-EV-5", line + 1)];
    assert_eq!(places(&accepted.violations), forms(6));
    assert!(accepted.not_judged.is_empty(), "{accepted:?}");
    let dropped =
        ran(Stream::new().state("idle", "calling_tool")).state("calling_tool", "awaiting_input");
    let dropped = asked(dropped)
        .state("awaiting_input", "thinking")
        .wait(70)
        .ends();
    let found = places(&dropped.violations);
    let found: Vec<_> = found
        .into_iter()
        .filter(|(clause, _)| *clause != "AAEP-EV-5")
        .collect();
    assert_eq!(found, [("AAEP-A.8-4", 3), ("AAEP-A.4-3", 9)]);
}

/// AAEP-A.4-3: of a question that may have been withdrawn before its acceptance, or whose default is due at the end, it is not said that
/// nothing was called where its call came too early.
#[test]
fn what_may_have_come_to_nothing_came_to_a_call_that_was_accused() {
    let default = json!({"default_decision": "accept", "timeout_seconds": 5, "risk_level": "low"});
    let low = json!({"risk_level": "low"});
    let due = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", default)
        .answered("call_x", "reject")
        .wait(4)
        .state("awaiting_input", "calling_tool")
        .call("call_1", low)
        .wait(1)
        .completed("call_1", "success")
        .state("calling_tool", "thinking")
        .ends();
    assert_eq!(places(&due.violations), [("AAEP-A.7.4-1", 6)]);
    let withdrawn = early()
        .state("awaiting_input", "thinking")
        .reply("call_1", "accept", json!({}), json!({"sender": "known"}))
        .completed("call_1", "error")
        .ends();
    assert_eq!(places(&withdrawn.violations), [EARLY]);
    for report in [due, withdrawn] {
        assert!(
            !is_open(&report, "AAEP-A.4-3", "no tool.invoked"),
            "{report:?}"
        );
    }
}

/// AAEP-6.8-4: a change to thinking before the reply looks like a withdrawal, and may be none.
#[test]
fn a_question_that_may_have_been_withdrawn_before_its_answer_is_said_to_be_open() {
    let run = |stream: Stream| {
        let stream = stream
            .answered("call_1", "accept")
            .state("thinking", "calling_tool");
        stream
            .call("call_1", json!({}))
            .completed("call_1", "success")
            .ends()
    };
    let asked = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({}));
    let report = run(asked.state("awaiting_input", "thinking"));
    assert_eq!(report.verdict, Verdict::Conforming);
    assert!(
        is_open(&report, "AAEP-6.8-4", "line 4"),
        "{:?}",
        report.not_judged
    );
    let thinking = Stream::new()
        .state("idle", "thinking")
        .asked("call_1", json!({}));
    assert!(!is_open(&run(thinking), "AAEP-6.8-4", ""));
}

/// AAEP-6.1-7, AAEP-6.5.1-2: nothing came of a valid reply, nor of the timeout.
#[test]
fn a_clarification_of_which_nothing_came_is_said_to_be_open() {
    let question = json!({
        "urgency": "critical", "question": "Which?", "reply_token": "rpl_call1", "timeout_seconds": 60,
        "accepted_response_kinds": ["numeric"],
    });
    let answer = json!({"type": "clarification.reply", "response": 67, "decision": null});
    let asked = || {
        let stream = Stream::new().state("idle", "awaiting_input");
        let stream = stream.event("awaiting.clarification", question.clone());
        let stream = stream.state("awaiting_input", "thinking");
        stream.reply("call_1", "", answer.clone(), json!({}))
    };
    let report = asked().wait(90).ends();
    assert_eq!(report.verdict, Verdict::Conforming);
    assert!(
        is_open(&report, "AAEP-6.1-7", "a valid reply came"),
        "{:?}",
        report.not_judged
    );
    let heeded = asked().state("thinking", "deciding").ends();
    assert!(!is_open(&heeded, "AAEP-6.1-7", ""));
    // A producer that still waits is warned of that, and has not shown to have heard the reply either.
    let stream = Stream::new().state("idle", "awaiting_input");
    let stream = stream.event("awaiting.clarification", question.clone());
    let waits = stream.reply("call_1", "", answer.clone(), json!({}));
    let report = waits.wait(90).ends();
    assert_eq!(places(&report.warnings), [("AAEP-A.5-1", 5)]);
    assert!(
        is_open(&report, "AAEP-6.1-7", "a valid reply came"),
        "{:?}",
        report.not_judged
    );
}

/// A question about what can be undone that names no id, and a call of such a thing, before its answer or behind it.
fn by_order(call_first: bool, changes: Value, wrapper: Value) -> LintReport {
    let question = json!({"risk_level": "low", "irreversible": false, "extra_context": null});
    let stream = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", question);
    let call = |stream: Stream| {
        stream
            .call("call_9", reversible())
            .completed("call_9", "success")
    };
    let stream = if call_first { call(stream) } else { stream };
    let stream = stream.reply("call_1", "accept", changes, wrapper);
    let stream = if call_first { stream } else { call(stream) };
    stream.state("awaiting_input", "thinking").ends()
}

/// AAEP-A.4-3, AAEP-6.1-1: a call while the question is open is not the one that its acceptance leads to; where it may have arrived
/// before the call, that is said.
#[test]
fn a_call_before_the_acceptance_does_not_pay_for_it() {
    let known = json!({"sender": "known"});
    let report = by_order(true, json!({}), known.clone());
    assert_eq!(places(&report.violations), [("AAEP-A.4-3", 8)]);
    assert!(report.violations[0].also.contains(&"AAEP-6.1-1"));
    assert!(report.violations[0].message.contains("line 4"));
    let decided = json!({"timestamp": "2026-05-24T14:00:00.310Z"});
    let report = by_order(true, decided, known.clone());
    assert_eq!(places(&report.violations), []);
    assert!(
        is_open(&report, "AAEP-6.1-1", "line 4 is recorded before the reply"),
        "{:?}",
        report.not_judged
    );
    let report = by_order(false, json!({}), known);
    assert_eq!(places(&report.violations), []);
    assert!(!is_open(&report, "AAEP-6.1-1", ""));
}

/// AAEP-A.4-3, AAEP-6.1-4: other work without an id, between the acceptance and the call with the question's own id.
#[test]
fn the_call_with_the_id_of_the_question_comes_of_it_whatever_came_before() {
    let work =
        json!({"irreversible": false, "risk_level": "low", "tool": "read", "tool_call_id": null});
    let completed = json!({"tool": "read", "status": "success"});
    for own in [json!({}), reversible()] {
        let stream = Stream::new().state("idle", "awaiting_input");
        let stream = stream.asked("call_1", json!({}));
        let stream = stream.reply("call_1", "accept", json!({}), json!({"sender": "known"}));
        let stream = stream.state("awaiting_input", "calling_tool");
        let stream = stream
            .call("", work.clone())
            .event("tool.completed", completed.clone());
        let without = stream.clone().state("calling_tool", "thinking").ends();
        assert_eq!(places(&without.violations), []);
        let report = stream
            .call("call_1", own)
            .completed("call_1", "success")
            .ends();
        assert_eq!(places(&report.violations), []);
    }
}

/// AAEP-A.4-3: of several calls while questions are open and several behind their acceptance, the later ones count.
#[test]
fn calls_behind_the_acceptances_are_counted_and_not_those_before() {
    for (calls, found) in [(3, vec![]), (2, vec![("AAEP-A.4-3", 18)])] {
        let mut stream = Stream::new().state("idle", "awaiting_input");
        let ids = ["call_1", "call_2", "call_3"];
        for id in ids {
            let question = json!({
                "risk_level": "low", "irreversible": false, "extra_context": null, "action": format!("Call {id}"),
            });
            let other = json!({"irreversible": false, "risk_level": "low", "tool": "read", "tool_call_id": format!("r{id}")});
            stream = stream.asked(id, question).call("", other);
            stream = stream.event(
                "tool.completed",
                json!({"tool": "read", "tool_call_id": format!("r{id}"), "status": "success"}),
            );
        }
        for id in ids {
            stream = stream.reply(id, "accept", json!({}), json!({"sender": "known"}));
        }
        for id in &ids[..calls] {
            stream = stream.call(id, reversible()).completed(id, "success");
        }
        let report = stream.state("awaiting_input", "thinking").ends();
        let violations: Vec<_> = places(&report.violations);
        let line = |line| if calls == 2 { line + 2 } else { line };
        let found: Vec<_> = found
            .into_iter()
            .map(|(clause, at)| (clause, line(at)))
            .collect();
        assert_eq!(violations, found, "{calls}");
    }
}

/// AAEP-6.3.2-4: a call of what can be undone, behind a reply that modifies it.
#[test]
fn a_call_that_a_modification_may_have_led_to_is_said_to_be_open() {
    let changes = json!({"modified_action": {"to": "another"}});
    let report = by_order(false, changes, json!({"sender": "known"}));
    assert_eq!(places(&report.violations), []);
    assert!(
        is_open(&report, "AAEP-6.3.2-4", "line 5"),
        "{:?}",
        report.not_judged
    );
}

/// AAEP-A.4-3, AAEP-6.4-1: nothing came of a default that accepts. Where it is said already that it is overdue, that follows; and what
/// must not accept by default is not held to it.
#[test]
fn a_default_that_accepts_leads_to_its_call() {
    let thinking = |stream: Stream| stream.wait(95).state("awaiting_input", "thinking").ends();
    let report = thinking(low("accept"));
    assert_eq!(places(&report.violations), [("AAEP-A.4-3", 6)]);
    let progress = || json!({"progress": {"percent": 5}});
    let overdue = low("accept")
        .wait(125)
        .event("progress.updated", progress());
    let overdue = overdue.event("progress.updated", progress());
    let report = thinking(overdue);
    assert_eq!(places(&report.violations), [("AAEP-6.4-1", 5)]);
    let consequences = &report.violations[0].consequences;
    assert_eq!(places(consequences), [("AAEP-A.4-3", 8)]);
    let stranger = json!({"sender": "stranger"});
    let high = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({"default_decision": "accept"}))
        .reply("call_0", "accept", json!({}), stranger);
    let report = thinking(high);
    assert_eq!(places(&report.violations), [("AAEP-6.4.1-1", 3)]);
    // A change of state before the timeout may have withdrawn the question.
    let withdrawn = low("accept").state("awaiting_input", "thinking").wait(95);
    let report = withdrawn.state("thinking", "deciding").ends();
    assert_eq!(places(&report.violations), []);
}

/// AAEP-A.8-4, AAEP-A.8-5: three calls that come too early, each with a question behind it that only its words tie to it, and that is
/// rejected: six faults.
#[test]
fn each_of_three_early_calls_is_told_from_the_questions_of_the_others() {
    let mut stream = Stream::new().state("idle", "awaiting_input");
    for number in 0..3 {
        let id = format!("call_{number}");
        let words = format!("to=user{number}");
        let question =
            json!({"extra_context": null, "action": format!("Call send_email with {words}")});
        stream = stream
            .call(&id, json!({"args_summary": words}))
            .asked(&id, question);
        let known = json!({"sender": "known"});
        stream = stream.reply(&id, "reject", json!({}), known);
        stream = stream.completed(&id, "success");
    }
    let report = stream.state("awaiting_input", "thinking").ends();
    let two = |line| [("AAEP-A.8-4", line), ("AAEP-A.8-5", line + 3)];
    assert_eq!(
        places(&report.violations),
        [two(3), two(7), two(11)].concat()
    );
}

/// AAEP-A.7.4-1: a call on the line before its reply ran before it, unless the reply was recorded late.
#[test]
fn a_call_on_the_line_before_its_reply_is_said_to_be_open_where_no_arrival_is_recorded() {
    for (wrapper, open) in [(json!({"at": null}), true), (json!({}), true)] {
        let stream = Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", json!({}));
        let decided = json!({"timestamp": "2026-05-24T14:00:00.350Z"});
        let stream = stream
            .state("awaiting_input", "calling_tool")
            .call("call_1", json!({}));
        let stream = stream.reply("call_1", "accept", decided, wrapper);
        let report = stream.completed("call_1", "success").ends();
        assert_eq!(places(&report.violations), []);
        assert_eq!(
            is_open(&report, "AAEP-A.7.4-1", "\"at\""),
            open,
            "{:?}",
            report.not_judged
        );
    }
}

/// AAEP-6.1-3, AAEP-A.4-3: nobody is accused for a reply alone of which nothing says that it counted.
#[test]
fn a_reply_that_may_not_have_counted_accuses_nobody() {
    for (decision, clause) in [("accept", "AAEP-A.4-3"), ("reject", "AAEP-6.1-3")] {
        for (wrapper, accused) in [
            (json!({}), false),
            (json!({"http_status": 202}), false),
            (json!({"sender": "known"}), true),
        ] {
            let stream = Stream::new()
                .state("idle", "awaiting_input")
                .asked("call_1", json!({}));
            let replied = stream.reply("call_1", decision, json!({}), wrapper);
            let report = replied.ends_cautiously();
            let found: Vec<_> = accused.then_some((clause, 5)).into_iter().collect();
            assert_eq!(places(&report.violations), found, "{decision}");
            assert_eq!(
                is_open(&report, clause, "authenticated"),
                !accused,
                "{:?}",
                report.not_judged
            );
        }
    }
}

/// AAEP-A.8-5: who rejected may have been nobody who counts, and another has accepted.
#[test]
fn a_rejection_that_may_not_have_counted_leaves_a_later_acceptance_open() {
    for (wrapper, accused) in [(json!({}), false), (json!({"sender": "known"}), true)] {
        let stream = Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", json!({}));
        let stream = stream.reply("call_1", "reject", json!({}), wrapper);
        let other = json!({"subscription_id": "sub_b"});
        let stream = stream.reply("call_1", "accept", other, json!({}));
        let stream = stream
            .state("awaiting_input", "calling_tool")
            .call("call_1", json!({}));
        let report = stream.completed("call_1", "success").ends_cautiously();
        let found: Vec<_> = accused.then_some(("AAEP-A.8-5", 7)).into_iter().collect();
        assert_eq!(places(&report.violations), found);
        assert_eq!(is_open(&report, "AAEP-A.8-5", "line 4"), !accused);
    }
}

/// AAEP-A.7.4-1, AAEP-6.1-1: that nobody replied is evidence where a recording holds replies, or says that it holds all.
#[test]
fn silence_is_evidence_where_the_head_of_the_recording_says_so() {
    let stream = |head: Value| {
        let mut stream = Stream::new();
        stream.lines.insert(0, head);
        let stream = stream
            .state("idle", "awaiting_input")
            .asked("call_1", json!({}));
        let stream = stream
            .state("awaiting_input", "calling_tool")
            .call("call_1", json!({}));
        stream.completed("call_1", "success").ends()
    };
    let report = stream(json!({"type": "countersign.recording", "replies": "all"}));
    assert_eq!(places(&report.violations), [("AAEP-A.7.4-1", 6)]);
    let report = stream(json!({"type": "countersign.recording"}));
    assert_eq!(places(&report.violations), []);
    // Another word says nothing, and is told.
    let report = stream(json!({"type": "countersign.recording", "replies": "some"}));
    assert_eq!(places(&report.violations), [("AAEP-EV-1", 1)]);
}

/// AAEP-6.3.4-9: a reply with a property that has no name is not told so by an answer without words.
#[test]
fn no_words_name_no_property() {
    let stream = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({}));
    let stream = stream.reply(
        "call_1",
        "accept",
        json!({"": 1}),
        json!({"http_status": 400}),
    );
    let report = stream.state("awaiting_input", "thinking").ends();
    assert_eq!(places(&report.violations), []);
}

/// AAEP-A.7.4-1, AAEP-6.3.4-5: an acceptance behind a rejection that may not have counted explains one call, whichever other question is
/// open; one for want of a reply explains a call of low risk alone.
#[test]
fn an_acceptance_behind_a_rejection_that_may_not_have_counted_explains_one_call() {
    let nameless = |id: &str| json!({"extra_context": null, "action": format!("Call {id}")});
    let rejected = || {
        Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", nameless("call_1"))
            .asked("call_2", nameless("call_2"))
            .answered("call_1", "reject")
    };
    let call = |stream: Stream, id: &str| stream.call(id, json!({})).completed(id, "success");
    let ends = |stream: Stream| {
        let stream = stream.state("awaiting_input", "thinking");
        stream.ends_cautiously()
    };
    let once = ends(call(rejected().answered("call_1", "accept"), "call_8"));
    assert_eq!(places(&once.violations), []);
    assert!(
        is_open(&once, "AAEP-A.8-5", "the sender of the reply on line 5"),
        "{:?}",
        once.not_judged
    );
    let twice = call(rejected().answered("call_1", "accept"), "call_8");
    let twice = ends(call(twice, "call_9"));
    assert_eq!(places(&twice.violations), [("AAEP-A.7.4-1", 9)]);
    let never = ends(call(rejected(), "call_8"));
    assert_eq!(places(&never.violations), [("AAEP-A.7.4-1", 6)]);
    for (risk, found) in [("low", vec![]), ("high", vec![("AAEP-A.8-5", 7)])] {
        let rejected = low("accept").answered("call_1", "reject").wait(60);
        let stream = rejected.state("awaiting_input", "thinking");
        let stream = stream.call("call_1", json!({"risk_level": risk}));
        let report = stream.completed("call_1", "success").ends_cautiously();
        assert_eq!(places(&report.violations), found, "{risk}");
    }
}

/// AAEP-6.8-3, AAEP-6.8-4: a question may be withdrawn also behind the acceptance of another; then no reply to it leads to anything.
#[test]
fn a_question_may_be_withdrawn_behind_the_acceptance_of_another() {
    for decision in ["accept", "reject"] {
        let known = || json!({"sender": "known"});
        let stream = Stream::new()
            .state("idle", "awaiting_input")
            .asked("call_1", json!({}))
            .asked("call_2", json!({"action": "Call it again"}))
            .reply("call_1", "accept", json!({}), known())
            .state("awaiting_input", "calling_tool")
            .call("call_1", json!({}))
            .completed("call_1", "success")
            .state("calling_tool", "awaiting_input");
        let answered = |stream: Stream| stream.reply("call_2", decision, json!({}), known());
        let withdrawn = stream.clone().state("awaiting_input", "thinking");
        assert_eq!(places(&answered(withdrawn).ends().violations), []);
        let clause = if decision == "accept" {
            "AAEP-A.4-3"
        } else {
            "AAEP-6.1-3"
        };
        assert_eq!(places(&answered(stream).ends().violations), [(clause, 11)]);
    }
}

/// AAEP-6.3.4-1, AAEP-6.3.4-4, AAEP-6.3.4-5, AAEP-6.3.4-6, AAEP-6.3.1-1: a call that runs on a reply which fails several checks breaks each of
/// them, and no other; where a valid reply follows, none.
#[test]
fn each_check_that_a_reply_fails_is_named() {
    const CHECKS: [&str; 5] = [
        "AAEP-6.3.4-1",
        "AAEP-6.3.4-4",
        "AAEP-6.3.4-5",
        "AAEP-6.3.4-6",
        "AAEP-6.3.1-1",
    ];
    for failed in 1..1_u32 << CHECKS.len() {
        let fails = |check: usize| failed & 1 << check != 0;
        if fails(3) && fails(4) {
            // A reply of the other kind decides nothing.
            continue;
        }
        let allowed = if fails(3) {
            ["reject"].as_slice()
        } else {
            &["accept", "reject"]
        };
        let mut changes = json!({});
        if fails(0) {
            changes["extra"] = json!(1);
        }
        if fails(1) {
            changes["timestamp"] = json!("2026-05-24T14:05:00Z");
        }
        if fails(4) {
            changes["type"] = json!("clarification.reply");
            changes["decision"] = json!(null);
        }
        let sender = if fails(2) { "stranger" } else { "known" };
        let wrapper = json!({"sender": sender});
        let asked = |stream: Stream| stream.asked("call_1", json!({"allowed_replies": allowed}));
        let reply =
            |stream: Stream| stream.reply("call_1", "accept", changes.clone(), wrapper.clone());
        let early = Stream::new()
            .state("idle", "calling_tool")
            .call("call_1", json!({}));
        let early = reply(asked(early.state("calling_tool", "awaiting_input")));
        let early = early
            .completed("call_1", "success")
            .state("awaiting_input", "thinking");
        let stream = reply(asked(Stream::new().state("idle", "awaiting_input")));
        let called = |stream: Stream| {
            let stream = stream
                .state("awaiting_input", "calling_tool")
                .call("call_1", json!({}));
            stream.completed("call_1", "success").ends()
        };
        for (report, line, count) in [(called(stream.clone()), 6, 1), (early.ends(), 7, 2)] {
            assert_eq!(
                report.violations.len(),
                count,
                "{failed:b} {:?}",
                report.violations
            );
            let found = &report.violations[count - 1];
            assert_eq!(found.line, line, "{failed:b}");
            for (check, clause) in CHECKS.into_iter().enumerate() {
                let named = found.clause == clause || found.also.contains(&clause);
                // AAEP-REPLY-2: one of the other kind keeps to no schema either.
                let is_failed = fails(check) || check == 0 && fails(4);
                assert_eq!(named, is_failed, "{failed:b} {clause} {}", found.message);
            }
        }
        if !fails(3) {
            let known = json!({"sender": "known"});
            let report = called(stream.reply("call_1", "accept", json!({}), known));
            assert_eq!(places(&report.violations), [], "{failed:b}");
            assert!(
                report.not_judged.is_empty(),
                "{failed:b} {:?}",
                report.not_judged
            );
        }
    }
}

/// AAEP-6.3.4-1, AAEP-REPLY-5, AAEP-REPLY-11: every complaint of the schema is told.
#[test]
fn every_complaint_of_the_schema_is_told() {
    let changes = json!({"extra": 1, "subscription_id": "nobody"});
    let stream = Stream::new()
        .state("idle", "awaiting_input")
        .asked("call_1", json!({}));
    let stream = stream.reply("call_1", "accept", changes, json!({"sender": "known"}));
    let stream = stream
        .state("awaiting_input", "calling_tool")
        .call("call_1", json!({}));
    let report = stream.completed("call_1", "success").ends();
    assert_eq!(places(&report.violations), [("AAEP-6.3.4-1", 6)]);
    for complaint in ["(AAEP-REPLY-5: subscription_id)", "(AAEP-REPLY-11)"] {
        assert!(
            report.violations[0].message.contains(complaint),
            "{complaint}"
        );
    }
}

/// AAEP-6.5.5-1, AAEP-6.5.5-2: so is every check that a reply to a clarification fails.
#[test]
fn each_check_that_a_response_fails_is_told() {
    let question = json!({
        "urgency": "critical", "question": "Which?", "reply_token": "rpl_call1", "timeout_seconds": 60,
        "accepted_response_kinds": ["numeric"],
    });
    let stream = |response: Value, sender: &str| {
        let stream = Stream::new().state("idle", "awaiting_input");
        let stream = stream.event("awaiting.clarification", question.clone());
        let answer = json!({"type": "clarification.reply", "response": response, "decision": null});
        let stream = stream.reply("call_1", "accept", answer, json!({"sender": sender}));
        stream.state("awaiting_input", "thinking").ends()
    };
    let report = stream(json!("67"), "stranger");
    for word in ["kind that was not accepted", "does not know"] {
        assert!(
            is_open(&report, "AAEP-6.5.5-1", word),
            "{:?}",
            report.not_judged
        );
    }
    assert!(stream(json!(67), "known").not_judged.is_empty());
}

/// AAEP-6.1-7: that a valid reply was dropped is a violation where the producer says so itself, and else left open; nor is it one where the
/// reply may not have counted, or came when the producer had spoken.
#[test]
fn a_producer_that_says_nobody_answered_whom_a_valid_reply_had_answered_is_accused() {
    let question = json!({
        "urgency": "critical", "question": "Which?", "reply_token": "rpl_call1", "timeout_seconds": 60,
        "accepted_response_kinds": ["numeric"],
    });
    let says = |outcome: &str| {
        json!({
            "from_state": "awaiting_input", "to_state": "thinking",
            "extensions": {"countersign": {"reply_token": "rpl_call1", "outcome": outcome}},
        })
    };
    let answer = json!({"type": "clarification.reply", "response": 67, "decision": null});
    let known = || json!({"sender": "known"});
    for (outcome, before, wrapper, after, accused) in [
        ("unanswered", 10, known(), 55, true),
        ("answered", 10, known(), 55, false),
        ("cancelled", 10, known(), 55, false),
        ("unanswered", 10, json!({}), 55, true),
        ("unanswered", 10, json!({"sender": "untold"}), 55, false),
        (
            "unanswered",
            10,
            json!({"sender": "known", "at": null}),
            55,
            false,
        ),
        (
            "unanswered",
            10,
            json!({"sender": "known", "http_status": 503}),
            55,
            false,
        ),
        ("unanswered", 10, json!({"sender": "stranger"}), 55, false),
        ("unanswered", 57, known(), 10, false),
        ("unanswered", 57, known(), 1, false),
        ("unanswered", 61, known(), 1, false),
    ] {
        let stream = Stream::new().state("idle", "awaiting_input");
        let stream = stream
            .event("awaiting.clarification", question.clone())
            .wait(before);
        let stream = stream
            .reply("call_1", "accept", answer.clone(), wrapper.clone())
            .wait(after);
        let report = stream.event("state.changed", says(outcome)).ends();
        let found: Vec<_> = accused.then_some(("AAEP-6.1-7", 5)).into_iter().collect();
        assert_eq!(
            places(&report.violations),
            found,
            "{outcome} {before} {wrapper} {after}"
        );
    }
    // Who says nothing of it is not accused, and what a recording would have to hold is said.
    for (answers, waits) in [(true, 10), (true, 70), (false, 70)] {
        let stream = Stream::new().state("idle", "awaiting_input");
        let stream = stream.event("awaiting.clarification", question.clone());
        let token = if answers { "call_1" } else { "call_2" };
        let report = stream
            .reply(token, "accept", answer.clone(), known())
            .wait(waits)
            .ends();
        assert_eq!(places(&report.violations), []);
        assert!(
            is_open(&report, "AAEP-6.1-7", "outcome"),
            "{answers} {:?}",
            report.not_judged
        );
    }
}

/// AAEP-A.3-1, AAEP-A.8-3: a call that completes behind the end of its session has its completion, and one repair mends both.
#[test]
fn a_completion_behind_the_end_is_one_fault() {
    const LATE: (&str, u64) = ("AAEP-A.8-3", 6);
    const MISSING: (&str, u64) = ("AAEP-A.3-1", 5);
    let harmless = json!({"risk_level": "low", "irreversible": false});
    let over = || {
        Stream::new()
            .state("idle", "calling_tool")
            .call("call_1", harmless.clone())
            .call("call_2", harmless.clone())
            .event("session.completed", json!({"summary_normal": "Over."}))
    };
    let judged = |stream: Stream| {
        let found = stream.told().violations.into_iter();
        found.map(|it| (it.clause, it.line)).collect::<Vec<_>>()
    };
    let two = || {
        over()
            .completed("call_1", "success")
            .completed("call_2", "error")
    };
    assert_eq!(judged(two()), [LATE]);
    // The others have none, and neither has that of a call which came too late itself.
    assert_eq!(judged(over()), [MISSING; 2]);
    assert_eq!(
        judged(over().completed("call_2", "success")),
        [MISSING, LATE]
    );
    assert_eq!(
        judged(over().completed("call_3", "success")),
        [MISSING, MISSING, LATE]
    );
    // Nobody waits for ever, nor for a session that has begun anew.
    assert_eq!(
        judged(
            over()
                .wait(500)
                .completed("call_1", "success")
                .wait(101)
                .completed("call_2", "success")
        ),
        [MISSING, LATE]
    );
    let again = json!({"summary_normal": "Again."});
    let again = over()
        .event("session.started", again)
        .completed("call_1", "success");
    let [first, second, ..] = *judged(again) else {
        panic!("too few");
    };
    assert_eq!([first, second], [MISSING; 2]);
    let again = json!({"summary_normal": "Again."});
    let again = over()
        .event("session.started", again)
        .state("idle", "calling_tool");
    let again = again.call("call_3", harmless.clone());
    let again = again.event("session.completed", json!({"summary_normal": "Over."}));
    let found = judged(again.completed("call_3", "success"));
    assert_eq!(
        found,
        [MISSING, MISSING, ("AAEP-A.1-1", 6), ("AAEP-A.8-3", 10)]
    );
}

/// AAEP-EV-7: an event that comes again as it was is no second one, however its members are put in order; another one is.
#[test]
fn an_event_that_comes_again_is_the_same_in_all_it_says() {
    let found = |changes: Value, is_wrapped: bool| {
        let half = json!({"progress": {"percent": 50}, "verbosity": "normal"});
        let mut lines = Stream::new().event("progress.updated", half).ending();
        lines.insert(2, changed(lines[1].clone(), changes));
        let texts = lines.iter().enumerate().map(|(at, it)| {
            let wrapped =
                json!({"dir": "out", "at": format!("2026-05-24T14:00:1{at}Z"), "message": it});
            if is_wrapped { wrapped } else { it.clone() }.to_string()
        });
        let texts: Vec<_> = texts.collect();
        let report = lint_bytes(texts.join("\n").as_bytes());
        let [violations, warnings] = [report.violations.len(), report.warnings.len()];
        let all = report.violations.iter().chain(&report.warnings);
        assert!(
            all.clone()
                .all(|it| (it.clause, it.line) == ("AAEP-EV-7", 3)),
            "{report:?}"
        );
        (
            violations,
            warnings,
            is_open(
                &report,
                "AAEP-EV-7",
                "1 in all, first on line 3 the one of line 2",
            ),
        )
    };
    for is_wrapped in [false, true] {
        assert_eq!(found(json!({}), is_wrapped), (0, 0, true));
        assert_eq!(
            found(json!({"verbosity": "terse"}), is_wrapped),
            (0, 1, false)
        );
        let other = json!({"timestamp": "2026-05-24T14:00:00.250Z"});
        assert_eq!(found(other, is_wrapped), (1, 0, false));
    }
}

/// AAEP-A.8-4: where the question comes behind its call, the report says on which line; where none does, or one that fits several calls,
/// it does not.
#[test]
fn a_call_that_nobody_had_been_asked_about_is_told_with_the_question_behind_it() {
    let message = |stream: Stream| {
        let report = stream.answered("call_x", "reject").ends();
        let found = report.violations.iter().find(|it| it.clause == EARLY.0);
        found.expect("it is told").message.clone()
    };
    let behind = "; the question came after it, on line 5";
    assert!(message(early()).ends_with(behind));
    let by_words = || {
        let question = json!({"extra_context": null, "action": "Call send_email"});
        Stream::new()
            .state("idle", "calling_tool")
            .call("call_1", json!({}))
            .state("calling_tool", "awaiting_input")
            .asked("call_1", question)
    };
    assert!(message(by_words()).ends_with(behind));
    let another = by_words().call("call_2", json!({}));
    for stream in [
        Stream::new().call("call_1", json!({})),
        Stream::new()
            .call("call_1", json!({}))
            .asked("call_2", json!({})),
        another,
    ] {
        assert!(!message(stream).contains("came after it"));
    }
    // A stream that begins with the call fits nothing before it.
    let mut lines = early().answered("call_x", "reject").ending();
    lines.drain(..2);
    let report = judged(&lines);
    assert!(is_open(&report, EARLY.0, "what it could have gone on with"));
    assert!(!is_open(&report, EARLY.0, "line 0"), "{report:?}");
}
