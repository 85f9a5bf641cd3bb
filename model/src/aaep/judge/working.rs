//! Work around the questions: A.3 for tools that nobody is asked about, A.6 for streamed output, AAEP-A.2-3 for handoffs.
//!
//! The one thing to know: whoever is told to do such work may refuse it, and must where it is forbidden. What is done is held against what was
//! to be done only where the producer declares `work`; the account follows it all the same.

use super::account::{Phase, Session, Stream};
use super::call::{Outcome, State, ToolCall};
use super::work::{Chunk, Handed, Handoff, Invocation, Streamed, Tool};
use super::{Call, Ground, Look};
use crate::judge::Kind;

/// What the call is to come to, and what has come of it.
#[derive(Clone, Copy)]
pub(super) struct Work {
    /// The clause that forbids it, where one does.
    forbidden: Option<&'static str>,
    /// The call of the tool that was run.
    run: Option<u32>,
    /// Whether its event has come.
    told: bool,
    /// Whether the state of its session was said to change.
    moved: bool,
}

/// An output that is to be complete before its session ends.
#[derive(Clone, Copy)]
pub(super) struct Closing {
    session: u32,
    output: Option<u32>,
    /// Whether it may be left out.
    free: bool,
}

/// What is forbidden, and has to be refused.
impl Look<'_> {
    pub(super) fn ground_against_tool(&self, tool: &Tool) -> Ground {
        if let Some(clause) = self.cannot_work(tool.session) {
            return Ground::Must(clause);
        }
        // AAEP-A.7.4-1: what cannot be undone is asked about.
        if tool.irreversible {
            return Ground::Must("AAEP-A.7.4-1");
        }
        if let Some(clause) = tool.out_of_limits {
            return Ground::Must(clause);
        }
        // AAEP-A.3-1: a completion is of one call, by its id.
        let session = self.account.sessions.get(&tool.session);
        let names = |id| session.is_some_and(|session| session.tool_calls.contains(&id));
        if tool.tool_call.is_some_and(names) {
            return Ground::Must("AAEP-A.3-1");
        }
        // AAEP-6.1-1 while its question waits; AAEP-A.4-4 whatever came of it: what was asked about runs by its answer alone.
        match self.account.last_asked(tool.session, tool.action) {
            Some((_, question, _)) if question.phase == Phase::Open => Ground::Must("AAEP-6.1-1"),
            Some(_) => Ground::Must("AAEP-A.4-4"),
            None => Ground::May,
        }
    }

    pub(super) fn ground_against_output(&self, chunk: &Chunk) -> Ground {
        if let Some(clause) = self.cannot_work(chunk.session).or(chunk.out_of_limits) {
            return Ground::Must(clause);
        }
        let session = self.account.sessions.get(&chunk.session);
        let stream = session.and_then(|session| session.outputs.get(&Some(chunk.output)));
        // AAEP-A.6-3: nothing follows the last chunk. AAEP-A.6-2: behind an empty one the next would stand where it stands.
        if stream.is_some_and(|stream| stream.complete) {
            Ground::Must("AAEP-A.6-3")
        } else if chunk.chunk.characters == 0 && !chunk.complete {
            Ground::Must("AAEP-A.6-2")
        } else {
            Ground::May
        }
    }

    pub(super) fn ground_against_handoff(&self, handoff: &Handoff) -> Ground {
        if let Some(clause) = self.cannot_work(handoff.session).or(handoff.out_of_limits) {
            return Ground::Must(clause);
        }
        match self.account.sessions.get(&handoff.session) {
            // AAEP-A.2-2, AAEP-A.3-3: those have states of their own. AAEP-A.6-1: an output is completed.
            Some(session) if !session.open.is_empty() => Ground::Must("AAEP-A.2-2"),
            Some(session) if !session.running.is_empty() => Ground::Must("AAEP-A.3-3"),
            Some(session) if session.open_outputs().next().is_some() => Ground::Must("AAEP-A.6-1"),
            Some(_) | None => Ground::May,
        }
    }

    fn cannot_work(&self, session: u32) -> Option<&'static str> {
        match self.account.sessions.get(&session) {
            None => Some("AAEP-A.1-1"),
            Some(session) if session.ended => Some("AAEP-A.1-3"),
            Some(session) if session.handing_off => Some("AAEP-A.2-3"),
            Some(_) => None,
        }
    }

    // AAEP-A.2-3: a session that was handed off only ends; one whose handoffs are not judged may take it otherwise.
    pub(super) fn or_handed_off(&self, session: u32, ground: Ground) -> Ground {
        match ground {
            Ground::May | Ground::None if self.is_handing_off(session) => {
                if self.declared.work {
                    Ground::Must("AAEP-A.2-3")
                } else {
                    Ground::May
                }
            }
            Ground::Must(_) | Ground::May | Ground::None => ground,
        }
    }

    pub(super) fn is_to_work(&mut self, ground: &Ground) {
        let forbidden = match ground {
            Ground::Must(clause) if self.declared.work => Some(*clause),
            Ground::Must(_) | Ground::May | Ground::None => None,
        };
        self.duties.work = Some(Work {
            forbidden,
            run: None,
            told: false,
            moved: false,
        });
    }

    /// Whether the call is work that is forbidden in this session, so that what comes of it is named once.
    pub(super) fn is_forbidden_work(&self, name: u32) -> bool {
        self.session_of_work() == Some(name)
            && self
                .duties
                .work
                .is_some_and(|work| work.forbidden.is_some())
    }

    /// The session of the work that the call asks for.
    pub(super) fn session_of_work(&self) -> Option<u32> {
        match self.call {
            Call::Tool(tool) => Some(tool.session),
            Call::Output(chunk) => Some(chunk.session),
            Call::Handoff(handoff) => Some(handoff.session),
            Call::StartSession { .. }
            | Call::Subscribe { .. }
            | Call::Unsubscribe { .. }
            | Call::Confirm(_)
            | Call::Clarify(_)
            | Call::Deliver(_)
            | Call::Cancel { .. }
            | Call::Extend { .. }
            | Call::FinishTool { .. }
            | Call::EndSession { .. }
            | Call::Tick
            | Call::Restart { .. } => None,
        }
    }

    /// Names the clause that forbids what has come, once.
    fn is_forbidden(&mut self, session: u32, clause: &'static str, what: &str) {
        let kept = self.account.sessions.get(&session);
        if self.duties.settled.contains(&session) || kept.is_some_and(|kept| kept.astray) {
            return;
        }
        self.duties.settled.push(session);
        // Nobody was asked about what runs, or it was rejected.
        let kind = match clause {
            "AAEP-A.7.4-1" | "AAEP-6.1-1" | "AAEP-A.4-4" => Kind::Guarantee,
            _ => Kind::Conformance,
        };
        let text = format!("{what} of s{session} must be refused");
        self.finds(kind, clause, &[], text);
    }
}

