//! What may be asked, and what silence answers.

use countersign_reference::aaep::{
    Decision, Field, Input, Refusal, ReplyToken, RiskLevel, SessionId, SessionOutcome, Settings,
};
use countersign_reference::ids::IdSource;
use countersign_reference::time::{Deadline, Timestamp};

use crate::aaep::stage::{
    ACCEPTED, DEADLINE, REJECTED, START, Stage, action_id, ask, ask_accepting, cancel, deliver,
    end, finish, out_of_range, reply, session, start, subscribe, tell, unsubscribe,
};

/// AAEP-A.4-1: the state becomes `awaiting_input` before the first question, and stays for the second.
#[test]
fn a_question_is_preceded_by_awaiting_input() {
    let mut stage = Stage::new();
    let first = stage.does(Input::Confirm(ask("a1")));
    assert_eq!(
        first,
        ["state.changed Idle>AwaitingInput", "awaiting.confirmation"]
    );
    assert_eq!(
        stage.does(Input::Confirm(ask("a2"))),
        ["awaiting.confirmation"]
    );
}

/// AAEP-6.1-6: not again while it is pending, in the same session.
#[test]
fn the_same_action_is_not_asked_for_twice() {
    let mut stage = Stage::new();
    stage.does(start("sess_b"));
    stage.asks(ask("a1"));
    assert_eq!(
        stage.refuses(Input::Confirm(ask("a1"))),
        Refusal::ActionBlocked
    );
    let mut elsewhere = ask("a1");
    elsewhere.session_id = session("sess_b");
    stage.asks(elsewhere);
    stage.asks(ask("a2"));
}

/// AAEP-6.1-6, AAEP-6.2.2-3: once released, in whichever way, it may be asked for again, with another token.
#[test]
fn a_released_action_may_be_asked_for_again() {
    let mut stage = Stage::new();
    let mut tokens = vec![stage.asks(ask("a1"))];
    stage.replies(&tokens[0], Decision::Accept);
    tokens.push(stage.asks(ask("a1")));
    stage.replies(&tokens[1], Decision::Reject);
    tokens.push(stage.asks(ask("a1")));
    stage.does(cancel(&tokens[2]));
    tokens.push(stage.asks(ask("a1")));
    stage.now = DEADLINE;
    tokens.push(stage.asks(ask("a1")));
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 5);
}

/// AAEP-EV-5: a timeout from 1 to 86400 seconds.
#[test]
fn a_question_has_a_timeout_in_range() {
    for (timeout_seconds, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (86_399, true),
        (86_400, true),
        (86_401, false),
    ] {
        let mut stage = Stage::with(Settings {
            progress: false,
            ..Settings::default()
        });
        let mut question = ask("a1");
        question.timeout_seconds = timeout_seconds;
        if fits {
            stage.asks(question);
            let deadline = i64::try_from(timeout_seconds).map(|seconds| START + seconds * 1_000);
            assert_eq!(
                stage.producer.next_deadline().map(Deadline::millis),
                deadline.ok()
            );
        } else {
            assert_eq!(
                stage.refuses(Input::Confirm(question)),
                Refusal::TimeoutOutOfRange
            );
        }
    }
}

/// AAEP-6.4-1, AAEP-6.1-1: where the calendar ends before the timeout does, the default would never come.
#[test]
fn a_question_has_a_deadline_within_the_calendar() {
    let last = Timestamp::MAX.millis() - 10_000;
    for (now, fits) in [(last - 1, true), (last, true), (last + 1, false)] {
        let mut stage = Stage::new();
        stage.now = now;
        if fits {
            stage.asks(ask_accepting("a1"));
            stage.now += 9_999;
            assert_eq!(stage.does(Input::Tick), [""; 0]);
            stage.now += 1;
            assert_eq!(stage.does(Input::Tick), ACCEPTED);
        } else {
            assert_eq!(
                stage.refuses(Input::Confirm(ask_accepting("a1"))),
                Refusal::TimeoutOutOfRange
            );
        }
    }
}

