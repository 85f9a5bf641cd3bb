//! 6.4.2 and 6.4.3: more time, the countdown, and the recommended timeouts.

use super::run::{
    Out, Run, S, START, TIMEOUT, action, asks, event, extend, goes, harmless, invoked, perform,
    progress, question, refused, reply, respond,
};
use super::{
    TEXT, acceptance, accepted, answered, answering, asked, asked_both, clarified, rejection,
    unanswered,
};
use countersign_model::aaep::judge::{
    AaepJudge, Body, Call, Clarify, Confirm, Decision, Risk, State,
};
use countersign_model::aaep::numbers::{DefaultRule, Numbers};
use countersign_model::aaep::readings::Reading;

use State::{AwaitingInput, CallingTool, Thinking};

/// 100 s instead of a minute, in step 3.
fn extended(mut run: Run) -> Run {
    run.declared.extend = true;
    run.then(10_000, extend(1, 100), [progress(90_000)]);
    run
}

const LONGER: i64 = 100_000;

fn each() -> [Run; 2] {
    [asked(&action(1)), clarified(&question(1))]
}

#[test]
fn more_time_is_given_and_told_aaep_6_4_2_3() {
    for run in each() {
        let run = extended(run);
        let finding = run.breaks("AAEP-6.4.2-3", |run| run.steps[3].out.clear());
        assert!(finding.names("AAEP-6.4.2-2"), "{finding}");
        for wrong in [89_999, 90_001, 100_000, 50_000] {
            run.breaks("AAEP-6.4.2-3", |run| {
                run.steps[3].out = vec![progress(wrong)];
            });
        }
    }
}

trait InWords {
    fn in_words(self) -> Self;
}

impl InWords for Run {
    /// The time left is said in words alone.
    fn in_words(mut self) -> Self {
        self.steps[3].out = vec![event(S, Body::Progress { left: None })];
        self
    }
}

#[test]
fn how_much_time_is_left_may_be_said_in_words_aaep_6_4_2_3() {
    for run in each() {
        extended(run).in_words().conforms();
    }
}

#[test]
fn more_time_is_a_should_of_one_that_does_not_declare_it_aaep_6_4_2_3() {
    for run in each() {
        let mut run = extended(run);
        run.breaks("AAEP-6.4.2-3", |run| run.steps[3].out = vec![refused()]);
        run.declared.extend = false;
        run.steps[3].out = vec![refused()];
        run.conforms();
    }
}

/// Refused it conforms, and nothing has changed.
#[track_caller]
fn is_refused(timeout_seconds: i64) {
    for (run, out) in each()
        .into_iter()
        .zip([vec![goes(AwaitingInput, Thinking)], unanswered(None)])
    {
        let mut run = extended(run);
        run.steps[3] = super::run::Step {
            at: 1,
            call: extend(1, timeout_seconds),
            out: vec![refused()],
        };
        run.then(TIMEOUT - 1, Call::Tick, []);
        run.then(TIMEOUT, Call::Tick, out);
        run.conforms();
    }
}

#[test]
fn a_timeout_only_gets_longer_aaep_6_4_2_3() {
    for timeout in [i64::MIN, -1, 0, 1, 59, 60] {
        is_refused(timeout);
    }
    let mut run = extended(asked(&action(1)));
    run.steps[3].call = extend(1, 61);
    run.steps[3].out = vec![progress(51_000)];
    run.breaks("AAEP-6.4.2-3", |run| run.steps[3].out = vec![refused()]);
}

#[test]
fn nothing_waits_for_more_than_a_day_aaep_ev_5() {
    for timeout in [86_401, i64::MAX] {
        is_refused(timeout);
    }
    let mut run = extended(asked(&action(1)));
    run.steps[3].call = extend(1, 86_400);
    run.steps[3].out = vec![progress(86_390_000)];
    run.breaks("AAEP-6.4.2-3", |run| run.steps[3].out = vec![refused()]);
}