/// A.3: tools that nobody is asked about.
impl Look<'_> {
    /// Whether this run is that of the tool that was to run.
    pub(super) fn tool_was_to_run(&mut self, run: ToolCall, is_over: bool) -> bool {
        let (Call::Tool(tool), Some(work)) = (self.call, &mut self.duties.work) else {
            return false;
        };
        let of_tool = (tool.session, tool.action) == (run.session, run.action);
        if !of_tool || work.run.is_some() {
            return false;
        }
        work.run = Some(run.tool_call);
        let forbidden = work.forbidden;
        self.account.is_in_flight(run, tool.tool);
        if let Some(clause) = forbidden {
            self.is_forbidden(tool.session, clause, "this tool");
        } else if is_over {
            self.is_forbidden(tool.session, "AAEP-A.1-3", "a tool after the end");
        } else if run.modified.is_some() {
            let text = format!(
                "a{} must run as it is: no reply has modified it",
                run.action
            );
            self.guarantee("AAEP-6.1-1", &["AAEP-6.3.2-3"], text);
        }
        true
    }

    /// The action of the tool that was to be invoked, where this says that it is.
    pub(super) fn tool_was_to_be_invoked(&mut self, name: u32, invoked: Invocation) -> Option<u32> {
        let (Call::Tool(tool), Some(work)) = (self.call, &mut self.duties.work) else {
            return None;
        };
        let is_it = match (work.run, invoked.tool_call) {
            (Some(run), Some(call)) => run == call,
            (None, _) | (_, None) => tool.tool == invoked.tool,
        };
        if work.told || tool.session != name || !is_it {
            return None;
        }
        work.told = true;
        match work.forbidden {
            Some(clause) => self.is_forbidden(name, clause, "this tool"),
            None => self.invocation_says_what_it_should(tool, invoked),
        }
        Some(tool.action)
    }

    // AAEP-A.7.4-1: what nobody was asked about can be undone. AAEP-EV-5: the event shows what runs.
    fn invocation_says_what_it_should(&mut self, tool: &Tool, invoked: Invocation) {
        if !self.declared.work {
            return;
        }
        let action = tool.action;
        if invoked.irreversible {
            let text = format!("a{action} must not be told as irreversible: nothing was accepted");
            return self.guarantee("AAEP-A.7.4-1", &["AAEP-A.8-8"], text);
        }
        let named = |call: u32| invoked.tool_call.is_none_or(|told| told == call);
        let fields = [
            ("tool", invoked.tool == tool.tool),
            ("tool_call_id", tool.tool_call.is_none_or(named)),
            ("args_summary", invoked.args_summary == tool.args_summary),
            ("risk_level", invoked.risk == tool.risk),
        ];
        for (field, _) in fields.iter().filter(|(_, right)| !right) {
            let text =
                format!("the tool.invoked of a{action} must show the {field} that was given");
            self.conformance("AAEP-EV-5", &[], text);
        }
    }

    // AAEP-A.3-1, AAEP-A.3-2, AAEP-A.7.5-1: a tool is invoked and run, and both are of one call.
    fn tool_ran(&mut self, tool: &Tool, work: Work) {
        let action = tool.action;
        match (work.told, work.run.is_some()) {
            (true, true) => {}
            (true, false) => {
                let text = format!("a{action} must run: a tool.invoked says so");
                self.conformance("AAEP-A.3-1", &["AAEP-A.7.4-2"], text);
            }
            (false, true) => {
                let text = format!("a tool.invoked must tell that a{action} runs");
                self.conformance("AAEP-A.3-2", &["AAEP-A.7.5-1"], text);
            }
            (false, false) => {
                let text = format!("a{action} must be invoked and to run");
                self.conformance("AAEP-A.3-1", &[], text);
            }
        }
    }
}

