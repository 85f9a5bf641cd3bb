//! The checks of 6.3.4, as far as a record shows them.

use super::confirmation::{Confirmation, Outcomes};
use super::confirmations::SLACK_SECONDS;
use super::extension::Extension;
use crate::record::Decision;
use crate::reply::{Answer, Broken, Content, Reply, ReplyContent, Sender};
use crate::time::Timestamp;

/// A check that a reply fails, of those of 6.3.4 that a record shows. The producer has to ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// AAEP-6.3.4-1: it keeps to the schema; what it breaks of it.
    Schema(Broken),
    /// AAEP-6.3.1-1, AAEP-6.5.1-1: it is of the kind that the question wants.
    Kind,
    /// AAEP-6.3.4-2: its token was given out.
    Issued,
    /// AAEP-6.3.4-3: its token was not used before.
    Unused,
    /// AAEP-6.8-4: its question was not withdrawn.
    Standing,
    /// AAEP-6.3.4-4: it was decided in time.
    InTime,
    /// AAEP-6.3.4-5: its sender is known.
    Sender,
    /// AAEP-6.3.4-6: the question allows the decision.
    Allowed,
    /// AAEP-6.5.5-2: the response is of an accepted kind.
    ResponseType,
    /// AAEP-6.5.5-3: the response is one of the choices.
    Choice,
}

/// What a reply did.
pub struct Effect {
    /// What may have become of the question.
    pub outcomes: Outcomes,
    /// Whether the question cannot be pending any more.
    pub certain: bool,
    /// What it says, where it came so near to the deadline that the timeout may have come first.
    pub near: Option<Decision>,
    /// It was decided behind the deadline, and came in time only where this was granted.
    pub late_unless: Option<Extension>,
}

/// The checks of 6.3.4 that a reply fails whatever became of the question, first that of its form. The sender counts as
/// authenticated and its subscription as active (AAEP-6.3.4-5) unless the record says otherwise or the transport refused it.
pub fn failed(
    confirmation: &Confirmation,
    reply: &Reply,
    extension: Option<Extension>,
) -> Vec<Check> {
    let mut failed = match reply.content {
        // AAEP-6.3.1-1: a reply of the other kind decides nothing.
        Content::Clarification(_) => vec![Check::Kind],
        Content::Confirmation(_) => schema(reply),
    };
    failed.extend(transport(reply, confirmation.deadline, extension));
    let listed = reply
        .decision
        .is_none_or(|it| confirmation.allowed.contains(it));
    // AAEP-6.3.2-4: with a modified action it may be a rejection, where that is not supported.
    if !listed && !reply.modifies {
        // AAEP-6.3.4-6: a decision that the question does not allow is ignored.
        failed.push(Check::Allowed);
        // AAEP-REPLY-15: one of its own has to be among those.
        let is_plain = matches!(reply.decision, Some("accept" | "reject"));
        failed.extend((!is_plain).then_some(Check::Schema(("AAEP-REPLY-4", "decision"))));
    }
    failed
}

/// The clauses of its schema that a reply breaks (AAEP-6.3.4-1).
pub fn schema(reply: &Reply) -> Vec<Check> {
    let breaks = reply.breaks.iter();
    breaks.map(|broken| Check::Schema(*broken)).collect()
}

/// What a reply breaks of its schema, in words.
pub fn broken_in_words((clause, property): Broken) -> String {
    match (clause, property) {
        (_, "") => format!("breaks the schema ({clause})"),
        ("AAEP-REPLY-1" | "AAEP-6.5.1-3", _) => {
            format!("breaks the schema ({clause}: {property} is missing)")
        }
        _ => format!("breaks the schema ({clause}: {property})"),
    }
}

/// AAEP-6.3.4-4: it is decided before the deadline, whenever it arrives. AAEP-6.3.4-5, AAEP-REPLY-14: the sender is no stranger, and
/// the transport has not said no to it.
pub fn transport(
    reply: &Reply,
    deadline: Option<Timestamp>,
    extension: Option<Extension>,
) -> impl Iterator<Item = Check> {
    let decided = reply.timestamp.and_then(Timestamp::parse);
    let late = decided.filter(|decided| deadline.is_some_and(|deadline| *decided >= deadline));
    let late = late.is_some_and(|decided| !extension.is_some_and(|it| it.covers(decided)));
    let in_time = late.then_some(Check::InTime);
    in_time
        .into_iter()
        .chain(is_of_a_stranger(reply).then_some(Check::Sender))
}