#[test]
fn no_deadline_is_beyond_the_calendar_aaep_ev_5() {
    let mut run = asked(&action(1));
    run.steps[2].at = 253_402_300_799_999 - START - LONGER;
    let at = run.steps[2].at;
    run.declared.extend = true;
    run.then(at, extend(1, 100), [progress(LONGER)]);
    run.breaks("AAEP-6.4.2-3", |run| run.steps[3].out = vec![refused()]);
    run.steps[3].call = extend(1, 101);
    run.steps[3].out = vec![refused()];
    run.conforms();
}

#[test]
fn only_what_waits_is_given_time_aaep_6_4_2_3() {
    for mut run in [accepted(), answered(), super::opened()] {
        run.declared.extend = true;
        run.then(2_000, extend(1, 100), [refused()]);
        run.conforms();
    }
    // At its deadline it waits no more.
    for (run, due) in each()
        .into_iter()
        .zip([vec![goes(AwaitingInput, Thinking)], unanswered(None)])
    {
        let mut run = extended(run);
        run.steps[3].at = TIMEOUT - 1;
        run.steps[3].out = vec![progress(LONGER - TIMEOUT + 1)];
        run.conforms();
        run.steps[3].at = TIMEOUT;
        run.steps[3].out = due;
        run.steps[3].out.push(refused());
        run.conforms();
    }
}

#[test]
fn the_timeout_goes_by_the_new_deadline_aaep_6_4_1() {
    let mut run = extended(asked(&harmless(1)));
    run.then(TIMEOUT, Call::Tick, []);
    run.then(LONGER - 1, Call::Tick, []);
    let out = [goes(AwaitingInput, CallingTool), invoked(1), perform(1)];
    run.then(LONGER, Call::Tick, out);
    for early in [4, 5] {
        let finding = run.breaks("AAEP-6.4.2-3", |run| {
            run.steps[early].out = std::mem::take(&mut run.steps[6].out);
        });
        assert!(finding.names("AAEP-6.1-1"), "{finding}");
    }
    run.breaks("AAEP-6.4-1", |run| run.steps[6].out.clear());
    let mut run = extended(asked(&action(1)));
    run.then(TIMEOUT, Call::Tick, []);
    let finding = run.breaks("AAEP-6.4.2-3", |run| {
        run.steps[4].out = vec![goes(AwaitingInput, Thinking)];
    });
    assert!(finding.names("AAEP-6.4-1"), "{finding}");
}

/// Before the time that it was asked with is up, no extension is what is broken, nor where the default would not have it run.
#[test]
fn what_breaks_more_than_the_extension_is_named_so_aaep_6_1_1() {
    let runs = || vec![goes(AwaitingInput, CallingTool), invoked(1), perform(1)];
    let mut run = extended(asked(&harmless(1)));
    run.then(TIMEOUT - 1, Call::Tick, []);
    run.breaks("AAEP-6.1-1", |run| run.steps[4].out = runs());
    run.breaks("AAEP-6.4-1", |run| {
        run.steps[4].out = vec![goes(AwaitingInput, Thinking)];
    });
    let mut run = extended(asked(&action(1)));
    run.then(TIMEOUT, Call::Tick, []);
    run.breaks("AAEP-6.1-1", |run| run.steps[4].out = runs());
    let mut run = extended(clarified(&question(1)));
    run.then(TIMEOUT - 1, Call::Tick, []);
    run.breaks("AAEP-6.1-8", |run| run.steps[4].out = unanswered(None));
    run.steps[4].at = TIMEOUT;
    run.breaks("AAEP-6.1-8", |run| run.steps[4].out = answering(TEXT));
}

/// Of two questions that wait, the one that has more time is the one whose default has come too early.
#[test]
fn of_two_questions_the_one_with_more_time_is_named_aaep_6_4_2_3() {
    let first = Confirm {
        timeout_seconds: 200,
        ..action(1)
    };
    let mut run = asked_both(&first, &action(2));
    run.declared.extend = true;
    run.then(10_000, extend(2, 100), [progress(90_000)]);
    run.then(TIMEOUT, Call::Tick, []);
    let finding = run.breaks("AAEP-6.4.2-3", |run| {
        run.steps[5].out = vec![goes(AwaitingInput, Thinking)];
    });
    assert!(finding.text.starts_with("c2 "), "{finding}");
}