/// A.6: streamed output.
impl Look<'_> {
    pub(super) fn chunk_comes(&mut self, name: u32, streamed: Streamed) {
        self.output_is_written(name);
        if !self.declared.work {
            return;
        }
        let asked = self.chunk_was_asked(name, streamed);
        if self.is_forbidden_chunk(name, asked.is_some()) {
            return;
        }
        let Some(session) = self.account.sessions.get_mut(&name) else {
            return;
        };
        let stream = session.outputs.entry(streamed.output).or_default();
        let before = *stream;
        *stream = Stream {
            last: streamed.position,
            next: streamed.position.saturating_add(streamed.chunk.characters),
            complete: before.complete || streamed.complete,
        };
        if self.chunk_is_in_its_place(streamed, before) {
            self.chunk_is_as_it_should_be(name, streamed, asked);
        }
        self.duties.closings.retain(|closing| {
            !streamed.complete || (closing.session, closing.output) != (name, streamed.output)
        });
    }

    // AAEP-EV-8: output implies writing_output. AAEP-A.7.7-1: that was said before, or follows from an earlier chunk, or a tool.
    fn output_is_written(&mut self, name: u32) {
        let Some(session) = self.account.sessions.get_mut(&name) else {
            return;
        };
        let follows = session.is_in(State::WritingOutput) || session.is_in(State::CallingTool);
        let idle = session.open.is_empty() && session.running.is_empty();
        session.implied = Some(State::WritingOutput);
        if self.declared.work && self.advises && idle && !follows {
            let text = format!("s{name} had better enter writing_output before its output");
            self.conformance("AAEP-A.7.7-1", &[], text);
        }
    }

    fn chunk_was_asked(&mut self, name: u32, streamed: Streamed) -> Option<Chunk> {
        let (Call::Output(chunk), Some(work)) = (self.call, &mut self.duties.work) else {
            return None;
        };
        let is_it = (chunk.session, Some(chunk.output)) == (name, streamed.output);
        if !is_it || work.told {
            return None;
        }
        work.told = true;
        Some(chunk.clone())
    }

    fn is_forbidden_chunk(&mut self, name: u32, asked: bool) -> bool {
        let forbidden = self.duties.work.and_then(|work| work.forbidden);
        match forbidden.filter(|_| asked) {
            Some(clause) => {
                self.is_forbidden(name, clause, "this chunk");
                true
            }
            None => self.follows_handoff(name),
        }
    }

    // AAEP-A.6-3, AAEP-A.8-6: nothing follows the last chunk. AAEP-A.6-2, AAEP-A.8-7: a chunk stands where the one before it ends.
    fn chunk_is_in_its_place(&mut self, streamed: Streamed, before: Stream) -> bool {
        let output = named(streamed.output);
        if before.complete {
            let text = format!("no chunk may follow the last of {output}");
            self.conformance("AAEP-A.6-3", &["AAEP-A.8-6", "AAEP-A.8-8"], text);
            return false;
        }
        if streamed.position != before.next {
            let text = format!("the chunk of {output} must stand at {}", before.next);
            let also: &[_] = if streamed.position < before.last {
                &["AAEP-A.8-7", "AAEP-A.8-8"]
            } else {
                &[]
            };
            self.conformance("AAEP-A.6-2", also, text);
            return false;
        }
        true
    }

    // AAEP-A.6-1: the last chunk says that it is, and no other. AAEP-EV-5: a chunk is what was to be said; nothing, where a session ends.
    fn chunk_is_as_it_should_be(&mut self, name: u32, streamed: Streamed, asked: Option<Chunk>) {
        let output = named(streamed.output);
        if let Some(asked) = asked {
            if asked.complete != streamed.complete {
                let text = format!("the last chunk of {output} must be complete, and no other");
                self.conformance("AAEP-A.6-1", &[], text);
            } else if asked.chunk != streamed.chunk {
                let text = format!("the chunk of {output} must say what its call gave");
                self.conformance("AAEP-EV-5", &[], text);
            }
            return;
        }
        let mut closings = self.duties.closings.iter();
        let closes = closings.any(|it| (it.session, it.output) == (name, streamed.output));
        if closes && streamed.chunk.characters != 0 {
            let text = format!("nothing more may be said in {output} when its session ends");
            self.conformance("AAEP-EV-5", &[], text);
        }
    }

    fn chunk_came(&mut self, chunk: &Chunk, work: Work) {
        if work.told {
            return;
        }
        // AAEP-A.6-2: what comes behind it stands where it is not expected.
        let clause = if chunk.complete {
            "AAEP-A.6-1"
        } else {
            "AAEP-A.6-2"
        };
        let text = format!("a chunk of o{} must come", chunk.output);
        self.conformance(clause, &[], text);
        let Some(session) = self.account.sessions.get_mut(&chunk.session) else {
            return;
        };
        let stream = session.outputs.entry(Some(chunk.output)).or_default();
        stream.complete |= chunk.complete;
    }

    // AAEP-A.6-1: an output is complete before its session is; one that is cancelled owes nothing more, as of its tools.
    pub(super) fn end_completes_outputs(&mut self, name: u32, outcome: Outcome) {
        let Some(session) = self.account.sessions.get(&name) else {
            return;
        };
        let is_judged = self.declared.work && !session.astray;
        let free = !(is_judged && self.end_owes_completions(outcome));
        self.duties.closings = session
            .open_outputs()
            .map(|output| Closing {
                session: name,
                output,
                free,
            })
            .collect();
    }

    pub(super) fn outputs_were_completed(&mut self) {
        for Closing {
            session,
            output,
            free,
        } in std::mem::take(&mut self.duties.closings)
        {
            if !free && !self.duties.settled.contains(&session) {
                let output = named(output);
                let text = format!("{output} must be complete before the end of s{session}");
                self.conformance("AAEP-A.6-1", &[], text);
            }
        }
    }
}

