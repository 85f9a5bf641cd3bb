//! 6.5.5: which reply to a clarification counts.

use super::run::{
    Run, SUB, TIMEOUT, action, answer, extend, goes, notify, perform, question, refused, reply,
    respond, says, subscribe, unsubscribe,
};
use super::{
    TEXT, acceptance, accepted, answered, answering, asked, clarified, rejection, unanswered,
};
use countersign_model::aaep::judge::{
    AnsweredBy, Body, Call, Choice, Clarify, Decision, Delivery, Flaw, Reply, Response,
    ResponseKind, State,
};
use countersign_model::aaep::readings::{
    ChoicesBesideFreetext, CourtesyNotice, DefaultResponseAbsent, KindsAbsent, LateReply, Reading,
    TimeoutUsesToken,
};
use countersign_model::judge::Kind;

use Response::{Boolean, Number, Text};
use ResponseKind::{Freetext, MultipleChoice, Numeric, YesNo};
use State::{AwaitingInput, Thinking};

/// Ignored it conforms; taken for an answer, however that is told, it breaks this clause.
#[track_caller]
fn is_ignored_by(clarify: &Clarify, clause: &str, delivery: Delivery) {
    let mut run = clarified(clarify);
    let response = delivery.reply.response.unwrap_or(TEXT);
    let kind = super::replies::kind_of(&delivery);
    run.then(1_000, Call::Deliver(delivery), [respond(0)]);
    let finding = run.breaks(clause, |run| run.steps[3].out = answering(response));
    assert_eq!(finding.kind, kind);
    run.breaks(clause, |run| run.steps[3].out = rejection());
    run.breaks(clause, |run| {
        run.steps[3]
            .out
            .push(answer(1, Some(response), AnsweredBy::Reply));
    });
    run.breaks(clause, |run| {
        run.steps[3].out.push(answer(1, None, AnsweredBy::Nobody));
    });
    // And it goes on waiting (AAEP-6.5.5-4).
    run.then(TIMEOUT, Call::Tick, unanswered(None));
    run.breaks("AAEP-6.1-7", |run| run.steps[4].out.clear());
}

#[track_caller]
fn is_ignored(clause: &str, delivery: Delivery) {
    is_ignored_by(&question(1), clause, delivery);
}

/// It is the answer, and whoever ignores it breaks this clause.
#[track_caller]
fn is_honoured_by(clarify: &Clarify, clause: &str, delivery: Delivery) {
    let response = delivery.reply.response.unwrap();
    let mut run = clarified(clarify);
    run.then(1_000, Call::Deliver(delivery), answering(response));
    run.breaks(clause, |run| run.steps[3].out = vec![respond(0)]);
}

fn says_it() -> Delivery {
    says(1, TEXT, 1_000)
}

#[test]
fn a_reply_that_does_not_fit_its_schema_is_ignored_aaep_6_5_5_1() {
    let flaws = [
        (Flaw::NotJson, "AAEP-6.3.4-7"),
        (Flaw::Missing, "AAEP-6.5.1-3"),
        (Flaw::Type, "AAEP-6.5.1-1"),
        (Flaw::Token, "AAEP-6.5.1-2"),
        (Flaw::Response, "AAEP-6.5.2-1"),
        (Flaw::Subscription, "AAEP-6.5.1-4"),
        (Flaw::Timestamp, "AAEP-6.5.1-5"),
        (Flaw::DecidedBy, "AAEP-EV-12"),
        (Flaw::Confidence, "AAEP-6.5.3-2"),
        (Flaw::CorrelationId, "AAEP-6.5.3-3"),
        (Flaw::Decision, "AAEP-EV-12"),
        (Flaw::Rationale, "AAEP-EV-12"),
        (Flaw::ModifiedAction, "AAEP-EV-12"),
        (Flaw::OtherProperty, "AAEP-EV-12"),
    ];
    for (flaw, also) in flaws {
        let delivery = Delivery {
            flaw: Some(flaw),
            ..says_it()
        };
        is_ignored("AAEP-6.3.4-1", delivery.clone());
        let mut run = clarified(&question(1));
        run.then(1_000, Call::Deliver(delivery), answering(TEXT));
        let finding = run.breaks_by(Reading::SPECIFICATION, "AAEP-6.3.4-1", |_| {});
        assert!(finding.names(also), "{finding}");
        assert!(finding.names("AAEP-6.5.5-1"), "{finding}");
    }
}

