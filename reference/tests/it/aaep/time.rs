//! The time that a question has: more of it, and how much of it is left.

use countersign_reference::aaep::{
    Authority, ClarificationPhase, Clarify, Decision, Input, Output, Phase, Refusal, ReplyToken,
    Settings,
};
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use crate::aaep::stage::{
    ACCEPTED, DEADLINE, REJECTED, START, Stage, TIMEOUT, ask, ask_accepting, cancel, clarify,
    deliver, extend, reply, tell,
};

const NOTHING: [&str; 0] = [];

/// The times at which something comes out of ticks at every one of these, in milliseconds from the start, and what.
fn told(stage: &mut Stage, at: impl IntoIterator<Item = i64>) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    for after in at {
        stage.now = START + after;
        let told = stage.does(Input::Tick);
        all.extend(told.into_iter().map(|told| (after, told)));
    }
    all
}

fn asked_for(stage: &mut Stage, timeout_seconds: u64) -> ReplyToken {
    let mut question = ask("a1");
    question.timeout_seconds = timeout_seconds;
    stage.asks(question)
}

fn clarified_for(stage: &mut Stage, timeout_seconds: u64) -> ReplyToken {
    stage.clarifies(Clarify {
        timeout_seconds,
        ..clarify("Which account?")
    })
}

/// Either kind of question.
const ASKED: [fn(&mut Stage, u64) -> ReplyToken; 2] = [asked_for, clarified_for];

// More time.

/// AAEP-6.4.2-3, AAEP-6.4-1: the default waits for the new deadline: not before, at, after.
#[test]
fn more_time_moves_the_deadline_of_the_default() {
    let new_deadline = DEADLINE + 5_000;
    for (now, expected) in [
        (new_deadline - 1, &NOTHING[..]),
        (new_deadline, &ACCEPTED),
        (new_deadline + 1, &ACCEPTED),
    ] {
        let mut stage = Stage::new();
        let token = stage.asks(ask_accepting("a1"));
        stage.now = DEADLINE - 1;
        assert_eq!(
            stage.does(extend(&token, TIMEOUT + 5)),
            ["progress.updated 5001"]
        );
        stage.now = DEADLINE;
        assert_eq!(stage.does(Input::Tick), NOTHING);
        stage.now = now;
        assert_eq!(stage.does(Input::Tick), expected);
    }
}

/// AAEP-6.4.2-3, AAEP-6.3.4-4: a reply decided before the new deadline is in time.
#[test]
fn more_time_moves_the_deadline_of_the_reply() {
    let new_deadline = DEADLINE + 1_000;
    for (decided_at, in_time) in [
        (new_deadline - 1, true),
        (new_deadline, false),
        (new_deadline + 1, false),
    ] {
        let mut stage = Stage::new();
        let token = stage.asks(ask("a1"));
        stage.does(extend(&token, TIMEOUT + 1));
        stage.now = new_deadline - 1;
        let told = stage.does(deliver(
            "sub_a",
            &reply(&token, Decision::Accept, decided_at),
        ));
        if in_time {
            assert_eq!(told[1..], ACCEPTED);
        } else {
            assert_eq!(told, ["respond 204", "audit AAEP-6.3.4-4"]);
        }
    }
}

/// AAEP-6.4.2-3: a clarification gets more time like a confirmation.
#[test]
fn a_clarification_gets_more_time() {
    let mut stage = Stage::new();
    let token = stage.clarifies(clarify("Which account?"));
    assert_eq!(
        stage.does(extend(&token, TIMEOUT + 1)),
        ["progress.updated 11000"]
    );
    stage.now = DEADLINE;
    assert_eq!(stage.does(Input::Tick), NOTHING);
    let phase = |stage: &Stage| stage.producer.clarifications()[0].phase;
    assert_eq!(phase(&stage), ClarificationPhase::Pending);
    stage.now = DEADLINE + 1_000;
    stage.does(Input::Tick);
    let by = Authority::Timeout;
    assert_eq!(phase(&stage), ClarificationPhase::Resolved { by });
}