fn named(output: Option<u32>) -> String {
    output.map_or_else(|| "its output".to_owned(), |output| format!("o{output}"))
}

/// AAEP-A.2-3: handoffs.
impl Look<'_> {
    pub(super) fn handoff_comes(&mut self, name: u32, handed: Handed) {
        let Some(session) = self.account.sessions.get_mut(&name) else {
            return;
        };
        let entered = session.entered;
        session.handing_off = true;
        if !self.declared.work {
            return;
        }
        let asked = if let (Call::Handoff(asked), Some(work)) = (self.call, &mut self.duties.work)
            && asked.session == name
            && !work.told
        {
            work.told = true;
            Some((asked, work.forbidden))
        } else {
            None
        };
        match asked {
            None => {
                let text = format!("s{name} must not be handed off, or not twice");
                self.conformance("AAEP-A.2-3", &[], text);
            }
            Some((_, Some(clause))) => self.is_forbidden(name, clause, "this handoff"),
            Some((asked, None)) => {
                if entered != State::HandingOff {
                    let text = format!("s{name} must enter handing_off before it is handed off");
                    self.conformance("AAEP-A.2-3", &[], text);
                }
                self.handoff_says_what_it_should(asked, handed);
            }
        }
    }

    // AAEP-EV-5
    fn handoff_says_what_it_should(&mut self, asked: &Handoff, handed: Handed) {
        let fields = [
            ("reason", asked.to.reason == handed.reason),
            ("target_kind", asked.to.target == handed.target),
            ("target_uri", asked.to.target_uri == handed.target_uri),
        ];
        for (field, _) in fields.iter().filter(|(_, right)| !right) {
            let text = format!(
                "the handoff of s{} must show the {field} that was given",
                asked.session
            );
            self.conformance("AAEP-EV-5", &[], text);
        }
    }

    fn was_handed_off(&mut self, handoff: &Handoff, work: Work) {
        if work.told {
            return;
        }
        let name = handoff.session;
        if let Some(session) = self.account.sessions.get_mut(&name) {
            session.handing_off = true;
        }
        let text = format!("a handoff.requested must hand s{name} off");
        self.conformance("AAEP-A.2-3", &[], text);
    }

    fn is_handing_off(&self, name: u32) -> bool {
        let session = self.account.sessions.get(&name);
        session.is_some_and(|session| session.handing_off)
    }

    /// Names what comes, unasked, in a session that was handed off; whether there is something to name.
    pub(super) fn follows_handoff(&mut self, name: u32) -> bool {
        let follows =
            self.declared.work && self.is_handing_off(name) && !self.duties.settled.contains(&name);
        if follows {
            self.duties.settled.push(name);
            let text = format!("s{name} was only to end: it was handed off");
            self.conformance("AAEP-A.2-3", &[], text);
        }
        follows
    }

    /// A state.changed comes: in a session that was handed off only with its end, or with what is named by itself.
    pub(super) fn state_follows_handoff(&mut self, name: u32) {
        let asked = if let Call::EndSession { session, .. } = self.call {
            Some(*session)
        } else {
            self.session_asked_in().or_else(|| self.session_of_work())
        };
        if asked != Some(name) {
            self.follows_handoff(name);
        } else if let Some(work) = &mut self.duties.work {
            work.moved = true;
        }
    }
}

