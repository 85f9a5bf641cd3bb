//! 6.3: which replies count, and what the senders of the others get to see.

use super::run::{
    Run, SUB, TIMEOUT, action, goes, harmless, notify, perform, refused, reply, respond, subscribe,
    unsubscribe,
};
use super::{acceptance, accepted, asked, rejection};
use countersign_model::aaep::judge::{Allowed, Call, Confirm, Decision, Delivery, Flaw, State};
use countersign_model::aaep::readings::{
    ClockTolerance, CourtesyNotice, DeadlineBoundary, LateReply, Reading, ReplyLowerBound,
    SenderBinding, TimeoutUsesToken,
};
use countersign_model::judge::Kind;

use State::{AwaitingInput, Thinking};

/// The reply is delivered in step 3 and ignored.
fn ignored(delivery: Delivery) -> Run {
    let mut run = asked(&action(1));
    run.then(1_000, Call::Deliver(delivery), [respond(0)]);
    run
}

/// Whether another reading counts the reply: one of somebody who is authenticated, in the name of another.
pub(super) fn kind_of(delivery: &Delivery) -> Kind {
    let named = delivery.reply.subscription == Some(SUB) && delivery.authenticated;
    if named && delivery.sender != Some(SUB) {
        Kind::Conformance
    } else {
        Kind::Guarantee
    }
}

/// Ignored it conforms, honoured or taken for a rejection it breaks this clause.
#[track_caller]
fn is_ignored(clause: &str, delivery: Delivery) {
    let kind = kind_of(&delivery);
    let run = ignored(delivery);
    let finding = run.breaks(clause, |run| run.steps[3].out = acceptance());
    assert_eq!(finding.kind, kind);
    run.breaks(clause, |run| run.steps[3].out = rejection());
    run.breaks(clause, |run| {
        run.steps[3].out.push(goes(AwaitingInput, AwaitingInput));
    });
}

fn accept() -> Delivery {
    reply(1, Decision::Accept, 1_000)
}

#[test]
fn a_reply_that_does_not_fit_the_schema_is_ignored_aaep_6_3_4_1() {
    let flaws = [
        (Flaw::NotJson, None),
        (Flaw::Missing, Some("AAEP-REPLY-1")),
        (Flaw::Type, Some("AAEP-REPLY-2")),
        (Flaw::Token, Some("AAEP-REPLY-3")),
        (Flaw::Decision, Some("AAEP-REPLY-4")),
        (Flaw::Subscription, Some("AAEP-REPLY-5")),
        (Flaw::Timestamp, Some("AAEP-REPLY-6")),
        (Flaw::DecidedBy, Some("AAEP-REPLY-7")),
        (Flaw::Rationale, Some("AAEP-REPLY-8")),
        (Flaw::ModifiedAction, Some("AAEP-REPLY-9")),
        (Flaw::CorrelationId, Some("AAEP-REPLY-10")),
        (Flaw::OtherProperty, Some("AAEP-REPLY-11")),
    ];
    for (flaw, also) in flaws {
        let delivery = Delivery {
            flaw: Some(flaw),
            ..accept()
        };
        is_ignored("AAEP-6.3.4-1", delivery.clone());
        let finding =
            ignored(delivery).breaks("AAEP-6.3.4-1", |run| run.steps[3].out = acceptance());
        assert!(
            also.is_none_or(|also| finding.also.contains(&also)),
            "{finding}"
        );
    }
}

#[test]
fn a_reply_to_no_question_of_this_producer_is_ignored_aaep_6_3_4_2() {
    let mut run = asked(&action(1));
    run.then(
        1_000,
        Call::Deliver(reply(9, Decision::Accept, 0)),
        [respond(0)],
    );
    run.breaks("AAEP-6.3.4-2", |run| run.steps[3].out = acceptance());
}

#[test]
fn only_the_first_valid_reply_counts_aaep_6_3_4_3() {
    let mut run = accepted();
    run.then(
        1_001,
        Call::Deliver(reply(1, Decision::Accept, 0)),
        [respond(0)],
    );
    let finding = run.breaks("AAEP-6.3.4-3", |run| run.steps[4].out.push(perform(1)));
    assert!(finding.also.contains(&"AAEP-6.3.5-1"));
    // However many came before.
    for n in 0..5 {
        run.then(
            1_100 + n,
            Call::Deliver(reply(1, Decision::Reject, 0)),
            [respond(0)],
        );
    }
    run.breaks("AAEP-6.3.4-3", |run| run.steps[9].out.push(perform(1)));
}