/// What a reply does that fails none of these checks.
pub fn effect(
    confirmation: &Confirmation,
    reply: &Reply,
    content: &ReplyContent,
    (latest, extension): (Option<Timestamp>, Option<Extension>),
) -> Effect {
    let late = confirmation
        .deadline
        .is_some_and(|deadline| content.decided >= deadline);
    let late_unless = extension.filter(|it| late && it.covers(content.decided));
    let listed = confirmation.allowed.contains(content.answer.word());
    // AAEP-6.3.2-4: whether a modified action is supported does not show. Where it is, the decision has to be allowed.
    let may_be_ignored = content.modified && !listed;
    let outcomes = match &content.answer {
        Answer::Plain(_) if may_be_ignored => Outcomes::REJECTED,
        // Without support for it a modified action counts as reject.
        Answer::Plain(Decision::Accept) if content.modified => {
            Outcomes::ACCEPTED.or(Outcomes::REJECTED)
        }
        Answer::Plain(Decision::Reject) if content.modified => Outcomes::REJECTED,
        Answer::Plain(Decision::Accept) => Outcomes::ACCEPTED,
        Answer::Plain(Decision::Reject) => Outcomes::REJECTED,
        // The schema knows no decisions of one's own, and allowed_replies may list them (AAEP-REPLY-15): what they do is
        // not said.
        Answer::Custom(_) => Outcomes::ACCEPTED.or(Outcomes::REJECTED),
    };
    let plain = match content.answer {
        Answer::Plain(decision) if !may_be_ignored => Some(decision),
        Answer::Plain(_) | Answer::Custom(_) => None,
    };
    let taken = reply
        .http_status
        .is_none_or(|status| (200..300).contains(&status));
    let counts = taken && reply.sender != Sender::Untold && !late;
    let surely_in_time = surely_in_time(confirmation, reply, content, latest);
    Effect {
        outcomes,
        certain: plain.is_some() && counts && surely_in_time,
        near: plain.filter(|_| counts && !content.modified && !surely_in_time),
        late_unless,
    }
}

/// Whether the transport knew the sender, or knew that it did not, and said no.
pub fn refused_by_transport(reply: &Reply) -> bool {
    matches!(reply.http_status, Some(401 | 403))
}

/// Whether its sender is none that counts: nobody knows it, or the transport refused it.
pub fn is_of_a_stranger(reply: &Reply) -> bool {
    reply.sender == Sender::Stranger || refused_by_transport(reply)
}

/// Whether the reply reached the producer before the timeout, whatever the network and the clocks did.
fn surely_in_time(
    confirmation: &Confirmation,
    reply: &Reply,
    content: &ReplyContent,
    latest: Option<Timestamp>,
) -> bool {
    let Some(deadline) = confirmation.deadline else {
        return false;
    };
    let first_deadline = confirmation.first_deadline().unwrap_or(deadline);
    let safe =
        |moment: Timestamp, deadline: Timestamp| moment.plus_seconds(SLACK_SECONDS) < deadline;
    safe(reply.received.unwrap_or(content.decided), first_deadline)
        && latest.is_none_or(|latest| safe(latest, deadline))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AAEP-6.3.4-1: who sent the reply is to see what to mend.
    #[test]
    fn what_a_reply_breaks_names_the_property() {
        for (broken, said) in [
            (
                ("AAEP-REPLY-1", "subscription_id"),
                "AAEP-REPLY-1: subscription_id is missing",
            ),
            (("AAEP-REPLY-6", "timestamp"), "AAEP-REPLY-6: timestamp"),
            (("AAEP-REPLY-11", ""), "AAEP-REPLY-11"),
        ] {
            assert_eq!(
                broken_in_words(broken),
                format!("breaks the schema ({said})")
            );
        }
    }
}
