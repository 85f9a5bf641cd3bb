//! Clarifications: what may be asked, what the question says, and the answer that the host gets.

use super::run::{
    Out, Run, S, START, SUB, TIMEOUT, action, answer, ask_out, asks, asks_with, clarifies,
    clarifies_with, completed, end, ended, finish, goes, invoked, perform, progress, question,
    refused, reply, respond, says, subscribe, unsubscribe,
};
use super::{TEXT, accepted, answered, answering, asked, clarified, opened, rejection, unanswered};
use countersign_model::aaep::judge::{
    AnsweredBy, Body, Call, Choice, Clarify, Decision, Outcome, Response, ResponseKind, State,
    ToolStatus,
};
use countersign_model::aaep::readings::{EarlyDefaultOnClose, Reading};
use countersign_model::judge::Kind;

use ResponseKind::{Freetext, MultipleChoice, Numeric, YesNo};
use State::{AwaitingInput, CallingTool, Deciding, Idle, Thinking, WritingOutput};

fn choices(count: u32) -> Vec<Choice> {
    let choice = |value| Choice {
        value,
        label: value,
    };
    (0..count).map(choice).collect()
}

/// To refuse it conforms, to ask it breaks this clause.
#[track_caller]
fn is_refused(clause: &str, clarify: &Clarify) {
    let mut run = opened();
    run.then(0, Call::Clarify(clarify.clone()), [refused()]);
    run.breaks(clause, |run| run.steps[2].out = asking(clarify));
}

/// To ask it conforms, to refuse it does not.
#[track_caller]
fn is_asked(clarify: &Clarify) {
    clarified(clarify).breaks("AAEP-6.1-9", |run| run.steps[2].out = vec![refused()]);
}

fn asking(clarify: &Clarify) -> Vec<Out> {
    vec![goes(Idle, AwaitingInput), clarifies(clarify)]
}

#[test]
fn what_is_to_be_asked_is_asked_aaep_6_1_9() {
    is_asked(&question(1));
    clarified(&question(1)).breaks("AAEP-6.1-9", |run| run.steps[2].out = vec![]);
}

#[test]
fn it_waits_for_a_second_to_a_day_aaep_ev_5() {
    let waits = |timeout_seconds| Clarify {
        timeout_seconds,
        ..question(1)
    };
    for timeout in [-1, 0, 86_401] {
        is_refused("AAEP-EV-5", &waits(timeout));
    }
    for timeout in [1, 86_400] {
        is_asked(&waits(timeout));
    }
}

#[test]
fn its_deadline_is_a_time_that_can_be_written_aaep_ev_5() {
    let last = 253_402_300_799_999 - START;
    let at = |at| {
        let mut run = clarified(&question(1));
        run.steps[2].at = at;
        run
    };
    at(last - TIMEOUT).conforms();
    let mut run = at(last - TIMEOUT + 1);
    run.steps[2].out = vec![refused()];
    run.breaks("AAEP-EV-5", |run| run.steps[2].out = asking(&question(1)));
    at(last - TIMEOUT).breaks("AAEP-6.1-9", |run| run.steps[2].out = vec![refused()]);
}

#[test]
fn its_kinds_differ_and_there_is_one_aaep_ev_5() {
    let of = |kinds: &[ResponseKind]| Clarify {
        kinds: Some(kinds.to_vec()),
        choices: Some(choices(2)),
        ..question(1)
    };
    is_refused("AAEP-EV-5", &of(&[]));
    is_refused("AAEP-EV-5", &of(&[YesNo, YesNo]));
    is_asked(&of(&[YesNo]));
    is_asked(&of(&[YesNo, Numeric, Freetext, MultipleChoice]));
}

