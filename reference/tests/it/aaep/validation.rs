//! The six checks of section 6.3.4: each by itself, each before the next, and nothing that tells them apart.

use countersign_reference::aaep::{
    Decision, Input, Output, Phase, ReplyToken, Sender, SessionOutcome, Settings,
};
use countersign_reference::time::{Deadline, Timestamp};
use serde_json::{Value, json};

use crate::aaep::stage::{
    DEADLINE, START, Stage, ask, ask_accepting, deliver, end, reply, session, subscribe,
    subscription, unsubscribe,
};

const ACCEPTED: [&str; 4] = [
    "respond 204",
    "state.changed AwaitingInput>CallingTool (a1 Accepted)",
    "tool.invoked (a1 Accepted)",
    "perform sess_a a1",
];

const REJECTED: [&str; 2] = [
    "respond 204",
    "state.changed AwaitingInput>Thinking (a1 Rejected)",
];

/// A message, whoever sends it, and the state of the producer that it meets.
struct Scene {
    stage: Stage,
    message: Value,
    sender: Sender,
}

impl Scene {
    /// `sub_a` accepts a pending question in time.
    fn new() -> Self {
        let mut stage = Stage::new();
        let token = stage.asks(ask("a1"));
        stage.now += 1_000;
        let message = reply(&token, Decision::Accept, stage.now);
        let sender = Sender {
            subscription_id: Some(subscription("sub_a")),
            authenticated: true,
        };
        Self {
            stage,
            message,
            sender,
        }
    }

    fn token(&self) -> ReplyToken {
        self.stage.producer.confirmations()[0]
            .question
            .asked
            .reply_token
            .clone()
    }

    /// The message arrives.
    #[track_caller]
    fn plays(&mut self) -> Vec<String> {
        let message = self.message.to_string().into_bytes();
        let input = Input::Deliver {
            sender: self.sender.clone(),
            message,
        };
        self.stage.does(input)
    }

    /// The message arrives, is ignored for that clause, and has no effect whatever.
    #[track_caller]
    fn is_ignored_for(&mut self, clause: &str) {
        let mut untouched = self.stage.clone();
        assert_eq!(untouched.does(Input::Tick), [""; 0]);
        assert_eq!(
            self.plays(),
            ["respond 204".to_owned(), format!("audit {clause}")]
        );
        assert_eq!(self.stage.producer, untouched.producer);
    }
}

/// One way to fail one check.
type Fault = fn(&mut Scene);

/// A fault for each check, in the order of the checks, with the clause that it falls under.
const FAULTS: [(&str, Fault); 6] = [
    ("AAEP-6.3.4-1", |scene| {
        scene.message["session_id"] = json!("sess_a");
    }),
    ("AAEP-6.3.4-2", |scene| {
        scene.message["reply_token"] = json!("rpl_guessed");
    }),
    ("AAEP-6.3.4-3", |scene| {
        let token = scene.token();
        scene.stage.replies(&token, Decision::Reject);
    }),
    ("AAEP-6.3.4-4", |scene| {
        scene.message["timestamp"] = json!("2026-05-24T14:22:30Z");
    }),
    ("AAEP-6.3.4-5", |scene| scene.sender.authenticated = false),
    ("AAEP-6.3.4-6", |scene| {
        // The same scene with a question that may only be rejected.
        let mut stage = Stage::new();
        let mut question = ask("a1");
        question.allowed_replies = Some(vec!["reject".into()]);
        stage.asks(question);
        stage.now = scene.stage.now;
        scene.stage = stage;
    }),
];

/// AAEP-6.1-1: a valid reply that accepts releases the action.
#[test]
fn a_reply_without_fault_is_honoured() {
    assert_eq!(Scene::new().plays(), ACCEPTED);
}

/// AAEP-6.3.4-7, AAEP-6.3.4-8: a reply that fails any one check is ignored, and the operator learns which.
#[test]
fn each_check_by_itself_keeps_a_reply_without_effect() {
    for (clause, fault) in FAULTS {
        let mut scene = Scene::new();
        fault(&mut scene);
        scene.is_ignored_for(clause);
    }
}

