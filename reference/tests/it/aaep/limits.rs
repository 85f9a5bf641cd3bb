//! What is too much for an event, and what says nothing.

use countersign_reference::aaep::{
    ActionId, AgentId, Choice, Chunk, Decision, Field, Handoff, Input, Output, OutputId, Refusal,
    Run, ToolCallId,
};
use countersign_reference::time::Timestamp;

use crate::aaep::stage::{Stage, ask, chunk, clarify, deliver, handoff, last_chunk, reply, run};

/// The most bytes of JSON that an event has.
const MOST: usize = 64 * 1024;

/// A text that takes that many bytes in JSON, and a sixth of them by itself.
fn taking(bytes: usize) -> String {
    // Control characters alone are blank.
    let rest = (bytes - 1) % 6 + 1;
    "\u{1}".repeat((bytes - rest) / 6) + &"x".repeat(rest)
}

/// Of a text for each field that can make an event too large: what asks for it.
fn asked(field: Field, text: &str) -> Input {
    let mut question = ask("a1");
    let mut clarification = clarify("Which?");
    match field {
        Field::Tool => question.action.tool = text.into(),
        Field::Description => question.action.description = text.into(),
        Field::Consequence => question.action.consequence = text.into(),
        Field::AllowedReplies => {
            // Many that are short, and together too long.
            let replies = text.as_bytes().chunks(400).enumerate();
            let reply = |(place, bytes): (usize, &[u8])| {
                format!("{place}{}", String::from_utf8_lossy(bytes))
            };
            question.allowed_replies = Some(replies.map(reply).collect());
        }
        Field::Question => {
            clarification.question = text.into();
            return Input::Clarify(clarification);
        }
        Field::DefaultResponse => {
            clarification.default_response = Some(text.into());
            return Input::Clarify(clarification);
        }
        Field::ArgsSummary => {
            return Input::Tool(Run {
                args_summary: Some(text.into()),
                ..run("r1")
            });
        }
        Field::Chunk => {
            return Input::Output(Chunk {
                text: text.into(),
                ..chunk("o1", "")
            });
        }
        Field::Reason => {
            return Input::Handoff(Handoff {
                reason: text.into(),
                ..handoff()
            });
        }
        Field::TargetUri => {
            return Input::Handoff(Handoff {
                target_uri: Some(text.into()),
                ..handoff()
            });
        }
        Field::AllowedReply(_) | Field::Choices | Field::ChoiceValue(_) | Field::ChoiceLabel(_) => {
            unreachable!("tried by themselves")
        }
    }
    Input::Confirm(question)
}

/// How many bytes the largest of these events takes, with a number of as many digits as there can be.
fn largest(outputs: &[Output]) -> usize {
    let taken = |output: &Output| match output {
        Output::Emit(event) => {
            let number = event.sequence_number.to_string().len();
            let json = serde_json::to_string(event).expect("an event can be written");
            Some(json.len() + 16 - number)
        }
        Output::Perform(_)
        | Output::Withdraw(_)
        | Output::Answer(_)
        | Output::Notify(_)
        | Output::Respond(_)
        | Output::Audit(_)
        | Output::InDoubt(_) => None,
    };
    outputs.iter().filter_map(taken).max().unwrap_or(0)
}

