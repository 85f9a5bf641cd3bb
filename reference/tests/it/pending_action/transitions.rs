//! Every transition: what comes out, in which order, and what is remembered.

use countersign_reference::pending_action::{
    ActionId, CancelReason, Decision, Effect, Input, Message, Output, Propose, ReadEffect, Refusal,
    Run, Settings, Status, Text, ToolStatus,
};
use countersign_reference::time::Timestamp;

use crate::pending_action::stage::{
    ALLOWED, ARGUMENTS, ASKED, DENIED, EXPIRED, EXPIRY, START, Stage, allow, cancel, decision,
    deny, end_session, expiring, finish, of_session, ordinary, say, telling,
};

/// The actions that the events are about, in their order.
fn told_of(outputs: &[Output]) -> Vec<ActionId> {
    let about = outputs.iter().filter_map(|output| {
        let Output::Event(event) = output else {
            return None;
        };
        Some(event.action_id)
    });
    about.collect()
}

/// PA-1, PA-13: whatever its effect, a proposed call waits.
#[test]
fn a_proposed_call_waits_whatever_its_effect() {
    for effect in [
        Effect::Read,
        Effect::Write,
        Effect::Destructive,
        Effect::External,
    ] {
        let mut stage = Stage::new();
        let proposed = stage.does(Input::Propose(Propose {
            effect,
            ..ordinary()
        }));
        assert_eq!(proposed, ASKED, "{effect:?}");
        let action = &stage.ledger.actions()[0];
        assert_eq!(action.status, Status::Pending);
    }
}

/// PA-13: the other reading. Only what reads is released unasked, and nobody is shown a question.
#[test]
fn a_read_call_can_be_released_at_once() {
    let settings = Settings {
        read_effect: ReadEffect::Runs,
        ..Settings::default()
    };
    for effect in [Effect::Write, Effect::Destructive, Effect::External] {
        let proposed = Stage::with(settings).does(Input::Propose(Propose {
            effect,
            ..ordinary()
        }));
        assert_eq!(proposed, ASKED, "{effect:?}");
    }
    let mut stage = Stage::with(settings);
    let read = Propose {
        effect: Effect::Read,
        ..ordinary()
    };
    assert_eq!(
        stage.does(Input::Propose(read)),
        [
            "record proposed",
            "event created",
            "event decided Allow",
            "append call",
            "perform 1"
        ]
    );
    let at = Timestamp::from_millis(START);
    assert_eq!(
        stage.ledger.actions()[0].status,
        Status::Accepted {
            by: None,
            at,
            run: Run::Unfinished
        }
    );
    // Told alike after other settings are in force.
    let told = stage.ledger.clone();
    stage.crashes_into(Settings::default(), None, 1);
    assert_eq!(stage.ledger.actions(), told.actions());
}

/// PA-2, PA-3, PA-4: allowed, the call is appended and released, and who and when is kept.
#[test]
fn allow_releases_the_call() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.now += 7;
    let outputs = stage.outputs(allow(id));
    assert_eq!(telling(&outputs), ALLOWED);
    let Some(Output::Perform(call)) = outputs.last() else {
        panic!("not released");
    };
    assert_eq!(call.action_id, id);
    assert_eq!(call.tool.as_str(), "carpeta/delete-potreros");
    assert_eq!(call.arguments.as_str(), ARGUMENTS);
    let Status::Accepted { by, at, run } = &stage.action(id).status else {
        panic!("not accepted");
    };
    assert_eq!(by.as_ref().map(ToString::to_string).as_deref(), Some("ana"));
    assert_eq!(at.millis(), START + 7);
    assert_eq!(*run, Run::Unfinished);
}

/// PA-5, PA-6: denied, a denied result is appended and nothing runs.
#[test]
fn deny_appends_a_denied_result() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    assert_eq!(stage.does(deny(id)), DENIED);
    let Status::Rejected { by, at } = &stage.action(id).status else {
        panic!("not rejected");
    };
    assert_eq!((by.as_str(), at.millis()), ("ana", START));
}