#[test]
fn a_clarification_is_answered_by_the_new_deadline_aaep_6_1_7() {
    let mut run = extended(clarified(&question(1)));
    run.then(TIMEOUT, Call::Tick, []);
    run.then(LONGER - 1, Call::Tick, []);
    run.then(LONGER, Call::Tick, unanswered(None));
    for early in [4, 5] {
        let finding = run.breaks("AAEP-6.4.2-3", |run| {
            run.steps[early].out = std::mem::take(&mut run.steps[6].out);
        });
        assert!(finding.names("AAEP-6.1-8"), "{finding}");
    }
    run.breaks("AAEP-6.1-7", |run| run.steps[6].out.clear());
}

#[test]
fn replies_go_by_the_new_deadline_aaep_6_3_4_4() {
    let mut run = extended(asked(&action(1)));
    let at = |claimed| Call::Deliver(reply(1, Decision::Accept, claimed));
    run.then(TIMEOUT + 1, at(TIMEOUT), acceptance());
    run.breaks("AAEP-A.4-3", |run| run.steps[4].out = vec![respond(0)]);
    run.steps[4].call = at(LONGER - 1);
    run.conforms();
    run.steps[4].call = at(LONGER);
    run.steps[4].out = vec![respond(0)];
    run.breaks("AAEP-6.3.4-4", |run| run.steps[4].out = acceptance());
    run.breaks("AAEP-6.3.4-4", |run| run.steps[4].out = rejection());
    let mut run = extended(clarified(&question(1)));
    let at = |claimed| Call::Deliver(super::run::says(1, TEXT, claimed));
    run.then(TIMEOUT + 1, at(TIMEOUT), answering(TEXT));
    run.breaks("AAEP-6.1-7", |run| run.steps[4].out = vec![respond(0)]);
}

/// One that shortens it without a word, or applies what was refused, is found when it acts on it.
#[test]
fn a_refused_extension_moves_nothing_aaep_6_4_1() {
    let mut run = asked(&action(1));
    run.then(1, extend(1, 30), [refused()]);
    run.then(30_000, Call::Tick, []);
    run.then(TIMEOUT, Call::Tick, [goes(AwaitingInput, Thinking)]);
    run.breaks("AAEP-6.4-1", |run| {
        run.steps[3].out.clear();
        run.steps[4].out = std::mem::take(&mut run.steps[5].out);
    });
    run.steps[3].call = extend(1, 86_401);
    run.breaks("AAEP-6.4-1", |run| run.steps[5].out.clear());
}

/// One that says that it has carried out what was to be refused is found by what it says: a shorter timeout, one beyond a day, a question
/// that nobody asked or that is over. What it acts on later is not said again.
#[test]
fn an_extension_that_was_to_be_refused_is_named_at_once_aaep_6_4_2_3() {
    for (call, left) in [
        (extend(1, 59), 58_999),
        (extend(1, 0), -1),
        (extend(1, 86_401), 86_400_999),
        (extend(9, 100), 99_999),
    ] {
        for mut run in [asked(&action(1)), clarified(&question(1))] {
            run.then(1, call.clone(), [refused()]);
            run.breaks("AAEP-6.4.2-3", |run| {
                run.steps[3].out = vec![progress(left)];
                run.then(2, Call::Tick, []);
            });
        }
    }
    let mut run = asked(&action(1));
    run.then(TIMEOUT, Call::Tick, [goes(AwaitingInput, Thinking)]);
    run.then(TIMEOUT + 1, extend(1, 100), [refused()]);
    run.breaks("AAEP-6.4.2-3", |run| {
        run.steps[4].out = vec![progress(39_999)];
    });
    let mut run = asked(&action(1));
    run.then(1, extend(1, 59), [refused()]);
    run.breaks("AAEP-6.4.2-3", |run| {
        run.steps[3].out = vec![progress(58_999)];
        run.then(59_000, Call::Tick, [goes(AwaitingInput, Thinking)]);
    });
}

