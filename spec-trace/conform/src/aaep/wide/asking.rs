//! What is to be asked: the executor's words for the numbers that a step has, and whether they are out of the limits that a text
//! or a list has on the wire.
//!
//! The one thing to know: most of what is drawn can be asked, and what cannot is just beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_reference::aaep as executor;
use executor::{
    Action, ActionId, Ask, Choice, Chunk, Clarify, Handoff, OutputId, ResponseKind, Run, SessionId,
    TargetKind, ToolCallId,
};

use super::spelling;
use super::step::{Clarified, Confirmed, HandedOff, Ran, Streamed};

/// AAEP-EV-10: the longest text of an event, in bytes.
const LONGEST: usize = 16 * 1024;

/// A confirmation.
pub(super) fn confirmation(session_id: SessionId, confirmed: Confirmed) -> Ask {
    let Confirmed {
        place: _,
        action,
        tool,
        class,
        timeout_seconds,
        allowed,
        words,
    } = confirmed;
    let long = |is: u8, length: usize| {
        if words == is {
            "x".repeat(length)
        } else {
            format!("{words}")
        }
    };
    let accept = class / 6 == 0;
    Ask {
        session_id,
        action: Action {
            id: ActionId::parse(&format!("a{action}")).expect("a well-formed name"),
            tool: Arc::from(match words {
                240 => " ".to_owned(),
                241 => String::new(),
                _ => format!("tool{tool}"),
            }),
            description: Arc::from(format!("do {action} {}", long(242, 16 * 1024 - 6))),
            consequence: Arc::from(long(243, 16 * 1024 + 1)),
            risk_level: risk_of(class),
            irreversible: class / 3 % 2 == 1,
        },
        timeout_seconds,
        default_decision: if accept {
            executor::Decision::Accept
        } else {
            executor::Decision::Reject
        },
        allowed_replies: replies(allowed),
    }
}

/// A clarification.
pub(super) fn clarification(session_id: SessionId, clarified: Clarified) -> Clarify {
    let Clarified {
        place: _,
        question,
        kinds: of_kinds,
        choices: of_choices,
        default,
        timeout_seconds,
        words,
    } = clarified;
    let question = match words {
        252 => "\u{a0}\n".to_owned(),
        253 => String::new(),
        254 => "x".repeat(LONGEST),
        255 => "x".repeat(LONGEST + 1),
        // The text of each begins with that of the one before it.
        0..=251 => format!("which{}", "x".repeat(usize::from(question))),
    };
    Clarify {
        session_id,
        question: Arc::from(question),
        accepted_response_kinds: kinds(of_kinds),
        choices: choices(of_choices),
        timeout_seconds,
        default_response: (default != 0).then(|| Arc::from(spelling::text(default))),
    }
}

/// A tool that needs no question.
pub(super) fn run(session_id: SessionId, ran: Ran) -> Run {
    let Ran {
        place: _,
        action,
        tool,
        class,
        call,
        words,
    } = ran;
    Run {
        session_id,
        action: ActionId::parse(&format!("a{action}")).expect("a well-formed name"),
        tool: Arc::from(match words {
            250 => String::new(),
            251 => "x".repeat(LONGEST),
            252 => "x".repeat(LONGEST + 1),
            _ => format!("tool{tool}"),
        }),
        args_summary: (words % 3 != 0 || words > 252).then(|| {
            Arc::from(match words {
                253 => String::new(),
                254 => "x".repeat(LONGEST),
                255 => "x".repeat(LONGEST + 1),
                _ => format!("with {words}"),
            })
        }),
        risk_level: risk_of(class),
        irreversible: class / 3 % 2 == 1,
        tool_call_id: call_id(call),
    }
}

/// Some are such as an executor might make by itself.
fn call_id(call: u8) -> Option<ToolCallId> {
    let name = match call {
        0 => return None,
        1..=4 => format!("t{call}"),
        5..=6 => format!("call_{}", call - 4),
        7 => "run_0".to_owned(),
        8 => "\u{fc}".repeat(64),
        _ => "run_1".to_owned(),
    };
    Some(ToolCallId::parse(&name).expect("a well-formed name"))
}

