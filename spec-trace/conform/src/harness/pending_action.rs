//! What is fuzzed of the pending actions: runs, journals and snapshots, arguments.

use std::collections::{BTreeMap, BTreeSet};

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    ActionId, Arguments, Decide, Decision, Effect, Entry, Input, Ledger, Output, Proposal, Propose,
    Record, SessionId, Settings, Snapshot, Text,
};
use countersign_reference::time::Timestamp;
use serde_json::Value;

use super::json::{means_the_same, turned};

/// The most records of a journal that are looked at: the work is more than their number squared.
const MOST_RECORDS: usize = 24;

/// The bytes as a journal, one record a line, and as what else a host keeps: a snapshot, or a whole ledger.
///
/// A journal is taken exactly if it tells a story that could have happened. Then it is the same ledger with a snapshot of any
/// place as without, and again after it was written down; and with a record missing, repeated or moved it is none.
///
/// # Panics
///
/// Where that does not hold.
pub fn pending_action_journal(bytes: &[u8]) {
    kept::<Ledger>(bytes, |mut ledger| {
        let _whatever_was_due = ledger.next_deadline();
        let _ = ledger.handle(Timestamp::MIN, &mut SequentialIds::new(), Input::Restart);
    });
    kept::<Snapshot>(bytes, |snapshot| {
        // PA-1: it stands on records that nobody has.
        let stands = snapshot.recorded() == 0;
        let rebuilt = Ledger::rebuild(Settings::default(), Some(snapshot), [], 0);
        assert_eq!(rebuilt.is_ok(), stands, "a snapshot of no journal");
    });
    let lines = bytes.split(|&byte| byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty()).take(MOST_RECORDS);
    let records: Result<Vec<Record>, _> = lines.map(serde_json::from_slice).collect();
    if let Ok(records) = records {
        journal(&records);
    }
}

/// What can be read from the bytes is read again as the same once it was written down.
fn kept<K>(bytes: &[u8], then: impl FnOnce(K))
where
    K: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    if let Ok(kept) = serde_json::from_slice::<K>(bytes) {
        let written = serde_json::to_vec(&kept).expect("it can be written down");
        let again: K = serde_json::from_slice(&written).expect("it can be read again");
        assert_eq!(again, kept);
        then(kept);
    }
}

/// PA-1, PA-8: a journal that could have been written gives its ledger in every way, and no other gives any.
fn journal(records: &[Record]) {
    let rebuilt = rebuild(records);
    assert_eq!(rebuilt.is_some(), could_happen(records), "{records:?}");
    let Some(whole) = rebuilt else {
        return;
    };
    for count in 0..=records.len() {
        let part = rebuild(&records[..count]).expect("a journal ends anywhere");
        let snapshot = Some(part.snapshot());
        let all = records.iter().cloned();
        let caught_up = Ledger::rebuild(Settings::default(), snapshot.clone(), all, 0);
        // PA-8: the old snapshot undoes nothing.
        assert_eq!(caught_up.as_ref(), Ok(&whole), "from record {count} on");
        if let Some(before) = count.checked_sub(1) {
            let short = records[..before].iter().cloned();
            let behind = Ledger::rebuild(Settings::default(), snapshot, short, 0);
            assert!(behind.is_err(), "a snapshot of record {count}");
        }
    }
    for place in 0..records.len() {
        let mut missing = records.to_vec();
        missing.remove(place);
        assert_eq!(rebuild(&missing).is_some(), place + 1 == records.len());
        let mut twice = records.to_vec();
        twice.insert(place, records[place].clone());
        assert_eq!(rebuild(&twice), None, "record {place} twice");
    }
    let beyond = records.len() as u64 + 1;
    let all = records.iter().cloned();
    assert!(Ledger::rebuild(Settings::default(), None, all, beyond).is_err());
    goes_on(whole, records);
}

fn rebuild(records: &[Record]) -> Option<Ledger> {
    let records = records.iter().cloned();
    Ledger::rebuild(Settings::default(), None, records, 0).ok()
}

/// What a ledger records further is taken by whoever reads the whole journal.
fn goes_on(mut ledger: Ledger, records: &[Record]) {
    let mut records = records.to_vec();
    let mut ids = SequentialIds::new();
    for now in [Timestamp::MIN, Timestamp::MAX] {
        let outputs = ledger.handle(now, &mut ids, Input::Restart).outputs;
        records.extend(outputs.iter().filter_map(Output::record).cloned());
        assert_eq!(ledger.recorded(), records.len() as u64);
        let read = rebuild(&records).expect("its own journal");
        assert_eq!(read.actions(), ledger.actions());
    }
}

