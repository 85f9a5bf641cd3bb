//! The schema that is printed and the reference's own parser, held against each other.
//!
//! The one thing to know: two readers of the same bytes are asked. One is the parser of the reference. The other is a
//! JSON reader that knows nothing of us and a JSON Schema validator with formats asserted, as an implementer would put
//! them together. They agree on all that is generated here; where they are known to differ, a test names the place.

use std::path::Path;

use assert_cmd::Command;
use countersign_cli::answer::{Format, Status};
use countersign_cli::commands::schema::{self, Args, SCHEMAS};
use countersign_reference::aaep::ConfirmationReply;
use jsonschema::{Draft, Validator};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

fn confirmation_reply() -> Value {
    let schema = schema::find("confirmation.reply").unwrap();
    serde_json::from_str(&(schema.text)()).unwrap()
}

fn validator() -> Validator {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .build(&confirmation_reply())
        .unwrap()
}

/// What a plain JSON reader and the schema say.
fn schema_takes(validator: &Validator, message: &[u8]) -> bool {
    serde_json::from_slice(message).is_ok_and(|message: Value| validator.is_valid(&message))
}

fn reference_takes(message: &[u8]) -> bool {
    ConfirmationReply::parse(message).is_ok()
}

fn reply() -> Value {
    json!({
        "type": "confirmation.reply",
        "reply_token": "rpl_1",
        "decision": "accept",
        "subscription_id": "sub_1",
        "timestamp": "2026-05-24T14:22:24.812Z",
    })
}

fn with(field: &str, value: impl Into<Value>) -> String {
    let mut reply = reply();
    reply[field] = value.into();
    reply.to_string()
}

fn without(field: &str) -> String {
    let mut reply = reply();
    reply.as_object_mut().unwrap().remove(field);
    reply.to_string()
}

fn times(text: &str, count: usize) -> String {
    text.repeat(count)
}

/// Both readers say `expected` of every message.
#[track_caller]
fn both(expected: bool, messages: impl IntoIterator<Item = String>) {
    let validator = validator();
    for message in messages {
        let shown: String = message.chars().take(200).collect();
        let bytes = message.as_bytes();
        assert_eq!(
            schema_takes(&validator, bytes),
            expected,
            "the schema on {shown}"
        );
        assert_eq!(reference_takes(bytes), expected, "the reference on {shown}");
    }
}

#[test]
fn every_schema_is_a_schema() {
    for schema in SCHEMAS {
        let document: Value = serde_json::from_str(&(schema.text)()).unwrap();
        assert!(jsonschema::meta::is_valid(&document), "{}", schema.name);
    }
}

#[test]
fn the_schema_of_the_reply_takes_its_own_examples() {
    let document = confirmation_reply();
    let examples = document["examples"].as_array().unwrap();
    assert!(!examples.is_empty());
    both(true, examples.iter().map(Value::to_string));
}

/// AAEP-6-2, AAEP-REPLY-1: an object with five properties; AAEP-REPLY-11: and no others but four.
#[test]
fn the_five_required_properties_are_required_and_no_foreign_one_is_allowed() {
    let names = [
        "type",
        "reply_token",
        "decision",
        "subscription_id",
        "timestamp",
    ];
    both(true, [reply().to_string()]);
    both(false, names.map(without));
    both(
        false,
        ["session_id", "extensions", "Decision", "type ", ""].map(|name| with(name, "x")),
    );
    both(
        false,
        ["[]", "\"confirmation.reply\"", "null", "0", "true", "{}"].map(str::to_owned),
    );
    both(
        false,
        [
            "",
            " ",
            "{",
            "{} {}",
            "\u{feff}{}",
            "{'type':1}",
            "{\"type\":}",
        ]
        .map(str::to_owned),
    );
    both(true, [format!(" \t\r\n{} \n", reply())]);
    both(false, [format!("{},", reply()), format!("{}\0", reply())]);
}

