//! The contract of pending actions as a function: what each request obliges a ledger to.
//!
//! Read it beside the text: what an allow leads to is [`Turn::allow`]. What the page of the driver protocol leaves to the
//! ledger is usual or allowed here. What it asks for is owed.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::clause::{Clause, Clauses, Entry};
use crate::engine::fact::Fact;
use crate::engine::obligation::{Force, Obligation};
use crate::engine::protocol::{Protocol, Step};
use crate::pending_action::account::{Account, Action, Phase, Phases};
use crate::pending_action::alphabet::{
    ActionId, Body, Call, Decide, Decision, Effect, Event, Id, Lost, Message, Name, Op, Output,
    Proposal, Reason, Record, SnapshotId, Status, Text, Time, Value, What,
};
use crate::pending_action::clauses::{
    CLAUSES, PA_1, PA_2, PA_3, PA_4, PA_5, PA_6, PA_7, PA_8, PA_9, PA_10, PA_11, PA_12, PA_13,
    PA_14,
};
use crate::pending_action::readings::{
    BlankDecider, DecidersAbsent, EditedArguments, EditedDenial, ExactArguments, ExpiryAbsent,
    ExpiryBoundary, FreeText, InDoubt, LostRelease, NotRun, OrphanResult, ReadEffect, Reading,
    Rollback, SessionEnd, Settlement,
};

/// A name has so many characters at most.
pub const NAME_CHARACTERS: u32 = 256;
/// A summary has so many characters at most.
pub const SUMMARY_CHARACTERS: u32 = 4096;
/// A label has so many characters at most.
pub const LABEL_CHARACTERS: u32 = 80;
/// Arguments have so many bytes at most.
pub const ARGUMENT_BYTES: u32 = 1 << 20;
/// Arguments have so many levels at most.
pub const ARGUMENT_LEVELS: u32 = 64;

/// The contract of pending actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PendingAction;

/// What a ledger chooses of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Holes {
    /// Fields that may be absent, and reasons.
    own_words: bool,
    /// The spelling of arguments and results.
    spelling: bool,
    /// The id, though it is taken.
    any_id: bool,
    /// The time, from this one to the one that stands in the output.
    since: Option<Time>,
    /// The expiry of a proposal that names none.
    expiry: bool,
}

/// What meeting an obligation tells the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// It is as the output says: an action or a state is registered, a call is in the transcript or runs.
    Told,
    /// The action expired or was taken back, and one of two outputs is enough to tell so.
    Settled,
    /// The call is in doubt, or runs once more: one of both.
    Resumed(ActionId),
    /// The request is refused, which those clauses let the host make.
    Refused(Clauses),
}

impl Protocol for PendingAction {
    type Call = Call;
    type Output = Output;
    type Account = Account;
    type Holes = Holes;
    type Binding = Binding;
    /// Nothing stays owed beyond its call.
    type Closing = ();
    type Thing = ActionId;
    type Reading = Reading;

    const CLAUSES: &'static [Entry] = CLAUSES;

    fn call(step: &mut Step<'_, Self>, call: &Call) {
        step.account
            .actions
            .retain(|action| action.held != Phases::default());
        step.account.clock = step.account.clock.max(call.now);
        let mut turn = Turn {
            step,
            now: call.now,
        };
        turn.retell(&call.op);
        turn.expire();
        let carried_out = turn.carry_out(&call.op);
        if let Err(clauses) = carried_out {
            step.owe(clauses, Output::Refused);
        }
        step.order(&[PA_10], comes_before);
    }

    fn fill(expected: &mut Output, output: &Output, holes: Holes) {
        match (expected, output) {
            (Output::Append(expected), Output::Append(output)) => {
                holes.fill_message(expected, output);
            }
            (Output::Event(expected), Output::Event(output)) => holes.fill_event(expected, output),
            (
                Output::Perform { arguments, .. },
                Output::Perform {
                    arguments: other, ..
                },
            ) => holes.fill_value(arguments, *other),
            // The text of a snapshot is new, or that of an earlier one.
            (Output::Snapshot(expected), Output::Snapshot(output)) if output < expected => {
                *expected = *output;
            }
            (_, _) => {}
        }
    }

    fn bind(step: &mut Step<'_, Self>, binding: Binding, output: &Output) -> Result<(), Clauses> {
        let account = &mut step.account;
        match binding {
            Binding::Told => account.believe(output),
            Binding::Settled => {
                account.believe(output);
                // "by an `event`, an `append`, or both"
                if matches!(output, Output::Append(_)) {
                    step.relax(|other| {
                        matches!(other, Output::Event(_)) && other.settles() == output.settles()
                    });
                }
            }
            Binding::Resumed(id) => step.forget(|it| match *it {
                Output::InDoubt(action) | Output::Perform { action, .. } => action == id,
                Output::Append(_)
                | Output::Event(_)
                | Output::Audit
                | Output::Snapshot(_)
                | Output::Refused
                | Output::Other(_) => false,
            }),
            Binding::Refused(clauses) => return Err(clauses),
        }
        Ok(())
    }

