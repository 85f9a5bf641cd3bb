//! The reply schema, to the letter.

use countersign_reference::aaep::{ConfirmationReply, Decision, Malformed, NotJson, WrittenObject};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn minimal() -> Value {
    json!({
        "type": "confirmation.reply",
        "reply_token": "rpl_7c1d",
        "decision": "accept",
        "subscription_id": "sub_51",
        "timestamp": "2026-05-24T14:22:24.812Z",
    })
}

fn with(property: &str, value: impl Into<Value>) -> Value {
    let mut reply = minimal();
    reply[property] = value.into();
    reply
}

fn parse(reply: &Value) -> Result<ConfirmationReply, Malformed> {
    ConfirmationReply::parse(reply.to_string().as_bytes())
}

fn is_accepted(reply: &Value) -> bool {
    parse(reply).is_ok()
}

/// AAEP-REPLY-1, AAEP-6.3.2-1, AAEP-6.3.2-2, AAEP-6.3.2-5, AAEP-6.3.2-6: what is there is kept.
#[test]
fn a_reply_with_every_property_is_read() {
    let reply = json!({
        "correlation_id": "",
        "modified_action": {"amount": 300, "nested": [{"deep": null}]},
        "decision_rationale": "Too much.\nHalf of it would do.",
        "decided_by": "user:ada",
        "timestamp": "2026-05-24t16:22:24+02:00",
        "subscription_id": "sub_51",
        "decision": "reject",
        "reply_token": "rpl_7c1d",
        "type": "confirmation.reply",
    });
    let reply = parse(&reply).expect("conforms");
    assert_eq!(reply.reply_token.as_str(), "rpl_7c1d");
    assert_eq!(reply.decision, Decision::Reject);
    assert_eq!(reply.subscription_id.as_str(), "sub_51");
    assert_eq!(reply.decided_at.to_string(), "2026-05-24T14:22:24.000Z");
    assert_eq!(reply.decided_by, Some("user:ada".into()));
    assert_eq!(
        reply.decision_rationale,
        Some("Too much.\nHalf of it would do.".into())
    );
    assert_eq!(
        reply.modified_action.as_ref().map(WrittenObject::as_str),
        Some(r#"{"amount":300,"nested":[{"deep":null}]}"#)
    );
    assert_eq!(reply.correlation_id, Some("".into()));
}

/// AAEP-REPLY-1
#[test]
fn a_reply_with_the_required_properties_alone_is_read() {
    let reply = parse(&minimal()).expect("conforms");
    assert_eq!(reply.decision, Decision::Accept);
    assert_eq!(
        (
            reply.decided_by,
            reply.decision_rationale,
            reply.correlation_id
        ),
        (None, None, None)
    );
    assert_eq!(reply.modified_action, None);
}

/// AAEP-REPLY-1, AAEP-6.3.1-1, AAEP-6.3.1-2, AAEP-6.3.1-3, AAEP-6.3.1-4, AAEP-6.3.1-5: each of the five is required.
#[test]
fn every_required_property_is_missed() {
    for property in [
        "type",
        "reply_token",
        "decision",
        "subscription_id",
        "timestamp",
    ] {
        let mut reply = minimal();
        reply.as_object_mut().expect("an object").remove(property);
        assert_eq!(parse(&reply), Err(Malformed::Missing(property)));
    }
}

/// AAEP-REPLY-1: only an object is a reply.
#[test]
fn other_json_values_are_no_replies() {
    for value in [
        json!(null),
        json!(true),
        json!(1),
        json!("confirmation.reply"),
        json!([minimal()]),
    ] {
        assert_eq!(parse(&value), Err(Malformed::NotAnObject), "{value}");
    }
}

/// AAEP-REPLY-11
#[test]
fn an_unknown_property_is_refused() {
    for property in [
        "session_id",
        "Decision",
        "decision ",
        "",
        "\u{fe0f}",
        "__proto__",
    ] {
        assert_eq!(
            parse(&with(property, "x")),
            Err(Malformed::Unknown(property.into()))
        );
    }
}

/// AAEP-REPLY-2, AAEP-REPLY-4: constants are compared exactly.
#[test]
fn constants_are_compared_exactly() {
    for other in [
        "",
        "confirmation.reply ",
        "Confirmation.reply",
        "clarification.reply",
    ] {
        assert!(!is_accepted(&with("type", other)), "{other:?}");
    }
    for other in [
        "", "Accept", "ACCEPT", "accept ", "accepted", "allow", "defer", "аccept",
    ] {
        assert!(!is_accepted(&with("decision", other)), "{other:?}");
    }
}

/// AAEP-REPLY-3, AAEP-REPLY-5, AAEP-6.2.1-1: the prefix, then 1 to 64 ASCII letters or digits, and nothing else.
#[test]
fn identifiers_have_their_grammar() {
    for (property, prefix) in [("reply_token", "rpl_"), ("subscription_id", "sub_")] {
        let id = |suffix: &str| with(property, format!("{prefix}{suffix}"));
        assert!(!is_accepted(&id("")));
        assert!(is_accepted(&id("a")));
        assert!(is_accepted(&id("aB")));
        assert!(is_accepted(&id(&"z".repeat(63))));
        assert!(is_accepted(&id(&"Z9".repeat(32))));
        assert!(!is_accepted(&id(&"0".repeat(65))));
        for suffix in ["a\n", "a ", " a", "a_", "a-b", "é", "１", "a\0", "a\u{301}"] {
            assert!(!is_accepted(&id(suffix)), "{suffix:?}");
        }
        for text in ["a", "RPL_a", "sess_a", "_a", "rpl-a", "\u{feff}rpl_a"] {
            assert!(!is_accepted(&with(property, text)), "{text:?}");
        }
    }
}

/// AAEP-REPLY-6, AAEP-6.3.1-5: the format is asserted.
#[test]
fn a_timestamp_that_is_no_date_time_is_refused() {
    for text in [
        "",
        "yesterday",
        "2026-05-24",
        "2026-02-30T00:00:00Z",
        "2026-05-24T14:22:24",
        "1779632544812",
    ] {
        assert!(!is_accepted(&with("timestamp", text)), "{text:?}");
    }
}

/// AAEP-REPLY-7, AAEP-REPLY-8: lengths count characters, not bytes and not UTF-16 units.
#[test]
fn texts_are_measured_in_characters() {
    for (property, most) in [("decided_by", 256), ("decision_rationale", 4_096)] {
        for character in ["a", "é", "😀"] {
            let text = |length| with(property, character.repeat(length));
            assert!(!is_accepted(&text(0)));
            assert!(is_accepted(&text(1)));
            assert!(is_accepted(&text(2)));
            assert!(is_accepted(&text(most - 1)));
            assert!(is_accepted(&text(most)), "{most} of {character}");
            assert!(!is_accepted(&text(most + 1)));
        }
    }
}

/// AAEP-REPLY-9, AAEP-REPLY-10, AAEP-REPLY-7, AAEP-REPLY-8: every property has its type; null is not absence.
#[test]
fn every_property_has_its_type() {
    let others = [json!(null), json!(true), json!(1), json!(["accept"])];
    for property in [
        "type",
        "reply_token",
        "decision",
        "subscription_id",
        "timestamp",
        "decided_by",
        "decision_rationale",
        "correlation_id",
        "modified_action",
    ] {
        for value in &others {
            assert!(
                !is_accepted(&with(property, value.clone())),
                "{property}: {value}"
            );
        }
    }
    assert!(!is_accepted(&with("correlation_id", json!({}))));
    assert!(!is_accepted(&with("modified_action", "{}")));
    assert!(is_accepted(&with("modified_action", json!({}))));
    assert!(is_accepted(&with("correlation_id", "c")));
}

/// AAEP-6.3.4-1: what two readers could understand differently is malformed.
#[test]
fn bytes_that_are_not_one_json_value_are_refused() {
    let good = minimal().to_string();
    assert!(ConfirmationReply::parse(format!(" \r\n{good}\t").as_bytes()).is_ok());
    let duplicate = good.replacen('{', r#"{"decision":"reject","#, 1);
    let nested_duplicate = good.replacen('{', r#"{"modified_action":{"x":{"a":1,"a":2}},"#, 1);
    for bad in [
        String::new(),
        format!("\u{feff}{good}"),
        format!("{good}{good}"),
        format!("{good}\0"),
        good[..good.len() - 1].to_owned(),
        good.replace("accept", "accept\u{1}"),
        good.replacen('{', r#"{"decided_by":"\ud80","#, 1),
        duplicate,
        nested_duplicate,
    ] {
        assert!(
            matches!(
                ConfirmationReply::parse(bad.as_bytes()),
                Err(Malformed::NotJson(_))
            ),
            "{bad:?}"
        );
    }
    let mut not_utf8 = good.into_bytes();
    not_utf8[10] = 0xff;
    assert!(matches!(
        ConfirmationReply::parse(&not_utf8),
        Err(Malformed::NotJson(NotJson::NotUtf8 { at: 10 }))
    ));
}

/// AAEP-6.3.4-1: a key is the text that it stands for.
#[test]
fn escaped_names_and_values_are_the_same_names_and_values() {
    let escaped = minimal()
        .to_string()
        .replace("decision", r"d\u0065cision")
        .replace("accept", r"\u0061ccept");
    assert_eq!(
        ConfirmationReply::parse(escaped.as_bytes()),
        parse(&minimal())
    );
}

/// AAEP-REPLY-9, AAEP-REPLY-10: the schema limits neither the depth of a modified action nor the length of a correlation id.
#[test]
fn no_message_is_too_large_or_too_deep() {
    for length in [64 * 1024, 4 * 1024 * 1024] {
        let reply = parse(&with("correlation_id", "😀".repeat(length))).expect("it conforms");
        let text = reply.correlation_id.and_then(|it| it.whole());
        assert_eq!(text.map(|it| it.len()), Some(4 * length));
        let bad = with("decision_rationale", "a".repeat(length));
        assert!(matches!(parse(&bad), Err(Malformed::Invalid { .. })));
    }
    for depth in [63, 64, 65, 1_000_000] {
        let nested = r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
        let deep =
            minimal()
                .to_string()
                .replacen('{', &format!(r#"{{"modified_action":{nested},"#), 1);
        let reply = ConfirmationReply::parse(deep.as_bytes()).expect("it conforms");
        assert!(reply.modified_action.is_some());
    }
    assert!(ConfirmationReply::parse(&vec![b'['; 4 * 1024 * 1024]).is_err());
}

/// AAEP-REPLY-7, AAEP-REPLY-3: an escaped lone surrogate is well-formed, and one character; no identifier has one.
#[test]
fn half_a_surrogate_pair_is_a_character_of_a_text_and_of_no_identifier() {
    let decided_by = |by: &str| {
        let reply = minimal()
            .to_string()
            .replacen('{', &format!(r#"{{"decided_by":"{by}","#), 1);
        ConfirmationReply::parse(reply.as_bytes()).map(|reply| reply.decided_by)
    };
    for half in [r"\ud83d", r"\ude00"] {
        for (length, is_valid) in [(1, true), (255, true), (256, true), (257, false)] {
            let found = decided_by(&half.repeat(length));
            assert_eq!(found.is_ok(), is_valid, "{length} times {half}");
            if let Ok(found) = found {
                let put_out = serde_json::to_string(&found).expect("a text can be written");
                assert_eq!(put_out, format!("\"{}\"", half.repeat(length)));
            }
        }
        let token = minimal()
            .to_string()
            .replace("rpl_", &format!("rpl_{half}"));
        let found = ConfirmationReply::parse(token.as_bytes());
        assert!(matches!(
            found,
            Err(Malformed::Invalid {
                property: "reply_token",
                ..
            })
        ));
    }
}

/// The longest texts of the schema fit into a message, even with every character escaped.
#[test]
fn the_longest_texts_fit_however_they_are_written() {
    let escaped = r"\ud83d\ude00";
    let texts = format!(
        r#"{{"decided_by":"{}","decision_rationale":"{}","#,
        escaped.repeat(256),
        escaped.repeat(4_096)
    );
    let message = minimal().to_string().replacen('{', &texts, 1);
    assert!(ConfirmationReply::parse(message.as_bytes()).is_ok());
}

/// Every reply that the schema allows, within the size limit.
fn conforming() -> impl Strategy<Value = Value> {
    let required = (
        "rpl_[A-Za-z0-9]{1,64}",
        prop::sample::select(vec!["accept", "reject"]),
        "sub_[A-Za-z0-9]{1,64}",
        "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[Tt]([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\\.[0-9]{1,20})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])",
    );
    let optional = (
        prop::option::of("\\PC{1,256}"),
        prop::option::of("(?s:.){1,512}"),
        prop::option::of(prop::collection::btree_map(
            any::<String>(),
            any::<i64>(),
            0..4,
        )),
        prop::option::of(any::<String>()),
    );
    (required, optional).prop_map(
        |((token, decision, subscription, timestamp), (by, why, modified, correlation))| {
            let mut reply = Map::new();
            reply.insert("type".into(), json!("confirmation.reply"));
            reply.insert("reply_token".into(), json!(token));
            reply.insert("decision".into(), json!(decision));
            reply.insert("subscription_id".into(), json!(subscription));
            reply.insert("timestamp".into(), json!(timestamp));
            reply.extend(by.map(|by| ("decided_by".into(), json!(by))));
            reply.extend(why.map(|why| ("decision_rationale".into(), json!(why))));
            reply.extend(modified.map(|modified| ("modified_action".into(), json!(modified))));
            reply.extend(
                correlation.map(|correlation| ("correlation_id".into(), json!(correlation))),
            );
            Value::Object(reply)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(proptest::test_runner::FileFailurePersistence::Direct(
            "proptest-regressions/aaep_reply.txt",
        ))),
        ..ProptestConfig::with_cases(512)
    })]

    /// AAEP-6.3.4-1
    #[test]
    fn every_conforming_reply_is_read(reply in conforming(), pretty in any::<bool>()) {
        let text = if pretty { format!("{reply:#}") } else { reply.to_string() };
        let read = ConfirmationReply::parse(text.as_bytes()).expect("conforms");
        prop_assert_eq!(&json!(read.reply_token), &reply["reply_token"]);
        prop_assert_eq!(&json!(read.decision), &reply["decision"]);
        prop_assert_eq!(&json!(read.subscription_id), &reply["subscription_id"]);
        prop_assert_eq!(&json!(read.decided_by), reply.get("decided_by").unwrap_or(&Value::Null));
        prop_assert_eq!(&json!(read.decision_rationale), reply.get("decision_rationale").unwrap_or(&Value::Null));
        prop_assert_eq!(&json!(read.correlation_id), reply.get("correlation_id").unwrap_or(&Value::Null));
        let modified = read.modified_action.as_ref().map(WrittenObject::as_str);
        let modified: Option<Value> = modified.map(|object| serde_json::from_str(object).expect("JSON"));
        prop_assert_eq!(modified.as_ref(), reply.get("modified_action"));
    }

    /// AAEP-6.3.4-1, AAEP-REPLY-11: one thing too many, one too few or one of a wrong type, and it no longer conforms.
    #[test]
    fn a_reply_that_no_longer_conforms_is_refused(
        reply in conforming(),
        property in prop::sample::select(vec!["type", "reply_token", "decision", "subscription_id", "timestamp"]),
        extra in "x_[a-z]{0,12}",
    ) {
        let mut short = reply.clone();
        short.as_object_mut().expect("an object").remove(property);
        prop_assert_eq!(parse(&short), Err(Malformed::Missing(property)));

        let mut wrong = reply.clone();
        wrong[property] = json!(0);
        prop_assert!(!is_accepted(&wrong));

        let mut long = reply;
        long[&extra] = json!("x");
        prop_assert_eq!(parse(&long), Err(Malformed::Unknown(extra)));
    }

    /// AAEP-6.3.4-1: cut anywhere, it is no JSON.
    #[test]
    fn a_truncated_reply_is_refused(reply in conforming(), cut in any::<prop::sample::Index>()) {
        let bytes = reply.to_string().into_bytes();
        prop_assert!(ConfirmationReply::parse(&bytes[..cut.index(bytes.len())]).is_err());
    }

    /// Bytes flipped anywhere do no harm.
    #[test]
    fn reading_never_panics(
        reply in conforming(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        noise in any::<Vec<u8>>(),
    ) {
        let mut bytes = reply.to_string().into_bytes();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = ConfirmationReply::parse(&bytes);
        let _ = ConfirmationReply::parse(&noise);
    }
}