/// PA-4, PA-10: the result is appended, whatever it is; what never ran is not told to have been executed.
#[test]
fn a_finished_tool_has_its_result_appended() {
    for (status, word, told) in [
        (ToolStatus::Success, "success", "event executed Success"),
        (ToolStatus::Error, "error", "event executed Error"),
        (ToolStatus::NotRun, "not run", "event not_run"),
    ] {
        let mut stage = Stage::new();
        let id = stage.proposes(ordinary());
        stage.does(allow(id));
        assert_eq!(
            stage.does(finish(id, status)),
            ["record finished", "append result", told]
        );
        assert_eq!(stage.status(id), word);
    }
}

/// PA-5
#[test]
fn cancel_takes_the_question_back() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    assert_eq!(
        stage.does(cancel(id)),
        [
            "record cancelled",
            "append cancelled result",
            "event cancelled Requested"
        ]
    );
    let at = Timestamp::from_millis(START);
    let reason = CancelReason::Requested;
    assert_eq!(stage.action(id).status, Status::Cancelled { reason, at });
}

/// PA-7: one millisecond before the expiry, at, and after; in both readings of the boundary.
#[test]
fn expiry_is_noticed_by_any_call_at_its_time() {
    use countersign_reference::pending_action::ExpiryBoundary;
    // No whole second, so that the milliseconds count.
    let expiry = EXPIRY + 250;
    for (expiry_boundary, beyond, has_expired) in [
        (ExpiryBoundary::At, -1, false),
        (ExpiryBoundary::At, 0, true),
        (ExpiryBoundary::At, 1, true),
        (ExpiryBoundary::After, -1, false),
        (ExpiryBoundary::After, 0, false),
        (ExpiryBoundary::After, 1, true),
    ] {
        let now = expiry + beyond;
        let mut stage = Stage::with(Settings {
            expiry_boundary,
            ..Settings::default()
        });
        let id = stage.proposes(Propose {
            expires_at: Some(Timestamp::from_millis(expiry)),
            ..ordinary()
        });
        let first = stage.ledger.next_deadline().expect("it expires");
        assert_eq!(has_expired, now >= first.millis());
        stage.now = now;
        let outputs = stage.does(Input::Tick);
        if has_expired {
            assert_eq!(outputs, EXPIRED);
            let at = Timestamp::from_millis(now);
            assert_eq!(stage.action(id).status, Status::Expired { at });
            assert_eq!(stage.ledger.next_deadline(), None);
        } else {
            assert_eq!(outputs, [""; 0]);
            assert_eq!(stage.does(allow(id)), ALLOWED);
        }
    }
}

/// PA-7: what has expired is settled before anything else, in the order of expiry and then of creation.
#[test]
fn expiry_comes_first_and_in_order() {
    let mut stage = Stage::new();
    let expires = |seconds: i64| Propose {
        expires_at: Some(Timestamp::from_millis(START + seconds * 1_000)),
        ..ordinary()
    };
    let ids = [9, 5, 5, 7, 20].map(|seconds| stage.proposes(expires(seconds)));
    let first = Timestamp::from_millis(START + 5_000);
    assert_eq!(stage.ledger.next_deadline(), Some(first));
    stage.now = START + 9_000;
    let outputs = stage.outputs(allow(ids[4]));
    let order = [ids[1], ids[2], ids[3], ids[0], ids[4]];
    assert_eq!(told_of(&outputs), order);
    assert_eq!(stage.ledger.next_deadline(), None);
}

/// PA-7: an action without expiry never expires.
#[test]
fn without_expiry_an_action_waits_for_ever() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    assert_eq!(stage.ledger.next_deadline(), None);
    stage.now = Timestamp::MAX.millis();
    assert_eq!(stage.does(Input::Tick), [""; 0]);
    assert_eq!(stage.does(allow(id)), ALLOWED);
}

/// PA-7: a clock that runs backwards does not bring anything back.
#[test]
fn time_never_goes_back() {
    let mut stage = Stage::new();
    let id = stage.proposes(expiring());
    let other = stage.proposes(ordinary());
    stage.now = EXPIRY;
    stage.does(Input::Tick);
    stage.now = START;
    let ignored = stage.outputs(allow(id));
    assert_eq!(telling(&ignored), ["audit PA-7"]);
    let [Output::Audit(audit)] = &ignored[..] else {
        panic!("not ignored");
    };
    assert_eq!(audit.at.millis(), EXPIRY);
    stage.does(deny(other));
    let Status::Rejected { at, .. } = stage.action(other).status else {
        panic!("not rejected");
    };
    assert_eq!(at.millis(), EXPIRY);
}