    fn unowed(step: &mut Step<'_, Self>, output: &Output) -> Result<(), Clauses> {
        let is_run =
            |it: &Output| matches!(it, Output::Perform { .. }) && it.action() == output.action();
        let action = output.action().and_then(|id| step.account.action(id));
        let seen = action.map_or(Phase::Absent, |it| it.seen);
        // It is open until it expires.
        let is_early = |seen| seen == Phase::Pending && action.is_some_and(|it| !is_over(step, it));
        let clauses: Clauses = match output {
            Output::Perform { .. } if step.open.iter().any(|it| is_run(&it.output)) => &[PA_3],
            Output::Perform { .. } => match seen {
                // By another reading it need not be asked about.
                Phase::Pending if action.is_some_and(|it| it.only_reads) => &[PA_1, PA_13],
                Phase::Absent | Phase::Pending => &[PA_1],
                Phase::Denied => &[PA_5],
                Phase::Expired => &[PA_7],
                Phase::Released | Phase::Finished => &[PA_8],
            },
            // "No `event_id`, `message_id` … twice": what is told, is told once and apart.
            Output::Append(Message {
                id: Id::Again | Id::Taken,
                ..
            })
            | Output::Event(Event {
                id: Id::Again | Id::Taken,
                ..
            })
            | Output::InDoubt(_) => &[PA_10],
            Output::Event(Event { what, .. }) => match what {
                What::Created(_)
                    if step.open.iter().any(|it| {
                        matches!(
                            it.output,
                            Output::Event(Event {
                                what: What::Created(_),
                                ..
                            })
                        )
                    }) =>
                {
                    &[PA_1]
                }
                What::Created(_) => &[PA_14, PA_10],
                What::Expired if is_early(seen) => &[PA_7],
                What::Decided { .. }
                | What::Denied { .. }
                | What::Executed { .. }
                | What::NotRun
                | What::Expired
                | What::Cancelled { .. } => &[PA_10],
            },
            Output::Append(Message { body, .. }) => match body {
                // "user-facing summary/prompt": what is shown is what was proposed.
                Body::ConfirmationRequest { .. } => &[PA_9, PA_1],
                Body::ToolCall { .. } | Body::ToolResult { .. } => &[PA_4, PA_10],
                Body::DeniedResult { .. } => &[PA_6],
                Body::ExpiredResult { .. } if is_early(seen) => &[PA_7],
                Body::ExpiredResult { .. } | Body::CancelledResult { .. } => &[PA_10],
                Body::UserMessage { .. } => &[PA_11, PA_10],
            },
            // "None is required or wrong."
            Output::Audit => return Ok(()),
            // What the contract lets a host do is done, and nothing beyond it.
            Output::Snapshot(_) | Output::Refused | Output::Other(_) => &[PA_12],
        };
        step.account.believe(output);
        // Each of them forbids it: without any of them it is free.
        if clauses.iter().all(|it| step.enforces(*it)) {
            Err(clauses)
        } else {
            Ok(())
        }
    }

    fn thing(output: &Output) -> Option<ActionId> {
        output.action()
    }

    fn kind(output: &Output) -> u8 {
        match output {
            Output::Append(_) => 0,
            Output::Event(_) => 1,
            Output::Perform { .. } => 2,
            Output::InDoubt(_) => 3,
            Output::Audit => 4,
            Output::Snapshot(_) => 5,
            Output::Refused => 6,
            Output::Other(_) => 7,
        }
    }

    fn gravity(output: &Output) -> u8 {
        match output {
            Output::Perform { .. } => 0,
            Output::Event(_) | Output::InDoubt(_) => 1,
            Output::Append(_) => 2,
            Output::Audit | Output::Snapshot(_) | Output::Refused | Output::Other(_) => 3,
        }
    }
}

/// Whether it is too late for an action.
fn is_over(step: &Step<'_, PendingAction>, action: &Action) -> bool {
    let clock = step.account.clock;
    let is_over_at = step.variant.reading.expiry_boundary == ExpiryBoundary::At;
    action
        .expires_at
        .is_some_and(|time| time < clock || time == clock && is_over_at)
}

/// One request under way.
struct Turn<'t, 'v> {
    step: &'t mut Step<'v, PendingAction>,
    now: Time,
}

impl Turn<'_, '_> {
    /// "The lost outputs that tell something, byte for byte."
    fn retell(&mut self, op: &Op) {
        let Op::Restart(Lost::Outputs(lost)) = op else {
            return;
        };
        // "No other comes again."
        for retold in lost.iter().filter_map(|it| it.with_id(Id::Again)) {
            // Without the clause that says so, each may come twice.
            if !self.step.enforces(PA_10) {
                self.step.allow(&[], retold.clone());
            }
            self.step.owe(&[PA_10], retold);
        }
    }

