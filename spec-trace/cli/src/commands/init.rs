//! `countersign diff P --init LANGUAGE`: an adapter to fill in.
//!
//! One template a language. The ops and fields of a protocol come from the schema of the driver protocol.

use std::collections::BTreeSet;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::smoke;
use crate::answer::{Answer, Status};
use crate::arguments::Protocol;

/// A language that an adapter can be printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Python 3.7 or newer, without packages.
    Python,
    /// TypeScript for Node, without packages.
    Ts,
}

/// One op that every implementation has.
struct Op {
    name: String,
    /// What it does, in one sentence.
    gist: String,
    required: Vec<String>,
    /// Fields that may be absent.
    optional: Vec<String>,
    /// Those of any JSON.
    any_json: Vec<String>,
}

/// The adapter. It answers each op of the protocol's own with a refusal, and passes the preflight.
pub fn adapter(protocol: Protocol, language: Language) -> Answer {
    let about = smoke::about(protocol);
    let schema = countersign_driver::schema();
    let requests = &schema["$defs"][format!("{}.request", about.name)]["oneOf"];
    let all: Vec<Op> = requests
        .as_array()
        .into_iter()
        .flatten()
        .map(Op::of)
        .collect();
    let is_own = |op: &&Op| {
        let is_capable = about.optional.iter().any(|(name, ..)| *name == op.name);
        !is_capable && !["hello", "reset", "tick"].contains(&op.name.as_str())
    };
    let ops: Vec<&Op> = all.iter().filter(is_own).collect();
    let capable = about.optional.iter();
    let capable: Map<_, _> = capable
        .map(|(op, capability, _)| ((*op).to_owned(), json!(capability)))
        .collect();
    let each = |written: fn(&Op) -> String, between: &str| {
        let written: Vec<String> = ops.iter().map(|op| written(op)).collect();
        written.join(between)
    };
    let (template, methods) = match language {
        Language::Python => (include_str!("init/adapter.py"), each(Op::in_python, "\n\n")),
        Language::Ts => (include_str!("init/adapter.ts"), each(Op::in_ts, "\n\n")),
    };
    let any_json: BTreeSet<&String> = all.iter().flat_map(|op| &op.any_json).collect();
    let spaced = |value: Value| value.to_string().replace("\":", "\": ").replace(',', ", ");
    let text = template
        .replace("PROTOCOL", about.name)
        .replace("SHOWS", &spaced(json!(about.needed)))
        .replace("CAPABLE", &spaced(Value::Object(capable)))
        .replace("TEXTS", &spaced(json!(any_json)))
        .replace("FIELDS", &each(Op::fields_in_ts, "\n"))
        .replace("METHODS", &methods);
    Answer {
        text,
        status: Status::Holds,
    }
}

impl Op {
    /// The op that a request's schema describes.
    fn of(request: &Value) -> Self {
        let properties = &request["properties"];
        let gist = request["description"].as_str().unwrap_or_default();
        let gist = gist.split_once(". ").map_or(gist, |(first, _)| first);
        let gist = gist.lines().next().unwrap_or_default();
        let required: Vec<&str> = request["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let names = properties.as_object().into_iter().flat_map(Map::keys);
        let names = names.filter(|name| !["id", "op", "now"].contains(&name.as_str()));
        let (required, optional) = names
            .cloned()
            .partition(|name| required.contains(&name.as_str()));
        let members = properties.as_object().into_iter().flatten();
        let is_any = |schema: &Value| {
            let mut kinds = ["type", "oneOf", "anyOf"].iter();
            kinds.all(|kind| schema.get(kind).is_none())
        };
        let any_json = members.filter(|(name, schema)| *name != "op" && is_any(schema));
        Self {
            any_json: any_json.map(|(name, _)| name.clone()).collect(),
            name: properties["op"]["const"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            gist: format!("{}.", gist.trim_end_matches('.')),
            required,
            optional,
        }
    }

    fn in_python(&self) -> String {
        let (name, gist) = (&self.name, &self.gist);
        let required = ["self", "now"]
            .into_iter()
            .chain(self.required.iter().map(String::as_str));
        let required: Vec<&str> = required.collect();
        let required = required.join(", ");
        let optional: Vec<String> = self
            .optional
            .iter()
            .map(|it| format!("{it}=None"))
            .collect();
        let optional = if optional.is_empty() {
            String::new()
        } else {
            format!(",\n{:12}{}", "", optional.join(", "))
        };
        format!(
            "    def {name}({required}{optional}):\n        \"\"\"{gist}\"\"\"\n        \
             return [{{\"refused\": {{\"reason\": \"{name} is not connected\"}}}}]  # YOURS"
        )
    }

    fn in_ts(&self) -> String {
        let (name, gist) = (&self.name, &self.gist);
        format!(
            "  /** {gist} */\n  {name}(now: Date, fields: Fields): Output[] {{\n    \
             return [{{ refused: {{ reason: \"{name} is not connected\" }} }}]; // YOURS\n  }}"
        )
    }

    fn fields_in_ts(&self) -> String {
        let optional = self.optional.iter().map(|it| format!("{it}?"));
        let names: Vec<String> = self.required.iter().cloned().chain(optional).collect();
        format!("  {}: \"{}\",", self.name, names.join(" "))
    }
}
