//! Questions that wait: more time, the time left, who gets an event, and who may reply.

use countersign_model::aaep::Aaep;
use countersign_model::aaep::account::Account;
use countersign_model::aaep::alphabet::State::{AwaitingInput, CallingTool, Thinking};
use countersign_model::aaep::alphabet::*;
use countersign_model::aaep::clauses::*;
use countersign_model::aaep::readings::Reading;
use countersign_model::engine::fact::Fact;
use countersign_model::engine::protocol::Variant;

use super::text::*;

fn extend(timeout: Time) -> Op {
    Op::Extend { token: 0, timeout }
}
fn left(left: Option<Time>) -> Output {
    emit(What::Progress { left })
}
fn leaves() -> Output {
    changed(AwaitingInput, Thinking)
}
/// One question is open, and waits twice as long.
fn extended() -> Vec<Step> {
    with(
        one(),
        (at(0, extend(2 * TIMEOUT)), vec![left(Some(2 * TIMEOUT))]),
    )
}
/// One that waits for two minutes.
fn long() -> Vec<Step> {
    with(
        started(),
        confirmed(
            0,
            Ask {
                timeout: 2 * TIMEOUT,
                ..ask(0)
            },
        ),
    )
}
fn to(output: &Output, to: &[SubscriptionId]) -> Output {
    let Output::Emit(event) = output else {
        panic!("an event");
    };
    Output::Emit(Event {
        to: Some(to.into()),
        ..event.clone()
    })
}
fn on(subscription: SubscriptionId, token: Token) -> Message {
    Message {
        sender: Some(subscription),
        ..message(Reply {
            subscription: Some(subscription),
            ..accept(token)
        })
    }
}
fn accepted_by(subscription: SubscriptionId) -> Step {
    let outputs = [vec![RESPONSE], accepting(0, &ask(0))].concat();
    (at(0, deliver(on(subscription, 0))), outputs)
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
    row(
        C6_4_2_3,
        "more time is refused",
        else_(extended(), vec![Output::Refused]),
    );
    row(C6_4_2_3, "more time is not told", else_(extended(), vec![]));
    row(
        C6_4_2_3,
        "the old timeout applies",
        more(with(extended(), nothing(TIMEOUT, Op::Tick)), &[leaves()]),
    );
    let over = with(one(), cancelled());
    row(
        C6_4_2_3,
        "what does not wait gets more time",
        else_(with(over, refused(extend(2 * TIMEOUT))), vec![left(None)]),
    );
    row(
        C6_4_2_3,
        "less time is more",
        else_(with(one(), refused(extend(TIMEOUT))), vec![left(None)]),
    );
    row(
        EV_5,
        "more than a day is given",
        else_(with(one(), refused(extend(86_400_001))), vec![left(None)]),
    );
    row(
        C6_4_1,
        "the new timeout does not apply",
        else_(
            with(
                with(one_mild(), extended().pop().unwrap()),
                (at(2 * TIMEOUT, Op::Tick), accepting(0, &mild(0))),
            ),
            vec![],
        ),
    );
    let last = 253_402_300_799_999;
    let (call, outputs) = (at(last, confirm(ask(0))), confirmed(0, ask(0)).1);
    let late = |it: Output| match it.told() {
        Some((_, What::Asked(asked))) => emit(What::Asked(
            Asked {
                at: last,
                ..(**asked).clone()
            }
            .into(),
        )),
        _ => it,
    };
    row(
        EV_3,
        "a question waits beyond the last year",
        else_(
            with(started(), (call, vec![Output::Refused])),
            outputs.into_iter().map(late).collect(),
        ),
    );
    row(
        C6_7_1,
        "a question goes to one alone",
        other(one(), &asked(0, &ask(0)), &to(&asked(0, &ask(0)), &[ANA])),
    );
    row(C6_7_2_1, "an outcome goes to one alone", {
        let outcome = changed(AwaitingInput, CallingTool);
        other(with(one(), accepted()), &outcome, &to(&outcome, &[ANA]))
    });
    row(
        C6_6_4,
        "who cannot reply is not heard",
        else_(with(one(), accepted_by(BOB)), vec![RESPONSE]),
    );
    row(
        C6_7_1_1,
        "a good reply is not heard",
        else_(with(one(), accepted()), vec![RESPONSE]),
    );
    rows
}