/// A chunk of output.
pub(super) fn chunk(session_id: SessionId, streamed: Streamed) -> Chunk {
    let Streamed {
        place: _,
        output,
        text,
        complete,
    } = streamed;
    let text = match text {
        0..=1 => String::new(),
        2..=7 => "x".repeat(usize::from(text)),
        8..=10 => "\u{fc}\u{1f4b6}".repeat(usize::from(text)),
        11 => "e\u{301}\r\n\0".to_owned(),
        12..=13 => "y".to_owned(),
        14 => "\u{1f4b6}".repeat(LONGEST / 4),
        _ => "\u{fc}".repeat(LONGEST / 2) + "x",
    };
    Chunk {
        session_id,
        output_id: OutputId::parse(&format!("o{output}")).expect("a well-formed name"),
        text: Arc::from(text),
        is_last: complete,
    }
}

/// A session that is handed off.
pub(super) fn handoff(session_id: SessionId, handed: HandedOff) -> Handoff {
    let HandedOff {
        place: _,
        target,
        words,
    } = handed;
    let text = |is: u8, text: &str| match words {
        words if words == is => Arc::from(""),
        words if words == is + 1 => Arc::from("x".repeat(LONGEST)),
        words if words == is + 2 => Arc::from("x".repeat(LONGEST + 1)),
        _ => Arc::from(format!("{text}{words}")),
    };
    Handoff {
        session_id,
        reason: text(240, "why "),
        target_kind: match target {
            0 => TargetKind::Human,
            1 => TargetKind::SpecialistAgent,
            _ => TargetKind::EscalationQueue,
        },
        target_uri: (words % 2 == 0 || words > 244).then(|| text(250, "tel:")),
    }
}

fn risk_of(class: u8) -> executor::RiskLevel {
    match class % 3 {
        0 => executor::RiskLevel::Low,
        1 => executor::RiskLevel::Medium,
        _ => executor::RiskLevel::High,
    }
}

/// The clause that a tool is out of the limits of, by itself.
pub(super) fn limits_of_run(run: &Run) -> Option<&'static str> {
    let texts = run.args_summary.iter().map(|text| &**text);
    limits_of(&texts.chain([&*run.tool]).collect::<Vec<_>>())
}

/// The clause that a chunk is out of the limits of. It may be empty, if it is the last.
pub(super) fn limits_of_chunk(chunk: &Chunk) -> Option<&'static str> {
    (chunk.text.len() > LONGEST).then_some("AAEP-EV-10")
}

/// The clause that a handoff is out of the limits of, by itself.
pub(super) fn limits_of_handoff(handoff: &Handoff) -> Option<&'static str> {
    let texts = handoff.target_uri.iter().map(|text| &**text);
    limits_of(&texts.chain([&*handoff.reason]).collect::<Vec<_>>())
}

/// The clause that a confirmation is out of the limits of, by itself.
pub(super) fn limits_of_confirmation(ask: &Ask) -> Option<&'static str> {
    let Action {
        tool,
        description,
        consequence,
        ..
    } = &ask.action;
    let texts = [&**tool, &**description, &**consequence];
    let replies = ask.allowed_replies.as_deref().unwrap_or_default();
    if replies.iter().any(|reply| reply.len() > LONGEST) {
        return Some("AAEP-EV-10");
    }
    limits_of(&texts).or_else(|| {
        let replies = ask.allowed_replies.as_deref();
        replies
            .is_some_and(is_no_list_of_replies)
            .then_some("AAEP-EV-5")
    })
}

/// The clause that a text of a clarification is out of the limits of. A default may be empty.
pub(super) fn limits_of_clarification(clarify: &Clarify) -> Option<&'static str> {
    let default = clarify.default_response.as_deref();
    let default = default.filter(|text| !text.trim().is_empty());
    let choices = clarify.choices.iter().flatten();
    let texts = choices.flat_map(|choice| [&*choice.value, &*choice.label]);
    let texts: Vec<&str> = texts.chain([&*clarify.question]).chain(default).collect();
    limits_of(&texts)
}

