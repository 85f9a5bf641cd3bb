//! What the contract of pending actions is good for: statements about what was seen, and nothing else. No word of the spec
//! is used. What is true follows from the calls alone: who decided, and when. What was put out is compared with it.
//!
//! [`History`] holds what a later call is compared with. Of an action that is over it holds only how it ended.

use std::mem::discriminant;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::model::{guarantees, witnesses};
use crate::pending_action::alphabet::{
    ActionId, Body, Call, Decide, Decision, Effect, Event, Id, Lost, Message, Name, Nonce, Op,
    Output, Proposal, Reason, Record, SnapshotId, Status, Text, Time, Value, What,
};

guarantees! {
    Unallowed "PA-1, PA-13" "nothing with an effect runs that nobody allowed";
    RunsAgain "PA-8" "nothing runs again, but for an idempotent call in doubt";
    DeniedRuns "PA-5, PA-8" "nothing runs that was denied";
    ExpiredRuns "PA-7" "nothing runs that has expired";
    TakenBackRuns "PA-5" "nothing runs that was taken back, or whose session ended first";
    RollbackRuns "PA-8" "a rollback makes nothing run again, and nothing that is over";
    OtherRuns "PA-3" "what runs is what was proposed";
    OtherRecord "PA-1" "what is recorded is what was proposed";
    OtherPrompt "PA-9" "what is shown is the summary and the label that were proposed";
    Unfit "PA-1, PA-12" "what is recorded can be read, decided and run, and its session is not over";
    NotAsked "PA-1, PA-13" "what can be asked is asked";
    Forged "PA-2" "a stranger, the agent itself, a forged nonce, other arguments or a guess changes nothing";
    FreeText "PA-11" "free text decides nothing";
    NotHeard "PA-2" "who may decide, take back, end or report is heard";
    NotRun "PA-3" "what was allowed runs, and is in doubt or runs again behind a crash";
    NotTold "PA-10" "created, decided, denied and executed are told";
    EndNotTold "PA-5, PA-7, PA-10" "a question that expires or is taken back does not vanish";
    Untrue "PA-10" "nothing is told that has not happened, or of another";
    ToldTwice "PA-10" "nothing is told twice";
    Disorder "PA-10" "a decision is told before what comes of it";
    Transcript "PA-4" "the transcript has the call that was allowed and its result";
    DenialAppended "PA-6" "the transcript has the denial";
    IdTwice "PA-1" "no id or nonce is given twice";
    Lost "PA-10" "nothing that was told is lost in a crash";
}

