//! 1,000 sessions that wait at once: half of them are answered, all at the same time, and half are left to their deadlines.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::{Running, ask, listens_at, percentiles};

const SESSIONS: usize = 1_000;
/// How long a question waits, in seconds: all have to be asked in that time.
const TIMEOUT: i64 = 15;
/// How many subscribers read all that comes.
const READERS: usize = 4;
/// How many requests start sessions at once.
const STARTERS: usize = 32;
/// Every so many-th reply is sent twice.
const TWICE: usize = 10;
/// How late a default may be applied, in milliseconds.
const LATE: i64 = 100;

/// What was seen of one session.
#[derive(Default)]
struct Session {
    token: String,
    deadline: i64,
    /// When its reply was sent, where there was one.
    replied: Option<i64>,
    invoked: usize,
    completed: bool,
    /// When what followed on the question was put out, and when it was seen.
    resolved: Option<(i64, i64)>,
}

/// What all rounds have come to.
#[derive(Default)]
struct Seen {
    sessions: usize,
    replies: usize,
    honoured: usize,
    lost: usize,
    again: usize,
    ran_again: usize,
    unfinished: usize,
    refused: usize,
    applied: Vec<i64>,
    told: Vec<i64>,
    answered: Vec<i64>,
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.expect("it is later").as_millis()).expect("it is not that late")
}

/// Rounds for so many seconds, one at least: how much was wrong.
pub fn run(seconds: u64) -> usize {
    let timeout = TIMEOUT.to_string();
    let arguments = [
        "serve",
        "aaep",
        "--http",
        "127.0.0.1:0",
        "--timeout-seconds",
        &timeout,
    ];
    let mut server = Running::start(&arguments);
    let address = listens_at(server.0.stdout.take().expect("a pipe"));
    let mut stderr = server.0.stderr.take().expect("a pipe");
    thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    let pid = server.0.id();
    let start = memory(pid);
    let (sender, events) = channel();
    let counts: Vec<Receiver<()>> = (0..READERS)
        .map(|number| follow(&address, (number == 0).then(|| sender.clone())))
        .collect();
    let subscription = subscribe(&address);
    let (mut seen, mut first, mut rounds) = (Seen::default(), None, 0);
    let begun = Instant::now();
    while rounds == 0 || begun.elapsed() < Duration::from_secs(seconds) {
        round(&address, &subscription, &events, &mut seen);
        rounds += 1;
        first = first.or_else(|| memory(pid));
    }
    let end = memory(pid);
    // What is on its way to the other readers.
    thread::sleep(Duration::from_secs(1));
    let counts: Vec<usize> = counts.iter().map(|it| it.try_iter().count()).collect();
    let is_even = counts.iter().all(|count| *count == counts[0]);
    println!(
        "{rounds} rounds of {SESSIONS} sessions that waited at once, in {:.0?}",
        begun.elapsed()
    );
    println!(
        "replies: {}, honoured {}, lost {}; sent twice {}, run twice {}; requests refused {}; sessions unfinished {}",
        seen.replies,
        seen.honoured,
        seen.lost,
        seen.again,
        seen.ran_again,
        seen.refused,
        seen.unfinished
    );
    let faults =
        seen.lost + seen.ran_again + seen.unfinished + seen.refused + usize::from(!is_even);
    println!("events told to the {READERS} readers: {counts:?}");
    println!("milliseconds                                median     p90     p99 greatest");
    let late = percentiles(seen.applied.clone())[3];
    for (what, values) in [
        ("default behind its deadline, as applied", seen.applied),
        ("default behind its deadline, as seen", seen.told),
        ("accepted call behind its reply, as seen", seen.answered),
    ] {
        let [median, ninety, most, greatest] = percentiles(values);
        println!("{what:<42} {median:>7} {ninety:>7} {most:>7} {greatest:>8}");
    }
    let kilobytes = [start, first, end].map(|it| it.map_or("?".to_owned(), |it| it.to_string()));
    let [start, first, end] = kilobytes;
    println!(
        "memory of the server, in kB: {start} at the start, {first} behind the first round, {end} at the end"
    );
    faults + usize::from(late > LATE)
}

/// A reader of all events. The first one tells what it reads, with the time of receipt.
fn follow(address: &str, to: Option<Sender<(i64, Value)>>) -> Receiver<()> {
    let (_, _, mut stream) = ask(address, "GET /events", "").expect("a stream");
    let (sender, counts) = channel();
    thread::spawn(move || {
        let mut line = String::new();
        while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
            if let Some(data) = line.strip_prefix("data: ") {
                let _counted = sender.send(());
                if let Some(to) = &to {
                    let event = serde_json::from_str(data).expect("JSON");
                    let _ended = to.send((now(), event));
                }
            }
            line.clear();
        }
    });
    counts
}

