//! Random runs of the reference, under the checker.

use std::fmt;

use arbitrary::Unstructured;
use countersign_model::engine::protocol::Variant;
use countersign_model::judge::Finding;

use super::{Drawn as _, Driver, Host, Spoken, Wire};
use crate::checked::Checked;
use crate::driven::{Asked, Run, Step};
use crate::near::Near;
use crate::shrinking;

/// Where a run broke something.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The step at which it did, counted from 0.
    pub at: usize,
    /// What the checker found; at least one.
    pub findings: Vec<Finding>,
    /// The calls and outputs up to there, one call a line.
    pub shown: Vec<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.findings.iter().map(ToString::to_string);
        formatter.write_str(&findings.collect::<Vec<_>>().join("; "))
    }
}

/// The bytes that a seed gives.
pub(crate) fn random(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    })
}

/// One number of all bytes.
pub(crate) fn mixed(bytes: &[u8]) -> u64 {
    let mix = |mixed: u64, byte: &u8| (mixed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(1, mix)
}

/// One step in so many has a neighbour, in half of the runs.
const NEIGHBOURS: u8 = 6;

/// The steps that these bytes are. Any are some. A neighbour of a step stands before it.
pub fn steps<P: Spoken>(bytes: &[u8]) -> Vec<Step<Wire<P>>> {
    let first = bytes.get(..P::BYTES.min(bytes.len())).unwrap_or_default();
    steps_near::<P>(bytes, (mixed(first) & 1 == 1).then(Near::default))
}

/// The same without neighbours.
pub(crate) fn plain<P: Spoken>(bytes: &[u8]) -> Vec<Step<Wire<P>>> {
    steps_near::<P>(bytes, None)
}

fn steps_near<P: Spoken>(bytes: &[u8], mut near: Option<Near>) -> Vec<Step<Wire<P>>> {
    let mut drawn = P::Drawn::begin(bytes);
    let mut steps = Vec::new();
    for bytes in bytes.chunks(P::BYTES) {
        let Ok(step) = drawn.next(&mut Unstructured::new(bytes)) else {
            continue;
        };
        let neighbour = near.as_mut().and_then(|near| {
            near.see(&step);
            let mut random = random(mixed(bytes));
            let is_drawn = random.next()? % NEIGHBOURS == 0;
            let seed = u64::from_be_bytes(std::array::from_fn(|_| random.next().unwrap_or(0)));
            is_drawn.then(|| near.of(seed, &step)).flatten()
        });
        for step in neighbour.into_iter().chain([step]) {
            drawn.take(&step);
            steps.push(step);
        }
    }
    steps
}

/// The random run of the reference that bytes are: the first what its host has chosen, the others the steps.
pub fn drawn<P: Spoken>(bytes: &[u8]) -> Run<P> {
    let (settings, steps) = bytes.split_first().unwrap_or((&0, &[]));
    Run {
        settings: serde_json::to_value(P::Reference::drawn(*settings)).ok(),
        ..Run::of(self::steps::<P>(steps))
    }
}

/// The random run of the reference that a seed gives, of about so many steps.
pub fn seeded<P: Spoken>(seed: u64, steps: usize) -> Run<P> {
    let bytes: Vec<u8> = random(seed).take(1 + steps * P::BYTES).collect();
    drawn(&bytes)
}

/// Has the reference take the steps, and gives the number of calls that were made. `each` is shown all calls with what came of them.
///
/// # Errors
///
/// [`Broken`], where the checker finds something.
pub fn play<P: Spoken>(
    run: &Run<P>,
    mut each: impl FnMut(&P::Reference, &P::Call, &[P::Output]),
) -> Result<usize, Box<Broken>> {
    let settings = run.settings.clone();
    let settings = settings.and_then(|it| serde_json::from_value(it).ok());
    let settings = settings.unwrap_or_default();
    let variant = Variant {
        reading: P::Reference::reading(&settings),
        ..Variant::default()
    };
    let mut checked = Checked::<P>::new(variant, P::Reference::account(&settings, None));
    let mut form = <P::Reference as Host<P>>::Form::default();
    let (mut driver, mut reference) = (Driver::<P>::of_all(), P::Reference::new(settings));
    let mut calls = 0;
    for (at, step) in run.steps.iter().enumerate() {
        let Some(Asked { call, .. }) = driver.ask(step) else {
            continue;
        };
        let outputs = reference.answer(&call);
        driver.is_answered(&outputs);
        each(&reference, &call, &outputs);
        calls += 1;
        let flaws = reference.flaws(&mut form, &call, &outputs);
        let read = super::read(outputs, &flaws);
        let findings = checked.see(&call, &read);
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
pub fn shrunk<P: Spoken>(run: &Run<P>) -> Option<(Run<P>, Box<Broken>)> {
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
    let broken = shrinking::shortest(&mut steps, broken, Driver::<P>::without, shows);
    let mut broken = shrinking::folded(&mut steps, broken, Driver::<P>::fold, shows);
    let mut run = with(&steps);
    run.shows = broken.to_string();
    let shown = &mut broken.shown;
    let _broken = play(&run, |_, call, outputs| {
        shown.push(format!("{call:?}\n    {outputs:?}"));
    });
    Some((run, broken))
}
