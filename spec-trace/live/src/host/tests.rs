//! What a host keeps, on a clock of its own: opened again after any call, it is the same.

use std::fs;

use countersign_reference::ids::SequentialIds;
use serde_json::json;
use tempfile::TempDir;

use super::*;

const START: i64 = 1_779_632_540_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(START + millis)
}

/// With notices, which draw no id.
fn settings() -> Settings {
    Settings {
        courtesy_notices: true,
        ..Settings::default()
    }
}

fn opened(path: &Path) -> (Host<SequentialIds>, usize) {
    Host::open(path, settings(), SequentialIds::new(), 30).expect("a store")
}

/// The state, but for the time: a message of which nothing comes does not make it durable.
fn state(host: &Host<SequentialIds>) -> Value {
    let mut state = serde_json::to_value(&host.state).expect("JSON");
    state["producer"]["now"].take();
    state
}

/// What a process would find that is started when this one has been killed.
fn after_a_kill(folder: &TempDir) -> (Host<SequentialIds>, usize) {
    let other = tempfile::tempdir().expect("a folder");
    let there = other.path().join("journal");
    fs::copy(folder.path().join("journal"), there).expect("a copy");
    opened(other.path())
}

fn reply(host: &Host<SequentialIds>, place: usize, of: &SubscriptionId, decision: &str) -> Vec<u8> {
    let told = host.follow(of, None).expect("it is open").missed;
    let events = told
        .iter()
        .map(|it| serde_json::from_str::<Value>(&it.json));
    let events = events.map(|it| it.expect("an event is JSON"));
    let mut questions = events.filter(|it| it["reply_token"].is_string());
    let question = questions.nth(place).expect("a question");
    let reply = json!({
        "type": "confirmation.reply", "reply_token": question["reply_token"], "decision": decision,
        "subscription_id": of, "timestamp": at(500).to_string(),
    });
    reply.to_string().into_bytes()
}

fn subscribed(host: &mut Host<SequentialIds>) -> SubscriptionId {
    let capabilities = Capabilities {
        supports_confirmation_reply: true,
    };
    let subscribed = host.subscribe(at(0), capabilities, false);
    subscribed.expect("a subscription")
}

#[test]
fn a_host_that_is_opened_again_after_any_call_is_the_same() {
    type Step = fn(&mut Host<SequentialIds>, &SubscriptionId);
    let folder = tempfile::tempdir().expect("a folder");
    let (mut host, _) = opened(folder.path());
    let of = subscribed(&mut host);
    let steps: [Step; 12] = [
        |host, _| drop(host.start(at(1), "transfer, note, clarification, lookup")),
        |host, _| drop(host.start(at(2), "change, handoff")),
        |host, _| drop(subscribed(host)),
        |host, of| host.deliver(at(3), true, &reply(host, 0, of, "accept")),
        |host, of| host.deliver(at(4), true, &reply(host, 0, of, "accept")),
        |host, of| host.deliver(at(5), false, &reply(host, 1, of, "accept")),
        |host, _| host.deliver(at(6), true, b"\xff\x00 no text"),
        |host, _| drop(host.start(at(7), "")),
        |host, _| host.tick(at(20_000)),
        // One that brings the time in which a default falls due, and is no JSON.
        |host, _| host.deliver(at(30_010), true, b"\xff"),
        |host, of| assert!(host.unsubscribe(at(40_000), of)),
        |host, _| host.tick(at(100_000)),
    ];
    for (number, step) in steps.iter().enumerate() {
        step(&mut host, &of);
        let (again, torn) = after_a_kill(&folder);
        assert_eq!(torn, 0);
        assert_eq!(state(&again), state(&host), "after step {number}");
    }
    assert_eq!(host.under_way(), 0, "all of it was done");
}

