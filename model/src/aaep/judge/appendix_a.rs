//! Appendix A: states, and tools that are invoked and completed.

use super::account::{Account, Phase, Question, Running, Verdict};
use super::call::{Body, Event, Outcome, State, ToolCall, ToolStatus};
use super::work::Invocation;
use super::{Completion, Ground, Look, Resolution};
use crate::aaep::readings::SessionEndCompletes;

/// A.2 and A.4: states.
impl Look<'_> {
    pub(super) fn body_comes(&mut self, event: &Event) {
        match &event.body {
            Body::Started => return,
            Body::Ended(outcome) => self.end_comes(event, *outcome),
            Body::StateChanged { from, to } => self.state_changes(event, *from, *to),
            Body::Question(question) => self.question_comes(event, question),
            Body::ToolInvoked(invoked) => self.tool_is_invoked(event.session, *invoked),
            Body::ToolCompleted {
                tool,
                tool_call,
                status,
            } => self.tool_is_completed(event.session, *tool, *tool_call, *status),
            Body::Clarification(clarification) => self.clarification_comes(event, clarification),
            Body::Progress { left } => self.progress_comes(event, *left),
            Body::OutputStreaming(streamed) => self.chunk_comes(event.session, *streamed),
            Body::Handoff(handed) => self.handoff_comes(event.session, *handed),
            Body::Other => {}
        }
        if let Some(session) = self.account.sessions.get_mut(&event.session) {
            session.just_started = false;
        }
    }

    // AAEP-EV-8: a state.changed leaves the state last entered, or the one that other events since imply; the first leaves
    // idle.
    fn state_changes(&mut self, event: &Event, from: State, to: State) {
        let name = event.session;
        self.state_follows_handoff(name);
        let Some(session) = self.account.sessions.get_mut(&name) else {
            return;
        };
        let leaves = session.is_in(from);
        let entered = session.entered;
        let was_awaiting = session.is_in(State::AwaitingInput);
        session.entered = to;
        session.implied = None;
        let astray = session.astray;
        if was_awaiting {
            self.duties.leaving.push((name, to));
        }
        if to == State::AwaitingInput && self.duties.unannounced == Some(name) {
            self.duties.unannounced = None;
        }
        if !leaves && !astray {
            let (entered, from) = (entered.name(), from.name());
            let text = format!("s{name} must leave {entered}, not {from}");
            self.conformance("AAEP-EV-8", &[], text);
        }
    }

    // AAEP-A.4-1: awaiting_input is entered at or before the question; AAEP-A.7.6-2: or the question follows the start.
    pub(super) fn input_is_awaited(&mut self, name: u32) {
        let Some(session) = self.account.sessions.get_mut(&name) else {
            return;
        };
        if !session.is_in(State::AwaitingInput) && !session.just_started {
            self.duties.unannounced = Some(name);
        }
        session.implied = Some(State::AwaitingInput);
    }
}

