//! The account of everything that the hosts have said and their tool has done, kept by somebody who outlives them.
//!
//! The one thing to know: it is written from the outside alone. [`Account::agrees_with`] holds it against what a store
//! holds after a kill: whatever anyone was told is there. [`Account::is_complete`] is the other way round, once the last
//! host has ended in peace: whatever is there was told.

use std::collections::{BTreeMap, BTreeSet};

use countersign_reference::pending_action::{
    Action, ActionId, Delivery, Ledger, Run, SessionId, Status, ToolStatus,
};
use serde_json::{Value, json};

/// The messages that end an action. Each has exactly one.
const RESULTS: [&str; 4] = [
    "tool_result",
    "denied_result",
    "expired_result",
    "cancelled_result",
];

#[derive(Default)]
pub struct Account {
    /// By action and type.
    events: BTreeMap<(String, String), Value>,
    /// By id.
    messages: BTreeMap<String, Value>,
    /// What the host that is alive does not know the outcome of.
    in_doubt: BTreeSet<String>,
    /// The arguments that each action was begun with, as often as it was.
    begun: BTreeMap<String, Vec<String>>,
    pub doubts: u64,
    pub told_again: u64,
    pub ignored: u64,
}

impl Account {
    /// Another host: it says itself what is in doubt.
    pub fn new_life(&mut self) {
        self.in_doubt.clear();
    }

    /// Enters what a host has said. The same id says the same, however often (PA-10).
    pub fn hear(&mut self, output: &Value) {
        let (kind, body) = output
            .as_object()
            .and_then(|fields| fields.iter().next())
            .expect("an output");
        match kind.as_str() {
            "event" => {
                let key = (text(body, "action_id"), text(body, "type"));
                let before = self.events.insert(key, body.clone());
                self.told_again += same(before.as_ref(), body);
                // What is finished is in doubt no more.
                if body["type"] == "executed" || body["type"] == "not_run" {
                    self.in_doubt.remove(&text(body, "action_id"));
                }
            }
            "append" => {
                let before = self.messages.insert(text(body, "message_id"), body.clone());
                self.told_again += same(before.as_ref(), body);
            }
            "in_doubt" => {
                self.doubts += 1;
                self.in_doubt.insert(text(body, "action_id"));
            }
            "audit" | "refused" => self.ignored += 1,
            other => panic!("a host says {other}"),
        }
    }

    /// Reads anew what the tool has written down. A kill may have torn a line, and the next one stands right behind what
    /// is left of it. A call whose line is torn had not begun.
    pub fn read_calls(&mut self, calls: &str) {
        self.begun.clear();
        for line in calls.split_inclusive('\n') {
            let words = ["begin pa_", "end pa_"];
            let whole = words.iter().filter_map(|word| line.rfind(word)).max();
            let Some(line) = whole.and_then(|start| line[start..].strip_suffix('\n')) else {
                continue;
            };
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next().expect("three words").to_owned();
            let (when, action_id, arguments) = (word(), word(), word());
            if when == "begin" {
                self.begun.entry(action_id).or_default().push(arguments);
            }
        }
    }

    /// The actions that nobody was told the end of.
    pub fn pending(&self) -> Vec<String> {
        self.created(|action_id| !self.is_settled(action_id))
    }

    /// The actions that somebody was told the end of.
    pub fn settled(&self) -> Vec<String> {
        self.created(|action_id| self.is_settled(action_id))
    }

    fn created(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let created = self.events.keys().filter(|(_, kind)| kind == "created");
        let wanted = created.filter(|(action_id, _)| is_wanted(action_id));
        wanted.map(|(action_id, _)| action_id.clone()).collect()
    }

    fn is_settled(&self, action_id: &str) -> bool {
        ["decided", "expired", "cancelled"]
            .iter()
            .any(|kind| self.event(action_id, kind).is_some())
    }

