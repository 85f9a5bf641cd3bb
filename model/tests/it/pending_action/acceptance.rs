//! The acceptance criteria of the source, each as a test named after it.

use std::collections::BTreeSet;

use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::action::{Action, Manner};
use countersign_model::pending_action::known::{Known, Status};
use countersign_model::pending_action::output::{Event, Output};
use countersign_model::pending_action::words::{
    Arguments, Decision, Note, Proposal, Slot, ToolStatus,
};

use crate::common::small;
use crate::pending_action::run::{Run, expiring};

const FIRST: Slot = Slot::First;

/// PA-1, PA-3: it pends as long as it takes, also over a crash, and then runs with the very arguments that were proposed.
#[test]
fn a_destructive_tool_call_can_be_paused_and_later_resumed_with_the_exact_original_arguments() {
    let mut run = Run::asked(Proposal::PLAIN);
    run.put(Action::Say);
    run.put(Action::Restart);
    run.carry_out();
    assert_eq!((run.status(), run.runs()), (Status::Pending, 0));
    let step = run.decide(Decision::Allow, Manner::Full);
    let original = Output::Perform(FIRST, Arguments::Original);
    assert_eq!(step.required.count(original), 1);
    run.carry_out();
    assert_eq!(run.runs(), 1);
}

/// PA-9: what everybody sees of a proposal is summary and label; a label that is too long is refused, and nothing shows id or
/// arguments.
#[test]
fn the_user_visible_label_can_remain_short_while_id_and_args_stay_out_of_the_visible_message() {
    let mut run = Run::new();
    let outputs = run.put(Action::Propose(Proposal::PLAIN));
    assert!(outputs.contains(&Output::Append(Note::Request, FIRST)));
    assert!(!outputs.contains(&Output::Expose(FIRST)));
}

/// PA-5, PA-6: neither runs the tool, and both are told.
#[test]
fn deny_or_cancel_resolves_the_pending_action_without_executing_the_tool() {
    let mut denied = Run::asked(Proposal::PLAIN);
    denied.deny();
    denied.carry_out();
    assert_eq!((denied.status(), denied.runs()), (Status::Rejected, 0));
    assert!(denied.tells(&[Note::Request, Note::Denied]));

    let mut cancelled = Run::asked(Proposal::PLAIN);
    cancelled.put(Action::Cancel { slot: FIRST });
    cancelled.carry_out();
    assert_eq!(
        (cancelled.status(), cancelled.runs()),
        (Status::Cancelled, 0)
    );
    assert!(cancelled.tells(&[Note::Request, Note::Cancelled]));
}

/// PA-7, PA-8: an allow that comes too late runs nothing.
#[test]
fn expired_or_already_resolved_pending_actions_cannot_execute() {
    let expire = |run: &mut Run| {
        run.wait(1).put(Action::ServeTimer);
    };
    let deny = |run: &mut Run| {
        run.deny();
    };
    let cancel = |run: &mut Run| {
        run.put(Action::Cancel { slot: FIRST });
    };
    for resolve in [expire, deny, cancel] {
        let mut run = Run::asked(expiring(1));
        resolve(&mut run);
        let resolved = run.status();
        assert!(resolved.is_final());
        let late = run.allow();
        assert!(late.ignored.is_some(), "{resolved:?}");
        run.carry_out();
        assert_eq!((run.status(), run.runs()), (resolved, 0));
    }
}

/// PA-10, PA-4: each of these has an event and a message of its own, and the ends exclude one another.
#[test]
fn transcript_and_events_tell_created_decided_executed_and_denied_apart() {
    let mut run = Run::new();
    let created = run.put(Action::Propose(Proposal::PLAIN));
    assert!(created.contains(&Output::Event(Event::Created, FIRST)));
    run.carry_out();
    assert!(run.tells(&[Note::Request]));
    let decided = run.allow();
    let event = Event::Decided(Decision::Allow);
    assert!(decided.required.contains(Output::Event(event, FIRST)));
    run.carry_out();
    assert!(run.tells(&[Note::Request, Note::Call]));
    let success = ToolStatus::Success;
    let executed = run.finish();
    assert!(executed.contains(&Output::Event(Event::Executed(success), FIRST)));
    run.carry_out();
    assert!(run.tells(&[Note::Request, Note::Call, Note::Result(success)]));

    let mut run = Run::asked(Proposal::PLAIN);
    let denied = run.deny();
    assert!(
        denied
            .required
            .contains(Output::Event(Event::Denied, FIRST))
    );
    run.carry_out();
    assert!(run.tells(&[Note::Request, Note::Denied]));
}

/// PA-12: all that the ledger knows follows from its records, so that a host has to keep nothing else.
#[test]
fn hosts_can_implement_this_without_product_specific_hidden_context_hacks() {
    let model = small::<PendingActionProtocol>();
    let mut known = BTreeSet::from([model.start().words()]);
    let mut open = vec![model.start()];
    let mut actions = Vec::new();
    while let Some(state) = open.pop() {
        let recorded = Known::of(state.journal, state.sessions());
        for slot in Slot::ALL {
            let (held, kept) = (state.known.standing(slot), recorded.standing(slot));
            assert_eq!(held.status, kept.status);
            assert_eq!(held.finished.is_some(), kept.finished.is_some());
        }
        assert_eq!(state.known.ended, recorded.ended);
        actions.clear();
        model.enabled(&state, &mut actions);
        for &action in &actions {
            let next = model.take(&state, action).expect("it is enabled");
            if known.insert(next.words()) {
                open.push(next);
            }
        }
    }
}