/// A.3, A.4 and A.7.4: tools.
impl Look<'_> {
    // AAEP-A.4-3: the tool.invoked of an action that was accepted.
    fn tool_is_invoked(&mut self, name: u32, invoked: Invocation) {
        let Invocation {
            tool, tool_call, ..
        } = invoked;
        // AAEP-EV-13; that an action runs a second time was said, and it may do so under the same name.
        if let Some(tool_call) = tool_call
            && !self.account.runs_again(name, tool_call)
            && !self.is_forbidden_work(name)
            && let Some(session) = self.account.sessions.get_mut(&name)
            && !session.tool_calls.insert(tool_call)
        {
            let text = format!("t{tool_call} must not name a second call in s{name}");
            self.conformance("AAEP-EV-13", &["AAEP-A.4-3"], text);
        }
        let accepted = self.duties.resolutions.iter_mut().find(|resolution| {
            resolution.verdict == Verdict::Accept
                && !resolution.invoked
                && (resolution.session, resolution.tool) == (name, tool)
                && (resolution.run.is_none() || tool_call.is_none() || resolution.run == tool_call)
        });
        let released = accepted.map(|resolution| {
            resolution.invoked = true;
            *resolution
        });
        let Some(resolution) = released else {
            let action = self.tool_was_to_be_invoked(name, invoked);
            if action.is_none() {
                self.unreleased_tool_is_invoked(name, tool, tool_call, invoked.irreversible);
            }
            return self.account.invoked(name, tool, tool_call, action);
        };
        self.rating_is_of_what_runs(&resolution, invoked);
        // Where its completion stands before it, that is said of the run.
        if !resolution.completed {
            let action = Some(resolution.action);
            self.account.invoked(name, tool, tool_call, action);
        }
    }

    // AAEP-6.3.2-3: what was modified is told with its own rating.
    fn rating_is_of_what_runs(&mut self, resolution: &Resolution, invoked: Invocation) {
        let Resolution {
            token,
            action,
            modified: Some(modified),
            ..
        } = *resolution
        else {
            return;
        };
        let asked = self.account.confirmation(token);
        let rating = asked.and_then(|(_, asked)| asked.rating_of(modified));
        if rating.is_some_and(|rating| rating != (invoked.risk, invoked.irreversible)) {
            let text = format!("a{action} must be told with the rating of what it was modified to");
            self.conformance("AAEP-6.3.2-3", &[], text);
        }
    }

    // AAEP-6.1-5: no event says that a blocked action was carried out. AAEP-A.4-4: or a rejected one. AAEP-A.7.4-1: an
    // irreversible tool needs an acceptance. AAEP-6.1-4: other work is free.
    fn unreleased_tool_is_invoked(
        &mut self,
        name: u32,
        tool: u32,
        tool_call: Option<u32>,
        irreversible: bool,
    ) {
        let runs_already = self.account.sessions.get(&name).is_none_or(|session| {
            session.astray
                || session.running.iter().any(|running| {
                    running.performed && !running.invoked && running.tool_call == tool_call
                })
        });
        if runs_already || self.duties.settled.contains(&name) {
            // The run was judged, or the account is not sure what waits here.
            return;
        }
        if self.follows_handoff(name) {
            return;
        }
        let asked = self.account.last_asked.range((name, 0)..=(name, u32::MAX));
        let confirmations = asked.filter_map(|(_, &token)| {
            let (question, action) = self.account.confirmation(token)?;
            Some((token, question, action))
        });
        let mut of_tool = confirmations.filter(|(_, _, action)| action.tool == tool);
        let open = of_tool
            .clone()
            .find(|(_, question, _)| question.phase == Phase::Open);
        if let Some((token, _, _)) = open {
            let text = format!("no tool.invoked may come while c{token} waits");
            return self.guarantee("AAEP-6.1-5", &["AAEP-A.7.4-1"], text);
        }
        let refused = of_tool.find(|(_, _, action)| action.refused && action.runs == 0);
        if let Some((token, _, _)) = refused {
            self.duties.settled.push(name);
            let text = format!("no tool.invoked may come: c{token} was rejected or withdrawn");
            return self.guarantee("AAEP-A.4-4", &["AAEP-6.1-1"], text);
        }
        if irreversible {
            let text =
                format!("no irreversible tool of s{name} may be invoked: nothing was accepted");
            self.guarantee("AAEP-A.7.4-1", &["AAEP-A.8-8"], text);
        }
    }

    // AAEP-A.3-2: only what is in flight comes back.
    pub(super) fn ground_against_finishing(
        &self,
        session: u32,
        action: u32,
        tool_call: Option<u32>,
    ) -> Ground {
        match self.account.sessions.get(&session) {
            None => Ground::Must("AAEP-A.1-1"),
            Some(kept) if kept.ended => Ground::Must("AAEP-A.1-3"),
            Some(kept) if kept.flight_of(action, tool_call).is_some() => Ground::None,
            Some(kept) if kept.astray || self.released_now(session, action).is_some() => {
                Ground::May
            }
            Some(_) => Ground::Must("AAEP-A.3-2"),
        }
    }

    // AAEP-A.3-1, AAEP-A.7.4-2: every invocation has its completion.
    pub(super) fn tool_comes_back(
        &mut self,
        name: u32,
        action: u32,
        tool_call: Option<u32>,
        status: ToolStatus,
    ) {
        let released = self.released_now(name, action);
        let Some(session) = self.account.sessions.get_mut(&name) else {
            return;
        };
        let (tool, tool_call) = match session.flight_of(action, tool_call) {
            Some(position) => {
                let running = session.running.remove(position);
                (running.tool, running.tool_call)
            }
            None => match released {
                Some(tool) => (tool, None),
                None => return,
            },
        };
        self.duties.completions.push(Completion {
            session: name,
            tool,
            tool_call,
            status,
            free: session.astray,
        });
    }

    /// The tool of an action that falls due before it is said to have come back: it can be refused, or taken at its word.
    fn released_now(&self, session: u32, action: u32) -> Option<u32> {
        let mut resolutions = self.duties.resolutions.iter();
        let released = resolutions.find(|resolution| {
            resolution.verdict == Verdict::Accept
                && (resolution.session, resolution.action) == (session, action)
        });
        released.map(|released| released.tool)
    }

    // AAEP-A.3-1: a session that is completed or errored tells of its running tools as failed first;
    // one that is cancelled owes nothing more. Reading `session-end-completes`.
    pub(super) fn end_completes_tools(&mut self, name: u32, outcome: Outcome) {
        let Some(session) = self.account.sessions.get(&name) else {
            return;
        };
        let free = session.astray || !self.end_owes_completions(outcome);
        let running = session
            .running
            .iter()
            .map(|running| (running.tool, running.tool_call));
        // What fell due before the end runs too.
        let released = self.duties.resolutions.iter().filter(|resolution| {
            resolution.session == name && resolution.verdict == Verdict::Accept
        });
        for (tool, tool_call) in running.chain(released.map(|released| (released.tool, None))) {
            self.duties.completions.push(Completion {
                session: name,
                tool,
                tool_call,
                status: ToolStatus::Error,
                free,
            });
        }
    }

    /// Whether, by the reading, an end of this kind owes the completion of what is open.
    pub(super) fn end_owes_completions(&self, outcome: Outcome) -> bool {
        match self.reading.session_end_completes {
            SessionEndCompletes::UnlessCancelled => outcome != Outcome::Cancelled,
            SessionEndCompletes::OnlyCompleted => outcome == Outcome::Completed,
            SessionEndCompletes::Always => true,
            SessionEndCompletes::Never => false,
        }
    }

    fn tool_is_completed(
        &mut self,
        name: u32,
        tool: u32,
        tool_call: Option<u32>,
        status: ToolStatus,
    ) {
        let is_it = |its_tool: u32, its_call: Option<u32>| {
            its_tool == tool && (its_call == tool_call || its_call.is_none() || tool_call.is_none())
        };
        let owed = self
            .duties
            .completions
            .iter()
            .position(|owed| owed.session == name && is_it(owed.tool, owed.tool_call));
        if let Some(position) = owed {
            let owed = self.duties.completions.remove(position);
            self.account.comes_back(name, tool_call);
            let of_call = |resolution: &&mut Resolution| {
                (resolution.session, resolution.run) == (name, tool_call) && tool_call.is_some()
            };
            if let Some(released) = self.duties.resolutions.iter_mut().find(of_call) {
                released.completed = !released.invoked;
            }
            if owed.status != status && !owed.free {
                let status = owed.status.name();
                let text = format!("the completion in s{name} must say {status}");
                self.conformance("AAEP-A.3-1", &[], text);
            }
            return;
        }
        let Some(session) = self.account.sessions.get_mut(&name) else {
            return;
        };
        let astray = session.astray;
        let running = session
            .running
            .iter()
            .position(|running| is_it(running.tool, running.tool_call));
        let text = match running {
            Some(position) => {
                session.running.remove(position);
                // A tool that does not come back in time is the producer's to notice.
                if status == ToolStatus::Timeout {
                    return;
                }
                format!("no completion may come in s{name}: the tool has not come back")
            }
            None => format!("no completion may come in s{name}: no such tool is in flight"),
        };
        let clause = if running.is_some() {
            "AAEP-A.3-1"
        } else {
            "AAEP-A.3-2"
        };
        if !astray {
            self.conformance(clause, &["AAEP-A.7.5-1", "AAEP-6.1-5", "AAEP-A.8-8"], text);
        }
    }

    // AAEP-A.3-2: what is released and completed in one call begins first.
    pub(super) fn completions_come_last(&mut self) {
        for resolution in self.duties.resolutions.clone() {
            let Resolution {
                session,
                action,
                run,
                ..
            } = resolution;
            let Some(call) = run.filter(|_| !self.duties.settled.contains(&session)) else {
                continue;
            };
            let outputs = self.outputs;
            let mut behind = outputs.iter().skip_while(|output| !output.completes(call));
            if behind.any(|output| output.begins(call)) {
                let text =
                    format!("no completion may come in s{session} before a{action} was called");
                self.conformance("AAEP-A.3-2", &["AAEP-A.7.5-1", "AAEP-A.8-8"], text);
            }
        }
    }

    pub(super) fn tools_were_completed(&mut self) {
        for owed in std::mem::take(&mut self.duties.completions) {
            if !owed.free {
                let text = format!(
                    "a tool.completed must tell of the tool that came back in s{}",
                    owed.session
                );
                self.conformance("AAEP-A.3-1", &["AAEP-A.7.4-2"], text);
            }
        }
        // AAEP-A.4-1
        if let Some(session) = self.duties.unannounced.take() {
            let text = format!("s{session} must enter awaiting_input at or before its question");
            self.conformance("AAEP-A.4-1", &["AAEP-A.7.6-2"], text);
        }
    }
}