/// AAEP-6.3.4-1, AAEP-6.3.4-2, AAEP-6.3.4-3, AAEP-6.3.4-4, AAEP-6.3.4-5, AAEP-6.3.4-6: of several faults, the one
/// that the text checks first is named. All combinations.
#[test]
fn the_checks_are_made_in_the_order_of_the_text() {
    for combination in 1_u32..64 {
        let mut scene = Scene::new();
        // The last fault sets a new scene, so it goes first.
        for (index, (_, fault)) in FAULTS.iter().enumerate().rev() {
            if combination & (1 << index) != 0 {
                fault(&mut scene);
            }
        }
        let first = FAULTS[combination.trailing_zeros() as usize].0;
        scene.is_ignored_for(first);
    }
}

/// AAEP-6.3.4-8, AAEP-6.3.4-7: whatever has a reply ignored is written down in its own words and under its clause, with the
/// token that the reply names, also where nobody issued it.
#[test]
fn the_operator_reads_why_a_reply_was_ignored() {
    let reasons: [(&str, &str, Fault); 12] = [
        (
            "AAEP-6.3.4-2",
            "the token was never issued for such a question",
            FAULTS[1].1,
        ),
        (
            "AAEP-6.3.4-3",
            "the token was used up by a reply",
            FAULTS[2].1,
        ),
        (
            "AAEP-6.3.4-3",
            "the token was used up by the default at its timeout",
            |scene| scene.stage.now = DEADLINE,
        ),
        (
            "AAEP-6.3.4-3",
            "the token was used up by the default when the last subscription able to answer closed",
            |scene| {
                scene.stage.does(unsubscribe("sub_a"));
            },
        ),
        (
            "AAEP-6.8-4",
            "the confirmation was cancelled by the producer",
            |scene| {
                let reply_token = scene.token();
                scene.stage.does(Input::Cancel { reply_token });
            },
        ),
        (
            "AAEP-6.8-4",
            "the confirmation was cancelled by the end of its session",
            |scene| {
                scene.stage.does(end(SessionOutcome::Completed));
            },
        ),
        (
            "AAEP-6.3.4-4",
            "decided at or after the deadline, as the sender itself says",
            FAULTS[3].1,
        ),
        (
            "AAEP-6.3.4-5",
            "the transport has not authenticated the sender",
            FAULTS[4].1,
        ),
        (
            "AAEP-6.3.4-5",
            "the sender has no open subscription",
            |scene| scene.sender.subscription_id = None,
        ),
        (
            "AAEP-6.3.4-5",
            "the sender has no open subscription",
            |scene| scene.sender.subscription_id = Some(subscription("sub_b")),
        ),
        (
            "AAEP-6.3.4-5",
            "the reply names another subscription than the sender's",
            |scene| scene.message["subscription_id"] = json!("sub_b"),
        ),
        (
            "AAEP-6.3.4-6",
            "the decision is not among the allowed replies",
            FAULTS[5].1,
        ),
    ];
    for (clause, text, fault) in reasons {
        let mut scene = Scene::new();
        fault(&mut scene);
        // What falls due first is no part of the answer to the message.
        scene.stage.does(Input::Tick);
        let input = Input::Deliver {
            sender: scene.sender.clone(),
            message: scene.message.to_string().into_bytes(),
        };
        let outputs = serde_json::to_value(scene.stage.outputs(input)).expect("serialises");
        let token = &scene.message["reply_token"];
        assert_eq!(
            outputs,
            json!([
                {"respond": {"status": 204, "body": null}},
                {"audit": {"clause": clause, "reply_token": token, "text": text}},
            ])
        );
    }
}

