//! Section 6.3 and the reply schema: which reply counts, and what the sender of one that does not gets to see.

use super::account::{Cause, Confirmation, Phase, Verdict};
use super::call::{Delivery, Flaw, Output};
use super::{Call, Look, Owes, Resolution};
use crate::aaep::readings::{CourtesyNotice, TimeoutUsesToken};
use crate::judge::Kind;

/// Why a reply is to be ignored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed {
    pub clause: &'static str,
    pub also: &'static [&'static str],
    /// What is the matter, after "the reply".
    pub why: &'static str,
    /// The token that it carried.
    pub token: Option<u32>,
    /// Whether another reading would have it counted.
    pub by_reading: bool,
}

impl Failed {
    const fn at(
        token: Option<u32>,
        clause: &'static str,
        also: &'static [&'static str],
        why: &'static str,
    ) -> Self {
        Self {
            clause,
            also,
            why,
            token,
            by_reading: false,
        }
    }
}

/// 6.3.4 and 6.3.5: a reply arrives.
impl Look<'_> {
    // AAEP-6.3.4-7: a reply that fails a check changes nothing. AAEP-6.3.5-1, AAEP-6.7.1-1, AAEP-REPLY-12: the first that
    // passes all decides. AAEP-6.6-4: whoever forwarded the question.
    pub(super) fn reply_arrives(&mut self, delivery: &Delivery) {
        let token = match self.checks_1_to_6(delivery) {
            Ok(token) => token,
            Err(failed) => {
                self.duties.ignored = Some(failed);
                return;
            }
        };
        let Some(decision) = delivery.reply.decision else {
            return;
        };
        // AAEP-6.3.2-4: without support for modified actions, a reply that carries one is a reject, whatever it decides; also
        // where reject is not allowed.
        let (verdict, cause) = if delivery.reply.modified_action {
            (Verdict::Reject, Cause::Modified)
        } else {
            (decision.into(), Cause::Reply)
        };
        let confirmation = &self.account.confirmations[&token];
        let owes = match confirmation.phase {
            Phase::Open if self.account.has_ended(confirmation.session) => Owes::Run,
            Phase::Open => Owes::All,
            // Decided by its timeout before, and its token not used by that: what follows from a second decision is free.
            Phase::Resolved { .. } => Owes::Nothing,
            Phase::Astray => return self.duties.settled.push(confirmation.session),
        };
        self.resolve(token, verdict, cause, owes);
    }

    /// The six checks, in the order of the text. The token of a reply that passes them.
    pub(super) fn checks_1_to_6(&self, delivery: &Delivery) -> Result<u32, Failed> {
        let reply = &delivery.reply;
        let token = reply.token;
        let fails = |clause, also, why| Err(Failed::at(token, clause, also, why));

        // AAEP-6.3.4-1 and the schema, AAEP-REPLY-1 to AAEP-REPLY-11.
        if let Some(flaw) = delivery.flaw {
            return fails("AAEP-6.3.4-1", clauses_of(flaw), "does not fit the schema");
        }

        // AAEP-6.3.4-2: outstanding means ever issued by this producer.
        let issued = token.and_then(|token| Some((token, self.account.confirmations.get(&token)?)));
        let Some((issued, confirmation)) = issued else {
            return fails(
                "AAEP-6.3.4-2",
                &["AAEP-6.3.4-7"],
                "names no token that was issued",
            );
        };

        let timed_out_now = self.unused(token, confirmation)?;

        // AAEP-6.3.4-4: strictly before; there is no tolerance, and no lower bound.
        if reply
            .claimed_at
            .is_none_or(|claimed| claimed >= confirmation.deadline)
        {
            let why = "claims a time at or after the deadline";
            return fails("AAEP-6.3.4-4", &["AAEP-6.9-2", "AAEP-6.3.4-7"], why);
        }
        // AAEP-6.4-1: whatever it claims, the default is applied first (reading `late-reply`), and uses the token up
        // (reading `timeout-uses-token`).
        if timed_out_now && self.reading.timeout_uses_token == TimeoutUsesToken::Yes {
            return Err(Failed {
                clause: "AAEP-6.4-1",
                also: &["AAEP-6.3.4-3", "AAEP-6.3.4-4"],
                why: "comes at or after the deadline",
                token,
                by_reading: true,
            });
        }

        // AAEP-6.3.4-5, AAEP-6.2.4-1: authenticated; and the subscription is the sender's own and active.
        // One that cannot reply is honoured all the same (AAEP-6.6-4).
        if !delivery.authenticated {
            let also = &["AAEP-6.2.4-1", "AAEP-6.9-1", "AAEP-6.3.4-7"];
            return fails(
                "AAEP-6.3.4-5",
                also,
                "comes from nobody who was authenticated",
            );
        }
        if reply.subscription.is_none() || reply.subscription != delivery.sender {
            let why = "names the subscription of somebody else";
            return fails("AAEP-6.3.4-5", &["AAEP-6.9-1", "AAEP-6.3.4-7"], why);
        }
        if !reply
            .subscription
            .is_some_and(|subscription| self.account.is_active(subscription))
        {
            let why = "names a subscription that is not active";
            return fails("AAEP-6.3.4-5", &["AAEP-REPLY-14", "AAEP-6.3.4-7"], why);
        }

        // AAEP-6.3.4-6; what AAEP-6.3.2-4 takes for a reject is one where none is allowed, too.
        if !reply.modified_action
            && !reply
                .decision
                .is_some_and(|decision| confirmation.allowed.allows(decision))
        {
            return fails(
                "AAEP-6.3.4-6",
                &["AAEP-6.3.4-7"],
                "decides what is not allowed",
            );
        }
        Ok(issued)
    }

    /// AAEP-6.3.4-3, AAEP-6.3.5-1, and AAEP-6.8-4 for a token that was withdrawn. Whether this call has applied the default.
    fn unused(&self, token: Option<u32>, confirmation: &Confirmation) -> Result<bool, Failed> {
        let fails = |clause, also, why| Err(Failed::at(token, clause, also, why));
        let mut timed_out_now = false;
        if let Phase::Resolved {
            verdict,
            cause,
            call,
        } = confirmation.phase
        {
            match (verdict, cause) {
                (Verdict::Withdraw, Cause::SessionEnd) => {
                    let why = "comes after the end of its session";
                    return fails("AAEP-6.8-4", &["AAEP-6.8-2", "AAEP-6.3.4-7"], why);
                }
                (Verdict::Withdraw, _) => {
                    let why = "names a question that was withdrawn";
                    return fails("AAEP-6.8-4", &["AAEP-6.3.4-7"], why);
                }
                // AAEP-EV-11: a closing applies the default as on timeout, and uses the token up no more than that.
                (Verdict::Accept | Verdict::Reject, Cause::Timeout | Cause::Closing) => {
                    timed_out_now = call == self.account.calls;
                    let used = self.reading.timeout_uses_token == TimeoutUsesToken::Yes;
                    if used && !timed_out_now {
                        let why = "names a token that the default has used up";
                        let also = &["AAEP-6.4-1", "AAEP-6.9-2", "AAEP-6.3.4-7"];
                        return fails("AAEP-6.3.4-3", also, why);
                    }
                }
                (Verdict::Accept | Verdict::Reject, _) => {
                    let also = &[
                        "AAEP-6.3.5-1",
                        "AAEP-6.7.1-1",
                        "AAEP-6.9-2",
                        "AAEP-REPLY-12",
                        "AAEP-6.3.4-7",
                    ];
                    return fails("AAEP-6.3.4-3", also, "names a token that is used up");
                }
            }
        }
        Ok(timed_out_now)
    }

    /// Why the reply that arrives was to be ignored, where it can have been taken for one to this question: it names it, or
    /// none that there is.
    pub(super) fn ignored_for(&self, token: u32) -> Option<Failed> {
        let names = |named| named == token || !self.account.confirmations.contains_key(&named);
        self.duties
            .ignored
            .filter(|failed| failed.token.is_some_and(names))
    }

    /// Whether the reply that arrives decides another question than this.
    pub(super) fn decides_another(&self, token: u32) -> bool {
        let by_reply = |resolution: &&Resolution| match resolution.cause {
            Cause::Reply | Cause::Modified => resolution.token != token,
            Cause::Timeout | Cause::Closing | Cause::Cancel | Cause::SessionEnd => false,
        };
        self.duties.resolutions.iter().find(by_reply).is_some()
    }

    pub(super) fn ran_on_ignored_reply(&mut self, action: u32, token: u32, failed: Failed) {
        let Failed {
            clause, also, why, ..
        } = failed;
        let text = format!("a{action} was not to run for c{token}: the reply {why}");
        let kind = if failed.by_reading {
            Kind::Conformance
        } else {
            Kind::Guarantee
        };
        self.finds(kind, clause, also, text);
    }

    pub(super) fn answers_to_sender(&mut self) {
        let Call::Deliver(delivery) = self.call else {
            return;
        };
        for output in self.outputs {
            if let Output::Notify {
                subscription,
                token,
            } = output
            {
                self.notice_comes(delivery, *subscription, *token);
            }
        }
        self.ignored_look_alike();
    }

    // AAEP-6.3.4-9: all whose reply is ignored get to see the same.
    fn ignored_look_alike(&mut self) {
        if self.duties.ignored.is_none() {
            return;
        }
        let shown = self.outputs.iter().filter_map(|output| match output {
            Output::Respond(shown) => Some(*shown),
            Output::Emit(_)
            | Output::Malformed(_)
            | Output::Notify { .. }
            | Output::Perform(_)
            | Output::InDoubt(_)
            | Output::Answer { .. }
            | Output::Refused => None,
        });
        let before = self
            .account
            .seen_by_ignored
            .get_or_insert_with(|| shown.clone().collect());
        if !shown.eq(before.iter().copied()) {
            let text = "the sender was to get to see what every sender of an ignored reply does"
                .to_owned();
            self.conformance("AAEP-6.3.4-9", &[], text);
        }
    }

    // AAEP-6.3.5-2, AAEP-6.7.1-2: a notice is free for a late duplicate that would else be valid, on the subscription that
    // sent it; whoever else gets one learns what AAEP-6.3.4-9 keeps from the sender.
    fn notice_comes(&mut self, delivery: &Delivery, subscription: u32, token: Option<u32>) {
        let of_reply = delivery.reply.token;
        let named = of_reply.and_then(|token| self.account.confirmations.get(&token));
        let late = named.is_some_and(|confirmation| match confirmation.phase {
            Phase::Resolved { verdict, call, .. } => {
                verdict != Verdict::Withdraw
                    && (call != self.account.calls || self.duties.ignored.is_some())
            }
            Phase::Astray => true,
            Phase::Open => false,
        });
        let to_sender = delivery.sender == Some(subscription)
            && token.is_none_or(|token| Some(token) == of_reply);
        let proper = delivery.flaw.is_none()
            && delivery.authenticated
            && delivery.sender == delivery.reply.subscription
            && self.account.is_active(subscription);
        let permitted = self.reading.courtesy_notice == CourtesyNotice::Permitted;
        if !(permitted && late && to_sender && proper) {
            let text = format!("sub{subscription} was to be told nothing");
            self.conformance("AAEP-6.3.4-9", &["AAEP-6.3.5-2"], text);
        }
    }
}