#[test]
fn a_reply_to_no_question_of_this_producer_is_ignored_aaep_6_3_4_2() {
    let mut run = clarified(&question(1));
    run.then(1_000, Call::Deliver(says(9, TEXT, 0)), [respond(0)]);
    run.breaks("AAEP-6.3.4-2", |run| run.steps[3].out = answering(TEXT));
}

/// Neither kind of reply decides a question of the other.
#[test]
fn a_reply_is_to_a_question_of_its_kind_aaep_6_3_4_2() {
    for decision in [Decision::Accept, Decision::Reject] {
        is_ignored("AAEP-6.3.4-2", reply(1, decision, 0));
    }
    let mut run = asked(&action(1));
    run.then(1_000, Call::Deliver(says(1, TEXT, 0)), [respond(0)]);
    let finding = run.breaks("AAEP-6.3.4-2", |run| run.steps[3].out = acceptance());
    assert_eq!(finding.kind, Kind::Guarantee);
    assert!(finding.names("AAEP-6.5.5-1"), "{finding}");
    run.breaks("AAEP-6.3.4-2", |run| run.steps[3].out = rejection());
    run.breaks("AAEP-6.3.4-2", |run| {
        run.steps[3]
            .out
            .push(answer(1, Some(TEXT), AnsweredBy::Reply));
    });
    // Nor where that one is decided: it does not count as late.
    let mut run = accepted();
    run.then(1_001, Call::Deliver(says(1, TEXT, 0)), [respond(0)]);
    run.breaks("AAEP-6.3.4-2", |run| run.steps[4].out.push(perform(1)));
    let mut run = answered();
    run.then(
        1_001,
        Call::Deliver(reply(1, Decision::Reject, 0)),
        [respond(0)],
    );
    run.breaks("AAEP-6.3.4-2", |run| {
        run.steps[4].out.push(answer(1, None, AnsweredBy::Reply));
    });
}

#[test]
fn only_the_first_valid_reply_counts_aaep_6_3_4_3() {
    let mut run = answered();
    for response in [TEXT, Text(8)] {
        run.then(1_001, Call::Deliver(says(1, response, 0)), [respond(0)]);
    }
    for step in [4, 5] {
        let finding = run.breaks("AAEP-6.3.4-3", |run| {
            run.steps[step]
                .out
                .push(answer(1, Some(Text(8)), AnsweredBy::Reply));
        });
        assert!(finding.names("AAEP-6.3.5-1"), "{finding}");
        assert_eq!(finding.kind, Kind::Guarantee);
    }
    // It counts, though one before did not.
    let mut run = clarified(&question(1));
    run.then(1, Call::Deliver(says(1, Boolean(true), 0)), [respond(0)]);
    run.then(2, Call::Deliver(says_it()), answering(TEXT));
    run.breaks("AAEP-6.1-7", |run| run.steps[4].out = vec![respond(0)]);
}

#[test]
fn a_reply_claims_a_time_before_the_deadline_aaep_6_3_4_4() {
    for claimed in [TIMEOUT, TIMEOUT + 1] {
        is_ignored("AAEP-6.3.4-4", says(1, TEXT, claimed));
    }
    for claimed in [TIMEOUT - 1, -TIMEOUT] {
        is_honoured_by(&question(1), "AAEP-6.1-7", says(1, TEXT, claimed));
    }
}

