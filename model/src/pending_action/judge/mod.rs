//! The judge of pending actions: what the contract makes of any party's calls and outputs, in any number.
//!
//! Where to read: [`words`] names what is shown to the judge, `account` what it knows of the party, `clauses` is the text,
//! clause by clause, `waiting` what a crash takes back; this file says which clauses speak about which call.
//!
//! What the judge leaves to the party, since the text does:
//!
//! - The call and its result are messages, events or both; the call is told of at any time from its proposal to its result.
//! - That a question was taken back or has expired is told by an event, by a result in the transcript, or by both.
//! - A message that has no effect is refused, audited or ignored in silence.
//! - A nonce besides the id, a prompt in the transcript, and events about a denial besides its result are free.
//! - A proposal that breaks the limits, or has expired already, is refused or recorded; what has expired never runs.
//! - A call that may run twice is run again after a crash, or is in doubt as all others are, unless the reading `in-doubt` says.
//! - After a rollback what has changed since may be as it was, or as it was known later.

mod account;
mod case;
mod clauses;
mod waiting;
pub mod words;

use std::collections::BTreeMap;

use crate::judge::{Finding, Judge};

use super::readings::Reading;
use account::{Account, Action, Fate};
use case::{Case, Shown};
use waiting::Waiting;
use words::{Call, Decide, Decision, Output, Proposal, Status};

/// The judge of one party.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PendingActionJudge {
    reading: Reading,
    account: Account,
    /// What was told for the last call and broke nothing, with its place from the end.
    last: Vec<(usize, Output)>,
    /// The account as it was when a snapshot was put out.
    kept: BTreeMap<u32, Account>,
    /// What the host is not through with, where the judge is told so much.
    waiting: Vec<Waiting>,
}

impl PendingActionJudge {
    /// The judge of a party that has done nothing yet.
    pub const fn new(reading: Reading) -> Self {
        Self {
            reading,
            account: Account::new(),
            last: Vec::new(),
            kept: BTreeMap::new(),
            waiting: Vec::new(),
        }
    }

    /// How the text is taken.
    pub(super) const fn reading(&self) -> Reading {
        self.reading
    }

    /// Whether it is known where an action stands. After a rollback it is not of one that has changed since.
    pub fn is_sure_of(&self, action: u32) -> bool {
        let known = self.account.actions.get(&action);
        known.is_none_or(|known| !known.unsure)
    }

    fn keep(&mut self, outputs: &[Output], shown: &[Shown]) {
        for output in outputs {
            if let Output::Snapshot { snapshot } = output {
                self.kept.insert(*snapshot, self.account.clone());
            }
        }
        self.last.clear();
        let told = outputs.iter().zip(shown).enumerate();
        let owed = told.filter(|(_, (output, shown))| output.is_told() && **shown != Shown::Broken);
        self.last
            .extend(owed.map(|(place, (output, _))| (outputs.len() - place, *output)));
    }
}

impl Judge for PendingActionJudge {
    type Call = Call;
    type Output = Output;

    fn see(&mut self, now: i64, call: &Call, outputs: &[Output]) -> Vec<Finding> {
        let expired = self.account.pass(now, self.reading.expiry_boundary);
        let mut case = Case::new(self.reading, &mut self.account, outputs);
        // A crash owes first what it lost; everything else owes first what is due.
        let came_back = matches!(call, Call::Restart { .. }) && case.resumes();
        if let (Call::Restart { lost }, true) = (call, came_back) {
            let lost = self.last.iter().filter(|(from_end, _)| from_end <= lost);
            case.comes_again(lost.map(|(_, output)| output));
        }
        case.have_expired(&expired);
        case.expire_in_time();
        match call {
            Call::Propose(proposal) => proposed(&mut case, proposal),
            Call::Decide(decide) => decided(&mut case, decide),
            Call::Say { by, text } => case.is_said(*by, *text),
            Call::FinishTool {
                action,
                status,
                result,
            } => finished(&mut case, *action, *status, *result),
            Call::Cancel { action } => cancelled(&mut case, *action),
            Call::EndSession { session } => ended(&mut case, *session),
            Call::Restart { .. } if came_back => case.came_back(),
            Call::Rollback { snapshot } => {
                case.may_be_in_doubt();
                if let Some(older) = self.kept.get(snapshot)
                    && !case.is_refused()
                {
                    case.account.rolls_back(now, older);
                }
            }
            Call::Restart { .. } | Call::Snapshot | Call::Tick => {}
        }
        case.is_in_its_transcript();
        case.nothing_else_runs();
        case.nothing_else_is_told();
        let Case {
            shown,
            mut findings,
            ..
        } = case;
        self.keep(outputs, &shown);
        findings.sort_by_key(|finding| place_in_the_text(finding.clause));
        findings
    }
}

fn proposed(case: &mut Case, proposal: &Proposal) {
    let Some(action) = case.is_recorded(proposal) else {
        return;
    };
    case.session_goes_on(action, proposal.terms.session);
    case.may_be_shown(action);
    case.call_is_told(action);
    case.may_run_at_once(action);
    case.expire_in_time();
}

fn decided(case: &mut Case, decide: &Decide) {
    let void = case.is_void(decide);
    let known = case.action(decide.action);
    let void = void.or_else(|| known.and_then(|known| case.is_settled(known)));
    if let Some(void) = void {
        case.has_no_effect(decide, void);
    } else if known.is_some_and(|known| known.unsure) {
        case.may_have_effect(decide);
    } else if case.settles(decide) {
        case.decision_is_told(decide);
        match decide.decision {
            Decision::Allow => {
                case.is_performed(decide.action);
                case.call_is_told(decide.action);
            }
            Decision::Deny => case.denial_is_appended(decide.action),
        }
    }
}

fn finished(case: &mut Case, action: u32, status: Status, result: Option<u32>) {
    if case.action(action).is_some_and(Action::runs) {
        case.comes_back(action, status, result);
    }
}

fn cancelled(case: &mut Case, action: u32) {
    let known = case.action(action);
    if known.is_some_and(|known| known.fate == Fate::Open && !known.unsure) {
        case.are_cancelled(&[action]);
    }
}

fn ended(case: &mut Case, session: u32) {
    let open = case.account.open_in(session);
    case.are_cancelled(&open);
    if !case.is_refused() {
        case.account.ended.insert(session, true);
    }
}

/// The number of a clause.
fn place_in_the_text(clause: &str) -> u8 {
    let number = clause.trim_start_matches("PA-");
    number.parse().unwrap_or(u8::MAX)
}
