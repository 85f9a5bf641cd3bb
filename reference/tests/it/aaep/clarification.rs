//! Clarifications: what may be asked, what is taken for an answer, and what comes of it.

use countersign_reference::aaep::{
    Authority, Canceller, Choice, ClarificationPhase, ClarificationReply, Clarify, Decision, Field,
    Input, Malformed, Output, Producer, Refusal, Reply, ReplyToken, ResponseKind, Sender,
    SessionOutcome, Settings, UserResponse, WrittenNumber,
};
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use crate::aaep::stage::{
    DEADLINE, START, Stage, TIMEOUT, answer, ask, cancel, clarify, deliver, end, finish,
    out_of_range, reply, session, start, subscribe, subscription, tell, unsubscribe,
};

/// What comes out when the only question is answered, but for the answer.
const ANSWERED: &str = "state.changed AwaitingInput>Thinking (Answered)";
/// The same where nobody answers and there is no default.
const UNANSWERED: &str = "state.changed AwaitingInput>Thinking (Unanswered)";

const NOTHING: [&str; 0] = [];

const KINDS: [ResponseKind; 4] = [
    ResponseKind::Freetext,
    ResponseKind::YesNo,
    ResponseKind::MultipleChoice,
    ResponseKind::Numeric,
];

fn choices(values: &[&str]) -> Vec<Choice> {
    let choice = |value: &&str| Choice {
        value: (*value).to_owned(),
        label: format!("The one called {value}"),
    };
    values.iter().map(choice).collect()
}

/// A clarification that takes these kinds, with two choices where there is something to choose.
fn of_kinds(kinds: &[ResponseKind]) -> Clarify {
    let is_choice = kinds.contains(&ResponseKind::MultipleChoice);
    Clarify {
        accepted_response_kinds: Some(kinds.to_vec()),
        choices: is_choice.then(|| choices(&["savings", "checking"])),
        ..clarify("Which account?")
    }
}

fn with_default(default: &str) -> Clarify {
    Clarify {
        default_response: Some(default.into()),
        ..clarify("Which account?")
    }
}

fn phase(stage: &Stage) -> ClarificationPhase {
    stage.producer.clarifications()[0].phase
}

// Asking.

/// AAEP-A.5-1, AAEP-EV-5, AAEP-EV-6, AAEP-6.2-1: what stands on the wire.
#[test]
fn a_clarification_on_the_wire() {
    let mut stage = Stage::new();
    let mut clarify = of_kinds(&[ResponseKind::MultipleChoice, ResponseKind::YesNo]);
    clarify.default_response = Some("savings".into());
    let told = stage.outputs(Input::Clarify(clarify));
    let events: Vec<Value> = told
        .iter()
        .map(|told| json!(told)["emit"].clone())
        .collect();
    assert_eq!(events[0]["to_state"], json!("awaiting_input"));
    assert_eq!(
        events[1],
        json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": "aaep:agent.awaiting.clarification",
            "event_id": events[1]["event_id"],
            "session_id": "sess_a",
            "timestamp": "2026-05-24T14:22:20.000Z",
            "producer": {"agent_id": "countersign-reference"},
            "sequence_number": 2,
            "urgency": "critical",
            "question": "Which account?",
            "reply_token": "rpl_00000000000000000000000000000002",
            "timeout_seconds": 10,
            "accepted_response_kinds": ["multiple_choice", "yes_no"],
            "choices": [
                {"value": "savings", "label": "The one called savings"},
                {"value": "checking", "label": "The one called checking"},
            ],
            "default_response": "savings",
        })
    );
    assert_eq!(events.len(), 2);
}

/// AAEP-EV-5: what the host does not say does not stand there; the state is entered once.
#[test]
fn an_open_clarification_on_the_wire() {
    let mut stage = Stage::new();
    stage.asks(ask("a1"));
    let told = stage.outputs(Input::Clarify(clarify("Which account?")));
    assert_eq!(told.len(), 1, "it waits already");
    let event = json!(told[0])["emit"].clone();
    for absent in ["accepted_response_kinds", "choices", "default_response"] {
        assert_eq!(event.get(absent), None);
    }
}

/// AAEP-A.1-3: a question lies between the start and the end of its session.
#[test]
fn nothing_is_asked_outside_of_a_session() {
    let mut stage = Stage::new();
    let mut elsewhere = clarify("Which account?");
    elsewhere.session_id = session("sess_b");
    assert_eq!(
        stage.refuses(Input::Clarify(elsewhere)),
        Refusal::SessionNotActive
    );
    stage.does(end(SessionOutcome::Completed));
    assert_eq!(
        stage.refuses(Input::Clarify(clarify("Which account?"))),
        Refusal::SessionNotActive
    );
}

#[track_caller]
fn check_asked(clarify: Clarify, refused: Option<Refusal>) {
    let mut stage = Stage::new();
    match refused {
        None => drop(stage.clarifies(clarify)),
        Some(refusal) => assert_eq!(stage.refuses(Input::Clarify(clarify)), refusal),
    }
}

/// AAEP-EV-5, AAEP-EV-10: the question says something, and nothing says too much.
#[test]
fn a_clarification_has_texts_in_range() {
    let malformed = |bytes| Some(out_of_range(Field::Question, bytes));
    for (bytes, refused) in [
        (0, malformed(0)),
        (1, None),
        (2, None),
        (16_383, None),
        (16_384, None),
        (16_385, malformed(16_385)),
    ] {
        check_asked(clarify(&"x".repeat(bytes)), refused);
    }
    for (bytes, refused) in [
        (0, None),
        (1, None),
        (16_383, None),
        (16_384, None),
        (16_385, Some(Refusal::TextTooLong(Field::DefaultResponse))),
    ] {
        check_asked(with_default(&"x".repeat(bytes)), refused);
    }
    check_asked(clarify(&"ü".repeat(8_193)), malformed(16_386));
}

