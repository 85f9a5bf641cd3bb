//! A host on a real store is killed again and again, at random moments and under load. No decision that anyone was told
//! of is lost, nothing runs twice that must not, and in the end everybody has been told everything (PA-3, PA-8, PA-10).
//!
//! ```text
//! COUNTERSIGN_KILLS=1000 cargo test -p countersign-store --test crash
//! ```
//!
//! The one thing to know: this is a test without a harness, because its own program is what it kills. Started with
//! [`HOST`] in its environment it is the example host, else it starts such hosts, and holds what they write to their
//! stdout and what their tool writes down against what their store holds after each kill. `COUNTERSIGN_SEED` repeats a
//! load, though not the moments at which the operating system lets things happen.

#[path = "crash/account.rs"]
mod account;
#[path = "../examples/pending_action_host.rs"]
mod host;
#[path = "crash/life.rs"]
mod life;
#[path = "crash/load.rs"]
mod load;
#[path = "crash/round.rs"]
mod round;

use std::env;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use countersign_reference::pending_action::Delivery;
use load::Random;
use round::{Figures, Round};

/// Set where this program is to be a host.
pub const HOST: &str = "COUNTERSIGN_CRASH_HOST";

/// The name to filter by, as if this were one test of a harness.
const NAME: &str = "no_decision_is_lost_and_nothing_runs_twice";

/// How many kills the everyday run makes: a few seconds.
const KILLS: u64 = 30;

/// How many hosts in a row go on with the same store. Then it is held against the account as a whole.
const KILLS_A_ROUND: u64 = 25;

fn main() -> ExitCode {
    if env::var_os(HOST).is_some() {
        return host::main();
    }
    if is_asked_for() {
        no_decision_is_lost_and_nothing_runs_twice();
    }
    ExitCode::SUCCESS
}

/// Whether the arguments after `cargo test … --` select this test, as they would in a harness.
fn is_asked_for() -> bool {
    let (mut filters, mut is_skipped) = (Vec::new(), false);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" | "--ignored" => is_skipped = true,
            "--skip" => is_skipped |= words.next().is_some_and(|it| NAME.contains(&it)),
            option if option.starts_with('-') => {}
            _ => filters.push(word),
        }
    }
    let is_named = |filter: &String| NAME.contains(filter.as_str());
    !is_skipped && (filters.is_empty() || filters.iter().any(is_named))
}

/// PA-1, PA-3, PA-4, PA-5, PA-7, PA-8, PA-10: see [`account`] for what is compared.
fn no_decision_is_lost_and_nothing_runs_twice() {
    let number = |name: &str| env::var(name).ok().map(|value| value.parse::<u64>());
    let kills = number("COUNTERSIGN_KILLS").map_or(KILLS, |kills| kills.expect("a number"));
    let seed = number("COUNTERSIGN_SEED").map_or_else(now, |seed| seed.expect("a number"));
    println!("crash test: {kills} kills, COUNTERSIGN_SEED={seed}");
    let start = Instant::now();
    let mut random = Random::new(seed);
    let mut figures = Figures::default();
    // Both ways to deliver, in turn.
    let deliveries = [Delivery::AtMostOnce, Delivery::AtLeastOnce];
    for delivery in deliveries.into_iter().cycle() {
        let left = kills - figures.kills;
        if left == 0 {
            break;
        }
        figures += Round::new(delivery, &mut random).play(left.min(KILLS_A_ROUND));
    }
    println!("{figures}in {:.1} s", start.elapsed().as_secs_f64());
    assert!(figures.decisions > 0, "each round begins with a decision");
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