/// AAEP-EV-5, AAEP-EV-10: some text, and not too much.
fn limits_of(texts: &[&str]) -> Option<&'static str> {
    if texts.iter().any(|text| text.len() > LONGEST) {
        Some("AAEP-EV-10")
    } else {
        let is_blank = texts.iter().any(|text| text.trim().is_empty());
        is_blank.then_some("AAEP-EV-5")
    }
}

/// AAEP-EV-5: 1 to 32 different strings.
fn is_no_list_of_replies(replies: &[String]) -> bool {
    let different: BTreeSet<&String> = replies.iter().collect();
    different.len() != replies.len() || !(1..=32).contains(&replies.len())
}

fn replies(which: u8) -> Option<Vec<String>> {
    let listed = |replies: &[&str]| -> Vec<String> {
        replies.iter().map(|reply| (*reply).to_owned()).collect()
    };
    // What may be decided stands behind everything else.
    let many = |others: u8| {
        let others = (0..others).map(|n| format!("r{n}"));
        others.chain(listed(&["accept", "reject"])).collect()
    };
    match which {
        0 => None,
        1 => Some(listed(&["accept", "reject"])),
        2 => Some(listed(&["accept"])),
        3 => Some(listed(&["reject"])),
        4 => Some(listed(&["reject", "later"])),
        5 => Some(listed(&["later"])),
        6 => Some(many(30)),
        7 => Some(many(31)),
        8 => Some(listed(&["accept", "reject", "accept"])),
        9 => Some(listed(&["accept", "reject", &"x".repeat(LONGEST)])),
        10 => Some(listed(&["accept", "reject", &"x".repeat(LONGEST + 1)])),
        _ => Some(Vec::new()),
    }
}

/// None given; each set of the four in either order; and lists that are none.
fn kinds(which: u8) -> Option<Vec<ResponseKind>> {
    let all = [
        ResponseKind::Freetext,
        ResponseKind::YesNo,
        ResponseKind::MultipleChoice,
        ResponseKind::Numeric,
    ];
    let set = |bits: u8| {
        let places = (0..4).filter(move |place| bits >> place & 1 == 1);
        places.map(|place| all[place]).collect::<Vec<_>>()
    };
    match which {
        0 => None,
        1..=15 => Some(set(which)),
        16..=30 => Some(set(which - 15).into_iter().rev().collect()),
        31 => Some(Vec::new()),
        32 => Some(vec![ResponseKind::YesNo, ResponseKind::YesNo]),
        33 => Some([&all[..], &all[..1]].concat()),
        34..=255 => Some(vec![all[0], all[3], all[0]]),
    }
}

/// None given; some that can be chosen from; and lists just beside the limits.
fn choices(which: u8) -> Option<Vec<Choice>> {
    let choice = |value: &str, label: &str| Choice {
        value: value.to_owned(),
        label: label.to_owned(),
    };
    let numbered = |count: u8| {
        let values = (0..count).map(|n| format!("v{n}"));
        values
            .map(|value| choice(&value, &format!("the {value}")))
            .collect()
    };
    let beside_v0 = |other| vec![choice("v0", "the v0"), other];
    let long = "x".repeat(LONGEST);
    let too_long = "x".repeat(LONGEST + 1);
    Some(match which {
        0 => return None,
        1 => numbered(2),
        2 => numbered(3),
        3 => numbered(32),
        4 => vec![choice("true", "yes"), choice("1", "one")],
        5 => [("\u{fc}\u{1f4b6}", "no"), ("\u{fffd}", "half")]
            .map(|(value, label)| choice(value, label))
            .to_vec(),
        6 => numbered(33),
        7 => numbered(1),
        8 => Vec::new(),
        9 => [numbered(2), numbered(1)].concat(),
        10 => beside_v0(choice("", "nothing")),
        11 => beside_v0(choice("v1", "")),
        12 => beside_v0(choice("v1", "the v0")),
        13 => beside_v0(choice(&long, "much")),
        14 => beside_v0(choice(&too_long, "much")),
        15 => beside_v0(choice("much", &long)),
        16..=255 => beside_v0(choice("much", &too_long)),
    })
}
