//! The six acceptance criteria of the source, each as one test.

use countersign_reference::pending_action::{
    ActionId, Delivery, Effect, Input, Message, Propose, Settings, Text,
};

use crate::pending_action::host::Host;
use crate::pending_action::stage::{
    ARGUMENTS, EXPIRY, allow, cancel, deny, end_session, expiring, ordinary, say,
};

/// A host in which an action was proposed, and everything carried out.
fn asked(propose: Propose) -> (Host, ActionId) {
    let mut host = Host::new(Settings::default());
    assert!(!host.happens(Input::Propose(propose)));
    host.comes_to_rest();
    let action_id = host.ledger.actions()[0].action_id;
    (host, action_id)
}

/// What the transcript says of an action.
fn transcript_of(host: &Host, action_id: ActionId) -> Vec<&'static str> {
    host.read_transcript()
        .remove(&action_id)
        .unwrap_or_default()
}

/// PA-1, PA-2, PA-3, acceptance criterion 1: a destructive call pauses, other things happen, even the process dies; it
/// resumes with exactly the original arguments.
#[test]
fn a_destructive_call_pauses_for_confirmation_and_resumes_with_the_exact_original_arguments() {
    let (mut host, action_id) = asked(Propose {
        effect: Effect::Destructive,
        ..ordinary()
    });
    assert_eq!(host.runs, []);
    host.happens(say("wait"));
    host.crashes(None);
    host.comes_to_rest();
    assert_eq!(host.runs, []);
    host.happens(allow(action_id));
    host.comes_to_rest();
    let [call] = &host.runs[..] else {
        panic!("ran {} times", host.runs.len());
    };
    assert_eq!(call.arguments.as_str(), ARGUMENTS);
    assert_eq!(call.tool.as_str(), "carpeta/delete-potreros");
}

/// PA-9, acceptance criterion 2: the visible message is the summary and a short label. Neither the id nor the nonce nor
/// the arguments are in it.
#[test]
fn the_visible_label_stays_short_and_the_runtime_keeps_id_and_arguments_out_of_the_visible_message()
{
    let (host, action_id) = asked(ordinary());
    let [visible] = &host.transcript[..] else {
        panic!("{} messages", host.transcript.len());
    };
    let Message::ConfirmationRequest { text, label } = &visible.message else {
        panic!("not a request");
    };
    assert_eq!(label.as_str(), "Sí, borrar");
    assert_eq!(text.as_str(), "¿Borro estos 3 potreros?");
    let shown = serde_json::to_string(visible).expect("JSON");
    let action = host.ledger.action(action_id).expect("proposed");
    for hidden in [
        action_id.to_string(),
        action_id.to_string().replace("pa_", ""),
        action.nonce.to_string(),
        action.nonce.to_string().replace("nonce_", ""),
        action.proposal.tool.to_string(),
        "limit".into(),
        "1.5".into(),
    ] {
        assert!(!shown.contains(&hidden), "{hidden} in {shown}");
    }
}

/// PA-5, PA-6, acceptance criterion 3: denied, cancelled, or cancelled with its session, the action is settled and its
/// tool does not run.
#[test]
fn deny_or_cancel_resolves_the_action_without_executing_the_tool() {
    for (settle, told) in [
        (deny as fn(ActionId) -> Input, "rejected"),
        (cancel, "cancelled"),
        (|_| end_session("s1"), "cancelled"),
    ] {
        let (mut host, action_id) = asked(ordinary());
        assert!(!host.happens(settle(action_id)));
        host.happens(allow(action_id));
        host.comes_to_rest();
        host.crashes(None);
        host.comes_to_rest();
        assert_eq!(host.runs, []);
        assert_eq!(transcript_of(&host, action_id), [told]);
    }
}

/// PA-7, PA-8, acceptance criterion 4: once it has expired, or was settled in any way, an allow does nothing.
#[test]
fn expired_or_already_resolved_actions_cannot_execute() {
    let (mut host, action_id) = asked(expiring());
    host.now = EXPIRY;
    host.happens(allow(action_id));
    host.comes_to_rest();
    assert_eq!(host.runs, []);
    for (settle, runs) in [(allow as fn(ActionId) -> Input, 1), (deny, 0), (cancel, 0)] {
        let (mut host, action_id) = asked(ordinary());
        host.happens(settle(action_id));
        for _ in 0..3 {
            host.happens(allow(action_id));
            host.comes_to_rest();
            host.crashes(None);
        }
        host.comes_to_rest();
        assert_eq!(host.runs.len(), runs);
    }
}

/// PA-4, PA-6, PA-10, acceptance criterion 5: the events of an action are its life, and the transcript has its call and
/// its result, so that nobody has to guess what happened.
#[test]
fn transcript_and_events_make_clear_what_was_created_decided_executed_or_denied() {
    type Life = (
        fn(&mut Host, ActionId),
        &'static [&'static str],
        &'static [&'static str],
    );
    let lives: [Life; 6] = [
        (|_, _| {}, &["created"], &[]),
        (
            |host, id| {
                host.happens(allow(id));
            },
            &["created", "decided", "executed"],
            &["called", "success"],
        ),
        (
            |host, id| {
                host.happens(deny(id));
            },
            &["created", "decided", "denied"],
            &["rejected"],
        ),
        (
            |host, _| host.now = EXPIRY,
            &["created", "expired"],
            &["expired"],
        ),
        (
            |host, id| {
                host.happens(cancel(id));
            },
            &["created", "cancelled"],
            &["cancelled"],
        ),
        (
            |host, _| {
                host.happens(end_session("s1"));
            },
            &["created", "cancelled"],
            &["cancelled"],
        ),
    ];
    for (live, events, transcript) in lives {
        let (mut host, action_id) = asked(expiring());
        live(&mut host, action_id);
        host.happens(Input::Tick);
        host.comes_to_rest();
        assert_eq!(host.read_events(action_id), events);
        assert_eq!(transcript_of(&host, action_id), transcript);
    }
}

/// PA-12, PA-14, acceptance criterion 6: a host that knows nothing but the outputs carries the contract out, for any
/// tool, through every ending and a crash; what the ledger needs is in the proposal and nowhere else.
#[test]
fn a_host_needs_no_product_specific_hidden_context() {
    let mut host = Host::new(Settings {
        delivery: Delivery::AtLeastOnce,
        ..Settings::default()
    });
    let tools = ["wire/transfer", "mail.send", "rm", "カレンダー"];
    for tool in tools {
        let proposed = Propose {
            tool: tool.into(),
            arguments: Text::new(format!("{{\"for\":\"{tool}\"}}")),
            idempotent: true,
            ..ordinary()
        };
        host.happens(Input::Propose(proposed));
    }
    let ids: Vec<_> = host
        .ledger
        .actions()
        .iter()
        .map(|action| action.action_id)
        .collect();
    host.happens(allow(ids[0]));
    host.happens(deny(ids[1]));
    host.happens(allow(ids[3]));
    host.carries_out_all();
    host.crashes(None);
    host.comes_to_rest();
    let ran: Vec<_> = host
        .runs
        .iter()
        .map(|call| (call.tool.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(
        ran,
        [
            (tools[0], "{\"for\":\"wire/transfer\"}"),
            (tools[3], "{\"for\":\"カレンダー\"}")
        ]
    );
    assert_eq!(host.ledger.actions()[2].proposal.tool.as_str(), tools[2]);
}
