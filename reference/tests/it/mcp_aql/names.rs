//! Names count to the letter: one that differs in the case of a letter names something else (AQL-2.2-3).

use countersign_reference::ids::IdSource as _;
use countersign_reference::mcp_aql::{
    AdapterName, Call, ConfirmationToken, EventKind, Gatekeeper, Input, OperationName, Parameters,
    Query, SessionId, Settings, SigningKey, Status,
};

use crate::mcp_aql::stage::{
    HONOURED, Stage, adapter, call, call_in_session, end_session, event, introspect, operation,
    session, token, with_token,
};

/// What keeps its tokens and what signs them.
fn both() -> [Stage; 2] {
    let signing = Gatekeeper::signing(Settings::default(), SigningKey::from_bits([1, 2]));
    let signing = Stage {
        gatekeeper: signing,
        ..Stage::new()
    };
    [Stage::new(), signing]
}

type Change = fn(&mut Call);

/// AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-3.2-1: what a token is bound to, in other letters, is something else.
#[test]
fn a_token_is_good_for_nothing_in_other_letters() {
    let changes: [(&str, Change); 4] = [
        ("OtherOperation", |call| {
            call.operation = operation("Delete_repo");
        }),
        ("OtherAdapter", |call| {
            call.adapter = Some(adapter("Github"));
        }),
        ("OtherParameters", |call| {
            call.params = Parameters::new(r#"{"owner": "acme", "Repo": "widgets"}"#);
        }),
        ("OtherParameters", |call| {
            call.params = Parameters::new(r#"{"owner": "acme", "repo": "Widgets"}"#);
        }),
    ];
    // A signature that is not right does not say in what.
    for (mut stage, tells) in both().into_iter().zip([true, false]) {
        for (reason, change) in changes {
            let token = stage.asks(call());
            let mut other = call();
            change(&mut other);
            let outputs = stage.does(Input::Call(with_token(other, &token)));
            let reason = if tells { reason } else { "OtherScope" };
            assert_eq!(outputs[0], format!("audit TokenRejected failed: {reason}"));
            assert_eq!(stage.retries(&token), HONOURED);
        }
    }
}

/// AQL-6.1-2, AQL-5.4-2, AQL-5.3-2: a session in other letters is another, for a call as for what ends it.
#[test]
fn a_session_in_other_letters_is_another() {
    let mut stage = Stage::new();
    let token = stage.asks(call_in_session(2));
    let mut elsewhere = with_token(call_in_session(2), &token);
    elsewhere.session_id = Some(session("S1"));
    let outputs = stage.does(Input::Call(elsewhere));
    assert_eq!(outputs[0], "audit TokenRejected failed: OtherSession");
    for input in [end_session("S1"), event(EventKind::Logout, Some("S1"))] {
        assert_eq!(stage.does(input), [""; 0]);
    }
    assert_eq!(stage.status(token.as_str()).0, Status::Live);
    assert_eq!(stage.does(end_session("s1")).len(), 1);
}

/// AQL-5.3-2, AQL-5.5-3: an adapter in other letters is another: configured by itself, and with places of its own.
#[test]
fn an_adapter_in_other_letters_is_another() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    let configure = Input::Configure {
        adapter: adapter("Github"),
        clock_skew_tolerance_seconds: Some(0),
        oracle: None,
        critical: None,
    };
    assert_eq!(stage.does(configure), [""; 0]);
    let configured = stage.gatekeeper.configuration(&adapter("github"));
    assert_eq!(configured.tolerance.seconds(), 30);
    assert_eq!(stage.retries(&token), HONOURED);
}

/// AQL-2.2-3, AQL-4.1-1, AQL-7.3-1: a token in other letters is another, or none at all.
#[test]
fn a_token_in_other_letters_is_another() {
    for mut stage in both() {
        // Until there are letters among the digits.
        while stage.ids.next_bits() < 0xabcd {}
        let own = stage.asks(call());
        let (prefix, identifier) = own.as_str().split_at("conf_".len());
        let swapped: String = identifier
            .chars()
            .map(|letter| match letter {
                'a'..='z' => letter.to_ascii_uppercase(),
                other => other.to_ascii_lowercase(),
            })
            .collect();
        let other = token(&format!("{prefix}{swapped}"));
        assert_ne!(other, own);
        let unknown = "audit TokenRejected failed: Unknown";
        assert_eq!(stage.retries(&other)[0], unknown);
        assert_eq!(stage.status(other.as_str()).0, Status::Unknown);
        let revoked = stage.does(introspect(Query::RevokeToken, other.as_str()));
        assert_eq!(revoked[0], "audit TokenRevoked failed: Unknown");
        assert!(ConfirmationToken::parse(&format!("Conf_{identifier}")).is_err());
        assert_eq!(stage.retries(&own), HONOURED);
    }
}

/// AQL-3.2-4: a rule of critical parameters is about the operation, and the names, that it spells.
#[test]
fn a_rule_in_other_letters_is_about_something_else() {
    let critical = |operation_name: &str, names: &[&str]| Input::Configure {
        adapter: adapter("github"),
        clock_skew_tolerance_seconds: None,
        oracle: None,
        critical: Some(
            [(
                operation(operation_name),
                names.iter().map(ToString::to_string).collect(),
            )]
            .into(),
        ),
    };
    let other = || Call {
        params: Parameters::new(r#"{"owner": "other", "repo": "widgets"}"#),
        ..call()
    };
    for (rule, honoured) in [
        (critical("delete_repo", &["repo"]), true),
        // All parameters are critical of an operation without a rule.
        (critical("Delete_repo", &["repo"]), false),
    ] {
        let mut stage = Stage::new();
        stage.does(rule);
        let token = stage.asks(call());
        let outputs = stage.does(Input::Call(with_token(other(), &token)));
        assert_eq!(outputs == HONOURED, honoured);
    }
    // What the rule calls `Repo` is not the parameter `repo`, which therefore may change.
    let mut stage = Stage::new();
    stage.does(critical("delete_repo", &["Repo", "owner"]));
    let token = stage.asks(call());
    let changed = Call {
        params: Parameters::new(r#"{"owner": "acme", "repo": "gadgets"}"#),
        ..call()
    };
    let outputs = stage.does(Input::Call(with_token(changed, &token)));
    assert_eq!(outputs, HONOURED);
}

/// AQL-6.4-1: a name is 1 to 256 characters, neither bytes nor units of UTF-16; one before each bound, at, and after.
#[test]
fn a_name_is_1_to_256_characters() {
    for (length, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (255, true),
        (256, true),
        (257, false),
    ] {
        for character in ["a", "é", "😀"] {
            let name = character.repeat(length);
            assert_eq!(OperationName::parse(&name).is_ok(), fits);
            assert_eq!(AdapterName::parse(&name).is_ok(), fits);
            assert_eq!(SessionId::parse(&name).is_ok(), fits);
        }
    }
}