#[test]
fn a_record_that_is_torn_off_anywhere_is_left_out_and_a_damaged_one_is_no_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut host, _) = opened(folder.path());
    let of = subscribed(&mut host);
    host.start(at(0), "transfer 1").expect("a session");
    let before = state(&host);
    let journal = folder.path().join("journal");
    let whole = fs::read(&journal).expect("a journal").len();
    host.deliver(at(1), true, &reply(&host, 0, &of, "accept"));
    let bytes = fs::read(&journal).expect("a journal");
    let after = state(&host);
    drop(host);
    for cut in [whole, whole + 1, whole + 17, bytes.len() - 1, bytes.len()] {
        fs::write(&journal, &bytes[..cut]).expect("a journal");
        let (again, torn) = after_a_kill(&folder);
        let is_whole = cut == bytes.len();
        assert_eq!(torn, if is_whole { 0 } else { cut - whole });
        assert_eq!(&state(&again), if is_whole { &after } else { &before });
    }
    // The prompt is another one, of which the same would come: the checksum alone tells.
    let mut bytes = bytes;
    let prompt = b"transfer 1";
    let place = bytes.windows(prompt.len()).position(|it| it == prompt);
    bytes[place.expect("a prompt") + prompt.len() - 1] = b'2';
    fs::write(&journal, &bytes).expect("a journal");
    let refused = Host::open(folder.path(), settings(), SequentialIds::new(), 30);
    assert!(matches!(refused, Err(OpenError::Damaged { line: 4, .. })));
    assert_eq!(fs::read(&journal).expect("a journal"), bytes);
}

#[test]
fn what_is_no_store_of_this_version_or_has_another_process_is_refused() {
    let refused = |path: &Path, settings: Settings| {
        let opened = Host::open(path, settings, SequentialIds::new(), 30);
        opened.expect_err("it is refused").to_string()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let (host, _) = opened(&path);
    let said = refused(&path, settings());
    assert!(said.ends_with("another process has this store open"));
    drop(host);
    let others = Settings {
        modified_action: true,
        ..settings()
    };
    assert!(refused(&path, others).ends_with("made with other settings"));
    assert!(refused(folder.path(), settings()).ends_with("not a store of a live producer"));
    let journal = path.join("journal");
    let whole = fs::read_to_string(&journal).expect("a journal");
    for (text, because) in [
        (
            whole.replacen("producer 1", "producer 2", 1),
            "version 2; this program reads version 1",
        ),
        ("{}\n".to_owned(), "not a store of a live producer"),
        (String::new(), "not a store of a live producer"),
        (
            "countersign live producer 1\n".to_owned(),
            "line 2 of its journal is not as it was written",
        ),
    ] {
        fs::write(&journal, &text).expect("a journal");
        let said = refused(&path, settings());
        assert!(said.ends_with(because), "{said}");
    }
    // A record that this version would have had another outcome of.
    let record = Record {
        at: at(0),
        call: Call::Start("transfer".into()),
        drawn: vec![1],
        told: 0,
    };
    fs::write(&journal, whole).expect("a journal");
    let (mut host, _) = opened(&path);
    let journal = host.journal.as_mut().expect("it is kept");
    journal.append(&record).expect("it is written");
    drop(host);
    let said = refused(&path, settings());
    assert!(said.contains("line 3 of its journal has another outcome"));
}

#[test]
fn what_cannot_be_written_down_is_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut host, _) = opened(folder.path());
    let of = subscribed(&mut host);
    let mut following = host.follow(&of, None).expect("it is open");
    let file = fs::File::open(folder.path().join("journal"));
    host.journal.as_mut().expect("it is kept").file = file.expect("a file that is read alone");
    for prompt in ["transfer", "look"] {
        // Whoever has asked is told that it was not kept.
        let _begun = host.start(at(0), prompt);
        assert!(host.failure().is_some());
        assert!(following.coming.try_recv().is_err(), "{prompt}");
        assert_eq!(host.follow(&of, None).expect("it is open").missed, []);
    }
}