/// More progress is free: what says the time that is left has extended nothing.
#[test]
fn the_time_that_is_left_may_be_told_instead_of_an_extension_aaep_6_4_3_1() {
    for timeout in [60, 59] {
        let mut run = asked(&action(1));
        run.then(1, extend(1, timeout), [progress(TIMEOUT - 1)]);
        run.conforms();
        run.steps[3].out = vec![event(1, Body::Progress { left: None })];
        run.conforms();
        run.steps[3].out.clear();
        run.conforms();
    }
}

#[test]
fn it_is_extended_again_and_outlasts_a_restart_aaep_6_4_2_3() {
    let mut run = extended(asked(&action(1)));
    run.then(20_000, extend(1, 100), [refused()]);
    run.then(20_000, extend(1, 200), [progress(180_000)]);
    run.then(LONGER, Call::Restart { lost: 0 }, []);
    run.then(200_000, Call::Tick, [goes(AwaitingInput, Thinking)]);
    run.breaks("AAEP-6.4.2-3", |run| {
        run.steps.truncate(6);
        run.steps[5].out = vec![refused()];
    });
    run.breaks("AAEP-6.4.2-3", |run| {
        run.steps[6].out = std::mem::take(&mut run.steps[7].out);
    });
    // What told of it was lost and comes again.
    let mut run = extended(asked(&action(1)));
    run.then(20_000, Call::Restart { lost: 1 }, [Out::Again(3, 0)]);
    let finding = run.breaks("AAEP-6.4.3-1", |run| run.steps[4].out.clear());
    assert!(finding.names("AAEP-6.4.2-3"), "{finding}");
}

/// A question of this many seconds, by one that counts down.
fn counted(timeout_seconds: i64) -> [Run; 2] {
    let confirm = Confirm {
        timeout_seconds,
        ..action(1)
    };
    let clarify = Clarify {
        timeout_seconds,
        ..question(1)
    };
    [asked(&confirm), clarified(&clarify)].map(|mut run| {
        run.declared.progress = true;
        run
    })
}

#[test]
fn half_and_a_tenth_of_the_time_are_told_aaep_6_4_3_4() {
    for mut run in counted(120) {
        run.then(59_999, Call::Tick, []);
        run.then(60_000, Call::Tick, [progress(60_000)]);
        run.then(60_001, Call::Tick, []);
        run.then(107_999, Call::Tick, []);
        run.then(108_000, Call::Tick, [progress(12_000)]);
        run.breaks("AAEP-6.4.3-4", |run| run.steps[4].out.clear());
        run.breaks("AAEP-6.4.3-4", |run| run.steps[7].out.clear());
        // Late is not at the first occasion; early is free, and does not stand for it.
        run.breaks("AAEP-6.4.3-4", |run| {
            run.steps[4].out.clear();
            run.steps[5].out = vec![progress(59_999)];
        });
        run.breaks("AAEP-6.4.3-4", |run| {
            run.steps[4].out.clear();
            run.steps[3].out = vec![progress(60_001)];
        });
        // It is told once it has passed, too.
        run.steps.drain(3..5);
        run.steps[3].out = vec![progress(59_999)];
        run.breaks("AAEP-6.4.3-4", |run| run.steps[3].out.clear());
    }
}

#[test]
fn the_countdown_tells_the_time_that_is_left_aaep_6_4_3_1() {
    for mut run in counted(120) {
        run.then(60_000, Call::Tick, [progress(60_000)]);
        for wrong in [59_999, 60_001, 60, 120_000, 0] {
            run.breaks("AAEP-6.4.3-1", |run| {
                run.steps[3].out = vec![progress(wrong)];
            });
        }
        run.in_words().conforms();
    }
}

