//! One call and what was put out for it, while it is judged.
//!
//! The one thing to know: every output is explained once. A clause takes the outputs that it wants or allows; what no clause
//! has taken is forbidden, and what was told of before is told twice.

use crate::judge::{Finding, Kind};
use crate::pending_action::readings::Reading;

use super::account::{Account, Action};
use super::words::{Form, Output};

/// One call and what was put out for it.
pub(super) struct Case<'a> {
    pub reading: Reading,
    pub account: &'a mut Account,
    pub outputs: &'a [Output],
    pub shown: Vec<Shown>,
    pub findings: Vec<Finding>,
}

/// What was made of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing yet.
    Unexplained,
    /// It is owed or free.
    Explained,
    /// A finding is about it.
    Broken,
}

impl<'a> Case<'a> {
    pub fn new(reading: Reading, account: &'a mut Account, outputs: &'a [Output]) -> Self {
        let shown = outputs.iter().map(|output| match output {
            Output::Audit | Output::Refused | Output::Snapshot { .. } => Shown::Explained,
            Output::Event { .. }
            | Output::Append { .. }
            | Output::Perform { .. }
            | Output::InDoubt { .. } => Shown::Unexplained,
        });
        Self {
            reading,
            account,
            outputs,
            shown: shown.collect(),
            findings: Vec::new(),
        }
    }

    pub fn is_refused(&self) -> bool {
        self.outputs.contains(&Output::Refused)
    }

    pub fn action(&self, action: u32) -> Option<&Action> {
        self.account.actions.get(&action)
    }

    /// The first output that nothing explains yet and that is wanted, with its place.
    pub fn first(&self, wanted: impl Fn(&Output) -> bool) -> Option<(usize, Output)> {
        let mut outputs = self.outputs.iter().copied().enumerate();
        outputs.find(|(place, output)| self.shown[*place] == Shown::Unexplained && wanted(output))
    }

    /// Takes the first output that nothing explains yet and that is of the kind sought.
    pub fn pick<T>(&mut self, sought: impl Fn(&Output) -> Option<T>) -> Option<(usize, T)> {
        let (place, output) = self.first(|output| sought(output).is_some())?;
        self.shown[place] = Shown::Explained;
        Some((place, sought(&output)?))
    }

    /// Takes the first output that tells of the action in this form, unless that was done before.
    pub fn take(&mut self, action: u32, form: Form) -> Option<(usize, Output)> {
        let was_told = self.action(action)?.was_told(form);
        let found = self.first(|output| !was_told && output.about() == Some((action, form)))?;
        self.shown[found.0] = Shown::Explained;
        self.account.actions.get_mut(&action)?.is_told(form);
        Some(found)
    }

    /// Whether anything that nothing explains yet is about the action.
    pub fn tells_of(&self, action: u32) -> bool {
        let about = |output: &Output| output.about().is_some_and(|(about, _)| about == action);
        self.first(about).is_some()
    }

    pub fn find(
        &mut self,
        clause: &'static str,
        also: &'static [&'static str],
        kind: Kind,
        text: String,
    ) {
        self.findings.push(Finding {
            clause,
            also,
            kind,
            text,
        });
    }

    /// A finding about one of the outputs.
    pub fn break_at(
        &mut self,
        place: usize,
        clause: &'static str,
        also: &'static [&'static str],
        text: String,
    ) {
        self.shown[place] = Shown::Broken;
        self.find(clause, also, Kind::Conformance, text);
    }
}