    /// "Before an op, everything happens that has fallen due by `now`." PA-7: what has expired is no longer pending.
    fn expire(&mut self) {
        for id in self.step.account.holding(Phase::Pending) {
            if self.action(id).is_some_and(|it| is_over(self.step, &it)) {
                self.settle(id, Phase::Expired, PA_7, None);
            }
        }
    }

    fn carry_out(&mut self, op: &Op) -> Result<(), Clauses> {
        match op {
            Op::Propose(proposal) => self.propose(proposal),
            Op::Decide(decide) => self.decide(decide),
            Op::Say { by, text } => self.say(*by, *text),
            Op::FinishTool {
                action,
                status,
                result,
            } => self.finish_tool(*action, *status, *result),
            Op::Cancel(action) => self.cancel(*action),
            Op::EndSession(session) => self.end_session(*session),
            Op::Snapshot => {
                self.offer(PA_12.alone())?;
                let id = self.step.account.next_snapshot();
                self.step
                    .owe(&[PA_12], Output::Snapshot(id))
                    .bind(Binding::Told);
                Ok(())
            }
            Op::Rollback(snapshot) => self.roll_back(*snapshot),
            Op::Tick => Ok(()),
            Op::Restart(Lost::TooMany) => Err(&[PA_12]),
            Op::Restart(Lost::Outputs(lost)) => {
                self.resume(lost);
                Ok(())
            }
        }
    }

    // ── What is proposed (PA-1, PA-14) ──

    fn propose(&mut self, proposal: &Proposal) -> Result<(), Clauses> {
        self.offer(PA_1.alone())?;
        let Proposal {
            agent,
            session,
            run,
            tool,
            arguments,
            effect,
            summary,
            label,
            ..
        } = *proposal;
        self.check(
            PA_1,
            [agent, session, run, tool]
                .iter()
                .all(|it| it.is_at_most(NAME_CHARACTERS)),
        )?;
        self.check(
            PA_1,
            arguments.size <= ARGUMENT_BYTES && arguments.levels <= ARGUMENT_LEVELS,
        )?;
        self.check(PA_1, summary.is_at_most(SUMMARY_CHARACTERS))?;
        // "exact arguments": text that has no one meaning is not exact.
        self.check(PA_3, arguments.value.meaning.is_some())?;
        // PA-9: the label is short.
        self.check_each(
            &[PA_9, PA_1],
            label.is_at_most(LABEL_CHARACTERS) && !label.has_line_break,
        )?;
        // PA-13: the effect is one of those that the contract has.
        self.check_each(&[PA_13, PA_1], !matches!(effect, Effect::Other(_)))?;
        self.check_each(
            &[PA_2, PA_1],
            proposal
                .deciders
                .as_ref()
                .is_none_or(|names| can_decide(names)),
        )?;
        self.must_go_on(session.name)?;
        self.check(
            PA_1,
            proposal.expires_at.is_some() || self.reading().expiry_absent != ExpiryAbsent::Refused,
        )?;
        // "`expires_at` is later than the greatest `now`: otherwise the proposal is refused, or recorded and told as expired
        // with the next request", "whether or not a decision at that very time would count"
        let clock = self.step.account.clock;
        if proposal.expires_at.is_some_and(|time| time <= clock) && self.step.choose(2) == 0 {
            self.check(PA_7, false)?;
        }
        let is_open_end = proposal.expires_at.is_none();
        let own_expiry = (is_open_end && self.reading().expiry_absent == ExpiryAbsent::After)
            .then(|| self.step.account.clock.saturating_add(1));
        let record = Record {
            nonce: Some(self.step.account.nonces),
            agent: agent.name,
            session: session.name,
            run: run.name,
            tool: tool.name,
            arguments: arguments.value,
            effect,
            summary: summary.name,
            label: label.name,
            expires_at: proposal.expires_at.or(own_expiry),
            deciders: proposal
                .deciders
                .as_ref()
                .map(|names| names.iter().map(|it| it.name).collect()),
            idempotent: proposal.idempotent,
        };
        let id = self.step.account.next_action();
        self.step.account.actions.push(Action::new(&record));
        let request = Body::ConfirmationRequest {
            text: summary.name,
            label: label.name,
        };
        self.append(&[PA_9], Force::Usual, session.name, request);
        let mut holes = self.holes();
        holes.expiry = own_expiry.is_some();
        self.event(&[PA_1], id, What::Created(record.into()))
            .any(holes)
            .bind(Binding::Told);
        // PA-14: a call that only reads need not be asked about.
        if effect == Effect::Read && self.reading().read_effect == ReadEffect::Runs {
            self.release(id, None, arguments.value);
        }
        // PA-1: what waits is not run.
        self.run_against(PA_1, id);
        Ok(())
    }

    // ── The decision (PA-2) ──