/// AAEP-6.4.2-3: only a pending question gets more time.
#[test]
fn what_is_not_pending_gets_no_more_time() {
    for asked in ASKED {
        let mut stage = Stage::new();
        let unknown = ReplyToken::from_bits(99);
        assert_eq!(
            stage.refuses(extend(&unknown, 20)),
            Refusal::NothingToExtend
        );
        let token = asked(&mut stage, TIMEOUT);
        let mut cancelled = stage.clone();
        cancelled.does(cancel(&token));
        assert_eq!(
            cancelled.refuses(extend(&token, 20)),
            Refusal::NothingToExtend
        );
        stage.now = DEADLINE;
        stage.does(Input::Tick);
        assert_eq!(stage.refuses(extend(&token, 20)), Refusal::NothingToExtend);
    }
}

/// AAEP-6.4.2-3, AAEP-6.4-1: what is due comes first, so at the deadline it is too late.
#[test]
fn at_the_deadline_it_is_too_late_for_more_time() {
    for (now, refused) in [
        (DEADLINE - 1, None),
        (DEADLINE, Some(Refusal::NothingToExtend)),
        (DEADLINE + 1, Some(Refusal::NothingToExtend)),
    ] {
        let mut stage = Stage::new();
        let token = stage.asks(ask("a1"));
        let now = Timestamp::from_millis(now);
        let outcome = stage
            .producer
            .handle(now, &mut stage.ids, extend(&token, 20));
        assert_eq!(outcome.refused, refused);
        if refused.is_some() {
            let told: Vec<_> = outcome.outputs.iter().map(tell).collect();
            assert_eq!(told, REJECTED);
        }
    }
}

/// AAEP-6.4.2-3: no less time than there is, and not as much. AAEP-EV-5: nor more than a day.
#[test]
fn more_time_is_more_and_at_most_a_day() {
    for asked in ASKED {
        let mut stage = Stage::new();
        let token = asked(&mut stage, TIMEOUT);
        for (seconds, refusal) in [
            (0, Refusal::TimeoutOutOfRange),
            (1, Refusal::NotLonger),
            (TIMEOUT - 1, Refusal::NotLonger),
            (TIMEOUT, Refusal::NotLonger),
            (86_401, Refusal::TimeoutOutOfRange),
            (u64::MAX, Refusal::TimeoutOutOfRange),
        ] {
            assert_eq!(stage.refuses(extend(&token, seconds)), refusal);
        }
        stage.does(extend(&token, TIMEOUT + 1));
        // It is the present timeout that counts.
        assert_eq!(
            stage.refuses(extend(&token, TIMEOUT + 1)),
            Refusal::NotLonger
        );
        stage.does(extend(&token, 86_399));
        stage.does(extend(&token, 86_400));
    }
}

/// AAEP-EV-5, AAEP-6.4-1: the new deadline lies within the calendar.
#[test]
fn more_time_ends_within_the_calendar() {
    for (seconds, refused) in [
        (11, None),
        (12, None),
        (13, Some(Refusal::TimeoutOutOfRange)),
    ] {
        let mut stage = Stage::new();
        stage.now = Timestamp::MAX.millis() - 12_000;
        let token = stage.asks(ask("a1"));
        match refused {
            None => assert_eq!(stage.does(extend(&token, seconds)).len(), 1),
            Some(refusal) => assert_eq!(stage.refuses(extend(&token, seconds)), refusal),
        }
    }
}

