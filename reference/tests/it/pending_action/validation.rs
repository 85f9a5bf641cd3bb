//! The checks of a decision: each alone, and each before the next.

use countersign_reference::pending_action::{
    Audit, Decide, DecidersAbsent, Decision, IgnoredBecause, Input, Output, Propose, Settings, Text,
};

use countersign_reference::time::Timestamp;

use crate::pending_action::stage::{
    ALLOWED, ARGUMENTS, DENIED, EXPIRY, Stage, allow, decision, expiring, ordinary, telling,
};

/// A way in which a decision can be wrong, the reason, and the clause. In the order of the checks.
type Fault = (fn(&mut Stage, &mut Decide), IgnoredBecause, &'static str);

const FAULTS: [Fault; 5] = [
    // PA-1
    (
        |_, decide| decide.action_id = "pa_000000000000000000000000000000ff".into(),
        IgnoredBecause::UnknownAction,
        "PA-1",
    ),
    (
        |_, decide| decide.nonce = Some("nonce_000000000000000000000000000000ff".into()),
        IgnoredBecause::OtherNonce,
        "PA-1",
    ),
    // PA-2
    (
        |_, decide| decide.by = "eve".into(),
        IgnoredBecause::NotEntitled,
        "PA-2",
    ),
    // PA-7
    (
        |stage, _| stage.now = EXPIRY,
        IgnoredBecause::Expired,
        "PA-7",
    ),
    // PA-3
    (
        |_, decide| decide.arguments = Some(Text::new("{\"ids\":[3,5,9]}")),
        IgnoredBecause::OtherArguments,
        "PA-3",
    ),
];

/// Lets a decision happen that must be ignored: one audit entry for the operator, and nothing else.
#[track_caller]
fn ignored(stage: &mut Stage, decide: &Decide) -> Audit {
    stage.does(Input::Tick);
    let before = stage.ledger.clone();
    let mut outputs = stage.outputs(Input::Decide(decide.clone()));
    assert_eq!(stage.ledger, before);
    let Some(Output::Audit(audit)) = outputs.pop() else {
        panic!("was not ignored: {outputs:?}");
    };
    assert_eq!(outputs, []);
    assert_eq!(audit.clause, audit.reason.clause());
    audit
}

/// PA-1, PA-2, PA-3, PA-7, PA-8: each check alone makes a decision void, and the operator is told which.
#[test]
fn one_failed_check_is_enough() {
    for (spoil, reason, clause) in FAULTS {
        let mut stage = Stage::new();
        let id = stage.proposes(expiring());
        let mut allowing = decision(id, Decision::Allow);
        spoil(&mut stage, &mut allowing);
        let audit = ignored(&mut stage, &allowing);
        assert_eq!(audit.reason, reason);
        assert_eq!(audit.clause.to_string(), clause);
        assert_eq!(audit.action_id, allowing.action_id);
        assert_eq!(audit.by, allowing.by);
        assert_eq!(audit.at.millis(), stage.now);
    }
}

/// PA-1, PA-2, PA-3, PA-7: of two faults, the one whose check comes first is named.
#[test]
fn the_checks_are_made_in_their_order() {
    for (first, (spoil, reason, _)) in FAULTS.iter().enumerate() {
        for (spoil_more, _, _) in &FAULTS[first + 1..] {
            let mut stage = Stage::new();
            let id = stage.proposes(expiring());
            let mut allowing = decision(id, Decision::Allow);
            spoil(&mut stage, &mut allowing);
            spoil_more(&mut stage, &mut allowing);
            assert_eq!(ignored(&mut stage, &allowing).reason, *reason);
        }
    }
}

/// PA-8: settled comes after the checks of the sender, and before that of the arguments.
#[test]
fn settled_is_checked_after_entitled_and_before_arguments() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    stage.does(allow(id));
    let mut again = decision(id, Decision::Allow);
    again.arguments = Some(Text::new("{}"));
    let audit = ignored(&mut stage, &again);
    assert_eq!(audit.reason, IgnoredBecause::AlreadyDecided);
    assert_eq!(audit.clause.to_string(), "PA-8");
    again.by = "eve".into();
    let reason = ignored(&mut stage, &again).reason;
    assert_eq!(reason, IgnoredBecause::NotEntitled);
}

/// PA-8: the first valid decision wins, whichever it is, whoever makes the second; and void ones do not use it up.
#[test]
fn the_first_valid_decision_wins() {
    for (first, came_out) in [(Decision::Allow, ALLOWED), (Decision::Deny, DENIED)] {
        for second in [Decision::Allow, Decision::Deny] {
            let mut stage = Stage::new();
            let id = stage.proposes(ordinary());
            let mut by_eve = decision(id, second);
            by_eve.by = "eve".into();
            ignored(&mut stage, &by_eve);
            assert_eq!(stage.does(Input::Decide(decision(id, first))), came_out);
            let mut by_ben = decision(id, second);
            by_ben.by = "ben".into();
            let audit = ignored(&mut stage, &by_ben);
            assert_eq!(audit.reason, IgnoredBecause::AlreadyDecided);
        }
    }
}

