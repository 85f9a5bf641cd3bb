//! Pending actions: the reference ledger as a party of the search, and runs of it or any implementation under the checker, with any
//! number of sessions, actions and people, and at any time.
//!
//! A run is requests of the driver protocol: drawn from bytes (`draw`), or those of the suite. `driven` asks any implementation for
//! them, [`play`] the reference. The checker names in `words` what does not conform. `executor` is the reference.

mod draw;
mod driven;
pub mod executor;
mod party;
mod suite;
mod words;

use countersign_model::engine::protocol::Variant;
use countersign_model::judge::Judge as _;
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::{Call, Output};
use countersign_model::pending_action::readings::{self, Reading};
use countersign_reference::pending_action::{
    DecidersAbsent, Delivery, ExpiryAbsent, ExpiryBoundary, ReadEffect, Settings,
};

pub use driven::Driver;
pub use suite::{derived as derived_suite, translated};

use self::executor::Reference;
use crate::checked::{Checked, Read};
use crate::driven::{Asked, Driven, Run};
use crate::shrinking;
use crate::wide::{Broken, random};

/// The random run of the reference that bytes are: the first what its host has chosen, the others the steps.
pub fn drawn(bytes: &[u8]) -> Run<Driver> {
    let (settings, steps) = bytes.split_first().unwrap_or((&0, &[]));
    Run {
        settings: serde_json::to_value(settings_of(*settings)).ok(),
        ..Run::of(Driver::steps(steps))
    }
}

/// The random run of the reference that a seed gives, of about so many steps.
pub fn seeded(seed: u64, steps: usize) -> Run<Driver> {
    let bytes: Vec<u8> = random(seed).take(1 + steps * Driver::BYTES).collect();
    drawn(&bytes)
}

/// Has the reference take the steps, and gives the number of calls that were made. `each` is shown all calls with what came of them.
///
/// # Errors
///
/// [`Broken`], where the checker finds something.
pub fn play(
    run: &Run<Driver>,
    mut each: impl FnMut(&Reference, &Call, &[Output]),
) -> Result<usize, Box<Broken>> {
    let settings = run.settings.clone();
    let settings = settings.and_then(|it| serde_json::from_value(it).ok());
    let settings = settings.unwrap_or_default();
    let variant = Variant {
        reading: reading_of(settings),
        ..Variant::default()
    };
    let mut checked = Checked::<Spec>::new(variant, Account::default());
    let (mut driver, mut reference) = (Driver::of_all(), Reference::new(settings));
    let mut calls = 0;
    for (at, step) in run.steps.iter().enumerate() {
        let Some(Asked { now, call, .. }) = driver.ask(step) else {
            continue;
        };
        let outputs = reference.answer(&call);
        driver.is_answered(&outputs);
        each(&reference, &call, &outputs);
        calls += 1;
        let read = outputs.into_iter();
        let read: Vec<_> = read.map(|output| Read { output, flaw: None }).collect();
        let findings = checked.see(now, &call, &read);
        if !findings.is_empty() {
            let shown = Vec::new();
            return Err(Box::new(Broken {
                at,
                findings,
                shown,
            }));
        }
    }
    Ok(calls)
}

/// The run without any step that it does not need to break the same clause, with what it breaks and the calls of it; nothing where it
/// breaks none.
pub fn shrunk(run: &Run<Driver>) -> Option<(Run<Driver>, Box<Broken>)> {
    let broken = play(run, |_, _, _| {}).err()?;
    let clause = broken.findings.first()?.clause;
    let mut steps = run.steps[..=broken.at].to_vec();
    let with = |steps: &[_]| Run {
        steps: steps.to_vec(),
        ..run.clone()
    };
    let shows = |shorter: &[_]| {
        let again = play(&with(shorter), |_, _, _| {}).err()?;
        let same = again.findings.iter().any(|it| it.clause == clause);
        same.then_some((again.at + 1, again))
    };
    let broken = shrinking::shortest(&mut steps, broken, Driver::without, shows);
    let mut broken = shrinking::folded(&mut steps, broken, Driver::fold, shows);
    let mut run = with(&steps);
    run.shows = broken.to_string();
    let shown = &mut broken.shown;
    let _broken = play(&run, |_, call, outputs| {
        shown.push(format!("{call:?}\n    {outputs:?}"));
    });
    Some((run, broken))
}

/// The reading under which a host's choices are right.
fn reading_of(settings: Settings) -> Reading {
    Reading {
        read_effect: match settings.read_effect {
            ReadEffect::Pends => readings::ReadEffect::Pends,
            ReadEffect::Runs => readings::ReadEffect::Runs,
        },
        expiry_boundary: match settings.expiry_boundary {
            ExpiryBoundary::At => readings::ExpiryBoundary::At,
            ExpiryBoundary::After => readings::ExpiryBoundary::After,
        },
        expiry_absent: match settings.expiry_absent {
            ExpiryAbsent::Never => readings::ExpiryAbsent::Never,
            ExpiryAbsent::After { .. } => readings::ExpiryAbsent::After,
        },
        deciders_absent: match settings.deciders_absent {
            DecidersAbsent::Anyone => readings::DecidersAbsent::Anyone,
            DecidersAbsent::Nobody => readings::DecidersAbsent::Nobody,
        },
        ..Reading::default()
    }
}

/// The default for half of the bytes; else one bit a choice.
fn settings_of(byte: u8) -> Settings {
    if byte < 128 {
        return Settings::default();
    }
    let is_set = |bit: u8| byte & (1 << bit) != 0;
    Settings {
        read_effect: if is_set(0) {
            ReadEffect::Runs
        } else {
            ReadEffect::Pends
        },
        expiry_boundary: if is_set(1) {
            ExpiryBoundary::After
        } else {
            ExpiryBoundary::At
        },
        expiry_absent: ExpiryAbsent::Never,
        deciders_absent: if is_set(2) {
            DecidersAbsent::Nobody
        } else {
            DecidersAbsent::Anyone
        },
        delivery: if is_set(3) {
            Delivery::AtLeastOnce
        } else {
            Delivery::AtMostOnce
        },
    }
}
