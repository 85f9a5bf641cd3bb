//! What the book does not reach: too many ways to go, a debt that is open over calls and has become too late.

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::{Clause, Clauses, Entry, Level};
use countersign_model::engine::protocol::{Protocol, Step, Variant};
use countersign_model::engine::world::{Freedom, World};

const CLAUSES: &[Entry] = &[entry("T-1"), entry("T-2"), entry("T-3")];
const ONE: Clause = Clause(0);
const TWO: Clause = Clause(1);
const THREE: Clause = Clause(2);

const fn entry(id: &'static str) -> Entry {
    Entry {
        id,
        level: Level::Must,
        gist: id,
        needs: &[],
        aliases: &[],
        in_samples: None,
        free: None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Toy;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    /// One of so many numbers is owed.
    Pick(u8),
    /// A debt until the next word, or the end.
    Borrow,
    /// A word may come, and ends the time of the debt.
    Speak,
    /// Three things are owed at once.
    Three,
    /// Two places in a row are owed. The last of all places is put out wrong.
    Count,
    /// The place so far is owed, and nothing counts it.
    Tell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Output {
    Number(u8),
    Debt,
    Word,
    /// A place in a row, by the party's own count.
    Place(u8),
}

/// Behind it the toy counts wrong.
const LAST: u8 = 9;

impl Protocol for Toy {
    type Call = Call;
    type Output = Output;
    type Account = u8;
    type Holes = ();
    type Binding = ();
    type Closing = ();
    type Thing = ();
    type Reading = ();
    const CLAUSES: &'static [Entry] = CLAUSES;

    fn call(step: &mut Step<'_, Self>, call: &Call) {
        match *call {
            Call::Pick(options) => {
                step.account = step.choose(options);
                let number = Output::Number(step.account);
                step.owe(&[ONE], number);
            }
            Call::Borrow => drop(step.owe(&[ONE], Output::Debt).until(())),
            Call::Speak => drop(step.allow(&[], Output::Word).bind(())),
            Call::Three => {
                for (clauses, number) in [(&[ONE], 1), (&[TWO], 2), (&[THREE], 3)] {
                    step.owe(clauses, Output::Number(number));
                }
            }
            Call::Count => {
                for _ in 0..2 {
                    step.owe(&[ONE], Output::Place(0)).bind(());
                }
            }
            Call::Tell => drop(step.owe(&[ONE], Output::Place(0))),
        }
    }
    fn fill(expected: &mut Output, output: &Output, (): ()) {
        if let (Output::Place(expected), Output::Place(place)) = (expected, output) {
            *expected = *place;
        }
    }
    fn complete(account: &u8, _: Option<()>, output: &mut Output) {
        if let Output::Place(place) = output {
            *place = (*account).min(LAST - 1);
        }
    }
    fn bind(step: &mut Step<'_, Self>, (): (), output: &Output) -> Result<(), Clauses> {
        if let Output::Place(place) = *output {
            let is_next = place == step.account;
            step.account += 1;
            return if is_next { Ok(()) } else { Err(&[TWO]) };
        }
        step.expire(|()| true);
        Ok(())
    }
    fn unowed(_: &mut Step<'_, Self>, output: &Output) -> Result<(), Clauses> {
        match output {
            Output::Number(200..) => Err(&[]),
            Output::Number(_) => Err(&[TWO]),
            Output::Debt | Output::Word | Output::Place(_) => Err(&[THREE]),
        }
    }
    fn thing(_: &Output) -> Option<()> {
        None
    }
    fn kind(_: &Output) -> u8 {
        0
    }
    fn gravity(_: &Output) -> u8 {
        0
    }
}

fn judge(calls: &[(Call, &[Output])]) -> Vec<Judgement<Output>> {
    let mut checker = Checker::<Toy>::new(0);
    calls
        .iter()
        .map(|(call, outputs)| checker.observe(&Variant::default(), call, outputs))
        .collect()
}

#[test]
fn each_of_a_hundred_ways_is_right() {
    for number in [0, 63, 64, 65, 99] {
        assert_eq!(
            judge(&[(Call::Pick(100), &[Output::Number(number)])]),
            [Judgement::Conforms],
            "{number}"
        );
    }
    assert!(matches!(
        judge(&[(Call::Pick(100), &[Output::Number(100)])])[..],
        [Judgement::Found(_)]
    ));
}

#[test]
fn a_conforming_party_pays_before_it_is_too_late() {
    let variant = Variant::<Toy>::default();
    let mut answers = Vec::new();
    World::<Toy>::new(0).answers(&variant, Freedom::May, &Call::Borrow, |world, outputs| {
        if outputs.is_empty() {
            world.answers(&variant, Freedom::Order, &Call::Speak, |_, outputs| {
                answers.push(outputs);
            });
        }
    });
    answers.sort_by_key(Vec::len);
    assert_eq!(
        answers,
        [vec![], vec![Output::Debt], vec![Output::Debt, Output::Word]]
    );
    let late = judge(&[
        (Call::Borrow, &[]),
        (Call::Speak, &[Output::Word, Output::Debt]),
    ]);
    assert!(
        matches!(&late[1], Judgement::Found(it) if it.clause == Some(ONE) || it.clause == Some(THREE)),
        "{late:?}"
    );
}

#[test]
fn three_faults_in_one_call_are_one_finding_with_consequences() {
    let found = judge(&[
        (Call::Three, &[]),
        (
            Call::Three,
            &[Output::Number(1), Output::Number(2), Output::Number(3)],
        ),
    ]);
    assert!(
        matches!(&found[0], Judgement::Found(it) if it.consequences.len() == 2),
        "{found:?}"
    );
    assert_eq!(found[1], Judgement::Conforms);
}

#[test]
fn what_no_clause_forbids_is_named_by_none() {
    let found = judge(&[(Call::Speak, &[Output::Number(200)])]);
    assert!(
        matches!(&found[..], [Judgement::Found(it)] if it.clause.is_none()),
        "{found:?}"
    );
}

/// What a conforming toy that has counted so far puts out for two places.
fn places(so_far: u8, variant: &Variant<Toy>) -> Vec<Vec<Output>> {
    answers(so_far, variant, Call::Count)
}

fn answers(so_far: u8, variant: &Variant<Toy>, call: Call) -> Vec<Vec<Output>> {
    let mut answers = Vec::new();
    World::<Toy>::new(so_far).answers(variant, Freedom::Default, &call, |_, outputs| {
        answers.push(outputs);
    });
    answers
}

#[test]
fn what_a_party_chooses_is_chosen_when_it_is_put_out() {
    let variant = Variant::default();
    assert_eq!(places(0, &variant), [[Output::Place(0), Output::Place(1)]]);
    assert_eq!(answers(3, &variant, Call::Tell), [[Output::Place(3)]]);
}

#[test]
fn a_party_without_a_clause_puts_out_what_only_that_clause_forbids() {
    let variant = Variant::default();
    assert!(places(LAST - 1, &variant).is_empty());
    assert_eq!(
        places(LAST - 1, &variant.without(TWO.into())),
        [[Output::Place(LAST - 1); 2]]
    );
}