/// AAEP-EV-5: 1 to 32 different strings.
#[test]
fn a_question_has_allowed_replies_in_range() {
    for (count, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (31, true),
        (32, true),
        (33, false),
    ] {
        let mut stage = Stage::new();
        let mut question = ask("a1");
        question.allowed_replies = Some(
            (0..count)
                .map(|number| format!("option {number}"))
                .collect(),
        );
        if fits {
            stage.asks(question);
        } else {
            assert_eq!(
                stage.refuses(Input::Confirm(question)),
                Refusal::AllowedRepliesMalformed
            );
        }
    }
    let mut question = ask("a1");
    question.allowed_replies = Some(vec!["accept".into(), "reject".into(), "accept".into()]);
    assert_eq!(
        Stage::new().refuses(Input::Confirm(question)),
        Refusal::AllowedRepliesMalformed
    );
}

/// AAEP-EV-5, AAEP-EV-10: what the user reads is neither empty nor endless.
#[test]
fn a_question_has_texts_in_range() {
    const MOST: usize = 16 * 1024;
    for (length, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (MOST - 1, true),
        (MOST, true),
        (MOST + 1, false),
    ] {
        // Bytes are counted, so a character of four bytes counts four times.
        for (field, wide) in [(0, ""), (1, ""), (2, ""), (0, "😀"), (1, "é"), (2, "😀")] {
            if wide.len() > length {
                continue;
            }
            let mut question = ask("a1");
            let action = &mut question.action;
            let text = [
                &mut action.tool,
                &mut action.description,
                &mut action.consequence,
            ]
            .into_iter()
            .nth(field);
            let narrow = "x".repeat(length - wide.len());
            *text.expect("three texts") = format!("{wide}{narrow}").into();
            let mut stage = Stage::new();
            if fits {
                stage.asks(question);
            } else {
                let field = [Field::Tool, Field::Description, Field::Consequence][field];
                assert_eq!(
                    stage.refuses(Input::Confirm(question)),
                    out_of_range(field, length)
                );
            }
        }
    }
}

/// AAEP-A.1-3, AAEP-EV-5, AAEP-6.4.1-1, AAEP-6.1-6: of several faults, the session counts first, then the shape, the
/// default, the same action.
#[test]
fn a_question_is_refused_for_its_first_fault() {
    let mut stage = Stage::new();
    stage.asks(ask("a1"));
    let mut question = ask("a1");
    question.session_id = session("sess_b");
    question.timeout_seconds = 0;
    question.default_decision = Decision::Accept;
    assert_eq!(
        stage.refuses(Input::Confirm(question.clone())),
        Refusal::SessionNotActive
    );
    question.session_id = session("sess_a");
    assert_eq!(
        stage.refuses(Input::Confirm(question.clone())),
        Refusal::TimeoutOutOfRange
    );
    question.timeout_seconds = 1;
    assert_eq!(
        stage.refuses(Input::Confirm(question.clone())),
        Refusal::AcceptByDefaultHighRisk
    );
    question.default_decision = Decision::Reject;
    assert_eq!(
        stage.refuses(Input::Confirm(question.clone())),
        Refusal::ActionBlocked
    );
    question.action.id = action_id("a2");
    stage.asks(question);
}

/// A source of ids that returns `taken` some times, and after that counts up from a million.
struct Repeating {
    taken: u128,
    times: u32,
    drawn: u32,
}

impl IdSource for Repeating {
    fn next_bits(&mut self) -> u128 {
        self.drawn += 1;
        if self.drawn <= self.times {
            self.taken
        } else {
            1_000_000 + u128::from(self.drawn)
        }
    }
}

/// A source that repeats itself is asked up to eight times, and then given up.
fn check_draws(stage: &Stage, taken: u128, input: &Input, given_up: Refusal) {
    for (times, refused) in [(1, None), (7, None), (8, Some(given_up))] {
        let mut producer = stage.producer.clone();
        let mut ids = Repeating {
            taken,
            times,
            drawn: 0,
        };
        let outcome = producer.handle(Timestamp::from_millis(START), &mut ids, input.clone());
        assert_eq!(outcome.refused, refused, "repeated {times} times");
        assert_eq!(outcome.outputs.is_empty(), refused.is_some());
        assert_eq!(producer == stage.producer, refused.is_some());
    }
}

