//! What decides a question: 6.2.4, 6.3.1, 6.3.2, 6.3.4, 6.3.5, 6.4, 6.7.1, 6.9.
//!
//! Facts: `~for` of a question is the person who may decide it, `~by` of a reply the one who sends it, if not that one. `~understands`
//! of a question are the members of `modified_action` that its producer can read; a producer that reads none does not support them.

use serde_json::Value;

use super::consent::{due, is_authenticated};
use super::questions::{asked, calls, questions, replies_to, silence_accepts};
use super::replies::conforms;
use crate::every::{kept, time, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "6.2.4",
        judge: |run| decided(run, |it| it.as_sent_if(is_authenticated(it.reply))),
    },
    Judge {
        name: "6.3.1 decision",
        judge: |run| decided(run, |it| it.as_sent_if(said(it.reply).is_some())),
    },
    Judge {
        name: "6.3.1 timestamp: not before the question",
        judge: |run| {
            decided(run, |it| {
                it.as_sent_if(stated(it.reply) >= Some(it.question.at))
            })
        },
    },
    Judge {
        name: "6.3.2 reason: any text",
        judge: |run| decided(run, |it| it.as_sent_if(it.has_a_reason_that_is_text())),
    },
    Judge {
        name: "6.3.2 modified: supported or a reject",
        judge: |run| decided(run, with_support),
    },
    Judge {
        name: "6.3.2 modified: understood or a reject",
        judge: |run| decided(run, |it| it.if_understood("~understands")),
    },
    Judge {
        name: "6.3.4 check 1",
        judge: |run| decided(run, |it| it.as_sent_if(conforms(it.reply))),
    },
    Judge {
        name: "6.3.4 check 2: ever issued",
        judge: |run| decided(run, |it| it.as_sent_if(true)),
    },
    Judge {
        name: "6.3.4 check 2: not yet resolved",
        judge: |run| decided(run, |it| it.as_sent_if(it.finds_it_open())),
    },
    Judge {
        name: "6.3.4 check 3",
        judge: |run| decided(run, |it| it.as_sent_if(true)),
    },
    Judge {
        name: "6.3.4 check 4",
        judge: |run| decided(run, |it| it.as_sent_if(it.is_dated_in_time())),
    },
    Judge {
        name: "6.3.4 check 5",
        judge: |run| decided(run, |it| it.as_sent_if(is_authenticated(it.reply))),
    },
    Judge {
        name: "6.3.4 check 6",
        judge: |run| {
            decided(run, |it| {
                with_support(it).filter(|_| it.is_allowed(it.reply.text("decision")))
            })
        },
    },
    Judge {
        name: "6.3.4 check 6: as it counts",
        judge: |run| {
            decided(run, |it| {
                with_support(it).filter(|accept| it.is_allowed(as_word(*accept)))
            })
        },
    },
    Judge {
        name: "6.3.5 first received",
        judge: |run| {
            decided(run, |it| {
                it.as_sent_if(it.is_first() && it.passes_all_checks())
            })
        },
    },
    Judge {
        name: "6.4",
        judge: |run| decided(run, |it| it.as_sent_if(it.is_received_in_time())),
    },
    Judge {
        name: "6.7.1 first valid",
        judge: |run| decided(run, |it| it.as_sent_if(it.passes_all_checks())),
    },
    Judge {
        name: "6.9 forged replies",
        judge: |run| {
            decided(run, |it| {
                it.as_sent_if(is_of_who_may_decide(it.question, it.reply))
            })
        },
    },
    Judge {
        name: "schema, in words: an active subscription",
        judge: |run| decided(run, |it| it.as_sent_if(it.names_an_active_subscription())),
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AAEP-F9",
        judge: |run| {
            decided(run, |it| {
                it.as_sent_if(
                    is_authenticated(it.reply) && is_of_who_may_decide(it.question, it.reply),
                )
            })
        },
    },
    Judge {
        name: "AAEP-F11",
        judge: |run| decided(run, |it| it.if_understood("modifications")),
    },
    Judge {
        name: "AAEP-F12",
        judge: |run| decided(run, |it| it.as_sent_if(it.conforms_without_remarks())),
    },
    Judge {
        name: "AAEP-F13",
        judge: |run| decided(run, |it| it.as_sent_if(it.is_received_in_time())),
    },
    Judge {
        name: "AAEP-F14",
        judge: |run| decided(run, |it| it.as_sent_if(it.is_received_in_time())),
    },
    Judge {
        name: "AAEP-F17",
        judge: a_list_with_reject_and_default,
    },
    Judge {
        name: "AAEP-F18",
        judge: |run| {
            decided(run, |it| {
                it.as_sent_if(it.names_an_active_subscription() && it.names_its_own_subscription())
            })
        },
    },
    Judge {
        name: "AAEP-F21",
        judge: resolved_once,
    },
    Judge {
        name: "AAEP-F22",
        judge: |run| decided(run, |it| it.as_sent_if(it.passes_all_checks())),
    },
];

