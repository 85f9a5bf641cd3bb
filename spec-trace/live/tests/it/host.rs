//! The host on a clock of its own: what the agent does, and when.

use countersign_live::host::Host;
use countersign_reference::aaep::{Capabilities, Settings, SubscriptionId};
use countersign_reference::ids::SequentialIds;
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

const START: i64 = 1_779_632_540_000;
const TIMEOUT: u64 = 30;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(START + millis)
}

/// A host with one subscriber that can reply.
fn host() -> (Host<SequentialIds>, SubscriptionId) {
    let mut host = Host::new(Settings::default(), SequentialIds::new(), TIMEOUT);
    let capabilities = Capabilities {
        supports_confirmation_reply: true,
    };
    let subscription_id = host.subscribe(at(0), capabilities).expect("a subscription");
    (host, subscription_id)
}

fn events(host: &Host<SequentialIds>, of: &SubscriptionId) -> Vec<Value> {
    let told = host.follow(of, None).expect("it is open").missed;
    let read = |json: &str| serde_json::from_str(json).expect("an event is JSON");
    told.iter().map(|it| read(&it.json)).collect()
}

/// The types without what they begin with, and a tool's name behind.
fn types(events: &[Value]) -> Vec<String> {
    let short = |event: &Value| {
        let name = event["type"]
            .as_str()
            .expect("a type")
            .replace("aaep:agent.", "");
        match event["tool"].as_str() {
            Some(tool) => format!("{name} {tool}"),
            None => name,
        }
    };
    let all = events.iter().map(short);
    all.filter(|name| name != "state.changed").collect()
}

fn reply(events: &[Value], of: &SubscriptionId, decision: &str) -> Vec<u8> {
    let question = events
        .iter()
        .rfind(|event| event["reply_token"].is_string());
    let token = &question.expect("a question")["reply_token"];
    json!({
        "type": "confirmation.reply", "reply_token": token, "decision": decision,
        "subscription_id": of, "timestamp": at(500).to_string(),
    })
    .to_string()
    .into_bytes()
}

#[test]
fn a_lookup_asks_nobody_and_without_a_task_nothing_runs() {
    for (prompt, runs) in [("Look what is new.", true), ("What is new?", false)] {
        let (mut host, of) = host();
        host.start(at(0), prompt).expect("a session");
        let tool = ["tool.invoked look_up", "tool.completed look_up"];
        let said = ["output.streaming", "session.completed"];
        let tool = if runs { &tool[..] } else { &[] };
        let expected = [&["session.started"], tool, &said].concat();
        assert_eq!(types(&events(&host, &of)), expected, "{prompt}");
        assert_eq!(host.under_way(), 0);
    }
}

#[test]
fn a_transfer_runs_by_an_accepting_reply_alone() {
    for (decision, runs) in [("accept", true), ("reject", false)] {
        let (mut host, of) = host();
        host.start(at(0), "transfer").expect("a session");
        let asked = events(&host, &of);
        assert_eq!(types(&asked), ["session.started", "awaiting.confirmation"]);
        host.deliver(at(1_000), true, &reply(&asked, &of, decision));
        let seen = types(&events(&host, &of));
        assert_eq!(seen.contains(&"tool.invoked transfer_funds".into()), runs);
        assert_eq!(seen.last().map(String::as_str), Some("session.completed"));
    }
}

#[test]
fn the_default_applies_at_the_deadline_and_not_before() {
    for (prompt, tool) in [("note", "leave_note"), ("transfer", "transfer_funds")] {
        let (mut host, of) = host();
        host.start(at(0), prompt).expect("a session");
        let deadline = host.next_deadline().expect("a question waits");
        assert_eq!(deadline.millis(), at(30_000).millis());
        host.tick(at(29_999));
        assert_eq!(host.under_way(), 1);
        host.tick(at(30_000));
        assert_eq!(host.under_way(), 0);
        let invoked = format!("tool.invoked {tool}");
        let runs = types(&events(&host, &of)).contains(&invoked);
        assert_eq!(runs, prompt == "note");
    }
}

#[test]
fn a_reply_counts_from_an_authenticated_sender_and_an_open_subscription_aaep_6_3_4_5() {
    let unknown = SubscriptionId::parse("sub_other").expect("an id");
    for authenticated in [true, false] {
        for is_open in [true, false] {
            let (mut host, of) = host();
            host.start(at(0), "transfer").expect("a session");
            let asked = events(&host, &of);
            let sender = if is_open { &of } else { &unknown };
            host.deliver(at(1_000), authenticated, &reply(&asked, sender, "accept"));
            let is_honoured = host.under_way() == 0;
            assert_eq!(is_honoured, authenticated && is_open);
            assert_eq!(host.take_audits().is_empty(), is_honoured);
        }
    }
}

#[test]
fn every_task_is_done_in_its_turn() {
    let (mut host, of) = host();
    host.start(
        at(0),
        "handoff, clarification, note, change, lookup, transfer",
    )
    .expect("a session");
    for wait in 1..=4 {
        host.tick(at(wait * 30_000));
    }
    assert_eq!(
        types(&events(&host, &of)),
        [
            "session.started",
            "tool.invoked look_up",
            "tool.completed look_up",
            "awaiting.confirmation",
            "awaiting.confirmation",
            "awaiting.confirmation",
            "tool.invoked leave_note",
            "tool.completed leave_note",
            "awaiting.clarification",
            "output.streaming",
            "handoff.requested",
            "session.completed"
        ]
    );
}

#[test]
fn when_the_last_subscriber_leaves_a_rejecting_default_applies() {
    let (mut host, of) = host();
    host.start(at(0), "transfer").expect("a session");
    assert!(host.unsubscribe(at(1_000), &of));
    assert_eq!(host.under_way(), 0);
    assert!(!host.unsubscribe(at(1_000), &of));
}