/// AAEP-6.2.2-1, AAEP-6.2.2-3: also when the question that had the token is long resolved.
#[test]
fn a_token_is_never_issued_twice() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    stage.replies(&token, Decision::Reject);
    let taken = u128::from_str_radix(&token.as_str()["rpl_".len()..], 16).expect("hexadecimal");
    check_draws(
        &stage,
        taken,
        &Input::Confirm(ask("a2")),
        Refusal::NoFreshToken,
    );
}

/// AAEP-A.1-1
#[test]
fn a_session_id_is_never_issued_twice() {
    let mut stage = Stage::empty(Settings::default());
    stage.does(start(SessionId::from_bits(7).as_str()));
    let input = Input::StartSession { session_id: None };
    check_draws(&stage, 7, &input, Refusal::NoFreshSessionId);
}

/// AAEP-6.2.1-2: 128 bits as 32 hexadecimal digits.
#[test]
fn a_token_shows_all_its_bits() {
    assert_eq!(
        ReplyToken::from_bits(0).as_str(),
        "rpl_00000000000000000000000000000000"
    );
    assert_eq!(
        ReplyToken::from_bits(u128::MAX).as_str(),
        "rpl_ffffffffffffffffffffffffffffffff"
    );
    assert_eq!(
        ReplyToken::parse(ReplyToken::from_bits(7).as_str()),
        Ok(ReplyToken::from_bits(7))
    );
}

// Timeouts.

/// AAEP-6.4.1-1, AAEP-6.4.1-2, AAEP-6.4.1-3, AAEP-6.4.1-4, AAEP-6.4.1-5, AAEP-6.4.1-6, AAEP-6.9-5: all twelve rows of
/// the table, and what silence does in each.
#[test]
fn silence_applies_the_default_of_every_class() {
    for irreversible in [false, true] {
        for risk_level in [RiskLevel::Low, RiskLevel::Medium, RiskLevel::High] {
            for default_decision in [Decision::Accept, Decision::Reject] {
                let mut stage = Stage::new();
                let mut question = ask("a1");
                question.action.irreversible = irreversible;
                question.action.risk_level = risk_level;
                question.default_decision = default_decision;
                let refusal = match (irreversible, risk_level, default_decision) {
                    (true, RiskLevel::High, Decision::Accept) => {
                        Some(Refusal::AcceptByDefaultHighRisk)
                    }
                    (true, RiskLevel::Medium, Decision::Accept) => {
                        Some(Refusal::AcceptByDefaultMediumRisk)
                    }
                    (true, RiskLevel::Low, Decision::Accept)
                    | (
                        false,
                        RiskLevel::Low | RiskLevel::Medium | RiskLevel::High,
                        Decision::Accept,
                    )
                    | (_, RiskLevel::Low | RiskLevel::Medium | RiskLevel::High, Decision::Reject) => {
                        None
                    }
                };
                if let Some(refusal) = refusal {
                    assert_eq!(stage.refuses(Input::Confirm(question)), refusal);
                    assert_eq!(stage.producer.next_deadline(), None);
                    continue;
                }
                stage.asks(question);
                stage.now = DEADLINE;
                let expected = match default_decision {
                    Decision::Accept => ACCEPTED.to_vec(),
                    Decision::Reject => REJECTED.to_vec(),
                };
                assert_eq!(stage.does(Input::Tick), expected);
            }
        }
    }
}

/// AAEP-6.4-1: at the deadline and not before, and once.
#[test]
fn the_default_applies_from_the_deadline_on() {
    for (now, due) in [
        (DEADLINE - 1, false),
        (DEADLINE, true),
        (DEADLINE + 1, true),
    ] {
        let mut stage = Stage::new();
        stage.asks(ask_accepting("a1"));
        assert_eq!(
            stage.producer.next_deadline().map(Deadline::millis),
            Some(DEADLINE)
        );
        stage.now = now;
        if due {
            assert_eq!(stage.does(Input::Tick), ACCEPTED);
            assert_eq!(stage.producer.next_deadline(), None);
        }
        assert_eq!(stage.does(Input::Tick), [""; 0]);
    }
}