/// A reply to a question.
struct Answer<'a> {
    run: &'a Run,
    question: &'a Step,
    asked: usize,
    reply: &'a Step,
    number: usize,
}

/// What counts decides: the first reply that counts, else silence. `counts` is whether a reply accepts; `None` if it is ignored.
fn decided(run: &Run, counts: impl Fn(&Answer) -> Option<bool>) -> Verdict {
    let answers = |(asked, question), until| {
        replies_to(run, (asked, question), until).map(move |(number, reply)| Answer {
            run,
            question,
            asked,
            reply,
            number,
        })
    };
    let of_calls = together(calls(run).filter_map(|(number, call)| {
        let question = asked(run, number, call)?;
        let first = answers(question, number).find_map(|answer| counts(&answer));
        let accepts = first.unwrap_or_else(|| silence_accepts(question.1, call.at));
        Some(kept(accepts, number))
    }));
    let answered = questions(run).any(|question| answers(question, usize::MAX).next().is_some());
    match of_calls {
        Verdict::Silent if answered => Verdict::Right,
        Verdict::Silent | Verdict::Right | Verdict::Wrong(_) | Verdict::Lacks(_) => of_calls,
    }
}

/// Whether a reply accepts; `None` if it is neither accept nor reject.
fn said(reply: &Step) -> Option<bool> {
    match reply.text("decision") {
        "accept" => Some(true),
        "reject" => Some(false),
        _ => None,
    }
}

fn as_word(accept: bool) -> &'static str {
    if accept { "accept" } else { "reject" }
}

/// When a reply says that the user decided, in milliseconds since midnight; where it says nothing, when it was received.
fn stated(reply: &Step) -> Option<i64> {
    if !reply.has("timestamp") {
        return Some(reply.at);
    }
    time(reply, "timestamp")
}

/// Whether a reply is of the person who may decide; without `~by` it is.
pub(super) fn is_of_who_may_decide(question: &Step, reply: &Step) -> bool {
    !reply.has("~by") || question.get("~for") == reply.get("~by")
}

/// Whether this step tells the user that a question was decided against, or is taken back.
fn tells_a_reject(step: &Step) -> bool {
    step.is("event", "state.changed")
        && (step.is("to_state", "thinking") || step.is("to_state", "deciding"))
}

/// 6.3.2: without support a reply with a modification is a reject.
fn with_support(it: &Answer) -> Option<bool> {
    let understood = it.question.get("~understands").as_array();
    let supported = understood.is_some_and(|it| !it.is_empty());
    said(it.reply).map(|accept| accept && (supported || !it.reply.has("modified_action")))
}

