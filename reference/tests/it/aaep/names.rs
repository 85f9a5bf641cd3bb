//! Names count to the letter: one that differs in the case of a letter names something else.

use countersign_reference::aaep::{
    Decision, Input, ReplyToken, SessionOutcome, Subscription, ToolCallId, ToolStatus,
};
use countersign_reference::ids::IdSource as _;
use serde_json::json;

use crate::aaep::stage::{
    Stage, action_id, ask, cancel, deliver, end, finish, reply, session, start, subscribe,
    unsubscribe,
};

/// A pending question whose token has letters in it, and that token in capitals.
fn asked() -> (Stage, ReplyToken, ReplyToken) {
    let mut stage = Stage::new();
    while stage.ids.next_bits() < 0xabcd {}
    let token = stage.asks(ask("a1"));
    let (prefix, digits) = token.as_str().split_at(4);
    let capital = format!("{prefix}{}", digits.to_uppercase());
    let capital = ReplyToken::parse(&capital).expect("well-formed");
    assert_ne!(capital, token);
    (stage, token, capital)
}

/// The tool of `a1` runs.
fn running() -> Stage {
    let (mut stage, token, _) = asked();
    stage.replies(&token, Decision::Accept);
    stage
}

/// AAEP-6.3.4-2, AAEP-REPLY-13, AAEP-6.8-1: a token in other letters was never issued.
#[test]
fn a_token_in_other_letters_was_never_issued() {
    let (mut stage, token, capital) = asked();
    assert_eq!(
        stage.replies(&capital, Decision::Accept),
        ["respond 204", "audit AAEP-6.3.4-2"]
    );
    stage.refuses(cancel(&capital));
    assert_eq!(stage.producer.confirmation(&capital), None);
    assert_eq!(stage.replies(&token, Decision::Accept).len(), 4);
}

/// AAEP-EV-2, AAEP-A.1-1, AAEP-A.1-3: a session in other letters is another session.
#[test]
fn a_session_in_other_letters_is_another() {
    let mut stage = running();
    let mut elsewhere = ask("a2");
    elsewhere.session_id = session("sess_A");
    stage.refuses(Input::Confirm(elsewhere.clone()));
    let finish_other = Input::FinishTool {
        session_id: session("sess_A"),
        action: action_id("a1"),
        tool_call_id: None,
        status: ToolStatus::Success,
    };
    stage.refuses(finish_other.clone());
    let end_other = Input::EndSession {
        session_id: session("sess_A"),
        outcome: SessionOutcome::Completed,
    };
    stage.refuses(end_other.clone());
    assert_eq!(stage.does(start("sess_A")), ["session.started"]);
    // The same action of the other session is another one, and that session's end is no matter to the first.
    elsewhere.action.id = action_id("a1");
    stage.asks(elsewhere);
    stage.refuses(finish_other);
    let withdrawn = "state.changed AwaitingInput>Thinking (a1 Cancelled)";
    assert_eq!(stage.does(end_other), [withdrawn, "session.completed"]);
    assert_eq!(stage.does(finish("a1")).len(), 2);
}

/// AAEP-6.1-6, AAEP-A.3-2, AAEP-EV-13: an action, or a call, in other letters is another one.
#[test]
fn an_action_in_other_letters_is_another() {
    let (mut stage, ..) = asked();
    stage.asks(ask("A1"));
    let mut stage = running();
    stage.refuses(finish("A1"));
    let call = |id: &str| Input::FinishTool {
        session_id: session("sess_a"),
        action: action_id("a1"),
        tool_call_id: Some(ToolCallId::parse(id).expect("a name")),
        status: ToolStatus::Success,
    };
    stage.refuses(call("CALL_0"));
    assert_eq!(stage.does(call("call_0")).len(), 2);
}

/// AAEP-6.3.4-5, AAEP-REPLY-14, AAEP-EV-2: a subscription in other letters is another one.
#[test]
fn a_subscription_in_other_letters_is_another() {
    let (mut stage, token, _) = asked();
    stage.refuses(unsubscribe("sub_A"));
    let mut other = reply(&token, Decision::Accept, stage.now);
    other["subscription_id"] = json!("sub_A");
    let ignored = ["respond 204", "audit AAEP-6.3.4-5"];
    assert_eq!(stage.does(deliver("sub_A", &other)), ignored);
    stage.does(subscribe("sub_A", false));
    assert_eq!(stage.producer.subscriptions().len(), 2);
    // Both are open, and each sender has its own.
    assert_eq!(stage.does(deliver("sub_a", &other)), ignored);
    stage.does(unsubscribe("sub_A"));
    let first = stage.producer.subscriptions().values().next_back();
    assert!(matches!(first, Some(Subscription::Open(_))));
    assert_eq!(stage.replies(&token, Decision::Accept).len(), 4);
}

/// AAEP-6.3.4-6, AAEP-EV-5: an allowed reply in other letters is a decision of the host's own.
#[test]
fn an_allowed_reply_in_other_letters_is_another() {
    let mut question = ask("a1");
    question.allowed_replies = Some(vec!["Accept".into(), "ACCEPT".into(), "reject".into()]);
    let mut stage = Stage::new();
    let token = stage.asks(question);
    assert_eq!(
        stage.replies(&token, Decision::Accept),
        ["respond 204", "audit AAEP-6.3.4-6"]
    );
    assert_eq!(stage.replies(&token, Decision::Reject).len(), 2);
    assert_eq!(stage.does(end(SessionOutcome::Completed)).len(), 1);
}
