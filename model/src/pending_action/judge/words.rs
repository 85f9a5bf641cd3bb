//! What the judge is shown: calls and outputs, in the words of the driver protocol.
//!
//! The one thing to know: names are numbers. Whoever feeds the judge gives equal things equal numbers and different things
//! different ones. People, whether they propose or decide, are numbered together. Arguments and results are equal where they
//! mean the same; what has no one meaning (a name twice in an object, no JSON at all) gets a number of its own, which equals
//! nothing else.

/// What can be asked of a party. A call that the party refused shows [`Output::Refused`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A call of a tool wants to be confirmed.
    Propose(Proposal),
    /// Somebody decides.
    Decide(Decide),
    /// Somebody says something that is no decision.
    Say {
        /// Who; nobody, where the name is blank.
        by: Option<u32>,
        /// What.
        text: u32,
    },
    /// A tool that was told to run has come back.
    FinishTool {
        /// The action that it ran for.
        action: u32,
        /// How it came out.
        status: Status,
        /// What it returned.
        result: Option<u32>,
    },
    /// The host takes a question back.
    Cancel {
        /// Which.
        action: u32,
    },
    /// A session ends.
    EndSession {
        /// Which.
        session: u32,
    },
    /// The state as it is now is to be put out.
    Snapshot,
    /// The host hands back the state that was put out under this name.
    Rollback {
        /// The name.
        snapshot: u32,
    },
    /// The process dies and comes back.
    Restart {
        /// How many outputs of the last call, from its end, were not carried out.
        lost: usize,
    },
    /// Time passes, and nothing else happens.
    Tick,
}

/// A call that is to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What the record of it has to hold.
    pub terms: Terms,
    /// Who may decide, where the proposal says so.
    pub deciders: Option<Vec<u32>>,
    /// Whether calling the tool twice does what calling it once does.
    pub idempotent: bool,
    /// Whether it keeps the limits of the driver protocol, so that nothing excuses refusing it.
    pub within_limits: bool,
}

/// What the text lists for the record of a pending action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// Who proposes.
    pub agent: u32,
    /// In which session.
    pub session: u32,
    /// In which run.
    pub run: u32,
    /// What would be called.
    pub call: ToolCall,
    /// What the call does.
    pub effect: Effect,
    /// What the user is asked.
    pub summary: u32,
    /// The words on the button.
    pub label: u32,
    /// When the question closes, in milliseconds since the epoch; never, where absent.
    pub expires_at: Option<i64>,
}

/// One call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ToolCall {
    /// The tool.
    pub tool: u32,
    /// With these arguments.
    pub arguments: u32,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Looks.
    Read,
    /// Changes something.
    Write,
    /// Destroys something.
    Destructive,
    /// Reaches somebody else.
    External,
}

/// What somebody decides about a pending action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decide {
    /// The action, as their client names it.
    pub action: u32,
    /// Its nonce, where the client gives one.
    pub nonce: Option<u32>,
    /// What they decide.
    pub decision: Decision,
    /// Who, as the host has identified them; nobody, where the name is blank.
    pub by: Option<u32>,
    /// What the client says that it approved, where it says so.
    pub arguments: Option<u32>,
}

/// What somebody decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The call may run.
    Allow,
    /// It must not.
    Deny,
}

/// How a call came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The tool did what it should.
    Success,
    /// It failed.
    Error,
    /// It was never begun.
    NotRun,
}

/// What can come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Something has happened to an action.
    Event {
        /// What.
        event: Event,
        /// Its exact text, which a repetition has to have again.
        text: u32,
    },
    /// A message for the transcript.
    Append {
        /// Which.
        message: Message,
        /// The session into whose transcript it goes, where the message says so.
        session: Option<u32>,
        /// Its exact text.
        text: u32,
    },
    /// Run the tool now.
    Perform {
        /// For this action.
        action: u32,
        /// This.
        call: ToolCall,
    },
    /// After a restart: released, and not recorded as finished.
    InDoubt {
        /// The action.
        action: u32,
    },
    /// For the operator alone. The contract knows no audit, so that none is owed and any is free.
    Audit,
    /// The state as it is now.
    Snapshot {
        /// A name for it.
        snapshot: u32,
    },
    /// The call is not allowed in this state or with this value.
    Refused,
}

/// What an event can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// An action pends, or a call that needs no question is recorded.
    Created {
        /// Its id.
        action: u32,
        /// Its nonce, where it has one besides.
        nonce: Option<u32>,
        /// The record.
        terms: Terms,
    },
    /// The user's decision was received.
    Decided {
        /// About this action.
        action: u32,
        /// What it was.
        decision: Decision,
    },
    /// The call was made.
    Called {
        /// For this action.
        action: u32,
        /// This.
        call: ToolCall,
    },
    /// The tool ran.
    Executed {
        /// For this action.
        action: u32,
        /// How it came out, where the event says so.
        status: Option<Status>,
        /// What it returned, where the event says so.
        result: Option<u32>,
    },
    /// The tool was released and never begun.
    NotRun {
        /// For this action.
        action: u32,
    },
    /// The call was denied.
    Denied {
        /// The action.
        action: u32,
    },
    /// The question was taken back.
    Cancelled {
        /// The action.
        action: u32,
    },
    /// The question closed unanswered.
    Expired {
        /// The action.
        action: u32,
    },
}

