//! Wide runs: the producer under the judge, with any number of sessions, questions and subscribers, and at any time.
//!
//! The one thing to know: nothing here knows what is right. A run is steps drawn from bytes (`step`), which become calls with
//! real bytes (`host`, `spelling`); what comes out is put into the judge's words (`names`), and the judge says what it breaks.

mod host;
mod names;
mod spelling;
mod step;

use countersign_model::aaep::judge::AaepJudge;
use countersign_model::aaep::readings::Reading;
use countersign_reference::aaep::Settings;
use serde::{Deserialize, Serialize};

pub use host::Host;
pub use step::{Asked, Claim, Confirmed, Delivered, Sender, Step, Which};

use crate::wide::{Run, Shown, Wide};

/// A run of the producer.
pub type WideRun = Run<Host>;

/// What the host has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// Whether senders of late duplicates are told so.
    pub courtesy_notices: bool,
}

impl Wide for Host {
    const PROTOCOL: &'static str = "aaep";
    const BYTES: usize = step::BYTES;
    type Settings = Choices;
    type Step = Step;
    type Judge = AaepJudge;

    fn settings(byte: u8) -> Choices {
        Choices {
            courtesy_notices: byte % 2 == 1,
        }
    }

    fn step(bytes: &[u8]) -> Step {
        Step::of(bytes)
    }

    fn judge(_: Choices) -> AaepJudge {
        AaepJudge::new(Reading::SPECIFICATION)
    }

    fn begin(Choices { courtesy_notices }: Choices) -> Self {
        Self::new(Settings {
            courtesy_notices,
            progress: false,
            ..Settings::default()
        })
    }

    fn take(&mut self, step: Step) -> Option<Shown<AaepJudge>> {
        self.take_step(step)
    }
}
