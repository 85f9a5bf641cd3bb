//! The limits that the schema of the driver protocol states are those of the texts.

use std::collections::BTreeSet;

use countersign_model::aaep::Aaep;
use countersign_model::facade::engine::Catalog as _;
use countersign_model::mcp_aql::readings::Numbers;
use countersign_model::numbers::Value as Number;
use countersign_model::pending_action::spec::{
    ARGUMENT_BYTES, ARGUMENT_LEVELS, LABEL_CHARACTERS, NAME_CHARACTERS, SUMMARY_CHARACTERS,
};
use countersign_protocol::schema;
use serde_json::Value;

/// The keywords of a schema that limit a length or a range.
const KEYWORDS: [&str; 6] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
];

/// Every limit of a request: op and field, keyword, number. Of the id there is none but its type.
fn limits(message: &str) -> BTreeSet<(String, &'static str, i64)> {
    fn collect(place: &str, schema: &Value, limits: &mut BTreeSet<(String, &'static str, i64)>) {
        let limit = |word| Some((place.to_owned(), word, schema[word].as_i64()?));
        limits.extend(KEYWORDS.into_iter().filter_map(limit));
        if schema["items"].is_object() {
            collect(&format!("{place}[]"), &schema["items"], limits);
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if name != "id" {
                collect(&format!("{place}.{name}"), field, limits);
            }
        }
    }
    let schema = schema();
    let requests = schema["$defs"][message]["oneOf"].as_array().unwrap();
    let mut limits = BTreeSet::new();
    for request in requests {
        let op = request["properties"]["op"]["const"].as_str().unwrap();
        collect(op, request, &mut limits);
    }
    limits
}

/// PA-1, PA-2, PA-9, PA-12: every limit of a request of pending actions.
#[test]
fn the_limits_of_pending_actions_are_those_of_the_text() {
    let text = |place: &str, most: u32| {
        let most = i64::from(most);
        let place = place.to_owned();
        [(place.clone(), "minLength", 1), (place, "maxLength", most)]
    };
    let mut expected: BTreeSet<_> = [
        text("propose.agent_id", NAME_CHARACTERS),
        text("propose.session_id", NAME_CHARACTERS),
        text("propose.run_id", NAME_CHARACTERS),
        text("propose.tool", NAME_CHARACTERS),
        text("propose.deciders[]", NAME_CHARACTERS),
        text("propose.summary", SUMMARY_CHARACTERS),
        text("propose.label", LABEL_CHARACTERS),
        text("end_session.session_id", NAME_CHARACTERS),
    ]
    .into_iter()
    .flatten()
    .collect();
    expected.insert(("propose.deciders".to_owned(), "minItems", 1));
    // An empty name is nobody, whose decision is ignored and not refused.
    let most = i64::from(NAME_CHARACTERS);
    expected.insert(("decide.by".to_owned(), "maxLength", most));
    let found: BTreeSet<_> = limits("pending-action.request")
        .into_iter()
        .filter(|(place, ..)| place != "restart.lost" && place != "hello.driver")
        .collect();
    assert_eq!(found, expected);
    let schema = schema();
    let requests = schema["$defs"]["pending-action.request"]["oneOf"].as_array();
    let propose = requests
        .into_iter()
        .flatten()
        .find(|it| it["properties"]["op"]["const"] == "propose");
    let words = &propose.unwrap()["properties"]["arguments"]["description"];
    let said = format!(
        "At most {} MiB of text, at most {ARGUMENT_LEVELS} arrays and objects deep",
        ARGUMENT_BYTES >> 20
    );
    let words = words.as_str().unwrap().replace('\n', " ");
    assert!(words.contains(&said), "{words}");
}

/// AQL-5.1-1, AQL-5.1-5: a call can ask for no longer life than the text allows any token, an operator for no more tolerance.
#[test]
fn the_limits_of_confirmation_tokens_are_those_of_the_text() {
    let text = Numbers::default();
    let lifetimes = [text.destructive, text.forbidden, text.quota];
    let longest = lifetimes.map(|it| it.longest).into_iter().max().unwrap();
    let found = limits("mcp-aql.request");
    for limit in [
        ("call.ttl_seconds", "maximum", longest / 1000),
        ("configure.clock_skew_tolerance_seconds", "minimum", 0),
        (
            "configure.clock_skew_tolerance_seconds",
            "maximum",
            text.longest_tolerance / 1000,
        ),
    ] {
        assert!(
            found.contains(&(limit.0.to_owned(), limit.1, limit.2)),
            "{limit:?}"
        );
    }
}

/// AAEP-EV-5, AAEP-EV-2, AAEP-6.2.1-1: how long a question waits, and how long identifiers are.
#[test]
fn the_limits_of_confirmations_are_those_of_the_text() {
    let number = |name: &str| {
        let found = Aaep::NUMBERS.iter().find(|it| it.name == name).unwrap();
        match &found.value {
            Number::Fixed { value, .. } => value.parse::<i64>().unwrap(),
            Number::Whole(_) | Number::Word(_) => panic!("{name} can be changed"),
        }
    };
    let (shortest, longest) = (number("timeouts.shortest"), number("timeouts.longest"));
    let found = limits("aaep.request");
    for op in ["confirm", "clarify", "extend"] {
        let place = format!("{op}.timeout_seconds");
        assert!(
            found.contains(&(place.clone(), "minimum", shortest)),
            "{op}"
        );
        assert!(found.contains(&(place, "maximum", longest)), "{op}");
    }
    let schema = schema();
    let requests = schema["$defs"]["aaep.request"].to_string();
    for (prefix, name) in [
        ("rpl", "tokens.longest"),
        ("sess", "identifiers.longest"),
        ("sub", "identifiers.longest"),
    ] {
        let pattern = format!("^{prefix}_[0-9A-Za-z]{{1,{}}}$", number(name));
        let patterns = requests.matches(&format!("^{prefix}_")).count();
        assert!(
            patterns > 0 && requests.matches(&pattern).count() == patterns,
            "{pattern}"
        );
    }
}