#[test]
fn a_reply_claims_a_time_before_the_deadline_aaep_6_3_4_4() {
    for claimed in [TIMEOUT, TIMEOUT + 1, TIMEOUT * 100] {
        is_ignored("AAEP-6.3.4-4", reply(1, Decision::Accept, claimed));
    }
    // There is no lower bound.
    for claimed in [TIMEOUT - 1, -1, -TIMEOUT * 100] {
        let mut run = accepted();
        run.steps[3].call = Call::Deliver(reply(1, Decision::Accept, claimed));
        run.conforms();
    }
}

/// One before, at and one after: by the other reading the deadline itself is in time.
#[test]
fn a_claim_of_the_very_deadline_counts_as_the_reading_says_aaep_6_3_4_4() {
    let inclusive = Reading {
        deadline_boundary: DeadlineBoundary::Inclusive,
        ..Reading::SPECIFICATION
    };
    let claims = |claimed| {
        move |run: &mut Run| {
            run.steps[3].call = Call::Deliver(reply(1, Decision::Accept, claimed));
        }
    };
    let run = accepted();
    for claimed in [TIMEOUT - 1, TIMEOUT] {
        let mut run = run.clone();
        claims(claimed)(&mut run);
        run.conforms_by(inclusive);
    }
    run.breaks("AAEP-6.3.4-4", claims(TIMEOUT));
    let finding = run.breaks_by(inclusive, "AAEP-6.3.4-4", claims(TIMEOUT + 1));
    assert_eq!(finding.kind, Kind::Guarantee);
}

/// One before, at and one after: by the other reading no claim lies before the question.
#[test]
fn a_claim_of_a_time_before_the_question_counts_as_the_reading_says_aaep_6_3_4_4() {
    let not_before = Reading {
        reply_lower_bound: ReplyLowerBound::NotBeforeAsked,
        ..Reading::SPECIFICATION
    };
    let claims = |claimed| {
        move |run: &mut Run| {
            run.steps[3].call = Call::Deliver(reply(1, Decision::Accept, claimed));
        }
    };
    let run = accepted();
    for claimed in [0, 1] {
        let mut run = run.clone();
        claims(claimed)(&mut run);
        run.conforms_by(not_before);
    }
    let finding = run.breaks_by(not_before, "AAEP-6.3.4-4", claims(-1));
    assert_eq!(finding.kind, Kind::Conformance);
    let ignored = ignored(reply(1, Decision::Accept, -1));
    ignored.conforms_by(not_before);
    ignored.breaks_by(Reading::SPECIFICATION, "AAEP-A.4-3", |_| {});
}

/// One before, at and one after: by the other reading a claim may lie behind the deadline by less than a second. To arrive then is too
/// late all the same.
#[test]
fn a_claim_within_the_tolerance_counts_as_the_reading_says_aaep_6_3_4_4() {
    let tolerant = Reading {
        clock_tolerance: ClockTolerance::OneTick,
        ..Reading::SPECIFICATION
    };
    let claims = |claimed| {
        move |run: &mut Run| {
            run.steps[3].call = Call::Deliver(reply(1, Decision::Accept, claimed));
        }
    };
    let run = accepted();
    let last = TIMEOUT + 1_000;
    let mut within = run.clone();
    claims(last - 1)(&mut within);
    within.conforms_by(tolerant);
    within.breaks_by(Reading::SPECIFICATION, "AAEP-6.3.4-4", |_| {});
    within.breaks_by(tolerant, "AAEP-6.4-1", |run| run.steps[3].at = TIMEOUT);
    for claimed in [last, last + 1] {
        let finding = run.breaks_by(tolerant, "AAEP-6.3.4-4", claims(claimed));
        assert_eq!(finding.kind, Kind::Guarantee);
    }
    let any = Reading {
        clock_tolerance: ClockTolerance::Any,
        ..tolerant
    };
    within = run.clone();
    claims(last + 1)(&mut within);
    within.conforms_by(any);
    within.breaks_by(any, "AAEP-6.4-1", |run| run.steps[3].at = TIMEOUT);
}

#[test]
fn a_reply_that_comes_at_the_deadline_is_too_late_whatever_it_claims_aaep_6_4_1() {
    let mut run = asked(&action(1));
    run.then(TIMEOUT, Call::Deliver(accept()), rejection());
    let finding = run.breaks("AAEP-6.4-1", |run| run.steps[3].out = acceptance());
    assert_eq!(finding.kind, Kind::Conformance);
    run.breaks("AAEP-A.4-3", |run| run.steps[3].at -= 1);
    run.steps[3].at += 1;
    run.conforms();
}