    fn decide(&mut self, decide: &Decide) -> Result<(), Clauses> {
        self.offer(&[PA_2, PA_1])?;
        // Nothing is said of names that nobody can have.
        if decide.by.characters > NAME_CHARACTERS && self.step.choose(2) == 1 {
            return self.check(PA_2, false);
        }
        let is_allowed = match decide.decision {
            Decision::Allow => true,
            Decision::Deny => false,
            Decision::Other(_) => return self.check(PA_2, false),
        };
        // PA-1 left out: what was paused need not go on. PA-2 left out: nor by a structured decision. An allow may then
        // resolve as a deny.
        let ways = if self.step.enforces(PA_1) && self.step.enforces(PA_2) {
            1
        } else {
            2 + u8::from(is_allowed)
        };
        let way = self.step.choose(ways);
        if way == 1 {
            return Ok(());
        }
        let allows = is_allowed && way == 0;
        // A decision that does not count is audited at most: nothing else happens.
        if self.counts(decide, allows).is_ok() {
            if allows {
                self.allow(decide);
            } else {
                self.deny(decide);
            }
        }
        Ok(())
    }

    /// "… the id, the nonce, the decider, whether the action is pending, the arguments."
    fn counts(&mut self, decide: &Decide, is_allowed: bool) -> Result<(), Clauses> {
        let (action, phase) = self.recall(decide.action, Phase::Pending)?;
        match (decide.nonce, action.nonce) {
            (None, _) => {}
            (Some(shown), Some(nonce)) => self.check(PA_1, shown == nonce)?,
            // A ledger without nonces may ignore the field, or take what it never put out for wrong.
            (Some(_), None) if self.step.choose(2) == 0 => {}
            (Some(_), None) => return Err(&[PA_1]),
        }
        let is_somebody =
            !decide.by.is_blank || self.reading().blank_decider == BlankDecider::Somebody;
        let may_decide = match &action.deciders {
            Some(names) => names.contains(&decide.by.name),
            None => match self.reading().deciders_absent {
                DecidersAbsent::Anyone => decide.by.name != action.agent,
                DecidersAbsent::Nobody => false,
                DecidersAbsent::TheAgentToo => true,
            },
        };
        // PA-1: what somebody else decides has not been paused for the decision.
        self.check_each(&[PA_2, PA_1], is_somebody && may_decide)?;
        // PA-5, PA-7, PA-8: what is denied, cancelled, expired or resolved does not run.
        match phase {
            Phase::Expired => self.check(PA_7, false)?,
            Phase::Denied if is_allowed => self.check_each(&[PA_8, PA_5], false)?,
            Phase::Absent | Phase::Released | Phase::Finished | Phase::Denied => {
                self.check(PA_8, false)?;
            }
            Phase::Pending => {}
        }
        // PA-3: the arguments are those of the proposal.
        let is_same = decide
            .arguments
            .is_none_or(|it| it.meaning.is_some() && it.meaning == action.arguments.meaning);
        let (clause, must_match) = if is_allowed {
            (
                PA_3,
                self.reading().edited_arguments == EditedArguments::DoesNotCount,
            )
        } else {
            (
                PA_5,
                self.reading().edited_denial == EditedDenial::DoesNotCount,
            )
        };
        self.check(clause, is_same || !must_match)
    }

    /// PA-3, PA-4: the call runs as it was proposed, and the transcript has it and its result.
    fn allow(&mut self, decide: &Decide) {
        let Some(Action { arguments, .. }) = self.action(decide.action) else {
            return;
        };
        // PA-3 left out: what the client sent along runs.
        let original = if self.step.enforces(PA_3) {
            None
        } else {
            decide.arguments
        };
        self.step.account.becomes(decide.action, Phase::Released);
        self.release(
            decide.action,
            Some(decide.by.name),
            original.unwrap_or(arguments),
        );
    }

    /// Its call is told as decided, appended, and run with those arguments.
    fn release(&mut self, id: ActionId, by: Option<Name>, runs: Value) {
        let Some(Action {
            session,
            tool,
            arguments,
            ..
        }) = self.action(id)
        else {
            return;
        };
        let decision = Decision::Allow;
        self.event(&[PA_10], id, What::Decided { decision, by })
            .bind(Binding::Told);
        let call = Body::ToolCall {
            action: id,
            tool,
            arguments,
        };
        self.append(&[PA_4], Force::Due, session, call)
            .bind(Binding::Told);
        self.run(&[PA_3], Force::Due, id, runs).bind(Binding::Told);
    }

    /// PA-6: the transcript has the result of a denial.
    fn deny(&mut self, decide: &Decide) {
        let Some(action) = self.action(decide.action) else {
            return;
        };
        let by = decide.by.name;
        self.step.account.becomes(decide.action, Phase::Denied);
        self.event(
            &[PA_10],
            decide.action,
            What::Decided {
                decision: Decision::Deny,
                by: Some(by),
            },
        );
        let result = Body::DeniedResult {
            action: decide.action,
            tool: action.tool,
            by,
        };
        self.append(&[PA_6], Force::Due, action.session, result);
        self.event(&[PA_10], decide.action, What::Denied { by: Some(by) });
        // PA-5: it does not run.
        self.run_against(PA_5, decide.action);
    }