impl Answer<'_> {
    fn as_sent_if(&self, counts: bool) -> Option<bool> {
        said(self.reply).filter(|_| counts)
    }

    fn is_dated_in_time(&self) -> bool {
        stated(self.reply).is_some_and(|stated| stated < due(self.question))
    }

    fn is_received_in_time(&self) -> bool {
        self.reply.at < due(self.question)
    }

    fn is_allowed(&self, decision: &str) -> bool {
        let listed = self.question.get("allowed_replies").as_array();
        listed.map_or(decision == "accept" || decision == "reject", |listed| {
            listed.iter().any(|it| it == decision)
        })
    }

    /// A modification of which a member is not in this list of the question's is a reject.
    fn if_understood(&self, list: &str) -> Option<bool> {
        let known = |name: &String| {
            let known = self.question.get(list).as_array();
            known.is_some_and(|known| known.iter().any(|it| it == name))
        };
        let understood = match self.reply.get("modified_action") {
            Value::Object(members) => members.keys().all(known),
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
        };
        said(self.reply).map(|accept| accept && understood)
    }

    fn has_a_reason_that_is_text(&self) -> bool {
        !self.reply.has("decision_rationale") || self.reply.get("decision_rationale").is_string()
    }

    /// Whether a reply conforms once what is only for the record is dropped.
    fn conforms_without_remarks(&self) -> bool {
        let mut reply = self.reply.clone();
        for name in ["decided_by", "decision_rationale", "correlation_id"] {
            reply.members.shift_remove(name);
        }
        conforms(&reply)
    }

    fn passes_all_checks(&self) -> bool {
        conforms(self.reply)
            && self.is_dated_in_time()
            && is_authenticated(self.reply)
            && self.is_allowed(self.reply.text("decision"))
    }

    /// Whether no reply with the token came before it.
    fn is_first(&self) -> bool {
        replies_to(self.run, (self.asked, self.question), self.number)
            .next()
            .is_none()
    }

    fn names_an_active_subscription(&self) -> bool {
        let named = self.reply.get("subscription_id");
        !self
            .run
            .before(self.number)
            .any(|(_, step)| step.has("~closes") && step.get("~closes") == named)
    }

    fn names_its_own_subscription(&self) -> bool {
        self.reply.get("from") == self.reply.get("subscription_id")
    }

    /// Whether the question was open: no timeout, no call, no word of a reject before it.
    fn finds_it_open(&self) -> bool {
        let between = self
            .run
            .before(self.number)
            .take_while(|(number, _)| *number > self.asked);
        self.is_received_in_time()
            && !between
                .into_iter()
                .any(|(_, step)| is_a_call(step) || tells_a_reject(step))
    }
}

fn is_a_call(step: &Step) -> bool {
    step.is("event", "tool.invoked") || step.has("~runs")
}

/// Mended (F17): the list has reject and the default; check 6 looks at the decision as sent, 6.3.2 comes after it.
fn a_list_with_reject_and_default(run: &Run) -> Verdict {
    let listed = together(questions(run).filter_map(|(number, question)| {
        let listed = question.get("allowed_replies").as_array()?;
        let has = |decision: &str| listed.iter().any(|it| it == decision);
        Some(kept(
            has("reject") && has(question.text("default_decision")),
            number,
        ))
    }));
    let sent = decided(run, |it| {
        with_support(it).filter(|_| it.is_allowed(it.reply.text("decision")))
    });
    together([listed, sent])
}

/// Mended (F21): a question is resolved once, by a reply or by its default, and for one call; later replies are ignored.
fn resolved_once(run: &Run) -> Verdict {
    let once = calls(run).filter_map(|(number, call)| {
        let (first, _) = asked(run, number, call)?;
        let again = calls(run).any(|(other, it)| {
            other < number && asked(run, other, it).is_some_and(|(asked, _)| asked == first)
        });
        Some(kept(!again, number))
    });
    together([
        together(once),
        decided(run, |it| it.as_sent_if(it.finds_it_open())),
    ])
}

/// An accept counts after the question was told to be rejected, and a tool is invoked.
pub(super) fn a_decision_is_turned(run: &Run) -> Option<usize> {
    let mut invoked = run
        .steps()
        .filter(|(_, step)| step.is("event", "tool.invoked"));
    let found = invoked.find(|(number, call)| {
        asked(run, *number, call).is_some_and(|question| {
            let mut replies = replies_to(run, question, *number);
            let accept = replies.find(|(_, reply)| reply.is("decision", "accept"));
            accept.is_some_and(|(accept, _)| {
                run.before(accept)
                    .any(|(at, step)| at > question.0 && tells_a_reject(step))
            })
        })
    });
    found.map(|(number, _)| number)
}
