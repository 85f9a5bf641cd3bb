//! The fields of a JSON document: which there are, which differ, and how each can be changed.
//!
//! The one thing to know: a field is named by the way to it, such as `/producer/agent_id`. In an output a list is one field;
//! in what is stored its places are not told apart.

use std::collections::BTreeSet;

use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

/// Every field that holds no further ones, with what it holds.
pub fn fields(document: &Value) -> Vec<(String, Value)> {
    let Value::Object(members) = document else {
        return vec![(String::new(), document.clone())];
    };
    let inner = members.iter().flat_map(|(key, member)| {
        let fields = fields(member).into_iter();
        fields.map(move |(name, value)| (format!("/{key}{name}"), value))
    });
    inner.collect()
}

/// The fields in which two documents differ. What only one of them has is one field.
pub fn differing(one: &Value, other: &Value) -> BTreeSet<String> {
    let (Value::Object(one), Value::Object(other)) = (one, other) else {
        let differs = (one != other).then(String::new);
        return differs.into_iter().collect();
    };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let inner = keys.into_iter().flat_map(|key| {
        let [one, other] = [one, other].map(|side| side.get(key).unwrap_or(&Value::Null));
        let names = differing(one, other).into_iter();
        names.map(move |name| format!("/{key}{name}"))
    });
    inner.collect()
}

/// The document with one thing changed in it, in many ways, and the name of the field that is changed.
pub fn changed_documents(document: &Value, words: &[&str]) -> Vec<(String, Value)> {
    let mut texts: BTreeSet<String> = words.iter().map(|&word| word.to_owned()).collect();
    note_texts(document, &mut texts);
    changed(document, &texts)
}

fn note_texts(document: &Value, texts: &mut BTreeSet<String>) {
    match document {
        Value::String(text) => drop(texts.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| note_texts(item, texts)),
        Value::Object(members) => members.values().for_each(|item| note_texts(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn changed(document: &Value, texts: &BTreeSet<String>) -> Vec<(String, Value)> {
    let here = |values: Vec<Value>| {
        let values = values.into_iter();
        values.map(|value| (String::new(), value)).collect()
    };
    match document {
        Value::Null => here(vec![json!(true), json!(1), json!("x")]),
        Value::Bool(value) => here(vec![json!(!value)]),
        Value::Number(number) => {
            let number = number.as_i64().expect("a whole number");
            here(vec![json!(number + 1), json!(number - 1), Value::Null])
        }
        Value::String(text) => {
            let mut values: Vec<Value> = texts.iter().map(|other| json!(other)).collect();
            values.extend([json!(format!("{text}0")), Value::Null]);
            if let Ok(time) = Timestamp::parse(text) {
                let around = [-1, 1].map(|millis| Timestamp::from_millis(time.millis() + millis));
                values.extend(around.map(|time| json!(time)));
            }
            here(values)
        }
        Value::Array(items) => {
            let mut all = Vec::new();
            for (place, item) in items.iter().enumerate() {
                let with = |change: &dyn Fn(&mut Vec<Value>)| {
                    let mut items = items.clone();
                    change(&mut items);
                    Value::Array(items)
                };
                let dropped = with(&|items| drop(items.remove(place)));
                all.push(("/*".to_owned(), dropped));
                for (name, value) in changed(item, texts) {
                    let replaced = with(&|items| items[place] = value.clone());
                    all.push((format!("/*{name}"), replaced));
                }
            }
            all
        }
        Value::Object(members) => {
            let mut all = Vec::new();
            for (key, member) in members {
                let mut dropped = members.clone();
                dropped.remove(key);
                // What is numbered is not told apart either.
                let name = key.parse().map_or(key.as_str(), |_: u64| "*");
                all.push((format!("/{name}"), Value::Object(dropped)));
                for (inner, value) in changed(member, texts) {
                    let mut replaced = members.clone();
                    replaced.insert(key.clone(), value);
                    all.push((format!("/{name}{inner}"), Value::Object(replaced)));
                }
            }
            all
        }
    }
}
