//! The reference in process, and three that answer otherwise: whoever judges implementations has to catch these.
//!
//! The one thing to know: a control declares what the reference declares, so that nothing is kept from the judge. The texts without
//! a rule are controls as well, and are `countersign_conform::spoken::Producer`.

use std::sync::Arc;

use countersign_conform::implementation::{Implementation, Lost, Maker};
use countersign_conform::mcp_aql::executor::Settings;
use countersign_conform::spoken::{Spoken, Wire};
use countersign_model::wire::Codec;
use countersign_protocol::pending_action as asked_pending_action;
use countersign_protocol::{Answer, Common, Op, Protocol, Request, Response};
use countersign_protocol::{aaep as asked_aaep, mcp_aql as asked_mcp_aql};
use countersign_reference::{aaep as reference, mcp_aql, pending_action};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The texts of the protocols.
mod text {
    pub use countersign_model::aaep::Aaep;
    pub use countersign_model::mcp_aql::McpAql;
    pub use countersign_model::pending_action::PendingAction;
}

use super::Service;
use super::aaep::{self, Aaep};
use super::conversation::Conversation;
use super::ids::Ids;
use super::mcp_aql::McpAql;
use super::pending_action::PendingAction;

/// A protocol of which the reference can be driven in this process.
pub trait Referred: Spoken<Codec: Codec<Driver: Decided>> {
    /// The reference, drawing its identifiers from this seed.
    fn reference(seed: u64) -> impl Implementation<Wire<Self>> + 'static;

    /// The same, as the host of a run had chosen that was kept of it.
    ///
    /// # Errors
    ///
    /// Choices that there are not, or by which it cannot be asked.
    fn chosen(
        seed: u64,
        settings: &Value,
    ) -> Result<impl Implementation<Wire<Self>> + 'static, String>;
}

/// The choices as they are kept.
fn read<T: DeserializeOwned>(settings: &Value) -> Result<T, String> {
    T::deserialize(settings).map_err(|error| format!("settings: {error}"))
}

impl Referred for text::Aaep {
    fn reference(seed: u64) -> impl Implementation<Wire<Self>> + 'static {
        InProcess::new(seed, |ids| Aaep::new(aaep::Settings::default(), ids))
    }

    fn chosen(
        seed: u64,
        settings: &Value,
    ) -> Result<impl Implementation<Wire<Self>> + 'static, String> {
        let reference::Settings {
            modified_action, ..
        } = read(settings)?;
        let settings = aaep::Settings { modified_action };
        Ok(InProcess::new(seed, move |ids| Aaep::new(settings, ids)))
    }
}

impl Referred for text::McpAql {
    fn reference(seed: u64) -> impl Implementation<Wire<Self>> + 'static {
        InProcess::new(seed, |ids| McpAql::new(mcp_aql::Settings::default(), ids))
    }

    fn chosen(
        seed: u64,
        settings: &Value,
    ) -> Result<impl Implementation<Wire<Self>> + 'static, String> {
        let Settings { signs, chosen } = read(settings)?;
        let new = if signs { McpAql::signing } else { McpAql::new };
        Ok(InProcess::new(seed, move |ids| new(chosen.clone(), ids)))
    }
}

impl Referred for text::PendingAction {
    fn reference(seed: u64) -> impl Implementation<Wire<Self>> + 'static {
        let new = |ids| PendingAction::in_memory(pending_action::Settings::default(), ids);
        InProcess::new(seed, new)
    }

    fn chosen(
        seed: u64,
        settings: &Value,
    ) -> Result<impl Implementation<Wire<Self>> + 'static, String> {
        let settings: pending_action::Settings = read(settings)?;
        let new = move |ids| PendingAction::in_memory(settings, ids);
        Ok(InProcess::new(seed, new))
    }
}

/// A service that is a new one in each run, so that what it answers, its identifiers among it, does not depend on the runs before.
struct InProcess<S: Service> {
    seed: u64,
    new: Arc<dyn Fn(Ids) -> S + Send + Sync>,
    conversation: Conversation<S>,
}

impl<S: Service> InProcess<S> {
    fn new(seed: u64, new: impl Fn(Ids) -> S + Send + Sync + 'static) -> Self {
        Self::made_by(seed, Arc::new(new))
    }

