//! The words for a call that nothing explains: which reply could have let it run, and what could have come instead.

use super::Notes;
use super::announced::Perhaps;
use super::checks::{Check, broken_in_words};
use super::confirmation::{Confirmation, Outcomes};
use super::confirmations::Confirmations;
use super::run::Run;
use super::wording::{Action, Fit};
use crate::record::{Decision, Event};
use crate::rules::{self, Rule};
use crate::time::Timestamp;

/// What a conforming producer could have gone on with instead of the call: the next moves of the questions that may have been
/// pending then, or another question.
pub(super) fn allowed_instead(
    run: &Run,
    candidates: &[usize],
    confirmations: &Confirmations,
) -> String {
    let was_pending = |it: &&Confirmation| match it.answered {
        Some((reply, _)) => run.line() < reply && it.place.line < run.line(),
        None => it.possible.may_be(Outcomes::PENDING),
    };
    let questions = candidates.iter().rev().map(|it| confirmations.kept(*it));
    let Some(question) = questions.into_iter().find(was_pending) else {
        return "a question for this action, and its acceptance before the call".to_owned();
    };
    let (decision, moves) = if question.allowed.contains("accept") {
        (Decision::Accept, ", its rejection, or its withdrawal")
    } else {
        (Decision::Reject, ", or its withdrawal")
    };
    let may_default = decision == Decision::Reject || run.may_default();
    let until = match (question.deadline, question.default) {
        (Some(deadline), Some(default)) if default == decision && may_default => {
            format!(", by a reply decided before {deadline} or by its default then")
        }
        (Some(deadline), _) => format!(", by a reply decided before {deadline}"),
        (None, _) => String::new(),
    };
    let noun = match decision {
        Decision::Accept => "acceptance",
        Decision::Reject => "rejection",
    };
    format!(
        "the {noun} of the question on line {}{until}{moves} by a state.changed",
        question.place.line
    )
}

/// What a call breaks besides that is accused by this rule, for want of an acceptance of this question: each other check that the
/// last reply failed which it may go by, also where it came behind a rejection.
pub(super) fn breaks_besides(rule: &Rule, run: &Run, question: &Confirmation) -> Vec<&'static str> {
    let ignored = question.ignored.as_ref();
    let Some((_, checks)) = ignored.filter(|(line, _)| *line < run.line()) else {
        return Vec::new();
    };
    let leads = checks.first().and_then(|it| honoured(*it));
    let is_led = leads.is_some_and(|(leads, _)| leads == rule);
    let is_used = rule == &rules::CALLED_AFTER_REJECTION && checks.contains(&Check::Unused);
    if is_led || is_used {
        clauses_of(checks)
    } else {
        Vec::new()
    }
}

/// All that whoever honours a reply breaks that fails these checks.
pub(super) fn clauses_of(checks: &[Check]) -> Vec<&'static str> {
    let rules = checks.iter().filter_map(|it| honoured(*it));
    let clauses = |(rule, _): (&'static Rule, _)| rule.all_clauses();
    rules.flat_map(clauses).collect()
}

/// Whether an acceptance with a token that nobody gave out came between the last question and the call.
pub(super) fn stray_acceptance(
    run: &Run,
    candidates: &[usize],
    confirmations: &Confirmations,
) -> bool {
    let asked = candidates
        .last()
        .map(|it| confirmations.kept(*it).place.line);
    asked.is_some_and(|asked| run.has_stray_acceptance(asked))
}

/// Whether the call says that the question was accepted which the producer has said is withdrawn.
pub(super) fn calls_withdrawn_accepted(
    run: &Run,
    candidates: &[usize],
    confirmations: &Confirmations,
) -> bool {
    let mut questions = candidates.iter().map(|it| confirmations.kept(*it));
    run.says_accepted && questions.any(|it| it.ids.token == run.ids().token && it.is_withdrawn())
}