/// AAEP-6.4.2-3, AAEP-6.2.2-3: the new timeout lasts over a restart, and is told on the wire.
#[test]
fn more_time_is_told_and_lasts() {
    for progress in [true, false] {
        let mut stage = Stage::with(Settings {
            progress,
            ..Settings::default()
        });
        let token = stage.asks(ask("a1"));
        stage.now += 1;
        let told = stage.outputs(extend(&token, 90));
        let [Output::Emit(event)] = &told[..] else {
            panic!("one event: {told:?}");
        };
        assert_eq!(
            json!(event),
            json!({
                "@context": "https://aaep-protocol.org/context/v1",
                "type": "aaep:agent.progress.updated",
                "event_id": event.event_id,
                "session_id": "sess_a",
                "timestamp": "2026-05-24T14:22:20.001Z",
                "producer": {"agent_id": "countersign-reference"},
                "sequence_number": 3,
                "urgency": "normal",
                "progress": {"description": "There is more time to answer now: 90 seconds."},
                "eta_ms": 89_999,
                "extensions": {"countersign": {"reply_token": token}},
            })
        );
        let mut stage = stage.stored_and_read_back();
        stage.now = START + 89_999;
        let rejected = |stage: &mut Stage| stage.does(Input::Tick).contains(&REJECTED[0].into());
        assert!(!rejected(&mut stage));
        stage.now = START + 90_000;
        assert!(rejected(&mut stage));
    }
}

// The countdown.

/// AAEP-6.4.3-4: 50% and 10% of the timeout remain: not before, at, after. The time left is the true one.
#[test]
fn a_long_question_is_counted_down() {
    for asked in ASKED {
        for (now, expected) in [
            (49_999, None),
            (50_000, Some("progress.updated 50000")),
            (50_001, Some("progress.updated 49999")),
        ] {
            let mut stage = Stage::new();
            asked(&mut stage, 100);
            stage.now = START + now;
            let told = stage.does(Input::Tick);
            assert_eq!(told, Vec::from_iter(expected), "{now}");
        }
        for (now, expected) in [
            (89_999, None),
            (90_000, Some("progress.updated 10000")),
            (90_001, Some("progress.updated 9999")),
        ] {
            let mut stage = Stage::new();
            asked(&mut stage, 100);
            stage.now = START + 50_000;
            stage.does(Input::Tick);
            stage.now = START + now;
            let told = stage.does(Input::Tick);
            assert_eq!(told, Vec::from_iter(expected), "{now}");
        }
    }
}

/// AAEP-6.4.3-1: only over a minute. The moments are exact to the millisecond.
#[test]
fn a_question_of_up_to_a_minute_is_not_counted_down() {
    for (timeout, expected) in [
        (59, vec![]),
        (60, vec![]),
        (
            61,
            vec![
                (30_500, "progress.updated 30500".to_owned()),
                (54_900, "progress.updated 6100".to_owned()),
            ],
        ),
    ] {
        let mut stage = Stage::new();
        asked_for(&mut stage, timeout);
        assert_eq!(told(&mut stage, (0..59_000).step_by(100)), expected);
    }
}

/// AAEP-6.4.3-4: each moment is told once, by whichever call comes first; also where the clock steps back.
#[test]
fn a_moment_is_told_once() {
    let mut stage = Stage::new();
    asked_for(&mut stage, 100);
    let at = [60_000, 50_000, 60_000, 89_999, 95_000, 40_000, 95_000];
    assert_eq!(
        told(&mut stage, at),
        [
            (60_000, "progress.updated 40000".to_owned()),
            (95_000, "progress.updated 5000".to_owned()),
        ]
    );
}

/// AAEP-6.4.3-4: of two moments that have passed the last is told, with the time left now; none where the deadline has
/// passed, too: before, at, after.
#[test]
fn of_the_moments_that_have_passed_the_last_is_told() {
    for (now, expected) in [
        (89_999, "progress.updated 10001"),
        (90_000, "progress.updated 10000"),
        (90_001, "progress.updated 9999"),
        (99_999, "progress.updated 1"),
        (100_000, REJECTED[0]),
        (100_001, REJECTED[0]),
    ] {
        let mut stage = Stage::new();
        asked_for(&mut stage, 100);
        stage.now = START + now;
        assert_eq!(stage.does(Input::Tick), [expected]);
    }
}

