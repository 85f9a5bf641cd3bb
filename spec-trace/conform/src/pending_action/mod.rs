//! Pending actions: the reference ledger as a party of the search, and random runs of any implementation under the checker,
//! with any number of sessions, actions and people, and at any time.
//!
//! A run is steps drawn from bytes (`step`), which become requests (`world`) to the reference (`host`) or to any
//! implementation (`driven`). The checker names in `words` what does not conform. `executor` is the reference in the search.

mod driven;
pub mod executor;
mod host;
mod party;
mod step;
mod suite;
mod words;
mod world;

use countersign_model::engine::protocol::Variant;
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::readings::{self, Reading};
use countersign_reference::pending_action::{
    DecidersAbsent, Delivery, ExpiryAbsent, ExpiryBoundary, ReadEffect, Settings,
};

pub use driven::Driver;
pub use host::Host;
pub use step::{Approved, Asked, Decided, Decider, Proposed, Quoted, Session, Step, Which};
pub use suite::derived as derived_suite;

use crate::checked::Checked;
use crate::wide::{Run, Shown, Wide};

/// A run of the ledger.
pub type WideRun = Run<Host>;

impl Wide for Host {
    const PROTOCOL: &'static str = "pending-action";
    const BYTES: usize = step::BYTES;
    type Settings = Settings;
    type Step = Step;
    type Judge = Checked<Spec>;

    fn settings(byte: u8) -> Settings {
        settings_of(byte)
    }

    fn step(bytes: &[u8]) -> Step {
        Step::of(bytes)
    }

    fn judge(settings: Settings) -> Checked<Spec> {
        let variant = Variant {
            reading: reading_of(settings),
            ..Variant::default()
        };
        Checked::new(variant, Account::default())
    }

    fn begin(settings: Settings) -> Self {
        Self::new(settings)
    }

    fn take(&mut self, step: Step) -> Option<Shown<Checked<Spec>>> {
        self.take_step(step)
    }
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