/// AAEP-REPLY-2, AAEP-REPLY-3, AAEP-REPLY-4, AAEP-REPLY-5, AAEP-REPLY-6, AAEP-REPLY-7, AAEP-REPLY-8, AAEP-REPLY-9,
/// AAEP-REPLY-10: each property has its type, and null is none.
#[test]
fn a_value_of_another_type_is_refused_in_every_property() {
    let texts = [
        "type",
        "reply_token",
        "decision",
        "subscription_id",
        "timestamp",
        "decided_by",
        "decision_rationale",
        "correlation_id",
    ];
    let others = [
        json!(null),
        json!(true),
        json!(1),
        json!(["a"]),
        json!({"a": 1}),
    ];
    for field in texts {
        both(false, others.clone().map(|value| with(field, value)));
    }
    let no_objects = [
        json!(null),
        json!(true),
        json!(1),
        json!(["a"]),
        json!("{}"),
    ];
    both(
        false,
        no_objects.map(|value| with("modified_action", value)),
    );
    both(
        true,
        [json!({}), json!({"a": {"a": []}})].map(|value| with("modified_action", value)),
    );
    both(
        true,
        ["", "x", "\u{0}\u{10ffff}"].map(|text| with("correlation_id", text)),
    );
}

/// AAEP-REPLY-2: the type is a constant; AAEP-REPLY-4: the decision is one of two words.
#[test]
fn the_type_and_the_decision_are_words_to_the_letter() {
    both(
        false,
        [
            "clarification.reply",
            "Confirmation.reply",
            "confirmation.reply ",
            "",
        ]
        .map(|text| with("type", text)),
    );
    both(
        true,
        ["accept", "reject"].map(|text| with("decision", text)),
    );
    both(
        false,
        ["Accept", "accept ", "accept\n", "defer", ""].map(|text| with("decision", text)),
    );
}

/// AAEP-REPLY-3 and AAEP-REPLY-5: a prefix, then 1 to 64 ASCII letters or digits, and the text ends there.
#[test]
fn identifiers_fit_their_patterns_and_nothing_comes_after() {
    for (field, prefix) in [("reply_token", "rpl_"), ("subscription_id", "sub_")] {
        let suffixed = |suffix: &str| with(field, format!("{prefix}{suffix}"));
        both(true, ["a", "Z", "09azAZ"].map(suffixed));
        both(true, [1, 63, 64].map(|count| suffixed(&times("a", count))));
        both(false, [0, 65].map(|count| suffixed(&times("a", count))));
        both(
            false,
            [
                "a\n", "a\r", "a b", "a_b", "a-b", "é", "٣", "a\u{0}", "\u{ff21}",
            ]
            .map(suffixed),
        );
        both(
            false,
            ["1", "RPL_1", "SUB_1", " rpl_1", "\nsub_1", ""].map(|text| with(field, text)),
        );
    }
    both(
        false,
        [
            with("reply_token", "sub_1"),
            with("subscription_id", "rpl_1"),
        ],
    );
}

/// AAEP-REPLY-7 and AAEP-REPLY-8: lengths are counted in characters, whatever they weigh in bytes.
#[test]
fn lengths_are_counted_in_characters() {
    for (field, longest) in [("decided_by", 256), ("decision_rationale", 4096)] {
        for character in ["a", "\n", "é", "\u{301}", "€", "🦀"] {
            let of_length = |count| with(field, times(character, count));
            both(false, [of_length(0)]);
            both(true, [1, 2, longest - 1, longest].map(of_length));
            both(false, [of_length(longest + 1)]);
        }
    }
    // An escape is one character, and a surrogate pair of escapes is one, too.
    let escaped = |count| with("decided_by", "@").replace('@', &times(r"\ud83e\udd80", count));
    both(true, [escaped(256)]);
    both(false, [escaped(257)]);
}

