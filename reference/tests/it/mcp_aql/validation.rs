//! The checks of section 4.1: each by itself, in both orders, and what is told of them.

use countersign_reference::mcp_aql::{
    Call, CheckOrder, ConfirmationToken, DangerLevel, EventKind, Input, Oracle, Output, Parameters,
    Purpose, Query, Settings,
};
use serde_json::{Value, json};

use crate::mcp_aql::stage::{
    HONOURED, START, Stage, VALID_UNTIL, adapter, call, call_in_session, configure, event,
    introspect, operation, revoke, session, with_token,
};

/// A call that comes with a token, and the state of the gatekeeper that it meets.
struct Scene {
    stage: Stage,
    token: ConfirmationToken,
    call: Call,
}

impl Scene {
    /// A call in a session is repeated with its token.
    fn new(order: CheckOrder) -> Self {
        let mut stage = Stage::with(Settings {
            check_order: order,
            ..Settings::default()
        });
        let token = stage.asks(call_in_session(2));
        Self {
            stage,
            call: with_token(call_in_session(2), &token),
            token,
        }
    }

    /// The call is not run, for that reason, with that code, and changes nothing.
    #[track_caller]
    fn is_rejected_for(&mut self, reason: &str, code: &str) {
        let mut untouched = self.stage.clone();
        untouched.does(Input::Tick);
        assert_eq!(
            self.stage.does(Input::Call(self.call.clone())),
            [
                format!("audit TokenRejected failed: {reason}"),
                format!("respond {code}")
            ]
        );
        assert_eq!(self.stage.gatekeeper, untouched.gatekeeper);
    }
}

/// One way to fail one check.
type Fault = fn(&mut Scene);