/// PA-1: the id is looked up as it is; what only looks like one names nothing.
#[test]
fn an_action_is_found_by_its_exact_id_only() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    let written = id.to_string();
    for other in [
        String::new(),
        "1".into(),
        "0".into(),
        "last".into(),
        written.to_uppercase(),
        format!(" {written}"),
        format!("{written}\n"),
        written.replace("pa_", ""),
        written.replace("pa_", "nonce_"),
    ] {
        let mut allowing = decision(id, Decision::Allow);
        allowing.action_id = other;
        let reason = ignored(&mut stage, &allowing).reason;
        assert_eq!(reason, IgnoredBecause::UnknownAction);
    }
}

/// PA-1: the nonce need not be given; the nonce of another action is as wrong as any.
#[test]
fn a_nonce_answers_its_own_question() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    let other = stage.proposes(ordinary());
    let mut allowing = decision(id, Decision::Allow);
    for nonce in [
        stage.action(other).nonce.to_string(),
        String::new(),
        id.to_string(),
    ] {
        allowing.nonce = Some(nonce);
        let reason = ignored(&mut stage, &allowing).reason;
        assert_eq!(reason, IgnoredBecause::OtherNonce);
    }
    allowing.nonce = Some(stage.action(id).nonce.into());
    assert_eq!(stage.does(Input::Decide(allowing)), ALLOWED);
}

/// PA-2: a name that is nearly one of those who may decide is another name.
#[test]
fn whoever_is_nearly_named_is_not_entitled() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    for by in [
        "Ana",
        "ana ",
        " ana",
        "an",
        "anab",
        "ana\u{301}",
        "\u{430}na",
    ] {
        let near = Decide {
            by: by.into(),
            ..decision(id, Decision::Allow)
        };
        let reason = ignored(&mut stage, &near).reason;
        assert_eq!(reason, IgnoredBecause::NotEntitled, "{by:?}");
    }
    assert_eq!(stage.does(allow(id)), ALLOWED);
}

/// PA-2: where nobody is named, anyone decides whom the host has identified and who did not propose, or nobody does: two
/// readings.
#[test]
fn absent_deciders_are_anyone_or_nobody() {
    let open = Propose {
        deciders: None,
        ..ordinary()
    };
    let mut stage = Stage::new();
    let id = stage.proposes(open.clone());
    let mut allowing = decision(id, Decision::Allow);
    let unidentified = [String::new(), " \u{3000}\n".to_owned(), "x".repeat(257)];
    for nobody in unidentified.into_iter().chain([open.agent_id.clone()]) {
        allowing.by = nobody;
        for decision in [Decision::Allow, Decision::Deny] {
            allowing.decision = decision;
            let reason = ignored(&mut stage, &allowing).reason;
            assert_eq!(reason, IgnoredBecause::NotEntitled);
        }
    }
    allowing.decision = Decision::Allow;
    allowing.by = "a stranger".into();
    assert_eq!(stage.outputs(Input::Decide(allowing)).len(), ALLOWED.len());

    let mut stage = Stage::with(Settings {
        deciders_absent: DecidersAbsent::Nobody,
        ..Settings::default()
    });
    let id = stage.proposes(open);
    let reason = ignored(&mut stage, &decision(id, Decision::Allow)).reason;
    assert_eq!(reason, IgnoredBecause::NotEntitled);
    let named = stage.proposes(ordinary());
    stage.does(allow(named));
    assert_eq!(stage.status(named), "unfinished");
}

/// PA-2: an agent that is named among those who may decide may decide on its own call.
#[test]
fn a_proposing_agent_decides_only_where_it_is_named() {
    let agent = ordinary().agent_id;
    let mut stage = Stage::new();
    let id = stage.proposes(Propose {
        deciders: Some(vec![agent.clone()]),
        ..ordinary()
    });
    let mut allowing = decision(id, Decision::Allow);
    allowing.by = agent;
    assert_eq!(stage.outputs(Input::Decide(allowing)).len(), ALLOWED.len());
}

/// PA-3: approved arguments mean the proposed ones, however they are spelled; what runs is the proposed text.
#[test]
fn approved_arguments_mean_the_proposed_ones() {
    for approved in [
        ARGUMENTS,
        "{\"limit\":1.5,\"confirm\":true,\"ids\":[3,5,8]}",
        "{\"\\u0069ds\":[3.0,50e-1,8],\"confirm\":true,\"limit\":15E-1}",
    ] {
        let mut stage = Stage::new();
        let id = stage.proposes(ordinary());
        let mut allowing = decision(id, Decision::Allow);
        allowing.arguments = Some(Text::new(approved));
        let outputs = stage.outputs(Input::Decide(allowing));
        assert_eq!(telling(&outputs), ALLOWED, "{approved}");
        let Some(Output::Perform(call)) = outputs.last() else {
            panic!("not released");
        };
        assert_eq!(call.arguments.as_str(), ARGUMENTS);
    }
}