impl super::account::Session {
    /// The call of `action` that is meant: the oldest in flight where none is named.
    fn flight_of(&self, action: u32, tool_call: Option<u32>) -> Option<usize> {
        self.running.iter().position(|running| {
            running.action == Some(action)
                && (tool_call.is_none() || running.tool_call == tool_call)
        })
    }
}

impl Account {
    /// Notes that an action was handed over to be run, for the question of this token; else for the one that asked about it last.
    pub(super) fn runs(&mut self, run: ToolCall, token: Option<u32>) {
        let ToolCall {
            session,
            action,
            tool_call: _,
            modified: _,
        } = run;
        let token = token.or_else(|| self.last_asked.get(&(session, action)).copied());
        let question = token.and_then(|token| self.questions.get_mut(&token));
        let tool = match question.and_then(Question::action_mut) {
            Some(action) => {
                action.runs += 1;
                action.tool
            }
            // Nobody was asked: no completion can be tied to it by its tool.
            None => return,
        };
        self.is_in_flight(run, tool);
    }

    /// Notes that this call is in flight, by which this tool is run.
    pub(super) fn is_in_flight(&mut self, run: ToolCall, tool: u32) {
        let ToolCall {
            session,
            action,
            tool_call,
            modified: _,
        } = run;
        if let Some(session) = self.sessions.get_mut(&session) {
            let again = (Some(action), Some(tool_call));
            session
                .running
                .retain(|running| (running.action, running.tool_call) != again);
            session.running.push(Running {
                action: Some(action),
                tool,
                tool_call: Some(tool_call),
                performed: true,
                invoked: false,
            });
        }
    }