/// A fault for each check after the first, with its reason and its code, in the order of the table.
const FAULTS: [(&str, &str, Fault); 9] = [
    ("Revoked", "TokenInvalid", |scene| {
        scene.stage.does(revoke(&scene.token));
    }),
    ("Expired", "TokenExpired", |scene| {
        scene.stage.now = VALID_UNTIL + 1;
    }),
    ("AlreadyUsed", "TokenAlreadyUsed", |scene| {
        for _ in 0..2 {
            let call = with_token(call_in_session(2), &scene.token);
            assert_eq!(scene.stage.does(Input::Call(call)), HONOURED);
        }
    }),
    ("OtherPurpose", "TokenScopeMismatch", |scene| {
        scene.call.purpose = Purpose::QuotaContinue;
        scene.call.danger_level = DangerLevel::Safe;
    }),
    ("OtherOperation", "TokenScopeMismatch", |scene| {
        scene.call.operation = operation("delete_org");
    }),
    ("OtherParameters", "TokenScopeMismatch", |scene| {
        scene.call.params = Parameters::new(r#"{"owner": "acme", "repo": "gadgets"}"#);
    }),
    ("OtherAdapter", "TokenScopeMismatch", |scene| {
        scene.call.adapter = Some(adapter("gitlab"));
    }),
    ("OtherRating", "TokenScopeMismatch", |scene| {
        scene.call.danger_level = DangerLevel::Forbidden;
    }),
    ("OtherSession", "TokenScopeMismatch", |scene| {
        scene.call.session_id = Some(session("s2"));
    }),
];

/// AQL-1.3-2: what passes every check is run.
#[test]
fn a_token_without_fault_is_honoured() {
    for order in [CheckOrder::Table, CheckOrder::Sample] {
        let mut scene = Scene::new(order);
        assert_eq!(scene.stage.does(Input::Call(scene.call)), HONOURED);
    }
}

/// AQL-4.1-1, AQL-4.1-2, AQL-4.1-3, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-5.3-1, AQL-7.1-1, AQL-7.1-2, AQL-1.2-3: each
/// check by itself keeps the operation from being run, and gives its own code.
#[test]
fn each_check_by_itself_rejects() {
    for (reason, code, fault) in FAULTS {
        for order in [CheckOrder::Table, CheckOrder::Sample] {
            let mut scene = Scene::new(order);
            fault(&mut scene);
            scene.is_rejected_for(reason, code);
        }
    }
}

/// AQL-5.1-1, AQL-3.2-1: a token is good for what is rated no higher than what was confirmed.
#[test]
fn what_is_rated_higher_is_confirmed_anew() {
    let levels = &DangerLevel::ALL[2..];
    for (asked, called) in levels
        .iter()
        .flat_map(|it| levels.iter().map(move |to| (*it, *to)))
    {
        let at = |danger_level| Call {
            danger_level,
            ..call()
        };
        let mut stage = Stage::new();
        let token = stage.asks(at(asked));
        let outputs = stage.does(Input::Call(with_token(at(called), &token)));
        let refused = [
            "audit TokenRejected failed: OtherRating",
            "respond TokenScopeMismatch",
        ];
        let expected = if called > asked { refused } else { HONOURED };
        assert_eq!(outputs, expected, "{asked:?} {called:?}");
    }
}

/// AQL-4.1-1, AQL-2.2-3: what was not issued, or is no token at all, does not exist.
#[test]
fn what_was_not_issued_does_not_exist() {
    let mut scene = Scene::new(CheckOrder::Table);
    let unknown = "conf_guessed".to_owned();
    let other_case = scene.token.to_string().replace("conf_0", "conf_O");
    for (token, reason) in [
        (unknown, "Unknown"),
        (other_case, "Unknown"),
        (String::new(), "Malformed"),
        ("conf_ab".into(), "Malformed"),
        (format!("{} ", scene.token), "Malformed"),
        ("\0\u{feff}\u{10ffff}".into(), "Malformed"),
        ("x".repeat(1_000_000), "Malformed"),
    ] {
        scene.call.confirmation_token = Some(token);
        scene.is_rejected_for(reason, "TokenInvalid");
    }
}

/// AQL-4.1-2, AQL-4.1-3, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6: of several faults the one that comes first in the order is
/// named. All combinations. A token cannot be both revoked and used, whichever comes first stays.
#[test]
fn the_checks_are_made_in_order() {
    let table = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    let sample = [0, 3, 4, 5, 6, 7, 8, 1, 2];
    for (order, indexes) in [(CheckOrder::Table, table), (CheckOrder::Sample, sample)] {
        for combination in 1_u32..512 {
            let mut scene = Scene::new(order);
            let has = |index: usize| combination & (1 << index) != 0;
            if has(0) && has(2) {
                continue;
            }
            // Time passes last, so that the token can still be revoked or used. The other purpose rates it anew.
            for index in [0, 2, 1, 7, 3, 4, 5, 6, 8] {
                if has(index) {
                    FAULTS[index].2(&mut scene);
                }
            }
            let first = indexes.into_iter().find(|&index| has(index));
            let (reason, code, _) = FAULTS[first.expect("at least one")];
            scene.is_rejected_for(reason, code);
        }
    }
}

/// AQL-5.1-7, AQL-5.1-3, AQL-5.1-4: one millisecond before the expiry and its tolerance, at, and one after; strict at 0.
#[test]
fn a_token_expires_after_its_tolerance() {
    for (tolerance, millis) in [
        (None, 30_000),
        (Some(0), 0),
        (Some(1), 1_000),
        (Some(300), 300_000),
    ] {
        for (beyond, honoured) in [
            (-500, true),
            (-1, true),
            (0, true),
            (1, false),
            (500, false),
        ] {
            let mut stage = Stage::new();
            // No whole second, so that the milliseconds count.
            stage.now = START + 250;
            stage.does(configure(tolerance));
            let token = stage.asks(call());
            stage.now = START + 250 + 300_000 + millis + beyond;
            let outputs = stage.retries(&token);
            let expected = if honoured {
                HONOURED
            } else {
                [
                    "audit TokenRejected failed: Expired",
                    "respond TokenExpired",
                ]
            };
            assert_eq!(outputs, expected, "{tolerance:?} {beyond}");
        }
    }
}

/// AQL-5.1-3: a clock that is set back does not bring a token back.
#[test]
fn nothing_un_expires() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    stage.now = VALID_UNTIL + 1;
    stage.does(Input::Tick);
    stage.now = START;
    assert_eq!(stage.retries(&token)[1], "respond TokenExpired");
}