    /// PA-11: free text decides nothing.
    fn say(&mut self, by: Text, text: Text) -> Result<(), Clauses> {
        self.offer(PA_11.alone())?;
        // Nothing is said of blank or long texts.
        let is_text = by.is_at_most(NAME_CHARACTERS) && text.is_at_most(u32::MAX);
        if !is_text && self.step.choose(2) == 1 {
            return self.check(PA_11, false);
        }
        let body = Body::UserMessage {
            by: by.name,
            text: text.name,
        };
        let (message, holes) = (
            Output::Append(Message {
                id: Id::Fresh,
                session: None,
                body,
            }),
            self.holes(),
        );
        self.step.owe(&[PA_11], message).any(holes);
        let pending = self.step.account.holding(Phase::Pending);
        if self.reading().free_text == FreeText::CancelsThem {
            for id in pending {
                self.settle(id, Phase::Denied, PA_11, None);
            }
        } else if !self.step.enforces(PA_1) || !self.step.enforces(PA_2) {
            // A transcript text resolves an action, and its call is not paused for a decision.
            let which = usize::from(self.step.choose(count(pending.len() + 1)));
            if let Some(id) = which.checked_sub(1).and_then(|it| pending.get(it)) {
                self.allow(&Decide {
                    action: *id,
                    nonce: None,
                    decision: Decision::Allow,
                    by,
                    arguments: None,
                });
            }
        }
        Ok(())
    }

    // ── What is told of a run (PA-10) ──

    fn finish_tool(
        &mut self,
        id: ActionId,
        status: Status,
        result: Option<Value>,
    ) -> Result<(), Clauses> {
        self.offer(&[PA_4, PA_10])?;
        self.check(PA_10, !matches!(status, Status::Other(_)))?;
        let (action, phase) = self.recall(id, Phase::Released)?;
        self.check(PA_8, phase != Phase::Finished)?;
        self.check(PA_10, phase.has_run())?;
        self.step.account.becomes(id, Phase::Finished);
        // "a result is appended only for a call that was appended"
        if action.is_appended || self.reading().orphan_result == OrphanResult::Appended {
            let result = result.unwrap_or(Value::EMPTY);
            let body = Body::ToolResult {
                action: id,
                tool: action.tool,
                status,
                result,
            };
            self.append(&[PA_4], Force::Due, action.session, body);
        }
        let what = match (status, self.reading().not_run) {
            (Status::NotRun, NotRun::AsItself) => What::NotRun,
            (_, _) => What::Executed { status, result },
        };
        self.event(&[PA_10], id, what);
        Ok(())
    }

    // ── The end of a session (PA-5) ──

    fn cancel(&mut self, id: ActionId) -> Result<(), Clauses> {
        self.offer(PA_5.alone())?;
        let (_, phase) = self.recall(id, Phase::Pending)?;
        self.check(PA_8, phase == Phase::Pending)?;
        self.settle(id, Phase::Denied, PA_5, Some(Reason::Requested));
        self.run_against(PA_5, id);
        Ok(())
    }

    fn end_session(&mut self, session: Text) -> Result<(), Clauses> {
        self.offer(PA_5.alone())?;
        // Nothing is said of names that no session can have.
        if !session.is_at_most(NAME_CHARACTERS) && self.step.choose(2) == 1 {
            return self.check(PA_5, false);
        }
        self.must_go_on(session.name)?;
        self.step.account.set_ended(session.name, Fact::Yes);
        for id in self.step.account.holding(Phase::Pending) {
            let is_its_own = self
                .step
                .account
                .action(id)
                .is_some_and(|it| it.session == session.name);
            if is_its_own && self.reading().session_end == SessionEnd::Cancelled {
                self.settle(id, Phase::Denied, PA_5, Some(Reason::SessionEnded));
                self.run_against(PA_5, id);
            }
        }
        Ok(())
    }

    // ── Rollback and restart (PA-8) ──

