//! Replies as messages, and what their senders are told: 6.1, 6.2.4, 6.3.1, 6.3.4, 6.3.5, 6.5.5, A.5, and the schema.
//!
//! `answer` is what the transport or the producer answers to the reply before it, `bytes` a reply as it came.
//! Facts: `~sent_to` are the subscriptions that a question was sent to; `~depends_on` of a call is the token of the clarification that
//! it needs.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use super::consent::due;
use super::question_of;
use super::questions::{asked, calls, replies_to, silence_accepts};
use crate::every::{kept, together};
use crate::run::{Guarantee, Judge, Run, Step, Verdict};
use crate::schemas::{Validator, compile};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "schema",
        judge: |run| every_reply(run, |_, reply| conforms(reply)),
    },
    Judge {
        name: "schema, in words: own decisions",
        judge: |run| every_reply(run, is_a_decision_of_the_event),
    },
    Judge {
        name: "6.1 clarification",
        judge: |run| dependent_work(run, |_, _| true, |_| true),
    },
    Judge {
        name: "6.2.4 over HTTP",
        judge: |run| {
            every_answer(run, |_, (_, reply), answer| {
                let is_refused = answer.text("answer").starts_with("401");
                (is_refused || is_unknown(reply)).then(|| is_unknown(reply))
            })
        },
    },
    Judge {
        name: "6.3.4 check 1: RFC 8259, first member",
        judge: |run| decided_by_bytes(run, |text| decision(text, true)),
    },
    Judge {
        name: "6.3.4 check 1: RFC 8259, last member",
        judge: |run| decided_by_bytes(run, |text| decision(text, false)),
    },
    Judge {
        name: "6.3.4 check 1: I-JSON",
        judge: |run| decided_by_bytes(run, i_json),
    },
    Judge {
        name: "6.3.4 no reasons",
        judge: |run| {
            every_answer(run, |run, (number, reply), answer| {
                (is_unknown(reply) || is_late(run, number, reply))
                    .then(|| answer.is("answer", "202 Accepted"))
            })
        },
    },
    Judge {
        name: "6.3.5 notice",
        judge: |run| {
            every_answer(run, |run, (number, reply), answer| {
                let is_notice = answer.is("answer", "already resolved");
                is_notice
                    .then(|| is_late(run, number, reply) && answer.get("to") == reply.get("from"))
            })
        },
    },
    Judge {
        name: "6.5.5 without kinds: any",
        judge: |run| dependent_work(run, |kinds, response| fits(kinds, response, true), |_| true),
    },
    Judge {
        name: "6.5.5 without kinds: none",
        judge: |run| {
            dependent_work(
                run,
                |kinds, response| fits(kinds, response, false),
                |_| true,
            )
        },
    },
    Judge {
        name: "A.5",
        judge: |run| {
            dependent_work(
                run,
                |_, _| true,
                |question| question.has("default_response"),
            )
        },
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AAEP-F3",
        judge: a_clarification_without_kinds_or_default,
    },
    Judge {
        name: "AAEP-F15",
        judge: own_values_with_outcomes,
    },
    Judge {
        name: "AAEP-F16",
        judge: |run| {
            every_answer(run, |run, (number, reply), answer| {
                let (_, question) = question_of(run, number, reply)?;
                let was_sent = question
                    .get("~sent_to")
                    .as_array()
                    .is_some_and(|it| it.contains(answer.get("to")));
                let notice =
                    answer.is("answer", "already resolved") && was_sent && !is_unknown(reply);
                is_late(run, number, reply).then(|| notice || answer.is("answer", "202 Accepted"))
            })
        },
    },
    Judge {
        name: "AAEP-F19",
        judge: |run| decided_by_bytes(run, i_json),
    },
    Judge {
        name: "AAEP-F20",
        judge: |run| {
            every_answer(run, |_, (_, reply), answer| {
                let is_refused = answer.text("answer").starts_with("401");
                Some(answer.is("answer", "202 Accepted") || (is_refused && is_unknown(reply)))
            })
        },
    },
];

/// The schema of replies as the text has it, in which formats are remarks.
static SCHEMA: LazyLock<Option<Validator>> = LazyLock::new(|| compile(&schema(), false));

/// The schema with any text as a decision.
static OPEN_SCHEMA: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let mut schema = schema();
    *schema.pointer_mut("/properties/decision")? = json!({ "type": "string", "minLength": 1 });
    compile(&schema, false)
});