/// AAEP-EV-5: a timeout from 1 to 86400 seconds, and a deadline within the calendar.
#[test]
fn a_clarification_has_a_timeout_in_range() {
    let out = Some(Refusal::TimeoutOutOfRange);
    for (timeout_seconds, refused) in [
        (0, out),
        (1, None),
        (2, None),
        (86_399, None),
        (86_400, None),
        (86_401, out),
    ] {
        let clarify = Clarify {
            timeout_seconds,
            ..clarify("Which account?")
        };
        check_asked(clarify, refused);
    }
    for (left, fits) in [(9_999, false), (10_000, true), (10_001, true)] {
        let mut stage = Stage::new();
        stage.now = Timestamp::MAX.millis() - left;
        if fits {
            stage.clarifies(clarify("Which account?"));
        } else {
            let refused = stage.refuses(Input::Clarify(clarify("Which account?")));
            assert_eq!(refused, Refusal::TimeoutOutOfRange);
        }
    }
}

/// AAEP-EV-5: 1 to 4 different kinds.
#[test]
fn a_clarification_names_different_kinds() {
    let malformed = Some(Refusal::KindsMalformed);
    let five: Vec<_> = KINDS.into_iter().chain([ResponseKind::Numeric]).collect();
    for (kinds, refused) in [
        (&KINDS[..0], malformed),
        (&KINDS[..1], None),
        (&KINDS[..2], None),
        (&KINDS[..3], None),
        (&KINDS[..], None),
        (&five, malformed),
        (&[ResponseKind::YesNo, ResponseKind::YesNo], malformed),
    ] {
        check_asked(of_kinds(kinds), refused);
    }
}