/// PA-5: the session's pending actions are cancelled in the order of creation, then what was released is withdrawn.
/// Other sessions go on.
#[test]
fn the_end_of_a_session_cancels_and_withdraws() {
    let mut stage = Stage::new();
    let ids = [(); 5].map(|()| stage.proposes(ordinary()));
    let other = stage.proposes(of_session("s2"));
    stage.does(allow(ids[3]));
    stage.does(allow(ids[1]));
    stage.does(allow(ids[4]));
    stage.does(finish(ids[4], ToolStatus::Success));
    let cancelled = ["append cancelled result", "event cancelled SessionEnded"];
    let mut expected = vec!["record session_ended"];
    expected.extend(cancelled.iter().chain(&cancelled));
    expected.extend(["withdraw 2", "withdraw 4"]);
    let outputs = stage.outputs(end_session("s1"));
    assert_eq!(telling(&outputs), expected);
    assert_eq!(told_of(&outputs), [ids[0], ids[2]]);
    let statuses = ids.map(|id| stage.status(id));
    assert_eq!(
        statuses,
        [
            "cancelled",
            "unfinished",
            "cancelled",
            "unfinished",
            "success"
        ]
    );
    let (reason, at) = (CancelReason::SessionEnded, Timestamp::from_millis(START));
    let by_the_end = Status::Cancelled { reason, at };
    assert_eq!(stage.action(ids[2]).status, by_the_end);
    assert_eq!(stage.status(other), "pending");
    // What had begun may still come back, and what had not is told so.
    stage.does(finish(ids[1], ToolStatus::Error));
    stage.does(finish(ids[3], ToolStatus::NotRun));
    assert_eq!(stage.does(allow(ids[0])), ["audit PA-8"]);
}

/// PA-5: a session ends once, also one that nobody has heard of; then nothing is proposed in it.
#[test]
fn a_session_ends_once_known_or_not() {
    let mut stage = Stage::new();
    assert_eq!(stage.does(end_session("s1")), ["record session_ended"]);
    for after in [end_session("s1"), Input::Propose(ordinary())] {
        let refused = stage.refuses(after);
        assert_eq!(refused, Refusal::SessionEnded);
        assert_eq!(refused.clause().to_string(), "PA-5");
    }
    assert_eq!(stage.does(Input::Propose(of_session("s2"))), ASKED);
    let nameless = stage.refuses(end_session(""));
    assert_eq!(nameless.clause().to_string(), "PA-1");
}

/// PA-10: each action keeps when it was decided and when its tool came back, to the millisecond.
#[test]
fn an_action_keeps_its_times() {
    let mut stage = Stage::new();
    let (allowed, denied) = (stage.proposes(ordinary()), stage.proposes(ordinary()));
    stage.now = START + 7;
    stage.does(allow(allowed));
    stage.does(deny(denied));
    let decided = Timestamp::from_millis(START + 7);
    let Status::Rejected { at, .. } = stage.action(denied).status else {
        panic!("was not denied");
    };
    assert_eq!(at, decided);
    stage.now = START + 1_009;
    stage.does(finish(allowed, ToolStatus::Error));
    let Status::Accepted { at, run, .. } = stage.action(allowed).status else {
        panic!("was not allowed");
    };
    assert_eq!(at, decided);
    let finished = Run::Finished {
        status: ToolStatus::Error,
        at: Timestamp::from_millis(START + 1_009),
    };
    assert_eq!(run, finished);
}

/// PA-11: what somebody says is recorded and appended untouched and decides nothing, whatever it says.
#[test]
fn free_text_decides_nothing() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    let before = stage.ledger.actions().to_vec();
    for text in [
        "yes",
        "Sí, borrar",
        "",
        &format!("{{\"op\":\"decide\",\"action_id\":\"{id}\",\"decision\":\"allow\"}}"),
        "\u{0}\u{202e}\n",
    ] {
        let said = stage.outputs(say(text));
        let [Output::Record(_), Output::Append(append)] = &said[..] else {
            panic!("{said:?}");
        };
        let untouched = Message::UserMessage {
            by: "ana".into(),
            text: text.into(),
        };
        assert_eq!(append.message, untouched);
        assert_eq!(stage.ledger.actions(), before);
    }
}

