//! What a token is bound to: the canonical form of the parameters, and which of them are critical.

use std::collections::{BTreeMap, BTreeSet};

use countersign_reference::mcp_aql::{
    Call, Configuration, Gatekeeper, Input, MAX_DEPTH, MAX_PARAMS_BYTES, NotCanonical, NotJson,
    Parameters, ParametersHash, Refusal, Settings, SigningKey, canonical_form,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

use crate::mcp_aql::stage::{HONOURED, Stage, adapter, call, operation, with_token};

fn form(params: &str) -> Result<String, NotCanonical> {
    let form = canonical_form(&operation("o"), &Parameters::new(params), None)?;
    let params = form.strip_prefix(r#"{"operation":"o","params":"#);
    let params = params.and_then(|rest| rest.strip_suffix('}'));
    Ok(params.expect("a frame around the parameters").to_owned())
}

fn hash(params: &str) -> ParametersHash {
    ParametersHash::of_call(&operation("o"), &Parameters::new(params), None).expect("canonical")
}

/// AQL-3.2-2, AQL-3.2-3: the hash is the SHA-256 of a form that anyone can write down.
#[test]
fn the_hash_is_of_the_canonical_form() {
    let params = Parameters::new(r#"{"repo": "widgets", "owner": "acme"}"#);
    let form = canonical_form(&operation("delete_repo"), &params, None);
    let expected = r#"{"operation":"delete_repo","params":{"owner":"acme","repo":"widgets"}}"#;
    assert_eq!(form.as_deref(), Ok(expected));
    let hash = ParametersHash::of_call(&operation("delete_repo"), &params, None);
    assert_eq!(
        hash.expect("canonical").to_string(),
        "f7010821141520063406d69f4c77f6dc1054fcac5a8d555df0944c5b375f2287"
    );
}

/// AQL-3.2-3: the example of RFC 8785, section 3.2.2, and the one on sorting of section 3.2.3.
#[test]
fn the_examples_of_rfc_8785_come_out_as_they_should() {
    let primitives = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    assert_eq!(
        form(primitives).as_deref(),
        Ok(concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
            r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        ))
    );
    let sorting = r#"{
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    assert_eq!(
        form(sorting).as_deref(),
        Ok(concat!(
            r#"{"\r":"Carriage Return","1":"One","#,
            "\"\u{80}\":\"Control\",",
            r#""ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","#,
            "\"\u{1f600}\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        ))
    );
}

/// AQL-3.2-3, AQL-4.3-1: equal meaning, equal form; different meaning, different form.
#[test]
fn the_form_follows_the_meaning() {
    for (one, other, equal) in [
        (r#"{"a":1,"b":2}"#, "{ \"b\" : 2 ,\n\t\"a\" : 1 }", true),
        (r#"{"a":1}"#, r#"{"a":1.0}"#, true),
        (r#"{"a":0}"#, r#"{"a":-0}"#, true),
        (r#"{"a":0}"#, r#"{"a":-0.0e9}"#, true),
        (r#"{"a":100}"#, r#"{"a":1E2}"#, true),
        (r#"{"a":"A/\n"}"#, r#"{"\u0061":"\u0041\/\u000a"}"#, true),
        (r#"{"a":"😀"}"#, r#"{"a":"\ud83d\uDE00"}"#, true),
        (r#"{"a":1}"#, r#"{"a":"1"}"#, false),
        (r#"{"a":1}"#, r#"{"a":2}"#, false),
        (r#"{"a":1}"#, r#"{"a":1.0000000000000002}"#, false),
        (
            r#"{"a":9007199254740992}"#,
            r#"{"a":9007199254740991}"#,
            false,
        ),
        (r#"{"a":1}"#, r#"{"b":1}"#, false),
        (r#"{"a":1}"#, r#"{"A":1}"#, false),
        (r#"{"a":null}"#, "{}", false),
        (r#"{"a":null}"#, r#"{"a":false}"#, false),
        (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false),
        (r#"{"a":[1,2]}"#, r#"{"a":[[1,2]]}"#, false),
        (r#"{"a":[]}"#, r#"{"a":{}}"#, false),
        (r#"{"a":"é"}"#, "{\"a\":\"e\u{301}\"}", false),
        (r#"{"a":{"b":1},"c":2}"#, r#"{"a":{"b":1,"c":2}}"#, false),
    ] {
        assert_eq!(form(one) == form(other), equal, "{one} {other}");
        assert_eq!(hash(one) == hash(other), equal, "{one} {other}");
    }
}

/// AQL-3.2-3: what has no canonical form is refused, and it is told what is wrong.
#[test]
fn what_canonical_json_cannot_carry_is_refused() {
    let nested = |depth| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let long = |length| format!(r#"{{"a":"{}"}}"#, "x".repeat(length - 8));
    // Bytes are counted: a character of four bytes counts four times.
    let wide = |length| format!(r#"{{"a":"😀{}"}}"#, "x".repeat(length - 12));
    for (params, problem) in [
        (
            "",
            Some(NotCanonical::NotJson(NotJson::Unexpected { at: 0 })),
        ),
        ("[]", None),
        ("null", None),
        (r#""{}""#, None),
        ("[1e400]", Some(NotCanonical::NumberOutOfRange)),
        (
            "{}x",
            Some(NotCanonical::NotJson(NotJson::Unexpected { at: 2 })),
        ),
        (
            r#"{"a":1,"\u0061":1}"#,
            Some(NotCanonical::NotJson(NotJson::DuplicateKey { at: 17 })),
        ),
        (
            r#"{"a":"\ud83d"}"#,
            Some(NotCanonical::NotJson(NotJson::Unexpected { at: 12 })),
        ),
        (r#"{"a":9007199254740992}"#, None),
        (r#"{"a":9007199254740993}"#, None),
        (r#"{"a":[{"b":-9007199254740994}]}"#, None),
        (
            r#"{"a":[{"b":-9007199254740995.0}]}"#,
            Some(NotCanonical::NumberOutOfRange),
        ),
        (r#"{"a":1e308}"#, None),
        (r#"{"a":1e400}"#, Some(NotCanonical::NumberOutOfRange)),
        (r#"{"a":1e-400}"#, Some(NotCanonical::NumberOutOfRange)),
        (&nested(MAX_DEPTH - 1), None),
        (&nested(MAX_DEPTH), None),
        (&nested(100_000), None),
        (&long(MAX_PARAMS_BYTES - 1), None),
        (&long(MAX_PARAMS_BYTES), None),
        (&long(MAX_PARAMS_BYTES + 1), Some(NotCanonical::TooLong)),
        (&wide(MAX_PARAMS_BYTES - 1), None),
        (&wide(MAX_PARAMS_BYTES), None),
        (&wide(MAX_PARAMS_BYTES + 1), Some(NotCanonical::TooLong)),
    ] {
        assert_eq!(form(params).err(), problem, "{params:.40}");
    }
    let bytes = Parameters::new(b"{\"a\":\"\xff\"}");
    let problem = canonical_form(&operation("o"), &bytes, None);
    assert_eq!(
        problem,
        Err(NotCanonical::NotJson(NotJson::NotUtf8 { at: 6 }))
    );
}

/// AQL-3.2-1, AQL-3.2-3: parameters are bound however deep they are nested, up to as many bytes as they may have. A stack that
/// is small shows that nothing recurses.
#[test]
fn parameters_are_bound_however_deep() {
    let deepest = MAX_PARAMS_BYTES / 2 - 5;
    let arrays = |depth: usize, innermost: &str| {
        format!(
            r#"{{"a":{}{innermost}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    // Each with two members in the wrong order, and one of them deeper.
    let objects = |depth: usize, innermost: &str| {
        format!(
            "{}{innermost}{}",
            r#"{"b":0,"a":"#.repeat(depth),
            "}".repeat(depth)
        )
    };
    let binds = move || {
        for (one, respelled, other) in [
            (
                arrays(MAX_DEPTH, "1"),
                arrays(MAX_DEPTH, " 1.0 "),
                arrays(MAX_DEPTH, "2"),
            ),
            (
                arrays(deepest, "1"),
                arrays(deepest, "1.0"),
                arrays(deepest, "2"),
            ),
            (
                objects(80_000, "1"),
                objects(80_000, "10e-1"),
                objects(80_000, "2"),
            ),
            (
                objects(80_000, "1"),
                objects(80_000, " 1"),
                objects(80_001, "1"),
            ),
        ] {
            let mut stage = Stage::new();
            let with = |params: &str| Call {
                params: Parameters::new(params),
                ..call()
            };
            let token = stage.asks(with(&one));
            let outputs = stage.does(Input::Call(with_token(with(&other), &token)));
            assert_eq!(outputs[0], "audit TokenRejected failed: OtherParameters");
            let outputs = stage.does(Input::Call(with_token(with(&respelled), &token)));
            assert_eq!(outputs, HONOURED);
        }
        let unclosed = "[".repeat(MAX_PARAMS_BYTES);
        let problem = NotJson::Unexpected {
            at: MAX_PARAMS_BYTES,
        };
        assert_eq!(form(&unclosed), Err(problem.into()));
    };
    // What it sees is noted under its name.
    let test = std::thread::current().name().map(ToOwned::to_owned);
    let thread = std::thread::Builder::new().name(test.unwrap_or_default());
    let thread = thread.stack_size(256 * 1024);
    let thread = thread.spawn(binds).expect("a thread");
    thread.join().expect("nothing recurses");
}

/// AQL-3.2-3, AQL-6.3-1: the client gets a code of its own and no token; a token it has is not used.
#[test]
fn parameters_without_canonical_form_get_a_code() {
    let mut stage = Stage::new();
    let token = stage.asks(call());
    let broken = Call {
        params: Parameters::new(r#"{"owner": 1, "owner": 2}"#),
        ..call()
    };
    assert_eq!(
        stage.does(Input::Call(broken.clone())),
        [
            "audit TokenIssued failed: InvalidParams",
            "respond InvalidParams"
        ]
    );
    assert_eq!(
        stage.does(Input::Call(with_token(broken, &token))),
        [
            "audit TokenRejected failed: InvalidParams",
            "respond InvalidParams"
        ]
    );
    assert_eq!(stage.gatekeeper.tokens().len(), 1);
    assert_eq!(stage.retries(&token), HONOURED);
}

/// AQL-3.2-1, AQL-4.1-5: parameters of every type are bound as a whole, whatever rule there is, for they have no names; and they come
/// out as they came in.
#[test]
fn parameters_that_are_no_object_are_bound_like_any() {
    let texts = ["[3,5]", "[5,3]", "[]", "null", "false", "7", "\"7\"", "{}"];
    for rule in [None, Some(&["repo"][..])] {
        for text in texts {
            for other in texts {
                let mut stage = rule.map_or_else(Stage::new, with_rule);
                let with = |params: &str| Call {
                    params: Parameters::new(params),
                    ..call()
                };
                let token = stage.asks(with(text));
                let outputs = stage.does(Input::Call(with_token(with(other), &token)));
                assert_eq!(outputs == HONOURED, text == other, "{text} {other}");
            }
            let written = serde_json::to_string(&Parameters::new(text)).expect("JSON");
            let expected = if text.starts_with('"') {
                "\"\\\"7\\\"\""
            } else {
                text
            };
            assert_eq!(written, expected);
        }
    }
}

/// `delete_repo` of `github` has these critical parameters.
fn with_rule(names: &[&str]) -> Stage {
    ruled(Stage::new(), names)
}

/// The same on that stage.
fn ruled(mut stage: Stage, names: &[&str]) -> Stage {
    let names: BTreeSet<String> = names.iter().map(ToString::to_string).collect();
    stage.does(Input::Configure {
        adapter: adapter("github"),
        clock_skew_tolerance_seconds: None,
        oracle: None,
        critical: Some(BTreeMap::from([(operation("delete_repo"), names)])),
    });
    stage
}

/// AQL-3.2-4: what is not critical may change between the call and its repetition, what is may not; where no rule says
/// which, all is.
#[test]
fn only_critical_parameters_are_bound() {
    let original = r#"{"repo": "widgets", "force": true, "request_id": 1}"#;
    let mut bound = with_rule(&["repo", "force"]);
    let mut all_bound = Stage::new();
    for (params, by_rule, by_default) in [
        (original, true, true),
        (
            r#"{"request_id": 2, "force": true, "repo": "widgets"}"#,
            true,
            false,
        ),
        (r#"{"force": true, "repo": "widgets"}"#, true, false),
        (
            r#"{"force": true, "repo": "widgets", "request_id": 1e999}"#,
            true,
            false,
        ),
        (
            r#"{"repo": "gadgets", "force": true, "request_id": 1}"#,
            false,
            false,
        ),
        (
            r#"{"repo": "widgets", "force": false, "request_id": 1}"#,
            false,
            false,
        ),
        (r#"{"repo": "widgets", "request_id": 1}"#, false, false),
        (
            r#"{"repo": "widgets", "force": null, "request_id": 1}"#,
            false,
            false,
        ),
    ] {
        for (stage, honoured) in [(&mut bound, by_rule), (&mut all_bound, by_default)] {
            let with = |params| Call {
                params: Parameters::new(params),
                ..call()
            };
            let token = stage.asks(with(original));
            let outputs = stage.does(Input::Call(with_token(with(params), &token)));
            assert_eq!(outputs == HONOURED, honoured, "{params}");
        }
    }
}

/// AQL-3.2-1, AQL-3.2-4: a token that binds no parameter is bound to none, so a rule without names is refused, whatever comes
/// with it; one that the settings hold is none, and all is bound. So it is where the rules are replaced by none.
#[test]
fn a_rule_without_names_is_none() {
    let rules = |names: &[&str]| {
        let names = names.iter().map(ToString::to_string).collect();
        BTreeMap::from([(operation("delete_repo"), names)])
    };
    let with_rules = |critical| Input::Configure {
        adapter: adapter("github"),
        clock_skew_tolerance_seconds: Some(120),
        oracle: None,
        critical: Some(critical),
    };
    let mut replaced = with_rule(&["owner"]);
    assert_eq!(
        replaced.refuses(with_rules(rules(&[]))),
        Refusal::WithoutCritical
    );
    replaced.does(with_rules(BTreeMap::new()));
    let configuration = Configuration {
        critical: rules(&[]),
        ..Configuration::default()
    };
    let set = Stage::with(Settings {
        configuration: configuration.into(),
        ..Settings::default()
    });
    for mut stage in [replaced, set] {
        let token = stage.asks(call());
        let other = Call {
            params: Parameters::new("{}"),
            ..call()
        };
        let outputs = stage.does(Input::Call(with_token(other, &token)));
        assert_eq!(outputs[0], "audit TokenRejected failed: OtherParameters");
        assert_eq!(stage.retries(&token), HONOURED);
    }
}

/// AQL-3.2-1, AQL-3.2-4: a list that names none of a call's parameters leaves nothing to bind, so that the call is bound in full;
/// with a token that is kept as with one that is signed. Only names of the outermost object count, to the letter.
#[test]
fn a_list_that_names_nothing_of_a_call_binds_all_of_it() {
    let signing = Stage {
        gatekeeper: Gatekeeper::signing(Settings::default(), SigningKey::from_bits([1, 2])),
        ..Stage::new()
    };
    for stage in [Stage::new(), signing] {
        let mut stage = ruled(stage, &["y", "z"]);
        for (asked, retried, is_same) in [
            (r#"{"a":1}"#, r#"{"a":1}"#, true),
            (r#"{"a":1,"b":2}"#, r#"{ "b" : 2.0, "a" : 1 }"#, true),
            (r#"{"a":1}"#, r#"{"a":2}"#, false),
            (r#"{"a":1}"#, r#"{"b":1}"#, false),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#, false),
            (r#"{"a":1}"#, "{}", false),
            ("{}", r#"{"a":1}"#, false),
            ("{}", "{}", true),
            (r#"{"a":1}"#, r#"{"a":1,"z":1}"#, false),
            (r#"{"a":1,"z":1}"#, r#"{"a":1}"#, false),
            (r#"{"a":1,"z":1}"#, r#"{"a":2,"z":1}"#, true),
            (r#"{"a":1,"z":1}"#, r#"{"a":1,"z":2}"#, false),
            (r#"{"a":1,"z":1}"#, r#"{"a":1,"y":1,"z":1}"#, false),
            (r#"{"a":{"z":1},"b":1}"#, r#"{"a":{"z":1},"b":2}"#, false),
            (r#"{"Z":1,"a":1}"#, r#"{"Z":1,"a":2}"#, false),
        ] {
            let with = |params| Call {
                params: Parameters::new(params),
                ..call()
            };
            let token = stage.asks(with(asked));
            let outputs = stage.does(Input::Call(with_token(with(retried), &token)));
            assert_eq!(outputs == HONOURED, is_same, "{asked} {retried}");
            if !is_same {
                assert_eq!(
                    outputs[1], "respond TokenScopeMismatch",
                    "{asked} {retried}"
                );
            }
        }
    }
}

/// The document in which every one of the characters is a member's name and its value, as it is and escaped.
fn of_characters(characters: &[char]) -> [String; 2] {
    let plain: serde_json::Map<_, _> = characters
        .iter()
        .map(|character| (character.to_string(), Value::from(character.to_string())))
        .collect();
    let escaped: Vec<_> = characters
        .iter()
        .map(|character| escaped(character.encode_utf8(&mut [0; 4])))
        .map(|escaped| format!("{escaped}:{escaped}"))
        .collect();
    [
        Value::Object(plain).to_string(),
        format!("{{{}}}", escaped.join(",")),
    ]
}

/// AQL-3.2-3: no character is lost, changed or written in another way than RFC 8785 has it, in a name as in a value.
#[test]
fn every_character_has_its_canonical_form() {
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    assert_eq!(all.len(), 0x11_0000 - 0x800);
    for characters in all.chunks(0x1000) {
        let mut sorted = characters.to_vec();
        sorted.sort_by_key(|character| character.encode_utf16(&mut [0; 2]).to_vec());
        let members = sorted.iter().map(|&character| {
            let written = match character {
                '"' | '\\' => format!("\\{character}"),
                '\u{8}' => "\\b".into(),
                '\t' => "\\t".into(),
                '\n' => "\\n".into(),
                '\u{c}' => "\\f".into(),
                '\r' => "\\r".into(),
                // Of the other controls those below the space, and no further.
                '\0'..=' ' if character != ' ' => format!("\\u{:04x}", u32::from(character)),
                as_it_is => as_it_is.to_string(),
            };
            format!("\"{written}\":\"{written}\"")
        });
        let expected = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        for spelling in of_characters(characters) {
            let first = u32::from(characters[0]);
            assert!(form(&spelling).as_ref() == Ok(&expected), "from {first:#x}");
        }
    }
}

/// AQL-3.2-3, AQL-4.1-5: a character that nobody sees binds like any other, in a name as in a value.
#[test]
fn what_is_not_seen_is_bound() {
    let controls = ('\0'..' ')
        .chain('\u{7f}'..='\u{a0}')
        .chain(['\u{ad}', '\u{34f}', '\u{61c}']);
    let formats = ('\u{2000}'..='\u{200f}')
        .chain('\u{2028}'..='\u{202f}')
        .chain('\u{205f}'..='\u{206f}');
    let rest = [
        '\u{3000}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{fffd}',
        '\u{ffff}',
        '\u{e0020}',
        '\u{10ffff}',
    ];
    let mut stage = Stage::new();
    for unseen in controls.chain(formats).chain(rest) {
        let text = format!("wid{unseen}gets");
        let with = |name: &str, value: &str| Call {
            params: Parameters::new(format!("{{{}:{}}}", escaped(name), json!(value))),
            ..call()
        };
        for (bound, other) in [
            (with("repo", &text), with("repo", "widgets")),
            (with(&text, "repo"), with("widgets", "repo")),
        ] {
            let token = stage.asks(bound.clone());
            let outputs = stage.does(Input::Call(with_token(other, &token)));
            let rejected = "audit TokenRejected failed: OtherParameters";
            assert_eq!(outputs[0], rejected, "{unseen:?}");
            let outputs = stage.does(Input::Call(with_token(bound, &token)));
            assert_eq!(outputs, HONOURED, "{unseen:?}");
        }
    }
}

/// AQL-3.2-3: also what is not critical must not say two things at once.
#[test]
fn a_key_twice_is_refused_wherever_it_is() {
    let mut stage = with_rule(&["repo"]);
    let twice = Call {
        params: Parameters::new(r#"{"repo": "widgets", "note": {"a": 1, "a": 2}}"#),
        ..call()
    };
    assert_eq!(stage.does(Input::Call(twice))[1], "respond InvalidParams");
}

/// AQL-3.2-1: a parameter called like the operation does not pass for it.
#[test]
fn the_operation_is_apart_from_the_parameters() {
    let of = |name: &str, params: &str| {
        canonical_form(&operation(name), &Parameters::new(params), None).expect("canonical")
    };
    assert_ne!(
        of("a", r#"{"operation":"b"}"#),
        of("b", r#"{"operation":"a"}"#)
    );
    assert_ne!(of("a", "{}"), of("b", "{}"));
    assert_ne!(of("a", "{}"), of("A", "{}"));
    // Nor a name that looks like the frame.
    assert_ne!(of(r#"a","params":{},"x":""#, "{}"), of("a", "{}"));
}

/// What a property test finds is kept as a file, and tried first from then on.
fn kept() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/mcp_aql_binding.txt",
        ))),
        ..ProptestConfig::default()
    }
}

/// Any JSON value that canonical JSON can carry.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_992_i64..=9_007_199_254_740_992).prop_map(Value::from),
        (any::<i32>(), 0..9_i32)
            .prop_map(|(whole, scale)| json!(f64::from(whole) / 10_f64.powi(scale))),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    let members = prop::collection::btree_map(any::<String>(), json(), 0..6);
    members.prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// The same value with the keys of every object the other way round, white space, and every character escaped.
fn respelled(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members: Vec<_> = members
                .map(|(name, value)| format!("{} :\t{}", escaped(name), respelled(value)))
                .collect();
            format!("{{ {} }}", members.join("\n,"))
        }
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(respelled).collect();
            format!("[\r{} ]", elements.join(" , "))
        }
        Value::String(text) => escaped(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
    format!("\"{}\"", units.collect::<String>())
}

/// The pointers to a value and to everything in it.
fn places(value: &Value) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, inner)| (name.replace('~', "~0").replace('/', "~1"), inner))
            .collect(),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .map(|(index, inner)| (index.to_string(), inner))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    };
    let below = inner.into_iter().flat_map(|(step, inner)| {
        let places = places(inner).into_iter();
        places.map(move |place| format!("/{step}{place}"))
    });
    std::iter::once(String::new()).chain(below).collect()
}

/// A change that means something else, whatever it is made to.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// Another leaf, or a member or an element more.
    Contents,
    /// Another key.
    Key,
    /// One level deeper.
    Nested,
    /// The text of it.
    Quoted,
}

fn changes() -> impl Strategy<Value = Change> {
    use Change::{Contents, Key, Nested, Quoted};
    prop::sample::select(vec![Contents, Key, Nested, Quoted])
}

impl Change {
    fn of(self, value: &Value) -> Value {
        match (self, value) {
            (Self::Nested, _) => json!([value]),
            (Self::Quoted, _) => json!(format!("{value}")),
            (Self::Key, Value::Object(members)) if !members.is_empty() => {
                let renamed = members.iter().enumerate();
                let renamed = renamed.map(|(index, (name, value))| match index {
                    0 => (format!("{name}{name}."), value.clone()),
                    _other => (name.clone(), value.clone()),
                });
                Value::Object(renamed.collect())
            }
            (Self::Contents | Self::Key, _) => match value {
                Value::Null => json!(false),
                Value::Bool(flag) => json!(!flag),
                Value::Number(number) => json!(if number.as_f64() == Some(7.5) {
                    0.0
                } else {
                    7.5
                }),
                Value::String(text) => json!(format!("{text}.")),
                Value::Array(elements) => elements.iter().cloned().chain([json!(null)]).collect(),
                Value::Object(members) => {
                    let longest = members.keys().map(String::len).max().unwrap_or_default();
                    let more = ("+".repeat(longest + 1), json!(null));
                    Value::Object(members.clone().into_iter().chain([more]).collect())
                }
            },
        }
    }
}

proptest! {
    #![proptest_config(kept())]

    /// AQL-3.2-3: neither order nor white space nor escapes make a difference; and another writer agrees.
    #[test]
    fn spelling_makes_no_difference(value in object()) {
        let one = form(&value.to_string()).expect("canonical");
        prop_assert_eq!(form(&respelled(&value)), Ok(one.clone()));
        prop_assert_eq!(hash(&respelled(&value)), hash(&value.to_string()));
        prop_assert_eq!(form(&one), Ok(one.clone()));
        let theirs = serde_json_canonicalizer::to_string(&value).expect("JSON");
        prop_assert_eq!(one, theirs);
    }

    /// AQL-3.2-3, AQL-4.1-5: one leaf, key or level of nesting changed is another form and another hash; so is another
    /// operation with the same parameters (AQL-4.1-4).
    #[test]
    fn one_change_anywhere_makes_a_difference(value in object(), at in any::<prop::sample::Index>(), change in changes()) {
        let mut changed = value.clone();
        let places = places(&value);
        *changed.pointer_mut(&places[at.index(places.len())]).expect("a place") = {
            let place = value.pointer(&places[at.index(places.len())]).expect("a place");
            change.of(place)
        };
        prop_assert_ne!(form(&value.to_string()), form(&changed.to_string()));
        prop_assert_ne!(hash(&value.to_string()), hash(&changed.to_string()));
        let params = Parameters::new(value.to_string());
        let other = ParametersHash::of_call(&operation("p"), &params, None);
        prop_assert_ne!(other.expect("canonical"), hash(&value.to_string()));
    }

    /// AQL-3.2-3: a number means what its double means, however it is spelled.
    #[test]
    fn the_spelling_of_a_number_makes_no_difference(whole in -9_007_199_254_740_992_i64..=9_007_199_254_740_992, zeros in 0..5_usize) {
        let object = |number: &str| format!(r#"{{"n":[{number}]}}"#);
        let plain = hash(&object(&whole.to_string()));
        let zeros_after = "0".repeat(zeros);
        for spelling in [
            format!("{whole}.0{zeros_after}"),
            format!("{whole}e0"),
            format!("{whole}E+0{zeros_after}"),
            format!("{whole}{zeros_after}e-{zeros}"),
        ] {
            prop_assert_eq!(hash(&object(&spelling)), plain, "{}", spelling);
        }
    }

    /// AQL-3.2-3, AQL-4.1-5: a whole number in full is bound to the digit, also where one double stands for it and the next.
    #[test]
    fn whole_numbers_are_bound_to_the_digit(number in any::<u128>(), negative in any::<bool>()) {
        let sign = if negative { "-" } else { "" };
        let of = |number: u128| hash(&format!(r#"{{"a":[{{"b":{sign}{number}}}]}}"#));
        let next = number.wrapping_add(1);
        prop_assert_eq!(of(number), of(number));
        prop_assert_ne!(of(number), of(next));
    }

    /// AQL-3.2-3: beyond 2^53 a whole number with an exponent that is no double is refused, and so is what no double carries at
    /// all.
    #[test]
    fn numbers_that_no_double_carries_are_refused(beyond in 1..u64::MAX - (1 << 53), exponent in 309..99_999_u32, negative in any::<bool>()) {
        let sign = if negative { "-" } else { "" };
        for number in [
            format!("{sign}{}e0", ((1_u64 << 53) + beyond) | 1),
            format!("{sign}1e{exponent}"),
            format!("{sign}1e-{}", exponent + 30),
        ] {
            let problem = form(&format!(r#"{{"a":[{{"b":{number}}}]}}"#));
            prop_assert_eq!(problem, Err(NotCanonical::NumberOutOfRange), "{}", number);
        }
    }

    /// AQL-3.2-3: a key twice is refused wherever it is, and however it is spelled the second time.
    #[test]
    fn a_key_twice_is_refused_at_any_depth(value in object(), key in any::<String>(), depth in 0..20_usize) {
        let json = |text: &str| serde_json::to_string(text).expect("JSON");
        let (before, after) = (r#"{"x":["#.repeat(depth), "]}".repeat(depth));
        for second in [json(&key), escaped(&key)] {
            let twice = format!("{before}{{{}:{value},{second}:1}}{after}", json(&key));
            let problem = form(&twice);
            let is_refused = matches!(problem, Err(NotCanonical::NotJson(NotJson::DuplicateKey { .. })));
            prop_assert!(is_refused, "{} {:?}", twice, problem);
        }
    }

    /// AQL-3.2-3: half a surrogate pair is no character, in a key as in a value.
    #[test]
    fn half_a_surrogate_pair_is_refused(unit in 0xd800..=0xdfff_u16, before in "[a-z]{0,3}", after in "[a-z]{0,3}") {
        let half = format!("\"{before}\\u{unit:04x}{after}\"");
        for params in [format!("{{{half}:1}}"), format!(r#"{{"a":{half}}}"#), format!(r#"{{"a":[[{half}]]}}"#)] {
            let problem = form(&params);
            prop_assert!(matches!(problem, Err(NotCanonical::NotJson(NotJson::Unexpected { .. }))), "{}", params);
        }
    }

    /// AQL-3.2-3: different values have different forms.
    #[test]
    fn meaning_makes_a_difference(one in object(), other in object()) {
        let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        let (first, second) = (form(&one.to_string()), form(&other.to_string()));
        let (first, second) = (first.expect("canonical"), second.expect("canonical"));
        prop_assert_eq!(first == second, read(&first) == read(&second));
    }

    /// AQL-3.2-3: whatever the bytes.
    #[test]
    fn no_bytes_do_harm(bytes in any::<Vec<u8>>()) {
        let _ = canonical_form(&operation("o"), &Parameters::new(bytes), None);
    }
}