/// PA-3: an edit is no approval, however small, nor is anything that is no arguments at all.
#[test]
fn edited_arguments_are_not_approved() {
    let mut stage = Stage::new();
    let id = stage.proposes(ordinary());
    let mut allowing = decision(id, Decision::Allow);
    let deep = "[".repeat(200_000);
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(2 << 20));
    for approved in [
        "{}",
        "{\"ids\":[3,5,8],\"confirm\":true}",
        "{\"ids\":[3,5,8],\"confirm\":true,\"limit\":1.5,\"more\":null}",
        "{\"ids\":[3,8,5],\"confirm\":true,\"limit\":1.5}",
        "{\"ids\":[3,5,8],\"confirm\":\"true\",\"limit\":1.5}",
        "{\"ids\":[3,5,8],\"confirm\":true,\"limit\":1.5,\"limit\":1.5}",
        "not JSON",
        "",
        &deep,
        &long,
    ] {
        allowing.arguments = Some(Text::new(approved));
        let reason = ignored(&mut stage, &allowing).reason;
        assert_eq!(reason, IgnoredBecause::OtherArguments);
    }
}

/// PA-3: a whole number is approved to the digit, any other as its double; one that no double carries as part of the very same text
/// only.
#[test]
fn a_whole_number_is_approved_to_the_digit_and_any_other_as_its_double() {
    let whole = "{\"id\": 9007199254740993}";
    let fraction = "{\"id\": 9007199254740993.0}";
    let (large, small) = ("{\"id\": 1e400}", "{\"id\": 1e-400}");
    for (proposed, approved, is_same) in [
        (whole, whole, true),
        (whole, "{\"id\":9007199254740993}", true),
        (whole, "{\"id\":9007199254740992}", false),
        (whole, "{\"id\":9007199254740994}", false),
        (whole, fraction, false),
        (fraction, fraction, true),
        (fraction, "{\"id\":9007199254740993.0}", true),
        (fraction, "{\"id\":9007199254740992}", true),
        (
            "{\"id\":9223372036854775808}",
            "{\"id\":9223372036854775808e0}",
            true,
        ),
        (large, large, true),
        (large, "{\"id\":1e400}", false),
        (small, "{\"id\":1e-400}", false),
        (small, "{\"id\":0}", false),
    ] {
        let mut stage = Stage::new();
        let id = stage.proposes(Propose {
            arguments: Text::new(proposed),
            ..ordinary()
        });
        let mut allowing = decision(id, Decision::Allow);
        allowing.arguments = Some(Text::new(approved));
        stage.does(Input::Decide(allowing));
        let status = if is_same { "unfinished" } else { "pending" };
        assert_eq!(stage.status(id), status, "{approved}");
    }
}

/// PA-3, PA-5: who denies has denied it, whatever arguments they saw.
#[test]
fn a_denial_counts_whatever_it_says_of_the_arguments() {
    for seen in ["{}", "not JSON", ARGUMENTS] {
        let mut stage = Stage::new();
        let id = stage.proposes(ordinary());
        let mut denying = decision(id, Decision::Deny);
        denying.arguments = Some(Text::new(seen));
        assert_eq!(stage.does(Input::Decide(denying)), DENIED, "{seen}");
    }
}

/// PA-7: in milliseconds before the expiry, at, and after; also where the expiry is no whole second.
#[test]
fn a_decision_must_come_before_the_expiry() {
    for fraction in [0, 250, 999] {
        let expiry = EXPIRY + fraction;
        for (beyond, is_in_time) in [
            (-500, true),
            (-1, true),
            (0, false),
            (1, false),
            (500, false),
        ] {
            for decided in [Decision::Allow, Decision::Deny] {
                let mut stage = Stage::new();
                let id = stage.proposes(Propose {
                    expires_at: Some(Timestamp::from_millis(expiry)),
                    ..ordinary()
                });
                stage.now = expiry + beyond;
                let last = stage.does(Input::Decide(decision(id, decided))).pop();
                let is_audit = last.as_deref() == Some("audit PA-7");
                assert_eq!(is_audit, !is_in_time, "{fraction} {beyond}");
                let is_expired = stage.status(id) == "expired";
                assert_eq!(is_expired, !is_in_time, "{fraction} {beyond}");
            }
        }
    }
}

/// PA-10: each reason has its own words in the log.
#[test]
fn the_operator_reads_why_a_decision_does_not_count() {
    for (reason, words) in [
        (IgnoredBecause::UnknownAction, "the action is unknown"),
        (IgnoredBecause::OtherNonce, "the nonce is another"),
        (IgnoredBecause::NotEntitled, "the decider is not entitled"),
        (IgnoredBecause::Expired, "the action has expired"),
        (
            IgnoredBecause::AlreadyDecided,
            "the action was decided already",
        ),
        (IgnoredBecause::Cancelled, "the action was cancelled"),
        (
            IgnoredBecause::OtherArguments,
            "the approved arguments are not the proposed ones",
        ),
    ] {
        let written = serde_json::to_value(reason).expect("JSON");
        assert_eq!(written, words);
    }
}