#[test]
fn a_sender_is_authenticated_and_replies_for_itself_aaep_6_3_4_5() {
    let forged = Delivery {
        authenticated: false,
        ..says_it()
    };
    is_ignored("AAEP-6.3.4-5", forged);
    for sender in [None, Some(2)] {
        let in_anothers_name = Delivery {
            sender,
            ..says_it()
        };
        is_ignored("AAEP-6.3.4-5", in_anothers_name);
    }
    let mut nobody = says_it();
    nobody.sender = Some(9);
    nobody.reply.subscription = Some(9);
    is_ignored("AAEP-6.3.4-5", nobody);
    let mut run = clarified(&question(1));
    run.then(1, subscribe(2, true), []);
    run.then(2, unsubscribe(SUB), []);
    run.then(3, Call::Deliver(says_it()), [respond(0)]);
    run.breaks("AAEP-6.3.4-5", |run| run.steps[5].out = answering(TEXT));
    // One that cannot reply is honoured all the same (AAEP-6.6-4).
    let mut run = answered();
    run.steps[1].call = subscribe(SUB, false);
    let finding = run.breaks("AAEP-6.6-4", |run| run.steps[3].out = vec![respond(0)]);
    assert_eq!(finding.also, ["AAEP-6.1-7", "AAEP-6.5.2-2"]);
}

#[test]
fn a_reply_that_comes_at_the_deadline_is_too_late_aaep_6_4_1() {
    let late = |reading: Reading, clause: &str| {
        let clarify = Clarify {
            default: Some(5),
            ..question(1)
        };
        let mut run = clarified(&clarify);
        run.then(TIMEOUT, Call::Deliver(says_it()), unanswered(Some(5)));
        run.conforms();
        run.breaks_by(reading, clause, |run| run.steps[3].out = answering(TEXT));
        run
    };
    let mut run = late(Reading::SPECIFICATION, "AAEP-6.4-1");
    run.steps[3].at -= 1;
    assert_eq!(run.clauses(), ["AAEP-6.1-7"]);
    run.steps[3].out = answering(TEXT);
    run.conforms();
    run.steps[3].at += 1;
    run.conforms_by(Reading {
        late_reply: LateReply::ByClaim,
        ..Reading::SPECIFICATION
    });
}

#[test]
fn a_timeout_uses_the_token_as_the_reading_says_aaep_6_3_4_3() {
    let mut run = clarified(&question(1));
    run.then(TIMEOUT, Call::Tick, unanswered(None));
    run.then(TIMEOUT + 1, Call::Deliver(says_it()), [respond(0)]);
    let second = |run: &mut Run| {
        run.steps[4]
            .out
            .push(answer(1, Some(TEXT), AnsweredBy::Reply));
    };
    run.breaks("AAEP-6.3.4-3", second);
    let no = Reading {
        timeout_uses_token: TimeoutUsesToken::No,
        ..Reading::SPECIFICATION
    };
    run.conforms_by(no);
    second(&mut run);
    run.conforms_by(no);
}

fn choices() -> Vec<Choice> {
    let choice = |value| Choice { value, label: 0 };
    vec![choice(7), choice(8)]
}

fn of(kinds: &[ResponseKind]) -> Clarify {
    Clarify {
        kinds: Some(kinds.to_vec()),
        choices: Some(choices()),
        ..question(1)
    }
}

#[test]
fn a_response_is_of_a_kind_that_is_taken_aaep_6_5_5_2() {
    let kinds = [
        (Freetext, [Boolean(true), Number(1), Number(0)]),
        (YesNo, [TEXT, Number(0), Number(1)]),
        (Numeric, [TEXT, Boolean(false), Boolean(true)]),
        (MultipleChoice, [Boolean(true), Number(7), Number(0)]),
    ];
    for (kind, wrong) in kinds {
        for response in wrong {
            is_ignored_by(&of(&[kind]), "AAEP-6.5.5-2", says(1, response, 0));
        }
    }
    let right = [
        (Freetext, [TEXT, Text(9)]),
        (YesNo, [Boolean(true), Boolean(false)]),
        (Numeric, [Number(0), Number(9)]),
        (MultipleChoice, [TEXT, Text(8)]),
    ];
    for (kind, right) in right {
        for response in right {
            is_honoured_by(&of(&[kind]), "AAEP-6.1-7", says(1, response, 0));
        }
    }
}

#[test]
fn a_response_is_one_of_the_choices_aaep_6_5_5_3() {
    is_ignored_by(&of(&[MultipleChoice]), "AAEP-6.5.5-3", says(1, Text(9), 0));
    let with_numbers = of(&[MultipleChoice, Numeric]);
    is_ignored_by(&with_numbers, "AAEP-6.5.5-3", says(1, Text(9), 0));
    // A label is none, and a number that looks like a value has another type.
    is_ignored_by(&of(&[MultipleChoice]), "AAEP-6.5.5-3", says(1, Text(0), 0));
    is_ignored_by(
        &of(&[MultipleChoice]),
        "AAEP-6.5.5-2",
        says(1, Number(7), 0),
    );
}