/// AAEP-EV-5: 2 to 32 choices of different values, and there are some where the user is to choose.
#[test]
fn a_clarification_has_something_to_choose_from() {
    let values: Vec<String> = (0..33).map(|number| format!("v{number}")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let malformed = Some(Refusal::ChoicesMalformed);
    for (count, refused) in [
        (0, malformed),
        (1, malformed),
        (2, None),
        (3, None),
        (31, None),
        (32, None),
        (33, malformed),
    ] {
        let mut clarify = of_kinds(&[ResponseKind::MultipleChoice]);
        clarify.choices = Some(choices(&values[..count]));
        check_asked(clarify, refused);
    }
    let mut nothing = of_kinds(&[ResponseKind::MultipleChoice, ResponseKind::Freetext]);
    nothing.choices = None;
    check_asked(nothing.clone(), Some(Refusal::ChoicesMissing));
    // Where nobody is to choose, choices do no harm, and are well formed all the same.
    nothing.accepted_response_kinds = None;
    nothing.choices = Some(choices(&["a", "b", "a"]));
    check_asked(nothing.clone(), malformed);
    nothing.choices = Some(choices(&["a", "b"]));
    check_asked(nothing, None);
}

/// AAEP-EV-5, AAEP-EV-10: a choice has a value and a label, neither empty nor too long.
#[test]
fn a_choice_has_texts_in_range() {
    for (bytes, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (16_383, true),
        (16_384, true),
        (16_385, false),
    ] {
        for is_value in [true, false] {
            let mut clarify = of_kinds(&[ResponseKind::MultipleChoice]);
            let choice = &mut clarify.choices.as_mut().expect("choices")[1];
            let text = if is_value {
                &mut choice.value
            } else {
                &mut choice.label
            };
            *text = "x".repeat(bytes);
            let field = if is_value {
                Field::ChoiceValue(1)
            } else {
                Field::ChoiceLabel(1)
            };
            check_asked(clarify, (!fits).then_some(out_of_range(field, bytes)));
        }
    }
    // Labels may be alike.
    let mut clarify = of_kinds(&[ResponseKind::MultipleChoice]);
    for choice in clarify.choices.iter_mut().flatten() {
        choice.label = "This one".to_owned();
    }
    check_asked(clarify, None);
}

/// AAEP-6.1-9: the same question is not asked again before it is released. Another one is, and the same of another session.
#[test]
fn the_same_question_is_asked_once_at_a_time() {
    let mut stage = Stage::new();
    stage.does(start("sess_b"));
    let question = || clarify("Transfer 500 dollars to savings.");
    let token = stage.clarifies(question());
    let mut otherwise = question();
    otherwise.timeout_seconds += 1;
    otherwise.default_response = Some("yes".into());
    assert_eq!(
        stage.refuses(Input::Clarify(otherwise)),
        Refusal::QuestionPending
    );
    stage.clarifies(clarify("Transfer 500 dollars to Savings."));
    stage.clarifies(Clarify {
        session_id: session("sess_b"),
        ..question()
    });
    // A confirmation is not the same question, whatever its words.
    stage.asks(ask("Transfer 500 dollars to savings."));
    let mut cancelled = stage.clone();
    cancelled.does(cancel(&token));
    cancelled.clarifies(question());
    stage.now = DEADLINE;
    stage.does(Input::Tick);
    let mut replied = stage.clone();
    let token = replied.clarifies(question());
    replied.answers(&token, "yes");
    replied.clarifies(question());
}

/// AAEP-6.2.2-3: no two questions share a token, of whichever kind.
#[test]
fn both_kinds_draw_from_the_same_tokens() {
    struct Twice(u128);
    impl countersign_reference::ids::IdSource for Twice {
        fn next_bits(&mut self) -> u128 {
            self.0 += 1;
            self.0 / 4
        }
    }
    let mut producer = Producer::new(Settings::default());
    let mut ids = Twice(0);
    let now = Timestamp::from_millis(START);
    let mut happens = |input| assert_eq!(producer.handle(now, &mut ids, input).refused, None);
    happens(start("sess_a"));
    for number in 0..8 {
        happens(Input::Confirm(ask(&format!("a{number}"))));
        happens(Input::Clarify(clarify(&format!("q{number}"))));
    }
    let confirmations = producer.confirmations().iter().map(|it| &it.question.asked);
    let clarifications = producer
        .clarifications()
        .iter()
        .map(|it| &it.question.asked);
    let mut tokens: Vec<_> = confirmations.chain(clarifications).collect();
    tokens.sort_by_key(|asked| &asked.reply_token);
    tokens.dedup_by_key(|asked| &asked.reply_token);
    assert_eq!(tokens.len(), 16);
}

// Answers.

/// AAEP-6.5.2-1, AAEP-6.5.5-2, AAEP-6.5.5-3: every kind, and every response to it.
#[test]
fn each_kind_takes_its_own_responses() {
    let text = Some("AAEP-6.5.5-2");
    let choice = Some("AAEP-6.5.5-3");
    for (response, expected) in [
        (json!("savings"), [None, text, None, text]),
        (json!("Savings"), [None, text, choice, text]),
        (json!(""), [None, text, choice, text]),
        (json!("true"), [None, text, choice, text]),
        (json!("67"), [None, text, choice, text]),
        (json!(true), [text, None, text, text]),
        (json!(false), [text, None, text, text]),
        (json!(67), [text, text, text, None]),
        (json!(-0.5), [text, text, text, None]),
        (json!(0), [text, text, text, None]),
    ] {
        for (kind, ignored) in KINDS.into_iter().zip(expected) {
            check_response(&of_kinds(&[kind]), &response, ignored);
        }
    }
}

/// AAEP-6.5.2-2: any of several kinds; where one of them takes any text, a text need not be a choice. Where none is named,
/// any response will do, also where there are choices.
#[test]
fn any_of_several_kinds_is_taken() {
    use ResponseKind::{Freetext, MultipleChoice, Numeric, YesNo};
    for (kinds, response, ignored) in [
        (&[MultipleChoice, Freetext][..], json!("other"), None),
        (&[Freetext, MultipleChoice], json!("other"), None),
        (
            &[MultipleChoice, YesNo],
            json!("other"),
            Some("AAEP-6.5.5-3"),
        ),
        (&[MultipleChoice, YesNo], json!("checking"), None),
        (&[MultipleChoice, YesNo], json!(true), None),
        (&[MultipleChoice, YesNo], json!(1), Some("AAEP-6.5.5-2")),
        (&[YesNo, Numeric], json!(1), None),
        (&[YesNo, Numeric], json!("1"), Some("AAEP-6.5.5-2")),
        (&KINDS, json!("other"), None),
        (&KINDS, json!(true), None),
        (&KINDS, json!(1), None),
    ] {
        check_response(&of_kinds(kinds), &response, ignored);
    }
    for response in [json!("other"), json!(false), json!(1e9)] {
        let mut open = clarify("Which account?");
        check_response(&open, &response, None);
        open.choices = Some(choices(&["savings", "checking"]));
        check_response(&open, &response, None);
    }
}

/// A response is taken, or ignored by that clause.
#[track_caller]
fn check_response(clarify: &Clarify, response: &Value, ignored: Option<&str>) {
    let mut stage = Stage::new();
    let token = stage.clarifies(clarify.clone());
    let told = stage.answers(&token, response.clone());
    let kinds = &clarify.accepted_response_kinds;
    match ignored {
        None => assert_eq!(
            told,
            [
                "respond 204",
                ANSWERED,
                &format!("answer {response} by reply")
            ],
            "{kinds:?}"
        ),
        Some(clause) => assert_eq!(
            told,
            ["respond 204", &format!("audit {clause}")],
            "{kinds:?} {response}"
        ),
    }
}

/// AAEP-6.5.5-4: a response of the wrong type is as good as none: the question goes on waiting, for a valid one or its timeout.
#[test]
fn a_wrong_response_leaves_the_question_waiting() {
    let mut stage = Stage::new();
    let mut clarify = of_kinds(&[ResponseKind::MultipleChoice]);
    clarify.default_response = Some("checking".into());
    let token = stage.clarifies(clarify);
    let before = stage.producer.clone();
    for response in [json!("other"), json!(true), json!(3)] {
        stage.answers(&token, response);
        assert_eq!(stage.producer, before);
    }
    let mut silent = stage.clone();
    silent.now = DEADLINE;
    assert_eq!(
        silent.does(Input::Tick),
        [ANSWERED, "answer \"checking\" by default"]
    );
    assert_eq!(
        stage.answers(&token, "savings"),
        ["respond 204", ANSWERED, "answer \"savings\" by reply"]
    );
}

/// AAEP-6.5.5-1, AAEP-6.3.5-1, AAEP-6.7.1-1: the first valid reply counts, and no later one.
#[test]
fn an_answer_is_given_once() {
    let mut stage = Stage::new();
    stage.does(subscribe("sub_b", true));
    let token = stage.clarifies(clarify("Which account?"));
    stage.answers(&token, "savings");
    let by = Authority::Reply;
    assert_eq!(phase(&stage), ClarificationPhase::Resolved { by });
    let before = stage.producer.clone();
    assert_eq!(
        stage.answers(&token, "checking"),
        ["respond 204", "audit AAEP-6.3.4-3"]
    );
    let mut other = answer(&token, "checking", stage.now);
    other["subscription_id"] = json!("sub_b");
    assert_eq!(
        stage.does(deliver("sub_b", &other)),
        ["respond 204", "audit AAEP-6.3.4-3"]
    );
    assert_eq!(stage.producer, before);
}

/// AAEP-6.3.5-2, AAEP-6.7.1-2: a late answer is told so where the host wants it, like a late decision.
#[test]
fn a_late_answer_is_told_so_where_the_host_wants_it() {
    let mut stage = Stage::with(Settings {
        courtesy_notices: true,
        ..Settings::default()
    });
    let token = stage.clarifies(clarify("Which account?"));
    stage.answers(&token, "savings");
    assert_eq!(
        stage.answers(&token, "checking"),
        ["respond 204", "audit AAEP-6.3.4-3", "notify sub_a"]
    );
}

/// AAEP-6.5.5-1: each check of a decision is one of an answer too, in the same order.
#[test]
fn an_answer_passes_the_same_checks() {
    type Fault = fn(&mut Stage, &mut Value, &mut Sender);
    let faults: [(&str, Fault); 8] = [
        ("AAEP-6.3.4-1", |_, message, _| {
            message["decision"] = json!("accept");
        }),
        ("AAEP-6.3.4-2", |_, message, _| {
            message["reply_token"] = json!("rpl_guessed");
        }),
        ("AAEP-6.3.4-3", |stage, message, _| {
            let used = stage.clarifies(clarify("Which user?"));
            stage.answers(&used, "me");
            message["reply_token"] = json!(used);
        }),
        ("AAEP-6.8-4", |stage, message, _| {
            let cancelled = stage.clarifies(clarify("Which month?"));
            stage.does(cancel(&cancelled));
            message["reply_token"] = json!(cancelled);
        }),
        ("AAEP-6.3.4-4", |_, message, _| {
            message["timestamp"] = json!(Timestamp::from_millis(DEADLINE));
        }),
        ("AAEP-6.3.4-5", |_, _, sender| sender.authenticated = false),
        ("AAEP-6.3.4-5", |stage, message, sender| {
            stage.does(subscribe("sub_c", true));
            stage.does(unsubscribe("sub_c"));
            message["subscription_id"] = json!("sub_c");
            sender.subscription_id = Some(subscription("sub_c"));
        }),
        ("AAEP-6.5.5-2", |_, message, _| {
            message["response"] = json!(17);
        }),
    ];
    for (first, (clause, fault)) in faults.iter().enumerate() {
        // Alone, and together with any that is checked later.
        for (second, (_, other)) in faults.iter().enumerate().skip(first) {
            // The message has one token.
            if (1..4).contains(&first) && (1..4).contains(&second) && first != second {
                continue;
            }
            let mut stage = Stage::new();
            let token = stage.clarifies(of_kinds(&[ResponseKind::Freetext]));
            let mut message = answer(&token, "savings", stage.now);
            let mut sender = Sender {
                subscription_id: Some(subscription("sub_a")),
                authenticated: true,
            };
            if first != second {
                other(&mut stage, &mut message, &mut sender);
            }
            fault(&mut stage, &mut message, &mut sender);
            let before = stage.producer.clone();
            let message = message.to_string().into_bytes();
            assert_eq!(
                stage.does(Input::Deliver { sender, message }),
                ["respond 204", &format!("audit {clause}")]
            );
            assert_eq!(stage.producer, before);
        }
    }
}

/// AAEP-6.3.4-4: decided before the deadline, at it, after it, as the sender claims.
#[test]
fn an_answer_is_given_before_the_deadline() {
    for (decided_at, in_time) in [
        (DEADLINE - 1, true),
        (DEADLINE, false),
        (DEADLINE + 1, false),
    ] {
        let mut stage = Stage::new();
        let token = stage.clarifies(clarify("Which account?"));
        let told = stage.does(deliver("sub_a", &answer(&token, "savings", decided_at)));
        let ignored = ["respond 204", "audit AAEP-6.3.4-4"];
        assert_eq!(told.len() == 3, in_time);
        assert_eq!(told == ignored, !in_time);
    }
}

/// AAEP-6.3.4-2: the token of one kind is unknown to the other, whatever has become of it.
#[test]
fn the_token_of_the_other_kind_is_unknown() {
    let mut stage = Stage::new();
    let confirmation = stage.asks(ask("a1"));
    let clarification = stage.clarifies(clarify("Which account?"));
    let unknown = ["respond 204", "audit AAEP-6.3.4-2"];
    for resolved in [false, true] {
        assert_eq!(stage.answers(&confirmation, true), unknown);
        assert_eq!(stage.replies(&clarification, Decision::Accept), unknown);
        if !resolved {
            stage.replies(&confirmation, Decision::Reject);
            stage.answers(&clarification, true);
        }
    }
    assert!(stage.producer.confirmation(&clarification).is_none());
    assert!(stage.producer.clarification(&confirmation).is_none());
    assert!(stage.producer.confirmation(&confirmation).is_some());
    assert!(stage.producer.clarification(&clarification).is_some());
}

/// AAEP-6.3.4-8, AAEP-6.8-4: the operator reads why an answer was ignored.
#[test]
fn the_operator_reads_why_an_answer_was_ignored() {
    let mut stage = Stage::new();
    let cancelled = stage.clarifies(clarify("Which user?"));
    stage.does(cancel(&cancelled));
    let of_kind = stage.clarifies(of_kinds(&[ResponseKind::MultipleChoice]));
    for (token, response, text) in [
        (
            &cancelled,
            json!("me"),
            "the clarification was cancelled by the producer",
        ),
        (&of_kind, json!(1), "the response is of no accepted kind"),
        (
            &of_kind,
            json!("other"),
            "the response is none of the choices",
        ),
    ] {
        let message = answer(token, response, stage.now);
        let told = stage.outputs(deliver("sub_a", &message));
        let Some(Output::Audit(audit)) = told.last() else {
            panic!("an audit: {told:?}");
        };
        assert_eq!(audit.text, text);
        assert_eq!(audit.reply_token.as_ref(), Some(token));
    }
}

// The schema.

fn parse(reply: &Value) -> Result<ClarificationReply, Malformed> {
    match Reply::parse(reply.to_string().as_bytes())? {
        Reply::Clarification(reply) => Ok(reply),
        Reply::Confirmation(reply) => panic!("{reply:?}"),
    }
}

fn minimal() -> Value {
    let token = ReplyToken::parse("rpl_7c1d").expect("a token");
    answer(&token, "savings", START)
}

fn with(property: &str, value: impl Into<Value>) -> Value {
    let mut reply = minimal();
    reply[property] = value.into();
    reply
}

/// AAEP-6.5.1-1 to AAEP-6.5.1-5, AAEP-6.5.3-1, AAEP-6.5.3-2, AAEP-6.5.3-3: what is there is kept.
#[test]
fn an_answer_with_every_property_is_read() {
    let mut reply = minimal();
    reply["decided_by"] = json!("user:ada");
    reply["confidence"] = json!(0.25);
    reply["correlation_id"] = json!("");
    let read = parse(&reply).expect("conforms");
    assert_eq!(read.reply_token.as_str(), "rpl_7c1d");
    assert_eq!(read.response, UserResponse::Text("savings".into()));
    assert_eq!(read.subscription_id.as_str(), "sub_a");
    assert_eq!(read.decided_at.to_string(), "2026-05-24T14:22:20.000Z");
    assert_eq!(read.decided_by, Some("user:ada".into()));
    let confidence = read.confidence.as_ref().map(WrittenNumber::as_str);
    assert_eq!(confidence, Some("0.25"));
    assert_eq!(read.correlation_id, Some("".into()));
    let read = parse(&minimal()).expect("conforms");
    assert_eq!(
        (read.decided_by, read.confidence, read.correlation_id),
        (None, None, None)
    );
}

/// AAEP-6.5.1-2, AAEP-6.5.1-3, AAEP-6.5.1-4, AAEP-6.5.1-5: what is required is missed. AAEP-6.5.1-1: without its type it is no
/// answer.
#[test]
fn every_required_property_of_an_answer_is_missed() {
    for property in [
        "type",
        "reply_token",
        "response",
        "subscription_id",
        "timestamp",
    ] {
        let mut reply = minimal();
        reply.as_object_mut().expect("an object").remove(property);
        assert_eq!(
            Reply::parse(reply.to_string().as_bytes()),
            Err(Malformed::Missing(property))
        );
    }
}

/// AAEP-6.5.1-1, AAEP-6.3.1-1: the type says to the letter which schema counts.
#[test]
fn the_type_chooses_the_schema() {
    for other in [
        "clarification.replY",
        "clarification.reply ",
        "",
        "confirmation.reply",
    ] {
        assert!(Reply::parse(with("type", other).to_string().as_bytes()).is_err());
    }
    for value in [json!(null), json!(1), json!(["clarification.reply"])] {
        assert!(Reply::parse(with("type", value).to_string().as_bytes()).is_err());
    }
}

/// AAEP-6.5.2-1, AAEP-6.5.1-2, AAEP-6.5.1-4, AAEP-6.5.1-5, AAEP-6.5.3-1, AAEP-6.5.3-2, AAEP-6.5.3-3: every property has its
/// type.
#[test]
fn every_property_of_an_answer_has_its_type() {
    let of_the_type = |property: &str, value: &Value| match property {
        "response" => value.is_string() || value.is_boolean() || value.is_number(),
        "confidence" => value.is_number(),
        _ => value.is_string(),
    };
    for property in [
        "reply_token",
        "response",
        "subscription_id",
        "timestamp",
        "decided_by",
        "confidence",
        "correlation_id",
    ] {
        for value in [
            json!(null),
            json!(true),
            json!(1),
            json!([]),
            json!({}),
            json!("rpl_1"),
        ] {
            let invalid = match parse(&with(property, value.clone())) {
                Ok(_) => false,
                Err(Malformed::Invalid {
                    property: named, ..
                }) => named == property,
                Err(other) => panic!("{other}"),
            };
            let is_good_text = matches!(property, "subscription_id" | "timestamp");
            let expected = !of_the_type(property, &value) || (is_good_text && value.is_string());
            assert_eq!(invalid, expected, "{property} {value}");
        }
    }
}

/// AAEP-6.5.3-2: the confidence is from 0 to 1: before, at, after, at either end.
#[test]
fn the_confidence_of_an_answer_is_in_range() {
    for (written, fits) in [
        ("-0.001", false),
        ("-0", true),
        ("0", true),
        ("0.001", true),
        ("0.999", true),
        ("1", true),
        ("1.0e0", true),
        ("1.001", false),
        ("1e999", false),
        ("-1e999", false),
        ("1e-999", true),
    ] {
        let json = minimal().to_string();
        let json = json.replace('{', &format!("{{\"confidence\":{written},"));
        assert_eq!(Reply::parse(json.as_bytes()).is_ok(), fits, "{written}");
    }
}

/// AAEP-EV-12: no other property, and 1 to 256 characters for who answered.
#[test]
fn an_answer_has_no_other_property() {
    for property in [
        "decision",
        "decision_rationale",
        "modified_action",
        "session_id",
        "",
    ] {
        assert_eq!(
            parse(&with(property, "x")),
            Err(Malformed::Unknown(property.to_owned()))
        );
    }
    for (characters, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (255, true),
        (256, true),
        (257, false),
    ] {
        let by = "ü".repeat(characters);
        assert_eq!(parse(&with("decided_by", by)).is_ok(), fits);
    }
}

/// AAEP-6.5.2-1: a number is what it is, however many digits it has.
#[test]
fn a_number_is_answered_as_it_was_written() {
    for written in [
        "67",
        "-0",
        "1.50",
        "1e999",
        "12345678901234567890123456789.000000000000000001",
        "9007199254740993",
    ] {
        let mut stage = Stage::new();
        let token = stage.clarifies(of_kinds(&[ResponseKind::Numeric]));
        let told = answers_as_written(&mut stage, &token, written);
        let last = told.last().expect("an answer");
        assert_eq!(tell(last), format!("answer {written} by reply"));
        assert_eq!(
            serde_json::to_string(last).expect("serialises"),
            format!(
                r#"{{"answer":{{"session_id":"sess_a","reply_token":"{token}","by":"reply","response":{written}}}}}"#
            )
        );
    }
}

/// Delivers a response of `sub_a` that is written in JSON like that.
fn answers_as_written(stage: &mut Stage, token: &ReplyToken, written: &str) -> Vec<Output> {
    let json = answer(token, "RESPONSE", stage.now).to_string();
    let message = json.replace("\"RESPONSE\"", written).into_bytes();
    let sender = Sender {
        subscription_id: Some(subscription("sub_a")),
        authenticated: true,
    };
    stage.outputs(Input::Deliver { sender, message })
}

/// AAEP-6.5.5-3: half of a surrogate pair is a text of its own, and none that stands for it.
#[test]
fn half_a_surrogate_pair_is_no_other_choice() {
    let of_choices = Clarify {
        choices: Some(choices(&["\u{fffd}", "x"])),
        ..of_kinds(&[ResponseKind::MultipleChoice])
    };
    for (written, is_choice) in [
        (r#""\ud800""#, false),
        (r#""\udfff""#, false),
        (r#""\ufffd""#, true),
        (r#""\ufffd\ud800""#, false),
        (r#""\u0078""#, true),
        (r#""x\ud800""#, false),
    ] {
        let mut stage = Stage::new();
        let token = stage.clarifies(of_choices.clone());
        let told = answers_as_written(&mut stage, &token, written);
        let ignored = "audit AAEP-6.5.5-3";
        assert_eq!(tell(&told[1]) == ignored, !is_choice, "{written}");
        assert_eq!(phase(&stage) == ClarificationPhase::Pending, !is_choice);
    }
}

/// AAEP-6.5.2-1: words are put out as they are, half a surrogate pair among them escaped.
#[test]
fn words_are_answered_as_they_were_written() {
    for (written, put_out) in [
        (r#""\ud800""#, r#""\ud800""#),
        (r#""a\uDFFF\"\n""#, r#""a\udfff\"\n""#),
        (r#""\ud83d\ude00\ude00""#, r#""😀\ude00""#),
        (r#""\ufffd""#, "\"\u{fffd}\""),
    ] {
        let mut stage = Stage::new();
        let token = stage.clarifies(of_kinds(&[ResponseKind::Freetext]));
        let told = answers_as_written(&mut stage, &token, written);
        let last = told.last().expect("an answer");
        assert_eq!(tell(last), format!("answer {put_out} by reply"));
        let json = serde_json::to_string(last).expect("serialises");
        assert!(
            json.ends_with(&format!(r#""response":{put_out}}}}}"#)),
            "{json}"
        );
    }
}

/// AAEP-6.5.5-1: the schema limits neither size nor depth.
#[test]
fn no_answer_is_too_large() {
    let text = "x".repeat(1_000_000);
    let read = parse(&with("response", text.clone())).expect("conforms");
    assert_eq!(read.response, UserResponse::Text(text.as_str().into()));
    let deep = minimal()
        .to_string()
        .replace("\"savings\"", &("[".repeat(100_000) + &"]".repeat(100_000)));
    assert_eq!(
        Reply::parse(deep.as_bytes()),
        Err(Malformed::Invalid {
            property: "response",
            expected: "a string, a boolean or a number",
        })
    );
}

// Silence.

/// AAEP-6.1-7, AAEP-A.5-2: the default is the answer at the deadline: not before, at, after.
#[test]
fn silence_answers_by_default() {
    for (now, expected) in [
        (DEADLINE - 1, &NOTHING[..]),
        (DEADLINE, &[ANSWERED, "answer \"savings\" by default"]),
        (DEADLINE + 1, &[ANSWERED, "answer \"savings\" by default"]),
    ] {
        let mut stage = Stage::new();
        stage.clarifies(with_default("savings"));
        stage.now = now;
        assert_eq!(stage.does(Input::Tick), expected);
    }
}

/// AAEP-A.5-2, AAEP-A.5-1: without a default there is no answer, and the host learns it.
#[test]
fn silence_without_a_default_is_nobodys_answer() {
    for (now, expected) in [
        (DEADLINE - 1, &NOTHING[..]),
        (DEADLINE, &[UNANSWERED, "answer by nobody"]),
        (DEADLINE + 1, &[UNANSWERED, "answer by nobody"]),
    ] {
        let mut stage = Stage::new();
        let token = stage.clarifies(clarify("Which account?"));
        stage.now = now;
        let told = stage.outputs(Input::Tick);
        assert_eq!(told.iter().map(tell).collect::<Vec<_>>(), expected);
        if let Some(last) = told.last() {
            let fields = json!({"session_id": "sess_a", "reply_token": token, "by": "nobody"});
            assert_eq!(json!(last), json!({"answer": fields}));
        }
    }
}

/// AAEP-A.5-2: the default is taken as it is, whatever the kinds.
#[test]
fn the_default_need_not_be_of_a_kind() {
    for kind in KINDS {
        for default in ["other", ""] {
            let mut stage = Stage::new();
            let mut clarify = of_kinds(&[kind]);
            clarify.default_response = Some(default.into());
            let token = stage.clarifies(clarify);
            stage.now = DEADLINE;
            let told = stage.outputs(Input::Tick);
            assert_eq!(
                json!(told.last()),
                json!({"answer": {
                    "session_id": "sess_a",
                    "reply_token": token,
                    "by": "default",
                    "response": default,
                }})
            );
        }
    }
}

/// AAEP-6.3.4-3: a token is used up by silence.
#[test]
fn silence_uses_the_token_up() {
    let mut stage = Stage::new();
    let token = stage.clarifies(clarify("Which account?"));
    stage.now = DEADLINE;
    let message = answer(&token, "savings", START);
    let told = stage.does(deliver("sub_a", &message));
    assert_eq!(
        told,
        [
            UNANSWERED,
            "answer by nobody",
            "respond 204",
            "audit AAEP-6.3.4-3"
        ]
    );
}

/// AAEP-EV-11: when the last subscription able to answer closes, silence begins at once; not before.
#[test]
fn nobody_left_to_answer_is_silence() {
    let mut stage = Stage::new();
    stage.does(subscribe("sub_b", true));
    stage.does(subscribe("sub_c", false));
    stage.clarifies(with_default("savings"));
    stage.clarifies(clarify("Which month?"));
    for left in ["sub_c", "sub_b"] {
        assert_eq!(stage.does(unsubscribe(left)), NOTHING);
    }
    assert_eq!(
        stage.does(unsubscribe("sub_a")),
        [
            ANSWERED,
            "state.changed Thinking>AwaitingInput",
            "answer \"savings\" by default",
            UNANSWERED,
            "answer by nobody"
        ]
    );
    let by = Authority::SubscriptionClosed;
    assert_eq!(phase(&stage), ClarificationPhase::Resolved { by });
}

// What comes of it.

/// AAEP-A.5-1, AAEP-A.2-2: the state leaves `awaiting_input` with an answer, and comes back while another question is open, of
/// whichever kind. AAEP-A.3-3: else it goes to `calling_tool` while a tool runs.
#[test]
fn the_state_leaves_awaiting_input_with_every_answer() {
    let mut stage = Stage::new();
    let first = stage.clarifies(clarify("Which account?"));
    let second = stage.clarifies(clarify("Which month?"));
    let action = stage.asks(ask("a1"));
    let back = "state.changed Thinking>AwaitingInput";
    assert_eq!(
        stage.answers(&first, 1),
        ["respond 204", ANSWERED, back, "answer 1 by reply"]
    );
    assert_eq!(
        stage.replies(&action, Decision::Accept),
        [
            "respond 204",
            "state.changed AwaitingInput>CallingTool (a1 Accepted)",
            "tool.invoked (a1 Accepted)",
            "state.changed CallingTool>AwaitingInput",
            "perform sess_a a1"
        ]
    );
    let mut alone = stage.clone();
    assert_eq!(
        stage.answers(&second, false),
        [
            "respond 204",
            ANSWERED,
            "state.changed Thinking>CallingTool",
            "answer false by reply"
        ]
    );
    alone.does(finish("a1"));
    assert_eq!(
        alone.answers(&second, false),
        ["respond 204", ANSWERED, "answer false by reply"]
    );
}

/// AAEP-6.8-1, AAEP-6.8-3, AAEP-6.8-4: a clarification may be taken back: an event says so, nothing is answered, the token is
/// invalid.
#[test]
fn a_clarification_may_be_taken_back() {
    let mut stage = Stage::new();
    let token = stage.clarifies(with_default("savings"));
    let told = stage.outputs(cancel(&token));
    assert_eq!(
        told.iter().map(tell).collect::<Vec<_>>(),
        ["state.changed AwaitingInput>Thinking (Cancelled)"]
    );
    let event = json!(told[0])["emit"].clone();
    assert_eq!(event["summary_normal"], "The question is no longer needed.");
    assert_eq!(
        event["extensions"]["countersign"],
        json!({"reply_token": token, "outcome": "cancelled"})
    );
    let by = Canceller::Producer;
    assert_eq!(phase(&stage), ClarificationPhase::Cancelled { by });
    assert_eq!(stage.refuses(cancel(&token)), Refusal::NothingToCancel);
    assert_eq!(
        stage.answers(&token, "savings"),
        ["respond 204", "audit AAEP-6.8-4"]
    );
    stage.now = DEADLINE;
    assert_eq!(stage.does(Input::Tick), NOTHING);
}

/// AAEP-6.8-2, AAEP-6.8-3: the end of a session takes its questions back, of both kinds, and answers nothing.
#[test]
fn the_end_of_a_session_takes_its_clarifications_back() {
    for (outcome, expected) in [
        (
            SessionOutcome::Completed,
            &[
                "state.changed AwaitingInput>Thinking (a1 Cancelled)",
                "state.changed Thinking>AwaitingInput",
                "state.changed AwaitingInput>Thinking (Cancelled)",
                "session.completed",
            ][..],
        ),
        (
            SessionOutcome::Errored,
            &[
                "state.changed AwaitingInput>Thinking (a1 Cancelled)",
                "state.changed Thinking>AwaitingInput",
                "state.changed AwaitingInput>Thinking (Cancelled)",
                "session.errored",
            ],
        ),
        (SessionOutcome::Cancelled, &["session.cancelled"]),
    ] {
        let mut stage = Stage::new();
        stage.does(start("sess_b"));
        let token = stage.clarifies(with_default("savings"));
        stage.asks(ask("a1"));
        let elsewhere = stage.clarifies(Clarify {
            session_id: session("sess_b"),
            ..clarify("Which account?")
        });
        assert_eq!(stage.does(end(outcome)), expected);
        let by = Canceller::SessionEnd;
        assert_eq!(phase(&stage), ClarificationPhase::Cancelled { by });
        assert_eq!(
            stage.answers(&token, "savings"),
            ["respond 204", "audit AAEP-6.8-4"]
        );
        assert_eq!(stage.answers(&elsewhere, "savings").len(), 3);
    }
}

// Restart.

/// AAEP-6.7-1, AAEP-6.4-1: a clarification that nobody has seen is asked again with its token, and its timeout counts from then.
#[test]
fn a_clarification_that_was_lost_is_asked_anew() {
    let mut stage = Stage::new();
    let asked = stage.outputs(Input::Clarify(with_default("savings")));
    let mut stage = stage.stored_and_read_back();
    stage.now = DEADLINE + 1;
    let again = stage.outputs(Input::Restart {
        lost: asked.clone(),
    });
    assert_eq!(again[0], asked[0]);
    let mut expected = json!(asked[1]);
    expected["emit"]["event_id"] = json!(again[1])["emit"]["event_id"].clone();
    expected["emit"]["timestamp"] = json!(Timestamp::from_millis(stage.now));
    assert_eq!(json!(again[1]), expected);
    assert_ne!(
        json!(again[1])["emit"]["event_id"],
        json!(asked[1])["emit"]["event_id"]
    );
    assert_eq!(again.len(), 2);
    let deadline = stage.now + DEADLINE - START;
    for (now, outputs) in [(deadline - 1, 0), (deadline, 2)] {
        stage.now = now;
        assert_eq!(stage.does(Input::Tick).len(), outputs);
    }
}

/// AAEP-6.1-7, AAEP-EV-4: an answer that was lost comes again as it was, and so do the events before it; once more, not twice.
#[test]
fn an_answer_that_was_lost_comes_again() {
    let mut stage = Stage::new();
    let token = stage.clarifies(clarify("Which account?"));
    let told = stage.outputs(deliver("sub_a", &answer(&token, 1.5, stage.now)));
    assert_eq!(told.len(), 3);
    for carried in 0..=told.len() {
        let mut stage = stage.stored_and_read_back();
        stage.now = DEADLINE + 1;
        let again = stage.outputs(Input::Restart {
            lost: told[carried..].to_vec(),
        });
        // What was sent to the subscriber is not sent again.
        assert_eq!(again, told[carried.max(1)..]);
        assert_eq!(stage.does(Input::Tick), NOTHING);
    }
}

/// AAEP-6.1-7: after a restart what is lost comes first, then what is due, then what is in doubt.
#[test]
fn after_a_restart_answers_come_in_their_order() {
    let mut stage = Stage::new();
    let action = stage.asks(ask("a1"));
    stage.clarifies(with_default("savings"));
    let token = stage.clarifies(clarify("Which month?"));
    stage.replies(&action, Decision::Accept);
    let lost = stage.outputs(deliver("sub_a", &answer(&token, "May", stage.now)));
    let mut stage = stage.stored_and_read_back();
    stage.now = DEADLINE;
    assert_eq!(
        stage.does(Input::Restart { lost }),
        [
            ANSWERED,
            "state.changed Thinking>AwaitingInput",
            "answer \"May\" by reply",
            ANSWERED,
            "state.changed Thinking>CallingTool",
            "answer \"savings\" by default",
            "in doubt sess_a a1"
        ]
    );
}

// Storage.

/// AAEP-6.2.2-3, AAEP-6.1-9: a restart forgets no clarification, whatever has become of it.
#[test]
fn clarifications_survive_storage() {
    let mut stage = Stage::new();
    let mut full = of_kinds(&KINDS);
    full.default_response = Some("other".into());
    let pending = stage.clarifies(full.clone());
    let answered = stage.clarifies(clarify("Which month?"));
    stage.answers(&answered, "May");
    let cancelled = stage.clarifies(clarify("Which year?"));
    stage.does(cancel(&cancelled));
    let mut stage = stage.stored_and_read_back();
    assert_eq!(
        stage.refuses(Input::Clarify(full)),
        Refusal::QuestionPending
    );
    for (token, clause) in [(&answered, "AAEP-6.3.4-3"), (&cancelled, "AAEP-6.8-4")] {
        assert_eq!(
            stage.answers(token, "May"),
            ["respond 204", &format!("audit {clause}")]
        );
    }
    assert_eq!(
        stage.answers(&pending, 7),
        ["respond 204", ANSWERED, "answer 7 by reply"]
    );
}

/// AAEP-EV-5, AAEP-6.1-9, AAEP-6.2.2-3, AAEP-A.1-3, AAEP-A.4-1: a document that no producer can have written is not read.
#[test]
fn a_document_that_contradicts_itself_about_clarifications_is_not_read() {
    let mut stage = Stage::new();
    let confirmation = stage.asks(ask("a1"));
    stage.clarifies(of_kinds(&[ResponseKind::MultipleChoice]));
    stage.clarifies(clarify("Which month?"));
    let long = "x".repeat(16_385);
    for (pointer, value, complaint) in [
        ("0/question/text", json!(""), "question must not be blank"),
        ("0/question/text", json!(long), "question must be at most"),
        (
            "0/question/default_response",
            json!(long),
            "default_response",
        ),
        (
            "0/question/accepted_response_kinds",
            json!([]),
            "1 to 4 different kinds",
        ),
        ("0/question/choices", json!(null), "needs choices"),
        (
            "0/question/choices/1/value",
            json!("savings"),
            "different values",
        ),
        ("0/question/choices/1/label", json!(" "), "choices[1].label"),
        ("0/question/asked/timeout", json!(0), "1 to 86400"),
        (
            "0/question/asked/at",
            json!("2027-01-01T00:00:00Z"),
            "later than now",
        ),
        (
            "0/question/asked/reply_token",
            json!(confirmation),
            "same reply token",
        ),
        (
            "0/question/asked/session_id",
            json!("sess_z"),
            "not started",
        ),
        (
            "0/question/text",
            json!("Which month?"),
            "same question are pending",
        ),
    ] {
        let pointer = format!("/questions/clarifications/{pointer}");
        check_tampered(&stage, &pointer, value, complaint);
    }
    let mut alone = Stage::new();
    alone.clarifies(clarify("Which month?"));
    for (pointer, value, complaint) in [
        (
            "/sessions/sess_a/status",
            json!({"ended": "completed"}),
            "has ended",
        ),
        (
            "/sessions/sess_a/state",
            json!("thinking"),
            "awaiting_input",
        ),
        ("/questions/clarifications", json!([]), "awaiting_input"),
        (
            "/questions/clarifications/0/phase",
            json!({"resolved": {"by": "reply"}}),
            "awaiting_input",
        ),
    ] {
        check_tampered(&alone, pointer, value, complaint);
    }
}

/// A document that was changed after it was written, and what reading it says.
#[track_caller]
fn check_tampered(stage: &Stage, pointer: &str, value: Value, complaint: &str) {
    let mut stored = serde_json::to_value(&stage.producer).expect("serialises");
    *stored.pointer_mut(pointer).expect("is in the document") = value;
    let error = serde_json::from_value::<Producer>(stored).expect_err(pointer);
    assert!(error.to_string().contains(complaint), "{pointer}: {error}");
}

/// AAEP-6.1-9: with the timeout of a confirmation and of a clarification at the same time, both defaults apply.
#[test]
fn both_kinds_fall_due_together() {
    let mut stage = Stage::new();
    stage.clarifies(with_default("savings"));
    stage.asks(ask("a1"));
    stage.now = START + i64::try_from(TIMEOUT * 1_000).expect("fits");
    assert_eq!(
        stage.does(Input::Tick),
        [
            "state.changed AwaitingInput>Thinking (a1 Rejected)",
            "state.changed Thinking>AwaitingInput",
            ANSWERED,
            "answer \"savings\" by default"
        ]
    );
    let message = reply(&ReplyToken::from_bits(99), Decision::Accept, stage.now);
    assert_eq!(stage.does(deliver("sub_a", &message)).len(), 2);
}
