//! What a judge makes of the calls of a model.
//!
//! The one thing to know: an account and a call that were met before are looked up.

use std::borrow::Cow;

use crate::graph::{Graph, Move, NO_CALL};
use crate::judge::Finding;
use crate::judged::{InSearch, Told};
use crate::lookup::{Begun, Lookup};
use crate::numbered::{Numbered, as_number};
use crate::specification::Modelled;

/// All that the judge was told, and what he made of it.
#[derive(Debug)]
pub(crate) struct Judgements<J> {
    accounts: Numbered<J>,
    /// By the number of the account before, and then by that of what the judge was told: a search stays with few accounts at a
    /// time.
    known: Vec<Lookup<Judgement>>,
    /// What he found each time that it was something; nothing has the number 0.
    findings: Vec<Vec<Finding>>,
    /// The look-ups that are going on, kept for the room that they take.
    begun: Vec<Begun<Judgement>>,
}

/// What the judge makes of a call: his account then, and what he found, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judgement {
    pub account: u32,
    pub findings: u32,
}

impl<J: InSearch> Judgements<J> {
    /// None, yet.
    pub fn new() -> Self {
        Self {
            accounts: Numbered::new(),
            known: Vec::new(),
            findings: vec![Vec::new()],
            begun: Vec::new(),
        }
    }

    /// The number of the judge as he is at the start.
    pub fn start(&mut self, judge: J) -> u32 {
        self.accounts.number(Cow::Owned(judge))
    }

    /// What the judge found, by its number.
    pub fn findings(&self, number: u32) -> &[Finding] {
        &self.findings[number as usize]
    }

    /// What the judge makes of each of the moves upon an account.
    pub fn of_moves<T: Modelled<Judge = J>>(
        &mut self,
        graph: &Graph<T>,
        before: u32,
        moves: &[Move],
        mut judged: impl FnMut(Move, Judgement),
    ) {
        if self.known.len() <= before as usize {
            self.known.resize_with(before as usize + 1, Lookup::new);
        }
        let known = &self.known[before as usize];
        let calls = moves.iter().filter(|step| step.told != NO_CALL);
        self.begun.clear();
        self.begun
            .extend(calls.map(|step| known.begin(step.told.into())));
        let mut calls = 0..self.begun.len();
        for &step in moves {
            let unchanged = Judgement {
                account: before,
                findings: 0,
            };
            let judgement = match step.told {
                NO_CALL => unchanged,
                _ => calls.next().map_or(unchanged, |call| {
                    self.judgement(graph, before, self.begun[call])
                }),
            };
            judged(step, judgement);
        }
    }

    /// What the judge makes of a call.
    fn judgement<T: Modelled<Judge = J>>(
        &mut self,
        graph: &Graph<T>,
        before: u32,
        begun: Begun<Judgement>,
    ) -> Judgement {
        let known = self.known[before as usize].end(begun);
        known.unwrap_or_else(|| {
            let told = as_number(begun.key);
            let mut judge = self.accounts.value(before).clone();
            let call = graph.call(told);
            let findings = call.map(|call| judge.is_told_in_search(call, graph.model.quotient));
            let judgement = Judgement {
                account: self.accounts.number(Cow::Owned(judge)),
                findings: self.found(findings.unwrap_or_default()),
            };
            self.known[before as usize].insert(begun.key, judgement);
            judgement
        })
    }

    /// The number of what the judge found.
    fn found(&mut self, findings: Vec<Finding>) -> u32 {
        if findings.is_empty() {
            return 0;
        }
        self.findings.push(findings);
        as_number(self.findings.len() - 1)
    }

    /// Every account, and what the judge was told upon it, in which there was nothing to find.
    pub fn in_order<T: Modelled<Judge = J>>(self, graph: &Graph<T>) -> Vec<(J, Told<T>)> {
        let mut in_order = Vec::new();
        for (before, known) in (0..).zip(self.known) {
            let clean = known.into_slots().filter(|(_, it)| it.findings == 0);
            let mut told: Vec<_> = clean.map(|(told, _)| told).collect();
            told.sort_unstable();
            let calls = told
                .into_iter()
                .filter_map(|told| graph.call(as_number(told)));
            in_order.extend(calls.map(|call| (self.accounts.value(before).clone(), call)));
        }
        in_order
    }
}
