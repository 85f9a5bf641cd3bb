//! Tests of [`super`], against the other parser of this crate.

use super::*;
use proptest::prelude::*;

/// The same value as the other parser of this crate makes of it.
fn owned(value: Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => value.into(),
        Value::Number(number) => number.clone().into(),
        Value::String(text) => text.into(),
        Value::Array(items) => items.iter().map(owned).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(key, value)| (key.to_owned(), owned(value)))
                .collect()
        }
    }
}

fn assert_read_alike(text: &str) {
    let mut room = Room::default();
    match (parse(text, &mut room), crate::json::parse(text)) {
        (Ok(one), Ok(other)) => assert_eq!(owned(one.value()), other, "{text:.60}"),
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        (one, other) => panic!("{text:.60}: {one:?}, {other:?}"),
    }
}

#[test]
fn it_reads_and_refuses_what_the_other_parser_reads_and_refuses() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for text in [
        r#"{"a":[1,-2,0.5,null,true,"x\n\u00e9"],"b":{"c":18446744073709551615},"\u0064":1e3}"#,
        r#"{"a":{"b":1,"b":1}}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"{"a":1e999}"#,
        r#"{"a":123456789012345678901234567890}"#,
        r#"{"a":"\ud800"}"#,
        "{\"a\":\"\0\"}",
        "{} {}",
        "",
        "[1,]",
        &deep(127),
        &deep(128),
        &deep(129),
        &"[".repeat(100_000),
        &"{\"a\":".repeat(100_000),
    ] {
        assert_read_alike(text);
    }
}

proptest! {
    /// What is put together at random is mostly no JSON, and close to it.
    #[test]
    fn it_reads_alike_whatever_is_put_together(parts in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\"", "\"\\n\"", "\"\\\"", "\"é\\u00e9\"", "\"", "\\", "0", "-0",
        "12", "-7", "01", "1.5", "1e", "e3", "999999999999999999", "18446744073709551616", "true", "false", "null", "nul", " ",
        "\t", "\r", "\u{1}", "é", "{\"a\":", "[1,", ",\"b\":",
    ]), 0..12)) {
        assert_read_alike(&parts.concat());
    }
}

#[test]
fn only_strings_with_escapes_are_copied() {
    let mut room = Room::default();
    let tree = parse(r#"{"plain":"text","escaped":"\n","\t":"é"}"#, &mut room).unwrap();
    assert_eq!(tree.room.spelt_out, "\n\t");
    let members: Vec<_> = tree.value().as_object().unwrap().iter().collect();
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| (name, value.as_str()))
        .collect();
    assert_eq!(
        members,
        [
            ("plain", Some("text")),
            ("escaped", Some("\n")),
            ("\t", Some("é"))
        ]
    );
}

#[test]
fn a_duplicate_is_found_among_few_members_and_among_many() {
    for others in [0, 30, 31, 32, 100_000] {
        let members = |last: &str| {
            let middle: Vec<String> = (0..others).map(|it| format!("\"{it}\":1,")).collect();
            let middle = middle.concat();
            format!("{{\"a\":1,{middle}\"{last}\":1}}")
        };
        let mut room = Room::default();
        assert!(parse(&members("b"), &mut room).is_ok());
        let error = parse(&members("a"), &mut room).unwrap_err().to_string();
        assert!(error.contains("\"a\" appears twice"), "{error}");
    }
}

#[test]
fn a_member_is_found_behind_others_and_what_is_in_them() {
    let mut room = Room::default();
    let tree = parse(r#"{"a":{"c":1,"d":[2]},"b":[{"c":3}],"c":4}"#, &mut room).unwrap();
    let found = |name: &str| tree.value().get(name).map(owned);
    assert_eq!(found("c"), Some(4.into()));
    assert_eq!(found("d"), None);
    let nested = tree.value().get("a").and_then(|it| it.get("d"));
    assert_eq!(nested.map(owned), Some(serde_json::json!([2])));
    assert_eq!(tree.value().as_object().map(Object::len), Some(3));
}

#[test]
fn an_index_finds_the_members_that_there_are() {
    let names: Vec<String> = (0..300).map(|number| format!("{number}a")).collect();
    let members: Vec<String> = names
        .iter()
        .map(|name| format!("\"{name}\":[{name:?}]"))
        .collect();
    let text = format!("{{{}}}", members.join(","));
    let mut room = Room::default();
    let tree = parse(&text, &mut room).unwrap();
    let object = tree.value().as_object().unwrap();
    let index = Index::new(object);
    for name in names
        .iter()
        .map(String::as_str)
        .chain(["", "a", "300a", "0b"])
    {
        assert_eq!(
            index.get(name).map(owned),
            object.get(name).map(owned),
            "{name}"
        );
    }
}

/// Else the memory would be there twice each time that it grows, which is hundreds of megabytes for the longest line.
#[test]
fn a_long_text_gets_no_more_memory_than_its_values_need() {
    let mut room = Room::default();
    let text = format!("[{}1]", "1,".repeat(600_000));
    let tree = parse(&text, &mut room).unwrap();
    assert_eq!(tree.room.nodes.len(), 600_002);
    assert_eq!(tree.room.nodes.capacity(), 600_002);
}

#[test]
fn the_memory_of_a_tree_is_used_again() {
    let mut room = Room::default();
    parse(r#"[1,"\n",{"a":"b"}]"#, &mut room).unwrap();
    let there = room.nodes.as_ptr().addr();
    let tree = parse("[2]", &mut room).unwrap();
    assert_eq!(tree.room.nodes.as_ptr().addr(), there);
    assert_eq!(owned(tree.value()), serde_json::json!([2]));
}
