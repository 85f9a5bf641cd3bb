//! Names count to the letter: one that differs in the case of a letter names something else.

use countersign_reference::ids::IdSource as _;
use countersign_reference::pending_action::{
    ActionId, Decide, Decision, IgnoredBecause, Input, Output, Propose, Text, ToolStatus,
};

use crate::pending_action::stage::{
    ALLOWED, ASKED, Stage, allow, cancel, decision, end_session, finish, of_session, ordinary,
};

/// An action whose id and nonce have letters in them.
fn proposed() -> (Stage, ActionId) {
    let mut stage = Stage::new();
    while stage.ids.next_bits() < 0xabcd {}
    let id = stage.proposes(ordinary());
    let nonce = stage.action(id).nonce.to_string();
    assert!(id.to_string().ends_with("abce") && nonce.ends_with("abcf"));
    (stage, id)
}

/// The same with its digits in capitals.
fn in_capitals(id: &str) -> String {
    let (prefix, digits) = id.split_once('_').expect("a prefix");
    format!("{prefix}_{}", digits.to_uppercase())
}

#[track_caller]
fn is_ignored(stage: &mut Stage, decide: Decide, reason: IgnoredBecause) {
    let outputs = stage.outputs(Input::Decide(decide));
    let [Output::Audit(audit)] = &outputs[..] else {
        panic!("was not ignored: {outputs:?}");
    };
    assert_eq!(audit.reason, reason);
}

/// PA-1: an action or a nonce in other letters is none, for everything that names one.
#[test]
fn an_id_in_other_letters_names_nothing() {
    let (mut stage, id) = proposed();
    let capital = in_capitals(&id.to_string());
    let mut allowing = decision(id, Decision::Allow);
    allowing.action_id.clone_from(&capital);
    is_ignored(&mut stage, allowing, IgnoredBecause::UnknownAction);
    let mut prefixed = decision(id, Decision::Allow);
    prefixed.action_id = prefixed.action_id.replacen("pa_", "PA_", 1);
    is_ignored(&mut stage, prefixed, IgnoredBecause::UnknownAction);
    let mut answering = decision(id, Decision::Allow);
    let nonce = stage.action(id).nonce.to_string();
    answering.nonce = Some(in_capitals(&nonce));
    is_ignored(&mut stage, answering.clone(), IgnoredBecause::OtherNonce);
    stage.refuses(Input::Cancel {
        action_id: capital.clone(),
    });
    answering.nonce = Some(nonce);
    assert_eq!(stage.does(Input::Decide(answering)).len(), ALLOWED.len());
    stage.refuses(Input::FinishTool {
        action_id: capital,
        status: ToolStatus::Success,
        result: Text::default(),
    });
    stage.does(finish(id, ToolStatus::Success));
}

/// PA-2: a decider in other letters is somebody else, and may be named beside the first.
#[test]
fn a_decider_in_other_letters_is_somebody_else() {
    let mut stage = Stage::new();
    let id = stage.proposes(Propose {
        deciders: Some(vec!["ANA".into(), "ben".into()]),
        ..ordinary()
    });
    is_ignored(
        &mut stage,
        decision(id, Decision::Allow),
        IgnoredBecause::NotEntitled,
    );
    let id = stage.proposes(Propose {
        deciders: Some(vec!["ANA".into(), "ana".into()]),
        ..ordinary()
    });
    assert_eq!(stage.does(allow(id)).len(), ALLOWED.len());
    // Whoever is not entitled is written down as they came.
    let mut by_another = decision(id, Decision::Allow);
    by_another.by = "Ana".into();
    let outputs = stage.outputs(Input::Decide(by_another));
    let Some(Output::Audit(audit)) = outputs.last() else {
        panic!("was not ignored: {outputs:?}");
    };
    assert_eq!(audit.by, "Ana");
}

/// PA-5, PA-1: a session in other letters is another: its end cancels, withdraws and closes nothing of this one.
#[test]
fn a_session_in_other_letters_is_another() {
    let mut stage = Stage::new();
    let (pending, released) = (stage.proposes(ordinary()), stage.proposes(ordinary()));
    stage.does(allow(released));
    assert_eq!(stage.does(end_session("S1")), ["record session_ended"]);
    assert_eq!(stage.status(pending), "pending");
    assert_eq!(stage.does(Input::Propose(ordinary())), ASKED);
    stage.refuses(Input::Propose(of_session("S1")));
    // The other one still has its own end.
    let ended = stage.does(end_session("s1"));
    assert_eq!(ended.last().map(String::as_str), Some("withdraw 2"));
    stage.refuses(cancel(pending));
}