    /// "The host hands back an older state: nothing that was resolved since is pending again."
    fn roll_back(&mut self, id: SnapshotId) -> Result<(), Clauses> {
        self.offer(PA_12.alone())?;
        let account = &self.step.account;
        let now = account.snapshot(id);
        let saved: SmallVec<[_; 2]> = account
            .snapshots
            .iter()
            .filter(|it| it.id == id)
            .cloned()
            .collect();
        self.check(PA_8, !saved.is_empty())?;
        let is_older = saved
            .iter()
            .any(|it| it.held != now.held || it.ended != now.ended);
        if is_older && self.step.choose(2) == 1 {
            return Err(&[PA_8]);
        }
        let is_the_hosts = self.reading().rollback == Rollback::TheHosts;
        let is_left_out = !self.step.enforces(PA_8);
        for (place, action) in self.step.account.actions.iter_mut().enumerate() {
            let older = saved
                .iter()
                .map(|it| it.held.get(place).copied().unwrap_or(Phase::Absent.into()));
            for phase in older.flat_map(|it| it.iter().collect::<SmallVec<[_; 2]>>()) {
                // "Nothing that ran may run again", whoever should have remembered.
                let runs_again = phase == Phase::Pending && action.seen.has_run();
                if phase == Phase::Absent || is_left_out || is_the_hosts && !runs_again {
                    action.held.add(phase);
                }
            }
        }
        for it in &mut self.step.account.ended {
            if !saved.iter().all(|old| old.ended.contains(it)) {
                it.1 = Fact::Perhaps;
            }
        }
        if let (true, Some(old)) = (is_the_hosts, saved.first())
            && self.step.choose(2) == 1
        {
            self.step.account.clock = old.clock.max(self.now);
        }
        Ok(())
    }

    /// "`in_doubt` for each action that was released before the crash and is not recorded as done"
    fn resume(&mut self, lost: &[Output]) {
        for id in self.step.account.holding(Phase::Released) {
            let Some(action) = self.action(id) else {
                continue;
            };
            let was_lost = lost
                .iter()
                .any(|it| matches!(it, Output::Perform { .. }) && it.action() == Some(id));
            if was_lost && self.reading().lost_release == LostRelease::Runs
                || self.reading().in_doubt == InDoubt::RunsAgain
            {
                self.run(&[PA_3], Force::Due, id, action.arguments);
                continue;
            }
            // "may be performed again, as proposed, instead of its `in_doubt`, unless its session has ended"
            // An older state undoes no end that the world has seen. What its ledger forgets, the host may have to remember.
            let is_known = self.step.account.has_ended(action.session) == Fact::Yes;
            let mut ended = self.step.account.ended.iter();
            let has_ended = is_known
                || self.reading().rollback != Rollback::TheHosts
                    && ended.any(|it| it.0 == action.session);
            if action.idempotent && !has_ended || !self.step.enforces(PA_8) {
                self.run(&[PA_8], Force::Allowed, id, action.arguments)
                    .bind(Binding::Resumed(id));
            }
            let force = if action.held == Phase::Released.into() {
                Force::Due
            } else {
                Force::Allowed
            };
            self.step
                .add(&[PA_10], Output::InDoubt(id), force)
                .bind(Binding::Resumed(id));
        }
    }

    /// It expires or is taken back, by that clause.
    /// "… is told by an `event`, an `append`, or both, each time as you choose."
    fn settle(&mut self, id: ActionId, phase: Phase, clause: Clause, reason: Option<Reason>) {
        let Some(action) = self.action(id) else {
            return;
        };
        let is_certain = action.held == Phase::Pending.into() && self.step.enforces(clause);
        let tool = action.tool;
        let (body, what) = if phase == Phase::Expired {
            (Body::ExpiredResult { action: id, tool }, What::Expired)
        } else {
            (
                Body::CancelledResult {
                    action: id,
                    tool,
                    reason,
                },
                What::Cancelled { reason },
            )
        };
        if self.step.enforces(clause)
            && let Some(action) = self.step.account.action_mut(id)
        {
            action.held.remove(Phase::Pending);
            action.held.add(phase);
            if action.seen == Phase::Pending {
                action.seen = phase;
            }
        }
        let may = if is_certain {
            Force::Usual
        } else {
            Force::Allowed
        };
        let must = if is_certain && self.reading().settlement == Settlement::IsTold {
            Force::Due
        } else {
            may
        };
        let mut holes = self.holes();
        if phase == Phase::Expired {
            holes.since = action.expires_at;
        }
        for (output, force) in [
            (Self::message(action.session, body), may),
            (self.what(id, what), must),
        ] {
            self.step
                .add(&[PA_10], output, force)
                .any(holes)
                .bind(Binding::Settled);
        }
    }

    fn check(&self, clause: Clause, holds: bool) -> Result<(), Clauses> {
        self.check_each(clause.alone(), holds)
    }

    /// Each of these clauses asks for it: without any of them it need not hold.
    fn check_each(&self, clauses: Clauses, holds: bool) -> Result<(), Clauses> {
        if holds || !self.enforces_each(clauses) {
            Ok(())
        } else {
            Err(clauses)
        }
    }

    fn enforces_each(&self, clauses: Clauses) -> bool {
        clauses.iter().all(|it| self.step.enforces(*it))
    }

    /// The host can ask for this, unless a clause that says so is left out.
    fn offer(&mut self, clauses: Clauses) -> Result<(), Clauses> {
        if self.enforces_each(clauses) {
            self.step
                .allow(&[], Output::Refused)
                .bind(Binding::Refused(clauses));
        } else if self.step.choose(2) == 1 {
            return Err(&[]);
        }
        Ok(())
    }

