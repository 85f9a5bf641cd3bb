//! The judge: parties that do right in different ways pass, and one thing wrong is one finding, of the right clause.

use countersign_model::judge::{Judge, Kind};
use countersign_model::pending_action::judge::PendingActionJudge;
use countersign_model::pending_action::judge::words::{
    Call, Decide, Decision, Effect, Event, Message, Outcome, Output, Proposal, Status, Terms,
    ToolCall,
};
use countersign_model::pending_action::readings::{
    DecidersAbsent, ExpiryAbsent, ExpiryBoundary, InDoubt, ReadEffect, Reading,
};

const AGENT: u32 = 1;
const USER: u32 = 2;
const OTHER: u32 = 3;
const SESSION: u32 = 1;
const EXPIRES: i64 = 60_000;
const CALL: ToolCall = ToolCall {
    tool: 1,
    arguments: 1,
};
const OTHER_CALL: ToolCall = ToolCall {
    tool: 1,
    arguments: 2,
};
const RESULT: Option<u32> = Some(9);
const SUCCESS: Outcome = Outcome::Finished(Status::Success);

/// A party's calls, each with its time and what was put out for it.
#[derive(Clone)]
struct Run {
    reading: Reading,
    steps: Vec<(i64, Call, Vec<Output>)>,
}

impl Run {
    fn new(reading: Reading) -> Self {
        let steps = Vec::new();
        Self { reading, steps }
    }

    fn then(&self, now: i64, call: Call, outputs: &[Output]) -> Self {
        let mut run = self.clone();
        run.steps.push((now, call, outputs.to_vec()));
        run
    }

    /// The clauses of what the judge finds, in the order in which it does.
    fn findings(&self) -> Vec<(&'static str, Kind)> {
        let mut judge = PendingActionJudge::new(self.reading);
        let steps = self.steps.iter();
        let found = steps.flat_map(|(now, call, outputs)| judge.see(*now, call, outputs));
        found.map(|it| (it.clause, it.kind)).collect()
    }

    #[track_caller]
    fn conforms(&self) {
        assert_eq!(self.findings(), []);
    }

    #[track_caller]
    fn breaks(&self, clause: &'static str) {
        assert_eq!(self.findings(), [(clause, Kind::Conformance)]);
    }

    /// It breaks what is stated without a reading.
    #[track_caller]
    fn endangers(&self, clause: &'static str) {
        assert_eq!(self.findings(), [(clause, Kind::Guarantee)]);
    }