/// AAEP-REPLY-6 and AAEP-6.3.1-5: a timestamp is RFC 3339, really.
#[test]
fn timestamps_are_rfc_3339() {
    let taken = [
        "2026-05-24T14:22:24Z",
        "2026-05-24t14:22:24z",
        "2026-05-24T14:22:24.8Z",
        "2026-05-24T14:22:24.812345678901234567890Z",
        "2026-05-24T14:22:24+00:00",
        "2026-05-24T14:22:24-00:00",
        "2026-05-24T14:22:24+23:59",
        "2026-05-24T14:22:24-23:59",
        "0000-01-01T00:00:00Z",
        "0000-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59.999Z",
        "9999-12-31T23:59:59-23:59",
        "2024-02-29T00:00:00Z",
        "2000-02-29T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2016-12-31T23:59:60.5Z",
        "2017-01-01T01:59:60+02:00",
        "2016-12-31T15:59:60-08:00",
    ];
    both(true, taken.map(|text| with("timestamp", text)));
    let refused = [
        "",
        "now",
        "2026-05-24",
        "14:22:24Z",
        "2026-05-24T14:22:24",
        "2026-05-24 14:22:24Z",
        "2026-05-24T14:22Z",
        "2026-05-24T14:22:24.Z",
        "2026-05-24T14:22:24,8Z",
        "2026-05-24T14:22:24 Z",
        "2026-05-24T14:22:24Z\n",
        " 2026-05-24T14:22:24Z",
        "2026-05-24T14:22:24+0000",
        "2026-05-24T14:22:24+00",
        "2026-05-24T14:22:24+24:00",
        "2026-05-24T14:22:24+00:60",
        "2026-05-24T14:22:24\u{2212}01:00",
        "2026-05-24T14:22:24Zulu",
        "2026-05-24T24:00:00Z",
        "2026-05-24T14:60:00Z",
        "2026-05-24T14:22:61Z",
        "2016-12-31T23:58:60Z",
        "2016-12-31T23:59:60+01:00",
        "2026-00-24T14:22:24Z",
        "2026-13-24T14:22:24Z",
        "2026-05-00T14:22:24Z",
        "2026-05-32T14:22:24Z",
        "2026-04-31T14:22:24Z",
        "2026-02-29T14:22:24Z",
        "1900-02-29T14:22:24Z",
        "2026-5-24T14:22:24Z",
        "+2026-05-24T14:22:24Z",
        "12026-05-24T14:22:24Z",
        "２０２６-05-24T14:22:24Z",
        "2026-W21-7T14:22:24Z",
        "1779632544",
    ];
    both(false, refused.map(|text| with("timestamp", text)));
}

