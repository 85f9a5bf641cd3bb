//! What an executor puts out is changed in one place, and the bridge must notice.

use super::{Action, Bridge, Execution, Judged};

/// Stands where the judge names no clause: the text leaves free what differs, or he is not shown it.
pub(crate) const FREE: &str = "none";

/// A change of what came out.
pub(crate) type Change<E> = fn(&mut Vec<<E as Execution>::Output>);

/// Each change of what the last of these steps puts out goes against its clause.
#[track_caller]
pub(crate) fn all_noticed<E: Execution>(
    bridge: &Bridge<E>,
    steps: &[Action<E>],
    changes: &[(Change<E>, &str)],
) {
    let as_it_is: Change<E> = |_| {};
    assert_eq!(named(bridge, steps, as_it_is), None, "as it is");
    let named = changes
        .iter()
        .map(|(change, _)| named(bridge, steps, *change));
    let clauses = changes.iter().map(|(_, clause)| Some(*clause));
    assert_eq!(named.collect::<Vec<_>>(), clauses.collect::<Vec<_>>());
}

/// The clause that is named; none if the change passes.
#[track_caller]
fn named<E: Execution>(
    bridge: &Bridge<E>,
    steps: &[Action<E>],
    change: Change<E>,
) -> Option<&'static str> {
    let (&last, before) = steps.split_last().expect("a step at least");
    let mut judged = Judged::begin(bridge);
    for &action in before {
        assert_eq!(judged.take(action).differs, None);
    }
    let called = E::call(bridge, &judged.state, &mut judged.host, last);
    let mut answers = called.expect("a call");
    change(&mut answers[0].outputs);
    let taken = judged.take_answered(last, &answers);
    let disagreement = taken.differs?.named(taken.finding);
    let is_named = disagreement.is_named();
    Some(if is_named { disagreement.clause } else { FREE })
}