    /// The one thing that is found breaks these clauses, the first before all.
    #[track_caller]
    fn names(&self, clauses: &[&'static str]) {
        let mut judge = PendingActionJudge::new(self.reading);
        let steps = self.steps.iter();
        let found = steps.flat_map(|(now, call, outputs)| judge.see(*now, call, outputs));
        let named = found.flat_map(|it| [&[it.clause], it.also].concat());
        assert_eq!(named.collect::<Vec<_>>(), clauses);
    }

    /// The same run with the last outputs changed.
    fn but(&self, change: impl FnOnce(&mut Vec<Output>)) -> Self {
        let mut run = self.clone();
        if let Some((_, _, outputs)) = run.steps.last_mut() {
            change(outputs);
        }
        run
    }

    /// The same run without one of the last outputs.
    fn without(&self, output: &Output) -> Self {
        self.but(|outputs| {
            let before = outputs.len();
            outputs.retain(|it| it != output);
            assert_eq!(outputs.len() + 1, before, "it was there");
        })
    }

    fn with(&self, output: Output) -> Self {
        self.but(|outputs| outputs.push(output))
    }

    fn instead(&self, output: &Output, other: Output) -> Self {
        self.without(output).with(other)
    }
}

fn proposal() -> Proposal {
    Proposal {
        terms: Terms {
            agent: AGENT,
            session: SESSION,
            run: 1,
            call: CALL,
            effect: Effect::Destructive,
            summary: 1,
            label: 2,
            expires_at: Some(EXPIRES),
        },
        deciders: Some(vec![USER]),
        idempotent: false,
        within_limits: true,
    }
}

const fn event(event: Event) -> Output {
    Output::Event { event, text: 0 }
}

const fn append(message: Message) -> Output {
    Output::Append {
        message,
        session: None,
        text: 0,
    }
}

const fn created_as(action: u32, terms: Terms) -> Output {
    event(Event::Created {
        action,
        nonce: Some(100 + action),
        terms,
    })
}

fn created(action: u32) -> Output {
    created_as(action, proposal().terms)
}

const fn decided(action: u32, decision: Decision) -> Output {
    event(Event::Decided { action, decision })
}

const fn perform(action: u32) -> Output {
    Output::Perform { action, call: CALL }
}

const fn call_message(action: u32) -> Output {
    append(Message::ToolCall { action, call: CALL })
}

const fn result(action: u32, outcome: Outcome) -> Output {
    let result = match outcome {
        Outcome::Finished(_) => RESULT,
        Outcome::Denied | Outcome::Cancelled | Outcome::Expired => None,
    };
    append(Message::ToolResult {
        action,
        outcome,
        result,
    })
}

const fn executed(action: u32) -> Output {
    event(Event::Executed {
        action,
        status: Some(Status::Success),
        result: None,
    })
}

const fn expired(action: u32) -> Output {
    event(Event::Expired { action })
}

const fn cancelled(action: u32) -> Output {
    event(Event::Cancelled { action })
}

const fn decide(action: u32, decision: Decision) -> Decide {
    Decide {
        action,
        nonce: None,
        decision,
        by: Some(USER),
        arguments: None,
    }
}

const fn allow(action: u32) -> Call {
    Call::Decide(decide(action, Decision::Allow))
}

const fn deny(action: u32) -> Call {
    Call::Decide(decide(action, Decision::Deny))
}

const fn finish(action: u32, status: Status) -> Call {
    Call::FinishTool {
        action,
        status,
        result: RESULT,
    }
}

/// One action is proposed.
fn asked() -> Run {
    let run = Run::new(Reading::SPECIFICATION);
    run.then(0, Call::Propose(proposal()), &[created(1)])
}

/// As many are proposed, one a millisecond.
fn all_asked(actions: u32) -> Run {
    let asked = |run: Run, action: u32| run.then(0, Call::Propose(proposal()), &[created(action)]);
    (1..=actions).fold(Run::new(Reading::SPECIFICATION), asked)
}

fn honoured(action: u32) -> [Output; 3] {
    [
        decided(action, Decision::Allow),
        perform(action),
        call_message(action),
    ]
}

fn allowed() -> Run {
    asked().then(10, allow(1), &honoured(1))
}

fn denied() -> Run {
    let outputs = [decided(1, Decision::Deny), result(1, Outcome::Denied)];
    asked().then(10, deny(1), &outputs)
}

fn finished() -> Run {
    let outputs = [result(1, SUCCESS), executed(1)];
    allowed().then(20, finish(1, Status::Success), &outputs)
}

/// The same under another reading.
fn read_as(run: &Run, change: impl FnOnce(&mut Reading)) -> Run {
    let mut run = run.clone();
    change(&mut run.reading);
    run
}

// Parties that do right in different ways.

/// PA-1 to PA-8, PA-10, PA-11: messages and events, and an audit for what is ignored.
#[test]
fn a_party_that_tells_everything_twice_over_conforms() {
    let denial = [
        decided(2, Decision::Deny),
        event(Event::Denied { action: 2 }),
        call_message(2),
        result(2, Outcome::Denied),
    ];
    all_asked(4)
        .then(10, allow(1), &honoured(1))
        .then(11, allow(1), &[Output::Audit])
        .then(12, deny(2), &denial)
        .then(
            13,
            Call::Cancel { action: 3 },
            &[cancelled(3), result(3, Outcome::Cancelled)],
        )
        .then(
            14,
            Call::Say {
                by: Some(USER),
                text: 5,
            },
            &[said(5)],
        )
        .then(
            20,
            finish(1, Status::Success),
            &[executed(1), result(1, SUCCESS)],
        )
        .then(
            EXPIRES,
            Call::Tick,
            &[expired(4), result(4, Outcome::Expired)],
        )
        .conforms();
}

/// PA-4, PA-10: the call and its result are events; what is not allowed is refused.
#[test]
fn a_party_that_tells_by_events_alone_conforms() {
    let called = event(Event::Called {
        action: 1,
        call: CALL,
    });
    let executed = event(Event::Executed {
        action: 1,
        status: None,
        result: RESULT,
    });
    all_asked(2)
        .then(
            10,
            allow(1),
            &[perform(1), called, decided(1, Decision::Allow)],
        )
        .then(11, allow(1), &[Output::Refused])
        .then(20, finish(1, Status::Success), &[executed])
        .then(21, finish(1, Status::Success), &[Output::Refused])
        .then(EXPIRES, allow(2), &[expired(2), Output::Refused])
        .conforms();
}

/// PA-4, PA-9, PA-10: the transcript holds the question and the call from the beginning, and how each came out; what is
/// ignored is ignored in silence. It gives no nonce.
#[test]
fn a_party_that_lives_in_its_transcript_conforms() {
    let prompt = append(Message::Prompt {
        summary: Some(1),
        label: None,
        exposes: false,
    });
    let created = |action| {
        event(Event::Created {
            action,
            nonce: None,
            terms: proposal().terms,
        })
    };
    let propose = Call::Propose(proposal());
    Run::new(Reading::SPECIFICATION)
        .then(0, propose.clone(), &[created(1), prompt, call_message(1)])
        .then(1, propose, &[created(2), prompt, call_message(2)])
        .then(10, allow(1), &[perform(1), decided(1, Decision::Allow)])
        .then(11, allow(1), &[])
        .then(20, finish(1, Status::Success), &[result(1, SUCCESS)])
        .then(
            30,
            Call::EndSession { session: SESSION },
            &[result(2, Outcome::Cancelled)],
        )
        .then(40, allow(2), &[])
        .conforms();
}

const fn said(text: u32) -> Output {
    append(Message::Said {
        by: Some(USER),
        text,
    })
}

// PA-1

#[test]
fn a_proposal_is_recorded_pa_1() {
    asked().conforms();
    asked().without(&created(1)).breaks("PA-1");
    asked().instead(&created(1), Output::Refused).breaks("PA-1");
}

#[test]
fn a_proposal_beyond_the_limits_or_too_late_may_be_refused_pa_1() {
    let beyond = Proposal {
        within_limits: false,
        ..proposal()
    };
    let run = Run::new(Reading::SPECIFICATION);
    run.then(0, Call::Propose(beyond), &[Output::Refused])
        .conforms();
    let propose = Call::Propose(proposal());
    run.then(EXPIRES - 1, propose.clone(), &[Output::Refused])
        .breaks("PA-1");
    for late in [EXPIRES, EXPIRES + 1] {
        run.then(late, propose.clone(), &[Output::Refused])
            .conforms();
        let recorded = run.then(late, propose.clone(), &[created(1)]);
        recorded.then(late, Call::Tick, &[expired(1)]).conforms();
        recorded.then(late, Call::Tick, &[]).breaks("PA-10");
        recorded
            .with(expired(1))
            .then(late, allow(1), &[])
            .conforms();
        recorded
            .with(expired(1))
            .then(late, Call::Tick, &[])
            .conforms();
    }
}

/// PA-1: what names no value that is allowed cannot be recorded as it was proposed.
#[test]
fn what_is_beyond_the_limits_and_recorded_otherwise_was_to_be_refused_pa_1() {
    for (within_limits, expected) in [
        (
            true,
            "the record of action 1 must hold what was proposed: label",
        ),
        (
            false,
            "the proposal must be refused, as beyond the limits: label",
        ),
    ] {
        let mut proposed = proposal();
        (proposed.terms.label, proposed.within_limits) = (7, within_limits);
        let mut judge = PendingActionJudge::new(Reading::SPECIFICATION);
        let found = judge.see(0, &Call::Propose(proposed), &[created(1)]);
        let told: Vec<&str> = found.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(told, [expected]);
    }
}

#[test]
fn the_record_holds_what_was_proposed_pa_1() {
    let terms = proposal().terms;
    let changed = [
        Terms { agent: 7, ..terms },
        Terms {
            session: 7,
            ..terms
        },
        Terms { run: 7, ..terms },
        Terms {
            call: ToolCall { tool: 7, ..CALL },
            ..terms
        },
        Terms {
            call: OTHER_CALL,
            ..terms
        },
        Terms {
            effect: Effect::Write,
            ..terms
        },
        Terms {
            summary: 7,
            ..terms
        },
        Terms { label: 7, ..terms },
        Terms {
            expires_at: Some(EXPIRES + 1),
            ..terms
        },
        Terms {
            expires_at: None,
            ..terms
        },
    ];
    for terms in changed {
        asked()
            .instead(&created(1), created_as(1, terms))
            .breaks("PA-1");
    }
}

#[test]
fn ids_and_nonces_are_never_used_again_pa_1() {
    let propose = Call::Propose(proposal());
    finished()
        .then(30, propose.clone(), &[created(2)])
        .conforms();
    finished()
        .then(30, propose.clone(), &[created(1)])
        .breaks("PA-1");
    let nonce_again = event(Event::Created {
        action: 2,
        nonce: Some(101),
        terms: proposal().terms,
    });
    finished().then(30, propose, &[nonce_again]).breaks("PA-1");
}

#[test]
fn a_decision_names_its_action_and_the_right_nonce_pa_1() {
    let with_nonce = |nonce| {
        Call::Decide(Decide {
            nonce: Some(nonce),
            ..decide(1, Decision::Allow)
        })
    };
    asked().then(10, with_nonce(101), &honoured(1)).conforms();
    all_asked(2)
        .then(10, with_nonce(102), &[Output::Audit])
        .conforms();
    all_asked(2)
        .then(10, with_nonce(102), &honoured(1))
        .endangers("PA-1");
    asked().then(10, allow(2), &[Output::Audit]).conforms();
    asked().then(10, allow(2), &[perform(2)]).endangers("PA-1");
}

#[test]
fn nothing_runs_that_nobody_allowed_pa_1() {
    asked().with(perform(1)).endangers("PA-1");
    asked()
        .then(10, Call::Tick, &[perform(1)])
        .endangers("PA-1");
    all_asked(3)
        .then(10, allow(1), &honoured(1))
        .with(perform(3))
        .endangers("PA-1");
}

// PA-2

#[test]
fn a_valid_decision_settles_the_action_pa_2() {
    allowed().conforms();
    asked().then(10, allow(1), &[]).breaks("PA-2");
    asked().then(10, allow(1), &[Output::Audit]).breaks("PA-2");
    // What was stopped for a decision does not resume.
    asked().then(10, allow(1), &[]).names(&["PA-2", "PA-1"]);
    asked().then(10, deny(1), &[]).names(&["PA-2"]);
    asked().then(10, deny(1), &[Output::Refused]).breaks("PA-2");
}

#[test]
fn who_is_named_decides_and_nobody_else_pa_2() {
    let by = |by| {
        Call::Decide(Decide {
            by,
            ..decide(1, Decision::Allow)
        })
    };
    asked()
        .then(10, by(Some(OTHER)), &[Output::Audit])
        .conforms();
    asked()
        .then(10, by(Some(OTHER)), &honoured(1))
        .endangers("PA-2");
    asked()
        .then(10, by(Some(AGENT)), &honoured(1))
        .endangers("PA-2");
    asked().then(10, by(None), &honoured(1)).endangers("PA-2");
    let said_only = [decided(1, Decision::Allow)];
    asked().then(10, by(Some(OTHER)), &said_only).breaks("PA-2");
    let agent_too = Proposal {
        deciders: Some(vec![USER, AGENT]),
        ..proposal()
    };
    Run::new(Reading::SPECIFICATION)
        .then(0, Call::Propose(agent_too), &[created(1)])
        .then(10, by(Some(AGENT)), &honoured(1))
        .conforms();
}

/// Anyone but the agent that proposed, where nobody is named; by another reading, nobody.
#[test]
fn where_nobody_is_named_the_proposing_agent_does_not_decide_pa_2() {
    let open_to_all = Proposal {
        deciders: None,
        ..proposal()
    };
    let asked = Run::new(Reading::SPECIFICATION).then(0, Call::Propose(open_to_all), &[created(1)]);
    let by = |by| {
        Call::Decide(Decide {
            by,
            ..decide(1, Decision::Allow)
        })
    };
    asked.then(10, by(Some(OTHER)), &honoured(1)).conforms();
    asked.then(10, by(Some(AGENT)), &honoured(1)).breaks("PA-2");
    asked.then(10, by(None), &honoured(1)).endangers("PA-2");
    let nobody = read_as(&asked, |it| it.deciders_absent = DecidersAbsent::Nobody);
    nobody.then(10, by(Some(OTHER)), &[]).conforms();
    nobody
        .then(10, by(Some(OTHER)), &honoured(1))
        .breaks("PA-2");
}

// PA-3

#[test]
fn what_is_allowed_runs_as_it_was_proposed_pa_3() {
    allowed().without(&perform(1)).breaks("PA-3");
    let other = Output::Perform {
        action: 1,
        call: OTHER_CALL,
    };
    let run_otherwise = asked().then(10, allow(1), &[decided(1, Decision::Allow), other]);
    run_otherwise.endangers("PA-3");
}

/// Who allows other arguments allows nothing; who denies with other arguments denies.
#[test]
fn a_decision_with_other_arguments_denies_or_is_void_pa_3() {
    let with = |arguments, decision| {
        Call::Decide(Decide {
            arguments: Some(arguments),
            ..decide(1, decision)
        })
    };
    asked()
        .then(10, with(1, Decision::Allow), &honoured(1))
        .conforms();
    asked().then(10, with(2, Decision::Allow), &[]).conforms();
    asked()
        .then(10, with(2, Decision::Allow), &honoured(1))
        .endangers("PA-3");
    let denial = [decided(1, Decision::Deny), result(1, Outcome::Denied)];
    asked()
        .then(10, with(2, Decision::Deny), &denial)
        .conforms();
    asked()
        .then(10, with(2, Decision::Deny), &[])
        .breaks("PA-2");
}

// PA-4

#[test]
fn call_and_result_are_told_of_and_in_this_order_pa_4() {
    finished().conforms();
    let call_untold = allowed().without(&call_message(1));
    let at_the_end = [call_message(1), result(1, SUCCESS), executed(1)];
    let finish = finish(1, Status::Success);
    call_untold.then(20, finish.clone(), &at_the_end).conforms();
    call_untold
        .then(20, finish.clone(), &at_the_end[1..])
        .breaks("PA-4");
    let result_first = [result(1, SUCCESS), call_message(1), executed(1)];
    call_untold
        .then(20, finish.clone(), &result_first)
        .breaks("PA-4");
    allowed().then(20, finish, &[executed(1)]).breaks("PA-4");
    let other_call = append(Message::ToolCall {
        action: 1,
        call: OTHER_CALL,
    });
    allowed()
        .instead(&call_message(1), other_call)
        .breaks("PA-4");
}

#[test]
fn the_result_is_the_one_reported_pa_4() {
    let message = |outcome, result| {
        append(Message::ToolResult {
            action: 1,
            outcome,
            result,
        })
    };
    let right = result(1, SUCCESS);
    let other_result = message(SUCCESS, Some(8));
    let other_status = message(Outcome::Finished(Status::Error), RESULT);
    finished().instead(&right, other_result).breaks("PA-4");
    finished().instead(&right, other_status).breaks("PA-4");
    finished()
        .instead(&right, message(SUCCESS, None))
        .breaks("PA-4");
    finished()
        .instead(&right, result(1, Outcome::Denied))
        .breaks("PA-4");
}

// PA-5

#[test]
fn what_was_denied_or_cancelled_does_not_run_pa_5() {
    let cancelled = asked().then(10, Call::Cancel { action: 1 }, &[cancelled(1)]);
    for settled in [denied(), cancelled] {
        settled.then(11, allow(1), &[Output::Audit]).conforms();
        settled.then(11, allow(1), &honoured(1)).endangers("PA-5");
        settled
            .then(11, Call::Tick, &[perform(1)])
            .endangers("PA-5");
        settled
            .then(11, deny(1), &[decided(1, Decision::Deny)])
            .breaks("PA-5");
    }
}

#[test]
fn a_question_can_be_taken_back_pa_5() {
    asked()
        .then(10, Call::Cancel { action: 1 }, &[Output::Refused])
        .breaks("PA-5");
    asked()
        .then(10, Call::Cancel { action: 1 }, &[])
        .breaks("PA-10");
    for not_open in [allowed(), denied(), finished()] {
        let cancel = Call::Cancel { action: 1 };
        not_open
            .then(30, cancel.clone(), &[Output::Refused])
            .conforms();
        not_open.then(30, cancel.clone(), &[]).conforms();
        not_open.then(30, cancel, &[cancelled(1)]).breaks("PA-10");
    }
}

/// The end of a session cancels what is open in it, and nothing else.
#[test]
fn the_end_of_a_session_takes_back_what_is_open_in_it_pa_5() {
    let elsewhere = Terms {
        session: 2,
        ..proposal().terms
    };
    let propose = Call::Propose(Proposal {
        terms: elsewhere,
        ..proposal()
    });
    let run = all_asked(3)
        .then(1, propose.clone(), &[created_as(4, elsewhere)])
        .then(10, allow(2), &honoured(2));
    let end = Call::EndSession { session: SESSION };
    let ended = run.then(20, end.clone(), &[cancelled(1), cancelled(3)]);
    ended.conforms();
    ended.without(&cancelled(3)).breaks("PA-10");
    ended.with(cancelled(4)).breaks("PA-10");
    ended.with(cancelled(2)).breaks("PA-10");
    run.then(20, end, &[Output::Refused]).breaks("PA-5");
    ended.then(21, allow(4), &honoured(4)).conforms();
    ended.then(21, allow(1), &honoured(1)).endangers("PA-5");
    ended
        .then(
            21,
            finish(2, Status::Success),
            &[executed(2), result(2, SUCCESS)],
        )
        .conforms();
    ended
        .then(21, Call::Propose(proposal()), &[Output::Refused])
        .conforms();
    ended
        .then(21, Call::Propose(proposal()), &[created(5)])
        .breaks("PA-5");
    ended
        .then(21, propose, &[created_as(5, elsewhere)])
        .conforms();
}

// PA-6

#[test]
fn a_denial_is_appended_pa_6() {
    denied().conforms();
    denied().without(&result(1, Outcome::Denied)).breaks("PA-6");
    let event = event(Event::Denied { action: 1 });
    denied()
        .instead(&result(1, Outcome::Denied), event)
        .breaks("PA-6");
    denied()
        .instead(&result(1, Outcome::Denied), result(1, SUCCESS))
        .breaks("PA-6");
}

// PA-7

/// One before, at, one after.
#[test]
fn at_its_expiry_an_action_expires_and_no_sooner_pa_7() {
    let decide_at = |now, outputs: &[Output]| asked().then(now, allow(1), outputs);
    decide_at(EXPIRES - 1, &honoured(1)).conforms();
    decide_at(EXPIRES - 1, &[expired(1)]).breaks("PA-7");
    asked().then(EXPIRES - 1, Call::Tick, &[]).conforms();
    asked()
        .then(EXPIRES - 1, Call::Tick, &[expired(1)])
        .breaks("PA-7");
    for late in [EXPIRES, EXPIRES + 1] {
        decide_at(late, &[expired(1), Output::Audit]).conforms();
        let honoured = [&[expired(1)], &honoured(1)[..]].concat();
        let run = decide_at(late, &honoured);
        let kind = if late == EXPIRES {
            Kind::Conformance
        } else {
            Kind::Guarantee
        };
        assert_eq!(run.findings(), [("PA-7", kind)]);
        asked().then(late, Call::Tick, &[expired(1)]).conforms();
        asked().then(late, Call::Tick, &[]).breaks("PA-10");
        let late_denial = [
            expired(1),
            decided(1, Decision::Deny),
            result(1, Outcome::Denied),
        ];
        asked().then(late, deny(1), &late_denial).breaks("PA-7");
    }
}

/// The reading `expiry-boundary=after`: one before, at, one after.
#[test]
fn by_the_other_reading_it_expires_after_its_expiry_pa_7() {
    let asked = read_as(&asked(), |it| it.expiry_boundary = ExpiryBoundary::After);
    for in_time in [EXPIRES - 1, EXPIRES] {
        asked.then(in_time, allow(1), &honoured(1)).conforms();
        asked
            .then(in_time, Call::Tick, &[expired(1)])
            .breaks("PA-7");
    }
    asked
        .then(EXPIRES + 1, Call::Tick, &[expired(1)])
        .conforms();
    asked.then(EXPIRES + 1, Call::Tick, &[]).breaks("PA-10");
}

/// The greatest time so far counts.
#[test]
fn a_clock_that_steps_back_opens_nothing_again_pa_7() {
    let run = asked().then(EXPIRES, Call::Tick, &[expired(1)]);
    run.then(0, allow(1), &[]).conforms();
    run.then(0, allow(1), &honoured(1)).breaks("PA-7");
    let asked_late = run.then(0, Call::Propose(proposal()), &[created(2)]);
    asked_late.then(0, allow(2), &[expired(2)]).conforms();
    asked_late.then(0, allow(2), &honoured(2)).breaks("PA-7");
}

#[test]
fn without_expiry_an_action_is_open_for_ever_pa_7() {
    let terms = Terms {
        expires_at: None,
        ..proposal().terms
    };
    let propose = Call::Propose(Proposal {
        terms,
        ..proposal()
    });
    let run = Run::new(Reading::SPECIFICATION).then(0, propose, &[created_as(1, terms)]);
    run.then(i64::MAX, Call::Tick, &[expired(1)]).breaks("PA-7");
    run.then(i64::MAX, allow(1), &honoured(1)).conforms();
}

/// The reading `expiry-absent`: the record states when it expires, or there is none.
#[test]
fn without_expiry_an_action_expires_or_is_refused_as_the_reading_says_pa_7() {
    let terms = |expires_at| Terms {
        expires_at,
        ..proposal().terms
    };
    let propose = || {
        Call::Propose(Proposal {
            terms: terms(None),
            ..proposal()
        })
    };
    let read = |expiry_absent| Reading {
        expiry_absent,
        ..Reading::SPECIFICATION
    };
    let asked = |expiry_absent, recorded| {
        let created = created_as(1, terms(recorded));
        Run::new(read(expiry_absent)).then(0, propose(), &[created])
    };
    let refused =
        |expiry_absent| Run::new(read(expiry_absent)).then(0, propose(), &[Output::Refused]);
    asked(ExpiryAbsent::Never, Some(EXPIRES)).breaks("PA-1");
    refused(ExpiryAbsent::Never).breaks("PA-1");

    let stated = asked(ExpiryAbsent::After, Some(EXPIRES));
    stated.then(EXPIRES - 1, allow(1), &honoured(1)).conforms();
    stated.then(EXPIRES, Call::Tick, &[expired(1)]).conforms();
    stated.then(EXPIRES, Call::Tick, &[]).breaks("PA-10");
    asked(ExpiryAbsent::After, Some(0)).breaks("PA-1");
    asked(ExpiryAbsent::After, Some(1)).conforms();
    asked(ExpiryAbsent::After, None).breaks("PA-1");
    refused(ExpiryAbsent::After).breaks("PA-1");

    refused(ExpiryAbsent::Refused).conforms();
    asked(ExpiryAbsent::Refused, None).breaks("PA-1");
}

// PA-8

#[test]
fn an_action_is_decided_once_and_runs_once_pa_8() {
    for settled in [allowed(), finished()] {
        settled.then(30, allow(1), &[Output::Audit]).conforms();
        settled.then(30, allow(1), &honoured(1)).endangers("PA-8");
        settled.then(30, allow(1), &[perform(1)]).endangers("PA-8");
        settled
            .then(30, deny(1), &[decided(1, Decision::Deny)])
            .breaks("PA-8");
        settled
            .then(30, Call::Tick, &[perform(1)])
            .endangers("PA-8");
    }
    allowed().with(perform(1)).endangers("PA-8");
}

// PA-9

#[test]
fn what_is_shown_is_the_question_without_id_and_arguments_pa_9() {
    let prompt = |summary, label, exposes| {
        append(Message::Prompt {
            summary,
            label,
            exposes,
        })
    };
    asked().with(prompt(Some(1), Some(2), false)).conforms();
    asked().with(prompt(None, None, false)).conforms();
    asked().with(prompt(Some(2), Some(2), false)).breaks("PA-1");
    asked().with(prompt(Some(1), Some(1), false)).breaks("PA-1");
    asked().with(prompt(Some(1), Some(2), true)).breaks("PA-9");
    let twice = asked().with(prompt(Some(1), Some(2), false));
    twice.with(prompt(Some(1), Some(2), false)).breaks("PA-10");
}

// PA-10

#[test]
fn the_decision_is_told_of_as_it_was_pa_10() {
    let told = decided(1, Decision::Allow);
    allowed().without(&told).breaks("PA-10");
    allowed()
        .instead(&told, decided(1, Decision::Deny))
        .breaks("PA-10");
    allowed().with(told).breaks("PA-10");
    denied()
        .without(&decided(1, Decision::Deny))
        .breaks("PA-10");
}

/// What was never begun is told to be that, and not to have run.
#[test]
fn what_became_of_a_released_call_is_told_pa_10() {
    let finish = |status, outputs: &[Output]| allowed().then(20, finish(1, status), outputs);
    finish(Status::Success, &[]).breaks("PA-10");
    finish(Status::Success, &[Output::Refused]).breaks("PA-10");
    let failed = event(Event::Executed {
        action: 1,
        status: Some(Status::Error),
        result: None,
    });
    finish(Status::Success, &[result(1, SUCCESS), failed]).breaks("PA-10");
    let not_run = event(Event::NotRun { action: 1 });
    let never_begun = result(1, Outcome::Finished(Status::NotRun));
    finish(Status::NotRun, &[never_begun, not_run]).conforms();
    finish(Status::NotRun, &[never_begun]).conforms();
    finish(Status::NotRun, &[not_run]).conforms();
    finish(Status::NotRun, &[never_begun, executed(1)]).breaks("PA-10");
    finish(Status::Success, &[result(1, SUCCESS), not_run]).breaks("PA-10");
}

#[test]
fn what_did_not_run_is_not_told_to_have_run_pa_10() {
    for not_running in [asked(), denied(), finished()] {
        let finish = finish(1, Status::Success);
        not_running
            .then(30, finish.clone(), &[Output::Refused])
            .conforms();
        not_running.then(30, finish.clone(), &[]).conforms();
        not_running
            .then(30, finish.clone(), &[executed(1)])
            .breaks("PA-10");
        not_running
            .then(30, finish, &[result(1, SUCCESS)])
            .breaks("PA-10");
    }
    allowed().with(executed(1)).breaks("PA-10");
    asked().then(1, Call::Tick, &[created(1)]).breaks("PA-10");
    asked()
        .then(EXPIRES, Call::Tick, &[expired(1), expired(1)])
        .breaks("PA-10");
    denied()
        .then(EXPIRES, Call::Tick, &[expired(1)])
        .breaks("PA-10");
}

/// An older state that is handed back makes no other action of one that has changed since.
#[test]
fn after_a_rollback_no_action_becomes_another_pa_8() {
    let kept = Output::Snapshot { snapshot: 1 };
    Run::new(Reading::SPECIFICATION)
        .then(0, Call::Snapshot, &[kept])
        .then(1, Call::Propose(proposal()), &[created(1)])
        .then(10, Call::Rollback { snapshot: 1 }, &[])
        .then(11, Call::Propose(proposal()), &[created(1)])
        .names(&["PA-8", "PA-1"]);
}

/// As many outputs as were lost come again, from the end, exactly and in order and first; what was released and has
/// not come back is in doubt, after every restart.
#[test]
fn after_a_crash_what_was_lost_comes_again_and_what_was_released_is_in_doubt_pa_10() {
    let allowed = asked().then(10, allow(1), &honoured(1));
    let doubt = Output::InDoubt { action: 1 };
    let back = |lost, outputs: &[Output]| allowed.then(20, Call::Restart { lost }, outputs);
    back(0, &[doubt]).conforms();
    back(0, &[]).breaks("PA-10");
    back(0, &[call_message(1), doubt]).breaks("PA-10");
    back(1, &[call_message(1), doubt]).conforms();
    back(1, &[doubt]).breaks("PA-10");
    back(1, &[doubt, call_message(1)]).breaks("PA-10");
    back(2, &[call_message(1), doubt]).conforms();
    back(3, &[decided(1, Decision::Allow), call_message(1), doubt]).conforms();
    back(3, &[call_message(1), decided(1, Decision::Allow), doubt]).breaks("PA-10");
    back(99, &[decided(1, Decision::Allow), call_message(1), doubt]).conforms();
    back(0, &[Output::Refused]).breaks("PA-1");
    let again = back(1, &[call_message(1), doubt]);
    again
        .then(30, Call::Restart { lost: 0 }, &[doubt])
        .conforms();
    again
        .then(30, Call::Restart { lost: 1 }, &[doubt])
        .conforms();
    again
        .then(30, Call::Restart { lost: 2 }, &[call_message(1), doubt])
        .conforms();
    again
        .then(30, Call::Restart { lost: 2 }, &[doubt])
        .breaks("PA-10");
    again.then(30, allow(1), &honoured(1)).endangers("PA-8");
    let finished = again.then(
        30,
        finish(1, Status::Success),
        &[executed(1), result(1, SUCCESS)],
    );
    finished.then(40, Call::Restart { lost: 0 }, &[]).conforms();
    finished
        .then(40, Call::Restart { lost: 0 }, &[doubt])
        .breaks("PA-10");
}

#[test]
fn what_comes_again_comes_again_letter_by_letter_pa_10() {
    let created = |text| Output::Event {
        event: Event::Created {
            action: 1,
            nonce: None,
            terms: proposal().terms,
        },
        text,
    };
    let run = Run::new(Reading::SPECIFICATION).then(0, Call::Propose(proposal()), &[created(1)]);
    run.then(1, Call::Restart { lost: 1 }, &[created(1)])
        .conforms();
    assert_eq!(
        run.then(1, Call::Restart { lost: 1 }, &[created(2)])
            .findings(),
        [("PA-10", Kind::Conformance), ("PA-10", Kind::Conformance)],
        "one is missing and one is told that was not lost"
    );
}

/// The expiry falls due while the process is down: after what was lost, before what is in doubt.
#[test]
fn after_a_crash_what_is_due_is_told_pa_10() {
    let run = all_asked(2).then(10, allow(1), &honoured(1));
    let back = |outputs: &[Output]| run.then(EXPIRES, Call::Restart { lost: 1 }, outputs);
    let doubt = Output::InDoubt { action: 1 };
    back(&[call_message(1), expired(2), doubt]).conforms();
    back(&[call_message(1), doubt]).breaks("PA-10");
    back(&[expired(2), call_message(1), doubt]).breaks("PA-10");
}

#[test]
fn a_call_that_may_run_twice_is_run_again_after_a_crash_or_is_in_doubt_pa_8() {
    let idempotent = Proposal {
        idempotent: true,
        ..proposal()
    };
    let allowed = Run::new(Reading::SPECIFICATION)
        .then(0, Call::Propose(idempotent), &[created(1)])
        .then(10, allow(1), &honoured(1));
    let restart = Call::Restart { lost: 0 };
    allowed.then(20, restart.clone(), &[perform(1)]).conforms();
    allowed
        .then(20, restart.clone(), &[Output::InDoubt { action: 1 }])
        .conforms();
    allowed
        .then(20, restart.clone(), &[perform(1), perform(1)])
        .endangers("PA-8");
    allowed
        .then(20, Call::Tick, &[perform(1)])
        .endangers("PA-8");
    let other = Output::Perform {
        action: 1,
        call: OTHER_CALL,
    };
    let doubt = Output::InDoubt { action: 1 };
    allowed
        .then(20, restart.clone(), &[doubt, other])
        .endangers("PA-8");
    allowed
        .then(20, restart.clone(), &[other])
        .endangers("PA-3");
    self::allowed()
        .then(20, restart, &[doubt, perform(1)])
        .endangers("PA-8");
}

/// By the other reading every call runs again, and what may not run twice breaks PA-8 by that; one whose session has ended does not.
#[test]
fn what_is_in_doubt_runs_again_where_the_reading_says_so_pa_3() {
    let reading = Reading {
        in_doubt: InDoubt::RunsAgain,
        ..Reading::SPECIFICATION
    };
    let (doubt, restart) = (Output::InDoubt { action: 1 }, Call::Restart { lost: 0 });
    for idempotent in [true, false] {
        let proposal = Proposal {
            idempotent,
            ..proposal()
        };
        let allowed = Run::new(reading)
            .then(0, Call::Propose(proposal), &[created(1)])
            .then(10, allow(1), &honoured(1));
        let back = |outputs: &[Output]| allowed.then(20, restart.clone(), outputs);
        if idempotent {
            back(&[perform(1)]).conforms();
        } else {
            back(&[perform(1)]).endangers("PA-8");
        }
        back(&[doubt]).breaks("PA-3");
        back(&[]).breaks("PA-3");
        let ended = allowed.then(15, Call::EndSession { session: SESSION }, &[]);
        ended.then(20, restart.clone(), &[doubt]).conforms();
    }
}

#[test]
fn what_is_told_of_an_action_is_appended_in_its_session_pa_10() {
    let appended = |session| Output::Append {
        message: Message::ToolCall {
            action: 1,
            call: CALL,
        },
        session: Some(session),
        text: 0,
    };
    allowed()
        .instead(&call_message(1), appended(SESSION))
        .conforms();
    allowed()
        .instead(&call_message(1), appended(2))
        .breaks("PA-10");
}

#[test]
fn only_a_restart_puts_in_doubt_pa_10() {
    let doubt = Output::InDoubt { action: 1 };
    allowed().then(20, Call::Tick, &[doubt]).breaks("PA-10");
    asked()
        .then(20, Call::Restart { lost: 0 }, &[doubt])
        .breaks("PA-10");
}

// PA-11

#[test]
fn free_text_is_appended_and_decides_nothing_pa_11() {
    let say = |outputs: &[Output]| {
        let say = Call::Say {
            by: Some(USER),
            text: 5,
        };
        asked().then(10, say, outputs)
    };
    say(&[said(5)]).conforms();
    say(&[Output::Refused]).conforms();
    say(&[]).breaks("PA-11");
    say(&[said(6)]).breaks("PA-11");
    say(&[said(5), said(5)]).breaks("PA-10");
    say(&[said(5), decided(1, Decision::Allow)]).breaks("PA-10");
    say(&[said(5), perform(1)]).endangers("PA-1");
    say(&[said(5), perform(1)]).names(&["PA-1", "PA-11"]);
    asked().with(perform(1)).names(&["PA-1"]);
}

// PA-13

/// The reading `read-effect`: a call that only reads pends, or runs at once.
#[test]
fn a_call_that_only_reads_pends_or_runs_at_once_pa_13() {
    let terms = Terms {
        effect: Effect::Read,
        ..proposal().terms
    };
    let propose = Call::Propose(Proposal {
        terms,
        ..proposal()
    });
    let start = Run::new(Reading::SPECIFICATION);
    let created = created_as(1, terms);
    let at_once = [created, perform(1), call_message(1)];
    let pending = start.then(0, propose.clone(), &[created]);
    let running = start.then(0, propose.clone(), &at_once);
    let runs = |run: &Run| read_as(run, |it| it.read_effect = ReadEffect::Runs);
    pending.conforms();
    running.breaks("PA-1");
    runs(&running).conforms();
    runs(&pending).breaks("PA-3");
    runs(&running).with(decided(1, Decision::Allow)).conforms();
    runs(&running)
        .then(1, allow(1), &[decided(1, Decision::Allow)])
        .breaks("PA-8");
    let late = runs(&start).then(EXPIRES, propose, &at_once);
    assert_eq!(
        late.findings(),
        [("PA-1", Kind::Conformance)],
        "it has expired"
    );
}

// A host that hands back an older state.

#[test]
fn after_a_rollback_newer_decisions_may_be_lost_and_nothing_runs_twice_pa_8() {
    let kept = Output::Snapshot { snapshot: 1 };
    let back = Call::Rollback { snapshot: 1 };
    let run = all_asked(3)
        .then(5, Call::Snapshot, &[kept])
        .then(10, allow(1), &honoured(1))
        .then(
            10,
            deny(2),
            &[decided(2, Decision::Deny), result(2, Outcome::Denied)],
        )
        .then(15, back.clone(), &[]);
    run.then(20, allow(1), &[]).conforms();
    run.then(20, allow(1), &honoured(1)).endangers("PA-8");
    run.then(20, allow(2), &[]).conforms();
    run.then(20, allow(2), &honoured(2)).conforms();
    run.then(20, allow(2), &[perform(2), perform(2)])
        .endangers("PA-8");
    let other = Output::Perform {
        action: 2,
        call: OTHER_CALL,
    };
    run.then(20, allow(2), &[other]).endangers("PA-3");
    run.then(20, Call::Tick, &[perform(2)]).endangers("PA-1");
    run.then(20, allow(3), &honoured(3)).conforms();
    run.then(20, allow(3), &[]).breaks("PA-2");
    let refused = all_asked(1)
        .then(5, Call::Snapshot, &[kept])
        .then(
            10,
            deny(1),
            &[decided(1, Decision::Deny), result(1, Outcome::Denied)],
        )
        .then(15, back, &[Output::Refused]);
    refused.then(20, allow(1), &honoured(1)).endangers("PA-5");
}

/// The older state knows an older time, and both are possible.
#[test]
fn after_a_rollback_the_time_may_be_the_older_one_pa_7() {
    let run = Run::new(Reading::SPECIFICATION)
        .then(0, Call::Snapshot, &[Output::Snapshot { snapshot: 1 }])
        .then(EXPIRES, Call::Tick, &[])
        .then(10, Call::Rollback { snapshot: 1 }, &[])
        .then(10, Call::Propose(proposal()), &[created(1)]);
    run.then(10, allow(1), &honoured(1)).conforms();
    run.then(10, allow(1), &[expired(1)]).conforms();
    run.then(10, allow(1), &[]).conforms();
}

/// One fault is one finding: the account follows the party.
#[test]
fn after_a_break_the_account_follows_the_party_pa_8() {
    asked()
        .then(EXPIRES + 1, allow(1), &honoured(1))
        .then(
            EXPIRES + 2,
            finish(1, Status::Success),
            &[executed(1), result(1, SUCCESS)],
        )
        .then(EXPIRES + 3, Call::Restart { lost: 0 }, &[])
        .endangers("PA-7");
    asked()
        .then(10, allow(1), &[Output::Audit])
        .then(EXPIRES, allow(1), &[])
        .breaks("PA-2");
    let other = Terms {
        call: OTHER_CALL,
        ..proposal().terms
    };
    let run = Output::Perform {
        action: 1,
        call: OTHER_CALL,
    };
    Run::new(Reading::SPECIFICATION)
        .then(0, Call::Propose(proposal()), &[created_as(1, other)])
        .then(10, allow(1), &[decided(1, Decision::Allow), run])
        .breaks("PA-1");
}