/// What follows a reply that had to be ignored, on `line`, is best described by the checks that the reply failed. `ignored` is
/// the last reply to the question asked on line `asked` that was.
pub(super) fn after_failed_reply(
    (what, line): (&str, u64),
    asked: u64,
    ignored: Option<&(u64, Vec<Check>)>,
) -> Option<(&'static Rule, String)> {
    let between = |reply: u64| asked < reply && reply < line;
    let (line, checks) = ignored.filter(|(reply, _)| between(*reply))?;
    let (rule, _) = checks.first().and_then(|it| honoured(*it))?;
    let whys = checks.iter().filter_map(|it| honoured(*it));
    let whys: Vec<_> = whys.map(|(_, why)| why).collect();
    let message = format!(
        "{what}, and nothing could have accepted the question on line {asked} but the reply on line {line}, which {} and had to be ignored",
        whys.join(", ")
    );
    Some((rule, message))
}

/// What whoever honours a reply does that fails the check, and what is wrong with the reply.
fn honoured(check: Check) -> Option<(&'static Rule, String)> {
    let told = |rule, why: &str| Some((rule, why.to_owned()));
    match check {
        // AAEP-6.3.4-1
        Check::Schema(broken) => Some((&rules::HONOURED_MALFORMED, broken_in_words(broken))),
        // AAEP-6.3.1-1
        Check::Kind => told(&rules::HONOURED_OTHER_KIND, "is no confirmation.reply"),
        // AAEP-6.3.4-3, AAEP-6.3.5-1, AAEP-6.7.1-1, AAEP-REPLY-12
        Check::Unused => told(&rules::HONOURED_USED, "came after the decision"),
        // AAEP-6.8-4
        Check::Standing => told(
            &rules::HONOURED_CANCELLED,
            "came after the question was withdrawn",
        ),
        // AAEP-6.3.4-4
        Check::InTime => told(&rules::HONOURED_EXPIRED, "was decided too late"),
        // AAEP-6.3.4-5, AAEP-6.2.4-1, AAEP-6.9-1
        Check::Sender => told(
            &rules::HONOURED_STRANGER,
            "came from a sender that the transport refused or does not know",
        ),
        // AAEP-6.3.4-6
        Check::Allowed => told(
            &rules::HONOURED_NOT_ALLOWED,
            "holds a decision that is not among its allowed_replies",
        ),
        Check::Issued | Check::ResponseType | Check::Choice => None,
    }
}

/// What may speak against what became of a question, in words.
pub fn doubt_of(question: &Confirmation) -> String {
    let doubt = question.doubt().map(|it| it.to_string());
    doubt.unwrap_or_else(|| "the reply that decided it did not count".to_owned())
}

/// Says what may be wrong about a call that the acceptance of this question explains, and does not show.
pub(super) fn doubt(run: &Run, question: &Confirmation, notes: &mut Notes) {
    let (asked, call) = (question.place.line, run.name());
    doubt_reply((&format!("call of {call}"), run.line()), question, notes);
    let Some((reply, _)) = question.answered else {
        return;
    };
    // AAEP-A.8-4: which of the two ways tied them is said, and where it is the weaker, what would tell.
    if run.is_irreversible() && run.is_tied_by_place_alone(question) {
        notes.leave_open("AAEP-A.8-4", run.line(), doubt_place(run, question));
    }
    // AAEP-6.3.2-4: whether a producer supports it does not show.
    if question.modified && question.possible.may_be(Outcomes::REJECTED) {
        let reason = format!(
            "call of {call} after the reply on line {reply}, which modifies the action that was asked about on line {asked}: without support for that it rejects, and a recording would have to hold whether there is"
        );
        notes.leave_open("AAEP-6.3.2-4", run.line(), reason);
    }
}

/// AAEP-A.8-4: what is open about a call that nothing but its place ties to the question.
pub(super) fn doubt_place(run: &Run, question: &Confirmation) -> String {
    format!(
        "call of {} on line {}, and nothing but its place ties it to the question on line {}, which has no word in common with the tool and what it is called with: whether it is the action that was asked about does not show; a recording would have to hold an id in both (extra_context.tool_call_id)",
        run.name(),
        run.line(),
        question.place.line
    )
}