#[test]
fn of_several_kinds_any_is_taken_aaep_6_5_2_2() {
    let two = of(&[YesNo, Numeric]);
    for response in [Boolean(false), Number(3)] {
        is_honoured_by(&two, "AAEP-6.5.2-2", says(1, response, 0));
    }
    is_ignored_by(&two, "AAEP-6.5.5-2", says(1, TEXT, 0));
    // Where words are taken too, a string need be no choice.
    let chosen_or_said = of(&[MultipleChoice, Freetext]);
    for response in [TEXT, Text(9)] {
        is_honoured_by(&chosen_or_said, "AAEP-6.5.2-2", says(1, response, 0));
    }
    // Where no kinds are given, any string, boolean or number is.
    let any = Clarify {
        kinds: None,
        ..question(1)
    };
    for choices in [None, Some(choices())] {
        let any = Clarify {
            choices,
            ..any.clone()
        };
        for response in [Text(9), Boolean(true), Number(0)] {
            is_honoured_by(&any, "AAEP-6.5.2-2", says(1, response, 0));
        }
    }
}

#[test]
fn a_message_is_never_refused_and_nobody_learns_why_it_is_ignored_aaep_6_3_4_9() {
    let mut run = clarified(&question(1));
    run.then(
        1,
        Call::Deliver(reply(9, Decision::Accept, 0)),
        [respond(0)],
    );
    run.then(2, Call::Deliver(says(1, Number(1), 0)), [respond(0)]);
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out = vec![respond(1)]);
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out = vec![]);
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out.push(notify(SUB, 1)));
    run.breaks("AAEP-6.3.4-7", |run| run.steps[4].out = vec![refused()]);
}

/// A late duplicate in step 4, of either kind of question.
fn duplicates() -> [(Run, Delivery); 2] {
    let mut confirmed = accepted();
    let accept = reply(1, Decision::Accept, 0);
    confirmed.then(1_001, Call::Deliver(accept.clone()), [respond(0)]);
    let mut clarified = answered();
    clarified.then(1_001, Call::Deliver(says_it()), [respond(0)]);
    [(confirmed, accept), (clarified, says_it())]
}

#[test]
fn a_late_duplicate_is_told_so_by_who_declares_it_aaep_6_3_5_2() {
    for (mut run, right) in duplicates() {
        run.conforms();
        run.steps[4].out.push(notify(SUB, 1));
        run.conforms();
        run.declared.courtesy_notice = true;
        run.breaks("AAEP-6.3.5-2", |run| run.without(4, 1));
        run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out[1] = notify(SUB, 2));
        // What would not have counted before either is not told anything.
        let late = Delivery {
            reply: Reply {
                claimed_at: Some(i64::MAX),
                ..right.reply
            },
            ..right.clone()
        };
        let malformed = Delivery {
            flaw: Some(Flaw::OtherProperty),
            ..right.clone()
        };
        let forged = Delivery {
            authenticated: false,
            ..right.clone()
        };
        run.steps[4].out = vec![respond(0)];
        for other in [late, malformed, forged] {
            run.steps[4].call = Call::Deliver(other);
            run.conforms();
        }
        let forbidden = Reading {
            courtesy_notice: CourtesyNotice::Forbidden,
            ..Reading::SPECIFICATION
        };
        run.steps[4].call = Call::Deliver(right);
        run.conforms_by(forbidden);
    }
}

#[test]
fn a_reply_is_read_by_the_deadline_as_it_was_extended_aaep_6_3_4_4() {
    let mut run = clarified(&question(1));
    run.then(1, extend(1, 100), [super::run::progress(99_999)]);
    run.then(
        TIMEOUT + 2,
        Call::Deliver(says(1, TEXT, TIMEOUT + 1)),
        answering(TEXT),
    );
    run.breaks("AAEP-6.1-7", |run| run.steps[4].out = vec![respond(0)]);
    let mut run = clarified(&question(1));
    run.then(1, extend(1, 100), [super::run::progress(99_999)]);
    run.then(2, Call::Deliver(says(1, TEXT, 100_000)), [respond(0)]);
    run.breaks("AAEP-6.3.4-4", |run| run.steps[4].out = answering(TEXT));
}