/// Where the two are known to differ: what the schema says, what the reference says. A difference that goes away fails
/// this test as a new one does.
#[test]
fn the_known_differences_are_these() {
    let nested = |depth: usize| {
        with("modified_action", "@").replace(
            "\"@\"",
            &[
                times("{\"a\":", depth - 2),
                "{}".into(),
                times("}", depth - 2),
            ]
            .concat(),
        )
    };
    let long = |bytes: usize| {
        with(
            "correlation_id",
            times("a", bytes - with("correlation_id", "").len()),
        )
    };
    let differences = [
        // Plain readers take the last of two equal keys. What such a message means depends on the reader, so it is
        // malformed (AAEP-6.3.4-1).
        (
            reply()
                .to_string()
                .replacen('{', "{\"decision\":\"reject\",", 1),
            true,
            false,
        ),
        (
            with("modified_action", "@").replace("\"@\"", r#"{"a":1,"\u0061":1}"#),
            true,
            false,
        ),
        // The validator takes a leap second at the end of any day, the reference at the end of a month only: leap
        // seconds have never been anywhere else, and cannot be (AAEP-REPLY-6).
        (with("timestamp", "2016-12-30T23:59:60Z"), true, false),
        (with("timestamp", "2016-12-31T23:59:60Z"), true, true),
        // A fault of the validator: see `validator_misreads_digits`.
        (with("timestamp", "-026-05-24T14:22:24Z"), true, false),
        // JSON bounds neither depth nor length, and the reference does not either; the plain reader bounds depth.
        (nested(127), true, true),
        (nested(128), false, true),
        (nested(100_000), false, true),
        (long(1 << 20), true, true),
        // Half a surrogate pair is well-formed (RFC 8259), and the plain reader cannot hold it.
        (with("decided_by", "@").replace('@', r"\ud83d"), false, true),
        // JSON does not bound numbers either, and there it is the plain reader that does.
        (
            with("modified_action", "@").replace("\"@\"", r#"{"a":1e999}"#),
            false,
            true,
        ),
    ];
    let validator = validator();
    for (message, schema, reference) in differences {
        let shown: String = message.chars().take(200).collect();
        assert_eq!(
            schema_takes(&validator, message.as_bytes()),
            schema,
            "the schema on {shown}"
        );
        assert_eq!(
            reference_takes(message.as_bytes()),
            reference,
            "the reference on {shown}"
        );
    }
}

/// AAEP-REPLY-6: in this draft a format is an annotation unless it is asserted, so a validator left as it is would let
/// any text pass for a time.
#[test]
fn a_validator_that_does_not_assert_formats_takes_any_timestamp() {
    let lenient = jsonschema::draft202012::new(&confirmation_reply()).unwrap();
    let message = with("timestamp", "yesterday");
    assert!(schema_takes(&lenient, message.as_bytes()));
    assert!(!schema_takes(&validator(), message.as_bytes()));
    assert!(!reference_takes(message.as_bytes()));
}

/// A value for a property that is nearly what it should be, or something else altogether.
fn near_value() -> impl Strategy<Value = Value> {
    let identifier = (
        prop::sample::select(vec!["rpl_", "sub_", "rpl", "Rpl_", ""]),
        "[A-Za-z0-9]{0,3}",
        prop::sample::select(vec![0_usize, 1, 60, 61, 62, 63, 64, 65]),
        prop::sample::select(vec!["", "", "", "\n", "_", "é", "٣", " "]),
    );
    let text = (
        prop::sample::select(vec!["a", "é", "🦀", "\u{301}", "\"", "\n"]),
        prop::sample::select(vec![0_usize, 1, 2, 255, 256, 257, 4095, 4096, 4097]),
    );
    prop_oneof![
        identifier.prop_map(|(prefix, start, count, end)| {
            json!(format!("{prefix}{start}{}{end}", times("x", count)))
        }),
        text.prop_map(|(character, count)| json!(times(character, count))),
        near_timestamp().prop_map(Value::from),
        prop::sample::select(vec![
            json!(null),
            json!(false),
            json!(-0.5),
            json!([]),
            json!({}),
            json!({"a": [{"b": null}]}),
            json!("accept"),
            json!("reject"),
            json!("Accept"),
            json!("confirmation.reply"),
        ]),
    ]
}

/// A text that is nearly RFC 3339. The second 60 is left to the tests above: it is a known difference.
fn near_timestamp() -> impl Strategy<Value = String> {
    let date = (
        prop::sample::select(vec![
            "0000", "1900", "2000", "2024", "2026", "9999", "99999",
        ]),
        0..14_u8,
        prop::sample::select(vec![0_u8, 1, 28, 29, 30, 31, 32]),
        prop::sample::select(vec!["T", "T", "t", " ", ""]),
    );
    let time = (
        prop::sample::select(vec![0_u8, 23, 24]),
        prop::sample::select(vec![0_u8, 59, 60]),
        prop::sample::select(vec![0_u8, 59, 61]),
        prop::sample::select(vec!["", "", ".", ".1", ".000", ".123456789"]),
        prop::sample::select(vec![
            "Z", "z", "+00:00", "-23:59", "+24:00", "+0000", "", "Z\n",
        ]),
    );
    (date, time).prop_map(|((year, month, day, separator), (hour, minute, second, fraction, offset))| {
        format!("{year}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}{fraction}{offset}")
    })
}

/// A property's name: mostly one of the schema's.
fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "type",
        "reply_token",
        "decision",
        "subscription_id",
        "timestamp",
        "decided_by",
        "decision_rationale",
        "modified_action",
        "correlation_id",
    ]);
    prop_oneof![
        20 => known.prop_map(str::to_owned),
        1 => prop::sample::select(vec!["Type", "session_id", "", "decided_by "]).prop_map(str::to_owned),
    ]
}

/// A reply of which up to three properties were changed or taken away.
fn reply_with_changed_properties() -> impl Strategy<Value = Vec<u8>> {
    let change = (name(), prop::option::weighted(0.9, near_value()));
    prop::collection::vec(change, 0..4).prop_map(|changes| {
        let mut reply = reply();
        for (name, value) in changes {
            match value {
                Some(value) => reply[name] = value,
                None => {
                    reply.as_object_mut().unwrap().remove(&name);
                }
            }
        }
        reply.to_string().into_bytes()
    })
}

/// A reply with all kinds of JSON in it, in which one byte was replaced, added or taken away.
fn reply_with_one_byte_changed() -> impl Strategy<Value = Vec<u8>> {
    let mut reply = reply();
    reply["modified_action"] = json!({"amount": [-300.5, null, true, "\u{e9}\t"]});
    reply["decided_by"] = json!("user:ada");
    let whole = reply.to_string().into_bytes();
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(b"\"\\{}[]:, \n0".to_vec())
    ];
    let change = (
        any::<prop::sample::Index>(),
        0..=1_usize,
        prop::option::of(byte),
    );
    change.prop_map(move |(at, removed, added)| {
        let mut message = whole.clone();
        let at = at.index(message.len());
        message.splice(at..at + removed, added);
        message
    })
}

