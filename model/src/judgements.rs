//! What a judge makes of the calls of a model.
//!
//! The one thing to know: an account and a call that were met before are looked up.

use std::borrow::Cow;

use crate::graph::{Graph, Move, NO_CALL};
use crate::judge::Finding;
use crate::judged::{InSearch, Told};
use crate::lookup::{Begun, Lookup};
use crate::numbered::{Numbered, as_number, key, of_key};
use crate::specification::Modelled;

/// All that the judge was told, and what he made of it.
#[derive(Debug)]
pub(crate) struct Judgements<J> {
    accounts: Numbered<J>,
    /// By the numbers of the account before and of what the judge was told.
    known: Lookup<Judgement>,
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
            known: Lookup::new(),
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
        self.begun.clear();
        for step in moves.iter().filter(|step| step.told != NO_CALL) {
            self.begun.push(self.known.begin(key(before, step.told)));
        }
        let mut calls = 0..self.begun.len();
        for &step in moves {
            let unchanged = Judgement {
                account: before,
                findings: 0,
            };
            let judgement = match step.told {
                NO_CALL => unchanged,
                _ => calls
                    .next()
                    .map_or(unchanged, |call| self.judgement(graph, self.begun[call])),
            };
            judged(step, judgement);
        }
    }

    /// What the judge makes of a call.
    fn judgement<T: Modelled<Judge = J>>(
        &mut self,
        graph: &Graph<T>,
        begun: Begun<Judgement>,
    ) -> Judgement {
        self.known.end(begun).unwrap_or_else(|| {
            let (before, told) = of_key(begun.key);
            let mut judge = self.accounts.value(before).clone();
            let call = graph.call(told);
            let findings = call.map(|call| judge.is_told_in_search(call, graph.model.quotient));
            let judgement = Judgement {
                account: self.accounts.number(Cow::Owned(judge)),
                findings: self.found(findings.unwrap_or_default()),
            };
            self.known.insert(begun.key, judgement);
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
        let mut known: Vec<_> = self.known.into_slots().collect();
        known.sort_unstable_by_key(|&(key, _)| key);
        let clean = known.into_iter().filter(|(_, it)| it.findings == 0);
        clean
            .filter_map(|(key, _)| {
                let (before, told) = of_key(key);
                Some((self.accounts.value(before).clone(), graph.call(told)?))
            })
            .collect()
    }
}
