//! Wide runs: the producer under the judge, with any number of sessions, questions and subscribers, and at any time.
//!
//! The one thing to know: nothing here knows what is right. A run is steps (`step`) drawn from bytes (`drawing`), which become
//! calls with real bytes (`world`, `asking`, `spelling`), put to the executor (`host`) or to any implementation (`driven`); what
//! comes out is put into the judge's words (`names`, `events`), and the judge says what it breaks.

mod asking;
mod drawing;
mod driven;
mod events;
mod host;
mod names;
mod party;
mod questions;
mod spelling;
mod step;
mod suite;
mod world;

use countersign_model::aaep::judge::{AaepJudge, Declared};
use countersign_model::aaep::readings::Reading;
use countersign_reference::aaep::Settings;
use serde::{Deserialize, Serialize};

pub use driven::Driver;
pub use host::Host;
pub use step::{
    Answered, Asked, Claim, Clarified, Confirmed, Delivered, Extended, HandedOff, Ran, Response,
    Sender, Step, Streamed, Which,
};

use crate::wide::{Run, Shown, Wide};

/// A run of the producer.
pub type WideRun = Run<Host>;

/// What the host has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is chosen by itself")]
pub struct Choices {
    /// Whether senders of late duplicates are told so.
    pub courtesy_notices: bool,
    /// Whether the countdown of long questions is told.
    pub progress: bool,
    /// Whether the user may modify an action. The judge holds the party to it only where it declares it.
    #[serde(default)]
    pub modified_action: bool,
    /// Whether the party declares to the judge what it does, so that it is held to all of it.
    pub declares: bool,
    /// Whether the run comes near the end of the calendar.
    pub late: bool,
}

impl Wide for Host {
    const PROTOCOL: &'static str = "aaep";
    const BYTES: usize = drawing::BYTES;
    type Settings = Choices;
    type Step = Step;
    type Judge = AaepJudge;

    fn settings(byte: u8) -> Choices {
        Choices {
            courtesy_notices: byte & 0b1 != 0,
            progress: byte & 0b110 != 0,
            modified_action: byte & 0b11_1000 != 0 && byte & 0b1000_0000 != 0,
            declares: byte & 0b11_1000 != 0,
            late: byte & 0b1100_0001 == 0,
        }
    }

    fn step(bytes: &[u8]) -> Step {
        Step::of(bytes)
    }

    fn judge(choices: Choices) -> AaepJudge {
        let Choices {
            courtesy_notices: courtesy_notice,
            progress,
            modified_action,
            declares,
            late: _,
        } = choices;
        let judge = AaepJudge::new(Reading::SPECIFICATION);
        if !declares {
            return judge;
        }
        judge.declaring(Declared {
            clarify: true,
            extend: true,
            progress,
            courtesy_notice,
            delivery: true,
            modified_action,
            work: true,
            waits_as_read: false,
        })
    }

    fn begin(choices: Choices) -> Self {
        let Choices {
            courtesy_notices,
            progress,
            modified_action,
            declares: _,
            late,
        } = choices;
        let settings = Settings {
            courtesy_notices,
            progress,
            modified_action,
            ..Settings::default()
        };
        Self::new(settings, late)
    }

    fn take(&mut self, step: Step) -> Option<Shown<AaepJudge>> {
        self.take_step(step)
    }
}