#[test]
fn there_are_2_to_32_different_choices_aaep_ev_5() {
    let of = |choices| Clarify {
        choices,
        ..question(1)
    };
    for count in [0, 1, 33] {
        is_refused("AAEP-EV-5", &of(Some(choices(count))));
    }
    for count in [2, 32] {
        is_asked(&of(Some(choices(count))));
    }
    let mut twice = choices(3);
    twice[2].value = 0;
    is_refused("AAEP-EV-5", &of(Some(twice)));
    let mut alike = choices(3);
    alike[2].label = 0;
    is_asked(&of(Some(alike)));
}

#[test]
fn there_is_something_to_choose_where_a_choice_is_taken_aaep_ev_5() {
    let of = |choices| Clarify {
        kinds: Some(vec![Freetext, MultipleChoice]),
        choices,
        ..question(1)
    };
    is_refused("AAEP-EV-5", &of(None));
    is_asked(&of(Some(choices(2))));
}

#[test]
fn what_is_out_of_limits_is_refused_aaep_ev_5_and_aaep_ev_10() {
    for clause in ["AAEP-EV-5", "AAEP-EV-10"] {
        let clarify = Clarify {
            out_of_limits: Some(clause),
            ..question(1)
        };
        is_refused(clause, &clarify);
    }
}

#[test]
fn nothing_is_asked_of_a_session_that_is_not_there_aaep_a_1_3() {
    let mut run = opened();
    run.then(1, end(Outcome::Completed), [ended(Outcome::Completed)]);
    run.then(2, Call::Clarify(question(1)), [refused()]);
    run.breaks("AAEP-A.1-3", |run| {
        run.steps[3].out = vec![clarifies(&question(1))];
    });
    let mut run = opened();
    let elsewhere = Clarify {
        session: 9,
        ..question(1)
    };
    run.then(2, Call::Clarify(elsewhere), [refused()]);
    run.conforms();
}

#[test]
fn the_same_question_is_not_asked_while_it_waits_aaep_6_1_9() {
    let again = |run: &mut Run| {
        run.then(2_000, Call::Clarify(question(1)), [refused()]);
    };
    let mut run = clarified(&question(1));
    again(&mut run);
    run.breaks("AAEP-6.1-9", |run| {
        run.steps[3].out = vec![clarifies_with(2, &question(1))];
    });
    // Another question is; and the same one of another session, and once it is answered.
    run.steps[3].call = Call::Clarify(question(2));
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.1-9", |_| {});
    run.steps[3].out = vec![clarifies(&question(2))];
    run.conforms();
    let mut run = answered();
    again(&mut run);
    run.steps[4].out = vec![
        goes(Thinking, AwaitingInput),
        clarifies_with(2, &question(1)),
    ];
    run.breaks("AAEP-6.1-9", |run| run.steps[4].out = vec![refused()]);
}

#[test]
fn one_who_declares_clarifications_asks_none_of_its_own_aaep_6_1_9() {
    let mut run = opened();
    run.declared.clarify = true;
    run.then(1, Call::Tick, []);
    run.breaks("AAEP-6.1-9", |run| {
        run.steps[2].out = vec![clarifies(&question(1))];
    });
    run.declared.clarify = false;
    run.steps[2].out = vec![clarifies(&question(1))];
    run.conforms();
    // The question that was to be asked is the one that was to be asked.
    let mut run = clarified(&question(1));
    run.then(1, Call::Confirm(action(1)), [asks_with(2, &action(1))]);
    let as_clarification = |run: &mut Run| run.steps[3].out = vec![clarifies_with(2, &question(2))];
    let mut changed = run.clone();
    as_clarification(&mut changed);
    assert_eq!(changed.clauses(), ["AAEP-6-1", "AAEP-6.1-9"]);
}

#[test]
fn both_kinds_of_question_have_their_tokens_of_one_space_aaep_6_2_2_3() {
    let mut run = asked(&action(1));
    run.then(1, Call::Clarify(question(2)), [clarifies(&question(2))]);
    let finding = run.breaks("AAEP-6.2.2-3", |run| {
        run.steps[3].out = vec![clarifies_with(1, &question(2))];
    });
    assert_eq!(finding.kind, Kind::Guarantee);
    let mut run = answered();
    run.then(
        2_000,
        Call::Confirm(action(2)),
        ask_out(Thinking, &action(2)),
    );
    run.breaks("AAEP-6.2.2-3", |run| {
        run.steps[4].out[1] = asks_with(1, &action(2));
    });
}