/// Has both readers judge many messages. A difference is reported with the smallest message that shows it, to be put
/// into one of the tables above.
fn agree_on(messages: impl Strategy<Value = Vec<u8>>) {
    let config = ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let validator = validator();
    let result = TestRunner::new(config).run(&messages, |message| {
        prop_assume!(!validator_misreads_digits(&message));
        let shown = String::from_utf8_lossy(&message);
        let reference = reference_takes(&message);
        prop_assert_eq!(schema_takes(&validator, &message), reference, "{}", shown);
        Ok(())
    });
    result.unwrap_or_else(|difference| panic!("{difference}"));
    // Agreement on good messages alone, or on bad ones alone, would say little. Of this seed there are many of both.
    let mut fixed = TestRunner::deterministic();
    let drawn = (0..400).map(|_| messages.new_tree(&mut fixed).expect("a message").current());
    let (taken, refused): (Vec<_>, Vec<_>) = drawn.partition(|it| reference_takes(it));
    let [taken, refused] = [taken, refused].map(|it| it.len());
    assert!(
        taken >= 40 && refused >= 40,
        "{taken} taken, {refused} refused"
    );
}

/// AAEP-6.3.4-1: the schema is what check 1 goes by.
#[test]
fn schema_and_reference_agree_on_replies_with_changed_properties() {
    agree_on(reply_with_changed_properties());
}

/// AAEP-6.3.4-1: nor does the damage of a single byte tell the two apart.
#[test]
fn schema_and_reference_agree_on_replies_with_one_byte_changed() {
    agree_on(reply_with_one_byte_changed());
}

/// Whether a digit of the date or of the time of day is one of the six characters before `0`, which the validator
/// takes for digits, too.
fn validator_misreads_digits(message: &[u8]) -> bool {
    let message: Value = serde_json::from_slice(message).unwrap_or_default();
    let timestamp = message["timestamp"].as_str().unwrap_or_default().as_bytes();
    let digits = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18];
    let mut digits = digits.iter().filter_map(|place| timestamp.get(*place));
    digits.any(|digit| (b'*'..=b'/').contains(digit))
}

fn run(name: Option<&str>, format: Format) -> miette::Result<countersign_cli::answer::Answer> {
    let name = name.map(str::to_owned);
    schema::run(&Args { name }, format)
}

#[test]
fn the_schema_is_printed_in_every_format_as_it_stands() {
    for format in [Format::Text, Format::Json] {
        let answer = run(Some("confirmation.reply"), format).unwrap();
        assert_eq!(answer.status, Status::Holds);
        assert_eq!(
            serde_json::from_str::<Value>(&answer.text).unwrap(),
            confirmation_reply()
        );
        assert!(answer.text.ends_with("}\n"));
    }
}

#[test]
fn without_a_name_the_names_are_listed() {
    assert_eq!(
        run(None, Format::Text).unwrap().text,
        "ablate\ncheck\ncheck.can\nclauses\nclauses.against\ncompare\nconfirmation.reply\ndiff\ndiff.baseline\ndiff.matrix\ndriver\nfindings\nfindings.editorial\nfindings.refuted\nlint\nreadings\nreplay\nreport\nsmoke\nstream\nvectors\nvectors.printed\nverify\nworth\n"
    );
    assert_eq!(
        run(None, Format::Json).unwrap().text,
        "[\n  \"ablate\",\n  \"check\",\n  \"check.can\",\n  \"clauses\",\n  \"clauses.against\",\n  \"compare\",\n  \"confirmation.reply\",\n  \"diff\",\n  \"diff.baseline\",\n  \"diff.matrix\",\n  \"driver\",\n  \"findings\",\n  \"findings.editorial\",\n  \"findings.refuted\",\n  \"lint\",\n  \"readings\",\n  \"replay\",\n  \"report\",\n  \"smoke\",\n  \"stream\",\n  \"vectors\",\n  \"vectors.printed\",\n  \"verify\",\n  \"worth\"\n]\n"
    );
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
    let error = run(Some("confirmation.replies"), Format::Text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown schema `confirmation.replies`: expected one of ablate, check, check.can, clauses, clauses.against, compare, confirmation.reply, diff, diff.baseline, diff.matrix, driver, findings, findings.editorial, findings.refuted, lint, readings, replay, report, smoke, stream, vectors, vectors.printed, verify, worth"
    );
}

