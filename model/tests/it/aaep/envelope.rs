//! The envelope of events: what conforms, and what one change makes of it.

use countersign_model::aaep::alphabet::State::{Idle, Thinking};
use countersign_model::aaep::alphabet::*;
use countersign_model::aaep::clauses::*;
use countersign_model::aaep::envelope::{Envelope, Envelopes};
use countersign_model::engine::clause::Clause;

use super::text::*;

type Told = (Output, Option<Envelope>);

/// An event with that id, number and time.
fn told(output: Output, id: Name, sequence: i64, at: Time) -> Told {
    let is_critical = output.asks().is_some();
    (
        output,
        Some(Envelope {
            id: Some(id),
            sequence: Some(sequence),
            at: Some(at),
            is_critical,
        }),
    )
}
fn plain(told: &Told, change: fn(&mut Envelope)) -> Told {
    let mut envelope = told.1.unwrap();
    change(&mut envelope);
    (told.0.clone(), Some(envelope))
}
/// A session starts, and somebody is asked.
fn run() -> Vec<(Call, Vec<Told>)> {
    let start = at(0, Op::StartSession(Some(SESSION.into())));
    let asking = vec![
        told(changed(Idle, State::AwaitingInput), 1, 1, 5),
        told(asked(0, &ask(0)), 2, 2, 5),
    ];
    vec![
        (start, vec![told(emit(What::Started), 0, 0, 0)]),
        (at(5, confirm(ask(0))), asking),
    ]
}
fn clauses(run: &[(Call, Vec<Told>)]) -> Vec<Clause> {
    let mut envelopes = Envelopes::default();
    run.iter()
        .flat_map(|(call, outputs)| envelopes.observe(call, outputs))
        .map(|it| it.clause)
        .collect()
}
/// The same with another last event.
fn ending(mut run: Vec<(Call, Vec<Told>)>, change: fn(&mut Envelope)) -> Vec<(Call, Vec<Told>)> {
    let outputs = &mut run.last_mut().unwrap().1;
    let last = outputs.pop().unwrap();
    outputs.push(plain(&last, change));
    run
}
fn without_numbers(mut run: Vec<(Call, Vec<Told>)>) -> Vec<(Call, Vec<Told>)> {
    for it in run.iter_mut().flat_map(|it| &mut it.1) {
        *it = plain(it, |it| it.sequence = None);
    }
    run
}
/// The last event comes again, or two of them do.
fn again(lost: u16, outputs: Vec<Told>) -> Vec<(Call, Vec<Told>)> {
    let mut run = run();
    run.push((at(9, Op::Restart { lost }), outputs));
    run
}

#[test]
fn an_envelope_that_conforms_is_found_no_fault_with() {
    let state = || told(changed(Idle, State::AwaitingInput), 1, 1, 5);
    let anew = || told(asked(0, &ask(0)), 3, 2, 9);
    for (name, run) in [
        ("events are numbered", run()),
        ("no event is numbered", without_numbers(run())),
        (
            "a lost question is asked under another id",
            again(1, vec![anew()]),
        ),
        (
            "what else was lost comes again as it was",
            again(2, vec![state(), anew()]),
        ),
        ("more was lost than there was", {
            let mut run = again(9, vec![(Output::Refused, None)]);
            let next = told(changed(State::AwaitingInput, Thinking), 3, 3, 9);
            run.push((at(9, Op::Tick), vec![next]));
            run
        }),
        (
            "what is told next goes on",
            again(
                1,
                vec![
                    anew(),
                    told(changed(State::AwaitingInput, Thinking), 4, 3, 9),
                ],
            ),
        ),
    ] {
        assert_eq!(clauses(&run), [], "{name}");
    }
}

#[test]
fn each_fault_of_an_envelope_is_named_by_its_clause() {
    let state = || told(changed(Idle, State::AwaitingInput), 7, 1, 5);
    let anew = |id| told(asked(0, &ask(0)), id, 2, 9);
    for (clause, name, run) in [
        (
            EV_3,
            "a timestamp goes back",
            ending(run(), |it| it.at = Some(4)),
        ),
        (
            EV_4,
            "a number is left out",
            ending(run(), |it| it.sequence = Some(3)),
        ),
        (
            EV_4,
            "a number comes twice",
            ending(run(), |it| it.sequence = Some(1)),
        ),
        (
            EV_4,
            "an event has none",
            ending(run(), |it| it.sequence = None),
        ),
        (
            EV_4,
            "one event alone is numbered",
            ending(without_numbers(run()), |it| it.sequence = Some(2)),
        ),
        (
            EV_4,
            "a session starts with one",
            ending(run()[..1].to_vec(), |it| it.sequence = Some(1)),
        ),
        (
            EV_6,
            "a question is not urgent",
            ending(run(), |it| it.is_critical = false),
        ),
        (
            EV_7,
            "an id comes twice",
            ending(run(), |it| it.id = Some(0)),
        ),
        (
            EV_7,
            "a question that is asked anew has its old id",
            again(1, vec![anew(2)]),
        ),
        (
            EV_7,
            "what comes again has another id",
            again(2, vec![state(), anew(3)]),
        ),
        (
            EV_4,
            "what comes again has another number",
            again(1, vec![plain(&anew(3), |it| it.sequence = Some(3))]),
        ),
    ] {
        assert_eq!(clauses(&run), [clause], "{name}");
    }
}