/// Two sessions, each with its own question and its own state (AAEP-A.9-2).
#[test]
fn each_session_has_its_own_question_aaep_a_9_2() {
    let mut run = answered();
    run.then(
        2_000,
        super::run::start(2),
        [super::run::event(2, Body::Started)],
    );
    let elsewhere = Clarify {
        session: 2,
        ..question(1)
    };
    let goes_in_2 = |from, to| super::run::event(2, Body::StateChanged { from, to });
    let out = [
        goes_in_2(State::Idle, AwaitingInput),
        super::run::clarifies_with(2, &elsewhere),
    ];
    run.then(2_000, Call::Clarify(elsewhere), out);
    let out = [
        goes_in_2(AwaitingInput, Thinking),
        super::run::answer_in(2, 2, Some(TEXT), AnsweredBy::Reply),
    ];
    run.then(2_001, Call::Deliver(says(2, TEXT, 2_000)), out);
    run.breaks("AAEP-A.5-1", |run| {
        run.steps[6].out[0] = goes(Thinking, Thinking);
    });
    run.breaks("AAEP-6.1-7", |run| {
        run.steps[6].out[1] = answer(2, Some(TEXT), AnsweredBy::Reply);
    });
}

/// By the other readings a question that lists no kinds takes strings alone, and its choices bind every string.
#[test]
fn what_a_question_leaves_open_is_a_reading_aaep_6_5_5_2_and_aaep_6_5_5_3() {
    let strings = Reading {
        kinds_absent: KindsAbsent::Freetext,
        ..Reading::SPECIFICATION
    };
    let bound = Reading {
        choices_beside_freetext: ChoicesBesideFreetext::Bound,
        ..Reading::SPECIFICATION
    };
    let unlisted = Clarify {
        kinds: None,
        ..question(1)
    };
    for (reading, clause, clarify, right, other) in [
        (strings, "AAEP-6.5.5-2", unlisted, TEXT, Number(7)),
        (
            bound,
            "AAEP-6.5.5-3",
            of(&[MultipleChoice, Freetext]),
            TEXT,
            Text(9),
        ),
    ] {
        let says_so = |response| {
            let mut run = clarified(&clarify);
            run.then(
                1_000,
                Call::Deliver(says(1, response, 0)),
                answering(response),
            );
            run
        };
        says_so(right).conforms_by(reading);
        says_so(other).conforms();
        says_so(other).breaks_by(reading, clause, |_| {});
        let mut ignored = says_so(other);
        ignored.steps[3].out = vec![respond(0)];
        ignored.conforms_by(reading);
        ignored.breaks_by(Reading::SPECIFICATION, "AAEP-6.5.2-2", |_| {});
    }
}

/// By the other reading a question without a default is not over at its timeout; where nobody is left who could answer, that leaves it
/// blocked.
#[test]
fn what_becomes_of_a_question_without_a_default_is_a_reading_aaep_a_5_2() {
    let waits = Reading {
        default_response_absent: DefaultResponseAbsent::Waits,
        ..Reading::SPECIFICATION
    };
    let mut run = clarified(&question(1));
    run.then(TIMEOUT, Call::Tick, []);
    run.conforms_by(waits);
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.1-7", |_| {});
    run.breaks_by(waits, "AAEP-6.1-8", |run| {
        run.steps[3].out = unanswered(None);
    });
    run.then(TIMEOUT, unsubscribe(SUB), []);
    let finding = run.breaks_by(waits, "AAEP-EV-11", |_| {});
    assert_eq!(finding.kind, Kind::Guarantee);
    let mut with_default = clarified(&Clarify {
        default: Some(7),
        ..question(1)
    });
    with_default.then(TIMEOUT, Call::Tick, unanswered(Some(7)));
    with_default.conforms_by(waits);
}
