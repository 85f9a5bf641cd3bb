//! What may be proposed, and what is refused.

use countersign_reference::ids::IdSource;
use countersign_reference::pending_action::{
    Arguments, Decide, Decision, ExpiryAbsent, ExpiryBoundary, IgnoredBecause, Input,
    MAX_ARGUMENTS_BYTES, MAX_DEPTH, NotArguments, Output, Propose, Refusal, Settings, Text,
};
use countersign_reference::time::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::pending_action::stage::{
    ALLOWED, ASKED, EXPIRED, START, Stage, allow, decision, expiring, ordinary,
};

fn with_arguments(text: &str) -> Input {
    Input::Propose(Propose {
        arguments: Text::new(text),
        ..ordinary()
    })
}

/// Proposes what must be refused, and gives the clause.
#[track_caller]
fn refused(propose: Propose) -> String {
    let mut stage = Stage::new();
    stage.proposes(ordinary());
    stage.refuses(Input::Propose(propose)).clause().to_string()
}

#[track_caller]
fn accepted(propose: Propose) {
    assert_eq!(Stage::new().does(Input::Propose(propose)), ASKED);
}

/// PA-1: every name is 1 to 256 characters; one before each bound, at, and after.
#[test]
fn a_name_is_1_to_256_characters() {
    type Field = fn(&mut Propose) -> &mut String;
    let fields: [(&str, Field); 4] = [
        ("agent_id", |propose| &mut propose.agent_id),
        ("session_id", |propose| &mut propose.session_id),
        ("run_id", |propose| &mut propose.run_id),
        ("tool", |propose| &mut propose.tool),
    ];
    for (name, field) in fields {
        for (length, is_valid) in [
            (0, false),
            (1, true),
            (255, true),
            (256, true),
            (257, false),
        ] {
            // Characters are counted, neither bytes nor units of UTF-16.
            for character in ["é", "😀"] {
                let mut propose = ordinary();
                *field(&mut propose) = character.repeat(length);
                if is_valid {
                    accepted(propose);
                } else {
                    let refusal = Stage::new().refuses(Input::Propose(propose));
                    assert_eq!(refusal, Refusal::NoName { field: name });
                    assert_eq!(refusal.clause().to_string(), "PA-1");
                }
            }
        }
    }
}

/// PA-1, PA-9: the words shown say something, and not too much.
#[test]
fn label_and_summary_are_bounded() {
    let label = |label: String| Propose {
        label,
        ..ordinary()
    };
    accepted(label("x".repeat(80)));
    assert_eq!(refused(label("x".repeat(81))), "PA-9");
    assert_eq!(refused(label(String::new())), "PA-9");
    assert_eq!(refused(label("two\nlines".into())), "PA-9");
    let summary = |summary: String| Propose {
        summary,
        ..ordinary()
    };
    accepted(summary("x".repeat(4_096)));
    assert_eq!(refused(summary("x".repeat(4_097))), "PA-1");
    assert_eq!(refused(summary(String::new())), "PA-1");
}

/// PA-7: one millisecond before now, at, and after.
#[test]
fn what_has_expired_cannot_be_proposed() {
    let expires = |millis: i64| Propose {
        expires_at: Some(Timestamp::from_millis(millis)),
        ..ordinary()
    };
    assert_eq!(refused(expires(START - 1)), "PA-7");
    assert_eq!(refused(expires(START)), "PA-7");
    accepted(expires(START + 1));
}

/// PA-1, PA-7: a question without an expiry has what the host has chosen, and the record says which: never, unless it has; one
/// millisecond before the end, at it, and beyond the calendar.
#[test]
fn an_expiry_that_is_not_said_is_the_hosts() {
    let recorded = |settings: Settings, now: i64| {
        let mut stage = Stage::with(settings);
        stage.now = now;
        let id = stage.proposes(ordinary());
        let written = serde_json::to_value(&stage.journal[0]).expect("JSON");
        let expires_at = written["entry"]["proposed"]["proposal"]["expires_at"].clone();
        (stage, id, expires_at)
    };
    let (mut stage, id, said) = recorded(Settings::default(), START);
    assert_eq!(said, serde_json::Value::Null);
    let written = serde_json::to_string(&stage.journal[0]).expect("JSON");
    assert!(written.contains("\"expires_at\":null"));
    stage.now = Timestamp::MAX.millis();
    assert_eq!(stage.does(allow(id)), ALLOWED);

    let minute = Settings {
        expiry_absent: ExpiryAbsent::After {
            seconds: 60.try_into().expect("not zero"),
        },
        ..Settings::default()
    };
    let (mut stage, id, said) = recorded(minute, START);
    assert_eq!(said, "2026-05-24T14:23:20.000Z");
    stage.now = START + 59_999;
    assert_eq!(stage.clone().does(allow(id)), ALLOWED);
    stage.now += 1;
    assert_eq!(stage.does(Input::Tick), EXPIRED);
    // What a proposal says itself counts.
    let mut stage = Stage::with(minute);
    let id = stage.proposes(expiring());
    let action = stage.ledger.action(id).expect("proposed");
    assert_eq!(action.proposal.expires_at, expiring().expires_at);
    let (_, _, said) = recorded(minute, Timestamp::MAX.millis() - 1);
    assert_eq!(said, "9999-12-31T23:59:59.999Z");
}