pub fn freedoms() -> Vec<(&'static str, Vec<Step>)> {
    let subscribe = at(
        0,
        Op::Subscribe {
            subscription: 7.into(),
            can_reply: true,
        },
    );
    let notice = Output::Notify {
        subscription: 7,
        token: Some(3),
    };
    let outcome = to(&changed(AwaitingInput, CallingTool), &[ANA, BOB]);
    let claims = Reply {
        timestamp: Some(TIMEOUT + 1),
        ..accept(0)
    };
    vec![
        (
            "another event tells of more time",
            with(
                one(),
                (at(0, extend(2 * TIMEOUT)), vec![emit(What::Other(3))]),
            ),
        ),
        (
            "a reply counts in the time that was given",
            with(
                extended(),
                (
                    at(TIMEOUT + 1, deliver(message(claims))),
                    [vec![RESPONSE], accepting(0, &ask(0))].concat(),
                ),
            ),
        ),
        (
            "the time left is told",
            with(long(), (at(TIMEOUT, Op::Tick), vec![left(Some(TIMEOUT))])),
        ),
        (
            "the time left is not told",
            with(long(), nothing(TIMEOUT, Op::Tick)),
        ),
        (
            "something is told to who comes",
            with(one(), (subscribe.clone(), vec![notice])),
        ),
        (
            "an outcome goes to whom it concerns",
            with(
                with(one(), (subscribe, vec![])),
                delivered(accept(0), vec![outcome, invoked(0, &ask(0)), perform(0)]),
            ),
        ),
        ("what is not critical goes to one alone", {
            let told = to(&completed(0, Status::Success), &[BOB]);
            with(
                with(one(), accepted()),
                (
                    at(0, finish(0, Status::Success)),
                    vec![told, changed(CallingTool, Thinking)],
                ),
            )
        }),
        ("a question goes to each", {
            let each = to(&asked(0, &ask(0)), &[BOB, ANA]);
            with(
                started(),
                (
                    at(0, confirm(ask(0))),
                    vec![changed(Idle, AwaitingInput), each],
                ),
            )
        }),
        (
            "time passes while a process is down",
            with(
                one(),
                (at(TIMEOUT, Op::Restart { lost: 0 }), vec![leaves()]),
            ),
        ),
    ]
}
use State::Idle;

/// AAEP-6.4.3-1, 6.4.3-4, 6.7-1, EV-16: what `hello` declares.
#[test]
fn what_a_producer_declares_is_owed() {
    let told = |counts_down, run: &[Step], last: &[Output]| {
        let account = Account {
            counts_down,
            ..Account::default()
        };
        named(judge_as(account, &Variant::default(), run, last))
    };
    let half = with(long(), (at(TIMEOUT, Op::Tick), vec![left(Some(TIMEOUT))]));
    let tenth = with(
        half.clone(),
        (at(2 * TIMEOUT - 12_000, Op::Tick), vec![left(None)]),
    );
    let over = |run: &[Step], now| with(run.to_vec(), (at(now, Op::Tick), vec![left(None)]));
    for (run, silent) in [
        (&half, "AAEP-6.4.3-1"),
        (&tenth, "AAEP-6.4.3-4"),
        (&over(&long(), TIMEOUT + 5), "AAEP-6.4.3-1"),
        (&over(&half, 2 * TIMEOUT - 1), "AAEP-6.4.3-4"),
    ] {
        assert_eq!(
            told(Fact::Yes, run, &run.last().unwrap().1),
            Some("conforms")
        );
        assert_eq!(told(Fact::Yes, run, &[]), Some(silent));
        assert_eq!(told(Fact::No, run, &[]), Some("conforms"));
    }
    assert_eq!(
        told(Fact::Yes, &half, &[left(Some(TIMEOUT - 1))]),
        Some("AAEP-6.4.3-1")
    );
    // Of a question that waits for a minute nothing is told.
    let short = with(one(), nothing(TIMEOUT / 2, Op::Tick));
    assert_eq!(told(Fact::Yes, &short, &[]), Some("conforms"));

    let question = |delivers, way, to_whom: Option<&[SubscriptionId]>| {
        let account = Account {
            delivers,
            ..Account::default()
        };
        let variant = Variant::<Aaep> {
            reading: Reading::default()
                .with("incapable-subscriptions", way)
                .unwrap(),
            ..Variant::default()
        };
        let event = asked(0, &ask(0));
        let event = to_whom.map_or(event.clone(), |it| to(&event, it));
        named(judge_as(
            account,
            &variant,
            &one(),
            &[changed(Idle, AwaitingInput), event],
        ))
    };
    assert_eq!(question(Fact::Yes, "asked", None), Some("conforms"));
    assert_eq!(
        question(Fact::Yes, "asked", Some(&[ANA])),
        Some("AAEP-6.7-1")
    );
    assert_eq!(question(Fact::No, "asked", Some(&[ANA])), Some("conforms"));
    assert_eq!(
        question(Fact::Yes, "withheld", Some(&[ANA])),
        Some("conforms")
    );
    assert_eq!(
        question(Fact::Yes, "withheld", Some(&[BOB])),
        Some("AAEP-6.7-1")
    );
    assert_eq!(question(Fact::Yes, "withheld", None), Some("AAEP-EV-16"));
    assert_eq!(question(Fact::Perhaps, "withheld", None), Some("conforms"));
}