/// AAEP-EV-10: what would make an event too large, at once or only once it is accepted, is refused when it is asked for, to the
/// byte, and changes nothing.
#[test]
fn no_event_is_too_large() {
    for field in [
        Field::Tool,
        Field::Description,
        Field::Consequence,
        Field::AllowedReplies,
        Field::Question,
        Field::DefaultResponse,
        Field::ArgsSummary,
        Field::Chunk,
        Field::Reason,
        Field::TargetUri,
    ] {
        let outcome = |bytes| {
            let mut stage = Stage::new();
            let input = asked(field, &taking(bytes));
            let outcome = stage.producer.clone().handle(
                Timestamp::from_millis(stage.now),
                &mut stage.ids.clone(),
                input.clone(),
            );
            match outcome.refused {
                Some(_) => Err(stage.refuses(input)),
                None => Ok((stage.outputs(input), stage)),
            }
        };
        let (mut fits, mut does_not) = (1, 70_000);
        while does_not - fits > 1 {
            let between = usize::midpoint(fits, does_not);
            if outcome(between).is_ok() {
                fits = between;
            } else {
                does_not = between;
            }
        }
        let refused = outcome(does_not).map(|_| ()).expect_err("refused");
        assert_eq!(refused, Refusal::EventTooLarge(field));
        let (mut told, mut stage) = outcome(fits).expect("it fits");
        if let Some(asked) = stage.producer.confirmations().first() {
            let token = asked.question.asked.reply_token.clone();
            let reply = reply(&token, Decision::Accept, stage.now);
            told.extend(stage.outputs(deliver("sub_a", &reply)));
        }
        let found = largest(&told);
        // What is repeated in short replies, or counted by another rating, takes a little more at a time.
        assert!((MOST - 16..=MOST).contains(&found), "{field}: {found}");
    }
}

/// AAEP-EV-10: each of many choices, or replies, is short enough, and all together are too much.
#[test]
fn many_short_texts_make_an_event_too_large() {
    let long = "x".repeat(16_384);
    for (count, fits) in [(3, true), (4, false)] {
        let texts = (0..count).map(|place| format!("{place}{}", &long[1..]));
        let mut clarify = clarify("Which?");
        clarify.choices = Some(
            texts
                .clone()
                .map(|value| Choice {
                    value,
                    label: "l".to_owned(),
                })
                .collect(),
        );
        let mut question = ask("a1");
        question.allowed_replies = Some(texts.collect());
        for (input, field) in [
            (Input::Clarify(clarify), Field::Choices),
            (Input::Confirm(question), Field::AllowedReplies),
        ] {
            let mut stage = Stage::new();
            if fits {
                assert!(!stage.does(input).is_empty());
            } else {
                assert_eq!(stage.refuses(input), Refusal::EventTooLarge(field));
            }
        }
    }
}

/// AAEP-EV-10: an allowed reply is a text of at most 16 KiB, and may be empty.
#[test]
fn an_allowed_reply_has_a_length() {
    for (bytes, fits) in [
        (0, true),
        (1, true),
        (16_383, true),
        (16_384, true),
        (16_385, false),
    ] {
        let mut question = ask("a1");
        question.allowed_replies = Some(vec!["reject".into(), "x".repeat(bytes)]);
        let mut stage = Stage::new();
        if fits {
            stage.asks(question);
        } else {
            let refusal = Refusal::TextTooLong(Field::AllowedReply(1));
            assert_eq!(stage.refuses(Input::Confirm(question)), refusal);
        }
    }
}

/// AAEP-EV-5: a text that has to say something is not blank: nobody sees anything of it.
#[test]
fn what_says_nothing_is_blank() {
    for blank in ["", " ", "\t\n", "\u{a0}\u{2003}\u{3000}", "\u{200b}\u{1}"] {
        for field in [
            Field::Tool,
            Field::Description,
            Field::Consequence,
            Field::Question,
            Field::ArgsSummary,
            Field::Reason,
            Field::TargetUri,
        ] {
            let refused = Stage::new().refuses(asked(field, blank));
            assert_eq!(refused, Refusal::TextBlank(field), "{blank:?}");
            Stage::new().does(asked(field, &format!("{blank}x")));
        }
        assert!(ActionId::parse(blank).is_err());
        assert!(ToolCallId::parse(blank).is_err());
        assert!(OutputId::parse(blank).is_err());
        assert!(AgentId::parse(blank).is_err());
        assert!(ActionId::parse(&format!("{blank}x")).is_ok());
    }
    // A default answers in the host's words, and a chunk is part of a text: they may be white space.
    Stage::new().does(asked(Field::DefaultResponse, " "));
    Stage::new().does(asked(Field::Chunk, " "));
    Stage::new().does(Input::Output(last_chunk("o1", "")));
}