/// PA-1, PA-7, PA-10: at the end of the calendar no expiry lies in the future. What would close at once is refused with a
/// reason, and never left out without a word.
#[test]
fn a_question_that_would_close_as_it_is_asked_is_refused() {
    let minute = Settings {
        expiry_absent: ExpiryAbsent::After {
            seconds: 60.try_into().expect("not zero"),
        },
        ..Settings::default()
    };
    let last = Timestamp::MAX.millis();
    for expiry_boundary in [ExpiryBoundary::At, ExpiryBoundary::After] {
        let mut stage = Stage::with(Settings {
            expiry_boundary,
            ..minute
        });
        stage.now = last - 1;
        assert_eq!(stage.clone().does(Input::Propose(ordinary())), ASKED);
        stage.now = last;
        let refused = stage.refuses(Input::Propose(ordinary()));
        assert_eq!(refused, Refusal::ExpiresTooSoon, "{expiry_boundary:?}");
    }
    let mut stage = Stage::new();
    stage.now = last;
    assert_eq!(stage.does(Input::Propose(ordinary())), ASKED);
}

/// PA-1, PA-2: what nobody can see names nobody: neither who proposes, nor who decides.
#[test]
fn a_blank_name_names_nobody() {
    for blank in [" ", "\u{a0}", "\0", "\u{200b}", "\u{2060}\u{feff}"] {
        let named = |change: fn(&mut Propose, String)| {
            let mut propose = ordinary();
            change(&mut propose, blank.to_owned());
            refused(propose)
        };
        assert_eq!(named(|propose, name| propose.agent_id = name), "PA-1");
        assert_eq!(named(|propose, name| propose.session_id = name), "PA-1");
        assert_eq!(named(|propose, name| propose.run_id = name), "PA-1");
        assert_eq!(named(|propose, name| propose.tool = name), "PA-1");
        assert_eq!(
            named(|propose, name| propose.deciders = Some(vec![name])),
            "PA-2"
        );
        let mut stage = Stage::new();
        let id = stage.proposes(ordinary());
        for decision in [Decision::Allow, Decision::Deny] {
            let decide = Decide {
                by: blank.to_owned(),
                ..self::decision(id, decision)
            };
            let outputs = stage.outputs(Input::Decide(decide));
            assert!(
                matches!(&outputs[..], [Output::Audit(audit)] if audit.reason == IgnoredBecause::NotEntitled),
                "{blank:?}: {outputs:?}"
            );
        }
    }
}

/// PA-2: nobody is not everybody, and nobody is named twice, without a name or with a blank one.
#[test]
fn deciders_are_named_once_each() {
    let deciders = |names: &[&str]| Propose {
        deciders: Some(names.iter().map(ToString::to_string).collect()),
        ..ordinary()
    };
    accepted(deciders(&["ana"]));
    accepted(deciders(&["ben", "ana"]));
    for bad in [
        &[][..],
        &["ana", "ana"],
        &["ana", "ben", "ana"],
        &[""],
        &["ana", ""],
        &[" "],
    ] {
        assert_eq!(refused(deciders(bad)), "PA-2", "{bad:?}");
    }
}

/// PA-3: what could be read in two ways, or in none, could not be run exactly.
#[test]
fn arguments_are_any_json_that_has_one_meaning() {
    for good in [
        "{}",
        " {\"a\":1e400} \n",
        "\r\n{\"a\":\"\\/ \\u00e9 \\r\\n\",\r\n\t\"b\":-0.0e+0}",
        "{\"a\":{\"b\":[{}]},\"A\":\"\\ud83d\\ude00\"}",
        "null",
        "[ 3, [ {} ] ]",
        "\"{}\"",
        "1",
        "true",
    ] {
        let mut stage = Stage::new();
        let outputs = stage.outputs(with_arguments(good));
        assert_eq!(outputs.len(), ASKED.len());
        let id = stage.ledger.actions()[0].action_id;
        let released = stage.outputs(allow(id));
        let Some(Output::Perform(call)) = released.last() else {
            panic!("not released");
        };
        assert_eq!(call.arguments.as_str(), good);
    }
    for bad in [
        "",
        "nul",
        "[",
        "\"{}",
        "1 2",
        "[{\"a\":1,\"a\":1}]",
        "{",
        "{}{}",
        "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"a\":[{\"b\":1,\"b\":1}]}",
        "{\"a\":01}",
        "{\"a\":\"\\ud83d\"}",
        "{\"a\":NaN}",
        "\u{feff}{}",
    ] {
        let mut stage = Stage::new();
        let refused = stage.refuses(with_arguments(bad));
        assert_eq!(refused.clause().to_string(), "PA-3", "{bad:?}");
    }
}

