//! `countersign diff P --init LANGUAGE`: an adapter to fill in.
//!
//! One template a language. The ops and fields of a protocol come from the schema of the driver protocol.

use std::collections::BTreeSet;

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use textwrap::{Options, fill};

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

/// The page of a protocol, whose examples show what an op puts out.
const fn page(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::PendingAction => include_str!("../../../docs/DRIVER_PENDING_ACTION.md"),
        Protocol::McpAql => include_str!("../../../docs/DRIVER_MCP_AQL.md"),
        Protocol::Aaep => include_str!("../../../docs/DRIVER_AAEP.md"),
    }
}

/// The kinds and members of the outputs of an op, by that example of the page which has the most.
fn puts_out(page: &str, op: &str) -> String {
    let said = page
        .lines()
        .filter_map(|line| line.strip_prefix(['→', '←']));
    let said: Vec<Value> = said
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let turns = said
        .chunks_exact(2)
        .filter(|turn| turn.iter().any(|it| it["op"] == op));
    let outputs = turns.filter_map(|turn| turn.last()?["outputs"].as_array());
    // Of those with the most, the first.
    let outputs = outputs.rev().max_by_key(|outputs| outputs.len());
    let shown: Vec<String> = outputs.into_iter().flatten().map(shape).collect();
    shown.join(", ")
}

/// The kind of an output with the names of its members: `append tool_call(session_id message_id)`.
fn shape(output: &Value) -> String {
    let kinds = output.as_object().into_iter().flatten();
    let kinds = kinds.map(|(kind, body)| {
        let of = body["type"]
            .as_str()
            .map_or_else(String::new, |it| format!(" {it}"));
        let members = body.as_object().into_iter().flat_map(Map::keys);
        let members: Vec<&str> = members
            .map(String::as_str)
            .filter(|it| *it != "type")
            .collect();
        format!("{kind}{of}({})", members.join(" "))
    });
    kinds.collect::<Vec<_>>().join(" ")
}

/// The text in lines of at most 140 columns, each behind the margin.
fn folded(text: &str, margin: &str) -> String {
    let options = Options::new(140)
        .initial_indent(margin)
        .subsequent_indent(margin);
    fill(text, options)
}

/// One op that every implementation has.
struct Op {
    name: String,
    /// What it does, in one sentence.
    gist: String,
    /// What it puts out.
    outputs: String,
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
        .map(|request| Op::of(request, page(protocol)))
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
    fn of(request: &Value, page: &str) -> Self {
        let properties = &request["properties"];
        let name = properties["op"]["const"].as_str().unwrap_or_default();
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
            outputs: puts_out(page, name),
            name: name.to_owned(),
            gist: format!("{}.", gist.trim_end_matches('.')),
            required,
            optional,
        }
    }

    fn in_python(&self) -> String {
        let (name, gist) = (&self.name, &self.gist);
        let outputs = folded(
            &format!("Puts out, for example: {}.", self.outputs),
            "        ",
        );
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
            "    def {name}({required}{optional}):\n        \"\"\"{gist}\n\n{outputs}\n        \"\"\"\n        \
             return [{{\"refused\": {{\"reason\": \"{name} is not connected\"}}}}]  # YOURS"
        )
    }

    fn in_ts(&self) -> String {
        let (name, gist) = (&self.name, &self.gist);
        let outputs = folded(
            &format!("Puts out, for example: {}.", self.outputs),
            "   * ",
        );
        format!(
            "  /**\n   * {gist}\n{outputs}\n   */\n  {name}(now: Date, fields: Fields): Output[] {{\n    \
             return [{{ refused: {{ reason: \"{name} is not connected\" }} }}]; // YOURS\n  }}"
        )
    }

    fn fields_in_ts(&self) -> String {
        let optional = self.optional.iter().map(|it| format!("{it}?"));
        let names: Vec<String> = self.required.iter().cloned().chain(optional).collect();
        format!("  {}: \"{}\",", self.name, names.join(" "))
    }
}
