//! Clarifications: what conforms, what one change makes of it, and what the text leaves open.
#![expect(clippy::too_many_lines, reason = "tables")]

use std::sync::Arc;

use countersign_model::aaep::alphabet::State::{AwaitingInput, Idle, Thinking};
use countersign_model::aaep::alphabet::*;
use countersign_model::aaep::clauses::*;

use super::text::*;

/// The clarification of that number, of any kind.
pub fn words(number: Name) -> Query {
    Query {
        session: SESSION,
        question: (70 + number).into(),
        kinds: None,
        choices: None,
        timeout: TIMEOUT,
        default: None,
        size: 100,
    }
}
/// One with choices and a default, that takes numbers as well.
pub fn chosen(number: Name) -> Query {
    let choices: [(Text, Text); 2] = [(VALUE.into(), 82.into()), (81.into(), 83.into())];
    Query {
        choices: Some(choices.as_slice().into()),
        default: Some(81.into()),
        ..of_kinds(number, &[Kind::MultipleChoice, Kind::Numeric])
    }
}
fn of_kinds(number: Name, kinds: &[Kind]) -> Query {
    Query {
        kinds: Some(kinds.into()),
        ..words(number)
    }
}
fn clarify(query: &Query) -> Op {
    Op::Clarify(Arc::new(query.clone()))
}
fn queried_of(at: Time, token: Token, query: &Query) -> Queried {
    let names = |it: &(Text, Text)| (it.0.name, it.1.name);
    let choices = query.choices.as_ref();
    Queried {
        at,
        token,
        question: query.question.name,
        timeout: query.timeout,
        kinds: query.kinds.clone(),
        choices: choices.map(|it| it.iter().map(names).collect()),
        default: query.default.map(|it| it.name),
    }
}
fn queried(token: Token, query: &Query) -> Output {
    emit(What::Queried(Arc::new(queried_of(0, token, query))))
}
fn clarified_from(from: State, token: Token, query: &Query) -> Step {
    let mut outputs = vec![queried(token, query)];
    if from != AwaitingInput {
        outputs.insert(0, changed(from, AwaitingInput));
    }
    (at(0, clarify(query)), outputs)
}
/// That one is open.
fn open(query: &Query) -> Vec<Step> {
    with(started(), clarified_from(Idle, 0, query))
}
fn says(token: Token, response: Response) -> Reply {
    Reply {
        says: Says::Answers(response),
        ..accept(token)
    }
}
const TEXT: Response = Response::Text(VALUE);
const NUMBER: Response = Response::Number(7);
fn answer(token: Token, response: Option<Response>, by: By) -> Output {
    Output::Answer(Clarified {
        session: SESSION,
        token,
        response,
        by,
    })
}
fn leaves() -> Output {
    changed(AwaitingInput, Thinking)
}
fn answering(response: Response) -> Vec<Output> {
    vec![leaves(), answer(0, Some(response), By::Reply)]
}
fn answered(response: Response) -> Step {
    delivered(says(0, response), answering(response))
}
fn heard(run: Vec<Step>, response: Response) -> (Vec<Step>, Vec<Output>) {
    (run, [vec![RESPONSE], answering(response)].concat())
}
fn elapsed(query: &Query, by: By) -> Vec<Step> {
    let response = (by == By::Default).then_some(Response::Text(81));
    with(
        open(query),
        (
            at(TIMEOUT, Op::Tick),
            vec![leaves(), answer(0, response, by)],
        ),
    )
}

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |clause, name, (run, changed)| {
        rows.push(Row {
            clause,
            name,
            run,
            changed,
        });
    };
    let any = words(0);
    let misfit = |query: &Query, response| with(open(query), ignored(message(says(0, response))));

    row(C6_1, "nobody is asked", else_(open(&any), vec![]));
    row(
        C6_1_7,
        "the host does not get an answer",
        less(with(open(&any), answered(TEXT)), &answering(TEXT)[1]),
    );
    row(
        C6_1_7,
        "an answer is another than was given",
        other(
            with(open(&any), answered(TEXT)),
            &answering(TEXT)[1],
            &answer(0, Some(NUMBER), By::Reply),
        ),
    );
    row(
        C6_1_7,
        "a reply is not heard",
        else_(with(open(&any), answered(TEXT)), vec![RESPONSE]),
    );
    row(
        C6_1_7,
        "it never times out",
        else_(elapsed(&any, By::Nobody), vec![]),
    );
    row(
        C6_1_8,
        "the host gets an answer that nobody gave",
        more(open(&any), &[answer(0, Some(TEXT), By::Reply)]),
    );
    row(
        C6_9_2,
        "the host gets the answer twice",
        more(
            with(with(open(&any), answered(TEXT)), nothing(0, Op::Tick)),
            &answering(TEXT)[1..],
        ),
    );
    let taken_back = || with(open(&any), (at(0, Op::Cancel(0)), vec![leaves()]));
    row(
        C6_8_4,
        "what was taken back is answered",
        more(
            with(taken_back(), nothing(TIMEOUT, Op::Tick)),
            &[answer(0, None, By::Nobody)],
        ),
    );
    row(
        C6_1_9,
        "a question is asked while it is open",
        else_(
            with(open(&any), refused(clarify(&any))),
            vec![queried(1, &any)],
        ),
    );
    row(
        C6_1_9,
        "a question is asked unasked",
        more(
            with(open(&any), nothing(0, Op::Tick)),
            &[queried(1, &words(1))],
        ),
    );
    for (clause, flaw) in [
        (C6_5_1_1, Flaw::Type),
        (C6_5_1_2, Flaw::Token),
        (C6_5_1_3, Flaw::Response),
        (C6_5_1_4, Flaw::Subscription),
        (C6_5_1_5, Flaw::Timestamp),
        (C6_5_5_1, Flaw::RepeatedName),
        (C6_5_5_1, Flaw::DecidedBy),
        (C6_5_5_1, Flaw::OtherProperty),
    ] {
        let flawed = Reply {
            flaw: Some(flaw),
            ..says(0, TEXT)
        };
        row(
            clause,
            "a malformed reply is heard",
            heard(with(open(&any), ignored(message(flawed))), TEXT),
        );
    }
    row(
        C6_5_5_1,
        "a clarification accepts an action",
        else_(
            with(one(), ignored(message(says(0, TEXT)))),
            [vec![RESPONSE], accepting(0, &ask(0))].concat(),
        ),
    );
    row(
        C6_3_4_4,
        "an answer is heard that claims the deadline",
        heard(
            with(
                open(&any),
                ignored(message(Reply {
                    timestamp: Some(TIMEOUT),
                    ..says(0, TEXT)
                })),
            ),
            TEXT,
        ),
    );
    row(
        C6_5_2_2,
        "the second of two kinds is ignored",
        else_(with(open(&chosen(0)), answered(NUMBER)), vec![RESPONSE]),
    );
    let truth = Response::Truth(true);
    row(
        C6_5_2_1,
        "a response of another type is heard",
        heard(misfit(&chosen(0), truth), truth),
    );
    row(
        C6_5_5_3,
        "a response is heard that is no choice",
        heard(
            misfit(&chosen(0), Response::Text(OTHER)),
            Response::Text(OTHER),
        ),
    );
    row(
        C6_5_5_4,
        "a response that does not fit ends the question",
        else_(
            misfit(&chosen(0), truth),
            vec![RESPONSE, leaves(), answer(0, None, By::Nobody)],
        ),
    );
    row(
        A_5_1,
        "it is asked in another state",
        less(open(&any), &changed(Idle, AwaitingInput)),
    );
    row(
        A_5_1,
        "the state stays behind an answer",
        less(with(open(&any), answered(TEXT)), &leaves()),
    );
    row(
        A_5_2,
        "a default is not given",
        other(
            elapsed(&chosen(0), By::Default),
            &answer(0, Some(Response::Text(81)), By::Default),
            &answer(0, None, By::Nobody),
        ),
    );
    row(
        C6_1_7,
        "a default is given for a reply",
        other(
            elapsed(&any, By::Nobody),
            &answer(0, None, By::Nobody),
            &answer(0, Some(TEXT), By::Reply),
        ),
    );
    let closes = (
        at(0, Op::Unsubscribe(ANA)),
        vec![leaves(), answer(0, None, By::Nobody)],
    );
    row(
        EV_11,
        "nobody can answer, and it waits",
        else_(with(open(&any), closes), vec![]),
    );
    let value = |name: Name, value: Name| (Text::from(name), Text::from(value));
    let listed = |choices: &[(Text, Text)]| Query {
        choices: Some(choices.into()),
        ..chosen(0)
    };
    for (name, flawed) in [
        (
            "no time to answer",
            Query {
                timeout: 999,
                ..words(0)
            },
        ),
        (
            "more than a day to answer",
            Query {
                timeout: 86_400_001,
                ..words(0)
            },
        ),
        (
            "a blank question",
            Query {
                question: BLANK,
                ..words(0)
            },
        ),
        ("no kind", of_kinds(0, &[])),
        ("a kind twice", of_kinds(0, &[Kind::YesNo, Kind::YesNo])),
        (
            "no choices to choose from",
            of_kinds(0, &[Kind::MultipleChoice]),
        ),
        ("one choice", listed(&[value(1, 2)])),
        ("a choice twice", listed(&[value(1, 2), value(1, 3)])),
        (
            "too many choices",
            listed(&(0..33).map(|it| value(it, it)).collect::<Vec<_>>()),
        ),
    ] {
        let outputs = clarified_from(Idle, 0, &flawed).1;
        row(
            EV_5,
            name,
            else_(with(started(), refused(clarify(&flawed))), outputs),
        );
    }
    let long = Query {
        size: 65_537,
        ..words(0)
    };
    row(
        EV_10,
        "a large event",
        else_(
            with(started(), refused(clarify(&long))),
            clarified_from(Idle, 0, &long).1,
        ),
    );
    row(
        EV_5,
        "another question is asked",
        other(open(&any), &queried(0, &any), &queried(0, &words(1))),
    );
    let ended = with(started(), ended(Outcome::Completed, vec![]));
    row(
        A_1_3,
        "a question behind the end",
        else_(
            with(ended, refused(clarify(&any))),
            clarified_from(Idle, 0, &any).1,
        ),
    );
    rows
}

