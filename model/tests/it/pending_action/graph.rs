//! The shape of the graph: it ends. Every step but one that changes nothing spends something that does not come back, so a
//! depth-first search, which carries its path with it, stays small.

use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::bounds::{Bounds, Budgets};
use countersign_model::pending_action::journal::Record;
use countersign_model::pending_action::known::Status;
use countersign_model::pending_action::output::Output;
use countersign_model::pending_action::state::State;
use countersign_model::pending_action::words::{Decision, Note, Slot};

use crate::common::bounds::assert_bounds;
use crate::common::shape::{assert_words_tell_apart, each_step, longest_run};
use crate::common::{small, within};

#[test]
fn every_run_ends_and_the_longest_is_known() {
    assert_eq!(longest_run(&small::<PendingActionProtocol>()), Some(34));
}

#[test]
fn states_that_differ_differ_in_their_words() {
    assert_words_tell_apart(&small::<PendingActionProtocol>(), State::words);
}

/// PA-8, PA-10: nothing is told twice in one step, and no more runs than there is.
#[test]
fn every_output_of_a_step_comes_out_once() {
    let model = small::<PendingActionProtocol>();
    each_step(&model, |&state, action| {
        let step = model
            .step(&state, action)
            .expect("what is enabled leads somewhere");
        for output in step.required.iter() {
            assert_eq!(step.required.count(output), 1, "{output:?} comes out once");
        }
        let perform = |output| matches!(output, Output::Perform(..));
        assert!(
            step.required
                .iter()
                .filter(|&output| perform(output))
                .count()
                < 3
        );
    });
}

/// PA-10: what the transcript holds is what the first so many records say, whatever crashes in between.
#[test]
fn the_transcript_reads_in_the_order_of_the_journal() {
    let crashes = Bounds {
        ticks: 1,
        disturbances: Budgets::new([0, 0, 0, 1, 2, 0], 2),
        ..Bounds::SMALL
    };
    let model = within::<PendingActionProtocol>(crashes).literal();
    each_step(&model, |state, _| {
        let mut left = state.actions.map(|held| held.told);
        let mut complete = true;
        for entry in state.journal.items() {
            for (slot, note) in messages(state, entry.record) {
                let told = left[slot.index()] & note.bit() != 0;
                assert!(complete || !told, "{note:?} is told too soon: {state:?}");
                left[slot.index()] &= !note.bit();
                complete &= told;
            }
        }
        assert_eq!(left, [0; 3], "what is told was recorded: {state:?}");
    });
}

/// The messages that a record leads to, in their order.
fn messages(state: &State, record: Record) -> Vec<(Slot, Note)> {
    match record {
        Record::Proposed(slot) => vec![(slot, Note::Request)],
        Record::Decided { slot, decision, .. } => match decision {
            Decision::Allow => vec![(slot, Note::Call)],
            Decision::Deny => vec![(slot, Note::Denied)],
        },
        Record::Expired(slot) => vec![(slot, Note::Expired)],
        Record::Cancelled(slot) => vec![(slot, Note::Cancelled)],
        Record::Finished(slot, status) => vec![(slot, Note::Result(status))],
        Record::SessionEnded(session) => {
            let with_it = state.slots_where(|held, standing| {
                held.session == session && standing.status == Status::SessionOver
            });
            let with_it = with_it.into_iter().flatten();
            with_it.map(|slot| (slot, Note::Cancelled)).collect()
        }
    }
}

#[test]
fn a_bound_out_of_range_is_named_with_its_range() {
    assert_bounds::<PendingActionProtocol>(8, |ticks| Bounds {
        ticks,
        ..Bounds::SMALL
    });
}