/// Every line of the traces that is a record is one by its schema, and the line that has no type is none.
#[test]
fn the_schema_of_a_stream_takes_what_the_judge_takes() {
    let schema: Value =
        serde_json::from_str(&run(Some("stream"), Format::Json).unwrap().text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/valid");
    let mut records = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines() {
            assert!(
                validator.is_valid(&serde_json::from_str(line).unwrap()),
                "{line}"
            );
            records += 1;
        }
    }
    assert!(records > 500, "{records}");
    for wrong in [
        r#"{"session_id":"sess_1"}"#,
        "[]",
        r#"{"message":{}}"#,
        r#"{"dir":"up","message":{}}"#,
        r#"{"dir":"out","message":1}"#,
        r#"{"type":1}"#,
    ] {
        assert!(
            !validator.is_valid(&serde_json::from_str(wrong).unwrap()),
            "{wrong}"
        );
    }
}

/// What the schema takes for a record is none that breaks the format (AAEP-EV-1), and the other way round, on either side of each bound.
#[test]
fn the_schema_of_a_stream_and_the_judge_agree_on_every_bound() {
    let schema: Value =
        serde_json::from_str(&run(Some("stream"), Format::Json).unwrap().text).unwrap();
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(&schema).unwrap();
    let message = json!({"type": "a:b", "session_id": "sess_1"});
    let with = |name: &str, value: &Value| {
        let mut record = json!({"dir": "in", "message": message});
        record[name] = value.clone();
        record
    };
    let mut records: Vec<(Value, bool)> = Vec::new();
    for (name, good, bad) in [
        (
            "http_status",
            json!([0, 100, 200.0, 599, 999, null]),
            json!([-1, 1, 99, 1000, 200.5, "200"]),
        ),
        (
            "sender",
            json!(["known", "stranger", "untold", null]),
            json!(["strangr", "", 1]),
        ),
        (
            "at",
            json!(["2026-05-24T14:22:20.1Z", "2026-05-24T14:22:20+02:00", null]),
            json!(["yesterday", "2026-05-24", 5]),
        ),
        ("dir", json!(["in", "out"]), json!([null, "up", 1])),
        (
            "message",
            json!([{}, null, 5, "a", {"_raw": "a"}]),
            json!([]),
        ),
        ("http_body", json!([null, {}, "a"]), json!([])),
    ] {
        let good = good.as_array().unwrap().iter().map(|it| (it, true));
        let bad = bad.as_array().unwrap().iter().map(|it| (it, false));
        records.extend(
            good.chain(bad)
                .map(|(value, fits)| (with(name, value), fits)),
        );
    }
    for member in ["replies", "order"] {
        for value in [json!("some"), json!(null), json!(true)] {
            let head = json!({"type": "countersign.recording", member: value});
            records.push((head, false));
        }
    }
    records.extend([
        (
            json!({"type": "countersign.recording", "replies": "all", "order": "receipt"}),
            true,
        ),
        (json!({"type": "countersign.recording"}), true),
        (json!({"_raw": "a"}), true),
        (json!({"_raw": 5}), true),
        (json!({"_raw": "a", "type": 5}), true),
        (json!({"_raw": "a", "message": {}}), false),
        (json!({"dir": "out", "message": 5}), false),
        (json!({"message": message}), false),
        (json!({"type": 5}), false),
        (json!({"type": null}), false),
        (json!({}), false),
        (json!([]), false),
        (json!(5), false),
    ]);
    for (record, fits) in records {
        let text = record.to_string();
        let report = countersign_lint::lint(text.as_bytes(), "a").unwrap();
        let is_taken = report.violations.iter().all(|it| it.clause != "AAEP-EV-1");
        assert_eq!(
            (validator.is_valid(&record), is_taken),
            (fits, fits),
            "{text}"
        );
    }
}

/// What a command prints, as JSON.
fn printed(arguments: &[&str]) -> Value {
    printed_by(&[arguments, &["--format", "json"]].concat())
}