/// AQL-5.2-1, AQL-5.2-2, AQL-6.1-1: used once, by the first that comes, and before the operation is out.
#[test]
fn a_token_is_used_once() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    assert_eq!(stage.retries(&token), HONOURED);
    for _ in 0..3 {
        assert_eq!(
            stage.retries(&token),
            [
                "audit TokenRejected failed: AlreadyUsed",
                "respond TokenAlreadyUsed"
            ]
        );
    }
    // Also where the operation was lost with the process.
    assert_eq!(stage.does(Input::Restart), [""; 0]);
    assert_eq!(stage.retries(&token)[1], "respond TokenAlreadyUsed");
}

/// AQL-1.2-1: only success uses a token.
#[test]
fn a_rejected_call_uses_nothing() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    for fault in [3, 4, 5, 6] {
        let mut scene = Scene {
            stage: stage.clone(),
            token: token.clone(),
            call: with_token(call(), &token),
        };
        FAULTS[fault].2(&mut scene);
        scene.is_rejected_for(FAULTS[fault].0, FAULTS[fault].1);
        stage = scene.stage;
    }
    assert_eq!(stage.retries(&token), HONOURED);
}

/// AQL-5.4-1, AQL-5.4-4: as often as it may be, one less, and one more.
#[test]
fn a_token_of_many_uses_is_used_so_often() {
    for uses in [2, 3, 7] {
        let mut stage = Stage::new();
        let token = stage.asks(call_in_session(uses));
        let retry = || Input::Call(with_token(call_in_session(uses), &token));
        for _ in 0..uses {
            assert_eq!(stage.does(retry()), HONOURED);
        }
        assert_eq!(stage.does(retry())[1], "respond TokenAlreadyUsed");
    }
}

/// AQL-5.4-3: also a token of many uses expires.
#[test]
fn a_token_of_many_uses_expires() {
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(9));
    let retry = Input::Call(with_token(call_in_session(9), &token));
    stage.now = VALID_UNTIL;
    assert_eq!(stage.does(retry.clone()), HONOURED);
    stage.now += 1;
    assert_eq!(stage.does(retry)[1], "respond TokenExpired");
}

/// AQL-6.1-2: outside of any session a token of a session is no good; a token without one is good in any.
#[test]
fn only_tokens_of_many_uses_are_bound_to_their_session() {
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(2));
    let outside = Input::Call(with_token(call(), &token));
    assert_eq!(stage.does(outside)[1], "respond TokenScopeMismatch");
    let token = stage.asks(call_in_session(1));
    assert_eq!(stage.retries(&token), HONOURED);
}

