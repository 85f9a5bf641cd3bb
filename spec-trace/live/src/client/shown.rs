//! What a run has shown: the clauses by which the producer could have been wrong in it.
//!
//! The one thing to know: a clause stands here only where the judge of the recording, or [`Wrong`], would have said so.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::run::{Fault, Question, Replied, Run, What, name};
use super::script::{QUIET, Script};

/// What has to come about before a clause can be shown.
pub const SHOWN: [(&str, Option<&str>); 50] = [
    ("AAEP-6.1-1", None),
    ("AAEP-6.1-2", None),
    ("AAEP-6.1-3", None),
    ("AAEP-6.1-5", None),
    ("AAEP-6.1-6", Some(ACTION)),
    ("AAEP-6.2-1", None),
    ("AAEP-6.2.1-1", None),
    ("AAEP-6.2.2-1", None),
    ("AAEP-6.2.2-3", None),
    ("AAEP-6.2.4-1", Some(TOKEN)),
    ("AAEP-6.3.1-1", None),
    ("AAEP-6.3.4-1", None),
    ("AAEP-6.3.4-2", None),
    ("AAEP-6.3.4-3", None),
    ("AAEP-6.3.4-4", None),
    ("AAEP-6.3.4-5", Some(NAMED)),
    ("AAEP-6.3.4-6", Some(RESTRICTED)),
    ("AAEP-6.3.4-7", None),
    ("AAEP-6.3.4-9", None),
    ("AAEP-6.3.5-1", None),
    ("AAEP-6.4-1", None),
    ("AAEP-6.4.1-1", Some(GRAVE)),
    ("AAEP-6.4.1-2", Some(MEDIUM)),
    ("AAEP-6.6-4", None),
    ("AAEP-6.7-1", None),
    ("AAEP-6.7.1-1", None),
    ("AAEP-6.9-1", Some(TOKEN)),
    ("AAEP-6.9-2", None),
    ("AAEP-REPLY-12", None),
    ("AAEP-REPLY-14", Some(NAMED)),
    ("AAEP-A.1-1", None),
    ("AAEP-A.1-2", None),
    ("AAEP-A.1-3", None),
    ("AAEP-A.3-1", None),
    ("AAEP-A.3-2", None),
    ("AAEP-A.4-2", None),
    ("AAEP-A.4-3", None),
    ("AAEP-A.4-4", None),
    ("AAEP-A.6-1", Some(OUTPUT)),
    ("AAEP-A.6-2", Some(OUTPUT)),
    ("AAEP-A.7.4-1", Some(IRREVERSIBLE)),
    ("AAEP-EV-1", None),
    ("AAEP-EV-2", None),
    ("AAEP-EV-3", None),
    ("AAEP-EV-4", Some(NUMBERS)),
    ("AAEP-EV-5", None),
    ("AAEP-EV-6", None),
    ("AAEP-EV-7", None),
    ("AAEP-EV-8", Some(STATES)),
    ("AAEP-EV-13", Some(CALLS)),
];

pub(super) const TOKEN: &str = "a bearer token";
pub(super) const NAMED: &str = "a subscription that the producer names";
pub(super) const RESTRICTED: &str = "a question that does not allow both decisions";
const GRAVE: &str = "a question about an irreversible action of high risk";
const MEDIUM: &str = "a question about an irreversible action of medium risk";
const IRREVERSIBLE: &str = "an irreversible action";
const OUTPUT: &str = "output that is streamed";
const ACTION: &str = "a question that names its action in extensions.countersign";
const NUMBERS: &str = "events with numbers";
const STATES: &str = "a change of state";
const CALLS: &str = "two calls with ids in one session";

/// Something wrong that no recording shows.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The clause.
    pub clause: &'static str,
    /// What was seen.
    pub actual: String,
    /// The step after which it shows, from 0.
    pub step: usize,
}