/// AAEP-6.4.3-4, AAEP-6.4-1: what one call tells of several questions comes in the order of time; at one moment the default
/// comes first.
#[test]
fn countdown_and_defaults_come_in_the_order_of_time() {
    let mut stage = Stage::new();
    let mut short = ask("a1");
    for (action, timeout) in [("a1", 49), ("a2", 50), ("a3", 51)] {
        short.action.id = crate::aaep::stage::action_id(action);
        short.timeout_seconds = timeout;
        stage.asks(short.clone());
    }
    clarified_for(&mut stage, 100);
    stage.now = START + 55_000;
    let told = stage.does(Input::Tick);
    let shown: Vec<&str> = told
        .iter()
        .filter(|told| !told.ends_with(">AwaitingInput"))
        .map(String::as_str)
        .collect();
    assert_eq!(
        shown,
        [
            "state.changed AwaitingInput>Thinking (a1 Rejected)",
            "state.changed AwaitingInput>Thinking (a2 Rejected)",
            "progress.updated 45000",
            "state.changed AwaitingInput>Thinking (a3 Rejected)",
        ]
    );
}

/// AAEP-6.4.3-4: two questions are counted down each by itself, and each event says of which.
#[test]
fn each_question_has_its_own_countdown() {
    let mut stage = Stage::new();
    let tokens = [asked_for(&mut stage, 200), clarified_for(&mut stage, 100)];
    stage.now = START + 100_000 - 1;
    let told = stage.outputs(Input::Tick);
    let of: Vec<Value> = told
        .iter()
        .map(|told| json!(told)["emit"]["extensions"]["countersign"].clone())
        .collect();
    assert_eq!(of, [json!({"reply_token": tokens[1]})]);
    stage.now = START + 100_000;
    let told = stage.outputs(Input::Tick);
    let last = json!(told.last());
    assert_eq!(
        last["emit"]["extensions"]["countersign"],
        json!({"reply_token": tokens[0]})
    );
    assert_eq!(
        last["emit"]["progress"],
        json!({"description": "Time left to answer: 100 seconds."})
    );
}

/// AAEP-6.4.3-1: a question that is resolved or taken back is counted down no more.
#[test]
fn what_is_no_longer_pending_is_not_counted_down() {
    for asked in ASKED {
        let mut stage = Stage::new();
        let token = asked(&mut stage, 100);
        stage.now += 50_000;
        let mut replied = stage.clone();
        // What is due comes first.
        assert_eq!(
            replied.replies(&token, Decision::Reject)[0],
            "progress.updated 50000"
        );
        stage.does(cancel(&token));
        assert_eq!(told(&mut stage, [90_000, 100_000]), []);
        assert_eq!(stage.producer.next_deadline(), None);
    }
}

/// AAEP-6.4.3-4: the host is told when to call for the countdown; it is not where there is none.
#[test]
fn the_host_learns_when_time_is_to_be_told() {
    for (progress, expected) in [(true, &[50_000, 90_000, 100_000][..]), (false, &[100_000])] {
        let mut stage = Stage::with(Settings {
            progress,
            ..Settings::default()
        });
        asked_for(&mut stage, 100);
        let mut seen = Vec::new();
        while let Some(next) = stage.producer.next_deadline() {
            stage.now = next.millis();
            seen.push(stage.now - START);
            assert_eq!(stage.does(Input::Tick).len(), 1);
        }
        assert_eq!(seen, expected);
    }
}