/// What a reader of the records knows of an action.
enum Known {
    Pending,
    Released,
    Over,
}

/// Whether a ledger can have written these records, by another reader than its own.
fn could_happen(records: &[Record]) -> bool {
    let mut reader = Reader::default();
    let mut latest = Timestamp::MIN;
    (1..).zip(records).all(|(number, record)| {
        let follows = record.number == number && record.at >= latest;
        latest = record.at;
        follows && reader.takes(record)
    })
}

/// What a reader of the records knows.
#[derive(Default)]
struct Reader<'a> {
    /// In the order of creation.
    actions: Vec<(ActionId, &'a Proposal)>,
    known: BTreeMap<ActionId, Known>,
    ended: BTreeSet<&'a SessionId>,
}

impl<'a> Reader<'a> {
    /// Whether the record can follow.
    fn takes(&mut self, record: &'a Record) -> bool {
        let at = record.at;
        match &record.entry {
            Entry::Proposed {
                action_id,
                proposal,
                pends,
                ..
            } => {
                let is_open = proposal.expires_at.is_none_or(|time| time > at);
                let known = if *pends {
                    Known::Pending
                } else {
                    Known::Released
                };
                self.actions.push((*action_id, proposal));
                !self.ended.contains(&proposal.session_id)
                    && is_open
                    && self.known.insert(*action_id, known).is_none()
            }
            Entry::Decided {
                action_id,
                decision,
                by,
            } => {
                let next = match decision {
                    Decision::Allow => Known::Released,
                    Decision::Deny => Known::Over,
                };
                let deciders = |proposal: &Proposal| proposal.deciders.clone();
                let listed = self.proposal(*action_id).and_then(deciders);
                listed.is_none_or(|deciders| deciders.contain(by))
                    && self.resolves_in_time(*action_id, at, next)
            }
            Entry::Expired { action_id } => {
                let expiry = self.proposal(*action_id).and_then(|found| found.expires_at);
                expiry.is_some_and(|time| time <= at) && self.resolves(*action_id, Known::Over)
            }
            Entry::Cancelled { action_id } => self.resolves_in_time(*action_id, at, Known::Over),
            Entry::Finished { action_id, .. } => {
                let before = self.known.insert(*action_id, Known::Over);
                matches!(before, Some(Known::Released))
            }
            Entry::SessionEnded {
                session_id,
                cancelled,
            } => {
                let pending = self.actions.iter().filter(|(action_id, proposal)| {
                    let known = self.known.get(action_id);
                    proposal.session_id == *session_id && matches!(known, Some(Known::Pending))
                });
                let pending: Vec<_> = pending.map(|&(action_id, _)| action_id).collect();
                let ends = self.ended.insert(session_id) && pending == *cancelled;
                let mut cancelled = cancelled.iter();
                ends && cancelled.all(|id| self.resolves_in_time(*id, at, Known::Over))
            }
            Entry::Said { .. } => true,
        }
    }

    fn proposal(&self, action_id: ActionId) -> Option<&'a Proposal> {
        let mut actions = self.actions.iter();
        let found = actions.find(|(id, _)| *id == action_id);
        found.map(|&(_, proposal)| proposal)
    }

    /// PA-8: only what pends is resolved.
    fn resolves(&mut self, action_id: ActionId, next: Known) -> bool {
        matches!(self.known.insert(action_id, next), Some(Known::Pending))
    }

    /// PA-7: and by nothing but its expiry once that is past; at that very moment in one reading it is not yet.
    fn resolves_in_time(&mut self, action_id: ActionId, at: Timestamp, next: Known) -> bool {
        let expiry = self.proposal(action_id).and_then(|found| found.expires_at);
        expiry.is_none_or(|time| time >= at) && self.resolves(action_id, next)
    }
}