#[test]
fn the_question_shows_what_is_to_be_asked_aaep_ev_5() {
    let all = Clarify {
        kinds: Some(vec![Freetext, MultipleChoice]),
        choices: Some(choices(3)),
        default: Some(5),
        ..question(1)
    };
    let changes: [fn(&mut Clarify); 8] = [
        |asked| asked.question = 2,
        |asked| asked.kinds = None,
        |asked| asked.kinds = Some(vec![Freetext]),
        |asked| asked.choices = Some(choices(2)),
        |asked| asked.choices.as_mut().unwrap()[1].label = 9,
        |asked| asked.timeout_seconds += 1,
        |asked| asked.default = None,
        |asked| asked.default = Some(6),
    ];
    for change in changes {
        let mut shown = all.clone();
        change(&mut shown);
        clarified(&all).breaks("AAEP-EV-5", |run| {
            run.steps[2].out[1] = clarifies_with(1, &shown);
        });
    }
    // In whichever order.
    let mut shown = all.clone();
    shown.kinds.as_mut().unwrap().reverse();
    shown.choices.as_mut().unwrap().reverse();
    let mut run = clarified(&all);
    run.steps[2].out[1] = clarifies(&shown);
    run.conforms();
}

#[test]
fn it_is_critical_announced_and_of_now_aaep_ev_6_aaep_a_4_1_and_aaep_ev_3() {
    let run = clarified(&question(1));
    run.breaks("AAEP-EV-6", |run| run.event(2, 1).critical = false);
    run.breaks("AAEP-EV-3", |run| run.event(2, 1).at = Some(START - 1_000));
    run.breaks("AAEP-A.4-1", |run| {
        run.steps[0].out.push(goes(Idle, Thinking));
        run.without(2, 0);
    });
}

#[test]
fn a_valid_reply_is_the_answer_aaep_6_1_7() {
    let run = answered();
    run.breaks("AAEP-6.1-7", |run| run.without(3, 1));
    run.breaks("AAEP-6.1-7", |run| run.steps[3].out = vec![respond(0)]);
    let others = [
        (Some(Response::Text(8)), AnsweredBy::Reply),
        (Some(Response::Number(7)), AnsweredBy::Reply),
        (None, AnsweredBy::Reply),
        (Some(TEXT), AnsweredBy::Default),
        (None, AnsweredBy::Nobody),
    ];
    for (response, by) in others {
        run.breaks("AAEP-6.1-7", |run| {
            run.steps[3].out[1] = answer(1, response, by);
        });
    }
    run.breaks("AAEP-6.1-7", |run| {
        run.steps[3].out[1] = super::run::answer_in(2, 1, Some(TEXT), AnsweredBy::Reply);
    });
}

#[test]
fn it_is_answered_once_aaep_6_1_7() {
    let finding = answered().breaks("AAEP-6.1-7", |run| {
        run.steps[3]
            .out
            .push(answer(1, Some(TEXT), AnsweredBy::Reply));
    });
    assert_eq!(finding.kind, Kind::Guarantee);
    let mut run = answered();
    run.then(2_000, Call::Tick, []);
    run.breaks("AAEP-6.1-7", |run| {
        run.steps[4].out = vec![answer(1, Some(TEXT), AnsweredBy::Reply)];
    });
    run.steps[4].at = TIMEOUT;
    run.breaks("AAEP-6.1-7", |run| {
        run.steps[4].out = vec![answer(1, None, AnsweredBy::Nobody)];
    });
}