/// What was left undone.
impl Look<'_> {
    pub(super) fn work_was_done(&mut self) {
        let Some(work) = self.duties.work.take() else {
            return;
        };
        let call = self.call;
        if !self.declared.work || work.forbidden.is_some() || self.duties.malformed {
            return;
        }
        if let Call::Tool(tool) = call {
            self.tool_ran(tool, work);
        } else if let Call::Output(chunk) = call {
            self.chunk_came(chunk, work);
        } else if let Call::Handoff(handoff) = call {
            self.was_handed_off(handoff, work);
        }
        if let Call::Tool(Tool { session, .. }) | Call::Output(Chunk { session, .. }) = call
            && work.moved
        {
            self.state_is_of_session(*session);
        }
    }

    // AAEP-A.2-2: awaiting_input while a question is open. AAEP-A.3-3: else calling_tool while a tool runs.
    fn state_is_of_session(&mut self, name: u32) {
        let Some(session) = self.account.sessions.get(&name) else {
            return;
        };
        if self.is_settled(name) || session.ended {
            return;
        }
        if !session.open.is_empty() {
            if !session.is_in(State::AwaitingInput) {
                let text = format!("s{name} must go on awaiting input: a question of it is open");
                self.conformance("AAEP-A.2-2", &[], text);
            }
        } else if !session.running.is_empty() && !session.is_in(State::CallingTool) {
            let text = format!("s{name} must be in calling_tool: a tool of it runs");
            self.conformance("AAEP-A.3-3", &[], text);
        }
    }
}

impl Session {
    /// Its outputs that are not complete.
    fn open_outputs(&self) -> impl Iterator<Item = Option<u32>> {
        let open = self.outputs.iter().filter(|(_, stream)| !stream.complete);
        open.map(|(&output, _)| output)
    }
}
