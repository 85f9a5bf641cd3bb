//! The wire: what holds of every event.

use super::run::{Number, START, action, asks, goes, refused};
use super::{accepted, asked, finished, opened};
use countersign_model::aaep::judge::{Body, Call, Confirm, Malformed, Output, Question, State};

use State::{AwaitingInput, CallingTool, Thinking};

#[test]
fn an_event_has_the_form_of_the_wire_aaep_ev_1_and_others() {
    let forms = [
        (Malformed::Envelope, "AAEP-EV-1"),
        (Malformed::Identifier, "AAEP-EV-2"),
        (Malformed::Timestamp, "AAEP-EV-3"),
        (Malformed::Payload, "AAEP-EV-5"),
        (Malformed::Type, "AAEP-EV-9"),
        (Malformed::Token, "AAEP-6.2-1"),
    ];
    for (malformed, clause) in forms {
        asked(&action(1)).breaks(clause, |run| {
            run.steps[2].out = vec![super::run::Out::Other(Output::Malformed(malformed))];
        });
    }
}

#[test]
fn timestamps_do_not_run_backwards_and_are_those_of_their_calls_aaep_ev_3() {
    finished().breaks("AAEP-EV-3", |run| run.event(4, 0).at = Some(START + 999));
    finished().breaks("AAEP-EV-3", |run| run.event(4, 0).at = Some(START + 2_001));
    let mut run = finished();
    run.event(4, 0).at = Some(START + 1_000);
    run.conforms();
    // A question bears the time of its call, to the second or to the millisecond.
    let mut run = opened();
    let ask = [goes(State::Idle, AwaitingInput), asks(&action(1))];
    run.then(1_500, Call::Confirm(action(1)), ask);
    run.breaks("AAEP-EV-3", |run| run.event(2, 1).at = Some(START + 1_501));
    run.breaks("AAEP-EV-3", |run| run.event(2, 0).at = Some(START + 1_501));
    run.event(2, 0).at = Some(START);
    run.breaks("AAEP-EV-3", |run| run.event(2, 1).at = Some(START + 1_499));
}

#[test]
fn events_are_numbered_without_a_gap_or_not_at_all_aaep_ev_4() {
    finished().breaks("AAEP-EV-4", |run| run.event(4, 0).number = Number::This(6));
    finished().breaks("AAEP-EV-4", |run| run.event(4, 0).number = Number::None);
    let mut run = opened();
    run.breaks("AAEP-EV-4", |run| run.event(0, 0).number = Number::This(1));
    run.event(0, 0).number = Number::None;
    run.conforms();
}

#[test]
fn a_question_shows_what_was_to_be_asked_aaep_ev_5() {
    let other = [
        Confirm {
            description: 7,
            ..action(1)
        },
        Confirm {
            consequence: 7,
            ..action(1)
        },
        Confirm {
            timeout_seconds: 61,
            ..action(1)
        },
        Confirm {
            irreversible: false,
            ..action(1)
        },
        Confirm {
            risk: countersign_model::aaep::judge::Risk::Low,
            ..action(1)
        },
        Confirm {
            allowed: Some(countersign_model::aaep::judge::Allowed {
                reject: false,
                ..countersign_model::aaep::judge::Allowed::DEFAULT
            }),
            ..action(1)
        },
    ];
    for shown in other {
        asked(&action(1)).breaks("AAEP-EV-5", |run| run.steps[2].out[1] = asks(&shown));
    }
    // What may be left out, may.
    let mut run = asked(&action(1));
    if let Body::Question(Question {
        risk, irreversible, ..
    }) = &mut run.event(2, 1).body
    {
        (*risk, *irreversible) = (None, None);
    }
    run.conforms();
}

#[test]
fn what_is_out_of_limits_is_refused_aaep_ev_5() {
    let timeout = |timeout_seconds| Confirm {
        timeout_seconds,
        ..action(1)
    };
    for timeout_seconds in [0, 86_401] {
        let mut run = opened();
        run.then(0, Call::Confirm(timeout(timeout_seconds)), [refused()]);
        run.breaks("AAEP-EV-5", |run| {
            run.steps[2].out = vec![asks(&timeout(timeout_seconds))];
        });
    }
    for timeout_seconds in [1, 2, 86_399, 86_400] {
        asked(&timeout(timeout_seconds)).conforms();
    }
}

#[test]
fn what_is_too_large_is_refused_aaep_ev_10() {
    let too_large = Confirm {
        out_of_limits: Some("AAEP-EV-10"),
        ..action(1)
    };
    let mut run = opened();
    run.then(0, Call::Confirm(too_large.clone()), [refused()]);
    run.breaks("AAEP-EV-10", |run| {
        run.steps[2].out = vec![asks(&too_large)];
    });
}

#[test]
fn a_question_is_critical_aaep_ev_6() {
    asked(&action(1)).breaks("AAEP-EV-6", |run| run.event(2, 1).critical = false);
}

#[test]
fn no_two_events_have_one_id_aaep_ev_7() {
    let mut run = finished();
    run.event(2, 0).id = Some(7);
    run.breaks("AAEP-EV-7", |run| run.event(4, 0).id = Some(7));
}

#[test]
fn a_state_changed_leaves_the_state_that_the_session_is_in_aaep_ev_8() {
    asked(&action(1)).breaks("AAEP-EV-8", |run| {
        run.steps[2].out[0] = goes(Thinking, AwaitingInput);
    });
    let mut run = accepted();
    run.steps[3].out[0] = goes(CallingTool, Thinking);
    assert!(
        !run.findings(countersign_model::aaep::readings::Reading::SPECIFICATION)
            .is_empty()
    );
    // The tool.invoked implies calling_tool.
    let mut run = finished();
    run.steps[3].out[0] = goes(AwaitingInput, Thinking);
    run.then(3_000, Call::Tick, [goes(CallingTool, Thinking)]);
    run.conforms();
}