#[test]
fn it_leaves_awaiting_input_when_it_is_answered_aaep_a_5_1() {
    answered().breaks("AAEP-A.5-1", |run| run.without(3, 0));
    for to in [Deciding, WritingOutput, CallingTool, State::Other(3)] {
        let mut run = answered();
        run.steps[3].out[0] = goes(AwaitingInput, to);
        run.conforms();
    }
}

/// Its answer is that of the question that was replied to.
#[test]
fn no_other_question_is_answered_aaep_6_1_8() {
    let mut run = clarified(&question(1));
    run.then(1, Call::Clarify(question(2)), [clarifies(&question(2))]);
    let mut out = answering(TEXT);
    out.insert(1, goes(Thinking, AwaitingInput));
    run.then(2, Call::Deliver(says(1, TEXT, 2)), out);
    let other = answer(2, Some(TEXT), AnsweredBy::Reply);
    let finding = run.breaks("AAEP-6.1-8", |run| run.steps[4].out[2] = other.clone());
    assert_eq!(finding.kind, Kind::Guarantee);
    run.breaks("AAEP-6.1-8", |run| run.steps[4].out.push(other.clone()));
    run.breaks("AAEP-A.2-2", |run| run.without(4, 1));
    // Nor one that was never asked, nor a confirmation.
    run.breaks("AAEP-6.1-8", |run| {
        run.steps[4]
            .out
            .push(answer(9, Some(TEXT), AnsweredBy::Reply));
    });
    let mut run = asked(&action(1));
    run.then(1, Call::Tick, []);
    run.breaks("AAEP-6.1-8", |run| {
        run.steps[3].out = vec![answer(1, None, AnsweredBy::Nobody)];
    });
}

#[test]
fn nothing_goes_on_before_there_is_an_answer_aaep_6_1_8() {
    let mut run = clarified(&question(1));
    run.then(TIMEOUT - 1, Call::Tick, []);
    for by in [AnsweredBy::Reply, AnsweredBy::Default, AnsweredBy::Nobody] {
        let finding = run.breaks("AAEP-6.1-8", |run| {
            run.steps[3].out = vec![answer(1, Some(TEXT), by)];
        });
        assert_eq!(finding.kind, Kind::Guarantee);
    }
    run.breaks("AAEP-6.1-8", |run| run.steps[3].out = unanswered(None));
    run.breaks("AAEP-6.1-8", |run| {
        run.steps[3].out = vec![goes(AwaitingInput, Thinking)];
    });
    // Work that does not depend on it does (AAEP-6.1-4, AAEP-6.1-9).
    let other = super::run::event(S, Body::Other);
    run.steps[3].out = vec![goes(AwaitingInput, WritingOutput), other, progress(1)];
    run.conforms();
}

#[test]
fn nobody_answers_in_time_aaep_6_1_7_and_aaep_a_5_2() {
    for default in [None, Some(5)] {
        let clarify = Clarify {
            default,
            ..question(1)
        };
        let mut run = clarified(&clarify);
        run.then(TIMEOUT - 1, Call::Tick, []);
        run.then(TIMEOUT, Call::Tick, unanswered(default));
        run.then(TIMEOUT + 1, Call::Tick, []);
        // Early, late, never, and twice.
        run.breaks("AAEP-6.1-8", |run| {
            run.steps[3].out = std::mem::take(&mut run.steps[4].out);
        });
        let finding = run.breaks("AAEP-6.1-7", |run| {
            let mut out = std::mem::take(&mut run.steps[4].out);
            out[0] = goes(AwaitingInput, Thinking);
            run.steps[5].out = out;
        });
        assert_eq!(finding.kind, Kind::Guarantee);
        run.breaks("AAEP-6.1-7", |run| run.steps[4].out.clear());
        run.breaks("AAEP-6.1-7", |run| run.without(4, 1));
        run.breaks("AAEP-A.5-1", |run| run.without(4, 0));
        run.breaks("AAEP-6.1-7", |run| {
            run.steps[5].out = vec![run.steps[4].out[1].clone()];
        });
        // Something else.
        let others = [
            (Some(Response::Text(6)), AnsweredBy::Default),
            (Some(Response::Number(5)), AnsweredBy::Default),
            (default.map(Response::Text), AnsweredBy::Reply),
            (
                None,
                if default.is_some() {
                    AnsweredBy::Nobody
                } else {
                    AnsweredBy::Default
                },
            ),
        ];
        for (response, by) in others {
            run.breaks("AAEP-A.5-2", |run| {
                run.steps[4].out[1] = answer(1, response, by);
            });
        }
    }
}