/// AAEP-A.8-4, AAEP-6.1-1: a call that a question names which led to another before.
pub(super) fn doubt_several(run: &Run, question: &Confirmation, first: u64, notes: &mut Notes) {
    let clause = if run.is_irreversible() {
        "AAEP-A.8-4"
    } else {
        "AAEP-6.1-1"
    };
    let reason = format!(
        "{} on line {}, and the question on line {}, which led to the call on line {first}, names it as well: whether one acceptance is for several calls does not show; a recording would have to hold a question for each",
        run.call(),
        run.line(),
        question.place.line
    );
    notes.leave_open(clause, run.line(), reason);
}

/// AAEP-A.8-4: a call that runs on a question which its place alone ties to it, while another that nobody accepted names it.
pub(super) fn doubt_words(
    run: &Run,
    explains: &Confirmation,
    candidates: &[usize],
    confirmations: &Confirmations,
    notes: &mut Notes,
) {
    if run.fit(explains) > Fit::Not || !confirmations.hold_replies() {
        return;
    }
    let questions = candidates.iter().map(|it| confirmations.kept(*it));
    let mut named = questions.filter(|it| run.fit(it) == Fit::Words);
    let is_free = |it: &&Confirmation| !it.may_explain(run.line(), true) && !it.is_withdrawn();
    if let Some(question) = named.rfind(is_free) {
        let reason = format!(
            "call of {} on line {}, which runs on the question on line {} by its place alone, while that on line {} names the tool and was accepted by nobody: which of the two it is about does not show; a recording would have to hold an id in both (extra_context.tool_call_id)",
            run.name(),
            run.line(),
            explains.place.line,
            question.place.line
        );
        notes.leave_open("AAEP-A.8-4", run.line(), reason);
    }
}

/// AAEP-6.1-1: a call that can be undone, of a question that nobody answered: it may be withdrawn.
pub(super) fn doubt_withdrawal(
    run: &Run,
    candidates: &[usize],
    confirmations: &Confirmations,
    notes: &mut Notes,
) {
    let mut questions = candidates.iter().map(|it| confirmations.kept(*it));
    let may_be = |it: &Confirmation| {
        it.possible.may_be(Outcomes::CANCELLED) || it.withdrawn_elsewhere.is_some()
    };
    let untold = |it: &&Confirmation| may_be(it) && !it.is_withdrawn();
    if let Some(question) = questions.find(untold) {
        let reason = format!(
            "call of {} that names the question on line {}, which nobody accepted: whether a state.changed before it withdrew the question does not show; a recording would have to hold what became of it (extensions.countersign.outcome)",
            run.name(),
            question.place.line
        );
        notes.leave_open("AAEP-6.1-1", run.line(), reason);
    }
}

/// AAEP-A.4-4, AAEP-6.1-1: a call that can be undone and names no question, where one that was not accepted has its words.
pub(super) fn doubt_reversible(
    event: &Event,
    candidates: &[usize],
    confirmations: &Confirmations,
    notes: &mut Notes,
) {
    let call = Action::of(event).filter(|_| confirmations.hold_replies());
    let Some(call) = call.filter(|_| !candidates.is_empty()) else {
        return;
    };
    let line = event.place.line;
    let questions = candidates.iter().map(|it| confirmations.kept(*it));
    let named = questions.filter(|it| call.fits(&it.ids, &it.wording) == Fit::Words);
    let (accepted, others): (Vec<_>, Vec<_>) = named.partition(|it| it.may_explain(line, true));
    let Some(question) = others.last().filter(|_| accepted.is_empty()) else {
        return;
    };
    let rejected = question.possible.may_be(Outcomes::REJECTED);
    let reply = question
        .answered
        .filter(|(reply, _)| rejected && *reply < line);
    let (rule, what) = match reply {
        _ if question.is_withdrawn() => return,
        Some((reply, _)) => {
            let what = format!("was rejected on line {reply}");
            (&rules::CALLED_AFTER_REJECTION, what)
        }
        None => (&rules::UNACCEPTED, "was accepted by nobody".to_owned()),
    };
    let reason = format!(
        "call of {} on line {line}, which can be undone, and the question on line {}, which names it, {what}: whether it is the action that was asked about does not show; a recording would have to hold an id in both (extra_context.tool_call_id)",
        call.name(),
        question.place.line
    );
    notes.leave_open(rule.clause, line, reason);
}

