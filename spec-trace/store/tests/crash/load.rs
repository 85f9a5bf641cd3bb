//! What people, loops and clocks make of a host, at random.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::account::Account;

/// How many sessions are open at a time.
const SESSIONS: u64 = 3;

/// Random numbers that a seed repeats: Vigna's `SplitMix64`.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// 0 up to and without that.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let length = u64::try_from(list.len()).expect("a short list");
        let index = self.next().checked_rem(length)?;
        list.get(usize::try_from(index).expect("within the list"))
    }
}

/// What was said to the hosts of one store.
#[derive(Default)]
pub struct Load {
    /// The arguments of each proposal, by its number.
    pub proposed: Vec<String>,
    /// How many sessions were ended; those that are open have the next numbers.
    ended: u64,
}

impl Load {
    /// The sessions that nobody has asked to end.
    pub fn open_sessions(&self) -> Vec<String> {
        (self.ended..self.ended + SESSIONS).map(session).collect()
    }

    /// Every session, also those whose end a host may not have lived to hear of.
    pub fn sessions(&self) -> Vec<String> {
        (0..self.ended + SESSIONS).map(session).collect()
    }

    /// A few operations at once, so that some of them share a sync, and some of them race.
    pub fn burst(&mut self, random: &mut Random, account: &Account) -> Vec<Value> {
        let mut operations = Vec::new();
        for _ in 0..=random.below(8) {
            match random.below(20) {
                0..6 => operations.push(self.propose(random)),
                6..12 => operations.extend(decide(random, &account.pending())),
                12 => operations.extend(decide(random, &account.settled())),
                13 => operations.extend(cancel(random, &account.pending())),
                14 => operations.push(json!({"op": "say", "by": "ana", "text": "Sí, borrar"})),
                15 if random.one_in(8) => operations.push(self.end_session()),
                _ => operations.extend(account.clear_one_doubt(random.below(1_000))),
            }
        }
        operations
    }

    fn propose(&mut self, random: &mut Random) -> Value {
        let number = self.proposed.len();
        // White space and spelling as no writer of JSON would make them: they have to survive.
        let arguments = format!("{{ \"number\" :{number}, \"x\":1.50e+1,\t\"y\":\"\\u0041\" }}");
        self.proposed.push(arguments.clone());
        let sessions = self.open_sessions();
        let mut operation = json!({
            "op": "propose", "agent_id": "load", "session_id": random.pick(&sessions),
            "run_id": number.to_string(), "tool": "write down", "arguments": arguments,
            "effect": "write", "summary": format!("Write down {number}?"), "label": "Yes",
            "idempotent": random.one_in(2),
        });
        if random.one_in(3) {
            operation["deciders"] = json!(["ana", "ben"]);
        }
        if random.one_in(4) {
            let milliseconds = i64::try_from(20 + random.below(60)).expect("a short time");
            let expires_at = Timestamp::from_millis(now() + milliseconds);
            operation["expires_at"] = json!(expires_at);
        }
        operation
    }

    fn end_session(&mut self) -> Value {
        let session_id = session(self.ended);
        self.ended += 1;
        json!({"op": "end_session", "session_id": session_id})
    }
}

fn session(number: u64) -> String {
    format!("session {number}")
}

/// Allow or deny by somebody, who may not be entitled; sometimes twice, sometimes both at once.
fn decide(random: &mut Random, among: &[String]) -> Vec<Value> {
    let Some(action_id) = random.pick(among) else {
        return Vec::new();
    };
    let times = if random.one_in(4) { 2 } else { 1 };
    let decisions = (0..times).map(|_| {
        let decision = if random.one_in(4) { "deny" } else { "allow" };
        let by = random.pick(&["ana", "ben", "ana", "eve"]);
        json!({"op": "decide", "action_id": action_id, "decision": decision, "by": by})
    });
    decisions.collect()
}

fn cancel(random: &mut Random, among: &[String]) -> Option<Value> {
    let action_id = random.pick(among)?;
    Some(json!({"op": "cancel", "action_id": action_id}))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.map_or(0, |since| since.as_millis());
    i64::try_from(milliseconds).expect("within this age")
}