/// A default is taken as it is.
#[test]
fn a_default_answers_whatever_the_kinds_aaep_a_5_2() {
    let clarify = Clarify {
        kinds: Some(vec![YesNo]),
        default: Some(5),
        ..question(1)
    };
    let mut run = clarified(&clarify);
    run.then(TIMEOUT, Call::Tick, unanswered(Some(5)));
    run.breaks("AAEP-A.5-2", |run| {
        run.steps[3].out[1] = answer(1, Some(Response::Boolean(true)), AnsweredBy::Default);
    });
    run.breaks("AAEP-A.5-2", |run| {
        run.steps[3].out[1] = answer(1, None, AnsweredBy::Nobody);
    });
}

#[test]
fn the_last_who_could_answer_leaves_aaep_ev_11() {
    let mut run = clarified(&question(1));
    run.then(0, subscribe(2, true), []);
    run.then(0, subscribe(3, false), []);
    run.then(1, unsubscribe(2), []);
    run.then(2, unsubscribe(SUB), unanswered(None));
    run.breaks("AAEP-EV-11", |run| run.steps[6].out = vec![]);
    run.breaks("AAEP-EV-11", |run| run.without(6, 1));
    run.breaks("AAEP-A.5-1", |run| run.without(6, 0));
    // Not the last.
    run.breaks("AAEP-6.1-8", |run| {
        run.steps[5].out = std::mem::take(&mut run.steps[6].out);
    });
    run.steps.truncate(6);
    run.breaks("AAEP-EV-11", |run| {
        run.steps[5].out = vec![goes(AwaitingInput, Thinking)];
    });
    // However it is read, nobody waits for nobody.
    let never = Reading {
        early_default_on_close: EarlyDefaultOnClose::Never,
        ..Reading::SPECIFICATION
    };
    run.then(2, unsubscribe(SUB), []);
    let finding = run.breaks_by(never, "AAEP-EV-11", |_| {});
    assert_eq!(finding.kind, Kind::Guarantee);
}

#[test]
fn a_withdrawn_one_is_not_answered_aaep_6_8_3_and_aaep_6_8_4() {
    let mut run = clarified(&question(1));
    run.then(
        1,
        Call::Cancel { token: 1 },
        [goes(AwaitingInput, Thinking)],
    );
    run.then(2, Call::Deliver(says(1, TEXT, 2)), [respond(0)]);
    run.then(TIMEOUT, Call::Tick, []);
    run.breaks("AAEP-6.8-3", |run| run.steps[3].out.clear());
    run.breaks("AAEP-6.8-3", |run| {
        run.steps[3].out = vec![goes(AwaitingInput, CallingTool)];
    });
    run.breaks("AAEP-6.8-1", |run| {
        run.steps.truncate(4);
        run.steps[3].out = vec![refused()];
    });
    run.breaks("AAEP-6.8-4", |run| {
        run.steps[3].out.push(answer(1, None, AnsweredBy::Nobody));
    });
    run.breaks("AAEP-6.8-4", |run| {
        run.steps[4]
            .out
            .push(answer(1, Some(TEXT), AnsweredBy::Reply));
    });
    run.breaks("AAEP-6.8-4", |run| {
        run.steps[5].out = vec![answer(1, None, AnsweredBy::Nobody)];
    });
    // It can be asked anew.
    run.then(
        TIMEOUT + 1,
        Call::Clarify(question(1)),
        [
            goes(Thinking, AwaitingInput),
            clarifies_with(2, &question(1)),
        ],
    );
    run.breaks("AAEP-6.1-9", |run| run.steps[6].out = vec![refused()]);
}