fn clauses_of(flaw: Flaw) -> &'static [&'static str] {
    match flaw {
        Flaw::NotJson => &["AAEP-6.3.4-7"],
        Flaw::Missing => &["AAEP-REPLY-1", "AAEP-6.3.4-7"],
        Flaw::Type => &["AAEP-REPLY-2", "AAEP-6.3.1-1", "AAEP-6.3.4-7"],
        Flaw::Token => &["AAEP-REPLY-3", "AAEP-6.2.1-1", "AAEP-6.3.4-7"],
        Flaw::Decision => &["AAEP-REPLY-4", "AAEP-6.3.1-3", "AAEP-6.3.4-7"],
        Flaw::Response => &["AAEP-6.5.1-3", "AAEP-6.3.4-7"],
        Flaw::Confidence => &["AAEP-6.5.3-2", "AAEP-6.3.4-7"],
        Flaw::Subscription => &["AAEP-REPLY-5", "AAEP-6.3.1-4", "AAEP-6.3.4-7"],
        Flaw::Timestamp => &["AAEP-REPLY-6", "AAEP-6.3.1-5", "AAEP-6.3.4-7"],
        Flaw::DecidedBy => &["AAEP-REPLY-7", "AAEP-6.3.4-7"],
        Flaw::Rationale => &["AAEP-REPLY-8", "AAEP-6.3.4-7"],
        Flaw::ModifiedAction => &["AAEP-REPLY-9", "AAEP-6.3.2-6", "AAEP-6.3.4-7"],
        Flaw::CorrelationId => &["AAEP-REPLY-10", "AAEP-6.3.4-7"],
        Flaw::OtherProperty => &["AAEP-REPLY-11", "AAEP-6.3.4-7"],
    }
}