/// The same of one that is told so.
fn printed_by(arguments: &[&str]) -> Value {
    let mut command = Command::cargo_bin("countersign").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let command = command.args(arguments);
    let output = command.current_dir(root).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// What is printed has the form that its schema says; the schema wants every member that it requires, and refuses those that it does not
/// name, so that none is printed which it does not tell of.
fn is_as_its_schema_says(name: &str, document: &Value) {
    let schema: Value = serde_json::from_str(&run(Some(name), Format::Text).unwrap().text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .take(3)
        .map(|it| format!("{}: {:.300}", it.instance_path(), it.to_string()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
    let of_one = document.as_array().map_or(document, |all| &all[0]);
    let like = |one: Value| {
        if document.is_array() {
            json!([one])
        } else {
            one
        }
    };
    let mut more = of_one.clone();
    more["of_no_schema"] = json!(1);
    // Of what is said of recordings more is printed than its schema names.
    assert!(
        name == "lint" || !validator.is_valid(&like(more)),
        "{name} takes what it does not name"
    );
    for pointer in [
        "/required",
        "/items/required",
        "/$defs/Clause/required",
        "/$defs/Finding/required",
        "/$defs/Editorial/required",
    ] {
        let required = schema.pointer(pointer).and_then(Value::as_array);
        for member in required.into_iter().flatten().filter_map(Value::as_str) {
            let mut less = of_one.clone();
            let has = less.as_object_mut().unwrap().remove(member).is_some();
            assert!(
                !has || !validator.is_valid(&like(less)),
                "{name} without {member}"
            );
        }
    }
}

#[test]
fn lists_are_as_their_schemas_say() {
    let rejected = "traces/invalid/AAEP-6.1-3_rejected-and-nothing-more.jsonl";
    for (name, arguments) in [
        ("clauses", &["clauses"][..]),
        ("clauses", &["clauses", "--gaps"]),
        ("clauses", &["clauses", "PA-5", "--source", "clauses"]),
        ("findings", &["findings"]),
        ("findings.editorial", &["findings", "--editorial"]),
        ("findings.refuted", &["findings", "--refuted"]),
        ("lint", &["lint", "traces/invalid", "traces/valid"]),
        ("lint", &["lint", rejected]),
    ] {
        is_as_its_schema_says(name, &printed(arguments));
    }
}

#[test]
#[ignore = "night: searches for minutes"]
fn what_a_search_prints_is_as_its_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("changed.toml");
    let spec = Command::cargo_bin("countersign")
        .unwrap()
        .args(["spec", "mcp-aql"])
        .output()
        .unwrap();
    let spec = String::from_utf8(spec.stdout).unwrap();
    std::fs::write(&file, spec.replace("\nlongest = 300", "\nlongest = 360")).unwrap();
    let numbers = format!("spec:{}", file.to_str().unwrap());
    let small = ["pending-action", "--bounds", "small,actions=1"];
    let of_small = |command: &[&str], more: &[&str]| printed(&[command, &small, more].concat());
    let [one, other] = ["reading:expiry-boundary=after", "without:PA-8"];
    for (name, document) in [
        ("ablate", of_small(&["ablate"], &[])),
        ("check", of_small(&["check"], &[])),
        ("check", of_small(&["check"], &["--without", "PA-7"])),
        ("check.can", of_small(&["check"], &["--can", "run action"])),
        (
            "check.can",
            of_small(&["check"], &["--can", "nothing like it"]),
        ),
        (
            "compare",
            printed(&["compare", "pending-action", "--a", one, "--b", other]),
        ),
        ("compare", printed(&["compare", "mcp-aql", "--b", &numbers])),
        ("readings", printed(&["readings", "pending-action"])),
        (
            "readings",
            printed(&["readings", "pending-action", "expiry-boundary"]),
        ),
        ("verify", of_small(&["verify", "--protocol"], &[])),
        ("worth", of_small(&["worth"], &[])),
    ] {
        is_as_its_schema_says(name, &document);
    }
}

#[test]
fn what_is_said_of_vectors_is_as_its_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    let this = assert_cmd::cargo::cargo_bin("countersign");
    let this = this.to_str().unwrap();
    for (name, more) in [
        ("text", &[][..]),
        ("other", &["--reading", "expiry-boundary=after"]),
    ] {
        let out = folder.path().join(name);
        let out = out.to_str().unwrap();
        let write = ["vectors", "pending-action", "--out", out];
        is_as_its_schema_says("vectors.printed", &printed(&[&write, more].concat()));
        let play = ["replay", out, "--format", "json"];
        let party = ["--", this, "serve", "pending-action", "--stdio"];
        is_as_its_schema_says("replay", &printed_by(&[play.as_slice(), &party].concat()));
    }
}
