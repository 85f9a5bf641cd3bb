//! The executor and the little that its host keeps, in a wide run: steps become calls with real bytes.
//!
//! The one thing to know: what names things by their place is looked up in what the world has seen ([`super::world`]), never in
//! what the executor holds.

use countersign_model::aaep::judge::{self, AaepJudge};
use countersign_reference::aaep as executor;
use countersign_reference::ids::SequentialIds;
use countersign_reference::time::Timestamp;
use executor::{Input, Payload, Producer, ReplyToken, Settings};

use super::step::{Asked, Step};
use super::world::{LATE_START, Running, START, World};
use crate::wide::Shown;

/// The executor, and what its host keeps.
pub struct Host {
    producer: Producer,
    ids: SequentialIds,
    world: World,
    /// What came out of the last call, and whether the judge was shown it.
    last: Vec<(executor::Output, bool)>,
    /// Whether it was refused, which comes last and is shown.
    refused: bool,
}

impl Host {
    pub(super) fn new(settings: Settings, late: bool) -> Self {
        let start = if late { LATE_START } else { START };
        Self {
            producer: Producer::new(settings),
            ids: SequentialIds::new(),
            world: World::new(start),
            last: Vec::new(),
            refused: false,
        }
    }

    /// Takes a step; nothing where there is nothing that it could mean.
    pub(super) fn take_step(&mut self, step: Step) -> Option<Shown<AaepJudge>> {
        self.world.set_clock(step.clock);
        let (input, call) = if let Asked::Restart { lost } = step.asked {
            self.store_and_read_back();
            self.restart(usize::from(lost))
        } else {
            self.world.input(step.asked)?
        };
        let now = Timestamp::from_millis(self.world.clock);
        let extended = extended(&input);
        let outcome = self.producer.handle(now, &mut self.ids, input);
        self.watch(step.asked, &outcome);
        if let Some((token, timeout)) = extended.filter(|_| outcome.refused.is_none()) {
            self.world.questions.is_extended(&token, timeout);
        }
        let mut outputs = Vec::new();
        self.last.clear();
        for output in outcome.outputs {
            let shown = self.world.names.output(&output);
            self.last.push((output, shown.is_some()));
            outputs.extend(shown);
        }
        self.refused = outcome.refused.is_some();
        outputs.extend(self.refused.then_some(judge::Output::Refused));
        Some(Shown {
            now: self.world.clock,
            call,
            outputs,
        })
    }

    /// So many of the last outputs are lost, or as many as there are.
    fn restart(&mut self, count: usize) -> (Input, judge::Call) {
        let refused = usize::from(self.refused).min(count);
        let carried = self.last.len().saturating_sub(count - refused);
        let lost = self.last.split_off(carried);
        let shown = lost.iter().filter(|(_, shown)| *shown).count();
        let lost = lost.into_iter().map(|(output, _)| output).collect();
        let call = judge::Call::Restart {
            lost: shown + refused,
        };
        (Input::Restart { lost }, call)
    }

    /// A restart has nothing but what was written down.
    fn store_and_read_back(&mut self) {
        let stored = serde_json::to_vec(&self.producer).expect("a producer can be written");
        self.producer = serde_json::from_slice(&stored).expect("what it wrote can be read");
    }

    /// What the host learns from what came out.
    fn watch(&mut self, asked: Asked, outcome: &executor::Outcome) {
        for output in &outcome.outputs {
            match output {
                executor::Output::Emit(event) => self.watch_event(event),
                executor::Output::Perform(call) => self.world.runs(Running {
                    session_id: call.session_id.clone(),
                    action: call.action.clone(),
                    tool_call_id: call.tool_call_id.clone(),
                }),
                executor::Output::Withdraw(_)
                | executor::Output::Answer(_)
                | executor::Output::Notify(_)
                | executor::Output::Respond(_)
                | executor::Output::Audit(_)
                | executor::Output::InDoubt(_) => {}
            }
        }
        if outcome.refused.is_none() {
            self.world.is_done(asked);
        }
    }

    fn watch_event(&mut self, event: &executor::Event) {
        self.world.questions.watch(event);
        match &event.payload {
            Payload::SessionStarted { .. } => self.world.session_is_there(&event.session_id),
            Payload::SessionCompleted { .. }
            | Payload::SessionErrored { .. }
            | Payload::SessionCancelled { .. } => self.world.session_is_followed(&event.session_id),
            Payload::ToolCompleted { tool_call_id, .. } => {
                self.world.is_back(tool_call_id.as_str());
            }
            Payload::StateChanged { .. }
            | Payload::ToolInvoked { .. }
            | Payload::OutputStreaming { .. }
            | Payload::HandoffRequested { .. }
            | Payload::ProgressUpdated { .. }
            | Payload::AwaitingClarification { .. }
            | Payload::AwaitingConfirmation { .. } => {}
        }
    }
}

/// The question that is to have more time, and how much in all.
fn extended(input: &Input) -> Option<(ReplyToken, i64)> {
    if let Input::Extend {
        reply_token,
        timeout_seconds,
    } = input
    {
        let seconds = i64::try_from(*timeout_seconds).ok()?;
        return Some((reply_token.clone(), seconds));
    }
    None
}
