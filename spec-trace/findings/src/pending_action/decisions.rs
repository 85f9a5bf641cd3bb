//! Which decision counts, and on what: the contract's decision and free text.

use super::{decision, record, with};
use crate::every::{each_op, every, kept};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "Desired contract: decision: anyone's",
        judge: a_structured_decision,
    },
    Judge {
        name: "Desired contract: decision: without an id the latest",
        judge: |run| on_one_of(run, |proposed| proposed.next_back()),
    },
    Judge {
        name: "Desired contract: decision: without an id the oldest",
        judge: |run| on_one_of(run, |proposed| proposed.next()),
    },
    Judge {
        name: "Desired contract: free text: only structured decisions decide",
        judge: a_structured_decision,
    },
    Judge {
        name: "Desired contract: free text: only what is ambiguous goes to the model",
        judge: clear_text_decides,
    },
    Judge {
        name: "Acceptance: deny or cancel",
        judge: denied_never_runs,
    },
    Judge {
        name: "Acceptance: deny or cancel: the session's end cancels",
        judge: closed_never_runs,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "PA-F4",
        judge: named_deciders,
    },
    Judge {
        name: "PA-F5",
        judge: by_its_id,
    },
    Judge {
        name: "PA-F6",
        judge: the_first_decision,
    },
    Judge {
        name: "PA-F14",
        judge: an_answer_cancels,
    },
    Judge {
        name: "PA-F15",
        judge: the_label_decides,
    },
];

/// Decision: a structured allow, with the action's id or without, from anyone.
fn a_structured_decision(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        run.before(number).any(|(_, decided)| {
            decided.is("decision", "allow")
                && (!decided.has("action_id") || decided.get("action_id") == it.get("action_id"))
        })
    })
}

/// Decision: one without an id is on the pending action that `pick` picks.
fn on_one_of<'a>(
    run: &'a Run,
    pick: fn(&mut dyn DoubleEndedIterator<Item = &'a Step>) -> Option<&'a Step>,
) -> Verdict {
    each_op(run, "perform", |number, it| {
        run.steps().take(number - 1).any(|(decided, decide)| {
            let before = run.steps().take(decided - 1).map(|(_, it)| it);
            let mut proposed = before.filter(|it| it.is("op", "propose"));
            let on = if decide.has("action_id") {
                Some(decide)
            } else {
                pick(&mut proposed)
            };
            decide.is("decision", "allow")
                && on.is_some_and(|on| on.get("action_id") == it.get("action_id"))
        })
    })
}

/// Free text: what is clear is not passed to the model.
fn clear_text_decides(run: &Run) -> Verdict {
    each_op(run, "say", |_, it| {
        !(it.is("taken", "model") && it.has("~clear"))
    })
}

/// Deny or cancel: the tool does not run.
fn denied_never_runs(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        with(run, number, it, "cancel").next().is_none()
            && !with(run, number, it, "decide").any(|(_, it)| it.is("decision", "deny"))
    })
}

/// Deny or cancel: the same after the end of the session, taken for a cancellation.
fn closed_never_runs(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| !is_closed(run, number, it))
}

/// Whether the session of an action has ended.
pub(super) fn is_closed(run: &Run, number: usize, of: &Step) -> bool {
    record(run, number, of).is_some_and(|record| {
        run.before(number).any(|(_, it)| {
            it.is("op", "end_session") && it.get("session_id") == record.get("session_id")
        })
    })
}

/// Mended: the record names who may decide, and nobody else's decision counts, least of all the proposing agent's.
fn named_deciders(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "propose" if !it.has("deciders") => Verdict::Lacks(number),
        "propose" => Verdict::Right,
        "perform" => {
            let may = |by: &Step| {
                record(run, number, it).is_some_and(|record| {
                    let named = record.get("deciders").as_array();
                    named.is_some_and(|named| named.contains(by.get("by")))
                        && by.get("by") != record.get("agent_id")
                })
            };
            let mut decided = with(run, number, it, "decide");
            kept(
                decided.any(|(_, it)| it.is("decision", "allow") && may(it)),
                number,
            )
        }
        _ => Verdict::Silent,
    })
}

/// Mended: no id is given twice, and only a decision that carries it resolves the action.
fn by_its_id(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "propose" => kept(with(run, number, it, "propose").next().is_none(), number),
        "perform" => {
            let mut decided = with(run, number, it, "decide");
            kept(decided.any(|(_, it)| it.is("decision", "allow")), number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: the first decision counts, it alone lets the tool run, once, or denies; later ones are told that they are late.
fn the_first_decision(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "decide" if with(run, number, it, "decide").next().is_some() && !it.is("told", "late") => {
            Verdict::Lacks(number)
        }
        "perform" => {
            let first = with(run, number, it, "perform").next().is_none();
            kept(first && decision(run, number, it) == "allow", number)
        }
        "append" if it.is("type", "denied_result") => {
            kept(decision(run, number, it) == "deny", number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: a free-text answer that goes to the model cancels the action that it answers.
fn an_answer_cancels(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        !run.before(number).any(|(_, said)| {
            said.is("taken", "model") && said.get("answers") == it.get("action_id")
        })
    })
}

/// Mended: typed words decide only where the record says so and they are the label, and are recorded; all others go to the model.
fn the_label_decides(run: &Run) -> Verdict {
    every(run, |number, it| {
        let record = run.before(number).map(|(_, it)| it).find(|record| {
            record.is("op", "propose") && record.get("action_id") == it.get("answers")
        });
        match (it.text("op"), record) {
            ("propose", _) if !it.has("typed_words_decide") => Verdict::Lacks(number),
            ("propose", _) => Verdict::Right,
            ("say", Some(record)) => {
                let decides = record.get("typed_words_decide") == true
                    && it.text("text") == record.text("label");
                kept(decides != it.is("taken", "model"), number)
            }
            ("perform", _) if with(run, number, it, "decide").next().is_none() => {
                let recorded =
                    with(run, number, it, "event").any(|(_, it)| it.is("type", "decided"));
                kept(recorded, number)
            }
            _ => Verdict::Silent,
        }
    })
}