/// AAEP-6.4-1: in the order of the deadlines; questions with the same deadline in the order of asking.
#[test]
fn several_defaults_apply_in_the_order_of_their_deadlines() {
    let mut stage = Stage::new();
    for (action, timeout_seconds) in [("a3", 3), ("a1", 1), ("a2", 2), ("a1b", 1)] {
        let mut question = ask(action);
        question.timeout_seconds = timeout_seconds;
        stage.asks(question);
    }
    assert_eq!(
        stage.producer.next_deadline().map(Deadline::millis),
        Some(START + 1_000)
    );
    stage.now = START + 3_000;
    assert_eq!(
        stage.does(Input::Tick),
        [
            "state.changed AwaitingInput>Thinking (a1 Rejected)",
            "state.changed Thinking>AwaitingInput",
            "state.changed AwaitingInput>Thinking (a1b Rejected)",
            "state.changed Thinking>AwaitingInput",
            "state.changed AwaitingInput>Thinking (a2 Rejected)",
            "state.changed Thinking>AwaitingInput",
            "state.changed AwaitingInput>Thinking (a3 Rejected)",
        ]
    );
}

/// AAEP-6.4-1: every call settles what is due before it does anything, also one that is then refused.
#[test]
fn every_call_settles_what_is_due_first() {
    let mut stage = Stage::new();
    stage.does(subscribe("sub_b", true));
    let reply_token = stage.asks(ask("a1"));
    stage.now = DEADLINE;
    for input in [
        start("sess_b"),
        start("sess_a"),
        subscribe("sub_c", true),
        unsubscribe("sub_a"),
        Input::Confirm(ask("a1")),
        Input::Confirm(ask("a2")),
        deliver("sub_a", &reply(&reply_token, Decision::Accept, START)),
        cancel(&reply_token),
        finish("a1"),
        end(SessionOutcome::Cancelled),
        Input::Tick,
        Input::Restart { lost: Vec::new() },
    ] {
        let mut settled = stage.clone();
        settled.does(Input::Tick);
        let mut stage = stage.clone();
        let now = Timestamp::from_millis(stage.now);
        let at_once = stage.producer.handle(now, &mut stage.ids, input.clone());
        let after = settled.producer.handle(now, &mut settled.ids, input);
        assert_eq!(tell(&at_once.outputs[0]), REJECTED[0]);
        assert_eq!(at_once.outputs[1..], after.outputs);
        assert_eq!(at_once.refused, after.refused);
        assert_eq!(stage.producer, settled.producer);
    }
}

/// AAEP-6.8-1: what has fallen due cannot be cancelled any more, though nobody had looked.
#[test]
fn a_refused_call_still_puts_out_what_was_due() {
    let mut stage = Stage::new();
    let token = stage.asks(ask_accepting("a1"));
    let outcome = stage.producer.handle(
        Timestamp::from_millis(DEADLINE),
        &mut stage.ids,
        cancel(&token),
    );
    assert_eq!(
        outcome.outputs.iter().map(tell).collect::<Vec<_>>(),
        ACCEPTED
    );
    assert_eq!(outcome.refused, Some(Refusal::NothingToCancel));
}

/// AAEP-6.4-1: a clock that steps back un-expires nothing, and its questions wait from the greatest time seen.
#[test]
fn time_never_goes_back() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    stage.now = DEADLINE;
    assert_eq!(stage.does(Input::Tick), REJECTED);
    stage.now = START - 3_600_000;
    assert_eq!(
        stage.replies(&token, Decision::Accept),
        ["respond 204", "audit AAEP-6.3.4-3"]
    );
    stage.asks(ask("a2"));
    assert_eq!(stage.producer.now().millis(), DEADLINE);
    assert_eq!(
        stage.producer.next_deadline().map(Deadline::millis),
        Some(DEADLINE + 10_000)
    );
}
