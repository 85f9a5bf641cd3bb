//! Other values, to put in the place of those that the ledger puts out.

use countersign_reference::ids::SequentialIds;
use countersign_reference::pending_action::{
    AgentId, Arguments, DeciderId, Deciders, Decision, Effect, EventId, Input, Label, Ledger,
    MessageId, Output, Proposal, Propose, RunId, SessionId, Settings, Summary, Text, ToolName,
    ToolStatus,
};
use countersign_reference::time::Timestamp;

/// The ids of an event and of a message of another ledger.
pub fn foreign() -> (EventId, MessageId) {
    let mut ledger = Ledger::new(Settings::default());
    let propose = Propose {
        agent_id: "a".to_owned(),
        session_id: "s".to_owned(),
        run_id: "r".to_owned(),
        tool: "t".to_owned(),
        arguments: Text::new("{}"),
        effect: Effect::Write,
        summary: "?".to_owned(),
        label: "!".to_owned(),
        expires_at: None,
        deciders: None,
        idempotent: false,
    };
    let mut ids = SequentialIds::new();
    let outcome = ledger.handle(Timestamp::MIN, &mut ids, Input::Propose(propose));
    match &outcome.outputs[..] {
        [
            Output::Record(_),
            Output::Append(append),
            Output::Event(event),
        ] => (event.event_id, append.message_id),
        others => panic!("no proposal: {others:?}"),
    }
}

pub const DECISIONS: [Decision; 2] = [Decision::Allow, Decision::Deny];

pub const STATUSES: [ToolStatus; 3] = [ToolStatus::Success, ToolStatus::Error, ToolStatus::NotRun];

/// The proposal with one field changed.
pub fn proposals(proposal: &Proposal) -> Vec<Proposal> {
    let Proposal {
        agent_id: _,
        session_id: _,
        run_id: _,
        tool: _,
        arguments,
        effect: _,
        summary,
        label: _,
        expires_at,
        deciders: _,
        idempotent,
    } = proposal;
    let mut all = Vec::new();
    let mut with = |set: &dyn Fn(&mut Proposal)| {
        let mut changed = proposal.clone();
        set(&mut changed);
        all.push(changed);
    };
    with(&|proposal| proposal.agent_id = AgentId::parse("eve").expect("a name"));
    for session_id in sessions() {
        with(&|proposal| proposal.session_id = session_id.clone());
    }
    for run in ["run 0", "run 1", "run 2"] {
        with(&|proposal| proposal.run_id = RunId::parse(run).expect("a name"));
    }
    for tool in tools() {
        with(&|proposal| proposal.tool = tool.clone());
    }
    for arguments in self::arguments(arguments) {
        with(&|proposal| proposal.arguments = arguments.clone());
    }
    for effect in [
        Effect::Read,
        Effect::Write,
        Effect::Destructive,
        Effect::External,
    ] {
        with(&|proposal| proposal.effect = effect);
    }
    for summary in summaries(summary) {
        with(&|proposal| proposal.summary = summary.clone());
    }
    for label in labels() {
        with(&|proposal| proposal.label = label.clone());
    }
    let times = around(expires_at.unwrap_or(Timestamp::MAX)).map(Some);
    for time in times.into_iter().chain([None]) {
        with(&|proposal| proposal.expires_at = time);
    }
    let lists = [&["ana"][..], &["ana", "eve"], &["eve"]].map(|names| {
        let names = names
            .iter()
            .map(|name| DeciderId::parse(name).expect("a name"));
        Some(Deciders::try_from(names.collect::<Vec<_>>()).expect("different names"))
    });
    for deciders in lists.into_iter().chain([None]) {
        with(&|proposal| proposal.deciders.clone_from(&deciders));
    }
    with(&|proposal| proposal.idempotent = !idempotent);
    all.retain(|changed| changed != proposal);
    all
}

pub fn arguments(arguments: &Arguments) -> Vec<Arguments> {
    let wider = format!("{} ", arguments.as_str());
    ["{}", &wider]
        .map(|text| Arguments::parse(Text::new(text)).expect("an object"))
        .to_vec()
}

pub fn results(result: &Text) -> Vec<Text> {
    ["", "done", &format!("{} ", result.as_str())]
        .map(Text::new)
        .to_vec()
}

pub fn tools() -> Vec<ToolName> {
    ["carpeta/delete-potreros", "shell", "rm"]
        .map(|text| ToolName::parse(text).expect("a name"))
        .to_vec()
}

pub fn summaries(summary: &Summary) -> Vec<Summary> {
    ["No.", "¿Borro estos 3 potreros?", &format!("{summary} ")]
        .map(|text| Summary::parse(text).expect("a summary"))
        .to_vec()
}

pub fn labels() -> Vec<Label> {
    ["OK", "sí, borrar"]
        .map(|text| Label::parse(text).expect("a label"))
        .to_vec()
}

pub fn sessions() -> Vec<SessionId> {
    ["chat A", "chat a", "chat b"]
        .map(|text| SessionId::parse(text).expect("an id"))
        .to_vec()
}

pub fn deciders() -> Vec<DeciderId> {
    ["ana", "eve", "menta"]
        .map(|text| DeciderId::parse(text).expect("a name"))
        .to_vec()
}

pub fn around(time: Timestamp) -> [Timestamp; 3] {
    [-1_000, -1, 1].map(|millis| Timestamp::from_millis(time.millis() + millis))
}