fn subscribe(address: &str) -> String {
    let request = r#"{"subscriber_id":"load","capabilities":{"supports_confirmation_reply":true}}"#;
    let subscribed = ask(address, "POST /aaep/v1/subscriptions", request);
    let (_, head, _) = subscribed.expect("a subscription");
    let location = head
        .lines()
        .find(|it| it.to_lowercase().starts_with("location:"));
    let id = location.and_then(|it| it.split_once('='));
    id.expect("its id").1.to_owned()
}

fn round(address: &str, subscription: &str, events: &Receiver<(i64, Value)>, seen: &mut Seen) {
    let start = || ask(address, "POST /sessions", r#"{"user_message":"transfer"}"#);
    let refused: usize = thread::scope(|scope| {
        let starters = (0..STARTERS).map(|number| {
            let mine = SESSIONS / STARTERS + usize::from(number < SESSIONS % STARTERS);
            let all = move || {
                (0..mine)
                    .filter(|_| !start().is_ok_and(|it| it.0 == 202))
                    .count()
            };
            scope.spawn(all)
        });
        let starters: Vec<_> = starters.collect();
        starters
            .into_iter()
            .map(|it| it.join().expect("it ends"))
            .sum()
    });
    seen.refused += refused;
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    let until = Instant::now() + Duration::from_mins(1);
    while waiting(&sessions) < SESSIONS - refused && Instant::now() < until {
        take(&mut sessions, events);
    }
    let at_once = sessions.values().filter(|it| it.resolved.is_none()).count();
    if at_once < SESSIONS {
        println!("only {at_once} sessions waited at once");
        seen.refused += SESSIONS - at_once;
    }
    let replied: Vec<&mut Session> = sessions.values_mut().step_by(2).collect();
    thread::scope(|scope| {
        for (number, session) in replied.into_iter().enumerate() {
            let reply = json!({
                "type": "confirmation.reply", "reply_token": session.token, "decision": "accept",
                "subscription_id": subscription, "timestamp": Timestamp::from_millis(now()).to_string(),
            });
            let times = 1 + usize::from(number % TWICE == 0);
            seen.again += times - 1;
            session.replied = Some(now());
            let reply = reply.to_string();
            let send = move || {
                for _ in 0..times {
                    let sent = ask(address, "POST /aaep/v1/replies", &reply);
                    assert_eq!(sent.expect("it is answered").0, 204);
                }
            };
            let small = thread::Builder::new().stack_size(256 * 1_024);
            small.spawn_scoped(scope, send).expect("a thread");
        }
    });
    let is_over = |sessions: &BTreeMap<String, Session>| sessions.values().all(|it| it.completed);
    let until = Instant::now() + Duration::from_secs(u64::try_from(TIMEOUT).expect("seconds") + 30);
    while !is_over(&sessions) && Instant::now() < until {
        take(&mut sessions, events);
    }
    count(&sessions, seen);
}

fn waiting(sessions: &BTreeMap<String, Session>) -> usize {
    sessions.values().filter(|it| !it.token.is_empty()).count()
}

fn count(sessions: &BTreeMap<String, Session>, seen: &mut Seen) {
    seen.sessions += sessions.len();
    for session in sessions.values() {
        seen.unfinished += usize::from(!session.completed);
        let Some((applied, told)) = session.resolved else {
            continue;
        };
        if let Some(replied) = session.replied {
            seen.replies += 1;
            seen.honoured += usize::from(session.invoked > 0);
            seen.lost += usize::from(session.invoked == 0);
            seen.ran_again += session.invoked.saturating_sub(1);
            seen.answered.push(told - replied);
        } else {
            seen.ran_again += session.invoked;
            seen.applied.push(applied - session.deadline);
            seen.told.push(told - session.deadline);
        }
    }
}

/// Takes the next event, if one comes.
fn take(sessions: &mut BTreeMap<String, Session>, events: &Receiver<(i64, Value)>) {
    let Ok((told, event)) = events.recv_timeout(Duration::from_millis(100)) else {
        return;
    };
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let session = sessions.entry(text("session_id").to_owned()).or_default();
    let sent = Timestamp::parse(text("timestamp")).map_or(0, Timestamp::millis);
    let kind = text("type").strip_prefix("aaep:agent.").unwrap_or_default();
    if kind == "awaiting.confirmation" {
        text("reply_token").clone_into(&mut session.token);
        session.deadline = sent + TIMEOUT * 1_000;
    } else if !session.token.is_empty()
        && session.resolved.is_none()
        && text("to_state") != "awaiting_input"
    {
        session.resolved = Some((sent, told));
    }
    session.invoked += usize::from(kind == "tool.invoked");
    session.completed |= kind == "session.completed";
}

/// The resident memory of a process in kilobytes, where the system tells it.
fn memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