    /// Whether a call in flight is the second of its action for one question.
    fn runs_again(&self, session: u32, tool_call: u32) -> bool {
        let running = self.sessions.get(&session).and_then(|kept| {
            let mut running = kept.running.iter();
            running.find(|running| running.performed && running.tool_call == Some(tool_call))
        });
        running
            .and_then(|running| self.last_asked(session, running.action?))
            .is_some_and(|(_, _, action)| action.runs > 1)
    }

    /// Notes that a call is not in flight any more, if it was.
    fn comes_back(&mut self, session: u32, tool_call: Option<u32>) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session
                .running
                .retain(|running| running.tool_call.is_none() || running.tool_call != tool_call);
        }
    }

    /// Notes that a tool was told to be in flight.
    fn invoked(&mut self, session: u32, tool: u32, tool_call: Option<u32>, action: Option<u32>) {
        let Some(session) = self.sessions.get_mut(&session) else {
            return;
        };
        session.implied = Some(State::CallingTool);
        let again = |running: &Running| tool_call.is_some() && running.tool_call == tool_call;
        let running = session.running.iter_mut().find(|running| {
            again(running)
                || !running.invoked
                    && running.tool == tool
                    && (tool_call.is_none() || running.tool_call == tool_call)
        });
        match running {
            Some(running) => running.invoked = true,
            None => session.running.push(Running {
                action,
                tool,
                tool_call,
                performed: false,
                invoked: true,
            }),
        }
    }
}
