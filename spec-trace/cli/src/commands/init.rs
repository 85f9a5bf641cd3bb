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

/// The examples of a page: the op that is asked, and what it puts out.
fn examples(page: &str) -> Vec<(Value, Vec<Value>)> {
    let said = page
        .lines()
        .filter_map(|line| line.strip_prefix(['→', '←']));
    let said: Vec<Value> = said
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let turns = said.chunks_exact(2);
    let turns = turns.filter_map(|turn| match turn {
        [asked, answer] => Some((asked["op"].clone(), answer["outputs"].as_array()?.clone())),
        _ => None,
    });
    turns.collect()
}

/// The kinds and members of the outputs of an op, by the example that has the most, and by one that has others.
fn puts_out(examples: &[(Value, Vec<Value>)], op: &str) -> String {
    let turns = examples.iter().filter(|(asked, _)| asked == op);
    let mut turns: Vec<Vec<String>> = turns
        .map(|(_, outputs)| outputs.iter().map(shape).collect())
        .collect();
    turns.sort_by_key(|shapes| std::cmp::Reverse(shapes.len()));
    let kind = |shape: &String| shape.split(' ').next().map(str::to_owned);
    let mut kinds = BTreeSet::new();
    turns.retain(|shapes| {
        let before = kinds.len();
        kinds.extend(shapes.iter().map(kind));
        before < kinds.len()
    });
    let shown = turns.iter().take(2).map(|shapes| shapes.join(", "));
    shown.collect::<Vec<_>>().join("; or ")
}

/// The kind of an output with the names of its members: `append(type=tool_call session_id message_id)`.
fn shape(output: &Value) -> String {
    let kinds = output.as_object().into_iter().flatten();
    let kinds = kinds.map(|(kind, body)| {
        let of = body["type"].as_str().map(|it| format!("type={it}"));
        let members = body.as_object().into_iter().flat_map(Map::keys);
        let members = members.filter(|it| *it != "type").cloned();
        let members: Vec<String> = of.into_iter().chain(members).collect();
        format!("{kind}({})", members.join(" "))
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

/// One op of a protocol.
struct Op {
    name: String,
    /// What it does, in one sentence, and what it puts out.
    comment: String,
    required: Vec<String>,
    /// Fields that may be absent.
    optional: Vec<String>,
    /// Those of any JSON.
    any_json: Vec<String>,
}

/// The adapter. It answers each op of the protocol's own with a refusal, and passes the preflight.
pub fn adapter(protocol: Protocol, language: Language) -> Answer {
    let about = smoke::about(protocol);
    let schema = countersign_protocol::schema();
    let requests = &schema["$defs"][format!("{}.request", about.name)]["oneOf"];
    let examples = examples(page(protocol));
    let requests = requests.as_array().into_iter().flatten();
    let all: Vec<Op> = requests.map(|it| Op::of(it, &examples)).collect();
    let own = |op: &&Op| !["hello", "reset", "tick"].contains(&op.name.as_str());
    let capable = |op: &&Op| about.optional.iter().any(|(name, ..)| *name == op.name);
    let (capable, ops): (Vec<&Op>, Vec<&Op>) = all.iter().filter(own).partition(capable);
    let (template, written, mark): (_, fn(&Op) -> String, _) = match language {
        Language::Python => (include_str!("init/adapter.py"), Op::in_python, "    # "),
        Language::Ts => (include_str!("init/adapter.ts"), Op::in_ts, "  // "),
    };
    let each = |ops: &[&Op], written: &dyn Fn(&Op) -> String| {
        let written: Vec<String> = ops.iter().map(|op| written(op)).collect();
        written.join("\n")
    };
    let commented = |op: &Op| folded(&op.comment, mark) + "\n" + &written(op);
    let declared = |op: &Op| folded(&op.declared(), mark);
    let any_json: BTreeSet<&String> = all.iter().flat_map(|op| &op.any_json).collect();
    let capabilities = about.optional.iter();
    let capabilities: Map<_, _> = capabilities
        .map(|(op, capability, _)| ((*op).to_owned(), json!(capability)))
        .collect();
    let spaced = |value: Value| value.to_string().replace("\":", "\": ").replace(',', ", ");
    let text = template
        .replace("PROTOCOL", about.name)
        .replace("SHOWS", &spaced(json!(about.needed)))
        .replace("CAPABLE", &spaced(Value::Object(capabilities)))
        .replace("TEXTS", &spaced(json!(any_json)))
        .replace("METHODS", &each(&ops, &commented))
        .replace("CAPABILITIES", &each(&capable, &declared));
    Answer {
        text,
        status: Status::Holds,
    }
}

impl Op {
    /// The op that a request's schema describes.
    fn of(request: &Value, examples: &[(Value, Vec<Value>)]) -> Self {
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
        let outputs = match &*puts_out(examples, name) {
            "" => String::new(),
            outputs => format!(" Outputs: {outputs}."),
        };
        Self {
            any_json: any_json.map(|(name, _)| name.clone()).collect(),
            comment: format!("{}.{outputs}", gist.trim_end_matches('.')),
            name: name.to_owned(),
            required,
            optional,
        }
    }

    /// The names of its fields, those that may be absent behind the others and with this behind them.
    fn fields(&self, absent: &str) -> Vec<String> {
        let optional = self.optional.iter().map(|it| format!("{it}{absent}"));
        self.required.iter().cloned().chain(optional).collect()
    }

    /// What stands where an op is written, of one that needs a capability.
    fn declared(&self) -> String {
        let (name, fields) = (&self.name, self.fields("?").join(", "));
        format!("{name}({fields}): {}", self.comment)
    }

    fn in_python(&self) -> String {
        let name = &self.name;
        let fields = ["self".to_owned(), "now".to_owned()].into_iter();
        let fields: Vec<String> = fields.chain(self.fields("=None")).collect();
        let fields = fields.join(", ");
        format!(
            "    def {name}({fields}):\n        \
             return [{{\"refused\": {{\"reason\": \"{name} is not connected\"}}}}]  # YOURS"
        )
    }

    fn in_ts(&self) -> String {
        let (name, fields) = (&self.name, self.fields("?").join(" "));
        format!(
            "  {name}: [\"{fields}\", (now, fields) => \
             [{{ refused: {{ reason: \"{name} is not connected\" }} }}]], // YOURS"
        )
    }
}