pub fn freedoms() -> Vec<(&'static str, Vec<Step>)> {
    let both = Query {
        kinds: Some([Kind::Freetext, Kind::MultipleChoice].as_slice().into()),
        ..chosen(0)
    };
    let unlike = Query {
        default: None,
        ..of_kinds(0, &[Kind::YesNo])
    };
    let turned = Queried {
        kinds: Some([Kind::Numeric, Kind::MultipleChoice].as_slice().into()),
        ..queried_of(0, 0, &chosen(0))
    };
    let lost = || with(open(&words(0)), answered(TEXT));
    let again = || queried(0, &words(0));
    vec![
        ("a choice answers", with(open(&chosen(0)), answered(TEXT))),
        ("a number answers", with(open(&chosen(0)), answered(NUMBER))),
        (
            "any kind answers",
            with(open(&words(0)), answered(Response::Truth(false))),
        ),
        (
            "words answer that are no choice",
            with(open(&both), answered(Response::Text(OTHER))),
        ),
        ("a default answers", elapsed(&chosen(0), By::Default)),
        ("nobody answers", elapsed(&words(0), By::Nobody)),
        (
            "an answer comes before its state",
            with(
                open(&words(0)),
                delivered(
                    says(0, TEXT),
                    vec![answer(0, Some(TEXT), By::Reply), leaves()],
                ),
            ),
        ),
        (
            "the kinds stand in another order",
            with(
                started(),
                (
                    at(0, clarify(&chosen(0))),
                    vec![
                        changed(Idle, AwaitingInput),
                        emit(What::Queried(Arc::new(turned))),
                    ],
                ),
            ),
        ),
        (
            "a question is asked again in another way",
            with(open(&words(0)), clarified_from(AwaitingInput, 1, &unlike)),
        ),
        (
            "a question is not asked again in another way",
            with(open(&words(0)), refused(clarify(&unlike))),
        ),
        (
            "a lost answer comes again",
            with(lost(), restarted(1, vec![answer(0, Some(TEXT), By::Reply)])),
        ),
        (
            "a lost clarification is asked again",
            with(open(&words(0)), restarted(1, vec![again()])),
        ),
        (
            "its session takes it back",
            with(open(&words(0)), ended(Outcome::Completed, vec![leaves()])),
        ),
        (
            "who cannot reply answers",
            with(
                open(&words(0)),
                (
                    at(
                        0,
                        deliver(Message {
                            sender: Some(BOB),
                            ..message(Reply {
                                subscription: Some(BOB),
                                ..says(0, TEXT)
                            })
                        }),
                    ),
                    [vec![RESPONSE], answering(TEXT)].concat(),
                ),
            ),
        ),
        (
            "a late answer is told so",
            with(
                with(open(&words(0)), answered(TEXT)),
                (
                    at(0, deliver(message(says(0, TEXT)))),
                    vec![
                        RESPONSE,
                        Output::Notify {
                            subscription: ANA,
                            token: Some(0),
                        },
                    ],
                ),
            ),
        ),
        (
            "an action runs while a clarification is open",
            with(
                with(
                    with(started(), clarified_from(Idle, 0, &words(0))),
                    confirmed_from(AwaitingInput, 1, Ask { ..ask(1) }),
                ),
                delivered(
                    accept(1),
                    vec![
                        changed(AwaitingInput, State::CallingTool),
                        invoked(1, &ask(1)),
                        perform(1),
                        changed(State::CallingTool, AwaitingInput),
                    ],
                ),
            ),
        ),
    ]
}

/// A run that conforms by another reading, and does not by the default.
pub fn readings() -> Vec<(&'static str, &'static str, Vec<Step>)> {
    let both = Query {
        kinds: Some([Kind::Freetext, Kind::MultipleChoice].as_slice().into()),
        ..chosen(0)
    };
    let elsewhere = Response::Text(OTHER);
    vec![
        (
            "kinds-absent",
            "freetext",
            with(open(&words(0)), ignored(message(says(0, NUMBER)))),
        ),
        (
            "choices-beside-freetext",
            "bound",
            with(open(&both), ignored(message(says(0, elsewhere)))),
        ),
        (
            "default-response-absent",
            "waits",
            with(open(&words(0)), nothing(TIMEOUT, Op::Tick)),
        ),
    ]
}

/// A run that conforms by the default, and does not by another reading.
pub fn stricter() -> Vec<(&'static str, &'static str, Vec<Step>)> {
    let closes = (
        at(0, Op::Unsubscribe(ANA)),
        vec![leaves(), answer(0, None, By::Nobody)],
    );
    vec![(
        "early-default-on-close",
        "never",
        with(open(&words(0)), closes),
    )]
}
