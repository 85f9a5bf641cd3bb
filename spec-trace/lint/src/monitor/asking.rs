//! How a question is put: its default, and whether it is put twice.

use super::Notes;
use super::confirmation::Outcomes;
use super::confirmations::Confirmations;
use crate::action_ids::Relation;
use crate::finding::Finding;
use crate::record::{Decision, Event, Question, Risk};
use crate::rules::{self, Rule};

/// AAEP-6.4.1-1 to AAEP-6.4.1-4, the table of defaults; AAEP-6.4.1-7 wants the first line of it detected.
pub fn judge_default(event: &Event, question: &Question, notes: &mut Notes) {
    if question.default != Some(Decision::Accept) {
        return;
    }
    let (rule, action): (&Rule, _) = match (question.irreversible, question.risk) {
        // AAEP-6.4.1-1
        (true, Some(Risk::High)) => (
            &rules::DEFAULT_IRREVERSIBLE_HIGH,
            "an irreversible action of high risk",
        ),
        // AAEP-6.4.1-2
        (true, Some(Risk::Medium)) => (
            &rules::DEFAULT_IRREVERSIBLE_MEDIUM,
            "an irreversible action of medium risk",
        ),
        // AAEP-6.4.1-3; where the risk is not said, reject is still what it should be.
        (true, Some(Risk::Low)) => (
            &rules::DEFAULT_IRREVERSIBLE_LOW,
            "an irreversible action of low risk",
        ),
        (true, None) => (
            &rules::DEFAULT_IRREVERSIBLE_LOW,
            "an irreversible action of unstated risk",
        ),
        // AAEP-6.4.1-4
        (false, Some(Risk::High)) => (
            &rules::DEFAULT_REVERSIBLE_HIGH,
            "a reversible action of high risk",
        ),
        // AAEP-6.4.1-5, AAEP-6.4.1-6: either default will do.
        (false, Some(Risk::Medium | Risk::Low) | None) => return,
    };
    let verb = match rule.weight {
        rules::Weight::Violation => "has to be",
        rules::Weight::Warning => "should be",
    };
    notes.add(Finding::new(
        rule,
        event.place,
        Some(event.session),
        format!("default_decision is accept for {action}; it {verb} reject"),
    ));
}

/// AAEP-6.1-6: the same action is not asked for again while the first question is open. Judged before the new question
/// is one of the confirmations; `prose` is the hash of its words.
pub fn judge_repetition(
    event: &Event,
    prose: u64,
    confirmations: &Confirmations,
    notes: &mut Notes,
) {
    let all = confirmations.all().map(|(_, earlier)| earlier);
    for earlier in all.filter(|earlier| earlier.possible == Outcomes::PENDING) {
        let same_words = earlier.producer == event.producer && earlier.prose == prose;
        let line = earlier.place.line;
        let (rule, message) = match earlier.ids.relation_of_actions(&event.ids) {
            Relation::Same(_) => (
                &rules::ASKED_AGAIN,
                format!(
                    "the same action is asked for again while the question on line {line} is open"
                ),
            ),
            Relation::Unknown if same_words => (
                &rules::ASKED_AGAIN_IN_THE_SAME_WORDS,
                format!(
                    "the question on line {line} is open and has the same words; if the action is the same, it must not be asked for again"
                ),
            ),
            Relation::Unknown | Relation::Different => continue,
        };
        if let Some(doubt) = earlier.doubt() {
            let reason = format!("{message}; {doubt}");
            return notes.leave_open(rule.clause, event.place.line, reason);
        }
        let finding = Finding::new(rule, event.place, Some(event.session), message);
        return notes.add(finding.since(line));
    }
}