/// AAEP-6.4.3-4, AAEP-6.4.2-3: after an extension the moments of the new timeout count that are later than it, and no others.
#[test]
fn more_time_has_its_own_countdown() {
    for (extended_at, timeout, expected) in [
        // Both moments of the new timeout are to come.
        (60_000, 200, &[(100_000, 100_000), (180_000, 20_000)][..]),
        // One lies before the extension: before, at, after.
        (54_999, 110, &[(55_000, 55_000), (99_000, 11_000)]),
        (55_000, 110, &[(99_000, 11_000)]),
        (55_001, 110, &[(99_000, 11_000)]),
        // Both do.
        (99_999, 110, &[]),
    ] {
        let mut stage = Stage::new();
        let token = asked_for(&mut stage, 100);
        told(&mut stage, [extended_at]);
        stage.does(extend(&token, timeout));
        let progress: Vec<_> = expected
            .iter()
            .map(|(at, left)| (*at, format!("progress.updated {left}")))
            .collect();
        let moments = [55_000, 90_000, 99_000, 100_000, 109_999, 180_000];
        let later = moments.into_iter().filter(|at| *at > extended_at);
        let seen: Vec<_> = told(&mut stage, later)
            .into_iter()
            .filter(|(_, told)| told.starts_with("progress"))
            .collect();
        assert_eq!(seen, progress, "{extended_at}");
    }
}

/// AAEP-6.4.2-3, AAEP-6.4.3-1: a short question that becomes a long one is counted down from then on.
#[test]
fn a_short_question_that_is_extended_is_counted_down() {
    let mut stage = Stage::new();
    let token = asked_for(&mut stage, 60);
    stage.does(extend(&token, 61));
    assert_eq!(told(&mut stage, [30_499, 30_500]).len(), 1);
}

/// AAEP-6.4.3-4: after a restart what was told is not told again, and what comes later is.
#[test]
fn the_countdown_goes_on_after_a_restart() {
    let mut stage = Stage::new();
    asked_for(&mut stage, 100);
    assert_eq!(told(&mut stage, [50_000]).len(), 1);
    let mut stage = stage.stored_and_read_back();
    let restart = || Input::Restart { lost: Vec::new() };
    assert_eq!(stage.does(restart()), NOTHING);
    stage.now = START + 90_000;
    assert_eq!(stage.does(restart()), ["progress.updated 10000"]);
}

/// AAEP-6.4.3-4, AAEP-EV-4: a time that was told to nobody is told again byte for byte.
#[test]
fn a_time_that_was_lost_is_told_again() {
    let mut stage = Stage::new();
    asked_for(&mut stage, 100);
    stage.now = START + 50_000;
    let lost = stage.outputs(Input::Tick);
    stage.now += 1;
    assert_eq!(stage.outputs(Input::Restart { lost: lost.clone() }), lost);
}

/// AAEP-6.4.3-4, AAEP-6.7-1: a question that nobody has seen is counted down from when it is asked anew.
#[test]
fn a_question_that_was_lost_is_counted_down_anew() {
    for kind in [
        Input::Confirm(countersign_reference::aaep::Ask {
            timeout_seconds: 100,
            ..ask("a1")
        }),
        Input::Clarify(Clarify {
            timeout_seconds: 100,
            ..clarify("Which account?")
        }),
    ] {
        let mut stage = Stage::new();
        let lost = stage.outputs(kind);
        stage.now = START + 70_000;
        assert_eq!(stage.outputs(Input::Restart { lost }).len(), 2);
        assert_eq!(
            told(&mut stage, [90_000, 119_999, 120_000]),
            [(120_000, "progress.updated 50000".to_owned())]
        );
    }
}

/// AAEP-6.4.3-3: `timeout_seconds` rules with or without a countdown.
#[test]
fn without_a_countdown_the_default_is_the_same() {
    for progress in [true, false] {
        let mut stage = Stage::with(Settings {
            progress,
            ..Settings::default()
        });
        asked_for(&mut stage, 100);
        let told = told(&mut stage, [50_000, 90_000, 100_000]);
        assert_eq!(told.len(), if progress { 3 } else { 1 });
        let by = Authority::Timeout;
        assert_eq!(
            stage.producer.confirmations()[0].phase,
            Phase::Rejected { by }
        );
    }
}