    fn made_by(seed: u64, new: Arc<dyn Fn(Ids) -> S + Send + Sync>) -> Self {
        let conversation = Conversation::new(new(Ids::of(Some(seed))));
        Self {
            seed,
            new,
            conversation,
        }
    }
}

impl<S: Service + 'static> Implementation<S::Protocol> for InProcess<S> {
    fn start(&mut self) -> Result<(), Lost> {
        self.conversation.start()
    }

    fn ask(&mut self, request: Request<S::Protocol>) -> Result<Response<S::Protocol>, Lost> {
        if matches!(request.op, Op::Common(Common::Reset {})) {
            let service = (self.new)(Ids::of(Some(self.seed)));
            self.conversation.goes_on_with(service);
        }
        self.conversation.ask(request)
    }

    fn ask_line(&mut self, id: u64, line: &[u8]) -> Result<Response<S::Protocol>, Lost> {
        self.conversation.ask_line(id, line)
    }

    fn maker(&self) -> Option<Maker<Self>> {
        let (seed, new) = (self.seed, Arc::clone(&self.new));
        Some(Box::new(move || Self::made_by(seed, Arc::clone(&new))))
    }
}

/// One that is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Whatever it is asked, nothing comes out.
    Null,
    /// The reference, to whom every decision is an allowing one.
    AllowAll,
    /// The reference, to whom every decision is a denying one.
    DenyAll,
}

impl Control {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Null, Self::AllowAll, Self::DenyAll];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::AllowAll => "allow-all",
            Self::DenyAll => "deny-all",
        }
    }
}

/// A control that stands before the reference.
pub struct Controlled<I> {
    /// How it is wrong.
    pub control: Control,
    /// The reference.
    pub reference: I,
}

impl<P: Decided, I: Implementation<P> + 'static> Implementation<P> for Controlled<I> {
    fn start(&mut self) -> Result<(), Lost> {
        self.reference.start()
    }

    fn ask(&mut self, mut request: Request<P>) -> Result<Response<P>, Lost> {
        match (self.control, &mut request.op) {
            (_, Op::Common(Common::Hello { .. }))
            | (Control::AllowAll | Control::DenyAll, Op::Common(_)) => {}
            (Control::Null, Op::Common(_) | Op::Own(_)) => {
                return Ok(Response {
                    id: Some(request.id),
                    answer: Answer::Outputs {
                        outputs: Vec::new(),
                    },
                });
            }
            (Control::AllowAll, Op::Own(op)) => P::decide(op, true),
            (Control::DenyAll, Op::Own(op)) => P::decide(op, false),
        }
        self.reference.ask(request)
    }

    fn ask_line(&mut self, id: u64, line: &[u8]) -> Result<Response<P>, Lost> {
        self.reference.ask_line(id, line)
    }

    fn maker(&self) -> Option<Maker<Self>> {
        let control = self.control;
        let new = self.reference.maker()?;
        Some(Box::new(move || Self {
            control,
            reference: new(),
        }))
    }
}

/// A protocol in whose ops somebody decides.
pub trait Decided: Protocol {
    /// Makes every decision of an op one that allows, or one that denies.
    fn decide(op: &mut Self::Op, allows: bool);
}

impl Decided for asked_aaep::Aaep {
    fn decide(op: &mut asked_aaep::Op, allows: bool) {
        let asked_aaep::Op::Deliver(asked_aaep::Deliver { message, .. }) = op else {
            return;
        };
        let words = ["\"reject\"", "\"accept\""];
        let [from, to] = if allows { words } else { [words[1], words[0]] };
        if let Ok(text) = std::str::from_utf8(message) {
            *message = text.replace(from, to).into_bytes();
        }
    }
}

impl Decided for asked_mcp_aql::McpAql {
    fn decide(op: &mut asked_mcp_aql::Op, allows: bool) {
        if let asked_mcp_aql::Op::Call(call) = op {
            call.danger_level = if allows {
                asked_mcp_aql::DangerLevel::Safe
            } else {
                asked_mcp_aql::DangerLevel::Forbidden
            };
        }
    }
}

impl Decided for asked_pending_action::PendingAction {
    fn decide(op: &mut asked_pending_action::Op, allows: bool) {
        if let asked_pending_action::Op::Decide { decision, .. } = op {
            *decision = if allows {
                asked_pending_action::Decision::Allow
            } else {
                asked_pending_action::Decision::Deny
            };
        }
    }
}