/// PA-4: the transcript has what the tool returned, untouched, and so has the journal.
#[test]
fn a_result_is_told_as_the_tool_returned_it() {
    for returned in ["", " done\r\n", "\u{feff}{\"a\":1,\"a\": 1.0}"] {
        let mut stage = Stage::new();
        let id = stage.proposes(ordinary());
        stage.does(allow(id));
        stage.does(Input::FinishTool {
            action_id: id.into(),
            status: ToolStatus::Error,
            result: Text::new(returned),
        });
        stage.crashes();
        let results = stage.outputs(Input::Restart);
        let appended = results.iter().rev().find_map(|output| {
            let Output::Append(append) = output else {
                return None;
            };
            Some(&append.message)
        });
        let Some(Message::ToolResult { result, .. }) = appended else {
            panic!("no result");
        };
        assert_eq!(result.as_str(), returned);
    }
}

/// PA-8: every settled action refuses every further decision, cancellation and expiry, and changes nothing.
#[test]
fn what_is_settled_stays_settled() {
    type Settle = fn(&mut Stage, ActionId);
    let ways: [(Settle, &str, Refusal, Refusal); 5] = [
        (
            |stage, id| {
                stage.does(allow(id));
            },
            "audit PA-8",
            Refusal::AlreadySettled,
            Refusal::AlreadyFinished,
        ),
        (
            |stage, id| {
                stage.does(deny(id));
            },
            "audit PA-8",
            Refusal::AlreadySettled,
            Refusal::NotAllowed,
        ),
        (
            |stage, id| {
                stage.does(cancel(id));
            },
            "audit PA-8",
            Refusal::AlreadySettled,
            Refusal::NotAllowed,
        ),
        (
            |stage, _| {
                stage.does(end_session("s1"));
            },
            "audit PA-8",
            Refusal::AlreadySettled,
            Refusal::NotAllowed,
        ),
        (
            |stage, _| stage.now = EXPIRY,
            "audit PA-7",
            Refusal::Expired,
            Refusal::Expired,
        ),
    ];
    for (settle, ignored, not_cancelled, not_finished) in ways {
        let mut stage = Stage::new();
        let id = stage.proposes(expiring());
        settle(&mut stage, id);
        stage.does(Input::Tick);
        if stage.status(id) == "unfinished" {
            stage.does(finish(id, ToolStatus::Success));
        }
        let before = stage.ledger.clone();
        for again in [Decision::Allow, Decision::Deny] {
            assert_eq!(
                stage.does(Input::Decide(decision(id, again))),
                [ignored],
                "{again:?}"
            );
        }
        assert_eq!(stage.refuses(cancel(id)), not_cancelled);
        let again = stage.refuses(finish(id, ToolStatus::Error));
        assert_eq!(again, not_finished);
        assert_eq!(stage.ledger, before);
    }
}

/// PA-1, PA-3: what is not known or not decided cannot come back or be taken back.
#[test]
fn only_what_was_released_comes_back() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    let refused = stage.refuses(finish(id, ToolStatus::Success));
    assert_eq!(refused, Refusal::StillPending);
    assert_eq!(refused.clause().to_string(), "PA-3");
    for unknown in [
        "",
        "pa_",
        "1",
        "pa_00000000000000000000000000000009",
        "PA_1",
    ] {
        let refused = stage.refuses(Input::Cancel {
            action_id: unknown.into(),
        });
        assert_eq!(refused, Refusal::UnknownAction, "{unknown:?}");
        let refused = stage.refuses(Input::FinishTool {
            action_id: unknown.into(),
            status: ToolStatus::Success,
            result: Text::default(),
        });
        assert_eq!(refused.clause().to_string(), "PA-1", "{unknown:?}");
    }
}

/// PA-5, PA-7, PA-8: the clauses of what is refused late.
#[test]
fn a_late_refusal_names_its_clause() {
    for (refusal, clause) in [
        (Refusal::NoFreshId, "PA-1"),
        (Refusal::UnknownAction, "PA-1"),
        (Refusal::StillPending, "PA-3"),
        (Refusal::NotAllowed, "PA-5"),
        (Refusal::Expired, "PA-7"),
        (Refusal::AlreadySettled, "PA-8"),
        (Refusal::AlreadyFinished, "PA-8"),
    ] {
        assert_eq!(refusal.clause().to_string(), clause, "{refusal}");
    }
}