    fn reading(&self) -> Reading {
        self.step.variant.reading
    }

    fn action(&self, id: ActionId) -> Option<Action> {
        self.step.account.action(id).cloned()
    }

    /// "A session ends once", and is asked for no more. A rollback may have brought it back.
    fn must_go_on(&mut self, session: Name) -> Result<(), Clauses> {
        let is_known = self.step.account.has_ended(session);
        let has_ended = self.step.holds(is_known, true);
        if is_known == Fact::Perhaps {
            self.step.account.set_ended(session, has_ended.into());
        }
        self.check(PA_5, !has_ended)
    }

    /// An action by its id, in the phase in which the request counts, or in another. A rollback may have brought both back:
    /// either way is gone. What a request that does not count leaves open stays open.
    fn recall(&mut self, id: ActionId, counts: Phase) -> Result<(Action, Phase), Clauses> {
        let action = self.action(id).ok_or(PA_1.alone())?;
        let mut others = action.held;
        others.remove(counts);
        let mut ways: SmallVec<[Phases; 2]> = [counts.into(), others]
            .into_iter()
            .filter(|it| it.iter().any(|phase| action.held.contains(phase)))
            .collect();
        ways.sort_by_key(|it| !it.contains(action.seen));
        let which = if ways.len() > 1 {
            self.step.choose(2)
        } else {
            0
        };
        let held = ways.get(usize::from(which)).copied().unwrap_or_default();
        let phase = if held.contains(action.seen) {
            action.seen
        } else {
            held.iter().next().unwrap_or(Phase::Absent)
        };
        if let Some(action) = self.step.account.action_mut(id) {
            action.held = held;
        }
        if phase == Phase::Absent {
            Err(&[PA_1])
        } else {
            Ok((action, phase))
        }
    }

    /// What a ledger chooses of every output that is new.
    fn holes(&self) -> Holes {
        Holes {
            own_words: true,
            spelling: self.reading().exact_arguments == ExactArguments::SameMeaning,
            any_id: !self.step.enforces(PA_10),
            since: Some(self.now.min(self.step.account.clock)),
            expiry: false,
        }
    }

    fn message(session: Name, body: Body) -> Output {
        Output::Append(Message {
            id: Id::Fresh,
            session: Some(session),
            body,
        })
    }

    fn what(&self, action: ActionId, what: What) -> Output {
        Output::Event(Event {
            id: Id::Fresh,
            action,
            at: self.step.account.clock,
            what,
        })
    }

    fn append(
        &mut self,
        by: Clauses,
        force: Force,
        session: Name,
        body: Body,
    ) -> &mut Obligation<PendingAction> {
        let (message, holes) = (Self::message(session, body), self.holes());
        self.step.add(by, message, force).any(holes)
    }

    fn event(
        &mut self,
        clauses: Clauses,
        action: ActionId,
        what: What,
    ) -> &mut Obligation<PendingAction> {
        let (event, holes) = (self.what(action, what), self.holes());
        self.step.owe(clauses, event).any(holes)
    }

    fn run(
        &mut self,
        by: Clauses,
        force: Force,
        action: ActionId,
        arguments: Value,
    ) -> &mut Obligation<PendingAction> {
        let tool = self.action(action).map_or(0, |it| it.tool);
        let holes = self.holes();
        self.step
            .add(
                by,
                Output::Perform {
                    action,
                    tool,
                    arguments,
                },
                force,
            )
            .any(holes)
    }

    /// What the clause forbids, where it is left out: the call runs.
    fn run_against(&mut self, clause: Clause, id: ActionId) {
        if let Some(action) = self.action(id).filter(|_| !self.step.enforces(clause)) {
            self.run(&[], Force::Allowed, id, action.arguments)
                .bind(Binding::Told);
        }
    }
}

impl Text {
    /// Whether it shows something, and not too much.
    fn is_at_most(self, characters: u32) -> bool {
        !self.is_blank && (1..=characters).contains(&self.characters)
    }
}

/// So many options; beyond 255 the others are not tried.
fn count(options: usize) -> u8 {
    u8::try_from(options).unwrap_or(u8::MAX)
}

/// "`deciders` are different names, one at least."
fn can_decide(names: &[Text]) -> bool {
    let is_first =
        |place: usize, name: Name| names.iter().position(|it| it.name == name) == Some(place);
    let are_names = names
        .iter()
        .enumerate()
        .all(|(place, it)| it.is_at_most(NAME_CHARACTERS) && is_first(place, it.name));
    are_names && !names.is_empty()
}

