//! 6.7 and EV-16: which subscription gets which event.

use super::run::{
    Out, Run, SUB, TIMEOUT, action, end, ended, goes, harmless, invoked, perform, question,
    subscribe, unsubscribe,
};
use super::{asked, clarified};
use countersign_model::aaep::judge::{Call, Confirm, Decision, Outcome, State};
use countersign_model::aaep::readings::{IncapableSubscriptions, Reading};
use countersign_model::judge::Kind;

use State::{AwaitingInput, CallingTool, Thinking};

/// The second subscription opens before the question comes, in step 3, to whom it goes.
fn to(run: Run, second_can_reply: bool, to: &[u32]) -> Run {
    let mut run = run;
    run.declared.delivery = true;
    run.steps.insert(
        2,
        super::run::Step {
            at: 0,
            call: subscribe(2, second_can_reply),
            out: vec![],
        },
    );
    run.event(3, 1).to = Some(to.to_vec());
    run
}

#[test]
fn what_is_critical_goes_to_everybody_aaep_6_7_1() {
    for asked in [asked(&action(1)), clarified(&question(1))] {
        for can_reply in [true, false] {
            let mut run = to(asked.clone(), can_reply, &[SUB, 2]);
            for missing in [vec![], vec![SUB], vec![2], vec![9]] {
                run.breaks("AAEP-6.7-1", |run| run.event(3, 1).to = Some(missing));
            }
            // Nothing is said, or nothing is shown.
            run.event(3, 1).to = None;
            run.conforms();
            run.event(3, 1).to = Some(vec![]);
            run.declared.delivery = false;
            run.conforms();
        }
    }
    let mut run = to(asked(&action(1)), true, &[SUB, 2]);
    let out = [goes(AwaitingInput, Thinking), ended(Outcome::Errored)];
    run.then(1, end(Outcome::Errored), out);
    run.breaks("AAEP-6.7-1", |run| run.event(4, 1).to = Some(vec![SUB]));
}

/// What is not critical may be filtered, and who has closed gets nothing.
#[test]
fn what_is_not_critical_may_be_filtered_aaep_6_7_1() {
    let mut run = to(asked(&action(1)), true, &[SUB, 2]);
    run.event(3, 0).to = Some(vec![]);
    run.conforms();
    run.steps.insert(
        3,
        super::run::Step {
            at: 0,
            call: unsubscribe(2),
            out: vec![],
        },
    );
    run.event(4, 1).to = Some(vec![SUB]);
    run.conforms();
}

#[test]
fn a_lost_question_goes_to_everybody_again_aaep_6_7_1() {
    let mut run = to(asked(&action(1)), true, &[SUB, 2]);
    run.then(1, Call::Restart { lost: 1 }, [Out::AskedAgain(3, 1)]);
    run.conforms();
    run.steps.insert(
        4,
        super::run::Step {
            at: 0,
            call: subscribe(3, true),
            out: vec![],
        },
    );
    run.steps[5].call = Call::Restart { lost: 0 };
    run.steps[5].out.clear();
    run.conforms();
}

const WITHHELD: Reading = Reading {
    incapable_subscriptions: IncapableSubscriptions::Withheld,
    ..Reading::SPECIFICATION
};

#[test]
fn by_the_other_reading_who_cannot_reply_is_not_asked_aaep_ev_16() {
    let run = to(asked(&action(1)), false, &[SUB]);
    run.conforms_by(WITHHELD);
    run.breaks_by(WITHHELD, "AAEP-EV-16", |run| {
        run.event(3, 1).to = Some(vec![SUB, 2]);
    });
    run.breaks_by(WITHHELD, "AAEP-EV-16", |run| run.event(3, 1).to = None);
    run.breaks_by(WITHHELD, "AAEP-6.7-1", |run| {
        run.event(3, 1).to = Some(vec![]);
    });
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.7-1", |_| {});
    // It is said of confirmations alone.
    let clarified = to(clarified(&question(1)), false, &[SUB, 2]);
    clarified.conforms_by(WITHHELD);
    clarified.breaks_by(WITHHELD, "AAEP-6.7-1", |run| {
        run.event(3, 1).to = Some(vec![SUB]);
    });
}

/// Nobody can reply, and the default applies in step 2.
fn at_once(confirm: &Confirm) -> Run {
    let mut run = asked(confirm);
    run.steps[1].call = subscribe(SUB, false);
    let out = match confirm.default {
        Decision::Accept => vec![goes(AwaitingInput, CallingTool), invoked(1), perform(1)],
        Decision::Reject => vec![goes(AwaitingInput, Thinking)],
    };
    run.steps[2].out.extend(out);
    run
}

#[test]
fn by_the_other_reading_nobody_is_waited_for_who_cannot_reply_aaep_ev_16() {
    let mut run = at_once(&action(1));
    run.then(TIMEOUT, Call::Tick, []);
    run.conforms_by(WITHHELD);
    run.breaks_by(WITHHELD, "AAEP-EV-16", |run| run.without(2, 2));
    run.breaks_by(Reading::SPECIFICATION, "AAEP-6.4-1", |_| {});
    // One that can reply is waited for.
    run.breaks_by(WITHHELD, "AAEP-6.4-1", |run| {
        run.steps[1].call = subscribe(SUB, true);
    });
}

/// That is what the reading costs: an action runs that nobody was waited for.
#[test]
fn by_the_other_reading_a_default_of_accept_runs_at_once_aaep_6_1_1() {
    let run = at_once(&harmless(1));
    let finding = run.breaks_by(WITHHELD, "AAEP-6.1-1", |_| {});
    assert_eq!(finding.kind, Kind::Guarantee);
    run.breaks_by(WITHHELD, "AAEP-EV-16", |run| run.steps[2].out.truncate(2));
}