fn schema() -> Value {
    let text = include_str!("../../../cli/schemas/confirmation.reply.schema.json");
    serde_json::from_str(text).unwrap_or_default()
}

/// Whether a reply conforms to its schema; a subscription and a time that a run leaves out are put in.
pub(super) fn conforms(reply: &Step) -> bool {
    SCHEMA
        .as_ref()
        .is_some_and(|it| it.is_valid(&message(reply)))
}

fn message(reply: &Step) -> Value {
    let mut message = json!({ "subscription_id": "sub_a1", "timestamp": "2026-05-24T14:22:24Z" });
    message["type"] = format!("{}.reply", reply.text("reply")).into();
    for (name, value) in &reply.members {
        let is_message = !["reply", "from", "bytes"].contains(&name.as_str());
        if is_message && !name.starts_with('~') {
            message[name.as_str()] = value.clone();
        }
    }
    message
}

fn every_reply(run: &Run, is_kept: impl Fn(Option<&Step>, &Step) -> bool) -> Verdict {
    let replies = run.steps().filter(|(_, step)| step.has("reply"));
    together(replies.map(|(number, reply)| {
        let question = question_of(run, number, reply).map(|(_, question)| question);
        kept(is_kept(question, reply), number)
    }))
}

/// Accept, reject, or what the event lists.
fn is_a_decision_of_the_event(question: Option<&Step>, reply: &Step) -> bool {
    let listed = question.and_then(|it| it.get("allowed_replies").as_array());
    let own = listed.is_some_and(|it| it.contains(reply.get("decision")));
    own || reply.is("decision", "accept") || reply.is("decision", "reject")
}

/// Mended (F15): a decision is any text out of the event's list, and the event says which outcome each own value has.
fn own_values_with_outcomes(run: &Run) -> Verdict {
    let outcome_is_missing = |(_, question): &(usize, &Step)| {
        let listed = question.get("allowed_replies").as_array();
        listed.into_iter().flatten().any(|value| {
            let outcome = value
                .as_str()
                .map(|it| question.get("reply_outcomes")[it].clone());
            value != "accept"
                && value != "reject"
                && outcome != Some(json!("accept"))
                && outcome != Some(json!("reject"))
        })
    };
    if let Some((number, _)) = run.steps().find(outcome_is_missing) {
        return Verdict::Lacks(number);
    }
    every_reply(run, |question, reply| {
        OPEN_SCHEMA
            .as_ref()
            .is_some_and(|it| it.is_valid(&message(reply)))
            && is_a_decision_of_the_event(question, reply)
    })
}

fn every_answer(
    run: &Run,
    of_one: impl Fn(&Run, (usize, &Step), &Step) -> Option<bool>,
) -> Verdict {
    let answers = run.steps().filter(|(_, step)| step.has("answer"));
    together(answers.filter_map(|(number, answer)| {
        let reply = run.before(number).find(|(_, step)| step.has("reply"))?;
        of_one(run, reply, answer).map(|is_kept| kept(is_kept, number))
    }))
}

/// Whether the transport does not know the sender.
fn is_unknown(reply: &Step) -> bool {
    reply.has("from") && reply.get("from").is_null()
}

/// Whether the question was resolved before, by a reply or by the timeout.
fn is_late(run: &Run, number: usize, reply: &Step) -> bool {
    question_of(run, number, reply).is_some_and(|(asked, question)| {
        let between = run.before(number).take_while(|(at, _)| *at > asked);
        reply.at >= due(question)
            || between.into_iter().any(|(_, step)| {
                step.has("reply")
                    && step.get("reply_token") == reply.get("reply_token")
                    && conforms(step)
            })
    })
}

/// A call rests on the bytes before it, as a reader takes them, or else on silence.
fn decided_by_bytes(run: &Run, read: impl Fn(&str) -> Option<String>) -> Verdict {
    together(calls(run).filter_map(|(number, call)| {
        let (asked, question) = asked(run, number, call)?;
        let (at, bytes) = run.before(number).find(|(_, step)| step.has("bytes"))?;
        let decision = read(bytes.text("bytes")).filter(|_| at > asked);
        let silent = silence_accepts(question, call.at);
        Some(kept(decision.map_or(silent, |it| it == "accept"), number))
    }))
}