/// Whether one output stands before the other wherever both are owed in one call.
fn comes_before(account: &Account, earlier: &Output, later: &Output) -> bool {
    // "What is due comes first", "in the order in which it fell due", and behind a restart what was lost before it.
    let rank = |output: &Output| match output {
        Output::Append(Message { id: Id::Again, .. })
        | Output::Event(Event { id: Id::Again, .. }) => (0, None),
        Output::Append(_)
        | Output::Event(_)
        | Output::Perform { .. }
        | Output::InDoubt(_)
        | Output::Audit
        | Output::Snapshot(_)
        | Output::Refused
        | Output::Other(_) => match output.settles() {
            Some((id, Phase::Expired)) => (1, account.action(id).and_then(|it| it.expires_at)),
            Some(_) | None => (2, None),
        },
    };
    if rank(earlier) != rank(later) {
        return rank(earlier) < rank(later);
    }
    let is_same = earlier.action() == later.action();
    match (earlier, later) {
        // "An `append` stands before the `event` that tells the same."
        (Output::Append(Message { body, .. }), Output::Event(Event { what, .. })) => match body {
            Body::ConfirmationRequest { .. } => matches!(what, What::Created(_)),
            Body::ToolResult { .. } => {
                is_same && matches!(what, What::Executed { .. } | What::NotRun)
            }
            Body::DeniedResult { .. } => is_same && matches!(what, What::Denied { .. }),
            Body::ExpiredResult { .. } => is_same && *what == What::Expired,
            Body::CancelledResult { .. } => is_same && matches!(what, What::Cancelled { .. }),
            Body::ToolCall { .. } | Body::UserMessage { .. } => false,
        },
        // "`denied_result` and `tool_call` stand behind the event `decided`", and `denied` does.
        (
            Output::Event(Event {
                what: What::Decided { .. },
                ..
            }),
            Output::Append(_) | Output::Event(_),
        ) => is_same && earlier != later && !later.is_creation(),
        // "`created`, then `decided`"
        (Output::Event(_), Output::Event(_)) => {
            is_same && earlier.is_creation() && earlier != later
        }
        // "`perform` is last."
        (Output::Append(_) | Output::Event(_), Output::Perform { .. }) => is_same,
        (_, _) => false,
    }
}

impl Output {
    fn is_creation(&self) -> bool {
        matches!(self, Self::Event(it) if matches!(it.what, What::Created(_)))
    }
}

impl Holes {
    fn fill_message(self, expected: &mut Message, output: &Message) {
        if self.any_id {
            expected.id = output.id;
        }
        self.fill_optional(&mut expected.session, output.session);
        match (&mut expected.body, &output.body) {
            // What is said is of no session that the ledger was told.
            (Body::UserMessage { .. }, Body::UserMessage { .. }) if self.own_words => {
                expected.session = output.session;
            }
            (Body::CancelledResult { reason, .. }, Body::CancelledResult { reason: other, .. })
                if self.own_words =>
            {
                *reason = *other;
            }
            (
                Body::ToolCall {
                    arguments: value, ..
                },
                Body::ToolCall {
                    arguments: other, ..
                },
            )
            | (Body::ToolResult { result: value, .. }, Body::ToolResult { result: other, .. }) => {
                self.fill_value(value, *other);
            }
            (_, _) => {}
        }
    }

    fn fill_event(self, expected: &mut Event, output: &Event) {
        if self.any_id {
            expected.id = output.id;
        }
        if self
            .since
            .is_some_and(|since| (since..=expected.at).contains(&output.at))
        {
            expected.at = output.at;
        }
        match (&mut expected.what, &output.what) {
            (What::Created(record), What::Created(other)) => {
                let record = Arc::make_mut(record);
                let is_later = |it: &Time| *it > expected.at;
                if self.expiry && other.expires_at.as_ref().is_some_and(is_later) {
                    record.expires_at = other.expires_at;
                }
                self.fill_value(&mut record.arguments, other.arguments);
                self.fill_optional(&mut record.nonce, other.nonce);
            }
            (What::Decided { by, .. }, What::Decided { by: other, .. })
            | (What::Denied { by }, What::Denied { by: other }) => {
                self.fill_optional(by, *other);
            }
            (What::Executed { result, .. }, What::Executed { result: other, .. }) => {
                if let (Some(value), Some(other)) = (&mut *result, other) {
                    self.fill_value(value, *other);
                }
                self.fill_optional(result, *other);
            }
            (What::Cancelled { reason }, What::Cancelled { reason: other }) if self.own_words => {
                *reason = *other;
            }
            (_, _) => {}
        }
    }

    /// "Arguments, parameters and results that you put out mean the same …; their spelling is yours."
    fn fill_value(self, expected: &mut Value, output: Value) {
        if self.spelling && expected.meaning == output.meaning {
            *expected = output;
        }
    }

    /// A field that may be absent is absent, or right.
    fn fill_optional<T>(self, expected: &mut Option<T>, output: Option<T>) {
        if self.own_words && output.is_none() {
            *expected = output;
        }
    }
}