    /// What the operator says of a call that is in doubt, after looking at what the tool has written down.
    pub fn clear_one_doubt(&self, which: u64) -> Option<Value> {
        let which = which.checked_rem(self.in_doubt.len() as u64)?;
        let mut doubts = self.in_doubt.iter();
        let action_id = doubts.nth(usize::try_from(which).ok()?)?;
        Some(self.outcome(action_id))
    }

    pub fn clear_all_doubts(&self) -> Vec<Value> {
        let doubts = self.in_doubt.iter();
        doubts.map(|action_id| self.outcome(action_id)).collect()
    }

    fn outcome(&self, action_id: &str) -> Value {
        let has_begun = self.begun.contains_key(action_id);
        let status = if has_begun { "success" } else { "not_run" };
        json!({"op": "finish_tool", "action_id": action_id, "status": status, "result": "found"})
    }

    /// How many decisions anyone was told of.
    pub fn decisions(&self) -> u64 {
        let decided = self.events.keys().filter(|(_, kind)| kind == "decided");
        decided.count() as u64
    }

    pub fn calls(&self) -> u64 {
        self.begun.values().map(Vec::len).sum::<usize>() as u64
    }

    pub fn calls_again(&self) -> u64 {
        self.calls() - self.begun.len() as u64
    }

    fn event(&self, action_id: &str, kind: &str) -> Option<&Value> {
        self.events.get(&(action_id.to_owned(), kind.to_owned()))
    }

    /// PA-1, PA-2, PA-8: whatever anyone was told is in the store, and nothing has run that it does not allow.
    pub fn agrees_with(&self, ledger: &Ledger, proposed: &[String], delivery: Delivery) {
        for ((action_id, kind), event) in &self.events {
            let action = find(ledger, action_id);
            let (is_there, expected) = match (kind.as_str(), &action.status) {
                ("created", _) => {
                    let run_id: usize = text(event, "run_id").parse().expect("its number");
                    // PA-3: to the byte.
                    let arguments = action.proposal.arguments.as_str();
                    assert_eq!(arguments, proposed[run_id]);
                    (event["nonce"] == action.nonce.to_string(), Value::Null)
                }
                ("decided", Status::Accepted { by, at, .. }) => {
                    (event["decision"] == "allow", json!([by, at]))
                }
                ("decided", Status::Rejected { by, at }) => {
                    (event["decision"] == "deny", json!([by, at]))
                }
                ("denied", Status::Rejected { by, at }) => (true, json!([by, at])),
                ("expired", Status::Expired { .. }) => (true, Value::Null),
                ("cancelled", Status::Cancelled { reason, .. }) => {
                    (event["reason"] == json!(reason), Value::Null)
                }
                ("executed", Status::Accepted { run, .. }) => match run {
                    Run::Finished { status, .. } => (event["status"] == json!(status), Value::Null),
                    Run::Unfinished => (false, Value::Null),
                },
                ("not_run", Status::Accepted { run, .. }) => {
                    let is_not_run = matches!(run, Run::Finished { status, .. } if *status == ToolStatus::NotRun);
                    (is_not_run, Value::Null)
                }
                (_, status) => panic!("{action_id} was told to be {kind} and is {status:?}"),
            };
            assert!(is_there, "{event} and {:?}", action.status);
            if expected != Value::Null {
                assert_eq!(json!([event["by"], event["at"]]), expected);
            }
        }
        self.ran_as_allowed(ledger, delivery);
    }

    /// PA-3, PA-5, PA-7, PA-8: only what was allowed has run, with what was proposed, and not twice; unless twice is
    /// once, and the host was told to make sure.
    fn ran_as_allowed(&self, ledger: &Ledger, delivery: Delivery) {
        for (action_id, runs) in &self.begun {
            let action = find(ledger, action_id);
            let is_allowed = matches!(action.status, Status::Accepted { .. });
            assert!(is_allowed, "{action_id} ran and is {:?}", action.status);
            for arguments in runs {
                assert_eq!(arguments, action.proposal.arguments.as_str());
            }
            let may_run_again = match delivery {
                Delivery::AtMostOnce => false,
                Delivery::AtLeastOnce => action.proposal.idempotent,
            };
            assert!(
                runs.len() == 1 || may_run_again,
                "{action_id} ran {}",
                runs.len()
            );
        }
    }