/// What a message of the transcript can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// The question, as the user sees it.
    Prompt {
        /// What the user is asked, where it is shown.
        summary: Option<u32>,
        /// The words on the button, where they are shown.
        label: Option<u32>,
        /// Whether it shows the action's id or its arguments besides.
        exposes: bool,
    },
    /// The call of the tool.
    ToolCall {
        /// For this action.
        action: u32,
        /// This.
        call: ToolCall,
    },
    /// The result of the call.
    ToolResult {
        /// For this action.
        action: u32,
        /// How it came out.
        outcome: Outcome,
        /// What the tool returned, where it ran.
        result: Option<u32>,
    },
    /// What somebody said.
    Said {
        /// Who.
        by: Option<u32>,
        /// What.
        text: u32,
    },
}

/// What a result in the transcript says of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The tool came back.
    Finished(Status),
    /// The call was denied.
    Denied,
    /// The question was taken back.
    Cancelled,
    /// The question closed unanswered.
    Expired,
}

impl Output {
    pub(super) const fn event(&self) -> Option<Event> {
        match *self {
            Self::Event { event, .. } => Some(event),
            Self::Append { .. }
            | Self::Perform { .. }
            | Self::InDoubt { .. }
            | Self::Audit
            | Self::Snapshot { .. }
            | Self::Refused => None,
        }
    }

    pub(super) const fn message(&self) -> Option<Message> {
        match *self {
            Self::Append { message, .. } => Some(message),
            Self::Event { .. }
            | Self::Perform { .. }
            | Self::InDoubt { .. }
            | Self::Audit
            | Self::Snapshot { .. }
            | Self::Refused => None,
        }
    }

    /// The action that this is about, and in which form it tells of it; absent where it tells of none.
    pub(super) const fn about(&self) -> Option<(u32, Form)> {
        match *self {
            Self::Event { event, .. } => Some(event.about()),
            Self::Append { message, .. } => message.about(),
            Self::Perform { action, .. } => Some((action, Form::Perform)),
            Self::InDoubt { action } => Some((action, Form::InDoubt)),
            Self::Audit | Self::Snapshot { .. } | Self::Refused => None,
        }
    }

    /// What is told by an event or a message, as the driver protocol names it; nothing by what else comes out.
    pub(super) fn told(&self) -> String {
        let (how, kind) = match *self {
            Self::Event { event, .. } => ("event", event.kind()),
            Self::Append { message, .. } => ("append", message.kind()),
            Self::Perform { .. }
            | Self::InDoubt { .. }
            | Self::Audit
            | Self::Snapshot { .. }
            | Self::Refused => ("nothing", ""),
        };
        match self.about() {
            Some((action, _)) => format!("{how}({kind} action {action})"),
            None => format!("{how}({kind})"),
        }
    }

    /// Whether a crash that loses it owes it again.
    pub(super) const fn is_told(&self) -> bool {
        self.event().is_some() || self.message().is_some()
    }
}

impl Event {
    const fn kind(self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Decided { .. } => "decided",
            Self::Called { .. } => "called",
            Self::Executed { .. } => "executed",
            Self::NotRun { .. } => "not_run",
            Self::Denied { .. } => "denied",
            Self::Cancelled { .. } => "cancelled",
            Self::Expired { .. } => "expired",
        }
    }

    const fn about(self) -> (u32, Form) {
        match self {
            Self::Created { action, .. } => (action, Form::Created),
            Self::Decided { action, .. } => (action, Form::Decided),
            Self::Called { action, .. } => (action, Form::Called),
            Self::Executed { action, .. } => (action, Form::Executed),
            Self::NotRun { action } => (action, Form::NotRun),
            Self::Denied { action } => (action, Form::Denied),
            Self::Cancelled { action } => (action, Form::Cancelled),
            Self::Expired { action } => (action, Form::Expired),
        }
    }
}

impl Message {
    const fn kind(self) -> &'static str {
        match self {
            Self::Prompt { .. } => "confirmation_request",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::Said { .. } => "user_message",
        }
    }

    const fn about(self) -> Option<(u32, Form)> {
        match self {
            Self::ToolCall { action, .. } => Some((action, Form::CallMessage)),
            Self::ToolResult { action, .. } => Some((action, Form::ResultMessage)),
            Self::Prompt { .. } | Self::Said { .. } => None,
        }
    }
}

/// The form in which an output tells of an action. Each is put out once an action, but the last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Created,
    Decided,
    Called,
    Executed,
    NotRun,
    Denied,
    Cancelled,
    Expired,
    CallMessage,
    ResultMessage,
    Perform,
    InDoubt,
}
