//! A text over its driver protocol: what it needs of each protocol is [`Spoken`], and the rest is here once.
//!
//! A run is requests of the driver protocol: drawn from bytes, or those of the suite. [`Driver`] asks any implementation for them, `play`
//! the reference. `producer` is the text as an implementation, `suite` finds what its runs show.

mod driver;
mod play;
mod producer;
mod suite;

use arbitrary::{Result, Unstructured};
use countersign_model::engine::clause::Clause;
use countersign_model::engine::party::Executor;
use countersign_model::facade::engine::Catalog;
use countersign_model::wire::{Codec, Flaw};
use countersign_protocol::{Greeting, Kind, Op, Protocol};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::checked::{Read, Worded};
use crate::driven::Step;
use crate::search::Differing;

pub use driver::{Driver, judge, judging, readings};
pub use play::{Broken, drawn, play, seeded, shrunk, steps};
pub(crate) use play::{mixed, plain, random};
pub use producer::{Producer, ablated, text_of, unseen};
pub use suite::{derived, translated};

/// When a run begins, in milliseconds since the epoch.
pub const START: i64 = 1_780_000_000_000;

/// Behind its last step a run goes on for so long, in milliseconds.
pub const HOUR: i64 = 3_600_000;

/// The driver protocol of a text.
pub type Wire<P> = <<P as Spoken>::Codec as Codec>::Driver;
/// What can be declared in it.
pub type Capability<P> = <Wire<P> as Protocol>::Capability;

/// What a text needs of its own to be asked of implementations.
pub trait Spoken: Catalog + Worded + Differing {
    /// What a run has names for.
    type Codec: Codec<Text = Self, Driver: Protocol<Capability: Copy>>;
    /// The reference with its host.
    type Reference: Host<Self>;
    /// A random run that is being drawn.
    type Drawn: Drawn<Self>;
    /// Bounds for random runs of the search, beyond any exhaustive one.
    const FAR: Self::Bounds;
    /// The clause that stands for the whole contract, where none is named.
    const CONTRACT: &'static str;
    /// The suite as it is committed.
    const SUITE: &'static str;
    /// About so many bytes are a step of a random run.
    const BYTES: usize;
    /// The outputs without which nothing can be judged: what is not seen of these would be taken for not done.
    const NEEDED: &'static [Kind];
    /// Everything that can be declared.
    const SUPPORTS: &'static [Capability<Self>];
    /// What the page of the driver protocol leaves open. Each has these ways among those of the text.
    const OPEN: &'static [(&'static str, &'static [&'static str])];
    /// The rules of which the driver protocol does not show that they are left out, by name, with the reason.
    const UNSEEN: &'static [(&'static str, &'static str)];
    /// The call with which nothing happens but that time passes.
    const TICK: Self::Call;
    /// What an implementation names, each by the member that holds the name.
    const NAMED: &'static [&'static str];

    /// The clauses that hold the form of an output, where the search knows nothing of it.
    fn form(_: &Self::Output) -> &'static [Clause] {
        &[]
    }

    /// What is known of whoever declares this, before anything has happened.
    fn declared(_: &Greeting<Wire<Self>>) -> Self::Account {
        Self::Account::default()
    }

    /// What an implementation has named of that kind, by number.
    fn names(codec: &Self::Codec, kind: usize) -> &[String];

    /// Whether `each` says so of all members of a request that hold what an implementation names, each with its kind. It may change
    /// them.
    fn all_named(op: &mut Op<Wire<Self>>, each: &mut dyn FnMut(usize, &mut String) -> bool)
    -> bool;

    /// Makes of a request what can be asked of whoever declares this. False, where nothing can.
    fn can_be_asked(driver: &Driver<Self>, op: &mut Op<Wire<Self>>) -> bool;

    /// The text as the driver protocol has it, where it settles something.
    fn settled(reading: Self::Reading) -> Self::Reading {
        reading
    }

    /// The call as it would be where the host never hands an old state back, if it is one by which it has.
    fn guarded(_: &Self::Call, _: &[Read<Self::Output>]) -> Option<Self::Call> {
        None
    }

    /// What a run ends with behind a step of that time, so that what has happened can be seen.
    fn ends(now: i64) -> Vec<Step<Wire<Self>>>;

    /// A call of the search as it stands in a suite, with the time of it. None, where no request says it, or it is too large for a file.
    fn in_suite(codec: &mut Self::Codec, call: &Self::Call) -> Option<(i64, Op<Wire<Self>>)>;
}

/// A run that is being drawn from bytes, with the reference beside, so that most steps are about what is open.
pub trait Drawn<P: Spoken> {
    /// Before the first step of the run that these bytes are.
    fn begin(bytes: &[u8]) -> Self;

    /// The next step, from bytes of its own: what is missing of them counts as 0.
    ///
    /// # Errors
    ///
    /// Where there is nothing that it could be about.
    fn next(&mut self, u: &mut Unstructured<'_>) -> Result<Step<Wire<P>>>;

    /// Has the reference take a step.
    fn take(&mut self, step: &Step<Wire<P>>);
}

/// A reference with its host, in process.
pub trait Host<P: Catalog>: Executor<P> {
    /// What the host chooses.
    type Settings: Clone + Default + Serialize + DeserializeOwned;
    /// What a run shows of the form of its outputs.
    type Form: Default;

    /// A reference of which nobody has asked anything.
    fn new(settings: Self::Settings) -> Self;

    /// What it puts out for a request, by which it may have died.
    fn answer(&mut self, call: &P::Call) -> Vec<P::Output>;

    /// What of the last outputs is not of its form, where the alphabet does not hold it.
    fn flaws(&self, _: &mut Self::Form, _: &P::Call, _: &[P::Output]) -> Vec<Flaw> {
        Vec::new()
    }

    /// What is known of a reference with these settings, before anything has happened; of a search within these bounds.
    fn account(_: &Self::Settings, bounds: Option<&P::Bounds>) -> P::Account {
        P::account(bounds)
    }

    /// The reading under which these settings are right.
    fn reading(settings: &Self::Settings) -> P::Reading;

    /// The settings of a reference that reads the text so, as much as it can put out; nothing where that is not for its host to choose.
    fn taking(reading: P::Reading) -> Option<Self::Settings>;

    /// The default for half of the bytes; else one bit a choice.
    fn drawn(byte: u8) -> Self::Settings;
}

/// Outputs, each with what is first of its flaws.
fn read<O>(outputs: Vec<O>, flaws: &[Flaw]) -> Vec<Read<O>> {
    let read = |(place, output)| {
        let flaw = flaws.iter().find(|it| it.place == place);
        let flaw = flaw.map(|it| (it.clause, it.text.clone()));
        Read { output, flaw }
    };
    outputs.into_iter().enumerate().map(read).collect()
}