/// The bytes as arguments, or, with a zero byte between them, as two: what is taken is one JSON value, comes out byte for
/// byte, and means what another reader takes it for.
///
/// # Panics
///
/// Where that does not hold.
pub fn pending_action_arguments(bytes: &[u8]) {
    // No JSON has a zero byte.
    let read: Vec<_> = bytes
        .splitn(2, |&byte| byte == 0)
        .filter_map(arguments)
        .collect();
    if let [(one, first), (other, second)] = &read[..] {
        let means = one.means(&Text::new(other.as_str()));
        assert_eq!(means, other.means(&Text::new(one.as_str())), "either way");
        let same = means_the_same(first, second);
        assert!(same || !means, "PA-3: {one:?} {other:?}");
        // A number that no double carries means nothing but its own text.
        assert!(
            means || !same || is_wild(first) || is_wild(second),
            "PA-3: {one:?} {other:?}"
        );
    }
}

/// Arguments that are taken, with what another reader makes of them.
fn arguments(bytes: &[u8]) -> Option<(Arguments, Value)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let theirs: Option<Value> = serde_json::from_str(text).ok();
    let Ok(arguments) = Arguments::parse(Text::new(text)) else {
        assert!(!is_plain(text, theirs.as_ref()), "PA-3: {text}");
        return None;
    };
    assert_eq!(arguments.as_str(), text, "PA-3: byte for byte");
    assert!(arguments.means(&Text::new(text)), "the very same text");
    assert_eq!(comes_out(text), text, "PA-3: what runs");
    // It has no value for a number like 1e999.
    let theirs = theirs?;
    let members = theirs.as_object();
    if let Some((name, value)) = members.and_then(|members| members.iter().next()) {
        // PA-3: what says two things at once cannot be run exactly.
        let name = Value::from(name.as_str());
        let (_, rest) = text.split_once('{').expect("an object");
        let twice = format!("{{{name}:{value},{rest}");
        assert!(Arguments::parse(Text::new(twice)).is_err(), "{name} twice");
    }
    if !is_wild(&theirs) {
        let again = serde_json::to_string_pretty(&turned(&theirs)).expect("a JSON value");
        assert!(arguments.means(&Text::new(again)), "PA-3: {text} turned");
    }
    Some((arguments, theirs))
}

/// Whether the text is an object that holds no object, so that it is taken if no name comes twice, which is told by the
/// length: another reader keeps one of each name.
fn is_plain(text: &str, theirs: Option<&Value>) -> bool {
    let Some(Value::Object(members)) = theirs else {
        return false;
    };
    let is_flat = |value: &Value| !value.is_object() && !value.is_array();
    members.values().all(is_flat) && text.matches(':').count() == members.len()
}

/// Whether there is a number whose double others may take for another number.
fn is_wild(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => false,
        Value::Number(number) => number
            .as_f64()
            .is_none_or(|double| double.abs() >= LARGEST_WHOLE || double == 0.0),
        Value::Array(elements) => elements.iter().any(is_wild),
        Value::Object(members) => members.values().any(is_wild),
    }
}

/// Up to here a double carries every whole number: 2^53.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The arguments with which the tool runs if these are proposed and allowed, after the journal was written down and read.
fn comes_out(arguments: &str) -> String {
    let mut ledger = Ledger::new(Settings::default());
    let mut ids = SequentialIds::new();
    let mut happens = |ledger: &mut Ledger, input| {
        let outcome = ledger.handle(Timestamp::MIN, &mut ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    };
    let proposed = happens(&mut ledger, Input::Propose(propose(arguments)));
    let record = proposed.iter().find_map(Output::record).expect("a record");
    let written = serde_json::to_string(record).expect("it can be written down");
    let record: Record = serde_json::from_str(&written).expect("it can be read again");
    let mut ledger = rebuild(&[record]).expect("its own journal");
    let action_id = ledger.actions()[0].action_id.to_string();
    let decide = Decide {
        action_id,
        nonce: None,
        decision: Decision::Allow,
        by: "ana".to_owned(),
        arguments: None,
    };
    let outputs = happens(&mut ledger, Input::Decide(decide));
    let Some(Output::Perform(call)) = outputs.last() else {
        panic!("PA-3: nothing runs");
    };
    call.arguments.as_str().to_owned()
}

fn propose(arguments: &str) -> Propose {
    Propose {
        agent_id: "menta".to_owned(),
        session_id: "chat".to_owned(),
        run_id: "run".to_owned(),
        tool: "carpeta/delete-potreros".to_owned(),
        arguments: Text::new(arguments),
        effect: Effect::Destructive,
        summary: "¿Borro?".to_owned(),
        label: "Sí".to_owned(),
        expires_at: None,
        deciders: None,
        idempotent: false,
    }
}