/// What a run has shown.
pub(super) fn shown(run: &Run<'_>, script: Script) -> BTreeSet<&'static str> {
    let events: Vec<(&Value, Instant)> = run.log.iter().filter_map(event).collect();
    let mut shown = BTreeSet::new();
    let mut add = |holds: bool, clauses: &[&'static str]| {
        if holds {
            shown.extend(clauses);
        }
    };
    let named = |wanted: &str| events.iter().filter(|(it, _)| name(it) == wanted).count();
    let has = |wanted: &str| named(wanted) > 0;
    let is_over = run.is_over();
    let (count, sessions) = (events.len(), run.sessions.len());
    add(
        count > 0,
        &["AAEP-EV-1", "AAEP-EV-2", "AAEP-EV-5", "AAEP-A.1-1"],
    );
    add(count > sessions, &["AAEP-EV-3", "AAEP-EV-7"]);
    let numbered = events
        .iter()
        .filter(|(it, _)| it["sequence_number"].is_number());
    add(numbered.count() > sessions, &["AAEP-EV-4"]);
    add(is_over && sessions > 0, &["AAEP-A.1-2", "AAEP-A.1-3"]);
    add(has("state.changed"), &["AAEP-EV-8"]);
    add(has("tool.invoked") && is_over, &["AAEP-A.3-1"]);
    add(has("tool.completed"), &["AAEP-A.3-2"]);
    add(has("output.streaming") && is_over, &["AAEP-A.6-1"]);
    add(has("output.streaming"), &["AAEP-A.6-2"]);
    add(calls_of_a_session(&events) > 1, &["AAEP-EV-13"]);
    let asked = !run.questions.is_empty();
    add(asked, &["AAEP-6.2-1", "AAEP-6.2.1-1", "AAEP-EV-6"]);
    add(run.questions.len() > 1, &["AAEP-6.2.2-1", "AAEP-6.2.2-3"]);
    for question in run.questions.iter().filter(|it| it.is_confirmation()) {
        let rating = (
            &question.event["irreversible"],
            question.event["risk_level"].as_str(),
        );
        add(rating == (&true.into(), Some("high")), &["AAEP-6.4.1-1"]);
        add(rating == (&true.into(), Some("medium")), &["AAEP-6.4.1-2"]);
        shown_by_question(run, script, question, &mut add);
    }
    let faults: BTreeSet<Fault> = replies(run).filter_map(|(it, _)| it.fault).collect();
    add(faults.len() > 1, &["AAEP-6.3.4-9"]);
    shown
}

/// What became of one question.
fn shown_by_question(
    run: &Run<'_>,
    script: Script,
    question: &Question,
    add: &mut impl FnMut(bool, &[&'static str]),
) {
    let of_it = || replies(run).filter(|(it, _)| it.token == question.token);
    let is_over = run.sessions.get(&question.session) == Some(&true);
    let shows = question.shows_its_call() && !runs_unasked(run, question);
    // While nobody has answered it, it was waited a while.
    let first = of_it().next().map(|(_, at)| at);
    let was_quiet = first.is_none_or(|at| at >= question.heard + QUIET);
    add(
        shows && was_quiet,
        &["AAEP-6.1-1", "AAEP-6.1-5", "AAEP-6.1-6"],
    );
    let irreversible = question.event["irreversible"] == true;
    add(irreversible && was_quiet, &["AAEP-A.7.4-1"]);
    let valid = of_it().find(|(it, _)| it.fault.is_none());
    let is_modified = script == Script::Modified;
    if let Some((reply, at)) = valid.filter(|_| is_over && !is_modified) {
        let deadline = question.timeout().map(|it| question.heard + it);
        // So near the deadline the judge does not go by it.
        let is_certain = reply.is_known
            && (200..300).contains(&reply.status)
            && deadline.is_some_and(|it| at + Duration::from_secs(5) < it);
        let accepted = reply.accepts && is_certain;
        add(accepted, &["AAEP-A.4-3", "AAEP-6.6-4"]);
        let rejected = !reply.accepts && is_certain;
        add(rejected, &["AAEP-6.1-2", "AAEP-6.1-3", "AAEP-A.4-2"]);
        add(rejected && shows, &["AAEP-A.4-4"]);
    }
    for (reply, at) in of_it().filter(|(it, _)| it.accepts) {
        let Some(fault) = reply.fault else { continue };
        let is_decided = of_it().any(|(it, then)| it.fault.is_none() && then < at);
        // What is wrong with it does not matter where another check fails as well.
        let is_alone = matches!(fault, Fault::Used) || !is_decided;
        let is_late = fault == Fault::Late && script == Script::Timeout;
        add(shows && is_alone && !is_late, clauses(fault));
        add(shows && is_alone && !is_late, &["AAEP-6.3.4-7"]);
        let is_stranger = fault == Fault::NotAuthenticated;
        add(
            shows && is_alone && is_stranger,
            &["AAEP-6.2.4-1", "AAEP-6.9-1"],
        );
    }
    let accepts = of_it()
        .filter(|(it, _)| it.accepts && it.fault.is_none())
        .count();
    add(
        shows && accepts > 1 && is_over,
        &["AAEP-6.7.1-1", "AAEP-6.3.5-1"],
    );
    let told_by = run.told_by.get(&question.token).map_or(0, BTreeSet::len);
    let is_told_to_two = matches!(script, Script::AtOnce | Script::ComesBack);
    add(is_told_to_two && told_by > 1, &["AAEP-6.7-1"]);
    let deadline = question.timeout().map(|it| question.heard + it);
    let is_left = valid.is_none() && script == Script::Timeout;
    let has_passed = deadline.is_some_and(|it| it < Instant::now());
    add(shows && is_left && has_passed && is_over, &["AAEP-6.4-1"]);
}

/// Whether more irreversible calls than acceptances came before the answer to a question. Then a call that follows from a reply shows
/// no more.
fn runs_unasked(run: &Run<'_>, question: &Question) -> bool {
    let before = run.log.iter().take_while(|it| match &it.what {
        What::Event(_) => true,
        What::Reply(reply) => reply.token != question.token,
    });
    let (mut calls, mut accepted) = (0, 0);
    for entry in before {
        match &entry.what {
            What::Event(event) => {
                let is_own = event["session_id"] == question.session.as_str();
                let is_call = name(event) == "tool.invoked" && event["irreversible"] == true;
                calls += usize::from(is_own && is_call);
            }
            What::Reply(reply) => {
                accepted += usize::from(reply.accepts && reply.fault.is_none());
            }
        }
    }
    calls > accepted
}

/// The clauses that forbid to honour a reply with this fault.
const fn clauses(fault: Fault) -> &'static [&'static str] {
    match fault {
        Fault::Malformed => &["AAEP-6.3.4-1"],
        Fault::OtherKind => &["AAEP-6.3.1-1"],
        Fault::UnknownToken => &["AAEP-6.3.4-2"],
        Fault::Used => &[
            "AAEP-6.3.4-3",
            "AAEP-6.3.5-1",
            "AAEP-REPLY-12",
            "AAEP-6.9-2",
        ],
        Fault::Late => &["AAEP-6.3.4-4"],
        Fault::NotOpen => &["AAEP-6.3.4-5", "AAEP-REPLY-14"],
        Fault::NotAuthenticated => &["AAEP-6.3.4-5"],
        Fault::NotAllowed => &["AAEP-6.3.4-6"],
    }
}

/// What is wrong and does not show in the recording.
pub(super) fn wrong(run: &Run<'_>, script: Script) -> Vec<Wrong> {
    let step = run.steps.len().saturating_sub(1);
    let mut wrong = Vec::new();
    // AAEP-6.3.4-9: replies that fail a check are answered alike. All of these are JSON of the right media type.
    let failed = replies(run).map(|(it, _)| it).filter(|it| {
        let is_told = !matches!(it.fault, None | Some(Fault::Used));
        // Whom the transport turns away learns that, and it may be busy or broken.
        is_told && !matches!(it.status, 401 | 403 | 408 | 429 | 500..)
    });
    let statuses: BTreeMap<Fault, u16> = failed
        .filter_map(|it| Some((it.fault?, it.status)))
        .collect();
    let different: BTreeSet<u16> = statuses.values().copied().collect();
    if script == Script::Answers && different.len() > 1 {
        let told = statuses
            .iter()
            .map(|(fault, status)| format!("{} to {}", status, words(*fault)));
        let told: Vec<String> = told.collect();
        wrong.push(Wrong {
            clause: "AAEP-6.3.4-9",
            actual: format!(
                "replies that fail a check are told apart by the status: {}",
                told.join(", ")
            ),
            step,
        });
    }
    // AAEP-6.7-1: a question comes to each subscriber.
    let is_told_to_two =
        matches!(script, Script::AtOnce | Script::ComesBack) && run.followers() == 2;
    let returned = run.steps.iter().any(|it| it.asked.ends_with("comes back"));
    let both =
        is_told_to_two && (script == Script::AtOnce || returned && run.wire.keeps_subscriptions());
    let untold = run.questions.iter().find(|it| {
        run.told_by
            .get(&it.token)
            .is_some_and(|told_by| told_by.len() == 1)
    });
    if let Some(question) = untold.filter(|_| both && run.trouble.is_none()) {
        wrong.push(Wrong {
            clause: "AAEP-6.7-1",
            actual: format!(
                "of two subscribers one was not told of the question {}",
                question.token
            ),
            step,
        });
    }
    wrong
}

const fn words(fault: Fault) -> &'static str {
    match fault {
        Fault::Malformed => "a malformed one",
        Fault::OtherKind => "one of the other kind",
        Fault::UnknownToken => "an unknown token",
        Fault::Used => "a used token",
        Fault::Late => "one that was decided late",
        Fault::NotOpen => "a subscription that is not open",
        Fault::NotAuthenticated => "a sender that is not authenticated",
        Fault::NotAllowed => "a decision that is not allowed",
    }
}

fn event(entry: &super::run::Entry) -> Option<(&Value, Instant)> {
    match &entry.what {
        What::Event(event) => Some((event, entry.at)),
        What::Reply(_) => None,
    }
}

/// The replies that were answered, each with the time of its answer.
fn replies<'a>(run: &'a Run<'_>) -> impl Iterator<Item = (&'a Replied, Instant)> {
    run.log.iter().filter_map(|entry| match &entry.what {
        What::Reply(reply) => Some((reply, entry.at)),
        What::Event(_) => None,
    })
}

/// The most calls with an id that one session has.
fn calls_of_a_session(events: &[(&Value, Instant)]) -> usize {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for (event, _) in events {
        if name(event) == "tool.invoked" && event["tool_call_id"].is_string() {
            *calls
                .entry(event["session_id"].as_str().unwrap_or_default())
                .or_default() += 1;
        }
    }
    calls.into_values().max().unwrap_or(0)
}
