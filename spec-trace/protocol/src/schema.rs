//! The JSON Schema of every message, derived from the types.
//!
//! The one thing to know: requests and responses of each protocol are definitions of one document, by the names
//! `aaep.request`, `aaep.response` and so on; each stands by itself. What breaks a type is what the reader refuses; the
//! limits besides are kept by whoever carries a request out.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::aaep::Aaep;
use crate::mcp_aql::McpAql;
use crate::pending_action::PendingAction;
use crate::{Common, Greeting, LONGEST_LINE, Protocol, VERSION};

/// The schema (draft 2020-12) of every request and response.
pub fn schema() -> Value {
    let mut messages = Map::new();
    describe::<Aaep>(&mut messages);
    describe::<McpAql>(&mut messages);
    describe::<PendingAction>(&mut messages);
    let any = messages.keys();
    let any: Vec<Value> = any
        .map(|name| json!({"$ref": format!("#/$defs/{name}")}))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("The driver protocol, version {VERSION}"),
        "description": format!("One JSON object a line, of at most {LONGEST_LINE} bytes. A request that lacks a field, has one that is not known, or has one of another \
            type is answered with an error, and so is one whose `now` is no time, for without it none can pass; one that breaks a \
            limit (a length, a range, a form) or has a word that is not among those listed is refused, once all of the request is understood. Whole numbers are written \
            in digits alone and fit 64 bits; any other number is of another type. Times are RFC 3339 and count in whole \
            milliseconds: finer digits are cut off, and what the years 0000 to 9999 of UTC do not hold counts as their nearest. \
            For aaep an event is measured in bytes of its JSON with a \
            `sequence_number` of 16 digits."),
        "anyOf": any,
        "$defs": messages,
    })
}

/// The names of the variants of an externally tagged enum, in order.
pub(crate) fn variants<T: JsonSchema>() -> Vec<String> {
    let variants = tagged::<T>(&mut generator());
    variants.into_iter().map(|(name, _)| name).collect()
}

/// One that writes every type where it is used, so that each message can be changed by itself.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12();
    let inline = settings.with(|settings| settings.inline_subschemas = true);
    inline.into_generator()
}

fn describe<P: Protocol>(messages: &mut Map<String, Value>) {
    let mut generator = generator();
    let ops = tagged::<Common>(&mut generator).into_iter();
    let ops = ops.chain(tagged::<P::Op>(&mut generator));
    let requests: Vec<Value> = ops.map(|(op, fields)| request(&op, fields)).collect();
    let outputs = tagged::<P::Output>(&mut generator).into_iter();
    let outputs: Vec<Value> = outputs.map(|(kind, body)| output(&kind, &body)).collect();
    let greeting = Greeting::<P>::json_schema(&mut generator).to_value();
    messages.insert(format!("{}.request", P::NAME), json!({"oneOf": requests}));
    messages.insert(
        format!("{}.response", P::NAME),
        response(&outputs, greeting),
    );
}

/// The variants of an externally tagged enum, each with the schema of what it holds.
fn tagged<T: JsonSchema>(generator: &mut SchemaGenerator) -> Vec<(String, Value)> {
    let schema = T::json_schema(generator).to_value();
    let variants = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let held = |mut variant: Value| {
        let (name, held) = variant["properties"]
            .as_object()?
            .clone()
            .into_iter()
            .next()?;
        let description = variant["description"].take();
        Some((name, with_first(held, [("description", description)])))
    };
    variants.into_iter().filter_map(held).collect()
}

/// The members that every request has, and those of its op.
fn request(op: &str, mut fields: Value) -> Value {
    without_nulls(&mut fields);
    let id = json!({
        "description": "The response carries the same.", "type": "integer", "minimum": 0, "maximum": u64::MAX,
    });
    let now = json!({
        "description": "The time that it is, RFC 3339: of the years 0000 to 9999.", "type": "string", "format": "date-time",
    });
    let properties = fields["properties"].take();
    fields["properties"] = with_first(
        properties,
        [("id", id), ("op", json!({"const": op})), ("now", now)],
    );
    let mut required = vec![json!("id"), json!("op")];
    if op != "hello" {
        required.push(json!("now"));
    }
    required.extend(fields["required"].as_array().cloned().unwrap_or_default());
    fields["required"] = json!(required);
    fields
}

/// A field that is not meant is left out: none is null.
fn without_nulls(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|name| name != "null");
            }
            if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
                choices.retain(|choice| choice["type"] != "null");
            }
            members.retain(|name, value| name != "default" || !value.is_null());
            members.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn output(kind: &str, body: &Value) -> Value {
    json!({"type": "object", "required": [kind], "properties": {kind: body}})
}

fn response(outputs: &[Value], greeting: Value) -> Value {
    let to = json!({
        "description": "The subscriptions that an `emit` goes to. Every one, where absent.",
        "type": ["array", "null"], "items": {"type": "string"},
    });
    let outputs = json!({
        "description": "What was due, then what was asked or a refusal.",
        "type": "array", "items": {"properties": {"to": to}, "oneOf": outputs},
    });
    let answers = [
        greeting,
        output("outputs", &outputs),
        output(
            "error",
            &json!({"description": "What was not understood, or broke.", "type": "string"}),
        ),
        output(
            "unsupported",
            &json!({"description": "Not declared in `hello`.", "const": true}),
        ),
    ];
    let id = json!({
        "description": "That of the request; null where that could not be read: no JSON object, or no one `id` in it.",
        "type": ["integer", "null"], "minimum": 0, "maximum": u64::MAX,
    });
    json!({"type": "object", "properties": {"id": id}, "oneOf": answers})
}

/// The object with these members before its own.
fn with_first<const N: usize>(object: Value, first: [(&str, Value); N]) -> Value {
    let first = first
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let mut members: Map<String, Value> = first.filter(|(_, value)| !value.is_null()).collect();
    match object {
        Value::Object(own) => members.extend(own),
        // The schema that lets everything pass.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
    Value::Object(members)
}
