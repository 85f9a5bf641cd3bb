//! What a host has not carried out, where the judge is told more of a crash than that it came.
//!
//! The one thing to know: records and what is told behind them are carried out in their order. A crash takes back the calls
//! whose records were not durable; what was told behind a durable record comes again, unless the host was through with all.

use std::iter;

use crate::judge::{Finding, Judge};

use super::PendingActionJudge;
use super::account::Account;
use super::words::{Call, Form, Message, Output, Terms};

/// A call that the host is not through with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Waiting {
    /// The account as it was before, where a crash can take the call back.
    before: Option<Account>,
    /// How many records were put out for it.
    records: usize,
    /// What was told for it and broke nothing, each with the number of records before it.
    told: Vec<(usize, Output)>,
}

impl PendingActionJudge {
    /// The host has carried out whatever was put out.
    pub(in crate::pending_action) fn is_through(&mut self) {
        self.waiting.clear();
    }

    /// Of the records all but this many are durable. Of the calls that no crash takes back only what was told for them is kept.
    pub(in crate::pending_action) fn are_not_durable(&mut self, mut records: usize) {
        let mut durable = self.waiting.len();
        while durable > 0 && records > 0 {
            durable -= 1;
            records = records.saturating_sub(self.waiting[durable].records);
        }
        let told = self.waiting.drain(..durable).flat_map(|call| call.told);
        let told: Vec<_> = told.map(|(_, output)| (0, output)).collect();
        if !told.is_empty() {
            let kept = Waiting {
                before: None,
                records: 0,
                told,
            };
            self.waiting.insert(0, kept);
        }
    }

    /// A crash comes, and the last of the records are lost; of these actions the run had not begun. The calls that the lost
    /// records were made for have not happened. Where that is not all that is to be said (a run has begun before its record,
    /// or the call has left a record too), what they changed is as after a rollback. What was told behind the other records
    /// is owed again.
    pub(in crate::pending_action) fn loses(
        &mut self,
        now: i64,
        mut records: usize,
        waiting: &[u32],
    ) {
        let mut older = None;
        for call in self.waiting.iter_mut().rev() {
            let lost = records.min(call.records);
            records -= lost;
            let durable = call.records - lost;
            call.told.retain(|(behind, _)| *behind <= durable);
            if let (Some(before), true) = (&call.before, lost > 0) {
                older = Some((before, durable == 0));
            }
        }
        if let Some((older, is_whole)) = older {
            self.account.never_began(waiting, older);
            if is_whole && !self.account.has_begun_since(older) {
                self.account.is_again(older);
            } else {
                self.account.rolls_back(now, older);
            }
        }
        let told = self.waiting.drain(..).flat_map(|call| call.told);
        self.last = told.map(|(_, output)| (0, output)).collect();
    }

    /// Sees a call, and keeps in mind what waits for the host: each output comes with the number of records before it.
    pub(in crate::pending_action) fn sees_waiting(
        &mut self,
        now: i64,
        call: &Call,
        outputs: &[(usize, Output)],
        records: usize,
    ) -> Vec<Finding> {
        let before = self.account.clone();
        let shown: Vec<Output> = outputs.iter().map(|&(_, output)| output).collect();
        let findings = self.see(now, call, &shown);
        let told = self.last.drain(..);
        let told = told.map(|(from_end, _)| outputs[outputs.len() - from_end]);
        // Free text has no record, and is carried out at once.
        let is_said = |output: &Output| matches!(output.message(), Some(Message::Said { .. }));
        let told: Vec<_> = told.filter(|(_, output)| !is_said(output)).collect();
        if records > 0 || !told.is_empty() {
            self.waiting.push(Waiting {
                before: (records > 0).then_some(before),
                records,
                told,
            });
        }
        findings
    }

    /// The host keeps the state as it is now, under this name.
    pub(in crate::pending_action) fn keeps(&mut self, snapshot: u32) {
        self.kept.insert(snapshot, self.account.clone());
    }

    /// No later call comes at an earlier time than this, so that the next one tells all that there is to know of the time;
    /// unless a later one was seen than this.
    pub(in crate::pending_action) fn forgets_the_time(&mut self, now: i64) {
        if self.account.has_seen_no_later_than(now) {
            for account in self.accounts() {
                account.forgets_the_time();
            }
        }
    }

    /// Whatever closes does so at full ticks of so many milliseconds; nothing is asked of the time where nothing is to close any
    /// more, now, later or after what can be taken back.
    pub(in crate::pending_action) fn goes_by_full(&mut self, tick: i64, can_begin: bool) {
        let closes = self.accounts().any(|account| account.waits_for_time());
        for account in self.accounts() {
            if closes || can_begin {
                account.goes_by_full(tick);
            } else {
                account.forgets_the_time();
            }
        }
    }

    /// No state is kept that could still be handed back.
    pub(in crate::pending_action) fn keeps_nothing(&mut self) {
        self.kept.clear();
    }

    /// Takes the actions for alike that were over before anything that waits or is kept: a party that keeps every rule puts out
    /// nothing more about them, whatever they were.
    pub(in crate::pending_action) fn take_what_is_over_for_alike(&mut self) {
        let told = self.waiting.iter().flat_map(|call| &call.told);
        let created = told.filter_map(|(_, output)| output.about());
        let created: Vec<u32> = created
            .filter(|&(_, form)| form == Form::Created)
            .map(|(action, _)| action)
            .collect();
        let mut accounts: Vec<&mut Account> = self.accounts().collect();
        let names: Vec<u32> = accounts[0].actions.keys().copied().collect();
        for name in names {
            let is_settled = accounts.iter().all(|account| account.is_settled(name));
            if is_settled && !created.contains(&name) {
                for account in &mut accounts {
                    account.takes_for_alike(name);
                }
            }
        }
    }

    /// The account, and those that it can be taken back to.
    fn accounts(&mut self) -> impl Iterator<Item = &mut Account> {
        let waiting = self.waiting.iter_mut();
        let before = waiting.filter_map(|call| call.before.as_mut());
        iter::once(&mut self.account)
            .chain(self.kept.values_mut())
            .chain(before)
    }

    /// What the judge has seen proposed.
    pub(in crate::pending_action) fn terms(&self, action: u32) -> Option<Terms> {
        self.account.actions.get(&action).map(|known| known.terms)
    }
}