/// AAEP-A.4-4, AAEP-6.1-1: a call that can be undone and ran, where a question behind it that was not accepted has its words.
pub(super) fn doubt_announced(ran: &Perhaps, confirmations: &Confirmations, notes: &mut Notes) {
    let (line, moment) = ran.completed;
    let questions = ran.questions.iter().filter_map(|it| confirmations.get(*it));
    let questions: Vec<_> = questions.filter(|it| !it.is_withdrawn()).collect();
    let is_before = |(reply, decided): &(u64, Timestamp)| {
        *reply < line || moment.is_none_or(|moment| *decided <= moment)
    };
    let reply = |it: &Confirmation| it.answered.filter(is_before);
    let may_be = |it: &Confirmation, outcome| it.possible.may_be(outcome);
    let is_accepted = |it: &Confirmation| {
        let counts = reply(it).is_some() && may_be(it, Outcomes::ACCEPTED);
        (counts || it.may_explain(line, true)) && !it.modified
    };
    let Some(question) = questions.last() else {
        return;
    };
    if questions.iter().any(|it| is_accepted(it)) {
        return;
    }
    let (rule, what) = match reply(question) {
        Some((reply, _)) if question.modified && may_be(question, Outcomes::ACCEPTED) => {
            let what = format!("was accepted on line {reply} with a modification");
            (&rules::MODIFIED_TAKEN_AS_ACCEPTED, what)
        }
        Some((reply, _)) => {
            let what = format!("was rejected on line {reply}");
            (&rules::CALLED_AFTER_REJECTION, what)
        }
        None => {
            let what = "was accepted by nobody".to_owned();
            (&rules::UNACCEPTED, what)
        }
    };
    let (called, action) = &ran.call;
    let reason = format!(
        "tool.completed of {} with success on line {line}, and the question on line {}, which names that tool while its call on line {called} is open, {what}: whether it is the action that was asked about does not show; a recording would have to hold an id in all three (extra_context.tool_call_id)",
        action.name(),
        question.place.line
    );
    notes.leave_open(rule.clause, line, reason);
}

/// AAEP-A.7.4-1: a call that is recorded before the reply that explains it.
pub(super) fn doubt_order(run: &Run, (decided, slack): (Timestamp, i64), notes: &mut Notes) {
    let reason = format!(
        "call of {} that is recorded before the reply which accepts it, decided at {decided}: whether that had arrived does not show; {}",
        run.name(),
        what_would_tell(slack)
    );
    notes.leave_open("AAEP-A.7.4-1", run.line(), reason);
}

/// What a recording would have to hold to tell whether a reply came before what it led to.
pub(super) fn what_would_tell(slack: i64) -> String {
    if slack > 0 {
        format!(
            "the two are in order by two clocks, and within {slack} seconds of each other; a recording would have to come from one recorder (countersign record)"
        )
    } else {
        "a recording would have to hold when each was received (\"at\")".to_owned()
    }
}

/// AAEP-6.8-4: a reply that was taken, behind a change of state that looks as if the question was withdrawn.
pub(super) fn doubt_reply((what, line): (&str, u64), question: &Confirmation, notes: &mut Notes) {
    let Some((reply, _)) = question.answered else {
        return;
    };
    if let Some(changed) = question.perhaps_withdrawn.filter(|it| *it < reply) {
        let reason = format!(
            "{what}, and the reply on line {reply} came behind the state.changed on line {changed}: whether that withdrew the question on line {} does not show; a recording would have to hold what became of it (extensions.countersign.outcome)",
            question.place.line
        );
        notes.leave_open("AAEP-6.8-4", line, reason);
    }
}