#[test]
fn of_moments_that_have_passed_together_one_is_told_aaep_6_4_3_4() {
    for mut run in counted(120) {
        run.then(119_999, Call::Tick, [progress(1)]);
        run.breaks("AAEP-6.4.3-4", |run| run.steps[3].out.clear());
    }
    let due = [vec![goes(AwaitingInput, Thinking)], unanswered(None)];
    for (mut run, out) in counted(120).into_iter().zip(due) {
        run.then(120_000, Call::Tick, out);
        run.conforms();
    }
}

#[test]
fn only_long_questions_are_counted_down_aaep_6_4_3_1() {
    for mut run in counted(60) {
        run.then(59_999, Call::Tick, []);
        run.conforms();
    }
    for mut run in counted(61) {
        run.then(30_499, Call::Tick, []);
        run.then(30_500, Call::Tick, [progress(30_500)]);
        run.then(54_900, Call::Tick, [progress(6_100)]);
        run.breaks("AAEP-6.4.3-4", |run| run.steps[4].out.clear());
        run.breaks("AAEP-6.4.3-4", |run| run.steps[5].out.clear());
        // A SHOULD of one that does not declare it; and whoever tells more is free to.
        run.steps[3].out = vec![progress(1), event(S, Body::Progress { left: None })];
        run.conforms();
        run.declared.progress = false;
        run.steps[4].out.clear();
        run.steps[5].out.clear();
        run.conforms();
    }
}

#[test]
fn what_is_decided_is_not_counted_down_aaep_6_4_3_1() {
    let decided = [
        (Call::Deliver(reply(1, Decision::Reject, 1)), rejection()),
        (Call::Deliver(super::run::says(1, TEXT, 1)), answering(TEXT)),
    ];
    for (mut run, (call, out)) in counted(120).into_iter().zip(decided) {
        run.then(1, call, out);
        run.then(60_000, Call::Tick, []);
        run.conforms();
    }
}

/// What is due comes before the call, and the countdown with it.
#[test]
fn the_countdown_comes_before_the_reply_that_ends_it_aaep_6_4_3_4() {
    let [mut run, _] = counted(120);
    let mut out = rejection();
    out.insert(0, progress(60_000));
    run.then(60_000, Call::Deliver(reply(1, Decision::Reject, 1)), out);
    run.breaks("AAEP-6.4.3-4", |run| run.without(3, 0));
}

#[test]
fn after_an_extension_the_countdown_is_of_the_new_timeout_aaep_6_4_3_4() {
    for mut run in counted(120) {
        run.declared.extend = true;
        run.then(
            60_000,
            extend(1, 200),
            [progress(60_000), progress(140_000)],
        );
        run.then(99_999, Call::Tick, []);
        run.then(100_000, Call::Tick, [progress(100_000)]);
        run.then(108_000, Call::Tick, []);
        run.then(180_000, Call::Tick, [progress(20_000)]);
        run.breaks("AAEP-6.4.3-4", |run| run.without(3, 0));
        run.breaks("AAEP-6.4.3-4", |run| run.steps[5].out.clear());
        run.breaks("AAEP-6.4.3-4", |run| run.steps[7].out.clear());
        // A moment of the new timeout that had passed before does not come back.
        run.steps.truncate(3);
        run.then(59_999, Call::Tick, []);
        run.then(59_999, extend(1, 121), [progress(61_001)]);
        run.then(60_000, Call::Tick, []);
        run.then(60_500, Call::Tick, [progress(60_500)]);
        run.breaks("AAEP-6.4.3-4", |run| run.steps[6].out.clear());
    }
}

#[test]
fn a_lost_question_is_counted_down_from_when_it_is_asked_again_aaep_6_4_3_4() {
    for mut run in counted(120) {
        run.then(70_000, Call::Restart { lost: 1 }, [Out::AskedAgain(2, 1)]);
        run.then(129_999, Call::Tick, []);
        run.then(130_000, Call::Tick, [progress(60_000)]);
        run.breaks("AAEP-6.4.3-4", |run| run.steps[5].out.clear());
    }
    for mut run in counted(120) {
        run.then(70_000, Call::Restart { lost: 0 }, [progress(50_000)]);
        run.breaks("AAEP-6.4.3-4", |run| run.steps[3].out.clear());
    }
}

