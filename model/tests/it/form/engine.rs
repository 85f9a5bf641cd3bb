//! What the book does not reach: too many ways to go, a debt that is open over calls and has become too late.

use countersign_model::clauses;
use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::{Clauses, Entry};
use countersign_model::engine::protocol::{Protocol, Step, Variant};
use countersign_model::engine::world::{Freedom, World};

clauses! { const CLAUSES; ONE "T-1" Must; TWO "T-2" Must; THREE "T-3" Must; }

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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Output {
    Number(u8),
    Debt,
    Word,
}

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
        }
    }
    fn fill(_: &mut Output, _: &Output, (): ()) {}
    fn bind(step: &mut Step<'_, Self>, (): (), _: &Output) -> Result<(), Clauses> {
        step.expire(|()| true);
        Ok(())
    }
    fn unowed(_: &mut Step<'_, Self>, output: &Output) -> Result<(), Clauses> {
        match output {
            Output::Number(200..) => Err(&[]),
            Output::Number(_) => Err(&[TWO]),
            Output::Debt | Output::Word => Err(&[THREE]),
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