    /// PA-10: whatever is in the store was told, and every action has one end. At rest, nothing is under way.
    pub fn is_complete(&self, ledger: &Ledger, still_open: &[String], delivery: Delivery) {
        assert!(self.in_doubt.is_empty(), "{:?}", self.in_doubt);
        let mut results: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for message in self.messages.values() {
            let kind = message["type"].as_str().expect("a type");
            if RESULTS.contains(&kind) {
                results
                    .entry(text(message, "tool_call_id"))
                    .or_default()
                    .push(kind);
            }
        }
        for action in ledger.actions() {
            let action_id = action.action_id.to_string();
            let told = |kind: &str| self.event(&action_id, kind).is_some();
            assert!(told("created"), "{action_id} was never told of");
            let (kinds, result) = endings(&action.status);
            for kind in kinds {
                assert!(told(kind), "{action_id} is not told to be {kind}");
            }
            assert_eq!(
                results.remove(&action_id),
                Some(vec![result]),
                "{action_id}"
            );
            self.ran_or_not(action, still_open, delivery);
        }
        assert_eq!(results, BTreeMap::new());
    }

    /// PA-8: what is said to have run has run. What was to run at least once has, as long as its session went on.
    fn ran_or_not(&self, action: &Action, still_open: &[String], delivery: Delivery) {
        let has_run = self.begun.contains_key(&action.action_id.to_string());
        let Status::Accepted {
            run: Run::Finished { status, .. },
            ..
        } = action.status
        else {
            assert!(!has_run, "{action:?}");
            return;
        };
        assert_eq!(has_run, status != ToolStatus::NotRun, "{action:?}");
        let is_open =
            |session_id: &SessionId| still_open.iter().any(|open| **open == *session_id.as_str());
        let has_to_run = match delivery {
            Delivery::AtMostOnce => false,
            Delivery::AtLeastOnce => {
                action.proposal.idempotent && is_open(&action.proposal.session_id)
            }
        };
        assert!(has_run || !has_to_run, "{action:?}");
    }
}

/// The events that an action in its last status must have, and its one result.
fn endings(status: &Status) -> (&'static [&'static str], &'static str) {
    match status {
        Status::Accepted {
            run:
                Run::Finished {
                    status: ToolStatus::NotRun,
                    ..
                },
            ..
        } => (&["decided", "not_run"], "tool_result"),
        Status::Accepted {
            run: Run::Finished { .. },
            ..
        } => (&["decided", "executed"], "tool_result"),
        Status::Rejected { .. } => (&["decided", "denied"], "denied_result"),
        Status::Expired { .. } => (&["expired"], "expired_result"),
        Status::Cancelled { .. } => (&["cancelled"], "cancelled_result"),
        Status::Pending
        | Status::Accepted {
            run: Run::Unfinished,
            ..
        } => panic!("not at rest: {status:?}"),
    }
}

/// 1 where it was said before; then it must have been the same.
fn same(before: Option<&Value>, now: &Value) -> u64 {
    before.map_or(0, |before| {
        assert_eq!(before, now, "one id says two things");
        1
    })
}

#[track_caller]
fn find<'a>(ledger: &'a Ledger, action_id: &str) -> &'a Action {
    let parsed = ActionId::parse(action_id).expect("an id");
    let found = ledger.action(parsed);
    found.unwrap_or_else(|| panic!("{action_id} was told of and is lost"))
}

#[track_caller]
fn text(body: &Value, name: &str) -> String {
    let text = body[name].as_str();
    text.unwrap_or_else(|| panic!("no {name} in {body}"))
        .to_owned()
}
