//! 6.3.2: modified actions, by a producer that supports them.

use super::run::{Out, Run, S, action, goes, harmless, invoked, modified, perform, reply, respond};
use super::{acceptance, asked, rejection};
use countersign_model::aaep::judge::{
    Allowed, Body, Call, Confirm, Decision, Invocation, Modified, Output, Rating, Risk, State,
    ToolCall,
};

use State::{AwaitingInput, CallingTool};

/// The reply in step 3 modifies the action like this.
fn replied(confirm: &Confirm, decision: Decision, modified: Modified, out: Vec<Out>) -> Run {
    let mut run = asked(confirm);
    run.declared.modified_action = true;
    let mut delivery = reply(1, decision, 0);
    delivery.reply.modified_action = Some(modified);
    run.then(1, Call::Deliver(delivery), out);
    run
}

fn rated(risk: Option<Risk>, irreversible: Option<bool>) -> Modified {
    Modified {
        rating: Some(Rating { risk, irreversible }),
        ..modified(7)
    }
}

/// It runs as object 7, with this rating.
fn runs_modified(risk: Risk, irreversible: bool) -> Vec<Out> {
    let invoked = Invocation {
        tool: 1,
        tool_call: Some(1),
        args_summary: None,
        risk,
        irreversible,
    };
    vec![
        goes(AwaitingInput, CallingTool),
        super::run::event(S, Body::ToolInvoked(invoked)),
        performs(Some(7)),
        respond(0),
    ]
}

fn performs(modified: Option<u32>) -> Out {
    Out::Other(Output::Perform(ToolCall {
        session: S,
        action: 1,
        tool_call: 1,
        modified,
    }))
}

/// Of medium risk, and it can be undone.
fn medium() -> Confirm {
    Confirm {
        risk: Risk::Medium,
        ..harmless(1)
    }
}

#[test]
fn what_rates_no_higher_runs_as_it_was_modified_aaep_6_3_2_3() {
    for (risk, told) in [
        (None, Risk::Medium),
        (Some(Risk::Low), Risk::Low),
        (Some(Risk::Medium), Risk::Medium),
    ] {
        for irreversible in [None, Some(false)] {
            let out = runs_modified(told, false);
            let run = replied(&medium(), Decision::Accept, rated(risk, irreversible), out);
            run.breaks("AAEP-6.3.2-3", |run| run.steps[3].out = rejection());
            run.breaks("AAEP-6.3.2-3", |run| run.steps[3].out = vec![respond(0)]);
            run.breaks("AAEP-6.3.2-3", |run| run.steps[3].out[2] = performs(None));
            run.breaks("AAEP-6.3.2-3", |run| {
                run.steps[3].out[2] = performs(Some(8));
            });
            run.breaks("AAEP-6.3.2-3", |run| {
                run.steps[3].out = runs_modified(Risk::High, false);
                run.steps[3].out[2] = performs(Some(7));
            });
            run.breaks("AAEP-6.3.2-3", |run| {
                run.steps[3].out[1] = runs_modified(told, true).swap_remove(1);
            });
        }
    }
    // What cannot be undone may be modified to what can, and to what cannot.
    for irreversible in [true, false] {
        let modified = rated(None, Some(irreversible));
        let out = runs_modified(Risk::High, irreversible);
        replied(&action(1), Decision::Accept, modified, out).conforms();
    }
}

#[test]
fn what_rates_higher_counts_as_a_reject_aaep_6_3_2_3() {
    let none = Modified {
        rating: None,
        ..modified(7)
    };
    for modified in [
        rated(Some(Risk::High), None),
        rated(None, Some(true)),
        rated(Some(Risk::Low), Some(true)),
        none,
    ] {
        let run = replied(&medium(), Decision::Accept, modified, rejection());
        let finding = run.breaks("AAEP-6.3.2-3", |run| {
            run.steps[3].out = runs_modified(Risk::Medium, false);
        });
        assert_eq!(finding.also, ["AAEP-A.4-4"]);
        run.breaks("AAEP-6.3.2-3", |run| run.steps[3].out = acceptance());
        run.breaks("AAEP-6.3.2-3", |run| run.steps[3].out = vec![respond(0)]);
    }
}

/// Also where reject is not allowed; and check 6 looks at the decision that was sent.
#[test]
fn check_6_looks_at_the_decision_as_sent_aaep_6_3_4_6() {
    let only = |accept| Confirm {
        allowed: Some(Allowed {
            accept,
            reject: !accept,
            others: false,
        }),
        ..medium()
    };
    let higher = rated(Some(Risk::High), None);
    let run = replied(&only(true), Decision::Accept, higher, rejection());
    run.breaks("AAEP-6.3.2-3", |run| run.steps[3].out = vec![respond(0)]);
    let ignored = vec![respond(0)];
    let run = replied(&only(false), Decision::Accept, higher, ignored.clone());
    run.breaks("AAEP-6.3.4-6", |run| run.steps[3].out = rejection());
    let run = replied(&only(true), Decision::Reject, modified(7), ignored);
    run.breaks("AAEP-6.3.4-6", |run| run.steps[3].out = rejection());
}

#[test]
fn a_reject_that_modifies_is_a_reject_aaep_a_4_4() {
    let run = replied(&medium(), Decision::Reject, modified(7), rejection());
    run.breaks("AAEP-A.4-4", |run| {
        run.steps[3].out = runs_modified(Risk::Medium, false);
    });
    run.breaks("AAEP-6.1-3", |run| run.steps[3].out = vec![respond(0)]);
}

#[test]
fn what_nobody_modified_runs_as_it_was_asked_about_aaep_6_1_1() {
    let mut run = asked(&action(1));
    run.declared.modified_action = true;
    run.then(
        1,
        Call::Deliver(reply(1, Decision::Accept, 0)),
        [
            goes(AwaitingInput, CallingTool),
            invoked(1),
            perform(1),
            respond(0),
        ],
    );
    run.breaks("AAEP-6.1-1", |run| run.steps[3].out[2] = performs(Some(7)));
}