#[test]
fn by_claim_a_late_reply_counts_until_the_timer_is_served_aaep_6_3_4_4() {
    let by_claim = Reading {
        late_reply: LateReply::ByClaim,
        ..Reading::SPECIFICATION
    };
    let mut run = asked(&action(1));
    run.then(
        TIMEOUT,
        Call::Deliver(reply(1, Decision::Accept, TIMEOUT - 1)),
        acceptance(),
    );
    run.conforms_by(by_claim);
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.4-1", |_| {});
    let mut run = asked(&action(1));
    run.then(
        TIMEOUT,
        Call::Deliver(reply(1, Decision::Accept, TIMEOUT)),
        rejection(),
    );
    run.conforms_by(by_claim);
    run.breaks_by(by_claim, "AAEP-6.3.4-4", |run| {
        run.steps[3].out = acceptance();
    });
}

#[test]
fn a_timeout_uses_the_token_as_the_reading_says_aaep_6_3_4_3() {
    let mut run = asked(&action(1));
    run.then(TIMEOUT, Call::Tick, [goes(AwaitingInput, Thinking)]);
    run.then(TIMEOUT + 1, Call::Deliver(accept()), [respond(0)]);
    let mut second = acceptance();
    second[0] = goes(Thinking, State::CallingTool);
    run.breaks("AAEP-6.3.4-3", |run| run.steps[4].out = second.clone());
    // Where it does not, what was rejected runs: that is what the reading costs.
    let no = Reading {
        timeout_uses_token: TimeoutUsesToken::No,
        ..Reading::SPECIFICATION
    };
    run.conforms_by(no);
    let finding = run.breaks_by(no, "AAEP-A.4-4", |run| run.steps[4].out = second.clone());
    assert_eq!(finding.kind, Kind::Guarantee);
}

#[test]
fn a_sender_is_authenticated_and_replies_for_itself_aaep_6_3_4_5() {
    let forged = Delivery {
        authenticated: false,
        ..accept()
    };
    is_ignored("AAEP-6.3.4-5", forged);
    for sender in [None, Some(2)] {
        let in_anothers_name = Delivery { sender, ..accept() };
        is_ignored("AAEP-6.3.4-5", in_anothers_name);
    }
    let mut nobody = accept();
    nobody.sender = Some(9);
    nobody.reply.subscription = Some(9);
    is_ignored("AAEP-6.3.4-5", nobody);
}

/// By the other reading whoever is authenticated replies for any that is active.
#[test]
fn a_reply_in_the_name_of_another_counts_as_the_reading_says_aaep_6_3_4_5() {
    let named = Reading {
        sender_binding: SenderBinding::Named,
        ..Reading::SPECIFICATION
    };
    let mut says = reply(1, Decision::Reject, 1_000);
    says.sender = Some(2);
    let mut run = ignored(says);
    run.steps[3].out = rejection();
    run.conforms_by(named);
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.3.4-5", |_| {});
    run.breaks_by(named, "AAEP-6.3.4-5", |run| {
        run.steps.insert(3, run.steps[1].clone());
        run.steps[3].call = unsubscribe(1);
        run.steps.insert(3, run.steps[1].clone());
        run.steps[3].call = subscribe(2, true);
    });
    let mut says = accept();
    says.sender = Some(2);
    let mut run = ignored(says);
    run.steps[3].out = acceptance();
    run.conforms_by(named);
    let finding = run.breaks_by(Reading::SPECIFICATION, "AAEP-6.3.4-5", |_| {});
    assert_eq!(finding.kind, Kind::Conformance);
}

#[test]
fn a_subscription_that_has_closed_replies_no_more_aaep_reply_14() {
    let mut run = asked(&action(1));
    run.then(1, subscribe(2, true), []);
    run.then(2, unsubscribe(1), []);
    run.then(3, Call::Deliver(accept()), [respond(0)]);
    let finding = run.breaks("AAEP-6.3.4-5", |run| run.steps[5].out = acceptance());
    assert_eq!(finding.also, ["AAEP-REPLY-14", "AAEP-6.3.4-7"]);
}