witnesses! {
    "a call runs and succeeds" |it| it.has_just(Turn::Finished(Status::Success, Value::EMPTY));
    "a call runs and fails" |it| it.has_just(Turn::Finished(Status::Error, Value::EMPTY));
    "a released call did not run" |it| it.has_just(Turn::Finished(Status::NotRun, Value::EMPTY));
    "a question is denied" |it| it.ends(&Stage::Denied);
    "a question expires" |it| it.ends(&Stage::Expired);
    "a question is taken back" |it| it.ends(&Stage::TakenBack);
    "a question ends with its session" |it| it.has_just(Turn::TakenBack(Reason::SessionEnded));
    "two calls are under way" |it| it.actions.len() == 2 && it.released().count() == 2;
    "one is denied, the other runs" |it| it.ends(&Stage::Denied) && it.released().any(|it| it.runs == 1);
    "a call outlives its session" |it| !it.ended.is_empty() && it.released().next().is_some();
    "what was lost in a crash is told again" |it| it.has_just(Turn::Back);
    "a call that ran is in doubt" |it| it.released().any(|it| it.is_in_doubt && it.runs == 1);
    "a call that did not run is in doubt" |it| it.released().any(|it| it.is_in_doubt && it.runs == 0);
    "an idempotent call runs again" |it| it.released().any(|it| it.runs == 2);
    "an older state comes back behind a run" |it| it.has_rolled_back && it.released().any(|it| it.runs > 0);
    "an older state comes back behind an end" |it| it.has_rolled_back && it.ends(&Stage::Denied);
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    actions: SmallVec<[Action; 2]>,
    /// The sessions that have ended, by ascending number.
    ended: SmallVec<[Name; 2]>,
    /// The greatest time of a call.
    latest: Option<Time>,
    nonces: Nonce,
    snapshots: SnapshotId,
    has_rolled_back: bool,
    /// What a witness reads of the last call.
    moment: Option<Turn>,
    /// The guarantees that are broken, a bit for each.
    broken: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Action {
    session: Name,
    tool: Name,
    arguments: Value,
    is_idempotent: bool,
    /// An older state came back: the ledger need not know of it any more.
    is_stale: bool,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Open(Arc<Proposal>, Option<Nonce>),
    Released(Released),
    Denied,
    Expired,
    TakenBack,
    Finished,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Released {
    /// Its call was appended.
    is_called: bool,
    /// How often it ran; two stands for more.
    runs: u8,
    is_in_doubt: bool,
}

/// What happens to an action in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Turn {
    Nothing,
    /// It should, and does not.
    Unheard,
    Created,
    Decided(Decision, Name),
    Expired,
    TakenBack(Reason),
    Finished(Status, Value),
    /// It was under way when the process died.
    Back,
}

impl Action {
    fn run(&mut self) {
        if !self.is_over() {
            let it = self.released();
            self.stage = Stage::Released(Released {
                runs: 2.min(it.runs + 1),
                ..it
            });
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.stage, Stage::Open(..) | Stage::Released(_))
    }

    fn released(&self) -> Released {
        if let Stage::Released(it) = self.stage {
            it
        } else {
            Released::default()
        }
    }
}

fn is_same(one: Value, other: Value) -> bool {
    one.bytes == other.bytes || one.meaning.is_some() && one.meaning == other.meaning
}

/// Whether a field may be told: what is left out is not wrong.
fn fits<T: PartialEq + Copy>(told: Option<T>, truth: T) -> bool {
    told.is_none_or(|told| told == truth)
}

/// Whether both tell the same of the same action.
fn is_alike(one: &Output, other: &Output) -> bool {
    one.action() == other.action()
        && match (one, other) {
            (Output::Append(one), Output::Append(other)) => {
                discriminant(&one.body) == discriminant(&other.body)
            }
            (Output::Event(one), Output::Event(other)) => {
                discriminant(&one.what) == discriminant(&other.what)
            }
            (Output::Perform { .. }, Output::Perform { .. }) => true,
            _ => false,
        }
}

/// Whether it tells that the action has expired.
fn tells_expiry(output: &Output, id: ActionId) -> bool {
    match output {
        Output::Append(Message { body, .. }) => {
            matches!(*body, Body::ExpiredResult { action, .. } if action == id)
        }
        Output::Event(it) => it.action == id && it.what == What::Expired,
        Output::Perform { .. }
        | Output::InDoubt(_)
        | Output::Audit
        | Output::Snapshot(_)
        | Output::Refused
        | Output::Other(_) => false,
    }
}

/// Whether that was lost and is told again.
fn comes_again(lost: &Output, output: &Output) -> bool {
    match (lost, output) {
        (Output::Append(lost), Output::Append(it)) => {
            *it == Message {
                id: Id::Again,
                ..*lost
            }
        }
        (Output::Event(lost), Output::Event(it)) => {
            it.id == Id::Again && (it.action, it.at, &it.what) == (lost.action, lost.at, &lost.what)
        }
        _ => false,
    }
}

/// Whether a person can read and decide the proposal, and a program carry it out.
fn is_fit(it: &Proposal) -> bool {
    let fits = |text: &Text, most| !text.is_blank && (1..=most).contains(&text.characters);
    let differ = |names: &[Text]| {
        names
            .iter()
            .all(|it| names.iter().filter(|other| other.name == it.name).count() == 1)
    };
    [&it.agent, &it.session, &it.run, &it.tool]
        .iter()
        .all(|it| fits(it, 256))
        && fits(&it.summary, 4096)
        && fits(&it.label, 80)
        && !it.label.has_line_break
        && it.arguments.value.meaning.is_some()
        && it.arguments.size <= 1 << 20
        && it.arguments.levels <= 64
        && !matches!(it.effect, Effect::Other(_))
        && it
            .deciders
            .as_ref()
            .is_none_or(|it| !it.is_empty() && it.iter().all(|it| fits(it, 256)) && differ(it))
}

fn is_recorded(record: &Record, of: &Proposal) -> bool {
    (record.agent, record.session, record.run, record.tool)
        == (of.agent.name, of.session.name, of.run.name, of.tool.name)
        && is_same(record.arguments, of.arguments.value)
        && (record.summary, record.label, record.effect)
            == (of.summary.name, of.label.name, of.effect)
        && record.idempotent == of.idempotent
        // Where none is proposed the record may state one.
        && (record.expires_at == of.expires_at || of.expires_at.is_none())
        && record.deciders
            == of
                .deciders
                .as_ref()
                .map(|names| names.iter().map(|it| it.name).collect())
}

/// Whether somebody decides who may, about this and in its terms.
fn is_genuine(proposal: &Proposal, nonce: Option<Nonce>, it: &Decide) -> bool {
    let may_decide = match &proposal.deciders {
        Some(names) => names.iter().any(|name| name.name == it.by.name),
        None => it.by.name != proposal.agent.name,
    };
    let is_same = |it: Value| it.meaning.is_some() && is_same(it, proposal.arguments.value);
    let is_meant = it.decision == Decision::Deny
        || it.decision == Decision::Allow && it.arguments.is_none_or(is_same);
    !it.by.is_blank && may_decide && is_meant && (it.nonce.is_none() || it.nonce == nonce)
}

impl History {
    fn ends(&self, end: &Stage) -> bool {
        self.actions.iter().any(|it| it.stage == *end)
    }

    /// A witness has to be seen once: a moment is kept only where little else has happened.
    fn note(&mut self, moment: Turn) {
        if self.actions.len() == 1 && self.ended.is_empty() {
            self.moment = Some(moment);
        }
    }

    fn has_just(&self, moment: Turn) -> bool {
        self.moment == Some(moment)
    }

    fn released(&self) -> impl Iterator<Item = &Released> {
        self.actions.iter().filter_map(|it| {
            if let Stage::Released(it) = &it.stage {
                Some(it)
            } else {
                None
            }
        })
    }

    fn check(&mut self, guarantee: Guarantee, holds: bool) {
        self.broken |= u32::from(!holds) << guarantee as u8;
    }

    /// A call was answered. The last `lost` outputs were put out, and not carried out.
    pub fn see(&mut self, call: &Call, outputs: &[Output], lost: usize) {
        self.latest = self.latest.max(Some(call.now));
        let carried_out = outputs.len().saturating_sub(lost);
        let retold = self.see_again(&call.op, outputs);
        let (outputs, carried_out) = (
            outputs.get(retold..).unwrap_or_default(),
            carried_out.saturating_sub(retold),
        );
        let mut turns: SmallVec<[Turn; 4]> = (0..)
            .zip(&self.actions)
            .map(|(id, it)| self.turn(id, it, &call.op, outputs))
            .collect();
        if let Op::Propose(proposal) = &call.op {
            self.see_proposal(proposal, outputs, &mut turns);
        }
        for (place, output) in outputs.iter().enumerate() {
            self.see_output(
                &call.op,
                &turns,
                outputs.split_at(place).0,
                output,
                place < carried_out,
            );
        }
        for (id, turn) in (0..).zip(turns) {
            self.see_turn(id, turn, &call.op, outputs);
        }
        let is_refused = outputs.contains(&Output::Refused);
        match (&call.op, is_refused) {
            (
                Op::EndSession(Text {
                    name,
                    is_blank,
                    characters,
                    ..
                }),
                _,
            ) => {
                let place = self.ended.binary_search(name);
                self.check(
                    Guarantee::NotHeard,
                    !is_refused || place.is_ok() || *is_blank || *characters > 256,
                );
                if let (false, Err(place)) = (is_refused, place) {
                    self.ended.insert(place, *name);
                }
            }
            (Op::Rollback(id), false) => {
                self.check(Guarantee::Forged, *id < self.snapshots);
                self.has_rolled_back = true;
                self.actions
                    .iter_mut()
                    .for_each(|it| it.is_stale = !it.is_over());
            }
            _ => {}
        }
    }

    /// How many outputs belong to what was lost.
    fn see_again(&mut self, op: &Op, outputs: &[Output]) -> usize {
        self.moment = None;
        let Op::Restart(Lost::Outputs(lost)) = op else {
            return 0;
        };
        let tells = |it: &&Output| matches!(it, Output::Append(_) | Output::Event(_));
        let outputs = outputs
            .iter()
            .zip(1..)
            .filter(|(it, _)| **it != Output::Audit);
        let mut missing: SmallVec<[&Output; 4]> = lost.iter().filter(tells).collect();
        let mut retold = 0;
        for (output, place) in outputs {
            let Some(which) = missing.iter().position(|it| comes_again(it, output)) else {
                break;
            };
            missing.remove(which);
            retold = place;
        }
        self.check(Guarantee::Lost, missing.is_empty());
        if retold > 0 {
            self.note(Turn::Back);
        }
        retold
    }

    /// What truly happens to an action. A guarantee holds however the text is read: at the very instant of its expiry an
    /// action has expired where that is told, and is open where it is not.
    fn turn(&self, id: ActionId, action: &Action, op: &Op, outputs: &[Output]) -> Turn {
        let expiry = if let Stage::Open(it, _) = &action.stage {
            it.expires_at
        } else {
            None
        };
        let is_instant = expiry.is_some() && expiry == self.latest;
        let is_told = || outputs.iter().any(|it| tells_expiry(it, id));
        if expiry.is_some() && (expiry < self.latest || is_instant && is_told()) {
            return Turn::Expired;
        }
        let turn = Self::turn_in_time(id, action, op, outputs);
        if is_instant && turn == Turn::Unheard {
            Turn::Nothing
        } else {
            turn
        }
    }

    /// The same for an action that has not expired.
    fn turn_in_time(id: ActionId, action: &Action, op: &Op, outputs: &[Output]) -> Turn {
        let is_refused = outputs.contains(&Output::Refused);
        match (&action.stage, op) {
            (Stage::Open(open, nonce), Op::Decide(it))
                if it.action == id && is_genuine(open, *nonce, it) =>
            {
                let is_heard = outputs.iter().any(|it| it.action() == Some(id));
                if is_heard {
                    Turn::Decided(it.decision, it.by.name)
                } else if open.deciders.is_some() {
                    Turn::Unheard
                } else {
                    // Where nobody is named, there may be nobody who may decide.
                    Turn::Nothing
                }
            }
            (Stage::Open(..), Op::Cancel(it)) if *it == id => {
                if is_refused {
                    Turn::Unheard
                } else {
                    Turn::TakenBack(Reason::Requested)
                }
            }
            (Stage::Open(..), Op::EndSession(it)) if it.name == action.session && !is_refused => {
                Turn::TakenBack(Reason::SessionEnded)
            }
            (
                Stage::Released(_),
                Op::FinishTool {
                    action,
                    status,
                    result,
                },
            ) if *action == id => {
                let is_known = !matches!(status, Status::Other(_));
                let happened = Turn::Finished(*status, result.unwrap_or(Value::EMPTY));
                if !is_refused {
                    happened
                } else if is_known {
                    Turn::Unheard
                } else {
                    Turn::Nothing
                }
            }
            (Stage::Released(_), Op::Restart(_) | Op::Rollback(_)) if !is_refused => Turn::Back,
            _ => Turn::Nothing,
        }
    }

    fn see_proposal(
        &mut self,
        proposal: &Arc<Proposal>,
        outputs: &[Output],
        turns: &mut SmallVec<[Turn; 4]>,
    ) {
        let is_over = self.ended.contains(&proposal.session.name);
        let created = outputs.iter().find_map(|it| {
            let Output::Event(Event {
                action,
                what: What::Created(record),
                ..
            }) = it
            else {
                return None;
            };
            Some((*action, record))
        });
        let Some((id, record)) = created else {
            // What never expires need not be asked, and what has expired is not.
            let is_open = proposal.expires_at.is_some() && proposal.expires_at > self.latest;
            return self.check(
                Guarantee::NotAsked,
                !is_fit(proposal) || is_over || !is_open,
            );
        };
        // A state of before the end of its session need not know of it.
        let is_stale = self.has_rolled_back;
        self.check(Guarantee::Unfit, is_fit(proposal) && (!is_over || is_stale));
        self.check(Guarantee::OtherRecord, is_recorded(record, proposal));
        let is_fresh = usize::from(id) == self.actions.len()
            && record.nonce.is_none_or(|it| it >= self.nonces);
        self.check(Guarantee::IdTwice, is_fresh);
        self.nonces = self
            .nonces
            .max(record.nonce.map_or(0, |it| it.saturating_add(1)));
        if usize::from(id) == self.actions.len() {
            let mut open = Arc::clone(proposal);
            if open.expires_at != record.expires_at {
                Arc::make_mut(&mut open).expires_at = record.expires_at;
            }
            self.actions.push(Action {
                session: proposal.session.name,
                tool: proposal.tool.name,
                arguments: proposal.arguments.value,
                is_idempotent: proposal.idempotent,
                is_stale: false,
                stage: Stage::Open(open, record.nonce),
            });
            turns.push(Turn::Created);
        }
    }

    fn see_output(
        &mut self,
        op: &Op,
        turns: &[Turn],
        before: &[Output],
        output: &Output,
        is_carried_out: bool,
    ) {
        let turn = |id: ActionId| turns.get(usize::from(id)).copied().unwrap_or(Turn::Nothing);
        let now = output.action().map_or(Turn::Nothing, turn);
        let is_true = self.is_true(op, output, now);
        let is_again = before.iter().any(|it| is_alike(it, output));
        match output {
            Output::Append(Message { id, .. }) | Output::Event(Event { id, .. }) => {
                self.check(Guarantee::IdTwice, *id != Id::Taken);
                self.check(Guarantee::ToldTwice, *id != Id::Again && !is_again);
            }
            Output::Perform {
                action,
                tool,
                arguments,
            } => {
                let may_repeat = matches!(op, Op::Restart(_)) && !is_again;
                self.see_run(*action, now, (*tool, *arguments), is_again, may_repeat);
                if let (true, Some(action)) =
                    (is_carried_out, self.actions.get_mut(usize::from(*action)))
                {
                    action.run();
                }
            }
            Output::Snapshot(id) => self.snapshots = self.snapshots.max(id.saturating_add(1)),
            Output::InDoubt(_) | Output::Audit | Output::Refused | Output::Other(_) => {}
        }
        self.check(Guarantee::Untrue, is_true);
        self.check(
            Guarantee::FreeText,
            is_true || !matches!(op, Op::Say { .. }),
        );
        let decides_nothing =
            matches!(op, Op::Decide(it) if !matches!(turn(it.action), Turn::Decided(..)));
        self.check(Guarantee::Forged, is_true || !decides_nothing);
        let is_decision = |it: &Output| {
            matches!(
                it,
                Output::Event(Event {
                    what: What::Decided { .. },
                    ..
                })
            )
        };
        let is_decided = before
            .iter()
            .any(|it| is_decision(it) && it.action() == output.action());
        self.check(
            Guarantee::Disorder,
            is_decision(output) || is_decided || !matches!(now, Turn::Decided(..)),
        );
    }

    /// Whether it has happened.
    fn is_true(&mut self, op: &Op, output: &Output, turn: Turn) -> bool {
        let (session, body) = match output {
            Output::Append(Message { session, body, .. }) => (session, body),
            Output::Event(event) => {
                return match (&event.what, turn) {
                    (What::Created(_), Turn::Created)
                    | (What::Expired, Turn::Expired)
                    | (What::Cancelled { .. }, Turn::TakenBack(_)) => true,
                    (What::Decided { decision, by: None }, Turn::Created) => {
                        *decision == Decision::Allow && self.only_reads(event.action)
                    }
                    (What::Decided { decision, by }, Turn::Decided(truth, who)) => {
                        *decision == truth && fits(*by, who)
                    }
                    (What::Denied { by }, Turn::Decided(truth, who)) => {
                        truth == Decision::Deny && fits(*by, who)
                    }
                    (What::Executed { status, result }, Turn::Finished(truth, what)) => {
                        *status == truth
                            && truth != Status::NotRun
                            && result.is_none_or(|it| is_same(it, what))
                    }
                    (What::NotRun, Turn::Finished(truth, _)) => truth == Status::NotRun,
                    _ => false,
                };
            }
            Output::Perform { .. } => {
                return matches!(turn, Turn::Decided(..))
                    || !matches!(op, Op::Decide(_) | Op::Say { .. });
            }
            Output::InDoubt(_) => return turn == Turn::Back,
            Output::Snapshot(_) => return *op == Op::Snapshot,
            Output::Audit | Output::Refused | Output::Other(_) => return true,
        };
        if let (Body::ConfirmationRequest { text, label }, Op::Propose(it)) = (*body, op) {
            self.check(
                Guarantee::OtherPrompt,
                (text, label) == (it.summary.name, it.label.name),
            );
            return fits(*session, it.session.name);
        }
        if let (
            Body::UserMessage { by, text },
            Op::Say {
                by: who,
                text: what,
            },
        ) = (*body, op)
        {
            return (by, text) == (who.name, what.name);
        }
        let Some(action) = output
            .action()
            .and_then(|id| self.actions.get(usize::from(id)))
        else {
            return false;
        };
        let is_told = match (*body, turn) {
            (
                Body::ToolCall {
                    tool, arguments, ..
                },
                Turn::Decided(Decision::Allow, _),
            ) => tool == action.tool && is_same(arguments, action.arguments),
            (
                Body::ToolCall {
                    action: id,
                    tool,
                    arguments,
                },
                Turn::Created,
            ) => self.only_reads(id) && tool == action.tool && is_same(arguments, action.arguments),
            (
                Body::ToolResult {
                    tool,
                    status,
                    result,
                    ..
                },
                Turn::Finished(truth, what),
            ) => (tool, status) == (action.tool, truth) && is_same(result, what),
            (Body::DeniedResult { tool, by, .. }, Turn::Decided(Decision::Deny, who)) => {
                (tool, by) == (action.tool, who)
            }
            (Body::ExpiredResult { tool, .. }, Turn::Expired)
            | (Body::CancelledResult { tool, .. }, Turn::TakenBack(_)) => tool == action.tool,
            _ => false,
        };
        is_told && fits(*session, action.session)
    }

    /// Whether what nobody has decided is a call that only reads.
    fn only_reads(&self, id: ActionId) -> bool {
        let action = self.actions.get(usize::from(id));
        action.is_some_and(
            |it| matches!(&it.stage, Stage::Open(open, _) if open.effect == Effect::Read),
        )
    }

    fn see_run(
        &mut self,
        id: ActionId,
        turn: Turn,
        what: (Name, Value),
        is_again: bool,
        is_back: bool,
    ) {
        let Some(action) = self.actions.get(usize::from(id)) else {
            return self.check(Guarantee::Unallowed, false);
        };
        let is_proposed =
            action.is_over() || what.0 == action.tool && is_same(what.1, action.arguments);
        let in_ended = self.ended.contains(&action.session);
        let broken = match (&action.stage, turn) {
            (Stage::Denied, _) | (_, Turn::Decided(Decision::Deny, _)) => {
                Some(Guarantee::DeniedRuns)
            }
            (Stage::Expired, _) | (_, Turn::Expired) => Some(Guarantee::ExpiredRuns),
            (Stage::TakenBack, _) | (_, Turn::TakenBack(_)) => Some(Guarantee::TakenBackRuns),
            (Stage::Finished, _) => Some(Guarantee::RunsAgain),
            (_, Turn::Decided(..)) => is_again.then_some(Guarantee::RunsAgain),
            // Whether a call that only reads is asked about is the policy's.
            (Stage::Open(it, _), Turn::Created) if it.effect == Effect::Read => None,
            (Stage::Open(..), _) => Some(Guarantee::Unallowed),
            (Stage::Released(_), _) if is_back && in_ended => Some(Guarantee::TakenBackRuns),
            (Stage::Released(_), _) if is_back && action.is_idempotent => None,
            (Stage::Released(it), _) => {
                (it.runs > 0 || it.is_in_doubt && !is_back).then_some(Guarantee::RunsAgain)
            }
        };
        self.check(Guarantee::OtherRuns, is_proposed);
        if let Some(broken) = broken {
            self.check(broken, false);
            self.check(Guarantee::RollbackRuns, !self.has_rolled_back);
        }
    }

    /// What an action has become, and whether all of it was told.
    fn see_turn(&mut self, id: ActionId, turn: Turn, op: &Op, outputs: &[Output]) {
        let Some(mut action) = self.actions.get(usize::from(id)).cloned() else {
            return;
        };
        let (mut is_decided, mut is_settled, mut is_appended, mut goes_on) =
            (false, false, false, false);
        for output in outputs.iter().filter(|it| it.action() == Some(id)) {
            match output {
                Output::Event(Event {
                    what: What::Decided { .. },
                    ..
                }) => is_decided = true,
                Output::Event(_) => is_settled = true,
                Output::Append(_) => is_appended = true,
                Output::Perform { .. } | Output::InDoubt(_) => goes_on = true,
                Output::Audit | Output::Snapshot(_) | Output::Refused | Output::Other(_) => {}
            }
        }
        let it = action.released();
        action.stage = match turn {
            Turn::Created if goes_on => Stage::Released(Released {
                is_called: is_appended,
                ..it
            }),
            Turn::Nothing | Turn::Created => return,
            Turn::Unheard => return self.check(Guarantee::NotHeard, action.is_stale),
            Turn::Decided(Decision::Deny, _) => {
                self.check(Guarantee::NotTold, is_decided && is_settled);
                self.check(Guarantee::DenialAppended, is_appended);
                Stage::Denied
            }
            Turn::Decided(..) => {
                self.check(Guarantee::NotTold, is_decided);
                self.check(Guarantee::Transcript, is_appended);
                self.check(Guarantee::NotRun, goes_on);
                Stage::Released(Released {
                    is_called: is_appended,
                    ..it
                })
            }
            Turn::Back => {
                let is_in_doubt =
                    outputs.contains(&Output::InDoubt(id)) || it.is_in_doubt && !goes_on;
                self.check(
                    Guarantee::NotRun,
                    goes_on || action.is_stale || !matches!(op, Op::Restart(_)),
                );
                Stage::Released(Released { is_in_doubt, ..it })
            }
            Turn::Finished(status, _) => {
                self.check(Guarantee::NotTold, is_settled);
                self.check(Guarantee::Transcript, is_appended == it.is_called);
                self.note(Turn::Finished(status, Value::EMPTY));
                Stage::Finished
            }
            Turn::Expired | Turn::TakenBack(_) => {
                self.check(
                    Guarantee::EndNotTold,
                    is_settled || is_appended || action.is_stale,
                );
                if turn == Turn::TakenBack(Reason::SessionEnded) {
                    self.note(turn);
                }
                if turn == Turn::Expired {
                    Stage::Expired
                } else {
                    Stage::TakenBack
                }
            }
        };
        if action.is_over() {
            // Of what is over nothing is read but how it ended.
            (action.session, action.tool, action.arguments) = (0, 0, Value::EMPTY);
            (action.is_idempotent, action.is_stale) = (false, false);
        }
        if let Some(place) = self.actions.get_mut(usize::from(id)) {
            *place = action;
        }
    }
}