/// PA-3: one level before the deepest that is read, at, and after; and far beyond.
#[test]
fn arguments_are_not_too_deep() {
    let nested = |depth: usize| {
        let inner = depth - 1;
        format!("{{\"a\":{}{}}}", "[".repeat(inner), "]".repeat(inner))
    };
    for (depth, is_valid) in [
        (MAX_DEPTH - 1, true),
        (MAX_DEPTH, true),
        (MAX_DEPTH + 1, false),
        (1_000, false),
        (500_000, false),
    ] {
        let read = Arguments::parse(Text::new(nested(depth)));
        assert_eq!(read.is_ok(), is_valid, "{depth}");
    }
}

/// PA-3: one byte before the longest that is read, at, and after.
#[test]
fn arguments_are_not_too_long() {
    // Bytes are counted: a character of four bytes counts four times.
    let long = |length: usize, wide: &str| {
        let narrow = "x".repeat(length - 8 - wide.len());
        format!("{{\"a\":\"{wide}{narrow}\"}}")
    };
    for (length, wide, is_valid) in [
        (MAX_ARGUMENTS_BYTES - 1, "", true),
        (MAX_ARGUMENTS_BYTES, "", true),
        (MAX_ARGUMENTS_BYTES + 1, "", false),
        (MAX_ARGUMENTS_BYTES - 1, "😀", true),
        (MAX_ARGUMENTS_BYTES, "😀", true),
        (MAX_ARGUMENTS_BYTES + 1, "😀", false),
    ] {
        let text = long(length, wide);
        assert_eq!(text.len(), length);
        let refused = (!is_valid).then_some(Refusal::ArgumentsMalformed(NotArguments::TooLong));
        let (outputs, was_refused) = Stage::new().happens(with_arguments(&text));
        assert_eq!(outputs.is_empty(), !is_valid);
        assert_eq!(was_refused, refused);
    }
}

/// A source that returns the same value so many times before it goes on.
struct Stuck {
    times: u32,
    next: u128,
}

impl IdSource for Stuck {
    fn next_bits(&mut self) -> u128 {
        if self.times > 0 {
            self.times -= 1;
            return 1;
        }
        self.next += 1;
        self.next
    }
}

/// PA-1: an id names one action, whatever the source of ids does. Drawn seven times in vain, eight, and nine.
#[test]
fn an_id_is_never_used_twice() {
    for (times, is_refused) in [(7, false), (8, true), (9, true)] {
        let mut stage = Stage::new();
        let first = stage.proposes(ordinary());
        let before = stage.ledger.clone();
        let mut ids = Stuck { times, next: 100 };
        let now = Timestamp::from_millis(START);
        let outcome = stage
            .ledger
            .handle(now, &mut ids, Input::Propose(ordinary()));
        assert_eq!(outcome.refused.is_some(), is_refused, "{times}");
        if is_refused {
            assert_eq!(outcome.refused, Some(Refusal::NoFreshId));
            assert_eq!(stage.ledger, before);
        } else {
            let ids: Vec<_> = stage.ledger.actions().iter().collect();
            assert_ne!(ids[1].action_id, first);
        }
    }
}

/// PA-2: the same call proposed twice is two actions, and a decision about one is none about the other.
#[test]
fn the_same_call_twice_is_two_actions() {
    let mut stage = Stage::new();
    let first = stage.proposes(ordinary());
    let second = stage.proposes(ordinary());
    assert_eq!(stage.does(allow(first)), ALLOWED);
    assert_eq!(stage.status(second), "pending");
}

/// Pieces that JSON is made of, and pieces that it is not made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{", "}", "{\"a\":", "[", "]", ",", ":", "\"", "\"b\"", "\"b\":", "1", "-0.0", "1e999",
        "true", "null", "\\", "\\u0061", "\u{0}", " ", "é",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/pending_action_proposing.txt",
        ))),
        ..ProptestConfig::default()
    })]

    /// PA-3: whatever text is proposed, it is refused, or it runs byte for byte.
    #[test]
    fn any_text_is_refused_or_runs_as_it_is(text in prop_oneof![pieces(), any::<String>(), pieces().prop_map(|text| format!("{{\"a\":[{text}]}}"))]) {
        let mut stage = Stage::new();
        let (_, refused) = stage.happens(with_arguments(&text));
        if refused.is_none() {
            let id = stage.ledger.actions()[0].action_id;
            let released = stage.outputs(allow(id));
            let Some(Output::Perform(call)) = released.last() else {
                panic!("not released");
            };
            prop_assert_eq!(call.arguments.as_str(), text);
        } else {
            prop_assert_eq!(stage.ledger.actions(), &[]);
        }
    }
}