/// AAEP-6.3.4-9: what the sender sees is the same for a reply that is honoured and for each failed check.
#[test]
fn the_sender_cannot_tell_the_checks_apart() {
    let mut scenes = vec![Scene::new()];
    scenes.extend(FAULTS.map(|(_, fault)| {
        let mut scene = Scene::new();
        fault(&mut scene);
        scene
    }));
    let seen = scenes.iter_mut().map(|scene| {
        let message = scene.message.to_string().into_bytes();
        let outputs = scene.stage.outputs(Input::Deliver {
            sender: scene.sender.clone(),
            message,
        });
        let responses = outputs
            .iter()
            .filter(|output| matches!(output, Output::Respond(_)));
        serde_json::to_string(&responses.collect::<Vec<_>>()).expect("serialises")
    });
    for response in seen {
        assert_eq!(response, r#"[{"respond":{"status":204,"body":null}}]"#);
    }
}

/// AAEP-6.3.4-1: bytes that are no reply at all.
#[test]
fn noise_is_ignored() {
    let mut stage = Stage::new();
    for message in [
        &b""[..],
        b"\xff\xfe",
        b"null",
        b"{}",
        b"{\"type\":\"clarification.reply\"}",
    ] {
        let sender = Sender {
            subscription_id: None,
            authenticated: false,
        };
        let input = Input::Deliver {
            sender,
            message: message.to_vec(),
        };
        assert_eq!(stage.does(input), ["respond 204", "audit AAEP-6.3.4-1"]);
    }
}

/// AAEP-REPLY-13: a token is the one that was issued to the letter or it is none. AAEP-6.2.3-2: one that its sender made up
/// leads nowhere.
#[test]
fn a_token_counts_to_the_letter_alone() {
    let changes: [fn(&str) -> String; 5] = [
        str::to_uppercase,
        |token| token.replacen("rpl_", "RPL_", 1),
        |token| token[..token.len() - 1].to_owned(),
        |token| format!("{token}0"),
        |_| "rpl_made0up".to_owned(),
    ];
    for change in changes {
        let mut scene = Scene::new();
        let token = change(scene.token().as_str());
        let well_formed = ReplyToken::parse(&token).is_ok();
        scene.message["reply_token"] = json!(token);
        scene.is_ignored_for(if well_formed {
            "AAEP-6.3.4-2"
        } else {
            "AAEP-6.3.4-1"
        });
    }
}

/// AAEP-6.3.4-2: a token of another producer means nothing here.
#[test]
fn a_token_of_another_producer_is_unknown() {
    let mut scene = Scene::new();
    scene.stage = Stage::new();
    scene.is_ignored_for("AAEP-6.3.4-2");
}

/// AAEP-6.3.4-3, AAEP-6.3.5-1, AAEP-6.7.1-1, AAEP-REPLY-12: the first valid reply decides, whatever comes after.
#[test]
fn the_first_valid_reply_wins() {
    for (first, second) in [
        (Decision::Accept, Decision::Accept),
        (Decision::Accept, Decision::Reject),
        (Decision::Reject, Decision::Accept),
        (Decision::Reject, Decision::Reject),
    ] {
        let mut stage = Stage::new();
        stage.does(subscribe("sub_b", true));
        let token = stage.asks(ask("a1"));
        let expected = match first {
            Decision::Accept => ACCEPTED.to_vec(),
            Decision::Reject => REJECTED.to_vec(),
        };
        assert_eq!(stage.replies(&token, first), expected);
        let settled = stage.producer.clone();
        let mut late = reply(&token, second, stage.now);
        late["subscription_id"] = json!("sub_b");
        assert_eq!(
            stage.does(deliver("sub_b", &late)),
            ["respond 204", "audit AAEP-6.3.4-3"]
        );
        assert_eq!(
            stage.replies(&token, second),
            ["respond 204", "audit AAEP-6.3.4-3"]
        );
        assert_eq!(stage.producer, settled);
    }
}

/// AAEP-6.7.1-1: an invalid reply is not the first.
#[test]
fn an_ignored_reply_does_not_use_the_token_up() {
    for (_, fault) in [FAULTS[0], FAULTS[1], FAULTS[3], FAULTS[4]] {
        let mut scene = Scene::new();
        fault(&mut scene);
        scene.plays();
        let token = scene.token();
        assert_eq!(scene.stage.replies(&token, Decision::Accept), ACCEPTED);
    }
}

/// AAEP-6.3.4-3, AAEP-6.4-1: the default uses the token up as well.
#[test]
fn a_token_is_used_up_by_the_default() {
    let mut scene = Scene::new();
    scene.stage.now = DEADLINE;
    assert_eq!(scene.stage.does(Input::Tick), REJECTED[1..]);
    scene.is_ignored_for("AAEP-6.3.4-3");
}

/// AAEP-6.3.4-3, AAEP-6.9-2: a token stays used up for ever, also when its session is long over.
#[test]
fn a_captured_reply_cannot_be_replayed() {
    let mut scene = Scene::new();
    assert_eq!(scene.plays(), ACCEPTED);
    scene.is_ignored_for("AAEP-6.3.4-3");
    // The same action is asked for again: the old reply does not answer the new question.
    let again = scene.stage.asks(ask("a1"));
    assert_ne!(again, scene.token());
    scene.is_ignored_for("AAEP-6.3.4-3");
    scene.stage.does(Input::EndSession {
        session_id: session("sess_a"),
        outcome: SessionOutcome::Completed,
    });
    scene.stage.now += 30 * 24 * 3_600 * 1_000;
    scene.is_ignored_for("AAEP-6.3.4-3");
}

/// AAEP-6.8-4: a cancelled token is invalid.
#[test]
fn a_reply_to_a_cancelled_question_is_ignored() {
    let mut scene = Scene::new();
    let reply_token = scene.token();
    scene.stage.does(Input::Cancel { reply_token });
    scene.is_ignored_for("AAEP-6.8-4");

    for outcome in [
        SessionOutcome::Completed,
        SessionOutcome::Errored,
        SessionOutcome::Cancelled,
    ] {
        let mut scene = Scene::new();
        scene.stage.does(Input::EndSession {
            session_id: session("sess_a"),
            outcome,
        });
        scene.is_ignored_for("AAEP-6.8-4");
    }
}

/// AAEP-6.3.4-4: strictly before the deadline, to the smallest fraction that the sender writes.
#[test]
fn a_reply_must_claim_a_time_before_the_deadline() {
    for (timestamp, accepted) in [
        ("2026-05-24T14:22:29.998Z", true),
        ("2026-05-24T14:22:29.999Z", true),
        ("2026-05-24T14:22:29.999999999999Z", true),
        ("2026-05-24T14:22:30Z", false),
        ("2026-05-24T14:22:30.000000000001Z", false),
        ("2026-05-24T14:22:30.001Z", false),
        ("2026-05-24T16:22:29.999+02:00", true),
        ("2026-05-24T16:22:30+02:00", false),
        ("2026-05-24T14:22:29-00:01", false),
        ("9999-12-31T23:59:59Z", false),
    ] {
        let mut scene = Scene::new();
        scene.message["timestamp"] = json!(timestamp);
        if accepted {
            assert_eq!(scene.plays(), ACCEPTED, "{timestamp}");
        } else {
            scene.is_ignored_for("AAEP-6.3.4-4");
        }
    }
}

/// AAEP-6.3.4-4, AAEP-6.4-1: a deadline that is no whole second counts to the millisecond, and whatever is written behind
/// the millisecond makes no claim any later.
#[test]
fn a_deadline_counts_to_the_millisecond() {
    for asked_at in [1, 250, 500, 999] {
        let deadline = DEADLINE + asked_at;
        for claimed in [deadline - 500, deadline - 1, deadline, deadline + 1] {
            for behind in ["", "000001", "999999"] {
                let mut stage = Stage::new();
                stage.now = START + asked_at;
                let token = stage.asks(ask("a1"));
                stage.now = deadline - 1;
                let mut message = reply(&token, Decision::Accept, claimed);
                let written = Timestamp::from_millis(claimed).to_string();
                message["timestamp"] = json!(written.replace('Z', &format!("{behind}Z")));
                let outputs = stage.does(deliver("sub_a", &message));
                if claimed < deadline {
                    assert_eq!(outputs, ACCEPTED, "{message}");
                } else {
                    assert_eq!(outputs, ["respond 204", "audit AAEP-6.3.4-4"], "{message}");
                }
            }
        }
        // By the producer's own clock.
        for (now, applied) in [
            (deadline - 1, false),
            (deadline, true),
            (deadline + 1, true),
        ] {
            let mut stage = Stage::new();
            stage.now = START + asked_at;
            stage.asks(ask("a1"));
            let next = stage.producer.next_deadline().map(Deadline::millis);
            assert_eq!(next, Some(deadline));
            stage.now = now;
            assert_eq!(!stage.does(Input::Tick).is_empty(), applied, "{now}");
        }
    }
}

/// AAEP-6.3.4-4: the text has no lower bound, so a reply dated before its question is honoured.
#[test]
fn a_reply_may_claim_a_time_before_the_question() {
    for timestamp in [
        "2026-05-24T14:22:19.999Z",
        "1970-01-01T00:00:00Z",
        "0000-01-01T00:00:00+23:59",
    ] {
        let mut scene = Scene::new();
        scene.message["timestamp"] = json!(timestamp);
        assert_eq!(scene.plays(), ACCEPTED, "{timestamp}");
    }
}

/// AAEP-6.4-1, AAEP-6.3.4-3: arrival decides. At the deadline the default applies first, whatever the reply claims.
#[test]
fn a_reply_must_arrive_before_the_deadline() {
    for (arrival, in_time) in [
        (DEADLINE - 1, true),
        (DEADLINE, false),
        (DEADLINE + 1, false),
    ] {
        let mut scene = Scene::new();
        scene.message["timestamp"] = json!("2026-05-24T14:22:21Z");
        scene.stage.now = arrival;
        if in_time {
            assert_eq!(scene.plays(), ACCEPTED);
        } else {
            assert_eq!(
                scene.plays(),
                [REJECTED[1], "respond 204", "audit AAEP-6.3.4-3"]
            );
        }
    }
}

/// AAEP-6.3.4-5, AAEP-6.2.4-1, AAEP-6.9-1: the right token proves nothing.
#[test]
fn a_sender_that_is_not_authenticated_is_ignored() {
    let mut scene = Scene::new();
    scene.sender.authenticated = false;
    scene.is_ignored_for("AAEP-6.3.4-5");
    scene.sender.subscription_id = None;
    scene.is_ignored_for("AAEP-6.3.4-5");
}

/// AAEP-6.3.4-5, AAEP-REPLY-14: the sender speaks on its own open subscription.
#[test]
fn a_sender_without_an_open_subscription_of_its_own_is_ignored() {
    let mut scene = Scene::new();
    scene.stage.does(subscribe("sub_b", true));
    // No subscription.
    scene.sender.subscription_id = None;
    scene.is_ignored_for("AAEP-6.3.4-5");
    // Another one than the reply names.
    scene.sender.subscription_id = Some(subscription("sub_b"));
    scene.is_ignored_for("AAEP-6.3.4-5");
    // One that never was.
    scene.sender.subscription_id = Some(subscription("sub_c"));
    scene.message["subscription_id"] = json!("sub_c");
    scene.is_ignored_for("AAEP-6.3.4-5");
    // One that has closed.
    scene.sender.subscription_id = Some(subscription("sub_a"));
    scene.message["subscription_id"] = json!("sub_a");
    scene.stage.does(unsubscribe("sub_a"));
    scene.is_ignored_for("AAEP-6.3.4-5");
    // Its own.
    scene.sender.subscription_id = Some(subscription("sub_b"));
    scene.message["subscription_id"] = json!("sub_b");
    assert_eq!(scene.plays(), ACCEPTED);
}

/// AAEP-6.6-4, AAEP-6.6-3: whoever replies on its own subscription is honoured, capable or not.
#[test]
fn a_subscriber_without_the_capability_is_honoured() {
    let mut scene = Scene::new();
    scene.stage.does(subscribe("sub_b", false));
    scene.sender.subscription_id = Some(subscription("sub_b"));
    scene.message["subscription_id"] = json!("sub_b");
    assert_eq!(scene.plays(), ACCEPTED);
}

/// AAEP-6.3.4-6: only a decision that the question allows.
#[test]
fn a_decision_that_is_not_allowed_is_ignored() {
    for (allowed, accept_counts, reject_counts) in [
        (None, true, true),
        (Some(vec!["accept", "reject"]), true, true),
        (Some(vec!["accept"]), true, false),
        (Some(vec!["reject"]), false, true),
        (Some(vec!["defer", "escalate"]), false, false),
    ] {
        for (decision, counts) in [
            (Decision::Accept, accept_counts),
            (Decision::Reject, reject_counts),
        ] {
            let mut stage = Stage::new();
            let mut question = ask("a1");
            question.allowed_replies = allowed
                .clone()
                .map(|replies| replies.into_iter().map(str::to_owned).collect());
            let token = stage.asks(question);
            let expected = match (counts, decision) {
                (true, Decision::Accept) => ACCEPTED.to_vec(),
                (true, Decision::Reject) => REJECTED.to_vec(),
                (false, Decision::Accept | Decision::Reject) => {
                    vec!["respond 204", "audit AAEP-6.3.4-6"]
                }
            };
            assert_eq!(
                stage.replies(&token, decision),
                expected,
                "{allowed:?} {decision:?}"
            );
        }
    }
}

/// AAEP-6.3.2-4, AAEP-6.3.2-3: modifications are not supported, so the reply counts as reject.
#[test]
fn a_modified_action_counts_as_reject() {
    for decision in [Decision::Accept, Decision::Reject] {
        for allowed in [
            None,
            Some(vec!["accept".to_owned()]),
            Some(vec!["defer".to_owned()]),
        ] {
            let mut stage = Stage::new();
            // Even where silence would accept.
            let mut question = ask_accepting("a1");
            question.allowed_replies = allowed;
            let token = stage.asks(question);
            let mut message = reply(&token, decision, START);
            message["modified_action"] = json!({"amount": 300});
            assert_eq!(stage.does(deliver("sub_a", &message)), REJECTED);
            let phase = stage.producer.confirmations()[0].phase;
            assert!(matches!(phase, Phase::Rejected { .. }), "{phase:?}");
        }
    }
}

/// AAEP-6.3.2-4: but it has to pass the first five checks like any other.
#[test]
fn a_modified_action_is_checked_like_any_reply() {
    for (clause, fault) in &FAULTS[..5] {
        let mut scene = Scene::new();
        scene.message["modified_action"] = json!({});
        fault(&mut scene);
        scene.is_ignored_for(clause);
    }
}

/// AAEP-6.3.5-2, AAEP-6.7.1-2: a notice for a late duplicate, if the host wants it.
#[test]
fn a_late_duplicate_is_told_so_where_the_host_wants_it() {
    let settings = Settings {
        courtesy_notices: true,
        ..Settings::default()
    };
    let mut stage = Stage::with(settings);
    let token = stage.asks(ask("a1"));
    let notified = ["respond 204", "audit AAEP-6.3.4-3", "notify sub_a"];
    let silent = ["respond 204", "audit AAEP-6.3.4-3"];
    stage.replies(&token, Decision::Reject);
    assert_eq!(stage.replies(&token, Decision::Accept), notified);

    // AAEP-6.3.4-9: nobody else learns that the token exists.
    let message = reply(&token, Decision::Accept, START)
        .to_string()
        .into_bytes();
    for sender in [
        Sender {
            subscription_id: Some(subscription("sub_a")),
            authenticated: false,
        },
        Sender {
            subscription_id: Some(subscription("sub_b")),
            authenticated: true,
        },
        Sender {
            subscription_id: None,
            authenticated: true,
        },
    ] {
        assert_eq!(
            stage.does(Input::Deliver {
                sender,
                message: message.clone()
            }),
            silent
        );
    }
    // AAEP-6.8-4: a cancelled question was not resolved.
    let reply_token = stage.asks(ask("a2"));
    stage.does(Input::Cancel {
        reply_token: reply_token.clone(),
    });
    assert_eq!(
        stage.replies(&reply_token, Decision::Accept),
        ["respond 204", "audit AAEP-6.8-4"]
    );
}