/// AQL-6.3-2: where codes are told, what has not the form of a token is answered as one that nobody issued, and as one that was
/// taken back.
#[test]
fn what_is_not_found_is_answered_as_what_is_invalid() {
    let revoked: Fault = |scene| {
        scene.stage.does(revoke(&scene.token));
    };
    let unknown: Fault = |scene| scene.call.confirmation_token = Some("conf_guessed".into());
    let malformed: Fault = |scene| scene.call.confirmation_token = Some("guessed".into());
    let answers = [revoked, unknown, malformed].map(|fault| {
        let mut scene = Scene::new(CheckOrder::Table);
        fault(&mut scene);
        scene.stage.outputs(Input::Call(scene.call)).remove(1)
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[1], answers[2]);
    let revoke = ["conf_guessed", "guessed"].map(|text| {
        let mut stage = Stage::new();
        stage
            .outputs(introspect(Query::RevokeToken, text))
            .remove(1)
    });
    assert_eq!(revoke[0], revoke[1]);
}

/// AQL-6.3-2: in the mode that tells nothing, all failures are answered alike, to the letter.
#[test]
fn the_uniform_answer_tells_nothing_apart() {
    let expected = json!({"respond": {
        "success": false,
        "error": {
            "code": "TOKEN_INVALID",
            "message": "The confirmation token is not valid.",
            "details": {},
        },
    }});
    let unknown: Fault = |scene| scene.call.confirmation_token = Some("conf_guessed".into());
    let malformed: Fault = |scene| scene.call.confirmation_token = Some("guessed".into());
    let faults = FAULTS.map(|(reason, _, fault)| (reason, fault));
    let more = [("Unknown", unknown), ("Malformed", malformed)];
    for (reason, fault) in faults.into_iter().chain(more) {
        let mut stage = Stage::uniform();
        let token = stage.asks(call_in_session(2));
        let call = with_token(call_in_session(2), &token);
        let mut scene = Scene { stage, token, call };
        fault(&mut scene);
        let outputs = scene.stage.outputs(Input::Call(scene.call));
        assert_eq!(
            serde_json::to_value(&outputs[1]).ok(),
            Some(expected.clone())
        );
        // AQL-6.4-1: the operator learns it all the same.
        let told = crate::mcp_aql::stage::tell(&outputs[0]);
        assert_eq!(told, format!("audit TokenRejected failed: {reason}"));
    }
}

/// AQL-4.1-6, AQL-6.3-2: a token that is shown to another adapter is answered as that one answers, whatever the one does that has
/// issued it.
#[test]
fn the_adapter_that_a_token_is_shown_to_answers() {
    let faults: [(&str, &str, Fault); 3] = [
        ("OtherAdapter", "respond TokenScopeMismatch", |_| {}),
        ("Expired", "respond TokenExpired", |scene| {
            scene.stage.now = VALID_UNTIL + 1;
        }),
        ("AlreadyUsed", "respond TokenAlreadyUsed", |scene| {
            scene.stage.retries(&scene.token);
        }),
    ];
    for (reason, code, fault) in faults {
        for (discreet, answer) in [("github", code), ("gitlab", "respond TokenInvalid")] {
            let mut stage = Stage::new();
            stage.does(Input::Configure {
                adapter: adapter(discreet),
                clock_skew_tolerance_seconds: None,
                oracle: Some(Oracle::Uniform),
                critical: None,
            });
            let token = stage.asks(call());
            let elsewhere = Call {
                adapter: Some(adapter("gitlab")),
                ..call()
            };
            let call = with_token(elsewhere, &token);
            let mut scene = Scene { stage, token, call };
            fault(&mut scene);
            let told = scene.stage.does(Input::Call(scene.call));
            assert_eq!(
                told,
                [
                    format!("audit TokenRejected failed: {reason}"),
                    answer.into()
                ]
            );
        }
    }
}

/// AQL-6.3-1: no value of a parameter is in any output but the operation itself.
#[test]
fn no_parameter_is_told() {
    let mut stage = Stage::new();
    let secret = |text: &str| Call {
        params: Parameters::new(format!(r#"{{"hunter2": "{text}"}}"#)),
        ..call()
    };
    let token = stage.asks(secret("hunter2"));
    let mut told = stage.outputs(Input::Call(secret("hunter2")));
    told.extend(stage.outputs(Input::Call(with_token(secret("hunter2x"), &token))));
    let broken = Call {
        params: Parameters::new(r#"{"hunter2": 1, "hunter2": 1e999}"#),
        ..call()
    };
    told.extend(stage.outputs(Input::Call(broken.clone())));
    told.extend(stage.outputs(Input::Call(with_token(broken, &token))));
    told.extend(stage.outputs(introspect(Query::TokenStatus, token.as_str())));
    told.extend(stage.outputs(event(EventKind::Security, None)));
    for output in &told {
        let text = serde_json::to_string(output).expect("JSON");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!matches!(output, Output::Perform(_)));
    }
    assert!(told.len() >= 10);
}

/// AQL-4.2-1: the shape of a failure, and what it says of an expired token.
#[test]
fn a_failure_has_its_shape() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    let retry = Input::Call(with_token(call(), &token));
    let mut respond = |now: i64| -> Value {
        stage.now = now;
        let outputs = stage.outputs(retry.clone());
        serde_json::to_value(&outputs[1]).expect("JSON")["respond"].take()
    };
    assert_eq!(
        respond(VALID_UNTIL + 1_001),
        json!({
            "success": false,
            "error": {
                "code": "TOKEN_EXPIRED",
                "message": "The confirmation token has expired.",
                "details": {
                    "token": token,
                    "expired_at": "2026-05-24T14:27:20.000Z",
                    "current_time": "2026-05-24T14:27:51.001Z",
                },
            },
        })
    );
}