#[test]
fn one_that_does_not_say_it_can_reply_is_honoured_all_the_same_aaep_6_6_4() {
    let mut run = accepted();
    run.steps[1].call = subscribe(1, false);
    let finding = run.breaks("AAEP-6.6-4", |run| run.steps[3].out = vec![respond(0)]);
    assert_eq!(finding.also, ["AAEP-A.4-3", "AAEP-A.7.6-1"]);

    let mut run = asked(&action(1));
    run.steps[1].call = subscribe(1, false);
    run.then(1, Call::Deliver(reply(1, Decision::Reject, 1)), rejection());
    let finding = run.breaks("AAEP-6.1-3", |run| run.steps[3].out = vec![respond(0)]);
    assert!(finding.also.contains(&"AAEP-6.6-4"), "{finding}");
}

#[test]
fn a_decision_is_one_of_those_allowed_aaep_6_3_4_6() {
    let only = |accept, reject| {
        let allowed = Some(Allowed {
            accept,
            reject,
            others: true,
        });
        let confirm = Confirm {
            allowed,
            ..action(1)
        };
        let mut run = asked(&confirm);
        run.then(
            1,
            Call::Deliver(reply(1, Decision::Accept, 1)),
            [respond(0)],
        );
        run
    };
    let finding = only(false, true).breaks("AAEP-6.3.4-6", |run| run.steps[3].out = acceptance());
    assert!(finding.names("AAEP-REPLY-15"), "{finding}");
    only(false, false).breaks("AAEP-6.3.4-6", |run| run.steps[3].out = acceptance());
    let mut run = only(true, false);
    run.steps[3].out = acceptance();
    run.conforms();
}

#[test]
fn a_modified_action_counts_as_a_reject_aaep_6_3_2_4() {
    let mut modified = accept();
    modified.reply.modified_action = Some(super::run::modified(1));
    let mut run = asked(&harmless(1));
    run.then(1_000, Call::Deliver(modified), rejection());
    run.breaks("AAEP-6.3.2-4", |run| run.steps[3].out = acceptance());
    run.breaks("AAEP-6.3.2-4", |run| run.steps[3].out = vec![respond(0)]);
}

/// So that it is not left waiting for a default that accepts.
#[test]
fn a_modified_action_rejects_also_where_nothing_else_may_aaep_6_3_2_4() {
    let allowed = Some(Allowed {
        reject: false,
        ..Allowed::DEFAULT
    });
    let confirm = Confirm {
        allowed,
        ..harmless(1)
    };
    for decision in [Decision::Accept, Decision::Reject] {
        let mut modified = reply(1, decision, 1_000);
        modified.reply.modified_action = Some(super::run::modified(1));
        let mut run = asked(&confirm);
        run.then(1_000, Call::Deliver(modified), rejection());
        run.breaks("AAEP-6.3.2-4", |run| run.steps[3].out = acceptance());
    }
}

#[test]
fn a_message_is_never_refused_aaep_6_3_4_7() {
    ignored(reply(9, Decision::Accept, 0))
        .breaks("AAEP-6.3.4-7", |run| run.steps[3].out = vec![refused()]);
}

#[test]
fn nobody_learns_which_check_failed_aaep_6_3_4_9() {
    let mut run = ignored(reply(9, Decision::Accept, 0));
    let forged = Delivery {
        authenticated: false,
        ..accept()
    };
    run.then(1_001, Call::Deliver(forged), [respond(0)]);
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out = vec![respond(1)]);
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out = vec![]);
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out.push(notify(1, 1)));
}

#[test]
fn a_late_duplicate_may_be_told_so_aaep_6_3_5_2() {
    let mut run = accepted();
    run.then(
        1_001,
        Call::Deliver(reply(1, Decision::Accept, 0)),
        [respond(0), notify(1, 1)],
    );
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out[1] = notify(2, 1));
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out[1] = notify(1, 2));
    let forbidden = Reading {
        courtesy_notice: CourtesyNotice::Forbidden,
        ..Reading::SPECIFICATION
    };
    run.breaks_by(forbidden, "AAEP-6.3.4-9", |_| {});
    // The one whose reply decided it is no duplicate, and a withdrawn token tells nobody anything.
    accepted().breaks("AAEP-6.3.4-9", |run| run.steps[3].out.push(notify(1, 1)));
    let mut run = asked(&action(1));
    run.then(
        1,
        Call::Cancel { token: 1 },
        [goes(AwaitingInput, Thinking)],
    );
    run.then(
        2,
        Call::Deliver(reply(1, Decision::Accept, 0)),
        [respond(0)],
    );
    run.breaks("AAEP-6.3.4-9", |run| run.steps[4].out.push(notify(1, 1)));
}