#[test]
fn each_question_is_counted_down_aaep_6_4_3_4() {
    let [mut run, _] = counted(120);
    let second = Confirm {
        timeout_seconds: 122,
        ..action(2)
    };
    run.then(0, Call::Confirm(second.clone()), [asks(&second)]);
    run.then(61_000, Call::Tick, [progress(59_000), progress(61_000)]);
    run.breaks("AAEP-6.4.3-4", |run| run.without(4, 0));
    run.breaks("AAEP-6.4.3-4", |run| run.without(4, 1));
    run.steps[4].out.reverse();
    run.conforms();
}

/// What is only recommended is said to whoever asks for it.
#[test]
fn timeouts_are_recommended_for_kinds_of_action_aaep_6_4_2_1() {
    let advice = |run: &Run| {
        run.conforms();
        let found = run.findings_of(AaepJudge::new(Reading::SPECIFICATION).advising());
        found.iter().map(|it| it.clause).collect::<Vec<_>>()
    };
    let of = |risk, irreversible, timeout_seconds| {
        let confirm = Confirm {
            risk,
            irreversible,
            timeout_seconds,
            ..action(1)
        };
        advice(&asked(&confirm))
    };
    let ranges = [
        (Risk::High, true, 180, 600),
        (Risk::Medium, true, 60, 180),
        (Risk::Low, false, 30, 90),
    ];
    for (risk, irreversible, shortest, longest) in ranges {
        for timeout in [shortest, longest] {
            assert!(of(risk, irreversible, timeout).is_empty());
        }
        for timeout in [shortest - 1, longest + 1] {
            assert_eq!(of(risk, irreversible, timeout), ["AAEP-6.4.2-1"]);
        }
    }
    for (risk, irreversible) in [
        (Risk::Low, true),
        (Risk::Medium, false),
        (Risk::High, false),
    ] {
        assert!(of(risk, irreversible, 1).is_empty());
    }
    let clarification = |timeout_seconds| {
        advice(&clarified(&Clarify {
            timeout_seconds,
            ..question(1)
        }))
    };
    assert!(clarification(60).is_empty() && clarification(300).is_empty());
    assert_eq!(clarification(59), ["AAEP-6.4.2-1"]);
    assert_eq!(clarification(301), ["AAEP-6.4.2-1"]);
}

/// A default of accept where reject should be is advised against, and where the table says either it is not.
#[test]
fn a_default_that_should_be_reject_is_advised_aaep_6_4_1_3() {
    let advice = |numbers, (risk, irreversible): (Risk, bool)| {
        let confirm = Confirm {
            risk,
            irreversible,
            default: Decision::Accept,
            timeout_seconds: 60,
            ..action(1)
        };
        let reading = Reading {
            numbers,
            ..Reading::SPECIFICATION
        };
        let found = asked(&confirm).findings_of(AaepJudge::new(reading).advising());
        found.iter().map(|it| it.clause).collect::<Vec<_>>()
    };
    let mut changed = Numbers::TEXT;
    changed.irreversible[0] = DefaultRule::Either;
    changed.reversible = [
        DefaultRule::ShouldReject,
        DefaultRule::ShouldReject,
        DefaultRule::Either,
    ];
    let rows = [
        ((Risk::Low, true), "AAEP-6.4.1-3", true),
        ((Risk::High, false), "AAEP-6.4.1-4", true),
        ((Risk::Medium, false), "AAEP-6.4.1-5", false),
        ((Risk::Low, false), "AAEP-6.4.1-6", false),
    ];
    for (row, clause, in_text) in rows {
        let (with, without) = if in_text {
            (Numbers::TEXT, changed)
        } else {
            (changed, Numbers::TEXT)
        };
        assert_eq!(advice(with, row), [clause]);
        assert!(advice(without, row).is_empty(), "{clause}");
    }
}