#[test]
fn the_end_of_its_session_withdraws_it_aaep_6_8_2() {
    for outcome in [Outcome::Completed, Outcome::Errored, Outcome::Cancelled] {
        let mut run = clarified(&question(1));
        run.then(
            1,
            end(outcome),
            [goes(AwaitingInput, Thinking), ended(outcome)],
        );
        run.then(2, Call::Deliver(says(1, TEXT, 2)), [respond(0)]);
        let to_the_host = answer(1, None, AnsweredBy::Nobody);
        run.breaks("AAEP-6.8-2", |run| {
            run.steps[3].out.push(to_the_host.clone());
        });
        run.breaks("AAEP-6.8-4", |run| {
            run.steps[4]
                .out
                .push(answer(1, Some(TEXT), AnsweredBy::Reply));
        });
        if outcome == Outcome::Cancelled {
            run.without(3, 0);
            run.conforms();
        } else {
            run.breaks("AAEP-6.8-3", |run| run.without(3, 0));
        }
    }
}

/// A confirmation and a clarification wait side by side.
fn both() -> Run {
    let mut run = clarified(&question(1));
    let confirm = action(2);
    run.then(1, Call::Confirm(confirm.clone()), [asks(&confirm)]);
    run
}

#[test]
fn an_answer_releases_no_action_aaep_6_1_1() {
    let mut run = both();
    let mut out = answering(TEXT);
    out.insert(1, goes(Thinking, AwaitingInput));
    run.then(2, Call::Deliver(says(1, TEXT, 2)), out);
    let finding = run.breaks("AAEP-6.1-1", |run| {
        run.steps[4].out.push(invoked(2));
        run.steps[4].out.push(perform(2));
        run.steps[4].out.truncate(6);
    });
    assert_eq!(finding.kind, Kind::Guarantee);
    run.breaks("AAEP-6.1-5", |run| run.steps[4].out.push(invoked(2)));
}

/// A tool that was released before comes back while a clarification waits.
#[test]
fn what_does_not_wait_for_an_answer_goes_on_aaep_6_1_4() {
    let mut run = accepted();
    let ask = [
        goes(CallingTool, AwaitingInput),
        clarifies_with(2, &question(2)),
    ];
    run.then(1_001, Call::Clarify(question(2)), ask);
    run.then(1_002, finish(1), [completed(1, ToolStatus::Success)]);
    let finding = run.breaks("AAEP-A.3-1", |run| run.steps[5].out = vec![refused()]);
    assert!(finding.names("AAEP-6.1-4"), "{finding}");
}

#[test]
fn a_decision_is_no_answer_aaep_6_1_8() {
    let mut run = both();
    let mut out = rejection();
    out.insert(1, goes(Thinking, AwaitingInput));
    run.then(2, Call::Deliver(reply(2, Decision::Reject, 2)), out);
    run.breaks("AAEP-6.1-8", |run| {
        run.steps[4].out.push(answer(1, None, AnsweredBy::Nobody));
    });
    run.breaks("AAEP-A.2-2", |run| run.without(4, 1));
}

#[test]
fn both_fall_due_and_each_is_told_aaep_a_5_1_and_aaep_6_4_1() {
    let mut run = both();
    run.steps[3].at = 0;
    let out = [
        goes(AwaitingInput, Thinking),
        goes(Thinking, AwaitingInput),
        goes(AwaitingInput, Thinking),
        answer(1, None, AnsweredBy::Nobody),
    ];
    run.then(TIMEOUT, Call::Tick, out);
    run.breaks("AAEP-A.5-1", |run| {
        run.steps[4].out.drain(1..3);
    });
    run.breaks("AAEP-6.1-7", |run| run.without(4, 3));
}
