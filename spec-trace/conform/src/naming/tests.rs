//! Executors that are not what the text wants, and the clauses that the judge names.

use countersign_model::aaep::action::{Action as AaepAction, EVERYBODY_COMES};
use countersign_model::aaep::bounds::Bounds as AaepBounds;
use countersign_model::aaep::message::Shape;
use countersign_model::aaep::words::{
    AllowedReplies, Class, Decision, Risk, SessionName, Slot, Subscriber,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::AHEAD;
use crate::aaep::AaepBridge;

/// The same executor, read back from a document in which other texts stand for these.
fn rewritten<T: Serialize + DeserializeOwned>(executor: &T, changes: &[(&str, &str)]) -> T {
    let mut stored = serde_json::to_string(executor).expect("it can be stored");
    for (was, is) in changes {
        assert!(stored.contains(was), "{stored}");
        stored = stored.replace(was, is);
    }
    serde_json::from_str(&stored).expect("it can be read")
}

const fn ask(session: SessionName) -> AaepAction {
    AaepAction::Ask {
        session,
        class: Class {
            risk: Risk::Low,
            irreversible: false,
            default: Decision::Accept,
            allowed: AllowedReplies::Both,
        },
        timeout: 1,
        same_action: false,
    }
}

const REJECT: AaepAction = AaepAction::Decide {
    subscriber: Subscriber::Capable,
    slot: Slot::First,
    decision: Decision::Reject,
    skew: 0,
    shape: Shape::Plain,
};

fn aaep() -> AaepBridge {
    AaepBridge::new(AaepBounds::SMALL).expect("the presets are in range")
}

/// AAEP-A.1-2: what is held alone is named by what comes of it.
#[test]
fn a_session_that_is_held_to_be_over_is_named_once_it_matters() {
    let found = later(&aaep(), &EVERYBODY_COMES, |host| {
        let active = r#""sess_B":{"status":"active""#;
        let ended = r#""sess_B":{"status":{"ended":"completed"}"#;
        host.producer = rewritten(&host.producer, &[(active, ended)]);
    });
    let wanted = "there is no ground to refuse this; seen after: agent ends session B";
    assert_found(found, "AAEP-A.1-2", wanted);
}

/// What is found in the next few steps, where the executor comes out of a run otherwise than it should.
fn later<E: Execution>(
    bridge: &Bridge<E>,
    run: &[Action<E>],
    forget: impl FnOnce(&mut E::Host),
) -> Option<(&'static str, String)> {
    let mut judged = Judged::begin(bridge);
    for &action in run {
        assert_eq!(judged.take(action).differs, None);
    }
    forget(&mut judged.host);
    let finding = judged.later(AHEAD)?;
    Some((finding.clause, finding.text))
}

#[track_caller]
fn assert_found(found: Option<(&'static str, String)>, clause: &str, text: &str) {
    let (found, required) = found.expect("something is found");
    assert_eq!(found, clause);
    assert!(required.starts_with(text), "{required}");
}

/// AAEP-6.3.4-3, AAEP-6.3.5-1: a token whose use was forgotten.
#[test]
fn a_forgotten_rejection_is_named_once_it_matters() {
    let rejected = [
        ask(SessionName::A),
        AaepAction::CarryOut,
        REJECT,
        AaepAction::Deliver { index: 0 },
    ];
    let run = [&EVERYBODY_COMES[..], &rejected].concat();
    let bridge = aaep();
    assert_eq!(later(&bridge, &run, |_| {}), None);
    let found = later(&bridge, &run, |host| {
        let rejected = r#""phase":{"rejected":{"by":"reply"}}"#;
        let pending = [
            (rejected, r#""phase":"pending""#),
            (r#""state":"thinking""#, r#""state":"awaiting_input""#),
        ];
        host.producer = rewritten(&host.producer, &pending);
    });
    let wanted = "a0 must not run for c0: the reply names a token that is used up; seen after: attacker replays";
    assert_found(found, "AAEP-6.3.4-3", wanted);
}

/// What is found where one thing is asked after a run, and the executor does what it does when another is.
fn done_for<E: Execution>(
    bridge: &Bridge<E>,
    run: &[Action<E>],
    [asked, done]: [Action<E>; 2],
) -> Option<&'static str> {
    let mut judged = Judged::begin(bridge);
    for &action in run {
        assert_eq!(judged.take(action).differs, None);
    }
    let answers = E::call(bridge, &judged.state, &mut judged.host, done);
    let taken = judged.take_answered(asked, &answers.expect("a call"));
    assert_ne!(taken.differs, None);
    taken.finding.map(|finding| finding.clause)
}

/// AAEP-6.1-6, AAEP-6.4.1-1, AAEP-EV-5: a question that was to be refused.
#[test]
fn a_question_that_is_asked_all_the_same_is_named_by_what_forbids_it() {
    let asks = |risk, timeout, same_action| AaepAction::Ask {
        session: SessionName::A,
        class: Class {
            risk,
            irreversible: risk == Risk::High,
            default: Decision::Accept,
            allowed: AllowedReplies::Both,
        },
        timeout,
        same_action,
    };
    let right = asks(Risk::Low, 1, false);
    let asked = [ask(SessionName::A), AaepAction::CarryOut];
    let run = [&EVERYBODY_COMES[..], &asked].concat();
    for (wrong, clause) in [
        (asks(Risk::Low, 1, true), "AAEP-6.1-6"),
        (asks(Risk::High, 1, false), "AAEP-6.4.1-1"),
        (asks(Risk::Low, 0, false), "AAEP-EV-5"),
    ] {
        let found = done_for(&aaep(), &run, [wrong, right]);
        assert_eq!(found, Some(clause));
    }
}