/// The members of an object, also those that occur twice.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// The decision in an object by the grammar of RFC 8259, whose escapes need not make characters, and whose names need not differ.
fn decision(text: &str, first: bool) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut parts = text.split("\\u");
    let mut readable = parts.next()?.to_owned();
    for part in parts {
        let is_surrogate =
            part.starts_with(['d', 'D']) && !matches!(part.as_bytes().get(1), Some(b'0'..=b'7'));
        readable += "\\u";
        readable += if is_surrogate { "fffd" } else { part.get(..4)? };
        readable += part.get(4..)?;
    }
    let Members(members) = serde_json::from_str(&readable).ok()?;
    let mut found = members.iter().filter(|(name, _)| name == "decision");
    let (_, value) = if first {
        found.next()
    } else {
        found.next_back()
    }?;
    value.as_str().map(str::to_owned)
}

/// The decision in an object by RFC 7493: escapes make characters, and no name occurs twice.
fn i_json(text: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(text).ok()?;
    let twice = |(at, (name, _)): (usize, &(String, Value))| {
        members.iter().skip(at + 1).any(|(it, _)| it == name)
    };
    let is_twice = members.iter().enumerate().any(twice);
    (!is_twice).then(|| decision(text, true)).flatten()
}

/// Whether a response is of one of the kinds; without kinds, whether any is.
fn fits(kinds: &Value, response: &Value, without: bool) -> bool {
    kinds.as_array().map_or(without, |kinds| {
        kinds.iter().any(|kind| match kind.as_str() {
            Some("yes_no") => response.is_boolean(),
            Some("numeric") => response.is_number(),
            _ => response.is_string(),
        })
    })
}

/// Work that depends on a clarification waits for a reply that fits, or for the timeout and what stands for an answer then.
fn dependent_work(
    run: &Run,
    fits: fn(&Value, &Value) -> bool,
    at_timeout: fn(&Step) -> bool,
) -> Verdict {
    let work = run.steps().filter(|(_, step)| step.has("~depends_on"));
    together(work.filter_map(|(number, work)| {
        let question = needed(run, number, work)?;
        let kinds = question.1.get("accepted_response_kinds");
        let answered = replies_to(run, question, number)
            .any(|(_, reply)| reply.at < due(question.1) && fits(kinds, reply.get("response")));
        let is_up = work.at >= due(question.1);
        Some(kept(answered || (is_up && at_timeout(question.1)), number))
    }))
}

/// Mended (F3): without kinds a text fits; without a default a timeout ends the dependent work, and an event says so.
fn a_clarification_without_kinds_or_default(run: &Run) -> Verdict {
    let waits = dependent_work(
        run,
        |kinds, response| {
            let is_text = kinds.is_null() && response.is_string();
            is_text || fits(kinds, response, false)
        },
        |question| question.has("default_response"),
    );
    let told = run.steps().filter_map(|(number, question)| {
        let last = run
            .steps()
            .next_back()
            .filter(|(_, step)| step.has("~end"))?;
        let is_open = question.is("event", "awaiting.clarification")
            && !question.has("default_response")
            && replies_to(run, (number, question), last.0).next().is_none();
        let is_told = |(_, step): (usize, &Step)| step.has("event") && step.at >= due(question);
        (is_open && last.1.at >= due(question))
            .then(|| kept(run.steps().skip(number).any(is_told), last.0))
    });
    together([waits, together(told)])
}

/// The clarification that a step needs the answer to.
fn needed<'a>(run: &'a Run, number: usize, work: &Step) -> Option<(usize, &'a Step)> {
    run.before(number).find(|(_, step)| {
        step.is("event", "awaiting.clarification")
            && step.get("reply_token") == work.get("~depends_on")
    })
}

/// Work goes on upon an answer to the question that it needs an answer to, and to no other.
pub(super) const AN_ANSWER_IS_TO_ITS_QUESTION: Guarantee = Guarantee {
    name: "an-answer-is-to-its-question",
    section: "6.3.1",
    means: "work goes on only with an answer to the question that was meant",
    broken: |run| {
        let mut work = run.steps().filter(|(_, step)| step.has("~depends_on"));
        let found = work.find(|(number, work)| {
            let question = needed(run, *number, work);
            question.is_some_and(|question| {
                let answer = replies_to(run, question, *number).next();
                answer.is_some_and(|(_, it)| {
                    it.has("~wants") && it.get("~wants") != question.1.get("~asks")
                })
            })
        });
        found.map(|(number, _)| number)
    },
};
